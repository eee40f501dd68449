/* SPDX-License-Identifier: MIT
 *
 * Plain text for people: the speaker and the time of an entry on a line, then its text unchanged.
 *
 *   User, 2026-11-21T20:35:40Z:
 *
 *   Which database for a desktop app?
 *
 * The texts are not escaped, so the file cannot be read back. */
#include "codec/content.h"
#include "formats/formats.h"
#include "formats/formats_writer.h"

/* One line. */
static void
add_line(rt_buf *out, rt_str text)
{
	for (size_t i = 0; i < text.size; i++)
		rt_buf_add_byte(out, (unsigned char)text.ptr[i] < ' ' ? ' ' : text.ptr[i]);
}

static void
put_entry(rt_writer *w, const rt_node *node)
{
	const rt_body *body = rt_writer_body(w, node);
	rt_buf *text = rt_scope_buf(&w->e), *parts = rt_scope_buf(&w->e);
	rt_str content;

	if (body == NULL || rt_body_is_hidden(node->kind, body))
		return;
	add_line(w->out, node->role.size > 0 ? node->role : node->kind);
	if (node->has_ts) {
		rt_buf_add_c(w->out, ", ");
		rt_moment_format(w->out, node->ts);
	}
	rt_buf_add_c(w->out, rt_node_is_purged(node) ? " (purged):\n\n"
			     : node->muted           ? " (muted):\n\n"
						     : ":\n\n");
	rt_body_add_text(text, body);
	content = rt_scope_str(&w->e, text);
	rt_buf_add_str(w->out, content);
	if (content.size > 0)
		rt_buf_add_c(w->out, content.ptr[content.size - 1] == '\n' ? "\n" : "\n\n");
	rt_content_add_parts(parts, (rt_content){rt_str_at("", 0), body->content_json},
			     rt_body_field(body, "tool_calls"));
	if (parts->size > 0) {
		rt_buf_add_byte(w->out, '(');
		add_line(w->out, rt_scope_str(&w->e, parts));
		rt_buf_add_c(w->out, ")\n\n");
	}
}

static rt_status
text_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
	   rt_buf *out, rt_error *err)
{
	rt_writer w;

	rt_writer_init(&w, alloc, in, options, out);
	while (rt_writer_next(&w)) {
		const rt_outline_take *take = rt_writer_take(&w);

		add_line(out, w.outline->name);
		rt_buf_add_c(out, "\n\n");
		for (size_t i = 0; take != NULL && i < take->node_count && rt_ok(&w.s); i++)
			put_entry(&w, &w.outline->nodes[take->nodes[i]]);
	}
	return rt_writer_end(&w, err);
}

const rt_format rt_format_text = {
	.name = "text",
	.extension = ".txt",
	.about = "plain text",
	.write = text_write,
};
