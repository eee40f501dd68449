/* SPDX-License-Identifier: MIT
 *
 * Attached files: read first, stored once the store is open. */
#include "cli/attached.h"

#include "log/blob.h"

static rt_str
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return rt_str_of(slash != NULL && slash[1] != 0 ? slash + 1 : path);
}

static void
read_one(rt_cli *cli, const rt_args_given *flag, rt_cli_attached *out)
{
	rt_str value = rt_str_of(flag->value);
	bool is_image = strcmp(flag->flag->name, "image") == 0;

	if (is_image && (rt_str_starts(value, RT_STR("https://")) ||
			 rt_str_starts(value, RT_STR("http://")))) {
		out->url = value;
		return;
	}
	out->bytes = rt_cli_read_file(cli, flag->value);
	out->name = last_part(flag->value);
	if (!rt_ok(&cli->s))
		return;
	if (is_image && rt_blob_image_type(out->bytes) == NULL)
		rt_cli_fail(cli, RT_USAGE, "%s is not a PNG, JPEG, GIF or WebP image", flag->value);
	else if (out->bytes.size == 0)
		rt_cli_fail(cli, RT_USAGE, "%s is empty", flag->value);
	else if (out->bytes.size > RT_BLOB_MAX)
		rt_cli_fail(cli, RT_LIMIT, "%s is larger than %d MiB, the limit of attached files",
			    flag->value, RT_BLOB_MAX >> 20);
}

rt_cli_attached_list
rt_cli_read_attached(rt_cli *cli)
{
	const rt_args *args = &cli->args;
	rt_cli_attached_list list = {
		rt_scope_array(&cli->s, args->given_count, sizeof(*list.items)), 0};

	for (size_t i = 0; i < args->given_count && rt_ok(&cli->s); i++)
		if (strcmp(args->given[i].flag->name, "image") == 0 ||
		    strcmp(args->given[i].flag->name, "attach") == 0)
			read_one(cli, &args->given[i], &list.items[list.count++]);
	return list;
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
rt_cli_attach(rt_cli *cli, rt_str text, const rt_cli_attached_list *list)
{
	rt_buf *out = rt_scope_buf(&cli->s);

	if (list->count == 0 || !rt_ok(&cli->s))
		return rt_str_of(NULL);
	rt_json_open(out, NULL, '[');
	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "type", "text");
	rt_json_put_str(out, "text", text);
	rt_json_close(out, '}');
	for (size_t i = 0; i < list->count; i++) {
		const rt_cli_attached *file = &list->items[i];

		if (file->url.size > 0)
			add_address(file->url, out);
		else
			rt_blob_attach(&cli->s, cli->session.engine, file->name, file->bytes, out);
	}
	rt_json_close(out, ']');
	return rt_scope_str(&cli->s, out);
}
