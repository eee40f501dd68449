/* SPDX-License-Identifier: MIT
 *
 * Worker: one thing that takes long, done in a thread while the screen goes on. When it is over
 * the terminal's thread is woken, and sees so.
 *
 * Without a terminal (tests) it is done at once, before rt_worker_start returns.
 *
 * Threads: the one of the terminal; the work itself is in another and may use only what it was
 * given. */
#ifndef RT_TUI_WORKER_H
#define RT_TUI_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "tui/pane.h"

typedef struct rt_worker rt_worker;
/* Look at rt_worker_is_wanted from time to time, and give up where it is not any more. */
typedef void (*rt_worker_fn)(rt_worker *worker, void *ctx);

struct rt_worker {
	rt_worker_fn fn;
	void *ctx;
	struct rt_terminal *terminal;
	pthread_t thread;
	bool is_started;     /* until it was seen to be over */
	bool has_thread;
	atomic_bool is_over;
	atomic_bool is_unwanted;
	pthread_mutex_t lock; /* with has_thread: of the moment in which it is over */
	pthread_cond_t ended;
	int64_t began_ms;
	rt_worker *next;      /* of those that were left */
	void (*free_ctx)(void *ctx);
};

/* None may be at work. RT_BUSY: no thread could be made, which was said; try again later. ctx must
 * live until it is over. */
RT_CHECKED rt_status rt_worker_start(rt_worker *worker, rt_tui *tui, rt_worker_fn fn, void *ctx);
bool rt_worker_is_running(const rt_worker *worker);
/* Is it over since the last look? True once. */
bool rt_worker_ended(rt_worker *worker);
/* Until it is over, or that much time has passed; true: it is over. */
bool rt_worker_wait(rt_worker *worker, int wait_ms);
/* Since it was started. */
int64_t rt_worker_age_ms(const rt_worker *worker);
/* In the thread. */
bool rt_worker_is_wanted(rt_worker *worker);
/* Its result is not wanted any more: it ends when it looks. */
void rt_worker_cancel(rt_worker *worker);
/* The same, and waits for its end. */
void rt_worker_stop(rt_worker *worker);
/* The same for one that may take its time: nobody waits. When it is over, at the latest when the
 * screen ends, free_ctx is called with its ctx, which the aside itself is a part of. */
void rt_worker_detach(rt_worker *worker, rt_tui *tui, void (*free_ctx)(void *ctx));
/* Free those that were left and are over; wait: all of them. */
void rt_worker_reap(rt_tui *tui, bool wait);

#endif
