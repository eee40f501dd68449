/* SPDX-License-Identifier: MIT
 *
 * Undoing a failed or cancelled import.
 *
 * Undo stops at a step that another writer made in the project meanwhile. The discussions from
 * before that step are removed from the catalogue by further rows of the import. Entries that
 * were added to older discussions stay there, and the error says so. */
#include <stdarg.h>
#include <stdio.h>

#include "log/history.h"
#include "ops/import_impl.h"

/* ---- additions ---- */

void
rt_import_note_made(rt_import *m, uint32_t disc)
{
	rt_import_made *made;

	if (m->dry_run)
		return;
	if (m->made_count > 0 && m->made[m->made_count - 1].last + 1 == disc &&
	    disc - 1 > m->group_discs) {
		m->made[m->made_count - 1].last = disc;
		return;
	}
	made = rt_import_grow(m, m->made, m->made_count, &m->made_capacity, sizeof(*made));
	if (made == NULL)
		return;
	m->made = made;
	m->made[m->made_count++] = (rt_import_made){disc, disc};
}

void
rt_import_note_grown(rt_import *m, uint32_t disc, size_t count)
{
	rt_import_grown *grown = m->grown_count > 0 ? &m->grown[m->grown_count - 1] : NULL;

	if (grown != NULL && grown->seq == 0 && grown->disc == disc) {
		grown->entries += count;
		return;
	}
	grown = rt_import_grow(m, m->grown, m->grown_count, &m->grown_capacity, sizeof(*grown));
	if (grown == NULL)
		return;
	m->grown = grown;
	m->grown[m->grown_count++] = (rt_import_grown){disc, 0, count};
}

/* ---- remains ---- */

/* The part that undo did not reach. */
typedef struct leftover {
	size_t made;   /* discussions of the import that are in the catalogue */
	uint32_t disc; /* one of them */
	size_t entries, grown; /* number of older discussions */
	uint32_t grown_disc;
	bool settings;
} leftover;

/* The newest row of the import that a document's current state includes; 0: none. */
static uint64_t
newest_row(rt_import *m, const rt_project *value, uint32_t number, rt_scope *s)
{
	rt_history h = {0};
	uint64_t at, found = 0;
	rt_scope one; /* a step */

	RT_TRY(s, rt_history_get(value, number, &h, &s->error));
	if (!rt_ok(s))
		return 0;
	rt_scope_init(&one, m->engine->alloc);
	for (at = h.current; rt_ok(&one) && found == 0 && at >= m->group;) {
		rt_record step = {0};

		rt_scope_reset(&one);
		rt_arena *arena = rt_scope_arena(&one);
		RT_TRY(&one, rt_engine_record(m->engine, at, arena, &step, NULL, &one.error));
		if (rt_ok(&one) && (at == m->group || step.group == m->group))
			found = at;
		else if (rt_ok(&one) && !rt_history_parent(&step, number, &at))
			at = 0;
	}
	rt_scope_deinit(&one);
	rt_scope_adopt(s, &one);
	return found;
}

/* Numbers above those of the value that the last row was made on, or made, belong to a row that was
 * not committed, and may be in use by others now. */
static void
forget_unwritten(rt_import *m)
{
	uint32_t count = (uint32_t)rt_project_disc_count(m->project);

	for (size_t i = 0; i < m->made_count; i++)
		if (m->made[i].last > count)
			m->made[i].last = count;
}

static void
count_made(rt_import *m, const rt_project *value, leftover *l, rt_scope *s)
{
	l->made = 0;
	for (size_t i = 0; rt_ok(s) && i < m->made_count; i++) {
		rt_import_made *made = &m->made[i];

		/* The one that a new project has may be in its original state. */
		if (made->first <= m->group_discs && newest_row(m, value, made->first, s) == 0 &&
		    rt_ok(s))
			made->last = made->first - 1;
		for (uint32_t number = made->first; rt_ok(s) && number <= made->last; number++)
			if (rt_project_cell(value, number)->present)
				l->disc = l->made++ == 0 ? number : l->disc;
	}
}

static void
count_left(rt_import *m, const rt_project *value, leftover *l, rt_scope *s)
{
	count_made(m, value, l, s);
	for (size_t i = 0; rt_ok(s) && i < m->grown_count && m->grown[i].seq != 0; i++) {
		const rt_import_grown *g = &m->grown[i];
		uint64_t row = newest_row(m, value, g->disc, s);

		if (!rt_ok(s) || g->seq > row)
			continue;
		l->entries += g->entries;
		l->grown += g->disc != l->grown_disc;
		l->grown_disc = g->disc;
	}
	if (rt_ok(s) && m->fields_seq != 0)
		l->settings = newest_row(m, value, 0, s) >= m->fields_seq;
}

/* ---- removing discussions ---- */

static bool
is_made(const rt_import *m, uint32_t number)
{
	for (size_t i = 0; i < m->made_count; i++)
		if (number >= m->made[i].first && number <= m->made[i].last)
			return true;
	return false;
}

/* A discussion that stays; a new one if there is none. */
static uint32_t
find_other(rt_import *m)
{
	uint32_t count = (uint32_t)rt_project_disc_count(m->c.now);

	for (uint32_t number = 1; number <= count; number++)
		if (rt_project_cell(m->c.now, number)->present && !is_made(m, number))
			return number;
	return rt_import_new_disc(m, RT_STR("main"), RT_STR("main"));
}

static void
remove_disc(rt_import *m, uint32_t number)
{
	bool is_active = m->c.now->active == number;
	uint32_t other = m->row_size == 0 || is_active ? find_other(m) : 0;

	if (is_active)
		rt_change_set_number(&m->c, 0, 0, "active", other);
	rt_change_clear(&m->c, 0, number, "present");
	m->row_size += 48; /* about */
	if (m->row_size >= m->row_max)
		rt_import_next_row(m);
}

static void
remove_made(rt_import *m)
{
	m->making = (rt_making){0};
	m->waiting_count = 0; /* bodies of the row that was not written */
	rt_buf_deinit(&m->bytes);
	rt_buf_init(&m->bytes, m->engine->alloc, RT_BUF_UNLIMITED);
	rt_scope_reset(&m->s);
	rt_import_row_open(m);
	if (!rt_ok(&m->s))
		return;
	m->last = m->c.now->active;
	for (size_t i = 0; i < m->made_count; i++)
		for (uint32_t n = m->made[i].first; rt_ok(&m->s) && n <= m->made[i].last; n++)
			if (rt_project_cell(m->c.now, n)->present)
				remove_disc(m, n);
	if (rt_ok(&m->s))
		rt_import_row_close(m);
	rt_import_row_cancel(m);
}

/* ---- the error message ---- */

static void add_text(rt_error *err, const char *format, ...) RT_PRINTF(2, 3);

static void
add_text(rt_error *err, const char *format, ...)
{
	char text[RT_ERROR_TEXT_SIZE];
	va_list ap;

	if (err == NULL)
		return;
	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	rt_error_rewrite(err, err->advice, "%.*s%s", (int)rt_error_message_size(err), err->text,
			 text);
}

static rt_str
name_of(const rt_project *value, uint32_t number)
{
	rt_str name = rt_cell_name(rt_project_cell(value, number));

	return rt_str_at(name.ptr, rt_utf8_cut(name, 60));
}

static void
add_leftover(const leftover *l, const rt_project *value, const rt_error *why, rt_error *err)
{
	if (l->made > 0)
		add_text(err,
			 "; %zu discussion%s of the import could not be removed (%.100s): \"%.*s\"%s; "
			 "remove with: retake rm NAME",
			 l->made, l->made == 1 ? "" : "s", why->text,
			 RT_STR_ARG(name_of(value, l->disc)), l->made == 1 ? "" : " and others");
	if (l->grown == 1)
		add_text(err, "; %zu entr%s in discussion \"%.*s\"; importing again adds the rest",
			 l->entries, l->entries == 1 ? "y is kept" : "ies are kept",
			 RT_STR_ARG(name_of(value, l->grown_disc)));
	else if (l->grown > 1)
		add_text(err,
			 "; %zu entries are kept in %zu discussions, one of them \"%.*s\"; importing again adds the rest",
			 l->entries, l->grown, RT_STR_ARG(name_of(value, l->grown_disc)));
	if (l->settings)
		add_text(err, "; the project settings from the file are kept (see: retake set)");
}

void
rt_import_undo(rt_import *m, rt_error *err)
{
	const rt_project *value;
	leftover l = {0};
	bool removed = false;
	rt_scope *s = &m->s, look;

	if (m->group == 0) {
		if (err != NULL && err->status == RT_INTERRUPTED)
			add_text(err, "; nothing was changed");
		return;
	}
	rt_scope_reset(s);
	RT_TRY(s, rt_engine_undo_group(m->engine, m->group, m->group_discs, m->by, &s->error));
	value = rt_engine_value(m->engine);
	forget_unwritten(m);
	rt_scope_init(&look, m->engine->alloc);
	count_left(m, value, &l, &look); /* also after a failed undo: as far as they can be
					  * counted */
	rt_scope_adopt(s, &look);
	if (l.made > 0) {
		remove_made(m);
		rt_object_unref(value);
		value = rt_engine_value(m->engine);
		rt_scope_reset(&look);
		count_made(m, value, &l, &look);
		removed = l.made == 0;
	}
	rt_scope_deinit(&look);
	if (err != NULL && !rt_ok(s) && l.made == 0 && l.grown == 0 && !l.settings)
		rt_error_rewrite(err, "see: retake ls",
				 "%.*s; the entries imported so far could not be removed (%.100s)",
				 (int)rt_error_message_size(err), err->text, s->error.text);
	else if (l.made > 0 || l.grown > 0 || l.settings)
		add_leftover(&l, value, &s->error, err);
	else if (err != NULL && err->status == RT_INTERRUPTED)
		add_text(err, "; its additions were %s", removed ? "removed" : "undone");
	rt_object_unref(value);
}
