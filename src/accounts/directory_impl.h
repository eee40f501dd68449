/* SPDX-License-Identifier: MIT
 *
 * What the files of the directory share. */
#ifndef RT_ACCOUNTS_DIRECTORY_IMPL_H
#define RT_ACCOUNTS_DIRECTORY_IMPL_H

#include "accounts/accounts.h"

/* The order of a roster's items. */
int rt_item_compare(const void *left, const void *right);

/* ---- rows (item.c) ---- */

/* The beginning of the names of a kind's rows: "user/". */
extern const char *const rt_item_prefixes[RT_ITEM_KINDS];
/* The name of the item's row. */
void rt_item_add_key(rt_buf *out, const rt_item *item);
void rt_item_write(rt_buf *out, const rt_item *item);
/* Reads a row; its texts and lists are in the arena. *out_is_item false: it is not a complete row of
 * this kind. RT_NOMEM. */
RT_CHECKED rt_status rt_item_read(const rt_alloc *alloc, rt_arena *arena, rt_item_kind kind,
				  const rt_store_row *row, rt_item *out, bool *out_is_item);

/* ---- users (accounts.c) ---- */

/* Removes a user with memberships, tokens and limits, within a change. */
rt_accounts_removed rt_user_drop(rt_directory_change *change, const rt_item *user);

#endif
