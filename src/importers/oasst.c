/* SPDX-License-Identifier: MIT
 *
 * OpenAssistant: message trees, one a line.
 *
 *   {"message_tree_id","prompt":{"message_id","role":"prompter","text","rank","replies":[…]}}
 *   {"message_id","role",…,"replies":[…]}              the root alone
 *   {"message_id","parent_id","message_tree_id",…}     rows; those of a tree follow each other
 *
 * The best replies (rank 0) come first; the open path is that of the best ones. */
#include "formats/formats.h"
#include "importers/graph.h"

static int64_t
read_message(rt_graph *g, yyjson_val *message, int64_t around)
{
	rt_node n = {.id = rt_json_text(message, "message_id"),
		     .parent = around,
		     .role = rt_json_text(message, "role")};
	rt_str parent = rt_json_text(message, "parent_id");
	uint64_t rank;
	int64_t at;

	rt_build_body_open_value(g->b, rt_json_get(message, "text"));
	n.has_ts = rt_build_moment(rt_json_get(message, "created_date"), &n.ts);
	rt_graph_keep(g, "model", rt_json_get(message, "model_name"));
	rt_graph_raw(g, message, yyjson_is_str(rt_json_get(message, "text")) ? "replies text" : "replies");
	at = rt_graph_add(g, &n, around >= 0 ? RT_STR("") : parent);
	if (rt_json_u64(rt_json_get(message, "rank"), &rank) && rank < UINT32_MAX)
		rt_graph_rank(g, at, (uint32_t)rank);
	return at >= 0 ? at : rt_graph_find(g, n.id);
}

static void
read_tree(rt_graph *g, yyjson_val *tree, yyjson_val *root)
{
	rt_str id = rt_graph_text(tree, "message_tree_id message_id");

	rt_graph_begin(g, RT_STR(""), id);
	if (tree != root)
		rt_graph_fields(g, tree, "prompt");
	rt_graph_nested(g, rt_json_get(root, "replies"), "replies", read_message(g, root, -1),
			read_message);
	rt_graph_end(g, RT_GRAPH_FIRST);
}

static rt_status
oasst_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, rt_report *report,
	 rt_error *err)
{
	rt_reader r;
	rt_graph g;
	yyjson_val *record, *root;
	rt_buf *tree; /* of the rows so far; empty: none is open */

	rt_reader_init(&r, alloc, in, to, report);
	rt_graph_init(&g, &r, "oasst");
	tree = rt_scope_buf(&r.b.s);
	while ((record = rt_graph_record(&g)) != NULL) {
		rt_str id = rt_graph_text(record, "message_tree_id");
		bool is_row = rt_json_get(record, "prompt") == NULL &&
			      rt_json_get(record, "replies") == NULL && id.size > 0;

		root = rt_json_get(record, "prompt");
		if (!yyjson_is_obj(root))
			root = record;
		if (tree->size > 0 && (!is_row || !rt_str_eq(id, rt_buf_str(tree)))) {
			rt_graph_end(&g, RT_GRAPH_FIRST);
			rt_buf_clear(tree);
		}
		if (rt_json_text(root, "message_id").size == 0) {
			rt_reader_skipped(&r, "skipped a record that is not a tree of messages");
		} else if (!is_row) {
			read_tree(&g, record, root);
		} else {
			if (tree->size == 0) {
				rt_graph_begin(&g, RT_STR(""), id);
				rt_buf_add_str(tree, id);
			}
			(void)read_message(&g, record, -1);
		}
	}
	if (tree->size > 0)
		rt_graph_end(&g, RT_GRAPH_FIRST);
	if (rt_reader_has_none(&r))
		rt_reader_refuse(&r, 0, "the file contains no OpenAssistant message tree");
	return rt_reader_end(&r, err);
}
RT_READER_FUNCTIONS(oasst, oasst_to)

static int
sniff_tree(rt_str record)
{
	rt_str prompt = rt_graph_member(record, "prompt");

	if (rt_graph_member(prompt.size > 0 ? prompt : record, "message_id").size == 0)
		return 0;
	return rt_graph_member(record, "message_tree_id").size > 0 ||
			       rt_graph_member(record, "replies").size > 0 ||
			       rt_graph_member(record, "review_count").size > 0
		       ? 90
		       : 0;
}

static int
oasst_sniff(rt_str head)
{
	return rt_graph_sniff(head, sniff_tree);
}

const rt_format rt_format_oasst = {
	.name = "oasst",
	.extension = ".jsonl",
	.about = "OpenAssistant: message trees",
	.sniff = oasst_sniff,
	.read = oasst_read,
	.stream = oasst_stream,
};
