/* SPDX-License-Identifier: MIT
 *
 * Input history: what was written into the chat's input and left it, kept for when the program is
 * gone, in a private file of the state folder: one for each project of a store.
 *
 *   <state folder>/sent-HASH.jsonl     "a text"\n"the next one, with \n in it"\n …
 *
 * Lines are JSON strings, the oldest first. Whoever writes holds the file's lock, so several
 * programs may, and none takes from another what it has added. What cannot be read is passed
 * over. It is a help, not a promise: failures of adding and reading are nobody's.
 *
 * Threads: any; processes: any. */
#ifndef RT_APP_INPUT_HISTORY_HOST_H
#define RT_APP_INPUT_HISTORY_HOST_H

#include "base/text.h"

enum {
	RT_INPUT_HISTORY_MAX = 500,       /* texts that are kept, and … */
	RT_INPUT_HISTORY_BYTES = 1 << 20, /* … bytes of the file */
	/* Bytes of a text; longer ones are not kept, nor those of which the line would not fit
	 * into the file. */
	RT_INPUT_HISTORY_TEXT_MAX = 256 << 10
};

/* Whose. */
typedef struct rt_input_history_key {
	rt_str folder;  /* the state folder; empty: there is none, and nothing is kept */
	rt_str store;   /* its path; empty: the same */
	rt_str project; /* its name */
} rt_input_history_key;

/* Behind the others, if it is not the last one already. Cost: the file is read; for another
 * program that has its lock this waits a second at most, as the others do. */
void rt_input_history_add(const rt_alloc *alloc, const rt_input_history_key *whose, rt_str text);
/* fn gets every text, the oldest first; the file is locked meanwhile, so it must not add any. */
void rt_input_history_each(const rt_alloc *alloc, const rt_input_history_key *whose,
			   void (*fn)(void *ctx, rt_str text), void *ctx);
/* After a purge: texts that hold this one go, and in drafts (draft_host.h) of the project it is
 * overwritten by as many letters x. The bytes of the files are overwritten. *out_count: texts
 * and drafts that held it. Where one file cannot be had the others are done all the same. */
RT_CHECKED rt_status rt_input_history_purge(const rt_alloc *alloc,
					    const rt_input_history_key *whose, rt_str text,
					    size_t *out_count, rt_error *err);
/* The hash in the name of a file: of the store, the project, and a discussion's number (0: none). */
uint64_t rt_input_history_hash(rt_str store, rt_str project, uint32_t disc);
/* The folders on the way to path, which is put back as it was. */
void rt_input_history_make_folders(char *path);

#endif
