/* SPDX-License-Identifier: MIT
 *
 * OpenAI chat messages: the names that mean something, and how to recognise a file
 * (openai_impl.h draws it). */
#include "formats/formats.h"
#include "formats/openai_impl.h"

bool
rt_openai_is_ours(rt_str name)
{
	static const char *const ours[] = {"id",
					   "kind",
					   "ts",
					   "muted",
					   "collapsed",
					   "purged",
					   "read_mode",
					   "label",
					   "usage",
					   "thinking_segments",
					   "pi",
					   "first_kept",
					   "tokens_before",
					   "details",
					   "from_id",
					   "retake",
					   "link",
					   "provider",
					   "model",
					   "stop_reason",
					   "error",
					   "signed_text",
					   RT_BUILD_BAD_TS,
					   RT_BUILD_RAW,
					   RT_BUILD_BAD_CONTENT,
					   NULL};

	return rt_str_is_one_of(name, ours);
}

bool
rt_openai_is_message_key(rt_str role, rt_str name)
{
	static const char *const of_assistant[] = {"tool_calls", "function_call", "refusal",
						   "audio",      "weight",        NULL};

	if (rt_str_is(role, "tool"))
		return rt_str_is(name, "tool_call_id");
	return rt_str_is(name, "name") ||
	       (rt_str_is(role, "assistant") && rt_str_is_one_of(name, of_assistant));
}

bool
rt_openai_is_request_key(rt_str name)
{
	static const char *const known[] = {"model",
					    "tools",
					    "tool_choice",
					    "functions",
					    "function_call",
					    "parallel_tool_calls",
					    "temperature",
					    "top_p",
					    "max_tokens",
					    "n",
					    "stop",
					    "max_completion_tokens",
					    "seed",
					    "user",
					    "presence_penalty",
					    "stream",
					    "stream_options",
					    "frequency_penalty",
					    "logprobs",
					    "top_logprobs",
					    "response_format",
					    "logit_bias",
					    "modalities",
					    "reasoning_effort",
					    "audio",
					    "prediction",
					    "service_tier",
					    "store",
					    "metadata",
					    "web_search_options",
					    "verbosity",
					    "safety_identifier",
					    "prompt_cache_key",
					    "prompt_cache_retention",
					    NULL};

	return rt_str_is_one_of(name, known);
}

bool
rt_openai_is_setting(rt_str name)
{
	static const char *const settings[] = {"temperature", "top_p", "max_tokens", NULL};

	return rt_str_is_one_of(name, settings);
}

/* ---- recognising a file ---- */

/* The name in a raw key, which has quotes. */
static rt_str
bare(rt_str key)
{
	return key.size < 2 ? rt_str_at("", 0) : rt_str_at(key.ptr + 1, key.size - 2);
}

/* From the beginning of a message: does it have a role, and say something? */
static int
sniff_message(rt_str head)
{
	/* such messages never have these, but those of other programs that also say "role" */
	static const char *const foreign[] = {"message",   "text",     "parentId",   "parent_id",
					      "parent",    "children", "replies",    "childrenIds",
					      "sessionID", "uuid",     "message_id", NULL};
	static const char *const says[] = {"content", "tool_calls", "function_call",
					   "refusal", "audio",      NULL};
	rt_members m;
	rt_str key, value;
	bool role = false, said = false;

	if (!rt_members_open(&m, head) || m.close != '}')
		return 0;
	while (rt_members_next(&m, &key, &value)) {
		if (rt_str_is_one_of(bare(key), foreign))
			return 0;
		role = role || (rt_scan_key_is(key, "role") && value.ptr[0] == '"');
		said = said || rt_str_is_one_of(bare(key), says);
	}
	if (!m.bad)
		return role && said ? 85 : 0;
	/* what was given ends inside the content, or before it */
	said = said || rt_scan_key_is(key, "content");
	return role ? 85 : said ? 50 : 0;
}

static rt_str
rest(const rt_members *m)
{
	return rt_str_at(m->in.ptr + m->at, m->in.size - m->at);
}

static int
sniff_messages(rt_str head)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, head) || m.close != ']')
		return 0;
	if (rt_members_next(&m, &key, &value))
		return sniff_message(value);
	return m.bad ? sniff_message(rest(&m)) : 20;
}

static int
sniff_conversation(rt_str head)
{
	rt_members m, n;
	rt_str key, value;
	int inner = 0;

	if (!rt_members_open(&m, head) || m.close != '}')
		return 0;
	while (rt_members_next(&m, &key, &value)) {
		if (rt_scan_key_is(key, "messages"))
			return sniff_messages(value);
		if (rt_scan_key_is(key, "preferred_output") || rt_scan_key_is(key, "choices"))
			return 60;
		if ((!rt_scan_key_is(key, "body") && !rt_scan_key_is(key, "input")) ||
		    value.ptr[0] != '{')
			continue;
		if (rt_members_open(&n, value))
			while (inner == 0 && rt_members_next(&n, &key, &value))
				if (rt_scan_key_is(key, "messages"))
					inner = sniff_messages(value);
		return inner;
	}
	return rt_scan_key_is(key, "messages") ? sniff_messages(rest(&m)) : 0;
}

static int
openai_sniff(rt_str head)
{
	rt_members m;
	rt_str key, value;
	int sure;

	head = rt_scan_unmark(head);
	sure = sniff_conversation(head);
	if (sure > 0)
		return sure;
	sure = sniff_messages(head);
	if (sure > 0)
		return sure;
	if (rt_members_open(&m, head) && m.close == ']')
		return rt_members_next(&m, &key, &value) ? sniff_conversation(value)
							 : sniff_conversation(rest(&m));
	sure = sniff_message(head);
	return sure > 0 ? 40 : 0; /* messages, one a line */
}

RT_READER_FUNCTIONS(openai, rt_openai_read_to)

const rt_format rt_format_openai = {
	.name = "openai",
	.extension = ".jsonl",
	.about = "OpenAI chat messages: an array, request bodies, fine-tuning files (JSONL)",
	.sniff = openai_sniff,
	.read = openai_read,
	.stream = openai_stream,
	.write = rt_openai_write,
};
