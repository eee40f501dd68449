/* SPDX-License-Identifier: MIT
 *
 * Files in requests, and their contents in the store. */
#include "chat/attachment.h"

#include <stdio.h>

#include "base/encode.h"
#include "log/collect.h"
#include "log/engine_impl.h"

#define PURGED "[purged]"

enum { FENCE_MIN = 3 };

/* ---- in a request ---- */

/* At least min backticks, and more than any run of them in the text. */
static void
add_fence(rt_buf *out, rt_str text, size_t min)
{
	size_t longest = min - 1, run = 0;

	for (size_t i = 0; i < text.size; i++) {
		run = text.ptr[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	for (size_t i = 0; i <= longest; i++)
		rt_buf_add_byte(out, '`');
}

/* A name as a code span; one space on both sides is not part of it (CommonMark). */
static void
add_code_span(rt_buf *out, rt_str name)
{
	bool is_padded = name.size > 0 &&
			 (name.ptr[0] == '`' || name.ptr[name.size - 1] == '`');

	add_fence(out, name, 1);
	rt_buf_add_c(out, is_padded ? " " : "");
	rt_buf_add_str(out, name);
	rt_buf_add_c(out, is_padded ? " " : "");
	add_fence(out, name, 1);
}

void
rt_attachment_add_text(rt_buf *out, const rt_attachment *file)
{
	rt_str text = file->bytes;

	rt_buf_add_c(out, file->mime.size > 0 ? "Image " : "File ");
	add_code_span(out, file->name);
	rt_buf_add_c(out, file->name_only ? " (without its content)\n\n" : ":\n\n");
	if (file->name_only || file->mime.size > 0)
		return;
	add_fence(out, text, FENCE_MIN);
	rt_buf_add_str(out, file->language);
	rt_buf_add_byte(out, '\n');
	rt_buf_add_str(out, text);
	if (text.size > 0 && text.ptr[text.size - 1] != '\n')
		rt_buf_add_byte(out, '\n');
	add_fence(out, text, FENCE_MIN);
	rt_buf_add_c(out, "\n\n");
}

void
rt_attachments_check(rt_scope *s, const rt_attachments *files, const rt_model *model)
{
	rt_buf *names = rt_scope_buf(s);

	for (size_t i = 0; model->provider->no_images && i < files->count; i++) {
		if (files->items[i].mime.size == 0)
			continue;
		rt_buf_add_c(names, names->size > 0 ? ", " : "");
		rt_buf_add_str(names, files->items[i].name);
	}
	rt_str images = rt_scope_str(s, names);
	if (images.size > 0)
		rt_scope_fail(s, RT_REFUSED,
			      "%s/%.*s does not accept images: remove %.*s from the files or "
			      "choose another model", model->provider->name, RT_STR_ARG(model->name),
			      (int)rt_utf8_cut(images, 300), images.ptr);
}

void
rt_attachments_send(const rt_attachments *files, rt_model_request *r)
{
	rt_buf *text = rt_scope_buf(r->scope), *base64 = rt_scope_buf(r->scope);

	if (files->count == 0)
		return;
	rt_request_begin(r, RT_SPEAKER_USER);
	for (size_t i = 0; i < files->count && rt_ok(r->scope); i++) {
		const rt_attachment *file = &files->items[i];

		rt_attachment_add_text(text, file);
		if (file->mime.size == 0)
			continue;
		rt_buf_add_base64(base64, file->bytes);
		rt_request_text(r, rt_scope_str(r->scope, text));
		rt_request_image(r, file->mime, rt_scope_str(r->scope, base64));
		rt_buf_clear(text);
		rt_buf_clear(base64);
	}
	rt_request_text(r, rt_scope_str(r->scope, text));
	rt_request_end(r);
}

/* ---- in the store ---- */

static rt_rows
row_of(const rt_engine *engine, const char *sha256, char name[RT_SHA256_HEX_ROOM + 8])
{
	snprintf(name, RT_SHA256_HEX_ROOM + 8, RT_FILE_PREFIX "%s", sha256);
	return rt_engine_side(engine, name);
}

/* Is there content that is not in the store yet? A side row cannot be empty. */
static bool
is_missing(rt_scope *s, rt_engine *engine, const rt_attachment *file)
{
	char name[RT_SHA256_HEX_ROOM + 8];

	if (!rt_ok(s) || file->bytes.size == 0)
		return false;
	rt_status st = rt_store_get(engine->store, row_of(engine, file->sha256, name), NULL, NULL,
				    &s->error);

	if (st != RT_NOT_FOUND)
		rt_scope_note(s, st);
	return st == RT_NOT_FOUND;
}

void
rt_attachments_keep(rt_scope *s, rt_engine *engine, const rt_attachments *files)
{
	const rt_store_ops *ops = engine->store->ops;
	char name[RT_SHA256_HEX_ROOM + 8];

	for (size_t i = 0; i < files->count && rt_ok(s); i++)
		if (is_missing(s, engine, &files->items[i]))
			RT_TRY(s, ops->write(engine->store,
					     row_of(engine, files->items[i].sha256, name),
					     files->items[i].bytes, &s->error));
}

void
rt_attachments_put(rt_buf *json, const rt_attachments *files)
{
	if (files->count == 0)
		return;
	rt_json_open(json, "files", '[');
	for (size_t i = 0; i < files->count; i++) {
		const rt_attachment *file = &files->items[i];

		rt_json_open(json, NULL, '{');
		rt_json_put_str(json, "name", file->name);
		if (file->language.size > 0)
			rt_json_put_str(json, "language", file->language);
		if (file->mime.size > 0)
			rt_json_put_str(json, "mime", file->mime);
		if (file->name_only) {
			rt_json_put_bool(json, "name_only", true);
		} else {
			rt_json_put_u64(json, "size", file->bytes.size);
			rt_json_put_c(json, "sha256", file->sha256);
		}
		rt_json_close(json, '}');
	}
	rt_json_close(json, ']');
}

/* The content of a file; a missing one was purged. */
static void
read_content(rt_scope *s, rt_engine *engine, yyjson_val *record, rt_attachment *out)
{
	char name[RT_SHA256_HEX_ROOM + 8];
	rt_str sha256 = rt_json_str(rt_json_get(record, "sha256"));
	rt_buf *bytes = rt_scope_buf(s);
	uint64_t size = 0;

	snprintf(out->sha256, sizeof(out->sha256), "%.*s", RT_STR_ARG(sha256));
	if (rt_json_u64(rt_json_get(record, "size"), &size) && size == 0)
		return;
	rt_status st = !rt_sha256_is_hex(sha256)
			       ? RT_NOT_FOUND
			       : rt_store_get(engine->store, row_of(engine, out->sha256, name),
					      bytes, NULL, &s->error);

	if (st == RT_NOT_FOUND) {
		out->mime = RT_STR("");
		out->bytes = RT_STR(PURGED);
	} else if (rt_scope_note(s, st) == RT_OK) {
		out->bytes = rt_scope_str(s, bytes);
	}
}

rt_attachments
rt_attachments_read(rt_scope *s, rt_engine *engine, yyjson_val *files)
{
	size_t count = yyjson_arr_size(files);
	rt_attachment *items = rt_scope_array(s, count, sizeof(*items));
	rt_attachments read = {items, 0};

	for (rt_json_iter it = rt_json_items(files); rt_ok(s) && rt_json_next(&it);) {
		rt_attachment *file = &items[read.count++];

		file->name = rt_json_str(rt_json_get(it.value, "name"));
		file->language = rt_json_str(rt_json_get(it.value, "language"));
		file->mime = rt_json_str(rt_json_get(it.value, "mime"));
		file->name_only = yyjson_is_true(rt_json_get(it.value, "name_only"));
		if (!file->name_only)
			read_content(s, engine, it.value, file);
	}
	return read;
}
