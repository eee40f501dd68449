/* SPDX-License-Identifier: MIT
 *
 * Agents: the facts count records, but a user reads a conversation. The importer of Claude Code joins
 * the records of a reply to one entry. Technical records (results of tools, progress, attachments) are
 * on the path where they were written, although they name other parents. So there are two comparisons:
 *
 *   the records that the entries keep, with the parents that they name, have the facts of
 *   expected.json, and each record of the file is kept;
 *
 *   the tree agrees with the records:
 *     - records of one entry are parts of one reply (the same message.id)
 *     - what a message follows in the file, it follows in the tree, or it is in the same entry
 *     - prompts and replies that do not follow each other in the file are in different branches
 *     - it ends in as many prompts or replies as the file
 *     - each reply has its model
 *     - no take is without messages, unless all are
 *
 * Sidechains, and further sessions in one file, begin at separate roots in both. */
#include "import_facts.h"

static bool
is_claude_code(const rt_format *format)
{
	return strcmp(format->name, "claude-code") == 0;
}

static rt_str
copied(rt_arena *arena, rt_str s)
{
	char *to = rt_arena_get(arena, s.size + 1);

	if (to == NULL)
		abort();
	if (s.size > 0)
		memcpy(to, s.ptr, s.size);
	return rt_str_at(to, s.size);
}

/* ---- the graph of the records ---- */

static void
add_record(records *r, yyjson_val *record, const rt_outline *o, size_t entry, int64_t *last,
	   rt_arena *arena)
{
	const rt_node *node = &o->nodes[entry];
	size_t count = r->outline.node_count;
	rt_node *nodes = realloc(r->outline.nodes, (count + 1) * sizeof(*nodes));
	size_t *entries = realloc(r->entries, (count + 1) * sizeof(*entries));
	rt_str *replies = realloc(r->replies, (count + 1) * sizeof(*replies));

	if (nodes == NULL || entries == NULL || replies == NULL)
		abort();
	r->outline.nodes = nodes;
	r->entries = entries;
	r->replies = replies;
	nodes[count] = (rt_node){.id = rt_json_text(record, "uuid"),
				 .parent = *last,
				 .role = copied(arena, rt_graph_role(node->role)),
				 .body_format = node->body_format,
				 .body = node->body};
	entries[count] = entry;
	replies[count] = rt_json_text(rt_json_get(record, "message"), "id");
	*last = (int64_t)r->outline.node_count++;
}

static int64_t
find_record(const rt_outline *o, rt_str id)
{
	for (size_t i = 0; id.size > 0 && i < o->node_count; i++)
		if (rt_str_eq(o->nodes[i].id, id))
			return (int64_t)i;
	return -1;
}

/* The parent that the record of a node names, in place of the one it follows. */
static void
set_parent(records *r, yyjson_val *record)
{
	int64_t at = find_record(&r->outline, rt_json_text(record, "uuid"));
	rt_str parent = rt_json_text(record, "parentUuid");

	if (at < 0)
		return;
	r->outline.nodes[at].parent = -1;
	r->orphans += parent.size > 0 && find_record(&r->outline, parent) < 0;
	if (parent.size == 0)
		parent = rt_json_text(record, "logicalParentUuid");
	if (parent.size > 0)
		r->outline.nodes[at].parent = find_record(&r->outline, parent);
	if (r->outline.nodes[at].parent == at)
		r->outline.nodes[at].parent = -1;
}

void
records_make(records *r, const rt_format *format, const rt_outline *o, rt_arena *arena)
{
	int64_t *last = calloc(o->node_count + 1, sizeof(*last));
	bool named = false;
	rt_buf scratch;

	*r = (records){.bodies = calloc(o->node_count + 1, sizeof(*r->bodies)),
		       .body_count = o->node_count};
	if (r->bodies == NULL || last == NULL)
		abort();
	rt_buf_init(&scratch, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (size_t i = 0; i < o->node_count; i++) {
		yyjson_val *kept;

		last[i] = o->nodes[i].parent < 0 ? -1 : last[o->nodes[i].parent];
		if (!read_body(&o->nodes[i], &scratch, &r->bodies[i]))
			continue;
		kept = kept_record(format, &r->bodies[i]);
		if (yyjson_is_obj(kept)) {
			add_record(r, kept, o, i, &last[i], arena);
			named = named || rt_json_text(kept, "parentUuid").size > 0;
		}
		for (rt_json_iter m = rt_json_items(kept); rt_json_next(&m);) {
			add_record(r, m.value, o, i, &last[i], arena);
			named = named || rt_json_text(m.value, "parentUuid").size > 0;
		}
	}
	for (size_t i = 0; named && i < o->node_count; i++) {
		yyjson_val *kept = kept_record(format, &r->bodies[i]);

		if (yyjson_is_obj(kept))
			set_parent(r, kept);
		for (rt_json_iter m = rt_json_items(kept); rt_json_next(&m);)
			set_parent(r, m.value);
	}
	r->outline.has_head = o->has_head;
	r->outline.head = o->has_head && o->head >= 0 ? last[o->head] : -1;
	rt_buf_deinit(&scratch);
	free(last);
}

void
records_free(records *r)
{
	for (size_t i = 0; i < r->body_count; i++)
		rt_body_deinit(&r->bodies[i]);
	free(r->bodies);
	free(r->entries);
	free(r->replies);
	free(r->outline.nodes);
}

/* ---- the tree ---- */

/* A prompt or a reply; the rest is technical. */
static bool
is_said(const rt_node *node)
{
	return node->role.size > 0 && !rt_str_is(node->role, "tool");
}

/* Is a node above another one? Cycles of damaged files end after all nodes. */
static bool
is_above(const rt_outline *o, int64_t above, int64_t at)
{
	for (size_t steps = 0; at >= 0 && steps <= o->node_count; steps++) {
		at = o->nodes[at].parent;
		if (at == above)
			return true;
	}
	return false;
}

/* The next message above a record; -1: none. */
static int64_t
message_above(const rt_outline *o, int64_t at)
{
	for (size_t steps = 0; at >= 0 && steps <= o->node_count; steps++) {
		at = o->nodes[at].parent;
		if (at >= 0 && o->nodes[at].role.size > 0)
			return at;
	}
	return -1;
}

/* Entries after which nothing more is said. */
static size_t
count_ends(const rt_outline *o, const size_t *entries, size_t entry_count)
{
	bool *continues = calloc(entry_count + 1, sizeof(*continues));
	bool *counted = calloc(entry_count + 1, sizeof(*counted));
	size_t ends = 0;

	if (continues == NULL || counted == NULL)
		abort();
	for (size_t i = 0; i < o->node_count; i++) {
		int64_t at = (int64_t)i;

		if (!is_said(&o->nodes[i]))
			continue;
		while ((at = message_above(o, at)) >= 0 && !is_said(&o->nodes[at]))
			;
		if (at >= 0 && (entries == NULL || entries[at] != entries[i]))
			continues[entries == NULL ? (size_t)at : entries[at]] = true;
	}
	for (size_t i = 0; i < o->node_count; i++) {
		size_t entry = entries == NULL ? i : entries[i];

		ends += is_said(&o->nodes[i]) && !continues[entry] && !counted[entry];
		counted[entry] = counted[entry] || is_said(&o->nodes[i]);
	}
	free(continues);
	free(counted);
	return ends;
}

static void
check_pair(rt_case *c, const char *where, const records *r, const rt_outline *o, size_t i, size_t j)
{
	const rt_outline *raw = &r->outline;
	size_t a = r->entries[i], b = r->entries[j];
	bool is_reply = r->replies[i].size > 0 && rt_str_eq(r->replies[i], r->replies[j]);

	if (a == b) {
		rt_check(c, is_reply, "%s: entry %zu joins records of different replies", where, a);
		return;
	}
	if (!is_reply && is_said(&raw->nodes[i]) && is_said(&raw->nodes[j]) &&
	    !is_above(raw, (int64_t)i, (int64_t)j) && !is_above(raw, (int64_t)j, (int64_t)i))
		rt_check(c, !is_above(o, (int64_t)a, (int64_t)b) && !is_above(o, (int64_t)b, (int64_t)a),
			 "%s: \"%.*s\" and \"%.*s\" are branches of the file, not of the tree", where,
			 RT_STR_ARG(raw->nodes[i].id), RT_STR_ARG(raw->nodes[j].id));
}

void
check_records(rt_case *c, const char *where, const records *r, const rt_outline *o)
{
	const rt_outline *raw = &r->outline;

	for (size_t i = 0; i < raw->node_count; i++) {
		int64_t above = message_above(raw, (int64_t)i);

		for (size_t j = i + 1; j < raw->node_count; j++)
			check_pair(c, where, r, o, i, j);
		if (raw->nodes[i].role.size > 0 && above >= 0 && r->entries[above] != r->entries[i] &&
		    !is_above(raw, (int64_t)i, (int64_t)i))
			rt_check(c, is_above(o, (int64_t)r->entries[above], (int64_t)r->entries[i]),
				 "%s: \"%.*s\" does not follow \"%.*s\" in the tree", where,
				 RT_STR_ARG(raw->nodes[i].id), RT_STR_ARG(raw->nodes[above].id));
	}
	for (size_t i = 0; i < o->take_count; i++) {
		size_t shown = 0;

		for (size_t k = 0; k < o->takes[i].node_count; k++)
			shown += o->nodes[o->takes[i].nodes[k]].role.size > 0;
		rt_check(c, shown > 0 || o->take_count == 1, "%s: take %zu shows nothing", where, i);
	}
	rt_check(c, count_ends(raw, r->entries, o->node_count) == count_ends(o, NULL, o->node_count),
		 "%s: the records have %zu ends, the tree %zu", where,
		 count_ends(raw, r->entries, o->node_count), count_ends(o, NULL, o->node_count));
	for (size_t i = 0; i < o->node_count; i++) {
		yyjson_val *kept = rt_body_field(&r->bodies[i], "claude-code");
		yyjson_val *first = yyjson_is_arr(kept) ? yyjson_arr_get_first(kept) : kept;
		rt_str model = rt_json_text(rt_json_get(first, "message"), "model");

		if (model.size > 0)
			rt_check(c, rt_str_eq(rt_json_str(rt_body_field(&r->bodies[i], "model")), model),
				 "%s: entry %zu is not of the model %.*s", where, i, RT_STR_ARG(model));
	}
}

/* ---- nothing is lost ---- */

typedef struct kept {
	const rt_format *format;
	rt_arena *arena;
	tally types, items, roles;      /* of records, of response items, of messages */
	tally ids, sessions;            /* uuids and sessions met */
	uint64_t duplicates, nameless, sidechain, user_events, agent_events;
	uint64_t messages, items_said, thoughts; /* of Codex: messages; with calls, results and
						  * thoughts; events that are thoughts */
} kept;

static rt_str
type_of(yyjson_val *object)
{
	rt_str type = rt_json_text(object, "type");

	return type.size > 0 ? type : RT_STR("None");
}

static bool
ends(rt_str text, const char *end)
{
	size_t size = strlen(end);

	return text.size >= size && rt_str_is(rt_str_skip(text, text.size - size), end);
}

/* An item of Codex: a message, a call, a result or a thought?  */
static void
count_item(kept *k, yyjson_val *item)
{
	rt_str type = type_of(item);
	bool is_message = rt_json_text(item, "role").size > 0 && rt_is_word(type, "None message");

	k->messages += is_message;
	k->items_said += is_message || rt_str_is(type, "reasoning") || ends(type, "_call") ||
			 ends(type, "_output") || ends(type, "_result");
}

static bool
met(tally *t, rt_str name)
{
	size_t size = t->size;

	count_name(t, name, 1);
	return t->size == size;
}

/* record: without the content, where an entry has it; role: of that entry. */
static void
count_record(kept *k, yyjson_val *record, rt_str role)
{
	yyjson_val *payload = rt_json_get(record, "payload");
	rt_str type = copied(k->arena, type_of(record)), event = rt_json_text(payload, "type");
	rt_str id = rt_json_text(record, "uuid"), session = rt_json_text(record, "sessionId");
	bool is_message = is_claude_code(k->format) && rt_is_word(type, "user assistant") &&
			  yyjson_is_obj(rt_json_get(record, "message"));

	count_name(&k->types, type, 1);
	if (rt_str_is(type, "response_item"))
		count_name(&k->items, copied(k->arena, type_of(payload)), 1);
	if (rt_str_is(type, "response_item") || !yyjson_is_obj(payload))
		count_item(k, yyjson_is_obj(payload) ? payload : record);
	k->thoughts += rt_str_is(type, "event_msg") && rt_str_is(event, "agent_reasoning");
	k->user_events += rt_str_is(type, "event_msg") && rt_str_is(event, "user_message");
	k->agent_events += rt_str_is(type, "event_msg") && rt_str_is(event, "agent_message");
	if (session.size > 0)
		(void)met(&k->sessions, copied(k->arena, session));
	if (id.size > 0 && met(&k->ids, copied(k->arena, id)))
		k->duplicates++;
	else if (is_message) {
		k->nameless += id.size == 0;
		k->sidechain += id.size > 0 && yyjson_is_true(rt_json_get(record, "isSidechain"));
		count_name(&k->roles, copied(k->arena, role.size > 0 ? role : type), 1);
	}
}

static void
count_entry(kept *k, const rt_node *node, rt_buf *scratch)
{
	yyjson_val *kept_here;
	rt_body body;

	if (!read_body(node, scratch, &body))
		return;
	kept_here = kept_record(k->format, &body);
	if (yyjson_is_obj(kept_here))
		count_record(k, kept_here, rt_graph_role(node->role));
	for (rt_json_iter m = rt_json_items(kept_here); rt_json_next(&m);)
		count_record(k, m.value, rt_graph_role(node->role));
	rt_body_deinit(&body);
}

/* Calls, results and thoughts of Codex are entries, too; events only where there are no messages. */
static void
check_items(rt_case *c, const char *where, const rt_outline *o, const kept *k)
{
	uint64_t items = k->items_said;

	if (k->messages == 0)
		items += k->user_events + k->agent_events + k->thoughts;
	rt_check(c, o->node_count == items, "%s: %zu entries for %llu items", where, o->node_count,
		 (unsigned long long)items);
}

void
check_kept(rt_case *c, const char *where, yyjson_val *wanted, const rt_format *format,
	   const rt_outline *o)
{
	char name[40];
	kept k = {.format = format, .arena = rt_arena_new(rt_alloc_libc())};
	rt_json_doc *aside;
	rt_buf scratch;

	if (k.arena == NULL)
		abort();
	rt_buf_init(&scratch, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (size_t i = 0; i < o->node_count; i++)
		count_entry(&k, &o->nodes[i], &scratch);
	snprintf(name, sizeof(name), "%s.records", format->name);
	aside = rt_parse(field_of(o, name));
	for (rt_json_iter m = rt_json_items(aside == NULL ? NULL : rt_json_root(aside));
	     rt_json_next(&m);)
		count_record(&k, m.value, RT_STR(""));
	check_tally(c, where, "record_types", rt_json_get(wanted, "record_types"), &k.types);
	check_tally(c, where, "response_item_types", rt_json_get(wanted, "response_item_types"), &k.items);
	check_number(c, where, "duplicate_uuids", rt_json_get(wanted, "duplicate_uuids"), k.duplicates);
	check_number(c, where, "messages_without_uuid", rt_json_get(wanted, "messages_without_uuid"),
		     k.nameless);
	check_number(c, where, "sidechain_messages", rt_json_get(wanted, "sidechain_messages"),
		     k.sidechain);
	check_number(c, where, "session_ids", rt_json_get(wanted, "session_ids"), k.sessions.size);
	check_number(c, where, "event_user", rt_json_get(wanted, "event_user"), k.user_events);
	check_number(c, where, "event_agent", rt_json_get(wanted, "event_agent"), k.agent_events);
	if (!is_claude_code(format))
		check_items(c, where, o, &k);
	rt_json_free(aside);
	rt_buf_deinit(&scratch);
	free(k.types.items);
	free(k.items.items);
	free(k.roles.items);
	free(k.ids.items);
	free(k.sessions.items);
	rt_arena_free(k.arena);
}
