/* SPDX-License-Identifier: MIT */
#include "tui/late_models.h"

#include "llm/names_host.h"
#include "terminal/terminal.h"
#include "tui/worker.h"

struct rt_late_models {
	rt_worker worker;
	const rt_alloc *alloc;
	rt_model_lists lists;
	rt_buf in_use;
	pthread_mutex_t lock; /* for these two */
	rt_buf names, problems;
};

static void
add_name(void *ctx, rt_str name)
{
	rt_late_models *late = ctx;

	pthread_mutex_lock(&late->lock);
	rt_buf_add_str(&late->names, name);
	rt_buf_add_byte(&late->names, '\n');
	pthread_mutex_unlock(&late->lock);
}

static void
end_provider(void *ctx, rt_str provider, const rt_error *problem)
{
	rt_late_models *late = ctx;

	if (problem != NULL) {
		pthread_mutex_lock(&late->lock);
		rt_buf_add_f(&late->problems, "%.*s: %s%s\n", RT_STR_ARG(provider), problem->text,
			     problem->status == RT_UPSTREAM ? "\n  Start that server, or correct its url in the "
							      "configuration file"
							    : "");
		pthread_mutex_unlock(&late->lock);
	}
	if (late->worker.has_thread)
		rt_terminal_wake(late->worker.terminal);
}

static bool
is_stopped(void *ctx)
{
	return !rt_worker_is_wanted(&((rt_late_models *)ctx)->worker);
}

static void
run(rt_worker *worker, void *ctx)
{
	(void)worker;
	rt_model_lists_each(&((rt_late_models *)ctx)->lists);
}

static void
free_late(void *ctx)
{
	rt_late_models *late = ctx;

	(void)pthread_mutex_destroy(&late->lock);
	rt_buf_deinit(&late->names);
	rt_buf_deinit(&late->problems);
	rt_buf_deinit(&late->in_use);
	rt_free(late->alloc, late);
}

rt_late_models *
rt_late_models_start(rt_tui *tui, rt_str in_use)
{
	rt_late_models *late = rt_new0(tui->alloc, sizeof(*late));

	if (late == NULL)
		return NULL;
	if (pthread_mutex_init(&late->lock, NULL) != 0) {
		rt_free(tui->alloc, late);
		return NULL;
	}
	late->alloc = tui->alloc;
	rt_buf_init(&late->in_use, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&late->names, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&late->problems, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&late->in_use, in_use);
	late->lists = (rt_model_lists){.alloc = tui->alloc,
				       .env = tui->session->env,
				       .config = tui->session->config,
				       .in_use = rt_buf_str(&late->in_use),
				       .stop = is_stopped,
				       .fn = add_name,
				       .done = end_provider,
				       .ctx = late};
	if (rt_worker_start(&late->worker, tui, run, late) == RT_OK)
		return late;
	free_late(late);
	return NULL;
}

void
rt_late_models_close(rt_late_models *late, rt_tui *tui)
{
	if (late != NULL)
		rt_worker_detach(&late->worker, tui, free_late);
}

bool
rt_late_models_read(rt_late_models *late, rt_buf *names, rt_buf *problems)
{
	bool is_over = rt_worker_ended(&late->worker) || !rt_worker_is_running(&late->worker);

	pthread_mutex_lock(&late->lock);
	rt_buf_add_str(names, rt_buf_str(&late->names));
	rt_buf_add_str(problems, rt_buf_str(&late->problems));
	rt_buf_clear(&late->names);
	rt_buf_clear(&late->problems);
	pthread_mutex_unlock(&late->lock);
	return !is_over;
}
