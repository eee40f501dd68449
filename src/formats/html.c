/* SPDX-License-Identifier: MIT
 *
 * HTML: how to tell such a file, and reading one (html_impl.h draws it): the data are cut
 * out of it and read as the canonical form is. */
#include "formats/html_impl.h"

#include "formats/canonical_impl.h"
#include "formats/formats.h"

bool
rt_html_begins(rt_str head)
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
	return head.size > 0 && rt_html_begins(head) ? 98 : 0;
}

/* The marks of edited entries, which follow the data; NULL: there are none. */
static rt_status
read_edited(const rt_alloc *alloc, rt_str input, size_t from, rt_json_doc **out)
{
	size_t at = rt_str_find(input, RT_STR(HTML_EDITED), from), to;

	*out = NULL;
	if (at == SIZE_MAX)
		return RT_OK;
	at += sizeof(HTML_EDITED) - 1;
	to = rt_str_find(input, RT_STR(HTML_END), at);
	if (to == SIZE_MAX)
		return RT_OK;
	return rt_json_read(alloc, rt_str_at(input.ptr + at, to - at), out, NULL) == RT_NOMEM
		       ? RT_NOMEM
		       : RT_OK;
}

rt_status
rt_html_read(const rt_alloc *alloc, rt_str input, rt_outlines *out, rt_report *report,
	     rt_error *err)
{
	size_t from, to = SIZE_MAX;
	rt_json_doc *edited = NULL;
	rt_error fault;
	rt_status st;

	if (input.size == 0 || !rt_html_begins(input))
		return rt_fail_at(err, RT_USAGE, 0, "not a page that Retake wrote");
	from = rt_str_find(input, RT_STR(HTML_DATA), 0);
	if (from != SIZE_MAX) {
		from += sizeof(HTML_DATA) - 1;
		to = rt_str_find(input, RT_STR(HTML_END), from);
	}
	if (to == SIZE_MAX)
		return rt_fail_at(err, RT_USAGE, input.size,
				  "the page is cut short: its data do not end");
	memset(&fault, 0, sizeof(fault));
	st = read_edited(alloc, input, to, &edited);
	if (st != RT_OK)
		return rt_fail(err, st, "out of memory while importing");
	st = rt_canonical_read_shared(alloc, rt_str_at(input.ptr + from, to - from),
				      edited == NULL ? NULL : rt_json_root(edited), out, report,
				      &fault);
	rt_json_free(edited);
	if (st != RT_OK && fault.has_at)
		return rt_fail_at(err, st, from + fault.at, "the data of the page: %.200s",
				  fault.text);
	if (st != RT_OK)
		return rt_fail(err, st, "the data of the page: %.200s", fault.text);
	return RT_OK;
}

const rt_format rt_format_html = {
	.name = "html",
	.extension = ".html",
	.about = "one page that shows everything in any browser, without a network",
	.sniff = html_sniff,
	.read = rt_html_read,
	.write = rt_html_write,
};
