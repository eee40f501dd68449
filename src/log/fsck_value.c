/* SPDX-License-Identifier: MIT
 *
 * Values: the invariants of each, and whether two of them are equal. Numbers of names and
 * order keys may differ; everything visible is compared. */
#include <stdio.h>  /* snprintf */
#include <stdlib.h> /* qsort */

#include "log/fsck_impl.h"

enum { RUN = 256 /* slots at a time */ };

static rt_str
disc_name(const rt_project *value, uint32_t number)
{
	const rt_cell *cell = rt_project_cell(value, number);

	return cell != NULL ? rt_cell_name(cell) : RT_STR("?");
}

/* ---- one value ---- */

static void
check_fields(rt_fsck *f, const rt_fields *fields, const char *whose)
{
	for (size_t i = 0; i < rt_fields_count(fields); i++) {
		rt_json_doc *doc = NULL;
		rt_status st = rt_json_read(f->engine->alloc, rt_fields_value(fields, i), &doc,
					    NULL);

		if (st == RT_USAGE || st == RT_LIMIT)
			rt_fsck_report(f, "error", "field-unreadable",
				       "field \"%.*s\" of %s is not JSON",
				       RT_STR_ARG(rt_fields_name(fields, i)), whose);
		rt_json_free(doc);
	}
}

static void
check_history(rt_fsck *f, const rt_history *h, uint32_t document, rt_scope *s)
{
	rt_arena *arena = rt_scope_arena(s);
	rt_record row;
	rt_error why;
	rt_status st;

	if (arena == NULL)
		return;
	if (h->current != 0 && f->log_findings == 0 &&
	    (h->current >= f->row_count || f->rows[h->current].kind != RT_ROW_STEP ||
	     (!f->rows[h->current].many && f->rows[h->current].about != document)))
		rt_fsck_report(f, "error", "history-current",
			       "document %u is at row %llu, which is not one of its steps", document,
			       (unsigned long long)h->current);
	if (h->redo_row == 0)
		return;
	st = rt_engine_record(f->engine, h->redo_row, arena, &row, NULL, &why);
	if (st == RT_NOMEM)
		rt_scope_nomem(s);
	else if (st != RT_OK || h->redo_move >= row.move_count ||
		 row.moves[h->redo_move].direction >= 0)
		rt_fsck_report(f, "error", "history-redo",
			       "redo in document %u refers to move %u of row %llu, which is not "
			       "a move",
			       document, h->redo_move, (unsigned long long)h->redo_row);
}

static int
entry_order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void
check_take(rt_fsck *f, const rt_project *value, const rt_disc *disc, const rt_take *take,
	   rt_scope *s)
{
	size_t count = rt_seq_count(take->slots);
	uint32_t *entries = rt_new_array(f->engine->alloc, count + 1, sizeof(*entries));
	char where[80];
	rt_slot slots[RUN];

	if (entries == NULL) {
		rt_scope_nomem(s);
		return;
	}
	(void)snprintf(where, sizeof(where), "d%u t%u", disc->number, take->number);
	for (size_t from = 0; rt_ok(s) && from < count && !f->stopped; from += RUN) {
		size_t run = count - from < RUN ? count - from : RUN;

		RT_TRY(s, rt_seq_copy(take->slots, from, run, slots, &s->error));
		for (size_t i = 0; rt_ok(s) && i < run; i++) {
			bool found = false;
			size_t at = 0;

			entries[from + i] = slots[i].entry;
			rt_fsck_slot(f, &slots[i], where);
			RT_TRY(s, rt_take_find(value, take, slots[i].entry, &at, NULL, &found,
					       &s->error));
			if (rt_ok(s) && (!found || at != from + i))
				rt_fsck_report(
					f, "error", "entry-unfindable",
					"entry %u is at %zu in %s, but cannot be found there",
					slots[i].entry, from + i + 1, where);
		}
	}
	if (rt_ok(s) && !f->stopped && count > 1) {
		qsort(entries, count, sizeof(*entries), entry_order);
		for (size_t i = 1; i < count; i++)
			if (entries[i] == entries[i - 1])
				rt_fsck_report(f, "error", "entry-repeated",
					       "entry %u appears in %s twice", entries[i], where);
	}
	rt_free(f->engine->alloc, entries);
}

static void
check_labels(rt_fsck *f, const rt_project *value, const rt_disc *disc, rt_scope *s)
{
	for (size_t i = 0; rt_ok(s) && i < rt_seq_count(disc->labels); i++) {
		rt_slot pair;
		rt_str label;
		bool knew = false;

		RT_TRY(s, rt_seq_get(disc->labels, i, &pair, &s->error));
		RT_TRY(s, rt_project_name(value, (uint32_t)pair.body, &label, &s->error));
		RT_TRY(s, rt_disc_knew(value, disc, (uint32_t)pair.key, &knew, &s->error));
		if (rt_ok(s) && !knew)
			rt_fsck_report(
				f, "warning", "label-dangling",
				"label \"%.*s\" of \"%.*s\" is on entry %llu, which never existed",
				RT_STR_ARG(label), RT_STR_ARG(disc_name(value, disc->number)),
				(unsigned long long)pair.key);
	}
}

static void
check_disc(rt_fsck *f, const rt_project *value, const rt_disc *disc, rt_scope *s)
{
	const rt_take *active = rt_disc_active(disc);
	rt_str name = disc_name(value, disc->number);
	char whose[80];
	bool found = true;
	size_t at;

	if (active == NULL || !active->present)
		rt_fsck_report(f, "error", "active-missing",
			       "the active take of \"%.*s\" is not present", RT_STR_ARG(name));
	if (active != NULL && disc->head != RT_HEAD_TIP && disc->head != RT_HEAD_START)
		RT_TRY(s, rt_take_find(value, active, disc->head, &at, NULL, &found, &s->error));
	if (rt_ok(s) && !found)
		rt_fsck_report(f, "error", "head-missing",
			       "the head of \"%.*s\" is on entry %u, which is not in its take",
			       RT_STR_ARG(name), disc->head);
	for (uint32_t i = 1; rt_ok(s) && i <= rt_disc_take_count(disc) && !f->stopped; i++) {
		const rt_take *take = rt_disc_take(disc, i);

		if (take->present && rt_disc_take_named(disc, rt_text_str(take->name)) != i)
			rt_fsck_report(f, "warning", "name-duplicate",
				       "two takes of \"%.*s\" have the name \"%.*s\"",
				       RT_STR_ARG(name), RT_STR_ARG(rt_text_str(take->name)));
		check_take(f, value, disc, take, s);
	}
	(void)snprintf(whose, sizeof(whose), "discussion d%u", disc->number);
	check_fields(f, disc->fields, whose);
	check_labels(f, value, disc, s);
	check_history(f, &disc->history, disc->number, s);
}

/* Two entries with one id in the same discussion. owners has them side by side. */
static void
check_ids(rt_fsck *f, const rt_project *value, rt_scope *s)
{
	rt_slot before = {0}, now;

	for (size_t i = 0; rt_ok(s) && i < rt_seq_count(value->owners) && !f->stopped;
	     i++, before = now) {
		rt_slot home_a, home_b;
		bool found_a = false, found_b = false;
		char id[RT_ID_MAX + 1];

		RT_TRY(s, rt_seq_get(value->owners, i, &now, &s->error));
		if (!rt_ok(s) || i == 0 || now.key >> 32 != before.key >> 32)
			continue;
		RT_TRY(s, rt_project_entry(value, now.entry, &home_a, &found_a, &s->error));
		RT_TRY(s, rt_project_entry(value, before.entry, &home_b, &found_b, &s->error));
		if (!rt_ok(s) || !found_a || !found_b || home_a.entry != home_b.entry)
			continue;
		RT_TRY(s, rt_entry_id(value, now.entry, id, &s->error));
		if (rt_ok(s))
			rt_fsck_report(f, "error", "id-duplicate",
				       "entries %u and %u of \"%.*s\" have the same id %s",
				       before.entry, now.entry,
				       RT_STR_ARG(disc_name(value, home_a.entry)), id);
	}
}

/* Is the name of a present discussion that of one before it? names: those so far. */
static void
check_name(rt_fsck *f, rt_str name, rt_strs *names)
{
	uint32_t number, count = rt_strs_count(names);

	RT_TRY(&f->scope, rt_strs_intern(names, name, &number, &f->scope.error));
	if (rt_ok(&f->scope) && number <= count)
		rt_fsck_report(f, "warning", "name-duplicate",
			       "two discussions have the name \"%.*s\"", RT_STR_ARG(name));
}

/* A discussion by its number, where it can be read. */
static void
check_disc_number(rt_fsck *f, const rt_project *value, uint32_t number)
{
	const rt_disc *disc = NULL;
	rt_scope s;

	rt_scope_init(&s, f->engine->alloc);
	RT_TRY(&s, rt_project_disc_peek(value, number, &disc, &s.error));
	if (rt_ok(&s))
		check_disc(f, value, disc, &s);
	rt_object_unref(disc);
	rt_scope_deinit(&s);
	if (s.status == RT_CORRUPT || s.status == RT_NOT_FOUND) {
		rt_fsck_report(f, "error", "discussion-unreadable", "d%u \"%.*s\": %.200s", number,
			       RT_STR_ARG(disc_name(value, number)), s.error.text);
	} else if (!rt_ok(&s)) {
		f->scope.error = s.error;
		rt_scope_note(&f->scope, s.status);
	}
}

void
rt_fsck_value(rt_fsck *f, const rt_project *value)
{
	const rt_cell *active = rt_project_cell(value, value->active);
	rt_scope *s = &f->scope;
	rt_strs *names = NULL;
	rt_error why;

	if (active == NULL || !active->present)
		rt_fsck_report(f, "error", "active-missing",
			       "the active discussion d%u is not present", value->active);
	RT_TRY(s, rt_strs_new(f->engine->alloc, NULL, &names));
	for (uint32_t i = 1; rt_fsck_goes_on(f) && i <= rt_project_disc_count(value); i++) {
		const rt_cell *cell = rt_project_cell(value, i);

		check_disc_number(f, value, i);
		if (rt_ok(s) && cell->present)
			check_name(f, rt_cell_name(cell), names);
	}
	rt_strs_free(names);
	check_fields(f, value->fields, "the project");
	check_history(f, &value->history, 0, s);
	check_ids(f, value, s);
	if (rt_ok(s) && rt_project_check(value, &why) == RT_CORRUPT)
		rt_fsck_report(f, "error", "value-broken", "%.300s", why.text);
}

/* ---- two values ---- */

/* The two sides of a comparison; the first difference is reported and ends it. */
typedef struct comparison {
	rt_fsck *f;
	rt_scope scope;
	const rt_project *a, *b;
	const char *id, *what;
	char where[160];
	bool differs;
} comparison;

static void
differ(comparison *p, const char *in)
{
	if (!p->differs)
		rt_fsck_report(p->f, "error", p->id, "%s and the log differ in %s%s", p->what, in,
			       p->where);
	p->differs = true;
}

static bool
same_text(const rt_text *a, const rt_text *b)
{
	return (a == NULL) == (b == NULL) && rt_str_eq(rt_text_str(a), rt_text_str(b));
}

static void
compare_fields(comparison *p, const rt_fields *a, const rt_fields *b)
{
	size_t count = rt_fields_count(a);

	if (count != rt_fields_count(b)) {
		differ(p, "the fields");
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (!rt_str_eq(rt_fields_name(a, i), rt_fields_name(b, i)) ||
		    !rt_str_eq(rt_fields_value(a, i), rt_fields_value(b, i)))
			differ(p, "a field");
}

static void
compare_history(comparison *p, const rt_history *a, const rt_history *b)
{
	if (a->current != b->current || a->last_step != b->last_step ||
	    a->redo_row != b->redo_row || (a->redo_row != 0 && a->redo_move != b->redo_move))
		differ(p, "the current step");
}

static bool
same_name(comparison *p, uint32_t a, uint32_t b)
{
	rt_str x, y;
	rt_scope *s = &p->scope;

	RT_TRY(s, rt_project_name(p->a, a, &x, &s->error));
	RT_TRY(s, rt_project_name(p->b, b, &y, &s->error));
	return rt_ok(s) && rt_str_eq(x, y);
}

static bool
same_slot(comparison *p, const rt_slot *a, const rt_slot *b)
{
	return a->entry == b->entry && a->body == b->body && a->ts_us == b->ts_us &&
	       a->size == b->size && a->flags == b->flags && same_name(p, a->role, b->role) &&
	       same_name(p, a->kind, b->kind);
}

static bool
same_label(comparison *p, const rt_slot *a, const rt_slot *b)
{
	return a->key == b->key && same_name(p, (uint32_t)a->body, (uint32_t)b->body);
}

static bool
same_view(comparison *p, const rt_slot *a, const rt_slot *b)
{
	(void)p;
	return a->key == b->key && a->body == b->body;
}

static bool
same_entry(comparison *p, const rt_slot *a, const rt_slot *b)
{
	char x[RT_ID_MAX + 1], y[RT_ID_MAX + 1];
	rt_scope *s = &p->scope;

	if (a->key != b->key || a->entry != b->entry)
		return false;
	if (a->ts_us == 0 && b->ts_us == 0) /* generated ids */
		return true;
	RT_TRY(s, rt_entry_id(p->a, (uint32_t)a->key, x, &s->error));
	RT_TRY(s, rt_entry_id(p->b, (uint32_t)b->key, y, &s->error));
	return rt_ok(s) && strcmp(x, y) == 0;
}

/* The meaning of sequences of slots. */
typedef struct seq_kind {
	bool (*same)(comparison *p, const rt_slot *a, const rt_slot *b);
	const char *one, *all;
} seq_kind;

static const seq_kind slots = {same_slot, "an entry", "the number of entries"};
static const seq_kind labels = {same_label, "a label", "the labels"};
static const seq_kind views = {same_view, "how an entry is shown", "how entries are shown"};
static const seq_kind entries = {same_entry, "an entry's id", "the entries ever created"};

static void
compare_seq(comparison *p, const seq_kind *kind, const rt_seq *a, const rt_seq *b)
{
	size_t count = rt_seq_count(a);
	rt_slot x[RUN], y[RUN];
	rt_scope *s = &p->scope;

	if (!rt_ok(s))
		return;
	if (count != rt_seq_count(b)) {
		differ(p, kind->all);
		return;
	}
	for (size_t from = 0; rt_ok(s) && from < count && !p->differs; from += RUN) {
		size_t run = count - from < RUN ? count - from : RUN;

		RT_TRY(s, rt_seq_copy(a, from, run, x, &s->error));
		RT_TRY(s, rt_seq_copy(b, from, run, y, &s->error));
		for (size_t i = 0; rt_ok(s) && i < run; i++)
			if (!kind->same(p, &x[i], &y[i]) && rt_ok(s))
				differ(p, kind->one);
	}
}

static void
compare_take(comparison *p, const rt_take *a, const rt_take *b)
{
	if (a == NULL || b == NULL) {
		if (a != b)
			differ(p, "the takes");
		return;
	}
	if (a->number != b->number || a->present != b->present || !same_text(a->name, b->name) ||
	    !same_text(a->git_commit, b->git_commit))
		differ(p, "a take's name or presence");
	compare_seq(p, &slots, a->slots, b->slots);
}

static void
compare_disc(comparison *p, uint32_t number)
{
	const rt_cell *x = rt_project_cell(p->a, number), *y = rt_project_cell(p->b, number);
	const rt_disc *a, *b;
	rt_scope *s = &p->scope;

	if (x->present != y->present || !rt_str_eq(rt_cell_name(x), rt_cell_name(y)))
		differ(p, "the name or presence");
	RT_TRY(s, rt_project_disc(p->a, number, &a, &s->error));
	RT_TRY(s, rt_project_disc(p->b, number, &b, &s->error));
	if (!rt_ok(s))
		return;
	if (a->active != b->active || a->head != b->head)
		differ(p, "the active take or the head");
	compare_fields(p, a->fields, b->fields);
	compare_history(p, &a->history, &b->history);
	if (rt_disc_take_count(a) != rt_disc_take_count(b))
		differ(p, "the number of takes");
	compare_seq(p, &labels, a->labels, b->labels);
	if ((a->seed == NULL) != (b->seed == NULL))
		differ(p, "its source");
	else if (a->seed != NULL) /* of which only the slots are compared */
		compare_seq(p, &slots, a->seed->slots, b->seed->slots);
	for (uint32_t i = 1; rt_ok(s) && !p->differs && i <= rt_disc_take_count(a); i++)
		compare_take(p, rt_disc_take(a, i), rt_disc_take(b, i));
}

static void
compare_project(comparison *p)
{
	const rt_project *a = p->a, *b = p->b;

	if (a->next_entry != b->next_entry || a->next_body != b->next_body ||
	    a->active != b->active || a->ledger->salt != b->ledger->salt)
		differ(p, "the next numbers or the active discussion");
	if (rt_project_disc_count(a) != rt_project_disc_count(b))
		differ(p, "the number of discussions");
	compare_fields(p, a->fields, b->fields);
	compare_history(p, &a->history, &b->history);
	compare_seq(p, &views, a->views, b->views);
	compare_seq(p, &entries, a->entries, b->entries);
}

void
rt_fsck_compare(rt_fsck *f, const rt_project *a, const rt_project *b, const char *id,
		const char *what)
{
	comparison p = {.f = f, .a = a, .b = b, .id = id, .what = what};
	size_t count = rt_project_disc_count(a) < rt_project_disc_count(b)
			       ? rt_project_disc_count(a)
			       : rt_project_disc_count(b);

	if (a == b)
		return;
	rt_scope_init(&p.scope, f->engine->alloc);
	(void)snprintf(p.where, sizeof(p.where), " of the project");
	compare_project(&p);
	for (uint32_t i = 1; rt_ok(&p.scope) && i <= count && !f->stopped; i++) {
		p.differs = false;
		(void)snprintf(p.where, sizeof(p.where), " of \"%.*s\"",
			       (int)rt_utf8_cut(disc_name(a, i), 120), disc_name(a, i).ptr);
		compare_disc(&p, i);
	}
	rt_scope_deinit(&p.scope);
	if (p.scope.status == RT_CORRUPT || p.scope.status == RT_NOT_FOUND) {
		rt_fsck_report(f, "warning",
			       strcmp(id, "checkpoint-differs") == 0 ? "checkpoint-unreadable" : id,
			       "%s cannot be read to the end: %.200s", what, p.scope.error.text);
	} else if (!rt_ok(&p.scope)) {
		f->scope.error = p.scope.error;
		rt_scope_note(&f->scope, p.scope.status);
	}
}
