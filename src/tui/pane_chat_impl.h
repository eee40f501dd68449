/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of the chat: pane_chat.c has the keys, chat_view.c scrolls and draws,
 * chat_layout.c lays entries out and caches them, chat_input.c sends the input, chat_paste.c folds large
 * pastes in it, chat_draft.c saves it.
 *
 * An item is a position of the take, or the one after it for the reply in flight. */
#ifndef RT_TUI_PANE_CHAT_IMPL_H
#define RT_TUI_PANE_CHAT_IMPL_H

#include "tui/pane.h"
#include "tui/text_search.h"
#include "tui/verb.h"

enum {
	RT_CHAT_CACHED = 256, /* layouts */
	RT_CHAT_MARKS = 4096,
	RT_CHAT_SUGGESTIONS = 64,
	RT_CHAT_PASTE_END = 32 /* bytes */
};

/* Parameters of a layout besides the text and the columns. */
enum {
	RT_CHAT_COLLAPSED = 1,
	RT_CHAT_MUTED = 2,
	RT_CHAT_TOOLS = 4,
	RT_CHAT_THINKING = 8,
	RT_CHAT_EDITED = 16,
	RT_CHAT_READ = 32,  /* always rendered */
	RT_CHAT_SOURCE = 64 /* otherwise never */
};

/* An entry, laid out. */
typedef struct rt_chat_laid {
	uint32_t entry; /* 0: the reply in flight, or unused */
	uint64_t body;
	uint64_t value; /* work.value_change when label, role and kind were read */
	uint16_t role_number;
	int columns;
	unsigned look;
	bool is_partial;
	uint64_t used; /* serial number of its last use */
	rt_buf role, kind, label;
	rt_buf usage; /* the model and tokens of a reply; or empty */
	size_t model; /* bytes of usage that are the model */
	rt_lines lines;
	const rt_lines *more; /* rows below them; or NULL */
} rt_chat_laid;

/* A position at which takes differ from the current one. */
typedef struct rt_chat_fork {
	size_t at;
	unsigned which, of; /* the current take is the second of three */
} rt_chat_fork;

typedef struct rt_chat {
	rt_pane pane; /* its screen is RT_SCREEN_ENTRY while an entry is selected */
	rt_field *field;
	int columns, rows;             /* of the entries, when they were drawn last */
	int view_y;                    /* the screen's row of the first of them */
	size_t top;                    /* the first visible item … */
	int top_row;                   /* … and how many of its rows are above the screen */
	bool follows;                  /* the view stays at the end */
	bool points;                   /* sel is marked and keys act on it, but letters are typed */
	size_t sel;                    /* the selected entry: its position … */
	uint32_t sel_entry;            /* … and number */
	uint32_t marks[RT_CHAT_MARKS]; /* marked entries */
	size_t mark_count;
	uint32_t anchor; /* entry at which a range of marks began; 0: none */
	int slash_at;              /* the selected one, from 1; 0: none */
	int slash_top;             /* the first visible one, from 0 */
	bool escaped, interrupted; /* pressed once; the second time counts */
	char footer[160];          /* instead of the keys of the screen */
	rt_buf find;               /* the search text, marked in entries; or empty */
	rt_text_search search;
	uint64_t epoch; /* work.epoch */
	uint64_t value_seen;
	uint32_t disc_seen, take_seen;

	/* chat_layout.c */
	rt_chat_laid cache[RT_CHAT_CACHED];
	uint64_t uses;
	rt_chat_laid run;             /* the reply in flight */
	rt_lines_stream run_stream;   /* its text */
	size_t run_size, run_thought; /* bytes of its text and thinking when they were laid out */
	char run_name[24];            /* the run that it belongs to */
	bool run_is_unsent;           /* it is still the question */
	rt_chat_fork *forks;
	size_t fork_count;

	/* chat_attach.c */
	rt_buf attached, attached_rows; /* of files for the next message: their paths, and their
					 * displayed text, each ended by a NUL */
	rt_buf attached_sent;           /* the paths of those that were sent with the last
					 * question */
	rt_buf cleared, cleared_files;  /* the text that was cleared last, and the paths of its
					 * files */
	rt_buf checked;                 /* the text of which it was reported that it names a file
					 * that is not attached */

	/* chat_paste.c */
	struct { /* a large paste in the field */
		size_t at, size; /* bytes; size 0: none */
		char ends[2][RT_CHAT_PASTE_END];
		char label[48]; /* displayed instead */
	} paste;
	rt_field *shown; /* displayed instead of the field while the paste is folded */

	/* chat_input.c */
	rt_buf sent;           /* the last question; empty: there was none, only a reply */
	uint32_t sent_from;    /* entries from this number on were made after it was sent */
	bool has_history;      /* the field has the input history of earlier runs */

	/* chat_draft.c */
	uint32_t draft_disc;   /* the discussion to which the text in the input belongs */
	rt_buf draft;          /* its field draft, as last read or written */
	rt_buf saved;          /* the text in its file, if this program wrote it */
	rt_buf typed;          /* the input at the last check, and … */
	int64_t typed_ms;      /* … since when it is the same */
	bool draft_failed;     /* it could not be written */
	bool draft_is_pending; /* it is being written */
	bool draft_is_theirs;  /* it was changed elsewhere while text was typed: do not touch it */
	unsigned purge_checks; /* remaining checks of the file */
} rt_chat;

static inline rt_chat *
rt_chat_of(rt_pane *pane)
{
	return (rt_chat *)pane;
}

static inline rt_scope *
rt_chat_scope(rt_chat *chat)
{
	return &chat->pane.tui->scope;
}

/* Two slashes begin a message with one. */
static inline bool
rt_chat_is_command(rt_str text)
{
	return text.size > 0 && text.ptr[0] == '/' && !(text.size > 1 && text.ptr[1] == '/');
}

static inline bool
rt_chat_selects(const rt_chat *chat)
{
	return chat->pane.screen == RT_SCREEN_ENTRY;
}

/* ---- pane_chat.c ---- */

/* Select the entry at this position; none if it does not exist. */
void rt_chat_select(rt_chat *chat, size_t at);
void rt_chat_select_none(rt_chat *chat);

/* ---- chat_view.c ---- */

void rt_chat_draw(rt_pane *pane, rt_canvas *canvas, rt_box box);
/* The item that is drawn in this row of the screen, and whether that is its first row; SIZE_MAX:
 * none. */
size_t rt_chat_item_at(rt_chat *chat, int y, bool *out_is_head);
/* A command, or a file, that completes the input. */
typedef struct rt_chat_suggestion {
	const char *name; /* without the sign */
	const char *words, *what;
	bool is_file;     /* after "@", "/attach " or "/import ", not "/"; folders end in a slash */
} rt_chat_suggestion;

/* Commands of the chat and templates, of which there are *out_own, then those of the command line; or
 * files (all of them own). Returns their number. */
int rt_chat_suggestions(const rt_chat *chat, rt_chat_suggestion out[RT_CHAT_SUGGESTIONS],
			int *out_own);
void rt_chat_scroll(rt_chat *chat, int rows);
void rt_chat_scroll_to_end(rt_chat *chat);
/* Scroll as little as possible to make the item visible. */
void rt_chat_reveal(rt_chat *chat, size_t item);
bool rt_chat_is_visible(rt_chat *chat, size_t item);
bool rt_chat_is_at_end(rt_chat *chat);

/* ---- chat_layout.c ---- */

/* False: no such entry, or it cannot be read. */
bool rt_chat_slot(const rt_chat *chat, size_t at, rt_slot *out);
/* The item, laid out for chat->columns. NULL: it cannot be read, or there is no memory. Valid until
 * RT_CHAT_CACHED / 4 others were asked for. */
const rt_chat_laid *rt_chat_layout(rt_chat *chat, size_t item);
/* Drop all layouts. */
void rt_chat_forget(rt_chat *chat);
/* Is the question still waiting to be stored? Another program may be writing to the store. */
bool rt_chat_is_unsent(const rt_chat *chat);
/* Entries that are hidden from users, or by the filter, have no rows. */
bool rt_chat_hides(const rt_chat *chat, size_t item);
/* The nearest visible entry: at, else the next one in the direction of by (1 or -1), else in the
 * other one, else at. */
size_t rt_chat_visible(const rt_chat *chat, size_t at, int by);
/* Rows of its text. */
static inline size_t
rt_chat_rows(const rt_chat_laid *laid)
{
	return laid->lines.count + (laid->more == NULL ? 0 : laid->more->count);
}
/* Fills in chat->forks. O(takes log entries). */
void rt_chat_find_forks(rt_chat *chat);

/* ---- chat_attach.c ---- */

/* Attaches a file to the next message, once; failures are reported. True: attached. */
bool rt_chat_attach(rt_chat *chat, rt_str path);
void rt_chat_drop_attached(rt_chat *chat);
/* Drops them, also those that could be attached again. */
void rt_chat_detach(rt_chat *chat);
size_t rt_chat_attached_number(const rt_chat *chat);
bool rt_chat_is_attached(const rt_chat *chat, rt_str path);
/* Detaches the file that was attached last, and removes its word from the input; false: none. */
bool rt_chat_detach_last(rt_chat *chat);
/* The content of a message with this text, in the scope; NULL: nothing is attached, or the scope
 * failed. */
yyjson_val *rt_chat_attached_content(rt_chat *chat, rt_scope *s, rt_str text);
/* They went with a question, which then was not stored: attach them again. */
void rt_chat_attached_sent(rt_chat *chat);
void rt_chat_attached_return(rt_chat *chat);
/* They are cleared together with the input: remember them. If the input is that text again, attach them
 * again; false: it is not, or there are none. */
void rt_chat_attached_clear(rt_chat *chat);
bool rt_chat_attached_restore(rt_chat *chat);
/* Attaches the files that the input names with "@" and reports them, and files that do not exist.
 * False: the message is not sent yet. */
bool rt_chat_attach_named(rt_chat *chat);
/* Fails once if the text, which is not the input, names such files. */
RT_CHECKED rt_status rt_chat_check_named(rt_chat *chat, rt_str text, rt_error *err);
/* A row for each, and their number. */
int rt_chat_attached_count(const rt_chat *chat);
void rt_chat_attached_draw(const rt_chat *chat, rt_canvas *canvas, rt_box box);
/* The path after "@" before the cursor, or after "/attach " or "/import "; ptr NULL: none. */
rt_str rt_chat_file_word(const rt_chat *chat);
/* Is it the one of one of these commands, and of "/attach "? */
bool rt_chat_is_file_command(rt_str text);
bool rt_chat_is_attach(rt_str text);
/* Files of its folder that begin with it, sorted, in the scope of the event; returns their number. */
int rt_chat_files(const rt_chat *chat, rt_str word, rt_chat_suggestion out[RT_CHAT_SUGGESTIONS]);

/* ---- chat_input.c ---- */

/* Send the input: a message, a command, or if it is empty a request for a reply. */
void rt_chat_send(rt_chat *chat);
/* For rt_chat_ops; count 0: to the current model. */
rt_str rt_chat_question(rt_pane *pane);
RT_CHECKED rt_status rt_chat_send_message(rt_pane *pane, rt_str text, const rt_str *models,
					  size_t count, rt_error *err);
/* Add a text to the input history. */
void rt_chat_remember(rt_chat *chat, rt_str text);
/* The same for the input, which is cleared with the attached files; the notice says so. */
void rt_chat_put_away(rt_chat *chat);
/* Read the input history of earlier runs, once. */
void rt_chat_load_history(rt_chat *chat);
/* Something was purged: drop every copy of texts. */
void rt_chat_forget_purged(rt_chat *chat);
void rt_chat_fill(rt_pane *pane, rt_str text);
void rt_chat_remember_input(rt_pane *pane, rt_str text);
void rt_chat_return_line(rt_pane *pane, rt_str line);

/* ---- chat_paste.c ---- */

/* Insert a pasted text at the cursor. A large one is folded. */
void rt_chat_paste(rt_chat *chat, rt_str text);
bool rt_chat_paste_is_folded(const rt_chat *chat);
void rt_chat_paste_unfold(rt_chat *chat);
/* The field may have changed: its size and cursor before. */
void rt_chat_paste_follow(rt_chat *chat, size_t was_size, size_t was_cursor);
/* The field to display, for this width. */
rt_field *rt_chat_shown_field(rt_chat *chat, int columns);

/* ---- chat_draft.c ---- */

/* Switch to the draft of the current discussion. */
void rt_chat_switch_draft(rt_chat *chat);
/* Stores the input as the draft without a pause in typing, unless a change is pending. */
void rt_chat_store_draft(rt_chat *chat);
/* Shows the draft if the input is empty, after a command that was typed over it. */
void rt_chat_show_draft(rt_chat *chat);
/* The value has changed: shows its draft, unless there is typed text that is not in it yet. */
void rt_chat_follow_draft(rt_chat *chat);
/* Something was purged: removes it from the draft, and from all text that is being written. */
void rt_chat_purge_draft(rt_chat *chat);
/* For rt_chat_ops. */
bool rt_chat_draft_request(rt_pane *pane, rt_request *out);
void rt_chat_draft_written(rt_pane *pane, rt_status st);

#endif
