/* SPDX-License-Identifier: MIT
 *
 * Pi rows: the records of a session file that is to be written, before they are text.
 *
 * A row is an entry in its place. Most rows have a line, the record as it was read, and
 * are written by copying it. The work here is to find out which ones cannot be: it acts as
 * a reader, which finds parents by id (of equal ids the last one counts), and changes
 * an id or a parentId only where the reader would find another parent than the outline
 * has. So an unchanged file comes out as it went in, however odd it is, and only then with
 * its cycles, in which pi itself would loop.
 *
 * Where takes share a node below different ones (an entry before it was deleted in one of
 * them), pi's tree cannot: the take gets a copy of the rest with ids of its own. */
#ifndef RT_FORMATS_PI_ROWS_H
#define RT_FORMATS_PI_ROWS_H

#include "codec/body.h"
#include "formats/formats_writer.h"
#include "formats/pi_impl.h"

typedef struct rt_pi_row {
	rt_str id;        /* as it will be written */
	rt_str parent_id; /* as it will be written; ptr NULL: null */
	int64_t parent;   /* the row that is its parent */
	size_t node;      /* in the outline */
	rt_pi_entry raw;  /* what its line says; raw.line.ptr NULL: to be composed */
	rt_moment ts;     /* set when it is written: the node's, or its parent's */
	bool is_copy;     /* for another take */
	bool is_verbatim; /* the line was read from a file, and is good as it is */
	bool needs_id;    /* the line's own is taken, or means another row */
	bool changes_parent;
} rt_pi_row;

typedef struct rt_pi_rows {
	rt_writer *w; /* of the export */
	rt_scope *s;  /* the same: lines and ids made here */
	rt_pi_reader reader;
	rt_outline outline; /* the one to write, with parents mended in a copy of the nodes */
	rt_vec list;        /* rt_pi_row, before they are in order */
	rt_index copies;    /* hash of node and parent: row */
	rt_pi_row *items;   /* in the order in which to write them */
	size_t count;
	rt_index ids; /* id: row */
	int64_t head; /* row; -1: before the first */
	rt_buf *scratch;
} rt_pi_rows;

/* whole: all nodes, else the active take. Failures, RT_CORRUPT for a body that is none, are in
 * w's scope. */
void rt_pi_rows_init(rt_pi_rows *rows, rt_writer *w, const rt_outline *outline, bool whole);
void rt_pi_rows_deinit(rt_pi_rows *rows);
const rt_node *rt_pi_rows_node(const rt_pi_rows *rows, int64_t row);

/* --- composing records (pi_compose.c) --- */

/* The role of the entry in Retake: a message's, or "custom"; empty for what has none. */
rt_str rt_pi_entry_role(const rt_pi_entry *e);
/* The kind of the entry in Retake, as its record says it: its type, or "unknown"; "message"
 * for a message. */
rt_str rt_pi_entry_kind(const rt_pi_entry *e);
/* Can a record of this role stand for an entry whose role is now role? */
bool rt_pi_role_fits(const rt_pi_entry *e, rt_str role);

/* The record inside an edited body ("pi", codec/body.h) with the new content where it
 * belongs. Nothing is added when there is none inside. */
void rt_pi_compose_again(rt_buf *out, const rt_body *body);

/* Write the members id, parentId and timestamp. */
void rt_pi_put_ids(rt_buf *out, rt_str id, rt_str parent_id, rt_moment ts);

/* A new record for an entry of Retake's own. */
typedef struct rt_pi_composed {
	const rt_node *node;
	const rt_body *body;
	rt_str id, parent_id; /* parent_id.ptr NULL: null */
	rt_str kept_id;       /* compaction: id of the first entry kept; empty: none */
	bool is_inner_range;  /* compaction: of a range that pi cannot express */
	rt_moment ts;
	bool lossless;
} rt_pi_composed;
void rt_pi_compose(rt_buf *out, const rt_pi_composed *entry);
/* What the composed record is to a reader: RT_PI_LABEL with its target and text,
 * RT_PI_SESSION_INFO with its text, else RT_PI_OTHER. Views into the body. */
rt_pi_type rt_pi_composed_type(const rt_pi_composed *entry, rt_str *out_target, rt_str *out_text);

/* The "retake" member: what a record of this role and kind cannot express, as a JSON object;
 * nothing where there is nothing. body may be NULL; its fields are added where they are not
 * in the record. */
void rt_pi_compose_retake(rt_buf *out, const rt_node *node, rt_str record_role, rt_str record_kind,
			  const rt_body *body);

/* rt_format_pi.write (pi_write.c). */
rt_status rt_pi_write(const rt_alloc *alloc, const rt_outlines *in,
		      const rt_export_options *options, rt_buf *out, rt_error *err);

#endif
