/* SPDX-License-Identifier: MIT
 *
 * One outline as effects: a discussion, its takes, and the fields of both. */
#include "ops/import_impl.h"
#include "ops/ops.h"

enum { NUMBER_MAX = 10000 /* that a source may request */, DISC_SIZE = 256 /* in a row, about */ };

/* ---- entries ---- */

/* Takes from parent links: the head's path first, then one for every other leaf; each begins where
 * its path leaves the takes so far. */
static void
add_leaves(rt_layer *l, size_t head)
{
	const rt_outline *o = l->outline;
	int64_t *newest = rt_layer_array(l, o->node_count, sizeof(*newest)); /* child; -1: none */
	int64_t *path = rt_layer_array(l, o->node_count, sizeof(*path));

	if (!rt_ok(l->s) || o->node_count == 0)
		return;
	memset(newest, 0xFF, o->node_count * sizeof(*newest));
	for (size_t i = 0; i < o->node_count; i++)
		if (o->nodes[i].parent >= 0)
			newest[o->nodes[i].parent] = (int64_t)i;
	while (newest[head] >= 0)
		head = (size_t)newest[head];
	for (size_t i = 0; rt_ok(l->s) && i <= o->node_count; i++) {
		size_t leaf = i == 0 ? head : i - 1, shared = 0, count;
		uint32_t take = 1;
		int64_t above;

		if (newest[leaf] >= 0 || l->spots[leaf].take != 0)
			continue;
		const int64_t *run = rt_layer_path(l, leaf, path, &count, &above);
		if (above >= 0) {
			shared = l->spots[above].at + 1;
			take = rt_layer_branch(l, l->spots[above].take, shared);
		} else if (i > 0) {
			const rt_disc *disc = rt_layer_disc(l);

			if (disc != NULL && rt_seq_count(rt_disc_take(disc, 1)->slots) > 0)
				take = rt_layer_new_take(l, 0, 0, rt_str_at(NULL, 0),
							 rt_str_at(NULL, 0));
		}
		rt_layer_append(l, take, shared, run, count);
	}
}

/* The number of nodes that two takes have in common at their beginnings. */
static size_t
common(const rt_outline_take *a, const rt_outline_take *b)
{
	size_t count = a->node_count < b->node_count ? a->node_count : b->node_count, i = 0;

	while (i < count && a->nodes[i] == b->nodes[i])
		i++;
	return i;
}

/* The take before number i with which it shares most; only the first few and the last few are
 * examined. */
static size_t
find_sibling(const rt_outline *o, size_t i, size_t *out_shared)
{
	size_t best = 0;

	*out_shared = 0;
	for (size_t j = 0; j < i && *out_shared < o->takes[i].node_count; j++) {
		size_t n = common(&o->takes[i], &o->takes[j]);

		if (n > *out_shared) {
			*out_shared = n;
			best = j;
		}
		if (j == 2 && i > 8)
			j = i - 6;
	}
	return best;
}

/* Takes of the source. Returns the active one. */
static uint32_t
add_takes(rt_layer *l)
{
	const rt_outline *o = l->outline;
	uint32_t active = 1;

	for (size_t i = 0; rt_ok(l->s) && i < o->take_count; i++) {
		const rt_outline_take *t = &o->takes[i];
		uint32_t take = 1;
		size_t shared = 0;

		if (i > 0) {
			uint32_t sibling = 1 + (uint32_t)find_sibling(o, i, &shared);

			take = rt_layer_new_take(l, sibling, shared, t->name, t->git_commit);
		} else if (t->git_commit.size > 0) { /* the take was created with the discussion */
			rt_change_set_text(l->c, l->disc, take, "git_commit", 0, t->git_commit);
		}
		if (t->node_count > shared)
			rt_layer_append(l, take, shared, t->nodes + shared, t->node_count - shared);
		if (i == o->active_take)
			active = take;
	}
	return active;
}

static void
set_labels_and_views(rt_layer *l)
{
	const rt_outline *o = l->outline;

	for (size_t i = 0; rt_ok(l->s) && i < o->node_count; i++) {
		const rt_node *n = &o->nodes[i];
		uint32_t entry = l->spots[i].entry;
		unsigned view = (n->collapsed ? RT_VIEW_COLLAPSED : 0u) |
				(n->read_mode ? RT_VIEW_READ_MODE : 0u);

		if (entry == 0 || (n->label.size == 0 && view == 0))
			continue;
		if (n->label.size > 0)
			rt_change_set_text(l->c, l->disc, 0, "label", entry, n->label);
		if (view != 0)
			rt_change_view(l->c, entry, view);
		l->import->row_size += RT_IMPORT_SLOT + n->label.size;
		rt_layer_turn(l);
	}
}

/* Is this JSON text a number, true, false, an empty list or object, or a string without escapes? It is
 * stored as it is then. */
static bool
is_simple(rt_str json)
{
	static const char *const words[] = {"true", "false", "[]", "{}", NULL};
	size_t digits = 0, i = json.size > 0 && json.ptr[0] == '-';

	if (rt_str_is_one_of(json, words))
		return true;
	if (json.size >= 2 && json.ptr[0] == '"' && json.ptr[json.size - 1] == '"') {
		for (i = 1; i + 1 < json.size; i++)
			if (json.ptr[i] < ' ' || json.ptr[i] > '~' || json.ptr[i] == '"' ||
			    json.ptr[i] == '\\')
				return false;
		return true;
	}
	if (i == json.size || json.ptr[i] == '0')
		return false;
	for (; i < json.size && json.ptr[i] >= '0' && json.ptr[i] <= '9'; i++)
		digits++;
	if (digits == 0 || i == json.size || json.ptr[i] != '.')
		return digits > 0 && i == json.size;
	for (digits = 0, i++; i < json.size && json.ptr[i] >= '0' && json.ptr[i] <= '9'; i++)
		digits++;
	return digits > 0 && i == json.size;
}

void
rt_import_fields(rt_import *m, uint32_t disc, const rt_outline_field *fields, size_t count)
{
	rt_scope *s = &m->s;

	for (size_t i = 0; rt_ok(s) && i < count; i++) {
		rt_str name = fields[i].name;
		rt_json_doc *doc = NULL;

		/* "redacted" applies to the file, not to the imported discussion */
		if (rt_str_is(name, "id") || rt_str_is(name, "redacted") || name.size == 0)
			continue;
		if (is_simple(fields[i].json) && memchr(name.ptr, '\0', name.size) == NULL) {
			rt_change_set(&m->c, disc, 0, name, 0, fields[i].json);
			continue;
		}
		if (RT_TRY(s, rt_json_read(s->alloc, fields[i].json, &doc, &s->error)) == RT_OK)
			rt_change_set_json(&m->c, disc, name, rt_json_root(doc));
		rt_json_free(doc);
	}
}

/* ---- the discussion ---- */

/* A name for a discussion: the requested one if it is free, else with a number. */
static rt_str
free_disc_name(rt_layer *l, rt_str wanted)
{
	rt_disc_names *names = &l->import->names;

	if (wanted.size == 0)
		wanted = RT_STR("imported");
	if (rt_ok(l->s) && rt_disc_names_has(names, l->c->now, wanted)) {
		rt_buf *name = rt_scope_buf(l->s);

		RT_TRY(l->s, rt_disc_names_number(names, l->c->now, wanted, name));
		wanted = rt_scope_str(l->s, name);
	}
	return rt_scope_copy(l->s, wanted);
}

/* Copied: a new value may not contain it any more. */
static rt_str
disc_name(rt_layer *l)
{
	return rt_ok(l->s) ? rt_scope_copy(l->s, rt_cell_name(rt_project_cell(l->c->now, l->disc)))
			   : rt_str_at(NULL, 0);
}

/* May the discussion that a new project begins with become that of the outline? */
static bool
may_use_spare(rt_layer *l, uint32_t number)
{
	uint32_t spare = l->import->spare;
	const rt_disc *disc;

	return spare != 0 && rt_project_cell(l->c->now, spare)->present &&
	       (number <= 1 || number == spare) &&
	       RT_TRY(l->s, rt_project_disc(l->c->now, spare, &disc, &l->s->error)) == RT_OK &&
	       disc->history.current == 0 && rt_seq_count(rt_disc_active(disc)->slots) == 0;
}

/* Uses it. If the outline takes several rows the discussion is hidden until the last; a project
 * needs some discussion meanwhile, which becomes the next spare one. */
static void
use_spare(rt_layer *l, rt_str name, rt_str take_name)
{
	rt_import *m = l->import;
	uint32_t other = m->newest;

	l->disc = m->spare;
	m->spare = 0;
	rt_str old = disc_name(l);
	rt_import_note_made(m, l->disc);
	/* The discussion's own name counts as free. */
	rt_str free_name = rt_str_eq(name, old) ? old : free_disc_name(l, name);
	rt_change_set_text(l->c, 0, l->disc, "name", 0, free_name);
	rt_change_set_text(l->c, l->disc, 1, "name", 0, take_name.size > 0 ? take_name : free_name);
	rt_import_use_name(m, l->disc);
	if (!rt_ok(l->s) || l->whole)
		return;
	if (other == 0) {
		other = m->spare = rt_import_new_disc(m, old, RT_STR("main"));
		rt_import_note_made(m, other);
	}
	if (rt_ok(l->s) && l->c->now->active == l->disc)
		rt_change_set_number(l->c, 0, 0, "active", other);
	rt_change_clear(l->c, 0, l->disc, "present");
	m->making.hidden = true;
}

/* A discussion for the outline: a new one, or the unused first one of a new project. */
static void
make_disc(rt_layer *l, rt_str name, rt_str take_name, uint32_t number)
{
	if (may_use_spare(l, number)) {
		use_spare(l, name, take_name);
		return;
	}
	l->import->making.made = true;
	/* Numbers that the source left out stay unused, so that ids keep their meaning. */
	while (rt_ok(l->s) && rt_project_disc_count(l->c->now) + 1 < number) {
		uint32_t unused = rt_import_new_disc(l->import, RT_STR(""), RT_STR(""));

		rt_change_clear(l->c, 0, unused, "present");
	}
	rt_str free_name = free_disc_name(l, name);
	if (!rt_ok(l->s))
		return;
	l->disc = rt_import_new_disc(l->import, free_name,
				     take_name.size > 0 ? take_name : free_name);
	rt_import_note_made(l->import, l->disc);
}

/* In its last row: the discussion enters the catalogue. Its name may be in use by now. */
static void
unhide(rt_layer *l)
{
	rt_str name = disc_name(l);

	if (rt_ok(l->s) && rt_disc_names_has(&l->import->names, l->c->now, name))
		rt_change_set_text(l->c, 0, l->disc, "name", 0, free_disc_name(l, name));
	rt_change_set(l->c, 0, l->disc, RT_STR("present"), 0, RT_STR("true"));
	rt_import_use_name(l->import, l->disc);
	l->import->making.hidden = false;
}

uint32_t
rt_import_wanted_number(const rt_outline *o)
{
	for (size_t i = 0; i < o->field_count; i++) {
		rt_str v = o->fields[i].json;
		uint64_t number;

		if (!rt_str_is(o->fields[i].name, "id") || v.size < 4 || v.ptr[1] != 'd')
			continue;
		return rt_str_u64(rt_str_at(v.ptr + 2, v.size - 3), NUMBER_MAX, &number)
			       ? (uint32_t)number
			       : 0;
	}
	return 0;
}

/* The origin of the conversation, as JSON text. hash: of its content. */
static rt_str
source_of(rt_layer *l, uint64_t hash)
{
	rt_buf *mark = rt_scope_buf(l->s), *json = rt_scope_buf(l->s);

	if (l->outline->source.size > 0)
		rt_buf_add_str(mark, l->outline->source);
	else
		rt_known_mark(hash, mark);
	rt_json_add_string(json, rt_scope_str(l->s, mark));
	return rt_scope_str(l->s, json);
}

static uint32_t
find_known(rt_layer *l, rt_str source)
{
	uint32_t number = 0;

	RT_TRY(l->s, rt_known_find(&l->import->known, l->c->now, source, &number, &l->s->error));
	return number;
}

/* The hash of the whole conversation that this outline begins, if it is known before the last
 * piece. */
static bool
next_hash(rt_layer *l, uint64_t *out)
{
	rt_import *m = l->import;

	*out = m->making.hash;
	if (!l->outline->more)
		return true;
	if (m->hash_count == 0)
		return false;
	*out = *m->hashes++;
	m->hash_count--;
	return true;
}

/* The first outline of a discussion: known, or created. */
static void
begin_disc(rt_layer *l, uint32_t number)
{
	const rt_outline *o = l->outline;
	rt_making *making = &l->import->making;
	rt_str name = o->called.size > 0 ? o->called : o->name.size > 0 ? o->name : l->import->name;
	uint64_t hash = 0;

	making->named = o->called.size > 0 || o->name.size > 0;
	if (o->source.size > 0 || next_hash(l, &hash))
		l->disc = find_known(l, source_of(l, hash));
	if (rt_ok(l->s) && l->disc == 0)
		l->disc = rt_layer_find_same(l);
	if (rt_ok(l->s))
		rt_layer_find_written(l);
	if (!rt_ok(l->s))
		return;
	making->known = l->disc != 0;
	if (making->known) {
		making->wanted = hash;
	} else {
		make_disc(l, name, o->takes != NULL && o->take_count > 0 ? o->takes[0].name : name,
			  number);
		l->import->result.takes++;
		making->takes++;
	}
	making->disc = l->disc;
}

/* ---- the end of a discussion that was made ---- */

/* Where the next entry goes: at the tip, before the first entry, or where it went before. */
static void
set_head(rt_layer *l, size_t head)
{
	const rt_outline *o = l->outline;
	const rt_disc *disc = rt_layer_disc(l);
	size_t at = 0;
	bool found = false;

	if (disc == NULL || o->node_count == 0 || !o->has_head)
		return;
	const rt_take *take = rt_disc_active(disc);
	if (o->head < 0) {
		if (rt_seq_count(take->slots) > 0)
			rt_change_set_number(l->c, l->disc, 0, "head", RT_HEAD_START);
		return;
	}
	RT_TRY(l->s, rt_take_find(l->c->now, take, l->spots[head].entry, &at, NULL, &found,
				  &l->s->error));
	if (rt_ok(l->s) && found && at + 1 < rt_seq_count(take->slots))
		rt_change_set_number(l->c, l->disc, 0, "head", l->spots[head].entry);
}

/* An identical discussion exists: this one stays hidden. */
static void
drop_for_twin(rt_layer *l, uint32_t twin)
{
	rt_making *making = &l->import->making;
	rt_import_result *result = &l->import->result;

	l->disc = twin;
	result->known += making->entries;
	result->entries -= making->entries;
	result->hidden -= making->hidden_entries;
	result->takes -= making->takes;
	making->entries = making->hidden_entries = making->takes = 0;
	rt_import_hide(l->import);
}

static void
finish(rt_layer *l, uint32_t active, size_t head)
{
	const rt_outline *o = l->outline;
	rt_making *making = &l->import->making;
	rt_str source = source_of(l, making->hash);
	uint32_t twin = 0;

	if (making->goes_on && o->source.size == 0) /* its hash is known only now */
		twin = find_known(l, source);
	if (twin != 0) {
		drop_for_twin(l, twin);
		return;
	}
	if (making->hidden)
		unhide(l);
	if (!making->named) /* a format may need to know that the user did not choose it */
		rt_change_set_text(l->c, l->disc, 0, "name_made", 0, disc_name(l));
	const rt_disc *disc = rt_layer_disc(l);
	if (disc == NULL)
		return;
	/* A field of the file may say where it once came from. */
	bool is_second = o->source.size == 0 &&
			 rt_fields_get(disc->fields, RT_STR("source")).ptr != NULL;
	rt_change_set(l->c, l->disc, 0, is_second ? RT_STR("source_content") : RT_STR("source"), 0,
		      source);
	if (active != 1)
		rt_change_set_number(l->c, l->disc, 0, "active", active);
	set_head(l, head);
	l->import->result.discussions++;
	l->import->newest = l->disc;
}

/* ---- an outline ---- */

/* The discussion already exists. */
static void
add_to_known(rt_layer *l)
{
	const rt_outline *o = l->outline;
	const rt_making *making = &l->import->making;

	if (o->source.size > 0) {
		rt_layer_add_new(l);
		return;
	}
	l->import->result.known += o->node_count; /* identical content */
	if (!o->more && making->wanted != 0 && making->hash != making->wanted)
		rt_scope_fail(l->s, RT_CONFLICT,
			      "the file was changed while it was being imported; import it again");
}

/* The lists of files of takes that are not those of the discussion. Takes of a discussion that an
 * import makes are numbered in their order. */
static void
set_files(rt_layer *l)
{
	const rt_outline *o = l->outline;
	const rt_disc *disc = rt_layer_disc(l);
	rt_buf *all = rt_scope_buf(l->s), *key = rt_scope_buf(l->s);
	bool any = false;

	if (disc == NULL)
		return;
	rt_json_open(all, NULL, '{');
	rt_json_put_raw(all, "0", rt_take_files(l->c, disc, disc->active));
	for (size_t i = 0; o->takes != NULL && i < o->take_count; i++) {
		if (o->takes[i].files.ptr == NULL)
			continue;
		rt_buf_clear(key);
		rt_buf_add_u64(key, i + 1);
		rt_json_add_key_str(all, rt_scope_str(l->s, key));
		rt_buf_add_str(all, o->takes[i].files);
		any = true;
	}
	rt_json_close(all, '}');
	if (any)
		rt_change_set(l->c, l->disc, 0, RT_STR(RT_TAKE_FILES), 0, rt_scope_str(l->s, all));
}

static void
add_outline(rt_layer *l, uint32_t number)
{
	const rt_outline *o = l->outline;
	rt_making *making = &l->import->making;
	bool goes_on = making->goes_on;
	bool has_head = o->has_head && o->head >= 0 && o->head < (int64_t)o->node_count;
	size_t head = has_head ? (size_t)o->head : o->node_count > 0 ? o->node_count - 1 : 0;
	uint32_t active = 1;

	making->hash = rt_known_hash(o, goes_on ? making->hash : 0);
	if (goes_on)
		l->disc = making->disc;
	else
		begin_disc(l, number);
	if (!rt_ok(l->s))
		return;
	if (making->known) {
		add_to_known(l);
		return;
	}
	rt_layer_number(l);
	if (goes_on)
		rt_layer_add_runs(l);
	else if (o->takes != NULL)
		active = add_takes(l);
	else
		add_leaves(l, head);
	set_labels_and_views(l);
	rt_import_fields(l->import, l->disc, o->fields, o->field_count);
	set_files(l);
	if (goes_on && o->node_count > 0)
		active = l->spots[head].take;
	if (!o->more && rt_ok(l->s))
		finish(l, active, head);
}

/* The approximate size that an outline adds to a row and its bodies. */
static void
measure(const rt_outline *o, size_t *out_row, size_t *out_bodies)
{
	size_t row = DISC_SIZE, bodies = 0;

	for (size_t i = 0; i < o->node_count; i++) {
		const rt_node *n = &o->nodes[i];

		row += RT_IMPORT_SLOT + n->id.size + n->role.size + n->label.size;
		bodies += n->body.size;
	}
	for (size_t i = 0; i < o->take_count; i++)
		row += 64 + o->takes[i].name.size;
	for (size_t i = 0; i < o->field_count; i++)
		row += o->fields[i].json.size;
	*out_row = row;
	*out_bodies = bodies;
}

/* A discussion is complete: the result names the last one that was added; if there is none, the
 * last that was extended; otherwise the last that was already known. */
static void
name_result(rt_import *m, uint32_t number)
{
	const rt_cell *cell = rt_project_cell(m->c.now, number);
	int rank = m->newest == number ? 2 : m->making.entries > 0 ? 1 : 0;
	rt_str name = cell != NULL ? rt_cell_name(cell) : RT_STR("");
	size_t size = rt_utf8_cut(name, sizeof(m->result.discussion) - 1);

	if (rank < m->named)
		return;
	m->named = rank;
	if (size > 0)
		memcpy(m->result.discussion, name.ptr, size);
	m->result.discussion[size] = '\0';
}

/* Where the next outline of the conversation continues: at the last node that is not deleted. */
static void
note_last(rt_import *m, const rt_layer *l)
{
	size_t at = l->outline->node_count;

	m->making.passed += at;
	while (at > 0 && l->spots[at - 1].take == UINT32_MAX)
		at--;
	if (at > 0)
		m->making.last = l->spots[at - 1];
}

void
rt_import_outline(rt_import *m, rt_outline *o, uint32_t number)
{
	rt_layer l;
	size_t row, bodies;
	bool whole;

	measure(o, &row, &bodies);
	/* Most are small and are not split. */
	whole = !m->making.goes_on && !o->more && row <= RT_IMPORT_ROW_FIRST &&
		bodies <= RT_IMPORT_BODIES_MAX;
	if (whole && m->open && m->row_size > 0 &&
	    (m->row_size + row > m->row_max || m->bodies_size + bodies > RT_IMPORT_BODIES_MAX))
		rt_import_next_row(m);
	if (!m->open)
		rt_import_row_open(m);
	m->row_size += DISC_SIZE;
	rt_layer_init(&l, m, o);
	l.whole = whole;
	if (o->takes == NULL)
		RT_TRY(&m->s, rt_outline_repair(m->engine->alloc, o, NULL, NULL));
	if (rt_ok(&m->s))
		add_outline(&l, number);
	if (rt_ok(&m->s)) {
		m->last = l.disc;
		note_last(m, &l);
		m->making.goes_on = o->more;
		if (!o->more) {
			name_result(m, l.disc);
			m->done++;
			m->making = (rt_making){0};
		}
	}
	rt_layer_deinit(&l);
}
