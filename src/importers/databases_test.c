/* SPDX-License-Identifier: MIT
 *
 * Importers of SQLite databases, which are made here. */
#define _GNU_SOURCE
#include <sqlite3.h>
#include <string.h>

#include "importers/importer_testing.h"

/* The file of a database that these statements made. The caller frees it with sqlite3_free. */
static rt_str
make_database(const char *sql)
{
	sqlite3 *db;
	sqlite3_int64 size;
	unsigned char *bytes;

	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA page_size = 512", NULL, NULL, NULL), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(db));
	bytes = sqlite3_serialize(db, "main", &size, 0);
	assert_non_null(bytes);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	return rt_str_at((const char *)bytes, (size_t)size);
}

static void
free_database(rt_str bytes)
{
	sqlite3_free((void *)(uintptr_t)bytes.ptr);
}

static void
import_database(const rt_format *format, const char *sql, rt_outlines *out, rt_report *report)
{
	rt_str bytes = make_database(sql);

	import_bytes(format, bytes, out, report);
	free_database(bytes); /* outlines own what they show */
}

/* The reader fails with this text. */
static void
assert_refused(const rt_format *format, rt_str bytes, rt_status wanted, const char *text)
{
	rt_outlines o;
	rt_report report;
	rt_error err = {.text = ""};

	rt_report_init(&report, rt_alloc_libc());
	assert_int_equal(format->read(rt_alloc_libc(), bytes, &o, &report, &err), wanted);
	if (strstr(err.text, text) == NULL)
		fail_msg("\"%s\" instead of \"%s\"", err.text, text);
	rt_report_deinit(&report);
}

#define LLM_OLD \
	"CREATE TABLE conversations(id TEXT PRIMARY KEY, name TEXT, model TEXT);" \
	"CREATE TABLE responses(id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, response TEXT," \
	" conversation_id TEXT, datetime_utc TEXT, input_tokens INTEGER, output_tokens INTEGER," \
	" reasoning TEXT);"

static void
test_llm(void **state)
{
	static const char sql[] = LLM_OLD
		"CREATE TABLE attachments(id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);"
		"CREATE TABLE prompt_attachments(response_id TEXT, attachment_id TEXT, \"order\" INTEGER);"
		"CREATE TABLE fragments(id INTEGER PRIMARY KEY, content TEXT);"
		"CREATE TABLE prompt_fragments(response_id TEXT, fragment_id INTEGER, \"order\" INTEGER);"
		"CREATE TABLE tool_calls(id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, arguments TEXT,"
		" tool_call_id TEXT);"
		"CREATE TABLE tool_results(id INTEGER PRIMARY KEY, response_id TEXT, output TEXT,"
		" tool_call_id TEXT, exception TEXT);"
		"CREATE TABLE schemas(id TEXT PRIMARY KEY, content TEXT);"
		"CREATE TABLE tools(id INTEGER PRIMARY KEY, name TEXT);"
		"CREATE TABLE tool_responses(tool_id INTEGER, response_id TEXT);"
		"ALTER TABLE responses ADD COLUMN schema_id TEXT;"
		"INSERT INTO schemas VALUES('h', '{\"type\":\"object\"}');"
		"INSERT INTO tools VALUES(7, 'add'); INSERT INTO tool_responses VALUES(7, '1');"
		"INSERT INTO conversations VALUES('c', 'Birds', 'm');"
		"INSERT INTO responses VALUES('2', 'm', '', NULL, 'It is 4.', 'c',"
		" '2025-02-16T22:34:31+00:00', 1, 2, NULL, 'h');"
		"INSERT INTO responses VALUES('1', 'm', 'q', 'Be brief', '', 'c',"
		" '2025-02-16T22:34:30+00:00', NULL, NULL, 'hm', NULL);"
		"INSERT INTO responses VALUES(CAST(x'34ff' AS TEXT), 'm', CAST(x'61ff' AS TEXT), NULL, 'r', NULL,"
		" '', NULL, NULL, NULL, NULL);"
		"INSERT INTO responses VALUES('3', 'm', 'alone', NULL, 'r', NULL, 'no time', NULL, NULL, NULL,"
		" NULL);"
		"INSERT INTO attachments VALUES('a', 'image/png', NULL, NULL, x'000102');"
		"INSERT INTO prompt_attachments VALUES('1', 'a', 0);"
		"INSERT INTO fragments VALUES(5, 'long'), (6, 'first');"
		"INSERT INTO prompt_fragments VALUES('1', 5, 1), ('1', 6, 0);"
		"INSERT INTO tool_calls VALUES(1, '1', 'add', '{\"x\":2}', 'k');"
		"INSERT INTO tool_results VALUES(1, '2', '4', 'k', NULL);";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_database(&rt_format_llm, sql, &o, &report);
	assert_int_equal(o.count, 3);
	assert_true(rt_str_is(o.items[2].source, "llm:4") && rt_str_is(o.items[2].name, "a"));
	assert_true(rt_str_is(o.items[0].source, "llm:c") && rt_str_is(o.items[0].name, "Birds"));
	assert_nodes(&o.items[0],
		     "-1 user [{\"type\":\"text\",\"text\":\"first\"},{\"type\":\"text\",\"text\":\"long\"},"
		     "{\"type\":\"text\",\"text\":\"q\"},{\"type\":\"image\",\"mimeType\":\"image/png\","
		     "\"id\":\"a\",\"data\":\"AAEC\"}] | "
		     "0 assistant [{\"type\":\"thinking\",\"thinking\":\"hm\"},{\"type\":\"toolCall\","
		     "\"id\":\"k\",\"name\":\"add\",\"arguments\":{\"x\":2}}] | "
		     "1 tool [{\"type\":\"tool_result\",\"tool_use_id\":\"k\",\"content\":\"4\"}] | "
		     "2 assistant It is 4.");
	assert_true(o.items[0].nodes[0].has_ts);
	assert_field(&o.items[0], 3, "usage", "{\"input_tokens\":1,\"output_tokens\":2}");
	assert_field(&o.items[0], 3, "model", "\"m\"");
	assert_field(&o.items[0], 2, "llm", "{\"system\":null,\"conversation_id\":\"c\",\"datetime_utc\":"
		     "\"2025-02-16T22:34:31+00:00\",\"tool_results\":[{\"id\":1,\"response_id\":\"2\","
		     "\"output\":\"4\",\"tool_call_id\":\"k\",\"exception\":null}]}");
	assert_field(&o.items[0], 3, "llm", "{\"id\":\"2\",\"model\":\"m\",\"conversation_id\":\"c\","
		     "\"datetime_utc\":\"2025-02-16T22:34:31+00:00\",\"input_tokens\":1,"
		     "\"output_tokens\":2,\"schema_id\":\"h\",\"schema\":[{\"id\":\"h\",\"content\":"
		     "{\"type\":\"object\"}}]}");
	assert_nodes(&o.items[1], "-1 user alone | 0 assistant r");
	assert_int_equal(report.skipped, 0);
	import_done(&o, &report);
}

#define LLM_NEW LLM_OLD \
	"CREATE TABLE messages(hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT);" \
	"CREATE TABLE parts(id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT," \
	" tool_name TEXT, text TEXT, payload TEXT);" \
	"CREATE TABLE threads(id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT);"

/* Two threads share a message; one is a cycle. */
static void
test_llm_threads(void **state)
{
	static const char sql[] = LLM_NEW
		"CREATE TABLE turns(id TEXT, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT,"
		" model TEXT, datetime_utc TEXT);"
		"INSERT INTO messages VALUES('u', NULL, 'user'), ('a', 'u', 'assistant'), ('b', 'u',"
		" 'assistant'), ('x', 'y', 'user'), ('y', 'x', 'user');"
		"INSERT INTO parts VALUES(1, 'u', 0, 'text', NULL, 'q', NULL), (3, 'a', 1, 'text', NULL, 'one',"
		" NULL), (2, 'a', 0, 'reasoning', NULL, 'hm', NULL),"
		" (4, 'b', 0, 'tool_call', 'sh', NULL, '{\"id\":\"k\",\"arguments\":{\"c\":1}}'),"
		" (5, 'b', 1, 'tool_result', 'sh', 'out', '{\"tool_call_id\":\"k\"}');"
		"INSERT INTO threads VALUES('1', 'One', 'a', NULL), ('2', 'Two', 'b', '1'), ('3', NULL, 'x',"
		" NULL), ('4', 'gone', 'zz', NULL);"
		"INSERT INTO turns VALUES('t', '1', 'u', 'a', 'm', '2026-08-05T00:00:00+00:00');";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_database(&rt_format_llm, sql, &o, &report);
	assert_int_equal(o.count, 3);
	assert_int_equal(report.empty, 1);
	assert_nodes(&o.items[0], "-1 user q | 0 assistant [{\"type\":\"thinking\",\"thinking\":\"hm\"},"
				  "{\"type\":\"text\",\"text\":\"one\"}]");
	assert_true(o.items[0].nodes[0].has_ts && o.items[0].nodes[1].has_ts);
	assert_field(&o.items[0], 1, "model", "\"m\"");
	assert_nodes(&o.items[1], "-1 user q | 0 assistant [{\"type\":\"toolCall\",\"id\":\"k\",\"name\":"
				  "\"sh\",\"arguments\":{\"c\":1}},{\"type\":\"tool_result\","
				  "\"tool_use_id\":\"k\",\"content\":\"out\"}]");
	assert_disc_field(&o.items[1], "llm.forked_from", "\"1\"");
	assert_int_equal(o.items[2].node_count, 2);
	import_done(&o, &report);
}

static void
test_cursor_database(void **state)
{
	static const char sql[] =
		"CREATE TABLE ItemTable(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);"
		"CREATE TABLE cursorDiskKV(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);"
		"INSERT INTO cursorDiskKV VALUES('composerData:c', '{\"name\":\"Fix\",\"createdAt\":1705363200000,"
		"\"fullConversationHeadersOnly\":[{\"bubbleId\":\"1\"},{\"bubbleId\":\"inside\"},"
		"{\"bubbleId\":\"null\"},{\"bubbleId\":\"gone\"}]}'),"
		"('composerData:old', '{\"conversation\":[{\"type\":1,\"text\":\"o\",\"bubbleId\":\"x\"}]}'),"
		"('composerData:none', NULL), ('bubbleId:c:null', NULL),"
		"('bubbleId:c:1', '{\"type\":1,\"bubbleId\":\"1\",\"text\":\"q\",\"createdAt\":"
		"\"2024-01-16T00:00:01Z\"}'),"
		"('bubbleId:c:2', '{\"type\":2,\"bubbleId\":\"inside\",\"thinking\":{\"text\":\"hm\"},"
		"\"toolFormerData\":{\"name\":\"read\",\"toolCallId\":\"k\",\"params\":\"{\\\"p\\\":1}\","
		"\"result\":\"r\",\"status\":\"error\"}}');"
		"INSERT INTO ItemTable VALUES('workbench.panel.aichat.view.aichat.chatdata',"
		" CAST('{\"tabs\":[{\"tabId\":\"t\",\"chatTitle\":\"Tab\",\"bubbles\":[{\"type\":\"user\","
		"\"text\":\"u\"},{\"type\":\"ai\",\"rawText\":\"a\"}]}]}' AS BLOB));";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_database(&rt_format_cursor, sql, &o, &report);
	assert_int_equal(o.count, 3);
	assert_true(rt_str_is(o.items[0].source, "cursor:c") && rt_str_is(o.items[0].name, "Fix"));
	assert_nodes(&o.items[0],
		     "-1 user q | 0 assistant [{\"type\":\"thinking\",\"thinking\":\"hm\"},"
		     "{\"type\":\"toolCall\",\"id\":\"k\",\"name\":\"read\",\"arguments\":{\"p\":1}},"
		     "{\"type\":\"tool_result\",\"tool_use_id\":\"k\",\"content\":\"r\",\"is_error\":true}]");
	assert_true(o.items[0].nodes[0].has_ts);
	assert_nodes(&o.items[1], "-1 user o");
	assert_nodes(&o.items[2], "-1 user u | 0 assistant a");
	assert_int_equal(report.skipped, 1); /* gone */
	import_done(&o, &report);
}

static void
test_open_webui_database(void **state)
{
	static const char sql[] =
		"CREATE TABLE user(id TEXT);"
		"CREATE TABLE chat(id TEXT PRIMARY KEY, user_id TEXT, title TEXT, chat JSON, created_at BIGINT,"
		" updated_at BIGINT, meta JSON);"
		"INSERT INTO chat VALUES('2', 'u', 'Later', '{\"history\":{\"currentId\":\"b\",\"messages\":{"
		"\"a\":{\"id\":\"a\",\"role\":\"user\",\"content\":\"q\",\"childrenIds\":[\"b\",\"c\"]},"
		"\"b\":{\"id\":\"b\",\"parentId\":\"a\",\"role\":\"assistant\",\"content\":\"one\"},"
		"\"c\":{\"id\":\"c\",\"parentId\":\"a\",\"role\":\"assistant\",\"content\":\"two\"}}}}', 20, 21,"
		" '{\"tags\":[\"t\"]}'),"
		"('1', 'u', 'Earlier', '{\"history\":{\"messages\":{\"d\":{\"id\":\"d\",\"role\":\"user\",\"content\":\"e\"}}}}', 10, 11, '{broken'),"
		"('3', 'u', 'Bad', 'no json', 30, 31, NULL);";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_database(&rt_format_open_webui, sql, &o, &report);
	assert_int_equal(o.count, 2);
	assert_true(rt_str_is(o.items[0].name, "Earlier"));
	assert_disc_field(&o.items[0], "open-webui.meta", "\"{broken\"");
	assert_nodes(&o.items[1], "-1 user q | 0 assistant one | 0 assistant two");
	assert_int_equal(o.items[1].head, 1);
	assert_true(rt_str_is(o.items[1].source, "open-webui:2"));
	assert_disc_field(&o.items[1], "open-webui.meta", "{\"tags\":[\"t\"]}");
	assert_int_equal(report.skipped, 1);
	import_done(&o, &report);
}

static void
test_opencode_database(void **state)
{
	static const char sql[] =
		"CREATE TABLE session(id TEXT PRIMARY KEY, project_id TEXT, title TEXT, revert TEXT,"
		" time_created INTEGER, time_updated INTEGER);"
		"CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);"
		"CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);"
		"INSERT INTO session VALUES('s', 'p', 'Fix', '{\"messageID\":\"m3\"}', 1, 1764000000000);"
		"INSERT INTO message VALUES('m2', 's', 2, '{\"role\":\"assistant\",\"modelID\":\"m\"}'),"
		"('m1', 's', 1, '{\"role\":\"user\",\"time\":{\"created\":1764000000000}}'),"
		"('m3', 's', 3, '{\"role\":\"user\"}');"
		"INSERT INTO part VALUES('p2', 'm2', 's', '{\"type\":\"text\",\"text\":\"b\"}'),"
		"('p1', 'm2', 's', '{\"type\":\"reasoning\",\"text\":\"hm\"}'),"
		"('p0', 'm1', 's', '{\"type\":\"text\",\"text\":\"q\"}'),"
		"('p3', 'm3', 's', '{\"type\":\"text\",\"text\":\"x\"}');";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_database(&rt_format_opencode, sql, &o, &report);
	assert_int_equal(o.count, 1);
	assert_true(rt_str_is(o.items[0].source, "opencode:s"));
	assert_nodes(&o.items[0], "-1 user q | 0 assistant [{\"type\":\"thinking\",\"thinking\":\"hm\"},"
				  "{\"type\":\"text\",\"text\":\"b\"}] | 1 user x");
	assert_int_equal(o.items[0].head, 1); /* before m3 */
	assert_true(o.items[0].nodes[0].has_ts);
	assert_field(&o.items[0], 1, "model", "\"m\"");
	import_done(&o, &report);
}

/* Views and virtual tables are not read, whatever their names; a database of another program is not
 * taken for anything. */
static void
test_schema(void **state)
{
	static const char view[] =
		LLM_OLD "ALTER TABLE conversations RENAME TO c; CREATE VIEW conversations AS SELECT 'a' AS "
			"id, 'n' AS name FROM c;";
	static const char other[] = "CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT);";
	rt_str bytes = make_database(view);

	(void)state;
	assert_null(detect(bytes));
	assert_refused(&rt_format_llm, bytes, RT_USAGE, "no llm conversation");
	free_database(bytes);
	bytes = make_database(other);
	assert_null(detect(bytes));
	assert_refused(&rt_format_cursor, bytes, RT_USAGE, "no Cursor conversation");
	assert_refused(&rt_format_open_webui, bytes, RT_USAGE, "the file contains no Open WebUI chat");
	free_database(bytes);
}

/* The report names the missing part of a database that is truncated, or has a damaged page. */
static void
test_lost(void **state)
{
	enum { PAGE = 512 };
	char sql[12000], word[60];
	rt_str bytes;
	rt_outlines o;
	rt_report report;
	rt_error err;
	char *copy;
	size_t nodes, page;

	(void)state;
	snprintf(sql, sizeof(sql), "%s",
		 LLM_OLD "INSERT INTO conversations VALUES('c', 'Birds', 'm'); WITH RECURSIVE n(i) AS (SELECT 1 UNION "
			 "ALL SELECT i + 1 FROM n WHERE i < 400) INSERT INTO responses(id, model, prompt, response, "
			 "conversation_id, datetime_utc) SELECT printf('%04d', i), 'm', printf('q%d', i), "
			 "printf('r%.200c', '.'), 'c', '2026' FROM n;");
	bytes = make_database(sql);
	copy = malloc(bytes.size);
	assert_non_null(copy);
	memcpy(copy, bytes.ptr, bytes.size);
	memcpy(copy + 92, copy + 24, 4); /* the header is valid */
	for (int i = 0; i < 4; i++)
		copy[28 + i] = (char)(bytes.size / PAGE >> (24 - 8 * i));
	rt_report_init(&report, rt_alloc_libc());
	assert_int_equal(rt_format_llm.read(rt_alloc_libc(), bytes, &o, &report, NULL), RT_OK);
	nodes = o.items[0].node_count;
	assert_int_equal(report.skipped, 0);
	import_done(&o, &report);
	/* cut in the middle */
	rt_report_init(&report, rt_alloc_libc());
	if (rt_format_llm.read(rt_alloc_libc(), rt_str_at(copy, bytes.size / 2), &o, &report, NULL) == RT_OK) {
		assert_true(report.skipped > 0);
		rt_outlines_deinit(&o);
	}
	snprintf(word, sizeof(word), "truncated at byte %zu of %zu", bytes.size / 2, bytes.size);
	assert_true(report.remark_count > 0 && strstr(report.remarks[0].text, word) != NULL);
	rt_report_deinit(&report);
	/* a page in the middle */
	for (page = bytes.size / 2 / PAGE * PAGE; memmem(copy + page, PAGE, "....", 4) == NULL; page += PAGE)
		;
	memset(copy + page, 0xEE, PAGE);
	rt_report_init(&report, rt_alloc_libc());
	if (rt_format_llm.read(rt_alloc_libc(), rt_str_at(copy, bytes.size), &o, &report, &err) != RT_OK)
		fail_msg("%s", err.text);
	assert_true(o.items[0].node_count > nodes * 3 / 4); /* later rows are there */
	assert_true(o.items[0].node_count < nodes);
	assert_true(report.remark_count > 0);
	assert_non_null(strstr(report.remarks[0].text, "\"responses\" is damaged: some rows between "));
	import_done(&o, &report);
	free(copy);
	free_database(bytes);
}

/* A cell that begins in the last byte of its page: nothing after the page is read as its content, so all rows of
 * the page are lost, in the first reading and in later ones. */
static void
test_beyond_page(void **state)
{
	enum { PAGE = 512 };
	rt_str bytes = make_database(
		LLM_OLD "INSERT INTO conversations VALUES('c', 'Birds', 'm');"
			"INSERT INTO responses(id, model, prompt, response, conversation_id, datetime_utc) VALUES"
			"('1', 'm', 'q', 'r', 'c', '2026'), ('2', 'm', 'q', 'r', 'c', '2026'),"
			"('3', 'm', 'q', 'r', NULL, '2026');");
	char *copy = malloc(bytes.size), *page;
	rt_outlines o;
	rt_report report;

	(void)state;
	assert_non_null(copy);
	memcpy(copy, bytes.ptr, bytes.size);
	page = copy + rt_str_find(bytes, RT_STR("2026"), 0) / PAGE * PAGE;
	assert_memory_equal(page, "\x0d\0\0\0\3", 5); /* a leaf with three cells */
	memcpy(page + 12, "\x01\xff", 2);
	rt_report_init(&report, rt_alloc_libc());
	assert_int_equal(rt_format_llm.read(rt_alloc_libc(), rt_str_at(copy, bytes.size), &o, &report, NULL),
			 RT_OK);
	assert_int_equal(o.count, 0);
	assert_int_equal(report.empty, 1);
	assert_non_null(strstr(report.remarks[0].text, "\"responses\" is damaged: all rows are lost"));
	import_done(&o, &report);
	free(copy);
	free_database(bytes);
}

/* Every prefix, and a byte changed at every place, is read or refused; nothing is written. */
static void
test_damage(void **state)
{
	rt_str bytes = make_database(
		LLM_NEW "INSERT INTO conversations VALUES('c', 'Birds', 'm');"
			"INSERT INTO responses VALUES('1', 'm', 'q', NULL, 'r', 'c', '', 1, 2, NULL);"
			"INSERT INTO messages VALUES('u', NULL, 'user');"
			"INSERT INTO threads VALUES('t', 'T', 'u', NULL);");
	char *copy = malloc(bytes.size);
	size_t read = 0;

	(void)state;
	assert_non_null(copy);
	for (size_t at = 0; at < 2 * bytes.size; at += at < 200 ? 1 : 13) {
		rt_str damaged = rt_str_at(copy, at < bytes.size ? bytes.size : at - bytes.size);

		memcpy(copy, bytes.ptr, bytes.size);
		if (at < bytes.size)
			copy[at] = (char)(copy[at] ^ 0x41);
		read += read_damaged(&rt_format_llm, damaged);
	}
	assert_true(read > 100);
	free(copy);
	free_database(bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_llm),
		cmocka_unit_test(test_llm_threads),
		cmocka_unit_test(test_cursor_database),
		cmocka_unit_test(test_open_webui_database),
		cmocka_unit_test(test_opencode_database),
		cmocka_unit_test(test_schema),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_beyond_page),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
