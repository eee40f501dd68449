/* SPDX-License-Identifier: MIT
 *
 * Entries of the chat, laid out and kept. */
#include "tui/pane_chat_impl.h"
#include "view/view.h"

enum { INDENT = 2, PREVIEW = 60, WIDEST = 110 };

/* Columns for texts: very long lines are hard to read. */
static int
comfortable(int columns)
{
	return columns > WIDEST + 2 ? WIDEST : columns - 2 > 1 ? columns - 2 : 1;
}

/* ---- one entry ---- */

static void
add_folded(rt_chat_laid *laid, rt_str what, size_t rows, const char *key)
{
	rt_buf row;

	rt_buf_init(&row, laid->lines.alloc, 256);
	rt_buf_add_f(&row, "[%.*s, %zu line%s, %s]", RT_STR_ARG(what), rows, rows == 1 ? "" : "s", key);
	rt_lines_add_row(&laid->lines, INDENT, rt_buf_str(&row), RT_INK_DIM);
	rt_buf_deinit(&row);
}

static size_t
count_lines(rt_str text)
{
	size_t i, count = text.size > 0 ? 1 : 0;

	for (i = 0; i + 1 < text.size; i++)
		count += text.ptr[i] == '\n';
	return count;
}

static void
add_preview(rt_chat_laid *laid, rt_str text, rt_ink ink)
{
	size_t end = rt_str_find(text, RT_STR("\n"), 0), cut;
	rt_buf row;

	rt_buf_init(&row, laid->lines.alloc, 1024);
	text.size = end == SIZE_MAX ? text.size : end;
	cut = rt_utf8_offset(text, PREVIEW);
	rt_buf_add(&row, text.ptr, cut == SIZE_MAX ? text.size : cut);
	if (cut != SIZE_MAX || end != SIZE_MAX)
		rt_buf_add_c(&row, " ...");
	rt_lines_add_row(&laid->lines, INDENT, rt_buf_str(&row), ink);
	rt_buf_deinit(&row);
}

static void
lay_entry(rt_chat *chat, const rt_work_entry *e, rt_chat_laid *laid)
{
	rt_tui *tui = chat->pane.tui;
	bool muted = (laid->look & RT_CHAT_MUTED) != 0;
	rt_lines_options options = {.columns = comfortable(laid->columns),
				    .utf8 = tui->canvas.utf8,
				    .ink = muted ? RT_INK_DIM : RT_INK_TEXT,
				    .indent = INDENT};
	rt_str text = rt_buf_str(&e->text), thinking = rt_buf_str(&e->thinking);

	rt_lines_clear(&laid->lines);
	if ((laid->look & RT_CHAT_COLLAPSED) != 0) {
		add_preview(laid, e->text.size > 0 ? text : rt_buf_str(&e->parts), options.ink);
		return;
	}
	if (thinking.size > 0 && (laid->look & RT_CHAT_THINKING) != 0) {
		options.ink = RT_INK_DIM | RT_INK_ITALIC;
		rt_lines_add_plain(&laid->lines, thinking, &options);
		options.ink = muted ? RT_INK_DIM : RT_INK_TEXT;
	} else if (thinking.size > 0) {
		add_folded(laid, RT_STR("thinking"), count_lines(thinking), "Ctrl+T");
	}
	if (e->is_tool && (laid->look & RT_CHAT_TOOLS) == 0) {
		add_folded(laid, RT_STR("tool result"), count_lines(text), "Ctrl+O");
	} else if (e->is_tool) {
		options.ink = RT_INK_DIM;
		rt_lines_add_plain(&laid->lines, text, &options);
	} else if (rt_str_eq_nocase(e->role, RT_STR("user"))) {
		rt_lines_add_plain(&laid->lines, text, &options); /* their line ends stay */
	} else if (text.size > 0) {
		rt_lines_add_markdown(&laid->lines, text, &options);
	}
	if (e->parts.size > 0) {
		rt_buf row;

		rt_buf_init(&row, tui->alloc, 4096);
		rt_buf_add_f(&row, "(%.*s)", RT_STR_ARG(rt_buf_str(&e->parts)));
		rt_lines_add_row(&laid->lines, INDENT, rt_buf_str(&row), RT_INK_TOOL);
		rt_buf_deinit(&row);
	}
}

/* ---- what is kept ---- */

static void
laid_deinit(rt_chat_laid *laid)
{
	if (laid->lines.alloc == NULL)
		return;
	rt_lines_deinit(&laid->lines);
	rt_buf_deinit(&laid->role);
	rt_buf_deinit(&laid->kind);
	rt_buf_deinit(&laid->label);
}

static void
laid_clear(rt_chat_laid *laid, const rt_alloc *alloc)
{
	if (laid->lines.alloc == NULL) {
		rt_lines_init(&laid->lines, alloc);
		rt_buf_init(&laid->role, alloc, 1 << 16);
		rt_buf_init(&laid->kind, alloc, 1 << 16);
		rt_buf_init(&laid->label, alloc, 1 << 16);
	}
	rt_buf_clear(&laid->role);
	rt_buf_clear(&laid->kind);
	rt_buf_clear(&laid->label);
}

void
rt_chat_forget(rt_chat *chat)
{
	size_t i;

	for (i = 0; i < RT_CHAT_KEPT; i++)
		laid_deinit(&chat->kept[i]);
	laid_deinit(&chat->run);
	if (chat->run_stream.lines.alloc != NULL)
		rt_lines_stream_deinit(&chat->run_stream);
	memset(&chat->run_stream, 0, sizeof(chat->run_stream));
	memset(chat->kept, 0, sizeof(chat->kept));
	memset(&chat->run, 0, sizeof(chat->run));
}

bool
rt_chat_is_unsent(const rt_chat *chat)
{
	const rt_work *work = &chat->pane.tui->work;
	size_t head = rt_work_head(work);
	rt_slot slot;
	rt_error ignored;

	if (!rt_work_is_running(work) || chat->sent.size == 0 || work->run_question[0] != 0 ||
	    work->run_how != RT_RUN_ASK)
		return false;
	/* The entry, and its reply, may be there a moment before the model's thread has told so. */
	while (head > 0 && rt_seq_get(work->take->slots, --head, &slot, &ignored) == RT_OK &&
	       slot.entry >= chat->sent_from)
		if ((slot.flags & RT_SLOT_TURN) != 0)
			return false;
	return true;
}

/* Another run, other columns, or thoughts are shown that were not: from the beginning. */
static void
begin_run(rt_chat *chat, const rt_lines_options *options)
{
	rt_tui *tui = chat->pane.tui;
	rt_chat_laid *laid = &chat->run;

	laid_clear(laid, tui->alloc);
	chat->run_is_unsent = rt_chat_is_unsent(chat);
	rt_buf_add_c(&laid->role, chat->run_is_unsent ? "User"
				  : tui->work.run_how <= RT_RUN_CONTINUE ? "AI"
									 : "Summary");
	if (chat->run_stream.lines.alloc == NULL)
		rt_lines_stream_init(&chat->run_stream, tui->alloc);
	rt_lines_stream_begin(&chat->run_stream, options);
	memcpy(chat->run_name, tui->work.run, sizeof(chat->run_name));
	chat->run_thought = SIZE_MAX;
	laid->columns = chat->columns;
	laid->look = tui->shows_thinking ? RT_CHAT_THINKING : 0;
}

/* The reply in flight, or the question that is to be stored first. What of it stays as it is is laid out once. */
static const rt_chat_laid *
lay_run(rt_chat *chat)
{
	rt_tui *tui = chat->pane.tui;
	rt_work *work = &tui->work;
	rt_chat_laid *laid = &chat->run;
	rt_str thinking = rt_buf_str(&work->run_thinking);
	rt_lines_options options = {.columns = comfortable(chat->columns),
				    .utf8 = tui->canvas.utf8,
				    .ink = RT_INK_TEXT,
				    .indent = INDENT};

	if (laid->lines.alloc == NULL || laid->columns != chat->columns ||
	    strcmp(chat->run_name, work->run) != 0 || (laid->look != 0) != tui->shows_thinking ||
	    chat->run_is_unsent != rt_chat_is_unsent(chat) || work->run_text.size < chat->run_size)
		begin_run(chat, &options);
	if (chat->run_thought != thinking.size) {
		chat->run_thought = thinking.size;
		rt_lines_clear(&laid->lines);
		options.ink = chat->run_is_unsent ? RT_INK_DIM : RT_INK_DIM | RT_INK_ITALIC;
		if (chat->run_is_unsent)
			rt_lines_add_plain(&laid->lines, rt_buf_str(&chat->sent), &options);
		else if (thinking.size > 0 && tui->shows_thinking)
			rt_lines_add_plain(&laid->lines, thinking, &options);
		else if (thinking.size > 0)
			add_folded(laid, RT_STR("thinking"), count_lines(thinking), "Ctrl+T");
	}
	chat->run_size = work->run_text.size;
	rt_lines_stream_set(&chat->run_stream, rt_buf_str(&work->run_text));
	laid->more = &chat->run_stream.lines;
	return laid->lines.status == RT_OK && laid->more->status == RT_OK ? laid : NULL;
}

static rt_chat_laid *
kept_for(rt_chat *chat, uint32_t entry)
{
	/* Four places for each entry: the one that was used longest ago is given up. */
	rt_chat_laid *row = &chat->kept[(entry * 4) % RT_CHAT_KEPT], *oldest = row;
	int i;

	for (i = 0; i < 4; i++) {
		if (row[i].entry == entry)
			return &row[i];
		if (row[i].used < oldest->used)
			oldest = &row[i];
	}
	oldest->entry = 0;
	return oldest;
}

const rt_chat_laid *
rt_chat_layout(rt_chat *chat, size_t item)
{
	rt_tui *tui = chat->pane.tui;
	rt_work *work = &tui->work;
	rt_chat_laid *laid;
	rt_work_entry e;
	unsigned look, view = 0;
	rt_slot slot;
	rt_error err;

	if (item >= rt_work_count(work))
		return lay_run(chat);
	if (rt_seq_get(work->take->slots, item, &slot, &err) != RT_OK ||
	    rt_project_view(work->value, slot.entry, &view, &err) != RT_OK)
		return NULL;
	look = ((view & RT_VIEW_COLLAPSED) != 0 ? RT_CHAT_COLLAPSED : 0) |
	       ((slot.flags & RT_SLOT_MUTED) != 0 ? RT_CHAT_MUTED : 0) |
	       ((slot.flags & RT_SLOT_EDITED) != 0 ? RT_CHAT_EDITED : 0) |
	       (tui->shows_tools ? RT_CHAT_TOOLS : 0) | (tui->shows_thinking ? RT_CHAT_THINKING : 0);
	laid = kept_for(chat, slot.entry);
	laid->used = ++chat->uses;
	if (laid->entry == slot.entry && laid->body == slot.body && laid->columns == chat->columns &&
	    laid->look == look && laid->value == work->value_change)
		return laid;
	if (rt_work_entry_at(work, item, &e, &err) != RT_OK) {
		rt_tui_say_error(tui, &err, RT_STR("retake fsck says more"));
		return NULL;
	}
	laid_clear(laid, tui->alloc);
	rt_buf_add_str(&laid->role, e.role);
	rt_buf_add_str(&laid->kind, e.kind);
	rt_buf_add_str(&laid->label, e.label);
	if (laid->entry != slot.entry || laid->body != slot.body || laid->columns != chat->columns ||
	    laid->look != look || laid->role_number != slot.role) {
		laid->columns = chat->columns;
		laid->look = look;
		lay_entry(chat, &e, laid);
	}
	laid->is_partial = e.is_partial;
	laid->entry = slot.entry;
	laid->body = slot.body;
	laid->role_number = slot.role;
	laid->value = work->value_change;
	rt_work_entry_deinit(&e);
	if (laid->lines.status != RT_OK) {
		laid->entry = 0;
		return NULL;
	}
	return laid;
}

bool
rt_chat_hides(rt_chat *chat, size_t item)
{
	rt_work *work = &chat->pane.tui->work;
	bool hidden = false;
	rt_slot slot;
	rt_error ignored;

	return item < rt_work_count(work) &&
	       rt_seq_get(work->take->slots, item, &slot, &ignored) == RT_OK &&
	       rt_view_is_hidden(work->engine, work->value, &slot, &hidden, &ignored) == RT_OK && hidden;
}

size_t
rt_chat_visible(rt_chat *chat, size_t at, int by)
{
	size_t count = rt_work_count(&chat->pane.tui->work), i;
	int way;

	for (way = 0; way < 2; way++, by = -by)
		for (i = at; i < count; i += (size_t)(ptrdiff_t)by)
			if (!rt_chat_hides(chat, i))
				return i;
	return at;
}

/* ---- forks ---- */

rt_status
rt_chat_find_forks(rt_chat *chat)
{
	enum { FORKS_MAX = 4096 };
	rt_work *work = &chat->pane.tui->work;
	const rt_alloc *alloc = chat->pane.tui->alloc;
	size_t takes = rt_disc_take_count(work->disc), i, k;
	uint32_t *others; /* entry of each fork's other takes, with the position */
	size_t *places, count = 0;
	rt_status st = RT_OK;
	rt_error err;

	chat->fork_count = 0;
	if (work->take_count < 2)
		return RT_OK;
	takes = takes < FORKS_MAX ? takes : FORKS_MAX;
	others = rt_new_array(alloc, takes, sizeof(*others));
	places = rt_new_array(alloc, takes, sizeof(*places));
	rt_free(alloc, chat->forks);
	chat->forks = rt_new_array(alloc, takes, sizeof(*chat->forks));
	if (others == NULL || places == NULL || chat->forks == NULL)
		st = RT_NOMEM;
	for (i = 1; st == RT_OK && i <= takes; i++) {
		const rt_take *other = rt_disc_take(work->disc, (uint32_t)i);
		size_t common = 0;
		rt_slot mine, slot;
		bool known = false;

		if (!other->present || other == work->take)
			continue;
		st = rt_seq_common(work->take->slots, other->slots, &common, &err);
		if (st != RT_OK || common >= rt_seq_count(other->slots) ||
		    common >= rt_seq_count(work->take->slots))
			continue;
		st = rt_seq_get(other->slots, common, &slot, &err);
		if (st == RT_OK)
			st = rt_seq_get(work->take->slots, common, &mine, &err);
		if (st != RT_OK)
			break;
		for (k = 0; k < count; k++)
			known = known || (places[k] == common && others[k] == slot.entry);
		if (known || mine.entry == slot.entry)
			continue;
		places[count] = common;
		others[count++] = slot.entry;
		for (k = 0; k < chat->fork_count && chat->forks[k].at != common; k++)
			;
		if (k == chat->fork_count)
			chat->forks[chat->fork_count++] = (rt_chat_fork){common, 1, 1};
		chat->forks[k].of++;
		if (slot.entry < mine.entry)
			chat->forks[k].which++;
	}
	rt_free(alloc, others);
	rt_free(alloc, places);
	return st == RT_NOMEM ? st : RT_OK;
}
