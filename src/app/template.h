/* SPDX-License-Identifier: MIT
 *
 * Prompt templates: texts with variables, "Review {{file}} as {{role}}.". The template NAME is the
 * setting template.NAME of the project. A variable is a name of letters, digits, - and _ in double
 * braces, with or without spaces around it; everything else is text. */
#ifndef RT_APP_TEMPLATE_H
#define RT_APP_TEMPLATE_H

#include "view/view_rows.h"

#define RT_TEMPLATE_KEY "template."
enum { RT_TEMPLATE_VARIABLES_MAX = 64 };

typedef struct rt_template_variable {
	rt_str name, value; /* value.ptr NULL: not given */
} rt_template_variable;

typedef struct rt_template_variables {
	rt_template_variable items[RT_TEMPLATE_VARIABLES_MAX];
	size_t count;
} rt_template_variables;

/* 1 to 40 letters, digits, - and _: it is typed as /NAME. */
bool rt_template_name_is_legal(rt_str name);
/* The text of a template; ptr NULL: there is none. */
rt_str rt_template_text(const rt_view *view, rt_str name);
/* The variables of a text, each once, in their order. Fails the scope with RT_LIMIT. */
void rt_template_read(rt_scope *s, rt_str text, rt_template_variables *out);
/* The text with the values of its variables; one without a value is not replaced. */
void rt_template_fill(rt_str text, const rt_template_variables *variables, rt_buf *out);

#endif
