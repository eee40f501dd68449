/* SPDX-License-Identifier: MIT
 *
 * Reading and changing the directory. */
#include "accounts/directory_impl.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "codec/json.h"
#include "log/identity.h"

#define VERSION_ROW "version"

enum { ATTEMPTS = 8 /* to read all rows while others change them */ };

struct rt_directory {
	const rt_alloc *alloc;
	const rt_env *env;
	rt_store *store;
	uint64_t project;     /* 0: there is none, and the store is read-only */
	pthread_mutex_t lock; /* guards the roster */
	const rt_roster *roster;
	pthread_mutex_t refresh_lock;
	int64_t refreshed_us; /* when the last refresh began */
};

int64_t
rt_directory_now(const rt_directory *d)
{
	return d->env->now_us(d->env->ctx);
}

rt_store *
rt_directory_store(const rt_directory *d)
{
	return d->store;
}

rt_rows
rt_directory_rows(const rt_directory *d, rt_str prefix)
{
	return rt_rows_prefixed(d->project, prefix);
}

static rt_rows
row_named(const rt_directory *d, rt_str name)
{
	return rt_rows_named(RT_STORE_SIDE, d->project, name);
}

rt_status
rt_directory_get(const rt_directory *d, rt_str name, rt_buf *out, rt_error *err)
{
	if (d->project == 0)
		return rt_fail(err, RT_NOT_FOUND, "the store has no accounts");
	rt_str identity = rt_store_set_identity(RT_STORE_ITSELF);
	rt_status st = rt_store_get(d->store, row_named(d, name), out, NULL, err);
	(void)rt_store_set_identity(identity);
	return st;
}

/* ---- reading ---- */

static void
free_roster(rt_object *object)
{
	rt_roster *roster = (rt_roster *)object;

	rt_arena_free(roster->arena);
	rt_free(object->alloc, roster);
}

/* The row "version"; one that is missing: 0 and 1. */
static void
read_version(const rt_directory *d, rt_scope *s, uint64_t *out_version, uint64_t *out_next)
{
	rt_buf *text = rt_scope_buf(s);
	rt_status st;

	*out_version = 0;
	*out_next = 1;
	if (!rt_ok(s) || d->project == 0)
		return;
	st = rt_store_get(d->store, row_named(d, RT_STR(VERSION_ROW)), text, NULL, &s->error);
	if (st == RT_NOT_FOUND || rt_scope_note(s, st) != RT_OK)
		return;
	yyjson_val *root = rt_json_parse(s, rt_scope_str(s, text));
	if (rt_ok(s) && (!rt_json_u64(rt_json_get(root, "version"), out_version) ||
			 !rt_json_u64(rt_json_get(root, "next"), out_next)))
		rt_scope_fail(s, RT_CORRUPT, "the accounts of the store are damaged: row \"" VERSION_ROW "\"");
}

typedef struct reading {
	rt_scope *s;
	rt_arena *arena;
	rt_item_kind kind;
	rt_item *items;
	size_t count, capacity;
} reading;

static bool
read_row(void *ctx, const rt_store_row *row)
{
	reading *r = ctx;
	bool is_item = false;

	r->items = rt_scope_grow(r->s, r->items, r->count, &r->capacity, sizeof(*r->items));
	if (r->items == NULL)
		return false;
	rt_scope_note(r->s, rt_item_read(r->s->alloc, r->arena, r->kind, row, &r->items[r->count], &is_item));
	r->count += is_item;
	return rt_ok(r->s);
}

static void
read_items(const rt_directory *d, rt_scope *s, rt_roster *roster)
{
	reading r = {.s = s, .arena = roster->arena};
	rt_item *items;

	for (int kind = 0; d->project != 0 && kind < RT_ITEM_KINDS; kind++) {
		r.kind = (rt_item_kind)kind;
		RT_TRY(s, d->store->ops->read(d->store, rt_directory_rows(d, rt_str_of(rt_item_prefixes[kind])),
					      read_row, &r, &s->error));
	}
	items = rt_ok(s) ? rt_arena_get(roster->arena, (r.count + 1) * sizeof(*items)) : NULL;
	if (items == NULL) {
		if (rt_ok(s))
			rt_scope_nomem(s);
		return;
	}
	if (r.count > 0)
		memcpy(items, r.items, r.count * sizeof(*items));
	qsort(items, r.count, sizeof(*items), rt_item_compare);
	roster->items = items;
	roster->count = r.count;
	for (size_t kind = 0, at = 0; kind <= RT_ITEM_KINDS; kind++) {
		while (at < r.count && (size_t)items[at].kind < kind)
			at++;
		roster->first[kind] = at;
	}
}

/* The rows and their version. NULL after a failure. */
static rt_roster *
read_roster(const rt_directory *d, rt_scope *s)
{
	rt_roster *roster = rt_ok(s) ? rt_new0(d->alloc, sizeof(*roster)) : NULL;

	if (roster == NULL) {
		rt_scope_nomem(s);
		return NULL;
	}
	rt_object_init(&roster->object, d->alloc, free_roster);
	roster->arena = rt_arena_new(d->alloc);
	if (roster->arena == NULL)
		rt_scope_nomem(s);
	read_version(d, s, &roster->version, &roster->next_id);
	if (rt_ok(s))
		read_items(d, s, roster);
	if (rt_ok(s))
		return roster;
	rt_object_unref(roster);
	return NULL;
}

static void
replace(rt_directory *d, const rt_roster *roster)
{
	const rt_roster *old;

	pthread_mutex_lock(&d->lock);
	old = d->roster;
	d->roster = roster;
	pthread_mutex_unlock(&d->lock);
	rt_object_unref(old);
}

/* Reads until no change was committed meanwhile. With the lock of refreshes. */
static void
read_again(rt_directory *d, rt_scope *s)
{
	uint64_t before, after, ignored;

	for (int i = 0; rt_ok(s) && i < ATTEMPTS; i++) {
		rt_roster *roster = read_roster(d, s);

		before = roster != NULL ? roster->version : 0;
		read_version(d, s, &after, &ignored);
		if (rt_ok(s) && before == after) {
			replace(d, roster);
			return;
		}
		rt_object_unref(roster);
	}
	rt_scope_fail(s, RT_BUSY, "the accounts of the store change too often to be read; try again");
}

static void
refresh(rt_directory *d, rt_scope *s)
{
	uint64_t version, ignored;

	read_version(d, s, &version, &ignored);
	if (!rt_ok(s))
		return;
	const rt_roster *roster = rt_directory_roster(d);
	bool is_new = roster == NULL || roster->version != version;
	rt_object_unref(roster);
	if (is_new)
		read_again(d, s);
}

rt_status
rt_directory_refresh(rt_directory *d, int64_t since_us, rt_error *err)
{
	rt_scope s;

	rt_str identity = rt_store_set_identity(RT_STORE_ITSELF);

	rt_scope_init(&s, d->alloc);
	pthread_mutex_lock(&d->refresh_lock);
	int64_t begun_us = rt_directory_now(d);
	if (d->refreshed_us <= since_us || d->refreshed_us > begun_us) {
		refresh(d, &s);
		if (rt_ok(&s))
			d->refreshed_us = begun_us;
	}
	pthread_mutex_unlock(&d->refresh_lock);
	(void)rt_store_set_identity(identity);
	return rt_scope_end(&s, err);
}

const rt_roster *
rt_directory_roster(rt_directory *d)
{
	const rt_roster *roster;

	pthread_mutex_lock(&d->lock);
	roster = rt_object_ref(d->roster);
	pthread_mutex_unlock(&d->lock);
	return roster;
}

/* ---- opening ---- */

static void
find_project(rt_directory *d, rt_scope *s)
{
	rt_rows named = rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR(RT_DIRECTORY_PROJECT));
	rt_status st = rt_store_get(d->store, named, NULL, &d->project, &s->error);

	if (st != RT_NOT_FOUND || d->store->is_read_only) {
		if (st != RT_NOT_FOUND)
			rt_scope_note(s, st);
		return;
	}
	RT_TRY(s, d->store->ops->begin(d->store, &s->error));
	if (!rt_ok(s))
		return;
	st = rt_store_get(d->store, named, NULL, &d->project, &s->error);
	if (st == RT_NOT_FOUND) /* and no other program has made it meanwhile */
		st = d->store->ops->project_new(d->store, RT_STR(RT_DIRECTORY_PROJECT), &d->project, &s->error);
	rt_scope_note(s, st);
	rt_store_end(d->store, s);
}

rt_status
rt_directory_open(const rt_alloc *alloc, const rt_env *env, rt_store *store, rt_directory **out,
		  rt_error *err)
{
	rt_directory *d = rt_new0(alloc, sizeof(*d));
	rt_scope s;

	if (d == NULL || pthread_mutex_init(&d->lock, NULL) != 0) {
		rt_free(alloc, d);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	if (pthread_mutex_init(&d->refresh_lock, NULL) != 0) {
		pthread_mutex_destroy(&d->lock);
		rt_free(alloc, d);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	d->alloc = alloc;
	d->env = env;
	d->store = store;
	rt_scope_init(&s, alloc);
	find_project(d, &s);
	RT_TRY(&s, rt_directory_refresh(d, INT64_MAX, &s.error));
	if (rt_ok(&s))
		*out = d;
	else
		rt_directory_close(d);
	return rt_scope_end(&s, err);
}

void
rt_directory_close(rt_directory *d)
{
	if (d == NULL)
		return;
	rt_object_unref(d->roster);
	pthread_mutex_destroy(&d->lock);
	pthread_mutex_destroy(&d->refresh_lock);
	rt_free(d->alloc, d);
}

/* ---- changing ---- */

rt_directory_change
rt_directory_begin(rt_directory *d, rt_scope *s)
{
	rt_directory_change change = {.directory = d, .scope = s,
				      .identity = rt_store_set_identity(RT_STORE_ITSELF)};

	if (rt_ok(s) && d->project == 0)
		rt_scope_fail(s, RT_READ_ONLY, "the store is read-only, and has no accounts");
	change.is_begun = RT_TRY(s, d->store->ops->begin(d->store, &s->error)) == RT_OK;
	if (change.is_begun)
		change.roster = read_roster(d, s);
	if (change.roster != NULL)
		change.next_id = change.roster->next_id;
	return change;
}

uint64_t
rt_directory_new_id(rt_directory_change *change)
{
	return change->next_id++;
}

void
rt_directory_add_secret(rt_directory_change *change, const rt_env *env, rt_item *item,
			char out_secret[RT_SECRET_ROOM])
{
	item->id = rt_directory_new_id(change);
	rt_secret_make(env, item->kind, out_secret);
	(void)rt_secret_hash(rt_str_of(out_secret), item->kind, item->hash);
	rt_directory_write(change, item);
}

void
rt_directory_write_side(rt_directory_change *change, rt_str name, rt_str value)
{
	const rt_directory *d = change->directory;
	rt_scope *s = change->scope;

	RT_TRY(s, d->store->ops->write(d->store, row_named(d, name), value, &s->error));
}

static void
write_item(rt_directory_change *change, const rt_item *item, bool drop)
{
	rt_buf *key = rt_scope_buf(change->scope), *value = rt_scope_buf(change->scope);

	rt_item_add_key(key, item);
	if (!drop)
		rt_item_write(value, item);
	rt_str name = rt_scope_str(change->scope, key);
	rt_directory_write_side(change, name, rt_scope_str(change->scope, value));
	change->is_written = true;
}

void
rt_directory_write(rt_directory_change *change, const rt_item *item)
{
	write_item(change, item, false);
}

void
rt_directory_drop(rt_directory_change *change, const rt_item *item)
{
	write_item(change, item, true);
}

static void
write_version(rt_directory_change *change)
{
	rt_buf *value = rt_scope_buf(change->scope);

	if (!rt_ok(change->scope))
		return;
	rt_json_open(value, NULL, '{');
	rt_json_put_u64(value, "v", 1);
	rt_json_put_u64(value, "version", change->roster->version + 1);
	rt_json_put_u64(value, "next", change->next_id);
	rt_json_close(value, '}');
	rt_directory_write_side(change, RT_STR(VERSION_ROW), rt_scope_str(change->scope, value));
}

void
rt_directory_end(rt_directory_change *change)
{
	rt_directory *d = change->directory;
	rt_scope *s = change->scope;

	if (change->is_written)
		write_version(change);
	if (change->is_begun)
		rt_store_end(d->store, s);
	if (rt_ok(s) && change->is_written) {
		/* The next refresh reads it; this one may fail without harm to the change. */
		pthread_mutex_lock(&d->refresh_lock);
		d->refreshed_us = INT64_MIN;
		pthread_mutex_unlock(&d->refresh_lock);
		(void)!rt_directory_refresh(d, INT64_MAX, NULL);
	}
	(void)rt_store_set_identity(change->identity);
	rt_object_unref(change->roster);
	change->roster = NULL;
	change->is_begun = false;
}
