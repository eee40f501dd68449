/* SPDX-License-Identifier: MIT
 *
 * Discussions as trees: the rows of Retake's own entries, and that an updated tree equals one built
 * from scratch. */
#include "base/failing_testing.h"
#include "tree/tree_reader.h"

#include "log/requests_testing.h"
#include "formats/formats.h"
#include "ops/import.h"
#include "store/store_memory.h"

enum { REQUESTS = 400, ROWS = 400 };

typedef struct fixture {
	rt_store *store;
	rt_engine *engine;
	rt_tree_reader reader;
	rt_tree *tree;
	rt_buf text;
} fixture;

static int
set_up(void **state)
{
	fixture *f = test_calloc(1, sizeof(*f));
	rt_engine_options options = {.env = &env, .create = true};

	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &f->store, NULL), RT_OK);
	assert_int_equal(rt_engine_open(&options, f->store, &f->engine, NULL), RT_OK);
	rt_tree_reader_init(&f->reader, rt_alloc_libc(), f->engine, RT_STR("/home/me"));
	assert_int_equal(rt_tree_new(rt_alloc_libc(), &f->reader.source, NULL, &f->tree), RT_OK);
	rt_buf_init(&f->text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture *f = *state;

	rt_buf_deinit(&f->text);
	rt_tree_free(f->tree);
	rt_tree_reader_deinit(&f->reader);
	rt_engine_close(f->engine);
	f->store->ops->close(f->store);
	test_free(f);
	return 0;
}

static bool
try_it(fixture *f, const char *json)
{
	rt_result result;
	rt_status st = rt_engine_apply_text(f->engine, rt_str_of(json), RT_STR(""), RT_STR(""),
					    &result);

	rt_result_deinit(&result);
	return st == RT_OK;
}

static void
do_it(fixture *f, const char *json)
{
	if (!try_it(f, json))
		fail_msg("refused: %s", json);
}

static void
read_tree(fixture *f, rt_tree *tree)
{
	const rt_project *value = rt_engine_value(f->engine);
	bool done = false;

	assert_int_equal(rt_tree_reader_read(&f->reader, value, 0, tree, NULL), RT_OK);
	assert_int_equal(rt_tree_learn(tree, SIZE_MAX, &done, NULL), RT_OK);
	assert_true(done);
	rt_tree_check(tree);
	rt_object_unref(value);
}

static void
draw(rt_tree *tree, rt_buf *out)
{
	const rt_tree_line *lines;
	size_t first, count, i;
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	rt_tree_window(tree, ROWS, &first, &count);
	lines = rt_tree_draw(tree, &s, first, count, 100);
	assert_non_null(lines);
	rt_buf_clear(out);
	for (i = 0; i < (count > 0 ? count : 1); i++) {
		rt_buf_add_str(out, lines[i].text);
		rt_buf_add_byte(out, '\n');
	}
	rt_scope_deinit(&s);
}

static void
shows(fixture *f, const char *wanted)
{
	read_tree(f, f->tree);
	draw(f->tree, &f->text);
	assert_string_equal(f->text.ptr, wanted);
}

/* Hidden messages of programs are not shown, except by the filter "all". */
static void
test_hidden_entries(void **state)
{
	fixture *f = *state;

	do_it(f, "{\"op\":\"entry.append\",\"id\":\"a\",\"role\":\"User\",\"content\":\"one\"}");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"b\",\"role\":\"Hook\",\"kind\":"
		 "\"custom_message\",\"content\":\"shown\"}");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"c\",\"role\":\"Hook\",\"kind\":"
		 "\"custom_message\",\"content\":\"not shown\",\"display\":false}");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"d\",\"kind\":\"custom\",\"content\":\"state\"}");
	shows(f, "  • User: one\n"
		 "› • [Hook]: shown  ← active\n");
	assert_int_equal(rt_tree_target(f->tree, 1), 4);
	rt_tree_set_filter(f->tree, RT_TREE_ALL);
	assert_int_equal(rt_tree_row_count(f->tree), 4);
	rt_tree_set_filter(f->tree, RT_TREE_DEFAULT);
}

static void
test_own_entries(void **state)
{
	fixture *f = *state;

	shows(f, "  No entries found\n");
	do_it(f,
	      "{\"op\":\"entry.append\",\"id\":\"a\",\"role\":\"User\",\"content\":\" two\\nlines \"}");
	do_it(f,
	      "{\"op\":\"entry.append\",\"id\":\"b\",\"role\":\"AI\",\"content\":\"reply \\u001b[31m\"}");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"c\",\"role\":\"User\",\"content\":\"left\"}");
	do_it(f, "{\"op\":\"take.branch\",\"at\":\"b\",\"name\":\"other\"}");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"d\",\"role\":\"User\",\"content\":\"right\"}");
	do_it(f,
	      "{\"op\":\"entry.append\",\"id\":\"e\",\"role\":\"assistant\",\"content\":[{\"type\":"
	      "\"toolCall\",\"id\":\"1\",\"name\":\"read\",\"arguments\":{}}]}");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"f\",\"role\":\"tool\",\"content\":\"found\"}");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"g\",\"kind\":\"branch_summary\",\"content\":"
		 "\"we tried\"}");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"h\",\"role\":\"AI\",\"content\":\"\"}");
	do_it(f, "{\"op\":\"label.set\",\"entry\":\"b\",\"label\":\"here\"}");
	do_it(f, "{\"op\":\"entry.mute\",\"entry\":\"f\",\"muted\":true}");
	shows(f, "  • User: two lines\n"
		 "  • [here] AI: reply ^[[31m\n"
		 "  ├─ User: left  {main}\n"
		 "  └⊟ • User: right\n"
		 "        • AI: (calls read)\n"
		 "        • tool: found  (muted)\n"
		 "        • [branch summary]: we tried\n"
		 "›       • AI: (no content)  {other}  ← active\n");
	/* the mark follows the text, and searches find it */
	assert_int_equal(rt_tree_search(f->tree, RT_STR("is:edited"), NULL), RT_OK);
	assert_int_equal(rt_tree_row_count(f->tree), 0);
	do_it(f, "{\"op\":\"entry.edit\",\"entry\":\"d\",\"content\":\"Right\"}");
	shows(f, "› • User: Right  (edited)\n");
	do_it(f, "{\"op\":\"undo\"}");
	read_tree(f, f->tree);
	assert_int_equal(rt_tree_row_count(f->tree), 0);
	assert_int_equal(rt_tree_search(f->tree, RT_STR(""), NULL), RT_OK);
	/* only calls of tools: hidden, except at the head */
	do_it(f, "{\"op\":\"head.move\",\"entry\":\"e\"}");
	rt_tree_select(f->tree, rt_tree_find(f->tree, 1));
	shows(f, "› • User: two lines\n"
		 "  • [here] AI: reply ^[[31m\n"
		 "  ├─ User: left  {main}\n"
		 "  └⊟ • User: right\n"
		 "        • AI: (calls read)  ← active\n"
		 "        tool: found  (muted)\n"
		 "        [branch summary]: we tried\n"
		 "        AI: (no content)  {other}\n");
	assert_int_equal(rt_tree_search(f->tree, RT_STR("role:ai reply"), NULL), RT_OK);
	shows(f, "› • [here] AI: reply ^[[31m\n");
	/* an edit is found by its new text */
	do_it(f, "{\"op\":\"entry.edit\",\"entry\":\"b\",\"content\":\"another\"}");
	read_tree(f, f->tree);
	assert_int_equal(rt_tree_row_count(f->tree), 0);
	assert_int_equal(rt_tree_search(f->tree, RT_STR("another"), NULL), RT_OK);
	assert_int_equal(rt_tree_row_count(f->tree), 1);
	assert_int_equal(rt_tree_reader_read(&f->reader, f->reader.project, 99, f->tree, NULL),
			 RT_NOT_FOUND);
	assert_int_equal(rt_tree_row_count(f->tree), 1);
}

/* A purged text is shown as purged. */
static void
test_purged(void **state)
{
	fixture *f = *state;

	do_it(f, "{\"op\":\"entry.append\",\"id\":\"a\",\"role\":\"User\",\"content\":\"secret\"}");
	do_it(f, "{\"op\":\"purge\",\"entry\":\"a\",\"confirm\":true}");
	shows(f, "› • User: (purged)  {main}  ← active\n");
}

/* A session of pi: its header, and entries that each follow the one before. */
typedef struct session {
	rt_buf text;
	unsigned count;
} session;

static void
session_init(session *s)
{
	rt_buf_init(&s->text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	s->count = 0;
	rt_buf_add_c(&s->text, "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":"
			       "\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/\"}\n");
}

/* members: after the comma. */
static void
session_add(session *s, const char *type, const char *members)
{
	rt_buf_add_f(&s->text, "{\"type\":\"%s\",\"id\":\"e%u\",\"parentId\":", type, s->count);
	if (s->count == 0)
		rt_buf_add_c(&s->text, "null");
	else
		rt_buf_add_f(&s->text, "\"e%u\"", s->count - 1);
	rt_buf_add_f(&s->text, ",\"timestamp\":\"2026-01-01T00:00:00.000Z\",%s}\n", members);
	s->count++;
}

static void
session_say(session *s, const char *members)
{
	char message[700];

	snprintf(message, sizeof(message), "\"message\":{%s}", members);
	session_add(s, "message", message);
}

/* A call of a tool in a reply without text, and its result. */
static void
session_call(session *s, const char *name, const char *arguments)
{
	char members[600];

	snprintf(members, sizeof(members),
		 "\"role\":\"assistant\",\"stopReason\":\"toolUse\",\"content\":[{\"type\":"
		 "\"toolCall\",\"id\":\"c%u\",\"name\":\"%s\",\"arguments\":%s}]",
		 s->count, name, arguments);
	session_say(s, members);
	snprintf(
		members, sizeof(members),
		"\"role\":\"toolResult\",\"toolCallId\":\"c%u\",\"toolName\":\"%s\",\"content\":[]",
		s->count - 1, name);
	session_say(s, members);
}

static void
session_import(fixture *f, session *s)
{
	rt_import_result result;
	rt_outlines outlines;

	assert_int_equal(s->text.status, RT_OK);
	assert_int_equal(
		rt_format_pi.read(rt_alloc_libc(), rt_buf_str(&s->text), &outlines, NULL, NULL),
		RT_OK);
	assert_int_equal(rt_engine_import(f->engine, &outlines, RT_STR("pi"), false, &result, NULL),
			 RT_OK);
	rt_outlines_deinit(&outlines);
	rt_buf_deinit(&s->text);
}

typedef struct times {
	uint32_t entries[8];
	int64_t at_us[8];
	size_t count;
} times;

static void
keep_time(void *ctx, uint32_t entry, int64_t at_us)
{
	times *t = ctx;

	t->entries[t->count] = entry;
	t->at_us[t->count++] = at_us;
}

static void
times_of_imported_labels(void **state)
{
	fixture *f = *state;
	times t = {.count = 0};
	session s;

	session_init(&s);
	session_say(&s, "\"role\":\"user\",\"content\":\"a\"");
	session_say(&s, "\"role\":\"user\",\"content\":\"b\"");
	session_add(&s, "label", "\"targetId\":\"e0\",\"label\":\"was\"");
	session_add(&s, "label", "\"targetId\":\"e0\",\"label\":\"is\"");
	session_add(&s, "label", "\"targetId\":\"e1\",\"label\":\"gone\"");
	session_add(&s, "label", "\"targetId\":\"e1\"");
	session_add(&s, "label", "\"targetId\":\"nobody\",\"label\":\"is\"");
	session_import(f, &s);
	read_tree(f, f->tree);
	assert_int_equal(rt_tree_reader_label_times(&f->reader, f->tree, keep_time, &t), RT_OK);
	assert_int_equal(t.count, 1);
	assert_int_equal(t.entries[0], rt_tree_node_at(f->tree, 0)->entry);
	assert_int_equal(t.at_us[0] / 1000000, 1767225600);
}

static void
test_pi_messages(void **state)
{
	fixture *f = *state;
	session s;

	session_init(&s);
	session_say(&s, "\"role\":\"user\",\"content\":\" a\\tb\\u2028 \"");
	session_say(&s, "\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"one \"},"
			"{\"type\":\"thinking\",\"thinking\":\"no\"},{\"type\":\"text\",\"text\":"
			"\"two\"}]");
	session_say(&s, "\"role\":\"assistant\",\"content\":[],\"stopReason\":\"stop\"");
	session_say(&s, "\"role\":\"assistant\",\"content\":[],\"stopReason\":\"aborted\"");
	session_say(&s, "\"role\":\"assistant\",\"content\":[],\"stopReason\":\"error\","
			"\"errorMessage\":\"it\\nfailed\"");
	session_say(&s, "\"role\":\"assistant\",\"content\":[],\"stopReason\":\"length\"");
	session_say(&s, "\"role\":\"bashExecution\",\"command\":\"ls\\n-l\",\"output\":\"x\"");
	session_say(&s, "\"role\":\"system\",\"content\":\"be kind\"");
	session_import(f, &s);
	shows(f, "  • User: a b\n"
		 "  • AI: one two\n"
		 "  • AI: (no content)\n"
		 "  • AI: (aborted)\n"
		 "  • AI: it failed\n"
		 "  • AI: (no content)\n"
		 "  • [bash]: ls -l\n"
		 "› • [System]  {pi}  ← active\n");
	assert_int_equal(rt_tree_search(f->tree, RT_STR("bashexecution ls"), NULL), RT_OK);
	assert_int_equal(rt_tree_row_count(f->tree), 1);
}

static void
test_pi_tools(void **state)
{
	fixture *f = *state;
	session s;

	session_init(&s);
	session_call(&s, "read", "{\"path\":\"/home/me/x\",\"offset\":3,\"limit\":10}");
	session_call(&s, "read", "{\"file_path\":\"y\",\"limit\":5}");
	session_call(&s, "read", "{\"path\":\"z\",\"offset\":7}");
	session_call(&s, "write", "{\"path\":\"w\"}");
	session_call(&s, "edit", "{}");
	session_call(&s, "bash",
		     "{\"command\":\"echo 1234567890123456789012345678901234567890 cut here\"}");
	session_call(&s, "grep", "{\"pattern\":\"a.b\"}");
	session_call(&s, "find", "{\"pattern\":\"*.c\",\"path\":\"src\"}");
	session_call(&s, "ls", "{}");
	session_call(&s, "mine", "{\"a\":[1,2.50],\"text\":\"so long that it does not fit\"}");
	session_say(&s, "\"role\":\"toolResult\",\"toolCallId\":\"none\",\"toolName\":\"other\"");
	session_import(f, &s);
	shows(f, "  • AI: (calls read)\n"
		 "  • [read: ~/x:3-12]\n"
		 "  • AI: (calls read)\n"
		 "  • [read: y:1-5]\n"
		 "  • AI: (calls read)\n"
		 "  • [read: z:7]\n"
		 "  • AI: (calls write)\n"
		 "  • [write: w]\n"
		 "  • AI: (calls edit)\n"
		 "  • [edit: ]\n"
		 "  • AI: (calls bash)\n"
		 "  • [bash: echo 1234567890123456789012345678901234567890 cut ...]\n"
		 "  • AI: (calls grep)\n"
		 "  • [grep: /a.b/ in .]\n"
		 "  • AI: (calls find)\n"
		 "  • [find: *.c in src]\n"
		 "  • AI: (calls ls)\n"
		 "  • [ls: .]\n"
		 "  • AI: (calls mine)\n"
		 "  • [mine: {\"a\":[1,2.50],\"text\":\"so long that it do...]\n"
		 "› • [other]  {pi}  ← active\n");
	rt_tree_set_filter(f->tree, RT_TREE_NO_TOOLS);
	assert_int_equal(rt_tree_row_count(f->tree), 0);
}

static void
test_pi_settings(void **state)
{
	fixture *f = *state;
	session s;

	session_init(&s);
	session_add(&s, "model_change", "\"provider\":\"p\",\"modelId\":\"m\"");
	session_add(&s, "thinking_level_change", "\"thinkingLevel\":\"low\"");
	session_add(&s, "usage", "\"kind\":\"x\"");
	session_add(&s, "compaction",
		    "\"summary\":\"all\",\"firstKeptEntryId\":\"e1\","
		    "\"tokensBefore\":12500");
	session_add(&s, "branch_summary", "\"fromId\":\"root\",\"summary\":\" tried\\nit \"");
	session_add(&s, "custom", "\"customType\":\"ext\"");
	session_add(&s, "custom_message",
		    "\"customType\":\"ext\",\"content\":\"said\",\"display\":true");
	session_add(&s, "context_edit", "\"targetId\":\"e4\",\"replacement\":null");
	session_add(&s, "context_edit", "\"targetId\":\"e6\",\"replacement\":{\"content\":\"x\"}");
	session_add(&s, "label", "\"targetId\":\"e6\",\"label\":\"mark\"");
	session_add(&s, "label", "\"targetId\":\"e5\"");
	session_add(&s, "session_info", "\"name\":\"My session\"");
	session_add(&s, "session_info", "\"name\":\"\"");
	session_add(&s, "news", "\"what\":1");
	session_import(f, &s);
	rt_tree_set_filter(f->tree, RT_TREE_ALL);
	shows(f, "  • [model: m]\n"
		 "  • [thinking: low]\n"
		 "  • [compaction: 13k tokens]\n"
		 "  • [branch summary]: tried it\n"
		 "  • [custom: ext]\n"
		 "  • [mark] [ext]: said\n"
		 "  • [context omit: e4]\n"
		 "  • [context replace: e6]\n"
		 "  • [label: mark]\n"
		 "  • [label: (cleared)]\n"
		 "  • [title: My session]\n"
		 "  • [title: empty]\n"
		 "› • [news]  {pi}  ← active\n");
	/* seed 4: labels and states of programs */
	rt_tree_set_filter(f->tree, RT_TREE_DEFAULT);
	assert_int_equal(rt_tree_row_count(f->tree), 10);
	rt_tree_set_filter(f->tree, RT_TREE_NO_TOOLS);
	assert_int_equal(rt_tree_row_count(f->tree), 4);
	rt_tree_set_filter(f->tree, RT_TREE_DEFAULT);
	assert_int_equal(rt_tree_search(f->tree, RT_STR("is:compaction"), NULL), RT_OK);
	assert_int_equal(rt_tree_row_count(f->tree), 1);
	rt_tree_set_filter(f->tree, RT_TREE_ALL);
	assert_int_equal(rt_tree_search(f->tree, RT_STR("context edit omit"), NULL), RT_OK);
	assert_int_equal(rt_tree_row_count(f->tree), 1);
	assert_int_equal(rt_tree_search(f->tree, RT_STR("title my"), NULL), RT_OK);
	assert_int_equal(rt_tree_row_count(f->tree), 1);
}

/* An allocator that fails the nth time. */
static rt_status
live_a_little(fixture *f, const rt_alloc *alloc)
{
	const rt_project *value = rt_engine_value(f->engine);
	rt_tree_reader reader;
	rt_tree *tree = NULL;
	rt_scope s;
	rt_status st;
	int i;

	rt_scope_init(&s, alloc);
	rt_tree_reader_init(&reader, alloc, f->engine, RT_STR(""));
	st = rt_tree_new(alloc, &reader.source, NULL, &tree);
	for (i = 0; st == RT_OK && i < 2; i++)
		st = rt_tree_reader_read(&reader, value, 0, tree, NULL);
	if (st == RT_OK)
		st = rt_tree_learn(tree, SIZE_MAX, NULL, NULL);
	if (st == RT_OK)
		st = rt_tree_draw(tree, &s, 0, 3, 40) != NULL ? RT_OK : s.status;
	rt_scope_deinit(&s);
	rt_tree_free(tree);
	rt_tree_reader_deinit(&reader);
	rt_object_unref(value);
	return st;
}

static void
test_no_memory(void **state)
{
	fixture *f = *state;
	failing nth = {0};
	const rt_alloc alloc = {failing_resize, failing_release, &nth};
	rt_status st = RT_NOMEM;
	session s;
	long n;

	session_init(&s);
	session_say(&s, "\"role\":\"user\",\"content\":\"go\"");
	session_call(&s, "ls", "{}");
	session_call(&s, "read", "{}");
	session_import(f, &s);
	for (n = 0; st != RT_OK; n++) {
		nth.left = n;
		st = live_a_little(f, &alloc);
		assert_true(st == RT_OK || st == RT_NOMEM);
		assert_int_equal(nth.live, 0);
	}
	assert_true(n > 40);
}

/* After any operations, the updated tree shows the same as one built from scratch. */
static void
test_changes(void **state)
{
	fixture *f = *state;
	uint64_t chance = 5;
	rt_buf fresh_text;
	size_t i, done = 0;

	rt_buf_init(&fresh_text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_tree_set_filter(f->tree, RT_TREE_ALL);
	for (i = 0; i < REQUESTS; i++) {
		const rt_project *value = rt_engine_value(f->engine);
		uint64_t seq = value->seq;
		char json[400];
		rt_tree *fresh;

		rt_object_unref(value);
		random_request(&chance, json, sizeof(json), seq);
		done += try_it(f, json);
		read_tree(f, f->tree);
		assert_int_equal(rt_tree_new(rt_alloc_libc(), &f->reader.source, NULL, &fresh),
				 RT_OK);
		rt_tree_set_filter(fresh, RT_TREE_ALL);
		read_tree(f, fresh);
		if (rt_tree_row_count(fresh) > 0)
			rt_tree_select(fresh, rt_tree_selected_node(f->tree));
		draw(f->tree, &f->text);
		draw(fresh, &fresh_text);
		assert_string_equal(f->text.ptr, fresh_text.ptr);
		assert_int_equal(rt_tree_search(f->tree, RT_STR("text"), NULL), RT_OK);
		assert_int_equal(rt_tree_search(fresh, RT_STR("text"), NULL), RT_OK);
		assert_int_equal(rt_tree_row_count(f->tree), rt_tree_row_count(fresh));
		assert_int_equal(rt_tree_search(f->tree, RT_STR(""), NULL), RT_OK);
		rt_tree_free(fresh);
		rt_tree_move(f->tree, (rt_tree_step)random_below(&chance, 12), 3);
		rt_tree_unfold_all(f->tree);
	}
	assert_true(done > REQUESTS / 3);
	rt_buf_deinit(&fresh_text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_own_entries, set_up, tear_down),
cmocka_unit_test_setup_teardown(test_hidden_entries, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_purged, set_up, tear_down),
		cmocka_unit_test_setup_teardown(times_of_imported_labels, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_pi_messages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_pi_tools, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_pi_settings, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_memory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_changes, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
