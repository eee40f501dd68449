/* SPDX-License-Identifier: MIT
 *
 * Requests: hooks are called before, the requests are executed, hooks are notified. */
#include "log/checkpoint.h"
#include "ops/action_impl.h"
#include "ops/ops.h"

/* ---- the events that hooks want ---- */

const rt_action_event_names rt_action_events[] = {
	{RT_EVENT_ADD, "entry.before_add", NULL},
	{RT_EVENT_EDIT, "entry.before_edit", NULL},
	{RT_EVENT_DELETE, "entry.before_delete", NULL},
	{RT_EVENT_ROLE, "entry.before_role", NULL},
	{RT_EVENT_ENTRY, NULL, "entry.after"},
	{RT_EVENT_TAKE, "take.before_create", "take.created"},
	{RT_EVENT_HEAD, "head.before_move", "head.after_move"},
	{RT_EVENT_SWITCH, "session.before_switch", "session.after_switch"},
	{RT_EVENT_UNDO, NULL, "undo.after"},
	{RT_EVENT_REDO, NULL, "redo.after"},
	{0, NULL, NULL},
};

static rt_action_state
begin(rt_engine *engine, const rt_apply_context *with, rt_str disc, rt_str take)
{
	rt_action_state a = {.engine = engine, .with = with, .disc = disc, .take = take};
	rt_hooks *hooks = with != NULL ? with->hooks : NULL;

	rt_scope_init(&a.scope, engine->alloc);
	rt_hooks_renew(hooks);
	for (const rt_action_event_names *e = rt_action_events; hooks != NULL && e->what != 0; e++) {
		if (e->before != NULL && hooks->ops->wants(hooks, e->before))
			a.before |= e->what;
		if (e->after != NULL && hooks->ops->wants(hooks, e->after))
			a.after |= e->what;
	}
	if (with != NULL && with->is_asked) {
		a.before = 0;
		a.after &= RT_EVENT_ENTRY;
	}
	return a;
}

/* ---- one step ---- */

/* Another process has replaced a node since: reload the value, once. */
static void
reload(rt_engine *engine)
{
	const rt_project *value = NULL;

	rt_engine_lock_writer(engine);
	if (rt_engine_load(engine, false, &value, NULL) == RT_OK)
		rt_engine_publish(engine, value);
	rt_engine_unlock_writer(engine);
}

/* Calls the hooks for each, on top of the effects of the previous ones. *out_failed: the one that
 * has the status. */
static rt_status
ask_all(rt_action_state *a, const rt_request *requests, rt_action_item *items, size_t count,
	size_t *out_failed, rt_error *err)
{
	const rt_project *value;
	rt_scope s;
	rt_change c;

	*out_failed = 0;
	rt_scope_init(&s, a->engine->alloc);
	/* Anything else that cannot be read now is noticed on execution. */
	if (rt_engine_refresh(a->engine, &s.error) == RT_NOMEM)
		rt_scope_nomem(&s);
	value = rt_engine_value(a->engine);
	rt_change_init(&c, &s, a->engine, value);
	for (size_t i = 0; i < count; i++)
		rt_action_item_init(a, &items[i], &requests[i]);
	RT_TRY(&s, a->scope.status);
	for (size_t i = 0; rt_ok(&s) && i < count; i++) {
		*out_failed = i;
		rt_action_ask_hooks(a, &items[i], &c);
	}
	rt_change_deinit(&c);
	rt_object_unref(value);
	return rt_scope_end(&s, err);
}

static rt_status
carry_out(const rt_action_state *a, const rt_request *requests, size_t count, bool atomic,
	  rt_result *results)
{
	rt_apply_options how = {.atomic = atomic, .disc = a->disc, .take = a->take,
				.compile = rt_compile};

	if (a->with != NULL) {
		how.by = a->with->by;
		how.check = a->with->check;
		how.check_ctx = a->with->check_ctx;
		how.keep = a->with->keep;
		how.keep_ctx = a->with->keep_ctx;
		how.coalesce_ms = a->with->coalesce_ms;
		how.group = a->with->group;
	}
	return rt_engine_apply_if(a->engine, requests, count, &how, results);
}

/* Some requests as one step, or one request. */
static rt_status
act(rt_action_state *a, const rt_request *requests, size_t count, bool atomic, rt_result *results)
{
	rt_action_item *items;
	rt_request *final;
	size_t failed = 0;
	rt_error err = {0};
	rt_status st;

	rt_scope_reset(&a->scope);
	items = rt_scope_array(&a->scope, count, sizeof(*items));
	final = rt_scope_array(&a->scope, count, sizeof(*final));
	if (!rt_ok(&a->scope)) {
		rt_results_fail(results, count, 0, a->scope.status, &a->scope.error);
		return a->scope.status;
	}
	st = ask_all(a, requests, items, count, &failed, &err);
	if (st == RT_CORRUPT) {
		reload(a->engine);
		st = ask_all(a, requests, items, count, &failed, &err);
	}
	/* If no hook could have denied it, the engine reports success or failure. */
	if (st != RT_OK && (a->before != 0 || st == RT_NOMEM)) {
		rt_results_fail(results, count, failed, st, &err);
		return st;
	}
	for (size_t i = 0; i < count; i++)
		final[i] = items[i].request;
	st = carry_out(a, final, count, atomic, results);
	for (size_t i = 0; i < count; i++)
		if (results[i].status == RT_OK && !results[i].unchanged)
			rt_action_notify_hooks(a, &items[i], &results[i]);
	return st;
}

/* Each separately; consecutive ones without interested hooks share their commits. */
static rt_status
act_each(rt_action_state *a, const rt_request *requests, size_t count, rt_result *results)
{
	size_t at = 0, end;
	rt_status first = RT_OK, st;

	while (at < count) {
		for (end = at; end < count && !rt_action_concerns(a, &requests[end]);)
			end++;
		st = RT_OK;
		if (end > at)
			st = carry_out(a, requests + at, end - at, false, results + at);
		first = first == RT_OK ? st : first;
		if (end < count) {
			st = act(a, requests + end, 1, false, results + end);
			first = first == RT_OK ? st : first;
			end++;
		}
		at = end;
	}
	return first;
}

static rt_status
apply(rt_action_state *a, const rt_request *requests, size_t count, bool atomic, rt_result *results)
{
	size_t i = 0;

	if (a->before != 0 || a->after != 0)
		while (i < count && !rt_action_concerns(a, &requests[i]))
			i++;
	else
		i = count;
	if (i == count)
		return carry_out(a, requests, count, atomic, results);
	memset(results, 0, count * sizeof(*results));
	return atomic ? act(a, requests, count, true, results)
		      : act_each(a, requests, count, results);
}

rt_status
rt_apply(rt_engine *engine, const rt_apply_context *with, const rt_request *requests, size_t count,
	 bool atomic, rt_str default_disc, rt_str default_take, rt_result *results)
{
	rt_action_state a;
	rt_error err;
	rt_status st = RT_OK;

	if (count > 0 && requests[0].invalid == NULL &&
	    (rt_ops[requests[0].op].flags & RT_OP_MOVES_HISTORY) == 0)
		st = rt_defaults_apply(engine, &err);
	if (st != RT_OK) {
		rt_results_fail(results, count, 0, st, &err);
		return st;
	}
	a = begin(engine, with, default_disc, default_take);
	st = apply(&a, requests, count, atomic, results);
	rt_scope_deinit(&a.scope);
	return st;
}

rt_status
rt_apply_json(rt_engine *engine, const rt_apply_context *with, yyjson_val *const *requests,
	      size_t count, bool atomic, rt_str default_disc, rt_str default_take,
	      rt_result *results)
{
	rt_scope s;
	rt_status st;

	rt_scope_init(&s, engine->alloc);
	rt_request *typed = rt_requests_read(&s, requests, count);
	if (typed != NULL) {
		st = rt_apply(engine, with, typed, count, atomic, default_disc, default_take,
			      results);
	} else {
		memset(results, 0, count * sizeof(*results));
		st = s.status;
		rt_results_fail(results, count, 0, st, &s.error);
	}
	rt_scope_deinit(&s);
	return st;
}

/* ---- sessions ---- */

static void
notify_session(rt_engine *engine, const rt_apply_context *with, const char *event)
{
	rt_action_state a = {.engine = engine, .with = with};
	rt_place_ids room;
	rt_buf none;

	if (with == NULL)
		return;
	rt_hook_call h = rt_action_hook_call(&a, (rt_place){0, 0}, &room);
	if (!rt_hook_call_wants(&h, event))
		return;
	rt_buf_init(&none, engine->alloc, 0);
	rt_hook_call_notify(&h, event, &none, NULL);
}

void
rt_action_session_open(rt_engine *engine, const rt_apply_context *with)
{
	notify_session(engine, with, "session.open");
}

void
rt_action_session_close(rt_engine *engine, const rt_apply_context *with)
{
	notify_session(engine, with, "session.close");
}

/* ---- without hooks ---- */

rt_status
rt_engine_apply(rt_engine *engine, const rt_request *requests, size_t count, bool atomic,
		rt_str default_disc, rt_str default_take, rt_result *results)
{
	return rt_apply(engine, NULL, requests, count, atomic, default_disc, default_take, results);
}

rt_status
rt_engine_apply_json(rt_engine *engine, yyjson_val *const *requests, size_t count, bool atomic,
		     rt_str default_disc, rt_str default_take, rt_result *results)
{
	return rt_apply_json(engine, NULL, requests, count, atomic, default_disc, default_take,
			     results);
}

rt_status
rt_engine_apply_text(rt_engine *engine, rt_str json, rt_str default_disc, rt_str default_take,
		     rt_result *result)
{
	rt_scope s;
	yyjson_val *request;
	rt_status st;

	rt_scope_init(&s, engine->alloc);
	request = rt_json_parse(&s, json);
	memset(result, 0, sizeof(*result));
	if (request != NULL)
		st = rt_engine_apply_json(engine, &request, 1, false, default_disc, default_take,
					  result);
	else
		rt_result_fail(result, st = s.status == RT_LIMIT ? RT_USAGE : s.status, &s.error);
	rt_scope_deinit(&s);
	return st;
}
