/* SPDX-License-Identifier: MIT
 *
 * Checkpoints to and from bytes. */
#include "codec/state.h"

#include "base/scope.h"
#include "base/varint.h"

struct rt_state_pending {
	const rt_alloc *alloc;
	rt_seq_pending *nodes;
	rt_ledger *ledger;
	struct {
		const rt_page *page; /* referenced */
		size_t index;        /* of a discussion's line; PAGE: the page itself */
		uint64_t number;
	} * written;
	size_t written_count, written_room;
	uint64_t *pages, *lists; /* by their numbers in the root */
	size_t page_count;
};

enum { PAGE = RT_PAGE_CELLS };

/* ---- writing ---- */

typedef struct sink {
	rt_scope scope;
	const rt_seq_writer *writer;
	rt_state_pending *pending;
	rt_buf *disc, *page, *list, *strs; /* the nodes being written */
} sink;

static void
add_seq(sink *o, rt_buf *buf, const rt_seq *seq)
{
	rt_seq_root root;

	if (RT_TRY(&o->scope, rt_seq_store(seq, o->writer, o->pending->nodes, &root,
					   &o->scope.error)) != RT_OK)
		return;
	rt_buf_add_varint(buf, root.number);
	if (root.number == 0)
		return;
	rt_buf_add_varint(buf, root.height);
	rt_buf_add_varint(buf, root.first_key);
	rt_buf_add_varint(buf, root.sum.count);
	rt_buf_add_varint(buf, root.sum.bytes);
	rt_buf_add_varint(buf, root.sum.turns);
}

static void
add_history(rt_buf *buf, const rt_history *h)
{
	rt_buf_add_varint(buf, h->current);
	rt_buf_add_varint(buf, h->last_step);
	rt_buf_add_varint(buf, h->redo_row);
	rt_buf_add_varint(buf, h->redo_move);
}

static void
add_fields(rt_buf *buf, const rt_fields *fields)
{
	rt_buf_add_varint(buf, rt_fields_count(fields));
	for (size_t i = 0; i < rt_fields_count(fields); i++) {
		rt_buf_add_sized(buf, rt_fields_name(fields, i));
		rt_buf_add_sized(buf, rt_fields_value(fields, i));
	}
}

static void
add_disc(sink *o, rt_buf *buf, const rt_disc *disc)
{
	rt_buf_add_byte(buf, 'D');
	rt_buf_add_varint(buf, RT_STATE_DISC_VERSION);
	rt_buf_add_varint(buf, disc->number);
	rt_buf_add_varint(buf, disc->active);
	rt_buf_add_varint(buf, disc->head == RT_HEAD_TIP ? 0 : (uint64_t)disc->head + 1);
	add_history(buf, &disc->history);
	add_fields(buf, disc->fields);
	add_seq(o, buf, disc->labels);
	rt_buf_add_byte(buf, disc->seed != NULL);
	if (disc->seed != NULL) {
		add_seq(o, buf, disc->seed->slots);
		add_seq(o, buf, disc->seed->moved);
	}
	rt_buf_add_varint(buf, rt_disc_take_count(disc));
	for (uint32_t i = 1; i <= rt_disc_take_count(disc); i++) {
		const rt_take *take = rt_disc_take(disc, i);

		rt_buf_add_byte(buf, take->present);
		rt_buf_add_sized(buf, rt_text_str(take->name));
		rt_buf_add_sized(buf, rt_text_str(take->git_commit));
		add_seq(o, buf, take->slots);
		add_seq(o, buf, take->moved);
		rt_buf_add_varint(buf, take->row);
	}
}

/* A node was written for a line of a page, or for the page. */
static void
note_written(sink *o, const rt_page *page, size_t index, uint64_t number)
{
	rt_state_pending *p = o->pending;

	if (!rt_ok(&o->scope))
		return;
	if (rt_array_add(p->alloc, &p->written, &p->written_count, &p->written_room,
			 sizeof(*p->written)) == NULL) {
		(void)rt_scope_nomem(&o->scope);
		return;
	}
	p->written[p->written_count - 1].page = rt_object_ref(page);
	p->written[p->written_count - 1].index = index;
	p->written[p->written_count - 1].number = number;
}

static uint64_t
write_node(sink *o, const rt_buf *bytes)
{
	rt_str node = rt_scope_str(&o->scope, bytes);
	uint64_t number = 0;

	(void)RT_TRY(&o->scope, o->writer->write(o->writer->ctx, node, &number, &o->scope.error));
	return number;
}

/* The number of a discussion's node, which is written unless it is stored already. */
static uint64_t
disc_node(sink *o, const rt_page *page, size_t index)
{
	rt_cell *cell = (rt_cell *)(uintptr_t)&page->cells[index];
	const rt_disc *disc = atomic_load(&cell->disc);
	uint64_t number = atomic_load(&cell->stored);

	if (number != 0 || !rt_ok(&o->scope))
		return number;
	RT_ASSERT(disc != NULL);
	rt_buf_clear(o->disc);
	add_disc(o, o->disc, disc);
	number = write_node(o, o->disc);
	note_written(o, page, index, number);
	return number;
}

static uint64_t
page_node(sink *o, const rt_page *page)
{
	uint64_t number = atomic_load(&((rt_page *)(uintptr_t)page)->stored);

	if (number != 0 || !rt_ok(&o->scope))
		return number;
	rt_buf_clear(o->page);
	rt_buf_add_byte(o->page, 'P');
	rt_buf_add_varint(o->page, RT_STATE_PAGE_VERSION);
	rt_buf_add_varint(o->page, page->cells[0].number);
	rt_buf_add_varint(o->page, page->count);
	for (size_t i = 0; i < page->count; i++) {
		rt_buf_add_byte(o->page, page->cells[i].present);
		rt_buf_add_sized(o->page, rt_cell_name(&page->cells[i]));
		rt_buf_add_varint(o->page, disc_node(o, page, i));
	}
	number = write_node(o, o->page);
	note_written(o, page, PAGE, number);
	return number;
}

/* The catalogue: pages and lists that changed since the last checkpoint. */
static void
add_catalogue(sink *o, rt_buf *root, const rt_project *project)
{
	rt_state_pending *p = o->pending;
	const rt_ledger *ledger = project->ledger;
	size_t count = rt_vec_count(project->discs),
	       lists = (count + RT_STATE_LIST - 1) / RT_STATE_LIST;

	p->pages = rt_new_array(p->alloc, count + 1, sizeof(*p->pages));
	p->lists = rt_new_array(p->alloc, lists + 1, sizeof(*p->lists));
	p->page_count = count;
	if (p->pages == NULL || p->lists == NULL)
		(void)rt_scope_nomem(&o->scope);
	rt_buf_add_varint(root, rt_project_disc_count(project));
	for (size_t i = 0; rt_ok(&o->scope) && i < lists; i++) {
		size_t first = i * RT_STATE_LIST;
		size_t end = count - first < RT_STATE_LIST ? count : first + RT_STATE_LIST;
		/* an unchanged list names the same pages */
		bool same = end <= ledger->page_count &&
			    (end < count || ledger->page_count == count) &&
			    ledger->page_lists[i] != 0;

		for (size_t k = first; rt_ok(&o->scope) && k < end; k++) {
			p->pages[k] = page_node(o, rt_vec_get(project->discs, k));
			same = same && ledger->pages[k] == p->pages[k];
		}
		if (same) {
			p->lists[i] = ledger->page_lists[i];
		} else {
			rt_buf_clear(o->list);
			rt_buf_add_byte(o->list, 'C');
			rt_buf_add_varint(o->list, RT_STATE_PAGE_VERSION);
			rt_buf_add_varint(o->list, end - first);
			for (size_t k = first; k < end; k++)
				rt_buf_add_varint(o->list, p->pages[k]);
			p->lists[i] = write_node(o, o->list);
		}
		rt_buf_add_varint(root, p->lists[i]);
	}
}

/* Releases the state of a checkpoint that is now on disk or never will be. */
static void
pending_end(rt_state_pending *pending, bool durable)
{
	if (pending == NULL)
		return;
	for (size_t i = 0; i < pending->written_count; i++) {
		rt_page *page = (rt_page *)(uintptr_t)pending->written[i].page;
		size_t index = pending->written[i].index;

		if (durable)
			atomic_store(index == PAGE ? &page->stored : &page->cells[index].stored,
				     pending->written[i].number);
		rt_object_unref(page);
	}
	if (durable) {
		rt_free(pending->alloc, pending->ledger->pages);
		rt_free(pending->alloc, pending->ledger->page_lists);
		pending->ledger->pages = pending->pages;
		pending->ledger->page_lists = pending->lists;
		pending->ledger->page_count = pending->page_count;
	} else {
		rt_free(pending->alloc, pending->pages);
		rt_free(pending->alloc, pending->lists);
	}
	rt_strs_stored(pending->ledger->names, durable);
	rt_strs_stored(pending->ledger->ids, durable);
	if (durable)
		rt_seq_pending_commit(pending->nodes);
	else
		rt_seq_pending_cancel(pending->nodes);
	rt_object_unref(pending->ledger);
	rt_free(pending->alloc, pending->written);
	rt_free(pending->alloc, pending);
}

void
rt_state_commit(rt_state_pending *pending)
{
	pending_end(pending, true);
}

void
rt_state_cancel(rt_state_pending *pending)
{
	pending_end(pending, false);
}

static void
add_strs(sink *o, rt_buf *root, rt_strs *strs)
{
	rt_buf_clear(o->strs);
	(void)RT_TRY(&o->scope, rt_strs_store(strs, o->writer, o->strs, &o->scope.error));
	rt_buf_add_sized(root, rt_scope_str(&o->scope, o->strs));
}

static void
add_root(sink *o, rt_buf *root, const rt_project *project)
{
	rt_buf_add_byte(root, 'R');
	rt_buf_add_varint(root, RT_STATE_VERSION);
	rt_buf_add_varint(root, project->seq);
	rt_buf_add_varint(root, project->next_entry);
	rt_buf_add_varint(root, project->next_body);
	rt_buf_add_varint(root, project->active);
	for (size_t i = 0; i < 8; i++)
		rt_buf_add_byte(root, (char)(project->ledger->salt >> (8 * i) & 0xFF));
	add_history(root, &project->history);
	add_strs(o, root, project->ledger->names);
	add_strs(o, root, project->ledger->ids);
	add_seq(o, root, project->views);
	add_seq(o, root, project->entries);
	add_seq(o, root, project->owners);
	add_fields(root, project->fields);
	add_catalogue(o, root, project);
	(void)rt_scope_str(&o->scope, root);
}

rt_status
rt_state_store(const rt_project *project, const rt_seq_writer *writer, rt_buf *out_root,
	       rt_state_pending **out_pending, rt_error *err)
{
	const rt_alloc *alloc = project->object.alloc;
	sink o = {.writer = writer, .pending = rt_new0(alloc, sizeof(*o.pending))};
	rt_status st;

	if (o.pending == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	o.pending->alloc = alloc;
	o.pending->ledger = (rt_ledger *)(uintptr_t)rt_object_ref(project->ledger);
	o.pending->nodes = rt_seq_pending_new(alloc);
	rt_scope_init(&o.scope, alloc);
	if (o.pending->nodes == NULL)
		(void)rt_scope_nomem(&o.scope);
	o.disc = rt_scope_buf(&o.scope);
	o.page = rt_scope_buf(&o.scope);
	o.list = rt_scope_buf(&o.scope);
	o.strs = rt_scope_buf(&o.scope);
	if (rt_ok(&o.scope))
		add_root(&o, out_root, project);
	st = rt_scope_end(&o.scope, err);
	if (st != RT_OK)
		rt_state_cancel(o.pending);
	else
		*out_pending = o.pending;
	return st;
}

/* ---- reading ---- */

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

/* ---- the numbers of all nodes ---- */

typedef struct visit {
	rt_scope scope;
	bool (*fn)(void *ctx, uint64_t number);
	void *ctx;
} visit;

static void
visit_seq(visit *v, const rt_seq *seq)
{
	(void)RT_TRY(&v->scope, rt_seq_numbers(seq, v->fn, v->ctx, &v->scope.error));
}

static void
visit_take(visit *v, const rt_take *take)
{
	visit_seq(v, take->slots);
	visit_seq(v, take->moved);
}

static void
visit_disc(visit *v, const rt_disc *disc)
{
	visit_seq(v, disc->labels);
	if (disc->seed != NULL)
		visit_take(v, disc->seed);
	for (uint32_t i = 1; rt_ok(&v->scope) && i <= rt_disc_take_count(disc); i++)
		visit_take(v, rt_disc_take(disc, i));
}

rt_status
rt_state_numbers(const rt_project *project, bool (*fn)(void *ctx, uint64_t number), void *ctx,
		 rt_error *err)
{
	visit v = {.fn = fn, .ctx = ctx};
	const rt_ledger *ledger = project->ledger;

	rt_scope_init(&v.scope, project->object.alloc);
	visit_seq(&v, project->views);
	visit_seq(&v, project->entries);
	visit_seq(&v, project->owners);
	(void)RT_TRY(&v.scope, rt_strs_numbers(ledger->names, fn, ctx));
	(void)RT_TRY(&v.scope, rt_strs_numbers(ledger->ids, fn, ctx));
	for (size_t i = 0; rt_ok(&v.scope) && i < ledger->page_count; i++) {
		(void)fn(ctx, ledger->pages[i]);
		if (i % RT_STATE_LIST == 0)
			(void)fn(ctx, ledger->page_lists[i / RT_STATE_LIST]);
	}
	for (uint32_t i = 1; rt_ok(&v.scope) && i <= rt_project_disc_count(project); i++) {
		rt_cell *cell = (rt_cell *)(uintptr_t)rt_project_cell(project, i);
		const rt_disc *disc = NULL;

		if (atomic_load(&cell->stored) != 0)
			(void)fn(ctx, atomic_load(&cell->stored));
		if (RT_TRY(&v.scope, rt_project_disc_peek(project, i, &disc, &v.scope.error)) ==
		    RT_OK)
			visit_disc(&v, disc);
		rt_object_unref(disc);
	}
	return rt_scope_end(&v.scope, err);
}
