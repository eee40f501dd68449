/* SPDX-License-Identifier: MIT
 *
 * Api: the handlers of /retake/v1, one for each row of routes.c.
 *
 *   api_view.c      discussions, entries, settings, history, search; texts laid out
 *   api_context.c   the next request to a model, and the last one
 *   api_stats.c     entries, tokens and cost, grouped
 *   api_change.c    operations, as routes and by their names
 *   api_run.c       models at work; events
 *   api_attachment.c files attached to entries
 *   api_file.c      export and import
 *   api_accounts.c  administration of the accounts
 *   api_server.c    the server, its browsers, projects and models
 *
 * Threads: as rt_web_site's handle. */
#ifndef RT_SERVER_API_H
#define RT_SERVER_API_H

#include "server/call.h"

/* Windows and lists. */
enum {
	RT_API_WINDOW = 200, /* entries, if no count is given */
	RT_API_WINDOW_MAX = 2000,
	RT_API_STEPS = 100,
	RT_API_STEPS_MAX = 1000,
	RT_API_HITS = 50,
	RT_API_HITS_MAX = 1000,
	RT_API_BATCH_MAX = 10000 /* operations */
};

/* The operation of the route, from its path, its query and its body. */
void rt_api_op(rt_call *call);

/* `attachment; filename="bread.html"`: ASCII, and (RFC 6266) the name itself if it has other
 * characters. No name may leave its directory, hide, or end as another type of file. */
void rt_api_add_disposition(rt_buf *out, rt_str name, const char *extension);

void rt_api_account(rt_call *call);
void rt_api_users(rt_call *call);
void rt_api_user_new(rt_call *call);
void rt_api_user_change(rt_call *call);
void rt_api_user_remove(rt_call *call);
void rt_api_teams(rt_call *call);
void rt_api_team_set(rt_call *call);
void rt_api_members(rt_call *call);
void rt_api_member_set(rt_call *call);
void rt_api_links(rt_call *call);
void rt_api_link_new(rt_call *call);
void rt_api_link_open(rt_call *call);
void rt_api_link_revoke(rt_call *call);
void rt_api_tokens(rt_call *call);
void rt_api_token_new(rt_call *call);
void rt_api_token_revoke(rt_call *call);
void rt_api_audit(rt_call *call);
void rt_api_invitations(rt_call *call);
void rt_api_invitation_new(rt_call *call);
void rt_api_invitation_revoke(rt_call *call);
void rt_api_identities(rt_call *call);
void rt_api_identity_remove(rt_call *call);
void rt_api_quotas(rt_call *call);
void rt_api_quota_set(rt_call *call);
void rt_api_advice(rt_call *call);
void rt_api_attachment(rt_call *call);
void rt_api_attachment_new(rt_call *call);
void rt_api_batch(rt_call *call);
void rt_api_codes(rt_call *call);
void rt_api_context(rt_call *call);
void rt_api_diff(rt_call *call);
void rt_api_discussion(rt_call *call);
void rt_api_discussions(rt_call *call);
void rt_api_tracks(rt_call *call);
void rt_api_entries(rt_call *call);
void rt_api_entries_read(rt_call *call);
void rt_api_entry(rt_call *call);
void rt_api_entry_patch(rt_call *call);
void rt_api_events(rt_call *call);
void rt_api_export(rt_call *call);
void rt_api_file_names(rt_call *call);
void rt_api_files(rt_call *call);
void rt_api_health(rt_call *call);
void rt_api_history(rt_call *call);
void rt_api_import(rt_call *call);
void rt_api_info(rt_call *call);
void rt_api_label_delete(rt_call *call);
void rt_api_labels(rt_call *call);
void rt_api_logout(rt_call *call);
void rt_api_models(rt_call *call);
void rt_api_op_any(rt_call *call);
void rt_api_openapi(rt_call *call);
void rt_api_presets(rt_call *call);
void rt_api_usage(rt_call *call);
void rt_api_project_new(rt_call *call);
void rt_api_project_settings(rt_call *call);
void rt_api_projects(rt_call *call);
void rt_api_prompt(rt_call *call);
void rt_api_render(rt_call *call);
void rt_api_revisions(rt_call *call);
void rt_api_roles(rt_call *call);
void rt_api_run(rt_call *call);
void rt_api_run_start(rt_call *call);
void rt_api_run_stop(rt_call *call);
void rt_api_runs(rt_call *call);
void rt_api_search(rt_call *call);
void rt_api_setting_delete(rt_call *call);
void rt_api_sent(rt_call *call);
void rt_api_server(rt_call *call);
void rt_api_metrics(rt_call *call);
void rt_api_settings(rt_call *call);
void rt_api_stats(rt_call *call);
void rt_api_step(rt_call *call);
void rt_api_forks(rt_call *call);
void rt_api_symbol(rt_call *call);
void rt_api_symbols(rt_call *call);
void rt_api_takes(rt_call *call);
void rt_api_tree(rt_call *call);

#endif
