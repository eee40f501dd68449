/* SPDX-License-Identifier: MIT
 *
 * Build: how readers make outlines. A builder collects discussions one after another:
 *
 *     rt_build_init(&b, alloc, report);
 *     rt_build_discussion(&b);
 *       rt_build_body_open(&b, content, false);
 *       buf = rt_build_body_field(&b, key);         any number of times
 *       rt_build_node(&b, &node);
 *       rt_build_take(&b, name, git_commit, indices, count);
 *       rt_build_field(&b, name, json);
 *     ...
 *     st = rt_build_finish(&b, out, err);
 *     rt_build_deinit(&b);
 *
 * A failure stays in the builder's scope: later calls do nothing, and rt_build_finish
 * reports it. One thread at a time. */
#ifndef RT_FORMATS_BUILD_H
#define RT_FORMATS_BUILD_H

#include "codec/body.h"
#include "ops/format.h"
#include "formats/formats_list.h"
#include "formats/formats_scan.h"

/* Further fields of entries, for data that an import could not represent. */
#define RT_BUILD_BAD_TS "ts_text"          /* an invalid time, verbatim */
#define RT_BUILD_BAD_CONTENT "content_raw" /* content that is neither text nor an array */
#define RT_BUILD_RAW \
	"import_raw" /* a record that was repaired: its text, or, if that is
					    * not UTF-8, {"base64":…} */

typedef struct rt_build {
	rt_scope s; /* of the whole import: buffers and lists of the reader, too */
	const rt_alloc *alloc;
	rt_report *report;
	rt_arena *arena;   /* of the outlines; passed on with them */
	rt_items outlines; /* rt_outline */
	rt_items nodes;    /* rt_node of the current discussion */
	rt_items takes;    /* rt_outline_take */
	rt_items fields;   /* rt_outline_field */
	rt_items project;  /* rt_outline_field */
	rt_buf *body;      /* the current body in the form of codec/body.h, including the letter */
	rt_str content;
	bool content_is_json;
	size_t body_fields;
	rt_buf *blocks;  /* the text of a content that is an array */
	rt_buf *scratch; /* for one call at a time */
	rt_json_doc *doc; /* of rt_build_parse */
	size_t copied;   /* bytes in the arena */
	size_t copied_before; /* the current discussion */
	bool in_discussion;
	bool is_counted; /* see rt_input: bodies and fields stay empty */
} rt_build;

void rt_build_init(rt_build *b, const rt_alloc *alloc, rt_report *report);
void rt_build_deinit(rt_build *b);
/* Moves the result to out, which then owns the arena. RT_NOMEM: out untouched. */
RT_CHECKED rt_status rt_build_finish(rt_build *b, rt_outlines *out, rt_error *err);
/* Starts again after that, with an arena that becomes the builder's and is emptied. */
void rt_build_again(rt_build *b, rt_arena *arena);
/* Bytes of memory used so far; by the current discussion. */
size_t rt_build_size(const rt_build *b);
size_t rt_build_discussion_size(const rt_build *b);

/* Close the current discussion, if any, and start the next. The outline is valid until the
 * next call of this; name, source, head and active_take may be set meanwhile. NULL: failed. */
rt_outline *rt_build_discussion(rt_build *b);
/* Without the current discussion. */
void rt_build_drop_discussion(rt_build *b);
/* Number of discussions started so far. */
size_t rt_build_count(const rt_build *b);
/* Name of the current discussion. */
rt_str rt_build_name(const rt_build *b);

/* A copy in the arena; the empty view on failure. */
rt_str rt_build_copy(rt_build *b, rt_str s);

/* Parse one record, repairing invalid Unicode; *out_repaired (may be NULL) counts the repairs. The
 * value is valid until the next call. NULL: not JSON, with the reason in err (may be NULL), or out
 * of memory. */
yyjson_val *rt_build_parse(rt_build *b, rt_str raw, size_t *out_repaired, rt_error *err);

/* A body: the content, text or the JSON text of an array (borrowed until rt_build_node),
 * then further fields. For each write one JSON value to the returned buffer. */
void rt_build_body_open(rt_build *b, rt_str content, bool is_json);
/* The same with a JSON value, text or array; the empty text for anything else. */
void rt_build_body_open_value(rt_build *b, yyjson_val *content);
/* Does the open body have no content: an empty text, or no blocks? */
bool rt_build_body_is_empty(const rt_build *b);
rt_buf *rt_build_body_field(rt_build *b, rt_str key);
/* The field RT_BUILD_RAW. */
void rt_build_body_raw(rt_build *b, rt_str raw);
/* A complete body without its letter (copied); the letter is that of the node that is added
 * next. */
void rt_build_body_verbatim(rt_build *b, rt_str body);
/* The same, with the letter set in node, from a letter and rt_build_add_bytes. False: it is not the
 * body of a pi record or an object. */
bool rt_build_body_record(rt_build *b, rt_str letter, yyjson_val *bytes, rt_node *node);
/* Bytes as a JSON value: a string if they are UTF-8, else {"base64":"…"}; and back, appended to
 * buf. */
void rt_build_add_bytes(rt_buf *buf, rt_str bytes);
bool rt_build_read_bytes(rt_buf *buf, yyjson_val *value);
/* The body in its stored form for this node; "" if none is open. */
rt_str rt_build_body(rt_build *b, const rt_node *node, char *out_format);
/* Add a node with the body that was opened last; all its texts are copied. Returns its index;
 * 0 on failure. */
size_t rt_build_node(rt_build *b, const rt_node *node);
/* Nodes of the current discussion. */
size_t rt_build_node_count(const rt_build *b);
rt_node *rt_build_nodes(rt_build *b);

/* A take of the current discussion; the indices are copied. */
void rt_build_take(rt_build *b, rt_str name, rt_str git_commit, const int64_t *nodes,
		   size_t node_count);
/* The lists of files of the take that was added last (rt_outline_take); kept if it is an object. */
void rt_build_take_files(rt_build *b, rt_str json);
/* Fields of the discussion or of the project; of several with one name the last one counts.
 * Name and json are copied. */
void rt_build_field(rt_build *b, rt_str name, rt_str json);
void rt_build_field_string(rt_build *b, rt_str name, rt_str text);
/* The same with a prefix before the name: "setting." and key. */
void rt_build_field_in(rt_build *b, bool of_project, const char *prefix, rt_str key, rt_str json);

/* ---- parents by id, for formats whose entries name them ---- */

/* An item among others, by ids. */
typedef struct rt_link {
	rt_str id, parent_id;
	uint64_t line;  /* for remarks; 0: none */
	int64_t parent; /* found; -1: none */
	bool is_placed; /* parent is set already, and parent_id is not used */
	bool is_cut;    /* its parent would have closed a cycle */
	bool has_content; /* of a message; see graph.c */
} rt_link;

/* Find the parent of every item: -1 for none, unknown or itself; cycles are cut at the item visited
 * first. ids has the index of each id. */
void rt_link_all(rt_scope *s, const rt_index *ids, rt_link *links, size_t count,
		    rt_report *report);

/* ---- values ---- */

/* The text of a raw JSON string (with quotes), repaired, in the arena. False: not a string. */
bool rt_build_text(rt_build *b, rt_str raw, rt_str *out);
/* Raw JSON from the input, checked and written compactly (sorted: with sorted keys) into
 * the arena. False: not valid JSON, or too deep; nothing is reported. */
bool rt_build_json(rt_build *b, rt_str raw, bool sorted, rt_str *out);

/* A time from JSON: an ISO string or an epoch number. False: neither, or out of the
 * years 0 to 9999. */
bool rt_build_moment(yyjson_val *value, rt_moment *out);
bool rt_build_moment_str(rt_str text, bool is_number, rt_moment *out);

#endif
