/* SPDX-License-Identifier: MIT
 *
 * Writing a page: its frame, and the data in it. */
#include "formats/canonical_impl.h"
#include "formats/html_impl.h"
#include "formats/html_part.h"

/* JSON inside an element: only strings of it can hold what is escaped here. */
void
rt_html_add_json(rt_buf *out, rt_str json)
{
	size_t from = 0, i;

	for (i = 0; i < json.size; i++) {
		const char *escape = NULL;
		size_t size = 1;

		if (json.ptr[i] == '<') {
			escape = "\\u003c";
		} else if (json.ptr[i] == '\xE2' && json.size - i >= 3 && json.ptr[i + 1] == '\x80' &&
			   (json.ptr[i + 2] == '\xA8' || json.ptr[i + 2] == '\xA9')) {
			escape = json.ptr[i + 2] == '\xA8' ? "\\u2028" : "\\u2029";
			size = 3;
		}
		if (escape == NULL)
			continue;
		rt_buf_add(out, json.ptr + from, i - from);
		rt_buf_add_c(out, escape);
		i += size - 1;
		from = i + 1;
	}
	if (json.size > from)
		rt_buf_add(out, json.ptr + from, json.size - from);
}

static void
add_title(rt_buf *out, const rt_outlines *in)
{
	rt_str name = {NULL, 0};

	if (in->count > 0)
		name = in->items[in->has_active && in->active < in->count ? in->active : 0].name;
	rt_buf_add_c(out, "<title>");
	if (name.size > 0) {
		rt_html_add_text(out, name);
		rt_buf_add_c(out, " - ");
	}
	rt_buf_add_c(out, "Retake</title>\n");
}

static void
add_part(rt_buf *out, const char *name, const rt_html_part *part)
{
	if (part->size == 0)
		return;
	rt_buf_add_f(out, "<%s>", name);
	rt_buf_add(out, part->bytes, part->size);
	rt_buf_add_f(out, "</%s>\n", name);
}

static void
add_head(rt_buf *out, const rt_outlines *in)
{
	rt_buf_add_c(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ");
	if (rt_html_script.size > 0)
		rt_buf_add_f(out, "script-src %s; ", rt_html_script.source);
	if (rt_html_style.size > 0)
		rt_buf_add_f(out, "style-src %s; ", rt_html_style.source);
	rt_buf_add_c(out, "img-src data:; base-uri 'none'; form-action 'none'\">\n" HTML_GENERATOR
			  "\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			  "<meta name=\"color-scheme\" content=\"light dark\">\n"
			  "<meta name=\"referrer\" content=\"no-referrer\">\n"
			  "<link rel=\"icon\" href=\"data:,\">\n");
	add_title(out, in);
	add_part(out, "style", &rt_html_style);
	rt_buf_add_c(out, "</head>\n<body>\n");
}

rt_status
rt_html_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
	      rt_buf *out, rt_error *err)
{
	rt_buf json;
	rt_status st = RT_OK;

	(void)options; /* a page shows all takes and holds everything */
	rt_buf_init(&json, alloc, RT_BUF_UNLIMITED);
	add_head(out, in);
	if (rt_html_script.size > 0) {
		st = rt_html_add_first(alloc, in, out, err);
		add_part(out, "script", &rt_html_script);
	}
	/* Where there is no script of ours either, it is for everybody. */
	rt_buf_add_c(out, rt_html_script.size > 0 ? "<noscript>\n<main id=\"page\">\n"
						  : "<main id=\"page\">\n");
	if (st == RT_OK)
		st = rt_html_add_static(alloc, in, out, err);
	rt_buf_add_c(out, rt_html_script.size > 0 ? "</main>\n</noscript>\n" : "</main>\n");
	if (st == RT_OK)
		st = rt_canonical_write_shared(alloc, in, &json, err);
	if (st == RT_OK) {
		rt_buf_add_c(out, HTML_DATA);
		rt_html_add_json(out, rt_buf_str(&json));
		rt_buf_add_c(out, HTML_END "\n");
	}
	if (st == RT_OK)
		st = rt_html_add_edited(alloc, in, out, err);
	if (st == RT_OK && rt_html_script.size > 0)
		st = rt_html_add_blocks(alloc, in, out, err);
	rt_buf_add_c(out, "</body>\n</html>\n");
	if (st == RT_OK && out->status != RT_OK)
		st = rt_fail(err, out->status, "out of memory while exporting");
	rt_buf_deinit(&json);
	return st;
}
