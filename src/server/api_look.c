/* SPDX-License-Identifier: MIT
 *
 * What there is. Answers are what the engine's views give; where at_op is said, as it was. */
#include "server/api.h"

#include "engine/marks.h"
#include "llm/models_host.h"
#include "llm/pick_host.h"
#include "llm/provider.h"
#include "server/tag.h"

/* One look at a value. */
typedef struct look {
	rt_call *call;
	rt_engine *engine;
	const rt_project *project;
	rt_place place; /* of the path, or the active one */
	const rt_disc *disc;
	const rt_take *take;
	rt_buf *body;
	bool is_past;
	rt_error err;
} look;

/* false: answered. look_end in any case. */
static bool
look_begin(look *l, rt_call *call)
{
	uint64_t at_op;
	rt_status st = RT_OK;

	memset(l, 0, sizeof(*l));
	l->call = call;
	l->engine = call->served->engine;
	l->body = &call->answer->body;
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

static void
look_end(look *l)
{
	rt_object_unref(l->project);
}

typedef enum tag_of { NO_TAG, TAG_DISC, TAG_PROJECT } tag_of;

static void
look_done(look *l, rt_status st, tag_of tagged)
{
	char tag[RT_TAG_ROOM];

	if (st != RT_OK) {
		rt_call_fail(l->call, &l->err, NULL);
		return;
	}
	if (!l->is_past && tagged != NO_TAG) {
		if (tagged == TAG_DISC)
			rt_tag_disc(rt_engine_epoch(l->engine), l->disc, tag);
		else
			rt_tag_project(rt_engine_epoch(l->engine), l->project, tag);
		rt_call_tag(l->call, tag);
	}
	rt_call_done(l->call, 200);
}

static void
add_text(rt_buf *buf, const char *key, rt_str text)
{
	rt_json_add_key(buf, key);
	rt_json_add_string(buf, text);
}

static void
add_number(rt_buf *buf, const char *key, uint64_t number)
{
	rt_json_add_key(buf, key);
	rt_buf_add_u64(buf, number);
}

static void
add_bool(rt_buf *buf, const char *key, bool value)
{
	rt_json_add_key(buf, key);
	rt_buf_add_c(buf, value ? "true" : "false");
}

/* ---- discussions and takes ---- */

void
rt_api_discussions(rt_call *call)
{
	bool all;
	look l;

	if (look_begin(&l, call) && rt_call_flag(call, "all", &all))
		look_done(&l, rt_view_discussions(l.engine, l.project, all, l.body, &l.err),
			  TAG_PROJECT);
	look_end(&l);
}

/* The id of the entry that the head stands on; null: before the first. */
static rt_status
add_head(look *l)
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
	look l;

	if (look_begin(&l, call)) {
		cell = rt_project_cell(l.project, l.place.disc);
		active = rt_disc_active(l.disc);
		rt_buf_add_f(l.body, "{\"id\":\"d%u\"", l.place.disc);
		add_text(l.body, "name", rt_text_str(cell->name));
		add_bool(l.body, "active", l.place.disc == l.project->active);
		add_bool(l.body, "present", cell->present);
		rt_buf_add_f(l.body, ",\"take\":{\"id\":\"t%u\"", active->number);
		add_text(l.body, "name", rt_text_str(active->name));
		rt_buf_add_byte(l.body, '}');
		st = add_head(&l);
		add_number(l.body, "entries", rt_seq_count(active->slots));
		add_number(l.body, "takes", rt_disc_present_count(l.disc));
		add_number(l.body, "labels", rt_seq_count(l.disc->labels));
		add_number(l.body, "seq", l.project->seq);
		rt_buf_add_byte(l.body, '}');
		look_done(&l, st, TAG_DISC);
	}
	look_end(&l);
}

void
rt_api_takes(rt_call *call)
{
	bool all;
	look l;

	if (look_begin(&l, call) && rt_call_flag(call, "all", &all))
		look_done(&l,
			  rt_view_takes(l.engine, l.project, l.place.disc, all, l.body, &l.err),
			  TAG_DISC);
	look_end(&l);
}

void
rt_api_tree(rt_call *call)
{
	rt_columns_options options;
	bool is_columns, has_take;
	uint64_t preview, from, count;
	rt_status st;
	rt_str take;
	look l;

	if (look_begin(&l, call) && rt_call_flag(call, "columns", &is_columns) &&
	    rt_call_number(call, "preview", is_columns ? 0 : 60, &preview) &&
	    rt_call_number(call, "from", 0, &from) && rt_call_number(call, "count", 0, &count) &&
	    rt_call_text(call, "take", &take)) {
		has_take = take.size > 0;
		options = (rt_columns_options){.take = has_take ? l.place.take : 0,
					       .preview = (size_t)preview,
					       .from = (size_t)from,
					       .count = (size_t)count};
		st = is_columns ? rt_view_columns(l.engine, l.project, l.place.disc, &options,
						  l.body, &l.err)
				: rt_view_tree_wide(l.engine, l.project, l.place.disc,
						    (size_t)preview, l.body, &l.err);
		look_done(&l, st, TAG_DISC);
	}
	look_end(&l);
}

/* {"common","a","b","changed"} */
void
rt_api_diff(rt_call *call)
{
	rt_str disc = rt_call_param(call, "discussion");
	rt_place a = {0, 0}, b = {0, 0};
	rt_status st;
	look l;

	if (look_begin(&l, call)) {
		st = rt_resolve_place(l.project, disc, rt_call_param(call, "a"), &a, &l.err);
		if (st == RT_OK)
			st = rt_resolve_place(l.project, disc, rt_call_param(call, "b"), &b,
					      &l.err);
		if (st == RT_OK)
			st = rt_view_diff(l.engine, l.project, l.place.disc, a.take, b.take, l.body,
					  &l.err);
		look_done(&l, st, TAG_DISC);
	}
	look_end(&l);
}

void
rt_api_labels(rt_call *call)
{
	char id[RT_ID_MAX + 1];
	rt_status st = RT_OK;
	rt_slot pair;
	rt_str name;
	size_t i;
	look l;

	if (look_begin(&l, call)) {
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
			add_text(l.body, "entry", rt_str_of(id));
			rt_buf_add_byte(l.body, '}');
		}
		rt_buf_add_byte(l.body, ']');
		look_done(&l, st, TAG_DISC);
	}
	look_end(&l);
}

/* ---- entries ---- */

void
rt_api_entries(rt_call *call)
{
	uint64_t from, count;
	rt_window window;
	bool blocks;
	rt_status st;
	size_t total;
	rt_str role;
	look l;

	if (look_begin(&l, call) && rt_call_number(call, "from", 0, &from) &&
	    rt_call_number(call, "count", RT_API_WINDOW, &count) &&
	    rt_call_text(call, "role", &role) && rt_call_flag(call, "blocks", &blocks)) {
		total = rt_seq_count(l.take->slots);
		if (count == 0 || count > RT_API_WINDOW_MAX)
			count = RT_API_WINDOW_MAX;
		if (from > total)
			from = total;
		window = (rt_window){(size_t)from, (size_t)count, role};
		st = rt_view_show(l.engine, l.project, l.place, &window, l.body, &l.err);
		if (st == RT_OK) {
			l.body->size--; /* the brace */
			add_number(l.body, "from", from);
			rt_json_add_key(l.body, "next");
			if (from + count < total)
				rt_buf_add_u64(l.body, from + count);
			else
				rt_buf_add_c(l.body, "null");
			add_number(l.body, "seq", l.project->seq);
			rt_buf_add_byte(l.body, '}');
			st = rt_api_add_blocks(call, &l.err);
		}
		look_done(&l, st, TAG_DISC);
	}
	look_end(&l);
}

static rt_status
resolve(look *l, rt_str address, bool whole, uint32_t *out)
{
	rt_status st = rt_resolve_entry(l->project, l->place, address, whole, out, &l->err);

	if (st == RT_OK && *out == 0)
		st = rt_fail(&l->err, RT_NOT_FOUND, "no entry stands before the first");
	return st;
}

void
rt_api_entry(rt_call *call)
{
	char tag[RT_TAG_ROOM];
	uint32_t entry = 0;
	bool found = false, blocks;
	rt_slot slot;
	size_t at;
	rt_status st;
	look l;

	if (look_begin(&l, call) && rt_call_flag(call, "blocks", &blocks)) {
		st = resolve(&l, rt_call_param(call, "entry"), false, &entry);
		if (st == RT_OK)
			st = rt_view_entry(l.engine, l.project, l.place, entry, l.body, &l.err);
		if (st == RT_OK)
			st = rt_api_add_blocks(call, &l.err);
		if (st == RT_OK)
			st = rt_take_find(l.project, l.take, entry, &at, &slot, &found, &l.err);
		if (st == RT_OK && found && !l.is_past) {
			rt_tag_entry(rt_engine_epoch(l.engine), &slot, tag);
			rt_call_tag(call, tag);
		}
		look_done(&l, st, NO_TAG);
	}
	look_end(&l);
}

/* Those that are not there are named. */
static rt_status
add_entries(look *l, yyjson_val *ids, rt_buf *missing)
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
	add_number(l->body, "seq", l->project->seq);
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
	look l;

	rt_buf_init(&missing, call->request->alloc, RT_BUF_UNLIMITED);
	if (look_begin(&l, call) && rt_call_flag(call, "blocks", &blocks) &&
	    rt_call_body(call, false, &doc, &root)) {
		ids = rt_json_get(root, "ids");
		if (!yyjson_is_arr(ids) || yyjson_arr_size(ids) > RT_API_WINDOW_MAX)
			st = rt_fail(&l.err, RT_USAGE, "\"ids\" is an array of at most %d ids",
				     RT_API_WINDOW_MAX);
		yyjson_arr_foreach(ids, i, count, id)
			if (st == RT_OK && !yyjson_is_str(id))
				st = rt_fail(&l.err, RT_USAGE, "an id is a text");
		if (st == RT_OK)
			st = add_entries(&l, ids, &missing);
		if (st == RT_OK)
			st = rt_api_add_blocks(call, &l.err);
		look_done(&l, st, TAG_DISC);
	}
	look_end(&l);
	rt_json_free(doc);
	rt_buf_deinit(&missing);
}

void
rt_api_revisions(rt_call *call)
{
	uint32_t entry = 0;
	rt_status st;
	look l;

	if (look_begin(&l, call)) {
		st = resolve(&l, rt_call_param(call, "entry"), true, &entry);
		if (st == RT_OK)
			st = rt_view_revisions(l.engine, l.project, l.place.disc, entry, l.body,
					       &l.err);
		look_done(&l, st, NO_TAG);
	}
	look_end(&l);
}

/* ---- settings and what lies with them ---- */

void
rt_api_settings(rt_call *call)
{
	look l;

	if (look_begin(&l, call))
		look_done(&l, rt_view_settings(l.engine, l.project, l.place.disc, l.body, &l.err),
			  TAG_DISC);
	look_end(&l);
}

void
rt_api_project_settings(rt_call *call)
{
	rt_str prefix = RT_STR("setting.");
	size_t i;
	look l;

	if (look_begin(&l, call)) {
		rt_buf_add_byte(l.body, '{');
		for (i = 0; i < rt_fields_count(l.project->fields); i++) {
			rt_str name = rt_fields_name(l.project->fields, i);

			if (!rt_str_starts(name, prefix))
				continue;
			rt_json_add_key_str(l.body, rt_str_at(name.ptr + prefix.size,
							      name.size - prefix.size));
			rt_buf_add_str(l.body, rt_fields_value(l.project->fields, i));
		}
		rt_buf_add_byte(l.body, '}');
		look_done(&l, RT_OK, TAG_PROJECT);
	}
	look_end(&l);
}

/* Members of the view of the settings; absent stands for one that is not there. Alone: the
 * one member's value, else an object of all. */
static void
answer_members(rt_call *call, const char *const *names, bool is_alone, const char *absent,
	       tag_of tagged)
{
	rt_json_doc *doc = NULL;
	rt_buf view;
	rt_status st;
	look l;

	rt_buf_init(&view, call->request->alloc, RT_BUF_UNLIMITED);
	if (look_begin(&l, call)) {
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
		look_done(&l, st, tagged);
	}
	look_end(&l);
	rt_json_free(doc);
	rt_buf_deinit(&view);
}

void
rt_api_roles(rt_call *call)
{
	static const char *const names[] = {"roles", NULL};

	answer_members(call, names, true, "[]", TAG_PROJECT);
}

void
rt_api_prompt(rt_call *call)
{
	static const char *const names[] = {"prompt", NULL};

	answer_members(call, names, true, "{}", TAG_DISC);
}

void
rt_api_presets(rt_call *call)
{
	static const char *const names[] = {"presets", NULL};

	answer_members(call, names, true, "{}", TAG_DISC);
}

void
rt_api_files(rt_call *call)
{
	static const char *const names[] = {"files", "context_files", "screenshots", NULL};

	answer_members(call, names, false, "[]", TAG_DISC);
}

/* ---- history ---- */

/* A page of a list that the view gave as {"steps":[…],"next":seq or null}. */
static rt_status
add_page(look *l, rt_buf *view, size_t limit)
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
	add_number(l->body, "seq", l->project->seq);
	rt_buf_add_byte(l->body, '}');
	rt_json_free(doc);
	return RT_OK;
}

/* Rows of the log, newest first: what everybody did, wherever. */
static rt_status
add_rows(look *l, uint64_t before, size_t limit)
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
	add_number(l->body, "seq", l->project->seq);
	rt_buf_add_byte(l->body, '}');
	return st;
}

void
rt_api_history(rt_call *call)
{
	uint64_t before, limit;
	rt_buf view;
	rt_status st;
	look l;

	rt_buf_init(&view, call->request->alloc, RT_BUF_UNLIMITED);
	if (look_begin(&l, call) && rt_call_number(call, "before", 0, &before) &&
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
		look_done(&l, st, NO_TAG);
	}
	look_end(&l);
	rt_buf_deinit(&view);
}

void
rt_api_step(rt_call *call)
{
	rt_str text = rt_call_param(call, "seq");
	uint64_t seq = 0;
	rt_status st = RT_OK;
	size_t i;
	look l;

	if (look_begin(&l, call)) {
		for (i = 0; i < text.size && text.ptr[i] >= '0' && text.ptr[i] <= '9' && i < 19; i++)
			seq = seq * 10 + (uint64_t)(text.ptr[i] - '0');
		if (i < text.size)
			st = rt_fail(&l.err, RT_USAGE, "a step has a number, such as 42");
		if (st == RT_OK)
			st = rt_view_step(l.engine, l.project, seq, l.body, &l.err);
		look_done(&l, st, NO_TAG);
	}
	look_end(&l);
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
	look l;

	rt_buf_init(&hits, call->request->alloc, RT_BUF_UNLIMITED);
	if (look_begin(&l, call) && rt_call_text(call, "q", &query) &&
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
			rt_marks_add_hits(call->request->alloc, rt_json_root(doc), l.body);
		look_done(&l, st, NO_TAG);
	}
	look_end(&l);
	rt_json_free(doc);
	rt_buf_deinit(&hits);
}

/* ---- what would be sent ---- */

typedef struct context {
	look *l;
	const rt_provider *provider;
	rt_str model, service;
	rt_buf name;    /* of the model, as it was chosen */
	rt_buf entries; /* "[{…" of the table */
	rt_pick_counter counter;
	bool is_known;
	uint64_t budget;
	rt_context_totals totals;
	rt_status status;
} context;

static size_t
count_text(void *ctx, rt_str text)
{
	context *c = ctx;

	return rt_pick_count(&c->counter, text);
}

/* Positions count from 1 here, as in addresses. */
static void
add_part(void *ctx, const rt_context_part *part)
{
	char id[RT_ID_MAX + 1];
	context *c = ctx;

	if (c->status == RT_OK)
		c->status = rt_entry_id(c->l->project, part->entry, id, &c->l->err);
	if (c->status != RT_OK)
		return;
	rt_json_add_comma(&c->entries);
	rt_buf_add_c(&c->entries, "{\"id\":");
	rt_json_add_string(&c->entries, rt_str_of(id));
	rt_buf_add_f(&c->entries, ",\"at\":%zu,\"tokens\":%zu", part->at + 1, part->tokens);
	add_bool(&c->entries, "left_out", part->left_out);
	if (part->is_summary)
		rt_buf_add_c(&c->entries, ",\"summary\":true");
	rt_buf_add_byte(&c->entries, '}');
}

/* As ask chooses, without a key; and the provider that the query names instead. */
static rt_status
choose(context *c)
{
	const rt_house_options *given = rt_house_given(c->l->call->house);
	const rt_config_provider *own;
	rt_model_choice choice;
	rt_str said, model;
	rt_status st;

	if (!rt_call_text(c->l->call, "provider", &said) ||
	    !rt_call_text(c->l->call, "model", &model))
		return RT_USAGE;
	st = rt_pick_name(c->l->call->request->alloc, c->l->project, c->l->disc, model,
			  given->model, &c->name, &c->l->err);
	if (st == RT_OK && c->name.size == 0 && given->config != NULL)
		rt_buf_add_str(&c->name, given->config->model);
	if (st == RT_OK && c->name.status != RT_OK)
		st = rt_fail(&c->l->err, RT_NOMEM, "out of memory");
	if (st != RT_OK)
		return st;
	c->provider = &rt_provider_openai;
	c->model = rt_buf_str(&c->name);
	if (said.size > 0) {
		own = rt_config_provider_named(given->config, said);
		c->provider = own != NULL ? own->kind : rt_provider_named(said);
		if (c->provider == NULL)
			return rt_fail(&c->l->err, RT_NOT_FOUND, "there is no provider \"%.*s\"",
				       (int)rt_utf8_cut(said, 80), said.ptr);
		c->model = rt_provider_model(c->provider, c->model);
		return RT_OK;
	}
	if (c->name.size == 0)
		return RT_OK;
	st = rt_models_choose(given->config, c->model, &choice, &c->l->err);
	if (st == RT_OK) {
		c->is_known = true;
		c->provider = choice.provider;
		c->service = choice.provider_name;
		c->model = choice.model;
		if (choice.config != NULL && c->budget == 0)
			c->budget = choice.config->context_tokens;
	}
	/* One that was only set before, and that nobody knows, can be counted for. */
	return st == RT_NOT_FOUND && model.size == 0 ? RT_OK : st;
}

/* Is the sum of the table what the request comes to? */
static rt_status
count_all(const context *c, rt_str body, size_t *out_tokens, bool *out_exact)
{
	size_t tokens = 0;
	bool whole = false;
	rt_status st;

	*out_tokens = c->totals.tokens;
	*out_exact = false;
	if (c->counter.ranks == NULL)
		return RT_OK;
	*out_tokens += RT_TOKENS_REPLY;
	if (c->provider != &rt_provider_openai)
		return RT_OK;
	st = rt_tokens_count_request(c->counter.ranks, body, &tokens, &whole, &c->l->err);
	*out_exact = st == RT_OK && whole && tokens == *out_tokens;
	return st;
}

static rt_status
add_context(context *c)
{
	rt_context_options options = {.stream = c->is_known,
				      .model = c->model,
				      .service = c->service,
				      .budget_tokens = (size_t)c->budget,
				      .count = c->counter.encoding != NULL ? count_text : NULL,
				      .part = add_part,
				      .ctx = c,
				      .totals = &c->totals};
	rt_buf *out = c->l->body, request;
	size_t tokens = 0;
	bool is_exact = false;
	rt_status st;

	rt_buf_init(&request, c->l->call->request->alloc, RT_BUF_UNLIMITED);
	st = rt_view_context(c->l->engine, c->l->project, c->l->place, c->provider, &options,
			     &request, &c->l->err);
	if (st == RT_OK)
		st = c->status;
	if (st == RT_OK && (request.status != RT_OK || c->entries.status != RT_OK))
		st = rt_fail(&c->l->err, RT_NOMEM, "out of memory");
	if (st == RT_OK)
		st = count_all(c, rt_buf_str(&request), &tokens, &is_exact);
	if (st == RT_OK) {
		rt_buf_add_c(out, "{\"provider\":");
		rt_json_add_string(out, rt_str_of(c->provider->name));
		rt_json_add_key(out, "model");
		if (c->model.size > 0)
			rt_json_add_string(out, c->model);
		else
			rt_buf_add_c(out, "null");
		add_number(out, "tokens", tokens);
		add_bool(out, "exact", is_exact);
		add_number(out, "left_out", c->totals.left_out);
		if (c->budget > 0)
			add_number(out, "budget", c->budget);
		rt_buf_add_c(out, ",\"entries\":[");
		rt_buf_add_str(out, rt_buf_str(&c->entries));
		rt_buf_add_c(out, "],\"body\":");
		rt_buf_add_str(out, rt_buf_str(&request));
		rt_buf_add_byte(out, '}');
	}
	rt_buf_deinit(&request);
	return st;
}

void
rt_api_context(rt_call *call)
{
	context c = {.status = RT_OK};
	rt_status st;
	look l;

	rt_buf_init(&c.name, call->request->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&c.entries, call->request->alloc, RT_BUF_UNLIMITED);
	if (look_begin(&l, call) && rt_call_number(call, "budget", 0, &c.budget)) {
		c.l = &l;
		st = choose(&c);
		rt_pick_counter_init(&c.counter, call->request->alloc, c.model);
		if (st == RT_OK)
			st = add_context(&c);
		if (call->answer->status == 0) /* the query may be answered already */
			look_done(&l, st, NO_TAG);
		rt_pick_counter_deinit(&c.counter);
	}
	look_end(&l);
	rt_buf_deinit(&c.name);
	rt_buf_deinit(&c.entries);
}
