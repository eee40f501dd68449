/* SPDX-License-Identifier: MIT
 *
 * Keymap: the one table of what keys do. The screen of all keys, the footers, `retake help
 * keys` and docs/keys.md are made from it; the file keys.toml changes it:
 *
 *     [tree]
 *     delete = "ctrl+x"            one key, or
 *     undo = ["alt+u", "f8"]       several; [] takes an action's keys away
 *
 * The same key may mean something else on another screen; on one screen it means one thing.
 *
 * Threads: read from any. */
#ifndef RT_TUI_KEYMAP_H
#define RT_TUI_KEYMAP_H

#include "tui/key.h"

typedef enum rt_screen {
	RT_SCREEN_ANY,  /* wherever the screen itself has no use for the key */
	RT_SCREEN_CHAT,
	RT_SCREEN_ENTRY, /* in the chat, an entry is selected */
	RT_SCREEN_TREE,
	RT_SCREEN_HISTORY,
	RT_SCREEN_DISCUSSIONS,
	RT_SCREEN_READER, /* a long text: help, an entry, what a command said */
	RT_SCREEN_FIELD,  /* wherever something is written */
	RT_SCREEN_COUNT
} rt_screen;

/* X(name, word): what an action is called here and in keys.toml. What it means may differ a
 * little by screen; the table (keymap.c) says so in words for each. */
#define RT_ACTIONS(X)                                                                          \
	X(UP, "up") X(DOWN, "down") X(PAGE_UP, "page-up") X(PAGE_DOWN, "page-down")                \
	X(HOME, "first") X(END, "last") X(LEFT, "left") X(RIGHT, "right")                          \
	X(SEGMENT_UP, "segment-up") X(SEGMENT_DOWN, "segment-down")                                \
	X(ACCEPT, "accept") X(CANCEL, "cancel") X(CLEAR, "clear") X(QUIT, "quit")                  \
	X(SUSPEND, "suspend")                                                                      \
	X(FILTER_DEFAULT, "filter-default") X(FILTER_USER, "filter-user")                          \
	X(FILTER_ALL, "filter-all") X(FILTER_NO_TOOLS, "filter-no-tools")                          \
	X(FILTER_LABELED, "filter-labeled") X(FILTER_NEXT, "filter-next")                          \
	X(SEARCH, "search") X(FIND_NEXT, "find-next") X(FIND_PREVIOUS, "find-previous")            \
	X(MARK, "mark") X(MARK_NONE, "mark-none") X(FOLD_ALL, "fold-all")                          \
	X(EDIT, "edit") X(EDIT_AS_TAKE, "edit-as-take") X(EDITOR, "editor")                        \
	X(INSERT_BEFORE, "insert-before") X(INSERT_AFTER, "insert-after") X(ROLE, "role")          \
	X(DELETE, "delete") X(DELETE_BELOW, "delete-below") X(MOVE, "move") X(GRAFT, "graft")      \
	X(PROMOTE, "promote") X(LABEL_TIMES, "label-times")                                          \
	X(BRANCH, "branch") X(MUTE, "mute") X(LABEL, "label") X(COPY, "copy")                      \
	X(COPY_PATH, "copy-path") X(SPLIT, "split") X(MERGE, "merge") X(VERSIONS, "versions")      \
	X(TAKE_PREVIOUS, "take-previous") X(TAKE_NEXT, "take-next") X(AGAIN, "again")              \
	X(CONTINUE, "continue") X(UNDO, "undo") X(REDO, "redo") X(REVERT, "revert")                \
	X(TREE, "tree") X(HISTORY, "history") X(DISCUSSIONS, "discussions")                        \
	X(PALETTE, "palette") X(HELP, "help") X(MODEL, "model") X(EXPORT, "export")                \
	X(COMPACT, "compact") X(PROMPT, "prompt") X(RENAME, "rename") X(NEW, "new")                \
	X(PREVIEW, "preview") X(TOOLS, "tools") X(THINKING, "thinking") X(COLLAPSE, "collapse")    \
	X(SELECT, "select") X(LAST_USER, "edit-last") X(REDRAW, "redraw")                          \
	X(NEWLINE, "newline") X(COMPLETE, "complete") X(WORD_LEFT, "word-left")                    \
	X(WORD_RIGHT, "word-right") X(LINE_START, "line-start") X(LINE_END, "line-end")            \
	X(TEXT_START, "text-start") X(TEXT_END, "text-end")                                        \
	X(ERASE, "erase") X(ERASE_NEXT, "erase-next") X(ERASE_WORD, "erase-word")                  \
	X(ERASE_WORD_NEXT, "erase-word-next") X(ERASE_TO_START, "erase-to-start")                  \
	X(ERASE_TO_END, "erase-to-end") X(YANK, "yank") X(FIELD_UNDO, "undo-typing")               \
	X(FIELD_REDO, "redo-typing")

typedef enum rt_action {
	RT_ACT_NONE,
#define RT_ACTION_NAME(name, word) RT_ACT_##name,
	RT_ACTIONS(RT_ACTION_NAME)
#undef RT_ACTION_NAME
	RT_ACT_COUNT
} rt_action;

enum { RT_KEYS_MAX = 4 /* of an action on a screen */ };

/* A row of the table. Where something is written (RT_SCREEN_CHAT, RT_SCREEN_DISCUSSIONS) the keys
 * of RT_SCREEN_FIELD work as well, and no key is in both for different actions; a character among
 * them ("?") is an action only while nothing is written. */
typedef struct rt_key_row {
	rt_screen screen;
	rt_action action;
	const char *keys;   /* as it comes: words with blanks between them */
	const char *what;   /* for the screen of all keys and the docs: "go there" */
	const char *footer; /* in one word or two; or NULL: not in the footer */
} rt_key_row;
extern const rt_key_row rt_key_rows[]; /* ended by RT_ACT_NONE; footers in their order */

typedef struct rt_keymap rt_keymap;

RT_CHECKED rt_status rt_keymap_new(const rt_alloc *alloc, rt_keymap **out, rt_error *err);
void rt_keymap_free(rt_keymap *map);
/* Changes it by a file as above. RT_USAGE: no TOML, no such screen, action or key, or a key
 * twice on one screen, with line and what may have been meant; then it is as it was. */
RT_CHECKED rt_status rt_keymap_read(rt_keymap *map, rt_str toml, rt_error *err);
/* Is it a screen where the keys of RT_SCREEN_FIELD work, too? */
bool rt_screen_has_field(rt_screen screen);
/* Is the key a character that the screen writes or searches for? Where something is written
 * already every character is; elsewhere those that are no action's key. */
bool rt_keymap_is_text(const rt_keymap *map, rt_screen screen, rt_key key);
/* What a key does on a screen: as that screen says, else as RT_SCREEN_ANY says. A field is asked
 * by who has it, between the two: rt_keymap_action(map, RT_SCREEN_FIELD, key). */
rt_action rt_keymap_action(const rt_keymap *map, rt_screen screen, rt_key key);
/* The keys of an action on a screen, as they are now; gives how many. */
size_t rt_keymap_keys(const rt_keymap *map, rt_screen screen, rt_action action,
		      rt_key out[RT_KEYS_MAX]);
/* Its first key as a short word, appended; nothing: it has none. */
void rt_keymap_add_key(const rt_keymap *map, rt_screen screen, rt_action action, rt_buf *buf);
const char *rt_screen_word(rt_screen screen);
const char *rt_action_word(rt_action action);
/* All of it as Markdown: docs/keys.md. */
void rt_keymap_add_markdown(const rt_keymap *map, rt_buf *buf);
/* One screen and what works there besides, as lines of text: keys and what they do.
 * RT_SCREEN_COUNT: all screens. */
void rt_keymap_add_help(const rt_keymap *map, rt_screen screen, rt_buf *buf);

#endif
