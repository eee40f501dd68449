/* SPDX-License-Identifier: MIT */
#include "import_facts.h"

enum { TEXT_POINTS = 80 };

void
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

void
facts_init(facts *f)
{
	memset(f, 0, sizeof(*f));
	rt_buf_init(&f->last_text, rt_alloc_libc(), RT_BUF_UNLIMITED);
}

void
facts_deinit(facts *f)
{
	free(f->roles.items);
	free(f->types.items);
	rt_buf_deinit(&f->last_text);
}

void
facts_add(facts *to, const facts *from)
{
	to->conversations++;
	to->messages += from->messages;
	to->leaves += from->leaves;
	to->branch_points += from->branch_points;
	to->orphans += from->orphans;
	to->knows_orphans = from->knows_orphans;
	if (from->longest_path > to->longest_path)
		to->longest_path = from->longest_path;
	add_tally(&to->roles, &from->roles);
}

bool
is_importer(const rt_format *format)
{
#define OURS(id, word) \
	if (strcmp(format->name, word) == 0) \
		return false;
#define THEIRS(id, word)
	RT_FORMAT_TABLE(OURS, OURS, THEIRS)
#undef OURS
#undef THEIRS
	return true;
}

bool
is_message(const rt_format *format, const rt_node *node)
{
	return node->role.size > 0 &&
	       (node->kind.size == 0 || rt_is_word(node->kind, "message custom_message") ||
		(is_importer(format) && rt_str_is(node->kind, "compaction")));
}

bool
read_body(const rt_node *node, rt_buf *scratch, rt_body *out)
{
	rt_buf_clear(scratch);
	rt_buf_add_byte(scratch, node->body_format);
	rt_buf_add_str(scratch, node->body);
	return rt_body_read(rt_alloc_libc(), rt_buf_str(scratch), out, NULL) == RT_OK;
}

yyjson_val *
kept_record(const rt_format *format, const rt_body *body)
{
	return rt_body_field(body, format->name);
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
longest_path(const rt_format *format, const rt_outline *o)
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
					     is_message(format, node);
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

/* Results are separate entries here, but blocks without text in the files of Claude Code. */
static bool
has_no_text(const rt_format *format, const rt_node *node)
{
	return strcmp(format->name, "claude-code") == 0 && rt_str_is(node->role, "tool");
}

static void
count_active_path(const rt_format *format, const rt_outline *o, facts *f, rt_buf *scratch)
{
	int64_t at = o->has_head ? o->head : (int64_t)o->node_count - 1;
	bool has_text = false;

	for (; at >= 0; at = o->nodes[at].parent) {
		const rt_node *node = &o->nodes[at];
		rt_body body;
		rt_buf text;
		rt_str stripped;

		if (!is_message(format, node))
			continue;
		f->active_messages++;
		if (has_text || has_no_text(format, node) || !read_body(node, scratch, &body))
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

/* Does the raw record that an importer kept name a parent, or this one if it is given? */
static bool
names_parent(const rt_node *node, rt_str wanted, rt_buf *scratch)
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
					  (wanted.size > 0 ? rt_str_eq(parent, wanted)
							   : !rt_str_starts(parent, RT_STR("00000000-0000-"))));
		}
	rt_body_deinit(&body);
	return found;
}

/* The id of the root of a conversation of ChatGPT, which carries no message, and whose record is in a
 * field of the discussion; empty: there is none. */
static rt_str
kept_root(const rt_outline *o, rt_scope *s)
{
	yyjson_val *kept = rt_json_parse(s, field_of(o, "chatgpt.records"));

	for (rt_json_iter it = rt_json_items(kept); rt_json_next(&it);)
		if (rt_json_text(it.value, "parent").size == 0)
			return rt_json_text(it.value, "id");
	return RT_STR("");
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

void
count_outline(const rt_format *format, const rt_outline *o, facts *f, rt_arena *arena)
{
	uint64_t *children = calloc(o->node_count + 1, sizeof(*children)), below = 0;
	rt_buf scratch;
	rt_str root;
	rt_scope s;
	size_t i;

	if (children == NULL)
		abort();
	rt_buf_init(&scratch, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_scope_init(&s, rt_alloc_libc());
	root = kept_root(o, &s);
	f->conversations = 1;
	f->nodes = o->node_count;
	for (i = 0; i < o->node_count; i++) {
		const rt_node *node = &o->nodes[i];

		if (node->parent < 0 && root.size > 0 && names_parent(node, root, &scratch)) {
			below++;
		} else if (node->parent < 0) {
			f->roots++;
			f->orphans += names_parent(node, RT_STR(""), &scratch);
		} else {
			children[node->parent]++;
		}
		if (is_message(format, node)) {
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
	if (root.size > 0) {
		f->nodes++;
		f->roots++;
		f->leaves += below == 0;
		f->branch_points += below > 1;
	}
	rt_scope_deinit(&s);
	f->longest_path = longest_path(format, o);
	count_active_path(format, o, f, &scratch);
	rt_buf_deinit(&scratch);
	free(children);
}

/* ---- comparison ---- */

void
check_number(rt_case *c, const char *where, const char *what, yyjson_val *wanted, uint64_t is)
{
	uint64_t number = 0;

	if (wanted == NULL || yyjson_is_null(wanted))
		return;
	rt_check(c, rt_json_u64(wanted, &number) && number == is, "%s: %s is %llu, should be %.*s",
		 where, what, (unsigned long long)is, RT_STR_ARG(rt_json_str(wanted)));
}

void
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

void
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

rt_str
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
check_pi(rt_case *c, const char *where, yyjson_val *wanted, const rt_outline *o, rt_str source,
	 const facts *f)
{
	rt_json_doc *field = rt_parse(field_of(o, "pi.header"));
	rt_json_doc *header = field == NULL ? NULL : rt_parse(rt_json_str(rt_json_root(field)));
	rt_json_doc *junk = NULL;
	rt_str id = rt_json_str(rt_json_get(wanted, "id"));
	yyjson_val *version, *line;
	uint64_t number = 1, bad = 0;
	size_t i, max;

	rt_check(c,
		 rt_str_starts(source, RT_STR("pi:")) && rt_str_eq(rt_str_skip(source, 3), id),
		 "%s: the source is \"%.*s\"", where, RT_STR_ARG(source));
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
check_text(rt_case *c, const char *where, const char *what, yyjson_val *wanted, rt_str is)
{
	rt_str should = rt_json_str(wanted);

	if (wanted != NULL)
		rt_check(c, rt_str_eq(should, is), "%s: %s is \"%.*s\", should be \"%.*s\"", where,
			 what, RT_STR_ARG(is), RT_STR_ARG(should));
}

/* SillyTavern has no titles: the fact is the name in the header, which newer versions fill with
 * "unused". The discussion is named otherwise then, and keeps the header's name in a field. */
static void
check_title(rt_case *c, const char *where, yyjson_val *title, const rt_outline *o)
{
	rt_json_doc *kept = rt_parse(field_of(o, "sillytavern.character_name"));

	if (kept != NULL)
		check_text(c, where, "the name in the header", title, rt_json_str(rt_json_root(kept)));
	else if (yyjson_is_str(title) && rt_json_str(title).size > 80) /* long ones are cut */
		rt_check(c, o->name.size >= 40 && rt_str_starts(rt_json_str(title), o->name),
			 "%s: the title is \"%.*s\"", where, RT_STR_ARG(o->name));
	else if (yyjson_is_str(title))
		check_text(c, where, "title", title, o->name);
	rt_check(c, o->name.size > 0, "%s: the discussion has no name", where);
	rt_json_free(kept);
}

void
check_conversation(rt_case *c, const char *where, yyjson_val *wanted, const rt_format *format,
		   const rt_outline *o, const facts *f)
{
	yyjson_val *role = rt_json_get(wanted, "last_role");
	bool has_parts = rt_json_get(wanted, "part_files") != NULL;
	rt_str id = rt_json_text(wanted, "id"), meant = rt_graph_role(rt_json_str(role));
	rt_json_doc *field = rt_parse(field_of(o, "source"));
	rt_str source = field == NULL ? RT_STR("") : rt_json_str(rt_json_root(field));

	check_counts(c, where, wanted, f);
	check_number(c, where, "active_path_messages", rt_json_get(wanted, "active_path_messages"),
		     f->active_messages);
	/* Facts with "part_files" do not count the texts of messages, which are in those files. */
	if (role != NULL && !has_parts)
		rt_check(c, rt_str_eq_nocase(meant, rt_graph_role(f->last_role)),
			 "%s: last_role is \"%.*s\", should be \"%.*s\"", where,
			 RT_STR_ARG(f->last_role), RT_STR_ARG(meant));
	if (!has_parts)
		check_text(c, where, "last_text80", rt_json_get(wanted, "last_text80"),
			   rt_buf_str(&f->last_text));
	check_title(c, where, rt_json_get(wanted, "title"), o);
	if (f->is_pi)
		check_pi(c, where, wanted, o, source, f);
	else if (is_importer(format) && id.size > 0 && source.size > 0)
		rt_check(c, source.size >= id.size &&
				    rt_str_eq(rt_str_skip(source, source.size - id.size), id),
			 "%s: the source is \"%.*s\"", where, RT_STR_ARG(source));
	rt_json_free(field);
}

/* ---- takes ---- */

/* The last entry of a take that is displayed; -1: none. */
static int64_t
shown_tip(const rt_outline *o, const rt_outline_take *take)
{
	for (size_t i = take->node_count; i-- > 0;)
		if (o->nodes[take->nodes[i]].role.size > 0)
			return take->nodes[i];
	return -1;
}

void
check_takes(rt_case *c, const char *where, const rt_outline *o)
{
	bool *is_inner = calloc(o->node_count + 1, sizeof(*is_inner));
	bool *is_tip = calloc(o->node_count + 1, sizeof(*is_tip));
	size_t leaves = 0;

	if (is_inner == NULL || is_tip == NULL)
		abort();
	for (size_t i = 0; i < o->node_count; i++)
		if (o->nodes[i].parent >= 0)
			is_inner[o->nodes[i].parent] = true;
	for (size_t i = 0; i < o->node_count; i++)
		leaves += !is_inner[i];
	rt_check(c, o->take_count == (leaves > 0 ? leaves : 1), "%s: %zu takes for %zu leaves", where,
		 o->take_count, leaves);
	for (size_t i = 0; i < o->take_count; i++) {
		int64_t tip = shown_tip(o, &o->takes[i]);

		if (tip >= 0) /* else the file has such a root */
			rt_check(c, !is_tip[tip], "%s: take %zu looks as an earlier one", where, i);
		is_tip[tip < 0 ? (int64_t)o->node_count : tip] = true;
	}
	free(is_inner);
	free(is_tip);
}
