/* SPDX-License-Identifier: MIT
 *
 * Build: what importers fill outlines with, and exporters read them by.
 *
 * Reading. A builder collects discussions one after another:
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
 * Failing for want of memory is sticky, as with rt_buf: calls after it do nothing and
 * finish reports it. One thread at a time. */
#ifndef RT_FORMATS_BUILD_H
#define RT_FORMATS_BUILD_H

#include "codec/body.h"
#include "ops/format.h"
#include "formats/formats_scan.h"

/* Further fields of entries that keep what an import could not take as it is. */
#define RT_BUILD_BAD_TS "ts_text"          /* a time that is none, word for word */
#define RT_BUILD_BAD_CONTENT "content_raw" /* content that is neither text nor an array */
#define RT_BUILD_RAW "import_raw"          /* a record that was repaired: its text, or, where
                                              that is not UTF-8, {"base64":…} */

/* Hash table from hashes to numbers; equal hashes may stand for several. */
typedef struct rt_table_slot {
	uint64_t hash;
	size_t value_plus_1; /* 0: free */
} rt_table_slot;

typedef struct rt_table {
	const rt_alloc *alloc;
	rt_table_slot *slots;
	size_t room; /* a power of two, or 0 */
	size_t count;
} rt_table;

void rt_table_init(rt_table *table, const rt_alloc *alloc);
void rt_table_deinit(rt_table *table);
void rt_table_clear(rt_table *table); /* keeps its memory */
RT_CHECKED rt_status rt_table_add(rt_table *table, uint64_t hash, size_t value);
/* The next value with this hash; *probe begins as 0. False: no more. */
bool rt_table_next(const rt_table *table, uint64_t hash, size_t *probe, size_t *out_value);

/* A growing array of equal items. */
typedef struct rt_vec {
	void *items;
	size_t count, room;
} rt_vec;

typedef struct rt_build {
	const rt_alloc *alloc;
	rt_report *report;
	rt_arena *arena;
	rt_status status;
	rt_vec outlines; /* rt_outline */
	rt_vec nodes;    /* rt_node of the discussion under way */
	rt_vec takes;    /* rt_outline_take */
	rt_vec fields;   /* rt_outline_field */
	rt_vec project;  /* rt_outline_field */
	rt_buf body;     /* the body under way, as codec/body.h has it, letter included */
	rt_str content;
	bool content_is_json;
	size_t body_fields;
	rt_buf scratch;  /* for one call at a time */
	size_t copied;   /* bytes in the arena */
	size_t copied_before; /* the discussion under way */
	bool in_discussion;
} rt_build;

void rt_build_init(rt_build *b, const rt_alloc *alloc, rt_report *report);
void rt_build_deinit(rt_build *b);
/* Hand over: the arena and all in it are out's. RT_NOMEM: out untouched. */
RT_CHECKED rt_status rt_build_finish(rt_build *b, rt_outlines *out, rt_error *err);
/* Begin anew after that, with an empty arena (from now on the builder's). */
void rt_build_again(rt_build *b, rt_arena *arena);
/* Bytes that what is built so far takes; of the discussion under way. */
size_t rt_build_size(const rt_build *b);
size_t rt_build_discussion_size(const rt_build *b);

/* Close the discussion under way, if any, and begin the next. The outline stays valid
 * until the next call of this; name, source, head and active_take may be set meanwhile.
 * NULL when memory has run out. */
rt_outline *rt_build_discussion(rt_build *b);
/* Number of discussions begun so far. */
size_t rt_build_count(const rt_build *b);

/* Name of the discussion under way. */
rt_str rt_build_name(const rt_build *b);

/* A copy in the arena; the empty view on failure (sticky). */
rt_str rt_build_copy(rt_build *b, rt_str s);

/* A body: the content, text or the JSON text of an array (borrowed until rt_build_node),
 * then further fields. For each write one JSON value to the returned buffer. */
void rt_build_body_open(rt_build *b, rt_str content, bool is_json);
rt_buf *rt_build_body_field(rt_build *b, rt_str key);
/* The field RT_BUILD_RAW. */
void rt_build_body_raw(rt_build *b, rt_str raw);
/* A body that is there already, without its letter (copied); the letter is that of the
 * node that is added next. */
void rt_build_body_verbatim(rt_build *b, rt_str body);
/* Bytes as a JSON value: a string where they are UTF-8, else {"base64":"…"}; and back,
 * appended to buf. */
void rt_build_add_bytes(rt_buf *buf, rt_str bytes);
bool rt_build_read_bytes(rt_buf *buf, yyjson_val *value);
/* The body as it would be kept; "" when there is none open. */
rt_str rt_build_body(rt_build *b, char *out_format);
/* Add node with the body that was opened last (copied); everything else in *node must
 * live in the input or the arena. Gives its index; 0 on failure. */
size_t rt_build_node(rt_build *b, const rt_node *node);
/* Nodes of the discussion under way. */
size_t rt_build_node_count(const rt_build *b);
rt_node *rt_build_nodes(rt_build *b);

/* A take of the discussion under way; the indices are copied. */
void rt_build_take(rt_build *b, rt_str name, rt_str git_commit, const int64_t *nodes,
		   size_t node_count);
/* Fields; of several with one name the last one counts. Name and json are copied. */
void rt_build_field(rt_build *b, rt_str name, rt_str json);
void rt_build_field_string(rt_build *b, rt_str name, rt_str text);
void rt_build_project_field(rt_build *b, rt_str name, rt_str json);
/* The same with a prefix before the name: "setting." and key. */
void rt_build_field_in(rt_build *b, bool of_project, const char *prefix, rt_str key, rt_str json);

/* The text of a raw JSON string (with quotes), repaired, in the arena. False: not a string. */
bool rt_build_text(rt_build *b, rt_str raw, rt_str *out);
/* Raw JSON from the input, checked and written compactly (sorted: with sorted keys) into
 * the arena. False: not valid JSON, or too deep; nothing is reported. */
bool rt_build_json(rt_build *b, rt_str raw, bool sorted, rt_str *out);

/* A time from JSON: an ISO string or an epoch number. False: neither, or out of the
 * years 0 to 9999. */
bool rt_build_moment(yyjson_val *value, rt_moment *out);
bool rt_build_moment_str(rt_str text, bool is_number, rt_moment *out);

/* Writing. */

/* The value of a field, or the empty view. */
rt_str rt_outline_field_of(const rt_outline_field *fields, size_t count, const char *name);

/* Take a node's body apart; scratch is overwritten and must live as long as *out. */
RT_CHECKED rt_status rt_node_body(const rt_alloc *alloc, const rt_node *node, rt_buf *scratch,
				  rt_body *out, rt_error *err);

/* Has the entry been purged? Its body is one of format X, or the object that the engine
 * hands out for it. */
bool rt_node_is_purged(const rt_node *node);

/* The takes of an outline as it has them, or made up: one for every leaf, the head's path
 * first, named after the discussion. arena owns what is made. */
RT_CHECKED rt_status rt_outline_takes_of(const rt_alloc *alloc, rt_arena *arena,
					 const rt_outline *outline,
					 const rt_outline_take **out_takes, size_t *out_count,
					 size_t *out_active, rt_error *err);
/* Does take hold the node? Position, or SIZE_MAX. O(n). */
size_t rt_outline_take_find(const rt_outline_take *take, int64_t node);

#endif
