/* SPDX-License-Identifier: MIT
 *
 * The tree of the discussion (seed 4): the lower half of the terminal, below the chat; if there is
 * room, the selected entry's text next to it. tree.h has the rows; this draws them and gives keys
 * their meaning. */
#include <stdlib.h>

#include "app/host.h"
#include "core/role.h"
#include "tui/bar.h"
#include "tree/tree_reader.h"
#include "tui/verb.h"
#include "tui/verb_impl.h"

enum {
	ROWS_MIN = 7, /* of the pane: title, five rows, footer */
	WIDE = 100,   /* columns from which on there is a preview */
	ROWS_MAX = 512,
	LEARN = 1024, /* texts read in a turn of the loop, until all are known */
	TIMES = 4096, /* rows of the log read in a turn, for times of labels */
	PREVIEW_BYTES = 32 << 10,
	MARKS_MAX = 4096
};

/* When an entry's label was set. */
typedef struct label_time {
	uint32_t entry;
	int64_t at_us;
} label_time;

typedef struct tree_pane {
	rt_pane pane; /* first */
	rt_tree_reader reader;
	rt_tree *tree;
	rt_field *query;
	bool is_searching; /* the query is being typed: blanks go there, and Enter ends it */
	bool knows_all;    /* no texts are left to learn */
	size_t page;       /* rows */
	rt_box rows;       /* where they are drawn */
	uint64_t value_seen;
	uint64_t epoch; /* work.epoch */

	rt_lines preview; /* of this entry: */
	uint32_t preview_entry;
	uint64_t preview_body, preview_value;
	int preview_columns;

	bool shows_times;
	uint64_t times_seq; /* how far the log was read (rt_view_label_times) */
	label_time *times;
	size_t time_count, time_capacity;
} tree_pane;

static tree_pane *
of(rt_pane *pane)
{
	return (tree_pane *)pane;
}

static rt_scope *
scope_of(tree_pane *p)
{
	return &p->pane.tui->scope;
}

/* The selected node, or NULL. */
static const rt_tree_node *
selected(const tree_pane *p)
{
	uint32_t node = rt_tree_selected_node(p->tree);

	return node == RT_TREE_NONE ? NULL : rt_tree_node_at(p->tree, node);
}

/* ---- times of labels ---- */

static label_time *
time_of(tree_pane *p, uint32_t entry)
{
	for (size_t i = 0; i < p->time_count; i++)
		if (p->times[i].entry == entry)
			return &p->times[i];
	return NULL;
}

/* The latest counts. */
static void
keep_time(void *ctx, uint32_t entry, int64_t at_us)
{
	tree_pane *p = ctx;
	label_time *known = time_of(p, entry);

	if (known == NULL) {
		known = rt_array_add(p->pane.tui->alloc, &p->times, &p->time_count,
				     &p->time_capacity, sizeof(*known));
		if (known == NULL)
			return; /* benign: the time is not shown */
		*known = (label_time){entry, at_us};
	}
	known->at_us = known->at_us > at_us ? known->at_us : at_us;
}

static void
add_time(void *ctx, uint32_t entry, rt_buf *out)
{
	tree_pane *p = ctx;
	const rt_env *env = p->pane.tui->session->env;
	const label_time *known = time_of(p, entry);

	if (known != NULL)
		rt_host_add_short_time(out, known->at_us, env->now_us(env->ctx));
}

/* From the beginning: times of imports at once, those of steps by poll_times. */
static void
begin_times(tree_pane *p)
{
	p->time_count = 0;
	p->times_seq = 0;
	rt_tree_show_times(p->tree, p->shows_times ? add_time : NULL, p);
	if (p->shows_times)
		RT_TRY(scope_of(p), rt_tree_reader_label_times(&p->reader, p->tree, keep_time, p));
}

static void
poll_times(tree_pane *p)
{
	rt_work *work = &p->pane.tui->work;
	rt_error err;

	if (!p->shows_times || p->times_seq == 1)
		return;
	do {
		rt_status st = rt_view_label_times(work->engine, work->value, work->place.disc,
						   &p->times_seq, TIMES, keep_time, p, &err);

		if (st == RT_NOMEM)
			(void)rt_scope_nomem(scope_of(p));
		if (st != RT_OK)
			p->times_seq = 1; /* the log cannot be read any further */
	} while (p->times_seq != 1 && p->pane.tui->terminal == NULL);
	p->pane.tui->has_more = p->pane.tui->has_more || p->times_seq != 1;
}

/* ---- the tree ---- */

static void
read_tree(tree_pane *p)
{
	rt_tui *tui = p->pane.tui;
	rt_error err;
	rt_status st = rt_tree_reader_read(&p->reader, tui->work.value, tui->work.place.disc,
					   p->tree, &err);

	p->value_seen = tui->work.value_change;
	p->knows_all = false;
	if (st == RT_OK && p->shows_times)
		begin_times(p);
	RT_TRY(scope_of(p), rt_tui_say_failure(tui, st, &err));
}

static void
changed(rt_pane *pane)
{
	tree_pane *p = of(pane);

	if (p->epoch != pane->tui->work.epoch) { /* something was purged: drop all texts */
		p->epoch = pane->tui->work.epoch;
		rt_tree_forget(p->tree);
		rt_lines_clear(&p->preview);
		p->preview_entry = 0;
	}
	if (p->value_seen != pane->tui->work.value_change)
		read_tree(p);
}

/* Reads texts while there is nothing else to do. */
static void
poll_tree(rt_pane *pane)
{
	tree_pane *p = of(pane);
	rt_error err;

	if (!p->knows_all && rt_tree_learn(p->tree, LEARN, &p->knows_all, &err) != RT_OK)
		p->knows_all = true; /* damaged texts: those that can be read are shown */
	pane->tui->has_more = pane->tui->has_more || !p->knows_all;
	poll_times(p);
}

/* ---- drawing ---- */

static rt_ink
ink_of(rt_tree_style style, const rt_tree_node *node, bool is_head, bool is_selected)
{
	/* seed 4: all except questions, and programs' messages that can be edited and sent again */
	bool is_dim = node != NULL && node->kind != RT_TREE_USER && node->kind != RT_TREE_CUSTOM;

	switch (style) {
	case RT_TREE_CURSOR: return RT_INK_TEXT | RT_INK_BOLD;
	case RT_TREE_LINES:
	case RT_TREE_FOLD: return RT_INK_BORDER;
	case RT_TREE_PATH: return RT_INK_GOOD;
	case RT_TREE_LABEL: return RT_INK_LABEL;
	case RT_TREE_WHO:
		return node == NULL                      ? RT_INK_DIM
		       : node->kind == RT_TREE_USER      ? RT_INK_USER
		       : node->kind == RT_TREE_ASSISTANT ? RT_INK_AI
							 : RT_INK_TOOL;
	case RT_TREE_NOTE: return is_head ? RT_INK_GOOD | RT_INK_BOLD : RT_INK_DIM;
	case RT_TREE_PLAIN:
	case RT_TREE_WORDS:
	default: return is_dim && !is_selected ? RT_INK_DIM : RT_INK_TEXT;
	}
}

static void
draw_line(const tree_pane *p, rt_canvas *c, rt_box box, int y, const rt_tree_line *line)
{
	const rt_tree_node *node = line->node == RT_TREE_NONE
					   ? NULL
					   : rt_tree_node_at(p->tree, line->node);
	bool is_head = node != NULL && node->row == rt_tree_head_row(p->tree);
	int x = 0;

	for (size_t i = 0; i < line->span_count; i++) {
		const rt_tree_span *span = &line->spans[i];

		x = rt_canvas_put(c, box, x, y, rt_str_at(line->text.ptr + span->at, span->size),
				  ink_of(span->style, node, is_head, line->selected));
	}
	if (line->selected)
		rt_canvas_flag(c, (rt_box){box.x, box.y + y, box.w, 1}, RT_INK_SELECTED);
}

static void
draw_rows(tree_pane *p, rt_canvas *c, rt_box box)
{
	rt_scope *s = scope_of(p);
	const rt_tree_line *lines;
	size_t first, count;

	p->page = box.h < ROWS_MAX ? (size_t)box.h : ROWS_MAX;
	p->rows = box;
	rt_tree_window(p->tree, p->page, &first, &count);
	lines = rt_tree_draw(p->tree, s, first, count, (size_t)box.w);
	if (lines == NULL)
		(void)rt_canvas_put_c(c, box, 1, 0, s->error.text, RT_INK_ERROR);
	for (size_t i = 0; lines != NULL && i < (count > 0 ? count : 1); i++)
		draw_line(p, c, box, (int)i, &lines[i]);
}

/* A take through the selected node, other than the current one; 0: the current one. */
static uint32_t
take_through(const tree_pane *p)
{
	const rt_tree_node *n = selected(p);
	uint32_t node = rt_tree_selected_node(p->tree);

	if (n == NULL || (n->flags & RT_TREE_ACTIVE) != 0)
		return 0;
	for (uint32_t end = n->end; node < end; node++)
		if (rt_tree_node_at(p->tree, node)->take != 0)
			return rt_tree_node_at(p->tree, node)->take;
	return 0;
}

/* Two rows about an entry of a take (NULL: the current one), and its text. */
static void
lay_entry(tree_pane *p, const rt_work_entry *e, const rt_take *take, int columns)
{
	rt_tui *tui = p->pane.tui;
	rt_lines_options options = {
		.columns = columns, .utf8 = tui->canvas.utf8, .ink = RT_INK_TEXT};
	rt_str text = rt_buf_str(&e->text), role = rt_role_label(tui->work.value, e->role), where;

	rt_lines_add_row(
		&p->preview, 0,
		rt_tui_format(tui, "%.*s%s%s%s", (int)(role.size > 80 ? 80 : role.size),
			      role.ptr, (e->slot.flags & RT_SLOT_EDITED) != 0 ? "  edited" : "",
			      e->is_muted ? "  muted" : "", e->is_partial ? "  partial" : ""),
		(rt_ink)(rt_role_ink(e->role) | RT_INK_BOLD));
	if (e->at != SIZE_MAX)
		where = rt_tui_format(tui, "entry %zu of %zu in this take", e->at + 1,
				      rt_work_count(&tui->work));
	else
		where = rt_tui_format(
			tui, "in take %.*s",
			take == NULL ? 0 : (int)(take->name->size > 200 ? 200 : take->name->size),
			take == NULL ? "" : take->name->ptr);
	rt_lines_add_row(&p->preview, 0, where, RT_INK_DIM);
	rt_lines_add_blank(&p->preview);
	text.size = rt_utf8_cut(text, PREVIEW_BYTES);
	if (rt_role_is_source(e->role) && !e->is_read)
		rt_lines_add_plain(&p->preview, text, &options); /* as in the chat */
	else
		rt_lines_add_markdown(&p->preview, text, &options);
	if (e->parts.size > 0)
		rt_lines_add_row(&p->preview, 0, rt_buf_str(&e->parts), RT_INK_TOOL);
}

/* The selected entry, laid out again if it is another one. */
static void
lay_preview(tree_pane *p, int columns)
{
	rt_work *work = &p->pane.tui->work;
	const rt_tree_node *n = selected(p);
	uint32_t take = take_through(p);
	rt_work_entry e;
	rt_error err;
	rt_status st;

	if (n != NULL && p->preview_entry == n->entry && p->preview_body == n->body &&
	    p->preview_columns == columns && p->preview_value == work->value_change)
		return;
	rt_lines_clear(&p->preview);
	p->preview_entry = n != NULL ? n->entry : 0;
	if (n == NULL)
		return;
	p->preview_body = n->body;
	p->preview_columns = columns;
	p->preview_value = work->value_change;
	work->seen_take = take;
	st = rt_work_entry_of(work, n->entry, &e, &err);
	work->seen_take = 0;
	if (st != RT_OK) {
		rt_lines_add_row(&p->preview, 0, rt_str_of(err.text), RT_INK_ERROR);
		return;
	}
	lay_entry(p, &e, take == 0 ? NULL : rt_disc_take(work->disc, take), columns);
	rt_work_entry_deinit(&e);
}

static void
draw_title(tree_pane *p, rt_canvas *c, rt_box box)
{
	rt_str query = rt_tree_query(p->tree);
	size_t marks = rt_tree_mark_count(p->tree);
	int x;

	rt_bar_line(c, box, RT_GLYPH_HORIZONTAL);
	x = rt_canvas_put_c(c, box, 1, 0, " Tree ", RT_INK_HEADING | RT_INK_BOLD);
	if (marks > 0)
		x = rt_canvas_put_f(c, box, x, 0, RT_INK_MATCH, " %zu marked ", marks);
	if (!p->is_searching && query.size == 0)
		return;
	x = rt_canvas_put_c(c, box, x, 0, " search: ", RT_INK_DIM);
	if (p->is_searching)
		rt_field_draw(p->query, c,
			      rt_box_within((rt_box){box.x + x, box.y, box.w - x - 1, 1}, box),
			      RT_INK_TEXT, true);
	else
		(void)rt_canvas_put_f(c, box, x, 0, RT_INK_MATCH, "%.*s ", RT_STR_ARG(query));
}

static void
draw_footer(tree_pane *p, rt_canvas *c, rt_box box)
{
	rt_buf *footer = rt_scope_buf(scope_of(p));
	int x;

	rt_tree_add_footer(footer, p->tree, (size_t)box.w);
	x = rt_canvas_put(c, box, 0, 0, rt_buf_str(footer), RT_INK_DIM);
	if (rt_tree_query(p->tree).size > 0 && !p->knows_all)
		(void)rt_canvas_put_f(c, box, x + 2, 0, RT_INK_TEXT, "searching%s %u%%",
				      c->utf8 ? "…" : "...", rt_tree_learnt(p->tree));
}

static void
draw(rt_pane *pane, rt_canvas *c, rt_box box)
{
	tree_pane *p = of(pane);
	bool is_wide = box.w >= WIDE;
	rt_box rows = {box.x, box.y + 1, is_wide ? box.w / 2 : box.w, box.h - 2};
	rt_box preview = {box.x + rows.w + 2, box.y + 1, box.w - rows.w - 3, box.h - 1};

	pane->footer = p->is_searching ? "Enter keep matches   Esc clear   Up, Down move"
				       : NULL;
	if (box.h < 3) {
		draw_rows(p, c, box);
		return;
	}
	draw_title(p, c, (rt_box){box.x, box.y, box.w, 1});
	draw_rows(p, c, rows);
	draw_footer(p, c, (rt_box){box.x, box.y + box.h - 1, rows.w, 1});
	if (!is_wide)
		return;
	rt_bar_line(c, (rt_box){box.x + rows.w, box.y + 1, 1, box.h - 1}, RT_GLYPH_VERTICAL);
	lay_preview(p, preview.w);
	rt_lines_draw(&p->preview, 0, p->preview.count, c, preview, RT_STR(""));
}

/* Half of the terminal (seed 4), but enough rows; all of a small one. */
static int
height(rt_pane *pane, int columns, int rows)
{
	(void)pane;
	(void)columns;
	return rows / 2 >= ROWS_MIN ? rows / 2 : rows >= 2 * ROWS_MIN - 4 ? ROWS_MIN : 0;
}

/* ---- searching ---- */

/* The query has been edited. */
static void
search(tree_pane *p)
{
	rt_tui *tui = p->pane.tui;
	rt_error err;
	rt_status st;

	if (!rt_ok(scope_of(p)))
		return;
	p->is_searching = !rt_field_is_empty(p->query);
	st = rt_tree_begin_search(p->tree, rt_field_text(p->query), &err);
	/* Without a terminal texts are not waited for. */
	if (st == RT_OK && tui->terminal == NULL && !p->knows_all)
		st = rt_tree_learn(p->tree, SIZE_MAX, &p->knows_all, &err);
	RT_TRY(scope_of(p), rt_tui_say_failure(tui, st, &err));
}

static void
clear_search(tree_pane *p)
{
	rt_error err;

	p->is_searching = false;
	rt_field_clear(p->query);
	if (rt_tree_begin_search(p->tree, RT_STR(""), &err) != RT_OK)
		rt_tui_say_error(p->pane.tui, &err, RT_STR(""));
}

static bool
key(rt_pane *pane, rt_key pressed)
{
	tree_pane *p = of(pane);
	bool used = false;

	if (rt_key_is_text(pressed)) {
		if (!p->is_searching &&
		    !rt_keymap_is_text(pane->tui->keys, RT_SCREEN_TREE, pressed))
			return false;
		RT_TRY(scope_of(p), rt_field_key(p->query, pressed, &used));
	} else {
		rt_action action = rt_keymap_action(pane->tui->keys, RT_SCREEN_FIELD, pressed);

		if (action == RT_ACT_NONE || action == RT_ACT_UP || action == RT_ACT_DOWN ||
		    (!p->is_searching && rt_field_is_empty(p->query)))
			return false;
		RT_TRY(scope_of(p),
		       rt_field_act(p->query, action, pane->tui->canvas.columns, &used));
	}
	if (used)
		search(p);
	return used;
}

static void
paste(rt_pane *pane, rt_str text)
{
	RT_TRY(&pane->tui->scope, rt_field_insert(of(pane)->query, text));
	search(of(pane));
}

/* ---- keys ---- */

/* Marked entries in the tree's order, each once, without those that a search hides; else the
 * selected one. */
static size_t
chosen(tree_pane *p, uint32_t *out)
{
	bool has_query = rt_tree_query(p->tree).size > 0;
	size_t count = 0;

	if (rt_tree_mark_count(p->tree) == 0) {
		if (selected(p) != NULL)
			out[count++] = selected(p)->entry;
		return count;
	}
	for (uint32_t node = rt_tree_next_marked(p->tree, 0);
	     node != RT_TREE_NONE && count < MARKS_MAX;
	     node = rt_tree_next_marked(p->tree, node + 1)) {
		const rt_tree_node *n = rt_tree_node_at(p->tree, node);
		size_t i = 0;

		if (has_query && n->row == RT_TREE_NONE)
			continue;
		while (i < count && out[i] != n->entry)
			i++;
		if (i == count)
			out[count++] = n->entry;
	}
	return count;
}

/* Move the selection; false: another action. */
static bool
move(tree_pane *p, rt_action action)
{
	static const struct {
		rt_action action;
		rt_tree_step step;
	} steps[] = {
		{RT_ACT_UP, RT_TREE_UP},
		{RT_ACT_DOWN, RT_TREE_DOWN},
		{RT_ACT_PAGE_UP, RT_TREE_PAGE_UP},
		{RT_ACT_PAGE_DOWN, RT_TREE_PAGE_DOWN},
		{RT_ACT_HOME, RT_TREE_HOME},
		{RT_ACT_END, RT_TREE_END},
		{RT_ACT_LEFT, RT_TREE_FOLD_OR_PARENT},
		{RT_ACT_RIGHT, RT_TREE_UNFOLD_OR_CHILD},
		{RT_ACT_SEGMENT_UP, RT_TREE_FOLD_OR_SEGMENT},
		{RT_ACT_SEGMENT_DOWN, RT_TREE_UNFOLD_OR_SEGMENT},
		{RT_ACT_TAKE_NEXT, RT_TREE_NEXT_SIBLING},
		{RT_ACT_TAKE_PREVIOUS, RT_TREE_PREVIOUS_SIBLING},
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i].action == action) {
			p->is_searching = false;
			rt_tree_move(p->tree, steps[i].step, p->page > 1 ? p->page - 1 : 1);
			return true;
		}
	return false;
}

/* Change the rows that are shown; false: another action. */
static bool
filter(tree_pane *p, rt_action action)
{
	switch (action) {
	case RT_ACT_FILTER_DEFAULT: rt_tree_set_filter(p->tree, RT_TREE_DEFAULT); return true;
	case RT_ACT_FILTER_USER: rt_tree_toggle_filter(p->tree, RT_TREE_USER_ONLY); return true;
	case RT_ACT_FILTER_ALL: rt_tree_toggle_filter(p->tree, RT_TREE_ALL); return true;
	case RT_ACT_FILTER_NO_TOOLS: rt_tree_toggle_filter(p->tree, RT_TREE_NO_TOOLS); return true;
	case RT_ACT_FILTER_LABELED:
		rt_tree_toggle_filter(p->tree, RT_TREE_LABELED_ONLY);
		return true;
	case RT_ACT_FILTER_NEXT: rt_tree_cycle_filter(p->tree, 1); return true;
	case RT_ACT_FOLD_ALL: rt_tree_unfold_all(p->tree); return true;
	case RT_ACT_LABEL_TIMES:
		p->shows_times = !p->shows_times;
		begin_times(p);
		return true;
	default: return false;
	}
}

static bool
act_verb(tree_pane *p, rt_action action)
{
	rt_tui *tui = p->pane.tui;
	uint32_t *entries = rt_scope_array(scope_of(p), MARKS_MAX, sizeof(*entries));
	const rt_tree_node *n = selected(p);
	/* Marked entries move before the selected one. */
	bool moves = action == RT_ACT_MOVE && rt_tree_mark_count(p->tree) > 0 && n != NULL &&
		     (n->flags & RT_TREE_MARKED) == 0,
	     used = true;
	size_t count;

	if (entries == NULL)
		return true;
	count = chosen(p, entries);
	if (moves)
		RT_TRY(scope_of(p), rt_verb_move_before(tui, entries, count, n->entry));
	else
		RT_TRY(scope_of(p), rt_verb_act(tui, action, entries, count, &used));
	if (rt_ok(scope_of(p)) && used &&
	    (moves || action == RT_ACT_DELETE || action == RT_ACT_GRAFT))
		rt_tree_unmark_all(p->tree);
	return used;
}

static void close_tree(rt_tui *tui);

/* The search first, then marks, then the tree. */
static void
cancel(tree_pane *p)
{
	if (p->is_searching || rt_tree_query(p->tree).size > 0)
		clear_search(p);
	else if (rt_tree_mark_count(p->tree) > 0)
		rt_tree_unmark_all(p->tree);
	else if (!rt_verb_navigate_stop(p->pane.tui)) /* a reply in the chat continues */
		rt_tui_close(p->pane.tui, &p->pane);
}

static bool
act_on_tree(tree_pane *p, rt_action action)
{
	rt_tui *tui = p->pane.tui;
	rt_scope *s = scope_of(p);
	const rt_tree_node *n = selected(p);

	if (move(p, action) || filter(p, action))
		return true;
	switch (action) {
	case RT_ACT_ACCEPT:
		if (p->is_searching)
			p->is_searching = false;
		else if (n != NULL)
			RT_TRY(s,
			       rt_verb_navigate(
				       tui, rt_tree_target(p->tree, rt_tree_selected_node(p->tree)),
				       true, close_tree));
		return true;
	case RT_ACT_CANCEL: cancel(p); return true;
	case RT_ACT_CLEAR:
		(void)rt_verb_navigate_stop(tui);
		rt_tui_close(tui, &p->pane);
		return true;
	case RT_ACT_TREE: rt_tui_close(tui, &p->pane); return true;
	case RT_ACT_SEARCH: p->is_searching = true; return true;
	case RT_ACT_FIND_NEXT: rt_tree_move(p->tree, RT_TREE_DOWN, 1); return true;
	case RT_ACT_FIND_PREVIOUS: rt_tree_move(p->tree, RT_TREE_UP, 1); return true;
	case RT_ACT_MARK:
		rt_tree_mark(p->tree);
		return true;
	case RT_ACT_MARK_UP:
	case RT_ACT_MARK_DOWN:
		p->is_searching = false;
		rt_tree_mark_range(p->tree, action == RT_ACT_MARK_UP);
		return true;
	case RT_ACT_MARK_NONE: rt_tree_unmark_all(p->tree); return true;
	case RT_ACT_PREVIEW:
		if (n != NULL)
			RT_TRY(s, rt_verb_read(tui, n->entry));
		return true;
	case RT_ACT_RENAME:
		if (n != NULL)
			RT_TRY(s, rt_verb_rename(tui, n->take));
		return true;
	default: return act_verb(p, action);
	}
}

/* Verbs apply to the selected entry in the take that its row belongs to. */
static bool
act(rt_pane *pane, rt_action action)
{
	rt_work *work = &pane->tui->work;
	bool used;

	work->seen_take = rt_tree_mark_count(of(pane)->tree) == 0 ? take_through(of(pane)) : 0;
	used = act_on_tree(of(pane), action);
	work->seen_take = 0;
	return used;
}

static rt_mouse_use
mouse(rt_pane *pane, const rt_mouse *m)
{
	tree_pane *p = of(pane);
	size_t first, count, row = (size_t)(m->y - p->rows.y);

	rt_tree_window(p->tree, p->page, &first, &count);
	if (m->kind != RT_MOUSE_PRESS || m->y < p->rows.y || row >= count ||
	    m->x >= p->rows.x + p->rows.w)
		return RT_MOUSE_UNUSED;
	p->is_searching = false;
	if (first + row == rt_tree_selected(p->tree))
		return RT_MOUSE_ENTER;
	rt_tree_select(p->tree, rt_tree_row_node(p->tree, first + row));
	return RT_MOUSE_USED;
}

static void
free_tree(rt_pane *pane)
{
	tree_pane *p = of(pane);

	rt_free(pane->tui->alloc, p->times);
	rt_tree_free(p->tree);
	rt_tree_reader_deinit(&p->reader);
	rt_field_free(p->query);
	rt_lines_deinit(&p->preview);
	rt_free(pane->tui->alloc, p);
}

static const rt_pane_ops ops = {.screen = RT_SCREEN_TREE,
				.height = height,
				.draw = draw,
				.act = act,
				.key = key,
				.mouse = mouse,
				.paste = paste,
				.changed = changed,
				.poll = poll_tree,
				.free = free_tree};

/* After a navigation, unless another one was begun meanwhile. */
static void
close_tree(rt_tui *tui)
{
	rt_pane *on_top = tui->panes[tui->pane_count - 1];

	if (on_top->ops == &ops)
		rt_tui_close(tui, on_top);
}

rt_status
rt_pane_tree(rt_tui *tui)
{
	tree_pane *p = rt_new0(tui->alloc, sizeof(*p));
	rt_tree_options options = {.ascii = !tui->canvas.utf8};
	rt_scope *s;
	rt_status st;

	if (p == NULL)
		return RT_NOMEM;
	s = rt_tui_begin(tui);
	p->pane.ops = &ops;
	p->pane.tui = tui;
	p->epoch = tui->work.epoch;
	rt_lines_init(&p->preview, tui->alloc);
	rt_tree_reader_init(&p->reader, tui->alloc, tui->work.engine, rt_str_of(getenv("HOME")));
	RT_TRY(s, rt_tree_new(tui->alloc, &p->reader.source, &options, &p->tree));
	RT_TRY(s, rt_field_new(tui->alloc, false, &p->query));
	if (rt_ok(s))
		read_tree(p);
	st = rt_tui_end(tui);
	if (st != RT_OK) {
		free_tree(&p->pane);
		return st;
	}
	return rt_tui_push(tui, &p->pane);
}
