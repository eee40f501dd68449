/* SPDX-License-Identifier: MIT
 *
 * Nodes are built as they are added; links and ranks run beside them. At the end the list of nodes
 * is sorted, which moves structures of a fixed size and no texts. */
#include "importers/graph.h"

#include <stdlib.h> /* qsort */

enum {
	DEPTH_MAX = RT_JSON_DEPTH_MAX - 16, /* of a record: it is kept inside other JSON */
	SNIFFED = 8,                        /* records examined to detect a format */
	TITLE_MAX = 80,                     /* characters */
	TITLE_BYTES = 120,                  /* of scripts with wide characters, fewer */
	TITLE_WORDS = 40                    /* bytes that a cut at a space leaves at least */
};

/* ---- conversations ---- */

void
rt_graph_init(rt_graph *g, rt_reader *r, const char *format)
{
	*g = (rt_graph){.r = r, .b = &r->b, .format = format};
	g->prefix = rt_scope_buf(&r->b.s);
	g->aside = rt_scope_buf(&r->b.s);
	rt_parts_init(&g->parts, g->b);
}

yyjson_val *
rt_graph_checked(rt_graph *g, yyjson_val *record)
{
	if (record == NULL)
		return NULL;
	g->is_repaired = g->r->repaired > 0;
	if (g->is_repaired)
		rt_reader_remark(g->r, RT_REMARK_REPAIRED, g->r->record.ptr,
				 "invalid Unicode was replaced with U+FFFD");
	if (!rt_json_is_deeper(record, DEPTH_MAX))
		return record;
	rt_reader_skipped(g->r, "skipped a record that is nested more than %d levels deep",
			  (int)DEPTH_MAX);
	return NULL;
}

yyjson_val *
rt_graph_record(rt_graph *g)
{
	yyjson_val *record;

	while ((record = rt_reader_record(g->r)) != NULL)
		if (rt_graph_checked(g, record) != NULL)
			return record;
	return NULL;
}

rt_status
rt_graph_read(const rt_graph_reader *reader, const rt_alloc *alloc, const rt_input *in,
	      const rt_reader_to *to, rt_report *report, rt_error *err)
{
	rt_reader r;
	rt_graph g;
	yyjson_val *record;

	rt_reader_init(&r, alloc, in, to, report);
	r.wrapper = reader->wrapper;
	r.b.is_counted = in->is_counted;
	rt_graph_init(&g, &r, reader->format);
	if (reader->read_database != NULL && rt_db_is_input(&r, in))
		reader->read_database(&g, rt_db_open(&r, in));
	else
		while ((record = rt_graph_record(&g)) != NULL)
			reader->read(&g, record);
	if (rt_reader_has_none(&r))
		rt_reader_refuse(&r, 0, "the file contains no %s", reader->noun);
	return rt_reader_end(&r, err);
}

static const char *
prefix_of(rt_graph *g)
{
	rt_buf_clear(g->prefix);
	rt_buf_add_f(g->prefix, "%s.", g->format);
	return rt_scope_str(&g->b->s, g->prefix).size > 0 ? g->prefix->ptr : "";
}

void
rt_graph_begin(rt_graph *g, rt_str title, rt_str id)
{
	g->outline = rt_build_discussion(g->b);
	g->has_changed = false;
	rt_index_clear(&g->ids);
	g->links.count = g->ranks.count = 0;
	rt_buf_clear(g->aside);
	rt_graph_name(g, title, id);
}

void
rt_graph_name(rt_graph *g, rt_str title, rt_str id)
{
	rt_buf *source = g->b->scratch;

	if (g->outline == NULL)
		return;
	g->outline->name = rt_build_copy(g->b, rt_graph_title(title));
	if (g->outline->name.size < title.size) {
		rt_buf_clear(g->b->scratch);
		rt_json_add_string(g->b->scratch, title);
		rt_build_field_in(g->b, false, prefix_of(g), RT_STR("title"),
				  rt_scope_str(&g->b->s, g->b->scratch));
	}
	if (id.size == 0)
		return;
	rt_buf_clear(source);
	rt_buf_add_c(source, g->format);
	rt_buf_add_byte(source, ':');
	rt_buf_add_str(source, id);
	g->outline->source = rt_build_copy(g->b, rt_scope_str(&g->b->s, source));
}

/* A field of the discussion with this prefix. */
static void
add_field(rt_graph *g, const char *prefix, rt_str name, yyjson_val *value)
{
	rt_buf *json = g->b->scratch;

	if (g->b->is_counted)
		return;
	rt_buf_clear(json);
	rt_json_add_value(json, value);
	rt_build_field_in(g->b, false, prefix, name, rt_scope_str(&g->b->s, json));
}

void
rt_graph_field(rt_graph *g, const char *name, yyjson_val *value)
{
	add_field(g, prefix_of(g), rt_str_of(name), value);
}

void
rt_graph_fields(rt_graph *g, yyjson_val *conversation, const char *without)
{
	const char *prefix = prefix_of(g);

	for (rt_json_iter m = rt_json_members(conversation); rt_ok(&g->b->s) && rt_json_next(&m);)
		if (!rt_is_word(m.key, without))
			add_field(g, prefix, m.key, m.value);
	if (g->is_repaired) {
		g->is_repaired = false;
		rt_buf_clear(g->b->scratch);
		rt_build_add_bytes(g->b->scratch, g->r->record);
		rt_build_field(g->b, RT_STR(RT_BUILD_RAW), rt_scope_str(&g->b->s, g->b->scratch));
	}
}

void
rt_graph_skip(rt_graph *g, const char *member, rt_str title)
{
	rt_reader_skipped(g->r, "skipped a conversation without \"%s\": \"%.*s\"", member,
			  (int)rt_utf8_cut(title, 80), title.size > 0 ? title.ptr : "");
}

void
rt_graph_open_newest(rt_graph *g, yyjson_val *changed)
{
	g->has_changed = rt_build_moment(changed, &g->changed);
}

static void
keep_newest(rt_graph *g)
{
	if (!g->has_changed || (g->has_newest && g->changed.us <= g->newest.us))
		return;
	g->newest = g->changed;
	g->has_newest = true;
	g->r->active = rt_reader_count(g->r) - 1;
	g->r->has_active = true;
}

/* ---- nodes ---- */

/* Words of without that begin with this key and a point, after that point; false: none. */
static bool
is_opened(rt_str key, const char *without, rt_str *out_inner)
{
	rt_str word;

	while (rt_next_word(&without, &word))
		if (word.size > key.size + 1 && rt_str_starts(word, key) && word.ptr[key.size] == '.') {
			*out_inner = rt_str_skip(word, key.size + 1);
			return true;
		}
	return false;
}

/* A member whose value is elsewhere: its place and type stay. */
static void
put_empty(rt_buf *buf, rt_str key, yyjson_val *value)
{
	if (!yyjson_is_str(value) && !yyjson_is_arr(value))
		return;
	rt_json_add_key_str(buf, key);
	rt_buf_add_c(buf, yyjson_is_str(value) ? "\"\"" : "[]");
}

void
rt_graph_raw(rt_graph *g, yyjson_val *record, const char *without)
{
	if (!g->b->is_counted)
		rt_graph_add_raw(rt_build_body_field(g->b, rt_str_of(g->format)), record, without);
	if (g->is_repaired && !g->b->is_counted)
		rt_build_body_raw(g->b, g->r->record);
	g->is_repaired = false;
}

void
rt_graph_add_raw(rt_buf *buf, yyjson_val *record, const char *without)
{
	rt_str inner;

	rt_json_open(buf, NULL, '{');
	for (rt_json_iter m = rt_json_members(record); rt_json_next(&m);) {
		if (rt_is_word(m.key, without))
			continue;
		if (!yyjson_is_obj(m.value) || !is_opened(m.key, without, &inner)) {
			rt_json_put_member(buf, m.key, m.value);
			continue;
		}
		rt_json_add_key_str(buf, m.key);
		rt_json_open(buf, NULL, '{');
		for (rt_json_iter n = rt_json_members(m.value); rt_json_next(&n);)
			if (!rt_str_eq(n.key, inner))
				rt_json_put_member(buf, n.key, n.value);
			else
				put_empty(buf, n.key, n.value);
		rt_json_close(buf, '}');
	}
	rt_json_close(buf, '}');
}

void
rt_graph_hide(rt_graph *g, rt_node *node)
{
	node->kind = RT_STR("custom_message");
	rt_json_add_string(rt_build_body_field(g->b, RT_STR("customType")), rt_str_of(g->format));
	rt_buf_add_c(rt_build_body_field(g->b, RT_STR("display")), "false");
}

void
rt_graph_keep(rt_graph *g, const char *field, yyjson_val *value)
{
	if (value != NULL && !yyjson_is_null(value))
		rt_json_add_value(rt_build_body_field(g->b, rt_str_of(field)), value);
}

yyjson_val *
rt_graph_message(rt_graph *g, rt_json_iter *list)
{
	while (rt_ok(&g->b->s) && rt_json_next(list)) {
		if (yyjson_is_obj(list->value))
			return list->value;
		rt_reader_skipped(g->r, "skipped a message that is not an object");
	}
	return NULL;
}

int64_t
rt_graph_find(const rt_graph *g, rt_str id)
{
	return id.size == 0 ? -1 : rt_index_get(&g->ids, id);
}

static bool
is_message(const rt_node *node)
{
	return node->role.size > 0;
}

static rt_str
role_of(const rt_node *node)
{
	return node->role.size == 0 && !rt_str_is(node->kind, "custom") ? RT_STR("unknown")
									: rt_graph_role(node->role);
}

/* Is the node whose body is open a message with a content? */
static bool
has_content(const rt_graph *g, const rt_node *node)
{
	return role_of(node).size > 0 && !rt_build_body_is_empty(g->b);
}

/* Adds a second message with the id of `first`; keeps the one that can be read. */
static int64_t
add_again(rt_graph *g, int64_t first, const rt_node *node, rt_str parent_id)
{
	rt_link *link = (rt_link *)g->links.items + first;

	rt_reader_skipped(g->r, "skipped a second message with the id %.*s",
			  (int)rt_utf8_cut(node->id, 40), node->id.ptr);
	if (link->has_content || !has_content(g, node) || !rt_ok(&g->b->s))
		return -1;
	rt_graph_replace(g, first, node);
	link->parent_id = rt_build_copy(g->b, parent_id);
	link->parent = parent_id.size == 0 ? node->parent : -1;
	link->is_placed = parent_id.size == 0;
	return first;
}

int64_t
rt_graph_add(rt_graph *g, const rt_node *node, rt_str parent_id)
{
	rt_scope *s = &g->b->s;
	rt_node added = *node;
	rt_link *link;
	uint32_t *rank;
	size_t at;
	bool is_full = has_content(g, node);

	int64_t first = rt_graph_find(g, node->id);

	if (first >= 0)
		return add_again(g, first, node, parent_id);
	added.role = role_of(node);
	at = rt_build_node(g->b, &added);
	link = rt_items_push(s, &g->links, sizeof(*link));
	rank = rt_items_push(s, &g->ranks, sizeof(*rank));
	if (!rt_ok(s))
		return -1;
	*rank = UINT32_MAX;
	*link = (rt_link){.id = rt_build_nodes(g->b)[at].id,
			  .parent_id = rt_build_copy(g->b, parent_id),
			  .line = rt_scan_lines_of(&g->r->lines, g->r->record.ptr),
			  .parent = parent_id.size == 0 ? node->parent : -1,
			  .is_placed = parent_id.size == 0,
			  .has_content = is_full};
	if (link->id.size > 0)
		(void)rt_index_put(s, &g->ids, link->id, at);
	return (int64_t)at;
}

void
rt_graph_replace(rt_graph *g, int64_t at, const rt_node *node)
{
	rt_node replaced = *node, *nodes;
	rt_link *link = (rt_link *)g->links.items + at;
	size_t end;

	replaced.role = role_of(node);
	link->has_content = has_content(g, node);
	end = rt_build_node(g->b, &replaced);
	if (!rt_ok(&g->b->s))
		return;
	nodes = rt_build_nodes(g->b);
	link->id = nodes[end].id;
	nodes[at] = nodes[end];
	g->b->nodes.count--;
}

int64_t
rt_graph_add_structure(rt_graph *g, rt_str id, rt_str parent_id)
{
	return rt_graph_add(g, &(rt_node){.id = id, .parent = -1, .kind = RT_STR("custom")},
			    parent_id);
}

void
rt_graph_rank(rt_graph *g, int64_t node, uint32_t rank)
{
	if (node >= 0)
		((uint32_t *)g->ranks.items)[node] = rank;
}

/* An open list of messages. */
typedef struct level {
	rt_json_iter at;
	int64_t around;
} level;

static void
open_level(rt_scope *s, rt_items *levels, yyjson_val *list, int64_t around)
{
	level *top = rt_items_push(s, levels, sizeof(*top));

	if (top != NULL)
		*top = (level){rt_json_items(list), around};
}

void
rt_graph_nested(rt_graph *g, yyjson_val *list, const char *children, int64_t around,
		int64_t (*add)(rt_graph *g, yyjson_val *message, int64_t around))
{
	rt_items levels = {0};
	rt_scope s;

	rt_scope_init(&s, g->b->alloc);
	open_level(&s, &levels, list, around);
	while (levels.count > 0 && rt_ok(&s) && rt_ok(&g->b->s)) {
		level *top = (level *)levels.items + (levels.count - 1);
		yyjson_val *message;
		int64_t at;

		message = rt_graph_message(g, &top->at);
		if (message == NULL) {
			levels.count--;
			continue;
		}
		at = add(g, message, top->around);
		if (yyjson_arr_size(rt_json_get(message, children)) > 0)
			open_level(&s, &levels, rt_json_get(message, children), at);
	}
	(void)rt_scope_join(&g->b->s, &s);
}

int64_t
rt_graph_parent(const rt_graph *g, int64_t node)
{
	return node < 0 ? -1 : ((const rt_link *)g->links.items)[node].parent;
}

void
rt_graph_alias(rt_graph *g, rt_str id, int64_t node)
{
	if (node >= 0 && id.size > 0 && rt_graph_find(g, id) < 0)
		(void)rt_index_put(&g->b->s, &g->ids, id, (size_t)node);
}

void
rt_graph_chain(rt_graph *g)
{
	for (size_t i = 0; i < g->links.count; i++) {
		rt_link *link = (rt_link *)g->links.items + i;

		link->parent = (int64_t)i - 1;
		link->is_placed = true;
	}
}

void
rt_graph_children(rt_graph *g, yyjson_val *list)
{
	if (yyjson_arr_size(list) < 2)
		return;
	for (rt_json_iter m = rt_json_items(list); rt_json_next(&m);) {
		int64_t at = rt_graph_find(g, rt_json_str(m.value));

		if (at >= 0)
			((uint32_t *)g->ranks.items)[at] = (uint32_t)m.index;
	}
}

int64_t
rt_graph_last(const rt_graph *g)
{
	int64_t at = (int64_t)g->links.count - 1;

	while (at >= 0 && !is_message(&rt_build_nodes(g->b)[at]))
		at--;
	return at;
}

int64_t
rt_graph_latest(const rt_graph *g)
{
	const rt_node *nodes = rt_build_nodes(g->b);
	int64_t best = -1;

	for (size_t i = 0; i < g->links.count; i++)
		if (is_message(&nodes[i]) && nodes[i].has_ts &&
		    (best < 0 || nodes[i].ts.us > nodes[best].ts.us))
			best = (int64_t)i;
	return best >= 0 ? best : rt_graph_last(g);
}

/* ---- the end of a conversation ---- */

typedef struct sibling {
	int64_t parent;
	size_t node;
	uint32_t rank;
} sibling;

static int
sibling_order(const void *a, const void *b)
{
	const sibling *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* Nodes in depth-first order: order[new] = old. */
static void
walk_down(const sibling *sorted, size_t count, const size_t *first, const size_t *children,
	  size_t *order, size_t *stack)
{
	size_t height = 0, done = 0, roots = 0;

	while (roots < count && sorted[roots].parent < 0)
		roots++;
	for (size_t i = roots; i-- > 0;)
		stack[height++] = sorted[i].node;
	while (height > 0) {
		size_t at = stack[--height];

		order[done++] = at;
		for (size_t i = children[at]; i-- > 0;)
			stack[height++] = sorted[first[at] + i].node;
	}
	RT_ASSERT(done == count);
}

/* Sort the nodes; returns where leaf, or the first one, is then. */
static int64_t
arrange(rt_graph *g, rt_scope *s, int64_t leaf)
{
	rt_node *nodes = rt_build_nodes(g->b), *copy;
	const rt_link *links = g->links.items;
	const uint32_t *ranks = g->ranks.items;
	size_t count = g->links.count, *first, *children, *order, *place;
	sibling *sorted;
	bool is_sorted = true;

	sorted = rt_scope_array(s, count, sizeof(*sorted));
	first = rt_scope_array(s, count, sizeof(*first));
	children = rt_scope_array(s, count, sizeof(*children));
	order = rt_scope_array(s, count, sizeof(*order));
	place = rt_scope_array(s, count, sizeof(*place));
	if (!rt_ok(s))
		return leaf;
	for (size_t i = 0; i < count; i++) {
		nodes[i].parent = links[i].parent;
		is_sorted = is_sorted && links[i].parent == (int64_t)i - 1;
		sorted[i] = (sibling){links[i].parent, i, ranks[i]};
	}
	if (is_sorted) /* one line, as most conversations */
		return leaf == RT_GRAPH_FIRST ? (int64_t)count - 1 : leaf;
	qsort(sorted, count, sizeof(*sorted), sibling_order);
	for (size_t i = count; i-- > 0;)
		if (sorted[i].parent >= 0) {
			first[sorted[i].parent] = i;
			children[sorted[i].parent]++;
		}
	walk_down(sorted, count, first, children, order, place);
	copy = rt_scope_array(s, count, sizeof(*copy));
	if (copy == NULL)
		return leaf;
	memcpy(copy, nodes, count * sizeof(*copy));
	for (size_t i = 0; i < count; i++)
		place[order[i]] = i;
	for (size_t i = 0; i < count; i++) {
		nodes[i] = copy[order[i]];
		if (nodes[i].parent >= 0)
			nodes[i].parent = (int64_t)place[nodes[i].parent];
	}
	if (leaf != RT_GRAPH_FIRST)
		return leaf < 0 ? leaf : (int64_t)place[leaf];
	for (leaf = 0; leaf + 1 < (int64_t)count && nodes[leaf + 1].parent == leaf;)
		leaf++;
	return leaf;
}

/* A message in the middle that no id names was found by its time or place: the conversation continues
 * after those below it. */
static int64_t
to_end(const rt_graph *g, int64_t leaf)
{
	const rt_node *nodes = rt_build_nodes(g->b);

	while (nodes[leaf].id.size == 0 && leaf + 1 < (int64_t)g->links.count &&
	       nodes[leaf + 1].parent == leaf)
		leaf++;
	return leaf;
}

void
rt_graph_aside(rt_graph *g, yyjson_val *record)
{
	if (g->b->is_counted)
		return;
	if (g->aside->size == 0)
		rt_json_open(g->aside, NULL, '[');
	if (!g->is_repaired) {
		rt_json_put_value(g->aside, NULL, record);
		return;
	}
	rt_json_open(g->aside, NULL, '{');
	rt_json_add_key(g->aside, RT_BUILD_RAW);
	rt_build_add_bytes(g->aside, g->r->record);
	rt_json_close(g->aside, '}');
}

void
rt_graph_end(rt_graph *g, int64_t leaf)
{
	rt_scope s;

	if (!rt_ok(&g->b->s) || g->outline == NULL)
		return;
	if (g->links.count == 0) {
		rt_reader_leave_out(g->r);
		g->outline = NULL;
		return;
	}
	keep_newest(g);
	if (g->aside->size > 0) {
		rt_json_close(g->aside, ']');
		rt_build_field_in(g->b, false, prefix_of(g), RT_STR("records"),
				  rt_scope_str(&g->b->s, g->aside));
	}
	if (leaf == RT_GRAPH_LAST)
		leaf = rt_graph_last(g);
	rt_scope_init(&s, g->b->alloc);
	rt_link_all(&s, &g->ids, g->links.items, g->links.count, g->r->report);
	leaf = arrange(g, &s, leaf);
	if (leaf >= 0 && rt_ok(&s))
		leaf = to_end(g, leaf);
	(void)rt_scope_join(&g->b->s, &s);
	g->outline->has_head = leaf >= 0;
	g->outline->head = leaf;
	rt_reader_next(g->r);
}

/* ---- words of other programs ---- */

rt_str
rt_graph_text(yyjson_val *object, const char *words)
{
	rt_str word, text;

	while (rt_next_word(&words, &word)) {
		text = rt_json_str(rt_json_get_str(object, word));
		if (text.size > 0)
			return text;
	}
	return RT_STR("");
}

rt_str
rt_graph_role(rt_str role)
{
	static const char *const user[] = {"human", "prompter", NULL};
	static const char *const tool[] = {"tool_result", "observation", NULL};
	static const char *const assistant[] = {"ai",  "model",   "gemini", "gpt",
						"bot", "chatgpt", "bard",   NULL};

	for (size_t i = 0; user[i] != NULL; i++)
		if (rt_str_eq_nocase(role, rt_str_of(user[i])))
			return RT_STR("user");
	for (size_t i = 0; assistant[i] != NULL; i++)
		if (rt_str_eq_nocase(role, rt_str_of(assistant[i])))
			return RT_STR("assistant");
	for (size_t i = 0; tool[i] != NULL; i++)
		if (rt_str_is(role, tool[i]))
			return RT_STR("tool");
	if (rt_str_eq_nocase(role, RT_STR("assistant")) || rt_str_is(role, "function_call"))
		return RT_STR("assistant");
	return role;
}

rt_str
rt_graph_title(rt_str text)
{
	size_t size = 0;

	while (text.size > 0 && (*text.ptr == '\n' || *text.ptr == ' '))
		text = rt_str_skip(text, 1);
	while (size < text.size && text.ptr[size] != '\n')
		size++;
	while (size > 0 && (text.ptr[size - 1] == ' ' || text.ptr[size - 1] == '\r'))
		size--;
	text.size = size;
	if (rt_utf8_count(text) <= TITLE_MAX && size <= TITLE_BYTES)
		return text;
	size = rt_utf8_cut(text, TITLE_BYTES);
	while (rt_utf8_count(rt_str_at(text.ptr, size)) > TITLE_MAX)
		size = rt_utf8_cut(text, size - 1);
	for (size_t end = size; end >= TITLE_WORDS; end--)
		if (text.ptr[end] == ' ' && text.ptr[end - 1] != ' ')
			return rt_str_at(text.ptr, end);
	return rt_str_at(text.ptr, size);
}

/* ---- detection ---- */

int
rt_graph_sniff(rt_str head, int (*sniff)(rt_str record))
{
	rt_members m;
	rt_str key, value;
	int best = 0, each;
	size_t at = 0;

	head = rt_scan_unmark(head);
	if (rt_members_open(&m, head) && m.close == ']') {
		for (int i = 0; i < SNIFFED; i++) {
			size_t start = m.at;
			bool is_whole = rt_members_next(&m, &key, &value);

			if (!is_whole && !m.bad)
				break;
			if (!is_whole) { /* cut: from its bracket on */
				while (start < head.size && head.ptr[start] != '{')
					start++;
				value = rt_str_skip(head, start < head.size ? start : head.size);
			}
			each = sniff(value);
			best = each > best ? each : best;
			if (!is_whole)
				break;
		}
		return best;
	}
	best = sniff(head);
	for (int i = 0; i < SNIFFED && rt_scan_line(head, &at, &value); i++) {
		each = sniff(value);
		best = each > best ? each : best;
	}
	return best;
}

rt_str
rt_graph_member(rt_str record, const char *name)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, record) || m.close != '}')
		return rt_str_at(NULL, 0);
	while (rt_members_next(&m, &key, &value))
		if (rt_scan_key_is(key, name))
			return value;
	if (m.bad && rt_scan_key_is(key, name))
		return rt_str_skip(m.in, m.at);
	return rt_str_at(NULL, 0);
}
