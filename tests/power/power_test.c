/* SPDX-License-Identifier: MIT
 *
 * Power loss, failing disks and out-of-memory with the SQLite store.
 *
 * Every write, sync, truncation, creation and deletion of a workload of 200 transactions is a
 * place where power is cut, in each of seven ways (power_vfs.h). After each cut the store is
 * opened: everything acknowledged exists, the rest is complete or absent, the surviving steps
 * are a prefix, check finds nothing, and the next steps work and exist after opening it again.
 *
 * The default is a sample of the places. POWER_FULL=1 tests all of them with four seeds each,
 * and prints their number. POWER_SEED=N is the first seed. POWER_SAMPLE=K, for builds that are
 * many times slower, tests every Kth of the default places, and every (K/8)th of the failing
 * calls, which are far fewer; the checks are the same. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <time.h>

#include "power/power_vfs.c"
#include "power/power_script.h"

static bool full;
static uint64_t first_seed = 1;
static uint64_t sample = 1; /* test every nth of the default places */

/* Stride of failing calls, given the default stride. */
static uint64_t
next_call(uint64_t usual)
{
	return full ? 1 : sample < 16 ? usual : usual * (sample / 8);
}

/* --- cuts --- */

typedef struct cutting {
	power_disk *disk;
	script sc;
	uint64_t place;  /* steps of the disk so far */
	uint64_t stride; /* distance between two cuts */
	int seeds;       /* for each kind */
	uint64_t cuts;
	uint64_t by_kind[POWER_KINDS];
} cutting;

static void
cut_here(void *ctx, power_step step, const char *name)
{
	cutting *c = ctx;

	c->place++;
	for (int kind = 0; kind < POWER_KINDS; kind++) {
		/* In the sampled run the kinds alternate between places. */
		if ((c->place + (uint64_t)kind + first_seed - 1) % c->stride != 0)
			continue;
		for (int i = 0; i < c->seeds; i++) {
			uint64_t seed = first_seed + c->place * 131 + (uint64_t)i;
			power_disk *after = power_cut(c->disk, (power_kind)kind, seed);
			script sc = c->sc;
			verdict v;

			/* Only the process was killed: nothing may be missing. */
			if (kind == POWER_KEEP)
				sc.relaxed = false;
			v = verify_disk(power_name(after), &sc);
			if (v.bad) {
				print_message(
					"%s, cut %llu before step %d of %s, kind %d, seed %llu:"
					" acknowledged %d, attempted %d, found %d: %s\n",
					sc.relaxed ? "relaxed" : "full",
					(unsigned long long)c->place, (int)step,
					name == NULL ? "a nameless file" : name, kind,
					(unsigned long long)seed, sc.acknowledged, sc.attempted,
					v.step, v.text);
				fail();
			}
			power_disk_free(after);
			c->cuts++;
			c->by_kind[kind]++;
		}
	}
}

static void
run_cuts(bool relaxed, int steps, uint64_t stride)
{
	cutting c = {.disk = power_disk_new(), .stride = full ? 1 : stride * sample, .seeds = full ? 4 : 1};

	c.sc.steps = steps;
	c.sc.relaxed = relaxed;
	script_prepare(power_name(c.disk));
	power_watch(c.disk, cut_here, &c);
	script_run(power_name(c.disk), &c.sc);
	power_watch(c.disk, NULL, NULL);
	if (c.sc.failed != RT_OK)
		print_message("%s\n", c.sc.text);
	assert_int_equal(c.sc.failed, RT_OK);
	assert_int_equal(c.sc.acknowledged, steps);
	print_message("%llu places, %llu cuts\n", (unsigned long long)c.place,
		      (unsigned long long)c.cuts);
	assert_true(c.place > (uint64_t)steps);
	for (int kind = 0; kind < POWER_KINDS; kind++)
		assert_true(c.by_kind[kind] > 0);
	power_disk_free(c.disk);
}

static void
test_cuts_full(void **state)
{
	(void)state;
	run_cuts(false, 200, 11);
}

static void
test_cuts_relaxed(void **state)
{
	(void)state;
	run_cuts(true, 200, 11);
}

/* A cut during the recovery from a cut, to a depth of three. */
typedef struct nested {
	power_disk *disk;
	script sc;
	int depth;
	uint64_t place, seed;
	uint64_t cuts;
} nested;

static void
cut_again(void *ctx, power_step step, const char *name)
{
	nested *n = ctx;

	(void)step;
	(void)name;
	n->place++;
	/* By far the most places are at the third depth. */
	if ((n->place + n->seed) % (n->depth == 1 ? 37 : n->depth == 2 ? 5 : full ? 1 : sample) != 0)
		return;
	for (int kind = 1; kind < POWER_KINDS; kind++) {
		nested deeper = {.sc = n->sc, .depth = n->depth + 1, .seed = n->seed + n->place};
		verdict v;

		if (!full && (n->place + (uint64_t)kind) % 3 != 0)
			continue;
		/* verify_disk itself runs two steps. */
		deeper.sc.attempted += 2;
		deeper.disk = power_cut(n->disk, (power_kind)kind, n->seed + n->place);
		if (deeper.depth <= 3)
			power_watch(deeper.disk, cut_again, &deeper);
		v = verify_disk(power_name(deeper.disk), &n->sc);
		if (v.bad)
			print_message("depth %d: %s\n", n->depth, v.text);
		assert_false(v.bad);
		power_watch(deeper.disk, NULL, NULL);
		n->cuts += 1 + deeper.cuts;
		power_disk_free(deeper.disk);
	}
}

static void
test_cuts_in_recovery(void **state)
{
	nested n = {.disk = power_disk_new(), .depth = 1, .seed = first_seed};

	(void)state;
	n.sc.steps = full ? 100 : 40;
	script_prepare(power_name(n.disk));
	power_watch(n.disk, cut_again, &n);
	script_run(power_name(n.disk), &n.sc);
	power_watch(n.disk, NULL, NULL);
	assert_int_equal(n.sc.failed, RT_OK);
	print_message("%llu cuts\n", (unsigned long long)n.cuts);
	assert_true(n.cuts > 100);
	power_disk_free(n.disk);
}

/* --- faults of the disk --- */

/* A disk with a store that contains `steps` steps, cloned for every case. */
static power_disk *
disk_with(int steps, script *out)
{
	power_disk *disk = power_disk_new(), *clone;
	script sc = {.steps = steps};

	script_prepare(power_name(disk));
	script_run(power_name(disk), &sc);
	assert_int_equal(sc.failed, RT_OK);
	clone = power_cut(disk, POWER_KEEP, 0);
	power_disk_free(disk);
	*out = sc;
	return clone;
}

/* After a temporary fault: nothing acknowledged is lost, and nothing is incomplete. */
static void
expect_intact(power_disk *disk, script *sc, const char *what, uint64_t nth)
{
	script unknown = *sc;
	verdict v;

	power_set_fault(disk, (power_fault){0});
	v = verify_disk(power_name(disk), &unknown);
	if (v.bad)
		print_message("%s, number %llu: acknowledged %d, attempted %d, found %d: %s\n",
			      what, (unsigned long long)nth, sc->acknowledged, sc->attempted,
			      v.step, v.text);
	assert_false(v.bad);
}

static void
run_faults(const char *what, unsigned steps, int code, rt_status wanted, rt_status also)
{
	script before;
	power_disk *start = disk_with(25, &before);

	for (int for_ever = 0; for_ever <= 1; for_ever++) {
		for (uint64_t nth = 1;; nth += next_call(1 + nth / 12)) {
			power_disk *disk = power_cut(start, POWER_KEEP, 0);
			script sc = before;

			sc.steps = 45;
			power_set_fault(disk, (power_fault){steps, nth, for_ever != 0, code});
			script_run(power_name(disk), &sc);
			if (power_fault_count(disk) == 0) {
				assert_int_equal(sc.failed, RT_OK);
				power_disk_free(disk);
				assert_true(nth > 3);
				break;
			}
			if (sc.failed != RT_OK && sc.failed != wanted && sc.failed != also)
				print_message("%s, number %llu: %s: %s\n", what,
					      (unsigned long long)nth, rt_status_word(sc.failed),
					      sc.text);
			assert_true(sc.failed == RT_OK || sc.failed == wanted || sc.failed == also);
			expect_intact(disk, &sc, what, nth);
			/* And if power is lost as well. */
			power_disk_free(disk);
		}
	}
	power_disk_free(start);
}

static void
test_write_errors(void **state)
{
	(void)state;
	run_faults("write error", POWER_WRITE, SQLITE_IOERR_WRITE, RT_IO, RT_IO);
}

static void
test_disk_full(void **state)
{
	(void)state;
	run_faults("disk full", POWER_WRITE | POWER_CREATE, SQLITE_FULL, RT_FULL, RT_IO);
}

static void
test_sync_errors(void **state)
{
	(void)state;
	run_faults("sync error", POWER_SYNC, SQLITE_IOERR_FSYNC, RT_IO, RT_IO);
}

static void
test_read_errors(void **state)
{
	(void)state;
	run_faults("read error", POWER_READ, SQLITE_IOERR_READ, RT_IO, RT_IO);
}

static void
test_open_errors(void **state)
{
	(void)state;
	run_faults("open error", POWER_OPEN, SQLITE_CANTOPEN, RT_IO, RT_IO);
}

static void
test_truncate_errors(void **state)
{
	(void)state;
	run_faults("truncate or delete error", POWER_TRUNCATE | POWER_DELETE, SQLITE_IOERR_TRUNCATE,
		   RT_IO, RT_IO);
}

/* A failed sync has lost its data, although it can still be read. Everything acknowledged before
 * and after must survive a cut, also if the store is reopened at once. */
static void
test_sync_error_then_cut(void **state)
{
	script before;
	power_disk *start = disk_with(25, &before);

	(void)state;
	for (uint64_t nth = 1;; nth += next_call(1)) {
		power_disk *disk = power_cut(start, POWER_KEEP, 0), *after;
		script sc = before;
		uint64_t faults;
		verdict v;

		sc.steps = 45;
		power_set_fault(disk, (power_fault){POWER_SYNC, nth, false, SQLITE_IOERR_FSYNC});
		script_run(power_name(disk), &sc);
		faults = power_fault_count(disk);
		after = power_cut(disk, POWER_DROP, nth);
		v = verify_disk(power_name(after), &sc);
		if (v.bad)
			print_message("sync %llu: acknowledged %d, found %d: %s\n",
				      (unsigned long long)nth, sc.acknowledged, v.step, v.text);
		assert_false(v.bad);
		power_disk_free(after);
		/* Continue with the state after the failure, then cut the power. */
		if (sc.failed != RT_OK) {
			rt_store *s = NULL;
			rt_error err = {0};

			sc.failed = RT_OK;
			assert_int_equal(
				script_open(power_name(disk), false, "before", false, &s, &err),
				RT_OK);
			v = verify_store(s);
			assert_false(v.bad);
			assert_true(v.step >= sc.acknowledged);
			sc.acknowledged = v.step;
			/* The data of the failed sync can be read, but may not be on the medium.
			 * Everything that is acknowledged on top of it must survive anyway. */
			assert_int_equal(script_step(s, &sc, v.step + 1, &err), RT_OK);
			after = power_cut(disk, POWER_DROP, nth);
			v = verify_disk(power_name(after), &sc);
			if (v.bad)
				print_message(
					"sync %llu, one step later: acknowledged %d, found %d:"
					" %s\n",
					(unsigned long long)nth, sc.acknowledged, v.step, v.text);
			assert_false(v.bad);
			power_disk_free(after);
			s->ops->close(s);
			script_run(power_name(disk), &sc);
			assert_int_equal(sc.failed, RT_OK);
			after = power_cut(disk, POWER_DROP, nth);
			v = verify_disk(power_name(after), &sc);
			if (v.bad)
				print_message("sync %llu, opened again: acknowledged %d, found %d:"
					      " %s\n",
					      (unsigned long long)nth, sc.acknowledged, v.step,
					      v.text);
			assert_false(v.bad);
			power_disk_free(after);
		}
		power_disk_free(disk);
		if (faults == 0)
			break;
	}
	power_disk_free(start);
}

/* After a failed sync, the handle refuses to write, but still reads. */
static void
test_poisoned(void **state)
{
	script sc;
	power_disk *disk = disk_with(25, &sc);
	rt_store *s = NULL;
	rt_error err = {0};
	verdict v;

	(void)state;
	assert_int_equal(script_open(power_name(disk), false, "before", false, &s, &err), RT_OK);
	assert_int_equal(script_step(s, &sc, 26, &err), RT_OK);
	power_set_fault(disk, (power_fault){POWER_SYNC, 1, false, SQLITE_IOERR_FSYNC});
	assert_int_equal(script_step(s, &sc, 27, &err), RT_IO);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(script_step(s, &sc, 27, &err), RT_IO);
		assert_non_null(strstr(err.text, "reopen the store"));
	}
	assert_int_equal(s->ops->write(s, rt_rows_named(RT_STORE_SIDE, SCRIPT_PROJECT, RT_STR("x")),
				       RT_STR("y"), &err),
			 RT_IO);
	assert_int_equal(s->ops->scrub(s, &err), RT_IO);
	v = verify_store(s);
	assert_false(v.bad);
	assert_int_equal(v.step, 26);
	s->ops->close(s);
	assert_int_equal(script_open(power_name(disk), false, "before", false, &s, &err), RT_OK);
	v = verify_store(s);
	assert_false(v.bad);
	assert_true(v.step == 26 || v.step == 27);
	assert_int_equal(script_step(s, &sc, v.step + 1, &err), RT_OK);
	s->ops->close(s);
	power_disk_free(disk);
}

/* A full disk loses nothing, and the following steps are correct. */
static void
test_full_then_room(void **state)
{
	script sc;
	power_disk *disk = disk_with(25, &sc);
	rt_store *s = NULL;
	rt_error err = {0};
	verdict v;

	(void)state;
	assert_int_equal(script_open(power_name(disk), false, "before", false, &s, &err), RT_OK);
	for (int n = 26; n <= 60; n++) {
		power_set_fault(disk,
				(power_fault){POWER_WRITE, 1 + (uint64_t)n % 3, true, SQLITE_FULL});
		for (int i = 0; i < 2; i++) {
			rt_status st = script_step(s, &sc, n, &err);

			if (st == RT_OK)
				goto next;
			assert_int_equal(st, RT_FULL);
			assert_non_null(strstr(err.text, SCRIPT_PATH));
			v = verify_store(s);
			assert_false(v.bad);
			assert_int_equal(v.step, n - 1);
		}
		power_set_fault(disk, (power_fault){0});
		assert_int_equal(script_step(s, &sc, n, &err), RT_OK);
next:
		power_set_fault(disk, (power_fault){0});
	}
	s->ops->close(s);
	expect_intact(disk, &sc, "full, then room", 0);
	power_disk_free(disk);
}

/* --- out of memory --- */

static uint64_t memory_calls, memory_fail_at, memory_failed;
static bool memory_fails_on;
static int64_t memory_blocks; /* allocated and not freed */

static bool
memory_says_no(void)
{
	memory_calls++;
	if (memory_fail_at == 0 || memory_calls < memory_fail_at ||
	    (memory_calls > memory_fail_at && !memory_fails_on))
		return false;
	memory_failed++;
	return true;
}

static void *
mem_malloc(int size)
{
	int64_t *block = memory_says_no() ? NULL : malloc((size_t)size + 16);

	if (block == NULL)
		return NULL;
	block[0] = size;
	memory_blocks++;
	return block + 2;
}

static void
mem_free(void *ptr)
{
	if (ptr == NULL)
		return;
	memory_blocks--;
	free((int64_t *)ptr - 2);
}

static void *
mem_realloc(void *ptr, int size)
{
	int64_t *block = memory_says_no() ? NULL : realloc((int64_t *)ptr - 2, (size_t)size + 16);

	if (block == NULL)
		return NULL;
	block[0] = size;
	return block + 2;
}

static int
mem_size(void *ptr)
{
	return ptr == NULL ? 0 : (int)((int64_t *)ptr - 2)[0];
}

static int
mem_roundup(int size)
{
	return (size + 7) & ~7;
}

static int
mem_init(void *ctx)
{
	(void)ctx;
	return SQLITE_OK;
}

static void
mem_shutdown(void *ctx)
{
	(void)ctx;
}

static const sqlite3_mem_methods memory_methods = {
	mem_malloc, mem_free, mem_realloc, mem_size, mem_roundup, mem_init, mem_shutdown, NULL,
};

static void *
our_resize(void *ctx, void *ptr, size_t size)
{
	void *grown = memory_says_no() ? NULL : realloc(ptr, size);

	(void)ctx;
	if (grown != NULL && ptr == NULL)
		memory_blocks++;
	return grown;
}

static void
our_release(void *ctx, void *ptr)
{
	(void)ctx;
	if (ptr != NULL)
		memory_blocks--;
	free(ptr);
}

static const rt_alloc failing_alloc = {our_resize, our_release, NULL};

/* Open, write, read, search, check, close. Returns the first failure. */
static rt_status
use_store(const char *vfs, script *sc, rt_error *err)
{
	rt_store_sqlite_options options = {
		.create = false, .vfs = vfs, .boot = "before", .checkpoint_pages = 3};
	rt_store *s = NULL;
	verdict v = {false, "", 0};
	scan hit = {&v, 1, false};
	uint64_t epoch = 0;
	rt_buf buf;
	rt_status st = rt_store_sqlite_open(&failing_alloc, &script_env, SCRIPT_PATH, &options, &s,
					    err);

	if (st != RT_OK)
		return st;
	rt_buf_init(&buf, rt_alloc_libc(), 1 << 20);
	for (int n = sc->acknowledged + 1; n <= sc->steps && st == RT_OK; n++)
		st = script_step(s, sc, n, err);
	if (st == RT_OK)
		st = s->ops->write(s, rt_rows_named(RT_STORE_SIDE, SCRIPT_PROJECT, RT_STR("alone")),
				   RT_STR("x"), err);
	if (st == RT_OK)
		st = rt_store_get(s, rt_rows_named(RT_STORE_SIDE, SCRIPT_PROJECT, RT_STR("alone")),
				  &buf, NULL, err);
	if (st == RT_OK)
		st = rt_store_get(s, rt_rows_one(RT_STORE_BODIES, SCRIPT_PROJECT, 1), &buf, NULL,
				  err);
	if (st == RT_OK)
		st = s->ops->index_find(s, SCRIPT_PROJECT, RT_STR("word1"), 0,
					scan_hit, &hit, err);
	if (st == RT_OK)
		st = s->ops->epoch(s, &epoch, err);
	if (st == RT_OK)
		st = s->ops->check(s, scan_finding, &v, err);
	if (st == RT_OK)
		st = s->ops->scrub(s, err);
	if (st == RT_OK)
		assert_false(v.bad);
	rt_buf_deinit(&buf);
	s->ops->close(s);
	return st;
}

static void
test_out_of_memory(void **state)
{
	script before;
	power_disk *start = disk_with(8, &before);
	uint64_t tried = 0;

	(void)state;
	for (int for_ever = 0; for_ever <= 1; for_ever++) {
		for (uint64_t nth = 1;; nth += next_call(1 + nth / 40), tried++) {
			power_disk *disk = power_cut(start, POWER_KEEP, 0);
			script sc = before;
			int64_t blocks = memory_blocks;
			rt_error err = {0};
			rt_status st;

			sc.steps = 11;
			memory_calls = memory_failed = 0;
			memory_fail_at = nth;
			memory_fails_on = for_ever != 0;
			st = use_store(power_name(disk), &sc, &err);
			memory_fail_at = 0;
			if (memory_failed == 0) {
				assert_int_equal(st, RT_OK);
				power_disk_free(disk);
				break;
			}
			/* SQLite handles some of it by itself. */
			if (st != RT_OK && st != RT_NOMEM)
				print_message("allocation %llu: %s: %s\n", (unsigned long long)nth,
					      rt_status_word(st), err.text);
			assert_true(st == RT_OK || st == RT_NOMEM);
			assert_int_equal(memory_blocks, blocks);
			expect_intact(disk, &sc, "allocation", nth);
			power_disk_free(disk);
		}
	}
	print_message("%llu failures of memory\n", (unsigned long long)tried);
	power_disk_free(start);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cuts_full),        cmocka_unit_test(test_cuts_relaxed),
		cmocka_unit_test(test_cuts_in_recovery), cmocka_unit_test(test_write_errors),
		cmocka_unit_test(test_disk_full),        cmocka_unit_test(test_sync_errors),
		cmocka_unit_test(test_read_errors),      cmocka_unit_test(test_open_errors),
		cmocka_unit_test(test_truncate_errors),  cmocka_unit_test(test_sync_error_then_cut),
		cmocka_unit_test(test_poisoned),         cmocka_unit_test(test_full_then_room),
		cmocka_unit_test(test_out_of_memory),
	};
	const char *seed = getenv("POWER_SEED"), *one_in = getenv("POWER_SAMPLE");

	full = getenv("POWER_FULL") != NULL;
	if (seed != NULL)
		first_seed = strtoull(seed, NULL, 10);
	if (one_in != NULL && !full)
		sample = strtoull(one_in, NULL, 10);
	sample = sample == 0 ? 1 : sample;
	print_message("# seed %llu, one place in %llu\n", (unsigned long long)first_seed,
		      (unsigned long long)sample);
	if (sqlite3_config(SQLITE_CONFIG_MALLOC, &memory_methods) != SQLITE_OK ||
	    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) != SQLITE_OK)
		return 1;
	return cmocka_run_group_tests_name("power", tests, NULL, NULL);
}
