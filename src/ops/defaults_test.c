/* SPDX-License-Identifier: MIT
 *
 * The settings of new projects: refused ones, and with each allocation failing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/failing_testing.h"
#include "log/engine_testing.h"
#include "ops/action_impl.h"
#include "store/store_memory.h"

typedef struct fixture {
	uint64_t chance;
	rt_env env;
	rt_store *store;
	rt_engine *engine;
} fixture;

static void
open_with(fixture *f, const rt_alloc *alloc, const char *defaults)
{
	rt_engine_options o = {.alloc = alloc, .env = &f->env, .create = true};

	*f = (fixture){.chance = 5, .env = {env_now, env_random, &f->chance}};
	o.env = &f->env;
	o.defaults = rt_str_of(defaults);
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &f->env, &f->store, NULL), RT_OK);
	assert_int_equal(rt_engine_open(&o, f->store, &f->engine, NULL), RT_OK);
}

static void
close_all(fixture *f)
{
	rt_engine_close(f->engine);
	f->store->ops->close(f->store);
}

static uint64_t
seq_of(fixture *f)
{
	const rt_project *value = rt_engine_value(f->engine);
	uint64_t seq = value->seq;

	rt_object_unref(value);
	return seq;
}

/* All are set by one step, or none. */
static void
test_torture(void **state)
{
	static const char defaults[] = "{\"roles\":[\"Reviewer\",\"User\",\"AI\"],"
				       "\"temperature\":0.5,\"model\":\"m/x\"}";
	bool has_failed = true;

	(void)state;
	for (long n = 0; has_failed; n++) {
		failing m = {.left = -1};
		rt_alloc alloc = {failing_resize, failing_release, &m};
		rt_error err;
		rt_status st;
		fixture f;

		open_with(&f, &alloc, defaults);
		atomic_store(&m.left, n);
		st = rt_defaults_apply(f.engine, &err);
		atomic_store(&m.left, -1);
		has_failed = atomic_load(&m.failed);
		if (st != RT_OK) {
			assert_int_equal(st, RT_NOMEM);
			assert_true(has_failed);
			assert_int_equal(seq_of(&f), 0);
			assert_int_equal(rt_defaults_apply(f.engine, &err), RT_OK);
		}
		assert_int_equal(seq_of(&f), 1);
		assert_int_equal(rt_defaults_apply(f.engine, &err), RT_OK); /* no second time */
		assert_int_equal(seq_of(&f), 1);
		close_all(&f);
		assert_int_equal(atomic_load(&m.live), 0);
	}
}

/* A refused step leaves the project unchanged, with a reason. */
static void
test_refused(void **state)
{
	rt_error err = {0};
	fixture f;

	(void)state;
	open_with(&f, rt_alloc_libc(), "{\"temperature\":1,\"roles\":[\"A\",\"\"]}");
	assert_int_equal(rt_defaults_apply(f.engine, &err), RT_USAGE);
	assert_string_equal(err.text, "\"role\" is empty");
	assert_int_equal(seq_of(&f), 0);
	close_all(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_torture),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
