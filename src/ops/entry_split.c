/* SPDX-License-Identifier: MIT
 *
 * entry.split and entry.merge (C14). A text is cut between two characters. An array of blocks is
 * cut inside its one block of text: blocks before it stay with the first half, blocks after it go
 * with the second, so a tool call stays next to its result. Merging joins two contents; merging the
 * halves of a split gives the original. */
#include "ops/ops.h"

/* The slot with this content, and the further fields of its body. */
static void
edit_content(rt_change *c, rt_effect_slot *slot, rt_str content, bool is_json)
{
	rt_buf *old = rt_scope_buf(c->scope), *fresh = rt_scope_buf(c->scope);

	rt_change_body_bytes(c, slot->slot.body, old);
	RT_TRY(c->scope, rt_body_edit(fresh, c->scope->alloc, rt_buf_str(old), content, is_json,
				      &c->scope->error));
	rt_give_body(c, slot, rt_scope_str(c->scope, fresh), content.size);
	slot->slot.flags |= RT_SLOT_EDITED;
}

/* Where to split, in bytes of *out_text. */
static size_t
find_cut(rt_change *c, const rt_request *r, rt_content content, rt_str *out_text)
{
	uint64_t at = r->offset.value;
	size_t cut, count;

	*out_text = (rt_str){NULL, 0};
	if (!rt_change_ok(c))
		return 0;
	if (!rt_content_one_text(content, out_text)) {
		rt_scope_fail(c->scope, RT_REFUSED,
			      "its content is an array of blocks with %s, so the text to split "
			      "is ambiguous",
			      rt_content_text_count(content) == 0 ? "no text" : "several texts");
		return 0;
	}
	cut = at > out_text->size ? SIZE_MAX : rt_utf8_offset(*out_text, (size_t)at);
	if (at > 0 && cut < out_text->size)
		return cut;
	count = rt_utf8_count(*out_text);
	rt_scope_fail(c->scope, RT_USAGE, "\"at\" must be from 1 to %zu: the text has %zu characters",
		      count > 0 ? count - 1 : 0, count);
	return 0;
}

void
rt_op_entry_split(rt_change *c, const rt_request *r)
{
	rt_position s = rt_find_entry(c, r->entry);
	const rt_body *body = rt_change_read_body(c, s.slot.slot.body);
	rt_buf *first = rt_scope_buf(c->scope), *second = rt_scope_buf(c->scope);
	bool is_json = body->content_json != NULL;
	rt_effect_slot halves[2] = {s.slot};
	rt_str text;
	size_t cut = find_cut(c, r, rt_body_content(body), &text);

	if (!rt_change_ok(c))
		return;
	if (is_json) {
		rt_content_cut(first, second, body->content_json, cut);
	} else {
		rt_buf_add(first, text.ptr, cut);
		rt_buf_add(second, text.ptr + cut, text.size - cut);
	}
	halves[1] = rt_new_slot(c, s.slot.role, s.slot.kind, r->id);
	if (r->id.ptr != NULL && r->id.size == 0)
		rt_scope_fail(c->scope, RT_USAGE, "\"id\" is empty");
	halves[1].slot.ts_us = s.slot.slot.ts_us;
	halves[1].slot.flags = s.slot.slot.flags & ~(uint32_t)RT_SLOT_EDITED;
	rt_give_content(c, &halves[1], rt_scope_str(c->scope, second), is_json, NULL, NULL);
	edit_content(c, &halves[0], rt_scope_str(c->scope, first), is_json);
	rt_replace_slot(c, &s, &halves[0]);
	rt_change_splice(c, c->place.disc, c->place.take, s.at + 1, 0, &halves[1], 1);
	rt_result_entry(c, halves[1].slot.entry);
}

void
rt_op_entry_merge(rt_change *c, const rt_request *r)
{
	rt_position s = rt_find_entry(c, r->entry);
	rt_effect_slot merged = s.slot;
	rt_slot next = {0};

	if (rt_change_ok(c) && s.at + 1 >= rt_seq_count(s.take->slots))
		rt_scope_fail(c->scope, RT_REFUSED, "there is no entry after it to merge");
	RT_TRY(c->scope, rt_seq_get(s.take->slots, s.at + 1, &next, &c->scope->error));
	const rt_body *a = rt_change_read_body(c, s.slot.slot.body);
	const rt_body *b = rt_change_read_body(c, next.body);
	rt_buf *joined = rt_scope_buf(c->scope);
	bool is_json = rt_content_join(joined, rt_body_content(a), rt_body_content(b));
	rt_str content = rt_scope_str(c->scope, joined);
	/* Equal content keeps its body: so a purge stays one, and a revert finds it. */
	if (!rt_body_has_content(c, a, content, is_json))
		edit_content(c, &merged, content, is_json);
	rt_change_splice(c, c->place.disc, c->place.take, s.at + 1, 1, NULL, 0);
	rt_replace_slot(c, &s, &merged);
	rt_result_entry(c, s.entry);
}
