/* SPDX-License-Identifier: MIT
 *
 * The keys of the screens, explained from their table (terminal/keymap.h). */
#include "program/help_keys.h"

#include "terminal/keymap.h"

static void
add_json(rt_scope *s, const rt_keymap *map, rt_buf *out)
{
	rt_buf *word = rt_scope_buf(s);

	rt_json_open(out, NULL, '[');
	for (const rt_key_row *row = rt_key_rows; row->action != RT_ACT_NONE; row++) {
		rt_key keys[RT_KEYS_MAX];
		size_t count = rt_keymap_keys(map, row->screen, row->action, keys);

		rt_json_open(out, NULL, '{');
		rt_json_put_c(out, "screen", rt_screen_word(row->screen));
		rt_json_put_c(out, "action", rt_action_word(row->action));
		rt_json_open(out, "keys", '[');
		for (size_t i = 0; i < count; i++) {
			rt_buf_clear(word);
			rt_key_add_word(word, keys[i], false);
			rt_json_put_str(out, NULL, rt_scope_str(s, word));
		}
		rt_json_close(out, ']');
		rt_json_put_c(out, "what", row->what);
		rt_json_close(out, '}');
	}
	rt_json_close(out, ']');
}

static void
free_map(void *item)
{
	rt_keymap_free(item);
}

void
rt_help_keys(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	bool is_markdown = rt_cli_has(cli, "markdown");
	rt_buf *out = rt_scope_buf(s);
	rt_keymap *map = NULL;

	RT_TRY(s, rt_keymap_new(cli->alloc, &map, &s->error));
	rt_scope_defer(s, free_map, map);
	if (!rt_ok(s))
		return;
	if (cli->json) {
		add_json(s, map, out);
		rt_cli_print_json(cli, out);
		return;
	}
	if (is_markdown)
		rt_keymap_add_markdown(map, out);
	else
		rt_keymap_add_help(map, RT_SCREEN_COUNT, out);
	if (!is_markdown && !rt_cli_has(cli, "no-pager"))
		rt_term_page(&cli->out);
	rt_term_text(&cli->out, rt_scope_str(s, out));
}
