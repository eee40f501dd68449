/* SPDX-License-Identifier: MIT */
#include "base/encode.h"
#include "base/sample_testing.h"
#include "formats/formats_random.h"

#include "formats/canonical_impl.h"
#include "formats/formats.h"
#include "formats/html_impl.h"
#include "formats/html_part.h"

/* ---- a strict little reader of HTML ---- */

/* The elements of a page without the content of script and style, each with its attributes as
 * written; anything that is not one of these fails. */
static const char *const allowed[] = {
	"html lang=\"en\"",
	"head",
	"meta charset=\"utf-8\"",
	"meta name=\"generator\" content=\"Retake html 2\"",
	"meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"",
	"meta name=\"color-scheme\" content=\"light dark\"",
	"meta name=\"referrer\" content=\"no-referrer\"",
	"link rel=\"icon\" href=\"data:,\"",
	"title",
	"/title",
	"style",
	"/style",
	"/head",
	"body",
	"main id=\"page\"",
	"section",
	"h2",
	"/h2",
	"article",
	"details",
	"summary",
	"/summary",
	"/details",
	"h3",
	"small",
	"/small",
	"/h3",
	"pre",
	"/pre",
	"/article",
	"p",
	"/p",
	"/section",
	"/main",
	"noscript",
	"/noscript",
	"script type=\"application/json\" id=\"retake-data\"",
	"script type=\"application/json\" id=\"retake-first\"",
	"script type=\"application/json\" id=\"retake-edited\"",
	"script type=\"application/json\" id=\"retake-alternatives\"",
	"script",
	"/script",
	"/body",
	"/html",
	"!doctype html",
	NULL,
};

/* One part of the page of these outlines. */
static void
add_part(void (*add)(rt_writer *w), const rt_outlines *in, rt_buf *out)
{
	rt_writer w;

	rt_writer_init(&w, rt_alloc_libc(), in, NULL, out);
	add(&w);
	assert_int_equal(rt_writer_end(&w, NULL), RT_OK);
}

static void
assert_has(const rt_buf *html, const char *text, bool has)
{
	assert_int_equal(rt_str_find(rt_buf_str(html), rt_str_of(text), 0) != SIZE_MAX, has);
}

/* A link that saves a file: nothing but base64, and a name without quotes or tags. */
static bool
is_file_link(rt_str tag)
{
	static const char start[] = "a href=\"data:application/octet-stream;base64,", name[] = "\" download=\"";
	size_t at = sizeof(start) - 1;

	if (!rt_str_starts(tag, rt_str_of(start)))
		return false;
	while (at < tag.size && (rt_base64_digit(tag.ptr[at]) >= 0 || tag.ptr[at] == '='))
		at++;
	return rt_str_starts(rt_str_skip(tag, at), rt_str_of(name)) &&
	       rt_str_find(tag, RT_STR("\""), at + sizeof(name) - 1) == tag.size - 1;
}

static bool
is_allowed(rt_str tag)
{
	static const char policy[] = "meta http-equiv=\"Content-Security-Policy\" content=\"";
	static const char blocks[] = "script type=\"application/json\" id=\"retake-blocks-";
	size_t i;

	for (i = 0; allowed[i] != NULL; i++)
		if (rt_str_is(tag, allowed[i]))
			return true;
	if (is_file_link(tag) || rt_str_is(tag, "/a"))
		return true;
	if (rt_str_starts(tag, rt_str_of(blocks))) { /* two numbers follow */
		for (i = sizeof(blocks) - 1; i < tag.size - 1; i++)
			if (tag.ptr[i] != '-' && (tag.ptr[i] < '0' || tag.ptr[i] > '9'))
				return false;
		return tag.ptr[i] == '"';
	}
	return rt_str_starts(tag, rt_str_of(policy)) &&
	       rt_str_find(tag, RT_STR("\""), sizeof(policy) - 1) == tag.size - 1;
}

static bool
starts_nocase(rt_str text, size_t at, const char *word)
{
	size_t size = strlen(word);

	return text.size - at >= size &&
	       rt_str_eq_nocase(rt_str_at(text.ptr + at, size), rt_str_of(word));
}

/* Texts that a script must not contain: its end tag, or anything that makes the parser skip
 * that. */
static size_t
check_raw(rt_str page, size_t at, const char *end)
{
	size_t from = at;

	for (;; at++) {
		at = rt_str_find(page, RT_STR("<"), at);
		assert_true(at != SIZE_MAX);
		if (starts_nocase(page, at, end))
			return at;
		if (starts_nocase(page, at, "<!--") || starts_nocase(page, at, "<script"))
			fail_msg("a script has %.20s in it (from byte %zu)", page.ptr + at, from);
	}
}

static void
check_page(rt_str page)
{
	size_t at = 0, data = 0, scripts = 0;

	assert_true(rt_utf8_valid_size(page) == page.size);
	assert_null(memchr(page.ptr, '\0', page.size));
	while (at < page.size) {
		size_t end;
		rt_str tag;

		if (page.ptr[at] == '&') { /* only references that we write */
			if (!starts_nocase(page, at, "&amp;") && !starts_nocase(page, at, "&lt;") &&
			    !starts_nocase(page, at, "&gt;") && !starts_nocase(page, at, "&quot;") &&
			    !starts_nocase(page, at, "&#39;"))
				fail_msg("a bare & at byte %zu", at);
		}
		if (page.ptr[at] != '<') {
			assert_true(page.ptr[at] != '>' && page.ptr[at] != '\r');
			at++;
			continue;
		}
		end = rt_str_find(page, RT_STR(">"), at);
		assert_true(end != SIZE_MAX);
		tag = rt_str_at(page.ptr + at + 1, end - at - 1);
		if (!is_allowed(tag))
			fail_msg("an element that is not ours: <%.*s>", RT_STR_ARG(tag));
		at = end + 1;
		if (rt_str_is(tag, "style"))
			at = check_raw(page, at, "</style");
		else if (rt_str_starts(tag, RT_STR("script"))) {
			scripts += rt_str_is(tag, "script");
			data += rt_str_find(tag, RT_STR("retake-data"), 0) != SIZE_MAX;
			at = check_raw(page, at, "</script");
		}
	}
	assert_int_equal(data, 1);
	assert_int_equal(scripts, rt_html_script.size > 0 ? 1 : 0);
}

/* ---- tests ---- */

static void
write_ok(const rt_outlines *in, const rt_format *format, rt_buf *out)
{
	rt_error err = {.text = ""};

	rt_buf_init(out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (format->write(rt_alloc_libc(), in, NULL, out, &err) != RT_OK)
		fail_msg("%s", err.text);
}

static void
assert_same_state(const rt_outlines *in, const rt_outlines *again)
{
	rt_buf first, second;

	write_ok(in, &rt_format_canonical, &first);
	write_ok(again, &rt_format_canonical, &second);
	assert_true(rt_str_eq(rt_buf_str(&first), rt_buf_str(&second)));
	rt_buf_deinit(&first);
	rt_buf_deinit(&second);
}

/* A project with this text in every place for text. */
static void
text_everywhere(rt_str text, rt_outlines *out)
{
	rt_build b;
	rt_buf json;
	rt_node node;
	rt_outline *o;
	int64_t path[3];
	rt_str copy;

	rt_build_init(&b, rt_alloc_libc(), NULL);
	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	o = rt_build_discussion(&b);
	copy = rt_build_copy(&b, text);
	o->name = copy;
	memset(&node, 0, sizeof(node));
	node.parent = -1;
	node.id = node.role = node.kind = node.label = copy;
	rt_build_body_open(&b, copy, false);
	rt_json_add_string(rt_build_body_field(&b, copy), copy);
	path[0] = (int64_t)rt_build_node(&b, &node);
	rt_buf_add_c(&json, "[{\"type\":\"text\",\"text\":");
	rt_json_add_string(&json, copy);
	rt_buf_add_c(&json, "},{\"type\":");
	rt_json_add_string(&json, copy);
	rt_buf_add_c(&json, ",\"name\":");
	rt_json_add_string(&json, copy);
	rt_buf_add_c(&json, "}]");
	node.parent = path[0];
	node.id = RT_STR("b");
	node.kind = node.label = rt_str_at(NULL, 0);
	rt_build_body_open(&b, rt_buf_str(&json), true);
	rt_buf_add_str(rt_build_body_field(&b, RT_STR("tool_calls")), rt_buf_str(&json));
	path[1] = (int64_t)rt_build_node(&b, &node);
	node.parent = path[1];
	node.id = RT_STR("c");
	rt_build_body_open(&b, rt_str_at(NULL, 0), false);
	path[2] = (int64_t)rt_build_node(&b, &node);
	rt_build_take(&b, copy, copy, path, 3);
	rt_build_take(&b, RT_STR("other"), rt_str_at(NULL, 0), path, 2);
	rt_build_field_string(&b, RT_STR("prompt"), copy);
	rt_build_field_string(&b, RT_STR("id"), copy);
	rt_build_field_in(&b, true, "", RT_STR("extra.note"), RT_STR("1"));
	assert_int_equal(rt_build_finish(&b, out, NULL), RT_OK);
	rt_buf_deinit(&json);
	rt_build_deinit(&b);
}

static void
test_hostile(void **state)
{
	static const rt_str texts[] = {
		RT_STR_INIT("plain"),
		RT_STR_INIT("</script><script>alert(1)</script>"),
		RT_STR_INIT("</SCRIPT ><img src=x onerror=alert(1)>"),
		RT_STR_INIT("<!-- <script> -->"),
		RT_STR_INIT("<!--<script>"),
		RT_STR_INIT("]]>"),
		RT_STR_INIT("\"'><svg/onload=alert(1)>"),
		RT_STR_INIT("'\" onmouseover=\"alert(1)"),
		RT_STR_INIT("</pre></article></main><h1>ours</h1>"),
		RT_STR_INIT("</title><script>alert(1)</script>"),
		RT_STR_INIT("</style><script>alert(1)</script>"),
		RT_STR_INIT("a\0b<\0script>"),
		RT_STR_INIT("\xE2\x80\xA8<\xE2\x80\xA9>"),
		RT_STR_INIT("\xE2\x80\xAE<!--\xE2\x81\xA6"),
		RT_STR_INIT("&lt;script&gt;&#60;script&#62;&amp"),
		RT_STR_INIT("\\u003cscript>\\"),
		RT_STR_INIT("a\rb\r\nc\n"),
		RT_STR_INIT("\x1B[31m\x7F\xC2\x9B"),
		RT_STR_INIT("[a](javascript:alert(1)) <javascript:alert(1)> ![x](data:text/html,x)"),
		RT_STR_INIT("<base href=//x/><meta http-equiv=refresh content=0>"),
		RT_STR_INIT("# h\n\n```html\n</script>\n```\n\n| a | <b> |\n|---|---|\n| c | d |\n"),
		RT_STR_INIT("<?php ?><![CDATA[ x ]]><!DOCTYPE y>"),
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		rt_outlines o, again;
		rt_buf page;

		text_everywhere(texts[i], &o);
		check_round_trip(&rt_format_html, &o, NULL, &page);
		check_page(rt_buf_str(&page));
		assert_int_equal(rt_format_html.read(rt_alloc_libc(), rt_buf_str(&page), &again, NULL,
						     NULL),
				 RT_OK);
		assert_same_state(&o, &again);
		rt_outlines_deinit(&again);
		rt_buf_deinit(&page);
		rt_outlines_deinit(&o);
	}
}

static void
test_random(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 150; seed += test_sample()) {
		rt_outlines o, again;
		rt_buf page;

		random_project(rt_alloc_libc(), seed, seed % 4, 12, &o);
		check_round_trip(&rt_format_html, &o, NULL, &page);
		check_page(rt_buf_str(&page));
		assert_ptr_equal(rt_format_sniff(rt_buf_str(&page)), &rt_format_html);
		assert_int_equal(rt_format_html.read(rt_alloc_libc(), rt_buf_str(&page), &again, NULL,
						     NULL),
				 RT_OK);
		assert_same_state(&o, &again);
		rt_outlines_deinit(&again);
		rt_buf_deinit(&page);
		rt_outlines_deinit(&o);
	}
}

/* Edited entries are marked beside the data, and in the version without script; the mark is read
 * back. */
static void
test_edited(void **state)
{
	rt_outlines o, again;
	rt_error err = {.text = ""};
	rt_buf page;

	(void)state;
	assert_int_equal(rt_format_canonical.read(rt_alloc_libc(),
					   RT_STR("{\"discussions\":[{\"name\":\"a\",\"takes\":[{\"name\":\"a\",\"entries\":["
						  "{\"id\":\"1\",\"content\":\"x\"}]}]},{\"name\":\"b\",\"takes\":[{\"name\":\"b\","
						  "\"entries\":[{\"id\":\"2\",\"content\":\"y\"},{\"id\":\"3\",\"role\":\"AI\","
						  "\"content\":\"z\",\"edited\":\"its own\"}]}]}]}"),
					   &o, NULL, &err),
			 RT_OK);
	check_round_trip(&rt_format_html, &o, NULL, &page);
	assert_null(strstr(page.ptr, HTML_EDITED));
	rt_buf_deinit(&page);
	o.items[1].nodes[1].edited = true;
	check_round_trip(&rt_format_html, &o, NULL, &page);
	check_page(rt_buf_str(&page));
	assert_non_null(strstr(page.ptr, HTML_EDITED "[[],[1]]\n" HTML_END));
	assert_non_null(strstr(page.ptr, "<h3>AI <small>edited</small></h3>"));
	assert_int_equal(rt_format_html.read(rt_alloc_libc(), rt_buf_str(&page), &again, NULL, NULL),
			 RT_OK);
	assert_false(again.items[0].nodes[0].edited);
	assert_false(again.items[1].nodes[0].edited);
	assert_true(again.items[1].nodes[1].edited);
	assert_same_state(&o, &again);
	rt_outlines_deinit(&again);
	rt_buf_deinit(&page);
	rt_outlines_deinit(&o);
}

/* The version without script: of the active take, and no more than this many entries. */
static void
test_static(void **state)
{
	static const char text[] =
		"{\"discussions\":[{\"active\":\"y\",\"labels\":{\"1\":\"la<bel\"},\"name\":\"d & e\",\"takes\":["
		"{\"name\":\"x\",\"entries\":[{\"id\":\"0\",\"content\":\"not this\"}]},"
		"{\"name\":\"y\",\"entries\":[{\"id\":\"1\",\"role\":\"User\",\"content\":\"a < b\",\"muted\":true,"
		"\"ts\":\"2026-11-21T20:35:40Z\"},"
		"{\"id\":\"2\",\"role\":\"AI\",\"content\":[{\"type\":\"text\",\"text\":\"it is\"},"
		"{\"type\":\"image\"}]},{\"id\":\"3\",\"content\":\"\",\"purged\":true}]}]}]}";
	rt_outlines o;
	rt_buf page, html;

	(void)state;
	assert_int_equal(rt_format_canonical.read(rt_alloc_libc(), rt_str_of(text), &o, NULL, NULL),
			 RT_OK);
	rt_buf_init(&html, rt_alloc_libc(), RT_BUF_UNLIMITED);
	add_part(rt_html_add_static, &o, &html);
	assert_string_equal(html.ptr,
			    "<section>\n<h2>d &amp; e</h2>\n"
			    "<article>\n<h3>User <small>2026-11-21T20:35:40Z</small> <small>la&lt;bel"
			    "</small> <small>muted</small></h3>\n<pre>\na &lt; b</pre>\n</article>\n"
			    "<article>\n<h3>AI</h3>\n<pre>\nit is\n(an image)</pre>\n</article>\n"
			    "<article>\n<h3></h3>\n<pre>\nThis text was purged.</pre>\n</article>\n"
			    "</section>\n");
	rt_buf_clear(&html);
	add_part(rt_html_add_blocks, &o, &html);
	assert_string_equal(html.ptr,
			    "<script type=\"application/json\" id=\"retake-blocks-0-0\">"
			    "[null,[{\"t\":\"p\",\"at\":[0,5],\"c\":[\"a \\u003c b\"]}],[null,null],null]\n"
			    "</script>\n");
	write_ok(&o, &rt_format_html, &page);
	check_page(rt_buf_str(&page));
	rt_buf_deinit(&page);
	rt_buf_deinit(&html);
	rt_outlines_deinit(&o);
}

/* An attached file can be saved without script, and its text read; its name is only text, and data that is not base64 is
 * left out. */
static void
test_static_files(void **state)
{
	static const char text[] =
		"{\"discussions\":[{\"name\":\"d\",\"takes\":[{\"name\":\"d\",\"entries\":[{\"id\":\"1\",\"content\":["
		"{\"type\":\"file\",\"name\":\"a\\\"<b>.txt\",\"mimeType\":\"text/html\",\"data\":\"PGI+\"},"
		"{\"type\":\"file\",\"name\":\"c.pdf\",\"size\":3,\"data\":\"JVAA\"},"
		"{\"type\":\"file\",\"name\":\"e\",\"data\":\"\\\"><script>\"}]}]}]}]}";
	rt_outlines o;
	rt_buf page, html;

	(void)state;
	assert_int_equal(rt_format_canonical.read(rt_alloc_libc(), rt_str_of(text), &o, NULL, NULL),
			 RT_OK);
	rt_buf_init(&html, rt_alloc_libc(), RT_BUF_UNLIMITED);
	add_part(rt_html_add_static, &o, &html);
	assert_has(&html,
		   "<details><summary>a&quot;&lt;b&gt;.txt</summary><pre>\n&lt;b&gt;</pre></details>\n"
		   "<p><a href=\"data:application/octet-stream;base64,PGI+\" "
		   "download=\"a&quot;&lt;b&gt;.txt\">Save a&quot;&lt;b&gt;.txt</a></p>\n"
		   "<p><a href=\"data:application/octet-stream;base64,JVAA\" download=\"c.pdf\">"
		   "Save c.pdf</a></p>\n</article>",
		   true);
	write_ok(&o, &rt_format_html, &page);
	check_page(rt_buf_str(&page));
	rt_buf_deinit(&page);
	rt_buf_deinit(&html);
	rt_outlines_deinit(&o);
}

/* A take of count entries, the last of them hostile; the head there, or at the first. The outlines
 * look into the text. */
static void
long_take(size_t count, bool is_head_first, rt_buf *text, rt_outlines *out)
{
	size_t i;

	rt_buf_clear(text);
	rt_buf_add_f(text,
		     "{\"discussions\":[{\"name\":\"d\",%s\"takes\":[{\"name\":\"t\",\"entries\":[",
		     is_head_first ? "\"head\":\"e0\"," : "");
	for (i = 0; i < count; i++)
		rt_buf_add_f(text, "%s{\"id\":\"e%zu\",\"role\":\"AI\",\"content\":\"%s\"}",
			     i > 0 ? "," : "", i,
			     i + 1 == count ? "<!--</script><script>*x*" : "a");
	rt_buf_add_c(text, "]}]}]}");
	assert_int_equal(
		rt_format_canonical.read(rt_alloc_libc(), rt_buf_str(text), out, NULL, NULL),
		RT_OK);
}

/* The end of a long take comes before everything else, and does not change the result of
 * reading. */
static void
test_first(void **state)
{
	rt_outlines o, again;
	rt_buf text, page, html;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&html, rt_alloc_libc(), RT_BUF_UNLIMITED);
	long_take(HTML_MANY, false, &text, &o);
	write_ok(&o, &rt_format_html, &page);
	check_page(rt_buf_str(&page));
	assert_true(rt_html_script.size == 0 ||
		    rt_str_find(rt_buf_str(&page), RT_STR(HTML_FIRST), 0) <
			    rt_str_find(rt_buf_str(&page), RT_STR("<noscript>"), 0));
	assert_int_equal(
		rt_format_html.read(rt_alloc_libc(), rt_buf_str(&page), &again, NULL, NULL), RT_OK);
	assert_same_state(&o, &again);
	add_part(rt_html_add_first, &o, &html);
	assert_true(rt_str_starts(rt_buf_str(&html),
				  RT_STR(HTML_FIRST "{\"before\":4970,\"blocks\":[null,")));
	assert_has(&html, "\"data\":{\"active\":\"d\",\"discussions\":[", true);
	assert_has(&html, "\"head\":\"e4999\"", true);
	assert_has(&html, "\"id\":\"e4969\"", false);
	assert_has(&html, "\"id\":\"e4970\"", true);
	rt_buf_deinit(&page);
	rt_outlines_deinit(&again);
	rt_outlines_deinit(&o);
	/* not if there are few, nor if the head is elsewhere */
	rt_buf_clear(&html);
	long_take(HTML_MANY - 1, false, &text, &o);
	add_part(rt_html_add_first, &o, &html);
	rt_outlines_deinit(&o);
	long_take(HTML_MANY, true, &text, &o);
	add_part(rt_html_add_first, &o, &html);
	assert_int_equal(html.size, 0);
	rt_outlines_deinit(&o);
	rt_buf_deinit(&html);
	rt_buf_deinit(&text);
}

/* A take whose last entries have this many letters. */
static void
fat_take(size_t size, char letter, rt_buf *text, rt_outlines *out)
{
	size_t i, k;

	rt_buf_clear(text);
	rt_buf_add_c(text,
		     "{\"discussions\":[{\"name\":\"d\",\"takes\":[{\"name\":\"t\",\"entries\":[");
	for (i = 0; i < HTML_MANY; i++) {
		rt_buf_add_f(text, "%s{\"id\":\"e%zu\",\"role\":\"AI\",\"content\":\"a",
			     i > 0 ? "," : "", i);
		for (k = 0; k < size && i + HTML_FIRST_MAX >= HTML_MANY; k++)
			rt_buf_add_byte(text, letter);
		rt_buf_add_c(text, "\"}");
	}
	rt_buf_add_c(text, "]}]}]}");
	assert_int_equal(
		rt_format_canonical.read(rt_alloc_libc(), rt_buf_str(text), out, NULL, NULL),
		RT_OK);
}

/* The part that comes first has a limit in bytes, too; but it contains at least one entry. */
static void
test_first_size(void **state)
{
	static const struct {
		size_t size;
		char letter;
		const char *begin;
		bool fits;
	} tries[] = {
		{200, 'a', HTML_FIRST "{\"before\":4970,", true},
		{10000, 'a', HTML_FIRST "{\"before\":49", true},
		{20000, '<', HTML_FIRST "{\"before\":4999,", true},
		{HTML_FIRST_BYTES, 'a', HTML_FIRST "{\"before\":4999,", false},
	};
	rt_buf text, html, page, once, twice;
	rt_outlines o, again;
	size_t i;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&html, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < sizeof(tries) / sizeof(tries[0]); i += test_sample()) {
		fat_take(tries[i].size, tries[i].letter, &text, &o);
		rt_buf_clear(&html);
		add_part(rt_html_add_first, &o, &html);
		assert_true(rt_str_starts(rt_buf_str(&html), rt_str_of(tries[i].begin)));
		assert_int_equal(html.size <= HTML_FIRST_BYTES, tries[i].fits);
		if (i > 0) /* entries that still fit are included */
			assert_true(html.size > HTML_FIRST_BYTES / 2);
		assert_has(&html, "\"head\":\"e4999\"", true);
		write_ok(&o, &rt_format_html, &page);
		assert_int_equal(
			rt_format_html.read(rt_alloc_libc(), rt_buf_str(&page), &again, NULL, NULL),
			RT_OK);
		write_ok(&o, &rt_format_canonical, &once);
		write_ok(&again, &rt_format_canonical, &twice);
		assert_true(rt_str_eq(rt_buf_str(&once), rt_buf_str(&twice)));
		rt_buf_deinit(&once);
		rt_buf_deinit(&twice);
		rt_buf_deinit(&page);
		rt_outlines_deinit(&again);
		rt_outlines_deinit(&o);
	}
	rt_buf_deinit(&html);
	rt_buf_deinit(&text);
}

static void
test_many(void **state)
{
	rt_buf text, html;
	rt_outlines o;
	int i;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&html, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&text, "{\"discussions\":[{\"name\":\"d\",\"takes\":[{\"name\":\"x\",\"entries\":[");
	for (i = 0; i < HTML_STATIC_MAX + 5; i++)
		rt_buf_add_f(&text, "%s{\"id\":\"e%d\",\"content\":\"text %d\"}", i > 0 ? "," : "", i, i);
	rt_buf_add_c(&text, "]}]}]}");
	assert_int_equal(rt_format_canonical.read(rt_alloc_libc(), rt_buf_str(&text), &o, NULL, NULL),
			 RT_OK);
	add_part(rt_html_add_static, &o, &html);
	assert_true(rt_str_find(rt_buf_str(&html), RT_STR("text 19999<"), 0) != SIZE_MAX);
	assert_true(rt_str_find(rt_buf_str(&html), RT_STR("text 20000<"), 0) == SIZE_MAX);
	assert_true(rt_str_find(rt_buf_str(&html), RT_STR("<p>5 more: "), 0) != SIZE_MAX);
	rt_buf_deinit(&text);
	rt_buf_deinit(&html);
	rt_outlines_deinit(&o);
}

static void
test_refused(void **state)
{
	static const char *const texts[] = {
		"", "x", "<!doctype html>", "<!doctype html>\n<title>" HTML_GENERATOR,
		"<!doctype html>" HTML_GENERATOR HTML_DATA "{\"discussions\":[]}",
		"<!doctype html>" HTML_GENERATOR HTML_DATA "{}</script>",
		"<!doctype html>" HTML_GENERATOR HTML_DATA "</script>",
		"<!doctype html><meta name=\"generator\" content=\"Retake html 3\">" HTML_DATA
		"{\"discussions\":[]}</script>",
		HTML_GENERATOR HTML_DATA "{\"discussions\":[]}</script>",
	};
	rt_outlines o;
	rt_error err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		memset(&err, 0, sizeof(err));
		assert_int_equal(rt_format_html.read(rt_alloc_libc(), rt_str_of(texts[i]), &o, NULL, &err),
				 RT_USAGE);
		assert_true(err.has_at);
		assert_true(err.at <= strlen(texts[i]));
	}
	assert_int_equal(rt_format_html.read(rt_alloc_libc(),
					     RT_STR("\xEF\xBB\xBF\n<!DOCTYPE HTML>" HTML_GENERATOR_1 HTML_DATA
						    "{\"discussions\":[]}</script>"),
					     &o, NULL, &err),
			 RT_OK);
	assert_int_equal(o.count, 0);
	rt_outlines_deinit(&o);
}

/* Takes that share much: each entry is written once, and all are read back. */
static void
test_shared(void **state)
{
	enum { LONG = 300, TAKES = 20 };
	rt_outlines o, again;
	rt_buf text, page;
	size_t t, i, found = 0, at = 0;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&text, "{\"discussions\":[{\"name\":\"d\",\"takes\":[");
	for (t = 0; t < TAKES; t++) {
		rt_buf_add_f(&text, "%s{\"name\":\"t%zu\",\"entries\":[", t > 0 ? "," : "", t);
		for (i = 0; i < LONG; i++) /* take t without the other takes' entries after 10 t */
			rt_buf_add_f(&text, "%s{\"id\":\"e%zu_%zu\",\"content\":\"entry\"}",
				     i > 0 ? "," : "", i, i > 10 * t ? t : 0);
		rt_buf_add_c(&text, "]}");
	}
	rt_buf_add_c(&text, "]}]}");
	assert_int_equal(rt_format_canonical.read(rt_alloc_libc(), rt_buf_str(&text), &o, NULL, NULL),
			 RT_OK);
	check_round_trip(&rt_format_html, &o, NULL, &page);
	at = rt_str_find(rt_buf_str(&page), RT_STR(HTML_DATA), 0);
	while ((at = rt_str_find(rt_buf_str(&page), RT_STR("\"e5_0\""), at)) != SIZE_MAX) {
		found++;
		at++;
	}
	assert_int_equal(found, 1);
	assert_int_equal(rt_format_html.read(rt_alloc_libc(), rt_buf_str(&page), &again, NULL, NULL),
			 RT_OK);
	assert_int_equal(again.items[0].node_count, o.items[0].node_count);
	assert_same_state(&o, &again);
	rt_outlines_deinit(&again);
	rt_outlines_deinit(&o);
	rt_buf_deinit(&page);
	rt_buf_deinit(&text);
}

/* Modified numbers: invalid ones are skipped, and nothing is added twice. */
static void
test_numbers(void **state)
{
	static const struct {
		const char *second; /* entries of the second take, after three of the first */
		size_t count, skipped, repaired;
	} cases[] = {
		{"[0,3]", 3, 0, 0},
		{"[1,2],{\"id\":\"x\",\"content\":\"\"}", 3, 0, 0},
		{"{\"id\":\"x\",\"content\":\"\"},[3,1]", 1, 0, 1},
		{"[2,1],[0,1]", 2, 0, 0},
		{"[0,2],[1,2]", 3, 0, 1},
		{"{\"id\":\"b\",\"content\":\"other\"},[0,3]", 3, 0, 1},
		{"[0,0],[3,0]", 0, 0, 0},
		{"[0,4]", 0, 1, 0},
		{"[4,0]", 0, 1, 0},
		{"[3,18446744073709551615]", 0, 1, 0},
		{"[-1,2]", 0, 1, 0},
		{"[0]", 0, 1, 0},
		{"[0,1,2]", 0, 1, 0},
		{"[\"0\",1]", 0, 1, 0},
		{"[]", 0, 1, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		rt_outlines o;
		rt_report report;
		rt_buf page;

		rt_buf_init(&page, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_report_init(&report, rt_alloc_libc());
		rt_buf_add_f(&page,
			     "<!doctype html>" HTML_GENERATOR HTML_DATA
			     "{\"discussions\":[{\"name\":\"d\",\"takes\":[{\"name\":\"1\",\"entries\":["
			     "{\"id\":\"a\",\"content\":\"\"},{\"id\":\"b\",\"content\":\"\"},"
			     "{\"id\":\"c\",\"content\":\"\"}]},"
			     "{\"name\":\"2\",\"entries\":[%s]}]}]}</script>",
			     cases[i].second);
		assert_int_equal(rt_format_html.read(rt_alloc_libc(), rt_buf_str(&page), &o, &report, NULL),
				 RT_OK);
		if (o.items[0].takes[1].node_count != cases[i].count ||
		    report.skipped != cases[i].skipped || report.repaired != cases[i].repaired)
			fail_msg("%s: %zu entries, %zu skipped, %zu repaired", cases[i].second,
				 o.items[0].takes[1].node_count, report.skipped, report.repaired);
		rt_outlines_deinit(&o);
		rt_report_deinit(&report);
		rt_buf_deinit(&page);
	}
}

/* A small page that requests more entries than possible. */
static void
test_too_many(void **state)
{
	rt_outlines o;
	rt_report report;
	rt_buf page;
	size_t i, all = 0;
	enum { WRITTEN = 20000, REPEATS = 7000 };

	(void)state;
	if (test_sample() > 1)
		skip(); /* 100 million entries are looked up before the limit is reached */
	rt_buf_init(&page, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_report_init(&report, rt_alloc_libc());
	rt_buf_add_c(&page, "<!doctype html>" HTML_GENERATOR HTML_DATA
			    "{\"discussions\":[{\"name\":\"d\",\"takes\":[{\"name\":\"1\",\"entries\":[");
	for (i = 0; i < WRITTEN; i++)
		rt_buf_add_f(&page, "%s{\"id\":\"%zu\",\"content\":\"\"}", i > 0 ? "," : "", i);
	rt_buf_add_c(&page, "]},{\"name\":\"2\",\"entries\":[");
	for (i = 0; i < REPEATS; i++) /* all but the first exist already, and count anyway */
		rt_buf_add_f(&page, "%s[0,%d]", i > 0 ? "," : "", WRITTEN);
	rt_buf_add_c(&page, "]}]}]}</script>");
	assert_int_equal(rt_format_html.read(rt_alloc_libc(), rt_buf_str(&page), &o, &report, NULL), RT_OK);
	assert_int_equal(report.skipped, REPEATS - RT_CANONICAL_SHARED_MAX / WRITTEN);
	for (i = 0; i < o.items[0].take_count; i++)
		all += o.items[0].takes[i].node_count;
	assert_int_equal(all, 2 * WRITTEN);
	rt_outlines_deinit(&o);
	rt_report_deinit(&report);
	rt_buf_deinit(&page);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile),    cmocka_unit_test(test_edited), cmocka_unit_test(test_random),
		cmocka_unit_test(test_static),
		cmocka_unit_test(test_static_files),     cmocka_unit_test(test_many),
		cmocka_unit_test(test_first),      cmocka_unit_test(test_refused),
		cmocka_unit_test(test_first_size), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_shared),     cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
