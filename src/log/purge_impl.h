/* SPDX-License-Identifier: MIT
 *
 * Internals shared by the files of purge:
 *
 *   purge_find.c   does a text occur in some bytes?
 *   purge_mask.c   log rows without the text
 *   purge.c        the bodies, rows and side rows that a purge overwrites */
#ifndef RT_LOG_PURGE_IMPL_H
#define RT_LOG_PURGE_IMPL_H

#include "log/engine_impl.h"

enum {
	RT_PURGE_NESTING_MAX = 3, /* JSON in a string of JSON in a string of JSON */
	RT_PURGE_MASK_MAX = 64    /* bytes of a mask */
};

/* ---- finding (purge_find.c) ---- */

/* The text to look for. After a failure of its scope nothing is found. One thread at a time. */
typedef struct rt_needle {
	rt_scope *scope;
	rt_str text;                       /* borrowed, not empty */
	rt_str hex;                        /* in hexadecimal; empty: too short to be significant */
	rt_buf *plain[RT_PURGE_NESTING_MAX]; /* scratch: unescaped text */
} rt_needle;

rt_needle rt_needle_of(rt_scope *scope, rt_str text);
/* Does it occur unchanged, as hexadecimal digits, or escaped (JSON text in a string of JSON text:
 * arguments of a tool, a line of another file)? */
bool rt_needle_in(const rt_needle *needle, rt_str in);
/* The same for the bytes of a body. Words of Retake's own grammar in its JSON do not count. */
bool rt_needle_in_body(const rt_needle *needle, rt_str data);
/* Words of Retake's and pi's grammar: never a secret by themselves. */
bool rt_purge_is_word(rt_str s);
/* Appends bytes with JSON's escapes resolved wherever they occur. */
void rt_purge_unescape(rt_buf *out, rt_str in);

/* A string or a number of JSON text. */
typedef struct rt_purge_token {
	size_t from, to; /* with the quotes */
	rt_str inside;   /* without the quotes */
	bool is_string;
} rt_purge_token;

/* The next token at or after `at`; in may be any bytes. false: none. */
bool rt_purge_token_next(rt_str in, size_t at, rt_purge_token *out);

/* ---- masks (purge_mask.c) ---- */

/* The replacements of strings that contain the needle: X's and digits, the same mask for the same
 * string and different masks for different ones. One thread at a time. */
typedef struct rt_purge_mask {
	rt_scope *scope;         /* of the purge */
	rt_scope *row;           /* of the row being masked */
	const rt_needle *needle; /* borrowed */
	rt_strs *from;           /* strings that were replaced */
	rt_str *to;              /* their masks, at number - 1; in scope */
	size_t to_capacity;
	rt_strs *used;                        /* strings that look like a mask, old and new */
	uint64_t next[RT_PURGE_MASK_MAX + 1]; /* the next candidates, by size */
	char filler;                          /* X, unless the needle consists of X's */
} rt_purge_mask;

void rt_purge_mask_init(rt_purge_mask *mask, rt_scope *scope, const rt_seq_source *source,
			const rt_needle *needle);
/* Note the strings of a log row that look like masks: these masks are not used again. */
void rt_purge_mask_learn(rt_purge_mask *mask, rt_str row);
/* Replace the strings of a record that contain the needle; new strings live in row. true: there
 * were some. */
bool rt_purge_mask_record(rt_purge_mask *mask, rt_scope *row, rt_record *record);

#endif
