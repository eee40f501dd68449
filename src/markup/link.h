/* SPDX-License-Identifier: MIT
 *
 * Link: which urls of a text may be followed.
 *
 * A url is judged as the most forgiving reader would read it: with its percent escapes
 * decoded as often as there are any, without control characters, blanks and characters that
 * are not seen. What is then not http, https, mailto or a #fragment is refused, and so is
 * what looks different before that ("https%3A//…"). What is written has only
 * A-Z a-z 0-9 - . _ ~ : / ? # [ ] @ ! $ & ( ) * + , ; = and %XX; control characters and blanks
 * at the ends are left out, everything else is escaped; the scheme is in lower case.
 *
 * Pure; O(size). */
#ifndef RT_MARKUP_LINK_H
#define RT_MARKUP_LINK_H

#include "base/text.h"

enum {
	RT_LINK_DECODE_MAX = 4 /* escapes within escapes; what has more is refused */
};

/* Append to out the url as it may be followed; false: it may not, and nothing was appended.
 * for_image: only http and https. scratch is overwritten; too little memory is in its status
 * and in out's, and then it is false. */
bool rt_link_add(rt_buf *out, rt_buf *scratch, rt_str url, bool for_image);

/* Where the url that text has at `at` ends, when a bare http:// or https:// url begins there;
 * else at. Signs that belong to the sentence are not in it. */
size_t rt_link_bare_end(rt_str text, size_t at);

#endif
