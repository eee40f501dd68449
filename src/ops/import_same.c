/* SPDX-License-Identifier: MIT
 *
 * The program's own exports name no source. A discussion of the project has all of such a file's discussion if
 * it has the same name, its takes begin with the same entries, and it has the same labels and fields. The head,
 * folded entries, and values that are left out because they are empty, do not count; nor do labels that were set
 * and entries that were muted since. */
#include "ops/export.h"
#include "ops/import_impl.h"

/* Sorted, since a file may have the members in another order. */
static rt_str
sorted(rt_scope *s, rt_str text)
{
	rt_buf *buf = rt_scope_buf(s);
	rt_json_doc *doc = NULL;

	RT_TRY(s, rt_json_read(s->alloc, text, &doc, &s->error));
	if (rt_ok(s))
		rt_json_add_sorted(buf, s->alloc, rt_json_root(doc));
	rt_json_free(doc);
	return rt_scope_str(s, buf);
}

static bool
is_same_json(rt_scope *s, rt_str a, rt_str b)
{
	return rt_str_eq(a, b) || rt_str_eq(sorted(s, a), sorted(s, b));
}

static rt_str
kind_of(const rt_node *node)
{
	return rt_str_is(node->kind, "message") ? RT_STR("") : node->kind;
}

/* Is the node b of the project what the node a of the file was? */
static bool
is_same_node(rt_scope *s, const rt_node *a, const rt_node *b)
{
	return rt_str_eq(a->id, b->id) && rt_str_eq(a->role, b->role) &&
	       rt_str_eq(kind_of(a), kind_of(b)) && a->has_ts == b->has_ts && a->muted <= b->muted &&
	       (a->label.size == 0 || rt_str_eq(a->label, b->label)) &&
	       (!a->has_ts || a->ts.us == b->ts.us) && a->body_format == b->body_format &&
	       (rt_str_eq(a->body, b->body) ||
		(a->body_format == RT_BODY_JSON && is_same_json(s, a->body, b->body)));
}

/* Does the discussion have a take of this name that begins with these entries? */
static bool
has_take(rt_scope *s, const rt_outline *has, const rt_outline *o, const rt_outline_take *take)
{
	const rt_outline_take *other = NULL;
	bool is_same;

	for (size_t i = 0; other == NULL && i < has->take_count; i++)
		if (rt_str_eq(has->takes[i].name, take->name))
			other = &has->takes[i];
	if (other == NULL || other->node_count < take->node_count ||
	    !rt_str_eq(other->git_commit, take->git_commit))
		return false;
	is_same = take->files.ptr == NULL || (other->files.ptr != NULL && is_same_json(s, take->files, other->files));
	for (size_t i = 0; is_same && rt_ok(s) && i < take->node_count; i++)
		is_same = is_same_node(s, &o->nodes[take->nodes[i]], &has->nodes[other->nodes[i]]);
	return is_same;
}

static bool
is_empty(rt_str json)
{
	static const char *const empty[] = {"", "\"\"", "[]", "{}", "null", "false"};

	for (size_t i = 0; i < sizeof(empty) / sizeof(*empty); i++)
		if (rt_str_is(json, empty[i]))
			return true;
	return false;
}

static bool
has_field(rt_scope *s, const rt_outline *has, const rt_outline_field *field)
{
	for (size_t i = 0; i < has->field_count; i++)
		if (rt_str_eq(has->fields[i].name, field->name))
			return is_same_json(s, has->fields[i].json, field->json);
	return is_empty(field->json);
}

static bool
has_all(rt_scope *s, const rt_outline *has, const rt_outline *o)
{
	for (size_t i = 0; rt_ok(s) && i < o->field_count; i++)
		if (!has_field(s, has, &o->fields[i]))
			return false;
	for (size_t i = 0; rt_ok(s) && i < o->take_count; i++)
		if (!has_take(s, has, o, &o->takes[i]))
			return false;
	return rt_ok(s);
}

uint32_t
rt_layer_find_same(rt_layer *l)
{
	const rt_outline *o = l->outline;
	rt_known *known = &l->import->known;
	uint32_t disc = rt_project_disc_named(l->c->now, o->name);
	rt_outlines outlines;
	bool is_known = false;
	rt_scope s;

	if (l->import->pristine || o->source.size > 0 || o->more || o->take_count == 0 || disc == 0 ||
	    disc > known->discs || known->found[disc])
		return 0;
	rt_scope_init(&s, l->s->alloc);
	if (RT_TRY(&s, rt_engine_export(l->import->engine, l->c->now, (rt_place){.disc = disc}, false,
					&outlines, &s.error)) == RT_OK) {
		is_known = outlines.count == 1 && has_all(&s, &outlines.items[0], o);
		rt_outlines_deinit(&outlines);
	}
	known->found[disc] = is_known;
	return rt_scope_join(l->s, &s) == RT_OK && is_known ? disc : 0;
}
