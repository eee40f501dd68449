/* SPDX-License-Identifier: MIT
 *
 * The inside of a purge, shared by its files:
 *
 *   purge_find.c   is the text in there?
 *   purge_mask.c   log rows without it
 *   purge.c        what a purge reads and writes, and in which order */
#ifndef RT_LOG_PURGE_IMPL_H
#define RT_LOG_PURGE_IMPL_H

#include "log/engine_impl.h"

enum {
	RT_PURGE_NESTING_MAX = 3, /* JSON in a string of JSON in a string of JSON */
	RT_MASK_MAX = 64          /* bytes of what stands in the place of a string */
};

/* ---- finding (purge_find.c) ---- */

/* What is looked for, and room to look at escaped forms. One thread at a time. */
typedef struct rt_needle {
	const rt_alloc *alloc;
	rt_str text; /* borrowed, never empty */
	rt_buf hex;  /* the text as hexadecimal digits; empty: too short to mean anything */
	rt_buf plain[RT_PURGE_NESTING_MAX];
	bool nomem;  /* an answer was not had: look after every round */
} rt_needle;

void rt_needle_init(rt_needle *needle, const rt_alloc *alloc, rt_str text);
void rt_needle_deinit(rt_needle *needle);
/* Does it stand there, as it is, as hexadecimal digits, or behind escapes (JSON text in a
 * string of JSON text: a tool's arguments, a line of another file)? */
bool rt_needle_in(rt_needle *needle, rt_str in);
/* The same for the bytes of a body. Words of Retake's own in its JSON do not count. */
bool rt_needle_in_body(rt_needle *needle, rt_str data);
/* Words of Retake's and pi's own: never a secret by themselves. */
bool rt_purge_is_word(rt_str s);
/* Bytes with JSON's escapes resolved wherever they stand; what is none stays. */
void rt_purge_unescape(rt_buf *out, rt_str in);

/* A string or a number of JSON text. */
typedef struct rt_purge_token {
	size_t from, to; /* with the quotes */
	bool is_string;
} rt_purge_token;

/* The next one at or after at; lenient: any bytes will do. False: none. */
bool rt_purge_token_next(rt_str in, size_t at, rt_purge_token *out);
/* Without the quotes. */
rt_str rt_purge_token_inside(rt_str in, const rt_purge_token *token);

/* ---- masks (purge_mask.c) ---- */

/* What replaces the strings that hold the needle: of X's and digits, the same mask for the
 * same string, different masks for different ones. One thread at a time. */
typedef struct rt_mask {
	const rt_alloc *alloc;
	rt_arena *arena;   /* borrowed */
	rt_needle *needle; /* borrowed */
	rt_strs *from;     /* strings that were replaced … */
	rt_str *to;        /* … and by what, at number - 1; in the arena */
	size_t room;
	rt_strs *taken;    /* strings that look like a mask, old and new */
	uint64_t next[RT_MASK_MAX + 1]; /* the next to try, by size */
	char filler;       /* X, unless that is what is looked for */
} rt_mask;

RT_CHECKED rt_status rt_mask_init(rt_mask *mask, const rt_alloc *alloc, const rt_seq_source *source,
				  rt_arena *arena, rt_needle *needle);
void rt_mask_deinit(rt_mask *mask);
/* Strings of a log row that look like masks: they are taken. */
RT_CHECKED rt_status rt_mask_learn(rt_mask *mask, rt_str row);
/* Replace what holds the needle in a record; its new strings lie in the arena. */
RT_CHECKED rt_status rt_mask_record(rt_mask *mask, rt_record *record, bool *out_changed,
				    rt_error *err);

#endif
