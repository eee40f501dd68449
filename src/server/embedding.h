/* SPDX-License-Identifier: MIT
 *
 * Embedding: vectors of texts, for the search by meaning (llm/embed.h). A thread sends the new
 * texts of all open projects to the embedding_model of the configuration, outside of requests.
 * After a failure it waits, longer each time.
 *
 * Threads: locks itself. */
#ifndef RT_SERVER_EMBEDDING_H
#define RT_SERVER_EMBEDDING_H

#include "llm/embed.h"
#include "server/project_pool.h"

typedef struct rt_embedding rt_embedding;

/* *out NULL: no model is configured. In a store that is only read, no texts are sent. */
RT_CHECKED rt_status rt_embedding_new(rt_project_pool *pool, rt_embedding **out, rt_error *err);
/* Ends the thread, before the projects are closed. */
void rt_embedding_free(rt_embedding *e);

/* The vector of a text, in the scope: one request, within a few seconds. e NULL: fails
 * (RT_REFUSED). */
void rt_embedding_text(rt_embedding *e, rt_scope *s, rt_str text, rt_meaning *out);
/* Adds "embedding":{"model","done","all"} of a project, and "problem" while requests fail. e NULL: nothing. */
void rt_embedding_put(rt_embedding *e, rt_scope *s, rt_engine *engine, rt_buf *json);

#endif
