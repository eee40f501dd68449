/* SPDX-License-Identifier: MIT
 *
 * A reply on the terminal while it arrives. Standard output has only the reply; remarks go to
 * standard error. */
#include "cli/model_session.h"

#include "llm/names_host.h"

enum { PACE_MS = 15 /* between the pieces of a built-in model's reply */ };

static void
close_session(void *item)
{
	rt_cli_model_session *t = item;

	rt_model_session_close(&t->m);
	rt_buf_deinit(&t->reply);
}

rt_cli_model_session *
rt_cli_model_session_open(rt_cli *cli, bool needs_model)
{
	rt_scope *s = &cli->s;
	bool shows = !cli->json;
	rt_model_session_options options = {
		.model = rt_cli_flag_value(cli, "model"),
		.budget = rt_cli_flag_number(cli, "budget", "number of tokens", 0),
		.pace_ms = shows && !cli->quiet ? PACE_MS : 0,
		.needs_model = needs_model,
	};
	rt_cli_model_session *t = rt_scope_get(s, sizeof(*t));

	if (t == NULL)
		return NULL;
	*t = (rt_cli_model_session){.cli = cli, .shows = shows, .ended_line = true};
	t->renders = shows && cli->out.renders && !rt_cli_has(cli, "raw");
	rt_buf_init(&t->reply, cli->alloc, RT_BUF_UNLIMITED);
	t->files = rt_attach_here(s);
	rt_status st = rt_model_session_open(&t->m, &cli->session, &options, &s->error);

	rt_scope_defer(s, close_session, t);
	rt_scope_note(s, st);
	return rt_ok(s) ? t : NULL;
}

/* Was it interrupted? */
static bool
is_stopped(void *ctx)
{
	rt_cli_model_session *t = ctx;

	if (t->stops == 0)
		t->stops = rt_host_interrupts();
	return t->stops != 0;
}

/* Again, after that. */
static bool
insists(void *ctx)
{
	const rt_cli_model_session *t = ctx;

	return rt_host_interrupts() > t->stops;
}

/* The line about waiting is removed when there is something to show. */
static void
wipe_notice(rt_cli_model_session *t)
{
	if (!t->noticed)
		return;
	t->noticed = false;
	rt_term_wipe_line(&t->cli->err);
	rt_term_flush(&t->cli->err);
}

static void
notice(rt_cli_model_session *t, const char *words)
{
	rt_term *err = &t->cli->err;

	if (t->cli->quiet || t->cli->json)
		return;
	if (!err->is_tty) { /* the line about waiting is only for people */
		if (t->cli->verbose || strncmp(words, "waiting", 7) != 0)
			rt_cli_note(t->cli, "%s", words);
		return;
	}
	wipe_notice(t);
	rt_term_style(err, RT_STYLE_DIM);
	rt_term_line(err, rt_str_of(words));
	rt_term_style(err, RT_STYLE_NONE);
	rt_term_flush(err);
	t->noticed = err->color; /* a terminal without escape sequences keeps the line */
	if (!t->noticed)
		rt_term_c(err, "\n");
}

/* Print blocks that are complete; at the end of the reply all. */
static void
print_blocks(rt_cli_model_session *t, bool is_end)
{
	t->part.is_end = is_end;
	if (!t->cli->print_markdown(&t->cli->out, rt_buf_str(&t->reply), 0, &t->part))
		return;
	wipe_notice(t);
	rt_term_flush(&t->cli->out);
}

static void
show_notice(void *ctx, const rt_notice *said)
{
	notice(ctx, said->words);
}

/* Thinking is shown only if it was requested. */
static void
print_added(void *ctx, rt_reply_block_kind kind, size_t block, rt_str added)
{
	rt_cli_model_session *t = ctx;
	rt_term *out = &t->cli->out;

	(void)block;
	t->answered = true;
	if (t->collects) {
		if (kind == RT_REPLY_TEXT)
			rt_buf_add_str(&t->reply, added);
		return;
	}
	if (kind == RT_REPLY_THINKING && !t->cli->verbose) {
		if (!t->noticed && t->cli->err.is_tty && t->shows)
			notice(t, "thinking …");
		return;
	}
	if (kind == RT_REPLY_CALL || !t->shows || added.size == 0)
		return;
	if (kind == RT_REPLY_TEXT && t->renders) {
		rt_buf_add_str(&t->reply, added);
		if (memchr(added.ptr, '\n', added.size) != NULL)
			print_blocks(t, false);
		return;
	}
	wipe_notice(t);
	if (kind == RT_REPLY_THINKING) {
		rt_term_style(&t->cli->err, RT_STYLE_DIM);
		rt_term_text(&t->cli->err, added);
		rt_term_style(&t->cli->err, RT_STYLE_NONE);
		rt_term_flush(&t->cli->err);
		return;
	}
	rt_term_text(out, added);
	rt_term_flush(out);
	t->began = true;
	t->ended_line = added.ptr[added.size - 1] == '\n';
}

static void
record_line(void *ctx, const rt_comms_item *item)
{
	rt_cli_model_session *t = ctx;

	if (t->m.comms != NULL)
		rt_comms_add(t->m.comms, item);
}

/* Tokens of a text, counted as in context --tokens. */
static size_t
count_text(void *ctx, rt_str text)
{
	rt_cli_model_session *t = ctx;
	size_t count = rt_pick_count(&t->m.counter, text);

	if (t->m.counter.warnings.size > 0)
		rt_cli_note(t->cli, "%.*s",
			    (int)rt_str_trim(rt_buf_str(&t->m.counter.warnings)).size,
			    t->m.counter.warnings.ptr);
	rt_buf_clear(&t->m.counter.warnings);
	return count;
}

rt_send_with
rt_cli_model_session_with(rt_cli_model_session *t)
{
	rt_send_with with = {.model = t->m.model,
			     .price = t->m.model == NULL
					      ? NULL
					      : rt_config_price_of(t->m.config,
								   rt_model_service(t->m.model),
								   t->m.model->name),
			     .hooks = t->cli->session.hooks,
			     .budget_tokens = t->m.budget,
			     .owner = rt_buf_str(&t->m.owner),
			     .store = rt_str_of(t->m.store),
			     .fn = print_added,
			     .stop = is_stopped,
			     .insists = insists,
			     .notice = show_notice,
			     .comms = record_line,
			     .bare_log = rt_comms_bare_key(t->m.comms),
			     .ctx = t};

	if (!rt_cli_has(t->cli, "no-files")) {
		with.attach = rt_attach;
		with.attach_ctx = &t->files;
	}

	rt_host_hold(true);
	rt_buf_clear(&t->reply);
	t->part = (rt_markdown_part){0};
	t->began = t->answered = false;
	t->ended_line = true;
	t->stops = 0;
	if (t->m.budget > 0 && t->m.model != NULL && t->m.counter.encoding != NULL) {
		with.count = count_text;
		with.count_ctx = t;
	}
	if (t->shows && t->cli->err.is_tty && t->cli->err.color)
		notice(t, "waiting for the reply …");
	return with;
}

void
rt_cli_model_session_end(rt_cli_model_session *t, const rt_text *note)
{
	if (t->reply.size > 0 && !t->collects)
		print_blocks(t, true);
	wipe_notice(t);
	if (t->began && !t->ended_line)
		rt_term_c(&t->cli->out, "\n");
	rt_term_flush(&t->cli->out);
	if (t->answered && t->m.model != NULL)
		rt_model_names_answered(t->cli->alloc, t->cli->env, t->m.model);
	if (note != NULL)
		rt_session_note_lines(&t->cli->session, rt_text_str(note));
	rt_host_hold(false);
}
