/* SPDX-License-Identifier: MIT
 *
 * Contexts of pi sessions: the request when the conversation is at an entry. */
#include "formats/pi_context_testing.h"
#include "formats/pi_testing.h"

/* The context at an entry: "role:content" of every message, then level and model. */
static void
assert_context(const char *file, const char *at, const char *wanted)
{
	rt_pi_session s;
	rt_pi_context context = {.item_count = 0};
	rt_buf messages, text;
	rt_json_doc *doc = NULL;
	yyjson_val *message;
	size_t i, max;

	session_of(file, &s);
	assert_int_equal(rt_pi_context_init(rt_alloc_libc(), &s,
					    at == NULL ? -1 : rt_pi_session_find(&s, rt_str_of(at)),
					    &context),
			 RT_OK);
	rt_buf_init(&messages, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_byte(&messages, '[');
	for (i = 0; i < context.item_count; i++)
		assert_int_equal(
			rt_pi_context_add(&messages, rt_alloc_libc(), &s, &context.items[i], NULL),
			RT_OK);
	rt_buf_add_byte(&messages, ']');
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&messages), &doc, NULL), RT_OK);
	yyjson_arr_foreach(rt_json_root(doc), i, max, message)
	{
		yyjson_val *said = rt_json_get(message, "content");

		if (said == NULL)
			said = rt_json_get(message, "summary");
		rt_buf_add_str(&text, rt_json_str(rt_json_get(message, "role")));
		rt_buf_add_byte(&text, ':');
		if (said != NULL)
			rt_json_add_value(&text, said);
		rt_buf_add_byte(&text, ' ');
	}
	rt_buf_add_str(&text, context.thinking_level);
	rt_buf_add_byte(&text, ' ');
	if (context.has_model) {
		rt_buf_add_str(&text, context.provider);
		rt_buf_add_byte(&text, '/');
		rt_buf_add_str(&text, context.model);
	}
	assert_string_equal(text.ptr, wanted);
	rt_json_free(doc);
	rt_buf_deinit(&text);
	rt_buf_deinit(&messages);
	rt_pi_context_deinit(&context);
	rt_pi_session_deinit(&s);
}

static void
test_context(void **state)
{
	(void)state;
	assert_context(HEADER, NULL, "off ");
	assert_context(HEADER USER("a", ROOT, "01"), NULL, "off ");
	assert_context(HEADER USER("a", ROOT, "01") BOT("b", P("a"), "02"), "b",
		       "user:\"text a\" assistant:[{\"type\":\"text\",\"text\":\"text b\"}] "
		       "off prov-b/mod-b");
	/* the other branch is not in it; entries without text are not sent */
	assert_context(HEADER USER("a", ROOT, "01") USER("x", P("a"), "02")
			       ENTRY("custom", "c", P("a"), "03", ",\"customType\":\"t\"")
				       ENTRY("usage", "u", P("c"), "04", "")
					       LABEL("l", P("u"), "05", "a", ",\"label\":\"x\"")
						       ENTRY("session_info", "i", P("l"), "06", "")
							       USER("b", P("i"), "07"),
		       "b", "user:\"text a\" user:\"text b\" off ");
	assert_context(HEADER ENTRY("thinking_level_change", "t", ROOT, "01",
				    ",\"thinkingLevel\":\"high\"") BOT("b", P("t"), "02")
			       ENTRY("model_change", "m", P("b"), "03",
				     ",\"provider\":\"pp\",\"modelId\":\"mm\""),
		       "m", "assistant:[{\"type\":\"text\",\"text\":\"text b\"}] high pp/mm");
	assert_context(HEADER ENTRY("custom_message", "c", ROOT, "01",
				    ",\"customType\":\"t\",\"content\":\"said\",\"display\":false")
			       ENTRY("branch_summary", "s", P("c"), "02",
				     ",\"fromId\":\"x\",\"summary\":\"was there\"")
				       ENTRY("branch_summary", "e", P("s"), "03",
					     ",\"fromId\":\"x\",\"summary\":\"\""),
		       "e", "custom:\"said\" branchSummary:\"was there\" off ");
	assert_context(HEADER MESSAGE("user", "a", ROOT, "01", "null")
			       MESSAGE("system", "b", P("a"), "02", "null")
				       MESSAGE("toolResult", "c", P("b"), "03", "null")
					       MESSAGE("novel", "d", P("c"), "04", "null"),
		       "d", "user:[] system:\"\" toolResult:[] novel:null off ");
}

static void
test_context_compaction(void **state)
{
	(void)state;
	/* keep from b */
	assert_context(HEADER CHAIN_3 COMPACTION("s", P("c"), "04", "b") USER("d", P("s"), "05"),
		       "d",
		       "compactionSummary:\"sum s\" user:\"text b\" user:\"text c\" "
		       "user:\"text d\" off ");
	/* its own id, an unknown one, one that comes later, one elsewhere: nothing is kept */
	assert_context(HEADER CHAIN_3 COMPACTION("s", P("c"), "04", "s") USER("d", P("s"), "05"),
		       "d", "compactionSummary:\"sum s\" user:\"text d\" off ");
	assert_context(HEADER CHAIN_3 COMPACTION("s", P("c"), "04", "no") USER("d", P("s"), "05"),
		       "d", "compactionSummary:\"sum s\" user:\"text d\" off ");
	assert_context(HEADER CHAIN_3 COMPACTION("s", P("c"), "04", "d") USER("d", P("s"), "05"),
		       "d", "compactionSummary:\"sum s\" user:\"text d\" off ");
	assert_context(HEADER CHAIN_3 COMPACTION("s", P("b"), "04", "c") USER("d", P("s"), "05"),
		       "d", "compactionSummary:\"sum s\" user:\"text d\" off ");
	/* the second one keeps a range that contains the first: that one is not sent */
	assert_context(HEADER CHAIN_3 COMPACTION("s", P("b"), "04", "b") USER("d", P("s"), "05")
			       COMPACTION("t", P("d"), "06", "b"),
		       "t", "compactionSummary:\"sum t\" user:\"text b\" user:\"text d\" off ");
	/* system messages: the replayed one first, kept ones dropped, later ones there */
	assert_context(
		HEADER SYSTEM("y", ROOT, "01", "old") USER("a", P("y"), "02") SYSTEM("z", P("a"),
										     "03", "mid")
			ENTRY("compaction", "s", P("z"), "04",
			      ",\"summary\":\"S\",\"firstKeptEntryId\":\"y\","
			      "\"tokensBefore\":1,\"systemMessage\":{\"role\":"
			      "\"system\",\"content\":\"all\"}") SYSTEM("x", P("s"), "05", "new"),
		"x", "system:\"all\" compactionSummary:\"S\" user:\"text a\" system:\"new\" off ");
	/* settings come from before it, too */
	assert_context(HEADER BOT("a", ROOT, "01") COMPACTION("s", P("a"), "02", "s"), "s",
		       "compactionSummary:\"sum s\" off prov-a/mod-a");
}

static void
test_context_edit(void **state)
{
	(void)state;
	assert_context(HEADER CHAIN_3 EDIT("e", P("c"), "04", "b", "null"), "e",
		       "user:\"text a\" user:\"text c\" off ");
	assert_context(HEADER CHAIN_3 EDIT("e", P("c"), "04", "b", "{\"content\":\"new\"}"), "e",
		       "user:\"text a\" user:\"new\" user:\"text c\" off ");
	/* the last one wins; before the edit it is not applied */
	assert_context(HEADER CHAIN_3 EDIT("e", P("c"), "04", "b", "null")
			       EDIT("f", P("e"), "05", "b", "{\"content\":[{\"type\":\"text\"}]}"),
		       "f", "user:\"text a\" user:[{\"type\":\"text\"}] user:\"text c\" off ");
	assert_context(HEADER CHAIN_3 EDIT("e", P("c"), "04", "b", "null"), "c",
		       "user:\"text a\" user:\"text b\" user:\"text c\" off ");
	/* an assistant's text is put in a block; a system message cannot be replaced */
	assert_context(HEADER BOT("a", ROOT, "01") SYSTEM("b", P("a"), "02", "sys")
			       EDIT("e", P("b"), "03", "a", "{\"content\":\"new\"}")
				       EDIT("f", P("e"), "04", "b", "{\"content\":\"no\"}"),
		       "f",
		       "assistant:[{\"type\":\"text\",\"text\":\"new\"}] system:\"sys\" "
		       "off prov-a/mod-a");
	/* an invalid edit has no effect; nor has one of a missing entry */
	assert_context(HEADER CHAIN_3 EDIT("e", P("c"), "04", "b", "7")
			       EDIT("f", P("e"), "05", "gone", "null"),
		       "f", "user:\"text a\" user:\"text b\" user:\"text c\" off ");
	/* an edit from before a compaction is forgotten unless it is kept */
	assert_context(HEADER CHAIN_3 EDIT("e", P("b"), "04", "b", "null")
			       COMPACTION("s", P("e"), "05", "b"),
		       "s", "compactionSummary:\"sum s\" off ");
	assert_context(HEADER USER("a", ROOT, "01") EDIT("e", P("a"), "02", "b", "null")
			       USER("b", P("e"), "03") COMPACTION("s", P("b"), "05", "b"),
		       "s", "compactionSummary:\"sum s\" user:\"text b\" off ");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_context),
		cmocka_unit_test(test_context_compaction),
		cmocka_unit_test(test_context_edit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
