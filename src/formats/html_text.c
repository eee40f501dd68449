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
	size_t at = 0, size, from = 0;

	while (at < text.size) {
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
		at += size;
	}
	if (at > from)
		rt_buf_add(out, text.ptr + from, at - from);
}

/* ---- without script ---- */

static rt_status
add_static_entry(const rt_alloc *alloc, const rt_node *node, rt_buf *scratch, rt_buf *text,
		 rt_buf *out, rt_error *err)
{
	rt_body body;
	rt_status st = rt_node_body(alloc, node, scratch, &body, err);

	if (st != RT_OK)
		return st;
	if (rt_body_is_hidden(node->kind, &body)) {
		rt_body_deinit(&body);
		return RT_OK;
	}
	rt_buf_clear(text);
	rt_body_add_text(text, &body);
	rt_buf_add_c(out, "<article>\n<h3>");
	rt_html_add_text(out, node->role.size > 0 ? node->role : node->kind);
	if (node->has_ts) {
		rt_buf_add_c(out, " <small>");
		rt_moment_format(out, node->ts);
		rt_buf_add_c(out, "</small>");
	}
	if (node->label.size > 0) {
		rt_buf_add_c(out, " <small>");
		rt_html_add_text(out, node->label);
		rt_buf_add_c(out, "</small>");
	}
	if (node->muted)
		rt_buf_add_c(out, " <small>muted</small>");
	if (node->edited)
		rt_buf_add_c(out, " <small>edited</small>");
	rt_buf_add_c(out, "</h3>\n<pre>\n");
	if (rt_node_is_purged(node))
		rt_buf_add_c(out, "This text was purged.");
	rt_html_add_text(out, rt_buf_str(text));
	if (text->status == RT_OK)
		rt_buf_clear(text);
	rt_content_add_parts(text, (rt_content){rt_str_at("", 0), body.content_json},
			     rt_body_field(&body, "tool_calls"));
	if (text->size > 0) { /* what is no text is at least named */
		rt_buf_add_c(out, "\n(");
		rt_html_add_text(out, rt_buf_str(text));
		rt_buf_add_c(out, ")");
	}
	rt_buf_add_c(out, "</pre>\n</article>\n");
	rt_body_deinit(&body);
	if (text->status != RT_OK)
		return rt_fail(err, text->status, "out of memory while exporting");
	return RT_OK;
}

/* What was taken out of a discussion before it was written (redact.h). */
static rt_status
add_static_note(const rt_alloc *alloc, const rt_outline *o, rt_buf *out, rt_error *err)
{
	rt_str json = rt_outline_field_of(o->fields, o->field_count, "redacted");
	rt_json_doc *doc = NULL;
	uint64_t entries = 0, places = 0;
	size_t i, max;
	yyjson_val *key, *value;
	rt_status st = json.size > 0 ? rt_json_read(alloc, json, &doc, err) : RT_OK;

	if (st == RT_OK && doc != NULL && rt_json_u64(rt_json_get(rt_json_root(doc), "entries"), &entries) &&
	    rt_json_u64(rt_json_get(rt_json_root(doc), "places"), &places) && places > 0) {
		rt_buf_add_f(out, "<p>Redacted: %llu entr%s, %llu place%s",
			     (unsigned long long)entries, entries == 1 ? "y" : "ies",
			     (unsigned long long)places, places == 1 ? "" : "s");
		yyjson_obj_foreach(rt_json_get(rt_json_root(doc), "kinds"), i, max, key, value)
		{
			rt_buf_add_c(out, i == 0 ? " (" : ", ");
			rt_html_add_text(out, rt_json_str(key));
			rt_buf_add_c(out, ": ");
			rt_html_add_text(out, rt_json_str(value));
			rt_buf_add_c(out, i + 1 == max ? ")" : "");
		}
		rt_buf_add_c(out, ".</p>\n");
	}
	rt_json_free(doc);
	return st == RT_NOMEM ? st : RT_OK;
}

rt_status
rt_html_add_static(const rt_alloc *alloc, const rt_outlines *in, rt_buf *out, rt_error *err)
{
	size_t left = HTML_STATIC_MAX, d, i;
	rt_status st = RT_OK;
	rt_buf scratch, text;

	rt_buf_init(&scratch, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&text, alloc, RT_BUF_UNLIMITED);
	for (d = 0; d < in->count && st == RT_OK; d++) {
		const rt_outline *o = &in->items[d];
		const rt_outline_take *takes = NULL;
		size_t take_count = 0, active = 0, shown;
		rt_arena *arena = rt_arena_new(alloc);

		st = arena == NULL ? rt_fail(err, RT_NOMEM, "out of memory while exporting")
				   : rt_outline_takes_of(alloc, arena, o, &takes, &take_count,
							 &active, err);
		rt_buf_add_c(out, "<section>\n<h2>");
		rt_html_add_text(out, o->name);
		rt_buf_add_c(out, "</h2>\n");
		if (st == RT_OK)
			st = add_static_note(alloc, o, out, err);
		shown = st == RT_OK && take_count > 0 ? takes[active].node_count : 0;
		if (shown > left)
			shown = left;
		for (i = 0; i < shown && st == RT_OK; i++)
			st = add_static_entry(alloc, &o->nodes[takes[active].nodes[i]], &scratch,
					      &text, out, err);
		left -= shown;
		if (st == RT_OK && take_count > 0 && shown < takes[active].node_count)
			rt_buf_add_f(out,
				     "<p>%zu more: they are in this file and are shown where scripts may "
				     "run; or import it, and export the take as markdown.</p>\n",
				     takes[active].node_count - shown);
		rt_buf_add_c(out, "</section>\n");
		rt_arena_free(arena);
	}
	rt_buf_deinit(&scratch);
	rt_buf_deinit(&text);
	return st;
}

/* ---- for the script ---- */

/* Words and sentences in one line, which would come out as they are: most short entries. */
static bool
is_plain(rt_str text)
{
	size_t i;

	for (i = 0; i < text.size; i++) {
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

static rt_status
add_text_blocks(rt_str text, rt_buf *out, rt_error *err)
{
	rt_error fault;
	rt_status st;

	if (is_plain(text)) {
		rt_buf_add_c(out, "null");
		return RT_OK;
	}
	st = rt_markup_blocks(out, text, NULL, NULL, &fault);
	if (st == RT_LIMIT && out->status == RT_OK) {
		rt_buf_add_c(out, "null");
		return RT_OK;
	}
	return st == RT_OK ? st : rt_fail(err, st, "out of memory while exporting");
}

static rt_status
add_node_blocks(const rt_alloc *alloc, const rt_node *node, rt_buf *scratch, rt_buf *out,
		rt_error *err)
{
	yyjson_val *block;
	size_t i, max;
	rt_body body;
	rt_status st = rt_node_body(alloc, node, scratch, &body, err);

	if (st != RT_OK)
		return st;
	if (body.content_json == NULL) {
		st = add_text_blocks(body.content, out, err);
	} else {
		rt_buf_add_byte(out, '[');
		yyjson_arr_foreach(body.content_json, i, max, block)
		{
			yyjson_val *text = rt_json_get(block, "text");

			rt_json_add_comma(out);
			if (!yyjson_is_str(text))
				rt_buf_add_c(out, "null");
			else if (st == RT_OK)
				st = add_text_blocks(rt_json_str(text), out, err);
		}
		rt_buf_add_byte(out, ']');
	}
	rt_body_deinit(&body);
	return st;
}

/* The blocks of some nodes, as one element. */
static rt_status
add_chunk(const rt_alloc *alloc, const rt_outline *o, const int64_t *nodes, size_t count,
	  rt_buf *scratch, rt_buf *json, rt_buf *out, rt_error *err)
{
	rt_status st = RT_OK;
	size_t i;

	rt_buf_clear(json);
	rt_buf_add_byte(json, '[');
	for (i = 0; i < count && st == RT_OK; i++) {
		rt_json_add_comma(json);
		st = add_node_blocks(alloc, &o->nodes[nodes[i]], scratch, json, err);
	}
	rt_buf_add_c(json, "]\n");
	if (st == RT_OK && json->status != RT_OK)
		st = rt_fail(err, json->status, "out of memory while exporting");
	if (st == RT_OK)
		rt_html_add_json(out, rt_buf_str(json));
	return st;
}

/* The numbers of those that were edited, as an array. */
static void
add_edited(const rt_outline *o, const int64_t *nodes, size_t count, rt_buf *json)
{
	size_t i;

	rt_buf_add_byte(json, '[');
	for (i = 0; i < count; i++)
		if (o->nodes[nodes[i]].edited) {
			rt_json_add_comma(json);
			rt_buf_add_u64(json, i);
		}
	rt_buf_add_byte(json, ']');
}

/* Some nodes of a take, at most HTML_FIRST_MAX, as an outline of their own. */
static rt_status
add_some(const rt_alloc *alloc, const rt_outline *o, const rt_outline_take *take, size_t before,
	 size_t count, rt_buf *out, rt_error *err)
{
	size_t i;
	rt_node nodes[HTML_FIRST_MAX];
	int64_t numbers[HTML_FIRST_MAX];
	rt_outline_take end = {.name = take->name, .nodes = numbers, .node_count = count};
	rt_outline part = {.name = o->name,
			   .nodes = nodes,
			   .node_count = count,
			   .takes = &end,
			   .take_count = 1};
	rt_outlines parts = {.items = &part, .count = 1, .has_active = true};
	rt_buf scratch, json;
	rt_status st;

	for (i = 0; i < count; i++) {
		nodes[i] = o->nodes[take->nodes[before + i]];
		numbers[i] = (int64_t)i;
	}
	rt_buf_init(&scratch, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&json, alloc, RT_BUF_UNLIMITED);
	rt_buf_add_f(out, HTML_FIRST "{\"before\":%zu,", before);
	add_edited(&part, numbers, count, &json);
	st = json.status == RT_OK ? RT_OK
				  : rt_fail(err, json.status, "out of memory while exporting");
	if (st == RT_OK && json.size > 2) /* not "[]" */
		rt_buf_add_f(out, "\"edited\":[%s],", json.ptr);
	rt_buf_add_c(out, "\"blocks\":");
	if (st == RT_OK)
		st = add_chunk(alloc, &part, numbers, count, &scratch, &json, out, err);
	if (st == RT_OK) {
		rt_buf_clear(&json);
		st = rt_canonical_write_shared(alloc, &parts, &json, err);
	}
	if (st == RT_OK) {
		rt_buf_add_c(out, ",\"data\":");
		rt_html_add_json(out, rt_buf_str(&json));
		rt_buf_add_c(out, "}" HTML_END "\n");
	}
	rt_buf_deinit(&scratch);
	rt_buf_deinit(&json);
	return st;
}

/* The last nodes of a take: as many as there may be, and as fit. */
static rt_status
add_end(const rt_alloc *alloc, const rt_outline *o, const rt_outline_take *take, rt_buf *out,
	rt_error *err)
{
	size_t end = take->node_count, count = 0, size = 0;
	rt_buf one;
	rt_status st = RT_OK;

	rt_buf_init(&one, alloc, RT_BUF_UNLIMITED);
	while (count < end && count < HTML_FIRST_MAX) {
		/* alone each is larger than with the others */
		rt_buf_clear(&one);
		st = add_some(alloc, o, take, end - count - 1, 1, &one, err);
		if (st == RT_OK && one.status != RT_OK)
			st = rt_fail(err, one.status, "out of memory while exporting");
		size += one.size;
		if (st != RT_OK || (count > 0 && size > HTML_FIRST_BYTES))
			break;
		count++;
	}
	rt_buf_deinit(&one);
	return st == RT_OK ? add_some(alloc, o, take, end - count, count, out, err) : st;
}

rt_status
rt_html_add_first(const rt_alloc *alloc, const rt_outlines *in, rt_buf *out, rt_error *err)
{
	const rt_outline *o;
	const rt_outline_take *takes = NULL, *take;
	size_t take_count = 0, active = 0, total = 0, i;
	rt_arena *arena;
	rt_status st;

	for (i = 0; i < in->count; i++)
		total += in->items[i].node_count;
	if (total < HTML_MANY)
		return RT_OK;
	o = &in->items[in->has_active && in->active < in->count ? in->active : 0];
	arena = rt_arena_new(alloc);
	st = arena == NULL
		     ? rt_fail(err, RT_NOMEM, "out of memory while exporting")
		     : rt_outline_takes_of(alloc, arena, o, &takes, &take_count, &active, err);
	take = st == RT_OK && take_count > 0 ? &takes[active] : NULL;
	if (take != NULL && take->node_count > 0 &&
	    (!o->has_head || o->head == take->nodes[take->node_count - 1]))
		st = add_end(alloc, o, take, out, err);
	rt_arena_free(arena);
	return st;
}

/* The nodes of a discussion in the order in which they are written out; to be freed. */
static rt_status
number_nodes(const rt_alloc *alloc, const rt_outline *o, int64_t **out, size_t *out_count,
	     rt_error *err)
{
	const rt_outline_take *takes = NULL;
	size_t take_count = 0, active = 0, count = 0, t, i;
	rt_arena *arena = rt_arena_new(alloc);
	bool *is_held = rt_new0(alloc, o->node_count + 1); /* by a take */
	int64_t *numbered = rt_new0(alloc, (o->node_count + 1) * sizeof(*numbered));
	rt_status st = arena != NULL && is_held != NULL && numbered != NULL
			       ? rt_outline_takes_of(alloc, arena, o, &takes, &take_count, &active,
						     err)
			       : rt_fail(err, RT_NOMEM, "out of memory while exporting");

	for (t = 0; st == RT_OK && t < take_count; t++)
		for (i = 0; i < takes[t].node_count; i++)
			if (!is_held[takes[t].nodes[i]]) {
				is_held[takes[t].nodes[i]] = true;
				numbered[count++] = takes[t].nodes[i];
			}
	rt_arena_free(arena);
	rt_free(alloc, is_held);
	if (st != RT_OK) {
		rt_free(alloc, numbered);
		return st;
	}
	*out = numbered;
	*out_count = count;
	return RT_OK;
}

rt_status
rt_html_add_edited(const rt_alloc *alloc, const rt_outlines *in, rt_buf *out, rt_error *err)
{
	rt_status st = RT_OK;
	bool any = false;
	rt_buf json;
	size_t d, i;

	rt_buf_init(&json, alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&json, '[');
	for (d = 0; d < in->count && st == RT_OK; d++) {
		const rt_outline *o = &in->items[d];
		int64_t *numbered = NULL;
		size_t count = 0;
		bool here = false;

		for (i = 0; i < o->node_count && !here; i++)
			here = o->nodes[i].edited;
		any = any || here;
		if (here)
			st = number_nodes(alloc, o, &numbered, &count, err);
		rt_json_add_comma(&json);
		if (st == RT_OK)
			add_edited(o, numbered, count, &json);
		rt_free(alloc, numbered);
	}
	rt_buf_add_c(&json, "]\n");
	if (st == RT_OK && json.status != RT_OK)
		st = rt_fail(err, json.status, "out of memory while exporting");
	if (st == RT_OK && any) {
		rt_buf_add_c(out, HTML_EDITED);
		rt_buf_add_str(out, rt_buf_str(&json));
		rt_buf_add_c(out, HTML_END "\n");
	}
	rt_buf_deinit(&json);
	return st;
}

static rt_status
add_discussion_blocks(const rt_alloc *alloc, const rt_outlines *in, size_t d, rt_buf *out,
		      rt_error *err)
{
	const rt_outline *o = &in->items[d];
	int64_t *numbered = NULL;
	size_t count = 0, i;
	rt_buf scratch, json;
	rt_status st = number_nodes(alloc, o, &numbered, &count, err);

	rt_buf_init(&scratch, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&json, alloc, RT_BUF_UNLIMITED);
	for (i = 0; i < count && st == RT_OK; i += HTML_CHUNK) {
		rt_buf_add_f(out, HTML_BLOCKS, d, i / HTML_CHUNK);
		st = add_chunk(alloc, o, numbered + i,
			       count - i < HTML_CHUNK ? count - i : HTML_CHUNK, &scratch, &json,
			       out, err);
		rt_buf_add_c(out, HTML_END "\n");
	}
	rt_free(alloc, numbered);
	rt_buf_deinit(&scratch);
	rt_buf_deinit(&json);
	return st;
}

rt_status
rt_html_add_blocks(const rt_alloc *alloc, const rt_outlines *in, rt_buf *out, rt_error *err)
{
	rt_status st = RT_OK;
	size_t d;

	for (d = 0; d < in->count && st == RT_OK; d++)
		st = add_discussion_blocks(alloc, in, d, out, err);
	return st;
}
