/* SPDX-License-Identifier: MIT
 *
 * The tree of the discussion (seed 4): half the terminal's height, the chat above it; where there
 * is room, what the selected entry says beside it. tree.h knows the rows, this shows them and
 * gives the keys their meaning. */
#include <stdio.h>
#include <stdlib.h>

#include "tui/list.h"
#include "tui/pane.h"
#include "tui/tree_reader.h"
#include "tui/verb.h"
#include "tui/verb_impl.h"

enum {
	ROWS_MIN = 7,        /* of the pane: title, five rows, footer */
	WIDE = 100,          /* columns from which on there is a preview beside it */
	ROWS_MAX = 512,
	LEARN = 1024,        /* texts looked at in one turn of the loop, until all are known */
	TIMES = 4096,        /* rows of the log that are looked at for times of labels, the same */
	PREVIEW_BYTES = 32 << 10,
	MARKS_MAX = 4096
};

/* When an entry's label was set. */
typedef struct label_time {
	uint32_t entry;
	int64_t at_us;
} label_time;

typedef struct rt_pane_tree_state {
	rt_pane pane;
	rt_tree_reader reader;
	rt_tree *tree;
	rt_field *query;
	bool is_searching;  /* the query is being typed: blanks go there, too, and Enter ends that */
	bool knows_all;
	size_t page;
	rt_tree_line lines[ROWS_MAX];
	size_t line_count;
	rt_lines preview;
	uint32_t preview_entry;
	uint64_t preview_body, preview_value;
	int preview_columns;
	uint64_t value_seen;
	uint64_t epoch; /* work.epoch */
	bool shows_times;
	uint64_t times_seq; /* of the log: how far it was read for them (rt_view_label_times) */
	label_time *times;
	size_t time_count, time_room;
} state;

static state *
of(rt_pane *pane)
{
	return (state *)pane;
}

/* ---- times of labels ---- */

static label_time *
time_of(state *s, uint32_t entry)
{
	size_t i;

	for (i = 0; i < s->time_count; i++)
		if (s->times[i].entry == entry)
			return &s->times[i];
	return NULL;
}

/* The latest counts. */
static void
keep_time(void *ctx, uint32_t entry, int64_t at_us)
{
	state *s = ctx;
	label_time *known = time_of(s, entry), *grown;

	if (known != NULL) {
		known->at_us = known->at_us > at_us ? known->at_us : at_us;
		return;
	}
	void *times = s->times;
	grown = rt_list_add(&s->pane.tui->scope, &times, s->time_count, &s->time_room,
			     sizeof(*grown));
	s->times = times;
	if (grown == NULL)
		return; /* benign: its time is not shown */
	s->times[s->time_count++] = (label_time){entry, at_us};
}

static void
add_time(void *ctx, uint32_t entry, rt_buf *out)
{
	state *s = ctx;
	const rt_env *env = s->pane.tui->session->env;
	const label_time *known = time_of(s, entry);

	if (known != NULL)
		rt_host_add_short_time(out, known->at_us, env->now_us(env->ctx));
}

/* From the beginning: those of imports at once, of steps in tend. */
static rt_status
begin_times(state *s)
{
	s->time_count = 0;
	s->times_seq = 0;
	rt_tree_show_times(s->tree, s->shows_times ? add_time : NULL, s);
	return s->shows_times ? rt_tree_reader_label_times(&s->reader, s->tree, keep_time, s) : RT_OK;
}

static rt_status
tend_times(state *s)
{
	rt_work *work = &s->pane.tui->work;
	rt_error err;
	rt_status st = RT_OK;

	if (!s->shows_times || s->times_seq == 1)
		return RT_OK;
	do {
		st = rt_view_label_times(work->engine, work->value, work->place.disc, &s->times_seq,
					 TIMES, keep_time, s, &err);
		if (st != RT_OK)
			s->times_seq = 1; /* what cannot be read any further ends here */
	} while (s->times_seq != 1 && s->pane.tui->terminal == NULL);
	s->pane.tui->has_more = s->pane.tui->has_more || s->times_seq != 1;
	return st == RT_NOMEM ? st : RT_OK;
}

/* ---- the tree ---- */

static rt_status
read_tree(state *s)
{
	rt_tui *tui = s->pane.tui;
	rt_error err;
	rt_status st = rt_tree_reader_read(&s->reader, tui->work.value, tui->work.place.disc, s->tree,
					   &err);

	s->value_seen = tui->work.value_change;
	s->knows_all = false;
	if (st == RT_OK && s->shows_times && begin_times(s) != RT_OK)
		return RT_NOMEM;
	return rt_tui_say_failure(tui, st, &err);
}

/* ---- drawing ---- */

static rt_ink
ink_of(rt_tree_style style, const rt_tree_node *node, bool is_head, bool selected)
{
	/* seed 4: what is not a question, nor a program's message that can be said again */
	bool dims = node != NULL && node->kind != RT_TREE_USER && node->kind != RT_TREE_CUSTOM;

	switch (style) {
	case RT_TREE_CURSOR: return RT_INK_TEXT | RT_INK_BOLD;
	case RT_TREE_LINES:
	case RT_TREE_FOLD: return RT_INK_BORDER;
	case RT_TREE_PATH: return RT_INK_GOOD;
	case RT_TREE_LABEL: return RT_INK_LABEL;
	case RT_TREE_WHO:
		return node == NULL ? RT_INK_DIM
		       : node->kind == RT_TREE_USER	 ? RT_INK_USER
		       : node->kind == RT_TREE_ASSISTANT ? RT_INK_AI
							 : RT_INK_TOOL;
	case RT_TREE_NOTE:
		return is_head ? RT_INK_GOOD | RT_INK_BOLD : RT_INK_DIM;
	case RT_TREE_PLAIN:
	case RT_TREE_WORDS:
	default: return dims && !selected ? RT_INK_DIM : RT_INK_TEXT;
	}
}

static void
draw_line(rt_canvas *c, rt_box box, int y, const state *s, const rt_tree_line *line)
{
	const rt_tree_node *node =
		line->node == RT_TREE_NONE ? NULL : rt_tree_node_at(s->tree, line->node);
	bool is_head = node != NULL && node->row == rt_tree_head_row(s->tree);
	int x = 0;
	size_t i;

	for (i = 0; i < line->span_count; i++) {
		const rt_tree_span *span = &line->spans[i];

		x = rt_canvas_put(c, box, x, y, rt_str_at(line->text.ptr + span->at, span->size),
				  ink_of(span->style, node, is_head, line->selected));
	}
	if (line->selected)
		rt_canvas_flag(c, (rt_box){box.x, box.y + y, box.w, 1}, RT_INK_SELECTED);
}

static void
draw_rows(state *s, rt_canvas *c, rt_box box)
{
	size_t first = 0, count = 0, i, room = box.h < ROWS_MAX ? (size_t)box.h : ROWS_MAX;
	rt_error err;

	s->page = room;
	rt_tree_window(s->tree, room, &first, &count);
	if (count == 0)
		count = 1; /* a line that says so */
	for (; s->line_count < count; s->line_count++)
		rt_tree_line_init(&s->lines[s->line_count], s->pane.tui->alloc);
	if (rt_tree_draw(s->tree, first, count, (size_t)box.w, s->lines, &err) != RT_OK) {
		(void)rt_canvas_put_c(c, box, 1, 0, err.text, RT_INK_ERROR);
		return;
	}
	for (i = 0; i < count; i++)
		draw_line(c, box, (int)i, s, &s->lines[i]);
}

/* A take that goes through the node, where that is not the one at hand. */
static uint32_t
take_through(const state *s, uint32_t node)
{
	const rt_tree_node *n = rt_tree_node_at(s->tree, node);
	uint32_t end = n->end;

	if ((n->flags & RT_TREE_ACTIVE) != 0)
		return 0;
	for (; node < end; node++)
		if (rt_tree_node_at(s->tree, node)->take != 0)
			return rt_tree_node_at(s->tree, node)->take;
	return 0;
}

/* What is asked of the selected entry is asked of it in the take that its row stands for. */
static void
see(state *s)
{
	uint32_t node = rt_tree_selected_node(s->tree);

	s->pane.tui->work.seen_take =
		node != RT_TREE_NONE && rt_tree_mark_count(s->tree) == 0 ? take_through(s, node) : 0;
}

/* What the selected entry says, laid out anew when it is another one. */
static void
lay_preview(state *s, int columns)
{
	rt_tui *tui = s->pane.tui;
	uint32_t node = rt_tree_selected_node(s->tree);
	const rt_tree_node *n = node == RT_TREE_NONE ? NULL : rt_tree_node_at(s->tree, node);
	rt_lines_options options = {.columns = columns, .utf8 = tui->canvas.utf8, .ink = RT_INK_TEXT};
	const rt_take *seen;
	rt_work_entry e;
	rt_str text;
	rt_error err;
	char head[300];

	if (n == NULL) {
		rt_lines_clear(&s->preview);
		s->preview_entry = 0;
		return;
	}
	if (s->preview_entry == n->entry && s->preview_body == n->body && s->preview_columns == columns &&
	    s->preview_value == tui->work.value_change)
		return;
	rt_lines_clear(&s->preview);
	s->preview_entry = n->entry;
	s->preview_body = n->body;
	s->preview_columns = columns;
	s->preview_value = tui->work.value_change;
	tui->work.seen_take = take_through(s, node);
	seen = tui->work.seen_take == 0 ? NULL : rt_disc_take(tui->work.disc, tui->work.seen_take);
	if (rt_work_entry_of(&tui->work, n->entry, &e, &err) != RT_OK) {
		tui->work.seen_take = 0;
		rt_lines_add_row(&s->preview, 0, rt_str_of(err.text), RT_INK_ERROR);
		return;
	}
	tui->work.seen_take = 0;
	(void)snprintf(head, sizeof(head), "%.*s%s%s%s", (int)(e.role.size > 80 ? 80 : e.role.size),
		       e.role.ptr, (e.slot.flags & RT_SLOT_EDITED) != 0 ? "  edited" : "",
		       e.is_muted ? "  muted" : "", e.is_partial ? "  partial" : "");
	rt_lines_add_row(&s->preview, 0, rt_str_of(head), RT_INK_HEADING | RT_INK_BOLD);
	if (e.at != SIZE_MAX)
		(void)snprintf(head, sizeof(head), "entry %zu of %zu in this take", e.at + 1,
			       rt_work_count(&tui->work));
	else
		(void)snprintf(head, sizeof(head), "in take %.*s",
			       seen == NULL ? 0 : (int)(seen->name->size > 200 ? 200 : seen->name->size),
			       seen == NULL ? "" : seen->name->ptr);
	rt_lines_add_row(&s->preview, 0, rt_str_of(head), RT_INK_DIM);
	rt_lines_add_blank(&s->preview);
	text = rt_buf_str(&e.text);
	text.size = rt_utf8_cut(text, PREVIEW_BYTES);
	rt_lines_add_markdown(&s->preview, text, &options);
	if (e.parts.size > 0)
		rt_lines_add_row(&s->preview, 0, rt_buf_str(&e.parts), RT_INK_TOOL);
	rt_work_entry_deinit(&e);
}

static void
draw_title(state *s, rt_canvas *c, rt_box box)
{
	rt_str query = rt_tree_query(s->tree);
	int x;

	for (x = 0; x < box.w; x++)
		(void)rt_canvas_put(c, box, x, 0, rt_canvas_glyph(c, RT_GLYPH_HORIZONTAL), RT_INK_BORDER);
	x = rt_canvas_put_c(c, box, 1, 0, " Tree ", RT_INK_HEADING | RT_INK_BOLD);
	if (rt_tree_mark_count(s->tree) > 0)
		x = rt_canvas_put_f(c, box, x, 0, RT_INK_MATCH, " %zu marked ",
				    rt_tree_mark_count(s->tree));
	if (s->is_searching || query.size > 0) {
		x = rt_canvas_put_c(c, box, x, 0, " search: ", RT_INK_DIM);
		if (s->is_searching)
			rt_field_draw(s->query, c,
				      rt_box_within((rt_box){box.x + x, box.y, box.w - x - 1, 1}, box),
				      RT_INK_TEXT, true);
		else
			(void)rt_canvas_put(c, box, x, 0, query, RT_INK_MATCH);
	}
}

static void
draw(rt_pane *pane, rt_canvas *c, rt_box box)
{
	state *s = of(pane);
	bool wide = box.w >= WIDE;
	rt_box rows = {box.x, box.y + 1, wide ? box.w / 2 : box.w, box.h - 2};
	rt_box foot = {box.x, box.y + box.h - 1, rows.w, 1};
	rt_buf footer;
	int x, y;

	pane->footer = s->is_searching ? "Enter keep what is found   Esc clear   Up, Down move" : NULL;
	if (box.h < 3) {
		draw_rows(s, c, box);
		return;
	}
	draw_title(s, c, (rt_box){box.x, box.y, box.w, 1});
	draw_rows(s, c, rows);
	rt_buf_init(&footer, pane->tui->alloc, 4096);
	rt_tree_add_footer(&footer, s->tree, (size_t)rows.w);
	x = rt_canvas_put(c, foot, 0, 0, rt_buf_str(&footer), RT_INK_DIM);
	if (rt_tree_query(s->tree).size > 0 && !s->knows_all)
		(void)rt_canvas_put_f(c, foot, x + 2, 0, RT_INK_TEXT, "searching%s %u %%",
				      c->utf8 ? "…" : "...", rt_tree_learnt(s->tree));
	rt_buf_deinit(&footer);
	if (!wide)
		return;
	for (y = 1; y < box.h; y++)
		(void)rt_canvas_put(c, box, rows.w, y, rt_canvas_glyph(c, RT_GLYPH_VERTICAL), RT_INK_BORDER);
	lay_preview(s, box.w - rows.w - 3);
	rt_lines_draw(&s->preview, 0, s->preview.count, c,
		      (rt_box){box.x + rows.w + 2, box.y + 1, box.w - rows.w - 3, box.h - 1},
		      rt_str_at("", 0));
}

/* Half of what there is (seed 4), but some rows; all of a small terminal. */
static int
height(rt_pane *pane, int columns, int rows)
{
	(void)pane;
	(void)columns;
	return rows / 2 >= ROWS_MIN ? rows / 2 : rows >= 2 * ROWS_MIN - 4 ? ROWS_MIN : 0;
}

/* ---- searching ---- */

static rt_status
search(state *s)
{
	rt_error err;
	rt_status st = rt_tree_begin_search(s->tree, rt_field_text(s->query), &err);

	/* Without a terminal nobody waits for the texts. */
	if (st == RT_OK && s->pane.tui->terminal == NULL && !s->knows_all)
		st = rt_tree_learn(s->tree, SIZE_MAX, &s->knows_all, &err);
	return rt_tui_say_failure(s->pane.tui, st, &err);
}

static void
end_search(state *s, bool clear)
{
	rt_error err;

	s->is_searching = false;
	if (clear) {
		rt_field_clear(s->query);
		if (rt_tree_begin_search(s->tree, rt_str_at("", 0), &err) != RT_OK)
			rt_tui_say_error(s->pane.tui, &err, rt_str_at("", 0));
	}
}

static rt_status
key(rt_pane *pane, rt_key pressed, bool *out_used)
{
	state *s = of(pane);
	rt_action action;
	rt_status st;

	*out_used = false;
	if (rt_key_is_text(pressed)) {
		if (!s->is_searching && !rt_keymap_is_text(pane->tui->keys, RT_SCREEN_TREE, pressed))
			return RT_OK;
		st = rt_field_key(s->query, pressed, out_used);
	} else {
		action = rt_keymap_action(pane->tui->keys, RT_SCREEN_FIELD, pressed);
		if (action == RT_ACT_NONE || action == RT_ACT_UP || action == RT_ACT_DOWN ||
		    (!s->is_searching && rt_field_is_empty(s->query)))
			return RT_OK;
		st = rt_field_act(s->query, action, pane->tui->canvas.columns, out_used);
	}
	if (st != RT_OK || !*out_used)
		return st;
	s->is_searching = !rt_field_is_empty(s->query);
	return search(s);
}

static rt_status
paste(rt_pane *pane, rt_str text)
{
	state *s = of(pane);
	rt_status st;

	st = rt_field_insert(s->query, text);
	if (st != RT_OK)
		return st;
	s->is_searching = !rt_field_is_empty(s->query);
	return search(s);
}

/* ---- keys ---- */

static void
close_tree(rt_tui *tui);

/* Marked entries in the tree's order, each once; else the selected one. */
static size_t
chosen(state *s, uint32_t out[MARKS_MAX])
{
	size_t count = 0;
	uint32_t node = rt_tree_selected_node(s->tree);

	if (rt_tree_mark_count(s->tree) == 0) {
		if (node != RT_TREE_NONE)
			out[count++] = rt_tree_node_at(s->tree, node)->entry;
		return count;
	}
	for (node = rt_tree_next_marked(s->tree, 0); node != RT_TREE_NONE && count < MARKS_MAX;
	     node = rt_tree_next_marked(s->tree, node + 1)) {
		uint32_t entry = rt_tree_node_at(s->tree, node)->entry;
		size_t i;

		/* Nobody has in mind what a search has hidden. */
		if (rt_tree_query(s->tree).size > 0 && rt_tree_node_at(s->tree, node)->row == RT_TREE_NONE)
			continue;
		for (i = 0; i < count && out[i] != entry; i++)
			;
		if (i == count)
			out[count++] = entry;
	}
	return count;
}

/* Steps of tree.h by action; false: it is none. */
static bool
step_of(rt_action action, rt_tree_step *out)
{
	switch (action) {
	case RT_ACT_UP: *out = RT_TREE_UP; break;
	case RT_ACT_DOWN: *out = RT_TREE_DOWN; break;
	case RT_ACT_PAGE_UP: *out = RT_TREE_PAGE_UP; break;
	case RT_ACT_PAGE_DOWN: *out = RT_TREE_PAGE_DOWN; break;
	case RT_ACT_HOME: *out = RT_TREE_HOME; break;
	case RT_ACT_END: *out = RT_TREE_END; break;
	case RT_ACT_LEFT: *out = RT_TREE_FOLD_OR_PARENT; break;
	case RT_ACT_RIGHT: *out = RT_TREE_UNFOLD_OR_CHILD; break;
	case RT_ACT_SEGMENT_UP: *out = RT_TREE_FOLD_OR_SEGMENT; break;
	case RT_ACT_SEGMENT_DOWN: *out = RT_TREE_UNFOLD_OR_SEGMENT; break;
	case RT_ACT_TAKE_NEXT: *out = RT_TREE_NEXT_SIBLING; break;
	case RT_ACT_TAKE_PREVIOUS: *out = RT_TREE_PREVIOUS_SIBLING; break;
	default: return false;
	}
	return true;
}

static rt_status
act_verb(state *s, rt_action action, bool *out_used)
{
	uint32_t *entries = rt_new_array(s->pane.tui->alloc, MARKS_MAX, sizeof(*entries));
	uint32_t node = rt_tree_selected_node(s->tree);
	bool moves = action == RT_ACT_MOVE && rt_tree_mark_count(s->tree) > 0 && node != RT_TREE_NONE &&
		     (rt_tree_node_at(s->tree, node)->flags & RT_TREE_MARKED) == 0;
	size_t count;
	rt_status st;

	if (entries == NULL)
		return RT_NOMEM;
	count = chosen(s, entries);
	if (moves) /* what is marked comes before where the cursor is */
		st = rt_verb_move_before(s->pane.tui, entries, count,
					 rt_tree_node_at(s->tree, node)->entry);
	else
		st = rt_verb_act(s->pane.tui, action, entries, count, out_used);
	if (st == RT_OK && *out_used && (moves || action == RT_ACT_DELETE || action == RT_ACT_GRAFT))
		rt_tree_unmark_all(s->tree);
	rt_free(s->pane.tui->alloc, entries);
	return st;
}

static rt_status
act_on_tree(rt_pane *pane, rt_action action, bool *out_used)
{
	state *s = of(pane);
	rt_tui *tui = pane->tui;
	uint32_t node = rt_tree_selected_node(s->tree);
	rt_tree_step step;

	*out_used = true;
	if (step_of(action, &step)) {
		s->is_searching = false; /* who moves has found it */
		rt_tree_move(s->tree, step, s->page > 1 ? s->page - 1 : 1);
		return RT_OK;
	}
	switch (action) {
	case RT_ACT_ACCEPT:
		if (s->is_searching) {
			end_search(s, false);
			return RT_OK;
		}
		return node == RT_TREE_NONE ? RT_OK
					    : rt_verb_navigate(tui, rt_tree_target(s->tree, node),
							       true, close_tree);
	case RT_ACT_CANCEL: /* the search first, then the tree */
		if (s->is_searching || rt_tree_query(s->tree).size > 0)
			end_search(s, true);
		else if (rt_tree_mark_count(s->tree) > 0)
			rt_tree_unmark_all(s->tree);
		else if (!rt_verb_navigate_stop(tui)) /* a reply in the chat goes on */
			rt_tui_close(tui, pane);
		return RT_OK;
	case RT_ACT_CLEAR:
		(void)rt_verb_navigate_stop(tui);
		rt_tui_close(tui, pane);
		return RT_OK;
	case RT_ACT_FILTER_DEFAULT: rt_tree_set_filter(s->tree, RT_TREE_DEFAULT); return RT_OK;
	case RT_ACT_FILTER_USER: rt_tree_toggle_filter(s->tree, RT_TREE_USER_ONLY); return RT_OK;
	case RT_ACT_FILTER_ALL: rt_tree_toggle_filter(s->tree, RT_TREE_ALL); return RT_OK;
	case RT_ACT_FILTER_NO_TOOLS: rt_tree_toggle_filter(s->tree, RT_TREE_NO_TOOLS); return RT_OK;
	case RT_ACT_FILTER_LABELED: rt_tree_toggle_filter(s->tree, RT_TREE_LABELED_ONLY); return RT_OK;
	case RT_ACT_LABEL_TIMES: s->shows_times = !s->shows_times; return begin_times(s);
	case RT_ACT_FILTER_NEXT: rt_tree_cycle_filter(s->tree, 1); return RT_OK;
	case RT_ACT_SEARCH: s->is_searching = true; return RT_OK;
	case RT_ACT_FIND_NEXT: rt_tree_move(s->tree, RT_TREE_DOWN, 1); return RT_OK;
	case RT_ACT_FIND_PREVIOUS: rt_tree_move(s->tree, RT_TREE_UP, 1); return RT_OK;
	case RT_ACT_MARK:
		rt_tree_mark(s->tree);
		rt_tree_move(s->tree, RT_TREE_DOWN, 1);
		return RT_OK;
	case RT_ACT_MARK_NONE: rt_tree_unmark_all(s->tree); return RT_OK;
	case RT_ACT_FOLD_ALL: rt_tree_unfold_all(s->tree); return RT_OK;
	case RT_ACT_PREVIEW:
		return node == RT_TREE_NONE ? RT_OK
					    : rt_verb_read(tui, rt_tree_node_at(s->tree, node)->entry);
	case RT_ACT_RENAME:
		return node == RT_TREE_NONE ? RT_OK
					    : rt_verb_rename(tui, rt_tree_node_at(s->tree, node)->take);
	case RT_ACT_TREE: rt_tui_close(tui, pane); return RT_OK;
	default: return act_verb(s, action, out_used);
	}
}

static rt_status
act(rt_pane *pane, rt_action action, bool *out_used)
{
	rt_status st;

	see(of(pane));
	st = act_on_tree(pane, action, out_used);
	pane->tui->work.seen_take = 0;
	return st;
}

static rt_status
changed(rt_pane *pane)
{
	state *s = of(pane);

	if (s->epoch != pane->tui->work.epoch) { /* something was purged: this may hold it */
		s->epoch = pane->tui->work.epoch;
		rt_tree_forget(s->tree);
		rt_lines_clear(&s->preview);
		s->preview_entry = 0;
	}
	return s->value_seen == pane->tui->work.value_change ? RT_OK : read_tree(s);
}

/* Texts are looked at while there is nothing else to do. */
static rt_status
tend(rt_pane *pane)
{
	state *s = of(pane);
	rt_error err;

	if (!s->knows_all && rt_tree_learn(s->tree, LEARN, &s->knows_all, &err) != RT_OK)
		s->knows_all = true; /* damaged texts: what can be read is shown */
	pane->tui->has_more = pane->tui->has_more || !s->knows_all;
	return tend_times(s);
}

static void
tree_free(rt_pane *pane)
{
	state *s = of(pane);
	size_t i;

	for (i = 0; i < s->line_count; i++)
		rt_tree_line_deinit(&s->lines[i]);
	rt_free(pane->tui->alloc, s->times);
	rt_tree_free(s->tree);
	rt_tree_reader_deinit(&s->reader);
	rt_field_free(s->query);
	rt_lines_deinit(&s->preview);
	rt_free(pane->tui->alloc, s);
}

static bool
new_act(rt_pane *pane, rt_action action)
{
	bool used = false;

	RT_TRY(&pane->tui->scope, act(pane, action, &used));
	return used;
}

static bool
new_key(rt_pane *pane, rt_key k)
{
	bool used = false;

	RT_TRY(&pane->tui->scope, key(pane, k, &used));
	return used;
}

static void
new_paste(rt_pane *pane, rt_str text)
{
	RT_TRY(&pane->tui->scope, paste(pane, text));
}

static void
new_changed(rt_pane *pane)
{
	RT_TRY(&pane->tui->scope, changed(pane));
}

static void
new_tend(rt_pane *pane)
{
	RT_TRY(&pane->tui->scope, tend(pane));
}

static const rt_pane_ops tree_ops = {.screen = RT_SCREEN_TREE,
				     .height = height,
				     .draw = draw,
				     .act = new_act,
				     .key = new_key,
				     .paste = new_paste,
				     .changed = new_changed,
				     .poll = new_tend,
				     .free = tree_free};

static void
close_tree(rt_tui *tui)
{
	rt_pane *on_top = tui->panes[tui->pane_count - 1];

	/* Who has begun something else in it meanwhile goes on with that. */
	if (on_top->ops == &tree_ops)
		rt_tui_close(tui, on_top);
}

rt_status
rt_pane_tree(rt_tui *tui)
{
	state *s = rt_new0(tui->alloc, sizeof(*s));
	rt_tree_options options = {.ascii = !tui->canvas.utf8};
	rt_status st;

	if (s == NULL)
		return RT_NOMEM;
	s->pane.ops = &tree_ops;
	s->pane.tui = tui;
	s->epoch = tui->work.epoch;
	rt_lines_init(&s->preview, tui->alloc);
	rt_tree_reader_init(&s->reader, tui->alloc, tui->work.engine, rt_str_of(getenv("HOME")));
	st = rt_tree_new(tui->alloc, &s->reader.source, &options, &s->tree);
	if (st == RT_OK)
		st = rt_field_new(tui->alloc, false, &s->query);
	if (st == RT_OK)
		st = read_tree(s);
	if (st != RT_OK) {
		tree_free(&s->pane);
		return st;
	}
	return rt_tui_push(tui, &s->pane);
}
