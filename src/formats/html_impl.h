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
 *   <meta name="generator" content="Retake html 2">         how such a file is known
 *   …<title>…</title><style>…</style>
 *   </head>
 *   <body>
 *   <script type="application/json" id="retake-first">…</script>      in large pages only
 *   <script>…</script>                    web/export_page.tsx
 *   <noscript><main id="page">…           the active takes as text, for those without script:
 *   …</main></noscript>                   one text to others, which make no elements of it
 *   <script type="application/json" id="retake-data">…</script>
 *   <script type="application/json" id="retake-edited">…</script>     where there are such
 *   <script type="application/json" id="retake-blocks-0-0">…</script>…
 *   </body>
 *   </html>
 *
 * retake-data is the shorter form of the canonical one (canonical_impl.h); this is what is
 * read. Pages of version 1 had the canonical form. retake-blocks-D-K has what src/markup
 * makes of the texts of discussion D, of the entries with the numbers from K × HTML_CHUNK,
 * so that a page takes apart only what is looked at:
 *
 *   [NODE…]
 *
 *   NODE    the blocks of an entry (markup.h), or, where its content is an array, an array
 *           with the blocks of each text in it; null: shown as it stands
 *
 * retake-edited has for each discussion the numbers of the entries whose content was another
 * when they were written (C42), so that nobody takes an edited reply for the model's words:
 * [[NUMBER…]…]. It is read back.
 *
 * retake-first has the end of the take that is shown first once more, so that it is seen while
 * the rest is still being read; where the head is elsewhere there is none:
 *
 *   {"before":N,"edited":[[NUMBER…]],"blocks":[NODE…],"data":…}
 *
 * N entries of the take come before; edited, where there are such, and data as above.
 *
 * In all, "<" and U+2028, U+2029 are written as escapes, so that nothing in them can end
 * their element or begin another. In the text, all that HTML would see is written as a
 * reference, and nothing of a conversation stands in an attribute. The policy lets nothing
 * run but the one script, by its hash, and lets nothing be loaded. */
#ifndef RT_FORMATS_HTML_IMPL_H
#define RT_FORMATS_HTML_IMPL_H

#include "base/scope.h"
#include "formats/formats_build.h"
#include "formats/formats_writer.h"

#define HTML_GENERATOR "<meta name=\"generator\" content=\"Retake html 2\">"
#define HTML_GENERATOR_1 "<meta name=\"generator\" content=\"Retake html 1\">"
#define HTML_DATA "<script type=\"application/json\" id=\"retake-data\">"
#define HTML_FIRST "<script type=\"application/json\" id=\"retake-first\">"
#define HTML_EDITED "<script type=\"application/json\" id=\"retake-edited\">"
#define HTML_BLOCKS "<script type=\"application/json\" id=\"retake-blocks-%zu-%zu\">"
#define HTML_END "</script>"

enum {
	HTML_STATIC_MAX = 20000, /* entries shown without script, of all discussions */
	HTML_CHUNK = 8192,   /* entries whose blocks stand together; web/export_data.ts knows it */
	HTML_MANY = 5000,    /* entries of all discussions: from here on some are written first */
	HTML_FIRST_MAX = 30, /* those */
	HTML_FIRST_BYTES = 256 << 10 /* of their element; but one is there, however large it is */
};

/* A discussion as the page numbers it. */
typedef struct rt_html_discussion {
	const rt_outline *outline;
	const rt_outline_take *take; /* the active one; NULL: there is none */
	int64_t *nodes;              /* by number: those of its takes, each once */
	size_t node_count;
} rt_html_discussion;

/* A page being written. */
typedef struct rt_html_page {
	rt_scope scope;
	rt_arena *arena; /* for rt_outline_takes_of */
	const rt_outlines *in;
	rt_html_discussion *discussions; /* in->count of them */
	rt_buf *out;
	rt_buf *body, *text, *json; /* scratch; body: of the entry being written */
} rt_html_page;

rt_status rt_html_read(const rt_alloc *alloc, rt_str input, rt_outlines *out, rt_report *report,
		       rt_error *err);
rt_status rt_html_stream(const rt_alloc *alloc, const rt_input *in, rt_outlines_fn fn, void *ctx,
			 rt_report *report, rt_error *err);
rt_status rt_html_write(const rt_alloc *alloc, const rt_outlines *in,
			const rt_export_options *options, rt_buf *out, rt_error *err);

/* Every begin is followed by end, which says how it went. */
void rt_html_page_begin(rt_html_page *page, const rt_alloc *alloc, const rt_outlines *in,
			rt_buf *out);
RT_CHECKED rt_status rt_html_page_end(rt_html_page *page, rt_error *err);

/* Append the content of <main>. */
void rt_html_add_static(rt_html_page *page);
/* Append the elements for the script, as drawn above: the end of the first take, where the page
 * has one; the numbers of the entries that were edited, where some were; the blocks. */
void rt_html_add_first(rt_html_page *page);
void rt_html_add_edited(rt_html_page *page);
void rt_html_add_blocks(rt_html_page *page);
/* Append text so that it is text in HTML, whatever is in it. */
void rt_html_add_text(rt_buf *out, rt_str text);
/* Append JSON so that it can be in an element. */
void rt_html_add_json(rt_buf *out, rt_str json);

#endif
