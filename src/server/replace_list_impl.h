/* SPDX-License-Identifier: MIT
 *
 * What the two halves of replace share: the lists, read, and which entry is which. */
#ifndef RT_SERVER_REPLACE_LIST_IMPL_H
#define RT_SERVER_REPLACE_LIST_IMPL_H

#include "base/moment.h"
#include "server/replace_list.h"

#define RT_REPLACE_LIST_NONE SIZE_MAX

typedef struct rt_replace_list_old {
	yyjson_val *value;
	rt_str id, role;
	yyjson_val *content;
	rt_moment ts;
	bool has_ts;
	size_t to; /* the wanted one; RT_REPLACE_LIST_NONE: it goes */
} rt_replace_list_old;

typedef struct rt_replace_list_new {
	yyjson_val *value;
	rt_str id, role;     /* ptr NULL: not given */
	yyjson_val *content; /* NULL: not given */
	rt_moment ts;
	bool has_ts;
	bool is_fixed; /* stays where it is */
	size_t from;   /* the old one; RT_REPLACE_LIST_NONE: it is new */
} rt_replace_list_new;

typedef struct rt_replace_list {
	rt_scope *scope;
	rt_replace_list_old *olds;
	rt_replace_list_new *news;
	size_t old_count, new_count;
	rt_id_used_fn is_used;
	void *ctx;
	rt_buf *requests; /* rt_request after rt_request */
	rt_replace_list_counts counts;
} rt_replace_list;

/* Read both lists. */
RT_CHECKED rt_status rt_replace_list_read(rt_replace_list *p, yyjson_val *current,
					  yyjson_val *wanted);
/* Find for each wanted entry the one that it was. */
RT_CHECKED rt_status rt_replace_list_match(rt_replace_list *p);

/* Equal as JSON, whatever the order of keys. *status: RT_NOMEM where it could not be seen. */
bool rt_replace_list_same(const rt_replace_list *p, yyjson_val *a, yyjson_val *b,
			  rt_status *status);
bool rt_replace_list_same_ts(const rt_replace_list_old *o, const rt_replace_list_new *n);

#endif
