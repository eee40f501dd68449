/* SPDX-License-Identifier: MIT */
#include "tui/switch.h"

#include "tui/pending.h"

static void
show_chat(rt_tui *tui)
{
	if (tui->pane_count > 1)
		rt_tui_close(tui, tui->panes[1]);
}

/* The place to show after a change, or without one. */
typedef struct destination {
	const char *words;         /* of the change; NULL: the usual ones */
	bool is_opened;            /* instead: that the discussion was opened */
	uint32_t disc, take;       /* disc 0: the place that the change makes active */
	bool is_active;            /* shows the active take, whichever that is then */
	bool closes;               /* panes down to the chat */
	char entry[RT_ID_MAX + 1]; /* shown there; or empty */
} destination;

static rt_status
show_entry(rt_tui *tui, const char *id, rt_error *err)
{
	rt_work *work = &tui->work;
	uint32_t entry = 0;
	size_t at;
	rt_status st = rt_resolve_entry(work->value, work->place, rt_str_of(id), true, &entry, err);

	if (st != RT_OK)
		return st;
	at = rt_work_position(work, entry);
	show_chat(tui);
	st = rt_pane_changed(tui->panes[0]); /* it must know the take before it shows the entry */
	if (at != SIZE_MAX)
		rt_tui_show_entry(tui, at);
	else
		rt_tui_say(tui, "The entry is no longer in this take");
	return st;
}

static rt_status
arrive(rt_tui *tui, const destination *to)
{
	rt_work *work = &tui->work;
	rt_error err;
	rt_status st = RT_OK;

	/* A take that cannot be made active is shown anyway. */
	if (to->disc != 0 && (work->place.disc != to->disc || work->place.take != to->take))
		st = rt_work_look_at(work, to->disc, to->is_active ? 0 : to->take, &err);
	if (st == RT_OK && to->entry[0] != 0)
		st = show_entry(tui, to->entry, &err);
	else if (st == RT_OK && to->closes)
		show_chat(tui);
	if (st == RT_OK || st == RT_NOMEM)
		return st;
	rt_tui_say_error(tui, &err, RT_STR(""));
	return RT_OK;
}

static rt_status
change_done(rt_tui *tui, void *ctx, rt_status st, rt_work_said *said, const rt_error *err)
{
	const destination *to = ctx;
	rt_status then;

	if (st == RT_OK && to->words != NULL) {
		rt_buf_clear(&said->words);
		rt_buf_add_c(&said->words, to->words);
	} else if (st == RT_OK && to->is_opened) {
		rt_buf_clear(&said->words);
		rt_buf_add_f(&said->words, "Opened \"%.*s\"",
			     RT_STR_ARG(rt_cell_name(rt_project_cell(tui->work.value, to->disc))));
	}
	then = rt_pending_change_report(tui, NULL, st, said, err);
	return then == RT_OK && st == RT_OK ? arrive(tui, to) : then;
}

static void
free_ctx(rt_tui *tui, void *ctx)
{
	rt_free(tui->alloc, ctx);
}

static void
change(rt_tui *tui, const rt_request *requests, size_t count, const destination *to)
{
	destination *copy = rt_new(tui->alloc, sizeof(*copy));

	if (copy == NULL) {
		(void)rt_scope_nomem(&tui->scope);
		return;
	}
	*copy = *to;
	RT_TRY(&tui->scope,
	       rt_pending_change_start(tui, &(rt_pending_change_options){.requests = requests,
									 .count = count,
									 .done = change_done,
									 .ctx = copy,
									 .free_ctx = free_ctx}));
}

rt_request
rt_switch_request(rt_tui *tui, rt_op_id op, rt_switch_place p)
{
	rt_request request = {.op = op};

	if (p.take != 0)
		request.discussion = rt_tui_format(tui, RT_BY_ID "d%u", p.disc);
	if (p.disc != 0)
		request.target = p.take != 0 ? rt_tui_format(tui, RT_BY_ID "t%u", p.take)
					     : rt_tui_format(tui, RT_BY_ID "d%u", p.disc);
	return request;
}

void
rt_switch_change(rt_tui *tui, const rt_request *request, bool closes)
{
	change(tui, request, 1, &(destination){.closes = closes});
}

void
rt_switch_to(rt_tui *tui, rt_switch_place p, rt_str id)
{
	rt_work *work = &tui->work;
	const rt_disc *disc = NULL;
	rt_error err;
	rt_request requests[2];
	size_t count = 0;
	destination to = {.disc = p.disc, .closes = true};

	if (!rt_tui_ok(tui, rt_project_disc(work->value, p.disc, &disc, &err), &err))
		return;
	RT_ASSERT(id.size <= RT_ID_MAX);
	memcpy(to.entry, id.ptr, id.size);
	to.take = p.take != 0 ? p.take : disc->active;
	to.is_active = !work->read_only || to.take == disc->active;
	to.is_opened = p.disc != work->value->active;
	to.words = to.is_opened ? NULL : "Switched takes";
	if (p.disc != work->value->active)
		requests[count++] = rt_switch_request(tui, RT_OP_DISCUSSION_SWITCH,
						      (rt_switch_place){p.disc, 0});
	if (to.take != disc->active)
		requests[count++] = rt_switch_request(tui, RT_OP_TAKE_SWITCH, p);
	if (count > 0 && !work->read_only)
		change(tui, requests, count, &to);
	else
		RT_TRY(&tui->scope, arrive(tui, &to));
}
