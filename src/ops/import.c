/* SPDX-License-Identifier: MIT
 *
 * Imports in batches. Each row of the log is a transaction of its own and holds as many
 * small discussions as fit, or a piece of a large one. The rows of an import are a group
 * (codec/record.h), which undo takes back as one step. */
#include "log/checkpoint.h"
#include "ops/import_impl.h"

#include <threads.h>

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

/* ---- bodies ---- */

rt_status
rt_import_flush(rt_import *m, rt_error *err)
{
	rt_store_row *rows;
	size_t i;
	rt_status st = RT_OK;

	if (m->bytes.status != RT_OK)
		return nomem(err);
	if (m->waiting_count == 0)
		return RT_OK;
	if (!m->dry_run) {
		rows = rt_new_array(m->engine->alloc, m->waiting_count, sizeof(*rows));
		if (rows == NULL)
			return nomem(err);
		for (i = 0; i < m->waiting_count; i++)
			rows[i] = (rt_store_row){.number = m->waiting[i].number,
						 .entry = m->waiting[i].entry,
						 .data = rt_str_at(m->bytes.ptr + m->waiting[i].at,
								   m->waiting[i].size)};
		st = m->engine->store->ops->append(m->engine->store, m->engine->project,
						   m->c.base->seq, NULL, 0, rows, m->waiting_count,
						   NULL, err);
		rt_free(m->engine->alloc, rows);
	}
	m->waiting_count = 0;
	rt_buf_clear(&m->bytes);
	return st;
}

rt_status
rt_import_body(rt_import *m, const rt_node *node, uint32_t entry, uint64_t *out_number,
	       rt_error *err)
{
	size_t at = m->bytes.size;

	if (m->waiting_count == m->waiting_room) {
		size_t room = m->waiting_room == 0 ? 256 : m->waiting_room * 2;
		void *waiting = rt_resize(m->engine->alloc, m->waiting, room * sizeof(*m->waiting));

		if (waiting == NULL)
			return nomem(err);
		m->waiting = waiting;
		m->waiting_room = room;
	}
	m->bodies_size += node->body.size + 1;
	if (!m->dry_run) {
		rt_buf_add_byte(&m->bytes, node->body_format);
		rt_buf_add_str(&m->bytes, node->body);
	}
	m->waiting[m->waiting_count].at = at;
	m->waiting[m->waiting_count].size = node->body.size + 1;
	m->waiting[m->waiting_count].number = *out_number = m->c.next_body++;
	m->waiting[m->waiting_count++].entry = entry;
	return m->bytes.size >= RT_IMPORT_BODIES_MAX ? rt_import_flush(m, err) : RT_OK;
}

/* ---- rows ---- */

static int64_t
now_us(const rt_import *m)
{
	return m->engine->env->now_us(m->engine->env->ctx);
}

/* Is what is being made still as we left it? Others may have undone it, or changed one that
 * was there before. */
static rt_status
check_making(const rt_import *m, rt_error *err)
{
	const rt_disc *disc;
	rt_status st;

	if (m->making.disc == 0 || m->making.step == 0)
		return RT_OK;
	st = rt_project_disc(m->project, m->making.disc, &disc, err);
	if (st == RT_NOT_FOUND || (st == RT_OK && disc->history.current != m->making.step))
		st = rt_fail(err, RT_CONFLICT,
			     "what was being imported was changed or undone meanwhile; import the "
			     "file again");
	return st;
}

/* The newest value, and what we know of names brought up to it. */
static rt_status
look(rt_import *m, rt_error *err)
{
	const rt_project *before = m->project;
	bool others;
	rt_status st;

	if (m->dry_run && m->begun)
		return RT_OK;
	if (m->dry_run) {
		m->project = rt_engine_value(m->engine);
	} else {
		st = rt_engine_newest(m->engine, &m->project, err);
		if (st != RT_OK) {
			m->project = before;
			return st;
		}
	}
	others = m->begun && m->project->seq != m->last_seq;
	if (!m->begun) {
		m->pristine = m->project->seq == 0;
		m->spare = m->pristine ? 1 : 0;
	}
	st = others ? check_making(m, err) : RT_OK;
	if (st == RT_OK && (!m->begun || others) &&
	    rt_disc_names_update(&m->names, before, m->project) != RT_OK)
		st = nomem(err);
	rt_object_unref(before);
	return st;
}

rt_status
rt_import_row_open(rt_import *m, rt_error *err)
{
	const rt_store_ops *ops = m->engine->store->ops;
	bool began = false;
	rt_status st = RT_OK;

	RT_ASSERT(!m->open);
	if (!m->dry_run) {
		rt_engine_lock_writer(m->engine);
		st = ops->begin(m->engine->store, err);
		began = st == RT_OK;
	}
	m->opened_us = now_us(m);
	if (st == RT_OK)
		st = look(m, err);
	if (st != RT_OK) {
		if (began)
			ops->cancel(m->engine->store);
		if (!m->dry_run)
			rt_engine_unlock_writer(m->engine);
		return st;
	}
	rt_scope_reset(&m->scope);
	rt_change_init(&m->c, &m->scope, m->engine, m->project);
	m->c.by = m->by->size > 0 ? rt_text_str(m->by) : m->c.by;
	m->c.group = m->group;
	m->c.group_discs = m->group_discs;
	if (m->group == 0)
		m->group_discs = (uint32_t)rt_project_disc_count(m->project);
	if (m->begun && m->project->next_entry == m->last_entry && m->next_entry > m->c.next_entry)
		m->c.next_entry = m->next_entry; /* numbers that are given out already */
	m->row_size = m->bodies_size = 0;
	m->open = m->begun = true;
	return RT_OK;
}

rt_status
rt_import_hide(rt_import *m, rt_error *err)
{
	if (!m->making.made || m->making.hidden)
		return RT_OK;
	m->making.hidden = true;
	rt_change_clear(&m->c, 0, m->making.disc, "present");
	return rt_change_status(&m->c, err);
}

/* Without a store: what was counted can be forgotten, but for a discussion that goes on. */
static void
close_dry(rt_import *m)
{
	if (m->making.disc != 0) {
		rt_object_unref(m->project);
		m->project = rt_object_ref(m->c.now);
	}
	m->next_entry = m->c.next_entry;
	m->last_entry = m->project->next_entry;
	rt_change_deinit(&m->c);
	m->open = false;
}

/* A process that waits for the store looks every few milliseconds: let it see the store free
 * once, however fast our batches come. */
static void
make_way(const rt_import *m)
{
	int64_t left_us = m->closed_us + RT_IMPORT_GAP_US - now_us(m);
	struct timespec nap;

	if (m->dry_run || m->group == 0 || left_us <= 0)
		return;
	if (left_us > RT_IMPORT_GAP_US) /* the clock was set back */
		left_us = RT_IMPORT_GAP_US;
	nap.tv_sec = 0;
	nap.tv_nsec = left_us * 1000;
	(void)thrd_sleep(&nap, NULL);
}

/* What the rows so far have brought into memory is written as a checkpoint, and dropped. */
static rt_status
settle(rt_import *m, rt_error *err)
{
	const rt_project *now;
	rt_status st;

	if (m->dry_run || m->unsettled < RT_IMPORT_SETTLE)
		return RT_OK;
	make_way(m);
	rt_engine_lock_writer(m->engine);
	st = rt_engine_settle(m->engine, m->settled, err);
	rt_engine_unlock_writer(m->engine);
	m->closed_us = now_us(m);
	if (st == RT_BUSY || st == RT_FULL) /* it is only put off */
		return RT_OK;
	now = rt_engine_value(m->engine);
	if (st == RT_OK && now->seq == m->last_seq) {
		rt_object_unref(m->project);
		m->project = now;
		now = NULL;
	}
	rt_object_unref(now);
	m->unsettled = 0;
	m->settled = m->making.disc != 0 ? m->making.disc
					 : (uint32_t)rt_project_disc_count(m->project);
	return st;
}

/* Rows become shorter where they take long, and longer where they do not. */
static void
adapt(rt_import *m)
{
	int64_t took = now_us(m) - m->opened_us;

	if (took > 30000 && m->row_max / 2 >= RT_IMPORT_ROW_MIN)
		m->row_max /= 2;
	else if (took < 15000 && m->row_size >= m->row_max / 2 && m->row_max * 5 / 4 <= RT_IMPORT_ROW_MAX)
		m->row_max = m->row_max * 5 / 4;
}

/* What there is to be written of the open row. */
static rt_status
write_row(rt_import *m, const rt_project **out, rt_error *err)
{
	const rt_disc *disc;
	rt_status st = RT_OK;

	*out = NULL;
	if (m->making.disc != 0)
		st = rt_import_hide(m, err);
	if (st == RT_OK)
		st = rt_import_flush(m, err);
	if (st != RT_OK || (m->c.effect_count == 0 && m->c.view_count == 0))
		return st;
	*out = rt_change_write(&m->c, RT_STR("import"), m->last != 0 ? m->last : m->making.disc);
	st = rt_change_status(&m->c, err);
	if (st == RT_OK && m->making.disc != 0) {
		st = rt_project_disc(*out, m->making.disc, &disc, err);
		if (st == RT_OK)
			m->making.step = disc->history.current;
	}
	return st;
}

rt_status
rt_import_row_close(rt_import *m, rt_error *err)
{
	const rt_store_ops *ops = m->engine->store->ops;
	const rt_project *next = NULL;
	size_t i;
	rt_status st;

	RT_ASSERT(m->open);
	if (m->dry_run) {
		close_dry(m);
		return RT_OK;
	}
	st = write_row(m, &next, err);
	m->next_entry = m->c.next_entry;
	rt_change_deinit(&m->c);
	m->open = false;
	if (st == RT_OK && next != NULL)
		st = ops->commit(m->engine->store, err);
	else
		ops->cancel(m->engine->store);
	if (st == RT_OK) {
		if (next != NULL) {
			rt_object_unref(m->project);
			m->project = next;
			if (m->group == 0)
				m->group = next->seq;
			for (i = m->grown_count; i > 0 && m->grown[i - 1].seq == 0; i--)
				m->grown[i - 1].seq = next->seq;
		}
		rt_engine_publish(m->engine, rt_object_ref(m->project));
		m->last_seq = m->project->seq;
		m->last_entry = m->project->next_entry;
		m->unsettled += m->row_size / 64;
		adapt(m);
	} else {
		rt_object_unref(next);
	}
	rt_engine_unlock_writer(m->engine);
	m->closed_us = now_us(m);
	return st;
}

void
rt_import_row_cancel(rt_import *m)
{
	if (!m->open)
		return;
	rt_change_deinit(&m->c);
	m->open = false;
	if (m->dry_run)
		return;
	m->engine->store->ops->cancel(m->engine->store);
	rt_engine_unlock_writer(m->engine);
}

rt_status
rt_import_next_row(rt_import *m, rt_error *err)
{
	rt_status st = rt_import_row_close(m, err);

	if (st == RT_OK)
		st = settle(m, err);
	if (st != RT_OK)
		return st;
	make_way(m);
	return rt_import_row_open(m, err);
}

rt_status
rt_import_turn(rt_layer *l, rt_error *err)
{
	rt_import *m = l->all;
	rt_status st;

	if (l->whole || (m->row_size < m->row_max && m->bodies_size < RT_IMPORT_BODIES_MAX))
		return RT_OK;
	st = rt_import_next_row(m, err);
	if (st == RT_OK && m->project->next_entry != m->last_entry) /* others made entries */
		st = rt_layer_renumber(l, m->last_entry, err);
	return st;
}

/* ---- all ---- */

void
rt_import_name(rt_import *m, uint32_t number)
{
	const rt_cell *cell = rt_project_cell(m->c.now, number);
	int rank = m->newest == number ? 2 : m->making.entries > 0 ? 1 : 0;
	rt_str name = cell != NULL ? rt_cell_name(cell) : rt_str_at("", 0);
	size_t size = rt_utf8_cut(name, sizeof(m->result.discussion) - 1);

	if (rank < m->named)
		return;
	m->named = rank;
	if (size > 0)
		memcpy(m->result.discussion, name.ptr, size);
	m->result.discussion[size] = '\0';
}

static void
import_free(rt_import *m)
{
	if (m == NULL)
		return;
	rt_import_row_cancel(m);
	rt_known_deinit(&m->known);
	rt_disc_names_deinit(&m->names);
	rt_buf_deinit(&m->bytes);
	rt_free(m->engine->alloc, m->waiting);
	rt_free(m->engine->alloc, m->made);
	rt_free(m->engine->alloc, m->grown);
	rt_object_unref(m->project);
	rt_scope_deinit(&m->scope);
	rt_text_unref(m->name);
	rt_text_unref(m->by);
	rt_free(m->engine->alloc, m);
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
		return rt_fail(err, RT_READ_ONLY, "%s is open for reading only",
			       engine->store->place);
	st = options->dry_run ? RT_OK : rt_engine_refresh(engine, err);
	if (st != RT_OK)
		return st;
	m = rt_new0(engine->alloc, sizeof(*m));
	if (m == NULL)
		return nomem(err);
	m->engine = engine;
	m->dry_run = options->dry_run;
	m->expected = options->discussions;
	m->hashes = options->hashes;
	m->hash_count = options->hash_count;
	m->keep_numbers = true;
	m->row_max = RT_IMPORT_ROW_FIRST;
	m->known.alloc = engine->alloc;
	rt_disc_names_init(&m->names, engine->alloc);
	rt_buf_init(&m->bytes, engine->alloc, RT_BUF_UNLIMITED);
	rt_scope_init(&m->scope, engine->alloc);
	m->name = (rt_text *)(uintptr_t)rt_text_new(engine->alloc, options->name);
	m->by = (rt_text *)(uintptr_t)rt_text_new(engine->alloc, options->by);
	if (m->name == NULL || m->by == NULL)
		st = nomem(err);
	if (st == RT_OK) { /* what others make from now on is not the same conversation */
		m->project = rt_engine_value(engine);
		st = rt_known_init(&m->known, engine->alloc, m->project, err);
	}
	/* The table of names gets its full size here, where no other writer waits for it. */
	if (st == RT_OK && (rt_disc_names_reserve(&m->names, m->project,
						  names_expected(m)) != RT_OK ||
			    rt_disc_names_update(&m->names, NULL, m->project) != RT_OK))
		st = nomem(err);
	if (st != RT_OK) {
		import_free(m);
		return st;
	}
	*out = m;
	return RT_OK;
}

/* What goes into the last row: which discussion is active. */
static rt_status
add_end(rt_import *m, rt_error *err)
{
	uint32_t active = m->active != 0 && m->index > 1 ? m->active : m->newest;
	const rt_disc *disc;
	rt_status st = RT_OK;

	m->ended = true;
	if (active != 0 && (rt_project_cell(m->c.now, active) == NULL ||
			    !rt_project_cell(m->c.now, active)->present))
		active = 0;
	if (active != 0) {
		rt_change_set_number(&m->c, 0, 0, "active", active);
		st = rt_change_status(&m->c, err);
	}
	/* the one that was there for the time in between goes, unless somebody has used it */
	if (st != RT_OK || m->spare <= 1 || active == 0 || active == m->spare)
		return st;
	st = rt_project_disc(m->c.now, m->spare, &disc, err);
	if (st == RT_OK && disc->history.current == 0 &&
	    rt_project_cell(m->c.now, m->spare)->present) {
		rt_change_clear(&m->c, 0, m->spare, "present");
		st = rt_change_status(&m->c, err);
	}
	return st;
}

/* Fields of the project: a new one takes them over, and any one from a file without
 * discussions. */
static rt_status
add_fields(rt_import *m, const rt_outlines *batch, rt_error *err)
{
	rt_layer l = {.engine = m->engine, .c = &m->c, .all = m, .result = &m->result,
		      .whole = true};
	size_t before;
	rt_status st = m->open ? RT_OK : rt_import_row_open(m, err);

	if (st != RT_OK || (!m->pristine && m->index > 0))
		return st;
	before = m->c.effect_count;
	st = rt_layer_fields(&l, 0, batch->fields, batch->field_count, err);
	m->result.settings += m->c.effect_count - before;
	if (m->c.effect_count > before && m->fields_seq == 0)
		m->fields_seq = m->c.base->seq + 1;
	return st;
}

static rt_status
add(rt_import *m, const rt_outlines *batch, rt_error *err)
{
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; i < batch->count; i++) {
		uint32_t number = rt_import_wanted_number(&batch->items[i]);

		if (m->keep_numbers && (i > 0 || !m->making.goes_on) && !batch->items[i].more)
			m->keep_numbers = number > m->last_number;
		if (number > 0)
			m->last_number = number;
	}
	for (i = 0; st == RT_OK && i < batch->count; i++) {
		const rt_outline *o = &batch->items[i];
		uint32_t number = 0;

		if (!m->making.goes_on) {
			m->index++;
			number = m->keep_numbers ? rt_import_wanted_number(o) : m->index == 1 ? 1 : 0;
		}
		st = rt_import_outline(m, o, number, err);
		if (st == RT_OK && batch->has_active && i == batch->active)
			m->active = m->last;
	}
	if (st == RT_OK && batch->field_count > 0)
		st = add_fields(m, batch, err);
	if (st == RT_OK && m->expected > 0 && m->done >= m->expected && m->open)
		st = add_end(m, err);
	if (st == RT_OK && m->open)
		st = rt_import_row_close(m, err);
	return st == RT_OK ? settle(m, err) : st;
}

rt_status
rt_import_add(rt_import *m, const rt_outlines *batch, rt_error *err)
{
	make_way(m);
	return add(m, batch, err);
}

rt_status
rt_import_end(rt_import *m, rt_import_result *out, rt_error *err)
{
	rt_engine *engine = m->engine;
	rt_outline empty;
	bool dry_run = m->dry_run;
	rt_import_result result;
	const rt_project *value;
	rt_status st = RT_OK;

	if (m->making.goes_on) { /* it was to go on, and does not */
		memset(&empty, 0, sizeof(empty));
		st = rt_import_outline(m, &empty, 0, err);
	}
	if (st == RT_OK && !m->ended && m->begun && (m->newest != 0 || m->active != 0)) {
		if (!m->open)
			st = rt_import_row_open(m, err);
		if (st == RT_OK)
			st = add_end(m, err);
	}
	if (st == RT_OK && m->open)
		st = rt_import_row_close(m, err);
	if (st != RT_OK) {
		rt_import_cancel(m, err);
		return st;
	}
	value = rt_engine_value(engine);
	m->result.seq = dry_run ? 0 : value->seq;
	rt_object_unref(value);
	result = m->result;
	import_free(m);
	if (!dry_run) {
		rt_engine_lock_writer(engine);
		if (result.entries > RT_IMPORT_SETTLE) /* as little as before stays in memory */
			(void)rt_engine_settle(engine, 0, NULL);
		else
			rt_engine_maybe_checkpoint(engine, engine->checkpoint_every);
		rt_engine_unlock_writer(engine);
	}
	*out = result;
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

	if (st == RT_OK) {
		st = rt_import_add(m, outlines, err);
		if (st == RT_OK)
			return rt_import_end(m, out, err);
		rt_import_cancel(m, err);
	}
	return st;
}
