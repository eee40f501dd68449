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
#include "hooks/watch_host.h"

enum {
	RT_HOOKS_LATER_MAX = 64, /* programs that nobody waits for, at once */
	RT_HOOK_ID_SIZE = 16     /* digits of an event's id */
};


/* What changes about a hook. It goes with the hook from one set to the next. */
typedef struct rt_hook_state {
	atomic_uint refs;     /* sets that have it */
	atomic_bool told;     /* that it is not run was said already */
	atomic_bool done;     /* once: it was asked */
	pthread_mutex_t lock; /* of what follows */
	rt_lines *lines;      /* a persistent one; NULL: never started */
	rt_hook_watch program; /* the files that lines was started from */
} rt_hook_state;

/* The hooks as they were read at one time. Immutable but for the states; whoever uses one holds a
 * reference, since the next one may take its place meanwhile. */
typedef struct rt_hook_set {
	const rt_alloc *alloc;
	atomic_uint refs;
	rt_hook_list list;
	rt_hook_state **states; /* one each */
	rt_hook_watch watch;    /* where they were read from */
} rt_hook_set;

typedef struct rt_hooks_all {
	rt_hooks hooks; /* first: this is what programs see */
	const rt_alloc *alloc;
	const rt_env *env;
	rt_hooks_define_fn define; /* or NULL */
	rt_buf definitions;    /* as options had them; where define is set, they are read anew */
	rt_buf config_path;    /* empty: none */
	rt_buf user_folder;    /* empty: none */
	rt_buf work_folder;    /* without links; empty: none */
	rt_buf state_folder;   /* empty: none */
	rt_text const **environment; /* environment_count of them: what hooks are given */
	size_t environment_count;
	char **envp;           /* the same, as execve wants it */
	rt_buf search;         /* their PATH */
	unsigned depth;        /* of ourselves */
	atomic_bool record_told; /* that the record cannot be written was said */

	pthread_mutex_t renewing; /* one thread at a time reads them anew */
	pthread_mutex_t lock;  /* of what follows */
	rt_hook_set *set;
	rt_buf unsaid;         /* warnings of a set that took another's place */
	bool is_lost;          /* they could not be read anew: set is of before */
	rt_error why_lost;
	rt_process_later later[RT_HOOKS_LATER_MAX];
	rt_hook_set *later_set[RT_HOOKS_LATER_MAX]; /* whose it is; NULL: nobody's */
	size_t later_of[RT_HOOKS_LATER_MAX];
} rt_hooks_all;

/* ---- sets (hooks_set.c) ---- */

/* Read them. before: their states go over to those that are the same; or NULL. RT_USAGE: the
 * definitions are no list; RT_IO: a folder is there and cannot be read; RT_LIMIT, RT_NOMEM, and
 * whatever define says. */
RT_CHECKED rt_status rt_hook_set_read(rt_hooks_all *all, rt_hook_set *before, rt_hook_set **out,
				      rt_error *err);
void rt_hook_set_unref(rt_hook_set *set);
/* The one that counts now, with a reference. */
rt_hook_set *rt_hooks_set(rt_hooks_all *all);
/* An rt_hooks_ops.renew. */
void rt_hooks_look_again(rt_hooks *hooks);

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
