/* SPDX-License-Identifier: MIT
 *
 * What hooks.c and hooks_fire_host.c share. */
#ifndef RT_HOOKS_HOOKS_IMPL_H
#define RT_HOOKS_HOOKS_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "hooks/define.h"
#include "hooks/hooks.h"
#include "hooks/trust.h"

enum {
	RT_HOOKS_LATER_MAX = 64, /* programs that nobody waits for, at once */
	RT_HOOK_ID_SIZE = 16     /* digits of an event's id */
};


/* What changes about a hook. */
typedef struct rt_hook_state {
	atomic_bool told;     /* that it is not run was said already */
	atomic_bool done;     /* once: it was asked */
	pthread_mutex_t lock; /* of lines */
	rt_lines *lines;      /* a persistent one; NULL: never started */
} rt_hook_state;

typedef struct rt_hooks_all {
	rt_hooks hooks; /* first: this is what programs see */
	const rt_alloc *alloc;
	const rt_env *env;
	rt_hook_list list;     /* does not change once opened */
	rt_hook_state *states; /* one each */
	rt_buf work_folder;    /* without links; empty: none */
	rt_buf state_folder;   /* empty: none */
	rt_text const **environment; /* environment_count of them: what hooks are given */
	size_t environment_count;
	char **envp;           /* the same, as execve wants it */
	rt_buf search;         /* their PATH */
	unsigned depth;        /* of ourselves */
	atomic_bool record_told; /* that the record cannot be written was said */

	pthread_mutex_t lock;  /* of what follows */
	rt_process_later later[RT_HOOKS_LATER_MAX];
	size_t later_of[RT_HOOKS_LATER_MAX]; /* whose it is */
} rt_hooks_all;

/* In hooks_host.c: what of the process's surroundings hooks are given. RT_NOMEM. */
RT_CHECKED rt_status rt_hooks_take_environment(rt_hooks_all *all, const rt_hooks_options *options);

/* Is this one of the work folder trusted as it is? *out_state is one of "on", "new",
 * "changed", or NULL where err says what is wrong. file->fd (with_fd, and "on") is the
 * caller's. */
RT_CHECKED rt_status rt_hooks_check(const rt_hooks_all *all, const rt_hook *hook, bool with_fd,
				    const char **out_state, rt_trust_file *file, rt_error *err);

rt_status rt_hooks_fire(rt_hooks *hooks, const char *event, rt_str members, rt_str subject,
			rt_stop_fn stop, void *stop_ctx, rt_hook_answer *out, rt_error *err);
/* Reap what is over, kill what is late; what is to be said of them to notes (may be NULL). */
void rt_hooks_reap(rt_hooks_all *all, rt_buf *notes);

#endif
