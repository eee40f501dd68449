/* SPDX-License-Identifier: MIT
 *
 * The tree (C40, C41) as rows: the trie of a discussion's present takes, depth first. Where
 * takes hold different revisions of an entry, its row has variants. */
#include <stdlib.h> /* qsort */

#include "codec/content.h"
#include "log/engine_impl.h"
#include "view/view.h"
#include "view/view_trie.h"

enum { PREVIEW = 60 /* characters, unless told otherwise */ };

typedef struct tree {
	rt_engine *engine;
	rt_trie trie;
	size_t preview; /* characters */
} tree;

rt_status
rt_view_add_preview(const rt_alloc *alloc, const rt_body *body, size_t characters, rt_buf *buf,
		    rt_error *err)
{
	rt_buf text;
	size_t i, end;
	rt_status st = RT_OK;

	rt_buf_init(&text, alloc, RT_BUF_UNLIMITED);
	rt_body_add_text(&text, body);
	if (rt_str_trim(rt_buf_str(&text)).size == 0) /* something can be said all the same */
		rt_content_add_brief(&text, (rt_content){body->content, body->content_json},
				     rt_body_field(body, "tool_calls"),
				     body->format == RT_BODY_PI ? body->fields
							       : rt_body_field(body, "pi"));
	if (text.status != RT_OK)
		st = rt_fail(err, text.status, "out of memory");
	end = rt_utf8_offset(rt_buf_str(&text), characters);
	if (end < text.size)
		text.size = end;
	for (i = 0; i < text.size; i++)
		if ((unsigned char)text.ptr[i] < 0x20)
			text.ptr[i] = ' ';
	rt_json_add_string(buf, rt_buf_str(&text));
	rt_buf_deinit(&text);
	return st;
}

/* ---- rows ---- */

static int
numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void
add_path_id(rt_buf *buf, uint64_t path)
{
	rt_buf_add_f(buf, "\"n%012llx\"", (unsigned long long)(path & 0xFFFFFFFFFFFFu));
}

static void
add_take_names(tree *t, rt_buf *buf, const uint32_t *takes, size_t count)
{
	size_t i;

	rt_buf_add_byte(buf, '[');
	for (i = 0; i < count; i++) {
		rt_json_add_comma(buf);
		rt_json_add_string(buf, rt_text_str(rt_disc_take(t->trie.disc, takes[i])->name));
	}
	rt_buf_add_byte(buf, ']');
}

static rt_status
add_variants(tree *t, const rt_trie_node *n, const uint32_t *takes, size_t count, rt_buf *buf,
	     rt_error *err)
{
	rt_slot *slots = rt_new_array(t->engine->alloc, count + 1, sizeof(*slots));
	uint32_t *group = rt_new_array(t->engine->alloc, count + 1, sizeof(*group));
	size_t i, j, kinds = 0;
	rt_status st = slots != NULL && group != NULL ? RT_OK
						      : rt_fail(err, RT_NOMEM, "out of memory");

	for (i = 0; st == RT_OK && i < count; i++) {
		bool found;
		size_t at;

		st = rt_take_find(t->trie.project, rt_disc_take(t->trie.disc, takes[i]), n->slot.entry, &at,
				  &slots[i], &found, err);
		for (j = 0; j < i && !rt_same_revision(&slots[i], &slots[j]); j++)
			;
		group[i] = (uint32_t)j;
		kinds += j == i;
	}
	if (st == RT_OK && kinds > 1) {
		rt_json_add_key(buf, "variants");
		rt_buf_add_byte(buf, '[');
		for (i = 0; i < count; i++) {
			bool first = true;

			if (group[i] != i)
				continue;
			rt_json_add_comma(buf);
			rt_buf_add_c(buf, "{\"takes\":[");
			for (j = i; j < count; j++) {
				if (group[j] != i)
					continue;
				if (!first)
					rt_buf_add_byte(buf, ',');
				first = false;
				rt_json_add_string(
					buf, rt_text_str(rt_disc_take(t->trie.disc, takes[j])->name));
			}
			rt_buf_add_c(buf, "],\"revision\":");
			rt_buf_add_u64(buf, slots[i].body);
			rt_buf_add_byte(buf, '}');
		}
		rt_buf_add_byte(buf, ']');
	}
	rt_free(t->engine->alloc, slots);
	rt_free(t->engine->alloc, group);
	return st;
}

static rt_status
add_preview(tree *t, const rt_slot *slot, rt_str kind, rt_buf *buf, rt_error *err)
{
	rt_buf bytes;
	rt_body body;
	rt_status st = rt_engine_body(t->engine, slot->body, &bytes, &body, err);

	if (st == RT_OK) {
		rt_json_add_key(buf, "preview");
		st = rt_view_add_preview(t->engine->alloc, &body, t->preview, buf, err);
		if (yyjson_is_true(rt_body_field(&body, "partial")))
			rt_buf_add_c(buf, ",\"partial\":true");
		if (rt_body_is_hidden(kind, &body))
			rt_buf_add_c(buf, ",\"hidden\":true");
	}
	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
	return st;
}

static rt_status
add_row(tree *t, uint32_t number, uint32_t *scratch, rt_buf *buf, rt_error *err)
{
	const rt_trie_node *n = &t->trie.nodes[number];
	char id[RT_ID_MAX + 1];
	rt_str role, kind, label;
	size_t count = n->to - n->from;
	rt_slot slot;
	rt_status st = rt_entry_id(t->trie.project, n->slot.entry, id, err);

	memcpy(scratch, t->trie.order + n->from, count * sizeof(*scratch));
	qsort(scratch, count, sizeof(*scratch), numbers);
	if (st == RT_OK)
		st = rt_trie_shown(&t->trie, number, &slot, err);
	if (st == RT_OK)
		st = rt_project_name(t->trie.project, slot.role, &role, err);
	if (st == RT_OK)
		st = rt_project_name(t->trie.project, slot.kind, &kind, err);
	if (st == RT_OK)
		st = rt_disc_label(t->trie.project, t->trie.disc, slot.entry, &label, err);
	if (st != RT_OK)
		return st;
	rt_buf_add_c(buf, "{\"node\":");
	add_path_id(buf, n->path);
	rt_json_add_key(buf, "parent_node");
	if (n->parent == RT_TRIE_NONE)
		rt_buf_add_c(buf, "null");
	else
		add_path_id(buf, t->trie.nodes[n->parent].path);
	rt_json_add_key(buf, "id");
	rt_json_add_string(buf, rt_str_of(id));
	rt_json_add_key(buf, "parent");
	if (n->parent == RT_TRIE_NONE) {
		rt_buf_add_c(buf, "null");
	} else {
		st = rt_entry_id(t->trie.project, t->trie.nodes[n->parent].slot.entry, id, err);
		rt_json_add_string(buf, rt_str_of(id));
	}
	rt_json_add_key(buf, "role");
	rt_json_add_string(buf, role);
	rt_json_add_key(buf, "kind");
	rt_json_add_string(buf, kind.size > 0 ? kind : RT_STR("message"));
	rt_json_add_key(buf, "label");
	if (label.size > 0)
		rt_json_add_string(buf, label);
	else
		rt_buf_add_c(buf, "null");
	rt_json_add_key(buf, "active");
	rt_buf_add_c(buf, number == t->trie.head ? "true" : "false");
	rt_json_add_key(buf, "takes");
	add_take_names(t, buf, scratch, count);
	if (st == RT_OK && n->differs)
		st = add_variants(t, n, scratch, count, buf, err);
	if ((slot.flags & RT_SLOT_MUTED) != 0)
		rt_buf_add_c(buf, ",\"muted\":true");
	if ((slot.flags & RT_SLOT_EDITED) != 0)
		rt_buf_add_c(buf, ",\"edited\":true");
	rt_json_add_key(buf, "depth");
	rt_buf_add_u64(buf, n->depth);
	if (st == RT_OK)
		st = add_preview(t, &slot, kind, buf, err);
	rt_buf_add_byte(buf, '}');
	return st;
}

rt_status
rt_view_tree(rt_engine *engine, const rt_project *project, uint32_t disc_number, rt_buf *buf,
	     rt_error *err)
{
	return rt_view_tree_wide(engine, project, disc_number, PREVIEW, buf, err);
}

rt_status
rt_view_tree_wide(rt_engine *engine, const rt_project *project, uint32_t disc_number,
		  size_t preview, rt_buf *buf, rt_error *err)
{
	const rt_disc *disc;
	uint32_t *scratch, n;
	tree t = {.engine = engine, .preview = preview};
	rt_status st = rt_project_disc(project, disc_number != 0 ? disc_number : project->active,
				       &disc, err);

	if (st != RT_OK)
		return st;
	scratch = rt_new_array(engine->alloc, rt_disc_take_count(disc) + 1, sizeof(*scratch));
	st = rt_trie_init(&t.trie, engine->alloc, project, disc, err);
	if (st == RT_OK && scratch == NULL)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	rt_buf_add_byte(buf, '[');
	for (n = t.trie.first_root; st == RT_OK && n != RT_TRIE_NONE; n = rt_trie_next(&t.trie, n)) {
		if (n != t.trie.first_root)
			rt_buf_add_byte(buf, ',');
		st = add_row(&t, n, scratch, buf, err);
	}
	rt_buf_add_byte(buf, ']');
	rt_trie_deinit(&t.trie);
	rt_free(engine->alloc, scratch);
	if (st == RT_OK && buf->status != RT_OK)
		st = rt_fail(err, buf->status, "out of memory");
	return st;
}
