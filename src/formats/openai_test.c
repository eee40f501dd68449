/* SPDX-License-Identifier: MIT */
#include "formats/formats_random.h"

#include "formats/formats.h"

/* Files of other programs, with facts about them, are in a folder beside the repository, if they
 * exist at all; otherwise the test that reads them is skipped. */
static const char fixtures[] = "../shared/fixtures";

static void
read_ok(const char *text, rt_outlines *out, rt_report *report)
{
	rt_error err = {.text = ""};

	if (rt_format_openai.read(rt_alloc_libc(), rt_str_of(text), out, report, &err) != RT_OK)
		fail_msg("%s", err.text);
}

static void
assert_written(const rt_outlines *in, const rt_export_options *options, const char *wanted)
{
	rt_buf out;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_format_openai.write(rt_alloc_libc(), in, options, &out, NULL), RT_OK);
	assert_string_equal(out.ptr, wanted);
	rt_buf_deinit(&out);
}

/* text is written in the expected form, and in the same form ever after */
static void
assert_exported(const char *text, const char *wanted)
{
	rt_outlines o;
	rt_buf out;

	read_ok(text, &o, NULL);
	check_round_trip(&rt_format_openai, &o, NULL, &out);
	assert_string_equal(out.ptr, wanted);
	rt_buf_deinit(&out);
	rt_outlines_deinit(&o);
}

static void
test_array(void **state)
{
	static const char text[] =
		"[\n{\"role\":\"developer\",\"content\":\"Be \\u0000brief\\r\\n\"},\n"
		"{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"u\"}},"
		"{\"type\":\"text\",\"text\":\"what?\"}],\"name\":\"bob\"},\n"
		"{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\","
		"\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\": 1.10}\"}}],\"refusal\":null},\n"
		"{\"role\":\"tool\",\"content\":\"42\",\"tool_call_id\":\"c1\"},\n"
		"{\"role\":\"assistant\",\"content\":\"42\",\"name\":\"al\",\"audio\":{\"id\":\"a\"}}\n]\n";
	rt_outlines o;
	const rt_outline *d;

	(void)state;
	assert_exported(text, text);
	read_ok(text, &o, NULL);
	d = &o.items[0];
	assert_int_equal(o.count, 1);
	assert_int_equal(d->node_count, 5);
	assert_true(rt_str_is(d->nodes[3].role, "tool"));
	assert_int_equal(d->nodes[0].body.size, 11);
	assert_int_equal(d->nodes[4].parent, 3);
	assert_int_equal(d->head, 4);
	assert_int_equal(rt_format_openai.sniff(rt_str_of(text)), 85);
	rt_outlines_deinit(&o);
}

/* A timestamp, which other programs add, is the time of the entry, and stays a field. */
static void
test_times(void **state)
{
	static const char text[] =
		"{\"role\":\"user\",\"content\":\"a\",\"timestamp\":\"2026-01-02T03:04:05Z\"}\n"
		"{\"role\":\"user\",\"content\":\"b\",\"timestamp\":1767323046}\n"
		"{\"role\":\"user\",\"content\":\"c\",\"timestamp\":\"noon\"}\n"
		"{\"role\":\"user\",\"content\":\"d\"}\n";
	static const rt_export_options lossless = {.lossless = true};
	rt_outlines o;
	const rt_node *nodes;
	rt_buf out;

	(void)state;
	read_ok(text, &o, NULL);
	assert_int_equal(o.items[0].node_count, 4);
	nodes = o.items[0].nodes;
	assert_int_equal(nodes[0].ts.us, 1767323045000000);
	assert_int_equal(nodes[1].ts.us, 1767323046000000);
	assert_true(nodes[0].has_ts && nodes[1].has_ts && !nodes[2].has_ts && !nodes[3].has_ts);
	check_round_trip(&rt_format_openai, &o, &lossless, &out);
	assert_non_null(strstr(out.ptr, "\"timestamp\":\"noon\""));
	assert_non_null(strstr(out.ptr, "\"timestamp\":1767323046"));
	rt_buf_deinit(&out);
	rt_outlines_deinit(&o);
}

/* Unusual parts of a message are restored. */
static void
test_odd_messages(void **state)
{
	static const char text[] =
		"[\n{\"role\":\"user\",\"content\":null},\n"
		"{\"role\":\"assistant\",\"content\":\"\",\"function_call\":{}},\n"
		"{\"role\":\"user\",\"content\":{\"a\":1}},\n"
		"{\"role\":\"user\",\"content\":\"x\"}\n]\n";

	(void)state;
	assert_exported(text, text);
}

/* The API refuses members that it does not know; the lossless form has them. */
static void
test_unknown_members(void **state)
{
	static const char text[] =
		"{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"q\",\"cache\":1},"
		"{\"type\":\"image_url\",\"image_url\":{\"url\":\"u\",\"detail\":\"low\",\"w\":3}},"
		"{\"type\":\"odd\",\"text\":\"o\"},{\"type\":\"odd\"}],\"id\":\"m1\",\"usage\":{},\"refusal\":null},"
		"{\"role\":\"assistant\",\"content\":null,\"service\":\"mock\",\"reasoning_content\":\"r\",\"weight\":0,"
		"\"audio\":{\"id\":\"a\",\"data\":\"AA\"},\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"type\":\"function\","
		"\"function\":{\"name\":\"f\",\"arguments\":{\"x\":1.10}}}]},"
		"{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"content\":"
		"[{\"type\":\"text\",\"text\":\"1\"},{\"type\":\"text\",\"text\":\"2\"}]},{\"type\":\"text\",\"text\":\"so\"}]},"
		"{\"role\":\"tool\",\"content\":\"of none\",\"name\":\"f\"}],"
		"\"model\":\"m\",\"custom_id\":\"r1\",\"seed\":7}\n";
	static const char wanted[] =
		"{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"q\"},"
		"{\"type\":\"image_url\",\"image_url\":{\"url\":\"u\",\"detail\":\"low\"}},"
		"{\"type\":\"text\",\"text\":\"o\"}]},"
		"{\"role\":\"assistant\",\"content\":null,\"audio\":{\"id\":\"a\"},\"tool_calls\":[{\"id\":\"c\","
		"\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":1.10}\"}}]},"
		"{\"role\":\"tool\",\"content\":\"1\\n2\",\"tool_call_id\":\"c\"},"
		"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"so\"}]},"
		"{\"role\":\"user\",\"content\":\"tool: of none\",\"name\":\"f\"}],"
		"\"model\":\"m\",\"seed\":7}\n";
	static const rt_export_options lossless = {.lossless = true};
	static const char training[] =
		"{\"messages\":[{\"role\":\"assistant\",\"content\":\"a\",\"weight\":0}]}\n{\"messages\":[]}\n";
	rt_outlines o;
	rt_buf out;

	(void)state;
	assert_exported(text, wanted);
	assert_exported(training, training);
	read_ok(text, &o, NULL);
	check_round_trip(&rt_format_openai, &o, &lossless, &out);
	assert_non_null(strstr(out.ptr, "\"service\":\"mock\""));
	assert_non_null(strstr(out.ptr, "\"reasoning_content\":\"r\""));
	assert_non_null(strstr(out.ptr, "\"custom_id\":\"r1\""));
	rt_buf_deinit(&out);
	rt_outlines_deinit(&o);
}

/* An entry with a call and its result: the API takes the result after the call. */
static void
test_call_with_result(void **state)
{
	(void)state;
	assert_exported(
		"[{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"\"},"
		"{\"type\":\"toolCall\",\"id\":\"c\",\"name\":\"ls\",\"arguments\":{}},"
		"{\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"content\":\"none\"}]}]",
		"[\n{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"type\":"
		"\"function\",\"function\":{\"name\":\"ls\",\"arguments\":\"{}\"}}]},\n"
		"{\"role\":\"tool\",\"content\":\"none\",\"tool_call_id\":\"c\"}\n]\n");
}

/* Kinds that no model is sent are not written, whatever their role. */
static void
test_kinds(void **state)
{
	rt_outlines o;

	(void)state;
	read_ok("[{\"role\":\"user\",\"content\":\"a\"},"
		"{\"role\":\"user\",\"content\":\"\",\"retake\":{\"kind\":\"custom\"}},"
		"{\"role\":\"user\",\"content\":\"b\",\"retake\":{\"kind\":\"custom_message\"}},"
		"{\"role\":\"user\",\"content\":\"x\",\"retake\":{\"kind\":\"whatever\"}}]",
		&o, NULL);
	assert_written(&o, NULL,
		       "[\n{\"role\":\"user\",\"content\":\"a\"},\n"
		       "{\"role\":\"user\",\"content\":\"b\"},\n"
		       "{\"role\":\"user\",\"content\":\"x\"}\n]\n");
	rt_outlines_deinit(&o);
}

static void
test_roles(void **state)
{
	rt_outlines o;

	(void)state;
	read_ok("[{\"role\":\"User\",\"content\":\"a\"},{\"role\":\"AI\",\"content\":\"b\"},"
		"{\"role\":\"Vendor API\",\"content\":\"c\"},{\"role\":\"Critic\",\"content\":[]},"
		"{\"role\":\"user\",\"content\":\"d\",\"retake\":{\"muted\":true,\"role\":\"System\"}}]",
		&o, NULL);
	assert_true(rt_str_is(o.items[0].nodes[2].role, "Vendor API"));
	assert_true(o.items[0].nodes[4].muted);
	assert_written(&o, NULL,
		       "[\n{\"role\":\"user\",\"content\":\"a\"},\n"
		       "{\"role\":\"assistant\",\"content\":\"b\"},\n"
		       "{\"role\":\"user\",\"content\":\"Vendor API: c\"},\n"
		       "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Critic: \"}]}\n]\n");
	rt_outlines_deinit(&o);
}

/* Unknown kinds of blocks are written in OpenAI's form if there is one, and Retake's own not at
 * all; the lossless form keeps them. */
static void
test_blocks_of_others(void **state)
{
	static const char wanted[] =
		"[\n{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"look\"},"
		"{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,AA==\"}},"
		"{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/gif;base64,BB==\"}},"
		"{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://x/a.png\"}},"
		"{\"type\":\"input_audio\",\"input_audio\":{}}]},\n"
		"{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\","
		"\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}}]},\n"
		"{\"role\":\"assistant\",\"content\":\"\"},\n"
		"{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}\n]\n";
	static const rt_export_options lossless = {.lossless = true};
	rt_outlines o, again;
	rt_buf out;

	(void)state;
	read_ok("[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"look\"},"
		"{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"AA==\"},"
		"{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/gif\",\"data\":\"BB==\"}},"
		"{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"https://x/a.png\"}},"
		"{\"type\":\"input_audio\",\"input_audio\":{}}]},"
		"{\"role\":\"assistant\",\"content\":[{\"type\":\"toolCall\",\"id\":\"c1\",\"name\":\"f\",\"arguments\":{\"a\":1}}]},"
		"{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\"}]},"
		"{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\"},{\"type\":\"text\",\"text\":\"done\"}],"
		"\"retake\":{\"role\":\"AI\",\"fields\":{\"provider\":\"p\",\"model\":\"m\",\"stop_reason\":\"stop\",\"usage\":{}}}}]",
		&o, NULL);
	check_round_trip(&rt_format_openai, &o, NULL, &out);
	assert_string_equal(out.ptr, wanted);
	rt_buf_deinit(&out);
	check_round_trip(&rt_format_openai, &o, &lossless, &out);
	assert_non_null(strstr(out.ptr, "\"mimeType\":\"image/png\""));
	assert_non_null(strstr(out.ptr, "\"stop_reason\":\"stop\""));
	read_ok(out.ptr, &again, NULL);
	assert_true(rt_str_eq(o.items[0].nodes[0].body, again.items[0].nodes[0].body));
	assert_true(rt_str_eq(o.items[0].nodes[3].body, again.items[0].nodes[3].body));
	rt_outlines_deinit(&again);
	rt_buf_deinit(&out);
	rt_outlines_deinit(&o);
}

static void
test_request(void **state)
{
	static const char text[] =
		"{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"model\":\"m-1\","
		"\"tools\":[{\"b\":1,\"a\":2.50}],\"max_tokens\":5,\"temperature\":0.10}\n";
	rt_outlines o;
	const rt_outline *d;

	(void)state;
	assert_exported(text, text);
	read_ok(text, &o, NULL);
	d = &o.items[0];
	assert_true(rt_str_is(rt_outline_field_of(d->fields, d->field_count, "setting.temperature"),
			      "0.10"));
	assert_true(rt_str_is(rt_outline_field_of(d->fields, d->field_count, "openai.model"), "\"m-1\""));
	rt_outlines_deinit(&o);
}

static void
test_lines(void **state)
{
	rt_report report;
	rt_outlines o;

	(void)state;
	assert_exported("{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\r\n\r\n"
			"{\"messages\":[]}\n",
			"{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\n{\"messages\":[]}\n");
	/* a batch file */
	assert_exported("{\"custom_id\":\"r1\",\"method\":\"POST\",\"body\":{\"model\":\"m\",\"messages\":"
			"[{\"role\":\"user\",\"content\":\"a\"}]}}\n{\"messages\":[]}",
			"{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],"
			"\"model\":\"m\"}\n{\"messages\":[]}\n");
	rt_report_init(&report, rt_alloc_libc());
	read_ok("{\"role\":\"user\",\"content\":\"a\"}\n"
		"{\"role\":\"assistant\",\"content\":\"b\"}\n"
		"nonsense\n"
		"{\"other\":1}\n"
		"{\"messages\":[{\"role\":\"user\",\"content\":\"\\ud83d\"},{\"role\":oops},7]}\n"
		"{\"messages\":[{\"role\":\"user\",\"content\":\"cut",
		&o, &report);
	assert_int_equal(o.count, 2);
	assert_int_equal(o.items[0].node_count, 2);
	assert_int_equal(o.items[1].node_count, 1);
	assert_int_equal(report.skipped, 5);
	assert_int_equal(report.repaired, 1);
	assert_int_equal(report.remarks[0].line, 3);
	assert_int_equal(report.remarks[5].line, 6);
	rt_outlines_deinit(&o);
	rt_report_deinit(&report);
}

/* Two answers to choose from become two leaves. */
static void
test_leaves(void **state)
{
	rt_outlines o;
	const rt_outline *d;

	(void)state;
	read_ok("{\"input\":{\"messages\":[{\"role\":\"user\",\"content\":\"q\"}],\"tools\":[]},"
		"\"preferred_output\":[{\"role\":\"assistant\",\"content\":\"good\"}],"
		"\"non_preferred_output\":[{\"role\":\"assistant\",\"content\":\"bad\"}]}",
		&o, NULL);
	d = &o.items[0];
	assert_int_equal(d->node_count, 3);
	assert_int_equal(d->nodes[2].parent, 0);
	assert_int_equal(d->head, 1);
	assert_written(&o, NULL,
		       "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},"
		       "{\"role\":\"assistant\",\"content\":\"good\"}],\"tools\":[]}\n");
	rt_outlines_deinit(&o);
	read_ok("{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"1\"}},"
		"{\"index\":1,\"message\":{\"role\":\"assistant\",\"content\":\"2\"}}],\"model\":\"m\"}",
		&o, NULL);
	assert_int_equal(o.items[0].node_count, 2);
	assert_int_equal(o.items[0].nodes[1].parent, -1);
	assert_int_equal(o.items[0].head, 0);
	rt_outlines_deinit(&o);
}

static void
test_pi(void **state)
{
	rt_build b;
	rt_node node = {.role = RT_STR("assistant"), .parent = -1, .body_format = RT_BODY_PI};
	rt_outlines o;

	(void)state;
	rt_build_init(&b, rt_alloc_libc(), NULL);
	(void)rt_build_discussion(&b);
	rt_build_body_verbatim(&b,
			       RT_STR("{\"type\":\"message\",\"message\":{\"role\":\"assistant\",\"content\":["
				      "{\"type\":\"thinking\",\"thinking\":\"hm\"},{\"type\":\"text\",\"text\":\"Look\"},"
				      "{\"type\":\"toolCall\",\"id\":\"c\",\"name\":\"ls\",\"arguments\":{\"d\":\".\"}}]}}"));
	(void)rt_build_node(&b, &node);
	node.role = RT_STR("toolResult");
	node.parent = 0;
	rt_build_body_verbatim(&b, RT_STR("{\"type\":\"message\",\"message\":{\"role\":\"toolResult\","
					  "\"toolCallId\":\"c\",\"content\":[{\"type\":\"text\",\"text\":\"a.c\"}]}}"));
	(void)rt_build_node(&b, &node);
	node.role = RT_STR("");
	node.kind = RT_STR("model_change");
	rt_build_body_verbatim(&b, RT_STR("{\"type\":\"model_change\"}"));
	(void)rt_build_node(&b, &node);
	assert_int_equal(rt_build_finish(&b, &o, NULL), RT_OK);
	rt_build_deinit(&b);
	o.items[0].nodes[2].parent = 1;
	assert_written(&o, NULL,
		       "[\n{\"role\":\"assistant\",\"content\":\"Look\",\"tool_calls\":[{\"id\":\"c\",\"type\":"
		       "\"function\",\"function\":{\"name\":\"ls\",\"arguments\":\"{\\\"d\\\":\\\".\\\"}\"}}]},\n"
		       "{\"role\":\"tool\",\"content\":\"a.c\",\"tool_call_id\":\"c\"}\n]\n");
	rt_outlines_deinit(&o);
}

static void
test_refused(void **state)
{
	static const char *const texts[] = {"", "x", "{}", "{\"a\":[]}", "[1,2]", "[{\"a\":1}]", "{\"messages\":[",
					    "5\n{\"messages\":[]}"};
	rt_outlines o;
	rt_error err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		memset(&err, 0, sizeof(err));
		assert_int_equal(
			rt_format_openai.read(rt_alloc_libc(), rt_str_of(texts[i]), &o, NULL, &err),
			RT_USAGE);
		assert_true(err.has_at);
	}
}

/* The lossless form restores everything: compared through the canonical form. */
static void
test_random(void **state)
{
	static const rt_export_options all = {.whole = true, .lossless = true};
	static const rt_export_options one = {.lossless = true};
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 200; seed++) {
		rt_outlines o, again;
		rt_buf text, before, after;

		random_project(rt_alloc_libc(), seed, 1 + seed % 3, 12, &o);
		check_round_trip(&rt_format_openai, &o, NULL, &text);
		rt_buf_deinit(&text);
		check_round_trip(&rt_format_openai, &o, &one, &text);
		rt_buf_deinit(&text);
		check_round_trip(&rt_format_openai, &o, &all, &text);
		assert_int_equal(
			rt_format_openai.read(rt_alloc_libc(), rt_buf_str(&text), &again, NULL, NULL),
			RT_OK);
		check_round_trip(&rt_format_canonical, &o, NULL, &before);
		check_round_trip(&rt_format_canonical, &again, NULL, &after);
		assert_string_equal(before.ptr, after.ptr);
		rt_buf_deinit(&before);
		rt_buf_deinit(&after);
		rt_buf_deinit(&text);
		rt_outlines_deinit(&again);
		rt_outlines_deinit(&o);
	}
}

/* Fixtures: the counts on which other readers of these files agree. */

static char *
slurp(const char *folder, const char *name, size_t *out_size)
{
	char path[512];
	FILE *file;
	char *bytes;
	long size;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "rb");
	if (file == NULL)
		return NULL;
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	size = ftell(file);
	rewind(file);
	bytes = malloc((size_t)size + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, (size_t)size, file), (size_t)size);
	fclose(file);
	*out_size = (size_t)size;
	return bytes;
}

static uint64_t
number(yyjson_val *object, const char *key)
{
	uint64_t n = 0;

	(void)rt_json_u64(rt_json_get(object, key), &n);
	return n;
}

/* The text of a node in the form of the facts: of blocks text, or value (LLaMA-Factory). */
static void
add_fact_text(rt_buf *buf, const rt_node *node)
{
	rt_buf scratch;
	rt_body body;
	yyjson_val *block;
	size_t i, max;

	rt_buf_init(&scratch, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_node_body(rt_alloc_libc(), node, &scratch, &body, NULL), RT_OK);
	if (body.content_json == NULL)
		rt_buf_add_str(buf, rt_str_trim(body.content));
	yyjson_arr_foreach(body.content_json, i, max, block)
	{
		yyjson_val *text = rt_json_get(block, "text");

		rt_buf_add_str(buf, rt_json_str(text ? text : rt_json_get(block, "value")));
	}
	rt_body_deinit(&body);
	rt_buf_deinit(&scratch);
}

static void
check_conversation(const rt_outline *d, yyjson_val *facts)
{
	yyjson_val *roles = rt_json_get(facts, "roles"), *key, *value;
	rt_str last = rt_json_str(rt_json_get(facts, "last_text80"));
	size_t i, max, depth, longest = 0, leaves = 0;
	rt_buf text;

	assert_int_equal(d->node_count, number(facts, "messages"));
	rt_json_foreach(roles, i, max, key, value)
	{
		size_t n, count = 0;
		uint64_t wanted;

		for (n = 0; n < d->node_count; n++)
			count += rt_str_eq(d->nodes[n].role, rt_json_str(key));
		assert_true(rt_json_u64(value, &wanted));
		assert_int_equal(count, wanted);
	}
	for (i = 0; i < d->node_count; i++) {
		int64_t at = (int64_t)i;
		size_t n;

		for (depth = 0; at >= 0; at = d->nodes[at].parent)
			depth++;
		longest = depth > longest ? depth : longest;
		for (n = 0; n < d->node_count && d->nodes[n].parent != (int64_t)i; n++)
			;
		leaves += n == d->node_count;
	}
	assert_int_equal(longest, number(facts, "longest_path"));
	assert_int_equal(leaves, number(facts, "leaves"));
	if (d->node_count == 0)
		return;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	add_fact_text(&text, &d->nodes[d->head]);
	assert_true(rt_str_starts(rt_buf_str(&text), rt_str_trim(last)));
	rt_buf_deinit(&text);
}

static void
test_fixtures(void **state)
{
	const char *folder = fixtures;
	char *facts_text, *text;
	size_t size, i, max, n, conversations_seen = 0;
	rt_json_doc *facts;
	yyjson_val *key, *value;

	(void)state;
	facts_text = slurp(folder, "expected.json", &size);
	if (facts_text == NULL)
		skip();
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_at(facts_text, size), &facts, NULL), RT_OK);
	rt_json_foreach(rt_json_get(rt_json_root(facts), "files"), i, max, key, value)
	{
		yyjson_val *list = rt_json_get(value, "conversations");
		rt_outlines o;
		rt_report report;
		rt_buf out;

		if (strncmp(yyjson_get_str(key), "openai_messages/", 16) != 0)
			continue;
		text = slurp(folder, yyjson_get_str(key), &size);
		assert_non_null(text);
		assert_int_equal(rt_format_openai.sniff(rt_str_at(text, size < 65536 ? size : 65536)), 85);
		rt_report_init(&report, rt_alloc_libc());
		assert_int_equal(rt_format_openai.read(rt_alloc_libc(), rt_str_at(text, size), &o, &report,
						       NULL),
				 RT_OK);
		assert_int_equal(report.skipped + report.repaired, 0);
		assert_int_equal(o.count, yyjson_arr_size(list));
		for (n = 0; n < o.count; n++)
			check_conversation(&o.items[n], yyjson_arr_get(list, n));
		conversations_seen += n;
		check_round_trip(&rt_format_openai, &o, NULL, &out);
		rt_buf_deinit(&out);
		rt_outlines_deinit(&o);
		rt_report_deinit(&report);
		free(text);
	}
	assert_true(conversations_seen > 0);
	rt_json_free(facts);
	free(facts_text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_array),	 cmocka_unit_test(test_times),
		cmocka_unit_test(test_odd_messages),
		cmocka_unit_test(test_roles),	 cmocka_unit_test(test_request),
		cmocka_unit_test(test_blocks_of_others),
		cmocka_unit_test(test_unknown_members), cmocka_unit_test(test_call_with_result), cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_lines),	 cmocka_unit_test(test_leaves),
		cmocka_unit_test(test_pi),	 cmocka_unit_test(test_refused),
		cmocka_unit_test(test_random),	 cmocka_unit_test(test_fixtures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
