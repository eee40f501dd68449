/* SPDX-License-Identifier: MIT */
#include "formats/formats_random.h"

#include "formats/formats.h"

static void
test_find(void **state)
{
	(void)state;
	assert_null(rt_format_find(RT_STR("word")));
	assert_null(rt_format_find(RT_STR("")));
	for (size_t i = 0; rt_formats[i] != NULL; i++) {
		assert_ptr_equal(rt_format_find(rt_str_of(rt_formats[i]->name)), rt_formats[i]);
		if (rt_formats[i]->read == NULL) { /* only written */
			assert_non_null(rt_formats[i]->write);
			assert_true(rt_formats[i]->sniff == NULL && rt_formats[i]->examine == NULL);
			continue;
		}
		/* read as TOML only if the format is given */
		assert_true(rt_formats[i]->sniff != NULL || rt_formats[i]->examine != NULL ||
			    rt_formats[i] == &rt_format_config_toml);
	}
}

/* The names of the table are those of the formats that are written. */
static void
test_names(void **state)
{
	rt_str names = RT_STR(", " RT_FORMAT_NAMES ",");
	size_t size = 0;

	(void)state;
	for (size_t i = 0; rt_formats[i] != NULL; i++) {
		char name[64];

		if (rt_formats[i]->write == NULL)
			continue;
		size += strlen(rt_formats[i]->name) + 2;
		snprintf(name, sizeof(name), ", %s,", rt_formats[i]->name);
		if (rt_str_find(names, rt_str_of(name), 0) == SIZE_MAX)
			fail_msg("%s is not in RT_FORMAT_TABLE", rt_formats[i]->name);
	}
	assert_int_equal(names.size, size + 1);
}

static void
assert_sniffed(const char *text, const char *wanted)
{
	const rt_format *found = rt_format_sniff(rt_str_of(text));
	const char *name = found == NULL ? "none" : found->name;

	if (strcmp(name, wanted) != 0)
		fail_msg("%s, not %s: %.60s", name, wanted, text);
}

static void
test_sniff(void **state)
{
	(void)state;
	assert_sniffed("", "none");
	assert_sniffed("hello\nworld\n", "none");
	assert_sniffed("[1,2,3]", "none");
	assert_sniffed("# Shopping\n\n- milk\n", "none");
	assert_sniffed("{\"active\":\"main\",\"discussions\":[{\"ac", "canonical");
	assert_sniffed("{\"active\":\"main\",\"discussions\":[]}", "canonical");
	assert_sniffed(" [ {\"content\":\"x\",\"role\":\"user\"}]", "openai");
	assert_sniffed("[{\"messages\":[{\"role\":\"user\"", "openai");
	assert_sniffed("{\"messages\":[{\"content\":\"a very long text that is cut", "openai");
	assert_sniffed("{\"lastUpdated\":\"2024-01-01T10:05:05Z\",\"messages\":[{\"content\":\"a very long text",
		       "gemini-cli");
	assert_sniffed("{\"lastUpdated\":\"2024-01-01T10:05:05Z\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}",
		       "openai");
	assert_sniffed("{\"messages\":[{\"type\":\"user\",\"content\":\"a\"}]}", "none");
	assert_sniffed("{\"role\":\"user\",\"message\":\"a\",\"created_at\":1}\n", "none");
	assert_sniffed("{\"messages\":[{\"role\":\"user\",\"content\":\"a\",\"parentId\":null}]}", "none");
	assert_sniffed("{\"id\":\"x\",\"role\":\"user\",\"time\":{\"created\":1}}", "none");
	assert_sniffed("{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\n{\"messages\":[]}\n", "openai");
	assert_sniffed("\xEF\xBB\xBF# c\n[project]\nname = \"x\"\n[discussion]\nactive = \"a\"\n", "toml");
	assert_sniffed("[ai]\nmodel = \"x\"\n", "toml");
	assert_sniffed("temperature = 0.5\n", "toml");
	assert_sniffed("# Title\n\n## User\n\nhi\n\n## AI\n\nho\n", "markdown");
	assert_sniffed("<!-- retake: {} -->\n", "markdown");
	assert_sniffed("<!DOCTYPE html>\n<html><meta name=\"generator\" content=\"Retake html 1\">", "html");
	assert_sniffed("<!doctype html>\n<html><title>x</title>", "none");
	assert_sniffed("{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\","
		       "\"cwd\":\"/\"}\n{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,"
		       "\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n",
		       "pi");
}

/* Every format recognises its own output. */
static void
test_sniff_own(void **state)
{
	static const rt_export_options options[] = {{.whole = false},
						   {.whole = true, .lossless = true}};
	size_t i, k;
	rt_outlines o;

	(void)state;
	random_project(rt_alloc_libc(), 3, 1, 10, &o);
	for (i = 1; rt_formats[i] != NULL; i++) /* all but pi, which has its own tests */
		for (k = 0; k < 2 && rt_formats[i]->write != NULL && rt_formats[i]->read != NULL; k++) {
			rt_buf text;

			rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
			assert_int_equal(rt_formats[i]->write(rt_alloc_libc(), &o, &options[k], &text, NULL),
					 RT_OK);
			assert_ptr_equal(rt_format_sniff(rt_buf_str(&text)),
					 rt_formats[i]->sniff != NULL ? rt_formats[i] : &rt_format_toml);
			rt_buf_deinit(&text);
		}
	rt_outlines_deinit(&o);
}

static void
test_scan(void **state)
{
	rt_members m;
	rt_str key, value;

	(void)state;
	assert_true(rt_members_open(&m, RT_STR(" {\"a\" : [1,{\"]\":\"\\\\\\\"]\"}] ,\"\\u0062\":tru } x")));
	assert_true(rt_members_next(&m, &key, &value));
	assert_true(rt_scan_key_is(key, "a"));
	assert_true(rt_str_is(value, "[1,{\"]\":\"\\\\\\\"]\"}]"));
	assert_true(rt_members_next(&m, &key, &value));
	assert_true(rt_str_is(key, "\"\\u0062\""));
	assert_true(rt_str_is(value, "tru"));
	assert_false(rt_members_next(&m, &key, &value));
	assert_false(m.bad);
	assert_true(rt_str_is(rt_str_at(m.in.ptr + m.at, m.in.size - m.at), " x"));

	assert_false(rt_members_open(&m, RT_STR("5")));
	assert_true(m.bad);
	assert_true(rt_members_open(&m, RT_STR("[1 2]")));
	assert_true(rt_members_next(&m, &key, &value));
	assert_false(rt_members_next(&m, &key, &value));
	assert_true(m.bad);
	assert_int_equal(m.at, 3);
	assert_true(rt_members_open(&m, RT_STR("{\"k\": [1, 2")));
	assert_false(rt_members_next(&m, &key, &value));
	assert_true(m.bad);
	assert_true(rt_scan_key_is(key, "k"));
	assert_int_equal(m.at, 6);
	assert_true(rt_members_open(&m, RT_STR("[]")));
	assert_false(rt_members_next(&m, &key, &value));
	assert_false(m.bad);
	assert_true(rt_members_open(&m, RT_STR("[,]")));
	assert_false(rt_members_next(&m, &key, &value));
	assert_true(m.bad);
}

/* A take for every leaf, the head's path first. */
static void
test_takes_of(void **state)
{
	rt_node nodes[6];
	rt_outline o;
	rt_arena *arena = rt_arena_new(rt_alloc_libc());
	const rt_outline_take *takes;
	size_t count, active;

	(void)state;
	memset(nodes, 0, sizeof(nodes));
	memset(&o, 0, sizeof(o));
	/* 0 - 1 - 2    0 - 3    4 (root)    1 - 5 */
	nodes[0].parent = nodes[4].parent = -1;
	nodes[1].parent = nodes[3].parent = 0;
	nodes[2].parent = nodes[5].parent = 1;
	o.name = RT_STR("d");
	o.nodes = nodes;
	o.node_count = 6;
	o.has_head = true;
	o.head = 3;
	assert_int_equal(rt_outline_takes_of(rt_alloc_libc(), arena, &o, &takes, &count, &active, NULL), RT_OK);
	assert_int_equal(count, 4);
	assert_int_equal(takes[0].node_count, 2);
	assert_int_equal(takes[0].nodes[1], 3);
	assert_true(rt_str_is(takes[0].name, "d"));
	assert_int_equal(takes[1].nodes[2], 2);
	assert_true(rt_str_is(takes[1].name, "d_take_1"));
	assert_int_equal(takes[2].node_count, 1);
	o.head = 1; /* in the middle: the newest leaf below it */
	assert_int_equal(rt_outline_takes_of(rt_alloc_libc(), arena, &o, &takes, &count, &active, NULL), RT_OK);
	assert_int_equal(takes[0].nodes[2], 5);
	o.node_count = 0;
	o.has_head = false;
	assert_int_equal(rt_outline_takes_of(rt_alloc_libc(), arena, &o, &takes, &count, &active, NULL), RT_OK);
	assert_int_equal(count, 1);
	assert_int_equal(takes[0].node_count, 0);
	rt_arena_free(arena);
}

static void
test_bytes(void **state)
{
	size_t size, i;

	(void)state;
	for (size = 0; size < 20; size++) {
		char bytes[20];
		rt_buf json, back;
		rt_json_doc *doc;

		for (i = 0; i < size; i++)
			bytes[i] = (char)(0xFF - i * 7);
		rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_init(&back, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_build_add_bytes(&json, rt_str_at(bytes, size));
		assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&json), &doc, NULL), RT_OK);
		assert_true(rt_build_read_bytes(&back, rt_json_root(doc)));
		assert_true(rt_str_eq(rt_buf_str(&back), rt_str_at(bytes, size)));
		rt_json_free(doc);
		rt_buf_deinit(&json);
		rt_buf_deinit(&back);
	}
}

/* Allocation number left fails, and all after it or none. Nothing may leak, and everything reported
 * as done must be complete. */
typedef struct torture {
	size_t left;
	bool recovers;
	bool failed;
} torture;

static void *
torture_resize(void *ctx, void *ptr, size_t size)
{
	torture *t = ctx;

	if (t->left == 0 && !(t->recovers && t->failed)) {
		t->failed = true;
		return NULL;
	}
	if (t->left > 0)
		t->left--;
	return rt_resize(rt_alloc_libc(), ptr, size);
}

static void
torture_release(void *ctx, void *ptr)
{
	(void)ctx;
	rt_free(rt_alloc_libc(), ptr);
}

static void
torture_format(const rt_format *format, const rt_export_options *options, const rt_outlines *o,
	       bool recovers)
{
	torture t = {.recovers = recovers, .failed = true};
	rt_alloc alloc = {torture_resize, torture_release, &t};
	rt_outlines again;
	size_t allowed;
	rt_buf text, second;
	rt_status st;

	check_round_trip(format, o, options, &text);
	for (allowed = 0; t.failed; allowed++) {
		t.left = allowed;
		t.failed = false;
		st = format->read(&alloc, rt_buf_str(&text), &again, NULL, NULL);
		if (st != (t.failed ? RT_NOMEM : RT_OK))
			fail_msg("%s: reading gave %s (%zu)", format->name, rt_status_word(st), allowed);
	}
	rt_outlines_deinit(&again);
	t.failed = true;
	for (allowed = 0; t.failed; allowed++) {
		t.left = allowed;
		t.failed = false;
		rt_buf_init(&second, &alloc, RT_BUF_UNLIMITED);
		st = format->write(&alloc, o, options, &second, NULL);
		if (st != (t.failed ? RT_NOMEM : RT_OK))
			fail_msg("%s: writing gave %s (%zu)", format->name, rt_status_word(st), allowed);
		if (st == RT_OK && !rt_str_eq(rt_buf_str(&text), rt_buf_str(&second)))
			fail_msg("%s: written differently", format->name);
		rt_buf_deinit(&second);
	}
	rt_buf_deinit(&text);
}

static void
test_torture(void **state)
{
	static const rt_export_options options[] = {{.whole = false},
						   {.whole = true, .lossless = true}};
	const rt_format *formats[] = {&rt_format_canonical, &rt_format_openai, &rt_format_markdown,
				      &rt_format_html,
#ifdef RT_WITH_TOML
				      &rt_format_toml,
#endif
				      NULL};
	rt_outlines o;
	size_t i, k;

	(void)state;
	random_project(rt_alloc_libc(), 11, 2, 6, &o);
	for (i = 0; formats[i] != NULL; i++)
		for (k = 0; k < 2; k++) {
			torture_format(formats[i], &options[k], &o, false);
			torture_format(formats[i], &options[k], &o, true);
		}
	rt_outlines_deinit(&o);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),  cmocka_unit_test(test_names),
		cmocka_unit_test(test_sniff),
		cmocka_unit_test(test_sniff_own), cmocka_unit_test(test_scan),
		cmocka_unit_test(test_takes_of), cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_torture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
