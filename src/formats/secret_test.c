/* SPDX-License-Identifier: MIT */
#include "formats/secret.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct rt_secrets {
	rt_scope s;
	rt_items vec;
	const rt_secret *items;
	size_t count;
} rt_secrets;

static void
rt_secrets_init(rt_secrets *list, const rt_alloc *alloc)
{
	memset(list, 0, sizeof(*list));
	rt_scope_init(&list->s, alloc);
}

static void
rt_secrets_deinit(rt_secrets *list)
{
	rt_scope_deinit(&list->s);
}

/* ---- made keys: none of them opens anything ---- */

static const struct {
	rt_secret_kind kind;
	const char *text; /* the secret between << and >> */
} hits[] = {
	{RT_SECRET_API_KEY, "use <<sk-ant-api03-Zx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5Sa3Po1Iu-AA>> now"},
	{RT_SECRET_API_KEY, "<<sk-proj-Ab3dEf6hIj9kLmN0pQr2StUv>>"},
	{RT_SECRET_API_KEY, "KEY <<sk-Zx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5Sa3Po1Iu>>."},
	{RT_SECRET_API_KEY, "<<sk_live_51Zx8Qw2Lm4Nb6Vc0Kj9>>"},
	{RT_SECRET_API_KEY, "?k=<<AIzaSyZx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5Sa3Po1Iu>>&x"},
	{RT_SECRET_API_KEY, "<<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>>"},
	{RT_SECRET_API_KEY, "<<gsk_Zx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5Sa3Po1IuZx8Qw2Lm4Nb6>>"},
	{RT_SECRET_API_KEY, "<<glpat-Zx8Qw2Lm4Nb6Vc0Kj9Hg>>"},
	{RT_SECRET_API_KEY, "<<SG.Zx8Qw2Lm4Nb6Vc0Kj9Hg7F.d5Sa3Po1IuZx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5>>"},
	{RT_SECRET_API_KEY, "<<npm_Zx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5Sa3Po1IuZx8Q>>"},
	{RT_SECRET_API_KEY, "https://discord.com/api/webhooks/<<1234567890/Zx8Qw2Lm4Nb6Vc0Kj9Hg>>"},
	{RT_SECRET_GITHUB, "token: <<ghp_Zx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5Sa3Po1IuZx8Q>>"},
	{RT_SECRET_GITHUB, "<<github_pat_11Zx8Qw2Lm4Nb6Vc0Kj9Hg_7Fd5Sa3Po1IuZx8Qw2Lm4Nb6>>"},
	{RT_SECRET_AWS, "id <<AKIAZX8QW2LM4NB6VC0K>>,"},
	{RT_SECRET_ASSIGNED, "aws_secret_access_key = <<Zx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5Sa3Po1IuZx8Qw2Lm>>"},
	{RT_SECRET_SLACK, "<<xoxb-123456789012-Zx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5>>"},
	{RT_SECRET_SLACK, "https://hooks.slack.com/services/<<T0AB12CD3/B0EF45GH6/Zx8Qw2Lm4Nb6>>"},
	{RT_SECRET_JWT, "<<eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.Zx8Qw2Lm4Nb6Vc0Kj9Hg>>"},
	{RT_SECRET_BEARER, "Authorization: Bearer <<Zx8Qw2Lm4Nb6Vc0Kj9Hg>>"},
	{RT_SECRET_BEARER, "-H 'authorization: basic <<dXNlcjpodW50ZXIyaHVudGVyMg==>>'"},
	{RT_SECRET_PASSWORD, "postgres://app:<<s3cr3t!x>>@db.example.org:5432/main"},
	{RT_SECRET_PASSWORD, "https://me:<<p@ss-word>>@host"},
	{RT_SECRET_PASSWORD, "https://<<Zx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5>>@git.example.org/x.git"},
	{RT_SECRET_PASSWORD, "PGPASSWORD=<<hunter2x>> psql"},
	{RT_SECRET_PASSWORD, "\"password\": \"<<hunter2x>>\","},
	{RT_SECRET_PASSWORD, "mysql --password <<hunter2x>> -u me"},
	{RT_SECRET_ASSIGNED, "export FOO_API_KEY='<<Zx8Qw2Lm4Nb6Vc0K>>'"},
	{RT_SECRET_ASSIGNED, "{\\\"clientSecret\\\": \\\"<<Zx8Qw2Lm4Nb6Vc0K>>\\\"}"},
	{RT_SECRET_ASSIGNED, "x-api-key: <<550e8400-e29b-41d4-a716-446655440000>>"},
	/* passwords that begin like placeholders */
	{RT_SECRET_PASSWORD, "password=<<$ecret123>>"},
	{RT_SECRET_PASSWORD, "password=<<*Secret1>> x"},
	{RT_SECRET_PASSWORD, "password=<<%Secret1>> x"},
	{RT_SECRET_PASSWORD, "password=<<(Secret1>> x"},
	{RT_SECRET_PASSWORD, "password=<<[Secret1>> x"},
	{RT_SECRET_PASSWORD, "password=<<{Secret1>> x"},
	{RT_SECRET_PASSWORD, "password: '<<@Secret1>>'"},
	{RT_SECRET_PASSWORD, "postgres://u:<<$ecret.1>>@h/db"},
	/* with a dot */
	{RT_SECRET_PASSWORD, "password: \"<<Summer.2024>>\""},
	{RT_SECRET_PASSWORD, "password: <<Summer.2024>>"},
	{RT_SECRET_PASSWORD, "\"password\": \"<<summer.x2024>>\""},
	/* other names */
	{RT_SECRET_PASSWORD, "DB_PASS=<<hunter2x>>"},
	{RT_SECRET_PASSWORD, "{\"user\":\"me\",\"pass\":\"<<hunter2x>>\"}"},
	{RT_SECRET_PASSWORD, "dbPass: '<<hunter2x>>'"},
	{RT_SECRET_ASSIGNED, "MISTRAL_KEY=<<Zx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5>>"},
	{RT_SECRET_ASSIGNED, "OPENAI_KEY=<<4f3c2a1b9d8e7f60a1b2c3d4e5f60718>>"},
	{RT_SECRET_ASSIGNED, "API Key: <<Zx8Qw2Lm4Nb6Vc0K>>"},
	{RT_SECRET_ASSIGNED, "your secret key = <<Zx8Qw2Lm4Nb6Vc0K>>"},
	{RT_SECRET_ASSIGNED, "Cookie: <<session=Zx8Qw2Lm4Nb6; theme=dark>>\nAccept: *"},
	{RT_SECRET_ASSIGNED, "Set-Cookie: <<sid=Zx8Qw2Lm4Nb6>>; Path=/; HttpOnly"},
	{RT_SECRET_ASSIGNED, "curl -H 'Cookie: <<session=Zx8Qw2Lm4Nb6>>' https://example.org"},
	/* in other shapes */
	{RT_SECRET_PASSWORD, "curl -s -u me:<<hunter2x>> https://example.org"},
	{RT_SECRET_PASSWORD, "curl --user 'me:<<hunter2x>>' https://example.org"},
	{RT_SECRET_PASSWORD, "mysql -u root -p<<hunter2x>> shop"},
	{RT_SECRET_PASSWORD, "sshpass -p <<hunter2x>> ssh host"},
	{RT_SECRET_PASSWORD, "machine example.org login me password <<hunter2x>>"},
	{RT_SECRET_PASSWORD, "<user>me</user><password><<hunter2x>></password>"},
	{RT_SECRET_PASSWORD, "password=&quot;<<hunter2x>>&quot;"},
	{RT_SECRET_PASSWORD, "&quot;password&quot;: &quot;<<hunter2x>>&quot;"},
	{RT_SECRET_PASSWORD, "**Password:** <<hunter2x>>"},
	{RT_SECRET_PASSWORD, "**Password**: <<hunter2x>>"},
	{RT_SECRET_PASSWORD, "| password | <<hunter2x>> |"},
	{RT_SECRET_API_KEY, "<<glrt-Zx8Qw2Lm4Nb6Vc0Kj9Hg>>"},
	{RT_SECRET_API_KEY, "<<sbp_4f3c2a1b9d8e7f60a1b2c3d4e5f6071829304a5b>>"},
	{RT_SECRET_API_KEY, "<<HRKU-Zx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5Sa3Po1IuZx8Q>>"},
	{RT_SECRET_API_KEY, "<<secret_Zx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5Sa3Po1IuZx8Qw2Lm4Nb>>"},
	{RT_SECRET_API_KEY, "<<vercel_blob_rw_Zx8Qw2Lm4Nb6Vc0K_j9Hg7Fd5Sa3Po1IuZx8Qw2>>"},
	{RT_SECRET_API_KEY, "<<key-4f3c2a1b9d8e7f60a1b2c3d4e5f60718>>"},
	{RT_SECRET_API_KEY, "<<1//0gZx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5Sa3Po1IuZx8Q>>"},
	{RT_SECRET_HOME, "in <</home/alice>>/src/main.c"},
	{RT_SECRET_HOME, "<</Users/alice.b>>/Library"},
	{RT_SECRET_HOME, "file://<</home/alice>>/x"},
	{RT_SECRET_HOME, "C:<<\\Users\\alice>>\\x"},
	{RT_SECRET_HOME, "share<<\\\\Users\\\\alice>>\\\\x"},
	{RT_SECRET_HOME, "/mnt/c<</Users/alice>>/x"},
	{RT_SECRET_HOME, "~/.claude/projects/<<-home-alice>>-src-x"},
	{RT_SECRET_PRIVATE_KEY,
	 "key:\n<<-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nZx8Qw2+/==\n-----END RSA PRIVATE KEY----->>\nend"},
	{RT_SECRET_PRIVATE_KEY,
	 "<<-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNz\\n-----END OPENSSH PRIVATE KEY----->>"},
};

static const char *const misses[] = {
	"",
	"aec25b3f0d3c1b2a49586776655443322110ffee",
	"550e8400-e29b-41d4-a716-446655440000",
	"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
	"sk-learn-contrib is a task-runner for desk-work",
	"use sk-... or sk-xxxxxxxxxxxxxxxxxxxxxxxx",
	"sk-toggleable__label-arrow-container",
	"export OPENAI_API_KEY=$MY_KEY; api_key=\"<your api key>\"",
	"api_key = os.environ[\"OPENAI_API_KEY\"]",
	"api_key=settings.openai.api_key",
	"password: str = Field(...)",
	"The password is required. Password: required",
	"\"password\": \"string\"",
	"token = get_token(request2)",
	"max_tokens: 4096, total_tokens=123456789012",
	"Bearer authentication is described in RFC6750",
	"Basic understanding of the subject matter",
	"https://example.org/home/about and https://example.org:8080/@user",
	"ssh://git@github.com/a/b.git, git@github.com:a/b.git",
	"postgres://user:${PASSWORD}@host/db and http://u:***@h/",
	"GET /Users/42, /Users/Shared/x, /home, /home/",
	"C:\\Users\\Public\\x",
	"a work-home-page",
	"-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
	"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
	"eyJ is how a JSON object begins in base64",
	"AKIA is a prefix; AKIAS too",
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
	"alice@example.org",
	"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5eg==",
	"the author's key point: password managers",
	"password=$PASSWORD1 password: \"%PASSWORD1%\" password='<password1>' password=\"{{ pw1 }}\"",
	"password=${PW1} password=\"{password1}\" password=%(password1)s password: [password1]",
	"password = $config['db1'] password = $user->password1 password=$env:DB_PASSWORD1",
	"password = $(cat /run/p1) password: \"********1\" password: [redacted: password]",
	"sort_key=aB3dEf6hIj9kLmN0pQr2StUv public_key: aB3dEf6hIj9kLmN0pQr2StUv",
	"foreign_key = user_id_2 with primary_key=4, MY_KEY=value1",
	"bypass=hunter2x compass: hunter2x",
	"docker run -u 1000:1000 x; mkdir -p a1/b2; ps -u me; cp -pr a1 b2; mysql -p; curl -u me https://x",
	"cat password | grep abc123, the password x12345 is wrong, <token> aB3dEf6hIj9k",
	"curl -u $ME:$PASSWORD1 and sshpass -p \"$PASSWORD1\" ssh x",
	"Press any key: F12 or the API key: see page 12",
	"Cookie: a small cake, 12 of them",
	"password = config.db.password1 and password=os.environ1",
};

/* Without the signs; the position of the secret. */
static char *
take_apart(const char *text, size_t *from, size_t *to)
{
	size_t size = strlen(text) + 1;
	char *out = malloc(size);
	const char *open = strstr(text, "<<"), *close = strstr(text, ">>");

	assert_non_null(out);
	assert_non_null(open);
	assert_non_null(close);
	*from = (size_t)(open - text);
	*to = (size_t)(close - text) - 2;
	snprintf(out, size, "%.*s%.*s%s", (int)*from, text, (int)(*to - *from), open + 2, close + 2);
	return out;
}

static void
find(rt_secrets *list, rt_str text, bool is_json, const rt_secret_options *options)
{
	size_t i;

	rt_secrets_find(&list->s, &list->vec, text, is_json, options);
	assert_int_equal(list->s.status, RT_OK);
	list->items = list->vec.items;
	list->count = list->vec.count;
	for (i = 0; i < list->count; i++) {
		assert_true(list->items[i].from < list->items[i].to);
		assert_true(list->items[i].to <= text.size);
		assert_true(i == 0 || list->items[i - 1].to <= list->items[i].from);
	}
}

static void
test_hits(void **state)
{
	rt_secrets list;
	size_t i, from, to;

	(void)state;
	rt_secrets_init(&list, rt_alloc_libc());
	for (i = 0; i < sizeof(hits) / sizeof(hits[0]); i++) {
		char *text = take_apart(hits[i].text, &from, &to);

		find(&list, rt_str_of(text), false, NULL);
		if (list.count != 1 || list.items[0].from != from || list.items[0].to != to ||
		    list.items[0].kind != hits[i].kind)
			fail_msg("%s: %zu found, first %zu to %zu, a %s", hits[i].text, list.count,
				 list.count > 0 ? list.items[0].from : 0,
				 list.count > 0 ? list.items[0].to : 0,
				 list.count > 0 ? rt_secret_word(list.items[0].kind) : "-");
		free(text);
	}
	rt_secrets_deinit(&list);
}

static void
test_misses(void **state)
{
	rt_secrets list;
	size_t i;

	(void)state;
	rt_secrets_init(&list, rt_alloc_libc());
	for (i = 0; i < sizeof(misses) / sizeof(misses[0]); i++) {
		find(&list, rt_str_of(misses[i]), false, NULL);
		if (list.count > 0)
			fail_msg("%s: a %s from %zu to %zu", misses[i],
				 rt_secret_word(list.items[0].kind), list.items[0].from,
				 list.items[0].to);
	}
	rt_secrets_deinit(&list);
}

#define BODY_1 "MIIEowIBAAKCAQEAZx8Qw2Lm4Nb6Vc0K"
#define BODY_2 "j9Hg7Fd5Sa3Po1IuZx8Qw2Lm4Nb6Vc0K"

/* Private keys in their usual forms: nothing of the text between << and >> remains. */
static const char *const framed[] = {
	"<<-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2.0.22 (GNU/Linux)\n"
	"Comment: me@example.com\n\n" BODY_1 "\n=aB3d\n-----END PGP PRIVATE KEY BLOCK----->>\nend",
	"    11\u2192<<-----BEGIN RSA PRIVATE KEY-----\n    12\u2192" BODY_1 "\n    13\u2192" BODY_2
	"\n    14\u2192-----END RSA PRIVATE KEY----->>\n    15\u2192end",
	"<<-----BEGIN PRIVATE KEY-----\n" BODY_1 "\n[...]\n" BODY_2 "\n-----END PRIVATE KEY----->> end",
	"\x1b[31m<<-----BEGIN EC PRIVATE KEY-----\x1b[0m\n\x1b[32m" BODY_1
	"\x1b[0m\n-----END EC PRIVATE KEY----->>",
	"-<<-----BEGIN RSA PRIVATE KEY-----\n-" BODY_1 "\n------END RSA PRIVATE KEY----->>",
	"<<---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: \"a\"\n" BODY_1
	"\n---- END SSH2 ENCRYPTED PRIVATE KEY ---->>\n",
	"Public-Lines: 1\n<<Private-Lines: 2\n" BODY_1 "\n" BODY_2 ">>\n",
	/* without an end */
	"<<-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC\n\n" BODY_1
	"\n[...]\n" BODY_2 "\nZx8Q==>>\nand so on, as\nthe file says",
	"head -2:\n     1\u2192<<-----BEGIN PRIVATE KEY-----\n     2\u2192" BODY_1 ">>",
	"{\"k\":\"<<-----BEGIN PRIVATE KEY-----\\n" BODY_1 "\\n" BODY_2 "\\nZx8Q==>>\\n\"}",
	"<<-----BEGIN PRIVATE KEY-----\n" BODY_1 "\n>>-----BEGIN CERTIFICATE-----\nMIIB\n",
};

/* The reported secret is a key with its letters, and all of them. */
static void
test_private_keys(void **state)
{
	rt_secrets list;
	size_t i, from, to;

	(void)state;
	rt_secrets_init(&list, rt_alloc_libc());
	for (i = 0; i < sizeof(framed) / sizeof(framed[0]); i++) {
		char *text = take_apart(framed[i], &from, &to);

		find(&list, rt_str_of(text), false, NULL);
		if (list.count != 1 || list.items[0].kind != RT_SECRET_PRIVATE_KEY ||
		    list.items[0].from > from || list.items[0].from + 1 < from ||
		    list.items[0].to > to || list.items[0].to + 1 < to)
			fail_msg("%s: %zu found, first %zu to %zu, not %zu to %zu", text, list.count,
				 list.count > 0 ? list.items[0].from : 0,
				 list.count > 0 ? list.items[0].to : 0, from, to);
		free(text);
	}
	find(&list, RT_STR("grep -e '-----BEGIN RSA PRIVATE KEY-----' finds them, wherever"), false,
	     NULL);
	assert_int_equal(list.count, 0);
	rt_secrets_deinit(&list);
}

/* ---- other ways to write them ---- */

static void
encode64(rt_buf *out, rt_str text)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t i;

	for (i = 0; i < text.size; i += 3) {
		uint32_t bits = (uint32_t)(unsigned char)text.ptr[i] << 16;

		if (i + 1 < text.size)
			bits |= (uint32_t)(unsigned char)text.ptr[i + 1] << 8;
		if (i + 2 < text.size)
			bits |= (unsigned char)text.ptr[i + 2];
		rt_buf_add_byte(out, letters[bits >> 18]);
		rt_buf_add_byte(out, letters[bits >> 12 & 63]);
		rt_buf_add_byte(out, i + 1 < text.size ? letters[bits >> 6 & 63] : '=');
		rt_buf_add_byte(out, i + 2 < text.size ? letters[bits & 63] : '=');
	}
}

static void
encode(rt_buf *out, rt_str text, int way)
{
	rt_buf inner;
	size_t i;

	rt_buf_init(&inner, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < text.size && way < 3; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if (way == 0)
			rt_buf_add_f(out, "\\u%04x", c);
		else if (way == 1)
			rt_buf_add_f(out, "%%%02X", c);
		else
			rt_buf_add_f(out, "\\\\u%04x", c);
	}
	if (way == 3) {
		rt_buf_add_c(&inner, "header ");
		rt_buf_add_str(&inner, text);
		encode64(out, rt_buf_str(&inner));
	} else if (way == 4) {
		encode64(&inner, text);
		encode64(out, rt_buf_str(&inner));
	}
	rt_buf_deinit(&inner);
}

/* Each of them in every form, among other words: no part of it is outside of the span. */
static void
test_ways(void **state)
{
	rt_secrets list;
	rt_buf buf;
	size_t i, from, to;
	int way;

	(void)state;
	rt_secrets_init(&list, rt_alloc_libc());
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < sizeof(hits) / sizeof(hits[0]); i++) {
		char *text = take_apart(hits[i].text, &from, &to);

		for (way = 0; way < 5; way++) {
			size_t begin, end;

			rt_buf_clear(&buf);
			rt_buf_add_c(&buf, "so: ");
			begin = buf.size;
			encode(&buf, rt_str_of(text), way);
			end = buf.size;
			rt_buf_add_c(&buf, " it was");
			find(&list, rt_buf_str(&buf), way == 0 || way == 2, NULL);
			if (list.count != 1 || list.items[0].from < begin || list.items[0].to > end)
				fail_msg("way %d of %s: %zu found in %s", way, text, list.count,
					 buf.ptr);
		}
		free(text);
	}
	rt_buf_deinit(&buf);
	rt_secrets_deinit(&list);
}

/* A span in JSON never begins or ends within an escape. */
static void
test_json(void **state)
{
	static const char text[] = "a\\r8_Zx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5Sa3Po1Iu\\n"
				   "sk-ant-Zx8Qw2Lm4Nb6Vc0Kj9Hg7Fd\\u0035Sa\\n";
	rt_secrets list;

	(void)state;
	rt_secrets_init(&list, rt_alloc_libc());
	find(&list, rt_str_of(text), true, NULL);
	assert_int_equal(list.count, 1);
	assert_memory_equal(text + list.items[0].from, "sk-ant", 6);
	assert_string_equal(text + list.items[0].to, "\\n");
	rt_secrets_deinit(&list);
}

static void
test_options(void **state)
{
	static const rt_str given[] = {RT_STR_INIT("correct horse"), RT_STR_INIT("abc")};
	rt_secret_options options = {.given = given, .given_count = 2,
				     .home = RT_STR_INIT("/srv/people/al")};
	rt_secrets list;

	(void)state;
	rt_secrets_init(&list, rt_alloc_libc());
	find(&list, RT_STR("abc correct horse /srv/people/al/x /srv/people/alan a@example.org"),
	     false, &options);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.items[0].kind, RT_SECRET_GIVEN);
	assert_int_equal(list.items[1].kind, RT_SECRET_HOME);
	options.has_emails = true;
	find(&list, RT_STR("abc a.b+c@mail.example.org. or @here, x@y"), false, &options);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.items[0].kind, RT_SECRET_EMAIL);
	assert_int_equal(list.items[0].from, 4);
	assert_int_equal(list.items[0].to, 26);
	rt_secrets_deinit(&list);
}

/* Texts made of prefixes are searched in acceptable time. */
static void
test_beginnings(void **state)
{
	static const char *const pieces[] = {"sk-", "eyJ", "-----BEGIN PRIVATE KEY-----", "://a:",
					     "password=", "/home/", "\\u", "%", "Bearer ", "a@a."};
	rt_secrets list;
	rt_buf buf;
	size_t i, k;

	(void)state;
	rt_secrets_init(&list, rt_alloc_libc());
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		rt_buf_clear(&buf);
		for (k = 0; k < 20000; k++)
			rt_buf_add_c(&buf, pieces[i]);
		find(&list, rt_buf_str(&buf), false, NULL);
	}
	/* their square would take more than an hour */
	rt_buf_clear(&buf);
	for (k = 0; k < 4000000; k++)
		rt_buf_add_byte(&buf, '\\');
	rt_buf_add_c(&buf, "Users");
	find(&list, rt_buf_str(&buf), false, NULL);
	rt_buf_deinit(&buf);
	rt_secrets_deinit(&list);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hits),	   cmocka_unit_test(test_misses),
		cmocka_unit_test(test_ways),	   cmocka_unit_test(test_json),
		cmocka_unit_test(test_private_keys),
		cmocka_unit_test(test_options),	   cmocka_unit_test(test_beginnings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
