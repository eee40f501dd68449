/* SPDX-License-Identifier: MIT
 *
 * The guard against tables: the refused requests with their status, and that no others are
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "server/guard.h"

enum { FIELDS_MAX = 128 };

typedef struct trial {
	rt_web_request request;
	rt_web_field fields[FIELDS_MAX];
	rt_arena *arena;
} trial;

static void
begin(trial *t, const char *method, const char *target)
{
	size_t question;

	memset(t, 0, sizeof(*t));
	t->arena = rt_arena_new(rt_alloc_libc());
	t->request.arena = t->arena;
	t->request.alloc = rt_alloc_libc();
	t->request.method_name = rt_str_of(method);
	t->request.method = strcmp(method, "GET") == 0    ? RT_WEB_GET
			    : strcmp(method, "POST") == 0 ? RT_WEB_POST
							  : RT_WEB_OTHER;
	t->request.version = RT_STR("HTTP/1.1");
	t->request.target = rt_str_of(target);
	question = rt_str_find(t->request.target, RT_STR("?"), 0);
	t->request.path = t->request.target;
	if (question != SIZE_MAX) {
		t->request.path.size = question;
		t->request.query = rt_str_at(target + question + 1, strlen(target) - question - 1);
	}
	t->request.headers = t->fields;
}

static void
add(trial *t, const char *name, const char *value)
{
	assert_true(t->request.header_count < FIELDS_MAX);
	t->fields[t->request.header_count].name = rt_str_of(name);
	t->fields[t->request.header_count++].value = rt_str_of(value);
}

static void
end(trial *t)
{
	rt_arena_free(t->arena);
}

static void
test_hosts(void **state)
{
	/* NULL: no Host at all. Only the first four are accepted. */
	static const struct {
		const char *host;
		unsigned status;
	} hosts[] = {
		{"127.0.0.1:8999", 0},
		{"localhost:8999", 0},
		{"[::1]:8999", 0},
		{"LOCALHOST:8999", 0},
		{NULL, 400},
		{"", 400},
		{"evil.com", 403},
		{"evil.com:8999", 403},
		{"127.0.0.1.evil.com:8999", 403},
		{"localhost.evil.com:8999", 403},
		{"0.0.0.0:8999", 403},
		{"[::]:8999", 403},
		{"x.local:8999", 403},
		{"127.0.0.1:9000", 403},
		{"127.0.0.1", 403},
		{"user@127.0.0.1:8999", 403},
		{"localhost.:8999", 403},
		{"[::ffff:127.0.0.1]:8999", 403},
		{"2130706433:8999", 403},
		{":8999", 403},
		{"127.0.0.1:8999,evil.com", 403},
		{"127.0.0.1:08999", 403},
	};
	rt_guard guard;
	size_t i;

	(void)state;
	rt_guard_init(&guard, 8999);
	for (i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		trial t;

		begin(&t, "GET", "/retake/v1/info");
		if (hosts[i].host != NULL)
			add(&t, "Host", hosts[i].host);
		assert_int_equal(rt_guard_check(&guard, &t.request).status, hosts[i].status);
		end(&t);
	}
}

/* Pages to which other sites may lead: as a page, not as a part of one, and nothing else. */
static void
test_arrivals(void **state)
{
	static const struct {
		const char *method, *site, *mode, *destination, *origin;
		unsigned plain, arrival; /* status of rt_guard_check and of rt_guard_check_arrival */
	} cases[] = {
		{"GET", "cross-site", "navigate", "document", NULL, 403, 0},
		{"GET", "same-site", "navigate", "document", NULL, 403, 0},
		{"GET", "same-origin", "navigate", "document", NULL, 0, 0},
		{"GET", "none", "navigate", "document", NULL, 0, 0},
		{"GET", NULL, NULL, NULL, NULL, 0, 0},
		{"GET", "cross-site", "navigate", "iframe", NULL, 403, 403},
		{"GET", "cross-site", "no-cors", "image", NULL, 403, 403},
		{"GET", "cross-site", "cors", "empty", "https://evil.example", 403, 403},
		{"GET", "cross-site", "navigate", "document", "https://evil.example", 403, 403},
		{"POST", "cross-site", "navigate", "document", NULL, 403, 403},
		{"GET", "cross-site", NULL, NULL, NULL, 403, 403},
	};
	rt_guard guard;

	(void)state;
	rt_guard_init(&guard, 8999);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const names[] = {"Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest", "Origin"};
		const char *const values[] = {cases[i].site, cases[i].mode, cases[i].destination, cases[i].origin};
		trial t;

		begin(&t, cases[i].method, "/sign-in/callback");
		add(&t, "Host", "127.0.0.1:8999");
		for (size_t k = 0; k < 4; k++)
			if (values[k] != NULL)
				add(&t, names[k], values[k]);
		assert_int_equal(rt_guard_check(&guard, &t.request).status, cases[i].plain);
		assert_int_equal(rt_guard_check_arrival(&guard, &t.request).status, cases[i].arrival);
		end(&t);
		begin(&t, cases[i].method, "/sign-in/callback");
		add(&t, "Host", "evil.example");
		for (size_t k = 0; k < 4; k++)
			if (values[k] != NULL)
				add(&t, names[k], values[k]);
		assert_int_not_equal(rt_guard_check_arrival(&guard, &t.request).status, 0);
		end(&t);
	}
}

static void
test_two_hosts(void **state)
{
	rt_guard guard;
	trial t;

	(void)state;
	rt_guard_init(&guard, 8999);
	begin(&t, "GET", "/");
	add(&t, "Host", "127.0.0.1:8999");
	add(&t, "host", "127.0.0.1:8999");
	assert_int_equal(rt_guard_check(&guard, &t.request).status, 400);
	end(&t);
}

static void
test_further_hosts(void **state)
{
	rt_guard guard;
	rt_error err;
	trial t;

	(void)state;
	rt_guard_init(&guard, 80);
	assert_int_equal(rt_guard_add_host(&guard, RT_STR("desk.lan"), &err), RT_OK);
	assert_int_equal(rt_guard_add_host(&guard, RT_STR("proxy.lan:443"), &err), RT_OK);
	assert_int_equal(rt_guard_add_host(&guard, RT_STR(":443"), &err), RT_OK);
	assert_false(rt_guard_is_own_origin(&guard, RT_STR("http://")));
	assert_int_equal(rt_guard_add_host(&guard, RT_STR("Desk.lan"), &err), RT_USAGE);
	assert_int_equal(rt_guard_add_host(&guard, RT_STR(""), &err), RT_USAGE);
	assert_int_equal(rt_guard_add_host(&guard, RT_STR("a/b"), &err), RT_USAGE);
	static const char *const fine[] = {"127.0.0.1", "localhost:80", "desk.lan", "desk.lan:80",
					   "proxy.lan:443", "proxy.lan"};
	static const char *const bad[] = {"desk.lan:81", "proxy.lan:80", "proxy.lan:4430",
					  "lan", "proxy.lan:"};
	size_t i;

	for (i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
		begin(&t, "GET", "/");
		add(&t, "Host", fine[i]);
		assert_int_equal(rt_guard_check(&guard, &t.request).status, 0);
		end(&t);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		begin(&t, "GET", "/");
		add(&t, "Host", bad[i]);
		assert_int_equal(rt_guard_check(&guard, &t.request).status, 403);
		end(&t);
	}
}

static void
test_origins(void **state)
{
	static const struct {
		const char *origin, *site;
		unsigned status;
	} rows[] = {
		{NULL, NULL, 0},
		{"http://127.0.0.1:8999", NULL, 0},
		{"http://localhost:8999", "same-origin", 0},
		{"http://[::1]:8999", "same-origin", 0},
		{NULL, "none", 0},
		{NULL, "cross-site", 403},
		{NULL, "same-site", 403},
		{NULL, "", 403},
		{NULL, "SAME-ORIGIN", 403},
		{"null", NULL, 403},
		{"", NULL, 403},
		{"http://evil.com", NULL, 403},
		{"http://127.0.0.1:8998", NULL, 403},
		{"http://127.0.0.1", NULL, 403},
		{"http://127.0.0.1:8999.evil.com", NULL, 403},
		{"http://127.0.0.1:8999/", NULL, 403},
		{"HTTP://127.0.0.1:8999", NULL, 403},
		{"file://", NULL, 403},
		{"http://127.0.0.1:8999", "cross-site", 403},
		{"http://127.0.0.1:8999", "same-site", 403},
		{"http://127.0.0.1:8999 http://evil.com", NULL, 403},
	};
	rt_guard guard;
	size_t i;

	(void)state;
	rt_guard_init(&guard, 8999);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		trial t;

		begin(&t, "POST", "/retake/v1/undo");
		add(&t, "Host", "127.0.0.1:8999");
		if (rows[i].origin != NULL)
			add(&t, "Origin", rows[i].origin);
		if (rows[i].site != NULL)
			add(&t, "Sec-Fetch-Site", rows[i].site);
		assert_int_equal(rt_guard_check(&guard, &t.request).status, rows[i].status);
		end(&t);
	}
}

static void
test_framing(void **state)
{
	static const struct {
		const char *target, *version;
		const char *fields[4]; /* name, value, name, value */
		unsigned status;
	} rows[] = {
		{"/a", "HTTP/1.1", {"Content-Length", "0"}, 0},
		{"/a", "HTTP/1.1", {"Content-Length", "12"}, 0},
		{"/a", "HTTP/1.1", {"Content-Length", "+5"}, 400},
		{"/a", "HTTP/1.1", {"Content-Length", "-5"}, 400},
		{"/a", "HTTP/1.1", {"Content-Length", "0x5"}, 400},
		{"/a", "HTTP/1.1", {"Content-Length", "5, 5"}, 400},
		{"/a", "HTTP/1.1", {"Content-Length", "5 "}, 0},
		{"/a", "HTTP/1.1", {"Content-Length", ""}, 400},
		{"/a", "HTTP/1.1", {"Content-Length", "99999999999999999999"}, 400},
		{"/a", "HTTP/1.1", {"Content-Length", "5", "Content-Length", "5"}, 400},
		{"/a", "HTTP/1.1", {"Content-Length", "5", "Content-Length", "6"}, 400},
		{"/a", "HTTP/1.1", {"Content-Length", "5", "Transfer-Encoding", "chunked"}, 400},
		{"/a", "HTTP/1.1", {"Transfer-Encoding", "chunked"}, 0},
		{"/a", "HTTP/1.1", {"Transfer-Encoding", "Chunked"}, 0},
		{"/a", "HTTP/1.0", {"Transfer-Encoding", "chunked"}, 400},
		{"/a", "HTTP/1.1", {"Transfer-Encoding", "gzip, chunked"}, 501},
		{"/a", "HTTP/1.1", {"Transfer-Encoding", "chunked, chunked"}, 501},
		{"/a", "HTTP/1.1", {"Transfer-Encoding", "identity"}, 501},
		{"/a", "HTTP/1.1", {"Transfer-Encoding", "xchunked"}, 501},
		{"/a", "HTTP/1.1", {"Transfer-Encoding", "chunked", "Transfer-Encoding", "chunked"},
		 400},
		{"/a", "HTTP/1.1", {"Content-Encoding", "gzip"}, 415},
		{"/a", "HTTP/1.1", {"Expect", "100-continue"}, 0},
		{"/a", "HTTP/1.1", {"Expect", "200-ok"}, 417},
		{"/a", "HTTP/1.1", {"Upgrade", "websocket"}, 400},
		{"/a", "HTTP/1.1", {"X y", "1"}, 400},
		{"/a", "HTTP/1.1", {"X:", "1"}, 400},
		{"/a", "HTTP/1.1", {"", "1"}, 400},
		{"/a", "HTTP/1.1", {"X", "a\x01z"}, 400},
		{"/a", "HTTP/1.1", {"X", "a\nz"}, 400},
		{"/a", "HTTP/1.1", {"X", "a\rz"}, 400},
		{"/a", "HTTP/1.1", {"X", "a\x7fz"}, 400},
		{"/a", "HTTP/1.1", {"X", "a\tz"}, 0},
		{"/a", "HTTP/1.1", {"X", "a\xc3\xa4z"}, 0},
		{"/a", "HTTP/1.1", {"Authorization", "Bearer a", "Authorization", "Bearer b"}, 400},
		{"/a", "HTTP/1.1", {"Cookie", "a=1", "Cookie", "b=2"}, 400},
		{"/a", "HTTP/2.0", {NULL}, 505},
		{"/a", "HTTP/1.2", {NULL}, 505},
		{"/a", "HTTP/1.0", {NULL}, 0},
		{"http://127.0.0.1:8999/a", "HTTP/1.1", {NULL}, 400},
		{"*", "HTTP/1.1", {NULL}, 400},
		{"", "HTTP/1.1", {NULL}, 400},
		{"a", "HTTP/1.1", {NULL}, 400},
		{"/a b", "HTTP/1.1", {NULL}, 400},
		{"/a#b", "HTTP/1.1", {NULL}, 400},
		{"/a\\b", "HTTP/1.1", {NULL}, 400},
		{"/\xc3\xa4", "HTTP/1.1", {NULL}, 400},
		{"/a\x01", "HTTP/1.1", {NULL}, 400},
		{"/%C3%A4?q=a+b", "HTTP/1.1", {NULL}, 0},
	};
	rt_guard guard;
	size_t i, k;

	(void)state;
	rt_guard_init(&guard, 8999);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		trial t;
		unsigned status;

		begin(&t, "POST", rows[i].target);
		t.request.version = rt_str_of(rows[i].version);
		add(&t, "Host", "127.0.0.1:8999");
		for (k = 0; k < 4 && rows[i].fields[k] != NULL; k += 2)
			add(&t, rows[i].fields[k], rows[i].fields[k + 1]);
		status = rt_guard_check(&guard, &t.request).status;
		if (status != rows[i].status)
			print_message("row %zu: %u, not %u\n", i, status, rows[i].status);
		assert_int_equal(status, rows[i].status);
		end(&t);
	}
}

/* At the limit, and one over it. */
static void
test_limits(void **state)
{
	static char text[RT_GUARD_HEADERS_MAX + 16];
	rt_guard guard;
	int over, i;

	(void)state;
	rt_guard_init(&guard, 8999);
	for (over = 0; over < 2; over++) {
		trial t;

		memset(text, 'a', sizeof(text));
		text[0] = '/';
		text[RT_GUARD_TARGET_MAX + over] = '\0';
		begin(&t, "GET", text);
		add(&t, "Host", "127.0.0.1:8999");
		assert_int_equal(rt_guard_check(&guard, &t.request).status, over ? 414 : 0);
		end(&t);

		begin(&t, "GET", "/");
		add(&t, "Host", "127.0.0.1:8999");
		for (i = 1; i < RT_GUARD_HEADER_COUNT_MAX + over; i++)
			add(&t, "X", "1");
		assert_int_equal(rt_guard_check(&guard, &t.request).status, over ? 431 : 0);
		end(&t);

		memset(text, 'a', sizeof(text));
		text[RT_GUARD_HEADERS_MAX - 4 - 14 - 1 + over] = '\0';
		begin(&t, "GET", "/");
		add(&t, "Host", "127.0.0.1:8999");
		add(&t, "X", text);
		assert_int_equal(rt_guard_check(&guard, &t.request).status, over ? 431 : 0);
		end(&t);
	}
}

static void
test_form(void **state)
{
	static const struct {
		rt_principal_kind principal;
		const char *method, *origin, *length, *type;
		bool any_type;
		unsigned status;
	} rows[] = {
		{RT_PRINCIPAL_BROWSER, "POST", "http://127.0.0.1:8999", "2", "application/json",
		 false, 0},
		{RT_PRINCIPAL_BROWSER, "POST", NULL, "2", "application/json", false, 403},
		{RT_PRINCIPAL_BROWSER, "POST", NULL, NULL, NULL, false, 403},
		{RT_PRINCIPAL_BROWSER, "GET", NULL, NULL, NULL, false, 0},
		{RT_PRINCIPAL_TOKEN, "POST", NULL, "2", "application/json", false, 0},
		{RT_PRINCIPAL_TOKEN, "POST", NULL, "2", "application/json; charset=utf-8", false,
		 0},
		{RT_PRINCIPAL_TOKEN, "POST", NULL, "2", "application/json; charset=latin1", false,
		 415},
		{RT_PRINCIPAL_TOKEN, "POST", NULL, "2", "application/json5", false, 415},
		{RT_PRINCIPAL_TOKEN, "POST", NULL, "2", "text/plain", false, 415},
		{RT_PRINCIPAL_TOKEN, "POST", NULL, "2", "text/plain;application/json", false, 415},
		{RT_PRINCIPAL_TOKEN, "POST", NULL, "2", "application/x-www-form-urlencoded", false,
		 415},
		{RT_PRINCIPAL_TOKEN, "POST", NULL, "2", "multipart/form-data; boundary=a", false,
		 415},
		{RT_PRINCIPAL_TOKEN, "POST", NULL, "2", NULL, false, 415},
		{RT_PRINCIPAL_TOKEN, "POST", NULL, "0", NULL, false, 0},
		{RT_PRINCIPAL_TOKEN, "POST", NULL, NULL, "text/plain", false, 0},
		{RT_PRINCIPAL_TOKEN, "GET", NULL, "2", "application/json", false, 400},
		{RT_PRINCIPAL_TOKEN, "POST", NULL, "2", "application/octet-stream", true, 0},
		{RT_PRINCIPAL_TOKEN, "POST", NULL, "2", "text/plain", true, 415},
		{RT_PRINCIPAL_TOKEN, "POST", NULL, "2", "multipart/form-data", true, 415},
		{RT_PRINCIPAL_TOKEN, "POST", NULL, "2", "Text/Plain", true, 415},
		{RT_PRINCIPAL_TOKEN, "POST", NULL, "2", "TEXT/PLAIN ;charset=utf-8", true, 415},
		{RT_PRINCIPAL_TOKEN, "POST", NULL, "2", "Multipart/Form-Data; boundary=a", true,
		 415},
		{RT_PRINCIPAL_TOKEN, "POST", NULL, "2", "application/X-www-form-urlencoded", true,
		 415},
		{RT_PRINCIPAL_TOKEN, "POST", NULL, "2", NULL, true, 415},
		{RT_PRINCIPAL_LOCAL, "POST", NULL, "2", "application/json", false, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rt_principal principal = {.kind = rows[i].principal};
		unsigned status;
		trial t;

		begin(&t, rows[i].method, "/retake/v1/import");
		if (rows[i].origin != NULL)
			add(&t, "Origin", rows[i].origin);
		if (rows[i].length != NULL)
			add(&t, "Content-Length", rows[i].length);
		if (rows[i].type != NULL)
			add(&t, "Content-Type", rows[i].type);
		status = rt_guard_check_form(&t.request, &principal, rows[i].any_type).status;
		if (status != rows[i].status)
			print_message("row %zu: %u, not %u\n", i, status, rows[i].status);
		assert_int_equal(status, rows[i].status);
		end(&t);
	}
}

static void
test_cookies(void **state)
{
	static const struct {
		const char *header, *value; /* value NULL: none */
	} rows[] = {
		{"retake_8999=abc", "abc"},
		{"a=b; retake_8999=abc; c=d", "abc"},
		{"retake_89990=abc", NULL},
		{"xretake_8999=abc", NULL},
		{"Retake_8999=abc", NULL},
		{"retake_8999=a; retake_8999=b", NULL},
		{"retake_8999", NULL},
		{"retake_8999=", ""},
		{";;; retake_8999=abc;;", "abc"},
		{"", NULL},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rt_str value;
		bool found;
		trial t;

		begin(&t, "GET", "/");
		add(&t, "Cookie", rows[i].header);
		found = rt_guard_cookie(&t.request, "retake_8999", &value);
		assert_int_equal(found, rows[i].value != NULL);
		if (found)
			assert_true(rt_str_is(value, rows[i].value));
		end(&t);
	}
}

static void
test_bearer(void **state)
{
	static const struct {
		const char *header, *value;
	} rows[] = {
		{"Bearer abc", "abc"},   {"bearer abc", "abc"}, {"Bearer  abc ", "abc"},
		{"Bearer", NULL},        {"Bearer ", NULL},     {"Basic abc", NULL},
		{"abc", NULL},           {"", NULL},            {"Bearerabc", NULL},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rt_str value;
		bool found;
		trial t;

		begin(&t, "GET", "/");
		add(&t, "Authorization", rows[i].header);
		found = rt_guard_bearer(&t.request, &value);
		assert_int_equal(found, rows[i].value != NULL);
		if (found)
			assert_true(rt_str_is(value, rows[i].value));
		end(&t);
	}
}

static void
test_same(void **state)
{
	(void)state;
	assert_true(rt_guard_same(RT_STR("abc"), RT_STR("abc")));
	assert_false(rt_guard_same(RT_STR("abd"), RT_STR("abc")));
	assert_false(rt_guard_same(RT_STR("ab"), RT_STR("abc")));
	assert_false(rt_guard_same(RT_STR("abca"), RT_STR("abc")));
	assert_false(rt_guard_same(RT_STR(""), RT_STR("abc")));
	assert_false(rt_guard_same(RT_STR("abcabc"), RT_STR("abc")));
	assert_false(rt_guard_same(RT_STR("a"), RT_STR("aaa")));
	assert_true(rt_guard_same(RT_STR(""), RT_STR("")));
}

static void
test_decode(void **state)
{
	static const struct {
		const char *in, *out; /* out NULL: refused */
		bool plus;
	} rows[] = {
		{"abc", "abc", false},    {"a%20b", "a b", false},   {"a+b", "a+b", false},
		{"a+b", "a b", true},     {"%41%62", "Ab", false},   {"%e4%b8%ad", "\xe4\xb8\xad", false},
		{"%", NULL, false},       {"%4", NULL, false},       {"%4g", NULL, false},
		{"%00", NULL, false},     {"a%", NULL, false},       {"%ff", NULL, false},
		{"%2F..%2f", "/../", false}, {"", "", false},        {"%41", "A", false},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		trial t;
		rt_str out;
		bool good;

		begin(&t, "GET", "/");
		good = rt_web_decode(&t.request, rt_str_of(rows[i].in), rows[i].plus, &out);
		assert_int_equal(good, rows[i].out != NULL);
		if (good)
			assert_true(rt_str_is(out, rows[i].out));
		end(&t);
	}
}

static void
test_query(void **state)
{
	trial t;
	rt_str out;

	(void)state;
	begin(&t, "GET", "/a?x=1&y=a%20b&flag&x=2&%7a=3&bad=%zz&&=5");
	assert_true(rt_web_query(&t.request, "x", &out));
	assert_true(rt_str_is(out, "1"));
	assert_true(rt_web_query(&t.request, "y", &out));
	assert_true(rt_str_is(out, "a b"));
	assert_true(rt_web_query(&t.request, "flag", &out));
	assert_int_equal(out.size, 0);
	assert_true(rt_web_query(&t.request, "z", &out));
	assert_true(rt_str_is(out, "3"));
	assert_false(rt_web_query(&t.request, "bad", &out));
	assert_false(rt_web_query(&t.request, "nothing", &out));
	end(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts),    cmocka_unit_test(test_two_hosts),
		cmocka_unit_test(test_arrivals),
		cmocka_unit_test(test_further_hosts), cmocka_unit_test(test_origins),
		cmocka_unit_test(test_framing),  cmocka_unit_test(test_limits),
		cmocka_unit_test(test_form),     cmocka_unit_test(test_cookies),
		cmocka_unit_test(test_bearer),   cmocka_unit_test(test_same),
		cmocka_unit_test(test_decode),   cmocka_unit_test(test_query),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
