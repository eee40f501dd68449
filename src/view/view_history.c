/* SPDX-License-Identifier: MIT
 *
 * History as rows: the list of steps, one step, the revisions of an entry. The log is read in
 * stretches of rows that are copied out of the store, since its callbacks must not call it again. */
#include "core/op.h"
#include "log/engine_impl.h"
#include "log/history.h"
#include "view/history_text.h"
#include "view/view_impl.h"

enum { ABOUT = 60 /* characters of a text that are shown */ };

static bool
copy_row(void *ctx, const rt_store_row *row)
{
	rt_stretch *s = ctx;

	s->rows[s->count].seq = row->number;
	s->rows[s->count].at_us = row->at_us;
	s->rows[s->count].data = rt_scope_copy(s->memory, row->data);
	return rt_ok(s->memory) && ++s->count < RT_STRETCH_ROWS;
}

void
rt_stretch_read(rt_scope *scope, rt_engine *engine, rt_stretch *s, uint64_t first, uint64_t last)
{
	s->count = 0;
	if (!rt_ok(scope))
		return;
	rt_scope_reset(s->memory);
	RT_TRY(scope, engine->store->ops->read(
			      engine->store,
			      rt_rows_between(RT_STORE_LOG, engine->project, first, last), copy_row,
			      s, &scope->error));
	if (rt_scope_adopt(scope, s->memory) != RT_OK)
		s->count = 0;
}

/* Everything in the record lives in the scope. */
static rt_record
read_record(rt_scope *s, rt_str text)
{
	rt_arena *arena = rt_scope_arena(s);
	rt_record record = {0};

	RT_TRY(s, rt_record_read(s->alloc, arena, text, &record, &s->error));
	return record;
}

/* ---- the list of steps ---- */

/* A record is read into one scope while the row that was given out last is in the other. */
struct rt_history_cursor {
	rt_view view;
	const rt_disc *disc;
	rt_history_at at;
	uint64_t before;
	uint64_t current; /* the newest step in effect */
	rt_stretch rows;
	size_t next; /* in rows */
	rt_scope *row_of, *other;
	rt_history_row row;
};

rt_history_cursor *
rt_history_open(const rt_view *v, const rt_history_at *at, uint64_t before)
{
	rt_scope *s = v->scope;
	const rt_disc *disc = rt_view_disc(v);
	rt_history_cursor *c = rt_scope_get(s, sizeof(*c));

	if (c == NULL)
		return NULL;
	uint64_t in_disc = disc->history.current, in_project = v->project->history.current;

	c->view = *v;
	c->disc = disc;
	c->before = before;
	c->current = in_disc > in_project ? in_disc : in_project;
	c->at = at != NULL && at->is_begun
			? *at
			: (rt_history_at){true, v->project->seq, in_disc, in_project, 0};
	c->row_of = rt_view_inner(s);
	c->other = rt_view_inner(s);
	c->rows.memory = rt_view_inner(s);
	return rt_ok(s) ? c : NULL;
}

rt_history_at
rt_history_position(const rt_history_cursor *c)
{
	return c->at;
}

/* The first words of the entry that the step is about, or absent. A text that was purged is not
 * shown; in place of a lost one there is a note. */
static rt_str
about(rt_history_cursor *c, rt_scope *s, const rt_record *step)
{
	const rt_project *project = c->view.project;
	uint64_t number;
	uint32_t entry = rt_history_text_entry(step, &number);
	rt_slot slot;
	bool found = false;
	rt_buf bytes;
	rt_body body;
	size_t at;

	if (number == 0 && entry != 0 && entry < project->next_entry) {
		RT_TRY(s, rt_take_find(project, rt_disc_active(c->disc), entry, &at, &slot, &found,
				       &s->error));
		number = rt_ok(s) && found ? slot.body : 0;
	}
	if (number == 0 || !rt_ok(s))
		return (rt_str){0};
	rt_status st = rt_engine_body(c->view.engine, number, &bytes, &body, &s->error);

	if (st == RT_CORRUPT || st == RT_NOT_FOUND) /* the text is lost; the step is not */
		return RT_STR("(this text is damaged; run: retake fsck)");
	if (rt_scope_note(s, st) != RT_OK)
		return (rt_str){0};
	rt_str words = body.format != RT_BODY_PURGED
			       ? rt_view_preview(s, RT_STR(""), &body, ABOUT + 1)
			       : (rt_str){0};

	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
	return rt_utf8_count(words) > ABOUT ? rt_first_words(s, words, ABOUT) : words;
}

/* The model of the reply that a step added, after the other models. */
static void
add_model(rt_engine *engine, rt_scope *s, rt_buf *models, const rt_record *step)
{
	size_t before = models->size;
	uint64_t number;
	rt_buf bytes;
	rt_body body;

	(void)rt_history_text_entry(step, &number);
	rt_status st = number != 0 ? rt_engine_body(engine, number, &bytes, &body, NULL)
				   : RT_NOT_FOUND;
	if (st == RT_NOMEM)
		(void)rt_scope_nomem(s);
	if (st != RT_OK) /* the text is lost; the step is not */
		return;
	rt_buf_add_c(models, before > 0 ? ", " : ": ");
	size_t named = models->size;
	rt_body_add_model(models, &body);
	if (models->size == named)
		models->size = before;
	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
}

/* Is it one of several replies to a question, but not the first, or the switch to the take with the
 * reply of the first model? */
static bool
is_of_replies(const rt_record *step)
{
	return step->group != 0 && (rt_str_is(step->op, rt_ops[RT_OP_ENTRY_REPLY].name) ||
				    rt_str_is(step->op, rt_ops[RT_OP_TAKE_SWITCH].name));
}

/* "got 2 replies: a/b, c/d", if the step is the last row of a group of replies to one question; else
 * empty. */
static rt_str
replies_text(rt_engine *engine, rt_scope *s, const rt_record *step, uint64_t seq)
{
	enum { ROWS_MAX = 1024 };
	uint64_t first = step->group;
	rt_buf *models = rt_scope_buf(s), *text = rt_scope_buf(s);
	size_t count = 0;

	if (!is_of_replies(step) || seq - first > ROWS_MAX || rt_scope_arena(s) == NULL)
		return (rt_str){0};
	for (uint64_t at = first; rt_ok(s) && at <= seq; at++) {
		rt_record row = {0};
		rt_status st = rt_engine_record(engine, at, rt_scope_arena(s), &row, NULL, NULL);

		if (st == RT_NOMEM)
			(void)rt_scope_nomem(s);
		if (st != RT_OK || (at != first && row.group != first) ||
		    !rt_str_is(row.op, rt_ops[RT_OP_ENTRY_REPLY].name))
			continue;
		count++;
		add_model(engine, s, models, &row);
	}
	rt_buf_add_f(text, "got %zu replies", count);
	rt_buf_add_str(text, rt_scope_str(s, models));
	return count > 1 ? rt_scope_str(s, text) : (rt_str){0};
}

/* A step in words; of a revert with those of the step that it reverted. */
static rt_str
text_of(rt_engine *engine, rt_scope *s, const rt_project *project, const rt_record *step,
	uint64_t seq, bool plain)
{
	rt_str replies = replies_text(engine, s, step, seq);
	rt_str what = replies.size > 0 ? replies : rt_history_text(s, project, step, plain);
	uint64_t reverted = rt_history_text_reverted(s, step);
	rt_record record = {0};
	rt_buf *buf;

	if (reverted == 0 || rt_scope_arena(s) == NULL)
		return what;
	rt_status st = rt_engine_record(engine, reverted, rt_scope_arena(s), &record, NULL, NULL);
	if (st == RT_NOMEM)
		(void)rt_scope_nomem(s);
	if (st != RT_OK) /* it cannot be read; this one can */
		return what;
	buf = rt_scope_buf(s);
	rt_buf_add_str(buf, what);
	rt_buf_add_c(buf, ": ");
	replies = replies_text(engine, s, &record, reverted);
	rt_buf_add_str(buf, replies.size > 0 ? replies
					     : rt_history_text(s, project, &record, plain));
	return rt_scope_str(s, buf);
}

/* The row of a step, whose record is in the scope. */
static void
fill(rt_history_cursor *c, rt_scope *s, const rt_record *step, rt_history_row *row)
{
	uint32_t take = rt_history_text_take(step, c->disc->number);
	const rt_take *changed = take != 0 ? rt_disc_take(c->disc, take) : NULL;
	rt_str setting = rt_history_text_setting(step);

	row->op = step->op;
	row->what = text_of(c->view.engine, s, c->view.project, step, row->seq, false);
	row->did = text_of(c->view.engine, s, c->view.project, step, row->seq, true);
	row->about = is_of_replies(step) ? (rt_str){0} : about(c, s, step);
	row->take = changed != NULL ? take : 0;
	row->take_name = changed != NULL ? rt_text_str(changed->name) : (rt_str){0};
	row->setting = setting.size > 0 ? setting : (rt_str){0};
	row->by = step->by;
	row->is_current = row->seq == c->current;
	row->rows = 1;
}

/* Takes the record of a step into account; true: it is a separate row, *row. has_row: one was begun
 * already, and rows of its group are part of it. */
typedef enum seen { SEEN_NOTHING, SEEN_ROW, SEEN_MORE, SEEN_NEXT } seen;

static seen
see(rt_history_cursor *c, rt_scope *s, const rt_record *step, uint64_t seq, bool has_row,
    rt_history_row *row)
{
	rt_history_at *at = &c->at;
	uint64_t parent = 0, other = 0;
	bool of_disc = rt_history_parent(step, c->disc->number, &parent);
	bool of_project = rt_history_parent(step, 0, &other);
	bool goes_on = at->group != 0 && (step->group == at->group || seq == at->group);

	if (step->kind != RT_RECORD_STEP || (!of_disc && !of_project))
		return SEEN_NOTHING;
	if (has_row && !goes_on)
		return SEEN_NEXT;
	*row = (rt_history_row){
		.seq = seq,
		.parent = of_disc ? parent : other,
		.of_disc = of_disc,
		.is_undone = !(of_disc && seq == at->in_disc) &&
			     !(of_project && seq == at->in_project),
	};
	if (of_project && seq == at->in_project)
		at->in_project = other;
	if (of_disc && seq == at->in_disc)
		at->in_disc = parent;
	at->group = seq == at->group ? 0 : step->group;
	if (goes_on)
		return SEEN_MORE;
	if (c->before != 0 && seq >= c->before)
		return SEEN_NOTHING;
	fill(c, s, step, row);
	return SEEN_ROW;
}

const rt_history_row *
rt_history_next(rt_history_cursor *c)
{
	rt_scope *s = c != NULL ? c->view.scope : NULL;
	bool has_row = false;

	while (s != NULL && rt_ok(s) && !(has_row && c->at.group == 0)) {
		if (c->next == c->rows.count) {
			uint64_t from = c->at.seq;

			c->next = 0;
			if (from == 0)
				break;
			rt_stretch_read(s, c->view.engine, &c->rows, from,
				     from > RT_STRETCH_ROWS ? from - RT_STRETCH_ROWS + 1 : 1);
			if (c->rows.count == 0)
				break;
		}
		uint64_t seq = c->rows.rows[c->next].seq;
		rt_scope *into = c->other;
		rt_history_row row;

		rt_scope_reset(into);
		rt_record step = read_record(into, c->rows.rows[c->next].data);

		if (rt_scope_adopt(s, into) != RT_OK)
			break;
		switch (see(c, into, &step, seq, has_row, &row)) {
		case SEEN_NEXT: /* it is the next row; come back to it */
			c->at.group = 0;
			c->at.seq = seq;
			return &c->row;
		case SEEN_ROW:
			has_row = true;
			c->row = row;
			c->row.at_us = c->rows.rows[c->next].at_us;
			c->other = c->row_of;
			c->row_of = into;
			break;
		case SEEN_MORE:
			c->row.rows += has_row;
			if (has_row && seq == c->row.parent)
				c->row.parent = row.parent;
			break;
		case SEEN_NOTHING: break;
		}
		c->at.seq = seq - 1;
		c->next++;
		rt_scope_adopt(s, into);
	}
	return has_row && rt_ok(s) ? &c->row : NULL;
}

/* ---- one step ---- */

const rt_step_row *
rt_step_read(const rt_view *v, uint64_t seq)
{
	rt_scope *s = v->scope;
	rt_step_row *row = rt_scope_get(s, sizeof(*row));

	if (row == NULL)
		return NULL;
	row->seq = seq;
	if (rt_scope_arena(s) == NULL ||
	    RT_TRY(s, rt_engine_record(v->engine, seq, rt_scope_arena(s), &row->record, &row->at_us,
				       &s->error)) != RT_OK)
		return NULL;
	row->what = text_of(v->engine, s, v->project, &row->record, seq, false);
	return rt_ok(s) ? row : NULL;
}

uint64_t
rt_step_moved(const rt_view *v, uint64_t move, bool *is_one)
{
	enum { READ_MAX = 256 }; /* moves: more of them are those of an import */
	const rt_step_row *row = rt_step_read(v, move), *step;
	size_t count = row != NULL ? row->record.move_count : 0;
	uint64_t newest = 0;

	*is_one = true;
	for (size_t i = 0; i < count; i++) {
		uint64_t seq = row->record.moves[i].step;

		if (seq == newest || (count > 1 && count <= READ_MAX &&
				      (step = rt_step_read(v, seq)) != NULL &&
				      rt_history_is_draft(&step->record)))
			continue;
		*is_one = *is_one && newest == 0;
		newest = seq > newest ? seq : newest;
	}
	*is_one = *is_one && newest != 0;
	return newest;
}

/* ---- revisions ---- */

rt_revision_rows
rt_revisions_list(const rt_view *v, uint32_t entry)
{
	rt_scope *s = v->scope, *memory = rt_view_inner(s);
	const rt_disc *disc = rt_view_disc(v);
	rt_stretch *rows = rt_scope_get(s, sizeof(*rows));
	rt_buf *mark = rt_scope_buf(s);
	rt_revision_rows found = {0};
	size_t capacity = 0, at;
	bool is_in_take = false;
	uint64_t newest = 0; /* last body; bodies are numbered upwards */
	rt_slot now = {0};

	RT_TRY(s, rt_take_find(v->project, rt_disc_active(disc), entry, &at, &now, &is_in_take,
			       &s->error));
	/* only rows that contain "[<entry>," are worth decoding */
	rt_buf_add_byte(mark, '[');
	rt_buf_add_u64(mark, entry);
	rt_buf_add_byte(mark, ',');
	rt_str wanted = rt_scope_str(s, mark);

	if (!rt_ok(s))
		return found;
	rows->memory = rt_view_inner(s);
	for (uint64_t seq = 1; rt_ok(s) && seq <= v->project->seq;) {
		rt_stretch_read(s, v->engine, rows, seq, v->project->seq);
		if (rows->count == 0)
			break;
		for (size_t i = 0; rt_ok(s) && i < rows->count; i++) {
			seq = rows->rows[i].seq + 1;
			if (rt_str_find(rows->rows[i].data, wanted, 0) == SIZE_MAX)
				continue;
			rt_scope_reset(memory);
			rt_record step = read_record(memory, rows->rows[i].data);

			if (rt_scope_adopt(s, memory) != RT_OK)
				break;
			for (size_t j = 0; j < step.effect_count; j++)
				for (size_t k = 0; k < step.effects[j].added_count; k++) {
					const rt_slot *slot = &step.effects[j].added[k].slot;

					if (slot->entry != entry || slot->body <= newest)
						continue;
					found.items = rt_scope_grow(s, found.items, found.count,
								    &capacity, sizeof(*found.items));
					if (found.items == NULL)
						return (rt_revision_rows){0};
					newest = slot->body;
					found.items[found.count++] = (rt_revision_row){
						.seq = rows->rows[i].seq,
						.body = slot->body,
						.at_us = rows->rows[i].at_us,
						.by = rt_scope_copy(s, step.by),
						.is_current = is_in_take && now.body == slot->body,
					};
				}
		}
	}
	return rt_ok(s) ? found : (rt_revision_rows){0};
}

bool
rt_history_add_discussions(rt_buf *out, const rt_project *was, const rt_project *now, bool restored)
{
	enum { NAMES = 3 };
	const rt_project *with = restored ? now : was, *without = restored ? was : now;
	size_t count = 0;

	for (uint32_t i = 1; i <= rt_project_disc_count(with); i++) {
		const rt_cell *cell = rt_project_cell(with, i);

		if (!cell->present || (i <= rt_project_disc_count(without) &&
				       rt_project_cell(without, i)->present))
			continue;
		if (count++ < NAMES)
			rt_buf_add_f(out, "%s \"%.*s\"",
				     count > 1  ? ","
				     : restored ? " Discussions restored:"
						: " Discussions removed:",
				     RT_STR_ARG(rt_cell_name(cell)));
	}
	if (count > NAMES)
		rt_buf_add_f(out, " and %zu more", count - NAMES);
	return count > 0;
}
