/* SPDX-License-Identifier: MIT
 *
 * Names that a reader looks up while a checkpoint rewrites their chunk, or while the writer adds
 * names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "core/strs.h"

enum { NODES = 8, MORE = 200 };

/* A store of nodes in memory; the callback meanwhile is called once, during a read. */
typedef struct nodes {
	rt_seq_source source;
	rt_seq_writer writer;
	rt_buf items[NODES]; /* number 1 is the first; empty: dropped */
	size_t count;
	rt_strs *strs;
	bool checkpoint;     /* before the bytes are read */
	bool drops;          /* and the node is dropped then */
	bool breaks;         /* the node is damaged */
	bool adds;           /* before the bytes are read, the writer adds names */
} nodes;

static rt_status
write_node(void *ctx, rt_str bytes, uint64_t *out_number, rt_error *err)
{
	nodes *n = ctx;

	(void)err;
	assert_true(n->count < NODES);
	rt_buf_init(&n->items[n->count], rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_str(&n->items[n->count], bytes);
	*out_number = ++n->count;
	return RT_OK;
}

static void
intern(rt_strs *strs, const char *text)
{
	uint32_t number;

	assert_int_equal(rt_strs_intern(strs, rt_str_of(text), &number, NULL), RT_OK);
}

/* The writer adds a name, and writes a checkpoint with it. */
static void
checkpoint(nodes *n)
{
	rt_buf root;

	intern(n->strs, "new");
	rt_buf_init(&root, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_strs_store(n->strs, &n->writer, &root, NULL), RT_OK);
	rt_strs_stored(n->strs, true);
	rt_buf_deinit(&root);
}

/* The writer adds an existing name, and enough new ones that the index has to grow. */
static void
add_more(nodes *n)
{
	uint32_t number;
	char name[16];
	int i;

	assert_int_equal(rt_strs_intern(n->strs, RT_STR("AI"), &number, NULL), RT_OK);
	assert_int_equal(number, 2);
	for (i = 0; i < MORE; i++) {
		(void)snprintf(name, sizeof(name), "name %d", i);
		intern(n->strs, name);
	}
}

static rt_status
read_node(void *ctx, uint64_t number, rt_buf *out, rt_error *err)
{
	nodes *n = ctx;

	assert_true(number >= 1 && number <= n->count);
	if (n->checkpoint) {
		n->checkpoint = false;
		checkpoint(n);
		if (n->drops)
			return rt_fail(err, RT_NOT_FOUND, "there is no node %d", (int)number);
	}
	if (n->adds) {
		n->adds = false;
		add_more(n);
	}
	rt_buf_add_str(out, rt_buf_str(&n->items[number - 1]));
	if (n->breaks)
		out->size = 2;
	return RT_OK;
}

/* Two names that are in the store. */
static void
set_up(nodes *n)
{
	rt_strs *first;
	rt_buf root;

	memset(n, 0, sizeof(*n));
	n->source = (rt_seq_source){.read = read_node, .ctx = n};
	n->writer = (rt_seq_writer){write_node, n};
	assert_int_equal(rt_strs_new(rt_alloc_libc(), &n->source, &first), RT_OK);
	intern(first, "User");
	intern(first, "AI");
	rt_buf_init(&root, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_strs_store(first, &n->writer, &root, NULL), RT_OK);
	rt_strs_free(first);
	assert_int_equal(rt_strs_open(rt_alloc_libc(), &n->source, rt_buf_str(&root), &n->strs, NULL),
			 RT_OK);
	rt_buf_deinit(&root);
}

static void
tear_down(nodes *n)
{
	size_t i;

	rt_strs_free(n->strs);
	for (i = 0; i < n->count; i++)
		rt_buf_deinit(&n->items[i]);
}

static void
a_reader_meets_a_checkpoint(void **state)
{
	rt_error err;
	rt_str s;
	nodes n;
	int drops;

	(void)state;
	for (drops = 0; drops < 2; drops++) {
		set_up(&n);
		n.checkpoint = true;
		n.drops = drops != 0;
		memset(&err, 0, sizeof(err));
		if (rt_strs_get(n.strs, 2, &s, &err) != RT_OK)
			fail_msg("%s", err.text);
		assert_true(rt_str_is(s, "AI"));
		assert_int_equal(rt_strs_get(n.strs, 3, &s, NULL), RT_OK);
		assert_true(rt_str_is(s, "new"));
		tear_down(&n);
	}
}

static void
a_reader_searches_while_names_are_added(void **state)
{
	uint32_t number;
	nodes n;

	(void)state;
	set_up(&n);
	n.adds = true; /* while the index is made for the first time */
	assert_int_equal(rt_strs_find(n.strs, RT_STR("AI"), &number, NULL), RT_OK);
	assert_int_equal(number, 2);
	assert_false(n.adds);
	assert_int_equal(rt_strs_count(n.strs), 2 + MORE);
	assert_int_equal(rt_strs_find(n.strs, RT_STR("User"), &number, NULL), RT_OK);
	assert_int_equal(number, 1);
	assert_int_equal(rt_strs_find(n.strs, RT_STR("name 0"), &number, NULL), RT_OK);
	assert_int_equal(number, 3);
	assert_int_equal(rt_strs_find(n.strs, RT_STR("name 199"), &number, NULL), RT_OK);
	assert_int_equal(number, 2 + MORE);
	assert_int_equal(rt_strs_find(n.strs, RT_STR("nobody"), &number, NULL), RT_OK);
	assert_int_equal(number, 0);
	tear_down(&n);
}

static void
what_is_damaged_is_still_told(void **state)
{
	rt_error err;
	rt_str s;
	nodes n;

	(void)state;
	set_up(&n);
	n.breaks = true;
	assert_int_equal(rt_strs_get(n.strs, 1, &s, &err), RT_CORRUPT);
	tear_down(&n);
}

static void
roots_that_name_no_node(void **state)
{
	/* one string, in node 0; in a node number beyond the store's; and one string too few */
	static const rt_str roots[] = {RT_STR_INIT("\1\0"),
				       RT_STR_INIT("\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"),
				       RT_STR_INIT("\1")};
	rt_strs *strs = NULL;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		assert_int_equal(rt_strs_open(rt_alloc_libc(), NULL, roots[i], &strs, NULL), RT_CORRUPT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reader_meets_a_checkpoint),
		cmocka_unit_test(a_reader_searches_while_names_are_added),
		cmocka_unit_test(what_is_damaged_is_still_told),
		cmocka_unit_test(roots_that_name_no_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
