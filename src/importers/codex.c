/* SPDX-License-Identifier: MIT
 *
 * Codex CLI: rollout files, a record a line.
 *
 *   {"timestamp","type":"session_meta"|"turn_context"|"response_item"|"event_msg"|…,"payload":{…}}
 *   response_item: {"type":"message","role","content"} "reasoning" "function_call"
 *                  "function_call_output" …
 *
 * Older files have the items themselves as lines. Items follow each other; an event
 * thread_rolled_back abandons the last turns, which stay as another branch. Other events repeat
 * the items; they, and all further records, are kept beside the conversation. Only in a file without
 * any message the events user_message, agent_message and agent_reasoning are the conversation. */
#include "formats/formats.h"
#include "importers/codex.h"
#include "importers/graph.h"

typedef struct rollout {
	rt_graph g;
	int64_t tip;
	rt_buf *model;        /* of the turn */
	rt_str title, prompt; /* the name given to the thread; the first prompt */
	bool has_items;       /* the file has messages */
} rollout;

bool
rt_codex_is_context(rt_str text)
{
	static const char *const starts[] = {"<environment_context>", "<user_instructions>",
					     "# AGENTS.md instructions", "<turn_aborted>",
					     "<permissions instructions>"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (rt_str_starts(text, rt_str_of(starts[i])))
			return true;
	return false;
}

static bool
is_context(rt_str role, yyjson_val *content)
{
	return rt_str_is(role, "developer") ||
	       rt_codex_is_context(yyjson_is_str(content)
					   ? rt_json_str(content)
					   : rt_json_text(yyjson_arr_get_first(content), "text"));
}

static void
add(rollout *c, yyjson_val *record, rt_node *n, const char *verbatim)
{
	rt_graph *g = &c->g;
	int64_t at;

	n->parent = c->tip;
	n->has_ts = rt_build_moment(rt_json_get(record, "timestamp"), &n->ts) ||
		    rt_build_moment(rt_json_get(record, "created_at"), &n->ts);
	if (rt_str_is(n->role, "assistant") && c->model->size > 0)
		rt_json_add_string(rt_build_body_field(g->b, RT_STR("model")),
				   rt_scope_str(&g->b->s, c->model));
	rt_graph_raw(g, record, verbatim);
	at = rt_graph_add(g, n, RT_STR(""));
	c->tip = at >= 0 ? at : c->tip;
}

static void
note_prompt(rollout *c, rt_str role, rt_str text)
{
	if (c->prompt.size == 0 && rt_str_is(role, "user"))
		c->prompt = rt_build_copy(c->g.b, rt_graph_title(text));
}

static rt_str
first_text(yyjson_val *content)
{
	for (rt_json_iter m = rt_json_items(content); rt_json_next(&m);)
		if (rt_json_text(m.value, "text").size > 0)
			return rt_json_text(m.value, "text");
	return RT_STR("");
}

static void
add_message(rollout *c, yyjson_val *record, yyjson_val *item)
{
	yyjson_val *content = rt_json_get(item, "content");
	rt_node n = {.role = rt_json_text(item, "role")};
	bool is_known;

	if (content == NULL)
		content = rt_json_get(item, "message");
	is_known = yyjson_is_str(content) || yyjson_is_arr(content);
	rt_build_body_open_value(c->g.b, content);
	if (is_context(n.role, content))
		rt_graph_hide(&c->g, &n);
	else
		note_prompt(c, n.role, yyjson_is_str(content) ? rt_json_str(content) : first_text(content));
	add(c, record, &n,
	    !is_known			      ? ""
	    : item != record		      ? "payload.content"
	    : rt_json_get(item, "content") != NULL ? "content"
					      : "message");
}

static void
add_reasoning(rollout *c, yyjson_val *record, yyjson_val *item)
{
	rt_node n = {.role = RT_STR("assistant")};

	rt_parts_begin(&c->g.parts);
	for (rt_json_iter m = rt_json_items(rt_json_get(item, "summary")); rt_json_next(&m);)
		rt_parts_thinking(&c->g.parts, rt_graph_text(m.value, "text"));
	for (rt_json_iter m = rt_json_items(rt_json_get(item, "content")); rt_json_next(&m);)
		rt_parts_thinking(&c->g.parts, rt_graph_text(m.value, "text"));
	rt_parts_end(&c->g.parts);
	add(c, record, &n, "");
}

static void
add_call(rollout *c, yyjson_val *record, yyjson_val *item)
{
	rt_node n = {.role = RT_STR("assistant")};
	rt_str name = rt_graph_text(item, "name");
	yyjson_val *arguments = rt_json_get(item, "arguments");

	if (name.size == 0)
		name = rt_graph_text(rt_json_get(item, "function"), "name");
	if (name.size == 0)
		name = rt_json_text(item, "type");
	if (arguments == NULL)
		arguments = rt_json_get(item, "input");
	if (arguments == NULL)
		arguments = rt_json_get(item, "action");
	if (arguments == NULL)
		arguments = rt_json_get(item, "revised_prompt");
	rt_parts_begin(&c->g.parts);
	rt_parts_call(&c->g.parts, rt_graph_text(item, "call_id id"), name, arguments);
	rt_parts_end(&c->g.parts);
	add(c, record, &n, "");
}

static void
add_result(rollout *c, yyjson_val *record, yyjson_val *item)
{
	rt_node n = {.role = RT_STR("tool")};
	yyjson_val *output = rt_json_get(item, "output");
	rt_buf *json = rt_scope_buf(&c->g.b->s);

	if (output == NULL)
		output = rt_json_get(item, "result");
	if (yyjson_is_obj(output) && yyjson_is_str(rt_json_get(output, "content")))
		output = rt_json_get(output, "content");
	if (yyjson_is_obj(output)) {
		rt_json_add_value(json, output);
		rt_build_body_open(c->g.b, rt_scope_str(&c->g.b->s, json), false);
	} else {
		rt_build_body_open_value(c->g.b, output);
	}
	rt_graph_keep(&c->g, "tool_call_id", rt_json_get(item, "call_id"));
	add(c, record, &n, "");
}

/* An item; false: of another type. record: the line that it is part of, perhaps itself. */
static bool
read_item(rollout *c, yyjson_val *record, yyjson_val *item)
{
	rt_str type = rt_json_text(item, "type");

	if (rt_json_text(item, "role").size > 0 && (type.size == 0 || rt_str_is(type, "message")))
		add_message(c, record, item);
	else if (rt_str_is(type, "reasoning"))
		add_reasoning(c, record, item);
	else if (rt_is_word(type, "function_call custom_tool_call local_shell_call tool_call "
				  "tool_search_call web_search_call image_generation_call"))
		add_call(c, record, item);
	else if (rt_is_word(type, "function_call_output custom_tool_call_output tool_result "
				  "function_result tool_search_output"))
		add_result(c, record, item);
	else
		return false;
	return true;
}

/* False: the event does not belong to the conversation. */
static bool
read_event(rollout *c, yyjson_val *record, yyjson_val *event)
{
	rt_str type = rt_json_text(event, "type"), text = rt_json_text(event, "message");
	bool is_thought = rt_str_is(type, "agent_reasoning");
	rt_node n = {.role = RT_STR("assistant")};

	if (rt_str_is(type, "user_message"))
		n.role = RT_STR("user");
	else if (!is_thought && !rt_str_is(type, "agent_message"))
		return false;
	rt_parts_begin(&c->g.parts);
	if (is_thought)
		rt_parts_thinking(&c->g.parts, rt_json_text(event, "text"));
	else
		rt_parts_text(&c->g.parts, text);
	rt_parts_end(&c->g.parts);
	note_prompt(c, n.role, text);
	add(c, record, &n, is_thought ? "" : "payload.message");
	return true;
}

/* The last turns are abandoned: what follows continues before them. */
static void
roll_back(rollout *c, yyjson_val *event)
{
	uint64_t turns = 0;
	int64_t at = c->tip;

	(void)rt_json_u64(rt_json_get(event, "num_turns"), &turns);
	for (; turns > 0 && at >= 0; at = rt_graph_parent(&c->g, at)) {
		const rt_node *node = &rt_build_nodes(c->g.b)[at];

		if (rt_str_is(node->role, "user") && node->kind.size == 0) {
			turns--;
			c->tip = rt_graph_parent(&c->g, at);
		}
	}
}

static void
read_meta(rollout *c, yyjson_val *meta)
{
	rt_graph *g = &c->g;
	rt_str id = rt_graph_text(meta, "id session_id");
	rt_buf *source = g->b->scratch;

	if (g->outline == NULL || g->outline->source.size > 0 || id.size == 0)
		return; /* a fork repeats that of its origin after its own */
	rt_buf_clear(source);
	rt_buf_add_c(source, "codex:");
	rt_buf_add_str(source, id);
	g->outline->source = rt_build_copy(g->b, rt_scope_str(&g->b->s, source));
}

static void
read_line(rollout *c, yyjson_val *record)
{
	yyjson_val *payload = rt_json_get(record, "payload");
	rt_str type = rt_json_text(record, "type"), event = rt_json_text(payload, "type");

	if (!yyjson_is_obj(payload)) {
		if (rt_json_get(record, "instructions") != NULL)
			read_meta(c, record);
		if (read_item(c, record, record))
			return;
	} else if (rt_str_is(type, "response_item")) {
		if (read_item(c, record, payload))
			return;
	} else if (rt_str_is(type, "session_meta")) {
		read_meta(c, payload);
	} else if (rt_str_is(type, "turn_context")) {
		rt_buf_clear(c->model);
		rt_buf_add_str(c->model, rt_graph_text(payload, "model"));
	} else if (rt_str_is(type, "event_msg") && rt_str_is(event, "thread_rolled_back")) {
		roll_back(c, payload);
	} else if (rt_str_is(type, "event_msg") && rt_str_is(event, "thread_name_updated")) {
		c->title = rt_build_copy(c->g.b, rt_json_text(payload, "thread_name"));
	} else if (rt_str_is(type, "event_msg") && !c->has_items && read_event(c, record, payload)) {
		return;
	}
	rt_graph_aside(&c->g, record);
}

/* The walk is at the beginning again. Inside a text the quotes are escaped. */
static bool
names_roles(rt_reader *r)
{
	rt_walk_mark start = rt_walk_here(&r->w);
	bool found = false;

	while (!found && rt_walk_find(&r->w, RT_STR("\"role\""))) {
		rt_walk_blank(&r->w);
		found = rt_str_starts(rt_walk_ahead(&r->w, 1), RT_STR(":"));
	}
	rt_walk_seek(&r->w, start);
	return found;
}

static rt_status
codex_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, rt_report *report,
	 rt_error *err)
{
	rt_reader r;
	rollout c = {.tip = -1};
	yyjson_val *record;

	rt_reader_init(&r, alloc, in, to, report);
	c.has_items = names_roles(&r);
	rt_graph_init(&c.g, &r, "codex");
	c.model = rt_scope_buf(&r.b.s);
	while ((record = rt_graph_record(&c.g)) != NULL) {
		if (!yyjson_is_obj(record)) {
			rt_reader_skipped(&r, "skipped a record that is not an object");
			continue;
		}
		if (rt_reader_count(&r) == 0)
			rt_graph_begin(&c.g, RT_STR(""), RT_STR(""));
		read_line(&c, record);
	}
	if (rt_reader_count(&r) == 0)
		rt_reader_refuse(&r, 0, "no record is from Codex");
	rt_graph_name(&c.g, c.title.size > 0 ? c.title : c.prompt, RT_STR(""));
	rt_graph_end(&c.g, c.tip);
	return rt_reader_end(&r, err);
}
RT_READER_FUNCTIONS(codex, codex_to)

/* The bare word of a raw JSON string. */
static rt_str
bare(rt_str raw)
{
	return raw.size > 1 && raw.ptr[0] == '"' ? rt_str_at(raw.ptr + 1, raw.size - 2)
						 : rt_str_at("", 0);
}

static int
sniff_line(rt_str record)
{
	rt_str type = bare(rt_graph_member(record, "type"));
	rt_str content = rt_graph_member(record, "content");
	bool has_time = bare(rt_graph_member(record, "timestamp")).size > 0 ||
			bare(rt_graph_member(record, "created_at")).size > 0;

	if (rt_graph_member(record, "payload").size > 0 &&
	    rt_is_word(type, "session_meta response_item event_msg turn_context compacted "
			     "world_state"))
		return 90;
	if (has_time && rt_graph_member(record, "instructions").size > 0 &&
	    rt_graph_member(record, "id").size > 0)
		return 80;
	if (rt_graph_member(record, "record_type").size > 0)
		return 60;
	if (content.size == 0)
		content = rt_graph_member(record, "message");
	return has_time && content.size > 0 && content.ptr[0] == '"' &&
			       rt_graph_member(record, "role").size > 0
		       ? 55
		       : 0;
}

static int
codex_sniff(rt_str head)
{
	head = rt_scan_unmark(head);
	return rt_scan_blank(head, 0) < head.size && head.ptr[rt_scan_blank(head, 0)] == '{'
		       ? rt_graph_sniff(head, sniff_line)
		       : 0;
}

const rt_format rt_format_codex = {
	.name = "codex",
	.extension = ".jsonl",
	.about = "Codex CLI: rollout files",
	.sniff = codex_sniff,
	.read = codex_read,
	.stream = codex_stream,
	.write = rt_codex_write,
};
