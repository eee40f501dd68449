/* SPDX-License-Identifier: MIT
 *
 * Slash commands for questions to models: a prompt template (app/template.h) by its name, and
 * several models in parallel. */
#ifndef RT_TUI_SLASH_ASK_H
#define RT_TUI_SLASH_ASK_H

#include "tui/pane.h"

/* "/NAME more": its variables are asked for, and the text is put into the input. false: there is no
 * such template. */
bool rt_slash_template(rt_tui *tui, rt_str name, rt_str more, rt_status *out_status);
/* "/template": lists the templates; the chosen one is used as by its name. */
RT_CHECKED rt_status rt_slash_templates(rt_tui *tui, rt_action action, rt_str rest);
/* "/ask-models A B": asks for the question, which the models answer as takes after it. */
RT_CHECKED rt_status rt_slash_ask_models(rt_tui *tui, rt_action action, rt_str models);

#endif
