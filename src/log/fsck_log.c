/* SPDX-License-Identifier: MIT
 *
 * The rows of the log: each by itself, against the rows before it, and against the bodies
 * that its slots name. */
#include "log/fsck_impl.h"

#include <stdio.h> /* snprintf */

typedef struct log_walk {
	rt_fsck *f;
	rt_arena *arena;
	uint64_t next; /* the row that should come now */
	uint64_t head;
} log_walk;

static void
log_say(log_walk *w, const char *severity, const char *id, uint64_t seq, const char *words,
	uint64_t other)
{
	w->f->log_findings++;
	rt_fsck_say(w->f, severity, id, "log row %llu %s %llu", (unsigned long long)seq, words,
		    (unsigned long long)other);
}

static bool
is_step_of(const rt_fsck *f, uint64_t seq, uint64_t before, uint32_t disc)
{
	const rt_row_note *note;

	if (seq >= before || seq >= f->row_count)
		return false;
	note = &f->rows[seq];
	return note->kind == RT_ROW_STEP && (note->many || note->about == disc);
}

static void
look_at_step(log_walk *w, uint64_t seq, const rt_record *record)
{
	rt_row_note *note = &w->f->rows[seq];
	char where[40];
	size_t i, j;

	note->kind = RT_ROW_STEP;
	note->many = record->parent_count > 1;
	note->about = record->parent_count > 0 ? record->parents[0].disc : 0;
	for (i = 0; i < record->parent_count; i++) {
		const rt_record_parent *p = &record->parents[i];

		if (p->step != 0 && !is_step_of(w->f, p->step, seq, p->disc))
			log_say(w, "error", "history-parent", seq, "follows what is no step of its "
				"document:", p->step);
	}
	(void)snprintf(where, sizeof(where), "log row %llu", (unsigned long long)seq);
	for (i = 0; i < record->effect_count && !w->f->stopped; i++) {
		const rt_effect *e = &record->effects[i];

		for (j = 0; j < e->removed_count; j++)
			rt_fsck_slot(w->f, &e->removed[j].slot, where);
		for (j = 0; j < e->added_count; j++)
			rt_fsck_slot(w->f, &e->added[j].slot, where);
	}
}

static void
look_at_move(log_walk *w, uint64_t seq, const rt_record *record)
{
	rt_row_note *note = &w->f->rows[seq];
	size_t i, j;

	note->kind = RT_ROW_MOVE;
	note->about = (uint32_t)record->move_count;
	for (i = 0; i < record->move_count; i++)
		for (j = 0; j < record->moves[i].disc_count; j++)
			if (!is_step_of(w->f, record->moves[i].step, seq, record->moves[i].discs[j]))
				log_say(w, "error", "history-move", seq,
					"moves what is no step of that document:",
					record->moves[i].step);
	for (i = 0; i < record->redo_count; i++) {
		const rt_record_redo *r = &record->redos[i];

		if (r->row != 0 && (r->row >= seq || w->f->rows[r->row].kind != RT_ROW_MOVE ||
				    r->move >= w->f->rows[r->row].about))
			log_say(w, "error", "history-redo", seq, "remembers a redo that is no move:",
				r->row);
	}
}

static bool
look_at_row(void *ctx, const rt_store_row *row)
{
	log_walk *w = ctx;
	rt_record record;
	rt_error err;
	rt_status st;

	if (row->number != w->next) {
		log_say(w, "error", "log-gap", row->number, "comes where there should be row",
			w->next);
		if (row->number < w->next || row->number > w->head)
			return !w->f->stopped;
	}
	w->next = row->number + 1;
	rt_arena_reset(w->arena);
	st = rt_record_read(w->f->engine->alloc, w->arena, row->data, &record, &err);
	if (st == RT_NOMEM) {
		w->f->nomem = true;
		return false;
	}
	if (st != RT_OK) {
		w->f->log_findings++;
		rt_fsck_say(w->f, "error",
			    st == RT_TOO_NEW ? "log-row-too-new" : "log-row-unreadable",
			    "log row %llu: %.300s", (unsigned long long)row->number, err.text);
		return !w->f->stopped;
	}
	if (rt_op_named(record.op) == NULL && !rt_str_is(record.op, "batch") &&
	    !rt_str_is(record.op, "import"))
		rt_fsck_say(w->f, "note", "log-op-unknown", "log row %llu is of operation \"%.*s\"",
			    (unsigned long long)row->number, RT_STR_ARG(record.op));
	w->f->rows[row->number].kind = RT_ROW_OTHER;
	if (record.kind == RT_RECORD_STEP)
		look_at_step(w, row->number, &record);
	else if (record.kind == RT_RECORD_MOVE)
		look_at_move(w, row->number, &record);
	return !w->f->stopped;
}

rt_status
rt_fsck_log(rt_fsck *f, uint64_t head, rt_error *err)
{
	const rt_alloc *alloc = f->engine->alloc;
	log_walk w = {.f = f, .next = 1, .head = head};
	rt_error why;
	rt_status st;

	f->row_count = head + 1;
	f->rows = rt_new_array(alloc, (size_t)f->row_count, sizeof(*f->rows));
	w.arena = rt_arena_new(alloc);
	if (f->rows == NULL || w.arena == NULL) {
		rt_arena_free(w.arena);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	memset(f->rows, 0, (size_t)f->row_count * sizeof(*f->rows));
	st = head > 0 ? f->engine->store->ops->read(
				f->engine->store,
				rt_rows_between(RT_STORE_LOG, f->engine->project, 1, head),
				look_at_row, &w, &why)
		      : RT_OK;
	rt_arena_free(w.arena);
	if (st == RT_CORRUPT) { /* a checksum: the rest of the log is not read */
		f->log_findings++;
		rt_fsck_say(f, "error", "log-row-unreadable", "%.300s", why.text);
		return RT_OK;
	}
	if (st != RT_OK && err != NULL)
		*err = why;
	if (st == RT_OK && f->nomem)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	if (st == RT_OK && w.next <= head && !f->stopped)
		log_say(&w, "error", "log-gap", w.next, "is missing; the log should end with", head);
	return st;
}
