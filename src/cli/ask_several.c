/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "cli/ask_several.h"

#include <stdlib.h>
#include <time.h>

enum { LOOK_EVERY_NS = 20 * 1000 * 1000 };

/* A model that was asked. */
typedef struct member {
	char name[24];    /* of the run */
	rt_str model;     /* in the displayed form */
	bool is_over, is_printed;
	rt_run_state state;
	rt_error problem; /* status RT_OK: none */
	rt_buf *text;     /* of the reply */
	rt_str note;
	rt_send_result result; /* without its note */
} member;

typedef struct asking {
	rt_cli *cli;
	rt_cli_model_session *session;
	rt_runs *runs;
	member *members;
	size_t count, replies;
	rt_str take; /* the active one when the question was asked */
	member *looked_at;
	int stops; /* interrupts that were passed on */
} asking;

size_t
rt_cli_model_count(const rt_cli *cli)
{
	size_t count = 0;

	for (size_t i = 0; i < cli->args.given_count; i++)
		count += strcmp(cli->args.given[i].flag->name, "model") == 0;
	return count;
}

static rt_str *
models_of(rt_cli *cli, size_t count)
{
	rt_str *models = rt_scope_array(&cli->s, count, sizeof(*models));
	size_t at = 0;

	for (size_t i = 0; models != NULL && i < cli->args.given_count; i++)
		if (strcmp(cli->args.given[i].flag->name, "model") == 0)
			models[at++] = rt_cli_given(rt_str_of(cli->args.given[i].value));
	return models;
}

/* ---- the runs ---- */

static void
free_runs(void *runs)
{
	rt_runs_free(runs);
}

static void
open_runs(asking *a)
{
	rt_cli *cli = a->cli;
	const rt_cli_model_session *t = a->session;
	rt_runs_options options = {.engine = cli->session.engine,
				   .env = cli->env,
				   .hooks = cli->session.gate.inner,
				   .config = t->m.config,
				   .comms = t->m.comms,
				   .owner = rt_buf_str(&t->m.owner),
				   .store_path = rt_str_of(t->m.store),
				   .model = rt_str_of(getenv("RETAKE_MODEL")),
				   .files = &t->files,
				   .lives = rt_host_owner_lives,
				   .pace_ms = t->m.pace_ms};

	if (RT_TRY(&cli->s, rt_runs_new(&options, &a->runs, &cli->s.error)) == RT_OK)
		rt_scope_defer(&cli->s, free_runs, a->runs);
}

/* With the lock of the runs held. */
static void
see(void *ctx, const rt_run_info *run)
{
	asking *a = ctx;
	member *m = a->looked_at;
	rt_scope *s = &a->cli->s;
	const rt_run_text *text = run->text;

	if (run->state == RT_RUN_RUNNING)
		return;
	m->is_over = true;
	m->state = run->state;
	m->model = rt_scope_copy(s, run->model);
	if (run->problem != NULL)
		m->problem = *run->problem;
	if (run->reply_count == 0)
		return;
	m->result = run->replies[0];
	m->result.note = NULL;
	if (run->replies[0].note != NULL)
		m->note = rt_scope_copy(s, rt_text_str(run->replies[0].note));
	for (size_t i = text->reply_piece; i < text->count; i++)
		if (text->pieces[i].kind == RT_REPLY_TEXT)
			rt_buf_add(m->text, text->bytes.ptr + text->pieces[i].at,
				   rt_run_text_end(text, i) - text->pieces[i].at);
}

/* Checks the running ones. False: none is running. */
static bool
look(asking *a)
{
	bool any = false;

	if (rt_host_interrupts() > a->stops) {
		a->stops = rt_host_interrupts();
		for (size_t i = 0; i < a->count; i++)
			(void)!rt_runs_stop(a->runs, rt_str_of(a->members[i].name), NULL);
	}
	for (size_t i = 0; i < a->count; i++) {
		a->looked_at = &a->members[i];
		if (!a->members[i].is_over &&
		    rt_runs_show(a->runs, rt_str_of(a->members[i].name), see, a, NULL) != RT_OK)
			a->members[i].is_over = true; /* forgotten */
		any = any || !a->members[i].is_over;
	}
	return any;
}

/* ---- output ---- */

static void
put_member(asking *a, const member *m, rt_buf *json)
{
	rt_cli *cli = a->cli;
	const rt_send_result *r = &m->result;

	rt_json_open(json, NULL, '{');
	rt_json_put_str(json, "model", m->model);
	if (r->question[0] != '\0')
		rt_json_put_c(json, "question", r->question);
	if (r->entry[0] != '\0') {
		rt_send_result_put(json, r, true);
		rt_json_add_key(json, "reply");
		uint32_t entry = rt_cli_entry(cli, r->entry, true);
		RT_TRY(&cli->s, rt_view_entry(cli->session.engine, cli->session.value,
					      cli->session.place, entry, json, &cli->s.error));
	}
	if (m->problem.status != RT_OK) {
		rt_json_open(json, "problem", '{');
		rt_json_put_c(json, "code", rt_status_word(m->problem.status));
		rt_json_put_c(json, "detail", m->problem.text);
		rt_json_close(json, '}');
	}
	rt_json_close(json, '}');
}

/* The name of the take that has the reply. */
static rt_str
take_of(const asking *a, const member *m)
{
	return m->result.take[0] != '\0' ? rt_str_of(m->result.take) : a->take;
}

/* The name of the model, its reply, and the take of it. */
static void
print_member(asking *a, member *m)
{
	rt_cli *cli = a->cli;
	rt_term *out = &cli->out;
	rt_str text = rt_scope_str(&cli->s, m->text);

	m->is_printed = true;
	if (m->note.size > 0)
		rt_session_note_lines(&cli->session, m->note);
	if (m->problem.status != RT_OK)
		rt_cli_note(cli, "%.*s: %s", RT_STR_ARG(m->model), m->problem.text);
	else if (m->state == RT_RUN_STOPPED)
		rt_cli_note(cli, "%.*s: stopped", RT_STR_ARG(m->model));
	if (m->result.entry[0] == '\0' || cli->json)
		return;
	if (a->replies > 1)
		rt_term_c(out, "\n");
	rt_term_style(out, RT_STYLE_BOLD);
	rt_term_line(out, m->model);
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_style(out, RT_STYLE_DIM);
	rt_term_c(out, "  take ");
	rt_term_line(out, take_of(a, m));
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, "\n");
	if (!out->renders || rt_cli_has(cli, "raw") ||
	    !cli->print_markdown(out, text, 0, &(rt_markdown_part){.is_end = true})) {
		rt_term_text(out, text);
		if (text.size == 0 || text.ptr[text.size - 1] != '\n')
			rt_term_c(out, "\n");
	}
	rt_term_flush(out);
}

/* The first one with a reply. */
static const member *
first_reply(const asking *a)
{
	for (size_t i = 0; i < a->count; i++)
		if (a->members[i].result.entry[0] != '\0')
			return &a->members[i];
	return NULL;
}

/* For retake diff: " TAKE" of another reply, which is compared with that in the active take. */
static const char *
take_to_compare(asking *a)
{
	const rt_take *active = rt_cli_take(a->cli);
	rt_buf *out = rt_scope_buf(&a->cli->s);

	for (size_t i = 0; active != NULL && i < a->count && out->size == 0; i++) {
		rt_str take = take_of(a, &a->members[i]);

		if (a->members[i].result.entry[0] != '\0' && !rt_str_eq(take, rt_text_str(active->name))) {
			rt_buf_add_byte(out, ' ');
			rt_args_add_quoted(out, take.ptr);
		}
	}
	return out->size > 0 ? out->ptr : " TAKE";
}

/* Replies are kept in the order of arrival, the first one in the active take. The take of the model
 * that was named first becomes the active one, in the group of the replies, so that undo reverts it
 * with them. */
static void
activate_first(asking *a)
{
	rt_cli *cli = a->cli;
	rt_session *session = &cli->session;
	const member *first = first_reply(a);
	rt_result result = {0};

	if (first == NULL || first->result.take[0] == '\0' || rt_session_take(session).size > 0)
		return;
	rt_apply_context with = *rt_session_hooks_begin(session);

	for (size_t i = 0; i < a->count; i++) {
		uint64_t seq = a->members[i].result.seq;

		if (seq != 0 && (with.group == 0 || seq < with.group))
			with.group = seq;
	}
	rt_status st = rt_apply(session->engine, &with,
				&(rt_request){.op = RT_OP_TAKE_SWITCH,
					      .target = rt_str_of(first->result.take)},
				1, false, rt_session_discussion(session), RT_STR(""), &result);

	rt_session_hooks_end(session);
	if (st != RT_OK)
		rt_cli_note(cli, "take %s did not become the active one: %s", first->result.take,
			    result.error.text);
	rt_result_deinit(&result);
}

/* The steps of the replies are one group; without a reply only the question is a step. */
static void
end(asking *a)
{
	rt_cli *cli = a->cli;
	rt_buf *json = rt_scope_buf(&cli->s);
	const char *retake = rt_cli_retake(cli);
	const member *first = &a->members[0], *failed = NULL;
	bool is_stopped = a->stops > 0;

	for (size_t i = a->count; i-- > 0;)
		if (a->members[i].problem.status != RT_OK)
			failed = &a->members[i];
	cli->changed = a->replies > 0 || first->result.question[0] != '\0';
	if (cli->changed)
		rt_cli_say_made(cli);
	if (a->replies == 0) {
		rt_cli_hint(cli, "The question was kept. Try again: retake again   Remove it: retake undo");
		if (is_stopped)
			rt_cli_fail(cli, RT_INTERRUPTED, "stopped");
		else
			rt_cli_fail(cli, failed != NULL ? failed->problem.status : RT_UPSTREAM,
				    "no model replied; the first error: %s",
				    failed != NULL ? failed->problem.text : "stopped");
		return;
	}
	activate_first(a);
	if (!rt_cli_look(cli))
		return;
	rt_json_open(json, NULL, '[');
	for (size_t i = 0; cli->json && i < a->count; i++)
		put_member(a, &a->members[i], json);
	rt_json_close(json, ']');
	if (cli->json)
		rt_cli_print_json(cli, json);
	else if (!cli->quiet)
		rt_cli_note(cli, "%zu of %zu models replied.   undo: %s undo   compare: %s diff%s",
			    a->replies, a->count, retake, retake, take_to_compare(a));
	if (is_stopped)
		cli->exit_code = rt_status_exit_code(RT_INTERRUPTED);
	else if (failed != NULL)
		cli->exit_code = rt_status_exit_code(failed->problem.status);
}

void
rt_cli_ask_several(rt_cli *cli, rt_run_request *request)
{
	const struct timespec pause = {0, LOOK_EVERY_NS};
	rt_scope *s = &cli->s;
	asking a = {.cli = cli, .count = rt_cli_model_count(cli)};
	rt_str *models = models_of(cli, a.count);
	char(*names)[24] = rt_scope_array(s, a.count, sizeof(*names));
	size_t next = 0;
	bool any = true;

	a.members = rt_scope_array(s, a.count, sizeof(*a.members));
	a.session = rt_cli_model_session_open(cli, false);
	if (a.session == NULL || !rt_ok(s))
		return;
	open_runs(&a);
	a.take = rt_scope_copy(s, rt_text_str(rt_cli_take(cli)->name));
	request->discussion = rt_session_discussion(&cli->session);
	request->take = rt_session_take(&cli->session);
	request->budget = a.session->m.budget;
	request->no_files = rt_cli_has(cli, "no-files");
	request->may_name_files = true;
	rt_host_hold(true);
	if (rt_ok(s))
		RT_TRY(s, rt_runs_start_several(a.runs, request, models, a.count, names, &s->error));
	for (size_t i = 0; rt_ok(s) && i < a.count; i++) {
		memcpy(a.members[i].name, names[i], sizeof(names[i]));
		a.members[i].model = models[i];
		a.members[i].text = rt_scope_buf(s);
	}
	while (rt_ok(s) && any) {
		any = look(&a);
		for (; next < a.count && a.members[next].is_over; next++) {
			a.replies += a.members[next].result.entry[0] != '\0';
			print_member(&a, &a.members[next]);
		}
		if (any)
			(void)nanosleep(&pause, NULL);
	}
	rt_host_hold(false);
	if (rt_ok(s))
		end(&a);
}
