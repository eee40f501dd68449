/* SPDX-License-Identifier: MIT
 *
 * Functions that all panes and verbs share: events, the stack of panes, the notice line, the
 * person's editor, the clipboard. Panes are called through their tables only, so that this file
 * depends on none of them. */
#define _POSIX_C_SOURCE 200809L

#include "tui/pane.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "app/editor.h"
#include "log/history.h"
#include "terminal/terminal.h"
#include "tui/command_host.h"

enum {
	NOTICE_SIZE = 1 << 15, /* bytes of a message; more may be added to it */
	WAY_BACK = 40          /* columns kept for the step and its key */
};

/* ---- events ---- */

rt_scope *
rt_tui_begin(rt_tui *tui)
{
	if (tui->scope_depth++ == 0)
		tui->scope.alloc = tui->alloc;
	return &tui->scope;
}

rt_status
rt_tui_end(rt_tui *tui)
{
	rt_status st = tui->scope.status;

	RT_ASSERT(tui->scope_depth > 0);
	tui->scope.status = RT_OK; /* the caller has it now */
	if (--tui->scope_depth == 0)
		rt_scope_reset(&tui->scope);
	return st;
}

rt_str
rt_tui_format(rt_tui *tui, const char *format, ...)
{
	char *text;
	va_list ap, again;
	int size;

	va_start(ap, format);
	va_copy(again, ap);
	size = vsnprintf(NULL, 0, format, ap);
	text = size < 0 ? NULL : rt_scope_get(&tui->scope, (size_t)size + 1);
	if (text != NULL)
		(void)vsnprintf(text, (size_t)size + 1, format, again);
	va_end(again);
	va_end(ap);
	return rt_str_of(text);
}

/* A pane may be freed by the functions that it calls to handle an action. */

rt_status
rt_pane_act(rt_pane *pane, rt_action action, bool *out_used)
{
	rt_tui *tui = pane->tui;

	(void)rt_tui_begin(tui);
	*out_used = pane->ops->act(pane, action);
	return rt_tui_end(tui);
}

rt_status
rt_pane_key(rt_pane *pane, rt_key key, bool *out_used)
{
	rt_tui *tui = pane->tui;

	(void)rt_tui_begin(tui);
	*out_used = pane->ops->key != NULL && pane->ops->key(pane, key);
	return rt_tui_end(tui);
}

rt_status
rt_pane_paste(rt_pane *pane, rt_str text)
{
	rt_tui *tui = pane->tui;

	(void)rt_tui_begin(tui);
	if (pane->ops->paste != NULL)
		pane->ops->paste(pane, text);
	return rt_tui_end(tui);
}

rt_status
rt_pane_changed(rt_pane *pane)
{
	rt_tui *tui = pane->tui;

	(void)rt_tui_begin(tui);
	if (pane->ops->changed != NULL)
		pane->ops->changed(pane);
	return rt_tui_end(tui);
}

rt_status
rt_pane_poll(rt_pane *pane)
{
	rt_tui *tui = pane->tui;

	(void)rt_tui_begin(tui);
	if (pane->ops->poll != NULL)
		pane->ops->poll(pane);
	return rt_tui_end(tui);
}

/* ---- the stack ---- */

rt_status
rt_tui_push(rt_tui *tui, rt_pane *pane)
{
	size_t i, open = 0;

	for (i = 0; i < tui->pane_count; i++)
		open += !tui->panes[i]->closes;
	if (open >= RT_PANES_MAX || tui->pane_count == sizeof(tui->panes) / sizeof(tui->panes[0])) {
		pane->ops->free(pane);
		return RT_LIMIT;
	}
	pane->tui = tui;
	pane->screen = pane->ops->screen;
	pane->closes = false;
	tui->panes[tui->pane_count++] = pane;
	return RT_OK;
}

void
rt_tui_close(rt_tui *tui, rt_pane *pane)
{
	size_t i;

	for (i = 1; i < tui->pane_count; i++)
		if (tui->panes[i] == pane)
			break;
	for (; i < tui->pane_count; i++)
		tui->panes[i]->closes = true;
}

rt_pane *
rt_tui_top(const rt_tui *tui)
{
	size_t i = tui->pane_count - 1;

	while (i > 0 && tui->panes[i]->closes)
		i--;
	return tui->panes[i];
}

/* ---- saying ---- */

void
rt_tui_say_str(rt_tui *tui, rt_str words, rt_ink ink)
{
	rt_buf_clear(&tui->notice);
	rt_buf_add(&tui->notice, words.ptr, rt_utf8_cut(words, NOTICE_SIZE));
	tui->notice_ink = ink;
	tui->notice_fades = false;
	tui->said_step = 0;
	tui->way_back.seq = 0;
}

void
rt_tui_say_nothing(rt_tui *tui)
{
	rt_tui_say_str(tui, RT_STR(""), RT_INK_TEXT);
}

static void
say_f(rt_tui *tui, const char *format, va_list ap)
{
	char words[1024];

	(void)vsnprintf(words, sizeof(words), format, ap);
	rt_tui_say_str(tui, rt_str_of(words), RT_INK_TEXT);
}

void
rt_tui_say(rt_tui *tui, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say_f(tui, format, ap);
	va_end(ap);
	tui->notice_fades = true;
}

void
rt_tui_say_done(rt_tui *tui, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say_f(tui, format, ap);
	va_end(ap);
}

/* The command that the text begins with; NULL: none that works here. */
static const rt_command *
command_at_start(const rt_tui *tui, rt_str text)
{
	char name[24];
	size_t size = 0;
	const rt_command *command;

	while (size < text.size && size < sizeof(name) - 1 && text.ptr[size] >= 'a' &&
	       text.ptr[size] <= 'z')
		size++;
	memcpy(name, text.ptr, size);
	name[size] = 0;
	command = rt_command_named(tui->commands, name);
	return command != NULL && rt_command_why_not_here(command) == NULL ? command : NULL;
}

/* The discussion in "-d DISCUSSION " before a command; empty: there is none. */
static rt_str
discussion_flag(rt_str text)
{
	const rt_str flag = RT_STR("-d ");
	size_t at;

	if (!rt_str_starts(text, flag))
		return RT_STR("");
	text = rt_str_skip(text, flag.size);
	at = rt_str_find(text, rt_str_starts(text, RT_STR("'")) ? RT_STR("' ") : RT_STR(" "), 0);
	if (at == SIZE_MAX)
		return RT_STR("");
	return rt_str_at(text.ptr, text.ptr[at] == '\'' ? at + 1 : at);
}

void
rt_tui_add_advice(const rt_tui *tui, rt_str text, rt_buf *out)
{
	const rt_str program = RT_STR("retake "), asks = RT_STR("ask --template ");
	size_t from = 0, at;

	while ((at = rt_str_find(text, program, from)) != SIZE_MAX) {
		bool begins = at == 0 || strchr(" :(\n", text.ptr[at - 1]) != NULL;

		rt_buf_add(out, text.ptr + from, at - from);
		from = at + program.size;
		rt_str disc = discussion_flag(rt_str_skip(text, from));
		size_t flag = disc.size > 0 ? strlen("-d ") + disc.size + 1 : 0;

		if (begins && command_at_start(tui, rt_str_skip(text, from + flag)) != NULL) {
			if (flag > 0)
				rt_buf_add_f(out, "/use %.*s, then ", RT_STR_ARG(disc));
			from += flag;
			rt_buf_add_byte(out, '/');
			if (rt_str_starts(rt_str_skip(text, from), asks))
				from += asks.size; /* a template is a command here: /NAME */
		} else
			rt_buf_add_str(out, program);
	}
	rt_buf_add_str(out, rt_str_skip(text, from));
}

void
rt_tui_say_error(rt_tui *tui, const rt_error *err, rt_str hint)
{
	rt_scope s;
	rt_buf *words;

	tui->errors++;
	if (err->is_quiet) {
		rt_tui_say_nothing(tui);
		return;
	}
	rt_scope_init(&s, tui->alloc);
	words = rt_scope_buf(&s);
	rt_tui_add_advice(tui, rt_str_of(err->text), words);
	rt_tui_say_str(tui, rt_buf_str(words), RT_INK_ERROR);
	if (!rt_str_starts(rt_buf_str(&tui->notice), RT_STR("http")))
		rt_buf_capitalise(&tui->notice);
	if (hint.size > 0) {
		rt_buf_add_c(&tui->notice, ".  ");
		rt_tui_add_advice(tui, hint, &tui->notice);
	}
	rt_scope_deinit(&s);
}

void
rt_tui_capitalise(rt_tui *tui)
{
	if (command_at_start(tui, rt_buf_str(&tui->notice)) == NULL)
		rt_buf_capitalise(&tui->notice);
}

/* The step, and the key for its undo or redo on the topmost screen, if it has one. */
static void
add_way_back(rt_tui *tui)
{
	bool undo = tui->way_back.is_undo;
	rt_screen screen = rt_tui_top(tui)->screen;
	rt_scope s;
	rt_buf *key;

	rt_scope_init(&s, tui->alloc);
	key = rt_scope_buf(&s);
	rt_keymap_add_key(tui->keys, screen, undo ? RT_ACT_REDO : RT_ACT_UNDO, key);
	tui->way_back.screen = screen;
	tui->way_back.from = tui->notice.size;
	rt_buf_add_f(&tui->notice, "   step %llu", (unsigned long long)tui->way_back.seq);
	if (key->size > 0)
		rt_buf_add_f(&tui->notice, " - %s: ", undo ? "redo" : "undo");
	if (key->size > 0 && tui->way_back.steps > 1)
		rt_buf_add_f(&tui->notice, "/%s %llu", undo ? "redo" : "undo",
			     (unsigned long long)tui->way_back.steps);
	else if (key->size > 0)
		rt_buf_add_f(&tui->notice, "%s%.*s",
			     screen != RT_SCREEN_CHAT ? ""
			     : undo                   ? "/redo or "
						      : "/undo or ",
			     RT_STR_ARG(rt_buf_str(key)));
	tui->way_back.to = tui->notice.size;
	rt_scope_deinit(&s);
}

void
rt_tui_fit_way_back(rt_tui *tui)
{
	rt_scope s;
	rt_str rest;

	if (tui->way_back.seq == 0 || tui->way_back.screen == rt_tui_top(tui)->screen ||
	    tui->notice.size < tui->way_back.to)
		return;
	rt_scope_init(&s, tui->alloc);
	rest = rt_scope_copy(&s, rt_str_at(tui->notice.ptr + tui->way_back.to,
					   tui->notice.size - tui->way_back.to));
	if (rt_ok(&s)) {
		tui->notice.size = tui->way_back.from;
		add_way_back(tui);
		rt_buf_add_str(&tui->notice, rest);
	}
	rt_scope_deinit(&s);
}

/* Can the key in the notice still revert what the notice reports? *out_newest: the step that undo would
 * revert. */
static bool
is_way_back(const rt_tui *tui, uint64_t *out_newest)
{
	const rt_work *work = &tui->work;

	if (tui->way_back.is_undo)
		return work->disc->history.redo_row != 0 || work->value->history.redo_row != 0;
	return tui->said_step == 0 ||
	       rt_history_newest(work->engine, work->value, work->place.disc, out_newest, NULL) != RT_OK ||
	       *out_newest == tui->said_step;
}

void
rt_tui_check_way_back(rt_tui *tui)
{
	uint64_t newest = UINT64_MAX, step = tui->said_step, seq = tui->way_back.seq;
	rt_scope *s;

	if (seq == 0 || tui->is_own || tui->way_back.disc != tui->work.place.disc ||
	    tui->notice.size < tui->way_back.to || is_way_back(tui, &newest))
		return;
	s = rt_tui_begin(tui);
	if (newest < step) {
		rt_tui_say_done(tui, "Step %llu was undone by another program or window",
				(unsigned long long)seq);
	} else {
		rt_str rest = rt_scope_copy(s, rt_str_skip(rt_buf_str(&tui->notice), tui->way_back.to));

		tui->notice.size = tui->way_back.from;
		rt_buf_add_f(&tui->notice, "   step %llu", (unsigned long long)seq);
		rt_buf_add_str(&tui->notice, rest);
		tui->way_back.seq = 0;
	}
	tui->said_step = step; /* undo asks before it reverts another step */
	(void)!rt_tui_end(tui); /* only a message */
}

bool
rt_tui_shows_source(const rt_tui *tui, uint32_t entry)
{
	for (size_t i = 0; i < tui->source_count; i++)
		if (tui->sources[i] == entry)
			return true;
	return false;
}

void
rt_tui_show_source(rt_tui *tui, uint32_t entry, bool is_shown)
{
	size_t at = 0;

	while (at < tui->source_count && tui->sources[at] != entry)
		at++;
	if (at == tui->source_count && is_shown && at == RT_TUI_SOURCES)
		at = 0;
	if (at < tui->source_count) {
		tui->source_count--;
		memmove(&tui->sources[at], &tui->sources[at + 1],
			(tui->source_count - at) * sizeof(tui->sources[0]));
	}
	if (is_shown)
		tui->sources[tui->source_count++] = entry;
}

rt_str
rt_tui_disc_title(rt_tui *tui)
{
	const rt_work *work = &tui->work;

	if (tui->title_seen != work->value_change || tui->title.size == 0) {
		rt_scope s;

		rt_scope_init(&s, tui->alloc);
		rt_view view = rt_work_view(work, &s);
		rt_str title = rt_disc_title(&view, work->place.disc);

		rt_buf_clear(&tui->title);
		rt_buf_add_str(&tui->title, rt_ok(&s) ? title : rt_work_disc_name(work));
		tui->title_seen = work->value_change;
		rt_scope_deinit(&s);
	}
	return rt_buf_str(&tui->title);
}

void
rt_tui_say_change(rt_tui *tui, const rt_work_said *said)
{
	int columns = 2 * tui->canvas.columns - WAY_BACK;
	rt_buf *words;
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	words = rt_scope_buf(&s); /* long names may not displace the way back */
	rt_canvas_add_name(&tui->canvas, rt_buf_str(&said->words), columns > WAY_BACK ? columns : WAY_BACK,
			   words);
	rt_tui_say_str(tui, rt_scope_str(&s, words), RT_INK_TEXT);
	rt_scope_deinit(&s);
	if (said->seq == 0 || said->is_elsewhere)
		return;
	tui->said_step = said->is_step ? said->seq : 0;
	tui->way_back.seq = said->shown != 0 ? said->shown : said->seq;
	tui->way_back.steps = said->shown != said->seq ? said->steps : 1;
	tui->way_back.is_undo = said->is_undo;
	tui->way_back.disc = tui->work.place.disc;
	add_way_back(tui);
}

rt_status
rt_tui_say_failure(rt_tui *tui, rt_status st, const rt_error *err)
{
	if (st == RT_OK || st == RT_NOMEM)
		return st;
	rt_tui_say_error(tui, err, rt_buf_str(&tui->work.hint));
	return RT_OK;
}

bool
rt_tui_ok(rt_tui *tui, rt_status st, const rt_error *err)
{
	if (st == RT_NOMEM)
		(void)rt_scope_nomem(&tui->scope);
	else if (st != RT_OK)
		rt_tui_say_error(tui, err, RT_STR(""));
	return st == RT_OK;
}

/* ---- the editor, the clipboard ---- */

rt_status
rt_tui_edit(rt_tui *tui, rt_str text, const char *name, rt_buf *out, bool *out_changed,
	    rt_error *err)
{
	rt_buf path;
	rt_status st;

	rt_buf_init(&path, tui->alloc, 4096);
	rt_buf_clear(out);
	rt_buf_add_str(out, text);
	if (tui->terminal != NULL)
		rt_terminal_leave(tui->terminal);
	st = rt_editor_run_one(tui->session, name, out, &path, err);
	if (tui->terminal != NULL)
		rt_terminal_enter(tui->terminal);
	if (st == RT_OK) {
		(void)unlink(path.ptr); /* the written text now belongs to us */
	} else {
		rt_buf_clear(&tui->work.hint);
		rt_buf_add_c(&tui->work.hint, tui->session->hint);
		tui->session->hint[0] = 0;
	}
	*out_changed = st == RT_OK && !rt_str_eq(text, rt_buf_str(out));
	rt_buf_deinit(&path);
	return st;
}

void
rt_tui_edit_field(rt_tui *tui, rt_field *field, const char *name)
{
	bool is_changed = false;
	rt_error err;
	rt_scope *s = &tui->scope;
	rt_buf *text = rt_scope_buf(s);
	rt_status st = rt_tui_edit(tui, rt_field_text(field), name, text, &is_changed, &err);

	RT_TRY(s, rt_tui_say_failure(tui, st, &err));
	if (st == RT_OK && is_changed)
		RT_TRY(s, rt_field_set(field, rt_buf_str(text)));
}

void
rt_tui_copy(rt_tui *tui, rt_str text)
{
	rt_buf_clear(&tui->clip);
	rt_buf_add_str(&tui->clip, text);
	if (tui->terminal != NULL && !rt_terminal_copy(tui->terminal, text))
		rt_tui_say(
			tui,
			"Copied %zu characters inside Retake only: this terminal does not give "
			"access to the clipboard. Alt+Y inserts them into the input",
			rt_utf8_count(text));
	else
		rt_tui_say(tui, "Copied %zu characters", rt_utf8_count(text));
}

/* ---- the loop and the chat ---- */

rt_status
rt_tui_act(rt_tui *tui, rt_action action)
{
	return tui->act(tui, action);
}

rt_action
rt_tui_action_of(const rt_tui *tui, rt_key key, bool *out_writes)
{
	const rt_pane *pane = rt_tui_top(tui);
	rt_action action;

	/* A choice is made by a letter, but cannot be pasted. */
	*out_writes = pane->ops->paste != NULL && rt_keymap_is_text(tui->keys, pane->screen, key);
	if (*out_writes)
		return RT_ACT_NONE;
	action = rt_keymap_action(tui->keys, pane->screen, key);
	if (action == RT_ACT_NONE && pane->screen == RT_SCREEN_ENTRY && !rt_key_is_text(key))
		action = rt_keymap_action(tui->keys, RT_SCREEN_CHAT, key);
	if (action == RT_ACT_NONE && rt_screen_has_field(pane->screen))
		action = rt_keymap_action(tui->keys, RT_SCREEN_FIELD, key);
	return action;
}

rt_status
rt_tui_fill_input(rt_tui *tui, rt_str text)
{
	(void)rt_tui_begin(tui);
	tui->chat->fill(tui->panes[0], text);
	return rt_tui_end(tui);
}

void
rt_tui_remember_input(rt_tui *tui, rt_str text)
{
	if (!rt_ok(&tui->scope))
		return;
	(void)rt_tui_begin(tui);
	tui->chat->remember(tui->panes[0], text);
	(void)!rt_tui_end(tui);
}

void
rt_tui_show_entry(rt_tui *tui, size_t at)
{
	if (!rt_ok(&tui->scope))
		return;
	(void)rt_tui_begin(tui);
	tui->chat->show(tui->panes[0], at);
	(void)!rt_tui_end(tui);
}
