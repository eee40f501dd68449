/* SPDX-License-Identifier: MIT
 *
 * Kinds of entries and blocks of tools, as contexts read them. */
#include "chat/context_impl.h"

bool
rt_context_kind_is_silent(rt_str kind)
{
	static const char *const silent[] = {
		"compaction",   "branch_summary",        /* sent, in a separate form */
		"custom",       "label",                 /* state of programs, names */
		"session",      "session_info",          /* about a pi session */
		"model_change", "thinking_level_change", /* settings at that time */
		"usage",        "context_edit",
	};
	size_t i;

	for (i = 0; i < sizeof(silent) / sizeof(silent[0]); i++)
		if (rt_str_is(kind, silent[i]))
			return true;
	return false;
}

bool
rt_context_call_of(yyjson_val *v, rt_context_call *out)
{
	rt_str type = rt_json_str(rt_json_get(v, "type"));
	yyjson_val *function = rt_json_get(v, "function"), *from = v;

	if (rt_str_is(type, "toolCall")) {
		out->arguments = rt_json_get(v, "arguments");
	} else if (rt_str_is(type, "tool_use")) {
		out->arguments = rt_json_get(v, "input");
	} else if (function != NULL) { /* an item of OpenAI's "tool_calls" */
		out->arguments = rt_json_get(function, "arguments");
		from = function;
	} else {
		return false;
	}
	out->signature = rt_json_str(rt_json_get(v, "thoughtSignature"));
	out->id = rt_json_str(rt_json_get(v, "id"));
	out->name = rt_json_str(rt_json_get(from, "name"));
	return true;
}

/* The first of these members that exists. */
static yyjson_val *
first_of(yyjson_val *v, const char *const *names, size_t count)
{
	yyjson_val *found = NULL;
	size_t i;

	for (i = 0; i < count && found == NULL; i++)
		found = rt_json_get(v, names[i]);
	return found;
}

bool
rt_context_result_of(yyjson_val *v, rt_context_result *out)
{
	static const char *const ids[] = {"tool_use_id", "toolCallId", "tool_call_id"};
	static const char *const names[] = {"toolName", "name"};
	static const char *const contents[] = {"content", "output", "text"};
	rt_str type = rt_json_str(rt_json_get(v, "type"));

	if (!rt_str_is(type, "tool_result") && !rt_str_is(type, "toolResult"))
		return false;
	out->id = rt_json_str(first_of(v, ids, 3));
	out->name = rt_json_str(first_of(v, names, 2));
	out->content = first_of(v, contents, 3);
	if (!yyjson_is_str(out->content) && !yyjson_is_arr(out->content))
		out->content = NULL;
	out->failed = yyjson_is_true(rt_json_get(v, "is_error")) ||
		      yyjson_is_true(rt_json_get(v, "isError"));
	return true;
}

bool
rt_context_is_thinking(rt_str type)
{
	return rt_str_is(type, "thinking") || rt_str_is(type, "redacted_thinking");
}

bool
rt_context_is_image(rt_str type)
{
	return rt_str_is(type, "image") || rt_str_is(type, "image_url") ||
	       rt_str_is(type, "input_image");
}
