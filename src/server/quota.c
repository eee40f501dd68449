/* SPDX-License-Identifier: MIT */
#include "server/quota.h"

#include <stdio.h>

#include "accounts/audit.h"
#include "server/access.h"
#include "server/call.h"

enum { DAY_S = 86400 };

static uint64_t
user_of(const rt_call *call, int64_t now_us)
{
	const rt_item *user = rt_account_user(call->roster, &call->principal.account, now_us);

	return user != NULL ? user->id : 0;
}

static uint64_t
project_of(const rt_call *call)
{
	return call->open_project != NULL ? rt_engine_project_number(call->open_project->engine) : 0;
}

static bool
is_empty(const rt_use *use)
{
	for (int kind = 0; kind < RT_QUOTA_KINDS; kind++)
		if (use->counts[kind] > 0)
			return false;
	return true;
}

rt_use
rt_call_use(const rt_call *call, const rt_request *requests, size_t count)
{
	rt_use use = {{0}};

	for (size_t i = 0; i < count; i++) {
		unsigned flags = requests[i].invalid == NULL ? rt_ops[requests[i].op].flags : 0;

		if ((flags & RT_OP_ADDS) != 0)
			use.counts[RT_QUOTA_BYTES] = call->request->body.size;
		use.counts[RT_QUOTA_ENTRIES] += (flags & RT_OP_ADDS_ENTRY) != 0;
	}
	return use;
}

static void
refuse(rt_call *call, const rt_accounts *a, const rt_quota_excess *excess, uint64_t user, int64_t now_us)
{
	bool is_daily = rt_quota_is_daily(excess->kind);
	rt_buf *detail = rt_scope_buf(a->scope);
	char wait[24];

	rt_quota_explain(a, call->roster, excess, user, detail);
	rt_str text = rt_scope_str(a->scope, detail);
	size_t end = rt_str_find(text, RT_STR(";"), 0);
	rt_audit row = {.by = a->by,
			.what = RT_STR("refused.quota"),
			.on = rt_str_at(text.ptr, end < text.size ? end : text.size),
			.request = a->request};
	if (!rt_ok(a->scope))
		return;
	if (call->account_notes != NULL)
		rt_account_notes_refused(call->account_notes, now_us, row.by, &row, "refused.quota");
	rt_problem_http(call->answer, is_daily ? 429 : 403, "quota-exceeded", "A limit of this server would be exceeded",
			text.ptr);
	(void)snprintf(wait, sizeof(wait), "%lld", (long long)(DAY_S - now_us / 1000000 % DAY_S));
	if (is_daily)
		rt_web_answer_header(call->answer, call->request, "Retry-After", rt_str_of(wait));
	rt_call_stop(call);
}

void
rt_call_check_quota(rt_call *call, const rt_use *added)
{
	const rt_env *env = rt_project_pool_get_options(call->pool)->env;
	int64_t now_us = env->now_us(env->ctx);
	rt_quota_excess excess;

	if (!rt_ok(&call->scope) || call->meter == NULL || call->roster == NULL || is_empty(added))
		return;
	uint64_t user = user_of(call, now_us);
	rt_accounts a = {.directory = call->directory,
			 .scope = &call->scope,
			 .env = env,
			 .by = call->principal.user.size > 0 ? call->principal.user : RT_STR("machine"),
			 .from = RT_STR("http"),
			 .request = rt_str_of(call->request->id)};
	if (rt_quota_is_exceeded(call->meter, &a, call->roster, user, project_of(call), added, &excess))
		refuse(call, &a, &excess, user, now_us);
}

void
rt_call_count_use(rt_call *call, const rt_use *added)
{
	const rt_env *env = rt_project_pool_get_options(call->pool)->env;
	int64_t now_us = env->now_us(env->ctx);

	if (rt_ok(&call->scope) && call->meter != NULL && call->roster != NULL && !is_empty(added))
		rt_quota_add(call->meter, call->roster, now_us, user_of(call, now_us), project_of(call), added);
}

void
rt_quota_count_run(rt_quota_meter *meter, rt_directory *directory, uint64_t project, rt_str by,
		   const rt_run_use *use)
{
	const rt_roster *roster = rt_directory_roster(directory);
	size_t colon = rt_str_find(by, RT_STR(":"), 0);
	const rt_item *user = rt_roster_named(roster, RT_ITEM_USER, colon == SIZE_MAX ? by : rt_str_at(by.ptr, colon));
	rt_use added = {{[RT_QUOTA_BYTES] = use->bytes, [RT_QUOTA_ENTRIES] = use->entries, [RT_QUOTA_TOKENS] = use->tokens}};

	if (!is_empty(&added))
		rt_quota_add(meter, roster, rt_directory_now(directory), user != NULL ? user->id : 0, project, &added);
	rt_object_unref(roster);
}
