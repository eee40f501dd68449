/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "server/browser.h"

#include <pthread.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/sha256.h"
#include "codec/json.h"
#include "log/heads.h"
#include "log/identity.h"
#include "server/guard.h"


enum { BUCKETS = 1024, PROJECT_ROOM = RT_BROWSER_PROJECT_ROOM };

static const int64_t hour_us = (int64_t)3600 * 1000000, day_us = (int64_t)86400 * 1000000;

typedef struct browser {
	char hash[RT_BROWSER_ROOM];
	char project[PROJECT_ROOM];
	uint64_t user; /* 0: none */
	int64_t made_us, seen_us;
	int64_t added_us; /* to memory */
	bool is_stale;    /* its row has an older "seen" */
	bool is_stored;   /* of a refresh: it has a row */
	struct browser *next;
} browser;

typedef struct code {
	char project[PROJECT_ROOM];
	uint64_t user;
	int64_t until_us;
	int64_t number; /* in the order of creation */
} code;

struct rt_browsers {
	const rt_alloc *alloc;
	const rt_env *env;
	rt_open_project *home;
	bool isolate;
	pthread_mutex_t lock; /* guards what follows */
	browser *buckets[BUCKETS];
	size_t count, stale;
	int64_t expiry_us; /* when expired browsers are removed again */

	pthread_mutex_t refresh_lock; /* one refresh or sign-out at a time; taken before lock */
	int64_t refreshed_us;         /* when the last refresh began */
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

static rt_rows
side_row(const rt_browsers *b, rt_str name)
{
	return rt_rows_named(RT_STORE_SIDE, rt_engine_project_number(b->home->engine), name);
}

/* The name of the row of a hash. */
static rt_str
row_name(rt_scope *s, const char *prefix, const char *hash)
{
	rt_buf *name = rt_scope_buf(s);

	rt_buf_add_c(name, prefix);
	rt_buf_add_c(name, hash);
	return rt_scope_str(s, name);
}

static void
write_side(rt_browsers *b, rt_scope *s, rt_str name, rt_str value)
{
	rt_store *store = rt_engine_store(b->home->engine);

	RT_TRY(s, store->ops->write(store, side_row(b, name), value, &s->error));
}

static void
write_browser(rt_browsers *b, rt_scope *s, const browser *one)
{
	rt_buf *value = rt_scope_buf(s);

	rt_json_open(value, NULL, '{');
	rt_json_put_u64(value, "v", 1);
	rt_json_put_c(value, "project", one->project);
	rt_json_put_i64(value, "made", one->made_us);
	rt_json_put_i64(value, "seen", one->seen_us);
	if (one->user != 0)
		rt_json_put_u64(value, "user", one->user);
	rt_json_close(value, '}');
	write_side(b, s, row_name(s, RT_BROWSER_PREFIX, one->hash), rt_scope_str(s, value));
}

static rt_status
write_row(rt_browsers *b, const browser *one, bool drop, rt_error *err)
{
	rt_str identity = rt_store_set_identity(RT_STORE_ITSELF);
	rt_scope s;

	rt_scope_init(&s, b->alloc);
	if (drop)
		write_side(b, &s, row_name(&s, RT_BROWSER_PREFIX, one->hash), RT_STR(""));
	else
		write_browser(b, &s, one);
	(void)rt_store_set_identity(identity);
	return rt_scope_end(&s, err);
}

/* Can that be the name of a project, and does it fit? Nothing else may come from a row. */
static bool
is_project(yyjson_val *value)
{
	rt_str name = rt_json_str(value);

	return yyjson_is_str(value) && name.size < PROJECT_ROOM &&
	       (name.size == 0 || memchr(name.ptr, '\0', name.size) == NULL);
}

/* The row's user; 0: none, also if it cannot be read, which gives the browser no right. */
static uint64_t
read_user(yyjson_val *root)
{
	uint64_t user = 0;

	return rt_json_u64(rt_json_get(root, "user"), &user) ? user : 0;
}

/* Copies the row's project to out, which has room for it. False: it is not a row of this kind. */
static bool
read_project(yyjson_val *root, char out[PROJECT_ROOM])
{
	yyjson_val *value = rt_json_get(root, "project");
	rt_str project = rt_json_str(value);

	if (!is_project(value))
		return false;
	if (project.size > 0)
		memcpy(out, project.ptr, project.size);
	return true;
}

typedef struct reading {
	rt_browsers *b;
	rt_status status; /* RT_NOMEM: not all were read */
	browser *list; /* those in the store, newest first */
} reading;

static bool
read_browser(void *ctx, const rt_store_row *row)
{
	reading *r = ctx;
	const rt_alloc *alloc = r->b->alloc;
	rt_json_doc *doc = NULL;
	browser *one;

	if (row->name.size != sizeof(RT_BROWSER_PREFIX) - 1 + RT_TOKEN_SIZE)
		return true;
	r->status = rt_json_read(alloc, row->data, &doc, NULL);
	if (r->status != RT_OK)
		return r->status != RT_NOMEM;
	one = rt_new0(alloc, sizeof(*one));
	if (one == NULL)
		r->status = RT_NOMEM;
	if (one != NULL && read_project(rt_json_root(doc), one->project) &&
	    rt_json_i64(rt_json_get(rt_json_root(doc), "made"), &one->made_us) &&
	    rt_json_i64(rt_json_get(rt_json_root(doc), "seen"), &one->seen_us)) {
		memcpy(one->hash, row->name.ptr + sizeof(RT_BROWSER_PREFIX) - 1, RT_TOKEN_SIZE);
		one->user = read_user(rt_json_root(doc));
		one->next = r->list;
		r->list = one;
		one = NULL;
	}
	rt_free(alloc, one);
	rt_json_free(doc);
	return r->status == RT_OK;
}

/* Adds those that are not known yet; frees the others. */
static void
add_listed(rt_browsers *b, browser *list)
{
	int64_t now = now_of(b);

	for (browser *one, **at; (one = list) != NULL;) {
		list = one->next;
		at = find(b, one->hash);
		if (*at == NULL && b->count < RT_BROWSERS_MAX) {
			one->next = NULL;
			one->added_us = now;
			*at = one;
			b->count++;
		} else if (*at != NULL && (*at)->seen_us < one->seen_us && !(*at)->is_stale) {
			(*at)->seen_us = one->seen_us;
		}
		if (*at != NULL)
			(*at)->is_stored = true;
		if (*at != one)
			rt_free(b->alloc, one);
	}
}

/* Forgets those that another server has logged out: they were in memory before the rows were read,
 * and have none. */
static void
remove_unlisted(rt_browsers *b, int64_t begun_us)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (browser **at = &b->buckets[i], *one; (one = *at) != NULL;) {
			bool is_gone = !one->is_stored && one->added_us < begun_us;

			one->is_stored = false;
			if (!is_gone) {
				at = &one->next;
				continue;
			}
			*at = one->next;
			b->count--;
			b->stale -= one->is_stale;
			rt_free(b->alloc, one);
		}
}

rt_status
rt_browsers_refresh(rt_browsers *b, int64_t since_us, rt_error *err)
{
	rt_store *store = rt_engine_store(b->home->engine);
	uint64_t home = rt_engine_project_number(b->home->engine);
	reading r = {.b = b};
	rt_status st = RT_OK;

	pthread_mutex_lock(&b->refresh_lock);
	int64_t begun = now_of(b);
	if (b->refreshed_us <= since_us || b->refreshed_us > begun) {
		st = store->ops->read(store, rt_rows_prefixed(home, RT_STR(RT_BROWSER_PREFIX)), read_browser, &r, err);
		if (st == RT_OK && r.status == RT_NOMEM)
			st = rt_fail(err, RT_NOMEM, "out of memory");
		pthread_mutex_lock(&b->lock);
		add_listed(b, r.list);
		if (st == RT_OK)
			remove_unlisted(b, begun);
		pthread_mutex_unlock(&b->lock);
		if (st == RT_OK)
			b->refreshed_us = begun;
	}
	pthread_mutex_unlock(&b->refresh_lock);
	return st;
}

/* ---- opening ---- */

rt_status
rt_browsers_open(const rt_alloc *alloc, const rt_env *env, rt_open_project *home, bool isolate,
		 rt_browsers **out, rt_error *err)
{
	rt_browsers *b = rt_new0(alloc, sizeof(*b));
	rt_status st;

	if (b == NULL || pthread_mutex_init(&b->lock, NULL) != 0) {
		rt_free(alloc, b);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	if (pthread_mutex_init(&b->refresh_lock, NULL) != 0) {
		pthread_mutex_destroy(&b->lock);
		rt_free(alloc, b);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	b->alloc = alloc;
	b->env = env;
	b->home = home;
	b->isolate = isolate;
	st = rt_browsers_refresh(b, INT64_MAX, err);
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
	pthread_mutex_destroy(&b->refresh_lock);
	rt_free(b->alloc, b);
}

/* ---- codes ---- */

/* False: it is not a code, or there is no memory. */
static bool
read_code(const rt_alloc *alloc, rt_str value, code *out)
{
	rt_json_doc *doc = NULL;
	bool is_code;

	*out = (code){0};
	if (rt_json_read(alloc, value, &doc, NULL) != RT_OK)
		return false;
	out->user = read_user(rt_json_root(doc));
	is_code = read_project(rt_json_root(doc), out->project) &&
		  rt_json_i64(rt_json_get(rt_json_root(doc), "until"), &out->until_us) &&
		  rt_json_i64(rt_json_get(rt_json_root(doc), "number"), &out->number);
	rt_json_free(doc);
	return is_code;
}

/* The codes that are waiting. */
typedef struct codes {
	rt_scope *s;
	int64_t now_us;
	rt_buf *expired; /* names of rows, each ended by a NUL */
	rt_str oldest;   /* name of the row with the lowest number */
	int64_t lowest, highest;
	size_t count;
} codes;

static bool
note_code(void *ctx, const rt_store_row *row)
{
	codes *c = ctx;
	code one;

	if (!read_code(c->s->alloc, row->data, &one) || one.until_us < c->now_us) {
		rt_buf_add_str(c->expired, row->name);
		rt_buf_add_byte(c->expired, '\0');
		return rt_ok(c->s);
	}
	if (c->count++ == 0 || one.number < c->lowest) {
		c->lowest = one.number;
		c->oldest = rt_scope_copy(c->s, row->name);
	}
	if (one.number > c->highest)
		c->highest = one.number;
	return rt_ok(c->s);
}

/* Inside begin: removes the expired ones, and the oldest if there are too many. */
static codes
make_room(rt_browsers *b, rt_scope *s, bool *out_replaced)
{
	rt_store *store = rt_engine_store(b->home->engine);
	rt_rows rows = rt_rows_prefixed(rt_engine_project_number(b->home->engine), RT_STR(RT_CODE_PREFIX));
	codes c = {.s = s, .now_us = now_of(b), .expired = rt_scope_buf(s)};

	RT_TRY(s, store->ops->read(store, rows, note_code, &c, &s->error));
	rt_str names = rt_scope_str(s, c.expired);
	for (size_t at = 0; rt_ok(s) && at < names.size; at += strlen(names.ptr + at) + 1)
		write_side(b, s, rt_str_of(names.ptr + at), RT_STR(""));
	*out_replaced = c.count >= RT_CODES_MAX;
	if (*out_replaced)
		write_side(b, s, c.oldest, RT_STR(""));
	return c;
}

rt_status
rt_browsers_code(rt_browsers *b, uint64_t user, rt_str project, char out[RT_CODE_ROOM], bool *out_replaced,
		 rt_error *err)
{
	rt_store *store = rt_engine_store(b->home->engine);
	char random[RT_TOKEN_ROOM], hash[RT_BROWSER_ROOM];
	bool replaced = false;
	rt_scope s;

	if (project.size >= PROJECT_ROOM)
		return rt_fail(err, RT_LIMIT, "the name of a project for a browser can have at "
			       "most %d bytes", (int)PROJECT_ROOM - 1);

	rt_token_make(b->env, random);
	random[RT_CODE_ROOM - 1] = '\0';
	hash_of(rt_str_of(random), hash);
	rt_scope_init(&s, b->alloc);
	rt_str identity = rt_store_set_identity(RT_STORE_ITSELF);
	RT_TRY(&s, store->ops->begin(store, &s.error));
	codes c = make_room(b, &s, &replaced);
	rt_buf *value = rt_scope_buf(&s);
	rt_json_open(value, NULL, '{');
	rt_json_put_u64(value, "v", 1);
	rt_json_put_i64(value, "number", c.highest + 1);
	rt_json_put_str(value, "project", project);
	rt_json_put_i64(value, "until", c.now_us + (int64_t)RT_CODE_S * 1000000);
	if (user != 0)
		rt_json_put_u64(value, "user", user);
	rt_json_close(value, '}');
	write_side(b, &s, row_name(&s, RT_CODE_PREFIX, hash), rt_scope_str(&s, value));
	rt_store_end(store, &s);
	(void)rt_store_set_identity(identity);
	if (rt_ok(&s)) {
		memcpy(out, random, RT_CODE_ROOM);
		if (out_replaced != NULL)
			*out_replaced = replaced;
	}
	return rt_scope_end(&s, err);
}

/* RT_CREDENTIALS: the code is not valid. */
static code
find_code(rt_browsers *b, rt_scope *s, rt_str text)
{
	rt_store *store = rt_engine_store(b->home->engine);
	rt_buf *value = rt_scope_buf(s);
	rt_status st = RT_NOT_FOUND;
	char hash[RT_BROWSER_ROOM];
	code found = {0};

	if (!rt_ok(s))
		return found;
	hash_of(text, hash);
	rt_str name = row_name(s, RT_CODE_PREFIX, hash);
	if (text.size == RT_CODE_ROOM - 1)
		st = rt_store_get(store, side_row(b, name), value, NULL, &s->error);
	if (st == RT_NOT_FOUND ||
	    (st == RT_OK && (!read_code(s->alloc, rt_scope_str(s, value), &found) || found.until_us < now_of(b))))
		rt_scope_fail(
			s, RT_CREDENTIALS,
			"this sign-in link has been used, has expired or has been replaced; create a new one: retake serve --login");
	else
		rt_scope_note(s, st);
	return found;
}

/* Inside begin: uses up the code. */
static code
use_code(rt_browsers *b, rt_scope *s, rt_str text)
{
	code found = find_code(b, s, text);
	char hash[RT_BROWSER_ROOM];

	hash_of(text, hash);
	write_side(b, s, row_name(s, RT_CODE_PREFIX, hash), RT_STR(""));
	return found;
}

/* ---- browsers ---- */

/* Reserves a place. */
static void
reserve(rt_browsers *b, rt_scope *s)
{
	pthread_mutex_lock(&b->lock);
	if (b->count >= RT_BROWSERS_MAX)
		rt_scope_fail(s, RT_LIMIT, "too many browsers are signed in; sign one of them out");
	else
		b->count++;
	pthread_mutex_unlock(&b->lock);
}

/* Puts a browser in its place, or gives up the place. */
static void
settle(rt_browsers *b, browser *one, bool is_in)
{
	pthread_mutex_lock(&b->lock);
	browser **at = find(b, one->hash);
	if (is_in && *at == NULL) { /* else a refresh has read its row already */
		one->added_us = now_of(b);
		one->next = NULL;
		*at = one;
	} else {
		b->count--;
		rt_free(b->alloc, one);
	}
	pthread_mutex_unlock(&b->lock);
}

rt_status
rt_browsers_enter(rt_browsers *b, rt_str text, char out_cookie[RT_TOKEN_ROOM], rt_error *err)
{
	rt_store *store = rt_engine_store(b->home->engine);
	browser *one = rt_new0(b->alloc, sizeof(*one));
	char name[RT_TOKEN_ROOM];
	rt_scope s;

	if (one == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	rt_scope_init(&s, b->alloc);
	(void)find_code(b, &s, text); /* without the lock of writers, since anyone may send codes */
	reserve(b, &s);
	if (!rt_ok(&s)) {
		rt_free(b->alloc, one);
		return rt_scope_end(&s, err);
	}
	rt_token_make(b->env, out_cookie);
	rt_token_make(b->env, name);
	hash_of(rt_str_at(out_cookie, RT_TOKEN_SIZE), one->hash);
	RT_TRY(&s, store->ops->begin(store, &s.error));
	code used = use_code(b, &s, text);
	memcpy(one->project, used.project, PROJECT_ROOM);
	one->user = used.user;
	if (one->project[0] == '\0' && b->isolate)
		(void)snprintf(one->project, sizeof(one->project), "browser-%.12s", name);
	one->made_us = one->seen_us = now_of(b);
	write_browser(b, &s, one);
	rt_store_end(store, &s);
	settle(b, one, rt_ok(&s));
	return rt_scope_end(&s, err);
}

bool
rt_browsers_find(rt_browsers *b, rt_str cookie, char out_hash[RT_BROWSER_ROOM],
		 char out_project[RT_BROWSER_PROJECT_ROOM], uint64_t *out_user)
{
	int64_t now = now_of(b);
	browser *one;
	bool found, is_news = false;

	out_hash[0] = out_project[0] = '\0';
	if (out_user != NULL)
		*out_user = 0;
	if (cookie.size != RT_TOKEN_SIZE)
		return false;
	hash_of(cookie, out_hash);
	pthread_mutex_lock(&b->lock);
	one = *find(b, out_hash);
	found = one != NULL && !has_expired(one, now);
	if (found)
		memcpy(out_project, one->project, PROJECT_ROOM);
	if (found && out_user != NULL)
		*out_user = one->user;
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

/* Writes when a browser was last seen, unless it has logged out on another server. */
static rt_status
update_row(rt_browsers *b, const browser *one)
{
	rt_store *store = rt_engine_store(b->home->engine);
	rt_scope s;

	rt_scope_init(&s, b->alloc);
	RT_TRY(&s, store->ops->begin(store, &s.error));
	RT_TRY(&s, rt_store_get(store, side_row(b, row_name(&s, RT_BROWSER_PREFIX, one->hash)), NULL, NULL, &s.error));
	write_browser(b, &s, one);
	rt_store_end(store, &s);
	if (s.status == RT_NOT_FOUND)
		s.status = RT_OK;
	return rt_scope_end(&s, NULL);
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
	rt_status st = rt_browsers_refresh(b, now_of(b) - RT_BROWSERS_FRESH_MS * 1000, NULL);

	for (browser *gone = remove_expired(b); gone != NULL; gone = next) {
		next = gone->next;
		(void)!write_row(b, gone, true, NULL); /* otherwise after the next start */
		rt_free(b->alloc, gone);
	}
	while (st == RT_OK && next_stale(b, &one)) {
		st = update_row(b, &one); /* otherwise it is tried again tomorrow */
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
	/* A refresh that has read the row would add the browser again. */
	pthread_mutex_lock(&b->refresh_lock);
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
	pthread_mutex_unlock(&b->refresh_lock);
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
