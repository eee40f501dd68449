/* SPDX-License-Identifier: MIT
 *
 * The palette: all actions and commands, found by typing a part of them: the actions of the
 * screen below, with their keys, slash commands, and the other commands of the command line. A line that
 * begins with the name of a slash command runs that, as in the chat; another command runs as a process
 * (command_host.h) while the screen stays usable; keys typed meanwhile are for the screen below, and
 * wait in the typeahead. */
#include <stdio.h>

#include "app/screen.h"
#include "tui/worker.h"
#include "tui/bar.h"
#include "tui/command_host.h"
#include "tui/command_output.h"
#include "tui/pending.h"
#include "tui/find.h"
#include "tui/list.h"
#include "tui/palette_words.h"
#include "tui/verb.h"

enum { ROWS_MAX = 16, NAME_COLUMNS = 18, KEY_COLUMNS = 12, ROWS_ALL = 1000,
       USAGE_CODE = 2 /* exit code: the words are wrong */ };

typedef enum row_kind {
	ROW_ACTION,
	ROW_SLASH,
	ROW_COMMAND,
	ROW_USAGE, /* of the command that is being typed */
	ROW_NAME   /* a candidate for its next word */
} row_kind;

typedef struct row {
	row_kind kind;
	const rt_key_row *action;
	const rt_slash *slash;
	const rt_command *command;
	rt_str name; /* borrowed from the value, or static */
	const void *id; /* of action, slash or command */
	int rank, recent, order;
	char letter; /* 'd' or 't': letter and number name it, too; 0: only the name */
	uint32_t number;
} row;

typedef struct palette {
	rt_pane pane;     /* first */
	rt_filter filter; /* rows: row */
	rt_screen below;  /* the screen whose actions are listed */
	rt_worker worker;
	rt_buf line; /* the command that runs */
	rt_command_process command;
	rt_status command_status;
	uint32_t active; /* the active discussion when it began */
	bool is_stopped;
} palette;

static palette *
of(rt_pane *pane)
{
	return (palette *)pane;
}

/* ---- rows ---- */

/* Actions that are of no use here. */
static bool
is_movement(rt_action action)
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
is_listed(const palette *p, const rt_key_row *a)
{
	if (is_movement(a->action) || (a->screen != p->below && a->screen != RT_SCREEN_ANY))
		return false;
	if (a->screen == p->below)
		return true;
	for (const rt_key_row *own = rt_key_rows; own->action != RT_ACT_NONE; own++)
		if (own->screen == p->below && own->action == a->action)
			return false;
	return true;
}

/* The rank of a match; the least is best. */
enum {
	RANK_SAME,   /* its name is the text */
	RANK_OTHER,  /* another word for it is the text */
	RANK_BEGINS, /* its name or alias begins with the text */
	RANK_WORD,   /* a later word of its name does: "take-next" for "next" */
	RANK_NAME,   /* its name contains the text */
	RANK_TEXT,   /* its description does */
	RANK_WORDS,  /* another word for it does */
	RANK_FUZZY,  /* its name has the letters of the text, in their order */
	RANK_NONE
};

static bool
is_fuzzy(rt_str name, rt_str part)
{
	size_t at = 0;

	for (size_t i = 0; i < name.size && at < part.size; i++)
		at += rt_str_eq_nocase(rt_str_at(name.ptr + i, 1), rt_str_at(part.ptr + at, 1));
	return at == part.size;
}

static int
rank_of(rt_str name, const char *alias, const char *what, rt_str part)
{
	if (rt_str_eq_nocase(name, part))
		return RANK_SAME;
	if (rt_palette_words_have(name.ptr, part))
		return RANK_OTHER;
	if (rt_find_begins(name, part) || (alias != NULL && rt_find_begins(rt_str_of(alias), part)))
		return RANK_BEGINS;
	for (size_t i = 1; i < name.size; i++)
		if (name.ptr[i - 1] == '-' && rt_find_begins(rt_str_skip(name, i), part))
			return RANK_WORD;
	if (rt_find_holds(name, part))
		return RANK_NAME;
	if (rt_find_holds(rt_str_of(what), part))
		return RANK_TEXT;
	if (rt_palette_words_hold(name.ptr, part))
		return RANK_WORDS;
	return part.size > 1 && is_fuzzy(name, part) ? RANK_FUZZY : RANK_NONE;
}

/* Does a listed action have the name of this command? */
static bool
has_twin(const palette *p, const rt_command *command)
{
	for (const rt_key_row *a = rt_key_rows; a->action != RT_ACT_NONE; a++)
		if (is_listed(p, a) && strcmp(rt_action_word(a->action), command->name) == 0)
			return true;
	return false;
}

/* Are there names to choose its first word from? */
static bool
has_names(const rt_command *command)
{
	return command->kinds[0] == RT_ARG_TAKE || command->kinds[0] == RT_ARG_DISC ||
	       command->kinds[0] == RT_ARG_COMMAND;
}

/* With equal ranks, a command is listed first, because more words may follow; but not before an
 * action of the same name, which does less (clear), nor if the text is not its name. */
static bool
is_late(const palette *p, const row *r)
{
	return r->kind == ROW_COMMAND &&
	       (r->rank == RANK_OTHER || r->rank > RANK_NAME || has_twin(p, r->command));
}

/* Adds a row if the text finds it. id: identifies it in tui->recent. */
static void
offer(palette *p, rt_str part, row r, const void *id, const char *name, const char *alias,
      const char *what)
{
	const rt_tui *tui = p->pane.tui;

	r.id = id;
	r.rank = rank_of(rt_str_of(name), alias, what, part);
	if (r.rank == RANK_SAME && r.kind == ROW_COMMAND && r.command->min_words > 0 &&
	    !has_names(r.command))
		r.rank = RANK_BEGINS; /* it cannot be run yet: before it, what can be */
	r.order = (int)p->filter.list.count + (is_late(p, &r) ? ROWS_ALL : 0);
	while (r.recent < RT_TUI_RECENT && tui->recent[r.recent] != id)
		r.recent++;
	if (r.rank != RANK_NONE)
		rt_filter_add(&p->filter, &r);
}

/* Without a text the rows used last come first, and actions before commands; with one, the best
 * match does. */
static int
compare_rows(const void *a, const void *b)
{
	const row *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank - y->rank;
	if (x->recent != y->recent)
		return x->recent - y->recent;
	return x->order - y->order;
}

/* Actions of the loop itself, which are rarely searched here, are last. */
static void
add_actions(palette *p, rt_str part)
{
	for (int late = 0; late < 2; late++)
		for (const rt_key_row *a = rt_key_rows; a->action != RT_ACT_NONE; a++) {
			bool is_last = a->screen == RT_SCREEN_ANY || a->action == RT_ACT_CLEAR ||
				       a->action == RT_ACT_QUIT;

			if (is_listed(p, a) && is_last == late)
				offer(p, part, (row){.kind = ROW_ACTION, .action = a}, a,
				      rt_action_word(a->action), NULL, a->what);
		}
}

/* Has it a row: is it not only an action of the screen below? */
static bool
has_row(const palette *p, const rt_slash *slash)
{
	if (slash->words[0] != 0)
		return true;
	for (const rt_key_row *a = rt_key_rows; a->action != RT_ACT_NONE; a++)
		if (a->action == slash->action && is_listed(p, a))
			return false;
	return true;
}

/* The slash command that the text begins with, before a blank or the end; or NULL. */
static const rt_slash *
slash_of(const palette *p, rt_str text)
{
	rt_str word = text;

	(void)rt_str_split(&text, ' ', &word);
	for (const rt_slash *slash = p->pane.tui->chat->slashes; slash->name != NULL; slash++)
		if (rt_str_is(word, slash->name + 1))
			return slash;
	return NULL;
}

/* Must more words follow its name? */
static bool
needs_more(const rt_slash *slash)
{
	return slash->words[0] != 0 && slash->words[0] != '[';
}

static void
add_slashes(palette *p, rt_str part)
{
	for (const rt_slash *slash = p->pane.tui->chat->slashes; slash->name != NULL; slash++)
		if (has_row(p, slash)) {
			const rt_command *same = rt_command_named(p->pane.tui->commands,
								  slash->name + 1);

			offer(p, part, (row){.kind = ROW_SLASH, .slash = slash}, slash,
			      slash->name + 1, same == NULL ? NULL : same->alias, slash->what);
		}
}

/* A command that is also a slash command has only that one's row. */
static void
add_commands(palette *p, rt_str part)
{
	for (const rt_command *const *c = p->pane.tui->commands; *c != NULL; c++)
		if (((*c)->traits & RT_COMMAND_HIDDEN) == 0 &&
		    slash_of(p, rt_str_of((*c)->name)) == NULL)
			offer(p, part, (row){.kind = ROW_COMMAND, .command = *c}, *c, (*c)->name,
			      (*c)->alias, (*c)->summary);
}

/* Where the last word begins. */
static size_t
last_word(rt_str text)
{
	size_t i = text.size;

	while (i > 0 && text.ptr[i - 1] != ' ')
		i--;
	return i;
}

/* The command named by the first word, if a blank follows it; or NULL. */
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

/* The number of the command's last word, options not counted. */
static size_t
word_index(rt_str text)
{
	size_t index = 0;

	for (size_t i = 1; i < text.size; i++)
		if (text.ptr[i] != ' ' && text.ptr[i - 1] == ' ' && text.ptr[i] != '-')
			index++;
	if (text.size > 0 && text.ptr[text.size - 1] == ' ')
		index++;
	return index > 0 ? index - 1 : 0;
}

static void
add_name(palette *p, rt_str part, row name)
{
	name.kind = ROW_NAME;
	if (rt_find_begins(name.name, part))
		rt_filter_add(&p->filter, &name);
}

/* Candidates for the last word. */
static void
add_names(palette *p, const rt_command *command, rt_str text)
{
	const rt_work *work = &p->pane.tui->work;
	size_t index = word_index(text), from = last_word(text);
	rt_str part = rt_str_at(text.ptr + from, text.size - from);

	if (index >= RT_COMMAND_KINDS)
		index = RT_COMMAND_KINDS - 1;
	while (index > 0 && command->kinds[index] == RT_ARG_TEXT)
		index--;
	switch (command->kinds[index]) {
	case RT_ARG_TAKE:
		for (uint32_t i = 1; i <= rt_disc_take_count(work->disc); i++) {
			const rt_take *take = rt_disc_take(work->disc, i);

			if (take->present)
				add_name(p, part,
					 (row){.name = rt_text_str(take->name),
					       .letter = 't',
					       .number = i});
		}
		break;
	case RT_ARG_DISC:
		for (uint32_t i = 1; i <= rt_project_disc_count(work->value); i++) {
			const rt_cell *cell = rt_project_cell(work->value, i);

			if (cell->present)
				add_name(p, part,
					 (row){.name = rt_cell_name(cell),
					       .letter = 'd',
					       .number = i});
		}
		break;
	case RT_ARG_COMMAND:
		for (const rt_command *const *c = p->pane.tui->commands; *c != NULL; c++)
			if (((*c)->traits & RT_COMMAND_HIDDEN) == 0)
				add_name(p, part, (row){.name = rt_str_of((*c)->name)});
		break;
	default: break;
	}
}

static void
fill(void *ctx, rt_str text)
{
	palette *p = ctx;
	const rt_command *command = command_of(p, text);

	if (command != NULL) {
		rt_filter_add(&p->filter, &(row){.kind = ROW_USAGE, .command = command});
		add_names(p, command, text);
		return;
	}
	if (rt_str_find(text, RT_STR(" "), 0) != SIZE_MAX && slash_of(p, text) != NULL) {
		rt_filter_add(&p->filter, &(row){.kind = ROW_SLASH, .slash = slash_of(p, text)});
		return;
	}
	if (text.size > 0)
		add_commands(p, text);
	add_actions(p, text);
	add_slashes(p, text);
	if (text.size == 0)
		add_commands(p, text);
	if (p->filter.list.count > 1)
		qsort(p->filter.rows, p->filter.list.count, sizeof(row), compare_rows);
}

/* ---- drawing ---- */

static int
height(rt_pane *pane, int columns, int rows)
{
	int want = pane->holds ? 2 : ROWS_MAX + 2, most = rows > 8 ? rows * 3 / 4 : rows;

	(void)columns;
	return want < most ? want : most;
}

/* Name, description, and on the right the quicker way: a key, or a line of the chat. */
static void
draw_offer(rt_canvas *canvas, rt_box box, int y, const char *word, const char *what, rt_str key)
{
	rt_str name = rt_str_of(word);
	int width = rt_canvas_width(canvas, key), words = 2 + NAME_COLUMNS;
	int end = box.w - 1 - (width > 0 && box.w > words + KEY_COLUMNS ? width + 2 : 0);
	int x = rt_canvas_put(canvas, box, 2, y, name, RT_INK_CODE | RT_INK_BOLD) + 1;

	x = x < words ? words : x;
	if (end > x)
		(void)rt_canvas_put_cut(canvas, box, x, y, end - x, rt_str_of(what), RT_INK_DIM);
	if (end < box.w - 1)
		(void)rt_canvas_put(canvas, box, box.w - 1 - width, y, key, RT_INK_TEXT);
}

static void
draw_row(void *ctx, rt_canvas *canvas, rt_box box, int y, size_t row_number)
{
	palette *p = ctx;
	const row *r = (const row *)p->filter.rows + row_number;
	rt_buf *key = rt_scope_buf(&p->pane.tui->scope);
	int x;

	switch (r->kind) {
	case ROW_ACTION:
		rt_keymap_add_key(p->pane.tui->keys, r->action->screen, r->action->action, key);
		draw_offer(canvas, box, y, rt_action_word(r->action->action), r->action->what,
			   rt_buf_str(key));
		break;
	case ROW_SLASH:
		draw_offer(canvas, box, y, r->slash->name + 1, r->slash->what,
			   rt_str_of(r->slash->name));
		break;
	case ROW_COMMAND:
		draw_offer(canvas, box, y, r->command->name, r->command->summary,
			   rt_tui_format(p->pane.tui, "/%s", r->command->name));
		break;
	case ROW_USAGE:
		x = rt_canvas_put_c(canvas, box, 2, y, r->command->name, RT_INK_CODE) + 1;
		(void)rt_canvas_put_cut(
			canvas, box, x, y, box.w - x,
			rt_str_at(r->command->usage, strcspn(r->command->usage, "\n")), RT_INK_DIM);
		break;
	case ROW_NAME:
		(void)rt_canvas_put_name(canvas, box, 4, y, box.w - 4, r->name, RT_INK_TEXT);
		break;
	}
}

static void
draw_running(palette *p, rt_canvas *canvas, rt_box box)
{
	size_t waiting = p->pane.tui->typeahead.count;
	rt_str keys = RT_STR("");
	int x;

	if (waiting > 0)
		keys = rt_tui_format(p->pane.tui, "%zu key%s queued%s", waiting,
				     waiting > 1 ? "s" : "",
				     waiting == RT_TYPEAHEAD_MAX ? "  further keys are ignored" : "");
	rt_bar_draw(canvas, box, RT_STR("Running"), keys);
	x = rt_canvas_put_cut(canvas, box, 2, 1, box.w - 22, rt_buf_str(&p->line), RT_INK_CODE);
	(void)rt_canvas_put_c(canvas, box, x + 2, 1,
			      p->is_stopped ? "is stopping" : "Escape stops it", RT_INK_DIM);
}

static void
draw(rt_pane *pane, rt_canvas *canvas, rt_box box)
{
	palette *p = of(pane);
	int head = box.h > 2 ? 2 : 1;

	rt_canvas_fill(canvas, box, RT_INK_TEXT);
	if (p->pane.holds) {
		draw_running(p, canvas, box);
		return;
	}
	if (head == 2)
		rt_bar_draw(canvas, box, RT_STR("Commands"), rt_str_at(NULL, 0));
	(void)rt_canvas_put_c(canvas, box, 0, head - 1, ":", RT_INK_DIM);
	rt_filter_draw_field(&p->filter, canvas,
			     (rt_box){box.x + 2, box.y + head - 1, box.w - 2, 1});
	rt_filter_draw_rows(&p->filter, canvas, (rt_box){box.x, box.y + head, box.w, box.h - head},
			    2, "No match.");
}

/* ---- running a command ---- */

static bool
is_cancelled(void *ctx)
{
	return !rt_worker_is_wanted(ctx);
}

static void
run_in_worker(rt_worker *worker, void *ctx)
{
	palette *p = ctx;

	p->command_status = rt_command_process_run(&p->command, is_cancelled, worker);
}

/* The line can be corrected in the chat, unless it was generated from another one (/export: with
 * flags before the command). */
static void
put_back(palette *p)
{
	rt_tui *tui = p->pane.tui;
	rt_str line = rt_tui_format(tui, "/%.*s", RT_STR_ARG(rt_buf_str(&p->line)));

	if (p->below == RT_SCREEN_CHAT && !rt_str_starts(line, RT_STR("/-")))
		tui->chat->return_line(tui->panes[0], line);
}

static void
finish(palette *p)
{
	rt_tui *tui = p->pane.tui;
	rt_scope *s = &tui->scope;
	const rt_process_result *end = &p->command.result;
	bool failed = end->outcome != RT_PROCESS_EXITED || end->code != 0;
	size_t panes = tui->pane_count;
	rt_error ignored;
	rt_str text;

	p->pane.holds = false;
	RT_TRY(s, p->command_status);
	/* Shows the discussion that the command made active (an import, a new one). */
	if (rt_work_tend(&tui->work, NULL, &ignored) == RT_OK &&
	    tui->work.value->active != p->active &&
	    rt_work_look_at(&tui->work, tui->work.value->active, 0, &ignored) == RT_NOMEM)
		(void)rt_scope_nomem(s);
	rt_tui_close(tui, &p->pane);
	text = rt_command_output_text(tui, &p->command, rt_buf_str(&p->line));
	if (!rt_ok(s))
		return;
	if (end->outcome == RT_PROCESS_EXITED && end->code == USAGE_CODE)
		put_back(p);
	switch (end->outcome) {
	case RT_PROCESS_STOPPED: rt_tui_say_done(tui, "Stopped before it finished"); break;
	case RT_PROCESS_NOT_STARTED: rt_tui_say_done(tui, "The command could not be started"); break;
	default: rt_command_output_show(tui, rt_buf_str(&p->line), text, failed); break;
	}
	/* Keys were typed before the failure, or the output to read, could be seen. */
	if (tui->pane_count > panes && tui->typeahead.count > 0)
		rt_tui_say_nothing(tui);
	if (failed || tui->pane_count > panes)
		rt_pending_change_drop_typeahead(tui, "");
}

static void
run(palette *p, rt_str line)
{
	rt_tui *tui = p->pane.tui;
	rt_status st;
	rt_error err;

	while (line.size > 0 && line.ptr[0] == '/') /* as in the chat */
		line = rt_str_at(line.ptr + 1, line.size - 1);
	p->active = tui->work.value->active;
	rt_tui_say_nothing(tui);
	rt_buf_clear(&p->line);
	rt_buf_add_str(&p->line, line);
	(void)rt_scope_str(&tui->scope, &p->line);
	if (!rt_ok(&tui->scope))
		return;
	rt_command_process_deinit(&p->command);
	rt_command_process_init(&p->command, tui->alloc);
	st = rt_command_process_make(&p->command, tui->commands, &tui->work, rt_buf_str(&p->line),
				     &err);
	if (!rt_tui_ok(tui, st, &err))
		return;
	st = rt_worker_start(&p->worker, tui, run_in_worker, p);
	if (st == RT_BUSY || RT_TRY(&tui->scope, st) != RT_OK)
		return;
	p->pane.holds = true;
	p->pane.footer = "Escape stops it";
	p->is_stopped = false;
	if (rt_worker_ended(&p->worker))
		finish(p);
}

static void
poll(rt_pane *pane)
{
	if (rt_worker_ended(&of(pane)->worker))
		finish(of(pane));
}

/* ---- keys ---- */

/* Replace the last word by a name; one that looks like an option by its number. */
static void
complete(palette *p, const row *name)
{
	rt_scope *s = &p->pane.tui->scope;
	rt_str text = rt_field_text(p->filter.field), word = rt_scope_copy(s, name->name);
	rt_buf *line = rt_scope_buf(s);

	if (name->letter != 0 && rt_str_starts(word, RT_STR("-")))
		word = rt_tui_format(p->pane.tui, "%c%u", name->letter, name->number);
	rt_buf_add_str(line, rt_str_at(text.ptr, last_word(text)));
	if (rt_ok(s))
		rt_args_add_quoted(line, word.ptr);
	rt_buf_add_byte(line, ' ');
	RT_TRY(s, rt_field_set(p->filter.field, rt_scope_str(s, line)));
	(void)rt_filter_update(&p->filter);
}

/* A line of words: a slash command, or one of the command line. */
static void
run_words(palette *p, rt_str words)
{
	rt_tui *tui = p->pane.tui;
	rt_str line;
	bool ignored;

	while (words.size > 0 && words.ptr[0] == '/') /* as in the chat */
		words = rt_str_skip(words, 1);
	if (slash_of(p, words) == NULL) {
		run(p, words);
		return;
	}
	line = rt_tui_format(tui, "/%.*s", RT_STR_ARG(words));
	rt_tui_close(tui, &p->pane);
	RT_TRY(&tui->scope, tui->chat->run_slash(tui, line, &ignored));
}

/* From now on it is the first without a text. */
static void
remember(rt_tui *tui, const void *id)
{
	size_t at = 0;

	while (at + 1 < RT_TUI_RECENT && tui->recent[at] != id)
		at++;
	memmove(&tui->recent[1], &tui->recent[0], at * sizeof(tui->recent[0]));
	tui->recent[0] = id;
}

/* A command that needs more words is completed in the input of the chat. */
static void
write_on(palette *p, const char *name, const char *words, const char *what)
{
	rt_tui *tui = p->pane.tui;
	rt_str line = rt_tui_format(tui, "/%s ", name);

	rt_tui_close(tui, &p->pane);
	tui->chat->return_line(tui->panes[0], line);
	rt_tui_say(tui, "/%s %.*s: %s", name, (int)strcspn(words, "\n"), words, what);
}

/* Has the command that is being typed all words that it can have? */
static bool
is_complete(const palette *p)
{
	rt_str text = rt_field_text(p->filter.field);
	const rt_command *command = command_of(p, text);

	return command != NULL && command->max_words > 0 &&
	       word_index(text) >= (size_t)command->max_words;
}

/* Does it name a command only, which needs more words? */
static bool
needs_words(const palette *p, const row *r)
{
	rt_str text = rt_field_text(p->filter.field);

	return r != NULL && r->kind == ROW_USAGE && r->command->min_words > 0 &&
	       p->below == RT_SCREEN_CHAT &&
	       rt_str_find(rt_str_trim(text), RT_STR(" "), 0) == SIZE_MAX;
}

/* A slash command, with the words that were typed after its name. */
static void
accept_slash(palette *p, const rt_slash *slash, bool completes)
{
	rt_str text = rt_field_text(p->filter.field), name = rt_str_of(slash->name + 1);

	if (slash_of(p, text) == slash && rt_str_trim(text).size > name.size)
		name = text;
	else if (needs_more(slash) && p->below != RT_SCREEN_CHAT)
		completes = true;
	if (completes)
		complete(p, &(row){.name = rt_str_of(slash->name + 1)});
	else if (needs_more(slash) && name.ptr != text.ptr)
		write_on(p, slash->name + 1, slash->words, slash->what);
	else
		run_words(p, name);
}

static void
accept_command(palette *p, const rt_command *command, bool completes)
{
	if (!completes && command->min_words > 0 && p->below == RT_SCREEN_CHAT &&
	    !has_names(command))
		write_on(p, command->name, command->usage, command->summary);
	else if (completes || command->min_words > 0)
		complete(p, &(row){.name = rt_str_of(command->name)});
	else
		run_words(p, rt_str_of(command->name));
}

/* Enter, or (completes) Tab. */
static void
accept(palette *p, bool completes)
{
	const row *r = rt_filter_at(&p->filter);
	rt_tui *tui = p->pane.tui;

	if (r != NULL && r->id != NULL && !completes)
		remember(tui, r->id);
	if (r != NULL && r->kind == ROW_NAME) {
		complete(p, r);
		if (!completes && is_complete(p))
			run_words(p, rt_str_trim(rt_field_text(p->filter.field)));
	} else if (r != NULL && r->kind == ROW_COMMAND) {
		accept_command(p, r->command, completes);
	} else if (r != NULL && r->kind == ROW_SLASH) {
		accept_slash(p, r->slash, completes);
	} else if (completes) {
		return;
	} else if (needs_words(p, r)) {
		write_on(p, r->command->name, r->command->usage, r->command->summary);
	} else if (r != NULL && r->kind == ROW_ACTION) { /* of the pane that is then on top */
		rt_tui_close(tui, &p->pane);
		RT_TRY(&tui->scope, rt_tui_act(tui, r->action->action));
	} else {
		run_words(p, rt_field_text(p->filter.field));
	}
}
static bool
act_running(palette *p, rt_action action)
{
	if (action == RT_ACT_CANCEL) {
		p->is_stopped = true;
		rt_worker_cancel(&p->worker);
	}
	return action != RT_ACT_SUSPEND && action != RT_ACT_QUIT && action != RT_ACT_REDRAW;
}

static bool
act(rt_pane *pane, rt_action action)
{
	palette *p = of(pane);

	if (pane->holds)
		return act_running(p, action);
	switch (action) {
	case RT_ACT_ACCEPT: accept(p, false); return true;
	case RT_ACT_COMPLETE: accept(p, true); return true;
	case RT_ACT_CANCEL: rt_tui_close(pane->tui, pane); return true;
	default: return rt_filter_act(&p->filter, action);
	}
}

static bool
key(rt_pane *pane, rt_key k)
{
	return rt_filter_key(&of(pane)->filter, k);
}

static void
paste(rt_pane *pane, rt_str text)
{
	rt_filter_paste(&of(pane)->filter, text);
}

/* The names may be freed. */
static void
changed(rt_pane *pane)
{
	if (!pane->holds)
		rt_filter_fill(&of(pane)->filter);
}

static void
free_palette(rt_pane *pane)
{
	palette *p = of(pane);

	rt_worker_stop(&p->worker);
	rt_command_process_deinit(&p->command);
	rt_filter_deinit(&p->filter);
	rt_buf_deinit(&p->line);
	rt_free(pane->tui->alloc, p);
}

static const rt_pane_ops ops = {
	.screen = RT_SCREEN_FIELD,
	.height = height,
	.draw = draw,
	.act = act,
	.key = key,
	.paste = paste,
	.changed = changed,
	.poll = poll,
	.free = free_palette,
};

static rt_status
open_palette(rt_tui *tui, rt_str text, palette **out)
{
	palette *p = rt_new0(tui->alloc, sizeof(*p));
	rt_status st;

	if (p == NULL)
		return RT_NOMEM;
	(void)rt_tui_begin(tui);
	p->pane.ops = &ops;
	p->pane.footer = "Up, Down choose   Enter run   Esc cancel   Tab complete";
	p->pane.tui = tui;
	p->pane.list = &p->filter.list;
	p->below = tui->pane_count > 0 ? tui->panes[tui->pane_count - 1]->screen : RT_SCREEN_CHAT;
	p->filter = (rt_filter){.row_size = sizeof(row),
				.s = &tui->scope,
				.fill = fill,
				.draw = draw_row,
				.ctx = p};
	rt_buf_init(&p->line, tui->alloc, RT_BUF_UNLIMITED);
	rt_command_process_init(&p->command, tui->alloc);
	rt_filter_init(&p->filter, text);
	rt_filter_fill(&p->filter);
	st = rt_tui_end(tui);
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
	rt_scope *s = rt_tui_begin(tui);
	palette *p = NULL;

	if (RT_TRY(s, open_palette(tui, rt_str_at(NULL, 0), &p)) == RT_OK)
		run(p, line);
	if (rt_ok(s) && !p->pane.holds && !p->pane.closes) { /* it was not a command */
		put_back(p);
		rt_tui_close(tui, &p->pane);
	}
	return rt_tui_end(tui);
}
