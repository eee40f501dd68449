/* SPDX-License-Identifier: MIT
 *
 * undo, redo, history, jump, revert, purge, reset: past changes, and undoing them. */
#include "cli/cli.h"
#include "app/screen.h"
#include "log/history.h"
#include "view/view.h"

#include <stdio.h>

enum {
	BLANKS = 12,   /* columns before the words of a step, without its time and author */
	WORDS_MIN = 20 /* of the words on a terminal that is too narrow for a row */
};

/* --- undo, redo --- */

/* The newest step that undo would revert; 0: none. It is only needed for a message. */
static uint64_t
current_step(rt_cli *cli)
{
	uint64_t step = 0;

	if (rt_ok(&cli->s))
		RT_TRY(&cli->s, rt_history_newest(cli->session.engine, cli->session.value,
						  cli->session.place.disc, &step, &cli->s.error));
	rt_cli_output_lost(cli, rt_cli_recover(cli, NULL));
	return step;
}

/* Reads a row of the log that is only needed for a message. */
static const rt_step_row *
read_step(rt_cli *cli, uint64_t seq)
{
	rt_view view = rt_cli_view(cli);
	const rt_step_row *step = rt_ok(&cli->s) ? rt_step_read(&view, seq) : NULL;

	rt_cli_output_lost(cli, rt_cli_recover(cli, NULL));
	return step;
}

/* "step 5" and its description, between these. */
static void
add_step(rt_cli *cli, uint64_t seq, const char *before, const char *after, rt_buf *out)
{
	const rt_step_row *step = read_step(cli, seq);

	rt_buf_add_f(out, "step %llu", (unsigned long long)seq);
	if (step != NULL)
		rt_buf_add_f(out, "%s%.*s%s", before, RT_STR_ARG(step->what), after);
}

/* The newest of the steps that a move concerned; 0: it cannot be read. */
static uint64_t
newest_step(rt_cli *cli, uint64_t move, bool *is_one)
{
	rt_view view = rt_cli_view(cli);
	uint64_t newest = rt_ok(&cli->s) ? rt_step_moved(&view, move, is_one) : 0;

	rt_cli_output_lost(cli, rt_cli_recover(cli, NULL));
	return newest;
}

/* The discussion and take in view, if they have changed. */
static void
add_place(rt_cli *cli, rt_place before, rt_buf *out)
{
	rt_place now = cli->session.place;
	const rt_take *take = now.disc != 0 && before.disc != 0 ? rt_cli_take(cli) : NULL;

	if (rt_cli_recover(cli, NULL) != RT_OK || take == NULL)
		return;
	if (now.disc != before.disc)
		rt_buf_add_f(out, " Now in discussion %s.", rt_cli_disc_title(cli, now.disc));
	else if (now.take != before.take)
		rt_buf_add_f(out, " Now in take \"%s\".", take->name->ptr);
}

/* "Undid step 5: edited entry nvsa." or "Undid 3 steps, back to the state right after step 2 (…)." newest:
 * newest_step. */
static void
add_what_moved(rt_cli *cli, const rt_result *result, bool undo, uint64_t newest, bool is_one,
	       rt_buf *out)
{
	unsigned long long steps = (unsigned long long)result->steps;
	uint64_t end = undo ? current_step(cli) : newest;

	rt_buf_add_c(out, undo ? "Undid " : "Redid ");
	if (!undo && newest == 0) { /* the row could not be read */
		rt_buf_add_f(out, "%llu step%s.", steps, RT_CLI_S(steps));
		return;
	}
	if (steps == 1 && is_one) {
		add_step(cli, newest, ": ", ".", out);
		return;
	}
	rt_buf_add_f(out, "%llu step%s, %s ", steps, RT_CLI_S(steps), undo ? "back" : "up");
	if (end == 0) {
		rt_buf_add_c(out, "to the beginning.");
		return;
	}
	rt_buf_add_c(out, undo ? "to the state right after " : "to ");
	add_step(cli, end, " (", ").", out);
}

/* There is nothing to redo, but undone steps are not lost. */
static void
hint_undone(rt_cli *cli)
{
	rt_scope outer;
	uint64_t seq = 0;

	rt_cli_begin_part(cli, &outer);

	rt_view view = rt_cli_view(cli);
	rt_history_cursor *c = rt_history_open(&view, NULL, 0);

	for (const rt_history_row *row; seq == 0 && (row = rt_history_next(c)) != NULL;)
		seq = row->is_undone ? row->seq : 0;
	(void)rt_cli_end_part(cli, &outer, NULL);
	if (seq != 0)
		rt_cli_hint(cli,
			    "To reapply the last undone steps: retake jump %llu   Steps: retake "
			    "history",
			    (unsigned long long)seq);
}

/* A count that is the number of a step was probably meant as one. */
static void
say_step(rt_cli *cli, const rt_result *result, uint64_t count)
{
	if (count <= result->steps || count > cli->session.value->seq || count < 4)
		return;
	rt_term_f(&cli->out, "  If you meant only step %llu: %s redo %llu, then %s revert %llu\n",
		  (unsigned long long)count, rt_cli_retake(cli), (unsigned long long)result->steps,
		  rt_cli_retake(cli), (unsigned long long)count);
}

/* A message with the way back, and the notes of the engine. */
static void
say_moved(rt_cli *cli, const rt_result *result, rt_buf *now, const char *back, uint64_t number)
{
	rt_cli_say(cli, rt_scope_str(&cli->s, now), number > 1 ? "%s %llu" : "%s", back,
		   (unsigned long long)number);
	if (rt_ok(&cli->s) && result->note != NULL)
		rt_term_indented(&cli->out, rt_text_str(result->note), 2);
}

/* With a discussion on the command line, only its own steps: those of the project could be of any
 * other one. */
static rt_str
scope_of(const rt_cli *cli)
{
	const char *scope = rt_cli_flag_value(cli, "scope");

	return rt_str_of(scope == NULL && rt_cli_flag_value(cli, "discussion") != NULL
				 ? "discussion"
				 : scope);
}

static void
undo_or_redo(rt_cli *cli, rt_op_id op)
{
	const char *word = rt_cli_word(cli, 0);
	bool undo = op == RT_OP_UNDO;
	rt_buf *now = rt_scope_buf(&cli->s);
	const rt_result *result;
	const rt_project *was = NULL;
	rt_place before;

	if (word != NULL && word[0] == '-')
		rt_cli_hint(cli, "Number of steps: retake %s %.20s", cli->args.command->name,
			    word + 1);

	uint64_t count = word == NULL ? 1 : rt_cli_number(cli, word, "number of steps");

	if (count == 0)
		rt_cli_fail(cli, RT_USAGE, "N must be 1 or more");
	rt_cli_open(cli, RT_SESSION_CHANGE);
	if (cli->session.value != NULL)
		was = rt_object_ref(cli->session.value);
	before = cli->session.place;
	result = rt_cli_execute(
		cli,
		&(rt_request){.op = op,
			      .count = rt_cli_given_number(count),
			      .scope = scope_of(cli),
			      .keep_draft = RT_YES},
		1);
	if (cli->s.status == RT_REFUSED && undo && rt_cli_flag_value(cli, "discussion") != NULL &&
	    rt_cli_flag_value(cli, "scope") == NULL)
		rt_cli_hint(cli, "With -d, only steps of that discussion are undone. Those of the "
				 "project: retake undo --scope project");
	if (cli->s.status == RT_REFUSED && !undo && cli->session.value != NULL)
		hint_undone(cli);
	if (cli->json) {
		rt_cli_say_result(cli, result, "%s", "");
	} else if (rt_ok(&cli->s) && !cli->quiet) {
		bool is_one;
		uint64_t newest = newest_step(cli, result->move_seq, &is_one);

		add_what_moved(cli, result, undo, newest, is_one, now);
		for (int restored = 0; restored < 2 && !is_one; restored++)
			if (rt_history_add_discussions(now, was, cli->session.value, restored == 1))
				rt_buf_add_byte(now, '.');
		add_place(cli, before, now);
		if (undo)
			say_moved(cli, result, now, "redo: retake redo", result->steps);
		else if (newest == current_step(cli))
			say_moved(cli, result, now, "undo: retake undo", result->steps);
		else /* undo would begin with newer steps */
			say_moved(cli, result, now, "undo: retake jump", result->move_seq - 1);
		if (undo && rt_ok(&cli->s))
			say_step(cli, result, count);
	}
	rt_object_unref(was);
}

static void
run_undo(rt_cli *cli)
{
	undo_or_redo(cli, RT_OP_UNDO);
}

static void
run_redo(rt_cli *cli)
{
	undo_or_redo(cli, RT_OP_REDO);
}

static const rt_flag scope_flags[] = {
	{"scope", 0, "SCOPE", RT_ARG_SCOPE, "discussion or project; default: both; with -d: discussion"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_undo = {
	.name = "undo",
	.alias = "u",
	.group = RT_COMMANDS_UNDOING,
	.traits = RT_COMMAND_NUMBERS,
	.max_words = 1,
	.usage = "[N] [--scope discussion|project]",
	.summary = "undo the newest step, or the N newest",
	.about =
		"Undo is unlimited and survives restarts. It reverts steps of the discussion and "
		"of the project's settings, newest first. With -d NAME it reverts only steps of "
		"that discussion. Redo reapplies them. Unsent text (the draft) is kept.",
	.examples = "retake undo\nretake undo 3",
	.ops = "undo",
	.flags = scope_flags,
	.run = run_undo,
};

const rt_command rt_cli_redo = {
	.name = "redo",
	.group = RT_COMMANDS_UNDOING,
	.traits = RT_COMMAND_NUMBERS,
	.max_words = 1,
	.usage = "[N] [--scope discussion|project]",
	.summary = "redo undone steps",
	.about =
		"After a new step, redo is no longer possible, but nothing is lost: undone steps "
		"can still be reached with retake jump.",
	.examples = "retake redo",
	.ops = "redo",
	.flags = scope_flags,
	.run = run_redo,
};

/* --- history --- */

/* The step in words, after a number of columns; on a terminal it ends with the row. */
static void
print_what(rt_term *out, const rt_history_row *row, rt_str about, size_t columns)
{
	size_t used = columns + (row->is_undone ? sizeof("  (undone)") : 0) +
		      (row->is_current ? sizeof("  <- now") : 0);
	rt_buf line;

	rt_buf_init(&line, out->scratch.alloc, RT_BUF_UNLIMITED);
	rt_screen_add_line(&line, row->what);
	if (about.size > 0) {
		rt_buf_add_c(&line, ": ");
		rt_screen_add_line(&line, about);
	}
	if (out->columns > used + WORDS_MIN &&
	    rt_screen_width(rt_buf_str(&line)) > out->columns - used) {
		rt_term_text(out, rt_screen_cut(rt_buf_str(&line), out->columns - used - 1));
		rt_term_c(out, out->utf8 ? "\xE2\x80\xA6" : "~");
	} else {
		rt_term_text(out, rt_buf_str(&line));
	}
	rt_buf_deinit(&line);
}

static void
print_row(rt_cli *cli, const rt_history_row *row)
{
	rt_term *out = &cli->out;
	rt_str about = rt_str_trim(row->about);
	rt_buf when;

	rt_buf_init(&when, cli->alloc, 256);
	rt_host_add_local_time(&when, row->at_us, cli->verbose);
	rt_term_style(out, row->is_current  ? RT_STYLE_BOLD
			   : row->is_undone ? RT_STYLE_DIM
					    : RT_STYLE_NONE);
	rt_term_f(out, "%6llu  ", (unsigned long long)row->seq);
	rt_term_line(out, rt_buf_str(&when));
	rt_term_c(out, "  ");
	rt_term_line(out, row->by);
	rt_term_c(out, "  ");
	print_what(out, row, about, BLANKS + when.size + rt_screen_width(row->by));
	rt_term_c(out, row->is_undone ? "  (undone)" : "");
	rt_term_c(out, row->is_current ? "  <- now" : "");
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, "\n");
	rt_buf_deinit(&when);
}

static void
list_history(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	/* Users need the newest; programs need all. */
	uint64_t limit = rt_cli_flag_number(cli, "limit", "number of steps to list",
					    cli->json ? 0 : 200);
	uint64_t before = rt_cli_flag_number(cli, "before", "the number of a step", 0);
	rt_buf *json = rt_scope_buf(s);
	bool is_current = false;
	size_t count = 0;

	if (rt_cli_has(cli, "all"))
		limit = 0;
	if (!rt_cli_open(cli, RT_SESSION_LOOK))
		return;

	rt_view view = rt_cli_view(cli);

	if (cli->json) {
		RT_TRY(s, rt_view_history(view.engine, view.project, view.place.disc, before,
					  (size_t)limit, json, &s->error));
		rt_cli_print_json(cli, json);
		return;
	}

	rt_history_cursor *c = rt_history_open(&view, NULL, before);

	if (c != NULL && !rt_cli_has(cli, "no-pager"))
		rt_term_page(&cli->out);
	for (const rt_history_row *row;
	     (limit == 0 || count < limit) && (row = rt_history_next(c)) != NULL;) {
		rt_history_row shown = *row;

		is_current = is_current || row->is_current;
		if (rt_history_row_is_draft(row) && !rt_cli_has(cli, "drafts"))
			continue;
		/* the first step in effect below a draft that is not listed */
		shown.is_current = is_current && !row->is_undone;
		is_current = is_current && row->is_undone;
		print_row(cli, &shown);
		count++;
	}
	if (!rt_ok(s))
		return;
	if (count == 0)
		rt_term_c(&cli->out, "No steps yet.\n");
	else if (limit > 0 && count == limit)
		rt_cli_advise(cli, "        … more: retake history --all\n");
}

/* Where a line with the difference of two texts begins, in bytes of both; 0: at their beginning. */
static size_t
shown_from(rt_str a, rt_str b, size_t columns)
{
	size_t at = 0;

	while (at < a.size && at < b.size && a.ptr[at] == b.ptr[at])
		at++;
	if ((at == a.size && at == b.size) ||
	    rt_utf8_count(rt_str_at(a.ptr, rt_utf8_cut(a, at))) < columns / 2)
		return 0;
	for (size_t back = 0; at > 0 && back < columns / 4; back++)
		do
			at--;
		while (at > 0 && ((unsigned char)a.ptr[at] & 0xC0) == 0x80);
	return at;
}

/* The text of an entry in a splice; of an edit, from before the place where it differs from `other`. */
static void
add_changed(rt_cli *cli, const rt_entry_row *e, const rt_effect_slot *other, size_t columns, rt_buf *line)
{
	rt_view view = rt_cli_view(cli);
	const rt_entry_row *twin = other != NULL ? rt_entry_of_effect(&view, other) : NULL;
	rt_buf text, second;
	size_t from;

	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&second, cli->alloc, RT_BUF_UNLIMITED);
	rt_entry_add_text(&text, e);
	if (twin != NULL)
		rt_entry_add_text(&second, twin);
	from = twin != NULL ? shown_from(rt_buf_str(&text), rt_buf_str(&second), columns) : 0;
	if (from > 0)
		rt_buf_add_c(line, cli->out.utf8 ? "…" : "...");
	rt_screen_add_preview(line, rt_str_skip(rt_buf_str(&text), from), columns - (from > 0 ? 3 : 0),
			      cli->out.utf8);
	rt_buf_deinit(&text);
	rt_buf_deinit(&second);
}

/* One side of a splice. */
static void
print_side(rt_cli *cli, const rt_effect_slot *slots, size_t count, const rt_effect_slot *others,
	   size_t other_count, char sign)
{
	rt_term *out = &cli->out;
	rt_view view = rt_cli_view(cli);

	for (size_t i = 0; i < count; i++) {
		const rt_entry_row *e = rt_entry_of_effect(&view, &slots[i]);
		bool is_edit = i < other_count && others[i].slot.entry == slots[i].slot.entry;
		rt_buf line;

		if (e == NULL)
			return;
		rt_buf_init(&line, cli->alloc, 4096);
		add_changed(cli, e, is_edit ? &others[i] : NULL, out->columns > 60 ? out->columns - 24 : 60,
			    &line);
		rt_term_style(out, sign == '-' ? RT_STYLE_RED : RT_STYLE_GREEN);
		rt_term_f(out, "    %c ", sign);
		rt_term_line(out, e->role);
		rt_term_c(out, "  ");
		rt_term_line(out, rt_cli_short_id(cli, e->id));
		rt_term_c(out, "  ");
		rt_term_text(out, rt_buf_str(&line));
		rt_term_style(out, RT_STYLE_NONE);
		rt_term_c(out, "\n");
		rt_buf_deinit(&line);
	}
}

/* A value, from before the place where it differs from `other`. */
static void
print_value(rt_cli *cli, const char *before, rt_str json, rt_str other)
{
	enum { BYTES = 120 };
	size_t from = json.ptr != NULL && other.ptr != NULL ? shown_from(json, other, BYTES) : 0;

	json = json.ptr != NULL ? rt_str_skip(json, from) : RT_STR("null");
	rt_term_c(&cli->out, before);
	rt_term_c(&cli->out, from == 0 ? "" : cli->out.utf8 ? "…" : "...");
	rt_term_line(&cli->out, rt_str_at(json.ptr, rt_utf8_cut(json, BYTES)));
	rt_term_c(&cli->out, json.size <= BYTES ? "" : cli->out.utf8 ? "…" : "...");
}

/* "in take "duck":", above the changes in it. */
static void
print_take(rt_cli *cli, const rt_effect *e)
{
	const rt_disc *disc = NULL;
	const rt_take *take = NULL;

	if (rt_project_cell(cli->session.value, e->disc) != NULL &&
	    rt_project_disc(cli->session.value, e->disc, &disc, NULL) == RT_OK)
		take = rt_disc_take(disc, e->sub);
	rt_term_c(&cli->out, "    in take \"");
	if (take != NULL)
		rt_term_line(&cli->out, rt_text_str(take->name));
	else
		rt_term_f(&cli->out, "t%u", e->sub);
	rt_term_c(&cli->out, "\":\n");
}

/* "switched to take "duck"": the active take, or (disc 0) discussion; false: it has no name. */
static bool
print_active(rt_cli *cli, const rt_effect *e)
{
	const rt_project *project = cli->session.value;
	const rt_disc *disc = NULL;
	const rt_take *take = NULL;
	rt_str name = {NULL, 0};
	uint64_t number;

	if (!rt_str_is(e->key, "active") || e->sub != 0 ||
	    !rt_str_u64(e->after, UINT32_MAX, &number))
		return false;
	if (e->disc == 0 && rt_project_cell(project, (uint32_t)number) != NULL)
		name = rt_cell_name(rt_project_cell(project, (uint32_t)number));
	else if (rt_project_cell(project, e->disc) != NULL &&
		 rt_project_disc(project, e->disc, &disc, NULL) == RT_OK)
		take = rt_disc_take(disc, (uint32_t)number);
	if (take != NULL)
		name = rt_text_str(take->name);
	if (name.size == 0)
		return false;
	rt_term_f(&cli->out, "    switched to %s \"", e->disc == 0 ? "discussion" : "take");
	rt_term_line(&cli->out, name);
	rt_term_c(&cli->out, "\"\n");
	return true;
}

static void
print_effect(rt_cli *cli, const rt_effect *e)
{
	rt_term *out = &cli->out;

	switch (e->kind) {
	case RT_EFFECT_SPLICE:
		print_side(cli, e->removed, e->removed_count, e->added, e->added_count, '-');
		print_side(cli, e->added, e->added_count, e->removed, e->removed_count, '+');
		break;
	case RT_EFFECT_NEW:
		rt_term_c(out, e->disc == 0 ? "    new discussion \"" : "    new take \"");
		rt_term_line(out, e->name);
		rt_term_c(out, "\"\n");
		break;
	case RT_EFFECT_SET:
		if (print_active(cli, e))
			break;
		rt_term_c(out, "    set ");
		rt_term_line(out, e->key);
		print_value(cli, ": ", e->before, e->after);
		print_value(cli, " -> ", e->after, e->before);
		rt_term_c(out, "\n");
		break;
	}
}

static void
print_step(rt_cli *cli, const rt_step_row *step)
{
	const rt_record *record = &step->record;
	uint32_t last = 0;
	size_t takes = 0;

	print_row(cli, &(rt_history_row){.seq = step->seq,
					 .at_us = step->at_us,
					 .by = record->by,
					 .what = step->what});
	/* The take is named only where several were changed. */
	for (size_t i = 0; i < record->effect_count; i++) {
		const rt_effect *e = &record->effects[i];

		if (e->kind == RT_EFFECT_SPLICE && (takes == 0 || e->sub != last)) {
			takes++;
			last = e->sub;
		}
	}
	last = 0;
	for (size_t i = 0; i < record->effect_count; i++) {
		const rt_effect *e = &record->effects[i];

		if (e->kind == RT_EFFECT_SPLICE) {
			if (takes > 1 && e->sub != last)
				print_take(cli, e);
			last = e->sub;
		}
		print_effect(cli, e);
	}
	for (size_t i = 0; i < record->move_count; i++)
		rt_term_f(&cli->out, "    step %llu %s\n",
			  (unsigned long long)record->moves[i].step,
			  record->moves[i].direction < 0 ? "undone" : "redone");
}

static void
show_step(rt_cli *cli, const char *word)
{
	rt_scope *s = &cli->s;
	uint64_t seq = rt_cli_number(cli, word, "the number of a step");
	rt_buf *json = rt_scope_buf(s);
	const rt_step_row *step = NULL;

	if (!rt_cli_open(cli, RT_SESSION_LOOK))
		return;

	rt_view view = rt_cli_view(cli);

	if (cli->json)
		RT_TRY(s, rt_view_step(view.engine, view.project, seq, json, &s->error));
	else
		step = rt_step_read(&view, seq);
	if (s->status == RT_NOT_FOUND)
		rt_cli_hint(cli, "Steps: retake history");
	if (cli->json)
		rt_cli_print_json(cli, json);
	else if (step != NULL)
		print_step(cli, step);
}

static void
run_history(rt_cli *cli)
{
	const char *verb = rt_cli_word(cli, 0), *word = rt_cli_word(cli, 1);

	if (verb == NULL)
		list_history(cli);
	else if (strcmp(verb, "show") == 0 && word != NULL)
		show_step(cli, word);
	else if (word == NULL && strspn(verb, "0123456789") == strlen(verb))
		show_step(cli, verb);
	else
		rt_cli_fail(cli, RT_USAGE, "history has no subcommand \"%.40s\"", verb);
}

static const rt_flag history_flags[] = {
	{"limit", 'l', "N", RT_ARG_TEXT, "number of steps; default: 200, with --json all"},
	{"before", 0, "N", RT_ARG_STEP, "only steps before this one"},
	{"all", 'a', NULL, RT_ARG_TEXT, "list all"},
	{"drafts", 0, NULL, RT_ARG_TEXT, "also list changes to unsent text"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_history = {
	.name = "history",
	.alias = "log",
	.group = RT_COMMANDS_UNDOING,
	.max_words = 2,
	.usage = "[--limit N | --all] [--drafts]\n"
		 "show N",
	.summary = "list the steps, or show the changes of one",
	.about =
		"Steps of the discussion and of the project's settings, newest first, including "
		"undone steps. For any step N: show its state (retake show --at-step N), return to "
		"it (retake jump N), revert it (retake revert N).",
	.examples = "retake history\nretake history show 42",
	.flags = history_flags,
	.kinds = {RT_ARG_TEXT, RT_ARG_STEP},
	.run = run_history,
};

/* --- jump, revert --- */

/* The state to which a jump went; a scope leaves the rest unchanged, and step 0 concerns only the
 * discussion (C18). */
static void
add_jumped(const char *scope, uint64_t to, rt_buf *out)
{
	bool project = scope != NULL && strcmp(scope, "project") == 0;

	if (project)
		rt_buf_add_c(out, "Restored the settings and the list of discussions ");
	else if (scope != NULL || to == 0)
		rt_buf_add_c(out, "Restored the discussion to the state ");
	else
		rt_buf_add_c(out, "Restored the state ");
	if (to != 0)
		rt_buf_add_f(out, "right after step %llu.", (unsigned long long)to);
	else
		rt_buf_add_f(out, "before %s first step.", project ? "the" : "its");
}

static void
run_jump(rt_cli *cli)
{
	const char *scope = rt_cli_flag_value(cli, "scope");
	uint64_t to = rt_cli_number(cli, rt_cli_word(cli, 0), "the number of a step");
	rt_buf *now = rt_scope_buf(&cli->s);
	const rt_result *result;
	rt_place before;

	if (!rt_ok(&cli->s))
		rt_cli_hint(cli, "Steps: retake history   To move the head: retake go ENTRY");
	rt_cli_open(cli, RT_SESSION_CHANGE);
	before = cli->session.place;
	result = rt_cli_execute(cli,
				&(rt_request){.op = RT_OP_JUMP,
					      .step = rt_cli_given_number(to),
					      .scope = rt_str_of(scope)},
				1);
	if (cli->json || cli->quiet || result->unchanged) {
		rt_cli_say_result(cli, result, "%s", "");
	} else if (rt_ok(&cli->s)) {
		add_jumped(scope, to, now);
		add_place(cli, before, now);
		/* the row before the jump restores all that it moved (C30) */
		rt_cli_say(cli, rt_scope_str(&cli->s, now), "to return: retake jump %llu",
			   (unsigned long long)result->seq - 1);
		if (result->note != NULL)
			rt_term_indented(&cli->out, rt_text_str(result->note), 2);
	}
}

const rt_command rt_cli_jump = {
	.name = "jump",
	.unchanged = "this is already the current state",
	.group = RT_COMMANDS_UNDOING,
	.min_words = 1,
	.max_words = 1,
	.usage = "N [--scope discussion|project]",
	.summary = "go to the state right after step N",
	.about =
		"Restores the discussion and the project's settings to the state shown by retake "
		"show --at-step N; other discussions are not changed. N can be any step, even an "
		"undone one. With --scope, only the discussion, or only the settings and the "
		"list of discussions, are restored. 0 without --scope restores only the "
		"discussion, to the state before its first step.",
	.examples = "retake jump 42",
	.ops = "jump",
	.flags = scope_flags,
	.kinds = {RT_ARG_STEP},
	.run = run_jump,
};

static const rt_cli_op revert_op = {
	.op = RT_OP_REVERT,
	.fields = {{"seq",
		    .word = 0,
		    .what = "the number of a step",
		    .hint = "Steps: retake history"}},
	.done = "Reverted step {seq}; later steps are kept.",
};

const rt_command rt_cli_revert = {
	.name = "revert",
	.group = RT_COMMANDS_UNDOING,
	.min_words = 1,
	.max_words = 1,
	.usage = "N",
	.summary = "undo a single earlier step, as a new step",
	.about = "Later steps are kept. Refused if a later step changed the same thing again.",
	.examples = "retake revert 17",
	.ops = "revert",
	.kinds = {RT_ARG_STEP},
	.run = rt_cli_run_op,
	.op = &revert_op,
};

/* --- purge --- */

/* "-" reads the secret from standard input, so that it need not be in the shell's history. */
static rt_str
read_secret(rt_cli *cli, const char *text)
{
	rt_str secret;

	if (strcmp(text, "-") != 0)
		return rt_str_of(text);
	secret = rt_cli_read_file(cli, "-");
	secret.size -= secret.size > 0 && secret.ptr[secret.size - 1] == '\n';
	secret.size -= secret.size > 0 && secret.ptr[secret.size - 1] == '\r';
	if (secret.size == 0)
		rt_cli_fail(cli, RT_USAGE, "standard input is empty; there is no text to "
					   "search for");
	return rt_cli_check_utf8(cli, secret);
}

/* Asks, with the entry and how many texts it ever had. */
static void
confirm_entry(rt_cli *cli, const char *address)
{
	char question[400], id[RT_ID_MAX + 1];
	uint32_t entry;
	rt_error error;

	if (!rt_ok(&cli->s) || rt_cli_has(cli, "yes"))
		return;
	entry = rt_cli_entry(cli, address, true);
	if (entry != 0) {
		rt_view view = rt_cli_view(cli);
		size_t count = rt_revisions_list(&view, entry).count;

		RT_TRY(&cli->s, rt_entry_id(cli->session.value, entry, id, &cli->s.error));
		if (rt_ok(&cli->s))
			snprintf(question, sizeof(question),
				 "Permanently remove entry %.200s and its %zu text%s? This cannot be undone.",
				 rt_cli_where(cli, id), count, RT_CLI_S(count));
	} else {
		/* The id of an entry that is in no take any more is left to the engine. */
		rt_status st = rt_cli_recover(cli, &error);

		if (st == RT_NOMEM || st == RT_IO || st == RT_CORRUPT)
			(void)rt_scope_fail_as(&cli->s, st, &error);
		snprintf(question, sizeof(question),
			 "Permanently remove the texts of %.100s? This cannot be undone.", address);
	}
	rt_cli_confirm(cli, question);
}

static void
run_purge(rt_cli *cli)
{
	const char *address = rt_cli_word(cli, 0), *text = rt_cli_flag_value(cli, "text");
	rt_request request = {.op = RT_OP_PURGE};
	const rt_result *result;

	if ((address == NULL) == (text == NULL))
		rt_cli_fail(cli, RT_USAGE, "purge needs an ENTRY, or --text TEXT");
	if (text != NULL && rt_ok(&cli->s))
		request.text = rt_cli_given(read_secret(cli, text));
	rt_cli_open(cli, RT_SESSION_CHANGE);
	if (text != NULL) {
		rt_cli_confirm(cli, "Permanently remove every text that contains this? This cannot "
				    "be undone.");
	} else {
		confirm_entry(cli, address);
		if (!rt_ok(&cli->s) && cli->s.status == RT_USAGE)
			rt_cli_hint(cli, "To confirm: --yes   To remove a text: retake purge --text TEXT");
		if (rt_ok(&cli->s))
			request.entry = rt_cli_request_entry(cli, address);
	}
	result = rt_cli_execute(cli, &request, 1);
	if (cli->json) {
		rt_cli_say_result(cli, result, "%s", "");
	} else if (rt_ok(&cli->s) && !cli->quiet) {
		if (result->unchanged)
			rt_term_c(&cli->out, "No text contains it.\n");
		else
			rt_term_f(&cli->out,
				  "Purged %llu text%s permanently; this cannot be undone.\n",
				  (unsigned long long)result->count, RT_CLI_S(result->count));
		if (result->note != NULL)
			rt_term_indented(&cli->out, rt_text_str(result->note), 2);
	}
}

static const rt_flag purge_flags[] = {
	{"text", 't', "TEXT", RT_ARG_TEXT,
	 "every text that contains TEXT (\"-\": read it from standard input)"},
	{"yes", 'y', NULL, RT_ARG_TEXT, "do not ask for confirmation"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_purge = {
	.name = "purge",
	.group = RT_COMMANDS_UNDOING,
	.max_words = 1,
	.usage = "ENTRY [--yes]\n"
		 "--text TEXT [--yes]",
	.summary = "permanently remove a secret: the only change without undo",
	.about =
		"The texts are erased from the entry, its earlier versions, all takes, the history "
		"and the search index; an empty entry remains. Earlier backups still contain them.",
	.examples = "retake purge :4\nretake purge --text sk-abc123 --yes\n"
		    "retake purge --text - --yes < secret.txt",
	.ops = "purge",
	.flags = purge_flags,
	.kinds = {RT_ARG_ENTRY},
	.run = run_purge,
};

/* --- reset --- */

static const rt_cli_op reset_op = {
	.op = RT_OP_PROJECT_RESET,
	.done = "Reset the project to one empty discussion; its content is still in the history.",
};

const rt_command rt_cli_reset = {
	.name = "reset",
	.group = RT_COMMANDS_UNDOING,
	.usage = "",
	.summary = "empty the project; one undo restores everything",
	.examples = "retake reset",
	.ops = "project.reset",
	.run = rt_cli_run_op,
	.op = &reset_op,
};
