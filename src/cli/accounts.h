/* SPDX-License-Identifier: MIT
 *
 * Functions of the commands for accounts. The command line reads and changes the store itself, so it acts
 * as an administrator. Failures are the command's. */
#ifndef RT_CLI_ACCOUNTS_H
#define RT_CLI_ACCOUNTS_H

#include "accounts/accounts.h"
#include "cli/cli.h"

/* Opens the store and its directory, with the rights of the machine's owner. */
rt_accounts rt_cli_accounts(rt_cli *cli, bool changes);
/* The accounts now; NULL after a failure. */
const rt_roster *rt_cli_roster(rt_cli *cli, const rt_accounts *a);
/* The number of a project. RT_NOT_FOUND. */
uint64_t rt_cli_project_number(rt_cli *cli, rt_str name);
/* The time at which something expires, from --days; 0: never. absent: days without the flag. */
int64_t rt_cli_until(rt_cli *cli, uint64_t absent);
/* The form of the usage that begins with the first word, from 1 (form 0 has no words), if the number of words
 * fits; else 0, a failure. */
int rt_cli_verb(rt_cli *cli);
/* Prints that something was done: a sentence, or an object with one member. */
void rt_cli_say_done(rt_cli *cli, const char *sentence, const char *key, rt_str name);
/* Prints a secret, which is shown only now. */
void rt_cli_say_secret(rt_cli *cli, const char *what, uint64_t id, const char *secret);
/* Removes a user with all data, or with --dry-run prints what that would remove. */
void rt_cli_purge_user(rt_cli *cli, const rt_accounts *a, rt_str name);
/* Prints the items of a kind; project 0: of all projects. */
void rt_cli_list_accounts(rt_cli *cli, rt_item_kind kind, uint64_t project);

#endif
