/* SPDX-License-Identifier: MIT */
#include "llm/protocol.h"

#include "llm/transport.h"

enum {
	SHOWN_MAX = 80, /* bytes of an unreadable answer in a message */
	KEY_MAX = 8000  /* bytes of a key; servers accept no longer headers */
};

/* ---- requests ---- */

static rt_status
fail_local(rt_status st, rt_error *err)
{
	return rt_fail(err, st, "the built-in model has no server");
}

rt_status
rt_provider_path(const rt_provider *provider, rt_str model, bool stream, rt_buf *out, rt_error *err)
{
	if (provider->read == NULL)
		return fail_local(RT_USAGE, err);
	if (provider->add_path != NULL)
		return provider->add_path(model, stream, out, err);
	rt_buf_add_c(out, provider->path);
	return out->status == RT_OK ? RT_OK : rt_fail(err, out->status, "out of memory");
}

void
rt_provider_headers(const rt_provider *provider, rt_str key, rt_header_fn fn, void *ctx)
{
	rt_str prefix = rt_str_of(provider->key_prefix);
	char value[KEY_MAX + 16];

	if (provider->header[0] != NULL)
		fn(ctx, rt_str_of(provider->header[0]), rt_str_of(provider->header[1]));
	if (provider->key_header == NULL || key.size == 0 || key.size > KEY_MAX ||
	    !rt_header_is_one_line(key))
		return;
	RT_ASSERT(prefix.size <= sizeof(value) - KEY_MAX);
	if (prefix.size > 0)
		memcpy(value, prefix.ptr, prefix.size);
	memcpy(value + prefix.size, key.ptr, key.size);
	fn(ctx, rt_str_of(provider->key_header), rt_str_at(value, prefix.size + key.size));
	memset(value, 0, prefix.size + key.size);
}

/* ---- answers ---- */

static rt_status
read_json(const rt_alloc *alloc, rt_str data, rt_json_doc **out, rt_error *err)
{
	rt_json_doc *doc = NULL;
	rt_str shown;
	rt_status st = rt_json_read_repairing(alloc, data, &doc, NULL, NULL);

	if (st == RT_NOMEM)
		return rt_fail(err, st, "out of memory while reading a response");
	if (st == RT_OK && yyjson_is_ctn(rt_json_root(doc))) {
		*out = doc;
		return RT_OK;
	}
	rt_json_free(doc);
	shown = rt_str_at(data.ptr, rt_utf8_cut(data, SHOWN_MAX));
	shown.size = rt_utf8_valid_size(shown);
	return rt_fail(err, RT_UPSTREAM, "the server's response is not a model's reply: %.*s%s",
		       RT_STR_ARG(shown), shown.size < data.size ? " ..." : "");
}

static rt_status
read_piece(const rt_provider *provider, rt_reply *reply, rt_str data, bool whole, rt_error *err)
{
	rt_json_doc *doc = NULL;
	rt_status st;

	if (provider->read == NULL)
		return fail_local(RT_UPSTREAM, err);
	st = read_json(reply->alloc, data, &doc, err);
	if (st != RT_OK)
		return st;
	reply->provider = provider->name;
	if (!rt_answer_read_error(reply, rt_json_root(doc)))
		provider->read(reply, rt_json_root(doc), whole);
	rt_json_free(doc);
	return rt_answer_status(reply, err);
}

rt_status
rt_provider_read_event(const rt_provider *provider, rt_reply *reply, rt_str data, rt_error *err)
{
	data = rt_str_trim(data);
	if (data.size == 0)
		return RT_OK;
	if (provider->end_mark != NULL && rt_str_is(data, provider->end_mark)) {
		reply->ended = true;
		return RT_OK;
	}
	return read_piece(provider, reply, data, false, err);
}

rt_status
rt_provider_read_whole(const rt_provider *provider, rt_reply *reply, rt_str body, rt_error *err)
{
	rt_status st = RT_OK;
	rt_str line;

	if (provider->read == NULL || provider->framing != RT_FRAMING_LINES) {
		st = read_piece(provider, reply, body, true, err);
		reply->ended = reply->ended || st == RT_OK;
		return st;
	}
	while (st == RT_OK && rt_str_split(&body, '\n', &line))
		st = rt_provider_read_event(provider, reply, line, err);
	return st;
}

rt_status
rt_answer_status(const rt_reply *reply, rt_error *err)
{
	if (reply->status == RT_OK)
		return RT_OK;
	return rt_fail(err, reply->status,
		       reply->status == RT_NOMEM ? "out of memory while reading a response"
						 : "the response is too large");
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

rt_stop
rt_answer_stop_of(const rt_answer_stop *table, rt_str word, rt_stop unknown)
{
	for (; table->word != NULL; table++)
		if (rt_str_eq_nocase(word, rt_str_of(table->word)))
			return table->stop;
	return unknown;
}

rt_stop
rt_answer_usual_stop(const rt_reply *reply)
{
	return rt_reply_call_count(reply) > 0 ? RT_STOP_CALLS : RT_STOP_END;
}

void
rt_answer_add_call(rt_reply *reply, uint64_t index, yyjson_val *id, yyjson_val *name,
		   yyjson_val *arguments)
{
	rt_buf json;

	rt_buf_init(&json, reply->alloc, RT_BUF_UNLIMITED);
	if (yyjson_is_str(arguments))
		rt_buf_add_str(&json, rt_json_str(arguments));
	else if (arguments != NULL && !yyjson_is_null(arguments))
		rt_json_add_value(&json, arguments);
	rt_reply_add_call(reply, index, yyjson_is_str(id) ? rt_json_str(id) : rt_str_at(NULL, 0),
			  rt_json_str(name), rt_buf_str(&json));
	rt_reply_note(reply, json.status);
	rt_buf_deinit(&json);
}

/* ---- errors ---- */

static bool
add_words(yyjson_val *value, rt_buf *out)
{
	if (!yyjson_is_str(value) || yyjson_get_len(value) == 0)
		return false;
	rt_buf_add_str(out, rt_json_str(value));
	return true;
}

static void
add_error(yyjson_val *root, rt_buf *out)
{
	yyjson_val *error;

	if (yyjson_is_arr(root))
		root = yyjson_arr_get_first(root);
	error = rt_json_get(root, "error");
	if (add_words(error, out) || add_words(rt_json_get(error, "message"), out) ||
	    add_words(rt_json_get(error, "type"), out))
		return;
	if (yyjson_is_obj(error))
		rt_json_add_value(out, error);
	else if (!add_words(rt_json_get(root, "message"), out))
		(void)add_words(rt_json_get(root, "detail"), out);
}

bool
rt_answer_read_error(rt_reply *reply, yyjson_val *root)
{
	yyjson_val *first = yyjson_is_arr(root) ? yyjson_arr_get_first(root) : root;
	yyjson_val *error = rt_json_get(first, "error");
	rt_buf words;

	if (error == NULL || yyjson_is_null(error))
		return false;
	rt_buf_init(&words, reply->alloc, RT_BUF_UNLIMITED);
	add_error(first, &words);
	rt_reply_set_error(reply, words.size > 0 ? rt_buf_str(&words)
						 : RT_STR("the server gave no reason"));
	rt_reply_note(reply, words.status);
	rt_buf_deinit(&words);
	return true;
}

void
rt_provider_read_error(rt_str body, const rt_alloc *alloc, rt_buf *out)
{
	rt_json_doc *doc = NULL;

	if (rt_json_read_repairing(alloc, body, &doc, NULL, NULL) == RT_OK)
		add_error(rt_json_root(doc), out);
	rt_json_free(doc);
}

/* ---- models ---- */

static void
read_model(yyjson_val *item, const char *name_key, rt_model_fn fn, void *ctx)
{
	static const char *const sizes[] = {"context_length", "context_window", "max_model_len",
					    "max_input_tokens", "inputTokenLimit"};
	static const rt_str prefix = RT_STR_INIT("models/");
	rt_str name = rt_json_str(rt_json_get(item, name_key));
	size_t size = SIZE_MAX;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && size == SIZE_MAX; i++)
		size = rt_answer_count(item, sizes[i]);
	if (rt_str_starts(name, prefix))
		name = rt_str_skip(name, prefix.size);
	if (name.size > 0)
		fn(ctx, name, size == SIZE_MAX ? 0 : size);
}

rt_status
rt_provider_read_models(const rt_provider *provider, rt_str body, const rt_alloc *alloc,
			rt_model_fn fn, void *ctx, rt_error *err)
{
	rt_json_doc *doc = NULL;
	yyjson_val *list;
	rt_status st;

	if (provider->models_list == NULL)
		return fail_local(RT_UPSTREAM, err);
	st = read_json(alloc, body, &doc, err);
	if (st != RT_OK)
		return st;
	list = rt_json_root(doc);
	if (!yyjson_is_arr(list))
		list = rt_json_get(list, provider->models_list);
	for (rt_json_iter it = rt_json_items(list); rt_json_next(&it);)
		read_model(it.value, provider->models_name, fn, ctx);
	rt_json_free(doc);
	return RT_OK;
}
