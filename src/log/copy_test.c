/* SPDX-License-Identifier: MIT
 *
 * Copies: complete, continued, of a source that changes, and after a purge. */
#include "log/copy.h"

#include <string.h>

#include "base/failing_testing.h"
#include "log/bare_testing.h"
#include "log/engine_impl.h"
#include "log/fsck.h"
#include "store/store_memory.h"

typedef struct fixture {
	bare *source;
	rt_store *to;
	rt_copied out;
	rt_error error;
	/* for the progress callback: */
	size_t calls, stop_at; /* 0: never */
	const char *change;    /* request to the source in the first call; or NULL */
} fixture;

static int
set_up(void **state)
{
	fixture *f = test_calloc(1, sizeof(*f));
	rt_store *store;

	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &store, NULL), RT_OK);
	(void)bare_set_up((void **)&f->source, store);
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &f->to, NULL), RT_OK);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture *f = *state;

	f->to->ops->close(f->to);
	(void)bare_tear_down((void **)&f->source);
	test_free(f);
	return 0;
}

static bool
on_progress(void *ctx, const rt_copied *so_far)
{
	fixture *f = ctx;

	(void)so_far;
	f->calls++;
	if (f->change != NULL)
		bare_apply(f->source, f->change);
	f->change = NULL;
	return f->calls != f->stop_at;
}

static rt_status
copy_with(fixture *f, const rt_alloc *alloc)
{
	rt_copy_options options = {
		.alloc = alloc, .project = RT_STR("default"), .progress = on_progress, .ctx = f};

	return rt_store_copy(f->source->store, f->to, &options, &f->out, &f->error);
}

static void
copy_all(fixture *f)
{
	if (copy_with(f, NULL) != RT_OK)
		fail_msg("%s", f->error.text);
	assert_int_equal(f->out.seq, f->out.source_seq);
}

static bool
fail_on_finding(void *ctx, const rt_finding *finding)
{
	(void)ctx;
	fail_msg("%s: %s", finding->id, finding->text);
	return false;
}

/* The copy as a project: sound, and at this row. */
static void
check_copy(fixture *f, uint64_t seq)
{
	rt_engine_options options = {.env = &env};
	rt_engine *engine;

	if (rt_engine_open(&options, f->to, &engine, &f->error) != RT_OK)
		fail_msg("%s", f->error.text);
	const rt_project *value = rt_engine_value(engine);
	assert_int_equal(value->seq, seq);
	rt_object_unref(value);
	assert_int_equal(rt_engine_fsck(engine, fail_on_finding, NULL, NULL), RT_OK);
	rt_engine_close(engine);
}

/* Every table of rows, in one buffer; without what describes the store itself. */
static bool
dump_row(void *ctx, const rt_store_row *row)
{
	rt_buf *out = ctx;

	if (rt_str_is(row->name, RT_HEAD_MARK) || rt_str_starts(row->name, RT_STR(RT_BROWSER_PREFIX)) ||
	    rt_str_starts(row->name, RT_STR(RT_INFLIGHT_PREFIX)))
		return true;
	rt_buf_add_f(out, "%llu %llu %lld ", (unsigned long long)row->number,
		     (unsigned long long)row->entry, (long long)row->at_us);
	rt_buf_add(out, row->step, sizeof(row->step));
	rt_buf_add_str(out, row->name);
	rt_buf_add_str(out, row->data);
	return true;
}

static void
dump(rt_store *store, rt_buf *out)
{
	static const rt_store_table tables[] = {RT_STORE_LOG, RT_STORE_BODIES, RT_STORE_SIDE};

	rt_buf_init(out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(store->ops->read(store, rt_rows_all(tables[i], 1), dump_row, out, NULL),
				 RT_OK);
	assert_int_equal(out->status, RT_OK);
}

static void
check_equal(fixture *f)
{
	rt_buf ours, theirs;

	dump(f->source->store, &ours);
	dump(f->to, &theirs);
	assert_true(rt_str_eq(rt_buf_str(&ours), rt_buf_str(&theirs)));
	rt_buf_deinit(&ours);
	rt_buf_deinit(&theirs);
}

static void
write_side(rt_store *store, const char *name, const char *data)
{
	assert_int_equal(store->ops->write(store, rt_rows_named(RT_STORE_SIDE, 1, rt_str_of(name)),
					   rt_str_of(data), NULL),
			 RT_OK);
}

/* Entries with an edit, an undo and a branch; n: how many. */
static void
fill(fixture *f, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		bare_apply(f->source, "{\"op\":\"entry.append\",\"content\":\"one of many\"}");
	bare_add(f->source, "first", "User", "the first secret");
	bare_apply(f->source, "{\"op\":\"entry.edit\",\"entry\":\"first\",\"content\":\"changed\"}");
	bare_apply(f->source, "{\"op\":\"take.branch\",\"at\":\"first\",\"name\":\"other\"}");
	bare_apply(f->source, "{\"op\":\"undo\"}");
}

/* ---- the tests ---- */

static void
everything_is_copied_once(void **state)
{
	fixture *f = *state;

	fill(f, 10);
	write_side(f->source->store, "last", "request");
	write_side(f->source->store, RT_BROWSER_PREFIX "0", "signed in"); /* not in the copy */
	copy_all(f);
	assert_int_equal(f->out.rows, 14);
	assert_int_equal(f->out.bodies, 12);
	assert_int_equal(f->out.side_rows, 1);
	assert_int_equal(f->out.compared, 26);
	check_equal(f);
	check_copy(f, 14);
	copy_all(f);
	assert_int_equal(f->out.rows + f->out.bodies + f->out.side_rows + f->out.purged, 0);
	assert_int_equal(f->out.compared, 26);
}

static void
an_interrupted_copy_is_an_earlier_state_and_continues(void **state)
{
	fixture *f = *state;

	fill(f, 2500);
	f->stop_at = 1;
	assert_int_equal(copy_with(f, NULL), RT_INTERRUPTED);
	assert_int_equal(f->out.rows, 1024);
	check_copy(f, 1024);
	f->stop_at = 0;
	copy_all(f);
	assert_int_equal(f->out.rows, 2504 - 1024);
	check_equal(f);
	check_copy(f, 2504);
}

static void
additions_are_copied(void **state)
{
	fixture *f = *state;

	fill(f, 3);
	write_side(f->source->store, "old", "goes");
	copy_all(f);
	bare_add(f->source, "new", "User", "added");
	write_side(f->source->store, "other", "comes");
	copy_all(f);
	assert_int_equal(f->out.rows, 1);
	assert_int_equal(f->out.side_rows, 1);
	check_equal(f);
	check_copy(f, 8);
}

static bool
has_side(rt_store *store, const char *name)
{
	return rt_store_get(store, rt_rows_named(RT_STORE_SIDE, 1, rt_str_of(name)), NULL, NULL, NULL) ==
	       RT_OK;
}

/* Each reply in flight stays with the store whose program receives it. */
static void
replies_in_flight_are_not_copied(void **state)
{
	fixture *f = *state;

	fill(f, 3);
	write_side(f->source->store, RT_INFLIGHT_PREFIX "1", "here");
	copy_all(f);
	assert_false(has_side(f->to, RT_INFLIGHT_PREFIX "1"));
	write_side(f->to, RT_INFLIGHT_PREFIX "2", "there");
	copy_all(f);
	assert_true(has_side(f->to, RT_INFLIGHT_PREFIX "2"));
	check_equal(f);
}

static void
changes_during_the_copy_are_copied(void **state)
{
	fixture *f = *state;

	fill(f, 1500);
	f->change = "{\"op\":\"entry.append\",\"content\":\"meanwhile\"}";
	copy_all(f);
	assert_null(f->change);
	assert_int_equal(f->out.seq, 1505);
	check_equal(f);
	check_copy(f, 1505);
}

static void
a_purged_text_leaves_the_copy(void **state)
{
	fixture *f = *state;
	rt_buf bytes;
	uint64_t epoch, epoch_now;

	fill(f, 3);
	copy_all(f);
	assert_int_equal(f->to->ops->epoch(f->to, &epoch, NULL), RT_OK);
	bare_apply(f->source, "{\"op\":\"purge\",\"text\":\"secret\"}");
	copy_all(f);
	assert_true(f->out.purged > 0);
	dump(f->to, &bytes);
	assert_int_equal(rt_str_find(rt_buf_str(&bytes), RT_STR("secret"), 0), SIZE_MAX);
	rt_buf_deinit(&bytes);
	check_equal(f);
	assert_int_equal(f->to->ops->epoch(f->to, &epoch_now, NULL), RT_OK);
	assert_true(epoch != epoch_now);
}

/* A text that repair gave up in the source is still intact in the copy. */
static void
a_damaged_text_does_not_replace_the_copy(void **state)
{
	static const char hole[] = {RT_BODY_PURGED, 'l', 'o', 's', 't'};
	fixture *f = *state;
	rt_store *from = f->source->store;
	rt_buf bytes;

	fill(f, 3);
	copy_all(f);
	assert_int_equal(from->ops->begin(from, NULL), RT_OK);
	assert_int_equal(from->ops->write(from, rt_rows_one(RT_STORE_BODIES, 1, 4), rt_str_at(hole, 5), NULL),
			 RT_OK);
	assert_int_equal(from->ops->commit(from, NULL), RT_OK);
	copy_all(f);
	assert_int_equal(f->out.lost, 1);
	assert_int_equal(f->out.purged, 0);
	dump(f->to, &bytes);
	assert_int_not_equal(rt_str_find(rt_buf_str(&bytes), RT_STR("secret"), 0), SIZE_MAX);
	rt_buf_deinit(&bytes);
}

/* Neither the checkpoint nor an interruption keeps a purged text, or programs in the old history. */
static void
an_interrupted_copy_of_a_purge_is_completed(void **state)
{
	fixture *f = *state;

	fill(f, 300);
	bare_apply(f->source, "{\"op\":\"discussion.new\",\"name\":\"the secret one\"}");
	copy_all(f);
	check_copy(f, 305); /* writes a checkpoint */
	bare_apply(f->source, "{\"op\":\"purge\",\"text\":\"secret\"}");
	f->stop_at = f->calls + 3; /* right after the first overwritten rows */
	assert_int_equal(copy_with(f, NULL), RT_INTERRUPTED);
	assert_false(has_side(f->to, RT_SCRUB_MARK));
	f->stop_at = 0;
	copy_all(f);
	assert_false(has_side(f->to, RT_SCRUB_MARK));
	check_equal(f);
	check_copy(f, 306);
}

static void
side_rows_of_the_copy_stay(void **state)
{
	fixture *f = *state;

	fill(f, 3);
	copy_all(f);
	write_side(f->to, RT_WRITTEN_PREFIX "a", "session");
	write_side(f->to, "sent/1", "request");
	copy_all(f);
	assert_true(has_side(f->to, RT_WRITTEN_PREFIX "a"));
	assert_true(has_side(f->to, "sent/1"));
	bare_apply(f->source, "{\"op\":\"purge\",\"text\":\"secret\"}");
	copy_all(f);
	assert_true(has_side(f->to, RT_WRITTEN_PREFIX "a"));
	assert_false(has_side(f->to, "sent/1")); /* it may contain the text */
}

static void
a_purge_during_the_comparison_is_noticed(void **state)
{
	fixture *f = *state;

	fill(f, 1500);
	copy_all(f);
	f->change = "{\"op\":\"purge\",\"text\":\"secret\"}";
	copy_all(f);
	assert_true(f->out.purged > 0);
	check_equal(f);
}

static void
other_steps_are_not_overwritten(void **state)
{
	fixture *f = *state;
	rt_engine_options options = {.env = &env};
	rt_engine *engine;
	rt_result result;
	rt_buf before, after;

	fill(f, 3);
	copy_all(f);
	assert_int_equal(rt_engine_open(&options, f->to, &engine, NULL), RT_OK);
	assert_int_equal(rt_engine_apply_text(engine, RT_STR("{\"op\":\"entry.append\",\"content\":\"x\"}"),
					      RT_STR(""), RT_STR(""), &result),
			 RT_OK);
	rt_result_deinit(&result);
	rt_engine_close(engine);
	dump(f->to, &before);
	assert_int_equal(copy_with(f, NULL), RT_REFUSED); /* longer than the source */
	bare_add(f->source, "new", "User", "another");
	assert_int_equal(copy_with(f, NULL), RT_REFUSED); /* as long as the source */
	bare_add(f->source, "newer", "User", "another");
	assert_int_equal(copy_with(f, NULL), RT_REFUSED);
	dump(f->to, &after);
	assert_true(rt_str_eq(rt_buf_str(&before), rt_buf_str(&after)));
	rt_buf_deinit(&before);
	rt_buf_deinit(&after);
}

static void
a_project_that_does_not_exist(void **state)
{
	fixture *f = *state;
	rt_copy_options options = {.project = RT_STR("none")};

	assert_int_equal(rt_store_copy(f->source->store, f->to, &options, &f->out, &f->error),
			 RT_NOT_FOUND);
	assert_int_equal(rt_store_get(f->to, rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR("none")), NULL,
				      NULL, NULL),
			 RT_NOT_FOUND);
}

/* Whichever allocation fails: an error, and the next copy completes. */
static void
out_of_memory(void **state)
{
	fixture *f = *state;
	rt_status st = RT_NOMEM;

	fill(f, 3);
	for (long n = 0; st != RT_OK; n++) {
		failing failure = {.left = n};
		rt_alloc alloc = {failing_resize, failing_release, &failure};

		st = copy_with(f, &alloc);
		assert_true(st == RT_OK || st == RT_NOMEM);
		assert_int_equal(atomic_load(&failure.live), 0);
	}
	check_equal(f);
	check_copy(f, 7);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(everything_is_copied_once),
		TEST(an_interrupted_copy_is_an_earlier_state_and_continues),
		TEST(additions_are_copied),
		TEST(replies_in_flight_are_not_copied),
		TEST(changes_during_the_copy_are_copied),
		TEST(a_purged_text_leaves_the_copy),
		TEST(a_damaged_text_does_not_replace_the_copy),
		TEST(an_interrupted_copy_of_a_purge_is_completed),
		TEST(side_rows_of_the_copy_stay),
		TEST(a_purge_during_the_comparison_is_noticed),
		TEST(other_steps_are_not_overwritten),
		TEST(a_project_that_does_not_exist),
		TEST(out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
