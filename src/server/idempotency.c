/* SPDX-License-Identifier: MIT */
#include "server/idempotency.h"

#include <stdio.h>

#include "codec/json.h"

enum { RECORD_MAX = 64 << 20 };

void
rt_idempotency_record_init(rt_idempotency_record *record, const rt_alloc *alloc)
{
	memset(record, 0, sizeof(*record));
	rt_buf_init(&record->body, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&record->location, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&record->etag, alloc, RT_BUF_UNLIMITED);
}

void
rt_idempotency_record_deinit(rt_idempotency_record *record)
{
	rt_buf_deinit(&record->body);
	rt_buf_deinit(&record->location);
	rt_buf_deinit(&record->etag);
}

/* With its size in front, so that no two lists of parts are the same bytes. */
static void
add_part(rt_sha256 *sha, rt_str part)
{
	uint64_t size = part.size;

	rt_sha256_add(sha, &size, sizeof(size));
	if (size > 0)
		rt_sha256_add(sha, part.ptr, part.size);
}

/* The same for a body that is a file. */
static rt_status
add_file(rt_sha256 *sha, const rt_input *file, const rt_alloc *alloc, rt_error *err)
{
	uint64_t size = file->size, at = 0;
	size_t got = 1;
	char *bytes = rt_new(alloc, RT_INPUT_HEAD);
	rt_status st = RT_OK;

	if (bytes == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	rt_sha256_add(sha, &size, sizeof(size));
	while (st == RT_OK && got > 0) {
		st = file->read_at(file->ctx, at, bytes, RT_INPUT_HEAD, &got, err);
		if (st == RT_OK && got > 0)
			rt_sha256_add(sha, bytes, got);
		at += got;
	}
	rt_free(alloc, bytes);
	return st;
}

rt_status
rt_idempotency_read_key(const rt_web_request *request, const rt_principal *principal,
			int64_t now_us, rt_idempotency *out, rt_error *err)
{
	rt_str key = rt_web_header(request, "Idempotency-Key");
	char hash[RT_SHA256_HEX_ROOM];
	rt_sha256 sha;
	size_t i;
	rt_status st = RT_OK;

	memset(out, 0, sizeof(*out));
	if (rt_web_header_repeats(request, "Idempotency-Key") == 0)
		return RT_OK;
	for (i = 0; i < key.size && key.ptr[i] > 0x20 && key.ptr[i] < 0x7f; i++)
		;
	if (key.size == 0 || key.size > RT_IDEMPOTENCY_KEY_MAX || i < key.size ||
	    rt_web_header_repeats(request, "Idempotency-Key") > 1)
		return rt_fail(err, RT_USAGE,
			       "Idempotency-Key is one key of 1 to %d visible ASCII "
			       "characters",
			       RT_IDEMPOTENCY_KEY_MAX);
	rt_sha256_init(&sha);
	add_part(&sha, principal->browser);
	add_part(&sha, request->method_name);
	add_part(&sha, request->path);
	add_part(&sha, key);
	rt_sha256_end_hex(&sha, hash);
	snprintf(out->row, sizeof(out->row), "%s%s", RT_IDEMPOTENCY_PREFIX, hash);
	rt_sha256_init(&sha);
	add_part(&sha, request->query);
	if (request->file != NULL)
		st = add_file(&sha, request->file, request->alloc, err);
	else
		add_part(&sha, request->body);
	rt_sha256_end_hex(&sha, out->request);
	out->now_us = now_us;
	return st;
}

static rt_status
read_record(const rt_idempotency *idem, rt_str stored, rt_idempotency_record *record, rt_error *err)
{
	uint64_t at = 0, status = 0;
	rt_json_doc *doc = NULL;
	yyjson_val *root;
	rt_status st = rt_json_read(record->body.alloc, stored, &doc, err);

	if (st != RT_OK) /* a purge may have blanked it: then it says nothing */
		return st == RT_NOMEM ? st : rt_fail(err, RT_NOT_FOUND, "no answer was kept");
	root = rt_json_root(doc);
	if (!rt_json_u64(rt_json_get(root, "at"), &at) ||
	    !rt_json_u64(rt_json_get(root, "status"), &status) ||
	    (int64_t)at + RT_IDEMPOTENCY_TTL_US < idem->now_us) {
		st = rt_fail(err, RT_NOT_FOUND, "no answer was kept");
	} else {
		record->status = (unsigned)status;
		(void)rt_json_u64(rt_json_get(root, "seq"), &record->seq);
		record->is_other = !rt_str_is(rt_json_str(rt_json_get(root, "request")),
					      idem->request);
		rt_buf_clear(&record->body);
		rt_buf_clear(&record->location);
		rt_buf_clear(&record->etag);
		rt_buf_add_str(&record->body, rt_json_str(rt_json_get(root, "body")));
		rt_buf_add_str(&record->location, rt_json_str(rt_json_get(root, "location")));
		rt_buf_add_str(&record->etag, rt_json_str(rt_json_get(root, "etag")));
		if (record->body.status != RT_OK || record->location.status != RT_OK ||
		    record->etag.status != RT_OK)
			st = rt_fail(err, RT_NOMEM, "out of memory");
	}
	rt_json_free(doc);
	return st;
}

rt_status
rt_idempotency_find(const rt_idempotency *idem, rt_store *store, uint64_t project,
		    rt_idempotency_record *record, rt_error *err)
{
	rt_buf stored;
	rt_status st;

	if (idem->row[0] == '\0')
		return rt_fail(err, RT_NOT_FOUND, "no answer was kept");
	rt_buf_init(&stored, record->body.alloc, RECORD_MAX);
	st = rt_store_get(store, rt_rows_named(RT_STORE_SIDE, project, rt_str_of(idem->row)),
			  &stored, NULL, err);
	if (st == RT_OK && stored.status != RT_OK)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	if (st == RT_OK)
		st = read_record(idem, rt_buf_str(&stored), record, err);
	rt_buf_deinit(&stored);
	return st;
}

static void
add_text(rt_buf *stored, const char *key, rt_str text)
{
	if (text.size == 0)
		return;
	rt_json_add_key(stored, key);
	rt_json_add_string(stored, text);
}

rt_status
rt_idempotency_save(const rt_idempotency *idem, const rt_alloc *alloc, rt_store *store,
		    uint64_t project, const rt_idempotency_response *answer, rt_error *err)
{
	rt_buf stored;
	rt_status st;

	rt_buf_init(&stored, alloc, RECORD_MAX);
	rt_buf_add_f(&stored, "{\"v\":1,\"at\":%lld,\"request\":\"%s\",\"status\":%u,\"seq\":%llu",
		     (long long)idem->now_us, idem->request, answer->status,
		     (unsigned long long)answer->seq);
	add_text(&stored, "location", answer->location);
	add_text(&stored, "etag", answer->etag);
	add_text(&stored, "body", answer->body);
	rt_buf_add_byte(&stored, '}');
	st = stored.status != RT_OK
		     ? rt_fail(err, RT_NOMEM, "out of memory")
		     : store->ops->write(
			       store, rt_rows_named(RT_STORE_SIDE, project, rt_str_of(idem->row)),
			       rt_buf_str(&stored), err);
	rt_buf_deinit(&stored);
	return st;
}

rt_status
rt_idempotency_reserve(const rt_idempotency *idem, rt_store *store, uint64_t project,
		       rt_idempotency_record *record, rt_error *err)
{
	const rt_idempotency_response begun = {.status = 0};
	rt_status st = store->ops->begin(store, err);

	if (st != RT_OK)
		return st;
	st = rt_idempotency_find(idem, store, project, record, err);
	if (st == RT_OK)
		st = rt_fail(err, RT_CONFLICT, "it was asked before");
	else if (st == RT_NOT_FOUND)
		st = rt_idempotency_save(idem, record->body.alloc, store, project, &begun, err);
	if (st == RT_OK)
		st = store->ops->commit(store, err);
	else
		store->ops->cancel(store);
	return st;
}

rt_status
rt_idempotency_drop(const rt_idempotency *idem, rt_store *store, uint64_t project, rt_error *err)
{
	return store->ops->write(store, rt_rows_named(RT_STORE_SIDE, project, rt_str_of(idem->row)),
				 RT_STR(""), err);
}

/* ---- forgetting ---- */

typedef struct old_rows {
	rt_buf names; /* one behind the other, each with a NUL */
	int64_t now_us;
	size_t count;
} old_rows;

/* at is the second member of what rt_idempotency_save writes; what is not like that is no
 * record. */
static bool
is_old(rt_str value, int64_t now_us)
{
	rt_str begin = RT_STR("{\"v\":1,\"at\":");
	int64_t at = 0;
	size_t i = begin.size;

	if (!rt_str_starts(value, begin))
		return true;
	for (; i < value.size && value.ptr[i] >= '0' && value.ptr[i] <= '9' && at < INT64_MAX / 16;
	     i++)
		at = at * 10 + (value.ptr[i] - '0');
	return at + RT_IDEMPOTENCY_TTL_US < now_us;
}

static bool
gather(void *ctx, const rt_store_row *row)
{
	old_rows *old = ctx;

	if (rt_str_starts(row->name, RT_STR(RT_IDEMPOTENCY_PREFIX)) &&
	    is_old(row->data, old->now_us)) {
		rt_buf_add_str(&old->names, row->name);
		rt_buf_add_byte(&old->names, '\0');
	}
	return old->names.status == RT_OK;
}

rt_status
rt_idempotency_sweep(rt_engine *engine, int64_t now_us, size_t *out_count, rt_error *err)
{
	rt_store *store = rt_engine_store(engine);
	uint64_t project = rt_engine_project_number(engine);
	old_rows old = {.now_us = now_us};
	size_t at = 0;
	rt_status st;

	rt_buf_init(&old.names, rt_engine_alloc(engine), RT_BUF_UNLIMITED);
	st = store->ops->read(store, rt_rows_all(RT_STORE_SIDE, project), gather, &old, err);
	if (st != RT_OK || (old.names.status == RT_OK && old.names.size == 0))
		goto done;
	/* Once more where nobody comes in between: a key may be used anew. */
	rt_buf_clear(&old.names);
	st = store->ops->begin(store, err);
	if (st != RT_OK)
		goto done;
	st = store->ops->read(store, rt_rows_all(RT_STORE_SIDE, project), gather, &old, err);
	if (st == RT_OK && old.names.status != RT_OK)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	while (st == RT_OK && at < old.names.size) {
		rt_str name = rt_str_of(old.names.ptr + at);

		st = store->ops->write(store, rt_rows_named(RT_STORE_SIDE, project, name),
				       RT_STR(""), err);
		at += name.size + 1;
		old.count++;
	}
	if (st == RT_OK)
		st = store->ops->commit(store, err);
	else
		store->ops->cancel(store);
done:
	if (st == RT_OK && out_count != NULL)
		*out_count = old.count;
	rt_buf_deinit(&old.names);
	return st;
}
