/* SPDX-License-Identifier: MIT
 *
 * Slash commands that show something on a separate screen: the takes of the discussion, the
 * differences of two of them, the next request; and the system prompt, which can be edited. */
#ifndef RT_TUI_SLASH_SHOW_H
#define RT_TUI_SLASH_SHOW_H

#include "tui/pane.h"

/* /branches and /takes: choose a take, to switch to it or to compare it with the one in view; with a
 * name, switch to that. */
RT_CHECKED rt_status rt_slash_branches(rt_tui *tui, rt_action action, rt_str name);
/* /rename-take: the take in view; without a name it is asked for. */
RT_CHECKED rt_status rt_slash_rename_take(rt_tui *tui, rt_action action, rt_str name);
/* /diff: with the other take, or a chosen one. */
RT_CHECKED rt_status rt_slash_diff(rt_tui *tui, rt_action action, rt_str rest);
/* /context: the parts of the next request, and their tokens. */
RT_CHECKED rt_status rt_slash_context(rt_tui *tui, rt_action action, rt_str rest);
/* /system: edit the instructions of the project. */
RT_CHECKED rt_status rt_slash_system(rt_tui *tui, rt_action action, rt_str rest);

/* ---- lists with numbered rows ---- */

/* What the rows of a list are that begin with a number, from 1: entries, or takes. */
enum { RT_PICK_ITEMS_MAX = 2000 };
typedef struct rt_pick_items {
	char name[300]; /* of the object to be made; may be empty */
	size_t count;
	uint32_t items[RT_PICK_ITEMS_MAX];
} rt_pick_items;
rt_pick_items *rt_pick_items_new(rt_tui *tui, rt_str name); /* NULL: out of memory */
void rt_pick_items_free(rt_tui *tui, void *items);          /* NULL is fine */
/* The item of the chosen row; 0: none. */
uint32_t rt_pick_items_at(const rt_pick_items *items, rt_str answer);

#endif
