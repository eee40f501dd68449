/* SPDX-License-Identifier: MIT
 *
 * What the files of quotas share. */
#ifndef RT_ACCOUNTS_QUOTA_IMPL_H
#define RT_ACCOUNTS_QUOTA_IMPL_H

#include "accounts/quota.h"

/* The name of the row of a subject: "use/u7". */
void rt_use_add_name(rt_buf *out, rt_quota_subject subject);
/* The row, with the projects that the roster knows. */
void rt_use_read(const rt_accounts *a, const rt_roster *roster, rt_quota_subject subject, rt_use *out);
/* The same from memory, if it was read a moment ago, with what this server has added since. */
void rt_use_now(rt_quota_meter *meter, const rt_accounts *a, const rt_roster *roster, rt_quota_subject subject,
		rt_use *out);

#endif
