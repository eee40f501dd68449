/* SPDX-License-Identifier: MIT
 *
 * The palette: everything that can be done, by typing a part of it. What the screen below can do
 * now, with its keys; and every command of the command line, which this program then runs as a
 * process of its own (command_host.h) while the screen goes on. What is typed meanwhile is for the
 * screen below, and waits (typeahead.h). */
#include <stdio.h>

#include "app/screen.h"
#include "tui/worker.h"
#include "tui/bar.h"
#include "tui/command_host.h"
#include "tui/pending.h"
#include "tui/find.h"
#include "tui/list.h"

enum { ROWS_MAX = 16, KEYS_COLUMN = 14, NOTICE_MAX = 300 };

typedef enum row_kind {
	ROW_ACTION,
	ROW_COMMAND,
	ROW_USAGE, /* of the command that is being written */
	ROW_NAME   /* something that its next word may be */
} row_kind;

typedef struct row {
	row_kind kind;
	const rt_key_row *action;
	const rt_command *command;
	rt_str name; /* borrowed from the value, or static */
	char letter; /* "d3" and "t2" name it, too; 0: nothing does */
	uint32_t number;
} row;

typedef struct palette {
	rt_pane pane; /* first */
	rt_field *field;
	rt_buf typed;      /* what rows are made of */
	rt_screen below;   /* the screen whose actions are listed */
	row *rows;
	size_t room;
	rt_list list;
	int columns;
	rt_worker worker;
	rt_command_process command;
	rt_status command_status;
	uint32_t active; /* the discussion that was, when the command began */
	bool is_stopped;
} palette;

static palette *
of(rt_pane *pane)
{
	return (palette *)pane;
}

/* --- rows --- */

static rt_status
add_row(palette *p, size_t *count, row new)
{
	row *rows = rt_list_grow(p->pane.tui->alloc, p->rows, *count, &p->room, sizeof(*rows));

	if (rows == NULL)
		return RT_NOMEM;
	p->rows = rows;
	p->rows[(*count)++] = new;
	return RT_OK;
}

/* Moving about is what keys are for. */
static bool
is_for_keys(rt_action action)
{
	switch (action) {
	case RT_ACT_UP:
	case RT_ACT_DOWN:
	case RT_ACT_PAGE_UP:
	case RT_ACT_PAGE_DOWN:
	case RT_ACT_HOME:
	case RT_ACT_END:
	case RT_ACT_LEFT:
	case RT_ACT_RIGHT:
	case RT_ACT_ACCEPT:
	case RT_ACT_CANCEL:
	case RT_ACT_PALETTE: return true;
	default: return false;
	}
}

static bool
is_listed(const palette *p, const rt_key_row *action)
{
	return (action->screen == p->below || action->screen == RT_SCREEN_ANY) &&
	       !is_for_keys(action->action);
}

static rt_status
add_actions(palette *p, rt_str part, size_t *count)
{
	rt_status st = RT_OK;
	size_t i;

	for (i = 0; st == RT_OK && rt_key_rows[i].action != RT_ACT_NONE; i++) {
		const rt_key_row *a = &rt_key_rows[i];

		if (is_listed(p, a) && (rt_find_holds(rt_str_of(a->what), part) ||
					rt_find_holds(rt_str_of(rt_action_word(a->action)), part)))
			st = add_row(p, count, (row){.kind = ROW_ACTION, .action = a});
	}
	return st;
}

static bool
is_called(const rt_command *command, rt_str part)
{
	return rt_find_begins(rt_str_of(command->name), part) ||
	       (command->alias != NULL && rt_find_begins(rt_str_of(command->alias), part));
}

/* by_name: those that are called so; else those that are not, and speak of it. */
static rt_status
add_commands(palette *p, rt_str part, bool by_name, size_t *count)
{
	const rt_command *const *commands = p->pane.tui->commands;
	rt_status st = RT_OK;
	size_t i;

	for (i = 0; st == RT_OK && commands[i] != NULL; i++) {
		const rt_command *command = commands[i];

		if ((command->traits & RT_COMMAND_HIDDEN) != 0 ||
		    is_called(command, part) != by_name)
			continue;
		if (by_name || rt_find_holds(rt_str_of(command->summary), part))
			st = add_row(p, count, (row){.kind = ROW_COMMAND, .command = command});
	}
	return st;
}

/* Where the word begins that is being written. */
static size_t
last_word(rt_str text)
{
	size_t i = text.size;

	while (i > 0 && text.ptr[i - 1] != ' ')
		i--;
	return i;
}

/* The command that the first word names, where a blank follows it. */
static const rt_command *
command_of(const palette *p, rt_str text)
{
	char name[24];
	size_t size = 0;

	while (size < text.size && text.ptr[size] != ' ')
		size++;
	if (size == 0 || size == text.size || size >= sizeof(name))
		return NULL;
	memcpy(name, text.ptr, size);
	name[size] = 0;
	return rt_command_named(p->pane.tui->commands, name);
}

/* Which of the command's words comes last, flags aside. */
static size_t
word_index(rt_str text)
{
	size_t i, index = 0;

	for (i = 1; i < text.size; i++)
		if (text.ptr[i] != ' ' && text.ptr[i - 1] == ' ' && text.ptr[i] != '-')
			index++;
	if (text.size > 0 && text.ptr[text.size - 1] == ' ')
		index++;
	return index > 0 ? index - 1 : 0;
}

static rt_status
add_name(palette *p, row new, rt_str part, size_t *count)
{
	new.kind = ROW_NAME;
	return rt_find_begins(new.name, part) ? add_row(p, count, new) : RT_OK;
}

/* What the next word may be. */
static rt_status
add_names(palette *p, const rt_command *command, rt_str text, size_t *count)
{
	const rt_command *const *commands = p->pane.tui->commands;
	const rt_work *work = &p->pane.tui->work;
	size_t index = word_index(text), from = last_word(text), i;
	rt_str part = rt_str_at(text.ptr + from, text.size - from);
	rt_arg_kind kind;
	rt_status st = RT_OK;

	if (index >= RT_COMMAND_KINDS)
		index = RT_COMMAND_KINDS - 1;
	while (index > 0 && command->kinds[index] == RT_ARG_TEXT)
		index--;
	kind = command->kinds[index];
	if (kind == RT_ARG_TAKE)
		for (i = 1; st == RT_OK && i <= rt_disc_take_count(work->disc); i++) {
			const rt_take *take = rt_disc_take(work->disc, (uint32_t)i);

			if (take->present)
				st = add_name(p, (row){.name = rt_text_str(take->name), .letter = 't',
						       .number = (uint32_t)i},
					      part, count);
		}
	if (kind == RT_ARG_DISC)
		for (i = 1; st == RT_OK && i <= rt_project_disc_count(work->value); i++) {
			const rt_cell *cell = rt_project_cell(work->value, (uint32_t)i);

			if (cell->present)
				st = add_name(p, (row){.name = rt_cell_name(cell), .letter = 'd',
						       .number = (uint32_t)i},
					      part, count);
		}
	if (kind == RT_ARG_COMMAND)
		for (i = 0; st == RT_OK && commands[i] != NULL; i++)
			if ((commands[i]->traits & RT_COMMAND_HIDDEN) == 0)
				st = add_name(p, (row){.name = rt_str_of(commands[i]->name)}, part,
					      count);
	return st;
}

static rt_status
lay_out(palette *p)
{
	rt_str text = rt_field_text(p->field);
	const rt_command *command = command_of(p, text);
	size_t count = 0;
	rt_status st;

	rt_buf_clear(&p->typed);
	rt_buf_add_str(&p->typed, text);
	st = p->typed.status;
	if (st == RT_OK && command != NULL) {
		st = add_row(p, &count, (row){.kind = ROW_USAGE, .command = command});
		if (st == RT_OK)
			st = add_names(p, command, text, &count);
	} else if (st == RT_OK) {
		bool is_empty = text.size == 0;

		if (!is_empty)
			st = add_commands(p, text, true, &count);
		if (st == RT_OK)
			st = add_actions(p, text, &count);
		if (st == RT_OK)
			st = add_commands(p, text, is_empty, &count);
	}
	p->list.at = p->list.top = 0;
	rt_list_count(&p->list, st == RT_OK ? count : 0);
	return st;
}

static rt_status
typed(palette *p)
{
	return rt_str_eq(rt_field_text(p->field), rt_buf_str(&p->typed)) ? RT_OK : lay_out(p);
}

/* --- drawing --- */

static int
height(rt_pane *pane, int columns, int rows)
{
	int want = pane->holds ? 2 : ROWS_MAX + 2, most = rows > 8 ? rows * 3 / 4 : rows;

	(void)columns;
	return want < most ? want : most;
}

static void
draw_action(palette *p, rt_canvas *canvas, rt_box box, int y, const rt_key_row *action)
{
	rt_buf key;

	rt_buf_init(&key, p->pane.tui->alloc, 256);
	rt_keymap_add_key(p->pane.tui->keys, action->screen, action->action, &key);
	(void)rt_canvas_put_cut(canvas, box, 2, y, KEYS_COLUMN - 1, rt_buf_str(&key),
				RT_INK_TEXT | RT_INK_BOLD);
	(void)rt_canvas_put_cut(canvas, box, 2 + KEYS_COLUMN, y, box.w - KEYS_COLUMN - 2,
				rt_str_of(action->what), RT_INK_TEXT);
	rt_buf_deinit(&key);
}

static void
draw_command(rt_canvas *canvas, rt_box box, int y, const rt_command *command)
{
	(void)rt_canvas_put_c(canvas, box, 2, y, command->name, RT_INK_CODE);
	(void)rt_canvas_put_cut(canvas, box, 2 + KEYS_COLUMN, y, box.w - KEYS_COLUMN - 2,
				rt_str_of(command->summary), RT_INK_DIM);
}

static void
draw_usage(rt_canvas *canvas, rt_box box, int y, const rt_command *command)
{
	size_t size = strcspn(command->usage, "\n");
	int x = rt_canvas_put_c(canvas, box, 2, y, command->name, RT_INK_CODE) + 1;

	(void)rt_canvas_put_cut(canvas, box, x, y, box.w - x, rt_str_at(command->usage, size),
				RT_INK_DIM);
}

static void
draw_running(palette *p, rt_canvas *canvas, rt_box box)
{
	size_t typeahead = p->pane.tui->typeahead.count;
	char keys[80] = "";
	int x;

	if (typeahead > 0)
		(void)snprintf(keys, sizeof(keys), "%zu key%s typed after it %s%s", typeahead,
			       typeahead > 1 ? "s" : "", typeahead > 1 ? "wait" : "waits",
			       typeahead == RT_TYPEAHEAD_MAX ? "  no more are taken" : "");
	rt_bar_draw(canvas, box, RT_STR("Running"), rt_str_of(keys));
	x = rt_canvas_put_cut(canvas, box, 2, 1, box.w - 22, rt_buf_str(&p->typed), RT_INK_CODE);
	(void)rt_canvas_put_c(canvas, box, x + 2, 1,
			      p->is_stopped ? "is being ended" : "Escape ends it", RT_INK_DIM);
}

static void
draw_row(void *ctx, rt_canvas *canvas, rt_box box, int y, size_t row_number)
{
	palette *p = ctx;
	const row *r = &p->rows[row_number];

	switch (r->kind) {
	case ROW_ACTION: draw_action(p, canvas, box, y, r->action); break;
	case ROW_COMMAND: draw_command(canvas, box, y, r->command); break;
	case ROW_USAGE: draw_usage(canvas, box, y, r->command); break;
	case ROW_NAME:
		(void)rt_canvas_put_name(canvas, box, 4, y, box.w - 4, r->name, RT_INK_TEXT);
		break;
	}
}

static void
draw(rt_pane *pane, rt_canvas *canvas, rt_box box)
{
	palette *p = of(pane);
	int head = box.h > 2 ? 2 : 1;
	rt_box rows = {box.x, box.y + head, box.w, box.h - head};

	rt_canvas_fill(canvas, box, RT_INK_TEXT);
	p->columns = box.w - 2;
	if (p->pane.holds) {
		draw_running(p, canvas, box);
		return;
	}
	if (head == 2)
		rt_bar_draw(canvas, box, RT_STR("Commands"), rt_str_at(NULL, 0));
	(void)rt_canvas_put_c(canvas, box, 0, head - 1, ":", RT_INK_DIM);
	rt_field_draw(p->field, canvas, (rt_box){box.x + 2, box.y + head - 1, box.w - 2, 1},
		      RT_INK_TEXT, true);
	rt_list_draw(&p->list, canvas, rows, draw_row, p);
	if (p->list.count == 0 && box.h > head)
		(void)rt_canvas_put_c(canvas, box, 2, head, "No match.", RT_INK_DIM);
}

/* --- running --- */

static bool
is_to_stop(void *ctx)
{
	return !rt_worker_is_wanted(ctx);
}

static void
work_off(rt_worker *worker, void *ctx)
{
	palette *p = ctx;

	p->command_status = rt_command_process_run(&p->command, is_to_stop, worker);
}

/* Without what is blank before and behind; the first row stands where the others do. */
static rt_str
whole_rows(rt_str text)
{
	rt_str words = rt_str_trim(text);
	size_t at = words.size == 0 ? 0 : (size_t)(words.ptr - text.ptr);

	while (at > 0 && text.ptr[at - 1] != '\n')
		at--;
	return words.size == 0
		       ? words
		       : rt_str_at(text.ptr + at, (size_t)(words.ptr - text.ptr) - at + words.size);
}

/* The way back, with which changes end, is of this screen. */
static void
add_own_way(rt_buf *buf, rt_str text)
{
	static const rt_str shell = {"undo: retake undo", 17};

	text = whole_rows(text);
	if (text.size < shell.size ||
	    !rt_str_eq(rt_str_at(text.ptr + text.size - shell.size, shell.size), shell)) {
		rt_buf_add_str(buf, text);
		return;
	}
	rt_buf_add(buf, text.ptr, text.size - shell.size);
	rt_buf_add_c(buf, "undo: /undo");
}

/* What it said, in one text; failures begin with the name of the program, which one knows. */
static void
gather(const rt_command_process *command, rt_buf *text)
{
	rt_str err = rt_buf_str(&command->err);
	rt_buf said;

	rt_buf_init(&said, text->alloc, RT_BUF_UNLIMITED);
	rt_command_process_add_said(command, rt_buf_str(&command->out), &said);
	add_own_way(text, rt_buf_str(&said));
	if (said.status != RT_OK)
		text->status = said.status;
	rt_buf_deinit(&said);
	if (err.size > 0 && text->size > 0 && text->ptr[text->size - 1] != '\n')
		rt_buf_add_byte(text, '\n');
	if (rt_str_starts(err, RT_STR("retake: ")))
		err = rt_str_at(err.ptr + 8, err.size - 8);
	rt_command_process_add_said(command, err, text);
}

/* Lines as one, each a sentence of its own. */
static void
add_sentences(rt_buf *line, rt_str text)
{
	while (text.size > 0) {
		size_t end = rt_str_find(text, RT_STR("\n"), 0);
		rt_str one = rt_str_trim(rt_str_at(text.ptr, end == SIZE_MAX ? text.size : end));

		if (one.size > 0 && line->size > 0)
			rt_buf_add_c(line, strchr(".:;,?!", line->ptr[line->size - 1]) == NULL
						   ? ".  "
						   : "  ");
		rt_screen_add_line(line, one);
		if (end == SIZE_MAX)
			break;
		text = rt_str_at(text.ptr + end + 1, text.size - end - 1);
	}
}

/* What fits there is a notice: one line, or why it failed. */
static rt_status
notice(rt_tui *tui, rt_str text, bool failed, bool *out_said)
{
	rt_status st;
	rt_buf line;

	rt_buf_init(&line, tui->alloc, RT_BUF_UNLIMITED);
	if (failed) {
		add_sentences(&line, text);
	} else {
		rt_buf_add_str(&line, rt_str_trim(text));
	}
	st = line.status;
	*out_said = st == RT_OK && line.size <= NOTICE_MAX &&
		    rt_str_find(rt_buf_str(&line), RT_STR("\n"), 0) == SIZE_MAX;
	if (*out_said)
		rt_tui_say_str(tui, rt_buf_str(&line), failed ? RT_INK_ERROR : RT_INK_TEXT);
	rt_buf_deinit(&line);
	return st;
}

/* More is to be read. */
static rt_status
show(rt_tui *tui, rt_str line, rt_str text, bool failed)
{
	rt_lines_options how = {.columns = tui->canvas.columns > 1 ? tui->canvas.columns : 80,
				.utf8 = tui->canvas.utf8,
				.ink = RT_INK_TEXT};
	rt_lines lines;
	char title[128];
	rt_status st;
	bool said;

	text = whole_rows(text);
	if (text.size == 0) {
		rt_tui_say_done(tui, failed ? "It failed, and said nothing" : "Done");
		return RT_OK;
	}
	st = notice(tui, text, failed, &said);
	if (st != RT_OK || said)
		return st;
	(void)snprintf(title, sizeof(title), "%.*s", (int)rt_utf8_cut(line, sizeof(title) - 1), line.ptr);
	rt_lines_init(&lines, tui->alloc);
	how.ink = failed ? RT_INK_ERROR : RT_INK_TEXT;
	rt_lines_add_plain(&lines, text, &how);
	st = rt_pane_reader(tui, title, &lines);
	rt_lines_deinit(&lines);
	return st;
}

static rt_status
tell_end(palette *p)
{
	rt_tui *tui = p->pane.tui;
	const rt_process_result *end = &p->command.result;
	bool failed = end->outcome != RT_PROCESS_EXITED || end->code != 0;
	size_t panes = tui->pane_count;
	rt_status st = p->command_status;
	rt_error ignored;
	rt_buf text;

	p->pane.holds = false;
	/* Where the command went (an import, a new discussion), we go too. */
	if (rt_work_tend(&tui->work, NULL, &ignored) == RT_OK && tui->work.value->active != p->active &&
	    rt_work_look_at(&tui->work, tui->work.value->active, 0, &ignored) == RT_NOMEM)
		st = RT_NOMEM;
	rt_tui_close(tui, &p->pane);
	rt_buf_init(&text, tui->alloc, RT_BUF_UNLIMITED);
	gather(&p->command, &text);
	if (end->outcome == RT_PROCESS_TOO_MUCH)
		rt_buf_add_c(&text, "\n(it said more than can be kept, and was ended)");
	if (st == RT_OK)
		st = text.status;
	if (st != RT_OK)
		goto done;
	switch (end->outcome) {
	case RT_PROCESS_STOPPED: rt_tui_say_done(tui, "Ended before it was done"); break;
	case RT_PROCESS_NOT_STARTED: rt_tui_say_done(tui, "It could not be started"); break;
	default:
		st = show(tui, rt_buf_str(&p->typed), rt_buf_str(&text), failed);
		break;
	}
	/* Nobody has seen yet why it failed, or what there is to be read now. */
	if (tui->pane_count > panes && tui->typeahead.count > 0)
		rt_tui_say_str(tui, rt_str_at("", 0), RT_INK_TEXT);
	if (failed || tui->pane_count > panes)
		rt_pending_change_drop_typeahead(tui, "");
done:
	rt_buf_deinit(&text);
	return st;
}

static rt_status
run(palette *p, rt_str line)
{
	rt_tui *tui = p->pane.tui;
	rt_error err;
	rt_status st;

	while (line.size > 0 && line.ptr[0] == '/') /* as it is written in the chat */
		line = rt_str_at(line.ptr + 1, line.size - 1);
	p->active = tui->work.value->active;
	/* What was said before is none of what this one says. */
	rt_tui_say_str(tui, rt_str_at("", 0), RT_INK_TEXT);
	rt_buf_clear(&p->typed);
	rt_buf_add_str(&p->typed, line);
	if (p->typed.status != RT_OK)
		return p->typed.status;
	rt_command_process_deinit(&p->command);
	rt_command_process_init(&p->command, tui->alloc);
	st = rt_command_process_make(&p->command, tui->commands, &tui->work, rt_buf_str(&p->typed),
				     &err);
	if (st != RT_OK && st != RT_NOMEM) {
		rt_tui_say_error(tui, &err, rt_str_at(NULL, 0));
		return RT_OK;
	}
	if (st == RT_OK)
		st = rt_worker_start(&p->worker, tui, work_off, p);
	if (st != RT_OK)
		return st == RT_BUSY ? RT_OK : st;
	p->pane.holds = true;
	p->pane.footer = "Esc ends it";
	p->is_stopped = false;
	return rt_worker_ended(&p->worker) ? tell_end(p) : RT_OK;
}

static rt_status
tend(rt_pane *pane)
{
	palette *p = of(pane);

	return rt_worker_ended(&p->worker) ? tell_end(p) : RT_OK;
}

/* --- keys --- */

/* The name in place of the word that is being written; one that would be taken for a flag by its
 * number. */
static rt_status
complete(palette *p, row new)
{
	rt_str text = rt_field_text(p->field);
	rt_status st;
	rt_buf line, word;

	rt_buf_init(&line, p->pane.tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&word, p->pane.tui->alloc, RT_BUF_UNLIMITED);
	if (new.letter != 0 && rt_str_starts(new.name, RT_STR("-")))
		rt_buf_add_f(&word, "%c%u", new.letter, new.number);
	else
		rt_buf_add_str(&word, new.name);
	rt_buf_add_str(&line, rt_str_at(text.ptr, last_word(text)));
	if (word.ptr != NULL)
		rt_args_add_quoted(&line, word.ptr);
	rt_buf_add_byte(&line, ' ');
	st = line.status == RT_OK ? word.status : line.status;
	if (st == RT_OK)
		st = rt_field_set(p->field, rt_buf_str(&line));
	rt_buf_deinit(&line);
	rt_buf_deinit(&word);
	return st == RT_OK ? typed(p) : st;
}

static rt_status
accept(palette *p, bool completes)
{
	const row *r = p->list.count > 0 ? &p->rows[p->list.at] : NULL;
	rt_tui *tui = p->pane.tui;
	rt_action action;

	if (r == NULL)
		return completes ? RT_OK : run(p, rt_field_text(p->field));
	switch (r->kind) {
	case ROW_USAGE: return completes ? RT_OK : run(p, rt_field_text(p->field));
	case ROW_NAME: return complete(p, *r);
	case ROW_COMMAND:
		if (completes || r->command->min_words > 0)
			return complete(p, (row){.name = rt_str_of(r->command->name)});
		return run(p, rt_str_of(r->command->name));
	case ROW_ACTION: break;
	}
	if (completes)
		return RT_OK;
	/* The pane below is on top then; this one is gone behind the call. */
	action = r->action->action;
	rt_tui_close(tui, &p->pane);
	return rt_tui_act(tui, action);
}

static rt_status
act(rt_pane *pane, rt_action action, bool *out_used)
{
	palette *p = of(pane);
	rt_status st;

	*out_used = true;
	if (pane->holds) {
		if (action == RT_ACT_CANCEL) {
			p->is_stopped = true;
			rt_worker_cancel(&p->worker);
		}
		/* The program can be suspended and left all the same. */
		*out_used = action != RT_ACT_SUSPEND && action != RT_ACT_QUIT &&
			    action != RT_ACT_REDRAW;
		return RT_OK;
	}
	switch (action) {
	case RT_ACT_ACCEPT: return accept(p, false);
	case RT_ACT_COMPLETE: return accept(p, true);
	case RT_ACT_CANCEL: rt_tui_close(pane->tui, pane); return RT_OK;
	case RT_ACT_UP:
	case RT_ACT_DOWN:
	case RT_ACT_PAGE_UP:
	case RT_ACT_PAGE_DOWN:
		(void)rt_list_act(&p->list, action);
		return RT_OK;
	default: break;
	}
	st = rt_field_act(p->field, action, p->columns, out_used);
	return st == RT_OK && *out_used ? typed(p) : st;
}

static rt_status
key(rt_pane *pane, rt_key k, bool *out_used)
{
	palette *p = of(pane);
	rt_status st;

	*out_used = true;
	st = rt_field_key(p->field, k, out_used);
	return st == RT_OK && *out_used ? typed(p) : st;
}

static rt_status
paste(rt_pane *pane, rt_str text)
{
	palette *p = of(pane);
	rt_status st = rt_field_insert(p->field, text);

	return st == RT_OK ? typed(p) : st;
}

/* Names may be gone. */
static rt_status
changed(rt_pane *pane)
{
	palette *p = of(pane);
	size_t at = p->list.at;
	rt_status st = pane->holds ? RT_OK : lay_out(p);

	if (st == RT_OK && at < p->list.count)
		p->list.at = at;
	return st;
}

static void
free_palette(rt_pane *pane)
{
	palette *p = of(pane);
	const rt_alloc *alloc = pane->tui->alloc;

	rt_worker_stop(&p->worker);
	rt_command_process_deinit(&p->command);
	rt_field_free(p->field);
	rt_buf_deinit(&p->typed);
	rt_free(alloc, p->rows);
	rt_free(alloc, p);
}

static const rt_pane_ops ops = {
	.screen = RT_SCREEN_FIELD,
	.height = height,
	.draw = draw,
	.act = act,
	.key = key,
	.paste = paste,
	.changed = changed,
	.tend = tend,
	.free = free_palette,
};

static rt_status
open_palette(rt_tui *tui, rt_str text, palette **out)
{
	palette *p = rt_new0(tui->alloc, sizeof(*p));
	rt_status st;

	if (p == NULL)
		return RT_NOMEM;
	p->pane.ops = &ops;
	p->pane.footer = "Up, Down choose   Enter do it   Esc cancel   Tab complete";
	p->pane.tui = tui;
	p->below = tui->pane_count > 0 ? tui->panes[tui->pane_count - 1]->screen : RT_SCREEN_CHAT;
	rt_buf_init(&p->typed, tui->alloc, RT_BUF_UNLIMITED);
	rt_command_process_init(&p->command, tui->alloc);
	st = rt_field_new(tui->alloc, false, &p->field);
	if (st == RT_OK && text.size > 0)
		st = rt_field_set(p->field, text);
	if (st == RT_OK)
		st = lay_out(p);
	if (st != RT_OK) {
		free_palette(&p->pane);
		return st;
	}
	*out = p;
	return rt_tui_push(tui, &p->pane);
}

rt_status
rt_pane_palette(rt_tui *tui, rt_str text)
{
	palette *p;

	return open_palette(tui, text, &p);
}

rt_status
rt_pane_palette_run(rt_tui *tui, rt_str line)
{
	palette *p = NULL;
	rt_status st = open_palette(tui, rt_str_at(NULL, 0), &p);

	if (st == RT_OK)
		st = run(p, line);
	/* It was no command. */
	if (st == RT_OK && !p->pane.holds && !p->pane.closes)
		rt_tui_close(tui, &p->pane);
	return st;
}
