/* SPDX-License-Identifier: MIT
 *
 * History as JSON: the list of steps, one step in words, the revisions of an entry. */
#include "log/engine_impl.h"
#include "view/history_text.h"
#include "view/view.h"

enum { ROWS = 64, ABOUT = 60 /* characters of a text that are shown */ };

/* A stretch of the log, newest first, copied out of the store. */
typedef struct stretch {
	rt_arena *arena;
	struct {
		uint64_t seq;
		int64_t at_us;
		rt_str data;
	} rows[ROWS];
	size_t count;
	bool nomem;
} stretch;

static bool
add_row(void *ctx, const rt_store_row *row)
{
	stretch *s = ctx;
	char *copy = rt_arena_get(s->arena, row->data.size + 1);

	if (copy == NULL) {
		s->nomem = true;
		return false;
	}
	memcpy(copy, row->data.ptr, row->data.size);
	s->rows[s->count].seq = row->number;
	s->rows[s->count].at_us = row->at_us;
	s->rows[s->count++].data = rt_str_at(copy, row->data.size);
	return s->count < ROWS;
}

/* Rows first .. last in either direction, at most ROWS. */
static rt_status
read_stretch(rt_engine *engine, stretch *s, uint64_t first, uint64_t last, rt_error *err)
{
	rt_status st;

	s->count = 0;
	rt_arena_reset(s->arena);
	st = engine->store->ops->read(engine->store,
				      rt_rows_between(RT_STORE_LOG, engine->project, first, last),
				      add_row, s, err);
	return st == RT_OK && s->nomem ? rt_fail(err, RT_NOMEM, "out of memory") : st;
}

static rt_status
stretch_init(rt_engine *engine, stretch *s, rt_error *err)
{
	memset(s, 0, sizeof(*s));
	s->arena = rt_arena_new(engine->alloc);
	return s->arena != NULL ? RT_OK : rt_fail(err, RT_NOMEM, "out of memory");
}

static void
add_time(rt_buf *buf, const char *key, int64_t at_us)
{
	rt_json_add_key(buf, key);
	rt_buf_add_byte(buf, '"');
	rt_moment_format_ms(buf, (rt_moment){at_us, 0});
	rt_buf_add_byte(buf, '"');
}

/* What a list of steps says of one beside what its row does. */
typedef struct listed {
	uint64_t parent;
	bool of_disc, is_current, in_effect;
} listed;

static rt_status
add_words(const rt_project *project, const rt_record *step, bool plain, rt_buf *buf, rt_error *err)
{
	rt_buf words;
	rt_status st;

	rt_buf_init(&words, project->object.alloc, RT_BUF_UNLIMITED);
	st = rt_history_text(project, step, plain, &words, err);
	if (st == RT_OK)
		rt_json_add_string(buf, rt_buf_str(&words));
	rt_buf_deinit(&words);
	return st;
}

static bool
parent_in(const rt_record *step, uint32_t disc, uint64_t *out)
{
	size_t i;

	for (i = 0; i < step->parent_count; i++)
		if (step->parents[i].disc == disc) {
			*out = step->parents[i].step;
			return true;
		}
	return false;
}

/* The first words of the entry that the step is about. A text that was purged is not shown; in
 * place of one that was lost it says so. */
static rt_status
add_about(rt_engine *engine, const rt_project *project, const rt_disc *disc,
	  const rt_record *step, rt_buf *buf, rt_error *err)
{
	uint64_t number;
	uint32_t entry = rt_history_text_entry(step, &number);
	rt_slot slot = {0};
	bool found = false;
	rt_buf bytes;
	rt_body body;
	size_t at;
	rt_status st = RT_OK;

	if (number == 0 && entry != 0 && entry < project->next_entry) {
		st = rt_take_find(project, rt_disc_active(disc), entry, &at, &slot, &found, err);
		number = found ? slot.body : 0;
	}
	if (st != RT_OK || number == 0)
		return st;
	st = rt_engine_body(engine, number, &bytes, &body, err);
	if (st == RT_CORRUPT || st == RT_NOT_FOUND) { /* it is lost; the step is not */
		rt_buf_add_c(buf, ",\"about\":\"(this text is damaged; run: retake fsck)\"");
		return RT_OK;
	}
	if (st != RT_OK)
		return st;
	if (body.format != RT_BODY_PURGED) {
		rt_json_add_key(buf, "about");
		st = rt_view_add_preview(engine->alloc, &body, ABOUT, buf, err);
	}
	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
	return st;
}

/* The take that the step changed. */
static void
add_take(const rt_disc *disc, const rt_record *step, rt_buf *buf)
{
	uint32_t number = rt_history_text_take(step, disc->number);
	const rt_take *take = number != 0 ? rt_disc_take(disc, number) : NULL;

	if (take == NULL)
		return;
	rt_buf_add_f(buf, ",\"take\":{\"id\":\"t%u\",\"name\":", number);
	rt_json_add_string(buf, rt_text_str(take->name));
	rt_buf_add_byte(buf, '}');
}

/* The setting that was all that the step changed. */
static void
add_setting(const rt_record *step, rt_buf *buf)
{
	rt_str name = rt_history_text_setting(step);

	if (name.size == 0)
		return;
	rt_json_add_key(buf, "setting");
	rt_json_add_string(buf, name);
}

/* One step as an object, still open. */
static rt_status
add_listed(rt_engine *engine, const rt_project *project, const rt_disc *disc,
	   const rt_record *step, uint64_t seq, int64_t at_us, const listed *how, rt_buf *buf, rt_error *err)
{
	rt_status st;

	rt_buf_add_c(buf, "{\"seq\":");
	rt_buf_add_u64(buf, seq);
	rt_json_add_key(buf, "parent");
	rt_buf_add_u64(buf, how->parent);
	rt_json_add_key(buf, "op");
	rt_json_add_string(buf, step->op);
	rt_json_add_key(buf, "what");
	st = add_words(project, step, false, buf, err);
	rt_json_add_key(buf, "did");
	if (st == RT_OK)
		st = add_words(project, step, true, buf, err);
	if (st == RT_OK)
		st = add_about(engine, project, disc, step, buf, err);
	add_take(disc, step, buf);
	add_setting(step, buf);
	rt_json_add_key(buf, "by");
	rt_json_add_string(buf, step->by);
	add_time(buf, "at", at_us);
	rt_json_add_key(buf, "scope");
	rt_json_add_string(buf, how->of_disc ? RT_STR("discussion") : RT_STR("project"));
	rt_json_add_key(buf, "current");
	rt_buf_add_c(buf, how->is_current ? "true" : "false");
	rt_json_add_key(buf, "undone");
	rt_buf_add_c(buf, how->in_effect ? "false" : "true");
	return st;
}

/* The end of a step's object. rows: of the log, where it has several. */
static void
end_listed(rt_buf *buf, size_t rows)
{
	if (rows > 1) {
		rt_json_add_key(buf, "rows");
		rt_buf_add_u64(buf, rows);
	}
	rt_buf_add_byte(buf, '}');
}

/* Steps below `before` (0: all) from *at on. */
static rt_status
list_steps(rt_engine *engine, const rt_project *project, uint32_t disc_number, rt_history_at *at,
	   uint64_t before, size_t limit, rt_buf *buf, rt_error *err)
{
	const rt_disc *disc;
	stretch *s = rt_new0(engine->alloc, sizeof(*s));
	rt_arena *arena = rt_arena_new(engine->alloc);
	rt_history_at now = *at;
	uint64_t current;
	size_t count = 0, open_rows = 0; /* of the step at hand, while its object is open */
	bool full = false;
	rt_status st;

	if (disc_number == 0)
		disc_number = project->active;
	if (s == NULL || arena == NULL)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	else
		st = stretch_init(engine, s, err);
	if (st == RT_OK)
		st = rt_project_disc(project, disc_number, &disc, err);
	if (st != RT_OK)
		goto done;
	if (!now.is_begun)
		now = (rt_history_at){true, project->seq, disc->history.current,
				      project->history.current, 0};
	current = disc->history.current > project->history.current ? disc->history.current
								    : project->history.current;
	rt_buf_add_byte(buf, '[');
	while (st == RT_OK && now.seq > 0 && !full) {
		size_t i;

		st = read_stretch(engine, s, now.seq, now.seq > ROWS ? now.seq - ROWS + 1 : 1, err);
		if (st == RT_OK && s->count == 0)
			break;
		for (i = 0; st == RT_OK && i < s->count && !full; i++) {
			uint64_t seq = s->rows[i].seq, parent = 0, other = 0;
			rt_record step;
			bool of_disc, of_project, goes_on;
			listed how;

			/* a row of a group that is listed already may belong to it */
			full = limit != 0 && count >= limit && now.group == 0;
			if (full)
				break;
			rt_arena_reset(arena);
			now.seq = seq - 1;
			st = rt_record_read(engine->alloc, arena, s->rows[i].data, &step, err);
			if (st != RT_OK || step.kind != RT_RECORD_STEP)
				continue;
			of_disc = parent_in(&step, disc_number, &parent);
			of_project = parent_in(&step, 0, &other);
			if (!of_disc && !of_project)
				continue;
			how.of_disc = of_disc;
			how.parent = of_disc ? parent : other;
			how.is_current = seq == current;
			how.in_effect = (of_disc && seq == now.in_disc) ||
					(of_project && seq == now.in_project);
			goes_on = now.group != 0 && (step.group == now.group || seq == now.group);
			if (!goes_on && open_rows > 0) {
				end_listed(buf, open_rows);
				open_rows = 0;
			}
			if (!goes_on && limit != 0 && count >= limit) {
				now.seq = seq;
				now.group = 0;
				full = true;
				break;
			}
			if (of_project && seq == now.in_project)
				now.in_project = other;
			if (of_disc && seq == now.in_disc)
				now.in_disc = parent;
			now.group = seq == now.group ? 0 : step.group;
			if (goes_on) {
				open_rows += open_rows > 0;
				continue;
			}
			if (before != 0 && seq >= before)
				continue;
			if (count++ > 0)
				rt_buf_add_byte(buf, ',');
			st = add_listed(engine, project, disc, &step, seq, s->rows[i].at_us, &how,
					buf, err);
			open_rows = 1;
		}
	}
	if (open_rows > 0)
		end_listed(buf, open_rows);
	rt_buf_add_byte(buf, ']');
	if (st == RT_OK && buf->status != RT_OK)
		st = rt_fail(err, buf->status, "out of memory");
	if (st == RT_OK)
		*at = now;
done:
	if (s != NULL)
		rt_arena_free(s->arena);
	rt_free(engine->alloc, s);
	rt_arena_free(arena);
	return st;
}

rt_status
rt_view_history_next(rt_engine *engine, const rt_project *project, uint32_t disc_number,
		     rt_history_at *at, size_t limit, rt_buf *buf, rt_error *err)
{
	return list_steps(engine, project, disc_number, at, 0, limit, buf, err);
}

rt_status
rt_view_history(rt_engine *engine, const rt_project *project, uint32_t disc_number, uint64_t before,
		size_t limit, rt_buf *buf, rt_error *err)
{
	rt_history_at at = {0};

	return list_steps(engine, project, disc_number, &at, before, limit, buf, err);
}

/* ---- one step ---- */

static rt_status
add_side(rt_engine *engine, const rt_project *project, const rt_effect_slot *slot, rt_buf *buf,
	 rt_error *err)
{
	char id[RT_ID_MAX + 1];
	rt_buf bytes;
	rt_body body;
	rt_status st = rt_entry_id(project, slot->slot.entry, id, err);

	if (st != RT_OK)
		return st;
	st = rt_engine_body(engine, slot->slot.body, &bytes, &body, err);
	if (st == RT_OK) {
		rt_buf_add_c(buf, "{\"id\":");
		rt_json_add_string(buf, rt_str_of(id));
		rt_json_add_key(buf, "role");
		rt_json_add_string(buf, slot->role);
		rt_json_add_key(buf, "content");
		rt_body_add_content(buf, &body);
		rt_json_add_key(buf, "muted");
		rt_buf_add_c(buf, (slot->slot.flags & RT_SLOT_MUTED) != 0 ? "true" : "false");
		rt_buf_add_byte(buf, '}');
	}
	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
	return st;
}

static rt_status
add_effect(rt_engine *engine, const rt_project *project, const rt_effect *e, rt_buf *buf,
	   rt_error *err)
{
	size_t i;
	rt_status st = RT_OK;

	switch (e->kind) {
	case RT_EFFECT_SPLICE:
		rt_buf_add_f(buf, "{\"effect\":\"splice\",\"discussion\":\"d%u\",\"take\":\"t%u\",\"at\":",
			     e->disc, e->sub);
		rt_buf_add_u64(buf, e->at);
		rt_buf_add_c(buf, ",\"before\":[");
		for (i = 0; st == RT_OK && i < e->removed_count; i++) {
			rt_buf_add_c(buf, i > 0 ? "," : "");
			st = add_side(engine, project, &e->removed[i], buf, err);
		}
		rt_buf_add_c(buf, "],\"after\":[");
		for (i = 0; st == RT_OK && i < e->added_count; i++) {
			rt_buf_add_c(buf, i > 0 ? "," : "");
			st = add_side(engine, project, &e->added[i], buf, err);
		}
		rt_buf_add_c(buf, "]}");
		break;
	case RT_EFFECT_NEW:
		rt_buf_add_c(buf, e->disc == 0 ? "{\"effect\":\"new discussion\",\"name\":"
					       : "{\"effect\":\"new take\",\"name\":");
		rt_json_add_string(buf, e->name);
		rt_json_add_key(buf, "entries");
		rt_buf_add_u64(buf, e->count);
		rt_buf_add_byte(buf, '}');
		break;
	case RT_EFFECT_SET:
		rt_buf_add_c(buf, "{\"effect\":\"set\",\"field\":");
		rt_json_add_string(buf, e->key);
		rt_json_add_key(buf, "before");
		rt_buf_add_str(buf, e->before.ptr != NULL ? e->before : RT_STR("null"));
		rt_json_add_key(buf, "after");
		rt_buf_add_str(buf, e->after.ptr != NULL ? e->after : RT_STR("null"));
		rt_buf_add_byte(buf, '}');
		break;
	}
	return st;
}

rt_status
rt_view_step(rt_engine *engine, const rt_project *project, uint64_t seq, rt_buf *buf, rt_error *err)
{
	rt_arena *arena = rt_arena_new(engine->alloc);
	rt_record record;
	int64_t at_us;
	size_t i;
	rt_status st = arena != NULL ? RT_OK : rt_fail(err, RT_NOMEM, "out of memory");

	if (st == RT_OK)
		st = rt_engine_record(engine, seq, arena, &record, &at_us, err);
	if (st == RT_OK) {
		rt_buf_add_c(buf, "{\"seq\":");
		rt_buf_add_u64(buf, seq);
		rt_json_add_key(buf, "op");
		rt_json_add_string(buf, record.op);
		rt_json_add_key(buf, "what");
		st = add_words(project, &record, false, buf, err);
		rt_json_add_key(buf, "by");
		rt_json_add_string(buf, record.by);
		add_time(buf, "at", at_us);
		if (record.extra.size > 0) {
			rt_json_add_key(buf, "extra");
			rt_buf_add_str(buf, record.extra);
		}
		rt_json_add_key(buf, "effects");
		rt_buf_add_byte(buf, '[');
		for (i = 0; st == RT_OK && i < record.effect_count; i++) {
			rt_buf_add_c(buf, i > 0 ? "," : "");
			st = add_effect(engine, project, &record.effects[i], buf, err);
		}
		rt_buf_add_c(buf, "],\"moves\":[");
		for (i = 0; i < record.move_count; i++) {
			rt_buf_add_c(buf, i > 0 ? ",{\"step\":" : "{\"step\":");
			rt_buf_add_u64(buf, record.moves[i].step);
			rt_buf_add_f(buf, ",\"direction\":%d}", record.moves[i].direction);
		}
		rt_buf_add_c(buf, "]}");
	}
	rt_arena_free(arena);
	if (st == RT_OK && buf->status != RT_OK)
		st = rt_fail(err, buf->status, "out of memory");
	return st;
}

/* ---- revisions ---- */

rt_status
rt_view_revisions(rt_engine *engine, const rt_project *project, uint32_t disc_number,
		  uint32_t entry, rt_buf *buf, rt_error *err)
{
	stretch *s = rt_new0(engine->alloc, sizeof(*s));
	rt_arena *arena = rt_arena_new(engine->alloc);
	uint64_t seq = 1, seen = 0;
	const rt_disc *disc;
	rt_slot now = {0};
	bool found = false, first = true;
	char mark[24];
	size_t mark_size, at;
	rt_status st;

	if (s == NULL || arena == NULL)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	else
		st = stretch_init(engine, s, err);
	if (st == RT_OK)
		st = rt_project_disc(project, disc_number != 0 ? disc_number : project->active,
				     &disc, err);
	if (st == RT_OK)
		st = rt_take_find(project, rt_disc_active(disc), entry, &at, &now, &found, err);
	/* only rows that hold "[<entry>," are worth taking apart */
	{
		rt_buf text;

		rt_buf_init(&text, engine->alloc, sizeof(mark));
		rt_buf_add_byte(&text, '[');
		rt_buf_add_u64(&text, entry);
		rt_buf_add_byte(&text, ',');
		mark_size = text.size < sizeof(mark) ? text.size : 0;
		if (mark_size > 0)
			memcpy(mark, text.ptr, mark_size);
		rt_buf_deinit(&text);
	}
	rt_buf_add_byte(buf, '[');
	while (st == RT_OK && seq <= project->seq) {
		size_t i, j, k;

		st = read_stretch(engine, s, seq, project->seq, err);
		if (st == RT_OK && s->count == 0)
			break;
		for (i = 0; st == RT_OK && i < s->count; i++) {
			rt_record step;

			seq = s->rows[i].seq + 1;
			if (rt_str_find(s->rows[i].data, rt_str_at(mark, mark_size), 0) == SIZE_MAX)
				continue;
			rt_arena_reset(arena);
			st = rt_record_read(engine->alloc, arena, s->rows[i].data, &step, err);
			for (j = 0; st == RT_OK && j < step.effect_count; j++)
				for (k = 0; st == RT_OK && k < step.effects[j].added_count; k++) {
					const rt_effect_slot *slot = &step.effects[j].added[k];
					rt_buf bytes;
					rt_body body;

					if (slot->slot.entry != entry || slot->slot.body <= seen)
						continue;
					seen = slot->slot.body; /* bodies are numbered upwards */
					st = rt_engine_body(engine, slot->slot.body, &bytes, &body,
							    err);
					if (st == RT_OK) {
						rt_buf_add_c(buf, first ? "{\"seq\":" : ",{\"seq\":");
						first = false;
						rt_buf_add_u64(buf, s->rows[i].seq);
						rt_json_add_key(buf, "body");
						rt_buf_add_u64(buf, slot->slot.body);
						add_time(buf, "at", s->rows[i].at_us);
						rt_json_add_key(buf, "by");
						rt_json_add_string(buf, step.by);
						rt_json_add_key(buf, "content");
						rt_body_add_content(buf, &body);
						if (body.format == RT_BODY_PURGED)
							rt_buf_add_c(buf, ",\"purged\":true");
						rt_json_add_key(buf, "current");
						rt_buf_add_c(buf,
							     found && now.body == slot->slot.body
								     ? "true}"
								     : "false}");
					}
					rt_body_deinit(&body);
					rt_buf_deinit(&bytes);
				}
		}
	}
	rt_buf_add_byte(buf, ']');
	if (s != NULL)
		rt_arena_free(s->arena);
	rt_free(engine->alloc, s);
	rt_arena_free(arena);
	if (st == RT_OK && buf->status != RT_OK)
		st = rt_fail(err, buf->status, "out of memory");
	return st;
}
