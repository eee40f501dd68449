/* SPDX-License-Identifier: MIT
 *
 * Worker: a thread for slow work, while the screen stays usable. It wakes the terminal's thread when
 * it has ended.
 *
 * Without a terminal (tests) the work is done before rt_worker_start returns.
 *
 * Threads: the terminal's; the function runs in another one and may use only its argument. */
#ifndef RT_TUI_WORKER_H
#define RT_TUI_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "tui/pane.h"

typedef struct rt_worker rt_worker;
/* Should return early when rt_worker_is_wanted turns false. */
typedef void (*rt_worker_fn)(rt_worker *worker, void *ctx);

struct rt_worker {
	rt_worker_fn fn;
	void *ctx;
	struct rt_terminal *terminal;
	pthread_t thread;
	bool is_started; /* until rt_worker_ended has returned true */
	bool has_thread;
	atomic_bool is_over;
	atomic_bool is_unwanted;
	pthread_mutex_t lock; /* these two only with has_thread */
	pthread_cond_t ended;
	int64_t began_ms;
	rt_worker *next; /* of tui->left */
	void (*free_ctx)(void *ctx);
};

/* The worker must not be running. RT_BUSY: no thread could be created, which was reported. ctx must
 * live until it has ended. */
RT_CHECKED rt_status rt_worker_start(rt_worker *worker, rt_tui *tui, rt_worker_fn fn, void *ctx);
bool rt_worker_is_running(const rt_worker *worker);
/* Has it ended? True once. */
bool rt_worker_ended(rt_worker *worker);
/* Wait until it has ended, or for this time; true: it has. */
bool rt_worker_wait(rt_worker *worker, int wait_ms);
/* Time since it was started. */
int64_t rt_worker_age_ms(const rt_worker *worker);
/* For the function. */
bool rt_worker_is_wanted(rt_worker *worker);
/* Waits in its thread while it is wanted; without one not at all. */
void rt_worker_pause(rt_worker *worker, int pause_ms);
/* Asks it to return early. */
void rt_worker_cancel(rt_worker *worker);
/* The same, and wait until it has ended. */
void rt_worker_stop(rt_worker *worker);
/* Cancel it without waiting: free_ctx is called with ctx, of which the worker is a part, when it has
 * ended, at the latest when the screen ends. */
void rt_worker_detach(rt_worker *worker, rt_tui *tui, void (*free_ctx)(void *ctx));
/* Free detached workers that have ended; wait: all of them. */
void rt_worker_reap(rt_tui *tui, bool wait);

#endif
