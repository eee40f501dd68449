/* SPDX-License-Identifier: MIT
 *
 * The user's configuration: its values, its errors and their positions; the model that a name
 * stands for; urls; and that no message contains a key. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/toml.h"
#include "log/folder_testing.h"
#include "base/failing_testing.h"
#include "llm/keys_host.h"
#include "llm/models_host.h"
#include "llm/provider.h"
#include "llm/url.h"

#define assert_str(s, text) assert_true(rt_str_is(s, text))

static rt_config *
read_config(const char *text)
{
	rt_config *c = NULL;
	rt_error err;
	rt_status st = rt_config_read(rt_alloc_libc(), rt_str_of(text), &c, &err);

	if (st != RT_OK)
		fail_msg("%s", err.text);
	return c;
}

#ifdef RT_WITH_TOML

static const char whole[] =
	"model = \"local/qwen3:8b\"\n"
	"comms_texts = false\n"
	"[provider.local]\n"
	"kind = \"openai\"\n"
	"url = \"http://127.0.0.1:8080/v1\"\n"
	"key_cmd = [\"pass\", \"show\", \"\"]\n"
	"headers = { \"x-org\" = \"me\", X-B = \"\" }\n"
	"timeout_s = 600\n"
	"context_tokens = 128_000\n"
	"ca_file = \"/etc/ca.pem\"\n"
	"allow_plain_http = true\n"
	"[provider.anthropic]\n"
	"key_file = \"~/.keys/a\"\n"
	"[tui]\n"
	"mouse = false\n"
	"theme = \"light\"\n"
	"[[hook]]\n"
	"event = \"before\"\n"
	"command = [\"x\"]\n"
	"[[hook]]\n"
	"event = \"after\"\n";

static void
test_whole(void **state)
{
	rt_config *c = read_config(whole);
	const rt_config_provider *p = rt_config_provider_named(c, RT_STR("local"));

	(void)state;
	assert_str(c->model, "local/qwen3:8b");
	assert_false(c->comms_texts);
	assert_false(c->tui.mouse);
	assert_str(c->tui.theme, "light");
	assert_int_equal(c->provider_count, 2);
	assert_int_equal(c->warning_count, 0);
	assert_non_null(p);
	assert_ptr_equal(p->kind, rt_provider_named(RT_STR("openai")));
	assert_str(p->url, "http://127.0.0.1:8080/v1");
	assert_int_equal(p->key_cmd_count, 3);
	assert_string_equal(p->key_cmd[1].ptr, "show");
	assert_string_equal(p->key_cmd[2].ptr, "");
	assert_int_equal(p->header_count, 2);
	assert_str(p->headers[0].name, "x-org");
	assert_str(p->headers[0].value, "me");
	assert_int_equal(p->timeout_s, 600);
	assert_int_equal(p->context_tokens, 128000);
	assert_str(p->ca_file, "/etc/ca.pem");
	assert_true(p->allow_plain_http);
	p = rt_config_provider_named(c, RT_STR("anthropic"));
	assert_ptr_equal(p->kind, rt_provider_named(RT_STR("anthropic")));
	assert_str(p->key_file, "~/.keys/a");
	assert_str(c->hooks, "[{\"event\":\"before\",\"command\":[\"x\"]},{\"event\":\"after\"}]");
	assert_null(rt_config_provider_named(c, RT_STR("Local")));
	rt_config_free(c);
	rt_config_free(NULL);
}

static void
test_defaults(void **state)
{
	rt_config *c = read_config("[defaults]\ntemperature = 0.5\nroles = [\"User\", \"AI\"]\n"
				   "draft = \"x\"\ntemperatur = 1\n");

	(void)state;
	assert_str(c->defaults, "{\"temperature\":0.5,\"roles\":[\"User\",\"AI\"]}");
	assert_int_equal(c->warning_count, 2);
	assert_str(c->warnings[0].words, "line 4, column 1: unknown key \"draft\"");
	assert_str(c->warnings[1].words,
		   "line 5, column 1: unknown key \"temperatur\" (did you mean temperature?)");
	rt_config_free(c);
	c = read_config("");
	assert_int_equal(c->defaults.size, 0);
	rt_config_free(c);
}

/* Errors, with the reported line and column. */
static void
test_wrong(void **state)
{
	static const struct {
		const char *text;
		rt_status status;
		const char *words;
		uint64_t line;
	} cases[] = {
		{"model = 1", RT_USAGE, "line 1, column 1: model", 1},
		{"model = \"\"", RT_USAGE, "non-empty", 1},
		{"\n\nmodel = ", RT_USAGE, "line 3", 3},
		{"a = 1\na = 2", RT_USAGE, "line 2", 2},
		{"defaults = 1", RT_USAGE, "line 1, column 1: defaults: must be a table", 1},
		{"[defaults]\nx = 1\ntemperature = \"hot\"", RT_USAGE,
		 "line 3, column 1: defaults.temperature: must be a number", 3},
		{"[defaults]\nroles = []", RT_USAGE, "100 names: [\"User\"", 2},
		{"[defaults]\nroles = [\"A\", 1]", RT_USAGE, "100 names: [\"User\"", 2},
		{"key = \"sk-CANARY\"", RT_REFUSED, "line 1, column 1: key: keys are not allowed", 1},
		{"[provider.openai]\nkey = \"sk-CANARY\"", RT_REFUSED, "line 2, column 1: provider."
		 "openai.key: keys are not allowed", 2},
		{"[provider.openai]\n  api_key = \"sk-CANARY\"", RT_REFUSED, "line 2, column 3", 2},
		{"[provider.x]\nurl = \"http://a\"", RT_USAGE, "requires kind, one of: openai", 1},
		{"[provider.x]\nkind = \"opnai\"", RT_USAGE, "line 2, column 1", 2},
		{"provider = 3", RT_USAGE, "must be tables", 1},
		{"[provider]\nopenai = 3", RT_USAGE, "line 2, column 1: provider.openai", 2},
		{"[provider.\"a/b\"]\nkind = \"openai\"", RT_USAGE, "a provider's name", 1},
		{"[provider.openai]\nurl = \"ftp://x\"", RT_USAGE, "must begin with http", 2},
		{"[provider.openai]\nurl = \"https://me:sk-CANARY@x/\"", RT_USAGE, "password", 2},
		{"[provider.openai]\nkey_env = \"sk-CANARY\"", RT_USAGE, "name of an environment", 2},
		{"[provider.openai]\nkey_env = \"A\"\nkey_file = \"b\"", RT_USAGE, "more than one", 1},
		{"[provider.openai]\nkey_cmd = \"pass show x\"", RT_USAGE, "no shell is used", 2},
		{"[provider.openai]\nkey_cmd = []", RT_USAGE, "no shell is used", 2},
		{"[provider.openai]\nkey_cmd = [1]", RT_USAGE, "list of strings", 2},
		{"[provider.openai]\nheaders = { \"a b\" = \"c\" }", RT_USAGE, "invalid header name", 2},
		{"[provider.openai]\nheaders = { a = \"sk-CANARY\\r\\nb: c\" }", RT_USAGE, "single-line", 2},
		{"comms_texts = 1", RT_USAGE, "true or false", 1},
		{"[provider.openai]\ntimeout_s = 0", RT_USAGE, "from 1 to 86400", 2},
		{"[provider.openai]\ntimeout_s = 1.5", RT_USAGE, "whole number", 2},
		{"[provider.openai]\ncontext_tokens = -1", RT_USAGE, "whole number", 2},
		{"[provider.openai]\nallow_plain_http = 1", RT_USAGE, "true or false", 2},
		{"tui = 1", RT_USAGE, "[tui]", 1},
		{"[tui]\nmouse = \"no\"", RT_USAGE, "true or false", 2},
		{"[tui]\ntheme = \"blue\"", RT_USAGE, "\"auto\", \"dark\" or \"light\"", 2},
		{"hook = 1", RT_USAGE, "[[hook]]", 1},
		{"hook = [1]", RT_USAGE, "[[hook]]", 1},
	};
	rt_config *c = NULL;
	rt_error err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rt_status st = rt_config_read(rt_alloc_libc(), rt_str_of(cases[i].text), &c, &err);

		if (st != cases[i].status || strstr(err.text, cases[i].words) == NULL ||
		    strstr(err.text, "CANARY") != NULL || err.line != cases[i].line)
			fail_msg("%s: %s, line %d: %s", cases[i].text, rt_status_word(st),
				 (int)err.line, err.text);
		assert_int_equal(rt_config_read(rt_alloc_libc(), rt_str_of(cases[i].text), &c, NULL),
				 st);
		assert_null(c);
	}
}

static void
test_warnings(void **state)
{
	rt_config *c = read_config("modell = \"a\"\n[zebra]\na = 1\n[provider.openai]\n"
				   "key_evn = \"A\"\ntimeout = 3\n");

	(void)state;
	assert_int_equal(c->warning_count, 4);
	assert_str(c->warnings[0].words,
		   "line 1, column 1: unknown key \"modell\" (did you mean model?)");
	assert_str(c->warnings[1].words, "line 2, column 2: unknown key \"zebra\"");
	assert_int_equal(c->warnings[2].line, 5);
	assert_non_null(strstr(c->warnings[2].words.ptr, "did you mean key_env?"));
	assert_non_null(strstr(c->warnings[3].words.ptr, "did you mean timeout_s?"));
	rt_config_free(c);
}

/* The sources of keys, as messages describe them. */
static void
test_find(void **state)
{
	static const char text[] = "a = 1\n[b.c]\nd = { e = [ 1, { f = 2, g = 3 } ] }\n"
				   "[[h]]\ni = 1\n[[h]]\n\"ä\" = 1\ni = 2\n";
	static const struct {
		const char *path[5];
		unsigned line, column;
	} cases[] = {
		{{"a"}, 1, 1},
		{{"b", "c", "d"}, 3, 1},
		{{"b", "c", "d", "e"}, 3, 7},
		{{"h", "0", "i"}, 5, 1},
		{{"h", "1", "i"}, 8, 1},
		{{"h", "1", "ä"}, 7, 1},
		{{"h", "2", "i"}, 0, 0},
		{{"b", "d"}, 0, 0},
		{{"i"}, 0, 0},
		{{"a", "b"}, 0, 0},
	};
	uint64_t line, column;
	rt_str path[5];
	size_t i, depth;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		line = column = 0;
		for (depth = 0; cases[i].path[depth] != NULL; depth++)
			path[depth] = rt_str_of(cases[i].path[depth]);
		if (rt_toml_find(rt_str_of(text), path, depth, &line, &column) !=
			    (cases[i].line != 0) ||
		    line != cases[i].line || column != cases[i].column)
			fail_msg("case %zu: line %d, column %d", i, (int)line, (int)column);
	}
}

static rt_status
choose(const rt_config *c, const char *name, rt_model_choice *out, rt_error *err)
{
	return rt_models_choose(c, rt_str_of(name), out, err);
}

static void
test_choose(void **state)
{
	rt_config *c = read_config(whole);
	rt_model_choice m;
	rt_error err;

	(void)state;
	assert_int_equal(choose(c, "", &m, &err), RT_OK);
	assert_str(m.model, "qwen3:8b");
	assert_str(m.provider_name, "local");
	assert_ptr_equal(m.config, rt_config_provider_named(c, RT_STR("local")));
	assert_int_equal(choose(c, "anthropic/claude", &m, &err), RT_OK);
	assert_str(m.provider_name, "anthropic");
	assert_non_null(m.config);
	assert_int_equal(choose(c, "Gemini/x/y", &m, &err), RT_OK);
	assert_str(m.model, "x/y");
	assert_str(m.provider_name, "gemini");
	assert_null(m.config);
	/* A model alone is one of the usual provider. */
	assert_int_equal(choose(c, "llama3", &m, &err), RT_OK);
	assert_str(m.provider_name, "local");
	assert_str(m.model, "llama3");
	assert_int_equal(choose(c, "meta/llama-3", &m, &err), RT_OK);
	assert_str(m.provider_name, "local");
	assert_str(m.model, "meta/llama-3");
	assert_int_equal(choose(c, "opnai/gpt-4", &m, &err), RT_NOT_FOUND);
	assert_non_null(strstr(err.text, "did you mean openai?"));
	assert_int_equal(choose(c, "locl/gpt-4", &m, &err), RT_NOT_FOUND);
	assert_non_null(strstr(err.text, "did you mean local?"));
	assert_int_equal(choose(c, "openai/", &m, &err), RT_NOT_FOUND);
	rt_config_free(c);
}

/* Every allocation fails once. */
static void
test_torture(void **state)
{
	static const char *const texts[] = {whole, "modell = 1\n[provider.openai]\nurll = 2\n"};
	failing f;
	rt_alloc alloc = {failing_resize, failing_release, &f};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		f.failed = true;
		for (long allowed = 0; f.failed; allowed++) {
			rt_config *c = NULL;
			rt_status st;

			f = (failing){.left = allowed};
			st = rt_config_read(&alloc, rt_str_of(texts[i]), &c, NULL);
			assert_int_equal(st, f.failed ? RT_NOMEM : RT_OK);
			rt_config_free(c);
			assert_int_equal(f.live, 0);
		}
	}
}

#else

static void
test_without_toml(void **state)
{
	rt_config *c = NULL;
	rt_error err;

	(void)state;
	assert_int_equal(rt_config_read(rt_alloc_libc(), RT_STR("a = 1"), &c, &err), RT_REFUSED);
	assert_non_null(strstr(err.text, "cannot read TOML"));
}

#endif

static void
test_empty(void **state)
{
	rt_config *c = read_config(" \n");
	rt_model_choice m;
	rt_error err;

	(void)state;
	assert_str(c->hooks, "[]");
	assert_int_equal(c->provider_count, 0);
	assert_int_equal(rt_models_choose(c, RT_STR(""), &m, &err), RT_NOT_FOUND);
	assert_non_null(strstr(err.text, "the configuration has no default"));
	assert_int_equal(rt_models_choose(c, RT_STR("llama3"), &m, &err), RT_NOT_FOUND);
	assert_non_null(strstr(err.text, "PROVIDER/MODEL"));
	assert_int_equal(rt_models_choose(c, RT_STR("gpt-5"), &m, &err), RT_NOT_FOUND);
	assert_non_null(strstr(err.text, "\"gpt-5\""));
	assert_non_null(strstr(err.text, "did you mean openai/gpt-5?"));
	assert_int_equal(rt_models_choose(c, RT_STR("qwen3:8b"), &m, &err), RT_NOT_FOUND);
	assert_non_null(strstr(err.text, "did you mean ollama/qwen3:8b?"));
	assert_int_equal(rt_models_choose(c, RT_STR("foo/bar"), &m, &err), RT_NOT_FOUND);
	assert_non_null(strstr(err.text, "there is no provider \"foo\"; available: openai"));
	assert_int_equal(rt_models_check_setting(c, RT_STR("foo/bar"), &err), RT_NOT_FOUND);
	assert_int_equal(rt_models_check_setting(c, RT_STR("builtin/nope"), &err), RT_NOT_FOUND);
	assert_int_equal(rt_models_check_setting(c, RT_STR(""), &err), RT_USAGE);
	assert_int_equal(rt_models_check_setting(NULL, RT_STR("openai/later"), &err), RT_OK);
	assert_int_equal(rt_models_check_setting(NULL, RT_STR("builtin/play:x"), &err), RT_OK);
	assert_int_equal(rt_models_choose(NULL, RT_STR("ollama/llama3"), &m, &err), RT_OK);
	assert_str(m.model, "llama3");
	rt_config_free(c);
}

static void
test_urls(void **state)
{
	static const struct {
		const char *text;
		bool ok, loopback;
	} cases[] = {
		{"http://localhost", true, true}, {"HTTPS://Localhost:1/", true, true},
		{"http://a.localhost/x?y", true, true}, {"http://127.0.0.1:80", true, true},
		{"http://127.9.9.9", true, true}, {"http://[::1]:8080/v1", true, true},
		{"http://127.0.0.1.evil.com", true, false}, {"http://128.0.0.1", true, false},
		{"http://127.1", true, false}, {"http://0127.0.0.1", true, false},
		{"http://127.0.0.256", true, false}, {"http://localhost.evil.com", true, false},
		{"http://notlocalhost", true, false}, {"https://api.example.com/v1", true, false},
		{"http://[::ffff:127.0.0.1]", true, false},
		{"", false, false}, {"http://", false, false}, {"http:///x", false, false},
		{"ftp://a", false, false}, {"http://a@b", false, false},
		{"http://a:b@c/", false, false}, {"http://a/x@y", false, false},
		{"http://a\\@b", false, false}, {"http://a b", false, false},
		{"http://a/#f", false, false}, {"http://a:0", false, false},
		{"http://a:65536", false, false}, {"http://a:x", false, false},
		{"http://a:", false, false}, {"http://[::1", false, false},
		{"http://\xC3\xA4.com", false, false}, {"http://a/\xC3\xA4", false, false},
		{"http://a/\n", false, false}, {"http://a%2eb/", false, false},
		{"http://127.0.0.1;evil.com/", false, false},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rt_url url;
		bool ok = rt_url_read(rt_str_of(cases[i].text), &url, NULL) == RT_OK;

		if (ok != cases[i].ok || (ok && rt_url_is_loopback(&url) != cases[i].loopback))
			fail_msg("%s", cases[i].text);
	}
}

static void
test_joined_urls(void **state)
{
	static const char *const cases[][3] = {
		{"http://a", "/x", "http://a/x"},
		{"https://a:8080/v1/", "/x", "https://a:8080/v1/x"},
		{"https://a/v1?k=v", "/x", "https://a/v1/x?k=v"},
		{"https://a/v1?k=v", "/x?alt=sse", "https://a/v1/x?k=v&alt=sse"},
		{"https://a", "/x?alt=sse", "https://a/x?alt=sse"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rt_url url;
		rt_buf out;

		assert_int_equal(rt_url_read(rt_str_of(cases[i][0]), &url, NULL), RT_OK);
		rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_url_join(&out, &url, rt_str_of(cases[i][1]));
		assert_string_equal(out.ptr, cases[i][2]);
		rt_buf_deinit(&out);
	}
}

/* The form of a url shown to users has no password and no query; a query's bytes. */
static void
test_shown_urls(void **state)
{
	static const char *const shown[][2] = {
		{"https://a:8080/v1/", "https://a:8080/v1/"},
		{"http://a/v1?key=sk-1", "http://a/v1?..."},
		{"http://me:sk-1@a/v1", "(not a valid URL)"},
		{"", "(not a valid URL)"},
	};
	static const char *const decoded[][2] = {
		{"a%2Fb%2fc", "a/b/c"}, {"%", "%"}, {"%4", "%4"}, {"%41%", "A%"}, {"%4g+", "%4g+"},
	};
	size_t i;
	rt_buf out;

	(void)state;
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		rt_buf_clear(&out);
		rt_url_add_shown(&out, rt_str_of(shown[i][0]));
		assert_true(rt_str_is(rt_buf_str(&out), shown[i][1]));
	}
	for (i = 0; i < sizeof(decoded) / sizeof(decoded[0]); i++) {
		rt_buf_clear(&out);
		rt_url_add_decoded(&out, rt_str_of(decoded[i][0]));
		assert_true(rt_str_is(rt_buf_str(&out), decoded[i][1]));
	}
	rt_buf_deinit(&out);
}

static void
test_ollama_host(void **state)
{
	static const char *const cases[][2] = {
		{"box", "http://box:11434"}, {"box:1", "http://box:1"}, {":99", "http://127.0.0.1:99"},
		{"0.0.0.0", "http://127.0.0.1:11434"}, {"0.0.0.0:5", "http://127.0.0.1:5"},
		{"https://box/x", "https://box/x"}, {"::1", "http://[::1]:11434"},
		{"[::1]", "http://[::1]:11434"}, {"[::1]:7", "http://[::1]:7"}, {" ", ""},
		{"\"box\"", "http://box:11434"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rt_buf out;

		rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_provider_ollama.add_url(rt_str_of(cases[i][0]), &out);
		if (!rt_str_is(rt_buf_str(&out), cases[i][1]))
			fail_msg("%s: %s", cases[i][0], out.ptr);
		rt_buf_deinit(&out);
	}
}

/* ---- keys, from the system ---- */

/* The result for a provider, as "status: key", followed by the text for people. */
static void
check_key(const rt_config_provider *p, const char *provider_name, const char *wanted)
{
	rt_model_choice choice = {rt_provider_named(RT_STR("openai")), p,
				  rt_str_of(provider_name), RT_STR("m")};
	rt_buf key, warnings, got;
	rt_error err;
	rt_status st;

	memset(&err, 0, sizeof(err));
	rt_buf_init(&key, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&warnings, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&got, rt_alloc_libc(), RT_BUF_UNLIMITED);
	st = rt_key_find(&choice, NULL, NULL, &key, &warnings, &err);
	rt_buf_add_f(&got, "%s:%.*s%s%.*s", rt_status_word(st), RT_STR_ARG(rt_buf_str(&key)), err.text,
		     RT_STR_ARG(rt_buf_str(&warnings)));
	if (strstr(got.ptr, wanted) == NULL || (st != RT_OK && strstr(got.ptr, "CANARY") != NULL))
		fail_msg("wanted %s, got %s", wanted, got.ptr);
	if (strstr(wanted, "other users") == NULL)
		assert_int_equal(warnings.size, 0);
	rt_buf_deinit(&key);
	rt_buf_deinit(&warnings);
	rt_buf_deinit(&got);
}

static void
write_file(const char *path, const char *text, mode_t mode)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
}

static void
test_key_variables(void **state)
{
	rt_config_provider p = {.kind = rt_provider_named(RT_STR("openai")), .name = RT_STR("local"),
				.key_env = RT_STR("RETAKE_TEST_LOCAL")};

	(void)state;
	unsetenv("OPENAI_API_KEY");
	unsetenv("RETAKE_TEST_LOCAL");
	check_key(NULL, "openai", "ok:");
	check_key(&p, "local", "credentials:the environment variable RETAKE_TEST_LOCAL");
	setenv("RETAKE_TEST_LOCAL", "  sk-1\n", 1);
	setenv("OPENAI_API_KEY", "sk-2", 1);
	check_key(&p, "local", "ok:sk-1");
	check_key(NULL, "openai", "ok:sk-2");
	/* A server of another name gets no key that was not configured for it. */
	p.key_env = rt_str_at(NULL, 0);
	p.url = RT_STR("https://other.example");
	check_key(&p, "local", "ok:");
	setenv("OPENAI_API_KEY", "sk-CANARY\x01zz", 1);
	check_key(NULL, "openai", "credentials:the first line of the environment variable OPENAI_API_KEY");
	setenv("OPENAI_API_KEY", "\nsk-CANARY", 1);
	check_key(NULL, "openai", "no key in its first line");
	unsetenv("OPENAI_API_KEY");
	unsetenv("RETAKE_TEST_LOCAL");
}

static void
test_key_files(void **state)
{
	char folder[64], path[96], link[96];
	rt_config_provider p = {.kind = rt_provider_named(RT_STR("openai"))};

	(void)state;
	assert_true(test_folder(folder, sizeof(folder), "config_test"));
	snprintf(path, sizeof(path), "%s/key", folder);
	snprintf(link, sizeof(link), "%s/none", folder);
	p.key_file = rt_str_of(link);
	check_key(&p, "openai", "credentials:the key file");
	p.key_file = rt_str_of(folder);
	check_key(&p, "openai", "credentials:");
	p.key_file = rt_str_of(path);
	write_file(path, "  sk-file \r\nsecond\n", 0600);
	check_key(&p, "openai", "ok:sk-file");
	write_file(path, "sk-file", 0644);
	check_key(&p, "openai", "ok:sk-fileother users can read");
	setenv("HOME", folder, 1);
	p.key_file = RT_STR("~/key");
	check_key(&p, "openai", "ok:sk-fileother users can read");
	write_file(path, "sk CANARY", 0600);
	check_key(&p, "openai", "credentials:the first line");
	write_file(path, "", 0600);
	check_key(&p, "openai", "has no key");
	(void)unlink(path);
	(void)rmdir(folder);
}

static bool
stop_now(void *ctx)
{
	(void)ctx;
	return true;
}

static void
test_key_commands(void **state)
{
	static const struct {
		rt_str words[3];
		size_t count;
		const char *wanted;
	} cases[] = {
		{{RT_STR_INIT("echo"), RT_STR_INIT("sk-$HOME")}, 2, "ok:sk-$HOME"},
		{{RT_STR_INIT("sh"), RT_STR_INIT("-c"), RT_STR_INIT("echo sk-3; echo sk-CANARY >&2; "
								    "echo more")}, 3, "ok:sk-3"},
		{{RT_STR_INIT("sh"), RT_STR_INIT("-c"), RT_STR_INIT("cat; echo sk-4")}, 3, "ok:sk-4"},
		{{RT_STR_INIT("sh"), RT_STR_INIT("-c"), RT_STR_INIT("echo sk-CANARY; exit 3")}, 3,
		 "credentials:key_cmd: sh exited with status 3"},
		{{RT_STR_INIT("sh"), RT_STR_INIT("-c"), RT_STR_INIT("kill -9 $$")}, 3,
		 "terminated by a signal"},
		{{RT_STR_INIT("sh"), RT_STR_INIT("-c"), RT_STR_INIT("yes sk-CANARY")}, 3,
		 "printed more than a key"},
		{{RT_STR_INIT("true")}, 1, "has no key"},
		{{RT_STR_INIT("/no/such/program")}, 1, "cannot be run"},
	};
	rt_config_provider p = {.kind = rt_provider_named(RT_STR("openai"))};
	rt_str words[3];
	rt_model_choice choice = {p.kind, &p, RT_STR("openai"), RT_STR("m")};
	rt_buf key;
	size_t i;

	(void)state;
	p.key_cmd = words;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memcpy(words, cases[i].words, sizeof(words));
		p.key_cmd_count = cases[i].count;
		check_key(&p, "openai", cases[i].wanted);
	}
	words[0] = RT_STR("sleep");
	words[1] = RT_STR("30");
	p.key_cmd_count = 2;
	rt_buf_init(&key, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_key_find(&choice, stop_now, NULL, &key, &key, NULL), RT_INTERRUPTED);
	rt_buf_deinit(&key);
}

static void
test_key_url(void **state)
{
	rt_model_choice choice = {rt_provider_named(RT_STR("ollama")), NULL, RT_STR("ollama"),
				  RT_STR("m")};
	rt_config_provider p = {.url = RT_STR("http://mine")};
	rt_buf url;

	(void)state;
	rt_buf_init(&url, rt_alloc_libc(), RT_BUF_UNLIMITED);
	unsetenv("OLLAMA_HOST");
	assert_int_equal(rt_key_url(&choice, &url, NULL), RT_OK);
	assert_int_equal(url.size, 0);
	setenv("OLLAMA_HOST", "box", 1);
	assert_int_equal(rt_key_url(&choice, &url, NULL), RT_OK);
	assert_string_equal(url.ptr, "http://box:11434");
	rt_buf_clear(&url);
	choice.config = &p;
	assert_int_equal(rt_key_url(&choice, &url, NULL), RT_OK);
	assert_string_equal(url.ptr, "http://mine");
	rt_buf_clear(&url);
	choice = (rt_model_choice){rt_provider_named(RT_STR("openai")), NULL, RT_STR("openai"),
				   RT_STR("m")};
	setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1", 1);
	assert_int_equal(rt_key_url(&choice, &url, NULL), RT_OK);
	assert_string_equal(url.ptr, "http://127.0.0.1:1/v1");
	unsetenv("OLLAMA_HOST");
	unsetenv("OPENAI_BASE_URL");
	rt_buf_deinit(&url);
}

static int64_t
env_now(void *ctx)
{
	(void)ctx;
	return 0;
}

static void
env_random(void *ctx, void *to, size_t size)
{
	(void)ctx;
	memset(to, 0, size);
}

/* From a folder with a configuration to an opened model. */
static void
test_open(void **state)
{
	static const rt_env env = {env_now, env_random, NULL};
	rt_models_options options = {.env = &env, .name = RT_STR("ollama/m")};
	char folder[64];
	rt_config *c = NULL;
	rt_model_choice choice;
	rt_model *model = NULL;
	rt_buf warnings;
	rt_error err;

	(void)state;
	assert_true(test_folder(folder, sizeof(folder), "config_test"));
	setenv("XDG_CONFIG_HOME", folder, 1);
	rt_buf_init(&warnings, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_config_load(rt_alloc_libc(), RT_STR(""), &c, &err), RT_OK);
	assert_int_equal(rt_config_load(rt_alloc_libc(), RT_STR("/no/such/file"), &c, &err),
			 RT_NOT_FOUND);
	options.config = c;
	assert_int_equal(rt_models_open(&options, &model, &choice, &warnings, &err), RT_OK);
	assert_str(model->name, "m");
	assert_string_equal(model->provider->name, "ollama");
	model->ops->close(model);
	options.name = RT_STR("builtin/echo");
	assert_int_equal(rt_models_open(&options, &model, &choice, &warnings, &err), RT_OK);
	assert_string_equal(model->provider->name, "builtin");
	model->ops->close(model);
	options.name = RT_STR("builtin/play:/no/such/file");
	assert_int_equal(rt_models_open(&options, &model, &choice, &warnings, &err), RT_REFUSED);
	options.may_play = true;
	assert_int_equal(rt_models_open(&options, &model, &choice, &warnings, &err), RT_NOT_FOUND);
	options.name = RT_STR("");
	assert_int_equal(rt_models_open(&options, &model, NULL, &warnings, &err), RT_NOT_FOUND);
	rt_config_free(c);
	rt_buf_deinit(&warnings);
	(void)rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef RT_WITH_TOML
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_torture),
#else
		cmocka_unit_test(test_without_toml),
#endif
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_urls),
		cmocka_unit_test(test_joined_urls),
		cmocka_unit_test(test_shown_urls),
		cmocka_unit_test(test_ollama_host),
		cmocka_unit_test(test_key_variables),
		cmocka_unit_test(test_key_files),
		cmocka_unit_test(test_key_commands),
		cmocka_unit_test(test_key_url),
		cmocka_unit_test(test_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
