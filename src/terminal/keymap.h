/* SPDX-License-Identifier: MIT
 *
 * Keymap: the table of keys and their actions. Help, footers, `retake help keys` and docs/keys.md
 * are generated from it; the file keys.toml changes it:
 *
 *     [tree]
 *     delete = "ctrl+x"            one key, or
 *     undo = ["alt+u", "f8"]       several; [] removes an action's keys
 *
 * A key may have different actions on different screens, but only one on each.
 *
 * Threads: read from any. */
#ifndef RT_TERMINAL_KEYMAP_H
#define RT_TERMINAL_KEYMAP_H

#include "terminal/key.h"

typedef enum rt_screen {
	RT_SCREEN_ANY,  /* every screen that has no action for the key */
	RT_SCREEN_CHAT,
	RT_SCREEN_ENTRY, /* in the chat, an entry is selected */
	RT_SCREEN_TREE,
	RT_SCREEN_HISTORY,
	RT_SCREEN_DISCUSSIONS,
	RT_SCREEN_READER, /* a long text: help, an entry, a command's output */
	RT_SCREEN_FIELD,  /* wherever text is typed */
	RT_SCREEN_COUNT
} rt_screen;

/* X(name, word, effect): the name of an action here and in keys.toml, and whether it can lead to a
 * change (DO) or is always executed immediately (LOOK). The table in keymap_table.c describes it
 * for each screen. */
#define RT_ACTIONS(X) \
	X(UP, "up", LOOK) X(DOWN, "down", LOOK) X(PAGE_UP, "page-up", LOOK) \
	X(PAGE_DOWN, "page-down", LOOK) X(HOME, "first", LOOK) X(END, "last", LOOK) \
	X(LEFT, "left", LOOK) X(RIGHT, "right", LOOK) X(SEGMENT_UP, "segment-up", LOOK) \
	X(SEGMENT_DOWN, "segment-down", LOOK) X(ACCEPT, "accept", DO) X(CANCEL, "cancel", DO) \
	X(CLEAR, "clear", DO) X(QUIT, "quit", LOOK) X(SUSPEND, "suspend", LOOK) \
	X(FILTER_DEFAULT, "filter-default", LOOK) X(FILTER_USER, "filter-user", LOOK) \
	X(FILTER_ALL, "filter-all", LOOK) X(FILTER_NO_TOOLS, "filter-no-tools", LOOK) \
	X(FILTER_LABELED, "filter-labeled", LOOK) X(FILTER_NEXT, "filter-next", LOOK) \
	X(SEARCH, "search", LOOK) X(FIND_NEXT, "find-next", LOOK) \
	X(FIND_PREVIOUS, "find-previous", LOOK) X(MARK, "mark", LOOK) \
	X(MARK_NONE, "mark-none", LOOK) X(MARK_UP, "mark-up", LOOK) \
	X(MARK_DOWN, "mark-down", LOOK) X(FOLD_ALL, "fold-all", LOOK) X(EDIT, "edit", DO) \
	X(EDIT_AS_TAKE, "edit-as-take", DO) X(EDITOR, "editor", DO) \
	X(INSERT_BEFORE, "insert-before", DO) X(INSERT_AFTER, "insert-after", DO) \
	X(ROLE, "role", DO) X(DELETE, "delete", DO) X(DELETE_BELOW, "delete-below", DO) \
	X(MOVE, "move", DO) X(GRAFT, "graft", DO) X(PROMOTE, "promote", DO) \
	X(LABEL_TIMES, "label-times", DO) X(BRANCH, "branch", DO) X(MUTE, "mute", DO) \
	X(LABEL, "label", DO) X(COPY, "copy", LOOK) X(COPY_PATH, "copy-path", LOOK) \
	X(SPLIT, "split", DO) X(MERGE, "merge", DO) X(VERSIONS, "versions", DO) \
	X(TAKE_PREVIOUS, "take-previous", DO) X(TAKE_NEXT, "take-next", DO) \
	X(AGAIN, "again", DO) X(CONTINUE, "continue", DO) X(UNDO, "undo", DO) \
	X(REDO, "redo", DO) X(REVERT, "revert", DO) X(TREE, "tree", LOOK) \
	X(HISTORY, "history", LOOK) X(DISCUSSIONS, "discussions", LOOK) \
	X(PALETTE, "palette", DO) X(HELP, "help", LOOK) X(MODEL, "model", DO) \
	X(EXPORT, "export", DO) X(COMPACT, "compact", DO) X(PROMPT, "prompt", DO) \
	X(USE_AS_PROMPT, "use-as-prompt", DO) \
	X(PIN, "pin", DO) X(ARCHIVE, "archive", DO) X(TAGS, "tags", DO) \
	X(RENAME, "rename", DO) X(NEW, "new", DO) X(PREVIEW, "preview", LOOK) \
	X(TOOLS, "tools", LOOK) X(THINKING, "thinking", LOOK) X(COLLAPSE, "collapse", DO) \
	X(READ_MODE, "read-mode", DO) \
	X(SELECT, "select", LOOK) X(LAST_USER, "edit-last", DO) X(REDRAW, "redraw", LOOK) X(MOUSE, "mouse", LOOK) \
	X(NEWLINE, "newline", LOOK) X(COMPLETE, "complete", LOOK) \
	X(WORD_LEFT, "word-left", LOOK) X(WORD_RIGHT, "word-right", LOOK) \
	X(LINE_START, "line-start", LOOK) X(LINE_END, "line-end", LOOK) \
	X(TEXT_START, "text-start", LOOK) X(TEXT_END, "text-end", LOOK) X(ERASE, "erase", LOOK) \
	X(ERASE_NEXT, "erase-next", LOOK) X(ERASE_WORD, "erase-word", LOOK) \
	X(ERASE_WORD_NEXT, "erase-word-next", LOOK) X(ERASE_TO_START, "erase-to-start", LOOK) \
	X(ERASE_TO_END, "erase-to-end", LOOK) X(YANK, "yank", LOOK) \
	X(FIELD_UNDO, "undo-typing", LOOK) X(FIELD_REDO, "redo-typing", LOOK)

typedef enum rt_action {
	RT_ACT_NONE,
#define RT_ACTION_NAME(name, word, effect) RT_ACT_##name,
	RT_ACTIONS(RT_ACTION_NAME)
#undef RT_ACTION_NAME
	RT_ACT_COUNT
} rt_action;

enum {
	RT_KEYS_MAX = 4,            /* of an action on a screen */
	RT_KEYMAP_HELP_COLUMNS = 26 /* of the keys in help; then what they do */
};

/* A row of the table. On screens with a field (RT_SCREEN_CHAT, RT_SCREEN_DISCUSSIONS) the keys of
 * RT_SCREEN_FIELD work, too, and no key has different actions in both; a character ("?") is an action
 * only while the field is empty. */
typedef struct rt_key_row {
	rt_screen screen;
	rt_action action;
	const char *keys;   /* by default: words separated by blanks */
	const char *what;   /* for help and the docs: "go there" */
	const char *footer; /* one or two words; NULL: not in the footer */
} rt_key_row;
extern const rt_key_row rt_key_rows[]; /* ended by RT_ACT_NONE; footers in their order */

typedef struct rt_keymap rt_keymap;

RT_CHECKED rt_status rt_keymap_new(const rt_alloc *alloc, rt_keymap **out, rt_error *err);
void rt_keymap_free(rt_keymap *map);
/* Apply a file. RT_USAGE: invalid TOML, an unknown screen, action or key, or a key with two actions
 * on one screen; the message has the line and the nearest known word; the keymap is unchanged. */
RT_CHECKED rt_status rt_keymap_read(rt_keymap *map, rt_str toml, rt_error *err);
/* Do the keys of RT_SCREEN_FIELD work on the screen, too? */
bool rt_screen_has_field(rt_screen screen);
/* Does the key type a character on the screen, into a field or a search? In fields every character
 * does, elsewhere those without an action. */
bool rt_keymap_is_text(const rt_keymap *map, rt_screen screen, rt_key key);
/* The action of a key on a screen, else on RT_SCREEN_ANY. Screens with a field look it up between the
 * two: rt_keymap_action(map, RT_SCREEN_FIELD, key). */
rt_action rt_keymap_action(const rt_keymap *map, rt_screen screen, rt_key key);
/* The current keys of an action on a screen; returns how many. */
size_t rt_keymap_keys(const rt_keymap *map, rt_screen screen, rt_action action,
		      rt_key out[RT_KEYS_MAX]);
/* Append its first key for display ("Ctrl+O"), if it has one. */
void rt_keymap_add_key(const rt_keymap *map, rt_screen screen, rt_action action, rt_buf *buf);
const char *rt_screen_word(rt_screen screen);
const char *rt_action_word(rt_action action);
/* Can it be executed while a change is pending? */
bool rt_action_only_looks(rt_action action);
/* The whole table as Markdown: docs/keys.md. */
void rt_keymap_add_markdown(const rt_keymap *map, rt_buf *buf);
/* The screen's own keys, as lines of text after its title; applies (may be NULL): false: leave the
 * action out. */
void rt_keymap_add_screen(const rt_keymap *map, rt_screen screen,
			  bool (*applies)(void *ctx, rt_action action), void *ctx, rt_buf *buf);
/* The keys that work on a screen, as lines of text. RT_SCREEN_COUNT: of all screens. */
void rt_keymap_add_help(const rt_keymap *map, rt_screen screen, rt_buf *buf);

#endif
