/* SPDX-License-Identifier: MIT
 *
 * Checkpoints as bytes, and the numbers of their nodes. state_read.c reads them. */
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
