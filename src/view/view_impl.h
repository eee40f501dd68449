/* SPDX-License-Identifier: MIT
 *
 * Shared by the views: values in rows, and JSON from tables of fields. */
#ifndef RT_VIEW_VIEW_IMPL_H
#define RT_VIEW_VIEW_IMPL_H

#include <stddef.h> /* offsetof */

#include "view/view_rows.h"

/* ---- values in a row ---- */

/* The id of an entry, in the scope. */
rt_str rt_view_id(rt_scope *scope, const rt_project *project, uint32_t entry);
/* A name of the project's table; "message" for kind 0, whose name is empty. */
rt_str rt_view_name(rt_scope *scope, const rt_project *project, uint16_t number);
rt_str rt_view_kind(rt_scope *scope, const rt_project *project, uint16_t number);
/* The label that the discussion gave to the entry, or absent. */
rt_str rt_view_label(rt_scope *scope, const rt_project *project, const rt_disc *disc,
		     uint32_t entry);

/* "claude-code" of the source "claude-code:ID"; "retake": not imported; absent: imported from a file without
 * an id, whose source the engine names "content:HASH". Borrowed. */
rt_str rt_view_program(const rt_disc *disc);

/* Sets title, preview, model and another_reply. memory: an inner scope of the view's, which is reset. */
void rt_take_row_set_title(const rt_view *view, const rt_disc *disc, rt_scope *memory,
			   rt_take_row *row);

/* ---- rows of the log ---- */

enum { RT_STRETCH_ROWS = 64 };

/* Consecutive rows of the log, in either direction. */
typedef struct rt_stretch {
	rt_scope *memory;
	struct {
		uint64_t seq;
		int64_t at_us;
		rt_str data;
	} rows[RT_STRETCH_ROWS];
	size_t count;
} rt_stretch;

/* Rows first .. last, at most RT_STRETCH_ROWS, in s->memory until the next call. None are read after a failure. */
void rt_stretch_read(rt_scope *scope, rt_engine *engine, rt_stretch *s, uint64_t first, uint64_t last);

/* ---- usage ---- */

/* Visits entries, each once. */
typedef struct rt_usage_visitor {
	void *ctx;
	/* Is this entry of interest? Others are skipped, their bodies not read. NULL: all are. */
	bool (*wants)(void *ctx, const rt_slot *slot);
	/* disc: NULL for an entry that was undone or deleted. body: NULL if it is only text (it is not read then), or damaged.
	 * usage: empty if the entry is not a reply whose usage is known, or if it is the same reply as an earlier
	 * entry, from another import: with its time, model and token counts. */
	void (*entry)(void *ctx, const rt_disc *disc, const rt_slot *slot, const rt_body *body,
		      const rt_usage_totals *usage);
} rt_usage_visitor;

/* The entries of the view's discussion, or of all that are not deleted, in the order of discussions and takes. */
void rt_usage_visit(const rt_view *view, bool is_project, const rt_usage_visitor *visitor);
/* Then also those that were undone or deleted, as they were first; reads all of the log. */
void rt_usage_visit_received(const rt_view *view, bool is_project, const rt_usage_visitor *visitor);
/* The model of a reply, in the members that Retake and other programs use; empty: unknown. Borrowed. */
rt_str rt_usage_model(const rt_body *body);

/* ---- JSON from a table ---- */

typedef enum rt_view_type {
	RT_VIEW_STR,     /* rt_str */
	RT_VIEW_JSON,    /* rt_str, a JSON value */
	RT_VIEW_BOOL,
	RT_VIEW_SIZE,    /* size_t */
	RT_VIEW_U64,
	RT_VIEW_TIME,    /* int64_t, µs; ISO 8601 with milliseconds */
	RT_VIEW_TAKE_ID, /* uint32_t; "t3" */
	RT_VIEW_DISC_ID, /* uint32_t; "d3" */
	RT_VIEW_NODE_ID  /* uint64_t; "n" and 12 hexadecimal digits */
} rt_view_type;

typedef enum rt_view_empty {
	RT_VIEW_ALWAYS,
	RT_VIEW_OMIT, /* left out if it is absent, false or 0 */
	RT_VIEW_NULL  /* null if it is absent or 0 */
} rt_view_empty;

/* A member of a row as a member of a JSON object. */
typedef struct rt_view_field {
	const char *key;
	rt_view_type type;
	rt_view_empty empty;
	size_t offset;
} rt_view_field;

#define RT_VIEW_FIELD(row, key, member, type, empty)                                               \
	{                                                                                           \
		key, RT_VIEW_##type, RT_VIEW_##empty, offsetof(row, member)                         \
	}
#define RT_VIEW_PUT(buf, table, row)                                                               \
	rt_view_put_fields((buf), (table), sizeof(table) / sizeof((table)[0]), (row))
/* Members are added to the object that buf ends with. */
void rt_view_put_fields(rt_buf *buf, const rt_view_field *fields, size_t count, const void *row);
/* One member. */
void rt_view_put_time(rt_buf *buf, const char *key, int64_t at_us);

/* The tag, or one nested in it. */
bool rt_disc_has_tag(const rt_view *v, const rt_disc *disc, rt_str tag);

#endif
