/* SPDX-License-Identifier: MIT
 *
 * Lists in the heap while a discussion grows, copied to the arena when it is done. */
#include "formats/formats_build.h"

#include <stdlib.h> /* qsort */

#include "base/encode.h"

static void *
arena_get(rt_build *b, size_t size)
{
	void *to = rt_ok(&b->s) ? rt_arena_get(b->arena, size) : NULL;

	if (to == NULL)
		(void)rt_scope_nomem(&b->s);
	return to;
}

static void *
arena_copy(rt_build *b, const void *from, size_t size)
{
	void *to = size == 0 ? NULL : arena_get(b, size);

	if (to != NULL) {
		memcpy(to, from, size);
		b->copied += size;
	}
	return to;
}

void
rt_build_init(rt_build *b, const rt_alloc *alloc, rt_report *report)
{
	memset(b, 0, sizeof(*b));
	rt_scope_init(&b->s, alloc);
	b->alloc = alloc;
	b->report = report;
	b->arena = rt_arena_new(alloc);
	if (b->arena == NULL)
		(void)rt_scope_nomem(&b->s);
	b->body = rt_scope_buf(&b->s);
	b->blocks = rt_scope_buf(&b->s);
	b->scratch = rt_scope_buf(&b->s);
}

void
rt_build_deinit(rt_build *b)
{
	rt_json_free(b->doc);
	b->doc = NULL;
	rt_scope_deinit(&b->s);
	rt_arena_free(b->arena);
	b->arena = NULL;
}

typedef struct ordered_field {
	rt_outline_field field;
	size_t order;
} ordered_field;

static int
field_order(const void *a, const void *b)
{
	const ordered_field *x = a, *y = b;
	int order = rt_str_cmp(x->field.name, y->field.name);

	return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

/* Sorted by name, the last of each name; in the arena. */
static rt_outline_field *
fields_done(rt_build *b, rt_items *vec, size_t *out_count)
{
	const rt_outline_field *from = vec->items;
	ordered_field *sorted;
	rt_outline_field *to;
	size_t kept = 0;

	*out_count = 0;
	if (!rt_ok(&b->s) || vec->count == 0)
		return NULL;
	sorted = rt_new_array(b->alloc, vec->count, sizeof(*sorted));
	to = arena_get(b, vec->count * sizeof(*to));
	if (sorted == NULL)
		(void)rt_scope_nomem(&b->s);
	if (!rt_ok(&b->s)) {
		rt_free(b->alloc, sorted);
		return NULL;
	}
	for (size_t i = 0; i < vec->count; i++)
		sorted[i] = (ordered_field){from[i], i};
	qsort(sorted, vec->count, sizeof(*sorted), field_order);
	for (size_t i = 0; i < vec->count; i++)
		if (i + 1 == vec->count ||
		    !rt_str_eq(sorted[i].field.name, sorted[i + 1].field.name))
			to[kept++] = sorted[i].field;
	rt_free(b->alloc, sorted);
	*out_count = kept;
	return to;
}

static void
discussion_done(rt_build *b)
{
	rt_outline *outline;

	if (!b->in_discussion || !rt_ok(&b->s))
		return;
	b->in_discussion = false;
	outline = (rt_outline *)b->outlines.items + (b->outlines.count - 1);
	outline->node_count = b->nodes.count;
	outline->nodes = arena_copy(b, b->nodes.items, b->nodes.count * sizeof(rt_node));
	outline->take_count = b->takes.count;
	outline->takes = arena_copy(b, b->takes.items, b->takes.count * sizeof(rt_outline_take));
	outline->fields = fields_done(b, &b->fields, &outline->field_count);
	b->nodes.count = b->takes.count = b->fields.count = 0;
}

rt_status
rt_build_finish(rt_build *b, rt_outlines *out, rt_error *err)
{
	rt_outlines made = {.count = b->outlines.count};

	discussion_done(b);
	made.items = arena_copy(b, b->outlines.items, made.count * sizeof(*made.items));
	made.fields = fields_done(b, &b->project, &made.field_count);
	if (!rt_ok(&b->s))
		return rt_fail(err, b->s.status, "out of memory while importing");
	made.arena = b->arena;
	b->arena = NULL;
	*out = made;
	return RT_OK;
}

void
rt_build_again(rt_build *b, rt_arena *arena)
{
	rt_arena_reset(arena);
	b->arena = arena;
	b->outlines.count = b->project.count = 0;
	b->copied = b->copied_before = 0;
}

size_t
rt_build_size(const rt_build *b)
{
	return b->copied + b->nodes.count * sizeof(rt_node) +
	       b->outlines.count * sizeof(rt_outline);
}

size_t
rt_build_discussion_size(const rt_build *b)
{
	return b->copied - b->copied_before + b->nodes.count * sizeof(rt_node);
}

rt_outline *
rt_build_discussion(rt_build *b)
{
	rt_outline *outline;

	discussion_done(b);
	outline = rt_items_push(&b->s, &b->outlines, sizeof(*outline));
	if (outline == NULL)
		return NULL;
	*outline = (rt_outline){.head = -1};
	b->in_discussion = true;
	b->copied_before = b->copied;
	return outline;
}

void
rt_build_drop_discussion(rt_build *b)
{
	RT_ASSERT(b->in_discussion && b->outlines.count > 0);
	b->in_discussion = false;
	b->outlines.count--;
	b->nodes.count = b->takes.count = b->fields.count = 0;
}

size_t
rt_build_count(const rt_build *b)
{
	return b->outlines.count;
}

rt_str
rt_build_name(const rt_build *b)
{
	const rt_outline *outlines = b->outlines.items;

	return b->outlines.count == 0 ? rt_str_at(NULL, 0) : outlines[b->outlines.count - 1].name;
}

rt_str
rt_build_copy(rt_build *b, rt_str s)
{
	char *to = arena_copy(b, s.ptr, s.size);

	return rt_str_at(to, to == NULL ? 0 : s.size);
}

/* ---- bodies ---- */

yyjson_val *
rt_build_parse(rt_build *b, rt_str raw, size_t *out_repaired, rt_error *err)
{
	rt_status st;

	rt_json_free(b->doc);
	b->doc = NULL;
	st = rt_json_read_repairing(b->alloc, raw, &b->doc, out_repaired, err);
	if (st == RT_NOMEM)
		(void)rt_scope_nomem(&b->s);
	return st == RT_OK ? rt_json_root(b->doc) : NULL;
}

#define BODY_CLOSED SIZE_MAX /* for body_fields: nothing more can be added */

/* body contains `J{"content":…` from the first further field on; before it, nothing. */
void
rt_build_body_open(rt_build *b, rt_str content, bool is_json)
{
	rt_buf_clear(b->body);
	b->content = content;
	b->content_is_json = is_json;
	b->body_fields = 0;
}

bool
rt_build_body_is_empty(const rt_build *b)
{
	return b->content.size == 0 || (b->content_is_json && rt_str_is(b->content, "[]"));
}

void
rt_build_body_open_value(rt_build *b, yyjson_val *content)
{
	if (!yyjson_is_arr(content)) {
		rt_build_body_open(
			b, yyjson_is_str(content) ? rt_json_str(content) : rt_str_at(NULL, 0),
			false);
		return;
	}
	rt_buf_clear(b->blocks);
	rt_json_add_value(b->blocks, content);
	rt_build_body_open(b, rt_scope_str(&b->s, b->blocks), true);
}

static void
body_begin(rt_build *b)
{
	rt_buf_add(b->body, "J{", 2);
	if (b->content_is_json)
		rt_json_put_raw(b->body, "content", b->content);
	else
		rt_json_put_str(b->body, "content", b->content);
}

rt_buf *
rt_build_body_field(rt_build *b, rt_str key)
{
	if (b->is_counted) {
		rt_buf_clear(b->body);
		return b->body;
	}
	if (b->body_fields++ == 0)
		body_begin(b);
	rt_json_add_key_str(b->body, key);
	return b->body;
}

void
rt_build_add_bytes(rt_buf *buf, rt_str bytes)
{
	if (rt_utf8_valid_size(bytes) == bytes.size) {
		rt_json_add_string(buf, bytes);
		return;
	}
	rt_buf_add_c(buf, "{\"base64\":\"");
	rt_buf_add_base64(buf, bytes);
	rt_buf_add_c(buf, "\"}");
}

bool
rt_build_read_bytes(rt_buf *buf, yyjson_val *value)
{
	if (yyjson_is_str(value)) {
		rt_buf_add_str(buf, rt_json_str(value));
		return true;
	}
	value = rt_json_get(value, "base64");
	return yyjson_is_str(value) && rt_buf_add_base64_decoded(buf, rt_json_str(value));
}

void
rt_build_body_raw(rt_build *b, rt_str raw)
{
	rt_build_add_bytes(rt_build_body_field(b, RT_STR(RT_BUILD_RAW)), raw);
}

void
rt_build_body_verbatim(rt_build *b, rt_str body)
{
	rt_buf_clear(b->body);
	rt_buf_add_byte(b->body, RT_BODY_PI);
	rt_buf_add_str(b->body, body);
	b->body_fields = BODY_CLOSED;
}

bool
rt_build_body_record(rt_build *b, rt_str letter, yyjson_val *bytes, rt_node *node)
{
	rt_body body;
	rt_str s;
	rt_status st;

	rt_buf_clear(b->scratch);
	rt_buf_add_str(b->scratch, letter);
	if (!rt_build_read_bytes(b->scratch, bytes))
		return false;
	s = rt_scope_str(&b->s, b->scratch);
	if (s.size < 2 || (s.ptr[0] != RT_BODY_PI && s.ptr[0] != RT_BODY_JSON))
		return false;
	st = rt_body_read(b->alloc, s, &body, NULL);
	if (st == RT_NOMEM)
		(void)rt_scope_nomem(&b->s);
	if (st != RT_OK)
		return false;
	rt_body_deinit(&body);
	node->body_format = s.ptr[0];
	rt_build_body_verbatim(b, rt_str_at(s.ptr + 1, s.size - 1));
	return true;
}

rt_str
rt_build_body(rt_build *b, const rt_node *node, char *out_format)
{
	*out_format = node->body_format;
	if (node->body_format == RT_BODY_PURGED || b->is_counted)
		return rt_str_at(NULL, 0);
	if (node->body_format != RT_BODY_PI)
		*out_format = RT_BODY_JSON;
	if (b->body_fields == 0 && !b->content_is_json) {
		if (node->body_format != RT_BODY_PI)
			*out_format = RT_BODY_TEXT;
		return b->content;
	}
	if (b->body_fields == 0 && b->body->size == 0)
		body_begin(b);
	if (b->body->size > 0 && b->body_fields != BODY_CLOSED) {
		rt_json_close(b->body, '}');
		b->body_fields = BODY_CLOSED;
	}
	if (rt_scope_str(&b->s, b->body).size == 0)
		return rt_str_at(NULL, 0);
	return rt_str_at(b->body->ptr + 1, b->body->size - 1);
}

size_t
rt_build_node(rt_build *b, const rt_node *node)
{
	rt_node copy = *node, *to;
	rt_str body = rt_build_body(b, node, &copy.body_format);

	copy.id = rt_build_copy(b, node->id);
	copy.role = rt_build_copy(b, node->role);
	copy.kind = rt_build_copy(b, node->kind);
	copy.label = rt_build_copy(b, node->label);
	copy.body = rt_build_copy(b, body);
	if (copy.after.size > 0)
		copy.after = rt_build_copy(b, copy.after);
	to = rt_items_push(&b->s, &b->nodes, sizeof(*to));
	if (to == NULL)
		return 0;
	*to = copy;
	return b->nodes.count - 1;
}

size_t
rt_build_node_count(const rt_build *b)
{
	return b->nodes.count;
}

rt_node *
rt_build_nodes(rt_build *b)
{
	return b->nodes.items;
}

void
rt_build_take(rt_build *b, rt_str name, rt_str git_commit, const int64_t *nodes, size_t node_count)
{
	const int64_t *copy = arena_copy(b, nodes, node_count * sizeof(*nodes));
	rt_outline_take *take = rt_items_push(&b->s, &b->takes, sizeof(*take));

	if (take != NULL)
		*take = (rt_outline_take){.name = name,
					 .git_commit = git_commit,
					 .nodes = copy,
					 .node_count = node_count};
}

void
rt_build_take_files(rt_build *b, rt_str json)
{
	if (rt_ok(&b->s) && b->takes.count > 0 && json.size > 0 && json.ptr[0] == '{')
		((rt_outline_take *)b->takes.items)[b->takes.count - 1].files = json;
}

/* ---- fields ---- */

void
rt_build_field_in(rt_build *b, bool of_project, const char *prefix, rt_str key, rt_str json)
{
	size_t before = strlen(prefix);
	char *name = b->is_counted ? NULL : arena_get(b, before + 3 * key.size + 1);
	rt_outline_field *field;
	size_t size = before;

	if (name == NULL)
		return;
	memcpy(name, prefix, before);
	for (size_t i = 0; i < key.size; i++) { /* no name has NUL: U+FFFD instead */
		rt_str byte = key.ptr[i] == '\0' ? RT_STR("\xEF\xBF\xBD") : rt_str_at(key.ptr + i, 1);

		memcpy(name + size, byte.ptr, byte.size);
		size += byte.size;
	}
	json = rt_build_copy(b, json);
	field = rt_items_push(&b->s, of_project ? &b->project : &b->fields, sizeof(*field));
	if (field != NULL)
		*field = (rt_outline_field){rt_str_at(name, size), json};
}

void
rt_build_field(rt_build *b, rt_str name, rt_str json)
{
	rt_build_field_in(b, false, "", name, json);
}

void
rt_build_field_string(rt_build *b, rt_str name, rt_str text)
{
	rt_buf_clear(b->scratch);
	rt_json_add_string(b->scratch, text);
	rt_build_field(b, name, rt_scope_str(&b->s, b->scratch));
}

bool
rt_build_text(rt_build *b, rt_str raw, rt_str *out)
{
	rt_str inner;
	rt_json_doc *doc = NULL;
	rt_status st;
	size_t i;

	if (raw.size < 2 || raw.ptr[0] != '"')
		return false;
	inner = rt_str_at(raw.ptr + 1, raw.size - 2);
	for (i = 0; i < inner.size; i++)
		if (inner.ptr[i] == '\\' || (unsigned char)inner.ptr[i] < 0x20)
			break;
	if (i == inner.size && rt_utf8_valid_size(inner) == inner.size) {
		*out = rt_build_copy(b, inner);
		return rt_ok(&b->s);
	}
	st = rt_json_read_repairing(b->alloc, raw, &doc, NULL, NULL);
	if (st == RT_NOMEM)
		(void)rt_scope_nomem(&b->s);
	if (st != RT_OK)
		return false;
	*out = rt_build_copy(b, rt_json_str(rt_json_root(doc)));
	rt_json_free(doc);
	return true;
}

bool
rt_build_json(rt_build *b, rt_str raw, bool sorted, rt_str *out)
{
	rt_json_doc *doc = NULL;
	rt_status st = rt_json_read_repairing(b->alloc, raw, &doc, NULL, NULL);

	if (st == RT_NOMEM)
		(void)rt_scope_nomem(&b->s);
	if (st != RT_OK)
		return false;
	rt_buf_clear(b->scratch);
	if (sorted)
		rt_json_add_sorted(b->scratch, b->alloc, rt_json_root(doc));
	else
		rt_json_add_value(b->scratch, rt_json_root(doc));
	rt_json_free(doc);
	*out = rt_build_copy(b, rt_scope_str(&b->s, b->scratch));
	return rt_ok(&b->s);
}

bool
rt_build_moment_str(rt_str text, bool is_number, rt_moment *out)
{
	/* Times that can be written and read again: 0000-01-01 up to the end of 9999. */
	static const int64_t first = -62167219200000000, last = 253402300799999999;
	rt_moment at;

	if (!(is_number ? rt_moment_parse_number(text, &at) : rt_moment_parse(text, &at)) ||
	    at.us < first || at.us > last)
		return false;
	*out = at;
	return true;
}

bool
rt_build_moment(yyjson_val *value, rt_moment *out)
{
	return (yyjson_is_str(value) || rt_json_is_number(value)) &&
	       rt_build_moment_str(rt_json_str(value), rt_json_is_number(value), out);
}

/* ---- parents ---- */

static void
repaired(rt_report *report, uint64_t line, const char *before, rt_str id, const char *after)
{
	rt_report_add(report, RT_REMARK_REPAIRED, line, "%s %.*s %s; made a root", before,
		      (int)rt_utf8_cut(id, 40), id.ptr == NULL ? "" : id.ptr, after);
}

static int64_t
find_parent(const rt_index *ids, const rt_link *link, rt_report *report)
{
	int64_t parent = -1;

	if (link->is_placed)
		return link->parent;
	if (link->parent_id.size == 0)
		return -1;
	if (rt_str_eq(link->id, link->parent_id)) {
		repaired(report, link->line, "entry", link->id, "is its own parent");
		return -1;
	}
	parent = rt_index_get(ids, link->parent_id);
	if (parent < 0)
		repaired(report, link->line, "its parent", link->parent_id, "is not in the file");
	return parent;
}

enum { UNSEEN, WALKING, SETTLED };

/* A walk up marks the items that it passes, so that meeting a mark of the same walk is a cycle; a
 * second walk over the same way resolves it. Every item is walked over at most twice. */
static void
walk_up(rt_link *links, char *state, size_t from, rt_report *report)
{
	int64_t at, met;

	for (at = (int64_t)from; at >= 0 && state[at] == UNSEEN; at = links[at].parent)
		state[at] = WALKING;
	met = at >= 0 && state[at] == WALKING ? at : -1;
	for (at = (int64_t)from; at >= 0 && state[at] == WALKING; at = links[at].parent)
		state[at] = SETTLED;
	if (met < 0)
		return;
	links[met].parent = -1;
	links[met].is_cut = true;
	repaired(report, links[met].line, "entry", links[met].id, "is its own ancestor");
}

void
rt_link_all(rt_scope *s, const rt_index *ids, rt_link *links, size_t count, rt_report *report)
{
	char *state = rt_scope_get(s, count);

	if (state == NULL)
		return;
	for (size_t i = 0; i < count; i++)
		links[i].parent = find_parent(ids, &links[i], report);
	for (size_t i = 0; i < count; i++)
		if (state[i] == UNSEEN)
			walk_up(links, state, i, report);
}
