/* SPDX-License-Identifier: MIT
 *
 * Embed: vectors of texts by the configuration's embedding_model. New texts of a project are sent
 * in passages and their vectors stored (log/vectors.h), after the commits and outside of them; the
 * text of a search is sent alone. Nothing is sent without an embedding_model.
 *
 * Threads: one at a time for each embedder. */
#ifndef RT_LLM_EMBED_H
#define RT_LLM_EMBED_H

#include "llm/models_host.h"
#include "view/search.h"

enum {
	RT_PASSAGE_SIZE_MAX = 1500, /* bytes: most models read at least 512 tokens */
	RT_PASSAGES_MAX = 64        /* of one text; the rest of a longer one is not sent */
};

typedef struct rt_embedder rt_embedder;

/* Sends nothing. options: the name is ignored. RT_REFUSED: the configuration has no embedding_model; else as
 * rt_models_open. */
RT_CHECKED rt_status rt_embedder_open(const rt_models_options *options, rt_embedder **out, rt_buf *warnings,
				      rt_error *err);
void rt_embedder_close(rt_embedder *e);
/* Called while a request is on its way; true: end it (RT_INTERRUPTED). */
void rt_embedder_set_stop(rt_embedder *e, rt_stop_fn stop, void *ctx);

/* The vector of a text, in the scope, with the model's name in the configuration. */
rt_meaning rt_embed_text(rt_embedder *e, rt_scope *s, rt_str text);

typedef struct rt_embed_state {
	uint64_t done, all; /* bodies */
	uint64_t vectors;
} rt_embed_state;

/* How far a project is with an embedding_model. */
RT_CHECKED rt_status rt_embed_state_read(rt_str model, rt_engine *engine, rt_embed_state *out, rt_error *err);
/* The name of its model in the configuration. */
rt_str rt_embedder_name(const rt_embedder *e);
/* Sends the next texts, some dozens, and stores their vectors. out: afterwards. Errors as rt_model_ops.ask and
 * rt_vectors_add; texts that the server refuses are left out, unless it refuses all of them. */
RT_CHECKED rt_status rt_embed_step(rt_embedder *e, rt_engine *engine, rt_embed_state *out, rt_error *err);

#endif
