/* SPDX-License-Identifier: MIT
 *
 *   ask PROVIDER URL MODEL BODY [NAME=VALUE …]
 *
 * Sends the file BODY to a server and prints the result as one JSON object:
 *
 *   {"status":"ok","error":"","stop":"stop","ended":true,"notices":[…],"content":…
 *    ,"model":…,"usage":…}
 *
 * NAME=VALUE: stream=0, tries, backoff_ms, connect_ms, first_ms, idle_ms, total_ms, max (bytes),
 * stop_ms (cancel after this time), ca=FILE, header=NAME:VALUE, plain=1, models=1 (list models
 * instead; "models":[…]). The key is in the variable RETAKE_TEST_KEY, so that it is not visible
 * in the process list. */
#define _GNU_SOURCE

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "llm/provider.h"
#include "llm/server_model.h"
#include "llm/transport_curl.h"

typedef struct asker {
	rt_buf notices, models;
	int64_t stop_at_us; /* 0: never */
} asker;

static int64_t
now_us(void *ctx)
{
	struct timespec now;

	(void)ctx;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void
fill_random(void *ctx, void *to, size_t size)
{
	(void)ctx;
	if (getrandom(to, size, 0) != (ssize_t)size)
		abort();
}

static const rt_env env = {now_us, fill_random, NULL};

static bool
stop(void *ctx)
{
	asker *a = ctx;

	return a->stop_at_us != 0 && now_us(NULL) > a->stop_at_us;
}

static void
notice(void *ctx, const rt_notice *said)
{
	const char *words = said->words;
	asker *a = ctx;

	rt_json_add_comma(&a->notices);
	rt_json_add_string(&a->notices, rt_str_of(words));
}

static void
take_model(void *ctx, rt_str name, size_t context_tokens)
{
	asker *a = ctx;

	(void)context_tokens;
	rt_json_add_comma(&a->models);
	rt_json_add_string(&a->models, name);
}

static bool
read_file(const char *path, rt_buf *out)
{
	FILE *file = fopen(path, "rb");
	char room[4096];
	size_t got;

	if (file == NULL)
		return false;
	while ((got = fread(room, 1, sizeof(room), file)) > 0)
		rt_buf_add(out, room, got);
	fclose(file);
	return true;
}

static void
print(const asker *a, rt_status st, const rt_error *err, const rt_reply *reply)
{
	rt_buf out;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_f(&out, "{\"status\":\"%s\",\"error\":", rt_status_word(st));
	rt_json_add_string(&out, rt_str_of(st == RT_OK ? "" : err->text));
	rt_buf_add_f(&out, ",\"stop\":\"%s\",\"ended\":%s,\"bytes\":%zu,\"notices\":[",
		     rt_stop_word(reply->stop), reply->ended ? "true" : "false", reply->size);
	rt_buf_add_str(&out, rt_buf_str(&a->notices));
	rt_buf_add_c(&out, "],\"models\":[");
	rt_buf_add_str(&out, rt_buf_str(&a->models));
	rt_buf_add_c(&out, "],\"content\":");
	if (reply->size < 1 << 16)
		rt_reply_add_content(reply, &out);
	else
		rt_buf_add_c(&out, "null");
	rt_reply_add_fields(reply, &out);
	rt_buf_add_c(&out, "}\n");
	fwrite(out.ptr, 1, out.size, stdout);
	rt_buf_deinit(&out);
}

int
main(int argc, char **argv)
{
	asker a = {.stop_at_us = 0};
	rt_server_model_options options = {.alloc = rt_alloc_libc(), .env = &env, .backoff_ms = 20};
	rt_transport_curl_options over = {.alloc = rt_alloc_libc()};
	rt_ask ask = {.stream = true, .stop = stop, .notice = notice, .ctx = &a};
	rt_header headers[8];
	rt_model *model = NULL;
	bool models = false;
	rt_reply reply;
	rt_error err;
	rt_buf body;
	rt_status st;
	int i;

	memset(&err, 0, sizeof(err));
	if (argc < 5 || rt_provider_named(rt_str_of(argv[1])) == NULL) {
		fputs("usage: ask PROVIDER URL MODEL BODY [NAME=VALUE …]\n", stderr);
		return 2;
	}
	rt_buf_init(&a.notices, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&a.models, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&body, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_reply_init(&reply, rt_alloc_libc(), NULL, NULL);
	options.provider = rt_provider_named(rt_str_of(argv[1]));
	options.url = rt_str_of(argv[2]);
	options.model = rt_str_of(argv[3]);
	options.key = rt_str_of(getenv("RETAKE_TEST_KEY"));
	options.headers = headers;
	for (i = 5; i < argc; i++) {
		char *value = strchr(argv[i], '=');
		unsigned number;

		if (value == NULL)
			return 2;
		*value++ = '\0';
		number = (unsigned)strtoul(value, NULL, 10);
		if (strcmp(argv[i], "stream") == 0)
			ask.stream = number != 0;
		else if (strcmp(argv[i], "tries") == 0)
			options.tries = number;
		else if (strcmp(argv[i], "backoff_ms") == 0)
			options.backoff_ms = number;
		else if (strcmp(argv[i], "connect_ms") == 0)
			options.connect_ms = number;
		else if (strcmp(argv[i], "first_ms") == 0)
			options.first_byte_ms = number;
		else if (strcmp(argv[i], "idle_ms") == 0)
			options.idle_ms = number;
		else if (strcmp(argv[i], "total_ms") == 0)
			options.total_ms = number;
		else if (strcmp(argv[i], "max") == 0)
			options.answer_max = number;
		else if (strcmp(argv[i], "stop_ms") == 0)
			a.stop_at_us = now_us(NULL) + (int64_t)number * 1000;
		else if (strcmp(argv[i], "ca") == 0)
			over.ca_file = rt_str_of(value);
		else if (strcmp(argv[i], "plain") == 0)
			options.allow_plain_http = number != 0;
		else if (strcmp(argv[i], "models") == 0)
			models = number != 0;
		else if (strcmp(argv[i], "header") == 0 && strchr(value, ':') != NULL &&
			 options.header_count < 8) {
			char *colon = strchr(value, ':');

			*colon = '\0';
			headers[options.header_count++] =
				(rt_header){rt_str_of(value), rt_str_of(colon + 1), false};
		} else {
			fprintf(stderr, "ask: what is %s?\n", argv[i]);
			return 2;
		}
	}
	if (!read_file(argv[4], &body)) {
		fprintf(stderr, "ask: %s cannot be read\n", argv[4]);
		return 2;
	}
	ask.body = rt_buf_str(&body);
	st = rt_transport_curl_open(&over, &options.transport, &err);
	if (st == RT_OK) {
		st = rt_server_model_open(&options, &model, &err);
		if (st != RT_OK)
			options.transport->ops->close(options.transport);
	}
	if (st == RT_OK && models)
		st = rt_server_models(model, stop, &a, take_model, &a, &err);
	else if (st == RT_OK)
		st = model->ops->ask(model, &ask, &reply, &err);
	rt_reply_finish(&reply);
	print(&a, st, &err, &reply);
	if (model != NULL)
		model->ops->close(model);
	rt_reply_deinit(&reply);
	rt_buf_deinit(&body);
	rt_buf_deinit(&a.notices);
	rt_buf_deinit(&a.models);
	return 0;
}
