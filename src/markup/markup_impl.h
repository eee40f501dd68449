/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of markup: the writer, which md4c's callbacks drive. */
#ifndef RT_MARKUP_MARKUP_IMPL_H
#define RT_MARKUP_MARKUP_IMPL_H

#include <md4c.h>

#include "markup/markup.h"
#include "markup/texts.h"

enum {
	/* Callbacks of md4c that a source may cause, per byte and at least. Every byte begins and
	 * ends at most a few elements; the missing cells of a short row in a wide table are the
	 * exception. */
	RT_MARKUP_CALLS = 16,
	RT_MARKUP_CALLS_SPARE = 4096,
	/* Lines times links of paragraphs, likewise. */
	RT_MARKUP_LINK_WORK = 256,
	RT_MARKUP_LINK_SPARE = 1 << 22,
	RT_MARKUP_COLUMNS_MAX = 128
};

/* ---- math and footnotes (mask.c) ---- */

typedef enum rt_mask_kind { RT_MASK_MATH, RT_MASK_DISPLAY, RT_MASK_REF, RT_MASK_NOTE } rt_mask_kind;

/* Bytes of the source that md4c does not see. */
typedef struct rt_mask {
	size_t from, to;
	size_t begin; /* <= from: where it begins in the source */
	rt_mask_kind kind;
} rt_mask;

/* In the order of the source, not overlapping. */
typedef struct rt_masks {
	const rt_alloc *alloc;
	rt_mask *items;
	size_t count, room;
	rt_status status;
} rt_masks;

/* Finds them in text, and masks them in copy, which has the same bytes. */
void rt_masks_find(rt_masks *masks, rt_str text, char *copy);
/* The first that ends after a byte; NULL: none. */
const rt_mask *rt_masks_at(const rt_masks *masks, size_t at);

/* The elements around inlines, innermost last. */
typedef struct rt_markup_span {
	uint8_t type;        /* MD_SPANTYPE */
	bool is_written;     /* as an object, to be closed */
	bool is_url;         /* its text is its url */
	const char *url_ptr; /* a link's, where md4c gives the source itself */
	size_t url_size;
} rt_markup_span;

typedef struct rt_markup_writer {
	rt_buf *buf;
	rt_texts texts;     /* of the open array */
	rt_buf url;         /* decoded; scratch */
	rt_buf scratch;
	rt_buf source;      /* that md4c reads */
	rt_str original;    /* the same before it was masked */
	rt_masks masks;
	const rt_mask *mask; /* the math that is being written; or NULL */
	size_t start;       /* buf->size before us */
	size_t limit;
	size_t calls, calls_max;
	rt_status status;   /* RT_NOMEM or RT_LIMIT: nothing is written any more */
	bool is_muted;      /* only count */
	bool has_bracket;   /* a [ that is not a link yet */

	/* The ranges of the source of top-level blocks: pieces, and the number of blocks of
	 * each. */
	size_t from, to;
	size_t blocks;      /* of the top level, so far */
	const struct rt_markup_part *parts; /* in turn, instead of from and to; or NULL */
	size_t part_count, part_at, part_blocks;

	/* Blocks with others in them. */
	uint8_t containers[RT_MARKUP_DEPTH_MAX]; /* MD_BLOCKTYPE */
	size_t depth;
	size_t depth_skipped; /* deeper ones, which are not written */
	bool in_leaf;         /* a block with inlines is open */
	bool is_implied;      /* a paragraph that md4c did not report, in a tight item */
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
/* Closes everything that md4c left open, and the string. */
void rt_markup_end_spans(rt_markup_writer *w);
/* Begin a paragraph where there is none. */
void rt_markup_need_leaf(rt_markup_writer *w);
/* An attribute of md4c with its entities decoded, into w->url. */
void rt_markup_attribute(rt_markup_writer *w, const MD_ATTRIBUTE *attribute);

/* ---- pieces (split.c) ---- */

/* A source in Markdown cut into pieces that can be read one by one: the blocks of the source are
 * those of the first piece, then those of the second, and so on (link definitions apart, which
 * reach everywhere).
 *
 * It is cut only where the lines before and the one after the cut prove that this is possible:
 *
 *     around a fenced block, a heading with #, a rule; before a line that a blank line and
 *     too little indentation keep from belonging to the lines above
 *
 * A list is one piece, including all lines that might belong to it. One thread at a time; O(size)
 * for all pieces. */
typedef struct rt_split_piece {
	size_t from, to;
	bool is_code;   /* one fenced block and nothing else */
	bool is_closed; /* it ends here, whatever is appended to the source */
} rt_split_piece;

typedef struct rt_split {
	rt_str text;
	size_t at; /* where the next piece begins */
} rt_split;

/* The next piece; false: none. Pieces are adjacent and cover the text from split->at. */
bool rt_split_next(rt_split *split, rt_split_piece *out);

/* ---- links (link.c) ---- */

/* Which urls may be followed. A url is judged as the most forgiving reader would read it: with
 * its percent escapes decoded as often as there are any, without control characters, blanks and
 * invisible characters. A url is refused if the result is not http, https, mailto or a #fragment, or
 * if its scheme is only visible after decoding ("https%3A//…"). The written url has only A-Z a-z 0-9
 * - . _ ~ : / ? # [ ] @ ! $ & ( ) * + , ; = and %XX; control characters and blanks at the ends are
 * left out, everything else is escaped; the scheme is in lower case. O(size). */
enum {
	RT_LINK_DECODE_MAX = 4 /* escapes within escapes; a url with more is refused */
};

/* Appends the url to out in the form that may be followed; false: it may not be followed, and
 * nothing was appended. for_image: only http and https. scratch is overwritten; too little memory
 * is in its status and in out's, and then it is false. */
bool rt_link_add(rt_buf *out, rt_buf *scratch, rt_str url, bool for_image);

/* Where the url that text has at `at` ends, when a bare http:// or https:// url begins there;
 * else at. Punctuation of the sentence is not part of it. */
size_t rt_link_bare_end(rt_str text, size_t at);

#endif
