/* SPDX-License-Identifier: MIT
 *
 * Commits that go wrong halfway: what was acknowledged is there, what was not is said. */
#include "engine/engine_testing.h"
#include "store/store_memory.h"

static const rt_store_ops *whole;
static rt_store_ops broken;
static bool bodies_are_damaged, scrub_is_refused;
static int scrubs, commits_refused;

static rt_status
body_read(rt_store *store, uint64_t project, uint64_t number, rt_buf *out, uint64_t *out_entry,
	  rt_error *err)
{
	if (bodies_are_damaged)
		return rt_fail(err, RT_CORRUPT, "not what was written");
	return whole->body_read(store, project, number, out, out_entry, err);
}

static rt_status
scrub(rt_store *store, rt_error *err)
{
	scrubs++;
	if (scrub_is_refused)
		return rt_fail(err, RT_BUSY, "somebody reads");
	return whole->scrub(store, err);
}

static rt_status
commit(rt_store *store, rt_error *err)
{
	if (commits_refused == 0)
		return whole->commit(store, err);
	commits_refused--;
	whole->cancel(store);
	return rt_fail(err, RT_BUSY, "not now");
}

/* How many bytes of the log were read. */
static size_t log_bytes;

typedef struct log_ear {
	rt_log_fn fn;
	void *ctx;
} log_ear;

static bool
hear_row(void *ctx, const rt_log_row *row)
{
	log_ear *ear = ctx;

	log_bytes += row->data.size;
	return ear->fn(ear->ctx, row);
}

static rt_status
log_read(rt_store *store, uint64_t project, uint64_t first, uint64_t last, rt_log_fn fn, void *ctx,
	 rt_error *err)
{
	log_ear ear = {fn, ctx};

	return whole->log_read(store, project, first, last, hear_row, &ear, err);
}

typedef struct fixture {
	rt_store *store;
	rt_engine *engine;
} fixture;

static void
open_engine(fixture *f)
{
	rt_engine_options options = {.env = &env, .create = true};

	assert_int_equal(rt_engine_open(&options, f->store, &f->engine, NULL), RT_OK);
}

static int
set_up(void **state)
{
	fixture *f = test_calloc(1, sizeof(*f));

	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &f->store, NULL), RT_OK);
	whole = f->store->ops;
	broken = *whole;
	broken.body_read = body_read;
	broken.scrub = scrub;
	broken.commit = commit;
	broken.log_read = log_read;
	f->store->ops = &broken;
	bodies_are_damaged = scrub_is_refused = false;
	scrubs = commits_refused = 0;
	open_engine(f);
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

/* Carry them out in one round. */
static void
apply(fixture *f, const char *const *lines, size_t count, rt_result *results)
{
	rt_json_doc *docs[8];
	yyjson_val *requests[8];
	size_t i;

	for (i = 0; i < count; i++) {
		assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(lines[i]), &docs[i], NULL),
				 RT_OK);
		requests[i] = rt_json_root(docs[i]);
	}
	(void)rt_engine_apply(f->engine, requests, count, false, rt_str_at(NULL, 0),
			      rt_str_at(NULL, 0), results);
	for (i = 0; i < count; i++)
		rt_json_free(docs[i]);
}

static uint64_t
log_head(fixture *f)
{
	uint64_t head;

	assert_int_equal(whole->log_head(f->store, rt_engine_project_number(f->engine), &head, NULL),
			 RT_OK);
	return head;
}

static void
free_results(rt_result *results, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		rt_result_deinit(&results[i]);
}

/* A damaged text fails the request that needs it, and no other. */
static void
damage_fails_one(void **state)
{
	static const char *const first[] = {"{\"op\":\"entry.append\",\"content\":\"one\"}"};
	static const char *const lines[] = {"{\"op\":\"entry.split\",\"entry\":\":1\",\"at\":1}",
					    "{\"op\":\"entry.append\",\"content\":\"two\"}"};
	fixture *f = *state;
	rt_result results[2];

	apply(f, first, 1, results);
	free_results(results, 1);
	bodies_are_damaged = true;
	apply(f, lines, 2, results);
	assert_int_equal(results[0].status, RT_CORRUPT);
	assert_int_equal(results[1].status, RT_OK);
	assert_int_equal(results[1].seq, 2);
	assert_int_equal(log_head(f), 2);
	free_results(results, 2);
}

static size_t findings;

static bool
count_finding(void *ctx, const rt_finding *finding)
{
	(void)ctx;
	if (rt_str_is(rt_str_of(finding->id), "purge-unfinished"))
		findings++;
	return true;
}

static size_t
unfinished(fixture *f)
{
	findings = 0;
	assert_int_equal(rt_engine_fsck(f->engine, count_finding, NULL, NULL), RT_OK);
	return findings;
}

/* Bytes that could not be wiped are the purge's failure alone, and are not forgotten. */
static void
wiping_is_not_forgotten(void **state)
{
	static const char *const lines[] = {
		"{\"op\":\"entry.append\",\"content\":\"secret\"}",
		"{\"op\":\"purge\",\"text\":\"secret\"}",
		"{\"op\":\"entry.append\",\"content\":\"more\"}"};
	fixture *f = *state;
	rt_result results[3];

	scrub_is_refused = true;
	apply(f, lines, 3, results);
	assert_int_equal(results[0].status, RT_OK);
	assert_int_equal(results[1].status, RT_BUSY);
	assert_int_equal(results[2].status, RT_OK);
	assert_int_equal(log_head(f), 3);
	free_results(results, 3);
	assert_int_equal(unfinished(f), 1);

	/* the purge again finds nothing more to blank, but wipes */
	scrubs = 0;
	scrub_is_refused = false;
	apply(f, &lines[1], 1, results);
	assert_int_equal(results[0].status, RT_OK);
	assert_int_equal(scrubs, 1);
	free_results(results, 1);
	assert_int_equal(unfinished(f), 0);
	apply(f, &lines[1], 1, results);
	assert_int_equal(scrubs, 1);
	free_results(results, 1);
}

/* As if the process had ended before it could wipe. */
static void
wiping_goes_on_in_the_next_process(void **state)
{
	static const char *const lines[] = {
		"{\"op\":\"entry.append\",\"content\":\"secret\"}",
		"{\"op\":\"purge\",\"text\":\"secret\"}"};
	static const char *const other[] = {"{\"op\":\"entry.append\",\"content\":\"other\"}"};
	fixture *f = *state;
	rt_result results[2];

	scrub_is_refused = true;
	apply(f, lines, 2, results);
	free_results(results, 2);
	rt_engine_close(f->engine);
	open_engine(f);
	scrub_is_refused = false;
	scrubs = 0;
	apply(f, other, 1, results);
	assert_int_equal(results[0].status, RT_OK);
	free_results(results, 1);
	assert_int_equal(scrubs, 1);
	assert_int_equal(unfinished(f), 0);
	apply(f, other, 1, results);
	free_results(results, 1);
	assert_int_equal(scrubs, 1);
}

/* A row of many moves is read once, not once for each of them. */
static void
redo_of_many_is_linear(void **state)
{
	static const char *const line[] = {"{\"op\":\"entry.append\",\"content\":\"x\"}"};
	static const char *const undo[] = {"{\"op\":\"undo\",\"count\":400}"};
	static const char *const redo[] = {"{\"op\":\"redo\",\"count\":400}"};
	enum { STEPS = 400, ROW = 400 /* bytes of a row of one append, at most */ };
	fixture *f = *state;
	rt_engine *other;
	rt_result result;
	int i;

	for (i = 0; i < STEPS; i++) {
		apply(f, line, 1, &result);
		free_results(&result, 1);
	}
	apply(f, undo, 1, &result);
	assert_int_equal(result.steps, STEPS);
	free_results(&result, 1);
	log_bytes = 0;
	apply(f, redo, 1, &result);
	assert_int_equal(result.steps, STEPS);
	free_results(&result, 1);
	assert_in_range(log_bytes, 1, 2 * STEPS * ROW);

	/* and so is reading that row again, as another process would */
	log_bytes = 0;
	other = f->engine;
	open_engine(f);
	rt_engine_close(other);
	assert_in_range(log_bytes, 1, 4 * STEPS * ROW);
}

/* The epoch is that of the value: another history that was seen in a round that came to
 * nothing is still news to the next one. */
static void
epoch_is_of_the_value(void **state)
{
	static const char *const add[] = {"{\"op\":\"entry.append\",\"content\":\"one\"}"};
	fixture *f = *state;
	rt_engine_options options = {.env = &env};
	rt_engine *other = NULL;
	rt_result result;
	uint64_t before, after;

	apply(f, add, 1, &result);
	free_results(&result, 1);
	assert_int_equal(whole->epoch(f->store, &before, NULL), RT_OK);
	assert_int_equal(rt_engine_epoch(f->engine), before);
	assert_int_equal(rt_engine_open(&options, f->store, &other, NULL), RT_OK);
	assert_int_equal(rt_engine_rebuild(other, NULL), RT_OK);
	assert_int_equal(whole->epoch(f->store, &after, NULL), RT_OK);
	assert_int_not_equal(before, after);
	assert_int_equal(rt_engine_epoch(other), after);
	commits_refused = 1;
	apply(f, add, 1, &result);
	assert_int_equal(result.status, RT_BUSY);
	free_results(&result, 1);
	assert_int_equal(rt_engine_epoch(f->engine), before);
	assert_int_equal(rt_engine_refresh(f->engine, NULL), RT_OK);
	assert_int_equal(rt_engine_epoch(f->engine), after);
	rt_engine_close(other);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(damage_fails_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(epoch_is_of_the_value, set_up, tear_down),
		cmocka_unit_test_setup_teardown(redo_of_many_is_linear, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wiping_is_not_forgotten, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wiping_goes_on_in_the_next_process, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
