/* SPDX-License-Identifier: MIT
 *
 * Runs with the built-in models: what is asked, what arrives, what is kept; and what a
 * stream is told of it. */
#define _XOPEN_SOURCE 700

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "log/folder_testing.h"
#include "server/feed_testing.h"

#include "app/host.h"
#include "ops/action.h"
#include "app/run_impl.h"
#include "server/run_json.h"
#include "store/store_memory.h"
#include "view/view.h"

typedef struct fixture {
	rt_env env;
	atomic_llong later_us; /* the machine's clock goes ahead by so much */
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

static int64_t
now(void *ctx)
{
	return rt_host_env()->now_us(rt_host_env()->ctx) +
	       atomic_load(&((fixture *)ctx)->later_us);
}

static void
chance(void *ctx, void *to, size_t size)
{
	(void)ctx;
	rt_host_env()->random(rt_host_env()->ctx, to, size);
}

static void
feed_changed(void *ctx)
{
	rt_feed_changed(ctx);
}

static void
close_runs(fixture *f)
{
	rt_runs_stop_all(f->runs);
	rt_feed_set_runs(f->feed, NULL);
	rt_runs_free(f->runs);
	f->runs = NULL;
}

static void
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

static int
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

static int
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

/* f->model is then one that says these lines. */
static void
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

static rt_status
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

static void
start(fixture *f, const char *how, const char *fields, char name[24])
{
	if (try_start(f, how, fields, name) != RT_OK)
		fail_msg("%s %s: %s", how, fields, f->err.text);
}

/* With the script, and further members. */
static void
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

/* Until the object has this in it. What never comes ends the test. */
static void
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

static void
ended(fixture *f, const char *name, const char *state)
{
	char part[40];

	wait_for(f, name, "\"ended\":");
	snprintf(part, sizeof(part), "\"state\":\"%s\"", state);
	if (strstr(show(f, name), part) == NULL)
		fail_msg("not %s: %s", state, f->out.ptr);
}

/* A run that has ended is forgotten when its thread has left it, too, which is a moment later. */
static void
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

static void
has(fixture *f, const char *name, const char *part)
{
	if (strstr(show(f, name), part) == NULL)
		fail_msg("%s is not in %s", part, f->out.ptr);
}

/* A text of the object that show gave last. */
static void
member(fixture *f, const char *key, char *out, size_t room)
{
	rt_json_doc *doc = NULL;

	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&f->out), &doc, NULL), RT_OK);
	snprintf(out, room, "%.*s", RT_STR_ARG(rt_json_str(rt_json_get(rt_json_root(doc), key))));
	rt_json_free(doc);
}

static void
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

/* The active take as show has it; in f->out. */
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

static bool
tell_flight(void *ctx, const rt_inflight_view *flight)
{
	(void)ctx;
	fail_msg("a reply is still in flight: %.*s", RT_STR_ARG(flight->name));
	return false;
}

static void
has_no_flight(fixture *f)
{
	assert_int_equal(rt_engine_inflight(f->engine, tell_flight, NULL, NULL), RT_OK);
}

static void
is_shown(fixture *f, const char *part)
{
	if (strstr(shown(f), part) == NULL)
		fail_msg("%s is not in %s", part, f->out.ptr);
}

/* ---- what arrives, put together again ---- */

typedef struct heard {
	rt_buf text, thinking, call;
	size_t deltas, snapshots, started, asked;
	bool ended;
	uint64_t op_seq; /* of the newest row */
} heard;

static void
heard_init(heard *h)
{
	memset(h, 0, sizeof(*h));
	rt_buf_init(&h->text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&h->thinking, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&h->call, rt_alloc_libc(), RT_BUF_UNLIMITED);
}

static void
heard_deinit(heard *h)
{
	rt_buf_deinit(&h->text);
	rt_buf_deinit(&h->thinking);
	rt_buf_deinit(&h->call);
}

static void
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
static void
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
		/* its row was there before */
		if (rt_json_u64(rt_json_get(root, "seq"), &seq))
			assert_true(h->op_seq >= seq);
	}
	if (strncmp(r->name, "run.", 4) == 0)
		assert_string_equal(r->id, "");
	rt_json_free(doc);
}

static void
hear_all(heard *h, reader *r)
{
	while (!h->ended) {
		assert_true(reader_next(r));
		hear(h, r);
	}
}

/* ---- the tests ---- */

static void
test_ask(void **state)
{
	fixture *f = *state;
	char name[24], text[400];
	heard h;

	heard_init(&h);
	reader_open(&f->r, f->feed, 0);
	reader_is(&f->r, "hello", "");
	start(f, "ask", "{\"text\":\"Are you there?\"}", name);
	assert_true(rt_str_starts(rt_str_of(name), RT_STR("r1-")));
	hear_all(&h, &f->r);
	ended(f, name, "done");
	has(f, name, "\"how\":\"ask\",\"discussion\":\"d1\",\"take\":\"");
	has(f, name, "\"model\":\"builtin/echo\"");
	has(f, name, "\"question\":\"");
	has(f, name, "\"entry\":\"");
	has(f, name, "\"seq\":2");
	has(f, name, "\"stop\":\"stop\",\"usage\":{\"input_tokens\":");
	assert_null(strstr(f->out.ptr, "\"problem\""));
	member(f, "text", text, sizeof(text));
	assert_true(rt_str_starts(rt_str_of(text), RT_STR("You said: \"Are you there?\"")));
	assert_int_equal(h.started, 1);
	assert_int_equal(h.asked, 1);
	assert_true(h.deltas > 0);
	assert_true(rt_str_is(rt_buf_str(&h.text), text));
	is_shown(f, "\"content\":\"Are you there?\"");
	is_shown(f, "\"content\":\"You said: ");
	/* who asked stands in the history */
	assert_non_null(strstr(f->r.all.ptr, "\"by\":\"web\""));
	heard_deinit(&h);
}

/* A reply is told while it arrives. A stream that is read late is told of all of it at once, and
 * then this is tried again. */
static void
test_in_pieces(void **state)
{
	fixture *f = *state;
	size_t deltas = 0;
	char name[24];
	int i;

	write_script(f, RT_STR("{\"text\":\"One \"}\n{\"wait_ms\":100}\n{\"text\":\"two\"}\n"));
	reader_open(&f->r, f->feed, 0);
	for (i = 0; i < 50 && deltas < 2; i++) {
		heard h;

		heard_init(&h);
		start_play(f, "ask", ",\"text\":\"Count\"", name);
		hear_all(&h, &f->r);
		assert_true(rt_str_is(rt_buf_str(&h.text), "One two"));
		deltas = h.deltas;
		heard_deinit(&h);
	}
	assert_true(deltas > 1);
}

static void
test_stop(void **state)
{
	fixture *f = *state;
	char name[24];

	write_script(f, RT_STR("{\"text\":\"One \"}\n{\"wait_ms\":600000}\n{\"text\":\"two\"}\n"));
	start_play(f, "ask", ",\"text\":\"Count\"", name);
	wait_for(f, name, "\"text\":\"One \"");
	has(f, name, "\"state\":\"running\"");
	has(f, name, "\"question\":\"");
	assert_int_equal(rt_runs_stop(f->runs, rt_str_of(name), NULL), RT_OK);
	ended(f, name, "stopped");
	has(f, name, "\"partial\":true,\"stop\":\"stopped\"");
	is_shown(f, "\"content\":\"One \"");
	is_shown(f, "\"partial\":true");
	assert_int_equal(rt_runs_stop(f->runs, rt_str_of(name), NULL), RT_OK); /* it has ended */
	assert_int_equal(rt_runs_stop(f->runs, RT_STR("r9"), NULL), RT_NOT_FOUND);
}

static void
test_again(void **state)
{
	fixture *f = *state;
	const rt_project *value;
	rt_json_doc *doc = NULL;
	yyjson_val *replies;
	char name[24];
	heard h;

	start(f, "ask", "{\"text\":\"A question\"}", name);
	ended(f, name, "done");
	heard_init(&h);
	reader_open(&f->r, f->feed, 0);
	reader_is(&f->r, "hello", "");
	start(f, "again", "{\"n\":3}", name);
	ended(f, name, "done");
	has(f, name, "\"reply\":2");
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&f->out), &doc, NULL), RT_OK);
	replies = rt_json_get(rt_json_root(doc), "replies");
	assert_int_equal(yyjson_get_len(replies), 3);
	assert_false(rt_str_eq(rt_json_str(rt_json_get(yyjson_arr_get(replies, 0), "take")),
			       rt_json_str(rt_json_get(yyjson_arr_get(replies, 1), "take"))));
	rt_json_free(doc);
	value = rt_engine_value(f->engine);
	rt_buf_clear(&f->out);
	assert_int_equal(rt_view_takes(f->engine, value, 0, true, &f->out, NULL), RT_OK);
	rt_object_unref(value);
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&f->out), &doc, NULL), RT_OK);
	assert_int_equal(yyjson_get_len(rt_json_root(doc)), 4);
	rt_json_free(doc);
	/* each reply's text begins anew */
	while (!h.ended) {
		assert_true(reader_next(&f->r));
		if (strcmp(f->r.name, "run.delta") == 0 && data_number(&f->r, "offset") == 0)
			rt_buf_clear(&h.text);
		hear(&h, &f->r);
	}
	assert_true(rt_str_starts(rt_buf_str(&h.text), RT_STR("You said: \"A question\"")));
	heard_deinit(&h);
}

static void
test_continue(void **state)
{
	fixture *f = *state;
	char name[24];

	write_script(f, RT_STR("{\"text\":\"half of \"}\n{\"stop\":\"length\"}\n{\"next\":true}\n"
			       "{\"text\":\"the rest\"}\n"));
	start_play(f, "ask", ",\"text\":\"Q\"", name);
	ended(f, name, "done");
	has(f, name, "\"stop\":\"length\"");
	start_play(f, "continue", "", name);
	ended(f, name, "done");
	is_shown(f, "\"content\":\"half of the rest\"");
}

/* The same reply of the same take is continued by one at a time. */
static void
test_continue_twice(void **state)
{
	fixture *f = *state;
	char first[24], name[24], fields[160];

	write_script(f, RT_STR("{\"text\":\"half of \"}\n{\"stop\":\"length\"}\n{\"next\":true}\n"
			       "{\"text\":\"the \"}\n{\"wait_ms\":600000}\n{\"text\":\"rest\"}\n"));
	start_play(f, "ask", ",\"text\":\"Q\"", name);
	ended(f, name, "done");
	start_play(f, "continue", "", first);
	wait_for(f, first, "\"text\":\"the \"");
	snprintf(fields, sizeof(fields), "{\"model\":\"%s\",\"take\":\"main\",\"at\":\":2\"}",
		 f->model);
	assert_int_equal(try_start(f, "continue", fields, name), RT_REFUSED);
	assert_string_equal(name, first);
	assert_non_null(strstr(f->err.text, "being continued already"));
	assert_int_equal(
		try_start(f, "again", "{\"model\":\"builtin/echo\",\"take\":\"main\"}", name),
		RT_OK);
	ended(f, name, "done"); /* another reply is none of its business */
	apply(f, "{\"op\":\"take.branch\",\"at\":\":2\",\"take\":\"main\",\"name\":\"aside\"}");
	start(f, "continue", "{\"model\":\"builtin/echo\",\"take\":\"aside\"}", name);
	ended(f, name, "done"); /* nor is the reply as another take has it */
	assert_int_equal(rt_runs_stop(f->runs, rt_str_of(first), NULL), RT_OK);
	ended(f, first, "stopped");
	assert_int_equal(
		try_start(f, "continue", "{\"model\":\"builtin/echo\",\"take\":\"main\"}", name),
		RT_OK);
	ended(f, name, "done");
}

static void
test_summaries(void **state)
{
	fixture *f = *state;
	char name[24], fields[80];
	int i;

	for (i = 0; i < 6; i++) {
		snprintf(fields, sizeof(fields),
			 "{\"op\":\"entry.append\",\"id\":\"e%d\",\"role\":\"%s\",\"content\":\"t%d\"}",
			 i, i % 2 == 0 ? "User" : "AI", i);
		apply(f, fields);
	}
	start(f, "go", "{\"entry\":\"e3\",\"model\":\"builtin/summary\"}", name);
	ended(f, name, "done");
	has(f, name, "\"summary\":\"");
	is_shown(f, "\"kind\":\"branch_summary\"");
	start(f, "compact", "{\"from\":\"e0\",\"to\":\"e2\",\"model\":\"builtin/summary\"}", name);
	ended(f, name, "done");
	has(f, name, "\"entries\":3,\"tokens_before\":");
	is_shown(f, "\"kind\":\"compaction\"");
	/* no model is needed to just go there */
	close_runs(f);
	open_runs(f, "");
	start(f, "go", "{\"entry\":\"e4\",\"summary\":false,\"select\":true}", name);
	ended(f, name, "done");
	has(f, name, "\"editor\":\"t4\"");
	start(f, "compress", "{\"model\":\"builtin/summary\"}", name);
	ended(f, name, "done");
	has(f, name, "\"entry\":\"");
	start(f, "compact", "{\"model\":\"builtin/summary\"}", name);
	ended(f, name, "failed");
	has(f, name, "\"problem\":{\"code\":\"refused\",\"detail\":\"");
}

static void
test_two_at_once(void **state)
{
	fixture *f = *state;
	char a[24], b[24];

	apply(f, "{\"op\":\"discussion.new\",\"name\":\"second\"}");
	write_script(f, RT_STR("{\"text\":\"One \"}\n{\"wait_ms\":600000}\n"));
	start_play(f, "ask", ",\"text\":\"A\",\"discussion\":\"main\"", a);
	start_play(f, "ask", ",\"text\":\"B\",\"discussion\":\"second\"", b);
	wait_for(f, a, "\"text\":\"One \"");
	wait_for(f, b, "\"text\":\"One \"");
	rt_buf_clear(&f->out);
	assert_int_equal(rt_runs_list_json(f->runs, &f->out, NULL), RT_OK);
	assert_true(rt_str_starts(rt_buf_str(&f->out), RT_STR("[{\"run\":\"r2-")));
	assert_non_null(strstr(f->out.ptr, "{\"run\":\"r1-"));
	assert_null(strstr(f->out.ptr, "\"text\""));
	assert_int_equal(rt_runs_stop(f->runs, rt_str_of(a), NULL), RT_OK);
	ended(f, a, "stopped");
	has(f, b, "\"state\":\"running\"");
	/* a stream of one discussion hears of its runs alone */
	reader_open(&f->r, f->feed, 1);
	reader_is(&f->r, "hello", "");
	assert_false(reader_now(&f->r));
	reader_cut(&f->r);
	reader_open(&f->r, f->feed, 2);
	reader_is(&f->r, "hello", "");
	reader_is(&f->r, "run.snapshot", "\"run\":\"r2-");
	assert_int_equal(rt_runs_stop(f->runs, rt_str_of(b), NULL), RT_OK);
	ended(f, b, "stopped");
}

/* A stream that comes in the middle: what there is, and then the rest. */
static void
test_late_stream(void **state)
{
	fixture *f = *state;
	char name[24], text[600];
	size_t snapshots = 0;
	int i;

	for (i = 0; i < 50 && snapshots == 0; i++) {
		heard h;

		heard_init(&h);
		write_script(f, RT_STR("{\"thinking\":\"Hm, \"}\n{\"thinking\":\"so \"}\n"
				       "{\"text\":\"\xce\xb1\xce\xb2 \"}\n{\"wait_ms\":100}\n"
				       "{\"text\":\"\xe2\x82\xac and \"}\n{\"wait_ms\":20}\n"
				       "{\"text\":\"\xf0\x9f\x99\x82.\"}\n"
				       "{\"call\":{\"id\":\"c1\",\"name\":\"read\",\"arguments\":"
				       "{\"path\":\"x\"}}}\n"));
		start_play(f, "ask", ",\"text\":\"Q\"", name);
		wait_for(f, name, "\"text\":\"\xce\xb1");
		reader_cut(&f->r);
		f->r.last_id[0] = '\0';
		reader_open(&f->r, f->feed, 0);
		if (strstr(show(f, name), "\"ended\"") == NULL) { /* else once more */
			hear_all(&h, &f->r);
			assert_int_equal(h.snapshots, 1);
			ended(f, name, "done");
			member(f, "text", text, sizeof(text));
			assert_true(rt_str_is(rt_buf_str(&h.text), text));
			assert_string_equal(text, "\xce\xb1\xce\xb2 \xe2\x82\xac and \xf0\x9f\x99\x82.");
			member(f, "thinking", text, sizeof(text));
			assert_true(rt_str_is(rt_buf_str(&h.thinking), text));
			assert_string_equal(text, "Hm, so ");
			assert_true(rt_str_is(rt_buf_str(&h.call), "{\"path\":\"x\"}"));
			assert_int_equal(h.started, 0);
		}
		snapshots += h.snapshots;
		ended(f, name, "done");
		heard_deinit(&h);
	}
	assert_int_equal(snapshots, 1);
}

/* Much at once, for a stream that reads little: whole characters, in large pieces. */
static void
test_long_text(void **state)
{
	enum { COUNT = 100000 };
	fixture *f = *state;
	char name[24];
	rt_buf script;
	heard h;
	int i;

	heard_init(&h);
	rt_buf_init(&script, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&script, "{\"text\":\"x");
	for (i = 0; i < COUNT; i++)
		rt_buf_add_c(&script, "\xe2\x82\xac");
	rt_buf_add_c(&script, "\"}\n");
	write_script(f, rt_buf_str(&script));
	f->r.room_max = 50;
	reader_open(&f->r, f->feed, 0);
	reader_is(&f->r, "hello", "");
	start_play(f, "ask", ",\"text\":\"Much\"", name);
	ended(f, name, "done");
	f->r.room_max = 3000;
	hear_all(&h, &f->r);
	assert_int_equal(h.text.size, 3 * COUNT + 1);
	assert_int_equal(h.deltas, (3 * COUNT + 1) / RT_RUN_EVENT_MAX + 1);
	assert_memory_equal(h.text.ptr + 1, script.ptr + 10, 3 * COUNT);
	rt_buf_deinit(&script);
	heard_deinit(&h);
}

static void
test_notice_and_problem(void **state)
{
	fixture *f = *state;
	char name[24];

	write_script(f, RT_STR("{\"error\":{\"status\":401,\"message\":\"who are you\"}}\n"));
	reader_open(&f->r, f->feed, 0);
	reader_is(&f->r, "hello", "");
	start_play(f, "ask", ",\"text\":\"Q\"", name);
	ended(f, name, "failed");
	has(f, name, "\"problem\":{\"code\":\"credentials\",\"detail\":\"");
	has(f, name, "\"question\":\"");
	assert_null(strstr(f->out.ptr, "\"entry\""));
	is_shown(f, "\"content\":\"Q\"");
	reader_is(&f->r, "op", "entry.append");
	reader_is(&f->r, "run.started", "\"run\":\"r1-");
	reader_is(&f->r, "run.ended", "who are you");
}

static void
test_refusals(void **state)
{
	static const struct {
		const char *how, *fields;
		rt_status status;
	} tries[] = {
		{"ask", "[]", RT_USAGE},
		{"ask", "{\"text\":5}", RT_USAGE},
		{"ask", "{\"text\":\"  \"}", RT_USAGE},
		{"ask", "{\"text\":\"a\",\"content\":\"b\"}", RT_USAGE},
		{"ask", "{\"content\":{}}", RT_USAGE},
		{"ask", "{\"text\":\"a\",\"discussion\":\"nowhere\"}", RT_NOT_FOUND},
		{"ask", "{\"text\":\"a\",\"take\":\"nowhere\"}", RT_NOT_FOUND},
		{"ask", "{\"text\":\"a\",\"at\":\"nowhere\"}", RT_NOT_FOUND},
		{"ask", "{\"text\":\"a\",\"model\":\"builtin/nobody\"}", RT_NOT_FOUND},
		{"ask", "{\"text\":\"a\",\"budget\":-1}", RT_USAGE},
		{"again", "{\"n\":0}", RT_USAGE},
		{"again", "{\"n\":101}", RT_USAGE},
		{"again", "{\"n\":\"2\"}", RT_USAGE},
		{"compact", "{\"from\":\"e0\"}", RT_USAGE},
		{"compact", "{\"from\":\"e0\",\"to\":\"e9\"}", RT_NOT_FOUND},
		{"go", "{}", RT_USAGE},
		{"go", "{\"entry\":\"e0\",\"summary\":1}", RT_USAGE},
	};
	fixture *f = *state;
	char name[24];
	rt_status st;
	size_t i;

	apply(f, "{\"op\":\"entry.append\",\"id\":\"e0\",\"role\":\"User\",\"content\":\"t\"}");
	for (i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		st = try_start(f, tries[i].how, tries[i].fields, name);
		if (st != tries[i].status)
			fail_msg("%s %s: %s %s", tries[i].how, tries[i].fields, rt_status_word(st),
				 f->err.text);
	}
	close_runs(f);
	open_runs(f, "");
	assert_int_equal(try_start(f, "ask", "{\"text\":\"a\"}", name), RT_CREDENTIALS);
	/* the setting is asked before what the program was started with */
	apply(f, "{\"op\":\"setting.set\",\"key\":\"model\",\"value\":\"builtin/echo\"}");
	start(f, "ask", "{}", name); /* what is there is answered */
	ended(f, name, "done");
	is_shown(f, "You said: \\\"t\\\"");
	rt_buf_clear(&f->out);
	assert_int_equal(rt_runs_show_json(f->runs, RT_STR("r7"), &f->out, NULL), RT_NOT_FOUND);
}

/* As many as there may be, and an end in the middle of all of them. */
static void
test_many(void **state)
{
	fixture *f = *state;
	const char *at;
	size_t partial = 0;
	char names[RT_RUNS_MAX][24], name[24];
	int i;

	write_script(f, RT_STR("{\"text\":\"So \"}\n{\"wait_ms\":600000}\n"));
	reader_open(&f->r, f->feed, 0);
	reader_is(&f->r, "hello", "");
	for (i = 0; i < RT_RUNS_MAX; i++)
		start_play(f, "ask", ",\"text\":\"Q\"", names[i]);
	assert_int_equal(try_start(f, "ask", "{\"text\":\"one more\"}", name), RT_LIMIT);
	for (i = 0; i < RT_RUNS_MAX; i++)
		wait_for(f, names[i], "\"text\":\"So \"");
	close_runs(f);
	for (at = shown(f); (at = strstr(at, "\"partial\":true")) != NULL; at++)
		partial++;
	assert_int_equal(partial, RT_RUNS_MAX);
	while (reader_now(&f->r)) /* all rows, and nothing of runs that are gone */
		assert_string_equal(f->r.name, "op");
}

static void
test_forgotten(void **state)
{
	fixture *f = *state;
	char name[24];

	start(f, "ask", "{\"text\":\"A secret word\"}", name);
	ended(f, name, "done");
	rt_runs_purge(f->runs, RT_STR("not there"));
	ended(f, name, "done");
	start(f, "ask", "{\"text\":\"Another\"}", name);
	ended(f, name, "done");
	atomic_store(&f->later_us, 3599000000);
	ended(f, name, "done");
	atomic_store(&f->later_us, 3700000000);
	forgotten(f, name);
	start(f, "ask", "{\"text\":\"A secret word\"}", name);
	assert_true(rt_str_starts(rt_str_of(name), RT_STR("r3-")));
	ended(f, name, "done");
	rt_runs_purge(f->runs, RT_STR("secret"));
	rt_buf_clear(&f->out);
	assert_int_equal(rt_runs_show_json(f->runs, rt_str_of(name), &f->out, NULL), RT_NOT_FOUND);
}

/* Also when its thread has not left it yet, which is so for a moment after it was seen to end. */
static void
test_forgotten_at_once(void **state)
{
	fixture *f = *state;
	char name[24];
	int i;

	for (i = 0; i < 300; i++) {
		start(f, "ask", "{\"text\":\"A secret word\"}", name);
		while (strstr(show(f, name), "\"ended\":") == NULL)
			(void)sched_yield();
		has(f, name, "A secret word");
		rt_runs_purge(f->runs, RT_STR("secret"));
		rt_buf_clear(&f->out);
		assert_int_equal(rt_runs_show_json(f->runs, rt_str_of(name), &f->out, NULL),
				 RT_NOT_FOUND);
		assert_int_equal(rt_runs_list_json(f->runs, &f->out, NULL), RT_OK);
		assert_null(strstr(f->out.ptr, name));
	}
}

/* It began long ago, and so many have begun and ended since that it would be one too many. */
static void
test_its_end_is_heard_of(void **state)
{
	fixture *f = *state;
	char longest[24], name[24];
	int i;

	write_script(f, RT_STR("{\"text\":\"So \"}\n{\"wait_ms\":600000}\n"));
	start_play(f, "ask", ",\"text\":\"Q\"", longest);
	wait_for(f, longest, "\"text\":\"So \"");
	write_script(f, RT_STR("{\"text\":\"x\"}\n"));
	for (i = 0; i < RT_RUNS_KEPT + 3; i++) {
		start_play(f, "ask", ",\"text\":\"Q\"", name);
		ended(f, name, "done");
	}
	atomic_store(&f->later_us, (int64_t)2 * RT_RUNS_FRESH_S * 1000000);
	assert_int_equal(rt_runs_stop(f->runs, rt_str_of(longest), NULL), RT_OK);
	ended(f, longest, "stopped");
	has(f, longest, "\"partial\":true");
	has(f, name, "\"state\":\"done\"");
	atomic_store(&f->later_us, (int64_t)4 * RT_RUNS_FRESH_S * 1000000);
	forgotten(f, longest);
	has(f, name, "\"state\":\"done\"");
}

/* ---- many at once ---- */

enum { CROWD_RUNS = 12, CROWD_READERS = 3, CROWD_CUTS = 60 };

typedef struct crowd {
	fixture *f;
	atomic_bool is_over;
	rt_buf text;         /* that each of them says */
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
		atomic_fetch_add(&c->f->later_us, 250000); /* other processes' replies are looked for */
		rt_feed_tick(c->f->feed);
		(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

/* Runs in several discussions, and streams that come and go: on each connection every text is
 * whole from its beginning. */
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

/* Without memory a run does not begin, or fails, or its text is not all there; nothing is
 * lost and nothing hangs. */
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

static void
test_elsewhere(void **state)
{
	fixture *f = *state;

	assert_false(rt_runs_is_elsewhere(f->runs, RT_STR("this one"), 0));
	assert_true(rt_runs_is_elsewhere(f->runs, RT_STR("another"), 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ask, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_in_pieces, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stop, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_continue, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_continue_twice, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_summaries, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_two_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_late_stream, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_long_text, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_notice_and_problem, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_forgotten, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_forgotten_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_its_end_is_heard_of, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_crowd, set_up, tear_down),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test_setup_teardown(test_no_memory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_elsewhere, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
