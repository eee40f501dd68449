/* SPDX-License-Identifier: MIT
 *
 * entry.split and entry.merge (C14). A text is cut between two characters. An array of
 * blocks is cut inside its one block of text: what stands before it stays with the first
 * half, what stands behind it goes with the second, so a call of a tool stays beside its
 * result. Merging puts one content behind the other; of a split it makes what was split. */
#include "codec/content.h"
#include "ops/compile.h"

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

static uint32_t
size_of(size_t size)
{
	return size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
}

/* The body of a slot; bytes holds what body borrows. */
static rt_status
body_of(rt_change *c, const rt_slot *slot, rt_buf *bytes, rt_body *body, rt_error *err)
{
	rt_status st = rt_change_body_bytes(c, slot->body, bytes, err);

	return st == RT_OK ? rt_body_read(c->engine->alloc, rt_buf_str(bytes), body, err) : st;
}

static rt_content
content_of(const rt_body *body)
{
	return (rt_content){body->content, body->content_json};
}

/* slot gets a new body: that of bytes with this content. */
static rt_status
give_content(rt_change *c, rt_str bytes, rt_str content, bool is_json, rt_effect_slot *slot,
	     rt_error *err)
{
	rt_buf fresh;
	rt_status st;

	rt_buf_init(&fresh, c->engine->alloc, RT_BUF_UNLIMITED);
	st = rt_body_edit(&fresh, c->engine->alloc, bytes, content, is_json, err);
	if (st == RT_OK && fresh.status != RT_OK)
		st = nomem(err);
	if (st == RT_OK)
		st = rt_change_body(c, slot->slot.entry, rt_buf_str(&fresh), &slot->slot.body, err);
	if (st == RT_OK) {
		slot->slot.size = size_of(content.size);
		slot->slot.flags = (slot->slot.flags & ~(uint32_t)RT_SLOT_RICH) |
				   (fresh.ptr[0] != RT_BODY_TEXT ? RT_SLOT_RICH : 0);
	}
	rt_buf_deinit(&fresh);
	return st;
}

/* ---- split ---- */

/* Where to cut, in bytes of *out_text. */
static rt_status
find_cut(const rt_request *r, rt_content content, rt_str *out_text, size_t *out, rt_error *err)
{
	uint64_t at_chars = r->offset.value;
	size_t count;

	if (!rt_content_one_text(content, out_text))
		return rt_fail(err, RT_REFUSED,
			       "its content is an array of blocks with %s, so it is not clear "
			       "what to cut",
			       rt_content_text_count(content) == 0 ? "no text" : "several texts");
	*out = at_chars > out_text->size ? SIZE_MAX : rt_utf8_offset(*out_text, (size_t)at_chars);
	if (at_chars > 0 && *out < out_text->size)
		return RT_OK;
	count = rt_utf8_count(*out_text);
	return rt_fail(err, RT_USAGE, "\"at\" is from 1 to %zu here: the text has %zu characters",
		       count > 0 ? count - 1 : 0, count);
}

rt_status
rt_op_entry_split(rt_change *c, const rt_request *r, rt_error *err)
{
	rt_buf bytes, first, second;
	rt_body body;
	rt_effect_slot halves[2];
	rt_slot slot;
	rt_str text = {NULL, 0};
	size_t at, cut = 0;
	bool is_json;
	rt_status st = rt_compile_find(c, r->entry, &at, &slot, err);

	memset(&body, 0, sizeof(body));
	rt_buf_init(&bytes, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&first, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&second, c->engine->alloc, RT_BUF_UNLIMITED);
	if (st == RT_OK)
		st = body_of(c, &slot, &bytes, &body, err);
	if (st == RT_OK)
		st = find_cut(r, content_of(&body), &text, &cut, err);
	if (st == RT_OK)
		st = rt_change_name(c, &slot, &halves[0], err);
	if (st != RT_OK)
		goto done;
	is_json = body.content_json != NULL;
	if (is_json) {
		rt_content_cut(&first, &second, body.content_json, cut);
	} else {
		rt_buf_add(&first, text.ptr, cut);
		rt_buf_add(&second, text.ptr + cut, text.size - cut);
	}
	if (first.status != RT_OK || second.status != RT_OK) {
		st = nomem(err);
		goto done;
	}
	st = rt_compile_plain(c, halves[0].role, halves[0].kind, rt_buf_str(&second), is_json,
			      r->id, &halves[1], err);
	if (st == RT_OK && r->id.ptr != NULL && r->id.size == 0)
		st = rt_fail(err, RT_USAGE, "\"id\" is empty");
	if (st != RT_OK)
		goto done;
	halves[1].slot.ts_us = slot.ts_us;
	halves[1].slot.flags = (slot.flags & ~(uint32_t)(RT_SLOT_RICH | RT_SLOT_EDITED)) |
			       (is_json ? RT_SLOT_RICH : 0);
	st = give_content(c, rt_buf_str(&bytes), rt_buf_str(&first), is_json, &halves[0], err);
	halves[0].slot.flags |= RT_SLOT_EDITED;
	if (st == RT_OK)
		st = rt_change_splice(c, c->place.disc, c->place.take, at, 1, &halves[0], 1, err);
	if (st == RT_OK)
		st = rt_change_splice(c, c->place.disc, c->place.take, at + 1, 0, &halves[1], 1, err);
	if (st == RT_OK)
		st = rt_compile_result_entry(c, halves[1].slot.entry, err);
done:
	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
	rt_buf_deinit(&first);
	rt_buf_deinit(&second);
	return st;
}

/* ---- merge ---- */

/* Did what was merged have another content? Behind it may have stood nothing at all. */
static bool
is_another(rt_change *c, const rt_body *was, rt_str content, bool is_json, rt_error *err,
	   rt_status *status)
{
	rt_buf blocks;
	bool another;

	if (is_json != (was->content_json != NULL))
		return true;
	if (!is_json)
		return !rt_str_eq(was->content, content);
	rt_buf_init(&blocks, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_json_add_value(&blocks, was->content_json);
	if (blocks.status != RT_OK)
		*status = nomem(err);
	another = !rt_str_eq(rt_buf_str(&blocks), content);
	rt_buf_deinit(&blocks);
	return another;
}

rt_status
rt_op_entry_merge(rt_change *c, const rt_request *r, rt_error *err)
{
	const rt_disc *disc;
	const rt_take *take;
	rt_buf first, second, content;
	rt_body a, b;
	rt_effect_slot merged;
	rt_slot slot, next;
	size_t at;
	bool is_json;
	rt_status st = rt_compile_find(c, r->entry, &at, &slot, err);

	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	rt_buf_init(&first, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&second, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&content, c->engine->alloc, RT_BUF_UNLIMITED);
	if (st == RT_OK)
		st = rt_change_disc(c, &disc, err);
	if (st != RT_OK)
		goto done;
	take = rt_disc_take(disc, c->place.take);
	if (at + 1 >= rt_seq_count(take->slots))
		st = rt_fail(err, RT_REFUSED, "there is no entry after it to merge with");
	if (st == RT_OK)
		st = rt_seq_get(take->slots, at + 1, &next, err);
	if (st == RT_OK)
		st = body_of(c, &slot, &first, &a, err);
	if (st == RT_OK)
		st = body_of(c, &next, &second, &b, err);
	if (st == RT_OK)
		st = rt_change_name(c, &slot, &merged, err);
	if (st != RT_OK)
		goto done;
	is_json = rt_content_join(&content, content_of(&a), content_of(&b));
	if (content.status != RT_OK)
		st = nomem(err);
	/* the same content keeps its body: what was purged stays so, and a revert finds it */
	if (st == RT_OK && is_another(c, &a, rt_buf_str(&content), is_json, err, &st)) {
		st = give_content(c, rt_buf_str(&first), rt_buf_str(&content), is_json, &merged,
				  err);
		merged.slot.flags |= RT_SLOT_EDITED;
	}
	if (st == RT_OK)
		st = rt_change_splice(c, c->place.disc, c->place.take, at + 1, 1, NULL, 0, err);
	if (st == RT_OK)
		st = rt_change_splice(c, c->place.disc, c->place.take, at, 1, &merged, 1, err);
	if (st == RT_OK)
		st = rt_compile_result_entry(c, slot.entry, err);
done:
	rt_body_deinit(&a);
	rt_body_deinit(&b);
	rt_buf_deinit(&first);
	rt_buf_deinit(&second);
	rt_buf_deinit(&content);
	return st;
}
