/* SPDX-License-Identifier: MIT
 *
 * Google AI Studio: a prompt as it is stored in Drive.
 *
 *   {"runSettings":{"model",…},"systemInstruction":{…},"chunkedPrompt":{"chunks":[
 *       {"role":"user"|"model","text" or "parts":[…],"isThought","createTime",…}],
 *       "pendingInputs":[drafts]}}          older ones have "history":[chunks] instead
 *
 * Chunks follow each other. A chunk may name another prompt that it was branched from; that is a
 * separate file, and the reference stays in the record. */
#include "formats/formats.h"
#include "importers/gemini.h"
#include "importers/graph.h"

static void
read_chunk(rt_graph *g, yyjson_val *chunk, yyjson_val *model, int64_t *tip)
{
	yyjson_val *parts = rt_json_get(chunk, "parts");
	rt_node n = {.id = rt_json_text(chunk, "id"),
		     .parent = *tip,
		     .role = rt_json_text(chunk, "role")};
	int64_t at;

	if (rt_graph_find(g, n.id) >= 0)
		n.id = RT_STR("");
	rt_parts_begin(&g->parts);
	if (yyjson_arr_size(parts) > 0)
		rt_gemini_content(&g->parts, parts);
	else
		(void)rt_gemini_part(&g->parts, chunk);
	rt_parts_end(&g->parts);
	n.has_ts = rt_build_moment(rt_json_get(chunk, "createTime"), &n.ts);
	if (rt_str_is(n.role, "model"))
		rt_graph_keep(g, "model", model);
	rt_graph_raw(g, chunk,
		     yyjson_arr_size(parts) > 0
			     ? ""
			     : "text inlineImage.data inlineFile.data inlineData.data");
	at = rt_graph_add(g, &n, RT_STR(""));
	*tip = at >= 0 ? at : *tip;
}

static void
read_prompt(rt_graph *g, yyjson_val *prompt)
{
	yyjson_val *chunks = rt_json_get(rt_json_get(prompt, "chunkedPrompt"), "chunks");
	yyjson_val *model = rt_json_get(rt_json_get(prompt, "runSettings"), "model");
	yyjson_val *drafts = rt_json_get(rt_json_get(prompt, "chunkedPrompt"), "pendingInputs");
	rt_json_iter list;
	int64_t tip = -1;

	if (chunks == NULL)
		chunks = rt_json_get(prompt, "history");
	list = rt_json_items(chunks);
	if (!yyjson_is_arr(chunks)) {
		rt_graph_skip(g, "chunkedPrompt", rt_graph_text(prompt, "displayName"));
		return;
	}
	rt_graph_begin(g, rt_graph_text(prompt, "displayName title"), rt_json_text(prompt, "id"));
	rt_graph_fields(g, prompt, "chunkedPrompt history displayName");
	if (drafts != NULL)
		rt_graph_field(g, "pendingInputs", drafts);
	for (yyjson_val *chunk; (chunk = rt_graph_message(g, &list)) != NULL;)
		read_chunk(g, chunk, model, &tip);
	rt_graph_end(g, tip);
}

RT_GRAPH_FUNCTIONS(ai_studio, .format = "ai-studio", .noun = "AI Studio prompt", .read = read_prompt)

static int
sniff_prompt(rt_str record)
{
	bool is_old = rt_graph_member(record, "runSettings").size > 0 &&
		      rt_graph_member(record, "history").size > 0;

	/* instructions may be longer than the beginning of the file */
	bool is_long = rt_str_starts(rt_graph_member(record, "runSettings"), RT_STR("{")) &&
		       rt_graph_member(record, "systemInstruction").size > 0;

	return is_old || is_long ? 80
	       : rt_graph_member(rt_graph_member(record, "chunkedPrompt"), "chunks").size > 0 ? 90
											      : 0;
}

static int
ai_studio_sniff(rt_str head)
{
	return rt_graph_sniff(head, sniff_prompt);
}

const rt_format rt_format_ai_studio = {
	.name = "ai-studio",
	.extension = ".json",
	.about = "Google AI Studio: a prompt stored in Google Drive",
	.sniff = ai_studio_sniff,
	.read = ai_studio_read,
	.stream = ai_studio_stream,
};
