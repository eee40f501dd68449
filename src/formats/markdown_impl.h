/* SPDX-License-Identifier: MIT
 *
 * Markdown: the format shared by reader and writer, in two forms.
 *
 * Plain, for reading, and also written by other programs:
 *
 *   # Title
 *
 *   *Take: main_take_2*
 *
 *   ## User · 2026-11-21T20:35:40Z
 *
 *   Which one is faster?
 *
 *   ## AI · 2026-11-21T20:35:42Z · muted
 *
 * A line names a speaker (is a heading) when it is of level 2 with a dot, as above, or a
 * heading of any level, or bold text, that is one of the usual names: "### Assistant",
 * "**User:** hello". A line of content that looks like one gets a backslash before it.
 * Several discussions in a file have MARKDOWN_BREAK before each.
 *
 * Lossless: the same, with a comment before every discussion and every entry that counts
 * the bytes of the content, so that no content can be mistaken:
 *
 *   <!-- retake: {"own":2,"discussion":{…}} -->
 *   # Title
 *
 *   <!-- retake: {"n":0,"bytes":9,"entry":{…}} -->
 *   ## User · 2026-11-21T20:35:40Z
 *
 *   Which one is faster?
 *
 * The objects are those of formats_extras.h; "content" is present if it is a list of blocks.
 * Entries of other takes follow those of the active one. */
#ifndef RT_FORMATS_MARKDOWN_IMPL_H
#define RT_FORMATS_MARKDOWN_IMPL_H

#include "formats/formats_extras.h"

#define MARKDOWN_BREAK "<!-- retake:discussion -->"
#define MARKDOWN_OPEN "<!-- retake: " /* then a JSON object */
#define MARKDOWN_CLOSE " -->"
#define MARKDOWN_NOTHING MARKDOWN_OPEN "{}" MARKDOWN_CLOSE
#define MARKDOWN_PREAMBLE "markdown.preamble"
#define MARKDOWN_DOT "\xC2\xB7"

typedef struct rt_heading {
	rt_str role; /* in the form for the outline */
	bool has_ts, muted, purged;
	rt_moment ts;
	rt_str rest; /* content on the same line */
} rt_heading;

/* Does this line (without its line end) name a speaker? */
bool rt_markdown_heading(rt_str line, rt_heading *out);
/* Would this line, without any backslashes before it, be read as something else? in_preamble:
 * before the first speaker, where fewer forms count. */
bool rt_markdown_needs_escape(rt_str line, bool in_preamble);
/* Is this role understood without a dot after it, and unchanged? */
bool rt_markdown_is_usual(rt_str role);

/* Without blank lines at both ends, and without the end of the last line. */
rt_str rt_markdown_trim(rt_str text);
/* One line: white space and control characters as single blanks, none at the ends. */
void rt_markdown_add_line(rt_buf *buf, rt_str text);
/* A role without its decoration: **bold**, a colon after it, closing hashes. */
rt_str rt_markdown_clean_role(rt_str role);

rt_status rt_markdown_write(const rt_alloc *alloc, const rt_outlines *in,
			    const rt_export_options *options, rt_buf *out, rt_error *err);

#endif
