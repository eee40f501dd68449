/* SPDX-License-Identifier: MIT
 *
 * The last request is recorded (T6): it is built again byte for byte, compared with the present
 * one, not affected by undo, and removed by purge. */
#include "chat/send_testing.h"

#include "chat/last_request.h"
#include "formats/formats.h"
#include "llm/llm_testing.h"
#include "store/store_memory.h"

typedef struct fixture {
	world w;
	sayer s;
	say said;
	rt_buf asked; /* the last request, NUL-terminated */
} fixture;

static int
set_up(void **state)
{
	fixture *f = test_calloc(1, sizeof(*f));

	world_init(&f->w);
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &f->w.env, &f->w.store, NULL), RT_OK);
	world_open_engine(&f->w, NULL);
	f->said = (say){SAY_TEXT, "Yes.", 0, NULL, NULL};
	sayer_init(&f->s, &f->w, rt_provider_named(RT_STR("anthropic")), &f->said, 1);
	rt_buf_init(&f->asked, rt_alloc_libc(), RT_BUF_UNLIMITED);
	f->s.body = &f->asked;
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture *f = *state;

	rt_buf_deinit(&f->asked);
	world_deinit(&f->w);
	test_free(f);
	return 0;
}

static rt_status
ask(fixture *f, const char *text)
{
	rt_send_options o = {.how = RT_SEND_ASK, .text = rt_str_of(text)};

	o.with = world_with(&f->w);
	o.with.model = &f->s.model;
	return world_send_options(&f->w, o);
}

/* The record; NULL: none. Free it. */
static rt_json_doc *
record(fixture *f)
{
	rt_json_doc *doc = NULL;
	rt_buf row;
	rt_status st;

	rt_buf_init(&row, rt_alloc_libc(), RT_BUF_UNLIMITED);
	st = rt_engine_last_request(f->w.engine, 1, &row, &f->w.err);
	if (st == RT_OK)
		assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&row), &doc, NULL), RT_OK);
	else
		assert_int_equal(st, RT_NOT_FOUND);
	rt_buf_deinit(&row);
	return doc;
}

/* Built again; the body is in w.out. */
static bool
sent_again(fixture *f)
{
	rt_json_doc *doc = record(f);
	rt_last_request sent;
	bool same;

	assert_non_null(doc);
	assert_int_equal(rt_last_request_build(f->w.engine, rt_json_root(doc), f->s.model.provider,
					       NULL, NULL, &sent, &f->w.err),
			 RT_OK);
	rt_buf_clear(&f->w.out);
	rt_buf_add_str(&f->w.out, rt_buf_str(&sent.body));
	rt_buf_add_byte(&f->w.out, '\0');
	same = sent.is_same;
	rt_last_request_deinit(&sent);
	rt_json_free(doc);
	return same;
}

static const char *
changes(fixture *f)
{
	const rt_project *value = rt_engine_value(f->w.engine);
	rt_json_doc *doc = record(f);
	rt_place place;
	const char *from;

	assert_int_equal(rt_resolve_place(value, RT_STR(""), RT_STR(""), &place, NULL), RT_OK);
	rt_buf_clear(&f->w.out);
	assert_int_equal(rt_view_last_request_changes(f->w.engine, value, place, rt_json_root(doc),
						      f->s.model.provider, NULL, &f->w.out,
						      &f->w.err),
			 RT_OK);
	rt_buf_add_byte(&f->w.out, '\0');
	rt_object_unref(value);
	rt_json_free(doc);
	from = strstr(f->w.out.ptr, "\"exact\"");
	assert_non_null(from);
	return from;
}

#define SAME \
	"\"exact\":true,\"same\":true,\"entries\":[],\"moved\":false,\"settings\":[],\"prompt\":false,\"files\":[]}"

static void
what_was_sent_last_is_built_again(void **state)
{
	fixture *f = *state;

	assert_null(record(f));
	world_apply(&f->w, "{\"op\":\"setting.set\",\"key\":\"project_system_prompt\","
			   "\"value\":\"Be kind.\"}");
	assert_int_equal(ask(f, "One?"), RT_OK);
	assert_true(sent_again(f));
	assert_string_equal(f->w.out.ptr, f->asked.ptr);
	assert_non_null(strstr(f->w.out.ptr, "Be kind."));
	/* after any operations, including undo */
	world_apply(&f->w, "{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"Uno?\"}");
	world_apply(&f->w, "{\"op\":\"setting.set\",\"key\":\"project_system_prompt\","
			   "\"value\":null}");
	assert_true(sent_again(f));
	assert_string_equal(f->w.out.ptr, f->asked.ptr);
	world_apply(&f->w, "{\"op\":\"undo\",\"count\":5}");
	assert_true(sent_again(f));
	assert_string_equal(f->w.out.ptr, f->asked.ptr);
	/* the next one is the last then, also without a reply */
	f->s.status = RT_UPSTREAM;
	f->s.count = 0;
	assert_int_equal(ask(f, "Two?"), RT_UPSTREAM);
	assert_true(sent_again(f));
	assert_non_null(strstr(f->w.out.ptr, "Two?"));
}

static void
what_changed_since_is_said(void **state)
{
	fixture *f = *state;

	world_add(&f->w, "a", "User", "one");
	world_add(&f->w, "b", "AI", "two");
	assert_int_equal(ask(f, "Q"), RT_OK);
	world_apply(&f->w, "{\"op\":\"undo\"}");
	assert_string_equal(changes(f), SAME);
	world_apply(&f->w, "{\"op\":\"redo\"}");
	assert_non_null(strstr(changes(f), "\"same\":false,\"entries\":[{\"change\":\"new\","));
	world_apply(&f->w, "{\"op\":\"undo\"}");
	world_apply(&f->w, "{\"op\":\"entry.edit\",\"entry\":\"b\",\"content\":\"TWO\"}");
	assert_non_null(strstr(changes(f), "[{\"change\":\"edited\",\"id\":\"b\",\"role\":\"AI\"}]"));
	world_apply(&f->w, "{\"op\":\"entry.mute\",\"entry\":\"a\"}");
	assert_non_null(strstr(changes(f), "{\"change\":\"gone\",\"id\":\"a\",\"role\":\"User\"}"));
	world_apply(&f->w, "{\"op\":\"undo\",\"count\":2}");
	world_apply(&f->w, "{\"op\":\"entry.move\",\"entry\":\"a\",\"after\":\"b\"}");
	assert_non_null(strstr(changes(f), "\"entries\":[],\"moved\":true"));
	world_apply(&f->w, "{\"op\":\"undo\"}");
	world_apply(&f->w, "{\"op\":\"setting.set\",\"key\":\"temperature\",\"value\":1}");
	world_apply(&f->w, "{\"op\":\"prompt.update\",\"text\":\"a cat\"}");
	assert_non_null(strstr(changes(f), "\"settings\":[\"temperature\"],\"prompt\":true,\"files\":[]}"));
	world_apply(&f->w, "{\"op\":\"undo\",\"count\":2}");
	assert_string_equal(changes(f), SAME);
}

static void
a_purge_reaches_it(void **state)
{
	fixture *f = *state;

	world_add(&f->w, "a", "User", "the secret one");
	assert_int_equal(ask(f, "and hush-hush"), RT_OK);
	world_apply(&f->w, "{\"op\":\"purge\",\"entry\":\"a\"}");
	assert_false(sent_again(f));
	assert_null(strstr(f->w.out.ptr, "secret"));
	assert_non_null(strstr(f->w.out.ptr, "hush"));
	world_apply(&f->w, "{\"op\":\"purge\",\"text\":\"hush-hush\"}");
	assert_false(sent_again(f));
	assert_null(strstr(f->w.out.ptr, "hush"));
	assert_non_null(strstr(changes(f), "\"exact\":false"));
	/* the row itself contains no text but names; one that contains the purged words is
	 * dropped */
	world_apply(&f->w, "{\"op\":\"purge\",\"text\":\"anthropic\"}");
	assert_null(record(f));
}

/* TOML of the seeds: sent_markdown, sent_system_prompt, beside the take. */
static void
toml_carries_it(void **state)
{
	rt_export_options how = {.whole = true};
	fixture *f = *state;
	const rt_project *value;
	rt_place place = {0, 0};
	rt_outlines all;
	rt_buf out;

	world_apply(&f->w, "{\"op\":\"setting.set\",\"key\":\"project_system_prompt\","
			   "\"value\":\"Be kind.\"}");
	assert_int_equal(ask(f, "One?"), RT_OK);
	assert_int_equal(ask(f, "Two?"), RT_OK);
	world_apply(&f->w, "{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"Uno?\"}");
	value = rt_engine_value(f->w.engine);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_engine_export(f->w.engine, value, place, true, &all, NULL), RT_OK);
	assert_int_equal(
		rt_engine_export_last_requests(f->w.engine, value, f->s.model.provider, &all, NULL),
		RT_OK);
	assert_int_equal(rt_format_toml.write(rt_alloc_libc(), &all, &how, &out, NULL), RT_OK);
	rt_buf_add_byte(&out, '\0');
	if (strstr(out.ptr, "sent_system_prompt = \"Be kind.\"") == NULL ||
	    strstr(out.ptr, "One?\n\n## assistant\n\nYes.\n\n## user\n\nTwo?") == NULL)
		fail_msg("%s", out.ptr);
	rt_outlines_deinit(&all);
	rt_object_unref(value);
	rt_buf_deinit(&out);
}

/* Reasoning signed by one server is not sent to another one of its kind. */
static void
signatures_stay_where_they_are_from(void **state)
{
	static const say signed_reply[] = {{SAY_THINKING, "hm", 0, NULL, NULL},
					   {SAY_SIGNATURE, "c2ln", 0, NULL, NULL},
					   {SAY_TEXT, "Yes.", 0, NULL, NULL}};
	static const struct {
		const char *from, *to;
		bool goes;
	} cases[] = {{"", "", true},	    {"work", "work", true}, {"work", "home", false},
		     {"work", "", false},   {"", "work", false},    {"anthropic", "", true}};
	fixture *f = *state;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		world_apply(&f->w, "{\"op\":\"take.clear\"}");
		f->s.pieces = signed_reply;
		f->s.count = 3;
		f->s.model.service = rt_str_of(cases[i].from);
		assert_int_equal(ask(f, "One?"), RT_OK);
		f->s.model.service = rt_str_of(cases[i].to);
		assert_int_equal(ask(f, "Two?"), RT_OK);
		if ((strstr(f->asked.ptr, "c2ln") != NULL) != cases[i].goes)
			fail_msg("\"%s\" to \"%s\": %s", cases[i].from, cases[i].to, f->asked.ptr);
		assert_true(sent_again(f)); /* and so does the rebuilt request */
		assert_string_equal(f->w.out.ptr, f->asked.ptr);
	}
}

#define WITH_WORLD(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(what_was_sent_last_is_built_again),
		WITH_WORLD(what_changed_since_is_said),
		WITH_WORLD(a_purge_reaches_it),
		WITH_WORLD(toml_carries_it),
		WITH_WORLD(signatures_stay_where_they_are_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
