/* SPDX-License-Identifier: MIT
 *
 * Values: what each promises by itself, and whether two of them are the same. Numbers of
 * names and order keys are nobody's business; everything that can be seen is compared. */
#include "log/fsck_impl.h"
#include "ops/import_names.h"

#include <stdio.h>  /* snprintf */
#include <stdlib.h> /* qsort */

enum { RUN = 256 /* slots at a time */ };

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

static rt_str
disc_name(const rt_project *value, uint32_t number)
{
	const rt_cell *cell = rt_project_cell(value, number);

	return cell != NULL ? rt_cell_name(cell) : RT_STR("?");
}

/* ---- one value ---- */

static void
look_at_fields(rt_fsck *f, const rt_fields *fields, const char *whose)
{
	size_t i;

	for (i = 0; i < rt_fields_count(fields); i++) {
		rt_json_doc *doc = NULL;
		rt_status st = rt_json_read(f->engine->alloc, rt_fields_value(fields, i), &doc, NULL);

		if (st == RT_USAGE || st == RT_LIMIT)
			rt_fsck_say(f, "error", "field-unreadable", "field \"%.*s\" of %s is not JSON",
				    RT_STR_ARG(rt_fields_name(fields, i)), whose);
		rt_json_free(doc);
	}
}

static rt_status
look_at_history(rt_fsck *f, const rt_history *h, uint32_t document, rt_error *err)
{
	rt_record row;
	rt_arena *arena;
	rt_error why;
	bool fits;
	rt_status st;

	if (h->current != 0 && f->log_findings == 0 &&
	    (h->current >= f->row_count || f->rows[h->current].kind != RT_ROW_STEP ||
	     (!f->rows[h->current].many && f->rows[h->current].about != document)))
		rt_fsck_say(f, "error", "history-current", "document %u stands at row %llu, which is "
			    "no step of it", document, (unsigned long long)h->current);
	if (h->redo_row == 0)
		return RT_OK;
	arena = rt_arena_new(f->engine->alloc);
	if (arena == NULL)
		return nomem(err);
	st = rt_engine_record(f->engine, h->redo_row, arena, &row, NULL, &why);
	fits = st == RT_OK && h->redo_move < row.move_count && row.moves[h->redo_move].direction < 0;
	rt_arena_free(arena);
	if (st == RT_NOMEM)
		return nomem(err);
	if (!fits)
		rt_fsck_say(f, "error", "history-redo",
			    "redo in document %u would bring back move %u of row %llu, which is none",
			    document, h->redo_move, (unsigned long long)h->redo_row);
	return RT_OK;
}

static int
entry_order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static rt_status
look_at_take(rt_fsck *f, const rt_project *value, const rt_disc *disc, const rt_take *take,
	     rt_error *err)
{
	size_t count = rt_seq_count(take->slots), from, i;
	uint32_t *entries = rt_new_array(f->engine->alloc, count + 1, sizeof(*entries));
	char where[80];
	rt_slot slots[RUN];
	rt_status st = RT_OK;

	if (entries == NULL)
		return nomem(err);
	(void)snprintf(where, sizeof(where), "d%u t%u", disc->number, take->number);
	for (from = 0; st == RT_OK && from < count && !f->stopped; from += RUN) {
		size_t run = count - from < RUN ? count - from : RUN;

		st = rt_seq_copy(take->slots, from, run, slots, err);
		for (i = 0; st == RT_OK && i < run; i++) {
			bool found;
			size_t at;

			entries[from + i] = slots[i].entry;
			rt_fsck_slot(f, &slots[i], where);
			st = rt_take_find(value, take, slots[i].entry, &at, NULL, &found, err);
			if (st == RT_OK && (!found || at != from + i))
				rt_fsck_say(f, "error", "entry-unfindable",
					    "entry %u stands at %zu in %s, but is not found there",
					    slots[i].entry, from + i + 1, where);
		}
	}
	if (st == RT_OK && !f->stopped && count > 1) {
		qsort(entries, count, sizeof(*entries), entry_order);
		for (i = 1; i < count; i++)
			if (entries[i] == entries[i - 1])
				rt_fsck_say(f, "error", "entry-repeated", "entry %u is in %s twice",
					    entries[i], where);
	}
	rt_free(f->engine->alloc, entries);
	return st;
}

static rt_status
look_at_labels(rt_fsck *f, const rt_project *value, const rt_disc *disc, rt_error *err)
{
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < rt_seq_count(disc->labels); i++) {
		rt_slot pair;
		rt_str label;
		bool knew = false;

		st = rt_seq_get(disc->labels, i, &pair, err);
		if (st == RT_OK)
			st = rt_project_name(value, (uint32_t)pair.body, &label, err);
		if (st == RT_OK)
			st = rt_disc_knew(value, disc, (uint32_t)pair.key, &knew, err);
		if (st == RT_OK && !knew)
			rt_fsck_say(f, "warning", "label-dangling",
				    "label \"%.*s\" of \"%.*s\" is on entry %llu, which was never "
				    "there", RT_STR_ARG(label),
				    RT_STR_ARG(disc_name(value, disc->number)),
				    (unsigned long long)pair.key);
	}
	return st;
}

static rt_status
look_at_disc(rt_fsck *f, const rt_project *value, const rt_disc *disc, rt_error *err)
{
	const rt_take *active = rt_disc_active(disc);
	rt_str name = disc_name(value, disc->number);
	char whose[80];
	size_t i, at;
	bool found = true;
	rt_status st = RT_OK;

	if (active == NULL || !active->present)
		rt_fsck_say(f, "error", "active-missing", "the active take of \"%.*s\" is not present",
			    RT_STR_ARG(name));
	if (active != NULL && disc->head != RT_HEAD_TIP && disc->head != RT_HEAD_START)
		st = rt_take_find(value, active, disc->head, &at, NULL, &found, err);
	if (st == RT_OK && !found)
		rt_fsck_say(f, "error", "head-missing",
			    "the head of \"%.*s\" is on entry %u, which is not in its take",
			    RT_STR_ARG(name), disc->head);
	for (i = 1; st == RT_OK && i <= rt_disc_take_count(disc) && !f->stopped; i++) {
		const rt_take *take = rt_disc_take(disc, (uint32_t)i);

		if (take->present && rt_disc_take_named(disc, rt_text_str(take->name)) != i)
			rt_fsck_say(f, "warning", "name-duplicate",
				    "two takes of \"%.*s\" are called \"%.*s\"", RT_STR_ARG(name),
				    RT_STR_ARG(rt_text_str(take->name)));
		st = look_at_take(f, value, disc, take, err);
	}
	(void)snprintf(whose, sizeof(whose), "discussion d%u", disc->number);
	look_at_fields(f, disc->fields, whose);
	if (st == RT_OK)
		st = look_at_labels(f, value, disc, err);
	if (st == RT_OK)
		st = look_at_history(f, &disc->history, disc->number, err);
	return st;
}

/* Two entries with one id in the same discussion. owners has them side by side. */
static rt_status
look_at_ids(rt_fsck *f, const rt_project *value, rt_error *err)
{
	size_t count = rt_seq_count(value->owners), i;
	rt_slot before = {0}, now;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < count && !f->stopped; i++, before = now) {
		rt_slot home_a, home_b;
		bool found_a, found_b;
		char id[RT_ID_MAX + 1];

		st = rt_seq_get(value->owners, i, &now, err);
		if (st != RT_OK || i == 0 || now.key >> 32 != before.key >> 32)
			continue;
		st = rt_project_entry(value, now.entry, &home_a, &found_a, err);
		if (st == RT_OK)
			st = rt_project_entry(value, before.entry, &home_b, &found_b, err);
		if (st != RT_OK || !found_a || !found_b || home_a.entry != home_b.entry)
			continue;
		st = rt_entry_id(value, now.entry, id, err);
		if (st == RT_OK)
			rt_fsck_say(f, "error", "id-duplicate",
				    "entries %u and %u of \"%.*s\" have the same id %s", before.entry,
				    now.entry, RT_STR_ARG(disc_name(value, home_a.entry)), id);
	}
	return st;
}

rt_status
rt_fsck_value(rt_fsck *f, const rt_project *value, rt_error *err)
{
	const rt_cell *active = rt_project_cell(value, value->active);
	rt_disc_names names;
	rt_error why;
	size_t i;
	rt_status st = RT_OK;

	if (active == NULL || !active->present)
		rt_fsck_say(f, "error", "active-missing", "the active discussion d%u is not present",
			    value->active);
	rt_disc_names_init(&names, value->object.alloc);
	for (i = 1; st == RT_OK && i <= rt_project_disc_count(value) && !f->stopped; i++) {
		const rt_cell *cell = rt_project_cell(value, (uint32_t)i);
		const rt_disc *disc = NULL;

		st = rt_project_disc_peek(value, (uint32_t)i, &disc, &why);
		if (st == RT_OK)
			st = look_at_disc(f, value, disc, &why);
		rt_object_unref(disc);
		if (st == RT_CORRUPT || st == RT_NOT_FOUND) {
			rt_fsck_say(f, "error", "discussion-unreadable", "d%zu \"%.*s\": %.200s", i,
				    RT_STR_ARG(rt_cell_name(cell)), why.text);
			st = RT_OK;
		} else if (st != RT_OK && err != NULL) {
			*err = why;
		}
		if (cell->present && rt_disc_names_has(&names, value, rt_cell_name(cell)))
			rt_fsck_say(f, "warning", "name-duplicate",
				    "two discussions are called \"%.*s\"",
				    RT_STR_ARG(rt_cell_name(cell)));
		else if (cell->present && st == RT_OK &&
			 rt_disc_names_add(&names, value, (uint32_t)i) != RT_OK)
			st = rt_fail(err, RT_NOMEM, "out of memory");
	}
	rt_disc_names_deinit(&names);
	look_at_fields(f, value->fields, "the project");
	if (st == RT_OK)
		st = look_at_history(f, &value->history, 0, err);
	if (st == RT_OK)
		st = look_at_ids(f, value, err);
	if (st == RT_OK && rt_project_check(value, &why) == RT_CORRUPT)
		rt_fsck_say(f, "error", "value-broken", "%.300s", why.text);
	return st;
}

/* ---- two values ---- */

/* The two sides of a comparison; the first difference is told and ends it. */
typedef struct pairing {
	rt_fsck *f;
	const rt_project *a, *b;
	const char *id, *what;
	char where[160];
	bool told;
} pairing;

static void
differ(pairing *p, const char *in)
{
	if (!p->told)
		rt_fsck_say(p->f, "error", p->id, "%s and the log differ in %s%s", p->what, in,
			    p->where);
	p->told = true;
}

static bool
same_text(const rt_text *a, const rt_text *b)
{
	return (a == NULL) == (b == NULL) && rt_str_eq(rt_text_str(a), rt_text_str(b));
}

static void
compare_fields(pairing *p, const rt_fields *a, const rt_fields *b)
{
	size_t i, count = rt_fields_count(a);

	if (count != rt_fields_count(b)) {
		differ(p, "the fields");
		return;
	}
	for (i = 0; i < count; i++)
		if (!rt_str_eq(rt_fields_name(a, i), rt_fields_name(b, i)) ||
		    !rt_str_eq(rt_fields_value(a, i), rt_fields_value(b, i)))
			differ(p, "a field");
}

static void
compare_history(pairing *p, const rt_history *a, const rt_history *b)
{
	if (a->current != b->current || a->last_step != b->last_step ||
	    a->redo_row != b->redo_row || (a->redo_row != 0 && a->redo_move != b->redo_move))
		differ(p, "where history stands");
}

static rt_status
same_name(pairing *p, uint32_t a, uint32_t b, bool *out, rt_error *err)
{
	rt_str x, y;
	rt_status st = rt_project_name(p->a, a, &x, err);

	if (st == RT_OK)
		st = rt_project_name(p->b, b, &y, err);
	*out = st == RT_OK && rt_str_eq(x, y);
	return st;
}

typedef enum compare_what { SLOTS, LABELS, VIEWS, ENTRIES } compare_what;

static rt_status
compare_one(pairing *p, compare_what what, const rt_slot *a, const rt_slot *b, rt_error *err)
{
	bool same = true, kind = true;
	rt_status st = RT_OK;

	switch (what) {
	case SLOTS:
		if (a->entry != b->entry || a->body != b->body || a->ts_us != b->ts_us ||
		    a->size != b->size || a->flags != b->flags) {
			same = false;
			break;
		}
		st = same_name(p, a->role, b->role, &same, err);
		if (st == RT_OK)
			st = same_name(p, a->kind, b->kind, &kind, err);
		break;
	case LABELS:
		st = same_name(p, (uint32_t)a->body, (uint32_t)b->body, &same, err);
		same = same && a->key == b->key;
		break;
	case VIEWS: same = a->key == b->key && a->body == b->body; break;
	case ENTRIES: {
		char x[RT_ID_MAX + 1], y[RT_ID_MAX + 1];

		same = a->key == b->key && a->entry == b->entry;
		if (!same || (a->ts_us == 0 && b->ts_us == 0))
			break;
		st = rt_entry_id(p->a, (uint32_t)a->key, x, err);
		if (st == RT_OK)
			st = rt_entry_id(p->b, (uint32_t)b->key, y, err);
		same = st == RT_OK && strcmp(x, y) == 0;
		break;
	}
	}
	if (st == RT_OK && !(same && kind))
		differ(p, what == SLOTS    ? "an entry"
			  : what == LABELS ? "a label"
			  : what == VIEWS  ? "how an entry is shown"
					   : "an entry's id");
	return st;
}

static rt_status
compare_seq(pairing *p, compare_what what, const rt_seq *a, const rt_seq *b, rt_error *err)
{
	size_t count = rt_seq_count(a), from, i;
	rt_slot x[RUN], y[RUN];
	rt_status st = RT_OK;

	if (count != rt_seq_count(b)) {
		differ(p, what == SLOTS    ? "how many entries there are"
			  : what == LABELS ? "the labels"
			  : what == VIEWS  ? "how entries are shown"
					   : "the entries ever made");
		return RT_OK;
	}
	for (from = 0; st == RT_OK && from < count && !p->told; from += RUN) {
		size_t run = count - from < RUN ? count - from : RUN;

		st = rt_seq_copy(a, from, run, x, err);
		if (st == RT_OK)
			st = rt_seq_copy(b, from, run, y, err);
		for (i = 0; st == RT_OK && i < run; i++)
			st = compare_one(p, what, &x[i], &y[i], err);
	}
	return st;
}

static rt_status
compare_take(pairing *p, const rt_take *a, const rt_take *b, rt_error *err)
{
	if (a == NULL || b == NULL) {
		if (a != b)
			differ(p, "the takes");
		return RT_OK;
	}
	if (a->number != b->number || a->present != b->present || !same_text(a->name, b->name) ||
	    !same_text(a->git_commit, b->git_commit))
		differ(p, "a take's name or presence");
	return compare_seq(p, SLOTS, a->slots, b->slots, err);
}

static rt_status
compare_disc(pairing *p, uint32_t number, rt_error *err)
{
	const rt_cell *x = rt_project_cell(p->a, number), *y = rt_project_cell(p->b, number);
	const rt_disc *a, *b;
	uint32_t i;
	rt_status st;

	if (x->present != y->present || !rt_str_eq(rt_cell_name(x), rt_cell_name(y)))
		differ(p, "the name or presence");
	st = rt_project_disc(p->a, number, &a, err);
	if (st == RT_OK)
		st = rt_project_disc(p->b, number, &b, err);
	if (st != RT_OK)
		return st;
	if (a->active != b->active || a->head != b->head)
		differ(p, "the active take or the head");
	compare_fields(p, a->fields, b->fields);
	compare_history(p, &a->history, &b->history);
	if (rt_disc_take_count(a) != rt_disc_take_count(b))
		differ(p, "how many takes there are");
	st = compare_seq(p, LABELS, a->labels, b->labels, err);
	if ((a->seed == NULL) != (b->seed == NULL))
		differ(p, "what it was made from");
	else if (st == RT_OK && a->seed != NULL) /* of it, only the slots are kept */
		st = compare_seq(p, SLOTS, a->seed->slots, b->seed->slots, err);
	for (i = 1; st == RT_OK && !p->told && i <= rt_disc_take_count(a); i++)
		st = compare_take(p, rt_disc_take(a, i), rt_disc_take(b, i), err);
	return st;
}

static rt_status
compare_project(pairing *p, rt_error *err)
{
	const rt_project *a = p->a, *b = p->b;
	rt_status st;

	if (a->next_entry != b->next_entry || a->next_body != b->next_body ||
	    a->active != b->active || a->ledger->salt != b->ledger->salt)
		differ(p, "the next numbers or the active discussion");
	if (rt_project_disc_count(a) != rt_project_disc_count(b))
		differ(p, "how many discussions there are");
	compare_fields(p, a->fields, b->fields);
	compare_history(p, &a->history, &b->history);
	st = compare_seq(p, VIEWS, a->views, b->views, err);
	if (st == RT_OK)
		st = compare_seq(p, ENTRIES, a->entries, b->entries, err);
	return st;
}

rt_status
rt_fsck_compare(rt_fsck *f, const rt_project *a, const rt_project *b, const char *id,
		const char *what, rt_error *err)
{
	pairing p = {.f = f, .a = a, .b = b, .id = id, .what = what};
	size_t count, i;
	rt_error why;
	rt_status st;

	if (a == b)
		return RT_OK;
	(void)snprintf(p.where, sizeof(p.where), " of the project");
	st = compare_project(&p, &why);
	count = rt_project_disc_count(a) < rt_project_disc_count(b) ? rt_project_disc_count(a)
								     : rt_project_disc_count(b);
	for (i = 1; st == RT_OK && i <= count && !f->stopped; i++) {
		p.told = false;
		(void)snprintf(p.where, sizeof(p.where), " of \"%.*s\"",
			       (int)rt_utf8_cut(disc_name(a, (uint32_t)i), 120),
			       disc_name(a, (uint32_t)i).ptr);
		st = compare_disc(&p, (uint32_t)i, &why);
	}
	if (st == RT_CORRUPT || st == RT_NOT_FOUND) {
		rt_fsck_say(f, "warning",
			    strcmp(id, "checkpoint-differs") == 0 ? "checkpoint-unreadable" : id,
			    "%s cannot be read to the end: %.200s", what, why.text);
		return RT_OK;
	}
	if (st != RT_OK && err != NULL)
		*err = why;
	return st;
}
