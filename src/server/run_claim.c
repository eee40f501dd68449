/* SPDX-License-Identifier: MIT
 *
 * Run claims: side rows that make the runs of one server known to the others. */
#define _POSIX_C_SOURCE 200809L

#include "server/run_claim.h"

#include <pthread.h>
#include <stdio.h>

#include "codec/json.h"
#include "log/heads.h"
#include "server/run_json.h"

enum { NAME_ROOM = 24, ROW_ROOM = 32 };

typedef struct claimed {
	char name[NAME_ROOM];
	int64_t written_us, looked_us; /* 0: never */
	uint64_t stops;                /* that were passed on to the run */
	uint64_t epoch;                /* of the store when it began */
	bool is_end_tried;             /* to write its end */
} claimed;

struct rt_run_claims {
	rt_run_claims_options given;
	pthread_mutex_t lock;
	claimed at[RT_CLAIMS_MAX];
	size_t count;
};

/* ---- new and free ---- */

rt_status
rt_run_claims_new(const rt_run_claims_options *options, rt_run_claims **out, rt_error *err)
{
	rt_run_claims *c = rt_new0(options->alloc, sizeof(*c));

	if (c == NULL || pthread_mutex_init(&c->lock, NULL) != 0) {
		rt_free(options->alloc, c);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	c->given = *options;
	*out = c;
	return RT_OK;
}

void
rt_run_claims_free(rt_run_claims *c)
{
	if (c == NULL)
		return;
	pthread_mutex_destroy(&c->lock);
	rt_free(c->given.alloc, c);
}

static int64_t
now_us(const rt_run_claims *c)
{
	return c->given.env->now_us(c->given.env->ctx);
}

/* Has this time passed since then? Also if the clock was set back. */
static bool
has_passed(int64_t now, int64_t since, int64_t ms)
{
	return now < since || now - since >= ms * 1000;
}

/* ---- rows ---- */

static rt_rows
row_of(const rt_engine *engine, const char *prefix, rt_str name, char room[ROW_ROOM])
{
	(void)snprintf(room, ROW_ROOM, "%s%.*s", prefix, (int)(name.size < NAME_ROOM ? name.size : 0),
		       name.ptr);
	return rt_rows_named(RT_STORE_SIDE, rt_engine_project_number(engine), rt_str_of(room));
}

static void
free_doc(void *doc)
{
	rt_json_free(doc);
}

static rt_str
member(rt_scope *s, yyjson_val *root, const char *key)
{
	yyjson_val *value = rt_json_get(root, key);
	rt_buf *out = rt_scope_buf(s);

	if (!rt_ok(s) || !yyjson_is_obj(value))
		return RT_STR("");
	rt_json_add_value(out, value);
	return rt_scope_str(s, out);
}

/* NULL: it cannot be decoded, for example because a text was purged from it. */
static rt_run_claim *
decode(rt_scope *s, rt_str name, rt_str row)
{
	rt_run_claim *claim = rt_scope_get(s, sizeof(*claim));
	rt_json_doc *doc = NULL;
	rt_error ignored;

	if (claim == NULL || rt_json_read(s->alloc, row, &doc, &ignored) != RT_OK)
		return NULL;
	rt_scope_defer(s, free_doc, doc);
	yyjson_val *root = rt_json_root(doc), *info = rt_json_get(root, "info");
	claim->name = rt_scope_copy(s, name);
	claim->owner = rt_json_str(rt_json_get(root, "owner"));
	claim->discussion = rt_json_str(rt_json_get(info, "discussion"));
	claim->info = member(s, root, "info");
	claim->texts = member(s, root, "texts");
	claim->has_ended = !rt_str_is(rt_json_str(rt_json_get(info, "state")), "running");
	(void)rt_json_u64(rt_json_get(root, "stops"), &claim->stops);
	(void)rt_json_u64(rt_json_get(info, "seq"), &claim->seq);
	if (!rt_json_i64(rt_json_get(root, "at"), &claim->at_us) || claim->info.size == 0 || !rt_ok(s))
		return NULL;
	return claim;
}

typedef struct gathering {
	rt_scope *scope;
	size_t prefix;
	rt_run_claim *first, **end;
} gathering;

static bool
gather(void *ctx, const rt_store_row *row)
{
	gathering *g = ctx;
	rt_str name = rt_str_at(row->name.ptr + g->prefix, row->name.size - g->prefix);
	rt_run_claim *claim = name.size < NAME_ROOM ? decode(g->scope, name, row->data) : NULL;

	if (claim != NULL) {
		*g->end = claim;
		g->end = &claim->next;
	}
	return rt_ok(g->scope);
}

rt_run_claim *
rt_run_claims_read(rt_scope *s, rt_engine *engine, const char *prefix)
{
	gathering g = {.scope = s, .prefix = strlen(prefix), .end = &g.first};
	rt_store *store = rt_engine_store(engine);

	RT_TRY(s, store->ops->read(store,
				   rt_rows_prefixed(rt_engine_project_number(engine), rt_str_of(prefix)),
				   gather, &g, &s->error));
	return g.first;
}

rt_run_claim *
rt_run_claim_read(rt_scope *s, rt_engine *engine, const char *prefix, rt_str name)
{
	rt_buf *row = rt_scope_buf(s);
	char room[ROW_ROOM];
	rt_status st;

	if (!rt_ok(s) || name.size >= NAME_ROOM)
		return NULL;
	st = rt_store_get(rt_engine_store(engine), row_of(engine, prefix, name, room), row, NULL,
			  &s->error);
	if (st == RT_NOT_FOUND || rt_scope_note(s, st) != RT_OK)
		return NULL;
	return decode(s, name, rt_scope_str(s, row));
}

/* Inside a transaction. */
static void
write_row(rt_scope *s, const rt_run_claims *c, const char *prefix, const rt_run_claim *claim)
{
	rt_engine *engine = c->given.engine;
	rt_store *store = rt_engine_store(engine);
	rt_buf *row = rt_scope_buf(s);
	char room[ROW_ROOM];

	if (!rt_ok(s))
		return;
	rt_json_open(row, NULL, '{');
	rt_json_put_u64(row, "v", 1);
	rt_json_put_str(row, "owner", claim->owner);
	rt_json_put_i64(row, "at", claim->at_us);
	rt_json_put_u64(row, "stops", claim->stops);
	rt_json_put_raw(row, "info", claim->info);
	if (claim->texts.size > 0)
		rt_json_put_raw(row, "texts", claim->texts);
	rt_json_close(row, '}');
	rt_str value = rt_scope_str(s, row);
	RT_TRY(s, store->ops->write(store, row_of(engine, prefix, claim->name, room), value,
				    &s->error));
}

static void
delete_row(rt_scope *s, const rt_run_claims *c, const char *prefix, rt_str name)
{
	rt_store *store = rt_engine_store(c->given.engine);
	char room[ROW_ROOM];

	RT_TRY(s, store->ops->write(store, row_of(c->given.engine, prefix, name, room), RT_STR(""),
				    &s->error));
}

static bool
begin(rt_scope *s, const rt_run_claims *c)
{
	rt_store *store = rt_engine_store(c->given.engine);

	return RT_TRY(s, store->ops->begin(store, &s->error)) == RT_OK;
}

static void
end(rt_scope *s, const rt_run_claims *c)
{
	rt_store_end(rt_engine_store(c->given.engine), s);
}

/* ---- our own ---- */

typedef struct seen {
	rt_buf *info, *texts;
	bool has_ended;
} seen;

static void
see(void *ctx, const rt_run_info *run)
{
	seen *v = ctx;

	v->has_ended = run->state != RT_RUN_RUNNING;
	if (v->info == NULL)
		return;
	rt_run_add_json(v->info, run);
	if (!v->has_ended || run->text->bytes.size > RT_CLAIM_TEXTS_MAX)
		return;
	rt_json_open(v->texts, NULL, '{');
	rt_run_text_add_json(run->text, run->text->bytes.size, v->texts);
	rt_json_close(v->texts, '}');
}

/* The members of a run that never contain words of a text. */
static rt_str
info_without_texts(rt_scope *s, rt_str info)
{
	static const char *const kept[] = {"run",     "state",	  "how",   "discussion", "take",
					   "model",   "group",	  "started", "ended",	 "at",
					   "question", "entry", "seq",	 "usage"};
	yyjson_val *root = rt_json_parse(s, info);
	rt_buf *out = rt_scope_buf(s);

	if (!rt_ok(s))
		return info;
	rt_json_open(out, NULL, '{');
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		yyjson_val *value = rt_json_get(root, kept[i]);

		if (value == NULL)
			continue;
		rt_json_add_key(out, kept[i]);
		rt_json_add_value(out, value);
	}
	rt_json_close(out, '}');
	return rt_scope_str(s, out);
}

/* Writes the present state of our run, with the stops that others have added. A purge removes the rows
 * that contain its text, but the run still has it in memory: after a purge no text is written. */
static rt_status
write_own(rt_run_claims *c, claimed *own)
{
	rt_run_claim claim = {.name = rt_str_of(own->name), .owner = c->given.owner, .at_us = now_us(c)};
	rt_scope s;

	rt_scope_init(&s, c->given.alloc);
	seen v = {.info = rt_scope_buf(&s), .texts = rt_scope_buf(&s)};
	RT_TRY(&s, rt_runs_show(c->given.runs, claim.name, see, &v, &s.error));
	claim.info = rt_scope_str(&s, v.info);
	claim.texts = rt_scope_str(&s, v.texts);
	if (begin(&s, c)) {
		const rt_run_claim *old = rt_run_claim_read(&s, c->given.engine, RT_RUN_PREFIX, claim.name);
		rt_store *store = rt_engine_store(c->given.engine);
		uint64_t epoch = 0;

		RT_TRY(&s, store->ops->epoch(store, &epoch, &s.error));
		if (epoch != own->epoch) {
			claim.info = info_without_texts(&s, claim.info);
			claim.texts = RT_STR("");
		}
		claim.stops = old != NULL ? old->stops : own->stops;
		write_row(&s, c, RT_RUN_PREFIX, &claim);
		end(&s, c);
	}
	if (rt_ok(&s))
		own->written_us = claim.at_us;
	return rt_scope_end(&s, NULL);
}

/* Passes on what others asked for since the last look. */
static void
look(rt_run_claims *c, claimed *own)
{
	rt_scope s;

	rt_scope_init(&s, c->given.alloc);
	const rt_run_claim *claim =
		rt_run_claim_read(&s, c->given.engine, RT_RUN_PREFIX, rt_str_of(own->name));
	uint64_t stops = claim != NULL ? claim->stops : own->stops;
	rt_scope_deinit(&s);
	for (; own->stops < stops; own->stops++)
		(void)!rt_runs_stop(c->given.runs, rt_str_of(own->name), NULL);
}

/* false: nothing more is to be done for it. */
static bool
tend(rt_run_claims *c, claimed *own, bool at_once)
{
	int64_t now = now_us(c);
	seen v = {0};

	if (rt_runs_show(c->given.runs, rt_str_of(own->name), see, &v, NULL) != RT_OK)
		return false; /* forgotten; the row is removed after a while */
	bool has_just_ended = v.has_ended && !own->is_end_tried;
	if (!at_once && !has_just_ended && !has_passed(now, own->looked_us, RT_CLAIM_LOOK_MS))
		return true;
	own->looked_us = now;
	own->is_end_tried = v.has_ended;
	if (v.has_ended && write_own(c, own) == RT_OK)
		return false;
	if (!v.has_ended && own->written_us != 0)
		look(c, own);
	if (!v.has_ended && (own->written_us == 0 || has_passed(now, own->written_us, RT_CLAIM_WRITE_MS)))
		(void)!write_own(c, own);
	return true;
}

/* With the lock. */
static void
tend_all(rt_run_claims *c, bool at_once)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++)
		if (tend(c, &c->at[i], at_once))
			c->at[kept++] = c->at[i];
	c->count = kept;
}

void
rt_run_claims_add(rt_run_claims *c, rt_str name)
{
	claimed *own;

	pthread_mutex_lock(&c->lock);
	if (c->count == RT_CLAIMS_MAX)
		tend_all(c, true);
	if (c->count < RT_CLAIMS_MAX && name.size < NAME_ROOM) {
		own = &c->at[c->count++];
		*own = (claimed){.epoch = rt_engine_epoch(c->given.engine)};
		memcpy(own->name, name.ptr, name.size);
		(void)!write_own(c, own);
	}
	pthread_mutex_unlock(&c->lock);
}

void
rt_run_claims_tick(rt_run_claims *c)
{
	if (pthread_mutex_trylock(&c->lock) != 0)
		return;
	tend_all(c, false);
	pthread_mutex_unlock(&c->lock);
}

void
rt_run_claims_flush(rt_run_claims *c)
{
	pthread_mutex_lock(&c->lock);
	tend_all(c, true);
	pthread_mutex_unlock(&c->lock);
}

/* ---- those of others ---- */

static bool
is_dead(const rt_run_claims *c, const rt_run_claim *claim)
{
	int64_t now = now_us(c);

	if (claim->has_ended || rt_str_eq(claim->owner, c->given.owner))
		return false;
	return (now > claim->at_us && has_passed(now, claim->at_us, RT_CLAIM_DEAD_MS)) ||
	       (c->given.lives != NULL && !c->given.lives(NULL, claim->owner, claim->at_us));
}

typedef struct living {
	const rt_run_claims *claims;
	const rt_run_claim *first;
} living;

/* A server that has claims lives as long as it writes one of them. */
static bool
lives(void *ctx, rt_str owner, int64_t written_us)
{
	const living *l = ctx;
	const rt_run_claims *c = l->claims;
	bool has_claims = false, is_alive = false;

	if (rt_str_eq(owner, c->given.owner))
		return true;
	if (c->given.lives != NULL && !c->given.lives(NULL, owner, written_us))
		return false;
	for (const rt_run_claim *claim = l->first; claim != NULL; claim = claim->next)
		if (!claim->has_ended && rt_str_eq(claim->owner, owner)) {
			has_claims = true;
			is_alive |= !is_dead(c, claim);
		}
	return !has_claims || is_alive;
}

static rt_str
failed_info(rt_scope *s, rt_str info, int64_t at_us)
{
	yyjson_val *root = rt_json_parse(s, info);
	rt_buf *out = rt_scope_buf(s);

	if (!rt_ok(s))
		return info;
	rt_json_open(out, NULL, '{');
	for (rt_json_iter it = rt_json_members(root); rt_json_next(&it);) {
		if (rt_str_is(it.key, "notice") || rt_str_is(it.key, "retry") || rt_str_is(it.key, "retries"))
			continue;
		rt_json_add_key_str(out, it.key);
		if (rt_str_is(it.key, "state"))
			rt_json_add_string(out, RT_STR("failed"));
		else
			rt_json_add_value(out, it.value);
	}
	rt_json_put_time(out, "ended", (rt_moment){at_us, 0});
	rt_json_open(out, "problem", '{');
	rt_json_put_c(out, "code", rt_status_word(RT_IO));
	rt_json_put_c(out, "detail",
		      "the server that was receiving the reply has stopped; the text received so far is kept "
		      "and can be continued");
	rt_json_close(out, '}');
	rt_json_close(out, '}');
	return rt_scope_str(s, out);
}

/* A claim of a server that has ended, or one whose run ended a while ago. Read again in the
 * transaction: its owner, or another server, may have written it since. */
static void
settle(rt_scope *s, const rt_run_claims *c, rt_str name)
{
	rt_run_claim *claim;

	if (!begin(s, c))
		return;
	claim = rt_run_claim_read(s, c->given.engine, RT_RUN_PREFIX, name);
	if (claim != NULL && is_dead(c, claim)) {
		claim->at_us = now_us(c);
		claim->info = failed_info(s, claim->info, claim->at_us);
		write_row(s, c, RT_RUN_PREFIX, claim);
	} else if (claim != NULL && claim->has_ended &&
		   has_passed(now_us(c), claim->at_us, RT_CLAIM_RECENT_MS)) {
		write_row(s, c, RT_RAN_PREFIX, claim);
		delete_row(s, c, RT_RUN_PREFIX, name);
	}
	end(s, c);
}

rt_status
rt_run_claims_sweep(rt_run_claims *c, size_t *out_kept, rt_error *err)
{
	rt_scope s;

	rt_scope_init(&s, c->given.alloc);
	living l = {c, rt_run_claims_read(&s, c->given.engine, RT_RUN_PREFIX)};
	/* Keep the text first: a run that has ended is complete. */
	if (rt_ok(&s))
		RT_TRY(&s, rt_engine_keep_left(c->given.engine, lives, &l, out_kept, &s.error));
	for (const rt_run_claim *claim = l.first; rt_ok(&s) && claim != NULL; claim = claim->next)
		if (is_dead(c, claim) || (claim->has_ended &&
					  has_passed(now_us(c), claim->at_us, RT_CLAIM_RECENT_MS)))
			settle(&s, c, claim->name);
	for (const rt_run_claim *old = rt_run_claims_read(&s, c->given.engine, RT_RAN_PREFIX);
	     rt_ok(&s) && old != NULL; old = old->next)
		if (has_passed(now_us(c), old->at_us, RT_CLAIM_KEPT_MS))
			delete_row(&s, c, RT_RAN_PREFIX, old->name);
	return rt_scope_end(&s, err);
}

static rt_status
not_found(rt_scope *s, rt_str name)
{
	return rt_scope_fail(s, RT_NOT_FOUND, "there is no run \"%.*s\"; finished runs are removed after a while",
			     RT_STR_ARG(name.size > 40 ? rt_str_at(name.ptr, 40) : name));
}

/* The claim of a run, wherever it is; fails the scope if there is none. */
static rt_run_claim *
find(rt_scope *s, rt_run_claims *c, rt_str name)
{
	rt_run_claim *claim = rt_run_claim_read(s, c->given.engine, RT_RUN_PREFIX, name);

	if (claim != NULL && is_dead(c, claim)) {
		RT_TRY(s, rt_run_claims_sweep(c, NULL, &s->error));
		claim = rt_run_claim_read(s, c->given.engine, RT_RUN_PREFIX, name);
	}
	if (rt_ok(s) && claim == NULL)
		claim = rt_run_claim_read(s, c->given.engine, RT_RAN_PREFIX, name);
	if (rt_ok(s) && claim == NULL)
		not_found(s, name);
	return claim;
}

typedef struct arriving {
	rt_scope *scope;
	rt_str run, text;
} arriving;

static bool
find_text(void *ctx, const rt_inflight_view *v)
{
	arriving *a = ctx;

	if (!rt_str_eq(v->run, a->run))
		return true;
	a->text = rt_scope_copy(a->scope, v->text);
	return false;
}

/* Adds the members of an object to an open one. */
static void
add_members(rt_scope *s, rt_buf *out, rt_str object)
{
	yyjson_val *root = object.size > 0 ? rt_json_parse(s, object) : NULL;

	for (rt_json_iter it = rt_json_members(root); rt_ok(s) && rt_json_next(&it);) {
		rt_json_add_key_str(out, it.key);
		rt_json_add_value(out, it.value);
	}
}

rt_status
rt_run_claims_show(rt_run_claims *c, rt_str name, rt_buf *out, rt_error *err)
{
	rt_scope s;

	rt_scope_init(&s, c->given.alloc);
	const rt_run_claim *claim = find(&s, c, name);
	arriving a = {.scope = &s, .run = name, .text = RT_STR("")};
	if (rt_ok(&s) && !claim->has_ended)
		RT_TRY(&s, rt_engine_inflight(c->given.engine, find_text, &a, &s.error));
	if (rt_ok(&s)) {
		rt_json_open(out, NULL, '{');
		add_members(&s, out, claim->info);
		if (!claim->has_ended)
			rt_json_put_str(out, "text", a.text);
		else
			add_members(&s, out, claim->texts);
		rt_json_close(out, '}');
	}
	return rt_scope_end(&s, err);
}

rt_status
rt_run_claims_list(rt_run_claims *c, rt_buf *out, rt_error *err)
{
	static const char *const prefixes[] = {RT_RUN_PREFIX, RT_RAN_PREFIX};
	rt_scope s;

	rt_scope_init(&s, c->given.alloc);
	for (size_t i = 0; i < 2; i++)
		for (const rt_run_claim *claim = rt_run_claims_read(&s, c->given.engine, prefixes[i]);
		     rt_ok(&s) && claim != NULL; claim = claim->next)
			if (!rt_str_eq(claim->owner, c->given.owner))
				rt_json_put_raw(out, NULL, claim->info);
	return rt_scope_end(&s, err);
}

rt_status
rt_run_claims_stop(rt_run_claims *c, rt_str name, rt_error *err)
{
	rt_scope s;

	rt_scope_init(&s, c->given.alloc);
	(void)find(&s, c, name);
	if (begin(&s, c)) {
		rt_run_claim *claim = rt_run_claim_read(&s, c->given.engine, RT_RUN_PREFIX, name);

		if (rt_ok(&s) && claim != NULL && !claim->has_ended) {
			claim->stops++; /* the time remains its owner's */
			write_row(&s, c, RT_RUN_PREFIX, claim);
		}
		end(&s, c);
	}
	return rt_scope_end(&s, err);
}
