/* SPDX-License-Identifier: MIT
 *
 * Reads. Answers are the engine's views; with at_op, of the value of that time. */
#include "app/condition.h"
#include "base/clock_host.h"
#include "codec/content.h"
#include "codec/thinking.h"
#include "markup/markup.h"
#include "server/api.h"
#include "server/embedding.h"
#include "view/search.h"
#include "app/host.h"
#include "view/view.h"

/* A number, or null. */
static void
put_number_or_null(rt_buf *buf, const char *key, bool is_given, uint64_t number)
{
	if (is_given)
		rt_json_put_u64(buf, key, number);
	else
		rt_json_put_null(buf, key);
}

/* ---- texts as blocks of layout (markup/markup.h) ---- */

/* Adds the blocks of a text as an item or value; a text that is too large to be laid out is
 * returned unchanged, so that the others are not affected. out_stable (may be NULL): as of
 * rt_markup_blocks. */
static void
add_blocks(rt_buf *buf, rt_str text, size_t *out_stable)
{
	if (rt_markup_blocks(buf, text, NULL, out_stable, NULL) == RT_LIMIT)
		rt_markup_plain(buf, text);
	/* md4c's own lack of memory is not in the buffer yet. */
	else if (buf->status == RT_OK && (buf->size == 0 || buf->ptr[buf->size - 1] != ']'))
		buf->status = RT_NOMEM;
}

void
rt_api_render(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_buf *body = &call->answer->body, *stables;
	yyjson_val *texts = rt_json_get(rt_call_body(call, false), "texts"), *text;
	size_t i, count;

	rt_call_check_texts(call, texts, RT_API_WINDOW_MAX,
			    "\"texts\" must be an array of at most 2000 strings");
	if (!rt_ok(s))
		return;
	stables = rt_scope_buf(s);
	rt_json_open(stables, NULL, '[');
	rt_json_open(body, NULL, '{');
	rt_json_open(body, "blocks", '[');
	yyjson_arr_foreach(texts, i, count, text)
	{
		size_t stable = 0;

		rt_json_add_comma(body);
		add_blocks(body, rt_json_str(text), &stable);
		rt_json_put_u64(stables, NULL, stable);
	}
	rt_json_close(body, ']');
	rt_json_close(stables, ']');
	rt_json_put_raw(body, "stable", rt_scope_str(s, stables));
	rt_json_close(body, '}');
}

/* As add_blocks, for a text of an entry: one of the model may contain thinking. */
static void
add_entry_blocks(rt_buf *buf, rt_str text, yyjson_val *entry)
{
	rt_str stop = rt_json_str(rt_json_get(entry, "stop_reason"));
	bool is_cut = rt_thinking_is_cut(yyjson_is_true(rt_json_get(entry, "partial")), stop);
	rt_status st = RT_LIMIT;

	if (rt_body_thinks(rt_json_str(rt_json_get(entry, "role"))))
		st = rt_markup_parts(buf, text, is_cut, NULL);
	if (st == RT_LIMIT)
		add_blocks(buf, text, NULL);
	else if (st != RT_OK && buf->status == RT_OK)
		buf->status = st;
}

/* "blocks" of a content: of the text, or of each of its blocks (null: it has no text). */
static void
put_blocks(rt_buf *buf, yyjson_val *value, yyjson_val *entry)
{
	rt_content content = rt_content_of(value);
	yyjson_val *block;
	size_t i, count;

	if (content.blocks == NULL) {
		rt_json_add_key(buf, "blocks");
		add_entry_blocks(buf, content.text, entry);
		return;
	}
	rt_json_open(buf, "blocks", '[');
	yyjson_arr_foreach(content.blocks, i, count, block)
	{
		rt_json_add_comma(buf);
		yyjson_val *part = yyjson_is_str(block) ? block : rt_json_get(block, "text");
		if (!rt_content_is_text(block))
			rt_buf_add_c(buf, "null");
		else
			add_entry_blocks(buf, rt_json_str(part), entry);
	}
	rt_json_close(buf, ']');
}

static void
put_entry_with_blocks(rt_buf *buf, yyjson_val *entry)
{
	yyjson_val *key, *value;
	size_t i, count;

	rt_json_open(buf, NULL, '{');
	rt_json_foreach(entry, i, count, key, value)
	{
		rt_json_add_key_str(buf, rt_json_str(key));
		rt_json_add_value(buf, value);
		if (rt_str_is(rt_json_str(key), "content"))
			put_blocks(buf, value, entry);
	}
	rt_json_close(buf, '}');
}

/* If the query has "blocks": adds the blocks of markup/markup.h to each content of the answer (an
 * entry, or an object with "entries"). */
static void
add_all_blocks(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_buf *body = &call->answer->body;
	yyjson_val *key, *value, *entry;
	size_t i, count, j, entries;

	if (!rt_call_flag(call, "blocks") || !rt_ok(s) || body->status != RT_OK)
		return;
	yyjson_val *root = rt_json_parse(s, rt_buf_str(body));
	if (root == NULL)
		return;
	rt_buf_clear(body);
	if (rt_json_get(root, "entries") == NULL) {
		put_entry_with_blocks(body, root);
		return;
	}
	rt_json_open(body, NULL, '{');
	rt_json_foreach(root, i, count, key, value)
	{
		rt_json_add_key_str(body, rt_json_str(key));
		if (!rt_str_is(rt_json_str(key), "entries")) {
			rt_json_add_value(body, value);
			continue;
		}
		rt_buf_add_byte(body, '[');
		yyjson_arr_foreach(value, j, entries, entry)
			put_entry_with_blocks(body, entry);
		rt_buf_add_byte(body, ']');
	}
	rt_json_close(body, '}');
}

/* ---- discussions and takes ---- */

/* The only one that a share link shows. */
static void
put_only_discussion(rt_call *call)
{
	const rt_project *project = rt_call_value(call);
	rt_view v = {&call->scope, call->open_project->engine, project, {(uint32_t)call->discussion, 0}};
	rt_disc_rows discs = {0};

	if (rt_ok(&call->scope))
		discs = rt_discs_list(&v, false);
	rt_json_open(&call->answer->body, NULL, '[');
	for (size_t i = 0; i < discs.count; i++)
		if (discs.items[i].number == call->discussion)
			rt_disc_row_write(&call->answer->body, &discs.items[i]);
	rt_json_close(&call->answer->body, ']');
}

void
rt_api_discussions(rt_call *call)
{
	rt_scope *s = &call->scope;

	if (call->discussion != 0) {
		put_only_discussion(call);
		return;
	}
	rt_snapshot v = rt_call_snapshot(call);
	bool all = rt_call_flag(call, "all");

	/* No tag: the counts of entries change with every discussion. */
	RT_TRY(s, rt_view_discussions(v.engine, v.project, all, rt_call_text(call, "track"),
				      &call->answer->body, &s->error));
}

void
rt_api_tracks(rt_call *call)
{
	rt_snapshot v = rt_call_snapshot(call);

	if (rt_ok(&call->scope))
		rt_view_tracks(&(rt_view){&call->scope, v.engine, v.project, v.place},
			       &call->answer->body);
}

/* The id of the entry at the head; null: before the first. */
static void
put_head(rt_scope *s, rt_buf *out, const rt_snapshot *v)
{
	char id[RT_ID_MAX + 1] = "";
	rt_slot slot = {0};
	size_t at = 0;

	RT_TRY(s, rt_disc_head_at(v->project, v->disc, &at, &s->error));
	if (rt_ok(s) && at == 0) {
		rt_json_put_null(out, "head");
		return;
	}
	RT_TRY(s, rt_seq_get(rt_disc_active(v->disc)->slots, at - 1, &slot, &s->error));
	RT_TRY(s, rt_entry_id(v->project, slot.entry, id, &s->error));
	rt_json_put_c(out, "head", id);
}

void
rt_api_discussion(rt_call *call)
{
	rt_buf *body = &call->answer->body;
	rt_snapshot v = rt_call_snapshot(call);

	if (!rt_ok(&call->scope))
		return;
	const rt_cell *cell = rt_project_cell(v.project, v.place.disc);
	const rt_take *active = rt_disc_active(v.disc);
	const rt_history *disc = &v.disc->history, *project = &v.project->history;
	rt_buf_add_f(body, "{\"id\":\"d%u\"", v.place.disc);
	rt_json_put_str(body, "name", rt_cell_name(cell));
	rt_json_put_bool(body, "active", v.place.disc == v.project->active);
	rt_json_put_bool(body, "present", cell->present);
	rt_buf_add_f(body, ",\"take\":{\"id\":\"t%u\"", active->number);
	rt_json_put_str(body, "name", rt_text_str(active->name));
	rt_json_close(body, '}');
	put_head(&call->scope, body, &v);
	rt_json_put_u64(body, "entries", rt_seq_count(active->slots));
	rt_json_put_u64(body, "takes", rt_disc_present_count(v.disc));
	rt_json_put_u64(body, "labels", rt_seq_count(v.disc->labels));
	rt_json_put_bool(body, "can_undo", disc->current != 0 || project->current != 0);
	rt_json_put_bool(body, "can_redo", disc->redo_row != 0 || project->redo_row != 0);
	rt_json_put_u64(body, "seq", v.project->seq);
	rt_json_close(body, '}');
	rt_call_tag_disc(call, &v);
}

void
rt_api_takes(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_snapshot v = rt_call_snapshot(call);
	bool all = rt_call_flag(call, "all");
	uint64_t count = rt_call_number(call, "count", UINT32_MAX);
	rt_str name = rt_call_text(call, "with");
	rt_place with = {0, 0};

	if (rt_ok(s) && name.size > 0) {
		rt_status st = rt_resolve_place(v.project, rt_call_param(call, "discussion"), name,
						&with, &s->error);

		if (st != RT_NOT_FOUND)
			rt_scope_note(s, st);
	}
	RT_TRY(s, rt_view_takes_first(v.engine, v.project, v.place.disc, all, (size_t)count,
				      with.take, &call->answer->body, &s->error));
	rt_call_tag_disc(call, &v);
}

void
rt_api_forks(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_snapshot v = rt_call_snapshot(call);

	RT_TRY(s, rt_view_forks(v.engine, v.project, v.place, &call->answer->body, &s->error));
	rt_call_tag_disc(call, &v);
}

void
rt_api_tree(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_buf *body = &call->answer->body;
	rt_snapshot v = rt_call_snapshot(call);
	bool is_columns = rt_call_flag(call, "columns"), bare = rt_call_flag(call, "bare");
	size_t preview = (size_t)rt_call_number(call, "preview", is_columns ? 0 : 60);
	rt_columns_options options = {.preview = preview,
				      .bare = bare,
				      .from = (size_t)rt_call_number(call, "from", 0),
				      .count = (size_t)rt_call_number(call, "count", 0)};

	if (rt_call_text(call, "take").size > 0)
		options.take = v.place.take;
	if (is_columns)
		RT_TRY(s, rt_view_columns(v.engine, v.project, v.place.disc, &options, body,
					  &s->error));
	else
		RT_TRY(s, rt_view_tree_wide(v.engine, v.project, v.place.disc, preview, body,
					    &s->error));
	rt_call_tag_disc(call, &v);
}

/* {"common","a","b","changed"} */
void
rt_api_diff(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_snapshot v = rt_call_snapshot(call);
	rt_str disc = rt_call_param(call, "discussion");
	rt_place a = {0, 0}, b = {0, 0};

	RT_TRY(s, rt_resolve_place(v.project, disc, rt_call_param(call, "a"), &a, &s->error));
	RT_TRY(s, rt_resolve_place(v.project, disc, rt_call_param(call, "b"), &b, &s->error));
	RT_TRY(s, rt_view_diff(v.engine, v.project, v.place.disc, a.take, b.take,
			       &call->answer->body, &s->error));
	rt_call_tag_disc(call, &v);
}

void
rt_api_labels(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_buf *body = &call->answer->body;
	rt_snapshot v = rt_call_snapshot(call);

	rt_json_open(body, NULL, '[');
	for (size_t i = 0; rt_ok(s) && i < rt_seq_count(v.disc->labels); i++) {
		char id[RT_ID_MAX + 1] = "";
		rt_str name = {NULL, 0};
		rt_slot pair = {0};

		RT_TRY(s, rt_seq_get(v.disc->labels, i, &pair, &s->error));
		RT_TRY(s, rt_project_name(v.project, (uint32_t)pair.body, &name, &s->error));
		RT_TRY(s, rt_entry_id(v.project, (uint32_t)pair.key, id, &s->error));
		if (name.size == 0)
			continue;
		rt_json_open(body, NULL, '{');
		rt_json_put_str(body, "label", name);
		rt_json_put_c(body, "entry", id);
		rt_json_close(body, '}');
	}
	rt_json_close(body, ']');
	rt_call_tag_disc(call, &v);
}

/* ---- entries ---- */

/* "etags":{"k3f9":"…"} of a run of the take, for clients that change one entry regardless of the
 * others. */
static void
put_etags(rt_call *call, const rt_snapshot *v, size_t from, size_t count)
{
	rt_scope *s = &call->scope;
	rt_buf *out = &call->answer->body;
	rt_slot slots[64];
	size_t total = rt_seq_count(v->take->slots);
	size_t end = count < total - from ? from + count : total;

	rt_json_open(out, "etags", '{');
	while (rt_ok(s) && from < end) {
		size_t run = end - from < 64 ? end - from : 64;

		RT_TRY(s, rt_seq_copy(v->take->slots, from, run, slots, &s->error));
		for (size_t i = 0; rt_ok(s) && i < run; i++) {
			char id[RT_ID_MAX + 1] = "", etag[RT_ETAG_ROOM];

			RT_TRY(s, rt_entry_id(v->project, slots[i].entry, id, &s->error));
			rt_etag_entry(v->epoch, v->project, v->disc, &slots[i], etag);
			rt_json_add_key_str(out, rt_str_of(id));
			rt_json_add_string(out, rt_str_of(etag));
		}
		from += run;
	}
	rt_json_close(out, '}');
}

void
rt_api_entries(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_buf *body = &call->answer->body;
	rt_snapshot v = rt_call_snapshot(call);
	uint64_t from = rt_call_number(call, "from", 0);
	uint64_t count = rt_call_number(call, "count", RT_API_WINDOW);
	uint64_t last = rt_call_number(call, "last", 0);
	bool with_etags = rt_call_flag(call, "tags");
	rt_str role = rt_call_text(call, "role");
	(void)rt_call_flag(call, "blocks");

	if (!rt_ok(s))
		return;
	size_t total = rt_seq_count(v.take->slots);
	if (last > 0) {
		count = last < RT_API_WINDOW_MAX ? last : RT_API_WINDOW_MAX;
		from = count < total ? total - count : 0;
	}
	if (count == 0 || count > RT_API_WINDOW_MAX)
		count = RT_API_WINDOW_MAX;
	if (from > total)
		from = total;
	rt_window window = {(size_t)from, (size_t)count, role};
	RT_TRY(s, rt_view_show(v.engine, v.project, v.place, &window, body, &s->error));
	if (!rt_ok(s) || body->status != RT_OK)
		return;
	body->size--; /* the brace */
	rt_json_put_u64(body, "from", from);
	put_number_or_null(body, "next", from + count < total, from + count);
	rt_json_put_u64(body, "seq", v.project->seq);
	if (with_etags && !v.is_past)
		put_etags(call, &v, (size_t)from, (size_t)count);
	rt_json_close(body, '}');
	add_all_blocks(call);
	rt_call_tag_disc(call, &v);
}

/* The number of the entry; is_anywhere: in any take of the discussion. */
static uint32_t
resolve_entry(rt_scope *s, const rt_snapshot *v, rt_str address, bool is_anywhere)
{
	uint32_t entry = 0;

	RT_TRY(s, rt_resolve_entry(v->project, v->place, address, is_anywhere, &entry, &s->error));
	if (entry == 0)
		rt_scope_fail(s, RT_NOT_FOUND, "there is no entry before the first");
	return entry;
}

/* Answers from the cache if the same was requested a moment ago and nothing has changed. */
static void
answer_from_cache(rt_call *call)
{
	rt_response_cache *cache = call->open_project->cache;
	char etag[RT_ETAG_ROOM];
	const rt_project *value = cache != NULL ? rt_call_value(call) : NULL;

	if (value == NULL ||
	    !rt_response_cache_find(cache, rt_engine_epoch(call->open_project->engine), value->seq,
				    call->request->target, &call->answer->body, etag))
		return;
	rt_call_header(call, "ETag", rt_str_of(etag));
	rt_call_stop(call);
}

void
rt_api_entry(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_buf *body = &call->answer->body;
	rt_response_cache *cache = call->open_project->cache;
	char etag[RT_ETAG_ROOM];
	bool is_found = false;
	rt_slot slot = {0};
	size_t at = 0;

	answer_from_cache(call);
	rt_snapshot v = rt_call_snapshot(call);
	(void)rt_call_flag(call, "blocks");
	uint32_t entry = resolve_entry(s, &v, rt_call_param(call, "entry"), false);
	RT_TRY(s, rt_view_entry(v.engine, v.project, v.place, entry, body, &s->error));
	add_all_blocks(call);
	RT_TRY(s, rt_take_find(v.project, v.take, entry, &at, &slot, &is_found, &s->error));
	if (!rt_ok(s) || !is_found || v.is_past)
		return;
	rt_etag_entry(v.epoch, v.project, v.disc, &slot, etag);
	rt_call_header(call, "ETag", rt_str_of(etag));
	if (cache != NULL && body->status == RT_OK)
		rt_response_cache_put(cache, v.epoch, v.project->seq, call->request->target,
				      rt_buf_str(body), etag);
}

/* One more item of "entries"; false: the take has no such entry. */
static bool
put_entry(rt_call *call, const rt_snapshot *v, rt_str address)
{
	rt_scope *s = &call->scope;
	rt_buf *body = &call->answer->body;
	size_t before = body->size;
	uint32_t entry = 0;
	rt_status st = rt_resolve_entry(v->project, v->place, address, true, &entry, &s->error);

	rt_json_add_comma(body);
	if (st == RT_OK && entry != 0)
		st = rt_view_entry(v->engine, v->project, v->place, entry, body, &s->error);
	if ((st == RT_OK && entry == 0) || st == RT_NOT_FOUND || st == RT_AMBIGUOUS) {
		body->size = before;
		return false;
	}
	rt_scope_note(s, st);
	return true;
}

void
rt_api_entries_read(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_buf *body = &call->answer->body, *missing;
	rt_snapshot v = rt_call_snapshot(call);
	(void)rt_call_flag(call, "blocks");
	yyjson_val *ids = rt_json_get(rt_call_body(call, false), "ids"), *id;
	size_t i, count;

	if (!yyjson_is_arr(ids) || yyjson_arr_size(ids) > RT_API_WINDOW_MAX)
		rt_scope_fail(s, RT_USAGE, "\"ids\" must be an array of at most %d ids",
			      RT_API_WINDOW_MAX);
	rt_call_check_texts(call, ids, RT_API_WINDOW_MAX, "an id must be a string");
	missing = rt_scope_buf(s);
	rt_json_open(body, NULL, '{');
	rt_json_open(body, "entries", '[');
	rt_json_open(missing, NULL, '[');
	yyjson_arr_foreach(ids, i, count, id)
		if (rt_ok(s) && !put_entry(call, &v, rt_json_str(id)))
			rt_json_put_str(missing, NULL, rt_json_str(id));
	rt_json_close(body, ']');
	rt_json_close(missing, ']');
	rt_json_put_raw(body, "missing", rt_scope_str(s, missing));
	rt_json_put_u64(body, "seq", rt_ok(s) ? v.project->seq : 0);
	rt_json_close(body, '}');
	add_all_blocks(call);
	rt_call_tag_disc(call, &v);
}

void
rt_api_revisions(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_snapshot v = rt_call_snapshot(call);
	uint32_t entry = resolve_entry(s, &v, rt_call_param(call, "entry"), true);

	RT_TRY(s, rt_view_revisions(v.engine, v.project, v.place.disc, entry, &call->answer->body,
				    &s->error));
}

/* ---- settings and related data ---- */

void
rt_api_settings(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_snapshot v = rt_call_snapshot(call);

	RT_TRY(s, rt_view_settings(v.engine, v.project, v.place.disc, &call->answer->body,
				   &s->error));
	rt_call_tag_disc(call, &v);
}

void
rt_api_project_settings(rt_call *call)
{
	const rt_str prefix = RT_STR("setting.");
	rt_buf *body = &call->answer->body;
	rt_snapshot v = rt_call_snapshot(call);

	rt_json_open(body, NULL, '{');
	for (size_t i = 0; rt_ok(&call->scope) && i < rt_fields_count(v.project->fields); i++) {
		rt_str name = rt_fields_name(v.project->fields, i);

		if (!rt_str_starts(name, prefix))
			continue;
		rt_json_add_key_str(body,
				    rt_str_at(name.ptr + prefix.size, name.size - prefix.size));
		rt_buf_add_str(body, rt_fields_value(v.project->fields, i));
	}
	rt_json_close(body, '}');
	rt_call_tag_project(call, &v);
}

/* A member of the view of the settings, as JSON; absent: the text to use instead if it is missing.
 * key as of rt_json_put. */
static void
put_setting(rt_call *call, const rt_snapshot *v, const char *key, const char *name,
	    const char *absent)
{
	rt_scope *s = &call->scope;
	rt_buf *view = rt_scope_buf(s);

	RT_TRY(s, rt_view_settings(v->engine, v->project, v->place.disc, view, &s->error));
	yyjson_val *value = rt_json_get(rt_json_parse(s, rt_scope_str(s, view)), name);
	if (value != NULL)
		rt_json_put_value(&call->answer->body, key, value);
	else
		rt_json_put_raw(&call->answer->body, key, rt_str_of(absent));
}

void
rt_api_roles(rt_call *call)
{
	rt_snapshot v = rt_call_snapshot(call);

	put_setting(call, &v, NULL, "roles", "[]");
	rt_call_tag_project(call, &v);
}

void
rt_api_prompt(rt_call *call)
{
	rt_snapshot v = rt_call_snapshot(call);

	put_setting(call, &v, NULL, "prompt", "{}");
	rt_call_tag_disc(call, &v);
}

void
rt_api_usage(rt_call *call)
{
	rt_snapshot v = rt_call_snapshot(call);
	rt_buf *out = &call->answer->body;

	if (!rt_ok(&call->scope))
		return;
	rt_view view = {&call->scope, v.engine, v.project, v.place};
	rt_usage_totals here = rt_view_usage(&view, false), all = rt_view_usage(&view, true);
	rt_json_open(out, NULL, '{');
	rt_usage_add_json(&here, "usage", out);
	rt_usage_add_json(&all, "project_usage", out);
	rt_json_close(out, '}');
}

void
rt_api_presets(rt_call *call)
{
	rt_snapshot v = rt_call_snapshot(call);

	put_setting(call, &v, NULL, "presets", "{}");
	rt_call_tag_disc(call, &v);
}

void
rt_api_files(rt_call *call)
{
	static const char *const names[] = {"files", "context_files", "screenshots"};
	rt_snapshot v = rt_call_snapshot(call);

	rt_json_open(&call->answer->body, NULL, '{');
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		put_setting(call, &v, names[i], names[i], "[]");
	rt_json_close(&call->answer->body, '}');
	rt_call_tag_disc(call, &v);
}

/* ---- history ---- */

/* Steps of a discussion: {"steps":[…],"next":seq or null,"seq":…}. */
static void
put_steps(rt_call *call, const rt_snapshot *v, uint64_t before, size_t limit)
{
	rt_scope *s = &call->scope;
	rt_buf *body = &call->answer->body, *view = rt_scope_buf(s);
	uint64_t next = 0;

	RT_TRY(s, rt_view_history(v->engine, v->project, v->place.disc, before, limit, view,
				  &s->error));
	yyjson_val *steps = rt_json_parse(s, rt_scope_str(s, view));
	if (yyjson_arr_size(steps) >= limit)
		(void)rt_json_u64(rt_json_get(yyjson_arr_get_last(steps), "seq"), &next);
	rt_json_put_raw(body, "steps", rt_scope_str(s, view));
	put_number_or_null(body, "next", next > 1, next);
}

/* Rows of the log, newest first: by all authors, in all discussions. */
static void
put_rows(rt_call *call, const rt_snapshot *v, uint64_t before, size_t limit)
{
	rt_scope *s = &call->scope;
	rt_buf *body = &call->answer->body;
	uint64_t newest = rt_ok(s) ? v->project->seq : 0;
	uint64_t seq = before > 0 && before <= newest ? before - 1 : newest;

	rt_json_open(body, "rows", '[');
	for (size_t count = 0; rt_ok(s) && seq > 0 && count < limit; seq--, count++) {
		rt_json_add_comma(body);
		RT_TRY(s, rt_view_change(v->engine, v->project, seq, body, NULL, &s->error));
	}
	rt_json_close(body, ']');
	put_number_or_null(body, "next", seq > 0, seq + 1);
}

void
rt_api_history(rt_call *call)
{
	rt_buf *body = &call->answer->body;
	rt_snapshot v = rt_call_snapshot(call);
	uint64_t before = rt_call_number(call, "before", 0);
	size_t limit = rt_call_limit(call, RT_API_STEPS, RT_API_STEPS_MAX);

	rt_json_open(body, NULL, '{');
	if (rt_call_param(call, "discussion").size == 0)
		put_rows(call, &v, before, limit);
	else
		put_steps(call, &v, before, limit);
	rt_json_put_u64(body, "seq", rt_ok(&call->scope) ? v.project->seq : 0);
	rt_json_close(body, '}');
}

void
rt_api_step(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_str text = rt_call_param(call, "seq");
	rt_snapshot v = rt_call_snapshot(call);
	uint64_t seq = 0;
	size_t i = 0;

	for (; i < text.size && text.ptr[i] >= '0' && text.ptr[i] <= '9' && i < 19; i++)
		seq = seq * 10 + (uint64_t)(text.ptr[i] - '0');
	if (i < text.size)
		rt_scope_fail(s, RT_USAGE, "a step must be a number, such as 42");
	RT_TRY(s, rt_view_step(v.engine, v.project, seq, &call->answer->body, &s->error));
}

/* ---- search ---- */

void
rt_api_search(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_snapshot v = rt_call_snapshot(call);
	rt_str query = rt_call_text(call, "q"), disc = rt_call_text(call, "discussion");
	rt_str role = rt_call_text(call, "role");
	size_t limit = rt_call_limit(call, RT_API_HITS, RT_API_HITS_MAX);
	rt_place place = {0, 0};
	rt_meaning meaning;
	bool is_similar = rt_call_flag(call, "similar");

	if (query.size == 0)
		rt_scope_fail(s, RT_USAGE, "\"q\" is missing: the words to search for");
	if (disc.size > 0)
		RT_TRY(s, rt_resolve_place(v.project, disc, RT_STR(""), &place, &s->error));
	if (is_similar)
		rt_embedding_text(rt_project_pool_embedding(call->pool), s, rt_search_words(s, query), &meaning);
	RT_TRY(s, rt_view_search(v.engine, v.project,
				 &(rt_search){.query = query,
					      .meaning = is_similar ? &meaning : NULL,
					      .disc = place.disc,
					      .role = role,
					      .limit = limit,
					      .zone = rt_clock_zone_us},
				 &call->answer->body, &s->error));
}
