/* SPDX-License-Identifier: MIT
 *
 * Two engines on one store: while the first waits for a model, the second changes the entries that
 * the answer is based on. An answer based on outdated entries is a conflict, and no change of the
 * second is lost. The second acts while the model waits, while a hook runs, or at the worst moment:
 * after the last check of the first, right before it writes. */
#include "chat/send_testing.h"

#include "ops/action.h"
#include "chat/summary.h"
#include "formats/formats.h"
#include "llm/llm_testing.h"
#include "store/store_memory.h"

typedef enum moment { WAITING, ASKING, LATE, MOMENTS } moment;
static const char *const moments[] = {"waiting", "asking", "late"};

typedef struct fixture {
	world w;
	rt_engine *other;
	const rt_store_ops *ops; /* the store's own */
	rt_store_ops late;       /* the same, with begin below */
	sayer s;
	say said[2];
	const char *change; /* the change of the second; NULL: none, or done */
	moment moment;      /* LATE: right before the first begins to write */
	rt_hooks hooks;     /* subscribe to everything, without an answer */
	bool has_hooks;
	size_t told;        /* events that had been fired */
} fixture;

/* rt_store_ops.begin has no context parameter. */
static fixture *at_hand;

static void
other_changes(fixture *f)
{
	rt_result result;
	const char *json = f->change;

	f->change = NULL;
	if (json == NULL)
		return;
	if (rt_engine_apply_text(f->other, rt_str_of(json), RT_STR(""), RT_STR(""), &result) !=
	    RT_OK)
		fail_msg("%s: %s", json, result.error.text);
	rt_result_deinit(&result);
}

static rt_status
begin_late(rt_store *store, rt_error *err)
{
	if (at_hand->moment == LATE && at_hand->w.waits > 0)
		other_changes(at_hand);
	return at_hand->ops->begin(store, err);
}

static void
meanwhile(world *w)
{
	fixture *f = (fixture *)w;

	if (f->moment == WAITING && w->waits == 1)
		other_changes(f);
}

static bool
wants(rt_hooks *hooks, const char *event)
{
	(void)hooks;
	(void)event;
	return true;
}

static rt_status
fire(rt_hooks *hooks, const char *event, rt_str members, rt_str subject, rt_stop_fn stop, void *ctx,
     rt_hook_answer *out, rt_error *err)
{
	(void)hooks;
	(void)members;
	(void)subject;
	(void)stop;
	(void)ctx;
	(void)out;
	(void)err;
	if (strcmp(event, "request.after") == 0)
		return RT_OK; /* the event of the request is true in any case */
	if (strstr(event, "before") == NULL)
		at_hand->told++;
	else if (at_hand->moment == ASKING)
		other_changes(at_hand);
	return RT_OK;
}

static int
set_up(void **state)
{
	static const rt_hooks_ops hook_ops = {.wants = wants, .fire = fire};
	fixture *f = test_calloc(1, sizeof(*f));
	rt_engine_options options;

	at_hand = f;
	f->hooks.ops = &hook_ops;
	world_init(&f->w);
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &f->w.env, &f->w.store, NULL), RT_OK);
	f->ops = f->w.store->ops;
	f->late = *f->ops;
	f->late.begin = begin_late;
	f->w.store->ops = &f->late;
	world_open_engine(&f->w, NULL);
	options = (rt_engine_options){.env = &f->w.env};
	assert_int_equal(rt_engine_open(&options, f->w.store, &f->other, NULL), RT_OK);
	f->said[0] = (say){SAY_TEXT, "In ", 0, NULL, NULL};
	f->said[1] = (say){SAY_TEXT, "short.", 0, NULL, NULL};
	sayer_init(&f->s, &f->w, rt_provider_named(RT_STR("openai")), f->said, 2);
	f->w.meanwhile = meanwhile;
	world_add(&f->w, "a", "User", "one");
	world_add(&f->w, "b", "AI", "two");
	world_add(&f->w, "c", "User", "three");
	world_add(&f->w, "d", "AI", "four");
	world_add(&f->w, "e", "User", "five");
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture *f = *state;

	rt_engine_close(f->other);
	f->w.store->ops = f->ops;
	world_deinit(&f->w);
	test_free(f);
	return 0;
}

typedef enum what { COMPACT, RANGE, COMPRESS, GO, ASK, AGAIN, CONTINUE } what;

static rt_status
run(fixture *f, what which)
{
	rt_send_with with = world_with(&f->w);
	rt_summary_result result;
	rt_status st;

	with.model = &f->s.model;
	with.hooks = f->has_hooks ? &f->hooks : NULL;
	f->told = 0;
	f->w.waits = 0;
	memset(&f->w.err, 0, sizeof(f->w.err));
	if (which >= ASK) {
		rt_send_options o = {.how = which == ASK     ? RT_SEND_ASK
					    : which == AGAIN ? RT_SEND_AGAIN
							     : RT_SEND_CONTINUE,
				     .with = with,
				     .at = which == ASK ? rt_str_at("", 0) : RT_STR("d")};

		return world_send_options(&f->w, o);
	}
	if (which == COMPRESS) {
		rt_compress_options o = {.with = with};

		st = rt_engine_compress(f->w.engine, &o, &result, &f->w.err);
	} else if (which == GO) {
		rt_navigate_options o = {.with = with, .target = RT_STR("b"), .summarize = true};

		st = rt_engine_navigate(f->w.engine, &o, &result, &f->w.err);
	} else {
		rt_compact_options o = {.with = with, .keep_tokens = 12};

		if (which == RANGE) {
			o.from = RT_STR("b");
			o.to = RT_STR("c");
		}
		st = rt_engine_compact(f->w.engine, &o, &result, &f->w.err);
	}
	rt_summary_result_deinit(&result);
	return st;
}

static void
differs(const char *is, const char *expected, const char *which, const char *change, moment when)
{
	if (strcmp(is, expected) != 0)
		fail_msg("%s, %s, %s:\n%sand not\n%s", which, change, moments[when], is, expected);
}

#define EDIT(id) "{\"op\":\"entry.edit\",\"entry\":\"" id "\",\"content\":\"EDIT\"}"
#define INSERT(id) "{\"op\":\"entry.insert\",\"after\":\"" id "\",\"role\":\"AI\",\"content\":\"NEW\"}"
#define DELETE(id) "{\"op\":\"entry.delete\",\"entry\":\"" id "\"}"
#define MUTE(id) "{\"op\":\"entry.mute\",\"entry\":\"" id "\"}"
#define ROLE(id) "{\"op\":\"entry.role\",\"entry\":\"" id "\",\"role\":\"AI\"}"
#define MOVE(id, to) "{\"op\":\"entry.move\",\"entry\":\"" id "\",\"after\":\"" to "\"}"
#define APPEND "{\"op\":\"entry.append\",\"content\":\"NEW\"}"
#define PURGE "{\"op\":\"purge\",\"entry\":\"b\"}"
#define BRANCH "{\"op\":\"take.branch\",\"at\":\"c\"}"

/* The status of the first, and the take called main afterwards: it contains the change of the
 * second. */
static const struct {
	what which;
	const char *name, *change;
	rt_status status;
	const char *take;
} cases[] = {
	{COMPACT, "compact", EDIT("b"), RT_CONFLICT,
	 "User: one\nAI: EDIT\nUser: three\nAI: four\nUser: five\n"},
	{COMPACT, "compact", INSERT("a"), RT_CONFLICT,
	 "User: one\nAI: NEW\nAI: two\nUser: three\nAI: four\nUser: five\n"},
	{COMPACT, "compact", INSERT("c"), RT_CONFLICT,
	 "User: one\nAI: two\nUser: three\nAI: NEW\nAI: four\nUser: five\n"},
	{COMPACT, "compact", DELETE("a"), RT_CONFLICT, "AI: two\nUser: three\nAI: four\nUser: five\n"},
	{COMPACT, "compact", DELETE("d"), RT_CONFLICT, "User: one\nAI: two\nUser: three\nUser: five\n"},
	{COMPACT, "compact", ROLE("a"), RT_CONFLICT,
	 "AI: one\nAI: two\nUser: three\nAI: four\nUser: five\n"},
	{COMPACT, "compact", MUTE("a"), RT_CONFLICT,
	 "User: one\nAI: two\nUser: three\nAI: four\nUser: five\n"},
	{COMPACT, "compact", MOVE("a", "e"), RT_CONFLICT,
	 "AI: two\nUser: three\nAI: four\nUser: five\nUser: one\n"},
	{COMPACT, "compact", PURGE, RT_CONFLICT, "User: one\nAI: \nUser: three\nAI: four\nUser: five\n"},
	/* entries that are kept unchanged may be edited */
	{COMPACT, "compact", EDIT("d"), RT_OK,
	 "User: one\nAI: two\nUser: three\nAI: EDIT\nUser: five\nSystem (compaction): In short.\n"},
	{COMPACT, "compact", APPEND, RT_OK,
	 "User: one\nAI: two\nUser: three\nAI: four\nUser: five\nUser: NEW\n"
	 "System (compaction): In short.\n"},
	{RANGE, "range", EDIT("c"), RT_CONFLICT,
	 "User: one\nAI: two\nUser: EDIT\nAI: four\nUser: five\n"},
	{RANGE, "range", INSERT("b"), RT_CONFLICT,
	 "User: one\nAI: two\nAI: NEW\nUser: three\nAI: four\nUser: five\n"},
	{RANGE, "range", DELETE("b"), RT_CONFLICT, "User: one\nUser: three\nAI: four\nUser: five\n"},
	{RANGE, "range", INSERT("a"), RT_OK,
	 "User: one\nAI: NEW\nAI: two\nUser: three\nAI: four\nUser: five\n"
	 "System (compaction): In short.\n"},
	{RANGE, "range", EDIT("a"), RT_OK,
	 "User: EDIT\nAI: two\nUser: three\nAI: four\nUser: five\nSystem (compaction): In short.\n"},
	{COMPRESS, "compress", EDIT("e"), RT_CONFLICT,
	 "User: one\nAI: two\nUser: three\nAI: four\nUser: EDIT\n"},
	{COMPRESS, "compress", APPEND, RT_CONFLICT,
	 "User: one\nAI: two\nUser: three\nAI: four\nUser: five\nUser: NEW\n"},
	{COMPRESS, "compress", DELETE("e"), RT_CONFLICT, "User: one\nAI: two\nUser: three\nAI: four\n"},
	{COMPRESS, "compress", PURGE, RT_CONFLICT,
	 "User: one\nAI: \nUser: three\nAI: four\nUser: five\n"},
	/* another take contains another text */
	{COMPRESS, "compress", BRANCH, RT_OK, "System (compaction): In short.\n"},
	{GO, "go", EDIT("d"), RT_CONFLICT, "User: one\nAI: two\nUser: three\nAI: EDIT\nUser: five\n"},
	{GO, "go", APPEND, RT_CONFLICT,
	 "User: one\nAI: two\nUser: three\nAI: four\nUser: five\nUser: NEW\n"},
	{GO, "go", EDIT("a"), RT_OK, "User: EDIT\nAI: two\nUser: three\nAI: four\nUser: five\n"},
	/* a reply follows the question, whatever its present text */
	{ASK, "ask", EDIT("e"), RT_OK,
	 "User: one\nAI: two\nUser: three\nAI: four\nUser: EDIT\nAI: In short.\n"},
	{ASK, "ask", APPEND, RT_OK,
	 "User: one\nAI: two\nUser: three\nAI: four\nUser: five\nAI: In short.\nUser: NEW\n"},
	{AGAIN, "again", EDIT("d"), RT_OK,
	 "User: one\nAI: two\nUser: three\nAI: EDIT\nUser: five\n"},
	/* and a continuation follows the reply, whatever its present text */
	{CONTINUE, "continue", EDIT("d"), RT_OK,
	 "User: one\nAI: two\nUser: three\nAI: EDITIn short.\nUser: five\n"},
	{CONTINUE, "continue", MUTE("d"), RT_OK,
	 "User: one\nAI: two\nUser: three\nAI: fourIn short.\nUser: five\n"},
	{CONTINUE, "continue", ROLE("d"), RT_OK,
	 "User: one\nAI: two\nUser: three\nAI: fourIn short.\nUser: five\n"},
};

static void
what_another_changes_meanwhile_is_not_lost(void **state)
{
	void *s = NULL;
	fixture *f;
	size_t i, n;
	rt_status st;

	(void)state;
	/* each moment, with hooks and (unless a hook is the moment) without any */
	for (i = 0; i < 2 * MOMENTS * sizeof(cases) / sizeof(cases[0]); i++) {
		moment when = (moment)(i / 2 % MOMENTS);

		if (when == ASKING && i % 2 == 0)
			continue;
		n = i / (2 * MOMENTS);
		assert_int_equal(set_up(&s), 0);
		f = s;
		f->change = cases[n].change;
		f->moment = when;
		f->has_hooks = i % 2 == 1;
		st = run(f, cases[n].which);
		if (f->change != NULL)
			fail_msg("%s, %s: the other never came", cases[n].name, moments[when]);
		if (st != cases[n].status)
			fail_msg("%s, %s, %s: %s: %s", cases[n].name, cases[n].change, moments[when],
				 rt_status_word(st), f->w.err.text);
		if (st == RT_CONFLICT)
			assert_non_null(strstr(f->w.err.text, "nothing was"));
		/* no notifications of changes that did not happen */
		if (cases[n].which < ASK && (f->told > 0) != (f->has_hooks && st == RT_OK))
			fail_msg("%s, %s: told %zu times", cases[n].name, moments[when], f->told);
		differs(world_take(&f->w, "main"), cases[n].take, cases[n].name, cases[n].change,
			when);
		assert_int_equal(world_flights(&f->w), 0);
		assert_int_equal(tear_down(&s), 0);
	}
}

/* The second's change is the newest step, and undoing it restores the previous state. */
static void
a_conflict_is_no_step(void **state)
{
	fixture *f = *state;
	uint64_t before = world_seq(&f->w);

	f->change = EDIT("b");
	f->moment = LATE;
	assert_int_equal(run(f, COMPRESS), RT_CONFLICT);
	assert_int_equal(world_seq(&f->w), before + 1);
	world_apply(&f->w, "{\"op\":\"undo\"}");
	assert_string_equal(world_shown(&f->w),
			    "User: one\nAI: two\nUser: three\nAI: four\nUser: five\n");
	assert_int_equal(run(f, COMPRESS), RT_OK);
	assert_string_equal(world_shown(&f->w), "System (compaction): In short.\n");
}

/* The entries after the head are replaced too, so they are in the summary. */
static void
compress_sums_up_what_is_behind_the_head(void **state)
{
	fixture *f = *state;
	rt_buf body;

	rt_buf_init(&body, rt_alloc_libc(), RT_BUF_UNLIMITED);
	f->s.body = &body;
	world_apply(&f->w, "{\"op\":\"head.move\",\"entry\":\"b\"}");
	assert_int_equal(run(f, COMPRESS), RT_OK);
	assert_non_null(strstr(body.ptr, "five"));
	assert_string_equal(world_take(&f->w, "main"), "System (compaction): In short.\n");
	rt_buf_deinit(&body);
}

typedef struct peek {
	rt_engine *engine;
	rt_status status;
	bool is_old; /* the value is the one from before */
} peek;

/* Within a transaction, while there are new rows. */
static rt_status
peek_at(void *ctx, const rt_project *now, rt_error *err)
{
	peek *p = ctx;
	const rt_project *value;

	(void)err;
	p->status = rt_engine_refresh_now(p->engine, NULL);
	value = rt_engine_value(p->engine);
	p->is_old = value->seq < now->seq;
	rt_object_unref(value);
	return RT_OK;
}

/* A caller that must not wait gets RT_BUSY while another writes, and sees the old state. */
static void
refresh_now_waits_for_nobody(void **state)
{
	fixture *f = *state;
	peek p = {f->w.engine, RT_OK, false};
	rt_apply_context with = {.check = peek_at, .check_ctx = &p};
	const rt_project *value;
	rt_json_doc *doc = NULL;
	yyjson_val *request;
	rt_result result;

	f->change = "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"theirs\"}";
	other_changes(f);
	assert_int_equal(rt_json_read(rt_alloc_libc(),
				      RT_STR("{\"op\":\"entry.delete\",\"entry\":\"a\"}"), &doc, NULL),
			 RT_OK);
	request = rt_json_root(doc);
	assert_int_equal(rt_apply_json(f->w.engine, &with, &request, 1, false, RT_STR(""),
				       RT_STR(""), &result),
			 RT_OK);
	assert_int_equal(p.status, RT_BUSY);
	assert_true(p.is_old);
	rt_result_deinit(&result);
	rt_json_free(doc);
	f->change = "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"more\"}";
	other_changes(f);
	assert_int_equal(rt_engine_refresh_now(f->w.engine, NULL), RT_OK);
	value = rt_engine_value(f->w.engine);
	assert_int_equal(value->seq, result.seq + 1);
	rt_object_unref(value);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_another_changes_meanwhile_is_not_lost),
		cmocka_unit_test_setup_teardown(a_conflict_is_no_step, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refresh_now_waits_for_nobody, set_up, tear_down),
		cmocka_unit_test_setup_teardown(compress_sums_up_what_is_behind_the_head, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
