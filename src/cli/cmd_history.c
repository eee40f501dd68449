/* SPDX-License-Identifier: MIT
 *
 * undo, redo, history, jump, revert, purge, reset: what was done, and taking it back. */
#include "cli/cli.h"
#include "app/screen.h"
#include "view/view.h"

#include <stdio.h>

#include "codec/content.h"

/* --- undo, redo --- */

/* The newest step in effect of the discussion in view and the project; 0: none. */
static uint64_t
current_step(rt_cli *cli)
{
	const rt_disc *disc = NULL;
	uint64_t in_project = cli->session.value->history.current;

	if (cli->session.place.disc == 0 || rt_old_disc(cli, &disc) != RT_OK)
		return in_project;
	return disc->history.current > in_project ? disc->history.current : in_project;
}

/* "step 5" and what it did, with these between and behind. */
static void
add_step(rt_cli *cli, uint64_t seq, const char *between, const char *behind, rt_buf *out)
{
	rt_old_view view;
	rt_status st;

	rt_old_view_init(cli, &view);
	st = rt_old_view_read(
		cli, &view,
		rt_view_step(cli->session.engine, cli->session.value, seq, &view.buf, &cli->error));
	rt_cli_output_lost(cli, st);
	rt_buf_add_f(out, "step %llu", (unsigned long long)seq);
	if (st == RT_OK) {
		rt_buf_add_c(out, between);
		rt_buf_add_str(out, rt_json_str(rt_json_get(view.root, "what")));
		rt_buf_add_c(out, behind);
	}
	rt_old_view_deinit(&view);
}

/* The one step that a move was about; 0: it was about several. */
static uint64_t
only_step(rt_cli *cli, uint64_t move)
{
	rt_old_view view;
	yyjson_val *moves, *item;
	uint64_t found = 0, seq = 0;
	size_t i, count;
	bool one = true;
	rt_status st;

	rt_old_view_init(cli, &view);
	st = rt_old_view_read(cli, &view,
			      rt_view_step(cli->session.engine, cli->session.value, move, &view.buf,
					   &cli->error));
	rt_cli_output_lost(cli, st);
	if (st == RT_OK) {
		moves = rt_json_get(view.root, "moves");
		yyjson_arr_foreach(moves, i, count, item) {
			(void)rt_json_u64(rt_json_get(item, "step"), &seq);
			one = one && (found == 0 || found == seq);
			found = seq;
		}
	}
	rt_old_view_deinit(&view);
	return one ? found : 0;
}

/* Which discussion and take are in view, where that is not as it was. */
static void
add_view(rt_cli *cli, rt_place before, rt_buf *out)
{
	const rt_disc *disc = NULL;
	const rt_take *take = NULL;

	if (cli->session.place.disc == 0 || before.disc == 0 || rt_old_disc(cli, &disc) != RT_OK)
		return;
	if (cli->session.place.disc != before.disc) {
		rt_buf_add_c(out, " Now in discussion \"");
		rt_buf_add_str(out,
			       rt_cell_name(rt_project_cell(cli->session.value, disc->number)));
		rt_buf_add_c(out, "\".");
	} else if (cli->session.place.take != before.take && rt_old_take(cli, &take) == RT_OK) {
		rt_buf_add_c(out, " Now in take \"");
		rt_buf_add_str(out, rt_text_str(take->name));
		rt_buf_add_c(out, "\".");
	}
}

/* "Undid step 5: edited entry nvsa." or "Undid 3 steps, back to right after step 2 (…)." */
static void
add_what_moved(rt_cli *cli, const rt_result *result, bool undo, rt_buf *out)
{
	unsigned long long steps = (unsigned long long)result->steps;
	uint64_t seq = steps == 1 ? only_step(cli, result->seq) : 0;

	rt_buf_add_c(out, undo ? "Undid " : "Redid ");
	if (seq != 0) {
		add_step(cli, seq, ": ", ".", out);
		return;
	}
	rt_buf_add_f(out, "%llu step%s, %s ", steps, RT_CLI_S(steps), undo ? "back" : "up");
	seq = current_step(cli);
	if (seq == 0) {
		rt_buf_add_c(out, "to the beginning.");
		return;
	}
	rt_buf_add_c(out, "to right after ");
	add_step(cli, seq, " (", ").", out);
}

/* Redo is at its end, but what was undone is not lost. */
static void
hint_undone(rt_cli *cli, rt_status status)
{
	rt_old_view view;
	yyjson_val *row;
	size_t i, count;
	uint64_t seq = 0;

	rt_old_view_init(cli, &view);
	if (rt_old_view_read(cli, &view,
			     rt_view_history(cli->session.engine, cli->session.value,
					     cli->session.place.disc, 0, 0, &view.buf, NULL)) ==
	    RT_OK)
		yyjson_arr_foreach(view.root, i, count, row) {
			if (yyjson_is_true(rt_json_get(row, "undone"))) {
				(void)rt_json_u64(rt_json_get(row, "seq"), &seq);
				break;
			}
		}
	if (seq != 0)
		rt_old_hint(cli, status,
			    "To where what was undone last stood: retake jump %llu   "
			    "Steps: retake history",
			    (unsigned long long)seq);
	rt_old_view_deinit(&view);
}

static rt_status
undo_or_redo(rt_cli *cli, rt_op_id op)
{
	const char *scope = rt_cli_flag_value(cli, "scope"), *word = rt_cli_word(cli, 0);
	bool undo = op == RT_OP_UNDO;
	uint64_t count = 1;
	rt_place before;
	rt_error kept;
	rt_old_change change;
	rt_status st = RT_OK;
	rt_buf now;

	if (word != NULL)
		st = rt_old_number(cli, word, "how many steps", &count);
	if (st == RT_OK && count == 0)
		st = rt_old_fail(cli, RT_USAGE, "N must be 1 or more");
	if (st == RT_OK)
		st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st != RT_OK)
		return st;
	before = cli->session.place;
	rt_old_change_init(cli, &change);
	rt_buf_init(&now, cli->alloc, RT_BUF_UNLIMITED);
	st = rt_old_change_one(&change, &(rt_request){.op = op,
						      .count = rt_cli_given_number(count),
						      .scope = rt_str_of(scope)});
	if (st == RT_REFUSED && !undo) {
		kept = cli->error;
		hint_undone(cli, st);
		cli->error = kept;
	}
	if (st == RT_OK && cli->json) {
		st = rt_old_change_say(&change, "%s", "");
	} else if (st == RT_OK && !cli->quiet) {
		const char *back = undo ? "redo" : "undo";
		char again[32] = "";

		if (change.result->steps > 1)
			snprintf(again, sizeof(again), " %llu",
				 (unsigned long long)change.result->steps);
		add_what_moved(cli, change.result, undo, &now);
		add_view(cli, before, &now);
		rt_cli_say(cli, rt_buf_str(&now), "%s: retake %s%s", back, back, again);
		if (change.result->note != NULL)
			rt_term_indented(&cli->out, rt_text_str(change.result->note), 2);
	}
	rt_buf_deinit(&now);
	rt_old_change_deinit(&change);
	return st;
}

static rt_status
run_undo(rt_cli *cli)
{
	return undo_or_redo(cli, RT_OP_UNDO);
}

static rt_status
run_redo(rt_cli *cli)
{
	return undo_or_redo(cli, RT_OP_REDO);
}

static const rt_flag scope_flags[] = {
	{"scope", 0, "SCOPE", RT_ARG_SCOPE, "discussion or project; default: both"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_undo = {
	.name = "undo",
	.alias = "u",
	.group = RT_COMMANDS_UNDOING,
	.max_words = 1,
	.usage = "[N] [--scope discussion|project]",
	.summary = "take back the newest step, or N of them",
	.about =
		"Undo has no end and survives restarts. It takes back steps of the discussion and of "
		"the project's settings, the newest first. Redo brings them back.",
	.examples = "retake undo\nretake undo 3",
	.ops = "undo",
	.flags = scope_flags,
	.run_status = run_undo,
};

const rt_command rt_cli_redo = {
	.name = "redo",
	.group = RT_COMMANDS_UNDOING,
	.max_words = 1,
	.usage = "[N] [--scope discussion|project]",
	.summary = "bring back what was undone",
	.about =
		"A new step ends redo, but loses nothing: what was undone can still be reached with "
		"retake jump.",
	.examples = "retake redo",
	.ops = "redo",
	.flags = scope_flags,
	.run_status = run_redo,
};

/* --- history --- */

static void
history_row(rt_cli *cli, yyjson_val *row)
{
	rt_term *out = &cli->out;
	bool current = yyjson_is_true(rt_json_get(row, "current"));
	bool undone = yyjson_is_true(rt_json_get(row, "undone"));
	rt_str about = rt_str_trim(rt_json_str(rt_json_get(row, "about")));
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
	if (about.size > 0) {
		rt_term_c(out, ": ");
		rt_term_line(out, about);
	}
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
	rt_old_view view;
	yyjson_val *row;
	size_t i, count;
	rt_status st = RT_OK;

	if (limit_text != NULL)
		st = rt_old_number(cli, limit_text, "how many steps to list", &limit);
	if (st == RT_OK && before_text != NULL)
		st = rt_old_number(cli, before_text, "the number of a step", &before);
	if (st == RT_OK && rt_cli_has(cli, "all"))
		limit = 0;
	if (st == RT_OK)
		st = rt_old_open(cli, RT_SESSION_LOOK);
	if (st != RT_OK)
		return st;
	rt_old_view_init(cli, &view);
	st = rt_view_history(cli->session.engine, cli->session.value, cli->session.place.disc,
			     before, (size_t)limit, &view.buf, &cli->error);
	if (st == RT_OK && cli->json) {
		st = rt_old_print_json(cli, rt_buf_str(&view.buf));
	} else if ((st = rt_old_view_read(cli, &view, st)) == RT_OK) {
		if (!rt_cli_has(cli, "no-pager"))
			rt_term_page(&cli->out);
		yyjson_arr_foreach(view.root, i, count, row)
			history_row(cli, row);
		if (yyjson_arr_size(view.root) == 0)
			rt_term_c(&cli->out, "Nothing has been done here yet.\n");
		else if (limit > 0 && yyjson_arr_size(view.root) == limit)
			rt_cli_advise(cli, "        … more: retake history --all\n");
	}
	rt_old_view_deinit(&view);
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
		rt_content_add_entry(&text, slot);
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

/* "d2" or "t3": the number. */
static uint32_t
number_behind(rt_str id)
{
	uint32_t number = 0;
	size_t i;

	for (i = 1; i < id.size && i < 10; i++)
		number = number * 10 + (uint32_t)(id.ptr[i] - '0');
	return number;
}

/* "  in take "duck":", before what was changed there. */
static void
add_take(rt_cli *cli, yyjson_val *effect)
{
	const rt_disc *disc = NULL;
	const rt_take *take = NULL;
	uint32_t number = number_behind(rt_json_str(rt_json_get(effect, "discussion")));

	if (rt_project_cell(cli->session.value, number) != NULL &&
	    rt_project_disc(cli->session.value, number, &disc, NULL) == RT_OK)
		take = rt_disc_take(disc, number_behind(rt_json_str(rt_json_get(effect, "take"))));
	rt_term_c(&cli->out, "    in take \"");
	rt_term_line(&cli->out, take != NULL ? rt_text_str(take->name)
					     : rt_json_str(rt_json_get(effect, "take")));
	rt_term_c(&cli->out, "\":\n");
}

static void
step_text(rt_cli *cli, yyjson_val *step)
{
	yyjson_val *effects = rt_json_get(step, "effects"), *effect;
	size_t i, count, takes = 0;
	rt_str last = {NULL, 0};

	history_row(cli, step);
	/* Where one take alone was changed, it goes without saying. */
	yyjson_arr_foreach(effects, i, count, effect) {
		rt_str take = rt_json_str(rt_json_get(effect, "take"));

		if (rt_str_is(rt_json_str(rt_json_get(effect, "effect")), "splice") &&
		    (takes == 0 || !rt_str_eq(take, last))) {
			takes++;
			last = take;
		}
	}
	last = rt_str_of(NULL);
	yyjson_arr_foreach(effects, i, count, effect) {
		rt_str kind = rt_json_str(rt_json_get(effect, "effect"));

		if (rt_str_is(kind, "splice")) {
			rt_str take = rt_json_str(rt_json_get(effect, "take"));

			if (takes > 1 && !rt_str_eq(take, last))
				add_take(cli, effect);
			last = take;
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
	rt_old_view view;
	rt_status st = rt_old_number(cli, word, "the number of a step", &seq);

	if (st == RT_OK)
		st = rt_old_open(cli, RT_SESSION_LOOK);
	if (st != RT_OK)
		return st;
	rt_old_view_init(cli, &view);
	st = rt_view_step(cli->session.engine, cli->session.value, seq, &view.buf, &cli->error);
	if (st == RT_NOT_FOUND)
		rt_old_hint(cli, st, "Steps: retake history");
	if (st == RT_OK && cli->json)
		st = rt_old_print_json(cli, rt_buf_str(&view.buf));
	else if ((st = rt_old_view_read(cli, &view, st)) == RT_OK)
		step_text(cli, view.root);
	rt_old_view_deinit(&view);
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
	return rt_old_fail(cli, RT_USAGE, "history does not know what \"%.40s\" is", verb);
}

static const rt_flag history_flags[] = {
	{"limit", 'l', "N", RT_ARG_TEXT, "list so many; default 200, with --json all"},
	{"before", 0, "N", RT_ARG_STEP, "only steps before this one"},
	{"all", 'a', NULL, RT_ARG_TEXT, "list all"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_history = {
	.name = "history",
	.alias = "log",
	.group = RT_COMMANDS_UNDOING,
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
	.kinds = {RT_ARG_TEXT, RT_ARG_STEP},
	.run_status = run_history,
};

/* --- jump, revert --- */

/* What a jump went back to; a scope leaves the rest as it is, and step 0 is of the discussion
 * alone (C18). */
static void
add_jumped(const char *scope, uint64_t to, rt_buf *out)
{
	bool project = scope != NULL && strcmp(scope, "project") == 0;

	if (project)
		rt_buf_add_c(out, "The settings and the list of discussions are as they were ");
	else if (scope != NULL || to == 0)
		rt_buf_add_c(out, "The discussion is as it was ");
	else
		rt_buf_add_c(out, "Now as it was ");
	if (to != 0)
		rt_buf_add_f(out, "right after step %llu.", (unsigned long long)to);
	else
		rt_buf_add_f(out, "before %s first step.", project ? "the" : "its");
}

static rt_status
run_jump(rt_cli *cli)
{
	const char *scope = rt_cli_flag_value(cli, "scope");
	uint64_t to = 0;
	rt_place before;
	rt_old_change change;
	rt_buf now;
	rt_status st = rt_old_number(cli, rt_cli_word(cli, 0), "the number of a step", &to);

	if (st != RT_OK)
		return rt_old_hint(cli, st,
				   "Steps: retake history   To move the head: retake go ENTRY");
	st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st != RT_OK)
		return st;
	before = cli->session.place;
	rt_old_change_init(cli, &change);
	st = rt_old_change_one(&change, &(rt_request){.op = RT_OP_JUMP,
						      .step = rt_cli_given_number(to),
						      .scope = rt_str_of(scope)});
	if (st == RT_OK && !cli->json && !cli->quiet && !change.result->unchanged) {
		rt_buf_init(&now, cli->alloc, RT_BUF_UNLIMITED);
		add_jumped(scope, to, &now);
		add_view(cli, before, &now);
		/* the row before the jump restores all that it moved (C30) */
		rt_cli_say(cli, rt_buf_str(&now), "back: retake jump %llu",
			   (unsigned long long)change.result->seq - 1);
		if (change.result->note != NULL)
			rt_term_indented(&cli->out, rt_text_str(change.result->note), 2);
		rt_buf_deinit(&now);
	} else if (st == RT_OK) {
		st = rt_old_change_say(&change, "%s", "");
	}
	rt_old_change_deinit(&change);
	return st;
}

const rt_command rt_cli_jump = {
	.name = "jump",
	.group = RT_COMMANDS_UNDOING,
	.min_words = 1,
	.max_words = 1,
	.usage = "N [--scope discussion|project]",
	.summary = "go to the state right after step N",
	.about =
		"The discussion and the project's settings become what retake show --at-op N shows; "
		"other discussions keep what they hold. Any step will do, also one that was undone. "
		"With --scope only the discussion, or only the settings and the list of discussions, "
		"go there. 0 without --scope concerns the discussion alone: it is then as it was before "
		"its first step, and settings stay.",
	.examples = "retake jump 42",
	.ops = "jump",
	.flags = scope_flags,
	.kinds = {RT_ARG_STEP},
	.run_status = run_jump,
};

static const rt_cli_op revert_op = {
	.op = RT_OP_REVERT,
	.fields = {{"seq",
		    .word = 0,
		    .what = "the number of a step",
		    .hint = "Steps: retake history"}},
	.done = "Reverted step {seq}, and nothing else.",
};

const rt_command rt_cli_revert = {
	.name = "revert",
	.group = RT_COMMANDS_UNDOING,
	.min_words = 1,
	.max_words = 1,
	.usage = "N",
	.summary = "undo one old step alone, as a new step",
	.about = "What came after it stays. Refused when what the step changed was changed again.",
	.examples = "retake revert 17",
	.ops = "revert",
	.kinds = {RT_ARG_STEP},
	.run = rt_cli_run_op,
	.op = &revert_op,
};

/* --- purge --- */

/* "-" reads the secret from standard input, so that it need not stand in the shell's history. */
static rt_status
read_secret(rt_cli *cli, const char *text, rt_buf *out)
{
	rt_status st;

	if (strcmp(text, "-") != 0) {
		rt_buf_add_c(out, text);
		return rt_old_buf(cli, out);
	}
	st = rt_old_read_file(cli, "-", out);
	if (st != RT_OK)
		return st;
	if (out->size > 0 && out->ptr[out->size - 1] == '\n')
		out->size--;
	if (out->size > 0 && out->ptr[out->size - 1] == '\r')
		out->size--;
	if (out->size == 0)
		return rt_old_fail(cli, RT_USAGE, "standard input is empty; there is no text to "
						  "look for");
	if (rt_utf8_valid_size(rt_buf_str(out)) != out->size)
		return rt_old_fail(cli, RT_USAGE, "the text is not UTF-8 (at byte %zu)",
				   rt_utf8_valid_size(rt_buf_str(out)));
	return rt_old_buf(cli, out);
}

/* The question names the entry, and how many texts it ever had. */
static rt_status
ask_about(rt_cli *cli, const char *address, char *out, size_t room)
{
	char id[RT_ID_ROOM];
	uint32_t entry = 0;
	rt_old_view view;
	size_t count;
	rt_buf where;
	rt_status st;

	if (rt_cli_has(cli, "yes"))
		return RT_OK;
	st = rt_old_entry(cli, address, true, &entry);
	/* The id of what is in no take any more is for the engine to judge. */
	if (st != RT_OK || entry == 0) {
		snprintf(out, room, "Remove the texts of %.100s for good (no undo)?", address);
		cli->session.hint[0] = 0;
		return st == RT_NOMEM || st == RT_IO || st == RT_CORRUPT ? st : RT_OK;
	}
	rt_old_view_init(cli, &view);
	rt_buf_init(&where, cli->alloc, 4096);
	st = rt_entry_id(cli->session.value, entry, id, &cli->error);
	if (st == RT_OK)
		st = rt_old_view_read(cli, &view,
				      rt_view_revisions(cli->session.engine, cli->session.value,
							cli->session.place.disc, entry, &view.buf,
							&cli->error));
	if (st == RT_OK) {
		rt_old_add_where(cli, id, &where);
		count = yyjson_arr_size(view.root);
		snprintf(out, room, "Remove entry %.200s, %zu text%s, for good (no undo)?",
			 where.ptr == NULL ? id : where.ptr, count, RT_CLI_S(count));
	}
	rt_buf_deinit(&where);
	rt_old_view_deinit(&view);
	return st;
}

static rt_status
run_purge(rt_cli *cli)
{
	const char *address = rt_cli_word(cli, 0), *text = rt_cli_flag_value(cli, "text");
	char question[400] = "Remove for good every text that holds this (no undo)?";
	unsigned long long count;
	rt_old_change change;
	rt_buf secret;
	rt_status st;

	if ((address == NULL) == (text == NULL))
		return rt_old_fail(cli, RT_USAGE, "purge needs an ENTRY, or --text TEXT");
	rt_buf_init(&secret, cli->alloc, RT_BUF_UNLIMITED);
	rt_old_change_init(cli, &change);
	st = text != NULL ? read_secret(cli, text, &secret) : RT_OK;
	if (st == RT_OK)
		st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st == RT_OK && text == NULL)
		st = ask_about(cli, address, question, sizeof(question));
	if (st == RT_OK)
		st = rt_old_confirm(cli, question);
	if (st == RT_OK && text != NULL)
		st = rt_old_change_one(
			&change, &(rt_request){.op = RT_OP_PURGE,
					       .text = rt_cli_given(rt_buf_str(&secret))});
	else if (st == RT_OK)
		st = rt_old_change_one(
			&change, &(rt_request){.op = RT_OP_PURGE,
					       .entry = rt_old_change_entry(&change, address)});
	if (st == RT_OK && cli->json) {
		st = rt_old_change_say(&change, "%s", "");
	} else if (st == RT_OK && !cli->quiet) {
		count = (unsigned long long)change.result->count;
		if (change.result->unchanged)
			rt_term_c(&cli->out, "Nothing holds it.\n");
		else
			rt_term_f(&cli->out,
				  "Purged %llu text%s for good; this cannot be undone.\n", count,
				  RT_CLI_S(count));
		if (change.result->note != NULL)
			rt_term_indented(&cli->out, rt_text_str(change.result->note), 2);
	}
	rt_buf_deinit(&secret);
	rt_old_change_deinit(&change);
	return st;
}

static const rt_flag purge_flags[] = {
	{"text", 't', "TEXT", RT_ARG_TEXT,
	 "everything that holds this text (\"-\": from standard input)"},
	{"yes", 'y', NULL, RT_ARG_TEXT, "do not ask"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_purge = {
	.name = "purge",
	.group = RT_COMMANDS_UNDOING,
	.max_words = 1,
	.usage = "ENTRY [--yes]\n"
		 "--text TEXT [--yes]",
	.summary = "remove a secret for good: the one thing that is not undone",
	.about =
		"The texts are blanked in the entry, its older revisions, every take, the past and the "
		"index; an empty entry stays in their place. Backups that were made before still "
		"hold them.",
	.examples = "retake purge :4\nretake purge --text sk-abc123 --yes\n"
		    "retake purge --text - --yes < secret.txt",
	.ops = "purge",
	.flags = purge_flags,
	.kinds = {RT_ARG_ENTRY},
	.run_status = run_purge,
};

/* --- reset --- */

static const rt_cli_op reset_op = {
	.op = RT_OP_PROJECT_RESET,
	.done = "Everything is fresh: one empty discussion; all that was there is in history.",
};

const rt_command rt_cli_reset = {
	.name = "reset",
	.group = RT_COMMANDS_UNDOING,
	.usage = "",
	.summary = "start the project afresh; one undo brings everything back",
	.examples = "retake reset",
	.ops = "project.reset",
	.run = rt_cli_run_op,
	.op = &reset_op,
};
