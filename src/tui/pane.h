/* SPDX-License-Identifier: MIT
 *
 * Pane: a screen of the terminal UI, and what all of them share.
 *
 * Panes lie on one another; the one on top has the keys. A pane draws itself into a box of the
 * canvas, is told of keys as actions (keymap.h), and never waits: what takes long runs elsewhere,
 * and the pane is told when there is something new. A new screen is a file pane_NAME.c with one
 * function that makes it, declared below, and a row in the keymap's table for each of its keys.
 *
 * Threads: the one of the terminal. */
#ifndef RT_TUI_PANE_H
#define RT_TUI_PANE_H

#include "tui/canvas.h"
#include "tui/field.h"
#include "tui/tui.h"
#include "tui/typeahead.h"
#include "tui/keymap.h"
#include "tui/lines.h"
#include "tui/work.h"

struct rt_event;

typedef struct rt_tui rt_tui;
typedef struct rt_pending_change rt_pending_change;
typedef struct rt_pane rt_pane;

typedef struct rt_pane_ops {
	rt_screen screen;
	/* Of the height that there is, how much it wants: 0 all of it; else as many rows as this
	 * says, at the bottom, and what is below stays to be seen. */
	int (*height)(rt_pane *pane, int columns, int rows);
	void (*draw)(rt_pane *pane, rt_canvas *canvas, rt_box box);
	/* An action of its screen. *out_used false: whoever else wants it (RT_SCREEN_ANY). Failures
	 * are said in the notice line, so only RT_NOMEM and the like come back. */
	rt_status (*act)(rt_pane *pane, rt_action action, bool *out_used);
	/* A key that is no action here, mostly text. NULL: none. */
	rt_status (*key)(rt_pane *pane, rt_key key, bool *out_used);
	rt_status (*paste)(rt_pane *pane, rt_str text); /* or NULL */
	/* work->change has risen. Or NULL. */
	rt_status (*changed)(rt_pane *pane);
	/* Each turn of the loop: what runs in a thread (worker.h) may be over. Or NULL. */
	rt_status (*tend)(rt_pane *pane);
	/* What was written in it and would be lost with it; ptr NULL: nothing. Or NULL. */
	rt_str (*written)(rt_pane *pane);
	/* This was purged: it goes out of what is written, and nothing brings it back; empty: only
	 * that. Or NULL. */
	rt_status (*purged)(rt_pane *pane, rt_str what);
	void (*free)(rt_pane *pane);
} rt_pane_ops;

struct rt_pane {
	const rt_pane_ops *ops;
	rt_tui *tui;
	rt_screen screen; /* whose keys it has now; as ops says until the pane changes it */
	bool closes;      /* after this event */
	bool holds;       /* what it does has to end first: keys wait, but those that end it */
	const char *footer; /* instead of what the keymap says of the screen; or NULL. In draw, too:
			     * it is shown in the same frame */
};

/* What other panes and verbs ask of the chat. */
typedef struct rt_chat_ops {
	rt_status (*fill)(rt_pane *chat, rt_str text);
	void (*remember)(rt_pane *chat, rt_str text);
	void (*show)(rt_pane *chat, size_t at);
} rt_chat_ops;

/* Maximum depth of the stack of panes. */
enum { RT_PANES_MAX = 12 };

/* The terminal UI. */
struct rt_tui {
	const rt_alloc *alloc;
	rt_session *session;
	const rt_command *const *commands;               /* of the command line */
	rt_buf notes;                                    /* what the session noted, not shown yet */
	void (*outer_note)(void *ctx, const char *text); /* the session's, to be put back */
	void *outer_note_ctx;
	struct rt_terminal *terminal; /* NULL in tests */
	rt_canvas canvas;
	rt_keymap *keys;
	rt_work work;
	rt_pane *panes[2 * RT_PANES_MAX]; /* from the bottom; [0] is the chat; with those that close */
	size_t pane_count;
	const rt_chat_ops *chat; /* of panes[0] */
	rt_status (*act)(rt_tui *tui, rt_action action); /* the loop's: rt_tui_act */
	rt_buf notice;      /* what was done, or went wrong; stays until the next is said */
	rt_ink notice_ink;
	unsigned errors;    /* said so far */
	bool is_own;        /* what changed now is what a key of ours did */
	bool notice_fades;  /* with the next key: it told what that would do */
	rt_lines notice_lines;
	rt_buf clip;        /* what was copied last */
	bool ends;          /* leave */
	bool is_open;
	bool has_more;      /* a pane has more to do, and nobody is to be waited for (in tend) */
	void (*went)(rt_tui *); /* told when the way through the tree that is under way has ended */
	bool shows_tools, shows_thinking;
	uint64_t seen;      /* work.change that panes were told of */
	rt_pending_change *pending;  /* the change that is under way; or NULL (pending.h) */
	rt_typeahead typeahead;   /* keys that wait for it, or for a pane that holds them */
	rt_history typeahead_at;    /* of the discussion, when the first of them was typed */
	bool is_unread;        /* it ended in a question that no frame has shown yet */
	bool is_forced;        /* with ends: by a signal, or since the terminal is gone */
	struct {               /* the end of the notice: how to take back what it tells of */
		uint64_t seq;  /* 0: there is no such end */
		bool is_undo;  /* that was taken back: the way is redo */
		rt_screen screen; /* whose key it names */
		size_t from, to;  /* bytes of the notice */
	} way_back;
	uint64_t said_step;    /* that the notice says undo would take back; 0: it says none */
	struct rt_worker *left; /* at work still, though their panes are gone (worker.h) */
};

/* Put on top; it is freed when it is closed. RT_LIMIT: too many. On failure it is freed at once. */
RT_CHECKED rt_status rt_tui_push(rt_tui *tui, rt_pane *pane);
/* The pane, and all that lie on it, go after this event. Not the chat. */
void rt_tui_close(rt_tui *tui, rt_pane *pane);
/* The pane that has the keys: the topmost that is not being closed. */
rt_pane *rt_tui_top(const rt_tui *tui);
/* The notice line. An error: in its ink, with the hint behind. What rt_tui_say says is gone with
 * the next key, all else with the next thing that is said. */
void rt_tui_say(rt_tui *tui, const char *format, ...) RT_PRINTF(2, 3);
void rt_tui_say_done(rt_tui *tui, const char *format, ...) RT_PRINTF(2, 3);
void rt_tui_say_str(rt_tui *tui, rt_str words, rt_ink ink);
void rt_tui_say_error(rt_tui *tui, const rt_error *err, rt_str hint);
/* A failure is reported, and RT_OK returned; RT_NOMEM and RT_OK are returned as they are. */
RT_CHECKED rt_status rt_tui_say_failure(rt_tui *tui, rt_status st, const rt_error *err);
/* What a change did: its words, its step and the key that takes it back. */
void rt_tui_say_change(rt_tui *tui, const rt_work_said *said);
/* Another screen may have the keys now, whose key for undo the notice names. */
void rt_tui_fit_way_back(rt_tui *tui);
/* Run the person's editor on a text (not one that out holds); *out_changed false: it was left as
 * it was. Where it failed err says so, and tui->work.hint where the text is kept. The screen is
 * given away meanwhile. */
RT_CHECKED rt_status rt_tui_edit(rt_tui *tui, rt_str text, const char *name, rt_buf *out,
				 bool *out_changed, rt_error *err);
/* To the clipboard: by the terminal itself (OSC 52) where it is ours to ask, and always into a
 * buffer of our own that YANK puts into fields. */
void rt_tui_copy(rt_tui *tui, rt_str text);

/* One frame: all panes into the canvas. */
void rt_tui_draw(rt_tui *tui);
/* In tests there is no terminal: resize tui->canvas. On failure, too, deinit it. */
RT_CHECKED rt_status rt_tui_init(rt_tui *tui, const rt_tui_options *options, rt_error *err);
void rt_tui_deinit(rt_tui *tui);
/* A key, an action, a paste: to the pane on top. For the loop, and for tests. */
RT_CHECKED rt_status rt_tui_key(rt_tui *tui, rt_key key);
RT_CHECKED rt_status rt_tui_act(rt_tui *tui, rt_action action);
RT_CHECKED rt_status rt_tui_paste(rt_tui *tui, rt_str text);
/* What a key would do now on the screen on top; *out_writes: it would be written. */
rt_action rt_tui_action_of(const rt_tui *tui, rt_key key, bool *out_writes);
/* What came from the terminal (terminal.h). */
RT_CHECKED rt_status rt_tui_on_event(rt_tui *tui, const struct rt_event *event);
/* rt_work_tend, and panes are told. */
RT_CHECKED rt_status rt_tui_tend(rt_tui *tui);

/* ---- the chat, which lies below all panes ---- */

/* Put a text into the chat's input: one that was handed back, or is to be edited first. */
RT_CHECKED rt_status rt_tui_fill_input(rt_tui *tui, rt_str text);
/* What was written and could not be used: Up brings it back in the chat. */
void rt_tui_remember_input(rt_tui *tui, rt_str text);
/* Show this entry of the take (a position) in the middle, with a mark. Keys go on writing. */
void rt_tui_show_entry(rt_tui *tui, size_t at);

/* ---- the screens ---- */

RT_CHECKED rt_status rt_pane_chat(rt_tui *tui);
/* A question was never stored: its text is in the input again, where that is empty. */
RT_CHECKED rt_status rt_pane_chat_return(rt_tui *tui);
/* Keep what is being written in a file (draft_host.h), here and in a question that lies above;
 * always: also where it is long. */
void rt_pane_chat_keep(rt_tui *tui, bool always);
RT_CHECKED rt_status rt_pane_tree(rt_tui *tui);
RT_CHECKED rt_status rt_pane_history(rt_tui *tui);
/* query: searched for at once; may be empty. */
RT_CHECKED rt_status rt_pane_discussions(rt_tui *tui, rt_str query);
/* A text to be read: title, and lines that the pane takes over (they are empty after). */
RT_CHECKED rt_status rt_pane_reader(rt_tui *tui, const char *title, rt_lines *lines);
RT_CHECKED rt_status rt_pane_help(rt_tui *tui, rt_screen screen);
/* A command of the command line, typed and run, its output in a reader. */
RT_CHECKED rt_status rt_pane_palette(rt_tui *tui, rt_str text);

/* A command of the command line, carried out at once: "takes rename a b". */
RT_CHECKED rt_status rt_pane_palette_run(rt_tui *tui, rt_str line);

/* ---- questions ---- */

/* The answer: text of the field, or NULL ptr when it was cancelled. The asking pane is closed
 * already. */
typedef rt_status (*rt_answer_fn)(rt_tui *tui, void *ctx, rt_str answer);
/* One line, or several. ctx is the caller's, and lives until fn was called (free_ctx, may be
 * NULL, is then called, also when the program ends without an answer). */
RT_CHECKED rt_status rt_pane_ask(rt_tui *tui, const char *title, rt_str text, bool several_lines,
				 rt_answer_fn fn, void *ctx, void (*free_ctx)(rt_tui *, void *));

typedef struct rt_choice {
	const char *key;  /* a key's word: "y" */
	const char *word; /* what fn is given */
	const char *what; /* "Yes, and tell it what to look out for" */
} rt_choice;
/* One of a few. The first is what Enter chooses; Escape is NULL. */
RT_CHECKED rt_status rt_pane_choose(rt_tui *tui, const char *question, const rt_choice *choices,
				    size_t count, rt_answer_fn fn, void *ctx,
				    void (*free_ctx)(rt_tui *, void *));
/* One of many, by a list that is filtered while a part of it is typed. names: an array of
 * strings. what is typed may be taken though it is none of them (may_be_new). */
RT_CHECKED rt_status rt_pane_pick(rt_tui *tui, const char *title, yyjson_val *names, bool may_be_new,
				  rt_answer_fn fn, void *ctx, void (*free_ctx)(rt_tui *, void *));
/* The list that was opened right before is one of texts, which differ in how they begin. */
void rt_pane_pick_texts(rt_tui *tui);
/* The list that was opened right before begins on this name, where it has it. */
void rt_pane_pick_begin_on(rt_tui *tui, rt_str name);

#endif
