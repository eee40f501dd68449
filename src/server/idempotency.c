/* SPDX-License-Identifier: MIT */
#include "server/idempotency.h"

#include <stdio.h>

#include "codec/json.h"
#include "log/identity.h"

enum { RECORD_MAX = 64 << 20 };

/* ---- keys ---- */

/* Preceded by its size, so that no two lists of parts have the same bytes. */
static void
add_part(rt_sha256 *sha, rt_str part)
{
	uint64_t size = part.size;

	rt_sha256_add(sha, &size, sizeof(size));
	if (size > 0)
		rt_sha256_add(sha, part.ptr, part.size);
}

/* The same for a body that is a file. */
static void
add_file(rt_scope *s, rt_sha256 *sha, const rt_input *file)
{
	uint64_t size = file->size, at = 0;
	char *bytes = rt_scope_get(s, RT_INPUT_HEAD);
	size_t got = 1;

	rt_sha256_add(sha, &size, sizeof(size));
	while (rt_ok(s) && got > 0) {
		RT_TRY(s, file->read_at(file->ctx, at, bytes, RT_INPUT_HEAD, &got, &s->error));
		if (rt_ok(s) && got > 0)
			rt_sha256_add(sha, bytes, got);
		at += got;
	}
}

static bool
is_key(rt_str key)
{
	for (size_t i = 0; i < key.size; i++)
		if (key.ptr[i] <= 0x20 || key.ptr[i] >= 0x7f)
			return false;
	return key.size > 0 && key.size <= RT_IDEMPOTENCY_KEY_MAX;
}

rt_idempotency
rt_idempotency_read_key(rt_scope *s, const rt_web_request *request, const rt_principal *principal,
			rt_engine *engine, int64_t now_us)
{
	rt_idempotency idem = {.engine = engine, .now_us = now_us};
	rt_str key = rt_web_header(request, "Idempotency-Key");
	size_t repeats = rt_web_header_repeats(request, "Idempotency-Key");
	char hash[RT_SHA256_HEX_ROOM];
	rt_sha256 sha;

	if (!rt_ok(s) || repeats == 0)
		return idem;
	if (repeats > 1 || !is_key(key)) {
		rt_scope_fail(s, RT_USAGE,
			      "Idempotency-Key must be one key of 1 to %d visible ASCII characters",
			      RT_IDEMPOTENCY_KEY_MAX);
		return idem;
	}
	rt_sha256_init(&sha);
	add_part(&sha, principal->user.size > 0 ? principal->user : principal->browser);
	add_part(&sha, request->method_name);
	add_part(&sha, request->path);
	add_part(&sha, key);
	rt_sha256_end_hex(&sha, hash);
	(void)snprintf(idem.row, sizeof(idem.row), "%s%s", RT_IDEMPOTENCY_PREFIX, hash);
	rt_sha256_init(&sha);
	add_part(&sha, request->query);
	if (request->file != NULL)
		add_file(s, &sha, request->file);
	else
		add_part(&sha, request->body);
	rt_sha256_end_hex(&sha, idem.request);
	return idem;
}

/* ---- rows ---- */

static rt_rows
row_of(const rt_idempotency *idem)
{
	return rt_rows_named(RT_STORE_SIDE, rt_engine_project_number(idem->engine),
			     rt_str_of(idem->row));
}

static void
free_doc(void *doc)
{
	rt_json_free(doc);
}

static bool
has_expired(uint64_t at_us, int64_t now_us)
{
	return now_us > 0 && at_us < (uint64_t)now_us &&
	       (uint64_t)now_us - at_us > (uint64_t)RT_IDEMPOTENCY_TTL_US;
}

static rt_idempotency_record
read_record(const rt_idempotency *idem, yyjson_val *root)
{
	rt_idempotency_record record = {.body = rt_json_str(rt_json_get(root, "body")),
					.location = rt_json_str(rt_json_get(root, "location")),
					.etag = rt_json_str(rt_json_get(root, "etag"))};
	rt_str request = rt_json_str(rt_json_get(root, "request"));
	uint64_t at = 0, status = 0;

	if (!rt_json_u64(rt_json_get(root, "at"), &at) ||
	    !rt_json_u64(rt_json_get(root, "status"), &status) ||
	    has_expired(at, idem->now_us))
		return (rt_idempotency_record){.state = RT_IDEMPOTENCY_NEW};
	(void)rt_json_u64(rt_json_get(root, "seq"), &record.seq);
	record.status = (unsigned)status;
	record.state = !rt_str_is(request, idem->request) ? RT_IDEMPOTENCY_OTHER
		       : status == 0			  ? RT_IDEMPOTENCY_BEGUN
							  : RT_IDEMPOTENCY_DONE;
	return record;
}

rt_idempotency_record
rt_idempotency_find(rt_scope *s, const rt_idempotency *idem)
{
	const rt_idempotency_record none = {.state = RT_IDEMPOTENCY_NEW};
	rt_buf *stored = rt_scope_buf(s);
	rt_json_doc *doc = NULL;

	if (idem->row[0] == '\0' || !rt_ok(s))
		return none;
	stored->limit = RECORD_MAX;
	rt_status st = rt_store_get(rt_engine_store(idem->engine), row_of(idem), stored, NULL,
				    &s->error);
	if (st == RT_NOT_FOUND || rt_scope_note(s, st) != RT_OK)
		return none;
	if (stored->status != RT_OK) {
		rt_scope_nomem(s);
		return none;
	}
	st = rt_json_read(s->alloc, rt_buf_str(stored), &doc, &s->error);
	if (st != RT_OK) { /* blanked by a purge: it contains nothing usable */
		if (st == RT_NOMEM)
			rt_scope_nomem(s);
		return none;
	}
	rt_scope_defer(s, free_doc, doc);
	return rt_ok(s) ? read_record(idem, rt_json_root(doc)) : none;
}

static void
put_text(rt_buf *stored, const char *key, rt_str text)
{
	if (text.size > 0)
		rt_json_put_str(stored, key, text);
}

static void
write_row(rt_scope *s, rt_engine *engine, rt_str name, rt_str value)
{
	rt_store *store = rt_engine_store(engine);
	uint64_t project = rt_engine_project_number(engine);

	RT_TRY(s, store->ops->write(store, rt_rows_named(RT_STORE_SIDE, project, name), value,
				    &s->error));
}

void
rt_idempotency_save(rt_scope *s, const rt_idempotency *idem, const rt_idempotency_record *record)
{
	rt_buf *stored = rt_scope_buf(s);

	if (!rt_ok(s))
		return;
	stored->limit = RECORD_MAX;
	rt_json_open(stored, NULL, '{');
	rt_json_put_u64(stored, "v", 1);
	rt_json_put_i64(stored, "at", idem->now_us); /* here: see is_old */
	rt_json_put_c(stored, "request", idem->request);
	rt_json_put_u64(stored, "status", record->status);
	rt_json_put_u64(stored, "seq", record->seq);
	put_text(stored, "location", record->location);
	put_text(stored, "etag", record->etag);
	put_text(stored, "body", record->body);
	rt_json_close(stored, '}');
	if (stored->status != RT_OK)
		rt_scope_nomem(s);
	write_row(s, idem->engine, rt_str_of(idem->row), rt_buf_str(stored));
}

rt_idempotency_record
rt_idempotency_reserve(rt_scope *s, rt_idempotency *idem)
{
	rt_store *store = rt_engine_store(idem->engine);
	rt_idempotency_record found = {.state = RT_IDEMPOTENCY_NEW};
	rt_str identity = rt_store_set_identity(RT_STORE_ITSELF); /* also in the server's own project */

	if (RT_TRY(s, store->ops->begin(store, &s->error)) == RT_OK) {
		found = rt_idempotency_find(s, idem);
		if (found.state == RT_IDEMPOTENCY_NEW)
			rt_idempotency_save(s, idem, &(rt_idempotency_record){.status = 0});
		if (rt_ok(s) && found.state == RT_IDEMPOTENCY_NEW) {
			RT_TRY(s, store->ops->commit(store, &s->error));
			idem->is_reserved = rt_ok(s);
		} else {
			store->ops->cancel(store);
		}
	}
	(void)rt_store_set_identity(identity);
	return found;
}

void
rt_idempotency_drop(rt_scope *s, const rt_idempotency *idem)
{
	rt_str identity = rt_store_set_identity(RT_STORE_ITSELF);

	write_row(s, idem->engine, rt_str_of(idem->row), RT_STR(""));
	(void)rt_store_set_identity(identity);
}

/* ---- forgetting ---- */

typedef struct old_rows {
	rt_buf *names; /* one after the other, each with a NUL */
	int64_t now_us;
} old_rows;

/* "at" is the second member that rt_idempotency_save writes; anything else is not a record. */
static bool
is_old(rt_str value, int64_t now_us)
{
	const rt_str begin = RT_STR("{\"v\":1,\"at\":");
	uint64_t at = 0;

	if (!rt_str_starts(value, begin))
		return true;
	for (size_t i = begin.size; i < value.size && value.ptr[i] >= '0' && value.ptr[i] <= '9' &&
				    at < UINT64_MAX / 16;
	     i++)
		at = at * 10 + (uint64_t)(value.ptr[i] - '0');
	return has_expired(at, now_us);
}

static bool
gather(void *ctx, const rt_store_row *row)
{
	old_rows *old = ctx;

	if (is_old(row->data, old->now_us)) {
		rt_buf_add_str(old->names, row->name);
		rt_buf_add_byte(old->names, '\0');
	}
	return old->names->status == RT_OK;
}

static rt_str
find_old(rt_scope *s, rt_engine *engine, int64_t now_us)
{
	rt_store *store = rt_engine_store(engine);
	old_rows old = {rt_scope_buf(s), now_us};

	RT_TRY(s, store->ops->read(store,
				   rt_rows_prefixed(rt_engine_project_number(engine),
						    RT_STR(RT_IDEMPOTENCY_PREFIX)),
				   gather, &old, &s->error));
	return rt_scope_str(s, old.names);
}

rt_status
rt_idempotency_sweep(rt_engine *engine, int64_t now_us, size_t *out_count, rt_error *err)
{
	rt_store *store = rt_engine_store(engine);
	size_t count = 0;
	rt_scope s;

	rt_scope_init(&s, rt_engine_alloc(engine));
	if (find_old(&s, engine, now_us).size > 0 &&
	    RT_TRY(&s, store->ops->begin(store, &s.error)) == RT_OK) {
		/* Again, within the transaction: a key may have been reused. */
		rt_str names = find_old(&s, engine, now_us);

		for (size_t at = 0; rt_ok(&s) && at < names.size; count++) {
			rt_str name = rt_str_of(names.ptr + at);

			write_row(&s, engine, name, RT_STR(""));
			at += name.size + 1;
		}
		if (rt_ok(&s))
			RT_TRY(&s, store->ops->commit(store, &s.error));
		else
			store->ops->cancel(store);
	}
	if (rt_ok(&s) && out_count != NULL)
		*out_count = count;
	return rt_scope_end(&s, err);
}
