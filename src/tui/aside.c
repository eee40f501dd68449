/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "tui/aside.h"

#include <signal.h>
#include <time.h>

#include "tui/glass.h"

static int64_t
now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void *
run(void *ctx)
{
	rt_aside *aside = ctx;
	struct rt_glass *glass = aside->glass;

	aside->fn(aside, aside->ctx);
	/* Whoever sees this may wait for the thread, so the last thing is the wake-up. */
	pthread_mutex_lock(&aside->lock);
	atomic_store(&aside->is_over, true);
	pthread_cond_signal(&aside->ended);
	pthread_mutex_unlock(&aside->lock);
	rt_glass_wake(glass);
	return NULL;
}

/* A condition that is waited for by a clock that nobody sets. */
static bool
locks_init(rt_aside *aside)
{
	pthread_condattr_t attr;
	bool made;

	if (pthread_condattr_init(&attr) != 0)
		return false;
	made = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
	       pthread_cond_init(&aside->ended, &attr) == 0;
	(void)pthread_condattr_destroy(&attr);
	if (made && pthread_mutex_init(&aside->lock, NULL) != 0) {
		(void)pthread_cond_destroy(&aside->ended);
		made = false;
	}
	return made;
}

static void
locks_deinit(rt_aside *aside)
{
	(void)pthread_cond_destroy(&aside->ended);
	(void)pthread_mutex_destroy(&aside->lock);
}

rt_status
rt_aside_start(rt_aside *aside, rt_tui *tui, rt_aside_fn fn, void *ctx)
{
	sigset_t all, mask;
	bool made;

	RT_ASSERT(!aside->is_started);
	aside->fn = fn;
	aside->ctx = ctx;
	aside->glass = tui->glass;
	aside->has_thread = aside->glass != NULL;
	atomic_store(&aside->is_over, false);
	atomic_store(&aside->is_unwanted, false);
	aside->began_ms = now_ms();
	if (!aside->has_thread) {
		aside->is_started = true;
		fn(aside, ctx);
		atomic_store(&aside->is_over, true);
		return RT_OK;
	}
	/* Signals are for the terminal's thread. */
	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &mask);
	made = locks_init(aside);
	if (made && pthread_create(&aside->thread, NULL, run, aside) != 0) {
		locks_deinit(aside);
		made = false;
	}
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	aside->is_started = made;
	if (!made)
		rt_tui_say(tui, "The system gives no thread for this now");
	return made ? RT_OK : RT_BUSY;
}

bool
rt_aside_is_running(const rt_aside *aside)
{
	return aside->is_started;
}

bool
rt_aside_ended(rt_aside *aside)
{
	if (!aside->is_started || !atomic_load(&aside->is_over))
		return false;
	if (aside->has_thread) {
		(void)pthread_join(aside->thread, NULL);
		locks_deinit(aside);
	}
	aside->is_started = false;
	return true;
}

bool
rt_aside_wait(rt_aside *aside, int wait_ms)
{
	struct timespec until;
	int64_t end_ms = now_ms() + wait_ms;

	if (!aside->is_started || !aside->has_thread)
		return true;
	until.tv_sec = (time_t)(end_ms / 1000);
	until.tv_nsec = (long)(end_ms % 1000) * 1000000;
	pthread_mutex_lock(&aside->lock);
	while (!atomic_load(&aside->is_over) &&
	       pthread_cond_timedwait(&aside->ended, &aside->lock, &until) == 0)
		;
	pthread_mutex_unlock(&aside->lock);
	return atomic_load(&aside->is_over);
}

int64_t
rt_aside_age_ms(const rt_aside *aside)
{
	return now_ms() - aside->began_ms;
}

bool
rt_aside_is_wanted(rt_aside *aside)
{
	return !atomic_load(&aside->is_unwanted);
}

void
rt_aside_give_up(rt_aside *aside)
{
	atomic_store(&aside->is_unwanted, true);
}

void
rt_aside_stop(rt_aside *aside)
{
	rt_aside_give_up(aside);
	if (aside->is_started && aside->has_thread) {
		(void)pthread_join(aside->thread, NULL);
		locks_deinit(aside);
	}
	aside->is_started = false;
}

void
rt_aside_leave(rt_aside *aside, rt_tui *tui, void (*free_ctx)(void *ctx))
{
	rt_aside_give_up(aside);
	if (!aside->is_started || !aside->has_thread) {
		free_ctx(aside->ctx);
		return;
	}
	aside->free_ctx = free_ctx;
	aside->next = tui->left;
	tui->left = aside;
}

void
rt_aside_sweep(rt_tui *tui, bool wait)
{
	rt_aside **at = &tui->left;

	while (*at != NULL) {
		rt_aside *aside = *at;

		if (wait)
			rt_aside_stop(aside);
		if (!wait && !rt_aside_ended(aside)) {
			at = &aside->next;
			continue;
		}
		*at = aside->next;
		aside->free_ctx(aside->ctx);
	}
}
