/* SPDX-License-Identifier: MIT
 *
 * Parts: the content of a message, collected in the blocks that Retake knows (codec/content.h). One
 * text alone becomes a plain text, anything else an array of blocks:
 *
 *     text          {"type":"text","text":…}
 *     thinking      {"type":"thinking","thinking":…}
 *     call          {"type":"toolCall","id":…,"name":…,"arguments":{…}}
 *     result        {"type":"tool_result","tool_use_id":…,"content":…}
 *     file          {"type":"file","name":…,"mimeType":"text/plain","data":…}
 *     image         {"type":"image","name":…, and the members of the record}
 *     others        their record, with a type
 *
 * Views that are added are borrowed until rt_parts_end. */
#ifndef RT_IMPORTERS_PARTS_H
#define RT_IMPORTERS_PARTS_H

#include "formats/formats_build.h"

typedef struct rt_parts {
	rt_build *b;
	rt_buf *blocks; /* a JSON array, open */
	size_t count;
	rt_str text;   /* of the only block, which is not written yet */
	bool is_text;  /* there is such a block */
} rt_parts;

void rt_parts_init(rt_parts *p, rt_build *b);
void rt_parts_begin(rt_parts *p);
/* Open the body of the next node with the parts. */
void rt_parts_end(rt_parts *p);

void rt_parts_text(rt_parts *p, rt_str text);
/* Nothing if the text is empty. */
void rt_parts_thinking(rt_parts *p, rt_str text);
/* arguments: JSON, or a text, which becomes {"input":text} unless it is a JSON object. */
void rt_parts_call(rt_parts *p, rt_str id, rt_str name, yyjson_val *arguments);
/* A document that a call contains, as a text after the call, so that it is read like an answer: its
 * title, then Markdown, or code in this language (ptr != NULL). Nothing if the text is empty. */
void rt_parts_document(rt_parts *p, rt_str title, rt_str language, rt_str text);
/* content: a text or blocks; anything else as JSON text. */
void rt_parts_result(rt_parts *p, rt_str id, yyjson_val *content, bool has_failed);
/* A text file whose content is in the record. The members of record (or NULL) are added, except
 * these words. */
void rt_parts_file(rt_parts *p, rt_str name, rt_str content, yyjson_val *record,
		   const char *without);
/* An object as a block of this type, which replaces its own. */
void rt_parts_object(rt_parts *p, const char *type, yyjson_val *object);
/* A block as it is. */
void rt_parts_value(rt_parts *p, yyjson_val *block);
/* The content of a message of Anthropic or OpenAI, a text or blocks; how many. Texts are copied.
 * *is_verbatim: the parts express everything in it. */
size_t rt_parts_blocks(rt_parts *p, yyjson_val *content, bool *is_verbatim);
/* Has the object no members but these? */
bool rt_parts_has_only(yyjson_val *object, const char *words);

#endif
