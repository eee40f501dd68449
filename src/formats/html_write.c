/* SPDX-License-Identifier: MIT
 *
 * Writing a page (html_impl.h describes it): its frame, the texts as plain HTML for those without
 * script, and the data and blocks for the script. */
#include <stdio.h> /* snprintf */

#include "base/encode.h"
#include "base/text.h"
#include "codec/content.h"
#include "codec/thinking.h"
#include "formats/canonical_impl.h"
#include "formats/html_impl.h"
#include "formats/html_part.h"
#include "markup/markup.h"
#include "markup/texts.h"

/* Append text so that it is text in HTML, whatever is in it. */
static void
add_text(rt_buf *out, rt_str text)
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

/* Append JSON so that it can be in an element. Only its strings can contain escaped characters. */
static void
add_json(rt_buf *out, rt_str json)
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

/* ---- without script ---- */

static void
add_small(rt_buf *out, rt_str text)
{
	rt_buf_add_c(out, " <small>");
	add_text(out, text);
	rt_buf_add_c(out, "</small>");
}

static bool
is_readable(rt_str bytes)
{
	for (size_t i = 0; i < bytes.size; i++)
		if ((unsigned char)bytes.ptr[i] < 0x20 &&
		    (bytes.ptr[i] < '\t' || bytes.ptr[i] > '\r'))
			return false;
	return rt_utf8_valid_size(bytes) == bytes.size;
}

/* An attached file with its data: a link to save it, and its text, if it has one. Its type is not
 * trusted: it is only saved, never opened. */
static void
add_static_file(rt_writer *w, yyjson_val *block)
{
	rt_str name = rt_json_text(block, "name"), data = rt_json_text(block, "data"), bytes;
	rt_buf *decoded = rt_scope_buf(&w->e);

	if (!rt_str_is(rt_json_text(block, "type"), "file") || name.size == 0 || data.size == 0 ||
	    !rt_buf_add_base64_decoded(decoded, data))
		return;
	bytes = rt_scope_str(&w->e, decoded);
	if (is_readable(bytes)) {
		rt_buf_add_c(w->out, "<details><summary>");
		add_text(w->out, name);
		rt_buf_add_c(w->out, "</summary><pre>\n");
		add_text(w->out, bytes);
		rt_buf_add_c(w->out, "</pre></details>\n");
	}
	rt_buf_add_c(w->out, "<p><a href=\"data:application/octet-stream;base64,");
	rt_buf_add_base64(w->out, bytes);
	rt_buf_add_c(w->out, "\" download=\"");
	add_text(w->out, name);
	rt_buf_add_c(w->out, "\">Save ");
	add_text(w->out, name);
	rt_buf_add_c(w->out, "</a></p>\n");
}

static void
add_static_entry(rt_writer *w, const rt_node *node)
{
	rt_buf *out = w->out, *text, *parts;
	const rt_body *body = rt_writer_body(w, node);

	if (body == NULL || rt_body_is_hidden(node->kind, body))
		return;
	rt_buf_add_c(out, "<article>\n<h3>");
	add_text(out, node->role.size > 0 ? node->role : node->kind);
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
	rt_buf_add_c(out, "</h3>\n");
	rt_body_parts all = rt_body_parts_of(&w->e, node->role, body);
	for (size_t i = 0; i < all.count; i++) {
		if (!all.items[i].is_thinking)
			continue;
		rt_buf_add_c(out, "<details><summary>Thinking</summary><pre>\n");
		add_text(out, all.items[i].text);
		rt_buf_add_c(out, "</pre></details>\n");
	}
	rt_buf_add_c(out, "<pre>\n");
	if (rt_node_is_purged(node))
		rt_buf_add_c(out, "This text was purged.");
	text = rt_scope_buf(&w->e);
	rt_body_add_prose(text, node->role, body);
	add_text(out, rt_scope_str(&w->e, text));
	parts = rt_scope_buf(&w->e);
	rt_content_add_parts(parts, (rt_content){rt_str_at("", 0), body->content_json},
			     rt_body_field(body, "tool_calls"));
	if (parts->size > 0) { /* other contents are at least named */
		rt_buf_add_c(out, "\n(");
		add_text(out, rt_scope_str(&w->e, parts));
		rt_buf_add_c(out, ")");
	}
	rt_buf_add_c(out, "</pre>\n");
	for (rt_json_iter m = rt_json_items(body->content_json); rt_json_next(&m);)
		add_static_file(w, m.value);
	rt_buf_add_c(out, "</article>\n");
}

/* The record of redactions in a discussion before it was written (redact.h). */
static void
add_static_note(rt_writer *w)
{
	const rt_outline *o = w->outline;
	yyjson_val *root = rt_writer_parse(
		w, &w->d, rt_outline_field_of(o->fields, o->field_count, "redacted"));
	uint64_t entries = 0, places = 0;
	const char *sign = " (";

	if (!rt_json_u64(rt_json_get(root, "entries"), &entries) ||
	    !rt_json_u64(rt_json_get(root, "places"), &places) || places == 0)
		return;
	rt_buf_add_f(w->out, "<p>Redacted: %llu entr%s, %llu place%s", (unsigned long long)entries,
		     entries == 1 ? "y" : "ies", (unsigned long long)places,
		     places == 1 ? "" : "s");
	for (rt_json_iter m = rt_json_each(rt_json_get(root, "kinds")); rt_json_next(&m);) {
		rt_buf_add_c(w->out, sign);
		add_text(w->out, m.key);
		rt_buf_add_c(w->out, ": ");
		add_text(w->out, rt_json_str(m.value));
		sign = ", ";
	}
	rt_buf_add_c(w->out, *sign == ',' ? ").</p>\n" : ".</p>\n");
}

void
rt_html_add_static(rt_writer *w)
{
	size_t left = HTML_STATIC_MAX;

	for (w->next = 0; rt_writer_next(w);) {
		const rt_outline_take *take = rt_writer_take(w);
		size_t count = take != NULL ? take->node_count : 0;
		size_t shown = count < left ? count : left;

		rt_buf_add_c(w->out, "<section>\n<h2>");
		add_text(w->out, w->outline->name);
		rt_buf_add_c(w->out, "</h2>\n");
		add_static_note(w);
		for (size_t i = 0; i < shown && rt_ok(&w->s); i++)
			add_static_entry(w, &w->outline->nodes[take->nodes[i]]);
		left -= shown;
		if (shown < count)
			rt_buf_add_f(
				w->out,
				"<p>%zu more: they are in this file and are shown where scripts may "
				"run; or import it, and export the take as markdown.</p>\n",
				count - shown);
		rt_buf_add_c(w->out, "</section>\n");
	}
}

/* ---- for the script ---- */

/* Words and sentences on one line, which markup leaves unchanged: most short entries. */
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
add_text_blocks(rt_writer *w, const rt_node *node, const rt_body *body, rt_str text, rt_buf *out)
{
	rt_status st = RT_LIMIT;

	if (!is_plain(text) && rt_body_thinks(node->role))
		st = rt_markup_parts(out, text, rt_body_is_cut(body), NULL);
	else if (!is_plain(text))
		st = rt_markup_blocks(out, text, NULL, NULL, NULL);

	if (st == RT_LIMIT)
		rt_buf_add_c(out, "null");
	else
		(void)rt_scope_note(&w->s, st);
}

static void
add_node_blocks(rt_writer *w, const rt_node *node, rt_buf *out)
{
	const rt_body *body = rt_writer_body(w, node);

	if (body == NULL)
		return;
	rt_json_add_comma(out);
	if (body->content_json == NULL) {
		add_text_blocks(w, node, body, body->content, out);
		return;
	}
	rt_buf_add_byte(out, '[');
	for (rt_json_iter m = rt_json_each(body->content_json); rt_json_next(&m);) {
		yyjson_val *text = rt_json_get(m.value, "text");

		rt_json_add_comma(out);
		if (yyjson_is_str(text))
			add_text_blocks(w, node, body, rt_json_str(text), out);
		else
			rt_buf_add_c(out, "null");
	}
	rt_buf_add_byte(out, ']');
}

/* The blocks of some nodes, as one array. */
static void
add_chunk(rt_writer *w, const int64_t *nodes, size_t count, rt_buf *out)
{
	rt_scope s;
	rt_buf *json;

	rt_scope_init(&s, w->s.alloc);
	json = rt_scope_buf(&s);
	rt_buf_add_byte(json, '[');
	for (size_t i = 0; i < count && rt_ok(&w->s); i++)
		add_node_blocks(w, &w->outline->nodes[nodes[i]], json);
	rt_buf_add_c(json, "]\n");
	add_json(out, rt_scope_str(&s, json));
	(void)rt_scope_join(&w->s, &s);
}

/* The shorter canonical form. */
static void
add_data(rt_writer *w, const rt_outlines *in, rt_buf *out)
{
	rt_scope s;
	rt_buf *json;

	rt_scope_init(&s, w->s.alloc);
	json = rt_scope_buf(&s);
	(void)RT_TRY(&s, rt_canonical_write_shared(s.alloc, in, json, &s.error));
	add_json(out, rt_scope_str(&s, json));
	(void)rt_scope_join(&w->s, &s);
}

/* The numbers of those that were edited, as an array. True: there are some. */
static bool
add_edited(const rt_outline *o, const int64_t *nodes, size_t count, rt_buf *json)
{
	size_t from;

	rt_json_open(json, NULL, '[');
	from = json->size;
	for (size_t i = 0; i < count; i++)
		if (o->nodes[nodes[i]].edited)
			rt_json_put_u64(json, NULL, i);
	from = json->size - from;
	rt_json_close(json, ']');
	return from > 0;
}

/* Some nodes of the shown take, at most HTML_FIRST_MAX, as a separate outline. */
static void
add_some(rt_writer *w, size_t before, size_t count, rt_buf *out)
{
	const rt_outline_take *take = rt_writer_take(w);
	const int64_t *nodes = take->nodes + before;
	rt_node copies[HTML_FIRST_MAX];
	int64_t numbers[HTML_FIRST_MAX];
	rt_outline_take end = {.name = take->name, .nodes = numbers, .node_count = count};
	rt_outline part = {.name = w->outline->name,
			   .nodes = copies,
			   .node_count = count,
			   .takes = &end,
			   .take_count = 1};
	rt_outlines parts = {.items = &part, .count = 1, .has_active = true};
	size_t from;

	for (size_t i = 0; i < count; i++) {
		copies[i] = w->outline->nodes[nodes[i]];
		numbers[i] = (int64_t)i;
	}
	rt_buf_add_f(out, HTML_FIRST "{\"before\":%zu,", before);
	from = out->size;
	rt_buf_add_c(out, "\"edited\":[");
	if (add_edited(&part, numbers, count, out))
		rt_buf_add_c(out, "],");
	else
		out->size = from;
	rt_buf_add_c(out, "\"blocks\":");
	add_chunk(w, nodes, count, out);
	rt_buf_add_c(out, ",\"data\":");
	add_data(w, &parts, out);
	rt_buf_add_c(out, "}" HTML_END "\n");
}

void
rt_html_add_first(rt_writer *w)
{
	const rt_outlines *in = w->in;
	const rt_outline_take *take;
	size_t total = 0, end, count = 0, size = 0;
	rt_buf *one;

	for (size_t i = 0; i < in->count; i++)
		total += in->items[i].node_count;
	w->next = in->has_active && in->active < in->count ? in->active : 0;
	if (total < HTML_MANY || !rt_writer_next(w))
		return;
	take = rt_writer_take(w);
	end = take != NULL ? take->node_count : 0;
	if (end == 0 || (w->outline->has_head && w->outline->head != take->nodes[end - 1]))
		return;
	one = rt_scope_buf(&w->d);
	for (; count < end && count < HTML_FIRST_MAX; count++) {
		/* alone each is larger than with the others */
		rt_buf_clear(one);
		add_some(w, end - count - 1, 1, one);
		size += rt_scope_str(&w->d, one).size;
		if (!rt_ok(&w->s) || !rt_ok(&w->d) || (count > 0 && size > HTML_FIRST_BYTES))
			break;
	}
	if (rt_ok(&w->s))
		add_some(w, end - count, count, w->out);
}

/* The nodes of the current discussion in the order in which the canonical form lists them. */
static const int64_t *
nodes_in_order(rt_writer *w, size_t *out_count)
{
	size_t all = w->outline->node_count, count = 0;
	bool *is_held = rt_scope_array(&w->d, all + 1, sizeof(*is_held));
	int64_t *nodes = rt_scope_array(&w->d, all + 1, sizeof(*nodes));

	for (size_t t = 0; t < w->take_count && rt_ok(&w->d); t++)
		for (size_t i = 0; i < w->takes[t].node_count; i++) {
			int64_t node = w->takes[t].nodes[i];

			if (!is_held[node])
				nodes[count++] = node;
			is_held[node] = true;
		}
	(void)rt_scope_note(&w->s, w->d.status);
	*out_count = count;
	return nodes;
}

/* The numbers of those with alternatives, each with the number of these, as add_edited. */
static bool
add_alternatives(const rt_outline *o, const int64_t *nodes, size_t count, rt_buf *json)
{
	bool any = false;

	rt_json_open(json, NULL, '[');
	for (size_t i = 0; i < count; i++) {
		if (o->nodes[nodes[i]].alternatives == 0)
			continue;
		any = true;
		rt_json_open(json, NULL, '[');
		rt_json_put_u64(json, NULL, i);
		rt_json_put_u64(json, NULL, o->nodes[nodes[i]].alternatives);
		rt_json_close(json, ']');
	}
	rt_json_close(json, ']');
	return any;
}

/* An element with one list for each discussion, unless all are empty. */
static void
add_lists(rt_writer *w, const char *element, bool (*add)(const rt_outline *, const int64_t *, size_t, rt_buf *))
{
	bool any = false;
	size_t start = w->out->size, count;

	rt_buf_add_c(w->out, element);
	rt_buf_add_c(w->out, "[");
	for (w->next = 0; rt_writer_next(w);) {
		const int64_t *nodes = nodes_in_order(w, &count);

		any = add(w->outline, nodes, count, w->out) || any;
	}
	rt_buf_add_c(w->out, "]\n" HTML_END "\n");
	if (!any && w->out->status == RT_OK)
		w->out->size = start;
}

void
rt_html_add_blocks(rt_writer *w)
{
	for (w->next = 0; rt_writer_next(w);) {
		size_t number = w->next - 1, count;
		const int64_t *nodes = nodes_in_order(w, &count);

		for (size_t i = 0; i < count && rt_ok(&w->s); i += HTML_CHUNK) {
			rt_buf_add_f(w->out, HTML_BLOCKS, number, i / HTML_CHUNK);
			add_chunk(w, nodes + i, count - i < HTML_CHUNK ? count - i : HTML_CHUNK,
				  w->out);
			rt_buf_add_c(w->out, HTML_END "\n");
		}
	}
}

/* ---- the frame ---- */

static void
add_title(rt_buf *out, const rt_outlines *in)
{
	rt_str name = {NULL, 0};

	if (in->count > 0)
		name = in->items[in->has_active && in->active < in->count ? in->active : 0].name;
	rt_buf_add_c(out, "<title>");
	if (name.size > 0) {
		add_text(out, name);
		rt_buf_add_c(out, " - ");
	}
	rt_buf_add_c(out, "Retake</title>\n");
}

static void
add_element(rt_buf *out, const char *name, const rt_html_part *part)
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
		rt_buf_add_f(out, "script-src %s %s; ", rt_html_script.source,
			     rt_html_math.source);
	if (rt_html_style.size > 0)
		rt_buf_add_f(out, "style-src %s; ", rt_html_style.source);
	rt_buf_add_c(out,
		     "img-src data:; base-uri 'none'; form-action 'none'\">\n" HTML_GENERATOR
		     "\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		     "<meta name=\"color-scheme\" content=\"light dark\">\n"
		     "<meta name=\"referrer\" content=\"no-referrer\">\n"
		     "<link rel=\"icon\" href=\"data:,\">\n");
	add_title(out, in);
	add_element(out, "style", &rt_html_style);
	rt_buf_add_c(out, "</head>\n<body>\n");
}

/* In JSON strings the quotes are escaped: so this is a block and not text. */
static void
add_blocks_and_math(rt_writer *w)
{
	size_t from = w->out->size;

	rt_html_add_blocks(w);
	if (w->out->status == RT_OK &&
	    rt_str_find(rt_buf_str(w->out), RT_STR("{\"t\":\"math\""), from) != SIZE_MAX)
		add_element(w->out, "script", &rt_html_math);
}

static void
add_page(rt_writer *w)
{
	bool has_script = rt_html_script.size > 0; /* otherwise the text is for all readers */

	add_head(w->out, w->in);
	if (has_script) {
		rt_html_add_first(w);
		add_element(w->out, "script", &rt_html_script);
	}
	rt_buf_add_c(w->out,
		     has_script ? "<noscript>\n<main id=\"page\">\n" : "<main id=\"page\">\n");
	rt_html_add_static(w);
	rt_buf_add_c(w->out, has_script ? "</main>\n</noscript>\n" : "</main>\n");
	rt_buf_add_c(w->out, HTML_DATA);
	add_data(w, w->in, w->out);
	rt_buf_add_c(w->out, HTML_END "\n");
	add_lists(w, HTML_EDITED, add_edited);
	add_lists(w, HTML_ALTERNATIVES, add_alternatives);
	if (has_script)
		add_blocks_and_math(w);
	rt_buf_add_c(w->out, "</body>\n</html>\n");
}

/* A page contains all takes and all data, whatever the options. */
rt_status
rt_html_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
	      rt_buf *out, rt_error *err)
{
	rt_writer w;
	rt_status st;

	(void)options;
	rt_writer_init(&w, alloc, in, NULL, out);
	add_page(&w);
	st = rt_writer_end(&w, err);
	if (st == RT_NOMEM || st == RT_LIMIT)
		return rt_fail(err, st, "out of memory while exporting");
	return st;
}
