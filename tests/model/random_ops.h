/* SPDX-License-Identifier: MIT
 *
 * Random operations for the model test. The alphabets are small, so that names, labels and
 * addresses collide often; some requests are invalid on purpose. Each seed disables some
 * operations and favours others (swarm testing), which produces rare combinations. */
#ifndef RT_TESTS_RANDOM_OPS_H
#define RT_TESTS_RANDOM_OPS_H

#include "model.h"

enum { RANDOM_OP_KINDS = 44 };

typedef struct random_ops {
	uint64_t state;
	unsigned weights[RANDOM_OP_KINDS];
	unsigned total;
	unsigned fresh;       /* counter for new ids */
	unsigned take_room;   /* number of entries of a take before it is truncated */
	unsigned pin_percent; /* percentage of requests that name their discussion and take */
	int only;             /* only this revertible kind of operation, or 0: any kind */
	bool limited;         /* sometimes an undo capacity is set */
	bool cautious;        /* only requests that are unambiguous inside an atomic group */
	bool grafted;         /* the group has a graft, whose ids are not known yet */
} random_ops;

void random_ops_init(random_ops *r, uint64_t seed);
uint64_t random_next(random_ops *r);
/* 0 … n-1 */
unsigned random_below(random_ops *r, unsigned n);
/* Until random_ops_any_kind all requests are of one kind, to form a revertible step. */
void random_ops_one_kind(random_ops *r);
void random_ops_any_kind(random_ops *r);
/* Appends one request that refers to the model's current state to out. */
void random_ops_make(random_ops *r, const model *m, rt_buf *out);

#endif
