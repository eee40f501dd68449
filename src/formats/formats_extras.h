/* SPDX-License-Identifier: MIT
 *
 * Extras: what a foreign format cannot say about an entry or a discussion, as one JSON
 * object beside its own record, in the lossless form of an export.
 *
 * Of an entry:
 *   {"id","role","kind","ts","muted","collapsed","read_mode","purged","label",
 *    "fields":{further fields in their order},      bodies of format J
 *    "format":"P","record":"…"}                     bodies kept as they are, as text, or
 *                                                   "record":{"base64":"…"}
 * A record holds the content too; else the content is that of the foreign record, so that
 * who edits an export by hand is heard.
 *
 * Of a discussion, whose nodes are numbered as the export lists them:
 *   {"name","active","head":number or null,"fields":{…},
 *    "takes":[{"name","git_commit","nodes":[numbers]}…]}
 * and in the first one "project":{"active":number,"fields":{…}}. The nodes of the active
 * take are not listed: they are the foreign record's own messages, in order. */
#ifndef RT_FORMATS_EXTRAS_H
#define RT_FORMATS_EXTRAS_H

#include "formats/formats_build.h"

/* The object for an entry; body is the node's, taken apart. */
void rt_extras_add(rt_buf *buf, const rt_node *node, const rt_body *body);
/* Does the object for this node hold its content (a "record")? */
bool rt_extras_has_record(const rt_node *node);

/* The other way: fill node (views into extras' document, id "" when absent) and open its
 * body in b with this content, text or JSON array (NULL content_json: text). */
void rt_extras_read(rt_build *b, yyjson_val *extras, rt_str content, bool content_is_json,
		    rt_node *node);

/* Number the nodes of a discussion for an export: first those of the active take, in
 * order, then the rest as the takes come (whole: all takes; else none). numbers has one
 * item for each node of the outline; order (with room for as many) gets the nodes by
 * number: *out_own of the active take, *out_count in all. */
void rt_extras_number(const rt_outline *outline, const rt_outline_take *takes, size_t take_count,
		      size_t active, bool whole, int64_t *numbers, int64_t *order,
		      size_t *out_own, size_t *out_count);

/* What of a discussion the object is made of. */
typedef struct rt_extras_discussion {
	const rt_outlines *all;
	const rt_outline *outline;
	const rt_outline_take *takes;
	size_t take_count, active;
	const int64_t *numbers; /* of rt_extras_number */
	bool whole;
	bool is_first;          /* carries the project too */
} rt_extras_discussion;

void rt_extras_add_discussion(rt_buf *buf, const rt_extras_discussion *d);

/* The other way, for the discussion under way in b: nodes holds the index of each
 * numbered node (-1: it could not be read), the first own_count of them are the foreign
 * record's own, each behind the one before it; the parents of the others are set here
 * from the takes. *out_project is the object of the project or NULL. */
void rt_extras_read_discussion(rt_build *b, yyjson_val *extras, const int64_t *nodes,
			       size_t node_count, size_t own_count, rt_outline *outline,
			       yyjson_val **out_project);
/* active is kept in *active and *has_active. */
void rt_extras_read_project(rt_build *b, yyjson_val *project, size_t *active, bool *has_active);

#endif
