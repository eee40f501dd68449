/* SPDX-License-Identifier: MIT
 *
 * Define: what a hook is, and the list of them as the configuration has it. Pure.
 *
 * One of the `[[hook]]` of config.toml, handed over as JSON:
 *
 *   event       the name of an event, or what other programs call it
 *   run         ["program", "argument", …]: no shell; an absolute path, or a name that is
 *               looked for in PATH
 *   match       "key=value …": all must fit the subject; * stands for anything, letters fit
 *               whatever their case. Left out: every subject
 *   timeout     "5s", "500ms", "2m", or a number of seconds; left out: 30 s
 *   required    true: when it cannot be asked, the action does not happen
 *   async       true: nobody waits for it; only for events that nothing can stop any more
 *   persistent  true: it stays, and answers one line for each line
 *   once        true: asked for the first event only, as long as the program runs
 *   name        for messages; left out: the program's file name */
#ifndef RT_HOOKS_DEFINE_H
#define RT_HOOKS_DEFINE_H

#include "codec/json.h"
#include "hooks/event.h"

enum {
	RT_HOOK_TIMEOUT_MS = 30 * 1000,
	RT_HOOK_TIMEOUT_MAX_MS = 60 * 60 * 1000,
	RT_HOOK_WORDS_COUNT_MAX = 256, /* words of run */
	RT_HOOK_COUNT_MAX = 1000       /* hooks of one program */
};

typedef enum rt_hook_source {
	RT_HOOK_FROM_CONFIG,
	RT_HOOK_FROM_USER,   /* the user's folder */
	RT_HOOK_FROM_PROJECT /* the work folder's: run only when trusted */
} rt_hook_source;

/* Its memory is its own; immutable once made. */
typedef struct rt_hook {
	rt_hook_source source;
	const rt_hook_event *event;
	const rt_text *event_name; /* as the definition has it: the name or the alias */
	const rt_text *name;
	const rt_text *match;      /* NULL: every subject */
	const rt_text *path;       /* the file, where it was found in a folder; else NULL */
	const rt_text **words;     /* what is run; word_count of them */
	size_t word_count;
	int64_t timeout_ms;
	bool required, is_async, persistent, once;
	bool off;                  /* a file that is not executable */
	const rt_text *broken;     /* why it cannot be run as it is defined; NULL: it can */
} rt_hook;

/* A growing list. deinit in any case. */
typedef struct rt_hook_list {
	const rt_alloc *alloc;
	rt_hook *items;
	size_t count;
	rt_buf warnings; /* one a line */
} rt_hook_list;

void rt_hook_list_init(rt_hook_list *list, const rt_alloc *alloc);
void rt_hook_list_deinit(rt_hook_list *list);

/* Add the hooks of a JSON array (empty text: none). What is wrong with one becomes a warning;
 * one of a known event is kept all the same, broken, because it may be required.
 * RT_USAGE: no array. RT_LIMIT: too many. RT_NOMEM. */
RT_CHECKED rt_status rt_hook_list_read(rt_hook_list *list, rt_str json, rt_error *err);

/* Add one that was found in a folder: event is the folder's name, file the file's. path is
 * absolute. An unknown event becomes a warning. RT_LIMIT, RT_NOMEM. */
RT_CHECKED rt_status rt_hook_list_add_file(rt_hook_list *list, rt_hook_source source, rt_str event,
					   rt_str file, rt_str path, bool off, rt_error *err);

/* Do all words of match fit the subject? */
bool rt_hook_matches(rt_str match, rt_str subject);

/* "5s" to 5000; false: not a time, or none that is allowed. */
bool rt_hook_read_timeout(rt_str text, int64_t *out_ms);

#endif
