/* SPDX-License-Identifier: MIT
 *
 * Tree text: the text of an entry's row in the tree, from its body.
 *
 * Records of pi's sessions are shown as in pi, "[model: gpt-x]"; Retake's own entries with role and
 * text. Pure functions; running out of memory is in the buffer. */
#ifndef RT_TREE_TREE_TEXT_H
#define RT_TREE_TREE_TEXT_H

#include "codec/body.h"
#include "tree/tree.h"

/* An entry whose body has been read. */
typedef struct rt_tree_speaker {
	const rt_body *body;
	rt_str role, kind; /* names; an empty kind is a message */
	rt_str model;      /* of a reply, to be named; empty: none */
	/* the call that a tool's result answers, or NULL: pi's {"name","arguments"} */
	yyjson_val *call;
	rt_str home; /* paths below it begin with "~"; empty: none */
	bool as_pi;  /* of records that pi does not know, nothing */
} rt_tree_speaker;

rt_tree_kind rt_tree_kind_of(rt_str role, rt_str kind);

/* Is it a reply whose only visible content is calls of tools? */
bool rt_tree_is_silent(const rt_tree_speaker *speaker);
/* The text of its row; *out_who: bytes of the beginning that name the speaker. */
void rt_tree_add_words(rt_buf *buf, const rt_tree_speaker *speaker, size_t *out_who);
/* The searched text; *out_text: offset of the entry's text in it. */
void rt_tree_add_hay(rt_buf *buf, const rt_tree_speaker *speaker, size_t *out_text);

/* The id of the call that this result of a tool answers; empty: none. */
rt_str rt_tree_call_id(const rt_body *body);
/* Calls of tools in a message: fn gets each with its id. */
typedef void (*rt_tree_call_fn)(void *ctx, rt_str id, yyjson_val *call);
void rt_tree_each_call(const rt_body *body, rt_tree_call_fn fn, void *ctx);

#endif
