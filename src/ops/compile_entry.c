/* SPDX-License-Identifier: MIT
 *
 * Operations on entries. Edit, role and mute replace a slot in one take (C42); the text
 * they replace stays where it is, under its own body number.
 *
 * RT_SLOT_EDITED says of a slot that the entry's content was another when it was written.
 * What gives an entry that is there another content sets it: edit, and of split and merge
 * the entry that stays (its content is cut, or longer). What goes on with a reply does not,
 * for that is the model writing (compile_reply.c); it keeps the mark that there is, unless
 * who asks says that it was an edit, with other fields besides (server/replace_list.h). A new
 * entry begins without it, also one whose content comes from an edited one (the second
 * half of a split, a copy that is grafted): it has no other version to show. Where a body
 * is put back (undo, revert, restore), the mark it was under comes back with it. */
#include "codec/content.h"
#include "ops/compile.h"

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

/* ---- shared ---- */

bool
rt_role_is_user(rt_str role)
{
	return rt_str_eq_nocase(role, RT_STR("user"));
}

bool
rt_role_is_assistant(rt_str role)
{
	return rt_str_eq_nocase(role, RT_STR("ai")) || rt_str_eq_nocase(role, RT_STR("assistant")) ||
	       rt_str_eq_nocase(role, RT_STR("model"));
}

rt_moment
rt_slot_moment(const rt_slot *slot)
{
	return (rt_moment){slot->ts_us,
			   (uint16_t)(slot->flags >> RT_SLOT_NS_SHIFT & RT_SLOT_NS_MASK)};
}

void
rt_slot_set_moment(rt_slot *slot, rt_moment at)
{
	slot->ts_us = at.us;
	slot->flags = (slot->flags & ~((uint32_t)RT_SLOT_NS_MASK << RT_SLOT_NS_SHIFT |
				       (uint32_t)RT_SLOT_NO_TS)) |
		      (uint32_t)at.ns << RT_SLOT_NS_SHIFT;
}

rt_status
rt_compile_result_entry(rt_change *c, uint32_t entry, rt_error *err)
{
	return c->result == NULL ? RT_OK : rt_entry_id(c->now, entry, c->result->entry, err);
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
rt_compile_result_take(rt_change *c, rt_str name)
{
	if (c->result != NULL)
		copy_cut(c->result->take, sizeof(c->result->take), name);
}

void
rt_compile_result_disc(rt_change *c, rt_str name)
{
	if (c->result != NULL)
		copy_cut(c->result->discussion, sizeof(c->result->discussion), name);
}

static rt_status
unchanged(rt_change *c)
{
	if (c->result != NULL)
		c->result->unchanged = true;
	return RT_OK;
}

static rt_status
take_of(const rt_change *c, const rt_disc **out_disc, const rt_take **out_take, rt_error *err)
{
	rt_status st = rt_change_disc(c, out_disc, err);

	if (st == RT_OK)
		*out_take = rt_disc_take(*out_disc, c->place.take);
	return st;
}

rt_status
rt_compile_find(rt_change *c, rt_str address, size_t *out_at, rt_slot *out_slot, rt_error *err)
{
	const rt_disc *disc;
	const rt_take *take;
	uint32_t entry;
	bool found;
	rt_status st = rt_resolve_entry(c->now, c->place, address, false, &entry, err);

	if (st == RT_OK)
		st = take_of(c, &disc, &take, err);
	if (st == RT_OK)
		st = rt_take_find(c->now, take, entry, out_at, out_slot, &found, err);
	if (st == RT_OK && !found)
		st = rt_fail(err, RT_CORRUPT, "entry number %u is in the take, and not where its key says",
			     entry);
	return st;
}

rt_status
rt_compile_gap(rt_change *c, const rt_request *r, size_t *out_at, rt_error *err)
{
	bool before = r->before.ptr != NULL, after = r->after.ptr != NULL;
	rt_slot slot;
	rt_status st;

	if (before == after)
		return rt_fail(err, RT_USAGE, "say either \"before\" or \"after\", and which entry");
	st = rt_compile_find(c, before ? r->before : r->after, out_at, &slot, err);
	if (st == RT_OK && after)
		(*out_at)++;
	return st;
}

/* An id that somebody gave: legal, and never used in this discussion (C21). */
static rt_status
check_id(rt_change *c, rt_str id, rt_error *err)
{
	uint32_t entry;
	rt_status st;

	if (!rt_id_is_legal(id))
		return rt_fail(err, RT_USAGE,
			       "an id is 1 to %d characters of A-Z a-z 0-9 . _ ~ -", (int)RT_ID_MAX);
	st = rt_resolve_vanished(c->now, c->place.disc, id, &entry, err);
	if (st == RT_OK && entry != 0)
		return rt_fail(err, RT_REFUSED, "the id \"%.*s\" was used in this discussion already",
			       RT_STR_ARG(id));
	return st;
}

/* An entry number; generated ids that somebody gave to another entry are passed over. */
static rt_status
next_entry(rt_change *c, bool generated, uint32_t *out, rt_error *err)
{
	for (;;) {
		char id[RT_ID_TEXT_MAX];
		size_t size;
		uint32_t number = c->next_entry, used = 0;
		rt_status st;

		if (number >= RT_HEAD_TIP - 2)
			return rt_fail(err, RT_LIMIT, "too many entries in one project");
		c->next_entry++;
		*out = number;
		if (!generated || rt_strs_count(c->now->ledger->ids) == 0)
			return RT_OK;
		size = rt_id_of(c->now->ledger->salt, number, id);
		st = rt_strs_find(c->now->ledger->ids, rt_str_at(id, size), &used, err);
		if (st != RT_OK || used == 0)
			return st;
	}
}

static rt_status
default_role(rt_change *c, rt_str *out, rt_error *err)
{
	rt_json_doc *doc = NULL;
	yyjson_val *first;
	rt_status st = rt_json_read(c->engine->alloc, rt_project_roles(c->now), &doc, err);

	if (st != RT_OK)
		return st;
	first = yyjson_arr_get_first(rt_json_root(doc));
	*out = yyjson_is_str(first) && yyjson_get_len(first) > 0
		       ? rt_change_keep(c, rt_json_str(first))
		       : RT_STR("User");
	rt_json_free(doc);
	return out->ptr != NULL ? RT_OK : nomem(err);
}

static uint32_t
size_of(size_t size)
{
	return size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
}

/* The content of a request as text or JSON text in buf. */
static void
content_of(const rt_request *r, rt_buf *buf, bool *out_json)
{
	*out_json = r->content.blocks != NULL;
	if (*out_json)
		rt_json_add_value(buf, r->content.blocks);
	else
		rt_buf_add_str(buf, r->content.text);
}

/* Of every new entry, whichever operation makes it. */
static const char *const fresh_fields[] = {"op", "discussion", "take",  "role",      "kind",
					   "id", "ts",         "muted", "collapsed", "read_mode"};

enum {
	FRESH_FIELDS = sizeof(fresh_fields) / sizeof(fresh_fields[0]),
	OP_FIELDS = sizeof(rt_ops[0].fields) / sizeof(rt_ops[0].fields[0])
};

/* What the operation knows of is no field of the entry; everything else is (C35). */
static void
fields_of_op(const rt_op *op, const char *out[FRESH_FIELDS + OP_FIELDS])
{
	const rt_op_field *f;
	size_t i, count = 0;

	for (i = 0; i < FRESH_FIELDS; i++)
		out[count++] = fresh_fields[i];
	for (f = op->fields; f->name != NULL; f++)
		out[count++] = f->name;
	out[count] = NULL;
}

rt_status
rt_compile_fresh(rt_change *c, const rt_request *r, rt_effect_slot *out, rt_error *err)
{
	const rt_op *op = &rt_ops[r->op];
	const char *known[FRESH_FIELDS + OP_FIELDS];
	rt_buf content, body;
	rt_moment at;
	bool is_json;
	rt_status st = RT_OK;

	RT_ASSERT(op->role != NULL);
	memset(out, 0, sizeof(*out));
	if (r->role.ptr != NULL) {
		if (r->role.size == 0)
			return rt_fail(err, RT_USAGE, "\"role\" is empty");
		out->role = rt_change_keep(c, r->role);
	} else if (op->role[0] != '\0') {
		out->role = rt_str_of(op->role);
	} else {
		st = default_role(c, &out->role, err);
		if (st != RT_OK)
			return st;
	}
	out->kind = r->kind.ptr == NULL || rt_str_is(r->kind, "message")
			    ? RT_STR("")
			    : rt_change_keep(c, r->kind);
	if (r->id.ptr != NULL) {
		st = check_id(c, r->id, err);
		if (st != RT_OK)
			return st;
		out->id = rt_change_keep(c, r->id);
	}
	if (r->ts.text.ptr == NULL) {
		at.us = c->engine->env->now_us(c->engine->env->ctx);
		at.us -= at.us % 1000; /* milliseconds are enough of a clock */
		at.ns = 0;
	} else if (r->ts.is_number ? !rt_moment_parse_number(r->ts.text, &at)
				   : !rt_moment_parse(r->ts.text, &at)) {
		return rt_fail(err, RT_USAGE,
			       "\"ts\" is an ISO 8601 time such as 2026-11-21T20:35:40Z, or an "
			       "epoch number");
	}
	rt_slot_set_moment(&out->slot, at);
	if (r->muted == RT_YES)
		out->slot.flags |= RT_SLOT_MUTED;
	st = next_entry(c, r->id.ptr == NULL, &out->slot.entry, err);
	if (st != RT_OK)
		return st;
	rt_buf_init(&content, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&body, c->engine->alloc, RT_BUF_UNLIMITED);
	content_of(r, &content, &is_json);
	fields_of_op(op, known);
	rt_body_write(&body, rt_buf_str(&content), is_json, r->source, known);
	if (content.status != RT_OK || body.status != RT_OK || out->role.ptr == NULL ||
	    out->kind.ptr == NULL || (r->id.ptr != NULL && out->id.ptr == NULL))
		st = nomem(err);
	if (st == RT_OK) {
		out->slot.size = size_of(content.size);
		if (body.ptr[0] != RT_BODY_TEXT)
			out->slot.flags |= RT_SLOT_RICH;
		st = rt_change_body(c, out->slot.entry, rt_buf_str(&body), &out->slot.body, err);
	}
	rt_buf_deinit(&content);
	rt_buf_deinit(&body);
	return st;
}

/* collapsed and read_mode beside a new entry. */
static rt_status
fresh_views(rt_change *c, const rt_request *r, uint32_t entry, rt_error *err)
{
	unsigned flags = (r->collapsed == RT_YES ? RT_VIEW_COLLAPSED : 0u) |
			 (r->read_mode == RT_YES ? RT_VIEW_READ_MODE : 0u);

	return flags != 0 ? rt_change_view(c, entry, flags, err) : RT_OK;
}

rt_status
rt_compile_plain(rt_change *c, rt_str role, rt_str kind, rt_str content, bool is_json, rt_str id,
		 rt_effect_slot *out, rt_error *err)
{
	rt_buf body;
	rt_moment at = {0, 0};
	rt_status st = RT_OK;

	memset(out, 0, sizeof(*out));
	if (id.size > 0) {
		st = check_id(c, id, err);
		if (st != RT_OK)
			return st;
		out->id = rt_change_keep(c, id);
	}
	out->role = rt_change_keep(c, role);
	out->kind = rt_change_keep(c, kind);
	at.us = c->engine->env->now_us(c->engine->env->ctx);
	at.us -= at.us % 1000;
	rt_slot_set_moment(&out->slot, at);
	out->slot.size = size_of(content.size);
	st = next_entry(c, id.size == 0, &out->slot.entry, err);
	if (st != RT_OK)
		return st;
	rt_buf_init(&body, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_body_write(&body, content, is_json, NULL, NULL);
	if (body.status != RT_OK || out->role.ptr == NULL || out->kind.ptr == NULL)
		st = nomem(err);
	if (is_json)
		out->slot.flags |= RT_SLOT_RICH;
	if (st == RT_OK)
		st = rt_change_body(c, out->slot.entry, rt_buf_str(&body), &out->slot.body, err);
	rt_buf_deinit(&body);
	return st;
}

/* ---- append, insert ---- */

rt_status
rt_compile_fork(rt_change *c, size_t at, rt_error *err)
{
	const rt_disc *disc;
	const rt_take *take;
	rt_effect e;
	rt_status st = take_of(c, &disc, &take, err);

	if (st != RT_OK)
		return st;
	memset(&e, 0, sizeof(e));
	e.kind = RT_EFFECT_NEW;
	e.disc = disc->number;
	e.sub = (uint32_t)rt_disc_take_count(disc) + 1;
	e.from_take = take->number;
	e.count = at;
	e.git_commit = rt_change_keep(c, rt_text_str(take->git_commit));
	st = rt_compile_take_name(c, disc, rt_text_str(take->name), &e.name, err);
	if (st == RT_OK)
		st = rt_change_emit(c, &e, err);
	if (st == RT_OK)
		st = rt_change_set_number(c, e.disc, 0, "active", e.sub, err);
	if (st == RT_OK)
		st = rt_change_set(c, e.disc, 0, "head", 0, rt_str_at(NULL, 0), err);
	if (st == RT_OK) {
		c->place.take = e.sub;
		rt_compile_result_take(c, e.name);
	}
	return st;
}

rt_status
rt_compile_append(rt_change *c, rt_effect_slot *slot, rt_error *err)
{
	const rt_disc *disc;
	const rt_take *take;
	size_t at;
	rt_status st = take_of(c, &disc, &take, err);

	if (st != RT_OK)
		return st;
	at = rt_seq_count(take->slots);
	if (take->number == disc->active)
		st = rt_disc_head_at(c->now, disc, &at, err);
	if (st != RT_OK)
		return st;
	if (at < rt_seq_count(take->slots)) { /* in mid-take: a new take (C9) */
		st = rt_compile_fork(c, at, err);
		if (st != RT_OK)
			return st;
	}
	st = rt_change_splice(c, c->place.disc, c->place.take, at, 0, slot, 1, err);
	if (st == RT_OK)
		st = rt_compile_result_entry(c, slot->slot.entry, err);
	return st;
}

rt_status
rt_compile_given_prompt(rt_change *c, const rt_request *r, rt_error *err)
{
	rt_status st;

	if (r->prompt.ptr == NULL)
		return RT_OK;
	if (r->prompt.size == 0)
		st = rt_change_set(c, c->place.disc, 0, "prompt", 0, rt_str_at(NULL, 0), err);
	else
		st = rt_change_set_text(c, c->place.disc, 0, "prompt", 0, r->prompt, err);
	if (st == RT_OK)
		st = rt_change_set(c, c->place.disc, 0, "prompt_edited", 0, rt_str_at(NULL, 0), err);
	return st;
}

rt_status
rt_op_entry_append(rt_change *c, const rt_request *r, rt_error *err)
{
	rt_effect_slot slot;
	rt_status st = rt_compile_fresh(c, r, &slot, err);

	if (st == RT_OK)
		st = rt_compile_append(c, &slot, err);
	if (st == RT_OK)
		st = fresh_views(c, r, slot.slot.entry, err);
	if (st == RT_OK)
		st = rt_compile_given_prompt(c, r, err);
	return st;
}

rt_status
rt_op_entry_insert(rt_change *c, const rt_request *r, rt_error *err)
{
	rt_effect_slot slot;
	size_t at;
	rt_status st = rt_compile_gap(c, r, &at, err);

	if (st == RT_OK)
		st = rt_compile_fresh(c, r, &slot, err);
	if (st == RT_OK)
		st = rt_change_splice(c, c->place.disc, c->place.take, at, 0, &slot, 1, err);
	if (st == RT_OK)
		st = fresh_views(c, r, slot.slot.entry, err);
	if (st == RT_OK)
		st = rt_compile_result_entry(c, slot.slot.entry, err);
	return st;
}

/* ---- edit ---- */

/* What an edit asks for, and what it made of one slot. */
typedef struct edit {
	rt_str content;
	bool is_json;
	bool keeps_blocks; /* the content is a text, for where the text is now */
} edit;

typedef struct edited {
	uint64_t body;
	size_t size; /* of the content */
	bool rich;
	bool same; /* nothing was made: it is what it was */
} edited;

/* Is this the content of that body? */
static bool
is_content_of(rt_change *c, const rt_body *body, rt_str content, bool is_json, rt_error *err,
	      rt_status *status)
{
	rt_buf text;
	bool same;

	if (is_json != (body->content_json != NULL))
		return false;
	if (!is_json)
		return rt_str_eq(body->content, content);
	rt_buf_init(&text, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_json_add_value(&text, body->content_json);
	if (text.status != RT_OK)
		*status = nomem(err);
	same = rt_str_eq(rt_buf_str(&text), content);
	rt_buf_deinit(&text);
	return same;
}

/* The body of slot, with the content that is asked for; old is what it is made of. */
static rt_status
edit_from(rt_change *c, rt_str old, const edit *e, rt_buf *fresh, edited *out, rt_error *err)
{
	bool is_json = e->is_json;
	rt_str content = e->content;
	rt_buf blocks;
	rt_body was;
	rt_status st = rt_body_read(c->engine->alloc, old, &was, err);

	if (st != RT_OK)
		return st;
	rt_buf_init(&blocks, c->engine->alloc, RT_BUF_UNLIMITED);
	if (e->keeps_blocks && was.content_json != NULL) {
		rt_content_set_text(&blocks, (rt_content){was.content, was.content_json}, content);
		content = rt_buf_str(&blocks);
		is_json = true;
		if (blocks.status != RT_OK)
			st = nomem(err);
	}
	if (st == RT_OK)
		st = rt_body_edit(fresh, c->engine->alloc, old, content, is_json, err);
	/* a pi record's content may be the same though its form differs */
	if (st == RT_OK && was.format == RT_BODY_PI)
		out->same = is_content_of(c, &was, content, is_json, err, &st);
	else
		out->same = rt_str_eq(old, rt_buf_str(fresh));
	out->size = content.size;
	rt_buf_deinit(&blocks);
	rt_body_deinit(&was);
	return st;
}

/* A new body for slot. */
static rt_status
edit_body(rt_change *c, const rt_slot *slot, const edit *e, edited *out, rt_error *err)
{
	rt_buf old, fresh;
	rt_status st = RT_OK;

	*out = (edited){.size = e->content.size};
	rt_buf_init(&old, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&fresh, c->engine->alloc, RT_BUF_UNLIMITED);
	if ((slot->flags & RT_SLOT_RICH) != 0 || slot->size == size_of(e->content.size)) {
		st = rt_change_body_bytes(c, slot->body, &old, err);
		if (st == RT_OK)
			st = edit_from(c, rt_buf_str(&old), e, &fresh, out, err);
	} else {
		rt_body_write(&fresh, e->content, e->is_json, NULL, NULL);
	}
	if (st == RT_OK && fresh.status != RT_OK)
		st = nomem(err);
	if (st == RT_OK && !out->same) {
		out->rich = fresh.ptr[0] != RT_BODY_TEXT;
		st = rt_change_body(c, slot->entry, rt_buf_str(&fresh), &out->body, err);
	}
	rt_buf_deinit(&old);
	rt_buf_deinit(&fresh);
	return st;
}

static rt_status
edit_slot(rt_change *c, uint32_t take, size_t at, const rt_slot *slot, const edited *to,
	  rt_error *err)
{
	rt_effect_slot fresh;
	rt_status st = rt_change_name(c, slot, &fresh, err);

	if (st != RT_OK)
		return st;
	fresh.slot.body = to->body;
	fresh.slot.size = size_of(to->size);
	fresh.slot.flags = (fresh.slot.flags & ~(uint32_t)RT_SLOT_RICH) |
			   (to->rich ? RT_SLOT_RICH : 0) | RT_SLOT_EDITED;
	return rt_change_splice(c, c->place.disc, take, at, 1, &fresh, 1, err);
}

/* The same in every other take that holds the entry. slot is what it was here. */
static rt_status
edit_elsewhere(rt_change *c, const rt_slot *slot, const edit *e, const edited *here,
	       size_t *changed, rt_error *err)
{
	const rt_disc *disc;
	size_t at, i, takes = 0;
	rt_status st = rt_change_disc(c, &disc, err);

	if (st == RT_OK)
		takes = rt_disc_take_count(disc);
	for (i = 1; st == RT_OK && i <= takes; i++) {
		const rt_take *take;
		rt_slot other;
		edited own = *here;
		bool found;

		st = rt_change_disc(c, &disc, err);
		if (st != RT_OK)
			break;
		take = rt_disc_take(disc, (uint32_t)i);
		if (!take->present || take->number == c->place.take)
			continue;
		st = rt_take_find(c->now, take, slot->entry, &at, &other, &found, err);
		if (st != RT_OK || !found)
			continue;
		/* with the same body as here it shares the new one */
		if (other.body != slot->body)
			st = edit_body(c, &other, e, &own, err);
		if (st == RT_OK && !own.same) {
			st = edit_slot(c, take->number, at, &other, &own, err);
			(*changed)++;
		}
	}
	return st;
}

rt_status
rt_op_entry_edit(rt_change *c, const rt_request *r, rt_error *err)
{
	edit e = {.keeps_blocks = r->keep_blocks == RT_YES};
	edited here;
	rt_buf content;
	rt_slot slot;
	size_t at, changed = 0;
	rt_status st = rt_compile_find(c, r->entry, &at, &slot, err);

	if (st != RT_OK)
		return st;
	rt_buf_init(&content, c->engine->alloc, RT_BUF_UNLIMITED);
	content_of(r, &content, &e.is_json);
	e.content = rt_buf_str(&content);
	if (content.status != RT_OK) {
		st = nomem(err);
		goto done;
	}
	if (e.keeps_blocks && e.is_json) {
		st = rt_fail(err, RT_USAGE, "\"keep_blocks\" goes with a text, not with an array");
		goto done;
	}
	st = edit_body(c, &slot, &e, &here, err);
	if (st == RT_OK && !here.same) {
		st = edit_slot(c, c->place.take, at, &slot, &here, err);
		changed++;
	}
	if (st == RT_OK && r->everywhere == RT_YES)
		st = edit_elsewhere(c, &slot, &e, &here, &changed, err);
	if (st == RT_OK)
		st = rt_compile_result_entry(c, slot.entry, err);
	if (st == RT_OK && changed == 0)
		st = unchanged(c);
	if (c->result != NULL)
		c->result->count = changed;
done:
	rt_buf_deinit(&content);
	return st;
}

/* ---- role, mute, view ---- */

rt_status
rt_op_entry_role(rt_change *c, const rt_request *r, rt_error *err)
{
	rt_str role = r->role;
	rt_effect_slot fresh;
	rt_slot slot;
	size_t at;
	rt_status st;

	if (role.size == 0)
		return rt_fail(err, RT_USAGE, "\"role\" is empty");
	st = rt_compile_find(c, r->entry, &at, &slot, err);
	if (st == RT_OK)
		st = rt_change_name(c, &slot, &fresh, err);
	if (st == RT_OK)
		st = rt_compile_result_entry(c, slot.entry, err);
	if (st != RT_OK)
		return st;
	if (rt_str_eq(fresh.role, role))
		return unchanged(c);
	fresh.role = rt_change_keep(c, role);
	if (fresh.role.ptr == NULL)
		return nomem(err);
	return rt_change_splice(c, c->place.disc, c->place.take, at, 1, &fresh, 1, err);
}

rt_status
rt_op_entry_mute(rt_change *c, const rt_request *r, rt_error *err)
{
	bool muted = r->muted != RT_NO;
	rt_effect_slot fresh;
	rt_slot slot;
	size_t at;
	rt_status st = rt_compile_find(c, r->entry, &at, &slot, err);

	if (st == RT_OK)
		st = rt_compile_result_entry(c, slot.entry, err);
	if (st == RT_OK)
		st = rt_change_name(c, &slot, &fresh, err);
	if (st != RT_OK)
		return st;
	if (((slot.flags & RT_SLOT_MUTED) != 0) == muted)
		return unchanged(c);
	fresh.slot.flags ^= RT_SLOT_MUTED;
	return rt_change_splice(c, c->place.disc, c->place.take, at, 1, &fresh, 1, err);
}

static rt_status
view_one(rt_change *c, uint32_t entry, const rt_request *r, size_t *changed, rt_error *err)
{
	unsigned flags, was;
	rt_status st = rt_project_view(c->now, entry, &was, err);

	if (st != RT_OK)
		return st;
	flags = was;
	if (r->collapsed != RT_UNSET)
		flags = (flags & ~(unsigned)RT_VIEW_COLLAPSED) |
			(r->collapsed == RT_YES ? RT_VIEW_COLLAPSED : 0);
	if (r->read_mode != RT_UNSET)
		flags = (flags & ~(unsigned)RT_VIEW_READ_MODE) |
			(r->read_mode == RT_YES ? RT_VIEW_READ_MODE : 0);
	if (flags == was)
		return RT_OK;
	(*changed)++;
	return rt_change_view(c, entry, flags, err);
}

rt_status
rt_op_entry_view(rt_change *c, const rt_request *r, rt_error *err)
{
	bool all = r->all == RT_YES, one = r->entry.ptr != NULL;
	const rt_disc *disc;
	const rt_take *take;
	rt_slot slot;
	size_t at, changed = 0;
	rt_status st;

	if (r->collapsed == RT_UNSET && r->read_mode == RT_UNSET)
		return rt_fail(err, RT_USAGE, "say \"collapsed\" or \"read_mode\"");
	if (all == one)
		return rt_fail(err, RT_USAGE, "say either \"entry\" or \"all\":true");
	if (one) {
		st = rt_compile_find(c, r->entry, &at, &slot, err);
		if (st == RT_OK)
			st = view_one(c, slot.entry, r, &changed, err);
		if (st == RT_OK)
			st = rt_compile_result_entry(c, slot.entry, err);
	} else {
		st = take_of(c, &disc, &take, err);
		if (st != RT_OK)
			return st;
		rt_seq_ref(take->slots);
		{
			const rt_seq *slots = take->slots;

			for (at = 0; st == RT_OK && at < rt_seq_count(slots); at++) {
				st = rt_seq_get(slots, at, &slot, err);
				if (st == RT_OK)
					st = view_one(c, slot.entry, r, &changed, err);
			}
			rt_seq_unref(slots);
		}
	}
	if (st == RT_OK && changed == 0)
		return unchanged(c);
	return st;
}

/* ---- delete, move ---- */

rt_status
rt_op_entry_delete(rt_change *c, const rt_request *r, rt_error *err)
{
	bool one = r->entry.ptr != NULL, from = r->from.ptr != NULL, to = r->to.ptr != NULL;
	rt_slot slot;
	size_t at, end;
	uint32_t gone, held;
	rt_status st;

	if (one == (from || to) || from != to)
		return rt_fail(err, RT_USAGE, "say \"entry\", or \"from\" and \"to\"");
	if (one) {
		st = rt_compile_find(c, r->entry, &at, &slot, err);
		if (st == RT_NOT_FOUND) { /* a stale second delete is harmless (C19) */
			const rt_disc *disc;
			rt_error quiet;
			rt_status again =
				rt_resolve_vanished(c->now, c->place.disc, r->entry, &gone, &quiet);

			if (again == RT_OK && gone != 0)
				again = rt_change_disc(c, &disc, &quiet);
			if (again == RT_OK && gone != 0)
				again = rt_disc_holds(c->now, disc, gone, &held, &quiet);
			if (again == RT_OK && gone != 0 && held == 0) {
				st = rt_compile_result_entry(c, gone, err);
				return st == RT_OK ? unchanged(c) : st;
			}
			return st;
		}
		end = at + 1;
	} else {
		st = rt_compile_find(c, r->from, &at, &slot, err);
		if (st == RT_OK) {
			rt_slot last;

			st = rt_compile_find(c, r->to, &end, &last, err);
		}
		if (st == RT_OK && end < at)
			return rt_fail(err, RT_USAGE, "\"from\" comes after \"to\"");
		end++;
	}
	if (st == RT_OK)
		st = rt_compile_result_entry(c, slot.entry, err);
	if (st == RT_OK)
		st = rt_change_splice(c, c->place.disc, c->place.take, at, end - at, NULL, 0, err);
	if (st == RT_OK && c->result != NULL)
		c->result->count = end - at;
	return st;
}

rt_status
rt_op_entry_move(rt_change *c, const rt_request *r, rt_error *err)
{
	rt_effect_slot moved;
	rt_slot slot;
	size_t from, to;
	rt_status st = rt_compile_find(c, r->entry, &from, &slot, err);

	if (st == RT_OK)
		st = rt_compile_gap(c, r, &to, err);
	if (st == RT_OK)
		st = rt_change_name(c, &slot, &moved, err);
	if (st == RT_OK)
		st = rt_compile_result_entry(c, slot.entry, err);
	if (st != RT_OK)
		return st;
	if (to == from || to == from + 1)
		return unchanged(c);
	if (to > from)
		to--;
	st = rt_change_splice(c, c->place.disc, c->place.take, from, 1, NULL, 0, err);
	if (st == RT_OK)
		st = rt_change_splice(c, c->place.disc, c->place.take, to, 0, &moved, 1, err);
	return st;
}
