/* SPDX-License-Identifier: MIT
 *
 * The keys of the screens, explained from their table (tui/keymap.h). */
#include "program/help_keys.h"

#include "tui/keymap.h"

static void
add_json(const rt_keymap *map, rt_buf *out)
{
	const rt_key_row *row;
	rt_key keys[RT_KEYS_MAX];
	size_t count, i;
	rt_buf word;

	rt_buf_init(&word, out->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(out, '[');
	for (row = rt_key_rows; row->action != RT_ACT_NONE; row++) {
		rt_json_add_comma(out);
		rt_buf_add_f(out, "{\"screen\":\"%s\",\"action\":\"%s\",\"keys\":[",
			     rt_screen_word(row->screen), rt_action_word(row->action));
		count = rt_keymap_keys(map, row->screen, row->action, keys);
		for (i = 0; i < count; i++) {
			rt_buf_clear(&word);
			rt_key_add_word(&word, keys[i], false);
			rt_json_add_comma(out);
			rt_json_add_string(out, rt_buf_str(&word));
		}
		rt_buf_add_c(out, "],\"what\":");
		rt_json_add_string(out, rt_str_of(row->what));
		rt_buf_add_byte(out, '}');
	}
	rt_buf_add_byte(out, ']');
	if (word.status != RT_OK)
		out->status = word.status;
	rt_buf_deinit(&word);
}

rt_status
rt_help_keys(rt_cli *cli)
{
	bool is_markdown = rt_cli_has(cli, "markdown");
	rt_keymap *map = NULL;
	rt_error err;
	rt_status st;
	rt_buf out;

	rt_buf_init(&out, cli->alloc, RT_BUF_UNLIMITED);
	st = rt_keymap_new(cli->alloc, &map, &err);
	if (st != RT_OK) {
		st = rt_cli_fail(cli, st, "%s", err.text);
		goto done;
	}
	if (cli->json)
		add_json(map, &out);
	else if (is_markdown)
		rt_keymap_add_markdown(map, &out);
	else
		rt_keymap_add_help(map, RT_SCREEN_COUNT, &out);
	st = rt_cli_buf(cli, &out);
	if (st != RT_OK)
		goto done;
	if (cli->json) {
		st = rt_cli_print_json(cli, rt_buf_str(&out));
	} else {
		if (!is_markdown && !rt_cli_has(cli, "no-pager"))
			rt_term_page(&cli->out);
		rt_term_text(&cli->out, rt_buf_str(&out));
	}
done:
	rt_keymap_free(map);
	rt_buf_deinit(&out);
	return st;
}
