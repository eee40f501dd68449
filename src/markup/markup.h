/* SPDX-License-Identifier: MIT
 *
 * Markup: Markdown as a tree of blocks, for the web, the HTML export and the terminal.
 *
 * md4c reads it (CommonMark, tables, strikethrough, task lists); the result is JSON and never HTML.
 * Raw HTML is text. All programs that show it rely on this form:
 *
 *     blocks   [block, …]
 *     block    {"t":"p","c":inlines}                   paragraph
 *              {"t":"h","n":1…6,"c":inlines}           heading
 *              {"t":"pre","lang":"c++","c":texts}      code; each line ends with a line end
 *              {"t":"quote","c":blocks}
 *              {"t":"ul","tight":true,"c":items}
 *              {"t":"ol","start":1,"tight":true,"c":items}
 *              {"t":"table","head":[inlines, …],"align":["left"|"center"|"right"|null, …],
 *                           "rows":[[inlines, …], …]}
 *              {"t":"hr"}
 *              {"t":"thinking","c":texts}              from rt_markup_parts only
 *     items    [{"t":"li","c":blocks}, {"t":"li","task":true,"done":false,"c":blocks}, …]
 *     inlines  [inline, …]
 *     inline   "text"                                  "\n" in it is a soft line end
 *              {"t":"em"|"strong"|"del","c":inlines}
 *              {"t":"code","c":texts}
 *              {"t":"a","href":"https://…","title":texts,"c":inlines}
 *              {"t":"img","src":"https://…","title":texts,"alt":texts}
 *              {"t":"br"}                              a hard line end
 *              {"t":"math","c":texts}                  TeX with its delimiters, as written;
 *                                                      "display":true: on a separate line
 *              {"t":"ref","id":"1","c":["[^1]"]}       refers to a footnote
 *              {"t":"note","id":"1","c":["[^1]:"]}     begins one: first in an item of a list
 *              {"t":"ctl","cp":"202E"}
 *     texts    [text, …]
 *     text     "text" | {"t":"ctl","cp":"202E"}
 *
 * "lang" and "title" may be missing. Blocks, not those inside others, have "at":[from,to]:
 * the bytes of the source that they came from. Neighbours that cannot be separated without
 * parsing them may have the same bytes; otherwise ranges never overlap, and they increase.
 *
 * Guarantees for any source:
 *
 * - It is valid JSON and UTF-8; a byte that is not UTF-8 is U+FFFD.
 * - "href" begins with http://, https://, mailto: or #, "src" with http:// or https://, in
 *   lower case, and has only characters that are valid in urls (link.h). A link or an image to
 *   anything else is its text, with the url after it in brackets. Images must not be loaded
 *   automatically: show a link.
 * - "id" has only letters, digits and _ -, at most 32. A ref has a note in the same text.
 * - Math is $…$ by the rules of pandoc ("$5 and $6" is not math), $$…$$, \(…\) and \[…\], without
 *   an empty line in it and not in code. Programs that cannot show math show "c".
 * - "lang" has only letters, digits and _ + - . #, at most 32.
 * - In "text" there are no control characters but line end and tab, and none that change how other
 *   text is read: each of these is a "ctl" with its code point in hex. They are U+0000 to U+001F,
 *   U+007F to U+009F, U+202A to U+202E, U+2066 to U+206F, U+FFF9 to U+FFFB and the tags U+E0000
 *   to U+E007F.
 * - Blocks inside each other, and inlines, nest RT_MARKUP_DEPTH_MAX deep; deeper ones are shown at
 *   that depth, without their marks.
 *
 * md4c takes memory from the C library and not from an allocator that it is given; running out of
 * it is RT_NOMEM, as everywhere here. Pure functions; O(size). */
#ifndef RT_MARKUP_MARKUP_H
#define RT_MARKUP_MARKUP_H

#include "base/text.h"

enum {
	RT_MARKUP_DEPTH_MAX = 64,
	RT_MARKUP_TEXT_MAX = 1 << 28, /* bytes of a source */
	RT_MARKUP_LANG_MAX = 32,
	RT_MARKUP_LABEL_MAX = 32, /* of a footnote */
	/* The result has at most this many times the size of the source, plus RT_MARKUP_SPARE.
	 * Texts written by people stay below 4; control characters and empty headings reach 24. */
	RT_MARKUP_GROWTH = 32,
	RT_MARKUP_SPARE = 4096
};

typedef struct rt_markup_options {
	/* Only the blocks from this byte on: 0, or the *out_stable of an earlier text that is the
	 * beginning of this one. The bytes before it cost nothing. */
	size_t from;
	/* Limit of the result, in bytes; 0: as above. */
	size_t limit;
	/* Read in one piece: all blocks have the same bytes and nothing is stable. */
	bool is_whole;
} rt_markup_options;

/* Append the blocks of text to buf, as a JSON array. options may be NULL.
 *
 * *out_stable (may be NULL) is for text that is still being written: the blocks that end at or
 * before this byte do not change, whatever is appended, and the rest can be rendered alone with it
 * as options.from. It is before the first block that a later definition ("[1]: https://…") could
 * change, and before the first definition.
 *
 * RT_LIMIT: text is longer than RT_MARKUP_TEXT_MAX, or the result exceeds the limit (a wide table
 * with many short rows, one long url that is referred to often), or one paragraph has thousands of
 * lines with links; show rt_markup_plain then. RT_NOMEM. On failure nothing was appended. */
RT_CHECKED rt_status rt_markup_blocks(rt_buf *buf, rt_str text, const rt_markup_options *options,
				      size_t *out_stable, rt_error *err);

/* The same for a whole text of a model (codec/thinking.h): thinking between tags is one block, and
 * the prose around it is rendered separately. is_cut: as rt_thinking has is_open_end. */
RT_CHECKED rt_status rt_markup_parts(rt_buf *buf, rt_str text, bool is_cut, rt_error *err);

/* Append the text unchanged: one "pre" in an array, or an empty array. */
void rt_markup_plain(rt_buf *buf, rt_str text);

#endif
