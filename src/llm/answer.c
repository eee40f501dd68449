/* SPDX-License-Identifier: MIT */
#include "llm/answer.h"

enum {
	SHOWN_MAX = 80, /* bytes of what cannot be read that a message shows */
	KEY_MAX = 8000  /* bytes of a key; servers do not take longer headers */
};

rt_status
rt_answer_read(const rt_alloc *alloc, rt_str data, rt_json_doc **out, rt_error *err)
{
	rt_json_doc *doc = NULL;
	rt_str shown;
	rt_status st = rt_json_read_repairing(alloc, data, &doc, NULL, NULL);

	if (st == RT_NOMEM)
		return rt_fail(err, st, "out of memory while reading an answer");
	if (st == RT_OK && (yyjson_is_obj(rt_json_root(doc)) || yyjson_is_arr(rt_json_root(doc)))) {
		*out = doc;
		return RT_OK;
	}
	rt_json_free(doc);
	shown = rt_str_at(data.ptr, rt_utf8_cut(data, SHOWN_MAX));
	shown.size = rt_utf8_valid_size(shown);
	return rt_fail(err, RT_UPSTREAM, "the server sent what is no answer of a model: %.*s%s",
		       RT_STR_ARG(shown), shown.size < data.size ? " ..." : "");
}

size_t
rt_answer_count(yyjson_val *object, const char *key)
{
	uint64_t count;

	if (!rt_json_u64(rt_json_get(object, key), &count) || count >= SIZE_MAX / 4)
		return SIZE_MAX;
	return (size_t)count;
}

size_t
rt_answer_sum(size_t a, size_t b)
{
	if (a == SIZE_MAX || b == SIZE_MAX)
		return a == SIZE_MAX ? b : a;
	return a + b;
}

void
rt_answer_add_json(yyjson_val *value, rt_buf *out)
{
	if (yyjson_is_str(value))
		rt_buf_add_str(out, rt_json_str(value));
	else if (value != NULL && !yyjson_is_null(value))
		rt_json_add_value(out, value);
}

static bool
add_words(yyjson_val *value, rt_buf *out)
{
	if (!yyjson_is_str(value) || yyjson_get_len(value) == 0)
		return false;
	rt_buf_add_str(out, rt_json_str(value));
	return true;
}

void
rt_answer_add_error(yyjson_val *root, rt_buf *out)
{
	yyjson_val *error;

	if (yyjson_is_arr(root))
		root = yyjson_arr_get_first(root);
	error = rt_json_get(root, "error");
	if (add_words(error, out) || add_words(rt_json_get(error, "message"), out) ||
	    add_words(rt_json_get(error, "type"), out))
		return;
	if (yyjson_is_obj(error)) {
		rt_json_add_value(out, error);
		return;
	}
	if (!add_words(rt_json_get(root, "message"), out))
		(void)add_words(rt_json_get(root, "detail"), out);
}

bool
rt_answer_take_error(rt_reply *reply, yyjson_val *root)
{
	yyjson_val *error, *first = yyjson_is_arr(root) ? yyjson_arr_get_first(root) : root;
	rt_buf words;

	error = rt_json_get(first, "error");
	if (error == NULL || yyjson_is_null(error))
		return false;
	rt_buf_init(&words, reply->alloc, RT_BUF_UNLIMITED);
	rt_answer_add_error(first, &words);
	rt_reply_set_error(reply, words.size > 0 ? rt_buf_str(&words)
						 : RT_STR("the server did not say what is wrong"));
	if (words.status != RT_OK && reply->status == RT_OK)
		reply->status = words.status;
	rt_buf_deinit(&words);
	return true;
}

void
rt_answer_read_error(rt_str body, const rt_alloc *alloc, rt_buf *out)
{
	rt_json_doc *doc = NULL;

	if (rt_json_read_repairing(alloc, body, &doc, NULL, NULL) == RT_OK)
		rt_answer_add_error(rt_json_root(doc), out);
	rt_json_free(doc);
}

rt_status
rt_answer_end(const rt_reply *reply, rt_error *err)
{
	if (reply->status == RT_OK)
		return RT_OK;
	return rt_fail(err, reply->status,
		       reply->status == RT_NOMEM ? "out of memory while reading an answer"
						 : "the answer is too large");
}

void
rt_answer_add_call(rt_reply *reply, uint64_t index, yyjson_val *id, yyjson_val *name,
		   yyjson_val *arguments)
{
	rt_buf json;

	rt_buf_init(&json, reply->alloc, RT_BUF_UNLIMITED);
	rt_answer_add_json(arguments, &json);
	rt_reply_add_call(reply, index, yyjson_is_str(id) ? rt_json_str(id) : rt_str_at(NULL, 0),
			  rt_json_str(name), rt_buf_str(&json));
	if (json.status != RT_OK && reply->status == RT_OK)
		reply->status = json.status;
	rt_buf_deinit(&json);
}

static void
list_models(yyjson_val *list, const char *key, rt_model_fn fn, void *ctx)
{
	static const char *const sizes[] = {"context_length", "context_window", "max_model_len",
					    "max_input_tokens", "inputTokenLimit"};
	yyjson_val *item;
	size_t i, max, k;

	yyjson_arr_foreach(list, i, max, item)
	{
		rt_str name = rt_json_str(rt_json_get(item, key));
		size_t size = SIZE_MAX;

		for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]) && size == SIZE_MAX; k++)
			size = rt_answer_count(item, sizes[k]);
		if (rt_str_starts(name, RT_STR("models/")))
			name = rt_str_at(name.ptr + 7, name.size - 7);
		if (name.size > 0)
			fn(ctx, name, size == SIZE_MAX ? 0 : size);
	}
}

rt_status
rt_answer_read_models(rt_str body, const rt_alloc *alloc, const char *list_key,
		      const char *name_key, rt_model_fn fn, void *ctx, rt_error *err)
{
	rt_json_doc *doc = NULL;
	rt_status st = rt_answer_read(alloc, body, &doc, err);
	yyjson_val *root;

	if (st != RT_OK)
		return st;
	root = rt_json_root(doc);
	list_models(yyjson_is_arr(root) ? root : rt_json_get(root, list_key), name_key, fn, ctx);
	rt_json_free(doc);
	return RT_OK;
}

void
rt_answer_key_header(rt_str name, rt_str before, rt_str key, rt_header_fn fn, void *ctx)
{
	char value[KEY_MAX + 16];
	size_t i;

	RT_ASSERT(before.size <= 16);
	if (key.size == 0 || key.size > KEY_MAX)
		return;
	for (i = 0; i < key.size; i++)
		if ((unsigned char)key.ptr[i] < 0x20 || key.ptr[i] == 0x7F)
			return;
	if (before.size > 0)
		memcpy(value, before.ptr, before.size);
	memcpy(value + before.size, key.ptr, key.size);
	fn(ctx, name, rt_str_at(value, before.size + key.size));
	memset(value, 0, before.size + key.size);
}
