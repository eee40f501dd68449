/* SPDX-License-Identifier: MIT
 *
 * Commits that fail halfway: acknowledged changes exist, and failures are reported. */
#include "log/engine_testing.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "log/checkpoint.h"
#include "log/fsck.h"
#include "log/identity.h"
#include "ops/action.h"
#include "log/engine_impl.h"
#include "store/store_memory.h"
#include "view/view.h"

static const rt_store_ops *whole;
static rt_store_ops broken;
static bool bodies_are_damaged, scrub_is_refused;
static int scrubs, commits_refused, roots_read;
static bool nodes_are_gone;
static int body_writes_left; /* after these, one is refused as damaged; negative: no limit */

static rt_status
scrub(rt_store *store, rt_error *err)
{
	scrubs++;
	if (scrub_is_refused)
		return rt_fail(err, RT_BUSY, "somebody reads");
	return whole->scrub(store, err);
}

/* Where set: a commit waits until `awaited` requests are in the engine's queue; those with changes of
 * bob are refused, as by a database. */
static rt_engine *crowded;
static size_t awaited;
static int refused_for_several;

static void
wait_for_crowd(void)
{
	for (size_t count = 0; count < awaited;) {
		pthread_mutex_lock(&crowded->queue_lock);
		count = 0;
		for (const rt_ticket *t = crowded->queue_first; t != NULL; t = t->next)
			count++;
		pthread_mutex_unlock(&crowded->queue_lock);
		(void)sched_yield();
	}
	awaited = 0;
}

static rt_status
commit(rt_store *store, rt_error *err)
{
	if (crowded != NULL) {
		wait_for_crowd();
		if (rt_str_find(rt_store_identity(), RT_STR("bob"), 0) != SIZE_MAX) {
			refused_for_several += rt_str_find(rt_store_identity(), RT_STR(" "), 0) != SIZE_MAX;
			whole->cancel(store);
			return rt_fail(err, RT_REFUSED, "bob may not");
		}
	}
	if (commits_refused == 0)
		return whole->commit(store, err);
	commits_refused--;
	whole->cancel(store);
	return rt_fail(err, RT_BUSY, "not now");
}

/* How many bytes of the log were read. */
static size_t log_bytes;

typedef struct log_ear {
	rt_store_row_fn fn;
	void *ctx;
} log_ear;

static bool
hear_row(void *ctx, const rt_store_row *row)
{
	log_ear *ear = ctx;

	log_bytes += row->data.size;
	return ear->fn(ear->ctx, row);
}

static rt_status
broken_read(rt_store *store, rt_rows rows, rt_store_row_fn fn, void *ctx, rt_error *err)
{
	log_ear ear = {fn, ctx};

	if (rows.table == RT_STORE_BODIES && rows.numbers == NULL && bodies_are_damaged)
		return rt_fail(err, RT_CORRUPT, "not what was written");
	if (rows.table == RT_STORE_NODES && rows.numbers == NULL && nodes_are_gone)
		return RT_OK;
	roots_read += rows.table == RT_STORE_ROOT;
	if (rows.table == RT_STORE_LOG)
		return whole->read(store, rows, hear_row, &ear, err);
	return whole->read(store, rows, fn, ctx, err);
}

static rt_status
broken_write(rt_store *store, rt_rows row, rt_str data, rt_error *err)
{
	if (row.table == RT_STORE_BODIES && body_writes_left >= 0 && body_writes_left-- == 0)
		return rt_fail(err, RT_CORRUPT, "not what was written");
	return whole->write(store, row, data, err);
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
	broken.read = broken_read;
	broken.write = broken_write;
	broken.scrub = scrub;
	broken.commit = commit;
	f->store->ops = &broken;
	bodies_are_damaged = scrub_is_refused = false;
	scrubs = commits_refused = roots_read = 0;
	nodes_are_gone = false;
	body_writes_left = -1;
	crowded = NULL;
	refused_for_several = 0;
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

/* Executes them in one round. */
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
	(void)rt_engine_apply_json(f->engine, requests, count, false, rt_str_at(NULL, 0),
			      rt_str_at(NULL, 0), results);
	for (i = 0; i < count; i++)
		rt_json_free(docs[i]);
}

static uint64_t
log_head(fixture *f)
{
	uint64_t head;

	assert_int_equal(whole->head(f->store, RT_STORE_LOG, rt_engine_project_number(f->engine),
				     &head, NULL),
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

/* A purge that fails halfway changes nothing, and neither do requests in the same transaction. */
static void
half_a_purge_is_none(void **state)
{
	static const char *const first[] = {"{\"op\":\"entry.append\",\"content\":\"secret one\"}",
					    "{\"op\":\"entry.append\",\"content\":\"secret two\"}"};
	static const char *const lines[] = {"{\"op\":\"entry.append\",\"content\":\"three\"}",
					    "{\"op\":\"purge\",\"text\":\"secret\"}"};
	fixture *f = *state;
	rt_result results[2];
	rt_buf bytes;

	apply(f, first, 2, results);
	free_results(results, 2);
	body_writes_left = 1;
	apply(f, lines, 2, results);
	assert_int_equal(results[0].status, RT_CORRUPT);
	assert_int_equal(results[1].status, RT_CORRUPT);
	assert_int_equal(log_head(f), 2);
	free_results(results, 2);
	rt_buf_init(&bytes, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_store_get(f->store,
				      rt_rows_one(RT_STORE_BODIES,
						  rt_engine_project_number(f->engine), 1),
				      &bytes, NULL, NULL),
			 RT_OK);
	assert_true(rt_str_is(rt_buf_str(&bytes), "Tsecret one"));
	rt_buf_deinit(&bytes);
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

/* Bytes that could not be overwritten fail the purge only, and are not forgotten. */
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

	/* the purge again finds nothing more to blank, but scrubs */
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

/* As if the process had ended before it could scrub. */
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

	/* another process reads that row in O(steps), too */
	log_bytes = 0;
	other = f->engine;
	open_engine(f);
	rt_engine_close(other);
	assert_in_range(log_bytes, 1, 4 * STEPS * ROW);
}

/* The epoch belongs to the value: if a failed round noticed another history, the next round must
 * still load it. */
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

/* Another process has removed nodes that the value refers to, without writing rows: the value is
 * loaded again, once, and is readable. */
static void
refresh_after_a_sweep(void **state)
{
	static const char *const add[] = {"{\"op\":\"entry.append\",\"content\":\"one\"}"};
	fixture *f = *state;
	const rt_project *value;
	rt_result result;
	rt_error err = {0};
	rt_buf buf;
	int i, before;

	for (i = 0; i < 200; i++) {
		apply(f, add, 1, &result);
		free_results(&result, 1);
	}
	assert_int_equal(rt_engine_checkpoint(f->engine, NULL), RT_OK);
	rt_engine_close(f->engine);
	open_engine(f); /* from the checkpoint: nothing of it is in memory yet */
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_engine_refresh(f->engine, NULL), RT_OK);
	before = roots_read;
	nodes_are_gone = true;
	value = rt_engine_value(f->engine);
	assert_int_equal(rt_view_show(f->engine, value, (rt_place){0, 0}, &(rt_window){0, 0, {0}},
				      &buf, &err), RT_CORRUPT);
	rt_object_unref(value);
	nodes_are_gone = false; /* the new checkpoint has them all */
	assert_int_equal(roots_read, before);
	assert_int_equal(rt_engine_refresh(f->engine, NULL), RT_OK);
	assert_int_equal(roots_read, before + 1);
	rt_buf_clear(&buf);
	value = rt_engine_value(f->engine);
	assert_int_equal(rt_view_show(f->engine, value, (rt_place){0, 0}, &(rt_window){0, 0, {0}},
				      &buf, &err), RT_OK);
	rt_object_unref(value);
	assert_int_equal(rt_engine_refresh(f->engine, NULL), RT_OK);
	assert_int_equal(roots_read, before + 1);
	rt_buf_deinit(&buf);
}

/* ---- requesters, and side rows of the caller ---- */

/* Checks that the history, newest row first, names these requesters. */
static void
assert_by(rt_engine *engine, uint64_t seq, const char *by)
{
	rt_arena *arena = rt_arena_new(rt_alloc_libc());
	rt_record record;

	assert_int_equal(rt_engine_record(engine, seq, arena, &record, NULL, NULL), RT_OK);
	if (!rt_str_is(record.by, by))
		fail_msg("row %llu is by %.*s, not %s", (unsigned long long)seq,
			 RT_STR_ARG(record.by), by);
	rt_arena_free(arena);
}

static rt_status
act(fixture *f, const rt_apply_context *with, const char *lines, bool atomic, rt_result *results)
{
	rt_json_doc *doc = NULL;
	yyjson_val *requests[8], *item;
	size_t i, max, count = 0;
	rt_status st;

	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(lines), &doc, NULL), RT_OK);
	yyjson_arr_foreach(rt_json_root(doc), i, max, item)
		requests[count++] = item;
	st = rt_apply_json(f->engine, with, requests, count, atomic, RT_STR(""), RT_STR(""),
			   results);
	rt_json_free(doc);
	for (i = 0; i < count; i++)
		rt_result_deinit(&results[i]);
	return st;
}

#define ADD "{\"op\":\"entry.append\",\"content\":\"one\"}"

/* When a step fails, exactly one of its requests is reported as the cause. */
static void
one_request_is_the_cause(void **state)
{
	static const char bad[] = "{\"op\":\"entry.delete\",\"entry\":\":9\"}";
	fixture *f = *state;
	rt_result results[8];
	char lines[400];

	snprintf(lines, sizeof(lines), "[%s,%s,%s]", ADD, bad, ADD);
	assert_int_equal(act(f, NULL, lines, true, results), RT_NOT_FOUND);
	assert_int_equal(rt_results_cause(results, 3), 1);
	assert_true(results[0].is_consequence && results[2].is_consequence);
	assert_int_equal(act(f, NULL, lines, false, results), RT_NOT_FOUND);
	assert_int_equal(rt_results_cause(results, 3), 1);
	assert_false(results[0].is_consequence || results[2].is_consequence);
}

/* Every kind of row names the requester. */
static void
rows_say_who_asked(void **state)
{
	fixture *f = *state;
	rt_apply_context web = {.by = RT_STR("web")}, nobody = {.hooks = NULL};
	rt_result results[8];

	assert_int_equal(act(f, &web, "[" ADD "," ADD "]", false, results), RT_OK);
	assert_int_equal(act(f, &web, "[" ADD "," ADD "]", true, results), RT_OK);
	assert_int_equal(act(f, &web, "[{\"op\":\"undo\"}]", false, results), RT_OK);
	assert_int_equal(act(f, &web, "[{\"op\":\"entry.view\",\"entry\":\":1\","
				      "\"collapsed\":true}]", false, results), RT_OK);
	assert_int_equal(act(f, &web, "[{\"op\":\"purge\",\"entry\":\":1\"}]", false, results),
			 RT_OK);
	assert_int_equal(log_head(f), 6);
	assert_by(f->engine, 1, "web");
	assert_by(f->engine, 2, "web");
	assert_by(f->engine, 3, "web");
	assert_by(f->engine, 4, "web");
	assert_by(f->engine, 5, "web");
	assert_by(f->engine, 6, "web");
	assert_int_equal(act(f, &nobody, "[" ADD "]", false, results), RT_OK);
	assert_by(f->engine, 7, "cli");
	assert_int_equal(act(f, NULL, "[" ADD "]", false, results), RT_OK);
	assert_by(f->engine, 8, "cli");
}

typedef struct keeper {
	const char *name;
	rt_status status; /* returned by the keeping function */
	atomic_int calls;
	size_t written;   /* results for which a row was written */
	uint64_t seq;     /* of the last */
} keeper;

static rt_status
keep(void *ctx, rt_store *store, uint64_t project, const rt_project *now,
     const rt_result *results, size_t count, rt_error *err)
{
	keeper *k = ctx;
	char value[24];
	size_t i;
	rt_status st;

	atomic_fetch_add(&k->calls, 1);
	for (i = 0, k->written = 0; i < count; i++)
		if (results[i].status == RT_OK && !results[i].unchanged) {
			k->written++;
			k->seq = results[i].seq;
		}
	assert_true(now->seq == k->seq); /* as they were right after it, not after later requests */
	snprintf(value, sizeof(value), "%llu", (unsigned long long)k->seq);
	st = store->ops->write(store, rt_rows_named(RT_STORE_SIDE, project, rt_str_of(k->name)),
			       rt_str_of(value), err);
	return st == RT_OK && k->status != RT_OK ? rt_fail(err, k->status, "it cannot be kept") : st;
}

/* Does a side row exist, with this content? */
static bool
has_side(fixture *f, const char *name, char *out, size_t size)
{
	rt_buf buf;
	rt_status st;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	st = rt_store_get(
		f->store,
		rt_rows_named(RT_STORE_SIDE, rt_engine_project_number(f->engine), rt_str_of(name)),
		&buf, NULL, NULL);
	assert_true(st == RT_OK || st == RT_NOT_FOUND);
	if (st == RT_OK)
		snprintf(out, size, "%.*s", (int)buf.size, buf.ptr);
	rt_buf_deinit(&buf);
	return st == RT_OK;
}

static void
kept_with_what_is_done(void **state)
{
	fixture *f = *state;
	keeper k = {.name = "kept/a"};
	rt_apply_context with = {.keep = keep, .keep_ctx = &k};
	rt_result results[8];
	char said[24];

	assert_int_equal(act(f, &with, "[" ADD "]", false, results), RT_OK);
	assert_int_equal(k.calls, 1);
	assert_true(has_side(f, "kept/a", said, sizeof(said)));
	assert_string_equal(said, "1");

	/* a request that fails does not affect the others, and nothing is kept for it */
	assert_int_equal(act(f, &with, "[" ADD ",{\"op\":\"entry.mute\",\"entry\":\"none\"}," ADD "]",
			     false, results), RT_NOT_FOUND);
	assert_int_equal(k.calls, 2);
	assert_int_equal(k.written, 2);
	assert_true(has_side(f, "kept/a", said, sizeof(said)));
	assert_string_equal(said, "3");

	/* no row is written: nothing is kept */
	assert_int_equal(act(f, &with, "[{\"op\":\"entry.mute\",\"entry\":\":1\",\"muted\":false}]",
			     false, results), RT_OK);
	assert_true(results[0].unchanged);
	assert_int_equal(act(f, &with, "[{\"op\":\"entry.mute\",\"entry\":\":1\",\"muted\":false}]",
			     true, results), RT_OK);
	assert_true(results[0].unchanged);
	assert_int_equal(act(f, &with, "[" ADD ",{\"op\":\"entry.mute\",\"entry\":\"none\"}]", true,
			     results), RT_NOT_FOUND);
	assert_int_equal(k.calls, 2);
	assert_int_equal(log_head(f), 3);

	assert_int_equal(act(f, &with, "[" ADD "," ADD "]", true, results), RT_OK);
	assert_int_equal(k.calls, 3);
	assert_int_equal(k.seq, 4);
}

static void
not_done_where_it_cannot_be_kept(void **state)
{
	fixture *f = *state;
	keeper k = {.name = "kept/a", .status = RT_FULL};
	rt_apply_context with = {.keep = keep, .keep_ctx = &k};
	rt_result results[8];
	char said[24];
	int atomic;

	for (atomic = 0; atomic < 2; atomic++) {
		assert_int_equal(act(f, &with, "[" ADD "," ADD "]", atomic != 0, results), RT_FULL);
		assert_int_equal(results[0].status, RT_FULL);
		assert_int_equal(results[1].status, RT_FULL);
		assert_string_equal(results[1].error.text, "it cannot be kept");
		assert_int_equal(log_head(f), 0);
		assert_false(has_side(f, "kept/a", said, sizeof(said)));
	}
	/* nor is anything kept if the commit fails afterwards */
	k.status = RT_OK;
	commits_refused = 1;
	assert_int_equal(act(f, &with, "[" ADD "]", false, results), RT_BUSY);
	assert_int_equal(log_head(f), 0);
	assert_false(has_side(f, "kept/a", said, sizeof(said)));
	assert_int_equal(act(f, &with, "[" ADD "]", false, results), RT_OK);
	assert_true(has_side(f, "kept/a", said, sizeof(said)));
}

/* ---- several in one round ---- */

enum { ASKERS = 4, ASKED = 50 };

typedef struct asker {
	fixture *f;
	char name[24];
	uint64_t seqs[ASKED];
	rt_status first; /* the first failure */
} asker;

static void *
ask_on(void *ctx)
{
	asker *a = ctx;
	size_t i;

	for (i = 0; i < ASKED; i++) {
		char side[40];
		keeper k = {.name = side};
		rt_apply_context with = {.by = rt_str_of(a->name), .keep = keep, .keep_ctx = &k};
		rt_json_doc *doc = NULL;
		yyjson_val *request;
		rt_result result;
		rt_status st;

		snprintf(side, sizeof(side), "kept/%s-%zu", a->name, i);
		st = rt_json_read(rt_alloc_libc(), RT_STR(ADD), &doc, NULL);
		request = st == RT_OK ? rt_json_root(doc) : NULL;
		if (st == RT_OK)
			st = rt_apply_json(a->f->engine, &with, &request, 1, false, RT_STR(""),
					   RT_STR(""), &result);
		if (st == RT_OK) {
			a->seqs[i] = result.seq;
			st = atomic_load(&k.calls) == 1 && k.seq == result.seq ? RT_OK : RT_CORRUPT;
			rt_result_deinit(&result);
		}
		if (a->first == RT_OK)
			a->first = st;
		rt_json_free(doc);
	}
	return NULL;
}

/* Rounds are shared; rows and kept side rows are not. */
static void
each_has_its_own(void **state)
{
	fixture *f = *state;
	pthread_t threads[ASKERS];
	asker askers[ASKERS];
	size_t i, k;

	for (i = 0; i < ASKERS; i++) {
		askers[i] = (asker){.f = f};
		snprintf(askers[i].name, sizeof(askers[i].name), "web:%zu", i);
		assert_int_equal(pthread_create(&threads[i], NULL, ask_on, &askers[i]), 0);
	}
	for (i = 0; i < ASKERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(log_head(f), ASKERS * ASKED);
	for (i = 0; i < ASKERS; i++) {
		assert_int_equal(askers[i].first, RT_OK);
		for (k = 0; k < ASKED; k++) {
			char side[64], said[24], seq[24];

			assert_by(f->engine, askers[i].seqs[k], askers[i].name);
			snprintf(side, sizeof(side), "kept/%s-%zu", askers[i].name, k);
			snprintf(seq, sizeof(seq), "%llu", (unsigned long long)askers[i].seqs[k]);
			assert_true(has_side(f, side, said, sizeof(said)));
			assert_string_equal(said, seq);
		}
	}
}

typedef struct sharer {
	rt_engine *engine;
	const char *identity;
	rt_status status;
} sharer;

static void *
append_one(void *ctx)
{
	sharer *a = ctx;
	rt_result result;

	(void)rt_store_set_identity(rt_str_of(a->identity));
	a->status = rt_engine_apply_text(a->engine, RT_STR(ADD), RT_STR(""), RT_STR(""), &result);
	rt_result_deinit(&result);
	return NULL;
}

/* The first leads a round alone; the others share the next one, which the store refuses for bob. */
static void
one_refused_keeps_no_others(void **state)
{
	fixture *f = *state;
	sharer all[] = {{.identity = "zoe"}, {.identity = "ann"}, {.identity = "bob"}, {.identity = "eve"},
			{.identity = "bob"}};
	enum { COUNT = sizeof(all) / sizeof(all[0]) };
	pthread_t threads[COUNT];

	awaited = COUNT - 1;
	crowded = f->engine;
	for (size_t i = 0; i < COUNT; i++) {
		all[i].engine = f->engine;
		assert_int_equal(pthread_create(&threads[i], NULL, append_one, &all[i]), 0);
	}
	for (size_t i = 0; i < COUNT; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (size_t i = 0; i < COUNT; i++)
		assert_int_equal(all[i].status, strcmp(all[i].identity, "bob") == 0 ? RT_REFUSED : RT_OK);
	assert_int_equal(refused_for_several, 1);
	assert_int_equal(log_head(f), 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(damage_fails_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(half_a_purge_is_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(epoch_is_of_the_value, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refresh_after_a_sweep, set_up, tear_down),
		cmocka_unit_test_setup_teardown(redo_of_many_is_linear, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_request_is_the_cause, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rows_say_who_asked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(kept_with_what_is_done, set_up, tear_down),
		cmocka_unit_test_setup_teardown(not_done_where_it_cannot_be_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_has_its_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_refused_keeps_no_others, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wiping_is_not_forgotten, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wiping_goes_on_in_the_next_process, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
