/* SPDX-License-Identifier: MIT
 *
 * The tree as columns: the trie of a discussion's takes, or the path of one take, as one
 * array for each property. It is what a large tree is drawn from: no row repeats the names of
 * its members, roles are numbers, and no text is read unless its beginning is wanted.
 *
 * All columns grow together, row by row, each in a buffer of its own. Bodies are read in runs. */
#include "log/engine_impl.h"
#include "view/view.h"
#include "view/view_trie.h"

enum {
	IS_MUTED = 1,
	IS_COLLAPSED = 2,
	IS_READ = 4,
	IS_RICH = 8,
	IS_OTHER = 16, /* in other takes */
	IS_EDITED = 32,
	IS_HIDDEN = 64,
	NAMES = UINT16_MAX + 1 /* numbers that a role or a kind may have in a slot */
};

/* A column of names: each is listed once, rows have its index. */
typedef struct names {
	uint32_t *index; /* by number; 0: not listed yet, else one more than its index */
	uint32_t count;
	rt_buf list, column;
} names;

typedef struct columns {
	rt_engine *engine;
	const rt_project *project;
	const rt_disc *disc;
	const rt_columns_options *options;
	names roles, kinds;
	rt_buf id, parent, flags, size, preview, labels, tips;
	rt_slot run[RT_BODY_RUN_MAX]; /* rows whose previews are not written yet */
	size_t run_count;
	size_t row;   /* the number of the next one */
	size_t head;  /* SIZE_MAX: none */
} columns;

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

/* An item of a column: numbers need no escaping, so the comma is known without a look. */
static void
add_number(rt_buf *column, int64_t number)
{
	if (column->size > 0)
		rt_buf_add_byte(column, ',');
	rt_buf_add_i64(column, number);
}

static rt_status
names_init(names *n, const rt_alloc *alloc)
{
	rt_buf_init(&n->list, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&n->column, alloc, RT_BUF_UNLIMITED);
	n->index = rt_new_array(alloc, NAMES, sizeof(*n->index));
	if (n->index == NULL)
		return RT_NOMEM;
	memset(n->index, 0, NAMES * sizeof(*n->index));
	return RT_OK;
}

static void
names_deinit(names *n, const rt_alloc *alloc)
{
	rt_free(alloc, n->index);
	rt_buf_deinit(&n->list);
	rt_buf_deinit(&n->column);
}

/* empty: what a name without letters is called. */
static rt_status
add_name(columns *c, names *n, uint16_t number, rt_str empty, rt_error *err)
{
	rt_str name;
	rt_status st = RT_OK;

	if (n->index[number] == 0) {
		st = rt_project_name(c->project, number, &name, err);
		if (st != RT_OK)
			return st;
		rt_json_add_comma(&n->list);
		rt_json_add_string(&n->list, name.size > 0 ? name : empty);
		n->index[number] = ++n->count;
	}
	add_number(&n->column, n->index[number] - 1);
	return st;
}

/* ---- rows ---- */

/* The previews of the rows that wait for theirs. */
static rt_status
end_run(columns *c, rt_error *err)
{
	rt_body_run bodies;
	size_t i;
	rt_status st = RT_OK;

	if (c->run_count == 0)
		return RT_OK;
	st = rt_engine_body_run(c->engine, c->run, c->run_count, &bodies, err);
	for (i = 0; st == RT_OK && i < c->run_count; i++) {
		rt_body body = {0};

		st = rt_body_read(c->engine->alloc,
				  rt_str_at(bodies.bytes.ptr + bodies.at[i], bodies.size[i]), &body,
				  err);
		if (st == RT_OK) {
			rt_json_add_comma(&c->preview);
			st = rt_view_add_preview(c->engine->alloc, &body, c->options->preview,
						 &c->preview, err);
		}
		rt_body_deinit(&body);
	}
	rt_buf_deinit(&bodies.bytes);
	c->run_count = 0;
	return st;
}

static bool
is_wanted(const columns *c, size_t row)
{
	return row >= c->options->from &&
	       (c->options->count == 0 || row - c->options->from < c->options->count);
}

static rt_status
add_label(columns *c, uint32_t entry, rt_error *err)
{
	rt_str label;
	rt_status st = rt_disc_label(c->project, c->disc, entry, &label, err);

	if (st == RT_OK && label.size > 0) {
		rt_json_add_comma(&c->labels);
		rt_buf_add_f(&c->labels, "\"%zu\":", c->row);
		rt_json_add_string(&c->labels, label);
	}
	return st;
}

/* The next row, if it is wanted. parent: its row, -1: none. */
static rt_status
add_row(columns *c, const rt_slot *slot, int64_t parent, bool differs, rt_error *err)
{
	char id[RT_ID_MAX + 1];
	unsigned view = 0, flags = 0;
	bool hidden = false;
	rt_status st;

	if (!is_wanted(c, c->row)) {
		c->row++;
		return RT_OK;
	}
	st = rt_entry_id(c->project, slot->entry, id, err);
	if (st == RT_OK)
		st = rt_project_view(c->project, slot->entry, &view, err);
	if (st == RT_OK)
		st = add_name(c, &c->roles, slot->role, rt_str_at("", 0), err);
	if (st == RT_OK)
		st = add_name(c, &c->kinds, slot->kind, RT_STR("message"), err);
	if (st == RT_OK)
		st = add_label(c, slot->entry, err);
	if (st == RT_OK)
		st = rt_view_is_hidden(c->engine, c->project, slot, &hidden, err);
	if (st != RT_OK)
		return st;
	rt_json_add_comma(&c->id);
	rt_json_add_string(&c->id, rt_str_of(id));
	add_number(&c->parent, parent);
	flags |= (slot->flags & RT_SLOT_MUTED) != 0 ? IS_MUTED : 0;
	flags |= (view & RT_VIEW_COLLAPSED) != 0 ? IS_COLLAPSED : 0;
	flags |= (view & RT_VIEW_READ_MODE) != 0 ? IS_READ : 0;
	flags |= (slot->flags & RT_SLOT_RICH) != 0 ? IS_RICH : 0;
	flags |= differs ? IS_OTHER : 0;
	flags |= (slot->flags & RT_SLOT_EDITED) != 0 ? IS_EDITED : 0;
	flags |= hidden ? IS_HIDDEN : 0;
	add_number(&c->flags, flags);
	add_number(&c->size, slot->size);
	c->row++;
	if (c->options->preview == 0)
		return RT_OK;
	c->run[c->run_count++] = *slot;
	return c->run_count == RT_BODY_RUN_MAX ? end_run(c, err) : RT_OK;
}

static void
add_tip(columns *c, uint32_t take, int64_t row)
{
	rt_json_add_comma(&c->tips);
	rt_buf_add_f(&c->tips, "\"t%u\":%lld", take, (long long)row);
}

/* ---- the tree ---- */

static rt_status
add_tree(columns *c, rt_error *err)
{
	const rt_alloc *alloc = c->engine->alloc;
	uint32_t *row_of = NULL, n;
	size_t i;
	rt_trie t;
	rt_status st = rt_trie_init(&t, alloc, c->project, c->disc, err);

	if (st == RT_OK) {
		row_of = rt_new_array(alloc, (size_t)t.count + 1, sizeof(*row_of));
		st = row_of != NULL ? RT_OK : nomem(err);
	}
	for (n = t.first_root; st == RT_OK && n != RT_TRIE_NONE; n = rt_trie_next(&t, n)) {
		uint32_t parent = t.nodes[n].parent;
		rt_slot slot = {0};

		row_of[n] = (uint32_t)c->row;
		if (is_wanted(c, c->row))
			st = rt_trie_shown(&t, n, &slot, err);
		if (st == RT_OK)
			st = add_row(c, &slot, parent != RT_TRIE_NONE ? (int64_t)row_of[parent] : -1,
				     t.nodes[n].differs, err);
	}
	for (i = 1; st == RT_OK && i <= rt_disc_take_count(c->disc); i++)
		if (rt_disc_take(c->disc, (uint32_t)i)->present)
			add_tip(c, (uint32_t)i, t.tip_node[i] != RT_TRIE_NONE
							? (int64_t)row_of[t.tip_node[i]]
							: -1);
	if (st == RT_OK && t.head != RT_TRIE_NONE)
		c->head = row_of[t.head];
	rt_free(alloc, row_of);
	rt_trie_deinit(&t);
	return st;
}

/* ---- one take ---- */

/* Which of its entries other takes hold in the same place, but not as it does: a bit each. */
static rt_status
find_others(columns *c, const rt_take *take, unsigned char *bits, rt_error *err)
{
	size_t i, at, common;
	rt_status st = RT_OK;

	for (i = 1; st == RT_OK && i <= rt_disc_take_count(c->disc); i++) {
		const rt_take *other = rt_disc_take(c->disc, (uint32_t)i);

		if (other == take || !other->present)
			continue;
		st = rt_seq_common(take->slots, other->slots, &common, err);
		for (at = 0; st == RT_OK && at < common; at++) {
			rt_slot a, b;

			st = rt_seq_differ(take->slots, other->slots, at, &at, err);
			if (st != RT_OK || at >= common)
				break;
			st = rt_seq_get(take->slots, at, &a, err);
			if (st == RT_OK)
				st = rt_seq_get(other->slots, at, &b, err);
			if (st == RT_OK && !rt_same_revision(&a, &b))
				bits[at / 8] |= (unsigned char)(1u << at % 8);
		}
	}
	return st;
}

/* The head is in the active take: its row here, where both begin the same as far as that. */
static rt_status
find_head(columns *c, const rt_take *take, rt_error *err)
{
	const rt_take *active = rt_disc_active(c->disc);
	size_t head_at = 0, common = SIZE_MAX;
	rt_status st = rt_disc_head_at(c->project, c->disc, &head_at, err);

	if (st == RT_OK && active != take)
		st = rt_seq_common(take->slots, active->slots, &common, err);
	if (st == RT_OK && head_at > 0 && head_at <= common)
		c->head = head_at - 1;
	return st;
}

static rt_status
add_take(columns *c, const rt_take *take, rt_error *err)
{
	size_t count = rt_seq_count(take->slots), at, i, end = count;
	unsigned char *bits = rt_new0(c->engine->alloc, count / 8 + 1);
	rt_status st = bits != NULL ? RT_OK : nomem(err);

	if (st == RT_OK && !c->options->bare)
		st = find_others(c, take, bits, err);
	if (st == RT_OK)
		st = find_head(c, take, err);
	at = c->options->from < count ? c->options->from : count;
	if (c->options->count != 0 && c->options->count < count - at)
		end = at + c->options->count;
	for (c->row = at; st == RT_OK && at < end;) {
		rt_slot slots[64];
		size_t run = end - at < 64 ? end - at : 64;

		st = rt_seq_copy(take->slots, at, run, slots, err);
		for (i = 0; st == RT_OK && i < run; i++, at++)
			st = add_row(c, &slots[i], (int64_t)at - 1,
				     (bits[at / 8] >> at % 8 & 1) != 0, err);
	}
	c->row = count;
	add_tip(c, take->number, (int64_t)count - 1);
	rt_free(c->engine->alloc, bits);
	return st;
}

/* ---- all of it ---- */

static void
add_column(rt_buf *buf, const char *key, const rt_buf *items)
{
	rt_json_add_key(buf, key);
	rt_buf_add_byte(buf, '[');
	rt_buf_add_str(buf, rt_buf_str(items));
	rt_buf_add_byte(buf, ']');
}

static rt_status
write(columns *c, rt_buf *buf, rt_error *err)
{
	rt_status st;

	rt_buf_add_c(buf, "{\"seq\":");
	rt_buf_add_u64(buf, c->project->seq);
	rt_buf_add_f(buf, ",\"discussion\":\"d%u\",\"count\":%zu,\"from\":%zu", c->disc->number, c->row,
		     c->options->from);
	add_column(buf, "roles", &c->roles.list);
	add_column(buf, "kinds", &c->kinds.list);
	rt_json_add_key(buf, "takes");
	st = rt_view_takes_first(c->engine, c->project, c->disc->number, false,
				 c->options->bare ? 0 : SIZE_MAX, 0, buf, err);
	add_column(buf, "id", &c->id);
	add_column(buf, "parent", &c->parent);
	add_column(buf, "role", &c->roles.column);
	add_column(buf, "kind", &c->kinds.column);
	add_column(buf, "flags", &c->flags);
	add_column(buf, "size", &c->size);
	if (c->options->preview > 0)
		add_column(buf, "preview", &c->preview);
	rt_buf_add_c(buf, ",\"labels\":{");
	rt_buf_add_str(buf, rt_buf_str(&c->labels));
	rt_buf_add_c(buf, "},\"head\":");
	rt_buf_add_i64(buf, c->head != SIZE_MAX ? (int64_t)c->head : -1);
	rt_buf_add_c(buf, ",\"tips\":{");
	rt_buf_add_str(buf, rt_buf_str(&c->tips));
	rt_buf_add_c(buf, "}}");
	if (st == RT_OK && (c->roles.list.status != RT_OK || c->roles.column.status != RT_OK ||
			    c->kinds.list.status != RT_OK || c->kinds.column.status != RT_OK ||
			    c->id.status != RT_OK || c->parent.status != RT_OK ||
			    c->flags.status != RT_OK || c->size.status != RT_OK ||
			    c->preview.status != RT_OK || c->labels.status != RT_OK ||
			    c->tips.status != RT_OK || buf->status != RT_OK))
		st = nomem(err);
	return st;
}

rt_status
rt_view_columns(rt_engine *engine, const rt_project *project, uint32_t disc_number,
		const rt_columns_options *options, rt_buf *buf, rt_error *err)
{
	rt_columns_options all = {0};
	columns *c = rt_new0(engine->alloc, sizeof(*c));
	rt_buf *lists[7];
	const rt_take *take = NULL;
	size_t i;
	rt_status st;

	if (c == NULL)
		return nomem(err);
	c->engine = engine;
	c->project = project;
	c->options = options != NULL ? options : &all;
	c->head = SIZE_MAX;
	lists[0] = &c->id;
	lists[1] = &c->parent;
	lists[2] = &c->flags;
	lists[3] = &c->size;
	lists[4] = &c->preview;
	lists[5] = &c->labels;
	lists[6] = &c->tips;
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		rt_buf_init(lists[i], engine->alloc, RT_BUF_UNLIMITED);
	st = names_init(&c->roles, engine->alloc);
	if (names_init(&c->kinds, engine->alloc) != RT_OK || st != RT_OK)
		st = nomem(err);
	if (st == RT_OK)
		st = rt_project_disc(project, disc_number != 0 ? disc_number : project->active,
				     &c->disc, err);
	if (st == RT_OK && c->options->take != 0) {
		take = rt_disc_take(c->disc, c->options->take);
		if (take == NULL)
			st = rt_fail(err, RT_NOT_FOUND, "no take t%u in d%u", c->options->take,
				     c->disc->number);
	}
	if (st == RT_OK)
		st = take != NULL ? add_take(c, take, err) : add_tree(c, err);
	if (st == RT_OK)
		st = end_run(c, err);
	if (st == RT_OK)
		st = write(c, buf, err);
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		rt_buf_deinit(lists[i]);
	names_deinit(&c->roles, engine->alloc);
	names_deinit(&c->kinds, engine->alloc);
	rt_free(engine->alloc, c);
	return st;
}
