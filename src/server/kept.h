/* SPDX-License-Identifier: MIT
 *
 * Kept: answers of a project that were given a moment ago, for who asks the same again while
 * nothing has changed. What is asked is named by its target, the state by the store's epoch and
 * the number of the newest row, so an answer is never older than the value that was looked at;
 * a purge changes the epoch, and what was kept is dropped.
 *
 * Threads: locks itself. */
#ifndef RT_SERVER_KEPT_H
#define RT_SERVER_KEPT_H

#include <pthread.h>

#include "server/tag.h"

enum {
	RT_KEPT_SLOTS = 128,          /* answers; the newest of a slot stays */
	RT_KEPT_SIZE_MAX = 16 << 10,  /* bytes of one */
	RT_KEPT_TARGET_MAX = 256
};

typedef struct rt_kept_answer {
	uint64_t epoch, seq;
	char target[RT_KEPT_TARGET_MAX];
	size_t target_size;  /* 0: there is none */
	char tag[RT_TAG_ROOM];
	const rt_text *body; /* counted */
} rt_kept_answer;

typedef struct rt_kept {
	pthread_mutex_t lock;
	const rt_alloc *alloc;
	uint64_t epoch; /* of all that is kept */
	rt_kept_answer at[RT_KEPT_SLOTS];
} rt_kept;

/* false: no memory. What is kept for another epoch is dropped as soon as anything is asked. */
bool rt_kept_init(rt_kept *kept, const rt_alloc *alloc);
void rt_kept_deinit(rt_kept *kept);
/* Something was purged: drop it all. */
void rt_kept_forget(rt_kept *kept);
/* Appends the body; false: there is none. */
bool rt_kept_find(rt_kept *kept, uint64_t epoch, uint64_t seq, rt_str target, rt_buf *body,
		  char tag[RT_TAG_ROOM]);
/* Keep one, where it is small enough and there is memory. */
void rt_kept_put(rt_kept *kept, uint64_t epoch, uint64_t seq, rt_str target, rt_str body,
		 const char *tag);

#endif
