/* SPDX-License-Identifier: MIT
 *
 * The encodings, the models that use them, and the overhead of messages. */
#include "codec/json.h"
#include "llm/tokens.h"

enum { CL100K, O200K };

static const rt_token_encoding encodings[] = {
	[CL100K] = {"cl100k_base", RT_TOKEN_CUT_CL100K, 1681126, 0x89E968517C414DB8u},
	[O200K] = {"o200k_base", RT_TOKEN_CUT_O200K, 3613922, 0xE7908FA036B1BABFu},
};

/* Beginnings of models' names. After one that ends with a letter or digit a sign follows, or
 * nothing: "o1" is not "o100". */
static const struct {
	const char *prefix;
	int encoding;
} models[] = {
	{"gpt-5", O200K},
	{"gpt-5.", O200K},
	{"gpt-4.1", O200K},
	{"gpt-4.5", O200K},
	{"gpt-4o", O200K},
	{"chatgpt-4o", O200K},
	{"gpt-oss", O200K},
	{"o1", O200K},
	{"o3", O200K},
	{"o4", O200K},
	{"codex-mini", O200K},
	{"gpt-4", CL100K},
	{"gpt-3.5", CL100K},
	{"gpt-35", CL100K},
	{"text-embedding-3", CL100K},
	{"text-embedding-ada-002", CL100K},
};

const rt_token_encoding *
rt_token_encoding_named(rt_str name)
{
	for (size_t i = 0; i < sizeof(encodings) / sizeof(*encodings); i++)
		if (rt_str_is(name, encodings[i].name))
			return &encodings[i];
	return NULL;
}

static bool
begins_with(rt_str name, rt_str prefix)
{
	if (!rt_str_starts(name, prefix))
		return false;
	if (name.size == prefix.size || prefix.ptr[prefix.size - 1] == '.')
		return true;
	return memchr("-:@", name.ptr[prefix.size], 3) != NULL;
}

const rt_token_encoding *
rt_token_encoding_of(rt_str model)
{
	size_t slash;

	while ((slash = rt_str_find(model, RT_STR("/"), 0)) != SIZE_MAX)
		model = rt_str_at(model.ptr + slash + 1, model.size - slash - 1);
	if (rt_str_starts(model, RT_STR("ft:"))) /* fine-tuned */
		model = rt_str_at(model.ptr + 3, model.size - 3);
	for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++)
		if (begins_with(model, rt_str_of(models[i].prefix)))
			return &encodings[models[i].encoding];
	return NULL;
}

rt_status
rt_tokens_count_message(const rt_tokens *tokens, rt_str role, rt_str name, rt_str content,
			size_t *out)
{
	size_t of_role = 0, of_name = 0, of_content = 0;
	rt_status st = rt_tokens_count(tokens, role, &of_role);

	if (st == RT_OK)
		st = rt_tokens_count(tokens, content, &of_content);
	if (st == RT_OK && name.size > 0)
		st = rt_tokens_count(tokens, name, &of_name);
	if (st == RT_OK)
		*out = RT_TOKENS_MESSAGE + of_role + of_content +
		       (name.size > 0 ? of_name + RT_TOKENS_NAME : 0);
	return st;
}

rt_status
rt_tokens_count_request(const rt_tokens *tokens, rt_str body, size_t *out, bool *out_whole,
			rt_error *err)
{
	size_t i, max, total = RT_TOKENS_REPLY;
	yyjson_val *messages, *message;
	rt_json_doc *doc = NULL;
	bool whole;
	rt_status st = rt_json_read(rt_tokens_alloc(tokens), body, &doc, err);

	if (st != RT_OK)
		return st;
	messages = rt_json_get(rt_json_root(doc), "messages");
	whole = rt_json_get(rt_json_root(doc), "tools") == NULL;
	if (!yyjson_is_arr(messages))
		st = rt_fail(err, RT_CORRUPT, "the request has no messages");
	yyjson_arr_foreach(messages, i, max, message)
	{
		yyjson_val *content = rt_json_get(message, "content");
		size_t count = 0;

		whole = whole && yyjson_is_str(content) &&
			rt_json_get(message, "tool_calls") == NULL &&
			rt_json_get(message, "tool_call_id") == NULL;
		st = rt_tokens_count_message(tokens, rt_json_str(rt_json_get(message, "role")),
					     rt_json_str(rt_json_get(message, "name")),
					     rt_json_str(content), &count);
		if (st != RT_OK) {
			st = rt_fail(err, st, "out of memory while counting tokens");
			break;
		}
		total += count;
	}
	rt_json_free(doc);
	if (st == RT_OK) {
		*out = total;
		*out_whole = whole;
	}
	return st;
}
