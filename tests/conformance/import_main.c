/* SPDX-License-Identifier: MIT
 *
 * conformance-import MANIFEST EXPECTED: every file of the manifest is read with the format that
 * recognises its content, and the result is counted and compared with the facts in EXPECTED, as
 * its "_conventions" define them:
 *
 *   message        a node with a role whose kind is a message, hidden or not; others are structure
 *   leaves         nodes without children, structure included
 *   longest_path   number of messages on the longest path
 *   active path    from the head up
 *   last_text80    of the last message there that has text: stripped, 80 code points
 *   last_role      the role of that message
 *
 * Roles are compared by their meaning (rt_graph_role). Conversations that are expected to be
 * unreadable are not counted. Facts that only pi provides are checked for pi only. A file in a format
 * that has no reader yet is listed as such; one that another format takes for its own has failed.
 * Last line: "N passed, N failed, N skipped", N counting files. */
#include "codec/body.h"
#include "codec/content.h"
#include "conformance.h"
#include "formats/formats.h"
#include "importers/graph.h"

enum { SURE_ENOUGH = 50, TEXT_POINTS = 80 };

/* A count by name, in order of first occurrence. */
typedef struct tally {
	struct {
		rt_str name;
		uint64_t count;
	} * items;
	size_t size;
} tally;

/* Counts of one discussion, or of a whole file. */
typedef struct facts {
	uint64_t nodes, messages, roots, orphans, leaves, branch_points, longest_path;
	uint64_t active_messages, conversations;
	bool knows_orphans, is_pi;
	tally roles;
	tally types; /* of pi records, the header included */
	rt_str last_role;
	rt_buf last_text;
} facts;

static void
count_name(tally *t, rt_str name, uint64_t by)
{
	size_t i;

	for (i = 0; i < t->size; i++)
		if (rt_str_eq(t->items[i].name, name)) {
			t->items[i].count += by;
			return;
		}
	t->items = realloc(t->items, (t->size + 1) * sizeof(*t->items));
	if (t->items == NULL)
		abort();
	t->items[t->size].name = name;
	t->items[t->size++].count = by;
}

static void
add_tally(tally *to, const tally *from)
{
	size_t i;

	for (i = 0; i < from->size; i++)
		count_name(to, from->items[i].name, from->items[i].count);
}

static bool
is_message(const rt_node *node)
{
	return node->role.size > 0 && (node->kind.size == 0 || rt_str_is(node->kind, "message") ||
				       rt_str_is(node->kind, "custom_message"));
}

static bool
read_body(const rt_node *node, rt_buf *scratch, rt_body *out)
{
	rt_buf_clear(scratch);
	rt_buf_add_byte(scratch, node->body_format);
	rt_buf_add_str(scratch, node->body);
	return rt_body_read(rt_alloc_libc(), rt_buf_str(scratch), out, NULL) == RT_OK;
}

/* Size of the leading white space of s, as Python strips it. */
static size_t
blank_size(rt_str s)
{
	static const char *const blanks[] = {" ",
					     "\t",
					     "\n",
					     "\v",
					     "\f",
					     "\r",
					     "\x1c",
					     "\x1d",
					     "\x1e",
					     "\x1f",
					     "\xC2\x85",
					     "\xC2\xA0",
					     "\xE1\x9A\x80",
					     "\xE2\x80\x80",
					     "\xE2\x80\x81",
					     "\xE2\x80\x82",
					     "\xE2\x80\x83",
					     "\xE2\x80\x84",
					     "\xE2\x80\x85",
					     "\xE2\x80\x86",
					     "\xE2\x80\x87",
					     "\xE2\x80\x88",
					     "\xE2\x80\x89",
					     "\xE2\x80\x8A",
					     "\xE2\x80\xA8",
					     "\xE2\x80\xA9",
					     "\xE2\x80\xAF",
					     "\xE2\x81\x9F",
					     "\xE3\x80\x80"};
	size_t i;

	for (i = 0; i < sizeof(blanks) / sizeof(blanks[0]); i++)
		if (rt_str_starts(s, rt_str_of(blanks[i])))
			return strlen(blanks[i]);
	return 0;
}

static rt_str
strip(rt_str s)
{
	size_t step, back;

	while (s.size > 0 && (step = blank_size(s)) > 0)
		s = rt_str_at(s.ptr + step, s.size - step);
	for (;;) {
		for (back = 1; back <= 3 && back <= s.size; back++)
			if (blank_size(rt_str_at(s.ptr + s.size - back, back)) == back)
				break;
		if (back > 3 || back > s.size)
			return s;
		s.size -= back;
	}
}

/* Number of messages from a root to each node. Parents may come later, so this walks up to a
 * known node and back. */
static uint64_t
longest_path(const rt_outline *o)
{
	uint64_t *depth = calloc(o->node_count + 1, sizeof(*depth));
	size_t *walk = calloc(o->node_count + 1, sizeof(*walk));
	bool *known = calloc(o->node_count + 1, sizeof(*known));
	uint64_t longest = 0;
	size_t i, steps;
	int64_t at;

	if (depth == NULL || walk == NULL || known == NULL)
		abort();
	for (i = 0; i < o->node_count; i++) {
		for (steps = 0, at = (int64_t)i; at >= 0 && !known[at]; at = o->nodes[at].parent) {
			walk[steps++] = (size_t)at;
			known[at] = true; /* a cycle would end here */
		}
		while (steps > 0) {
			const rt_node *node = &o->nodes[walk[--steps]];

			depth[walk[steps]] = (node->parent < 0 ? 0 : depth[node->parent]) +
					     is_message(node);
		}
		if (depth[i] > longest)
			longest = depth[i];
	}
	free(depth);
	free(walk);
	free(known);
	return longest;
}

/* The texts of a content: of an array, its text blocks, whose member is "value" in some formats. */
static void
add_text(rt_buf *out, const rt_body *body)
{
	yyjson_val *block, *text;
	size_t i, max, count = 0;

	if (body->content_json == NULL) {
		rt_buf_add_str(out, body->content);
		return;
	}
	yyjson_arr_foreach(body->content_json, i, max, block)
	{
		text = yyjson_is_str(block) ? block
		       : rt_content_is_text(block) ? rt_json_get(block, "text")
						   : NULL;
		if (text == NULL && rt_str_is(rt_json_str(rt_json_get(block, "type")), "text"))
			text = rt_json_get(block, "value");
		if (!yyjson_is_str(text))
			continue;
		if (count++ > 0)
			rt_buf_add_byte(out, '\n');
		rt_buf_add_str(out, rt_json_str(text));
	}
}

static void
count_active_path(const rt_outline *o, facts *f, rt_buf *scratch)
{
	int64_t at = o->has_head ? o->head : (int64_t)o->node_count - 1;
	bool has_text = false;

	for (; at >= 0; at = o->nodes[at].parent) {
		const rt_node *node = &o->nodes[at];
		rt_body body;
		rt_buf text;
		rt_str stripped;

		if (!is_message(node))
			continue;
		f->active_messages++;
		if (has_text || !read_body(node, scratch, &body))
			continue;
		rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
		add_text(&text, &body);
		stripped = strip(rt_buf_str(&text));
		if (stripped.size > 0) {
			size_t end = rt_utf8_offset(stripped, TEXT_POINTS);

			has_text = true;
			f->last_role = node->role;
			rt_buf_add(&f->last_text, stripped.ptr,
				   end == SIZE_MAX ? stripped.size : end);
		}
		rt_buf_deinit(&text);
		rt_body_deinit(&body);
	}
}

/* Does the raw record that an importer kept name a parent? */
static bool
names_parent(const rt_node *node, rt_buf *scratch)
{
	static const char *const names[] = {"parent", "parentId", "parent_message_uuid",
					    "parentMessageId", "parent_response_id", "parent_id"};
	bool found = false;
	rt_body body;

	if (node->body_format != RT_BODY_JSON || !read_body(node, scratch, &body))
		return false;
	for (rt_json_iter m = rt_json_members(body.fields); rt_json_next(&m);)
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
			rt_str parent = rt_json_text(m.value, names[i]);

			found = found || (parent.size > 0 &&
					  !rt_str_starts(parent, RT_STR("00000000-0000-")));
		}
	rt_body_deinit(&body);
	return found;
}

/* Facts from the raw record: its type, and a missing parent. */
static void
count_pi(const rt_node *node, facts *f, rt_buf *scratch, rt_arena *arena)
{
	rt_body body;
	rt_str type, copy;
	char *to;

	if (node->body_format != RT_BODY_PI || !read_body(node, scratch, &body))
		return;
	f->knows_orphans = f->is_pi = true;
	f->orphans += node->parent < 0 && yyjson_is_str(rt_json_get(body.fields, "parentId"));
	type = rt_json_str(rt_json_get(body.fields, "type"));
	to = rt_arena_get(arena, type.size + 1);
	if (to == NULL)
		abort();
	if (type.size > 0)
		memcpy(to, type.ptr, type.size);
	copy = rt_str_at(to, type.size);
	count_name(&f->types, copy, 1);
	rt_body_deinit(&body);
}

static bool
is_importer(const rt_format *format)
{
	return format->write == NULL;
}

static void
count_outline(const rt_format *format, const rt_outline *o, facts *f, rt_arena *arena)
{
	uint64_t *children = calloc(o->node_count + 1, sizeof(*children));
	rt_buf scratch;
	size_t i;

	if (children == NULL)
		abort();
	rt_buf_init(&scratch, rt_alloc_libc(), RT_BUF_UNLIMITED);
	f->conversations = 1;
	f->nodes = o->node_count;
	for (i = 0; i < o->node_count; i++) {
		const rt_node *node = &o->nodes[i];

		if (node->parent < 0) {
			f->roots++;
			f->orphans += names_parent(node, &scratch);
		} else {
			children[node->parent]++;
		}
		if (is_message(node)) {
			f->messages++;
			count_name(&f->roles, rt_graph_role(node->role), 1);
		}
		count_pi(node, f, &scratch, arena);
	}
	f->knows_orphans = f->is_pi || is_importer(format);
	if (f->is_pi)
		count_name(&f->types, RT_STR("session"), 1);
	for (i = 0; i < o->node_count; i++) {
		f->leaves += children[i] == 0;
		f->branch_points += children[i] > 1;
	}
	f->longest_path = longest_path(o);
	count_active_path(o, f, &scratch);
	rt_buf_deinit(&scratch);
	free(children);
}

/* ---- the records of agents ---- */

/* Importers of agents join records to entries, make entries of tool calls, and order all of them as a
 * conversation. The facts count records, with the parents that they name if any does, and of some
 * formats only messages. So the graph is built again from the records that the entries keep. */
typedef struct raw_graph {
	rt_outline outline;
	rt_body *bodies;
	uint64_t orphans;
} raw_graph;

static bool
counts_records(const rt_format *format)
{
	return rt_is_word(rt_str_of(format->name), "claude-code codex");
}

/* Whose message is the record? Empty: it is none. */
static rt_str
raw_role(const rt_format *format, yyjson_val *record, const rt_node *node)
{
	yyjson_val *payload = rt_json_get(record, "payload");
	rt_str type = rt_json_text(payload, "type");

	if (strcmp(format->name, "claude-code") == 0)
		return node->role;
	if (rt_str_is(type, "user_message"))
		return RT_STR("user");
	if (rt_str_is(type, "agent_message"))
		return RT_STR("assistant");
	return rt_json_text(yyjson_is_obj(payload) ? payload : record, "role");
}

static void
add_record(raw_graph *raw, const rt_format *format, yyjson_val *record, const rt_node *node,
	   int64_t *last, rt_arena *arena)
{
	rt_str role = rt_graph_role(raw_role(format, record, node));
	char *copy = rt_arena_get(arena, role.size + 1);
	rt_node *nodes;

	if (role.size == 0 && strcmp(format->name, "claude-code") != 0)
		return;
	if (copy == NULL)
		abort();
	if (role.size > 0)
		memcpy(copy, role.ptr, role.size);
	role.ptr = copy;
	nodes = realloc(raw->outline.nodes, (raw->outline.node_count + 1) * sizeof(*nodes));
	if (nodes == NULL)
		abort();
	raw->outline.nodes = nodes;
	nodes[raw->outline.node_count] = (rt_node){.id = rt_json_text(record, "uuid"),
						   .parent = *last,
						   .role = role,
						   .body_format = RT_BODY_TEXT};
	if (!rt_str_is(node->role, "tool")) { /* no output of tools */
		nodes[raw->outline.node_count].body_format = node->body_format;
		nodes[raw->outline.node_count].body = node->body;
	}
	*last = (int64_t)raw->outline.node_count++;
}

static int64_t
find_record(const rt_outline *o, rt_str id)
{
	for (size_t i = 0; i < o->node_count; i++)
		if (rt_str_eq(o->nodes[i].id, id))
			return (int64_t)i;
	return -1;
}

/* The parent that the record of a node names, in place of the one it follows. */
static void
set_parent(raw_graph *raw, yyjson_val *record)
{
	int64_t at = find_record(&raw->outline, rt_json_text(record, "uuid"));
	rt_str parent = rt_json_text(record, "parentUuid");

	if (at < 0)
		return;
	raw->outline.nodes[at].parent = -1;
	raw->orphans += parent.size > 0 && find_record(&raw->outline, parent) < 0;
	if (parent.size == 0)
		parent = rt_json_text(record, "logicalParentUuid");
	if (parent.size > 0)
		raw->outline.nodes[at].parent = find_record(&raw->outline, parent);
	if (raw->outline.nodes[at].parent == at)
		raw->outline.nodes[at].parent = -1;
}

static void
raw_graph_make(raw_graph *raw, const rt_format *format, const rt_outline *o, rt_arena *arena)
{
	int64_t *last = calloc(o->node_count + 1, sizeof(*last));
	bool named = false;
	rt_buf scratch;

	*raw = (raw_graph){.bodies = calloc(o->node_count + 1, sizeof(*raw->bodies))};
	if (raw->bodies == NULL || last == NULL)
		abort();
	rt_buf_init(&scratch, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (size_t i = 0; i < o->node_count; i++) {
		yyjson_val *kept;

		last[i] = o->nodes[i].parent < 0 ? -1 : last[o->nodes[i].parent];
		if (!read_body(&o->nodes[i], &scratch, &raw->bodies[i]))
			continue;
		kept = rt_body_field(&raw->bodies[i], format->name);
		if (yyjson_is_obj(kept))
			add_record(raw, format, kept, &o->nodes[i], &last[i], arena);
		for (rt_json_iter m = rt_json_items(kept); rt_json_next(&m);)
			add_record(raw, format, m.value, &o->nodes[i], &last[i], arena);
		for (rt_json_iter m = rt_json_each(kept); rt_json_next(&m);)
			named = named || rt_json_text(m.value, "parentUuid").size > 0 ||
				(yyjson_is_obj(kept) && rt_json_text(kept, "parentUuid").size > 0);
	}
	for (size_t i = 0; named && i < o->node_count; i++) {
		yyjson_val *kept = rt_body_field(&raw->bodies[i], format->name);

		if (yyjson_is_obj(kept))
			set_parent(raw, kept);
		for (rt_json_iter m = rt_json_items(kept); rt_json_next(&m);)
			set_parent(raw, m.value);
	}
	raw->outline.has_head = o->has_head;
	raw->outline.head = o->has_head && o->head >= 0 ? last[o->head] : -1;
	rt_buf_deinit(&scratch);
	free(last);
}

static void
raw_graph_free(raw_graph *raw, size_t bodies)
{
	for (size_t i = 0; i < bodies; i++)
		rt_body_deinit(&raw->bodies[i]);
	free(raw->bodies);
	free(raw->outline.nodes);
}

static void
count_conversation(const rt_format *format, const rt_outline *o, facts *f, rt_arena *arena)
{
	raw_graph raw;

	if (!counts_records(format)) {
		count_outline(format, o, f, arena);
		return;
	}
	raw_graph_make(&raw, format, o, arena);
	count_outline(format, &raw.outline, f, arena);
	f->orphans += raw.orphans;
	raw_graph_free(&raw, o->node_count);
}

static void
facts_init(facts *f)
{
	memset(f, 0, sizeof(*f));
	rt_buf_init(&f->last_text, rt_alloc_libc(), RT_BUF_UNLIMITED);
}

static void
facts_deinit(facts *f)
{
	free(f->roles.items);
	free(f->types.items);
	rt_buf_deinit(&f->last_text);
}

static void
check_number(rt_case *c, const char *where, const char *what, yyjson_val *wanted, uint64_t is)
{
	uint64_t number = 0;

	if (wanted == NULL || yyjson_is_null(wanted))
		return;
	rt_check(c, rt_json_u64(wanted, &number) && number == is, "%s: %s is %llu, should be %.*s",
		 where, what, (unsigned long long)is, RT_STR_ARG(rt_json_str(wanted)));
}

static void
check_tally(rt_case *c, const char *where, const char *what, yyjson_val *wanted, const tally *is)
{
	rt_buf text;
	char name[200];
	size_t i;

	if (wanted == NULL)
		return;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_byte(&text, '{');
	for (i = 0; i < is->size; i++) {
		rt_json_add_key_str(&text, is->items[i].name);
		rt_buf_add_u64(&text, is->items[i].count);
	}
	rt_buf_add_byte(&text, '}');
	snprintf(name, sizeof(name), "%s: %s", where, what);
	rt_check_json(c, name, &text, wanted);
	rt_buf_deinit(&text);
}

/* Roles by their meaning. */
static void
check_roles(rt_case *c, const char *where, yyjson_val *wanted, const tally *is)
{
	tally meant = {0};
	rt_buf text;
	rt_json_doc *doc;
	uint64_t count;

	if (wanted == NULL)
		return;
	for (rt_json_iter m = rt_json_members(wanted); rt_json_next(&m);)
		if (rt_json_u64(m.value, &count))
			count_name(&meant, rt_graph_role(m.key), count);
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_byte(&text, '{');
	for (size_t i = 0; i < meant.size; i++) {
		rt_json_add_key_str(&text, meant.items[i].name);
		rt_buf_add_u64(&text, meant.items[i].count);
	}
	rt_buf_add_byte(&text, '}');
	doc = rt_parse(rt_buf_str(&text));
	check_tally(c, where, "roles", rt_json_root(doc), is);
	rt_json_free(doc);
	rt_buf_deinit(&text);
	free(meant.items);
}

static void
check_text(rt_case *c, const char *where, const char *what, yyjson_val *wanted, rt_str is)
{
	rt_str should = rt_json_str(wanted);

	if (wanted == NULL)
		return;
	rt_check(c, rt_str_eq(rt_graph_role(should), rt_graph_role(is)), "%s: %s is \"%.*s\", should be \"%.*s\"", where, what,
		 RT_STR_ARG(is), RT_STR_ARG(should));
}

static void
check_counts(rt_case *c, const char *where, yyjson_val *wanted, const facts *f)
{
	check_number(c, where, "conversations", rt_json_get(wanted, "conversations"),
		     f->conversations);
	check_number(c, where, "nodes", rt_json_get(wanted, "nodes"), f->nodes);
	check_number(c, where, "messages", rt_json_get(wanted, "messages"), f->messages);
	check_number(c, where, "roots", rt_json_get(wanted, "roots"), f->roots);
	check_number(c, where, "leaves", rt_json_get(wanted, "leaves"), f->leaves);
	check_number(c, where, "branch_points", rt_json_get(wanted, "branch_points"),
		     f->branch_points);
	check_number(c, where, "longest_path", rt_json_get(wanted, "longest_path"),
		     f->longest_path);
	if (f->knows_orphans)
		check_number(c, where, "orphans", rt_json_get(wanted, "orphans"), f->orphans);
	check_roles(c, where, rt_json_get(wanted, "roles"), &f->roles);
}

static rt_str
field_of(const rt_outline *o, const char *name)
{
	size_t i;

	for (i = 0; i < o->field_count; i++)
		if (rt_str_is(o->fields[i].name, name))
			return o->fields[i].json;
	return rt_str_at(NULL, 0);
}

/* Facts of pi: id, version, entry types, lines that are not JSON. */
static void
check_pi(rt_case *c, const char *where, yyjson_val *wanted, const rt_outline *o, const facts *f)
{
	rt_json_doc *field = rt_parse(field_of(o, "pi.header"));
	rt_json_doc *header = field == NULL ? NULL : rt_parse(rt_json_str(rt_json_root(field)));
	rt_json_doc *junk = NULL;
	rt_str id = rt_json_str(rt_json_get(wanted, "id"));
	yyjson_val *version, *line;
	uint64_t number = 1, bad = 0;
	size_t i, max;

	rt_check(c,
		 rt_str_starts(o->source, RT_STR("pi:")) &&
			 rt_str_eq(rt_str_at(o->source.ptr + 3, o->source.size - 3), id),
		 "%s: the source is \"%.*s\"", where, RT_STR_ARG(o->source));
	if (rt_check(c, header != NULL, "%s: no header", where)) {
		version = rt_json_get(rt_json_root(header), "version");
		if (version != NULL)
			rt_json_u64(version, &number);
		check_number(c, where, "version", rt_json_get(wanted, "version"), number);
	}
	check_tally(c, where, "entry_types", rt_json_get(wanted, "entry_types"), &f->types);
	if (field_of(o, "pi.junk").size > 0)
		junk = rt_parse(field_of(o, "pi.junk"));
	if (junk != NULL) {
		yyjson_arr_foreach(rt_json_root(junk), i, max, line)
		{
			rt_str text = rt_json_str(yyjson_arr_get(line, 1));
			rt_json_doc *doc = text.size > 0 ? rt_parse(text) : NULL;

			bad += doc == NULL && strip(text).size > 0;
			rt_json_free(doc);
		}
	}
	check_number(c, where, "bad_lines", rt_json_get(wanted, "bad_lines"), bad);
	rt_json_free(junk);
	rt_json_free(header);
	rt_json_free(field);
}

static void
check_conversation(rt_case *c, const char *where, yyjson_val *wanted, const rt_format *format,
		   const rt_outline *o, const facts *f)
{
	yyjson_val *title = rt_json_get(wanted, "title");
	rt_str id = rt_json_text(wanted, "id");

	check_counts(c, where, wanted, f);
	check_number(c, where, "active_path_messages", rt_json_get(wanted, "active_path_messages"),
		     f->active_messages);
	if (yyjson_is_str(rt_json_get(wanted, "last_role")))
		check_text(c, where, "last_role", rt_json_get(wanted, "last_role"), f->last_role);
	check_text(c, where, "last_text80", rt_json_get(wanted, "last_text80"),
		   rt_buf_str(&f->last_text));
	if (yyjson_is_str(title) && !rt_str_is(rt_json_str(title), "unused")) /* a reader may generate a missing name */
		check_text(c, where, "title", title, o->name);
	if (f->is_pi)
		check_pi(c, where, wanted, o, f);
	else if (is_importer(format) && id.size > 0 && o->source.size > 0)
		rt_check(c, o->source.size > id.size &&
				    rt_str_eq(rt_str_skip(o->source, o->source.size - id.size), id),
			 "%s: the source is \"%.*s\"", where, RT_STR_ARG(o->source));
}

/* The next expected conversation that can be read; *bad counts the others. */
static yyjson_val *
next_readable(rt_json_iter *expected, uint64_t *bad)
{
	while (rt_json_next(expected)) {
		if (rt_json_get(expected->value, "error") == NULL)
			return expected->value;
		++*bad;
	}
	return NULL;
}

static void
check_outlines(rt_case *c, const rt_format *format, const rt_outlines *outlines, yyjson_val *wanted)
{
	facts all;
	rt_arena *arena = rt_arena_new(rt_alloc_libc());
	rt_json_iter expected = rt_json_items(rt_json_get(wanted, "conversations"));
	uint64_t bad = 0;
	size_t i;

	if (arena == NULL)
		abort();
	facts_init(&all);
	for (i = 0; i < outlines->count; i++) {
		const rt_outline *o = &outlines->items[i];
		yyjson_val *one = next_readable(&expected, &bad);
		char where[40];
		facts f;

		facts_init(&f);
		snprintf(where, sizeof(where), "conversation %zu", i);
		count_conversation(format, o, &f, arena);
		if (rt_check(c, one != NULL, "%s: not expected", where))
			check_conversation(c, where, one, format, o, &f);
		all.conversations++;
		all.messages += f.messages;
		all.leaves += f.leaves;
		all.branch_points += f.branch_points;
		all.orphans += f.orphans;
		all.knows_orphans = f.knows_orphans;
		if (f.longest_path > all.longest_path)
			all.longest_path = f.longest_path;
		add_tally(&all.roles, &f.roles);
		facts_deinit(&f);
	}
	for (i = 0; next_readable(&expected, &bad) != NULL; i++)
		;
	rt_check(c, i == 0, "%zu conversations are missing", i);
	all.conversations += bad; /* the totals count them */
	wanted = rt_json_get(wanted, "totals");
	rt_check(c, wanted != NULL, "no totals to compare with");
	/* totals have no node and root counts */
	check_counts(c, "all", wanted, &all);
	facts_deinit(&all);
	rt_arena_free(arena);
}

typedef enum outcome { PASSED, FAILED, SKIPPED } outcome;

/* Is the format that of the tool, which the manifest names with underscores? */
static bool
is_format_of(const rt_format *format, const char *tool)
{
	size_t i = 0;

	if (strcmp(tool, "openai_messages") == 0)
		return strcmp(format->name, "openai") == 0;
	while (tool[i] != '\0' && (tool[i] == '_' ? '-' : tool[i]) == format->name[i])
		i++;
	return tool[i] == '\0' && format->name[i] == '\0';
}

static outcome
run_file(const char *folder, const char *tool, const char *name, yyjson_val *wanted)
{
	rt_case c = {.name = name};
	rt_outlines outlines;
	rt_report report;
	rt_error err;
	rt_str file;
	const rt_format *format;
	char path[4096];
	bool passed;
	rt_status st;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (!rt_check(&c, rt_read_file(path, &file), "cannot be opened"))
		return FAILED;
	rt_scope s;
	rt_str head;
	rt_input in = rt_input_of(&file);

	rt_scope_init(&s, rt_alloc_libc());
	format = rt_format_detect(&s, &in, &head);
	if (wanted == NULL || format == NULL || format->read == NULL ||
	    (format->examine == NULL && format->sniff(head) < SURE_ENOUGH)) {
		rt_scope_deinit(&s);
		printf("%s: %s\n", name,
		       wanted == NULL ? "skipped, nothing is expected of it" : "not read yet");
		rt_free_file(file);
		return SKIPPED;
	}
	rt_scope_deinit(&s);
	rt_check(&c, is_format_of(format, tool), "mistaken for %s", format->name);
	memset(&err, 0, sizeof(err));
	rt_report_init(&report, rt_alloc_libc());
	st = format->read(rt_alloc_libc(), file, &outlines, &report, &err);
	if (rt_check(&c, st == RT_OK, "taken for %s, but: %s", format->name, err.text)) {
		check_outlines(&c, format, &outlines, wanted);
		rt_outlines_deinit(&outlines);
	}
	rt_report_deinit(&report);
	rt_free_file(file);
	passed = rt_case_passed(&c);
	if (!passed)
		printf("%s: failed as %s\n", name, format->name);
	return passed ? PASSED : FAILED;
}

/* The second column of the manifest's next line, as a separate string, and the first; NULL: end.
 * Modifies the text. */
static char *
next_name(char **text, char **out_tool)
{
	char *line, *end, *tab;

	do {
		line = *text;
		if (*line == '\0')
			return NULL;
		end = strchr(line, '\n');
		*text = end == NULL ? line + strlen(line) : end + 1;
		if (end != NULL)
			*end = '\0';
		tab = strchr(line, '\t');
	} while (tab == NULL || strncmp(line, "tool\t", 5) == 0);
	*out_tool = line;
	*tab = '\0';
	line = tab + 1;
	tab = strchr(line, '\t');
	if (tab != NULL)
		*tab = '\0';
	return line;
}

int
main(int argc, char **argv)
{
	rt_str manifest, expected;
	rt_json_doc *doc;
	size_t counts[3] = {0, 0, 0};
	char *at, *name, *tool, *slash;

	if (argc != 3) {
		fprintf(stderr, "usage: conformance-import MANIFEST EXPECTED\n");
		return 2;
	}
	if (!rt_read_file(argv[1], &manifest) || !rt_read_file(argv[2], &expected)) {
		fprintf(stderr, "conformance-import: cannot read %s or %s\n", argv[1], argv[2]);
		return 2;
	}
	doc = rt_parse(expected);
	if (doc == NULL || rt_json_get(rt_json_root(doc), "files") == NULL) {
		fprintf(stderr, "conformance-import: %s has no \"files\"\n", argv[2]);
		return 2;
	}
	slash = strrchr(argv[1], '/');
	if (slash != NULL)
		*slash = '\0';
	at = (char *)(uintptr_t)(const void *)manifest.ptr;
	while ((name = next_name(&at, &tool)) != NULL)
		counts[run_file(slash == NULL ? "." : argv[1], tool, name,
				rt_json_get(rt_json_get(rt_json_root(doc), "files"), name))]++;
	rt_json_free(doc);
	rt_free_file(expected);
	rt_free_file(manifest);
	printf("%zu passed, %zu failed, %zu skipped\n", counts[PASSED], counts[FAILED],
	       counts[SKIPPED]);
	return counts[FAILED] == 0 && counts[PASSED] > 0 ? 0 : 1;
}
