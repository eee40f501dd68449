/* SPDX-License-Identifier: MIT
 *
 * Cursor: transcripts of its agent, a message a line.
 *
 *   {"role":"user"|"assistant","message":{"content":[BLOCK…]}}
 *
 * Blocks are those of Anthropic's API. Messages follow each other; neither they nor the transcript
 * have ids. The conversations of its editor are in databases (cursor_database.c). */
#include "formats/formats.h"
#include "importers/cursor_impl.h"

static rt_status
cursor_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, rt_report *report,
	  rt_error *err)
{
	rt_reader r;
	rt_graph g;
	yyjson_val *record;
	int64_t tip = -1, at;

	rt_reader_init(&r, alloc, in, to, report);
	rt_graph_init(&g, &r, "cursor");
	if (rt_db_is_input(&r, in)) {
		rt_cursor_database(&g, rt_db_open(&r, in));
		return rt_reader_end(&r, err);
	}
	while ((record = rt_graph_record(&g)) != NULL) {
		yyjson_val *content = rt_json_get(rt_json_get(record, "message"), "content");
		rt_node n = {.parent = tip, .role = rt_graph_text(record, "role")};

		if (n.role.size == 0 || !(yyjson_is_arr(content) || yyjson_is_str(content))) {
			rt_reader_skipped(&r, "skipped a line that is not a message");
			continue;
		}
		if (rt_reader_count(&r) == 0)
			rt_graph_begin(&g, RT_STR(""), RT_STR(""));
		rt_build_body_open_value(&r.b, content);
		rt_graph_raw(&g, record, "message.content");
		at = rt_graph_add(&g, &n, RT_STR(""));
		tip = at >= 0 ? at : tip;
	}
	if (rt_reader_count(&r) == 0)
		rt_reader_refuse(&r, 0, "no line is a Cursor message");
	rt_graph_end(&g, tip);
	return rt_reader_end(&r, err);
}
RT_READER_FUNCTIONS(cursor, cursor_to)

static int
sniff_line(rt_str record)
{
	rt_str message = rt_graph_member(record, "message");

	return rt_graph_member(record, "role").size > 0 && rt_graph_member(message, "content").size > 0 &&
			       rt_graph_member(record, "type").size == 0 &&
			       rt_graph_member(record, "uuid").size == 0
		       ? 70
		       : 0;
}

static int
cursor_sniff(rt_str head)
{
	return rt_graph_sniff(head, sniff_line);
}

static int
cursor_examine(rt_scope *s, rt_str head, const rt_input *in)
{
	return rt_db_defines(s, head, in, "cursorDiskKV.value")	? 90
	       : rt_db_defines(s, head, in, "ItemTable.value") ? 60
								   : 0;
}

const rt_format rt_format_cursor = {
	.name = "cursor",
	.extension = ".jsonl",
	.about = "Cursor: agent transcripts, state.vscdb",
	.sniff = cursor_sniff,
	.examine = cursor_examine,
	.is_container = true,
	.read = cursor_read,
	.stream = cursor_stream,
};
