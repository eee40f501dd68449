/* SPDX-License-Identifier: MIT
 *
 * Scan: cut JSON text into the members of its arrays and objects without parsing them.
 *
 * A reader descends to its records this way and parses only those, one at a time. So a
 * record that is broken, or nested too deep, is skipped alone, memory is that of one record,
 * and the raw text of a repaired record is available. Only brackets and strings are
 * followed; everything between two commas is a member. No recursion, no limit on depth.
 *
 *     rt_members m;
 *     if (rt_members_open(&m, value))
 *             while (rt_members_next(&m, &key, &value))
 *                     ...
 *     if (m.bad)  it is malformed at m.at
 */
#ifndef RT_FORMATS_SCAN_H
#define RT_FORMATS_SCAN_H

#include "base/text.h"

typedef struct rt_members {
	rt_str in;      /* from the opening bracket on */
	size_t at;      /* next byte; where the fault is when bad */
	rt_str known;   /* a value whose end is known, so that it is not looked for again; or ptr NULL */
	char close;     /* ']' or '}' */
	bool started;
	bool bad;
} rt_members;

/* The state of the scan of a value that may arrive in pieces. Zeroed: at its beginning. */
typedef struct rt_json_scan {
	size_t depth;
	bool started, in_string, is_escaped, is_scalar;
} rt_json_scan;

/* Scan on from *at; true: the value ends at *at. A scalar also ends where the input does. */
bool rt_scan_on(rt_json_scan *s, const char *bytes, size_t *at, size_t size);

/* Position of the first byte at or after at that is not JSON white space. */
size_t rt_scan_blank(rt_str in, size_t at);
/* Position after the value that starts at at; SIZE_MAX when it does not end. */
size_t rt_scan_value(rt_str in, size_t at);
/* How many arrays and objects are open inside each other at the deepest place. */
size_t rt_scan_depth(rt_str in);

/* value starts with '[' or '{', perhaps after white space; false (and bad): it does not. */
bool rt_members_open(rt_members *m, rt_str value);
/* The next member; false at the end, or at a fault (bad). out_key has its quotes and
 * escapes; it is empty in arrays. Both are views into the value given to open. If a value does not
 * end (when the beginning of a file is sniffed), out_key is set anyway and m->at is where the value
 * starts. */
bool rt_members_next(rt_members *m, rt_str *out_key, rt_str *out_value);

/* The key of the next member and the first byte of its value, which is not scanned; false as above, but not bad. */
bool rt_members_peek(const rt_members *m, rt_str *out_key, char *out_first);

/* Is the raw key (with quotes) this name? Names without escapes only. */
bool rt_scan_key_is(rt_str raw_key, const char *name);

/* The next line of in from *at on, without its \n; false at the end. */
bool rt_scan_line(rt_str in, size_t *at, rt_str *out_line);
/* Without a UTF-8 byte order mark. */
rt_str rt_scan_unmark(rt_str in);

/* Lines of an input, counted forwards: requests for increasing positions cost one pass. */
typedef struct rt_line_reader {
	rt_str in;
	size_t at;
	uint64_t line, first; /* first: the line where in begins */
} rt_line_reader;

/* in begins in this line of its file, from 1. */
void rt_scan_lines_init(rt_line_reader *lines, rt_str in, uint64_t first);
/* 1-based line of ptr, which points into the input. */
uint64_t rt_scan_lines_of(rt_line_reader *lines, const char *ptr);

#endif
