/* SPDX-License-Identifier: MIT */
#include "core/setting.h"

const rt_setting rt_settings[] = {
	{"model", RT_SETTING_TEXT, false, "the model to ask", true},
	{"temperature", RT_SETTING_NUMBER, true, "randomness of the reply", false},
	{"top_p", RT_SETTING_NUMBER, true,
	 "nucleus sampling: share of likely tokens to choose from", false},
	{"max_tokens", RT_SETTING_NUMBER, true, "maximum number of tokens in a reply", false},
	{"reasoning_effort", RT_SETTING_EFFORT, true,
	 "how long the model thinks before it answers: \"none\", \"minimal\", \"low\", "
	 "\"medium\" or \"high\"; default: the provider's",
	 false},
	{"base_system_prompt", RT_SETTING_TEXT, false, "first part of every request", false},
	{"use_default_base_prompt", RT_SETTING_BOOL, false,

	 "without a system prompt, send Retake's explanation of the working prompt; default: true",
	 false},
	{"global_system_prompt", RT_SETTING_TEXT, false, "second part of every request", false},
	{"project_system_prompt", RT_SETTING_TEXT, false, "third part of every request", false},
	{"role_map", RT_SETTING_OBJECT, false,
	 "role names sent to models: {\"Critic\":\"user\"}; system, user or assistant", false},
	{"auto_add_history", RT_SETTING_BOOL, false,
	 "add a question and its reply to the take; default: true. false: each exchange gets a "
	 "separate take, and the active take does not change",
	 false},
	{"edit_notices", RT_SETTING_NOTICES, false,
	 "edits to report to the model: \"prompt\", \"all\" (also replies) or \"none\"", false},
	{"prompt_updates", RT_SETTING_UPDATES, true,
	 "how replies change the working prompt: code block, JSON or not at all", false},
	{"symbols_sent", RT_SETTING_BOOL, true,
	 "send definitions of symbols named in the last question (@name); default: false", false},
	{"compact_auto", RT_SETTING_BOOL, false,
	 "summarise the oldest entries before a request that exceeds the model's context", false},
	{"compact_reserve_tokens", RT_SETTING_COUNT, false,
	 "compact_auto: tokens to reserve for the reply; default: 16384, at most half of the context",
	 false},
	{"compact_keep_tokens", RT_SETTING_COUNT, false,
	 "compact_auto: tokens to keep at the end; default: 20000, at most half of the request",
	 false},
	{"undo_capacity", RT_SETTING_COUNT, false,
	 "maximum number of steps to undo; jump has no limit", false},
	{"draft", RT_SETTING_TEXT, true, "the draft: text that has not been sent yet", false},
	{"title", RT_SETTING_TEXT, true,
	 "title of a discussion without a chosen name; default: the first words of its first question",
	 false},
	{"pinned", RT_SETTING_BOOL, true, "list the discussion before the others", false},
	{"archived", RT_SETTING_BOOL, true, "leave the discussion out of lists", false},
	{"tags", RT_SETTING_TAGS, true, "tags of the discussion; a/b is nested in a", false},
	{NULL, RT_SETTING_TEXT, false, NULL, false},
};

static bool
is_effort(rt_str json)
{
	static const char *const words[] = {"\"none\"", "\"minimal\"", "\"low\"", "\"medium\"",
					    "\"high\"", NULL};

	return rt_str_is_one_of(json, words);
}

const rt_setting *
rt_setting_named(rt_str key)
{
	size_t i;

	for (i = 0; rt_settings[i].key != NULL; i++)
		if (rt_str_is(key, rt_settings[i].key))
			return &rt_settings[i];
	return NULL;
}

bool
rt_setting_is_of_one(rt_str key)
{
	static const char *const keys[] = {"draft", "title", "pinned", "archived", "tags", NULL};

	return rt_str_is_one_of(key, keys);
}

const char *const rt_file_list_names[] = {"context_files", "files", "screenshots", NULL};

bool
rt_is_file_list(rt_str key)
{
	return rt_str_is_one_of(key, rt_file_list_names);
}

bool
rt_setting_count(rt_str json, uint64_t *out)
{
	return rt_str_u64(json, UINT64_MAX, out);
}

const char *
rt_setting_wants(const rt_setting *setting, rt_str json)
{
	char first = json.size > 0 ? json.ptr[0] : '\0';
	uint64_t count;

	if (first == 'n') /* null: back to the default */
		return NULL;
	switch (setting->type) {
	case RT_SETTING_COUNT:
		return rt_setting_count(json, &count) ? NULL : "a whole number, 0 or more";
	case RT_SETTING_TEXT: return first == '"' ? NULL : "a text";
	case RT_SETTING_NUMBER:
		return first == '-' || (first >= '0' && first <= '9') ? NULL : "a number";
	case RT_SETTING_BOOL: return first == 't' || first == 'f' ? NULL : "true or false";
	case RT_SETTING_NOTICES:
		return rt_str_is(json, "\"none\"") || rt_str_is(json, "\"prompt\"") ||
				       rt_str_is(json, "\"all\"")
			       ? NULL
			       : "\"none\", \"prompt\" or \"all\"";
	case RT_SETTING_UPDATES:
		return rt_str_is(json, "\"off\"") || rt_str_is(json, "\"block\"") ||
				       rt_str_is(json, "\"json\"")
			       ? NULL
			       : "\"off\", \"block\" or \"json\"";
	case RT_SETTING_EFFORT:
		return is_effort(json) ? NULL
				       : "\"none\", \"minimal\", \"low\", \"medium\" or \"high\"";
	case RT_SETTING_OBJECT: return first == '{' ? NULL : "a JSON object";
	case RT_SETTING_TAGS: return first == '[' ? NULL : "a JSON array of strings";
	}
	return NULL;
}
