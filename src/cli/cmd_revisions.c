/* SPDX-License-Identifier: MIT
 *
 * revisions: every text that an entry ever had, and bringing one back. */
#include "cli/cli.h"
#include "view/view.h"

#include <stdio.h>

#include "codec/content.h"

static void
list_revision(rt_cli *cli, yyjson_val *row, size_t number)
{
	rt_term *out = &cli->out;
	bool current = yyjson_is_true(rt_json_get(row, "current"));
	rt_moment at;
	rt_buf text;

	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	rt_term_style(out, current ? RT_STYLE_BOLD : RT_STYLE_NONE);
	rt_term_f(out, "Revision %zu", number);
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_f(out, "  step %.*s", RT_STR_ARG(rt_json_str(rt_json_get(row, "seq"))));
	if (rt_moment_parse(rt_json_str(rt_json_get(row, "ts")), &at)) {
		rt_term_style(out, RT_STYLE_DIM);
		rt_term_c(out, "  ");
		rt_host_add_local_time(&text, at.us, false);
		rt_term_line(out, rt_buf_str(&text));
		rt_buf_clear(&text);
		rt_term_style(out, RT_STYLE_NONE);
	}
	rt_term_c(out, current ? "  <- now\n" : "\n");
	rt_content_add_entry(&text, row);
	if (text.size > 0)
		rt_term_indented(out, rt_buf_str(&text), 4);
	else
		rt_term_c(out, yyjson_is_true(rt_json_get(row, "purged")) ? "    (purged)\n"
									  : "    (empty)\n");
	rt_term_c(out, "\n");
	rt_buf_deinit(&text);
}

static rt_status
restore(rt_cli *cli, yyjson_val *rows, const char *word)
{
	uint64_t number = 0;
	yyjson_val *row;
	rt_old_change change;
	rt_buf where;
	rt_status st = rt_old_number(cli, word, "the number of a revision", &number);

	if (st != RT_OK)
		return st;
	row = number == 0 ? NULL : yyjson_arr_get(rows, (size_t)(number - 1));
	if (row == NULL) {
		rt_old_hint(cli, RT_NOT_FOUND, "Revisions: retake revisions %s",
			    rt_cli_word(cli, 0));
		return rt_old_fail(cli, RT_NOT_FOUND, "there is no revision %s of %s; it has %zu",
				   word, rt_cli_word(cli, 0), yyjson_arr_size(rows));
	}
	if (yyjson_is_true(rt_json_get(row, "purged")))
		return rt_old_fail(cli, RT_REFUSED, "revision %s was purged; nothing is left of it",
				   word);
	rt_old_change_init(cli, &change);
	rt_buf_init(&where, cli->alloc, RT_BUF_UNLIMITED);
	st = rt_old_change_one(
		&change,
		&(rt_request){.op = RT_OP_ENTRY_EDIT,
			      .entry = rt_old_change_entry(&change, rt_cli_word(cli, 0)),
			      .content = rt_content_of(rt_json_get(row, "content"))});
	if (st == RT_OK) {
		rt_old_add_where(cli, change.result->entry, &where);
		st = rt_old_change_say(&change, "Brought back revision %s of entry %s.", word,
				       where.ptr);
	}
	rt_buf_deinit(&where);
	rt_old_change_deinit(&change);
	return st;
}

static rt_status
run_revisions(rt_cli *cli)
{
	const char *again = rt_cli_flag_value(cli, "restore");
	uint32_t entry = 0;
	rt_old_view view;
	yyjson_val *row;
	size_t i, count, left = 0;
	rt_status st = rt_old_open(cli, again != NULL ? RT_SESSION_CHANGE : RT_SESSION_LOOK);

	if (st == RT_OK)
		st = rt_old_entry(cli, rt_cli_word(cli, 0), again == NULL, &entry);
	if (st != RT_OK)
		return st;
	rt_old_view_init(cli, &view);
	st = rt_view_revisions(cli->session.engine, cli->session.value, cli->session.place.disc,
			       entry, &view.buf, &cli->error);
	if (st == RT_OK && cli->json && again == NULL) {
		st = rt_old_print_json(cli, rt_buf_str(&view.buf));
	} else if ((st = rt_old_view_read(cli, &view, st)) == RT_OK && again != NULL) {
		st = restore(cli, view.root, again);
	} else if (st == RT_OK) {
		if (!rt_cli_has(cli, "no-pager"))
			rt_term_page(&cli->out);
		yyjson_arr_foreach(view.root, i, count, row) {
			list_revision(cli, row, i + 1);
			left += !yyjson_is_true(rt_json_get(row, "purged"));
		}
		if (left > 0)
			rt_cli_advise(cli, "Bring one back: retake revisions %s --restore N\n",
				      rt_cli_word(cli, 0));
		else
			rt_term_c(&cli->out, "All of them were purged; nothing is left of them.\n");
	}
	rt_old_view_deinit(&view);
	return st;
}

static const rt_flag revisions_flags[] = {
	{"restore", 0, "N", RT_ARG_TEXT, "make revision N the text again, as a new step"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_revisions = {
	.name = "revisions",
	.alias = "revs",
	.group = RT_COMMANDS_UNDOING,
	.min_words = 1,
	.max_words = 1,
	.usage = "ENTRY [--restore N]",
	.summary = "list every text an entry ever had; bring one back",
	.examples = "retake revisions :4\nretake revisions :4 --restore 1",
	.ops = "entry.edit",
	.flags = revisions_flags,
	.kinds = {RT_ARG_ENTRY},
	.run_status = run_revisions,
};
