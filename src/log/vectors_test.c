/* SPDX-License-Identifier: MIT
 *
 * Vectors: found like a plain comparison of all of them finds them; replaced, purged, dropped. */
#include "log/engine_testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/failing_testing.h"
#include "base/vector.h"
#include "log/engine_impl.h"
#include "log/vectors.h"
#include "store/store_memory.h"

enum { DIMENSIONS = 100, TEXTS = 1000 };

typedef struct fixture {
	rt_store *store;
	rt_engine *engine;
	uint64_t random;
	float vectors[TEXTS][DIMENSIONS]; /* of body i + 1 */
} fixture;

static void
make(fixture *f, float *out, size_t dimensions)
{
	for (size_t i = 0; i < dimensions; i++)
		out[i] = (float)(next_random(&f->random) % 2001) / 1000 - 1;
	assert_true(rt_vector_normalise(out, dimensions));
}

static void
must(rt_status st, const rt_error *err)
{
	if (st != RT_OK)
		fail_msg("%s", err->text);
}

/* Texts as bodies, so that their numbers exist. */
static void
add_bodies(fixture *f, uint64_t first, uint64_t last)
{
	rt_error err = {0};

	must(f->store->ops->begin(f->store, &err), &err);
	for (uint64_t i = first; i <= last; i++) {
		rt_store_row body = {.number = i, .entry = i, .data = RT_STR("Ttext")};

		must(f->store->ops->append(f->store, f->engine->project, 0, NULL, 0, &body, 1, NULL, &err), &err);
	}
	must(f->store->ops->commit(f->store, &err), &err);
}

static int
set_up(void **state)
{
	rt_engine_options options = {.env = &env, .create = true};
	fixture *f = test_calloc(1, sizeof(*f));

	f->random = 5;
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &f->store, NULL), RT_OK);
	assert_int_equal(rt_engine_open(&options, f->store, &f->engine, NULL), RT_OK);
	for (size_t i = 0; i < TEXTS; i++)
		make(f, f->vectors[i], DIMENSIONS);
	add_bodies(f, 1, TEXTS);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture *f = *state;

	rt_engine_close(f->engine);
	f->store->ops->close(f->store);
	test_free(f);
	return 0;
}

static rt_vectors_state
state_of(fixture *f, const char *model)
{
	rt_vectors_state state;
	rt_error err = {0};

	must(rt_vectors_state_read(f->engine, rt_str_of(model), &state, &err), &err);
	return state;
}

static rt_status
add_after(fixture *f, const char *model, const rt_vectors_state *after, uint64_t last, rt_error *err)
{
	static rt_passage passages[TEXTS];
	rt_vectors_batch b = {.model = rt_str_of(model), .dimensions = DIMENSIONS, .after = *after, .mark = last,
			      .passages = passages};

	for (uint64_t i = after->mark + 1; i <= last; i++)
		passages[b.count++] = (rt_passage){i, (uint32_t)i, 3, f->vectors[i - 1]};
	return rt_vectors_add(f->engine, &b, err);
}

static void
add(fixture *f, const char *model, uint64_t last)
{
	rt_vectors_state after = state_of(f, model);
	rt_error err = {0};

	must(add_after(f, model, &after, last, &err), &err);
	assert_int_equal(state_of(f, model).mark, last);
}

/* The bodies that are found, the best first. */
static size_t
find(fixture *f, const char *model, const float *vector, size_t most, uint64_t *out, bool *out_all)
{
	rt_error err = {0};
	size_t count;
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	rt_neighbours near = rt_vectors_find(f->engine, &s, rt_str_of(model), vector, DIMENSIONS, most);

	for (size_t i = 0; i < near.count; i++) {
		out[i] = near.items[i].body;
		assert_int_equal(near.items[i].entry, near.items[i].body);
		assert_true(i == 0 || near.items[i].similarity <= near.items[i - 1].similarity);
	}
	*out_all = near.is_all;
	count = near.count;
	must(rt_scope_end(&s, &err), &err);
	return count;
}

static float
similarity(const float *a, const float *b)
{
	float sum = 0;

	for (size_t i = 0; i < DIMENSIONS; i++)
		sum += a[i] * b[i];
	return sum;
}

/* The results have the order of an exact comparison, except for nearly equal ones; with few
 * vectors, most of the best are found. */
static void
test_like_a_plain_comparison(void **state)
{
	fixture *f = *state;
	uint64_t found[TEXTS];
	float wanted[DIMENSIONS];
	size_t count, hits = 0;
	bool is_all;

	for (uint64_t last = 7; last < TEXTS; last += 1 + last / 3)
		add(f, "m", last);
	add(f, "m", TEXTS);
	for (int round = 0; round < 10; round++) {
		make(f, wanted, DIMENSIONS);
		count = find(f, "m", wanted, TEXTS, found, &is_all);
		assert_int_equal(count, TEXTS);
		assert_true(is_all);
		for (size_t i = 1; i < count; i++)
			assert_true(similarity(wanted, f->vectors[found[i - 1] - 1]) >
				    similarity(wanted, f->vectors[found[i] - 1]) - 0.01f);
		uint64_t best = found[0];

		count = find(f, "m", wanted, 100, found, &is_all);
		assert_int_equal(count, 100);
		assert_false(is_all);
		hits += found[0] == best;
	}
	assert_true(hits >= 8);
}

static void
test_other_models(void **state)
{
	fixture *f = *state;
	float other[2] = {1, 0};
	rt_vectors_state after;
	rt_error err = {0};
	uint64_t found[TEXTS];
	bool is_all;

	add(f, "m", 500);
	assert_int_equal(find(f, "other", f->vectors[0], 10, found, &is_all), 0);
	assert_int_equal(state_of(f, "other").mark, 0);
	add(f, "other", 20); /* it starts again */
	assert_int_equal(state_of(f, "m").mark, 0);
	assert_int_equal(find(f, "other", f->vectors[3], 50, found, &is_all), 20);
	assert_int_equal(found[0], 4);
	/* So do other dimensions of the same model. */
	after = state_of(f, "other");
	rt_passage p = {21, 21, 0, other};
	rt_vectors_batch b = {RT_STR("other"), 2, after, 21, &p, 1};

	must(rt_vectors_add(f->engine, &b, &err), &err);
	assert_int_equal(state_of(f, "other").mark, 0);
	assert_int_equal(find(f, "other", f->vectors[3], 50, found, &is_all), 0);
}

static void
test_conflicts(void **state)
{
	fixture *f = *state;
	rt_vectors_state before = state_of(f, "m");
	rt_error err = {0};

	add(f, "m", 10);
	assert_int_equal(add_after(f, "m", &before, 20, &err), RT_CONFLICT); /* another process was faster */
	before = state_of(f, "m");
	must(f->store->ops->epoch_renew(f->store, &err), &err);
	assert_int_equal(add_after(f, "m", &before, 20, &err), RT_CONFLICT); /* a text may have been purged */
	assert_int_equal(state_of(f, "m").count, 10);
}

typedef struct rows {
	size_t count, size;
	uint64_t sum; /* of the bytes that are not 0 */
} rows;

static bool
count_row(void *ctx, const rt_store_row *row)
{
	rows *r = ctx;

	r->count++;
	r->size += row->data.size;
	for (size_t i = 0; i < row->data.size; i++)
		r->sum += row->data.ptr[i] != 0;
	return true;
}

static rows
rows_of(fixture *f)
{
	rt_error err = {0};
	rows r = {0};

	must(f->store->ops->read(f->store, rt_rows_prefixed(f->engine->project, RT_STR(RT_VECTORS_PREFIX ".")),
				 count_row, &r, &err), &err);
	return r;
}

static void
test_purge(void **state)
{
	fixture *f = *state;
	uint64_t gone[] = {1, 4, 300}, all[TEXTS], found[TEXTS];
	rt_error err = {0};
	bool is_all;
	rt_scope s;

	add(f, "m", 600);
	for (uint64_t i = 0; i < TEXTS; i++)
		all[i] = i + 1;
	rt_scope_init(&s, rt_alloc_libc());
	must(f->store->ops->begin(f->store, &err), &err);
	rt_vectors_purge(f->store, f->engine->project, &s, gone, 3);
	must(f->store->ops->commit(f->store, &err), &err);
	assert_int_equal(find(f, "m", f->vectors[3], TEXTS, found, &is_all), 597);
	for (size_t i = 0; i < 597; i++)
		assert_true(found[i] != 1 && found[i] != 4 && found[i] != 300);
	add(f, "m", 601);
	assert_int_equal(find(f, "m", f->vectors[600], TEXTS, found, &is_all), 598);
	assert_int_equal(found[0], 601);
	/* Nothing of them is left. */
	must(f->store->ops->begin(f->store, &err), &err);
	rt_vectors_purge(f->store, f->engine->project, &s, all, TEXTS);
	must(f->store->ops->commit(f->store, &err), &err);
	assert_int_equal(rows_of(f).sum, 0);
	assert_true(rows_of(f).count > 0);
	must(f->store->ops->begin(f->store, &err), &err);
	rt_vectors_drop(f->store, f->engine->project, &s);
	must(f->store->ops->commit(f->store, &err), &err);
	assert_int_equal(rows_of(f).count, 0);
	must(rt_scope_end(&s, &err), &err);
}

/* A row that is missing (of the signs of 44 passages, of the bytes of 16) hides its passages and does not disturb others. */
static void
test_missing_rows(void **state)
{
	static const char *const names[] = {RT_VECTORS_PREFIX ".s00000000001", RT_VECTORS_PREFIX ".b00000000000"};
	fixture *f = *state;
	rt_error err = {0};
	uint64_t found[TEXTS];
	bool is_all;

	add(f, "m", 300);
	for (size_t i = 0; i < 2; i++)
		must(f->store->ops->write(f->store,
					  rt_rows_named(RT_STORE_SIDE, f->engine->project, rt_str_of(names[i])),
					  RT_STR(""), &err), &err);
	assert_int_equal(find(f, "m", f->vectors[19], TEXTS, found, &is_all), 240);
	assert_int_equal(found[0], 20);
	add(f, "m", 310);
	assert_int_equal(find(f, "m", f->vectors[309], TEXTS, found, &is_all), 250);
	assert_int_equal(found[0], 310);
}

static void
test_out_of_memory(void **state)
{
	fixture *f = *state;
	rt_vectors_state after;
	rt_status st = RT_NOMEM;
	size_t count = 0;

	add(f, "m", 300);
	after = state_of(f, "m");
	for (long n = 0; st != RT_OK; n++) {
		failing failure = {.left = n};
		rt_alloc alloc = {failing_resize, failing_release, &failure};
		rt_error err = {0};

		f->engine->alloc = &alloc;
		st = add_after(f, "m", &after, 310, &err);
		f->engine->alloc = rt_alloc_libc();
		assert_true(st == RT_OK || st == RT_NOMEM);
		assert_int_equal(atomic_load(&failure.live), 0);
		assert_int_equal(state_of(f, "m").count, st == RT_OK ? 310 : 300);
	}
	st = RT_NOMEM;
	for (long n = 0; st != RT_OK; n++) {
		failing failure = {.left = n};
		rt_alloc alloc = {failing_resize, failing_release, &failure};
		rt_scope s;

		rt_scope_init(&s, &alloc);
		count = rt_vectors_find(f->engine, &s, RT_STR("m"), f->vectors[0], DIMENSIONS, 50).count;
		st = rt_scope_end(&s, NULL);
		assert_true(st == RT_OK || (st == RT_NOMEM && count == 0));
		assert_int_equal(atomic_load(&failure.live), 0);
	}
	assert_int_equal(count, 50);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_like_a_plain_comparison, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other_models, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_conflicts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_purge, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_missing_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_out_of_memory, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
