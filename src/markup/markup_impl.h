/* SPDX-License-Identifier: MIT
 *
 * What the files of markup share: the writer, which md4c's callbacks drive. */
#ifndef RT_MARKUP_MARKUP_IMPL_H
#define RT_MARKUP_MARKUP_IMPL_H

#include <md4c.h>

#include "markup/markup.h"
#include "markup/texts.h"

enum {
	/* Calls of md4c that a source may cause, for each byte and at the least. Every byte
	 * begins and ends at most a few things; cells that a short row of a wide table lacks are
	 * what goes beyond. */
	RT_MARKUP_CALLS = 16,
	RT_MARKUP_CALLS_SPARE = 4096,
	/* Lines times links of paragraphs, likewise. */
	RT_MARKUP_LINK_WORK = 256,
	RT_MARKUP_LINK_SPARE = 1 << 22,
	RT_MARKUP_COLUMNS_MAX = 128
};

/* What inlines are in, innermost last. */
typedef struct rt_markup_span {
	uint8_t type;        /* MD_SPANTYPE */
	bool is_written;     /* as an object, to be closed */
	bool is_url;         /* its text is its url */
	const char *url_ptr; /* a link's, where md4c gives the source itself */
	size_t url_size;
} rt_markup_span;

typedef struct rt_markup_writer {
	rt_buf *buf;
	rt_texts texts;     /* of what is open */
	rt_buf url;         /* decoded; scratch */
	rt_buf scratch;
	size_t start;       /* buf->size before us */
	size_t limit;
	size_t calls, calls_max;
	rt_status status;   /* RT_NOMEM or RT_LIMIT: nothing is written any more */
	bool is_muted;      /* only count */
	bool has_bracket;   /* a [ that is no link yet */

	/* Where blocks of the top level say that they come from: pieces of the source, and how
	 * many blocks each has. */
	size_t from, to;
	size_t blocks;      /* of the top level, so far */
	const struct rt_markup_part *parts; /* in turn, instead of from and to; or NULL */
	size_t part_count, part_at, part_blocks;

	/* Blocks with others in them. */
	uint8_t containers[RT_MARKUP_DEPTH_MAX]; /* MD_BLOCKTYPE */
	size_t depth;
	size_t depth_skipped; /* deeper ones, which are not written */
	bool in_leaf;         /* a block with inlines is open */
	bool is_implied;      /* a paragraph that md4c did not say, in a tight item */
	uint8_t leaf;         /* MD_BLOCKTYPE */
	uint8_t aligns[RT_MARKUP_COLUMNS_MAX];
	size_t columns;
	bool has_rows;        /* the table has a body */

	rt_markup_span spans[RT_MARKUP_DEPTH_MAX];
	size_t span_depth, spans_skipped;
	size_t images; /* open ones: inlines in them are texts */
} rt_markup_writer;

typedef struct rt_markup_part {
	size_t from, to;
	size_t blocks;
} rt_markup_part;

/* 0, or -1 to make md4c stop. */
int rt_markup_step(rt_markup_writer *w);

/* ---- inlines (markup_inline.c) ---- */

int rt_markup_enter_span(MD_SPANTYPE type, void *detail, void *ctx);
int rt_markup_leave_span(MD_SPANTYPE type, void *detail, void *ctx);
int rt_markup_text(MD_TEXTTYPE type, const MD_CHAR *ptr, MD_SIZE size, void *ctx);
/* Close what md4c left open, and the string. */
void rt_markup_end_spans(rt_markup_writer *w);
/* Begin a paragraph where there is none. */
void rt_markup_need_leaf(rt_markup_writer *w);
/* An attribute of md4c with its entities decoded, into w->url. */
void rt_markup_attribute(rt_markup_writer *w, const MD_ATTRIBUTE *attribute);

#endif
