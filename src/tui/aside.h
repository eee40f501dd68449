/* SPDX-License-Identifier: MIT
 *
 * Aside: one thing that takes long, done in a thread while the screen goes on. When it is over
 * the terminal's thread is woken, and sees so.
 *
 * Without a terminal (tests) it is done at once, before rt_aside_start returns.
 *
 * Threads: the one of the terminal; the work itself is in another and may use only what it was
 * given. */
#ifndef RT_TUI_ASIDE_H
#define RT_TUI_ASIDE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "tui/pane.h"

typedef struct rt_aside rt_aside;
/* Look at rt_aside_is_wanted from time to time, and give up where it is not any more. */
typedef void (*rt_aside_fn)(rt_aside *aside, void *ctx);

struct rt_aside {
	rt_aside_fn fn;
	void *ctx;
	struct rt_glass *glass;
	pthread_t thread;
	bool is_started;     /* until it was seen to be over */
	bool has_thread;
	atomic_bool is_over;
	atomic_bool is_unwanted;
	pthread_mutex_t lock; /* with has_thread: of the moment in which it is over */
	pthread_cond_t ended;
	int64_t began_ms;
	rt_aside *next;      /* of those that were left */
	void (*free_ctx)(void *ctx);
};

/* None may be at work. RT_BUSY: no thread could be made, which was said; try again later. ctx must
 * live until it is over. */
RT_CHECKED rt_status rt_aside_start(rt_aside *aside, rt_tui *tui, rt_aside_fn fn, void *ctx);
bool rt_aside_is_running(const rt_aside *aside);
/* Is it over since the last look? True once. */
bool rt_aside_ended(rt_aside *aside);
/* Until it is over, or that much time has passed; true: it is over. */
bool rt_aside_wait(rt_aside *aside, int wait_ms);
/* Since it was started. */
int64_t rt_aside_age_ms(const rt_aside *aside);
/* In the thread. */
bool rt_aside_is_wanted(rt_aside *aside);
/* Its result is not wanted any more: it ends when it looks. */
void rt_aside_give_up(rt_aside *aside);
/* The same, and waits for its end. */
void rt_aside_stop(rt_aside *aside);
/* The same for one that may take its time: nobody waits. When it is over, at the latest when the
 * screen ends, free_ctx is called with its ctx, which the aside itself is a part of. */
void rt_aside_leave(rt_aside *aside, rt_tui *tui, void (*free_ctx)(void *ctx));
/* Free those that were left and are over; wait: all of them. */
void rt_aside_sweep(rt_tui *tui, bool wait);

#endif
