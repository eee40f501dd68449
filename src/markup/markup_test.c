/* SPDX-License-Identifier: MIT
 *
 * Markdown as blocks: the result of each kind, impossible results, the stable blocks of a growing
 * text, and that the cost of every source is linear in its size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "markup/entity.h"
#include "markup/markup_impl.h"
#include "markup/markup_table_testing.h"
#include "markup/markup_testing.h"

enum { TABLE_SIZE = sizeof(markup_table) / sizeof(markup_table[0]) };

/* The blocks of a source, checked; *out_stable may be NULL. */
static void
render(rt_buf *out, rt_str text, size_t from, size_t *out_stable)
{
	rt_markup_options options = {.from = from};

	rt_buf_clear(out);
	assert_int_equal(rt_markup_blocks(out, text, &options, out_stable, NULL), RT_OK);
	markup_check(rt_buf_str(out), text.size);
}

static void
buf_init(rt_buf *buf)
{
	rt_buf_init(buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
}

static void
assert_blocks(rt_str source, const char *blocks)
{
	rt_str key = RT_STR(",\"at\":[");
	size_t at = 0, found, i;
	rt_buf json, plain;
	rt_str all;

	buf_init(&json);
	buf_init(&plain);
	render(&json, source, 0, NULL);
	all = rt_buf_str(&json);
	while ((found = rt_str_find(all, key, at)) != SIZE_MAX) {
		rt_buf_add_str(&plain, rt_str_at(all.ptr + at, found - at));
		at = rt_str_find(all, RT_STR("]"), found) + 1;
	}
	rt_buf_add_str(&plain, rt_str_at(all.ptr + at, all.size - at));
	for (i = 0; i < plain.size; i++)
		if (plain.ptr[i] == '"')
			plain.ptr[i] = '\'';
	if (strcmp(plain.ptr, blocks) != 0)
		fail_msg("%.*s\nis     %s\nnot    %s", RT_STR_ARG(source), plain.ptr, blocks);
	rt_buf_deinit(&json);
	rt_buf_deinit(&plain);
}

static void
test_table(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < TABLE_SIZE; i++)
		assert_blocks(markup_table[i].source, markup_table[i].blocks);
	assert_true(TABLE_SIZE >= 120);
}

/* md4c reports a NUL in code and repeats it with the following text. */
static void
test_nul(void **state)
{
	(void)state;
	assert_blocks(RT_STR("a\0b"), "[{'t':'p','c':['a',{'t':'ctl','cp':'0000'},'b']}]");
	assert_blocks(RT_STR("`a\0b`"),
		      "[{'t':'p','c':[{'t':'code','c':['a',{'t':'ctl','cp':'0000'},'b']}]}]");
	assert_blocks(RT_STR("```\na\0\0b\0\n```"),
		      "[{'t':'pre','c':['a',{'t':'ctl','cp':'0000'},"
		      "{'t':'ctl','cp':'0000'},'b',{'t':'ctl','cp':'0000'},'\\n']}]");
	assert_blocks(RT_STR("    \0a"), "[{'t':'pre','c':[{'t':'ctl','cp':'0000'},'a\\n']}]");
	assert_blocks(RT_STR("<b\0>"), "[{'t':'p','c':['<b',{'t':'ctl','cp':'0000'},'>']}]");
}

static void
test_places(void **state)
{
	rt_str text = RT_STR("a\n\n# b\n```\nc\n```\n- d\n\n- e\n\nlast");
	size_t stable = 99;
	rt_buf json;

	(void)state;
	buf_init(&json);
	render(&json, text, 0, &stable);
	assert_non_null(strstr(json.ptr, "{\"t\":\"p\",\"at\":[0,3],"));
	assert_non_null(strstr(json.ptr, "{\"t\":\"h\",\"at\":[3,7],"));
	assert_non_null(strstr(json.ptr, "{\"t\":\"pre\",\"at\":[7,17],"));
	assert_non_null(strstr(json.ptr, "{\"t\":\"ul\",\"at\":[17,27],"));
	assert_non_null(strstr(json.ptr, "{\"t\":\"p\",\"at\":[27,31],"));
	/* The last line may still become anything, such as an item of the list. */
	assert_int_equal(stable, 17);
	render(&json, text, stable, NULL);
	assert_int_equal(strncmp(json.ptr, "[{\"t\":\"ul\",\"at\":[17,27],", 24), 0);
	/* Text that a definition may change is not stable, nor is a definition. */
	render(&json, RT_STR("a\n\n[b]\n\nc\n\nd\n"), 0, &stable);
	assert_int_equal(stable, 3);
	render(&json, RT_STR("a\n\n[b]: https://c.d\n\n[b]\n\nd\n"), 0, &stable);
	assert_int_equal(stable, 3);
	assert_non_null(strstr(json.ptr, "\"href\":\"https://c.d\""));
	/* In code it is not a reference. */
	render(&json, RT_STR("`a[0]`\n\n```\nx[1]: 2\n```\n"), 0, &stable);
	assert_int_equal(stable, 24);
	rt_buf_deinit(&json);
}

/* ---- hostile ---- */

static const char *const schemes[] = {
	"javascript:alert(1)", "JaVaScRiPt:alert(1)", "vbscript:alert(1)", "data:text/html,alert(1)",
	"file:///alert", "blob:alert", "about:alert", "//alert.example", "/alert", "alert",
	"\\\\alert", "https:alert", "https:/alert", "https:///alert", "http:\\\\alert",
	"javascript://https://alert", "intent://alert", "view-source:https://alert",
	"jar:https://alert", "feed:javascript:alert"};

typedef void (*encode_fn)(char *out, size_t room, const char *url);

static void
enc_plain(char *out, size_t room, const char *url)
{
	snprintf(out, room, "%s", url);
}

/* Every letter with a format. */
static void
enc_each(char *out, size_t room, const char *url, const char *format, size_t count)
{
	size_t used = 0, i;

	for (i = 0; url[i] != '\0' && used + 16 < room; i++)
		used += (size_t)snprintf(out + used, room - used, i < count ? format : "%c",
					 (unsigned char)url[i]);
}

static void
enc_decimal(char *out, size_t room, const char *url)
{
	enc_each(out, room, url, "&#%d;", SIZE_MAX);
}

static void
enc_hex(char *out, size_t room, const char *url)
{
	enc_each(out, room, url, "&#x%x;", 3);
}

static void
enc_long(char *out, size_t room, const char *url)
{
	enc_each(out, room, url, "&#X0%X;", 1);
}

static void
enc_percent(char *out, size_t room, const char *url)
{
	enc_each(out, room, url, "%%%02x", SIZE_MAX);
}

static void
enc_twice(char *out, size_t room, const char *url)
{
	enc_each(out, room, url, "%%25%02X", 4);
}

static void
enc_tabs(char *out, size_t room, const char *url)
{
	enc_each(out, room, url, "%c&Tab;", 5);
}

static void
enc_lines(char *out, size_t room, const char *url)
{
	enc_each(out, room, url, "%c&NewLine;", 2);
}

static void
enc_escapes(char *out, size_t room, const char *url)
{
	enc_each(out, room, url, "%c%%0a", 3);
}

static void
enc_zero(char *out, size_t room, const char *url)
{
	enc_each(out, room, url, "%c\xe2\x80\x8b", 2);
}

static void
enc_before(char *out, size_t room, const char *url)
{
	snprintf(out, room, "&#1;&#32;%s", url);
}

static const encode_fn encoders[] = {enc_plain,   enc_decimal, enc_hex,     enc_long,
				     enc_percent, enc_twice,   enc_tabs,    enc_lines,
				     enc_escapes, enc_zero,    enc_before};

static const char *const url_places[] = {
	"[x](<%s>)", "![x](<%s>)", "[x](%s \"t\")", "<%s>", "[x][y]\n\n[y]: <%s>", "# [*x*](<%s>)",
	"> - [x](<%s>)", "| [x](<%s>) |\n|---|\n| ![y](<%s>) |", "[![x](<%s>)](<%s>)", "%s"};

/* A url that must not be followed does not become a link, in any notation and any place. */
static void
test_no_url(void **state)
{
	size_t s, e, p, count = 0;
	char url[600], text[2000];
	rt_buf json;

	(void)state;
	buf_init(&json);
	for (s = 0; s < sizeof(schemes) / sizeof(schemes[0]); s++)
		for (e = 0; e < sizeof(encoders) / sizeof(encoders[0]); e++)
			for (p = 0; p < sizeof(url_places) / sizeof(url_places[0]); p++) {
				encoders[e](url, sizeof(url), schemes[s]);
				/* A bare https:// in a text is one to follow. */
				if (p == sizeof(url_places) / sizeof(url_places[0]) - 1 &&
				    strstr(url, "https://") != NULL)
					continue;
				snprintf(text, sizeof(text), url_places[p], url, url);
				render(&json, rt_str_of(text), 0, NULL);
				if (strstr(json.ptr, "\"href\"") != NULL &&
				    strstr(url, "https://") == NULL)
					fail_msg("%s: %s", text, json.ptr);
				if (strstr(json.ptr, "\"src\"") != NULL)
					fail_msg("%s: %s", text, json.ptr);
				count++;
			}
	assert_true(count > 2000);
	rt_buf_deinit(&json);
}

static const char *const markups[] = {
	"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>",
	"<a href=\"javascript:alert(1)\">x</a>", "<iframe srcdoc=\"<p>\">", "<!-- --><b>",
	"<![CDATA[<b>]]>", "<?php echo 1 ?>", "<!DOCTYPE html>", "</p></div></body>",
	"<style>*{}</style>", "<math><mtext><b>", "<b onmouseover=\"a\">", "\"><b>", "'><b>",
	"\" onclick=\"a", "' onclick='a", "` onclick=`a", "&lt;b&gt;", "&#60;b&#62;", "<b\n>",
	"<base href=//x>", "<form action=x>", "<object data=x>", "<embed src=x>", "<link rel=x>",
	"<meta http-equiv=refresh>", "<template><b>", "<noscript><b>", "<x-y z=\"&quot;\">"};

static const char *const markup_places[] = {
	"%s", "# %s", "> %s", "- %s", "1. a %s", "| %s |\n|---|\n| %s |", "`%s`", "```\n%s\n```",
	"```%s\n```", "[%s](https://a.b)", "[a](https://a.b \"%s\")", "![%s](https://a.b)",
	"[a](https://a.b/%s)", "*%s*", "[a]\n\n[a]: https://a.b '%s'", "<https://a.b/%s>", "    %s"};

/* HTML markup is always text: there is nothing else that it could become. */
static void
test_no_html(void **state)
{
	size_t m, p, count = 0;
	char text[1000];
	rt_buf json;

	(void)state;
	buf_init(&json);
	for (m = 0; m < sizeof(markups) / sizeof(markups[0]); m++)
		for (p = 0; p < sizeof(markup_places) / sizeof(markup_places[0]); p++) {
			snprintf(text, sizeof(text), markup_places[p], markups[m], markups[m]);
			render(&json, rt_str_of(text), 0, NULL);
			count++;
		}
	assert_true(count > 300);
	rt_buf_deinit(&json);
}

static void
test_link(void **state)
{
	static const struct {
		const char *url, *written; /* NULL: refused */
	} rows[] = {
		{"https://a.b", "https://a.b"},
		{" HTTPS://a.b/C ", "https://a.b/C"},
		{"https://a.b/%41%2f?x=1&y=%20#z", "https://a.b/%41%2f?x=1&y=%20#z"},
		{"https://a.b/\"'<>`\\^{|}", "https://a.b/%22%27%3C%3E%60%5C%5E%7B%7C%7D"},
		{"https://a.b/\xc3\xa4", "https://a.b/%C3%A4"},
		{"https://a.b/a\tb\nc", "https://a.b/abc"},
		{"https://a.b/100%", "https://a.b/100%25"},
		{"mailto:a@b.c?subject=x", "mailto:a@b.c?subject=x"},
		{"#a b", "#a%20b"},
		{"#", "#"},
		{"https://", NULL},
		{"mailto:", NULL},
		{"https%3A//a.b", NULL},
		{"ht\ttps://a.b", NULL},
		{"https://%2fa.b", NULL},
		{"https:// /a.b", NULL},
		{"https://a.b/%2525252525252541", NULL},
		{"ftp://a.b", NULL},
		{"", NULL},
	};
	rt_buf out, scratch;
	size_t i;

	(void)state;
	buf_init(&out);
	buf_init(&scratch);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool is_fine = rt_link_add(&out, &scratch, rt_str_of(rows[i].url), false);

		assert_int_equal(is_fine, rows[i].written != NULL);
		if (is_fine)
			assert_string_equal(out.ptr, rows[i].written);
		else
			assert_int_equal(out.size, 0);
		rt_buf_clear(&out);
	}
	assert_false(rt_link_add(&out, &scratch, RT_STR("mailto:a@b.c"), true));
	assert_false(rt_link_add(&out, &scratch, RT_STR("#a"), true));
	rt_buf_deinit(&out);
	rt_buf_deinit(&scratch);
}

static void
test_entity(void **state)
{
	char room[RT_ENTITY_ROOM];

	(void)state;
	assert_int_equal(rt_entity_decode(RT_STR("&AElig;"), room), 2);
	assert_memory_equal(room, "\xc3\x86", 2);
	assert_int_equal(rt_entity_decode(RT_STR("&zwnj;"), room), 3);
	assert_int_equal(rt_entity_decode(RT_STR("&colon;"), room), 1);
	assert_int_equal(room[0], ':');
	assert_int_equal(rt_entity_decode(RT_STR("&#x1F600;"), room), 4);
	assert_int_equal(rt_entity_decode(RT_STR("&#99999999999;"), room), 3);
	assert_int_equal(rt_entity_decode(RT_STR("&nosuch;"), room), 0);
	assert_int_equal(rt_entity_decode(RT_STR("&#x;"), room), 0);
	assert_int_equal(rt_entity_decode(RT_STR("&#12a;"), room), 0);
	assert_int_equal(rt_entity_decode(RT_STR("&;"), room), 0);
}

/* ---- growing texts ---- */

static bool
begins(const rt_buf *all, const rt_buf *part)
{
	/* Without the bracket that closes it. */
	return all->size >= part->size && memcmp(all->ptr, part->ptr, part->size - 1) == 0;
}

/* Byte by byte: stable blocks do not change, and the rest can be rendered alone. */
static void
grow(rt_str text)
{
	size_t n, stable, before = 0;
	rt_buf all, kept, kept_before, rest;

	buf_init(&all);
	buf_init(&kept);
	buf_init(&kept_before);
	buf_init(&rest);
	rt_buf_add_c(&kept_before, "[]");
	for (n = 0; n <= text.size; n++) {
		rt_str part = rt_str_at(text.ptr, n);

		render(&all, part, 0, &stable);
		if (stable < before)
			fail_msg("%.*s: less is stable than before", RT_STR_ARG(part));
		before = stable;
		render(&kept, rt_str_at(text.ptr, stable), 0, NULL);
		if (!begins(&all, &kept) || !begins(&kept, &kept_before))
			fail_msg("%.*s: what was stable changed", RT_STR_ARG(part));
		render(&rest, part, stable, NULL);
		kept.size--;
		rt_buf_clear(&kept_before);
		rt_buf_add_str(&kept_before, rt_buf_str(&kept));
		rt_buf_add_byte(&kept_before, ']');
		if (kept.size > 1 && rest.size > 2)
			rt_buf_add_byte(&kept, ',');
		rt_buf_add(&kept, rest.ptr + 1, rest.size - 1);
		if (!rt_str_eq(rt_buf_str(&kept), rt_buf_str(&all)))
			fail_msg("%.*s: in two parts it is another", RT_STR_ARG(part));
	}
	rt_buf_deinit(&all);
	rt_buf_deinit(&kept);
	rt_buf_deinit(&kept_before);
	rt_buf_deinit(&rest);
}

static void
test_growing(void **state)
{
	static const char *const ends[] = {"\n\n", "\n", "\r\n\r\n", "\n\n\n  "};
	rt_buf text;
	size_t i, k;

	(void)state;
	buf_init(&text);
	for (i = 0; i < TABLE_SIZE; i++) {
		rt_buf_clear(&text);
		for (k = 0; k < 4; k++) {
			rt_buf_add_str(&text, markup_table[(i + k * 31) % TABLE_SIZE].source);
			rt_buf_add_c(&text, ends[(i + k) % 4]);
		}
		grow(rt_buf_str(&text));
	}
	rt_buf_deinit(&text);
}

/* A typical reply of a model is stable up to its last block but one. */
static void
test_reply(void **state)
{
	rt_str text = RT_STR("Here is how.\n\n1. Do this:\n   ```sh\n   make a[0]\n   ```\n2. Then:\n\n"
			     "   that\n\n## Code\n\n```c\nint a[2];\n\n# no heading\n```\n\n"
			     "| a | b |\n|---|---|\n| 1 | 2 |\n\nDone, see https://a.b.\n\nAnd");
	size_t stable;
	rt_buf json;

	(void)state;
	buf_init(&json);
	render(&json, text, 0, &stable);
	assert_int_equal(stable, rt_str_find(text, RT_STR("Done"), 0));
	rt_buf_deinit(&json);
	grow(text);
}

/* ---- cost ---- */

static const struct {
	const char *before, *open, *middle, *close;
} families[] = {
	{"", "> ", "a", ""}, {"", "- ", "a", ""}, {"", "1. ", "a", ""}, {"", "> - ", "a", ""},
	{"", "*a ", "b", " a*"}, {"", "*a **a ", "b", " a** a*"}, {"", "_a ", "", ""},
	{"", "a_ ", "", ""}, {"", "a***", "", ""}, {"", "*a_ ", "", ""}, {"a**b", "c* ", "", ""},
	{"", "[", "a", "]"}, {"", "[a", "", ""}, {"", "a]", "", ""}, {"", "[ a_", "", ""},
	{"", "![", "a", "](https://b)"}, {"", "[t](https://u) ", "", ""}, {"", "[ (](", "", ""},
	{"", "`a``b```c", "", ""}, {"", "\\``", "", ""}, {"", "<>", "", ""}, {"x", "<?", "", ""},
	{"", "&amp;", "", ""}, {"", "~~a ~b ", "", ""}, {"", "#\n", "", ""}, {"", "- a\n", "", ""},
	{"", "\n\n", "a", ""}, {"", "|", "\n|---|", "\n|"}, {"", "[a]: https://b\n", "[a]", ""},
	{"", "https://a.b(", "", ""}, {"", "\x01", "", ""}, {"", "* a\n\n", "", ""},
	{"", "```\n", "", ""}, {"", "[a](\n", "", ""},
	{"", "[a](<b\r\n", "", ""}, {"", "<https://a", "", ">"}, {"", "![](", "", ""}};

/* A family at a size: nodes of the result; 0: it was too large, with that status. */
static size_t
nodes_of(size_t family, size_t count)
{
	size_t i, nodes = 0, stable;
	rt_buf text, json;
	rt_status st;

	buf_init(&text);
	buf_init(&json);
	rt_buf_add_c(&text, families[family].before);
	for (i = 0; i < count; i++)
		rt_buf_add_c(&text, families[family].open);
	rt_buf_add_c(&text, families[family].middle);
	for (i = 0; i < count; i++)
		rt_buf_add_c(&text, families[family].close);
	st = rt_markup_blocks(&json, rt_buf_str(&text), NULL, &stable, NULL);
	assert_true(st == RT_OK || st == RT_LIMIT);
	if (st == RT_OK) {
		markup_check(rt_buf_str(&json), text.size);
		assert_true(json.size <= text.size * RT_MARKUP_GROWTH + RT_MARKUP_SPARE);
	}
	for (i = 0; i < json.size; i++)
		nodes += json.ptr[i] == '{';
	assert_true(nodes <= 2 * text.size + 16);
	rt_buf_deinit(&text);
	rt_buf_deinit(&json);
	return nodes;
}

static void
test_families(void **state)
{
	size_t i, times, one;

	(void)state;
	assert_true(sizeof(families) / sizeof(families[0]) >= 25);
	for (i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		one = nodes_of(i, 50);
		for (times = 2; times <= 64; times *= 2)
			if (nodes_of(i, 50 * times) > (one + 8) * times)
				fail_msg("family %zu grows faster than its size", i);
	}
}

static void
test_limits(void **state)
{
	rt_markup_options options = {.limit = 20};
	rt_buf text, json;
	rt_error err = {0};
	size_t i;

	(void)state;
	buf_init(&text);
	buf_init(&json);
	rt_buf_add_c(&json, "kept");
	assert_int_equal(rt_markup_blocks(&json, RT_STR("a\n\nb\n\nc"), &options, NULL, &err), RT_LIMIT);
	assert_string_equal(err.text, "the rendered text is too large");
	assert_int_equal(json.size, 4);
	/* A wide table with short rows would be quadratic. */
	for (i = 0; i < 3000; i++)
		rt_buf_add_c(&text, "|a");
	rt_buf_add_byte(&text, '\n');
	for (i = 0; i < 3000; i++)
		rt_buf_add_c(&text, "|---");
	for (i = 0; i < 3000; i++)
		rt_buf_add_c(&text, "\n|b");
	assert_int_equal(rt_markup_blocks(&json, rt_buf_str(&text), NULL, NULL, NULL), RT_LIMIT);
	/* md4c is not given input that would cost quadratic time. */
	rt_buf_clear(&text);
	for (i = 0; i < 20000; i++)
		rt_buf_add_c(&text, i % 2 == 0 ? "[a](\r\n" : "[a](\n");
	assert_int_equal(rt_markup_blocks(&json, rt_buf_str(&text), NULL, NULL, NULL), RT_LIMIT);
	rt_buf_clear(&text);
	for (i = 0; i < 20000; i++)
		rt_buf_add_c(&text, "- [a](https://b.c)\n");
	assert_int_equal(rt_markup_blocks(&json, rt_buf_str(&text), NULL, NULL, NULL), RT_OK);
	rt_buf_clear(&json);
	rt_markup_plain(&json, rt_buf_str(&text));
	markup_check(rt_buf_str(&json), text.size);
	rt_buf_deinit(&text);
	rt_buf_deinit(&json);
}

/* The search for math is linear. If it started again at every part, each of these would exceed the
 * time limit of a test. */
static void
test_masks_of_large_texts(void **state)
{
	static const char *const parts[] = {"<a", "](a", "$x$ ", "\\(x\\) ", "<a <b> ", "`` $"};
	enum { SIZE = 4 << 20 };

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		rt_masks masks = {.alloc = rt_alloc_libc()};
		rt_buf text, copy;

		buf_init(&text);
		buf_init(&copy);
		while (text.size < SIZE)
			rt_buf_add_c(&text, parts[i]);
		rt_buf_add_c(&text, "\n\n$x$");
		rt_buf_add_str(&copy, rt_buf_str(&text));
		rt_masks_find(&masks, rt_buf_str(&text), copy.ptr);
		assert_true(masks.count > 0);
		rt_free(masks.alloc, masks.items);
		rt_buf_deinit(&copy);
		rt_buf_deinit(&text);
	}
}

/* Thinking in a model's text is a block, and prose is rendered as always. */
static void
test_parts(void **state)
{
	static const char *const cases[][2] = {
		{"", "[]"},
		{"a", "[{\"t\":\"p\",\"at\":[0,1],\"c\":[\"a\"]}]"},
		{"a <think>b</think> c",
		 "[{\"t\":\"p\",\"at\":[0,2],\"c\":[\"a\"]},"
		 "{\"t\":\"thinking\",\"at\":[2,18],\"c\":[\"b\"]},"
		 "{\"t\":\"p\",\"at\":[18,20],\"c\":[\"c\"]}]"},
		{"<think>b</think>\n\n<think>c</think>",
		 "[{\"t\":\"thinking\",\"at\":[0,16],\"c\":[\"b\"]},"
		 "{\"t\":\"thinking\",\"at\":[18,34],\"c\":[\"c\"]}]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rt_buf json;

		rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
		assert_int_equal(rt_markup_parts(&json, rt_str_of(cases[i][0]), false, NULL), RT_OK);
		rt_buf_add_byte(&json, '\0');
		assert_string_equal(json.ptr, cases[i][1]);
		rt_buf_deinit(&json);
	}
}

static size_t left;

static void *
failing_resize(void *ctx, void *ptr, size_t size)
{
	(void)ctx;
	if (left-- == 0) {
		left = 0;
		return NULL;
	}
	return realloc(ptr, size);
}

static void
failing_release(void *ctx, void *ptr)
{
	(void)ctx;
	free(ptr);
}

static void
test_no_memory(void **state)
{
	static const rt_alloc failing = {failing_resize, failing_release, NULL};
	rt_str text = RT_STR("a [b](https://c.d 'e')\n\n![f](javascript:g)\n\n[h]\n\n[h]: https://i");
	rt_status st = RT_NOMEM;
	size_t n;
	rt_buf json;

	(void)state;
	for (n = 0; st != RT_OK; n++) {
		rt_buf_init(&json, &failing, RT_BUF_UNLIMITED);
		left = n;
		st = rt_markup_blocks(&json, text, NULL, NULL, NULL);
		assert_true(st == RT_OK || (st == RT_NOMEM && json.size == 0));
		rt_buf_deinit(&json);
	}
	assert_true(n > 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),	  cmocka_unit_test(test_places),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_no_url),	  cmocka_unit_test(test_no_html),
		cmocka_unit_test(test_link),	  cmocka_unit_test(test_entity),
		cmocka_unit_test(test_growing),	  cmocka_unit_test(test_reply),
		cmocka_unit_test(test_families),  cmocka_unit_test(test_limits),
		cmocka_unit_test(test_masks_of_large_texts),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
