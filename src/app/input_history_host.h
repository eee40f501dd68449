/* SPDX-License-Identifier: MIT
 *
 * Input history: texts that were sent, or typed and cleared, in the chat's input, kept across runs
 * of the program in a private file of the state folder: one for each project of a store.
 *
 *   <state folder>/sent-HASH.jsonl     "a text"\n"the next one, with \n in it"\n …
 *
 * Lines are JSON strings, the oldest first. Writers hold the file's lock, so several programs may
 * write without losing each other's lines. A line that cannot be read is ignored, and so are
 * failures of adding and reading.
 *
 * Threads: any; processes: any. */
#ifndef RT_APP_INPUT_HISTORY_HOST_H
#define RT_APP_INPUT_HISTORY_HOST_H

#include "base/text.h"

enum {
	RT_INPUT_HISTORY_MAX = 500,       /* texts that are kept, and … */
	RT_INPUT_HISTORY_BYTES = 1 << 20, /* … bytes of the file */
	/* Bytes of a text; longer ones are not kept, nor those whose line would not fit in the
	 * file. */
	RT_INPUT_HISTORY_TEXT_MAX = 256 << 10
};

/* Whose. */
typedef struct rt_input_history_key {
	rt_str folder;  /* the state folder; empty: nothing is stored */
	rt_str store;   /* its path; empty: the same */
	rt_str project; /* its name */
} rt_input_history_key;

/* Appends a text unless it is equal to the last one. Reads the file; all functions here wait a
 * second at most for the lock. */
void rt_input_history_add(const rt_alloc *alloc, const rt_input_history_key *whose, rt_str text);
/* Calls fn with every text, the oldest first; the file is locked then, so fn must not add one. */
void rt_input_history_each(const rt_alloc *alloc, const rt_input_history_key *whose,
			   void (*fn)(void *ctx, rt_str text), void *ctx);
/* Removes texts that contain this one, and overwrites it with as many letters x in drafts
 * (draft_host.h) of the project. The bytes of the files are overwritten. *out_count: texts and
 * drafts that contained it. A file that fails does not keep the others from being purged. */
RT_CHECKED rt_status rt_input_history_purge(const rt_alloc *alloc,
					    const rt_input_history_key *whose, rt_str text,
					    size_t *out_count, rt_error *err);
/* The hash in a file's name: of the store, the project, and a discussion's number (0: none). */
uint64_t rt_input_history_hash(rt_str store, rt_str project, uint32_t disc);

#endif
