/* SPDX-License-Identifier: MIT
 *
 * The texts of a page: as plain HTML for those without script, and as blocks for the
 * script. */
#include <stdio.h> /* snprintf */

#include "codec/content.h"
#include "formats/canonical_impl.h"
#include "formats/html_impl.h"
#include "markup/markup.h"
#include "markup/texts.h"

void
rt_html_add_text(rt_buf *out, rt_str text)
{
	size_t from = 0, size;

	for (size_t at = 0; at < text.size; at += size) {
		const char *instead = NULL;
		char mark[24];
		uint32_t code = rt_texts_decode(rt_str_at(text.ptr + at, text.size - at), &size);

		switch (code) {
		case '&': instead = "&amp;"; break;
		case '<': instead = "&lt;"; break;
		case '>': instead = "&gt;"; break;
		case '"': instead = "&quot;"; break;
		case '\'': instead = "&#39;"; break;
		case '\r':
			instead = at + 1 < text.size && text.ptr[at + 1] == '\n' ? "" : "\n";
			break;
		default:
			if (rt_texts_is_hidden(code)) {
				snprintf(mark, sizeof(mark), "[U+%04X]", (unsigned)code);
				instead = mark;
			}
		}
		if (instead != NULL) {
			if (at > from)
				rt_buf_add(out, text.ptr + from, at - from);
			rt_buf_add_c(out, instead);
			from = at + size;
		}
	}
	if (text.size > from)
		rt_buf_add(out, text.ptr + from, text.size - from);
}

/* ---- without script ---- */

static void
add_small(rt_buf *out, rt_str text)
{
	rt_buf_add_c(out, " <small>");
	rt_html_add_text(out, text);
	rt_buf_add_c(out, "</small>");
}

static void
add_static_entry(rt_html_page *p, const rt_node *node)
{
	rt_buf *out = p->out;
	rt_body body;

	if (RT_TRY(&p->scope,
		   rt_node_body(p->scope.alloc, node, p->body, &body, &p->scope.error)) != RT_OK)
		return;
	if (rt_body_is_hidden(node->kind, &body)) {
		rt_body_deinit(&body);
		return;
	}
	rt_buf_add_c(out, "<article>\n<h3>");
	rt_html_add_text(out, node->role.size > 0 ? node->role : node->kind);
	if (node->has_ts) {
		rt_buf_add_c(out, " <small>");
		rt_moment_format(out, node->ts);
		rt_buf_add_c(out, "</small>");
	}
	if (node->label.size > 0)
		add_small(out, node->label);
	if (node->muted)
		add_small(out, RT_STR("muted"));
	if (node->edited)
		add_small(out, RT_STR("edited"));
	rt_buf_add_c(out, "</h3>\n<pre>\n");
	if (rt_node_is_purged(node))
		rt_buf_add_c(out, "This text was purged.");
	rt_buf_clear(p->text);
	rt_body_add_text(p->text, &body);
	rt_html_add_text(out, rt_scope_str(&p->scope, p->text));
	rt_buf_clear(p->text);
	rt_content_add_parts(p->text, (rt_content){rt_str_at("", 0), body.content_json},
			     rt_body_field(&body, "tool_calls"));
	if (p->text->size > 0) { /* what is no text is at least named */
		rt_buf_add_c(out, "\n(");
		rt_html_add_text(out, rt_scope_str(&p->scope, p->text));
		rt_buf_add_c(out, ")");
	}
	rt_buf_add_c(out, "</pre>\n</article>\n");
	rt_body_deinit(&body);
}

/* What was redacted in a discussion before it was written (redact.h). */
static void
add_static_note(rt_html_page *p, const rt_outline *o)
{
	rt_str json = rt_outline_field_of(o->fields, o->field_count, "redacted");
	rt_json_doc *doc = NULL;
	yyjson_val *root, *key, *value;
	uint64_t entries = 0, places = 0;
	size_t i, max;
	rt_status st = json.size > 0 ? rt_json_read(p->scope.alloc, json, &doc, NULL) : RT_USAGE;

	if (st == RT_NOMEM)
		(void)rt_scope_nomem(&p->scope);
	if (st != RT_OK)
		return;
	root = rt_json_root(doc);
	if (rt_json_u64(rt_json_get(root, "entries"), &entries) &&
	    rt_json_u64(rt_json_get(root, "places"), &places) && places > 0) {
		rt_buf_add_f(p->out, "<p>Redacted: %llu entr%s, %llu place%s",
			     (unsigned long long)entries, entries == 1 ? "y" : "ies",
			     (unsigned long long)places, places == 1 ? "" : "s");
		rt_json_foreach(rt_json_get(root, "kinds"), i, max, key, value)
		{
			rt_buf_add_c(p->out, i == 0 ? " (" : ", ");
			rt_html_add_text(p->out, rt_json_str(key));
			rt_buf_add_c(p->out, ": ");
			rt_html_add_text(p->out, rt_json_str(value));
			rt_buf_add_c(p->out, i + 1 == max ? ")" : "");
		}
		rt_buf_add_c(p->out, ".</p>\n");
	}
	rt_json_free(doc);
}

void
rt_html_add_static(rt_html_page *p)
{
	size_t left = HTML_STATIC_MAX;

	for (size_t d = 0; d < p->in->count && rt_ok(&p->scope); d++) {
		const rt_html_discussion *disc = &p->discussions[d];
		const rt_outline *o = disc->outline;
		size_t count = disc->take != NULL ? disc->take->node_count : 0;
		size_t shown = count < left ? count : left;

		rt_buf_add_c(p->out, "<section>\n<h2>");
		rt_html_add_text(p->out, o->name);
		rt_buf_add_c(p->out, "</h2>\n");
		add_static_note(p, o);
		for (size_t i = 0; i < shown && rt_ok(&p->scope); i++)
			add_static_entry(p, &o->nodes[disc->take->nodes[i]]);
		left -= shown;
		if (shown < count)
			rt_buf_add_f(
				p->out,
				"<p>%zu more: they are in this file and are shown where scripts may "
				"run; or import it, and export the take as markdown.</p>\n",
				count - shown);
		rt_buf_add_c(p->out, "</section>\n");
	}
}

/* ---- for the script ---- */

/* Words and sentences on one line, which markup leaves as they are: most short entries. */
static bool
is_plain(rt_str text)
{
	for (size_t i = 0; i < text.size; i++) {
		char c = text.ptr[i];
		bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		if (is_letter || (i > 0 && c >= '0' && c <= '9'))
			continue;
		if (i == 0 || (c != ' ' && c != ',' && c != '?' && c != '.') ||
		    (c == '.' && i + 1 < text.size && text.ptr[i + 1] != ' '))
			return false;
	}
	return true;
}

static void
add_text_blocks(rt_html_page *p, rt_str text, rt_buf *out)
{
	rt_status st = is_plain(text) ? RT_LIMIT : rt_markup_blocks(out, text, NULL, NULL, NULL);

	if (st == RT_LIMIT && out->status == RT_OK)
		rt_buf_add_c(out, "null");
	else
		(void)rt_scope_note(&p->scope, st);
}

static void
add_node_blocks(rt_html_page *p, const rt_node *node, rt_buf *out)
{
	yyjson_val *block;
	size_t i, max;
	rt_body body;

	if (RT_TRY(&p->scope,
		   rt_node_body(p->scope.alloc, node, p->body, &body, &p->scope.error)) != RT_OK)
		return;
	rt_json_add_comma(out);
	if (body.content_json == NULL) {
		add_text_blocks(p, body.content, out);
	} else {
		rt_buf_add_byte(out, '[');
		yyjson_arr_foreach(body.content_json, i, max, block)
		{
			yyjson_val *text = rt_json_get(block, "text");

			rt_json_add_comma(out);
			if (yyjson_is_str(text))
				add_text_blocks(p, rt_json_str(text), out);
			else
				rt_buf_add_c(out, "null");
		}
		rt_buf_add_byte(out, ']');
	}
	rt_body_deinit(&body);
}

/* The blocks of some nodes, as one array. */
static void
add_chunk(rt_html_page *p, const rt_outline *o, const int64_t *nodes, size_t count, rt_buf *out)
{
	rt_buf_clear(p->json);
	rt_buf_add_byte(p->json, '[');
	for (size_t i = 0; i < count && rt_ok(&p->scope); i++)
		add_node_blocks(p, &o->nodes[nodes[i]], p->json);
	rt_buf_add_c(p->json, "]\n");
	rt_html_add_json(out, rt_scope_str(&p->scope, p->json));
}

/* The numbers of those that were edited, as an array. */
static void
add_edited(const rt_outline *o, const int64_t *nodes, size_t count, rt_buf *json)
{
	rt_json_add_comma(json);
	rt_buf_add_byte(json, '[');
	for (size_t i = 0; i < count; i++)
		if (o->nodes[nodes[i]].edited) {
			rt_json_add_comma(json);
			rt_buf_add_u64(json, i);
		}
	rt_buf_add_byte(json, ']');
}

/* Some nodes of a take, at most HTML_FIRST_MAX, as an outline of their own. */
static void
add_some(rt_html_page *p, const rt_html_discussion *disc, size_t before, size_t count, rt_buf *out)
{
	rt_node nodes[HTML_FIRST_MAX];
	int64_t numbers[HTML_FIRST_MAX];
	rt_outline_take end = {.name = disc->take->name, .nodes = numbers, .node_count = count};
	rt_outline part = {.name = disc->outline->name,
			   .nodes = nodes,
			   .node_count = count,
			   .takes = &end,
			   .take_count = 1};
	rt_outlines parts = {.items = &part, .count = 1, .has_active = true};

	for (size_t i = 0; i < count; i++) {
		nodes[i] = disc->outline->nodes[disc->take->nodes[before + i]];
		numbers[i] = (int64_t)i;
	}
	rt_buf_add_f(out, HTML_FIRST "{\"before\":%zu,", before);
	rt_buf_clear(p->json);
	add_edited(&part, numbers, count, p->json);
	if (p->json->size > 2 && rt_scope_str(&p->scope, p->json).size > 0) /* not "[]" */
		rt_buf_add_f(out, "\"edited\":[%s],", p->json->ptr);
	rt_buf_add_c(out, "\"blocks\":");
	add_chunk(p, &part, numbers, count, out);
	rt_buf_clear(p->json);
	(void)RT_TRY(&p->scope,
		     rt_canonical_write_shared(p->scope.alloc, &parts, p->json, &p->scope.error));
	rt_buf_add_c(out, ",\"data\":");
	rt_html_add_json(out, rt_scope_str(&p->scope, p->json));
	rt_buf_add_c(out, "}" HTML_END "\n");
}

/* The last nodes of a take: as many as there may be, and as fit. */
static void
add_end(rt_html_page *p, const rt_html_discussion *disc)
{
	size_t end = disc->take->node_count, count = 0, size = 0;
	rt_buf *one = rt_scope_buf(&p->scope);

	for (; count < end && count < HTML_FIRST_MAX; count++) {
		/* alone each is larger than with the others */
		rt_buf_clear(one);
		add_some(p, disc, end - count - 1, 1, one);
		size += rt_scope_str(&p->scope, one).size;
		if (!rt_ok(&p->scope) || (count > 0 && size > HTML_FIRST_BYTES))
			break;
	}
	if (rt_ok(&p->scope))
		add_some(p, disc, end - count, count, p->out);
}

void
rt_html_add_first(rt_html_page *p)
{
	const rt_outlines *in = p->in;
	const rt_html_discussion *disc;
	size_t total = 0, count;

	for (size_t i = 0; i < in->count; i++)
		total += in->items[i].node_count;
	if (total < HTML_MANY || !rt_ok(&p->scope))
		return;
	disc = &p->discussions[in->has_active && in->active < in->count ? in->active : 0];
	count = disc->take != NULL ? disc->take->node_count : 0;
	if (count > 0 &&
	    (!disc->outline->has_head || disc->outline->head == disc->take->nodes[count - 1]))
		add_end(p, disc);
}

void
rt_html_add_edited(rt_html_page *p)
{
	bool any = false;

	rt_buf_clear(p->json);
	rt_buf_add_byte(p->json, '[');
	for (size_t d = 0; d < p->in->count && rt_ok(&p->scope); d++) {
		const rt_html_discussion *disc = &p->discussions[d];

		for (size_t i = 0; i < disc->outline->node_count && !any; i++)
			any = disc->outline->nodes[i].edited;
		add_edited(disc->outline, disc->nodes, disc->node_count, p->json);
	}
	rt_buf_add_c(p->json, "]\n");
	if (any) {
		rt_buf_add_c(p->out, HTML_EDITED);
		rt_buf_add_str(p->out, rt_scope_str(&p->scope, p->json));
		rt_buf_add_c(p->out, HTML_END "\n");
	}
}

void
rt_html_add_blocks(rt_html_page *p)
{
	for (size_t d = 0; d < p->in->count && rt_ok(&p->scope); d++) {
		const rt_html_discussion *disc = &p->discussions[d];
		size_t count = disc->node_count;

		for (size_t i = 0; i < count && rt_ok(&p->scope); i += HTML_CHUNK) {
			rt_buf_add_f(p->out, HTML_BLOCKS, d, i / HTML_CHUNK);
			add_chunk(p, disc->outline, disc->nodes + i,
				  count - i < HTML_CHUNK ? count - i : HTML_CHUNK, p->out);
			rt_buf_add_c(p->out, HTML_END "\n");
		}
	}
}
