/* SPDX-License-Identifier: MIT
 *
 * Four processes write to one file; each adds entries with its own ids and reports every
 * acknowledged one to its parent; they are killed at random times, twenty rounds. Everything
 * acknowledged exists exactly once, nothing exists twice, no round fails with "database is
 * locked", and the store is valid.
 *
 * And a retry after a lost response: the same id is refused, so nothing is added twice. And a
 * process that attaches files while another removes files without an entry: none with an entry
 * is lost. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "log/blob.h"
#include "log/collect.h"
#include "log/engine.h"
#include "store/server_testing.h"
#include "store/store_open.h"
#include "view/view.h"

enum { WRITERS = 4, ROUNDS = 20, ACK_MAX = 200000, SOME_ACKS = 64 /* bytes: a dozen */ };

static int64_t
now_us(void *ctx)
{
	struct timespec t;

	(void)ctx;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void
random_bytes(void *ctx, void *to, size_t size)
{
	(void)ctx;
	if (getrandom(to, size, 0) != (ssize_t)size)
		abort();
}

static const rt_env env = {now_us, random_bytes, NULL};
static char folder[256], path[300];

static void
open_both(rt_store **store, rt_engine **engine)
{
	rt_store_options options = {.create = true};
	rt_engine_options engine_options = {.env = &env, .create = true, .checkpoint_every = 50};
	rt_error err;

	if (rt_store_open(rt_alloc_libc(), &env, path, &options, store, &err) != RT_OK ||
	    rt_engine_open(&engine_options, *store, engine, &err) != RT_OK) {
		fprintf(stderr, "open: %s\n", err.text);
		_exit(3);
	}
}

/* A writer: mostly appends; sometimes edits, branches back and undoes its own steps. */
static _Noreturn void
writer(int who, int round, int ack)
{
	rt_store *store;
	rt_engine *engine;
	unsigned n;

	open_both(&store, &engine);
	for (n = 0;; n++) {
		char request[160], line[32];
		rt_result result;
		int size;

		snprintf(request, sizeof(request),
			 "{\"op\":\"entry.append\",\"take\":\"main\",\"role\":\"User\","
			 "\"id\":\"r%dw%dn%u\",\"content\":\"entry %u\"}",
			 round, who, n, n);
		rt_engine_apply_text(engine, rt_str_of(request), rt_str_at(NULL, 0),
				     rt_str_at(NULL, 0), &result);
		if (result.status != RT_OK) {
			fprintf(stderr, "writer %d: %s\n", who, result.error.text);
			_exit(4);
		}
		rt_result_deinit(&result);
		size = snprintf(line, sizeof(line), "%d %u\n", who, n);
		if (write(ack, line, (size_t)size) != size)
			_exit(5);
		if (n % 7 == 3) {
			snprintf(request, sizeof(request),
				 "{\"op\":\"entry.edit\",\"take\":\"main\",\"entry\":\"r%dw%dn%u\","
				 "\"content\":\"edited\"}",
				 round, who, n);
			rt_engine_apply_text(engine, rt_str_of(request), rt_str_at(NULL, 0),
					     rt_str_at(NULL, 0), &result);
			if (result.status != RT_OK)
				_exit(6);
			rt_result_deinit(&result);
		}
	}
}

static unsigned acked[ROUNDS][WRITERS]; /* number of acknowledged entries of each */

static void
read_acks(int from, int round)
{
	static char text[1 << 22];
	size_t size = 0;
	ssize_t got;
	char *at;

	while ((got = read(from, text + size, sizeof(text) - 1 - size)) > 0)
		size += (size_t)got;
	text[size] = '\0';
	for (at = text; *at != '\0';) {
		char *end = strchr(at, '\n');
		int who;
		unsigned n;

		if (end == NULL)
			break; /* cut off by the kill: not acknowledged */
		if (sscanf(at, "%d %u", &who, &n) == 2 && acked[round][who] == n)
			acked[round][who] = n + 1;
		at = end + 1;
	}
}

/* Waits until they have made progress, however long that takes. */
static void
wait_for_acks(int from)
{
	int i, size = 0;

	for (i = 0; i < 6000 && size < SOME_ACKS; i++) {
		usleep(10000);
		assert_int_equal(ioctl(from, FIONREAD, &size), 0);
	}
	assert_true(size >= SOME_ACKS);
}

static void
four_writers_killed_at_random(void **state)
{
	rt_store *store;
	rt_engine *engine;
	const rt_project *project;
	rt_buf out;
	rt_error err;
	rt_json_doc *doc;
	yyjson_val *entry;
	size_t i, max, total = 0, extra = 0;
	int round, who;
	rt_place place = {0, 0};

	(void)state;
	memset(acked, 0, sizeof(acked));
	for (round = 0; round < ROUNDS; round++) {
		pid_t pids[WRITERS];
		int pipes[2];
		unsigned char delay;

		assert_int_equal(pipe(pipes), 0);
		for (who = 0; who < WRITERS; who++) {
			pids[who] = fork();
			if (pids[who] == 0) {
				close(pipes[0]);
				writer(who, round, pipes[1]);
			}
		}
		close(pipes[1]);
		random_bytes(NULL, &delay, 1);
		if (round % 2 == 0) /* in the other rounds they may have just started */
			wait_for_acks(pipes[0]);
		usleep(60000 + (useconds_t)delay * 600);
		for (who = 0; who < WRITERS; who++) {
			kill(pids[who], SIGKILL);
			usleep(delay % 3 * 4000u);
		}
		for (who = 0; who < WRITERS; who++) {
			int status;

			assert_int_equal(waitpid(pids[who], &status, 0), pids[who]);
			assert_true(WIFSIGNALED(status)); /* it did not exit by itself */
		}
		read_acks(pipes[0], round);
		close(pipes[0]);
	}

	open_both(&store, &engine);
	project = rt_engine_value(engine);
	assert_int_equal(rt_project_check(project, &err), RT_OK);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_view_show(engine, project, place, NULL, &out, &err), RT_OK);
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&out), &doc, &err), RT_OK);
	{
		unsigned stored[ROUNDS][WRITERS] = {0};
		yyjson_val *entries = rt_json_get(rt_json_root(doc), "entries");

		yyjson_arr_foreach(entries, i, max, entry)
		{
			int r, w;
			unsigned n;

			assert_int_equal(sscanf(yyjson_get_str(rt_json_get(entry, "id")),
						"r%dw%dn%u", &r, &w, &n),
					 3);
			/* each writer's entries are in order, without a gap, once */
			assert_int_equal(n, stored[r][w]);
			stored[r][w]++;
		}
		for (round = 0; round < ROUNDS; round++)
			for (who = 0; who < WRITERS; who++) {
				total += acked[round][who];
				/* at most one was stored and not yet reported */
				assert_true(stored[round][who] >= acked[round][who]);
				assert_true(stored[round][who] <= acked[round][who] + 1);
				extra += stored[round][who] - acked[round][who];
			}
	}
	assert_true(total > 100);
	print_message("# %zu acknowledged, %zu written but not told\n", total, extra);
	rt_json_free(doc);
	rt_buf_deinit(&out);
	rt_object_unref(project);
	rt_engine_close(engine);
	store->ops->close(store);
}

static void
a_retry_after_a_lost_answer_adds_nothing(void **state)
{
	rt_store *store;
	rt_engine *engine;
	rt_result result;
	const char *request = "{\"op\":\"entry.append\",\"id\":\"once\",\"content\":\"x\"}";

	(void)state;
	open_both(&store, &engine);
	rt_engine_apply_text(engine, rt_str_of(request), rt_str_at(NULL, 0), rt_str_at(NULL, 0),
			     &result);
	assert_int_equal(result.status, RT_OK);
	rt_result_deinit(&result);
	rt_engine_apply_text(engine, rt_str_of(request), rt_str_at(NULL, 0), rt_str_at(NULL, 0),
			     &result);
	assert_int_equal(result.status, RT_REFUSED);
	rt_result_deinit(&result);
	rt_engine_close(engine);
	store->ops->close(store);
}

/* ---- files ---- */

enum { FILES = 60 };

static void
name_file(int n, char text[32], char sha256[RT_SHA256_HEX_ROOM])
{
	rt_sha256 sha;
	int size = snprintf(text, 32, "the content of file %d", n);

	rt_sha256_init(&sha);
	rt_sha256_add(&sha, text, (size_t)size);
	rt_sha256_end_hex(&sha, sha256);
}

static rt_rows
side(const char *prefix, const char *sha256, char name[100])
{
	(void)snprintf(name, 100, "%s%s", prefix, sha256);
	return rt_rows_named(RT_STORE_SIDE, 1, rt_str_of(name));
}

static bool
leave_if_missing(void *ctx, const rt_finding *finding)
{
	(void)ctx;
	if (strcmp(finding->id, "file-missing") == 0)
		_exit(7);
	return true;
}

/* Old unused files, the next ones to be attached. They are removed repeatedly. */
static _Noreturn void
collector(int told)
{
	rt_collected out;
	rt_engine *engine;
	rt_store *store;
	size_t removed = 0;

	open_both(&store, &engine);
	for (;;) {
		if (rt_engine_fsck_files(engine, leave_if_missing, NULL, NULL) != RT_OK ||
		    store->ops->begin(store, NULL) != RT_OK)
			_exit(3);
		for (int n = 0; n < FILES; n++) {
			char text[32], sha256[RT_SHA256_HEX_ROOM], blob[100], mark[100];

			name_file(n, text, sha256);
			if (rt_store_get(store, side(RT_BLOB_PREFIX, sha256, blob), NULL, NULL, NULL) !=
			    RT_NOT_FOUND)
				continue;
			if (store->ops->write(store, side(RT_BLOB_PREFIX, sha256, blob), rt_str_of(text),
					      NULL) != RT_OK ||
			    store->ops->write(store, side(RT_BLOB_NEW_PREFIX, sha256, mark),
					      RT_STR("1"), NULL) != RT_OK)
				_exit(4);
		}
		if (store->ops->commit(store, NULL) != RT_OK ||
		    rt_engine_collect(engine, NULL, NULL, &out, NULL) != RT_OK || out.lost > 0)
			_exit(5);
		if (removed == 0 && out.removed > 0 && write(told, "", 1) != 1)
			_exit(6);
		removed += out.removed;
	}
}

static bool
no_finding(void *ctx, const rt_finding *finding)
{
	(void)ctx;
	if (strcmp(finding->severity, "note") != 0)
		fail_msg("%s: %s", finding->id, finding->text);
	return true;
}

static void
attached_files_outlive_a_collection(void **state)
{
	rt_engine *engine;
	rt_store *store;
	rt_error err = {0};
	int pipes[2], status;
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0)
		collector(pipes[1]);
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &byte, 1), 1); /* it is running */
	close(pipes[0]);
	open_both(&store, &engine);
	for (int n = 0; n < FILES; n++) {
		char text[32], sha256[RT_SHA256_HEX_ROOM], request[300];
		rt_result result;

		name_file(n, text, sha256);
		usleep(1000); /* gives the other process a chance to run */
		if (rt_blob_keep(engine, rt_str_of(text), sha256, &err) != RT_OK)
			fail_msg("%s", err.text);
		usleep(1000);
		snprintf(request, sizeof(request),
			 "{\"op\":\"entry.append\",\"content\":[{\"type\":\"file\",\"name\":\"a\","
			 "\"sha256\":\"%s\"}]}", sha256);
		rt_engine_apply_text(engine, rt_str_of(request), rt_str_at(NULL, 0), rt_str_at(NULL, 0),
				     &result);
		assert_int_equal(result.status, RT_OK);
		rt_result_deinit(&result);
	}
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0); /* it has not failed */
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(rt_engine_fsck_files(engine, no_finding, NULL, &err), RT_OK);
	for (int n = 0; n < FILES; n++) {
		char text[32], sha256[RT_SHA256_HEX_ROOM];
		rt_buf out;

		name_file(n, text, sha256);
		rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
		assert_int_equal(rt_blob_read(engine, rt_str_of(sha256), &out, &err), RT_OK);
		assert_string_equal(rt_buf_str(&out).ptr, text);
		rt_buf_deinit(&out);
	}
	rt_engine_close(engine);
	store->ops->close(store);
}

static int
setup(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/retake-processes-XXXXXX", tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/p.db", folder);
	return 0;
}

/* The same on a server, which the children reach by its address. */
static int
setup_server(void **state)
{
	(void)state;
	return test_server_address("/processes", path, sizeof(path)) ? 0 : -1;
}

static int
teardown(void **state)
{
	const char *ends[] = {"", "-wal", "-shm"};
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		char name[320];

		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		unlink(name);
	}
	return rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_writers_killed_at_random),
		cmocka_unit_test(a_retry_after_a_lost_answer_adds_nothing),
		cmocka_unit_test(attached_files_outlive_a_collection),
	};

	int failed = cmocka_run_group_tests_name("processes", tests, setup, teardown);

	if (test_server_folder() != NULL)
		failed += cmocka_run_group_tests_name("processes on a server", tests, setup_server, NULL);
	return failed;
}
