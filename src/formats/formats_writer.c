/* SPDX-License-Identifier: MIT
 *
 * Walks over outlines end even if a cycle was not repaired: none is longer than the number of
 * nodes. */
#include "formats/formats_writer.h"

#include <stdio.h> /* snprintf only */

#include "formats/formats_build.h"

void
rt_writer_init(rt_writer *w, const rt_alloc *alloc, const rt_outlines *in,
	       const rt_export_options *options, rt_buf *out)
{
	memset(w, 0, sizeof(*w));
	rt_scope_init(&w->s, alloc);
	rt_scope_init(&w->d, alloc);
	rt_scope_init(&w->e, alloc);
	w->in = in;
	if (options != NULL)
		w->options = *options;
	w->out = out;
	w->scratch = rt_scope_buf(&w->s);
}

rt_status
rt_writer_end(rt_writer *w, rt_error *err)
{
	rt_body_deinit(&w->body);
	(void)rt_scope_join(&w->s, &w->e);
	(void)rt_scope_join(&w->s, &w->d);
	(void)rt_scope_note(&w->s, w->out->status);
	if (w->s.status == RT_NOMEM || (!rt_ok(&w->s) && w->s.status == w->out->status))
		(void)rt_fail(&w->s.error, w->s.status, "the export does not fit in memory");
	return rt_scope_end(&w->s, err);
}

void
rt_writer_reset(rt_writer *w)
{
	(void)rt_scope_note(&w->s, w->e.status);
	rt_scope_reset(&w->e);
}

const rt_body *
rt_writer_body(rt_writer *w, const rt_node *node)
{
	rt_writer_reset(w);
	rt_body_deinit(&w->body);
	memset(&w->body, 0, sizeof(w->body));
	(void)RT_TRY(&w->s, rt_node_body(w->s.alloc, node, w->scratch, &w->body, &w->s.error));
	return rt_ok(&w->s) ? &w->body : NULL;
}

static void
close_doc(void *doc)
{
	rt_json_free(doc);
}

yyjson_val *
rt_writer_parse(rt_writer *w, rt_scope *as, rt_str json)
{
	rt_json_doc *doc = NULL;

	if (json.size == 0 || !rt_ok(&w->s))
		return NULL;
	if (rt_json_read(w->s.alloc, json, &doc, NULL) == RT_NOMEM)
		(void)rt_scope_nomem(&w->s);
	rt_scope_defer(as, close_doc, doc);
	(void)rt_scope_note(&w->s, as->status);
	return rt_ok(&w->s) && doc != NULL ? rt_json_root(doc) : NULL;
}

/* ---- members ---- */

const rt_member *
rt_member_find(const rt_member *members, size_t count, rt_str name)
{
	for (size_t i = 0; i < count; i++)
		if (rt_str_is(name, members[i].name))
			return &members[i];
	return NULL;
}

void
rt_member_write(rt_buf *buf, const rt_member *member, const rt_node *node)
{
	const void *field = (const char *)node + member->offset;
	rt_str text;

	switch (member->type) {
	case RT_MEMBER_TEXT:
	case RT_MEMBER_TEXT_ALWAYS:
	case RT_MEMBER_KIND:
		text = *(const rt_str *)field;
		if (member->type == RT_MEMBER_TEXT_ALWAYS ||
		    (text.size > 0 &&
		     (member->type == RT_MEMBER_TEXT || !rt_str_is(text, "message"))))
			rt_json_put_str(buf, member->name, text);
		break;
	case RT_MEMBER_FLAG:
		if (*(const bool *)field)
			rt_json_put_bool(buf, member->name, true);
		break;
	case RT_MEMBER_TS:
		if (!node->has_ts)
			break;
		rt_json_add_key(buf, member->name);
		rt_buf_add_byte(buf, '"');
		rt_moment_format(buf, node->ts);
		rt_buf_add_byte(buf, '"');
		break;
	case RT_MEMBER_PURGED:
		if (rt_node_is_purged(node))
			rt_json_put_bool(buf, member->name, true);
		break;
	case RT_MEMBER_CONTENT: break;
	}
}

bool
rt_member_read(const rt_member *member, yyjson_val *object, rt_node *node)
{
	yyjson_val *value = rt_json_get(object, member->name);
	void *field = (char *)node + member->offset;

	if (value == NULL)
		return true;
	switch (member->type) {
	case RT_MEMBER_TEXT:
	case RT_MEMBER_TEXT_ALWAYS:
	case RT_MEMBER_KIND:
		if (!yyjson_is_str(value) && !rt_json_is_number(value))
			return false;
		if (member->type != RT_MEMBER_KIND || !rt_str_is(rt_json_str(value), "message"))
			*(rt_str *)field = rt_json_str(value);
		return true;
	case RT_MEMBER_FLAG: *(bool *)field = yyjson_is_true(value); return yyjson_is_bool(value);
	case RT_MEMBER_TS: node->has_ts = rt_build_moment(value, &node->ts); return node->has_ts;
	case RT_MEMBER_PURGED:
	case RT_MEMBER_CONTENT: break;
	}
	return true;
}

/* ---- outlines ---- */

rt_str
rt_outline_field_of(const rt_outline_field *fields, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (rt_str_is(fields[i].name, name))
			return fields[i].json;
	return rt_str_at(NULL, 0);
}

rt_str
rt_outline_source_id(rt_scope *s, const rt_outline *o, const char *format)
{
	rt_str json = rt_outline_field_of(o->fields, o->field_count, "source"), source = o->source;

	if (json.size > 0)
		source = rt_json_str(rt_json_parse(s, json));
	return rt_str_starts(source, rt_str_of(format)) && source.size > strlen(format) &&
			       source.ptr[strlen(format)] == ':'
		       ? rt_str_skip(source, strlen(format) + 1)
		       : RT_STR("");
}

rt_status
rt_node_body(const rt_alloc *alloc, const rt_node *node, rt_buf *scratch, rt_body *out,
	     rt_error *err)
{
	memset(out, 0, sizeof(*out));
	if (node->body_format == RT_BODY_TEXT || node->body_format == RT_BODY_PURGED) {
		out->format = node->body_format;
		if (node->body_format == RT_BODY_TEXT)
			out->content = node->body;
		return RT_OK;
	}
	rt_buf_clear(scratch);
	rt_buf_add_byte(scratch, node->body_format);
	rt_buf_add_str(scratch, node->body);
	if (scratch->status != RT_OK)
		return rt_fail(err, scratch->status, "out of memory while exporting");
	return rt_body_read(alloc, rt_buf_str(scratch), out, err);
}

bool
rt_node_is_purged(const rt_node *node)
{
	return node->body_format == RT_BODY_PURGED ||
	       (node->body_format == RT_BODY_JSON &&
		rt_str_is(node->body, "{\"content\":\"\",\"purged\":true}"));
}

size_t
rt_outline_take_find(const rt_outline_take *take, int64_t node)
{
	for (size_t i = 0; i < take->node_count; i++)
		if (take->nodes[i] == node)
			return i;
	return SIZE_MAX;
}

static bool
has_parent(const rt_outline *o, int64_t node)
{
	int64_t parent = o->nodes[node].parent;

	return parent >= 0 && (size_t)parent < o->node_count;
}

/* The path from the root to the leaf, -1: an empty one. */
static void
make_take(rt_scope *s, const rt_outline *o, int64_t leaf, size_t number, rt_outline_take *out)
{
	int64_t *path, node = leaf;
	size_t count = leaf >= 0 && (size_t)leaf < o->node_count;

	for (; count > 0 && count < o->node_count && has_parent(o, node); count++)
		node = o->nodes[node].parent;
	path = rt_scope_array(s, count, sizeof(*path));
	node = leaf;
	for (size_t at = count; path != NULL && at > 0; node = o->nodes[node].parent)
		path[--at] = node;
	*out = (rt_outline_take){.name = o->name, .nodes = path, .node_count = count};
	if (number > 0) {
		char *name = rt_scope_get(s, o->name.size + 32);

		if (name == NULL)
			return;
		if (o->name.size > 0)
			memcpy(name, o->name.ptr, o->name.size);
		out->name = rt_str_at(name, o->name.size + (size_t)snprintf(name + o->name.size, 32,
									    "_take_%zu", number));
	}
}

/* The last leaf whose path holds the head, or the head itself. Each node is walked over
 * at most twice: state 1 marks nodes that lead to the head, 2 those that do not. */
static int64_t
leaf_of_head(rt_scope *s, const rt_outline *o, const bool *is_inner)
{
	int64_t head = o->has_head ? o->head : (int64_t)o->node_count - 1;
	char *state;

	if (head < 0 || (size_t)head >= o->node_count || !is_inner[head])
		return head;
	state = rt_scope_get(s, o->node_count);
	if (state == NULL)
		return -1;
	state[head] = 1;
	for (int64_t i = (int64_t)o->node_count - 1; i >= 0; i--) {
		int64_t node = i;

		if (is_inner[i])
			continue;
		for (; state[node] == 0 && has_parent(o, node); node = o->nodes[node].parent)
			state[node] = 2; /* also ends a cycle */
		if (state[node] == 1)
			return i;
		state[node] = 2;
	}
	return head;
}

/* One take for every leaf, the head's first. */
static size_t
make_takes(rt_scope *s, const rt_outline *o, rt_outline_take **out)
{
	bool *is_inner = rt_scope_array(s, o->node_count, sizeof(*is_inner));
	size_t leaves = 0, count = 0;
	int64_t first;

	if (is_inner == NULL)
		return 0;
	for (size_t i = 0; i < o->node_count; i++)
		if (has_parent(o, (int64_t)i))
			is_inner[o->nodes[i].parent] = true;
	for (size_t i = 0; i < o->node_count; i++)
		leaves += !is_inner[i];
	first = leaf_of_head(s, o, is_inner);
	*out = rt_scope_array(s, leaves + 1, sizeof(**out));
	if (*out == NULL)
		return 0;
	if (first >= 0 || leaves == 0) {
		make_take(s, o, first, 0, *out);
		count = 1;
	}
	for (size_t i = 0; i < o->node_count; i++)
		if (!is_inner[i] && (int64_t)i != first) {
			make_take(s, o, (int64_t)i, count, *out + count);
			count++;
		}
	return count;
}

static void
find_takes(rt_scope *s, const rt_outline *o, const rt_outline_take **out, size_t *out_count,
	   size_t *out_active)
{
	rt_outline_take *made = NULL;

	*out = o->takes;
	*out_count = o->take_count;
	*out_active = o->active_take < o->take_count ? o->active_take : 0;
	if (o->take_count > 0)
		return;
	*out_count = make_takes(s, o, &made);
	*out = made;
}

rt_status
rt_outline_takes_of(const rt_alloc *alloc, rt_arena *arena, const rt_outline *outline,
		    const rt_outline_take **out_takes, size_t *out_count, size_t *out_active,
		    rt_error *err)
{
	rt_scope s = {.alloc = alloc, .arena = arena};

	find_takes(&s, outline, out_takes, out_count, out_active);
	return rt_ok(&s) ? RT_OK : rt_fail(err, s.status, "out of memory while exporting");
}

/* ---- the current discussion ---- */

bool
rt_writer_next(rt_writer *w)
{
	(void)rt_scope_note(&w->s, w->d.status);
	rt_scope_reset(&w->d);
	if (!rt_ok(&w->s) || w->next == w->in->count)
		return false;
	w->outline = &w->in->items[w->next++];
	find_takes(&w->d, w->outline, &w->takes, &w->take_count, &w->active);
	return rt_scope_note(&w->s, w->d.status) == RT_OK;
}

const rt_outline_take *
rt_writer_take(const rt_writer *w)
{
	return w->take_count > 0 ? &w->takes[w->active] : NULL;
}

const int64_t *
rt_writer_number(rt_writer *w, const int64_t **out_order, size_t *out_own, size_t *out_count)
{
	size_t count = 0;
	int64_t *numbers = rt_scope_array(&w->d, w->outline->node_count, sizeof(*numbers));
	int64_t *order = rt_scope_array(&w->d, w->outline->node_count, sizeof(*order));

	*out_own = *out_count = 0;
	if (rt_scope_note(&w->s, w->d.status) != RT_OK)
		return NULL;
	for (size_t i = 0; i < w->outline->node_count; i++)
		numbers[i] = -1;
	/* the active take first, and again in its turn, when it adds nothing */
	for (size_t t = 0; t <= (w->options.whole ? w->take_count : 0); t++) {
		const rt_outline_take *take = t == 0 ? rt_writer_take(w) : &w->takes[t - 1];

		for (size_t i = 0; take != NULL && i < take->node_count; i++)
			if (numbers[take->nodes[i]] < 0) {
				numbers[take->nodes[i]] = (int64_t)count;
				order[count++] = take->nodes[i];
			}
		*out_own = t == 0 ? count : *out_own;
	}
	*out_order = order;
	*out_count = count;
	return numbers;
}
