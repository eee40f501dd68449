/* SPDX-License-Identifier: MIT
 *
 * Hooks: the person's programs, found, trusted and run; the one kind of rt_hooks there is
 * (ops/hook.h says what an engine asks of it).
 *
 *   event.h    what can happen          define.h  what a hook is
 *   answer.h   what it may say          trust.h   which of a work folder's may be run
 *   hooks_process.h  how it is run      find_host.h  where its file is found
 *
 * They are asked in this order: the configuration's, those of the user's folder, those of the
 * work folder. They are read when they are opened, and again (renew) when a folder, a file in it or
 * the configuration has changed. Trust is looked up, and a work folder's file read, each time one
 * is about to be run. Where they cannot be read again, every event that could be denied is.
 *
 * Threads: locks itself. Several events may be fired at once; a persistent hook answers one
 * after the other. */
#ifndef RT_HOOKS_HOOKS_H
#define RT_HOOKS_HOOKS_H

#include "base/env.h"
#include "ops/hook.h"
#include "hooks/event.h"
#include "hooks/hooks_process.h"

/* Tells a program of ours which hook it is part of, so that history says so. */
#define RT_HOOK_NAME_VARIABLE "RETAKE_HOOK"

enum { RT_HOOK_DEPTH_MAX = 4 /* hooks in hooks in hooks; there they end */ };

/* Appends the definitions as they are now, a JSON array. */
typedef rt_status (*rt_hooks_define_fn)(const rt_alloc *alloc, rt_buf *out, rt_error *err);

typedef struct rt_hooks_options {
	const rt_alloc *alloc;
	const rt_env *env;
	rt_str definitions;       /* JSON array, see define.h; may be empty */
	const char *config_path;  /* the file that they are from; NULL: none */
	rt_hooks_define_fn define; /* reads them again when that file has changed; or NULL */
	const char *user_folder;  /* "<config>/hooks"; NULL: none */
	const char *work_folder;  /* programs run there, and ".retake/hooks" in it is the
	                             project's; NULL: neither */
	const char *state_folder; /* where trust.json is; NULL: nothing is trusted */
	const char *const *environment; /* to choose from, ended by NULL; NULL: the process's */
	const char *store;   /* RETAKE_DB for hooks; NULL: as in the environment */
	const char *project; /* RETAKE_PROJECT; the same */
} rt_hooks_options;

/* Options are copied. What is wrong with single hooks is in the warnings. RT_USAGE: the
 * definitions are no list. RT_IO: a folder of hooks is there and cannot be read. RT_LIMIT,
 * RT_NOMEM. Close with out->ops->close. */
RT_CHECKED rt_status rt_hooks_open(const rt_hooks_options *options, rt_hooks **out_hooks,
				   rt_error *err);

/* One a line; belongs to hooks, until they are renewed. Later ones come with the notes of
 * events. */
rt_str rt_hooks_warnings(const rt_hooks *hooks);

/* ---- looking ---- */

typedef struct rt_hook_info {
	rt_str name, event;  /* event: as it is defined; may be an alias */
	const rt_hook_event *about;
	const char *source;  /* "config", "user", "project" */
	const char *state;   /* "on", "off" (not executable), "new" (never trusted), "changed"
	                        (since), "broken" */
	bool runs;           /* state is "on" */
	rt_str why;          /* of "broken" and the like; or empty */
	rt_str match;        /* or empty */
	const rt_text *const *words; /* what is run: word_count of them */
	size_t word_count;
	int64_t timeout_ms;
	bool required, is_async, persistent, once;
	rt_str hash;         /* of a work folder's hook, as it is now; or empty */
} rt_hook_info;

/* false ends it. What info points to is gone after the call. */
typedef bool (*rt_hook_info_fn)(void *ctx, const rt_hook_info *info);
/* In the order in which they are asked. RT_NOMEM. */
RT_CHECKED rt_status rt_hooks_list(rt_hooks *hooks, rt_hook_info_fn fn, void *ctx, rt_error *err);

/* ---- trusting ---- */

/* Trust the work folder's hooks of this name ("entry.after/10-note", or "10-note"; empty: all)
 * with the bytes that they have now, or (trust false) no more. fn, which may be NULL, is
 * called for each that was changed. RT_NOT_FOUND: there is none; RT_REFUSED, RT_CORRUPT,
 * RT_IO, RT_FULL. */
RT_CHECKED rt_status rt_hooks_trust(rt_hooks *hooks, rt_str name, bool trust, rt_hook_info_fn fn,
				    void *ctx, rt_error *err);

/* ---- trying ---- */

typedef struct rt_hook_trace {
	rt_str name;
	rt_str in, out, err; /* what went in and came out, bytes as they are */
	bool ran;
	rt_process_end end;  /* where it ran */
	rt_str ended;        /* the same in words: "exited with 0" */
} rt_hook_trace;

typedef void (*rt_hook_trace_fn)(void *ctx, const rt_hook_trace *trace);

/* fire, with a look at each hook. members empty: the event's sample. subject NULL: every
 * matcher fits. Nobody waits for an async one here either, so nothing comes out of it. */
RT_CHECKED rt_status rt_hooks_test(rt_hooks *hooks, const char *event, rt_str members,
				   const rt_str *subject, rt_stop_fn stop, void *stop_ctx,
				   rt_hook_trace_fn fn, void *ctx, rt_hook_answer *out,
				   rt_error *err);

#endif
