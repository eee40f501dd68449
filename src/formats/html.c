/* SPDX-License-Identifier: MIT
 *
 * HTML: how to recognise such a file, and reading one (html_impl.h describes it): the data are
 * extracted and read like the canonical form. */
#include "formats/html_impl.h"

#include "formats/canonical_impl.h"
#include "formats/formats.h"

/* Does it begin like our pages? */
static bool
is_page(rt_str head)
{
	rt_str start = RT_STR("<!doctype html>");
	size_t at;

	head = rt_scan_unmark(head);
	at = rt_scan_blank(head, 0);
	head = rt_str_at(head.ptr + at, head.size - at);
	return head.size >= start.size &&
	       rt_str_eq_nocase(rt_str_at(head.ptr, start.size), start) &&
	       (rt_str_find(head, RT_STR(HTML_GENERATOR), 0) != SIZE_MAX ||
		rt_str_find(head, RT_STR(HTML_GENERATOR_1), 0) != SIZE_MAX);
}

static int
html_sniff(rt_str head)
{
	return head.size > 0 && is_page(head) ? 98 : 0;
}

enum { EDITED_MAX = 16 << 20 };

/* A part of an input, as an input. */
typedef struct part {
	const rt_input *in;
	uint64_t from, size;
} part;

static rt_status
part_read_at(void *ctx, uint64_t offset, char *to, size_t room, size_t *out_size, rt_error *err)
{
	const part *p = ctx;
	uint64_t left = offset < p->size ? p->size - offset : 0;

	*out_size = 0;
	return left == 0 ? RT_OK
			 : p->in->read_at(p->in->ctx, p->from + offset, to,
					  room < left ? room : (size_t)left, out_size, err);
}

/* The position of the data; afterwards the walk is after them. */
static rt_status
find_data(rt_walk *w, part *out, rt_error *err)
{
	uint64_t from = 0, to;
	bool found;

	if (!is_page(rt_walk_ahead(w, RT_INPUT_HEAD)) && w->status == RT_OK)
		return rt_fail_at(err, RT_USAGE, 0, "not a page written by Retake");
	found = rt_walk_find(w, RT_STR(HTML_DATA));
	from = rt_walk_here(w).offset;
	found = found && rt_walk_find(w, RT_STR(HTML_END));
	to = rt_walk_here(w).offset;
	if (w->status != RT_OK)
		return rt_walk_fail(w, err);
	if (!found)
		return rt_fail_at(err, RT_USAGE, to, "the page is truncated: its data has no end");
	out->from = from;
	out->size = to - (sizeof(HTML_END) - 1) - from;
	return RT_OK;
}

/* The numbers of edited entries, which follow the data; NULL: there are none. */
static rt_status
read_edited(rt_walk *w, rt_json_doc **out, rt_error *err)
{
	rt_str numbers;

	if (rt_walk_find(w, RT_STR(HTML_EDITED)) &&
	    rt_walk_value(w, NULL, EDITED_MAX, &numbers) == RT_WALK_WHOLE &&
	    rt_json_read(w->alloc, numbers, out, NULL) == RT_NOMEM)
		return rt_fail(err, RT_NOMEM, "out of memory while importing");
	return w->status != RT_OK ? rt_walk_fail(w, err) : RT_OK;
}

static rt_status
html_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, rt_report *report,
	rt_error *err)
{
	part data = {.in = in};
	rt_input within = {.ctx = &data, .read_at = part_read_at};
	rt_json_doc *edited = NULL;
	rt_error fault = {.text = ""};
	rt_walk w;
	rt_status st;

	rt_walk_init(&w, alloc, in);
	st = find_data(&w, &data, err);
	if (st == RT_OK)
		st = read_edited(&w, &edited, err);
	rt_walk_deinit(&w);
	if (st != RT_OK)
		return st;
	within.size = data.size;
	st = rt_canonical_read_to(alloc, &within, true,
				  edited == NULL ? NULL : rt_json_root(edited), to, report, &fault);
	rt_json_free(edited);
	if (st == RT_USAGE && fault.has_at)
		return rt_fail_at(err, st, data.from + fault.at, "the data of the page: %.200s",
				  fault.text);
	if (st == RT_USAGE)
		return rt_fail(err, st, "the data of the page: %.200s", fault.text);
	if (st != RT_OK && err != NULL)
		*err = fault;
	return st;
}

RT_READER_FUNCTIONS(html, html_to)

const rt_format rt_format_html = {
	.name = "html",
	.extension = ".html",
	.about = "one page for any browser, readable offline",
	.media_type = "text/html; charset=utf-8",
	.holds_project = true,
	.sniff = html_sniff,
	.read = html_read,
	.stream = html_stream,
	.write = rt_html_write,
};
