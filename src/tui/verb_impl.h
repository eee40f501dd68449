/* SPDX-License-Identifier: MIT
 *
 * What the files of verbs share: verb.c has those of entries, verb_go.c the way through the
 * tree, slash.c the commands of the chat. */
#ifndef RT_TUI_VERB_IMPL_H
#define RT_TUI_VERB_IMPL_H

#include "tui/verb.h"

struct rt_config;

/* One request with one field (key NULL: none), carried out and said. */
RT_CHECKED rt_status rt_verb_op(rt_tui *tui, const char *op, const char *key, rt_str value,
				bool is_json);
/* A model at work; failures are said. */
RT_CHECKED rt_status rt_verb_run(rt_tui *tui, const char *how, rt_str fields);
/* A failure, said: RT_OK then; RT_NOMEM stays. */
RT_CHECKED rt_status rt_verb_said(rt_tui *tui, rt_status st, const rt_error *err);
/* Entries in front of another one, in their order. */
RT_CHECKED rt_status rt_verb_move_before(rt_tui *tui, const uint32_t *entries, size_t count,
					 uint32_t before);
/* Asks for a file, and exports the take at hand to it; for a name, and begins a discussion. */
RT_CHECKED rt_status rt_slash_export(rt_tui *tui);
RT_CHECKED rt_status rt_slash_new(rt_tui *tui);
/* The setting model, where a provider knows the name. */
RT_CHECKED rt_status rt_verb_set_model(rt_tui *tui, rt_str name);
/* Another name for a take; 0: the one at hand. */
RT_CHECKED rt_status rt_verb_rename(rt_tui *tui, uint32_t take);
/* An entry on a screen of its own. */
RT_CHECKED rt_status rt_verb_read(rt_tui *tui, uint32_t entry);
/* The working prompt, to be edited. */
RT_CHECKED rt_status rt_verb_prompt(rt_tui *tui);
/* Names of models as JSON strings, with commas between. */
void rt_verb_add_models(rt_tui *tui, const struct rt_config *config, rt_buf *json);

#endif
