/* SPDX-License-Identifier: MIT
 *
 * ls, projects, status: the contents of the store, and the present place. */
#include "cli/cli.h"
#include "app/screen.h"
#include "log/history.h"
#include "view/view.h"

#include <stdio.h>
#include <string.h>

/* --- ls --- */

static bool
has_text(rt_str text, const char *query)
{
	size_t size = query == NULL ? 0 : strlen(query);

	for (size_t i = 0; i + size <= text.size; i++)
		if (rt_str_eq_nocase(rt_str_at(text.ptr + i, size), rt_str_at(query, size)))
			return true;
	return size == 0;
}

/* An archived one only if it was requested, or is the active one. */
static bool
matches(rt_cli *cli, const rt_disc_row *row, const char *query)
{
	const char *track = rt_cli_flag_value(cli, "track"), *tag = rt_cli_flag_value(cli, "tag");
	bool found = has_text(row->name, query) || has_text(row->title, query);

	for (size_t i = 0; i < row->tag_count; i++)
		found = found || has_text(row->tags[i], query);
	if (rt_cli_has(cli, "deleted") ? !row->absent
	    : rt_cli_has(cli, "archived")
		    ? !row->archived
		    : row->archived && !row->active && !rt_cli_has(cli, "all"))
		return false;
	if (tag != NULL && !rt_disc_row_has_tag(row, rt_str_of(tag)))
		return false;
	return found &&
	       rt_disc_row_is_of(row, track != NULL ? rt_str_of(track) : rt_str_at(NULL, 0));
}

static void
list_row(rt_cli *cli, const rt_disc_row *row, size_t width)
{
	rt_term *out = &cli->out;
	size_t used = rt_screen_width(row->name);
	bool all = rt_cli_has(cli, "all") || rt_cli_has(cli, "deleted");
	rt_buf when;

	rt_buf_init(&when, cli->alloc, 256);
	if (row->has_updated)
		rt_host_add_local_time(&when, row->updated_us, false);
	rt_term_c(out, row->active ? "* " : "  ");
	rt_term_style(out, row->active ? RT_STYLE_BOLD : RT_STYLE_NONE);
	rt_term_name(out, row->name, rt_term_name_columns(out));
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_spaces(out, used < width ? width - used : 0);
	rt_term_f(out, "  %4zu entr%s", row->entries, row->entries == 1 ? "y  " : "ies");
	rt_term_f(out, "  %2zu take%s", row->takes, RT_CLI_S(row->takes));
	if (row->takes == 1 && (when.size > 0 || all))
		rt_term_spaces(out, 1);
	rt_term_style(out, RT_STYLE_DIM);
	if (when.size > 0)
		rt_term_f(out, "  %s", when.ptr);
	if (row->track.size > 0) {
		rt_term_c(out, "  track ");
		rt_term_name(out, row->track, rt_term_name_columns(out));
	}
	rt_term_c(out, row->pinned ? "  pinned" : "");
	rt_term_c(out, row->archived ? "  archived" : "");
	for (size_t i = 0; i < row->tag_count; i++) {
		rt_term_c(out, "  #");
		rt_term_line(out, row->tags[i]);
	}
	if (all)
		rt_term_f(out, "  d%u%s", row->number, row->absent ? "  (deleted)" : "");
	rt_term_style(out, RT_STYLE_NONE);
	if (!rt_str_eq(row->title, row->name)) {
		rt_term_c(out, "  ");
		rt_term_line(out, row->title);
	}
	rt_term_c(out, "\n");
	rt_buf_deinit(&when);
}

/* "is bound to the track "x"", after "and" if there is an earlier condition. */
static void
add_condition(rt_buf *out, size_t begin, const char *words, const char *value, const char *without)
{
	if (value == NULL)
		return;
	rt_buf_add_c(out, out->size > begin ? " and " : " ");
	if (*value == 0)
		rt_buf_add_c(out, without);
	else
		rt_buf_add_f(out, "%s \"%s\"", words, value);
}

/* No discussion was found. */
static void
say_none(rt_cli *cli, const char *query)
{
	const char *track = rt_cli_flag_value(cli, "track"), *tag = rt_cli_flag_value(cli, "tag");
	bool is_deleted = rt_cli_has(cli, "deleted"), is_archived = !is_deleted && rt_cli_has(cli, "archived");
	rt_buf *out = rt_scope_buf(&cli->s);

	if (query == NULL && track == NULL && tag == NULL) {
		rt_cli_advise(cli, is_deleted	 ? "No discussion was deleted.\n"
				   : is_archived ? "No discussion is archived.\n"
						 : "No discussions yet. Start one: retake new NAME\n");
		return;
	}
	rt_buf_add_f(out, "No %sdiscussion", is_deleted ? "deleted " : is_archived ? "archived " : "");
	size_t begin = out->size;
	add_condition(out, begin, "is bound to the track", track, "is without a track");
	add_condition(out, begin, "has the tag", tag, "has no tags");
	add_condition(out, begin, "matches", query, "matches \"\"");
	rt_cli_advise(cli, "%.*s.%s\n", RT_STR_ARG(rt_scope_str(&cli->s, out)),
		      is_deleted || is_archived || rt_cli_has(cli, "all") ? "" : "   Archived ones: retake ls --archived");
}

static void
list_rows(rt_cli *cli, rt_disc_rows rows, const char *query)
{
	size_t width = 0, shown = 0, most = rt_term_name_columns(&cli->out);

	for (size_t i = 0; i < rows.count; i++) {
		size_t used = rt_screen_width(rows.items[i].name);

		if (matches(cli, &rows.items[i], query) && used > width)
			width = used < most ? used : most;
	}
	for (size_t i = 0; i < rows.count; i++) {
		if (!matches(cli, &rows.items[i], query))
			continue;
		list_row(cli, &rows.items[i], width);
		shown++;
	}
	if (shown == 0)
		say_none(cli, query);
}

static void
run_ls(rt_cli *cli)
{
	const char *query = rt_cli_word(cli, 0);
	rt_buf *json = rt_scope_buf(&cli->s);
	rt_disc_rows rows;
	rt_view view;

	if (!rt_cli_open(cli, RT_SESSION_LOOK))
		return;
	view = rt_cli_view(cli);
	rows = rt_discs_list(&view, rt_cli_has(cli, "all") || rt_cli_has(cli, "deleted"));
	if (!rt_ok(&cli->s))
		return;
	if (!cli->json) {
		list_rows(cli, rows, query);
		return;
	}
	rt_json_open(json, NULL, '[');
	for (size_t i = 0; i < rows.count; i++)
		if (matches(cli, &rows.items[i], query))
			rt_disc_row_write(json, &rows.items[i]);
	rt_json_close(json, ']');
	rt_cli_print_json(cli, json);
}

static const rt_flag ls_flags[] = {
	{"all", 'a', NULL, RT_ARG_TEXT, "include deleted discussions and those from before a "
					"reset"},
	{"deleted", 0, NULL, RT_ARG_TEXT, "only deleted discussions; -d d3 show reads one, revert STEP "
					  "restores it"},
	{"archived", 0, NULL, RT_ARG_TEXT, "only archived discussions, which are otherwise left "
					   "out"},
	{"tag", 0, "TAG", RT_ARG_TEXT, "only those with this tag or one nested in it; \"\": without tags"},
	{"track", 't', "NAME", RT_ARG_TEXT, "only those that are bound to this track; \"\": to none"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_ls = {
	.name = "ls",
	.alias = "list",
	.group = RT_COMMANDS_CATALOGUE,
	.traits = RT_COMMAND_AT_STEP,
	.max_words = 1,
	.usage = "[QUERY] [--tag TAG] [--track NAME] [--archived] [--deleted] [--all]",
	.summary = "list the discussions",
	.about = "Pinned ones come first. With QUERY, only those with QUERY in their name, title or "
		 "tags. A star marks the active one.",
	.examples = "retake ls\nretake ls --tag work\nretake ls --track release-2\nretake ls --json",
	.flags = ls_flags,
	.kinds = {RT_ARG_DISC},
	.run = run_ls,
};

/* --- tracks --- */

static void
list_tracks(rt_cli *cli, rt_track_rows rows)
{
	rt_term *out = &cli->out;
	size_t width = 0, most = rt_term_name_columns(out);

	for (size_t i = 0; i < rows.count; i++) {
		size_t used = rt_screen_width(rows.items[i].name);

		if (used > width)
			width = used < most ? used : most;
	}
	for (size_t i = 0; i < rows.count; i++) {
		const rt_track_row *row = &rows.items[i];
		size_t used = rt_screen_width(row->name);

		rt_term_c(out, row->active ? "* " : "  ");
		rt_term_name(out, row->name, most);
		rt_term_spaces(out, used < width ? width - used : 0);
		rt_term_f(out, "  %2zu discussion%s, %zu entr%s\n", row->discussions,
			  RT_CLI_S(row->discussions), row->entries, RT_CLI_IES(row->entries));
	}
	if (rows.count == 0)
		rt_term_c(out, "No discussion is bound to a track.   Bind this one: retake track NAME\n");
}

static void
run_tracks(rt_cli *cli)
{
	rt_buf *json = rt_scope_buf(&cli->s);
	rt_view view;

	if (!rt_cli_open(cli, RT_SESSION_LOOK))
		return;
	view = rt_cli_view(cli);
	if (cli->json) {
		rt_view_tracks(&view, json);
		rt_cli_print_json(cli, json);
		return;
	}
	rt_track_rows rows = rt_tracks_list(&view);
	if (rt_ok(&cli->s))
		list_tracks(cli, rows);
}

const rt_command rt_cli_tracks = {
	.name = "tracks",
	.group = RT_COMMANDS_CATALOGUE,
	.traits = RT_COMMAND_AT_STEP,
	.usage = "",
	.summary = "list the tracks that discussions are bound to",
	.about = "A track groups discussions. A star marks the track of the active discussion.",
	.examples = "retake tracks\nretake ls --track release-2\nretake track --toggle release-2",
	.run = run_tracks,
};

/* --- projects --- */

typedef struct projects {
	rt_cli *cli;
	rt_buf *json;
	uint64_t current;
} projects;

static bool
list_project(void *ctx, const rt_store_row *row)
{
	projects *p = ctx;
	bool active = row->number == p->current;

	if (rt_store_is_reserved(row->data))
		return true;
	rt_json_open(p->json, NULL, '{');
	rt_json_put_str(p->json, "name", row->data);
	rt_json_put_bool(p->json, "active", active);
	rt_json_close(p->json, '}');
	if (!p->cli->json) {
		rt_term_c(&p->cli->out, active ? "* " : "  ");
		rt_term_line(&p->cli->out, row->data);
		rt_term_c(&p->cli->out, "\n");
	}
	return true;
}

static void
run_projects(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	projects p = {.cli = cli, .json = rt_scope_buf(s)};
	rt_store *store;
	rt_status st;

	if (!rt_cli_open_store(cli, RT_SESSION_LOOK)) {
		if (s->status == RT_NOT_FOUND)
			rt_cli_hint(cli, "The first change creates it: retake add TEXT");
		return;
	}
	/* The others are listed even if the current project does not exist or is damaged. */
	if (rt_cli_open(cli, RT_SESSION_LOOK))
		p.current = rt_engine_project_number(cli->session.engine);
	else if (s->status == RT_NOT_FOUND || s->status == RT_CORRUPT || s->status == RT_TOO_NEW)
		rt_cli_recover(cli, NULL);
	if (!rt_ok(s))
		return;
	store = cli->session.store;
	rt_json_open(p.json, NULL, '[');
	st = store->ops->read(store, rt_rows_all(RT_STORE_PROJECTS, 0), list_project, &p, &s->error);
	rt_scope_note(s, st);
	rt_json_close(p.json, ']');
	if (cli->json)
		rt_cli_print_json(cli, p.json);
}

const rt_command rt_cli_projects = {
	.name = "projects",
	.group = RT_COMMANDS_CATALOGUE,
	.usage = "",
	.summary = "list the projects in the store",
	.about =
		"A project has its own discussions, settings and history. Choose one with -p "
		"NAME; the first change creates it.",
	.examples = "retake projects\nretake -p thesis add \"Where to begin?\"",
	.run = run_projects,
};

/* --- status --- */

/* Is usage counted? In a large project only on request. */
static bool
counts_usage(const rt_cli *cli, bool is_project)
{
	return !is_project || rt_cli_has(cli, "usage") ||
	       cli->session.value->next_entry <= RT_USAGE_ENTRIES_MAX;
}

static void
status_json(rt_cli *cli, const rt_disc *disc, const rt_take *take, const char *head)
{
	uint64_t of_project = cli->session.value->history.current;
	rt_buf *json = rt_scope_buf(&cli->s);

	rt_json_open(json, NULL, '{');
	rt_json_put_c(json, "store", cli->session.store->place);
	rt_json_put_bool(json, "exists", !cli->session.is_scratch);
	rt_json_put_str(json, "project", rt_session_project(&cli->session));
	rt_json_put_str(json, "discussion", rt_cli_disc_name(cli));
	rt_json_put_str(json, "take", rt_text_str(take->name));
	rt_json_put_u64(json, "takes", rt_disc_present_count(disc));
	rt_json_put_u64(json, "entries", rt_seq_count(take->slots));
	rt_json_put_c(json, "head", head[0] != 0 ? head : NULL);
	rt_json_put_u64(json, "step", cli->session.value->seq);
	rt_json_put_u64(json, "current",
			disc->history.current > of_project ? disc->history.current : of_project);
	for (int i = 0; i < 2; i++)
		if (counts_usage(cli, i == 1)) {
			rt_view view = rt_cli_view(cli);
			rt_usage_totals totals = rt_view_usage(&view, i == 1);

			rt_usage_add_json(&totals, i == 1 ? "project_usage" : "usage", json);
		}
	rt_json_close(json, '}');
	rt_cli_print_json(cli, json);
}

static void
usage_text(rt_cli *cli)
{
	rt_view view = rt_cli_view(cli);
	rt_term *out = &cli->out;

	for (int i = 0; i < 2; i++) {
		rt_buf *words = rt_scope_buf(&cli->s);

		rt_term_c(out, i == 0 ? "Usage       " : "  project   ");
		if (!counts_usage(cli, i == 1)) {
			rt_cli_advise(cli, "To count it: retake status --usage");
			rt_term_c(out, "\n");
			continue;
		}
		rt_usage_totals totals = rt_view_usage(&view, i == 1);
		rt_usage_add_text(&totals, words);
		rt_term_line(out, rt_scope_str(&cli->s, words));
		rt_term_c(out, "\n");
	}
}

static void
status_text(rt_cli *cli, const rt_disc *disc, const rt_take *take, const char *head,
	    size_t head_at)
{
	rt_term *out = &cli->out;
	size_t count = rt_seq_count(take->slots), takes = rt_disc_present_count(disc);
	uint64_t step = 0; /* the one that "history" marks */

	RT_TRY(&cli->s, rt_history_newest(cli->session.engine, cli->session.value, disc->number, &step,
					  &cli->s.error));
	rt_term_c(out, "Project     ");
	rt_term_line(out, rt_session_project(&cli->session));
	rt_term_c(out, "\nDiscussion  ");
	rt_term_style(out, RT_STYLE_BOLD);
	rt_term_line(out, rt_cli_disc_name(cli));
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, "\nTake        ");
	rt_term_line(out, rt_text_str(take->name));
	rt_term_f(out, "  (%zu take%s)\nEntries     %zu\nHead        ", takes, RT_CLI_S(takes),
		  count);
	if (head[0] == 0)
		rt_term_c(out, count == 0 ? "no entries yet" : "before the first entry");
	else
		rt_term_line(out, rt_str_of(head));
	if (head_at < count)
		rt_term_f(out, "  :%zu of %zu; the next entry starts a new take", head_at, count);
	rt_term_f(out, "\nStep        %llu\n", (unsigned long long)step);
	usage_text(cli);
	rt_term_c(out, "Store       ");
	if (cli->session.is_scratch) {
		rt_term_line(out, rt_str_of(rt_session_shown(&cli->session)));
		rt_cli_advise(cli, "  (does not exist yet)\n\nStart: retake add TEXT, retake "
				   "import FILE or retake demo");
	} else {
		rt_term_line(out, rt_str_of(cli->session.store->place));
	}
	rt_term_c(out, "\n");
}

static void
run_status(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	const rt_disc *disc = rt_cli_open(cli, RT_SESSION_LOOK) ? rt_cli_disc(cli) : NULL;
	const rt_take *take = disc != NULL ? rt_cli_take(cli) : NULL;
	const char *head = "";
	size_t head_at;

	if (take == NULL)
		return;
	head_at = rt_seq_count(take->slots);
	if (take->number == disc->active)
		RT_TRY(s, rt_disc_head_at(cli->session.value, disc, &head_at, &s->error));
	if (head_at > 0)
		head = rt_cli_id_at(cli, head_at - 1);
	if (!rt_ok(s))
		return;
	if (cli->json)
		status_json(cli, disc, take, head);
	else
		status_text(cli, disc, take, head, head_at);
}

static const rt_flag status_flags[] = {
	{"usage", 0, NULL, RT_ARG_TEXT, "count the tokens and the cost of a large project, too"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_status = {
	.name = "status",
	.group = RT_COMMANDS_LOOKING,
	.traits = RT_COMMAND_AT_STEP,
	.usage = "",
	.summary = "show the project, discussion, take, head, usage and store",
	.examples = "retake status",
	.flags = status_flags,
	.run = run_status,
};
