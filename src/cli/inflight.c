/* SPDX-License-Identifier: MIT
 *
 * Replies that are not entries yet: those arriving now, in any process, and those kept aside
 * because the answered entry is gone. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>

#include "chat/send.h"

typedef struct telling {
	rt_cli *cli;
	rt_str disc;  /* id of the viewed discussion */
	rt_buf *json; /* NULL: for people */
	size_t count;
} telling;

/* The third word of "4711 8123456 desk 4026531836": process, its start, machine, namespace. */
static rt_str
machine_of(rt_str owner)
{
	size_t at = rt_str_find(owner, RT_STR(" "), 0), end;

	at = at == SIZE_MAX ? at : rt_str_find(owner, RT_STR(" "), at + 1);
	if (at == SIZE_MAX)
		return rt_str_at("", 0);
	end = rt_str_find(owner, RT_STR(" "), at + 1);
	return rt_str_at(owner.ptr + at + 1, (end == SIZE_MAX ? owner.size : end) - at - 1);
}

static void
add_json(rt_buf *out, const rt_inflight_view *v, bool lives)
{
	rt_str machine = machine_of(v->owner);

	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "state", v->is_stranded ? "aside" : lives ? "arriving" : "left");
	if (!v->is_broken) {
		rt_json_put_str(out, "take", v->take);
		if (v->into.size > 0)
			rt_json_put_str(out, "into", v->into);
		else if (v->after.size > 0)
			rt_json_put_str(out, "after", v->after);
		else
			rt_json_put_null(out, "after");
		rt_json_put_str(out, "model", v->model);
		if (machine.size > 0) {
			rt_json_put_i64(out, "process", strtoll(v->owner.ptr, NULL, 10));
			rt_json_put_str(out, "machine", machine);
		}
		rt_json_put_time(out, "started", (rt_moment){v->started_us, 0});
		rt_json_put_time(out, "written", (rt_moment){v->written_us, 0});
		rt_json_put_u64(out, "bytes", v->text.size);
	}
	rt_json_close(out, '}');
}

static void
say(telling *t, const rt_inflight_view *v, bool lives)
{
	rt_cli *cli = t->cli;
	rt_term *out = &cli->out;
	rt_str address = v->into.size > 0 ? v->into : v->after, machine = machine_of(v->owner);

	if (t->count == 1)
		rt_term_c(out, "\n");
	if (v->is_stranded) {
		rt_cli_advise(cli, "An unfinished reply of %zu bytes has lost its question. To "
				   "recover it in a new take: retake repair\n",
			      v->text.size);
		return;
	}
	rt_term_style(out, RT_STYLE_DIM);
	rt_term_c(out, !lives		  ? "A reply is unfinished"
		       : v->into.size > 0 ? "More text is arriving for"
					  : "A reply is arriving");
	if (address.size > 0) {
		if (!lives || v->into.size == 0)
			rt_term_c(out, " to");
		rt_term_c(out, " ");
		rt_term_line(out, address);
	}
	if (v->model.size > 0) {
		rt_term_c(out, " from ");
		rt_term_line(out, v->model);
	}
	rt_term_f(out, ": %zu characters so far", rt_utf8_count(v->text));
	if (machine.size > 0) {
		rt_term_f(out, ", received by process %lld on ", strtoll(v->owner.ptr, NULL, 10));
		rt_term_line(out, machine);
	}
	rt_term_c(out, ".\n");
	rt_term_style(out, RT_STYLE_NONE);
}

static bool
tell(void *ctx, const rt_inflight_view *v)
{
	telling *t = ctx;
	bool lives = rt_host_owner_lives(NULL, v->owner, v->written_us);

	if (v->discussion.size > 0 && !rt_str_eq(v->discussion, t->disc))
		return true;
	t->count++;
	if (t->json != NULL)
		add_json(t->json, v, lives);
	else
		say(t, v, lives);
	return true;
}

static size_t
each(rt_cli *cli, rt_buf *json)
{
	telling t = {.cli = cli, .json = json};
	char id[16];

	if (!rt_ok(&cli->s) || cli->session.is_scratch || cli->session.engine == NULL ||
	    rt_cli_has(cli, "at-step"))
		return 0;
	snprintf(id, sizeof(id), "d%u", cli->session.place.disc);
	t.disc = rt_str_of(id);
	RT_TRY(&cli->s, rt_engine_inflight(cli->session.engine, tell, &t, &cli->s.error));
	return t.count;
}

void
rt_cli_inflight_report(rt_cli *cli)
{
	(void)each(cli, NULL);
}

size_t
rt_cli_inflight_add(rt_cli *cli, rt_buf *out)
{
	return each(cli, out);
}
