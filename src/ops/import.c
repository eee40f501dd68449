/* SPDX-License-Identifier: MIT
 *
 * Imports in batches. The rows of an import are a group (codec/record.h), which is undone as one
 * step. */
#include "log/checkpoint.h"
#include "ops/import_impl.h"

static void
import_free(rt_import *m)
{
	rt_import_row_cancel(m);
	rt_known_deinit(&m->known);
	rt_disc_names_deinit(&m->names);
	rt_buf_deinit(&m->bytes);
	rt_object_unref(m->project);
	rt_scope_deinit(&m->s);
	rt_scope_deinit(&m->memory);
	rt_free(m->engine->alloc, m);
}

/* The status so far, with its message. */
static rt_status
status_of(const rt_import *m, rt_error *err)
{
	if (!rt_ok(&m->s) && err != NULL)
		*err = m->s.error;
	return m->s.status;
}

static size_t
names_expected(const rt_import *m)
{
	size_t more = m->expected < RT_IMPORT_DISCS_MAX ? m->expected : RT_IMPORT_DISCS_MAX;

	return rt_project_disc_count(m->project) + more + 1;
}

rt_status
rt_import_begin(rt_engine *engine, const rt_import_options *options, rt_import **out, rt_error *err)
{
	rt_import *m;
	rt_status st;

	if (engine->read_only && !options->dry_run)
		return rt_fail(err, RT_READ_ONLY, "%s is open read-only",
			       engine->store->place);
	st = options->dry_run ? RT_OK : rt_engine_refresh(engine, err);
	if (st != RT_OK)
		return st;
	m = rt_new0(engine->alloc, sizeof(*m));
	if (m == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	rt_scope *s = &m->s;
	rt_scope_init(s, engine->alloc);
	rt_scope_init(&m->memory, engine->alloc);
	m->engine = engine;
	m->dry_run = options->dry_run;
	m->keep_active = options->keep_active;
	m->expected = options->discussions;
	m->hashes = options->hashes;
	m->hash_count = options->hash_count;
	m->keep_numbers = true;
	m->row_max = RT_IMPORT_ROW_FIRST;
	m->known.alloc = engine->alloc;
	rt_disc_names_init(&m->names, engine->alloc);
	rt_buf_init(&m->bytes, engine->alloc, RT_BUF_UNLIMITED);
	m->name = rt_scope_copy(&m->memory, options->name);
	m->by = rt_scope_copy(&m->memory, options->by);
	m->file = rt_scope_copy(&m->memory, options->file);
	rt_scope_adopt(s, &m->memory);
	/* Entries that others add from now on make it another conversation. */
	m->project = rt_engine_value(engine);
	RT_TRY(s, rt_known_init(&m->known, engine->alloc, m->project, &s->error));
	if (rt_ok(s))
		rt_import_look_written(m);
	/* The table of names gets its full size here, where no other writer waits for it. */
	RT_TRY(s, rt_disc_names_reserve(&m->names, names_expected(m)));
	RT_TRY(s, rt_disc_names_update(&m->names, NULL, m->project));
	st = status_of(m, err);
	if (st == RT_OK)
		*out = m;
	else
		import_free(m);
	return st;
}

/* The last changes: which discussion is active. A file that was imported before leaves it. */
static void
add_end(rt_import *m)
{
	uint32_t active = m->active != 0 && m->index > 1 ? m->active : m->newest;
	const rt_cell *cell = active != 0 ? rt_project_cell(m->c.now, active) : NULL;
	const rt_disc *disc;

	m->ended = true;
	if (cell == NULL || !cell->present ||
	    ((m->keep_active || m->result.known > 0) && !m->pristine))
		return;
	rt_change_set_number(&m->c, 0, 0, "active", active);
	/* Removes the one that existed in the meantime, unless it has been used. */
	if (m->spare > 1 && active != m->spare &&
	    RT_TRY(&m->s, rt_project_disc(m->c.now, m->spare, &disc, &m->s.error)) == RT_OK &&
	    disc->history.current == 0 && rt_project_cell(m->c.now, m->spare)->present)
		rt_change_clear(&m->c, 0, m->spare, "present");
}

/* Fields of the project: they are for a new project, and for any project from a file without
 * discussions. */
static void
add_fields(rt_import *m, const rt_outlines *batch)
{
	size_t before;

	if (!m->open)
		rt_import_row_open(m);
	if (!rt_ok(&m->s) || (!m->pristine && m->index > 0))
		return;
	before = m->c.effect_count;
	rt_import_fields(m, 0, batch->fields, batch->field_count);
	for (size_t i = before; i < m->c.effect_count; i++) {
		rt_str key = m->c.effects[i].key; /* others are kept for the file's format */

		m->result.settings += rt_str_is(key, "roles") ||
				      rt_str_starts(key, RT_STR("setting."));
	}
	if (m->c.effect_count > before && m->fields_seq == 0)
		m->fields_seq = m->c.base->seq + 1;
}

/* Does the source number its discussions upwards? */
static void
look_at_numbers(rt_import *m, const rt_outlines *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		uint32_t number = rt_import_wanted_number(&batch->items[i]);

		if (m->keep_numbers && (i > 0 || !m->making.goes_on) && !batch->items[i].more)
			m->keep_numbers = number > m->last_number;
		if (number > 0)
			m->last_number = number;
	}
}

rt_status
rt_import_add(rt_import *m, const rt_outlines *batch, rt_error *err)
{
	rt_import_yield(m);
	look_at_numbers(m, batch);
	for (size_t i = 0; rt_ok(&m->s) && i < batch->count; i++) {
		rt_outline *o = &batch->items[i];
		uint32_t number = 0;

		if (!m->making.goes_on) {
			m->index++;
			number = m->keep_numbers ? rt_import_wanted_number(o) : m->index == 1 ? 1 : 0;
		}
		rt_import_outline(m, o, number);
		if (batch->has_active && i == batch->active)
			m->active = m->last;
	}
	if (rt_ok(&m->s) && batch->field_count > 0)
		add_fields(m, batch);
	if (rt_ok(&m->s) && m->expected > 0 && m->done >= m->expected && m->open)
		add_end(m);
	if (rt_ok(&m->s) && m->open)
		rt_import_row_close(m);
	rt_import_settle(m);
	return status_of(m, err);
}

rt_status
rt_import_end(rt_import *m, rt_import_result *out, rt_error *err)
{
	rt_engine *engine = m->engine;
	bool dry_run = m->dry_run;
	rt_status st;

	if (m->making.goes_on) /* the next outline is missing */
		rt_import_outline(m, &(rt_outline){0}, 0);
	if (rt_ok(&m->s) && !m->ended && m->begun && (m->newest != 0 || m->active != 0)) {
		if (!m->open)
			rt_import_row_open(m);
		if (rt_ok(&m->s))
			add_end(m);
	}
	if (rt_ok(&m->s) && m->open)
		rt_import_row_close(m);
	if (m->group == 0) /* nothing was new: the file may have been moved */
		rt_import_keep_file(m);
	st = status_of(m, err);
	if (st != RT_OK) {
		rt_import_cancel(m, err);
		return st;
	}
	const rt_project *value = rt_engine_value(engine);
	m->result.seq = dry_run ? 0 : value->seq;
	rt_object_unref(value);
	*out = m->result;
	import_free(m);
	if (dry_run)
		return RT_OK;
	rt_engine_lock_writer(engine);
	if (out->entries > RT_IMPORT_SETTLE) /* no more stays in memory than before */
		(void)rt_engine_settle(engine, 0, NULL);
	else
		rt_engine_maybe_checkpoint(engine, engine->checkpoint_every);
	rt_engine_unlock_writer(engine);
	return RT_OK;
}

void
rt_import_cancel(rt_import *m, rt_error *err)
{
	if (m == NULL)
		return;
	rt_import_row_cancel(m);
	rt_import_undo(m, err);
	import_free(m);
}

rt_status
rt_engine_import(rt_engine *engine, const rt_outlines *outlines, rt_str name, bool dry_run,
		 rt_import_result *out, rt_error *err)
{
	return rt_engine_import_by(engine, outlines, name, rt_str_at(NULL, 0), dry_run, out, err);
}

rt_status
rt_engine_import_by(rt_engine *engine, const rt_outlines *outlines, rt_str name, rt_str by,
		    bool dry_run, rt_import_result *out, rt_error *err)
{
	rt_import_options options = {.name = name, .by = by, .dry_run = dry_run,
				     .discussions = outlines->count};
	rt_import *m = NULL;
	rt_status st = rt_import_begin(engine, &options, &m, err);

	if (st != RT_OK)
		return st;
	st = rt_import_add(m, outlines, err);
	if (st == RT_OK)
		return rt_import_end(m, out, err);
	rt_import_cancel(m, err);
	return st;
}

void
rt_import_result_put(rt_buf *out, const rt_import_result *result)
{
	rt_json_put_u64(out, "discussions", result->discussions);
	rt_json_put_u64(out, "entries", result->entries);
	rt_json_put_u64(out, "hidden", result->hidden);
	rt_json_put_u64(out, "takes", result->takes);
	rt_json_put_u64(out, "known", result->known);
	rt_json_put_u64(out, "settings", result->settings);
}
