/* SPDX-License-Identifier: MIT
 *
 * Model run: driving both, comparing, restarting, crashing, shrinking. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log/engine.h"
#include "formats/formats.h"
#include "log/fsck.h"
#include "model_run.h"
#include "ops/export.h"
#include "random_ops.h"
#include "store/store_memory.h"
#include "store/store_sqlite.h"
#include "view/view.h"

#define NOW_US 1770091506000000 /* 2026-02-03T04:05:06Z */
#define NOW_TEXT "2026-02-03T04:05:06Z"

typedef struct run {
	const model_run_options *options;
	model_run_stats *stats;
	rt_env env;
	random_ops chance; /* what the engine sees */
	long questions_left; /* until the process dies; 0: it lives on */
	char path[512];
	rt_store *stores[2];
	rt_engine *engines[2];
	size_t engine_count;
	size_t turn;
	model model;
	uint64_t base_seq;
	char why[4096];
} run;

/* ---- the engine's surroundings ---- */

static void
question(run *r)
{
	if (r->questions_left > 0 && --r->questions_left == 0)
		_exit(9);
}

static int64_t
now_us(void *ctx)
{
	question(ctx);
	return NOW_US;
}

static void
random_bytes(void *ctx, void *to, size_t size)
{
	run *r = ctx;
	size_t i;

	question(r);
	for (i = 0; i < size; i++)
		((unsigned char *)to)[i] = (unsigned char)(random_next(&r->chance) >> 24);
}

static bool wrong(run *r, const char *format, ...) RT_PRINTF(2, 3);

static bool
wrong(run *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->why, sizeof(r->why), format, args);
	va_end(args);
	return false;
}

static bool
open_store(run *r, size_t i)
{
	rt_error err = {0};
	rt_status st;

	if (r->options->dir == NULL) {
		if (i > 0) {
			r->stores[i] = r->stores[0];
			return true;
		}
		if (r->stores[0] != NULL)
			return true;
		st = rt_store_memory_open(rt_alloc_libc(), &r->env, &r->stores[0], &err);
	} else {
		rt_store_sqlite_options o = {.create = true, .relaxed = r->options->relaxed};

		st = rt_store_sqlite_open(rt_alloc_libc(), &r->env, r->path, &o, &r->stores[i], &err);
	}
	return st == RT_OK || wrong(r, "the store does not open: %s", err.text);
}

static bool
open_all(run *r)
{
	size_t i;

	r->engine_count = r->options->two_engines ? 2 : 1;
	for (i = 0; i < r->engine_count; i++) {
		rt_engine_options o = {.alloc = rt_alloc_libc(),
				       .env = &r->env,
				       .by = RT_STR("test"),
				       .create = true,
				       .checkpoint_every = 1 + random_below(&r->chance, 40)};
		rt_error err = {0};

		if (!open_store(r, i))
			return false;
		if (rt_engine_open(&o, r->stores[i], &r->engines[i], &err) != RT_OK)
			return wrong(r, "the engine does not open: %s", err.text);
	}
	return true;
}

/* The store in memory stays: it is gone when it is closed. */
static void
close_all(run *r, bool for_good)
{
	size_t i;

	for (i = 0; i < r->engine_count; i++) {
		if (r->engines[i] != NULL)
			rt_engine_close(r->engines[i]);
		r->engines[i] = NULL;
	}
	for (i = 0; i < r->engine_count; i++) {
		if (r->stores[i] != NULL && (r->options->dir != NULL || (for_good && i == 0)))
			r->stores[i]->ops->close(r->stores[i]);
		if (r->options->dir != NULL || for_good)
			r->stores[i] = NULL;
	}
}

static void
remove_files(const char *path)
{
	static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
	char name[600];
	size_t i;

	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		unlink(name);
	}
}

static rt_engine *
engine_of(run *r)
{
	return r->engines[r->turn % r->engine_count];
}

/* ---- looking ---- */

/* Where two texts part, with what stands around it. */
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

enum { WHOLE = -1 };

/* disc: WHOLE, 0 for the project without what its discussions hold, or the number of a
 * discussion (its name is the project's). */
static rt_status
canonical_of(rt_engine *engine, const rt_project *value, int disc, rt_buf *out, rt_error *err)
{
	const rt_format *format = rt_format_find("canonical");
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

/* A view, read back as JSON; NULL: it failed, or is no JSON. */
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

static bool
check_takes(run *r, yyjson_val *takes)
{
	const model_disc *d = model_disc_of(&r->model, model_project_of(&r->model)->active);
	size_t i;

	if (yyjson_arr_size(takes) != d->take_count)
		return wrong(r, "%zu takes, not %zu", yyjson_arr_size(takes), d->take_count);
	for (i = 0; i < d->take_count; i++) {
		yyjson_val *take = yyjson_arr_get(takes, i);

		if (!rt_str_eq(rt_json_str(rt_json_get(take, "name")), d->takes[i].name) ||
		    yyjson_is_true(rt_json_get(take, "active")) != (i == d->active))
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

/* C40, C41: the rows of each take, in their order, are its path; and so on. */
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

/* ---- ids that the engine chose ---- */

static bool
id_at(run *r, int doc, int take, size_t position, char *out, size_t room)
{
	rt_window one = {.from = position, .count = 1};
	const rt_project *value = rt_engine_value(engine_of(r));
	rt_json_doc *json = NULL;
	rt_error err = {0};
	rt_buf buf;
	rt_str id = {NULL, 0};
	bool ok;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	ok = rt_view_show(engine_of(r), value, (rt_place){(uint32_t)doc, (uint32_t)take}, &one, &buf,
			  &err) == RT_OK &&
	     rt_json_read(rt_alloc_libc(), rt_buf_str(&buf), &json, &err) == RT_OK;
	if (ok)
		id = rt_json_str(rt_json_get(
			yyjson_arr_get(rt_json_get(rt_json_root(json), "entries"), 0), "id"));
	snprintf(out, room, "%.*s", RT_STR_ARG(id));
	rt_json_free(json);
	rt_buf_deinit(&buf);
	rt_object_unref(value);
	return id.size > 0 || wrong(r, "show has no entry at %zu of d%d t%d: %s", position, doc, take,
				   err.text);
}

static bool
learn_all(run *r)
{
	int entity, doc, take;
	size_t position;
	char id[140];

	while (model_unknown(&r->model, &entity, &doc, &take, &position)) {
		if (!id_at(r, doc, take, position, id, sizeof(id)))
			return false;
		if (!model_learn(&r->model, entity, rt_str_of(id)))
			return wrong(r, "the new id %s was used before", id);
	}
	return true;
}

/* ---- requests ---- */

static bool
compare(run *r, const rt_result *theirs, const model_result *ours)
{
	if (theirs->status != ours->status && !(ours->loose && theirs->status != RT_OK))
		return wrong(r, "engine: %s (%s), model: %s (%s)", rt_status_word(theirs->status),
			    theirs->status != RT_OK ? theirs->error.text : "",
			    rt_status_word(ours->status), ours->why);
	r->stats->requests++;
	if (ours->status != RT_OK) {
		r->stats->refusals++;
		return true;
	}
	r->stats->changes += !ours->unchanged;
	if (theirs->unchanged != ours->unchanged)
		return wrong(r, "engine: %s, model: %s", theirs->unchanged ? "unchanged" : "changed",
			    ours->unchanged ? "unchanged" : "changed");
	if (theirs->seq != ours->seq || theirs->steps != ours->steps)
		return wrong(r, "engine: seq %llu steps %llu, model: seq %llu steps %llu",
			    (unsigned long long)theirs->seq, (unsigned long long)theirs->steps,
			    (unsigned long long)ours->seq, (unsigned long long)ours->steps);
	/* made just now, or by another request of the same group */
	if (ours->entity >= 0 && !ours->unchanged &&
	    r->model.entities[ours->entity].id.size == 0 &&
	    !model_learn(&r->model, ours->entity, rt_str_of(theirs->entry)))
		return wrong(r, "the new id %s was used before, or is none", theirs->entry);
	if (ours->entity >= 0 && !ours->unchanged &&
	    !rt_str_is(r->model.entities[ours->entity].id, theirs->entry))
		return wrong(r, "entry: engine %s, model %.*s", theirs->entry,
			    RT_STR_ARG(r->model.entities[ours->entity].id));
	if (ours->take.size > 0 && !rt_str_is(ours->take, theirs->take))
		return wrong(r, "take: engine %s, model %.*s", theirs->take, RT_STR_ARG(ours->take));
	if (ours->discussion.size > 0 && !rt_str_is(ours->discussion, theirs->discussion))
		return wrong(r, "discussion: engine %s, model %.*s", theirs->discussion,
			    RT_STR_ARG(ours->discussion));
	if (ours->has_editor != (theirs->editor != NULL) ||
	    !rt_str_eq(ours->editor, rt_text_str(theirs->editor)))
		return wrong(r, "editor: engine %.*s, model %.*s",
			    RT_STR_ARG(rt_text_str(theirs->editor)), RT_STR_ARG(ours->editor));
	return true;
}

/* One document (0: the project) after a jump: as it was right after the row, or, if it may
 * have stayed, as it was before the jump. Views and purges are the same in all of them. */
static bool
look_at_jumped(run *r, int doc, const rt_project *then, const rt_project *before,
	       const rt_project *now, bool may_stay)
{
	const rt_project *values[] = {now, then, before};
	rt_buf texts[3];
	rt_error err = {0};
	size_t i;
	bool ok = true;

	for (i = 0; i < 3; i++) {
		rt_buf_init(&texts[i], rt_alloc_libc(), RT_BUF_UNLIMITED);
		if (canonical_of(engine_of(r), values[i], doc, &texts[i], &err) != RT_OK)
			ok = wrong(r, "the past cannot be looked at: %s", err.text);
	}
	if (ok && !rt_str_eq(rt_buf_str(&texts[0]), rt_buf_str(&texts[1])) &&
	    !(may_stay && rt_str_eq(rt_buf_str(&texts[0]), rt_buf_str(&texts[2]))))
		ok = differ(r, "a document after a jump (model: right after the row)",
			    rt_buf_str(&texts[0]), rt_buf_str(&texts[1]));
	for (i = 0; i < 3; i++)
		rt_buf_deinit(&texts[i]);
	return ok;
}

/* After a jump without a scope the project, the discussion in view and the one that is active
 * are what they were right after that row. view: 0 if it is not known. */
static bool
look_at_jump(run *r, rt_str line, const rt_result *theirs, int view)
{
	rt_json_doc *doc = NULL;
	rt_error err = {0};
	uint64_t to = 0;
	yyjson_val *root;
	const rt_project *then = NULL, *before = NULL, *now;
	int i;
	bool ok = true;

	if (rt_json_read(rt_alloc_libc(), line, &doc, NULL) != RT_OK)
		return true;
	root = rt_json_root(doc);
	if (rt_str_is(rt_json_str(rt_json_get(root, "op")), "jump") &&
	    rt_json_get(root, "scope") == NULL)
		(void)rt_json_u64(rt_json_get(root, "to"), &to);
	if (rt_json_str(rt_json_get(root, "discussion")).size > 0)
		view = 0;
	rt_json_free(doc);
	if (to == 0)
		return true;
	now = rt_engine_value(engine_of(r));
	if (rt_engine_value_at(engine_of(r), to, &then, &err) != RT_OK ||
	    rt_engine_value_at(engine_of(r), theirs->seq - !theirs->unchanged, &before, &err) !=
		    RT_OK)
		ok = wrong(r, "the past cannot be looked at: %s", err.text);
	for (i = 0; ok && i <= (int)rt_project_disc_count(now); i++)
		ok = look_at_jumped(r, i, then, before, now,
				    i != 0 && i != view && i != (int)now->active);
	rt_object_unref(before);
	rt_object_unref(then);
	rt_object_unref(now);
	return ok;
}

static bool
run_request(run *r, rt_str line)
{
	rt_result theirs;
	model_result ours;
	int view = model_project_of(&r->model)->active;
	bool ok;

	memset(&theirs, 0, sizeof(theirs));
	rt_engine_apply_text(engine_of(r), line, RT_STR(""), RT_STR(""), &theirs);
	model_apply(&r->model, line, rt_str_of(theirs.discussion), &ours);
	ok = compare(r, &theirs, &ours) && learn_all(r) &&
	     (theirs.status != RT_OK || look_at_jump(r, line, &theirs, view));
	rt_result_deinit(&theirs);
	r->turn++;
	return ok;
}

enum { GROUP_MAX = 64 };

static size_t
group_lines(yyjson_val *ops, rt_buf *text, rt_str *lines)
{
	size_t ends[GROUP_MAX], i, max, n = 0, from = 0;
	yyjson_val *op;

	yyjson_arr_foreach(ops, i, max, op)
	{
		if (n == GROUP_MAX)
			break;
		rt_json_add_value(text, op);
		ends[n++] = text->size;
		rt_buf_add_byte(text, '\n');
	}
	for (i = 0; i < n; i++) {
		lines[i] = rt_str_at(text->ptr + from, ends[i] - from);
		from = ends[i] + 1;
	}
	return n;
}

static bool
run_group(run *r, yyjson_val *ops, bool atomic)
{
	yyjson_val *requests[GROUP_MAX];
	rt_str lines[GROUP_MAX], chosen[GROUP_MAX] = {{NULL, 0}};
	rt_str entries[GROUP_MAX] = {{NULL, 0}};
	rt_result theirs[GROUP_MAX];
	model_result ours[GROUP_MAX];
	size_t n, i;
	bool ok = true;
	rt_buf text;

	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	n = group_lines(ops, &text, lines);
	for (i = 0; i < n; i++)
		requests[i] = yyjson_arr_get(ops, i);
	memset(theirs, 0, sizeof(theirs));
	memset(ours, 0, sizeof(ours));
	rt_engine_apply_json(engine_of(r), requests, n, atomic, RT_STR(""), RT_STR(""), theirs);
	for (i = 0; i < n; i++) {
		chosen[i] = rt_str_of(theirs[i].discussion);
		entries[i] = rt_str_of(theirs[i].entry);
	}
	if (atomic)
		model_apply_atomic(&r->model, lines, chosen, entries, n, ours);
	for (i = 0; i < n && ok; i++) {
		if (!atomic)
			model_apply(&r->model, lines[i], chosen[i], &ours[i]);
		ok = compare(r, &theirs[i], &ours[i]);
		if (!ok) {
			char why[sizeof(r->why)];

			memcpy(why, r->why, sizeof(why));
			wrong(r, "request %zu of the group: %.3900s", i, why);
		}
	}
	ok = ok && learn_all(r);
	for (i = 0; i < n; i++)
		rt_result_deinit(&theirs[i]);
	rt_buf_deinit(&text);
	r->turn++;
	return ok;
}

static void
child_dies(int number)
{
	(void)number;
	_exit(9);
}

/* In the process that will die: carry out the requests, say after each that it is done. */
static void
crash_child(run *r, const rt_str *lines, size_t count, int64_t at, int to_parent)
{
	struct itimerval when = {{0, 0}, {0, 0}};
	rt_result result;
	size_t i;

	if (!open_all(r))
		_exit(7);
	if (at < 0) {
		signal(SIGALRM, child_dies);
		when.it_value.tv_usec = (suseconds_t)(-at % 1000000);
		setitimer(ITIMER_REAL, &when, NULL);
	} else {
		r->questions_left = (long)at;
	}
	for (i = 0; i < count; i++) {
		memset(&result, 0, sizeof(result));
		rt_engine_apply_text(r->engines[i % r->engine_count], lines[i], RT_STR(""), RT_STR(""),
				     &result);
		if (write(to_parent, "+", 1) != 1)
			_exit(8);
	}
	_exit(9);
}

/* P1, P2: what was acknowledged is there, and at most the one that was under way. */
static bool
run_crash(run *r, yyjson_val *ops, int64_t at)
{
	rt_str lines[GROUP_MAX];
	size_t n, acknowledged = 0, i;
	int ends[2], status = 0;
	uint64_t seq;
	pid_t child;
	char sign;
	bool ok = true;
	const rt_project *value;
	rt_buf text;

	if (r->options->dir == NULL)
		return true;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	n = group_lines(ops, &text, lines);
	close_all(r, false);
	fflush(NULL);
	if (pipe(ends) != 0 || (child = fork()) < 0)
		abort();
	if (child == 0) {
		close(ends[0]);
		crash_child(r, lines, n, at, ends[1]);
	}
	close(ends[1]);
	while (read(ends[0], &sign, 1) == 1)
		acknowledged++;
	close(ends[0]);
	waitpid(child, &status, 0);
	r->stats->crashes++;
	random_next(&r->chance);
	r->chance.state ^= 0x5851F42D4C957F2Du; /* or the same chance would fall twice */
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 9) {
		ok = wrong(r, "the process that was to die ended otherwise (%d)", status);
	} else {
		ok = open_all(r);
	}
	if (ok) {
		value = rt_engine_value(engine_of(r));
		seq = value->seq;
		rt_object_unref(value);
		for (i = 0; i < n && ok && (i < acknowledged || r->model.seq < seq); i++) {
			model_result ours;

			model_apply(&r->model, lines[i], RT_STR(""), &ours);
			r->stats->requests++;
			if (i > acknowledged)
				ok = wrong(r, "more than the one under way survived");
		}
		if (ok && r->model.seq != seq)
			ok = wrong(r, "after a crash the last row is %llu, not %llu (%zu acknowledged)",
				  (unsigned long long)seq, (unsigned long long)r->model.seq,
				  acknowledged);
	}
	ok = ok && learn_all(r) && look(r);
	rt_buf_deinit(&text);
	return ok;
}

static bool
restart(run *r)
{
	close_all(r, false);
	r->stats->restarts++;
	return open_all(r) && look(r);
}

/* How many steps a request took; SIZE_MAX: they disagreed. */
static size_t
steps_of(run *r, const char *line)
{
	rt_result theirs;
	model_result ours;
	size_t steps = SIZE_MAX;

	memset(&theirs, 0, sizeof(theirs));
	rt_engine_apply_text(engine_of(r), rt_str_of(line), RT_STR(""), RT_STR(""), &theirs);
	model_apply(&r->model, rt_str_of(line), RT_STR(""), &ours);
	if (compare(r, &theirs, &ours) && learn_all(r))
		steps = ours.status == RT_OK ? (size_t)ours.steps : 0;
	else if (steps == SIZE_MAX) {
		char why[sizeof(r->why)];

		memcpy(why, r->why, sizeof(why));
		wrong(r, "%s: %.3900s", line, why);
	}
	rt_result_deinit(&theirs);
	return steps;
}

/* Everything back: plainly, then document by document, which reaches the rest. The project
 * is then as it was made. Everything forth in the opposite order gives the same bytes. Not
 * where the capacity of undo was ever set: it would be in force again on the way. */
static bool
undo_all(run *r)
{
	size_t docs = r->model.doc_count, i;
	size_t *steps = calloc(docs + 1, sizeof(*steps));
	rt_buf before, after;
	char line[200];
	bool ok = true;
	model fresh;

	if (r->model.limited) { /* undo does not reach everything */
		free(steps);
		return look(r);
	}
	rt_buf_init(&before, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&after, rt_alloc_libc(), RT_BUF_UNLIMITED);
	model_canonical(&r->model, &before);
	steps[docs] = steps_of(r, "{\"op\":\"undo\",\"count\":1000000}");
	ok = steps[docs] != SIZE_MAX && look(r);
	for (i = 1; i <= docs && ok; i++) {
		size_t doc = i % docs; /* the project last */

		if (doc == 0)
			snprintf(line, sizeof(line),
				 "{\"op\":\"undo\",\"count\":1000000,\"scope\":\"project\"}");
		else
			snprintf(line, sizeof(line),
				 "{\"op\":\"undo\",\"count\":1000000,\"scope\":\"discussion\","
				 "\"discussion\":\"d%zu\"}",
				 doc);
		steps[doc] = steps_of(r, line);
		ok = steps[doc] != SIZE_MAX;
	}
	if (ok && look(r)) {
		rt_buf expected;

		rt_buf_init(&expected, rt_alloc_libc(), RT_BUF_UNLIMITED);
		model_init(&fresh, NOW_TEXT, 0);
		model_canonical(&fresh, &expected);
		model_deinit(&fresh);
		model_canonical(&r->model, &after);
		ok = rt_str_eq(rt_buf_str(&after), rt_buf_str(&expected)) ||
		     differ(r, "undo all", rt_buf_str(&after), rt_buf_str(&expected));
		rt_buf_deinit(&expected);
	} else {
		ok = false;
	}
	for (i = docs; i-- > 0 && ok;) {
		size_t doc = (i + 1) % docs;

		if (steps[doc] == 0)
			continue;
		if (doc == 0)
			snprintf(line, sizeof(line),
				 "{\"op\":\"redo\",\"count\":%zu,\"scope\":\"project\"}", steps[doc]);
		else
			snprintf(line, sizeof(line),
				 "{\"op\":\"redo\",\"count\":%zu,\"scope\":\"discussion\","
				 "\"discussion\":\"d%zu\"}",
				 steps[doc], doc);
		ok = steps_of(r, line) == steps[doc] || wrong(r, "%s did not bring all back", line);
	}
	if (ok && steps[docs] > 0) {
		snprintf(line, sizeof(line), "{\"op\":\"redo\",\"count\":%zu}", steps[docs]);
		ok = steps_of(r, line) == steps[docs] || wrong(r, "%s did not bring all back", line);
	}
	rt_buf_clear(&after);
	model_canonical(&r->model, &after);
	if (ok)
		ok = look(r) && (rt_str_eq(rt_buf_str(&before), rt_buf_str(&after)) ||
				 differ(r, "redo all", rt_buf_str(&after), rt_buf_str(&before)));
	rt_buf_deinit(&before);
	rt_buf_deinit(&after);
	free(steps);
	return ok;
}

static bool
run_line(run *r, rt_str line)
{
	rt_json_doc *doc = NULL;
	rt_str what = {NULL, 0};
	int64_t at = 0;
	yyjson_val *ops;
	bool ok = true;

	if (rt_json_read(rt_alloc_libc(), line, &doc, NULL) == RT_OK)
		what = rt_json_str(rt_json_get(rt_json_root(doc), "run"));
	if (what.size == 0) {
		rt_json_free(doc);
		return run_request(r, line);
	}
	ops = rt_json_get(rt_json_root(doc), "ops");
	rt_json_i64(rt_json_get(rt_json_root(doc), "at"), &at);
	if (rt_str_is(what, "restart"))
		ok = restart(r);
	else if (rt_str_is(what, "atomic"))
		ok = run_group(r, ops, true);
	else if (rt_str_is(what, "batch"))
		ok = run_group(r, ops, false);
	else if (rt_str_is(what, "crash"))
		ok = run_crash(r, ops, at);
	else if (rt_str_is(what, "undo all"))
		ok = undo_all(r);
	rt_json_free(doc);
	return ok;
}

/* ---- runs ---- */

static bool
run_begin(run *r, const model_run_options *options, model_run_stats *stats)
{
	const rt_project *value;

	memset(r, 0, sizeof(*r));
	r->options = options;
	r->stats = stats;
	r->env = (rt_env){now_us, random_bytes, r};
	random_ops_init(&r->chance, options->seed ^ 0xABCDEF);
	if (options->dir != NULL) {
		snprintf(r->path, sizeof(r->path), "%s/model-%ld-%llu.db", options->dir, (long)getpid(),
			 (unsigned long long)options->seed);
		remove_files(r->path);
	}
	r->engine_count = 1;
	if (!open_all(r)) {
		model_init(&r->model, NOW_TEXT, 0);
		return false;
	}
	value = rt_engine_value(engine_of(r));
	r->base_seq = value->seq;
	rt_object_unref(value);
	model_init(&r->model, NOW_TEXT, r->base_seq);
	return look(r);
}

static bool
is_error(void *ctx, const rt_finding *finding)
{
	run *r = ctx;

	if (strcmp(finding->severity, "note") == 0)
		return true;
	wrong(r, "fsck: %s %s: %s", finding->severity, finding->id, finding->text);
	return false;
}

static bool
run_end(run *r, bool ok)
{
	rt_error err = {0};

	if (ok && rt_engine_fsck(engine_of(r), is_error, r, &err) != RT_OK)
		ok = wrong(r, "fsck fails: %s", err.text);
	ok = ok && r->why[0] == '\0';
	close_all(r, true);
	model_deinit(&r->model);
	if (r->options->dir != NULL)
		remove_files(r->path);
	return ok;
}

/* What kind of disagreement it is: its words without numbers and what is in brackets. */
static int
kind_of(const char *why)
{
	unsigned hash = 5381, depth = 0, n = 0;

	for (; *why != '\0' && n < 60; why++) {
		depth += *why == '(';
		if (depth == 0 && (*why < '0' || *why > '9')) {
			hash = hash * 33 + (unsigned char)*why;
			n++;
		}
		depth -= *why == ')' && depth > 0;
	}
	return 10 + (int)(hash % 200);
}

bool
model_run_lines(const model_run_options *options, const rt_str *lines, size_t count,
		model_run_stats *stats)
{
	run r;
	model_run_options mine = *options;
	size_t i, at = 0;
	bool ok;

	if (count > 0 && rt_str_starts(lines[0], RT_STR("{\"run\":\"seed\""))) {
		rt_json_doc *doc = NULL;

		if (rt_json_read(rt_alloc_libc(), lines[0], &doc, NULL) == RT_OK)
			rt_json_u64(rt_json_get(rt_json_root(doc), "seed"), &mine.seed);
		rt_json_free(doc);
	}
	ok = run_begin(&r, &mine, stats);
	for (i = 0; i < count && ok; i++) {
		at = i;
		ok = run_line(&r, lines[i]);
		if (ok && (i % (options->check_every > 0 ? options->check_every : 1)) == 0)
			ok = look(&r);
	}
	if (ok)
		ok = look(&r);
	ok = run_end(&r, ok);
	if (!ok && options->kind != NULL)
		*options->kind = kind_of(r.why);
	if (!ok && !options->quiet)
		printf("line %zu: %.*s\n%s\n", at + 1, count > 0 ? (int)lines[at].size : 0,
		       count > 0 ? lines[at].ptr : "", r.why);
	return ok;
}

typedef struct line_list {
	rt_str *lines;
	size_t count;
	FILE *trace;
} line_list;

static void
list_add(line_list *list, rt_str line)
{
	if ((list->count & (list->count - 1)) == 0)
		list->lines = realloc(list->lines,
				      (list->count == 0 ? 1 : list->count * 2) * sizeof(rt_str));
	list->lines[list->count].ptr = malloc(line.size + 1);
	memcpy((char *)(uintptr_t)list->lines[list->count].ptr, line.ptr, line.size);
	list->lines[list->count++].size = line.size;
	if (list->trace != NULL) {
		fprintf(list->trace, "%.*s\n", RT_STR_ARG(line));
		fflush(list->trace);
	}
}

static void
list_free(line_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		free((void *)(uintptr_t)list->lines[i].ptr);
	free(list->lines);
	if (list->trace != NULL)
		fclose(list->trace);
}

static bool
is_json(rt_str line)
{
	rt_json_doc *doc = NULL;
	bool ok = rt_json_read(rt_alloc_libc(), line, &doc, NULL) == RT_OK;

	/* the name that an extract chooses is not known after a crash */
	ok = ok && (!rt_str_is(rt_json_str(rt_json_get(rt_json_root(doc), "op")),
			       "discussion.extract") ||
		    rt_json_get(rt_json_root(doc), "name") != NULL);
	rt_json_free(doc);
	return ok;
}

/* Several requests in one line. They are made for the state before the first of them. */
static void
make_group(random_ops *ops, const model *m, const char *what, int64_t at, unsigned count, rt_buf *out)
{
	rt_buf one;
	unsigned i;

	rt_buf_init(&one, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_f(out, "{\"run\":\"%s\",\"at\":%lld,\"ops\":[", what, (long long)at);
	ops->cautious = true;
	if (random_below(ops, 4) == 0)
		random_ops_one_kind(ops);
	for (i = 0; i < count; i++) {
		rt_buf_clear(&one);
		random_ops_make(ops, m, &one);
		if (!is_json(rt_buf_str(&one)))
			continue;
		rt_json_add_comma(out);
		rt_buf_add_str(out, rt_buf_str(&one));
	}
	ops->cautious = false;
	random_ops_any_kind(ops);
	rt_buf_add_c(out, "]}");
	rt_buf_deinit(&one);
}

static void
make_line(const model_run_options *o, random_ops *ops, const model *m, rt_buf *out)
{
	rt_buf_clear(out);
	if (o->restart_every > 0 && random_below(ops, (unsigned)o->restart_every) == 0) {
		rt_buf_add_c(out, "{\"run\":\"restart\"}");
	} else if (o->crash_every > 0 && o->dir != NULL &&
		   random_below(ops, (unsigned)o->crash_every) == 0) {
		int64_t at = 1 + (int64_t)random_below(ops, 60);

		if (random_below(ops, 2) == 0)
			at = -1 - (int64_t)random_below(ops, 8000);
		make_group(ops, m, "crash", at, 1 + random_below(ops, 12), out);
	} else if (o->group_every > 0 && random_below(ops, (unsigned)o->group_every) == 0) {
		make_group(ops, m, random_below(ops, 2) ? "atomic" : "batch", 0,
			   1 + random_below(ops, 5), out);
	} else {
		random_ops_make(ops, m, out);
	}
}

bool
model_run_seed(const model_run_options *options, model_run_stats *stats)
{
	run r;
	line_list list = {NULL, 0, NULL};
	random_ops ops;
	size_t i, looked = 0, every = options->check_every > 0 ? options->check_every : 1;
	bool ok;
	rt_buf line;
	char first[80];

	if (options->trace != NULL)
		list.trace = fopen(options->trace, "w");
	rt_buf_init(&line, rt_alloc_libc(), RT_BUF_UNLIMITED);
	random_ops_init(&ops, options->seed);
	snprintf(first, sizeof(first), "{\"run\":\"seed\",\"seed\":%llu}",
		 (unsigned long long)options->seed);
	list_add(&list, rt_str_of(first));
	ok = run_begin(&r, options, stats);
	for (i = 0; i < options->ops && ok; i++) {
		make_line(options, &ops, &r.model, &line);
		if (i + 1 == options->ops) {
			rt_buf_clear(&line);
			rt_buf_add_c(&line, "{\"run\":\"undo all\"}");
		}
		list_add(&list, rt_buf_str(&line));
		ok = run_line(&r, rt_buf_str(&line));
		if (ok && i - looked >= every) {
			looked = i;
			ok = look(&r);
		}
	}
	ok = run_end(&r, ok);
	if (!ok && options->known != NULL && options->known(r.why)) {
		ok = true;
	} else if (!ok) {
		printf("seed %llu, request %zu:\n%.*s\n%s\n", (unsigned long long)options->seed, i,
		       RT_STR_ARG(rt_buf_str(&line)), r.why);
		fflush(stdout);
		if (options->reproducer != NULL)
			model_run_shrink(options, list.lines, list.count);
	}
	rt_buf_deinit(&line);
	list_free(&list);
	return ok;
}

/* ---- shrinking ---- */

/* 0: they agree, 2: the process died of it, else the kind of disagreement. */
static int
try_lines(const model_run_options *options, const rt_str *lines, size_t count)
{
	int status = 0, verdict = 2;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		model_run_options mine = *options;
		model_run_stats stats = {0};

		mine.quiet = true;
		mine.check_every = 1;
		if (freopen("/dev/null", "w", stderr) == NULL)
			_exit(2);
		alarm(60);
		mine.kind = &verdict;
		_exit(model_run_lines(&mine, lines, count, &stats) ? 0 : verdict);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return 0;
	return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) >= 10)
		       ? WEXITSTATUS(status)
		       : 2;
}

void
model_run_shrink(const model_run_options *options, const rt_str *lines, size_t count)
{
	rt_str *mine = malloc((count + 1) * sizeof(*mine)), *less = malloc((count + 1) * sizeof(*less));
	int verdict = try_lines(options, lines, count);
	size_t n = count, size, at, i;
	char *dull = malloc((count + 1) * 64);
	unsigned budget = 4000;
	FILE *file;

	memcpy(mine, lines, count * sizeof(*mine));
	for (size = n / 2; verdict != 0 && size > 0; size = size > 1 || budget == 0 ? size / 2 : 0) {
		bool dropped = false;

		for (at = 1; at < n && budget > 0;) { /* the first line is the seed */
			size_t end = at + size < n ? at + size : n;

			memcpy(less, mine, at * sizeof(*mine));
			memcpy(less + at, mine + end, (n - end) * sizeof(*mine));
			budget--;
			if (try_lines(options, less, n - (end - at)) == verdict) {
				memcpy(mine, less, (n - (end - at)) * sizeof(*mine));
				n -= end - at;
				dropped = true;
			} else {
				at = end;
			}
		}
		if (dropped && size == 1)
			size = 2; /* once more */
	}
	/* What numbers the rest names must stay: put something dull in a line's place. */
	for (at = 1; at < n && verdict != 0 && budget > 0; at++) {
		rt_str old = mine[at];

		if (rt_str_starts(old, RT_STR("{\"op\":\"setting.set\",\"key\":\"-\"")))
			continue;
		snprintf(dull + at * 64, 64, "{\"op\":\"setting.set\",\"key\":\"-\",\"value\":%zu}", at);
		mine[at] = rt_str_of(dull + at * 64);
		budget--;
		if (try_lines(options, mine, n) != verdict)
			mine[at] = old;
	}
	file = fopen(options->reproducer, "w");
	if (file != NULL) {
		for (i = 0; i < n; i++)
			fprintf(file, "%.*s\n", RT_STR_ARG(mine[i]));
		fclose(file);
	}
	printf("%s: %zu lines of %zu%s\n", options->reproducer, n, count,
	       verdict == 0 ? " (it does not fail again)" : verdict == 2 ? " (the process dies)" : "");
	for (i = 0; i < n && n < 60; i++)
		if (!rt_str_starts(mine[i], RT_STR("{\"op\":\"setting.set\",\"key\":\"-\"")))
			printf("  %zu: %.*s\n", i, 
			       (int)(mine[i].size < 400 ? mine[i].size : 400), mine[i].ptr);
	if (verdict >= 10) {
		model_run_options loud = *options;
		model_run_stats stats = {0};

		loud.check_every = 1;
		loud.quiet = false;
		model_run_lines(&loud, mine, n, &stats);
	}
	fflush(stdout);
	free(mine);
	free(less);
	free(dull);
}
