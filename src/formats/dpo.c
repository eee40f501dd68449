/* SPDX-License-Identifier: MIT
 *
 * DPO: pairs of replies for preference training, one a line, in the conversational form of TRL.
 *
 *   {"prompt":[MESSAGE…],"chosen":[MESSAGE],"rejected":[MESSAGE]}
 *
 * A reply that was edited is a pair: chosen is its text now, rejected the text that the model wrote
 * (rt_node's before), prompt the entries before it as they are now. The messages are those of the
 * format openai, whose writer is called for each of the three. */
#include "formats/formats.h"
#include "formats/formats_writer.h"

/* The messages of some nodes, in the scope of the entry; NULL after a failure. */
static yyjson_val *
messages_of(rt_writer *w, rt_node *nodes, const int64_t *list, size_t count)
{
	rt_outline one = *w->outline;
	rt_outline_take take = {.nodes = list, .node_count = count};
	rt_outlines in = {.items = &one, .count = 1};
	rt_buf *text = rt_scope_buf(&w->e);
	yyjson_val *root;

	one.nodes = nodes;
	one.takes = &take;
	one.take_count = 1;
	one.active_take = 0;
	RT_TRY(&w->s, rt_format_openai.write(w->s.alloc, &in, NULL, text, &w->s.error));
	root = rt_writer_parse(w, &w->e, rt_scope_str(&w->e, text));
	return yyjson_is_obj(root) ? rt_json_get(root, "messages") : root;
}

/* Is it one message of the model? */
static bool
is_reply(yyjson_val *messages)
{
	return yyjson_arr_size(messages) == 1 &&
	       rt_str_is(rt_json_text(yyjson_arr_get_first(messages), "role"), "assistant");
}

static void
put_pair(rt_writer *w, const rt_outline_take *take, size_t at)
{
	rt_node now = w->outline->nodes[take->nodes[at]], before = now;
	static const int64_t first[] = {0};
	yyjson_val *prompt, *chosen, *rejected;

	rt_writer_reset(w);
	before.body_format = now.before_format;
	before.body = now.before;
	prompt = messages_of(w, w->outline->nodes, take->nodes, at);
	chosen = messages_of(w, &now, first, 1);
	rejected = messages_of(w, &before, first, 1);
	if (yyjson_arr_size(prompt) == 0 || !is_reply(chosen) || !is_reply(rejected) ||
	    yyjson_equals(chosen, rejected))
		return;
	rt_json_open(w->out, NULL, '{');
	rt_json_put_value(w->out, "prompt", prompt);
	rt_json_put_value(w->out, "chosen", chosen);
	rt_json_put_value(w->out, "rejected", rejected);
	rt_json_close(w->out, '}');
	rt_buf_add_byte(w->out, '\n');
}

/* The pairs of a take, without those of the takes before it. */
static void
put_take(rt_writer *w, const rt_outline_take *take, bool *is_done)
{
	for (size_t i = 0; i < take->node_count && rt_ok(&w->s); i++) {
		int64_t node = take->nodes[i];

		if (w->outline->nodes[node].before_format != 0 && !is_done[node])
			put_pair(w, take, i);
		is_done[node] = true;
	}
}

static rt_status
dpo_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
	  rt_buf *out, rt_error *err)
{
	rt_writer w;

	rt_writer_init(&w, alloc, in, options, out);
	while (rt_writer_next(&w)) {
		bool *is_done = rt_scope_array(&w.d, w.outline->node_count + 1, sizeof(*is_done));
		const rt_outline_take *active = rt_writer_take(&w);

		if (rt_scope_note(&w.s, w.d.status) != RT_OK || active == NULL)
			continue;
		put_take(&w, active, is_done);
		for (size_t i = 0; i < w.take_count && w.options.whole; i++)
			put_take(&w, &w.takes[i], is_done);
	}
	return rt_writer_end(&w, err);
}

const rt_format rt_format_dpo = {
	.name = "dpo",
	.extension = ".dpo.jsonl",
	.about = "preference pairs for training: edited replies",
	.writes_before = true,
	.write = dpo_write,
};
