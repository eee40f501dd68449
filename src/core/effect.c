/* SPDX-License-Identifier: MIT
 *
 * Applying effects: each changes a draft of the project (effect_draft.c). The kinds new and set are
 * applied here, splices in effect_splice.c. */
#include "core/effect_impl.h"

#include <stdlib.h> /* strtoull */

/* ---- new ---- */

static rt_status
beginning(const rt_project *project, const rt_take *from, uint64_t count, const rt_seq **out_slots,
	  const rt_seq **out_moved, rt_error *err)
{
	rt_status st;

	*out_slots = *out_moved = NULL;
	if (from == NULL) {
		const rt_alloc *alloc = project->object.alloc;
		const rt_seq_source *source = project->ledger->source;

		if (rt_seq_new(alloc, source, out_slots) != RT_OK ||
		    rt_seq_new(alloc, source, out_moved) != RT_OK) {
			rt_seq_unref(*out_slots);
			return rt_effect_nomem(err);
		}
		return RT_OK;
	}
	if (count > rt_seq_count(from->slots))
		return rt_fail(err, RT_CORRUPT, "a take has more entries than its source");
	st = rt_seq_splice(from->slots, (size_t)count, rt_seq_count(from->slots) - (size_t)count,
			   NULL, 0, out_slots, err);
	if (st == RT_OK)
		*out_moved = rt_seq_ref(from->moved);
	return st;
}

static rt_status
make_take(const rt_project *project, const rt_take *from, const rt_effect *e, uint32_t number,
	  rt_str name, rt_take **out, rt_error *err)
{
	const rt_seq *slots, *moved;
	rt_status st = beginning(project, from, e->count, &slots, &moved, err);

	if (st != RT_OK)
		return st;
	if (rt_take_new(project->object.alloc, number, name, slots, moved, out) != RT_OK)
		st = rt_effect_nomem(err);
	rt_seq_unref(slots);
	rt_seq_unref(moved);
	if (st == RT_OK)
		(*out)->row = project->seq + 1;
	if (st == RT_OK && e->git_commit.size > 0) {
		(*out)->git_commit = rt_text_new(project->object.alloc, e->git_commit);
		if ((*out)->git_commit == NULL) {
			rt_object_unref(*out);
			*out = NULL;
			return rt_effect_nomem(err);
		}
	}
	return st;
}

static rt_status
new_take(rt_effect_draft *d, const rt_effect *e, bool back, rt_error *err)
{
	const rt_take *from = NULL;

	if (back || e->sub <= rt_disc_take_count(d->disc)) {
		rt_status st = rt_effect_draft_take(d, e->sub, err);

		if (st == RT_OK)
			d->take->present = !back;
		return st;
	}
	if (e->sub != rt_disc_take_count(d->disc) + 1)
		return rt_fail(err, RT_CORRUPT, "take numbers with a gap");
	if (e->from_take != 0) {
		from = rt_disc_take(d->disc, e->from_take);
		if (from == NULL)
			return rt_fail(err, RT_CORRUPT, "a take without a source");
	}
	return make_take(d->project, from, e, e->sub, e->name, &d->take, err);
}

static rt_status
set_present(rt_effect_draft *d, uint32_t number, bool present, rt_str name, rt_error *err)
{
	rt_cell *old = (rt_cell *)(uintptr_t)rt_project_cell(d->project, number);
	rt_cell_said said;

	if (old == NULL)
		return rt_fail(err, RT_CORRUPT, "the log refers to discussion d%u, which does not exist",
			       number);
	said = (rt_cell_said){present, name.ptr != NULL ? name : rt_cell_name(old),
			      atomic_load(&old->disc), atomic_load(&old->stored)};
	return rt_project_set_cell(d->project, number, &said) == RT_OK ? RT_OK
								       : rt_effect_nomem(err);
}

/* The labels of the entries of a new discussion. */
static rt_status
labels_along(rt_effect_draft *d, const rt_disc *from, const rt_take *take, rt_disc *to,
	     rt_error *err)
{
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < rt_seq_count(from->labels); i++) {
		rt_slot pair;
		size_t at;
		bool found = false;

		st = rt_seq_get(from->labels, i, &pair, err);
		if (st == RT_OK)
			st = rt_take_find(d->project, take, (uint32_t)pair.key, &at, NULL, &found,
					  err);
		if (st == RT_OK && found)
			st = rt_effect_pair_set(&to->labels, pair, err);
	}
	return st;
}

static rt_status
new_disc(rt_effect_draft *d, const rt_effect *e, bool back, rt_error *err)
{
	const rt_take *from = NULL;
	const rt_disc *source = NULL;
	const rt_vec *takes = NULL;
	rt_disc *disc = NULL;
	rt_take *take = NULL;
	rt_cell_said said;
	rt_status st = RT_OK;

	if (back || e->sub <= rt_project_disc_count(d->project))
		return set_present(d, e->sub, !back, rt_str_at(NULL, 0), err);
	if (e->sub != rt_project_disc_count(d->project) + 1)
		return rt_fail(err, RT_CORRUPT, "discussion numbers with a gap");
	if (e->from_disc != 0) {
		st = rt_project_disc(d->project, e->from_disc, &source, err);
		if (st != RT_OK)
			return st;
		from = rt_disc_take(source, e->from_take);
		if (from == NULL)
			return rt_fail(err, RT_CORRUPT, "a discussion without a source take");
	}
	st = make_take(d->project, from, e, 1, e->take_name, &take, err);
	if (st != RT_OK)
		return st;
	if (rt_disc_new(d->project->object.alloc, e->sub, &disc) != RT_OK ||
	    rt_vec_set(disc->takes, 0, take, &takes) != RT_OK) {
		st = rt_effect_nomem(err);
		goto done;
	}
	rt_object_unref(disc->takes);
	disc->takes = takes;
	if (from != NULL) {
		disc->seed = rt_object_ref(take);
		st = labels_along(d, source, take, disc, err);
		if (st != RT_OK)
			goto done;
	}
	said = (rt_cell_said){true, e->name, disc, 0};
	if (rt_project_set_cell(d->project, e->sub, &said) != RT_OK)
		st = rt_effect_nomem(err);
done:
	rt_object_unref(disc);
	rt_object_unref(take);
	return st;
}

/* ---- set ---- */

/* Decodes a JSON string written by our codec. Anything else is returned unchanged. */
static rt_status
unquote(const rt_alloc *alloc, rt_str json, rt_buf *out)
{
	size_t i;

	rt_buf_init(out, alloc, RT_BUF_UNLIMITED);
	if (json.size < 2 || json.ptr[0] != '"') {
		rt_buf_add_str(out, json);
		return out->status;
	}
	for (i = 1; i + 1 < json.size; i++) {
		char c = json.ptr[i];

		if (c != '\\' || i + 2 >= json.size) {
			rt_buf_add_byte(out, c);
			continue;
		}
		c = json.ptr[++i];
		switch (c) {
		case 'b': rt_buf_add_byte(out, '\b'); break;
		case 'f': rt_buf_add_byte(out, '\f'); break;
		case 'n': rt_buf_add_byte(out, '\n'); break;
		case 'r': rt_buf_add_byte(out, '\r'); break;
		case 't': rt_buf_add_byte(out, '\t'); break;
		case 'u':
			if (i + 4 < json.size) { /* only control characters are written so */
				char hex[5];

				memcpy(hex, json.ptr + i + 1, 4);
				hex[4] = '\0';
				rt_buf_add_byte(out, (char)strtoul(hex, NULL, 16));
				i += 4;
			}
			break;
		default: rt_buf_add_byte(out, c); break;
		}
	}
	return out->status;
}

static uint32_t
number_of(rt_str json, uint32_t absent)
{
	uint64_t number = 0;
	size_t i;

	if (json.ptr == NULL)
		return absent;
	for (i = 0; i < json.size && json.ptr[i] >= '0' && json.ptr[i] <= '9'; i++)
		if (number <= UINT32_MAX)
			number = number * 10 + (uint64_t)(json.ptr[i] - '0');
	return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

static rt_status
set_field(const rt_fields **fields, rt_str key, rt_str value, rt_error *err)
{
	const rt_fields *next;

	if (rt_fields_set(*fields, key, value, &next) != RT_OK)
		return rt_effect_nomem(err);
	rt_object_unref(*fields);
	*fields = next;
	return RT_OK;
}

static rt_status
set_text(const rt_alloc *alloc, const rt_text **text, rt_str json, rt_error *err)
{
	const rt_text *fresh = NULL;
	rt_buf plain;

	if (json.ptr != NULL) {
		rt_status st = unquote(alloc, json, &plain);

		if (st == RT_OK) {
			fresh = rt_text_new(alloc, rt_buf_str(&plain));
			if (fresh == NULL)
				st = RT_NOMEM;
		}
		rt_buf_deinit(&plain);
		if (st != RT_OK)
			return rt_effect_nomem(err);
	}
	rt_text_unref(*text);
	*text = fresh;
	return RT_OK;
}

static rt_status
set_label(rt_effect_draft *d, uint32_t entry, rt_str json, rt_error *err)
{
	rt_buf plain;
	rt_slot pair = {0};
	uint32_t number = 0;
	rt_status st;

	if (json.ptr == NULL)
		return rt_effect_pair_drop(&d->disc->labels, entry, err);
	st = unquote(d->project->object.alloc, json, &plain);
	if (st != RT_OK)
		st = rt_effect_nomem(err);
	if (st == RT_OK)
		st = rt_strs_intern(d->project->ledger->names, rt_buf_str(&plain), &number, err);
	rt_buf_deinit(&plain);
	if (st != RT_OK)
		return st;
	pair.key = entry;
	pair.body = number;
	return rt_effect_pair_set(&d->disc->labels, pair, err);
}

static rt_status
set_of_project(rt_effect_draft *d, const rt_effect *e, rt_str value, rt_error *err)
{
	uint32_t number = number_of(value, 0);

	if (!rt_str_is(e->key, "active"))
		return set_field(&d->project->fields, e->key, value, err);
	if (rt_project_cell(d->project, number) == NULL)
		return rt_fail(err, RT_CORRUPT, "discussion d%u does not exist", number);
	d->project->active = number;
	return RT_OK;
}

static rt_status
set_in_catalogue(rt_effect_draft *d, const rt_effect *e, rt_str value, rt_error *err)
{
	const rt_cell *cell = rt_project_cell(d->project, e->sub);
	rt_buf plain;
	rt_status st;

	if (cell == NULL)
		return rt_fail(err, RT_CORRUPT, "discussion d%u does not exist", e->sub);
	if (rt_str_is(e->key, "present"))
		return set_present(d, e->sub, value.ptr != NULL, rt_str_at(NULL, 0), err);
	if (!rt_str_is(e->key, "name"))
		return rt_fail(err, RT_TOO_NEW, "a discussion's field \"%.*s\" is unknown",
			       RT_STR_ARG(e->key));
	st = unquote(d->project->object.alloc, value, &plain);
	if (st != RT_OK)
		st = rt_effect_nomem(err);
	else
		st = set_present(d, e->sub, cell->present,
				 plain.ptr != NULL ? rt_buf_str(&plain) : rt_str_at("", 0), err);
	rt_buf_deinit(&plain);
	return st;
}

static rt_status
set_of_take(rt_effect_draft *d, const rt_effect *e, rt_str value, rt_error *err)
{
	rt_status st = rt_effect_draft_take(d, e->sub, err);

	if (st != RT_OK)
		return st;
	if (rt_str_is(e->key, "name"))
		return set_text(d->take->object.alloc, &d->take->name,
				value.ptr != NULL ? value : RT_STR("\"\""), err);
	if (rt_str_is(e->key, "git_commit"))
		return set_text(d->take->object.alloc, &d->take->git_commit, value, err);
	if (!rt_str_is(e->key, "present"))
		return rt_fail(err, RT_TOO_NEW, "a take's field \"%.*s\" is unknown",
			       RT_STR_ARG(e->key));
	d->take->present = value.ptr != NULL;
	return RT_OK;
}

static rt_status
set_of_disc(rt_effect_draft *d, const rt_effect *e, rt_str value, rt_error *err)
{
	if (rt_str_is(e->key, "label"))
		return set_label(d, e->entry, value, err);
	if (rt_str_is(e->key, "head")) {
		d->disc->head = number_of(value, RT_HEAD_TIP);
	} else if (rt_str_is(e->key, "active")) {
		uint32_t number = number_of(value, 0);

		if (rt_disc_take(d->disc, number) == NULL)
			return rt_fail(err, RT_CORRUPT, "take t%u of d%u does not exist", number,
				       e->disc);
		d->disc->active = number;
	} else {
		return set_field(&d->disc->fields, e->key, value, err);
	}
	return RT_OK;
}

static rt_status
set(rt_effect_draft *d, const rt_effect *e, bool back, rt_error *err)
{
	rt_str value = back ? e->before : e->after;

	if (e->disc == 0)
		return e->sub == 0 ? set_of_project(d, e, value, err)
				   : set_in_catalogue(d, e, value, err);
	return e->sub == 0 ? set_of_disc(d, e, value, err) : set_of_take(d, e, value, err);
}

/* ---- all ---- */

static rt_status
apply(const rt_project *project, bool in_place, const rt_effect *effect, bool back,
      const rt_project **out, rt_error *err)
{
	rt_effect_draft d;
	rt_status st = rt_effect_draft_open(&d, project, in_place, effect->disc, err);

	if (st == RT_OK) {
		switch (effect->kind) {
		case RT_EFFECT_SPLICE:
			st = effect->disc != 0 ? rt_effect_splice(&d, effect, back, err)
					       : rt_fail(err, RT_CORRUPT, "a splice without a take");
			break;
		case RT_EFFECT_NEW:
			st = effect->disc != 0 ? new_take(&d, effect, back, err)
					       : new_disc(&d, effect, back, err);
			break;
		case RT_EFFECT_SET: st = set(&d, effect, back, err); break;
		default:
			st = rt_fail(err, RT_TOO_NEW, "effect %d is unknown", (int)effect->kind);
			break;
		}
	}
	if (st == RT_OK)
		st = rt_effect_draft_close(&d, out, err);
	rt_effect_draft_deinit(&d);
	return st;
}

rt_status
rt_effect_apply(const rt_project *project, const rt_effect *effect, bool back,
		const rt_project **out, rt_error *err)
{
	return apply(project, false, effect, back, out, err);
}

rt_status
rt_effect_advance(const rt_project **now, const rt_effect *effect, bool back, rt_error *err)
{
	bool in_place = rt_object_is_single(*now);
	const rt_project *next;
	rt_status st = apply(*now, in_place, effect, back, &next, err);

	if (st != RT_OK || in_place)
		return st;
	rt_object_unref(*now);
	*now = next;
	return RT_OK;
}

rt_status
rt_effects_apply(const rt_project *project, const rt_effect *effects, size_t count, bool back,
		 const rt_project **out, rt_error *err)
{
	const rt_project *now = rt_object_ref(project);
	size_t i;

	for (i = 0; i < count; i++) {
		rt_status st = rt_effect_advance(&now, &effects[back ? count - 1 - i : i], back,
						 err);

		if (st != RT_OK) {
			rt_object_unref(now);
			return st;
		}
	}
	*out = now;
	return RT_OK;
}

rt_status
rt_project_set_view(const rt_project *project, uint32_t entry, unsigned flags,
		    const rt_project **out, rt_error *err)
{
	rt_project *mine = NULL;
	rt_slot pair = {0};
	rt_status st;

	if (rt_project_copy(project, &mine) != RT_OK)
		return rt_effect_nomem(err);
	pair.key = entry;
	pair.body = flags;
	st = flags == 0 ? rt_effect_pair_drop(&mine->views, entry, err)
			: rt_effect_pair_set(&mine->views, pair, err);
	if (st != RT_OK) {
		rt_object_unref(mine);
		return st;
	}
	*out = mine;
	return RT_OK;
}
