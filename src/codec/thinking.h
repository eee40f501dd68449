/* SPDX-License-Identifier: MIT
 *
 * Thinking: the parts of a model's text that are reasoning and not prose.
 *
 *     Intro <thinking>a plan</thinking> and the answer.
 *     \____/\_________________________/\______________/
 *     prose          thinking                prose
 *
 * The tags are <thinking>, <think> and <antThinking>, written exactly so. Thinking ends with the
 * first closing tag of the same name. An opening tag without one is prose, except in a reply that
 * was cut short: there everything after it is thinking. A closing tag by itself is prose. Tags in
 * fenced code and in inline code are prose; inline code ends with its paragraph, and does not
 * contain a tag that begins a line.
 *
 * The text is stored as it was written. Its parts are computed where it is shown, sent or counted,
 * in one pass; joined, they are the text again, byte for byte. Only texts of the model have them
 * (rt_body_thinks).
 *
 * Pure functions. O(size). */
#ifndef RT_CODEC_THINKING_H
#define RT_CODEC_THINKING_H

#include "codec/body.h"

/* Where a text is being read; {0} at its beginning. */
typedef struct rt_thinking {
	bool is_open_end;  /* an opening tag without a closing one is thinking */
	bool is_streamed;  /* more may come: an opening tag counts at once, and undecided bytes are
			    * left */
	unsigned tag;      /* is_streamed: the open tag, from 1; 0: none */
	unsigned unclosed; /* bits of tags that are not closed any more */
	size_t fence;      /* characters of the open code fence; 0: none */
	char fence_char;
	size_t span;       /* backticks of the open inline code; 0: none */
	size_t column;     /* spaces at the beginning of the line, until something else came */
	bool in_line;      /* a character other than a blank was in this line */
} rt_thinking;

typedef struct rt_thinking_part {
	rt_str raw;  /* with its tags */
	rt_str text; /* without */
	unsigned tag; /* 0: prose */
	bool opens, closes; /* the opening, the closing tag is in raw */
} rt_thinking_part;

/* The next part, which is removed from *text; false: there is none. Streamed, a thinking may come
 * in several parts, and false may leave bytes that wait for more. */
bool rt_thinking_next(rt_thinking *t, rt_str *text, rt_thinking_part *out);
/* "<thinking>", "</thinking>" of a part's tag. */
rt_str rt_thinking_open(unsigned tag);
rt_str rt_thinking_close(unsigned tag);

/* Are tags in the texts of this entry thinking? That is so if the model wrote it. */
bool rt_body_thinks(rt_str role);
/* Was the reply cut short, so that thinking may have no end? */
bool rt_body_is_cut(const rt_body *body);
/* The same from an entry's fields "partial" and "stop_reason". */
bool rt_thinking_is_cut(bool is_partial, rt_str stop_reason);
/* Appends a text of the model without its thinking. Blanks after it are left out where there are
 * some before it, or nothing. */
void rt_thinking_add_prose(rt_buf *buf, rt_str text, bool is_cut);
/* The text of an entry (rt_body_add_text), without thinking if the role is a model's. */
void rt_body_add_prose(rt_buf *buf, rt_str role, const rt_body *body);

/* The parts of reasoning and of prose, in order: segments stored beside the content, then the
 * content's blocks and texts. A redacted segment has an empty text. Texts live as long as the
 * scope and the body. */
typedef struct rt_body_part {
	bool is_thinking;
	rt_str text;
} rt_body_part;
typedef struct rt_body_parts {
	rt_body_part *items;
	size_t count, capacity;
	size_t thinking_count;
} rt_body_parts;
rt_body_parts rt_body_parts_of(rt_scope *scope, rt_str role, const rt_body *body);
/* "3 lines" of a thinking. */
void rt_thinking_add_size(rt_buf *buf, rt_str text);

#endif
