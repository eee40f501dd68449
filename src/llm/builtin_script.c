/* SPDX-License-Identifier: MIT
 *
 * Scripts of the built-in model: checked line by line when they are opened, and read again
 * when they are played. */
#include "llm/builtin_impl.h"

enum { WAIT_MAX_MS = 24 * 60 * 60 * 1000 };

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

/* A line, taken apart. */
typedef struct step {
	step_kind kind;
	yyjson_val *value;
	uint64_t number; /* WAIT: ms; ERROR: seconds until the next try, or 0 */
	rt_stop stop;
	rt_json_doc *doc;
} step;

static bool
stop_named(rt_str word, rt_stop *out)
{
	int i;

	for (i = RT_STOP_END; i <= RT_STOP_ERROR; i++)
		if (rt_str_is(word, rt_stop_word((rt_stop)i))) {
			*out = (rt_stop)i;
			return true;
		}
	return false;
}

/* Is the value what this kind of step wants? */
static bool
step_fits(step *s)
{
	yyjson_val *retry;

	switch (s->kind) {
	case STEP_TEXT:
	case STEP_THINKING:
	case STEP_SIGNATURE: return yyjson_is_str(s->value);
	case STEP_CALL: return yyjson_is_str(rt_json_get(s->value, "name"));
	case STEP_WAIT: return rt_json_u64(s->value, &s->number) && s->number <= WAIT_MAX_MS;
	case STEP_USAGE: return yyjson_is_obj(s->value);
	case STEP_STOP: return stop_named(rt_json_str(s->value), &s->stop);
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

static rt_status
step_read(rt_str line, const rt_alloc *alloc, step *out, rt_error *err)
{
	rt_status st;
	int i;

	memset(out, 0, sizeof(*out));
	st = rt_json_read(alloc, line, &out->doc, err);
	if (st != RT_OK)
		return st;
	for (i = 0; i < STEP_COUNT && out->value == NULL; i++) {
		out->kind = (step_kind)i;
		out->value = rt_json_get(rt_json_root(out->doc), step_names[i]);
	}
	if (out->value != NULL && step_fits(out))
		return RT_OK;
	st = rt_fail(err, RT_USAGE, "%s%s",
		     out->value == NULL ? "no such step" : "this is not what belongs into ",
		     out->value == NULL ? "" : step_names[out->kind]);
	rt_json_free(out->doc);
	return st;
}

/* The next line that is not empty; false: there is none. */
static bool
next_line(rt_str script, size_t *at, size_t *number, rt_str *out)
{
	while (*at < script.size) {
		size_t end = rt_str_find(script, RT_STR("\n"), *at);

		if (end == SIZE_MAX)
			end = script.size;
		*out = rt_str_trim(rt_str_at(script.ptr + *at, end - *at));
		*at = end + 1;
		++*number;
		if (out->size > 0)
			return true;
	}
	return false;
}

rt_status
rt_script_check(rt_str script, const rt_alloc *alloc, size_t *out_count, rt_error *err)
{
	size_t at = 0, number = 0, count = 1;
	rt_status st = RT_OK;
	rt_error why = {0};
	rt_str line;
	step s;

	while (st == RT_OK && next_line(script, &at, &number, &line)) {
		st = step_read(line, alloc, &s, &why);
		if (st != RT_OK)
			break;
		count += s.kind == STEP_NEXT;
		rt_json_free(s.doc);
	}
	if (st == RT_OK)
		*out_count = count;
	else if (st != RT_NOMEM)
		st = rt_fail(err, RT_USAGE, "line %zu of the script: %s", number, why.text);
	else
		st = rt_fail(err, st, "out of memory while reading a script");
	if (st != RT_OK && err != NULL)
		err->line = number;
	return st;
}

/* ---- playing ---- */

/* A count under its name, or under the one that it had in older scripts. */
static size_t
count_of(yyjson_val *usage, const char *name, const char *old)
{
	return rt_answer_count(usage, rt_json_get(usage, name) != NULL ? name : old);
}

static void
give_usage(rt_reply *reply, yyjson_val *usage)
{
	rt_usage told = {rt_answer_count(usage, "input_tokens"),
			 rt_answer_count(usage, "output_tokens"),
			 count_of(usage, "cache_read_input_tokens", "cache_read_tokens"),
			 count_of(usage, "cache_creation_input_tokens", "cache_write_tokens")};

	rt_reply_set_usage(reply, &told);
}

/* RT_OK: it is tried again, and the script goes on. */
static rt_status
give_error(const rt_giving *g, const step *s, rt_error *err)
{
	rt_str message = rt_json_str(rt_json_get(s->value, "message"));
	yyjson_val *status = rt_json_get(s->value, "status");
	uint64_t code = 0;
	char notice[200];
	rt_buf words;

	if (status == NULL) {
		rt_reply_set_error(g->reply, message);
		return rt_fail(err, RT_UPSTREAM, "%.*s", RT_STR_ARG(message));
	}
	(void)rt_json_u64(status, &code);
	if (s->number == 0)
		return rt_fail(err, code == 401 || code == 403 ? RT_CREDENTIALS : RT_UPSTREAM,
			       "%.*s (%llu)", RT_STR_ARG(message), (unsigned long long)code);
	rt_buf_init(&words, g->reply->alloc, sizeof(notice) - 1);
	rt_buf_add_f(&words, "trying again in %llu s: ", (unsigned long long)s->number);
	rt_buf_add(&words, message.ptr, rt_utf8_cut(message, sizeof(notice) - 1 - words.size));
	memset(notice, 0, sizeof(notice));
	if (words.size > 0)
		memcpy(notice, words.ptr, words.size);
	rt_buf_deinit(&words);
	if (g->ask->notice != NULL)
		g->ask->notice(g->ask->ctx, notice);
	return rt_builtin_wait(g, s->number * 1000, err);
}

static rt_status
give_step(const rt_giving *g, const step *s, rt_error *err)
{
	rt_reply *reply = g->reply;

	switch (s->kind) {
	case STEP_TEXT: rt_reply_add_text(reply, rt_json_str(s->value)); break;
	case STEP_THINKING: rt_reply_add_thinking(reply, rt_json_str(s->value)); break;
	case STEP_SIGNATURE: rt_reply_add_signature(reply, rt_json_str(s->value)); break;
	case STEP_CALL:
		rt_answer_add_call(reply, reply->block_count, rt_json_get(s->value, "id"),
				   rt_json_get(s->value, "name"),
				   rt_json_get(s->value, "arguments"));
		break;
	case STEP_WAIT: return rt_builtin_wait(g, s->number, err);
	case STEP_USAGE: give_usage(reply, s->value); break;
	case STEP_STOP: rt_reply_set_stop(reply, s->stop); break;
	case STEP_CUT:
		rt_reply_set_stop(reply, RT_STOP_CUT);
		return rt_fail(err, RT_UPSTREAM, "the connection was cut");
	case STEP_ERROR: return give_error(g, s, err);
	case STEP_NEXT:
	case STEP_COUNT: break;
	}
	return rt_builtin_wait(g, 0, err);
}

rt_status
rt_script_play(rt_str script, size_t at, const rt_giving *g, rt_error *err)
{
	size_t place = 0, number = 0, reply = 0;
	rt_status st = RT_OK;
	rt_str line;
	step s;

	while (st == RT_OK && reply <= at && next_line(script, &place, &number, &line)) {
		st = step_read(line, g->reply->alloc, &s, err);
		if (st != RT_OK)
			break;
		if (s.kind == STEP_NEXT)
			reply++;
		else if (reply == at)
			st = give_step(g, &s, err);
		rt_json_free(s.doc);
	}
	return st;
}
