/* SPDX-License-Identifier: MIT
 *
 * What the chat's files share: pane_chat.c has the view and the keys, chat_layout.c lays entries
 * out and keeps them. */
#ifndef RT_TUI_PANE_CHAT_IMPL_H
#define RT_TUI_PANE_CHAT_IMPL_H

#include "tui/pane.h"
#include "tui/text_search.h"

enum {
	RT_CHAT_KEPT = 256,  /* layouts */
	RT_CHAT_MARKS = 4096
};

/* What a layout depends on besides the text and the columns. */
enum {
	RT_CHAT_COLLAPSED = 1,
	RT_CHAT_MUTED = 2,
	RT_CHAT_TOOLS = 4,
	RT_CHAT_THINKING = 8,
	RT_CHAT_EDITED = 16
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
	const rt_lines *more; /* rows below them; or NULL */
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
	bool points;        /* sel is marked, and what keys act on; letters are written */
	size_t sel;
	uint32_t sel_entry;
	uint32_t marks[RT_CHAT_MARKS];
	size_t mark_count;
	int slash_top;      /* commands that could be meant: the first that is shown */
	int slash_more;     /* how many more of them there are than rows */
	bool escaped, interrupted; /* once; the second time counts */
	rt_buf sent;        /* the question that was sent last; empty: what there was is answered */
	uint32_t sent_from; /* entries from this number on were not there then */
	bool has_sent;      /* the field has what was sent before the program began */
	uint64_t epoch;     /* work.epoch */
	rt_buf find;        /* what is looked for; marked in the texts */
	rt_text_search search; /* for the next of these */
	rt_chat_laid kept[RT_CHAT_KEPT];
	rt_chat_laid run;   /* the reply in flight */
	rt_lines_stream run_stream; /* its text */
	size_t run_size, run_thought; /* bytes of it, and of what was thought, as they were laid out */
	char run_name[24];  /* which run that is */
	bool run_is_unsent; /* and that it is the question still */
	uint64_t uses;
	rt_chat_fork *forks;
	size_t fork_count;
	rt_buf draft;        /* what is kept in its file, as far as it is ours; empty: nothing */
	unsigned purge_looks; /* that are still to be taken at it, for what a purge takes out */
	uint32_t disc_drafted; /* whose it is */
	uint64_t value_seen;
	uint32_t disc_seen, take_seen;
} rt_chat;

void rt_chat_select(rt_chat *chat, size_t at);
/* The item (a position of the take; behind the last one: the reply in flight), laid out for
 * chat->columns. NULL: it cannot be read, or there is no memory. Lives until 100 others were
 * asked for. */
const rt_chat_laid *rt_chat_layout(rt_chat *chat, size_t item);
void rt_chat_forget(rt_chat *chat);
/* A question is on its way, and is no entry yet: another program may be writing to the store. */
bool rt_chat_is_unsent(const rt_chat *chat);
/* Is that an entry which is hidden from people? It has no rows. */
bool rt_chat_hides(rt_chat *chat, size_t item);
/* The nearest entry of the take that is not hidden: at, else from there back (by -1) or on (by 1),
 * else the other way; at where all are hidden. */
size_t rt_chat_visible(rt_chat *chat, size_t at, int by);
/* Rows of its text. */
static inline size_t
rt_chat_rows(const rt_chat_laid *laid)
{
	return laid->lines.count + (laid->more == NULL ? 0 : laid->more->count);
}
/* Fills in chat->forks. O(takes log entries). */
RT_CHECKED rt_status rt_chat_find_forks(rt_chat *chat);

#endif
