/* SPDX-License-Identifier: MIT
 *
 * The graph through a small format: one object, its messages as [id, parent, text]. */
#include "importers/importer_testing.h"

enum { MANY = 100000 };

static rt_status
rows_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, rt_report *report,
	rt_error *err)
{
	rt_reader r;
	rt_graph g;
	yyjson_val *record;

	rt_reader_init(&r, alloc, in, to, report);
	rt_graph_init(&g, &r, "rows");
	while ((record = rt_graph_record(&g)) != NULL) {
		rt_graph_begin(&g, rt_json_text(record, "title"), rt_json_text(record, "id"));
		for (rt_json_iter m = rt_json_each(rt_json_get(record, "rows")); rt_json_next(&m);) {
			rt_node node = {.id = rt_json_str(yyjson_arr_get(m.value, 0)),
					.parent = -1,
					.role = RT_STR("Human")};

			rt_build_body_open_value(&r.b, yyjson_arr_get(m.value, 2));
			(void)rt_graph_add(&g, &node, rt_json_str(yyjson_arr_get(m.value, 1)));
		}
		rt_graph_fields(&g, record, "rows order title id open");
		rt_graph_open_newest(&g, rt_json_get(record, "at"));
		rt_graph_children(&g, rt_json_get(record, "order"));
		rt_graph_end(&g, rt_graph_find(&g, rt_json_text(record, "open")));
	}
	return rt_reader_end(&r, err);
}
RT_READER_FUNCTIONS(rows, rows_to)

static const rt_format rt_format_rows = {.name = "rows", .read = rows_read, .stream = rows_stream};

static void
read_rows(rt_str text, rt_outlines *out, rt_report *report)
{
	rt_report_init(report, rt_alloc_libc());
	assert_int_equal(rt_format_rows.read(rt_alloc_libc(), text, out, report, NULL), RT_OK);
	assert_int_equal(out->count, 1);
}

/* Long titles are cut between words; the whole one is a field. */
static void
test_titles(void **state)
{
	static const struct {
		const char *title, *name;
		bool is_cut;
	} rows[] = {
		{"Short", "Short", false},
		{"One line\nand another", "One line", true},
		{"Please explain why the release build of the parser fails on the second machine but not "
		 "here", "Please explain why the release build of the parser fails on the second machine", true},
		{"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234",
		 "01234567890123456789012345678901234567890123456789012345678901234567890123456789", true},
		{"一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十一二",
		 "一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		rt_outlines o;
		rt_report report;
		rt_buf text, wanted;
		rt_str field;

		rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_init(&wanted, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_json_add_string(&wanted, rt_str_of(rows[i].title));
		rt_buf_add_f(&text, "{\"title\":%s,\"rows\":[[\"a\",\"\",\"1\"]]}", wanted.ptr);
		read_rows(rt_buf_str(&text), &o, &report);
		assert_true(rt_str_is(o.items[0].name, rows[i].name));
		field = rt_outline_field_of(o.items[0].fields, o.items[0].field_count, "rows.title");
		assert_true(rows[i].is_cut ? rt_str_eq(field, rt_buf_str(&wanted)) : field.size == 0);
		import_done(&o, &report);
		rt_buf_deinit(&text);
		rt_buf_deinit(&wanted);
	}
}

/* Each row: the messages, and what becomes of them. */
static void
test_repairs(void **state)
{
	static const struct {
		const char *text, *nodes;
		int head;
		size_t repaired, skipped;
	} rows[] = {
		/* children before parents, in the order of their places */
		{"{\"rows\":[[\"c\",\"b\",\"3\"],[\"b\",\"a\",\"2\"],[\"a\",\"\",\"1\"]]}",
		 "-1 user 1 | 0 user 2 | 1 user 3", 0, 0, 0},
		/* siblings in a given order, the unnamed one last; the open one */
		{"{\"order\":[\"d\",\"x\",\"b\"],\"open\":\"d\",\"rows\":[[\"a\",\"\",\"1\"],"
		 "[\"c\",\"a\",\"3\"],[\"b\",\"a\",\"2\"],[\"d\",\"a\",\"4\"]]}",
		 "-1 user 1 | 0 user 4 | 0 user 2 | 0 user 3", 1, 0, 0},
		/* an orphan and its child; the open one does not exist */
		{"{\"open\":\"gone\",\"rows\":[[\"a\",\"\",\"1\"],[\"c\",\"gone\",\"2\"],"
		 "[\"d\",\"c\",\"3\"]]}",
		 "-1 user 1 | -1 user 2 | 1 user 3", 2, 1, 0},
		/* its own parent; a cycle of three, cut at the first */
		{"{\"rows\":[[\"a\",\"a\",\"1\"],[\"b\",\"d\",\"2\"],[\"c\",\"b\",\"3\"],"
		 "[\"d\",\"c\",\"4\"]]}",
		 "-1 user 1 | -1 user 2 | 1 user 3 | 2 user 4", 3, 2, 0},
		/* of two with an id, the first; two without one */
		{"{\"rows\":[[\"a\",\"\",\"1\"],[\"a\",\"\",\"2\"],[\"\",\"a\",\"3\"],"
		 "[\"\",\"a\",\"4\"]]}",
		 "-1 user 1 | 0 user 3 | 0 user 4", 2, 0, 1},
		/* the first one has no content: the second counts, with its parent and its child */
		{"{\"rows\":[[\"a\",\"\",\"1\"],[\"b\",\"gone\",7],[\"b\",\"a\",\"2\"],"
		 "[\"b\",\"\",\"4\"],[\"c\",\"b\",\"3\"]]}",
		 "-1 user 1 | 0 user 2 | 1 user 3", 2, 0, 2},
		{"{\"rows\":[[\"a\",\"\",[]],[\"a\",\"\",[{\"type\":\"text\",\"text\":\"1\"}]]]}",
		 "-1 user [{\"type\":\"text\",\"text\":\"1\"}]", 0, 0, 1},
		{"{\"rows\":[[\"a\",\"\",\"\"],[\"a\",\"\",\"\"]]}", "-1 user ", 0, 0, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		rt_outlines o;
		rt_report report;

		read_rows(rt_str_of(rows[i].text), &o, &report);
		assert_nodes(&o.items[0], rows[i].nodes);
		assert_int_equal(o.items[0].has_head, rows[i].head >= 0);
		assert_int_equal(o.items[0].head, rows[i].head);
		assert_int_equal(report.repaired, rows[i].repaired);
		assert_int_equal(report.skipped, rows[i].skipped);
		import_done(&o, &report);
	}
}

static rt_status
count_batch(void *ctx, const rt_outlines *batch, rt_error *err)
{
	size_t *counts = ctx;

	(void)err;
	counts[0] += batch->count;
	for (size_t i = 0; i < batch->count; i++) {
		const rt_outline *o = &batch->items[i];

		counts[1] += o->node_count;
		counts[2] += o->field_count;
		for (size_t k = 0; k < o->node_count; k++)
			counts[3] += o->nodes[k].body.size;
	}
	return RT_OK;
}

/* A pass that only counts finds the same conversations and messages, and reports the same, but makes no
 * bodies. */
static void
test_counted(void **state)
{
	static const char text[] =
		"[{\"title\":\"T\",\"mapping\":{\"a\":{\"id\":\"a\",\"message\":null},"
		"\"b\":{\"id\":\"b\",\"parent\":\"a\",\"message\":{\"author\":{\"role\":\"user\"},"
		"\"content\":{\"content_type\":\"text\",\"parts\":[\"\\ud83d one\"]}}},\"x\":3,"
		"\"c\":{\"id\":\"c\",\"parent\":\"gone\",\"message\":{\"author\":{\"role\":\"tool\"},"
		"\"content\":{\"content_type\":\"code\",\"text\":\"two\"}}}},\"conversation_id\":\"1\"},"
		"{\"title\":\"no mapping\"}]";
	size_t counts[2][4] = {{0}};
	rt_report reports[2];
	rt_str bytes = rt_str_of(text);

	(void)state;
	for (int i = 0; i < 2; i++) {
		rt_input in = rt_input_of(&bytes);

		in.is_counted = i == 1;
		rt_report_init(&reports[i], rt_alloc_libc());
		assert_int_equal(rt_format_chatgpt.stream(rt_alloc_libc(), &in, count_batch, counts[i],
							  &reports[i], NULL), RT_OK);
	}
	assert_int_equal(counts[0][0], 1);
	assert_int_equal(counts[0][1], 2);
	assert_memory_equal(counts[0], counts[1], 2 * sizeof(counts[0][0]));
	assert_true(counts[0][2] > 0 && counts[0][3] > 0);
	assert_int_equal(counts[1][2], 0);
	assert_int_equal(counts[1][3], 0);
	assert_int_equal(reports[0].remark_count, 4);
	assert_int_equal(reports[1].remark_count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(reports[0].remarks[i].text, reports[1].remarks[i].text);
	rt_report_deinit(&reports[0]);
	rt_report_deinit(&reports[1]);
}

/* A chain and a fan of many messages, last first, are neither recursed over nor slow. */
static void
test_large(void **state)
{
	(void)state;
	for (int is_fan = 0; is_fan < 2; is_fan++) {
		rt_outlines o;
		rt_report report;
		rt_buf text;

		rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_add_c(&text, "{\"rows\":[");
		for (int i = MANY; i > 0; i--)
			rt_buf_add_f(&text, "[\"%d\",\"%d\",\"\"],", i, is_fan ? 0 : i - 1);
		rt_buf_add_c(&text, "[\"0\",\"\",\"\"]]}");
		read_rows(rt_buf_str(&text), &o, &report);
		assert_int_equal(o.items[0].node_count, MANY + 1);
		for (int i = 1; i <= MANY; i++)
			assert_int_equal(o.items[0].nodes[i].parent, is_fan ? 0 : i - 1);
		assert_int_equal(report.repaired, 0);
		import_done(&o, &report);
		rt_buf_deinit(&text);
	}
}

/* Records that are too deep are reported; those with repaired text are kept as well. */
static void
test_damage(void **state)
{
	rt_outlines o;
	rt_report report;
	rt_buf text;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&text, "[\n{\"rows\":");
	for (int i = 0; i < RT_JSON_DEPTH_MAX - 4; i++)
		rt_buf_add_byte(&text, '[');
	for (int i = 0; i < RT_JSON_DEPTH_MAX - 4; i++)
		rt_buf_add_byte(&text, ']');
	rt_buf_add_c(&text, "},\n{\"rows\":[[\"a\",\"\",\"\\ud83d\"]]}]");
	read_rows(rt_buf_str(&text), &o, &report);
	assert_nodes(&o.items[0], "-1 user \xEF\xBF\xBD");
	assert_int_equal(report.skipped, 1);
	assert_int_equal(report.remarks[0].line, 2);
	assert_int_equal(report.repaired, 1);
	assert_int_equal(report.remarks[1].line, 3);
	assert_disc_field(&o.items[0], "import_raw",
			  "\"{\\\"rows\\\":[[\\\"a\\\",\\\"\\\",\\\"\\\\ud83d\\\"]]}\"");
	import_done(&o, &report);
	rt_buf_deinit(&text);
}

/* The report has the place where a file is truncated. */
static void
test_cut(void **state)
{
	static const struct {
		const char *text;
		uint64_t line;
		const char *remark;
	} rows[] = {
		{"[\n{\"rows\":[[\"a\",\"\",\"1\"]]},\n{\"rows\":[[\"b\",\"", 3,
		 "the file is truncated at byte 42, within a record: it and those after it are missing"},
		{"{\"rows\":[[\"a\",\"\",\"1\"]]}\n{\"rows\":[[\"b\",\"", 2,
		 "the file is truncated at byte 39, within a record: it was left out"},
		/* damage elsewhere is something else */
		{"{\"rows\":[[\"b\",\"\n{\"rows\":[[\"a\",\"\",\"1\"]]}", 1, "skipped a record: "},
		{"{\"rows\":[[\"a\",\"\",\"1\"]]}\n{\"rows\":[[\"b\",\"\n", 2, "skipped a record: "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		rt_outlines o;
		rt_report report;

		read_rows(rt_str_of(rows[i].text), &o, &report);
		assert_nodes(&o.items[0], "-1 user 1");
		assert_int_equal(report.skipped, 1);
		assert_int_equal(report.remarks[0].line, rows[i].line);
		if (strncmp(report.remarks[0].text, rows[i].remark, strlen(rows[i].remark)) != 0)
			fail_msg("%s", report.remarks[0].text);
		import_done(&o, &report);
	}
}

/* Conversations without entries are left out; the newest of the others is active. */
static void
test_empty(void **state)
{
	static const char text[] = "{\"rows\":[],\"at\":1}\n{\"rows\":[[\"a\",\"\",\"1\"]],\"at\":3}\n"
				   "{\"rows\":[[\"a\",\"\",\"2\"]],\"at\":2}\n{\"rows\":[],\"at\":4}\n";
	rt_outlines o;
	rt_report report;

	(void)state;
	rt_report_init(&report, rt_alloc_libc());
	assert_int_equal(rt_format_rows.read(rt_alloc_libc(), rt_str_of(text), &o, &report, NULL), RT_OK);
	assert_int_equal(o.count, 2);
	assert_nodes(&o.items[0], "-1 user 1");
	assert_nodes(&o.items[1], "-1 user 2");
	assert_int_equal(report.empty, 2);
	assert_int_equal(report.skipped, 0);
	assert_true(o.has_active);
	assert_int_equal(o.active, 0);
	import_done(&o, &report);
}

static void
test_roles(void **state)
{
	(void)state;
	assert_true(rt_str_is(rt_graph_role(RT_STR("Prompter")), "user"));
	assert_true(rt_str_is(rt_graph_role(RT_STR("ASSISTANT")), "assistant"));
	assert_true(rt_str_is(rt_graph_role(RT_STR("gemini")), "assistant"));
	assert_true(rt_str_is(rt_graph_role(RT_STR("user")), "user"));
	assert_true(rt_str_is(rt_graph_role(RT_STR("Critic")), "Critic"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_titles), cmocka_unit_test(test_repairs), cmocka_unit_test(test_large),
		cmocka_unit_test(test_damage), cmocka_unit_test(test_cut), cmocka_unit_test(test_empty), cmocka_unit_test(test_roles),
		cmocka_unit_test(test_counted)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
