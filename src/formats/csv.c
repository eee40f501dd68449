/* SPDX-License-Identifier: MIT
 *
 * CSV (RFC 4180) for spreadsheets: a header, then a row for each entry, of all takes if wanted. Lines
 * end with CR LF; a field with a comma, a quote or a line end is in quotes.
 *
 * Spreadsheets execute a field that begins with "=", "+", "-", "@", a tab or CR as a formula, which a
 * text of a model could use. Such a field gets an apostrophe before it, which they hide. */
#include "codec/content.h"
#include "formats/formats.h"
#include "formats/formats_writer.h"

static bool
is_formula(rt_str text)
{
	return text.size > 0 && memchr("=+-@\t\r", text.ptr[0], 6) != NULL;
}

static void
put_field(rt_writer *w, rt_str text)
{
	bool is_quoted = rt_str_find(text, RT_STR("\""), 0) != SIZE_MAX ||
			 rt_str_find(text, RT_STR(","), 0) != SIZE_MAX ||
			 rt_str_find(text, RT_STR("\n"), 0) != SIZE_MAX ||
			 rt_str_find(text, RT_STR("\r"), 0) != SIZE_MAX;

	if (is_quoted)
		rt_buf_add_byte(w->out, '"');
	if (is_formula(text))
		rt_buf_add_byte(w->out, '\'');
	for (size_t i = 0; i < text.size; i++) {
		if (text.ptr[i] == '\0') { /* which readers of CSV refuse */
			rt_buf_add_c(w->out, "\xEF\xBF\xBD");
			continue;
		}
		if (text.ptr[i] == '"')
			rt_buf_add_byte(w->out, '"');
		rt_buf_add_byte(w->out, text.ptr[i]);
	}
	if (is_quoted)
		rt_buf_add_byte(w->out, '"');
}

static void
put_next(rt_writer *w, rt_str text)
{
	rt_buf_add_byte(w->out, ',');
	put_field(w, text);
}

/* The first take with the node, and its place there, from 1. */
static const rt_outline_take *
find_take(const rt_writer *w, int64_t node, size_t *out_place)
{
	const rt_outline_take *active = rt_writer_take(w);

	for (size_t i = 0; i <= w->take_count; i++) {
		const rt_outline_take *take = i == 0 ? active : &w->takes[i - 1];
		size_t at = take == NULL ? SIZE_MAX : rt_outline_take_find(take, node);

		*out_place = at + 1;
		if (at != SIZE_MAX)
			return take;
	}
	return active;
}

static void
put_row(rt_writer *w, const rt_node *node, const rt_outline_take *take, size_t place)
{
	const rt_body *body = rt_writer_body(w, node);
	const rt_outline *o = w->outline;
	rt_buf *text = rt_scope_buf(&w->e), *time = rt_scope_buf(&w->e);

	if (body == NULL)
		return;
	if (node->has_ts)
		rt_moment_format(time, node->ts);
	rt_body_add_text(text, body);
	put_field(w, o->name);
	put_next(w, take->name);
	rt_buf_add_f(w->out, ",%zu", place);
	put_next(w, node->id);
	put_next(w, place > 1 ? o->nodes[take->nodes[place - 2]].id : RT_STR(""));
	put_next(w, node->role);
	put_next(w, node->kind.size > 0 ? node->kind : RT_STR("message"));
	put_next(w, rt_scope_str(&w->e, time));
	rt_buf_add_c(w->out, node->muted ? ",1" : ",0");
	rt_buf_add_c(w->out, node->edited ? ",1" : ",0");
	put_next(w, node->label);
	put_next(w, rt_scope_str(&w->e, text));
	rt_buf_add_c(w->out, "\r\n");
}

static rt_status
csv_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
	  rt_buf *out, rt_error *err)
{
	rt_writer w;

	rt_writer_init(&w, alloc, in, options, out);
	rt_buf_add_c(out,
		     "discussion,take,number,id,parent,role,kind,time,muted,edited,label,text\r\n");
	while (rt_writer_next(&w)) {
		size_t own, count, place;
		const int64_t *order;

		if (rt_writer_number(&w, &order, &own, &count) == NULL)
			continue;
		for (size_t i = 0; i < count && rt_ok(&w.s); i++) {
			const rt_outline_take *take = find_take(&w, order[i], &place);

			put_row(&w, &w.outline->nodes[order[i]], take, place);
		}
	}
	return rt_writer_end(&w, err);
}

const rt_format rt_format_csv = {
	.name = "csv",
	.extension = ".csv",
	.about = "CSV: a row for each entry",
	.media_type = "text/csv",
	.write = csv_write,
};
