/* SPDX-License-Identifier: MIT
 *
 * The table of commands that other programs have under another name. */
#include "cli/other_verbs.h"

#include <string.h>

const char *
rt_other_verb(const char *verb)
{
	static const char *const words[][2] = {
		{"attach", "ask --attach FILE"},
		{"checkout", "takes switch TAKE, or go ENTRY"},
		{"cancel", "undo"},
		{"compare", "diff TAKE"},
		{"config", "settings"},
		{"continue", "again --continue"},
		{"cost", "status"},
		{"find", "search"},
		{"fork", "branch"},
		{"image", "ask --image FILE"},
		{"keys", "help config"},
		{"regenerate", "again"},
		{"remove", "delete"},
		{"resume", "again --continue"},
		{"retry", "again"},
		{"share", "export -d DISCUSSION -o FILE.html"},
		{"system", "set project_system_prompt"},
		{"title", "rename"},
		{"tokens", "context --tokens"},
		{"unarchive", "archive --off"},
		{"undelete", "revert STEP, with the step of the deletion from history"},
		{"unpin", "pin --off"},
		{"usage", "status"},
		{"version", "--version"},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(verb, words[i][0]) == 0)
			return words[i][1];
	return NULL;
}
