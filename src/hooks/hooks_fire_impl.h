/* SPDX-License-Identifier: MIT
 *
 * An event on its way: what hooks_fire_host.c (each hook in turn, its answer judged) and
 * hooks_run_host.c (one hook's program, run) share. */
#ifndef RT_HOOKS_HOOKS_FIRE_IMPL_H
#define RT_HOOKS_HOOKS_FIRE_IMPL_H

#include "hooks/answer.h"
#include "hooks/hooks_impl.h"

enum { RT_HOOK_ENDED_ROOM = 160 };

/* One event on its way. */
typedef struct rt_firing {
	rt_hooks_all *all;
	rt_hook_set *set; /* that is asked */
	const rt_hook_event *event;
	rt_str subject;
	bool any_subject;
	rt_stop_fn stop;
	void *stop_ctx;
	rt_hook_trace_fn trace;
	void *trace_ctx;
	rt_hook_answer *out;
	rt_error *err;
	char id[RT_HOOK_ID_SIZE + 1];
	rt_buf members;  /* as the hooks so far have made them, without braces */
	rt_buf changed;  /* names of members that were replaced, a NUL behind each */
	rt_buf line;     /* what goes in: one line */
	rt_buf said, complaint; /* what came out */
} rt_firing;

/* How one hook's run ended. */
typedef struct rt_hook_run {
	const rt_hook *hook;
	rt_hook_state *state;
	rt_process_end end;
	bool ran, answered; /* answered: said is to be read */
	char ended[RT_HOOK_ENDED_ROOM];
	char hex[RT_SHA256_HEX_ROOM];
} rt_hook_run;

/* "NAME: words", one line. */
void rt_hook_note(rt_buf *notes, const rt_hook *hook, const char *before, rt_str words);
/* It was not asked, or not understood: a warning, or RT_DENIED where it is required.
 * complaint: its standard error, or empty. */
rt_status rt_hook_failed(rt_firing *f, const rt_hook *hook, const char *what, rt_str complaint);
/* The end, in words. */
void rt_hook_put_ended(rt_hook_run *r);
/* Run what is defined, by whatever way fits. On RT_OK r says how it went. */
rt_status rt_hook_run_program(rt_firing *f, rt_hook_run *r, const rt_trust_file *file);

#endif
