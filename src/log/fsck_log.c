/* SPDX-License-Identifier: MIT
 *
 * The rows of the log: each by itself, against the rows before it, and against the bodies
 * that its slots name. */
#include <stdio.h> /* snprintf */

#include "log/fsck_impl.h"

typedef struct log_check {
	rt_fsck *f;
	rt_scope row;  /* memory of the current row */
	uint64_t next; /* the next expected row */
	uint64_t head;
} log_check;

static void
report(log_check *c, const char *id, uint64_t seq, const char *words, uint64_t other)
{
	c->f->log_findings++;
	rt_fsck_report(c->f, "error", id, "log row %llu %s %llu", (unsigned long long)seq, words,
		       (unsigned long long)other);
}

static bool
is_step_of(const rt_fsck *f, uint64_t seq, uint64_t before, uint32_t disc)
{
	return seq < before && seq < f->row_count && f->rows[seq].kind == RT_ROW_STEP &&
	       (f->rows[seq].many || f->rows[seq].about == disc);
}

static void
check_step(log_check *c, uint64_t seq, const rt_record *record)
{
	rt_row_note *note = &c->f->rows[seq];
	char where[40];

	note->kind = RT_ROW_STEP;
	note->many = record->parent_count > 1;
	note->about = record->parent_count > 0 ? record->parents[0].disc : 0;
	for (size_t i = 0; i < record->parent_count; i++) {
		const rt_record_parent *p = &record->parents[i];

		if (p->step != 0 && !is_step_of(c->f, p->step, seq, p->disc))
			report(c, "history-parent", seq,
			       "has a predecessor that is not a step of its document:", p->step);
	}
	(void)snprintf(where, sizeof(where), "log row %llu", (unsigned long long)seq);
	for (size_t i = 0; i < record->effect_count && !c->f->stopped; i++) {
		const rt_effect *e = &record->effects[i];

		for (size_t j = 0; j < e->removed_count; j++)
			rt_fsck_slot(c->f, &e->removed[j].slot, where);
		for (size_t j = 0; j < e->added_count; j++)
			rt_fsck_slot(c->f, &e->added[j].slot, where);
	}
}

static void
check_move(log_check *c, uint64_t seq, const rt_record *record)
{
	rt_row_note *rows = c->f->rows;

	rows[seq].kind = RT_ROW_MOVE;
	rows[seq].about = (uint32_t)record->move_count;
	for (size_t i = 0; i < record->move_count; i++)
		for (size_t j = 0; j < record->moves[i].disc_count; j++)
			if (!is_step_of(c->f, record->moves[i].step, seq,
					record->moves[i].discs[j]))
				report(c, "history-move", seq,
				       "moves something that is not a step of that document:",
				       record->moves[i].step);
	for (size_t i = 0; i < record->redo_count; i++) {
		const rt_record_redo *r = &record->redos[i];

		if (r->row != 0 && (r->row >= seq || rows[r->row].kind != RT_ROW_MOVE ||
				    r->move >= rows[r->row].about))
			report(c, "history-redo", seq, "records a redo whose target is not a move:", r->row);
	}
}

static bool
check_row(void *ctx, const rt_store_row *row)
{
	log_check *c = ctx;
	rt_fsck *f = c->f;
	rt_arena *arena;
	rt_record record;
	rt_error err;
	rt_status st;

	if (row->number != c->next) {
		report(c, "log-gap", row->number, "was found in place of row", c->next);
		if (row->number < c->next || row->number > c->head)
			return !f->stopped;
	}
	c->next = row->number + 1;
	rt_scope_reset(&c->row);
	arena = rt_scope_arena(&c->row);
	st = arena != NULL ? rt_record_read(f->engine->alloc, arena, row->data, &record, &err)
			   : RT_NOMEM;
	if (st == RT_NOMEM) {
		rt_scope_nomem(&f->scope);
		return false;
	}
	if (st != RT_OK) {
		f->log_findings++;
		rt_fsck_report(f, "error",
			       st == RT_TOO_NEW ? "log-row-too-new" : "log-row-unreadable",
			       "log row %llu: %.300s", (unsigned long long)row->number, err.text);
		return !f->stopped;
	}
	if (rt_op_named(record.op) == NULL && !rt_str_is(record.op, RT_STEP_BATCH) &&
	    !rt_str_is(record.op, RT_STEP_IMPORT))
		rt_fsck_report(f, "note", "log-op-unknown", "log row %llu is an operation \"%.*s\"",
			       (unsigned long long)row->number, RT_STR_ARG(record.op));
	f->rows[row->number].kind = RT_ROW_OTHER;
	if (record.kind == RT_RECORD_STEP)
		check_step(c, row->number, &record);
	else if (record.kind == RT_RECORD_MOVE)
		check_move(c, row->number, &record);
	return !f->stopped;
}

void
rt_fsck_log(rt_fsck *f, uint64_t head)
{
	log_check c = {.f = f, .next = 1, .head = head};
	rt_status st = RT_OK;

	f->row_count = head + 1;
	f->rows = rt_scope_array(&f->scope, (size_t)f->row_count, sizeof(*f->rows));
	if (!rt_ok(&f->scope))
		return;
	rt_scope_init(&c.row, f->engine->alloc);
	if (head > 0)
		st = rt_engine_read(f->engine, RT_STORE_LOG, 1, head, check_row, &c,
				    &f->scope.error);
	rt_scope_deinit(&c.row);
	if (st == RT_CORRUPT) { /* a checksum: the rest of the log is not read */
		f->log_findings++;
		rt_fsck_report(f, "error", "log-row-unreadable", "%.300s", f->scope.error.text);
		return;
	}
	rt_scope_note(&f->scope, st);
	if (c.next <= head && rt_fsck_goes_on(f))
		report(&c, "log-gap", c.next, "is missing; the log should end with", head);
}
