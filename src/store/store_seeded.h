/* SPDX-License-Identifier: MIT
 *
 * Bugs on purpose. A harness that has never failed proves nothing, so
 * tests/power/seeded_test.c builds the store with RT_SEEDED_BUGS, switches these on one by
 * one, and insists that a test notices each. Without RT_SEEDED_BUGS the condition is the
 * constant 0 and nothing of them is compiled. */
#ifndef RT_STORE_SEEDED_H
#define RT_STORE_SEEDED_H

enum rt_seeded {
	RT_SEEDED_NONE,
	RT_SEEDED_SYNC_OFF,         /* PRAGMA synchronous = OFF */
	RT_SEEDED_ACK_FIRST,        /* acknowledged before the sync */
	RT_SEEDED_LOG_FIRST,        /* the log row in a transaction before its data */
	RT_SEEDED_TWO_TRANSACTIONS, /* log rows in one, bodies in the next */
	RT_SEEDED_SYNC_RETRIED,     /* a failed sync is tried again */
	RT_SEEDED_NOT_POISONED,     /* a handle goes on after its sync failed */
	RT_SEEDED_READ_EMPTY,       /* a read error is taken for the end */
	RT_SEEDED_NO_WAITING,       /* busy_timeout 0 */
	RT_SEEDED_NO_SUMS,          /* checksums are not looked at */
	RT_SEEDED_LATE_FLUSH,       /* the gathered writes of a commit wait for the next one */
	RT_SEEDED_NO_MARK,          /* relaxed mode leaves no mark */
	RT_SEEDED_EMPTY_IS_NEW,     /* an empty file is taken for a new store */
	RT_SEEDED_NO_CONFLICT,      /* the expected head is not compared */
	RT_SEEDED_HALF_COMMITTED,   /* a transaction goes on after a write failed */
	RT_SEEDED_NOT_SETTLED,      /* new commits go behind what a failed sync has left */
	RT_SEEDED_COUNT
};

#ifdef RT_SEEDED_BUGS
extern enum rt_seeded rt_seeded_bug;
#define RT_SEEDED(bug) (rt_seeded_bug == (bug))
#else
#define RT_SEEDED(bug) 0
#endif

#endif
