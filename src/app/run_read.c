/* SPDX-License-Identifier: MIT
 *
 * Readers of runs: changes since their cursor, as events. */
#define _POSIX_C_SOURCE 200809L

#include "app/run_impl.h"

typedef struct reading {
	const rt_run_cursor *cursor;
	rt_run_event_fn fn;
	void *ctx;
	bool is_full;
} reading;

static void
emit(reading *r, const rt_run *run, rt_run_event event)
{
	rt_run_info info = rt_run_get_info(run);

	event.run = &info;
	r->is_full = !r->fn(r->ctx, &event);
}

static void
emit_beginning(reading *r, const rt_run *run, rt_run_place *place)
{
	if (place->is_late) {
		size_t end = rt_run_text_cut(&run->text, RT_RUN_EVENT_MAX);

		emit(r, run, (rt_run_event){.kind = RT_RUN_SNAPSHOT, .text_end = end});
		place->offset = end;
	} else {
		emit(r, run, (rt_run_event){.kind = RT_RUN_STARTED});
	}
	place->is_begun = true;
	place->is_asked = run->question[0] != '\0'; /* both are part of the event */
	if (run->notice.size > 0)
		place->notice = run->notice_number;
}

/* More of one piece; a slow reader gets one long delta instead of many. */
static void
emit_delta(reading *r, const rt_run *run, rt_run_place *place)
{
	const rt_run_text *t = &run->text;
	size_t number = rt_run_text_piece(t, place->offset), end = rt_run_text_end(t, number);
	const rt_run_piece *piece = &t->pieces[number];
	rt_str more = rt_str_at(t->bytes.ptr + place->offset, end - place->offset);

	more.size = rt_utf8_cut(more, RT_RUN_EVENT_MAX);
	emit(r, run, (rt_run_event){.kind = RT_RUN_DELTA,
				    .piece = piece,
				    .offset = piece->from + (place->offset - piece->at),
				    .text = more});
	place->offset += more.size;
}

/* Does the reader not have this row of the run yet? The run is read again once it has. */
static bool
lacks_row(const reading *r, const rt_run *run, uint64_t seq)
{
	return seq > r->cursor->seq && run->epoch == r->cursor->epoch;
}

/* The events of one run. true: there are more. */
static bool
emit_events(reading *r, const rt_run *run, rt_run_place *place)
{
	const rt_run_text *t = &run->text;

	if (r->is_full)
		return true;
	if (!place->is_begun)
		emit_beginning(r, run, place);
	if (run->question[0] != '\0' && !place->is_asked) {
		if (lacks_row(r, run, run->question_seq))
			return false;
		emit(r, run, (rt_run_event){.kind = RT_RUN_ASKED});
		place->is_asked = true;
	}
	if (place->notice != run->notice_number) {
		place->notice = run->notice_number;
		if (run->notice.size > 0)
			emit(r, run, (rt_run_event){.kind = RT_RUN_NOTICE});
	}
	while (place->offset < t->bytes.size && !r->is_full)
		emit_delta(r, run, place);
	if (place->offset < t->bytes.size)
		return true;
	if (run->state == RT_RUN_RUNNING || lacks_row(r, run, run->seq))
		return false;
	if (r->is_full)
		return true;
	emit(r, run, (rt_run_event){.kind = RT_RUN_ENDED});
	place->is_ended = true;
	return false;
}

/* Positions for runs that are new to the reader. false: some did not fit. */
static bool
admit(const rt_runs *runs, rt_run_cursor *cursor)
{
	const rt_run *run = runs->newest;

	while (run != NULL && run->older != NULL && run->older->number > cursor->seen)
		run = run->older;
	for (; run != NULL; run = run->newer) {
		if (run->number <= cursor->seen)
			continue;
		if (cursor->count == RT_RUN_PLACES)
			return false;
		cursor->seen = run->number;
		if ((cursor->is_new && run->state != RT_RUN_RUNNING) ||
		    (cursor->disc != 0 && run->asked.disc != cursor->disc))
			continue;
		cursor->at[cursor->count++] =
			(rt_run_place){.run = run->number, .is_late = cursor->is_new};
	}
	cursor->seen = runs->last;
	cursor->is_new = false;
	return true;
}

void
rt_runs_join(rt_runs *runs, rt_run_cursor *cursor)
{
	pthread_mutex_lock(&runs->lock);
	(void)admit(runs, cursor);
	pthread_mutex_unlock(&runs->lock);
}

bool
rt_runs_read(rt_runs *runs, rt_run_cursor *cursor, rt_run_event_fn fn, void *ctx)
{
	reading r = {.cursor = cursor, .fn = fn, .ctx = ctx};
	bool more = false, all;

	pthread_mutex_lock(&runs->lock);
	do {
		size_t kept = 0, had;

		all = admit(runs, cursor);
		had = cursor->count;
		for (size_t i = 0; i < had; i++) {
			const rt_run *run = rt_runs_find(runs, cursor->at[i].run);

			if (run != NULL && emit_events(&r, run, &cursor->at[i]))
				more = true;
			if (run != NULL && !cursor->at[i].is_ended)
				cursor->at[kept++] = cursor->at[i];
		}
		cursor->count = kept;
		if (kept == had)
			break;
	} while (!all);
	pthread_mutex_unlock(&runs->lock);
	return more;
}
