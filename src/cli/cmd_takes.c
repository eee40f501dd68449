/* SPDX-License-Identifier: MIT
 *
 * takes: lists, switches, renames, removes and compares takes; and diff, which is short for the
 * last of these. */
#include "cli/cli.h"
#include "app/screen.h"
#include "base/edits.h"
#include "view/view.h"
#include "view/view_trie.h"

#include <stdio.h>

enum { MODELS_MAX = 200 /* takes whose models are shown: each is a text to read */ };

/* --- the list --- */

static void
list_take(rt_cli *cli, const rt_take_row *row, rt_str model, size_t width)
{
	rt_term *out = &cli->out;
	size_t used = rt_screen_width(row->name);
	bool all = rt_cli_has(cli, "all");

	rt_term_c(out, row->active ? "* " : "  ");
	rt_term_style(out, row->active ? RT_STYLE_BOLD : RT_STYLE_NONE);
	rt_term_name(out, row->name, rt_term_name_columns(out));
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_spaces(out, used < width ? width - used : 0);
	rt_term_f(out, "  %4zu entr%s", row->entries, RT_CLI_IES(row->entries));
	if (row->entries == 1 && (cli->verbose || all || model.size > 0))
		rt_term_spaces(out, 2);
	rt_term_style(out, RT_STYLE_DIM);
	if (cli->verbose && row->updated_us != 0) {
		rt_buf when;

		rt_buf_init(&when, cli->alloc, 64);
		rt_host_add_local_time(&when, row->updated_us, false);
		rt_term_c(out, "  ");
		rt_term_line(out, rt_buf_str(&when));
		rt_buf_deinit(&when);
	}
	if (model.size > 0) {
		rt_term_c(out, "  ");
		rt_term_line(out, model);
	}
	if (cli->verbose && row->git_commit.size > 0) {
		rt_str commit = row->git_commit;

		rt_term_c(out, "  git ");
		rt_term_line(out, rt_str_at(commit.ptr, commit.size < 10 ? commit.size : 10));
	}
	if (all)
		rt_term_f(out, "  t%u%s", row->number, row->absent ? "  (deleted)" : "");
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, "\n");
}

/* The models of the last entries, as far as they are replies; NULL if all are the same or unknown. */
static const rt_str *
models_of(rt_cli *cli, rt_take_rows rows)
{
	rt_scope *s = &cli->s;
	rt_view view = rt_cli_view(cli);
	rt_str *models = rows.count > 1 && rows.count <= MODELS_MAX
				 ? rt_scope_array(s, rows.count, sizeof(*models)) : NULL;
	bool differ = false;

	for (size_t i = 0; models != NULL && rt_ok(s) && i < rows.count; i++) {
		rt_buf *model = rt_scope_buf(s);

		view.place.take = rows.items[i].number;
		if (rows.items[i].entries > 0 && !rows.items[i].absent) {
			const rt_entry_row *e = rt_entries_next(rt_entries_open(
				&view, &(rt_window){.from = rows.items[i].entries - 1}));

			if (e != NULL)
				rt_body_add_model(model, e->body);
		}
		models[i] = rt_scope_str(s, model);
		differ = differ || !rt_str_eq(models[i], models[0]);
	}
	return differ && rt_ok(s) ? models : NULL;
}

static void
list_takes(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	bool all = rt_cli_has(cli, "all");
	rt_view view = rt_cli_view(cli);
	rt_buf *json = rt_scope_buf(s);
	size_t width = 0, most = rt_term_name_columns(&cli->out);

	if (cli->json) {
		RT_TRY(s, rt_view_takes(view.engine, view.project, view.place.disc, all, json,
					&s->error));
		rt_cli_print_json(cli, json);
		return;
	}

	rt_take_rows rows = rt_takes_list(
		&view, &(rt_takes_options){.all = all, .times = cli->verbose, .grouped = true});

	const rt_str *models = models_of(cli, rows);

	for (size_t i = 0; i < rows.count; i++) {
		size_t used = rt_screen_width(rows.items[i].name);

		if (used > width)
			width = used < most ? used : most;
	}
	for (size_t i = 0; i < rows.count; i++)
		list_take(cli, &rows.items[i], models != NULL ? models[i] : RT_STR(""), width);
}

/* --- changing --- */

static void
rename_take(rt_cli *cli, const char *old, const char *name)
{
	const rt_take *active = rt_cli_open(cli, RT_SESSION_CHANGE) ? rt_cli_take(cli) : NULL;

	cli->unchanged = "the take already has this name";
	if (active != NULL)
		rt_cli_do(cli,
			  &(rt_request){.op = RT_OP_TAKE_RENAME,
					.target = name != NULL ? rt_str_of(old)
							       : rt_text_str(active->name),
					.name = rt_str_of(name != NULL ? name : old)},
			  "The take is now called \"{name}\".");
}

/* --- comparing --- */

static void
diff_line(rt_cli *cli, rt_str line, char sign)
{
	rt_term_f(&cli->out, "%c   ", sign);
	rt_term_text(&cli->out, line);
	rt_term_c(&cli->out, "\n");
}

/* A text in full, each of its lines after the sign. */
static void
diff_lines(rt_cli *cli, rt_str text, char sign)
{
	rt_str rest = rt_str_trim(text), line;

	while (rt_str_split(&rest, '\n', &line))
		diff_line(cli, line, sign);
}

static void
diff_entry(rt_cli *cli, const rt_entry_row *e, char sign)
{
	rt_term *out = &cli->out;
	rt_buf text, line, model;

	rt_buf_init(&model, cli->alloc, 4096);
	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&line, cli->alloc, 4096);
	rt_entry_add_text(&text, e);
	rt_screen_add_preview(&line, rt_buf_str(&text), out->columns > 60 ? out->columns - 24 : 80,
			      out->utf8);
	rt_term_style(out, sign == '-' ? RT_STYLE_RED : RT_STYLE_GREEN);
	rt_term_f(out, "%c ", sign);
	rt_term_line(out, e->role);
	rt_term_c(out, "  ");
	rt_term_line(out, rt_cli_short_id(cli, e->id));
	rt_body_add_model(&model, e->body);
	if (model.size > 0) {
		rt_term_c(out, "  (");
		rt_term_line(out, rt_buf_str(&model));
		rt_term_c(out, ")");
	}
	if (cli->verbose) {
		rt_term_c(out, "\n");
		diff_lines(cli, rt_buf_str(&text), sign);
		rt_term_style(out, RT_STYLE_NONE);
	} else {
		rt_term_c(out, "  ");
		rt_term_text(out, rt_buf_str(&line));
		rt_term_style(out, RT_STYLE_NONE);
		rt_term_c(out, "\n");
	}
	rt_buf_deinit(&model);
	rt_buf_deinit(&text);
	rt_buf_deinit(&line);
}

/* Prints the words of two entries, with [-those of the first take-] and {+those of the second+},
 * or in colour. */
static void
diff_words(rt_cli *cli, const rt_edits *edits)
{
	static const char *const open[] = {"[-", "{+"}, *const close[] = {"-]", "+}"};
	static const rt_style styles[] = {RT_STYLE_RED, RT_STYLE_GREEN};
	const rt_edit_side *sides[] = {&edits->a, &edits->b};
	size_t at[2] = {0, 0};
	rt_term *out = &cli->out;

	while (at[0] < edits->a.count || at[1] < edits->b.count) {
		for (size_t k = 0; k < 2; k++) {
			const rt_edit_side *side = sides[k];

			if (at[k] == side->count || !side->items[at[k]].is_changed)
				continue;
			rt_term_style(out, styles[k]);
			rt_term_c(out, out->color ? "" : open[k]);
			for (; at[k] < side->count && side->items[at[k]].is_changed; at[k]++)
				rt_term_text(out, side->items[at[k]].text);
			rt_term_c(out, out->color ? "" : close[k]);
			rt_term_style(out, RT_STYLE_NONE);
		}
		for (; at[0] < edits->a.count && at[1] < edits->b.count &&
		       !edits->a.items[at[0]].is_changed && !edits->b.items[at[1]].is_changed;
		     at[0]++, at[1]++)
			rt_term_text(out, edits->a.items[at[0]].text);
	}
	rt_term_c(out, "\n");
}

/* The lines of an edited entry that differ, with -v all of them. */
static void
diff_text(rt_cli *cli, rt_str was, rt_str is)
{
	rt_edits lines = {.s = &cli->s}, words = {.s = &cli->s};
	size_t i = 0, j = 0;

	rt_edits_lines(&lines, was, is);
	while (rt_ok(&cli->s) && (i < lines.a.count || j < lines.b.count)) {
		bool removed = i < lines.a.count && lines.a.items[i].is_changed;
		bool added = j < lines.b.count && lines.b.items[j].is_changed;

		if (removed && added) {
			rt_edits_words(&words, lines.a.items[i].text, lines.b.items[j].text);
			if (rt_edits_are_similar(&words)) {
				rt_term_c(&cli->out, "    ");
				diff_words(cli, &words);
				i++;
				j++;
				continue;
			}
		}
		if (removed || added) {
			rt_term_style(&cli->out, removed ? RT_STYLE_RED : RT_STYLE_GREEN);
			diff_line(cli, removed ? lines.a.items[i++].text : lines.b.items[j++].text,
				  removed ? '-' : '+');
			rt_term_style(&cli->out, RT_STYLE_NONE);
			continue;
		}
		if (cli->verbose)
			diff_line(cli, lines.a.items[i].text, ' ');
		i++;
		j++;
	}
}

/* An entry that both takes contain, with different texts. */
static void
diff_changed(rt_cli *cli, const rt_entry_row *was, const rt_entry_row *is)
{
	rt_term *out = &cli->out;
	rt_buf *a = rt_scope_buf(&cli->s), *b = rt_scope_buf(&cli->s);

	rt_entry_add_text(a, was);
	rt_entry_add_text(b, is);
	rt_str before = rt_scope_str(&cli->s, a), after = rt_scope_str(&cli->s, b);

	if (rt_str_eq(before, after)) { /* the role, or blocks that are not text */
		diff_entry(cli, was, '-');
		diff_entry(cli, is, '+');
		return;
	}
	rt_term_c(out, "~ ");
	rt_term_line(out, is->role);
	rt_term_c(out, "  ");
	rt_term_line(out, rt_cli_short_id(cli, is->id));
	rt_term_c(out, "\n");
	diff_text(cli, before, after);
}

/* The ids of a take's entries from one on, a line each. */
static rt_str
ids_from(rt_cli *cli, const rt_take *take, size_t from)
{
	rt_scope *s = &cli->s;
	rt_buf *ids = rt_scope_buf(s);
	char id[RT_ID_MAX + 1];
	rt_slot slot;

	for (size_t at = from; rt_ok(s) && at < rt_seq_count(take->slots); at++)
		if (RT_TRY(s, rt_seq_get(take->slots, at, &slot, &s->error)) == RT_OK &&
		    RT_TRY(s, rt_entry_id(cli->session.value, slot.entry, id, &s->error)) == RT_OK)
			rt_buf_add_f(ids, "%s\n", id);
	return rt_scope_str(s, ids);
}

static void
say_shared(rt_cli *cli, size_t count, const char *after)
{
	rt_term_style(&cli->out, RT_STYLE_DIM);
	rt_term_f(&cli->out, "%zu entr%s in both%s\n", count, RT_CLI_IES(count), after);
	rt_term_style(&cli->out, RT_STYLE_NONE);
}

static rt_entry_cursor *
entries_of(rt_cli *cli, const rt_take *take, size_t from)
{
	rt_view view = rt_cli_view(cli);

	view.place.take = take->number;
	return rt_ok(&cli->s) ? rt_entries_open(&view, &(rt_window){.from = from}) : NULL;
}

/* The entries after the common beginning, compared by id: an entry that only one of the takes
 * deleted does not make all later ones differ. */
static void
diff_rests(rt_cli *cli, const rt_diff *diff)
{
	rt_edits ids = {.s = &cli->s};
	size_t i = 0, j = 0, shared = 0;

	rt_edits_lines(&ids, ids_from(cli, diff->a, diff->common), ids_from(cli, diff->b, diff->common));

	rt_entry_cursor *a = entries_of(cli, diff->a, diff->common);
	rt_entry_cursor *b = entries_of(cli, diff->b, diff->common);

	while (rt_ok(&cli->s) && (i < ids.a.count || j < ids.b.count)) {
		bool removed = i < ids.a.count && ids.a.items[i].is_changed;
		bool added = !removed && j < ids.b.count && ids.b.items[j].is_changed;
		const rt_entry_row *was = added ? NULL : rt_entries_next(a);
		const rt_entry_row *is = removed ? NULL : rt_entries_next(b);
		bool same = was != NULL && is != NULL && rt_same_revision(&was->slot, &is->slot);

		if (shared > 0 && !same)
			say_shared(cli, shared, ":");
		shared = same ? shared + 1 : 0;
		if (was != NULL && is != NULL && !same)
			diff_changed(cli, was, is);
		else if (!same && (was != NULL || is != NULL))
			diff_entry(cli, was != NULL ? was : is, removed ? '-' : '+');
		i += !added;
		j += !removed;
	}
	if (shared > 0)
		say_shared(cli, shared, "");
}

static void
print_diff(rt_cli *cli, uint32_t first, uint32_t second, const char *a, const char *b)
{
	rt_term *out = &cli->out;
	rt_view view = rt_cli_view(cli);
	rt_diff diff = rt_diff_open(&view, first, second);

	if (diff.a == NULL)
		return;
	if (first == second) {
		rt_cli_hint(cli, "Compare the active take with another one: retake diff TAKE   "
				 "Takes: retake takes");
		rt_cli_fail(cli, RT_USAGE, "take \"%s\" cannot be compared with itself", a);
		return;
	}
	if (!rt_cli_has(cli, "no-pager"))
		rt_term_page(out);
	rt_term_f(out, "--- %s\n+++ %s\n", a, b);
	say_shared(cli, diff.common, ", then:");
	while (rt_diff_next(&view, &diff))
		diff_changed(cli, diff.was, diff.is);
	diff_rests(cli, &diff);
}

/* b NULL: the viewed take. */
static void
diff_takes(rt_cli *cli, const char *a, const char *b)
{
	rt_scope *s = &cli->s;
	rt_str disc = rt_session_discussion(&cli->session);
	rt_buf *json = rt_scope_buf(s);
	rt_place first, second;

	if (!rt_cli_open(cli, RT_SESSION_LOOK))
		return;
	first = second = cli->session.place;
	RT_TRY(s, rt_resolve_place(cli->session.value, disc, rt_str_of(a), &first, &s->error));
	if (b != NULL)
		RT_TRY(s, rt_resolve_place(cli->session.value, disc, rt_str_of(b), &second,
					   &s->error));
	if (!rt_ok(s)) {
		rt_cli_hint(cli, "Takes: retake takes");
		return;
	}
	if (b == NULL) {
		const rt_take *take = rt_cli_take(cli);

		if (take == NULL)
			return;
		b = take->name->ptr;
	}
	if (!cli->json) {
		print_diff(cli, first.take, second.take, a, b);
		return;
	}
	RT_TRY(s, rt_view_diff(cli->session.engine, cli->session.value, cli->session.place.disc,
			       first.take, second.take, json, &s->error));
	rt_cli_print_json(cli, json);
}

/* --- the commands --- */

/* A word that takes does not know, or too few or too many words after a known one. */
static void
fail_for_words(rt_cli *cli, const char *verb)
{
	static const char *const verbs[][2] = {{"list", ""},
					       {"switch", "TAKE"},
					       {"rename", "[TAKE] NAME"},
					       {"rm", "TAKE"},
					       {"diff", "TAKE [TAKE]"}};
	size_t best = SIZE_MAX, near = 0, words = cli->args.word_count - 1;

	for (size_t i = 0; i < 5; i++) {
		size_t distance = rt_args_distance(verb, verbs[i][0]);

		if (distance == 0) {
			rt_cli_hint(cli, "Usage: retake takes %s %s   More: retake help takes",
				    verb, verbs[i][1]);
			rt_cli_fail(cli, RT_USAGE, "takes %s needs %s; %zu argument%s given", verb,
				    verbs[i][1], words, RT_CLI_S(words));
			return;
		}
		if (distance < best) {
			best = distance;
			near = i;
		}
	}
	if (rt_args_is_near(best, strlen(verb)))
		rt_cli_hint(cli, "Did you mean: retake takes %s %s   More: retake help takes",
			    verbs[near][0], verbs[near][1]);
	else
		rt_cli_hint(cli, "Takes: retake takes   More: retake help takes");
	rt_cli_fail(cli, RT_USAGE,
		    "takes has no subcommand \"%.40s\"; use list, switch, rename, rm or diff",
		    verb);
}

static void
switch_take(rt_cli *cli, const char *name)
{
	if (strcmp(name, "-") == 0)
		name = rt_cli_previous(cli, false);
	cli->unchanged = "the take is already active";
	if (rt_ok(&cli->s))
		rt_cli_do(cli, &(rt_request){.op = RT_OP_TAKE_SWITCH, .target = rt_str_of(name)},
			  "Now in take \"{take}\".");
}

static void
run_takes(rt_cli *cli)
{
	const char *verb = rt_cli_word(cli, 0), *a = rt_cli_word(cli, 1), *b = rt_cli_word(cli, 2);
	size_t count = cli->args.word_count;
	bool is_rename = verb != NULL && (strcmp(verb, "rename") == 0 || strcmp(verb, "name") == 0);

	if (verb == NULL || strcmp(verb, "list") == 0) {
		if (rt_cli_open(cli, RT_SESSION_LOOK))
			list_takes(cli);
	} else if (strcmp(verb, "switch") == 0 && count == 2) {
		switch_take(cli, a);
	} else if (is_rename && count >= 2) {
		rename_take(cli, a, b);
	} else if (strcmp(verb, "rm") == 0 && count == 2) {
		rt_cli_do(cli, &(rt_request){.op = RT_OP_TAKE_DELETE, .target = rt_str_of(a)},
			  "Deleted take \"{target}\" (still in history).");
	} else if (strcmp(verb, "diff") == 0 && count >= 2) {
		diff_takes(cli, a, b);
	} else {
		fail_for_words(cli, verb);
	}
}

static const rt_flag takes_flags[] = {
	{"all", 'a', NULL, RT_ARG_TEXT, "include deleted takes"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_takes = {
	.name = "takes",
	.alias = "take",
	.group = RT_COMMANDS_BRANCHING,
	.traits = RT_COMMAND_AT_STEP,
	.max_words = 3,
	.usage = "[list]\n"
		 "switch TAKE\n"
		 "rename [TAKE] NAME\n"
		 "rm TAKE\n"
		 "diff TAKE [TAKE]",
	.summary = "list, switch, rename, delete and compare takes",
	.about =
		"The active take has a star; switch - goes back to the previous one. Takes with "
		"the same base are listed together. With -v, the list also shows when each take was last "
		"changed, and the git commit at that time. diff shows the entries after the point "
		"where two takes diverge, and the edited ones before it (~), with -v their "
		"complete texts.",
	.examples =
		"retake takes\nretake takes -v\nretake takes switch main\nretake takes rename plan-b\n"
		"retake takes diff main duck",
	.ops = "take.switch take.rename take.delete",
	.flags = takes_flags,
	.kinds = {RT_ARG_TEXT, RT_ARG_TAKE, RT_ARG_TAKE},
	.run = run_takes,
};

/* The other take that has the most entries in common with the one in view, the oldest of several; 0:
 * there is none, and the scope has failed. */
static uint32_t
nearest_take(rt_cli *cli)
{
	rt_view view = rt_cli_view(cli);
	const rt_disc *disc = rt_cli_disc(cli);
	const rt_take *take = rt_cli_take(cli);
	uint32_t nearest = 0;
	size_t most = 0;

	for (uint32_t i = 1; rt_ok(&cli->s) && i <= rt_disc_take_count(disc); i++) {
		if (i == take->number || !rt_disc_take(disc, i)->present)
			continue;
		rt_diff diff = rt_diff_open(&view, i, take->number);

		if (diff.a != NULL && (nearest == 0 || diff.common > most)) {
			nearest = i;
			most = diff.common;
		}
	}
	if (nearest == 0 && rt_ok(&cli->s)) {
		rt_cli_fail(cli, RT_NOT_FOUND, "there is no other take to compare with");
		rt_cli_hint(cli,
			    "Versions of an entry: retake revisions ENTRY   Steps: retake history");
	}
	return nearest;
}

static void
run_diff(rt_cli *cli)
{
	const char *a = rt_cli_word(cli, 0);
	uint32_t nearest;

	if (a == NULL && rt_cli_open(cli, RT_SESSION_LOOK) && (nearest = nearest_take(cli)) != 0)
		a = rt_disc_take(rt_cli_disc(cli), nearest)->name->ptr;
	if (rt_ok(&cli->s))
		diff_takes(cli, a, rt_cli_word(cli, 1));
}

const rt_command rt_cli_diff = {
	.name = "diff",
	.group = RT_COMMANDS_BRANCHING,
	.traits = RT_COMMAND_AT_STEP,
	.max_words = 2,
	.usage = "[TAKE [TAKE]]",
	.summary = "compare two takes",
	.about =
		"A single take is compared with the active one. Without arguments, the active take "
		"is compared with the one it most recently diverged from. For an edited entry (~), "
		"the changed lines are shown, with [-removed-] and {+added+} words; every other "
		"entry is one line, with -v in full.",
	.examples = "retake diff\nretake diff main duck\nretake diff -v main duck",
	.kinds = {RT_ARG_TAKE},
	.run = run_diff,
};
