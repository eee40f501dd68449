/* SPDX-License-Identifier: MIT
 *
 * Identity: for whom a thread accesses a store. A store with its own access control (row-level
 * security of PostgreSQL) refuses what the identity may not do, besides the decision of the server
 * (accounts/authorize.h); other stores ignore it.
 *
 *   ""              the program itself: everything
 *   "u7"            user 7 of the accounts
 *   "t<SHA-256>"    a personal access token
 *   "l<SHA-256>"    a share link
 *   anything else   no right
 *
 * Several, separated by blanks: what all of them may do. A transaction with changes of several users
 * is sent with all of them.
 *
 * Threads: each has its own. */
#ifndef RT_LOG_IDENTITY_H
#define RT_LOG_IDENTITY_H

#include "base/text.h"

/* The identity of this thread; that of the program unless one was set. */
rt_str rt_store_identity(void);
/* Sets it until the next call, and returns the one before. Borrowed. */
rt_str rt_store_set_identity(rt_str identity);
#define RT_STORE_ITSELF ((rt_str){"", 0})

#endif
