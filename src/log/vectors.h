/* SPDX-License-Identifier: MIT
 *
 * Vectors: the vectors that an embeddings model gives to passages of texts, for the search by
 * meaning. They follow the bodies up to a mark, as the index does (log/index.h), and are a cache:
 * they can be dropped and requested again. Where they come from is up to the caller (llm/embed.h).
 *
 * They are side rows, so every store has them, and purge, scrub and checks cover them:
 *
 *	#vectors       version, model, dimensions, mark, vectors: varints and a sized text
 *	#vectors.sN    block N: of up to 256 passages, the body (8 bytes), entry (4) and position in the text (4), all
 *	               little-endian, then the signs of all of them
 *	#vectors.bN    part N: the bytes of 1 to 32 passages, about 1,900 bytes
 *
 * A search compares the signs of all passages, then the bytes of the best candidates. A passage of
 * a purged body has body 0 and zeros instead of numbers. Missing rows hide passages and nothing
 * else.
 *
 * Threads: call from any thread. */
#ifndef RT_LOG_VECTORS_H
#define RT_LOG_VECTORS_H

#include "log/engine.h"

/* Lists of all side rows are without them (log/store.h). */
#define RT_VECTORS_PREFIX "#vectors"

typedef struct rt_vectors_state {
	uint64_t epoch; /* of the store */
	uint64_t mark;  /* bodies up to this one have vectors of the model; 0: none has */
	uint64_t count; /* vectors */
	size_t dimensions;
	uint64_t head;  /* the last body */
} rt_vectors_state;

/* The state of this model's vectors. Reads one row. For rt_vectors_add, call it before the texts
 * are read. */
RT_CHECKED rt_status rt_vectors_state_read(rt_engine *engine, rt_str model, rt_vectors_state *out, rt_error *err);

typedef struct rt_passage {
	uint64_t body;
	uint32_t entry;
	uint32_t at;         /* its first byte in the searched text of the body */
	const float *vector; /* of length 1 */
} rt_passage;

typedef struct rt_vectors_batch {
	rt_str model;
	size_t dimensions;
	rt_vectors_state after; /* as it was before the texts were read */
	uint64_t mark;          /* the last body that was read */
	const rt_passage *passages;
	size_t count;
} rt_vectors_batch;

/* One transaction. Vectors of another model or with other dimensions are replaced. RT_CONFLICT: the state has
 * changed since (another process was faster, a text was purged): read it again. RT_READ_ONLY, RT_BUSY. */
RT_CHECKED rt_status rt_vectors_add(rt_engine *engine, const rt_vectors_batch *batch, rt_error *err);

typedef struct rt_neighbour {
	uint64_t body;
	uint32_t entry, at;
	float similarity;
} rt_neighbour;

typedef struct rt_neighbours {
	rt_neighbour *items; /* the best first */
	size_t count;
	bool is_all; /* there are no others */
} rt_neighbours;

/* The bodies of about `most` passages that are most similar to a vector of length 1, each with its best passage. None,
 * if the vectors are of another model or have other dimensions. The result is in the scope. */
rt_neighbours rt_vectors_find(rt_engine *engine, rt_scope *s, rt_str model, const float *vector, size_t dimensions,
			 size_t most);

/* --- inside begin --- */

/* Removes the passages of these bodies, in ascending order. */
void rt_vectors_purge(rt_store *store, uint64_t project, rt_scope *s, const uint64_t *bodies, size_t count);
/* Removes all. */
void rt_vectors_drop(rt_store *store, uint64_t project, rt_scope *s);

#endif
