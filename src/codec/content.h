/* SPDX-License-Identifier: MIT
 *
 * Content: the content of an entry, to be read and edited.
 *
 * It is a text, or an array of blocks in the form that pi and the providers use. A text block is a
 * string, or an object with a string "text" and either no "type" or the type text, input_text or
 * output_text. The text of an array is that of its text blocks, joined by line ends:
 *
 *     [{"type":"thinking",…}, {"type":"text","text":"I look."}, {"type":"toolCall",…}]
 *                                             ^^^^^^^ this can be edited
 *
 * Editing the text of an array gives an array: other blocks (images, tool calls and results,
 * thinking with its signature) keep their contents and places. Members of a text block that
 * depend on its exact text (a signature, annotations, logprobs) are dropped when that text
 * changes; all others stay.
 *
 * Pure functions; running out of memory is in the buffer's status. O(size). */
#ifndef RT_CODEC_CONTENT_H
#define RT_CODEC_CONTENT_H

#include "codec/json.h"
#include "core/request.h" /* rt_content */

/* A JSON value as content; one that is neither a string nor an array has no text. */
rt_content rt_content_of(yyjson_val *value);

bool rt_content_is_text(yyjson_val *block);
/* The text of a text block. */
rt_str rt_content_text_of(yyjson_val *block);
/* The number of text blocks; 1 if the content is a text. */
size_t rt_content_text_count(rt_content content);
/* The text; "" if there are no text blocks. */
void rt_content_add_text(rt_buf *buf, rt_content content);

/* The only text; false: there are none, or several. */
bool rt_content_one_text(rt_content content, rt_str *out);

/* The content with another text, as JSON: a string for a string, an array for an array. Text
 * blocks at the beginning and at the end that the new text still begins and ends with stay; the
 * text in between goes into the first of the remaining blocks, and the others are dropped. So an
 * edit within one block stays in it. If there is no text block, one is inserted before the first
 * tool call, or at the end (none for an empty text). The text read back is always the one given. */
void rt_content_set_text(rt_buf *buf, rt_content content, rt_str text);

/* A text as a block, {"type":"text","text":…}: an item of the array that buf ends with. */
void rt_content_add_text_block(rt_buf *buf, rt_str text);

/* The content with every `from` (not empty) in its texts replaced by `to`, as JSON; returns the
 * number of replacements. Occurrences that span two blocks are not found. */
size_t rt_content_replace(rt_buf *buf, rt_content content, rt_str from, rt_str to);

/* Splits an array with one text block into two arrays, as JSON: at is an offset within that text,
 * neither its beginning nor its end. Blocks before the text stay before it, those after it go
 * into the second half, so that calls stay next to their results. */
void rt_content_cut(rt_buf *first, rt_buf *second, yyjson_val *blocks, size_t at);

/* The concatenation of two contents; adjacent texts become one, in the block of the first. True:
 * an array was written, as JSON; false: the text itself. A text followed by a text, by an array
 * of one text, or by an empty array, gives a text. */
bool rt_content_join(rt_buf *buf, rt_content first, rt_content second);

/* "812 bytes", "12 KB", "3.4 MB" (of 1000). */
void rt_content_add_size(rt_buf *buf, uint64_t bytes);

/* A summary of everything but the text, such as "calls read, bash; 2 images", with the name, type and
 * size of attached files ("image screen.png, image/png, 812 bytes"); nothing if there is nothing else.
 * calls: an entry's "tool_calls", or NULL. */
void rt_content_add_parts(rt_buf *buf, rt_content content, yyjson_val *calls);

/* One line for an entry without text: "(calls read, bash)", "(aborted: …)",
 * "model: openai/gpt-x"; nothing if there is nothing to report. record: an entry's "pi", or
 * NULL. */
void rt_content_add_brief(rt_buf *buf, rt_content content, yyjson_val *calls,
			  yyjson_val *record);

/* Is the entry hidden from users: a program's state (kind "custom"), a record that an entry was
 * labelled (kind "label"; the label is shown at that entry), or a message of a program with
 * "display":false (kind "custom_message", and pi's messages of the role "custom")? Models are
 * still sent such messages. fields: the entry's further fields; record: its "pi"; either may be
 * NULL. */
bool rt_content_is_hidden(rt_str kind, yyjson_val *fields, yyjson_val *record);

#endif
