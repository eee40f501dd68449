/* SPDX-License-Identifier: MIT
 *
 * Contents of files, and what refers to them: the names of all side rows are read first, then every
 * row that may contain one of their hashes. */
#include "log/collect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h> /* qsort, bsearch */

#include "log/blob.h"
#include "log/engine_impl.h"

enum {
	HASH = RT_SHA256_HEX_ROOM - 1,
	NAME_ROOM = sizeof(RT_BLOB_NEW_PREFIX) + HASH
};

/* Kinds of rows stored under a hash; the first two are also kinds of references. */
enum { BLOB = 1 << 0, FILE_SENT = 1 << 1, BLOB_NEW = 1 << 2, PURGED = 1 << 3 };

static const struct {
	rt_str prefix;
	unsigned bit;
} kinds[] = {
	{RT_STR_INIT(RT_BLOB_PREFIX), BLOB},
	{RT_STR_INIT(RT_FILE_PREFIX), FILE_SENT},
	{RT_STR_INIT(RT_BLOB_NEW_PREFIX), BLOB_NEW},
	{RT_STR_INIT(RT_PURGED_PREFIX), PURGED},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

typedef struct content {
	char hash[HASH];
	unsigned char stored, needed, missing; /* bits */
} content;

typedef struct names {
	rt_str *items; /* in the scope */
	size_t count, capacity;
} names;

struct rt_collect {
	rt_scope *s;
	rt_engine *engine;
	unsigned wanted;   /* BLOB, FILE_SENT: the kinds to collect */
	unsigned mark_bit; /* as contents that rt_collect_mark marks */
	content *contents; /* by hash; in the scope */
	size_t count, capacity, sorted;
	names others;      /* side rows that are no contents */
	names logs;        /* RT_FILE_LOG_PREFIX */
	size_t found;      /* hashes that rt_collect_mark found */
	rt_scope row;      /* memory of the current row */
};

/* ---- names ---- */

static bool
is_digit(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* The bit of a side row with contents, and its hash; 0: it is another row. */
static unsigned
kind_of(rt_str name, rt_str *hash)
{
	for (size_t i = 0; i < KINDS; i++)
		if (rt_str_starts(name, kinds[i].prefix)) {
			*hash = rt_str_skip(name, kinds[i].prefix.size);
			return rt_sha256_is_hex(*hash) ? kinds[i].bit : 0;
		}
	return 0;
}

bool
rt_collect_is_content(rt_str name)
{
	rt_str hash;

	return (kind_of(name, &hash) & (BLOB | FILE_SENT)) != 0;
}

bool
rt_collect_is_mark(rt_str name)
{
	rt_str hash;

	return (kind_of(name, &hash) & (BLOB_NEW | PURGED)) != 0 ||
	       rt_str_starts(name, RT_STR(RT_FILE_LOG_PREFIX));
}

static void
add_name(rt_collect *c, names *to, rt_str name)
{
	rt_str *items = rt_scope_grow(c->s, to->items, to->count, &to->capacity, sizeof(*items));

	if (items == NULL)
		return;
	to->items = items;
	items[to->count++] = rt_scope_copy(c->s, name);
}

static int
hash_order(const void *a, const void *b)
{
	return memcmp(((const content *)a)->hash, ((const content *)b)->hash, HASH);
}

static content *
find(const rt_collect *c, const char *hash)
{
	return c->sorted == 0 ? NULL
			      : bsearch(hash, c->contents, c->sorted, sizeof(content), hash_order);
}

/* The content of a hash, which is added; NULL after a failure. */
static content *
add_content(rt_collect *c, rt_str hash)
{
	content *items = rt_scope_grow(c->s, c->contents, c->count, &c->capacity, sizeof(*items));

	if (items == NULL)
		return NULL;
	c->contents = items;
	items[c->count] = (content){0};
	memcpy(items[c->count].hash, hash.ptr, HASH);
	return &items[c->count++];
}

static bool
note_name(void *ctx, const rt_store_row *row)
{
	rt_collect *c = ctx;
	rt_str hash = {NULL, 0};
	unsigned bit = kind_of(row->name, &hash);

	if (bit == 0) {
		add_name(c, rt_str_starts(row->name, RT_STR(RT_FILE_LOG_PREFIX)) ? &c->logs : &c->others,
			 row->name);
	} else {
		content *added = add_content(c, hash);

		if (added != NULL)
			added->stored = (unsigned char)bit;
	}
	return rt_ok(c->s);
}

/* Sorts the contents; those of the same hash become one. */
static void
sort(rt_collect *c)
{
	size_t kept = 0;

	if (c->count > 1)
		qsort(c->contents, c->count, sizeof(content), hash_order);
	for (size_t i = 0; i < c->count; i++) {
		content *last = kept > 0 ? &c->contents[kept - 1] : NULL;

		if (last == NULL || hash_order(last, &c->contents[i]) != 0) {
			c->contents[kept++] = c->contents[i];
			continue;
		}
		last->stored |= c->contents[i].stored;
		last->needed |= c->contents[i].needed;
		last->missing |= c->contents[i].missing;
	}
	c->count = c->sorted = kept;
}

/* ---- references ---- */

void
rt_collect_mark(rt_collect *c, rt_str text)
{
	size_t from = 0, known = 0; /* from .. known are digits */

	while (from + HASH <= text.size) {
		size_t at = from + HASH;

		while (at > from && at > known && is_digit(text.ptr[at - 1]))
			at--;
		if (at > from && at > known) {
			from = known = at;
			continue;
		}
		content *k = find(c, text.ptr + from);
		if (k != NULL) {
			k->needed |= (unsigned char)c->mark_bit;
			c->found++;
		}
		known = from + HASH;
		from++;
	}
}

static void
note_missing(rt_collect *c, rt_str hash, unsigned bit)
{
	content *k = find(c, hash.ptr);

	if (k == NULL)
		k = add_content(c, hash);
	if (k != NULL && (k->stored & (bit | PURGED)) == 0)
		k->missing |= (unsigned char)bit;
}

/* The attached files of an entry that are not in the store. */
static void
find_missing_blobs(rt_collect *c, rt_str data)
{
	rt_body body = {0};
	rt_status st;

	if (rt_str_find(data, RT_STR("\"sha256\""), 0) == SIZE_MAX)
		return;
	st = rt_body_read(c->row.alloc, data, &body, NULL);
	if (st == RT_NOMEM)
		(void)rt_scope_nomem(c->s);
	if (st != RT_OK) /* fsck reports it */
		return;
	for (rt_json_iter it = rt_json_items(body.content_json); rt_json_next(&it);) {
		rt_str hash = rt_blob_of(it.value);

		if (hash.size > 0)
			note_missing(c, hash, BLOB);
	}
	rt_body_deinit(&body);
}

/* The files of a request that are not in the store. */
static void
find_missing_files(rt_collect *c, rt_str record)
{
	rt_json_doc *doc = NULL;
	rt_status st = rt_json_read(c->row.alloc, record, &doc, NULL);
	uint64_t size;

	if (st == RT_NOMEM)
		(void)rt_scope_nomem(c->s);
	if (st != RT_OK)
		return;
	for (rt_json_iter it = rt_json_items(rt_json_get(rt_json_root(doc), "files")); rt_json_next(&it);) {
		rt_str hash = rt_json_str(rt_json_get(it.value, "sha256"));

		if (rt_sha256_is_hex(hash) && rt_json_u64(rt_json_get(it.value, "size"), &size) && size > 0)
			note_missing(c, hash, FILE_SENT);
	}
	rt_json_free(doc);
}

static bool
mark_body(void *ctx, const rt_store_row *row)
{
	rt_collect *c = ctx;

	rt_collect_mark(c, row->data);
	find_missing_blobs(c, row->data);
	return rt_ok(c->s);
}

static bool
mark_row(void *ctx, const rt_store_row *row)
{
	rt_collect_mark(ctx, row->data);
	return true;
}

static void
read_rows(rt_collect *c, rt_rows rows, rt_store_row_fn fn)
{
	RT_TRY(c->s, c->engine->store->ops->read(c->engine->store, rows, fn, c, &c->s->error));
}

/* The data of a side row; empty: it has been removed meanwhile. */
static rt_str
side_row(rt_collect *c, rt_str name)
{
	rt_scope_reset(&c->row);
	rt_buf *data = rt_scope_buf(&c->row);
	rt_status st = rt_store_get(c->engine->store,
				    rt_rows_named(RT_STORE_SIDE, c->engine->project, name), data,
				    NULL, &c->s->error);

	if (st != RT_NOT_FOUND)
		(void)rt_scope_note(c->s, st);
	return rt_ok(c->s) ? rt_buf_str(data) : RT_STR("");
}

static void
mark_others(rt_collect *c)
{
	c->mark_bit = BLOB | FILE_SENT;
	for (size_t i = 0; rt_ok(c->s) && i < c->others.count; i++) {
		rt_str data = side_row(c, c->others.items[i]);

		rt_collect_mark(c, data);
		if ((c->wanted & FILE_SENT) != 0 && rt_str_find(data, RT_STR("\"files\""), 0) != SIZE_MAX)
			find_missing_files(c, data);
	}
}

static void
need_all_files(rt_collect *c)
{
	for (size_t i = 0; i < c->count; i++)
		c->contents[i].needed |= FILE_SENT;
}

static void
drop(rt_collect *c, rt_str name)
{
	rt_store *store = c->engine->store;

	RT_TRY(c->s, store->ops->write(store, rt_rows_named(RT_STORE_SIDE, c->engine->project, name),
				       rt_str_at(NULL, 0), &c->s->error));
}

/* Contents needed by logs of requests. A log that needs none is forgotten. */
static void
mark_logs(rt_collect *c, rt_collect_log_fn log, void *ctx)
{
	c->mark_bit = FILE_SENT;
	for (size_t i = 0; rt_ok(c->s) && i < c->logs.count; i++) {
		rt_str name = c->logs.items[i];
		rt_status st = RT_NOT_FOUND;

		c->found = 0;
		if (log != NULL)
			st = log(ctx, rt_str_skip(name, strlen(RT_FILE_LOG_PREFIX)), c, &c->s->error);
		if (st == RT_NOT_FOUND)
			need_all_files(c);
		else if (rt_scope_note(c->s, st) == RT_OK && c->found == 0)
			drop(c, name);
	}
}

/* at: in the form of a row of RT_BLOB_NEW_PREFIX. If the clock was set back, it is in the
 * future. */
static bool
is_recent(int64_t now_us, rt_str at)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%.*s", RT_STR_ARG(at));
	return llabs(now_us - strtoll(text, NULL, 10)) < RT_BLOB_NEW_US;
}

/* Is the blob's entry still to come? */
static bool
is_new(rt_collect *c, const content *k)
{
	char name[NAME_ROOM];

	(void)snprintf(name, sizeof(name), RT_BLOB_NEW_PREFIX "%.*s", HASH, k->hash);
	return is_recent(c->engine->env->now_us(c->engine->env->ctx), side_row(c, rt_str_of(name)));
}

static void
mark_new(rt_collect *c)
{
	for (size_t i = 0; rt_ok(c->s) && i < c->count; i++)
		if ((c->contents[i].stored & BLOB_NEW) != 0 && is_new(c, &c->contents[i]))
			c->contents[i].needed |= BLOB | BLOB_NEW;
}

/* All contents, and the references to them. */
static void
examine(rt_collect *c, unsigned wanted)
{
	uint64_t project = c->engine->project;

	c->wanted = wanted;
	rt_scope_init(&c->row, c->s->alloc);
	read_rows(c, rt_rows_names(project), note_name);
	if (rt_ok(c->s))
		sort(c);
	mark_others(c);
	if ((wanted & BLOB) == 0)
		return;
	c->mark_bit = BLOB;
	read_rows(c, rt_rows_all(RT_STORE_BODIES, project), mark_body);
	if (c->count > 0)
		read_rows(c, rt_rows_all(RT_STORE_LOG, project), mark_row);
	mark_new(c);
}

/* ---- collecting ---- */

/* The bits of a content whose rows can go. */
static unsigned
unused(const rt_collect *c, const content *k)
{
	unsigned used = k->needed, rows = c->wanted;

	if (c->wanted == (BLOB | FILE_SENT) && (used & (BLOB | FILE_SENT)) == 0)
		rows |= PURGED;
	if ((c->wanted & BLOB) != 0)
		rows |= BLOB_NEW;
	return k->stored & rows & ~used;
}

static void
write_mark(rt_engine *engine, rt_scope *s, const char *prefix, rt_str hash, rt_str data)
{
	char name[NAME_ROOM];

	(void)snprintf(name, sizeof(name), "%s%.*s", prefix, RT_STR_ARG(hash));
	RT_TRY(s, engine->store->ops->write(engine->store, rt_engine_side(engine, name), data,
					    &s->error));
}

static void
sweep(rt_collect *c, rt_collected *out)
{
	for (size_t i = 0; rt_ok(c->s) && i < c->count; i++) {
		const content *k = &c->contents[i];
		rt_str hash = rt_str_at(k->hash, HASH);
		unsigned gone = unused(c, k);

		for (size_t n = 0; n < KINDS; n++)
			if ((gone & kinds[n].bit) != 0)
				write_mark(c->engine, c->s, kinds[n].prefix.ptr, hash,
					   rt_str_at(NULL, 0));
		out->removed += (gone & BLOB) != 0;
		out->removed += (gone & FILE_SENT) != 0;
		if (k->missing != 0) {
			write_mark(c->engine, c->s, RT_PURGED_PREFIX, hash, RT_STR("lost"));
			out->lost++;
		}
	}
}

rt_status
rt_engine_collect(rt_engine *engine, rt_collect_log_fn log, void *ctx, rt_collected *out,
		  rt_error *err)
{
	rt_store *store = engine->store;
	rt_scope s;
	rt_collect c = {.s = &s, .engine = engine};

	*out = (rt_collected){0};
	rt_scope_init(&s, engine->alloc);
	RT_TRY(&s, rt_engine_may_write(engine, &s.error));
	if (!rt_ok(&s))
		return rt_scope_end(&s, err);
	rt_engine_lock_writer(engine);
	if (RT_TRY(&s, store->ops->begin(store, &s.error)) == RT_OK) {
		examine(&c, BLOB | FILE_SENT);
		mark_logs(&c, log, ctx);
		if (rt_ok(&s))
			sort(&c);
		sweep(&c, out);
		rt_scope_deinit(&c.row);
		rt_store_end(store, &s);
	}
	rt_engine_unlock_writer(engine);
	if (!rt_ok(&s))
		*out = (rt_collected){0};
	return rt_scope_end(&s, err);
}

/* Within a transaction. Nothing is removed if a row is damaged; missing contents are left to a
 * repair. */
static void
collect(rt_engine *engine, rt_scope *s, unsigned wanted)
{
	rt_scope own;
	rt_collect c = {.s = &own, .engine = engine};
	rt_collected out = {0};

	rt_scope_init(&own, s->alloc);
	examine(&c, wanted);
	mark_logs(&c, NULL, NULL);
	for (size_t i = 0; i < c.count; i++)
		c.contents[i].missing = 0;
	sweep(&c, &out);
	rt_scope_deinit(&c.row);
	if (own.status == RT_CORRUPT)
		rt_scope_deinit(&own);
	else
		(void)rt_scope_join(s, &own);
}

void
rt_collect_files(rt_engine *engine, rt_scope *s)
{
	if (rt_ok(s))
		collect(engine, s, FILE_SENT);
}

typedef struct mark_reading {
	int64_t now_us;
	bool is_old;
} mark_reading;

static bool
read_mark(void *ctx, const rt_store_row *row)
{
	mark_reading *m = ctx;

	m->is_old = !is_recent(m->now_us, row->data);
	return !m->is_old;
}

void
rt_collect_blob_stored(rt_engine *engine, rt_scope *s, rt_str sha256)
{
	mark_reading m = {.now_us = engine->env->now_us(engine->env->ctx)};
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRId64, m.now_us);
	write_mark(engine, s, RT_BLOB_NEW_PREFIX, sha256, rt_str_of(text));
	RT_TRY(s, engine->store->ops->read(engine->store,
					   rt_rows_prefixed(engine->project,
							    RT_STR(RT_BLOB_NEW_PREFIX)),
					   read_mark, &m, &s->error));
	if (rt_ok(s) && m.is_old)
		collect(engine, s, BLOB);
}

void
rt_collect_purge(rt_engine *engine, rt_scope *s, rt_str name)
{
	rt_str hash = {NULL, 0};

	if ((kind_of(name, &hash) & (BLOB | FILE_SENT)) == 0)
		return;
	write_mark(engine, s, RT_PURGED_PREFIX, hash, RT_STR("purged"));
	write_mark(engine, s, RT_BLOB_NEW_PREFIX, hash, rt_str_at(NULL, 0));
}

/* ---- checking ---- */

typedef struct content_check {
	rt_fsck_fn fn;
	void *ctx;
	bool goes_on;
} content_check;

static bool
check_content(void *ctx, const rt_store_row *row)
{
	content_check *c = ctx;
	rt_str sha256 = rt_str_skip(row->name, rt_str_find(row->name, RT_STR("/"), 0) + 1);
	char hex[RT_SHA256_HEX_ROOM];
	rt_sha256 sha;

	rt_sha256_init(&sha);
	rt_sha256_add(&sha, row->data.ptr, row->data.size);
	rt_sha256_end_hex(&sha, hex);
	if (!rt_str_is(sha256, hex))
		c->goes_on = rt_finding_give(
			c->fn, c->ctx, "error", "file-differs",
			"side row %.*s does not contain the file that its hash names",
			RT_STR_ARG(row->name));
	return c->goes_on;
}

/* Has another process stored it since the names were read? */
static bool
is_there(rt_collect *c, const char *prefix, const content *k)
{
	char name[NAME_ROOM];

	(void)snprintf(name, sizeof(name), "%s%.*s", prefix, HASH, k->hash);
	return rt_store_get(c->engine->store, rt_engine_side(c->engine, name), NULL, NULL, NULL) !=
	       RT_NOT_FOUND;
}

static void
report(rt_collect *c, content_check *check, const content *k)
{
	for (size_t n = 0; n < 2 && check->goes_on; n++) {
		const char *prefix = kinds[n].prefix.ptr;

		if ((k->missing & kinds[n].bit) != 0 && !is_there(c, prefix, k) &&
		    !is_there(c, RT_PURGED_PREFIX, k))
			check->goes_on = rt_finding_give(
				check->fn, check->ctx, "warning", "file-missing",
				"%s has the SHA-256 %.*s, but the store does not contain it",
				kinds[n].bit == BLOB ? "a file attached to an entry"
						     : "a file that was sent in a request",
				HASH, k->hash);
		else if ((unused(c, k) & kinds[n].bit) != 0 && is_there(c, prefix, k))
			check->goes_on = rt_finding_give(
				check->fn, check->ctx, "note", "file-unused",
				"nothing refers to side row %s%.*s any more", prefix, HASH, k->hash);
	}
}

rt_status
rt_engine_fsck_files(rt_engine *engine, rt_fsck_fn fn, void *ctx, rt_error *err)
{
	content_check check = {fn, ctx, true};
	rt_scope s;
	rt_collect c = {.s = &s, .engine = engine};

	rt_scope_init(&s, engine->alloc);
	for (size_t i = 0; i < 2 && check.goes_on; i++)
		RT_TRY(&s, engine->store->ops->read(
				   engine->store,
				   rt_rows_prefixed(engine->project, kinds[i].prefix), check_content,
				   &check, &s.error));
	examine(&c, BLOB | FILE_SENT);
	if (c.logs.count > 0)
		need_all_files(&c);
	if (rt_ok(&s))
		sort(&c);
	for (size_t i = 0; rt_ok(&s) && i < c.count && check.goes_on; i++)
		report(&c, &check, &c.contents[i]);
	rt_scope_deinit(&c.row);
	if (s.status == RT_CORRUPT) /* the store's own check reports damaged rows */
		s.status = RT_OK;
	return rt_scope_end(&s, err);
}
