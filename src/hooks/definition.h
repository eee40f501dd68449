/* SPDX-License-Identifier: MIT
 *
 * Definition: the properties of a hook, and the list of configured hooks. Pure.
 *
 * One `[[hook]]` of config.toml, as JSON:
 *
 *   event       the name or alias of an event
 *   run         ["program", "argument", …]; no shell; an absolute path, or a name to look up
 *               in PATH
 *   match       "key=value …": every word must match the subject; * matches anything, ASCII
 *               case is ignored. Default: every subject
 *   timeout     "5s", "500ms", "2m", or a number of seconds; default: 30 s
 *   required    true: the action is denied if the hook cannot be run
 *   async       true: runs in the background; only for events that cannot be denied
 *   persistent  true: the process stays, and answers each line with a line
 *   once        true: run for the first event only, for the life of the program
 *   name        for messages; default: the program's file name */
#ifndef RT_HOOKS_DEFINITION_H
#define RT_HOOKS_DEFINITION_H

#include "codec/json.h"
#include "hooks/event.h"

enum {
	RT_HOOK_TIMEOUT_MS = 30 * 1000,
	RT_HOOK_TIMEOUT_MAX_MS = 60 * 60 * 1000,
	RT_HOOK_ARGS_MAX = 256, /* words of run */
	RT_HOOK_COUNT_MAX = 1000
};

typedef enum rt_hook_source {
	RT_HOOK_FROM_CONFIG,
	RT_HOOK_FROM_USER,   /* the user's folder */
	RT_HOOK_FROM_PROJECT /* the work folder: run only when trusted */
} rt_hook_source;
extern const char *const rt_hook_source_words[]; /* "config", "user", "project" */

/* Strings belong to the list and end with a NUL. Immutable. */
typedef struct rt_hook {
	rt_hook_source source;
	const rt_hook_event *event;
	rt_str event_name; /* as configured: the name or the alias */
	rt_str name;
	rt_str match;      /* empty: every subject */
	rt_str path;       /* of a file found in a folder; else empty */
	rt_str *args;      /* the program and its arguments */
	size_t arg_count;
	int64_t timeout_ms;
	bool required, is_async, persistent, once;
	bool off;          /* a file that is not executable */
	rt_str broken;     /* why the definition is invalid; empty: it is valid */
} rt_hook;

/* A growing list. Functions that add fail its scope: RT_LIMIT (too many hooks), RT_NOMEM, and as
 * documented below. */
typedef struct rt_hook_list {
	rt_scope scope; /* owns all memory */
	rt_hook *items;
	size_t count, capacity;
	rt_buf *warnings; /* one per line */
} rt_hook_list;

void rt_hook_list_init(rt_hook_list *list, const rt_alloc *alloc);
void rt_hook_list_deinit(rt_hook_list *list);

/* Add the hooks of a JSON array (empty text: none). An invalid one becomes a warning; if its
 * event is known, it is added as broken, because it may be required. RT_USAGE: not an array. */
void rt_hook_list_read(rt_hook_list *list, rt_str json);

/* Add a file found in a folder: event is the folder's name. path is absolute. An unknown event
 * becomes a warning. */
void rt_hook_list_add_file(rt_hook_list *list, rt_hook_source source, rt_str event, rt_str file,
			   rt_str path, bool off);

/* True if every word of match matches the subject. */
bool rt_hook_matches(rt_str match, rt_str subject);

/* "5s" to 5000; false: invalid or out of range. */
bool rt_hook_parse_timeout(rt_str text, int64_t *out_ms);

#endif
