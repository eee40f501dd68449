/* SPDX-License-Identifier: MIT
 *
 * Log rows and bodies, read from the store and decoded. */
#include "log/engine_impl.h"

/* ---- log rows ---- */

typedef struct row_copy {
	rt_buf *data; /* NULL: only the time and the operation are needed */
	int64_t at_us;
	bool is_import;
	bool found;
} row_copy;

static bool
copy_row(void *ctx, const rt_store_row *row)
{
	row_copy *copy = ctx;

	if (copy->data != NULL)
		rt_buf_add_str(copy->data, row->data);
	copy->at_us = row->at_us;
	copy->is_import = rt_record_is_of(row->data, RT_STR(RT_STEP_IMPORT));
	copy->found = true;
	return false;
}

/* It was never written, or it was lost. */
static rt_status
no_row(rt_engine *engine, uint64_t seq, rt_error *err)
{
	uint64_t head;
	rt_status st = rt_engine_head(engine, RT_STORE_LOG, &head, err);

	if (st != RT_OK)
		return st;
	if (seq >= 1 && seq <= head)
		return rt_engine_damaged(engine, err, "log row %llu is missing",
					 (unsigned long long)seq);
	return rt_fail_advise(err, RT_NOT_FOUND, "see: retake history", "no step %llu",
			      (unsigned long long)seq);
}

static rt_status
read_row(rt_engine *engine, uint64_t seq, row_copy *copy, rt_error *err)
{
	rt_status st = rt_engine_read(engine, RT_STORE_LOG, seq, seq, copy_row, copy, err);

	if (st == RT_OK && !copy->found)
		return no_row(engine, seq, err);
	if (st == RT_OK && copy->data != NULL && copy->data->status != RT_OK)
		return rt_fail(err, copy->data->status, "out of memory");
	return st;
}

rt_status
rt_engine_record(rt_engine *engine, uint64_t seq, rt_arena *arena, rt_record *out,
		 int64_t *out_at_us, rt_error *err)
{
	rt_buf data;
	row_copy copy = {.data = &data};

	rt_buf_init(&data, engine->alloc, RT_BUF_UNLIMITED);
	rt_status st = read_row(engine, seq, &copy, err);
	if (st == RT_OK)
		st = rt_record_read(engine->alloc, arena, rt_buf_str(&data), out, err);
	if (st == RT_OK && out_at_us != NULL)
		*out_at_us = copy.at_us;
	rt_buf_deinit(&data);
	return st;
}

rt_status
rt_engine_row_time(rt_engine *engine, uint64_t seq, rt_row_time *time, rt_error *err)
{
	row_copy copy = {.data = NULL};

	if (seq != 0 && time->seq == seq)
		return RT_OK;
	rt_status st = read_row(engine, seq, &copy, err);
	if (st == RT_OK)
		*time = (rt_row_time){seq, copy.at_us, copy.is_import};
	return st;
}

const rt_effect_slot *
rt_record_next_slot(const rt_record *record, rt_slot_walk *walk)
{
	for (; walk->effect < record->effect_count; walk->effect++, walk->index = 0) {
		const rt_effect *e = &record->effects[walk->effect];
		size_t i = walk->index++;

		walk->is_added = i >= e->removed_count;
		if (!walk->is_added)
			return &e->removed[i];
		if (i - e->removed_count < e->added_count)
			return &e->added[i - e->removed_count];
	}
	return NULL;
}

uint64_t
rt_record_work(const rt_record *record)
{
	uint64_t work = record->effect_count;

	for (size_t i = 0; i < record->effect_count; i++)
		work += record->effects[i].removed_count + record->effects[i].added_count;
	return work;
}

/* ---- bodies ---- */

rt_status
rt_engine_no_body(uint64_t number, rt_error *err)
{
	return rt_fail_advise(err, RT_CORRUPT, "run: retake fsck", "body %llu is missing",
			      (unsigned long long)number);
}

rt_status
rt_engine_body(rt_engine *engine, uint64_t number, rt_buf *bytes, rt_body *out, rt_error *err)
{
	rt_buf_init(bytes, engine->alloc, RT_BUF_UNLIMITED);
	*out = (rt_body){0};
	rt_status st = rt_store_get(engine->store,
				    rt_rows_one(RT_STORE_BODIES, engine->project, number), bytes,
				    NULL, err);
	if (st == RT_NOT_FOUND)
		st = rt_engine_no_body(number, err);
	if (st == RT_OK && bytes->status != RT_OK)
		st = rt_fail(err, bytes->status, "out of memory");
	if (st == RT_OK)
		st = rt_body_read(engine->alloc, rt_buf_str(bytes), out, err);
	if (st != RT_OK) { /* nothing is left to release; deinit is harmless */
		rt_buf_deinit(bytes);
		rt_buf_init(bytes, engine->alloc, RT_BUF_UNLIMITED);
	}
	return st;
}

/* Slots ordered by body, to be matched with the bodies that are read. */
typedef struct run_pick {
	const rt_slot *slots;
	unsigned char order[RT_BODY_RUN_MAX]; /* indices of slots, by body */
	size_t count, next;                   /* order[next ..] are still missing */
	rt_body_run *out;
} run_pick;

static bool
pick_body(void *ctx, const rt_store_row *row)
{
	run_pick *p = ctx;
	size_t at = p->out->bytes.size;

	rt_buf_add_str(&p->out->bytes, row->data);
	for (; p->next < p->count && p->slots[p->order[p->next]].body == row->number; p->next++) {
		p->out->at[p->order[p->next]] = at;
		p->out->size[p->order[p->next]] = row->data.size;
	}
	return true;
}

rt_status
rt_engine_body_run(rt_engine *engine, const rt_slot *slots, size_t count, rt_body_run *out,
		   rt_error *err)
{
	run_pick pick = {.slots = slots, .count = count, .out = out};
	uint64_t numbers[RT_BODY_RUN_MAX];
	size_t number_count = 0, room = count * 128;

	RT_ASSERT(count <= RT_BODY_RUN_MAX);
	rt_buf_init(&out->bytes, engine->alloc, RT_BUF_UNLIMITED);
	for (size_t i = 0; i < count; i++)
		room += slots[i].size;
	(void)rt_buf_reserve(&out->bytes, room); /* their texts; fields may need more */
	for (size_t i = 0; i < count; i++) {     /* insertion sort: nearly in order as a rule */
		size_t k = i;

		for (; k > 0 && slots[pick.order[k - 1]].body > slots[i].body; k--)
			pick.order[k] = pick.order[k - 1];
		pick.order[k] = (unsigned char)i;
	}
	for (size_t i = 0; i < count; i++) {
		uint64_t number = slots[pick.order[i]].body;

		if (number_count == 0 || numbers[number_count - 1] != number)
			numbers[number_count++] = number;
	}
	rt_status st = engine->store->ops->read(
		engine->store,
		rt_rows_listed(RT_STORE_BODIES, engine->project, numbers, number_count), pick_body,
		&pick, err);
	if (st == RT_OK && pick.next < count)
		st = rt_engine_no_body(slots[pick.order[pick.next]].body, err);
	if (st == RT_OK && out->bytes.status != RT_OK)
		st = rt_fail(err, out->bytes.status, "out of memory");
	return st;
}
