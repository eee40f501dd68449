/* SPDX-License-Identifier: MIT
 *
 * Fixture of the tests of rt_engine_send: a world on a store in memory whose model plays a script. */
#ifndef RT_CHAT_SEND_SCRIPT_TESTING_H
#define RT_CHAT_SEND_SCRIPT_TESTING_H

#include "chat/send_testing.h"
#include "llm/builtin.h"
#include "store/store_memory.h"

static inline int
set_up(void **state)
{
	world *w = test_calloc(1, sizeof(*w));

	world_init(w);
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &w->env, &w->store, NULL), RT_OK);
	world_open_engine(w, NULL);
	*state = w;
	return 0;
}

static inline int
tear_down(void **state)
{
	world_deinit(*state);
	test_free(*state);
	return 0;
}

/* From now on this script is used. */
static inline void
play(world *w, const char *script)
{
	rt_builtin_options options = {RT_STR("play"), rt_str_of(script), 0, world_wait, w};

	if (w->model != NULL)
		w->model->ops->close(w->model);
	w->model = NULL;
	if (rt_builtin_open(rt_alloc_libc(), &options, &w->model, &w->err) != RT_OK)
		fail_msg("%s", w->err.text);
}

/* A script with two pauses. */
#define SLOW \
	"{\"text\":\"Good \"}\n{\"wait_ms\":1500}\n{\"text\":\"day\"}\n{\"wait_ms\":1500}\n" \
	"{\"text\":\"!\"}"

#define WITH_WORLD(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#endif
