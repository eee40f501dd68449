/* SPDX-License-Identifier: MIT */
#include "importers/importer_testing.h"

#define NODE(id, parent, children, message) \
	"\"" id "\":{\"id\":\"" id "\",\"parent\":" parent ",\"children\":[" children "]," \
	"\"message\":" message "}"
#define SAID(role, content) \
	"{\"id\":\"m\",\"author\":{\"role\":\"" role "\"},\"content\":" content "," \
	"\"create_time\":1700000000.5,\"weight\":1.0,\"recipient\":\"all\"," \
	"\"metadata\":{\"model_slug\":\"gpt-x\"}}"
#define TEXT(text) "{\"content_type\":\"text\",\"parts\":[\"" text "\"]}"

/* A tree with a second answer that is the open one; children come before their parents. */
static const char tree[] =
	"[{\"title\":\"Ships\",\"conversation_id\":\"c1\",\"update_time\":1700000001,"
	"\"gizmo_id\":null,\"current_node\":\"b2\",\"mapping\":{"
	NODE("b1", "\"a\"", "", SAID("assistant", TEXT("No."))) ","
	NODE("b2", "\"a\"", "", SAID("assistant", TEXT("Yes."))) ","
	NODE("root", "null", "\"a\"", "null") ","
	NODE("a", "\"root\"", "\"b2\",\"b1\"", SAID("user", TEXT("Do ships float?")))
	"}},{\"title\":\"Broken\"},{\"id\":\"c2\",\"title\":null,\"mapping\":{}}]";

static void
test_tree(void **state)
{
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_chatgpt, tree, &o, &report);
	assert_int_equal(o.count, 1);
	assert_int_equal(report.empty, 1);
	assert_true(rt_str_is(o.items[0].name, "Ships"));
	assert_true(rt_str_is(o.items[0].source, "chatgpt:c1"));
	/* the root is not an entry */
	assert_nodes(&o.items[0], "-1 user Do ships float? | 0 assistant Yes. | 0 assistant No.");
	assert_disc_field(&o.items[0], "chatgpt.records",
			  "[{\"id\":\"root\",\"parent\":null,\"children\":[\"a\"],\"message\":null}]");
	assert_true(o.items[0].has_head);
	assert_int_equal(o.items[0].head, 1);
	assert_true(rt_str_is(o.items[0].nodes[1].id, "b2"));
	assert_int_equal(o.items[0].nodes[1].ts.us, 1700000000500000);
	assert_field(&o.items[0], 1, "model", "\"gpt-x\"");
	assert_field(&o.items[0], 2, "chatgpt",
		     "{\"id\":\"b1\",\"parent\":\"a\",\"children\":[],\"message\":{\"id\":\"m\","
		     "\"author\":{\"role\":\"assistant\"},\"create_time\":1700000000.5,"
		     "\"weight\":1.0,\"recipient\":\"all\",\"metadata\":{\"model_slug\":\"gpt-x\"}}}");
	assert_disc_field(&o.items[0], "chatgpt.gizmo_id", "null");
	assert_disc_field(&o.items[0], "chatgpt.current_node", "\"b2\"");
	assert_int_equal(report.skipped, 1);
	assert_string_equal(report.remarks[0].text,
			    "skipped a conversation without \"mapping\": \"Broken\"");
	assert_true(o.has_active);
	assert_int_equal(o.active, 0);
	import_done(&o, &report);
}

/* One conversation alone, with a call of a tool, its result, thoughts, and hidden messages. */
static void
test_contents(void **state)
{
	static const char text[] =
		"{\"update_time\":1700000001,\"mapping\":{" /* the active one, without a name */
		NODE("s", "null", "",
		     "{\"author\":{\"role\":\"system\"},\"content\":" TEXT("") ",\"weight\":0,"
		     "\"metadata\":{\"is_visually_hidden_from_conversation\":true}}") ","
		NODE("u", "\"s\"", "",
		     SAID("user", "{\"content_type\":\"multimodal_text\",\"parts\":[\"See\","
				  "{\"content_type\":\"image_asset_pointer\","
				  "\"asset_pointer\":\"file-service://f\"}]}")) ","
		NODE("t", "\"u\"", "",
		     SAID("assistant", "{\"content_type\":\"thoughts\",\"thoughts\":["
				       "{\"summary\":\"s\",\"content\":\"Hm.\"}]}")) ","
		NODE("c", "\"t\"", "",
		     "{\"author\":{\"role\":\"assistant\"},\"recipient\":\"python\","
		     "\"content\":{\"content_type\":\"code\",\"language\":\"py\",\"text\":\"1+1\"}}") ","
		NODE("r", "\"c\"", "",
		     SAID("tool", "{\"content_type\":\"execution_output\",\"text\":\"2\"}")) ","
		NODE("x", "\"gone\"", "", SAID("user", "{\"content_type\":\"new\",\"parts\":[\"a\","
						      "\"b\"],\"k\":1}"))
		"}}";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_chatgpt, text, &o, &report);
	assert_int_equal(o.count, 1);
	assert_nodes(&o.items[0],
		     "-1 system  | "
		     "0 user [{\"type\":\"text\",\"text\":\"See\"},{\"type\":\"image\","
		     "\"content_type\":\"image_asset_pointer\",\"asset_pointer\":\"file-service://f\"}] | "
		     "1 assistant [{\"type\":\"thinking\",\"thinking\":\"Hm.\"}] | "
		     "2 assistant [{\"type\":\"toolCall\",\"id\":\"c\",\"name\":\"python\","
		     "\"arguments\":{\"input\":\"1+1\"}}] | "
		     "3 tool 2 | "
		     "-1 user [{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]");
	assert_true(o.items[0].nodes[0].muted);
	assert_field(&o.items[0], 0, "display", "false");
	assert_field(&o.items[0], 1, "display", "none");
	assert_field(&o.items[0], 4, "tool_call_id", "\"c\"");
	assert_int_equal(o.items[0].head, 5);
	assert_int_equal(report.repaired, 1); /* the missing parent */
	import_done(&o, &report);
}

/* The document of the canvas is a text after the call. */
static void
test_canvas(void **state)
{
#define CANVAS(id, parent, arguments) \
	NODE(id, parent, "", "{\"author\":{\"role\":\"assistant\"},\"recipient\":\"canmore.create_textdoc\"," \
			     "\"content\":{\"content_type\":\"code\",\"text\":\"" arguments "\"}}")
	static const char text[] =
		"{\"update_time\":1700000001,\"mapping\":{"
		CANVAS("a", "null", "{\\\"name\\\":\\\"add\\\",\\\"type\\\":\\\"code/python\\\",\\\"content\\\":\\\"1+1\\\"}") ","
		CANVAS("b", "\"a\"", "not JSON")
		"}}";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_chatgpt, text, &o, &report);
	assert_nodes(&o.items[0],
		     "-1 assistant [{\"type\":\"toolCall\",\"id\":\"a\",\"name\":\"canmore.create_textdoc\","
		     "\"arguments\":{\"name\":\"add\",\"type\":\"code/python\",\"content\":\"1+1\"}},"
		     "{\"type\":\"text\",\"text\":\"**add**\\n\\n```python\\n1+1\\n```\"}] | "
		     "0 assistant [{\"type\":\"toolCall\",\"id\":\"b\",\"name\":\"canmore.create_textdoc\","
		     "\"arguments\":{\"input\":\"not JSON\"}}]");
	import_done(&o, &report);
#undef CANVAS
}

static void
test_refused(void **state)
{
	rt_outlines o;
	rt_error err;

	(void)state;
	assert_int_equal(rt_format_chatgpt.read(rt_alloc_libc(), RT_STR("[{\"title\":\"x\"}]"), &o,
						NULL, &err),
			 RT_USAGE);
	assert_string_equal(err.text, "the file contains no ChatGPT conversation");
	/* other programs' mappings */
	assert_null(rt_format_sniff(RT_STR("{\"mapping\":{\"a\":{\"to\":\"b\"}}}")));
	assert_null(rt_format_sniff(RT_STR("{\"mapping\":5,\"title\":\"x\"}")));
	assert_ptr_equal(rt_format_sniff(RT_STR("[{\"title\":\"no mapping\"},{\"title\":\"cut\","
						"\"mapping\":{\"a\":{\"id\":\"a\",\"message\":nu")),
			 &rt_format_chatgpt);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_tree),
					   cmocka_unit_test(test_contents),
		cmocka_unit_test(test_canvas),
					   cmocka_unit_test(test_refused)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
