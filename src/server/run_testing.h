/* SPDX-License-Identifier: MIT
 *
 * Fixture of the tests of runs: a server's engine, feed and runs with built-in models; starting,
 * waiting, and assembling the output of a stream. */
#ifndef RT_SERVER_RUN_TESTING_H
#define RT_SERVER_RUN_TESTING_H

#define _XOPEN_SOURCE 700

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "log/folder_testing.h"
#include "server/feed_testing.h"

#include "app/host.h"
#include "ops/action.h"
#include "app/run_impl.h"
#include "llm/system_host.h"
#include "server/run_json.h"
#include "store/store_memory.h"
#include "view/view.h"

typedef struct fixture {
	rt_env env;
	atomic_llong later_us; /* the clock is ahead by this much */
	rt_store *store;
	rt_engine *engine;
	rt_feed *feed;
	rt_runs *runs;
	char script[80];       /* path; "": none yet */
	char model[120];       /* that plays it */
	reader r;
	rt_buf out;
	rt_error err;
} fixture;

static inline int64_t
now(void *ctx)
{
	return rt_system_env()->now_us(rt_system_env()->ctx) +
	       atomic_load(&((fixture *)ctx)->later_us);
}

static inline void
chance(void *ctx, void *to, size_t size)
{
	(void)ctx;
	rt_system_env()->random(rt_system_env()->ctx, to, size);
}

static inline void
feed_changed(void *ctx)
{
	rt_feed_changed(ctx);
}

static inline void
close_runs(fixture *f)
{
	rt_runs_stop_all(f->runs);
	rt_feed_set_runs(f->feed, NULL);
	rt_runs_free(f->runs);
	f->runs = NULL;
}

static inline void
open_runs(fixture *f, const char *model)
{
	rt_runs_options options = {.engine = f->engine,
				   .changed = feed_changed,
				   .changed_ctx = f->feed,
				   .env = &f->env,
				   .owner = RT_STR("this one"),
				   .model = rt_str_of(model),
				   .pace_ms = 1};

	assert_int_equal(rt_runs_new(&options, &f->runs, NULL), RT_OK);
	rt_feed_set_runs(f->feed, f->runs);
}

static inline int
set_up(void **state)
{
	fixture *f = test_calloc(1, sizeof(*f));
	rt_engine_options options = {.env = &f->env, .create = true};

	f->env = (rt_env){now, chance, f};
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &f->env, &f->store, NULL), RT_OK);
	assert_int_equal(rt_engine_open(&options, f->store, &f->engine, NULL), RT_OK);
	assert_int_equal(rt_feed_new(f->engine, &f->env, &f->feed, NULL), RT_OK);
	open_runs(f, "builtin/echo");
	reader_init(&f->r, 3);
	rt_buf_init(&f->out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	*state = f;
	return 0;
}

static inline int
tear_down(void **state)
{
	fixture *f = *state;

	close_runs(f);
	reader_deinit(&f->r);
	rt_feed_free(f->feed);
	rt_engine_close(f->engine);
	f->store->ops->close(f->store);
	if (f->script[0] != '\0')
		(void)unlink(f->script);
	rt_buf_deinit(&f->out);
	test_free(f);
	return 0;
}

/* ---- asking ---- */

/* f->model is then one that plays these lines. */
static inline void
write_script(fixture *f, rt_str lines)
{
	FILE *file;
	int fd;

	if (f->script[0] == '\0') {
		assert_true(test_path(f->script, sizeof(f->script), "play"));
		fd = mkstemp(f->script);
		assert_true(fd >= 0);
		close(fd);
	}
	file = fopen(f->script, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(lines.ptr, 1, lines.size, file), lines.size);
	assert_int_equal(fclose(file), 0);
	snprintf(f->model, sizeof(f->model), "builtin/play:%s", f->script);
}

static inline rt_status
try_start(fixture *f, const char *how, const char *fields, char name[24])
{
	rt_run_request request;
	rt_json_doc *doc = NULL;
	yyjson_val *body;
	int kind = 0;
	rt_status st;

	if (fields != NULL)
		assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(fields), &doc, NULL), RT_OK);
	body = doc != NULL ? rt_json_root(doc) : NULL;
	while (strcmp(rt_run_how_names[kind], how) != 0)
		kind++;
	memset(&f->err, 0, sizeof(f->err));
	st = rt_run_request_read(body, (rt_run_how)kind, &request, &f->err);
	if (st == RT_OK) {
		request.by = RT_STR("web");
		request.may_name_files = true;
		request.discussion = rt_json_str(rt_json_get(body, "discussion"));
		request.take = rt_json_str(rt_json_get(body, "take"));
		st = rt_runs_start(f->runs, &request, name, &f->err);
	}
	rt_json_free(doc);
	return st;
}

static inline void
start(fixture *f, const char *how, const char *fields, char name[24])
{
	if (try_start(f, how, fields, name) != RT_OK)
		fail_msg("%s %s: %s", how, fields, f->err.text);
}

/* With the script, and further members. */
static inline void
start_play(fixture *f, const char *how, const char *members, char name[24])
{
	char fields[400];

	snprintf(fields, sizeof(fields), "{\"model\":\"%s\"%s}", f->model, members);
	start(f, how, fields, name);
}

static const char *
show(fixture *f, const char *name)
{
	rt_buf_clear(&f->out);
	assert_int_equal(rt_runs_show_json(f->runs, rt_str_of(name), &f->out, NULL), RT_OK);
	return f->out.ptr;
}

/* Waits until the object contains this text. The test ends if it never does. */
static inline void
wait_for(fixture *f, const char *name, const char *part)
{
	struct timespec pause = {0, 1000000};
	int i;

	for (i = 0; strstr(show(f, name), part) == NULL; i++) {
		if (i == 60000)
			fail_msg("%s never came: %s", part, f->out.ptr);
		(void)nanosleep(&pause, NULL);
	}
}

static inline void
ended(fixture *f, const char *name, const char *state)
{
	char part[40];

	wait_for(f, name, "\"ended\":");
	snprintf(part, sizeof(part), "\"state\":\"%s\"", state);
	if (strstr(show(f, name), part) == NULL)
		fail_msg("not %s: %s", state, f->out.ptr);
}

/* A run that has ended is forgotten once its thread has ended, too, which is a moment later. */
static inline void
forgotten(fixture *f, const char *name)
{
	struct timespec pause = {0, 1000000};
	int i;

	rt_buf_clear(&f->out);
	for (i = 0; rt_runs_show_json(f->runs, rt_str_of(name), &f->out, NULL) == RT_OK; i++) {
		if (i == 60000)
			fail_msg("not forgotten: %s", f->out.ptr);
		(void)nanosleep(&pause, NULL);
		rt_buf_clear(&f->out);
	}
	assert_int_equal(rt_runs_show_json(f->runs, rt_str_of(name), &f->out, NULL), RT_NOT_FOUND);
}

static inline void
has(fixture *f, const char *name, const char *part)
{
	if (strstr(show(f, name), part) == NULL)
		fail_msg("%s is not in %s", part, f->out.ptr);
}

/* A text of the object that show returned last. */
static inline void
member(fixture *f, const char *key, char *out, size_t room)
{
	rt_json_doc *doc = NULL;

	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&f->out), &doc, NULL), RT_OK);
	snprintf(out, room, "%.*s", RT_STR_ARG(rt_json_str(rt_json_get(rt_json_root(doc), key))));
	rt_json_free(doc);
}

static inline void
apply(fixture *f, const char *json)
{
	rt_json_doc *doc = NULL;
	yyjson_val *root;
	rt_result result;

	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(json), &doc, NULL), RT_OK);
	root = rt_json_root(doc);
	if (rt_apply_json(f->engine, NULL, &root, 1, false, RT_STR(""), RT_STR(""), &result) !=
	    RT_OK)
		fail_msg("%s: %s", json, result.error.text);
	rt_result_deinit(&result);
	rt_json_free(doc);
}

/* The active take in the form of show; in f->out. */
static const char *
shown(fixture *f)
{
	const rt_project *value = rt_engine_value(f->engine);
	rt_window window = {0, 0, {NULL, 0}};

	rt_buf_clear(&f->out);
	assert_int_equal(rt_view_show(f->engine, value, (rt_place){0, 0}, &window, &f->out, NULL),
			 RT_OK);
	rt_object_unref(value);
	return f->out.ptr;
}

static inline bool
tell_flight(void *ctx, const rt_inflight_view *flight)
{
	(void)ctx;
	fail_msg("a reply is still in flight: %.*s", RT_STR_ARG(flight->name));
	return false;
}

static inline void
has_no_flight(fixture *f)
{
	assert_int_equal(rt_engine_inflight(f->engine, tell_flight, NULL, NULL), RT_OK);
}

static inline void
is_shown(fixture *f, const char *part)
{
	if (strstr(shown(f), part) == NULL)
		fail_msg("%s is not in %s", part, f->out.ptr);
}

/* ---- received events, assembled ---- */

typedef struct heard {
	rt_buf text, thinking, call;
	size_t deltas, snapshots, started, asked;
	bool ended;
	uint64_t op_seq; /* of the newest row */
} heard;

static inline void
heard_init(heard *h)
{
	memset(h, 0, sizeof(*h));
	rt_buf_init(&h->text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&h->thinking, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&h->call, rt_alloc_libc(), RT_BUF_UNLIMITED);
}

static inline void
heard_deinit(heard *h)
{
	rt_buf_deinit(&h->text);
	rt_buf_deinit(&h->thinking);
	rt_buf_deinit(&h->call);
}

static inline void
hear_at(rt_buf *of, yyjson_val *root, const char *key)
{
	uint64_t offset = 0;
	rt_str more = rt_json_str(rt_json_get(root, key));

	if (rt_json_get(root, key) == NULL)
		return;
	(void)rt_json_u64(rt_json_get(root, "offset"), &offset);
	assert_int_equal(offset, of->size);
	assert_int_equal(rt_utf8_valid_size(more), more.size);
	assert_true(more.size <= RT_RUN_EVENT_MAX);
	rt_buf_add_str(of, more);
}

/* The event that was read. */
static inline void
hear(heard *h, reader *r)
{
	rt_json_doc *doc = NULL;
	yyjson_val *root;
	uint64_t seq = 0;

	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&r->data), &doc, NULL), RT_OK);
	root = rt_json_root(doc);
	if (strcmp(r->name, "op") == 0) {
		h->op_seq = id_seq(r->id);
	} else if (strcmp(r->name, "run.asked") == 0) {
		assert_true(rt_json_get(root, "question") != NULL);
		assert_int_equal(h->deltas, 0);
		assert_true(h->op_seq > 0);
		h->asked++;
	} else if (strcmp(r->name, "run.started") == 0) {
		h->asked += rt_json_get(root, "question") != NULL;
		h->started++;
	} else if (strcmp(r->name, "run.snapshot") == 0) {
		h->snapshots++;
		hear_at(&h->text, root, "text");
		hear_at(&h->thinking, root, "thinking");
	} else if (strcmp(r->name, "run.delta") == 0) {
		h->deltas++;
		assert_int_equal(h->started + h->snapshots, 1);
		hear_at(&h->text, root, "text");
		hear_at(&h->thinking, root, "thinking");
		hear_at(&h->call, root, "call");
	} else if (strcmp(r->name, "run.ended") == 0) {
		h->ended = true;
		/* its row was sent before */
		if (rt_json_u64(rt_json_get(root, "seq"), &seq))
			assert_true(h->op_seq >= seq);
	}
	if (strncmp(r->name, "run.", 4) == 0)
		assert_string_equal(r->id, "");
	rt_json_free(doc);
}

static inline void
hear_all(heard *h, reader *r)
{
	while (!h->ended) {
		assert_true(reader_next(r));
		hear(h, r);
	}
}

#define WITH_RUNS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
