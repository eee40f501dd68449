/* SPDX-License-Identifier: MIT
 *
 * search: words in all discussions, or in one. */
#include "base/clock_host.h"
#include "cli/cli.h"
#include "app/screen.h"
#include "cli/embedding.h"
#include "view/search.h"

enum { LIMIT = 100, INDENT = 4, PROGRESS_US = 500000, EMBEDDED = 256 /* new texts, before a search */ };

typedef struct watching {
	rt_cli *cli;
	int64_t begun_us;
	bool is_shown; /* the line of the progress */
} watching;

/* The first search of a large store builds the index. The next output replaces the line. */
static void
show_progress(void *ctx, unsigned percent, rt_hits found)
{
	watching *w = ctx;
	rt_cli *cli = w->cli;

	(void)found;
	if (!cli->err.is_tty || cli->quiet ||
	    cli->env->now_us(cli->env->ctx) - w->begun_us < PROGRESS_US)
		return;
	rt_term_f(&cli->err, "Searching and updating the index … %u%%", percent);
	rt_buf_add_byte(&cli->err.buf, '\r'); /* in a text it would be filtered */
	rt_term_flush(&cli->err);
	w->is_shown = true;
}

static void
end_progress(const watching *w)
{
	if (!w->is_shown)
		return;
	rt_term_f(&w->cli->err, "%50s", "");
	rt_buf_add_byte(&w->cli->err.buf, '\r');
	rt_term_flush(&w->cli->err);
}

/* A snippet made safe for a terminal, with its marks kept. */
static void
clean_snippet(rt_buf *line, rt_str snippet)
{
	bool inside = false;
	rt_buf plain;
	rt_str run;

	rt_buf_init(&plain, line->alloc, RT_BUF_UNLIMITED);
	while (rt_highlight_next(&snippet, &inside, &run)) {
		rt_buf_clear(&plain);
		rt_screen_add_line(&plain, run);
		/* A line has no white space at its ends; between two runs it counts. */
		if (run.ptr[0] == ' ' && line->size > 0)
			rt_buf_add_byte(line, ' ');
		rt_buf_add_c(line, inside ? "\001" : "");
		rt_buf_add_str(line, rt_buf_str(&plain));
		rt_buf_add_c(line, inside ? "\002" : "");
		if (run.size > 1 && run.ptr[run.size - 1] == ' ' && snippet.size > 0)
			rt_buf_add_byte(line, ' ');
	}
	rt_buf_deinit(&plain);
}

/* A snippet on lines that fit the terminal. Matches are between \001 and \002, which have no width
 * with colour, and one column each (as stars) without. */
static void
print_snippet(rt_cli *cli, const rt_hit *hit)
{
	rt_term *out = &cli->out;
	size_t columns = out->columns > INDENT + 10 ? out->columns - INDENT : SIZE_MAX;
	bool inside = false;
	rt_buf plain, line;

	rt_buf_init(&plain, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&line, cli->alloc, RT_BUF_UNLIMITED);
	rt_hit_add_plain(&plain, hit);
	clean_snippet(&line, rt_buf_str(&plain));
	for (rt_str left = rt_buf_str(&line); left.size > 0;) {
		size_t skip = 0, size = columns == SIZE_MAX
						? left.size
						: rt_screen_break(left, columns, &skip);
		rt_str piece = rt_str_at(left.ptr, size), run;

		rt_term_spaces(out, INDENT);
		if (inside && out->color)
			rt_term_style(out, RT_STYLE_MATCH);
		while (piece.size > 0) {
			bool was = inside;

			(void)rt_highlight_next(&piece, &inside, &run);
			if (was != inside && out->color)
				rt_term_style(out, inside ? RT_STYLE_MATCH : RT_STYLE_NONE);
			else if (was != inside)
				rt_term_c(out, "*");
			rt_term_text(out, run);
		}
		rt_term_style(out, RT_STYLE_NONE);
		rt_term_c(out, "\n");
		left = rt_str_skip(left, size + skip);
	}
	rt_buf_deinit(&line);
	rt_buf_deinit(&plain);
}

/* The heading of a discussion: its title, and its name if that is different. */
static void
print_discussion(rt_cli *cli, const rt_hit *hit)
{
	rt_view view = rt_cli_view(cli);
	rt_str title = rt_disc_title(&view, hit->disc);
	rt_term *out = &cli->out;

	rt_term_style(out, RT_STYLE_BOLD);
	rt_term_line(out, title.size > 0 ? title : hit->discussion);
	rt_term_style(out, RT_STYLE_NONE);
	if (title.size > 0 && !rt_str_eq(title, hit->discussion)) {
		rt_term_c(out, "  (");
		rt_term_line(out, hit->discussion);
		rt_term_c(out, ")");
	}
	rt_term_c(out, "\n");
}

static void
print_hit(rt_cli *cli, const rt_hit *hit)
{
	rt_term *out = &cli->out;

	rt_term_c(out, "  ");
	rt_term_line(out, hit->at > 0 ? hit->take : RT_STR("(deleted)"));
	rt_term_c(out, "  ");
	rt_term_line(out, rt_cli_short_id(cli, hit->id));
	rt_term_c(out, "  ");
	rt_term_style(out, rt_cli_role_style(hit->role));
	rt_term_line(out, rt_cli_role_label(cli, hit->role));
	rt_term_style(out, RT_STYLE_NONE);
	if (hit->has_time) {
		rt_buf when;

		rt_buf_init(&when, cli->alloc, 64);
		rt_host_add_local_time(&when, hit->time.us, false);
		rt_term_style(out, RT_STYLE_DIM);
		rt_term_c(out, "  ");
		rt_term_line(out, rt_buf_str(&when));
		rt_term_style(out, RT_STYLE_NONE);
		rt_buf_deinit(&when);
	}
	if (hit->is_past && hit->at > 0)
		rt_term_c(out, "  (earlier version)");
	rt_term_c(out, "\n");
	print_snippet(cli, hit);
}

/* How to show a hit and continue from it. */
static void
advise_show(rt_cli *cli, const rt_hit *hit)
{
	rt_str id = rt_cli_short_id(cli, hit->id);
	rt_buf *place = rt_scope_buf(&cli->s);

	if (hit->disc != cli->session.place.disc) {
		rt_buf_add_c(place, "-d ");
		rt_args_add_quoted(place, rt_scope_copy(&cli->s, hit->discussion).ptr);
		rt_buf_add_c(place, " ");
	}
	rt_str where = rt_scope_str(&cli->s, place);

	if (rt_ok(&cli->s))
		rt_cli_advise(cli,
			      "\nShow it: retake %.*sshow %.*s   Continue from it: "
			      "retake go %.*s\n",
			      RT_STR_ARG(where), RT_STR_ARG(id), RT_STR_ARG(id));
}

/* The hits by discussion, in the order of the best hit of each. */
static void
print_hits(rt_cli *cli, const rt_hit *hits, size_t count)
{
	bool *is_printed = rt_scope_array(&cli->s, count, sizeof(*is_printed));
	const char *separator = "";

	for (size_t i = 0; is_printed != NULL && rt_ok(&cli->s) && i < count; i++) {
		if (is_printed[i])
			continue;
		rt_term_c(&cli->out, separator);
		separator = "\n";
		print_discussion(cli, &hits[i]);
		for (size_t k = i; k < count; k++)
			if (hits[k].disc == hits[i].disc) {
				is_printed[k] = true;
				print_hit(cli, &hits[k]);
			}
	}
	for (size_t i = 0; !cli->quiet && i < count; i++)
		if (hits[i].at > 0) {
			advise_show(cli, &hits[i]);
			break;
		}
}

/* What the words of the query mean. New texts are sent first, if they are few. */
static rt_meaning
read_meaning(rt_cli *cli, rt_str query)
{
	rt_embed_state state = {0};
	rt_meaning meaning = {0};
	rt_embedder *e = rt_cli_embedder(cli);
	rt_str words = rt_search_words(&cli->s, query);

	if (!rt_ok(&cli->s))
		return meaning;
	if (cli->session.store->is_read_only)
		RT_TRY(&cli->s, rt_embed_state_read(rt_embedder_name(e), cli->session.engine, &state,
						&cli->s.error));
	else
		rt_cli_embed(cli, e, EMBEDDED, &state);
	meaning = rt_embed_text(e, &cli->s, words);
	if (rt_ok(&cli->s) && state.done < state.all)
		rt_cli_note(cli, "%llu of %llu texts are not searched yet. To embed them: retake index",
			    (unsigned long long)(state.all - state.done), (unsigned long long)state.all);
	return meaning;
}

/* Was a discussion of the project imported? */
static bool
has_imports(const rt_view *view)
{
	const rt_disc *disc = NULL;

	for (size_t i = rt_project_disc_count(view->project); i > 0; i--)
		if (RT_TRY(view->scope, rt_project_disc(view->project, (uint32_t)i, &disc,
							&view->scope->error)) == RT_OK &&
		    rt_fields_get(disc->fields, RT_STR("source")).size > 0)
			return true;
	return false;
}

/* There were no matches: earlier versions and deleted entries may have some. */
static void
say_none(rt_cli *cli, const rt_view *view, rt_search search)
{
	rt_buf *query = rt_scope_buf(&cli->s);
	rt_str asked = search.query;

	rt_term_c(&cli->out, "No matches for \"");
	rt_term_line(&cli->out, asked);
	rt_term_c(&cli->out, "\".\n");
	if (rt_str_find(asked, RT_STR(":"), 0) == SIZE_MAX && !has_imports(view))
		rt_cli_advise(cli, "  Only this store is searched. Conversations of other programs: retake "
				   "scan\n");
	if (rt_str_find(asked, RT_STR("past:"), 0) != SIZE_MAX)
		return;
	rt_buf_add_f(query, "%.*s past:yes", RT_STR_ARG(asked));
	search.query = rt_scope_str(&cli->s, query);
	search.limit = 1;
	if (rt_ok(&cli->s) && rt_search_run(view, &search).count > 0)
		rt_term_c(&cli->out, "  Earlier versions, deleted or undone entries match: add past:yes\n");
	(void)rt_cli_recover(cli, NULL);
}

/* A word of the command line. A shell removes the quotes of in:"two words": among several words, the
 * value of a filter gets them back. */
static void
add_word(rt_cli *cli, size_t number, rt_buf *query)
{
	const char *word = rt_cli_word(cli, number);
	size_t name = strspn(word, "abcdefghijklmnopqrstuvwxyz");

	if (cli->args.word_count > 1 && name > 0 && word[name] == ':' && strchr(word, ' ') != NULL &&
	    strchr(word, '"') == NULL)
		rt_buf_add_f(query, "%.*s:\"%s\"", (int)name, word, word + name + 1);
	else
		rt_buf_add_c(query, word);
}

static void
run_search(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	rt_buf *query = rt_scope_buf(s), *json = rt_scope_buf(s);
	rt_meaning meaning;
	watching w = {.cli = cli, .begun_us = cli->env->now_us(cli->env->ctx)};
	rt_search search = {.progress = show_progress,
			    .zone = rt_clock_zone_us,
			    .ctx = &w,
			    .role = rt_str_of(rt_cli_flag_value(cli, "role")),
			    .limit = rt_cli_flag_number(cli, "limit", "maximum number of results", LIMIT)};

	for (size_t i = 0; i < cli->args.word_count; i++) {
		rt_buf_add_c(query, i > 0 ? " " : "");
		add_word(cli, i, query);
	}
	search.query = rt_scope_str(s, query);
	if (!rt_cli_open(cli, RT_SESSION_MAINTAIN))
		return;
	if (rt_session_discussion(&cli->session).size > 0)
		search.disc = cli->session.place.disc;
	if (rt_cli_has(cli, "similar")) {
		meaning = read_meaning(cli, search.query);
		search.meaning = &meaning;
		if (!rt_ok(s))
			return;
	}

	size_t limit = search.limit;

	search.limit += !cli->json && search.meaning == NULL; /* are there more? */

	rt_view view = rt_cli_view(cli);
	rt_hits hits = rt_search_run(&view, &search);

	end_progress(&w);
	if (cli->json) {
		rt_hits_write(json, hits);
		rt_cli_print_json(cli, json);
		return;
	}
	if (!rt_ok(s))
		return;
	if (!rt_cli_has(cli, "no-pager"))
		rt_term_page(&cli->out);
	print_hits(cli, hits.items, hits.count < limit ? hits.count : limit);
	if (hits.count == 0)
		say_none(cli, &view, search);
	else if (hits.count > limit)
		rt_term_f(&cli->out, "There are more matches: -l %zu\n", limit * 10);
}

static const rt_flag search_flags[] = {
	{"role", 'r', "ROLE", RT_ARG_ROLE, "only entries with this role"},
	{"similar", 's', NULL, RT_ARG_TEXT, "also by meaning, with the embedding_model of config.toml"},
	{"limit", 'l', "N", RT_ARG_TEXT, "number of results; default: 100"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_search = {
	.name = "search",
	.alias = "grep",
	.group = RT_COMMANDS_LOOKING,
	.traits = RT_COMMAND_AT_STEP,
	.min_words = 1,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "TEXT… [after:DATE] [before:DATE] [-s] [-r ROLE] [-d DISCUSSION]",
	.summary = "search all discussions",
	.about =
		"Finds entries that contain all the words, including in tool calls; the last word "
		"can be a prefix. Also: \"a phrase\", -without, begin*, NEAR(one two, 5), /regular "
		"expression/, role:AI, in:DISCUSSION, tag:TAG, program:claude-code, model:NAME, "
		"label:TEXT, edited:yes, after:2026-11-18, after:7d, after:yesterday, after:\"last "
		"week\", before:DATE, and past:yes for earlier versions and deleted entries. A "
		"query without words (\"\") finds nothing. Matches are shown between stars, or in "
		"colour. With --similar, entries with a similar meaning are found as well; those "
		"that rank high by meaning, by the words, or by both come "
		"first. Phrases in quotes, -without, expressions and filters apply to all of them.",
	.examples = "retake search sqlite journal\nretake search -d db-choice error\n"
		    "retake search after:2026-11-18 before:2026-11-25 sqlite\n"
		    "retake search after:7d sqlite\n"
		    "retake search 'NEAR(write lock) model:gpt edited:yes'\n"
		    "retake search '/time-?out/ in:server'",
	.flags = search_flags,
	.kinds = {RT_ARG_TEXT},
	.run = run_search,
};
