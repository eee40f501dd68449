/* SPDX-License-Identifier: MIT
 *
 * Embedding: the embeddings model (llm/embed.h) for commands. */
#ifndef RT_CLI_EMBEDDING_H
#define RT_CLI_EMBEDDING_H

#include "cli/cli.h"
#include "llm/embed.h"

/* The configuration's model; closed with the command. NULL: the command has failed. */
rt_embedder *rt_cli_embedder(rt_cli *cli);
/* Sends new texts of the project, up to `most` of them, with the progress on a terminal. Ctrl+C ends it;
 * texts that were sent before are kept. out: afterwards. */
void rt_cli_embed(rt_cli *cli, rt_embedder *e, uint64_t most, rt_embed_state *out);

#endif
