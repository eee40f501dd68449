/* SPDX-License-Identifier: MIT
 *
 * Writing session files: entries made, edited or moved in Retake. */
#include "formats/pi_testing.h"

#include "codec/body.h"
#include "formats/pi_impl.h"

/* --- entries of Retake's own --- */

static rt_node
json_node(const char *id, int64_t parent, const char *role, const char *kind, const char *json)
{
	rt_node node = text_node(id, parent, role, json);

	node.kind = rt_str_of(kind);
	node.body_format = RT_BODY_JSON;
	return node;
}

#define NEW_HEADER(id) \
	"{\"type\":\"session\",\"version\":3,\"id\":\"" id "\",\"timestamp\":" \
	"\"2026-10-31T23:59:59.000Z\"}\n"
#define AT(id, parent, time) \
	"\"id\":\"" id "\",\"parentId\":" parent ",\"timestamp\":\"2026-1" time ".000Z\""
#define T0 "0-31T23:59:59"
#define T1 "1-01T00:00:00"
#define T2 "1-01T00:00:01"
#define ZERO_USAGE \
	"\"usage\":{\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0," \
	"\"totalTokens\":0,\"cost\":{\"input\":0,\"output\":0,\"cacheRead\":0," \
	"\"cacheWrite\":0,\"total\":0}},\"stopReason\":\"stop\""

/* A reply with its usage: the tokens of the cache are apart, and the cost is a total. */
static void
test_usage(void **state)
{
	rt_node nodes[] = {
		text_node("u", -1, "User", "hi"),
		json_node("b", 0, "AI", "",
			  "{\"content\":\"yes\",\"usage\":{\"input_tokens\":120,\"output_tokens\":7,"
			  "\"cache_read_input_tokens\":100,\"cache_creation_input_tokens\":5},"
			  "\"cost\":0.0125}"),
	};
	rt_outline outline = {
		.source = RT_STR("pi:own"), .nodes = nodes, .node_count = 2, .head = 1, .has_head = true};
	rt_outlines o = {.items = &outline, .count = 1};

	(void)state;
	assert_written(
		&o, NULL,
		NEW_HEADER("own") "{\"type\":\"message\"," AT(
			"u", "null",
			T0) ",\"message\":{\"role\":\"user\","
			    "\"content\":\"hi\",\"timestamp\":1793491199000}}\n"
			    "{\"type\":\"message\"," AT(
				    "b", P("u"),
				    T1) ",\"message\":{\"role\":\"assistant\","
					"\"content\":[{\"type\":\"text\",\"text\":\"yes\"}],\"api\":\"retake\","
					"\"provider\":\"retake\",\"model\":\"retake\",\"usage\":{\"input\":15,"
					"\"output\":7,\"cacheRead\":100,\"cacheWrite\":5,\"totalTokens\":127,"
					"\"cost\":{\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0,"
					"\"total\":0.0125}},\"stopReason\":\"stop\","
					"\"timestamp\":1793491200000}}\n");
}

static void
test_composed(void **state)
{
	rt_node nodes[] = {
		text_node("u", -1, "User", "hi \"you\""),
		text_node("b", 0, "AI", "yes"),
		text_node("v", 1, "Vendor API", "data"),
		text_node("s", 1, "system", "be brief"),
		json_node("c", 1, "", "compaction",
			  "{\"content\":\"sum\",\"first_kept\":\"b\",\"tokens_before\":42}"),
		json_node("r", 1, "user", "branch_summary",
			  "{\"content\":\"gone\",\"from_id\":\"v\"}"),
		json_node("i", 1, "user", "",
			  "{\"content\":[{\"type\":\"image\",\"data\":\"AA==\"}],\"usage\":{}}"),
	};
	rt_outline outline = {.source = RT_STR("pi:own"),
			      .nodes = nodes,
			      .node_count = 7,
			      .head = 6,
			      .has_head = true};
	rt_outlines o = {.items = &outline, .count = 1};

	(void)state;
	assert_written(
		&o, NULL,
		NEW_HEADER("own") "{\"type\":\"message\"," AT(
			"u", "null",
			T0) ",\"message\":{\"role\":\"user\","
			    "\"content\":\"hi \\\"you\\\"\",\"timestamp\":1793491199000}}\n"
			    "{\"type\":\"message\"," AT(
				    "b", P("u"),
				    T1) ",\"message\":{\"role\":\"assistant\","
					"\"content\":[{\"type\":\"text\",\"text\":\"yes\"}],\"api\":\"retake\","
					"\"provider\":\"retake\",\"model\":\"retake\"," ZERO_USAGE
					",\"timestamp\":1793491200000}}\n"
					"{\"type\":\"custom_message\",\"customType\":\"Vendor API\",\"content\":\"data\","
					"\"display\":true," AT(
						"v", P("b"),
						T2) "}\n"
						    "{\"type\":\"message\"," AT(
							    "s", P("b"),
							    T2) ",\"message\":{\"role\":\"system\","
								"\"content\":\"be brief\",\"timestamp\":1793491201000}}\n"
								"{\"type\":\"compaction\"," AT(
									"c", P("b"),
									T2) ",\"summary\":\"sum\","
									    "\"firstKeptEntryId\":\"b\",\"tokensBefore\":42}\n"
									    "{\"type\":\"branch_summary\"," AT(
										    "r", P("b"),
										    T2) ",\"fromId\":\"v\","
											"\"summary\":\"gone\"}\n"
											"{\"type\":\"message\"," AT(
												"i",
												P("b"),
												T2) ",\"message\":{\"role\":\"user\","
												    "\"content\":[{\"type\":\"image\",\"data\":\"AA==\"}],\"timestamp\":1793491201000}}\n");
}

/* A discussion that was never a session: its id stays as long as its first entry does. */
static void
test_new_session(void **state)
{
	rt_node nodes[] = {text_node("u", -1, "User", "hi")};
	rt_outline_field field = {RT_STR("source"), RT_STR("\"pi:was-one\"")};
	rt_outline outline = {.nodes = nodes, .node_count = 1, .name = RT_STR("n")};
	rt_outlines o = {.items = &outline, .count = 1}, again;
	rt_buf first, second;

	(void)state;
	write_to(&o, NULL, &first);
	outlines_of(rt_buf_str(&first), &again);
	assert_str(again.items[0].name, "n");
	assert_int_equal(again.items[0].source.size, 3 + 36);
	nodes[0].body = RT_STR("changed");
	outline.name = RT_STR("another");
	write_to(&o, NULL, &second);
	assert_memory_equal(first.ptr, second.ptr, strlen(NEW_HEADER("")) + 36);
	rt_buf_deinit(&second);
	outline.fields = &field;
	outline.field_count = 1;
	write_to(&o, NULL, &second);
	assert_true(rt_str_starts(rt_buf_str(&second), RT_STR(NEW_HEADER("was-one"))));
	rt_buf_deinit(&second);
	rt_outlines_deinit(&again);
	rt_buf_deinit(&first);
}

/* Entries appended after the imported ones; the lines before them are untouched. */
static void
test_appended(void **state)
{
	static const char text[] = HEADER USER("a", ROOT, "01") "torn";
	rt_outlines o;
	rt_node nodes[2];

	(void)state;
	outlines_of(rt_str_of(text), &o);
	nodes[0] = o.items[0].nodes[0];
	nodes[1] = text_node("new", 0, "AI", "yes");
	nodes[1].has_ts = false; /* then it has the time of the parent */
	o.items[0].nodes = nodes;
	o.items[0].node_count = 2;
	o.items[0].head = 1;
	assert_written(
		&o, NULL,
		HEADER USER(
			"a", ROOT,
			"01") "torn\n"
			      "{\"type\":\"message\",\"id\":\"new\",\"parentId\":\"a\",\"timestamp\":"
			      "\"2026-11-01T00:00:01.000Z\",\"message\":{\"role\":\"assistant\",\"content\":"
			      "[{\"type\":\"text\",\"text\":\"yes\"}],\"api\":\"retake\",\"provider\":"
			      "\"retake\",\"model\":\"retake\"," ZERO_USAGE
			      ",\"timestamp\":1793491201000}}\n");
	rt_outlines_deinit(&o);
}

/* An edited record: everything but its content is unchanged. */
static void
assert_edited(const char *line, const char *content, bool is_json, const char *wanted)
{
	rt_outlines o;
	rt_buf file, old, edited, out;
	rt_str got;

	rt_buf_init(&file, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&file, HEADER);
	rt_buf_add_c(&file, line);
	outlines_of(rt_buf_str(&file), &o);
	rt_buf_init(&old, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_body_write_pi(&old, o.items[0].nodes[0].body);
	rt_buf_init(&edited, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_body_edit(&edited, rt_alloc_libc(), rt_buf_str(&old),
				      rt_str_of(content), is_json, NULL),
			 RT_OK);
	o.items[0].nodes[0].body_format = edited.ptr[0];
	o.items[0].nodes[0].body = rt_str_at(edited.ptr + 1, edited.size - 1);
	write_to(&o, NULL, &out);
	got = rt_str_at(out.ptr + strlen(HEADER), out.size - strlen(HEADER));
	assert_str(got, wanted);
	rt_buf_deinit(&out);
	rt_buf_deinit(&edited);
	rt_buf_deinit(&old);
	rt_buf_deinit(&file);
	rt_outlines_deinit(&o);
}

static void
test_edited(void **state)
{
	(void)state;
	assert_edited(USER("a", ROOT, "01"), "new", false,
		      MESSAGE("user", "a", ROOT, "01", "\"new\""));
	assert_edited(USER("a", ROOT, "01"), "[{\"type\":\"text\",\"text\":\"new\"}]", true,
		      MESSAGE("user", "a", ROOT, "01", "[{\"type\":\"text\",\"text\":\"new\"}]"));
	assert_edited(
		MESSAGE("assistant", "a", ROOT, "01",
			"[{\"type\":\"text\",\"text\":\"x\"},{\"type\":\"toolCall\"}]"),
		"new", false,
		MESSAGE("assistant", "a", ROOT, "01", "[{\"type\":\"text\",\"text\":\"new\"}]"));
	assert_edited(
		MESSAGE("assistant", "a", ROOT, "01", "[]"),
		"[{\"type\":\"toolCall\",\"id\":\"t\"}]", true,
		MESSAGE("assistant", "a", ROOT, "01", "[{\"type\":\"toolCall\",\"id\":\"t\"}]"));
	assert_edited(
		MESSAGE("toolResult", "a", ROOT, "01", "[]"), "out", false,
		MESSAGE("toolResult", "a", ROOT, "01", "[{\"type\":\"text\",\"text\":\"out\"}]"));
	assert_edited(MESSAGE("user", "a", ROOT, "01", "null"), "new", false,
		      MESSAGE("user", "a", ROOT, "01", "\"new\""));
	assert_edited(ENTRY("message", "a", ROOT, "01",
			    ",\"message\":{\"role\":\"bashExecution\",\"command\":\"ls\","
			    "\"output\":\"o\",\"exitCode\":0}"),
		      "new", false,
		      ENTRY("message", "a", ROOT, "01",
			    ",\"message\":{\"role\":\"bashExecution\",\"command\":\"ls\","
			    "\"output\":\"new\",\"exitCode\":0}"));
	assert_edited(COMPACTION("a", ROOT, "01", "a"), "new", false,
		      ENTRY("compaction", "a", ROOT, "01",
			    ",\"summary\":\"new\",\"firstKeptEntryId\":\"a\",\"tokensBefore\":99"));
	assert_edited(
		COMPACTION("a", ROOT, "01", "a"),
		"[{\"type\":\"text\",\"text\":\"n\"},{\"type\":\"text\",\"text\":\"m\"}]", true,
		ENTRY("compaction", "a", ROOT, "01",
		      ",\"summary\":\"n\\nm\",\"firstKeptEntryId\":\"a\",\"tokensBefore\":99"));
	assert_edited(
		ENTRY("custom_message", "a", ROOT, "01", ",\"content\":\"c\",\"customType\":\"t\""),
		"new", false,
		ENTRY("custom_message", "a", ROOT, "01",
		      ",\"content\":\"new\",\"customType\":\"t\""));
	/* pi has no text there: it is a further member, until it is empty again */
	assert_edited(ENTRY("custom", "a", ROOT, "01", ",\"data\":{\"n\":1.10}"), "new", false,
		      ENTRY("custom", "a", ROOT, "01",
			    ",\"content\":\"new\",\"data\":{\"n\":1.10}"));
	assert_edited(ENTRY("custom", "a", ROOT, "01", ",\"data\":{\"n\":1.10}"), "", false,
		      ENTRY("custom", "a", ROOT, "01", ",\"data\":{\"n\":1.10}"));
}

/* Another role needs another record; with lossless the old role is kept. */
static void
test_role(void **state)
{
	rt_outlines o;
	const rt_export_options lossless = {.whole = true, .lossless = true};

	(void)state;
	outlines_of(RT_STR(HEADER BOT("a", ROOT, "01")), &o);
	o.items[0].nodes[0].role = RT_STR("AI"); /* the same thing under Retake's name */
	assert_written(&o, NULL, HEADER BOT("a", ROOT, "01"));
	o.items[0].nodes[0].role = RT_STR("User");
	assert_written(&o, NULL,
		       HEADER ENTRY("message", "a", ROOT, "01",
				    ",\"message\":{\"role\":\"user\",\"content\":[{\"type\":"
				    "\"text\",\"text\":\"text a\"}],\"timestamp\":1793491201000}"));
	rt_outlines_deinit(&o);
	outlines_of(RT_STR(HEADER USER("a", ROOT, "01")), &o);
	o.items[0].nodes[0].role = RT_STR("User");
	assert_written(&o, &lossless,
		       HEADER ENTRY("message", "a", ROOT, "01",
				    ",\"message\":{\"role\":\"user\",\"content\":\"text a\","
				    "\"timestamp\":7},\"retake\":{\"role\":\"User\"}"));
	rt_outlines_deinit(&o);
}

/* Properties that pi cannot express are written with lossless and read back. */
static void
test_lossless(void **state)
{
	const rt_export_options lossless = {.whole = true, .lossless = true};
	rt_outlines o, again;
	rt_node nodes[2];
	rt_buf out, last;

	(void)state;
	outlines_of(RT_STR(HEADER USER("a", ROOT, "01")), &o);
	nodes[0] = o.items[0].nodes[0];
	nodes[0].muted = true;
	nodes[1] = json_node("b", 0, "Vendor API", "", "{\"content\":\"x\",\"k\":1.10}");
	nodes[1].collapsed = nodes[1].read_mode = true;
	o.items[0].nodes = nodes;
	o.items[0].node_count = 2;
	o.items[0].head = 1;
	write_to(&o, &lossless, &out);
	assert_true(rt_str_find(rt_buf_str(&out),
				RT_STR("\"retake\":{\"role\":\"Vendor API\",\"kind\":\"message\",\"collapsed\":true,"
				       "\"read_mode\":true,\"fields\":{\"k\":1.10}}}\n"),
				0) != SIZE_MAX);
	outlines_of(rt_buf_str(&out), &again);
	assert_true(again.items[0].nodes[0].muted);
	assert_str(again.items[0].nodes[1].role, "Vendor API");
	assert_true(again.items[0].nodes[1].collapsed);
	assert_true(again.items[0].nodes[1].read_mode);
	assert_written(&again, &lossless, out.ptr);
	assert_written(&again, NULL, out.ptr);
	/* removed text must not be read again */
	again.items[0].nodes[0].muted = false;
	again.items[0].nodes[1].collapsed = again.items[0].nodes[1].read_mode = false;
	write_to(&again, NULL, &last);
	assert_true(rt_str_find(rt_buf_str(&last), RT_STR("muted"), 0) == SIZE_MAX);
	assert_true(
		rt_str_find(rt_buf_str(&last),
			    RT_STR("\"retake\":{\"role\":\"Vendor API\",\"kind\":\"message\","
				   "\"fields\":{\"k\":1.10}}"),
			    0) != SIZE_MAX);
	rt_buf_deinit(&last);
	rt_outlines_deinit(&again);
	rt_buf_deinit(&out);
	rt_outlines_deinit(&o);
}

/* The record of one entry made in Retake, from its type on, without the common members. */
static void
assert_record(const char *role, const char *kind, const char *json, const char *wanted)
{
	static const char base[] = "\"id\":\"k\",\"parentId\":null,\"timestamp\":"
				   "\"2026-10-31T23:59:59.000Z\"";
	rt_node nodes[] = {json_node("k", -1, role, kind, json)};
	rt_outline outline = {.source = RT_STR("pi:own"), .nodes = nodes, .node_count = 1};
	rt_outlines o = {.items = &outline, .count = 1}, again;
	rt_buf out, got;
	rt_str line;
	size_t at;

	if (strstr(json, "targetId") != NULL) /* else a record after it clears the label */
		nodes[0].label = RT_STR("here");
	write_to(&o, NULL, &out);
	line = rt_str_at(out.ptr + strlen(NEW_HEADER("own")), out.size - strlen(NEW_HEADER("own")));
	at = rt_str_find(line, rt_str_of(base), 0);
	assert_true(at != SIZE_MAX);
	rt_buf_init(&got, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_str(&got, rt_str_at(line.ptr, at));
	rt_buf_add_c(&got, "…");
	rt_buf_add_str(&got, rt_str_at(line.ptr + at + strlen(base),
				       line.size - at - strlen(base) - 1));
	assert_str(rt_buf_str(&got), wanted);
	outlines_of(rt_buf_str(&out), &again); /* pi reads it, and so does Retake */
	assert_int_equal(again.items[0].node_count, 1);
	assert_written(&again, NULL, out.ptr);
	rt_outlines_deinit(&again);
	rt_buf_deinit(&got);
	rt_buf_deinit(&out);
}

/* Entries of each kind become records of their type, whatever their role. */
static void
test_kinds(void **state)
{
	static const char *const roles[] = {"", "User", "custom", "Hook"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		assert_record(roles[i], "custom",
			      "{\"content\":\"\",\"customType\":\"st\",\"data\":{\"n\":1.10}}",
			      "{\"type\":\"custom\",\"customType\":\"st\",\"data\":{\"n\":1.10},…}");
		assert_record(roles[i], "custom_message",
			      "{\"content\":\"X\",\"custom_type\":\"h\",\"display\":false,"
			      "\"details\":{\"q\":1}}",
			      "{\"type\":\"custom_message\",\"customType\":\"h\",\"content\":\"X\","
			      "\"display\":false,\"details\":{\"q\":1},…}");
	}
	assert_record("Hook", "custom", "{\"content\":\"said\"}",
		      "{\"type\":\"custom\",\"customType\":\"Hook\",\"content\":\"said\",…}");
	assert_record("", "custom_message", "{\"content\":[{\"type\":\"text\",\"text\":\"t\"}]}",
		      "{\"type\":\"custom_message\",\"customType\":\"retake\",\"content\":"
		      "[{\"type\":\"text\",\"text\":\"t\"}],\"display\":true,…}");
	assert_record("", "model_change",
		      "{\"content\":\"\",\"provider\":\"p\",\"modelId\":\"m\"}",
		      "{\"type\":\"model_change\",…,\"provider\":\"p\",\"modelId\":\"m\"}");
	assert_record("", "model_change", "{\"content\":\"\",\"model\":\"p/m/x\"}",
		      "{\"type\":\"model_change\",…,\"provider\":\"p\",\"modelId\":\"m/x\"}");
	assert_record("User", "thinking_level_change", "{\"content\":\"high\"}",
		      "{\"type\":\"thinking_level_change\",…,\"thinkingLevel\":\"high\"}");
	assert_record("", "label", "{\"content\":\"\",\"targetId\":\"k\",\"label\":\"here\"}",
		      "{\"type\":\"label\",…,\"targetId\":\"k\",\"label\":\"here\"}");
	assert_record("", "label", "{\"content\":\"here\"}",
		      "{\"type\":\"custom\",\"customType\":\"label\",\"data\":"
		      "{\"content\":\"here\"},…}");
	assert_record("", "session_info", "{\"content\":\"called so\"}",
		      "{\"type\":\"session_info\",…,\"name\":\"called so\"}");
	assert_record("", "session", "{\"content\":\"x\",\"id\":\"no\",\"k\":1}",
		      "{\"type\":\"custom\",\"customType\":\"session\",\"data\":"
		      "{\"content\":\"x\",\"k\":1},…}");
	assert_record("Critic", "whatever", "{\"content\":\"x\",\"type\":\"no\",\"k\":1.10}",
		      "{\"type\":\"whatever\",…,\"content\":\"x\",\"k\":1.10}");
	assert_record("", "branch_summary",
		      "{\"content\":\"s\",\"from_id\":\"f\",\"from_hook\":true,\"details\":{}}",
		      "{\"type\":\"branch_summary\",…,\"fromId\":\"f\",\"summary\":\"s\","
		      "\"details\":{},\"fromHook\":true}");
	/* its origin (seed 2) */
	assert_record("", "branch_summary",
		      "{\"content\":\"s\",\"from_id\":\"f\",\"service\":\"p\",\"model\":\"m\","
		      "\"instructions\":\"say why\"}",
		      "{\"type\":\"branch_summary\",…,\"fromId\":\"f\",\"summary\":\"s\","
		      "\"service\":\"p\",\"model\":\"m\",\"instructions\":\"say why\"}");
	assert_record("User", "prompt_notice", "{\"content\":\"n\"}",
		      "{\"type\":\"message\",…,\"message\":{\"role\":\"system\",\"content\":\"n\","
		      "\"timestamp\":1793491199000}}");
}

/* pi uses the last compaction, and drops everything before the first entry that it keeps. */
static void
test_ranges(void **state)
{
	rt_node nodes[] = {
		text_node("a", -1, "User", "a"),
		text_node("b", 0, "AI", "b"),
		text_node("c", 1, "User", "c"),
		json_node("s", 2, "System", "compaction",
			  "{\"content\":\"A\",\"from\":\"a\",\"to\":\"b\"}"),
		json_node("t", 3, "System", "compaction",
			  "{\"content\":\"B\",\"from\":\"c\",\"to\":\"c\"}"),
		json_node("u", 4, "System", "compaction",
			  "{\"content\":\"C\",\"from\":\"gone\",\"to\":\"c\"}"),
	};
	rt_outline outline = {.nodes = nodes, .node_count = 6, .head = 5, .has_head = true};
	rt_outlines o = {.items = &outline, .count = 1};
	rt_buf out;

	(void)state;
	write_to(&o, NULL, &out);
	assert_non_null(strstr(out.ptr, "\"summary\":\"A\",\"firstKeptEntryId\":\"c\""));
	assert_non_null(strstr(out.ptr, "{\"type\":\"custom\",\"customType\":\"retake.compaction\","
					"\"data\":{\"content\":\"B\",\"from\":\"c\",\"to\":\"c\"}"));
	assert_non_null(strstr(out.ptr, "\"data\":{\"content\":\"C\",\"from\":\"gone\""));
	assert_null(strstr(strstr(out.ptr, "\"compaction\"") + 1, "\"type\":\"compaction\""));
	rt_buf_deinit(&out);
}

/* With lossless the kind is read back if a record has another type. */
static void
test_kind_is_kept(void **state)
{
	const rt_export_options lossless = {.whole = true, .lossless = true};
	rt_node nodes[] = {
		json_node("n", -1, "system", "prompt_notice", "{\"content\":\"a\"}"),
		json_node("v", 0, "Vendor API", "", "{\"content\":\"b\"}"),
		json_node("c", 1, "Hook", "custom", "{\"content\":\"c\",\"data\":1}"),
	};
	rt_outline outline = {.nodes = nodes, .node_count = 3, .head = 2, .has_head = true};
	rt_outlines o = {.items = &outline, .count = 1}, again;
	rt_buf out;
	size_t i;

	(void)state;
	write_to(&o, &lossless, &out);
	outlines_of(rt_buf_str(&out), &again);
	assert_int_equal(again.items[0].node_count, 3);
	for (i = 0; i < 3; i++) {
		assert_true(rt_str_eq(again.items[0].nodes[i].role, nodes[i].role));
		assert_true(rt_str_eq(again.items[0].nodes[i].kind,
				      i == 1 ? RT_STR("message") : nodes[i].kind));
	}
	assert_written(&again, &lossless, out.ptr);
	assert_written(&again, NULL, out.ptr);
	rt_outlines_deinit(&again);
	rt_buf_deinit(&out);
}

/* --- moved, labelled, renamed --- */

static void
test_moved(void **state)
{
	rt_outlines o;
	rt_buf out;

	(void)state;
	outlines_of(RT_STR(HEADER USER("a", ROOT, "01") USER("b", P("a"), "02")
				   USER("c", P("b"), "03")),
		    &o);
	o.items[0].nodes[2].parent = 0;
	assert_written(&o, NULL,
		       HEADER USER("a", ROOT, "01") USER("b", P("a"), "02")
			       USER("c", P("a"), "03"));
	o.items[0].nodes[2].parent = -1;
	assert_written(&o, NULL,
		       HEADER USER("a", ROOT, "01") USER("b", P("a"), "02") USER("c", ROOT, "03"));
	/* parents before children */
	o.items[0].nodes[0].parent = 2;
	o.items[0].head = 1;
	assert_written(&o, NULL,
		       HEADER USER("c", ROOT, "03") USER("a", P("c"), "01")
			       USER("b", P("a"), "02"));
	rt_outlines_deinit(&o);
	/* a missing parentId is added */
	outlines_of(RT_STR(HEADER USER("a", ROOT, "01") "{\"type\":\"x\",\"id\":\"b\"}\n"), &o);
	o.items[0].nodes[1].parent = 0;
	assert_written(
		&o, NULL,
		HEADER USER("a", ROOT, "01") "{\"type\":\"x\",\"id\":\"b\",\"parentId\":\"a\"}\n");
	rt_outlines_deinit(&o);
	/* an entry made in Retake would close a cycle with an unchanged line */
	outlines_of(RT_STR(HEADER USER("a", ROOT, "01") USER("b", P("a"), "02")), &o);
	o.items[0].nodes[0] = text_node("a", 1, "Tool", "x");
	o.items[0].nodes[1].parent = -1;
	o.items[0].head = 0;
	write_to(&o, NULL, &out);
	assert_true(rt_str_starts(rt_buf_str(&out), RT_STR(HEADER USER("b", ROOT, "02"))));
	rt_buf_deinit(&out);
	rt_outlines_deinit(&o);
	/* out of a cycle: no other cut may be needed */
	outlines_of(RT_STR(HEADER USER("a", P("b"), "01") USER("b", P("a"), "02")), &o);
	o.items[0].nodes[1].parent = -1;
	assert_written(&o, NULL, HEADER USER("a", ROOT, "01") USER("b", ROOT, "02"));
	rt_outlines_deinit(&o);
}

/* A line that means another entry gets a new id when an entry is added below it. */
static void
test_shadowed(void **state)
{
	rt_outlines o, again;
	rt_node nodes[3];
	rt_buf out;

	(void)state;
	outlines_of(RT_STR(HEADER USER("a", ROOT, "01") USER("a", ROOT, "02")), &o);
	nodes[0] = o.items[0].nodes[0];
	nodes[1] = o.items[0].nodes[1];
	nodes[2] = text_node("n", 0, "user", "below the first");
	o.items[0].nodes = nodes;
	o.items[0].node_count = 3;
	o.items[0].head = 2;
	write_to(&o, NULL, &out);
	outlines_of(rt_buf_str(&out), &again);
	assert_int_equal(again.items[0].node_count, 3);
	assert_int_equal(again.items[0].nodes[2].parent, 0);
	assert_str(again.items[0].nodes[1].id, "a");
	assert_int_equal(again.items[0].nodes[0].id.size, 8);
	rt_outlines_deinit(&again);
	rt_buf_deinit(&out);
	rt_outlines_deinit(&o);
}

static void
test_label_changes(void **state)
{
	static const char text[] = HEADER USER("a", ROOT, "01") USER("b", P("a"), "02")
		LABEL("l", P("b"), "03", "a", ",\"label\":\"one\"");
	rt_outlines o, again;
	rt_buf out;

	(void)state;
	outlines_of(rt_str_of(text), &o);
	o.items[0].nodes[0].label = rt_str_at(NULL, 0);
	o.items[0].nodes[1].label = RT_STR("two");
	write_to(&o, NULL, &out);
	assert_true(rt_str_starts(rt_buf_str(&out), rt_str_of(text)));
	outlines_of(rt_buf_str(&out), &again);
	assert_int_equal(again.items[0].node_count, 5);
	assert_int_equal(again.items[0].nodes[0].label.size, 0);
	assert_str(again.items[0].nodes[1].label, "two");
	assert_int_equal(again.items[0].nodes[3].parent, 2); /* below the head, in a chain */
	assert_int_equal(again.items[0].nodes[4].parent, 3);
	assert_int_equal(again.items[0].head, 4);
	/* a cleared label has no "label" member at all */
	assert_true(rt_str_find(again.items[0].nodes[3].body, RT_STR("\"label\":"), 0) == SIZE_MAX);
	assert_written(&again, NULL, out.ptr);
	rt_outlines_deinit(&again);
	rt_buf_deinit(&out);
	rt_outlines_deinit(&o);
}

static void
test_name_changes(void **state)
{
	rt_outlines o, again;
	rt_buf out;

	(void)state;
	outlines_of(RT_STR(HEADER ENTRY("session_info", "i", ROOT, "01", ",\"name\":\"one\"")), &o);
	o.items[0].name = RT_STR(" two\r\n\nlines ");
	write_to(&o, NULL, &out);
	outlines_of(rt_buf_str(&out), &again);
	assert_str(again.items[0].name, "two lines");
	assert_written(&again, NULL, out.ptr);
	rt_outlines_deinit(&again);
	rt_buf_deinit(&out);
	rt_outlines_deinit(&o);
	/* a file that never had a name is not given the generated one */
	outlines_of(RT_STR(HEADER USER("a", ROOT, "01")), &o);
	o.items[0].name = RT_STR("main");
	assert_written(&o, NULL, HEADER USER("a", ROOT, "01"));
	rt_outlines_deinit(&o);
}

/* --- the head --- */

static void
assert_anchor(int64_t head, const char *parent)
{
	static const char text[] = HEADER USER("a", ROOT, "01") USER("b", P("a"), "02")
		USER("c", P("a"), "03");
	rt_outlines o, again;
	rt_buf out;
	const rt_outline *x;

	outlines_of(rt_str_of(text), &o);
	o.items[0].head = head;
	write_to(&o, NULL, &out);
	assert_true(rt_str_starts(rt_buf_str(&out), rt_str_of(text)));
	outlines_of(rt_buf_str(&out), &again);
	x = &again.items[0];
	assert_int_equal(x->node_count, 4);
	assert_int_equal(x->head, 3);
	assert_int_equal(x->nodes[3].parent, head);
	assert_str(x->nodes[3].kind, "custom");
	assert_true(rt_str_find(x->nodes[3].body, rt_str_of(parent), 0) != SIZE_MAX);
	assert_written(&again, NULL, out.ptr);
	rt_outlines_deinit(&again);
	rt_buf_deinit(&out);
	rt_outlines_deinit(&o);
}

static void
test_anchor(void **state)
{
	(void)state;
	assert_anchor(1, "{\"type\":\"custom\",\"customType\":\"retake.head\",\"id\":\"");
	assert_anchor(1, "\"parentId\":\"b\"");
	assert_anchor(0, "\"parentId\":\"a\"");
	assert_anchor(-1, "\"parentId\":null");
}

/* --- takes --- */

/* Two takes of which the second lacks an entry of the first: pi's tree needs a copy. */
static void
test_takes(void **state)
{
	const int64_t one[] = {0, 1, 2, 3}, two[] = {0, 2, 3};
	rt_node nodes[] = {
		text_node("a", -1, "user", "a"),
		text_node("b", 0, "user", "b"),
		text_node("c", 1, "user", "c"),
		text_node("d", 2, "user", "d"),
	};
	rt_outline_take takes[] = {
		{.name = RT_STR("one"), .nodes = one, .node_count = 4},
		{.name = RT_STR("two"), .nodes = two, .node_count = 3},
	};
	rt_outline outline = {.nodes = nodes,
			      .node_count = 4,
			      .head = 3,
			      .has_head = true,
			      .takes = takes,
			      .take_count = 2,
			      .active_take = 1};
	rt_outlines o = {.items = &outline, .count = 1}, again;
	const rt_export_options whole = {.whole = true}, active = {.whole = false};
	const rt_outline *x;
	rt_buf out;

	(void)state;
	write_to(&o, &whole, &out);
	outlines_of(rt_buf_str(&out), &again);
	x = &again.items[0];
	assert_int_equal(x->node_count, 6);
	assert_int_equal(x->nodes[4].parent, 0);
	assert_int_equal(x->nodes[5].parent, 4);
	assert_int_equal(x->head, 5); /* the active take's d, so that no anchor is needed */
	assert_written(&again, NULL, out.ptr);
	rt_outlines_deinit(&again);
	rt_buf_deinit(&out);

	write_to(&o, &active, &out);
	outlines_of(rt_buf_str(&out), &again);
	x = &again.items[0];
	assert_int_equal(x->node_count, 3);
	assert_str(x->nodes[1].id, "c");
	assert_int_equal(x->nodes[1].parent, 0);
	assert_int_equal(x->head, 2);
	rt_outlines_deinit(&again);
	rt_buf_deinit(&out);
}

/* Revisions: nodes of one id in two takes. */
static void
test_revisions(void **state)
{
	static const char text[] = HEADER USER("a", ROOT, "01") USER("b", P("a"), "02");
	const int64_t one[] = {0, 1}, two[] = {2, 1};
	rt_outline_take takes[] = {{.nodes = one, .node_count = 2},
				   {.nodes = two, .node_count = 2}};
	rt_outlines o, again;
	rt_node nodes[3];
	rt_buf out;
	const rt_outline *x;

	(void)state;
	outlines_of(rt_str_of(text), &o);
	memcpy(nodes, o.items[0].nodes, 2 * sizeof(nodes[0]));
	nodes[2] = json_node("a", -1, "user", "",
			     "{\"content\":\"second\",\"pi\":{\"type\":\"message\",\"id\":\"a\","
			     "\"parentId\":null,\"message\":{\"role\":\"user\"}}}");
	o.items[0].nodes = nodes;
	o.items[0].node_count = 3;
	o.items[0].takes = takes;
	o.items[0].take_count = 2;
	write_to(&o, NULL, &out);
	assert_true(rt_str_starts(rt_buf_str(&out), rt_str_of(text)));
	outlines_of(rt_buf_str(&out), &again);
	x = &again.items[0];
	assert_int_equal(x->node_count, 5); /* and the copy of b, and the anchor below b */
	assert_int_equal(x->nodes[2].parent, -1);
	assert_int_equal(x->nodes[3].parent, 2);
	assert_int_equal(x->nodes[4].parent, 1);
	rt_outlines_deinit(&again);
	rt_buf_deinit(&out);
	rt_outlines_deinit(&o);
}

/* --- torture --- */

typedef struct stingy {
	long left;
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

static void
test_torture(void **state)
{
	static const char text[] = "x\n" HEADER USER("a", ROOT, "01") USER("a", P("a"), "02")
		BOT("b", P("a"), "03") LABEL("l", P("b"), "04", "a", ",\"label\":\"x\"") "\xFF\n";
	const rt_export_options lossless = {.whole = true, .lossless = true};
	rt_outlines o;
	rt_node nodes[6];
	long allowed;
	rt_status st = RT_NOMEM;

	(void)state;
	for (allowed = 0; st != RT_OK; allowed++) {
		stingy purse = {allowed};
		rt_alloc alloc = {stingy_resize, stingy_release, &purse};

		assert_true(allowed < 1000);
		st = rt_format_pi.read(&alloc, rt_str_of(text), &o, NULL, NULL);
		if (st == RT_OK)
			rt_outlines_deinit(&o);
		else
			assert_int_equal(st, RT_NOMEM);
	}
	outlines_of(rt_str_of(text), &o);
	memcpy(nodes, o.items[0].nodes, 4 * sizeof(nodes[0]));
	nodes[0].muted = true;
	nodes[1].label = rt_str_at(NULL, 0);
	nodes[2].parent = 0;
	nodes[4] = json_node("j", 0, "AI", "", "{\"content\":\"x\",\"k\":1}");
	nodes[5] = json_node("k", 4, "user", "",
			     "{\"content\":\"x\",\"pi\":{\"type\":\"message\","
			     "\"message\":{\"role\":\"user\"}}}");
	o.items[0].nodes = nodes;
	o.items[0].node_count = 6;
	o.items[0].name = RT_STR("new");
	for (st = RT_NOMEM, allowed = 0; st != RT_OK; allowed++) {
		stingy purse = {allowed};
		rt_alloc alloc = {stingy_resize, stingy_release, &purse};
		rt_buf out;

		assert_true(allowed < 1000);
		rt_buf_init(&out, &alloc, RT_BUF_UNLIMITED);
		st = rt_format_pi.write(&alloc, &o, &lossless, &out, NULL);
		if (st != RT_OK) {
			assert_int_equal(st, RT_NOMEM);
			assert_int_equal(out.size, 0);
		}
		rt_buf_deinit(&out);
	}
	rt_outlines_deinit(&o);
}

/* As deep as a session may get, every line to be patched. */
static void
test_deep(void **state)
{
	enum { COUNT = 100000 };
	rt_node *nodes = calloc(COUNT, sizeof(*nodes));
	char(*ids)[16] = calloc(COUNT, sizeof(*ids));
	rt_outline outline = {.nodes = nodes, .node_count = COUNT, .head = 0, .has_head = true};
	rt_outlines o = {.items = &outline, .count = 1}, again;
	rt_buf out;
	int i;

	(void)state;
	for (i = 0; i < COUNT; i++) { /* children first: the last node is the root */
		snprintf(ids[i], sizeof(ids[i]), "%d", i);
		nodes[i] = text_node(ids[i], i + 1 < COUNT ? i + 1 : -1, "user", "x");
		nodes[i].has_ts = false;
	}
	write_to(&o, NULL, &out);
	outlines_of(rt_buf_str(&out), &again);
	assert_int_equal(again.items[0].node_count, COUNT);
	assert_int_equal(again.items[0].nodes[COUNT - 1].parent, COUNT - 2);
	assert_str(again.items[0].nodes[COUNT - 1].id, "0");
	rt_outlines_deinit(&again);
	rt_buf_deinit(&out);
	free(ids);
	free(nodes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_composed),
		cmocka_unit_test(test_usage),      cmocka_unit_test(test_new_session),
		cmocka_unit_test(test_appended),      cmocka_unit_test(test_edited),
		cmocka_unit_test(test_role),          cmocka_unit_test(test_lossless),
		cmocka_unit_test(test_moved),         cmocka_unit_test(test_shadowed),
		cmocka_unit_test(test_label_changes), cmocka_unit_test(test_name_changes),
		cmocka_unit_test(test_anchor),        cmocka_unit_test(test_takes),
		cmocka_unit_test(test_revisions),     cmocka_unit_test(test_torture),
		cmocka_unit_test(test_deep),          cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_kind_is_kept),  cmocka_unit_test(test_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
