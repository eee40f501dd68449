/* SPDX-License-Identifier: MIT
 *
 * The audit log, and what a server notes while it answers and writes now and then: refused requests, and
 * the days on which tokens were used. Both are rows without a version: no roster is read again. */
#include "accounts/audit.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "codec/json.h"
#include "log/identity.h"

enum {
	REFUSED = 64,  /* to be written; further ones of the time until then are dropped */
	SEEN = 256,    /* refusals of the last minutes */
	USED = 1024,   /* tokens, by their numbers */
	PROXIED = 1024, /* users whom a proxy names; of more, those without a request for the longest time are forgotten */
	TEXT = 128     /* bytes of a text of a refusal */
};

#define MINUTE_US ((int64_t)60 * 1000000)
#define DAY_US (1440 * MINUTE_US)

/* ---- rows ---- */

static void
write_row(rt_directory *d, rt_scope *s, rt_str name, const rt_audit *row)
{
	rt_directory_change change = {.directory = d, .scope = s};
	rt_buf *value = rt_scope_buf(s);

	rt_json_open(value, NULL, '{');
	rt_json_put_u64(value, "v", 1);
	rt_json_put_i64(value, "at", row->at_us);
	rt_json_put_str(value, "by", row->by);
	rt_json_put_str(value, "what", row->what);
	rt_json_put_str(value, "on", rt_str_at(row->on.ptr, rt_utf8_valid_size(row->on)));
	rt_json_put_str(value, "from", row->from);
	if (row->request.size > 0)
		rt_json_put_str(value, "request", row->request);
	rt_json_close(value, '}');
	rt_directory_write_side(&change, name, rt_scope_str(s, value));
}

/* The names of the rows have the order of their times. */
static rt_str
row_name(rt_scope *s, int64_t at_us, uint64_t key)
{
	rt_buf *name = rt_scope_buf(s);

	rt_buf_add_f(name, RT_AUDIT_PREFIX "%016llx-%016llx", (unsigned long long)at_us, (unsigned long long)key);
	return rt_scope_str(s, name);
}

void
rt_audit_note(rt_directory_change *change, const rt_accounts *a, const char *what, rt_str on)
{
	rt_audit row = {a->env->now_us(a->env->ctx), a->by, rt_str_of(what), on, a->from, a->request};
	uint64_t random = 0;

	a->env->random(a->env->ctx, &random, sizeof(random));
	write_row(change->directory, change->scope, row_name(change->scope, row.at_us, random), &row);
}

void
rt_audit_add(const rt_accounts *a, const char *what, rt_str on)
{
	rt_directory_change change = {.directory = a->directory, .scope = a->scope};
	rt_store *store = rt_directory_store(a->directory);
	rt_str identity = rt_store_set_identity(RT_STORE_ITSELF);

	if (RT_TRY(a->scope, store->ops->begin(store, &a->scope->error)) == RT_OK && rt_ok(a->scope)) {
		rt_audit_note(&change, a, what, on);
		rt_store_end(store, a->scope);
	}
	(void)rt_store_set_identity(identity);
}

typedef struct audit_reading {
	rt_scope *s;
	const rt_audit_filter *filter;
	rt_audit_fn fn;
	void *ctx;
} audit_reading;

/* The user, or a client of the user: "ann", "ann:script". */
static bool
is_by(rt_str by, rt_str user)
{
	return user.size == 0 || rt_str_eq(by, user) ||
	       (rt_str_starts(by, user) && by.size > user.size && by.ptr[user.size] == ':');
}

static bool
read_audit(void *ctx, const rt_store_row *row)
{
	audit_reading *r = ctx;
	rt_json_doc *doc = NULL;
	rt_audit one = {0};
	bool more = true;

	if (rt_json_read(r->s->alloc, row->data, &doc, NULL) != RT_OK)
		return true;
	yyjson_val *root = rt_json_root(doc);
	one.by = rt_json_str(rt_json_get(root, "by"));
	one.what = rt_json_str(rt_json_get(root, "what"));
	one.on = rt_json_str(rt_json_get(root, "on"));
	one.from = rt_json_str(rt_json_get(root, "from"));
	one.request = rt_json_str(rt_json_get(root, "request"));
	if (rt_json_i64(rt_json_get(root, "at"), &one.at_us) && one.at_us >= r->filter->since_us &&
	    is_by(one.by, r->filter->user))
		more = r->fn(r->ctx, &one);
	rt_json_free(doc);
	return more;
}

void
rt_audit_read(rt_directory *d, rt_scope *s, const rt_audit_filter *filter, rt_audit_fn fn, void *ctx)
{
	audit_reading r = {s, filter, fn, ctx};
	rt_store *store = rt_directory_store(d);
	rt_str identity = rt_store_set_identity(RT_STORE_ITSELF);

	RT_TRY(s, store->ops->read(store, rt_directory_rows(d, RT_STR(RT_AUDIT_PREFIX)), read_audit, &r,
				   &s->error));
	(void)rt_store_set_identity(identity);
}

void
rt_audit_put(rt_buf *out, const rt_audit *row)
{
	rt_json_open(out, NULL, '{');
	rt_json_put_time(out, "at", (rt_moment){.us = row->at_us});
	rt_json_put_str(out, "by", row->by);
	rt_json_put_str(out, "what", row->what);
	rt_json_put_str(out, "on", row->on);
	rt_json_put_str(out, "from", row->from);
	if (row->request.size > 0)
		rt_json_put_str(out, "request", row->request);
	rt_json_close(out, '}');
}

/* ---- notes ---- */

typedef struct refusal {
	int64_t at_us;
	uint64_t key;
	char by[TEXT], what[TEXT], on[TEXT], request[TEXT];
} refusal;

struct rt_account_notes {
	const rt_alloc *alloc;
	pthread_mutex_t lock; /* guards the rest */
	struct {
		uint64_t key;
		int64_t minute;
	} seen[SEEN];
	refusal refused[REFUSED];
	size_t refused_count;
	struct {
		uint64_t token;
		int64_t day;
		bool is_new;
	} used[USED];
	bool has_used; /* one is new */
	struct {
		uint64_t user;
		int64_t last_us; /* the last request */
	} proxied[PROXIED];
	size_t proxied_count;
};

rt_account_notes *
rt_account_notes_new(const rt_alloc *alloc)
{
	rt_account_notes *notes = rt_new0(alloc, sizeof(*notes));

	if (notes != NULL && pthread_mutex_init(&notes->lock, NULL) != 0) {
		rt_free(alloc, notes);
		return NULL;
	}
	if (notes != NULL)
		notes->alloc = alloc;
	return notes;
}

void
rt_account_notes_free(rt_account_notes *notes)
{
	if (notes == NULL)
		return;
	pthread_mutex_destroy(&notes->lock);
	rt_free(notes->alloc, notes);
}

static void
copy_text(char room[TEXT], rt_str text)
{
	size_t size = rt_utf8_cut(text, TEXT - 1);

	if (size > 0)
		memcpy(room, text.ptr, size);
	room[size] = '\0';
}

/* The key of an identity and a kind of refusal. */
static uint64_t
key_of(rt_str identity, const char *kind)
{
	char hex[RT_SHA256_HEX_ROOM];
	unsigned long long key = 0;
	rt_sha256 sha;

	rt_sha256_init(&sha);
	rt_sha256_add(&sha, identity.ptr, identity.size);
	rt_sha256_add(&sha, kind, strlen(kind) + 1);
	rt_sha256_end_hex(&sha, hex);
	hex[16] = '\0';
	(void)sscanf(hex, "%llx", &key);
	return key;
}

/* With the lock. */
static void
add_note(rt_account_notes *notes, int64_t now_us, uint64_t key, const rt_audit *row)
{
	int64_t minute = now_us / MINUTE_US;
	bool is_known = notes->seen[key % SEEN].key == key && notes->seen[key % SEEN].minute == minute;
	if (!is_known && notes->refused_count < REFUSED) {
		refusal *one = &notes->refused[notes->refused_count++];

		notes->seen[key % SEEN].key = key;
		notes->seen[key % SEEN].minute = minute;
		one->at_us = now_us;
		one->key = key;
		copy_text(one->by, row->by);
		copy_text(one->what, row->what);
		copy_text(one->on, row->on);
		copy_text(one->request, row->request);
	}
}

void
rt_account_notes_refused(rt_account_notes *notes, int64_t now_us, rt_str identity, const rt_audit *row,
			 const char *kind)
{
	pthread_mutex_lock(&notes->lock);
	add_note(notes, now_us, key_of(identity, kind), row);
	pthread_mutex_unlock(&notes->lock);
}

void
rt_account_notes_proxied(rt_account_notes *notes, int64_t now_us, uint64_t user, rt_str name, rt_str request)
{
	size_t at = 0, oldest = 0;

	pthread_mutex_lock(&notes->lock);
	for (; at < notes->proxied_count && notes->proxied[at].user != user; at++)
		oldest = notes->proxied[at].last_us < notes->proxied[oldest].last_us ? at : oldest;
	bool is_new = at == notes->proxied_count || now_us - notes->proxied[at].last_us >= RT_PROXY_SESSION_US;
	if (at == PROXIED)
		at = oldest;
	else if (at == notes->proxied_count)
		notes->proxied_count++;
	notes->proxied[at].user = user;
	notes->proxied[at].last_us = now_us;
	if (is_new)
		add_note(notes, now_us, key_of(name, "sign-in"),
			 &(rt_audit){.by = name, .what = RT_STR("sign-in"), .on = RT_STR("proxy"), .request = request});
	pthread_mutex_unlock(&notes->lock);
}

void
rt_account_notes_used(rt_account_notes *notes, int64_t now_us, uint64_t token)
{
	size_t at = token % USED;
	int64_t day = now_us / DAY_US;

	pthread_mutex_lock(&notes->lock);
	bool is_known = notes->used[at].token == token && notes->used[at].day == day;
	if (!is_known && !notes->used[at].is_new) {
		notes->used[at].token = token;
		notes->used[at].day = day;
		notes->used[at].is_new = notes->has_used = true;
	}
	pthread_mutex_unlock(&notes->lock);
}

/* ---- writing the notes ---- */

static rt_str
used_name(rt_scope *s, uint64_t token)
{
	rt_buf *name = rt_scope_buf(s);

	rt_buf_add_f(name, RT_USED_PREFIX "%llu", (unsigned long long)token);
	return rt_scope_str(s, name);
}

/* The day; 0: never. */
static uint64_t
read_used(rt_directory *d, rt_scope *s, uint64_t token)
{
	rt_buf *text = rt_scope_buf(s);
	uint64_t day = 0;

	if (!rt_ok(s) || rt_directory_get(d, used_name(s, token), text, &s->error) != RT_OK) {
		rt_scope_note(s, s->error.status == RT_NOT_FOUND ? RT_OK : s->error.status);
		return 0;
	}
	yyjson_val *root = rt_json_parse(s, rt_scope_str(s, text));
	(void)rt_json_u64(rt_json_get(root, "day"), &day);
	return day;
}

/* One row for a token and a day, whichever server notices it. */
static void
write_used(rt_directory *d, rt_scope *s, uint64_t token, uint64_t day)
{
	rt_directory_change change = {.directory = d, .scope = s};
	rt_buf *value = rt_scope_buf(s);

	if (read_used(d, s, token) >= day || !rt_ok(s))
		return;
	rt_buf_add_f(value, "{\"v\":1,\"day\":%llu}", (unsigned long long)day);
	rt_directory_write_side(&change, used_name(s, token), rt_scope_str(s, value));
}

void
rt_account_notes_write(rt_account_notes *notes, rt_directory *d, rt_scope *s)
{
	rt_store *store = rt_directory_store(d);
	refusal *refused = NULL;
	uint64_t *used = NULL, *days = NULL;
	size_t refused_count = 0, used_count = 0;

	pthread_mutex_lock(&notes->lock);
	bool is_empty = notes->refused_count == 0 && !notes->has_used;
	if (!is_empty) {
		refused = rt_scope_array(s, REFUSED, sizeof(*refused));
		used = rt_scope_array(s, USED, sizeof(*used));
		days = rt_scope_array(s, USED, sizeof(*days));
	}
	if (!is_empty && rt_ok(s)) {
		refused_count = notes->refused_count;
		memcpy(refused, notes->refused, refused_count * sizeof(*refused));
		notes->refused_count = 0;
		for (size_t i = 0; i < USED; i++)
			if (notes->used[i].is_new) {
				used[used_count] = notes->used[i].token;
				days[used_count++] = (uint64_t)notes->used[i].day;
				notes->used[i].is_new = false;
			}
		notes->has_used = false;
	}
	pthread_mutex_unlock(&notes->lock);
	if (is_empty || !rt_ok(s) || store->is_read_only ||
	    RT_TRY(s, store->ops->begin(store, &s->error)) != RT_OK)
		return;
	for (size_t i = 0; i < refused_count; i++)
		/* All servers write the same row. */
		write_row(d, s, row_name(s, refused[i].at_us / MINUTE_US * MINUTE_US, refused[i].key),
			  &(rt_audit){refused[i].at_us, rt_str_of(refused[i].by), rt_str_of(refused[i].what),
				      rt_str_of(refused[i].on), RT_STR("http"), rt_str_of(refused[i].request)});
	for (size_t i = 0; i < used_count; i++)
		write_used(d, s, used[i], days[i]);
	rt_store_end(store, s);
}

void
rt_account_used_put(rt_directory *d, rt_scope *s, uint64_t token, rt_buf *out)
{
	uint64_t day = read_used(d, s, token);
	rt_buf *text = rt_scope_buf(s);

	if (day == 0 || day > INT64_MAX / DAY_US)
		return;
	rt_moment_format(text, (rt_moment){.us = (int64_t)day * DAY_US});
	rt_str whole = rt_scope_str(s, text);
	rt_json_put_str(out, "used", rt_str_at(whole.ptr, whole.size > 10 ? 10 : whole.size));
}

void
rt_account_used_drop(rt_directory_change *change, uint64_t token)
{
	rt_directory_write_side(change, used_name(change->scope, token), RT_STR(""));
}
