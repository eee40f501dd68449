/* SPDX-License-Identifier: MIT
 *
 * Runs with the built-in models: the request, the received text, the result; and the events of a
 * stream. */
#include "server/run_testing.h"

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
	/* the requester is in the history */
	assert_non_null(strstr(f->r.all.ptr, "\"by\":\"web\""));
	heard_deinit(&h);
}

/* A reply is streamed while it arrives. A stream that is read late gets all of it at once, and then
 * this is tried again. */
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
	/* each reply's text begins again at 0 */
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

/* Only one run at a time can continue the same reply of the same take. */
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
	assert_non_null(strstr(f->err.text, "already being continued"));
	assert_int_equal(
		try_start(f, "again", "{\"model\":\"builtin/echo\",\"take\":\"main\"}", name),
		RT_OK);
	ended(f, name, "done"); /* another reply is not affected */
	apply(f, "{\"op\":\"take.branch\",\"at\":\":2\",\"take\":\"main\",\"name\":\"aside\"}");
	start(f, "continue", "{\"model\":\"builtin/echo\",\"take\":\"aside\"}", name);
	ended(f, name, "done"); /* nor is the same reply in another take */
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
	/* no model is needed just to move there */
	close_runs(f);
	open_runs(f, "");
	start(f, "go", "{\"entry\":\"e4\",\"summary\":false,\"select\":true}", name);
	ended(f, name, "done");
	has(f, name, "\"editor\":\"t4\"");
	/* the conclusions of the take that was left */
	start(f, "merge", "{\"from_take\":\"main\",\"model\":\"builtin/summary\"}", name);
	ended(f, name, "done");
	has(f, name, "\"entry\":\"");
	is_shown(f, "\"from_take\":\"main\"");
	assert_int_equal(try_start(f, "merge", "{\"model\":\"builtin/summary\"}", name), RT_USAGE);
	assert_int_equal(
		try_start(f, "merge", "{\"from_take\":\"x\",\"model\":\"builtin/summary\"}", name),
		RT_NOT_FOUND);
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
	/* a stream of one discussion gets only its runs */
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

/* A stream that comes in the middle: the text so far, and then the rest. */
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
		if (strstr(show(f, name), "\"ended\"") == NULL) { /* else again */
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

/* Much at once, for a slow stream: whole characters, in large pieces. */
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
	is_shown(f, "\"failure\":{\"code\":\"credentials\",\"detail\":\"");
	reader_is(&f->r, "op", "entry.append");
	reader_is(&f->r, "op", "entry.fail");
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
	/* the setting takes precedence over the program's option */
	apply(f, "{\"op\":\"setting.set\",\"key\":\"model\",\"value\":\"builtin/echo\"}");
	start(f, "ask", "{}", name); /* the existing path is answered */
	ended(f, name, "done");
	is_shown(f, "You said: \\\"t\\\"");
	rt_buf_clear(&f->out);
	assert_int_equal(rt_runs_show_json(f->runs, RT_STR("r7"), &f->out, NULL), RT_NOT_FOUND);
}

/* The maximum number of runs, ended in the middle of all of them. */
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
	while (reader_now(&f->r)) /* all rows, and no events of forgotten runs */
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

/* Also if its thread has not ended yet, as for a moment after the end of the run. */
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

/* It began long ago, and the maximum number of runs has begun and ended since. */
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
		WITH_RUNS(test_ask),
		WITH_RUNS(test_in_pieces),
		WITH_RUNS(test_stop),
		WITH_RUNS(test_again),
		WITH_RUNS(test_continue),
		WITH_RUNS(test_continue_twice),
		WITH_RUNS(test_summaries),
		WITH_RUNS(test_two_at_once),
		WITH_RUNS(test_late_stream),
		WITH_RUNS(test_long_text),
		WITH_RUNS(test_notice_and_problem),
		WITH_RUNS(test_refusals),
		WITH_RUNS(test_many),
		WITH_RUNS(test_forgotten),
		WITH_RUNS(test_forgotten_at_once),
		WITH_RUNS(test_its_end_is_heard_of),
		WITH_RUNS(test_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
