/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "tui/aside.h"

#include <signal.h>

#include "tui/glass.h"

static void *
run(void *ctx)
{
	rt_aside *aside = ctx;
	struct rt_glass *glass = aside->glass;

	aside->fn(aside, aside->ctx);
	/* Whoever sees this may wait for the thread, so the last thing is the wake-up. */
	atomic_store(&aside->is_over, true);
	rt_glass_wake(glass);
	return NULL;
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
	if (!aside->has_thread) {
		aside->is_started = true;
		fn(aside, ctx);
		atomic_store(&aside->is_over, true);
		return RT_OK;
	}
	/* Signals are for the terminal's thread. */
	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &mask);
	made = pthread_create(&aside->thread, NULL, run, aside) == 0;
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
	if (aside->has_thread)
		(void)pthread_join(aside->thread, NULL);
	aside->is_started = false;
	return true;
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
	if (aside->is_started && aside->has_thread)
		(void)pthread_join(aside->thread, NULL);
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
