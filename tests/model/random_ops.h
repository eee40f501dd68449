/* SPDX-License-Identifier: MIT
 *
 * Random operations for the model test. The alphabets are small, so that names, labels and
 * addresses collide often; a share of the requests is wrong on purpose. Each seed switches
 * some operations off and favours others (swarm testing): rare mixes appear that way. */
#ifndef RT_TESTS_RANDOM_OPS_H
#define RT_TESTS_RANDOM_OPS_H

#include "model.h"

enum { RANDOM_OP_KINDS = 44 };

typedef struct random_ops {
	uint64_t state;
	unsigned weights[RANDOM_OP_KINDS];
	unsigned total;
	unsigned fresh;       /* counts the ids given */
	unsigned take_room;   /* entries that a take may have before it is cut down */
	unsigned pin_percent; /* requests that name their discussion, and their take */
	int only;             /* a kind of operation that can be reverted, or 0: any kind */
	bool limited;         /* now and then a capacity of undo is set */
	bool cautious;        /* only what is also clear inside an atomic group */
	bool grafted;         /* the group has a graft; the ids of its entries are not known yet */
} random_ops;

void random_ops_init(random_ops *r, uint64_t seed);
uint64_t random_next(random_ops *r);
/* 0 … n-1 */
unsigned random_below(random_ops *r, unsigned n);
/* The requests until random_ops_any_kind are all of one kind, for a step that can be reverted. */
void random_ops_one_kind(random_ops *r);
void random_ops_any_kind(random_ops *r);
/* One request that has to do with what the model holds now, appended to out. */
void random_ops_make(random_ops *r, const model *m, rt_buf *out);

#endif
