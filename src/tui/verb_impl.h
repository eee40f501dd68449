/* SPDX-License-Identifier: MIT
 *
 * What the files of verbs share: verb.c has those of entries, verb_navigate.c the way through the
 * tree, verb_read.c what only looks, verb_conflict.c what is asked where somebody was faster,
 * slash.c the commands of the chat. */
#ifndef RT_TUI_VERB_IMPL_H
#define RT_TUI_VERB_IMPL_H

#include "tui/verb_request.h"
#include "tui/verb.h"

/* Carry out one request and report it. */
RT_CHECKED rt_status rt_verb_apply(rt_tui *tui, const rt_request *request);
/* A verb on an entry, with the answer to its question. */
RT_CHECKED rt_status rt_verb_with(rt_tui *tui, rt_action action, uint32_t entry, rt_str answer);
/* Undo or redo count steps (decimal; empty: one). Asks first if the newest step is not the one
 * that the person was shown. */
RT_CHECKED rt_status rt_verb_undo(rt_tui *tui, bool redo, rt_str count);
/* Carry out a request, in the take where it was made. */
RT_CHECKED rt_status rt_verb_do(rt_tui *tui, rt_verb_request *request, rt_str answer);
/* The precondition did not hold: ask what to do. again: carries it out all the same. */
RT_CHECKED rt_status rt_verb_conflict(rt_tui *tui, rt_verb_request *request,
				      const rt_error *err, rt_verb_fn again);
/* Report the failure, and keep a text that was written for it in the chat's input history. */
RT_CHECKED rt_status rt_verb_failed(rt_tui *tui, const rt_verb_request *request, rt_str answer,
				    rt_status st, const rt_error *err);
/* "User, entry 4", "3 entries". */
void rt_verb_name(rt_tui *tui, const uint32_t *entries, size_t count, char *out, size_t room);
RT_CHECKED rt_status rt_verb_versions(rt_tui *tui, uint32_t entry);
/* path: all from the first to this one. */
RT_CHECKED rt_status rt_verb_copy(rt_tui *tui, const uint32_t *entries, size_t count, bool path);
/* A model at work; failures are said. */
RT_CHECKED rt_status rt_verb_run(rt_tui *tui, const rt_run_request *request);
/* Entries in front of another one, in their order. */
RT_CHECKED rt_status rt_verb_move_before(rt_tui *tui, const uint32_t *entries, size_t count,
					 uint32_t before);
/* Options and command for an export of a discussion, or of a take of it (0: all that the format
 * can hold of the discussion); the file is to be added. */
void rt_verb_add_export(rt_buf *line, uint32_t disc, uint32_t take);
/* Ask for a file, and export the same to it. */
RT_CHECKED rt_status rt_verb_export_to(rt_tui *tui, uint32_t disc, uint32_t take,
				       const char *title);
/* Ask for a file, and export the take of that entry to it; 0: the one in view. */
RT_CHECKED rt_status rt_verb_export(rt_tui *tui, uint32_t entry);
/* Asks for a name, and begins a discussion. */
RT_CHECKED rt_status rt_slash_new(rt_tui *tui);
/* The setting model, where a provider knows the name. */
RT_CHECKED rt_status rt_verb_set_model(rt_tui *tui, rt_str name);
/* Another name for a take; 0: the one at hand. */
RT_CHECKED rt_status rt_verb_rename(rt_tui *tui, uint32_t take);
/* An entry on a screen of its own. */
RT_CHECKED rt_status rt_verb_read(rt_tui *tui, uint32_t entry);
/* The working prompt, to be edited. */
RT_CHECKED rt_status rt_verb_prompt(rt_tui *tui);
#endif
