/* SPDX-License-Identifier: MIT
 *
 * Other verbs: words for which similar programs have a command, and its name here. They are
 * suggested in the errors for an unknown command and an unknown help topic. */
#ifndef RT_CLI_OTHER_VERBS_H
#define RT_CLI_OTHER_VERBS_H

/* The command and its flags, as after "retake "; NULL: the word is not in the table. */
const char *rt_other_verb(const char *verb);

#endif
