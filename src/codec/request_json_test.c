/* SPDX-License-Identifier: MIT
 *
 * Requests: requests survive reading and writing, unknown members are kept, and errors name the
 * malformed member. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codec/request_json.h"

static rt_request
parse(rt_scope *s, rt_str json)
{
	yyjson_val *root = rt_json_parse(s, json);
	rt_request r = {0};

	RT_TRY(s, rt_request_read(root, &r, &s->error));
	return r;
}

static void
round_trip(void **state)
{
	static const char *const texts[] = {
		"{\"op\":\"entry.edit\",\"entry\":\":2\",\"content\":\"a\"}",
		"{\"content\":[{\"type\":\"image\"}],\"op\":\"entry.append\",\"x\":{\"y\":1.10},"
		"\"muted\":true,\"take\":\"t2\",\"ts\":1700000000}",
		"{\"op\":\"head.move\",\"entry\":null,\"discussion\":\"d1\"}",
		"{\"op\":\"label.set\",\"entry\":\"@\",\"label\":\"\"}",
		"{\"op\":\"setting.set\",\"key\":\"k\",\"value\":null}",
		"{\"op\":\"undo\",\"count\":3,\"scope\":\"project\"}",
		"{\"op\":\"take.switch\",\"take\":\"a\\u0000b\",\"discussion\":\"d\"}",
		"{\"op\":\"take.graft\",\"entries\":[\":1\"],\"from\":\"t1\",\"after\":\"@\"}",
		"{\"op\":\"entry.reply\",\"after\":null,\"content\":\"\",\"usage\":{\"n\":1}}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		rt_scope s;
		rt_buf *out;
		rt_request r;

		rt_scope_init(&s, rt_alloc_libc());
		out = rt_scope_buf(&s);
		r = parse(&s, rt_str_of(texts[i]));
		rt_request_write(out, &r);
		assert_string_equal(out->ptr, texts[i]);
		/* the same without the JSON that it came from */
		if (strchr(texts[i], 'x') == NULL && strstr(texts[i], "usage") == NULL) {
			rt_request again;

			r.source = NULL;
			rt_buf_clear(out);
			rt_request_write(out, &r);
			again = parse(&s, rt_scope_copy(&s, rt_buf_str(out)));
			again.source = NULL;
			rt_buf_clear(out);
			rt_request_write(out, &again);
			assert_true(rt_ok(&s));
			assert_int_equal(again.op, r.op);
			assert_true(rt_str_is_null(again.entry) == rt_str_is_null(r.entry));
			assert_true(rt_str_eq(again.target, r.target));
			assert_int_equal(again.count.value, r.count.value);
		}
		assert_int_equal(rt_scope_end(&s, NULL), RT_OK);
	}
}

static void
changed_members_and_extra(void **state)
{
	rt_scope s;
	rt_buf *out, *extra;
	rt_request r;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	out = rt_scope_buf(&s);
	extra = rt_scope_buf(&s);
	r = parse(&s, RT_STR("{\"op\":\"entry.role\",\"entry\":\":7\",\"why\":[1],"
					"\"role\":\"User\",\"take\":\"t1\"}"));
	r.entry = RT_STR("k3f9");
	r.discussion = RT_STR("d2");
	rt_request_write(out, &r);
	rt_request_write_extra(extra, &r);
	assert_string_equal(out->ptr, "{\"op\":\"entry.role\",\"entry\":\"k3f9\",\"why\":[1],"
				      "\"role\":\"User\",\"take\":\"t1\",\"discussion\":\"d2\"}");
	assert_string_equal(extra->ptr, "{\"why\":[1]}");
	assert_int_equal(rt_scope_end(&s, NULL), RT_OK);
}

static void
malformed(void **state)
{
	static const struct {
		const char *json, *message;
	} rows[] = {
		{"[]", "an operation must be a JSON object: {\"op\":\"entry.append\",…}"},
		{"{}", "\"op\" is missing; see: retake help operations"},
		{"{\"op\":\"entry.edti\"}", "unknown operation \"entry.edti\"; did you mean "
					    "\"entry.edit\"; see: retake help operations"},
		{"{\"op\":\"entry.edit\",\"content\":\"x\"}", "entry.edit needs \"entry\": the entry"},
		{"{\"op\":\"entry.edit\",\"entry\":1,\"content\":\"x\"}",
		 "\"entry\" of entry.edit must be an entry's id, label or position as a string"},
		{"{\"op\":\"entry.edit\",\"entry\":null,\"content\":\"x\"}",
		 "\"entry\" of entry.edit must be an entry's id, label or position as a string"},
		{"{\"op\":\"undo\",\"count\":-1}", "\"count\" of undo must be a whole number, 0 or more"},
		{"{\"op\":\"undo\",\"take\":1}", "\"take\" must be a name or an id as a string"},
		{"{\"op\":\"entry.append\",\"muted\":1}", "\"muted\" must be true or false"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rt_error err = {0};
		rt_scope s;

		rt_scope_init(&s, rt_alloc_libc());
		(void)parse(&s, rt_str_of(rows[i].json));
		assert_int_equal(rt_scope_end(&s, &err), RT_USAGE);
		assert_string_equal(err.text, rows[i].message);
	}
}

/* A malformed request does not affect the others. */
static void
invalid_among_others(void **state)
{
	rt_json_doc *doc = NULL;
	yyjson_val *values[2];
	rt_request *r;
	rt_scope s;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	assert_int_equal(rt_json_read(rt_alloc_libc(), RT_STR("[{\"op\":\"no\"},{\"op\":\"redo\"}]"),
				      &doc, NULL), RT_OK);
	values[0] = yyjson_arr_get(rt_json_root(doc), 0);
	values[1] = yyjson_arr_get(rt_json_root(doc), 1);
	r = rt_requests_read(&s, values, 2);
	assert_non_null(r[0].invalid);
	assert_int_equal(r[0].invalid->status, RT_USAGE);
	assert_null(r[1].invalid);
	assert_int_equal(r[1].op, RT_OP_REDO);
	assert_int_equal(rt_scope_end(&s, NULL), RT_OK);
	rt_json_free(doc);
}

/* A route has given the operation and the entry; the body has the rest. */
static void
fields_of_a_known_operation(void **state)
{
	rt_request r = {.op = RT_OP_ENTRY_EDIT, .entry = RT_STR(":2")};
	rt_request mute = {.op = RT_OP_ENTRY_MUTE, .entry = RT_STR(":2")};
	rt_request append = {.op = RT_OP_ENTRY_APPEND};
	yyjson_val *body;
	rt_scope s;
	rt_buf *out;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	out = rt_scope_buf(&s);
	body = rt_json_parse(&s, RT_STR("{\"op\":\"purge\",\"content\":\"a\",\"entry\":5}"));
	assert_int_equal(rt_request_read_fields(body, &r, &s.error), RT_OK);
	rt_request_write(out, &r);
	assert_string_equal(out->ptr,
			    "{\"op\":\"entry.edit\",\"content\":\"a\",\"entry\":\":2\"}");
	/* one field, of the right type and of another */
	rt_request_set(&s, &append, "content", rt_json_get(body, "content"));
	assert_true(append.invalid == NULL && rt_str_is(append.content.text, "a"));
	rt_request_set(&s, &mute, "muted", rt_json_get(body, "content"));
	assert_non_null(mute.invalid);
	assert_string_equal(mute.invalid->text, "\"muted\" of entry.mute must be true or false");
	/* required, and not there */
	r = (rt_request){.op = RT_OP_ENTRY_ROLE, .entry = RT_STR(":2")};
	assert_int_equal(rt_request_read_fields(body, &r, &s.error), RT_USAGE);
	assert_int_equal(rt_scope_end(&s, NULL), RT_OK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(changed_members_and_extra),
		cmocka_unit_test(malformed),
		cmocka_unit_test(invalid_among_others),
		cmocka_unit_test(fields_of_a_known_operation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
