/* SPDX-License-Identifier: MIT
 *
 * The kind of a file is read from its first bytes; its name says nothing. */
#include "cli/image.h"

#include "base/encode.h"

static bool
begins(rt_str bytes, size_t at, const char *magic, size_t size)
{
	return bytes.size >= at + size && memcmp(bytes.ptr + at, magic, size) == 0;
}

/* NULL: none that providers take. */
static const char *
kind_of(rt_str bytes)
{
	if (begins(bytes, 0, "\x89PNG\r\n\x1A\n", 8))
		return "image/png";
	if (begins(bytes, 0, "\xFF\xD8\xFF", 3))
		return "image/jpeg";
	if (begins(bytes, 0, "GIF87a", 6) || begins(bytes, 0, "GIF89a", 6))
		return "image/gif";
	if (begins(bytes, 0, "RIFF", 4) && begins(bytes, 8, "WEBP", 4))
		return "image/webp";
	return NULL;
}

static rt_status
add_file(rt_cli *cli, const char *path, rt_buf *out)
{
	const char *kind;
	rt_buf bytes;
	rt_status st;

	rt_buf_init(&bytes, cli->alloc, RT_BUF_UNLIMITED);
	st = rt_old_read_file(cli, path, &bytes);
	kind = st == RT_OK ? kind_of(rt_buf_str(&bytes)) : NULL;
	if (st == RT_OK && kind == NULL)
		st = rt_old_fail(cli, RT_USAGE, "%s is no PNG, JPEG, GIF or WebP image", path);
	if (st == RT_OK && bytes.size > RT_CLI_IMAGE_MAX)
		st = rt_old_fail(cli, RT_LIMIT, "%s has more than %d MiB, which no provider takes",
				 path, RT_CLI_IMAGE_MAX >> 20);
	if (st == RT_OK) {
		rt_buf_add_f(out, ",{\"type\":\"image\",\"mimeType\":\"%s\",\"data\":\"", kind);
		rt_buf_add_base64(out, rt_buf_str(&bytes));
		rt_buf_add_c(out, "\"}");
	}
	rt_buf_deinit(&bytes);
	return st;
}

static void
add_address(const char *url, rt_buf *out)
{
	rt_buf_add_c(out, ",{\"type\":\"image_url\",\"image_url\":{\"url\":");
	rt_json_add_string(out, rt_str_of(url));
	rt_buf_add_c(out, "}}");
}

rt_status
rt_cli_image_content(rt_cli *cli, rt_str text, rt_buf *out)
{
	const rt_args *args = &cli->args;
	rt_status st = RT_OK;
	bool any = false;
	size_t i;

	for (i = 0; st == RT_OK && i < args->given_count; i++) {
		const char *value = args->given[i].value;

		if (strcmp(args->given[i].flag->name, "image") != 0)
			continue;
		if (!any) {
			rt_buf_add_c(out, "[{\"type\":\"text\",\"text\":");
			rt_json_add_string(out, text);
			rt_buf_add_byte(out, '}');
		}
		any = true;
		if (rt_str_starts(rt_str_of(value), RT_STR("https://")) ||
		    rt_str_starts(rt_str_of(value), RT_STR("http://")))
			add_address(value, out);
		else
			st = add_file(cli, value, out);
	}
	if (any)
		rt_buf_add_byte(out, ']');
	return st == RT_OK ? rt_old_buf(cli, out) : st;
}
