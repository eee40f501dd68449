/* SPDX-License-Identifier: MIT
 *
 * Rows of an import. Each is a separate transaction and contains as many small discussions as fit,
 * or a piece of a large one. */
#include "ops/import_impl.h"

#include <stdio.h>
#include <threads.h>

#include "log/checkpoint.h"

void *
rt_import_grow(rt_import *m, void *items, size_t count, size_t *capacity, size_t size)
{
	void *larger = rt_ok(&m->s) ? rt_scope_grow(&m->memory, items, count, capacity, size) : NULL;

	rt_scope_adopt(&m->s, &m->memory);
	return larger;
}

/* ---- bodies ---- */

void
rt_import_flush(rt_import *m)
{
	rt_store *store = m->engine->store;
	rt_scope *s = &m->s;

	rt_scope_note(s, m->bytes.status);
	if (m->waiting_count == 0 || !rt_ok(s))
		return;
	if (!m->dry_run) {
		rt_store_row *rows = rt_scope_array(s, m->waiting_count, sizeof(*rows));

		for (size_t i = 0; rows != NULL && i < m->waiting_count; i++) {
			const rt_import_waiting *w = &m->waiting[i];

			rows[i] = (rt_store_row){.number = w->number,
						 .entry = w->entry,
						 .data = rt_str_at(m->bytes.ptr + w->at, w->size)};
		}
		RT_TRY(s, store->ops->append(store, m->engine->project, m->c.base->seq, NULL, 0, rows,
					     m->waiting_count, NULL, &s->error));
	}
	m->waiting_count = 0;
	rt_buf_clear(&m->bytes);
}

uint64_t
rt_import_body(rt_import *m, const rt_node *node, uint32_t entry)
{
	rt_import_waiting *waiting = rt_import_grow(m, m->waiting, m->waiting_count,
						    &m->waiting_capacity, sizeof(*waiting));
	uint64_t number = m->c.next_body++;

	if (waiting == NULL)
		return number;
	m->waiting = waiting;
	m->waiting[m->waiting_count++] = (rt_import_waiting){
		.at = m->bytes.size, .size = node->body.size + 1, .number = number, .entry = entry};
	m->bodies_size += node->body.size + 1;
	if (!m->dry_run) {
		rt_buf_add_byte(&m->bytes, node->body_format);
		rt_buf_add_str(&m->bytes, node->body);
	}
	if (m->bytes.size >= RT_IMPORT_BODIES_MAX)
		rt_import_flush(m);
	return number;
}

/* ---- pacing ---- */

static int64_t
now_us(const rt_import *m)
{
	return m->engine->env->now_us(m->engine->env->ctx);
}

/* A process that waits for the store polls every few milliseconds: it must find the store unlocked
 * once, however fast our batches follow each other. */
void
rt_import_yield(const rt_import *m)
{
	int64_t left_us = m->closed_us + RT_IMPORT_GAP_US - now_us(m);

	if (m->dry_run || m->group == 0 || left_us <= 0)
		return;
	if (left_us > RT_IMPORT_GAP_US) /* the clock was set back */
		left_us = RT_IMPORT_GAP_US;
	(void)thrd_sleep(&(struct timespec){.tv_nsec = left_us * 1000}, NULL);
}

void
rt_import_settle(rt_import *m)
{
	const rt_project *now;
	rt_scope *s = &m->s;
	rt_status st;

	if (m->dry_run || m->unsettled < RT_IMPORT_SETTLE || !rt_ok(s))
		return;
	rt_import_yield(m);
	rt_engine_lock_writer(m->engine);
	st = rt_engine_settle(m->engine, m->settled, &s->error);
	rt_engine_unlock_writer(m->engine);
	m->closed_us = now_us(m);
	if (st == RT_BUSY || st == RT_FULL) /* after the next row, then */
		return;
	rt_scope_note(s, st);
	now = rt_engine_value(m->engine);
	if (rt_ok(s) && now->seq == m->last_seq)
		rt_project_replace(&m->project, rt_object_ref(now));
	rt_object_unref(now);
	m->unsettled = 0;
	m->settled = m->making.disc != 0 ? m->making.disc
					 : (uint32_t)rt_project_disc_count(m->project);
}

/* Rows become shorter if they take long, and longer otherwise. */
static void
adapt(rt_import *m)
{
	int64_t took_us = now_us(m) - m->opened_us;

	if (took_us > 30000 && m->row_max / 2 >= RT_IMPORT_ROW_MIN)
		m->row_max /= 2;
	else if (took_us < 15000 && m->row_size >= m->row_max / 2 &&
		 m->row_max * 5 / 4 <= RT_IMPORT_ROW_MAX)
		m->row_max = m->row_max * 5 / 4;
}

/* ---- opening ---- */

/* Is the discussion in progress unchanged? Others may have undone it, or changed an existing
 * one. */
static void
check_making(rt_import *m)
{
	const rt_disc *disc;
	rt_status st;

	if (m->making.disc == 0 || m->making.step == 0 || !rt_ok(&m->s))
		return;
	st = rt_project_disc(m->project, m->making.disc, &disc, &m->s.error);
	if (st == RT_NOT_FOUND || (st == RT_OK && disc->history.current != m->making.step))
		rt_scope_fail(&m->s, RT_CONFLICT,
			      "the imported data was changed or undone in the meantime; import "
			      "the file again");
	rt_scope_note(&m->s, st);
}

/* The newest value, and the table of names brought up to it. */
static void
find_newest(rt_import *m)
{
	const rt_project *before = m->project, *now = NULL;
	rt_scope *s = &m->s;
	bool others;

	if (m->dry_run && m->begun)
		return;
	if (m->dry_run)
		now = rt_engine_value(m->engine);
	else
		RT_TRY(s, rt_engine_newest(m->engine, &now, &s->error));
	if (!rt_ok(s))
		return;
	m->project = now;
	others = m->begun && now->seq != m->last_seq;
	if (!m->begun) {
		m->pristine = now->seq == 0;
		m->spare = m->pristine ? 1 : 0;
	}
	if (others)
		check_making(m);
	if (!m->begun || others)
		RT_TRY(s, rt_disc_names_update(&m->names, before, now));
	rt_object_unref(before);
}

void
rt_import_row_open(rt_import *m)
{
	rt_store *store = m->engine->store;
	rt_scope *s = &m->s;

	RT_ASSERT(!m->open);
	if (!rt_ok(s))
		return;
	rt_scope_reset(s);
	if (!m->dry_run) {
		rt_engine_lock_writer(m->engine);
		RT_TRY(s, store->ops->begin(store, &s->error));
	}
	m->opened_us = now_us(m);
	if (rt_ok(s))
		find_newest(m);
	if (!rt_ok(s)) {
		if (!m->dry_run) {
			store->ops->cancel(store);
			rt_engine_unlock_writer(m->engine);
		}
		return;
	}
	rt_change_init(&m->c, s, m->engine, m->project);
	m->c.by = m->by.size > 0 ? m->by : m->c.by;
	m->c.group = m->group;
	m->c.group_in_project = true;
	m->c.group_discs = m->group_discs;
	if (m->group == 0)
		m->group_discs = (uint32_t)rt_project_disc_count(m->project);
	if (m->begun && m->project->next_entry == m->last_entry && m->next_entry > m->c.next_entry)
		m->c.next_entry = m->next_entry; /* numbers that are already assigned */
	m->row_size = m->bodies_size = 0;
	m->open = m->begun = true;
}

/* ---- closing ---- */

/* Afterwards the change has a scope, but no value: it may be used only after a failure. */
static void
end_change(rt_import *m)
{
	m->next_entry = m->c.next_entry;
	rt_change_deinit(&m->c);
	m->c.scope = &m->s;
	m->open = false;
}

/* Without a store: counted items can be dropped, except for a discussion that continues. */
static void
close_dry(rt_import *m)
{
	if (m->making.disc != 0)
		rt_project_replace(&m->project, rt_object_ref(m->c.now));
	end_change(m);
	m->last_entry = m->project->next_entry;
}

void
rt_import_keep_file(rt_import *m)
{
	rt_buf *before = rt_scope_buf(&m->s);
	char name[32];

	if (m->dry_run || m->file.size == 0 || m->last == 0 || !rt_ok(&m->s))
		return;
	if (rt_imported_file(m->engine, m->last, before, NULL) == RT_OK &&
	    rt_str_eq(rt_buf_str(before), m->file))
		return;
	snprintf(name, sizeof(name), RT_IMPORTED_PREFIX "d%u", m->last);
	RT_TRY(&m->s, m->engine->store->ops->write(m->engine->store, rt_engine_side(m->engine, name),
						   m->file, &m->s.error));
}

/* Returns the value after the row; NULL: there was nothing to write, or a failure. */
static const rt_project *
write_row(rt_import *m)
{
	const rt_project *next;
	const rt_disc *disc;
	rt_scope *s = &m->s;

	if (m->making.disc != 0)
		rt_import_hide(m);
	rt_import_flush(m);
	if (!rt_ok(s) || (m->c.effect_count == 0 && m->c.view_count == 0))
		return NULL;
	next = rt_change_write(&m->c, RT_STR(RT_STEP_IMPORT), m->last != 0 ? m->last : m->making.disc);
	if (next != NULL && m->making.disc != 0 &&
	    RT_TRY(s, rt_project_disc(next, m->making.disc, &disc, &s->error)) == RT_OK)
		m->making.step = disc->history.current;
	if (next != NULL)
		rt_import_keep_file(m);
	return next;
}

static void
row_is_written(rt_import *m, const rt_project *next)
{
	rt_project_replace(&m->project, next);
	if (m->group == 0)
		m->group = next->seq;
	for (size_t i = m->grown_count; i > 0 && m->grown[i - 1].seq == 0; i--)
		m->grown[i - 1].seq = next->seq;
}

void
rt_import_row_close(rt_import *m)
{
	rt_store *store = m->engine->store;
	const rt_project *next;
	rt_scope *s = &m->s;

	RT_ASSERT(m->open);
	if (m->dry_run) {
		close_dry(m);
		return;
	}
	next = write_row(m);
	end_change(m);
	if (next != NULL)
		rt_store_end(store, s);
	else
		store->ops->cancel(store);
	if (rt_ok(s)) {
		if (next != NULL)
			row_is_written(m, next);
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
}

void
rt_import_row_cancel(rt_import *m)
{
	if (!m->open)
		return;
	end_change(m);
	if (m->dry_run)
		return;
	m->engine->store->ops->cancel(m->engine->store);
	rt_engine_unlock_writer(m->engine);
}

bool
rt_import_row_is_full(const rt_import *m)
{
	return m->row_size >= m->row_max || m->bodies_size >= RT_IMPORT_BODIES_MAX;
}

void
rt_import_next_row(rt_import *m)
{
	if (!rt_ok(&m->s))
		return;
	rt_import_row_close(m);
	rt_import_settle(m);
	if (!rt_ok(&m->s))
		return;
	rt_import_yield(m);
	rt_import_row_open(m);
}

/* ---- discussions ---- */

void
rt_import_hide(rt_import *m)
{
	if (!m->making.made || m->making.hidden)
		return;
	m->making.hidden = true;
	rt_change_clear(&m->c, 0, m->making.disc, "present");
}

void
rt_import_use_name(rt_import *m, uint32_t disc)
{
	RT_TRY(&m->s, rt_disc_names_add(&m->names, m->c.now, disc));
}

uint32_t
rt_import_new_disc(rt_import *m, rt_str name, rt_str take_name)
{
	uint32_t number = (uint32_t)rt_project_disc_count(m->c.now) + 1;
	rt_scope *s = &m->s;

	if (number > RT_IMPORT_DISCS_MAX)
		rt_scope_fail(s, RT_LIMIT, "a project can have at most %d discussions",
			      (int)RT_IMPORT_DISCS_MAX);
	rt_change_emit(&m->c, &(rt_effect){.kind = RT_EFFECT_NEW,
					   .sub = number,
					   .name = rt_scope_copy(s, name),
					   .take_name = rt_scope_copy(s, take_name)});
	rt_import_use_name(m, number);
	return number;
}
