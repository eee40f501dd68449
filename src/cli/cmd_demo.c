/* SPDX-License-Identifier: MIT
 *
 * demo: a tour in a temporary store, without a model and without a network. Each step explains the
 * next command in a sentence, prints it as a user would type it, and runs it. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/demo.h"
#include "store/store_open.h"
#include "codec/request_json.h"

enum { STEP_WORDS = 8, SHOWN_LINES = 24 };

typedef struct tour {
	rt_cli *cli;
	size_t steps;
	rt_buf *json;
} tour;

/* --- the store --- */

/* DIR/demo.db, or retake-demo.db where stores are kept. */
static void
choose_store(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	rt_session *session = &cli->session;
	const char *dir = rt_cli_word(cli, 0), *db = rt_cli_flag_value(cli, "db");
	struct stat info;

	if (db != NULL) {
		if (rt_store_file(db) != NULL && stat(db, &info) == 0) {
			rt_cli_hint(cli, "Leave out --db, or name a new file.");
			rt_cli_fail(cli, RT_REFUSED,
				    "the tour needs its own store, and %s already exists",
				    db);
		}
		session->path_named = true;
		rt_buf_add_c(&session->address, db);
	} else if (dir != NULL) {
		if (mkdir(dir, 0700) != 0 && errno != EEXIST)
			rt_cli_fail(cli, RT_IO, "cannot create the directory %s: %s", dir,
				    strerror(errno));
		rt_buf_add_f(&session->address, "%s/demo.db", dir);
	} else {
		if (RT_TRY(s, rt_host_data_dir(&session->address, &s->error)) != RT_OK)
			rt_cli_hint(cli, "Name a directory: retake demo DIR");
		rt_buf_add_c(&session->address, "/retake-demo.db");
	}
	session->path_given = true;
	(void)rt_scope_str(s, &session->address);
}

/* A fresh project with the story. Changes of an earlier tour stay in its history. */
static void
tell_story(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	bool quiet = cli->quiet;
	yyjson_val *story = rt_json_parse(s, rt_str_of(rt_cli_demo_story));
	size_t count = yyjson_arr_size(story);
	yyjson_val **values = rt_scope_array(s, count, sizeof(*values));

	if (!rt_cli_open(cli, RT_SESSION_CHANGE))
		return;
	cli->quiet = true;
	if (cli->session.value->seq > 0)
		rt_cli_execute(cli, &(rt_request){.op = RT_OP_PROJECT_RESET}, 1);
	for (rt_json_iter it = rt_json_items(story); rt_ok(s) && rt_json_next(&it);)
		values[it.index] = it.value;

	rt_request *requests = rt_requests_read(s, values, count);

	if (requests != NULL)
		rt_cli_execute(cli, requests, count);
	cli->quiet = quiet;
	cli->changed = false;
}

/* --- steps --- */

/* Runs a command line in a separate scope and captures its output in out. */
static rt_status
run_kept(rt_cli *cli, char *const *words, size_t count, rt_buf *out)
{
	rt_args kept = cli->args, args = {0};
	rt_term term = cli->out;
	bool json = cli->json;
	const char *capacity[STEP_WORDS + 2];
	rt_scope outer;
	rt_error error;
	rt_status st;

	args.words = capacity;
	st = rt_args_parse(cli->commands, (int)count, words, &args, NULL);
	RT_ASSERT(st == RT_OK);
	RT_ASSERT(args.command != NULL);
	rt_cli_use_args(cli, args);
	cli->json = false;
	cli->out.kept = true;
	if (cli->out.columns > 20)
		cli->out.columns -= 2; /* it is shown two columns to the right */
	rt_buf_init(&cli->out.buf, cli->alloc, RT_BUF_UNLIMITED);
	if (json)
		cli->out.color = false;
	rt_cli_begin_part(cli, &outer);
	args.command->run(cli);
	st = rt_cli_end_part(cli, &outer, &error);
	*out = cli->out.buf;
	term.scratch = cli->out.scratch;
	if (term.error == 0)
		term.error = cli->out.error;
	cli->out = term;
	rt_cli_use_args(cli, kept);
	cli->json = json;
	if (st != RT_OK)
		(void)rt_scope_fail_as(&cli->s, st, &error);
	return st;
}

static void
print_output(rt_cli *cli, const rt_buf *text)
{
	size_t at = 0, lines = 0;

	while (at < text->size && lines++ < SHOWN_LINES) {
		const char *end = memchr(text->ptr + at, '\n', text->size - at);
		size_t size = end == NULL ? text->size - at : (size_t)(end - text->ptr) - at + 1;

		rt_term_c(&cli->out, "  ");
		/* It was filtered when it was made, and may contain our styles. */
		rt_buf_add(&cli->out.buf, text->ptr + at, size);
		at += size;
	}
	if (at < text->size)
		rt_term_c(&cli->out, cli->out.utf8 ? "  \xE2\x80\xA6\n" : "  ...\n");
}

/* The explanation; empty if it continues the previous one. */
static void
say_about(tour *t, const char *about)
{
	rt_term *out = &t->cli->out;
	size_t columns = out->columns;
	rt_buf *text = rt_scope_buf(&t->cli->s);

	if (about == NULL)
		return;
	rt_buf_add_f(text, "%zu. %s", ++t->steps, about);
	rt_term_c(out, "\n");
	rt_term_style(out, RT_STYLE_BOLD);
	out->columns = columns == 0 || columns > 90 ? 80 : columns;
	rt_term_indented(out, rt_buf_str(text), 0);
	out->columns = columns;
	rt_term_style(out, RT_STYLE_NONE);
}

static void
wait_for_enter(rt_cli *cli)
{
	char answer[8];

	if (!rt_cli_has(cli, "step") || cli->json || !rt_host_can_ask() || cli->no_input)
		return;
	rt_term_flush(&cli->out);
	rt_term_c(&cli->err, "\n[Enter: next] ");
	rt_term_flush(&cli->err);
	if (!rt_host_ask(answer, sizeof(answer)) || answer[0] == 'q')
		rt_cli_fail(cli, RT_INTERRUPTED, "you left the tour");
}

static void
step(tour *t, const char *about, const char *const *words)
{
	rt_cli *cli = t->cli;
	char *line[STEP_WORDS + 2];
	rt_buf *command = rt_scope_buf(&cli->s), output;
	size_t count = 1;
	rt_status st;

	if (!rt_ok(&cli->s))
		return;
	line[0] = (char *)(uintptr_t) "retake";
	for (; words[count - 1] != NULL; count++)
		line[count] = (char *)(uintptr_t)words[count - 1];
	line[count] = NULL;
	for (size_t i = 0; i < count; i++) {
		rt_buf_add_c(command, i > 0 ? " " : "");
		rt_args_add_quoted(command, line[i]);
	}
	st = run_kept(cli, line, count, &output);
	if (cli->json) {
		rt_json_open(t->json, NULL, '{');
		rt_json_put_str(t->json, "about", rt_str_of(about));
		rt_json_put_str(t->json, "command", rt_buf_str(command));
		rt_json_put_str(t->json, "output", rt_buf_str(&output));
		rt_json_close(t->json, '}');
	} else {
		say_about(t, about);
		rt_term_style(&cli->out, RT_STYLE_GREEN);
		rt_term_c(&cli->out, "$ ");
		rt_term_text(&cli->out, rt_buf_str(command));
		rt_term_style(&cli->out, RT_STYLE_NONE);
		rt_term_c(&cli->out, "\n");
		print_output(cli, &output);
	}
	rt_buf_deinit(&output);
	if (st == RT_OK)
		wait_for_enter(cli);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void
walk(tour *t)
{
	char before_edit[24];

	step(t,
	     "Here is a story written together with a model. It has three takes: a discussion is "
	     "a tree, and a take is one branch of it. The star marks the active take.",
	     WORDS("tree"));
	snprintf(before_edit, sizeof(before_edit), "%llu",
		 (unsigned long long)t->cli->session.value->seq);
	step(t,
	     "Every entry can be edited, the model's as well as yours. Later entries are not "
	     "changed.",
	     WORDS("edit", ":5",
		   "A girl of seven, dry in the pouring rain, holding out a logbook."));
	step(t,
	     "The next request is built from what you see, so it contains the edit.",
	     WORDS("context", "--provider", "openai", "--pretty"));
	step(t,
	     "Go back to the knock and say something else: this starts a new take, and the old "
	     "one is kept.",
	     WORDS("go", "the-knock"));
	step(t, NULL, WORDS("add", "-r", "User", "It is the postman. He is early."));
	step(t, "Now there are four takes.", WORDS("takes"));
	step(t, "Every change can be undone, however far back, even after a restart.",
	     WORDS("undo", "2"));
	step(t, "And redone.", WORDS("redo", "2"));
	step(t,
	     "You can see an earlier state without going there: this is the entry before the "
	     "edit.",
	     WORDS("show", ":5", "--take", "lighthouse", "--at-step", before_edit));
	step(t, "Every change is in the history. Nothing is ever lost, unless you purge it.",
	     WORDS("history"));
}

static void
finish(tour *t)
{
	rt_cli *cli = t->cli;
	rt_buf *out = rt_scope_buf(&cli->s);

	if (!rt_ok(&cli->s))
		return;
	if (cli->json) {
		rt_json_close(t->json, ']');
		rt_json_open(out, NULL, '{');
		rt_json_put_c(out, "store", rt_session_shown(&cli->session));
		rt_json_put_raw(out, "steps", rt_scope_str(&cli->s, t->json));
		rt_json_close(out, '}');
		rt_cli_print_json(cli, out);
		return;
	}
	rt_args_add_quoted(out, rt_session_shown(&cli->session));
	rt_term_c(&cli->out, "\nTo experiment in this store:\n\n  export RETAKE_DB=");
	rt_term_text(&cli->out, rt_buf_str(out));
	rt_term_c(&cli->out,
		  "\n  retake takes diff rescue comedy\n  retake edit --all    the whole take in "
		  "your editor\n  retake export --format markdown\n  retake help\nTo use your "
		  "own store: unset RETAKE_DB, then retake add \"Hello\".\n");
}

static void
run_demo(rt_cli *cli)
{
	tour t = {.cli = cli, .json = rt_scope_buf(&cli->s)};

	choose_store(cli);
	cli->session.hooks_off = true; /* this story cannot have been intended */
	tell_story(cli);
	if (!rt_ok(&cli->s))
		return;
	rt_json_open(t.json, NULL, '[');
	if (!cli->json) {
		rt_term_style(&cli->out, RT_STYLE_BOLD);
		rt_term_c(&cli->out, "A short tour of Retake\n");
		rt_term_style(&cli->out, RT_STYLE_NONE);
	}
	walk(&t);
	finish(&t);
}

static const rt_flag demo_flags[] = {
	{"step", 0, NULL, RT_ARG_TEXT, "wait for Enter after each step"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_demo = {
	.name = "demo",
	.group = RT_COMMANDS_LEARNING,
	.max_words = 1,
	.usage = "[DIR] [--step]",
	.summary = "take a tour in a separate store, without a model or a network",
	.about =
		"Creates a store for experiments: DIR/demo.db, or retake-demo.db in the "
		"directory of the default store. Running it again restarts the story there; your changes remain "
		"in the history.",
	.examples = "retake demo\nretake demo /tmp/tour",
	.flags = demo_flags,
	.kinds = {RT_ARG_DIR},
	.run = run_demo,
};
