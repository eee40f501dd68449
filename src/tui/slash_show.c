/* SPDX-License-Identifier: MIT */
#include "tui/slash_show.h"

#include <stdio.h>

#include "tui/bar.h"
#include "tui/pending.h"
#include "tui/slash_context.h"
#include "tui/verb_impl.h"

enum { DIFFERENCE_MAX = 1 << 20 /* bytes of a text */ };

/* ---- numbered rows ---- */

rt_pick_items *
rt_pick_items_new(rt_tui *tui, rt_str name)
{
	rt_pick_items *items = rt_new(tui->alloc, sizeof(*items));

	if (items == NULL)
		return NULL;
	items->count = 0;
	(void)snprintf(items->name, sizeof(items->name), "%.*s", RT_STR_ARG(name));
	return items;
}

void
rt_pick_items_free(rt_tui *tui, void *items)
{
	rt_free(tui->alloc, items);
}

uint32_t
rt_pick_items_at(const rt_pick_items *items, rt_str answer)
{
	uint64_t number = 0;

	(void)rt_str_u64_prefix(answer, items->count, &number);
	return number == 0 ? 0 : items->items[number - 1];
}

/* ---- the takes ---- */

/* A column of a row. */
static void
add_cell(rt_buf *row, rt_str text)
{
	rt_buf_add_byte(row, '\t');
	for (size_t i = 0; i < text.size; i++)
		rt_buf_add_byte(row, text.ptr[i] == '\t' || text.ptr[i] == '\n' ? ' ' : text.ptr[i]);
}

/* Rows for rt_pane_pick_columns. current NULL: only the takes that are not in view; else the row of
 * the one in view is added to it. */
static yyjson_val *
list_takes(rt_tui *tui, rt_scope *s, rt_pick_items *n, rt_buf *current)
{
	rt_work *work = &tui->work;
	rt_view view = rt_work_view(work, s);
	rt_take_rows takes = rt_takes_list(&view, &(rt_takes_options){.max = RT_PICK_ITEMS_MAX,
								      .also = work->place.take,
								      .times = true,
								      .titles = true});
	rt_buf *json = rt_scope_buf(s), *row = rt_scope_buf(s), *details = rt_scope_buf(s);

	rt_json_open(json, NULL, '[');
	for (size_t i = 0; i < takes.count && n->count < RT_PICK_ITEMS_MAX; i++) {
		const rt_take_row *take = &takes.items[i];
		bool is_here = take->number == work->take->number;

		if (current == NULL && is_here)
			continue;
		n->items[n->count++] = take->number;
		rt_buf_clear(row);
		rt_buf_clear(details);
		rt_buf_add_f(row, "%zu", n->count);
		add_cell(row, is_here ? RT_STR("*") : RT_STR(""));
		add_cell(row, take->name);
		rt_buf_add_f(details, "%zu %s", take->entries, take->entries == 1 ? "entry" : "entries");
		if (take->model.size > 0)
			rt_buf_add_f(details, ", %.*s", RT_STR_ARG(take->model));
		if (take->updated_us != 0)
			rt_buf_add_f(details, ", %.*s", RT_STR_ARG(rt_bar_time(tui, take->updated_us)));
		add_cell(row, rt_scope_str(s, details));
		add_cell(row, take->title.size > 0 ? take->title : take->preview);
		rt_json_put_str(json, NULL, rt_scope_str(s, row));
		if (is_here)
			rt_buf_add_str(current, rt_buf_str(row));
	}
	rt_json_close(json, ']');
	return rt_json_parse(s, rt_scope_str(s, json));
}

static rt_status show_difference(rt_tui *tui, uint32_t other);

static rt_status
chose_take(rt_tui *tui, void *ctx, rt_str answer)
{
	uint32_t number = rt_pick_items_at(ctx, answer);
	const rt_take *take = number == 0 ? NULL : rt_disc_take(tui->work.disc, number);

	if (take == NULL)
		return RT_OK;
	/* Not by its id, which another one may have as its name (C29). */
	return rt_verb_apply(tui, &(rt_request){.op = RT_OP_TAKE_SWITCH,
						.target = rt_text_str(take->name)});
}

static rt_status pick_take(rt_tui *tui, bool switches);

/* The take in view is compared with the only other one, or with one of the others. */
static rt_status
chose_other(rt_tui *tui, void *ctx, rt_str answer)
{
	uint32_t number = rt_pick_items_at(ctx, answer);

	if (number == tui->work.place.take)
		return pick_take(tui, false);
	return number == 0 ? RT_OK : show_difference(tui, number);
}

static rt_status
chose_rename(rt_tui *tui, void *ctx, rt_str answer)
{
	uint32_t number = rt_pick_items_at(ctx, answer);

	return number == 0 ? RT_OK : rt_verb_rename(tui, number);
}

rt_status
rt_slash_rename_take(rt_tui *tui, rt_action action, rt_str name)
{
	uint32_t number = tui->work.place.take;

	(void)action;
	return name.size == 0 ? rt_verb_rename(tui, number) : rt_verb_with(tui, RT_ACT_RENAME, &number, 1, name);
}

static rt_status
pick_take(rt_tui *tui, bool switches)
{
	rt_pick_items *n = rt_pick_items_new(tui, RT_STR(""));
	rt_buf *current;
	yyjson_val *rows;
	rt_scope s;

	if (n == NULL)
		return RT_NOMEM;
	rt_scope_init(&s, tui->alloc);
	current = rt_scope_buf(&s);
	rows = list_takes(tui, &s, n, switches ? current : NULL);
	if (rt_ok(&s) && !switches && n->count == 0) {
		rt_tui_say(tui, "There is no other take to compare with");
	} else if (rt_ok(&s) && !switches && n->count == 1) {
		RT_TRY(&s, show_difference(tui, n->items[0]));
	} else if (rt_ok(&s)) {
		RT_TRY(&s, rt_pane_pick(tui, switches ? "Which take?" : "Compare with which take?", rows,
					false, switches ? chose_take : chose_other, n, rt_pick_items_free));
		n = NULL;
		if (rt_ok(&s))
			rt_pane_pick_columns(tui);
		if (rt_ok(&s) && switches)
			rt_pane_pick_on_tab(tui, chose_other,
					  "Up, Down choose   Enter switch   Tab compare   Ctrl+R rename   Esc cancel");
		if (rt_ok(&s) && switches)
			rt_pane_pick_on_rename(tui, chose_rename);
		if (rt_ok(&s))
			rt_pane_pick_begin_on(tui, rt_scope_str(&s, current));
	}
	rt_pick_items_free(tui, n);
	return rt_verb_end(tui, &s);
}

rt_status
rt_slash_branches(rt_tui *tui, rt_action action, rt_str name)
{
	(void)action;
	return name.size == 0
		       ? pick_take(tui, true)
		       : rt_verb_apply(tui, &(rt_request){.op = RT_OP_TAKE_SWITCH, .target = name});
}

rt_status
rt_slash_diff(rt_tui *tui, rt_action action, rt_str rest)
{
	(void)action;
	(void)rest;
	return pick_take(tui, false);
}

/* ---- the difference of two takes ---- */

typedef struct writer {
	rt_scope *s;
	rt_lines *lines;
	rt_lines_options options;
} writer;

static rt_str
text_of(writer *w, const rt_entry_row *e)
{
	rt_buf *text = rt_scope_buf(w->s);

	if (e != NULL)
		rt_entry_add_text(text, e);
	rt_str whole = rt_scope_str(w->s, text);
	whole.size = rt_utf8_cut(whole, DIFFERENCE_MAX);
	return whole;
}

/* ", builtin/echo", or both models of a pair: ", - builtin/echo, + builtin/text". */
static rt_str
models_of(writer *w, const rt_entry_row *was, const rt_entry_row *is)
{
	rt_buf *old = rt_scope_buf(w->s), *new = rt_scope_buf(w->s), *out = rt_scope_buf(w->s);

	if (was != NULL && was->body != NULL)
		rt_body_add_model(old, was->body);
	if (is->body != NULL)
		rt_body_add_model(new, is->body);
	if (rt_str_eq(rt_buf_str(old), rt_buf_str(new)))
		rt_buf_clear(old);
	if (old->size > 0)
		rt_buf_add_f(out, ", - %.*s", RT_STR_ARG(rt_buf_str(old)));
	if (new->size > 0)
		rt_buf_add_f(out, ", %s%.*s", old->size > 0 ? "+ " : "", RT_STR_ARG(rt_buf_str(new)));
	return rt_scope_str(w->s, out);
}

static void
add_heading(writer *w, const char *sign, const rt_entry_row *e, rt_ink ink, const char *remark,
	    rt_str models)
{
	rt_buf *row = rt_scope_buf(w->s);

	rt_lines_add_blank(w->lines);
	rt_buf_add_f(row, "%s%.*s %zu%s%.*s", sign, RT_STR_ARG(e->role), e->at + 1, remark,
		     RT_STR_ARG(models));
	rt_lines_add_row(w->lines, 0, rt_scope_str(w->s, row), (rt_ink)(ink | RT_INK_BOLD));
}

/* An entry of both takes, or two that are at the same position. */
static void
add_pair(writer *w, const rt_entry_row *was, const rt_entry_row *is, const char *remark)
{
	rt_str before = text_of(w, was), after = text_of(w, is);

	add_heading(w, "", is, rt_role_ink(is->role), remark, models_of(w, was, is));
	if (rt_ok(w->s))
		rt_lines_add_difference(w->lines, before, after, &w->options);
}

static void
add_side(writer *w, const rt_entry_row *e, bool is_added)
{
	rt_lines_options options = w->options;
	rt_str text = text_of(w, e);

	options.ink = is_added ? RT_INK_ADDED : RT_INK_REMOVED;
	options.indent = 2;
	add_heading(w, is_added ? "+ " : "- ", e, options.ink, "", models_of(w, NULL, e));
	if (rt_ok(w->s))
		rt_lines_add_plain(w->lines, text, &options);
}

/* The entries after the point of divergence: two with the same role next to each other are compared. */
static void
add_rests(writer *w, const rt_view *view, const rt_diff *diff)
{
	rt_view ours = *view, theirs = *view;
	rt_window from = {.from = diff->common};
	rt_entry_cursor *a, *b;
	const rt_entry_row *was, *is;

	theirs.place.take = diff->a->number;
	ours.place.take = diff->b->number;
	a = rt_entries_open(&theirs, &from);
	b = rt_entries_open(&ours, &from);
	for (was = rt_entries_next(a), is = rt_entries_next(b); rt_ok(w->s) && (was != NULL || is != NULL);
	     was = rt_entries_next(a), is = rt_entries_next(b)) {
		if (was != NULL && is != NULL && rt_str_eq(was->role, is->role)) {
			add_pair(w, was, is, "");
			continue;
		}
		if (was != NULL)
			add_side(w, was, false);
		if (is != NULL)
			add_side(w, is, true);
	}
}

/* From the other take to the one in view. */
static rt_status
show_difference(rt_tui *tui, uint32_t other)
{
	rt_lines lines;
	rt_view view;
	rt_diff diff;
	rt_buf *row;
	rt_scope s;
	writer w = {&s, &lines, rt_verb_lines(tui, 2, 0)};

	rt_scope_init(&s, tui->alloc);
	rt_lines_init(&lines, tui->alloc);
	view = rt_work_view(&tui->work, &s);
	diff = rt_diff_open(&view, other, tui->work.place.take);
	if (diff.a != NULL) {
		row = rt_scope_buf(&s);
		rt_buf_add_f(row, "- %.*s", RT_STR_ARG(rt_text_str(diff.a->name)));
		rt_lines_add_row(&lines, 0, rt_scope_str(&s, row), RT_INK_REMOVED | RT_INK_BOLD);
		rt_buf_clear(row);
		rt_buf_add_f(row, "+ %.*s (in view)", RT_STR_ARG(rt_text_str(diff.b->name)));
		rt_lines_add_row(&lines, 0, rt_scope_str(&s, row), RT_INK_ADDED | RT_INK_BOLD);
		rt_buf_clear(row);
		rt_buf_add_f(row, "%zu %s in both", diff.common, diff.common == 1 ? "entry" : "entries");
		rt_lines_add_row(&lines, 0, rt_scope_str(&s, row), RT_INK_DIM);
		while (rt_ok(&s) && rt_diff_next(&view, &diff))
			add_pair(&w, diff.was, diff.is, ", edited");
		add_rests(&w, &view, &diff);
	}
	return rt_verb_show(tui, &s, "Differences between two takes", &lines);
}

/* ---- the next request ---- */

rt_status
rt_slash_context(rt_tui *tui, rt_action action, rt_str rest)
{
	rt_lines lines;
	rt_scope s;

	(void)action;
	(void)rest;
	rt_scope_init(&s, tui->alloc);
	rt_lines_init(&lines, tui->alloc);
	rt_slash_context_add(&tui->work, &s, rt_verb_lines(tui, 2, 0), &lines);
	return rt_verb_show(tui, &s, "Next request", &lines);
}

/* ---- instructions ---- */

/* An edit of the project's instructions: its question has a reference, and so has its change. */
typedef struct system_edit {
	unsigned references;
	rt_precondition precondition; /* they are the text from which the edit began */
	rt_buf answer;
} system_edit;

static void
free_edit(rt_tui *tui, void *ctx)
{
	system_edit *edit = ctx;

	if (edit == NULL || --edit->references > 0)
		return;
	rt_precondition_deinit(&edit->precondition);
	rt_buf_deinit(&edit->answer);
	rt_free(tui->alloc, edit);
}

static rt_status
changed_system(rt_tui *tui, void *ctx, rt_status st, rt_work_said *said, const rt_error *err)
{
	const system_edit *edit = ctx;

	if (st != RT_CONFLICT)
		return rt_pending_change_report(tui, ctx, st, said, err);
	rt_tui_say_str(tui, RT_STR("The instructions were changed elsewhere; /system shows them"),
		       RT_INK_ERROR);
	rt_tui_remember_input(tui, rt_buf_str(&edit->answer));
	return RT_OK;
}

static rt_status
edited_system(rt_tui *tui, void *ctx, rt_str answer)
{
	system_edit *edit = ctx;
	rt_buf *json;
	rt_scope s;

	if (answer.ptr == NULL)
		return RT_OK;
	rt_scope_init(&s, tui->alloc);
	json = rt_scope_buf(&s);
	rt_json_put_str(json, NULL, answer);
	rt_buf_add_str(&edit->answer, answer);
	rt_scope_note(&s, edit->answer.status);

	rt_request request = {.op = RT_OP_SETTING_SET,
			      .key = RT_STR("project_system_prompt"),
			      .value = rt_json_parse(&s, rt_scope_str(&s, json))};

	if (rt_ok(&s)) {
		edit->references++;
		RT_TRY(&s, rt_pending_change_start(
				   tui, &(rt_pending_change_options){.requests = &request,
								     .count = 1,
								     .precondition = &edit->precondition,
								     .done = changed_system,
								     .ctx = edit,
								     .free_ctx = free_edit}));
	}
	return rt_verb_end(tui, &s);
}

/* The first entry of the take; false: there is none. */
static bool
first_entry(rt_scope *s, rt_work *work, rt_slot *out)
{
	if (rt_work_count(work) == 0)
		return false;
	RT_TRY(s, rt_seq_get(work->take->slots, 0, out, &s->error));
	return rt_ok(s);
}

static rt_status
added_system(rt_tui *tui, void *ctx, rt_str answer)
{
	rt_request request = {.op = RT_OP_ENTRY_APPEND,
			      .role = RT_STR("System"),
			      .content.text = answer};
	rt_slot first;
	rt_scope s;

	(void)ctx;
	if (answer.size == 0)
		return RT_OK;
	rt_scope_init(&s, tui->alloc);
	if (first_entry(&s, &tui->work, &first)) {
		request.op = RT_OP_ENTRY_INSERT;
		request.before = rt_work_entry_id(&s, &tui->work, first.entry);
	}
	if (rt_ok(&s))
		RT_TRY(&s, rt_verb_apply(tui, &request));
	return rt_verb_end(tui, &s);
}

/* The instructions of one discussion are an entry of the role System at its beginning. */
static rt_status
system_here(rt_tui *tui)
{
	rt_slot first = {0};
	rt_str role = {0};
	bool used;
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	if (first_entry(&s, &tui->work, &first))
		RT_TRY(&s, rt_project_name(tui->work.value, first.role, &role, &s.error));
	if (rt_ok(&s) && role.size > 0 && first.kind == 0 && rt_str_eq_nocase(role, RT_STR("System")))
		RT_TRY(&s, rt_verb_act(tui, RT_ACT_EDIT, &first.entry, 1, &used));
	else if (rt_ok(&s))
		RT_TRY(&s, rt_pane_ask(tui, "Instructions of this discussion, as its first entry",
				       RT_STR(""), true, added_system, NULL, NULL));
	return rt_verb_end(tui, &s);
}

rt_status
rt_slash_system(rt_tui *tui, rt_action action, rt_str rest)
{
	rt_work *work = &tui->work;
	system_edit *edit;
	rt_scope s;

	(void)action;
	if (rt_str_is(rest, "here"))
		return system_here(tui);
	if (rest.size > 0) {
		rt_tui_say_str(tui,
			       RT_STR("/system edits the text for all discussions, /system here the one "
				      "for this discussion"),
			       RT_INK_ERROR);
		return RT_OK;
	}
	edit = rt_new0(tui->alloc, sizeof(*edit));
	if (edit == NULL)
		return RT_NOMEM;
	edit->references = 1;
	rt_buf_init(&edit->answer, tui->alloc, RT_BUF_UNLIMITED);
	rt_precondition_init(&edit->precondition, tui->alloc, work->place.disc);
	rt_scope_init(&s, tui->alloc);
	rt_precondition_add(&s, &edit->precondition, (rt_fact){.kind = RT_FACT_INSTRUCTIONS},
			    work->engine, work->value);

	rt_view view = rt_work_view(work, &s);
	rt_str now = rt_json_str(rt_setting_value(&view, RT_STR("project_system_prompt")));

	if (rt_ok(&s))
		RT_TRY(&s, rt_pane_ask(tui, "Instructions of the project, for all its discussions",
				       now.size > 0 ? now : RT_STR(""), true, edited_system, edit, free_edit));
	else
		free_edit(tui, edit);
	return rt_verb_end(tui, &s);
}
