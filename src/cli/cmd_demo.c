/* SPDX-License-Identifier: MIT
 *
 * demo: a tour in a store of its own, without a model and without a network. Each step
 * says in a sentence what is about to be seen, prints the command that somebody would
 * type, and runs that very command. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/demo.h"
#include "codec/request_json.h"

enum { STEP_WORDS = 8, SHOWN_LINES = 24 };

typedef struct tour {
	rt_cli *cli;
	size_t steps;
	uint64_t before_edit;
	rt_buf json;
} tour;

/* --- the store --- */

/* DIR/demo.db, or retake-demo.db where stores are kept. */
static rt_status
choose_store(rt_cli *cli)
{
	const char *dir = rt_cli_word(cli, 0), *db = rt_cli_flag_value(cli, "db");
	struct stat info;
	rt_status st;

	if (db != NULL) {
		if (stat(db, &info) == 0) {
			rt_old_hint(cli, RT_REFUSED,
				    "Leave out --db, or name a file that is not there.");
			return rt_old_fail(cli, RT_REFUSED,
					   "the tour keeps to a store of its own, and "
					   "%s is there already",
					   db);
		}
		cli->session.path_named = true;
		rt_buf_add_c(&cli->session.path, db);
	} else if (dir != NULL) {
		if (mkdir(dir, 0700) != 0 && errno != EEXIST)
			return rt_old_fail(cli, RT_IO, "the folder %s cannot be made: %s", dir,
					   strerror(errno));
		rt_buf_add_f(&cli->session.path, "%s/demo.db", dir);
	} else {
		st = rt_host_data_dir(&cli->session.path, &cli->error);
		if (st != RT_OK)
			return rt_old_hint(cli, st, "Name a folder: retake demo DIR");
		rt_buf_add_c(&cli->session.path, "/retake-demo.db");
	}
	cli->session.path_given = true;
	return rt_old_buf(cli, &cli->session.path);
}

/* Carry out requests as one step; the first failure is kept. */
static rt_status
apply(rt_cli *cli, const rt_request *requests, size_t count)
{
	rt_result results[64] = {0};
	rt_status st;

	RT_ASSERT(count <= 64);
	st = rt_apply(cli->session.engine, NULL, requests, count, count > 1, rt_str_of(NULL),
		      rt_str_of(NULL), results);
	for (size_t i = 0; i < count; i++) {
		if (st != RT_OK && results[i].status == st)
			cli->error = results[i].error;
		rt_result_deinit(&results[i]);
	}
	return st;
}

/* A fresh project with the story in it. What an earlier tour left stays in its history. */
static rt_status
tell_story(rt_cli *cli)
{
	rt_json_doc *doc = NULL;
	yyjson_val *values[64], *value;
	size_t i, count;
	rt_scope s;
	rt_status st = rt_old_open(cli, RT_SESSION_CHANGE);

	if (st == RT_OK && cli->session.value->seq > 0)
		st = apply(cli, &(rt_request){.op = RT_OP_PROJECT_RESET}, 1);
	if (st == RT_OK)
		st = rt_json_read(cli->alloc, rt_str_of(rt_cli_demo_story), &doc, &cli->error);
	if (st != RT_OK)
		return st;
	RT_ASSERT(yyjson_arr_size(rt_json_root(doc)) <= 64);
	yyjson_arr_foreach(rt_json_root(doc), i, count, value)
		values[i] = value;
	rt_scope_init(&s, cli->alloc);
	rt_request *requests = rt_requests_read(&s, values, count);
	if (requests != NULL)
		(void)RT_TRY(&s, apply(cli, requests, count));
	if (s.status == RT_NOMEM)
		(void)rt_old_nomem(cli);
	st = s.status;
	rt_scope_deinit(&s);
	rt_json_free(doc);
	return st == RT_OK ? rt_old_look(cli) : st;
}

/* --- steps --- */

/* Run a command line of our own with everything it prints kept in out. */
static rt_status
run_kept(rt_cli *cli, char *const *words, size_t count, rt_buf *out)
{
	rt_args kept = cli->args, args;
	rt_term term = cli->out;
	bool json = cli->json;
	const char *room[STEP_WORDS + 2];
	rt_status st;

	memset(&args, 0, sizeof(args));
	args.words = room;
	st = rt_args_parse(cli->commands, (int)count, words, &args, &cli->error);
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
	if (args.command->run_status != NULL)
		st = args.command->run_status(cli);
	else {
		args.command->run(cli);
		st = rt_cli_recover(cli, &cli->error);
	}
	*out = cli->out.buf;
	term.scratch = cli->out.scratch;
	cli->out = term;
	rt_cli_use_args(cli, kept);
	cli->json = json;
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
		/* It went through the filter when it was made, and may hold our styles. */
		rt_buf_add(&cli->out.buf, text->ptr + at, size);
		at += size;
	}
	if (at < text->size)
		rt_term_c(&cli->out, cli->out.utf8 ? "  \xE2\x80\xA6\n" : "  ...\n");
}

/* What is about to be seen; nothing where it goes on with the same. */
static void
say_about(tour *t, const char *about)
{
	rt_term *out = &t->cli->out;
	size_t columns = out->columns;
	rt_buf text;

	if (about == NULL)
		return;
	rt_buf_init(&text, t->cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_f(&text, "%zu. %s", ++t->steps, about);
	rt_term_c(out, "\n");
	rt_term_style(out, RT_STYLE_BOLD);
	out->columns = columns == 0 || columns > 90 ? 80 : columns;
	rt_term_indented(out, rt_buf_str(&text), 0);
	out->columns = columns;
	rt_term_style(out, RT_STYLE_NONE);
	rt_buf_deinit(&text);
}

static rt_status
step(tour *t, const char *about, const char *const *words)
{
	rt_cli *cli = t->cli;
	char *line[STEP_WORDS + 2];
	rt_buf command, output;
	size_t count = 1, i;
	rt_status st;

	line[0] = (char *)(uintptr_t) "retake";
	for (; words[count - 1] != NULL; count++)
		line[count] = (char *)(uintptr_t)words[count - 1];
	line[count] = NULL;
	rt_buf_init(&command, cli->alloc, 8192);
	for (i = 0; i < count; i++) {
		rt_buf_add_c(&command, i > 0 ? " " : "");
		rt_args_add_quoted(&command, line[i]);
	}
	st = run_kept(cli, line, count, &output);
	if (cli->json) {
		rt_json_add_comma(&t->json);
		rt_buf_add_c(&t->json, "{\"about\":");
		rt_json_add_string(&t->json, rt_str_of(about));
		rt_json_add_key(&t->json, "command");
		rt_json_add_string(&t->json, rt_buf_str(&command));
		rt_json_add_key(&t->json, "output");
		rt_json_add_string(&t->json, rt_buf_str(&output));
		rt_buf_add_byte(&t->json, '}');
	} else {
		say_about(t, about);
		rt_term_style(&cli->out, RT_STYLE_GREEN);
		rt_term_c(&cli->out, "$ ");
		rt_term_text(&cli->out, rt_buf_str(&command));
		rt_term_style(&cli->out, RT_STYLE_NONE);
		rt_term_c(&cli->out, "\n");
		print_output(cli, &output);
	}
	rt_buf_deinit(&command);
	rt_buf_deinit(&output);
	if (st == RT_OK && rt_cli_has(cli, "step") && !cli->json && rt_host_can_ask() &&
	    !cli->no_input) {
		char answer[8];

		rt_term_flush(&cli->out);
		rt_term_c(&cli->err, "\n[Enter: next] ");
		rt_term_flush(&cli->err);
		if (!rt_host_ask(answer, sizeof(answer)) || answer[0] == 'q')
			return rt_old_fail(cli, RT_INTERRUPTED, "the tour was left");
	}
	return st;
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static rt_status
walk(tour *t)
{
	rt_cli *cli = t->cli;
	char at_op[24];
	rt_status st;

	st = step(
		t,
		"Here is a story that somebody wrote together with a model. It was tried three ways: a "
		"discussion is a tree, and each way through it is a take. The star is the active one.",
		WORDS("tree"));
	if (st != RT_OK)
		return st;
	t->before_edit = cli->session.value->seq;
	snprintf(at_op, sizeof(at_op), "%llu", (unsigned long long)t->before_edit);
	st = step(
		t,
		"Every entry can be edited on its own, the model's as well as yours. What follows stays "
		"as it is.",
		WORDS("edit", ":5",
		      "A girl of seven, dry in the pouring rain, holding out a logbook."));
	if (st == RT_OK)
		st = step(
			t,
			"What the model would be sent next is built from what you see, so the edit is "
			"in it.",
			WORDS("context", "--provider", "openai", "--pretty"));
	if (st == RT_OK)
		st = step(
			t,
			"Go back to the knock and say something else: a new take begins by itself, and "
			"the old one stays.",
			WORDS("go", "the-knock"));
	if (st == RT_OK)
		st = step(t, NULL, WORDS("add", "-r", "User", "It is the postman. He is early."));
	if (st == RT_OK)
		st = step(t, "There are four takes now.", WORDS("takes"));
	if (st == RT_OK)
		st = step(t,
			  "Anything can be undone, as far back as you like, also after a restart.",
			  WORDS("undo", "2"));
	if (st == RT_OK)
		st = step(t, "And done again.", WORDS("redo", "2"));
	if (st == RT_OK)
		st = step(
			t,
			"The past can be looked at without going there: this is the entry before it was "
			"edited.",
			WORDS("show", ":5", "--take", "lighthouse", "--at-op", at_op));
	if (st == RT_OK)
		st = step(
			t,
			"Every change is in the history. Nothing is ever lost, unless you purge it.",
			WORDS("history"));
	return st;
}

static rt_status
finish(tour *t)
{
	rt_cli *cli = t->cli;
	rt_status st;
	rt_buf buf;

	rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
	if (cli->json) {
		rt_buf_add_c(&buf, "{\"store\":");
		rt_json_add_string(&buf, rt_buf_str(&cli->session.path));
		rt_buf_add_c(&buf, ",\"steps\":");
		rt_buf_add_str(&buf, rt_buf_str(&t->json));
		rt_buf_add_c(&buf, "]}");
		st = rt_old_buf(cli, &buf);
		if (st == RT_OK)
			st = rt_old_print_json(cli, rt_buf_str(&buf));
	} else {
		rt_args_add_quoted(&buf, cli->session.path.ptr);
		rt_term_c(&cli->out, "\nIt is yours to play with now:\n\n  export RETAKE_DB=");
		rt_term_text(&cli->out, rt_buf_str(&buf));
		rt_term_c(
			&cli->out,
			"\n  retake takes diff rescue comedy\n"
			"  retake edit --all            the whole take in your editor\n"
			"  retake export --format markdown\n"
			"  retake help\n\n"
			"Your own work goes to a store of its own: unset RETAKE_DB, then retake add "
			"\"Hello\".\n");
		st = RT_OK;
	}
	rt_buf_deinit(&buf);
	return st;
}

static rt_status
run_demo(rt_cli *cli)
{
	tour t = {.cli = cli};
	rt_status st = choose_store(cli);

	cli->session.hooks_off = true; /* a story; nobody means it */
	if (st == RT_OK)
		st = tell_story(cli);
	if (st != RT_OK)
		return st;
	rt_buf_init(&t.json, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&t.json, '[');
	if (!cli->json) {
		rt_term_style(&cli->out, RT_STYLE_BOLD);
		rt_term_c(&cli->out, "A short tour of Retake\n");
		rt_term_style(&cli->out, RT_STYLE_NONE);
	}
	st = walk(&t);
	if (st == RT_OK)
		st = finish(&t);
	rt_buf_deinit(&t.json);
	return st;
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
	.summary = "a tour in a store of its own, without a model or a network",
	.about =
		"Leaves a store to play with: DIR/demo.db, or retake-demo.db where stores are kept. Run "
		"again, the story begins afresh there; what you did stays in the history.",
	.examples = "retake demo\nretake demo /tmp/tour",
	.flags = demo_flags,
	.kinds = {RT_ARG_DIR},
	.run_status = run_demo,
};
