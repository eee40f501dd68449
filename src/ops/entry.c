/* SPDX-License-Identifier: MIT
 *
 * Operations on entries. Edit, role and mute replace a slot in one take (C42); the text
 * they replace is kept under its own body number.
 *
 * RT_SLOT_EDITED marks a slot whose entry was written with another content. Operations that
 * give an existing entry another content set it: edit, split (its first half) and merge.
 * Continuing a reply does not, because the model writes it (entry_reply.c); it does not change the
 * mark unless the request says that it was an edit. A new entry starts without it, also when its
 * content comes from an edited one (the second half of a split, a grafted copy): it has no other
 * version to show. Restoring a body (undo, revert, restore) restores its mark too. */
#include "core/role.h"
#include "log/engine_impl.h"
#include "ops/ops.h"

/* ---- results ---- */

void
rt_result_entry(rt_change *c, uint32_t entry)
{
	RT_TRY(c->scope, rt_entry_id(c->now, entry, c->result->entry, &c->scope->error));
}

static void
copy_cut(char *to, size_t room, rt_str s)
{
	size_t size = rt_utf8_cut(s, room - 1);

	if (size > 0)
		memcpy(to, s.ptr, size);
	to[size] = '\0';
}

void
rt_result_take(rt_change *c, rt_str name)
{
	copy_cut(c->result->take, sizeof(c->result->take), name);
}

void
rt_result_disc(rt_change *c, rt_str name)
{
	copy_cut(c->result->discussion, sizeof(c->result->discussion), name);
}

/* ---- places ---- */

rt_position
rt_find_take(rt_change *c)
{
	const rt_disc *disc = rt_change_disc(c);
	const rt_take *take = disc != NULL ? rt_disc_take(disc, c->place.take) : NULL;

	if (take == NULL)
		return (rt_position){0};
	return (rt_position){.disc = disc, .take = take, .at = rt_seq_count(take->slots)};
}

/* anywhere: also an entry of other takes of the discussion. */
static rt_position
find(rt_change *c, rt_str address, bool anywhere)
{
	rt_position s = rt_find_take(c);
	rt_slot slot;
	bool found = false;

	RT_TRY(c->scope, rt_resolve_entry(c->now, c->place, address, anywhere, &s.entry,
					  &c->scope->error));
	RT_TRY(c->scope, rt_take_find(c->now, s.take, s.entry, &s.at, &slot, &found,
				      &c->scope->error));
	if (rt_change_ok(c) && !found && !anywhere)
		rt_scope_fail(c->scope, RT_CORRUPT,
			      "entry number %u is in the take, but not at the place of its key",
			      s.entry);
	if (rt_change_ok(c) && !found) {
		uint32_t take = 0;

		RT_TRY(c->scope, rt_take_holding(c->now, s.disc, s.entry, &take, &s.at,
						 &c->scope->error));
		s.take = rt_disc_take(s.disc, take);
		if (rt_change_ok(c))
			RT_TRY(c->scope, rt_seq_get(s.take->slots, s.at, &slot, &c->scope->error));
	}
	if (!rt_change_ok(c))
		return (rt_position){0};
	s.slot = rt_change_name(c, &slot);
	return s;
}

rt_position
rt_find_entry(rt_change *c, rt_str address)
{
	return find(c, address, false);
}

rt_position
rt_find_anywhere(rt_change *c, rt_str address)
{
	return find(c, address, true);
}

size_t
rt_find_gap(rt_change *c, const rt_request *r)
{
	bool before = r->before.ptr != NULL, after = r->after.ptr != NULL;

	if (before == after)
		rt_scope_fail(c->scope, RT_USAGE,
			      "specify either \"before\" or \"after\" with an entry");
	return rt_find_entry(c, before ? r->before : r->after).at + after;
}

/* ---- new entries ---- */

/* An id given by the caller: valid, and never used in this discussion (C21). */
static rt_str
check_id(rt_change *c, rt_str id)
{
	uint32_t entry = 0;

	if (!rt_id_is_legal(id))
		rt_scope_fail(c->scope, RT_USAGE,
			      "an id must consist of 1 to %d of the characters A-Z a-z 0-9 . _ ~ -", (int)RT_ID_MAX);
	RT_TRY(c->scope, rt_resolve_vanished(c->now, c->place.disc, id, &entry, &c->scope->error));
	if (entry != 0)
		rt_scope_fail(c->scope, RT_REFUSED, "the id \"%.*s\" has already been used in this discussion",
			      RT_STR_ARG(id));
	return rt_scope_copy(c->scope, id);
}

/* An entry number; generated ids that were given to other entries are skipped. */
static uint32_t
next_entry(rt_change *c, bool is_generated)
{
	const rt_ledger *ledger = c->now->ledger;
	uint32_t number, used;

	do {
		char id[RT_ID_TEXT_MAX];

		number = c->next_entry;
		used = 0;
		if (number >= RT_HEAD_TIP - 2)
			rt_scope_fail(c->scope, RT_LIMIT, "too many entries in one project");
		if (!rt_change_ok(c))
			return 0;
		c->next_entry++;
		if (is_generated && rt_strs_count(ledger->ids) > 0)
			RT_TRY(c->scope, rt_strs_find(ledger->ids,
						      rt_str_at(id, rt_id_of(ledger->salt, number, id)),
						      &used, &c->scope->error));
	} while (used != 0);
	return number;
}

/* Milliseconds are precise enough for a clock. */
static rt_moment
now(const rt_change *c)
{
	int64_t us = c->engine->env->now_us(c->engine->env->ctx);

	return (rt_moment){us - us % 1000, 0};
}

static rt_str
default_role(rt_change *c)
{
	yyjson_val *first = yyjson_arr_get_first(rt_json_parse(c->scope, rt_project_roles(c->now)));

	return yyjson_is_str(first) && yyjson_get_len(first) > 0 ? rt_json_str(first)
								 : RT_STR("User");
}

static rt_moment
moment_of(rt_change *c, const rt_request *r)
{
	rt_moment at = {0, 0};

	if (r->ts.text.ptr == NULL)
		return now(c);
	if (r->ts.is_number ? !rt_moment_parse_number(r->ts.text, &at)
			    : !rt_moment_parse(r->ts.text, &at))
		rt_scope_fail(c->scope, RT_USAGE,
			      "\"ts\" must be an ISO 8601 time, such as 2026-11-21T20:35:40Z, or "
			      "an epoch number");
	return at;
}

rt_effect_slot
rt_describe_entry(rt_change *c, const rt_request *r)
{
	const char *role = rt_ops[r->op].role;
	rt_effect_slot slot = {.kind = RT_STR("")};

	RT_ASSERT(role != NULL);
	if (r->role.ptr != NULL && r->role.size == 0)
		rt_scope_fail(c->scope, RT_USAGE, "\"role\" is empty");
	slot.role = r->role.ptr != NULL ? rt_scope_copy(c->scope, r->role)
		    : role[0] != '\0'   ? rt_str_of(role)
					: default_role(c);
	if (r->kind.ptr != NULL && !rt_str_is(r->kind, "message"))
		slot.kind = rt_scope_copy(c->scope, r->kind);
	if (r->id.ptr != NULL)
		slot.id = check_id(c, r->id);
	rt_slot_set_moment(&slot.slot, moment_of(c, r));
	if (r->muted == RT_YES)
		slot.slot.flags |= RT_SLOT_MUTED;
	return slot;
}

rt_effect_slot
rt_new_slot(rt_change *c, rt_str role, rt_str kind, rt_str id)
{
	rt_effect_slot slot = {.role = rt_scope_copy(c->scope, role),
			       .kind = rt_scope_copy(c->scope, kind)};

	if (id.size > 0)
		slot.id = check_id(c, id);
	rt_slot_set_moment(&slot.slot, now(c));
	slot.slot.entry = next_entry(c, id.size == 0);
	return slot;
}

rt_known_fields
rt_fields_of_op(const rt_op *op)
{
	rt_known_fields known = {{"op", "discussion", "take", "git_commit", "role", "kind", "id",
				  "ts", "muted", "collapsed", "read_mode"}};
	size_t count = 0;

	while (known.names[count] != NULL)
		count++;
	for (const rt_op_field *f = op->fields; f->name != NULL; f++) {
		/* One more is the NULL at the end. */
		RT_ASSERT(count + 1 < sizeof(known.names) / sizeof(known.names[0]));
		known.names[count++] = f->name;
	}
	return known;
}

void
rt_give_body(rt_change *c, rt_effect_slot *slot, rt_str body, size_t content_size)
{
	if (!rt_change_ok(c))
		return;
	slot->slot.body = rt_change_add_body(c, slot->slot.entry, body);
	slot->slot.size = content_size > UINT32_MAX ? UINT32_MAX : (uint32_t)content_size;
	slot->slot.flags = (slot->slot.flags & ~(uint32_t)RT_SLOT_RICH) |
			   (body.ptr[0] != RT_BODY_TEXT ? RT_SLOT_RICH : 0);
}

void
rt_give_content(rt_change *c, rt_effect_slot *slot, rt_str content, bool is_json,
		yyjson_val *fields, const char *const *skip)
{
	rt_buf *body = rt_scope_buf(c->scope);

	rt_body_write(body, content, is_json, fields, skip);
	rt_give_body(c, slot, rt_scope_str(c->scope, body), content.size);
}

rt_str
rt_request_content(rt_change *c, const rt_request *r, bool *out_json)
{
	rt_buf *blocks;

	*out_json = r->content.blocks != NULL;
	if (!*out_json)
		return r->content.text;
	blocks = rt_scope_buf(c->scope);
	rt_json_add_value(blocks, r->content.blocks);
	return rt_scope_str(c->scope, blocks);
}

rt_effect_slot
rt_new_entry(rt_change *c, const rt_request *r)
{
	rt_known_fields known = rt_fields_of_op(&rt_ops[r->op]);
	rt_effect_slot slot = rt_describe_entry(c, r);
	bool is_json;
	rt_str content = rt_request_content(c, r, &is_json);

	slot.slot.entry = next_entry(c, r->id.ptr == NULL);
	rt_give_content(c, &slot, content, is_json, r->source, known.names);
	return slot;
}

/* ---- append, insert ---- */

/* collapsed and read_mode of a new entry. */
static void
set_views(rt_change *c, const rt_request *r, uint32_t entry)
{
	unsigned flags = (r->collapsed == RT_YES ? RT_VIEW_COLLAPSED : 0u) |
			 (r->read_mode == RT_YES ? RT_VIEW_READ_MODE : 0u);

	if (flags != 0)
		rt_change_view(c, entry, flags);
}

void
rt_append_entry(rt_change *c, const rt_effect_slot *slot, bool aside)
{
	rt_position end = rt_find_take(c);
	size_t at = end.at;

	if (!rt_change_ok(c))
		return;
	if (end.take->number == end.disc->active)
		RT_TRY(c->scope, rt_disc_head_at(c->now, end.disc, &at, &c->scope->error));
	if (aside)
		rt_fork_aside(c, at);
	else if (at < end.at) /* in mid-take: a new take (C9) */
		rt_fork_take(c, at);
	rt_change_splice(c, c->place.disc, c->place.take, at, 0, slot, 1);
	rt_result_entry(c, slot->slot.entry);
}

void
rt_set_or_clear(rt_change *c, uint32_t disc, const char *key, uint32_t entry, rt_str text)
{
	if (text.size > 0)
		rt_change_set_text(c, disc, 0, key, entry, text);
	else
		rt_change_set(c, disc, 0, rt_str_of(key), entry, (rt_str){NULL, 0});
}

void
rt_set_given_prompt(rt_change *c, const rt_request *r)
{
	if (r->prompt.ptr == NULL)
		return;
	rt_set_or_clear(c, c->place.disc, "prompt", 0, r->prompt);
	rt_change_clear(c, c->place.disc, 0, "prompt_edited");
}

void
rt_op_entry_append(rt_change *c, const rt_request *r)
{
	rt_effect_slot slot = rt_new_entry(c, r);

	rt_append_entry(c, &slot, r->aside == RT_YES);
	set_views(c, r, slot.slot.entry);
	rt_set_given_prompt(c, r);
}

void
rt_op_entry_insert(rt_change *c, const rt_request *r)
{
	size_t at = rt_find_gap(c, r);
	rt_effect_slot slot = rt_new_entry(c, r);

	rt_change_splice(c, c->place.disc, c->place.take, at, 0, &slot, 1);
	set_views(c, r, slot.slot.entry);
	rt_result_entry(c, slot.slot.entry);
}

/* ---- edit ---- */

/* The arguments of an edit. */
typedef struct edit {
	rt_str content;
	bool is_json;
	bool keeps_blocks; /* the content is a text, to replace the present text */
} edit;

bool
rt_body_has_content(rt_change *c, const rt_body *body, rt_str content, bool is_json)
{
	rt_buf *blocks;

	if (is_json != (body->content_json != NULL))
		return false;
	if (!is_json)
		return rt_str_eq(body->content, content);
	blocks = rt_scope_buf(c->scope);
	rt_json_add_value(blocks, body->content_json);
	return rt_str_eq(rt_scope_str(c->scope, blocks), content);
}

void
rt_replace_slot(rt_change *c, const rt_position *spot, const rt_effect_slot *slot)
{
	if (rt_change_ok(c))
		rt_change_splice(c, c->place.disc, spot->take->number, spot->at, 1, slot, 1);
}

/* The slot with the requested content, if that differs. */
static bool
edit_slot(rt_change *c, rt_effect_slot *slot, const edit *e)
{
	rt_buf *bytes = rt_scope_buf(c->scope), *fresh = rt_scope_buf(c->scope);
	rt_str content = e->content;
	bool is_json = e->is_json, same = false;

	slot->slot.flags |= RT_SLOT_EDITED;
	if ((slot->slot.flags & RT_SLOT_RICH) == 0 &&
	    slot->slot.size != (content.size > UINT32_MAX ? UINT32_MAX : content.size)) {
		rt_give_content(c, slot, content, is_json, NULL, NULL);
		return rt_change_ok(c);
	}
	rt_change_body_bytes(c, slot->slot.body, bytes);
	rt_str old = rt_scope_str(c->scope, bytes);
	const rt_body *was = rt_change_parse_body(c, old);
	if (e->keeps_blocks && was->content_json != NULL) {
		rt_buf *blocks = rt_scope_buf(c->scope);

		rt_content_set_text(blocks, rt_body_content(was), content);
		content = rt_scope_str(c->scope, blocks);
		is_json = true;
	}
	RT_TRY(c->scope, rt_body_edit(fresh, c->scope->alloc, old, content, is_json,
				      &c->scope->error));
	/* a pi record's content may be equal although its form differs */
	same = was->format == RT_BODY_PI ? rt_body_has_content(c, was, content, is_json)
					 : rt_str_eq(old, rt_scope_str(c->scope, fresh));
	if (!same)
		rt_give_body(c, slot, rt_scope_str(c->scope, fresh), content.size);
	return rt_change_ok(c) && !same;
}

/* The same in every other take that holds the entry. here and after: as it was and is in the
 * request's take. Returns how many takes changed. */
static size_t
edit_elsewhere(rt_change *c, const rt_position *here, const rt_effect_slot *after, bool is_changed,
	       const edit *e)
{
	const rt_disc *disc = rt_change_disc(c);
	size_t takes = disc != NULL ? rt_disc_take_count(disc) : 0, changed = 0;

	for (size_t i = 1; i <= takes && (disc = rt_change_disc(c)) != NULL; i++) {
		rt_position s = {.disc = disc, .take = rt_disc_take(disc, (uint32_t)i)};
		rt_slot slot;
		bool found = false;

		if (!s.take->present || s.take->number == c->place.take)
			continue;
		RT_TRY(c->scope, rt_take_find(c->now, s.take, here->entry, &s.at, &slot, &found,
					      &c->scope->error));
		if (!found || !rt_change_ok(c))
			continue;
		s.slot = rt_change_name(c, &slot);
		if (slot.body != here->slot.slot.body) {
			if (!edit_slot(c, &s.slot, e))
				continue;
		} else if (is_changed) { /* it shares the new body */
			s.slot.slot.body = after->slot.body;
			s.slot.slot.size = after->slot.size;
			s.slot.slot.flags = (s.slot.slot.flags & ~(uint32_t)RT_SLOT_RICH) |
					    (after->slot.flags & RT_SLOT_RICH) | RT_SLOT_EDITED;
		} else {
			continue;
		}
		rt_replace_slot(c, &s, &s.slot);
		changed++;
	}
	return changed;
}

void
rt_op_entry_edit(rt_change *c, const rt_request *r)
{
	rt_position s = rt_find_entry(c, r->entry);
	rt_effect_slot edited = s.slot;
	edit e = {.keeps_blocks = r->keep_blocks == RT_YES};

	e.content = rt_request_content(c, r, &e.is_json);
	if (e.keeps_blocks && e.is_json)
		rt_scope_fail(c->scope, RT_USAGE, "\"keep_blocks\" requires a string, not an array");
	bool is_changed = edit_slot(c, &edited, &e);
	if (is_changed)
		rt_replace_slot(c, &s, &edited);
	c->result->count = is_changed;
	if (r->everywhere == RT_YES)
		c->result->count += edit_elsewhere(c, &s, &edited, is_changed, &e);
	rt_result_entry(c, s.entry);
}

/* ---- role, mute, view ---- */

void
rt_op_entry_role(rt_change *c, const rt_request *r)
{
	if (r->role.size == 0)
		rt_scope_fail(c->scope, RT_USAGE, "\"role\" is empty");
	rt_position s = rt_find_entry(c, r->entry);
	rt_effect_slot slot = s.slot;

	rt_result_entry(c, s.entry);
	if (rt_str_eq(slot.role, r->role))
		return;
	slot.role = rt_scope_copy(c->scope, r->role);
	rt_replace_slot(c, &s, &slot);
}

void
rt_op_entry_mute(rt_change *c, const rt_request *r)
{
	rt_position s = rt_find_entry(c, r->entry);
	rt_effect_slot slot = s.slot;

	rt_result_entry(c, s.entry);
	if (((slot.slot.flags & RT_SLOT_MUTED) != 0) == (r->muted != RT_NO))
		return;
	slot.slot.flags ^= RT_SLOT_MUTED;
	rt_replace_slot(c, &s, &slot);
}

static unsigned
with_flag(unsigned flags, unsigned flag, rt_tristate to)
{
	return to == RT_UNSET ? flags : to == RT_YES ? flags | flag : flags & ~flag;
}

static void
set_view(rt_change *c, uint32_t entry, const rt_request *r)
{
	unsigned was = 0;

	RT_TRY(c->scope, rt_project_view(c->now, entry, &was, &c->scope->error));
	unsigned flags = with_flag(with_flag(was, RT_VIEW_COLLAPSED, r->collapsed),
				   RT_VIEW_READ_MODE, r->read_mode);
	if (flags != was)
		rt_change_view(c, entry, flags);
}

void
rt_op_entry_view(rt_change *c, const rt_request *r)
{
	if (r->collapsed == RT_UNSET && r->read_mode == RT_UNSET)
		rt_scope_fail(c->scope, RT_USAGE, "give \"collapsed\" or \"read_mode\"");
	if ((r->all == RT_YES) == (r->entry.ptr != NULL))
		rt_scope_fail(c->scope, RT_USAGE, "give either \"entry\" or \"all\":true");
	if (r->entry.ptr != NULL) {
		rt_position s = rt_find_entry(c, r->entry);

		set_view(c, s.entry, r);
		rt_result_entry(c, s.entry);
		return;
	}
	rt_position end = rt_find_take(c); /* views change no take: its slots stay in memory */
	const rt_seq *slots = end.take != NULL ? rt_seq_ref(end.take->slots) : NULL;
	for (size_t at = 0; at < end.at && rt_change_ok(c); at++) {
		rt_slot slot = {0};

		RT_TRY(c->scope, rt_seq_get(slots, at, &slot, &c->scope->error));
		set_view(c, slot.entry, r);
	}
	rt_seq_unref(slots);
}

/* ---- delete, move ---- */

/* The entry that an address means, if it was deleted before; 0: it was not. A stale second
 * delete is harmless (C19). */
static uint32_t
deleted_before(rt_change *c, rt_str address)
{
	const rt_disc *disc = rt_change_disc(c);
	uint32_t entry, held = 0;
	rt_error err;

	if (disc == NULL ||
	    rt_resolve_entry(c->now, c->place, address, false, &entry, &err) != RT_NOT_FOUND ||
	    rt_resolve_vanished(c->now, disc->number, address, &entry, &err) != RT_OK ||
	    entry == 0 || rt_disc_holds(c->now, disc, entry, &held, &err) != RT_OK)
		return 0;
	return held == 0 ? entry : 0;
}

void
rt_op_entry_delete(rt_change *c, const rt_request *r)
{
	bool one = r->entry.ptr != NULL, from = r->from.ptr != NULL, to = r->to.ptr != NULL;
	uint32_t gone = one ? deleted_before(c, r->entry) : 0;

	if (one == (from || to) || from != to)
		rt_scope_fail(c->scope, RT_USAGE, "give \"entry\", or \"from\" and \"to\"");
	if (gone != 0) {
		rt_result_entry(c, gone);
		return;
	}
	rt_position first = rt_find_entry(c, one ? r->entry : r->from);
	size_t last = one ? first.at : rt_find_entry(c, r->to).at;

	if (rt_change_ok(c) && last < first.at)
		rt_scope_fail(c->scope, RT_USAGE, "\"from\" is after \"to\"");
	rt_result_entry(c, first.entry);
	c->result->count = last + 1 - first.at;
	rt_change_splice(c, c->place.disc, c->place.take, first.at, last + 1 - first.at, NULL, 0);
}

void
rt_op_entry_move(rt_change *c, const rt_request *r)
{
	rt_position s = rt_find_entry(c, r->entry);
	size_t to = rt_find_gap(c, r);

	rt_result_entry(c, s.entry);
	if (to == s.at || to == s.at + 1)
		return;
	rt_change_splice(c, c->place.disc, c->place.take, s.at, 1, NULL, 0);
	rt_change_splice(c, c->place.disc, c->place.take, to > s.at ? to - 1 : to, 0, &s.slot, 1);
}
