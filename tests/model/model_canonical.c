/* SPDX-License-Identifier: MIT
 *
 * Model: the canonical form (C47). */
#include <stdlib.h>

#include "model_impl.h"

static int
pair_order(const void *a, const void *b)
{
	return rt_str_cmp(((const model_pair *)a)->key, ((const model_pair *)b)->key);
}

void
model_add_pairs(rt_buf *out, const model_pair *pairs, size_t count)
{
	model_pair *mine = model_duplicate(pairs, count, sizeof(*mine));
	size_t i;

	qsort(mine, count, sizeof(*mine), pair_order);
	rt_buf_add_byte(out, '{');
	for (i = 0; i < count; i++) {
		rt_json_add_key_str(out, mine[i].key);
		rt_buf_add_str(out, mine[i].value);
	}
	rt_buf_add_byte(out, '}');
	free(mine);
}

/* An object under construction whose values are written first. */
typedef struct json_object {
	model_pair pairs[40];
	size_t count;
	rt_buf values;
	size_t ends[40];
} json_object;

static void
object_begin(json_object *o)
{
	o->count = 0;
	rt_buf_init(&o->values, rt_alloc_libc(), RT_BUF_UNLIMITED);
}

static rt_buf *
object_member(json_object *o, rt_str key)
{
	model_must(o->count < 40 ? o : NULL);
	if (o->count > 0)
		o->ends[o->count - 1] = o->values.size;
	o->pairs[o->count++].key = key;
	return &o->values;
}

static void
object_end(json_object *o, rt_buf *out)
{
	size_t i, from = 0;

	if (o->count > 0)
		o->ends[o->count - 1] = o->values.size;
	for (i = 0; i < o->count; i++) {
		o->pairs[i].value = rt_str_at(o->values.ptr + from, o->ends[i] - from);
		from = o->ends[i];
	}
	model_add_pairs(out, o->pairs, o->count);
	rt_buf_deinit(&o->values);
}

static void
object_text(json_object *o, const char *key, rt_str text)
{
	rt_json_add_string(object_member(o, rt_str_of(key)), text);
}

static void
object_true(json_object *o, const char *key, bool value)
{
	if (value)
		rt_buf_add_c(object_member(o, rt_str_of(key)), "true");
}

static void
object_json(json_object *o, const char *key, rt_str json)
{
	if (json.size > 0)
		rt_buf_add_str(object_member(o, rt_str_of(key)), json);
}

static void
add_slot(const model *m, rt_buf *out, const model_slot *slot)
{
	const model_entity *e = &m->entities[slot->entity];
	const model_body *body = &m->bodies[slot->body];
	json_object o;
	size_t i;

	object_begin(&o);
	object_text(&o, "id", e->id);
	object_text(&o, "role", slot->role);
	if (!rt_str_is(slot->kind, "message"))
		object_text(&o, "kind", slot->kind);
	object_json(&o, "content", body->content);
	object_text(&o, "ts", slot->ts);
	object_true(&o, "muted", slot->muted);
	object_true(&o, "collapsed", e->collapsed);
	object_true(&o, "read_mode", e->read_mode);
	object_true(&o, "purged", body->purged);
	if (body->grafted)
		object_text(&o, "grafted_from", m->entities[body->grafted_from].id);
	for (i = 0; i < body->extra_count; i++)
		rt_buf_add_str(object_member(&o, body->extra[i].key), body->extra[i].value);
	object_end(&o, out);
}

/* Members of a take that differ from the active one's. */
static void
add_files(rt_buf *out, const model_take *take, const model_take *active)
{
	json_object o;
	bool same = true;

	for (size_t i = 0; i < 3; i++)
		same = same && rt_str_eq(take->files[i], active->files[i]);
	if (same)
		return;
	object_begin(&o);
	for (size_t i = 0; i < 3; i++)
		object_json(&o, model_list_names[i], take->files[i]);
	rt_buf_add_c(out, ",\"files\":");
	object_end(&o, out);
}

static void
add_takes(const model *m, rt_buf *out, const model_disc *d)
{
	size_t t, i;

	rt_buf_add_byte(out, '[');
	for (t = 0; t < d->take_count; t++) {
		rt_json_add_comma(out);
		rt_buf_add_c(out, "{\"entries\":[");
		for (i = 0; i < d->takes[t].count; i++) {
			rt_json_add_comma(out);
			add_slot(m, out, &d->takes[t].slots[i]);
		}
		rt_buf_add_byte(out, ']');
		add_files(out, &d->takes[t], &d->takes[d->active]);
		rt_buf_add_c(out, ",\"name\":");
		rt_json_add_string(out, d->takes[t].name);
		rt_buf_add_byte(out, '}');
	}
	rt_buf_add_byte(out, ']');
}

static void
add_labels(const model *m, rt_buf *out, const model_disc *d)
{
	model_pair *pairs = model_must(malloc((d->label_count + 1) * sizeof(*pairs)));
	rt_buf *texts = model_must(malloc((d->label_count + 1) * sizeof(*texts)));
	size_t i, n = 0;

	for (i = 0; i < d->label_count; i++) {
		if (!model_present(d, d->labels[i].entity)) /* C44 */
			continue;
		rt_buf_init(&texts[n], rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_json_add_string(&texts[n], d->labels[i].text);
		pairs[n] = (model_pair){m->entities[d->labels[i].entity].id, rt_buf_str(&texts[n])};
		n++;
	}
	model_add_pairs(out, pairs, n);
	for (i = 0; i < n; i++)
		rt_buf_deinit(&texts[i]);
	free(texts);
	free(pairs);
}

static void
add_failures(const model *m, rt_buf *out, const model_disc *d)
{
	model_pair *pairs = model_must(malloc((d->failure_count + 1) * sizeof(*pairs)));

	for (size_t i = 0; i < d->failure_count; i++)
		pairs[i] = (model_pair){m->entities[atoi(d->failures[i].key.ptr)].id,
					d->failures[i].value};
	model_add_pairs(out, pairs, d->failure_count);
	free(pairs);
}

static void
add_disc(const model *m, rt_buf *out, int number)
{
	const model_disc *d = model_disc_of(m, number);
	const model_take *take = &d->takes[d->active];
	int head = d->head;
	bool labelled = false, files = false;
	json_object o, inner;
	size_t i;

	if (head == MODEL_TIP)
		head = take->count > 0 ? take->slots[take->count - 1].entity : MODEL_START;
	for (i = 0; i < d->label_count; i++)
		labelled = labelled || model_present(d, d->labels[i].entity);
	object_begin(&o);
	rt_buf_add_f(object_member(&o, RT_STR("id")), "\"d%d\"", number);
	object_text(&o, "name", model_name_of(m, number));
	object_text(&o, "active", take->name);
	if (head == MODEL_START)
		object_json(&o, "head", RT_STR("null"));
	else
		object_text(&o, "head", m->entities[head].id);
	if (labelled)
		add_labels(m, object_member(&o, RT_STR("labels")), d);
	if (d->prompt.size > 0 || d->edited) {
		object_begin(&inner);
		object_true(&inner, "edited", d->edited);
		object_text(&inner, "text", d->prompt);
		object_end(&inner, object_member(&o, RT_STR("prompt")));
	}
	if (d->setting_count > 0)
		model_add_pairs(object_member(&o, RT_STR("settings")), d->settings,
				d->setting_count);
	for (i = 0; i < 3; i++)
		files = files || take->files[i].size > 0;
	if (files) {
		object_begin(&inner);
		for (i = 0; i < 3; i++)
			object_json(&inner, model_list_names[i], take->files[i]);
		object_end(&inner, object_member(&o, RT_STR("files")));
	}
	object_json(&o, "track", d->track);
	if (d->link_doc > 0) {
		object_begin(&inner);
		rt_buf_add_f(object_member(&inner, RT_STR("discussion")), "\"d%d\"", d->link_doc);
		object_text(&inner, "entry", m->entities[d->link_entity].id);
		object_end(&inner, object_member(&o, RT_STR("link")));
	}
	if (d->preset_count > 0)
		model_add_pairs(object_member(&o, RT_STR("presets")), d->presets, d->preset_count);
	if (d->failure_count > 0)
		add_failures(m, object_member(&o, RT_STR("failures")), d);
	add_takes(m, object_member(&o, RT_STR("takes")), d);
	object_end(&o, out);
}

void
model_canonical(const model *m, rt_buf *out)
{
	const model_project *p = model_project_of(m);
	json_object o;
	rt_buf *buf;
	size_t i;

	object_begin(&o);
	object_text(&o, "active", model_name_of(m, p->active));
	buf = object_member(&o, RT_STR("discussions"));
	rt_buf_add_byte(buf, '[');
	for (i = 0; i < p->cell_count; i++) {
		rt_json_add_comma(buf);
		add_disc(m, buf, p->cells[i].number);
	}
	rt_buf_add_byte(buf, ']');
	buf = object_member(&o, RT_STR("roles"));
	rt_buf_add_byte(buf, '[');
	for (i = 0; i < p->role_count; i++) {
		rt_json_add_comma(buf);
		rt_json_add_string(buf, p->roles[i]);
	}
	rt_buf_add_byte(buf, ']');
	if (p->setting_count > 0)
		model_add_pairs(object_member(&o, RT_STR("settings")), p->settings,
				p->setting_count);
	object_end(&o, out);
	rt_buf_add_byte(out, '\n');
}
