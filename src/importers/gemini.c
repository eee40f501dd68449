/* SPDX-License-Identifier: MIT */
#include "importers/gemini.h"

/* Code that the model ran. Its result follows and has no id, so both have this one. */
#define CODE RT_STR("code_execution")

static void
add_data(rt_parts *p, yyjson_val *data)
{
	bool is_image = rt_str_starts(rt_json_text(data, "mimeType"), RT_STR("image/"));

	rt_parts_object(p, is_image ? "image" : "file", data);
}

static void
add_response(rt_parts *p, yyjson_val *response)
{
	rt_str id = rt_json_text(response, "id");
	yyjson_val *content = rt_json_get(response, "response");

	if (rt_json_text(content, "output").ptr != NULL)
		content = rt_json_get(content, "output");
	rt_parts_result(p, id.size > 0 ? id : rt_json_text(response, "name"), content, false);
}

static void
add_call(rt_parts *p, yyjson_val *call)
{
	rt_str id = rt_json_text(call, "id"), name = rt_json_text(call, "name");

	rt_parts_call(p, id.size > 0 ? id : name, name, rt_json_get(call, "args"));
}

static bool
is_thought(yyjson_val *part)
{
	return yyjson_is_true(rt_json_get(part, "thought")) ||
	       yyjson_is_true(rt_json_get(part, "isThought"));
}

bool
rt_gemini_part(rt_parts *p, yyjson_val *part)
{
	static const char *const data[] = {"inlineData", "inlineImage", "inlineFile"};
	static const char *const files[] = {"fileData",	  "driveImage", "driveDocument",
					    "driveVideo", "driveAudio"};
	yyjson_val *text = rt_json_get(part, "text"), *member;
	size_t before = p->count;

	if (yyjson_is_str(text) && is_thought(part))
		rt_parts_thinking(p, rt_json_str(text));
	else if (yyjson_is_str(text))
		rt_parts_text(p, rt_json_str(text));
	if (yyjson_is_obj(member = rt_json_get(part, "functionCall")))
		add_call(p, member);
	if (yyjson_is_obj(member = rt_json_get(part, "functionResponse")))
		add_response(p, member);
	if (yyjson_is_obj(member = rt_json_get(part, "executableCode")))
		rt_parts_call(p, CODE, CODE, member);
	if (yyjson_is_obj(member = rt_json_get(part, "codeExecutionResult")))
		rt_parts_result(p, CODE, rt_json_get(member, "output"), false);
	for (size_t i = 0; i < sizeof(data) / sizeof(*data); i++)
		if (yyjson_is_obj(member = rt_json_get(part, data[i])))
			add_data(p, member);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (yyjson_is_obj(member = rt_json_get(part, files[i])))
			rt_parts_object(p, "file", member);
	return p->count > before;
}

void
rt_gemini_content(rt_parts *p, yyjson_val *content)
{
	if (yyjson_is_str(content))
		rt_parts_text(p, rt_json_str(content));
	else if (yyjson_is_obj(content) && !rt_gemini_part(p, content))
		rt_parts_object(p, "part", content);
	for (rt_json_iter m = rt_json_items(content); rt_json_next(&m);)
		if (yyjson_is_str(m.value))
			rt_parts_text(p, rt_json_str(m.value));
		else if (yyjson_is_obj(m.value) && !rt_gemini_part(p, m.value))
			rt_parts_object(p, "part", m.value);
}
