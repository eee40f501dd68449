/* SPDX-License-Identifier: MIT
 *
 * Proof that the harness can fail: every planted bug (planted_bugs.h) must be detected by its
 * check. Without a bug every check passes. A bug found in practice that the checks would have
 * missed gets a line here. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "log/folder_testing.h"
#include "power/planted_bugs.h"

/* A checksum that a planted bug can disable. The rest of the store is the linked one. */
static uint64_t
planted_hash(const void *ptr, size_t size, uint64_t seed)
{
	return planted_bug == PLANTED_NO_SUMS ? 0 : rt_hash(ptr, size, seed);
}
#define rt_hash planted_hash
#include "store/store_row.c"
#undef rt_hash

#include "power/power_vfs.c"

#define SCRIPT_STORE_OPEN planted_open
#include "power/power_script.h"

static bool disk_lies; /* one bug is not in the store: a disk that does not sync */

/* A disk with the bugs that are below SQLite. */
static power_disk *
with_bugs(power_disk *disk)
{
	power_retry_syncs(disk, planted_bug == PLANTED_SYNC_RETRIED);
	power_write_late(disk, planted_bug == PLANTED_LATE_FLUSH);
	return disk;
}

/* A check returns NULL, or what it detected. */
typedef const char *(*check_fn)(void);

static char noticed[512];

static const char *
notice(const char *text)
{
	snprintf(noticed, sizeof(noticed), "%s", text);
	return noticed;
}

/* --- power cuts --- */

typedef struct cutting {
	power_disk *disk;
	script sc;
	uint64_t place;
	unsigned kinds; /* bits */
	bool bad;
} cutting;

static void
cut_here(void *ctx, power_step step, const char *name)
{
	cutting *c = ctx;

	(void)step;
	(void)name;
	c->place++;
	for (int kind = 0; kind < POWER_KINDS && !c->bad; kind++) {
		power_disk *after;
		script sc = c->sc;
		verdict v;

		if ((c->kinds & 1u << kind) == 0 || (c->place + (uint64_t)kind) % 3 != 0)
			continue;
		if (kind == POWER_KEEP)
			sc.relaxed = false;
		after = power_cut(c->disk, (power_kind)kind, c->place);
		v = verify_disk(power_name(after), &sc);
		if (v.bad) {
			c->bad = true;
			(void)notice(v.text);
		}
		power_disk_free(after);
	}
}

static const char *
check_cuts_of(bool relaxed, unsigned kinds)
{
	cutting c = {.disk = power_disk_new(), .kinds = kinds};
	const char *result;

	c.sc.steps = 60;
	c.sc.relaxed = relaxed;
	script_prepare(power_name(c.disk));
	power_ignore_syncs(c.disk, disk_lies);
	(void)with_bugs(c.disk);
	power_watch(c.disk, cut_here, &c);
	script_run(power_name(c.disk), &c.sc);
	power_watch(c.disk, NULL, NULL);
	result = c.bad ? noticed : c.sc.failed != RT_OK ? notice(c.sc.text) : NULL;
	power_disk_free(c.disk);
	return result;
}

static const char *
check_cuts(void)
{
	return check_cuts_of(false, ~0u);
}

static const char *
check_relaxed_cuts(void)
{
	return check_cuts_of(true, ~0u);
}

static const char *
check_process_death(void)
{
	return check_cuts_of(true, 1u << POWER_KEEP);
}

/* --- faults --- */

static power_disk *
disk_with(int steps, script *out)
{
	power_disk *disk = power_disk_new();
	script sc = {.steps = steps};

	script_prepare(power_name(disk));
	script_run(power_name(disk), &sc);
	*out = sc;
	return disk;
}

/* Opens it again, runs one more step, cuts the power. */
static const char *
go_on_after_failure(power_disk *disk, script *sc)
{
	power_disk *after;
	rt_store *s = NULL;
	rt_error err = {0};
	verdict v;

	if (script_open(power_name(disk), false, "before", false, &s, &err) != RT_OK)
		return notice(err.text);
	v = verify_store(s);
	if (!v.bad && script_step(s, sc, v.step + 1, &err) != RT_OK)
		complain(&v, err.text, 0);
	if (!v.bad) {
		after = power_cut(disk, POWER_DROP, 1);
		v = verify_disk(power_name(after), sc);
		power_disk_free(after);
	}
	s->ops->close(s);
	return v.bad ? notice(v.text) : NULL;
}

static const char *
check_sync_errors(void)
{
	script before;
	power_disk *start = disk_with(10, &before);
	const char *result = NULL;

	for (uint64_t nth = 1; nth < 60 && result == NULL; nth++) {
		power_disk *disk = with_bugs(power_cut(start, POWER_KEEP, 0)), *after;
		script sc = before;
		verdict v;

		sc.steps = 20;
		power_set_fault(disk, (power_fault){POWER_SYNC, nth, false, SQLITE_IOERR_FSYNC});
		script_run(power_name(disk), &sc);
		after = power_cut(disk, POWER_DROP, nth);
		v = verify_disk(power_name(after), &sc);
		if (v.bad)
			result = notice(v.text);
		power_disk_free(after);
		if (result == NULL && sc.failed != RT_OK)
			result = go_on_after_failure(disk, &sc);
		power_disk_free(disk);
	}
	power_disk_free(start);
	return result;
}

static const char *
check_poisoned(void)
{
	script sc;
	power_disk *disk = disk_with(10, &sc);
	rt_store *s = NULL;
	rt_error err = {0};
	const char *result = NULL;

	if (script_open(power_name(disk), false, "before", false, &s, &err) != RT_OK)
		return notice(err.text);
	(void)script_step(s, &sc, 11, &err);
	power_set_fault(disk, (power_fault){POWER_SYNC, 1, false, SQLITE_IOERR_FSYNC});
	if (script_step(s, &sc, 12, &err) != RT_IO)
		result = "the failed sync was not reported";
	else if (script_step(s, &sc, 12, &err) == RT_OK)
		result = "the handle goes on after a failed sync";
	s->ops->close(s);
	power_disk_free(disk);
	return result;
}

static bool
count_rows(void *ctx, const rt_store_row *row)
{
	(void)row;
	++*(uint64_t *)ctx;
	return true;
}

static const char *
check_read_errors(void)
{
	script before;
	power_disk *start = disk_with(40, &before);
	const char *result = NULL;

	for (uint64_t nth = 1; nth < 200 && result == NULL; nth++) {
		power_disk *disk = power_cut(start, POWER_KEEP, 0);
		rt_store *s = NULL;
		uint64_t rows = 0;
		rt_error err = {0};

		power_set_fault(disk, (power_fault){POWER_READ, nth, false, SQLITE_IOERR_READ});
		if (script_open(power_name(disk), false, "before", false, &s, &err) == RT_OK) {
			if (s->ops->read(s, rt_rows_between(RT_STORE_LOG, SCRIPT_PROJECT, 1, 1000),
					 count_rows, &rows, &err) == RT_OK &&
			    rows != script_rows(40))
				result = "a read error was taken for the end of the log";
			s->ops->close(s);
		}
		power_disk_free(disk);
	}
	power_disk_free(start);
	return result;
}

/* A caller that commits after a failed write. */
static const char *
check_stubborn(void)
{
	script before;
	power_disk *start = disk_with(40, &before);
	const char *result = NULL;

	for (uint64_t nth = 1; nth < 40 && result == NULL; nth++) {
		power_disk *disk = power_cut(start, POWER_KEEP, 0);
		rt_store *s = NULL;
		rt_error err = {0};
		rt_status first, second, end;

		if (script_open(power_name(disk), false, "before", false, &s, &err) != RT_OK)
			return notice(err.text);
		if (s->ops->begin(s, &err) == RT_OK) {
			power_set_fault(disk,
					(power_fault){POWER_READ, nth, false, SQLITE_IOERR_READ});
			first = script_append(s, 41, &err);
			second = s->ops->write(
				s, rt_rows_named(RT_STORE_SIDE, SCRIPT_PROJECT, RT_STR("step")),
				RT_STR("side of step 41"), &err);
			end = s->ops->commit(s, &err);
			if (end == RT_OK && (first != RT_OK || second != RT_OK))
				result = "half a transaction was committed";
		}
		s->ops->close(s);
		power_set_fault(disk, (power_fault){0});
		if (script_open(power_name(disk), false, "before", false, &s, &err) == RT_OK) {
			uint64_t head = 0;
			verdict v = {false, "", 0};
			rt_buf buf;

			rt_buf_init(&buf, rt_alloc_libc(), 100);
			if (s->ops->head(s, RT_STORE_LOG, SCRIPT_PROJECT, &head, &err) != RT_OK ||
			    rt_store_get(
				    s, rt_rows_named(RT_STORE_SIDE, SCRIPT_PROJECT, RT_STR("step")),
				    &buf, NULL, &err) != RT_OK ||
			    sscanf(buf.ptr, "side of step %d", &v.step) != 1 ||
			    head != script_rows(v.step))
				result = "half a transaction is in the store";
			rt_buf_deinit(&buf);
			s->ops->close(s);
		}
		power_disk_free(disk);
	}
	power_disk_free(start);
	return result;
}

/* --- other checks --- */

static const char *
check_flips(void)
{
	script sc;
	power_disk *disk = disk_with(30, &sc);
	const unsigned char *bytes;
	size_t size = 0;
	const char *result = NULL;

	bytes = power_bytes(disk, SCRIPT_PATH, &size);
	for (size_t at = 40000; at < size && result == NULL; at += 701) {
		power_disk *flipped = power_disk_new();
		unsigned char *copy = malloc(size);
		rt_store *s = NULL;
		rt_error err = {0};

		memcpy(copy, bytes, size);
		copy[at] ^= 4;
		(void)power_put(flipped, SCRIPT_PATH, copy, size);
		free(copy);
		if (script_open(power_name(flipped), false, "before", false, &s, &err) == RT_OK) {
			verdict v = {false, "", 30};
			scan log = {&v, 1, false}, body = {&v, 1, false};

			if (s->ops->read(s, rt_rows_between(RT_STORE_LOG, SCRIPT_PROJECT, 1, 9999),
					 scan_log, &log, &err) == RT_OK)
				(void)0;
			if (s->ops->read(s,
					 rt_rows_between(RT_STORE_BODIES, SCRIPT_PROJECT, 1, 9999),
					 scan_body, &body, &err) == RT_OK)
				(void)0;
			if (v.bad)
				result = notice(v.text);
			s->ops->close(s);
		}
		power_disk_free(flipped);
	}
	power_disk_free(disk);
	return result;
}

typedef struct waiting {
	rt_store *store;
	atomic_bool has_begun, has_ended;
} waiting;

/* Waits until the other writer has waited for a while, or does not wait. */
static void
hold_for_a_while(rt_store *s, waiting *w)
{
	struct timespec nap = {0, 10000000};
	int i;

	for (i = 0; i < 6000 && !atomic_load(&w->has_begun); i++)
		nanosleep(&nap, NULL);
	for (i = 0; i < 60 && !atomic_load(&w->has_ended); i++)
		nanosleep(&nap, NULL);
	s->ops->cancel(s);
}

static void *
begin_and_wait(void *ctx)
{
	waiting *w = ctx;
	rt_store *s = w->store;
	rt_error err = {0};
	rt_status st;

	atomic_store(&w->has_begun, true);
	st = s->ops->begin(s, &err);
	atomic_store(&w->has_ended, true);
	s->ops->cancel(s);
	return st == RT_OK ? NULL : (void *)"another writer was not waited for";
}

static const char *
check_waiting(void)
{
	script sc;
	power_disk *disk = disk_with(3, &sc);
	rt_store *s = NULL, *t = NULL;
	rt_error err = {0};
	pthread_t waiter;
	waiting w;
	void *result = NULL;

	if (script_open(power_name(disk), false, "before", false, &s, &err) != RT_OK ||
	    script_open(power_name(disk), false, "before", false, &t, &err) != RT_OK ||
	    s->ops->begin(s, &err) != RT_OK)
		return notice(err.text);
	((rt_sqlite_store *)t)->options.busy_ms = 60000; /* longer than the lock is held */
	w.store = t;
	atomic_init(&w.has_begun, false);
	atomic_init(&w.has_ended, false);
	if (pthread_create(&waiter, NULL, begin_and_wait, &w) != 0)
		return "no thread";
	hold_for_a_while(s, &w);
	pthread_join(waiter, &result);
	s->ops->close(s);
	t->ops->close(t);
	power_disk_free(disk);
	return result;
}

static const char *
check_empty_file(void)
{
	char path[64];
	rt_store_sqlite_options options = {.create = true};
	rt_store *s = NULL;
	int fd = test_path(path, sizeof(path), "retake-seeded") ? mkstemp(path) : -1;
	rt_status st;

	if (fd < 0)
		return "no file";
	close(fd);
	st = planted_open(rt_alloc_libc(), &script_env, path, &options, &s, NULL);
	if (s != NULL)
		s->ops->close(s);
	(void)unlink(path);
	return st == RT_CORRUPT ? NULL : "an empty file was not refused as damaged";
}

static const char *
check_conflict(void)
{
	script sc;
	power_disk *disk = disk_with(3, &sc);
	rt_store *s = NULL;
	rt_error err = {0};
	rt_status st = RT_OK;

	if (script_open(power_name(disk), false, "before", false, &s, &err) != RT_OK ||
	    s->ops->begin(s, &err) != RT_OK)
		return notice(err.text);
	st = s->ops->append(s, SCRIPT_PROJECT, 1, NULL, 0, NULL, 0, NULL, &err);
	s->ops->close(s);
	power_disk_free(disk);
	return st == RT_CONFLICT ? NULL : "a writer who was late was not told";
}

/* --- every bug and its check --- */

static const struct {
	const char *name;
	enum planted bug;
	bool disk_lies;
	check_fn check;
} bugs[] = {
	{"the disk ignores syncs", PLANTED_NONE, true, check_cuts},
	{"synchronous = OFF", PLANTED_SYNC_OFF, false, check_cuts},
	{"acknowledged before the sync", PLANTED_ACK_FIRST, false, check_cuts},
	{"the log row before its data", PLANTED_LOG_FIRST, false, check_cuts},
	{"two rows, two transactions", PLANTED_TWO_TRANSACTIONS, false, check_cuts},
	{"a failed sync is retried", PLANTED_SYNC_RETRIED, false, check_sync_errors},
	{"new commits behind a failed sync", PLANTED_NOT_SETTLED, false, check_sync_errors},
	{"writing goes on after a failed sync", PLANTED_NOT_POISONED, false, check_poisoned},
	{"a read error is the end", PLANTED_READ_EMPTY, false, check_read_errors},
	{"no waiting for a writer", PLANTED_NO_WAITING, false, check_waiting},
	{"checksums are not looked at", PLANTED_NO_SUMS, false, check_flips},
	{"writes gathered beyond the commit", PLANTED_LATE_FLUSH, false, check_process_death},
	{"relaxed mode leaves no mark", PLANTED_NO_MARK, false, check_relaxed_cuts},
	{"an empty file is a new store", PLANTED_EMPTY_IS_NEW, false, check_empty_file},
	{"the expected head is not compared", PLANTED_NO_CONFLICT, false, check_conflict},
	{"a transaction goes on after a failure", PLANTED_HALF_COMMITTED, false, check_stubborn},
};

/* In a child process, because a bug may crash it: that counts as detected. */
static bool
is_noticed(check_fn check, enum planted bug, bool lies, const char *name)
{
	int status = 0;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		const char *result;

		planted_bug = bug;
		disk_lies = lies;
		result = check();
		fprintf(stderr, "# %s: %s\n", name, result == NULL ? "nothing noticed" : result);
		_exit(result == NULL ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* Each check runs once without a bug: it behaves the same for every line that names it. */
static void
test_silent_without_bugs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bugs) / sizeof(*bugs); i++) {
		size_t first = 0;

		while (bugs[first].check != bugs[i].check)
			first++;
		if (first == i)
			assert_false(is_noticed(bugs[i].check, PLANTED_NONE, false, "no bug"));
	}
}

static void
test_every_bug_is_noticed(void **state)
{
	size_t caught = 0, count = sizeof(bugs) / sizeof(*bugs);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		if (is_noticed(bugs[i].check, bugs[i].bug, bugs[i].disk_lies, bugs[i].name))
			caught++;
		else
			print_message("NOT noticed: %s\n", bugs[i].name);
	}
	print_message("%zu of %zu seeded bugs noticed\n", caught, count);
	assert_int_equal(caught, count);
	assert_int_equal(count, PLANTED_COUNT); /* all of them, and the disk that does not sync */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_silent_without_bugs),
		cmocka_unit_test(test_every_bug_is_noticed),
	};

	return cmocka_run_group_tests_name("seeded", tests, NULL, NULL);
}
