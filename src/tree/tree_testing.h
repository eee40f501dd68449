/* SPDX-License-Identifier: MIT
 *
 * Shared by the tests of the tree: literal trees, and rows as one text. */
#ifndef RT_TREE_TREE_TESTING_H
#define RT_TREE_TREE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tree/tree.h"

/* One entry of a literal tree. Its number in the list is that of its entry. */
typedef struct sown {
	int parent; /* index; -1: a root */
	const char *role, *text;
	rt_tree_kind kind;
	const char *label; /* NULL: none */
	bool silent;
	unsigned flags;
	uint32_t take;
} sown;

enum { SOWN_MAX = 400 };

typedef struct garden {
	sown items[SOWN_MAX];
	size_t count;
	long failing; /* calls until one fails; 0: never */
	rt_tree_source source;
} garden;

static inline rt_status
garden_tell(void *ctx, const rt_tree *tree, const uint32_t *nodes, size_t count, bool to_search,
	    rt_tree_told_fn fn, void *to, rt_error *err)
{
	const garden *g = ctx;
	char text[600];
	size_t i;

	if (g->failing > 0 && --((garden *)ctx)->failing == 0)
		return rt_fail(err, RT_IO, "the source fails");
	for (i = 0; i < count; i++) {
		const sown *s = &g->items[rt_tree_node_at(tree, nodes[i])->entry];
		rt_tree_told told = {.silent = s->silent};
		int size = snprintf(text, sizeof(text), to_search ? "%s %s" : "%s: %s", s->role,
				    s->text);
		rt_str all = rt_str_at(text, (size_t)size);

		if (to_search) {
			told.hay = all;
			told.text = strlen(s->role) + 1;
		} else {
			told.words = all;
			told.who = strlen(s->role) + 2;
		}
		fn(to, i, &told);
	}
	return RT_OK;
}

static inline rt_str
garden_take(void *ctx, uint32_t take)
{
	(void)ctx;
	return take == 1 ? RT_STR("main") : RT_STR("other");
}

static inline void
garden_init(garden *g)
{
	memset(g, 0, sizeof(*g));
	g->source = (rt_tree_source){garden_tell, garden_take, g};
}

static inline int
sow(garden *g, sown item)
{
	assert_true(g->count < SOWN_MAX);
	g->items[g->count] = item;
	return (int)g->count++;
}

/* A place's name is made of the entries above, as the engine's is. */
static inline void
garden_entry(const garden *g, size_t i, rt_tree_entry *out)
{
	const sown *s = &g->items[i];
	uint64_t name = 1469598103934665603u;
	int at;

	for (at = (int)i; at >= 0; at = g->items[at].parent)
		name = (name ^ (uint64_t)(at + 1)) * 1099511628211u;
	*out = (rt_tree_entry){
		.name = name,
		.body = i + 1,
		.entry = (uint32_t)i,
		.parent = s->parent < 0 ? RT_TREE_NONE : (uint32_t)s->parent,
		.take = s->take,
		.label = rt_str_of(s->label),
		.kind = (uint8_t)s->kind,
		.flags = (uint8_t)s->flags,
	};
}

static inline void
plant(const garden *g, rt_tree *tree, int head)
{
	rt_tree_entry entries[SOWN_MAX];
	size_t i;

	for (i = 0; i < g->count; i++)
		garden_entry(g, i, &entries[i]);
	assert_int_equal(rt_tree_set(tree, entries, g->count,
				     head < 0 ? RT_TREE_NONE : (uint32_t)head, NULL),
			 RT_OK);
	rt_tree_check(tree);
}

/* The rows of a window and the footer, as lines. */
static inline void
draw(rt_tree *tree, size_t height, size_t width, rt_buf *out)
{
	const rt_tree_line *lines;
	size_t first, count, i, k;
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	rt_tree_window(tree, height, &first, &count);
	lines = rt_tree_draw(tree, &s, first, count, width);
	assert_int_equal(s.status, RT_OK);
	rt_buf_clear(out);
	for (i = 0; i < (count == 0 ? 1 : count); i++) {
		size_t at = 0;

		for (k = 0; k < lines[i].span_count && count > 0; k++) {
			assert_int_equal(lines[i].spans[k].at, at);
			assert_true(lines[i].spans[k].size > 0);
			at += lines[i].spans[k].size;
		}
		assert_true(count == 0 || at == lines[i].text.size);
		rt_buf_add_str(out, lines[i].text);
		rt_buf_add_byte(out, '\n');
	}
	rt_tree_add_footer(out, tree, width);
	rt_buf_add_byte(out, '\n');
	rt_scope_deinit(&s);
}

static inline void
shows(rt_tree *tree, const char *wanted)
{
	rt_buf out;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	draw(tree, SOWN_MAX, 78, &out);
	assert_string_equal(out.ptr, wanted);
	rt_buf_deinit(&out);
	rt_tree_check(tree);
}

#endif
