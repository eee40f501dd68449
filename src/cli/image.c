/* SPDX-License-Identifier: MIT
 *
 * The type of an image is found by its first bytes, not by its name. */
#include "cli/image.h"

#include "base/encode.h"

static bool
begins(rt_str bytes, size_t at, const char *magic, size_t size)
{
	return bytes.size >= at + size && memcmp(bytes.ptr + at, magic, size) == 0;
}

/* NULL: none that providers accept. */
static const char *
type_of(rt_str bytes)
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

static void
add_file(rt_cli *cli, const char *path, rt_buf *out)
{
	rt_str bytes = rt_cli_read_file(cli, path);
	const char *type = type_of(bytes);

	if (type == NULL)
		rt_cli_fail(cli, RT_USAGE, "%s is not a PNG, JPEG, GIF or WebP image", path);
	else if (bytes.size > RT_CLI_IMAGE_MAX)
		rt_cli_fail(cli, RT_LIMIT, "%s is larger than %d MiB, which no provider accepts", path,
			    RT_CLI_IMAGE_MAX >> 20);
	if (!rt_ok(&cli->s))
		return;
	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "type", "image");
	rt_json_put_c(out, "mimeType", type);
	rt_buf_add_c(out, ",\"data\":\"");
	rt_buf_add_base64(out, bytes);
	rt_buf_add_c(out, "\"}");
}

static void
add_address(const char *url, rt_buf *out)
{
	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "type", "image_url");
	rt_json_open(out, "image_url", '{');
	rt_json_put_c(out, "url", url);
	rt_json_close(out, '}');
	rt_json_close(out, '}');
}

rt_str
rt_cli_image_content(rt_cli *cli, rt_str text)
{
	const rt_args *args = &cli->args;
	rt_buf *out = rt_scope_buf(&cli->s);

	if (!rt_cli_has(cli, "image"))
		return rt_str_of(NULL);
	rt_json_open(out, NULL, '[');
	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "type", "text");
	rt_json_put_str(out, "text", text);
	rt_json_close(out, '}');
	for (size_t i = 0; i < args->given_count; i++) {
		const char *value = args->given[i].value;

		if (strcmp(args->given[i].flag->name, "image") != 0)
			continue;
		if (rt_str_starts(rt_str_of(value), RT_STR("https://")) ||
		    rt_str_starts(rt_str_of(value), RT_STR("http://")))
			add_address(value, out);
		else
			add_file(cli, value, out);
	}
	rt_json_close(out, ']');
	return rt_scope_str(&cli->s, out);
}
