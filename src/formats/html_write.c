/* SPDX-License-Identifier: MIT
 *
 * Writing a page: its frame, and the data in it. */
#include "formats/canonical_impl.h"
#include "formats/html_impl.h"
#include "formats/html_part.h"

/* Only strings of the JSON can contain what is escaped here. */
void
rt_html_add_json(rt_buf *out, rt_str json)
{
	size_t from = 0;

	for (size_t i = 0; i < json.size; i++) {
		const char *escape = NULL;
		size_t size = 1;

		if (json.ptr[i] == '<') {
			escape = "\\u003c";
		} else if (json.ptr[i] == '\xE2' && json.size - i >= 3 &&
			   json.ptr[i + 1] == '\x80' &&
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
	rt_buf_add_c(out,
		     "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ");
	if (rt_html_script.size > 0)
		rt_buf_add_f(out, "script-src %s; ", rt_html_script.source);
	if (rt_html_style.size > 0)
		rt_buf_add_f(out, "style-src %s; ", rt_html_style.source);
	rt_buf_add_c(out,
		     "img-src data:; base-uri 'none'; form-action 'none'\">\n" HTML_GENERATOR
		     "\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		     "<meta name=\"color-scheme\" content=\"light dark\">\n"
		     "<meta name=\"referrer\" content=\"no-referrer\">\n"
		     "<link rel=\"icon\" href=\"data:,\">\n");
	add_title(out, in);
	add_part(out, "style", &rt_html_style);
	rt_buf_add_c(out, "</head>\n<body>\n");
}

/* The discussions with their active takes, and their nodes in the order in which the canonical
 * form lists them. */
static void
number_nodes(rt_html_page *p)
{
	p->discussions = rt_scope_array(&p->scope, p->in->count + 1, sizeof(*p->discussions));
	for (size_t d = 0; d < p->in->count && rt_ok(&p->scope); d++) {
		const rt_outline *o = &p->in->items[d];
		rt_html_discussion *disc = &p->discussions[d];
		const rt_outline_take *takes = NULL;
		size_t take_count = 0, active = 0;
		bool *is_held = rt_scope_array(&p->scope, o->node_count + 1, sizeof(*is_held));

		disc->outline = o;
		disc->nodes = rt_scope_array(&p->scope, o->node_count + 1, sizeof(*disc->nodes));
		(void)RT_TRY(&p->scope, rt_outline_takes_of(p->scope.alloc, p->arena, o, &takes,
							    &take_count, &active, &p->scope.error));
		if (!rt_ok(&p->scope))
			return;
		disc->take = take_count > 0 ? &takes[active] : NULL;
		for (size_t t = 0; t < take_count; t++)
			for (size_t i = 0; i < takes[t].node_count; i++)
				if (!is_held[takes[t].nodes[i]]) {
					is_held[takes[t].nodes[i]] = true;
					disc->nodes[disc->node_count++] = takes[t].nodes[i];
				}
	}
}

static void
add_page(rt_html_page *p)
{
	bool has_script = rt_html_script.size > 0; /* else the text is for everybody */

	add_head(p->out, p->in);
	if (has_script) {
		rt_html_add_first(p);
		add_part(p->out, "script", &rt_html_script);
	}
	rt_buf_add_c(p->out,
		     has_script ? "<noscript>\n<main id=\"page\">\n" : "<main id=\"page\">\n");
	rt_html_add_static(p);
	rt_buf_add_c(p->out, has_script ? "</main>\n</noscript>\n" : "</main>\n");
	rt_buf_clear(p->json);
	(void)RT_TRY(&p->scope,
		     rt_canonical_write_shared(p->scope.alloc, p->in, p->json, &p->scope.error));
	rt_buf_add_c(p->out, HTML_DATA);
	rt_html_add_json(p->out, rt_scope_str(&p->scope, p->json));
	rt_buf_add_c(p->out, HTML_END "\n");
	rt_html_add_edited(p);
	if (has_script)
		rt_html_add_blocks(p);
	rt_buf_add_c(p->out, "</body>\n</html>\n");
}

void
rt_html_page_begin(rt_html_page *p, const rt_alloc *alloc, const rt_outlines *in, rt_buf *out)
{
	*p = (rt_html_page){.in = in, .out = out};
	rt_scope_init(&p->scope, alloc);
	p->body = rt_scope_buf(&p->scope);
	p->text = rt_scope_buf(&p->scope);
	p->json = rt_scope_buf(&p->scope);
	p->arena = rt_arena_new(alloc);
	if (p->arena == NULL)
		(void)rt_scope_nomem(&p->scope);
	number_nodes(p);
}

rt_status
rt_html_page_end(rt_html_page *p, rt_error *err)
{
	(void)rt_scope_str(&p->scope, p->out);
	rt_arena_free(p->arena);
	if (rt_scope_end(&p->scope, err) == RT_NOMEM || p->scope.status == RT_LIMIT)
		return rt_fail(err, p->scope.status, "out of memory while exporting");
	return p->scope.status;
}

rt_status
rt_html_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
	      rt_buf *out, rt_error *err)
{
	rt_html_page p;

	(void)options; /* a page shows all takes and holds everything */
	rt_html_page_begin(&p, alloc, in, out);
	if (rt_ok(&p.scope))
		add_page(&p);
	return rt_html_page_end(&p, err);
}
