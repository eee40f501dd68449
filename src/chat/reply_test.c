/* SPDX-License-Identifier: MIT
 *
 * Replies: the data from readers, and the resulting entry. */
#include <setjmp.h>
#include <string.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "chat/reply.h"

static rt_reply reply;
static rt_buf out, heard;

static void
hear(void *ctx, rt_reply_block_kind kind, size_t block, rt_str added)
{
	(void)ctx;
	assert_int_equal(rt_utf8_valid_size(added), added.size);
	rt_buf_add_f(&heard, "%c%zu(%.*s)", "XTC"[kind], block, RT_STR_ARG(added));
}

static void
begin_with(const rt_alloc *alloc)
{
	rt_reply_init(&reply, alloc, hear, NULL);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&heard, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&out, "");
}

static void
begin(void)
{
	begin_with(rt_alloc_libc());
}

static void
end(void)
{
	rt_reply_deinit(&reply);
	rt_buf_deinit(&out);
	rt_buf_deinit(&heard);
}

static void
text(const char *words)
{
	rt_reply_add_text(&reply, rt_str_of(words));
}

static void
thinking(const char *words)
{
	rt_reply_add_thinking(&reply, rt_str_of(words));
}

static void
call(uint64_t index, const char *id, const char *name, const char *arguments)
{
	rt_reply_add_call(&reply, index, rt_str_of(id), rt_str_of(name), rt_str_of(arguments));
}

/* The finished reply is this entry: its content, and its fields. It is valid JSON. */
static void
becomes(const char *content, const char *fields)
{
	rt_json_doc *doc;
	rt_buf whole;

	rt_reply_finish(&reply);
	assert_int_equal(reply.status, RT_OK);
	rt_buf_clear(&out);
	rt_reply_add_content(&reply, &out);
	assert_string_equal(out.ptr, content);
	rt_buf_init(&whole, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_f(&whole, "{\"content\":%s", content);
	rt_buf_clear(&out);
	rt_buf_add_c(&out, "");
	rt_reply_add_fields(&reply, &out);
	assert_string_equal(out.ptr == NULL ? "" : out.ptr, fields[0] == ',' ? fields + 1 : fields);
	rt_buf_add_f(&whole, "%s}", fields);
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&whole), &doc, NULL), RT_OK);
	rt_json_free(doc);
	rt_buf_deinit(&whole);
}

static void
nothing(void **state)
{
	(void)state;
	begin();
	assert_true(rt_reply_is_empty(&reply));
	text("");
	thinking("");
	rt_reply_begin_thinking(&reply);
	assert_true(rt_reply_is_empty(&reply));
	becomes("\"\"", "");
	end();
}

static void
a_text(void **state)
{
	rt_usage usage = {12, 3, SIZE_MAX, SIZE_MAX}, more = {SIZE_MAX, 5, 4, SIZE_MAX};

	(void)state;
	begin();
	reply.provider = "openai";
	rt_reply_set_model(&reply, RT_STR("m-1"));
	text("Hello ");
	text("you");
	rt_reply_set_usage(&reply, &usage);
	rt_reply_set_usage(&reply, &more);
	rt_reply_set_stop(&reply, RT_STOP_END);
	assert_false(rt_reply_is_empty(&reply));
	becomes("\"Hello you\"",
		",\"provider\":\"openai\",\"model\":\"m-1\",\"stop_reason\":\"stop\","
		"\"usage\":{\"input_tokens\":12,\"output_tokens\":5,\"cache_read_input_tokens\":4}");
	assert_string_equal(heard.ptr, "X0(Hello )X0(you)");
	end();
}

static void
thinking_before_a_text(void **state)
{
	(void)state;
	begin();
	thinking("hm");
	thinking(", well");
	text("Yes.");
	becomes("\"Yes.\"", ",\"thinking_segments\":[{\"text\":\"hm, well\"}]");
	assert_string_equal(heard.ptr, "T0(hm)T0(, well)X1(Yes.)");
	end();
}

static void
signed_thinking(void **state)
{
	rt_json_doc *doc;
	rt_buf hash;

	(void)state;
	begin();
	rt_reply_begin_thinking(&reply);
	thinking("one");
	rt_reply_add_signature(&reply, RT_STR("s"));
	rt_reply_add_signature(&reply, RT_STR("1"));
	rt_reply_begin_thinking(&reply);
	thinking("two");
	rt_reply_add_signature(&reply, RT_STR("s2"));
	thinking("three: what is signed is complete");
	rt_reply_add_redacted(&reply, RT_STR("{\"type\":\"redacted_thinking\",\"data\":\"x\"}"));
	text("Yes.");
	rt_buf_init(&hash, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&hash, ",\"thinking_segments\":[{\"text\":\"one\",\"signature\":\"s1\"},"
			    "{\"text\":\"two\",\"signature\":\"s2\"},"
			    "{\"text\":\"three: what is signed is complete\"},"
			    "{\"redacted\":{\"type\":\"redacted_thinking\",\"data\":\"x\"}}],"
			    "\"signed_text\":\"");
	rt_reply_add_signed_text(RT_STR("Yes."), NULL, rt_alloc_libc(), &hash);
	rt_buf_add_c(&hash, "\"");
	becomes("\"Yes.\"", hash.ptr);
	end();

	/* the hash is of the value, not of its bytes */
	rt_buf_clear(&hash);
	assert_int_equal(rt_json_read(rt_alloc_libc(), RT_STR("[{\"a\":1,\"b\":[]}]"), &doc, NULL), RT_OK);
	rt_reply_add_signed_text(RT_STR(""), rt_json_root(doc), rt_alloc_libc(), &hash);
	rt_json_free(doc);
	assert_int_equal(hash.size, 16);
	assert_int_equal(rt_json_read(rt_alloc_libc(), RT_STR("[ {\"b\":[ ],\"a\":1} ]"), &doc, NULL), RT_OK);
	rt_reply_add_signed_text(RT_STR(""), rt_json_root(doc), rt_alloc_libc(), &hash);
	rt_json_free(doc);
	assert_memory_equal(hash.ptr, hash.ptr + 16, 16);
	rt_reply_add_signed_text(RT_STR("other"), NULL, rt_alloc_libc(), &hash);
	assert_memory_not_equal(hash.ptr, hash.ptr + 32, 16);
	rt_buf_deinit(&hash);
}

static void
calls(void **state)
{
	(void)state;
	begin();
	thinking("look");
	text("I look.");
	call(0, "c1", "read", "");
	call(1, "", "list", "{\"a\": ");
	call(0, "", "", "{\"path\":\"x\"}");
	call(1, "", "", "[1.10]}");
	call(2, "", "none", "");
	call(3, "c4", "bad", "{\"a\":");
	call(4, "c5", "array", "[1]");
	assert_true(rt_reply_has_call(&reply, 4));
	assert_false(rt_reply_has_call(&reply, 5));
	assert_int_equal(rt_reply_call_count(&reply), 5);
	rt_reply_set_stop(&reply, RT_STOP_CALLS);
	becomes("[{\"type\":\"thinking\",\"thinking\":\"look\"},{\"type\":\"text\",\"text\":\"I look.\"},"
		"{\"type\":\"toolCall\",\"id\":\"c1\",\"name\":\"read\",\"arguments\":{\"path\":\"x\"}},"
		"{\"type\":\"toolCall\",\"id\":\"call_2\",\"name\":\"list\",\"arguments\":{\"a\":[1.10]}},"
		"{\"type\":\"toolCall\",\"id\":\"call_3\",\"name\":\"none\",\"arguments\":{}},"
		"{\"type\":\"toolCall\",\"id\":\"c4\",\"name\":\"bad\",\"arguments\":\"{\\\"a\\\":\"},"
		"{\"type\":\"toolCall\",\"id\":\"c5\",\"name\":\"array\",\"arguments\":\"[1]\"}]",
		",\"stop_reason\":\"tool_calls\"");
	end();

	/* a server that counts every call as number 0 */
	begin();
	call(0, "a", "f", "{}");
	call(0, "b", "g", "{\"x\"");
	call(0, "", "", ":1}");
	rt_reply_add_call_signature(&reply, 0, RT_STR("sig"));
	rt_reply_add_call_signature(&reply, 9, RT_STR("nobody's"));
	rt_reply_finish(&reply);
	rt_reply_add_content(&reply, &out);
	assert_string_equal(out.ptr,
			    "[{\"type\":\"toolCall\",\"id\":\"a\",\"name\":\"f\",\"arguments\":{}},"
			    "{\"type\":\"toolCall\",\"id\":\"b\",\"name\":\"g\",\"arguments\":{\"x\":1},"
			    "\"thoughtSignature\":\"sig\"}]");
	end();
}

static void
order_that_says_something(void **state)
{
	(void)state;
	begin();
	text("One.");
	thinking("hm");
	text("Two.");
	rt_reply_add_all_text(&reply, &out);
	assert_string_equal(out.ptr, "One.\nTwo.");
	becomes("[{\"type\":\"text\",\"text\":\"One.\"},{\"type\":\"thinking\",\"thinking\":\"hm\"},"
		"{\"type\":\"text\",\"text\":\"Two.\"}]",
		"");
	end();
}

/* ---- tags ---- */

static void
tagged(rt_stop stop, const char *said, const char *content, const char *fields)
{
	size_t cut;

	for (cut = 0; cut <= strlen(said); cut++) {
		begin();
		rt_reply_add_text(&reply, rt_str_at(said, cut));
		rt_reply_add_text(&reply, rt_str_of(said + cut));
		rt_reply_set_stop(&reply, stop);
		becomes(content, fields);
		end();
	}
}

static void
tags(void **state)
{
	(void)state;
	tagged(RT_STOP_END, "<thinking>hm</thinking>Yes.", "\"Yes.\"",
	       ",\"stop_reason\":\"stop\",\"thinking_segments\":[{\"text\":\"hm\"}]");
	tagged(RT_STOP_END, "\n <think>\nhm\n</think>\n\n Yes. \n", "\"Yes. \\n\"",
	       ",\"stop_reason\":\"stop\",\"thinking_segments\":[{\"text\":\"hm\"}]");
	tagged(RT_STOP_END, "<think>a</think>\n<thinking>b</thinking>c<think>d</think>",
	       "\"c<think>d</think>\"",
	       ",\"stop_reason\":\"stop\",\"thinking_segments\":[{\"text\":\"a\"},{\"text\":\"b\"}]");
	tagged(RT_STOP_END, "<think></think>Yes.", "\"Yes.\"", ",\"stop_reason\":\"stop\"");
	tagged(RT_STOP_END, "<think>all of it</think>", "\"\"",
	       ",\"stop_reason\":\"stop\",\"thinking_segments\":[{\"text\":\"all of it\"}]");
	/* not our tags */
	tagged(RT_STOP_END, " Say <think>x</think>", "\" Say <think>x</think>\"",
	       ",\"stop_reason\":\"stop\"");
	tagged(RT_STOP_END, "<thinker>x</thinker>", "\"<thinker>x</thinker>\"",
	       ",\"stop_reason\":\"stop\"");
	/* not closed: the reply was cut short, or it is meant as text */
	tagged(RT_STOP_END, "<think> is a tag", "\"<think> is a tag\"", ",\"stop_reason\":\"stop\"");
	tagged(RT_STOP_LENGTH, "<think>hm, and ", "\"\"",
	       ",\"stop_reason\":\"length\",\"thinking_segments\":[{\"text\":\"hm, and\"}]");
	tagged(RT_STOP_USER, "<think>\xE2\x82", "\"\"",
	       ",\"stop_reason\":\"stopped\",\"thinking_segments\":[{\"text\":\"\xEF\xBF\xBD\xEF\xBF\xBD\"}]");
}

static void
once_only(void **state)
{
	(void)state;
	begin();
	text("<think>a</think><think>");
	rt_reply_set_stop(&reply, RT_STOP_END);
	rt_reply_finish(&reply);
	rt_reply_finish(&reply);
	reply.stop = RT_STOP_CUT;
	becomes("\"<think>\"", ",\"stop_reason\":\"cut\",\"thinking_segments\":[{\"text\":\"a\"}]");
	end();
}

/* Thinking between more tags than there may be blocks stays in the text, and calls still have
 * their blocks. */
static void
tags_without_end(void **state)
{
	static const char *const between[] = {"", "b"};
	enum { TAGS = 5000 };

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		size_t thoughts = 0, calls = 0;
		rt_buf all;

		begin();
		rt_buf_init(&all, rt_alloc_libc(), RT_BUF_UNLIMITED);
		for (size_t i = 0; i < TAGS; i++) {
			text("<think>a</th");
			text("ink>");
			text(between[k]);
		}
		text("<think>open");
		call(0, "id", "f", "{}");
		rt_reply_set_stop(&reply, RT_STOP_CALLS);
		rt_reply_finish(&reply);
		assert_int_equal(reply.status, RT_OK);
		for (size_t i = 0; i < reply.block_count; i++) {
			thoughts += reply.blocks[i].kind == RT_REPLY_THINKING;
			calls += reply.blocks[i].kind == RT_REPLY_CALL;
		}
		assert_int_equal(calls, 1);
		rt_reply_add_all_text(&reply, &all);
		size_t written = (TAGS - thoughts) * strlen("<think>a</think>") +
				 TAGS * strlen(between[k]) + strlen("<think>open");
		assert_int_equal(thoughts, k == 0 ? RT_REPLY_TAGGED_MAX - 2 : 1);
		assert_int_equal(all.size, written);
		rt_buf_deinit(&all);
		end();
	}
}

/* ---- characters ---- */

static void
characters_in_pieces(void **state)
{
	static const char *const texts[] = {
		"a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z",    /* two, three, four bytes */
		"\xC3",	       "\xE2\x82",     "\xF0\x9F\x98", /* incomplete at the end */
		"\xC3\xC3\xA9", "\xE2\xE2\x82\xAC", "\xF0\x9F\xE2\x82\xAC", /* broken off */
		"\x80\xBF",    "\xC0\x80",     "\xED\xA0\x80", /* no beginning, too long, surrogate */
		"\xF4\x90\x80\x80", "\xF5\x80", "\xFF\xFE", "\xE0\x80\x80", "\xF0\x80\x80\x80",
		"\xE2\x28\xA1", "a\xF0\x9F\x98""b", "\xF0\x9F""a\x98\x80",
	};
	size_t i, cut, second;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		rt_str s = rt_str_of(texts[i]);
		rt_buf whole;

		rt_buf_init(&whole, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_utf8_repair(&whole, s);
		for (cut = 0; cut <= s.size; cut++) {
			for (second = cut; second <= s.size; second++) {
				begin();
				rt_reply_add_text(&reply, rt_str_at(s.ptr, cut));
				rt_reply_add_text(&reply, rt_str_at(s.ptr + cut, second - cut));
				rt_reply_add_text(&reply, rt_str_at(s.ptr + second, s.size - second));
				rt_reply_finish(&reply);
				rt_reply_add_all_text(&reply, &out);
				assert_string_equal(out.ptr, whole.ptr);
				end();
			}
		}
		rt_buf_deinit(&whole);
	}
	/* only whole characters are reported */
	begin();
	text("\xF0\x9F");
	text("\x98");
	text("\x80!");
	assert_string_equal(heard.ptr, "X0(\xF0\x9F\x98\x80!)");
	end();
}

/* ---- limits ---- */

static void
too_large(void **state)
{
	size_t i;

	(void)state;
	begin();
	reply.size_max = 10;
	text("12345");
	text("67890");
	assert_int_equal(reply.status, RT_OK);
	text("1");
	assert_int_equal(reply.status, RT_LIMIT);
	text("2");
	rt_reply_finish(&reply);
	rt_reply_add_content(&reply, &out);
	assert_string_equal(out.ptr, "\"1234567890\"");
	end();
	begin();
	for (i = 0; i < RT_REPLY_BLOCK_MAX; i++)
		call(i, "", "f", "");
	assert_int_equal(reply.status, RT_OK);
	call(i, "", "f", "");
	assert_int_equal(reply.status, RT_LIMIT);
	end();
}

/* Arguments that are valid alone, but nested too deeply in an entry within a request. */
static void
too_deep(void **state)
{
	rt_json_doc *doc;
	rt_buf deep;
	int levels, i;

	(void)state;
	for (levels = 480; levels < RT_JSON_DEPTH_MAX + 2; levels++) {
		rt_buf_init(&deep, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_add_c(&deep, "{\"a\":");
		for (i = 1; i < levels; i++)
			rt_buf_add_byte(&deep, '[');
		for (i = 1; i < levels; i++)
			rt_buf_add_byte(&deep, ']');
		rt_buf_add_c(&deep, "}");
		begin();
		rt_reply_add_call(&reply, 0, RT_STR("c"), RT_STR("f"), rt_buf_str(&deep));
		rt_reply_finish(&reply);
		assert_int_equal(reply.status, RT_OK);
		rt_buf_add_c(&out, "[[[[[[[[[[");
		rt_reply_add_content(&reply, &out);
		rt_buf_add_c(&out, "]]]]]]]]]]");
		assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&out), &doc, NULL), RT_OK);
		rt_json_free(doc);
		end();
		rt_buf_deinit(&deep);
	}
}

static void
stops_have_words(void **state)
{
	(void)state;
	assert_string_equal(rt_stop_word(RT_STOP_NONE), "");
	assert_string_equal(rt_stop_word(RT_STOP_FILTER), "filtered");
	begin();
	rt_reply_set_error(&reply, RT_STR("over\xFFloaded"));
	assert_true(reply.ended);
	becomes("\"\"", ",\"stop_reason\":\"error\",\"error\":\"over\xEF\xBF\xBDloaded\"");
	end();
}

/* ---- memory ---- */

typedef struct failing {
	long left, live;
} failing;

static void *
failing_resize(void *ctx, void *ptr, size_t size)
{
	failing *f = ctx;
	void *got;

	if (f->left == 0)
		return NULL;
	if (f->left > 0)
		f->left--;
	got = rt_resize(rt_alloc_libc(), ptr, size);
	f->live += got != NULL && ptr == NULL;
	return got;
}

static void
failing_release(void *ctx, void *ptr)
{
	failing *f = ctx;

	f->live -= ptr != NULL;
	rt_free(rt_alloc_libc(), ptr);
}

/* A reply with all kinds of data, until memory runs out; was its end reported? */
static bool
all_of_it(failing *f)
{
	rt_alloc alloc = {failing_resize, failing_release, f};
	bool told;

	begin_with(&alloc);
	rt_reply_set_model(&reply, RT_STR("m"));
	text("<think>a\xE2\x82");
	text("\xAC</think>b");
	thinking("hm");
	rt_reply_add_signature(&reply, RT_STR("s"));
	rt_reply_add_redacted(&reply, RT_STR("{\"type\":\"redacted_thinking\"}"));
	call(1, "", "f", "{\"a\":1}");
	call(2, "c", "g", "oops");
	rt_reply_add_call_signature(&reply, 2, RT_STR("s"));
	rt_reply_set_error(&reply, RT_STR("e"));
	rt_reply_finish(&reply);
	rt_reply_add_content(&reply, &out);
	rt_reply_add_fields(&reply, &out);
	told = reply.status == RT_NOMEM || out.status == RT_NOMEM;
	end();
	assert_int_equal(f->live, 0);
	return told;
}

static void
no_memory(void **state)
{
	failing f = {1000000, 0};
	long count, n;

	(void)state;
	assert_false(all_of_it(&f));
	count = 1000000 - f.left;
	assert_true(count > 20);
	for (n = 0; n < count; n++) {
		f.left = n;
		if (!all_of_it(&f))
			fail_msg("allocation %ld of %ld failed, and nobody said so", n, count);
	}
}

/* The end of the text that it continues does not appear twice. */
static void
a_beginning_that_is_there(void **state)
{
	static const struct {
		const char *end, *said, *kept;
	} cases[] = {
		{" ", " 42", "42"},
		{" ", "42", "42"},
		{" ", "  42", " 42"},
		{"\n", "\n\nAnd", "\nAnd"},
		{" \n", " And", "And"},
		{" ", "\nAnd", "\nAnd"},
		{"\xE3\x80\x80", "\xE3\x80\x80x", "x"},
		{" \xE3\x80\x80", " \xE3\x80\x81x", "\xE3\x80\x81x"}, /* the same two bytes */
		{"\xC2\xA0", "\xC2\xA1", "\xC2\xA1"},
		{"", " 42", " 42"},
	};
	size_t i, size, at;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size = 1; size < 6; size++) {
			rt_str said = rt_str_of(cases[i].said);

			begin();
			rt_reply_skip(&reply, rt_str_of(cases[i].end));
			thinking(" hm");
			for (at = 0; at < said.size; at += size)
				rt_reply_add_text(
					&reply,
					rt_str_at(said.ptr + at,
						  size < said.size - at ? size : said.size - at));
			rt_reply_finish(&reply);
			rt_reply_add_all_text(&reply, &out);
			if (!rt_str_is(rt_buf_str(&out), cases[i].kept))
				fail_msg("%zu in pieces of %zu: %s", i, size, out.ptr);
			end();
		}
	}
	begin();
	rt_reply_skip(&reply, RT_STR(" "));
	text(" ");
	assert_true(rt_reply_is_empty(&reply));
	end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),
		cmocka_unit_test(a_beginning_that_is_there),
		cmocka_unit_test(a_text),
		cmocka_unit_test(thinking_before_a_text),
		cmocka_unit_test(signed_thinking),
		cmocka_unit_test(calls),
		cmocka_unit_test(order_that_says_something),
		cmocka_unit_test(tags),
		cmocka_unit_test(once_only),
		cmocka_unit_test(tags_without_end),
		cmocka_unit_test(characters_in_pieces),
		cmocka_unit_test(too_large),
		cmocka_unit_test(too_deep),
		cmocka_unit_test(stops_have_words),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
