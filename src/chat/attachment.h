/* SPDX-License-Identifier: MIT
 *
 * Attachment: a file as a request contains it. The engine gets texts and images that the caller has
 * read.
 *
 * All attachments are in one message of the user, after the system prompt and before the
 * conversation, so that the beginning of a request stays the same while the conversation grows:
 *
 *   File `src/a.c`:
 *
 *   ```c
 *   int a;
 *   ```
 *
 *   Image `shot.png`:      followed by the image
 *
 * A fence is longer than any run of backticks in the text.
 *
 * Every text and image that was sent is kept in the store, once for each distinct content, in a side
 * row "file/<SHA-256>", as long as the record of a request needs it (log/collect.h). The record names
 * them, in the order in which they were sent:
 *
 *   "files":[{"name":"src/a.c","language":"c","size":7,"sha256":"9c…"},
 *            {"name":"shot.png","mime":"image/png","size":812,"sha256":"41…"},
 *            {"name":"b.c","name_only":true}]
 *
 * So the request can be built again byte for byte after the files have changed. Purging a text
 * drops the rows that contain it; a request that is built again has "[purged]" in its place.
 *
 * Threads: call from any thread. */
#ifndef RT_CHAT_ATTACHMENT_H
#define RT_CHAT_ATTACHMENT_H

#include "base/scope.h"
#include "base/sha256.h"
#include "chat/model.h"
#include "chat/model_request.h"
#include "codec/json.h"
#include "log/engine.h"

typedef struct rt_attachment {
	rt_str name;     /* for the model: "src/a.c:10-20" */
	rt_str language; /* of the fence; or empty */
	rt_str mime;     /* of an image; empty: bytes is text in UTF-8 */
	rt_str bytes;
	bool name_only;  /* no content is sent; bytes is empty */
	char sha256[RT_SHA256_HEX_ROOM]; /* of bytes, in hexadecimal digits */
} rt_attachment;

typedef struct rt_attachments {
	const rt_attachment *items;
	size_t count;
} rt_attachments;

/* Reads the files listed in a discussion of this value, and the definitions of the symbols that a
 * message names (rt_attach_message); their memory is the scope's. Called with the scope of a request,
 * before it is sent. Fails the scope if a file cannot be sent. */
typedef rt_attachments (*rt_attach_fn)(const void *ctx, rt_scope *scope, const rt_project *value,
				       uint32_t disc, rt_str message);
/* Are definitions of named symbols sent in this discussion (the setting symbols_sent)? */
bool rt_attach_has_symbols(rt_scope *scope, const rt_project *value, uint32_t disc);
/* The text whose symbols are sent: that of the last message of the user up to this entry (0: up to
 * the head). Empty: there is none, or the setting is off. Memory is the scope's. */
rt_str rt_attach_message(rt_scope *scope, rt_engine *engine, const rt_project *value, rt_place place,
			 uint32_t upto);

/* Adds the message with all of them to a request; nothing if there are none. */
void rt_attachments_send(const rt_attachments *files, rt_model_request *request);
/* Fails the scope with RT_REFUSED if there are images that the model does not accept. */
void rt_attachments_check(rt_scope *scope, const rt_attachments *files, const rt_model *model);
/* The text of one: its name and its fenced block, or the line before an image. */
void rt_attachment_add_text(rt_buf *out, const rt_attachment *file);

/* Within a transaction: keeps the contents that are not in the store yet. */
void rt_attachments_keep(rt_scope *scope, rt_engine *engine, const rt_attachments *files);
/* The member "files" of a record; nothing if there are none. */
void rt_attachments_put(rt_buf *json, const rt_attachments *files);
/* The attachments of a record's member, with their contents; NULL: none. Memory is the scope's. */
rt_attachments rt_attachments_read(rt_scope *scope, rt_engine *engine, yyjson_val *files);

#endif
