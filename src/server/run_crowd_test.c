/* SPDX-License-Identifier: MIT
 *
 * Many runs and many streams at once; a run's stream read in pieces; runs without memory. */
#include "server/run_testing.h"

enum { CROWD_RUNS = 12, CROWD_READERS = 3, CROWD_CUTS = 60 };

typedef struct crowd {
	fixture *f;
	atomic_bool is_over;
	rt_buf text;         /* the text of each of them */
} crowd;

typedef struct listener {
	crowd *c;
	uint64_t seed;
	rt_buf texts[CROWD_RUNS + 1]; /* by the run's number, of this connection */
	bool is_known[CROWD_RUNS + 1];
} listener;

static void
listen_once(listener *l, reader *r)
{
	rt_json_doc *doc = NULL;
	yyjson_val *root;
	uint64_t run, offset = 0;
	rt_str more;

	assert_string_not_equal(r->name, "flight"); /* they are runs of this process */
	if (strncmp(r->name, "run.", 4) != 0)
		return;
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&r->data), &doc, NULL), RT_OK);
	root = rt_json_root(doc);
	run = strtoull(rt_json_str(rt_json_get(root, "run")).ptr + 1, NULL, 10);
	assert_in_range(run, 1, CROWD_RUNS);
	more = rt_json_str(rt_json_get(root, "text"));
	(void)rt_json_u64(rt_json_get(root, "offset"), &offset);
	if (strcmp(r->name, "run.started") == 0 || strcmp(r->name, "run.snapshot") == 0) {
		assert_false(l->is_known[run]);
		l->is_known[run] = true;
	} else {
		assert_true(l->is_known[run]);
	}
	if (strcmp(r->name, "run.snapshot") == 0 || strcmp(r->name, "run.delta") == 0) {
		assert_int_equal(offset, l->texts[run].size);
		rt_buf_add_str(&l->texts[run], more);
	} else if (strcmp(r->name, "run.ended") == 0) {
		assert_true(rt_str_eq(rt_buf_str(&l->texts[run]), rt_buf_str(&l->c->text)));
	}
	rt_json_free(doc);
}

static void *
listen_and_cut(void *ctx)
{
	listener *l = ctx;
	crowd *c = l->c;
	size_t i, cuts;
	reader r;

	reader_init(&r, l->seed);
	for (i = 0; i <= CROWD_RUNS; i++)
		rt_buf_init(&l->texts[i], rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (cuts = 0; !atomic_load(&c->is_over); cuts++) {
		size_t events = cuts < CROWD_CUTS ? 1 + reader_chance(&r, 30) : SIZE_MAX;

		memset(l->is_known, 0, sizeof(l->is_known));
		for (i = 0; i <= CROWD_RUNS; i++)
			rt_buf_clear(&l->texts[i]);
		r.room_max = 1 + reader_chance(&r, 2000);
		reader_open(&r, c->f->feed, 0);
		while (events-- > 0 && !atomic_load(&c->is_over) && reader_next(&r))
			listen_once(l, &r);
		reader_cut(&r);
	}
	for (i = 0; i <= CROWD_RUNS; i++)
		rt_buf_deinit(&l->texts[i]);
	reader_deinit(&r);
	return NULL;
}

static void *
beat_on(void *ctx)
{
	crowd *c = ctx;
	struct timespec pause = {0, 2000000};

	while (!atomic_load(&c->is_over)) {
		atomic_fetch_add(&c->f->later_us, 250000); /* other processes' replies are polled */
		rt_feed_tick(c->f->feed, NULL);
		(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

/* Runs in several discussions, and streams that come and go: on each connection every text is
 * complete from its beginning. */
static void
test_crowd(void **state)
{
	fixture *f = *state;
	crowd c = {.f = f};
	listener listeners[CROWD_READERS];
	pthread_t threads[CROWD_READERS], tick;
	char names[CROWD_RUNS][24], json[120];
	rt_buf script;
	size_t i;

	rt_buf_init(&c.text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&script, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < 60; i++) {
		rt_buf_add_f(&c.text, "\xe2\x82\xac %zu, ", i);
		rt_buf_add_f(&script, "{\"text\":\"\xe2\x82\xac %zu, \"}\n{\"wait_ms\":1}\n", i);
	}
	write_script(f, rt_buf_str(&script));
	atomic_init(&c.is_over, false);
	assert_int_equal(pthread_create(&tick, NULL, beat_on, &c), 0);
	memset(listeners, 0, sizeof(listeners));
	for (i = 0; i < CROWD_READERS; i++) {
		listeners[i].c = &c;
		listeners[i].seed = 11 + i;
		assert_int_equal(pthread_create(&threads[i], NULL, listen_and_cut, &listeners[i]), 0);
	}
	for (i = 0; i < CROWD_RUNS; i++) {
		snprintf(json, sizeof(json), "{\"op\":\"discussion.new\",\"name\":\"n%zu\"}", i);
		apply(f, json);
		rt_feed_changed(f->feed);
		snprintf(json, sizeof(json), ",\"discussion\":\"n%zu\",\"text\":\"Q\"", i);
		start_play(f, "ask", json, names[i]);
		if (i % 4 == 3)
			ended(f, names[i - 2], "done");
	}
	for (i = 0; i < CROWD_RUNS; i++)
		ended(f, names[i], "done");
	atomic_store(&c.is_over, true);
	apply(f, "{\"op\":\"discussion.new\",\"name\":\"end\"}"); /* wakes them all */
	rt_feed_changed(f->feed);
	for (i = 0; i < CROWD_READERS; i++)
		pthread_join(threads[i], NULL);
	pthread_join(tick, NULL);
	rt_buf_deinit(&c.text);
	rt_buf_deinit(&script);
}

/* Pieces of several kinds and blocks, each at its place. */
static void
test_pieces(void **state)
{
	rt_run_text t;
	rt_buf out;

	(void)state;
	rt_run_text_init(&t, rt_alloc_libc());
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_run_text_add(&t, RT_REPLY_THINKING, 0, RT_STR("hm"));
	rt_run_text_add(&t, RT_REPLY_TEXT, 1, RT_STR("a"));
	rt_run_text_add(&t, RT_REPLY_TEXT, 1, RT_STR("b"));
	rt_run_text_add(&t, RT_REPLY_CALL, 2, RT_STR("{\"x\""));
	rt_run_text_add(&t, RT_REPLY_CALL, 3, RT_STR("{}"));
	rt_run_text_add(&t, RT_REPLY_CALL, 2, RT_STR(":1}"));
	rt_run_text_add(&t, RT_REPLY_CALL, 4, RT_STR(""));
	rt_run_text_add(&t, RT_REPLY_TEXT, 5, RT_STR("c"));
	assert_int_equal(t.count, 6);
	assert_int_equal(t.pieces[4].from, 4);
	assert_int_equal(t.pieces[5].from, 2);
	assert_int_equal(rt_run_text_piece(&t, 0), 0);
	assert_int_equal(rt_run_text_piece(&t, 1), 0);
	assert_int_equal(rt_run_text_piece(&t, 2), 1);
	assert_int_equal(rt_run_text_piece(&t, t.bytes.size - 1), 5);
	rt_buf_add_byte(&out, '{');
	assert_int_equal(rt_run_text_cut(&t, SIZE_MAX), t.bytes.size);
	rt_run_text_add_json(&t, t.bytes.size, &out);
	assert_string_equal(out.ptr, "{\"text\":\"ab\\nc\",\"thinking\":\"hm\",\"calls\":["
				     "{\"block\":2,\"offset\":0,\"arguments\":\"{\\\"x\\\"\"},"
				     "{\"block\":3,\"offset\":0,\"arguments\":\"{}\"},"
				     "{\"block\":2,\"offset\":4,\"arguments\":\":1}\"}]");
	rt_run_text_next(&t);
	rt_run_text_add(&t, RT_REPLY_TEXT, 0, RT_STR("\xe2\x82\xac\xe2\x82\xac"));
	rt_buf_clear(&out);
	rt_buf_add_byte(&out, '{');
	assert_int_equal(rt_run_text_cut(&t, 5), t.bytes.size - 3);
	rt_run_text_add_json(&t, t.bytes.size - 3, &out);
	assert_string_equal(out.ptr, "{\"reply\":1,\"text\":\"\xe2\x82\xac\"");
	rt_run_text_deinit(&t);
	rt_buf_deinit(&out);
}

/* Without memory a run does not begin, or fails, or its text is incomplete; nothing is lost and
 * nothing hangs. */
static void
test_no_memory(void **state)
{
	fixture *f = *state;
	failing a;
	rt_alloc alloc = {failing_resize, failing_release, &a};
	rt_runs_options options = {.engine = f->engine,
				   .changed = feed_changed,
				   .changed_ctx = f->feed,
				   .alloc = &alloc,
				   .env = &f->env,
				   .owner = RT_STR("this one"),
				   .model = RT_STR("builtin/echo")};
	size_t begun = 0;
	bool whole = false;
	char name[24];
	long n;

	close_runs(f);
	atomic_init(&a.left, -1);
	atomic_init(&a.live, 0);
	for (n = 0; !whole; n++) {
		assert_true(n < 10000);
		atomic_store(&a.left, n);
		if (rt_runs_new(&options, &f->runs, NULL) == RT_OK &&
		    try_start(f, "ask", "{\"content\":[{\"type\":\"text\",\"text\":\"Q\"}]}",
			      name) == RT_OK) {
			begun++;
			wait_for(f, name, "\"ended\":");
			whole = strstr(f->out.ptr, "\"state\":\"done\"") != NULL &&
				atomic_load(&a.left) > 0;
		} else if (f->runs != NULL) {
			assert_int_equal(f->err.status, RT_NOMEM);
		}
		close_runs(f);
		assert_int_equal(atomic_load(&a.live), 0);
	}
	assert_true(begun > 1 && n > 5);
	has_no_flight(f);
}

/* From now on the time is asked while runs are prepared: one more may begin then. */
static int64_t
now_crowded(void *ctx)
{
	fixture *f = ctx;

	if (f->runs != NULL && f->runs->newest == NULL)
		f->runs->running = RT_RUNS_MAX - 1;
	return now(ctx);
}

/* Only the first of three runs can begin: it is stopped once, the others never exist. */
static void
test_partly_begun(void **state)
{
	fixture *f = *state;
	rt_str models[] = {RT_STR("builtin/echo"), RT_STR("builtin/summary"), {0}};
	rt_run_request request;
	char names[3][24] = {"", "", ""};
	rt_json_doc *doc = NULL;
	rt_run *run;

	write_script(f, RT_STR(""));
	models[2] = rt_str_of(f->model);
	assert_int_equal(rt_json_read(rt_alloc_libc(), RT_STR("{\"text\":\"Q\"}"), &doc, NULL), RT_OK);
	assert_int_equal(rt_run_request_read(rt_json_root(doc), RT_RUN_ASK, &request, &f->err), RT_OK);
	request.by = RT_STR("web");
	request.may_name_files = true;
	f->env.now_us = now_crowded;
	if (rt_runs_start_several(f->runs, &request, models, 3, names, &f->err) != RT_LIMIT)
		fail_msg("%s", f->err.text);
	f->env.now_us = now;
	rt_json_free(doc);
	run = f->runs->newest;
	assert_non_null(run);
	assert_null(run->older);
	assert_string_equal(run->name, names[0]);
	assert_int_equal(atomic_load(&run->stops), 1);
	assert_string_equal(names[1], "");
	wait_for(f, names[0], "\"ended\":");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RUNS(test_partly_begun),
		WITH_RUNS(test_crowd),
		cmocka_unit_test(test_pieces),
		WITH_RUNS(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
