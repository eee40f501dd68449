/* SPDX-License-Identifier: MIT
 *
 * Entries as rows. A take is read in runs of slots, whose bodies come from the store in one go;
 * a body is decoded when its row is next. */
#include "codec/plain.h"
#include "codec/thinking.h"
#include "core/role.h"
#include "log/engine_impl.h"
#include "view/view.h"
#include "view/view_impl.h"

enum { RUN = RT_BODY_RUN_MAX, SIGNS = 256 /* bytes of Markdown that a preview may leave out */ };

/* ---- parts of rows ---- */

static void
close_scope(void *scope)
{
	rt_scope_deinit(scope);
}

rt_scope *
rt_view_inner(rt_scope *outer)
{
	rt_scope *inner = rt_scope_get(outer, sizeof(*inner));

	if (inner == NULL)
		return outer;
	rt_scope_init(inner, outer->alloc);
	rt_scope_defer(outer, close_scope, inner);
	return rt_ok(outer) ? inner : outer;
}

const rt_disc *
rt_view_disc(const rt_view *v)
{
	uint32_t number = v->place.disc != 0 ? v->place.disc : v->project->active;
	const rt_disc *disc = NULL;

	return RT_TRY(v->scope, rt_project_disc(v->project, number, &disc, &v->scope->error)) == RT_OK
		       ? disc
		       : NULL;
}

const rt_take *
rt_view_take(const rt_view *v)
{
	const rt_disc *disc = rt_view_disc(v);
	const rt_take *take =
		disc == NULL ? NULL
			     : rt_disc_take(disc, v->place.take != 0 ? v->place.take : disc->active);

	if (take == NULL)
		(void)rt_scope_fail(v->scope, RT_NOT_FOUND, "no such take");
	return take;
}

rt_str
rt_view_id(rt_scope *s, const rt_project *project, uint32_t entry)
{
	char id[RT_ID_MAX + 1];

	return RT_TRY(s, rt_entry_id(project, entry, id, &s->error)) == RT_OK
		       ? rt_scope_copy(s, rt_str_of(id))
		       : (rt_str){0};
}

rt_str
rt_view_name(rt_scope *s, const rt_project *project, uint16_t number)
{
	rt_str name = {0};

	return RT_TRY(s, rt_project_name(project, number, &name, &s->error)) == RT_OK ? name
										      : (rt_str){0};
}

rt_str
rt_view_kind(rt_scope *s, const rt_project *project, uint16_t number)
{
	rt_str name = rt_view_name(s, project, number);

	return name.size > 0 ? name : RT_STR("message");
}

rt_str
rt_view_label(rt_scope *s, const rt_project *project, const rt_disc *disc, uint32_t entry)
{
	rt_str label = {0};

	RT_TRY(s, rt_disc_label(project, disc, entry, &label, &s->error));
	return rt_ok(s) && label.size > 0 ? label : (rt_str){0};
}

typedef struct stored_body {
	rt_buf bytes;
	rt_body body;
} stored_body;

static void
close_body(void *item)
{
	stored_body *b = item;

	rt_body_deinit(&b->body);
	rt_buf_deinit(&b->bytes);
}

const rt_body *
rt_view_body(const rt_view *v, uint64_t number)
{
	stored_body *b = rt_scope_get(v->scope, sizeof(*b));

	if (RT_TRY(v->scope, rt_engine_body(v->engine, number, &b->bytes, &b->body,
					    &v->scope->error)) != RT_OK)
		return NULL;
	rt_scope_defer(v->scope, close_body, b);
	return rt_ok(v->scope) ? &b->body : NULL;
}

rt_str
rt_view_text(const rt_view *v, uint64_t number)
{
	const rt_body *body = rt_view_body(v, number);
	rt_buf *text = rt_scope_buf(v->scope);

	if (body != NULL)
		rt_content_add_text(text, rt_body_content(body));
	return rt_scope_str(v->scope, text);
}

/* Slots up to this distance from the one before count as read in order. */
enum { NEAR = 8 };
/* The bytes of a run of more than one body. */
#define RUN_BYTES ((size_t)1 << 20)

/* Reads the run that begins, or where slots are read downwards ends, with slots[at]. A damaged body
 * leaves it empty: others may not be affected. */
static void
fill_reader(const rt_view *v, rt_body_reader *r, const rt_slot *slots, size_t count, size_t at)
{
	bool is_down = r->last > at + 1;
	size_t run = 0, bytes = 0, room = is_down ? at + 1 : count - at;

	while (run < room && run < RUN && (run == 0 || bytes < RUN_BYTES)) {
		bytes += slots[is_down ? at - run : at + run].size;
		run++;
	}
	r->from = is_down ? at + 1 - run : at;
	r->count = 0;
	rt_buf_deinit(&r->run.bytes);
	rt_status st = rt_engine_body_run(v->engine, slots + r->from, run, &r->run, NULL);

	for (size_t i = 0; st == RT_OK && i < run; i++)
		r->numbers[i] = slots[r->from + i].body;
	r->count = st == RT_OK ? run : 0;
}

const rt_body *
rt_view_body_at(const rt_view *v, rt_body_reader *r, const rt_slot *slots, size_t count, size_t at)
{
	size_t distance = r->last > at ? r->last - 1 - at : at + 1 - r->last;
	uint64_t number = slots[at].body;

	if (at - r->from >= r->count || r->numbers[at - r->from] != number) {
		r->count = 0;
		if (r->last > 0 && distance <= NEAR)
			fill_reader(v, r, slots, count, at);
	}
	r->last = at + 1;
	if (r->count == 0)
		return rt_view_body(v, number);

	rt_str data = rt_str_at(r->run.bytes.ptr + r->run.at[at - r->from], r->run.size[at - r->from]);
	stored_body *b = rt_scope_get(v->scope, sizeof(*b));

	data = rt_scope_copy(v->scope, data); /* the run may be replaced before the scope ends */
	if (b == NULL || !rt_ok(v->scope))
		return NULL;
	rt_buf_init(&b->bytes, v->scope->alloc, RT_BUF_UNLIMITED);
	RT_TRY(v->scope, rt_body_read(v->scope->alloc, data, &b->body, &v->scope->error));
	rt_scope_defer(v->scope, close_body, b);
	return rt_ok(v->scope) ? &b->body : NULL;
}

void
rt_body_reader_deinit(rt_body_reader *r)
{
	rt_buf_deinit(&r->run.bytes);
}

static void
set_body(rt_entry_row *row, const rt_body *body)
{
	row->body = body;
	row->content = rt_body_content(body);
}

/* All but the position. The strings live in the scope. */
static void
fill(rt_scope *s, const rt_project *project, const rt_disc *disc, const rt_slot *slot,
     const rt_body *body, rt_entry_row *row)
{
	yyjson_val *edited = rt_body_field(body, "edited"); /* the user's own, if there is one */
	unsigned view = 0;

	RT_TRY(s, rt_project_view(project, slot->entry, &view, &s->error));
	*row = (rt_entry_row){
		.id = rt_view_id(s, project, slot->entry),
		.at = row->at,
		.slot = *slot,
		.role = rt_view_name(s, project, slot->role),
		.kind = rt_view_kind(s, project, slot->kind),
		.label = rt_view_label(s, project, disc, slot->entry),
		.has_time = (slot->flags & RT_SLOT_NO_TS) == 0,
		.muted = (slot->flags & RT_SLOT_MUTED) != 0,
		.collapsed = (view & RT_VIEW_COLLAPSED) != 0,
		.read_mode = (view & RT_VIEW_READ_MODE) != 0,
		.edited = edited != NULL ? yyjson_is_true(edited)
					 : (slot->flags & RT_SLOT_EDITED) != 0,
		.partial = yyjson_is_true(rt_body_field(body, "partial")),
		.purged = body->format == RT_BODY_PURGED && !body->lost,
		.lost = body->format == RT_BODY_PURGED && body->lost,
	};
	row->hidden = rt_body_is_hidden(row->kind, body);
	if (disc != NULL && rt_ok(s) && rt_disc_has_failure(disc, row->id))
		row->failure = yyjson_obj_getn(
			rt_json_parse(s, rt_fields_get(disc->fields, RT_STR("failures"))),
			row->id.ptr, row->id.size);
	set_body(row, body);
}

/* ---- the entries of a take ---- */

struct rt_entry_cursor {
	rt_view view;
	rt_scope *strings; /* of the row */
	const rt_disc *disc;
	const rt_take *take;
	rt_str role;    /* that is requested; empty: any */
	size_t at, end; /* remaining positions, after those of the run */
	rt_slot slots[RUN];
	size_t run, next; /* slots that were read; the one that comes next */
	rt_body_run bodies;
	rt_body body;
	rt_entry_row row;
};

static void
close_cursor(void *item)
{
	rt_entry_cursor *c = item;

	rt_body_deinit(&c->body);
	rt_buf_deinit(&c->bodies.bytes);
}

rt_entry_cursor *
rt_entries_open(const rt_view *v, const rt_window *window)
{
	const rt_take *take = rt_view_take(v);
	rt_entry_cursor *c = rt_scope_get(v->scope, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->view = *v;
	c->strings = rt_view_inner(v->scope);
	c->disc = rt_view_disc(v);
	c->take = take;
	c->end = rt_seq_count(take->slots);
	if (window != NULL) {
		c->at = window->from < c->end ? window->from : c->end;
		if (window->count > 0 && window->count < c->end - c->at)
			c->end = c->at + window->count;
		c->role = window->role;
	}
	rt_buf_init(&c->bodies.bytes, v->scope->alloc, RT_BUF_UNLIMITED);
	rt_scope_defer(v->scope, close_cursor, c);
	return rt_ok(v->scope) ? c : NULL;
}

static void
read_run(rt_entry_cursor *c)
{
	rt_scope *s = c->view.scope;

	c->run = c->end - c->at < RUN ? c->end - c->at : RUN;
	c->next = 0;
	RT_TRY(s, rt_seq_copy(c->take->slots, c->at, c->run, c->slots, &s->error));
	rt_buf_deinit(&c->bodies.bytes);
	RT_TRY(s, rt_engine_body_run(c->view.engine, c->slots, c->run, &c->bodies, &s->error));
	c->at += c->run;
}

static bool
has_role(const rt_entry_cursor *c, const rt_slot *slot)
{
	rt_str name;

	return c->role.size == 0 ||
	       (rt_project_name(c->view.project, slot->role, &name, NULL) == RT_OK &&
		rt_role_passes(c->view.project, name, c->role));
}

const rt_entry_row *
rt_entries_next(rt_entry_cursor *c)
{
	rt_scope *s = c != NULL ? c->view.scope : NULL;

	while (s != NULL && rt_ok(s)) {
		if (c->next == c->run && c->at == c->end)
			return NULL;
		if (c->next == c->run) {
			read_run(c);
			continue;
		}
		size_t i = c->next++;

		if (!has_role(c, &c->slots[i]))
			continue;
		rt_body_deinit(&c->body);
		if (RT_TRY(s, rt_body_read(s->alloc,
					   rt_str_at(c->bodies.bytes.ptr + c->bodies.at[i],
						     c->bodies.size[i]),
					   &c->body, &s->error)) != RT_OK)
			return NULL;
		rt_scope_reset(c->strings);
		c->row.at = c->at - c->run + i;
		fill(c->strings, c->view.project, c->disc, &c->slots[i], &c->body, &c->row);
		return rt_scope_adopt(s, c->strings) == RT_OK ? &c->row : NULL;
	}
	return NULL;
}

/* ---- one entry ---- */

static const rt_entry_row *
row_at(const rt_view *v, const rt_slot *slot, size_t at)
{
	const rt_disc *disc = rt_view_disc(v);
	const rt_body *body = rt_view_body(v, slot->body);
	rt_entry_row *row = rt_scope_get(v->scope, sizeof(*row));

	if (row == NULL)
		return NULL;
	row->at = at;
	fill(v->scope, v->project, disc, slot, body, row);
	return rt_ok(v->scope) ? row : NULL;
}

const rt_entry_row *
rt_entry_find(const rt_view *v, uint32_t entry)
{
	rt_scope *s = v->scope;
	const rt_disc *disc = rt_view_disc(v);
	const rt_take *take = rt_view_take(v);
	bool found = false;
	rt_slot slot;
	size_t at;

	RT_TRY(s, rt_take_find(v->project, take, entry, &at, &slot, &found, &s->error));
	for (uint32_t i = 1; rt_ok(s) && !found && i <= rt_disc_take_count(disc); i++)
		if (rt_disc_take(disc, i)->present)
			RT_TRY(s, rt_take_find(v->project, rt_disc_take(disc, i), entry, &at, &slot,
					       &found, &s->error));
	if (rt_ok(s) && !found)
		(void)rt_scope_fail(s, RT_NOT_FOUND, "the entry is no longer in any take");
	return rt_ok(s) ? row_at(v, &slot, at) : NULL;
}

const rt_entry_row *
rt_entry_of_effect(const rt_view *v, const rt_effect_slot *side)
{
	rt_str id = rt_view_id(v->scope, v->project, side->slot.entry);
	const rt_body *body = rt_view_body(v, side->slot.body);
	rt_entry_row *row = rt_scope_get(v->scope, sizeof(*row));

	if (row == NULL)
		return NULL;
	*row = (rt_entry_row){.id = id,
			      .slot = side->slot,
			      .role = side->role,
			      .muted = (side->slot.flags & RT_SLOT_MUTED) != 0};
	set_body(row, body);
	return row;
}

/* ---- its text ---- */

/* The pi record of an entry, or NULL. */
static yyjson_val *
pi_of(const rt_body *body)
{
	return body->format == RT_BODY_PI ? body->fields : rt_body_field(body, "pi");
}

void
rt_entry_add_text(rt_buf *buf, const rt_entry_row *e)
{
	rt_buf brief;

	rt_content_add_text(buf, e->content);
	rt_buf_init(&brief, buf->alloc, RT_BUF_UNLIMITED);
	rt_content_add_brief(&brief, e->content, rt_body_field(e->body, "tool_calls"),
			     pi_of(e->body));
	if (buf->size > 0 && brief.size > 0)
		rt_buf_add_byte(buf, '\n');
	rt_buf_add_str(buf, rt_buf_str(&brief));
	if (brief.status != RT_OK)
		buf->status = brief.status;
	rt_buf_deinit(&brief);
}

rt_str
rt_view_preview(rt_scope *s, rt_str role, const rt_body *body, size_t characters)
{
	bool is_thinking = body->content_json == NULL && rt_body_thinks(role) &&
			   rt_str_find(body->content, RT_STR("hink"), 0) != SIZE_MAX;
	rt_str text = body->content, shown;
	rt_buf made, plain;
	size_t size;

	rt_buf_init(&made, s->alloc, RT_BUF_UNLIMITED);
	if (body->content_json != NULL || is_thinking) {
		rt_body_add_prose(&made, role, body);
		text = rt_buf_str(&made);
	}
	if (is_thinking && rt_str_trim(text).size == 0) {
		rt_buf_add_c(&made, "(thinking)");
		text = rt_buf_str(&made);
	} else if (rt_str_trim(text).size == 0) { /* in its place, the other contents */
		if (body->content_json == NULL)
			rt_buf_add_str(&made, text);
		rt_content_add_brief(&made, rt_body_content(body),
				     rt_body_field(body, "tool_calls"), pi_of(body));
		text = rt_buf_str(&made);
	}
	(void)rt_scope_note(s, made.status);
	if (characters < SIZE_MAX / 8) /* signs take space, too */
		text.size = rt_utf8_cut(text, characters * 4 + SIGNS);
	rt_buf_init(&plain, s->alloc, RT_BUF_UNLIMITED);
	rt_plain_add_entry(&plain, role, text);
	(void)rt_scope_note(s, plain.status);
	rt_buf_deinit(&made);
	for (size_t i = 0; i < plain.size; i++)
		if ((unsigned char)plain.ptr[i] < 0x20)
			plain.ptr[i] = ' ';
	shown = rt_buf_str(&plain);
	size = rt_utf8_offset(shown, characters);
	shown = rt_scope_copy(s, rt_str_at(shown.ptr, size < shown.size ? size : shown.size));
	rt_buf_deinit(&plain);
	return shown;
}

rt_str
rt_view_row_preview(rt_scope *s, rt_str kind, rt_str role, const rt_body *body, size_t characters)
{
	rt_buf *row = rt_scope_buf(s);
	size_t used;

	rt_body_add_title(row, kind, body);
	used = row->size > 0 ? rt_utf8_count(rt_buf_str(row)) + 1 : 0;
	if (used == 0)
		return rt_view_preview(s, role, body, characters);
	if (used < characters) {
		rt_buf_add_byte(row, ' ');
		rt_buf_add_str(row, rt_view_preview(s, role, body, characters - used));
	}
	return rt_str_trim(rt_scope_str(s, row));
}

/* ---- summaries ---- */

/* A field of an entry that may come from a pi session. */
static rt_str
text_of(const rt_body *body, const char *key)
{
	yyjson_val *value = rt_body_field(body, key);

	return rt_json_str(value != NULL ? value : rt_json_get(pi_of(body), key));
}

static bool
is_from_hook(const rt_body *body)
{
	yyjson_val *ours = rt_body_field(body, "from_hook");
	yyjson_val *theirs = rt_body_field(body, "fromHook");

	return yyjson_is_true(ours) || yyjson_is_true(theirs) ||
	       yyjson_is_true(rt_json_get(pi_of(body), "fromHook"));
}

void
rt_body_add_origin(rt_buf *buf, rt_str kind, const rt_body *body)
{
	rt_str hook = text_of(body, "hook"), model = text_of(body, "model");
	rt_str service = text_of(body, "service"), instructions = text_of(body, "instructions");
	size_t start = buf->size;

	if (!rt_str_is(kind, "compaction") && !rt_str_is(kind, "branch_summary"))
		return;
	if (is_from_hook(body)) {
		rt_buf_add_c(buf, hook.size > 0 ? "Written by the hook " : "Written by a hook");
		rt_buf_add_str(buf, hook);
	} else if (model.size > 0) {
		rt_buf_add_c(buf, "Written by ");
		rt_buf_add_str(buf, service);
		rt_buf_add_c(buf, service.size > 0 ? "/" : "");
		rt_buf_add_str(buf, model);
	}
	if (rt_str_is(text_of(body, "reason"), "threshold"))
		rt_buf_add_c(buf, ", automatically");
	if (instructions.size > 0) {
		rt_buf_add_c(buf, buf->size > start ? ". Instructions: " : "Instructions: ");
		rt_buf_add_str(buf, instructions);
	}
}

/* The first of these members that is a number. */
static bool
usage_of(const rt_body *body, const char *const names[3], uint64_t *out)
{
	yyjson_val *usage = rt_body_field(body, "usage");

	for (int i = 0; i < 3; i++)
		if (rt_json_u64(rt_json_get(usage, names[i]), out))
			return true;
	return false;
}

void
rt_body_add_duration(rt_buf *buf, const char *before, const rt_body *body)
{
	uint64_t ms;

	if (!rt_json_u64(rt_body_field(body, "duration_ms"), &ms))
		return;
	rt_buf_add_c(buf, before);
	if (ms < 1000)
		rt_buf_add_f(buf, "%llu ms", (unsigned long long)ms);
	else if (ms < 10000)
		rt_buf_add_f(buf, "%llu.%llu s", (unsigned long long)(ms / 1000),
			     (unsigned long long)(ms % 1000 / 100));
	else if (ms < 60000)
		rt_buf_add_f(buf, "%llu s", (unsigned long long)(ms / 1000));
	else
		rt_buf_add_f(buf, "%llu min %llu s", (unsigned long long)(ms / 60000),
			     (unsigned long long)(ms % 60000 / 1000));
}

void
rt_body_add_model(rt_buf *buf, const rt_body *body)
{
	rt_str model = text_of(body, "model"), provider = text_of(body, "service");

	if (provider.size == 0)
		provider = text_of(body, "provider");
	if (model.size == 0)
		return;
	rt_buf_add_str(buf, provider);
	rt_buf_add_c(buf, provider.size > 0 ? "/" : "");
	rt_buf_add_str(buf, model);
}

void
rt_body_add_usage(rt_buf *buf, const rt_body *body)
{
	static const char *const in[] = {"input_tokens", "prompt_tokens", "input"};
	static const char *const out[] = {"output_tokens", "completion_tokens", "output"};
	static const char *const cached[] = {"cache_read_input_tokens", "cached_tokens", "cacheRead"};
	size_t begin = buf->size;
	const char *comma;
	uint64_t count;

	rt_body_add_model(buf, body);
	comma = buf->size > begin ? ", " : "";
	if (usage_of(body, in, &count)) {
		rt_buf_add_f(buf, "%s%llu tokens in", comma, (unsigned long long)count);
		if (usage_of(body, cached, &count) && count > 0)
			rt_buf_add_f(buf, " (%llu cached)", (unsigned long long)count);
		if (usage_of(body, out, &count))
			rt_buf_add_f(buf, ", %llu out", (unsigned long long)count);
		comma = ", ";
	} else if (usage_of(body, out, &count)) {
		rt_buf_add_f(buf, "%s%llu tokens out", comma, (unsigned long long)count);
		comma = ", ";
	}
	rt_body_add_duration(buf, comma, body);
}

/* ---- hidden entries ---- */

rt_status
rt_view_is_hidden(rt_engine *engine, const rt_project *project, const rt_slot *slot, bool *out,
		  rt_error *err)
{
	rt_str kind, role;
	rt_body body;
	rt_buf bytes;
	rt_status st = rt_project_name(project, slot->kind, &kind, err);

	*out = false;
	if (st == RT_OK)
		st = rt_project_name(project, slot->role, &role, err);
	if (st != RT_OK)
		return st;
	*out = rt_str_is(kind, "custom") || rt_str_is(kind, "label");
	if (*out || (slot->flags & RT_SLOT_RICH) == 0 ||
	    (!rt_str_is(kind, "custom_message") && !rt_str_is(role, "custom")))
		return RT_OK;
	st = rt_engine_body(engine, slot->body, &bytes, &body, err);
	if (st == RT_OK)
		*out = rt_body_is_hidden(kind, &body);
	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
	return st == RT_CORRUPT ? RT_OK : st; /* a damaged text is shown as damaged */
}

rt_status
rt_view_count_hidden(rt_engine *engine, const rt_project *project, const rt_take *take,
		     size_t *out, rt_error *err)
{
	size_t count = rt_seq_count(take->slots), found = 0;
	rt_status st = RT_OK;

	for (size_t at = 0, run; st == RT_OK && at < count; at += run) {
		rt_slot slots[RUN];
		bool hidden = false;

		run = count - at < RUN ? count - at : RUN;
		st = rt_seq_copy(take->slots, at, run, slots, err);
		for (size_t i = 0; st == RT_OK && i < run; i++) {
			st = rt_view_is_hidden(engine, project, &slots[i], &hidden, err);
			found += hidden;
		}
	}
	*out = found;
	return st;
}

/* ---- a take's title; two takes ---- */

const rt_show_row *
rt_show_read(const rt_view *v)
{
	rt_scope *s = v->scope;
	const rt_disc *disc = rt_view_disc(v);
	const rt_take *take = rt_view_take(v);
	rt_show_row *row = rt_scope_get(s, sizeof(*row));
	rt_slot slot;
	size_t head;

	if (row == NULL)
		return NULL;
	row->discussion = rt_cell_name(rt_project_cell(v->project, disc->number));
	row->take = rt_text_str(take->name);
	row->count = head = rt_seq_count(take->slots);
	if (take->number == disc->active)
		RT_TRY(s, rt_disc_head_at(v->project, disc, &head, &s->error));
	if (head > 0 && RT_TRY(s, rt_seq_get(take->slots, head - 1, &slot, &s->error)) == RT_OK)
		row->head = rt_view_id(s, v->project, slot.entry);
	return rt_ok(s) ? row : NULL;
}

rt_diff
rt_diff_open(const rt_view *v, uint32_t take_a, uint32_t take_b)
{
	rt_scope *s = v->scope;
	const rt_disc *disc = rt_view_disc(v);
	rt_diff diff = {0};

	if (disc == NULL)
		return diff;
	diff.a = rt_disc_take(disc, take_a);
	diff.b = rt_disc_take(disc, take_b);
	if (diff.a == NULL || diff.b == NULL)
		(void)rt_scope_fail(s, RT_NOT_FOUND, "no such take");
	RT_TRY(s, rt_seq_common(diff.a->slots, diff.b->slots, &diff.common, &s->error));
	diff.pair = rt_view_inner(s);
	return rt_ok(s) ? diff : (rt_diff){0};
}

bool
rt_diff_next(const rt_view *v, rt_diff *diff)
{
	rt_scope *s = v->scope;
	rt_view pair = {diff->pair, v->engine, v->project, v->place};
	rt_slot was, is;

	RT_TRY(s, rt_seq_differ(diff->a->slots, diff->b->slots, diff->at, &diff->at, &s->error));
	if (!rt_ok(s) || diff->at >= diff->common)
		return false;
	rt_scope_reset(diff->pair);
	RT_TRY(s, rt_seq_get(diff->a->slots, diff->at, &was, &s->error));
	RT_TRY(s, rt_seq_get(diff->b->slots, diff->at, &is, &s->error));
	if (!rt_ok(s))
		return false;
	diff->was = row_at(&pair, &was, diff->at);
	diff->is = row_at(&pair, &is, diff->at);
	diff->at++;
	return rt_scope_adopt(s, diff->pair) == RT_OK;
}
