/* SPDX-License-Identifier: MIT
 *
 * The registry of hooks, shared by hooks_host.c (open, list, trust), set_host.c (the definitions,
 * loaded and reloaded) and dispatch_host.c (events). */
#ifndef RT_HOOKS_HOOKS_IMPL_H
#define RT_HOOKS_HOOKS_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "hooks/hooks.h"
#include "hooks/snapshot_host.h"
#include "hooks/trust.h"

#define RT_HOOK_PROJECT_FOLDER ".retake/hooks"

enum { RT_HOOKS_JOBS_MAX = 64 /* background programs at once */ };

/* The mutable state of a hook. When hooks are reloaded, unchanged ones keep theirs. */
typedef struct rt_hook_state {
	const rt_alloc *alloc;
	atomic_uint refs;        /* sets that use it */
	atomic_bool is_reported; /* the user was notified that it is not run */
	atomic_bool has_run;     /* for "once" */
	pthread_mutex_t lock;    /* protects what follows */
	rt_coprocess *process;   /* of a persistent one; NULL: never started */
	rt_scope scope;          /* memory of files */
	rt_hook_snapshot files;  /* that process was started from */
} rt_hook_state;

/* The hooks as loaded at one time. Immutable except for the states. Users hold a reference, because
 * another set may replace it meanwhile. */
typedef struct rt_hook_set {
	const rt_alloc *alloc;
	atomic_uint refs;
	rt_hook_list list;
	rt_hook_state **states; /* one per hook */
	rt_hook_snapshot files; /* that it was loaded from */
} rt_hook_set;

typedef struct rt_hook_registry {
	rt_hooks hooks; /* first: the public part */
	const rt_alloc *alloc;
	const rt_env *env;
	rt_scope scope; /* memory of the strings below */
	const char *config_path, *user_folder, *state_folder; /* NULL: none */
	rt_str work_folder;     /* without symbolic links; empty: none */
	char **environment;     /* of hooks: environment_count of them, and NULL */
	size_t environment_count;
	const char *path;       /* their PATH */
	unsigned depth;         /* hooks that we run in */
	rt_hooks_define_fn define; /* or NULL */
	atomic_bool is_record_error_reported;

	pthread_mutex_t loading; /* held while hooks are reloaded; protects the next two */
	rt_buf definitions;     /* JSON, as last read */
	pthread_mutex_t lock;   /* protects what follows */
	rt_hook_set *set;
	rt_buf warnings;        /* of sets loaded later; not shown yet */
	bool is_stale;          /* the last reload failed: set is older than the files */
	rt_error load_error;    /* why */
	rt_process_job jobs[RT_HOOKS_JOBS_MAX];
	rt_hook_set *job_sets[RT_HOOKS_JOBS_MAX]; /* references; NULL: the slot is free */
	const rt_hook *job_hooks[RT_HOOKS_JOBS_MAX];
} rt_hook_registry;

/* Load the hooks. before (or NULL): the set whose states unchanged hooks keep. RT_USAGE: the
 * definitions are not a list; RT_IO: a folder exists and cannot be read; RT_LIMIT, RT_NOMEM, and
 * whatever define returns. */
RT_CHECKED rt_status rt_hook_set_load(rt_hook_registry *registry, rt_hook_set *before,
				      rt_hook_set **out, rt_error *err);
void rt_hook_set_unref(rt_hook_set *set);
/* The current set, with a reference. */
rt_hook_set *rt_hook_set_current(rt_hook_registry *registry);
/* rt_hooks_ops.renew */
void rt_hooks_reload(rt_hooks *hooks);

/* rt_hooks_ops.fire */
rt_status rt_hooks_fire(rt_hooks *hooks, const char *event, rt_str members, rt_str subject,
			rt_stop_fn stop, void *stop_ctx, rt_hook_answer *out, rt_error *err);
/* Reap background programs that have ended, and end those past their deadline. Failures are
 * appended to notes (may be NULL). */
void rt_hooks_reap(rt_hook_registry *registry, rt_buf *notes);

#endif
