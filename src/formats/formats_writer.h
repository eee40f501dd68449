/* SPDX-License-Identifier: MIT
 *
 * Writer: the common part of all writers.
 *
 *     rt_writer_init(&w, alloc, in, options, out);
 *     while (rt_writer_next(&w))                        w.outline, w.takes, w.active
 *             for (…)
 *                     body = rt_writer_body(&w, node);  NULL: failed
 *     return rt_writer_end(&w, err);
 *
 * Writers append to w.out and keep failures in w.s. One thread at a time. */
#ifndef RT_FORMATS_WRITER_H
#define RT_FORMATS_WRITER_H

#include "base/scope.h"
#include "codec/body.h"
#include "formats/formats_list.h"
#include "ops/format.h"

typedef struct rt_writer {
	rt_scope s; /* of the whole export */
	const rt_outlines *in;
	rt_export_options options;
	rt_buf *out;
	size_t next; /* index of the discussion after the current one */
	/* the current discussion */
	rt_scope d; /* freed when the next one starts */
	const rt_outline *outline;
	const rt_outline_take *takes;
	size_t take_count, active;
	/* the current entry */
	rt_scope e; /* for texts and buffers; emptied when the next body is read */
	rt_buf *scratch;
	rt_body body;
} rt_writer;

/* options may be NULL. */
void rt_writer_init(rt_writer *w, const rt_alloc *alloc, const rt_outlines *in,
		    const rt_export_options *options, rt_buf *out);
/* Frees everything; returns the first failure, of out too. */
RT_CHECKED rt_status rt_writer_end(rt_writer *w, rt_error *err);
/* Advance to the next discussion; false: no more, or the export has failed. */
bool rt_writer_next(rt_writer *w);
/* The active take; NULL: the discussion has none. */
const rt_outline_take *rt_writer_take(const rt_writer *w);
/* Empty the scope of the entry; its failure is the export's. */
void rt_writer_reset(rt_writer *w);
/* The body of an entry, valid until the next call. NULL: the export has failed. */
const rt_body *rt_writer_body(rt_writer *w, const rt_node *node);
/* Parse JSON, such as that of a field; it lives as long as `as`: &w->s or &w->d. NULL: empty, or
 * not JSON, or the export has failed. */
yyjson_val *rt_writer_parse(rt_writer *w, rt_scope *as, rt_str json);
/* Number the nodes of the current discussion: those of the active take in order, then (all
 * takes are exported) the others in the order of the takes. (*out_order)[number] is a node,
 * *out_own the count of the first group. Returns the number of each node; -1: not exported. */
const int64_t *rt_writer_number(rt_writer *w, const int64_t **out_order, size_t *out_own,
				size_t *out_count);

/* ---- members of entries ---- */

/* A member of a JSON object and the field of an rt_node that it maps to. Retake's own formats list
 * their members in tables of these, and read and write by them. */
typedef enum rt_member_type {
	RT_MEMBER_TEXT, /* left out when empty */
	RT_MEMBER_TEXT_ALWAYS,
	RT_MEMBER_KIND, /* left out when it is "message" */
	RT_MEMBER_FLAG, /* left out when false */
	RT_MEMBER_TS,
	RT_MEMBER_PURGED, /* true where the entry was purged; not read */
	RT_MEMBER_CONTENT /* written and read by the format itself */
} rt_member_type;

typedef struct rt_member {
	const char *name;
	rt_member_type type;
	size_t offset; /* in rt_node */
} rt_member;

/* For the tables: the members are named like the fields. */
#define RT_MEMBER(type, field) \
	{ \
#field, RT_MEMBER_##type, offsetof(rt_node, field) \
	}

/* Write the member of a node, unless it is to be left out. Not for RT_MEMBER_CONTENT. */
void rt_member_write(rt_buf *buf, const rt_member *member, const rt_node *node);
/* Read it from an object, which the texts are borrowed from. False: the value is of another
 * type, and the field is unchanged. */
bool rt_member_read(const rt_member *member, yyjson_val *object, rt_node *node);
/* The member of that name; NULL: none. */
const rt_member *rt_member_find(const rt_member *members, size_t count, rt_str name);

/* ---- outlines ---- */

/* The JSON of a field, or the empty view. */
rt_str rt_outline_field_of(const rt_outline_field *fields, size_t count, const char *name);

/* The id of the conversation of this format that the outline was imported from; empty: none. */
rt_str rt_outline_source_id(rt_scope *s, const rt_outline *o, const char *format);

/* Read a node's body; scratch is overwritten and must live as long as *out. */
RT_CHECKED rt_status rt_node_body(const rt_alloc *alloc, const rt_node *node, rt_buf *scratch,
				  rt_body *out, rt_error *err);

/* Has the entry been purged? Its body is one of format X, or the object that the engine returns for
 * it. */
bool rt_node_is_purged(const rt_node *node);

/* The takes of an outline as given, or generated: one for every leaf, the head's path
 * first, named after the discussion. arena owns the new ones. */
RT_CHECKED rt_status rt_outline_takes_of(const rt_alloc *alloc, rt_arena *arena,
					 const rt_outline *outline,
					 const rt_outline_take **out_takes, size_t *out_count,
					 size_t *out_active, rt_error *err);
/* Index of the node in the take, or SIZE_MAX. O(n). */
size_t rt_outline_take_find(const rt_outline_take *take, int64_t node);

#endif
