/* SPDX-License-Identifier: MIT
 *
 * Extras: properties of an entry or a discussion that a foreign format cannot express, as a JSON
 * object next to its record in a lossless export.
 *
 * Of an entry:
 *   {"id","role","kind","ts","muted","collapsed","read_mode","purged","label",
 *    "fields":{further fields in their order},      bodies of format J
 *    "format":"P","record":"…"}                     bodies kept unchanged, as text, or
 *                                                   "record":{"base64":"…"}
 * A record includes the content; otherwise the content is that of the foreign record, so that an
 * export can be edited.
 *
 * Of a discussion, whose nodes are numbered as the export lists them:
 *   {"name","active","head":number or null,"fields":{…},
 *    "takes":[{"name","git_commit","nodes":[numbers]}…]}
 * and in the first one "project":{"active":number,"fields":{…}}. The nodes of the active
 * take are not listed: they are the foreign record's own messages, in order. */
#ifndef RT_FORMATS_EXTRAS_H
#define RT_FORMATS_EXTRAS_H

#include "formats/formats_reader.h"
#include "formats/formats_writer.h"

/* Write the object for an entry with this body as the value of the member key. */
void rt_extras_write(rt_buf *buf, const char *key, const rt_node *node, const rt_body *body);
/* Does the object for this node contain its content (a "record")? */
bool rt_extras_has_record(const rt_node *node);

/* Fill node from the object (views into its document, id "" when absent). The builder has the
 * body open with the foreign record's content; it gets the further fields, or is replaced by a body
 * that was kept unchanged. */
void rt_extras_read(rt_build *b, yyjson_val *extras, rt_node *node);

/* Write the object for the current discussion of w, with the numbers of rt_writer_number. The
 * first discussion has that of the project in it. */
void rt_extras_write_discussion(rt_buf *buf, const char *key, const rt_writer *w,
				const int64_t *numbers);

/* Complete the current discussion of r. nodes holds the index of each numbered node (-1: it
 * could not be read); the first own_count of them are the foreign record's own, each after its
 * parent. The parents of the others are set here from the takes. */
void rt_extras_read_discussion(rt_reader *r, yyjson_val *extras, const int64_t *nodes,
			       size_t node_count, size_t own_count, rt_outline *outline);

#endif
