/* SPDX-License-Identifier: MIT
 *
 * Power loss with the whole engine. A script of 200 operations of every kind runs on a simulated
 * disk (power_vfs.h); at every write, sync, truncation, creation and deletion the power is cut,
 * in each of seven ways. The engine must open the result, contain every acknowledged operation,
 * be in exactly the state after the script's last surviving operation (show, tree, and history),
 * pass fsck, and continue. Files are attached, sent and collected in between: no record is ever
 * without its contents.
 *
 * The default is a sample; POWER_FULL=1 tests every place and kind, with two seeds. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "power/power_vfs.c"

#include "base/hash.h"
#include "chat/last_request.h"
#include "log/blob.h"
#include "log/collect.h"
#include "log/engine.h"
#include "log/fsck.h"
#include "store/store_sqlite.h"
#include "view/view.h"

enum { OPS = 200 };

static int64_t fixed_clock;

static int64_t
now_us(void *ctx)
{
	(void)ctx;
	return fixed_clock += 1000000;
}

static void
random_bytes(void *ctx, void *to, size_t size)
{
	static uint64_t state = 3;
	unsigned char *bytes = to;
	size_t i;

	(void)ctx;
	for (i = 0; i < size; i++)
		bytes[i] = (unsigned char)(rt_hash_u64(state++) >> 40);
}

static const rt_env env = {now_us, random_bytes, NULL};

typedef struct desk {
	rt_store *store;
	rt_engine *engine;
} desk;

static rt_status
desk_open(desk *d, const char *vfs, bool create, rt_error *err)
{
	rt_store_sqlite_options options = {.create = create, .vfs = vfs};
	rt_engine_options engine_options = {.env = &env, .create = create, .checkpoint_every = 16};
	rt_status st;

	memset(d, 0, sizeof(*d));
	st = rt_store_sqlite_open(rt_alloc_libc(), &env, "/disk/store", &options, &d->store, err);
	if (st == RT_OK)
		st = rt_engine_open(&engine_options, d->store, &d->engine, err);
	return st;
}

static void
desk_close(desk *d)
{
	rt_engine_close(d->engine);
	if (d->store != NULL)
		d->store->ops->close(d->store);
}

/* Everything that users see, as one hash. */
static uint64_t
state_of(rt_engine *engine)
{
	const rt_project *project = rt_engine_value(engine);
	rt_place place = {0, 0};
	rt_error err;
	rt_buf out;
	uint64_t hash;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (rt_view_show(engine, project, place, NULL, &out, &err) != RT_OK ||
	    rt_view_tree(engine, project, 0, &out, &err) != RT_OK ||
	    rt_view_takes(engine, project, 0, true, &out, &err) != RT_OK ||
	    rt_view_settings(engine, project, 0, &out, &err) != RT_OK ||
	    rt_view_history(engine, project, 0, 0, 30, &out, &err) != RT_OK)
		fail_msg("looking: %s", err.text);
	hash = rt_hash(out.ptr, out.size, 0);
	rt_buf_deinit(&out);
	rt_object_unref(project);
	return hash;
}

/* Operation n of the script; some do nothing, intentionally. */
static void
operation(int n, char *to, size_t size)
{
	switch (n % 20) {
	case 3: snprintf(to, size, "{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"edit %d\"}", n); break;
	case 5: snprintf(to, size, "{\"op\":\"take.branch\",\"at\":\":2\"}"); break;
	case 7: snprintf(to, size, "{\"op\":\"entry.insert\",\"before\":\":1\",\"role\":\"AI\",\"content\":\"ins %d\"}", n); break;
	case 8: snprintf(to, size, "{\"op\":\"undo\",\"count\":2}"); break;
	case 9: snprintf(to, size, "{\"op\":\"redo\"}"); break;
	case 10: snprintf(to, size, "{\"op\":\"entry.delete\",\"entry\":\":2\"}"); break;
	case 11: snprintf(to, size, "{\"op\":\"label.set\",\"entry\":\":1\",\"label\":\"l%d\"}", n); break;
	case 12: snprintf(to, size, "{\"op\":\"take.switch\",\"take\":\"main\"}"); break;
	case 13: snprintf(to, size, "{\"op\":\"head.move\",\"entry\":\":1\"}"); break;
	case 14: snprintf(to, size, "{\"op\":\"prompt.update\",\"text\":\"p%d\"}", n); break;
	case 15: snprintf(to, size, "{\"op\":\"entry.view\",\"entry\":\":1\",\"collapsed\":%s}", n % 40 < 20 ? "true" : "false"); break;
	case 16: snprintf(to, size, "{\"op\":\"jump\",\"to\":%d}", n / 3 + 1); break;
	case 17: snprintf(to, size, n == 117 ? "{\"op\":\"purge\",\"entry\":\":1\"}" : "{\"op\":\"entry.mute\",\"entry\":\":1\"}"); break;
	case 18: snprintf(to, size, "{\"op\":\"setting.set\",\"key\":\"k\",\"value\":%d}", n); break;
	case 19: snprintf(to, size, "{\"op\":\"entry.split\",\"entry\":\":1\",\"at\":2}"); break;
	default: snprintf(to, size, "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"entry %d %*s\"}", n, n * 37 % 3000, "x"); break;
	}
}

/* Operations on files before operation n, which may be given a block for one. */
static void
handle_files(rt_engine *engine, int n, char *request, size_t size)
{
	char text[6000], sha256[RT_SHA256_HEX_ROOM], row[300];
	rt_attachment file = {.name = RT_STR("a.c")};
	rt_attachments files = {&file, 1};
	rt_collected out;
	rt_error err = {0};

	if (n == OPS / 2)
		fixed_clock += RT_BLOB_NEW_US;
	snprintf(text, sizeof(text), "file %d %*s", n, n * 41 % 5000, "x");
	file.bytes = rt_str_of(text);
	switch (n % 20) {
	case 2: /* its entry is never added */
	case 4:
		if (rt_blob_keep(engine, rt_str_of(text), sha256, &err) != RT_OK)
			break;
		if (n % 20 == 4)
			snprintf(request, size,
				 "{\"op\":\"entry.append\",\"content\":[{\"type\":\"file\",\"name\":\"a\","
				 "\"size\":%zu,\"sha256\":\"%s\"}]}",
				 strlen(text), sha256);
		break;
	case 6: {
		rt_sha256 sha;

		rt_sha256_init(&sha);
		rt_sha256_add(&sha, text, strlen(text));
		rt_sha256_end_hex(&sha, file.sha256);
		snprintf(row, sizeof(row), "{\"files\":[{\"name\":\"a.c\",\"size\":%zu,\"sha256\":\"%s\"}]}",
			 strlen(text), file.sha256);
		(void)!rt_engine_keep_last_request(engine, 1, rt_str_of(row), &files, RT_STR(""), &err);
		break;
	}
	case 13: (void)!rt_engine_collect(engine, NULL, NULL, &out, &err);
	}
	if (err.status != RT_OK)
		fail_msg("files before operation %d: %s", n, err.text);
}

typedef struct run {
	power_disk *disk;
	uint64_t states[4 * OPS]; /* by seq */
	uint64_t seqs;            /* the last one with a state */
	uint64_t acknowledged;    /* seq of the last result */
	uint64_t place, stride, cuts;
	int seeds;
	bool checking;            /* the states are known: cut */
} run;

static bool
finding(void *ctx, const rt_finding *f)
{
	if (strcmp(f->severity, "error") == 0 || strcmp(f->id, "file-missing") == 0)
		fail_msg("fsck: %s: %s", f->id, f->text);
	(void)ctx;
	return true;
}

static void
verify(run *r, power_disk *after, power_kind kind, uint64_t seed)
{
	int64_t clock = fixed_clock;
	const rt_project *project;
	rt_result result;
	rt_error err;
	uint64_t seq;
	rt_status st;
	desk d;

	st = desk_open(&d, power_name(after), false, &err);
	if (st != RT_OK) {
		/* before the store was created nothing can be lost */
		if (r->acknowledged > 0)
			fail_msg("place %llu kind %d seed %llu: cannot open: %s",
				 (unsigned long long)r->place, (int)kind, (unsigned long long)seed,
				 err.text);
		desk_close(&d);
		fixed_clock = clock;
		return;
	}
	project = rt_engine_value(d.engine);
	seq = project->seq;
	rt_object_unref(project);
	if (seq < r->acknowledged)
		fail_msg("place %llu kind %d seed %llu: %llu was acknowledged, %llu is there",
			 (unsigned long long)r->place, (int)kind, (unsigned long long)seed,
			 (unsigned long long)r->acknowledged, (unsigned long long)seq);
	assert_true(seq <= r->seqs);
	if (state_of(d.engine) != r->states[seq])
		fail_msg("place %llu kind %d seed %llu: not the state after row %llu",
			 (unsigned long long)r->place, (int)kind, (unsigned long long)seed,
			 (unsigned long long)seq);
	assert_int_equal(rt_engine_fsck_files(d.engine, finding, NULL, &err), RT_OK);
	if (r->cuts % 16 == 0)
		assert_int_equal(rt_engine_fsck(d.engine, finding, NULL, &err), RT_OK);
	rt_engine_apply_text(d.engine, RT_STR("{\"op\":\"entry.append\",\"content\":\"on\"}"),
			     rt_str_at(NULL, 0), rt_str_at(NULL, 0), &result);
	if (result.status != RT_OK)
		fail_msg("after the cut: %s", result.error.text);
	rt_result_deinit(&result);
	desk_close(&d);
	fixed_clock = clock;
}

static void
cut_here(void *ctx, power_step step, const char *name)
{
	run *r = ctx;
	int kind, i;

	(void)step;
	(void)name;
	r->place++;
	for (kind = 0; kind < POWER_KINDS; kind++) {
		if ((r->place + (uint64_t)kind * 3) % r->stride != 0)
			continue;
		for (i = 0; i < r->seeds; i++) {
			uint64_t seed = r->place * 131 + (uint64_t)i;
			power_disk *after = power_cut(r->disk, (power_kind)kind, seed);

			verify(r, after, (power_kind)kind, seed);
			power_disk_free(after);
			r->cuts++;
		}
	}
}

static void
play(run *r)
{
	char request[4096];
	rt_error err;
	desk d;
	int n;

	fixed_clock = 1700000000000000;
	r->acknowledged = 0;
	if (desk_open(&d, power_name(r->disk), true, &err) != RT_OK)
		fail_msg("open: %s", err.text);
	if (!r->checking)
		r->states[0] = state_of(d.engine);
	for (n = 0; n < OPS; n++) {
		rt_result result;

		operation(n, request, sizeof(request));
		handle_files(d.engine, n, request, sizeof(request));
		rt_engine_apply_text(d.engine, rt_str_of(request), rt_str_at(NULL, 0),
				     rt_str_at(NULL, 0), &result);
		if (result.status == RT_OK) {
			r->acknowledged = result.seq;
			if (!r->checking) {
				r->seqs = result.seq;
				r->states[result.seq] = state_of(d.engine);
			}
		} else if (result.status != RT_REFUSED && result.status != RT_NOT_FOUND &&
			   result.status != RT_USAGE) {
			fail_msg("operation %d: %s", n, result.error.text);
		}
		rt_result_deinit(&result);
	}
	desk_close(&d);
}

static void
every_acknowledged_operation_survives(void **state)
{
	static run r;
	power_disk *rehearsal = power_disk_new();
	bool full = getenv("POWER_FULL") != NULL;

	(void)state;
	r.disk = rehearsal;
	play(&r);
	assert_true(r.seqs > 100);
	power_disk_free(rehearsal);
	r.checking = true;
	r.disk = power_disk_new();
	r.stride = full ? 1 : 61;
	r.seeds = full ? 2 : 1;
	power_watch(r.disk, cut_here, &r);
	play(&r);
	power_watch(r.disk, NULL, NULL);
	print_message("# %llu rows, %llu places, %llu cuts\n", (unsigned long long)r.seqs,
		      (unsigned long long)r.place, (unsigned long long)r.cuts);
	power_disk_free(r.disk);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_acknowledged_operation_survives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
