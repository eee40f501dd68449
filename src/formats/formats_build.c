/* SPDX-License-Identifier: MIT
 *
 * Vectors in the heap while a discussion grows, copied to the arena when it is done. */
#include "formats/formats_build.h"

#include <stdlib.h> /* qsort */

#include "base/encode.h"
#include "base/hash.h"

/* Table */

void
rt_table_init(rt_table *table, const rt_alloc *alloc)
{
	memset(table, 0, sizeof(*table));
	table->alloc = alloc;
}

void
rt_table_deinit(rt_table *table)
{
	rt_free(table->alloc, table->slots);
	table->slots = NULL;
	table->room = table->count = 0;
}

void
rt_table_clear(rt_table *table)
{
	if (table->room > 0)
		memset(table->slots, 0, table->room * sizeof(*table->slots));
	table->count = 0;
}

static void
table_put(rt_table *table, uint64_t hash, size_t value_plus_1)
{
	size_t at = (size_t)rt_hash_u64(hash) & (table->room - 1);

	while (table->slots[at].value_plus_1 != 0)
		at = (at + 1) & (table->room - 1);
	table->slots[at].hash = hash;
	table->slots[at].value_plus_1 = value_plus_1;
}

rt_status
rt_table_add(rt_table *table, uint64_t hash, size_t value)
{
	if (table->count + 1 > table->room / 2) {
		rt_table bigger = {.alloc = table->alloc};
		size_t i;

		bigger.room = table->room == 0 ? 16 : table->room * 2;
		bigger.slots = rt_new_array(table->alloc, bigger.room, sizeof(*bigger.slots));
		if (bigger.slots == NULL)
			return RT_NOMEM;
		memset(bigger.slots, 0, bigger.room * sizeof(*bigger.slots));
		for (i = 0; i < table->room; i++)
			if (table->slots[i].value_plus_1 != 0)
				table_put(&bigger, table->slots[i].hash,
					  table->slots[i].value_plus_1);
		bigger.count = table->count;
		rt_free(table->alloc, table->slots);
		*table = bigger;
	}
	table_put(table, hash, value + 1);
	table->count++;
	return RT_OK;
}

bool
rt_table_next(const rt_table *table, uint64_t hash, size_t *probe, size_t *out_value)
{
	size_t start = (size_t)rt_hash_u64(hash);

	while (table->room > 0 && *probe < table->room) {
		const rt_table_slot *slot = &table->slots[(start + *probe) & (table->room - 1)];

		(*probe)++;
		if (slot->value_plus_1 == 0)
			return false;
		if (slot->hash == hash) {
			*out_value = slot->value_plus_1 - 1;
			return true;
		}
	}
	return false;
}

/* Builder */

static void *
vec_push(rt_build *b, rt_vec *vec, size_t item_size)
{
	if (b->status != RT_OK)
		return NULL;
	if (vec->count == vec->room) {
		size_t room = vec->room == 0 ? 16 : vec->room * 2;
		void *items;

		if (room > SIZE_MAX / item_size)
			items = NULL;
		else
			items = rt_resize(b->alloc, vec->items, room * item_size);
		if (items == NULL) {
			b->status = RT_NOMEM;
			return NULL;
		}
		vec->items = items;
		vec->room = room;
	}
	return (char *)vec->items + vec->count++ * item_size;
}

static void *
arena_copy(rt_build *b, const void *from, size_t size)
{
	void *to;

	if (b->status != RT_OK || size == 0)
		return NULL;
	to = rt_arena_get(b->arena, size);
	if (to == NULL) {
		b->status = RT_NOMEM;
		return NULL;
	}
	memcpy(to, from, size);
	b->copied += size;
	return to;
}

void
rt_build_init(rt_build *b, const rt_alloc *alloc, rt_report *report)
{
	memset(b, 0, sizeof(*b));
	b->alloc = alloc;
	b->report = report;
	b->arena = rt_arena_new(alloc);
	b->status = b->arena == NULL ? RT_NOMEM : RT_OK;
	rt_buf_init(&b->body, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&b->scratch, alloc, RT_BUF_UNLIMITED);
}

void
rt_build_deinit(rt_build *b)
{
	rt_free(b->alloc, b->outlines.items);
	rt_free(b->alloc, b->nodes.items);
	rt_free(b->alloc, b->takes.items);
	rt_free(b->alloc, b->fields.items);
	rt_free(b->alloc, b->project.items);
	rt_buf_deinit(&b->body);
	rt_buf_deinit(&b->scratch);
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
fields_done(rt_build *b, rt_vec *vec, size_t *out_count)
{
	const rt_outline_field *from = vec->items;
	ordered_field *sorted;
	rt_outline_field *to = NULL;
	size_t i, kept = 0;

	*out_count = 0;
	if (b->status != RT_OK || vec->count == 0)
		return NULL;
	sorted = rt_new_array(b->alloc, vec->count, sizeof(*sorted));
	if (sorted != NULL)
		to = rt_arena_get(b->arena, vec->count * sizeof(*to));
	if (to == NULL) {
		rt_free(b->alloc, sorted);
		b->status = RT_NOMEM;
		return NULL;
	}
	for (i = 0; i < vec->count; i++)
		sorted[i] = (ordered_field){from[i], i};
	qsort(sorted, vec->count, sizeof(*sorted), field_order);
	for (i = 0; i < vec->count; i++)
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

	if (!b->in_discussion || b->status != RT_OK)
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
	rt_outline *items;
	rt_outline_field *fields;
	size_t field_count, count;

	discussion_done(b);
	count = b->outlines.count;
	items = arena_copy(b, b->outlines.items, count * sizeof(*items));
	fields = fields_done(b, &b->project, &field_count);
	if (b->status == RT_OK && b->scratch.status != RT_OK)
		b->status = b->scratch.status;
	if (b->status != RT_OK)
		return rt_fail(err, b->status, "out of memory while importing");
	rt_outlines_init(out);
	out->items = items;
	out->count = count;
	out->fields = fields;
	out->field_count = field_count;
	out->arena = b->arena;
	b->arena = NULL;
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
	outline = vec_push(b, &b->outlines, sizeof(*outline));
	if (outline == NULL)
		return NULL;
	memset(outline, 0, sizeof(*outline));
	outline->head = -1;
	b->in_discussion = true;
	b->copied_before = b->copied;
	return outline;
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

#define BODY_CLOSED SIZE_MAX /* for body_fields: nothing more can be added */

/* body holds `J{"content":…` from the first further field on; before it, nothing. */
void
rt_build_body_open(rt_build *b, rt_str content, bool is_json)
{
	rt_buf_clear(&b->body);
	b->content = content;
	b->content_is_json = is_json;
	b->body_fields = 0;
}

static void
body_begin(rt_build *b)
{
	rt_buf_add(&b->body, "J{", 2);
	rt_json_add_key(&b->body, "content");
	if (b->content_is_json)
		rt_buf_add_str(&b->body, b->content);
	else
		rt_json_add_string(&b->body, b->content);
}

rt_buf *
rt_build_body_field(rt_build *b, rt_str key)
{
	if (b->body_fields++ == 0)
		body_begin(b);
	rt_buf_add_byte(&b->body, ',');
	rt_json_add_string(&b->body, key);
	rt_buf_add_byte(&b->body, ':');
	return &b->body;
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
	rt_buf_clear(&b->body);
	rt_buf_add_byte(&b->body, RT_BODY_PI);
	rt_buf_add_str(&b->body, body);
	b->body_fields = BODY_CLOSED;
}

rt_str
rt_build_body(rt_build *b, char *out_format)
{
	if (b->body_fields == 0 && !b->content_is_json) {
		*out_format = RT_BODY_TEXT;
		return b->content;
	}
	if (b->body_fields == 0 && b->body.size == 0)
		body_begin(b);
	if (b->body.size > 0 && b->body_fields != BODY_CLOSED) {
		rt_buf_add_byte(&b->body, '}');
		b->body_fields = BODY_CLOSED;
	}
	if (b->body.status != RT_OK) {
		if (b->status == RT_OK)
			b->status = b->body.status;
		*out_format = RT_BODY_TEXT;
		return rt_str_at(NULL, 0);
	}
	*out_format = RT_BODY_JSON;
	return rt_str_at(b->body.ptr + 1, b->body.size - 1);
}

size_t
rt_build_node(rt_build *b, const rt_node *node)
{
	rt_node copy = *node, *to;
	rt_str body = rt_build_body(b, &copy.body_format);

	if (node->body_format == RT_BODY_PURGED) {
		copy.body_format = RT_BODY_PURGED;
		body = rt_str_at(NULL, 0);
	} else if (node->body_format == RT_BODY_PI) {
		copy.body_format = RT_BODY_PI;
	}
	copy.body = rt_build_copy(b, body);
	to = vec_push(b, &b->nodes, sizeof(*to));
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
rt_build_take(rt_build *b, rt_str name, rt_str git_commit, const int64_t *nodes,
	      size_t node_count)
{
	rt_outline_take *take;
	const int64_t *copy = arena_copy(b, nodes, node_count * sizeof(*nodes));

	take = vec_push(b, &b->takes, sizeof(*take));
	if (take == NULL)
		return;
	take->name = name;
	take->git_commit = git_commit;
	take->nodes = copy;
	take->node_count = copy == NULL ? 0 : node_count;
}

static void
add_field(rt_build *b, rt_vec *to, const char *prefix, rt_str key, rt_str json)
{
	size_t before = strlen(prefix);
	rt_outline_field *field;
	char *name;

	if (b->status != RT_OK)
		return;
	name = rt_arena_get(b->arena, before + key.size + 1);
	if (name == NULL) {
		b->status = RT_NOMEM;
		return;
	}
	memcpy(name, prefix, before);
	if (key.size > 0)
		memcpy(name + before, key.ptr, key.size);
	json = rt_build_copy(b, json);
	field = vec_push(b, to, sizeof(*field));
	if (field != NULL)
		*field = (rt_outline_field){rt_str_at(name, before + key.size), json};
}

void
rt_build_field_in(rt_build *b, bool of_project, const char *prefix, rt_str key, rt_str json)
{
	add_field(b, of_project ? &b->project : &b->fields, prefix, key, json);
}

void
rt_build_field(rt_build *b, rt_str name, rt_str json)
{
	add_field(b, &b->fields, "", name, json);
}

void
rt_build_project_field(rt_build *b, rt_str name, rt_str json)
{
	add_field(b, &b->project, "", name, json);
}

void
rt_build_field_string(rt_build *b, rt_str name, rt_str text)
{
	rt_buf_clear(&b->scratch);
	rt_json_add_string(&b->scratch, text);
	if (b->scratch.status != RT_OK)
		b->status = b->scratch.status;
	rt_build_field(b, name, rt_buf_str(&b->scratch));
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
		return b->status == RT_OK;
	}
	st = rt_json_read_repairing(b->alloc, raw, &doc, NULL, NULL);
	if (st != RT_OK) {
		if (st == RT_NOMEM)
			b->status = st;
		return false;
	}
	*out = rt_build_copy(b, rt_json_str(rt_json_root(doc)));
	rt_json_free(doc);
	return true;
}

bool
rt_build_json(rt_build *b, rt_str raw, bool sorted, rt_str *out)
{
	rt_json_doc *doc = NULL;
	rt_status st = rt_json_read_repairing(b->alloc, raw, &doc, NULL, NULL);

	if (st != RT_OK) {
		if (st == RT_NOMEM)
			b->status = st;
		return false;
	}
	rt_buf_clear(&b->scratch);
	if (sorted)
		rt_json_add_sorted(&b->scratch, b->alloc, rt_json_root(doc));
	else
		rt_json_add_value(&b->scratch, rt_json_root(doc));
	rt_json_free(doc);
	if (b->scratch.status != RT_OK)
		b->status = b->scratch.status;
	*out = rt_build_copy(b, rt_buf_str(&b->scratch));
	return b->status == RT_OK;
}

bool
rt_build_moment_str(rt_str text, bool is_number, rt_moment *out)
{
	/* What can be written and read again: 0000-01-01 up to the end of 9999. */
	static const int64_t first = -62167219200000000, last = 253402300799999999;
	rt_moment at;

	if (!(is_number ? rt_moment_parse_number(text, &at) : rt_moment_parse(text, &at)))
		return false;
	if (at.us < first || at.us > last)
		return false;
	*out = at;
	return true;
}

bool
rt_build_moment(yyjson_val *value, rt_moment *out)
{
	if (!yyjson_is_str(value) && !rt_json_is_number(value))
		return false;
	return rt_build_moment_str(rt_json_str(value), rt_json_is_number(value), out);
}

/* Writing */

rt_str
rt_outline_field_of(const rt_outline_field *fields, size_t count, const char *name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (rt_str_is(fields[i].name, name))
			return fields[i].json;
	return rt_str_at(NULL, 0);
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
	size_t i;

	for (i = 0; i < take->node_count; i++)
		if (take->nodes[i] == node)
			return i;
	return SIZE_MAX;
}

/* The path from the root to leaf, in the arena. A walk longer than the outline is a cycle
 * that nobody mended, and is cut. */
static bool
take_to(rt_arena *arena, const rt_outline *outline, int64_t leaf, rt_outline_take *out)
{
	size_t count = 0, at;
	int64_t *path, node;

	for (node = leaf; node >= 0 && (size_t)node < outline->node_count &&
			  count < outline->node_count;
	     node = outline->nodes[node].parent)
		count++;
	memset(out, 0, sizeof(*out));
	path = rt_arena_get(arena, count * sizeof(*path) + 1);
	if (path == NULL)
		return false;
	for (at = count, node = leaf; at > 0; node = outline->nodes[node].parent)
		path[--at] = node;
	out->nodes = path;
	out->node_count = count;
	return true;
}

static rt_str
take_name(const rt_alloc *alloc, rt_arena *arena, rt_str base, size_t number)
{
	rt_buf buf;
	char *to = NULL;
	size_t size;

	if (number == 0)
		return base;
	rt_buf_init(&buf, alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&buf, base);
	rt_buf_add_f(&buf, "_take_%zu", number);
	size = buf.size;
	if (buf.status == RT_OK)
		to = rt_arena_get(arena, size);
	if (to != NULL)
		memcpy(to, buf.ptr, size);
	rt_buf_deinit(&buf);
	return rt_str_at(to, to == NULL ? 0 : size);
}

/* The last leaf whose path holds the head, or the head itself. Each node is walked over
 * at most twice: state 1 marks what leads to the head, 2 what does not. */
static rt_status
leaf_of_head(const rt_alloc *alloc, const rt_outline *outline, const unsigned char *inner,
	     int64_t *out)
{
	int64_t head = outline->has_head ? outline->head : (int64_t)outline->node_count - 1, i;
	unsigned char *state;

	*out = head;
	if (head < 0 || (size_t)head >= outline->node_count || !inner[head])
		return RT_OK;
	state = rt_new0(alloc, outline->node_count);
	if (state == NULL)
		return RT_NOMEM;
	state[head] = 1;
	for (i = (int64_t)outline->node_count - 1; i >= 0; i--) {
		int64_t node = i, walk;
		unsigned char found;

		if (inner[i])
			continue;
		while (node >= 0 && (size_t)node < outline->node_count && state[node] == 0) {
			state[node] = 2; /* also ends a cycle that nobody mended */
			node = outline->nodes[node].parent;
		}
		found = node >= 0 && (size_t)node < outline->node_count && state[node] == 1;
		for (walk = i; found && walk != node; walk = outline->nodes[walk].parent)
			state[walk] = 1;
		if (found) {
			*out = i;
			break;
		}
	}
	rt_free(alloc, state);
	return RT_OK;
}

rt_status
rt_outline_takes_of(const rt_alloc *alloc, rt_arena *arena, const rt_outline *outline,
		    const rt_outline_take **out_takes, size_t *out_count, size_t *out_active,
		    rt_error *err)
{
	unsigned char *inner;
	rt_outline_take *takes;
	size_t i, leaves = 0, count = 0;
	int64_t first = -1;
	bool ok;

	if (outline->take_count > 0) {
		*out_takes = outline->takes;
		*out_count = outline->take_count;
		*out_active = outline->active_take < outline->take_count ? outline->active_take : 0;
		return RT_OK;
	}
	inner = rt_new0(alloc, outline->node_count + 1);
	if (inner == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory while exporting");
	for (i = 0; i < outline->node_count; i++)
		if (outline->nodes[i].parent >= 0 &&
		    (size_t)outline->nodes[i].parent < outline->node_count)
			inner[outline->nodes[i].parent] = 1;
	for (i = 0; i < outline->node_count; i++)
		leaves += !inner[i];
	takes = rt_arena_get(arena, (leaves + 1) * sizeof(*takes));
	ok = takes != NULL && leaf_of_head(alloc, outline, inner, &first) == RT_OK;
	if (ok && (first >= 0 || leaves == 0))
		ok = take_to(arena, outline, first, &takes[count++]);
	for (i = 0; ok && i < outline->node_count; i++)
		if (!inner[i] && (int64_t)i != first)
			ok = take_to(arena, outline, (int64_t)i, &takes[count++]);
	for (i = 0; ok && i < count; i++) {
		takes[i].name = take_name(alloc, arena, outline->name, i);
		ok = takes[i].name.size == outline->name.size || takes[i].name.size > 0;
	}
	rt_free(alloc, inner);
	if (!ok)
		return rt_fail(err, RT_NOMEM, "out of memory while exporting");
	*out_takes = takes;
	*out_count = count;
	*out_active = 0;
	return RT_OK;
}
