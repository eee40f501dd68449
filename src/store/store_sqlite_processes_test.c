/* SPDX-License-Identifier: MIT
 *
 * The SQLite store and other processes: writers, killed writers, forks, files that are replaced,
 * turns. */
#include "store/store_sqlite_testing.h"

#include <fcntl.h>

/* --- processes --- */

static void
wait_for(pid_t child)
{
	int status = 0;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Append `count` rows, taking whatever number comes next. */
static int
append_many(const char *path, rt_store_sqlite_options options, int count)
{
	rt_store *s = NULL;
	rt_error why = {0};
	uint64_t project = 0;
	rt_status st = open_as(path, options, &s, &why);

	for (int i = 0; st == RT_OK && i < count; i++) {
		rt_store_row row = {.data = RT_STR("x")};
		uint64_t head = 0;

		st = s->ops->begin(s, &why);
		if (st == RT_OK && rt_store_get(s, rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR("p")),
						NULL, &project, NULL) != RT_OK)
			st = s->ops->project_new(s, RT_STR("p"), &project, &why);
		if (st == RT_OK)
			st = s->ops->head(s, RT_STORE_LOG, project, &head, &why);
		if (st == RT_OK)
			st = s->ops->append(s, project, head, &row, 1, NULL, 0, NULL, &why);
		if (st == RT_OK)
			st = s->ops->commit(s, &why);
	}
	if (st != RT_OK)
		fprintf(stderr, "%s: %s\n", rt_status_word(st), why.text);
	if (s != NULL)
		s->ops->close(s);
	return st == RT_OK ? 0 : 1;
}

/* Creates these projects; returns the exit status. */
static int
create_projects(const char *path, int count)
{
	rt_store *s = NULL;
	rt_error why = {0};
	uint64_t project = 0;
	char name[16];
	rt_status st = open_as(path, WRITE, &s, &why);

	for (int i = 0; st == RT_OK && i < count; i++) {
		(void)snprintf(name, sizeof(name), "p%d", i);
		st = s->ops->begin(s, &why);
		if (st == RT_OK)
			st = s->ops->project_new(s, rt_str_of(name), &project, &why);
		if (st == RT_OK)
			st = s->ops->commit(s, &why);
	}
	if (s != NULL)
		s->ops->close(s);
	return st == RT_OK ? 0 : 1;
}

/* A project that another process creates while it is looked for is not damage. */
static void
test_created_while_looked_for(void **state)
{
	enum { PROJECTS = 400 };
	fixture *f = *state;
	rt_store *s = NULL;
	uint64_t project = 0;
	char name[16];
	pid_t child;

	MUST(open_as(f->path, CREATE, &s, err));
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(create_projects(f->path, PROJECTS));
	for (int i = 0; i < PROJECTS; i++) {
		rt_status st = RT_NOT_FOUND;

		(void)snprintf(name, sizeof(name), "p%d", i);
		while (st == RT_NOT_FOUND)
			st = rt_store_get(s, rt_rows_named(RT_STORE_PROJECTS, 0, rt_str_of(name)), NULL,
					  &project, NULL);
		assert_int_equal(st, RT_OK);
	}
	wait_for(child);
	s->ops->close(s);
}

static void
test_processes(void **state)
{
	enum { CHILDREN = 6, COUNT = 60, ROUNDS = 4 };
	fixture *f = *state;
	rt_store *s = NULL;
	uint64_t head = 0;
	int findings = 0;

	for (int round = 1; round <= ROUNDS; round++) {
		pid_t children[CHILDREN];

		for (int i = 0; i < CHILDREN; i++) {
			children[i] = fork();
			assert_true(children[i] >= 0);
			if (children[i] == 0)
				_exit(append_many(f->path,
						  (rt_store_sqlite_options){.create = true,
									    .relaxed = i % 2 == 1},
						  COUNT));
		}
		for (int i = 0; i < CHILDREN; i++)
			wait_for(children[i]);
		MUST(open_as(f->path, WRITE, &s, err));
		MUST(s->ops->head(s, RT_STORE_LOG, 1, &head, err));
		assert_int_equal(head, round * CHILDREN * COUNT);
		MUST(s->ops->check(s, first_finding, &findings, err));
		assert_int_equal(findings, 0);
		s->ops->close(s);
		assert_false(is_there(f->path, "-wal"));
	}
}

/* Acknowledge every append over a pipe until killed. */
static void
append_for_ever(const char *path, bool relaxed, int to)
{
	rt_store_sqlite_options options = {.create = true, .relaxed = relaxed};
	rt_store *s = NULL;
	uint64_t head = 0;

	if (open_as(path, options, &s, NULL) != RT_OK ||
	    s->ops->head(s, RT_STORE_LOG, PROJECT, &head, NULL) != RT_OK)
		_exit(1);
	for (;;) {
		append(s, ++head);
		if (write(to, &head, sizeof(head)) != sizeof(head))
			_exit(1);
	}
}

static void
test_kill(void **state)
{
	enum { KILLS = 12 };
	fixture *f = *state;
	uint64_t last = 0;

	fill(f->path, 0);
	for (int i = 0; i < KILLS; i++) {
		rt_store *s = NULL;
		uint64_t head = 0;
		int ends[2], status = 0, findings = 0;
		pid_t child;

		assert_int_equal(pipe(ends), 0);
		child = fork();
		assert_true(child >= 0);
		if (child == 0)
			append_for_ever(f->path, i % 2 == 1, ends[1]);
		close(ends[1]);
		for (int acks = 0; acks < 20 + i * 40; acks++)
			assert_int_equal(read(ends[0], &last, sizeof(last)), sizeof(last));
		assert_int_equal(kill(child, SIGKILL), 0);
		while (read(ends[0], &head, sizeof(head)) == sizeof(head))
			last = head;
		close(ends[0]);
		assert_int_equal(waitpid(child, &status, 0), child);
		MUST(open_as(f->path, WRITE, &s, err));
		MUST(s->ops->head(s, RT_STORE_LOG, PROJECT, &head, err));
		assert_true(head >= last);
		assert_true(head <= last + 1);
		MUST(s->ops->check(s, first_finding, &findings, err));
		assert_int_equal(findings, 0);
		s->ops->close(s);
	}
}

/* --- failures inside a transaction --- */

static void
test_too_large(void **state)
{
	fixture *f = *state;
	rt_store *s = NULL;
	rt_error why = {0};
	uint64_t head = 0;
	/* Never modified: SQLite checks the size first. */
	rt_store_row row = {.data = {"x", (size_t)1 << 31}};

	fill(f->path, 3);
	MUST(open_as(f->path, WRITE, &s, err));
	MUST(s->ops->begin(s, err));
	row.data.size = 1;
	MUST(s->ops->append(s, PROJECT, 3, &row, 1, NULL, 0, NULL, err));
	assert_int_equal(s->ops->write(s, rt_rows_named(RT_STORE_SIDE, PROJECT, RT_STR("x")),
				       (rt_str){"x", (size_t)1 << 31}, &why),
			 RT_LIMIT);
	MUST(s->ops->commit(s, err));
	MUST(s->ops->head(s, RT_STORE_LOG, PROJECT, &head, err));
	assert_int_equal(head, 4);
	s->ops->close(s);
}

static void
test_relative_path(void **state)
{
	fixture *f = *state;
	rt_store *s = NULL;
	char here[4096];
	uint64_t project = 0;

	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(f->folder), 0);
	MUST(open_as("rel.retake", CREATE, &s, err));
	assert_string_equal(s->place, "rel.retake");
	/* The store stays the same one when the process changes its working directory. */
	assert_int_equal(chdir("/"), 0);
	MUST(s->ops->begin(s, err));
	MUST(s->ops->project_new(s, RT_STR("p"), &project, err));
	MUST(s->ops->commit(s, err));
	s->ops->close(s);
	assert_int_equal(chdir(f->folder), 0);
	MUST(open_as("rel.retake", READ, &s, err));
	MUST(rt_store_get(s, rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR("p")), NULL, &project,
			  err));
	s->ops->close(s);
	assert_int_equal(chdir(here), 0);
}

static int
use_after_fork(rt_store *s)
{
	rt_error err = {0};
	uint64_t head = 0;

	if (s->ops->begin(s, &err) != RT_REFUSED ||
	    s->ops->head(s, RT_STORE_LOG, PROJECT, &head, &err) != RT_REFUSED)
		return 1;
	return strstr(err.text, "forked") == NULL;
}

static void
test_fork(void **state)
{
	fixture *f = *state;
	rt_store *s = NULL;
	int status = 0;
	pid_t child;

	fill(f->path, 3);
	MUST(open_as(f->path, WRITE, &s, err));
	append(s, 4);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(use_after_fork(s));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	append(s, 5);
	s->ops->close(s);
}

/* --- another file takes its place, or none --- */

static rt_status
exchange(const char *path, const char *copy, const char *aside, bool *changed, rt_error *err)
{
	return rt_store_sqlite_exchange(rt_alloc_libc(), &env, path, copy, aside, changed, err);
}

/* Opens it in another process, reads it once and waits. */
static pid_t
open_elsewhere(const char *path, int *out_release)
{
	int ready[2], release[2];
	char byte = 0;
	pid_t child;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(release), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		rt_store *s = NULL;

		close(release[1]);
		if (open_as(path, WRITE, &s, NULL) != RT_OK || write(ready[1], &byte, 1) != 1)
			_exit(1);
		(void)!read(release[0], &byte, 1);
		s->ops->close(s);
		_exit(0);
	}
	close(ready[1]);
	close(release[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	*out_release = release[1];
	return child;
}

static void
test_remove_empty(void **state)
{
	fixture *f = *state;
	rt_store *s = NULL;
	rt_error why = {0};
	bool removed = true;
	int release = -1;
	pid_t child;

	MUST(open_as(f->path, CREATE, &s, err));
	s->ops->close(s);
	child = open_elsewhere(f->path, &release);
	assert_int_equal(
		rt_store_sqlite_remove_empty(rt_alloc_libc(), &env, f->path, &removed, &why),
		RT_OK);
	assert_false(removed);
	assert_true(is_there(f->path, ""));
	close(release);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(
		rt_store_sqlite_remove_empty(rt_alloc_libc(), &env, f->path, &removed, &why),
		RT_OK);
	assert_true(removed);
	assert_false(is_there(f->path, "") || is_there(f->path, "-wal") ||
		     is_there(f->path, "-shm"));
	/* What another process was told is stored: a row of any kind, a second project. */
	for (int second = 0; second < 2; second++) {
		uint64_t project = 0;

		MUST(open_as(f->path, CREATE, &s, err));
		MUST(s->ops->begin(s, err));
		MUST(s->ops->project_new(s, RT_STR("first"), &project, err));
		if (second)
			MUST(s->ops->project_new(s, RT_STR("second"), &project, err));
		else
			MUST(s->ops->write(s, rt_rows_named(RT_STORE_SIDE, project, RT_STR("draft")),
					   RT_STR("unsent"), err));
		MUST(s->ops->commit(s, err));
		s->ops->close(s);
		assert_int_equal(rt_store_sqlite_remove_empty(rt_alloc_libc(), &env, f->path,
							      &removed, &why),
				 RT_OK);
		assert_false(removed);
		assert_int_equal(unlink(f->path), 0);
	}
	fill(f->path, 1);
	assert_int_equal(
		rt_store_sqlite_remove_empty(rt_alloc_libc(), &env, f->path, &removed, &why),
		RT_OK);
	assert_false(removed);
	assert_true(is_there(f->path, ""));
}

static void
test_exchange(void **state)
{
	fixture *f = *state;
	char copy[150], aside[150];
	rt_store *s = NULL;
	rt_error why = {0};
	uint64_t head = 0;
	bool changed = true;
	int release = -1;
	pid_t child;

	snprintf(copy, sizeof(copy), "%s/copy", f->folder);
	snprintf(aside, sizeof(aside), "%s/aside", f->folder);
	fill(f->path, 7);
	fill(copy, 3);
	/* Another process has it open, and has not begun to write yet. */
	child = open_elsewhere(f->path, &release);
	assert_int_equal(exchange(f->path, copy, aside, &changed, &why), RT_BUSY);
	assert_false(changed);
	assert_non_null(strstr(why.text, "in use"));
	assert_true(is_there(copy, ""));
	assert_false(is_there(aside, ""));
	close(release);
	wait_for(child);
	/* A name that is in use is not overwritten. */
	fill(aside, 1);
	assert_int_equal(exchange(f->path, copy, aside, &changed, &why), RT_REFUSED);
	assert_false(changed);
	assert_int_equal(unlink(aside), 0);
	MUST(exchange(f->path, copy, aside, &changed, err));
	assert_true(changed);
	MUST(open_as(f->path, WRITE, &s, err));
	MUST(s->ops->head(s, RT_STORE_LOG, PROJECT, &head, err));
	assert_int_equal(head, 3);
	s->ops->close(s);
	MUST(open_as(aside, WRITE, &s, err));
	MUST(s->ops->head(s, RT_STORE_LOG, PROJECT, &head, err));
	assert_int_equal(head, 7);
	s->ops->close(s);
	assert_false(is_there(copy, ""));
	/* A log without its store is not mistaken for the log of a later one. */
	fill(copy, 3);
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(unlink(aside), 0);
	snprintf(copy, sizeof(copy), "%s-wal", f->path);
	put_bytes(copy, "a log of old", 12);
	snprintf(copy, sizeof(copy), "%s/copy", f->folder);
	MUST(exchange(f->path, copy, aside, &changed, err));
	assert_true(is_there(aside, "-wal"));
	assert_false(is_there(f->path, "-wal"));
}

/* The last rename fails: the earlier ones are reverted. */
static void
test_exchange_undone(void **state)
{
	static const char *const names[] = {"", "-wal", "-shm"};
	fixture *f = *state;
	char copy[150], aside[150], name[180];
	rt_error why = {0};
	bool changed = true;

	snprintf(copy, sizeof(copy), "%s/copy", f->folder);
	snprintf(aside, sizeof(aside), "%s/aside", f->folder);
	for (int i = 0; i < 3; i++) { /* there is no store, so no process writes the log back */
		snprintf(name, sizeof(name), "%s%s", f->path, names[i]);
		put_bytes(name, names[i], strlen(names[i]));
	}
	assert_int_equal(mkdir(copy, 0700), 0); /* a folder cannot replace a file */
	assert_int_equal(exchange(f->path, copy, aside, &changed, &why), RT_IO);
	assert_false(changed);
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s%s", f->path, names[i]);
		expect_bytes(name, names[i], strlen(names[i]));
		assert_false(is_there(aside, names[i]));
	}
	/* The second rename fails. */
	snprintf(name, sizeof(name), "%s-shm", aside);
	put_bytes(name, "taken", 5);
	assert_int_equal(exchange(f->path, copy, aside, &changed, &why), RT_REFUSED);
	assert_false(changed);
	assert_true(is_there(f->path, "") && is_there(f->path, "-wal") &&
		    is_there(f->path, "-shm"));
	assert_false(is_there(aside, "") || is_there(aside, "-wal"));
	expect_bytes(name, "taken", 5);
}

/* A store whose file was replaced is not written to. */
static void
test_replaced(void **state)
{
	fixture *f = *state;
	char other[180];
	rt_store *s = NULL;
	rt_error why = {0};

	snprintf(other, sizeof(other), "%s/other", f->folder);
	fill(f->path, 2);
	fill(other, 2);
	for (int written = 0; written < 2; written++) { /* before and after its first write */
		MUST(open_as(f->path, WRITE, &s, err));
		if (written)
			append(s, 3);
		assert_int_equal(rename(other, f->path), 0);
		assert_int_equal(s->ops->begin(s, &why), RT_REFUSED);
		assert_non_null(strstr(why.text, "has been replaced by another file"));
		assert_int_equal(unlink(f->path), 0);
		assert_int_equal(s->ops->begin(s, &why), RT_REFUSED);
		assert_non_null(strstr(why.text, "has been removed or renamed"));
		s->ops->close(s);
		snprintf(other, sizeof(other), "rm -f '%s'-*", f->path);
		assert_int_equal(system(other), 0);
		snprintf(other, sizeof(other), "%s/other", f->folder);
		fill(f->path, 2);
		fill(other, 2);
	}
}

/* ---- turns ---- */

typedef struct waiter {
	rt_store *store;
	_Atomic bool had_it;
} waiter;

static void *
wait_for_turn(void *ctx)
{
	waiter *w = ctx;

	if (w->store->ops->begin(w->store, NULL) == RT_OK) {
		w->had_it = true;
		w->store->ops->cancel(w->store);
	}
	return NULL;
}

static unsigned
waiting(rt_sqlite_store *s)
{
	unsigned count;

	pthread_mutex_lock(&s->guard);
	count = s->waiting;
	pthread_mutex_unlock(&s->guard);
	return count;
}

/* A thread that begins again right after a commit is served after a thread that waits already. */
static void
test_turns(void **state)
{
	fixture *f = *state;
	waiter w = {NULL, false};
	pthread_t thread;
	int i;

	MUST(open_as(f->path, CREATE, &w.store, err));
	for (i = 0; i < 50; i++) {
		w.had_it = false;
		MUST(w.store->ops->begin(w.store, err));
		assert_int_equal(pthread_create(&thread, NULL, wait_for_turn, &w), 0);
		while (waiting(rt_sqlite_self(w.store)) == 0)
			usleep(100);
		MUST(w.store->ops->commit(w.store, err));
		MUST(w.store->ops->begin(w.store, err));
		assert_true(w.had_it);
		w.store->ops->cancel(w.store);
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
	w.store->ops->close(w.store);
}

/* Another process writes its log back, as the lock for that shows (byte 121 of the shared memory,
 * see "WAL-index file format" in SQLite's documentation): a scrub waits for its end. */
static void
test_scrub_waits(void **state)
{
	fixture *f = *state;
	rt_store *s = NULL;
	char path[600], byte = 0;
	int ready[2];
	pid_t child;

	fill(f->path, 3);
	MUST(open_as(f->path, WRITE, &s, err));
	append(s, 4);
	snprintf(path, sizeof(path), "%s-shm", f->path);
	assert_int_equal(pipe(ready), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 121,
				     .l_len = 1};
		int fd = open(path, O_RDWR);

		if (fd < 0 || fcntl(fd, F_SETLK, &lock) != 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		usleep(300000);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	MUST(s->ops->scrub(s, err));
	wait_for(child);
	close(ready[0]);
	close(ready[1]);
	s->ops->close(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_turns),
		TEST(test_processes),
		TEST(test_created_while_looked_for),
		TEST(test_kill),
		TEST(test_too_large),
		TEST(test_relative_path),
		TEST(test_fork),
		TEST(test_remove_empty),
		TEST(test_exchange),
		TEST(test_exchange_undone),
		TEST(test_replaced),
		TEST(test_scrub_waits),
	};

	return cmocka_run_group_tests_name("store_sqlite_processes", tests, NULL, NULL);
}
