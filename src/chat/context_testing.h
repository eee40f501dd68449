/* SPDX-License-Identifier: MIT
 *
 * Fixture of the tests of contexts: a bare engine on a store in memory, and the request that its
 * discussion becomes. */
#ifndef RT_CHAT_CONTEXT_TESTING_H
#define RT_CHAT_CONTEXT_TESTING_H

#include "log/bare_testing.h"
#include "chat/context.h"
#include "llm/provider.h"
#include "store/store_memory.h"

static inline int
set_up(void **state)
{
	rt_store *store;

	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &store, NULL), RT_OK);
	return bare_set_up(state, store);
}

/* The request of the active discussion, which is valid JSON. */
static inline const char *
request(bare *f, const char *provider, const rt_context_options *options)
{
	const rt_project *project = rt_engine_value(f->engine);
	rt_place place = {0, 0};
	rt_json_doc *doc;
	rt_error err = {0};

	rt_buf_clear(&f->out);
	if (rt_view_context(f->engine, project, place, rt_provider_named(rt_str_of(provider)), options,
			    &f->out, &err) != RT_OK)
		fail_msg("%s: %s", provider, err.text);
	rt_object_unref(project);
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&f->out), &doc, NULL), RT_OK);
	rt_json_free(doc);
	return f->out.ptr;
}

static inline const char *
context(bare *f, const char *provider)
{
	return request(f, provider, NULL);
}

/* The messages of an OpenAI request, a line for each: "role: text". */
static inline const char *
messages(bare *f)
{
	rt_json_doc *doc;
	yyjson_val *message;
	size_t i, max;
	rt_buf lines;

	(void)context(f, "openai");
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&f->out), &doc, NULL), RT_OK);
	rt_buf_init(&lines, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&lines, "");
	yyjson_arr_foreach(rt_json_get(rt_json_root(doc), "messages"), i, max, message)
	{
		rt_buf_add_str(&lines, rt_json_str(rt_json_get(message, "role")));
		rt_buf_add_c(&lines, ": ");
		rt_buf_add_str(&lines, rt_json_str(rt_json_get(message, "content")));
		rt_buf_add_byte(&lines, '\n');
	}
	rt_json_free(doc);
	rt_buf_deinit(&f->out);
	f->out = lines;
	return lines.ptr != NULL ? lines.ptr : "";
}

#define WITH(name) cmocka_unit_test_setup_teardown(name, set_up, bare_tear_down)

#endif
