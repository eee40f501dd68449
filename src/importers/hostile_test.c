/* SPDX-License-Identifier: MIT
 *
 * Damaged and hostile conversations in every format: repeated ids, cycles, missing parents, absurd
 * times, deep nesting. Each is read with a remark, or refused with a reason. */
#include "importers/importer_testing.h"

/* $i stands for an id, $p for the id of a parent or null, $t for a time, $x for any JSON. */
typedef struct shape {
	const rt_format *format;
	const char *before, *message, *between, *after;
	bool has_parents;
} shape;

static const shape shapes[] = {
	{&rt_format_chatgpt, "[{\"title\":\"T\",\"mapping\":{",
	 "\"$i\":{\"id\":\"$i\",\"parent\":$p,\"message\":{\"author\":{\"role\":\"user\"},\"create_time\":$t,"
	 "\"content\":{\"content_type\":\"text\",\"parts\":[\"$i\"]},\"metadata\":{\"x\":$x}}}",
	 ",", "}}]", true},
	{&rt_format_claude_ai, "[{\"uuid\":\"c\",\"name\":\"T\",\"chat_messages\":[",
	 "{\"uuid\":\"$i\",\"parent_message_uuid\":$p,\"sender\":\"human\",\"text\":\"$i\","
	 "\"created_at\":$t,\"x\":$x}",
	 ",", "]}]", true},
	{&rt_format_claude_code, "",
	 "{\"type\":\"user\",\"uuid\":\"$i\",\"parentUuid\":$p,\"sessionId\":\"s\",\"timestamp\":$t,"
	 "\"x\":$x,\"message\":{\"role\":\"user\",\"content\":\"$i\"}}",
	 "\n", "", true},
	{&rt_format_open_webui, "[{\"id\":\"c\",\"title\":\"T\",\"chat\":{\"history\":{\"messages\":{",
	 "\"$i\":{\"id\":\"$i\",\"parentId\":$p,\"role\":\"user\",\"content\":\"$i\",\"timestamp\":$t,"
	 "\"x\":$x}",
	 ",", "}}}}]", true},
	{&rt_format_librechat, "{\"conversationId\":\"c\",\"endpoint\":\"openAI\",\"title\":\"T\",\"messages\":[",
	 "{\"messageId\":\"$i\",\"parentMessageId\":$p,\"isCreatedByUser\":true,\"text\":\"$i\","
	 "\"createdAt\":$t,\"x\":$x}",
	 ",", "]}", true},
	{&rt_format_grok, "{\"conversations\":[{\"conversation\":{\"id\":\"g\"},\"responses\":[",
	 "{\"response\":{\"_id\":\"$i\",\"parent_response_id\":$p,\"sender\":\"human\",\"message\":\"$i\","
	 "\"create_time\":$t,\"x\":$x}}",
	 ",", "]}]}", true},
	{&rt_format_codex, "",
	 "{\"timestamp\":$t,\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\","
	 "\"content\":\"$i\",\"x\":$x}}",
	 "\n", "", false},
	{&rt_format_cursor, "", "{\"role\":\"user\",\"message\":{\"content\":\"$i\",\"x\":$x}}", "\n", "", false},
	{&rt_format_gemini_cli, "{\"sessionId\":\"s\",\"projectHash\":\"h\",\"messages\":[",
	 "{\"id\":\"$i\",\"type\":\"user\",\"content\":\"$i\",\"timestamp\":$t,\"x\":$x}", ",", "]}", false},
	{&rt_format_ai_studio, "{\"chunkedPrompt\":{\"chunks\":[",
	 "{\"id\":\"$i\",\"role\":\"user\",\"text\":\"$i\",\"createTime\":$t,\"x\":$x}", ",", "]}}", false},
	{&rt_format_sillytavern, "{\"user_name\":\"U\",\"character_name\":\"C\"}\n",
	 "{\"name\":\"U\",\"is_user\":true,\"mes\":\"$i\",\"send_date\":$t,\"x\":$x}", "\n", "", false},
	{&rt_format_sharegpt, "[{\"id\":\"s\",\"conversations\":[",
	 "{\"from\":\"human\",\"value\":\"$i\",\"x\":$x}", ",", "]}]", false},
	{&rt_format_chatbotui, "{\"version\":4,\"history\":[{\"id\":\"h\",\"name\":\"N\",\"messages\":[",
	 "{\"role\":\"user\",\"content\":\"$i\",\"x\":$x}", ",",
	 "]}],\"folders\":[],\"prompts\":[]}", false},
	{&rt_format_opencode, "{\"info\":{\"id\":\"s\",\"title\":\"T\",\"time\":{}},\"messages\":[",
	 "{\"info\":{\"id\":\"$i\",\"sessionID\":\"s\",\"role\":\"user\",\"time\":{\"created\":$t}},"
	 "\"parts\":[{\"id\":\"p$i\",\"type\":\"text\",\"text\":\"$i\",\"x\":$x}]}",
	 ",", "]}", false},
};

enum { SHAPES = sizeof(shapes) / sizeof(*shapes) };

static void
add_message(rt_buf *out, const shape *s, char id, char parent, const char *time, const char *more)
{
	char quoted[] = {'"', parent, '"', '\0'};

	for (const char *at = s->message; *at != '\0'; at++) {
		if (*at != '$') {
			rt_buf_add_byte(out, *at);
			continue;
		}
		at++;
		if (*at == 'i')
			rt_buf_add_byte(out, id);
		else
			rt_buf_add_c(out, *at == 't'	  ? time
					  : *at == 'x'	  ? more
					  : parent == '-' ? "null"
							  : quoted);
	}
}

/* messages: pairs of an id and its parent ("a-ba": b follows a). */
static void
make(rt_buf *out, const shape *s, const char *messages, const char *time, const char *more)
{
	rt_buf_clear(out);
	rt_buf_add_c(out, s->before);
	for (size_t i = 0; messages[i] != '\0'; i += 2) {
		if (i > 0)
			rt_buf_add_c(out, s->between);
		add_message(out, s, messages[i], messages[i + 1], time, more);
	}
	rt_buf_add_c(out, s->after);
}

static size_t
roots_of(const rt_outline *o)
{
	size_t roots = 0;

	for (size_t i = 0; i < o->node_count; i++)
		roots += o->nodes[i].parent < 0;
	return roots;
}

/* Reads what make has made. True: it has conversations, whose links are sound. */
static bool
read_sound(const shape *s, const rt_buf *text, rt_outlines *out, rt_report *report)
{
	rt_error err = {.text = ""};
	rt_report repairs;
	rt_status st;

	rt_report_init(report, rt_alloc_libc());
	if (detect(rt_buf_str(text)) != s->format)
		fail_msg("not %s: %.300s", s->format->name, text->ptr);
	st = s->format->read(rt_alloc_libc(), rt_buf_str(text), out, report, &err);
	if (st != RT_OK) {
		assert_int_equal(st, RT_USAGE);
		assert_true(strlen(err.text) > 10);
		rt_report_deinit(report);
		return false;
	}
	rt_report_init(&repairs, rt_alloc_libc());
	for (size_t i = 0; i < out->count; i++)
		assert_int_equal(rt_outline_repair(rt_alloc_libc(), &out->items[i], NULL, &repairs),
				 RT_OK);
	assert_int_equal(repairs.repaired, 0);
	rt_report_deinit(&repairs);
	return true;
}

/* With parents: the number of nodes, of roots, and of remarks at least. */
static void
test_links(void **state)
{
	static const struct {
		const char *messages;
		size_t nodes, roots, remarks;
	} rows[] = {
		{"a-baba", 2, 1, 1},	 /* a repeated id */
		{"acbacb", 3, 1, 1},	 /* a cycle */
		{"a-bbca", 3, 2, 1},	 /* its own parent */
		{"a-czdc", 3, 2, 1},	 /* a missing parent */
		{"dccbbaa-", 4, 1, 0},	 /* children first */
	};
	rt_buf text;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (size_t i = 0; i < SHAPES; i++)
		for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
			rt_outlines o;
			rt_report report;

			make(&text, &shapes[i], rows[k].messages, "\"2025-01-01T00:00:00Z\"", "0");
			assert_true(read_sound(&shapes[i], &text, &o, &report));
			assert_int_equal(o.count, 1);
			if (shapes[i].has_parents &&
			    (o.items[0].node_count != rows[k].nodes ||
			     roots_of(&o.items[0]) != rows[k].roots ||
			     report.repaired + report.skipped < rows[k].remarks))
				fail_msg("%s: %s gives %zu nodes, %zu roots, %zu remarks",
					 shapes[i].format->name, rows[k].messages, o.items[0].node_count,
					 roots_of(&o.items[0]), report.repaired + report.skipped);
			assert_true(o.items[0].node_count >= 2);
			import_done(&o, &report);
		}
	rt_buf_deinit(&text);
}

/* Times that are none are left out; the others are within the years that Retake knows. */
static void
test_times(void **state)
{
	static const char *const times[] = {
		"null", "-1", "0", "1e400", "-1e30", "99999999999999999999999999", "\"\"", "true", "{}",
		"\"not a time\"", "\"9999999-01-01T00:00:00Z\"", "\"2025-13-45T99:99:99Z\"",
		"\"0000-00-00T00:00:00Z\"", "\"2025-01-01T00:00:00.123456789123456789Z\""};
	rt_buf text;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (size_t i = 0; i < SHAPES; i++)
		for (size_t k = 0; k < sizeof(times) / sizeof(*times); k++) {
			rt_outlines o;
			rt_report report;

			make(&text, &shapes[i], "a-ba", times[k], "0");
			assert_true(read_sound(&shapes[i], &text, &o, &report));
			for (size_t n = 0; n < o.items[0].node_count; n++)
				if (o.items[0].nodes[n].has_ts)
					assert_in_range(o.items[0].nodes[n].ts.us / 1000000 + 70000000000,
							0, 400000000000);
			import_done(&o, &report);
		}
	rt_buf_deinit(&text);
}

/* A member that is nested: kept, or, if too deep, its record is skipped with a remark. */
static void
test_nesting(void **state)
{
	static const int depths[] = {100, 100000};
	rt_buf text, deep;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&deep, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (size_t d = 0; d < 2; d++) {
		rt_buf_clear(&deep);
		for (int n = 0; n < 2 * depths[d]; n++)
			rt_buf_add_byte(&deep, n < depths[d] ? '[' : ']');
		rt_buf_add_byte(&deep, '\0');
		for (size_t i = 0; i < SHAPES; i++) {
			rt_outlines o;
			rt_report report;

			make(&text, &shapes[i], "a-ba", "null", deep.ptr);
			if (!read_sound(&shapes[i], &text, &o, &report)) {
				assert_int_equal(d, 1);
				continue;
			}
			assert_int_equal(o.count == 0 ? 0 : o.items[0].node_count, d == 0 ? 2 : 0);
			assert_int_equal(report.skipped > 0, d == 1);
			import_done(&o, &report);
		}
	}
	rt_buf_deinit(&text);
	rt_buf_deinit(&deep);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_links), cmocka_unit_test(test_times),
					   cmocka_unit_test(test_nesting)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
