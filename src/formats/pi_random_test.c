/* SPDX-License-Identifier: MIT
 *
 * Random session files with all irregularities, changed in the ways that Retake may change them,
 * written, and read again: parents, labels, head and takes must equal those of the outline. Every
 * entry has a mark in its content, by which it is recognised: "<17>". */
#include "formats/pi_testing.h"

static uint64_t seed;

static size_t
rnd(size_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(seed >> 33) % below;
}

/* A session file with all the irregularities, and few ids, so that they coincide. */
static void
random_file(rt_buf *file)
{
	static const char *const types[] = {"message", "label",      "custom",      "session_info",
					    "usage",   "compaction", "context_edit"};
	size_t count = rnd(30), i;

	rt_buf_add_c(file, HEADER);
	for (i = 0; i < count; i++) {
		if (rnd(6) == 0)
			rt_buf_add_c(file, rnd(2) == 0 ? "torn\n" : "\r\n");
		rt_buf_add_f(file, "{\"type\":\"%s\",\"id\":\"%zu\",\"parentId\":", types[rnd(7)],
			     rnd(10) == 0 ? rnd(30) : i);
		if (rnd(8) == 0)
			rt_buf_add_c(file, "null");
		else
			rt_buf_add_f(file, "\"%zu\"", rnd(4) == 0 ? rnd(40) : i == 0 ? 0 : i - 1);
		rt_buf_add_f(
			file,
			",\"targetId\":\"%zu\",\"label\":\"%s\",\"name\":\"n%zu\",\"message\":{"
			"\"role\":\"%s\",\"content\":\"<%zu>\"}}\n",
			rnd(30), rnd(3) == 0 ? "" : "x", rnd(3), rnd(2) == 0 ? "user" : "assistant",
			i);
	}
	if (rnd(4) == 0)
		file->size--;
}

enum { NODES_MAX = 64, NAME_SIZE = 32 };

typedef char name[NAME_SIZE];

/* Some of the changes that Retake may make. New nodes go after the old ones. */
static void
random_edits(rt_outline *x, rt_node *nodes, name *ids, name *texts)
{
	size_t old = x->node_count, edits = rnd(8), i;

	memcpy(nodes, x->nodes, old * sizeof(*nodes));
	x->nodes = nodes;
	for (i = 0; i < old; i++)
		if (nodes[i].id.size == 0) { /* in the way of the engine */
			snprintf(ids[i], NAME_SIZE, "made-%zu", i);
			nodes[i].id = rt_str_of(ids[i]);
		}
	for (i = 0; i < edits; i++) {
		size_t n = x->node_count, at = n == 0 ? 0 : rnd(n);

		if (rnd(2) == 0 || n == 0) {
			snprintf(ids[n], NAME_SIZE, "new-%zu", n);
			snprintf(texts[n], NAME_SIZE, "<%zu>", n);
			nodes[n] = text_node(ids[n], n == 0 ? -1 : (int64_t)at,
					     rnd(2) == 0 ? "User" : "Tool", texts[n]);
			x->node_count++;
		} else if (rnd(2) == 0) {
			nodes[at].label = rnd(2) == 0 ? RT_STR("y") : rt_str_at(NULL, 0);
		} else {
			nodes[at].parent = (int64_t)rnd(n + 1) - 1;
		}
	}
	x->has_head = true;
	x->head = (int64_t)rnd(x->node_count + 1) - 1;
	assert_int_equal(rt_outline_repair(rt_alloc_libc(), x, NULL, NULL), RT_OK);
}

/* The node of y that has the mark of number; -1: none. */
static int64_t
place_of(const rt_outline *y, size_t number)
{
	name mark;
	size_t i;

	snprintf(mark, sizeof(mark), "<%zu>", number);
	for (i = 0; i < y->node_count; i++)
		if (rt_str_find(y->nodes[i].body, rt_str_of(mark), 0) != SIZE_MAX)
			return (int64_t)i;
	return -1;
}

/* The written file equals the outline: parents, labels, and the head. */
static void
assert_says(const rt_outline *x, const rt_outline *y)
{
	int64_t place[NODES_MAX], at = y->head, head = x->head; /* walks up from at */
	size_t i;

	for (i = 0; i < x->node_count; i++) {
		place[i] = place_of(y, i);
		if (place[i] < 0)
			fail_msg("seed %u: node %zu is not there", (unsigned)seed, i);
	}
	for (i = 0; i < x->node_count; i++) {
		int64_t parent = x->nodes[i].parent;

		assert_int_equal(y->nodes[place[i]].parent, parent < 0 ? -1 : place[parent]);
		assert_true(rt_str_eq(x->nodes[i].label, y->nodes[place[i]].label));
	}
	/* the records that we added are below the head; but they do not follow a last line whose id
	 * means another entry */
	while (at >= 0 && rt_str_find(y->nodes[at].body, RT_STR("<"), 0) == SIZE_MAX)
		at = y->nodes[at].parent;
	if (head < 0)
		assert_int_equal(at, -1);
	else if (place[head] + 1 < (int64_t)x->node_count)
		assert_int_equal(at, place[head]);
}

/* A take out of the path to a random node, with some entries left out. */
static size_t
random_take(const rt_outline *x, int64_t *take)
{
	int64_t at = (int64_t)rnd(x->node_count);
	size_t count = 0, i;

	for (; at >= 0; at = x->nodes[at].parent)
		if (rnd(6) != 0)
			take[count++] = at;
	for (i = 0; i < count / 2; i++) {
		int64_t swap = take[i];

		take[i] = take[count - 1 - i];
		take[count - 1 - i] = swap;
	}
	return count;
}

/* The take is a path from a root of y; gives its last node. */
static int64_t
assert_path(const rt_outline *y, const rt_outline_take *take)
{
	int64_t at = -1;
	size_t i, j;
	name mark;

	for (i = 0; i < take->node_count; i++) {
		snprintf(mark, sizeof(mark), "<%u>", (unsigned)take->nodes[i]);
		for (j = 0; j < y->node_count; j++)
			if (y->nodes[j].parent == at &&
			    rt_str_find(y->nodes[j].body, rt_str_of(mark), 0) != SIZE_MAX)
				break;
		if (j == y->node_count)
			fail_msg("seed %u: a take is not there", (unsigned)seed);
		at = (int64_t)j;
	}
	return at;
}

static void
test_random_takes(void **state)
{
	enum { TAKES = 4 };
	const rt_export_options active = {.whole = false};
	rt_node nodes[NODES_MAX];
	name ids[NODES_MAX], texts[NODES_MAX];
	int64_t lists[TAKES][NODES_MAX];
	rt_outline_take takes[TAKES];
	rt_outlines o, again;
	rt_outline *x;
	rt_buf file, out;
	unsigned run, t;

	(void)state;
	for (run = 1; run <= 1000; run++) {
		seed = run;
		rt_buf_init(&file, rt_alloc_libc(), RT_BUF_UNLIMITED);
		random_file(&file);
		outlines_of(rt_buf_str(&file), &o);
		x = &o.items[0];
		random_edits(x, nodes, ids, texts);
		memset(takes, 0, sizeof(takes));
		for (t = 0; t < TAKES; t++) {
			takes[t].nodes = lists[t];
			takes[t].node_count = x->node_count == 0 ? 0 : random_take(x, lists[t]);
		}
		x->takes = takes;
		x->take_count = TAKES;
		x->active_take = run % TAKES;
		x->has_head = false; /* at the tip */
		write_to(&o, NULL, &out);
		assert_same(rt_buf_str(&out));
		outlines_of(rt_buf_str(&out), &again);
		for (t = 0; t < TAKES; t++)
			assert_path(&again.items[0], &takes[t]);
		rt_outlines_deinit(&again);
		rt_buf_deinit(&out);

		write_to(&o, &active, &out);
		assert_same(rt_buf_str(&out));
		outlines_of(rt_buf_str(&out), &again);
		assert_path(&again.items[0], &takes[x->active_take]);
		rt_outlines_deinit(&again);
		rt_outlines_deinit(&o);
		rt_buf_deinit(&out);
		rt_buf_deinit(&file);
	}
}

static void
test_random(void **state)
{
	rt_node nodes[NODES_MAX];
	name ids[NODES_MAX], texts[NODES_MAX];
	rt_outlines o, again;
	rt_buf file, out;
	unsigned run;

	(void)state;
	for (run = 1; run <= 2000; run++) {
		seed = run;
		if (run % 1000 == 1)
			print_message("seeds from %u\n", run);
		rt_buf_init(&file, rt_alloc_libc(), RT_BUF_UNLIMITED);
		random_file(&file);
		assert_same(rt_buf_str(&file));
		outlines_of(rt_buf_str(&file), &o);
		random_edits(&o.items[0], nodes, ids, texts);
		write_to(&o, NULL, &out);
		assert_same(rt_buf_str(&out));
		outlines_of(rt_buf_str(&out), &again);
		assert_says(&o.items[0], &again.items[0]);
		rt_outlines_deinit(&again);
		rt_outlines_deinit(&o);
		rt_buf_deinit(&out);
		rt_buf_deinit(&file);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_random_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
