/* SPDX-License-Identifier: MIT
 *
 * Hooks: programs of the user, found, trusted and run. The only implementation of rt_hooks
 * (ops/hook.h).
 *
 *   event.h     the events            definition.h  the properties of a hook
 *   response.h  the possible answers  trust.h       which hooks of a work folder may run
 *   process.h   how programs are run  record_host.h the log of runs
 *
 * Hooks run in this order: those of the configuration, of the user's folder, of the work folder.
 * They are loaded when the registry is opened, and reloaded (renew) when a folder, a file in it or
 * the configuration has changed. Trust is checked, and a work folder's file read, each time one is
 * about to run. While reloading fails, every event that could be denied is denied.
 *
 * Threads: locks itself. Events may be fired concurrently; a persistent hook answers them one after
 * the other. */
#ifndef RT_HOOKS_HOOKS_H
#define RT_HOOKS_HOOKS_H

#include "base/env.h"
#include "ops/hook.h"
#include "hooks/definition.h"
#include "hooks/process.h"

/* Tells a Retake process which hook it runs in, for the history. */
#define RT_HOOK_NAME_VARIABLE "RETAKE_HOOK"

enum { RT_HOOK_DEPTH_MAX = 4 /* hooks that trigger hooks */ };

/* Appends the current definitions, a JSON array. */
typedef rt_status (*rt_hooks_define_fn)(const rt_alloc *alloc, rt_buf *out, rt_error *err);

typedef struct rt_hooks_options {
	const rt_alloc *alloc;
	const rt_env *env;
	rt_str definitions;        /* JSON array, see definition.h; may be empty */
	const char *config_path;   /* the file that they come from, or NULL */
	rt_hooks_define_fn define; /* rereads them when that file has changed; or NULL */
	const char *user_folder;   /* "<config>/hooks"; NULL: none */
	const char *work_folder;   /* where programs run, and where ".retake/hooks" is; or NULL */
	const char *state_folder;  /* of trust.json and the record; NULL: nothing is trusted */
	const char *const *environment; /* to select from, NULL-terminated; NULL: the process's */
	const char *store;         /* RETAKE_DB for hooks; NULL: as in the environment */
	const char *project;       /* RETAKE_PROJECT, likewise */
} rt_hooks_options;

/* Options are copied. Problems with single hooks are warnings. RT_USAGE: the definitions are not a
 * list. RT_IO: a folder of hooks exists and cannot be read. RT_LIMIT, RT_NOMEM. Close with
 * out->ops->close. */
RT_CHECKED rt_status rt_hooks_open(const rt_hooks_options *options, rt_hooks **out_hooks,
				   rt_error *err);

/* One per line; valid until hooks are reloaded. Later warnings are in the notes of events. */
rt_str rt_hooks_warnings(const rt_hooks *hooks);

/* ---- listing ---- */

typedef struct rt_hook_info {
	const rt_hook *hook;
	const char *state; /* "on", "off" (not executable), "new" (never trusted), "changed" (since
			    * it was trusted), "broken" */
	bool runs;         /* state is "on" */
	rt_str why;        /* it is broken; or empty */
	rt_str hash;       /* of a work folder's hook, as it is now; or empty */
} rt_hook_info;

/* Returns false to stop. info is valid during the call. */
typedef bool (*rt_hook_info_fn)(void *ctx, const rt_hook_info *info);
/* In the order in which they run. RT_NOMEM. */
RT_CHECKED rt_status rt_hooks_list(rt_hooks *hooks, rt_hook_info_fn fn, void *ctx, rt_error *err);

/* ---- trust ---- */

/* Trust the work folder's hooks of this name ("entry.after/10-note", or "10-note"; empty: all)
 * with their current bytes, or (trust false) no longer. fn (may be NULL) is called for each.
 * RT_NOT_FOUND: no such hook; RT_REFUSED, RT_CORRUPT, RT_IO, RT_FULL. */
RT_CHECKED rt_status rt_hooks_trust(rt_hooks *hooks, rt_str name, bool trust, rt_hook_info_fn fn,
				    void *ctx, rt_error *err);

/* ---- testing ---- */

typedef struct rt_hook_trace {
	rt_str name;
	rt_str in, out, err; /* unmodified bytes */
	bool ran;
	rt_process_result result; /* if it ran */
	rt_str outcome;           /* in words: "exited with 0" */
} rt_hook_trace;

typedef void (*rt_hook_trace_fn)(void *ctx, const rt_hook_trace *trace);

/* fire, reporting each hook to fn. members empty: the event's sample. subject NULL: every matcher
 * matches. Async hooks stay asynchronous, so they have no output. */
RT_CHECKED rt_status rt_hooks_test(rt_hooks *hooks, const char *event, rt_str members,
				   const rt_str *subject, rt_stop_fn stop, void *stop_ctx,
				   rt_hook_trace_fn fn, void *ctx, rt_hook_answer *out,
				   rt_error *err);

#endif
