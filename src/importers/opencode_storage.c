/* SPDX-License-Identifier: MIT
 *
 * opencode: its storage folder before version 1.2, a file for every object.
 *
 *   session/PROJECT/ID.json {"id","projectID","title","time":{"created","updated"},"revert"}
 *   message/SESSION/ID.json {"id","sessionID","role","time":{"created"},"modelID"}
 *   part/MESSAGE/ID.json    {"id","messageID","type"}
 *
 * The input is all of them, one after the other; names of files and folders do not count, the ids inside
 * do. The first pass remembers where each object is, the second reads one message at a time. */
#include <stdlib.h> /* qsort */

#include "importers/opencode_impl.h"

/* Where an object is, and to which other one it belongs. */
typedef struct object {
	rt_str owner, id;
	int64_t created_us;
	uint64_t offset;
	size_t size;
} object;

typedef struct storage {
	rt_graph *g;
	const rt_input *in;
	rt_scope *s;
	rt_items sessions, messages, parts; /* object */
	rt_buf *text;
} storage;

static int
by_owner(const void *a, const void *b)
{
	const object *x = a, *y = b;
	int order = rt_str_cmp(x->owner, y->owner);

	if (order == 0)
		order = (x->created_us > y->created_us) - (x->created_us < y->created_us);
	return order != 0 ? order : rt_str_cmp(x->id, y->id);
}

/* The objects of an owner, in a sorted list. */
static object *
owned(const rt_items *list, rt_str owner, size_t *out_count)
{
	object *items = list->items;
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rt_str_cmp(items[middle].owner, owner) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (*out_count = 0; low + *out_count < list->count; ++*out_count)
		if (!rt_str_eq(items[low + *out_count].owner, owner))
			break;
	return items == NULL ? NULL : items + low;
}

/* ---- the first pass ---- */

static void
remember(storage *t, yyjson_val *record, uint64_t offset, size_t size)
{
	rt_str message = rt_json_text(record, "messageID"), session = rt_json_text(record, "sessionID");
	rt_moment created = {0};
	rt_items *list = message.size > 0 && rt_json_text(record, "type").size > 0 ? &t->parts
			 : session.size > 0 && rt_json_text(record, "role").size > 0
				 ? &t->messages
			 : yyjson_is_obj(rt_json_get(record, "time")) ? &t->sessions
								      : NULL;
	object *to;

	if (list == NULL || rt_json_text(record, "id").size == 0) {
		rt_reader_skipped(t->g->r, "skipped a record that is not a session, message or part");
		return;
	}
	(void)rt_build_moment(rt_json_get(rt_json_get(record, "time"), "created"), &created);
	to = rt_items_push(t->s, list, sizeof(*to));
	if (to != NULL)
		*to = (object){.owner = rt_scope_copy(t->s, list == &t->parts      ? message
							    : list == &t->messages ? session
										   : RT_STR("")),
			       .id = rt_scope_copy(t->s, rt_json_text(record, "id")),
			       .created_us = created.us,
			       .offset = offset,
			       .size = size};
}

static void
find_objects(storage *t)
{
	rt_reader *r = t->g->r;
	rt_walk *w = &r->w;

	rt_walk_unmark(w);
	while (rt_reader_ok(r) && rt_walk_blank(w)) {
		rt_walk_mark at = rt_walk_here(w);
		yyjson_val *record;

		if (rt_walk_value(w, NULL, SIZE_MAX, &r->record) != RT_WALK_WHOLE &&
		    rt_walk_line(w, SIZE_MAX, &r->record) != RT_WALK_WHOLE)
			break;
		rt_reader_hold(r, r->record, at.line);
		record = rt_build_parse(&r->b, r->record, &r->repaired, NULL);
		if (yyjson_is_obj(record))
			remember(t, record, at.offset, r->record.size);
		else
			rt_reader_skipped(r, "skipped a record that is not an object");
	}
}

/* ---- the second pass ---- */

static void
add_text(storage *t, const object *o)
{
	char *to = rt_buf_reserve(t->text, o->size);
	size_t done = 0, got = 1;

	while (to != NULL && rt_ok(t->s) && done < o->size && got > 0) {
		got = 0;
		RT_TRY(t->s, t->in->read_at(t->in->ctx, o->offset + done, to + done, o->size - done, &got,
					    &t->s->error));
		done += got;
	}
	t->text->size += to == NULL ? 0 : done;
}

static yyjson_val *
parse(storage *t)
{
	rt_reader *r = t->g->r;

	r->record = rt_scope_str(t->s, t->text);
	if (!rt_ok(t->s))
		return NULL;
	rt_reader_hold(r, r->record, 0);
	return rt_graph_checked(t->g, rt_build_parse(&r->b, r->record, &r->repaired, NULL));
}

static int64_t
read_message(storage *t, const object *message, int64_t tip)
{
	size_t count;
	const object *parts = owned(&t->parts, message->id, &count);
	yyjson_val *record;

	rt_buf_clear(t->text);
	rt_buf_add_c(t->text, "{\"info\":");
	add_text(t, message);
	rt_buf_add_c(t->text, ",\"parts\":[");
	for (size_t i = 0; i < count; i++) {
		rt_json_add_comma(t->text);
		add_text(t, &parts[i]);
	}
	rt_buf_add_c(t->text, "]}");
	record = parse(t);
	return record == NULL ? tip : rt_opencode_message(t->g, record, tip);
}

static void
read_session(storage *t, const object *session)
{
	size_t count;
	const object *messages = owned(&t->messages, session->id, &count);
	yyjson_val *info;
	rt_str reverted;
	int64_t tip = -1;

	rt_buf_clear(t->text);
	add_text(t, session);
	info = parse(t);
	if (info == NULL)
		return;
	rt_opencode_begin(t->g, info, rt_json_get(rt_json_get(info, "time"), "updated"));
	reverted = rt_scope_copy(t->s, rt_json_text(rt_json_get(info, "revert"), "messageID"));
	for (size_t i = 0; i < count && rt_ok(t->s); i++)
		tip = read_message(t, &messages[i], tip);
	rt_opencode_end(t->g, reverted, tip);
}

/* Messages and parts whose owner has no file. */
static size_t
count_unowned(const rt_items *list, const rt_items *owners, rt_scope *s)
{
	rt_index known = {0};
	size_t count = 0;
	const object *items = list->items, *owner = owners->items;
	rt_scope own;

	rt_scope_init(&own, s->alloc);
	for (size_t i = 0; i < owners->count; i++)
		(void)rt_index_put(&own, &known, owner[i].id, i);
	for (size_t i = 0; i < list->count && rt_ok(&own); i++)
		count += rt_index_get(&known, items[i].owner) < 0;
	(void)rt_scope_join(s, &own);
	return count;
}

void
rt_opencode_storage(rt_graph *g, const rt_input *in)
{
	rt_scope own;
	storage t = {.g = g, .in = in, .s = &own};
	rt_items *const lists[] = {&t.sessions, &t.messages, &t.parts};
	size_t unowned;
	bool is_empty;

	rt_scope_init(&own, g->b->alloc);
	t.text = rt_scope_buf(t.s);
	find_objects(&t);
	for (size_t i = 0; i < 3 && rt_ok(t.s); i++)
		if (lists[i]->count > 1)
			qsort(lists[i]->items, lists[i]->count, sizeof(object), by_owner);
	unowned = count_unowned(&t.messages, &t.sessions, t.s) +
		  count_unowned(&t.parts, &t.messages, t.s);
	for (size_t i = 0; i < t.sessions.count && rt_ok(t.s) && rt_ok(&g->b->s); i++)
		read_session(&t, (const object *)t.sessions.items + i);
	if (unowned > 0 && t.sessions.count > 0 && rt_ok(t.s))
		rt_report_add(g->r->report, RT_REMARK_SKIPPED, 0,
			      "skipped %zu messages and parts whose session or message has no file",
			      unowned);
	is_empty = t.sessions.count == 0;
	(void)rt_scope_join(&g->b->s, &own);
	if (is_empty)
		rt_reader_refuse(g->r, 0,
				 "part of opencode's storage, without the session; import the directory that "
				 "contains \"session\" and \"message\"");
}

bool
rt_opencode_is_stored(rt_str record)
{
	bool has_id = rt_graph_member(record, "id").size > 0;

	if (!has_id || rt_graph_member(record, "info").size > 0)
		return false;
	if (rt_graph_member(record, "messageID").size > 0)
		return rt_graph_member(record, "type").size > 0;
	if (rt_graph_member(record, "sessionID").size > 0)
		return rt_graph_member(record, "role").size > 0 && rt_graph_member(record, "time").size > 0;
	return rt_graph_member(record, "projectID").size > 0 && rt_graph_member(record, "time").size > 0;
}
