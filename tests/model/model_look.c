/* SPDX-License-Identifier: MIT
 *
 * Model run: compares the whole state of the engine and the model. */
#include "model_run_impl.h"

static bool
differ(run *r, const char *what, rt_str engine, rt_str ours)
{
	size_t at = 0, from;

	while (at < engine.size && at < ours.size && engine.ptr[at] == ours.ptr[at])
		at++;
	from = at > 160 ? at - 160 : 0;
	engine.ptr += from;
	engine.size -= from;
	ours.ptr += from;
	ours.size -= from;
	if (engine.size > 400)
		engine.size = 400;
	if (ours.size > 400)
		ours.size = 400;
	return wrong(r, "%s differs at byte %zu\n  engine: …%.*s\n  model:  …%.*s", what, at,
		    RT_STR_ARG(engine), RT_STR_ARG(ours));
}

static rt_status
canonical_of(rt_engine *engine, const rt_project *value, int disc, rt_buf *out, rt_error *err)
{
	const rt_format *format = rt_format_find(RT_STR("canonical"));
	rt_export_options how = {.whole = disc <= 0, .lossless = true};
	rt_outlines outlines;
	rt_status st;
	size_t i;

	rt_outlines_init(&outlines);
	st = rt_engine_export(engine, value, (rt_place){disc > 0 ? (uint32_t)disc : 0, 0},
			      disc <= 0, &outlines, err);
	for (i = 0; st == RT_OK && disc != WHOLE && i < outlines.count; i++) {
		if (disc == 0)
			outlines.items[i] = (rt_outline){.name = outlines.items[i].name};
		else
			outlines.items[i].name = RT_STR("");
	}
	outlines.has_active = outlines.has_active && disc <= 0;
	if (st == RT_OK)
		st = format->write(rt_alloc_libc(), &outlines, &how, out, err);
	rt_outlines_deinit(&outlines);
	return st;
}

static bool
look_at_state(run *r, const rt_project *value)
{
	rt_buf theirs, ours;
	rt_error err = {0};
	bool ok;

	rt_buf_init(&theirs, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&ours, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (rt_project_check(value, &err) != RT_OK) {
		ok = wrong(r, "an invariant is broken: %s", err.text);
	} else if (canonical_of(engine_of(r), value, WHOLE, &theirs, &err) != RT_OK) {
		ok = wrong(r, "the export fails: %s", err.text);
	} else {
		model_canonical(&r->model, &ours);
		ok = rt_str_eq(rt_buf_str(&theirs), rt_buf_str(&ours)) ||
		     differ(r, "the state", rt_buf_str(&theirs), rt_buf_str(&ours));
	}
	rt_buf_deinit(&theirs);
	rt_buf_deinit(&ours);
	return ok;
}

typedef rt_status (*view_fn)(run *r, const rt_project *value, rt_buf *out, rt_error *err);

/* A view, parsed as JSON; NULL: it failed, or is not JSON. */
static rt_json_doc *
read_view(run *r, const rt_project *value, const char *name, view_fn view)
{
	rt_json_doc *doc = NULL;
	rt_error err = {0};
	rt_buf out;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (view(r, value, &out, &err) != RT_OK)
		wrong(r, "%s fails: %s", name, err.text);
	else if (rt_json_read(rt_alloc_libc(), rt_buf_str(&out), &doc, &err) != RT_OK)
		wrong(r, "%s is not JSON: %s", name, err.text);
	rt_buf_deinit(&out);
	return doc;
}

static rt_status
show_view(run *r, const rt_project *value, rt_buf *out, rt_error *err)
{
	rt_window all = {0};

	return rt_view_show(engine_of(r), value, (rt_place){0, 0}, &all, out, err);
}

static rt_status
takes_view(run *r, const rt_project *value, rt_buf *out, rt_error *err)
{
	return rt_view_takes(engine_of(r), value, 0, false, out, err);
}

static rt_status
tree_view(run *r, const rt_project *value, rt_buf *out, rt_error *err)
{
	return rt_view_tree(engine_of(r), value, 0, out, err);
}

static rt_status
history_view(run *r, const rt_project *value, rt_buf *out, rt_error *err)
{
	return rt_view_history(engine_of(r), value, 0, 0, 0, out, err);
}

static bool
check_show(run *r, yyjson_val *show)
{
	const model *m = &r->model;
	int doc = model_project_of(m)->active, head;
	const model_disc *d = model_disc_of(m, doc);
	const model_take *take = &d->takes[d->active];
	yyjson_val *entries = rt_json_get(show, "entries");
	size_t i;

	head = d->head == MODEL_TIP && take->count > 0 ? take->slots[take->count - 1].entity : d->head;
	if (!rt_str_eq(rt_json_str(rt_json_get(show, "discussion")), model_name_of(m, doc)) ||
	    !rt_str_eq(rt_json_str(rt_json_get(show, "take")), take->name))
		return wrong(r, "show names another discussion or take");
	if (head < 0 ? !yyjson_is_null(rt_json_get(show, "head"))
		     : !rt_str_eq(rt_json_str(rt_json_get(show, "head")), m->entities[head].id))
		return wrong(r, "show has another head");
	if (yyjson_arr_size(entries) != take->count)
		return wrong(r, "show has %zu entries, not %zu", yyjson_arr_size(entries), take->count);
	for (i = 0; i < take->count; i++) {
		yyjson_val *entry = yyjson_arr_get(entries, i);
		const model_slot *slot = &take->slots[i];

		if (!rt_str_eq(rt_json_str(rt_json_get(entry, "id")), m->entities[slot->entity].id) ||
		    !rt_str_eq(rt_json_str(rt_json_get(entry, "role")), slot->role))
			return wrong(r, "show has another entry at %zu", i);
		if (yyjson_is_true(rt_json_get(entry, "edited")) != slot->edited)
			return wrong(r, "show has an entry at %zu that was %sedited", i,
				     slot->edited ? "" : "not ");
	}
	return true;
}

/* The base of a take's name, which several takes can share. */
static rt_str
base_of(const model_take *take)
{
	size_t at = rt_str_find(take->name, RT_STR("_take_"), 0);

	return at == SIZE_MAX ? take->name : rt_str_at(take->name.ptr, at);
}

/* The take at a position of the list, which is grouped by base at the position of the group's
 * first take. */
static size_t
listed_at(const model_disc *d, size_t row)
{
	for (size_t first = 0; first < d->take_count; first++) {
		size_t before = 0;

		while (!rt_str_eq(base_of(&d->takes[before]), base_of(&d->takes[first])))
			before++;
		for (size_t i = first; before == first && i < d->take_count; i++)
			if (rt_str_eq(base_of(&d->takes[i]), base_of(&d->takes[first])) && row-- == 0)
				return i;
	}
	return 0;
}

static bool
check_takes(run *r, yyjson_val *takes)
{
	const model_disc *d = model_disc_of(&r->model, model_project_of(&r->model)->active);
	size_t i;

	if (yyjson_arr_size(takes) != d->take_count)
		return wrong(r, "%zu takes, not %zu", yyjson_arr_size(takes), d->take_count);
	for (i = 0; i < d->take_count; i++) {
		yyjson_val *take = yyjson_arr_get(takes, i);
		size_t at = listed_at(d, i);

		if (!rt_str_eq(rt_json_str(rt_json_get(take, "name")), d->takes[at].name) ||
		    yyjson_is_true(rt_json_get(take, "active")) != (at == d->active))
			return wrong(r, "another take at %zu", i);
	}
	return true;
}

static bool
has_string(yyjson_val *list, rt_str s)
{
	size_t i, max;
	yyjson_val *item;

	yyjson_arr_foreach(list, i, max, item)
	{
		if (rt_str_eq(rt_json_str(item), s))
			return true;
	}
	return false;
}

/* C40, C41: the rows of each take, in order, are its path; and further checks. */
static bool
check_tree(run *r, yyjson_val *tree)
{
	const model *m = &r->model;
	const model_disc *d = model_disc_of(m, model_project_of(m)->active);
	size_t t, i, max, active = 0, claimed = 0, held = 0;
	yyjson_val *row;
	int head = d->head;

	if (head == MODEL_TIP && d->takes[d->active].count > 0)
		head = d->takes[d->active].slots[d->takes[d->active].count - 1].entity;
	for (t = 0; t < d->take_count; t++) {
		const model_take *take = &d->takes[t];
		rt_str above = {NULL, 0}, above_id = {NULL, 0};
		size_t at = 0;

		held += take->count;
		yyjson_arr_foreach(tree, i, max, row)
		{
			rt_str id = rt_json_str(rt_json_get(row, "id"));
			yyjson_val *parent = rt_json_get(row, "parent_node");

			if (!has_string(rt_json_get(row, "takes"), take->name))
				continue;
			if (at >= take->count ||
			    !rt_str_eq(id, m->entities[take->slots[at].entity].id))
				return wrong(r, "tree: row %zu is not entry %zu of take %.*s", i, at,
					    RT_STR_ARG(take->name));
			if (at == 0 ? !yyjson_is_null(parent)
				    : !rt_str_eq(rt_json_str(parent), above) ||
					      !rt_str_eq(rt_json_str(rt_json_get(row, "parent")),
							 above_id))
				return wrong(r, "tree: row %zu has another parent", i);
			above = rt_json_str(rt_json_get(row, "node"));
			above_id = id;
			at++;
		}
		if (at != take->count)
			return wrong(r, "tree: take %.*s has %zu rows of %zu", RT_STR_ARG(take->name), at,
				    take->count);
	}
	yyjson_arr_foreach(tree, i, max, row)
	{
		rt_str node = rt_json_str(rt_json_get(row, "node"));
		size_t k;

		claimed += yyjson_arr_size(rt_json_get(row, "takes"));
		if (yyjson_arr_size(rt_json_get(row, "takes")) == 0)
			return wrong(r, "tree: row %zu is in no take", i);
		for (k = 0; k < i; k++)
			if (rt_str_eq(node, rt_json_str(rt_json_get(yyjson_arr_get(tree, k), "node"))))
				return wrong(r, "tree: node %.*s twice", RT_STR_ARG(node));
		if (!yyjson_is_true(rt_json_get(row, "active")))
			continue;
		active++;
		if (head < 0 || !has_string(rt_json_get(row, "takes"), d->takes[d->active].name) ||
		    !rt_str_eq(rt_json_str(rt_json_get(row, "id")), m->entities[head].id))
			return wrong(r, "tree: row %zu is not the head", i);
	}
	if (active != (head >= 0) || claimed != held)
		return wrong(r, "tree: %zu rows are active, %zu places of %zu", active, claimed, held);
	return true;
}

static const model_part *
part_in(const model_step *step, int doc)
{
	size_t i;

	for (i = 0; i < step->part_count; i++)
		if (step->parts[i].doc == doc)
			return &step->parts[i];
	return NULL;
}

/* C38: the steps that undo sees, newest first; the current one marked. */
static bool
check_history(run *r, yyjson_val *history)
{
	const model *m = &r->model;
	int doc = model_project_of(m)->active, current;
	size_t row = 0, i;

	current = m->docs[doc].current > m->docs[0].current ? m->docs[doc].current
							    : m->docs[0].current;
	for (i = m->step_count; i-- > 0;) {
		const model_step *step = &m->steps[i];
		yyjson_val *it;
		uint64_t seq = 0;

		if (part_in(step, doc) == NULL && part_in(step, 0) == NULL)
			continue;
		it = yyjson_arr_get(history, row++);
		if (!rt_json_u64(rt_json_get(it, "seq"), &seq) || seq != step->seq)
			return wrong(r, "history: row %zu is %llu, not %llu", row - 1,
				    (unsigned long long)seq, (unsigned long long)step->seq);
		if (yyjson_is_true(rt_json_get(it, "current")) != ((int)i == current))
			return wrong(r, "history: %llu is wrongly current, or not",
				    (unsigned long long)seq);
	}
	if (row != yyjson_arr_size(history))
		return wrong(r, "history: %zu rows, not %zu", yyjson_arr_size(history), row);
	return true;
}

static bool
look(run *r)
{
	static const struct {
		const char *name;
		view_fn view;
		bool (*check)(run *r, yyjson_val *root);
	} views[] = {{"show", show_view, check_show},
		     {"takes", takes_view, check_takes},
		     {"tree", tree_view, check_tree},
		     {"history", history_view, check_history}};
	rt_error err = {0};
	const rt_project *value;
	size_t i;
	bool ok;

	r->stats->looks++;
	if (rt_engine_refresh(engine_of(r), &err) != RT_OK)
		return wrong(r, "refresh fails: %s", err.text);
	value = rt_engine_value(engine_of(r));
	ok = look_at_state(r, value);
	for (i = 0; i < sizeof(views) / sizeof(views[0]) && ok; i++) {
		rt_json_doc *doc = read_view(r, value, views[i].name, views[i].view);

		ok = doc != NULL && views[i].check(r, rt_json_root(doc));
		rt_json_free(doc);
	}
	rt_object_unref(value);
	return ok;
}
