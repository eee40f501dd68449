/* SPDX-License-Identifier: MIT
 *
 * Split: a source in Markdown cut into pieces that can be read one by one: the blocks of the
 * source are those of the first piece, then those of the second, and so on (link definitions
 * apart, which reach everywhere).
 *
 * It cuts only where that is certain from the lines before and the one behind the cut:
 *
 *     around a fenced block, a heading with #, a rule; before a line that a blank line and
 *     too little indentation keep from belonging to what is above
 *
 * A list is one piece, and where it is not certain whether a line belongs to a list, all that
 * might is. Threads: one at a time; O(size) for all pieces. */
#ifndef RT_MARKUP_SPLIT_H
#define RT_MARKUP_SPLIT_H

#include "base/text.h"

typedef struct rt_split_piece {
	size_t from, to;
	bool is_code;   /* one fenced block and nothing else */
	bool is_closed; /* it ends here, whatever is appended to the source */
} rt_split_piece;

typedef struct rt_split {
	rt_str text;
	size_t at; /* where the next piece begins */
} rt_split;

/* The next piece; false: there is none. Pieces join up and cover the text from split->at. */
bool rt_split_next(rt_split *split, rt_split_piece *out);

#endif
