/* SPDX-License-Identifier: MIT
 *
 * ShareGPT: conversations for training, as an array or lines.
 *
 *   {"id"?,"system"?,"tools"?,"conversations":[{"from":"human"|"gpt"|…,"value"}],
 *    "chosen"?:{"from","value"},"rejected"?:{…}}
 *
 * A function_call is JSON with a name and arguments; the observation after it is its result. chosen
 * and rejected are two replies to the last message. Ids are numbers within a file and do not
 * identify a conversation. */
#include "formats/formats.h"
#include "importers/graph.h"
#include "importers/sharegpt.h"

#include <stdio.h> /* snprintf only */

/* The call in a text, as a block with this id. False: the text is something else. */
static bool
add_call(rt_graph *g, rt_str id, rt_str text)
{
	rt_json_doc *doc = NULL;
	rt_status st = rt_json_read_repairing(g->b->alloc, text, &doc, NULL, NULL);
	rt_str name;
	bool is_call = false;

	if (st == RT_NOMEM)
		(void)rt_scope_nomem(&g->b->s);
	if (st == RT_OK) {
		name = rt_json_text(rt_json_root(doc), "name");
		is_call = name.size > 0;
		if (is_call)
			rt_parts_call(&g->parts, id, name,
				      rt_json_get(rt_json_root(doc), "arguments"));
	}
	rt_json_free(doc);
	return is_call;
}

/* Adds a message after tip; returns its node, or tip. */
static int64_t
read_message(rt_graph *g, yyjson_val *message, int64_t tip)
{
	rt_str from = rt_graph_text(message, "from role"), text = rt_graph_text(message, "value content");
	rt_node n = {.parent = tip, .role = from};
	char id[32];
	bool is_call = rt_str_is(from, "function_call");
	int64_t at;

	(void)snprintf(id, sizeof(id), "call-%lld", (long long)(is_call ? tip + 1 : tip));
	rt_parts_begin(&g->parts);
	if (!is_call || !add_call(g, rt_str_of(id), text))
		rt_parts_text(&g->parts, text);
	rt_parts_end(&g->parts);
	if (rt_str_is(from, "observation"))
		rt_json_add_string(rt_build_body_field(g->b, RT_STR("tool_call_id")), rt_str_of(id));
	rt_graph_raw(g, message, is_call ? "" : "value content");
	at = rt_graph_add(g, &n, RT_STR(""));
	return at >= 0 ? at : tip;
}

/* The possible names of the list of messages. */
static const char *const list_names[] = {"conversations", "conversation", "items", "messages", NULL};

static yyjson_val *
list_of(yyjson_val *record)
{
	for (const char *const *name = list_names; *name != NULL; name++)
		if (yyjson_is_arr(rt_json_get(record, *name)))
			return rt_json_get(record, *name);
	return NULL;
}

static void
read_conversation(rt_graph *g, yyjson_val *record)
{
	yyjson_val *chosen = rt_json_get(record, "chosen"), *other = rt_json_get(record, "rejected");
	rt_str system = rt_graph_text(record, "system");
	rt_json_iter list = rt_json_items(list_of(record));
	int64_t tip = -1, leaf;

	if (list_of(record) == NULL) {
		rt_graph_skip(g, "conversations", rt_graph_text(record, "id"));
		return;
	}
	rt_graph_begin(g, rt_graph_text(record, "title"), RT_STR(""));
	rt_graph_fields(g, record,
			"conversations conversation items messages chosen rejected title system");
	if (system.size > 0) {
		rt_build_body_open(g->b, system, false);
		tip = rt_graph_add(g, &(rt_node){.parent = -1, .role = RT_STR("system")}, RT_STR(""));
	}
	for (yyjson_val *message; (message = rt_graph_message(g, &list)) != NULL;)
		tip = read_message(g, message, tip);
	leaf = yyjson_is_obj(chosen) ? read_message(g, chosen, tip) : tip;
	if (yyjson_is_obj(other))
		(void)read_message(g, other, tip);
	rt_graph_end(g, leaf);
}

RT_GRAPH_FUNCTIONS(sharegpt, .format = "sharegpt", .noun = "ShareGPT conversation",
		   .read = read_conversation)

static int
sniff_message(rt_str message)
{
	return rt_graph_member(message, "from").size > 0 && rt_graph_member(message, "value").size > 0
		       ? 80
		       : 0;
}

static int
sniff_conversation(rt_str record)
{
	int sure = 0;

	for (const char *const *name = list_names; sure == 0 && *name != NULL; name++) {
		rt_str list = rt_graph_member(record, *name);

		if (list.size > 0 && list.ptr[0] == '[')
			sure = rt_graph_sniff(list, sniff_message);
		if (rt_str_starts(list, RT_STR("[]")) && name == list_names)
			sure = 60; /* an empty one */
	}
	return sure;
}

static int
sharegpt_sniff(rt_str head)
{
	return rt_graph_sniff(head, sniff_conversation);
}

const rt_format rt_format_sharegpt = {
	.name = "sharegpt",
	.extension = ".sharegpt.json",
	.about = "ShareGPT: conversations for training",
	.sniff = sharegpt_sniff,
	.read = sharegpt_read,
	.stream = sharegpt_stream,
	.write = rt_sharegpt_write,
};
