/* SPDX-License-Identifier: MIT
 *
 * Conversations written for other programs: from their records, edited, and from elsewhere. */
#include "codec/content.h"
#include "importers/importer_testing.h"

static const rt_format *const written[] = {&rt_format_claude_code, &rt_format_codex,
					  &rt_format_gemini_cli,  &rt_format_opencode, &rt_format_sharegpt, NULL};

/* Any conversation: the file is read and gives the same file again. */
static void
test_random(void **state)
{
	(void)state;
	for (size_t i = 0; written[i] != NULL; i++)
		for (uint64_t seed = 1; seed <= 300; seed++) {
			rt_outlines o;
			rt_buf text;

			random_project(rt_alloc_libc(), seed, 1, 12, &o);
			check_round_trip(written[i], &o, NULL, &text);
			assert_ptr_equal(rt_format_sniff(rt_buf_str(&text)), written[i]);
			rt_buf_deinit(&text);
			rt_outlines_deinit(&o);
		}
}

/* Any amount of memory gives the same text or RT_NOMEM. */
static void
test_memory(void **state)
{
	rt_outlines o;
	rt_buf wanted;

	(void)state;
	random_project(rt_alloc_libc(), 5, 1, 12, &o);
	for (size_t i = 0; written[i] != NULL; i++) {
		rt_status st = RT_NOMEM;

		check_round_trip(written[i], &o, NULL, &wanted);
		for (size_t limit = 0; st != RT_OK; limit += 512) {
			rt_budget budget;
			rt_buf text;

			rt_budget_init(&budget, rt_alloc_libc(), limit);
			rt_buf_init(&text, &budget.alloc, RT_BUF_UNLIMITED);
			st = written[i]->write(&budget.alloc, &o, NULL, &text, NULL);
			assert_int_equal(st, atomic_load(&budget.refused) ? RT_NOMEM : RT_OK);
			if (st == RT_OK)
				assert_true(rt_str_eq(rt_buf_str(&text), rt_buf_str(&wanted)));
			rt_buf_deinit(&text);
			assert_int_equal(budget.held, 0);
		}
		rt_buf_deinit(&wanted);
	}
	rt_outlines_deinit(&o);
}

static void
test_several(void **state)
{
	rt_outlines o;
	rt_buf text;
	rt_error err;

	(void)state;
	random_project(rt_alloc_libc(), 5, 2, 3, &o);
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_format_claude_code.write(rt_alloc_libc(), &o, NULL, &text, &err), RT_USAGE);
	rt_buf_deinit(&text);
	rt_outlines_deinit(&o);
}

/* What is written of the file after one text was replaced in its entries; hashes become "#". */
static void
assert_written(const rt_format *format, const char *text, const char *from, const char *to,
	       const char *session, const char *wanted)
{
	const rt_alloc *alloc = rt_alloc_libc();
	rt_export_options options = {.session = rt_str_of(session), .directory = RT_STR("/work")};
	rt_outlines o;
	rt_report report;
	rt_buf out, stored, content, edited;

	import_text(format, text, &o, &report);
	rt_buf_init(&out, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&stored, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&content, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&edited, alloc, RT_BUF_UNLIMITED);
	for (size_t i = 0; i < o.items[0].node_count; i++) {
		rt_node *node = &o.items[0].nodes[i];
		rt_body body;
		rt_content old;
		char *copy;

		rt_buf_clear(&stored);
		rt_buf_clear(&content);
		rt_buf_clear(&edited);
		rt_buf_add_byte(&stored, node->body_format);
		rt_buf_add_str(&stored, node->body);
		assert_int_equal(rt_body_read(alloc, rt_buf_str(&stored), &body, NULL), RT_OK);
		old = (rt_content){.text = body.content, .blocks = body.content_json};
		if (rt_content_replace(&content, old, rt_str_of(from), rt_str_of(to)) > 0) {
			rt_json_doc *doc;

			assert_int_equal(rt_json_read(alloc, rt_buf_str(&content), &doc, NULL), RT_OK);
			assert_int_equal(
				rt_body_edit(&edited, alloc, rt_buf_str(&stored),
					     yyjson_is_str(rt_json_root(doc))
						     ? rt_json_str(rt_json_root(doc))
						     : rt_buf_str(&content),
					     yyjson_is_arr(rt_json_root(doc)), NULL),
				RT_OK);
			rt_json_free(doc);
			copy = rt_arena_get(o.arena, edited.size);
			memcpy(copy, edited.ptr, edited.size);
			node->body_format = copy[0];
			node->body = rt_str_at(copy + 1, edited.size - 1);
		}
		rt_body_deinit(&body);
	}
	assert_int_equal(format->write(alloc, &o, &options, &out, NULL), RT_OK);
	if (!rt_str_is(rt_buf_str(&out), wanted))
		fail_msg("written is\n%.*s\nshould be\n%s", RT_STR_ARG(rt_buf_str(&out)), wanted);
	rt_buf_deinit(&out);
	check_round_trip(format, &o, &options, &out);
	rt_buf_deinit(&out);
	rt_buf_deinit(&stored);
	rt_buf_deinit(&content);
	rt_buf_deinit(&edited);
	import_done(&o, &report);
}

#define CLAUDE(type, id, parent, more, message) \
	"{\"parentUuid\":" parent ",\"isSidechain\":false,\"cwd\":\"/w\",\"sessionId\":\"S\"," \
	"\"version\":\"1\",\"type\":\"" type "\",\"message\":{" message "},\"uuid\":\"" id \
	"\",\"timestamp\":\"2026-01-01T00:00:00.000Z\"" more "}\n"
#define CLAUDE_REPLY(id, parent, message, block) \
	CLAUDE("assistant", id, parent, "", \
	       "\"id\":\"" message "\",\"role\":\"assistant\",\"content\":[" block "],\"odd\":1")
#define CLAUDE_SIGNED "{\"type\":\"thinking\",\"thinking\":\"red\",\"signature\":\"x\"}"
#define CLAUDE_CALL(id) "{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"ls\",\"input\":{}}"
#define CLAUDE_RESULT(id, parent, call, text) \
	CLAUDE("user", id, parent, ",\"toolUseResult\":{\"n\":1}", \
	       "\"role\":\"user\",\"content\":[{\"tool_use_id\":\"" call \
	       "\",\"type\":\"tool_result\",\"content\":" text "}]")

/* Ids, unknown members and blocks stay; the parts of a reply stay separate records. */
static void
test_claude_code(void **state)
{
	(void)state;
	assert_written(
		&rt_format_claude_code,
		CLAUDE("user", "u1", "null", ",\"slug\":\"k\"", "\"role\":\"user\",\"content\":\"a red car\"")
		CLAUDE_REPLY("a1", "\"u1\"", "m1", CLAUDE_SIGNED)
		CLAUDE_REPLY("a2", "\"a1\"", "m1", "{\"type\":\"text\",\"text\":\"red\",\"k\":[]}")
		CLAUDE_REPLY("a3", "\"a2\"", "m1", CLAUDE_CALL("c1"))
		CLAUDE_REPLY("a4", "\"a3\"", "m1", CLAUDE_CALL("c2"))
		CLAUDE_RESULT("r1", "\"a3\"", "c1", "\"a red file\"")
		CLAUDE_RESULT("r2", "\"a4\"", "c2", "[{\"type\":\"text\",\"text\":\"red\"}]")
		CLAUDE("user", "u2", "\"r2\"", "", "\"role\":\"user\",\"content\":"
		       "[{\"type\":\"text\",\"text\":\"red\"}]")
		"{\"type\":\"custom-title\",\"customTitle\":\"T\",\"sessionId\":\"S\"}\n"
		"{\"type\":\"last-prompt\",\"lastPrompt\":\"a\",\"leafUuid\":\"u1\",\"sessionId\":\"S\"}\n",
		"red", "blue", "S",
		CLAUDE("user", "u1", "null", ",\"slug\":\"k\"", "\"role\":\"user\",\"content\":\"a blue car\"")
		CLAUDE_REPLY("a1", "\"u1\"", "m1", CLAUDE_SIGNED)
		CLAUDE_REPLY("a2", "\"a1\"", "m1", "{\"type\":\"text\",\"text\":\"blue\",\"k\":[]}")
		CLAUDE_REPLY("a3", "\"a2\"", "m1", CLAUDE_CALL("c1"))
		CLAUDE_REPLY("a4", "\"a3\"", "m1", CLAUDE_CALL("c2"))
		CLAUDE_RESULT("r1", "\"a4\"", "c1", "\"a blue file\"")
		CLAUDE_RESULT("r2", "\"r1\"", "c2", "[{\"type\":\"text\",\"text\":\"blue\"}]")
		CLAUDE("user", "u2", "\"r2\"", "", "\"role\":\"user\",\"content\":"
		       "[{\"type\":\"text\",\"text\":\"blue\"}]")
		"{\"type\":\"custom-title\",\"customTitle\":\"T\",\"sessionId\":\"S\"}\n");
}

/* A call whose result is missing is given one, and a result whose call is missing becomes a text. */
static void
test_claude_code_pairs(void **state)
{
	(void)state;
	assert_written(
		&rt_format_claude_code,
		CLAUDE_RESULT("11111111-1111-4111-8111-111111111111", "null", "c0", "\"old\"")
		CLAUDE_REPLY("22222222-2222-4222-8222-222222222222",
			     "\"11111111-1111-4111-8111-111111111111\"", "m1", CLAUDE_CALL("c1"))
		CLAUDE("user", "33333333-3333-4333-8333-333333333333",
		       "\"22222222-2222-4222-8222-222222222222\"", "",
		       "\"role\":\"user\",\"content\":\"go on\""),
		"nothing", "", "S",
		CLAUDE("user", "11111111-1111-4111-8111-111111111111", "null", "",
		       "\"role\":\"user\",\"content\":\"old\"")
		CLAUDE_REPLY("22222222-2222-4222-8222-222222222222",
			     "\"11111111-1111-4111-8111-111111111111\"", "m1", CLAUDE_CALL("c1"))
		"{\"parentUuid\":\"22222222-2222-4222-8222-222222222222\",\"isSidechain\":false,"
		"\"userType\":\"external\",\"cwd\":\"/w\",\"sessionId\":\"S\",\"version\":\"1\","
		"\"gitBranch\":\"\",\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":"
		"[{\"tool_use_id\":\"c1\",\"type\":\"tool_result\",\"content\":\"The result of this "
		"call is not part of the conversation.\",\"is_error\":true}]},"
		"\"uuid\":\"8da17257-9f63-420c-8e8a-70fbcd17bf5a\","
		"\"timestamp\":\"2026-01-01T00:00:00.000Z\"}\n"
		CLAUDE("user", "33333333-3333-4333-8333-333333333333",
		       "\"8da17257-9f63-420c-8e8a-70fbcd17bf5a\"", "",
		       "\"role\":\"user\",\"content\":\"go on\""));
}

#define CODEX(type, payload) \
	"{\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"" type "\",\"payload\":{" payload "},\"odd\":1}\n"
#define CODEX_ITEM(payload) CODEX("response_item", payload)
#define CODEX_EVENT(payload) \
	"{\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"event_msg\",\"payload\":{" payload "}}\n"
#define CODEX_SAID(text) \
	CODEX_ITEM("\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"" text \
		   "\"}],\"id\":\"i\"")
#define CODEX_CALL(text) \
	CODEX_ITEM("\"type\":\"function_call\",\"name\":\"sh\",\"arguments\":\"{\\\"c\\\": 1.10}\",\"call_id\":\"" text "\"")

/* Items keep their records; the head has the new id, events are made again, edited reasoning and
 * events that no item repeats are left out. */
static void
test_codex(void **state)
{
	(void)state;
	assert_written(
		&rt_format_codex,
		CODEX("session_meta", "\"id\":\"R\",\"timestamp\":\"t\",\"cwd\":\"/w\",\"git\":{}")
		CODEX("turn_context", "\"cwd\":\"/w\",\"model\":\"m\"")
		CODEX_ITEM("\"type\":\"message\",\"role\":\"developer\",\"content\":[]")
		CODEX_SAID("a red car")
		CODEX_EVENT("\"type\":\"user_message\",\"message\":\"a red car\",\"images\":[]")
		CODEX_ITEM("\"type\":\"reasoning\",\"summary\":[{\"type\":\"s\",\"text\":\"why\"}],\"encrypted_content\":\"e\"")
		CODEX_CALL("k1")
		CODEX_ITEM("\"type\":\"function_call_output\",\"call_id\":\"k1\",\"output\":\"red file\"")
		CODEX_EVENT("\"type\":\"token_count\",\"info\":null")
		CODEX_CALL("k2")
		CODEX_ITEM("\"type\":\"message\",\"role\":\"assistant\",\"phase\":\"x\",\"content\":"
			   "[{\"type\":\"output_text\",\"text\":\"red\",\"k\":2}]"),
		"red", "blue", "S",
		"{\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"session_meta\",\"payload\":"
		"{\"id\":\"S\",\"timestamp\":\"t\",\"cwd\":\"/w\",\"git\":{},\"originator\":\"codex_cli_rs\","
		"\"cli_version\":\"0.100.0\",\"source\":\"cli\"}}\n"
		CODEX("turn_context", "\"cwd\":\"/w\",\"model\":\"m\"")
		CODEX_ITEM("\"type\":\"message\",\"role\":\"developer\",\"content\":[]")
		CODEX_SAID("a blue car")
		CODEX_EVENT("\"type\":\"user_message\",\"message\":\"a blue car\",\"images\":[]")
		CODEX_ITEM("\"type\":\"reasoning\",\"summary\":[{\"type\":\"s\",\"text\":\"why\"}],\"encrypted_content\":\"e\"")
		CODEX_CALL("k1")
		CODEX_ITEM("\"type\":\"function_call_output\",\"call_id\":\"k1\",\"output\":\"blue file\"")
		CODEX_CALL("k2")
		"{\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"response_item\",\"payload\":{\"type\":"
		"\"function_call_output\",\"call_id\":\"k2\",\"output\":\"The result of this call is not part of "
		"the conversation.\"}}\n"
		CODEX_ITEM("\"type\":\"message\",\"role\":\"assistant\",\"phase\":\"x\",\"content\":"
			   "[{\"type\":\"output_text\",\"text\":\"blue\",\"k\":2}]")
		CODEX_EVENT("\"type\":\"agent_message\",\"message\":\"blue\""));
}

#define GEMINI(id, type, more) \
	"{\"id\":\"" id "\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"" type "\"," more "}\n"
#define GEMINI_CALL(id, args, text, more) \
	"{\"id\":\"" id "\",\"name\":\"sh\",\"args\":" args ",\"result\":[{\"functionResponse\":{\"id\":\"" id \
	"\",\"name\":\"sh\",\"response\":{\"output\":\"" text "\"}}}],\"status\":\"success\"" more "}"

/* Messages keep their ids and unknown members; a text that is shown instead of an edited one is left
 * out. */
static void
test_gemini_cli(void **state)
{
	(void)state;
	assert_written(
		&rt_format_gemini_cli,
		"{\"sessionId\":\"G\",\"projectHash\":\"h\",\"startTime\":\"s\",\"lastUpdated\":\"l\","
		"\"kind\":\"main\",\"summary\":\"T\",\"directories\":[\"/w\"]}\n"
		GEMINI("u1", "user", "\"content\":[{\"text\":\"a red car\",\"k\":1.10}],\"displayContent\":\"red?\"")
		GEMINI("i1", "info", "\"content\":\"red\"")
		GEMINI("g1", "gemini", "\"thoughts\":[{\"subject\":\"s\",\"description\":\"red\"}],\"toolCalls\":["
		       GEMINI_CALL("c1", "{\"a\":1.10}", "a red file", ",\"resultDisplay\":\"red\",\"k\":2") ","
		       GEMINI_CALL("c2", "{}", "none", ",\"resultDisplay\":\"kept\"")
		       "],\"tokens\":{\"input\":1},\"content\":\"\"")
		GEMINI("g2", "gemini", "\"content\":\"red\""),
		"red", "blue", "S",
		"{\"sessionId\":\"S\",\"projectHash\":\"h\",\"startTime\":\"s\",\"lastUpdated\":\"l\","
		"\"kind\":\"main\",\"summary\":\"T\",\"directories\":[\"/w\"]}\n"
		GEMINI("u1", "user", "\"content\":[{\"text\":\"a blue car\",\"k\":1.10}]")
		GEMINI("i1", "info", "\"content\":\"blue\"")
		GEMINI("g1", "gemini", "\"thoughts\":[{\"subject\":\"s\",\"description\":\"red\"}],\"toolCalls\":["
		       GEMINI_CALL("c1", "{\"a\":1.10}", "a red file", ",\"resultDisplay\":\"red\",\"k\":2") ","
		       GEMINI_CALL("c2", "{}", "none", ",\"resultDisplay\":\"kept\"")
		       "],\"tokens\":{\"input\":1},\"content\":\"\"")
		GEMINI("g2", "gemini", "\"content\":\"blue\""));
}

/* An id of a call that is used again: each call has its own result. */
static void
test_repeated_calls(void **state)
{
	static const rt_format *const formats[] = {&rt_format_gemini_cli, &rt_format_opencode};
	const char *text =
		CLAUDE_REPLY("11111111-1111-4111-8111-111111111111", "null", "m1", CLAUDE_CALL("c1"))
		CLAUDE_RESULT("22222222-2222-4222-8222-222222222222",
			      "\"11111111-1111-4111-8111-111111111111\"", "c1", "\"of the first\"")
		CLAUDE_REPLY("33333333-3333-4333-8333-333333333333",
			     "\"22222222-2222-4222-8222-222222222222\"", "m2", CLAUDE_CALL("c1"))
		CLAUDE_RESULT("44444444-4444-4444-8444-444444444444",
			      "\"33333333-3333-4333-8333-333333333333\"", "c1", "\"of the second\"");
	rt_outlines o;
	rt_report report;
	rt_buf out;

	(void)state;
	import_text(&rt_format_claude_code, text, &o, &report);
	for (size_t i = 0; i < 2; i++) {
		const char *first, *second;

		check_round_trip(formats[i], &o, NULL, &out);
		first = strstr(out.ptr, "of the first");
		second = strstr(out.ptr, "of the second");
		assert_non_null(first);
		assert_non_null(second);
		assert_true(first < second);
		rt_buf_deinit(&out);
	}
	import_done(&o, &report);
}

/* An image in the result of a tool stays one, or is named where there is no place for it. */
static void
test_images(void **state)
{
#define SHOT "[{\"type\":\"text\",\"text\":\"a shot\"},{\"type\":\"image\",\"source\":{\"type\":\"base64\"," \
	     "\"media_type\":\"image/png\",\"data\":\"iVBO\"}}]"
	static const struct {
		const rt_format *format;
		const char *wanted;
	} rows[] = {
		{&rt_format_claude_code, "\"content\":" SHOT},
		{&rt_format_codex, "\"call_id\":\"c1\",\"output\":[{\"type\":\"input_text\",\"text\":\"a shot\"},"
				   "{\"type\":\"input_image\",\"image_url\":\"data:image/png;base64,iVBO\"}]"},
		{&rt_format_gemini_cli, "\"response\":{\"output\":\"a shot\"}}},{\"inlineData\":{\"mimeType\":"
					"\"image/png\",\"data\":\"iVBO\"}}],\"status\":\"success\""},
		{&rt_format_opencode, "\"mime\":\"image/png\",\"url\":\"data:image/png;base64,iVBO\""},
		{&rt_format_sharegpt, "\"value\":\"a shot\\n[image]\""},
	};
	const char *text =
		CLAUDE_REPLY("11111111-1111-4111-8111-111111111111", "null", "m1", CLAUDE_CALL("c1"))
		CLAUDE_RESULT("22222222-2222-4222-8222-222222222222",
			      "\"11111111-1111-4111-8111-111111111111\"", "c1", SHOT);
	rt_outlines o;
	rt_report report;
	rt_buf out;

	(void)state;
	import_text(&rt_format_claude_code, text, &o, &report);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		check_round_trip(rows[i].format, &o, NULL, &out);
		if (rt_str_find(rt_buf_str(&out), rt_str_of(rows[i].wanted), 0) == SIZE_MAX)
			fail_msg("no %s in\n%.*s", rows[i].wanted, RT_STR_ARG(rt_buf_str(&out)));
		rt_buf_deinit(&out);
	}
	import_done(&o, &report);
	/* the form of another program */
	import_text(&rt_format_codex,
		    CODEX_CALL("k1")
		    CODEX_ITEM("\"type\":\"function_call_output\",\"call_id\":\"k1\",\"output\":[{\"type\":"
			       "\"input_image\",\"image_url\":\"data:image/png;base64,iVBO\"}]"),
		    &o, &report);
	check_round_trip(&rt_format_claude_code, &o, NULL, &out);
	assert_int_not_equal(rt_str_find(rt_buf_str(&out),
					 RT_STR("\"content\":[{\"type\":\"image\",\"source\":{\"type\":\"base64\","
						"\"media_type\":\"image/png\",\"data\":\"iVBO\"}}]"),
					 0),
			     SIZE_MAX);
	rt_buf_deinit(&out);
	import_done(&o, &report);
}

/* The call and the result of another program are one item; a call without a result is given one. */
static void
test_gemini_cli_calls(void **state)
{
	const char *text =
		CLAUDE_REPLY("11111111-1111-4111-8111-111111111111", "null", "m1", CLAUDE_CALL("c1"))
		CLAUDE_RESULT("22222222-2222-4222-8222-222222222222",
			      "\"11111111-1111-4111-8111-111111111111\"", "c1", "\"red\"")
		CLAUDE_REPLY("33333333-3333-4333-8333-333333333333",
			     "\"22222222-2222-4222-8222-222222222222\"", "m2", CLAUDE_CALL("c2"))
		CLAUDE("user", "44444444-4444-4444-8444-444444444444",
		       "\"33333333-3333-4333-8333-333333333333\"", "",
		       "\"role\":\"user\",\"content\":\"go on\"");
	const char *const wanted[] = {
		"\"toolCalls\":[{\"id\":\"c1\",\"name\":\"ls\",\"args\":{},\"result\":[{\"functionResponse\":"
		"{\"id\":\"c1\",\"name\":\"ls\",\"response\":{\"output\":\"red\"}}}],\"status\":\"success\"",
		"{\"output\":\"The result of this call is not part of the conversation.\"}}}],\"status\":\"error\"",
		"\"type\":\"user\",\"content\":[{\"text\":\"go on\"}]}\n",
	};
	rt_outlines o;
	rt_report report;
	rt_buf out;

	(void)state;
	import_text(&rt_format_claude_code, text, &o, &report);
	check_round_trip(&rt_format_gemini_cli, &o, NULL, &out);
	for (size_t i = 0; i < 3; i++)
		if (rt_str_find(rt_buf_str(&out), rt_str_of(wanted[i]), 0) == SIZE_MAX)
			fail_msg("no %s in\n%.*s", wanted[i], RT_STR_ARG(rt_buf_str(&out)));
	assert_int_equal(rt_str_find(rt_buf_str(&out), RT_STR("tool_use_id"), 0), SIZE_MAX);
	rt_buf_deinit(&out);
	import_done(&o, &report);
}

#define OPENCODE_IDS(part) \
	"\"id\":\"prt_00000000000" part "11112222333344\",\"sessionID\":\"ses_1111222233334444\",\"messageID\":"
#define OPENCODE_MESSAGE(number) "\"msg_00000000000" number "11112222333344\""

/* Every message and part gets a new id, which is used by the others; the rest stays. */
static void
test_opencode(void **state)
{
	(void)state;
	assert_written(
		&rt_format_opencode,
		"{\"info\":{\"id\":\"ses_old\",\"slug\":\"fox\",\"projectID\":\"p\",\"directory\":\"/w\","
		"\"title\":\"T\",\"version\":\"1.1\",\"time\":{\"created\":1,\"updated\":2},\"k\":1.10,"
		"\"share\":{\"url\":\"u\"}},\"messages\":["
		"{\"info\":{\"id\":\"msg_b\",\"sessionID\":\"ses_old\",\"role\":\"user\",\"time\":{\"created\":1700000000005},"
		"\"agent\":\"plan\",\"model\":{\"providerID\":\"x\",\"modelID\":\"m\"}},\"parts\":["
		"{\"id\":\"prt_b\",\"sessionID\":\"ses_old\",\"messageID\":\"msg_b\",\"type\":\"text\",\"text\":\"a red car\"}]},"
		"{\"info\":{\"id\":\"msg_a\",\"parentID\":\"msg_b\",\"role\":\"assistant\",\"time\":{\"created\":1700000000006},"
		"\"modelID\":\"m\",\"providerID\":\"x\"},\"parts\":["
		"{\"id\":\"prt_a\",\"type\":\"step-start\",\"k\":2},"
		"{\"id\":\"prt_c\",\"type\":\"tool\",\"callID\":\"c\",\"tool\":\"sh\",\"state\":{\"status\":\"success\","
		"\"input\":{\"n\":1.10},\"output\":\"none\"}},"
		"{\"id\":\"prt_d\",\"type\":\"text\",\"text\":\"red\"}]}]}",
		"red", "blue", "ses_1111222233334444",
		"{\"info\":{\"id\":\"ses_1111222233334444\",\"slug\":\"fox\",\"projectID\":\"p\",\"directory\":\"/w\","
		"\"title\":\"T\",\"version\":\"1.1\",\"time\":{\"created\":1,\"updated\":2},\"k\":1.10},\"messages\":["
		"{\"info\":{\"id\":" OPENCODE_MESSAGE("1") ",\"sessionID\":\"ses_1111222233334444\",\"role\":\"user\","
		"\"time\":{\"created\":1700000000005},\"agent\":\"plan\",\"model\":{\"providerID\":\"x\",\"modelID\":\"m\"}},\"parts\":[{"
		OPENCODE_IDS("2") OPENCODE_MESSAGE("1") ",\"type\":\"text\",\"text\":\"a blue car\"}]},"
		"{\"info\":{\"id\":" OPENCODE_MESSAGE("3") ",\"parentID\":" OPENCODE_MESSAGE("1") ",\"role\":\"assistant\","
		"\"time\":{\"created\":1700000000006},\"modelID\":\"m\",\"providerID\":\"x\",\"sessionID\":\"ses_1111222233334444\","
		"\"mode\":\"plan\",\"agent\":\"plan\",\"path\":{\"cwd\":\"/work\",\"root\":\"/work\"},\"cost\":0,"
		"\"tokens\":{\"input\":0,\"output\":0,\"reasoning\":0,\"cache\":{\"read\":0,\"write\":0}}},\"parts\":["
		"{\"id\":\"prt_00000000000411112222333344\",\"type\":\"step-start\",\"k\":2,"
		"\"sessionID\":\"ses_1111222233334444\",\"messageID\":" OPENCODE_MESSAGE("3") "},"
		"{\"id\":\"prt_00000000000511112222333344\",\"type\":\"tool\",\"callID\":\"c\",\"tool\":\"sh\",\"state\":{"
		"\"status\":\"completed\",\"input\":{\"n\":1.10},\"output\":\"none\",\"metadata\":{},\"title\":\"\","
		"\"time\":{\"start\":1700000000006,\"end\":1700000000006}},\"sessionID\":\"ses_1111222233334444\",\"messageID\":" OPENCODE_MESSAGE("3") "},"
		"{\"id\":\"prt_00000000000611112222333344\",\"type\":\"text\",\"text\":\"blue\","
		"\"sessionID\":\"ses_1111222233334444\",\"messageID\":" OPENCODE_MESSAGE("3") "}]}]}\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opencode), cmocka_unit_test(test_images),
		cmocka_unit_test(test_gemini_cli),	     cmocka_unit_test(test_gemini_cli_calls), cmocka_unit_test(test_repeated_calls),
		cmocka_unit_test(test_random),	     cmocka_unit_test(test_memory),
		cmocka_unit_test(test_several),	     cmocka_unit_test(test_claude_code),
		cmocka_unit_test(test_claude_code_pairs), cmocka_unit_test(test_codex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
