/* SPDX-License-Identifier: MIT
 *
 * Addresses: from the form that users and programs write to numbers (C5, C6, C29). */
#include "core/address.h"

rt_str
rt_address_shown(rt_str address)
{
	return rt_str_starts(address, RT_STR(RT_BY_ID)) ? rt_str_skip(address, 1) : address;
}

/* "d12" or "t3": the number after the letter; 0: neither. */
static uint32_t
number_id(rt_str s, char letter)
{
	uint64_t number;

	s = rt_address_shown(s);
	if (s.size < 2 || s.ptr[0] != letter || s.ptr[1] == '0')
		return 0;
	return rt_str_u64(rt_str_skip(s, 1), UINT32_MAX - 1, &number) ? (uint32_t)number : 0;
}

rt_str
rt_address_by_id(rt_str id, char *out)
{
	if ((number_id(id, 'd') == 0 && number_id(id, 't') == 0) || id.size + 2 > RT_ADDRESS_SIZE)
		return id;
	out[0] = RT_BY_ID[0];
	memcpy(out + 1, id.ptr, id.size);
	return rt_str_at(out, id.size + 1);
}

static void
write_id(char letter, uint32_t number, char out[RT_ADDRESS_SIZE])
{
	size_t at = 2;

	for (uint32_t rest = number; rest > 9; rest /= 10)
		at++;
	out[0] = '\0';
	if (number == 0)
		return;
	out[0] = RT_BY_ID[0];
	out[1] = letter;
	out[at + 1] = '\0';
	for (; at > 1; at--, number /= 10)
		out[at] = (char)('0' + number % 10);
}

rt_place_ids
rt_place_ids_of(rt_place place)
{
	rt_place_ids ids;

	write_id('d', place.disc, ids.disc);
	write_id('t', place.take, ids.take);
	return ids;
}

void
rt_buf_add_number_id(rt_buf *buf, char letter, uint32_t number)
{
	rt_buf_add_byte(buf, letter);
	rt_buf_add_u64(buf, number);
}

uint32_t
rt_take_addressed(const rt_disc *disc, rt_str name)
{
	uint32_t number = rt_disc_take_named(disc, name);

	if (number == 0)
		number = number_id(name, 't');
	return rt_disc_take(disc, number) != NULL ? number : 0;
}

rt_status
rt_resolve_place(const rt_project *project, rt_str disc, rt_str take, rt_place *out, rt_error *err)
{
	rt_place place = {project->active, 0};
	const rt_disc *d;
	rt_status st;

	if (disc.size > 0) {
		place.disc = rt_project_disc_named(project, disc);
		if (place.disc == 0) {
			place.disc = number_id(disc, 'd');
			if (rt_project_cell(project, place.disc) == NULL)
				return rt_fail_advise(err, RT_NOT_FOUND, "see: retake ls",
						      "no discussion \"%.*s\"",
						      RT_STR_ARG(rt_address_shown(disc)));
		}
	}
	st = rt_project_disc(project, place.disc, &d, err);
	if (st != RT_OK)
		return st;
	place.take = d->active;
	if (take.size > 0) {
		place.take = rt_take_addressed(d, take);
		if (place.take == 0)
			return rt_fail_advise(
				err, RT_NOT_FOUND, "see: retake takes",
				"no take \"%.*s\" in discussion \"%.*s\"",
				RT_STR_ARG(rt_address_shown(take)),
				RT_STR_ARG(rt_cell_name(rt_project_cell(project, place.disc))));
	}
	*out = place;
	return RT_OK;
}

rt_status
rt_entry_id(const rt_project *project, uint32_t entry, char *out, rt_error *err)
{
	rt_slot pair;
	bool found;
	rt_str id;
	rt_status st = rt_project_entry(project, entry, &pair, &found, err);

	if (st != RT_OK)
		return st;
	if (found && pair.ts_us != 0) {
		st = rt_strs_get(project->ledger->ids, (uint32_t)pair.ts_us, &id, err);
		if (st != RT_OK)
			return st;
		if (id.size > RT_ID_MAX)
			return rt_fail(err, RT_CORRUPT, "the id of entry number %u is too long",
				       entry);
		memcpy(out, id.ptr, id.size);
		out[id.size] = '\0';
		return RT_OK;
	}
	out[rt_id_of(project->ledger->salt, entry, out)] = '\0';
	return RT_OK;
}

/* ---- candidates ---- */

/* The search for one address: which entries it may mean. */
typedef struct search {
	const rt_project *project;
	const rt_disc *disc;
	uint32_t hits[8]; /* the first few, for the message */
	size_t count;
	rt_status status;
	rt_error *err;
	bool present_only;
} search;

static bool
add_hit(search *s, uint32_t entry)
{
	size_t i;

	for (i = 0; i < s->count && i < 8; i++)
		if (s->hits[i] == entry)
			return true;
	if (s->count < 8)
		s->hits[s->count] = entry;
	s->count++;
	return s->count < 64;
}

/* Adds a candidate if it is in a present take (or ever was here). */
static bool
consider(search *s, uint32_t entry)
{
	uint32_t take = 0;
	bool knew = false;

	if (s->present_only)
		s->status = rt_disc_holds(s->project, s->disc, entry, &take, s->err);
	else
		s->status = rt_disc_knew(s->project, s->disc, entry, &knew, s->err);
	if (s->status != RT_OK)
		return false;
	return take != 0 || knew ? add_hit(s, entry) : true;
}

static bool
generated(search *s, uint32_t entry, bool *out)
{
	rt_slot pair;
	bool found;

	*out = false;
	s->status = rt_project_entry(s->project, entry, &pair, &found, s->err);
	if (s->status == RT_OK)
		*out = found && pair.ts_us == 0;
	return s->status == RT_OK;
}

/* Entries with given id number `id`. */
static bool
owners(search *s, uint32_t id)
{
	const rt_seq *seq = s->project->owners;
	size_t at;
	rt_slot slot;

	s->status = rt_seq_find(seq, (uint64_t)id << 32, &at, NULL, NULL, s->err);
	for (; s->status == RT_OK && at < rt_seq_count(seq); at++) {
		s->status = rt_seq_get(seq, at, &slot, s->err);
		if (s->status != RT_OK || slot.key >> 32 != id)
			break;
		if (!consider(s, slot.entry))
			break;
	}
	return s->status == RT_OK;
}

static rt_status
exact(search *s, rt_str id)
{
	uint32_t number;
	bool is_generated;

	if (rt_strs_count(s->project->ledger->ids) > 0) {
		s->status = rt_strs_find(s->project->ledger->ids, id, &number, s->err);
		if (s->status == RT_OK && number != 0)
			(void)owners(s, number);
	}
	if (s->status != RT_OK)
		return s->status;
	number = rt_id_number(s->project->ledger->salt, id);
	if (number != 0 && number < s->project->next_entry &&
	    generated(s, number, &is_generated) && is_generated)
		(void)consider(s, number);
	return s->status;
}

static rt_status
labelled(search *s, rt_str label)
{
	const rt_seq *labels = s->disc->labels;
	uint32_t number = 0;
	size_t at;

	if (rt_seq_count(labels) == 0)
		return RT_OK;
	s->status = rt_strs_find(s->project->ledger->names, label, &number, s->err);
	for (at = 0; s->status == RT_OK && number != 0 && at < rt_seq_count(labels); at++) {
		rt_slot pair;

		s->status = rt_seq_get(labels, at, &pair, s->err);
		if (s->status == RT_OK && pair.body == number && !consider(s, (uint32_t)pair.key))
			break;
	}
	return s->status;
}

static bool
prefixed_generated(void *ctx, uint32_t entry)
{
	search *s = ctx;
	bool is_generated;

	if (!generated(s, entry, &is_generated))
		return false;
	return !is_generated || consider(s, entry);
}

static rt_status
prefixed(search *s, rt_str prefix)
{
	const rt_strs *ids = s->project->ledger->ids;
	uint32_t i;

	for (i = 1; s->status == RT_OK && i <= rt_strs_count(ids); i++) {
		rt_str id;

		s->status = rt_strs_get(ids, i, &id, s->err);
		if (s->status == RT_OK && rt_str_starts(id, prefix) && !owners(s, i))
			break;
		if (s->count >= 64)
			break;
	}
	if (s->status == RT_OK && s->project->next_entry > 1)
		rt_id_prefixed(s->project->ledger->salt, prefix, s->project->next_entry - 1,
			       prefixed_generated, s);
	return s->status;
}

static rt_status
ambiguous(search *s, rt_str address, bool is_label)
{
	rt_buf list;
	size_t i;
	rt_status st = RT_OK;

	rt_buf_init(&list, s->project->object.alloc, 1024);
	for (i = 0; st == RT_OK && i < s->count && i < 8; i++) {
		char id[RT_ID_MAX + 1];

		st = rt_entry_id(s->project, s->hits[i], id, s->err);
		if (st == RT_OK) {
			rt_buf_add_c(&list, i > 0 ? ", " : "");
			rt_buf_add_c(&list, id);
		}
	}
	if (st == RT_OK)
		st = rt_fail(s->err, RT_AMBIGUOUS, "\"%.*s\" %s %s%s", RT_STR_ARG(address),
			     is_label ? "is the label of" : "could be",
			     list.ptr != NULL ? list.ptr : "", s->count > 8 ? ", …" : "");
	if (st == RT_AMBIGUOUS && is_label && s->err != NULL)
		s->err->about = RT_ABOUT_LABEL;
	rt_buf_deinit(&list);
	return st;
}

static rt_status
not_found(const rt_project *project, const rt_disc *disc, rt_str address, rt_error *err)
{
	(void)rt_fail_advise(err, RT_NOT_FOUND, "see: retake show",
			     "no entry matches \"%.*s\" in discussion \"%.*s\"",
			     RT_STR_ARG(address),
			     RT_STR_ARG(rt_cell_name(rt_project_cell(project, disc->number))));
	if (err != NULL)
		err->about = RT_ABOUT_ENTRY;
	return RT_NOT_FOUND;
}

/* The entry is here, but not in this take: say where. */
static rt_status
elsewhere(const rt_project *project, const rt_disc *disc, rt_str address, uint32_t entry,
	  const rt_take *take, rt_error *err)
{
	rt_buf list;
	size_t i, named = 0;
	rt_status st = RT_OK;

	rt_buf_init(&list, project->object.alloc, 1024);
	for (i = 1; st == RT_OK && i <= rt_disc_take_count(disc) && named < 5; i++) {
		const rt_take *other = rt_disc_take(disc, (uint32_t)i);
		bool found;
		size_t at;

		if (!other->present)
			continue;
		st = rt_take_find(project, other, entry, &at, NULL, &found, err);
		if (st == RT_OK && found)
			rt_buf_add_f(&list, "%s\"%.*s\"", named++ > 0 ? ", " : "",
				     RT_STR_ARG(rt_text_str(other->name)));
	}
	if (st == RT_OK)
		st = rt_fail(err, RT_NOT_FOUND,
			     "entry \"%.*s\" is not in take \"%.*s\"; it is in %s (use --take)",
			     RT_STR_ARG(address), RT_STR_ARG(rt_text_str(take->name)),
			     list.ptr != NULL ? list.ptr : "no take");
	rt_buf_deinit(&list);
	return st;
}

static rt_status
by_position(const rt_project *project, const rt_disc *disc, const rt_take *take, rt_str address,
	    uint32_t *out, rt_error *err)
{
	size_t count = rt_seq_count(take->slots), at;
	uint64_t number;
	bool negative = address.size > 1 && address.ptr[1] == '-';
	rt_slot slot;
	rt_status st;

	if (!rt_str_u64(rt_str_skip(address, 1 + (size_t)negative), UINT64_MAX, &number))
		return not_found(project, disc, address, err);
	if (number == 0 || number > count)
		return rt_fail(err, RT_NOT_FOUND, "no entry %.*s: take \"%.*s\" has %zu",
			       RT_STR_ARG(address), RT_STR_ARG(rt_text_str(take->name)), count);
	at = negative ? count - (size_t)number : (size_t)number - 1;
	st = rt_seq_get(take->slots, at, &slot, err);
	if (st == RT_OK)
		*out = slot.entry;
	return st;
}

/* "@", "@-", "@-3": the head, or that many entries before it. */
static rt_status
by_head(const rt_project *project, const rt_disc *disc, const rt_take *take, rt_str address,
	uint32_t *out, rt_error *err)
{
	size_t at = rt_seq_count(take->slots);
	uint64_t back = address.size == 2; /* "@-" */
	rt_slot slot;
	rt_status st = RT_OK;

	if (take->number == disc->active)
		st = rt_disc_head_at(project, disc, &at, err);
	if (st != RT_OK)
		return st;
	if (address.size > 2 && !rt_str_u64(rt_str_skip(address, 2), UINT32_MAX, &back))
		return not_found(project, disc, address, err);
	if (at <= back)
		return rt_fail(err, RT_NOT_FOUND,
			       back == 0 ? "the head is before the first entry of \"%.*s\""
					 : "that is before the first entry of \"%.*s\"",
			       RT_STR_ARG(rt_text_str(take->name)));
	st = rt_seq_get(take->slots, at - 1 - (size_t)back, &slot, err);
	if (st == RT_OK)
		*out = slot.entry;
	return st;
}

rt_status
rt_resolve_entry(const rt_project *project, rt_place place, rt_str address, bool whole,
		 uint32_t *out_entry, rt_error *err)
{
	const rt_disc *disc;
	const rt_take *take;
	search s;
	size_t at;
	bool found, is_label = false;
	rt_status st = rt_project_disc(project, place.disc != 0 ? place.disc : project->active,
				       &disc, err);

	if (st != RT_OK)
		return st;
	take = rt_disc_take(disc, place.take != 0 ? place.take : disc->active);
	if (take == NULL)
		return rt_fail(err, RT_NOT_FOUND, "no such take");
	if (address.size > 0 && address.ptr[0] == '@' &&
	    (address.size == 1 || address.ptr[1] == '-'))
		return by_head(project, disc, take, address, out_entry, err);
	if (address.size > 0 && address.ptr[0] == ':')
		return by_position(project, disc, take, address, out_entry, err);
	memset(&s, 0, sizeof(s));
	s.project = project;
	s.disc = disc;
	s.err = err;
	s.present_only = true;
	if (address.size > 0) {
		st = exact(&s, address);
		if (st == RT_OK && s.count == 0) {
			/* the id of a deleted entry never resolves to another one (C19) */
			uint32_t gone = 0;

			st = rt_resolve_vanished(project, disc->number, address, &gone, err);
			if (st == RT_OK && gone != 0)
				return rt_fail(err, RT_NOT_FOUND,
					       "entry \"%.*s\" is no longer in any take; undo "
					       "restores it",
					       RT_STR_ARG(address));
		}
		if (st == RT_OK && s.count == 0) {
			st = labelled(&s, address);
			is_label = s.count > 0;
		}
		if (st == RT_OK && s.count == 0)
			st = prefixed(&s, address);
	}
	if (st != RT_OK)
		return st;
	if (s.count == 0)
		return not_found(project, disc, address, err);
	if (s.count > 1)
		return ambiguous(&s, address, is_label);
	if (!whole) {
		st = rt_take_find(project, take, s.hits[0], &at, NULL, &found, err);
		if (st != RT_OK)
			return st;
		if (!found)
			return elsewhere(project, disc, address, s.hits[0], take, err);
	}
	*out_entry = s.hits[0];
	return RT_OK;
}

rt_status
rt_resolve_vanished(const rt_project *project, uint32_t disc_number, rt_str id, uint32_t *out_entry,
		    rt_error *err)
{
	const rt_disc *disc;
	search s;
	rt_status st = rt_project_disc(project, disc_number, &disc, err);

	*out_entry = 0;
	if (st != RT_OK)
		return st;
	memset(&s, 0, sizeof(s));
	s.project = project;
	s.disc = disc;
	s.err = err;
	st = exact(&s, id);
	if (st == RT_OK && s.count > 0)
		*out_entry = s.hits[0];
	return st;
}

/* ---- which take ---- */

rt_status
rt_take_holding(const rt_project *project, const rt_disc *disc, uint32_t entry, uint32_t *out_take,
		size_t *out_at, rt_error *err)
{
	bool is_tip = false;

	*out_take = 0;
	*out_at = 0;
	for (size_t i = 1; i <= rt_disc_take_count(disc); i++) {
		const rt_take *take = rt_disc_take(disc, (uint32_t)i);
		bool found = false, tip;
		size_t at;
		rt_status st = take->present ? rt_take_find(project, take, entry, &at, NULL, &found,
							    err)
					     : RT_OK;

		if (st != RT_OK)
			return st;
		if (!found)
			continue;
		tip = at + 1 == rt_seq_count(take->slots);
		if (*out_take == 0 || (tip && !is_tip)) {
			*out_take = take->number;
			*out_at = at;
			is_tip = tip;
		}
	}
	return RT_OK;
}
