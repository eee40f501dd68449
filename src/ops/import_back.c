/* SPDX-License-Identifier: MIT
 *
 * A failed or cancelled import: what it has written is undone.
 *
 * Undo stops at a step that somebody else made in the project meanwhile. The discussions from
 * before that step are removed from the catalogue by further rows of the import. Entries that
 * were added to older discussions stay there, and the error says so. */
#include <stdarg.h>
#include <stdio.h>

#include "log/history.h"
#include "ops/import_impl.h"

/* ---- what is added ---- */

rt_status
rt_import_note_made(rt_import *m, uint32_t disc, rt_error *err)
{
	if (m->dry_run)
		return RT_OK;
	if (m->made_count > 0 && m->made[m->made_count - 1].last + 1 == disc &&
	    disc - 1 > m->group_discs) {
		m->made[m->made_count - 1].last = disc;
		return RT_OK;
	}
	if (m->made_count == m->made_room) {
		size_t room = m->made_room == 0 ? 16 : m->made_room * 2;
		void *made = rt_resize(m->engine->alloc, m->made, room * sizeof(*m->made));

		if (made == NULL)
			return rt_fail(err, RT_NOMEM, "out of memory");
		m->made = made;
		m->made_room = room;
	}
	m->made[m->made_count++] = (rt_import_made){disc, disc};
	return RT_OK;
}

rt_status
rt_import_note_grown(rt_import *m, uint32_t disc, size_t count, rt_error *err)
{
	rt_import_grown *last = m->grown_count > 0 ? &m->grown[m->grown_count - 1] : NULL;

	if (last != NULL && last->seq == 0 && last->disc == disc) {
		last->entries += count;
		return RT_OK;
	}
	if (m->grown_count == m->grown_room) {
		size_t room = m->grown_room == 0 ? 16 : m->grown_room * 2;
		void *grown = rt_resize(m->engine->alloc, m->grown, room * sizeof(*m->grown));

		if (grown == NULL)
			return rt_fail(err, RT_NOMEM, "out of memory");
		m->grown = grown;
		m->grown_room = room;
	}
	m->grown[m->grown_count++] = (rt_import_grown){disc, 0, count};
	return RT_OK;
}

/* ---- what is left ---- */

/* What undo did not reach. */
typedef struct left {
	size_t made;   /* discussions of the import that are in the catalogue */
	uint32_t disc; /* one of them */
	size_t entries, grown; /* in so many older discussions */
	uint32_t grown_disc;
	bool settings;
} left;

/* The newest row of the import that a document's current state includes; 0: none. */
static rt_status
newest_row(rt_import *m, const rt_project *value, uint32_t number, uint64_t *out, rt_error *err)
{
	rt_history h = {0};
	rt_scope s;
	uint64_t at;

	rt_scope_init(&s, m->engine->alloc);
	RT_TRY(&s, rt_history_get(value, number, &h, &s.error));
	*out = 0;
	for (at = h.current; rt_ok(&s) && *out == 0 && at >= m->group;) {
		rt_record step = {0};
		rt_arena *arena;

		rt_scope_reset(&s);
		arena = rt_scope_arena(&s);
		RT_TRY(&s, rt_engine_record(m->engine, at, arena, &step, NULL, &s.error));
		if (rt_ok(&s) && (at == m->group || step.group == m->group))
			*out = at;
		else if (rt_ok(&s) && !rt_history_parent(&step, number, &at))
			at = 0;
	}
	return rt_scope_end(&s, err);
}

/* Numbers above those of the value that the last row was made on, or made, are of a row that was
 * not committed, and may be given to others by now. */
static void
forget_unwritten(rt_import *m)
{
	uint32_t count = (uint32_t)rt_project_disc_count(m->project);
	size_t i;

	for (i = 0; i < m->made_count; i++)
		if (m->made[i].last > count)
			m->made[i].last = count;
}

static rt_status
count_made(rt_import *m, const rt_project *value, left *l, rt_error *err)
{
	size_t i;
	rt_status st = RT_OK;

	l->made = 0;
	for (i = 0; st == RT_OK && i < m->made_count; i++) {
		rt_import_made *made = &m->made[i];
		uint32_t number;

		if (made->first <= m->group_discs) { /* the one that a new project has */
			uint64_t row;

			st = newest_row(m, value, made->first, &row, err);
			if (st == RT_OK && row == 0)
				made->last = made->first - 1; /* it is as before */
		}
		for (number = made->first; st == RT_OK && number <= made->last; number++)
			if (rt_project_cell(value, number)->present)
				l->disc = l->made++ == 0 ? number : l->disc;
	}
	return st;
}

static rt_status
count_left(rt_import *m, const rt_project *value, left *l, rt_error *err)
{
	uint64_t row = 0;
	size_t i;
	rt_status st;

	memset(l, 0, sizeof(*l));
	st = count_made(m, value, l, err);
	for (i = 0; st == RT_OK && i < m->grown_count && m->grown[i].seq != 0; i++) {
		const rt_import_grown *g = &m->grown[i];

		st = newest_row(m, value, g->disc, &row, err);
		if (st != RT_OK || g->seq > row)
			continue;
		l->entries += g->entries;
		l->grown += g->disc != l->grown_disc;
		l->grown_disc = g->disc;
	}
	if (st == RT_OK && m->fields_seq != 0) {
		st = newest_row(m, value, 0, &row, err);
		l->settings = st == RT_OK && row >= m->fields_seq;
	}
	return st;
}

/* ---- removing discussions ---- */

static bool
is_made(const rt_import *m, uint32_t number)
{
	size_t i;

	for (i = 0; i < m->made_count; i++)
		if (number >= m->made[i].first && number <= m->made[i].last)
			return true;
	return false;
}

/* A discussion that stays; a new one where there is none. */
static rt_status
find_other(rt_import *m, uint32_t *out, rt_error *err)
{
	uint32_t count = (uint32_t)rt_project_disc_count(m->c.now), number;

	for (number = 1; number <= count; number++)
		if (rt_project_cell(m->c.now, number)->present && !is_made(m, number)) {
			*out = number;
			return RT_OK;
		}
	return rt_import_new_disc(m, RT_STR("main"), RT_STR("main"), out, err);
}

static rt_status
remove_disc(rt_import *m, uint32_t number, rt_error *err)
{
	uint32_t other = 0;
	rt_status st = RT_OK;

	if (m->row_size == 0)
		st = find_other(m, &other, err);
	if (st == RT_OK && m->c.now->active == number) {
		if (other == 0)
			st = find_other(m, &other, err);
		if (st == RT_OK) {
			rt_change_set_number(&m->c, 0, 0, "active", other);
			st = rt_change_status(&m->c, err);
		}
	}
	if (st == RT_OK) {
		rt_change_clear(&m->c, 0, number, "present");
		st = rt_change_status(&m->c, err);
	}
	m->row_size += 48; /* about */
	return st == RT_OK && m->row_size >= m->row_max ? rt_import_next_row(m, err) : st;
}

static rt_status
remove_made(rt_import *m, rt_error *err)
{
	size_t i;
	uint32_t number;
	rt_status st;

	memset(&m->making, 0, sizeof(m->making));
	m->waiting_count = 0; /* bodies of the row that was not written */
	rt_buf_deinit(&m->bytes);
	rt_buf_init(&m->bytes, m->engine->alloc, RT_BUF_UNLIMITED);
	st = rt_import_row_open(m, err);
	if (st != RT_OK)
		return st;
	m->last = m->c.now->active;
	for (i = 0; st == RT_OK && i < m->made_count; i++)
		for (number = m->made[i].first; st == RT_OK && number <= m->made[i].last; number++)
			if (rt_project_cell(m->c.now, number)->present)
				st = remove_disc(m, number, err);
	if (st == RT_OK)
		st = rt_import_row_close(m, err);
	rt_import_row_cancel(m);
	return st;
}

/* ---- all ---- */

static void
add_text(rt_error *err, const char *format, ...) RT_PRINTF(2, 3);

static void
add_text(rt_error *err, const char *format, ...)
{
	size_t size;
	va_list ap;

	if (err == NULL)
		return;
	size = strlen(err->text);
	va_start(ap, format);
	(void)vsnprintf(err->text + size, sizeof(err->text) - size, format, ap);
	va_end(ap);
}

static rt_str
name_of(const rt_project *value, uint32_t number)
{
	rt_str name = rt_cell_name(rt_project_cell(value, number));

	return rt_str_at(name.ptr, rt_utf8_cut(name, 60));
}

static void
say_left(const left *l, const rt_project *value, const rt_error *why, rt_error *err)
{
	if (l->made > 0)
		add_text(err,
			 "; %zu discussion%s of the import could not be removed (%.100s): \"%.*s\"%s; "
			 "remove with: retake rm NAME",
			 l->made, l->made == 1 ? "" : "s", why->text,
			 RT_STR_ARG(name_of(value, l->disc)), l->made == 1 ? "" : " and others");
	if (l->grown == 1)
		add_text(err, "; %zu entr%s in discussion \"%.*s\"; importing again adds the rest",
			 l->entries, l->entries == 1 ? "y stays" : "ies stay",
			 RT_STR_ARG(name_of(value, l->grown_disc)));
	else if (l->grown > 1)
		add_text(err,
			 "; %zu entries stay in %zu discussions, one of them \"%.*s\"; importing again "
			 "adds the rest",
			 l->entries, l->grown, RT_STR_ARG(name_of(value, l->grown_disc)));
	if (l->settings)
		add_text(err, "; the project settings from the file stay (see: retake set)");
}

void
rt_import_undo(rt_import *m, rt_error *err)
{
	const rt_project *value;
	rt_error why = {0};
	left l = {0};
	bool removed = false;
	rt_status st;

	if (m->group == 0) {
		if (err != NULL && err->status == RT_INTERRUPTED)
			add_text(err, "; nothing was changed");
		return;
	}
	st = rt_engine_undo_group(m->engine, m->group, m->group_discs, rt_text_str(m->by), &why);
	value = rt_engine_value(m->engine);
	forget_unwritten(m);
	if (st == RT_OK)
		st = count_left(m, value, &l, &why);
	else /* whatever there is of it */
		(void)count_left(m, value, &l, NULL);
	if (l.made > 0) {
		st = remove_made(m, &why);
		rt_object_unref(value);
		value = rt_engine_value(m->engine);
		(void)count_made(m, value, &l, NULL);
		removed = l.made == 0;
	}
	if (st != RT_OK && l.made == 0 && l.grown == 0 && !l.settings)
		add_text(err, "; what was imported so far could not be undone (%.100s); see: retake ls",
			 why.text);
	else if (l.made > 0 || l.grown > 0 || l.settings)
		say_left(&l, value, &why, err);
	else if (err != NULL && err->status == RT_INTERRUPTED)
		add_text(err, "; what it had added was %s", removed ? "removed" : "undone");
	rt_object_unref(value);
}
