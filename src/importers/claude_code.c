/* SPDX-License-Identifier: MIT
 *
 * Claude Code: session files, one record a line, or {"loglines":[records]}.
 *
 *   {"type":"user" | "assistant","uuid","parentUuid","sessionId","timestamp","isSidechain",
 *    "message":{"role","content":text or blocks,"id","model","usage"}}
 *   {"type":"system" | "attachment" | "progress" …,"uuid","parentUuid",…}
 *   {"type":"summary","summary"}  {"type":"custom-title","customTitle"} …
 *
 * The records of a file are a tree with more forks than its conversation: a reply is written as one
 * record for each block of its content, results of calls made together hang off different records of
 * it, and records without a message hang off anything. So consecutive records of one reply become
 * one entry, which keeps a list of them; all others that are not messages by themselves continue the
 * path where they were added. Only prompts and replies that share a parent are branches.
 *
 * Records without a uuid are kept in "claude-code.records", except messages of files in which no
 * record names a parent: their messages follow each other. */
#include "formats/formats.h"
#include "importers/claude_code.h"
#include "importers/graph.h"

/* What follows a node. */
typedef struct follow {
	int64_t newest; /* its newest child; itself: none */
	int64_t tail;   /* after which messages that name it follow; itself: it */
} follow;

/* A reply whose records are being joined. */
typedef struct reply {
	rt_node node;
	rt_str message_id, parent_id, model;
	rt_items ids;      /* rt_str, of its records */
	rt_buf *records; /* a JSON array, open */
	rt_buf *blocks;  /* the same: the number of blocks of each record */
	rt_buf *usage;
	bool is_technical, is_sidechain;
} reply;

typedef struct session {
	rt_graph g;
	rt_items follows; /* follow, one for each node */
	rt_index messages, results; /* ids of replies, of answered calls */
	reply reply;
	rt_buf *id;    /* of the session */
	rt_str title, generated, summary, prompt;
	int64_t last; /* message outside of a sidechain */
	size_t count; /* of records that are Claude Code's */
	bool has_parents, has_message;
} session;

/* ---- the order of the conversation ---- */

/* The end of the newest path below a node, or of the technical nodes that follow it. */
static int64_t
end_of(session *c, int64_t at, bool is_tail)
{
	follow *all = c->follows.items;
	int64_t end = at, next;

	while ((next = is_tail ? all[end].tail : all[end].newest) != end)
		end = next;
	for (; at != end; at = next) { /* shorter the next time */
		int64_t *link = is_tail ? &all[at].tail : &all[at].newest;

		next = *link;
		*link = end;
	}
	return end;
}

/* A technical node continues the newest path below its parent, and what names that parent later
 * follows it. */
static int64_t
add(session *c, rt_node *n, rt_str parent_id, bool is_technical)
{
	int64_t parent = rt_graph_find(&c->g, parent_id), at;
	follow *new;

	if (!rt_ok(&c->g.b->s)) /* the last node may have no follow */
		return -1;
	if (parent_id.size == 0 && c->follows.count > 0 && (is_technical || !c->has_message))
		parent = (int64_t)c->follows.count - 1;
	if (parent >= 0)
		parent = end_of(c, parent, !is_technical);
	n->parent = parent;
	at = rt_graph_add(&c->g, n, parent >= 0 ? RT_STR("") : parent_id);
	RT_ASSERT(at < 0 || (size_t)at == c->follows.count); /* its id is new, see is_second */
	new = at < 0 ? NULL : rt_items_push(&c->g.b->s, &c->follows, sizeof(*new));
	if (new == NULL)
		return -1;
	*new = (follow){at, at};
	if (parent >= 0) {
		follow *above = (follow *)c->follows.items + parent;

		above->newest = at;
		if (is_technical)
			above->tail = at;
	}
	c->has_message = c->has_message || n->role.size > 0;
	return at;
}

/* ---- contents ---- */

static bool
is_type(yyjson_val *object, const char *type)
{
	return rt_str_is(rt_json_text(object, "type"), type);
}

static rt_str
first_text(yyjson_val *content)
{
	if (yyjson_is_str(content))
		return rt_json_str(content);
	for (rt_json_iter m = rt_json_items(content); rt_json_next(&m);)
		if (is_type(m.value, "text"))
			return rt_json_text(m.value, "text");
	return RT_STR("");
}

/* Text that the program wrote in the name of the user. */
static bool
is_synthetic(yyjson_val *record, rt_str text)
{
	static const char *const begins[] = {"<command-name>", "<command-message>",
					     "<local-command-", "<system-reminder>", "Caveat: "};

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (rt_str_starts(text, rt_str_of(begins[i])))
			return true;
	return yyjson_is_true(rt_json_get(record, "isMeta"));
}

/* ---- replies ---- */

/* is_repaired: its only record is the current one, whose text is kept. */
static void
end_reply(session *c, bool is_repaired)
{
	reply *p = &c->reply;
	rt_build *b = c->g.b;
	rt_str records, usage = rt_scope_str(&b->s, p->usage);
	size_t count = p->ids.count;
	int64_t at;

	if (count == 0)
		return;
	p->ids.count = 0;
	rt_parts_end(&c->g.parts);
	rt_json_close(p->records, ']');
	rt_json_close(p->blocks, ']');
	records = rt_scope_str(&b->s, p->records);
	if (count == 1 && records.size > 2)
		records = rt_str_at(records.ptr + 1, records.size - 2);
	if (p->model.size > 0)
		rt_json_add_string(rt_build_body_field(b, RT_STR("model")), p->model);
	if (usage.size > 0)
		rt_buf_add_str(rt_build_body_field(b, RT_STR("usage")), usage);
	rt_buf_add_str(rt_build_body_field(b, rt_str_of(c->g.format)), records);
	if (count > 1)
		rt_buf_add_str(rt_build_body_field(b, RT_STR("claude-code.blocks")),
			       rt_scope_str(&b->s, p->blocks));
	if (is_repaired)
		rt_build_body_raw(b, c->g.r->record);
	at = add(c, &p->node, p->parent_id, p->is_technical);
	if (at < 0)
		return;
	if (!p->is_sidechain)
		c->last = at;
	for (size_t i = 1; i < count; i++)
		rt_graph_alias(&c->g, ((rt_str *)p->ids.items)[i], at);
}

static void
begin_reply(session *c, yyjson_val *record, yyjson_val *message)
{
	reply *p = &c->reply;
	rt_build *b = c->g.b;

	p->message_id = rt_build_copy(b, rt_json_text(message, "id"));
	p->parent_id = rt_build_copy(b, rt_json_text(record, "parentUuid"));
	p->model = rt_build_copy(b, rt_json_text(message, "model"));
	p->is_sidechain = yyjson_is_true(rt_json_get(record, "isSidechain"));
	p->is_technical = p->message_id.size > 0 &&
			  rt_index_put(&b->s, &c->messages, p->message_id, 0) >= 0;
	p->node = (rt_node){.id = rt_build_copy(b, rt_json_text(record, "uuid")),
			    .parent = -1,
			    .role = RT_STR("assistant"),
			    .muted = yyjson_is_true(rt_json_get(record, "isApiErrorMessage"))};
	p->node.has_ts = rt_build_moment(rt_json_get(record, "timestamp"), &p->node.ts);
	rt_buf_clear(p->records);
	rt_buf_clear(p->blocks);
	rt_buf_clear(p->usage);
	rt_json_open(p->records, NULL, '[');
	rt_json_open(p->blocks, NULL, '[');
	rt_parts_begin(&c->g.parts);
}

/* Is the record a part of the reply that is being joined? */
static bool
continues_reply(const session *c, yyjson_val *record, yyjson_val *message)
{
	const reply *p = &c->reply;
	rt_str id = rt_json_text(record, "uuid"), message_id = rt_json_text(message, "id");

	return p->ids.count > 0 && !c->g.is_repaired && message_id.size > 0 &&
	       rt_str_eq(message_id, p->message_id) && id.size > 0 && !rt_str_eq(id, p->node.id);
}

static void
read_reply(session *c, yyjson_val *record, yyjson_val *message)
{
	reply *p = &c->reply;
	rt_str id = rt_json_text(record, "uuid"), *copy;
	bool is_verbatim, is_repaired = c->g.is_repaired;

	if (p->ids.count == 0)
		begin_reply(c, record, message);
	copy = rt_items_push(&c->g.b->s, &p->ids, sizeof(*copy));
	if (copy == NULL)
		return;
	*copy = rt_build_copy(c->g.b, id);
	rt_json_put_u64(p->blocks, NULL,
			rt_parts_blocks(&c->g.parts, rt_json_get(message, "content"), &is_verbatim));
	rt_graph_add_raw(p->records, record, is_verbatim ? "message.content" : "");
	if (yyjson_is_obj(rt_json_get(message, "usage"))) {
		rt_buf_clear(p->usage);
		rt_json_add_value(p->usage, rt_json_get(message, "usage"));
	}
	c->g.is_repaired = false;
	if (is_repaired)
		end_reply(c, true);
}

/* ---- other records ---- */

/* The only block, a result. */
static yyjson_val *
only_result(yyjson_val *content)
{
	yyjson_val *block = yyjson_arr_size(content) == 1 ? yyjson_arr_get_first(content) : NULL;

	return is_type(block, "tool_result") ? block : NULL;
}

static void
read_result(session *c, yyjson_val *record, yyjson_val *result, rt_node *n)
{
	yyjson_val *content = rt_json_get(result, "content");
	rt_str call = rt_build_copy(c->g.b, rt_json_text(result, "tool_use_id"));
	bool is_verbatim, is_second = call.size > 0 &&
				      rt_index_put(&c->g.b->s, &c->results, call, 0) >= 0;

	(void)rt_parts_blocks(&c->g.parts, content, &is_verbatim);
	rt_parts_end(&c->g.parts);
	n->role = RT_STR("tool");
	rt_graph_keep(&c->g, "tool_call_id", rt_json_get(result, "tool_use_id"));
	rt_graph_keep(&c->g, "is_error", rt_json_get(result, "is_error"));
	is_verbatim = is_verbatim && rt_parts_has_only(result, "type tool_use_id content is_error") &&
		      yyjson_arr_size(content) != 1; /* a text is the same in an array */
	rt_graph_raw(&c->g, record, is_verbatim ? "message.content" : "");
	int64_t at = add(c, n, rt_json_text(record, "parentUuid"), !is_second);

	if (at >= 0 && !yyjson_is_true(rt_json_get(record, "isSidechain")))
		c->last = at;
}

static void
read_prompt(session *c, yyjson_val *record, yyjson_val *message)
{
	yyjson_val *content = rt_json_get(message, "content"), *result = only_result(content);
	rt_node n = {.id = rt_json_text(record, "uuid"), .parent = -1, .role = RT_STR("user")};
	rt_str text = first_text(content);
	bool is_verbatim, is_sidechain = yyjson_is_true(rt_json_get(record, "isSidechain"));

	n.has_ts = rt_build_moment(rt_json_get(record, "timestamp"), &n.ts);
	rt_parts_begin(&c->g.parts);
	if (result != NULL) {
		read_result(c, record, result, &n);
		return;
	}
	(void)rt_parts_blocks(&c->g.parts, content, &is_verbatim);
	rt_parts_end(&c->g.parts);
	if (yyjson_is_true(rt_json_get(record, "isCompactSummary")))
		n.kind = RT_STR("compaction");
	else if (is_synthetic(record, text))
		rt_graph_hide(&c->g, &n);
	else if (c->prompt.size == 0 && text.size > 0)
		c->prompt = rt_build_copy(c->g.b, rt_graph_title(text));
	rt_graph_raw(&c->g, record, is_verbatim ? "message.content" : "");
	int64_t at = add(c, &n, rt_json_text(record, "parentUuid"), false);

	if (at >= 0 && !is_sidechain)
		c->last = at;
}

static void
read_structure(session *c, yyjson_val *record)
{
	rt_node n = {.id = rt_json_text(record, "uuid"), .parent = -1, .kind = RT_STR("custom")};
	rt_str parent = rt_json_text(record, "parentUuid");

	if (parent.size == 0 &&
	    rt_graph_find(&c->g, rt_json_text(record, "logicalParentUuid")) >= 0)
		parent = rt_json_text(record, "logicalParentUuid");
	n.has_ts = rt_build_moment(rt_json_get(record, "timestamp"), &n.ts);
	rt_build_body_open(c->g.b, RT_STR(""), false);
	rt_graph_raw(&c->g, record, "");
	(void)add(c, &n, parent, true);
}

static void
keep_title(session *c, yyjson_val *record, const char *type, const char *member, rt_str *out)
{
	rt_str title = rt_json_text(record, member);

	if (is_type(record, type) && title.size > 0)
		*out = rt_build_copy(c->g.b, title);
}

/* The first record that names its session gives the source. */
static void
note_session(session *c, yyjson_val *record)
{
	rt_str id = rt_json_text(record, "sessionId"), agent = rt_json_text(record, "agentId");

	if (c->id->size > 0 || id.size == 0)
		return;
	rt_buf_add_str(c->id, id);
	if (agent.size > 0 && yyjson_is_true(rt_json_get(record, "isSidechain"))) {
		rt_buf_add_byte(c->id, '/'); /* a subagent may have the session's id */
		rt_buf_add_str(c->id, agent);
	}
}

/* A record whose id an entry has is kept beside the conversation. */
static bool
is_second(session *c, yyjson_val *record)
{
	rt_str id = rt_json_text(record, "uuid");

	if (rt_graph_find(&c->g, id) < 0)
		return false;
	rt_reader_skipped(c->g.r, "skipped a second record with the id %.*s",
			  (int)rt_utf8_cut(id, 40), id.ptr);
	rt_graph_aside(&c->g, record);
	return true;
}

static void
read_record(session *c, yyjson_val *record)
{
	yyjson_val *message = rt_json_get(record, "message");
	bool is_reply = yyjson_is_obj(message) && is_type(record, "assistant");
	bool is_prompt = yyjson_is_obj(message) && is_type(record, "user");
	rt_str id = rt_json_text(record, "uuid");

	if (!yyjson_is_obj(record)) {
		rt_reader_skipped(c->g.r, "skipped a record that is not an object");
		return;
	}
	c->count += id.size > 0 || is_reply || is_prompt ||
		    rt_json_text(record, "sessionId").size > 0 || is_type(record, "summary");
	note_session(c, record);
	keep_title(c, record, "custom-title", "customTitle", &c->title);
	keep_title(c, record, "ai-title", "aiTitle", &c->generated);
	keep_title(c, record, "summary", "summary", &c->summary);
	if (id.size == 0 && rt_json_text(record, "agentType").size > 0 &&
	    rt_json_text(record, "type").size == 0) { /* agent-ID.meta.json */
		rt_graph_field(&c->g, "agent", record);
		return;
	}
	if (is_second(c, record))
		return;
	if (id.size == 0 && (c->has_parents || !(is_reply || is_prompt))) {
		rt_graph_aside(&c->g, record);
		return;
	}
	if (!is_reply || !continues_reply(c, record, message)) {
		end_reply(c, false);
		if (is_second(c, record)) /* an id of that reply */
			return;
	}
	if (is_reply)
		read_reply(c, record, message);
	else if (is_prompt)
		read_prompt(c, record, message);
	else
		read_structure(c, record);
}

static void
begin_session(session *c, rt_reader *r)
{
	rt_scope *s = &r->b.s;

	*c = (session){.last = -1};
	rt_graph_init(&c->g, r, "claude-code");
	c->reply.records = rt_scope_buf(s);
	c->reply.blocks = rt_scope_buf(s);
	c->reply.usage = rt_scope_buf(s);
	c->id = rt_scope_buf(s);
	rt_graph_begin(&c->g, RT_STR(""), RT_STR(""));
}

/* The parent of a node, which may have been added later; itself: none. */
static size_t
parent_of(const session *c, size_t at)
{
	const rt_link *link = (const rt_link *)c->g.links.items + at;
	int64_t parent = link->is_placed ? link->parent : rt_graph_find(&c->g, link->parent_id);

	return parent < 0 ? at : (size_t)parent;
}

/* Technical records whose parent is missing, and below which nothing is said, continue the
 * conversation at its end; alone they would be a take that shows nothing. */
static void
join_strays(session *c)
{
	size_t count = c->g.links.count;
	bool *is_said = rt_scope_array(&c->g.b->s, count, sizeof(*is_said));
	int64_t last = c->last >= 0 ? c->last : rt_graph_last(&c->g);

	if (is_said == NULL || last < 0)
		return;
	for (size_t i = 0; i < count; i++)
		if (rt_build_nodes(c->g.b)[i].role.size > 0)
			for (size_t at = i; !is_said[at]; at = parent_of(c, at))
				is_said[at] = true;
	for (size_t i = 0; i < count; i++) {
		int64_t end = end_of(c, last, false);

		if (is_said[i] || parent_of(c, i) != i)
			continue;
		((rt_link *)c->g.links.items)[i].parent = end;
		((rt_link *)c->g.links.items)[i].is_placed = true;
		((follow *)c->follows.items)[end].newest = (int64_t)i;
	}
}

static void
end_session(session *c)
{
	rt_str titles[] = {c->title, c->generated, c->summary, c->prompt};
	size_t i = 0;

	end_reply(c, false);
	while (i < 3 && titles[i].size == 0)
		i++;
	rt_graph_name(&c->g, titles[i], rt_scope_str(&c->g.b->s, c->id));
	if (c->has_parents)
		join_strays(c);
	else
		rt_graph_chain(&c->g);
	rt_graph_end(&c->g, c->last);
}

/* Does any record name a parent? The walk is at the beginning again. */
static bool
names_parents(rt_reader *r)
{
	rt_walk *w = &r->w;
	rt_walk_mark start = rt_walk_here(w);
	bool found = false;

	while (!found && rt_walk_find(w, RT_STR("\"parentUuid\""))) {
		rt_walk_blank(w);
		found = rt_str_starts(rt_walk_ahead(w, 2), RT_STR(":\"")) ||
			rt_str_starts(rt_walk_ahead(w, 3), RT_STR(": \""));
	}
	rt_walk_seek(w, start);
	return found;
}

static rt_status
claude_code_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, rt_report *report,
	       rt_error *err)
{
	rt_reader r;
	session c;
	yyjson_val *record;
	bool has_parents;

	rt_reader_init(&r, alloc, in, to, report);
	has_parents = names_parents(&r);
	begin_session(&c, &r);
	c.has_parents = has_parents;
	while ((record = rt_graph_record(&c.g)) != NULL) {
		yyjson_val *lines = rt_json_get(record, "loglines");

		for (rt_json_iter m = rt_json_items(lines); rt_ok(&r.b.s) && rt_json_next(&m);)
			read_record(&c, m.value);
		if (!yyjson_is_arr(lines))
			read_record(&c, record);
	}
	if (c.count == 0)
		rt_reader_refuse(&r, 0, "no record is from Claude Code");
	end_session(&c);
	return rt_reader_end(&r, err);
}
RT_READER_FUNCTIONS(claude_code, claude_code_to)

static int
sniff_record(rt_str record)
{
	rt_str type = rt_graph_member(record, "type");
	bool has_session = rt_graph_member(record, "sessionId").size > 0;

	if (rt_graph_member(record, "parentUuid").size > 0 ||
	    (rt_graph_member(record, "loglines").size > 0 &&
	     rt_str_starts(rt_graph_member(record, "loglines"), RT_STR("["))))
		return 95;
	if (has_session && (rt_graph_member(record, "message").size > 0 ||
			    rt_graph_member(record, "customTitle").size > 0))
		return 90;
	if ((rt_str_is(type, "\"user\"") || rt_str_is(type, "\"assistant\"")) &&
	    rt_graph_member(record, "timestamp").size > 0 &&
	    rt_graph_member(rt_graph_member(record, "message"), "content").size > 0)
		return 80;
	if (rt_str_is(type, "\"summary\""))
		return rt_graph_member(record, "leafUuid").size > 0 ? 90 : 0;
	return 0;
}

/* Qwen Code has such records, too, but with the messages of Gemini. */
static int
sniff_parts(rt_str record)
{
	return rt_graph_member(rt_graph_member(record, "message"), "parts").size > 0;
}

static int
claude_code_sniff(rt_str head)
{
	return rt_graph_sniff(head, sniff_parts) > 0 ? 0 : rt_graph_sniff(head, sniff_record);
}

const rt_format rt_format_claude_code = {
	.name = "claude-code",
	.extension = ".jsonl",
	.about = "Claude Code: session files, and those of its subagents",
	.sniff = claude_code_sniff,
	.read = claude_code_read,
	.stream = claude_code_stream,
	.write = rt_claude_code_write,
};
