/* SPDX-License-Identifier: MIT
 *
 * Content: what an entry says, as something to read and to change.
 *
 * It is a text, or an array of blocks as pi and the providers write them. A block of text
 * is a string, or an object with a string "text" and no other "type" than text, input_text
 * or output_text. The text of an array is that of its blocks of text, joined by line ends:
 *
 *     [{"type":"thinking",…}, {"type":"text","text":"I look."}, {"type":"toolCall",…}]
 *                                             ^^^^^^^ this can be edited
 *
 * Whoever changes the text of an array gets an array: blocks that are no text (images,
 * calls of tools, their results, thinking with its signature) stay as they are and where
 * they are. What a block of text says of its text to the letter (a signature, annotations,
 * logprobs) is left out when that text changes; all else in the block stays.
 *
 * Pure functions; running out of memory is in the buffer's status. O(size). */
#ifndef RT_CODEC_CONTENT_H
#define RT_CODEC_CONTENT_H

#include "codec/json.h"
#include "core/request.h" /* rt_content */

/* A JSON value as content; what is neither a string nor an array has no text. */
rt_content rt_content_of(yyjson_val *value);

bool rt_content_is_text(yyjson_val *block);
/* How many texts: 1 where it is a text, else the blocks of text. */
size_t rt_content_text_count(rt_content content);
/* The text, which is "" where there are no blocks of text. */
void rt_content_add_text(rt_buf *buf, rt_content content);

/* The one text, or false where there are none or several. */
bool rt_content_one_text(rt_content content, rt_str *out);

/* The content with this text instead of its own, as JSON: a string for a string, an array
 * for an array. Of several blocks of text, those at the beginning and then those at the
 * end that the new text still begins and ends with stay as they are; what is between goes
 * into the first of the others, and the rest of them go. So a change in one block stays
 * in it. Where there is no block of text, one is put before the first call of a tool, or
 * at the end; an empty text then adds none. The text read back is always the one given. */
void rt_content_set_text(rt_buf *buf, rt_content content, rt_str text);

/* The content with every `from` (not empty) in its texts replaced by `to`, as JSON; returns
 * how many there were. What reaches over two blocks is not found. */
size_t rt_content_replace(rt_buf *buf, rt_content content, rt_str from, rt_str to);

/* An array with one block of text in two, each an array, as JSON: at is a place in that
 * text, neither its beginning nor its end. What stands before the text stays before it,
 * what stands behind it goes with the second half, so that calls stay beside their
 * results. */
void rt_content_cut(rt_buf *first, rt_buf *second, yyjson_val *blocks, size_t at);

/* Two contents, one behind the other; texts that touch become one, in the block that the
 * first of them is in. True: what was written is an array, as JSON; false: it is the text
 * itself. A text, and behind it a text, an array of one text or of nothing, are a text. */
bool rt_content_join(rt_buf *buf, rt_content first, rt_content second);

/* What there is beside the text, in words, such as "calls read, bash; 2 images"; nothing
 * when there is nothing. calls: an entry's "tool_calls", or NULL. */
void rt_content_add_parts(rt_buf *buf, rt_content content, yyjson_val *calls);

/* One line for an entry that has no text: "(calls read, bash)", "(aborted: …)",
 * "model: openai/gpt-x"; nothing when there is nothing to say. record: an entry's "pi",
 * or NULL. */
void rt_content_add_brief(rt_buf *buf, rt_content content, yyjson_val *calls,
			  yyjson_val *record);

/* An entry for people: its text and, on a line of its own, what else there is, such as "(calls
 * read, bash)". entry: an object with "content" and the like, as views write it. */
void rt_content_add_entry(rt_buf *buf, yyjson_val *entry);

/* Is the entry not for people's eyes: a program's state (kind "custom"), or its message with
 * "display":false (kind "custom_message", and pi's messages of the role "custom")? Models are
 * sent such a message all the same. fields: the entry's further fields; record: its "pi";
 * either may be NULL. */
bool rt_content_is_hidden(rt_str kind, yyjson_val *fields, yyjson_val *record);

#endif
