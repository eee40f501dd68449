/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "tui/worker.h"

#include <poll.h>
#include <signal.h>

#include "base/clock_host.h"
#include "terminal/terminal.h"

enum { PAUSE_STEP_MS = 20 };

static void *
run(void *ctx)
{
	rt_worker *worker = ctx;
	struct rt_terminal *terminal = worker->terminal;

	worker->fn(worker, worker->ctx);
	/* After this the thread may be joined: only the wake-up may follow. */
	pthread_mutex_lock(&worker->lock);
	atomic_store(&worker->is_over, true);
	pthread_cond_signal(&worker->ended);
	pthread_mutex_unlock(&worker->lock);
	rt_terminal_wake(terminal);
	return NULL;
}

rt_status
rt_worker_start(rt_worker *worker, rt_tui *tui, rt_worker_fn fn, void *ctx)
{
	sigset_t all, mask;
	bool made;

	RT_ASSERT(!worker->is_started);
	worker->fn = fn;
	worker->ctx = ctx;
	worker->terminal = tui->terminal;
	worker->has_thread = worker->terminal != NULL;
	atomic_store(&worker->is_over, false);
	atomic_store(&worker->is_unwanted, false);
	worker->began_ms = rt_clock_ms();
	if (!worker->has_thread) {
		worker->is_started = true;
		fn(worker, ctx);
		atomic_store(&worker->is_over, true);
		return RT_OK;
	}
	/* Signals go to the terminal's thread. */
	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &mask);
	made = rt_wait_init(&worker->lock, &worker->ended);
	if (made && pthread_create(&worker->thread, NULL, run, worker) != 0) {
		rt_wait_deinit(&worker->lock, &worker->ended);
		made = false;
	}
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	worker->is_started = made;
	if (!made)
		rt_tui_say(tui, "The system cannot create another thread");
	return made ? RT_OK : RT_BUSY;
}

bool
rt_worker_is_running(const rt_worker *worker)
{
	return worker->is_started;
}

bool
rt_worker_ended(rt_worker *worker)
{
	if (!worker->is_started || !atomic_load(&worker->is_over))
		return false;
	if (worker->has_thread) {
		(void)pthread_join(worker->thread, NULL);
		rt_wait_deinit(&worker->lock, &worker->ended);
	}
	worker->is_started = false;
	return true;
}

bool
rt_worker_wait(rt_worker *worker, int wait_ms)
{
	int64_t until_ms = rt_clock_ms() + wait_ms;

	if (!worker->is_started || !worker->has_thread)
		return true;
	pthread_mutex_lock(&worker->lock);
	while (!atomic_load(&worker->is_over) &&
	       rt_wait_until(&worker->lock, &worker->ended, until_ms))
		;
	pthread_mutex_unlock(&worker->lock);
	return atomic_load(&worker->is_over);
}

int64_t
rt_worker_age_ms(const rt_worker *worker)
{
	return rt_clock_ms() - worker->began_ms;
}

void
rt_worker_pause(rt_worker *worker, int pause_ms)
{
	for (int64_t until_ms = rt_clock_ms() + pause_ms;
	     worker->has_thread && rt_worker_is_wanted(worker) && rt_clock_ms() < until_ms;)
		(void)poll(NULL, 0, PAUSE_STEP_MS);
}

bool
rt_worker_is_wanted(rt_worker *worker)
{
	return !atomic_load(&worker->is_unwanted);
}

void
rt_worker_cancel(rt_worker *worker)
{
	atomic_store(&worker->is_unwanted, true);
}

void
rt_worker_stop(rt_worker *worker)
{
	rt_worker_cancel(worker);
	if (worker->is_started && worker->has_thread) {
		(void)pthread_join(worker->thread, NULL);
		rt_wait_deinit(&worker->lock, &worker->ended);
	}
	worker->is_started = false;
}

void
rt_worker_detach(rt_worker *worker, rt_tui *tui, void (*free_ctx)(void *ctx))
{
	rt_worker_cancel(worker);
	if (!worker->is_started || !worker->has_thread) {
		free_ctx(worker->ctx);
		return;
	}
	worker->free_ctx = free_ctx;
	worker->next = tui->left;
	tui->left = worker;
}

void
rt_worker_reap(rt_tui *tui, bool wait)
{
	rt_worker **at = &tui->left;

	while (*at != NULL) {
		rt_worker *worker = *at;

		if (wait)
			rt_worker_stop(worker);
		if (!wait && !rt_worker_ended(worker)) {
			at = &worker->next;
			continue;
		}
		*at = worker->next;
		worker->free_ctx(worker->ctx);
	}
}
