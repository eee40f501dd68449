/* SPDX-License-Identifier: MIT
 *
 * Checkpoints to and from bytes. */
#include "codec/state.h"

#include "base/varint.h"

struct rt_state_pending {
	const rt_alloc *alloc;
	rt_seq_pending *nodes;
	rt_ledger *ledger;
	struct {
		const rt_page *page; /* referenced */
		size_t index;        /* of a discussion's line; PAGE: the page itself */
		uint64_t number;
	} *written;
	size_t written_count, written_room;
	uint64_t *pages, *lists; /* as the root has them */
	size_t page_count;
};

enum { PAGE = RT_PAGE_CELLS };

/* ---- writing ---- */

typedef struct sink {
	const rt_seq_writer *writer;
	rt_state_pending *pending;
	rt_error *err;
	rt_status status;
} sink;

static void
add_seq(sink *o, rt_buf *buf, const rt_seq *seq)
{
	rt_seq_root root;

	if (o->status != RT_OK)
		return;
	o->status = rt_seq_store(seq, o->writer, o->pending->nodes, &root, o->err);
	if (o->status != RT_OK)
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
	size_t i;

	rt_buf_add_varint(buf, rt_fields_count(fields));
	for (i = 0; i < rt_fields_count(fields); i++) {
		rt_buf_add_sized(buf, rt_fields_name(fields, i));
		rt_buf_add_sized(buf, rt_fields_value(fields, i));
	}
}

static void
add_disc(sink *o, rt_buf *buf, const rt_disc *disc)
{
	size_t i;

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
	for (i = 1; i <= rt_disc_take_count(disc); i++) {
		const rt_take *take = rt_disc_take(disc, (uint32_t)i);

		rt_buf_add_byte(buf, take->present);
		rt_buf_add_sized(buf, rt_text_str(take->name));
		rt_buf_add_sized(buf, rt_text_str(take->git_commit));
		add_seq(o, buf, take->slots);
		add_seq(o, buf, take->moved);
	}
}

/* A node was written for a line of a page, or for the page. */
static void
note_written(sink *o, const rt_page *page, size_t index, uint64_t number)
{
	rt_state_pending *p = o->pending;

	if (o->status != RT_OK)
		return;
	if (p->written_count == p->written_room) {
		size_t room = p->written_room == 0 ? 64 : p->written_room * 2;
		void *written = rt_resize(p->alloc, p->written, room * sizeof(*p->written));

		if (written == NULL) {
			o->status = rt_fail(o->err, RT_NOMEM, "out of memory");
			return;
		}
		p->written = written;
		p->written_room = room;
	}
	p->written[p->written_count].page = rt_object_ref(page);
	p->written[p->written_count].index = index;
	p->written[p->written_count++].number = number;
}

static uint64_t
write_node(sink *o, const rt_buf *bytes)
{
	uint64_t number = 0;

	if (o->status == RT_OK && bytes->status != RT_OK)
		o->status = rt_fail(o->err, bytes->status, "out of memory");
	if (o->status == RT_OK)
		o->status = o->writer->write(o->writer->ctx, rt_buf_str(bytes), &number, o->err);
	return number;
}

/* Of the node that a discussion is in; written where need be. */
static uint64_t
disc_node(sink *o, const rt_page *page, size_t index)
{
	rt_cell *cell = (rt_cell *)(uintptr_t)&page->cells[index];
	const rt_disc *disc = atomic_load(&cell->disc);
	uint64_t number = atomic_load(&cell->stored);
	rt_buf bytes;

	if (number != 0 || o->status != RT_OK)
		return number;
	RT_ASSERT(disc != NULL);
	rt_buf_init(&bytes, o->pending->alloc, RT_BUF_UNLIMITED);
	add_disc(o, &bytes, disc);
	number = write_node(o, &bytes);
	rt_buf_deinit(&bytes);
	note_written(o, page, index, number);
	return number;
}

static uint64_t
page_node(sink *o, const rt_page *page)
{
	uint64_t number = atomic_load(&((rt_page *)(uintptr_t)page)->stored);
	rt_buf bytes;
	size_t i;

	if (number != 0 || o->status != RT_OK)
		return number;
	rt_buf_init(&bytes, o->pending->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&bytes, 'P');
	rt_buf_add_varint(&bytes, RT_STATE_VERSION);
	rt_buf_add_varint(&bytes, page->cells[0].number);
	rt_buf_add_varint(&bytes, page->count);
	for (i = 0; i < page->count; i++) {
		rt_buf_add_byte(&bytes, page->cells[i].present);
		rt_buf_add_sized(&bytes, rt_cell_name(&page->cells[i]));
		rt_buf_add_varint(&bytes, disc_node(o, page, i));
	}
	number = write_node(o, &bytes);
	rt_buf_deinit(&bytes);
	note_written(o, page, PAGE, number);
	return number;
}

/* The catalogue: pages and lists that changed since the last checkpoint. */
static void
add_catalogue(sink *o, rt_buf *root, const rt_project *project)
{
	rt_state_pending *p = o->pending;
	const rt_ledger *ledger = project->ledger;
	size_t count = rt_vec_count(project->discs), lists = (count + RT_STATE_LIST - 1) / RT_STATE_LIST;
	size_t i, k;
	rt_buf bytes;

	p->pages = rt_new_array(p->alloc, count + 1, sizeof(*p->pages));
	p->lists = rt_new_array(p->alloc, lists + 1, sizeof(*p->lists));
	p->page_count = count;
	if (o->status == RT_OK && (p->pages == NULL || p->lists == NULL))
		o->status = rt_fail(o->err, RT_NOMEM, "out of memory");
	rt_buf_init(&bytes, p->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_varint(root, rt_project_disc_count(project));
	for (i = 0; o->status == RT_OK && i < lists; i++) {
		size_t first = i * RT_STATE_LIST;
		size_t end = count - first < RT_STATE_LIST ? count : first + RT_STATE_LIST;
		/* a list that is the same names the same pages */
		bool same = end <= ledger->page_count &&
			    (end < count || ledger->page_count == count) &&
			    ledger->page_lists[i] != 0;

		for (k = first; o->status == RT_OK && k < end; k++) {
			p->pages[k] = page_node(o, rt_vec_get(project->discs, k));
			same = same && ledger->pages[k] == p->pages[k];
		}
		if (same) {
			p->lists[i] = ledger->page_lists[i];
		} else {
			rt_buf_clear(&bytes);
			rt_buf_add_byte(&bytes, 'C');
			rt_buf_add_varint(&bytes, RT_STATE_VERSION);
			rt_buf_add_varint(&bytes, end - first);
			for (k = first; k < end; k++)
				rt_buf_add_varint(&bytes, p->pages[k]);
			p->lists[i] = write_node(o, &bytes);
		}
		rt_buf_add_varint(root, p->lists[i]);
	}
	rt_buf_deinit(&bytes);
}

static void
pending_end(rt_state_pending *pending, bool durable)
{
	size_t i;

	if (pending == NULL)
		return;
	for (i = 0; i < pending->written_count; i++) {
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

rt_status
rt_state_store(const rt_project *project, const rt_seq_writer *writer, rt_buf *out_root,
	       rt_state_pending **out_pending, rt_error *err)
{
	const rt_alloc *alloc = project->object.alloc;
	size_t i;
	sink o = {writer, NULL, err, RT_OK};
	unsigned char salt[8];
	rt_buf strs;

	o.pending = rt_new0(alloc, sizeof(*o.pending));
	if (o.pending == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	o.pending->alloc = alloc;
	o.pending->ledger = (rt_ledger *)(uintptr_t)rt_object_ref(project->ledger);
	o.pending->nodes = rt_seq_pending_new(alloc);
	if (o.pending->nodes == NULL)
		o.status = rt_fail(err, RT_NOMEM, "out of memory");
	rt_buf_init(&strs, alloc, RT_BUF_UNLIMITED);

	rt_buf_add_byte(out_root, 'R');
	rt_buf_add_varint(out_root, RT_STATE_VERSION);
	rt_buf_add_varint(out_root, project->seq);
	rt_buf_add_varint(out_root, project->next_entry);
	rt_buf_add_varint(out_root, project->next_body);
	rt_buf_add_varint(out_root, project->active);
	for (i = 0; i < 8; i++)
		salt[i] = (unsigned char)(project->ledger->salt >> (8 * i));
	rt_buf_add(out_root, salt, sizeof(salt));
	add_history(out_root, &project->history);
	if (o.status == RT_OK)
		o.status = rt_strs_store(project->ledger->names, writer, &strs, err);
	rt_buf_add_sized(out_root, rt_buf_str(&strs));
	rt_buf_clear(&strs);
	if (o.status == RT_OK)
		o.status = rt_strs_store(project->ledger->ids, writer, &strs, err);
	rt_buf_add_sized(out_root, rt_buf_str(&strs));
	rt_buf_deinit(&strs);
	add_seq(&o, out_root, project->views);
	add_seq(&o, out_root, project->entries);
	add_seq(&o, out_root, project->owners);
	add_fields(out_root, project->fields);
	if (o.status == RT_OK)
		add_catalogue(&o, out_root, project);
	if (o.status == RT_OK && out_root->status != RT_OK)
		o.status = rt_fail(err, out_root->status, "out of memory");
	if (o.status != RT_OK) {
		rt_state_cancel(o.pending);
		return o.status;
	}
	*out_pending = o.pending;
	return RT_OK;
}

/* ---- reading ---- */

typedef struct input {
	const rt_alloc *alloc;
	const rt_seq_source *source;
	rt_reader reader;
	rt_status status; /* RT_NOMEM, or RT_OK; what is malformed shows in the reader */
	const rt_seq *empty; /* that all empty ones are; NULL: none yet */
	rt_take **takes;     /* so far */
	size_t take_count, take_room;
} input;

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
	if (rt_seq_open(i->alloc, i->source, &root, &seq) != RT_OK)
		i->status = RT_NOMEM;
	else if (root.number == 0)
		i->empty = rt_seq_ref(seq);
	return seq;
}

static void
input_deinit(input *i)
{
	while (i->take_count > 0)
		rt_object_unref(i->takes[--i->take_count]);
	rt_free(i->alloc, i->takes);
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
	uint64_t count = rt_read_varint(&i->reader), k;
	const rt_fields *fields = NULL, *next;

	if (rt_fields_new(i->alloc, &fields) != RT_OK) {
		i->status = RT_NOMEM;
		return NULL;
	}
	for (k = 0; k < count && i->reader.ok && i->status == RT_OK; k++) {
		rt_str name = rt_read_str(&i->reader), value = rt_read_str(&i->reader);

		if (!i->reader.ok)
			break;
		if (rt_fields_set(fields, name, value, &next) != RT_OK) {
			i->status = RT_NOMEM;
			break;
		}
		rt_object_unref(fields);
		fields = next;
	}
	return fields;
}

/* Behind those in takes. */
static bool
keep_take(input *i, rt_take *take)
{
	if (i->take_count == i->take_room) {
		size_t room = i->take_room == 0 ? 16 : i->take_room * 2;
		rt_take **takes = rt_resize(i->alloc, i->takes, room * sizeof(*takes));

		if (takes == NULL)
			return false;
		i->takes = takes;
		i->take_room = room;
	}
	i->takes[i->take_count++] = take;
	return true;
}

static void
get_take(input *i, uint32_t number)
{
	bool present = rt_read_byte(&i->reader) != 0;
	rt_str name = rt_read_str(&i->reader), git = rt_read_str(&i->reader);
	const rt_seq *slots = get_seq(i), *moved = get_seq(i);
	rt_take *take = NULL;

	if (i->reader.ok && i->status == RT_OK) {
		i->status = rt_take_new(i->alloc, number, name, slots, moved, &take);
		if (i->status == RT_OK) {
			take->present = present;
			if (git.size > 0 &&
			    (take->git_commit = rt_text_new(i->alloc, git)) == NULL)
				i->status = RT_NOMEM;
		}
		if (i->status == RT_OK && !keep_take(i, take))
			i->status = RT_NOMEM;
		if (i->status != RT_OK)
			rt_object_unref(take);
	}
	rt_seq_unref(slots);
	rt_seq_unref(moved);
}

static rt_status
disc_load(const rt_project *project, uint64_t number, const rt_disc **out_disc, rt_error *err)
{
	const rt_seq_source *source = project->ledger->source;
	input i = {.alloc = project->object.alloc, .source = source};
	const rt_vec *vec = NULL;
	rt_disc *disc = NULL;
	rt_buf bytes;
	uint64_t head, takes, k;
	rt_status st;

	RT_ASSERT(source != NULL);
	rt_buf_init(&bytes, i.alloc, RT_BUF_UNLIMITED);
	st = source->read(source->ctx, number, &bytes, err);
	if (st == RT_OK && bytes.status != RT_OK)
		st = rt_fail(err, bytes.status, "out of memory");
	if (st != RT_OK)
		goto done;
	i.reader = rt_reader_of(rt_buf_str(&bytes));
	if (rt_read_byte(&i.reader) != 'D' || rt_read_varint(&i.reader) != RT_STATE_DISC_VERSION)
		i.reader.ok = false;
	if (rt_disc_new(i.alloc, (uint32_t)rt_read_varint(&i.reader), &disc) != RT_OK) {
		st = rt_fail(err, RT_NOMEM, "out of memory");
		goto done;
	}
	disc->active = (uint32_t)rt_read_varint(&i.reader);
	head = rt_read_varint(&i.reader);
	disc->head = head == 0 ? RT_HEAD_TIP : (uint32_t)(head - 1);
	disc->history = get_history(&i);
	rt_object_unref(disc->fields);
	disc->fields = get_fields(&i);
	rt_seq_unref(disc->labels);
	disc->labels = get_seq(&i);
	if (rt_read_byte(&i.reader) != 0) {
		const rt_seq *slots = get_seq(&i), *moved = get_seq(&i);
		rt_take *seed = NULL;

		if (i.status == RT_OK && i.reader.ok)
			i.status = rt_take_new(i.alloc, 1, RT_STR(""), slots, moved, &seed);
		disc->seed = seed;
		rt_seq_unref(slots);
		rt_seq_unref(moved);
	}
	takes = rt_read_varint(&i.reader);
	for (k = 1; k <= takes && i.reader.ok && i.status == RT_OK; k++)
		get_take(&i, (uint32_t)k);
	if (i.status == RT_OK)
		i.status = rt_vec_from(i.alloc, (const void *const *)i.takes, i.take_count, &vec);
	if (i.status == RT_OK) {
		rt_object_unref(disc->takes);
		disc->takes = vec;
	}
	if (i.status != RT_OK)
		st = rt_fail(err, i.status, "out of memory");
	else if (!i.reader.ok || i.reader.at != i.reader.end || rt_disc_active(disc) == NULL)
		st = rt_fail(err, RT_CORRUPT, "the checkpoint of a discussion (node %llu) cannot be read",
			     (unsigned long long)number);
done:
	input_deinit(&i);
	rt_buf_deinit(&bytes);
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
	rt_page *page = NULL;
	size_t k;

	for (k = 0; k < count; k++) {
		said[k].present = rt_read_byte(&i->reader) != 0;
		said[k].name = rt_read_str(&i->reader);
		said[k].disc = NULL;
		said[k].stored = rt_read_varint(&i->reader);
		if (said[k].stored == 0)
			i->reader.ok = false;
	}
	if (!i->reader.ok || i->status != RT_OK)
		return;
	page = rt_page_from(i->alloc, number, said, (size_t)count);
	i->status = page != NULL ? RT_OK : RT_NOMEM;
	if (page != NULL)
		atomic_store(&page->stored, stored);
	if (i->status == RT_OK)
		i->status = rt_vec_set(project->discs, (number - 1) / RT_PAGE_CELLS, page, &discs);
	if (i->status == RT_OK) {
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

/* Begin to read a node of its own. */
static rt_status
node_input(input *i, uint64_t number, char letter, rt_buf *bytes, rt_error *err)
{
	rt_status st;

	rt_buf_clear(bytes);
	st = i->source->read(i->source->ctx, number, bytes, err);
	if (st == RT_OK && bytes->status != RT_OK)
		st = rt_fail(err, bytes->status, "out of memory");
	if (st != RT_OK)
		return st;
	i->reader = rt_reader_of(rt_buf_str(bytes));
	if (rt_read_byte(&i->reader) != (unsigned char)letter ||
	    rt_read_varint(&i->reader) != RT_STATE_VERSION)
		i->reader.ok = false;
	return RT_OK;
}

static rt_status
get_pages(input *i, rt_project *project, uint64_t discs, rt_error *err)
{
	rt_ledger *ledger = project->ledger;
	uint64_t pages = (discs + RT_PAGE_CELLS - 1) / RT_PAGE_CELLS;
	uint64_t lists = (pages + RT_STATE_LIST - 1) / RT_STATE_LIST, k, at = 0, of_list;
	input inner = {.alloc = i->alloc, .source = i->source};
	rt_buf bytes;
	rt_status st = RT_OK;

	if (discs > UINT32_MAX - 2 || lists > (uint64_t)(i->reader.end - i->reader.at) ||
	    i->source == NULL) {
		i->reader.ok = false;
		return RT_OK;
	}
	ledger->pages = rt_new_array(i->alloc, (size_t)pages + 1, sizeof(*ledger->pages));
	ledger->page_lists = rt_new_array(i->alloc, (size_t)lists + 1, sizeof(*ledger->page_lists));
	if (ledger->pages == NULL || ledger->page_lists == NULL) {
		i->status = RT_NOMEM;
		return RT_OK;
	}
	ledger->page_count = (size_t)pages;
	for (k = 0; k < lists; k++)
		ledger->page_lists[k] = rt_read_varint(&i->reader);
	rt_buf_init(&bytes, i->alloc, RT_BUF_UNLIMITED);
	for (k = 0; st == RT_OK && i->reader.ok && (k == 0 || inner.reader.ok) && k < lists; k++) {
		st = node_input(&inner, ledger->page_lists[k], 'C', &bytes, err);
		if (st != RT_OK)
			break;
		of_list = rt_read_varint(&inner.reader);
		if (of_list > RT_STATE_LIST || of_list > pages - at ||
		    (k + 1 < lists && of_list != RT_STATE_LIST))
			inner.reader.ok = false;
		for (; inner.reader.ok && of_list > 0; of_list--)
			ledger->pages[at++] = rt_read_varint(&inner.reader);
		if (inner.reader.at != inner.reader.end)
			inner.reader.ok = false;
	}
	i->reader.ok = i->reader.ok && (lists == 0 || inner.reader.ok) && at == pages;
	for (k = 0; st == RT_OK && i->reader.ok && inner.status == RT_OK && k < pages; k++) {
		uint64_t number = k * RT_PAGE_CELLS + 1;

		st = node_input(&inner, ledger->pages[k], 'P', &bytes, err);
		if (st != RT_OK)
			break;
		if (rt_read_varint(&inner.reader) != number ||
		    rt_read_varint(&inner.reader) != page_size(discs, number))
			inner.reader.ok = false;
		if (inner.reader.ok)
			get_cells(&inner, project, (uint32_t)number, page_size(discs, number),
				  ledger->pages[k]);
		i->reader.ok = inner.reader.ok && inner.reader.at == inner.reader.end;
	}
	if (i->status == RT_OK)
		i->status = inner.status;
	rt_buf_deinit(&bytes);
	return st;
}

rt_status
rt_state_open(const rt_alloc *alloc, const rt_seq_source *source, rt_str root,
	      const rt_project **out, rt_error *err)
{
	input i = {.alloc = alloc, .source = source, .reader = rt_reader_of(root)};
	const rt_project *made = NULL;
	rt_project *project;
	uint64_t discs, k, version, salt = 0;
	rt_str names, ids;
	rt_strs *strs;
	rt_status st = rt_project_new(alloc, source, 0, &made, err);

	if (st != RT_OK)
		return st;
	project = (rt_project *)(uintptr_t)made;
	rt_project_set_loader(project, &rt_state_loader);
	k = rt_read_byte(&i.reader);
	version = rt_read_varint(&i.reader);
	if (k != 'R' || version < 1 || version > RT_STATE_VERSION) {
		rt_object_unref(project);
		return rt_fail(err, RT_CORRUPT, "the checkpoint is of another version");
	}
	project->seq = rt_read_varint(&i.reader);
	project->next_entry = (uint32_t)rt_read_varint(&i.reader);
	project->next_body = rt_read_varint(&i.reader);
	project->active = (uint32_t)rt_read_varint(&i.reader);
	for (k = 0; k < 8; k++)
		salt |= (uint64_t)rt_read_byte(&i.reader) << (8 * k);
	project->ledger->salt = salt;
	project->history = get_history(&i);
	names = rt_read_str(&i.reader);
	ids = rt_read_str(&i.reader);
	if (i.reader.ok) {
		st = rt_strs_open(alloc, source, names, &strs, err);
		if (st == RT_OK) {
			rt_strs_free(project->ledger->names);
			project->ledger->names = strs;
			st = rt_strs_open(alloc, source, ids, &strs, err);
		}
		if (st != RT_OK) {
			rt_object_unref(project);
			return st;
		}
		rt_strs_free(project->ledger->ids);
		project->ledger->ids = strs;
	}
	rt_seq_unref(project->views);
	project->views = get_seq(&i);
	rt_seq_unref(project->entries);
	project->entries = get_seq(&i);
	rt_seq_unref(project->owners);
	project->owners = get_seq(&i);
	rt_object_unref(project->fields);
	project->fields = get_fields(&i);
	discs = rt_read_varint(&i.reader);
	if (version > 1 && i.reader.ok && i.status == RT_OK)
		st = get_pages(&i, project, discs, err);
	for (k = 1; version == 1 && k <= discs && i.reader.ok && i.status == RT_OK;
	     k += RT_PAGE_CELLS)
		get_cells(&i, project, (uint32_t)k, page_size(discs, k), 0);
	input_deinit(&i);
	if (st == RT_OK && i.status == RT_OK && (!i.reader.ok || i.reader.at != i.reader.end))
		st = rt_fail(err, RT_CORRUPT, "the checkpoint's root cannot be read");
	else if (st == RT_OK && i.status != RT_OK)
		st = rt_fail(err, i.status, "out of memory");
	if (st != RT_OK) {
		rt_object_unref(project);
		return st;
	}
	*out = project;
	return RT_OK;
}

static rt_status
disc_numbers(const rt_disc *disc, bool (*fn)(void *ctx, uint64_t number), void *ctx, rt_error *err)
{
	size_t i;
	rt_status st = rt_seq_numbers(disc->labels, fn, ctx, err);

	if (st == RT_OK && disc->seed != NULL)
		st = rt_seq_numbers(disc->seed->slots, fn, ctx, err);
	if (st == RT_OK && disc->seed != NULL)
		st = rt_seq_numbers(disc->seed->moved, fn, ctx, err);
	for (i = 1; st == RT_OK && i <= rt_disc_take_count(disc); i++) {
		const rt_take *take = rt_disc_take(disc, (uint32_t)i);

		st = rt_seq_numbers(take->slots, fn, ctx, err);
		if (st == RT_OK)
			st = rt_seq_numbers(take->moved, fn, ctx, err);
	}
	return st;
}

rt_status
rt_state_numbers(const rt_project *project, bool (*fn)(void *ctx, uint64_t number), void *ctx,
		 rt_error *err)
{
	size_t i;
	rt_status st = rt_seq_numbers(project->views, fn, ctx, err);

	if (st == RT_OK)
		st = rt_seq_numbers(project->entries, fn, ctx, err);
	if (st == RT_OK)
		st = rt_seq_numbers(project->owners, fn, ctx, err);
	if (st == RT_OK)
		st = rt_strs_numbers(project->ledger->names, fn, ctx);
	if (st == RT_OK)
		st = rt_strs_numbers(project->ledger->ids, fn, ctx);
	for (i = 0; st == RT_OK && i < project->ledger->page_count; i++) {
		(void)fn(ctx, project->ledger->pages[i]);
		if (i % RT_STATE_LIST == 0)
			(void)fn(ctx, project->ledger->page_lists[i / RT_STATE_LIST]);
	}
	for (i = 1; st == RT_OK && i <= rt_project_disc_count(project); i++) {
		rt_cell *cell = (rt_cell *)(uintptr_t)rt_project_cell(project, (uint32_t)i);
		const rt_disc *disc = NULL;

		if (atomic_load(&cell->stored) != 0)
			(void)fn(ctx, atomic_load(&cell->stored));
		st = rt_project_disc_peek(project, (uint32_t)i, &disc, err);
		if (st == RT_OK)
			st = disc_numbers(disc, fn, ctx, err);
		rt_object_unref(disc);
	}
	return st;
}
