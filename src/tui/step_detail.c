/* SPDX-License-Identifier: MIT */
#include "tui/step_detail.h"

#include "app/host.h"
#include "core/role.h"
#include "tui/bar.h"
#include "view/view_rows.h"

enum {
	SIDES_MAX = 20,  /* effects of a step, and entries of an effect */
	ENTRIES = 12,    /* of the conversation */
	TEXT_MAX = 4000, /* bytes of each */
	VALUE_MAX = 200,
	DIFFERENCE_MAX = 20000
};

/* The lines being written. */
typedef struct writer {
	const rt_step_detail *detail;
	rt_scope *s;
	rt_view view;
	rt_lines *lines;
	rt_buf *row; /* the next row or text */
} writer;

static rt_lines_options
options_for(const writer *w, rt_ink ink, int indent)
{
	return (rt_lines_options){.columns = w->detail->columns > 1 ? w->detail->columns : 1,
				  .utf8 = w->detail->utf8,
				  .ink = ink,
				  .indent = indent};
}

/* Write the row. */
static void
end_row(writer *w, rt_ink ink, int indent)
{
	rt_lines_options options = options_for(w, ink, indent);

	(void)rt_scope_note(w->s, w->row->status);
	rt_lines_add_plain(w->lines, rt_buf_str(w->row), &options);
	rt_buf_clear(w->row);
}

static void
cut(rt_buf *buf, size_t max)
{
	if (buf->size > max) {
		buf->size = rt_utf8_cut(rt_buf_str(buf), max);
		rt_buf_add_c(buf, " ...");
	}
}

/* The row is the text of an entry: Markdown, unless the chat shows it as typed. */
static void
end_text(writer *w, const rt_entry_row *entry, rt_ink ink)
{
	rt_lines_options options = options_for(w, ink, 2);

	cut(w->row, TEXT_MAX);
	(void)rt_scope_note(w->s, w->row->status);
	if (rt_role_is_source(entry->role) && !entry->read_mode)
		rt_lines_add_plain(w->lines, rt_buf_str(w->row), &options);
	else
		rt_lines_add_markdown(w->lines, rt_buf_str(w->row), &options);
	rt_buf_clear(w->row);
}

static void
put(writer *w, const char *before, rt_str text)
{
	rt_buf_add_c(w->row, before);
	rt_buf_add_str(w->row, text);
}

/* ---- the changes ---- */

/* The entry's text, and a line for its other contents. */
static rt_buf *
text_of(writer *w, const rt_entry_row *entry)
{
	rt_buf *text = rt_scope_buf(w->s), *brief = rt_scope_buf(w->s);

	rt_content_add_text(text, entry->content);
	rt_content_add_brief(brief, entry->content, NULL, NULL);
	rt_buf_add_c(text, text->size > 0 && brief->size > 0 ? "\n" : "");
	rt_buf_add_str(text, rt_scope_str(w->s, brief));
	(void)rt_scope_str(w->s, text);
	return text;
}

/* "+ AI", and below it the text of the entry. */
static void
add_side(writer *w, const rt_effect_slot *slot, const char *sign, rt_ink ink)
{
	const rt_entry_row *entry = rt_entry_of_effect(&w->view, slot);

	if (entry == NULL)
		return;
	put(w, sign, rt_role_label(w->view.project, entry->role));
	rt_buf_add_c(w->row, entry->muted ? "  muted" : "");
	end_row(w, (rt_ink)(ink | RT_INK_BOLD), 0);
	rt_buf_add_str(w->row, rt_buf_str(text_of(w, entry)));
	end_text(w, entry, ink);
}

static void
add_sides(writer *w, const rt_effect_slot *slots, size_t count, const char *sign, rt_ink ink)
{
	for (size_t i = 0; i < count && i < SIDES_MAX; i++)
		add_side(w, &slots[i], sign, ink);
	if (count > SIDES_MAX) {
		rt_buf_add_f(w->row, "%s%zu more", sign, count - SIDES_MAX);
		end_row(w, ink, 0);
	}
}

/* An entry that existed before and after. */
static void
add_edit(writer *w, const rt_effect_slot *before, const rt_effect_slot *after)
{
	const rt_entry_row *was = rt_entry_of_effect(&w->view, before);
	const rt_entry_row *is = rt_entry_of_effect(&w->view, after);
	rt_lines_options options = options_for(w, RT_INK_TEXT, 2);
	rt_buf *a, *b;

	if (was == NULL || is == NULL)
		return;
	put(w, "", rt_role_label(w->view.project, was->role));
	if (!rt_str_eq(was->role, is->role))
		put(w, " -> ", rt_role_label(w->view.project, is->role));
	if (was->muted != is->muted)
		rt_buf_add_c(w->row, is->muted ? "  muted" : "  unmuted");
	end_row(w, (rt_ink)(rt_role_ink(is->role) | RT_INK_BOLD), 0);
	a = text_of(w, was);
	b = text_of(w, is);
	if (!rt_ok(w->s) || rt_str_eq(rt_buf_str(a), rt_buf_str(b)))
		return;
	cut(a, DIFFERENCE_MAX);
	cut(b, DIFFERENCE_MAX);
	rt_lines_add_difference(w->lines, rt_buf_str(a), rt_buf_str(b), &options);
}

/* The name of the active take or discussion with this number; absent: none. */
static rt_str
active_name(const writer *w, rt_str op, rt_str value)
{
	const rt_project *project = w->detail->value;
	const rt_disc *disc = NULL;
	uint64_t number = 0;
	rt_error ignored;

	if (!rt_json_u64(rt_json_parse(w->s, value), &number) || number == 0)
		return (rt_str){0};
	if (!rt_str_starts(op, RT_STR("take.")))
		return number <= rt_project_disc_count(project)
			       ? rt_cell_name(rt_project_cell(project, (uint32_t)number))
			       : (rt_str){0};
	if (rt_project_cell(project, w->detail->disc) == NULL ||
	    rt_project_disc(project, w->detail->disc, &disc, &ignored) != RT_OK ||
	    number > rt_disc_take_count(disc))
		return (rt_str){0};
	return rt_text_str(rt_disc_take(disc, (uint32_t)number)->name);
}

static void
add_value(writer *w, const rt_effect *e, rt_str op, const char *sign, rt_str value, rt_ink ink)
{
	bool is_active = rt_str_is(e->key, "active");
	rt_str name = {0};

	if (value.ptr == NULL)
		value = RT_STR("null");
	if (is_active)
		name = active_name(w, op, value);
	else if (rt_str_is(value, "null"))
		return;
	rt_buf_add_c(w->row, sign);
	if (name.ptr != NULL)
		rt_buf_add_str(w->row, name);
	else
		rt_json_add_value(w->row, rt_json_parse(w->s, value));
	cut(w->row, VALUE_MAX);
	end_row(w, ink, 2);
}

static void
add_effect(writer *w, rt_str op, const rt_effect *e)
{
	switch (e->kind) {
	case RT_EFFECT_SPLICE:
		if (e->removed_count == 1 && e->added_count == 1 &&
		    e->removed[0].slot.entry == e->added[0].slot.entry) {
			add_edit(w, &e->removed[0], &e->added[0]);
		} else {
			add_sides(w, e->removed, e->removed_count, "- ", RT_INK_REMOVED);
			add_sides(w, e->added, e->added_count, "+ ", RT_INK_ADDED);
		}
		break;
	case RT_EFFECT_NEW:
		put(w, e->disc == 0 ? "+ new discussion \"" : "+ new take \"", e->name);
		rt_buf_add_byte(w->row, '"');
		end_row(w, RT_INK_ADDED, 0);
		break;
	case RT_EFFECT_SET:
		put(w, "", e->key);
		end_row(w, RT_INK_BOLD, 0);
		add_value(w, e, op, "- ", e->before, RT_INK_REMOVED);
		add_value(w, e, op, "+ ", e->after, RT_INK_ADDED);
		break;
	}
}

/* Effects that accompany others: the active take, the head. */
static bool
is_secondary(const rt_effect *e)
{
	static const char *const keys[] = {"active", "head", "present", NULL};

	return e->kind == RT_EFFECT_SET && rt_str_is_one_of(e->key, keys);
}

static void
add_step(writer *w)
{
	const rt_step_row *step = rt_step_read(&w->view, w->detail->seq);
	const rt_lines before = *w->lines;
	size_t primary = 0, written = 0;

	if (step == NULL)
		return;
	const rt_record *r = &step->record;

	rt_buf_add_f(w->row, "Step %llu", (unsigned long long)step->seq);
	put(w, "  ", w->detail->did);
	end_row(w, RT_INK_HEADING | RT_INK_BOLD, 0);
	rt_host_add_local_time(w->row, step->at_us, true);
	put(w, "  ", r->by);
	end_row(w, RT_INK_DIM, 0);
	for (size_t i = 0; i < r->effect_count; i++)
		primary += !is_secondary(&r->effects[i]);
	for (size_t i = 0; i < r->effect_count; i++) {
		if (primary > 0 && is_secondary(&r->effects[i]))
			continue;
		if (written++ == SIDES_MAX) {
			rt_buf_add_f(w->row, "and more, %zu changes in all", r->effect_count);
			end_row(w, RT_INK_DIM, 0);
			break;
		}
		add_effect(w, r->op, &r->effects[i]);
	}
	if (!rt_ok(w->s)) { /* the failure alone is shown */
		w->lines->count = before.count;
		w->lines->piece_count = before.piece_count;
		w->lines->text.size = before.text.size;
	}
}

/* ---- the conversation right after it ---- */

static void
add_entry(writer *w, const rt_entry_row *e)
{
	put(w, "", rt_role_label(w->view.project, e->role));
	rt_buf_add_f(w->row, "  %zu", e->at + 1);
	if (e->label.size > 0)
		put(w, "  #", e->label);
	end_row(w, (rt_ink)(rt_role_ink(e->role) | RT_INK_BOLD), 0);
	rt_entry_add_text(w->row, e);
	end_text(w, e, RT_INK_TEXT);
}

static void
unref(void *value)
{
	rt_object_unref(value);
}

static void
add_state(writer *w)
{
	const rt_step_detail *d = w->detail;
	const rt_project *then = NULL;
	const rt_disc *disc = NULL;
	rt_window window = {.count = ENTRIES};
	rt_error ignored;

	RT_TRY(w->s, rt_engine_value_at(d->engine, d->seq, &then, &w->s->error));
	if (!rt_ok(w->s))
		return;
	rt_scope_defer(w->s, unref, (void *)(uintptr_t)then);
	if (rt_project_cell(then, d->disc) == NULL ||
	    rt_project_disc(then, d->disc, &disc, &ignored) != RT_OK) {
		rt_buf_add_c(w->row, "The discussion did not exist yet.");
		end_row(w, RT_INK_DIM, 0);
		return;
	}
	const rt_take *take = rt_disc_active(disc);
	size_t count = rt_seq_count(take->slots);

	put(w, "State at that time: take ", rt_text_str(take->name));
	rt_buf_add_f(w->row, ", %zu entr%s", count, count == 1 ? "y" : "ies");
	end_row(w, RT_INK_HEADING | RT_INK_BOLD, 0);
	if (count == 0)
		return;
	window.from = count > ENTRIES ? count - ENTRIES : 0;
	if (window.from > 0) {
		rt_buf_add_f(w->row, "%zu before these", window.from);
		end_row(w, RT_INK_DIM, 0);
	}
	w->view.project = then;
	w->view.place = (rt_place){d->disc, take->number};
	rt_entry_cursor *cursor = rt_entries_open(&w->view, &window);

	for (const rt_entry_row *e; (e = rt_entries_next(cursor)) != NULL;)
		add_entry(w, e);
}

/* One part in a separate scope, so that its failure is a line and the other part is shown. */
static rt_status
add_part(const rt_step_detail *detail, rt_lines *lines, void (*add)(writer *w))
{
	rt_scope s;
	rt_status st;
	writer w = {.detail = detail,
		    .s = &s,
		    .view = {&s, detail->engine, detail->value, {detail->disc, 0}},
		    .lines = lines};
	rt_lines_options options = options_for(&w, RT_INK_ERROR, 0);

	rt_scope_init(&s, detail->alloc);
	w.row = rt_scope_buf(&s);
	add(&w);
	st = s.status;
	if (st != RT_OK && st != RT_NOMEM)
		rt_lines_add_plain(lines, rt_str_of(s.error.text), &options);
	rt_scope_deinit(&s);
	return st == RT_NOMEM ? st : RT_OK;
}

rt_status
rt_step_detail_add(const rt_step_detail *detail, rt_lines *lines)
{
	rt_status st = RT_OK;

	if (detail->seq != 0) {
		st = add_part(detail, lines, add_step);
		rt_lines_add_blank(lines);
	}
	if (st == RT_OK)
		st = add_part(detail, lines, add_state);
	return st == RT_OK ? lines->status : st;
}
