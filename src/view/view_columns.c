/* SPDX-License-Identifier: MIT
 *
 * The tree as columns: the trie of a discussion's takes, or the path of one take, as one array for
 * each property. A large tree is drawn from it: no row repeats the names of its members, roles are
 * numbers, and no text is read unless previews are requested.
 *
 * All columns grow together, row by row, each in a separate buffer. Bodies are read in runs. */
#include "log/engine_impl.h"
#include "view/view.h"
#include "view/view_impl.h"
#include "view/view_trie.h"

/* flags of a row */
enum {
	IS_MUTED = 1,
	IS_COLLAPSED = 2,
	IS_READ_MODE = 4,
	IS_RICH = 8,
	DIFFERS = 16, /* in other takes */
	IS_EDITED = 32,
	IS_HIDDEN = 64
};

enum { NAME_COUNT = UINT16_MAX + 1 /* numbers that a role or a kind may have in a slot */ };

/* A column of names: each is listed once, rows have its index. */
typedef struct names {
	uint32_t *index; /* by number; 0: not listed yet, else one more than its index */
	uint32_t count;
	rt_buf *list, *column;
} names;

typedef struct columns {
	rt_scope *scope;
	rt_engine *engine;
	const rt_project *project;
	const rt_disc *disc;
	const rt_columns_options *options;
	names roles, kinds;
	rt_buf *id, *parent, *flags, *size, *preview, *labels, *tips;
	rt_slot run[RT_BODY_RUN_MAX]; /* rows whose previews are not written yet */
	size_t run_count;
	rt_scope *text; /* memory of one preview */
	size_t row;  /* the number of the next one */
	size_t head; /* SIZE_MAX: none */
} columns;

/* An item of a column: numbers need no escaping, so the comma is known without a look. */
static void
add_number(rt_buf *column, int64_t number)
{
	if (column->size > 0)
		rt_buf_add_byte(column, ',');
	rt_buf_add_i64(column, number);
}

static names
new_names(rt_scope *s)
{
	return (names){.index = rt_scope_array(s, NAME_COUNT, sizeof(uint32_t)),
		       .list = rt_scope_buf(s),
		       .column = rt_scope_buf(s)};
}

static void
add_name(names *n, uint16_t number, rt_str name)
{
	if (n->index[number] == 0) {
		rt_json_put_str(n->list, NULL, name);
		n->index[number] = ++n->count;
	}
	add_number(n->column, n->index[number] - 1);
}

/* ---- rows ---- */

/* Writes the previews of the rows that have none yet. */
static void
end_run(columns *c)
{
	rt_scope *s = c->scope;
	rt_body_run bodies;

	if (c->run_count == 0 || !rt_ok(s))
		return;
	RT_TRY(s, rt_engine_body_run(c->engine, c->run, c->run_count, &bodies, &s->error));
	for (size_t i = 0; rt_ok(s) && i < c->run_count; i++) {
		rt_str bytes = rt_str_at(bodies.bytes.ptr + bodies.at[i], bodies.size[i]);
		rt_body body = {0};

		if (RT_TRY(s, rt_body_read(s->alloc, bytes, &body, &s->error)) == RT_OK) {
			rt_scope_reset(c->text);
			rt_str kind = rt_view_kind(c->text, c->project, c->run[i].kind);
			rt_str role = rt_view_name(c->text, c->project, c->run[i].role);
			rt_json_put_str(c->preview, NULL,
					rt_view_row_preview(c->text, kind, role, &body,
							    c->options->preview));
			rt_scope_adopt(s, c->text);
		}
		rt_body_deinit(&body);
	}
	rt_buf_deinit(&bodies.bytes);
	c->run_count = 0;
}

static bool
is_wanted(const columns *c, size_t row)
{
	return row >= c->options->from &&
	       (c->options->count == 0 || row - c->options->from < c->options->count);
}

/* The next row, if it is within the window. parent: its row, -1: none. */
static void
add_row(columns *c, const rt_slot *slot, int64_t parent, bool differs)
{
	rt_scope *s = c->scope;
	char id[RT_ID_MAX + 1];
	unsigned view = 0;
	bool hidden = false;

	if (!is_wanted(c, c->row)) {
		c->row++;
		return;
	}
	rt_str role = rt_view_name(s, c->project, slot->role);
	rt_str kind = rt_view_kind(s, c->project, slot->kind);
	rt_str label = rt_view_label(s, c->project, c->disc, slot->entry);

	RT_TRY(s, rt_entry_id(c->project, slot->entry, id, &s->error));
	RT_TRY(s, rt_project_view(c->project, slot->entry, &view, &s->error));
	RT_TRY(s, rt_view_is_hidden(c->engine, c->project, slot, &hidden, &s->error));
	if (!rt_ok(s))
		return;
	rt_json_put_c(c->id, NULL, id);
	add_number(c->parent, parent);
	add_name(&c->roles, slot->role, role);
	add_name(&c->kinds, slot->kind, kind);
	add_number(c->flags, ((slot->flags & RT_SLOT_MUTED) != 0 ? IS_MUTED : 0) |
				     ((view & RT_VIEW_COLLAPSED) != 0 ? IS_COLLAPSED : 0) |
				     ((view & RT_VIEW_READ_MODE) != 0 ? IS_READ_MODE : 0) |
				     ((slot->flags & RT_SLOT_RICH) != 0 ? IS_RICH : 0) |
				     (differs ? DIFFERS : 0) |
				     ((slot->flags & RT_SLOT_EDITED) != 0 ? IS_EDITED : 0) |
				     (hidden ? IS_HIDDEN : 0));
	add_number(c->size, slot->size);
	if (label.ptr != NULL) {
		rt_json_add_comma(c->labels);
		rt_buf_add_f(c->labels, "\"%zu\":", c->row);
		rt_json_add_string(c->labels, label);
	}
	c->row++;
	if (c->options->preview == 0)
		return;
	c->run[c->run_count++] = *slot;
	if (c->run_count == RT_BODY_RUN_MAX)
		end_run(c);
}

static void
add_tip(columns *c, uint32_t take, int64_t row)
{
	rt_json_add_comma(c->tips);
	rt_buf_add_f(c->tips, "\"t%u\":%lld", take, (long long)row);
}

/* ---- the tree ---- */

static void
close_trie(void *trie)
{
	rt_trie_deinit(trie);
}

static void
add_tree(columns *c)
{
	rt_scope *s = c->scope;
	rt_trie *t = rt_scope_get(s, sizeof(*t));

	if (t == NULL)
		return;
	t->alloc = s->alloc;
	rt_scope_defer(s, close_trie, t);
	RT_TRY(s, rt_trie_init(t, s->alloc, c->project, c->disc, &s->error));
	uint32_t *row_of = rt_scope_array(s, (size_t)t->count + 1, sizeof(*row_of));

	for (uint32_t n = t->first_root; rt_ok(s) && n != RT_TRIE_NONE; n = rt_trie_next(t, n)) {
		uint32_t parent = t->nodes[n].parent;
		rt_slot slot = {0};

		row_of[n] = (uint32_t)c->row;
		if (is_wanted(c, c->row))
			RT_TRY(s, rt_trie_shown(t, n, &slot, &s->error));
		if (rt_ok(s))
			add_row(c, &slot, parent != RT_TRIE_NONE ? (int64_t)row_of[parent] : -1,
				t->nodes[n].differs);
	}
	for (uint32_t i = 1; rt_ok(s) && i <= rt_disc_take_count(c->disc); i++)
		if (rt_disc_take(c->disc, i)->present)
			add_tip(c, i, t->tip_node[i] != RT_TRIE_NONE
					      ? (int64_t)row_of[t->tip_node[i]]
					      : -1);
	if (rt_ok(s) && t->head != RT_TRIE_NONE)
		c->head = row_of[t->head];
}

/* ---- one take ---- */

/* The entries that other takes have in the same place with other content: one bit each. */
static void
find_differences(columns *c, const rt_take *take, unsigned char *bits)
{
	rt_scope *s = c->scope;

	for (uint32_t i = 1; rt_ok(s) && i <= rt_disc_take_count(c->disc); i++) {
		const rt_take *other = rt_disc_take(c->disc, i);
		size_t common = 0;

		if (other == take || !other->present)
			continue;
		RT_TRY(s, rt_seq_common(take->slots, other->slots, &common, &s->error));
		for (size_t at = 0; rt_ok(s) && at < common; at++) {
			rt_slot a, b;

			RT_TRY(s, rt_seq_differ(take->slots, other->slots, at, &at, &s->error));
			if (!rt_ok(s) || at >= common)
				break;
			RT_TRY(s, rt_seq_get(take->slots, at, &a, &s->error));
			RT_TRY(s, rt_seq_get(other->slots, at, &b, &s->error));
			if (rt_ok(s) && !rt_same_revision(&a, &b))
				bits[at / 8] |= (unsigned char)(1u << at % 8);
		}
	}
}

/* The head is in the active take: its row here, if both takes are equal up to there. */
static void
find_head(columns *c, const rt_take *take)
{
	const rt_take *active = rt_disc_active(c->disc);
	size_t head_at = 0, common = SIZE_MAX;
	rt_scope *s = c->scope;

	RT_TRY(s, rt_disc_head_at(c->project, c->disc, &head_at, &s->error));
	if (active != take)
		RT_TRY(s, rt_seq_common(take->slots, active->slots, &common, &s->error));
	if (rt_ok(s) && head_at > 0 && head_at <= common)
		c->head = head_at - 1;
}

static void
add_take(columns *c, const rt_take *take)
{
	rt_scope *s = c->scope;
	size_t count = rt_seq_count(take->slots), end = count;
	size_t at = c->options->from < count ? c->options->from : count;
	unsigned char *bits = rt_scope_get(s, count / 8 + 1);

	if (!c->options->bare)
		find_differences(c, take, bits);
	find_head(c, take);
	if (c->options->count != 0 && c->options->count < count - at)
		end = at + c->options->count;
	for (c->row = at; rt_ok(s) && at < end;) {
		rt_slot slots[64];
		size_t run = end - at < 64 ? end - at : 64;

		RT_TRY(s, rt_seq_copy(take->slots, at, run, slots, &s->error));
		for (size_t i = 0; rt_ok(s) && i < run; i++, at++)
			add_row(c, &slots[i], (int64_t)at - 1, (bits[at / 8] >> at % 8 & 1) != 0);
	}
	c->row = count;
	add_tip(c, take->number, (int64_t)count - 1);
}

/* ---- all of it ---- */

static void
put_list(columns *c, rt_buf *buf, const char *key, char open, const rt_buf *items, char close)
{
	rt_json_open(buf, key, open);
	rt_buf_add_str(buf, rt_scope_str(c->scope, items));
	rt_json_close(buf, close);
}

static void
write(columns *c, rt_buf *buf)
{
	rt_scope *s = c->scope;

	rt_buf_add_c(buf, "{\"seq\":");
	rt_buf_add_u64(buf, c->project->seq);
	rt_buf_add_f(buf, ",\"discussion\":\"d%u\",\"count\":%zu,\"from\":%zu", c->disc->number,
		     c->row, c->options->from);
	put_list(c, buf, "roles", '[', c->roles.list, ']');
	put_list(c, buf, "kinds", '[', c->kinds.list, ']');
	rt_json_add_key(buf, "takes");
	RT_TRY(s, rt_view_takes_first(c->engine, c->project, c->disc->number, false,
				      c->options->bare ? 0 : SIZE_MAX, 0, buf, &s->error));
	put_list(c, buf, "id", '[', c->id, ']');
	put_list(c, buf, "parent", '[', c->parent, ']');
	put_list(c, buf, "role", '[', c->roles.column, ']');
	put_list(c, buf, "kind", '[', c->kinds.column, ']');
	put_list(c, buf, "flags", '[', c->flags, ']');
	put_list(c, buf, "size", '[', c->size, ']');
	if (c->options->preview > 0)
		put_list(c, buf, "preview", '[', c->preview, ']');
	put_list(c, buf, "labels", '{', c->labels, '}');
	rt_json_put_i64(buf, "head", c->head != SIZE_MAX ? (int64_t)c->head : -1);
	put_list(c, buf, "tips", '{', c->tips, '}');
	rt_json_close(buf, '}');
	(void)rt_scope_note(s, buf->status);
}

rt_status
rt_view_columns(rt_engine *engine, const rt_project *project, uint32_t disc,
		const rt_columns_options *options, rt_buf *buf, rt_error *err)
{
	rt_columns_options all = {0};
	const rt_take *take = NULL;
	rt_scope s;
	rt_view view = {&s, engine, project, {disc, 0}};

	rt_scope_init(&s, engine->alloc);
	columns *c = rt_scope_get(&s, sizeof(*c));

	if (c == NULL)
		return rt_scope_end(&s, err);
	*c = (columns){
		.scope = &s,
		.engine = engine,
		.project = project,
		.disc = rt_view_disc(&view),
		.options = options != NULL ? options : &all,
		.roles = new_names(&s),
		.kinds = new_names(&s),
		.id = rt_scope_buf(&s),
		.parent = rt_scope_buf(&s),
		.flags = rt_scope_buf(&s),
		.size = rt_scope_buf(&s),
		.preview = rt_scope_buf(&s),
		.labels = rt_scope_buf(&s),
		.tips = rt_scope_buf(&s),
		.text = rt_view_inner(&s),
		.head = SIZE_MAX,
	};
	if (rt_ok(&s) && c->options->take != 0) {
		take = rt_disc_take(c->disc, c->options->take);
		if (take == NULL)
			rt_scope_fail(&s, RT_NOT_FOUND, "no take t%u in d%u", c->options->take,
				      c->disc->number);
	}
	if (rt_ok(&s) && take != NULL)
		add_take(c, take);
	else
		add_tree(c);
	end_run(c);
	if (rt_ok(&s))
		write(c, buf);
	return rt_scope_end(&s, err);
}
