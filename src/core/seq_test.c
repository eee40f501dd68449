/* SPDX-License-Identifier: MIT
 *
 * Seq: how it is used, and random operations against a plain array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/seq.h"

static uint64_t seed = 20261121;

static uint64_t
rnd(uint64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % below;
}

static rt_status
seq_from(const rt_alloc *alloc, const rt_seq_source *source, const rt_slot *slots, size_t count,
	 const rt_seq **out_seq)
{
	const rt_seq *empty;
	rt_status st = rt_seq_new(alloc, source, &empty);

	if (st != RT_OK)
		return st;
	st = rt_seq_splice(empty, 0, 0, slots, count, out_seq, NULL);
	rt_seq_unref(empty);
	return st;
}

/* A store of nodes in an array. */
typedef struct shelf {
	rt_str *rows;
	size_t count, loads, picks;
	uint64_t gone; /* for shelf_pick */
} shelf;

static rt_status
shelf_write(void *ctx, rt_str bytes, uint64_t *out_number, rt_error *err)
{
	shelf *s = ctx;
	char *copy = malloc(bytes.size);

	(void)err;
	memcpy(copy, bytes.ptr, bytes.size);
	s->rows = realloc(s->rows, (s->count + 1) * sizeof(*s->rows));
	s->rows[s->count] = rt_str_at(copy, bytes.size);
	*out_number = ++s->count;
	return RT_OK;
}

static rt_status
shelf_read(void *ctx, uint64_t number, rt_buf *out, rt_error *err)
{
	shelf *s = ctx;

	(void)err;
	s->loads++;
	assert_true(number >= 1 && number <= s->count);
	rt_buf_add_str(out, s->rows[number - 1]);
	return RT_OK;
}

static void
shelf_free(shelf *s)
{
	while (s->count > 0)
		free((void *)(uintptr_t)s->rows[--s->count].ptr);
	free(s->rows);
}

static void
compare(const rt_seq *seq, const rt_slot *model, size_t count)
{
	rt_slot *got = malloc((count + 1) * sizeof(*got));
	rt_error err;
	size_t i;

	assert_int_equal(rt_seq_count(seq), count);
	if (rt_seq_check(seq, &err) != RT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(rt_seq_copy(seq, 0, count, got, NULL), RT_OK);
	for (i = 0; i < count; i++)
		assert_memory_equal(&got[i], &model[i], sizeof(*got));
	free(got);
}

enum { MODEL_MAX = 700 };

/* Random splices; every so often written to the shelf and opened again from there. */
static void
model_run(unsigned rounds, bool restarts)
{
	static rt_slot model[2 * MODEL_MAX];
	shelf s = {0};
	rt_seq_source source = {.read = shelf_read, .ctx = &s};
	rt_seq_writer writer = {shelf_write, &s};
	size_t count = 0;
	const rt_seq *seq = NULL, *next = NULL;
	unsigned round;
	uint32_t entry = 1;

	assert_int_equal(rt_seq_new(rt_alloc_libc(), &source, &seq), RT_OK);
	for (round = 0; round < rounds; round++) {
		size_t at = rnd(count + 1), i;
		size_t remove = rnd(4) == 0 ? rnd(count - at + 1) : rnd(count - at < 2 ? count - at + 1 : 2);
		size_t add = rnd(8) == 0 ? rnd(90) : rnd(2);
		rt_slot fresh[90];
		size_t tail;
		const rt_seq *before = rt_seq_ref(seq);
		size_t before_count = count;

		if (count - remove + add > MODEL_MAX)
			add = 0;
		for (i = 0; i < add; i++)
			fresh[i] = (rt_slot){.body = rnd(1u << 20),
					     .ts_us = (int64_t)rnd(1u << 30) - 1000,
					     .entry = entry++,
					     .size = (uint32_t)rnd(5000),
					     .role = (uint16_t)rnd(4),
					     .flags = rnd(3) == 0 ? RT_SLOT_TURN : 0};
		tail = count - at - remove;
		memmove(model + at + add, model + at + remove, tail * sizeof(*model));
		memcpy(model + at, fresh, add * sizeof(*model));
		count = count - remove + add;
		/* keys: redistributed between the neighbours */
		for (i = at; i < at + add; i++) {
			uint64_t low = i == 0 ? 0 : model[i - 1].key;
			uint64_t high = at + add < count ? model[at + add].key
							 : low + ((uint64_t)1 << 40);

			model[i].key = low + (high - low) / (at + add - i + 1);
			if (model[i].key <= low || model[i].key >= high)
				goto give_up; /* the gap is used up; start over */
			fresh[i - at].key = model[i].key;
		}
		assert_int_equal(rt_seq_splice(seq, at, remove, fresh, add, &next, NULL), RT_OK);
		assert_int_equal(rt_seq_count(before), before_count); /* the old one is unchanged */
		rt_seq_unref(before);
		rt_seq_unref(seq);
		seq = next;
		if (round % 16 == 0 || count < 5)
			compare(seq, model, count);
		if (count > 0) {
			size_t pick = rnd(count), found_at;
			rt_slot slot;
			bool found;

			assert_int_equal(
				rt_seq_find(seq, model[pick].key, &found_at, &found, &slot, NULL),
				RT_OK);
			assert_true(found && found_at == pick && slot.entry == model[pick].entry);
			assert_int_equal(rt_seq_find(seq, model[pick].key + 1, &found_at, &found,
						     &slot, NULL),
					 RT_OK);
			assert_int_equal(found_at, pick + 1);
		}
		if (rt_seq_total(seq).turns > 0) {
			uint64_t turn = rnd(rt_seq_total(seq).turns), left = turn;
			size_t where, k;

			assert_int_equal(rt_seq_find_turn(seq, turn, &where, NULL), RT_OK);
			for (k = 0;; k++)
				if ((model[k].flags & RT_SLOT_TURN) != 0 && left-- == 0)
					break;
			assert_int_equal(where, k);
		}
		if (restarts && rnd(10) == 0) {
			rt_seq_pending *pending = rt_seq_pending_new(rt_alloc_libc());
			rt_seq_root root;

			assert_int_equal(rt_seq_store(seq, &writer, pending, &root, NULL), RT_OK);
			if (rnd(4) == 0) { /* the transaction failed */
				rt_seq_pending_cancel(pending);
				continue;
			}
			rt_seq_pending_commit(pending);
			rt_seq_unref(seq);
			assert_int_equal(rt_seq_open(rt_alloc_libc(), &source, &root, &seq), RT_OK);
		}
		continue;
give_up:
		for (i = 0; i < count; i++)
			model[i].key = (i + 1) << 40;
		rt_seq_unref(before);
		rt_seq_unref(seq);
		assert_int_equal(seq_from(rt_alloc_libc(), &source, model, count, &seq), RT_OK);
	}
	compare(seq, model, count);
	rt_seq_unref(seq);
	shelf_free(&s);
}

static void
against_a_plain_array(void **state)
{
	(void)state;
	model_run(6000, false);
}

static void
against_a_plain_array_with_restarts(void **state)
{
	(void)state;
	model_run(6000, true);
}

static void
fill(rt_slot *slots, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		slots[i] = (rt_slot){.key = (i + 1) * 1000, .entry = (uint32_t)i + 1, .size = 10};
}

static void
a_checkpoint_writes_only_what_changed(void **state)
{
	enum { N = 5000 };
	rt_slot *slots = malloc(N * sizeof(*slots)), extra = {.key = 7, .entry = 99999};
	shelf s = {0};
	rt_seq_source source = {.read = shelf_read, .ctx = &s};
	rt_seq_writer writer = {shelf_write, &s};
	const rt_seq *seq, *next, *again;
	rt_seq_root root;
	rt_seq_pending *pending;
	rt_slot got;
	size_t written;

	(void)state;
	fill(slots, N);
	assert_int_equal(seq_from(rt_alloc_libc(), &source, slots, N, &seq), RT_OK);
	pending = rt_seq_pending_new(rt_alloc_libc());
	assert_int_equal(rt_seq_store(seq, &writer, pending, &root, NULL), RT_OK);
	rt_seq_pending_commit(pending);
	written = s.count;
	assert_int_equal(rt_seq_open(rt_alloc_libc(), &source, &root, &again), RT_OK);
	assert_int_equal(s.loads, 0);
	assert_int_equal(rt_seq_get(again, N / 2, &got, NULL), RT_OK);
	assert_int_equal(got.entry, N / 2 + 1);
	assert_true(s.loads < 40);
	assert_int_equal(rt_seq_splice(again, 0, 0, &extra, 1, &next, NULL), RT_OK);
	pending = rt_seq_pending_new(rt_alloc_libc());
	assert_int_equal(rt_seq_store(next, &writer, pending, &root, NULL), RT_OK);
	rt_seq_pending_commit(pending);
	assert_true(s.count - written < 40);
	rt_seq_unref(seq);
	rt_seq_unref(again);
	rt_seq_unref(next);
	shelf_free(&s);
	free(slots);
}

static rt_status
shelf_pick(void *ctx, const uint64_t *numbers, size_t count, rt_seq_node_fn fn, void *to,
	   rt_error *err)
{
	shelf *s = ctx;
	size_t i;

	(void)err;
	s->picks++;
	for (i = 0; i < count; i++) {
		assert_true(i == 0 || numbers[i] > numbers[i - 1]);
		if (numbers[i] != s->gone)
			fn(to, numbers[i], s->rows[numbers[i] - 1]);
	}
	return RT_OK;
}

static void
many_short_ones_come_in_at_once(void **state)
{
	enum { N = 30 };
	shelf s = {0};
	rt_seq_source source = {.read = shelf_read, .ctx = &s, .pick = shelf_pick};
	rt_seq_writer writer = {shelf_write, &s};
	const rt_seq *seqs[N + 1], *seq;
	rt_seq_root root;
	rt_slot slot, got;
	size_t i;

	(void)state;
	for (i = 0; i < N; i++) {
		rt_seq_pending *pending = rt_seq_pending_new(rt_alloc_libc());

		slot = (rt_slot){.key = i + 1, .entry = (uint32_t)i + 1};
		assert_int_equal(seq_from(rt_alloc_libc(), &source, &slot, 1, &seq), RT_OK);
		assert_int_equal(rt_seq_store(seq, &writer, pending, &root, NULL), RT_OK);
		rt_seq_pending_commit(pending);
		rt_seq_unref(seq);
		/* in reverse order; one of them twice */
		assert_int_equal(rt_seq_open(rt_alloc_libc(), &source, &root, &seqs[N - 1 - i]), RT_OK);
	}
	assert_int_equal(rt_seq_open(rt_alloc_libc(), &source, &root, &seqs[N]), RT_OK);
	s.gone = 5;
	assert_int_equal(rt_seq_load(seqs, N + 1, NULL), RT_OK);
	assert_int_equal(s.picks, 1);
	for (i = 0; i <= N; i++) {
		assert_int_equal(rt_seq_get(seqs[i], 0, &got, NULL), RT_OK);
		assert_int_equal(got.entry, i == N ? N : N - i);
	}
	assert_int_equal(s.loads, 1); /* the one that did not exist */
	assert_int_equal(rt_seq_load(seqs, N + 1, NULL), RT_OK);
	assert_int_equal(s.picks, 1);
	for (i = 0; i <= N; i++)
		rt_seq_unref(seqs[i]);
	shelf_free(&s);
}

static void
common_beginnings_are_found(void **state)
{
	enum { N = 3000 };
	rt_slot *slots = malloc(N * sizeof(*slots)), other = {.key = 5, .entry = 777777};
	const rt_seq *a, *b, *c;
	size_t common;

	(void)state;
	fill(slots, N);
	assert_int_equal(seq_from(rt_alloc_libc(), NULL, slots, N, &a), RT_OK);
	assert_int_equal(rt_seq_splice(a, 2000, 1000, NULL, 0, &b, NULL), RT_OK);
	assert_int_equal(rt_seq_common(a, b, &common, NULL), RT_OK);
	assert_int_equal(common, 2000);
	other.key = slots[1234].key;
	assert_int_equal(rt_seq_splice(b, 1234, 1, &other, 1, &c, NULL), RT_OK);
	assert_int_equal(rt_seq_common(a, c, &common, NULL), RT_OK);
	assert_int_equal(common, 1234);
	assert_int_equal(rt_seq_common(c, c, &common, NULL), RT_OK);
	assert_int_equal(common, 2000);
	rt_seq_unref(c);
	rt_seq_unref(a);
	rt_seq_unref(b);
	free(slots);
}

/* An allocator that fails the nth time. */
typedef struct failing {
	long left;
	long live;
} failing;

static void *
failing_resize(void *ctx, void *ptr, size_t size)
{
	failing *f = ctx;

	if (f->left-- == 0)
		return NULL;
	f->live += ptr == NULL;
	return realloc(ptr, size);
}

static void
failing_release(void *ctx, void *ptr)
{
	failing *f = ctx;

	f->live--;
	free(ptr);
}

static void
out_of_memory_changes_nothing(void **state)
{
	failing f = {-1, 0};
	rt_alloc alloc = {failing_resize, failing_release, &f};
	enum { N = 300 };
	rt_slot slots[N], run[40];
	const rt_seq *seq, *next;
	long point;
	int what;

	(void)state;
	fill(slots, N);
	fill(run, 40);
	for (what = 0; what < 40; what++)
		run[what].key = 100001 + (uint64_t)what;
	assert_int_equal(seq_from(&alloc, NULL, slots, N, &seq), RT_OK);
	for (what = 0; what < 4; what++) {
		for (point = 0;; point++) {
			rt_status st;
			long live = f.live;

			f.left = point;
			switch (what) {
			case 0: st = rt_seq_splice(seq, 100, 0, run, 1, &next, NULL); break;
			case 1: st = rt_seq_splice(seq, 100, 1, NULL, 0, &next, NULL); break;
			case 2: st = rt_seq_splice(seq, 100, 50, run, 40, &next, NULL); break;
			default: st = seq_from(&alloc, NULL, slots, N, &next); break;
			}
			f.left = -1;
			if (st == RT_OK) {
				rt_seq_unref(next);
				assert_int_equal(f.live, live);
				break;
			}
			assert_int_equal(st, RT_NOMEM);
			assert_int_equal(f.live, live);
			compare(seq, slots, N);
		}
		assert_true(point > 0);
	}
	rt_seq_unref(seq);
	assert_int_equal(f.live, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_a_plain_array),
		cmocka_unit_test(against_a_plain_array_with_restarts),
		cmocka_unit_test(a_checkpoint_writes_only_what_changed),
		cmocka_unit_test(many_short_ones_come_in_at_once),
		cmocka_unit_test(common_beginnings_are_found),
		cmocka_unit_test(out_of_memory_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
