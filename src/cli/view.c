/* SPDX-License-Identifier: MIT
 *
 * Views of the engine, read. */
#include "cli/cli.h"
#include "view/view.h"

enum { WINDOW = 200 /* entries read at a time */ };

void
rt_cli_view_init(rt_cli *cli, rt_cli_view *view)
{
	memset(view, 0, sizeof(*view));
	rt_buf_init(&view->buf, cli->alloc, RT_BUF_UNLIMITED);
}

void
rt_cli_view_deinit(rt_cli_view *view)
{
	rt_json_free(view->doc);
	view->doc = NULL;
	view->root = NULL;
	rt_buf_deinit(&view->buf);
}

rt_status
rt_cli_view_read(rt_cli *cli, rt_cli_view *view, rt_status status)
{
	if (status == RT_OK)
		status = rt_cli_buf(cli, &view->buf);
	if (status == RT_OK)
		status = rt_json_read(cli->alloc, rt_buf_str(&view->buf), &view->doc, &cli->error);
	if (status == RT_OK)
		view->root = rt_json_root(view->doc);
	return status;
}

rt_status
rt_cli_each_window(rt_cli *cli, size_t first, size_t last, rt_cli_window_fn fn, void *ctx)
{
	rt_status st = RT_OK;
	size_t at = first;

	/* Once at least, so that an empty take has its frame. */
	do {
		size_t left = last >= at ? last - at + 1 : 0;
		rt_window window = {at, left < WINDOW ? left : WINDOW, rt_str_of(NULL)};
		rt_cli_view view;

		rt_cli_view_init(cli, &view);
		st = rt_view_show(cli->session.engine, cli->session.value, cli->session.place,
				  &window, &view.buf, &cli->error);
		st = rt_cli_view_read(cli, &view, st);
		if (st == RT_OK)
			st = fn(cli, ctx, view.root, at);
		rt_cli_view_deinit(&view);
		at += WINDOW;
	} while (st == RT_OK && at <= last && last != SIZE_MAX && !cli->out.broken);
	return st;
}

rt_status
rt_cli_print_json(rt_cli *cli, rt_str json)
{
	cli->json_done = true;
	while (json.size > 0 && json.ptr[json.size - 1] == '\n')
		json.size--;
	rt_term_json(&cli->out, json);
	rt_term_json(&cli->out, RT_STR("\n"));
	return RT_OK;
}
