/* SPDX-License-Identifier: MIT
 *
 * undo, redo, history, jump, revert, purge, reset: what was done, and taking it back. */
#include "cli/cli.h"
#include "cli/screen.h"

#include <stdio.h>

/* --- undo, redo --- */

/* What the newest step in effect was, in words. */
static void
add_current(rt_cli *cli, rt_buf *out)
{
	rt_cli_view view;
	yyjson_val *row, *found = NULL;
	size_t i, count;
	rt_status st = RT_OK;

	rt_cli_view_init(cli, &view);
	if (cli->place.disc != 0)
		st = rt_cli_view_read(cli, &view,
				      rt_view_history(cli->engine, cli->value, cli->place.disc, 0,
						      200, &view.buf, &cli->error));
	rt_cli_output_lost(cli, st);
	if (view.root != NULL)
		yyjson_arr_foreach(view.root, i, count, row) {
			if (yyjson_is_true(rt_json_get(row, "current"))) {
				found = row;
				break;
			}
		}
	if (found != NULL) {
		rt_buf_add_c(out, "now right after step ");
		rt_buf_add_str(out, rt_json_str(rt_json_get(found, "seq")));
		rt_buf_add_c(out, " (");
		rt_buf_add_str(out, rt_json_str(rt_json_get(found, "what")));
		rt_buf_add_c(out, ")");
	} else {
		rt_buf_add_c(out, "now as it was in the beginning");
	}
	rt_cli_view_deinit(&view);
}

static rt_status
undo_or_redo(rt_cli *cli, const char *op, const char *did, const char *back)
{
	const char *scope = rt_cli_flag_value(cli, "scope"), *word = rt_cli_word(cli, 0);
	uint64_t count = 1;
	rt_cli_ask ask;
	rt_status st = RT_OK;
	rt_buf now, retake;

	if (word != NULL)
		st = rt_cli_number(cli, word, "how many steps", &count);
	if (st != RT_OK)
		return st;
	rt_cli_ask_init(cli, &ask);
	rt_buf_init(&now, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&retake, cli->alloc, RT_BUF_UNLIMITED);
	rt_cli_ask_op(&ask, op);
	rt_cli_ask_number(&ask, "count", count);
	if (scope != NULL)
		rt_cli_ask_text(&ask, "scope", rt_str_of(scope));
	st = rt_cli_ask_run(&ask);
	if (st == RT_REFUSED && cli->hint[0] == 0)
		rt_cli_hint(cli, st, "Steps: retake history");
	if (st == RT_OK && cli->json) {
		st = rt_cli_ask_say(&ask, "%s", "");
	} else if (st == RT_OK && !cli->quiet) {
		unsigned long long steps = (unsigned long long)ask.result->steps;
		char again[32] = "";

		if (steps > 1)
			snprintf(again, sizeof(again), " %llu", steps);
		rt_buf_add_f(&now, "%s %llu step%s; ", did, steps, RT_CLI_S(steps));
		add_current(cli, &now);
		rt_buf_add_c(&now, ".");
		rt_cli_add_retake(cli, &retake);
		rt_cli_say(cli, rt_buf_str(&now), "%s: %s %s%s", back,
			   retake.ptr == NULL ? "" : retake.ptr, back, again);
	}
	rt_buf_deinit(&now);
	rt_buf_deinit(&retake);
	rt_cli_ask_deinit(&ask);
	return st;
}

static rt_status
run_undo(rt_cli *cli)
{
	return undo_or_redo(cli, "undo", "Undid", "redo");
}

static rt_status
run_redo(rt_cli *cli)
{
	return undo_or_redo(cli, "redo", "Redid", "undo");
}

static const rt_cli_flag scope_flags[] = {
	{"scope", 0, "SCOPE", RT_CLI_TEXT, "discussion or project; default: both"},
	{NULL, 0, NULL, RT_CLI_TEXT, NULL},
};

const rt_cli_command rt_cli_undo = {
	.name = "undo",
	.alias = "u",
	.group = RT_CLI_UNDOING,
	.max_words = 1,
	.usage = "[N] [--scope discussion|project]",
	.summary = "take back the newest step, or N of them",
	.about =
		"Undo has no end and survives restarts. It takes back steps of the discussion and of "
		"the project's settings, the newest first. Redo brings them back.",
	.examples = "retake undo\nretake undo 3",
	.ops = "undo",
	.flags = scope_flags,
	.run = run_undo,
};

const rt_cli_command rt_cli_redo = {
	.name = "redo",
	.group = RT_CLI_UNDOING,
	.max_words = 1,
	.usage = "[N] [--scope discussion|project]",
	.summary = "bring back what was undone",
	.about =
		"A new step ends redo, but loses nothing: what was undone can still be reached with "
		"retake jump.",
	.examples = "retake redo",
	.ops = "redo",
	.flags = scope_flags,
	.run = run_redo,
};

/* --- history --- */

static void
history_row(rt_cli *cli, yyjson_val *row)
{
	rt_term *out = &cli->out;
	bool current = yyjson_is_true(rt_json_get(row, "current"));
	bool undone = yyjson_is_true(rt_json_get(row, "undone"));
	uint64_t seq = 0;
	rt_moment at;
	rt_buf when;

	(void)rt_json_u64(rt_json_get(row, "seq"), &seq);
	rt_buf_init(&when, cli->alloc, 256);
	if (rt_moment_parse(rt_json_str(rt_json_get(row, "at")), &at))
		rt_host_add_local_time(&when, at.us, cli->verbose);
	rt_term_style(out, current ? RT_STYLE_BOLD : undone ? RT_STYLE_DIM : RT_STYLE_NONE);
	rt_term_f(out, "%6llu  ", (unsigned long long)seq);
	rt_term_line(out, rt_buf_str(&when));
	rt_term_c(out, "  ");
	rt_term_line(out, rt_json_str(rt_json_get(row, "by")));
	rt_term_c(out, "  ");
	rt_term_line(out, rt_json_str(rt_json_get(row, "what")));
	if (undone)
		rt_term_c(out, "  (undone)");
	if (current)
		rt_term_c(out, "  <- now");
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, "\n");
	rt_buf_deinit(&when);
}

static rt_status
list_history(rt_cli *cli)
{
	const char *limit_text = rt_cli_flag_value(cli, "limit");
	const char *before_text = rt_cli_flag_value(cli, "before");
	/* People want the newest; programs want all. */
	uint64_t limit = cli->json ? 0 : 200, before = 0;
	rt_cli_view view;
	yyjson_val *row;
	size_t i, count;
	rt_status st = RT_OK;

	if (limit_text != NULL)
		st = rt_cli_number(cli, limit_text, "how many steps to list", &limit);
	if (st == RT_OK && before_text != NULL)
		st = rt_cli_number(cli, before_text, "the number of a step", &before);
	if (st == RT_OK && rt_cli_has(cli, "all"))
		limit = 0;
	if (st == RT_OK)
		st = rt_cli_open(cli, RT_CLI_LOOK);
	if (st != RT_OK)
		return st;
	rt_cli_view_init(cli, &view);
	st = rt_view_history(cli->engine, cli->value, cli->place.disc, before, (size_t)limit,
			     &view.buf, &cli->error);
	if (st == RT_OK && cli->json) {
		st = rt_cli_print_json(cli, rt_buf_str(&view.buf));
	} else if ((st = rt_cli_view_read(cli, &view, st)) == RT_OK) {
		if (!rt_cli_has(cli, "no-pager"))
			rt_term_page(&cli->out);
		yyjson_arr_foreach(view.root, i, count, row)
			history_row(cli, row);
		if (yyjson_arr_size(view.root) == 0)
			rt_term_c(&cli->out, "Nothing has been done here yet.\n");
		else if (limit > 0 && yyjson_arr_size(view.root) == limit)
			rt_term_c(&cli->out, "        … more: retake history --all\n");
	}
	rt_cli_view_deinit(&view);
	return st;
}

static void
add_side(rt_cli *cli, yyjson_val *side, const char *sign, rt_style style)
{
	yyjson_val *slot;
	size_t i, count;
	rt_buf text, line;

	yyjson_arr_foreach(side, i, count, slot) {
		rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
		rt_buf_init(&line, cli->alloc, 4096);
		rt_cli_add_content(&text, rt_json_get(slot, "content"));
		rt_screen_add_preview(&line, rt_buf_str(&text),
				      cli->out.columns > 60 ? cli->out.columns - 24 : 60,
				      cli->out.utf8);
		rt_term_style(&cli->out, style);
		rt_term_f(&cli->out, "    %s ", sign);
		rt_term_line(&cli->out, rt_json_str(rt_json_get(slot, "role")));
		rt_term_c(&cli->out, "  ");
		rt_term_line(&cli->out, rt_json_str(rt_json_get(slot, "id")));
		rt_term_c(&cli->out, "  ");
		rt_term_text(&cli->out, rt_buf_str(&line));
		rt_term_style(&cli->out, RT_STYLE_NONE);
		rt_term_c(&cli->out, "\n");
		rt_buf_deinit(&text);
		rt_buf_deinit(&line);
	}
}

static void
add_value(rt_cli *cli, const char *key, yyjson_val *value)
{
	rt_buf buf;

	rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
	rt_json_add_value(&buf, value);
	rt_term_f(&cli->out, "%s", key);
	rt_term_line(&cli->out, rt_str_at(buf.ptr, rt_utf8_cut(rt_buf_str(&buf), 120)));
	rt_buf_deinit(&buf);
}

static void
step_text(rt_cli *cli, yyjson_val *step)
{
	yyjson_val *effect;
	size_t i, count;

	history_row(cli, step);
	yyjson_arr_foreach(rt_json_get(step, "effects"), i, count, effect) {
		rt_str kind = rt_json_str(rt_json_get(effect, "effect"));

		if (rt_str_is(kind, "splice")) {
			add_side(cli, rt_json_get(effect, "before"), "-", RT_STYLE_RED);
			add_side(cli, rt_json_get(effect, "after"), "+", RT_STYLE_GREEN);
			continue;
		}
		rt_term_c(&cli->out, "    ");
		rt_term_line(&cli->out, kind);
		rt_term_c(&cli->out, " ");
		if (rt_str_is(kind, "set")) {
			rt_term_line(&cli->out, rt_json_str(rt_json_get(effect, "field")));
			add_value(cli, ": ", rt_json_get(effect, "before"));
			add_value(cli, " -> ", rt_json_get(effect, "after"));
		} else {
			rt_term_c(&cli->out, "\"");
			rt_term_line(&cli->out, rt_json_str(rt_json_get(effect, "name")));
			rt_term_c(&cli->out, "\"");
		}
		rt_term_c(&cli->out, "\n");
	}
	yyjson_arr_foreach(rt_json_get(step, "moves"), i, count, effect) {
		rt_str direction = rt_json_str(rt_json_get(effect, "direction"));

		rt_term_f(&cli->out, "    step %.*s %s\n",
			  RT_STR_ARG(rt_json_str(rt_json_get(effect, "step"))),
			  direction.size > 0 && direction.ptr[0] == '-' ? "taken back"
									: "brought back");
	}
}

static rt_status
show_step(rt_cli *cli, const char *word)
{
	uint64_t seq = 0;
	rt_cli_view view;
	rt_status st = rt_cli_number(cli, word, "the number of a step", &seq);

	if (st == RT_OK)
		st = rt_cli_open(cli, RT_CLI_LOOK);
	if (st != RT_OK)
		return st;
	rt_cli_view_init(cli, &view);
	st = rt_view_step(cli->engine, cli->value, seq, &view.buf, &cli->error);
	if (st == RT_NOT_FOUND)
		rt_cli_hint(cli, st, "Steps: retake history");
	if (st == RT_OK && cli->json)
		st = rt_cli_print_json(cli, rt_buf_str(&view.buf));
	else if ((st = rt_cli_view_read(cli, &view, st)) == RT_OK)
		step_text(cli, view.root);
	rt_cli_view_deinit(&view);
	return st;
}

static rt_status
run_history(rt_cli *cli)
{
	const char *verb = rt_cli_word(cli, 0), *word = rt_cli_word(cli, 1);

	if (verb == NULL)
		return list_history(cli);
	if (strcmp(verb, "show") == 0 && word != NULL)
		return show_step(cli, word);
	if (word == NULL && strspn(verb, "0123456789") == strlen(verb))
		return show_step(cli, verb);
	return rt_cli_fail(cli, RT_USAGE, "history does not know what \"%.40s\" is", verb);
}

static const rt_cli_flag history_flags[] = {
	{"limit", 'l', "N", RT_CLI_TEXT, "list so many; default 200, with --json all"},
	{"before", 0, "N", RT_CLI_STEP, "only steps before this one"},
	{"all", 'a', NULL, RT_CLI_TEXT, "list all"},
	{NULL, 0, NULL, RT_CLI_TEXT, NULL},
};

const rt_cli_command rt_cli_history = {
	.name = "history",
	.alias = "log",
	.group = RT_CLI_UNDOING,
	.max_words = 2,
	.usage = "[--limit N | --all]\n"
		 "show N",
	.summary = "list the steps, or show what one changed",
	.about =
		"Steps of the discussion and of the project's settings, newest first, also those that "
		"were undone. Any of them can be looked at (retake show --at-op N), gone to (retake "
		"jump N) and reverted (retake revert N).",
	.examples = "retake history\nretake history show 42",
	.flags = history_flags,
	.kinds = {RT_CLI_TEXT, RT_CLI_STEP},
	.run = run_history,
};

/* --- jump, revert --- */

static rt_status
run_jump(rt_cli *cli)
{
	uint64_t to = 0;
	char now[80];
	rt_cli_ask ask;
	rt_status st = rt_cli_number(cli, rt_cli_word(cli, 0), "the number of a step", &to);

	if (st != RT_OK)
		return rt_cli_hint(cli, st,
				   "Steps: retake history   To move the head: retake go ENTRY");
	rt_cli_ask_init(cli, &ask);
	rt_cli_ask_op(&ask, "jump");
	rt_cli_ask_number(&ask, "to", to);
	st = rt_cli_ask_run(&ask);
	if (st == RT_OK && !cli->json && !cli->quiet && !ask.result->unchanged) {
		if (to == 0)
			snprintf(now, sizeof(now), "Now as it was in the beginning.");
		else
			snprintf(now, sizeof(now), "Now as it was right after step %llu.",
				 (unsigned long long)to);
		rt_cli_say(cli, rt_str_of(now), "go on from here, or look around: retake history");
	} else if (st == RT_OK) {
		st = rt_cli_ask_say(&ask, "%s", "");
	}
	rt_cli_ask_deinit(&ask);
	return st;
}

const rt_cli_command rt_cli_jump = {
	.name = "jump",
	.group = RT_CLI_UNDOING,
	.min_words = 1,
	.max_words = 1,
	.usage = "N",
	.summary = "go to the state right after step N",
	.about =
		"Any step will do, also one that was undone. 0 is the state before the first one. To "
		"look without going there: retake show --at-op N.",
	.examples = "retake jump 42",
	.ops = "jump",
	.kinds = {RT_CLI_STEP},
	.run = run_jump,
};

static rt_status
run_revert(rt_cli *cli)
{
	uint64_t seq = 0;
	rt_cli_ask ask;
	rt_status st = rt_cli_number(cli, rt_cli_word(cli, 0), "the number of a step", &seq);

	if (st != RT_OK)
		return rt_cli_hint(cli, st, "Steps: retake history");
	rt_cli_ask_init(cli, &ask);
	rt_cli_ask_op(&ask, "revert");
	rt_cli_ask_number(&ask, "seq", seq);
	st = rt_cli_ask_run(&ask);
	if (st == RT_OK)
		st = rt_cli_ask_say(&ask, "Reverted step %llu, and nothing else.",
				    (unsigned long long)seq);
	rt_cli_ask_deinit(&ask);
	return st;
}

const rt_cli_command rt_cli_revert = {
	.name = "revert",
	.group = RT_CLI_UNDOING,
	.min_words = 1,
	.max_words = 1,
	.usage = "N",
	.summary = "undo one old step alone, as a new step",
	.about = "What came after it stays. Refused when what the step changed was changed again.",
	.examples = "retake revert 17",
	.ops = "revert",
	.kinds = {RT_CLI_STEP},
	.run = run_revert,
};

/* --- purge --- */

static rt_status
run_purge(rt_cli *cli)
{
	const char *address = rt_cli_word(cli, 0), *text = rt_cli_flag_value(cli, "text");
	unsigned long long count;
	rt_cli_ask ask;
	rt_status st;

	if ((address == NULL) == (text == NULL))
		return rt_cli_fail(cli, RT_USAGE, "purge needs an ENTRY, or --text TEXT");
	st = rt_cli_open(cli, RT_CLI_CHANGE);
	if (st == RT_OK)
		st = rt_cli_confirm(cli, text != NULL
						 ? "Remove for good every text that holds this "
						   "(no undo)?"
						 : "Remove this entry's texts for good (no undo)?");
	if (st != RT_OK)
		return st;
	rt_cli_ask_init(cli, &ask);
	rt_cli_ask_op(&ask, "purge");
	if (text != NULL)
		rt_cli_ask_text(&ask, "text", rt_str_of(text));
	else
		st = rt_cli_ask_entry(&ask, "entry", address);
	if (st == RT_OK)
		st = rt_cli_ask_run(&ask);
	if (st == RT_OK && cli->json) {
		st = rt_cli_ask_say(&ask, "%s", "");
	} else if (st == RT_OK && !cli->quiet) {
		count = (unsigned long long)ask.result->count;
		if (ask.result->unchanged)
			rt_term_c(&cli->out, "Nothing holds it.\n");
		else
			rt_term_f(&cli->out,
				  "Purged %llu text%s for good; this cannot be undone.\n", count,
				  RT_CLI_S(count));
		if (ask.result->note != NULL)
			rt_term_indented(&cli->out, rt_text_str(ask.result->note), 2);
	}
	rt_cli_ask_deinit(&ask);
	return st;
}

static const rt_cli_flag purge_flags[] = {
	{"text", 't', "TEXT", RT_CLI_TEXT, "everything that holds this text"},
	{"yes", 'y', NULL, RT_CLI_TEXT, "do not ask"},
	{NULL, 0, NULL, RT_CLI_TEXT, NULL},
};

const rt_cli_command rt_cli_purge = {
	.name = "purge",
	.group = RT_CLI_UNDOING,
	.max_words = 1,
	.usage = "ENTRY [--yes]\n"
		 "--text TEXT [--yes]",
	.summary = "remove a secret for good: the one thing that is not undone",
	.about =
		"The texts are blanked in the entry, its older revisions, every take, the past and the "
		"index; an empty entry stays in their place. Backups that were made before still "
		"hold them.",
	.examples = "retake purge :4\nretake purge --text sk-abc123 --yes",
	.ops = "purge",
	.flags = purge_flags,
	.kinds = {RT_CLI_ENTRY},
	.run = run_purge,
};

/* --- reset --- */

static rt_status
run_reset(rt_cli *cli)
{
	rt_cli_ask ask;
	rt_status st;

	rt_cli_ask_init(cli, &ask);
	st = rt_cli_ask_simple(&ask, "project.reset", NULL);
	if (st == RT_OK)
		st = rt_cli_ask_say(&ask, "Everything is fresh: one empty discussion; all that was "
					  "there is in history.");
	rt_cli_ask_deinit(&ask);
	return st;
}

const rt_cli_command rt_cli_reset = {
	.name = "reset",
	.group = RT_CLI_UNDOING,
	.usage = "",
	.summary = "start the project afresh; one undo brings everything back",
	.examples = "retake reset",
	.ops = "project.reset",
	.run = run_reset,
};
