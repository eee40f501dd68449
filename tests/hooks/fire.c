/* SPDX-License-Identifier: MIT
 *
 * Fires events at hooks and prints the results, for evil_test.sh.
 *
 *   hooks-fire [-d DEFINITIONS] [-u USER_FOLDER] [-w WORK_FOLDER] [-s STATE_FOLDER] [-t]
 *              [-n TIMES] [-m MEMBERS_FILE] [-c MS] EVENT
 *
 * -t trusts the work folder's hooks first; -c cancels after this many milliseconds. Prints one
 * JSON object per firing, and at the end one about leaks: open descriptors that did not exist
 * before, and child processes that were not reaped. */
#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock_host.h"
#include "hooks/hooks.h"

static int64_t
now_us(void *ctx)
{
	(void)ctx;
	return rt_clock_ms() * 1000;
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
is_time(void *ctx)
{
	return rt_clock_ms() >= *(const int64_t *)ctx;
}

static void
read_file(const char *path, rt_buf *out)
{
	FILE *file = fopen(path, "rb");
	char *to;
	size_t got;

	if (file == NULL) {
		perror(path);
		exit(99);
	}
	do {
		to = rt_buf_reserve(out, 65536);
		got = to == NULL ? 0 : fread(to, 1, 65536, file);
		out->size += got;
	} while (got > 0);
	fclose(file);
}

static int
count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (dir != NULL && readdir(dir) != NULL)
		count++;
	if (dir != NULL)
		closedir(dir);
	return count;
}

static void
add_text(rt_buf *out, const char *key, const rt_buf *text)
{
	rt_json_add_key(out, key);
	if (rt_utf8_valid_size(rt_buf_str(text)) == text->size)
		rt_json_add_string(out, rt_buf_str(text));
	else
		rt_buf_add_c(out, "\"NOT UTF-8\"");
}

static void
report(rt_buf *line, rt_status st, const rt_error *err, const rt_hook_answer *answer, int64_t ms)
{
	static const char *const decisions[] = {"allow", "deny", "replace"};

	rt_buf_clear(line);
	rt_buf_add_f(line, "{\"status\":\"%s\",\"ms\":%lld,\"decision\":\"%s\"", rt_status_word(st),
		     (long long)ms, decisions[answer->decision]);
	rt_json_add_key(line, "error");
	rt_json_add_string(line, rt_str_of(st == RT_OK ? "" : err->text));
	add_text(line, "reason", &answer->reason);
	add_text(line, "patch", &answer->patch);
	add_text(line, "summary", &answer->summary);
	add_text(line, "by", &answer->by);
	add_text(line, "notes", &answer->notes);
	add_text(line, "runs", &answer->runs);
	rt_buf_add_c(line, "}");
	puts(line->ptr);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	rt_hooks_options options = {.alloc = rt_alloc_libc(), .env = &env};
	rt_buf definitions, members, line;
	int letter, times = 1, before, open_before, left = 0;
	bool trust = false;
	int64_t stop_after = 0, stop_at, start;
	rt_hooks *hooks = NULL;
	rt_hook_answer answer;
	rt_error err = {0};
	rt_status st;

	rt_buf_init(&definitions, options.alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&members, options.alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&line, options.alloc, RT_BUF_UNLIMITED);
	while ((letter = getopt(argc, argv, "d:u:w:s:tn:m:c:")) != -1)
		switch (letter) {
		case 'd': rt_buf_add_c(&definitions, optarg); break;
		case 'u': options.user_folder = optarg; break;
		case 'w': options.work_folder = optarg; break;
		case 's': options.state_folder = optarg; break;
		case 't': trust = true; break;
		case 'n': times = atoi(optarg); break;
		case 'm': read_file(optarg, &members); break;
		case 'c': stop_after = atoll(optarg); break;
		default: return 99;
		}
	if (optind != argc - 1)
		return 99;
	before = count_fds();
	options.definitions = rt_buf_str(&definitions);
	st = rt_hooks_open(&options, &hooks, &err);
	if (st == RT_OK && trust)
		st = rt_hooks_trust(hooks, rt_str_of(NULL), true, NULL, NULL, &err);
	if (st != RT_OK) {
		fprintf(stderr, "hooks-fire: %s\n", err.text);
		if (hooks != NULL)
			hooks->ops->close(hooks);
		return 98;
	}
	fprintf(stderr, "%.*s", RT_STR_ARG(rt_hooks_warnings(hooks)));
	rt_hook_answer_init(&answer, options.alloc);
	for (; times > 0; times--) {
		start = rt_clock_ms();
		stop_at = start + stop_after;
		st = hooks->ops->fire(hooks, argv[optind], rt_buf_str(&members),
				      RT_STR("role=User kind=message"),
				      stop_after > 0 ? is_time : NULL, &stop_at, &answer, &err);
		report(&line, st, &err, &answer, rt_clock_ms() - start);
	}
	rt_hook_answer_deinit(&answer);
	open_before = count_fds();
	start = rt_clock_ms();
	hooks->ops->close(hooks);
	while (waitpid(-1, NULL, WNOHANG) >= 0) /* any child, running or not, is a leak */
		if (left++ > 1000)
			break;
	printf("{\"fds\":%d,\"held\":%d,\"children\":%d,\"close_ms\":%lld}\n", count_fds() - before,
	       open_before - before, left, (long long)(rt_clock_ms() - start));
	rt_buf_deinit(&definitions);
	rt_buf_deinit(&members);
	rt_buf_deinit(&line);
	return 0;
}
