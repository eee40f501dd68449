/* SPDX-License-Identifier: MIT
 *
 * takes: list, switch, rename, remove and compare takes; and diff, which is short for the
 * last of these. */
#include "cli/cli.h"
#include "app/screen.h"
#include "view/view.h"

#include <stdio.h>

#include "codec/content.h"

/* --- the list --- */

static void
list_take(rt_cli *cli, yyjson_val *row, size_t width)
{
	rt_term *out = &cli->out;
	bool active = yyjson_is_true(rt_json_get(row, "active"));
	rt_str name = rt_json_str(rt_json_get(row, "name"));
	rt_str commit = rt_json_str(rt_json_get(row, "git_commit"));
	size_t used = rt_screen_width(name);
	uint64_t entries = 0;

	(void)rt_json_u64(rt_json_get(row, "entries"), &entries);
	rt_term_c(out, active ? "* " : "  ");
	rt_term_style(out, active ? RT_STYLE_BOLD : RT_STYLE_NONE);
	rt_term_line(out, name);
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_spaces(out, used < width ? width - used : 0);
	rt_term_f(out, "  %4llu entr%s", (unsigned long long)entries, RT_CLI_IES(entries));
	if (entries == 1 && (commit.size > 0 || rt_cli_has(cli, "all")))
		rt_term_spaces(out, 2);
	rt_term_style(out, RT_STYLE_DIM);
	if (commit.size > 0) {
		rt_term_c(out, "  git ");
		rt_term_line(out, rt_str_at(commit.ptr, commit.size < 10 ? commit.size : 10));
	}
	if (rt_cli_has(cli, "all")) {
		rt_term_c(out, "  ");
		rt_term_line(out, rt_json_str(rt_json_get(row, "id")));
		if (yyjson_is_false(rt_json_get(row, "present")))
			rt_term_c(out, "  (deleted)");
	}
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, "\n");
}

static rt_status
list_takes(rt_cli *cli)
{
	size_t i, count, width = 0;
	rt_old_view view;
	yyjson_val *row;
	rt_status st = rt_old_open(cli, RT_SESSION_LOOK);

	if (st != RT_OK)
		return st;
	rt_old_view_init(cli, &view);
	st = rt_view_takes(cli->session.engine, cli->session.value, cli->session.place.disc,
			   rt_cli_has(cli, "all"), &view.buf, &cli->error);
	if (st == RT_OK && cli->json) {
		st = rt_old_print_json(cli, rt_buf_str(&view.buf));
	} else if ((st = rt_old_view_read(cli, &view, st)) == RT_OK) {
		yyjson_arr_foreach(view.root, i, count, row) {
			size_t used = rt_screen_width(rt_json_str(rt_json_get(row, "name")));

			if (used > width)
				width = used < 40 ? used : 40;
		}
		yyjson_arr_foreach(view.root, i, count, row)
			list_take(cli, row, width);
	}
	rt_old_view_deinit(&view);
	return st;
}

/* --- changing --- */

static rt_status
switch_take(rt_cli *cli, const char *name)
{
	rt_old_change change;
	rt_status st;

	rt_old_change_init(cli, &change);
	st = rt_old_change_one(
		&change, &(rt_request){.op = RT_OP_TAKE_SWITCH, .target = rt_str_of(name)});
	if (st == RT_OK)
		st = rt_old_change_say(&change, "Now in take \"%s\".",
				       change.result->take[0] != 0 ? change.result->take : name);
	rt_old_change_deinit(&change);
	return st;
}

static rt_status
rename_take(rt_cli *cli, const char *old, const char *name)
{
	const rt_take *active = NULL;
	rt_old_change change;
	rt_status st = rt_old_open(cli, RT_SESSION_CHANGE);

	if (st == RT_OK)
		st = rt_old_take(cli, &active);
	if (st != RT_OK)
		return st;
	rt_old_change_init(cli, &change);
	if (name == NULL) {
		name = old;
		old = NULL;
	}
	st = rt_old_change_one(
		&change,
		&(rt_request){.op = RT_OP_TAKE_RENAME,
			      .target = old != NULL ? rt_str_of(old) : rt_text_str(active->name),
			      .name = rt_str_of(name)});
	if (st == RT_OK)
		st = rt_old_change_say(&change, "The take is now called \"%s\".", name);
	rt_old_change_deinit(&change);
	return st;
}

static rt_status
remove_take(rt_cli *cli, const char *name)
{
	return rt_old_do(cli,
			 &(rt_request){.op = RT_OP_TAKE_DELETE, .target = rt_str_of(name)},
			 "Deleted take \"%s\" (still in history).", name);
}

/* --- comparing --- */

static void
diff_entry(rt_cli *cli, yyjson_val *entry, char sign)
{
	rt_term *out = &cli->out;
	rt_buf text, line;
	char start[2] = {sign, 0};

	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&line, cli->alloc, 4096);
	rt_content_add_entry(&text, entry);
	rt_screen_add_preview(&line, rt_buf_str(&text), out->columns > 60 ? out->columns - 24 : 80,
			      out->utf8);
	rt_term_style(out, sign == '-'   ? RT_STYLE_RED
			   : sign == '+' ? RT_STYLE_GREEN
					 : RT_STYLE_NONE);
	rt_term_c(out, start);
	rt_term_c(out, " ");
	rt_term_line(out, rt_json_str(rt_json_get(entry, "role")));
	rt_term_c(out, "  ");
	rt_term_line(out, rt_json_str(rt_json_get(entry, "id")));
	rt_term_c(out, "  ");
	rt_term_text(out, rt_buf_str(&line));
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, "\n");
	rt_buf_deinit(&text);
	rt_buf_deinit(&line);
}

static void
diff_text(rt_cli *cli, yyjson_val *diff, const char *a, const char *b)
{
	yyjson_val *item, *changed = rt_json_get(diff, "changed");
	uint64_t common = 0;
	size_t i, count;

	(void)rt_json_u64(rt_json_get(diff, "common"), &common);
	rt_term_f(&cli->out, "--- %s\n+++ %s\n", a, b);
	rt_term_style(&cli->out, RT_STYLE_DIM);
	rt_term_f(&cli->out, "%llu entr%s in both, then:\n", (unsigned long long)common,
		  common == 1 ? "y" : "ies");
	rt_term_style(&cli->out, RT_STYLE_NONE);
	yyjson_arr_foreach(changed, i, count, item) {
		yyjson_val *was = rt_json_get(item, "a"), *is = rt_json_get(item, "b");

		diff_entry(cli, was, '-');
		diff_entry(cli, is, '+');
	}
	yyjson_arr_foreach(rt_json_get(diff, "a"), i, count, item)
		diff_entry(cli, item, '-');
	yyjson_arr_foreach(rt_json_get(diff, "b"), i, count, item)
		diff_entry(cli, item, '+');
}

static rt_status
diff_takes(rt_cli *cli, const char *a, const char *b)
{
	rt_str disc = rt_session_discussion(&cli->session);
	rt_place first = {0, 0}, second = {0, 0};
	rt_old_view view;
	rt_status st = rt_old_open(cli, RT_SESSION_LOOK);

	if (st != RT_OK)
		return st;
	first = second = cli->session.place;
	st = rt_resolve_place(cli->session.value, disc, rt_str_of(a), &first, &cli->error);
	if (st == RT_OK && b != NULL)
		st = rt_resolve_place(cli->session.value, disc, rt_str_of(b), &second, &cli->error);
	if (st != RT_OK)
		return rt_old_hint(cli, st, "Takes: retake takes");
	if (b == NULL) {
		const rt_take *take = NULL;

		st = rt_old_take(cli, &take);
		if (st != RT_OK)
			return st;
		b = take->name->ptr;
	}
	rt_old_view_init(cli, &view);
	st = rt_view_diff(cli->session.engine, cli->session.value, cli->session.place.disc,
			  first.take, second.take, &view.buf, &cli->error);
	if (st == RT_OK && cli->json) {
		st = rt_old_print_json(cli, rt_buf_str(&view.buf));
	} else if ((st = rt_old_view_read(cli, &view, st)) == RT_OK) {
		if (!rt_cli_has(cli, "no-pager"))
			rt_term_page(&cli->out);
		diff_text(cli, view.root, a, b);
	}
	rt_old_view_deinit(&view);
	return st;
}

/* --- the commands --- */

/* A word that takes does not know, or too few or too many behind one that it knows. */
static rt_status
not_so(rt_cli *cli, const char *verb)
{
	static const char *const verbs[][2] = {{"list", ""},
					       {"switch", "TAKE"},
					       {"rename", "[TAKE] NAME"},
					       {"rm", "TAKE"},
					       {"diff", "TAKE [TAKE]"}};
	size_t best = SIZE_MAX, near = 0, words = cli->args.word_count - 1, i, d;

	for (i = 0; i < 5; i++) {
		d = rt_args_distance(verb, verbs[i][0]);
		if (d == 0) {
			rt_old_hint(cli, RT_USAGE, "Usage: retake takes %s %s   More: retake help takes",
				    verb, verbs[i][1]);
			return rt_old_fail(cli, RT_USAGE, "takes %s needs %s, not %zu word%s", verb,
					   verbs[i][1], words, RT_CLI_S(words));
		}
		if (d < best) {
			best = d;
			near = i;
		}
	}
	if (rt_args_is_near(best, strlen(verb)))
		rt_old_hint(cli, RT_USAGE, "Did you mean: retake takes %s %s   More: retake help takes",
			    verbs[near][0], verbs[near][1]);
	else
		rt_old_hint(cli, RT_USAGE, "Takes: retake takes   More: retake help takes");
	return rt_old_fail(cli, RT_USAGE, "takes can list, switch, rename, rm and diff, not \"%.40s\"",
			   verb);
}

static rt_status
run_takes(rt_cli *cli)
{
	const char *verb = rt_cli_word(cli, 0), *a = rt_cli_word(cli, 1), *b = rt_cli_word(cli, 2);
	size_t count = cli->args.word_count;

	if (verb == NULL || strcmp(verb, "list") == 0)
		return list_takes(cli);
	if (strcmp(verb, "switch") == 0 && count == 2)
		return switch_take(cli, a);
	if (strcmp(verb, "rename") == 0 && (count == 2 || count == 3))
		return rename_take(cli, a, b);
	if (strcmp(verb, "name") == 0 && (count == 2 || count == 3))
		return rename_take(cli, a, b);
	if (strcmp(verb, "rm") == 0 && count == 2)
		return remove_take(cli, a);
	if (strcmp(verb, "diff") == 0 && (count == 2 || count == 3))
		return diff_takes(cli, a, b);
	return not_so(cli, verb);
}

static const rt_flag takes_flags[] = {
	{"all", 'a', NULL, RT_ARG_TEXT, "also those that were deleted"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_takes = {
	.name = "takes",
	.alias = "take",
	.group = RT_COMMANDS_BRANCHING,
	.traits = RT_COMMAND_AT_OP,
	.max_words = 3,
	.usage = "[list]\n"
		 "switch TAKE\n"
		 "rename [TAKE] NAME\n"
		 "rm TAKE\n"
		 "diff TAKE [TAKE]",
	.summary = "list, switch, rename, remove and compare takes",
	.about =
		"The active take has a star. Of two takes, diff shows what follows where they part, and "
		"what was edited before that.",
	.examples = "retake takes\nretake takes switch main\nretake takes rename duck\n"
		    "retake takes diff main duck",
	.ops = "take.switch take.rename take.delete",
	.flags = takes_flags,
	.kinds = {RT_ARG_TEXT, RT_ARG_TAKE, RT_ARG_TAKE},
	.run_status = run_takes,
};

static rt_status
run_diff(rt_cli *cli)
{
	return diff_takes(cli, rt_cli_word(cli, 0), rt_cli_word(cli, 1));
}

const rt_command rt_cli_diff = {
	.name = "diff",
	.group = RT_COMMANDS_BRANCHING,
	.traits = RT_COMMAND_AT_OP,
	.min_words = 1,
	.max_words = 2,
	.usage = "TAKE [TAKE]",
	.summary = "compare two takes",
	.about = "With one take, compares it with the active one.",
	.examples = "retake diff main duck",
	.kinds = {RT_ARG_TAKE},
	.run_status = run_diff,
};
