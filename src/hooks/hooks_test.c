/* SPDX-License-Identifier: MIT
 *
 * Definitions, matching, answers, the text of trust.json: everything that needs no other program.
 * Attacks by other programs are in tests/hooks/evil_test.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hooks/definition.h"
#include "hooks/hooks.h"
#include "hooks/response.h"
#include "hooks/trust.h"

/* --- events --- */

static void
the_table_is_whole(void **state)
{
	const rt_hook_event *event, *other;
	rt_json_doc *doc;
	rt_error err;
	rt_buf text;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (event = rt_hook_events; event->name != NULL; event++) {
		assert_ptr_equal(rt_hook_event_find(rt_str_of(event->name)), event);
		if (event->alias != NULL)
			assert_ptr_equal(rt_hook_event_find(rt_str_of(event->alias)), event);
		for (other = event + 1; other->name != NULL; other++)
			assert_string_not_equal(event->name, other->name);
		/* What cannot be denied cannot be changed either. */
		if (!(event->traits & RT_HOOK_BEFORE)) {
			assert_string_equal(event->replaces, "");
			assert_false(event->traits & RT_HOOK_SUMMARIZES);
		}
		rt_buf_clear(&text);
		rt_buf_add_f(&text, "{%s%s%s}", rt_hook_common_sample,
			     event->sample[0] != 0 ? "," : "", event->sample);
		assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&text), &doc, &err), RT_OK);
		if (event->replaces[0] != 0)
			assert_non_null(rt_json_get(rt_json_root(doc), event->replaces));
		rt_json_free(doc);
	}
	rt_buf_deinit(&text);
	assert_null(rt_hook_event_find(RT_STR("entry.befor_add")));
	assert_string_equal(rt_hook_event_nearest(RT_STR("entry.befor_add")), "entry.before_add");
	assert_string_equal(rt_hook_event_nearest(RT_STR("session_befor_tree")), "session_before_tree");
	assert_null(rt_hook_event_nearest(RT_STR("x")));
	assert_null(rt_hook_event_nearest(RT_STR("")));
}

/* --- definitions --- */

static void
times(void **state)
{
	static const struct {
		const char *text;
		int64_t ms; /* 0: none */
	} known[] = {{"5s", 5000}, {"500ms", 500}, {"2m", 120000}, {"7", 7000}, {"60m", 3600000},
		     {"61m", 0},   {"0s", 0},      {"", 0},        {"s", 0},    {"-1s", 0},
		     {"5 s", 0},   {"5h", 0},      {"1.5s", 0},    {"99999999999999999999s", 0}};
	int64_t ms;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		ms = 0;
		assert_int_equal(rt_hook_parse_timeout(rt_str_of(known[i].text), &ms),
				 known[i].ms != 0);
		assert_int_equal(ms, known[i].ms);
	}
}

static void
definitions(void **state)
{
	static const struct {
		const char *text;
		rt_status status;
	} lists[] = {{" \n", RT_OK}, {"[]", RT_OK}, {"{}", RT_USAGE}, {"[", RT_USAGE}};
	rt_hook_list list;
	const rt_hook *hook;

	(void)state;
	rt_hook_list_init(&list, rt_alloc_libc());
	rt_hook_list_read(
			&list,
			RT_STR("[{\"event\":\"entry.before_edit\",\"match\":\"role=user\","
			       "\"run\":[\"/abs/redact\",\"-x\"],\"timeout\":\"5s\",\"required\":true},"
			       "{\"event\":\"session_tree\",\"run\":[\"note\"],\"async\":true,"
			       "\"name\":\"n\",\"colour\":1},"
			       "{\"event\":\"entry.before_add\",\"run\":\"a shell's line\",\"required\":true},"
			       "{\"event\":\"entry.before_add\",\"run\":[\"x\"],\"async\":true},"
			       "{\"event\":\"entry.befor_add\",\"run\":[\"x\"]},"
			       "{\"event\":\"entry.after\",\"run\":[\"./x\"]},"
			       "{\"event\":\"entry.after\",\"run\":[\"x\"],\"match\":\"user\"},"
			       "{\"event\":\"entry.after\",\"run\":[\"x\"],\"timeout\":\"never\"},"
			       "{\"event\":\"entry.after\",\"run\":[\"x\"],\"once\":1},"
			       "{\"event\":\"entry.after\",\"run\":[\"a\\u0000b\"]},"
			       "{\"event\":\"entry.after\",\"run\":[]}, 7]"));
	assert_int_equal(list.scope.status, RT_OK);
	assert_int_equal(list.count, 10);
	hook = &list.items[0];
	assert_string_equal(hook->name.ptr, "redact");
	assert_string_equal(hook->event->name, "entry.before_edit");
	assert_int_equal(hook->timeout_ms, 5000);
	assert_int_equal(hook->arg_count, 2);
	assert_true(hook->required);
	assert_int_equal(hook->broken.size, 0);
	hook = &list.items[1];
	assert_string_equal(hook->event->name, "head.after_move");
	assert_string_equal(hook->event_name.ptr, "session_tree");
	assert_true(hook->is_async);
	assert_int_equal(hook->timeout_ms, RT_HOOK_TIMEOUT_MS);
	assert_int_not_equal(list.items[2].broken.size, 0); /* kept: it is required */
	assert_false(list.items[3].is_async);  /* there is something to wait for */
	assert_int_equal(list.items[3].broken.size, 0);
	for (hook = list.items + 4; hook < list.items + 10; hook++)
		assert_int_not_equal(hook->broken.size, 0);
	assert_true(rt_str_find(rt_buf_str(list.warnings),
				RT_STR("did you mean entry.before_add?"), 0) != SIZE_MAX);
	assert_true(rt_str_find(rt_buf_str(list.warnings), RT_STR("unknown key \"colour\""),
				0) != SIZE_MAX);
	rt_hook_list_deinit(&list);

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		rt_hook_list_init(&list, rt_alloc_libc());
		rt_hook_list_read(&list, rt_str_of(lists[i].text));
		assert_int_equal(list.scope.status, lists[i].status);
		assert_int_equal(list.count, 0);
		rt_hook_list_deinit(&list);
	}
}

static void
matching(void **state)
{
	static const struct {
		const char *match;
		bool fits;
	} known[] = {
		{"", true},
		{"role=user", true},
		{"role=User kind=message", true},
		{"role=ai", false},
		{"role=user kind=tool", false},
		{"role=*", true},
		{"role=u*r", true},
		{"role=*s*", true},
		{"role=u*x", false},
		{"role=", false},
		{"name=", true},
		{"rol=user", false},
		{"roles=user", false},
		{"other=*", false},
		{"  kind=mess*   role=*er ", true},
		{"take=side_take", true},
		{"role=****************************************user", true},
	};
	rt_buf subject;
	size_t i;

	(void)state;
	rt_buf_init(&subject, rt_alloc_libc(), 4096);
	rt_hook_subject_add(&subject, "role", RT_STR("User"));
	rt_hook_subject_add(&subject, "kind", RT_STR("message"));
	rt_hook_subject_add(&subject, "take", RT_STR("side take"));
	rt_hook_subject_add(&subject, "name", RT_STR(""));
	assert_string_equal(subject.ptr, "role=User kind=message take=side_take name=");
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_int_equal(rt_hook_matches(rt_str_of(known[i].match), rt_buf_str(&subject)),
				 known[i].fits);
	assert_false(rt_hook_matches(RT_STR("role=user"), rt_str_of(NULL)));
	rt_buf_deinit(&subject);
}

/* --- answers --- */

static void
answers(void **state)
{
	static const struct {
		const char *event, *text;
		rt_status status;
		rt_hook_decision decision;
	} known[] = {
		{"entry.after", "", RT_OK, RT_HOOK_ALLOW},
		{"entry.after", " \n\t", RT_OK, RT_HOOK_ALLOW},
		{"entry.after", "{}", RT_OK, RT_HOOK_ALLOW},
		{"entry.after", "{\"decision\":null,\"note\":null,\"patch\":null}", RT_OK, RT_HOOK_ALLOW},
		{"entry.before_add", "{\"decision\":\"deny\",\"reason\":\"r\"}", RT_OK, RT_HOOK_DENY},
		{"entry.before_add", "{\"cancel\":true}", RT_OK, RT_HOOK_DENY},
		{"entry.before_add", "{\"cancel\":false}", RT_OK, RT_HOOK_ALLOW},
		{"entry.before_add", "{\"decision\":\"replace\",\"patch\":{\"op\":{\"a\":1}}}", RT_OK,
		 RT_HOOK_REPLACE},
		{"session_before_tree", "{\"summary\":{\"summary\":\"s\",\"details\":[1]}}", RT_OK,
		 RT_HOOK_ALLOW},
		{"entry.before_add", "[]", RT_USAGE, 0},
		{"entry.before_add", "{} {}", RT_USAGE, 0},
		{"entry.before_add", "{\"decision\":\"Deny\"}", RT_USAGE, 0},
		{"entry.before_add", "{\"decision\":true}", RT_USAGE, 0},
		{"entry.before_add", "{\"cancel\":\"yes\"}", RT_USAGE, 0},
		{"entry.before_add", "{\"note\":1}", RT_USAGE, 0},
		{"entry.before_add", "{\"reason\":{}}", RT_USAGE, 0},
		{"entry.before_add", "{\"decision\":\"replace\"}", RT_USAGE, 0},
		{"entry.before_add", "{\"patch\":{\"op\":1}}", RT_USAGE, 0},
		{"entry.before_add", "{\"decision\":\"replace\",\"patch\":{\"op\":null}}", RT_USAGE, 0},
		{"entry.before_add", "{\"decision\":\"replace\",\"patch\":{\"cwd\":1}}", RT_USAGE, 0},
		{"entry.before_delete", "{\"decision\":\"replace\",\"patch\":{\"op\":1}}", RT_USAGE, 0},
		{"entry.before_add", "{\"summary\":{\"summary\":\"s\"}}", RT_USAGE, 0},
		{"session_before_tree", "{\"summary\":{}}", RT_USAGE, 0},
	};
	rt_hook_response response;
	rt_scope scope;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		rt_scope_init(&scope, rt_alloc_libc());
		rt_hook_response_read(&scope, rt_str_of(known[i].text),
				      rt_hook_event_find(rt_str_of(known[i].event)), &response);
		if (rt_ok(&scope))
			assert_int_equal(response.decision, known[i].decision);
		assert_int_equal(rt_scope_end(&scope, NULL), known[i].status);
	}
}

/* The examples of RFC 7396, appendix A, if both are objects, and some others. */
static void
merging(void **state)
{
	static const char *const known[][3] = {
		{"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
		{"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
		{"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
		{"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
		{"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
		{"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
		{"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
		{"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
		{"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
		{"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
		{"{\"a\":1}", "{\"a\":2,\"a\":3}", "{\"a\":3}"},
		{"{}", "{\"a\":2,\"a\":3}", "{\"a\":3}"},
		{"{\"n\":1.10}", "{\"a\":12345678901234567890123}",
		 "{\"n\":1.10,\"a\":12345678901234567890123}"},
	};
	rt_json_doc *target, *patch;
	rt_error err;
	rt_buf out;
	size_t i;

	(void)state;
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		rt_buf_clear(&out);
		assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(known[i][0]), &target, &err),
				 RT_OK);
		assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(known[i][1]), &patch, &err),
				 RT_OK);
		rt_hook_merge(&out, rt_json_root(target), rt_json_root(patch));
		assert_string_equal(out.ptr, known[i][2]);
		rt_json_free(target);
		rt_json_free(patch);
	}
	rt_buf_deinit(&out);
}

static void
words_are_cut(void **state)
{
	rt_buf out, many;
	size_t i;

	(void)state;
	rt_buf_init(&out, rt_alloc_libc(), 1 << 20);
	rt_buf_init(&many, rt_alloc_libc(), 1 << 20);
	rt_hook_add_message(&out, RT_STR(" "));
	assert_int_equal(out.size, 0);
	rt_hook_add_message(&out, RT_STR("  a\nb\r\nc \n"));
	assert_string_equal(out.ptr, "a b  c");
	rt_buf_clear(&out);
	rt_hook_add_message(&out, RT_STR("a\377b\033[31m"));
	assert_string_equal(out.ptr, "a\xEF\xBF\xBD" "b\033[31m"); /* escape sequences are handled
								    * elsewhere */
	for (i = 0; i < 5000; i++)
		rt_buf_add_c(&many, "\xF0\x9F\x99\x82");
	rt_buf_clear(&out);
	rt_hook_add_message(&out, rt_buf_str(&many));
	assert_int_equal(rt_utf8_count(rt_buf_str(&out)), RT_HOOK_MESSAGE_MAX);
	assert_int_equal(rt_utf8_valid_size(rt_buf_str(&out)), out.size);
	rt_buf_clear(&many);
	for (i = 0; i < 5000; i++)
		rt_buf_add_byte(&many, '\xFF');
	rt_buf_clear(&out);
	rt_hook_add_message(&out, rt_buf_str(&many));
	assert_int_equal(rt_utf8_count(rt_buf_str(&out)), RT_HOOK_MESSAGE_MAX);
	rt_buf_deinit(&out);
	rt_buf_deinit(&many);
}

/* --- trust --- */

static void
pins(void **state)
{
	rt_buf text;
	rt_scope scope;
	yyjson_val *root;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_TRUST_FILE_MAX);
	rt_scope_init(&scope, rt_alloc_libc());
	assert_int_equal(rt_trust_find(NULL, RT_STR("/b")).size, 0);
	rt_trust_write(&scope, NULL, RT_STR("/b"), RT_STR("22"), &text);
	assert_string_equal(text.ptr, "{\"hooks\":{\"/b\":\"22\"},\"v\":1}\n");
	root = rt_json_parse(&scope, rt_buf_str(&text));
	rt_trust_validate(&scope, root);
	rt_buf_clear(&text);
	rt_trust_write(&scope, root, RT_STR("/a \"q\""), RT_STR("11"), &text);
	root = rt_json_parse(&scope, rt_buf_str(&text));
	assert_true(rt_str_is(rt_trust_find(root, RT_STR("/a \"q\"")), "11"));
	assert_true(rt_str_is(rt_trust_find(root, RT_STR("/b")), "22"));
	assert_int_equal(rt_trust_find(root, RT_STR("/")).size, 0);
	rt_buf_clear(&text);
	rt_trust_write(&scope, root, RT_STR("/a \"q\""), RT_STR(""), &text);
	assert_string_equal(text.ptr, "{\"hooks\":{\"/b\":\"22\"},\"v\":1}\n");
	assert_int_equal(rt_scope_end(&scope, NULL), RT_OK);
	rt_buf_deinit(&text);

	rt_scope_init(&scope, rt_alloc_libc());
	rt_trust_validate(&scope, rt_json_parse(&scope, RT_STR("{\"v\":2,\"hooks\":{}}")));
	assert_int_equal(rt_scope_end(&scope, NULL), RT_TOO_NEW);
	rt_scope_init(&scope, rt_alloc_libc());
	rt_trust_validate(&scope, rt_json_parse(&scope, RT_STR("[]")));
	assert_int_equal(rt_scope_end(&scope, NULL), RT_CORRUPT);
}

/* --- without memory --- */

typedef struct miser {
	rt_alloc alloc;
	size_t left; /* allocations until memory runs out */
	size_t alive;
} miser;

static void *
miser_resize(void *ctx, void *ptr, size_t size)
{
	miser *m = ctx;
	void *got;

	if (m->left == 0)
		return NULL;
	m->left--;
	got = realloc(ptr, size);
	m->alive += got != NULL && ptr == NULL;
	return got;
}

static void
miser_release(void *ctx, void *ptr)
{
	((miser *)ctx)->alive -= ptr != NULL;
	free(ptr);
}

static int64_t
no_time(void *ctx)
{
	(void)ctx;
	return 0;
}

static void
no_chance(void *ctx, void *to, size_t size)
{
	(void)ctx;
	memset(to, 7, size);
}

static void
opening_without_memory(void **state)
{
	static const rt_env env = {no_time, no_chance, NULL};
	static const char *const environment[] = {"PATH=/bin", "HOME=/", "SECRET=x", NULL};
	miser m = {{miser_resize, miser_release, &m}, 0, 0};
	rt_hooks_options options = {.alloc = &m.alloc, .env = &env, .environment = environment};
	rt_hooks *hooks;
	rt_status st;
	rt_error err;
	size_t n;

	(void)state;
	options.definitions = RT_STR("[{\"event\":\"entry.after\",\"run\":[\"a\",\"b\"],"
				     "\"match\":\"role=user\",\"x\":1},{\"event\":\"nonsense\"}]");
	for (n = 0; n < 1000; n++) {
		m.left = n;
		st = rt_hooks_open(&options, &hooks, &err);
		if (st == RT_OK) {
			assert_true(hooks->ops->wants(hooks, "entry.after"));
			assert_false(hooks->ops->wants(hooks, "entry.before_add"));
			hooks->ops->close(hooks);
		} else {
			assert_int_equal(st, RT_NOMEM);
		}
		assert_int_equal(m.alive, 0);
		if (st == RT_OK)
			break;
	}
	assert_in_range(n, 10, 999);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_is_whole),
		cmocka_unit_test(times),
		cmocka_unit_test(definitions),
		cmocka_unit_test(matching),
		cmocka_unit_test(answers),
		cmocka_unit_test(merging),
		cmocka_unit_test(words_are_cut),
		cmocka_unit_test(pins),
		cmocka_unit_test(opening_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
