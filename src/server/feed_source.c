/* SPDX-License-Identifier: MIT
 *
 * Sources of events.
 *
 * Rows: the newest are kept as text, so that a row is written once and not by every stream; older
 * ones are written for the stream that reads them.
 *
 * Replies that other processes receive: their side rows, read now and then; those of other servers as
 * events of their runs (run_claim.h). Each change of one has
 * an increasing number; a stream remembers the number up to which it has sent them. A reply that is
 * over stays in the list for a while, for slow streams. */
#define _POSIX_C_SOURCE 200809L

#include "server/feed_impl.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "codec/json.h"
#include "log/heads.h"
#include "server/run_claim.h"

enum { LOOK_SHARE = 20 /* reading the store takes at most this fraction (1/n) of the time */ };

/* ---- rows ---- */

void
rt_feed_rows_init(rt_feed_rows *rows)
{
	memset(rows, 0, sizeof(*rows));
	pthread_mutex_init(&rows->lock, NULL);
}

static void
drop_row(rt_feed_rows *rows, rt_feed_row *row)
{
	if (row->text != NULL)
		rows->bytes -= row->text->size;
	rt_text_unref(row->text);
	memset(row, 0, sizeof(*row));
}

static void
drop_rows(rt_feed_rows *rows)
{
	for (size_t i = 0; i < RT_FEED_ROWS; i++)
		drop_row(rows, &rows->at[i]);
	rows->low = 0;
}

void
rt_feed_rows_deinit(rt_feed_rows *rows)
{
	drop_rows(rows);
	pthread_mutex_destroy(&rows->lock);
}

void
rt_feed_add_id(rt_buf *out, uint64_t epoch, uint64_t seq)
{
	rt_buf_add_f(out, "id: %016llx.%llu\n", (unsigned long long)epoch, (unsigned long long)seq);
}

/* Will it never be readable? */
static bool
is_permanent(rt_status st)
{
	return st == RT_NOT_FOUND || st == RT_CORRUPT || st == RT_TOO_NEW;
}

static rt_status
write_row(rt_engine *engine, uint64_t epoch, const rt_project *project, uint64_t seq,
	  rt_feed_row *out, rt_error *err)
{
	rt_scope s;

	memset(out, 0, sizeof(*out));
	rt_scope_init(&s, rt_engine_alloc(engine));
	rt_buf *event = rt_scope_buf(&s);
	rt_feed_add_id(event, epoch, seq);
	rt_buf_add_c(event, "event: op\ndata: ");
	size_t head = event->size;
	rt_status st = !rt_ok(&s) ? s.status
				  : rt_view_change(engine, project, seq, event, &out->discs,
						   &s.error);
	if (is_permanent(st) && event->status == RT_OK) {
		event->size = head;
		rt_buf_add_f(event, "{\"seq\":%llu,\"whole\":true}", (unsigned long long)seq);
		out->discs.count = RT_CHANGE_DISCS + 1;
		st = RT_OK;
	}
	rt_buf_add_c(event, "\n\n");
	rt_scope_note(&s, st);
	rt_str text = rt_scope_str(&s, event);
	out->seq = seq;
	out->text = rt_ok(&s) ? rt_text_new(s.alloc, text) : NULL;
	if (rt_ok(&s) && out->text == NULL)
		rt_scope_nomem(&s);
	return rt_scope_end(&s, err);
}

/* Keeps a row, and drops the oldest beyond the limit. */
static void
keep_row(rt_feed_rows *rows, const rt_feed_row *row)
{
	rt_feed_row *slot = &rows->at[row->seq % RT_FEED_ROWS];

	if (row->text->size > RT_FEED_ROWS_BYTES / 4)
		return;
	drop_row(rows, slot);
	*slot = *row;
	(void)rt_text_ref(row->text);
	rows->bytes += row->text->size;
	if (rows->low == 0 || row->seq < rows->low)
		rows->low = row->seq;
	for (; rows->bytes > RT_FEED_ROWS_BYTES && rows->low < row->seq; rows->low++) {
		slot = &rows->at[rows->low % RT_FEED_ROWS];
		if (slot->seq == rows->low)
			drop_row(rows, slot);
	}
}

rt_status
rt_feed_rows_get(rt_feed_rows *rows, rt_engine *engine, uint64_t epoch, const rt_project *project,
		 uint64_t seq, rt_feed_row *out, rt_error *err)
{
	const rt_feed_row *slot = &rows->at[seq % RT_FEED_ROWS];
	rt_status st = RT_OK;

	if (seq + RT_FEED_ROWS <= project->seq)
		return write_row(engine, epoch, project, seq, out, err);
	/* Under the lock: another stream that comes now needs the same row. */
	pthread_mutex_lock(&rows->lock);
	if (rows->epoch != epoch) {
		drop_rows(rows);
		rows->epoch = epoch;
	}
	if (slot->seq == seq) {
		*out = *slot;
		(void)rt_text_ref(out->text);
	} else {
		st = write_row(engine, epoch, project, seq, out, err);
		if (st == RT_OK)
			keep_row(rows, out);
	}
	pthread_mutex_unlock(&rows->lock);
	return st;
}

/* ---- replies of other processes ---- */

void
rt_feed_inflight_init(rt_feed_inflight_list *list)
{
	memset(list, 0, sizeof(*list));
	pthread_mutex_init(&list->lock, NULL);
}

void
rt_feed_inflight_forget(rt_feed_inflight_list *list)
{
	pthread_mutex_lock(&list->lock);
	while (list->count > 0)
		rt_text_unref(list->at[--list->count].event);
	list->looked_us = 0;
	pthread_mutex_unlock(&list->lock);
}

void
rt_feed_inflight_deinit(rt_feed_inflight_list *list)
{
	rt_feed_inflight_forget(list);
	pthread_mutex_destroy(&list->lock);
}

/* The end of a text, and the number of bytes left out before it. */
static rt_str
cut_text(rt_str text, size_t *out_skipped)
{
	size_t skipped = text.size > RT_FEED_FLIGHT_MAX ? text.size - RT_FEED_FLIGHT_MAX : 0;

	while (skipped > 0 && skipped < text.size && (text.ptr[skipped] & 0xc0) == 0x80)
		skipped++;
	*out_skipped = skipped;
	return rt_str_at(text.ptr + skipped, text.size - skipped);
}

/* An event about a reply; v NULL: it is over. NULL: no memory. */
static const rt_text *
write_event(const rt_alloc *alloc, const char *name, const rt_inflight_view *v)
{
	const rt_text *text = NULL;
	rt_buf out;

	rt_buf_init(&out, alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&out, v == NULL ? "event: flight.ended\ndata: " : "event: flight\ndata: ");
	rt_json_open(&out, NULL, '{');
	rt_json_put_c(&out, "flight", name);
	if (v != NULL) {
		size_t skipped;
		rt_str end = cut_text(v->text, &skipped);

		rt_json_put_str(&out, "discussion", v->discussion);
		rt_json_put_str(&out, "take", v->take);
		if (v->into.size > 0)
			rt_json_put_str(&out, "into", v->into);
		else
			rt_json_put_str(&out, "after", v->after);
		rt_json_put_str(&out, "model", v->model);
		if (skipped > 0)
			rt_json_put_u64(&out, "skipped", skipped);
		rt_json_put_str(&out, "text", end);
	}
	rt_buf_add_c(&out, "}\n\n");
	if (out.status == RT_OK)
		text = rt_text_new(alloc, rt_buf_str(&out));
	rt_buf_deinit(&out);
	return text;
}

static rt_feed_inflight *
find_reply(rt_feed_inflight_list *list, rt_str name)
{
	for (size_t i = 0; i < list->count; i++)
		if (rt_str_is(name, list->at[i].name))
			return &list->at[i];
	return NULL;
}

/* A slot for a new one; where all are used, that of the one that has been over longest. */
static rt_feed_inflight *
new_reply(rt_feed_inflight_list *list)
{
	rt_feed_inflight *slot = NULL;

	if (list->count < RT_FEED_INFLIGHT_MAX) {
		slot = &list->at[list->count++];
		memset(slot, 0, sizeof(*slot));
		return slot;
	}
	for (size_t i = 0; i < list->count; i++)
		if (list->at[i].is_over &&
		    (slot == NULL || list->at[i].version < slot->version))
			slot = &list->at[i];
	if (slot != NULL) {
		rt_text_unref(slot->event);
		memset(slot, 0, sizeof(*slot));
	}
	return slot;
}

typedef struct poll {
	rt_feed_inflight_list *list;
	rt_scope scope;
	rt_engine *engine;
	struct rt_runs *runs;
	rt_run_claim *claims;  /* of other servers; texts: the texts so far */
	uint64_t seq;          /* of the newest value */
	bool has_changed;
} poll;

/* A change of one; without memory (event NULL) it is seen at the next poll. */
static void
update(poll *p, rt_feed_inflight *reply, const rt_text *event, uint64_t stamp, bool is_over)
{
	if (event == NULL)
		return;
	rt_text_unref(reply->event);
	reply->event = event;
	reply->is_over = is_over;
	reply->stamp = stamp;
	reply->version = ++p->list->version;
	p->has_changed = true;
}

/* The one with this name, which may be new; NULL: there are too many. */
static rt_feed_inflight *
see(poll *p, rt_str name, rt_str discussion)
{
	rt_feed_inflight *reply = find_reply(p->list, name);

	if (reply == NULL && (reply = new_reply(p->list)) != NULL) {
		(void)snprintf(reply->name, sizeof(reply->name), "%.*s", RT_STR_ARG(name));
		if (discussion.size > 1 && discussion.size < 12)
			reply->disc = (uint32_t)strtoul(discussion.ptr + 1, NULL, 10);
	}
	if (reply != NULL)
		reply->is_seen = true;
	return reply;
}

static bool
on_inflight(void *ctx, const rt_inflight_view *v)
{
	poll *p = ctx;
	rt_feed_inflight *reply;

	if (v->is_broken || v->is_stranded || v->name.size >= sizeof(reply->name))
		return true;
	for (rt_run_claim *claim = p->claims; claim != NULL; claim = claim->next)
		if (v->run.size > 0 && rt_str_eq(claim->name, v->run)) {
			claim->texts = rt_scope_copy(&p->scope, v->text);
			return true;
		}
	if (p->runs != NULL && !rt_runs_is_elsewhere(p->runs, v->owner, v->written_us))
		return true;
	reply = see(p, v->name, v->discussion);
	if (reply != NULL && (reply->event == NULL || reply->stamp != (uint64_t)v->written_us))
		update(p, reply, write_event(p->scope.alloc, reply->name, v), (uint64_t)v->written_us,
		       false);
	return true;
}

/* ---- runs of other servers ---- */

/* NULL: no memory. */
static const rt_text *
write_run(const rt_alloc *alloc, const rt_run_claim *claim)
{
	const rt_text *text = NULL;
	rt_buf out;

	rt_buf_init(&out, alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&out, claim->has_ended ? "event: run.ended\ndata: " : "event: run.snapshot\ndata: ");
	rt_buf_add_str(&out, claim->info);
	if (!claim->has_ended && out.status == RT_OK) {
		size_t skipped;
		rt_str end = cut_text(claim->texts, &skipped);

		out.size--; /* the bracket */
		if (skipped > 0)
			rt_json_put_u64(&out, "skipped", skipped);
		rt_json_put_str(&out, "text", end);
		rt_json_close(&out, '}');
	}
	rt_buf_add_c(&out, "\n\n");
	if (out.status == RT_OK)
		text = rt_text_new(alloc, rt_buf_str(&out));
	rt_buf_deinit(&out);
	return text;
}

static void
on_claim(poll *p, const rt_run_claim *claim)
{
	rt_feed_inflight *reply = see(p, claim->name, claim->discussion);
	uint64_t stamp = rt_hash(claim->texts.ptr, claim->has_ended ? 0 : claim->texts.size,
				 rt_hash(claim->info.ptr, claim->info.size, 0));

	if (reply == NULL || reply->is_over || (reply->event != NULL && reply->stamp == stamp))
		return;
	reply->seq = claim->seq < p->seq ? claim->seq : p->seq;
	update(p, reply, write_run(p->scope.alloc, claim), stamp, claim->has_ended);
}

/* One whose row is no longer there. */
static void
on_gone(poll *p, rt_feed_inflight *reply)
{
	const rt_run_claim *claim = NULL;

	if (rt_str_starts(rt_str_of(reply->name), RT_STR(RT_INFLIGHT_PREFIX))) {
		update(p, reply, write_event(p->scope.alloc, reply->name, NULL), 0, true);
		return;
	}
	claim = rt_run_claim_read(&p->scope, p->engine, RT_RAN_PREFIX, rt_str_of(reply->name));
	if (claim != NULL && claim->has_ended)
		on_claim(p, claim);
	else
		reply->is_over = true;
}

/* The claims of other servers. */
static void
read_claims(poll *p)
{
	rt_run_claim **at = &p->claims;

	*at = p->runs != NULL ? rt_run_claims_read(&p->scope, p->engine, RT_RUN_PREFIX) : NULL;
	while (*at != NULL)
		if (rt_runs_is_owner(p->runs, (*at)->owner))
			*at = (*at)->next;
		else
			at = &(*at)->next;
}

/* The rows of runs that have ended are read first, then the log up to their ends. */
static void
read_all(poll *p)
{
	rt_scope *s = &p->scope;

	read_claims(p);
	RT_TRY(s, rt_engine_inflight(p->engine, on_inflight, p, &s->error));
	if (p->claims != NULL)
		RT_TRY(s, rt_engine_refresh(p->engine, &s->error));
	const rt_project *project = rt_engine_value(p->engine);
	p->seq = project->seq;
	rt_object_unref(project);
	for (const rt_run_claim *claim = p->claims; rt_ok(s) && claim != NULL; claim = claim->next)
		on_claim(p, claim);
	for (size_t i = 0; rt_ok(s) && i < p->list->count; i++)
		if (!p->list->at[i].is_seen && !p->list->at[i].is_over)
			on_gone(p, &p->list->at[i]);
}

bool
rt_feed_inflight_poll(rt_feed_inflight_list *list, rt_engine *engine, const rt_env *env,
		      struct rt_runs *runs)
{
	poll p = {.list = list, .engine = engine, .runs = runs};
	int64_t now = env->now_us(env->ctx), wait = RT_FEED_FLIGHTS_MS * 1000;

	pthread_mutex_lock(&list->lock);
	if (list->took_us > wait / LOOK_SHARE)
		wait = list->took_us * LOOK_SHARE;
	if (list->looked_us != 0 && now >= list->looked_us && now - list->looked_us < wait) {
		pthread_mutex_unlock(&list->lock);
		return false;
	}
	for (size_t i = 0; i < list->count; i++)
		list->at[i].is_seen = false;
	rt_scope_init(&p.scope, rt_engine_alloc(engine));
	read_all(&p);
	rt_scope_deinit(&p.scope);
	list->looked_us = env->now_us(env->ctx);
	list->took_us = list->looked_us > now ? list->looked_us - now : 0;
	pthread_mutex_unlock(&list->lock);
	return p.has_changed;
}

bool
rt_feed_inflight_is_waiting(rt_feed_inflight_list *list)
{
	bool is_waiting = false;

	pthread_mutex_lock(&list->lock);
	for (size_t i = 0; i < list->count && !is_waiting; i++)
		is_waiting = !list->at[i].is_over;
	pthread_mutex_unlock(&list->lock);
	return is_waiting;
}

/* The first change after a version; NULL: none. */
static const rt_feed_inflight *
next_change(const rt_feed_inflight_list *list, uint64_t version)
{
	const rt_feed_inflight *next = NULL;

	for (size_t i = 0; i < list->count; i++) {
		const rt_feed_inflight *reply = &list->at[i];

		if (reply->event != NULL && reply->version > version &&
		    (next == NULL || reply->version < next->version))
			next = reply;
	}
	return next;
}

bool
rt_feed_inflight_events(rt_feed_inflight_list *list, uint64_t base, uint32_t disc, uint64_t seq,
			uint64_t *seen, size_t room, rt_buf *out)
{
	const rt_feed_inflight *next;

	pthread_mutex_lock(&list->lock);
	while ((next = next_change(list, *seen)) != NULL && out->size < room && next->seq <= seq) {
		*seen = next->version;
		if ((!next->is_over || next->version > base) &&
		    (disc == 0 || next->disc == 0 || next->disc == disc))
			rt_buf_add_str(out, rt_text_str(next->event));
	}
	pthread_mutex_unlock(&list->lock);
	return next != NULL && next->seq <= seq;
}
