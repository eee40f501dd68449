/* SPDX-License-Identifier: MIT
 *
 * Creating, copying and reading projects. effect.c changes them. */
#include "core/project.h"

#include "core/id.h"

/* ---- lifetime ---- */

static void
take_free(rt_object *object)
{
	rt_take *take = (rt_take *)object;

	rt_text_unref(take->name);
	rt_text_unref(take->git_commit);
	rt_seq_unref(take->slots);
	rt_seq_unref(take->moved);
	rt_free(object->alloc, take);
}

static void
disc_free(rt_object *object)
{
	rt_disc *disc = (rt_disc *)object;

	rt_object_unref(disc->takes);
	rt_object_unref(disc->fields);
	rt_seq_unref(disc->labels);
	rt_object_unref(disc->seed);
	rt_free(object->alloc, disc);
}

static void
ledger_free(rt_object *object)
{
	rt_ledger *ledger = (rt_ledger *)object;

	rt_strs_free(ledger->names);
	rt_strs_free(ledger->ids);
	rt_free(object->alloc, ledger->pages);
	rt_free(object->alloc, ledger->page_lists);
	rt_free(object->alloc, ledger);
}

static void
project_free(rt_object *object)
{
	rt_project *project = (rt_project *)object;

	rt_object_unref(project->discs);
	rt_object_unref(project->fields);
	rt_seq_unref(project->views);
	rt_seq_unref(project->entries);
	rt_seq_unref(project->owners);
	rt_object_unref(project->ledger);
	rt_free(object->alloc, project);
}

static rt_status
ledger_new(const rt_alloc *alloc, const rt_seq_source *source, uint64_t salt, rt_ledger **out)
{
	rt_ledger *ledger = rt_new0(alloc, sizeof(*ledger));
	rt_status st;

	if (ledger == NULL)
		return RT_NOMEM;
	rt_object_init(&ledger->object, alloc, ledger_free);
	ledger->salt = salt;
	ledger->source = source;
	st = rt_strs_new(alloc, source, &ledger->names);
	if (st == RT_OK)
		st = rt_strs_new(alloc, source, &ledger->ids);
	if (st != RT_OK) {
		rt_object_unref(ledger);
		return st;
	}
	*out = ledger;
	return RT_OK;
}

rt_status
rt_project_new(const rt_alloc *alloc, const rt_seq_source *source, uint64_t salt,
	       const rt_project **out, rt_error *err)
{
	rt_project *project = rt_new0(alloc, sizeof(*project));
	rt_status st;

	if (project == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	rt_object_init(&project->object, alloc, project_free);
	project->next_entry = 1;
	project->next_body = 1;
	st = rt_vec_new(alloc, &project->discs);
	if (st == RT_OK)
		st = rt_fields_new(alloc, &project->fields);
	if (st == RT_OK)
		st = rt_seq_new(alloc, source, &project->views);
	if (st == RT_OK)
		st = rt_seq_new(alloc, source, &project->entries);
	if (st == RT_OK)
		st = rt_seq_new(alloc, source, &project->owners);
	if (st == RT_OK)
		st = ledger_new(alloc, source, salt, &project->ledger);
	if (st != RT_OK) {
		rt_object_unref(project);
		return rt_fail(err, st, "out of memory");
	}
	*out = project;
	return RT_OK;
}

rt_status
rt_project_copy(const rt_project *project, rt_project **out)
{
	rt_project *mine = rt_new(project->object.alloc, sizeof(*mine));

	if (mine == NULL)
		return RT_NOMEM;
	rt_object_copy(mine, project, sizeof(*mine), project_free);
	rt_object_ref(mine->discs);
	rt_object_ref(mine->fields);
	rt_seq_ref(mine->views);
	rt_seq_ref(mine->entries);
	rt_seq_ref(mine->owners);
	rt_object_ref(mine->ledger);
	*out = mine;
	return RT_OK;
}

rt_status
rt_disc_copy(const rt_disc *disc, rt_disc **out)
{
	rt_disc *mine = rt_new(disc->object.alloc, sizeof(*mine));

	if (mine == NULL)
		return RT_NOMEM;
	rt_object_copy(mine, disc, sizeof(*mine), disc_free);
	rt_object_ref(mine->takes);
	rt_object_ref(mine->fields);
	rt_seq_ref(mine->labels);
	rt_object_ref(mine->seed);
	*out = mine;
	return RT_OK;
}

rt_status
rt_take_copy(const rt_take *take, rt_take **out)
{
	rt_take *mine = rt_new(take->object.alloc, sizeof(*mine));

	if (mine == NULL)
		return RT_NOMEM;
	rt_object_copy(mine, take, sizeof(*mine), take_free);
	rt_text_ref(mine->name);
	rt_text_ref(mine->git_commit);
	rt_seq_ref(mine->slots);
	rt_seq_ref(mine->moved);
	*out = mine;
	return RT_OK;
}

rt_status
rt_disc_new(const rt_alloc *alloc, uint32_t number, rt_disc **out)
{
	rt_disc *disc = rt_new0(alloc, sizeof(*disc));
	rt_status st;

	if (disc == NULL)
		return RT_NOMEM;
	rt_object_init(&disc->object, alloc, disc_free);
	disc->number = number;
	disc->active = 1;
	disc->head = RT_HEAD_TIP;
	st = rt_vec_new(alloc, &disc->takes);
	if (st == RT_OK)
		st = rt_fields_new(alloc, &disc->fields);
	if (st == RT_OK)
		st = rt_seq_new(alloc, NULL, &disc->labels);
	if (st != RT_OK) {
		rt_object_unref(disc);
		return st;
	}
	*out = disc;
	return RT_OK;
}

rt_status
rt_take_new(const rt_alloc *alloc, uint32_t number, rt_str name, const rt_seq *slots,
	    const rt_seq *moved, rt_take **out)
{
	rt_take *take = rt_new0(alloc, sizeof(*take));

	if (take == NULL)
		return RT_NOMEM;
	rt_object_init(&take->object, alloc, take_free);
	take->number = number;
	take->present = true;
	take->slots = rt_seq_ref(slots);
	take->moved = rt_seq_ref(moved);
	take->name = rt_text_new(alloc, name);
	if (take->name == NULL) {
		rt_object_unref(take);
		return RT_NOMEM;
	}
	*out = take;
	return RT_OK;
}

rt_status
rt_project_set_cell(rt_project *mine, uint32_t number, const rt_cell_said *said)
{
	size_t at = (number - 1) / RT_PAGE_CELLS, index = (number - 1) % RT_PAGE_CELLS;
	const rt_page *old = at < rt_vec_count(mine->discs) ? rt_vec_get(mine->discs, at) : NULL;
	rt_page *page = rt_vec_own(mine->discs, at);
	rt_status st;

	if (page != NULL && rt_page_put(page, index, said))
		return RT_OK;
	page = rt_page_set(mine->object.alloc, old, number - (uint32_t)index, index, said);
	if (page == NULL)
		return RT_NOMEM;
	st = rt_vec_put(&mine->discs, at, page);
	rt_object_unref(page);
	if (st != RT_OK)
		return st;
	if (number > mine->disc_count)
		mine->disc_count = number;
	return RT_OK;
}

rt_status
rt_project_set_disc(rt_project *mine, const rt_disc *disc)
{
	const rt_cell *old = rt_project_cell(mine, disc->number);
	rt_cell_said said;

	RT_ASSERT(old != NULL);
	said = (rt_cell_said){old->present, rt_cell_name(old), disc, 0};
	return rt_project_set_cell(mine, disc->number, &said);
}

rt_status
rt_project_shed(const rt_project *project, uint32_t from, const rt_project **out)
{
	rt_project *mine = NULL;
	const rt_seq **seqs[3], *seq;
	size_t i;
	rt_status st = rt_project_copy(project, &mine);

	if (st != RT_OK)
		return st;
	seqs[0] = &mine->views;
	seqs[1] = &mine->entries;
	seqs[2] = &mine->owners;
	for (i = 0; st == RT_OK && i < 3; i++) {
		st = rt_seq_shed(*seqs[i], &seq);
		if (st == RT_OK) {
			rt_seq_unref(*seqs[i]);
			*seqs[i] = seq;
		}
	}
	for (i = from > 0 ? (from - 1) / RT_PAGE_CELLS : 0;
	     st == RT_OK && i < rt_vec_count(mine->discs); i++) {
		const rt_page *old = rt_vec_get(mine->discs, i), *page = rt_page_shed(old);
		const rt_vec *discs;

		if (page == NULL) {
			st = RT_NOMEM;
		} else if (page != old) {
			st = rt_vec_set(mine->discs, i, page, &discs);
			if (st == RT_OK) {
				rt_object_unref(mine->discs);
				mine->discs = discs;
			}
		}
		rt_object_unref(page);
	}
	if (st == RT_OK)
		*out = mine;
	else
		rt_object_unref(mine);
	return st;
}

rt_disc *
rt_project_own_disc(rt_project *mine, uint32_t number)
{
	rt_page *page = number == 0 || number > mine->disc_count
				? NULL
				: rt_vec_own(mine->discs, (number - 1) / RT_PAGE_CELLS);
	rt_cell *cell = page != NULL ? &page->cells[(number - 1) % RT_PAGE_CELLS] : NULL;
	const rt_disc *disc = cell != NULL ? atomic_load(&cell->disc) : NULL;

	if (disc == NULL || !rt_object_is_single(disc))
		return NULL;
	atomic_store(&cell->stored, 0);
	atomic_store(&page->stored, 0);
	return (rt_disc *)(uintptr_t)disc;
}

/* ---- reading ---- */

size_t
rt_project_disc_count(const rt_project *project)
{
	return project->disc_count;
}

const rt_cell *
rt_project_cell(const rt_project *project, uint32_t number)
{
	const rt_page *page;

	if (number == 0 || number > project->disc_count)
		return NULL;
	page = rt_vec_get(project->discs, (number - 1) / RT_PAGE_CELLS);
	return &page->cells[(number - 1) % RT_PAGE_CELLS];
}

rt_status
rt_project_disc_peek(const rt_project *project, uint32_t number, const rt_disc **out,
		     rt_error *err)
{
	rt_cell *cell = (rt_cell *)(uintptr_t)rt_project_cell(project, number);
	const rt_disc *disc;
	rt_status st;

	*out = NULL;
	if (cell == NULL)
		return rt_fail(err, RT_NOT_FOUND, "no discussion d%u", number);
	disc = atomic_load_explicit(&cell->disc, memory_order_acquire);
	if (disc != NULL) {
		*out = rt_object_ref(disc);
		return RT_OK;
	}
	RT_ASSERT(project->loader != NULL);
	st = project->loader->disc(project, atomic_load(&cell->stored), &disc, err);
	if (st != RT_OK)
		return st;
	if (disc->number != number) {
		rt_object_unref(disc);
		return rt_fail(err, RT_CORRUPT, "discussion d%u is not in its place", number);
	}
	*out = disc;
	return RT_OK;
}

rt_status
rt_project_disc(const rt_project *project, uint32_t number, const rt_disc **out, rt_error *err)
{
	rt_cell *cell = (rt_cell *)(uintptr_t)rt_project_cell(project, number);
	const rt_disc *disc = NULL, *expected = NULL;
	rt_status st = RT_OK;

	if (cell != NULL)
		disc = atomic_load_explicit(&cell->disc, memory_order_acquire);
	if (disc != NULL) {
		*out = disc;
		return RT_OK;
	}
	st = rt_project_disc_peek(project, number, &disc, err);
	if (st != RT_OK)
		return st;
	if (!atomic_compare_exchange_strong(&cell->disc, &expected, disc)) {
		rt_object_unref(disc);
		disc = expected;
	}
	*out = disc;
	return RT_OK;
}

const rt_take *
rt_disc_take(const rt_disc *disc, uint32_t number)
{
	if (number == 0 || number > rt_vec_count(disc->takes))
		return NULL;
	return rt_vec_get(disc->takes, number - 1);
}

const rt_take *
rt_disc_active(const rt_disc *disc)
{
	return rt_disc_take(disc, disc->active);
}

size_t
rt_disc_take_count(const rt_disc *disc)
{
	return rt_vec_count(disc->takes);
}

size_t
rt_disc_present_count(const rt_disc *disc)
{
	size_t count = 0, i;

	for (i = 0; i < rt_vec_count(disc->takes); i++)
		count += ((const rt_take *)rt_vec_get(disc->takes, i))->present;
	return count;
}

uint32_t
rt_disc_take_named(const rt_disc *disc, rt_str name)
{
	size_t i;

	for (i = 0; i < rt_vec_count(disc->takes); i++) {
		const rt_take *take = rt_vec_get(disc->takes, i);

		if (take->present && rt_str_eq(rt_text_str(take->name), name))
			return take->number;
	}
	return 0;
}

uint32_t
rt_project_disc_named(const rt_project *project, rt_str name)
{
	size_t i;

	for (i = 1; i <= rt_project_disc_count(project); i++) {
		const rt_cell *cell = rt_project_cell(project, (uint32_t)i);

		if (cell->present && rt_str_eq(rt_cell_name(cell), name))
			return cell->number;
	}
	return 0;
}

rt_str
rt_project_setting(const rt_project *project, const rt_disc *disc, const char *key)
{
	rt_str json = {0};

	if (disc != NULL)
		json = rt_fields_get(disc->fields, rt_str_of(key));
	return json.ptr != NULL ? json : rt_fields_get(project->fields, rt_str_of(key));
}

const char *const rt_setting_prompts[] = {
	"setting.base_system_prompt",
	"setting.global_system_prompt",
	"setting.project_system_prompt",
	NULL,
};

rt_status
rt_project_entry(const rt_project *project, uint32_t entry, rt_slot *out, bool *out_found,
		 rt_error *err)
{
	size_t at;

	return rt_seq_find(project->entries, entry, &at, out_found, out, err);
}

rt_status
rt_take_find(const rt_project *project, const rt_take *take, uint32_t entry, size_t *out_at,
	     rt_slot *out_slot, bool *out_found, rt_error *err)
{
	rt_slot pair, slot;
	uint64_t key = 0;
	bool found = false;
	size_t at;
	rt_status st = RT_OK;

	*out_found = false;
	if (entry == 0 || entry >= project->next_entry)
		return RT_OK;
	if (rt_seq_count(take->moved) > 0) {
		st = rt_seq_find(take->moved, entry, &at, &found, &pair, err);
		if (st != RT_OK)
			return st;
		if (found)
			key = pair.body;
	}
	if (!found) {
		st = rt_project_entry(project, entry, &pair, &found, err);
		if (st != RT_OK || !found)
			return st;
		key = pair.body;
	}
	st = rt_seq_find(take->slots, key, &at, &found, &slot, err);
	if (st != RT_OK || !found || slot.entry != entry)
		return st;
	*out_found = true;
	*out_at = at;
	if (out_slot != NULL)
		*out_slot = slot;
	return RT_OK;
}

rt_status
rt_disc_knew(const rt_project *project, const rt_disc *disc, uint32_t entry, bool *out_knew,
	     rt_error *err)
{
	rt_slot pair;
	bool found;
	size_t at;
	rt_status st;

	*out_knew = false;
	if (entry == 0)
		return RT_OK;
	st = rt_project_entry(project, entry, &pair, &found, err);
	if (st != RT_OK || !found)
		return st;
	if (pair.entry == disc->number) {
		*out_knew = true;
		return RT_OK;
	}
	if (disc->seed == NULL)
		return RT_OK;
	return rt_take_find(project, disc->seed, entry, &at, NULL, out_knew, err);
}

rt_status
rt_disc_holds(const rt_project *project, const rt_disc *disc, uint32_t entry, uint32_t *out_take,
	      rt_error *err)
{
	size_t i, at;
	bool found;
	rt_status st;

	*out_take = 0;
	for (i = 0; i < rt_vec_count(disc->takes); i++) {
		const rt_take *take = rt_vec_get(disc->takes, i);

		if (!take->present)
			continue;
		st = rt_take_find(project, take, entry, &at, NULL, &found, err);
		if (st != RT_OK)
			return st;
		if (found) {
			*out_take = take->number;
			return RT_OK;
		}
	}
	return RT_OK;
}

uint32_t
rt_disc_first(const rt_disc *disc, uint32_t without)
{
	const rt_take *best = NULL;

	for (size_t i = 1; i <= rt_disc_take_count(disc); i++) {
		const rt_take *take = rt_disc_take(disc, (uint32_t)i);

		if (take->present && take->number != without &&
		    (best == NULL ||
		     rt_str_cmp(rt_text_str(take->name), rt_text_str(best->name)) < 0))
			best = take;
	}
	return best == NULL ? 0 : best->number;
}

uint32_t
rt_project_first(const rt_project *project, uint32_t without)
{
	const rt_cell *best = NULL;

	for (size_t i = 1; i <= rt_project_disc_count(project); i++) {
		const rt_cell *cell = rt_project_cell(project, (uint32_t)i);

		if (cell->present && cell->number != without &&
		    (best == NULL || rt_str_cmp(rt_cell_name(cell), rt_cell_name(best)) < 0))
			best = cell;
	}
	return best == NULL ? 0 : best->number;
}

rt_status
rt_disc_head_at(const rt_project *project, const rt_disc *disc, size_t *out_at, rt_error *err)
{
	const rt_take *take = rt_disc_active(disc);
	bool found;
	size_t at;
	rt_status st;

	*out_at = rt_seq_count(take->slots);
	if (disc->head == RT_HEAD_TIP)
		return RT_OK;
	if (disc->head == RT_HEAD_START) {
		*out_at = 0;
		return RT_OK;
	}
	st = rt_take_find(project, take, disc->head, &at, NULL, &found, err);
	if (st == RT_OK && found)
		*out_at = at + 1;
	return st;
}

rt_status
rt_project_name(const rt_project *project, uint32_t number, rt_str *out, rt_error *err)
{
	if (number == 0 || number > rt_strs_count(project->ledger->names)) {
		*out = rt_str_at("", 0);
		return RT_OK;
	}
	return rt_strs_get(project->ledger->names, number, out, err);
}

bool
rt_disc_has_failure(const rt_disc *disc, rt_str id)
{
	rt_str failures = rt_fields_get(disc->fields, RT_STR("failures"));
	char member[RT_ID_MAX + 4]; /* "ID":{ - ids need no escapes, and in a text the quotes have them */

	if (failures.ptr == NULL || id.size > RT_ID_MAX)
		return false;
	member[0] = '"';
	memcpy(member + 1, id.ptr, id.size);
	memcpy(member + 1 + id.size, "\":{", 3);
	return rt_str_find(failures, rt_str_at(member, id.size + 4), 0) != SIZE_MAX;
}

rt_status
rt_disc_label(const rt_project *project, const rt_disc *disc, uint32_t entry, rt_str *out,
	      rt_error *err)
{
	rt_slot pair;
	bool found = false;
	size_t at;
	rt_status st;

	*out = rt_str_at("", 0);
	if (rt_seq_count(disc->labels) == 0)
		return RT_OK;
	st = rt_seq_find(disc->labels, entry, &at, &found, &pair, err);
	if (st != RT_OK || !found)
		return st;
	return rt_project_name(project, (uint32_t)pair.body, out, err);
}

rt_status
rt_project_view(const rt_project *project, uint32_t entry, unsigned *out, rt_error *err)
{
	rt_slot pair;
	bool found = false;
	size_t at;
	rt_status st;

	*out = 0;
	if (rt_seq_count(project->views) == 0)
		return RT_OK;
	st = rt_seq_find(project->views, entry, &at, &found, &pair, err);
	if (st == RT_OK && found)
		*out = (unsigned)pair.body;
	return st;
}

void
rt_project_set_loader(rt_project *mine, const rt_loader *loader)
{
	mine->loader = loader;
}

/* ---- checking ---- */

static rt_status
check_take(const rt_project *project, const rt_disc *disc, const rt_take *take, rt_error *err)
{
	size_t count = rt_seq_count(take->slots), from, i;
	rt_status st = rt_seq_check(take->slots, err);

	if (st == RT_OK)
		st = rt_seq_check(take->moved, err);
	for (from = 0; st == RT_OK && from < count; from += 64) {
		rt_slot slots[64];
		size_t run = count - from < 64 ? count - from : 64;

		st = rt_seq_copy(take->slots, from, run, slots, err);
		for (i = 0; st == RT_OK && i < run; i++) {
			size_t at;
			bool found;
			rt_slot slot;

			st = rt_take_find(project, take, slots[i].entry, &at, &slot, &found, err);
			if (st == RT_OK && (!found || at != from + i))
				st = rt_fail(err, RT_CORRUPT,
					     "entry %u of d%u t%u cannot be found by its number",
					     slots[i].entry, disc->number, take->number);
			if (st == RT_OK && slots[i].body >= project->next_body)
				st = rt_fail(err, RT_CORRUPT, "entry %u refers to a body that does not exist yet",
					     slots[i].entry);
		}
	}
	return st;
}

rt_status
rt_project_check(const rt_project *project, rt_error *err)
{
	size_t i, j;
	rt_status st = rt_seq_check(project->entries, err);

	if (st == RT_OK)
		st = rt_seq_check(project->views, err);
	if (st == RT_OK)
		st = rt_seq_check(project->owners, err);
	for (i = 1; st == RT_OK && i <= rt_project_disc_count(project); i++) {
		const rt_disc *disc;

		st = rt_project_disc(project, (uint32_t)i, &disc, err);
		if (st != RT_OK)
			break;
		if (rt_disc_active(disc) == NULL || !rt_disc_active(disc)->present)
			return rt_fail(err, RT_CORRUPT, "the active take of d%zu is not present", i);
		if (disc->head != RT_HEAD_TIP && disc->head != RT_HEAD_START) {
			size_t at;
			bool found;

			st = rt_take_find(project, rt_disc_active(disc), disc->head, &at, NULL,
					  &found, err);
			if (st == RT_OK && !found)
				return rt_fail(err, RT_CORRUPT, "the head of d%zu is not an entry", i);
		}
		for (j = 1; st == RT_OK && j <= rt_disc_take_count(disc); j++)
			st = check_take(project, disc, rt_disc_take(disc, (uint32_t)j), err);
	}
	if (st == RT_OK && (rt_project_cell(project, project->active) == NULL ||
			    !rt_project_cell(project, project->active)->present))
		return rt_fail(err, RT_CORRUPT, "the active discussion is not present");
	return st;
}
