/* SPDX-License-Identifier: MIT
 *
 * Texts inside contents: read, changed, replaced, cut, joined; other blocks are unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "codec/content.h"

/* JSON is written with ' for ". */
typedef struct fixture {
	rt_json_doc *doc;
	rt_json_doc *other;
	rt_buf out, more;
} fixture;

static rt_content
content(rt_json_doc **doc, const char *json)
{
	rt_buf buf;
	size_t i;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&buf, json);
	for (i = 0; i < buf.size; i++)
		if (buf.ptr[i] == '\'')
			buf.ptr[i] = '"';
	rt_json_free(*doc);
	*doc = NULL;
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&buf), doc, NULL), RT_OK);
	rt_buf_deinit(&buf);
	return rt_content_of(rt_json_root(*doc));
}

static void
assert_out(rt_buf *out, const char *wanted)
{
	size_t i;

	assert_int_equal(out->status, RT_OK);
	for (i = 0; i < out->size; i++)
		if (out->ptr[i] == '"')
			out->ptr[i] = '\'';
	assert_string_equal(out->ptr == NULL ? "" : out->ptr, wanted);
	rt_buf_clear(out);
	if (out->ptr != NULL)
		out->ptr[0] = 0;
}

static int
setup(void **state)
{
	fixture *f = calloc(1, sizeof(*f));

	rt_buf_init(&f->out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&f->more, rt_alloc_libc(), RT_BUF_UNLIMITED);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	fixture *f = *state;

	rt_json_free(f->doc);
	rt_json_free(f->other);
	rt_buf_deinit(&f->out);
	rt_buf_deinit(&f->more);
	free(f);
	return 0;
}

#define TEXT(json, wanted) \
	do { \
		rt_content_add_text(&f->out, content(&f->doc, json)); \
		assert_out(&f->out, wanted); \
	} while (0)
/* The new content; its text must be the given one. */
#define SET(json, new_text, wanted) \
	do { \
		rt_content_set_text(&f->out, content(&f->doc, json), RT_STR(new_text)); \
		rt_content_add_text(&f->more, content(&f->other, f->out.ptr)); \
		assert_out(&f->out, wanted); \
		assert_out(&f->more, new_text); \
	} while (0)

static void
the_text_is_that_of_its_blocks(void **state)
{
	fixture *f = *state;

	TEXT("'a'", "a");
	TEXT("7", "");
	TEXT("[]", "");
	TEXT("[{'type':'text','text':'a'}]", "a");
	TEXT("['a',{'text':'b'},{'type':'image','data':'x'},{'type':'output_text','text':'c'}]",
	     "a\nb\nc");
	TEXT("[{'type':'thinking','thinking':'t'},{'type':'reasoning','text':'no'},7,null,"
	     "{'type':'text','text':7},{'type':'toolCall','name':'read'}]",
	     "");
	assert_int_equal(rt_content_text_count(content(&f->doc, "'a'")), 1);
	assert_int_equal(rt_content_text_count(content(&f->doc, "['a',7,'b']")), 2);
}

static void
a_change_leaves_the_rest_alone(void **state)
{
	fixture *f = *state;

	SET("'old'", "new", "'new'");
	SET("[{'type':'thinking','thinking':'t','thinkingSignature':'s'},"
	    "{'type':'text','text':'old','cache_control':{'n':1.10}},"
	    "{'type':'toolCall','id':'1','name':'read','arguments':{},'thoughtSignature':'g'}]",
	    "new",
	    "[{'type':'thinking','thinking':'t','thinkingSignature':'s'},"
	    "{'type':'text','text':'new','cache_control':{'n':1.10}},"
	    "{'type':'toolCall','id':'1','name':'read','arguments':{},'thoughtSignature':'g'}]");
	SET("['old']", "new", "['new']");
	SET("[{'type':'image'},{'type':'text','text':'old'}]", "",
	    "[{'type':'image'},{'type':'text','text':''}]");
}

static void
a_signature_goes_with_the_text_that_it_signs(void **state)
{
	fixture *f = *state;

	SET("[{'type':'text','text':'old','textSignature':'s','annotations':[1],'x':1}]", "new",
	    "[{'type':'text','text':'new','x':1}]");
	SET("[{'type':'text','text':'old','textSignature':'s'}]", "old",
	    "[{'type':'text','text':'old','textSignature':'s'}]");
}

static void
a_text_where_there_was_none(void **state)
{
	fixture *f = *state;

	SET("[]", "new", "[{'type':'text','text':'new'}]");
	SET("[]", "", "[]");
	SET("[{'type':'toolCall','name':'a'}]", "", "[{'type':'toolCall','name':'a'}]");
	SET("[{'type':'thinking'},{'type':'toolCall','name':'a'},{'type':'toolCall','name':'b'}]",
	    "new",
	    "[{'type':'thinking'},{'type':'text','text':'new'},{'type':'toolCall','name':'a'},"
	    "{'type':'toolCall','name':'b'}]");
	SET("[{'type':'image'}]", "new", "[{'type':'image'},{'type':'text','text':'new'}]");
}

static void
of_several_texts_only_what_changed(void **state)
{
	fixture *f = *state;
	const char *three = "['one',{'type':'image'},'two','three']";

	SET(three, "one\ntwo\nthree", "['one',{'type':'image'},'two','three']");
	SET(three, "ONE\ntwo\nthree", "['ONE',{'type':'image'},'two','three']");
	SET(three, "one\nTWO\nthree", "['one',{'type':'image'},'TWO','three']");
	SET(three, "one\ntwo\nTHREE", "['one',{'type':'image'},'two','THREE']");
	SET(three, "ONE\ntwo\nTHREE", "['ONE\\ntwo\\nTHREE',{'type':'image'}]");
	SET(three, "one\nthree", "['one',{'type':'image'},'three']");
	SET(three, "new", "['new',{'type':'image'}]");
	SET(three, "", "['',{'type':'image'}]");
	SET("['','']", "\n", "['','']");
	SET("['','']", "", "['']");
	SET("['a','a','a']", "a\na", "['a','a']");
}

static void
replacing(void **state)
{
	fixture *f = *state;

	assert_int_equal(rt_content_replace(&f->out,
					    content(&f->doc, "['teh',{'text':'teh teh','n':1},"
							     "{'type':'toolCall','name':'teh'}]"),
					    RT_STR("teh"), RT_STR("the")),
			 3);
	assert_out(&f->out, "['the',{'text':'the the','n':1},{'type':'toolCall','name':'teh'}]");
	assert_int_equal(rt_content_replace(&f->out, content(&f->doc, "'aaa'"), RT_STR("aa"),
					    RT_STR("")),
			 1);
	assert_out(&f->out, "'a'");
}

#define CUT(json, at, wanted_first, wanted_second) \
	do { \
		rt_content_cut(&f->out, &f->more, content(&f->doc, json).blocks, at); \
		assert_out(&f->out, wanted_first); \
		assert_out(&f->more, wanted_second); \
	} while (0)
#define JOIN(first, second, is_array, wanted) \
	do { \
		assert_int_equal(rt_content_join(&f->out, content(&f->doc, first), \
						 content(&f->other, second)), \
				 is_array); \
		assert_out(&f->out, wanted); \
	} while (0)

static void
in_two_and_together(void **state)
{
	fixture *f = *state;

	CUT("[{'type':'thinking'},{'type':'text','text':'ab','x':1},{'type':'toolCall'}]", 1,
	    "[{'type':'thinking'},{'type':'text','text':'a','x':1}]",
	    "[{'type':'text','text':'b','x':1},{'type':'toolCall'}]");
	JOIN("[{'type':'thinking'},{'type':'text','text':'a','x':1}]",
	     "[{'type':'text','text':'b','x':1},{'type':'toolCall'}]", true,
	     "[{'type':'thinking'},{'type':'text','text':'ab','x':1},{'type':'toolCall'}]");
	JOIN("'a'", "'b'", false, "ab");
	JOIN("'a'", "['b']", false, "ab");
	JOIN("'a'", "[]", false, "a");
	JOIN("'a'", "['b','c']", true, "[{'type':'text','text':'ab'},'c']");
	JOIN("'a'", "[{'type':'image'}]", true, "[{'type':'text','text':'a'},{'type':'image'}]");
	JOIN("''", "[{'type':'image'}]", true, "[{'type':'image'}]");
	JOIN("['a']", "'b'", true, "['ab']");
	JOIN("['a']", "[]", true, "['a']");
	JOIN("[]", "'b'", true, "[{'type':'text','text':'b'}]");
	JOIN("[]", "[]", true, "[]");
	JOIN("[{'type':'image'}]", "'b'", true, "[{'type':'image'},{'type':'text','text':'b'}]");
	JOIN("[{'type':'image'}]", "''", true, "[{'type':'image'}]");
	JOIN("['a',{'type':'image'}]", "['b']", true, "['a',{'type':'image'},'b']");
}

#define BRIEF(json, record, wanted) \
	do { \
		rt_content c_ = content(&f->doc, json); \
		(void)content(&f->other, record); \
		rt_content_add_brief(&f->out, c_, NULL, rt_json_root(f->other)); \
		assert_out(&f->out, wanted); \
	} while (0)

static void
words_for_what_has_no_text(void **state)
{
	fixture *f = *state;

	BRIEF("[]", "null", "");
	BRIEF("[{'type':'toolCall','name':'read'},{'type':'tool_use','name':'bash'}]", "null",
	      "(calls read, bash)");
	BRIEF("[{'type':'image'}]", "null", "(an image)");
	BRIEF("[{'type':'thinking'},{'type':'image'},{'type':'image'},{'type':'toolCall'}]", "null",
	      "(calls a tool; thinking; 2 images)");
	BRIEF("[]", "{'message':{'stopReason':'aborted','errorMessage':'Request was aborted.'}}",
	      "(aborted: Request was aborted.)");
	BRIEF("[]", "{'message':{'stopReason':'aborted'}}", "(aborted)");
	BRIEF("[{'type':'toolCall','name':'bash'}]",
	      "{'message':{'stopReason':'error','errorMessage':'terminated'}}",
	      "(calls bash; error: terminated)");
	BRIEF("''", "{'type':'model_change','provider':'openai','modelId':'gpt-x'}",
	      "model: openai/gpt-x");
	BRIEF("''", "{'type':'thinking_level_change','thinkingLevel':'high'}", "thinking: high");
	rt_content_add_brief(&f->out, content(&f->doc, "''"),
			     content(&f->other, "[{'function':{'name':'search'}}]").blocks, NULL);
	assert_out(&f->out, "(calls search)");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_text_is_that_of_its_blocks, setup, teardown),
		cmocka_unit_test_setup_teardown(a_change_leaves_the_rest_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(a_signature_goes_with_the_text_that_it_signs, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_text_where_there_was_none, setup, teardown),
		cmocka_unit_test_setup_teardown(of_several_texts_only_what_changed, setup, teardown),
		cmocka_unit_test_setup_teardown(replacing, setup, teardown),
		cmocka_unit_test_setup_teardown(in_two_and_together, setup, teardown),
		cmocka_unit_test_setup_teardown(words_for_what_has_no_text, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
