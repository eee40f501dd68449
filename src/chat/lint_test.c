/* SPDX-License-Identifier: MIT
 *
 * Advice: problems that a change would cause nearby, reported before it is made. */
#include "chat/send_testing.h"

#include "chat/last_request.h"
#include "chat/lint.h"
#include "log/checkpoint.h"
#include "store/store_memory.h"

/* About 3,000 nodes, or 50,000 where nodes are tiny. */
static unsigned
nodes_max(void)
{
	return rt_seq_leaf_max() > 2 ? 100 : 1000;
}

typedef struct fixture {
	world w;
	rt_buf told; /* "id entry other\n" */
	rt_buf repairs;
	size_t resent;
} fixture;

static int
set_up(void **state)
{
	fixture *f = test_calloc(1, sizeof(*f));

	world_init(&f->w);
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &f->w.env, &f->w.store, NULL),
			 RT_OK);
	world_open_engine(&f->w, NULL);
	rt_buf_init(&f->told, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&f->repairs, rt_alloc_libc(), RT_BUF_UNLIMITED);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture *f = *state;

	rt_buf_deinit(&f->told);
	rt_buf_deinit(&f->repairs);
	world_deinit(&f->w);
	test_free(f);
	return 0;
}

static void
hear(void *ctx, const rt_lint *advice)
{
	fixture *f = ctx;
	rt_json_doc *doc;

	rt_buf_add_f(&f->told, "%s %s%s%s\n", advice->id, advice->entry,
		     advice->other[0] != '\0' ? " " : "", advice->other);
	assert_true(advice->words.size > 0);
	assert_true(rt_str_find(advice->words, rt_str_of(advice->entry), 0) != SIZE_MAX);
	if (advice->repair.size > 0) {
		assert_int_equal(rt_json_read(rt_alloc_libc(), advice->repair, &doc, NULL), RT_OK);
		rt_json_free(doc);
		rt_buf_clear(&f->repairs);
		rt_buf_add_str(&f->repairs, advice->repair);
		rt_buf_add_byte(&f->repairs, '\0');
	}
}

/* requests: an array as JSON. */
static const char *
advice(fixture *f, const char *requests)
{
	uint64_t before = world_seq(&f->w);
	rt_json_doc *doc;
	rt_request items[8];
	rt_error err = {0};
	size_t i, count;

	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(requests), &doc, NULL), RT_OK);
	count = yyjson_arr_size(rt_json_root(doc));
	for (i = 0; i < count; i++)
		if (rt_request_read(yyjson_arr_get(rt_json_root(doc), i), &items[i], &err) != RT_OK)
			items[i] = (rt_request){.op = RT_OP_COUNT, .invalid = &err};
	rt_buf_clear(&f->told);
	rt_buf_clear(&f->repairs);
	rt_buf_add_byte(&f->repairs, '\0');
	assert_int_equal(rt_engine_lint(f->w.engine, items, count, RT_STR(""), RT_STR(""), hear, f,
					&f->resent, NULL),
			 RT_OK);
	rt_json_free(doc);
	assert_int_equal(world_seq(&f->w), before);
	rt_buf_add_byte(&f->told, '\0');
	return f->told.ptr;
}

/* Something of main was sent to a model. */
static void
note_sent(fixture *f)
{
	rt_store *store = f->w.store;

	assert_int_equal(store->ops->begin(store, NULL), RT_OK);
	assert_int_equal(store->ops->write(store, rt_rows_named(RT_STORE_SIDE,
								rt_engine_project_number(f->w.engine),
								RT_STR(RT_LAST_REQUEST_PREFIX "d1")),
					   RT_STR("{}"), NULL),
			 RT_OK);
	assert_int_equal(store->ops->commit(store, NULL), RT_OK);
}

#define DELETE(entry) "[{\"op\":\"entry.delete\",\"entry\":\"" entry "\"}]"
#define EDIT(entry, content) \
	"[{\"op\":\"entry.edit\",\"entry\":\"" entry "\",\"content\":" content "}]"

/* u1 a1 u2 c r a2 u3 */
static void
talk(fixture *f)
{
	world *w = &f->w;

	world_add(w, "u1", "User", "one");
	world_add(w, "a1", "AI", "two");
	world_add(w, "u2", "User", "read it");
	world_apply(
		w,
		"{\"op\":\"entry.append\",\"id\":\"c\",\"role\":\"AI\","
		"\"content\":[{\"type\":\"toolCall\","
		"\"id\":\"7\",\"name\":\"read\",\"arguments\":{}}]}");
	world_apply(
		w, "{\"op\":\"entry.append\",\"id\":\"r\",\"role\":\"tool\",\"tool_call_id\":\"7\","
		   "\"content\":\"it says so\"}");
	world_add(w, "a2", "AI", "done");
	world_add(w, "u3", "User", "thanks");
}

static void
nothing_is_told_when_nothing_breaks(void **state)
{
	fixture *f = *state;

	talk(f);
	assert_string_equal(advice(f, EDIT("a1", "\"other\"")), "");
	assert_int_equal(f->resent, 0); /* nothing was sent yet */
	note_sent(f);
	assert_string_equal(advice(f, EDIT("a1", "\"other\"")), "");
	assert_true(f->resent > 0);
	assert_string_equal(
		advice(f, "[{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":\"x\"}]"), "");
	assert_int_equal(f->resent, 0);
	assert_string_equal(advice(f, DELETE("u3")), ""); /* the last one */
	assert_int_equal(f->resent, 0);
	assert_string_equal(
		advice(f, "[{\"op\":\"entry.delete\",\"entry\":\"u2\"},{\"op\":\"entry.delete\","
			  "\"entry\":\"c\"},{\"op\":\"entry.delete\",\"entry\":\"r\"},"
			  "{\"op\":\"entry.delete\",\"entry\":\"a2\"}]"),
		"");
	assert_string_equal(advice(f, EDIT("a1", "\"two\"")), "");
	assert_int_equal(f->resent, 0);
	assert_string_equal(advice(f, "[{\"op\":\"setting.set\",\"key\":\"x\",\"value\":1}]"), "");
	assert_string_equal(advice(f, "[{\"op\":\"take.delete\",\"take\":\"main\"}]"), "");
	/* no advice for invalid requests */
	assert_string_equal(advice(f, DELETE("nobody")), "");
	assert_string_equal(advice(f, "[{\"op\":\"entry.delete\",\"entry\":\"r\"},"
				      "{\"op\":\"entry.delete\",\"entry\":\"nobody\"}]"),
			    "");
	assert_int_equal(f->resent, 0);
	assert_string_equal(advice(f, "[7]"), "");
}

static void
calls_and_results(void **state)
{
	fixture *f = *state;
	world *w = &f->w;

	talk(f);
	assert_string_equal(advice(f, DELETE("r")), "same-speaker c a2\ncall-parted c\n");
	assert_string_equal(f->repairs.ptr, "{\"op\":\"entry.mute\",\"entry\":\"c\"}");
	assert_string_equal(advice(f, DELETE("c")), "call-parted r\n");
	assert_string_equal(advice(f, "[{\"op\":\"entry.mute\",\"entry\":\"c\"}]"),
			    "call-parted r\n");
	assert_string_equal(advice(f, EDIT("c", "[{\"type\":\"text\",\"text\":\"no call\"}]")),
			    "call-parted r\n");
	/* the suggested request fixes it */
	assert_string_equal(advice(f, "[{\"op\":\"entry.mute\",\"entry\":\"c\"},"
				      "{\"op\":\"entry.mute\",\"entry\":\"r\"}]"),
			    "");
	/* an existing problem is not reported again */
	world_apply(w, "{\"op\":\"entry.delete\",\"entry\":\"r\"}");
	assert_string_equal(advice(f, EDIT("u2", "\"x\"")), "");
	world_apply(w, "{\"op\":\"undo\"}");
	/* in the forms of OpenAI, Anthropic and pi too */
	world_apply(
		w,
		"{\"op\":\"entry.append\",\"id\":\"c2\",\"role\":\"assistant\",\"content\":\"\","
		"\"tool_calls\":[{\"id\":\"8\",\"type\":\"function\","
		"\"function\":{\"name\":\"read\","
		"\"arguments\":\"{}\"}}]}");
	world_apply(
		w,
		"{\"op\":\"entry.append\",\"id\":\"r2\",\"role\":\"tool\",\"tool_call_id\":\"8\","
		"\"content\":\"x\"}");
	assert_string_equal(advice(f, DELETE("r2")), "call-parted c2\n");
	world_apply(
		w,
		"{\"op\":\"entry.append\",\"id\":\"c3\",\"role\":\"assistant\","
		"\"content\":[{\"type\":\"tool_use\","
		"\"id\":\"9\",\"name\":\"read\",\"input\":{}}]}");
	world_apply(
		w,
		"{\"op\":\"entry.append\",\"id\":\"r3\",\"role\":\"user\","
		"\"content\":[{\"type\":\"tool_result\","
		"\"tool_use_id\":\"9\",\"content\":\"x\"}]}");
	assert_string_equal(advice(f, DELETE("c3")), "call-parted r3\n");
	world_apply(
		w,
		"{\"op\":\"entry.append\",\"id\":\"c4\",\"role\":\"assistant\","
		"\"content\":[{\"type\":\"toolCall\","
		"\"id\":\"10\",\"name\":\"read\",\"arguments\":{}}]}");
	world_apply(
		w,
		"{\"op\":\"entry.append\",\"id\":\"r4\",\"role\":\"toolResult\",\"content\":[],"
		"\"pi\":{\"type\":\"message\",\"message\":{\"role\":\"toolResult\","
		"\"toolCallId\":\"10\"}}}");
	assert_string_equal(advice(f, DELETE("r4")), "call-parted c4\n");
}

static void
speakers(void **state)
{
	fixture *f = *state;

	talk(f);
	assert_string_equal(advice(f, DELETE("a1")), "same-speaker u1 u2\n");
	assert_string_equal(f->repairs.ptr, "{\"op\":\"entry.merge\",\"entry\":\"u1\"}");
	assert_string_equal(
		advice(f, "[{\"op\":\"entry.role\",\"entry\":\"a1\",\"role\":\"User\"}]"),
		"same-speaker u1 a1\nsame-speaker a1 u2\n");
	assert_string_equal(advice(f, "[{\"op\":\"entry.mute\",\"entry\":\"u2\"}]"),
			    "same-speaker a1 c\n");
	/* a merge would join a1 with the muted entry */
	assert_string_equal(f->repairs.ptr, "");
	assert_string_equal(
		advice(f,
		       "[{\"op\":\"entry.insert\",\"after\":\"a2\",\"id\":\"n\","
		       "\"role\":\"assistant\","
		       "\"content\":\"x\"}]"),
		"same-speaker a2 n\n");
	assert_string_equal(advice(f, "[{\"op\":\"entry.delete\",\"entry\":\"a1\"},"
				      "{\"op\":\"entry.merge\",\"entry\":\"u1\"}]"),
			    "");
	/* entries that do not take turns between them are ignored */
	world_apply(
		&f->w,
		"{\"op\":\"entry.insert\",\"after\":\"a1\",\"id\":\"n\",\"role\":\"Critic\","
		"\"content\":\"x\"}");
	assert_string_equal(advice(f, DELETE("n")), "");
}

/* A reply as it comes from a provider that signs its reasoning. */
static void
stale_reasoning(void **state)
{
	static const say pieces[] = {{SAY_THINKING, "hm", 0, NULL, NULL},
				     {SAY_SIGNATURE, "c2ln", 0, NULL, NULL},
				     {SAY_TEXT, "Hello", 0, NULL, NULL}};
	static const say blocks[] = {{SAY_TEXT, "Well", 0, NULL, NULL},
				     {SAY_THINKING, "hm", 0, NULL, NULL},
				     {SAY_SIGNATURE, "c2ln", 0, NULL, NULL},
				     {SAY_TEXT, "Hello", 0, NULL, NULL}};
	static const rt_provider provider = {.name = "anthropic"};
	fixture *f = *state;
	sayer s;

	(void)provider;
	world_add(&f->w, "u", "User", "Hi");
	sayer_init(&s, &f->w, &provider, pieces, 3);
	/* through the reply itself: the request does not matter here */
	for (int i = 0; i < 2; i++) {
		rt_ask ask = {.tick = NULL};
		rt_reply reply;
		rt_buf json;

		s.pieces = i == 0 ? pieces : blocks;
		s.count = i == 0 ? 3 : 4;
		rt_reply_init(&reply, rt_alloc_libc(), NULL, NULL);
		assert_int_equal(s.model.ops->ask(&s.model, &ask, &reply, NULL), RT_OK);
		rt_reply_finish(&reply);
		rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_add_f(
			&json,
			"{\"op\":\"entry.append\",\"id\":\"s%d\",\"role\":\"AI\",\"content\":", i);
		rt_reply_add_content(&reply, &json);
		rt_reply_add_fields(&reply, &json);
		rt_buf_add_c(&json, "}");
		rt_buf_add_byte(&json, '\0');
		world_apply(&f->w, json.ptr);
		rt_buf_deinit(&json);
		rt_reply_deinit(&reply);
	}
	assert_string_equal(advice(f, EDIT("s0", "\"Good day\"")), "reasoning-stale s0\n");
	assert_string_equal(advice(f, EDIT("s1", "\"Well\\nGood day\"")), "reasoning-stale s1\n");
	assert_string_equal(advice(f, EDIT("s0", "\"Hello\"")), ""); /* the same */
	assert_string_equal(advice(f, "[{\"op\":\"entry.edit\",\"entry\":\"s0\",\"content\":\"x\"},"
				      "{\"op\":\"entry.delete\",\"entry\":\"nobody\"}]"),
			    ""); /* is not executed at all */
	assert_string_equal(advice(f, EDIT("u", "\"x\"")), "");
	/* reported once: it is stale already */
	world_apply(&f->w, "{\"op\":\"entry.edit\",\"entry\":\"s0\",\"content\":\"Good day\"}");
	assert_string_equal(advice(f, EDIT("s0", "\"Good night\"")), "");
	world_apply(&f->w, "{\"op\":\"undo\"}");
	assert_string_equal(advice(f, EDIT("s0", "\"Good night\"")), "reasoning-stale s0\n");
}

static void
what_is_sent_anew(void **state)
{
	fixture *f = *state;
	char text[401];
	int i;

	memset(text, 'x', 400);
	text[400] = '\0';
	for (i = 0; i < 10; i++) {
		char id[8];

		snprintf(id, sizeof(id), "e%d", i);
		world_add(&f->w, id, i % 2 == 0 ? "User" : "AI", text);
	}
	(void)advice(f, EDIT("e0", "\"y\""));
	assert_int_equal(f->resent, 0); /* nothing was sent yet */
	note_sent(f);
	(void)advice(f, EDIT("e9", "\"y\""));
	assert_int_equal(f->resent, 1);
	(void)advice(f, EDIT("e5", "\"y\""));
	assert_int_equal(f->resent, 401); /* four of a hundred, and the new one */
	(void)advice(f, EDIT("e0", "\"y\""));
	assert_int_equal(f->resent, 901);
	(void)advice(f, DELETE("e0"));
	assert_int_equal(f->resent, 900);
	(void)advice(f, DELETE("e9"));
	assert_int_equal(f->resent, 0);
}

/* ---- a long take ---- */

static const rt_store_ops *whole;
static rt_store_ops counting;
static size_t nodes_read, bodies_read;

static rt_status
count_reads(rt_store *store, rt_rows rows, rt_store_row_fn fn, void *ctx, rt_error *err)
{
	if (rows.numbers == NULL) {
		nodes_read += rows.table == RT_STORE_NODES;
		bodies_read += rows.table == RT_STORE_BODIES;
	}
	return whole->read(store, rows, fn, ctx, err);
}

enum { LONG = 100000, AT_ONCE = 5000 };

static void
append_many(fixture *f, size_t from)
{
	rt_result *results = test_calloc(AT_ONCE, sizeof(*results));
	yyjson_val **requests = test_calloc(AT_ONCE, sizeof(*requests));
	rt_json_doc *doc;
	rt_buf json;
	size_t i;

	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_byte(&json, '[');
	for (i = 0; i < AT_ONCE; i++) {
		rt_json_add_comma(&json);
		if (i % 3 == 1)
			rt_buf_add_f(
				&json,
				"{\"op\":\"entry.append\",\"id\":\"e%zu\",\"role\":\"AI\","
				"\"content\":["
				"{\"type\":\"toolCall\",\"id\":\"c%zu\",\"name\":\"n\","
				"\"arguments\":{}}]}",
				from + i, from + i);
		else if (i % 3 == 2)
			rt_buf_add_f(
				&json,
				"{\"op\":\"entry.append\",\"id\":\"e%zu\",\"role\":\"tool\","
				"\"content\":\"r\","
				"\"tool_call_id\":\"c%zu\"}",
				from + i, from + i - 1);
		else
			rt_buf_add_f(
				&json,
				"{\"op\":\"entry.append\",\"id\":\"e%zu\",\"role\":\"User\","
				"\"content\":\"q\"}",
				from + i);
	}
	rt_buf_add_byte(&json, ']');
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&json), &doc, NULL), RT_OK);
	for (i = 0; i < AT_ONCE; i++)
		requests[i] = yyjson_arr_get(rt_json_root(doc), i);
	assert_int_equal(rt_engine_apply_json(f->w.engine, requests, AT_ONCE, true, RT_STR(""),
					 RT_STR(""), results),
			 RT_OK);
	for (i = 0; i < AT_ONCE; i++)
		rt_result_deinit(&results[i]);
	rt_json_free(doc);
	rt_buf_deinit(&json);
	test_free(results);
	test_free(requests);
}

static void
a_long_take_is_cheap(void **state)
{
	fixture *f = *state;
	size_t i;

	for (i = 0; i < LONG; i += AT_ONCE)
		append_many(f, i);
	note_sent(f);
	assert_int_equal(rt_engine_checkpoint(f->w.engine, NULL), RT_OK);
	rt_engine_close(f->w.engine); /* with a checkpoint: nothing is in memory then */
	whole = f->w.store->ops;
	counting = *whole;
	counting.read = count_reads;
	f->w.store->ops = &counting;
	world_open_engine(&f->w, NULL);
	nodes_read = bodies_read = 0;
	assert_string_equal(advice(f, DELETE(":50003")), "call-parted e50001\n");
	print_message("# %zu nodes and %zu bodies read\n", nodes_read, bodies_read);
	assert_true(nodes_read > 0 && nodes_read < nodes_max());
	assert_true(bodies_read <= (size_t)4 * RT_LINT_WINDOW + 4);
	assert_true(f->resent > 0);
	f->w.store->ops = whole;
}

#define WITH_WORLD(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(nothing_is_told_when_nothing_breaks),
		WITH_WORLD(calls_and_results),
		WITH_WORLD(speakers),
		WITH_WORLD(stale_reasoning),
		WITH_WORLD(what_is_sent_anew),
		WITH_WORLD(a_long_take_is_cheap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
