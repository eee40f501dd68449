/* SPDX-License-Identifier: MIT
 *
 * OpenAssistant, ShareGPT, Chatbot UI and SillyTavern. */
#include "importers/importer_testing.h"

/* A nested tree, the same as rows, and a root alone; the best reply comes first. */
static void
test_oasst(void **state)
{
	static const char text[] =
		"{\"message_tree_id\":\"a\",\"tree_state\":\"ready\",\"prompt\":{\"message_id\":\"a\","
		"\"role\":\"prompter\",\"text\":\"q\",\"replies\":[{\"message_id\":\"b\",\"role\":\"assistant\","
		"\"text\":\"worse\",\"rank\":1,\"replies\":[]},{\"message_id\":\"c\",\"role\":\"assistant\","
		"\"text\":\"best\",\"rank\":0,\"replies\":[{\"message_id\":\"d\",\"role\":\"prompter\","
		"\"text\":\"more\",\"rank\":null}]},{\"message_id\":\"e\",\"role\":\"assistant\",\"text\":\"none\","
		"\"rank\":null}]}}\n"
		"{\"message_id\":\"y\",\"parent_id\":\"x\",\"message_tree_id\":\"x\",\"role\":\"assistant\","
		"\"text\":\"2\"}\n"
		"{\"message_id\":\"x\",\"parent_id\":null,\"message_tree_id\":\"x\",\"role\":\"prompter\","
		"\"text\":\"1\",\"model_name\":\"m\"}\n"
		"{\"message_id\":\"z\",\"role\":\"prompter\",\"text\":\"3\",\"replies\":[5]}\n{\"x\":1}\n";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_oasst, text, &o, &report);
	assert_int_equal(o.count, 3);
	assert_true(rt_str_is(o.items[0].source, "oasst:a"));
	assert_nodes(&o.items[0], "-1 user q | 0 assistant best | 1 user more | 0 assistant worse | "
				  "0 assistant none");
	assert_int_equal(o.items[0].head, 2);
	assert_field(&o.items[0], 3, "oasst",
		     "{\"message_id\":\"b\",\"role\":\"assistant\",\"rank\":1}");
	assert_disc_field(&o.items[0], "oasst.tree_state", "\"ready\"");
	assert_true(rt_str_is(o.items[1].source, "oasst:x"));
	assert_nodes(&o.items[1], "-1 user 1 | 0 assistant 2");
	assert_int_equal(o.items[1].head, 1);
	assert_nodes(&o.items[2], "-1 user 3");
	assert_int_equal(report.skipped, 2);
	import_done(&o, &report);
}

static void
test_sharegpt(void **state)
{
	static const char text[] =
		"[{\"id\":\"identity_0\",\"system\":\"s\",\"tools\":\"[]\",\"conversations\":["
		"{\"from\":\"human\",\"value\":\"q\"},{\"from\":\"function_call\",\"value\":"
		"\"{\\\"name\\\":\\\"f\\\",\\\"arguments\\\":{\\\"x\\\":1}}\"},"
		"{\"from\":\"observation\",\"value\":\"2\"},null,{\"from\":\"gpt\",\"value\":\"a\"}]},"
		"{\"conversations\":[{\"from\":\"human\",\"value\":\"p\"}],\"chosen\":{\"from\":\"gpt\","
		"\"value\":\"good\"},\"rejected\":{\"from\":\"gpt\",\"value\":\"bad\"}},{\"id\":\"no\"}]";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_sharegpt, text, &o, &report);
	assert_int_equal(o.count, 2);
	assert_int_equal(o.items[0].source.size, 0);
	assert_nodes(&o.items[0], "-1 system s | 0 user q | 1 assistant [{\"type\":\"toolCall\","
				  "\"id\":\"call-2\",\"name\":\"f\",\"arguments\":{\"x\":1}}] | 2 tool 2 | "
				  "3 assistant a");
	assert_field(&o.items[0], 3, "tool_call_id", "\"call-2\"");
	assert_disc_field(&o.items[0], "sharegpt.id", "\"identity_0\"");
	assert_nodes(&o.items[1], "-1 user p | 0 assistant good | 0 assistant bad");
	assert_int_equal(o.items[1].head, 1);
	assert_int_equal(report.skipped, 2);
	import_done(&o, &report);
}

static void
test_chatbotui(void **state)
{
	static const char text[] =
		"{\"version\":4,\"history\":[{\"id\":\"h\",\"name\":\"T\",\"model\":{\"id\":\"m\"},\"messages\":["
		"{\"role\":\"user\",\"type\":\"text\",\"content\":\"q\"},{\"role\":\"assistant\","
		"\"content\":\"a\"}]},{\"name\":\"x\"}],\"folders\":[],\"prompts\":[]}";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_chatbotui, text, &o, &report);
	assert_int_equal(o.count, 1);
	assert_true(rt_str_is(o.items[0].name, "T"));
	assert_true(rt_str_is(o.items[0].source, "chatbotui:h"));
	assert_nodes(&o.items[0], "-1 user q | 0 assistant a");
	assert_field(&o.items[0], 0, "chatbotui", "{\"type\":\"text\"}");
	assert_disc_field(&o.items[0], "chatbotui.model", "{\"id\":\"m\"}");
	assert_int_equal(report.skipped, 1);
	import_done(&o, &report);
}

/* Swipes of a greeting are roots; an edited text wins over its swipe, which is kept; times in the forms
 * of all versions. */
static void
test_sillytavern(void **state)
{
	static const char text[] =
		"{\"user_name\":\"unused\",\"character_name\":\"unused\",\"chat_metadata\":"
		"{\"integrity\":\"i\"}}\n"
		"{\"name\":\"L\",\"is_user\":false,\"send_date\":\"June 19, 2023 2:20pm\",\"mes\":\"two\","
		"\"extra\":{\"model\":\"m\",\"reasoning\":\"hm\"},\"swipes\":[\"one\",\"two\"],\"swipe_id\":1,"
		"\"swipe_info\":[{\"send_date\":\"2023-6-2 @21h 09m 51s 363ms\",\"extra\":{\"model\":\"n\"}}]}\n"
		"{\"name\":\"U\",\"is_user\":true,\"send_date\":1685740191363,\"mes\":\"q\"}\n5\n"
		"{\"name\":\"L\",\"is_user\":false,\"mes\":\"edited\",\"swipes\":[\"a\",{\"message\":\"b\"}],"
		"\"swipe_id\":0}\n"
		"{\"name\":\"S\",\"is_system\":true,\"mes\":\"note\",\"swipes\":[\"x\"],\"swipe_id\":7}\n";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_sillytavern, text, &o, &report);
	assert_int_equal(o.items[0].name.size, 0);
	assert_true(rt_str_is(o.items[0].source, "sillytavern:i"));
	assert_nodes(&o.items[0],
		     "-1 assistant one | -1 assistant [{\"type\":\"thinking\",\"thinking\":\"hm\"},"
		     "{\"type\":\"text\",\"text\":\"two\"}] | 1 user q | 2 assistant edited | "
		     "3 system x | 3 system note | 2 assistant b");
	assert_int_equal(o.items[0].head, 5);
	assert_true(o.items[0].nodes[5].muted);
	assert_int_equal(o.items[0].nodes[0].ts.us, 1685740191363000);
	assert_int_equal(o.items[0].nodes[1].ts.us, 1687184400000000);
	assert_field(&o.items[0], 0, "model", "\"n\"");
	assert_field(&o.items[0], 3, "sillytavern",
		     "{\"name\":\"L\",\"is_user\":false,\"swipes\":[\"a\",{\"message\":\"b\"}],"
		     "\"swipe_id\":0}");
	assert_int_equal(report.skipped, 1);
	import_done(&o, &report);
}

/* The chat of a group, without a header. */
static void
test_sillytavern_group(void **state)
{
	static const char text[] =
		"{\"name\":\"Ann\",\"is_user\":false,\"mes\":\"Hi\",\"original_avatar\":\"ann.png\"}\n"
		"{\"name\":\"Me\",\"is_user\":true,\"mes\":\"Hey\"}\n"
		"{\"name\":\"Bob\",\"is_user\":false,\"mes\":\"Yo\",\"swipes\":[\"Yo\",\"Sup\"],\"swipe_id\":0}";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_sillytavern, text, &o, &report);
	assert_nodes(&o.items[0], "-1 assistant Hi | 0 user Hey | 1 assistant Yo | 1 assistant Sup");
	assert_int_equal(o.items[0].head, 2);
	import_done(&o, &report);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_oasst),
					   cmocka_unit_test(test_sharegpt),
					   cmocka_unit_test(test_chatbotui),
					   cmocka_unit_test(test_sillytavern),
		cmocka_unit_test(test_sillytavern_group)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
