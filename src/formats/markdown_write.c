/* SPDX-License-Identifier: MIT
 *
 * Writing Markdown. */
#include "codec/content.h"
#include "formats/formats_extras.h"
#include "formats/markdown_impl.h"

typedef struct writer {
	const rt_alloc *alloc;
	const rt_outlines *in;
	bool lossless, whole;
	rt_buf *out;
	rt_error *err;
	rt_status status;
	rt_buf scratch; /* a body being taken apart */
	rt_buf text;    /* its text */
	rt_buf json;    /* a comment under construction */
} writer;

/* The object in w->json as a comment. A ">" inside JSON can only be in a string. */
static void
add_comment(writer *w)
{
	rt_str json = rt_buf_str(&w->json);
	size_t from = 0, i;

	rt_buf_add_c(w->out, MARKDOWN_OPEN);
	for (i = 0; i < json.size; i++) {
		if (json.ptr[i] != '>')
			continue;
		rt_buf_add(w->out, json.ptr + from, i - from);
		rt_buf_add_c(w->out, "\\u003e");
		from = i + 1;
	}
	if (json.size > from)
		rt_buf_add(w->out, json.ptr + from, json.size - from);
	rt_buf_add_c(w->out, MARKDOWN_CLOSE "\n");
	if (w->json.status != RT_OK)
		w->status = w->json.status;
}

/* "## User · 2026-11-21T20:35:40Z · muted" */
static void
add_heading(writer *w, const rt_node *node)
{
	rt_str role = node->role.size > 0 ? node->role : node->kind;
	size_t from;

	rt_buf_add_c(w->out, "## ");
	from = w->out->size;
	rt_markdown_add_role(w->out, role);
	if (node->has_ts) {
		rt_buf_add_c(w->out, MARKDOWN_DOT " ");
		rt_moment_format(w->out, node->ts);
	}
	if (node->muted)
		rt_buf_add_c(w->out, MARKDOWN_DOT " muted");
	if (rt_node_is_purged(node))
		rt_buf_add_c(w->out, MARKDOWN_DOT " purged");
	if (w->out->status == RT_OK && !node->has_ts && !node->muted &&
	    !rt_node_is_purged(node) &&
	    !rt_markdown_is_usual(rt_str_at(w->out->ptr + from, w->out->size - from)))
		rt_buf_add_c(w->out, MARKDOWN_DOT);
	rt_buf_add_c(w->out, "\n\n");
}

/* The text of an entry into w->text. */
static bool
take_text(writer *w, const rt_body *body)
{
	rt_buf_clear(&w->text);
	rt_body_add_text(&w->text, body);
	if (w->text.status != RT_OK)
		w->status = w->text.status;
	return w->status == RT_OK;
}

/* Lines with a backslash before those that would be taken for something else. */
static void
add_escaped(writer *w, rt_str text, bool preamble)
{
	size_t at = 0;
	rt_str line;

	while (rt_markdown_line(text, &at, &line)) {
		size_t slashes = 0;
		char first;

		while (slashes < line.size && line.ptr[slashes] == '\\')
			slashes++;
		first = slashes < line.size ? line.ptr[slashes] : ' ';
		if (preamble ? first == '#' || first == '*' || first == '<'
			     : rt_markdown_needs_escape(line))
			rt_buf_add_byte(w->out, '\\');
		rt_buf_add_str(w->out, line);
		rt_buf_add_byte(w->out, '\n');
	}
}

/* What is no text is at least named, as show does: "(an image)", "(calls read)". */
static void
add_parts(writer *w, const rt_body *body)
{
	rt_buf_clear(&w->text);
	rt_content_add_parts(&w->text, (rt_content){rt_str_at("", 0), body->content_json},
			     rt_body_field(body, "tool_calls"));
	if (w->text.status != RT_OK) {
		w->status = w->text.status;
	} else if (w->text.size > 0) {
		rt_buf_add_byte(w->out, '(');
		rt_markdown_add_line(w->out, rt_buf_str(&w->text));
		rt_buf_add_c(w->out, ")\n\n");
	}
}

static void
add_plain_entry(writer *w, const rt_node *node)
{
	rt_body body;
	rt_str text;
	rt_status st = rt_node_body(w->alloc, node, &w->scratch, &body, w->err);

	if (st != RT_OK) {
		w->status = st;
		return;
	}
	if (rt_body_is_hidden(node->kind, &body)) { /* not for people; --lossless has it */
		rt_body_deinit(&body);
		return;
	}
	add_heading(w, node);
	if (take_text(w, &body)) {
		text = rt_markdown_trim(rt_buf_str(&w->text));
		if (text.size > 0) {
			add_escaped(w, text, false);
			rt_buf_add_byte(w->out, '\n');
		}
		add_parts(w, &body);
	}
	rt_body_deinit(&body);
}

static void
add_lossless_entry(writer *w, const rt_node *node, size_t number)
{
	rt_body body;
	rt_status st = rt_node_body(w->alloc, node, &w->scratch, &body, w->err);

	if (st != RT_OK) {
		w->status = st;
		return;
	}
	if (take_text(w, &body)) {
		rt_buf_clear(&w->json);
		rt_buf_add_f(&w->json, "{\"n\":%zu,\"bytes\":%zu,\"entry\":", number, w->text.size);
		rt_extras_add(&w->json, node, &body);
		if (body.content_json != NULL && !rt_extras_has_record(node)) {
			rt_json_add_key(&w->json, "content");
			rt_json_add_value(&w->json, body.content_json);
		}
		rt_buf_add_byte(&w->json, '}');
		add_comment(w);
		add_heading(w, node);
		rt_buf_add_str(w->out, rt_buf_str(&w->text));
		rt_buf_add_c(w->out, "\n\n");
	}
	rt_body_deinit(&body);
}

/* The title, unless it would be taken for a speaker. */
static bool
add_title(writer *w, const rt_outline *o)
{
	rt_buf line;
	rt_heading heading;
	bool written = false;

	rt_buf_init(&line, w->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&line, "# ");
	rt_markdown_add_line(&line, o->name);
	if (line.status != RT_OK)
		w->status = line.status;
	else if (line.size > 2 && !rt_markdown_heading(rt_buf_str(&line), &heading)) {
		rt_buf_add_str(w->out, rt_buf_str(&line));
		rt_buf_add_c(w->out, "\n\n");
		written = true;
	}
	rt_buf_deinit(&line);
	return written;
}

static void
add_take_name(writer *w, const rt_outline *o, const rt_outline_take *take)
{
	rt_buf name, title;

	rt_buf_init(&name, w->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&title, w->alloc, RT_BUF_UNLIMITED);
	rt_markdown_add_line(&name, take->name);
	rt_markdown_add_line(&title, o->name);
	if (name.status != RT_OK || title.status != RT_OK) {
		w->status = RT_NOMEM;
	} else if (name.size > 0 && !rt_str_eq(rt_buf_str(&name), rt_buf_str(&title))) {
		rt_buf_add_c(w->out, "*Take: ");
		rt_buf_add_str(w->out, rt_buf_str(&name));
		rt_buf_add_c(w->out, "*\n\n");
	}
	rt_buf_deinit(&name);
	rt_buf_deinit(&title);
}

/* What stood before the first speaker of an imported file. */
static void
add_preamble(writer *w, const rt_outline *o)
{
	rt_str json = rt_outline_field_of(o->fields, o->field_count, MARKDOWN_PREAMBLE), text;
	rt_json_doc *doc = NULL;
	rt_status st;

	if (json.size == 0)
		return;
	st = rt_json_read(w->alloc, json, &doc, NULL);
	if (st == RT_NOMEM)
		w->status = st;
	if (st != RT_OK)
		return;
	text = rt_markdown_trim(rt_json_str(rt_json_root(doc)));
	if (yyjson_is_str(rt_json_root(doc)) && text.size > 0) {
		add_escaped(w, text, true);
		rt_buf_add_byte(w->out, '\n');
	}
	rt_json_free(doc);
}

static void
add_plain(writer *w, const rt_outline *o, const rt_outline_take *take)
{
	size_t i, count = take == NULL ? 0 : take->node_count;

	if (w->in->count != 1 || count == 0)
		rt_buf_add_c(w->out, MARKDOWN_BREAK "\n");
	(void)add_title(w, o);
	if (take != NULL)
		add_take_name(w, o, take);
	add_preamble(w, o);
	for (i = 0; i < count && w->status == RT_OK; i++)
		add_plain_entry(w, &o->nodes[take->nodes[i]]);
}

static void
add_lossless(writer *w, rt_extras_discussion *d)
{
	const rt_outline *o = d->outline;
	int64_t *numbers = rt_new_array(w->alloc, o->node_count + 1, sizeof(*numbers));
	int64_t *order = rt_new_array(w->alloc, o->node_count + 1, sizeof(*order));
	size_t count, own, i;

	if (numbers == NULL || order == NULL) {
		w->status = RT_NOMEM;
		goto done;
	}
	rt_extras_number(o, d->takes, d->take_count, d->active, w->whole, numbers, order, &own,
			 &count);
	d->numbers = numbers;
	rt_buf_clear(&w->json);
	rt_buf_add_f(&w->json, "{\"own\":%zu,\"discussion\":", own);
	rt_extras_add_discussion(&w->json, d);
	rt_buf_add_byte(&w->json, '}');
	add_comment(w);
	(void)add_title(w, o);
	if (d->take_count > 0)
		add_take_name(w, o, &d->takes[d->active]);
	for (i = 0; i < count && w->status == RT_OK; i++)
		add_lossless_entry(w, &o->nodes[order[i]], i);
done:
	rt_free(w->alloc, numbers);
	rt_free(w->alloc, order);
}

static void
add_discussion(writer *w, size_t at)
{
	const rt_outline *o = &w->in->items[at];
	rt_extras_discussion d = {.all = w->in, .outline = o, .whole = w->whole, .is_first = at == 0};
	rt_arena *arena = rt_arena_new(w->alloc);

	if (arena == NULL)
		w->status = RT_NOMEM;
	else
		w->status = rt_outline_takes_of(w->alloc, arena, o, &d.takes, &d.take_count,
						&d.active, w->err);
	if (w->status == RT_OK && w->lossless)
		add_lossless(w, &d);
	else if (w->status == RT_OK)
		add_plain(w, o, d.take_count > 0 ? &d.takes[d.active] : NULL);
	rt_arena_free(arena);
}

rt_status
rt_markdown_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
		  rt_buf *out, rt_error *err)
{
	writer w = {.alloc = alloc, .in = in, .out = out, .err = err, .status = RT_OK};
	size_t i;

	if (options != NULL) {
		w.lossless = options->lossless;
		w.whole = options->whole;
	}
	rt_buf_init(&w.scratch, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&w.text, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&w.json, alloc, RT_BUF_UNLIMITED);
	if (in->count == 0)
		rt_buf_add_c(out, MARKDOWN_NOTHING "\n");
	for (i = 0; i < in->count && w.status == RT_OK; i++)
		add_discussion(&w, i);
	rt_buf_deinit(&w.scratch);
	rt_buf_deinit(&w.text);
	rt_buf_deinit(&w.json);
	if (w.status == RT_NOMEM || (w.status == RT_OK && out->status != RT_OK))
		return rt_fail(err, w.status == RT_OK ? out->status : w.status,
			       "the export does not fit in memory");
	return w.status;
}
