/* SPDX-License-Identifier: MIT
 *
 * Pane: a screen of the terminal UI, and the functions that all of them share.
 *
 * Panes form a stack; the topmost has the keyboard. A pane draws itself into a box of the canvas,
 * gets keys as actions (keymap.h), and never blocks: slow work runs in a worker (worker.h) and is
 * collected by `poll`. A new screen is a file pane_NAME.c with one constructor, declared below, and
 * a row in the keymap's table for each of its keys.
 *
 * Handlers of frames, keys and other events work in tui->scope: buffers from it are freed
 * when the event has been handled, and its first failure is the event's status.
 *
 * Threads: the one of the terminal. */
#ifndef RT_TUI_PANE_H
#define RT_TUI_PANE_H

#include "base/scope.h"
#include "terminal/canvas.h"
#include "terminal/field.h"
#include "tui/tui.h"
#include "tui/typeahead.h"
#include "terminal/keymap.h"
#include "terminal/lines.h"
#include "tui/work.h"

struct rt_event;
struct rt_list;

typedef struct rt_tui rt_tui;
typedef struct rt_pending_change rt_pending_change;
typedef struct rt_pane rt_pane;

/* The effect of the mouse on a pane. */
typedef enum rt_mouse_use {
	RT_MOUSE_UNUSED,
	RT_MOUSE_USED, /* a click selected something; a second one is Enter */
	RT_MOUSE_ENTER /* it was selected already: to be handled like Enter */
} rt_mouse_use;

/* Failures go to tui->scope. Errors that the user can fix are reported in the notice line instead,
 * so the scope fails with RT_NOMEM and RT_LIMIT only. Optional members may be NULL. */
typedef struct rt_pane_ops {
	rt_screen screen;
	/* Rows that the pane needs out of the available ones; 0: all. A pane that needs fewer is
	 * drawn at the bottom, and the one below it above. Optional. */
	int (*height)(rt_pane *pane, int columns, int rows);
	void (*draw)(rt_pane *pane, rt_canvas *canvas, rt_box box);
	/* An action of its screen. False: not handled, and left to RT_SCREEN_ANY. */
	bool (*act)(rt_pane *pane, rt_action action);
	/* A key that is not an action of its screen, mostly text. False: not handled. Optional. */
	bool (*key)(rt_pane *pane, rt_key key);
	void (*paste)(rt_pane *pane, rt_str text); /* optional */
	/* The wheel above it, or a click into it while it is the topmost. Optional: the wheel is
	 * UP and DOWN then, and a click selects in its list. */
	rt_mouse_use (*mouse)(rt_pane *pane, const rt_mouse *mouse);
	/* work->change has risen. Optional. */
	void (*changed)(rt_pane *pane);
	/* Collect the results of workers; called in each turn of the loop. Optional. */
	void (*poll)(rt_pane *pane);
	/* Unsaved text that would be lost with the pane; ptr NULL: none. Optional. */
	rt_str (*written)(rt_pane *pane);
	/* A text was purged: mask it in unsaved text, and drop everything from which it could be
	 * restored. Empty: only the latter. Optional. */
	void (*purged)(rt_pane *pane, rt_str text);
	void (*free)(rt_pane *pane);
} rt_pane_ops;

struct rt_pane {
	const rt_pane_ops *ops;
	rt_tui *tui;
	rt_screen screen; /* whose keys apply; initially ops->screen */
	bool closes;      /* freed after this event */
	rt_box box;       /* where it was drawn last */
	struct rt_list *list; /* its rows, for clicks; or NULL */
	bool holds;       /* it is busy: keys other than those that end it go to the typeahead */
	/* Instead of the keymap's footer for the screen; or NULL. May be set while drawing. */
	const char *footer;
};

/* The chat's functions for other panes and verbs. */
typedef struct rt_chat_ops {
	void (*fill)(rt_pane *chat, rt_str text);
	void (*remember)(rt_pane *chat, rt_str text);
	/* A command that was refused: puts its line back into the input, if that is empty. */
	void (*return_line)(rt_pane *chat, rt_str line);
	void (*show)(rt_pane *chat, size_t at);
	/* The text of the input, unless it is a command; or empty. */
	rt_str (*question)(rt_pane *chat);
	/* Send a message with the attached files to several models, instead of the input, which is
	 * cleared. */
	rt_status (*send)(rt_pane *chat, rt_str text, const rt_str *models, size_t count, rt_error *err);
	/* The request that stores the unsaved draft, in tui->scope; false: nothing to store. */
	bool (*draft_request)(rt_pane *chat, rt_request *out);
	/* Receives the outcome of that request. */
	void (*draft_written)(rt_pane *chat, rt_status st);
	/* Slash commands: their table (verb.h), and how a line is run. */
	const struct rt_slash *slashes;
	rt_status (*run_slash)(rt_tui *tui, rt_str line, bool *out_known);
} rt_chat_ops;

enum {
	RT_PANES_MAX = 12,  /* maximum depth of the stack */
	RT_TUI_RECENT = 5,
	RT_TUI_SOURCES = 256 /* entries shown as source; of more, the oldest is rendered again */
};

/* The terminal UI. */
struct rt_tui {
	const rt_alloc *alloc;
	rt_scope scope;       /* of the event that is being handled: rt_tui_begin */
	unsigned scope_depth; /* nested rt_tui_begin */
	rt_session *session;
	const rt_command *const *commands;               /* of the command line */
	rt_buf title;                                    /* of the discussion */
	uint64_t title_seen;                             /* work.value_change when it was read */
	rt_buf notes;                                    /* the session's notes, not shown yet */
	void (*outer_note)(void *ctx, const char *text); /* the session's, restored at the end */
	void *outer_note_ctx;
	struct rt_terminal *terminal; /* NULL in tests */
	rt_canvas canvas;
	rt_keymap *keys;
	rt_work work;
	rt_pane *panes[2 * RT_PANES_MAX]; /* bottom first; [0] is the chat; includes closing ones */
	size_t pane_count;
	const rt_chat_ops *chat;                         /* of panes[0] */
	rt_status (*act)(rt_tui *tui, rt_action action); /* the loop's: rt_tui_act */
	rt_buf notice;                                   /* the last message */
	rt_ink notice_ink;
	unsigned errors;   /* reported so far */
	bool is_own;       /* the current change was caused by a key */
	bool notice_fades; /* the notice is cleared by the next key */
	rt_lines notice_lines;
	rt_buf clip; /* the last text copied */
	bool ends;   /* quit */
	bool is_open;
	bool has_more;          /* a pane has more work to do: the loop must not wait */
	void (*went)(rt_tui *); /* called when the current navigation has ended */
	bool shows_tools, shows_thinking;
	/* Entries not in read mode that are shown as their source although their role is usually
	 * rendered; the newest last. */
	uint32_t sources[RT_TUI_SOURCES];
	size_t source_count;
	uint64_t seen;              /* work.change that panes were notified of */
	rt_pending_change *pending; /* or NULL (pending.h) */
	rt_typeahead typeahead;     /* keys waiting for the pending change, or for a busy pane */
	rt_history typeahead_at;    /* of the discussion, when the first of them was typed */
	bool is_unread;             /* the change ended in a question that no frame has shown yet */
	bool is_forced;             /* with ends: by a signal, or because the terminal was closed */
	struct {                  /* the end of the notice, which names the key for undo or redo */
		uint64_t seq;     /* 0: no such end */
		bool is_undo;     /* the step was undone: the key is redo's */
		uint32_t disc;    /* the discussion that was in view */
		uint64_t steps;   /* that the way back is for */
		rt_screen screen; /* whose key it names */
		size_t from, to;  /* bytes of the notice */
	} way_back;
	struct { /* parts of the title, and the command that a click on them is */
		int from, to;
		const char *line;
	} spots[3];
	size_t spot_count;
	int footer_row, notice_row, notice_rows; /* of the last frame; -1: none */
	struct {                                 /* the last click */
		int64_t ms;
		int x, y;
		rt_mouse_use use;
	} press;
	bool has_mouse;
	const void *recent[RT_TUI_RECENT]; /* rows of the palette, the last used first; or NULL */
	uint64_t said_step;     /* the step that undo would revert according to the notice; 0:
				 * none */
	struct rt_worker *left; /* still running, although their panes are closed (worker.h) */
};

/* ---- events ---- */

/* Handle an event in the returned scope, which is tui->scope; nests. */
rt_scope *rt_tui_begin(rt_tui *tui);
/* The status of the event, which is cleared; at the outermost level frees the scope's memory. */
RT_CHECKED rt_status rt_tui_end(rt_tui *tui);
/* Formatted text in tui->scope, without NULs. */
rt_str rt_tui_format(rt_tui *tui, const char *format, ...) RT_PRINTF(2, 3);

/* Call a pane's function as an event. Missing optional functions do nothing. */
RT_CHECKED rt_status rt_pane_act(rt_pane *pane, rt_action action, bool *out_used);
RT_CHECKED rt_status rt_pane_key(rt_pane *pane, rt_key key, bool *out_used);
RT_CHECKED rt_status rt_pane_paste(rt_pane *pane, rt_str text);
RT_CHECKED rt_status rt_pane_changed(rt_pane *pane);
RT_CHECKED rt_status rt_pane_poll(rt_pane *pane);

/* ---- the stack ---- */

/* Put a pane on top of the stack, which owns it. RT_LIMIT: too many. On failure it is freed. */
RT_CHECKED rt_status rt_tui_push(rt_tui *tui, rt_pane *pane);
/* Close the pane and all above it, after this event. Not the chat. */
void rt_tui_close(rt_tui *tui, rt_pane *pane);
/* The pane that has the keyboard: the topmost that is not being closed. */
rt_pane *rt_tui_top(const rt_tui *tui);

/* ---- the notice line ---- */

/* A message. That of rt_tui_say is cleared by the next key, others by the next message. */
void rt_tui_say(rt_tui *tui, const char *format, ...) RT_PRINTF(2, 3);
void rt_tui_say_done(rt_tui *tui, const char *format, ...) RT_PRINTF(2, 3);
void rt_tui_say_str(rt_tui *tui, rt_str words, rt_ink ink);
/* Appends advice of the command line ("see: retake ls") in the form for this UI ("see: /ls"). */
void rt_tui_add_advice(const rt_tui *tui, rt_str text, rt_buf *out);
/* Followed by the hint, which may be empty; advice in both as in rt_tui_add_advice. */
void rt_tui_say_error(rt_tui *tui, const rt_error *err, rt_str hint);
/* The notice is the message of a command that failed: begin it with a capital letter, unless that is the
 * name of a command. */
void rt_tui_capitalise(rt_tui *tui);
/* Reports a failure and returns RT_OK; RT_NOMEM and RT_OK are returned unchanged. */
RT_CHECKED rt_status rt_tui_say_failure(rt_tui *tui, rt_status st, const rt_error *err);
/* True for RT_OK. RT_NOMEM fails tui->scope; other failures are reported without a hint. */
bool rt_tui_ok(rt_tui *tui, rt_status st, const rt_error *err);
/* Is the entry in tui->sources? Adds it, or removes it. */
bool rt_tui_shows_source(const rt_tui *tui, uint32_t entry);
void rt_tui_show_source(rt_tui *tui, uint32_t entry, bool is_shown);
/* Empty the notice line. */
void rt_tui_say_nothing(rt_tui *tui);
/* The result of a change: its description, its step and the key that undoes it. */
void rt_tui_say_change(rt_tui *tui, const rt_work_said *said);
/* Name the key for undo of the screen that has the keyboard now. */
void rt_tui_fit_way_back(rt_tui *tui);
/* The value has changed: if another program made the way back impossible, the notice no longer names
 * it. */
void rt_tui_check_way_back(rt_tui *tui);

/* ---- the editor and the clipboard ---- */

/* Runs the user's editor on a text (not one in out), which has the terminal until it ends. On
 * failure tui->work.hint has the place of the text. */
RT_CHECKED rt_status rt_tui_edit(rt_tui *tui, rt_str text, const char *name, rt_buf *out,
				 bool *out_changed, rt_error *err);
/* The same on a field, whose text it replaces; failures are reported. */
void rt_tui_edit_field(rt_tui *tui, rt_field *field, const char *name);
/* Copy to the terminal's clipboard (OSC 52), and always to tui->clip, which YANK inserts. */
void rt_tui_copy(rt_tui *tui, rt_str text);

/* ---- the loop ---- */

/* Draw a frame: all panes into the canvas. */
void rt_tui_draw(rt_tui *tui);
/* Without a terminal (tests), resize tui->canvas. Deinit it after a failure, too. */
RT_CHECKED rt_status rt_tui_init(rt_tui *tui, const rt_tui_options *options, rt_error *err);
void rt_tui_deinit(rt_tui *tui);
/* A key, an action, a paste for the topmost pane. */
RT_CHECKED rt_status rt_tui_key(rt_tui *tui, rt_key key);
RT_CHECKED rt_status rt_tui_act(rt_tui *tui, rt_action action);
RT_CHECKED rt_status rt_tui_paste(rt_tui *tui, rt_str text);
/* The action of a key on the topmost screen; *out_writes: it would be typed instead. */
rt_action rt_tui_action_of(const rt_tui *tui, rt_key key, bool *out_writes);
/* The mouse, at a place in the last frame (mouse.c). */
RT_CHECKED rt_status rt_tui_mouse(rt_tui *tui, rt_mouse mouse);
/* An event of the terminal (terminal.h). */
RT_CHECKED rt_status rt_tui_on_event(rt_tui *tui, const struct rt_event *event);
/* rt_work_tend, notify panes of changes, and poll them. */
RT_CHECKED rt_status rt_tui_tend(rt_tui *tui);

/* ---- the chat, which is at the bottom of the stack ---- */

/* Put a text into the chat's input. */
RT_CHECKED rt_status rt_tui_fill_input(rt_tui *tui, rt_str text);
/* Add a text that could not be used to the input history. */
void rt_tui_remember_input(rt_tui *tui, rt_str text);
/* Show the entry at this position of the take in the middle, marked; typing continues. */
void rt_tui_show_entry(rt_tui *tui, size_t at);

/* The title of the discussion, which may have to be read from a text: once for each value. Valid
 * until the next change. */
rt_str rt_tui_disc_title(rt_tui *tui);

/* ---- the screens ---- */

RT_CHECKED rt_status rt_pane_chat(rt_tui *tui);
/* A question was never stored: puts it back into the input, if that is empty. */
RT_CHECKED rt_status rt_pane_chat_return(rt_tui *tui);
/* Save unsaved text: of all panes to a file (draft_host.h), and after a pause in typing the input
 * as the field draft. always: now, and also if it is long; waits for a moment. */
void rt_pane_chat_keep(rt_tui *tui, bool always);
RT_CHECKED rt_status rt_pane_tree(rt_tui *tui);
RT_CHECKED rt_status rt_pane_history(rt_tui *tui);
/* query: the initial search; may be empty. */
RT_CHECKED rt_status rt_pane_discussions(rt_tui *tui, rt_str query);
/* A text to read. The pane owns the lines; *lines is empty afterwards. */
RT_CHECKED rt_status rt_pane_reader(rt_tui *tui, const char *title, rt_lines *lines);
/* The effect of REVERT in the reader that was just opened: fn(tui, entry). */
void rt_pane_reader_restores(rt_tui *tui, rt_status (*fn)(rt_tui *tui, uint32_t entry),
			     uint32_t entry);
RT_CHECKED rt_status rt_pane_help(rt_tui *tui, rt_screen screen);
/* Commands of the command line and actions, found by typing. text: the initial one. */
RT_CHECKED rt_status rt_pane_palette(rt_tui *tui, rt_str text);

/* Run a command of the command line: "takes rename a b". Long output is shown in a reader. */
RT_CHECKED rt_status rt_pane_palette_run(rt_tui *tui, rt_str line);

/* ---- questions ---- */

/* answer: ptr NULL: cancelled. The asking pane is closed already. */
typedef rt_status (*rt_answer_fn)(rt_tui *tui, void *ctx, rt_str answer);
/* One line, or several. ctx is owned from here on, also on failure: free_ctx (may be NULL) is
 * called after fn, or without it when the program ends without an answer. */
RT_CHECKED rt_status rt_pane_ask(rt_tui *tui, const char *title, rt_str text, bool several_lines,
				 rt_answer_fn fn, void *ctx, void (*free_ctx)(rt_tui *, void *));

/* For the question on top: the first character that is typed replaces the text; any other key
 * keeps it. */
void rt_pane_ask_replaces(rt_tui *tui);

typedef struct rt_choice {
	const char *key;  /* a key's word: "y" */
	const char *word; /* the answer */
	const char *what; /* "Yes, and tell it what to look out for" */
} rt_choice;
/* One of a few, the first of which is the default. */
RT_CHECKED rt_status rt_pane_choose(rt_tui *tui, const char *question, const rt_choice *choices,
				    size_t count, rt_answer_fn fn, void *ctx,
				    void (*free_ctx)(rt_tui *, void *));
/* For the question on top: letters never answer it, but are typed into the chat's input. */
void rt_pane_choose_types_message(rt_tui *tui);
/* One of many, in a list that is filtered by typing. names: an array of strings. may_be_new: the
 * typed text is an answer, too. */
RT_CHECKED rt_status rt_pane_pick(rt_tui *tui, const char *title, yyjson_val *names,
				  bool may_be_new, rt_answer_fn fn, void *ctx,
				  void (*free_ctx)(rt_tui *, void *));
/* The names of the list that was just opened are texts: truncate them at the end, not in the
 * middle. */
void rt_pane_pick_texts(rt_tui *tui);
/* The names are rows of columns, separated by tabs: a number, "*" for the current one, a name, less
 * important details, and a text. */
void rt_pane_pick_columns(rt_tui *tui);
/* Tab gives the chosen name to this function instead, with the same ctx. footer: static. */
void rt_pane_pick_on_tab(rt_tui *tui, rt_answer_fn fn, const char *footer);
/* Ctrl+R gives the chosen name to this function instead. */
void rt_pane_pick_on_rename(rt_tui *tui, rt_answer_fn fn);
/* Space marks rows of the list that was just opened, so its names have no blanks; the answer is then the
 * marked ones, one a line. */
void rt_pane_pick_several(rt_tui *tui);
/* The list that was just opened is of models: those that the providers' servers list are added as
 * they arrive. in_use: the model in use; may be empty. note: a line below them; may be empty. */
void rt_pane_pick_models(rt_tui *tui, rt_str in_use, rt_str note);
/* Move the cursor of the list that was just opened to this name. */
void rt_pane_pick_begin_on(rt_tui *tui, rt_str name);

#endif
