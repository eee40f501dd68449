/* SPDX-License-Identifier: MIT
 *
 * What there is. Answers are what the engine's views give; where at_op is said, as it was. */
#include "view/highlight.h"
#include "server/api_view_impl.h"
#include "server/etag.h"
#include "view/search.h"
#include "view/view.h"

bool
rt_api_view_begin(rt_api_view *l, rt_call *call)
{
	uint64_t at_op;
	rt_status st = RT_OK;

	memset(l, 0, sizeof(*l));
	l->call = call;
	l->engine = call->open_project->engine;
	l->body = &call->answer->body;
	l->epoch = rt_engine_epoch(l->engine);
	if (!rt_call_number(call, "at_op", UINT64_MAX, &at_op) || !rt_call_value(call, &l->project))
		return false;
	l->is_past = at_op != UINT64_MAX;
	if (l->is_past) {
		rt_object_unref(l->project);
		l->project = NULL;
		st = rt_engine_value_at(l->engine, at_op, &l->project, &l->err);
		if (st != RT_OK) {
			rt_call_fail(call, &l->err, NULL);
			return false;
		}
	}
	if (!rt_call_place(call, l->project, rt_call_param(call, "discussion"), &l->place))
		return false;
	st = rt_project_disc(l->project, l->place.disc, &l->disc, &l->err);
	if (st != RT_OK) {
		rt_call_fail(call, &l->err, NULL);
		return false;
	}
	l->take = rt_disc_take(l->disc, l->place.take);
	return true;
}

void
rt_api_view_end(rt_api_view *l)
{
	rt_object_unref(l->project);
}

void
rt_api_view_done(rt_api_view *l, rt_status st, rt_api_view_etag tagged)
{
	char etag[RT_ETAG_ROOM];

	if (st != RT_OK) {
		rt_call_fail(l->call, &l->err, NULL);
		return;
	}
	if (!l->is_past && tagged != RT_API_VIEW_NO_ETAG) {
		if (tagged == RT_API_VIEW_ETAG_DISC)
			rt_etag_disc(l->epoch, l->project, l->disc, etag);
		else
			rt_etag_project(l->epoch, l->project, etag);
		rt_call_etag(l->call, etag);
	}
	rt_call_done(l->call, 200);
}

void
rt_api_view_add_text(rt_buf *buf, const char *key, rt_str text)
{
	rt_json_add_key(buf, key);
	rt_json_add_string(buf, text);
}

void
rt_api_view_add_number(rt_buf *buf, const char *key, uint64_t number)
{
	rt_json_add_key(buf, key);
	rt_buf_add_u64(buf, number);
}

void
rt_api_view_add_bool(rt_buf *buf, const char *key, bool value)
{
	rt_json_add_key(buf, key);
	rt_buf_add_c(buf, value ? "true" : "false");
}

/* ---- discussions and takes ---- */

void
rt_api_discussions(rt_call *call)
{
	bool all;
	rt_api_view l;

	if (rt_api_view_begin(&l, call) && rt_call_flag(call, "all", &all))
		/* Counts of entries are in it, which change with every discussion: no tag. */
		rt_api_view_done(&l, rt_view_discussions(l.engine, l.project, all, l.body, &l.err),
				 RT_API_VIEW_NO_ETAG);
	rt_api_view_end(&l);
}

/* The id of the entry that the head stands on; null: before the first. */
static rt_status
add_head(rt_api_view *l)
{
	char id[RT_ID_MAX + 1];
	size_t at = 0;
	rt_slot slot;
	rt_status st = rt_disc_head_at(l->project, l->disc, &at, &l->err);

	rt_json_add_key(l->body, "head");
	if (st == RT_OK && at == 0)
		rt_buf_add_c(l->body, "null");
	if (st != RT_OK || at == 0)
		return st;
	st = rt_seq_get(rt_disc_active(l->disc)->slots, at - 1, &slot, &l->err);
	if (st == RT_OK)
		st = rt_entry_id(l->project, slot.entry, id, &l->err);
	if (st == RT_OK)
		rt_json_add_string(l->body, rt_str_of(id));
	return st;
}

void
rt_api_discussion(rt_call *call)
{
	const rt_cell *cell;
	const rt_take *active;
	rt_status st;
	rt_api_view l;

	if (rt_api_view_begin(&l, call)) {
		cell = rt_project_cell(l.project, l.place.disc);
		active = rt_disc_active(l.disc);
		rt_buf_add_f(l.body, "{\"id\":\"d%u\"", l.place.disc);
		rt_api_view_add_text(l.body, "name", rt_cell_name(cell));
		rt_api_view_add_bool(l.body, "active", l.place.disc == l.project->active);
		rt_api_view_add_bool(l.body, "present", cell->present);
		rt_buf_add_f(l.body, ",\"take\":{\"id\":\"t%u\"", active->number);
		rt_api_view_add_text(l.body, "name", rt_text_str(active->name));
		rt_buf_add_byte(l.body, '}');
		st = add_head(&l);
		rt_api_view_add_number(l.body, "entries", rt_seq_count(active->slots));
		rt_api_view_add_number(l.body, "takes", rt_disc_present_count(l.disc));
		rt_api_view_add_number(l.body, "labels", rt_seq_count(l.disc->labels));
		rt_api_view_add_bool(l.body, "can_undo",
				     l.disc->history.current != 0 ||
					     l.project->history.current != 0);
		rt_api_view_add_bool(l.body, "can_redo",
				     l.disc->history.redo_row != 0 ||
					     l.project->history.redo_row != 0);
		rt_api_view_add_number(l.body, "seq", l.project->seq);
		rt_buf_add_byte(l.body, '}');
		rt_api_view_done(&l, st, RT_API_VIEW_ETAG_DISC);
	}
	rt_api_view_end(&l);
}

void
rt_api_takes(rt_call *call)
{
	uint64_t count;
	rt_place with = {0, 0};
	rt_status st = RT_OK;
	rt_str name;
	bool all;
	rt_api_view l;

	if (rt_api_view_begin(&l, call) && rt_call_flag(call, "all", &all) &&
	    rt_call_number(call, "count", UINT32_MAX, &count) &&
	    rt_call_text(call, "with", &name)) {
		if (name.size > 0)
			st = rt_resolve_place(l.project, rt_call_param(call, "discussion"), name, &with,
					      &l.err);
		if (st == RT_NOT_FOUND) /* none is gone, too */
			st = RT_OK;
		if (st == RT_OK)
			st = rt_view_takes_first(l.engine, l.project, l.place.disc, all, (size_t)count,
						 with.take, l.body, &l.err);
		rt_api_view_done(&l, st, RT_API_VIEW_ETAG_DISC);
	}
	rt_api_view_end(&l);
}

void
rt_api_forks(rt_call *call)
{
	rt_api_view l;

	if (rt_api_view_begin(&l, call))
		rt_api_view_done(&l, rt_view_forks(l.engine, l.project, l.place, l.body, &l.err),
				 RT_API_VIEW_ETAG_DISC);
	rt_api_view_end(&l);
}

void
rt_api_tree(rt_call *call)
{
	rt_columns_options options;
	bool is_columns, has_take, bare;
	uint64_t preview, from, count;
	rt_status st;
	rt_str take;
	rt_api_view l;

	if (rt_api_view_begin(&l, call) && rt_call_flag(call, "columns", &is_columns) &&
	    rt_call_flag(call, "bare", &bare) &&
	    rt_call_number(call, "preview", is_columns ? 0 : 60, &preview) &&
	    rt_call_number(call, "from", 0, &from) && rt_call_number(call, "count", 0, &count) &&
	    rt_call_text(call, "take", &take)) {
		has_take = take.size > 0;
		options = (rt_columns_options){.take = has_take ? l.place.take : 0,
					       .preview = (size_t)preview,
					       .from = (size_t)from,
					       .count = (size_t)count,
					       .bare = bare};
		st = is_columns ? rt_view_columns(l.engine, l.project, l.place.disc, &options,
						  l.body, &l.err)
				: rt_view_tree_wide(l.engine, l.project, l.place.disc,
						    (size_t)preview, l.body, &l.err);
		rt_api_view_done(&l, st, RT_API_VIEW_ETAG_DISC);
	}
	rt_api_view_end(&l);
}

/* {"common","a","b","changed"} */
void
rt_api_diff(rt_call *call)
{
	rt_str disc = rt_call_param(call, "discussion");
	rt_place a = {0, 0}, b = {0, 0};
	rt_status st;
	rt_api_view l;

	if (rt_api_view_begin(&l, call)) {
		st = rt_resolve_place(l.project, disc, rt_call_param(call, "a"), &a, &l.err);
		if (st == RT_OK)
			st = rt_resolve_place(l.project, disc, rt_call_param(call, "b"), &b,
					      &l.err);
		if (st == RT_OK)
			st = rt_view_diff(l.engine, l.project, l.place.disc, a.take, b.take, l.body,
					  &l.err);
		rt_api_view_done(&l, st, RT_API_VIEW_ETAG_DISC);
	}
	rt_api_view_end(&l);
}

void
rt_api_labels(rt_call *call)
{
	char id[RT_ID_MAX + 1];
	rt_status st = RT_OK;
	rt_slot pair;
	rt_str name;
	size_t i;
	rt_api_view l;

	if (rt_api_view_begin(&l, call)) {
		rt_buf_add_byte(l.body, '[');
		for (i = 0; st == RT_OK && i < rt_seq_count(l.disc->labels); i++) {
			st = rt_seq_get(l.disc->labels, i, &pair, &l.err);
			if (st == RT_OK)
				st = rt_project_name(l.project, (uint32_t)pair.body, &name, &l.err);
			if (st == RT_OK)
				st = rt_entry_id(l.project, (uint32_t)pair.key, id, &l.err);
			if (st != RT_OK || name.size == 0)
				continue;
			rt_json_add_comma(l.body);
			rt_buf_add_c(l.body, "{\"label\":");
			rt_json_add_string(l.body, name);
			rt_api_view_add_text(l.body, "entry", rt_str_of(id));
			rt_buf_add_byte(l.body, '}');
		}
		rt_buf_add_byte(l.body, ']');
		rt_api_view_done(&l, st, RT_API_VIEW_ETAG_DISC);
	}
	rt_api_view_end(&l);
}

/* ---- entries ---- */

/* "k3f9":"…", for who wants to change one entry whatever happens to others. */
static rt_status
add_etag(rt_api_view *l, const rt_slot *slot, rt_buf *etags)
{
	char id[RT_ID_MAX + 1], etag[RT_ETAG_ROOM];
	rt_status st = rt_entry_id(l->project, slot->entry, id, &l->err);

	if (st != RT_OK)
		return st;
	rt_etag_entry(l->epoch, l->project, l->disc, slot, etag);
	rt_json_add_comma(etags);
	rt_json_add_string(etags, rt_str_of(id));
	rt_buf_add_byte(etags, ':');
	rt_json_add_string(etags, rt_str_of(etag));
	return RT_OK;
}

/* Of a run of the take. */
static rt_status
add_etags(rt_api_view *l, size_t from, size_t count)
{
	rt_slot slots[64];
	size_t end = from + count, i;
	rt_buf etags;
	rt_status st = RT_OK;

	if (end > rt_seq_count(l->take->slots))
		end = rt_seq_count(l->take->slots);
	rt_buf_init(&etags, l->call->request->alloc, RT_BUF_UNLIMITED);
	while (st == RT_OK && from < end) {
		size_t run = end - from < 64 ? end - from : 64;

		st = rt_seq_copy(l->take->slots, from, run, slots, &l->err);
		for (i = 0; st == RT_OK && i < run; i++)
			st = add_etag(l, &slots[i], &etags);
		from += run;
	}
	if (st == RT_OK && etags.status != RT_OK)
		st = rt_fail(&l->err, RT_NOMEM, "out of memory");
	rt_json_add_key(l->body, "etags");
	rt_buf_add_byte(l->body, '{');
	rt_buf_add_str(l->body, rt_buf_str(&etags));
	rt_buf_add_byte(l->body, '}');
	rt_buf_deinit(&etags);
	return st;
}

void
rt_api_entries(rt_call *call)
{
	uint64_t from, count, last;
	rt_window window;
	bool with_etags, blocks;
	rt_status st;
	size_t total;
	rt_str role;
	rt_api_view l;

	if (rt_api_view_begin(&l, call) && rt_call_number(call, "from", 0, &from) &&
	    rt_call_number(call, "count", RT_API_WINDOW, &count) &&
	    rt_call_number(call, "last", 0, &last) && rt_call_flag(call, "tags", &with_etags) &&
	    rt_call_text(call, "role", &role) && rt_call_flag(call, "blocks", &blocks)) {
		total = rt_seq_count(l.take->slots);
		if (last > 0) {
			last = last < RT_API_WINDOW_MAX ? last : RT_API_WINDOW_MAX;
			count = last;
			from = last < total ? total - last : 0;
		}
		if (count == 0 || count > RT_API_WINDOW_MAX)
			count = RT_API_WINDOW_MAX;
		if (from > total)
			from = total;
		window = (rt_window){(size_t)from, (size_t)count, role};
		st = rt_view_show(l.engine, l.project, l.place, &window, l.body, &l.err);
		if (st == RT_OK) {
			l.body->size--; /* the brace */
			rt_api_view_add_number(l.body, "from", from);
			rt_json_add_key(l.body, "next");
			if (from + count < total)
				rt_buf_add_u64(l.body, from + count);
			else
				rt_buf_add_c(l.body, "null");
			rt_api_view_add_number(l.body, "seq", l.project->seq);
			if (with_etags && !l.is_past)
				st = add_etags(&l, (size_t)from, (size_t)count);
			rt_buf_add_byte(l.body, '}');
			if (st == RT_OK)
				st = rt_api_add_blocks(call, &l.err);
		}
		rt_api_view_done(&l, st, RT_API_VIEW_ETAG_DISC);
	}
	rt_api_view_end(&l);
}

static rt_status
resolve(rt_api_view *l, rt_str address, bool whole, uint32_t *out)
{
	rt_status st = rt_resolve_entry(l->project, l->place, address, whole, out, &l->err);

	if (st == RT_OK && *out == 0)
		st = rt_fail(&l->err, RT_NOT_FOUND, "no entry stands before the first");
	return st;
}

/* The same was asked a moment ago, and nothing has changed since. */
static bool
answer_again(rt_call *call)
{
	const rt_project *value;
	char etag[RT_ETAG_ROOM];
	bool is_kept;

	if (call->open_project->cache == NULL)
		return false;
	if (!rt_call_value(call, &value))
		return true;
	is_kept = rt_response_cache_find(call->open_project->cache,
					 rt_engine_epoch(call->open_project->engine), value->seq,
					 call->request->target, &call->answer->body, etag);
	rt_object_unref(value);
	if (is_kept) {
		rt_call_etag(call, etag);
		rt_call_done(call, 200);
	}
	return is_kept;
}

void
rt_api_entry(rt_call *call)
{
	char etag[RT_ETAG_ROOM];
	uint32_t entry = 0;
	bool found = false, blocks;
	rt_slot slot;
	size_t at;
	rt_status st;
	rt_api_view l;

	if (answer_again(call))
		return;
	if (rt_api_view_begin(&l, call) && rt_call_flag(call, "blocks", &blocks)) {
		st = resolve(&l, rt_call_param(call, "entry"), false, &entry);
		if (st == RT_OK)
			st = rt_view_entry(l.engine, l.project, l.place, entry, l.body, &l.err);
		if (st == RT_OK)
			st = rt_api_add_blocks(call, &l.err);
		if (st == RT_OK)
			st = rt_take_find(l.project, l.take, entry, &at, &slot, &found, &l.err);
		if (st == RT_OK && found && !l.is_past) {
			rt_etag_entry(l.epoch, l.project, l.disc, &slot, etag);
			rt_call_etag(call, etag);
			if (call->open_project->cache != NULL && l.body->status == RT_OK)
				rt_response_cache_put(call->open_project->cache, l.epoch,
						      l.project->seq, call->request->target,
						      rt_buf_str(l.body), etag);
		}
		rt_api_view_done(&l, st, RT_API_VIEW_NO_ETAG);
	}
	rt_api_view_end(&l);
}

/* Those that are not there are named. */
static rt_status
add_entries(rt_api_view *l, yyjson_val *ids, rt_buf *missing)
{
	yyjson_val *id;
	size_t i, count, before;
	uint32_t entry = 0;
	rt_status st = RT_OK;

	rt_buf_add_c(l->body, "{\"entries\":[");
	yyjson_arr_foreach(ids, i, count, id)
	{
		before = l->body->size;
		rt_json_add_comma(l->body);
		st = resolve(l, rt_json_str(id), true, &entry);
		if (st == RT_OK)
			st = rt_view_entry(l->engine, l->project, l->place, entry, l->body,
					   &l->err);
		if (st == RT_NOT_FOUND || st == RT_AMBIGUOUS) {
			l->body->size = before;
			rt_json_add_comma(missing);
			rt_json_add_string(missing, rt_json_str(id));
			st = RT_OK;
		}
		if (st != RT_OK)
			return st;
	}
	rt_buf_add_c(l->body, "],\"missing\":[");
	rt_buf_add_str(l->body, rt_buf_str(missing));
	rt_buf_add_byte(l->body, ']');
	rt_api_view_add_number(l->body, "seq", l->project->seq);
	rt_buf_add_byte(l->body, '}');
	return missing->status == RT_OK ? RT_OK : rt_fail(&l->err, RT_NOMEM, "out of memory");
}

void
rt_api_entries_read(rt_call *call)
{
	rt_json_doc *doc = NULL;
	yyjson_val *root = NULL, *ids, *id;
	size_t i, count;
	rt_buf missing;
	rt_status st = RT_OK;
	bool blocks;
	rt_api_view l;

	rt_buf_init(&missing, call->request->alloc, RT_BUF_UNLIMITED);
	if (rt_api_view_begin(&l, call) && rt_call_flag(call, "blocks", &blocks) &&
	    rt_call_body(call, false, &doc, &root)) {
		ids = rt_json_get(root, "ids");
		if (!yyjson_is_arr(ids) || yyjson_arr_size(ids) > RT_API_WINDOW_MAX)
			st = rt_fail(&l.err, RT_USAGE, "\"ids\" is an array of at most %d ids",
				     RT_API_WINDOW_MAX);
		yyjson_arr_foreach(ids, i, count, id) if (st == RT_OK && !yyjson_is_str(id))
			st = rt_fail(&l.err, RT_USAGE, "an id is a text");
		if (st == RT_OK)
			st = add_entries(&l, ids, &missing);
		if (st == RT_OK)
			st = rt_api_add_blocks(call, &l.err);
		rt_api_view_done(&l, st, RT_API_VIEW_ETAG_DISC);
	}
	rt_api_view_end(&l);
	rt_json_free(doc);
	rt_buf_deinit(&missing);
}

void
rt_api_revisions(rt_call *call)
{
	uint32_t entry = 0;
	rt_status st;
	rt_api_view l;

	if (rt_api_view_begin(&l, call)) {
		st = resolve(&l, rt_call_param(call, "entry"), true, &entry);
		if (st == RT_OK)
			st = rt_view_revisions(l.engine, l.project, l.place.disc, entry, l.body,
					       &l.err);
		rt_api_view_done(&l, st, RT_API_VIEW_NO_ETAG);
	}
	rt_api_view_end(&l);
}

/* ---- settings and what lies with them ---- */

void
rt_api_settings(rt_call *call)
{
	rt_api_view l;

	if (rt_api_view_begin(&l, call))
		rt_api_view_done(
			&l, rt_view_settings(l.engine, l.project, l.place.disc, l.body, &l.err),
			RT_API_VIEW_ETAG_DISC);
	rt_api_view_end(&l);
}

void
rt_api_project_settings(rt_call *call)
{
	rt_str prefix = RT_STR("setting.");
	size_t i;
	rt_api_view l;

	if (rt_api_view_begin(&l, call)) {
		rt_buf_add_byte(l.body, '{');
		for (i = 0; i < rt_fields_count(l.project->fields); i++) {
			rt_str name = rt_fields_name(l.project->fields, i);

			if (!rt_str_starts(name, prefix))
				continue;
			rt_json_add_key_str(
				l.body, rt_str_at(name.ptr + prefix.size, name.size - prefix.size));
			rt_buf_add_str(l.body, rt_fields_value(l.project->fields, i));
		}
		rt_buf_add_byte(l.body, '}');
		rt_api_view_done(&l, RT_OK, RT_API_VIEW_ETAG_PROJECT);
	}
	rt_api_view_end(&l);
}

/* Members of the view of the settings; absent stands for one that is not there. Alone: the
 * one member's value, else an object of all. */
static void
answer_members(rt_call *call, const char *const *names, bool is_alone, const char *absent,
	       rt_api_view_etag tagged)
{
	rt_json_doc *doc = NULL;
	rt_buf view;
	rt_status st;
	rt_api_view l;

	rt_buf_init(&view, call->request->alloc, RT_BUF_UNLIMITED);
	if (rt_api_view_begin(&l, call)) {
		st = rt_view_settings(l.engine, l.project, l.place.disc, &view, &l.err);
		if (st == RT_OK)
			st = rt_json_read(call->request->alloc, rt_buf_str(&view), &doc, &l.err);
		if (!is_alone)
			rt_buf_add_byte(l.body, '{');
		for (; st == RT_OK && *names != NULL; names++) {
			yyjson_val *value = rt_json_get(rt_json_root(doc), *names);

			if (!is_alone)
				rt_json_add_key(l.body, *names);
			if (value != NULL)
				rt_json_add_value(l.body, value);
			else
				rt_buf_add_c(l.body, absent);
		}
		if (!is_alone)
			rt_buf_add_byte(l.body, '}');
		rt_api_view_done(&l, st, tagged);
	}
	rt_api_view_end(&l);
	rt_json_free(doc);
	rt_buf_deinit(&view);
}

void
rt_api_roles(rt_call *call)
{
	static const char *const names[] = {"roles", NULL};

	answer_members(call, names, true, "[]", RT_API_VIEW_ETAG_PROJECT);
}

void
rt_api_prompt(rt_call *call)
{
	static const char *const names[] = {"prompt", NULL};

	answer_members(call, names, true, "{}", RT_API_VIEW_ETAG_DISC);
}

void
rt_api_presets(rt_call *call)
{
	static const char *const names[] = {"presets", NULL};

	answer_members(call, names, true, "{}", RT_API_VIEW_ETAG_DISC);
}

void
rt_api_files(rt_call *call)
{
	static const char *const names[] = {"files", "context_files", "screenshots", NULL};

	answer_members(call, names, false, "[]", RT_API_VIEW_ETAG_DISC);
}

/* ---- history ---- */

/* A page of a list that the view gave as {"steps":[…],"next":seq or null}. */
static rt_status
add_page(rt_api_view *l, rt_buf *view, size_t limit)
{
	rt_json_doc *doc = NULL;
	yyjson_val *steps;
	uint64_t next = 0;
	rt_status st = rt_json_read(l->call->request->alloc, rt_buf_str(view), &doc, &l->err);

	if (st != RT_OK)
		return st;
	steps = rt_json_root(doc);
	if (yyjson_arr_size(steps) >= limit)
		(void)rt_json_u64(rt_json_get(yyjson_arr_get_last(steps), "seq"), &next);
	rt_buf_add_c(l->body, "{\"steps\":");
	rt_buf_add_str(l->body, rt_buf_str(view));
	rt_json_add_key(l->body, "next");
	if (next > 1)
		rt_buf_add_u64(l->body, next);
	else
		rt_buf_add_c(l->body, "null");
	rt_api_view_add_number(l->body, "seq", l->project->seq);
	rt_buf_add_byte(l->body, '}');
	rt_json_free(doc);
	return RT_OK;
}

/* Rows of the log, newest first: what everybody did, wherever. */
static rt_status
add_rows(rt_api_view *l, uint64_t before, size_t limit)
{
	uint64_t seq = before > 0 && before <= l->project->seq ? before - 1 : l->project->seq;
	size_t count = 0;
	rt_status st = RT_OK;

	rt_buf_add_c(l->body, "{\"rows\":[");
	for (; st == RT_OK && seq > 0 && count < limit; seq--, count++) {
		if (count > 0)
			rt_buf_add_byte(l->body, ',');
		st = rt_view_change(l->engine, l->project, seq, l->body, NULL, &l->err);
	}
	rt_buf_add_c(l->body, "],\"next\":");
	if (seq > 0)
		rt_buf_add_u64(l->body, seq + 1);
	else
		rt_buf_add_c(l->body, "null");
	rt_api_view_add_number(l->body, "seq", l->project->seq);
	rt_buf_add_byte(l->body, '}');
	return st;
}

void
rt_api_history(rt_call *call)
{
	uint64_t before, limit;
	rt_buf view;
	rt_status st;
	rt_api_view l;

	rt_buf_init(&view, call->request->alloc, RT_BUF_UNLIMITED);
	if (rt_api_view_begin(&l, call) && rt_call_number(call, "before", 0, &before) &&
	    rt_call_number(call, "limit", RT_API_STEPS, &limit)) {
		if (limit == 0 || limit > RT_API_STEPS_MAX)
			limit = RT_API_STEPS_MAX;
		if (rt_call_param(call, "discussion").size == 0) {
			st = add_rows(&l, before, (size_t)limit);
		} else {
			st = rt_view_history(l.engine, l.project, l.place.disc, before,
					     (size_t)limit, &view, &l.err);
			if (st == RT_OK)
				st = add_page(&l, &view, (size_t)limit);
		}
		rt_api_view_done(&l, st, RT_API_VIEW_NO_ETAG);
	}
	rt_api_view_end(&l);
	rt_buf_deinit(&view);
}

void
rt_api_step(rt_call *call)
{
	rt_str text = rt_call_param(call, "seq");
	uint64_t seq = 0;
	rt_status st = RT_OK;
	size_t i;
	rt_api_view l;

	if (rt_api_view_begin(&l, call)) {
		for (i = 0; i < text.size && text.ptr[i] >= '0' && text.ptr[i] <= '9' && i < 19;
		     i++)
			seq = seq * 10 + (uint64_t)(text.ptr[i] - '0');
		if (i < text.size)
			st = rt_fail(&l.err, RT_USAGE, "a step has a number, such as 42");
		if (st == RT_OK)
			st = rt_view_step(l.engine, l.project, seq, l.body, &l.err);
		rt_api_view_done(&l, st, RT_API_VIEW_NO_ETAG);
	}
	rt_api_view_end(&l);
}

/* ---- search ---- */

void
rt_api_search(rt_call *call)
{
	rt_json_doc *doc = NULL;
	rt_str query, disc, role;
	rt_place place = {0, 0};
	uint64_t limit;
	rt_buf hits;
	rt_status st = RT_OK;
	rt_api_view l;

	rt_buf_init(&hits, call->request->alloc, RT_BUF_UNLIMITED);
	if (rt_api_view_begin(&l, call) && rt_call_text(call, "q", &query) &&
	    rt_call_text(call, "discussion", &disc) && rt_call_text(call, "role", &role) &&
	    rt_call_number(call, "limit", RT_API_HITS, &limit)) {
		if (query.size == 0)
			st = rt_fail(&l.err, RT_USAGE, "\"q\" says what to look for");
		if (st == RT_OK && disc.size > 0)
			st = rt_resolve_place(l.project, disc, RT_STR(""), &place, &l.err);
		if (limit == 0 || limit > RT_API_HITS_MAX)
			limit = RT_API_HITS_MAX;
		if (st == RT_OK)
			st = rt_view_search(l.engine, l.project, query, place.disc, role,
					    (size_t)limit, &hits, &l.err);
		if (st == RT_OK)
			st = rt_json_read(call->request->alloc, rt_buf_str(&hits), &doc, &l.err);
		if (st == RT_OK)
			rt_highlight_add_hits(call->request->alloc, rt_json_root(doc), l.body);
		rt_api_view_done(&l, st, RT_API_VIEW_NO_ETAG);
	}
	rt_api_view_end(&l);
	rt_json_free(doc);
	rt_buf_deinit(&hits);
}
