/* SPDX-License-Identifier: MIT
 *
 * The pi format: session files to outlines, and the same files again. */
#include "formats/pi_testing.h"

#include "codec/body.h"
#include "formats/pi_impl.h"

/* --- patching --- */

static void
assert_patched(const char *text, const rt_pi_change *changes, size_t count, const char *wanted)
{
	rt_json_doc *doc = NULL;
	rt_buf out;

	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(text), &doc, NULL), RT_OK);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_pi_patch(&out, rt_str_of(text), rt_json_root(doc), changes, count),
			 RT_OK);
	assert_string_equal(out.ptr, wanted);
	rt_buf_deinit(&out);
	rt_json_free(doc);
}

static void
test_patch(void **state)
{
	const rt_pi_change set = {"b", RT_STR("2"), NULL};
	const rt_pi_change drop = {"b", {NULL, 0}, NULL};
	const rt_pi_change after = {"b", RT_STR("2"), "a"};
	const rt_pi_change both[] = {{"a", {NULL, 0}, NULL}, {"z", RT_STR("[]"), NULL}};

	(void)state;
	assert_patched("{}", &set, 1, "{\"b\":2}");
	assert_patched(" { } \r", &set, 1, " {\"b\":2 } \r");
	assert_patched("{\"a\":1}", &set, 1, "{\"a\":1,\"b\":2}");
	assert_patched("{\"a\":[1,\"}\\\"\"] , \"b\" : {\"b\":0} ,\"c\":3}", &set, 1,
		       "{\"a\":[1,\"}\\\"\"] , \"b\" : 2 ,\"c\":3}");
	assert_patched("{\"b\":0,\"b\":1}", &set, 1, "{\"b\":0,\"b\":2}");
	assert_patched("{\"\\u0062\":0}", &set, 1, "{\"\\u0062\":2}");
	assert_patched("{\"a\":1,\"c\":3}", &after, 1, "{\"a\":1,\"b\":2,\"c\":3}");
	assert_patched("{\"c\":3}", &after, 1, "{\"c\":3,\"b\":2}");
	assert_patched("{\"a\":1}", &drop, 1, "{\"a\":1}");
	assert_patched("{\"b\":1}", &drop, 1, "{}");
	assert_patched("{ \"b\":1 , \"c\":2}", &drop, 1, "{\"c\":2}");
	assert_patched("{\"a\":0,\"b\":1,\"c\":2}", &drop, 1, "{\"a\":0,\"c\":2}");
	assert_patched("{\"a\":0,\"b\":1}", &drop, 1, "{\"a\":0}");
	assert_patched("{\"b\":1,\"a\":0,\"b\":[]}", &drop, 1, "{\"a\":0}");
	assert_patched("{\"a\":1}", both, 2, "{\"z\":[]}");
	assert_patched("{\"a\":1,\"b\":2}", both, 2, "{\"b\":2,\"z\":[]}");
}

/* --- reading --- */

static void
test_read(void **state)
{
	static const char text[] = HEADER USER("a", ROOT, "01") BOT("b", P("a"), "02")
		COMPACTION("c", P("b"), "03", "a") ENTRY("custom_message", "d", P("c"), "04",
							 ",\"customType\":\"t\","
							 "\"content\":\"x\"")
			LABEL("e", P("d"), "05", "b", ",\"label\":\"here\"") MESSAGE(
				"novel", "f", P("e"), "06", "1") USER("a", P("f"), "07")
				ENTRY("session_info", "n", P("a"), "08", ",\"name\":\"Name\"");
	rt_outlines o;
	const rt_outline *x;

	(void)state;
	assert_int_equal(rt_format_pi.sniff(rt_str_of(text)), 98);
	outlines_of(rt_str_of(text), &o);
	assert_int_equal(o.count, 1);
	x = &o.items[0];
	assert_str(x->name, "Name");
	assert_str(x->source, "pi:s1");
	assert_int_equal(x->node_count, 8);
	assert_true(x->has_head);
	assert_int_equal(x->head, 7);
	assert_str(x->nodes[0].id, "a");
	assert_str(x->nodes[0].role, "user");
	assert_int_equal(x->nodes[0].kind.size, 0);
	assert_int_equal(x->nodes[0].parent, -1);
	assert_int_equal(x->nodes[0].body_format, RT_BODY_PI);
	assert_true(x->nodes[0].has_ts);
	assert_int_equal(x->nodes[0].ts.us, 1793491201000000);
	assert_str(x->nodes[1].label, "here");
	assert_str(x->nodes[2].kind, "compaction");
	assert_str(x->nodes[2].role, "");
	assert_str(x->nodes[3].kind, "custom_message");
	assert_str(x->nodes[3].role, "custom");
	assert_str(x->nodes[4].kind, "label");
	assert_str(x->nodes[5].kind, "message");
	assert_str(x->nodes[5].role, "novel");
	assert_str(x->nodes[6].id, ""); /* there was an "a" before; the engine makes another */
	assert_int_equal(x->nodes[7].parent, 6);
	assert_int_equal(x->field_count, 1);
	assert_str(x->fields[0].name, "pi.header");
	assert_written(&o, NULL, text);
	rt_outlines_deinit(&o);
}

static void
test_sniff(void **state)
{
	(void)state;
	assert_int_equal(rt_format_pi.sniff(RT_STR("")), 0);
	assert_int_equal(rt_format_pi.sniff(RT_STR("\n\n")), 0);
	assert_int_equal(rt_format_pi.sniff(RT_STR("text\nmore text\n")), 0);
	assert_int_equal(rt_format_pi.sniff(RT_STR("torn}\n" HEADER)), 98);
	assert_int_equal(rt_format_pi.sniff(RT_STR("{\"type\":\"session_meta\",\"id\":\"x\"}\n")),
			 0);
	assert_int_equal(rt_format_pi.sniff(RT_STR("{\"type\":\"session\",\"id\":1}\n" HEADER)), 0);
	assert_int_equal(rt_format_pi.sniff(RT_STR("{\"messages\":[]}\n" HEADER)), 0);
	assert_int_equal(
		rt_format_pi.sniff(RT_STR("{\"type\":\"session\",\"version\":3,\"cwd\":\"/")), 60);
}

static void
test_refuses(void **state)
{
	rt_outlines o;
	rt_error err;
	rt_buf out;

	(void)state;
	assert_int_equal(rt_format_pi.read(rt_alloc_libc(), RT_STR(""), &o, NULL, &err), RT_USAGE);
	assert_int_equal(rt_format_pi.read(rt_alloc_libc(), RT_STR("x"), &o, NULL, &err), RT_USAGE);
	assert_true(err.has_at);
	rt_outlines_init(&o);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_format_pi.write(rt_alloc_libc(), &o, NULL, &out, &err), RT_USAGE);
}

/* --- the same file again --- */

static void
test_untouched(void **state)
{
	static const rt_str files[] = {
		RT_STR_INIT(HEADER),
		RT_STR_INIT("{\"type\":\"session\",\"version\":3,\"id\":\"s\"}"),
		RT_STR_INIT(HEADER USER("a", ROOT, "01") BOT("b", P("a"), "02")),
		/* torn, blank, doubled, odd lines; \r\n; no line end */
		RT_STR_INIT("x\n\n" HEADER "\n" USER(
			"a", ROOT,
			"01") "{\"to\n" HEADER "42\r\n"
			      "{\"type\":\"x\",\"id\":\"b\",\"parentId\":\"a\"} \r\n null\n\n\n"),
		RT_STR_INIT(HEADER USER("a", ROOT, "01") "{\"type\":\"message\",\"id\":\"b"),
		RT_STR_INIT(HEADER USER("a", ROOT, "01") "  "),
		RT_STR_INIT(HEADER "{\"id\":\"a\"}\n{\"id\":\"b\",\"parentId\":\"a\"}"),
		/* bytes that are not UTF-8, lone surrogates, NUL, U+2028 */
		RT_STR_INIT(HEADER "\xFF\xFE\n" MESSAGE(
			"user", "a", ROOT, "01",
			"\"\xF0\x9F \\ud83d \\udc00 \\u0000 \xE2\x80\xA8\"")),
		RT_STR_INIT(
			"{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/caf\xE9\"}\n" USER(
				"a", ROOT, "01")),
		/* duplicates, orphans, circles, entries without ids, children first */
		RT_STR_INIT(HEADER USER("a", ROOT, "01") USER("b", P("a"), "02") USER(
			"b", P("a"), "03") USER("c", P("b"), "04") USER("a", P("zz"), "05")),
		RT_STR_INIT(HEADER USER("a", P("b"), "01") USER("b", P("a"), "02")
				    USER("c", P("c"), "03") USER("d", P("a"), "04")),
		RT_STR_INIT(HEADER USER("a", P("b"), "01") USER("b", P("c"), "02")
				    USER("c", ROOT, "03")),
		RT_STR_INIT(HEADER
			    "{}\n{\"type\":3}\n" USER("a", ROOT, "01") "{\"parentId\":\"a\"}\n"),
		/* labels and names of all sorts */
		RT_STR_INIT(HEADER USER("a", ROOT, "01")
				    LABEL("l", P("a"), "02", "a", ",\"label\":\"x\"")
					    LABEL("m", P("l"), "03", "gone", ",\"label\":\"y\"")
						    LABEL("n", P("m"), "04", "a", "")
							    ENTRY("session_info", "i", P("n"), "05",
								  ",\"name\":\" N\"")),
		RT_STR_INIT(HEADER USER("a", ROOT, "01") USER("a", P("a"), "02")
				    LABEL("l", P("a"), "03", "a", ",\"label\":\"x\"")),
		RT_STR_INIT("{\"type\":\"session\",\"version\":9,\"id\":\"s\"}\n" USER("a", ROOT,
										       "01")),
		RT_STR_INIT(
			HEADER
			"{\"type\":\"x\",\"id\":\"a\",\"retake\":{\"muted\":true,\"role\":\"R\"}}\n"),
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		assert_same(files[i]);
}

static void
test_migrated(void **state)
{
	static const char text[] =
		"\n{\"type\":\"session\",\"id\":\"old\",\"timestamp\":\"2025-01-01T00:00:00.000Z\"}\n"
		"torn\n"
		"{\"type\":\"message\",\"message\":{\"role\":\"hookMessage\",\"content\":\"h\"}}\n"
		"{\"type\":\"compaction\",\"summary\":\"s\",\"firstKeptEntryIndex\":1}\r\n";
	rt_outlines o;
	rt_buf first, second;

	(void)state;
	outlines_of(rt_str_of(text), &o);
	write_to(&o, NULL, &first);
	rt_outlines_deinit(&o);
	assert_true(rt_str_starts(rt_buf_str(&first),
				  RT_STR("\n{\"type\":\"session\",\"id\":\"old\",\"timestamp\":"
					 "\"2025-01-01T00:00:00.000Z\",\"version\":3}\ntorn\n"
					 "{\"type\":\"message\",\"message\":{\"role\":\"custom\","
					 "\"content\":\"h\"},\"id\":\"")));
	assert_same(rt_buf_str(&first));
	/* reading the old file again gives the same ids: nothing is imported twice */
	outlines_of(rt_str_of(text), &o);
	write_to(&o, NULL, &second);
	assert_string_equal(first.ptr, second.ptr);
	rt_outlines_deinit(&o);
	rt_buf_deinit(&first);
	rt_buf_deinit(&second);
	/* a header of version 2 is changed in place */
	outlines_of(RT_STR("{\"type\":\"session\",\"version\":2,\"id\":\"s\"}\n"), &o);
	assert_written(&o, NULL, "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n");
	rt_outlines_deinit(&o);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patch),     cmocka_unit_test(test_read),
		cmocka_unit_test(test_sniff),     cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_untouched), cmocka_unit_test(test_migrated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
