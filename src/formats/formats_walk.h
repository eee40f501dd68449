/* SPDX-License-Identifier: MIT
 *
 * Walk: JSON text of any size, one value at a time.
 *
 * The counterpart of formats_scan.h for an rt_input: it opens arrays and objects, keeps only the
 * requested value in memory, and skips the others. Memory is bounded by one value and a chunk; a
 * value that is too long can be opened instead. The walk can seek back, so a reader may read the
 * end of an object before its beginning.
 *
 *     rt_walk_init(&w, alloc, in);
 *     if (rt_walk_open(&w, &level))                       is at a [ or {
 *             while (rt_walk_next(&w, &level, &key))      is at the member's value: now
 *                     rt_walk_value(&w, &level, max, &value);  or skip, or open .. next
 *     if (level.bad)  it is malformed at level.fault
 *     if (w.status != RT_OK)  reading failed: rt_walk_fail
 *
 * Lines (JSON Lines, Markdown) are read with rt_walk_line. As in formats_scan.h, brackets and
 * strings are followed, nothing else is checked. No recursion, no limit on depth.
 *
 * A failure of the input or of memory is sticky: every later call reports the end. One thread at a
 * time. */
#ifndef RT_FORMATS_WALK_H
#define RT_FORMATS_WALK_H

#include "ops/format.h"
#include "formats/formats_scan.h"

/* A position in the input. */
typedef struct rt_walk_mark {
	uint64_t offset;
	uint64_t line; /* 1-based */
} rt_walk_mark;

/* An open array or object. */
typedef struct rt_walk_level {
	char close; /* ']' or '}'; NUL after its end */
	bool started;
	bool bad;
	rt_walk_mark fault; /* where it is malformed */
} rt_walk_level;

typedef struct rt_walk {
	const rt_alloc *alloc;
	const rt_input *in;
	char *bytes;   /* of the input, from base on */
	size_t size, room;
	size_t at;     /* next byte, in bytes */
	uint64_t base;
	uint64_t line; /* of that byte */
	bool has_end;  /* bytes reach to the end of the input */
	rt_buf key;    /* of the member that next returned last */
	rt_status status;
	rt_error error;
} rt_walk;

typedef enum rt_walked {
	RT_WALK_WHOLE,
	RT_WALK_LONG, /* longer than max; the walk stays at it */
	RT_WALK_CUT   /* none, or the input ends within it; the walk does not move */
} rt_walked;

void rt_walk_init(rt_walk *w, const rt_alloc *alloc, const rt_input *in);
void rt_walk_deinit(rt_walk *w);
/* The walk's failure as the caller's. */
rt_status rt_walk_fail(const rt_walk *w, rt_error *err);

rt_walk_mark rt_walk_here(const rt_walk *w);
void rt_walk_seek(rt_walk *w, rt_walk_mark mark);

/* The next byte; -1 at the end. */
int rt_walk_peek(rt_walk *w);
/* Past a UTF-8 byte order mark, if the walk is at one. */
void rt_walk_unmark(rt_walk *w);
/* Past JSON white space; false: nothing follows. */
bool rt_walk_blank(rt_walk *w);
/* At most size of the bytes that follow, without passing them. */
rt_str rt_walk_ahead(rt_walk *w, size_t size);
/* Past the next needle; false: not found, and the walk is at the end. */
bool rt_walk_find(rt_walk *w, rt_str needle);

/* The value at the position of the walk, which moves past it; a view until the next call. level
 * (may be NULL) is the one that it is a member of, which is bad when the value is cut. */
rt_walked rt_walk_value(rt_walk *w, rt_walk_level *level, size_t max, rt_str *out_value);
/* The same without keeping it; false: cut. */
bool rt_walk_skip(rt_walk *w, rt_walk_level *level);

/* Into the [ or { at the position of the walk; false, bad: there is something else. */
bool rt_walk_open(rt_walk *w, rt_walk_level *level);
/* To the value of the next member. False: the level has ended, or is bad. out_key (with its
 * quotes and escapes, empty in arrays) is valid until the next call of this. */
bool rt_walk_next(rt_walk *w, rt_walk_level *level, rt_str *out_key);

/* Read the next line, without its \n; valid until the next call. CUT: no more lines. */
rt_walked rt_walk_line(rt_walk *w, size_t max, rt_str *out_line);
void rt_walk_skip_line(rt_walk *w);

#endif
