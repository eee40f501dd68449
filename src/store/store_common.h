/* SPDX-License-Identifier: MIT
 *
 * Checks that the kinds of stores share, with their messages. */
#ifndef RT_STORE_COMMON_H
#define RT_STORE_COMMON_H

#include "base/scope.h"
#include "log/store.h"
#include "store/store_row.h"

#ifndef RT_VERSION
#define RT_VERSION "0.0.0" /* set by the build */
#endif

/* The versions of a store: which program wrote it, and the lowest formats that a program has to
 * know to read it and to write to it. */
typedef struct rt_store_gates {
	uint64_t reader, writer;
	char written_by[40]; /* "0.1" */
} rt_store_gates;

/* RT_TOO_NEW: this program knows formats up to `format` only. */
void rt_store_check_gates(rt_scope *s, const rt_store_gates *gates, uint64_t format,
			  const char *place, bool is_read_only);

/* The positions of a read. False: it has no rows. */
bool rt_store_range(const rt_rows *rows, uint64_t *out_first, uint64_t *out_last, bool *out_down);

void rt_store_no_project(rt_scope *s, uint64_t project);             /* RT_NOT_FOUND */
void rt_store_name_used(rt_scope *s, rt_str name);                   /* RT_REFUSED */
void rt_store_check_last(rt_scope *s, uint64_t last_project);        /* RT_LIMIT */
void rt_store_check_size(rt_scope *s, size_t size, size_t size_max); /* RT_LIMIT */
/* noun: "node" or "body". RT_USAGE. */
void rt_store_check_number(rt_scope *s, const char *noun, uint64_t number);
/* The arguments of append, where the log ends with row `head` and the bodies with `last`.
 * RT_CONFLICT, RT_LIMIT, RT_USAGE. */
void rt_store_check_append(rt_scope *s, uint64_t project, uint64_t head, uint64_t expected,
			   const rt_store_row *rows, size_t row_count, uint64_t last,
			   const rt_store_row *bodies, size_t body_count, size_t size_max);

/* A check in progress. */
typedef struct rt_store_findings {
	rt_finding_fn fn;
	void *ctx;
	bool stop; /* fn returned false */
} rt_store_findings;

/* Nothing after a stop. */
void rt_store_report(rt_store_findings *k, const char *id, const char *format, ...)
	RT_PRINTF(3, 4);
/* A row with this key does not match its checksum. */
void rt_store_report_row(rt_store_findings *k, enum rt_row_table table, uint64_t key);
/* A row of the log that comes after `before` (0: the first); sets it. Reports a gap. */
void rt_store_check_log(rt_store_findings *k, uint64_t key, uint64_t *before);

#endif
