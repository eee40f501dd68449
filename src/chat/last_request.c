/* SPDX-License-Identifier: MIT
 *
 * What was sent last, and what has changed since. See last_request.h. */
#include "chat/last_request.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "codec/content.h"
#include "log/engine_impl.h"
#include "view/view.h"

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory while requests were compared");
}

rt_status
rt_engine_last_request(rt_engine *engine, uint32_t disc, rt_buf *out, rt_error *err)
{
	char name[24];
	rt_status st;

	snprintf(name, sizeof(name), RT_LAST_REQUEST_PREFIX "d%u", disc);
	st = rt_store_get(engine->store,
			  rt_rows_named(RT_STORE_SIDE, engine->project, rt_str_of(name)), out, NULL,
			  err);
	return st == RT_NOT_FOUND ? rt_fail(err, st, "nothing was sent from this discussion yet") : st;
}

/* ---- built again ---- */

rt_status
rt_last_request_build(rt_engine *engine, yyjson_val *record, const rt_provider *provider,
		      rt_context_part_fn part, void *ctx, rt_last_request *out, rt_error *err)
{
	rt_str upto = rt_json_str(rt_json_get(record, "upto"));
	rt_context_options options = {.stream = true, .part = part, .ctx = ctx};
	uint64_t seq = 0, budget = 0, number = 0;
	size_t newest;
	char hash[24];
	rt_status st;

	memset(out, 0, sizeof(*out));
	rt_buf_init(&out->body, engine->alloc, RT_BUF_UNLIMITED);
	if (provider == NULL || !rt_json_u64(rt_json_get(record, "seq"), &seq))
		return rt_fail(err, RT_CORRUPT, "the record of that request cannot be read");
	(void)rt_json_u64(rt_json_get(record, "budget_tokens"), &budget);
	out->budget_tokens = options.budget_tokens = (size_t)budget;
	/* What fitted then, however tokens are counted now. */
	if (rt_json_u64(rt_json_get(record, "newest"), &number)) {
		newest = (size_t)number;
		options.newest = &newest;
	}
	out->model = options.model = rt_json_str(rt_json_get(record, "model"));
	out->service = options.service = rt_json_str(rt_json_get(record, "service"));
	st = rt_engine_value_at(engine, seq, &out->value, err);
	if (st == RT_OK)
		st = rt_resolve_place(out->value, rt_json_str(rt_json_get(record, "discussion")),
				      rt_json_str(rt_json_get(record, "take")), &out->place, err);
	if (st == RT_OK && upto.size > 0)
		st = rt_resolve_entry(out->value, out->place, upto, false, &out->upto, err);
	options.upto = out->upto;
	if (st == RT_OK)
		st = rt_view_context(engine, out->value, out->place, provider, &options, &out->body,
				     err);
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
keep(rt_arena *arena, const rt_buf *buf)
{
	char *ptr = rt_arena_get(arena, buf->size + 1);

	if (ptr == NULL)
		return rt_str_at(NULL, 0);
	if (buf->size > 0)
		memcpy(ptr, buf->ptr, buf->size);
	ptr[buf->size] = '\0';
	return rt_str_at(ptr, buf->size);
}

static rt_status
export_one(rt_engine *engine, const rt_disc *disc, const rt_provider *provider, rt_str row,
	   rt_arena *arena, rt_outline *out, rt_error *err)
{
	rt_json_doc *record = NULL, *body = NULL;
	rt_last_request sent;
	rt_buf markdown, system;
	const rt_take *take;
	rt_status st = rt_json_read(engine->alloc, row, &record, err);

	if (st != RT_OK)
		return st;
	rt_buf_init(&markdown, engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&system, engine->alloc, RT_BUF_UNLIMITED);
	st = rt_last_request_build(engine, rt_json_root(record), provider, NULL, NULL, &sent, err);
	if (st == RT_OK)
		st = rt_json_read(engine->alloc, rt_buf_str(&sent.body), &body, err);
	take = st == RT_OK ? rt_disc_take(disc, sent.place.take) : NULL;
	if (take != NULL && take->present) {
		rt_content_add_text(&system,
				    rt_content_of(rt_json_get(rt_json_root(body), "system")));
		add_messages(&markdown, rt_json_get(rt_json_root(body), "messages"));
		out->sent_take = rt_text_str(take->name);
		out->sent_markdown = keep(arena, &markdown);
		out->sent_system_prompt = keep(arena, &system);
		if (markdown.status != RT_OK || system.status != RT_OK ||
		    out->sent_markdown.ptr == NULL || out->sent_system_prompt.ptr == NULL)
			st = nomem(err);
	}
	rt_json_free(record);
	rt_json_free(body);
	rt_last_request_deinit(&sent);
	rt_buf_deinit(&markdown);
	rt_buf_deinit(&system);
	return st;
}

rt_status
rt_engine_export_last_requests(rt_engine *engine, const rt_project *project,
			       const rt_provider *provider, rt_outlines *outlines, rt_error *err)
{
	size_t i, f;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < outlines->count; i++) {
		rt_outline *o = &outlines->items[i];
		const rt_disc *disc;
		uint32_t number = 0;
		rt_buf row;

		for (f = 0; f < o->field_count; f++) /* "\"d7\"" */
			if (rt_str_is(o->fields[f].name, "id") && o->fields[f].json.size > 3)
				number = (uint32_t)strtoul(o->fields[f].json.ptr + 2, NULL, 10);
		if (number == 0)
			continue;
		rt_buf_init(&row, engine->alloc, RT_BUF_UNLIMITED);
		st = rt_engine_last_request(engine, number, &row, err);
		if (st == RT_OK)
			st = rt_project_disc(project, number, &disc, err);
		if (st == RT_OK)
			st = export_one(engine, disc, provider, rt_buf_str(&row), outlines->arena, o,
					err);
		if (st == RT_NOT_FOUND || st == RT_CORRUPT || st == RT_USAGE)
			st = RT_OK; /* never sent, or it cannot be said any more */
		rt_buf_deinit(&row);
	}
	return st;
}

/* ---- compared ---- */

typedef struct item {
	uint32_t entry;
	bool is_summary;
	bool is_common;
	size_t order;   /* among those that are sent */
	size_t partner; /* is_common: the other side's, by order */
	size_t at;    /* in the take */
} item;

/* What is sent of a value, in order. */
typedef struct side {
	const rt_alloc *alloc;
	const rt_project *value;
	const rt_disc *disc;
	const rt_take *take;
	item *items;
	size_t count, room;
	bool nomem;
} side;

static void
gather(void *ctx, const rt_context_part *part)
{
	side *s = ctx;

	if (part->left_out || s->nomem)
		return;
	if (s->count == s->room) {
		size_t room = s->room == 0 ? 256 : s->room * 2;
		item *more = rt_resize(s->alloc, s->items, room * sizeof(*more));

		if (more == NULL) {
			s->nomem = true;
			return;
		}
		s->items = more;
		s->room = room;
	}
	s->items[s->count] = (item){part->entry, part->is_summary, false, s->count, 0, part->at};
	s->count++;
}

static rt_status
place_side(side *s, const rt_project *value, rt_place place, rt_error *err)
{
	rt_status st = s->nomem ? nomem(err) : rt_project_disc(value, place.disc, &s->disc, err);

	s->value = value;
	if (st == RT_OK)
		s->take = rt_disc_take(s->disc, place.take);
	return st;
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

static rt_status
add_entry(const side *s, const item *i, const char *change, rt_buf *buf, rt_error *err)
{
	char id[RT_ID_MAX + 1];
	rt_slot slot;
	rt_str role;
	rt_status st = rt_seq_copy(s->take->slots, i->at, 1, &slot, err);

	if (st == RT_OK)
		st = rt_project_name(s->value, slot.role, &role, err);
	if (st == RT_OK)
		st = rt_entry_id(s->value, i->entry, id, err);
	if (st != RT_OK)
		return st;
	rt_json_add_comma(buf);
	rt_buf_add_f(buf, "{\"change\":\"%s\",\"id\":", change);
	rt_json_add_string(buf, rt_str_of(id));
	rt_json_add_key(buf, "role");
	rt_json_add_string(buf, role);
	rt_buf_add_byte(buf, '}');
	return RT_OK;
}

static rt_status
is_edited(const side *then, const item *a, const side *now, const item *b, bool *out, rt_error *err)
{
	rt_slot x, y;
	rt_status st = rt_seq_copy(then->take->slots, a->at, 1, &x, err);

	if (st == RT_OK)
		st = rt_seq_copy(now->take->slots, b->at, 1, &y, err);
	*out = st == RT_OK && (x.body != y.body || x.role != y.role || x.kind != y.kind);
	return st;
}

/* Mark what both have. */
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

static rt_status
add_entries(side *then, side *now, rt_buf *buf, rt_error *err)
{
	size_t i, next = 0;
	bool moved = false, edited;
	rt_status st = RT_OK;

	pair(then, now);
	rt_json_add_key(buf, "entries");
	rt_buf_add_byte(buf, '[');
	for (i = 0; st == RT_OK && i < then->count; i++)
		if (!then->items[i].is_common)
			st = add_entry(then, &then->items[i], "gone", buf, err);
	for (i = 0; st == RT_OK && i < now->count; i++) {
		const item *is = &now->items[i];

		if (!is->is_common) {
			st = add_entry(now, is, "new", buf, err);
			continue;
		}
		moved = moved || is->partner < next;
		next = is->partner;
		st = is_edited(then, &then->items[is->partner], now, is, &edited, err);
		if (st == RT_OK && edited)
			st = add_entry(now, is, "edited", buf, err);
	}
	rt_buf_add_c(buf, moved ? "],\"moved\":true" : "],\"moved\":false");
	return st;
}

/* Keys of the settings that are not the same in both, and whether the working prompt is. */
static rt_status
add_settings(rt_engine *engine, const side *then, const side *now, rt_buf *buf, rt_error *err)
{
	rt_buf texts[2], x, y;
	rt_json_doc *docs[2] = {NULL, NULL};
	yyjson_val *settings[2], *key, *value;
	size_t i, max, k;
	rt_status st = RT_OK;

	rt_buf_init(&x, engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&y, engine->alloc, RT_BUF_UNLIMITED);
	for (k = 0; k < 2; k++)
		rt_buf_init(&texts[k], engine->alloc, RT_BUF_UNLIMITED);
	for (k = 0; st == RT_OK && k < 2; k++) {
		const side *s = k == 0 ? then : now;

		st = rt_view_settings(engine, s->value, s->disc->number, &texts[k], err);
		if (st == RT_OK)
			st = rt_json_read(engine->alloc, rt_buf_str(&texts[k]), &docs[k], err);
		settings[k] = st == RT_OK ? rt_json_get(rt_json_root(docs[k]), "settings") : NULL;
	}
	rt_json_add_key(buf, "settings");
	rt_buf_add_byte(buf, '[');
	for (k = 0; st == RT_OK && k < 2; k++)
		yyjson_obj_foreach(settings[k], i, max, key, value)
		{
			yyjson_val *other = yyjson_obj_getn(settings[1 - k], yyjson_get_str(key),
							    yyjson_get_len(key));

			if (k == 1 && other != NULL) /* said already */
				continue;
			rt_buf_clear(&x);
			rt_buf_clear(&y);
			rt_json_add_value(&x, value);
			if (other != NULL)
				rt_json_add_value(&y, other);
			if (rt_str_eq(rt_buf_str(&x), rt_buf_str(&y)))
				continue;
			rt_json_add_comma(buf);
			rt_json_add_string(buf, rt_json_str(key));
		}
	rt_buf_add_byte(buf, ']');
	if (st == RT_OK) {
		rt_str a = rt_json_str(rt_json_get(rt_json_get(rt_json_root(docs[0]), "prompt"), "text"));
		rt_str b = rt_json_str(rt_json_get(rt_json_get(rt_json_root(docs[1]), "prompt"), "text"));

		rt_buf_add_c(buf, rt_str_eq(a, b) ? ",\"prompt\":false" : ",\"prompt\":true");
		if (x.status != RT_OK || y.status != RT_OK)
			st = nomem(err);
	}
	for (k = 0; k < 2; k++) {
		rt_json_free(docs[k]);
		rt_buf_deinit(&texts[k]);
	}
	rt_buf_deinit(&x);
	rt_buf_deinit(&y);
	return st;
}

static void
add_member(rt_buf *buf, yyjson_val *record, const char *key)
{
	yyjson_val *value = rt_json_get(record, key);

	if (value == NULL)
		return;
	rt_json_add_key(buf, key);
	rt_json_add_value(buf, value);
}

rt_status
rt_view_last_request_changes(rt_engine *engine, const rt_project *project, rt_place place,
			     yyjson_val *record, const rt_provider *provider, rt_buf *buf,
			     rt_error *err)
{
	side then = {.alloc = engine->alloc}, now = {.alloc = engine->alloc};
	rt_context_options options = {.stream = true, .part = gather, .ctx = &now};
	rt_last_request sent;
	rt_buf body;
	rt_status st;

	rt_buf_init(&body, engine->alloc, RT_BUF_UNLIMITED);
	st = rt_last_request_build(engine, record, provider, gather, &then, &sent, err);
	options.budget_tokens = sent.budget_tokens;
	options.model = sent.model;
	options.service = sent.service;
	if (st == RT_OK)
		st = rt_view_context(engine, project, place, provider, &options, &body, err);
	if (st == RT_OK)
		st = place_side(&then, sent.value, sent.place, err);
	if (st == RT_OK)
		st = place_side(&now, project, place, err);
	if (st == RT_OK) {
		rt_buf_add_c(buf, "{\"v\":1");
		add_member(buf, record, "at");
		add_member(buf, record, "seq");
		add_member(buf, record, "provider");
		add_member(buf, record, "service");
		add_member(buf, record, "model");
		add_member(buf, record, "upto");
		rt_buf_add_c(buf, sent.is_same ? ",\"exact\":true" : ",\"exact\":false");
		rt_buf_add_c(buf, rt_str_eq(rt_buf_str(&sent.body), rt_buf_str(&body))
					  ? ",\"same\":true"
					  : ",\"same\":false");
		st = add_entries(&then, &now, buf, err);
	}
	if (st == RT_OK)
		st = add_settings(engine, &then, &now, buf, err);
	rt_buf_add_byte(buf, '}');
	if (st == RT_OK && buf->status != RT_OK)
		st = nomem(err);
	rt_free(engine->alloc, then.items);
	rt_free(engine->alloc, now.items);
	rt_last_request_deinit(&sent);
	rt_buf_deinit(&body);
	return st;
}
