/* SPDX-License-Identifier: MIT
 *
 * Entries of the chat, laid out and cached; and the forks of takes. */
#include "core/role.h"
#include "tui/pane_chat_impl.h"
#include "view/view.h"

enum {
	INDENT = 2,
	PREVIEW = 60, /* characters of a collapsed entry */
	WIDEST = 110, /* columns; longer lines are hard to read */
	WAYS = 4,     /* slots in the cache for an entry */
	FORKS_MAX = 4096
};

bool
rt_chat_slot(const rt_chat *chat, size_t at, rt_slot *out)
{
	const rt_work *work = &chat->pane.tui->work;
	rt_error ignored;

	return at < rt_work_count(work) &&
	       rt_seq_get(work->take->slots, at, out, &ignored) == RT_OK;
}

static rt_lines_options
options_for(const rt_chat *chat, rt_ink ink)
{
	int columns = chat->columns - 2;

	return (rt_lines_options){.columns = columns > WIDEST ? WIDEST
					     : columns > 1    ? columns
							      : 1,
				  .utf8 = chat->pane.tui->canvas.utf8,
				  .ink = ink,
				  .indent = INDENT};
}

/* ---- one entry ---- */

/* "[thinking, 3 lines, Ctrl+T]" */
static void
add_folded(rt_chat *chat, rt_lines *lines, const char *what, rt_str text, const char *key)
{
	rt_buf *size = rt_scope_buf(rt_chat_scope(chat));

	rt_thinking_add_size(size, text);
	rt_lines_add_row(lines, INDENT,
			 rt_tui_format(chat->pane.tui, "[%s, %.*s, %s]", what,
				       RT_STR_ARG(rt_buf_str(size)), key),
			 RT_INK_DIM);
}

static void
add_preview(rt_chat *chat, rt_lines *lines, rt_str text, rt_ink ink)
{
	size_t end = rt_str_find(text, RT_STR("\n"), 0), cut;
	rt_buf *row = rt_scope_buf(rt_chat_scope(chat));

	text.size = end == SIZE_MAX ? text.size : end;
	cut = rt_utf8_offset(text, PREVIEW);
	rt_buf_add(row, text.ptr, cut == SIZE_MAX ? text.size : cut);
	if (cut != SIZE_MAX || end != SIZE_MAX)
		rt_buf_add_c(row, chat->pane.tui->canvas.utf8 ? " …" : " ...");
	rt_lines_add_row(lines, INDENT, rt_buf_str(row), ink);
}

/* Questions are rendered only in read mode, other entries unless their source was requested. */
static bool
is_rendered(const rt_work_entry *e, unsigned look)
{
	return (look & RT_CHAT_READ) != 0 ||
	       (!rt_role_is_user(e->role) && (look & RT_CHAT_SOURCE) == 0);
}

/* The parts of reasoning and of prose, each in its place in the reply. */
static void
add_said(rt_chat *chat, const rt_work_entry *e, unsigned look, const rt_lines_options *options,
	 rt_lines *lines)
{
	rt_lines_options aside = options_for(chat, RT_INK_DIM | RT_INK_ITALIC);

	for (size_t i = 0; i < e->said.count; i++) {
		const rt_body_part *part = &e->said.items[i];

		if (part->text.size == 0)
			continue; /* of redacted thinking */
		if (!part->is_thinking)
			rt_lines_add_markdown(lines, part->text, options);
		else if ((look & RT_CHAT_THINKING) != 0)
			rt_lines_add_plain(lines, part->text, &aside);
		else
			add_folded(chat, lines, "thinking", part->text, "Ctrl+T");
	}
}

static void
lay_entry(rt_chat *chat, const rt_work_entry *e, unsigned look, rt_lines *lines)
{
	rt_lines_options options = options_for(chat, (look & RT_CHAT_MUTED) != 0 ? RT_INK_DIM
										 : RT_INK_TEXT);
	rt_lines_options dim = options_for(chat, RT_INK_DIM), tool = options_for(chat, RT_INK_TOOL);
	rt_str text = rt_buf_str(&e->text), parts = rt_buf_str(&e->parts);

	rt_lines_clear(lines);
	if ((look & RT_CHAT_COLLAPSED) != 0) {
		add_preview(chat, lines, text.size > 0 ? text : parts, options.ink);
		return;
	}
	if (e->said.thinking_count > 0 && is_rendered(e, look))
		add_said(chat, e, look, &options, lines);
	else if (e->is_tool && (look & RT_CHAT_TOOLS) == 0)
		add_folded(chat, lines, "tool result", text, "Ctrl+O");
	else if (e->is_tool)
		rt_lines_add_plain(lines, text, &dim);
	else if (!is_rendered(e, look))
		rt_lines_add_plain(lines, text, &options); /* as typed */
	else if (text.size > 0)
		rt_lines_add_markdown(lines, text, &options);
	if (parts.size > 0)
		rt_lines_add_plain(lines, rt_tui_format(chat->pane.tui, "(%.*s)", RT_STR_ARG(parts)),
				   &tool);
}

/* ---- the cache ---- */

static void
laid_deinit(rt_chat_laid *laid)
{
	if (laid->lines.alloc != NULL) {
		rt_lines_deinit(&laid->lines);
		rt_buf_deinit(&laid->role);
		rt_buf_deinit(&laid->kind);
		rt_buf_deinit(&laid->label);
		rt_buf_deinit(&laid->usage);
	}
	*laid = (rt_chat_laid){0};
}

static void
laid_clear(rt_chat_laid *laid, const rt_alloc *alloc)
{
	if (laid->lines.alloc == NULL) {
		rt_lines_init(&laid->lines, alloc);
		rt_buf_init(&laid->role, alloc, 1 << 16);
		rt_buf_init(&laid->kind, alloc, 1 << 16);
		rt_buf_init(&laid->label, alloc, 1 << 16);
		rt_buf_init(&laid->usage, alloc, 1 << 16);
	}
	rt_buf_clear(&laid->role);
	rt_buf_clear(&laid->kind);
	rt_buf_clear(&laid->label);
	rt_buf_clear(&laid->usage);
	laid->model = 0;
}

void
rt_chat_forget(rt_chat *chat)
{
	for (size_t i = 0; i < RT_CHAT_CACHED; i++)
		laid_deinit(&chat->cache[i]);
	laid_deinit(&chat->run);
	if (chat->run_stream.lines.alloc != NULL)
		rt_lines_stream_deinit(&chat->run_stream);
	chat->run_stream = (rt_lines_stream){0};
}

/* The cache slot of an entry, or the least recently used of those that it may use. */
static rt_chat_laid *
cached(rt_chat *chat, uint32_t entry)
{
	rt_chat_laid *row = &chat->cache[(entry * WAYS) % RT_CHAT_CACHED], *oldest = row;

	for (int i = 0; i < WAYS; i++) {
		if (row[i].entry == entry)
			return &row[i];
		if (row[i].used < oldest->used)
			oldest = &row[i];
	}
	oldest->entry = 0;
	return oldest;
}

/* ---- the reply in flight ---- */

bool
rt_chat_is_unsent(const rt_chat *chat)
{
	const rt_work *work = &chat->pane.tui->work;
	size_t head = rt_work_head(work);
	rt_slot slot;

	if (!rt_work_is_running_here(work) || chat->sent.size == 0 || work->run_question[0] != 0 ||
	    work->run_how != RT_RUN_ASK)
		return false;
	/* The question may be stored a moment before the run reports it, with a reply after it. */
	while (head > 0 && rt_chat_slot(chat, --head, &slot) && slot.entry >= chat->sent_from)
		if ((slot.flags & RT_SLOT_TURN) != 0)
			return false;
	return true;
}

/* Another run, or another layout: from its beginning. */
static void
begin_run(rt_chat *chat)
{
	rt_tui *tui = chat->pane.tui;
	rt_lines_options options = options_for(chat, RT_INK_TEXT);

	laid_clear(&chat->run, tui->alloc);
	chat->run_is_unsent = rt_chat_is_unsent(chat);
	rt_buf_add_c(&chat->run.role, chat->run_is_unsent                    ? "User"
				      : tui->work.run_how <= RT_RUN_CONTINUE ? "AI"
									     : "Summary");
	if (chat->run_stream.lines.alloc == NULL)
		rt_lines_stream_init(&chat->run_stream, tui->alloc);
	rt_lines_stream_begin(&chat->run_stream, &options);
	memcpy(chat->run_name, tui->work.run, sizeof(chat->run_name));
	chat->run_thought = SIZE_MAX;
	chat->run.columns = chat->columns;
	chat->run.look = tui->shows_thinking ? RT_CHAT_THINKING : 0;
}

/* Above the text of the reply: the question while it is not stored, or thinking. */
static void
lay_run_head(rt_chat *chat, rt_str thinking)
{
	rt_lines_options dim = options_for(chat, RT_INK_DIM);
	rt_lines_options aside = options_for(chat, RT_INK_DIM | RT_INK_ITALIC);
	rt_lines *lines = &chat->run.lines;

	rt_lines_clear(lines);
	if (chat->run_is_unsent)
		rt_lines_add_plain(lines, rt_buf_str(&chat->sent), &dim);
	else if (thinking.size > 0 && chat->pane.tui->shows_thinking)
		rt_lines_add_plain(lines, thinking, &aside);
	else if (thinking.size > 0)
		add_folded(chat, lines, "thinking", thinking, "Ctrl+T");
}

static const rt_chat_laid *
lay_run(rt_chat *chat)
{
	rt_tui *tui = chat->pane.tui;
	rt_work *work = &tui->work;
	rt_chat_laid *laid = &chat->run;

	if (laid->lines.alloc == NULL || laid->columns != chat->columns ||
	    strcmp(chat->run_name, work->run) != 0 || (laid->look != 0) != tui->shows_thinking ||
	    chat->run_is_unsent != rt_chat_is_unsent(chat) || work->run_text.size < chat->run_size)
		begin_run(chat);
	if (chat->run_thought != work->run_thinking.size) {
		chat->run_thought = work->run_thinking.size;
		lay_run_head(chat, rt_buf_str(&work->run_thinking));
	}
	chat->run_size = work->run_text.size;
	rt_lines_stream_set(&chat->run_stream, rt_buf_str(&work->run_text));
	laid->more = &chat->run_stream.lines;
	return laid->lines.status == RT_OK && laid->more->status == RT_OK ? laid : NULL;
}

/* ---- items ---- */

static unsigned
look_of(const rt_chat *chat, const rt_slot *slot, unsigned view)
{
	const rt_tui *tui = chat->pane.tui;

	return ((view & RT_VIEW_COLLAPSED) != 0 ? RT_CHAT_COLLAPSED : 0) |
	       ((view & RT_VIEW_READ_MODE) != 0 ? RT_CHAT_READ : 0) |
	       (rt_tui_shows_source(tui, slot->entry) ? RT_CHAT_SOURCE : 0) |
	       ((slot->flags & RT_SLOT_MUTED) != 0 ? RT_CHAT_MUTED : 0) |
	       ((slot->flags & RT_SLOT_EDITED) != 0 ? RT_CHAT_EDITED : 0) |
	       (tui->shows_tools ? RT_CHAT_TOOLS : 0) |
	       (tui->shows_thinking ? RT_CHAT_THINKING : 0);
}

const rt_chat_laid *
rt_chat_layout(rt_chat *chat, size_t item)
{
	rt_tui *tui = chat->pane.tui;
	rt_work *work = &tui->work;
	rt_chat_laid *laid;
	rt_str name = RT_STR("");
	rt_work_entry e;
	unsigned look, view = 0;
	bool is_same;
	rt_slot slot;
	rt_error err;

	if (item >= rt_work_count(work))
		return lay_run(chat);
	if (!rt_chat_slot(chat, item, &slot) ||
	    rt_project_view(work->value, slot.entry, &view, &err) != RT_OK)
		return NULL;
	look = look_of(chat, &slot, view);
	laid = cached(chat, slot.entry);
	laid->used = ++chat->uses;
	is_same = laid->entry == slot.entry && laid->body == slot.body &&
		  laid->columns == chat->columns && laid->look == look;
	if (is_same && laid->value == work->value_change)
		return laid;
	if (rt_work_entry_at(work, item, &e, &err) != RT_OK) {
		rt_tui_say_error(tui, &err, RT_STR("details: /fsck"));
		return NULL;
	}
	laid_clear(laid, tui->alloc);
	rt_buf_add_str(&laid->role, rt_role_label(work->value, e.role));
	if (e.body != NULL && rt_str_is(e.kind, "custom_message"))
		name = rt_body_custom_type(e.body);
	rt_buf_add_str(&laid->kind, name.size > 0 ? name : e.kind);
	rt_buf_add_str(&laid->label, e.label);
	if (e.body != NULL) {
		rt_body_add_model(&laid->usage, e.body);
		laid->model = laid->usage.size;
		rt_buf_clear(&laid->usage);
		rt_body_add_usage(&laid->usage, e.body);
	}
	if (!is_same || laid->role_number != slot.role)
		lay_entry(chat, &e, look, &laid->lines);
	laid->is_partial = e.is_partial;
	rt_work_entry_deinit(&e);
	laid->entry = laid->lines.status == RT_OK ? slot.entry : 0;
	laid->body = slot.body;
	laid->role_number = slot.role;
	laid->columns = chat->columns;
	laid->look = look;
	laid->value = work->value_change;
	return laid->entry != 0 ? laid : NULL;
}

bool
rt_chat_hides(const rt_chat *chat, size_t item)
{
	const rt_work *work = &chat->pane.tui->work;
	bool hidden = false;
	rt_slot slot;
	rt_error ignored;

	return rt_work_is_filtered(work, item) ||
	       (rt_chat_slot(chat, item, &slot) &&
		rt_view_is_hidden(work->engine, work->value, &slot, &hidden, &ignored) == RT_OK &&
		hidden);
}

size_t
rt_chat_visible(const rt_chat *chat, size_t at, int by)
{
	size_t count = rt_work_count(&chat->pane.tui->work);

	for (int way = 0; way < 2; way++, by = -by)
		for (size_t i = at; i < count; i += (size_t)(ptrdiff_t)by)
			if (!rt_chat_hides(chat, i))
				return i;
	return at;
}

/* ---- forks ---- */

/* Where another take continues with a different entry. */
typedef struct branch {
	size_t at;
	uint32_t entry, mine; /* its entry, and that of the current take */
	bool is_older;        /* than that of the current take */
} branch;

/* False: the takes cannot be read, or neither continues after their common part. */
static bool
branch_of(rt_chat *chat, const rt_take *other, branch *out)
{
	const rt_seq *mine = chat->pane.tui->work.take->slots;
	rt_slot slot, my_slot;
	rt_error err;

	if (RT_TRY(rt_chat_scope(chat), rt_seq_common(mine, other->slots, &out->at, &err)) !=
		    RT_OK ||
	    out->at >= rt_seq_count(other->slots) || out->at >= rt_seq_count(mine))
		return false;
	RT_TRY(rt_chat_scope(chat), rt_seq_get(other->slots, out->at, &slot, &err));
	if (RT_TRY(rt_chat_scope(chat), rt_seq_get(mine, out->at, &my_slot, &err)) != RT_OK)
		return false;
	out->entry = slot.entry;
	out->mine = my_slot.entry;
	out->is_older = slot.ts_us != my_slot.ts_us ? slot.ts_us < my_slot.ts_us
						    : slot.entry < my_slot.entry;
	return out->entry != out->mine;
}

static void
add_branch(rt_chat *chat, const branch *b)
{
	size_t i = 0;

	while (i < chat->fork_count && chat->forks[i].at != b->at)
		i++;
	if (i == chat->fork_count)
		chat->forks[chat->fork_count++] = (rt_chat_fork){b->at, 1, 1};
	chat->forks[i].of++;
	chat->forks[i].which += b->is_older;
}

void
rt_chat_find_forks(rt_chat *chat)
{
	const rt_work *work = &chat->pane.tui->work;
	rt_scope *s = rt_chat_scope(chat);
	size_t takes = rt_disc_take_count(work->disc), count = 0;
	branch *branches;

	chat->fork_count = 0;
	if (work->take_count < 2 || !rt_ok(s))
		return;
	takes = takes < FORKS_MAX ? takes : FORKS_MAX;
	branches = rt_scope_array(s, takes, sizeof(*branches));
	rt_free(s->alloc, chat->forks);
	chat->forks = rt_new_array(s->alloc, takes, sizeof(*chat->forks));
	if (chat->forks == NULL)
		(void)rt_scope_nomem(s);
	for (uint32_t i = 1; rt_ok(s) && i <= takes; i++) {
		const rt_take *other = rt_disc_take(work->disc, i);
		branch b;
		size_t k = 0;

		if (!other->present || other == work->take || !branch_of(chat, other, &b))
			continue;
		while (k < count && (branches[k].at != b.at || branches[k].entry != b.entry))
			k++;
		if (k < count)
			continue; /* several takes share the entry */
		branches[count++] = b;
		add_branch(chat, &b);
	}
	if (s->status != RT_NOMEM) /* damaged: forks up to there */
		s->status = RT_OK;
}
