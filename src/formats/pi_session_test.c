/* SPDX-License-Identifier: MIT
 *
 * Pi sessions: reading a file, and its interpretation. */
#include "formats/pi_context_testing.h"
#include "formats/pi_testing.h"

/* --- loading --- */

static void
test_example(void **state)
{
	rt_pi_session s;
	size_t *path, count;

	(void)state;
	session_of(HEADER USER("a", ROOT, "01") BOT("b", P("a"), "02") LABEL("l", P("b"), "03", "a",
									     ",\"label\":\"start\"")
			   ENTRY("session_info", "i", P("l"), "04", ",\"name\":\" A name \\n\""),
		   &s);
	assert_str(s.id, "s1");
	assert_int_equal(s.version, 3);
	assert_int_equal(s.entry_count, 4);
	assert_int_equal(s.leaf, 3);
	assert_str(s.name, "A name");
	assert_str(s.entries[0].label, "start");
	assert_str(s.entries[1].role, "assistant");
	assert_int_equal(s.entries[1].number, 3);
	assert_int_equal(rt_pi_session_find(&s, RT_STR("b")), 1);
	assert_int_equal(rt_pi_session_find(&s, RT_STR("zz")), -1);
	assert_int_equal(rt_pi_session_path(rt_alloc_libc(), &s, s.leaf, &path, &count), RT_OK);
	assert_int_equal(count, 4);
	assert_int_equal(path[0], 0);
	assert_int_equal(path[3], 3);
	free(path);
	rt_pi_session_deinit(&s);
}

/* Lines that are not entries: how many entries and other lines are left, and where. */
static void
assert_lines(const char *text, size_t entries, size_t junk, size_t skipped)
{
	rt_pi_session s;
	rt_report report;
	rt_error err = {.text = ""};

	rt_report_init(&report, rt_alloc_libc());
	if (read_session(text, &s, &report, &err) != RT_OK)
		fail_msg("%s in\n%s", err.text, text);
	rt_pi_session_check(&s);
	assert_int_equal(s.entry_count, entries);
	assert_int_equal(s.junk_count, junk);
	assert_int_equal(report.skipped, skipped);
	if (entries > 0)
		assert_str(s.entries[0].id, "a");
	rt_pi_session_deinit(&s);
	rt_report_deinit(&report);
}

static void
test_lines(void **state)
{
	(void)state;
	assert_lines(HEADER, 0, 0, 0);
	assert_lines(HEADER USER("a", ROOT, "01") "{\"type\":\"message\",\"id\":\"b\"", 1, 1, 1);
	assert_lines(HEADER "{bad\n" USER("a", ROOT, "01"), 1, 1, 1);
	assert_lines("{bad\n" HEADER USER("a", ROOT, "01"), 1, 1, 1);
	assert_lines("\n \t\nnull\n" HEADER "\r\n\xEF\xBB\xBF \n" USER("a", ROOT, "01") "\n", 1, 6,
		     1);
	assert_lines(HEADER USER("a", ROOT, "01") "null\n42\n[1]\n\"x\"\nfalse\ntrue\n-0.0e5\n", 1,
		     7, 7);
	assert_lines(HEADER USER("a", ROOT, "01") HEADER, 1, 1, 1);
	/* a torn line that two writers glued together is lost as a whole */
	assert_lines(HEADER USER("a", ROOT, "01") "{\"type\":\"mess{\"type\":\"message\"}\n", 1, 1,
		     1);
}

static void
test_line_ends(void **state)
{
	rt_pi_session s;

	(void)state;
	session_of(HEADER "{\"type\":\"x\",\"id\":\"a\",\"parentId\":null}\r\n"
			  "{\"type\":\"x\",\"id\":\"b\",\"parentId\":\"a\"}",
		   &s);
	assert_int_equal(s.entry_count, 2);
	assert_false(s.is_ended);
	assert_str(s.entries[0].line, "{\"type\":\"x\",\"id\":\"a\",\"parentId\":null}\r");
	assert_int_equal(s.entries[1].parent, 0);
	rt_pi_session_deinit(&s);
	/* only \n ends a line: U+2028 and U+0085 are text */
	session_of(HEADER MESSAGE("user", "a", ROOT, "01", "\"x\xE2\x80\xA8y\xC2\x85z\""), &s);
	assert_int_equal(s.entry_count, 1);
	assert_true(s.is_ended);
	rt_pi_session_deinit(&s);
}

static void
test_not_a_session(void **state)
{
	static const char *const bad[] = {
		"garbage\n",
		"\n",
		" ",
		"\xEF\xBB\xBF" HEADER,
		USER("a", ROOT, "01"),
		"{\"type\":\"session\",\"id\":7}\n" HEADER,
		"{\"type\":\"session\"}\n",
		"[]\n" HEADER,
		"42\n" HEADER,
		"{\"type\":\"session\",\"id\":\"s\"",
	};
	rt_pi_session s;
	rt_error err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(&err, 0, sizeof(err));
		assert_int_equal(read_session(bad[i], &s, NULL, &err), RT_USAGE);
		assert_string_equal(err.text, "Session file is not a valid pi session");
		assert_true(err.has_at);
	}
	/* an empty file is a new session for pi */
	session_of("", &s);
	assert_false(s.has_header);
	assert_int_equal(s.leaf, -1);
	rt_pi_session_deinit(&s);
}

static void
test_long_line(void **state)
{
	rt_pi_options options = {.line_max = 200};
	rt_pi_session s;
	rt_report report;
	rt_buf file;
	size_t i;

	(void)state;
	rt_buf_init(&file, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_report_init(&report, rt_alloc_libc());
	rt_buf_add_c(&file, HEADER USER("a", ROOT, "01") "{\"type\":\"");
	for (i = 0; i < 1000; i++)
		rt_buf_add_byte(&file, 'x');
	rt_buf_add_c(&file, "\"}\n\n" USER("b", P("a"), "02"));
	assert_int_equal(
		rt_pi_session_read(rt_alloc_libc(), rt_buf_str(&file), &options, &s, &report, NULL),
		RT_OK);
	assert_int_equal(s.entry_count, 2);
	assert_int_equal(s.entries[1].parent, 0);
	assert_int_equal(s.entries[1].number, 5);
	assert_int_equal(s.junk_count, 1);
	assert_int_equal(s.junk[0].number, 3); /* the position without the long line */
	assert_int_equal(report.skipped, 1);
	assert_int_equal(report.remarks[0].line, 3);
	rt_pi_session_deinit(&s);
	rt_report_deinit(&report);
	rt_buf_deinit(&file);
}

static void
test_too_deep(void **state)
{
	rt_pi_session s;
	rt_buf file;
	int levels, i;

	(void)state;
	/* the entry is a level, too: 511 arrays inside it are just within the limit */
	for (levels = RT_JSON_DEPTH_MAX - 1; levels <= RT_JSON_DEPTH_MAX; levels++) {
		rt_buf_init(&file, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_add_c(&file, HEADER "{\"type\":\"x\",\"id\":\"a\",\"parentId\":null,\"d\":");
		for (i = 0; i < levels; i++)
			rt_buf_add_byte(&file, '[');
		for (i = 0; i < levels; i++)
			rt_buf_add_byte(&file, ']');
		rt_buf_add_c(&file, "}\n");
		session_of(file.ptr, &s);
		assert_int_equal(s.entry_count, levels < RT_JSON_DEPTH_MAX);
		rt_pi_session_deinit(&s);
		rt_buf_deinit(&file);
	}
	rt_buf_init(&file, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&file, HEADER); /* a million levels, not closed */
	for (i = 0; i < 1000000; i++)
		rt_buf_add_byte(&file, '[');
	session_of(file.ptr, &s);
	assert_int_equal(s.junk_count, 1);
	rt_pi_session_deinit(&s);
	rt_buf_deinit(&file);
}

static void
test_versions(void **state)
{
	rt_pi_session s;

	(void)state;
	session_of("{\"type\":\"session\",\"version\":4,\"id\":\"s\"}\n" USER("a", ROOT, "01"), &s);
	assert_int_equal(s.version, 4);
	assert_str(s.entries[0].id, "a");
	rt_pi_session_deinit(&s);
	session_of("{\"type\":\"session\",\"version\":99,\"id\":\"s\"}\n"
		   "{\"type\":\"message\",\"id\":\"a\",\"message\":{\"role\":\"hookMessage\"}}\n",
		   &s);
	assert_str(s.entries[0].role, "hookMessage");
	rt_pi_session_deinit(&s);
}

static void
test_odd_trees(void **state)
{
	rt_pi_session s;
	rt_report report;

	(void)state;
	/* unknown types keep the chain; a missing parentId, "" and an unknown id are roots */
	session_of(HEADER USER("a", ROOT, "01") ENTRY("future", "b", P("a"), "02", ",\"z\":[{}]")
			   USER("c", P("b"),
				"03") "{\"type\":\"x\",\"id\":\"d\"}\n" USER("e", P("lost"), "05")
				   USER("f", P(""), "06") USER("", P("a"), "07"),
		   &s);
	assert_int_equal(s.entries[2].parent, 1);
	assert_str(s.entries[1].type, "future");
	assert_int_equal(s.entries[1].kind, RT_PI_OTHER);
	assert_int_equal(s.entries[3].parent, -1);
	assert_int_equal(s.entries[4].parent, -1);
	assert_int_equal(s.entries[5].parent, -1);
	assert_int_equal(s.entries[6].parent, 0);
	rt_pi_session_deinit(&s);

	/* a child before its parent */
	session_of(HEADER USER("b", P("a"), "02") USER("a", ROOT, "01"), &s);
	assert_int_equal(s.entries[0].parent, 1);
	assert_int_equal(s.leaf, 1);
	rt_pi_session_deinit(&s);

	/* the same id twice: it means the later one, both are kept */
	session_of(HEADER USER("a", ROOT, "01") USER("b", P("a"), "02") USER("b", P("a"), "03")
			   USER("c", P("b"), "04"),
		   &s);
	assert_int_equal(s.entry_count, 4);
	assert_int_equal(rt_pi_session_find(&s, RT_STR("b")), 2);
	assert_int_equal(s.entries[3].parent, 2);
	assert_false(s.entries[1].is_duplicate);
	assert_true(s.entries[2].is_duplicate);
	rt_pi_session_deinit(&s);

	/* its own parent; two that are each other's; and one below those */
	rt_report_init(&report, rt_alloc_libc());
	assert_int_equal(read_session(HEADER USER("a", P("a"), "01") USER("b", P("c"), "02")
					      USER("c", P("b"), "03") USER("d", P("c"), "04"),
				      &s, &report, NULL),
			 RT_OK);
	rt_pi_session_check(&s);
	assert_int_equal(s.entries[0].parent, -1);
	assert_int_equal(s.entries[1].parent, -1);
	assert_int_equal(s.entries[2].parent, 1);
	assert_int_equal(s.entries[3].parent, 2);
	assert_int_equal(report.repaired, 2);
	rt_pi_session_deinit(&s);
	rt_report_deinit(&report);

	/* no id at all; ids and types that are not strings */
	session_of(HEADER "{}\n{\"type\":7,\"id\":8,\"parentId\":9,\"timestamp\":10}\n"
			  "{\"type\":\"message\"}\n{\"type\":\"message\",\"message\":[]}\n",
		   &s);
	assert_int_equal(s.entry_count, 4);
	assert_true(s.entries[1].id.ptr == NULL);
	assert_false(s.entries[2].speaks);
	rt_pi_session_deinit(&s);
}

/* The last line is the leaf, of whatever type. */
static void
test_leaf(void **state)
{
	rt_pi_session s;

	(void)state;
	session_of(HEADER, &s);
	assert_int_equal(s.leaf, -1);
	rt_pi_session_deinit(&s);
	session_of(HEADER USER("a", ROOT, "01") USER("b", P("a"), "02")
			   LABEL("l", P("a"), "03", "a", ""),
		   &s);
	assert_str(s.entries[s.leaf].id, "l");
	rt_pi_session_deinit(&s);
	session_of(HEADER USER("a", ROOT, "01") ENTRY("usage", "u", P("a"), "02", ""), &s);
	assert_str(s.entries[s.leaf].id, "u");
	rt_pi_session_deinit(&s);
}

static void
test_labels(void **state)
{
	rt_pi_session s;
	const rt_pi_label *labels;
	rt_scope scope;
	size_t count;

	(void)state;
	rt_scope_init(&scope, rt_alloc_libc());
	session_of(HEADER USER("a", ROOT, "01") USER("b", P("a"), "02") USER("c", P("b"), "03")
			   LABEL("1", P("c"), "04", "a", ",\"label\":\"one\"") LABEL(
				   "2", P("1"), "05", "b", ",\"label\":\"two\"")
				   LABEL("3", P("2"), "06", "a", ",\"label\":\"\"") LABEL(
					   "4", P("3"), "07", "b", ",\"label\":\"three\"")
					   LABEL("5", P("4"), "08", "gone", ",\"label\":\"x\"")
						   LABEL("6", P("5"), "09", "c", ""),
		   &s);
	assert_true(s.entries[0].label.ptr == NULL);
	assert_str(s.entries[1].label, "three");
	assert_true(s.entries[2].label.ptr == NULL);
	labels = rt_pi_session_labels(&scope, &s, &count);
	assert_int_equal(count, 2);
	assert_str(labels[0].target, "b");
	assert_int_equal(labels[0].entry, 6);
	assert_str(labels[1].target, "gone");
	rt_pi_session_deinit(&s);
	/* set again from nothing: it goes to the end */
	session_of(HEADER LABEL("1", ROOT, "04", "a", ",\"label\":\"one\"")
			   LABEL("2", ROOT, "05", "b", ",\"label\":\"two\"")
				   LABEL("3", ROOT, "06", "a", "")
					   LABEL("4", ROOT, "07", "a", ",\"label\":\"three\""),
		   &s);
	labels = rt_pi_session_labels(&scope, &s, &count);
	assert_int_equal(count, 2);
	assert_str(labels[0].target, "b");
	assert_str(labels[1].text, "three");
	rt_scope_deinit(&scope);
	rt_pi_session_deinit(&s);
}

static void
test_name(void **state)
{
	rt_pi_session s;

	(void)state;
	session_of(HEADER ENTRY("session_info", "1", ROOT, "01", ",\"name\":\"one\"")
			   ENTRY("session_info", "2", ROOT, "02",
				 ",\"name\":\"\\u00a0\xE3\x80\x80two \\u2028\""),
		   &s);
	assert_str(s.name, "two");
	rt_pi_session_deinit(&s);
	session_of(HEADER ENTRY("session_info", "1", ROOT, "01", ",\"name\":\"one\"")
			   ENTRY("session_info", "2", ROOT, "02", ",\"name\":\" \\t \""),
		   &s);
	assert_int_equal(s.name.size, 0);
	rt_pi_session_deinit(&s);
	session_of(HEADER ENTRY("session_info", "1", ROOT, "01", ",\"name\":\"one\"")
			   ENTRY("session_info", "2", ROOT, "02", ""),
		   &s);
	assert_int_equal(s.name.size, 0);
	rt_pi_session_deinit(&s);
}

/* Input that JavaScript accepts and we read too. */
static void
test_text(void **state)
{
	rt_pi_session s;

	(void)state;
	session_of(HEADER MESSAGE("user", "a", ROOT, "01", "\"lone \\ud83d and \\u0000\"")
			   MESSAGE("user", "b\\u0063", P("a"), "02", "\"bad \xFF byte\"")
				   USER("c", P("bc"), "03"),
		   &s);
	assert_int_equal(s.entry_count, 3);
	assert_str(s.entries[1].id, "bc");
	assert_int_equal(s.entries[2].parent, 1);
	rt_pi_session_deinit(&s);
	/* of a repeated key the last one counts; an escaped key is that key */
	session_of(HEADER "{\"type\":\"x\",\"id\":\"a\",\"\\u0069d\":\"b\",\"parentId\":null}\n",
		   &s);
	assert_str(s.entries[0].id, "b");
	rt_pi_session_deinit(&s);
}

static void
test_timestamps(void **state)
{
	rt_pi_session s;

	(void)state;
	session_of(HEADER
		   "{\"type\":\"message\",\"id\":\"a\",\"message\":{\"timestamp\":1767225600123}}\n"
		   "{\"type\":\"x\",\"id\":\"b\",\"timestamp\":\"2026-01-01T00:00:00.123456Z\"}\n"
		   "{\"type\":\"x\",\"id\":\"c\",\"timestamp\":\"yesterday\"}\n"
		   "{\"type\":\"x\",\"id\":\"d\",\"timestamp\":3}\n"
		   "{\"type\":\"x\",\"id\":\"e\",\"timestamp\":1e400}\n",
		   &s);
	assert_int_equal(s.entries[0].ts_from, RT_PI_TS_MESSAGE);
	assert_int_equal(s.entries[0].ts.us, 1767225600123000);
	assert_int_equal(s.entries[1].ts.us, 1767225600123456);
	assert_int_equal(s.entries[2].ts_from, RT_PI_TS_NONE);
	assert_int_equal(s.entries[3].ts.us, 3000); /* milliseconds, however few */
	assert_int_equal(s.entries[4].ts_from, RT_PI_TS_NONE);
	rt_pi_session_deinit(&s);
}

/* --- migration --- */

static void
count_up(void *ctx, void *to, size_t size)
{
	unsigned char *n = ctx;

	memset(to, (*n)++, size);
}

static void
no_luck(void *ctx, void *to, size_t size)
{
	(void)ctx;
	memset(to, 0x11, size);
}

static const char v1_text[] =
	"{\"type\":\"session\",\"id\":\"old\",\"timestamp\":\"2025-01-01T00:00:00Z\","
	"\"cwd\":\"/w\",\"provider\":\"p\",\"modelId\":\"m\"}\n"
	"{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"u\"}}\n"
	"oops\n"
	"{\"type\":\"message\",\"message\":{\"role\":\"hookMessage\",\"content\":\"h\"}}\n"
	"{ \"type\":\"compaction\",\"firstKeptEntryIndex\":2,\"summary\":\"s\",\"tokensBefore\":1 }\n"
	"{\"type\":\"compaction\",\"summary\":\"s\",\"firstKeptEntryIndex\":0}\n"
	"{\"type\":\"compaction\",\"summary\":\"s\",\"firstKeptEntryIndex\":99}\n"
	"{\"type\":\"x\",\"id\":7,\"parentId\":\"kept in place\"}\n";

static void
test_migrate_1(void **state)
{
	unsigned char n = 1;
	rt_env env = {NULL, count_up, &n};
	rt_pi_options options = {.env = &env};
	rt_pi_session s, again;
	size_t i;

	(void)state;
	assert_int_equal(
		rt_pi_session_read(rt_alloc_libc(), rt_str_of(v1_text), &options, &s, NULL, NULL),
		RT_OK);
	rt_pi_session_check(&s);
	assert_int_equal(s.version, 1);
	assert_int_equal(s.entry_count, 6);
	for (i = 0; i < s.entry_count; i++)
		assert_int_equal(s.entries[i].parent, (int)i - 1); /* a chain */
	assert_str(s.entries[0].line, "{\"type\":\"message\",\"message\":{\"role\":\"user\","
				      "\"content\":\"u\"},\"id\":\"01010101\",\"parentId\":null}");
	assert_str(s.entries[1].line,
		   "{\"type\":\"message\",\"message\":{\"role\":\"custom\",\"content\":\"h\"},"
		   "\"id\":\"02020202\",\"parentId\":\"01010101\"}");
	assert_str(s.entries[1].role, "custom");
	assert_str(s.entries[2].line,
		   "{ \"type\":\"compaction\",\"summary\":\"s\",\"tokensBefore\":1,"
		   "\"id\":\"03030303\",\"parentId\":\"02020202\","
		   "\"firstKeptEntryId\":\"02020202\" }");
	assert_str(s.entries[2].target, "02020202");
	assert_str(s.entries[3].line,
		   "{\"type\":\"compaction\",\"summary\":\"s\",\"id\":\"04040404\","
		   "\"parentId\":\"03030303\"}");
	assert_true(s.entries[3].target.ptr == NULL);
	assert_true(s.entries[4].target.ptr == NULL);
	assert_str(s.entries[5].line,
		   "{\"type\":\"x\",\"id\":\"06060606\",\"parentId\":\"05050505\"}");
	rt_pi_session_deinit(&s);

	/* without randomness the ids are derived: the same every time */
	session_of(v1_text, &s);
	session_of(v1_text, &again);
	for (i = 0; i < s.entry_count; i++) {
		assert_int_equal(s.entries[i].id.size, 8);
		assert_true(rt_str_eq(s.entries[i].line, again.entries[i].line));
	}
	rt_pi_session_deinit(&again);
	rt_pi_session_deinit(&s);
}

static void
test_migrate_out_of_ids(void **state)
{
	rt_env env = {NULL, no_luck, NULL};
	rt_pi_options options = {.env = &env};
	rt_pi_session s;

	(void)state;
	assert_int_equal(rt_pi_session_read(rt_alloc_libc(),
					    RT_STR("{\"type\":\"session\",\"id\":\"s\"}\n{}\n{}\n"),
					    &options, &s, NULL, NULL),
			 RT_OK);
	assert_str(s.entries[0].id, "11111111");
	assert_str(s.entries[1].id, "11111111-1111-4111-9111-111111111111");
	rt_pi_session_deinit(&s);
}

static void
test_migrate_2(void **state)
{
	rt_pi_session s;

	(void)state;
	session_of("{\"type\":\"session\",\"version\":2,\"id\":\"s\"}\n" USER("a", ROOT, "01")
			   MESSAGE("hookMessage", "b", P("a"), "02", "[]"),
		   &s);
	assert_str(s.entries[0].id, "a");
	assert_int_equal(s.entries[1].parent, 0);
	assert_str(s.entries[1].role, "custom");
	assert_true(rt_str_find(s.entries[1].line, RT_STR("\"role\":\"custom\""), 0) != SIZE_MAX);
	rt_pi_session_deinit(&s);
}

/* --- tree --- */

static void
assert_children(const rt_pi_tree *tree, const rt_pi_session *s, int64_t of, const char *wanted)
{
	rt_buf text;
	size_t count, i;
	const size_t *children = rt_pi_tree_children(tree, of, &count);

	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < count; i++) {
		rt_buf_add_str(&text, s->entries[children[i]].id);
		rt_buf_add_byte(&text, ' ');
	}
	assert_str(rt_buf_str(&text), wanted);
	rt_buf_deinit(&text);
}

static void
test_tree(void **state)
{
	rt_pi_session s;
	rt_pi_tree tree;

	(void)state;
	session_of(HEADER USER("r2", ROOT, "09") USER("r1", ROOT, "01") USER("e", P("r1"), "05")
			   USER("d", P("r1"), "03") USER("c", P("r1"), "05")
				   USER("b", P("r1"), "02") USER("z", P("b"), "01"),
		   &s);
	assert_int_equal(rt_pi_tree_init(rt_alloc_libc(), &s, true, &tree), RT_OK);
	assert_children(&tree, &s, -1, "r2 r1 ");
	assert_children(&tree, &s, 1, "b d e c ");
	assert_children(&tree, &s, 5, "z ");
	assert_children(&tree, &s, 6, "");
	rt_pi_tree_deinit(&tree);
	assert_int_equal(rt_pi_tree_init(rt_alloc_libc(), &s, false, &tree), RT_OK);
	assert_children(&tree, &s, 1, "e d c b ");
	rt_pi_tree_deinit(&tree);
	rt_pi_session_deinit(&s);
	/* one without a date, between two that fall; and three that fall */
	session_of(HEADER USER("r", ROOT, "01")
			   USER("c", P("r"), "05") "{\"id\":\"x\",\"parentId\":\"r\"}\n" USER(
				   "b", P("r"), "03") USER("f", P("b"), "05")
				   USER("e", P("b"), "04") USER("d", P("b"), "03"),
		   &s);
	assert_int_equal(rt_pi_tree_init(rt_alloc_libc(), &s, true, &tree), RT_OK);
	assert_children(&tree, &s, 0, "c x b ");
	assert_children(&tree, &s, 3, "d e f ");
	rt_pi_tree_deinit(&tree);
	rt_pi_session_deinit(&s);
	session_of(HEADER, &s);
	assert_int_equal(rt_pi_tree_init(rt_alloc_libc(), &s, true, &tree), RT_OK);
	assert_children(&tree, &s, -1, "");
	rt_pi_tree_deinit(&tree);
	rt_pi_session_deinit(&s);
}

/* Many children, by time: as many as a plain stable sort has to do with, and more. */
static void
test_tree_sorted(void **state)
{
	enum { CHILDREN = 200 };
	rt_pi_session s;
	rt_pi_tree tree;
	rt_buf file;
	const size_t *children;
	size_t count, many, i;

	(void)state;
	for (many = 0; many <= CHILDREN; many += 1 + many / 8) {
		rt_buf_init(&file, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_add_c(&file, HEADER USER("r", ROOT, "00"));
		for (i = 0; i < many; i++)
			rt_buf_add_f(
				&file,
				"{\"id\":\"%zu\",\"parentId\":\"r\",\"timestamp\":\"2026-11-01T"
				"00:00:%02zu.000Z\"}\n",
				i, i * 7919 % 53);
		session_of(file.ptr, &s);
		assert_int_equal(rt_pi_tree_init(rt_alloc_libc(), &s, true, &tree), RT_OK);
		children = rt_pi_tree_children(&tree, 0, &count);
		assert_int_equal(count, many);
		for (i = 1; i < count; i++) {
			const rt_pi_entry *a = &s.entries[children[i - 1]];
			const rt_pi_entry *b = &s.entries[children[i]];

			assert_true(a->ts.us < b->ts.us ||
				    (a->ts.us == b->ts.us && children[i - 1] < children[i]));
		}
		rt_pi_tree_deinit(&tree);
		rt_pi_session_deinit(&s);
		rt_buf_deinit(&file);
	}
}

/* --- large and unlucky --- */

/* A chain as deep as a session may get, and one root with as many children. */
static void
test_deep_and_wide(void **state)
{
	enum { COUNT = 100000 };
	rt_pi_session s;
	rt_pi_tree tree;
	rt_pi_context context;
	rt_buf file;
	int wide, i;
	size_t count;

	(void)state;
	for (wide = 0; wide < 2; wide++) {
		rt_buf_init(&file, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_add_c(&file, HEADER "{\"type\":\"message\",\"id\":\"0\",\"parentId\":null,"
					   "\"message\":{\"role\":\"user\"}}\n");
		for (i = 1; i < COUNT; i++)
			rt_buf_add_f(&file,
				     "{\"type\":\"message\",\"id\":\"%d\",\"parentId\":\"%d\","
				     "\"message\":{\"role\":\"user\"}}\n",
				     i, wide ? 0 : i - 1);
		session_of(file.ptr, &s);
		assert_int_equal(s.entry_count, COUNT);
		assert_int_equal(rt_pi_tree_init(rt_alloc_libc(), &s, true, &tree), RT_OK);
		rt_pi_tree_children(&tree, 0, &count);
		assert_int_equal(count, wide ? COUNT - 1 : 1);
		assert_int_equal(rt_pi_context_init(rt_alloc_libc(), &s, s.leaf, &context), RT_OK);
		assert_int_equal(context.item_count, wide ? 2 : COUNT);
		rt_pi_context_deinit(&context);
		rt_pi_tree_deinit(&tree);
		rt_pi_session_deinit(&s);
		rt_buf_deinit(&file);
	}
}

/* One cycle of all entries. */
static void
test_great_circle(void **state)
{
	enum { COUNT = 50000 };
	rt_pi_session s;
	rt_buf file;
	int i;

	(void)state;
	rt_buf_init(&file, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&file, HEADER);
	for (i = 0; i < COUNT; i++)
		rt_buf_add_f(&file, "{\"type\":\"x\",\"id\":\"%d\",\"parentId\":\"%d\"}\n", i,
			     (i + 1) % COUNT);
	session_of(file.ptr, &s);
	assert_int_equal(s.entries[0].parent, -1);
	assert_int_equal(s.entries[1].parent, 2);
	assert_int_equal(s.entries[COUNT - 1].parent, 0);
	rt_pi_session_deinit(&s);
	rt_buf_deinit(&file);
}

typedef struct stingy {
	long left; /* allocations that still succeed */
} stingy;

static void *
stingy_resize(void *ctx, void *ptr, size_t size)
{
	stingy *s = ctx;

	return s->left-- > 0 ? realloc(ptr, size) : NULL;
}

static void
stingy_release(void *ctx, void *ptr)
{
	(void)ctx;
	free(ptr);
}

/* Fail allocation 1, 2, 3 … until reading passes: no leak, nothing half-made. */
static void
test_torture(void **state)
{
	static const char text[] = HEADER CHAIN_3 COMPACTION("s", P("c"), "04", "b")
		LABEL("l", P("s"), "05", "a", ",\"label\":\"\\u0041\"")
			MESSAGE("user", "d", P("l"), "06",
				"\"\\ud83d\"") "junk\n" EDIT("e", P("d"), "07", "b", "null");
	const char *const texts[] = {text, v1_text};
	size_t t;

	(void)state;
	for (t = 0; t < 2; t++) {
		long allowed;
		rt_status st = RT_NOMEM;

		for (allowed = 0; st != RT_OK; allowed++) {
			stingy purse = {allowed};
			rt_alloc alloc = {stingy_resize, stingy_release, &purse};
			rt_pi_session s;
			rt_pi_context context;
			rt_pi_tree tree;

			assert_true(allowed < 1000);
			st = rt_pi_session_read(&alloc, rt_str_of(texts[t]), NULL, &s, NULL, NULL);
			if (st != RT_OK) {
				assert_int_equal(st, RT_NOMEM);
				continue;
			}
			st = rt_pi_context_init(&alloc, &s, s.leaf, &context);
			if (st == RT_OK) {
				rt_pi_context_deinit(&context);
				st = rt_pi_tree_init(&alloc, &s, true, &tree);
			}
			if (st == RT_OK)
				rt_pi_tree_deinit(&tree);
			rt_pi_session_deinit(&s);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_line_ends),
		cmocka_unit_test(test_not_a_session),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_too_deep),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_odd_trees),
		cmocka_unit_test(test_leaf),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_timestamps),
		cmocka_unit_test(test_migrate_1),
		cmocka_unit_test(test_migrate_out_of_ids),
		cmocka_unit_test(test_migrate_2),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_tree_sorted),
		cmocka_unit_test(test_deep_and_wide),
		cmocka_unit_test(test_great_circle),
		cmocka_unit_test(test_torture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
