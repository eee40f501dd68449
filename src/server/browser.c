/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "server/browser.h"

#include <pthread.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/sha256.h"
#include "codec/json.h"
#include "server/guard.h"

#define PREFIX "browser/"

enum { BUCKETS = 1024, PROJECT_ROOM = RT_BROWSER_PROJECT_ROOM };

static const int64_t hour_us = (int64_t)3600 * 1000000, day_us = (int64_t)86400 * 1000000;

typedef struct browser {
	char hash[RT_BROWSER_ROOM];
	char project[PROJECT_ROOM];
	int64_t made_us, seen_us;
	bool is_stale; /* its row has an older "seen" */
	struct browser *next;
} browser;

typedef struct code {
	char text[RT_CODE_ROOM]; /* empty: none */
	char project[PROJECT_ROOM];
	int64_t until_us;
	uint64_t number; /* in the order of creation */
} code;

struct rt_browsers {
	const rt_alloc *alloc;
	const rt_env *env;
	rt_open_project *home;
	bool isolate;
	pthread_mutex_t lock; /* guards what follows */
	browser *buckets[BUCKETS];
	size_t count, stale;
	code codes[RT_CODES_MAX];
	uint64_t last_code;
	int64_t expiry_us; /* when expired browsers are removed again */
};

static int64_t
now_of(const rt_browsers *b)
{
	return b->env->now_us(b->env->ctx);
}

static void
hash_of(rt_str cookie, char out[RT_BROWSER_ROOM])
{
	rt_sha256 sha;

	rt_sha256_init(&sha);
	rt_sha256_add(&sha, cookie.ptr, cookie.size);
	rt_sha256_end_hex(&sha, out);
}

static bool
has_expired(const browser *one, int64_t now)
{
	return now - one->seen_us >= RT_BROWSER_DAYS * day_us;
}

/* The link to the one with that hash, or to where it would be inserted. */
static browser **
find(rt_browsers *b, const char *hash)
{
	browser **at = &b->buckets[rt_hash(hash, RT_TOKEN_SIZE, 0) % BUCKETS];

	while (*at != NULL && strcmp((*at)->hash, hash) != 0)
		at = &(*at)->next;
	return at;
}

/* ---- side rows ---- */

static void
add_name(rt_buf *out, const browser *one)
{
	rt_buf_add_c(out, PREFIX);
	rt_buf_add_c(out, one->hash);
}

static rt_status
write_row(rt_browsers *b, const browser *one, bool drop, rt_error *err)
{
	rt_store *store = rt_engine_store(b->home->engine);
	rt_buf name, value;
	rt_status st;

	rt_buf_init(&name, b->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&value, b->alloc, RT_BUF_UNLIMITED);
	add_name(&name, one);
	if (!drop) {
		rt_buf_add_c(&value, "{\"v\":1,\"project\":");
		rt_json_add_string(&value, rt_str_of(one->project));
		rt_buf_add_f(&value, ",\"made\":%lld,\"seen\":%lld}", (long long)one->made_us,
			     (long long)one->seen_us);
	}
	if (name.status != RT_OK || value.status != RT_OK)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	else
		st = store->ops->write(store,
				       rt_rows_named(RT_STORE_SIDE,
						     rt_engine_project_number(b->home->engine),
						     rt_buf_str(&name)),
				       rt_buf_str(&value), err);
	rt_buf_deinit(&name);
	rt_buf_deinit(&value);
	return st;
}

/* Can that be the name of a project, and does it fit? Nothing else may come from a row. */
static bool
is_project(yyjson_val *value)
{
	rt_str name = rt_json_str(value);

	return yyjson_is_str(value) && name.size < PROJECT_ROOM &&
	       (name.size == 0 || memchr(name.ptr, '\0', name.size) == NULL);
}

static bool
on_row(void *ctx, const rt_store_row *row)
{
	rt_browsers *b = ctx;
	rt_json_doc *doc = NULL;
	browser *one, **at;
	rt_str project;

	if (!rt_str_starts(row->name, RT_STR(PREFIX)) ||
	    row->name.size != sizeof(PREFIX) - 1 + RT_TOKEN_SIZE)
		return true;
	if (rt_json_read(b->alloc, row->data, &doc, NULL) != RT_OK)
		return true;
	one = rt_new0(b->alloc, sizeof(*one));
	project = rt_json_str(rt_json_get(rt_json_root(doc), "project"));
	if (one != NULL && is_project(rt_json_get(rt_json_root(doc), "project")) &&
	    rt_json_i64(rt_json_get(rt_json_root(doc), "made"), &one->made_us) &&
	    rt_json_i64(rt_json_get(rt_json_root(doc), "seen"), &one->seen_us)) {
		memcpy(one->hash, row->name.ptr + sizeof(PREFIX) - 1, RT_TOKEN_SIZE);
		if (project.size > 0)
			memcpy(one->project, project.ptr, project.size);
		at = find(b, one->hash);
		one->next = *at;
		*at = one;
		b->count++;
		one = NULL;
	}
	rt_free(b->alloc, one);
	rt_json_free(doc);
	return true;
}

/* ---- opening ---- */

rt_status
rt_browsers_open(const rt_alloc *alloc, const rt_env *env, rt_open_project *home, bool isolate,
		 rt_browsers **out, rt_error *err)
{
	rt_browsers *b = rt_new0(alloc, sizeof(*b));
	rt_store *store = rt_engine_store(home->engine);
	rt_status st;

	if (b == NULL || pthread_mutex_init(&b->lock, NULL) != 0) {
		rt_free(alloc, b);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	b->alloc = alloc;
	b->env = env;
	b->home = home;
	b->isolate = isolate;
	st = store->ops->read(store,
			      rt_rows_all(RT_STORE_SIDE, rt_engine_project_number(home->engine)),
			      on_row, b, err);
	if (st != RT_OK) {
		rt_browsers_close(b);
		return st;
	}
	*out = b;
	return RT_OK;
}

void
rt_browsers_close(rt_browsers *b)
{
	browser *one, *next;
	size_t i;

	if (b == NULL)
		return;
	for (i = 0; i < BUCKETS; i++)
		for (one = b->buckets[i]; one != NULL; one = next) {
			next = one->next;
			rt_free(b->alloc, one);
		}
	pthread_mutex_destroy(&b->lock);
	rt_free(b->alloc, b);
}

/* ---- codes ---- */

/* One that is free, else the oldest. */
static code *
code_slot(rt_browsers *b)
{
	code *slot = &b->codes[0];
	size_t i;

	for (i = 0; i < RT_CODES_MAX && slot->text[0] != '\0'; i++)
		if (b->codes[i].text[0] == '\0' || b->codes[i].number < slot->number)
			slot = &b->codes[i];
	return slot;
}

rt_status
rt_browsers_code(rt_browsers *b, rt_str project, char out[RT_CODE_ROOM], bool *out_replaced,
		 rt_error *err)
{
	char random[RT_TOKEN_ROOM];
	bool replaced;
	code *slot;

	if (project.size >= PROJECT_ROOM)
		return rt_fail(err, RT_LIMIT, "the name of a project for a browser can have at "
			       "most %d bytes", (int)PROJECT_ROOM - 1);

	rt_token_make(b->env, random);
	random[RT_CODE_ROOM - 1] = '\0';
	pthread_mutex_lock(&b->lock);
	slot = code_slot(b);
	replaced = slot->text[0] != '\0' && slot->until_us >= now_of(b);
	memset(slot, 0, sizeof(*slot));
	memcpy(slot->text, random, RT_CODE_ROOM);
	if (project.size > 0)
		memcpy(slot->project, project.ptr, project.size);
	slot->number = ++b->last_code;
	slot->until_us = now_of(b) + (int64_t)RT_CODE_S * 1000000;
	pthread_mutex_unlock(&b->lock);
	if (out_replaced != NULL)
		*out_replaced = replaced;
	memcpy(out, random, RT_CODE_ROOM);
	return RT_OK;
}

/* The valid one with this text; NULL: none. */
static code *
find_code(rt_browsers *b, rt_str text)
{
	int64_t now = now_of(b);
	code *found = NULL;

	for (size_t i = 0; i < RT_CODES_MAX; i++) {
		code *slot = &b->codes[i];

		if (slot->text[0] != '\0' && rt_guard_same(text, rt_str_of(slot->text)) &&
		    slot->until_us >= now)
			found = slot;
	}
	return found;
}

/* Reserves a place for a browser and uses up the code; neither unless both are possible. */
static rt_status
use_code(rt_browsers *b, rt_str text, code *out, rt_error *err)
{
	rt_status st = RT_OK;
	code *slot;

	pthread_mutex_lock(&b->lock);
	slot = text.size == RT_CODE_ROOM - 1 ? find_code(b, text) : NULL;
	if (slot == NULL) {
		st = RT_CREDENTIALS;
	} else if (b->count >= RT_BROWSERS_MAX) {
		st = RT_LIMIT;
	} else {
		*out = *slot;
		memset(slot, 0, sizeof(*slot));
		b->count++;
	}
	pthread_mutex_unlock(&b->lock);
	if (st == RT_CREDENTIALS)
		return rt_fail(err, st, "this sign-in link was used, has expired or was replaced; "
			       "create a new one: retake serve --login");
	if (st == RT_LIMIT)
		return rt_fail(err, st, "too many browsers are signed in; sign out in one of them");
	return RT_OK;
}

/* The browser could not be stored: its place is free, and the code is valid again. */
static void
restore_code(rt_browsers *b, const code *used)
{
	pthread_mutex_lock(&b->lock);
	b->count--;
	*code_slot(b) = *used;
	pthread_mutex_unlock(&b->lock);
}

/* ---- browsers ---- */

rt_status
rt_browsers_enter(rt_browsers *b, rt_str text, char out_cookie[RT_TOKEN_ROOM], rt_error *err)
{
	browser *one = rt_new0(b->alloc, sizeof(*one)), **at;
	char name[RT_TOKEN_ROOM];
	code used;
	rt_status st;

	if (one == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	st = use_code(b, text, &used, err);
	if (st != RT_OK) {
		rt_free(b->alloc, one);
		return st;
	}
	rt_token_make(b->env, out_cookie);
	rt_token_make(b->env, name);
	hash_of(rt_str_at(out_cookie, RT_TOKEN_SIZE), one->hash);
	memcpy(one->project, used.project, PROJECT_ROOM);
	if (one->project[0] == '\0' && b->isolate)
		(void)snprintf(one->project, sizeof(one->project), "browser-%.12s", name);
	one->made_us = one->seen_us = now_of(b);
	st = write_row(b, one, false, err);
	if (st != RT_OK) {
		restore_code(b, &used);
		rt_free(b->alloc, one);
		return st;
	}
	pthread_mutex_lock(&b->lock);
	at = find(b, one->hash);
	one->next = *at;
	*at = one;
	pthread_mutex_unlock(&b->lock);
	return RT_OK;
}

bool
rt_browsers_find(rt_browsers *b, rt_str cookie, char out_hash[RT_BROWSER_ROOM],
		 char out_project[RT_BROWSER_PROJECT_ROOM])
{
	int64_t now = now_of(b);
	browser *one;
	bool found, is_news = false;

	out_hash[0] = out_project[0] = '\0';
	if (cookie.size != RT_TOKEN_SIZE)
		return false;
	hash_of(cookie, out_hash);
	pthread_mutex_lock(&b->lock);
	one = *find(b, out_hash);
	found = one != NULL && !has_expired(one, now);
	if (found)
		memcpy(out_project, one->project, PROJECT_ROOM);
	/* The project given by isolation does not confine it without isolation. */
	if (found && !b->isolate && strncmp(out_project, "browser-", 8) == 0)
		out_project[0] = '\0';
	/* A browser that signed in without isolation has no project yet. */
	if (found && b->isolate && out_project[0] == '\0') {
		(void)snprintf(one->project, sizeof(one->project), "browser-%.12s", out_hash);
		memcpy(out_project, one->project, PROJECT_ROOM);
		is_news = true;
	}
	if (found && now - one->seen_us > day_us)
		is_news = true;
	if (is_news) {
		one->seen_us = now;
		b->stale += !one->is_stale;
		one->is_stale = true;
	}
	pthread_mutex_unlock(&b->lock);
	return found;
}

/* A browser whose row must be written; false: none. */
static bool
next_stale(rt_browsers *b, browser *out)
{
	browser *one = NULL;
	size_t i;

	pthread_mutex_lock(&b->lock);
	for (i = 0; b->stale > 0 && i < BUCKETS && one == NULL; i++)
		for (one = b->buckets[i]; one != NULL && !one->is_stale;)
			one = one->next;
	if (one != NULL) {
		one->is_stale = false;
		b->stale--;
		*out = *one;
	}
	pthread_mutex_unlock(&b->lock);
	return one != NULL;
}

/* Removes expired browsers from memory, at most once an hour; returns a list of them, to be freed. */
static browser *
remove_expired(rt_browsers *b)
{
	int64_t now = now_of(b);
	browser *list = NULL;

	pthread_mutex_lock(&b->lock);
	for (size_t i = 0; now >= b->expiry_us && i < BUCKETS; i++)
		for (browser **at = &b->buckets[i], *one; (one = *at) != NULL;) {
			if (!has_expired(one, now)) {
				at = &one->next;
				continue;
			}
			*at = one->next;
			b->count--;
			b->stale -= one->is_stale;
			one->next = list;
			list = one;
		}
	if (now >= b->expiry_us)
		b->expiry_us = now + hour_us;
	pthread_mutex_unlock(&b->lock);
	return list;
}

void
rt_browsers_tend(rt_browsers *b)
{
	browser one, *next;
	rt_status st = RT_OK;

	for (browser *gone = remove_expired(b); gone != NULL; gone = next) {
		next = gone->next;
		(void)!write_row(b, gone, true, NULL); /* otherwise after the next start */
		rt_free(b->alloc, gone);
	}
	while (st == RT_OK && next_stale(b, &one)) {
		st = write_row(b, &one, false, NULL); /* otherwise it is tried again tomorrow */
		/* It may have logged out meanwhile, and its row was dropped before we wrote it. */
		if (!rt_browsers_is_in(b, rt_str_of(one.hash)))
			(void)!write_row(b, &one, true, NULL);
	}
}

bool
rt_browsers_is_in(rt_browsers *b, rt_str hash)
{
	char text[RT_BROWSER_ROOM];
	bool found;

	if (hash.size != RT_TOKEN_SIZE)
		return false;
	memcpy(text, hash.ptr, RT_TOKEN_SIZE);
	text[RT_TOKEN_SIZE] = '\0';
	pthread_mutex_lock(&b->lock);
	found = *find(b, text) != NULL;
	pthread_mutex_unlock(&b->lock);
	return found;
}

rt_status
rt_browsers_leave(rt_browsers *b, rt_str hash, rt_error *err)
{
	char text[RT_BROWSER_ROOM];
	browser *one, **at;
	rt_status st = RT_OK;

	if (hash.size != RT_TOKEN_SIZE)
		return rt_fail(err, RT_NOT_FOUND, "there is no such browser");
	memcpy(text, hash.ptr, RT_TOKEN_SIZE);
	text[RT_TOKEN_SIZE] = '\0';
	pthread_mutex_lock(&b->lock);
	at = find(b, text);
	one = *at;
	if (one != NULL) {
		*at = one->next;
		b->count--;
		b->stale -= one->is_stale;
		one->is_stale = false;
	}
	pthread_mutex_unlock(&b->lock);
	if (one != NULL)
		st = write_row(b, one, true, err);
	/* If it were only forgotten in memory it would be accepted again after a restart: so it
	 * stays. */
	if (one != NULL && st != RT_OK) {
		pthread_mutex_lock(&b->lock);
		at = find(b, text);
		one->next = *at;
		*at = one;
		b->count++;
		pthread_mutex_unlock(&b->lock);
		one = NULL;
	}
	rt_free(b->alloc, one);
	return st;
}

/* ---- streams ---- */

typedef struct guarded_stream {
	rt_web_stream stream;
	rt_browsers *browsers;
	rt_web_stream *inner;
	char hash[RT_BROWSER_ROOM];
} guarded_stream;

static size_t
read_guarded(rt_web_stream *stream, char *out, size_t room, bool *out_ended)
{
	guarded_stream *g = (guarded_stream *)stream;

	*out_ended = !rt_browsers_is_in(g->browsers, rt_str_of(g->hash));
	return *out_ended ? 0 : g->inner->ops->read(g->inner, out, room, out_ended);
}

static void
close_guarded(rt_web_stream *stream)
{
	guarded_stream *g = (guarded_stream *)stream;

	g->inner->ops->close(g->inner);
	rt_free(g->browsers->alloc, g);
}

static void
pass_wake(void *stream)
{
	rt_web_wake(stream);
}

rt_web_stream *
rt_browsers_guard_stream(rt_browsers *b, rt_str hash, rt_web_stream *inner)
{
	static const rt_web_stream_ops ops = {read_guarded, close_guarded};
	guarded_stream *g = hash.size < RT_BROWSER_ROOM ? rt_new0(b->alloc, sizeof(*g)) : NULL;

	if (g == NULL) {
		inner->ops->close(inner);
		return NULL;
	}
	g->stream.ops = &ops;
	g->browsers = b;
	g->inner = inner;
	memcpy(g->hash, hash.ptr, hash.size);
	inner->front = &g->stream;
	inner->wake = pass_wake;
	return &g->stream;
}
