/* SPDX-License-Identifier: MIT
 *
 * A run as people and programs see it: one object, and events for streams. */
#define _POSIX_C_SOURCE 200809L

#include "server/run_impl.h"

#include <stdio.h>

static const char *const states[] = {"running", "done", "stopped", "failed"};

static void
add_string(rt_buf *out, const char *key, rt_str value)
{
	rt_json_add_key(out, key);
	rt_json_add_string(out, value);
}

static void
add_time(rt_buf *out, const char *key, int64_t at_us)
{
	rt_json_add_key(out, key);
	rt_buf_add_byte(out, '"');
	rt_moment_format_ms(out, (rt_moment){at_us, 0});
	rt_buf_add_byte(out, '"');
}

/* All but the texts and the brace that ends it. */
static void
add_head(const rt_run *run, rt_buf *out)
{
	const rt_run_asked *a = &run->asked;

	rt_buf_add_byte(out, '{');
	add_string(out, "run", rt_str_of(run->name));
	add_string(out, "state", rt_str_of(states[run->state]));
	add_string(out, "how", rt_str_of(rt_run_how_words[a->how]));
	add_string(out, "discussion", a->discussion);
	add_string(out, "take", run->take[0] != '\0' ? rt_str_of(run->take) : a->shown_take);
	if (run->model_name.size > 0)
		add_string(out, "model", rt_buf_str(&run->model_name));
	add_time(out, "started", run->started_us);
	if (run->state != RT_RUN_RUNNING)
		add_time(out, "ended", run->ended_us);
	if (a->at.size > 0)
		add_string(out, "at", a->at);
	if (run->question[0] != '\0')
		add_string(out, "question", rt_str_of(run->question));
	rt_buf_add_str(out, rt_str_trim(rt_buf_str(&run->outcome)));
	if (run->replies.size > 0) {
		rt_buf_add_c(out, ",\"replies\":[");
		rt_buf_add_str(out, rt_buf_str(&run->replies));
		rt_buf_add_byte(out, ']');
	}
	if (run->notice.size > 0)
		add_string(out, "notice", rt_buf_str(&run->notice));
	if (run->problem.status != RT_OK) {
		rt_buf_add_c(out, ",\"problem\":{");
		add_string(out, "code", rt_str_of(rt_status_word(run->problem.status)));
		add_string(out, "detail", rt_str_of(run->problem.text));
		rt_buf_add_byte(out, '}');
	}
}

void
rt_run_add(const rt_run *run, bool texts, rt_buf *out)
{
	add_head(run, out);
	if (texts)
		(void)rt_run_text_add_json(&run->text, SIZE_MAX, out);
	rt_buf_add_byte(out, '}');
}

/* ---- events ---- */

static void
add_event(rt_buf *out, const char *name)
{
	rt_buf_add_f(out, "event: %s\ndata: ", name);
}

static void
add_beginning(const rt_run *run, rt_run_place *place, rt_buf *out)
{
	add_event(out, place->is_late ? "run.snapshot" : "run.started");
	add_head(run, out);
	if (place->is_late)
		place->offset = rt_run_text_add_json(&run->text, RT_RUN_EVENT_MAX, out);
	rt_buf_add_c(out, "}\n\n");
	place->is_begun = true;
	place->is_asked = run->question[0] != '\0'; /* these are in there */
	if (run->notice.size > 0)
		place->notice = run->notice_number;
}

static void
add_asked(const rt_run *run, rt_run_place *place, rt_buf *out)
{
	add_event(out, "run.asked");
	rt_buf_add_byte(out, '{');
	add_string(out, "run", rt_str_of(run->name));
	add_string(out, "question", rt_str_of(run->question));
	rt_buf_add_c(out, "}\n\n");
	place->is_asked = true;
}

static void
add_notice(const rt_run *run, rt_run_place *place, rt_buf *out)
{
	place->notice = run->notice_number;
	if (run->notice.size == 0)
		return;
	add_event(out, "run.notice");
	rt_buf_add_byte(out, '{');
	add_string(out, "run", rt_str_of(run->name));
	add_string(out, "text", rt_buf_str(&run->notice));
	rt_buf_add_c(out, "}\n\n");
}

/* More of one piece; so a slow reader is sent one long delta instead of many. */
static void
add_delta(const rt_run *run, rt_run_place *place, rt_buf *out)
{
	static const char *const keys[] = {"text", "thinking", "call"};
	const rt_run_text *t = &run->text;
	size_t number = rt_run_text_piece(t, place->offset), end = rt_run_text_end(t, number);
	const rt_run_piece *p = &t->pieces[number];
	rt_str more = rt_str_at(t->bytes.ptr + place->offset, end - place->offset);

	more.size = rt_utf8_cut(more, RT_RUN_EVENT_MAX);
	add_event(out, "run.delta");
	rt_buf_add_byte(out, '{');
	add_string(out, "run", rt_str_of(run->name));
	if (p->reply > 0)
		rt_buf_add_f(out, ",\"reply\":%u", p->reply);
	if (p->kind == RT_REPLY_CALL)
		rt_buf_add_f(out, ",\"block\":%zu", p->block);
	rt_buf_add_f(out, ",\"offset\":%zu", p->from + (place->offset - p->at));
	add_string(out, keys[p->kind], more);
	rt_buf_add_c(out, "}\n\n");
	place->offset += more.size;
}

static void
add_end(const rt_run *run, rt_run_place *place, rt_buf *out)
{
	add_event(out, "run.ended");
	rt_run_add(run, false, out);
	rt_buf_add_c(out, "\n\n");
	place->is_ended = true;
}

/* Has the stream not been sent this row of the run's yet? It is read again when that is there. */
static bool
lacks_row(const rt_run *run, const rt_run_places *places, uint64_t seq)
{
	return seq > places->seq && run->epoch == places->epoch;
}

/* What one run has for this stream. true: there is more. */
static bool
add_events(const rt_run *run, const rt_run_places *places, rt_run_place *place, size_t room,
	   rt_buf *out)
{
	const rt_run_text *t = &run->text;

	if (out->size >= room)
		return true;
	if (!place->is_begun)
		add_beginning(run, place, out);
	if (run->question[0] != '\0' && !place->is_asked) {
		if (lacks_row(run, places, run->question_seq))
			return false;
		add_asked(run, place, out);
	}
	if (place->notice != run->notice_number)
		add_notice(run, place, out);
	while (place->offset < t->bytes.size && out->size < room)
		add_delta(run, place, out);
	if (place->offset < t->bytes.size)
		return true;
	if (run->state == RT_RUN_RUNNING)
		return false;
	if (lacks_row(run, places, run->seq))
		return false;
	if (out->size >= room)
		return true;
	add_end(run, place, out);
	return false;
}

/* Places for runs that the stream has not heard of. false: some did not fit. */
static bool
admit(const rt_runs *runs, rt_run_places *places)
{
	const rt_run *run = runs->newest;

	while (run != NULL && run->older != NULL && run->older->number > places->seen)
		run = run->older;
	for (; run != NULL; run = run->newer) {
		if (run->number <= places->seen)
			continue;
		if (places->count == RT_RUN_PLACES)
			return false;
		places->seen = run->number;
		if ((places->is_new && run->state != RT_RUN_RUNNING) ||
		    (places->disc != 0 && run->asked.disc != places->disc))
			continue;
		places->at[places->count++] =
			(rt_run_place){.run = run->number, .is_late = places->is_new};
	}
	places->seen = runs->last;
	places->is_new = false;
	return true;
}

void
rt_runs_join(rt_runs *runs, rt_run_places *places)
{
	pthread_mutex_lock(&runs->lock);
	(void)admit(runs, places);
	pthread_mutex_unlock(&runs->lock);
}

bool
rt_runs_events(rt_runs *runs, rt_run_places *places, size_t room, rt_buf *out)
{
	bool more = false, all;

	pthread_mutex_lock(&runs->lock);
	do {
		size_t i, kept = 0, had = places->count;

		all = admit(runs, places);
		had = places->count;
		for (i = 0; i < places->count; i++) {
			const rt_run *run = rt_runs_find(runs, places->at[i].run);

			if (run != NULL && add_events(run, places, &places->at[i], room, out))
				more = true;
			if (run != NULL && !places->at[i].is_ended)
				places->at[kept++] = places->at[i];
		}
		places->count = kept;
		if (kept == had)
			break;
	} while (!all);
	pthread_mutex_unlock(&runs->lock);
	return more;
}
