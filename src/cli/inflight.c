/* SPDX-License-Identifier: MIT
 *
 * Replies that are no entries yet: those that arrive now, in whatever process, and those
 * that lie aside because what they answer is gone. */
#include "cli/cli.h"
#include "chat/send.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct telling {
	rt_cli *cli;
	rt_str disc;  /* id of the one at hand */
	rt_buf *json; /* NULL: for people */
	size_t count;
} telling;

/* "4711 8123456 desk 4026531836": process, when it began, machine, and what its number is
 * counted in. */
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
add_json(telling *t, const rt_inflight_view *v, bool lives)
{
	rt_buf *out = t->json;
	rt_str machine = machine_of(v->owner);

	rt_json_add_comma(out);
	rt_buf_add_c(out, "{\"state\":");
	rt_json_add_string(out, v->is_stranded ? RT_STR("aside")
				: lives	       ? RT_STR("arriving")
					       : RT_STR("left"));
	if (v->is_broken) {
		rt_buf_add_byte(out, '}');
		return;
	}
	rt_json_add_key(out, "take");
	rt_json_add_string(out, v->take);
	rt_json_add_key(out, v->into.size > 0 ? "into" : "after");
	if (v->into.size + v->after.size > 0)
		rt_json_add_string(out, v->into.size > 0 ? v->into : v->after);
	else
		rt_buf_add_c(out, "null");
	rt_json_add_key(out, "model");
	rt_json_add_string(out, v->model);
	if (machine.size > 0) {
		rt_json_add_key(out, "process");
		rt_buf_add_i64(out, strtoll(v->owner.ptr, NULL, 10));
		rt_json_add_key(out, "machine");
		rt_json_add_string(out, machine);
	}
	rt_buf_add_c(out, ",\"started\":\"");
	rt_moment_format_ms(out, (rt_moment){v->started_us, 0});
	rt_buf_add_c(out, "\",\"written\":\"");
	rt_moment_format_ms(out, (rt_moment){v->written_us, 0});
	rt_buf_add_f(out, "\",\"bytes\":%zu}", v->text.size);
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
		rt_cli_advise(cli, "A reply of %zu bytes lies aside, for what it answers is gone. "
				   "Into a take of its own: retake repair\n",
			      v->text.size);
		return;
	}
	rt_term_style(out, RT_STYLE_DIM);
	rt_term_c(out, !lives		  ? "A reply was left unfinished"
		       : v->into.size > 0 ? "More is arriving of"
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
	bool lives = rt_host_owner_lives(v->owner, v->written_us);

	if (v->discussion.size > 0 && !rt_str_eq(v->discussion, t->disc))
		return true;
	t->count++;
	if (t->json != NULL)
		add_json(t, v, lives);
	else
		say(t, v, lives);
	return true;
}

static rt_status
each(telling *t)
{
	rt_cli *cli = t->cli;
	char id[16];

	if (cli->session.is_scratch || cli->session.engine == NULL || rt_cli_has(cli, "at-op"))
		return RT_OK;
	snprintf(id, sizeof(id), "d%u", cli->session.place.disc);
	t->disc = rt_str_of(id);
	return rt_engine_inflight(cli->session.engine, tell, t, &cli->error);
}

rt_status
rt_cli_inflight_report(rt_cli *cli)
{
	telling t = {.cli = cli};

	return each(&t);
}

rt_status
rt_cli_inflight_add(rt_cli *cli, rt_buf *out, size_t *out_count)
{
	telling t = {.cli = cli, .json = out};
	rt_status st = each(&t);

	*out_count = t.count;
	return st;
}
