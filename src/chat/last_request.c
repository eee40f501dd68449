/* SPDX-License-Identifier: MIT
 *
 * The last request and changes since. See last_request.h. */
#include "chat/last_request.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "codec/content.h"
#include "log/collect.h"
#include "log/engine_impl.h"
#include "view/view.h"

rt_status
rt_engine_last_request(rt_engine *engine, uint32_t disc, rt_buf *out, rt_error *err)
{
	char name[24];
	rt_status st;

	snprintf(name, sizeof(name), RT_LAST_REQUEST_PREFIX "d%u", disc);
	st = rt_store_get(engine->store,
			  rt_rows_named(RT_STORE_SIDE, engine->project, rt_str_of(name)), out, NULL,
			  err);
	return st == RT_NOT_FOUND ? rt_fail(err, st, "there is no request from this discussion yet") : st;
}

/* Does a row refer to contents that a new one does not refer to? */
static bool
leaves_files(rt_scope *s, rt_str before, rt_str now)
{
	bool leaves = false;

	if (!rt_ok(s) || before.size == 0)
		return false;
	for (rt_json_iter it = rt_json_items(rt_json_get(rt_json_parse(s, before), "files"));
	     rt_json_next(&it);) {
		rt_str sha256 = rt_json_str(rt_json_get(it.value, "sha256"));

		leaves = leaves || (sha256.size > 0 && rt_str_find(now, sha256, 0) == SIZE_MAX);
	}
	return leaves;
}

/* Within a transaction. */
static void
keep_row(rt_scope *s, rt_engine *engine, uint32_t disc, rt_str row, const rt_attachments *files,
	 rt_str log)
{
	const rt_store_ops *ops = engine->store->ops;
	rt_buf *before = rt_scope_buf(s);
	char name[24], mark[64];
	rt_status st;

	snprintf(name, sizeof(name), RT_LAST_REQUEST_PREFIX "d%u", disc);
	st = rt_store_get(engine->store, rt_engine_side(engine, name), before, NULL, &s->error);
	if (st != RT_NOT_FOUND && st != RT_CORRUPT)
		rt_scope_note(s, st);
	rt_attachments_keep(s, engine, files);
	RT_TRY(s, ops->write(engine->store, rt_engine_side(engine, name), row, &s->error));
	if (log.size > 0 && files->count > 0) {
		snprintf(mark, sizeof(mark), RT_FILE_LOG_PREFIX "%.*s", RT_STR_ARG(log));
		RT_TRY(s, ops->write(engine->store, rt_engine_side(engine, mark), RT_STR("1"),
				     &s->error));
	}
	if (st == RT_OK && leaves_files(s, rt_scope_str(s, before), row))
		rt_collect_files(engine, s);
}

rt_status
rt_engine_keep_last_request(rt_engine *engine, uint32_t disc, rt_str row, const rt_attachments *files,
			    rt_str log, rt_error *err)
{
	rt_store *store = engine->store;
	rt_scope s;

	rt_scope_init(&s, engine->alloc);
	rt_engine_lock_writer(engine);
	if (RT_TRY(&s, store->ops->begin(store, &s.error)) == RT_OK) {
		keep_row(&s, engine, disc, row, files, log);
		rt_store_end(store, &s);
	}
	rt_engine_unlock_writer(engine);
	return rt_scope_end(&s, err);
}

/* ---- built again ---- */

rt_status
rt_last_request_build(rt_engine *engine, yyjson_val *record, const rt_provider *provider,
		      rt_context_part_fn part, void *ctx, rt_last_request *out, rt_error *err)
{
	rt_str upto = rt_json_str(rt_json_get(record, "upto"));
	rt_context_options options = {.stream = true, .part = part, .ctx = ctx};
	uint64_t seq = 0, budget = 0, number = 0;
	rt_attachments files;
	size_t newest;
	char hash[24], disc[RT_ADDRESS_SIZE], take_id[RT_ADDRESS_SIZE];
	rt_scope s;
	rt_status st;

	memset(out, 0, sizeof(*out));
	rt_buf_init(&out->body, engine->alloc, RT_BUF_UNLIMITED);
	if (provider == NULL || !rt_json_u64(rt_json_get(record, "seq"), &seq))
		return rt_fail(err, RT_CORRUPT, "the record of that request cannot be read");
	(void)rt_json_u64(rt_json_get(record, "budget_tokens"), &budget);
	out->budget_tokens = options.budget_tokens = (size_t)budget;
	/* The entries that fitted then, whatever the token counts are now. */
	if (rt_json_u64(rt_json_get(record, "newest"), &number)) {
		newest = (size_t)number;
		options.newest = &newest;
	}
	out->model = options.model = rt_json_str(rt_json_get(record, "model"));
	out->service = options.service = rt_json_str(rt_json_get(record, "service"));
	st = rt_engine_value_at(engine, seq, &out->value, err);
	if (st == RT_OK)
		st = rt_resolve_place(
			out->value,
			rt_address_by_id(rt_json_str(rt_json_get(record, "discussion")), disc),
			rt_address_by_id(rt_json_str(rt_json_get(record, "take")), take_id),
			&out->place, err);
	if (st == RT_OK && upto.size > 0)
		st = rt_resolve_entry(out->value, out->place, upto, false, &out->upto, err);
	if (st != RT_OK)
		return st;
	options.upto = out->upto;
	options.files = &files;
	rt_scope_init(&s, engine->alloc);
	files = rt_attachments_read(&s, engine, rt_json_get(record, "files"));
	RT_TRY(&s, rt_view_context(engine, out->value, out->place, provider, &options, &out->body,
				   &s.error));
	st = rt_scope_end(&s, err);
	if (st != RT_OK)
		return st;
	snprintf(hash, sizeof(hash), "%016llx",
		 (unsigned long long)rt_hash(out->body.ptr, out->body.size, 0));
	out->is_same = rt_str_is(rt_json_str(rt_json_get(record, "hash")), hash);
	return RT_OK;
}

void
rt_last_request_deinit(rt_last_request *request)
{
	rt_object_unref(request->value);
	rt_buf_deinit(&request->body);
	request->value = NULL;
}

/* ---- written out ---- */

/* "## user\n\nHello\n\n" for each message. */
static void
add_messages(rt_buf *out, yyjson_val *messages)
{
	yyjson_val *message;
	size_t i, max;

	yyjson_arr_foreach(messages, i, max, message)
	{
		rt_buf_add_f(out, "%s## %.*s\n\n", i == 0 ? "" : "\n",
			     RT_STR_ARG(rt_json_str(rt_json_get(message, "role"))));
		rt_content_add_text(out, rt_content_of(rt_json_get(message, "content")));
		rt_buf_add_byte(out, '\n');
	}
}

static rt_str
keep(rt_scope *s, rt_arena *arena, const rt_buf *buf)
{
	rt_str text = rt_scope_str(s, buf);
	char *ptr = rt_ok(s) ? rt_arena_get(arena, text.size + 1) : NULL;

	if (ptr == NULL) {
		rt_scope_nomem(s);
		return (rt_str){NULL, 0};
	}
	if (text.size > 0)
		memcpy(ptr, text.ptr, text.size);
	ptr[text.size] = '\0';
	return rt_str_at(ptr, text.size);
}

static void
export_one(rt_scope *s, rt_engine *engine, const rt_disc *disc, const rt_provider *provider,
	   rt_str row, rt_arena *arena, rt_outline *out)
{
	yyjson_val *record = rt_json_parse(s, row);
	rt_last_request sent;

	if (!rt_ok(s))
		return;
	RT_TRY(s, rt_last_request_build(engine, record, provider, NULL, NULL, &sent, &s->error));
	yyjson_val *body = rt_json_parse(s, rt_buf_str(&sent.body));
	const rt_take *take = rt_ok(s) ? rt_disc_take(disc, sent.place.take) : NULL;
	if (take != NULL && take->present) {
		rt_buf *markdown = rt_scope_buf(s), *system = rt_scope_buf(s);

		rt_content_add_text(system, rt_content_of(rt_json_get(body, "system")));
		add_messages(markdown, rt_json_get(body, "messages"));
		out->sent_take = rt_text_str(take->name);
		out->sent_markdown = keep(s, arena, markdown);
		out->sent_system_prompt = keep(s, arena, system);
	}
	rt_last_request_deinit(&sent);
}

rt_status
rt_engine_export_last_requests(rt_engine *engine, const rt_project *project,
			       const rt_provider *provider, rt_outlines *outlines, rt_error *err)
{
	for (size_t i = 0; i < outlines->count; i++) {
		rt_outline *o = &outlines->items[i];
		const rt_disc *disc = NULL;
		uint32_t number = 0;
		rt_scope s;

		for (size_t f = 0; f < o->field_count; f++) /* "\"d7\"" */
			if (rt_str_is(o->fields[f].name, "id") && o->fields[f].json.size > 3)
				number = (uint32_t)strtoul(o->fields[f].json.ptr + 2, NULL, 10);
		if (number == 0)
			continue;
		rt_scope_init(&s, engine->alloc);
		rt_buf *row = rt_scope_buf(&s);
		RT_TRY(&s, rt_engine_last_request(engine, number, row, &s.error));
		RT_TRY(&s, rt_project_disc(project, number, &disc, &s.error));
		export_one(&s, engine, disc, provider, rt_buf_str(row), outlines->arena, o);
		rt_status st = rt_scope_end(&s, err);
		/* otherwise it was never sent, or cannot be built any more */
		if (st != RT_OK && st != RT_NOT_FOUND && st != RT_CORRUPT && st != RT_USAGE)
			return st;
	}
	return RT_OK;
}

/* ---- compared ---- */

typedef struct item {
	uint32_t entry;
	bool is_summary;
	bool is_common;
	size_t order;   /* among those that are sent */
	size_t partner; /* is_common: the index on the other side */
	size_t at;    /* in the take */
} item;

/* The sent entries of a value, in order. */
typedef struct side {
	rt_scope *scope;
	const rt_project *value;
	const rt_disc *disc;
	const rt_take *take;
	item *items;
	size_t count, capacity;
} side;

static void
gather(void *ctx, const rt_context_part *part)
{
	side *s = ctx;

	if (part->left_out)
		return;
	item *items = rt_scope_grow(s->scope, s->items, s->count, &s->capacity, sizeof(*items));

	if (items == NULL)
		return;
	s->items = items;
	s->items[s->count] = (item){part->entry, part->is_summary, false, s->count, 0, part->at};
	s->count++;
}

static void
place_side(side *s, const rt_project *value, rt_place place)
{
	s->value = value;
	if (RT_TRY(s->scope, rt_project_disc(value, place.disc, &s->disc, &s->scope->error)) == RT_OK)
		s->take = rt_disc_take(s->disc, place.take);
}

static int
by_entry(const void *a, const void *b)
{
	const item *x = a, *y = b;

	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	return (x->is_summary > y->is_summary) - (x->is_summary < y->is_summary);
}

static int
by_order(const void *a, const void *b)
{
	const item *x = a, *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

static void
put_entry(rt_buf *buf, const side *s, const item *i, const char *change)
{
	rt_scope *sc = s->scope;
	char id[RT_ID_MAX + 1] = "";
	rt_slot slot = {0};
	rt_str role = {0};

	RT_TRY(sc, rt_seq_copy(s->take->slots, i->at, 1, &slot, &sc->error));
	RT_TRY(sc, rt_project_name(s->value, slot.role, &role, &sc->error));
	RT_TRY(sc, rt_entry_id(s->value, i->entry, id, &sc->error));
	rt_json_open(buf, NULL, '{');
	rt_json_put_c(buf, "change", change);
	rt_json_put_c(buf, "id", id);
	rt_json_put_str(buf, "role", role);
	rt_json_close(buf, '}');
}

static bool
is_edited(const side *then, const item *a, const side *now, const item *b)
{
	rt_scope *sc = then->scope;
	rt_slot x = {0}, y = {0};

	RT_TRY(sc, rt_seq_copy(then->take->slots, a->at, 1, &x, &sc->error));
	RT_TRY(sc, rt_seq_copy(now->take->slots, b->at, 1, &y, &sc->error));
	return x.body != y.body || x.role != y.role || x.kind != y.kind;
}

/* Marks the entries that both have. */
static void
pair(side *then, side *now)
{
	size_t i = 0, j = 0;

	if (then->count > 0)
		qsort(then->items, then->count, sizeof(item), by_entry);
	if (now->count > 0)
		qsort(now->items, now->count, sizeof(item), by_entry);
	while (i < then->count && j < now->count) {
		int order = by_entry(&then->items[i], &now->items[j]);

		if (order == 0) {
			then->items[i].is_common = now->items[j].is_common = true;
			then->items[i].partner = now->items[j].order;
			now->items[j].partner = then->items[i].order;
		}
		i += order <= 0;
		j += order >= 0;
	}
	if (then->count > 0)
		qsort(then->items, then->count, sizeof(item), by_order);
	if (now->count > 0)
		qsort(now->items, now->count, sizeof(item), by_order);
}

static void
put_entries(rt_buf *buf, side *then, side *now)
{
	const rt_scope *s = then->scope;
	size_t next = 0;
	bool moved = false;

	pair(then, now);
	rt_json_open(buf, "entries", '[');
	for (size_t i = 0; i < then->count && rt_ok(s); i++)
		if (!then->items[i].is_common)
			put_entry(buf, then, &then->items[i], "gone");
	for (size_t i = 0; i < now->count && rt_ok(s); i++) {
		const item *is = &now->items[i];

		if (!is->is_common) {
			put_entry(buf, now, is, "new");
			continue;
		}
		moved = moved || is->partner < next;
		next = is->partner;
		if (is_edited(then, &then->items[is->partner], now, is))
			put_entry(buf, now, is, "edited");
	}
	rt_json_close(buf, ']');
	rt_json_put_bool(buf, "moved", moved);
}

static yyjson_val *
settings_of(rt_engine *engine, const side *s)
{
	rt_buf *text = rt_scope_buf(s->scope);

	RT_TRY(s->scope, rt_view_settings(engine, s->value, s->disc->number, text,
					  &s->scope->error));
	return rt_json_parse(s->scope, rt_scope_str(s->scope, text));
}

/* Keys of the settings that differ, and whether the working prompt does. */
static void
put_settings(rt_buf *buf, rt_engine *engine, const side *then, const side *now)
{
	rt_scope *s = then->scope;
	yyjson_val *views[2], *settings[2], *key, *value;
	rt_str prompts[2];
	size_t i, max;

	if (!rt_ok(s))
		return;
	for (int k = 0; k < 2; k++) {
		views[k] = settings_of(engine, k == 0 ? then : now);
		settings[k] = rt_json_get(views[k], "settings");
		prompts[k] = rt_json_str(rt_json_get(rt_json_get(views[k], "prompt"), "text"));
	}
	rt_buf *x = rt_scope_buf(s), *y = rt_scope_buf(s);
	rt_json_open(buf, "settings", '[');
	for (int k = 0; k < 2 && rt_ok(s); k++)
		rt_json_foreach(settings[k], i, max, key, value)
		{
			yyjson_val *other = yyjson_obj_getn(settings[1 - k], yyjson_get_str(key),
							    yyjson_get_len(key));

			if (k == 1 && other != NULL) /* compared already */
				continue;
			rt_buf_clear(x);
			rt_buf_clear(y);
			rt_json_add_value(x, value);
			if (other != NULL)
				rt_json_add_value(y, other);
			if (!rt_str_eq(rt_scope_str(s, x), rt_scope_str(s, y)))
				rt_json_put_str(buf, NULL, rt_json_str(key));
		}
	rt_json_close(buf, ']');
	rt_json_put_bool(buf, "prompt", !rt_str_eq(prompts[0], prompts[1]));
}

/* The file of that name in a record; NULL: it was not sent. */
static yyjson_val *
sent_file(yyjson_val *files, rt_str name)
{
	for (rt_json_iter it = rt_json_items(files); rt_json_next(&it);)
		if (rt_str_eq(rt_json_str(rt_json_get(it.value, "name")), name))
			return it.value;
	return NULL;
}

static void
put_file(rt_buf *buf, const char *change, rt_str name)
{
	rt_json_open(buf, NULL, '{');
	rt_json_put_c(buf, "change", change);
	rt_json_put_str(buf, "name", name);
	rt_json_close(buf, '}');
}

static void
put_files(rt_buf *buf, yyjson_val *then, const rt_attachments *now)
{
	rt_json_open(buf, "files", '[');
	for (rt_json_iter it = rt_json_items(then); rt_json_next(&it);) {
		rt_str name = rt_json_str(rt_json_get(it.value, "name"));
		size_t i = 0;

		while (now != NULL && i < now->count && !rt_str_eq(now->items[i].name, name))
			i++;
		if (now == NULL || i == now->count)
			put_file(buf, "gone", name);
	}
	for (size_t i = 0; now != NULL && i < now->count; i++) {
		const rt_attachment *file = &now->items[i];
		yyjson_val *sent = sent_file(then, file->name);

		if (sent == NULL)
			put_file(buf, "new", file->name);
		else if (!rt_str_is(rt_json_str(rt_json_get(sent, "sha256")),
				    file->name_only ? "" : file->sha256))
			put_file(buf, "edited", file->name);
	}
	rt_json_close(buf, ']');
}

rt_status
rt_view_last_request_changes(rt_engine *engine, const rt_project *project, rt_place place,
			     yyjson_val *record, const rt_provider *provider,
			     const rt_attachments *files, rt_buf *buf, rt_error *err)
{
	static const char *const members[] = {"at",	 "seq",	  "provider",
					      "service", "model", "upto"};
	rt_scope s;
	side then = {.scope = &s}, now = {.scope = &s};
	rt_context_options options = {
		.stream = true, .files = files, .part = gather, .ctx = &now};
	rt_last_request sent;

	rt_scope_init(&s, engine->alloc);
	rt_buf *body = rt_scope_buf(&s);
	rt_status st = rt_last_request_build(engine, record, provider, gather, &then, &sent,
					     &s.error);
	rt_scope_note(&s, st);
	options.budget_tokens = sent.budget_tokens;
	options.model = sent.model;
	options.service = sent.service;
	RT_TRY(&s, rt_view_context(engine, project, place, provider, &options, body, &s.error));
	place_side(&then, sent.value, sent.place);
	place_side(&now, project, place);
	rt_buf_add_byte(buf, '{');
	rt_json_put_u64(buf, "v", 1);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (rt_json_get(record, members[i]) != NULL)
			rt_json_put_value(buf, members[i], rt_json_get(record, members[i]));
	rt_json_put_bool(buf, "exact", sent.is_same);
	rt_json_put_bool(buf, "same", rt_str_eq(rt_buf_str(&sent.body), rt_buf_str(body)));
	if (rt_ok(&s))
		put_entries(buf, &then, &now);
	put_settings(buf, engine, &then, &now);
	put_files(buf, rt_json_get(record, "files"), files);
	rt_json_close(buf, '}');
	(void)rt_scope_str(&s, buf);
	rt_last_request_deinit(&sent);
	return rt_scope_end(&s, err);
}
