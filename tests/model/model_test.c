/* SPDX-License-Identifier: MIT
 *
 * The engine against the model. Without arguments: the test of every test run. With arguments a
 * program that can run for any time:
 *
 *   model_test --ops 2000 --seeds 500 --seed 1 --store sqlite --dir DIR
 *   model_test --replay FILE      a recorded run, or a reproducer
 *
 * With RETAKE_TEST_SECONDS the test without arguments continues with further seeds. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* The build needs one file per test. */
#include "base/sample_testing.h"
#include "log/folder_testing.h"
#include "model/model.c"
#include "model/model_call.c"
#include "model/model_canonical.c"
#include "model/model_disc.c"
#include "model/model_entry.c"
#include "model/model_history.c"
#include "model/model_ops.c"
#include "model/model_setting.c"
#include "model/model_take.c"
#include "model/random_ops.c"
#include "model/model_run.c"
#include "model/model_look.c"
#include "model/model_seed.c"

static const char usage_text[] =
	"model_test [--ops N] [--seed S] [--seeds K] [--store memory|sqlite] [--dir DIR] [--relaxed]\n"
	"           [--check-every M] [--restart-every R] [--crash-every C] [--group-every G]\n"
	"           [--engines 1|2] [--reproducer FILE] [--trace FILE] [--seconds T]\n"
	"model_test --replay FILE [--shrink] [--store …] …\n";

static char *
read_file(const char *path, size_t *out_size)
{
	FILE *file = fopen(path, "rb");
	char *text = NULL;
	long size;

	if (file == NULL)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
	    fseek(file, 0, SEEK_SET) == 0) {
		text = malloc((size_t)size + 1);
		*out_size = text != NULL ? fread(text, 1, (size_t)size, file) : 0;
	}
	fclose(file);
	return text;
}

static int
replay(const model_run_options *options, const char *path, bool shrink)
{
	size_t size = 0, from, at, count = 0;
	char *text = read_file(path, &size);
	rt_str *lines = malloc((size + 1) * sizeof(*lines));
	model_run_stats stats = {0};
	bool ok;

	if (text == NULL || lines == NULL) {
		fprintf(stderr, "%s cannot be read\n", path);
		free(text);
		free(lines);
		return 2;
	}
	for (from = 0, at = 0; at <= size; at++)
		if (at == size || text[at] == '\n') {
			if (at > from)
				lines[count++] = rt_str_at(text + from, at - from);
			from = at + 1;
		}
	if (shrink && options->reproducer != NULL) {
		model_run_shrink(options, lines, count);
		ok = true;
	} else {
		ok = model_run_lines(options, lines, count, &stats);
	}
	free(lines);
	free(text);
	if (ok && !shrink)
		printf("they agree: %zu requests\n", stats.requests);
	return ok ? 0 : 1;
}

static int
program(int argc, char **argv)
{
	model_run_options o = {.seed = 1, .ops = 1000, .check_every = 1};
	model_run_stats stats = {0};
	const char *file = NULL, *store = "memory", *dir = ".";
	uint64_t seeds = 1, done, failed = 0;
	bool shrink = false;
	time_t end = 0;
	int i;

	for (i = 1; i < argc; i++) {
		const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (strcmp(name, "--relaxed") == 0) {
			o.relaxed = true;
			continue;
		}
		if (strcmp(name, "--shrink") == 0) {
			shrink = true;
			continue;
		}
		if (value == NULL) {
			fputs(usage_text, stderr);
			return 2;
		}
		i++;
		if (strcmp(name, "--ops") == 0)
			o.ops = strtoull(value, NULL, 10);
		else if (strcmp(name, "--seed") == 0)
			o.seed = strtoull(value, NULL, 10);
		else if (strcmp(name, "--seeds") == 0)
			seeds = strtoull(value, NULL, 10);
		else if (strcmp(name, "--store") == 0)
			store = value;
		else if (strcmp(name, "--dir") == 0)
			dir = value;
		else if (strcmp(name, "--check-every") == 0)
			o.check_every = strtoull(value, NULL, 10);
		else if (strcmp(name, "--restart-every") == 0)
			o.restart_every = strtoull(value, NULL, 10);
		else if (strcmp(name, "--crash-every") == 0)
			o.crash_every = strtoull(value, NULL, 10);
		else if (strcmp(name, "--group-every") == 0)
			o.group_every = strtoull(value, NULL, 10);
		else if (strcmp(name, "--engines") == 0)
			o.two_engines = strcmp(value, "2") == 0;
		else if (strcmp(name, "--reproducer") == 0)
			o.reproducer = value;
		else if (strcmp(name, "--trace") == 0)
			o.trace = value;
		else if (strcmp(name, "--seconds") == 0)
			end = time(NULL) + (time_t)strtoull(value, NULL, 10);
		else if (strcmp(name, "--replay") == 0)
			file = value;
		else {
			fputs(usage_text, stderr);
			return 2;
		}
	}
	if (strcmp(store, "sqlite") == 0)
		o.dir = dir;
	if (file != NULL)
		return replay(&o, file, shrink);
	for (done = 0; done < seeds && (end == 0 || time(NULL) < end); done++) {
		if (!model_run_seed(&o, &stats))
			failed++;
		if (failed == 5)
			break;
		o.seed++;
	}
	printf("%llu seeds, %zu requests (%zu changes, %zu refused), %zu restarts, %zu crashes, "
	       "%zu looks: %llu failed\n",
	       (unsigned long long)done, stats.requests, stats.changes, stats.refusals,
	       stats.restarts, stats.crashes, stats.looks, (unsigned long long)failed);
	return failed > 0 ? 1 : 0;
}

/* ---- the test ---- */

static void
run_seeds(model_run_options o, unsigned seeds)
{
	const char *more_time = getenv("RETAKE_TEST_SECONDS");
	time_t end = more_time != NULL ? time(NULL) + strtol(more_time, NULL, 10) / 4 : 0;
	model_run_stats stats = {0};
	unsigned i;

	seeds = seeds / test_sample() + 1;
	for (i = 0; i < seeds || time(NULL) < end; i++) {
		o.seed++;
		assert_true(model_run_seed(&o, &stats));
	}
	print_message("%zu requests, %zu changes, %zu restarts, %zu crashes\n", stats.requests,
		      stats.changes, stats.restarts, stats.crashes);
}

static void
agrees_in_memory(void **state)
{
	(void)state;
	run_seeds((model_run_options){.seed = 1000,
				      .ops = 400,
				      .check_every = 5,
				      .restart_every = 100,
				      .group_every = 20},
		  50);
}

static void
agrees_with_two_engines(void **state)
{
	(void)state;
	run_seeds((model_run_options){.seed = 2000,
				      .ops = 400,
				      .two_engines = true,
				      .check_every = 10,
				      .restart_every = 100,
				      .group_every = 20},
		  10);
}

static void
agrees_on_disk(void **state)
{
	char dir[64];

	(void)state;
	assert_true(test_folder(dir, sizeof(dir), "retake-model"));
	run_seeds((model_run_options){.seed = 3000,
				      .ops = 300,
				      .dir = dir,
				      .relaxed = true,
				      .two_engines = true,
				      .check_every = 10,
				      .restart_every = 60,
				      .crash_every = 60,
				      .group_every = 20},
		  10);
	rmdir(dir);
}

static void
agrees_on_a_server(void **state)
{
	char address[200];

	(void)state;
	if (test_server_folder() == NULL)
		skip();
	assert_true(test_server_address("/model", address, sizeof(address)));
	run_seeds((model_run_options){.seed = 4000,
				      .ops = 200,
				      .dir = address,
				      .two_engines = true,
				      .check_every = 10,
				      .restart_every = 60,
				      .crash_every = 60,
				      .group_every = 20},
		  3);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_in_memory),
		cmocka_unit_test(agrees_with_two_engines),
		cmocka_unit_test(agrees_on_disk),
		cmocka_unit_test(agrees_on_a_server),
	};

	if (argc > 1)
		return program(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
