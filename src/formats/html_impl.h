/* SPDX-License-Identifier: MIT
 *
 * HTML: one file that shows everything in any browser, without a network and without Retake, and
 * that can be imported again.
 *
 *   <!doctype html>
 *   <html lang="en">
 *   <head>
 *   <meta charset="utf-8">
 *   <meta http-equiv="Content-Security-Policy" content="default-src 'none'; …">
 *   <meta name="generator" content="Retake html 2">         identifies such a file
 *   …<title>…</title><style>…</style>
 *   </head>
 *   <body>
 *   <script type="application/json" id="retake-first">…</script>      in large pages only
 *   <script>…</script>                    web/export_page.tsx
 *   <noscript><main id="page">…           the active takes as text, for those without script:
 *   …</main></noscript>                   plain text for other readers, without elements
 *   <script type="application/json" id="retake-data">…</script>
 *   <script type="application/json" id="retake-edited">…</script>     where there are such
 *   <script type="application/json" id="retake-alternatives">…</script>  where there are such
 *   <script type="application/json" id="retake-blocks-0-0">…</script>…
 *   <script>…</script>                    web/math_lib.ts, where the blocks contain math
 *   </body>
 *   </html>
 *
 * retake-data is the shorter form of the canonical one (canonical_impl.h); imports read it. Pages
 * of version 1 had the canonical form. retake-blocks-D-K has the blocks (src/markup) of the texts
 * of discussion D, entries from number K × HTML_CHUNK on, so that a page parses only the visible
 * ones:
 *
 *   [NODE…]
 *
 *   NODE    the blocks of an entry (markup.h), or, where its content is an array, an array
 *           with the blocks of each text in it; null: shown unchanged
 *
 * retake-edited has for each discussion the numbers of the entries whose content was edited after
 * they were written (C42), so that edited replies are not mistaken for the model's own text:
 * [[NUMBER…]…]. It is read back.
 *
 * retake-alternatives has for each discussion the entries to which the page of one take leaves out
 * alternatives, with their number: [[[NUMBER,COUNT]…]…]. It is not read back.
 *
 * retake-first repeats the end of the take that is shown first, so that it is visible while the
 * rest is being parsed; absent if the head is elsewhere:
 *
 *   {"before":N,"edited":[[NUMBER…]],"blocks":[NODE…],"data":…}
 *
 * N entries of the take come before; edited, if there are any, and data as above.
 *
 * In all of them "<" and U+2028, U+2029 are escaped, so that their content cannot end the element
 * or begin another. In text, HTML's special characters are written as references, and no attribute
 * contains conversation data. The policy allows only these scripts, by their hashes, and no loads. */
#ifndef RT_FORMATS_HTML_IMPL_H
#define RT_FORMATS_HTML_IMPL_H

#include "formats/formats_writer.h"

#define HTML_GENERATOR "<meta name=\"generator\" content=\"Retake html 2\">"
#define HTML_GENERATOR_1 "<meta name=\"generator\" content=\"Retake html 1\">"
#define HTML_DATA "<script type=\"application/json\" id=\"retake-data\">"
#define HTML_FIRST "<script type=\"application/json\" id=\"retake-first\">"
#define HTML_EDITED "<script type=\"application/json\" id=\"retake-edited\">"
#define HTML_ALTERNATIVES "<script type=\"application/json\" id=\"retake-alternatives\">"
#define HTML_BLOCKS "<script type=\"application/json\" id=\"retake-blocks-%zu-%zu\">"
#define HTML_END "</script>"

enum {
	HTML_STATIC_MAX = 20000, /* entries shown without script, of all discussions */
	HTML_CHUNK = 8192,   /* entries with their blocks in one element; web/export_data.ts */
	HTML_MANY = 5000,    /* entries of all discussions: from this number on, the last ones are
			      * written first */
	HTML_FIRST_MAX = 30, /* those */
	HTML_FIRST_BYTES = 256 << 10 /* of their element; but one entry is included, however large
				      * it is */
};

rt_status rt_html_write(const rt_alloc *alloc, const rt_outlines *in,
			const rt_export_options *options, rt_buf *out, rt_error *err);

/* Parts of a page, for tests, too. Each begins with the first discussion of the writer. */
/* Append the content of <main>. */
void rt_html_add_static(rt_writer *w);
/* Append the elements for the script, as drawn above: the end of the first take, if the page has
 * one; the blocks. */
void rt_html_add_first(rt_writer *w);
void rt_html_add_blocks(rt_writer *w);

#endif
