/* SPDX-License-Identifier: MIT */
#include "tui/models_worker.h"

#include "llm/names_host.h"
#include "terminal/terminal.h"
#include "tui/worker.h"

struct rt_models_worker {
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
	rt_models_worker *models = ctx;

	pthread_mutex_lock(&models->lock);
	rt_buf_add_str(&models->names, name);
	rt_buf_add_byte(&models->names, '\n');
	pthread_mutex_unlock(&models->lock);
}

static void
end_provider(void *ctx, rt_str provider, const rt_error *problem)
{
	rt_models_worker *models = ctx;

	if (problem != NULL) {
		pthread_mutex_lock(&models->lock);
		rt_buf_add_f(&models->problems, "%.*s: %s%s\n", RT_STR_ARG(provider), problem->text,
			     problem->status == RT_UPSTREAM ? "\n  Start the server, or correct "
							      "its URL in config.toml"
							    : "");
		pthread_mutex_unlock(&models->lock);
	}
	if (models->worker.has_thread)
		rt_terminal_wake(models->worker.terminal);
}

static bool
is_stopped(void *ctx)
{
	return !rt_worker_is_wanted(&((rt_models_worker *)ctx)->worker);
}

static void
run(rt_worker *worker, void *ctx)
{
	(void)worker;
	rt_model_lists_each(&((rt_models_worker *)ctx)->lists);
}

static void
free_models(void *ctx)
{
	rt_models_worker *models = ctx;

	(void)pthread_mutex_destroy(&models->lock);
	rt_buf_deinit(&models->names);
	rt_buf_deinit(&models->problems);
	rt_buf_deinit(&models->in_use);
	rt_free(models->alloc, models);
}

rt_models_worker *
rt_models_worker_start(rt_tui *tui, rt_str in_use)
{
	rt_models_worker *models = rt_new0(tui->alloc, sizeof(*models));

	if (models == NULL)
		return NULL;
	if (pthread_mutex_init(&models->lock, NULL) != 0) {
		rt_free(tui->alloc, models);
		return NULL;
	}
	models->alloc = tui->alloc;
	rt_buf_init(&models->in_use, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&models->names, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&models->problems, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&models->in_use, in_use);
	models->lists = (rt_model_lists){.alloc = tui->alloc,
				       .env = tui->session->env,
				       .config = tui->session->config,
				       .in_use = rt_buf_str(&models->in_use),
				       .stop = is_stopped,
				       .fn = add_name,
				       .done = end_provider,
				       .ctx = models};
	if (rt_worker_start(&models->worker, tui, run, models) == RT_OK)
		return models;
	free_models(models);
	return NULL;
}

void
rt_models_worker_close(rt_models_worker *models, rt_tui *tui)
{
	if (models != NULL)
		rt_worker_detach(&models->worker, tui, free_models);
}

bool
rt_models_worker_read(rt_models_worker *models, rt_buf *names, rt_buf *problems)
{
	bool is_over = rt_worker_ended(&models->worker) || !rt_worker_is_running(&models->worker);

	pthread_mutex_lock(&models->lock);
	rt_buf_add_str(names, rt_buf_str(&models->names));
	rt_buf_add_str(problems, rt_buf_str(&models->problems));
	rt_buf_clear(&models->names);
	rt_buf_clear(&models->problems);
	pthread_mutex_unlock(&models->lock);
	return !is_over;
}
