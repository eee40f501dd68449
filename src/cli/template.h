/* SPDX-License-Identifier: MIT
 *
 * Prompt templates (app/template.h) on the command line. */
#ifndef RT_CLI_TEMPLATE_H
#define RT_CLI_TEMPLATE_H

#include "cli/cli.h"

/* The flags --template and --var of commands that send. */
#define RT_CLI_TEMPLATE_FLAGS \
	{"template", 't', "NAME", RT_ARG_TEXT, "a template (retake template) before the text"}, \
	{ \
		"var", 'V', "NAME=VALUE", RT_ARG_TEXT, \
			"value of a variable of the template; repeatable" \
	}

/* The text of the template NAME with its variables filled in, from --var or a prompt; then more, if
 * it is not empty. The session is open. */
rt_str rt_cli_template(rt_cli *cli, const char *name, rt_str more);

#endif
