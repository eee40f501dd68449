/* SPDX-License-Identifier: MIT
 *
 * A bare engine, on a store of the test and without a model, for tests that need no model; for the
 * others there is send_testing.h. */
#ifndef RT_LOG_BARE_TESTING_H
#define RT_LOG_BARE_TESTING_H

#include <stdio.h>

#include "log/engine_testing.h"

typedef struct bare {
	rt_store *store;
	rt_engine *engine;
	rt_buf out;     /* scratch of the test */
	rt_error error; /* of the last request; the following members likewise: */
	uint64_t seq;
	bool unchanged;
} bare;

/* Reopens the store; call rt_engine_close(b->engine) first. */
static inline void
bare_open_engine(bare *b)
{
	rt_engine_options options = {.env = &env, .create = true};
	rt_error err = {0};

	if (rt_engine_open(&options, b->store, &b->engine, &err) != RT_OK)
		fail_msg("%s", err.text);
}

/* A set-up function for cmocka: *state is a bare. Takes ownership of the store. */
static inline int
bare_set_up(void **state, rt_store *store)
{
	bare *b = test_calloc(1, sizeof(*b));

	b->store = store;
	bare_open_engine(b);
	rt_buf_init(&b->out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	*state = b;
	return 0;
}

static inline int
bare_tear_down(void **state)
{
	bare *b = *state;

	rt_buf_deinit(&b->out);
	rt_engine_close(b->engine);
	b->store->ops->close(b->store);
	test_free(b);
	return 0;
}

static inline rt_status
bare_try(bare *b, const char *json)
{
	rt_result result;
	rt_status st = rt_engine_apply_text(b->engine, rt_str_of(json), RT_STR(""), RT_STR(""),
					    &result);

	b->error = result.error;
	b->seq = result.seq;
	b->unchanged = result.unchanged;
	rt_result_deinit(&result);
	return st;
}

static inline void
bare_apply(bare *b, const char *json)
{
	if (bare_try(b, json) != RT_OK)
		fail_msg("%s: %s", json, b->error.text);
}

static inline void
bare_add(bare *b, const char *id, const char *role, const char *content)
{
	char json[512];

	(void)snprintf(json, sizeof(json),
		       "{\"op\":\"entry.append\",\"id\":\"%s\",\"role\":\"%s\",\"content\":\"%s\"}", id,
		       role, content);
	bare_apply(b, json);
}

#endif
