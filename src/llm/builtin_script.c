/* SPDX-License-Identifier: MIT
 *
 * Scripts of the built-in model: checked line by line when they are opened, and read again when
 * they are played. */
#include "llm/builtin_impl.h"

#include <stdio.h>

enum { WAIT_ONCE_MS = 50, WAIT_MAX_MS = 24 * 60 * 60 * 1000, NOTICE_SIZE = 200 };

typedef enum step_kind {
	STEP_TEXT,
	STEP_THINKING,
	STEP_SIGNATURE,
	STEP_CALL,
	STEP_WAIT,
	STEP_USAGE,
	STEP_STOP,
	STEP_CUT,
	STEP_ERROR,
	STEP_NEXT,
	STEP_COUNT
} step_kind;

static const char *const step_names[] = {"text",  "thinking", "signature", "call",  "wait_ms",
					 "usage", "stop",     "cut",       "error", "next"};

/* A line. */
typedef struct step {
	step_kind kind;
	yyjson_val *value;
	uint64_t number; /* WAIT: ms; ERROR: seconds until the next try, or 0 */
	rt_stop stop;
	rt_json_doc *doc;
} step;

static bool
find_stop(rt_str word, rt_stop *out)
{
	for (int i = RT_STOP_END; i <= RT_STOP_ERROR; i++)
		if (rt_str_is(word, rt_stop_word((rt_stop)i))) {
			*out = (rt_stop)i;
			return true;
		}
	return false;
}

/* Has the value the right type for the step? */
static bool
read_value(step *s)
{
	yyjson_val *retry;

	switch (s->kind) {
	case STEP_TEXT:
	case STEP_THINKING:
	case STEP_SIGNATURE: return yyjson_is_str(s->value);
	case STEP_CALL: return yyjson_is_str(rt_json_get(s->value, "name"));
	case STEP_WAIT: return rt_json_u64(s->value, &s->number) && s->number <= WAIT_MAX_MS;
	case STEP_USAGE: return yyjson_is_obj(s->value);
	case STEP_STOP: return find_stop(rt_json_str(s->value), &s->stop);
	case STEP_CUT:
	case STEP_NEXT: return yyjson_is_true(s->value);
	case STEP_ERROR:
		retry = rt_json_get(s->value, "retry_after");
		return yyjson_is_str(rt_json_get(s->value, "message")) &&
		       (retry == NULL ||
			(rt_json_u64(retry, &s->number) && s->number <= WAIT_MAX_MS / 1000));
	case STEP_COUNT: break;
	}
	return false;
}

/* Free its doc. */
static rt_status
read_step(rt_str line, const rt_alloc *alloc, step *out, rt_error *err)
{
	rt_status st;

	*out = (step){.value = NULL};
	st = rt_json_read(alloc, line, &out->doc, err);
	if (st != RT_OK)
		return st;
	for (int i = 0; i < STEP_COUNT && out->value == NULL; i++) {
		out->kind = (step_kind)i;
		out->value = rt_json_get(rt_json_root(out->doc), step_names[i]);
	}
	if (out->value != NULL && read_value(out))
		return RT_OK;
	rt_json_free(out->doc);
	return out->value == NULL ? rt_fail(err, RT_USAGE, "no such step")
				  : rt_fail(err, RT_USAGE, "invalid value for %s",
					    step_names[out->kind]);
}

/* The next line of *rest that is not empty; false: there is none. */
static bool
next_line(rt_str *rest, size_t *number, rt_str *out)
{
	while (rt_str_split(rest, '\n', out)) {
		++*number;
		*out = rt_str_trim(*out);
		if (out->size > 0)
			return true;
	}
	return false;
}

rt_status
rt_script_check(rt_str script, const rt_alloc *alloc, size_t *out_count, rt_error *err)
{
	size_t number = 0, count = 1;
	rt_error why = {0};
	rt_str line;

	while (next_line(&script, &number, &line)) {
		step s;
		rt_status st = read_step(line, alloc, &s, &why);

		if (st == RT_NOMEM)
			st = rt_fail(err, st, "out of memory while reading a script");
		else if (st != RT_OK)
			st = rt_fail(err, RT_USAGE, "line %zu of the script: %s", number, why.text);
		if (st != RT_OK) {
			if (err != NULL)
				err->line = number;
			return st;
		}
		count += s.kind == STEP_NEXT;
		rt_json_free(s.doc);
	}
	*out_count = count;
	return RT_OK;
}

/* ---- playing ---- */

void
rt_builtin_wait(const rt_giving *g, uint64_t ms)
{
	for (;;) {
		unsigned once = ms > WAIT_ONCE_MS ? WAIT_ONCE_MS : (unsigned)ms;

		if (g->ask->stop != NULL && g->ask->stop(g->ask->ctx)) {
			rt_reply_set_stop(g->reply, RT_STOP_USER);
			(void)rt_scope_fail(g->s, RT_INTERRUPTED, "stopped");
			return;
		}
		if (ms == 0)
			return;
		if (g->options->wait_ms != NULL)
			g->options->wait_ms(g->options->wait_ctx, once);
		if (g->ask->tick != NULL)
			g->ask->tick(g->ask->ctx);
		ms -= once;
	}
}

/* A count under its name, or under the one that it has in older scripts. */
static size_t
count_of(yyjson_val *usage, const char *name, const char *old)
{
	return rt_answer_count(usage, rt_json_get(usage, name) != NULL ? name : old);
}

static void
give_usage(rt_reply *reply, yyjson_val *usage)
{
	rt_usage counts = {rt_answer_count(usage, "input_tokens"),
			   rt_answer_count(usage, "output_tokens"),
			   count_of(usage, "cache_read_input_tokens", "cache_read_tokens"),
			   count_of(usage, "cache_creation_input_tokens", "cache_write_tokens")};

	rt_reply_set_usage(reply, &counts);
}

/* With retry_after: wait, and the script continues. */
static void
give_error(const rt_giving *g, const step *s)
{
	rt_str message = rt_json_str(rt_json_get(s->value, "message"));
	yyjson_val *status = rt_json_get(s->value, "status");
	char notice[NOTICE_SIZE];
	uint64_t code = 0;

	if (status == NULL) {
		rt_reply_set_error(g->reply, message);
		(void)rt_scope_fail(g->s, RT_UPSTREAM, "%.*s", RT_STR_ARG(message));
		return;
	}
	(void)rt_json_u64(status, &code);
	if (s->number == 0) {
		(void)rt_scope_fail(g->s, code == 401 || code == 403 ? RT_CREDENTIALS : RT_UPSTREAM,
				    "%.*s (%llu)", RT_STR_ARG(message), (unsigned long long)code);
		return;
	}
	int size = snprintf(notice, sizeof(notice),
			    "trying again in %llu s: ", (unsigned long long)s->number);
	message.size = rt_utf8_cut(message, sizeof(notice) - 1 - (size_t)size);
	(void)snprintf(notice + size, sizeof(notice) - (size_t)size, "%.*s", RT_STR_ARG(message));
	if (g->ask->notice != NULL)
		g->ask->notice(g->ask->ctx, &(rt_notice){.words = notice});
	rt_builtin_wait(g, s->number * 1000);
}

static void
give_step(const rt_giving *g, const step *s)
{
	rt_reply *reply = g->reply;
	uint64_t wait_ms = 0;

	switch (s->kind) {
	case STEP_TEXT: rt_reply_add_text(reply, rt_json_str(s->value)); break;
	case STEP_THINKING: rt_reply_add_thinking(reply, rt_json_str(s->value)); break;
	case STEP_SIGNATURE: rt_reply_add_signature(reply, rt_json_str(s->value)); break;
	case STEP_CALL:
		rt_answer_add_call(reply, reply->block_count, rt_json_get(s->value, "id"),
				   rt_json_get(s->value, "name"),
				   rt_json_get(s->value, "arguments"));
		break;
	case STEP_WAIT: wait_ms = s->number; break;
	case STEP_USAGE: give_usage(reply, s->value); break;
	case STEP_STOP: rt_reply_set_stop(reply, s->stop); break;
	case STEP_CUT:
		rt_reply_set_stop(reply, RT_STOP_CUT);
		(void)rt_scope_fail(g->s, RT_UPSTREAM, "the connection was cut");
		return;
	case STEP_ERROR: give_error(g, s); return;
	case STEP_NEXT:
	case STEP_COUNT: break;
	}
	rt_builtin_wait(g, wait_ms);
}

void
rt_script_play(rt_str script, size_t at, const rt_giving *g)
{
	size_t number = 0, reply = 0;
	rt_str line;

	while (rt_ok(g->s) && reply <= at && next_line(&script, &number, &line)) {
		step s;

		if (RT_TRY(g->s, read_step(line, g->reply->alloc, &s, &g->s->error)) != RT_OK)
			return;
		if (s.kind == STEP_NEXT)
			reply++;
		else if (reply == at)
			give_step(g, &s);
		rt_json_free(s.doc);
	}
}
