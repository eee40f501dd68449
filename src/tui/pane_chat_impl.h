/* SPDX-License-Identifier: MIT
 *
 * What the chat's files share: pane_chat.c has the view and the keys, chat_lay.c lays entries
 * out and keeps them. */
#ifndef RT_TUI_PANE_CHAT_IMPL_H
#define RT_TUI_PANE_CHAT_IMPL_H

#include "tui/pane.h"

enum {
	RT_CHAT_KEPT = 256,  /* layouts */
	RT_CHAT_MARKS = 4096
};

/* What a layout depends on besides the text and the columns. */
enum {
	RT_CHAT_COLLAPSED = 1,
	RT_CHAT_MUTED = 2,
	RT_CHAT_TOOLS = 4,
	RT_CHAT_THINKING = 8
};

/* An entry, laid out. */
typedef struct rt_chat_laid {
	uint32_t entry; /* 0: the reply in flight, or empty */
	uint64_t body;
	uint64_t value; /* work.value_change when label, role and kind were read */
	uint16_t role_number;
	int columns;
	unsigned look;
	bool is_partial;
	uint64_t used; /* when: the least is given up */
	rt_buf role, kind, label;
	rt_lines lines;
} rt_chat_laid;

/* Where takes part from the one at hand. */
typedef struct rt_chat_fork {
	size_t at;           /* position of the first entry that differs */
	unsigned which, of;  /* this take's is the second of three */
} rt_chat_fork;

typedef struct rt_chat {
	rt_pane pane;
	rt_field *field;
	int columns, rows;  /* of the entries, when they were drawn last */
	size_t top;         /* item at the top of the view … */
	int top_row;        /* … and how many of its rows are above it */
	bool follows;       /* the view is at the end, and stays there */
	bool selects;
	size_t sel;
	uint32_t sel_entry;
	uint32_t marks[RT_CHAT_MARKS];
	size_t mark_count;
	bool escaped, interrupted; /* once; the second time counts */
	rt_buf find;        /* what is looked for; marked in the texts */
	rt_chat_laid kept[RT_CHAT_KEPT];
	rt_chat_laid run;   /* the reply in flight */
	size_t run_size;    /* of its text, as it was laid out */
	uint64_t uses;
	rt_chat_fork *forks;
	size_t fork_count;
	uint64_t draft;      /* hash of what is kept; 0: nothing */
	uint32_t disc_drafted; /* whose it is */
	uint64_t value_seen;
	uint32_t disc_seen, take_seen;
} rt_chat;

void rt_chat_select(rt_chat *chat, size_t at);
/* The item (a position of the take; behind the last one: the reply in flight), laid out for
 * chat->columns. NULL: it cannot be read, or there is no memory. Lives until 100 others were
 * asked for. */
const rt_chat_laid *rt_chat_lay(rt_chat *chat, size_t item);
void rt_chat_forget(rt_chat *chat);
/* Fills in chat->forks. O(takes log entries). */
RT_CHECKED rt_status rt_chat_find_forks(rt_chat *chat);
/* Is what in text, whatever the case of ASCII letters? */
bool rt_chat_has(rt_str text, rt_str what);

#endif
