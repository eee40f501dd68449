/* SPDX-License-Identifier: MIT
 *
 * Model: the table of operations, their fields, and how one operation, or several as one step,
 * are executed. */
#include <stdlib.h>

#include "base/moment.h"
#include "model_impl.h"

typedef rt_status (*op_fn)(model_call *c);

static rt_status
op_undo(model_call *c)
{
	return model_op_undo_redo(c, true);
}

static rt_status
op_redo(model_call *c)
{
	return model_op_undo_redo(c, false);
}

/* Field types: s string, S not empty, c content, n integer, b bool, l list, m timestamp, i id, x
 * anything; then ! is required, 0 may be null. */
static const struct {
	const char *name;
	op_fn run;
	const char *fields;
	bool on_take; /* "take" is the take concerned */
	bool on_disc; /* "discussion" is the discussion concerned */
	bool gap;     /* `before` or `after`, exactly one */
} table[] = {
	{"entry.append", model_op_append, "role:S content:c kind:s id:i ts:m prompt:s", 0, 0, 0},
	{"entry.insert", model_op_insert, "before:s after:s role:S content:c kind:s id:i ts:m", 0,
	 0, 1},
	{"entry.edit", model_op_edit, "entry:s! content:c! everywhere:b keep_blocks:b", 0, 0, 0},
	{"entry.role", model_op_role, "entry:s! role:S!", 0, 0, 0},
	{"entry.fail", model_op_fail, "entry:s! failure:x!0", 0, 0, 0},
	{"entry.delete", model_op_delete, "entry:s from:s to:s", 0, 0, 0},
	{"entry.move", model_op_move, "entry:s! before:s after:s", 0, 0, 1},
	{"entry.mute", model_op_mute, "entry:s! muted:b", 0, 0, 0},
	{"entry.view", model_op_view, "entry:s all:b collapsed:b read_mode:b", 0, 0, 0},
	{"entry.split", model_op_split, "entry:s! at:n! id:i", 0, 0, 0},
	{"entry.merge", model_op_merge, "entry:s!", 0, 0, 0},
	{"take.branch", model_op_branch, "at:s! name:S", 0, 0, 0},
	{"take.switch", model_op_switch, "take:s!", 1, 0, 0},
	{"take.rename", model_op_take_rename, "take:s! name:S!", 1, 0, 0},
	{"take.delete", model_op_take_delete, "take:s!", 1, 0, 0},
	{"take.promote", model_op_promote, "take:s! name:S!", 1, 0, 0},
	{"take.clear", model_op_clear, "all:b", 0, 0, 0},
	{"take.truncate", model_op_truncate, "pairs:n!", 0, 0, 0},
	{"take.graft", model_op_graft, "entries:l! from:s! before:s after:s", 0, 0, 1},
	{"head.move", model_op_head, "entry:s!0", 0, 0, 0},
	{"label.set", model_op_label, "entry:s! label:s!0", 0, 0, 0},
	{"setting.set", model_op_setting, "key:S! value:x!0", 0, 0, 0},
	{"role.add", model_op_role_add, "role:S!", 0, 0, 0},
	{"role.remove", model_op_role_remove, "role:s!", 0, 0, 0},
	{"prompt.update", model_op_prompt, "text:s!", 0, 0, 0},
	{"prompt.notify", model_op_notify, "id:i", 0, 0, 0},
	{"files.set", model_op_files, "which:s! items:l!", 0, 0, 0},
	{"track.set", model_op_track, "track:s!0", 0, 0, 0},
	{"preset.save", model_op_preset_save, "name:S!", 0, 0, 0},
	{"preset.load", model_op_preset_load, "name:S!", 0, 0, 0},
	{"preset.delete", model_op_preset_delete, "name:S!", 0, 0, 0},
	{"discussion.new", model_op_disc_new, "name:S!", 0, 0, 0},
	{"discussion.switch", model_op_disc_switch, "discussion:s!", 0, 1, 0},
	{"discussion.rename", model_op_disc_rename, "discussion:s! name:S!", 0, 1, 0},
	{"discussion.delete", model_op_disc_delete, "discussion:s!", 0, 1, 0},
	{"discussion.extract", model_op_extract, "entry:s! name:S", 0, 0, 0},
	{"project.reset", model_op_reset, "", 0, 0, 0},
	{"undo", op_undo, "count:n scope:s", 0, 0, 0},
	{"redo", op_redo, "count:n scope:s", 0, 0, 0},
	{"jump", model_op_jump, "to:n! scope:s", 0, 0, 0},
	{"revert", model_op_revert, "seq:n!", 0, 0, 0},
	{"purge", model_op_purge, "entry:s!", 0, 0, 0},
};

static bool
value_fits(yyjson_val *value, char type)
{
	rt_str s = rt_json_str(value);
	bool string = yyjson_is_str(value);
	rt_moment ts;
	uint64_t n;

	switch (type) {
	case 's': return string;
	case 'S': return string && s.size > 0;
	case 'c': return string || yyjson_is_arr(value);
	case 'n': return rt_json_u64(value, &n);
	case 'b': return yyjson_is_bool(value);
	case 'l': return yyjson_is_arr(value);
	case 'i': return string && model_id_is_legal(s);
	case 'm':
		return rt_json_is_number(value) ? rt_moment_parse_number(s, &ts)
						: string && rt_moment_parse(s, &ts);
	default: return true;
	}
}

/* Checks of a request that do not depend on the project. */
static rt_status
check_form(model_call *c, size_t row)
{
	const char *spec = table[row].fields;
	uint64_t count = 1;
	rt_str s;

	while (*spec != '\0') {
		size_t name = strcspn(spec, ":"), end = strcspn(spec, " ");
		bool needed = memchr(spec, '!', end) != NULL, null_too = spec[end - 1] == '0';
		yyjson_val *value;
		char key[32] = "";

		memcpy(key, spec, name);
		value = model_field(c, key);
		if (value == NULL && needed)
			return FAIL(c, USAGE, "%s is missing", key);
		if (value != NULL && !(null_too && yyjson_is_null(value)) &&
		    !value_fits(value, spec[name + 1])) {
			c->out->loose = yyjson_is_str(value);
			return FAIL(c, USAGE, "%s cannot be that", key);
		}
		spec += end + (spec[end] == ' ');
	}
	c->out->loose = model_field(c, "before") != NULL || model_field(c, "from") != NULL;
	if (table[row].gap &&
	    (model_field(c, "before") != NULL) == (model_field(c, "after") != NULL))
		return FAIL(c, USAGE, "one of before and after is needed");
	if (table[row].run == model_op_delete &&
	    ((model_field(c, "from") != NULL) != (model_field(c, "to") != NULL) ||
	     (model_field(c, "entry") != NULL) == (model_field(c, "from") != NULL)))
		return FAIL(c, USAGE, "entry, or from and to");
	if (table[row].run == model_op_view &&
	    (model_field(c, "entry") != NULL) == model_bool_field(c, "all", false))
		return FAIL(c, USAGE, "entry or all");
	if (table[row].run == model_op_view && model_field(c, "collapsed") == NULL &&
	    model_field(c, "read_mode") == NULL)
		return FAIL(c, USAGE, "collapsed or read_mode");
	if ((table[row].run == op_undo || table[row].run == op_redo) &&
	    model_field(c, "count") != NULL &&
	    (!rt_json_u64(model_field(c, "count"), &count) || count < 1))
		return FAIL(c, USAGE, "count is less than one");
	s = model_str_field(c, "scope");
	if ((table[row].run == op_undo || table[row].run == op_redo ||
	     table[row].run == model_op_jump) &&
	    model_field(c, "scope") != NULL && !rt_str_is(s, "discussion") &&
	    !rt_str_is(s, "project"))
		return FAIL(c, USAGE, "scope is discussion or project");
	s = model_str_field(c, "which");
	if (table[row].run == model_op_files && !rt_str_is(s, "files") &&
	    !rt_str_is(s, "context_files") && !rt_str_is(s, "screenshots"))
		return FAIL(c, USAGE, "which is files, context_files or screenshots");
	if (table[row].run == model_op_role_add &&
	    rt_str_trim(model_str_field(c, "role")).size == 0)
		return FAIL(c, USAGE, "an empty role");
	if (table[row].run == model_op_graft) {
		size_t i, max;
		yyjson_val *item;

		yyjson_arr_foreach (model_field(c, "entries"), i, max, item) {
			if (!yyjson_is_str(item))
				return FAIL(c, USAGE, "entries are addresses");
		}
	}
	return RT_OK;
}

/* C29. gone_too: a deleted take may be named by its id. */
static rt_status
resolve_place(model_call *c, bool gone_too)
{
	const model *m = c->m;
	const model_project *p = model_project_of(m);
	yyjson_val *disc = model_field(c, "discussion"), *take = model_field(c, "take");
	const model_disc *d;
	size_t i;

	if ((disc != NULL && !yyjson_is_str(disc)) || (take != NULL && !yyjson_is_str(take)))
		return FAIL(c, USAGE, "a place is named by a string");
	c->doc = p->active;
	c->pinned = rt_json_str(disc).size > 0;
	c->take_named = rt_json_str(take).size > 0;
	if (disc != NULL && rt_json_str(disc).size > 0) {
		size_t at = model_cell_named(p, rt_json_str(disc));

		c->doc = at != SIZE_MAX ? p->cells[at].number
					: model_number_of(rt_json_str(disc), 'd');
		if (c->doc == 0 || c->doc >= (int)m->doc_count)
			return FAIL(c, NOT_FOUND, "no such discussion");
	}
	d = model_disc_of(m, c->doc);
	c->take = d->active;
	if (take != NULL && rt_json_str(take).size > 0) {
		c->take = model_take_named(d, rt_json_str(take));
		for (i = 0; i < d->take_count && c->take == SIZE_MAX; i++)
			if (d->takes[i].number == model_number_of(rt_json_str(take), 't'))
				c->take = i;
		if (c->take == SIZE_MAX &&
		    (!gone_too || model_number_of(rt_json_str(take), 't') == 0 ||
		     model_number_of(rt_json_str(take), 't') >= m->docs[c->doc].next_take))
			return FAIL(c, NOT_FOUND, "no such take");
	}
	return RT_OK;
}

/* Runs one operation without making a step. out_row: which operation. */
static rt_status
run_one(model_call *c, size_t *out_row)
{
	size_t row, i, count = c->m->doc_count;
	const void **values;
	rt_status st;

	c->out->entity = -1;
	if (!yyjson_is_obj(c->op) || !yyjson_is_str(model_field(c, "op")))
		return FAIL(c, USAGE, "not an operation");
	c->name = model_keep(c->m, model_str_field(c, "op"));
	for (row = 0; row < sizeof(table) / sizeof(table[0]); row++)
		if (rt_str_is(c->name, table[row].name))
			break;
	if (row == sizeof(table) / sizeof(table[0]))
		return FAIL(c, USAGE, "unknown operation");
	*out_row = row;
	st = check_form(c, row);
	if (st == RT_OK)
		c->out->loose = false;
	if (c->m->in_atomic &&
	    (table[row].run == op_undo || table[row].run == op_redo ||
	     table[row].run == model_op_jump || table[row].run == model_op_purge)) {
		c->out->loose = true;
		return FAIL(c, REFUSED, "not inside an atomic group");
	}
	if (st == RT_OK) {
		int active = model_project_of(c->m)->active;

		st = resolve_place(c, table[row].run == op_undo || table[row].run == op_redo ||
					      table[row].run == model_op_jump);
		c->view = table[row].on_disc ? active : c->doc;
	}
	if (st != RT_OK)
		return st;
	values = model_must(malloc(count * sizeof(*values)));
	for (i = 0; i < count; i++)
		values[i] = c->m->docs[i].value;
	st = table[row].run(c);
	if (st == RT_OK && table[row].run != op_undo && table[row].run != op_redo &&
	    table[row].run != model_op_jump)
		model_note_act(c->m, c->name, c->out->entity, values, count);
	free(values);
	return st;
}

void
model_apply(model *m, rt_str json, rt_str chosen, model_result *out)
{
	model_call c = {.m = m, .out = out, .chosen = chosen};
	rt_json_doc *doc = NULL;
	size_t row = 0, i;

	*out = (model_result){.entity = -1};
	m->touched_count = 0;
	m->act_count = 0;
	out->status = rt_json_read(rt_alloc_libc(), json, &doc, NULL);
	if (out->status == RT_OK) {
		c.op = rt_json_root(doc);
		out->status = run_one(&c, &row);
	} else {
		out->status = RT_USAGE;
	}
	if (out->status != RT_OK) {
		for (i = 0; i < m->touched_count; i++)
			m->docs[m->touched[i].doc].value = m->touched[i].before;
	} else if (m->touched_count > 0) {
		model_make_step(m, c.view);
	} else if (!out->unchanged) {
		m->seq++;
	}
	model_note_places(m, out->status == RT_OK && table[row].run == model_op_jump);
	m->touched_count = 0;
	m->act_count = 0;
	out->seq = m->seq;
	rt_json_free(doc);
}

/* ---- atomic groups ---- */

static bool
same_pairs(const model_pair *a, size_t a_count, const model_pair *b, size_t b_count)
{
	size_t i;

	for (i = 0; i < a_count && a_count == b_count; i++) {
		size_t at = model_pair_find(b, b_count, a[i].key);

		if (at == SIZE_MAX || !rt_str_eq(a[i].value, b[at].value))
			return false;
	}
	return a_count == b_count;
}

static bool
same_body(const model *m, int a, int b)
{
	const model_body *x = &m->bodies[a], *y = &m->bodies[b];

	return a == b ||
	       (rt_str_eq(x->content, y->content) && x->is_array == y->is_array &&
		x->purged == y->purged && x->grafted == y->grafted &&
		same_pairs(x->extra, x->extra_count, y->extra, y->extra_count));
}

static bool
same_disc(const model *m, const model_disc *a, const model_disc *b)
{
	size_t i, k;
	bool same = a->take_count == b->take_count && a->active == b->active &&
		    a->head == b->head && a->label_count == b->label_count &&
		    rt_str_eq(a->prompt, b->prompt) && a->edited == b->edited &&
		    rt_str_eq(a->track, b->track) && a->link_doc == b->link_doc &&
		    a->link_entity == b->link_entity &&
		    same_pairs(a->settings, a->setting_count, b->settings, b->setting_count) &&
		    same_pairs(a->presets, a->preset_count, b->presets, b->preset_count) &&
		    same_pairs(a->failures, a->failure_count, b->failures, b->failure_count);

	for (i = 0; same && i < a->label_count; i++)
		same = rt_str_eq(a->labels[i].text, model_label_of(b, a->labels[i].entity));
	for (i = 0; same && i < a->take_count; i++) {
		const model_take *x = &a->takes[i], *y = &b->takes[i];

		same = x->number == y->number && rt_str_eq(x->name, y->name) &&
		       x->count == y->count;
		for (k = 0; same && k < 3; k++)
			same = rt_str_eq(x->files[k], y->files[k]);
		for (k = 0; same && k < x->count; k++) {
			const model_slot *s = &x->slots[k], *t = &y->slots[k];

			same = s->entity == t->entity && same_body(m, s->body, t->body) &&
			       rt_str_eq(s->role, t->role) && rt_str_eq(s->kind, t->kind) &&
			       rt_str_eq(s->ts, t->ts) && s->muted == t->muted &&
			       s->edited == t->edited;
		}
	}
	return same;
}

/* Is the state unchanged? Objects that were created and removed again do not count. */
static bool
same_state(const model *before, const model *m)
{
	const model_project *a = model_project_of(before), *b = model_project_of(m);
	size_t i;
	bool same = a->cell_count == b->cell_count && a->active == b->active &&
		    a->role_count == b->role_count &&
		    same_pairs(a->settings, a->setting_count, b->settings, b->setting_count);

	for (i = 0; same && i < a->role_count; i++)
		same = rt_str_eq(a->roles[i], b->roles[i]);
	for (i = 0; same && i < a->cell_count; i++)
		same = a->cells[i].number == b->cells[i].number &&
		       rt_str_eq(a->cells[i].name, b->cells[i].name);
	for (i = 1; same && i < before->doc_count; i++)
		same = same_disc(m, model_disc_of(before, (int)i), model_disc_of(m, (int)i));
	for (i = 0; same && i < before->entity_count; i++)
		same = before->entities[i].collapsed == m->entities[i].collapsed &&
		       before->entities[i].read_mode == m->entities[i].read_mode;
	return same;
}

void
model_apply_atomic(model *m, const rt_str *json, const rt_str *chosen, const rt_str *entries,
		   size_t count, model_result *out)
{
	model before = model_save(m);
	bool viewed = false;
	int view = model_project_of(m)->active;
	size_t i, bad = SIZE_MAX, row = 0;

	m->touched_count = 0;
	m->act_count = 0;
	m->in_atomic = true;
	for (i = 0; i < count && bad == SIZE_MAX; i++) {
		model_call c = {.m = m, .out = &out[i]};
		rt_json_doc *doc = NULL;

		out[i] = (model_result){.entity = -1};
		if (chosen != NULL)
			c.chosen = chosen[i];
		out[i].status = rt_json_read(rt_alloc_libc(), json[i], &doc, NULL);
		if (out[i].status == RT_OK) {
			c.op = rt_json_root(doc);
			out[i].status = run_one(&c, &row);
		} else {
			out[i].status = RT_USAGE;
		}
		rt_json_free(doc);
		/* later operations may refer to it */
		if (out[i].status == RT_OK && out[i].made && entries != NULL &&
		    m->entities[out[i].entity].id.size == 0)
			(void)model_learn(m, out[i].entity, entries[i]);
		if (out[i].status != RT_OK)
			bad = i;
		else if (!out[i].unchanged)
			viewed = true;
		if (i == 0)
			view = c.view;
	}
	m->in_atomic = false;
	if (bad != SIZE_MAX) { /* C27 */
		int entity, disc, take;
		size_t at;

		/* an address may have meant an entry whose id is unknown here */
		out[bad].loose = out[bad].loose || model_unknown(m, &entity, &disc, &take, &at);
		for (i = 0; i < count; i++)
			if (i != bad)
				out[i] = (model_result){.entity = -1,
							.status = out[bad].status,
							.loose = out[bad].loose};
		model_drop_lists(m);
		*m = before;
		return;
	}
	if (viewed && same_state(&before, m)) {
		for (i = 0; i < count; i++)
			out[i] = (model_result){.entity = -1, .unchanged = true};
		model_drop_lists(m);
		*m = before;
		viewed = false;
	} else {
		model_drop_lists(&before);
	}
	if (m->touched_count > 0)
		model_make_step(m, view);
	else if (viewed)
		m->seq++;
	model_note_places(m, false);
	for (i = 0; i < count; i++)
		out[i].seq = m->seq;
}
