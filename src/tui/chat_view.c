/* SPDX-License-Identifier: MIT
 *
 * The visible part of the chat. The view is an item and the number of its rows above the screen, or
 * it follows the end; so only visible entries are read, and the cost does not depend on the length
 * of the take. An entry is a row with its role, its text, and an empty row. */
#include "tui/pane_chat_impl.h"

#include <stdio.h>

#include "app/template.h"
#include "tui/bar.h"

enum {
	COUNTED_BYTES = 1 << 20, /* of the input, in which lines are counted for each frame */
	ACTIVE_COLUMNS = 10,     /* " <- active" */
	USAGE_MIN = 12           /* columns: below, usage is not shown */
};

/* ---- scrolling ---- */

static size_t
item_count(const rt_chat *chat)
{
	const rt_work *work = &chat->pane.tui->work;

	return rt_work_count(work) + (rt_work_is_running_here(work) ? 1 : 0);
}

/* Rows of an item; one if it cannot be read. */
static int
item_rows(rt_chat *chat, size_t item)
{
	const rt_chat_laid *laid;

	if (rt_chat_hides(chat, item))
		return 0;
	laid = rt_chat_layout(chat, item);
	return laid == NULL ? 1 : (int)rt_chat_rows(laid) + 2;
}

static void
set_top(rt_chat *chat, size_t item)
{
	chat->top = item;
	chat->top_row = 0;
}

void
rt_chat_scroll_to_end(rt_chat *chat)
{
	size_t item = item_count(chat);
	int left = chat->rows;

	set_top(chat, item);
	while (item > 0 && left > 0) {
		int rows = item_rows(chat, --item);

		chat->top = item;
		chat->top_row = rows > left ? rows - left : 0;
		left -= rows;
	}
	chat->follows = true;
}

bool
rt_chat_is_at_end(rt_chat *chat)
{
	int left = chat->rows + chat->top_row;

	for (size_t item = chat->top; item < item_count(chat); item++) {
		left -= item_rows(chat, item);
		if (left < 0)
			return false;
	}
	return true;
}

bool
rt_chat_is_visible(rt_chat *chat, size_t item)
{
	int left = chat->rows + chat->top_row;

	for (size_t at = chat->top; at < item && left > 0; at++)
		left -= item_rows(chat, at);
	return item >= chat->top && left > 0;
}

static void
follow_if_at_end(rt_chat *chat)
{
	if (rt_chat_is_at_end(chat))
		rt_chat_scroll_to_end(chat);
}

void
rt_chat_scroll(rt_chat *chat, int rows)
{
	size_t count = item_count(chat);

	if (count == 0 || (chat->follows && rows >= 0))
		return;
	if (chat->top >= count)
		set_top(chat, count - 1);
	chat->follows = false;
	chat->top_row += rows;
	while (chat->top_row < 0 && chat->top > 0)
		chat->top_row += item_rows(chat, --chat->top);
	if (chat->top_row < 0)
		chat->top_row = 0;
	while (chat->top + 1 < count && chat->top_row >= item_rows(chat, chat->top))
		chat->top_row -= item_rows(chat, chat->top++);
	follow_if_at_end(chat);
}

void
rt_chat_reveal(rt_chat *chat, size_t item)
{
	bool is_far;
	int below = 0; /* rows of it below the screen */

	if (chat->follows)
		rt_chat_scroll_to_end(chat);
	if (item < chat->top || (item == chat->top && chat->top_row > 0)) {
		set_top(chat, item);
		chat->follows = false;
		follow_if_at_end(chat);
		return;
	}
	is_far = item - chat->top > (size_t)chat->rows; /* then nothing between needs to be laid
							 * out */
	if (is_far) {
		set_top(chat, item);
		below = item_rows(chat, item) - chat->rows;
	} else {
		for (size_t at = chat->top; at <= item; at++)
			below += item_rows(chat, at);
		below -= chat->top_row + chat->rows;
	}
	if (below <= 0 && chat->top != item)
		return;
	chat->follows = false;
	if (item_rows(chat, item) >= chat->rows)
		set_top(chat, item);
	else if (below > 0)
		rt_chat_scroll(chat, below);
	else /* to the middle */
		rt_chat_scroll(chat, -(chat->rows - item_rows(chat, item)) / 2);
}

/* ---- entries ---- */

static bool
is_marked(const rt_chat *chat, uint32_t entry)
{
	for (size_t i = 0; i < chat->mark_count; i++)
		if (chat->marks[i] == entry)
			return true;
	return false;
}

/* Why an entry has no reply. */
static void
add_failure(rt_chat *chat, uint32_t entry, rt_buf *out)
{
	const rt_work *work = &chat->pane.tui->work;
	rt_scope *s = rt_chat_scope(chat);
	char id[RT_ID_MAX + 1];

	if (rt_entry_id(work->value, entry, id, NULL) != RT_OK ||
	    !rt_disc_has_failure(work->disc, rt_str_of(id)))
		return;
	yyjson_val *all = rt_json_parse(s, rt_fields_get(work->disc->fields, RT_STR("failures")));
	rt_buf_add_c(out, " (not answered: ");
	rt_buf_add_str(out, rt_json_str(rt_json_get(rt_json_get(all, id), "detail")));
	rt_buf_add_byte(out, ')');
}

/* The notes about an entry after its role. */
static void
add_entry_notes(rt_chat *chat, size_t item, const rt_chat_laid *laid, bool is_selected, rt_buf *out)
{
	for (size_t i = 0; i < chat->fork_count; i++)
		if (chat->forks[i].at == item) {
			rt_buf_add_f(out, " < %u/%u >", chat->forks[i].which, chat->forks[i].of);
			if (!is_selected && laid->model > 0) /* which may be the difference */
				rt_buf_add_f(out, " %.*s", (int)laid->model, laid->usage.ptr);
		}
	if (laid->kind.size > 0 && !rt_str_is(rt_buf_str(&laid->kind), "message"))
		rt_buf_add_f(out, " [%.*s]", RT_STR_ARG(rt_buf_str(&laid->kind)));
	if ((laid->look & RT_CHAT_MUTED) != 0)
		rt_buf_add_c(out, " (muted)");
	if ((laid->look & RT_CHAT_EDITED) != 0)
		rt_buf_add_c(out, " (edited)");
	if (laid->is_partial)
		rt_buf_add_c(out, " (partial)");
	if (item >= rt_work_head(&chat->pane.tui->work))
		rt_buf_add_c(out, " (after the head: not sent)");
	add_failure(chat, laid->entry, out);
}

static void
add_run_notes(const rt_chat *chat, rt_buf *out)
{
	const rt_work *work = &chat->pane.tui->work;
	rt_str notice = rt_buf_str(&work->run_notice);

	rt_buf_add_c(out, chat->run_is_unsent ? " (not stored yet)" : "");
	if (work->run_models > 0 && !chat->run_is_unsent) {
		/* Before the name, which may be too long for the row. */
		if (work->background_count > 0)
			rt_buf_add_f(out, " (%zu more after it)", work->background_count);
		rt_buf_add_f(out, " %.*s", RT_STR_ARG(rt_buf_str(&work->run_model)));
	}
	rt_buf_add_c(out, notice.size > 0 ? " " : " ...");
	rt_buf_add_str(out, notice);
}

/* The first row of an item. */
static void
draw_head(rt_chat *chat, rt_canvas *c, rt_box box, int y, size_t item, const rt_chat_laid *laid)
{
	const rt_work *work = &chat->pane.tui->work;
	bool is_run = item >= rt_work_count(work);
	bool is_selected = (rt_chat_selects(chat) || chat->points) && item == chat->sel;
	bool is_active = item + 1 == rt_work_head(work) && item + 1 < rt_work_count(work);
	rt_str role = rt_buf_str(&laid->role);
	rt_str number = is_run ? RT_STR("") : rt_tui_format(chat->pane.tui, "%zu", item + 1);
	rt_buf *notes = rt_scope_buf(rt_chat_scope(chat));
	int width = rt_canvas_width(c, number), x;

	if (!is_run && is_marked(chat, laid->entry))
		(void)rt_canvas_put(c, box, 0, y, rt_canvas_glyph(c, RT_GLYPH_CHECK), RT_INK_MATCH);
	else if (is_selected)
		(void)rt_canvas_put(c, box, 0, y,
				    rt_canvas_glyph(c, rt_chat_selects(chat) ? RT_GLYPH_CURSOR : RT_GLYPH_BAR),
				    RT_INK_TEXT | RT_INK_BOLD);
	x = rt_canvas_put_cut(c, box, 2, y, box.w - 2, role,
			      (rt_ink)(rt_role_ink(role) | RT_INK_BOLD));
	if (is_run)
		add_run_notes(chat, notes);
	else
		add_entry_notes(chat, item, laid, is_selected, notes);
	x = rt_canvas_put_cut(c, box, x, y, box.w - x - (width > 0 ? width + 1 : 0),
			      rt_buf_str(notes), RT_INK_DIM);
	if (!is_run && laid->label.size > 0) {
		int end = box.w - width - (is_active ? ACTIVE_COLUMNS : 0) - 1;

		x = rt_canvas_put(c, box, x + 1, y, RT_STR("#"), RT_INK_LABEL);
		x = rt_canvas_put_cut(c, box, x, y, (x < end ? end : box.w) - x,
				      rt_buf_str(&laid->label), RT_INK_LABEL);
	}
	if (is_active) {
		x = rt_canvas_put(c, box, x + 1, y, rt_canvas_glyph(c, RT_GLYPH_LEFT_ARROW),
				  RT_INK_GOOD | RT_INK_BOLD);
		x = rt_canvas_put(c, box, x, y, RT_STR(" active"), RT_INK_GOOD | RT_INK_BOLD);
	}
	if (is_selected && laid->usage.size > 0 && x + USAGE_MIN + width < box.w)
		x = rt_canvas_put_cut(c, box, x + 2, y, box.w - x - 3 - width,
				      rt_buf_str(&laid->usage), RT_INK_DIM);
	if (x + width < box.w)
		(void)rt_canvas_put(c, box, box.w - width, y, number, RT_INK_DIM);
	if (is_selected)
		rt_canvas_flag(c, rt_box_within((rt_box){box.x, box.y + y, box.w, 1}, box),
			       RT_INK_SELECTED);
}

/* Draws lines whose first row is at y; returns the row after them. */
static int
draw_lines(rt_chat *chat, rt_canvas *c, rt_box box, int y, const rt_lines *lines)
{
	size_t from = y < 0 ? (size_t)-y : 0;
	int at = y > 0 ? y : 0;

	if (lines == NULL)
		return y;
	if (from < lines->count && at < box.h)
		rt_lines_draw(lines, from, lines->count - from, c,
			      (rt_box){box.x, box.y + at, box.w, box.h - at},
			      rt_buf_str(&chat->find));
	return y + (int)lines->count;
}

/* An item whose first row is at y; returns the row after it. */
static int
draw_item(rt_chat *chat, rt_canvas *c, rt_box box, int y, size_t item)
{
	const rt_chat_laid *laid;
	int end;

	if (rt_chat_hides(chat, item))
		return y;
	laid = rt_chat_layout(chat, item);
	if (laid == NULL) {
		(void)rt_canvas_put_c(c, box, 2, y, "(cannot be read)", RT_INK_ERROR);
		return y + 1;
	}
	if (y >= 0)
		draw_head(chat, c, box, y, item, laid);
	end = draw_lines(chat, c, box, y + 1, &laid->lines);
	end = draw_lines(chat, c, box, end, laid->more);
	if ((rt_chat_selects(chat) || chat->points) && item == chat->sel)
		for (int edge = y + 1 > 0 ? y + 1 : 0; edge < box.h && edge < end; edge++)
			(void)rt_canvas_put(c, box, 0, edge, rt_canvas_glyph(c, RT_GLYPH_BAR),
					    RT_INK_BORDER);
	return end + 1;
}

/* In an empty discussion: the first steps, by their keys; as many rows as fit. */
static void
draw_welcome(rt_chat *chat, rt_canvas *c, rt_box box)
{
	static const struct {
		rt_screen screen;
		rt_action action; /* NONE: the words are typed */
		const char *typed, *what;
	} steps[] = {
		{RT_SCREEN_CHAT, RT_ACT_MODEL, NULL, "choose a model"},
		{RT_SCREEN_CHAT, RT_ACT_NONE, "/import FILE", "import a conversation"},
		{RT_SCREEN_CHAT, RT_ACT_DISCUSSIONS, NULL, "your discussions; search all of them"},
		{RT_SCREEN_CHAT, RT_ACT_SELECT, NULL, "select an entry: edit, branch, delete"},
		{RT_SCREEN_CHAT, RT_ACT_TREE, NULL, "the tree: all entries of all takes"},
		{RT_SCREEN_CHAT, RT_ACT_UNDO, NULL, "undo; every change can be undone"},
		{RT_SCREEN_CHAT, RT_ACT_PALETTE, NULL, "all commands by name; ? shows the keys"},
	};
	enum { KEY_COLUMNS = 14 };
	rt_tui *tui = chat->pane.tui;
	bool has_model = tui->work.model.size > 0;
	int y = box.h > 10 ? 1 : 0;

	(void)rt_canvas_put_c(c, box, 2, y++, "No messages yet.", RT_INK_TEXT | RT_INK_BOLD);
	if (has_model) {
		int x = rt_canvas_put_c(c, box, 2, y, "Write below and press Enter to ask ", RT_INK_TEXT);

		(void)rt_canvas_put_name(c, box, x, y++, box.w - x, rt_buf_str(&tui->work.model),
					 RT_INK_CODE);
	} else {
		(void)rt_canvas_put_c(c, box, 2, y++, "No model is chosen yet.", RT_INK_WARNING);
		(void)rt_canvas_put_c(c, box, 2, y++, "/model builtin/echo needs no API key.",
				      RT_INK_TEXT);
	}
	y += box.h > 10;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		rt_buf *key = rt_scope_buf(rt_chat_scope(chat));
		int x;

		if (steps[i].action == RT_ACT_NONE)
			rt_buf_add_c(key, steps[i].typed);
		else
			rt_keymap_add_key(tui->keys, steps[i].screen, steps[i].action, key);
		if (key->size == 0)
			continue;
		x = rt_canvas_put(c, box, 2, y, rt_buf_str(key), RT_INK_TEXT | RT_INK_BOLD) + 1;
		(void)rt_canvas_put_c(c, box, x < KEY_COLUMNS + 2 ? KEY_COLUMNS + 2 : x, y++,
				      steps[i].what, RT_INK_DIM);
	}
}

static void
draw_entries(rt_chat *chat, rt_canvas *c, rt_box box)
{
	size_t count = item_count(chat);
	int y;

	chat->rows = box.h;
	chat->view_y = box.y;
	if (chat->columns != box.w) { /* laid out again: stay at the same entry */
		chat->columns = box.w;
		chat->top_row = 0;
	}
	if (count == 0) {
		draw_welcome(chat, c, box);
		return;
	}
	/* The rest of a take that became shorter may not fill the screen. */
	if (chat->follows || chat->top >= count || rt_chat_is_at_end(chat))
		rt_chat_scroll_to_end(chat);
	y = -chat->top_row;
	for (size_t item = chat->top; item < count && y < box.h; item++)
		y = draw_item(chat, c, box, y, item);
}

size_t
rt_chat_item_at(rt_chat *chat, int y, bool *out_is_head)
{
	int row = chat->view_y - chat->top_row;

	for (size_t item = chat->top; y < chat->view_y + chat->rows && item < item_count(chat); item++) {
		int rows = item_rows(chat, item);

		if (y >= row && y < row + rows - 1) { /* not the empty row after it */
			*out_is_head = y == row;
			return item;
		}
		row += rows;
	}
	return SIZE_MAX;
}

/* ---- the input ---- */

static bool
is_slash(const char *name)
{
	const rt_slash *s = rt_slashes;

	while (s->name != NULL && strcmp(s->name + 1, name) != 0)
		s++;
	return s->name != NULL;
}

/* Templates whose names begin so, after the count suggestions; returns how many there are then. */
static int
add_templates(const rt_chat *chat, rt_str part, rt_chat_suggestion out[RT_CHAT_SUGGESTIONS], int count)
{
	const rt_fields *fields = chat->pane.tui->work.value->fields;
	static const rt_str prefix = RT_STR_INIT("setting." RT_TEMPLATE_KEY);

	for (size_t i = 0; i < rt_fields_count(fields) && count < RT_CHAT_SUGGESTIONS; i++) {
		rt_str name = rt_fields_name(fields, i);

		if (!rt_str_starts(name, prefix))
			continue;
		name = rt_str_skip(name, prefix.size);
		if (rt_str_starts(name, part) && !rt_str_eq(name, part))
			out[count++] = (rt_chat_suggestion){
				.name = rt_tui_format(chat->pane.tui, "%.*s", RT_STR_ARG(name)).ptr,
				.words = "",
				.what = "template"};
	}
	return rt_ok(&chat->pane.tui->scope) ? count : 0;
}

int
rt_chat_suggestions(const rt_chat *chat, rt_chat_suggestion out[RT_CHAT_SUGGESTIONS], int *out_own)
{
	rt_str text = rt_field_text(chat->field), part;
	int count = 0;

	*out_own = 0;
	part = rt_chat_file_word(chat);
	if (part.ptr != NULL)
		return *out_own = rt_chat_files(chat, part, out);
	if (text.size == 0 || text.ptr[0] != '/' ||
	    rt_str_find(text, RT_STR("\n"), 0) != SIZE_MAX ||
	    rt_str_find(text, RT_STR(" "), 0) != SIZE_MAX)
		return 0;
	part = rt_str_skip(text, 1);
	for (const rt_slash *s = rt_slashes; s->name != NULL && count < RT_CHAT_SUGGESTIONS; s++)
		if (rt_str_starts(rt_str_of(s->name), text) && !rt_str_is(text, s->name))
			out[count++] = (rt_chat_suggestion){s->name + 1, s->words, s->what, false};
	count = add_templates(chat, part, out, count);
	*out_own = count;
	if (part.size == 0)
		return count;
	for (const rt_command *const *c = chat->pane.tui->commands;
	     *c != NULL && count < RT_CHAT_SUGGESTIONS; c++)
		if (((*c)->traits & RT_COMMAND_HIDDEN) == 0 && !is_slash((*c)->name) &&
		    rt_str_starts(rt_str_of((*c)->name), part) && !rt_str_is(part, (*c)->name))
			out[count++] = (rt_chat_suggestion){(*c)->name,
							    (*c)->max_words == 0 ? "" : "…",
							    (*c)->summary, false};
	return count;
}

/* Columns of the names with their words. */
static int
name_columns(const rt_canvas *c, rt_box box, const rt_chat_suggestion list[], int count)
{
	int most = 18;

	for (int i = 0; i < count; i++) {
		int columns = rt_canvas_width(c, rt_str_of(list[i].name)) + 2 +
			      rt_canvas_width(c, rt_str_of(list[i].words));

		most = columns > most ? columns : most;
	}
	return most < box.w / 2 ? most : box.w / 2;
}

static void
draw_suggestion(rt_canvas *c, rt_box box, int y, const rt_chat_suggestion *one, const char *sign,
		int columns)
{
	int end = 2 + columns, x = rt_canvas_put_c(c, box, 2, y, sign, RT_INK_TEXT | RT_INK_BOLD);

	x = rt_canvas_put_cut(c, box, x, y, box.w - x, rt_str_of(one->name), RT_INK_TEXT | RT_INK_BOLD);
	if (c->utf8 || strcmp(one->words, "…") != 0)
		x = rt_canvas_put_cut(c, box, x + 1, y, end > x + 1 ? end - x - 1 : 0,
				      rt_str_of(one->words), RT_INK_DIM);
	x = x + 2 > end + 2 ? x + 2 : end + 2;
	if (x < box.w)
		(void)rt_canvas_put_cut(c, box, x, y, box.w - x, rt_str_of(one->what), RT_INK_DIM);
}

/* Would Enter carry out the first suggestion, without a selection? */
static bool
enter_completes(const rt_chat *chat)
{
	rt_str text = rt_field_text(chat->field);

	return !rt_str_eq(rt_slash_complete(chat->pane.tui, text), text);
}

/* If scrolled, with the number of rows below in the last row. */
static void
draw_suggestions(rt_chat *chat, rt_canvas *c, rt_box box, const rt_chat_suggestion list[], int count)
{
	const char *sign = count == 0           ? ""
			   : !list[0].is_file   ? "/"
			   : rt_chat_is_file_command(rt_field_text(chat->field)) ? "" : "@";
	int at = chat->slash_at < count ? chat->slash_at : count, columns = name_columns(c, box, list, count);
	int rows = box.h, top;

	chat->slash_at = at;
	if (count == 0 || rows == 0)
		return;
	top = chat->slash_top < count - rows ? chat->slash_top : count > rows ? count - rows : 0;
	if (at > 0 && at <= top)
		top = at - 1;
	while (at > top + rows - (top + rows < count))
		top++;
	chat->slash_top = top;
	if (top + rows < count) {
		rows--;
		(void)rt_canvas_put_f(c, box, 2, rows, RT_INK_DIM, "%s %d more: Down",
				      c->utf8 ? "…" : "...", count - top - rows);
	}
	for (int i = 0; i < rows && top + i < count; i++) {
		draw_suggestion(c, box, i, &list[top + i], sign, columns);
		if (top + i == at - 1)
			rt_bar_select(c, box, i);
		else if (at == 0 && top + i == 0 && enter_completes(chat))
			(void)rt_canvas_put(c, box, 0, i, rt_canvas_glyph(c, RT_GLYPH_CURSOR),
					    RT_INK_DIM);
	}
}

/* The line above the input, about hidden parts: entries below the view, and lines of the input
 * beyond these rows. */
static void
draw_rule(rt_chat *chat, rt_canvas *c, rt_box rule, int rows)
{
	rt_str text = rt_field_text(chat->field);
	size_t lines = 1, i;
	rt_buf *words = rt_scope_buf(rt_chat_scope(chat));
	int width;

	rt_bar_line(c, rule, RT_GLYPH_HORIZONTAL);
	if (!chat->follows) {
		rt_buf_add_c(words, " more below: ");
		rt_keymap_add_key(chat->pane.tui->keys, RT_SCREEN_CHAT, RT_ACT_END, words);
		rt_buf_add_byte(words, ' ');
	}
	if (chat->pane.tui->work.only.size > 0) {
		rt_str only = rt_buf_str(&chat->pane.tui->work.only);

		rt_buf_add_c(words, " only ");
		rt_buf_add(words, only.ptr, rt_utf8_cut(only, 40));
		rt_buf_add_c(words, " and User: /only ");
	}
	for (i = 0; i < text.size && i < COUNTED_BYTES; i++)
		lines += text.ptr[i] == '\n';
	if (rt_chat_paste_is_folded(chat))
		rt_buf_add_c(words, " Tab shows the paste ");
	else if (lines > (size_t)rows)
		rt_buf_add_f(words, " %zu%s lines ", lines, i < text.size ? "+" : "");
	width = rt_canvas_width(c, rt_buf_str(words));
	(void)rt_canvas_put(c, rule, rule.w > width + 2 ? rule.w - width - 2 : 0, 0,
			    rt_buf_str(words), RT_INK_DIM);
}

/* While an entry is marked but the keyboard writes into the input: which keys are for which. */
static const char *
points_footer(rt_chat *chat)
{
	static const struct {
		rt_action action;
		const char *what;
	} keys[] = {{RT_ACT_ACCEPT, "send"},
		    {RT_ACT_SELECT, "select the marked entry"},
		    {RT_ACT_LAST_USER, "edit it"},
		    {RT_ACT_LABEL, "label it"},
		    {RT_ACT_CANCEL, "unmark"}};
	rt_buf *out = rt_scope_buf(rt_chat_scope(chat));

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		rt_buf *key = rt_scope_buf(rt_chat_scope(chat));

		rt_keymap_add_key(chat->pane.tui->keys, RT_SCREEN_CHAT, keys[i].action, key);
		if (key->size > 0)
			rt_buf_add_f(out, "%s%.*s %s", out->size > 0 ? "  " : "",
				     RT_STR_ARG(rt_buf_str(key)), keys[i].what);
	}
	(void)snprintf(chat->footer, sizeof(chat->footer), "%.*s", RT_STR_ARG(rt_buf_str(out)));
	return chat->footer;
}

/* While a reply arrives; in another discussion: with its title. */
static const char *
run_footer(rt_chat *chat)
{
	const rt_work *work = &chat->pane.tui->work;
	rt_view view = rt_work_view(work, rt_chat_scope(chat));

	if (rt_work_is_running_here(work) ||
	    rt_project_cell(work->value, work->run_disc) == NULL)
		return "Esc stops the reply   you can keep typing";
	(void)snprintf(chat->footer, sizeof(chat->footer),
		       "Esc stops the reply in \"%.*s\"   you can keep typing",
		       RT_STR_ARG(rt_first_words(rt_chat_scope(chat),
						 rt_disc_title(&view, work->run_disc), 40)));
	return chat->footer;
}

/* Instead of the keys of the screen; or NULL. */
static const char *
footer_of(rt_chat *chat)
{
	return rt_chat_selects(chat)                           ? NULL
	       : rt_work_is_running(&chat->pane.tui->work) ? run_footer(chat)
	       : chat->points                                  ? points_footer(chat)
							       : NULL;
}

void
rt_chat_draw(rt_pane *pane, rt_canvas *c, rt_box box)
{
	rt_chat *chat = rt_chat_of(pane);
	rt_chat_suggestion list[RT_CHAT_SUGGESTIONS];
	int own;
	bool writes = pane->tui->panes[pane->tui->pane_count - 1] == pane && !rt_chat_selects(chat);
	rt_field *field = rt_chat_shown_field(chat, box.w - 4);
	int rows = rt_field_rows(field, c, box.w - 4, box.h / 3 > 1 ? box.h / 3 : 1);
	int files = box.h > rows + 8 ? rt_chat_attached_count(chat) : 0;
	rt_box view = {box.x, box.y, box.w, box.h - rows - files - 1};
	rt_box rule = {box.x, box.y + view.h, box.w, 1};
	rt_box input = {box.x, rule.y + files + 1, box.w, rows};
	int count, shown;

	pane->footer = footer_of(chat);
	if (box.h < 3) {
		draw_entries(chat, c, box);
		return;
	}
	count = writes ? rt_chat_suggestions(chat, list, &own) : 0;
	shown = count < view.h / 2 ? count : view.h / 2;
	view.h -= shown;
	draw_entries(chat, c, view);
	draw_suggestions(chat, c, (rt_box){box.x, box.y + view.h, box.w, shown}, list,
			 shown > 0 ? count : 0);
	draw_rule(chat, c, rule, rows);
	rt_chat_attached_draw(chat, c, (rt_box){box.x, rule.y + 1, box.w, files});
	(void)rt_canvas_put_c(c, input, 1, 0, ">", writes ? RT_INK_TEXT | RT_INK_BOLD : RT_INK_DIM);
	rt_field_draw(field, c, (rt_box){input.x + 3, input.y, input.w - 4, input.h},
		      RT_INK_TEXT, writes);
}
