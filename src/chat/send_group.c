/* SPDX-License-Identifier: MIT */
#include "chat/send_group.h"

#include <pthread.h>

struct rt_send_group {
	const rt_alloc *alloc;
	pthread_mutex_t keeping; /* while a reply is kept: its row depends on the previous one */
	pthread_mutex_t lock;    /* the rest */
	pthread_cond_t moved;
	size_t members, sending; /* members that still run; that have not ended */
	bool is_led, is_asked;   /* a member adds the question; it is added */
	rt_send_asked asked;
	uint64_t first;          /* the row of the first reply; 0: none is kept */
	rt_buf failure;          /* the first one */
};

rt_status
rt_send_group_new(const rt_alloc *alloc, size_t members, rt_send_group **out, rt_error *err)
{
	rt_send_group *g = rt_new0(alloc, sizeof(*g));

	if (g == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	g->alloc = alloc;
	g->members = g->sending = members;
	pthread_mutex_init(&g->keeping, NULL);
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->moved, NULL);
	rt_buf_init(&g->failure, alloc, RT_BUF_UNLIMITED);
	*out = g;
	return RT_OK;
}

void
rt_send_group_unref(rt_send_group *g)
{
	size_t left;

	if (g == NULL)
		return;
	pthread_mutex_lock(&g->lock);
	left = --g->members;
	pthread_mutex_unlock(&g->lock);
	if (left > 0)
		return;
	rt_buf_deinit(&g->failure);
	pthread_cond_destroy(&g->moved);
	pthread_mutex_destroy(&g->lock);
	pthread_mutex_destroy(&g->keeping);
	rt_free(g->alloc, g);
}

bool
rt_send_group_wait(rt_send_group *g, rt_send_asked *out)
{
	bool leads;

	pthread_mutex_lock(&g->lock);
	while (!g->is_asked && g->is_led)
		pthread_cond_wait(&g->moved, &g->lock);
	leads = !g->is_asked;
	if (leads)
		g->is_led = true;
	else
		*out = g->asked;
	pthread_mutex_unlock(&g->lock);
	return leads;
}

void
rt_send_group_asked(rt_send_group *g, const rt_send_asked *asked)
{
	pthread_mutex_lock(&g->lock);
	g->is_led = false;
	if (asked != NULL) {
		g->is_asked = true;
		g->asked = *asked;
	}
	pthread_cond_broadcast(&g->moved);
	pthread_mutex_unlock(&g->lock);
}

uint64_t
rt_send_group_begin_keep(rt_send_group *g)
{
	uint64_t first;

	pthread_mutex_lock(&g->keeping);
	pthread_mutex_lock(&g->lock);
	first = g->first;
	pthread_mutex_unlock(&g->lock);
	return first;
}

void
rt_send_group_end_keep(rt_send_group *g, uint64_t seq)
{
	pthread_mutex_lock(&g->lock);
	if (g->first == 0)
		g->first = seq;
	pthread_mutex_unlock(&g->lock);
	pthread_mutex_unlock(&g->keeping);
}

void
rt_send_group_end(rt_send_group *g, rt_str failure, rt_buf *out)
{
	pthread_mutex_lock(&g->lock);
	if (g->failure.size == 0)
		rt_buf_add_str(&g->failure, failure);
	if (--g->sending == 0 && g->first == 0)
		rt_buf_add_str(out, rt_buf_str(&g->failure));
	pthread_mutex_unlock(&g->lock);
}
