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
		model = rt_str_skip(model, slash + 1);
	if (rt_str_starts(model, RT_STR("ft:"))) /* fine-tuned */
		model = rt_str_skip(model, 3);
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
	size_t total = RT_TOKENS_REPLY;
	rt_scope s;

	rt_scope_init(&s, rt_tokens_alloc(tokens));
	yyjson_val *root = rt_json_parse(&s, body), *messages = rt_json_get(root, "messages");
	bool whole = rt_json_get(root, "tools") == NULL;
	if (!yyjson_is_arr(messages))
		(void)rt_scope_fail(&s, RT_CORRUPT, "the request has no messages");
	for (rt_json_iter it = rt_json_items(messages); rt_ok(&s) && rt_json_next(&it);) {
		yyjson_val *content = rt_json_get(it.value, "content");
		size_t count = 0;
		rt_status st;

		whole = whole && yyjson_is_str(content) &&
			rt_json_get(it.value, "tool_calls") == NULL &&
			rt_json_get(it.value, "tool_call_id") == NULL;
		st = rt_tokens_count_message(tokens, rt_json_str(rt_json_get(it.value, "role")),
					     rt_json_str(rt_json_get(it.value, "name")),
					     rt_json_str(content), &count);
		if (st != RT_OK)
			(void)rt_scope_fail(&s, st, "out of memory while counting tokens");
		total += count;
	}
	if (rt_ok(&s)) {
		*out = total;
		*out_whole = whole;
	}
	return rt_scope_end(&s, err);
}
