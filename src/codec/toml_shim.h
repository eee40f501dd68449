/* SPDX-License-Identifier: MIT
 *
 * The only interface between C and toml++ (C++): TOML text in, events out. No exception and no
 * C++ type crosses it, and it includes none of our headers, some of which are not C++. Built only
 * if toml++ is available (RT_WITH_TOML). */
#ifndef RT_CODEC_TOML_SHIM_H
#define RT_CODEC_TOML_SHIM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rt_toml_event {
	RT_TOML_TABLE,
	RT_TOML_TABLE_END,
	RT_TOML_ARRAY,
	RT_TOML_ARRAY_END,
	RT_TOML_KEY,     /* bytes: its name; the member's value follows */
	RT_TOML_STRING,  /* bytes: its text */
	RT_TOML_NUMBER,  /* bytes: as JSON writes it, with all its digits */
	RT_TOML_LITERAL, /* bytes: a value that JSON lacks: dates, times, inf, nan */
	RT_TOML_TRUE,
	RT_TOML_FALSE
} rt_toml_event;

typedef struct rt_toml_at {
	unsigned long line, column; /* 1-based, column in code points; 0: nowhere */
} rt_toml_at;

/* Members come in the order of the text. at: the position of a KEY; 0 for other events. The
 * callback must neither throw nor longjmp. */
typedef void (*rt_toml_event_fn)(void *ctx, rt_toml_event event, const char *bytes, size_t size,
				 rt_toml_at at);

typedef enum rt_toml_result { RT_TOML_OK, RT_TOML_MALFORMED, RT_TOML_NOMEM } rt_toml_result;

typedef struct rt_toml_fault {
	unsigned long line, column; /* 1-based, in code points */
	char text[240];             /* NUL-terminated */
} rt_toml_fault;

/* The caller has checked the nesting: this recurses over it. */
rt_toml_result rt_toml_parse(const char *text, size_t size, rt_toml_event_fn fn, void *ctx,
			     rt_toml_fault *out_fault);

#ifdef __cplusplus
}
#endif

#endif
