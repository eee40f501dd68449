/* SPDX-License-Identifier: MIT
 *
 * The received text of a run. Bytes are kept once, in order of arrival, so that a reader's position
 * is one number; pieces give their kinds. */
#define _POSIX_C_SOURCE 200809L

#include "app/run_impl.h"

void
rt_run_text_init(rt_run_text *t, const rt_alloc *alloc)
{
	memset(t, 0, sizeof(*t));
	rt_buf_init(&t->bytes, alloc, RT_RUN_ARRIVED_MAX);
}

void
rt_run_text_deinit(rt_run_text *t)
{
	rt_free(t->bytes.alloc, t->pieces);
	rt_buf_deinit(&t->bytes);
}

void
rt_run_text_next(rt_run_text *t)
{
	t->reply++;
	t->reply_at = t->bytes.size;
	t->reply_piece = t->count;
	t->sizes[0] = t->sizes[1] = 0;
}

size_t
rt_run_text_end(const rt_run_text *t, size_t piece)
{
	return piece + 1 < t->count ? t->pieces[piece + 1].at : t->bytes.size;
}

/* Where the next piece of a call begins in its arguments. */
static size_t
call_size(const rt_run_text *t, size_t block)
{
	size_t i;

	for (i = t->count; i > t->reply_piece; i--) {
		const rt_run_piece *p = &t->pieces[i - 1];

		if (p->kind == RT_REPLY_CALL && p->block == block)
			return p->from + rt_run_text_end(t, i - 1) - p->at;
	}
	return 0;
}

static bool
begin_piece(rt_run_text *t, rt_reply_block_kind kind, size_t block)
{
	size_t room = t->room == 0 ? 8 : t->room * 2;
	rt_run_piece *more, piece = {.at = t->bytes.size, .reply = t->reply, .kind = kind,
				     .block = block};

	piece.from = kind == RT_REPLY_CALL ? call_size(t, block) : t->sizes[kind];
	if (t->count == t->room) {
		more = rt_resize(t->bytes.alloc, t->pieces, room * sizeof(*more));
		if (more == NULL)
			return false;
		t->pieces = more;
		t->room = room;
	}
	t->pieces[t->count++] = piece;
	return true;
}

void
rt_run_text_add(rt_run_text *t, rt_reply_block_kind kind, size_t block, rt_str added)
{
	const rt_run_piece *last = t->count > t->reply_piece ? &t->pieces[t->count - 1] : NULL;
	bool parted = kind != RT_REPLY_CALL && t->sizes[kind] > 0;
	size_t before;

	if (added.size == 0 || t->bytes.status != RT_OK)
		return;
	if (last != NULL && last->kind == kind && last->block == block) {
		parted = false;
	} else if (!begin_piece(t, kind, block)) {
		t->bytes.status = RT_NOMEM;
		return;
	}
	before = t->bytes.size;
	if (rt_buf_reserve(&t->bytes, added.size + 1) != NULL) {
		if (parted)
			rt_buf_add_byte(&t->bytes, '\n');
		rt_buf_add_str(&t->bytes, added);
	} else if (t->pieces[t->count - 1].at == before) {
		t->count--; /* a piece is not empty */
	}
	if (kind != RT_REPLY_CALL)
		t->sizes[kind] += t->bytes.size - before;
}

size_t
rt_run_text_piece(const rt_run_text *t, size_t at)
{
	size_t low = 0, high = t->count;

	RT_ASSERT(at < t->bytes.size);
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (t->pieces[middle].at <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

size_t
rt_run_text_cut(const rt_run_text *t, size_t max)
{
	size_t size = t->bytes.size - t->reply_at;

	if (size <= max)
		return t->bytes.size;
	return t->reply_at + rt_utf8_cut(rt_str_at(t->bytes.ptr + t->reply_at, size), max);
}
