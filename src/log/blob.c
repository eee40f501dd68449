/* SPDX-License-Identifier: MIT
 *
 * Blobs: attached files in side rows, and the blocks that refer to them. */
#include "log/blob.h"

#include <stdio.h>

#include "base/encode.h"
#include "log/collect.h"
#include "log/engine_impl.h"

enum { NAME_ROOM = sizeof(RT_BLOB_PREFIX) + RT_SHA256_HEX_ROOM };

const char *
rt_blob_image_type(rt_str bytes)
{
	static const struct {
		rt_str begin, then; /* then: at byte 8 */
		const char *type;
	} kinds[] = {
		{RT_STR_INIT("\x89PNG\r\n\x1a\n"), RT_STR_INIT(""), "image/png"},
		{RT_STR_INIT("\xff\xd8\xff"), RT_STR_INIT(""), "image/jpeg"},
		{RT_STR_INIT("GIF87a"), RT_STR_INIT(""), "image/gif"},
		{RT_STR_INIT("GIF89a"), RT_STR_INIT(""), "image/gif"},
		{RT_STR_INIT("RIFF"), RT_STR_INIT("WEBP"), "image/webp"},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (rt_str_starts(bytes, kinds[i].begin) &&
		    (kinds[i].then.size == 0 || (bytes.size > 8 && rt_str_starts(rt_str_skip(bytes, 8),
										  kinds[i].then))))
			return kinds[i].type;
	return NULL;
}

const char *
rt_blob_type(rt_str bytes)
{
	const char *image = rt_blob_image_type(bytes);

	if (image != NULL)
		return image;
	if (rt_str_starts(bytes, RT_STR("%PDF-")))
		return "application/pdf";
	return rt_utf8_valid_size(bytes) == bytes.size &&
			       (bytes.size == 0 || memchr(bytes.ptr, '\0', bytes.size) == NULL)
		       ? "text/plain"
		       : "application/octet-stream";
}

rt_str
rt_blob_of(yyjson_val *block)
{
	rt_str type = rt_json_str(rt_json_get(block, "type"));
	rt_str hash = rt_json_str(rt_json_get(block, "sha256"));

	if (!rt_sha256_is_hex(hash) || rt_json_get(block, "data") != NULL ||
	    !(rt_str_is(type, "image") || rt_str_is(type, "file")))
		return RT_STR("");
	return hash;
}

static rt_rows
row_of(const rt_engine *engine, rt_str sha256, char name[NAME_ROOM])
{
	snprintf(name, NAME_ROOM, RT_BLOB_PREFIX "%.*s", RT_STR_ARG(sha256));
	return rt_engine_side(engine, name);
}

rt_status
rt_blob_read(rt_engine *engine, rt_str sha256, rt_buf *out, rt_error *err)
{
	char name[NAME_ROOM];

	if (!rt_sha256_is_hex(sha256))
		return rt_fail(err, RT_NOT_FOUND, "not the SHA-256 of an attached file");
	rt_status st = rt_store_get(engine->store, row_of(engine, sha256, name), out, NULL, err);

	return st == RT_NOT_FOUND
		       ? rt_fail(err, st, "the attached file is not in the store; it was purged")
		       : st;
}

rt_status
rt_blob_keep(rt_engine *engine, rt_str bytes, char sha256[RT_SHA256_HEX_ROOM], rt_error *err)
{
	rt_store *store = engine->store;
	char name[NAME_ROOM];
	rt_sha256 sha;
	rt_scope s;

	if (bytes.size == 0)
		return rt_fail(err, RT_USAGE, "the file is empty");
	if (bytes.size > RT_BLOB_MAX)
		return rt_fail(err, RT_LIMIT, "the file is larger than %d MiB, the limit for attached files",
			       RT_BLOB_MAX >> 20);
	rt_sha256_init(&sha);
	rt_sha256_add(&sha, bytes.ptr, bytes.size);
	rt_sha256_end_hex(&sha, sha256);
	rt_rows row = row_of(engine, rt_str_of(sha256), name);
	rt_scope_init(&s, engine->alloc);
	rt_engine_lock_writer(engine);
	if (RT_TRY(&s, store->ops->begin(store, &s.error)) == RT_OK) {
		rt_status st = rt_store_get(store, row, NULL, NULL, &s.error);

		if (st == RT_NOT_FOUND || st == RT_CORRUPT) /* damaged: store it again */
			RT_TRY(&s, store->ops->write(store, row, bytes, &s.error));
		else
			rt_scope_note(&s, st);
		rt_collect_blob_stored(engine, &s, rt_str_of(sha256));
		rt_store_end(store, &s);
	}
	rt_engine_unlock_writer(engine);
	return rt_scope_end(&s, err);
}

void
rt_blob_attach(rt_scope *s, rt_engine *engine, rt_str name, rt_str bytes, rt_buf *out)
{
	char sha256[RT_SHA256_HEX_ROOM];
	const char *type = rt_blob_type(bytes);

	if (RT_TRY(s, rt_blob_keep(engine, bytes, sha256, &s->error)) != RT_OK)
		return;
	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "type", strncmp(type, "image/", 6) == 0 ? "image" : "file");
	rt_json_put_c(out, "mimeType", type);
	rt_json_put_str(out, "name", name);
	rt_json_put_u64(out, "size", bytes.size);
	rt_json_put_c(out, "sha256", sha256);
	rt_json_close(out, '}');
}

static void
expand(rt_scope *s, rt_engine *engine, yyjson_val *block, rt_buf *out)
{
	rt_str hash = rt_blob_of(block);
	rt_buf *bytes = rt_scope_buf(s);

	if (hash.size == 0) {
		rt_json_add_value(out, block);
		return;
	}
	rt_status st = rt_blob_read(engine, hash, bytes, &s->error);
	if (st != RT_NOT_FOUND)
		rt_scope_note(s, st);
	rt_buf_add_byte(out, '{');
	for (rt_json_iter it = rt_json_members(block); rt_json_next(&it);) {
		if (rt_str_is(it.key, "sha256"))
			continue;
		rt_json_add_key_str(out, it.key);
		rt_json_add_value(out, it.value);
	}
	if (st == RT_OK) {
		rt_json_add_key(out, "data");
		rt_buf_add_byte(out, '"');
		rt_buf_add_base64(out, rt_scope_str(s, bytes));
		rt_buf_add_byte(out, '"');
	} else {
		rt_json_put_bool(out, "purged", true);
	}
	rt_buf_add_byte(out, '}');
	rt_buf_deinit(bytes);
}

void
rt_blob_expand(rt_scope *s, rt_engine *engine, yyjson_val *blocks, rt_buf *out)
{
	rt_buf_add_byte(out, '[');
	for (rt_json_iter it = rt_json_items(blocks); rt_ok(s) && rt_json_next(&it);) {
		if (it.index > 0)
			rt_buf_add_byte(out, ',');
		expand(s, engine, it.value, out);
	}
	rt_buf_add_byte(out, ']');
}
