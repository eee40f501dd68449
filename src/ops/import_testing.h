/* SPDX-License-Identifier: MIT
 *
 * Outlines to import, and the checks afterwards. */
#ifndef RT_OPS_IMPORT_TESTING_H
#define RT_OPS_IMPORT_TESTING_H

#include <stdio.h>

#include "log/bare_testing.h"
#include "log/fsck.h"
#include "ops/import_impl.h"

enum { ROOM = 4000 };

typedef struct file {
	rt_node *nodes;
	rt_outline *items;
	char (*texts)[24];
	rt_outlines batch;
} file;

static inline void
file_init(file *f)
{
	f->nodes = test_calloc(ROOM, sizeof(*f->nodes));
	f->items = test_calloc(ROOM, sizeof(*f->items));
	f->texts = test_calloc(ROOM, sizeof(*f->texts));
	rt_outlines_init(&f->batch);
}

static inline void
file_deinit(file *f)
{
	test_free(f->nodes);
	test_free(f->items);
	test_free(f->texts);
}

/* Discussions of one message each: "first", "first + 1" ... */
static inline const rt_outlines *
small(file *f, size_t first, size_t count)
{
	size_t i;

	assert_true(count <= ROOM);
	for (i = 0; i < count; i++) {
		snprintf(f->texts[i], sizeof(f->texts[i]), "%zu", first + i);
		f->nodes[i] = (rt_node){.parent = -1, .role = RT_STR("user"), .body_format = 'T',
					.body = rt_str_of(f->texts[i])};
		f->items[i] = (rt_outline){.nodes = &f->nodes[i], .node_count = 1};
	}
	rt_outlines_init(&f->batch);
	f->batch.items = f->items;
	f->batch.count = count;
	return &f->batch;
}

/* A piece of one conversation. */
static inline const rt_outlines *
piece(file *f, const char *source, size_t first, size_t count, bool more)
{
	size_t i;

	(void)small(f, first, count);
	for (i = 0; i < count; i++)
		f->nodes[i].parent = (int64_t)i - 1;
	f->items[0] = (rt_outline){.name = RT_STR("long"), .source = rt_str_of(source),
				   .nodes = f->nodes, .node_count = count, .more = more};
	f->batch.count = 1;
	return &f->batch;
}

static inline bool
no_finding(void *ctx, const rt_finding *finding)
{
	(void)ctx;
	fail_msg("fsck: %s: %s", finding->id, finding->text);
	return true;
}

static inline void
assert_sound(bare *b)
{
	rt_error err = {0};

	if (rt_engine_fsck(b->engine, no_finding, NULL, &err) != RT_OK)
		fail_msg("%s", err.text);
	rt_engine_close(b->engine);
	bare_open_engine(b);
}

#endif
