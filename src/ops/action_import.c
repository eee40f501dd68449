/* SPDX-License-Identifier: MIT
 *
 * Import: a file is read twice. The first pass only counts: a file in another format, or larger
 * than allowed, changes nothing, and hooks are called with the number of its discussions. The
 * second pass imports it, batch by batch.
 *
 * Memory for reading comes out of a budget, so no file can take more. */
#include "base/budget.h"
#include "ops/action_impl.h"
#include "ops/import.h"
#include "ops/import_known.h"

void
rt_action_add_file(const rt_action_file *file, rt_buf *members, rt_buf *subject)
{
	rt_json_put_c(members, "format", file->format->name);
	rt_hook_call_add_known(members, "path", file->path);
	rt_hook_subject_add(subject, "format", rt_str_of(file->format->name));
}

/* ---- scanning ---- */

/* A pass over a file. */
typedef struct pass {
	const rt_action_import_options *options;
	const rt_apply_context *with;
	rt_action_scan *looked; /* the first pass */
	bool goes_on;          /* the next outline continues one */
	bool hashed;           /* and the hash of all of it is needed */
	uint64_t hash;         /* so far */
	rt_import *import;     /* the second */
	size_t done, all;      /* entries */
} pass;

static bool
is_stopped(const rt_apply_context *with)
{
	return with != NULL && with->stop != NULL && with->stop(with->ctx);
}

static rt_status
stopped(rt_error *err)
{
	return rt_fail(err, RT_INTERRUPTED, "the import was cancelled; nothing was changed");
}

/* What the file does not say. */
static void
add_given(const rt_action_import_options *options, const rt_outlines *batch)
{
	size_t i;

	for (i = 0; i < batch->count; i++) {
		if (batch->items[i].source.size == 0)
			batch->items[i].source = options->source;
		if (options->name.size > 0)
			batch->items[i].called = options->name;
		else if (batch->items[i].name.size == 0 && batch->items[i].called.size == 0)
			batch->items[i].called = options->fallback;
	}
}

static rt_status
check_limits(const rt_action_import_options *options, const rt_action_scan *looked, rt_error *err)
{
	if (options->discussions_max > 0 && looked->discussions > options->discussions_max)
		return rt_fail(err, RT_LIMIT,
			       "the file has more than %zu discussions, the limit for an import; split the file",
			       options->discussions_max);
	if (options->entries_max > 0 && looked->entries > options->entries_max)
		return rt_fail(err, RT_LIMIT,
			       "the file has more than %zu entries, the limit for an import; split the file",
			       options->entries_max);
	return RT_OK;
}

/* Conversations in pieces: whether one is known has to be decided before its last piece. */
static rt_status
hash_piece(pass *p, rt_outline *o, rt_error *err)
{
	rt_action_scan *looked = p->looked;

	if (!p->goes_on)
		p->hashed = o->more && o->source.size == 0;
	if (!p->hashed)
		return RT_OK;
	if (o->takes == NULL && rt_outline_repair(looked->alloc, o, NULL, NULL) != RT_OK)
		return rt_fail(err, RT_NOMEM, "out of memory while importing");
	p->hash = rt_known_hash(o, p->goes_on ? p->hash : 0); /* as the import does */
	if (o->more)
		return RT_OK;
	if (rt_array_add(looked->alloc, &looked->hashes, &looked->hash_count, &looked->hash_room,
			 sizeof(*looked->hashes)) == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory while importing");
	looked->hashes[looked->hash_count - 1] = p->hash;
	return RT_OK;
}

static rt_status
scan_batch(void *ctx, const rt_outlines *batch, rt_error *err)
{
	pass *p = ctx;
	size_t i;
	rt_status st;

	if (is_stopped(p->with))
		return stopped(err);
	add_given(p->options, batch);
	if (p->looked->name == NULL && batch->count > 0) {
		const rt_outline *first = &batch->items[0];

		p->looked->name = rt_text_new(p->looked->alloc, first->called.size > 0
									? first->called
									: first->name);
		if (p->looked->name == NULL)
			return rt_fail(err, RT_NOMEM, "out of memory while importing");
	}
	for (i = 0; i < batch->count; i++) {
		p->looked->discussions += !p->goes_on;
		p->looked->entries += batch->items[i].node_count;
		st = hash_piece(p, &batch->items[i], err);
		if (st != RT_OK)
			return st;
		p->goes_on = batch->items[i].more;
	}
	return check_limits(p->options, p->looked, err);
}

static rt_status
read_file(const rt_alloc *alloc, const rt_action_file *file, const rt_input *in, rt_outlines_fn fn,
	  pass *p, rt_report *report, rt_error *err)
{
	rt_budget budget;
	rt_status st;

	rt_budget_init(&budget, alloc, RT_ACTION_IMPORT_MEMORY);
	st = rt_format_stream(file->format, &budget.alloc, in, fn, p, report, err);
	return rt_budget_explain(&budget, st, "this import", err);
}

rt_status
rt_action_import_scan(const rt_alloc *alloc, const rt_apply_context *with,
		      const rt_action_file *file, const rt_input *in,
		      const rt_action_import_options *options, rt_action_scan *out,
		      rt_report *report, rt_error *err)
{
	pass p = {.options = options, .with = with, .looked = out};
	rt_input counted = *in;
	rt_status st;

	memset(out, 0, sizeof(*out));
	out->alloc = alloc;
	counted.is_counted = true;
	st = read_file(alloc, file, &counted, scan_batch, &p, report, err);
	if (st == RT_OK && p.goes_on) { /* rt_import_end ends it the same way */
		rt_outline empty = {0};

		st = hash_piece(&p, &empty, err);
	}
	if (st != RT_OK)
		rt_action_scan_deinit(out);
	return st;
}

void
rt_action_scan_deinit(rt_action_scan *looked)
{
	rt_text_unref(looked->name);
	looked->name = NULL;
	if (looked->alloc != NULL)
		rt_free(looked->alloc, looked->hashes);
	looked->hashes = NULL;
	looked->hash_count = looked->hash_room = 0;
}

/* ---- importing ---- */

static rt_status
ask_import(rt_action_state *a, const rt_action_file *file, const rt_action_scan *scan, rt_str name,
	   rt_error *err)
{
	rt_place_ids room;
	rt_hook_call h = rt_action_hook_call(a, (rt_place){0, 0}, &room);
	rt_buf *members, *subject;
	rt_scope s;

	if (!rt_hook_call_wants(&h, "import.before"))
		return RT_OK;
	rt_scope_init(&s, a->engine->alloc);
	members = rt_scope_buf(&s);
	subject = rt_scope_buf(&s);
	rt_action_add_file(file, members, subject);
	rt_json_put_str(members, "discussion", name.size > 0 ? name : rt_text_str(scan->name));
	rt_json_put_u64(members, "discussions", scan->discussions);
	(void)rt_hook_call_ask(&s, &h, "import.before", members, rt_scope_str(&s, subject));
	return rt_scope_end(&s, err);
}

static rt_status
import_batch(void *ctx, const rt_outlines *batch, rt_error *err)
{
	pass *p = ctx;
	size_t i;
	rt_status st;

	if (is_stopped(p->with))
		return rt_fail(err, RT_INTERRUPTED, "the import was cancelled");
	add_given(p->options, batch);
	st = rt_import_add(p->import, batch, err);
	for (i = 0; i < batch->count; i++)
		p->done += batch->items[i].node_count;
	if (st == RT_OK && p->options->progress != NULL)
		p->options->progress(p->options->progress_ctx, p->done, p->all);
	return st;
}

static rt_status
import_file(rt_engine *engine, const rt_apply_context *with, const rt_action_file *file,
	    const rt_input *in, const rt_action_import_options *options,
	    const rt_action_scan *looked, rt_import_result *out, rt_error *err)
{
	rt_import_options own = {.name = options->name,
				 .by = with != NULL ? with->by : rt_str_at(NULL, 0),
				 .file = looked->discussions == 1 ? options->file : rt_str_at(NULL, 0),
				 .dry_run = options->dry_run,
				 .keep_active = options->keep_active,
				 .discussions = looked->discussions,
				 .hashes = looked->hashes,
				 .hash_count = looked->hash_count};
	pass p = {.options = options, .with = with, .all = looked->entries};
	rt_status st = rt_import_begin(engine, &own, &p.import, err);

	if (st != RT_OK)
		return st;
	st = read_file(rt_engine_alloc(engine), file, in, import_batch, &p, NULL, err);
	if (st == RT_OK)
		return rt_import_end(p.import, out, err);
	rt_import_cancel(p.import, err);
	return st;
}

rt_status
rt_action_import(rt_engine *engine, const rt_apply_context *with, const rt_action_file *file,
		 const rt_input *in, const rt_action_import_options *options,
		 const rt_action_scan *looked, rt_import_result *out, rt_error *err)
{
	rt_action_state a = {.engine = engine, .with = with};
	const rt_project *before;
	rt_status st;

	if (with == NULL || with->hooks == NULL || options->dry_run)
		return import_file(engine, with, file, in, options, looked, out, err);
	before = rt_engine_value(engine);
	st = ask_import(&a, file, looked, options->name, err);
	if (st == RT_OK)
		st = import_file(engine, with, file, in, options, looked, out, err);
	if (st == RT_OK)
		rt_action_notify_switch(&a, before->active,
					rt_cell_name(rt_project_cell(before, before->active)),
					out->discussions > 0);
	rt_object_unref(before);
	return st;
}
