/* SPDX-License-Identifier: MIT */
#include "core/setting.h"

const rt_setting rt_settings[] = {
	{"model", RT_SETTING_TEXT, false, "the model that is asked", true},
	{"temperature", RT_SETTING_NUMBER, true, "how free the model is in its choice of words", false},
	{"top_p", RT_SETTING_NUMBER, true, "the share of likely words that it chooses from", false},
	{"max_tokens", RT_SETTING_NUMBER, true, "how long a reply may become", false},
	{"reasoning_effort", RT_SETTING_EFFORT, true,
	 "how long the model thinks before it answers: \"none\", \"minimal\", \"low\", "
	 "\"medium\" or \"high\"; default: the provider's", false},
	{"base_system_prompt", RT_SETTING_TEXT, false, "comes first in every request", false},
	{"use_default_base_prompt", RT_SETTING_BOOL, false,
	 
	 "where no system prompt is set, Retake's own explains the working prompt; default: true", false},
	{"global_system_prompt", RT_SETTING_TEXT, false, "comes second", false},
	{"project_system_prompt", RT_SETTING_TEXT, false, "comes third", false},
	{"role_map", RT_SETTING_OBJECT, false,
	 "how roles are sent: {\"Critic\":\"user\"}; system, user or assistant", false},
	{"auto_add_history", RT_SETTING_BOOL, false, 
	 "add a question and its reply to the take; default: true. false: each exchange gets a take "
	 "of its own, and the active take stays as it is", false},
	{"edit_notices", RT_SETTING_NOTICES, false,
	 "what the model is told of edits: \"prompt\", \"all\" (of replies too) or \"none\"", false},
	{"prompt_updates", RT_SETTING_UPDATES, true,
	 "whether replies change the working prompt: in a code block, as JSON, or not", false},
	{"symbols_sent", RT_SETTING_BOOL, true,
	 "send the definitions of the symbols that the last question names (@name); default: false", false},
	{"compact_auto", RT_SETTING_BOOL, false,
	 "what no longer fits into the model's window is summed up before a question is sent", false},
	{"compact_reserve_tokens", RT_SETTING_COUNT, false,
	 "compact_auto: room in the window for the reply; default: 16384, half of it at most", false},
	{"compact_keep_tokens", RT_SETTING_COUNT, false,
	 "compact_auto: so much of the end is kept; default: 20000, half of what is sent at most", false},
	{"undo_capacity", RT_SETTING_COUNT, false,
	 "how many steps undo takes back at most; jump goes further", false},
	{"draft", RT_SETTING_TEXT, true, "what is being written and was not sent yet", false},
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
rt_setting_count(rt_str json, uint64_t *out)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < json.size; i++) {
		if (json.ptr[i] < '0' || json.ptr[i] > '9' || count > UINT64_MAX / 10 - 1)
			return false;
		count = count * 10 + (uint64_t)(json.ptr[i] - '0');
	}
	if (json.size == 0)
		return false;
	*out = count;
	return true;
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
		return rt_setting_count(json, &count) ? NULL : "a whole number from 0 on";
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
	}
	return NULL;
}
