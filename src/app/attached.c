/* SPDX-License-Identifier: MIT */
#include "app/attached.h"

#include <stdlib.h>
#include <string.h>

#include "app/input_host.h"
#include "codec/content.h"

rt_str
rt_attached_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return rt_str_of(slash != NULL && slash[1] != 0 ? slash + 1 : path);
}

rt_status
rt_attached_check(const char *path, rt_str bytes, rt_error *err)
{
	if (bytes.size == 0)
		return rt_fail(err, RT_USAGE, "%s is empty", path);
	if (bytes.size > RT_BLOB_MAX)
		return rt_fail(err, RT_LIMIT, "%s is larger than %d MiB, the limit for attached files",
			       path, RT_BLOB_MAX >> 20);
	return RT_OK;
}

/* Reads the whole input, but no more than one byte above the limit. */
static void
read_all(rt_scope *s, rt_file_input *input, rt_buf *out)
{
	size_t got = 1;

	while (rt_ok(s) && got > 0 && out->size <= RT_BLOB_MAX) {
		char *to = rt_buf_reserve(out, RT_INPUT_HEAD);

		if (to == NULL) {
			(void)rt_scope_nomem(s);
			break;
		}
		RT_TRY(s, input->in.read_at(input->in.ctx, out->size, to, RT_INPUT_HEAD, &got, &s->error));
		out->size += rt_ok(s) ? got : 0;
	}
}

rt_attached
rt_attached_read(rt_scope *s, rt_str path)
{
	rt_buf *name = rt_scope_buf(s), *bytes = rt_scope_buf(s);
	const char *home = getenv("HOME");
	rt_attached file = {0};
	rt_file_input input;

	if (home != NULL && rt_str_starts(path, RT_STR("~/"))) {
		rt_buf_add_c(name, home);
		path = rt_str_skip(path, 1);
	}
	rt_buf_add_str(name, path);
	path = rt_scope_str(s, name);
	if (!rt_ok(s) || RT_TRY(s, rt_file_input_open(&input, path.ptr, &s->error)) != RT_OK)
		return file;
	read_all(s, &input, bytes);
	rt_file_input_close(&input);
	file.name = rt_attached_name(path.ptr);
	file.bytes = rt_scope_str(s, bytes);
	if (rt_ok(s))
		RT_TRY(s, rt_attached_check(path.ptr, file.bytes, &s->error));
	return file;
}

void
rt_attached_add_type(rt_buf *out, rt_str bytes)
{
	rt_buf_add_c(out, rt_blob_type(bytes));
	rt_buf_add_c(out, ", ");
	rt_content_add_size(out, bytes.size);
}

static void
add_address(rt_str url, rt_buf *out)
{
	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "type", "image_url");
	rt_json_open(out, "image_url", '{');
	rt_json_put_str(out, "url", url);
	rt_json_close(out, '}');
	rt_json_close(out, '}');
}

rt_str
rt_attached_content(rt_scope *s, rt_engine *engine, rt_str text, const rt_attached_list *list)
{
	rt_buf *out = rt_scope_buf(s);

	if (list->count == 0 || !rt_ok(s))
		return rt_str_of(NULL);
	rt_json_open(out, NULL, '[');
	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "type", "text");
	rt_json_put_str(out, "text", text);
	rt_json_close(out, '}');
	for (size_t i = 0; i < list->count; i++) {
		const rt_attached *file = &list->items[i];

		if (file->url.size > 0)
			add_address(file->url, out);
		else
			rt_blob_attach(s, engine, file->name, file->bytes, out);
	}
	rt_json_close(out, ']');
	return rt_scope_str(s, out);
}
