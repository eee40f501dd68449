/* SPDX-License-Identifier: MIT
 *
 * Runs as JSON and as events of a stream. */
#include "server/route.h"
#include "server/run_json.h"

/* ---- texts ---- */

/* Adds all text of one kind in the reply that is arriving, up to end. */
static void
add_kind(const rt_run_text *t, const char *key, rt_reply_block_kind kind, size_t end, rt_buf *out)
{
	rt_buf all;

	rt_buf_init(&all, out->alloc, RT_BUF_UNLIMITED);
	for (size_t i = t->reply_piece; i < t->count && t->pieces[i].at < end; i++) {
		size_t to = rt_run_text_end(t, i);

		if (t->pieces[i].kind == kind)
			rt_buf_add(&all, t->bytes.ptr + t->pieces[i].at,
				   (to < end ? to : end) - t->pieces[i].at);
	}
	if (all.status != RT_OK)
		out->status = all.status;
	if (all.size > 0 || kind == RT_REPLY_TEXT)
		rt_json_put_str(out, key, rt_buf_str(&all));
	rt_buf_deinit(&all);
}

static void
add_calls(const rt_run_text *t, size_t end, rt_buf *out)
{
	bool any = false;

	for (size_t i = t->reply_piece; i < t->count && t->pieces[i].at < end; i++) {
		const rt_run_piece *p = &t->pieces[i];
		size_t to = rt_run_text_end(t, i);

		if (p->kind != RT_REPLY_CALL)
			continue;
		if (!any)
			rt_json_open(out, "calls", '[');
		any = true;
		rt_json_open(out, NULL, '{');
		rt_json_put_u64(out, "block", p->block);
		rt_json_put_u64(out, "offset", p->from);
		rt_json_put_str(out, "arguments",
				rt_str_at(t->bytes.ptr + p->at, (to < end ? to : end) - p->at));
		rt_json_close(out, '}');
	}
	if (any)
		rt_json_close(out, ']');
}

void
rt_run_text_add_json(const rt_run_text *t, size_t end, rt_buf *out)
{
	if (t->reply > 0)
		rt_json_put_u64(out, "reply", t->reply);
	add_kind(t, "text", RT_REPLY_TEXT, end, out);
	add_kind(t, "thinking", RT_REPLY_THINKING, end, out);
	add_calls(t, end, out);
}

/* ---- results ---- */

static void
put_if_given(rt_buf *out, const char *key, const char *value)
{
	if (value[0] != '\0')
		rt_json_put_c(out, key, value);
}

static void
put_if_known(rt_buf *out, const char *key, size_t count)
{
	if (count != SIZE_MAX)
		rt_json_put_u64(out, key, count);
}

static void
put_summary(rt_buf *out, const rt_summary_result *r, bool is_navigation)
{
	put_if_given(out, is_navigation ? "summary" : "entry", r->entry);
	if (is_navigation)
		put_if_given(out, "entry", r->target);
	if (r->seq != 0)
		rt_json_put_u64(out, "seq", r->seq);
	if (r->already)
		rt_json_put_bool(out, "unchanged", true);
	put_if_given(out, "first_kept", r->first_kept);
	if (r->entry[0] != '\0') {
		put_if_known(out, "entries", r->entries);
		if (!is_navigation) {
			put_if_known(out, "tokens_before", r->tokens_before);
			put_if_known(out, "tokens_after", r->tokens_after);
		}
		rt_json_open(out, "usage", '{');
		rt_usage_put(out, &r->usage);
		rt_json_close(out, '}');
	}
	if (r->from_hook)
		rt_json_put_bool(out, "from_hook", true);
	if (r->editor != NULL)
		rt_json_put_str(out, "editor", rt_text_str(r->editor));
	if (r->note != NULL)
		rt_json_put_str(out, "note", rt_text_str(r->note));
}

/* ---- the object ---- */

static void
put_retry(rt_buf *out, const rt_run_info *run)
{
	if (run->retry == 0)
		return;
	rt_json_put_u64(out, "retry", run->retry);
	rt_json_put_u64(out, "retries", run->retries);
}

/* Everything except the texts; the object stays open. */
static void
open_run(const rt_run_info *run, rt_buf *out)
{
	static const char *const states[] = {"running", "done", "stopped", "failed"};

	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "run", run->name);
	rt_json_put_c(out, "state", states[run->state]);
	rt_json_put_c(out, "how", rt_run_how_names[run->how]);
	rt_json_put_str(out, "discussion", run->discussion);
	rt_json_put_str(out, "take", run->take);
	if (run->model.size > 0)
		rt_json_put_str(out, "model", run->model);
	if (run->group.size > 0)
		rt_json_put_str(out, "group", run->group);
	rt_json_put_time(out, "started", (rt_moment){run->started_us, 0});
	if (run->state != RT_RUN_RUNNING)
		rt_json_put_time(out, "ended", (rt_moment){run->ended_us, 0});
	if (run->at.size > 0)
		rt_json_put_str(out, "at", run->at);
	if (run->question.size > 0)
		rt_json_put_str(out, "question", run->question);
	if (run->reply_count > 0 && run->replies != NULL)
		rt_send_result_put(out, &run->replies[run->reply_count - 1], false);
	if (run->summary != NULL)
		put_summary(out, run->summary, run->how == RT_RUN_GO);
	if (run->several && run->reply_count > 0) {
		rt_json_open(out, "replies", '[');
		for (size_t i = 0; i < run->reply_count; i++) {
			rt_json_open(out, NULL, '{');
			rt_send_result_put(out, &run->replies[i], true);
			rt_json_close(out, '}');
		}
		rt_json_close(out, ']');
	}
	if (run->notice.size > 0)
		rt_json_put_str(out, "notice", run->notice);
	if (run->notice.size > 0)
		put_retry(out, run);
	if (run->problem != NULL) {
		rt_json_open(out, "problem", '{');
		rt_json_put_c(out, "code", rt_status_word(run->problem->status));
		rt_json_put_c(out, "detail", run->problem->text);
		if (run->problem->is_quiet)
			rt_json_put_bool(out, "quiet", true);
		rt_json_close(out, '}');
	}
}

static void
add_run_with_texts(void *ctx, const rt_run_info *run)
{
	rt_buf *out = ctx;

	open_run(run, out);
	rt_run_text_add_json(run->text, run->text->bytes.size, out);
	rt_json_close(out, '}');
}

void
rt_run_add_json(void *ctx, const rt_run_info *run)
{
	rt_buf *out = ctx;

	open_run(run, out);
	rt_json_close(out, '}');
}

static rt_status
check(const rt_buf *out, rt_status st, rt_error *err)
{
	return st == RT_OK && out->status != RT_OK ? rt_fail(err, out->status, "out of memory") : st;
}

rt_status
rt_runs_show_json(rt_runs *runs, rt_str name, rt_buf *out, rt_error *err)
{
	return check(out, rt_runs_show(runs, name, add_run_with_texts, out, err), err);
}

rt_status
rt_runs_list_json(rt_runs *runs, rt_buf *out, rt_error *err)
{
	rt_json_open(out, NULL, '[');
	rt_runs_each(runs, rt_run_add_json, out);
	rt_json_close(out, ']');
	return check(out, RT_OK, err);
}

/* ---- events ---- */

typedef struct sse {
	rt_buf *out;
	size_t room;
} sse;

static void
put_delta(rt_buf *out, const rt_run_event *event)
{
	static const char *const keys[] = {"text", "thinking", "call"};
	const rt_run_piece *piece = event->piece;

	if (piece->reply > 0)
		rt_json_put_u64(out, "reply", piece->reply);
	if (piece->kind == RT_REPLY_CALL)
		rt_json_put_u64(out, "block", piece->block);
	rt_json_put_u64(out, "offset", event->offset);
	rt_json_put_str(out, keys[piece->kind], event->text);
}

static bool
add_event(void *ctx, const rt_run_event *event)
{
	static const char *const names[] = {
		[RT_RUN_STARTED] = "started", [RT_RUN_SNAPSHOT] = "snapshot", [RT_RUN_ASKED] = "asked",
		[RT_RUN_NOTICE] = "notice",   [RT_RUN_DELTA] = "delta",	      [RT_RUN_ENDED] = "ended",
	};
	sse *s = ctx;
	rt_buf *out = s->out;

	rt_buf_add_f(out, "event: run.%s\ndata: ", names[event->kind]);
	if (event->kind == RT_RUN_STARTED || event->kind == RT_RUN_SNAPSHOT ||
	    event->kind == RT_RUN_ENDED) {
		open_run(event->run, out);
	} else {
		rt_json_open(out, NULL, '{');
		rt_json_put_c(out, "run", event->run->name);
	}
	if (event->kind == RT_RUN_SNAPSHOT)
		rt_run_text_add_json(event->run->text, event->text_end, out);
	if (event->kind == RT_RUN_ASKED)
		rt_json_put_str(out, "question", event->run->question);
	if (event->kind == RT_RUN_NOTICE) {
		rt_json_put_str(out, "text", event->run->notice);
		put_retry(out, event->run);
	}
	if (event->kind == RT_RUN_DELTA)
		put_delta(out, event);
	rt_buf_add_c(out, "}\n\n");
	return out->size < s->room;
}

bool
rt_runs_read_sse(rt_runs *runs, rt_run_cursor *cursor, size_t room, rt_buf *out)
{
	sse s = {out, room};

	return out->size >= room || rt_runs_read(runs, cursor, add_event, &s);
}

/* ---- requests ---- */

const rt_route_param rt_run_members[] = {
	{"how", "string", "ask (the default), again, continue, compact, compress, go, merge"},
	{"text", "string", "text of the question"},
	{"content", "content", "content blocks of the question"},
	{"role", "string", "role of the question; default: User"},
	{"clear_draft", "boolean",
	 "ask: the step that adds the question also clears the draft; default: false"},
	{"reply_role", "string", "role of the reply; default: AI"},
	{"at", "string", "ask, again, continue: the entry to answer or continue"},
	{"n", "integer", "again: number of replies, each in a separate take"},
	{"from", "string", "compact: the first entry"},
	{"to", "string", "compact: the last entry"},
	{"keep", "integer", "compact: number of tokens to keep at the end"},
	{"entry", "string", "go: the destination; null: before the first entry"},
	{"entry_take", "string", "go: the take of that entry, if several contain it"},
	{"select", "boolean", "go: move the head to just before the entry and return its text"},
	{"summary", "boolean", "go: summarise the abandoned branch; default: true"},
	{"from_take", "string", "merge: the take whose conclusions become an entry of this one"},
	{"instructions", "string", "instructions for a summary"},
	{"model", "string", "PROVIDER/NAME; default: the setting, then the configuration"},
	{"models", "array", "ask, again: instead of model, 1 to 16 models that reply simultaneously"},
	{"budget", "integer", "maximum number of tokens in the request"},
	{"files", "boolean",
	 "ask, again, continue: send the files listed in the discussion; default: true"},
	{"take", "string", "same as in the query"},
	{NULL, NULL, NULL}};

/* A run is not an operation: unknown members would be lost. */
static bool
members_are_known(yyjson_val *body, rt_error *err)
{
	const rt_route_param *known;

	for (rt_json_iter it = rt_json_members(body); rt_json_next(&it);) {
		for (known = rt_run_members; known->name != NULL; known++)
			if (rt_str_is(it.key, known->name))
				break;
		if (known->name == NULL && !rt_str_is(it.key, "discussion")) {
			(void)rt_fail(err, RT_USAGE, "a run has no member \"%.*s\"",
				      (int)rt_utf8_cut(it.key, 60), it.key.ptr);
			return false;
		}
	}
	return true;
}

/* The member, unless it is absent or null. */
static yyjson_val *
member(rt_scope *s, yyjson_val *body, const char *key)
{
	yyjson_val *value = rt_ok(s) ? rt_json_get(body, key) : NULL;

	return value == NULL || yyjson_is_null(value) ? NULL : value;
}

static rt_str
text_member(rt_scope *s, yyjson_val *body, const char *key)
{
	yyjson_val *value = member(s, body, key);

	if (value != NULL && !yyjson_is_str(value))
		(void)rt_scope_fail(s, RT_USAGE, "\"%s\" must be a string", key);
	return value != NULL ? rt_json_str(value) : (rt_str){NULL, 0};
}

static rt_number
number_member(rt_scope *s, yyjson_val *body, const char *key, uint64_t low, uint64_t high)
{
	yyjson_val *value = member(s, body, key);
	rt_number number = {0, value != NULL};

	if (value != NULL &&
	    (!rt_json_u64(value, &number.value) || number.value < low || number.value > high))
		(void)rt_scope_fail(s, RT_USAGE,
				    "\"%s\" must be a whole number from %llu to %llu", key,
				    (unsigned long long)low, (unsigned long long)high);
	return number;
}

static bool
flag_member(rt_scope *s, yyjson_val *body, const char *key, bool otherwise)
{
	yyjson_val *value = member(s, body, key);

	if (value != NULL && !yyjson_is_bool(value))
		(void)rt_scope_fail(s, RT_USAGE, "\"%s\" must be true or false", key);
	return value != NULL ? yyjson_is_true(value) : otherwise;
}

/* The question: text, or content, which is a text or an array of blocks. */
static void
read_question(rt_scope *s, yyjson_val *body, rt_run_request *out)
{
	yyjson_val *content;

	out->text = text_member(s, body, "text");
	content = member(s, body, "content");
	if (content == NULL)
		return;
	if (out->text.ptr != NULL)
		(void)rt_scope_fail(s, RT_USAGE,
				    "give either \"text\" or \"content\"");
	else if (yyjson_is_str(content))
		out->text = rt_json_str(content);
	else if (yyjson_is_arr(content))
		out->content = content;
	else
		(void)rt_scope_fail(s, RT_USAGE,
				    "\"content\" must be a string or an array of blocks");
}

rt_status
rt_run_request_read(yyjson_val *body, rt_run_how how, rt_run_request *out, rt_error *err)
{
	rt_run_request r = {.how = how};
	rt_scope s;
	rt_status st;

	if (body != NULL && !yyjson_is_obj(body))
		return rt_fail(err, RT_USAGE, "the body must be an object");
	if (!members_are_known(body, err))
		return RT_USAGE;
	rt_scope_init(&s, rt_alloc_libc());
	r.model = text_member(&s, body, "model");
	r.budget = number_member(&s, body, "budget", 0, SIZE_MAX / 2).value;
	if (how == RT_RUN_ASK) {
		read_question(&s, body, &r);
		r.role = text_member(&s, body, "role");
		r.clears_draft = flag_member(&s, body, "clear_draft", false);
	}
	if (how <= RT_RUN_CONTINUE) {
		r.reply_role = text_member(&s, body, "reply_role");
		r.no_files = !flag_member(&s, body, "files", true);
		if (how == RT_RUN_AGAIN)
			r.replies = number_member(&s, body, "n", 1, RT_RUN_REPLIES_MAX).value;
		r.at = text_member(&s, body, "at");
	} else {
		r.instructions = text_member(&s, body, "instructions");
	}
	if (how == RT_RUN_COMPACT) {
		r.from = text_member(&s, body, "from");
		r.to = text_member(&s, body, "to");
		r.keep_tokens = number_member(&s, body, "keep", 0, SIZE_MAX / 2);
	}
	if (how == RT_RUN_MERGE)
		r.from_take = text_member(&s, body, "from_take");
	if (how == RT_RUN_GO) {
		if (rt_json_get(body, "entry") == NULL)
			(void)rt_scope_fail(&s, RT_USAGE, "\"entry\" is missing: give the destination, or null for the position before "
							  "the first entry");
		r.entry_take = text_member(&s, body, "entry_take");
		r.entry = text_member(&s, body, "entry");
		r.select = flag_member(&s, body, "select", false);
		r.no_summary = !flag_member(&s, body, "summary", true);
	}
	st = rt_scope_end(&s, err);
	if (st == RT_OK)
		*out = r;
	return st;
}
