/* SPDX-License-Identifier: MIT
 *
 * A checkpoint from bytes. Discussions and nodes are loaded on first access. */
#include "codec/state.h"

#include "base/scope.h"
#include "base/varint.h"

typedef struct input {
	rt_scope *scope; /* of failures, and memory */
	const rt_seq_source *source;
	rt_byte_reader reader;    /* not ok: the bytes are malformed */
	rt_buf *bytes;       /* of the node that the reader reads */
	const rt_seq *empty; /* shared by all empty sequences; NULL: none yet */
	rt_take **takes;     /* so far */
	size_t take_count, take_capacity;
} input;

static bool
ok(const input *i)
{
	return i->reader.ok && rt_ok(i->scope);
}

/* Notes a failure, which always means: out of memory. True: there is none. */
static bool
has_memory(input *i, rt_status st)
{
	if (st != RT_OK)
		(void)rt_scope_nomem(i->scope);
	return st == RT_OK;
}

static const rt_seq *
get_seq(input *i)
{
	rt_seq_root root = {0};
	const rt_seq *seq = NULL;

	root.number = rt_read_varint(&i->reader);
	if (root.number != 0) {
		root.height = (uint32_t)rt_read_varint(&i->reader);
		root.first_key = rt_read_varint(&i->reader);
		root.sum.count = rt_read_varint(&i->reader);
		root.sum.bytes = rt_read_varint(&i->reader);
		root.sum.turns = rt_read_varint(&i->reader);
		if (root.sum.count == 0 || root.height > 60)
			i->reader.ok = false;
	}
	if (root.number == 0 && i->empty != NULL)
		return rt_seq_ref(i->empty);
	if (has_memory(i, rt_seq_open(i->scope->alloc, i->source, &root, &seq)) && root.number == 0)
		i->empty = rt_seq_ref(seq);
	return seq;
}

static void
input_deinit(input *i)
{
	while (i->take_count > 0)
		rt_object_unref(i->takes[--i->take_count]);
	rt_seq_unref(i->empty);
}

static rt_history
get_history(input *i)
{
	rt_history h = {0};

	h.current = rt_read_varint(&i->reader);
	h.last_step = rt_read_varint(&i->reader);
	h.redo_row = rt_read_varint(&i->reader);
	h.redo_move = (uint32_t)rt_read_varint(&i->reader);
	return h;
}

static const rt_fields *
get_fields(input *i)
{
	uint64_t count = rt_read_varint(&i->reader);
	const rt_fields *fields = NULL, *next;

	if (!has_memory(i, rt_fields_new(i->scope->alloc, &fields)))
		return NULL;
	for (; count > 0 && ok(i); count--) {
		rt_str name = rt_read_str(&i->reader), value = rt_read_str(&i->reader);

		if (i->reader.ok && has_memory(i, rt_fields_set(fields, name, value, &next))) {
			rt_object_unref(fields);
			fields = next;
		}
	}
	return fields;
}

/* Appends to takes, which then owns it. False: no memory. */
static bool
keep_take(input *i, rt_take *take)
{
	rt_take **takes = rt_scope_grow(i->scope, i->takes, i->take_count,
					 &i->take_capacity, sizeof(*takes));

	if (takes == NULL)
		return false;
	i->takes = takes;
	takes[i->take_count++] = take;
	return true;
}

static void
get_take(input *i, uint32_t number, uint64_t version)
{
	bool present = rt_read_byte(&i->reader) != 0;
	rt_str name = rt_read_str(&i->reader), git = rt_read_str(&i->reader);
	const rt_seq *slots = get_seq(i), *moved = get_seq(i);
	uint64_t row = version > 1 ? rt_read_varint(&i->reader) : 0;
	rt_take *take = NULL;

	if (ok(i) &&
	    has_memory(i, rt_take_new(i->scope->alloc, number, name, slots, moved, &take))) {
		take->present = present;
		take->row = row;
		if (git.size > 0)
			take->git_commit = rt_text_new(i->scope->alloc, git);
		if ((git.size > 0 && !has_memory(i, take->git_commit != NULL ? RT_OK : RT_NOMEM)) ||
		    !keep_take(i, take))
			rt_object_unref(take);
	}
	rt_seq_unref(slots);
	rt_seq_unref(moved);
}

/* Begin to read a node, which starts with this letter and a version from `oldest` to `newest`:
 * the version. */
static uint64_t
open_node(input *i, uint64_t number, char letter, uint64_t oldest, uint64_t newest)
{
	uint64_t version;

	rt_buf_clear(i->bytes);
	(void)RT_TRY(i->scope, i->source->read(i->source->ctx, number, i->bytes, &i->scope->error));
	i->reader = rt_byte_reader_of(rt_scope_str(i->scope, i->bytes));
	if (rt_read_byte(&i->reader) != (unsigned char)letter)
		i->reader.ok = false;
	version = rt_read_varint(&i->reader);
	if (version < oldest || version > newest)
		i->reader.ok = false;
	return version;
}

static bool
at_end(const input *i)
{
	return i->reader.ok && i->reader.at == i->reader.end;
}

static void
get_disc(input *i, rt_disc *disc, uint64_t version)
{
	const rt_vec *vec = NULL;
	uint64_t head, takes;

	disc->active = (uint32_t)rt_read_varint(&i->reader);
	head = rt_read_varint(&i->reader);
	disc->head = head == 0 ? RT_HEAD_TIP : (uint32_t)(head - 1);
	disc->history = get_history(i);
	rt_object_unref(disc->fields);
	disc->fields = get_fields(i);
	rt_seq_unref(disc->labels);
	disc->labels = get_seq(i);
	if (rt_read_byte(&i->reader) != 0) {
		const rt_seq *slots = get_seq(i), *moved = get_seq(i);
		rt_take *seed = NULL;

		if (ok(i))
			(void)has_memory(i, rt_take_new(i->scope->alloc, 1, RT_STR(""), slots,
							moved, &seed));
		disc->seed = seed;
		rt_seq_unref(slots);
		rt_seq_unref(moved);
	}
	takes = rt_read_varint(&i->reader);
	for (uint64_t k = 1; k <= takes && ok(i); k++)
		get_take(i, (uint32_t)k, version);
	if (rt_ok(i->scope) &&
	    has_memory(i, rt_vec_from(i->scope->alloc, (const void *const *)i->takes, i->take_count,
				      &vec))) {
		rt_object_unref(disc->takes);
		disc->takes = vec;
	}
}

static rt_status
disc_load(const rt_project *project, uint64_t number, const rt_disc **out_disc, rt_error *err)
{
	rt_scope scope;
	input i = {.scope = &scope, .source = project->ledger->source};
	rt_disc *disc = NULL;
	uint64_t version;
	rt_status st;

	RT_ASSERT(i.source != NULL);
	rt_scope_init(&scope, project->object.alloc);
	i.bytes = rt_scope_buf(&scope);
	version = open_node(&i, number, 'D', 1, RT_STATE_DISC_VERSION);
	if (rt_ok(&scope) &&
	    has_memory(&i, rt_disc_new(scope.alloc, (uint32_t)rt_read_varint(&i.reader), &disc)))
		get_disc(&i, disc, version);
	if (rt_ok(&scope) && (!at_end(&i) || rt_disc_active(disc) == NULL))
		(void)rt_scope_fail(&scope, RT_CORRUPT,
				    "the checkpoint of a discussion (node %llu) cannot be read",
				    (unsigned long long)number);
	input_deinit(&i);
	st = rt_scope_end(&scope, err);
	if (st != RT_OK)
		rt_object_unref(disc);
	else
		*out_disc = disc;
	return st;
}

const rt_loader rt_state_loader = {disc_load};

/* Lines of the catalogue from the input, the first with this number. */
static void
get_cells(input *i, rt_project *project, uint32_t number, uint64_t count, uint64_t stored)
{
	rt_cell_said said[RT_PAGE_CELLS];
	const rt_vec *discs = NULL;
	rt_page *page;

	for (size_t k = 0; k < count; k++) {
		said[k].present = rt_read_byte(&i->reader) != 0;
		said[k].name = rt_read_str(&i->reader);
		said[k].disc = NULL;
		said[k].stored = rt_read_varint(&i->reader);
		if (said[k].stored == 0)
			i->reader.ok = false;
	}
	if (!ok(i))
		return;
	page = rt_page_from(i->scope->alloc, number, said, (size_t)count);
	if (!has_memory(i, page != NULL ? RT_OK : RT_NOMEM))
		return;
	atomic_store(&page->stored, stored);
	if (has_memory(i, rt_vec_set(project->discs, (number - 1) / RT_PAGE_CELLS, page, &discs))) {
		rt_object_unref(project->discs);
		project->discs = discs;
		project->disc_count = number - 1 + (uint32_t)count;
	}
	rt_object_unref(page);
}

/* How many lines of `all` are in the page that begins with this number. */
static uint64_t
page_size(uint64_t all, uint64_t number)
{
	return all - (number - 1) < RT_PAGE_CELLS ? all - (number - 1) : RT_PAGE_CELLS;
}

/* The numbers of the pages, from the lists that the root names. */
static void
get_lists(input *i, rt_ledger *ledger, uint64_t lists)
{
	input inner = {.scope = i->scope, .source = i->source, .bytes = i->bytes};
	uint64_t at = 0, pages = ledger->page_count;

	for (uint64_t k = 0; k < lists; k++)
		ledger->page_lists[k] = rt_read_varint(&i->reader);
	for (uint64_t k = 0; ok(i) && k < lists; k++) {
		uint64_t count;

		open_node(&inner, ledger->page_lists[k], 'C', RT_STATE_PAGE_VERSION,
			  RT_STATE_PAGE_VERSION);
		count = rt_read_varint(&inner.reader);
		if (count > RT_STATE_LIST || count > pages - at ||
		    (k + 1 < lists && count != RT_STATE_LIST))
			inner.reader.ok = false;
		for (; inner.reader.ok && count > 0; count--)
			ledger->pages[at++] = rt_read_varint(&inner.reader);
		i->reader.ok = at_end(&inner);
	}
	i->reader.ok = i->reader.ok && at == pages;
}

static void
get_pages(input *i, rt_project *project, uint64_t discs)
{
	rt_ledger *ledger = project->ledger;
	input inner = {.scope = i->scope, .source = i->source, .bytes = i->bytes};
	uint64_t pages = (discs + RT_PAGE_CELLS - 1) / RT_PAGE_CELLS;
	uint64_t lists = (pages + RT_STATE_LIST - 1) / RT_STATE_LIST;

	if (discs > UINT32_MAX - 2 || lists > (uint64_t)(i->reader.end - i->reader.at) ||
	    i->source == NULL) {
		i->reader.ok = false;
		return;
	}
	ledger->pages = rt_new_array(i->scope->alloc, (size_t)pages + 1, sizeof(*ledger->pages));
	ledger->page_lists = rt_new_array(i->scope->alloc, (size_t)lists + 1,
					  sizeof(*ledger->page_lists));
	if (ledger->pages == NULL || ledger->page_lists == NULL) {
		(void)rt_scope_nomem(i->scope);
		return;
	}
	ledger->page_count = (size_t)pages;
	get_lists(i, ledger, lists);
	for (uint64_t k = 0; ok(i) && k < pages; k++) {
		uint64_t number = k * RT_PAGE_CELLS + 1;

		open_node(&inner, ledger->pages[k], 'P', RT_STATE_PAGE_VERSION,
			  RT_STATE_PAGE_VERSION);
		if (rt_read_varint(&inner.reader) != number ||
		    rt_read_varint(&inner.reader) != page_size(discs, number))
			inner.reader.ok = false;
		if (ok(&inner))
			get_cells(&inner, project, (uint32_t)number, page_size(discs, number),
				  ledger->pages[k]);
		i->reader.ok = at_end(&inner);
	}
}

/* Replaces a table of strings by the stored one. */
static void
get_strs(input *i, rt_str root, rt_strs **io)
{
	rt_strs *strs;

	if (!i->reader.ok)
		return;
	if (RT_TRY(i->scope, rt_strs_open(i->scope->alloc, i->source, root, &strs,
					  &i->scope->error)) == RT_OK) {
		rt_strs_free(*io);
		*io = strs;
	}
}

static void
replace_seq(input *i, const rt_seq **io)
{
	rt_seq_unref(*io);
	*io = get_seq(i);
}

static void
get_project(input *i, rt_project *project, uint64_t version)
{
	uint64_t discs, salt = 0;
	rt_str names, ids;

	project->seq = rt_read_varint(&i->reader);
	project->next_entry = (uint32_t)rt_read_varint(&i->reader);
	project->next_body = rt_read_varint(&i->reader);
	project->active = (uint32_t)rt_read_varint(&i->reader);
	for (unsigned k = 0; k < 8; k++)
		salt |= (uint64_t)rt_read_byte(&i->reader) << (8 * k);
	project->ledger->salt = salt;
	project->history = get_history(i);
	names = rt_read_str(&i->reader);
	ids = rt_read_str(&i->reader);
	get_strs(i, names, &project->ledger->names);
	get_strs(i, ids, &project->ledger->ids);
	replace_seq(i, &project->views);
	replace_seq(i, &project->entries);
	replace_seq(i, &project->owners);
	rt_object_unref(project->fields);
	project->fields = get_fields(i);
	discs = rt_read_varint(&i->reader);
	if (version > 1 && ok(i))
		get_pages(i, project, discs);
	for (uint64_t k = 1; version == 1 && k <= discs && ok(i); k += RT_PAGE_CELLS)
		get_cells(i, project, (uint32_t)k, page_size(discs, k), 0);
	if (rt_ok(i->scope) && !at_end(i))
		(void)rt_scope_fail(i->scope, RT_CORRUPT, "the checkpoint's root cannot be read");
}

rt_status
rt_state_open(const rt_alloc *alloc, const rt_seq_source *source, rt_str root,
	      const rt_project **out, rt_error *err)
{
	rt_scope scope;
	input i = {.scope = &scope, .source = source, .reader = rt_byte_reader_of(root)};
	const rt_project *made = NULL;
	unsigned char letter = rt_read_byte(&i.reader);
	uint64_t version = rt_read_varint(&i.reader);
	rt_status st;

	rt_scope_init(&scope, alloc);
	i.bytes = rt_scope_buf(&scope);
	(void)RT_TRY(&scope, rt_project_new(alloc, source, 0, &made, &scope.error));
	if (letter != 'R' || version < 1 || version > RT_STATE_VERSION)
		(void)rt_scope_fail(&scope, RT_CORRUPT, "the checkpoint has another version");
	if (rt_ok(&scope)) {
		rt_project *project = (rt_project *)(uintptr_t)made;

		rt_project_set_loader(project, &rt_state_loader);
		get_project(&i, project, version);
	}
	input_deinit(&i);
	st = rt_scope_end(&scope, err);
	if (st == RT_OK)
		*out = made;
	else
		rt_object_unref(made);
	return st;
}
