/* SPDX-License-Identifier: MIT
 *
 * Text: views of bytes, growable buffers, reference-counted immutable strings, UTF-8.
 * Text is UTF-8 with an explicit size and may contain NUL; nothing is normalised. */
#ifndef RT_BASE_TEXT_H
#define RT_BASE_TEXT_H

#include <stdbool.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

/* A view: borrowed bytes. ptr may be NULL when size is 0. Pass by value. */
typedef struct rt_str {
	const char *ptr;
	size_t size;
} rt_str;

#define RT_STR_INIT(literal) {("" literal), sizeof(literal) - 1} /* in static tables */
#define RT_STR(literal) ((rt_str)RT_STR_INIT(literal))
#define RT_STR_ARG(s) (int)(s).size, (s).ptr == NULL ? "" : (s).ptr /* for "%.*s" */

static inline rt_str
rt_str_of(const char *cstr) /* NULL: the empty view */
{
	return cstr == NULL ? (rt_str){NULL, 0} : (rt_str){cstr, strlen(cstr)};
}
static inline rt_str
rt_str_at(const char *ptr, size_t size)
{
	return (rt_str){ptr, size};
}
/* Without its first bytes; size <= s.size. */
static inline rt_str
rt_str_skip(rt_str s, size_t size)
{
	return size > 0 ? (rt_str){s.ptr + size, s.size - size} : s;
}
static inline bool
rt_str_eq(rt_str a, rt_str b)
{
	return a.size == b.size && (a.size == 0 || memcmp(a.ptr, b.ptr, a.size) == 0);
}
static inline bool
rt_str_is(rt_str a, const char *cstr)
{
	return rt_str_eq(a, rt_str_of(cstr));
}
/* cstrs is terminated by NULL. */
bool rt_str_is_one_of(rt_str a, const char *const *cstrs);
bool rt_str_starts(rt_str a, rt_str prefix);
/* Ignores the case of ASCII letters. */
bool rt_str_eq_nocase(rt_str a, rt_str b);
/* By bytes: < 0, 0, > 0. */
int rt_str_cmp(rt_str a, rt_str b);
/* Without leading and trailing ASCII white space. */
rt_str rt_str_trim(rt_str a);
/* Position of needle at or after from, or SIZE_MAX. An empty needle is found at from. */
size_t rt_str_find(rt_str in, rt_str needle, size_t from);
/* Splits off the part of *rest before the next `at` (lines, words). False: *rest is empty. */
bool rt_str_split(rt_str *rest, char at, rt_str *out);
/* The decimal number at the beginning of s; returns its number of digits. 0: there is no digit, or
 * the number is above max. */
size_t rt_str_u64_prefix(rt_str s, uint64_t max, uint64_t *out);
/* A decimal number alone, up to max. */
bool rt_str_u64(rt_str s, uint64_t max, uint64_t *out);
/* Edits between two words: insert, delete, replace, swap neighbours. SIZE_MAX where one is
 * longer than 60 bytes. O(a * b). */
size_t rt_str_distance(rt_str a, rt_str b);

/* Buf: a growable byte buffer with a fixed limit. One thread at a time.
 * Errors are sticky: after the first failure nothing more is added and buf->status has the
 * reason; check it once at the end. */
typedef struct rt_buf {
	const rt_alloc *alloc;
	char *ptr;     /* owned; NUL-terminated unless NULL */
	size_t size;   /* bytes in use, without the NUL */
	size_t room;
	size_t limit;  /* RT_LIMIT beyond */
	rt_status status;
} rt_buf;

void rt_buf_init(rt_buf *buf, const rt_alloc *alloc, size_t limit);
void rt_buf_deinit(rt_buf *buf);
void rt_buf_clear(rt_buf *buf); /* empty and RT_OK again; keeps its memory */
void rt_buf_add(rt_buf *buf, const void *ptr, size_t size);
void rt_buf_add_str(rt_buf *buf, rt_str s);
void rt_buf_add_c(rt_buf *buf, const char *cstr);
void rt_buf_add_byte(rt_buf *buf, char byte);
void rt_buf_add_u64(rt_buf *buf, uint64_t number);
void rt_buf_add_grouped(rt_buf *buf, uint64_t number); /* for people: "1,204" */
void rt_buf_add_i64(rt_buf *buf, int64_t number);
void rt_buf_capitalise(rt_buf *buf); /* the first letter, if it is one of a to z */
void rt_buf_add_f(rt_buf *buf, const char *format, ...) RT_PRINTF(2, 3);
/* Reserves size more bytes and returns a pointer to them; NULL on failure. The caller adds the
 * number of bytes used to buf->size. */
char *rt_buf_reserve(rt_buf *buf, size_t size);
static inline rt_str
rt_buf_str(const rt_buf *buf)
{
	return (rt_str){buf->ptr, buf->size};
}
#define RT_BUF_UNLIMITED ((size_t)1 << 40)

/* Text: a reference-counted immutable string. Call ref and unref from any thread. */
typedef struct rt_text rt_text;
struct rt_text {
	_Atomic uint32_t refs;
	uint32_t reserved;
	const rt_alloc *alloc;
	size_t size;
	char ptr[]; /* size bytes and a NUL */
};
const rt_text *rt_text_new(const rt_alloc *alloc, rt_str s); /* NULL: no memory */
const rt_text *rt_text_ref(const rt_text *text);             /* NULL stays NULL */
void rt_text_unref(const rt_text *text);
static inline rt_str
rt_text_str(const rt_text *text)
{
	return text == NULL ? (rt_str){NULL, 0} : (rt_str){text->ptr, text->size};
}

/* UTF-8 according to RFC 3629: no surrogates, nothing above U+10FFFF, shortest form. */
/* Size of the longest valid prefix; s.size if all of it is valid. */
size_t rt_utf8_valid_size(rt_str s);
size_t rt_utf8_count(rt_str s); /* code points of valid text */
/* Byte offset of code point number at; SIZE_MAX: there are fewer. */
size_t rt_utf8_offset(rt_str s, size_t at);
/* Largest size <= max_size that ends on a code point boundary. */
size_t rt_utf8_cut(rt_str s, size_t max_size);
/* Appends s to buf, with every invalid byte replaced by U+FFFD. */
void rt_utf8_repair(rt_buf *buf, rt_str s);

#endif
