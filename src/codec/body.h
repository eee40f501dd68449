/* SPDX-License-Identifier: MIT
 *
 * Body: the bytes of one revision of an entry, as stored.
 *
 *   'T' text              the content, nothing else
 *   'J' JSON object       {"content":string or array, …every further field of the entry}
 *   'P' JSON object       a record of a pi session file, byte for byte as its line was
 *   'X' word              empty: purged (no word), or "lost" to damage
 *
 * A body that has only content is always written as 'T', so that equal entries have equal
 * bodies. In 'P' the content is inside the record (a message's content, a summary, a custom
 * message's content …, in records of other types a member "content"), and everything else is
 * presented as the one field "pi". */
#ifndef RT_CODEC_BODY_H
#define RT_CODEC_BODY_H

#include "codec/json.h"
#include "core/request.h" /* rt_content */

enum {
	RT_BODY_TEXT = 'T',
	RT_BODY_JSON = 'J',
	RT_BODY_PI = 'P',
	RT_BODY_PURGED = 'X'
};

typedef struct rt_body {
	char format;
	bool lost; /* with RT_BODY_PURGED: damaged, not purged */
	/* The content: text (content_json NULL), or a JSON array of content blocks. */
	rt_str content;
	yyjson_val *content_json;
	/* The object with the further fields; NULL when there are none. For 'J' this is the
	 * whole object, "content" included; for 'P' the record itself. */
	yyjson_val *fields;
	rt_json_doc *doc; /* owns the above, or NULL */
} rt_body;

/* For 'T' content borrows from data. RT_CORRUPT. Deinit the body in any case. */
RT_CHECKED rt_status rt_body_read(const rt_alloc *alloc, rt_str data, rt_body *out, rt_error *err);
void rt_body_deinit(rt_body *body);

/* Without its further fields. */
static inline rt_content
rt_body_content(const rt_body *body)
{
	return (rt_content){.text = body->content, .blocks = body->content_json};
}

/* Appends a body: content is text, or (is_json) a JSON array as text. fields (or NULL) is an object
 * whose members are added, except "content" and the names in skip (NULL-terminated; or NULL). */
void rt_body_write(rt_buf *buf, rt_str content, bool is_json, yyjson_val *fields,
		   const char *const *skip);
/* A pi record: its line, unchanged. */
void rt_body_write_pi(rt_buf *buf, rt_str line);
/* A new body with this content and the further fields of old ("pi" for a 'P'). */
RT_CHECKED rt_status rt_body_edit(rt_buf *buf, const rt_alloc *alloc, rt_str old_data,
				  rt_str content, bool is_json, rt_error *err);

/* The further fields as members of an object that is being written (preceded by a comma where
 * needed): `,"usage":{…},"pi":{…}`. sorted: as rt_json_add_sorted. */
void rt_body_add_fields(rt_buf *buf, const rt_alloc *alloc, const rt_body *body, bool sorted);
/* The content as a JSON value. */
void rt_body_add_content(rt_buf *buf, const rt_body *body);
/* The readable text: the content's text; of blocks the texts, joined by line ends. */
void rt_body_add_text(rt_buf *buf, const rt_body *body);
/* The text that a search looks at: the readable text, then, each on a line, the strings of other blocks and of
 * tool calls (names, arguments, results, thinking, attached texts), without data and identifiers. */
void rt_body_add_searched(rt_buf *buf, const rt_body *body);
/* As rt_content_is_hidden (content.h). */
bool rt_body_is_hidden(rt_str kind, const rt_body *body);
/* The name that a program gives its messages (kind custom_message); empty: none. */
rt_str rt_body_custom_type(const rt_body *body);
/* The prefix of an entry's text in trees: "[compaction: 12k tokens]", or "[name]" of a program's
 * message. Nothing for other kinds, and where neither is known. */
void rt_body_add_title(rt_buf *buf, rt_str kind, const rt_body *body);
bool rt_body_has_title(rt_str kind, const rt_body *body);
/* A further field by name, or NULL. */
yyjson_val *rt_body_field(const rt_body *body, const char *name);

#endif
