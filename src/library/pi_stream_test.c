/* SPDX-License-Identifier: MIT
 *
 * A session that is read in pieces becomes the same discussion as one that is read as a whole. */
#include "formats/pi_testing.h"
#include "formats/walk_testing.h"
#include "log/bare_testing.h"
#include "ops/export.h"
#include "ops/import.h"
#include "store/store_memory.h"

enum { ENTRIES = 4000 };

static const char padding[] = "The quick brown fox jumps over the lazy dog. The quick brown fox jumps over the lazy dog. "
			      "The quick brown fox jumps over the lazy dog. The quick brown fox jumps over the lazy dog. "
			      "The quick brown fox jumps over the lazy dog. The quick brown fox jumps over the lazy dog. "
			      "The quick brown fox jumps over the lazy dog. The quick brown fox jumps over the lazy dog. "
			      "The quick brown fox jumps over the lazy dog. The quick brown fox jumps over the lazy dog. ";

/* Entries 0 .. count - 1, of about 1 KiB: mostly a chain; some follow an entry far before, and some nothing. */
static void
make_session(rt_buf *out, int count)
{
	rt_buf_add_c(out, HEADER);
	for (int i = 0; i < count; i++) {
		char parent[20];

		snprintf(parent, sizeof(parent), "\"e%d\"", i % 500 == 499 ? i / 7 : i - 1);
		rt_buf_add_f(out,
			     "{\"type\":\"message\",\"id\":\"e%d\",\"parentId\":%s,\"timestamp\":\"2026-11-01T00:00:00.000Z\","
			     "\"message\":{\"role\":\"user\",\"content\":\"%d %s%s\",\"timestamp\":7}}\n",
			     i, i % 1500 == 0 ? "null" : parent, i, padding, padding);
		if (i == 2222)
			rt_buf_add_c(out, "not a record\n");
	}
	rt_buf_add_c(out, "{\"type\":\"label\",\"id\":\"l1\",\"parentId\":\"e9\",\"timestamp\":\"2026-11-01T00:00:00.000Z\","
			  "\"targetId\":\"e77\",\"label\":\"here\"}\n"
			  "{\"type\":\"session_info\",\"id\":\"n1\",\"parentId\":\"l1\",\"timestamp\":\"2026-11-01T00:00:00.000Z\","
			  "\"name\":\"A long one\"}\n");
}

static void
set_up_engine(void **b)
{
	rt_store *store;

	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &store, NULL), RT_OK);
	bare_set_up(b, store);
}

typedef struct importing {
	rt_import *import;
	size_t batches;
} importing;

static rt_status
add_batch(void *ctx, const rt_outlines *batch, rt_error *err)
{
	importing *i = ctx;

	i->batches++;
	return rt_import_add(i->import, batch, err);
}

/* Imports a session; as if it were too large to be read as a whole, or not. Returns the number of batches. */
static size_t
import_session(bare *b, rt_str text, bool is_large, rt_import_result *result)
{
	walk_source source = {.bytes = text, .step = 1 << 16};
	rt_input in = walk_input(&source);
	rt_import_options options = {.discussions = 1};
	importing i = {NULL, 0};
	rt_error err = {.text = ""};

	if (is_large)
		in.size = (uint64_t)rt_format_pi.whole_max + 1;
	assert_int_equal(rt_import_begin(b->engine, &options, &i.import, &err), RT_OK);
	if (rt_format_stream(&rt_format_pi, rt_alloc_libc(), &in, add_batch, &i, NULL, &err) != RT_OK ||
	    rt_import_end(i.import, result, &err) != RT_OK)
		fail_msg("%s", err.text);
	return i.batches;
}

static void
assert_exported(bare *b, rt_str text)
{
	const rt_export_options whole = {.whole = true};
	const rt_project *value = rt_engine_value(b->engine);
	rt_outlines outlines;
	rt_error err = {.text = ""};
	rt_buf out;

	rt_outlines_init(&outlines);
	if (rt_engine_export(b->engine, value, (rt_place){1, 0}, false, &outlines, &err) != RT_OK)
		fail_msg("%s", err.text);
	write_to(&outlines, &whole, &out);
	assert_int_equal(out.size, text.size);
	assert_memory_equal(out.ptr, text.ptr, text.size);
	rt_buf_deinit(&out);
	rt_outlines_deinit(&outlines);
	rt_object_unref(value);
}

static void
pieces_are_the_whole(void **state)
{
	bare *b;
	rt_import_result result;
	rt_buf text;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	make_session(&text, ENTRIES);
	for (int is_large = 0; is_large < 2; is_large++) {
		set_up_engine((void **)&b);
		assert_true((import_session(b, rt_buf_str(&text), is_large, &result) > 1) == is_large);
		assert_int_equal(result.discussions, 1);
		assert_int_equal(result.entries, ENTRIES + 2);
		assert_string_equal(result.discussion, "A long one");
		assert_exported(b, rt_buf_str(&text));
		/* again, and as a whole: nothing is new */
		(void)import_session(b, rt_buf_str(&text), is_large, &result);
		assert_int_equal(result.entries, 0);
		assert_int_equal(result.known, ENTRIES + 2);
		(void)import_session(b, rt_buf_str(&text), !is_large, &result);
		assert_int_equal(result.entries, 0);
		bare_tear_down((void **)&b);
	}
	rt_buf_deinit(&text);
}

static void
a_grown_session_adds_its_entries(void **state)
{
	bare *b;
	rt_import_result result;
	rt_buf text, longer;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&longer, rt_alloc_libc(), RT_BUF_UNLIMITED);
	make_session(&text, 1200);
	make_session(&longer, ENTRIES);
	set_up_engine((void **)&b);
	(void)import_session(b, rt_buf_str(&text), true, &result);
	(void)import_session(b, rt_buf_str(&longer), true, &result);
	assert_int_equal(result.known, 1202);
	assert_int_equal(result.entries, ENTRIES - 1200);
	bare_tear_down((void **)&b);
	rt_buf_deinit(&text);
	rt_buf_deinit(&longer);
}

static rt_status
ignore_batch(void *ctx, const rt_outlines *batch, rt_error *err)
{
	(void)ctx;
	(void)batch;
	(void)err;
	return RT_OK;
}

static rt_status
stream_text(const char *text, rt_report *report, rt_error *err)
{
	rt_str bytes = rt_str_of(text);
	rt_input in = rt_input_of(&bytes);

	return rt_format_pi.stream(rt_alloc_libc(), &in, ignore_batch, NULL, report, err);
}

static void
refuses_what_needs_the_whole(void **state)
{
	static const char header_2[] =
		"{\"type\":\"session\",\"version\":2,\"id\":\"s1\",\"timestamp\":\"2026-11-01T00:00:00.000Z\",\"cwd\":\"/w\"}\n";
	rt_report report;
	rt_error err = {.text = ""};

	(void)state;
	rt_report_init(&report, rt_alloc_libc());
	assert_int_equal(stream_text("", NULL, &err), RT_USAGE);
	assert_int_equal(stream_text(USER("a", ROOT, "01"), NULL, &err), RT_USAGE);
	assert_string_equal(err.text, "Session file is not a valid pi session");
	assert_int_equal(stream_text(header_2, NULL, &err), RT_LIMIT);
	assert_int_equal(stream_text(HEADER CHAIN_3 USER("b", P("c"), "04"), NULL, &err), RT_USAGE);
	assert_non_null(strstr(err.text, "two entries have the id b"));
	assert_int_equal(stream_text(HEADER USER("a", P("b"), "01") USER("b", P("b"), "02"), &report, &err), RT_OK);
	assert_int_equal(report.repaired, 2);
	rt_report_deinit(&report);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_the_whole),
		cmocka_unit_test(a_grown_session_adds_its_entries),
		cmocka_unit_test(refuses_what_needs_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
