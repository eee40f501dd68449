/* SPDX-License-Identifier: MIT
 *
 * Response cache: answers of a project that were given a moment ago, for who asks the same again
 * while nothing has changed. What is asked is named by its target, the state by the store's epoch
 * and the number of the newest row, so an answer is never older than the value that was looked at;
 * a purge changes the epoch, and what was kept is dropped.
 *
 * Threads: locks itself. */
#ifndef RT_SERVER_RESPONSE_CACHE_H
#define RT_SERVER_RESPONSE_CACHE_H

#include <pthread.h>

#include "app/condition.h"

enum {
	RT_RESPONSE_CACHE_SLOTS = 128,         /* answers; the newest of a slot stays */
	RT_RESPONSE_CACHE_SIZE_MAX = 16 << 10, /* bytes of one */
	RT_RESPONSE_CACHE_TARGET_MAX = 256
};

typedef struct rt_cached_response {
	uint64_t epoch, seq;
	char target[RT_RESPONSE_CACHE_TARGET_MAX];
	size_t target_size;  /* 0: there is none */
	char etag[RT_ETAG_ROOM];
	const rt_text *body; /* counted */
} rt_cached_response;

typedef struct rt_response_cache {
	pthread_mutex_t lock;
	const rt_alloc *alloc;
	uint64_t epoch; /* of all that is kept */
	rt_cached_response at[RT_RESPONSE_CACHE_SLOTS];
} rt_response_cache;

/* false: no memory. What is kept for another epoch is dropped as soon as anything is asked. */
bool rt_response_cache_init(rt_response_cache *cache, const rt_alloc *alloc);
void rt_response_cache_deinit(rt_response_cache *cache);
/* Something was purged: drop it all. */
void rt_response_cache_forget(rt_response_cache *cache);
/* Appends the body; false: there is none. */
bool rt_response_cache_find(rt_response_cache *cache, uint64_t epoch, uint64_t seq, rt_str target,
			    rt_buf *body, char etag[RT_ETAG_ROOM]);
/* Keep one, where it is small enough and there is memory. */
void rt_response_cache_put(rt_response_cache *cache, uint64_t epoch, uint64_t seq, rt_str target,
			   rt_str body, const char *etag);

#endif
