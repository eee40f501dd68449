/* SPDX-License-Identifier: MIT
 *
 * Nodes are assigned to entries in the order of the take: by id, else by text. A node with neither belongs
 * to the entry before it: programs divide entries differently. */
#include "ops/import_written.h"

#include <stdio.h>

#include "base/hash.h"
#include "codec/body.h"
#include "log/engine_impl.h"

enum {
	AHEAD = 64 /* nodes among which the next one is looked for */
};

uint64_t
rt_written_hash(const rt_node *node)
{
	return rt_id_is_legal(node->id) ? rt_hash(node->id.ptr, node->id.size, 11)
					: rt_hash(node->body.ptr, node->body.size,
						  (uint64_t)(unsigned char)node->body_format);
}

/* ---- keeping ---- */

/* A hash of the text. */
static uint64_t
text_hash(rt_scope *s, const rt_node *node)
{
	rt_buf *stored = rt_scope_buf(s), *text = rt_scope_buf(s);
	rt_body body;

	rt_buf_add_byte(stored, node->body_format);
	rt_buf_add_str(stored, node->body);
	if (RT_TRY(s, rt_body_read(s->alloc, rt_scope_str(s, stored), &body, &s->error)) != RT_OK)
		return 0;
	rt_body_add_text(text, &body);
	rt_body_deinit(&body);
	return rt_hash(text->ptr, text->size, 0);
}

static uint64_t *
text_hashes(rt_scope *s, const rt_outline *o, const rt_outline_take *take)
{
	size_t count = take != NULL ? take->node_count : o->node_count;
	uint64_t *hashes = rt_scope_array(s, count + 1, sizeof(*hashes));

	for (size_t i = 0; rt_ok(s) && i < count; i++) {
		rt_scope own;

		rt_scope_init(&own, s->alloc);
		hashes[i] = text_hash(&own, &o->nodes[take != NULL ? (size_t)take->nodes[i] : i]);
		(void)rt_scope_join(s, &own);
	}
	return hashes;
}

/* The place in the take of a node of the file, from `next` on; SIZE_MAX: none. */
static size_t
find_place(const rt_outline *from, const rt_outline_take *take, const uint64_t *texts, size_t next,
	   const rt_node *node, uint64_t text)
{
	size_t end = take->node_count - next < AHEAD ? take->node_count : next + AHEAD;

	for (size_t i = next; node->id.size > 0 && i < end; i++)
		if (rt_str_eq(from->nodes[take->nodes[i]].id, node->id))
			return i;
	for (size_t i = next; i < end; i++)
		if (texts[i] == text)
			return i;
	return SIZE_MAX;
}

static void
add_nodes(rt_scope *s, const rt_outline *from, const rt_outline *file, rt_buf *out)
{
	const rt_outline_take *take = &from->takes[from->active_take];
	const uint64_t *here = text_hashes(s, from, take), *there = text_hashes(s, file, NULL);
	size_t last = 0, next = 0;

	for (size_t i = 0; rt_ok(s) && i < file->node_count; i++) {
		size_t at = find_place(from, take, here, next, &file->nodes[i], there[i]);

		if (at != SIZE_MAX) {
			last = at;
			next = at + 1;
		}
		if (i + 1 == file->node_count) /* the program continues after it */
			last = take->node_count - 1;
		rt_buf_add_f(out, "%s\"%016llx\",", i > 0 ? "," : "",
			     (unsigned long long)rt_written_hash(&file->nodes[i]));
		rt_json_add_string(out, from->nodes[take->nodes[last]].id);
	}
}

rt_status
rt_written_keep(rt_engine *engine, uint32_t disc, const rt_outline *from, const rt_outline *file,
		rt_error *err)
{
	rt_buf *name, *row;
	rt_scope s;

	if (file->source.size == 0 || from->take_count == 0 ||
	    from->takes[from->active_take].node_count == 0)
		return RT_OK;
	rt_scope_init(&s, engine->alloc);
	name = rt_scope_buf(&s);
	row = rt_scope_buf(&s);
	rt_buf_add_c(name, RT_WRITTEN_PREFIX);
	rt_buf_add_str(name, file->source);
	rt_json_open(row, NULL, '{');
	rt_json_put_u64(row, "disc", disc);
	rt_json_open(row, "nodes", '[');
	add_nodes(&s, from, file, row);
	rt_json_close(row, ']');
	rt_json_close(row, '}');
	if (rt_scope_str(&s, name).size > 0)
		RT_TRY(&s, engine->store->ops->write(engine->store, rt_engine_side(engine, name->ptr),
						     rt_scope_str(&s, row), &s.error));
	return rt_scope_end(&s, err);
}

/* ---- files ---- */

rt_status
rt_imported_file(rt_engine *engine, uint32_t disc, rt_buf *out, rt_error *err)
{
	char name[32];

	snprintf(name, sizeof(name), RT_IMPORTED_PREFIX "d%u", disc);
	return rt_store_get(engine->store, rt_engine_side(engine, name), out, NULL, err);
}
