/* SPDX-License-Identifier: MIT
 *
 * Writing Markdown. */
#include "codec/content.h"
#include "formats/markdown_impl.h"

typedef struct writer {
	rt_writer w;
	rt_buf *text; /* of an entry, or of a line */
	rt_buf *json; /* of a comment */
} writer;

/* ---- entries ---- */

/* The object in c->json as a comment. A ">" inside JSON can only be in a string. */
static void
add_comment(writer *c)
{
	rt_buf *out = c->w.out;
	rt_str json = rt_scope_str(&c->w.s, c->json);

	rt_buf_add_c(out, MARKDOWN_OPEN);
	for (;;) {
		const char *gt = json.size == 0 ? NULL : memchr(json.ptr, '>', json.size);
		size_t size = gt == NULL ? json.size : (size_t)(gt - json.ptr);

		rt_buf_add_str(out, rt_str_at(json.ptr, size));
		if (gt == NULL)
			break;
		rt_buf_add_c(out, "\\u003e");
		json = rt_str_at(json.ptr + size + 1, json.size - size - 1);
	}
	rt_buf_add_c(out, MARKDOWN_CLOSE "\n");
}

/* A role on one line without decoration, in w.e; a dot in it is a dash. */
static rt_str
role_line(writer *c, rt_str role)
{
	rt_buf *line = rt_scope_buf(&c->w.e), *dashed = rt_scope_buf(&c->w.e);
	rt_str dot = RT_STR(MARKDOWN_DOT), left;
	size_t at;

	rt_markdown_add_line(line, role);
	left = rt_scope_str(&c->w.e, line);
	while ((at = rt_str_find(left, dot, 0)) != SIZE_MAX) {
		rt_buf_add(dashed, left.ptr, at);
		rt_buf_add_byte(dashed, '-');
		left = rt_str_at(left.ptr + at + dot.size, left.size - at - dot.size);
	}
	rt_buf_add_str(dashed, left);
	left = rt_markdown_clean_role(rt_scope_str(&c->w.e, dashed));
	return left.size > 0 ? left : RT_STR("Entry");
}

/* "## User · 2026-11-21T20:35:40Z · muted" */
static void
add_heading(writer *c, const rt_node *node)
{
	rt_buf *out = c->w.out;
	bool is_purged = rt_node_is_purged(node);
	rt_str role = role_line(c, node->role.size > 0 ? node->role : node->kind);

	rt_buf_add_c(out, "## ");
	rt_buf_add_str(out, role);
	if (!node->has_ts && !node->muted && !is_purged && !rt_markdown_is_usual(role))
		rt_buf_add_c(out, " " MARKDOWN_DOT);
	if (node->has_ts) {
		rt_buf_add_c(out, " " MARKDOWN_DOT " ");
		rt_moment_format(out, node->ts);
	}
	if (node->muted)
		rt_buf_add_c(out, " " MARKDOWN_DOT " muted");
	if (is_purged)
		rt_buf_add_c(out, " " MARKDOWN_DOT " purged");
	rt_buf_add_c(out, "\n\n");
}

static rt_str
text_of(writer *c, const rt_body *body)
{
	rt_buf_clear(c->text);
	rt_body_add_text(c->text, body);
	return rt_scope_str(&c->w.s, c->text);
}

/* Lines with a backslash before those that would be read as something else, and a blank one;
 * nothing if there is no text. */
static void
add_escaped(writer *c, rt_str text, bool in_preamble)
{
	size_t at = 0;
	rt_str line;

	text = rt_markdown_trim(text);
	if (text.size == 0)
		return;
	while (rt_scan_line(text, &at, &line)) {
		if (rt_markdown_needs_escape(line, in_preamble))
			rt_buf_add_byte(c->w.out, '\\');
		rt_buf_add_str(c->w.out, line);
		rt_buf_add_byte(c->w.out, '\n');
	}
	rt_buf_add_byte(c->w.out, '\n');
}

/* Contents other than text are at least mentioned, as in show: "(an image)", "(calls read)",
 * "(aborted)", "model: p/m". */
static void
add_parts(writer *c, const rt_body *body)
{
	rt_str parts;

	rt_buf_clear(c->text);
	rt_content_add_brief(c->text, (rt_content){rt_str_at("", 0), body->content_json},
			     rt_body_field(body, "tool_calls"),
			     body->format == RT_BODY_PI ? body->fields : rt_body_field(body, "pi"));
	parts = rt_scope_str(&c->w.s, c->text);
	if (parts.size == 0)
		return;
	rt_markdown_add_line(c->w.out, parts);
	rt_buf_add_c(c->w.out, "\n\n");
}

static void
add_plain_entry(writer *c, const rt_node *node)
{
	const rt_body *body = rt_writer_body(&c->w, node);

	if (body == NULL || rt_body_is_hidden(node->kind, body))
		return; /* not for people; --lossless has it */
	add_heading(c, node);
	add_escaped(c, text_of(c, body), false);
	add_parts(c, body);
}

static void
add_lossless_entry(writer *c, const rt_node *node, size_t number)
{
	const rt_body *body = rt_writer_body(&c->w, node);
	rt_str text;

	if (body == NULL)
		return;
	text = text_of(c, body);
	rt_buf_clear(c->json);
	rt_json_open(c->json, NULL, '{');
	rt_json_put_u64(c->json, "n", number);
	rt_json_put_u64(c->json, "bytes", text.size);
	rt_extras_write(c->json, "entry", node, body);
	if (body->content_json != NULL && !rt_extras_has_record(node))
		rt_json_put_value(c->json, "content", body->content_json);
	rt_json_close(c->json, '}');
	add_comment(c);
	add_heading(c, node);
	rt_buf_add_str(c->w.out, text);
	rt_buf_add_c(c->w.out, "\n\n");
}

/* ---- discussions ---- */

/* The title, unless it would be read as a speaker. */
static void
add_title(writer *c)
{
	rt_heading heading;
	rt_str line;

	rt_buf_clear(c->text);
	rt_buf_add_c(c->text, "# ");
	rt_markdown_add_line(c->text, c->w.outline->name);
	line = rt_scope_str(&c->w.s, c->text);
	if (line.size <= 2 || rt_markdown_heading(line, &heading))
		return;
	rt_buf_add_str(c->w.out, line);
	rt_buf_add_c(c->w.out, "\n\n");
}

/* The name of the take, unless it is that of the discussion. */
static void
add_take_name(writer *c)
{
	const rt_outline_take *take = rt_writer_take(&c->w);
	rt_str name, title;

	if (take == NULL)
		return;
	rt_buf_clear(c->text);
	rt_buf_clear(c->json);
	rt_markdown_add_line(c->text, take->name);
	rt_markdown_add_line(c->json, c->w.outline->name);
	name = rt_scope_str(&c->w.s, c->text);
	title = rt_scope_str(&c->w.s, c->json);
	if (name.size == 0 || rt_str_eq(name, title))
		return;
	rt_buf_add_c(c->w.out, "*Take: ");
	rt_buf_add_str(c->w.out, name);
	rt_buf_add_c(c->w.out, "*\n\n");
}

static void
write_plain(writer *c)
{
	const rt_outline *o = c->w.outline;
	const rt_outline_take *take = rt_writer_take(&c->w);
	size_t count = take == NULL ? 0 : take->node_count;
	yyjson_val *preamble; /* the text before the first speaker of an imported file */

	if (c->w.in->count != 1 || count == 0)
		rt_buf_add_c(c->w.out, MARKDOWN_BREAK "\n");
	add_title(c);
	add_take_name(c);
	preamble = rt_writer_parse(
		&c->w, &c->w.d, rt_outline_field_of(o->fields, o->field_count, MARKDOWN_PREAMBLE));
	if (yyjson_is_str(preamble))
		add_escaped(c, rt_json_str(preamble), true);
	for (size_t i = 0; i < count; i++)
		add_plain_entry(c, &o->nodes[take->nodes[i]]);
}

static void
write_lossless(writer *c)
{
	size_t own, count;
	const int64_t *order, *numbers = rt_writer_number(&c->w, &order, &own, &count);

	if (numbers == NULL)
		return;
	rt_buf_clear(c->json);
	rt_json_open(c->json, NULL, '{');
	rt_json_put_u64(c->json, "own", own);
	rt_extras_write_discussion(c->json, "discussion", &c->w, numbers);
	rt_json_close(c->json, '}');
	add_comment(c);
	add_title(c);
	add_take_name(c);
	for (size_t i = 0; i < count; i++)
		add_lossless_entry(c, &c->w.outline->nodes[order[i]], i);
}

rt_status
rt_markdown_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
		  rt_buf *out, rt_error *err)
{
	writer c;

	rt_writer_init(&c.w, alloc, in, options, out);
	c.text = rt_scope_buf(&c.w.s);
	c.json = rt_scope_buf(&c.w.s);
	if (in->count == 0)
		rt_buf_add_c(out, MARKDOWN_NOTHING "\n");
	while (rt_writer_next(&c.w)) {
		if (c.w.options.lossless)
			write_lossless(&c);
		else
			write_plain(&c);
	}
	return rt_writer_end(&c.w, err);
}
