/* SPDX-License-Identifier: MIT
 *
 * The entries of a take in windows, so that any number of them needs bounded memory; and the
 * JSON document. */
#include "cli/cli.h"
#include "view/view.h"

enum { WINDOW = 200 /* entries read at a time */ };

void
rt_cli_each_window(rt_cli *cli, size_t first, size_t last, rt_cli_window_fn fn, void *ctx)
{
	size_t at = first;
	rt_scope s;

	rt_scope_init(&s, cli->alloc);
	/* Once at least, so that an empty take has its frame. */
	do {
		size_t left = last >= at ? last - at + 1 : 0;
		rt_window window = {at, left < WINDOW ? left : WINDOW, rt_str_of(NULL)};
		rt_buf *json = rt_scope_buf(&s);

		RT_TRY(&s, rt_view_show(cli->session.engine, cli->session.value,
					cli->session.place, &window, json, &s.error));
		yyjson_val *show = rt_json_parse(&s, rt_scope_str(&s, json));

		cli->s.error = rt_ok(&cli->s) ? s.error : cli->s.error;
		if (rt_scope_note(&cli->s, s.status) == RT_OK)
			fn(cli, ctx, show, at);
		rt_scope_reset(&s);
		at += WINDOW;
	} while (rt_ok(&cli->s) && at <= last && last != SIZE_MAX && !cli->out.broken);
	rt_scope_deinit(&s);
}

void
rt_cli_print_json(rt_cli *cli, const rt_buf *json)
{
	rt_str text = rt_scope_str(&cli->s, json);

	if (!rt_ok(&cli->s))
		return;
	cli->json_done = true;
	while (text.size > 0 && text.ptr[text.size - 1] == '\n')
		text.size--;
	rt_term_json(&cli->out, text);
	rt_term_json(&cli->out, RT_STR("\n"));
}

void
rt_cli_put_bytes(rt_cli *cli, rt_buf *json, const char *key, rt_str bytes)
{
	rt_buf text;

	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	rt_utf8_repair(&text, bytes);
	if (text.status != RT_OK)
		rt_scope_note(&cli->s, text.status);
	rt_json_put_str(json, key, rt_buf_str(&text));
	rt_buf_deinit(&text);
}
