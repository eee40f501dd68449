/* SPDX-License-Identifier: MIT
 *
 * Whether a pending change is made or cancelled is decided by one compare-and-swap of its state:
 * `check`, within the transaction, from OPEN to WRITTEN; a cancellation to CANCELLED. After a
 * cancellation the worker is not waited for; it finds out when it has the lock. */
#include "tui/pending.h"

#include <stdio.h>

#include "tui/worker.h"
#include "terminal/terminal.h"

enum {
	FRAME_MS = 50, /* the terminal's thread waits this long */
	ANNOUNCE_MS = 150
};

enum { OPEN, WRITTEN, CANCELLED };

/* The session's hooks, wrapped to know which of them is running. */
typedef struct watched_hooks {
	rt_hooks hooks; /* first */
	rt_hooks *inner;
	_Atomic(const char *) event; /* NULL: none */
} watched_hooks;

struct rt_pending_change {
	rt_worker worker;
	rt_tui *tui;
	rt_work_job job;
	rt_pending_change_options options;
	watched_hooks hooks;
	uint32_t disc; /* in view when it was started, and … */
	rt_history before,
		after; /* … its history right before and after the change; written under the
				   * writer lock, then ours */
	bool has_before, has_after;
	uint64_t seq; /* right after the change */
	atomic_int state;
	atomic_bool is_stopped; /* hooks are to end */
	bool is_announced, has_draft;
};

/* ---- in the worker ---- */

static bool
wants(rt_hooks *hooks, const char *event)
{
	rt_hooks *inner = ((watched_hooks *)hooks)->inner;

	return inner->ops->wants(inner, event);
}

static void
renew(rt_hooks *hooks)
{
	rt_hooks_renew(((watched_hooks *)hooks)->inner);
}

static rt_status
fire(rt_hooks *hooks, const char *event, rt_str members, rt_str subject, rt_stop_fn stop,
     void *stop_ctx, rt_hook_answer *out, rt_error *err)
{
	watched_hooks *w = (watched_hooks *)hooks;
	rt_status st;

	atomic_store(&w->event, event);
	st = w->inner->ops->fire(w->inner, event, members, subject, stop, stop_ctx, out, err);
	atomic_store(&w->event, NULL);
	return st;
}

static bool
is_stopped(void *ctx)
{
	return atomic_load(&((rt_pending_change *)ctx)->is_stopped);
}

static rt_status
check(void *ctx, const rt_project *now, rt_error *err)
{
	rt_pending_change *p = ctx;
	const rt_disc *disc = NULL;
	int state = OPEN;
	rt_status st = RT_OK;

	st = rt_project_disc(now, p->disc, &disc, err);
	/* The draft was written right before: it was checked then. */
	if (st == RT_OK && p->options.precondition != NULL &&
	    !(p->has_after && now->seq == p->seq))
		st = rt_precondition_holds(p->options.precondition, p->job.engine, now, err);
	if (st != RT_OK)
		return st;
	if (!p->has_before) /* the draft before the change */
		p->before = disc->history;
	p->has_before = true;
	if (p->job.is_at_draft)
		return atomic_load(&p->state) == CANCELLED
			       ? rt_fail(err, RT_INTERRUPTED, "cancelled; nothing was changed")
			       : RT_OK;
	if (!atomic_compare_exchange_strong(&p->state, &state, WRITTEN) && state == CANCELLED)
		return rt_fail(err, RT_INTERRUPTED, "cancelled; nothing was changed");
	/* Before any thread can see a value with the change. */
	atomic_store(&p->tui->work.is_writing, true);
	return RT_OK;
}

/* Executed, but not visible to others yet. A failure here would fail the whole commit round. */
static rt_status
keep(void *ctx, rt_store *store, uint64_t project, const rt_project *now, const rt_result *results,
     size_t count, rt_error *err)
{
	rt_pending_change *p = ctx;
	const rt_disc *disc = NULL;

	(void)store;
	(void)project;
	(void)results;
	(void)count;
	(void)err;
	p->has_after = rt_project_disc(now, p->disc, &disc, NULL) == RT_OK;
	if (p->has_after)
		p->after = disc->history;
	p->seq = now->seq;
	return RT_OK;
}

static void
run_job(rt_worker *worker, void *ctx)
{
	(void)worker;
	rt_work_job_run(&((rt_pending_change *)ctx)->job);
}

/* ---- the beginning ---- */

static void
free_pending(void *ctx)
{
	rt_pending_change *p = ctx;
	rt_tui *tui = p->tui;

	rt_work_job_deinit(&p->job);
	if (p->options.free_ctx != NULL)
		p->options.free_ctx(tui, p->options.ctx);
	rt_free(tui->alloc, p);
}

/* Reports to the chat whether the draft that came with the change was stored. */
static void
report_draft(rt_pending_change *p, rt_status st)
{
	if (!p->has_draft)
		return;
	(void)rt_tui_begin(p->tui);
	p->tui->chat->draft_written(p->tui->panes[0], st);
	(void)!rt_tui_end(p->tui); /* out of memory: it is compared with the field again */
	p->has_draft = false;
}

/* Report a change that was never started. */
static rt_status
refuse(rt_tui *tui, const rt_pending_change_options *options, rt_status st, const rt_error *err)
{
	rt_work_said said;

	rt_work_said_init(&said, tui->alloc);
	st = options->done(tui, options->ctx, st, &said, err);
	if (options->free_ctx != NULL)
		options->free_ctx(tui, options->ctx);
	rt_work_said_deinit(&said);
	return st;
}

/* The change is for the discussion and take that were seen, even if others become active before it
 * is written. */
static void
name_place(rt_pending_change *p)
{
	const rt_precondition *precondition = p->options.precondition;
	const rt_place *place = &p->tui->work.place;

	if (precondition == NULL || precondition->disc == 0)
		return;
	(void)snprintf(p->job.disc, sizeof(p->job.disc), RT_BY_ID "d%u", precondition->disc);
	if (precondition->disc == place->disc && precondition->is_in_take)
		(void)snprintf(p->job.take, sizeof(p->job.take), RT_BY_ID "t%u", place->take);
}

static rt_status
start(rt_pending_change *p, rt_error *err)
{
	static const rt_hooks_ops ops = {NULL, wants, fire, renew};
	rt_tui *tui = p->tui;
	rt_apply_context *with = &p->job.with;
	rt_request draft;
	rt_status st;

	(void)rt_tui_begin(tui);
	p->has_draft = !p->options.is_quiet &&
		       tui->chat->draft_request(tui->panes[0], &draft);
	st = rt_work_job_init(&p->job, &tui->work, p->options.requests, p->options.count,
			      p->has_draft ? &draft : NULL, err);
	if (rt_tui_end(tui) != RT_OK && st == RT_OK)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	if (st != RT_OK)
		return st;
	name_place(p);
	p->hooks.hooks.ops = &ops;
	p->hooks.inner = tui->session->gate.inner;
	with->hooks = p->hooks.inner == NULL ? NULL : &p->hooks.hooks;
	with->coalesce_ms = RT_COALESCE_MS;
	with->stop = is_stopped;
	with->check = check;
	with->keep = keep;
	with->ctx = with->check_ctx = with->keep_ctx = p;
	st = rt_worker_start(&p->worker, tui, run_job, p);
	return st == RT_OK ? st
			   : rt_fail(err, st,
				     "the system cannot create another thread; nothing was "
				     "changed");
}

rt_status
rt_pending_change_start(rt_tui *tui, const rt_pending_change_options *options)
{
	rt_pending_change *p;
	rt_error err;
	rt_status st;

	if (tui->pending != NULL) {
		st = rt_fail(&err, RT_BUSY,
			     "another change is still in progress; this one was not started");
		return refuse(tui, options, st, &err);
	}
	p = rt_new0(tui->alloc, sizeof(*p));
	if (p == NULL)
		return refuse(tui, options, rt_fail(&err, RT_NOMEM, "out of memory"), &err);
	p->tui = tui;
	p->options = *options;
	p->disc = tui->work.place.disc;
	tui->typeahead_at = tui->work.disc->history;
	atomic_init(&p->hooks.event, NULL);
	atomic_init(&p->state, OPEN);
	atomic_init(&p->is_stopped, false);
	st = start(p, &err);
	if (st != RT_OK) {
		report_draft(p, RT_INTERRUPTED);
		rt_work_job_deinit(&p->job);
		rt_free(tui->alloc, p);
		return refuse(tui, options, st, &err);
	}
	tui->pending = p;
	if (!options->is_quiet)
		(void)rt_worker_wait(&p->worker, FRAME_MS);
	return rt_pending_change_poll(tui);
}

/* ---- the end ---- */

void
rt_pending_change_drop_typeahead(rt_tui *tui, const char *why)
{
	size_t count = tui->typeahead.count;

	rt_typeahead_clear(&tui->typeahead);
	if (count > 0)
		rt_buf_add_f(&tui->notice,
			     "%sThe keys typed after it (%zu key%s) were discarded%s",
			     tui->notice.size > 0 ? ".  " : "", count, count > 1 ? "s" : "", why);
}

static bool
is_same(const rt_history *a, const rt_history *b)
{
	return a->current == b->current && a->last_step == b->last_step;
}

/* Has the discussion been unchanged by others since, while hooks ran? */
static bool
is_newest(rt_tui *tui, const rt_pending_change *p)
{
	rt_engine *engine = tui->work.engine;
	const rt_disc *disc = NULL;
	const rt_project *now;
	bool is_newest;

	if (!p->has_before)
		return true;
	(void)!rt_engine_refresh_now(engine, NULL); /* what cannot be read is noticed later */
	now = rt_engine_value(engine);
	is_newest = rt_project_disc(now, p->disc, &disc, NULL) == RT_OK &&
		    is_same(&disc->history, p->has_after ? &p->after : &p->before);
	rt_object_unref(now);
	return is_newest;
}

/* Call done. tui->pending is NULL already; a cancelled change may still have a worker. */
static rt_status
call_done(rt_tui *tui, rt_pending_change *p, rt_status st, rt_work_said *said, const rt_error *err)
{
	size_t panes = tui->pane_count;
	bool newest = st == RT_OK && is_newest(tui, p);
	/* Was it applied to the state that was visible when the typeahead was typed? done may start
	 * another. */
	bool as_typed = newest && (!p->has_before || is_same(&p->before, &tui->typeahead_at));
	rt_status then;

	tui->is_own = newest;
	then = p->options.done(tui, p->options.ctx, st, said, err);
	if (p->options.is_quiet && st != RT_OK)
		return then;
	if (st != RT_OK) {
		tui->is_unread = tui->pane_count > panes;
		rt_pending_change_drop_typeahead(tui, "");
		tui->ends = tui->ends && tui->is_forced; /* show why */
	} else if (!as_typed) {
		rt_pending_change_drop_typeahead(tui,
						 ": another program or window made changes in "
						 "the meantime");
	}
	return then;
}

rt_status
rt_pending_change_poll(rt_tui *tui)
{
	rt_pending_change *p = tui->pending;
	rt_work_said said;
	rt_error err = {0};
	rt_status st;

	if (p == NULL && tui->is_unread)
		rt_pending_change_drop_typeahead(tui, "");
	if (p == NULL || !rt_worker_ended(&p->worker))
		return RT_OK;
	tui->pending = NULL;
	rt_work_said_init(&said, tui->alloc);
	st = rt_work_job_end(&p->job, &tui->work, &said, &err);
	atomic_store(&tui->work.is_writing, false);
	report_draft(p, p->job.draft_status);
	st = call_done(tui, p, st, &said, &err);
	rt_work_said_deinit(&said);
	free_pending(p);
	return st;
}

rt_status
rt_pending_change_cancel(rt_tui *tui)
{
	rt_pending_change *p = tui->pending;
	int state = OPEN;
	rt_work_said said;
	rt_error err;
	rt_status st;

	if (p == NULL)
		return RT_OK;
	atomic_store(&p->is_stopped, true);
	if (!atomic_compare_exchange_strong(&p->state, &state, CANCELLED))
		return RT_OK; /* it is being or was written; only a hook can be ended now */
	tui->pending = NULL;
	report_draft(p, RT_INTERRUPTED);
	st = rt_fail(&err, RT_INTERRUPTED, "cancelled; nothing was changed");
	rt_work_said_init(&said, tui->alloc);
	st = call_done(tui, p, st, &said, &err);
	rt_work_said_deinit(&said);
	rt_worker_detach(&p->worker, tui, free_pending);
	return st;
}

rt_status
rt_pending_change_finish(rt_tui *tui)
{
	while (tui->pending != NULL && !rt_worker_wait(&tui->pending->worker, 1000))
		;
	return rt_pending_change_poll(tui);
}

rt_status
rt_pending_change_finish_soon(rt_tui *tui, int wait_ms)
{
	if (tui->pending != NULL && !rt_worker_wait(&tui->pending->worker, wait_ms)) {
		rt_status st = rt_pending_change_cancel(tui);

		return st == RT_OK ? rt_pending_change_finish(tui) : st;
	}
	return rt_pending_change_poll(tui);
}

void
rt_pending_change_stop(rt_tui *tui)
{
	rt_pending_change *p = tui->pending;

	if (p == NULL)
		return;
	tui->pending = NULL;
	atomic_store(&p->is_stopped, true);
	rt_worker_stop(&p->worker);
	free_pending(p);
}

rt_status
rt_pending_change_report(rt_tui *tui, void *ctx, rt_status st, rt_work_said *said,
			 const rt_error *err)
{
	(void)ctx;
	if (st == RT_OK)
		rt_tui_say_change(tui, said);
	return rt_tui_say_failure(tui, st, err);
}

/* ---- meanwhile ---- */

/* Does the key cancel, as the announcement says? Other keys that close something still do. */
static bool
cancels(const rt_event *event)
{
	return event->kind == RT_EVENT_KEY && (rt_key_eq(event->key, (rt_key){RT_KEY_ESCAPE, 0}) ||
					       rt_key_eq(event->key, (rt_key){'c', RT_KEY_CTRL}));
}

rt_status
rt_pending_change_on_event(rt_tui *tui, const rt_event *event, bool *out_taken)
{
	rt_pending_change *p = tui->pending;
	bool writes = event->kind == RT_EVENT_PASTE;
	rt_action action = RT_ACT_NONE;

	*out_taken = false;
	if (event->kind != RT_EVENT_KEY && event->kind != RT_EVENT_PASTE)
		return RT_OK;
	if (p == NULL) {
		*out_taken = tui->ends ||
			     tui->is_unread; /* no new changes; no answers to unread questions */
		return tui->is_unread && !tui->ends ? rt_typeahead_add(&tui->typeahead, event)
						    : RT_OK;
	}
	if (event->kind == RT_EVENT_KEY)
		action = rt_tui_action_of(tui, event->key, &writes);
	if (p->is_announced || p->options.is_quiet) {
		bool scrolls_chat = (action == RT_ACT_PAGE_UP || action == RT_ACT_PAGE_DOWN) &&
				    tui->pane_count == 1;

		if (p->is_announced && cancels(event)) {
			*out_taken = true;
			return rt_pending_change_cancel(tui);
		}
		if (tui->typeahead.count == 0 &&
		    (writes || action == RT_ACT_CANCEL || action == RT_ACT_CLEAR ||
		     rt_action_only_looks(action)))
			return RT_OK;
		/* Even past the typeahead. */
		if (scrolls_chat || action == RT_ACT_SUSPEND || action == RT_ACT_REDRAW)
			return RT_OK;
	}
	*out_taken = true;
	if (tui->typeahead.count == 0)
		tui->typeahead_at = tui->work.disc->history;
	return rt_typeahead_add(&tui->typeahead, event);
}

/* Does a cancelled change still wait for the lock? */
static bool
has_cancelled(const rt_tui *tui)
{
	const rt_worker *worker = tui->left;

	while (worker != NULL && worker->free_ctx != free_pending)
		worker = worker->next;
	return worker != NULL;
}

bool
rt_pending_change_status_text(rt_tui *tui, rt_buf *out)
{
	rt_pending_change *p = tui->pending;
	size_t waiting = tui->typeahead.count;
	const char *event;
	bool is_open;

	tui->is_unread = false;
	if (p == NULL && tui->ends && has_cancelled(tui)) {
		rt_buf_add_c(out, "Quitting as soon as the cancelled change ends: another "
				  "program is still writing to the store");
		return true;
	}
	if (p == NULL || (rt_worker_age_ms(&p->worker) < ANNOUNCE_MS && !tui->ends) ||
	    (p->options.is_quiet && waiting == 0 && !tui->ends))
		return false;
	p->is_announced = true;
	event = atomic_load(&p->hooks.event);
	is_open = atomic_load(&p->state) == OPEN;
	if (event != NULL)
		rt_buf_add_f(out, "%s running a hook (%s)", is_open ? "Waiting:" : "The change is "
										   "saved;",
			     event);
	else if (is_open)
		rt_buf_add_c(out, "Waiting: another program is writing to the store");
	else
		rt_buf_add_c(out, "Writing the change");
	if (atomic_load(&p->is_stopped))
		rt_buf_add_c(out, ".  Stopping the hook");
	else if (is_open)
		rt_buf_add_c(out, ".  Escape cancels");
	else if (event != NULL)
		rt_buf_add_c(out, ".  Escape stops the hook");
	if (waiting > 0)
		rt_buf_add_f(out, ".  %zu key%s queued%s", waiting,
			     waiting > 1 ? "s" : "",
			     waiting == RT_TYPEAHEAD_MAX ? "; more are ignored" : "");
	if (tui->ends)
		rt_buf_add_c(out, ".  Quitting when done");
	return true;
}

bool
rt_pending_change_is_unfinished(const rt_tui *tui)
{
	return tui->pending != NULL || tui->left != NULL;
}
