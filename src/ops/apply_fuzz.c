/* SPDX-License-Identifier: MIT
 *
 * Any bytes as lines of `retake apply` on a store in memory: each gives a result, the value
 * stays sound, and undoing everything gives the first state. */
#include "log/engine.h"
#include "store/store_memory.h"
#include "view/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t
now_us(void *ctx)
{
	int64_t *clock = ctx;

	return *clock += 1000000;
}

static void
random_bytes(void *ctx, void *to, size_t size)
{
	(void)ctx;
	memset(to, 7, size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const rt_alloc *alloc = rt_alloc_libc();
	int64_t clock = 0;
	rt_env env = {now_us, random_bytes, &clock};
	rt_engine_options options = {.env = &env, .create = true, .checkpoint_every = 3};
	const rt_project *project;
	rt_store *store;
	rt_engine *engine;
	rt_error err;
	rt_result result;
	rt_buf out;
	size_t at = 0, i, lines = 0;
	rt_place place = {0, 0};

	if (size > 20000)
		return 0;
	RT_ASSERT(rt_store_memory_open(alloc, &env, &store, &err) == RT_OK);
	RT_ASSERT(rt_engine_open(&options, store, &engine, &err) == RT_OK);
	for (i = 0; i <= size && lines < 60; i++) {
		if (i < size && data[i] != '\n')
			continue;
		(void)rt_engine_apply_text(engine, rt_str_at((const char *)data + at, i - at),
					   rt_str_at(NULL, 0), rt_str_at(NULL, 0), &result);
		RT_ASSERT(result.status != RT_CORRUPT);
		rt_result_deinit(&result);
		at = i + 1;
		lines++;
	}
	project = rt_engine_value(engine);
	RT_ASSERT(rt_project_check(project, &err) == RT_OK);
	rt_buf_init(&out, alloc, RT_BUF_UNLIMITED);
	RT_ASSERT(rt_view_show(engine, project, place, NULL, &out, &err) == RT_OK);
	RT_ASSERT(rt_view_tree(engine, project, 0, &out, &err) == RT_OK);
	RT_ASSERT(rt_view_history(engine, project, 0, 0, 0, &out, &err) == RT_OK);
	rt_buf_deinit(&out);
	rt_object_unref(project);
	(void)rt_engine_apply_text(engine, RT_STR("{\"op\":\"undo\",\"count\":1000}"),
				   rt_str_at(NULL, 0), rt_str_at(NULL, 0), &result);
	RT_ASSERT(result.status == RT_OK || result.status == RT_REFUSED);
	rt_result_deinit(&result);
	project = rt_engine_value(engine);
	RT_ASSERT(rt_project_check(project, &err) == RT_OK);
	rt_object_unref(project);
	rt_engine_close(engine);
	store->ops->close(store);
	return 0;
}
