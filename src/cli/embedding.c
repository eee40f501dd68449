/* SPDX-License-Identifier: MIT */
#include "cli/embedding.h"

enum { TRIES = 3 };

static bool
is_stopped(void *ctx)
{
	(void)ctx;
	return rt_host_interrupted();
}

static void
close_embedder(void *e)
{
	rt_embedder_close(e);
}

rt_embedder *
rt_cli_embedder(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	rt_models_options options = {
		.alloc = cli->alloc, .env = cli->env, .config = rt_cli_config(cli), .tries = TRIES, .stop = is_stopped};
	rt_buf *warnings = rt_scope_buf(s);
	rt_embedder *e = NULL;

	rt_host_hold(true);
	if (RT_TRY(s, rt_embedder_open(&options, &e, warnings, &s->error)) == RT_REFUSED)
		rt_cli_hint(cli, "Add embedding_model = \"PROVIDER/MODEL\" to config.toml, for example "
				 "\"ollama/nomic-embed-text\". More: retake help config");
	rt_host_hold(false);
	if (warnings->size > 0)
		rt_cli_note(cli, "%.*s", (int)rt_str_trim(rt_buf_str(warnings)).size, warnings->ptr);
	if (e != NULL)
		rt_scope_defer(s, close_embedder, e);
	if (!rt_ok(s))
		return NULL;
	rt_embedder_set_stop(e, is_stopped, NULL);
	return e;
}

void
rt_cli_embed(rt_cli *cli, rt_embedder *e, uint64_t most, rt_embed_state *out)
{
	rt_scope *s = &cli->s;
	bool is_shown = cli->err.is_tty && !cli->quiet;
	rt_engine *engine = cli->session.engine;
	uint64_t first;

	*out = (rt_embed_state){0};
	RT_TRY(s, rt_embed_state_read(rt_embedder_name(e), engine, out, &s->error));
	first = out->done;
	rt_host_hold(true);
	while (rt_ok(s) && out->done < out->all && out->done < first + most && !rt_host_interrupted()) {
		RT_TRY(s, rt_embed_step(e, engine, out, &s->error));
		if (is_shown && rt_ok(s)) {
			rt_term_f(&cli->err, "Embedding texts … %llu of %llu", (unsigned long long)out->done,
				  (unsigned long long)out->all);
			rt_buf_add_byte(&cli->err.buf, '\r'); /* in a text it would be filtered */
			rt_term_flush(&cli->err);
		}
	}
	rt_host_hold(false);
	if (is_shown && out->done > first) {
		rt_term_f(&cli->err, "%60s", "");
		rt_buf_add_byte(&cli->err.buf, '\r');
		rt_term_flush(&cli->err);
	}
}
