/* SPDX-License-Identifier: MIT
 *
 * Summaries: of compacted entries, of a whole take. Each is one step, or nothing happens. */
#include "chat/send_testing.h"

#include "formats/formats.h"
#include "llm/llm_testing.h"
#include "store/store_memory.h"

#include "chat/summary_testing.h"

/* ---- compaction ---- */

static void
talk(fixture *f, size_t pairs)
{
	char id[20], text[120];
	size_t i;

	for (i = 1; i <= pairs; i++) {
		snprintf(id, sizeof(id), "u%zu", i);
		snprintf(text, sizeof(text), "question-%zu %080d", i, 0);
		world_add(&f->w, id, "User", text);
		snprintf(id, sizeof(id), "a%zu", i);
		snprintf(text, sizeof(text), "answer-%zu %080d", i, 0);
		world_add(&f->w, id, "AI", text);
	}
}

static const char *
context(fixture *f, const char *provider)
{
	const rt_project *value = rt_engine_value(f->w.engine);

	rt_buf_clear(&f->w.out);
	assert_int_equal(rt_view_context(f->w.engine, value, (rt_place){0, 0},
					 rt_provider_named(rt_str_of(provider)), NULL, &f->w.out,
					 NULL),
			 RT_OK);
	rt_object_unref(value);
	rt_buf_add_byte(&f->w.out, '\0');
	return f->w.out.ptr;
}

static void
the_beginning_becomes_a_summary(void **state)
{
	fixture *f = *state;
	uint64_t before;

	talk(f, 5);
	before = world_seq(&f->w);
	remember(f);
	assert_int_equal(
		compact(f, (rt_compact_options){.keep_tokens = 115,
						.instructions = RT_STR("keep the numbers")}),
		RT_OK);
	assert_string_equal(f->result.first_kept, "u4");
	assert_int_equal(f->result.entries, 6);
	assert_true(f->result.tokens_after < f->result.tokens_before);
	asked(f, "question-1 ");
	asked(f, "answer-3 ");
	asked(f, "keep the numbers");
	not_asked(f, "question-4 ");
	was_told(f, "\"firstKeptEntryId\":\"u4\"");
	was_told(f, "\"entriesToSummarize\":[{\"id\":\"u1\"");
	was_told(f, "\"previousCompactions\":[]");
	was_told(
		f,
		"\"customInstructions\":\"keep the numbers\",\"model\":\"openai/m\"} "
		"compact.before\n");
	was_told(f, "\"fromHook\":false} compact.after\n");
	/* seed 2: the whole entry */
	was_told(f, "\"type\":\"compaction\",\"parentId\":\"a5\",\"timestamp\":\"20");
	was_told(f, "\"summary\":\"In short.\"");
	was_told(f, "\"first_kept\":\"u4\",\"firstKeptEntryId\":\"u4\",\"tokens_before\":");
	was_told(f, "\"tokensBefore\":");
	/* its origin */
	world_has(&f->w, f->result.entry, "\"reason\":\"manual\"");
	world_has(&f->w, f->result.entry, "\"service\":\"openai\",\"model\":\"m\"");
	world_has(&f->w, f->result.entry, "\"instructions\":\"keep the numbers\"");
	world_has(&f->w, f->result.entry, "\"kind\":\"compaction\"");
	world_has(&f->w, f->result.entry, "\"first_kept\":\"u4\"");
	world_has(&f->w, f->result.entry, "\"tokens_before\":");
	assert_null(strstr(context(f, "openai"), "question-3 "));
	assert_non_null(strstr(f->w.out.ptr, "In short."));
	assert_non_null(strstr(f->w.out.ptr, "question-4 "));
	/* the entries are in their places; one step */
	assert_int_equal(world_count(world_shown(&f->w), "\n"), 11);
	assert_int_equal(world_seq(&f->w), before + 1);
	world_apply(&f->w, "{\"op\":\"undo\"}");
	is_as_remembered(f);
}

static void
how_much_is_kept(void **state)
{
	fixture *f = *state;
	size_t keep, last = 11, kept;

	talk(f, 5);
	for (keep = 1; keep < 300; keep += 13) {
		rt_status st = compact(f,
				       (rt_compact_options){.keep_tokens = keep, .dry_run = true});

		kept = st == RT_OK ? f->result.entries : 0;
		assert_true(kept <= last && kept <= 9); /* the last one always stays */
		last = kept;
		assert_true(st == RT_OK || (st == RT_REFUSED &&
					    strstr(f->w.err.text, "nothing to compact") != NULL));
	}
	assert_int_equal(last, 0);
	assert_int_equal(compact(f, (rt_compact_options){0}),
			 RT_REFUSED); /* RT_COMPACT_KEEP_TOKENS */
	world_apply(&f->w, "{\"op\":\"take.clear\"}");
	assert_int_equal(compact(f, (rt_compact_options){.keep_tokens = 1}), RT_REFUSED);
}

static void
a_dry_run_changes_nothing_and_asks_nobody(void **state)
{
	fixture *f = *state;

	talk(f, 3);
	remember(f);
	assert_int_equal(compact(f, (rt_compact_options){.keep_tokens = 60, .dry_run = true}),
			 RT_OK);
	assert_string_equal(f->result.first_kept, "u3");
	assert_int_equal(f->result.entries, 4);
	assert_true(f->result.tokens_after < f->result.tokens_before);
	assert_int_equal(f->s.asked, 0);
	assert_int_equal(f->h.events.size, 0);
	assert_string_equal(f->result.entry, "");
	is_as_remembered(f);
}

/* A call, its results and the entries around it, in the three forms. */
static void
call_tools(fixture *f, int way)
{
	world *w = &f->w;

	talk(f, 1);
	if (way == 0) {
		world_apply(
			w,
			"{\"op\":\"entry.append\",\"id\":\"c\",\"role\":\"AI\",\"content\":["
			"{\"type\":\"toolCall\",\"id\":\"1\",\"name\":\"read\",\"arguments\":{}},"
			"{\"type\":\"toolCall\",\"id\":\"2\",\"name\":\"read\","
			"\"arguments\":{}}]}");
		world_apply(
			w,
			"{\"op\":\"entry.append\",\"id\":\"r1\",\"role\":\"User\",\"content\":["
			"{\"type\":\"tool_result\",\"tool_use_id\":\"1\",\"content\":\"one one "
			"one\"}]}");
		world_apply(
			w,
			"{\"op\":\"entry.append\",\"id\":\"r2\",\"role\":\"User\",\"content\":["
			"{\"type\":\"tool_result\",\"tool_use_id\":\"2\",\"content\":\"two two "
			"two\"}]}");
	} else if (way == 1) {
		world_apply(
			w,
			"{\"op\":\"entry.append\",\"id\":\"c\",\"role\":\"assistant\","
			"\"content\":\"\","
			"\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\","
			"\"function\":{\"name\":\"read\","
			"\"arguments\":\"{}\"}},{\"id\":\"2\",\"type\":\"function\",\"function\":{"
			"\"name\":\"read\",\"arguments\":\"{}\"}}]}");
		world_apply(
			w,
			"{\"op\":\"entry.append\",\"id\":\"r1\",\"role\":\"tool\","
			"\"tool_call_id\":\"1\","
			"\"content\":\"one one one\"}");
		world_apply(
			w,
			"{\"op\":\"entry.append\",\"id\":\"r2\",\"role\":\"tool\","
			"\"tool_call_id\":\"2\","
			"\"content\":\"two two two\"}");
	} else {
		world_apply(
			w,
			"{\"op\":\"entry.append\",\"id\":\"c\",\"role\":\"assistant\",\"content\":["
			"{\"type\":\"toolCall\",\"id\":\"1\",\"name\":\"read\",\"arguments\":{}},"
			"{\"type\":\"toolCall\",\"id\":\"2\",\"name\":\"read\",\"arguments\":{}}],"
			"\"pi\":{\"type\":\"message\",\"message\":{\"role\":\"assistant\"}}}");
		world_apply(
			w,
			"{\"op\":\"entry.append\",\"id\":\"r1\",\"role\":\"toolResult\","
			"\"content\":[{\"type\":\"text\","
			"\"text\":\"one one one\"}],\"pi\":{\"type\":\"message\","
			"\"message\":{\"role\":"
			"\"toolResult\",\"toolCallId\":\"1\",\"toolName\":\"read\"}}}");
		world_apply(
			w,
			"{\"op\":\"entry.append\",\"id\":\"r2\",\"role\":\"toolResult\","
			"\"content\":[{\"type\":\"text\","
			"\"text\":\"two two two\"}],\"pi\":{\"type\":\"message\","
			"\"message\":{\"role\":"
			"\"toolResult\",\"toolCallId\":\"2\",\"toolName\":\"read\"}}}");
	}
	world_add(w, "z", "AI", "done");
}

static void
a_call_is_never_parted_from_its_result(void **state)
{
	static const char *const ranges[][3] = {{"c", "r1", "results after"},
						{"u1", "c", "results after"},
						{"r1", "r2", "call before"},
						{"r2", "r2", "call before"}};
	size_t i;
	int way;

	for (way = 0; way < 3; way++) {
		size_t keep, seen = 0;
		fixture *f;

		assert_int_equal(set_up(state), 0);
		f = *state;
		call_tools(f, way);
		for (keep = 1; keep < 120; keep++) {
			if (compact(f, (rt_compact_options){.keep_tokens = keep}) != RT_OK)
				continue;
			if (strcmp(f->result.first_kept, "r1") == 0 ||
			    strcmp(f->result.first_kept, "r2") == 0)
				fail_msg("way %d, %zu tokens: kept from %s on", way, keep,
					 f->result.first_kept);
			seen |= strcmp(f->result.first_kept, "z") == 0 ? 1u : 0;
			seen |= strcmp(f->result.first_kept, "c") == 0 ? 2u : 0;
			(void)context(f, "anthropic");
			assert_int_equal(world_count(f->w.out.ptr, "\"tool_use\""),
					 world_count(f->w.out.ptr, "\"tool_result\""));
			assert_null(strstr(f->w.out.ptr, "[called"));
			world_apply(&f->w, "{\"op\":\"undo\"}");
		}
		assert_int_equal(seen, 3);
		remember(f);
		for (i = 0; i < 4; i++) {
			assert_int_equal(
				compact(f, (rt_compact_options){.from = rt_str_of(ranges[i][0]),
								.to = rt_str_of(ranges[i][1])}),
				RT_REFUSED);
			assert_non_null(strstr(f->w.err.text, ranges[i][2]));
			is_as_remembered(f);
		}
		assert_int_equal(
			compact(f, (rt_compact_options){.from = RT_STR("c"), .to = RT_STR("r2")}),
			RT_OK);
		assert_int_equal(f->result.entries, 3);
		assert_int_equal(tear_down(state), 0);
	}
	*state = NULL;
}

static void
a_range(void **state)
{
	fixture *f = *state;
	uint64_t before;

	talk(f, 4);
	before = world_seq(&f->w);
	assert_int_equal(compact(f, (rt_compact_options){.from = RT_STR("u2"), .to = RT_STR("a3")}),
			 RT_OK);
	assert_int_equal(f->result.entries, 4);
	assert_string_equal(f->result.first_kept, "");
	asked(f, "question-2 ");
	asked(f, "answer-3 ");
	not_asked(f, "question-1 ");
	not_asked(f, "question-4 ");
	world_has(&f->w, f->result.entry, "\"from\":\"u2\",\"to\":\"a3\"");
	assert_non_null(strstr(context(f, "ollama"), "answer-1 "));
	assert_null(strstr(f->w.out.ptr, "question-2 "));
	assert_true(strstr(f->w.out.ptr, "In short.") > strstr(f->w.out.ptr, "answer-1 "));
	assert_true(strstr(f->w.out.ptr, "In short.") < strstr(f->w.out.ptr, "question-4 "));
	assert_int_equal(world_seq(&f->w), before + 1);
	/* invalid ranges */
	assert_int_equal(compact(f, (rt_compact_options){.from = RT_STR("u1")}), RT_USAGE);
	assert_int_equal(compact(f, (rt_compact_options){.to = RT_STR("u1")}), RT_USAGE);
	assert_int_equal(compact(f, (rt_compact_options){.from = RT_STR("a4"), .to = RT_STR("u4")}),
			 RT_USAGE);
	assert_int_equal(compact(f, (rt_compact_options){.from = RT_STR("u2"), .to = RT_STR("u4")}),
			 RT_USAGE);
	assert_int_equal(
		compact(f, (rt_compact_options){.from = RT_STR("nobody"), .to = RT_STR("u4")}),
		RT_NOT_FOUND);
}

static void
later_compactions_build_on_earlier_ones(void **state)
{
	fixture *f = *state;
	const char *newest, *older;
	char first[140];

	talk(f, 4);
	assert_int_equal(compact(f, (rt_compact_options){.keep_tokens = 115}), RT_OK);
	memcpy(first, f->result.entry, sizeof(f->result.entry));
	f->said.bytes = "In shorter.";
	world_add(&f->w, "x", "User", "fresh-x");
	assert_int_equal(compact(f, (rt_compact_options){.keep_tokens = 10}), RT_OK);
	asked(f, "[summary of earlier entries]: In short.");
	not_asked(f, "question-1 ");
	asked(f, "question-4 ");
	was_told(f, "\"previousCompactions\":[{\"id\":");
	world_add(&f->w, "y", "User", "fresh-y");
	world_add(&f->w, "z", "AI", "fresh-z");
	f->h.summary = "{\"summary\":\"By hook.\",\"details\":[1]}";
	assert_int_equal(compact(f, (rt_compact_options){.keep_tokens = 6}), RT_OK);
	newest = strstr(strstr(events(f), "previousCompactions"), "In shorter.");
	older = strstr(strstr(f->h.events.ptr, "previousCompactions"), first);
	assert_true(newest != NULL && older != NULL && newest < older);
	assert_int_equal(f->s.asked, 0);
	assert_true(f->result.from_hook);
	world_has(&f->w, f->result.entry, "\"details\":[1],\"from_hook\":true");
	/* only a summary is before the kept entries */
	f->h.summary = NULL;
	assert_int_equal(compact(f, (rt_compact_options){.keep_tokens = 1150}), RT_REFUSED);
}

static void
append_meanwhile(world *w)
{
	if (w->waits == 1)
		world_add(w, "late", "User", "late");
}

static void
undo_meanwhile(world *w)
{
	if (w->waits == 1)
		world_apply(w, "{\"op\":\"undo\",\"count\":3}");
}

static void
compactions_that_fail_change_nothing(void **state)
{
	fixture *f = *state;
	rt_compact_options options = {.keep_tokens = 60};

	talk(f, 3);
	remember(f);
	f->s.stop = RT_STOP_LENGTH;
	assert_int_equal(compact(f, options), RT_UPSTREAM);
	assert_non_null(strstr(f->w.err.text, "cut off"));
	f->s.stop = RT_STOP_CALLS;
	assert_int_equal(compact(f, options), RT_UPSTREAM);
	f->s.stop = RT_STOP_END;
	f->s.status = RT_UPSTREAM;
	assert_int_equal(compact(f, options), RT_UPSTREAM);
	f->s.status = RT_OK;
	f->w.stop_at = 1;
	f->s.pieces = (const say[]){{SAY_TEXT, "In ", 0, NULL, NULL},
				    {SAY_TEXT, "short.", 0, NULL, NULL}};
	f->s.count = 2;
	assert_int_equal(compact(f, options), RT_INTERRUPTED);
	f->w.stop_at = 0;
	f->h.deny = "not now";
	assert_int_equal(compact(f, options), RT_DENIED);
	not_told(f, "compact.after\n");
	f->h.deny = NULL;
	f->h.status = RT_DENIED;
	assert_int_equal(compact(f, options), RT_DENIED);
	f->h.status = RT_OK;
	is_as_remembered(f);
	/* the first kept entry is deleted meanwhile: the summary would stand for everything */
	f->w.meanwhile = undo_meanwhile;
	assert_int_equal(compact(f, options), RT_CONFLICT);
	assert_null(strstr(world_shown(&f->w), "compaction"));
	/* others may continue after it */
	f->w.meanwhile = NULL;
	world_apply(&f->w, "{\"op\":\"redo\",\"count\":3}");
	is_as_remembered(f);
	f->w.meanwhile = append_meanwhile;
	assert_int_equal(compact(f, options), RT_OK);
	assert_non_null(strstr(world_shown(&f->w), "User: late\nSystem (compaction): In short.\n"));
}

/* ---- compress ---- */

static void
a_take_becomes_its_summary(void **state)
{
	fixture *f = *state;
	uint64_t before;
	size_t sent;

	assert_int_equal(compress(f, ""), RT_REFUSED);
	world_add(&f->w, "x", "User", "alone");
	assert_int_equal(compress(f, ""), RT_REFUSED);
	talk(f, 3);
	before = world_seq(&f->w);
	remember(f);
	assert_int_equal(compress(f, "in verse"), RT_OK);
	asked(f, "alone");
	asked(f, "answer-3 ");
	asked(f, "in verse");
	assert_string_equal(world_shown(&f->w), "System (compaction): In short.\n");
	assert_non_null(strstr(context(f, "openai"), "In short."));
	assert_int_equal(f->result.entries, 7);
	assert_true(f->result.tokens_after < f->result.tokens_before);
	assert_int_equal(world_seq(&f->w), before + 1);
	world_apply(&f->w, "{\"op\":\"undo\"}");
	is_as_remembered(f);
	/* after a compaction, the sent entries are summarised: the compaction and its kept
	 * entries */
	assert_int_equal(compact(f, (rt_compact_options){.keep_tokens = 10}), RT_OK);
	sent = f->result.tokens_after;
	assert_int_equal(compress(f, ""), RT_OK);
	assert_int_equal(f->result.entries, 2);
	assert_int_equal(f->result.tokens_before, sent);
	asked(f, "[summary of earlier entries]: In short.");
	asked(f, "answer-3 ");
	not_asked(f, "]: alone");
	not_asked(f, "[compaction]");
	world_apply(&f->w, "{\"op\":\"undo\"}");
	world_apply(&f->w, "{\"op\":\"undo\"}");
	f->s.stop = RT_STOP_LENGTH;
	assert_int_equal(compress(f, ""), RT_UPSTREAM);
	is_as_remembered(f);
	/* entries that others wrote meanwhile are in no summary */
	f->s.stop = RT_STOP_END;
	f->w.meanwhile = append_meanwhile;
	assert_int_equal(compress(f, ""), RT_CONFLICT);
	f->w.meanwhile = NULL;
	world_apply(&f->w, "{\"op\":\"undo\"}");
	is_as_remembered(f);
}

/* ---- out of memory ---- */

static bool
without_memory(int what, long left, long *out_used)
{
	failing mem = {.left = -1};
	rt_alloc alloc = {failing_resize, failing_release, &mem};
	void *state;
	fixture *f;
	rt_status st;
	uint64_t before;

	assert_int_equal(set_up(&state), 0);
	f = state;
	rt_engine_close(f->w.engine);
	world_open_engine(&f->w, &alloc);
	grow(f);
	world_apply(&f->w, "{\"op\":\"entry.insert\",\"after\":\"E\",\"role\":\"AI\","
			   "\"content\":[{\"type\":\"toolCall\",\"id\":\"1\",\"name\":\"n\","
			   "\"arguments\":{}}]}");
	remember(f);
	before = world_seq(&f->w);
	f->h.summary = what == 3 ? "{\"summary\":\"By hook.\",\"details\":1}" : NULL;
	mem.left = left;
	st = what == 0   ? compact(f, (rt_compact_options){.keep_tokens = 10})
	     : what == 1 ? compress(f, "")
	     : what == 2 ? go(f, "G", true, true)
			 : go(f, "H", true, true);
	*out_used = left - mem.left;
	mem.left = -1;
	if (st == RT_OK) {
		assert_int_equal(world_seq(&f->w), before + 1);
		assert_true(f->result.entry[0] != '\0');
		assert_true((f->result.editor != NULL) == (what == 2));
		world_apply(&f->w, "{\"op\":\"undo\"}");
	} else if (st != RT_NOMEM) {
		fail_msg("%d, allocation %ld: %s: %s", what, left, rt_status_word(st),
			 f->w.err.text);
	}
	is_as_remembered(f);
	rt_summary_result_deinit(&f->result);
	rt_engine_close(f->w.engine);
	if (mem.live != 0)
		fail_msg("%d, allocation %ld: %ld are left", what, left, mem.live);
	world_open_engine(&f->w, NULL);
	assert_int_equal(tear_down(&state), 0);
	return st == RT_OK;
}

static void
line(void *ctx, const rt_comms_item *item)
{
	rt_json_doc *doc;

	assert_int_equal(rt_json_read(rt_alloc_libc(), item->line, &doc, NULL), RT_OK);
	rt_json_free(doc);
	rt_buf_add_str(ctx, item->line);
	rt_buf_add_byte(ctx, '\n');
}

/* Two lines, without a text, after success and failure. */
static void
what_is_asked_is_recorded(void **state)
{
	fixture *f = *state;
	rt_compact_options options = {.keep_tokens = 60};
	rt_buf lines;
	int good;

	talk(f, 3);
	for (good = 0; good <= 1; good++) {
		options.with = with(f);
		options.with.fn = NULL;
		options.with.stop = NULL;
		options.with.notice = NULL;
		options.with.comms = line;
		options.with.ctx = &lines;
		f->s.stop = good ? RT_STOP_END : RT_STOP_LENGTH;
		rt_buf_init(&lines, rt_alloc_libc(), RT_BUF_UNLIMITED);
		assert_int_equal(compact(f, options), good ? RT_OK : RT_UPSTREAM);
		assert_int_equal(world_count(lines.ptr, "\n"), 2);
		assert_non_null(strstr(lines.ptr, "\"what\":\"request\""));
		assert_non_null(strstr(lines.ptr, "\"for\":\"summary\""));
		assert_null(strstr(lines.ptr, "question"));
		assert_null(strstr(lines.ptr, "In short"));
		rt_buf_deinit(&lines);
	}
}

/* A request like any other: hooks that check outgoing requests see these too. */
static void
what_is_asked_is_asked_of_hooks_first(void **state)
{
	fixture *f = *state;
	rt_compact_options options = {.keep_tokens = 60};
	uint64_t before;

	talk(f, 3);
	options.with = with(f);
	before = world_seq(&f->w);
	f->h.no_request = "no secrets";
	assert_int_equal(compact(f, options), RT_DENIED);
	assert_int_equal(f->s.asked, 0);
	assert_int_equal(world_seq(&f->w), before);
	f->h.no_request = NULL;
	f->h.body = "{\"messages\":[\"***\"]}";
	options.with = with(f);
	assert_int_equal(compact(f, options), RT_OK);
	assert_string_equal(f->body.ptr, f->h.body);
	rt_buf_add_byte(&f->h.events, '\0');
	assert_int_equal(world_count(f->h.events.ptr, "} request.before\n"), 1);
	assert_int_equal(world_count(f->h.events.ptr, "} request.after\n"), 1);
	assert_int_equal(world_count(f->h.events.ptr, "\"reason\":\"summary\""), 2);
}

static void
no_memory(void **state)
{
	long all, n, used;
	int what;

	(void)state;
	for (what = 0; what < 4; what++) {
		assert_true(without_memory(what, 1000000, &all));
		for (n = 0; n < all; n++)
			(void)without_memory(what, n, &used);
	}
}

#define WITH_WORLD(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(the_beginning_becomes_a_summary),
		WITH_WORLD(how_much_is_kept),
		WITH_WORLD(a_dry_run_changes_nothing_and_asks_nobody),
		cmocka_unit_test(a_call_is_never_parted_from_its_result),
		WITH_WORLD(a_range),
		WITH_WORLD(later_compactions_build_on_earlier_ones),
		WITH_WORLD(compactions_that_fail_change_nothing),
		WITH_WORLD(a_take_becomes_its_summary),
		WITH_WORLD(what_is_asked_is_recorded),
		WITH_WORLD(what_is_asked_is_asked_of_hooks_first),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
