/* SPDX-License-Identifier: MIT
 *
 * A pending change begun, looked after, ended. Whether it stands is decided in one place: check,
 * within the transaction, closes a pending change that is open; giving it up closes it, too, and
 * only one of the two can. Whoever has given up need not wait for the thread, which finds that out
 * when it has the lock. */
#include "tui/pending.h"

#include <stdio.h>

#include "tui/worker.h"
#include "tui/terminal.h"

enum {
	FRAME_MS = 50, /* the terminal's thread waits so long */
	TOLD_MS = 150
};

enum { OPEN, WRITTEN, GIVEN_UP };

/* Hooks, with a look at which of them runs. */
typedef struct looked {
	rt_hooks hooks; /* first */
	rt_hooks *inner;
	_Atomic(const char *) event; /* NULL: none */
} looked;

struct rt_pending_change {
	rt_worker worker;
	rt_tui *tui;
	rt_work_job job;
	rt_pending_change_options how;
	looked looked;
	uint32_t disc;            /* at hand when it was begun, and … */
	rt_history before, after; /* … its history right before the change, and right after it; for
				   * who has the lock, then ours */
	bool has_before, has_after;
	atomic_int state;
	atomic_bool is_stopped; /* hooks are to end */
	bool is_told;           /* the person has seen that it takes long */
};

/* ---- in the thread ---- */

static bool
wants(rt_hooks *hooks, const char *event)
{
	rt_hooks *inner = ((looked *)hooks)->inner;

	return inner->ops->wants(inner, event);
}

static void
renew(rt_hooks *hooks)
{
	rt_hooks_renew(((looked *)hooks)->inner);
}

static rt_status
fire(rt_hooks *hooks, const char *event, rt_str members, rt_str subject, rt_stop_fn stop,
     void *stop_ctx, rt_hook_answer *out, rt_error *err)
{
	looked *l = (looked *)hooks;
	rt_status st;

	atomic_store(&l->event, event);
	st = l->inner->ops->fire(l->inner, event, members, subject, stop, stop_ctx, out, err);
	atomic_store(&l->event, NULL);
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
	rt_pending_change *d = ctx;
	const rt_disc *disc = NULL;
	int state = OPEN;
	rt_status st = d->how.precondition == NULL ? RT_OK
						   : rt_precondition_holds(d->how.precondition,
									   d->job.engine, now, err);

	if (st == RT_OK)
		st = rt_project_disc(now, d->disc, &disc, err);
	if (st != RT_OK)
		return st;
	d->before = disc->history;
	d->has_before = true;
	if (!atomic_compare_exchange_strong(&d->state, &state, WRITTEN) && state == GIVEN_UP)
		return rt_fail(err, RT_INTERRUPTED, "given up; nothing was changed");
	/* Nobody sees a value with it in it before this. */
	atomic_store(&d->tui->work.is_writing, true);
	return RT_OK;
}

/* Carried out, and not there for others yet. A failure here would be everybody's. */
static rt_status
keep(void *ctx, rt_store *store, uint64_t project, const rt_project *now, const rt_result *results,
     size_t count, rt_error *err)
{
	rt_pending_change *d = ctx;
	const rt_disc *disc = NULL;

	(void)store;
	(void)project;
	(void)results;
	(void)count;
	(void)err;
	d->has_after = rt_project_disc(now, d->disc, &disc, NULL) == RT_OK;
	if (d->has_after)
		d->after = disc->history;
	return RT_OK;
}

static void
work_off(rt_worker *worker, void *ctx)
{
	(void)worker;
	rt_work_job_run(&((rt_pending_change *)ctx)->job);
}

/* ---- begun ---- */

static void
free_pending(void *ctx)
{
	rt_pending_change *d = ctx;
	rt_tui *tui = d->tui;

	rt_work_job_deinit(&d->job);
	if (d->how.free_ctx != NULL)
		d->how.free_ctx(tui, d->how.ctx);
	rt_free(tui->alloc, d);
}

/* Not begun at all. */
static rt_status
refuse(rt_tui *tui, const rt_pending_change_options *how, rt_status st, const rt_error *err)
{
	rt_work_said said;

	rt_work_said_init(&said, tui->alloc);
	st = how->done(tui, how->ctx, st, &said, err);
	if (how->free_ctx != NULL)
		how->free_ctx(tui, how->ctx);
	rt_work_said_deinit(&said);
	return st;
}

/* What was seen is what is changed, also where somebody makes another discussion or take the
 * active one before it is written: requests that name none mean those at hand now. */
static void
name_place(rt_pending_change *d)
{
	const rt_precondition *precondition = d->how.precondition;

	if (precondition == NULL || precondition->disc == 0)
		return;
	(void)snprintf(d->job.disc, sizeof(d->job.disc), "d%u", precondition->disc);
	if (precondition->disc == d->tui->work.place.disc && precondition->is_in_take)
		(void)snprintf(d->job.take, sizeof(d->job.take), "t%u", d->tui->work.place.take);
}

rt_status
rt_pending_change_start(rt_tui *tui, const rt_pending_change_options *how)
{
	static const rt_hooks_ops ops = {NULL, wants, fire, renew};
	rt_pending_change *d;
	rt_error err;
	rt_status st;

	if (tui->pending != NULL) {
		st = rt_fail(&err, RT_BUSY,
			     "another change is still under way; this one was not begun");
		return refuse(tui, how, st, &err);
	}
	d = rt_new0(tui->alloc, sizeof(*d));
	if (d == NULL) {
		st = rt_fail(&err, RT_NOMEM, "out of memory");
		return refuse(tui, how, st, &err);
	}
	d->tui = tui;
	d->how = *how;
	d->disc = tui->work.place.disc;
	tui->typeahead_at = tui->work.disc->history;
	d->looked.hooks.ops = &ops;
	d->looked.inner = tui->session->gate.inner;
	atomic_init(&d->looked.event, NULL);
	atomic_init(&d->state, OPEN);
	atomic_init(&d->is_stopped, false);
	st = rt_work_job_init(&d->job, &tui->work, how->requests, how->count, &err);
	if (st == RT_OK)
		name_place(d);
	d->job.with.hooks = d->looked.inner == NULL ? NULL : &d->looked.hooks;
	d->job.with.stop = is_stopped;
	d->job.with.ctx = d;
	d->job.with.check = check;
	d->job.with.check_ctx = d;
	d->job.with.keep = keep;
	d->job.with.keep_ctx = d;
	if (st == RT_OK) {
		st = rt_worker_start(&d->worker, tui, work_off, d);
		if (st != RT_OK)
			(void)rt_fail(&err, st, "the system gives no thread for this now; nothing "
						"was changed");
	}
	if (st != RT_OK) {
		rt_work_job_deinit(&d->job);
		rt_free(tui->alloc, d);
		return refuse(tui, how, st, &err);
	}
	tui->pending = d;
	(void)rt_worker_wait(&d->worker, FRAME_MS);
	return rt_pending_change_poll(tui);
}

/* ---- over ---- */

/* What was held back was typed for when it would stand, and nothing else was done. */
void
rt_pending_change_drop_typeahead(rt_tui *tui, const char *why)
{
	size_t count = tui->typeahead.count;

	rt_typeahead_clear(&tui->typeahead);
	if (count > 0)
		rt_buf_add_f(&tui->notice, "%sWhat was typed after it (%zu key%s) was not carried out%s",
			     tui->notice.size > 0 ? ".  " : "", count, count > 1 ? "s" : "", why);
}

static bool
is_same(const rt_history *a, const rt_history *b)
{
	return a->current == b->current && a->last_step == b->last_step;
}

/* Is what the change came upon what the person saw who typed on? */
static bool
is_as_typed(const rt_tui *tui, const rt_pending_change *d)
{
	return !d->has_before || is_same(&d->before, &tui->typeahead_at);
}

/* Did nobody else change the discussion since, while hooks ran? */
static bool
is_last(rt_tui *tui, const rt_pending_change *d)
{
	rt_engine *engine = tui->work.engine;
	const rt_disc *disc = NULL;
	const rt_project *now;
	bool last;

	if (!d->has_before)
		return true;
	(void)!rt_engine_refresh_now(engine, NULL); /* what cannot be read is seen later */
	now = rt_engine_value(engine);
	last = rt_project_disc(now, d->disc, &disc, NULL) == RT_OK &&
	       is_same(&disc->history, d->has_after ? &d->after : &d->before);
	rt_object_unref(now);
	return last;
}

/* Who asked is told. The pending change may have a thread still, and is not ours any more. */
static rt_status
tell(rt_tui *tui, rt_pending_change *d, rt_status st, rt_work_said *said, const rt_error *err)
{
	size_t panes = tui->pane_count;
	bool last = st == RT_OK && is_last(tui, d);
	bool as_typed = last && is_as_typed(tui, d); /* another may be begun in done */
	rt_status then;

	tui->is_own = last;
	then = d->how.done(tui, d->how.ctx, st, said, err);
	if (st != RT_OK) {
		tui->is_unread = tui->pane_count > panes;
		rt_pending_change_drop_typeahead(tui, "");
		tui->ends = tui->ends && tui->is_forced; /* one wants to see why */
	} else if (!as_typed) {
		rt_pending_change_drop_typeahead(tui,
						 ": somebody else changed something meanwhile");
	}
	return then;
}

rt_status
rt_pending_change_poll(rt_tui *tui)
{
	rt_pending_change *d = tui->pending;
	rt_work_said said;
	rt_error err = {0};
	rt_status st;

	if (d == NULL && tui->is_unread)
		rt_pending_change_drop_typeahead(tui, "");
	if (d == NULL || !rt_worker_ended(&d->worker))
		return RT_OK;
	tui->pending = NULL;
	rt_work_said_init(&said, tui->alloc);
	st = rt_work_job_end(&d->job, &tui->work, &said, &err);
	atomic_store(&tui->work.is_writing, false);
	st = tell(tui, d, st, &said, &err);
	rt_work_said_deinit(&said);
	free_pending(d);
	return st;
}

rt_status
rt_pending_change_cancel(rt_tui *tui)
{
	rt_pending_change *d = tui->pending;
	int state = OPEN;
	rt_work_said said;
	rt_error err;
	rt_status st;

	if (d == NULL)
		return RT_OK;
	atomic_store(&d->is_stopped, true);
	if (!atomic_compare_exchange_strong(&d->state, &state, GIVEN_UP))
		return RT_OK; /* it is being written, or stands; only a hook can be ended now */
	tui->pending = NULL;
	st = rt_fail(&err, RT_INTERRUPTED, "given up; nothing was changed");
	rt_work_said_init(&said, tui->alloc);
	st = tell(tui, d, st, &said, &err);
	rt_work_said_deinit(&said);
	rt_worker_detach(&d->worker, tui, free_pending);
	return st;
}

rt_status
rt_pending_change_finish(rt_tui *tui)
{
	enum { A_WHILE_MS = 1000 };

	while (tui->pending != NULL && !rt_worker_wait(&tui->pending->worker, A_WHILE_MS))
		;
	return rt_pending_change_poll(tui);
}

void
rt_pending_change_stop(rt_tui *tui)
{
	rt_pending_change *d = tui->pending;

	if (d == NULL)
		return;
	tui->pending = NULL;
	atomic_store(&d->is_stopped, true);
	rt_worker_stop(&d->worker);
	free_pending(d);
}

rt_status
rt_pending_change_report(rt_tui *tui, void *ctx, rt_status st, rt_work_said *said,
			 const rt_error *err)
{
	(void)ctx;
	if (st == RT_OK)
		rt_tui_say_change(tui, said);
	else if (st != RT_NOMEM)
		rt_tui_say_error(tui, err, rt_buf_str(&tui->work.hint));
	return st == RT_NOMEM ? st : RT_OK;
}

/* ---- meanwhile ---- */

/* What is done at once, whatever is under way: nothing that a change could come of. */
static bool
only_looks(rt_action action)
{
	switch (action) {
	case RT_ACT_UP:
	case RT_ACT_DOWN:
	case RT_ACT_PAGE_UP:
	case RT_ACT_PAGE_DOWN:
	case RT_ACT_HOME:
	case RT_ACT_END:
	case RT_ACT_LEFT:
	case RT_ACT_RIGHT:
	case RT_ACT_SEGMENT_UP:
	case RT_ACT_SEGMENT_DOWN:
	case RT_ACT_QUIT:
	case RT_ACT_SUSPEND:
	case RT_ACT_FILTER_DEFAULT:
	case RT_ACT_FILTER_USER:
	case RT_ACT_FILTER_ALL:
	case RT_ACT_FILTER_NO_TOOLS:
	case RT_ACT_FILTER_LABELED:
	case RT_ACT_FILTER_NEXT:
	case RT_ACT_SEARCH:
	case RT_ACT_FIND_NEXT:
	case RT_ACT_FIND_PREVIOUS:
	case RT_ACT_MARK:
	case RT_ACT_MARK_NONE:
	case RT_ACT_FOLD_ALL:
	case RT_ACT_COPY:
	case RT_ACT_COPY_PATH:
	case RT_ACT_TREE:
	case RT_ACT_HISTORY:
	case RT_ACT_DISCUSSIONS:
	case RT_ACT_HELP:
	case RT_ACT_PREVIEW:
	case RT_ACT_TOOLS:
	case RT_ACT_THINKING:
	case RT_ACT_SELECT:
	case RT_ACT_REDRAW:
	case RT_ACT_NEWLINE:
	case RT_ACT_COMPLETE:
	case RT_ACT_WORD_LEFT:
	case RT_ACT_WORD_RIGHT:
	case RT_ACT_LINE_START:
	case RT_ACT_LINE_END:
	case RT_ACT_TEXT_START:
	case RT_ACT_TEXT_END:
	case RT_ACT_ERASE:
	case RT_ACT_ERASE_NEXT:
	case RT_ACT_ERASE_WORD:
	case RT_ACT_ERASE_WORD_NEXT:
	case RT_ACT_ERASE_TO_START:
	case RT_ACT_ERASE_TO_END:
	case RT_ACT_YANK:
	case RT_ACT_FIELD_UNDO:
	case RT_ACT_FIELD_REDO: return true;
	default: return false;
	}
}

/* The line says Escape; other keys that close something go on closing it. */
static bool
gives_up(rt_key key)
{
	return rt_key_eq(key, (rt_key){RT_KEY_ESCAPE, 0}) || rt_key_eq(key, (rt_key){'c', RT_KEY_CTRL});
}

static bool
closes(rt_action action)
{
	return action == RT_ACT_CANCEL || action == RT_ACT_CLEAR;
}

rt_status
rt_pending_change_on_event(rt_tui *tui, const rt_event *event, bool *out_taken)
{
	rt_pending_change *d = tui->pending;
	bool writes = event->kind == RT_EVENT_PASTE;
	rt_action action = RT_ACT_NONE;
	rt_status st;

	*out_taken = false;
	if (event->kind != RT_EVENT_KEY && event->kind != RT_EVENT_PASTE)
		return RT_OK;
	*out_taken = tui->ends && d == NULL; /* nothing is begun any more */
	if (d == NULL && tui->is_unread && !tui->ends) { /* nobody answers what they have not read */
		*out_taken = true;
		st = rt_typeahead_add(&tui->typeahead, event);
		return st == RT_LIMIT ? RT_OK : st;
	}
	if (d == NULL)
		return RT_OK;
	if (event->kind == RT_EVENT_KEY)
		action = rt_tui_action_of(tui, event->key, &writes);
	*out_taken = true;
	if (d->is_told && event->kind == RT_EVENT_KEY && gives_up(event->key))
		return rt_pending_change_cancel(tui);
	*out_taken = false;
	if (d->is_told && tui->typeahead.count == 0 &&
	    (writes || closes(action) || only_looks(action)))
		return RT_OK;
	/* Behind what is held back: what moves the chat's view and nothing else. */
	if (d->is_told && (((action == RT_ACT_PAGE_UP || action == RT_ACT_PAGE_DOWN) &&
			    tui->pane_count == 1) ||
			   action == RT_ACT_SUSPEND || action == RT_ACT_REDRAW))
		return RT_OK;
	*out_taken = true;
	if (tui->typeahead.count == 0)
		tui->typeahead_at = tui->work.disc->history;
	st = rt_typeahead_add(&tui->typeahead, event);
	return st == RT_LIMIT ? RT_OK : st; /* a key that somebody leans on */
}

/* Does one that was given up still wait for the lock? */
static bool
has_given_up(const rt_tui *tui)
{
	const rt_worker *worker = tui->left;

	while (worker != NULL && worker->free_ctx != free_pending)
		worker = worker->next;
	return worker != NULL;
}

bool
rt_pending_change_status_text(rt_tui *tui, rt_buf *out)
{
	rt_pending_change *d = tui->pending;
	const char *event;
	bool is_open;

	tui->is_unread = false;
	if (d == NULL && tui->ends && has_given_up(tui)) {
		rt_buf_add_c(out, "Leaving as soon as what was given up has ended: another program "
				  "still writes to the store");
		return true;
	}
	if (d == NULL || (rt_worker_age_ms(&d->worker) < TOLD_MS && !tui->ends))
		return false;
	d->is_told = true;
	event = atomic_load(&d->looked.event);
	is_open = atomic_load(&d->state) == OPEN;
	if (event != NULL)
		rt_buf_add_f(out, "%s a hook runs (%s)", is_open ? "Waiting:" : "It is done;", event);
	else if (is_open)
		rt_buf_add_c(out, "Waiting: another program writes to the store");
	else
		rt_buf_add_c(out, "Waiting: it is being written");
	if (atomic_load(&d->is_stopped))
		rt_buf_add_c(out, ".  The hook is told to end");
	else if (is_open)
		rt_buf_add_c(out, ".  Escape gives it up");
	else if (event != NULL)
		rt_buf_add_c(out, ".  Escape ends the hook");
	if (tui->typeahead.count > 0)
		rt_buf_add_f(out, ".  %zu key%s typed after it %s%s", tui->typeahead.count,
			     tui->typeahead.count > 1 ? "s" : "",
			     tui->typeahead.count > 1 ? "wait" : "waits",
			     tui->typeahead.count == RT_TYPEAHEAD_MAX ? "; no more are taken" : "");
	if (tui->ends)
		rt_buf_add_c(out, ".  Leaving when it is done");
	return true;
}

bool
rt_pending_change_is_unfinished(const rt_tui *tui)
{
	return tui->pending != NULL || tui->left != NULL;
}
