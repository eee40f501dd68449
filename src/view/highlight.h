/* SPDX-License-Identifier: MIT
 *
 * Highlight: what matched in the snippets of a search, for people and for programs. */
#ifndef RT_VIEW_HIGHLIGHT_H
#define RT_VIEW_HIGHLIGHT_H

#include "codec/json.h"

/* The next run of a snippet (rt_view_search) that matched as a whole or did not: *inside says
 * which, *out borrows from the snippet, which becomes the rest. false: there is none. Begin
 * with *inside false. */
bool rt_highlight_next(rt_str *snippet, bool *inside, rt_str *out);

/* The hits of rt_view_search as the contract has them: each snippet as it stands in the text,
 * and beside it "marks", [[start,size],…] in code points. alloc: for scratch. */
void rt_highlight_add_hits(const rt_alloc *alloc, yyjson_val *hits, rt_buf *buf);

#endif
