/* SPDX-License-Identifier: MIT
 *
 * Compaction on a threshold (T15): with the setting compact_auto, entries that no longer fit are
 * summarised before a question is sent; in a separate step, or not at all. */
#include "chat/send_testing.h"

#include "chat/summary.h"
#include "formats/formats.h"
#include "llm/llm_testing.h"
#include "store/store_memory.h"

enum { LONG = 400 }; /* bytes of an entry: about 100 tokens */

/* A model that writes summaries and answers, each with a fixed text. */
typedef struct fixture {
	world w;
	rt_model model;
	const char *summary;  /* its answer to the request for a summary */
	rt_status sum_status; /* how that ends */
	rt_stop sum_stop;
	size_t summed, answered;
	rt_buf asked;  /* the last request for a reply, NUL-ended */
	rt_buf told;   /* the last request for a summary, NUL-ended */
	rt_buf shown;  /* received text, as a screen shows it */
	rt_hooks hooks;
	bool deny;
	bool hears_all; /* and not only for compactions */
	rt_buf events;
	size_t budget;
} fixture;

static rt_status
model_ask(rt_model *model, const rt_ask *ask, rt_reply *reply, rt_error *err)
{
	fixture *f = (fixture *)((char *)model - offsetof(fixture, model));
	bool sums = rt_str_find(ask->body, RT_STR("<conversation>"), 0) != SIZE_MAX;
	rt_buf *body = sums ? &f->told : &f->asked;

	rt_buf_clear(body);
	rt_buf_add_str(body, ask->body);
	rt_buf_add_byte(body, '\0');
	world_wait(&f->w, 1);
	if (sums)
		f->summed++;
	else
		f->answered++;
	if (ask->stop != NULL && ask->stop(ask->ctx))
		return rt_fail(err, RT_INTERRUPTED, "stopped");
	if (sums && f->sum_status != RT_OK)
		return rt_fail(err, f->sum_status, "the server is down");
	rt_reply_add_text(reply, sums ? rt_str_of(f->summary) : RT_STR("Yes."));
	rt_reply_set_stop(reply, sums ? f->sum_stop : RT_STOP_END);
	return RT_OK;
}

static bool
wants(rt_hooks *hooks, const char *event)
{
	fixture *f = (fixture *)((char *)hooks - offsetof(fixture, hooks));

	return f->hears_all || strncmp(event, "compact.", 8) == 0;
}

static rt_status
fire(rt_hooks *hooks, const char *event, rt_str members, rt_str subject, rt_stop_fn stop, void *ctx,
     rt_hook_answer *out, rt_error *err)
{
	fixture *f = (fixture *)((char *)hooks - offsetof(fixture, hooks));

	(void)subject;
	(void)stop;
	(void)ctx;
	(void)err;
	rt_buf_add_f(&f->events, "%s %.*s\n", event, RT_STR_ARG(members));
	if (f->deny && strcmp(event, "compact.before") == 0) {
		out->decision = RT_HOOK_DENY;
		rt_buf_add_c(&out->by, "guard");
		rt_buf_add_c(&out->reason, "not now");
	}
	return RT_OK;
}

static void
arrived(void *ctx, rt_reply_block_kind kind, size_t block, rt_str added)
{
	world *w = ctx;
	fixture *f = (fixture *)w;

	(void)kind;
	(void)block;
	rt_buf_add_str(&f->shown, added);
}

static int
set_up(void **state)
{
	static const rt_model_ops ops = {NULL, model_ask};
	static const rt_hooks_ops hook_ops = {.wants = wants, .fire = fire};
	fixture *f = test_calloc(1, sizeof(*f));

	world_init(&f->w);
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &f->w.env, &f->w.store, NULL), RT_OK);
	world_open_engine(&f->w, NULL);
	f->model = (rt_model){.ops = &ops,
			       .provider = rt_provider_named(RT_STR("openai")),
			       .name = RT_STR("m")};
	f->hooks.ops = &hook_ops;
	f->summary = "In short.";
	f->sum_stop = RT_STOP_END;
	f->budget = 1000;
	rt_buf_init(&f->asked, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&f->told, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&f->shown, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&f->events, rt_alloc_libc(), RT_BUF_UNLIMITED);
	world_apply(&f->w, "{\"op\":\"setting.set\",\"key\":\"compact_auto\",\"value\":true}");
	world_apply(&f->w,
		    "{\"op\":\"setting.set\",\"key\":\"compact_reserve_tokens\",\"value\":400}");
	world_apply(&f->w, "{\"op\":\"setting.set\",\"key\":\"compact_keep_tokens\",\"value\":230}");
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture *f = *state;

	rt_buf_deinit(&f->asked);
	rt_buf_deinit(&f->told);
	rt_buf_deinit(&f->shown);
	rt_buf_deinit(&f->events);
	world_deinit(&f->w);
	test_free(f);
	return 0;
}

/* An entry of about 100 tokens, which begins with its id. */
static void
add_long(fixture *f, const char *id, const char *role)
{
	char text[LONG + 1];

	memset(text, 'x', LONG);
	text[LONG] = '\0';
	memcpy(text, id, strlen(id));
	world_add(&f->w, id, role, text);
}

/* e1 User … e<count>, in turns. */
static void
talk(fixture *f, size_t count)
{
	char id[24];
	size_t i;

	for (i = 1; i <= count; i++) {
		snprintf(id, sizeof(id), "e%zu", i);
		add_long(f, id, i % 2 == 1 ? "User" : "AI");
	}
}

static rt_status
send_to(fixture *f, rt_send_how how, const char *at, const char *text)
{
	rt_send_options o = {.how = how, .at = rt_str_of(at)};

	if (text != NULL)
		o.text = rt_str_of(text);
	o.with = world_with(&f->w);
	o.with.model = &f->model;
	o.with.hooks = &f->hooks;
	o.with.budget_tokens = f->budget;
	o.with.fn = arrived;
	rt_buf_clear(&f->events);
	rt_buf_clear(&f->shown);
	f->summed = f->answered = 0;
	return world_send_options(&f->w, o);
}

/* The entries of the take by the first letters of their texts. */
static const char *
order(fixture *f)
{
	static char out[400];
	const char *line = world_shown(&f->w);
	size_t size = 0;

	for (; *line != '\0'; line = strchr(line, '\n') + 1) {
		const char *text = strstr(line, ": ") + 2;

		if (size > 0)
			out[size++] = ' ';
		while (*text != '\n' && *text != ' ' && *text != 'x' && size < sizeof(out) - 2)
			out[size++] = *text++;
	}
	out[size] = '\0';
	return out;
}

static bool
sent(fixture *f, const char *part)
{
	return f->asked.size > 0 && strstr(f->asked.ptr, part) != NULL;
}

static bool
noted(fixture *f, const char *part)
{
	return f->w.result.note != NULL && strstr(f->w.result.note->ptr, part) != NULL;
}

static void
what_no_longer_fits_is_summed_up_first(void **state)
{
	fixture *f = *state;

	talk(f, 5);
	assert_int_equal(send_to(f, RT_SEND_ASK, "", "Q1"), RT_OK);
	/* 600 tokens are the limit: five long ones and the question fit */
	assert_int_equal(f->summed, 0);
	assert_string_equal(f->w.result.compaction.entry, "");
	world_apply(&f->w, "{\"op\":\"undo\",\"count\":2}");
	add_long(f, "e6", "AI");
	assert_int_equal(send_to(f, RT_SEND_ASK, "", "Q2"), RT_OK);
	assert_int_equal(f->summed, 1);
	assert_int_equal(f->answered, 1);
	/* right before the question; the two newest are unchanged */
	assert_string_equal(order(f), "e1 e2 e3 e4 e5 e6 In Q2 Yes.");
	assert_true(strstr(f->told.ptr, "e4xx") != NULL && strstr(f->told.ptr, "e5xx") == NULL);
	assert_true(sent(f, "In short.") && sent(f, "e5xx") && sent(f, "Q2") && !sent(f, "e4xx"));
	assert_int_equal(f->w.result.left_out, 0);
	assert_int_equal(f->w.result.compaction.entries, 4);
	assert_true(f->w.result.compaction.tokens_after < f->w.result.compaction.tokens_before);
	world_has(&f->w, f->w.result.compaction.entry, "\"first_kept\":\"e5\"");
	/* only the reply is on the screen */
	assert_true(rt_str_is(rt_buf_str(&f->shown), "Yes."));
	/* there is enough space again */
	assert_int_equal(send_to(f, RT_SEND_ASK, "", "Q3"), RT_OK);
	assert_int_equal(f->summed, 0);
}

static void
it_is_a_step_that_is_undone_by_itself(void **state)
{
	fixture *f = *state;
	char json[80];

	talk(f, 6);
	assert_int_equal(send_to(f, RT_SEND_ASK, "", "Q"), RT_OK);
	assert_true(f->w.result.compaction.seq < f->w.result.seq);
	snprintf(json, sizeof(json), "{\"op\":\"revert\",\"seq\":%llu}",
		 (unsigned long long)f->w.result.compaction.seq);
	world_apply(&f->w, json);
	assert_string_equal(order(f), "e1 e2 e3 e4 e5 e6 Q Yes.");
	world_apply(&f->w, "{\"op\":\"undo\"}");
	assert_string_equal(order(f), "e1 e2 e3 e4 e5 e6 In Q Yes.");
	/* and in order: reply, compaction, question */
	world_apply(&f->w, "{\"op\":\"undo\"}");
	assert_string_equal(order(f), "e1 e2 e3 e4 e5 e6 In Q");
	world_apply(&f->w, "{\"op\":\"undo\"}");
	assert_string_equal(order(f), "e1 e2 e3 e4 e5 e6 Q");
	world_apply(&f->w, "{\"op\":\"undo\"}");
	assert_string_equal(order(f), "e1 e2 e3 e4 e5 e6");
}

static void
off_is_the_default(void **state)
{
	fixture *f = *state;

	world_apply(&f->w, "{\"op\":\"setting.set\",\"key\":\"compact_auto\",\"value\":null}");
	talk(f, 12);
	assert_int_equal(send_to(f, RT_SEND_ASK, "", "Q"), RT_OK);
	assert_int_equal(f->summed, 0);
	assert_true(f->w.result.left_out > 0);
	assert_null(f->w.result.note);
}

/* After any failure nothing is changed, and the request is sent without the oldest entries. */
static void
a_failed_compaction_leaves_everything_as_it_was(void **state)
{
	fixture *f = *state;
	size_t i;

	talk(f, 6);
	for (i = 0; i < 4; i++) {
		f->sum_status = i == 0 ? RT_UPSTREAM : RT_OK;
		f->sum_stop = i == 1 ? RT_STOP_LENGTH : RT_STOP_END;
		f->summary = i == 2 ? " " : "In short.";
		f->deny = i == 3;
		assert_int_equal(send_to(f, RT_SEND_ASK, "", "Q"), RT_OK);
		assert_string_equal(order(f), "e1 e2 e3 e4 e5 e6 Q Yes.");
		assert_string_equal(f->w.result.compaction.entry, "");
		assert_true(f->w.result.left_out > 0);
		assert_true(f->w.result.tokens <= 600);
		assert_true(!sent(f, "e1xx") && sent(f, "e6xx") && sent(f, "Q"));
		if (!noted(f, "left out without a summary"))
			fail_msg("%zu: not noted", i);
		world_apply(&f->w, "{\"op\":\"undo\",\"count\":2}");
	}
}

static void
a_cancelled_compaction_sends_nothing(void **state)
{
	fixture *f = *state;

	talk(f, 6);
	f->w.stop_at = 1;
	assert_int_equal(send_to(f, RT_SEND_ASK, "", "Q"), RT_INTERRUPTED);
	assert_int_equal(f->summed, 1);
	assert_int_equal(f->answered, 0);
	assert_string_equal(order(f), "e1 e2 e3 e4 e5 e6 Q");
	assert_int_equal(world_flights(&f->w), 0);
	/* and then, again */
	f->w.stop_at = 0;
	assert_int_equal(send_to(f, RT_SEND_ASK, "", NULL), RT_OK);
	assert_string_equal(order(f), "e1 e2 e3 e4 e5 e6 In Q Yes.");
}

static void
every_way_of_sending_makes_room(void **state)
{
	fixture *f = *state;

	talk(f, 7);
	/* an existing question is answered: the compaction is before it */
	assert_int_equal(send_to(f, RT_SEND_ASK, "", NULL), RT_OK);
	assert_string_equal(order(f), "e1 e2 e3 e4 e5 e6 In e7 Yes.");
	world_apply(&f->w, "{\"op\":\"undo\",\"count\":2}");
	/* another reply, in a new take, and the old take has space too */
	add_long(f, "e8", "AI");
	assert_int_equal(send_to(f, RT_SEND_AGAIN, "", NULL), RT_OK);
	assert_string_equal(order(f), "e1 e2 e3 e4 e5 e6 In e7 Yes.");
	world_apply(&f->w, "{\"op\":\"take.switch\",\"take\":\"main\"}");
	assert_string_equal(order(f), "e1 e2 e3 e4 e5 e6 In e7 e8");
	assert_int_equal(send_to(f, RT_SEND_AGAIN, "e8", NULL), RT_OK);
	assert_int_equal(f->summed, 0);
	/* from the middle: in the new take */
	world_apply(&f->w, "{\"op\":\"take.switch\",\"take\":\"main\"}");
	world_apply(&f->w, "{\"op\":\"entry.delete\",\"entry\":\":7\"}");
	assert_int_equal(send_to(f, RT_SEND_ASK, "e6", "Q"), RT_OK);
	assert_string_equal(order(f), "e1 e2 e3 e4 e5 e6 In Q Yes.");
	assert_non_null(strstr(world_take(&f->w, "main"), "AI: e8"));
	assert_null(strstr(world_take(&f->w, "main"), "In short."));
	/* continuing a reply */
	world_apply(&f->w, "{\"op\":\"take.switch\",\"take\":\"main\"}");
	assert_int_equal(send_to(f, RT_SEND_CONTINUE, "e8", NULL), RT_OK);
	assert_string_equal(order(f), "e1 e2 e3 e4 e5 e6 e7 In e8");
}

/* An AI's call, and its result. */
static void
add_call(fixture *f, const char *id)
{
	char json[LONG + 300], text[LONG + 1];

	memset(text, 'x', LONG);
	text[LONG] = '\0';
	snprintf(json, sizeof(json),
		 "{\"op\":\"entry.append\",\"id\":\"%s\",\"role\":\"AI\",\"content\":[{\"type\":\"text\","
		 "\"text\":\"%s%s\"},{\"type\":\"toolCall\",\"id\":\"c%s\",\"name\":\"n\","
		 "\"arguments\":{}}]}",
		 id, id, text, id);
	world_apply(&f->w, json);
	snprintf(json, sizeof(json),
		 "{\"op\":\"entry.append\",\"id\":\"%sr\",\"role\":\"Tool\",\"content\":\"%sr%s\","
		 "\"tool_call_id\":\"c%s\"}",
		 id, id, text, id);
	world_apply(&f->w, json);
}

/* Wherever the threshold is, a call and its result are both summarised or both sent. */
static void
it_never_parts_a_call_from_its_result(void **state)
{
	void *s = NULL;
	size_t keep, compactions = 0;

	(void)state;
	for (keep = 1; keep <= 300; keep += 23) {
		char json[120];
		fixture *f;

		assert_int_equal(set_up(&s), 0);
		f = s;
		snprintf(json, sizeof(json),
			 "{\"op\":\"setting.set\",\"key\":\"compact_keep_tokens\",\"value\":%zu}", keep);
		world_apply(&f->w, json);
		talk(f, 3);
		add_call(f, "k");
		add_call(f, "l"); /* the question is its result */
		assert_int_equal(send_to(f, RT_SEND_ASK, "", NULL), RT_OK);
		compactions += f->summed;
		if (sent(f, "krxx") != sent(f, "\"ck\"") || !sent(f, "lrxx") || !sent(f, "\"cl\""))
			fail_msg("keep %zu: %s", keep, f->asked.ptr);
		/* nor is the compaction between them */
		if (strstr(order(f), "In l") != NULL ||
		    strstr(world_shown(&f->w), "In short.\nTool") != NULL)
			fail_msg("keep %zu: %s", keep, world_shown(&f->w));
		assert_int_equal(tear_down(&s), 0);
	}
	assert_int_equal(compactions, 14);
}

static void
earlier_compactions_and_their_details_are_passed_on(void **state)
{
	fixture *f = *state;
	size_t i;

	talk(f, 2);
	world_apply(&f->w, "{\"op\":\"entry.append\",\"id\":\"C\",\"role\":\"System\","
			   "\"kind\":\"compaction\",\"content\":\"Before.\",\"first_kept\":\"e2\","
			   "\"details\":{\"readFiles\":[\"a.c\"]}}");
	for (i = 0; i < 6; i++) {
		char id[8];

		snprintf(id, sizeof(id), "g%zu", i);
		add_long(f, id, i % 2 == 0 ? "User" : "AI");
	}
	assert_int_equal(send_to(f, RT_SEND_ASK, "", "Q"), RT_OK);
	assert_string_equal(order(f), "e1 e2 Before. g0 g1 g2 g3 g4 g5 In Q Yes.");
	assert_non_null(strstr(f->told.ptr, "[summary of earlier entries]: Before."));
	assert_null(strstr(f->told.ptr, "e1xx"));
	rt_buf_add_byte(&f->events, '\0');
	assert_non_null(strstr(f->events.ptr, "\"previousCompactions\":[{\"id\":\"C\""));
	assert_non_null(strstr(f->events.ptr, "\"details\":{\"readFiles\":[\"a.c\"]}"));
	assert_non_null(strstr(f->events.ptr, "\"reason\":\"threshold\""));
	assert_non_null(strstr(f->events.ptr, "\ncompact.after "));
}

/* Every event once, in the order of the actions. */
static void
hooks_hear_of_all_of_it(void **state)
{
	static const struct {
		const char *event, *part; /* of its members */
	} expected[] = {
		{"entry.before_add ", "\"op\":{\"op\":\"entry.append\""},
		{"entry.after ", "\"op\":{\"op\":\"entry.append\""},
		{"compact.before ", "\"reason\":\"threshold\""},
		{"request.before ", "\"reason\":\"summary\""},
		{"request.after ", "\"reason\":\"summary\""},
		{"entry.after ", "\"op\":{\"op\":\"entry.insert\""},
		{"compact.after ", "\"content\":\"In short.\""},
		{"request.before ", "\"reason\":\"reply\""},
		{"entry.after ", "\"op\":{\"op\":\"entry.reply\""},
		{"request.after ", "\"reason\":\"reply\",\"status\":\"ok\""},
		{"reply.after ", "\"content\":\"Yes.\""},
	};
	fixture *f = *state;
	char *line, *end;
	size_t i;

	f->hears_all = true;
	talk(f, 8);
	assert_int_equal(send_to(f, RT_SEND_ASK, "", "Q"), RT_OK);
	assert_int_equal(f->summed, 1);
	rt_buf_add_byte(&f->events, '\0');
	line = f->events.ptr;
	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		end = strchr(line, '\n');
		assert_non_null(end);
		*end = '\0';
		if (strncmp(line, expected[i].event, strlen(expected[i].event)) != 0 ||
		    strstr(line, expected[i].part) == NULL)
			fail_msg("no %swith %s but %s", expected[i].event, expected[i].part, line);
		line = end + 1;
	}
	assert_string_equal(line, "");
}

/* No window, one that is smaller than the reserve, and too much to summarise. */
static void
windows_of_every_size(void **state)
{
	fixture *f = *state;

	talk(f, 6);
	f->budget = 0;
	assert_int_equal(send_to(f, RT_SEND_ASK, "", "Q"), RT_OK);
	assert_int_equal(f->summed, 0);
	assert_true(noted(f, "the size of the model's context is unknown"));
	world_apply(&f->w, "{\"op\":\"undo\",\"count\":2}");
	/* half of it is for the reply, half of the rest is kept */
	world_apply(&f->w,
		    "{\"op\":\"setting.set\",\"key\":\"compact_reserve_tokens\",\"value\":16384}");
	f->budget = 600;
	assert_int_equal(send_to(f, RT_SEND_ASK, "", "Q"), RT_OK);
	assert_int_equal(f->summed, 1);
	assert_true(f->w.result.tokens <= 300 && f->w.result.left_out == 0);
	world_apply(&f->w, "{\"op\":\"undo\",\"count\":3}");
	f->budget = 300;
	assert_int_equal(send_to(f, RT_SEND_ASK, "", "Q"), RT_OK);
	assert_int_equal(f->summed, 0);
	assert_true(noted(f, "the text to summarise has about"));
	assert_true(f->w.result.tokens <= 150);
}

#define WITH_WORLD(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(what_no_longer_fits_is_summed_up_first),
		WITH_WORLD(it_is_a_step_that_is_undone_by_itself),
		WITH_WORLD(off_is_the_default),
		WITH_WORLD(a_failed_compaction_leaves_everything_as_it_was),
		WITH_WORLD(a_cancelled_compaction_sends_nothing),
		WITH_WORLD(every_way_of_sending_makes_room),
		cmocka_unit_test(it_never_parts_a_call_from_its_result),
		WITH_WORLD(earlier_compactions_and_their_details_are_passed_on),
		WITH_WORLD(hooks_hear_of_all_of_it),
		WITH_WORLD(windows_of_every_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
