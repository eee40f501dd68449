/* SPDX-License-Identifier: MIT
 *
 * The table of routes: those of core/op.def, one for each operation, and the rows below.
 *
 * Rows with a word at a place come before rows with a parameter there, so the first match is the
 * right one. */
#include "server/route.h"

#include "formats/formats.h"
#include "server/api.h"
#include "view/stats.h"

#define TAKE {"take", "string", "name or id; default: the active one"}
#define BLOCKS {"blocks", "boolean", "add \"blocks\" to each content: the content as a block list"}
#define AT_OP {"at_op", "integer", "the state after this row of the history"}
#define END {NULL, NULL, NULL}

static const rt_route_param q_at[] = {AT_OP, END};
static const rt_route_param q_take[] = {TAKE, END};
static const rt_route_param q_place[] = {
	{"discussion", "string", "name or id; default: the active one"}, TAKE, END};
static const rt_route_param q_discussions[] = {
	{"all", "boolean", "include deleted discussions"},
	{"track", "string", "only those bound to this track; empty: only those without a track"},
	AT_OP,
	END};
static const rt_route_param q_takes[] = {
	{"all", "boolean", "include deleted discussions"},
	{"count", "integer", "maximum number of takes"},
	{"with", "string", "name or id of a take to include in addition to the maximum number"},
	AT_OP,
	END};
static const rt_route_param q_models[] = {
	{"provider", "string", "list the models of this provider"}, END};
static const rt_route_param q_tree[] = {
	{"columns", "boolean", "return columns, for large trees"},
	{"preview", "integer", "number of characters of each text; default: 60, or 0 with columns"},
	{"take", "string", "with columns: only the path of this take"},
	{"from", "integer", "with columns: the first row, from 0"},
	{"count", "integer", "with columns: maximum number of rows; default: all"},
	{"bare", "boolean", "with columns and a take: leave `takes` empty and flag 16 unset (the forks route returns both)"},
	AT_OP,
	END};
static const rt_route_param q_entries[] = {
	TAKE,
	{"from", "integer", "the first position, from 0"},
	{"count", "integer", "number of positions; default: 200, maximum: 2000"},
	{"last", "integer", "instead of from and count: number of entries at the end of the take"},
	{"role", "string", "filter: only entries with this role, and those with the role User"},
	{"tags", "boolean", "include the ETag of each entry"},
	BLOCKS,
	AT_OP,
	END};
static const rt_route_param q_forks[] = {TAKE, AT_OP, END};
static const rt_route_param q_entry[] = {TAKE, BLOCKS, AT_OP, END};
static const rt_route_param b_texts[] = {
	{"texts", "array", "Markdown texts; maximum: 2000"}, END};
static const rt_route_param q_history[] = {
	{"before", "integer", "only steps before this number; for the next page: \"next\""},
	{"limit", "integer", "number of steps; default: 100, maximum: 1000"},
	END};
static const rt_route_param q_search[] = {
	{"q", "string", "words, \"a phrase\", -word, role:NAME, after:DATE …; the syntax of retake search"},
	{"similar", "boolean", "also by meaning, with the embedding_model of config.toml"},
	{"discussion", "string", "only in this discussion"},
	{"role", "string", "only entries with this role"},
	{"limit", "integer", "number of results; default: 50, maximum: 1000"},
	END};
static const rt_route_param q_stats[] = {
	{"by", "string", RT_STATS_BY_WORDS "; default: day"},
	{"since", "string", "the first day, such as 2026-11-18; days are those of the server's time zone"},
	{"until", "string", "the last day"},
	{"discussion", "string", "only this discussion"},
	AT_OP,
	END};
static const rt_route_param q_context[] = {
	TAKE,
	{"provider", "string", "build the request for this provider; default: the model's provider"},
	{"model", "string", "PROVIDER/NAME; default: the setting, then the configuration"},
	{"budget", "integer", "maximum number of tokens; the oldest entries are left out"},
	AT_OP,
	END};
static const rt_route_param q_events[] = {
	{"discussion", "string", "only rows that affect this discussion"},
	{"last_event_id", "string", "alternative to the header Last-Event-ID, which takes precedence"},
	END};
static const rt_route_param q_last[] = {
	{"last_event_id", "string", "alternative to the header Last-Event-ID, which takes precedence"}, END};
#define EXPORT \
	{"format", "string", RT_FORMAT_NAMES "; default: canonical"}, \
		{"all", "boolean", "export all takes, the named one first"}, \
		{"lossless", "boolean", "add data that the format itself cannot represent"}, \
		{"lines", "boolean", "one conversation per line, if the format also has a form with one document"}, \
		{"redact", "boolean", "replace secrets with placeholders"}, \
		{"emails", "boolean", "with redact: also replace email addresses"}, \
	{ \
		"dry_run", "boolean", "with redact: report as JSON what would be replaced" \
	}
static const rt_route_param q_export[] = {TAKE, EXPORT, AT_OP, END};
static const rt_route_param q_export_all[] = {
	{"discussion", "string", "only this discussion"}, TAKE,
	{"all_discussions", "boolean", "all discussions of the project, in formats that otherwise contain one"},
	EXPORT, AT_OP, END};
static const rt_route_param q_file_names[] = {
	{"search", "string", "only paths that contain this text, ignoring case"},
	{"count", "integer", "maximum number of names; default and maximum: 100"},
	END};
static const rt_route_param q_symbols[] = {
	{"prefix", "string", "only names with this prefix"}, AT_OP, END};
static const rt_route_param q_attachment[] = {{"name", "string", "name of the file"}, END};
static const rt_route_param q_import[] = {{"format", "string", "default: detected from the content"},
					  {"name", "string", "name of the discussion; default: the one in the file"},
					  {"fallback", "string", "name of a discussion that has none in the file"},
					  {"dry_run", "boolean", "count only, import nothing"},
					  END};
static const rt_route_param b_project[] = {{"name", "string", "name of the project"}, END};
static const rt_route_param b_code[] = {
	{"project", "string", "the only project that the browser may open; default: all, or with serve --isolate a new one"},
	{"user", "string", "on a server with accounts: name of the user to sign in"},
	{"store", "string", "path of the store that the server must serve (otherwise 409); default: any"},
	END};
static const rt_route_param b_ids[] = {{"ids", "array", "up to 2000 ids"}, END};
static const rt_route_param b_patch[] = {
	{"content", "content", "the new text, or an array of content blocks"},
	{"role", "string", "the new role"},
	{"muted", "boolean", "whether the entry is left out of requests"},
	{"everywhere", "boolean", "change the text in every take that contains the entry"},
	{"keep_blocks", "boolean", "replace the text and keep blocks of other types"},
	{"mode", "string", "\"in_place\" (default), or \"take\": start a new take with the changed entry"},
	{"name", "string", "with mode \"take\": name of the new take"},
	{"keep_after", "boolean", "with mode \"take\": also copy the following entries; default: false"},
	{"take", "string", "same as in the query"},
	END};
static const rt_route_param b_batch[] = {
	{"ops", "array", "operations, each {\"op\":…} with its fields"},
	{"atomic", "boolean", "apply all as one step or none; default: true"},
	{"take", "string", "same as in the query"},
	END};

static const rt_route_param q_account[] = {
	{"project", "string", "name of the project; default: as in other requests"}, END};
static const rt_route_param q_audit[] = {
	{"user", "string", "only of this user and the user's programs"},
	{"since", "string", "only from this day or time, such as 2026-11-18"},
	{"limit", "integer", "number of rows; default: 1000, maximum: 100000"},
	END};
static const rt_route_param b_user[] = {
	{"name", "string", "1 to 64 characters of a-z 0-9 . _ -"},
	{"admin", "boolean", "administrator of the server; default: false"},
	END};
static const rt_route_param b_user_change[] = {
	{"admin", "boolean", "administrator of the server"},
	{"disabled", "boolean", "access is refused, but memberships and tokens are kept"},
	END};
static const rt_route_param b_quota[] = {
	{"bytes", "integer", "maximum number of bytes in requests that add texts or files; null, here and "
			     "below: no limit"},
	{"entries", "integer", "maximum number of added entries"},
	{"projects", "integer", "maximum number of projects owned by the user or, for a team, by its users"},
	{"requests", "integer", "maximum number of requests to models per day (UTC)"},
	{"tokens", "integer", "maximum number of model tokens per day (UTC)"},
	END};
static const rt_route_param b_invitation[] = {
	{"roles", "object", "the role in each project: {\"thesis\":\"editor\"}; default: none"},
	{"name", "string", "name of the user; default: the person chooses one"},
	{"days", "integer", "days until it expires; default: 7; 0: never"},
	END};
static const rt_route_param b_member[] = {{"role", "string", "reader, commenter, editor or owner"}, END};
static const rt_route_param b_link[] = {
	{"discussion", "string", "the only discussion that the link shows; default: the whole project"},
	{"days", "integer", "days until it expires; default: 0, never"},
	END};
static const rt_route_param b_token[] = {
	{"name", "string", "name shown in the list of tokens"},
	{"scope", "string", "read, write (default) or admin"},
	{"projects", "array", "names of the projects that the token may open; default: all projects of its user"},
	{"days", "integer", "days until it expires; default: 0, never"},
	END};

#define DISC "/discussions/{discussion}"
#define ENTRY DISC "/entries/{entry}"
#define TAKE_PATH DISC "/takes/{take}"

/* A read of a project, a further path of an operation, and the others, with the right that they need.
 * Every request of a change needs the right of its operation, too (access.h). */
#define GET(path, name, about, fn, flags, answer, query)                                         \
	DO(GET, READ, path, name, about, fn, flags, answer, query, NULL)
#define ALSO(method, path, name, about, op, query)                                               \
	{RT_WEB_##method, RT_RIGHT_COMMENT, path, name, about, rt_api_op, op, RT_ROUTE_CHANGES, NULL, query, NULL}
#define DO(method, right, path, name, about, fn, flags, answer, query, body)                     \
	{RT_WEB_##method, RT_RIGHT_##right, path, name, about, fn, -1, flags, answer, query, body}

const rt_route rt_routes[] = {
/* The operations, each with the path of its row. */
#define NOTHING NULL
#define IN_TAKE q_take
#define ROUTE(method, path, query) RT_WEB_##method, path, query
#define OP(op, function, name, about, route, ...) OP_ROW(op, name, about, route)
#define OP_ROW(...) OP_ROW_OF(__VA_ARGS__) /* after the expansion of ROUTE */
#define OP_ROW_OF(op, name, about, method, path, query)                                          \
	{method, RT_RIGHT_COMMENT, path, name, about, rt_api_op, RT_OP_##op, RT_ROUTE_CHANGES, NULL, query, NULL},
#include "core/op.def"
#undef OP

	/* ---- the server ---- */
	GET("/info", "info", "version, limits and features of this server", rt_api_info, RT_ROUTE_OF_LINK, "Info", NULL),
	DO(GET, OPEN, "/health", "health", "check that the server responds", rt_api_health,
	   RT_ROUTE_NO_PROJECT | RT_ROUTE_QUICK, "Health", NULL, NULL),
	DO(GET, OPEN, "/openapi.json", "openapi", "this interface as OpenAPI 3.1", rt_api_openapi,
	   RT_ROUTE_NO_PROJECT | RT_ROUTE_QUICK, "Any", NULL, NULL),
	DO(GET, OPEN, "/models", "model.list",
	   "the configured providers; with ?provider, the models of one", rt_api_models,
	   RT_ROUTE_NO_PROJECT, "Array", q_models, NULL),
	{RT_WEB_GET, RT_RIGHT_SERVER, "/metrics", "server.metrics",
	 "load and request counts, for Prometheus", rt_api_metrics, -1,
	 RT_ROUTE_ROOT | RT_ROUTE_OWNER | RT_ROUTE_NO_PROJECT, "File", NULL, NULL},
	DO(GET, SERVER, "/server", "server.show", "load of the server", rt_api_server,
	   RT_ROUTE_NO_PROJECT | RT_ROUTE_OWNER | RT_ROUTE_QUICK, "Server", NULL, NULL),
	DO(POST, SERVER, "/codes", "code.new", "create a one-time code to sign in a browser",
	   rt_api_codes, RT_ROUTE_NO_PROJECT | RT_ROUTE_OWNER, "Code", NULL, b_code),
	DO(POST, OPEN, "/logout", "logout", "sign this browser out; its project is kept",
	   rt_api_logout, RT_ROUTE_NO_PROJECT, "SignedOut", NULL, NULL),

	/* ---- accounts ---- */
	DO(GET, OPEN, "/account", "account.show", "the account of this request and its rights", rt_api_account,
	   RT_ROUTE_NO_PROJECT, "Account", q_account, NULL),
	DO(GET, SERVER, "/users", "user.list", "the users of the server", rt_api_users, RT_ROUTE_NO_PROJECT, "Users",
	   NULL, NULL),
	DO(POST, SERVER, "/users", "user.new", "create a user", rt_api_user_new, RT_ROUTE_NO_PROJECT, "User", NULL, b_user),
	DO(PATCH, SERVER, "/users/{user}", "user.change", "change a user; the last administrator cannot lose this right (409)",
	   rt_api_user_change, RT_ROUTE_NO_PROJECT, "Status", NULL, b_user_change),
	DO(DELETE, SERVER, "/users/{user}", "user.remove",
	   "remove a user and the user's memberships and tokens; the last administrator and the last owner "
	   "of a project cannot be removed (409)",
	   rt_api_user_remove, RT_ROUTE_NO_PROJECT, "UserRemoved", NULL, NULL),
	DO(GET, SERVER, "/users/{user}/tokens", "user.tokens", "the tokens of a user", rt_api_tokens,
	   RT_ROUTE_NO_PROJECT, "Tokens", NULL, NULL),
	DO(POST, SERVER, "/users/{user}/tokens", "user.token_new", "create a token for a user", rt_api_token_new,
	   RT_ROUTE_NO_PROJECT, "Token", NULL, b_token),
	DO(DELETE, SERVER, "/users/{user}/tokens/{token}", "user.token_revoke", "revoke a token of a user",
	   rt_api_token_revoke, RT_ROUTE_NO_PROJECT, "Status", NULL, NULL),
	DO(GET, SELF, "/tokens", "token.list", "the personal access tokens of the user of this request", rt_api_tokens,
	   RT_ROUTE_NO_PROJECT, "Tokens", NULL, NULL),
	DO(POST, SELF, "/tokens", "token.new", "create a token; a token created with another token expires no later than that token",
	   rt_api_token_new, RT_ROUTE_NO_PROJECT, "Token", NULL, b_token),
	DO(DELETE, SELF, "/tokens/{token}", "token.revoke", "revoke a token", rt_api_token_revoke,
	   RT_ROUTE_NO_PROJECT, "Status", NULL, NULL),
	DO(GET, SERVER, "/teams", "team.list", "the teams and their users", rt_api_teams, RT_ROUTE_NO_PROJECT, "Teams",
	   NULL, NULL),
	DO(PUT, SERVER, "/teams/{team}/users/{user}", "team.add", "add a user to a team; adding the first user creates it",
	   rt_api_team_set, RT_ROUTE_NO_PROJECT, "Status", NULL, NULL),
	DO(DELETE, SERVER, "/teams/{team}/users/{user}", "team.remove",
	   "remove a user from a team; removing the last user deletes it", rt_api_team_set, RT_ROUTE_NO_PROJECT, "Status", NULL,
	   NULL),
	DO(GET, SERVER, "/users/{user}/identities", "user.identities", "the identity of a user at a sign-in service", rt_api_identities,
	   RT_ROUTE_NO_PROJECT, "Identities", NULL, NULL),
	DO(DELETE, SERVER, "/users/{user}/identities", "user.identity_remove",
	   "remove the identity; the user cannot sign in with the service any more", rt_api_identity_remove, RT_ROUTE_NO_PROJECT,
	   "Status", NULL, NULL),
	DO(GET, SERVER, "/invitations", "invite.list", "the invitations that can be accepted", rt_api_invitations,
	   RT_ROUTE_NO_PROJECT, "Invitations", NULL, NULL),
	DO(POST, SERVER, "/invitations", "invite.new", "create an invitation, which makes a person a user with these roles",
	   rt_api_invitation_new, RT_ROUTE_NO_PROJECT, "Invitation", NULL, b_invitation),
	DO(DELETE, SERVER, "/invitations/{invitation}", "invite.revoke", "revoke an invitation", rt_api_invitation_revoke,
	   RT_ROUTE_NO_PROJECT, "Status", NULL, NULL),
	DO(GET, SERVER, "/quotas", "quota.list", "the limits of users, teams and projects, and their use", rt_api_quotas,
	   RT_ROUTE_NO_PROJECT, "Quotas", NULL, NULL),
	DO(PUT, SERVER, "/quotas/users", "quota.set_users", "change the default limits, for users without an "
							    "individual limit", rt_api_quota_set,
	   RT_ROUTE_NO_PROJECT, "Status", NULL, b_quota),
	DO(PUT, SERVER, "/quotas/{of}/{name}", "quota.set", "change the limits of a user, a team or a project (`of`: user, team, project)",
	   rt_api_quota_set, RT_ROUTE_NO_PROJECT, "Status", NULL, b_quota),
	DO(GET, SERVER, "/audit", "audit.list", "the newest rows of the audit log, oldest first", rt_api_audit,
	   RT_ROUTE_NO_PROJECT, "Audit", q_audit, NULL),
	DO(GET, MANAGE, "/members", "member.list", "the members of the project", rt_api_members, 0, "Members", NULL, NULL),
	DO(PUT, MANAGE, "/members/{member}", "member.set",
	   "set the role of a user, or of a team (@name); the role of the last owner cannot be changed "
	   "(409)", rt_api_member_set, 0, "Status",
	   NULL, b_member),
	DO(DELETE, MANAGE, "/members/{member}", "member.remove", "remove a member; the last owner cannot be "
								 "removed (409)",
	   rt_api_member_set, 0, "Status", NULL, NULL),
	DO(GET, MANAGE, "/links", "link.list", "the share links of the project", rt_api_links, 0, "Links", NULL, NULL),
	DO(POST, MANAGE, "/links", "link.new", "create a link for reading the project or a discussion", rt_api_link_new, 0,
	   "Link", NULL, b_link),
	DO(POST, OPEN, "/links/open", "link.open",
	   "exchange the secret of a share link (Authorization) for a cookie that opens the page", rt_api_link_open,
	   RT_ROUTE_NO_PROJECT, "LinkOpened", NULL, NULL),
	DO(DELETE, MANAGE, "/links/{link}", "link.revoke", "revoke a link; pages opened with it stop working", rt_api_link_revoke,
	   0, "Status", NULL, NULL),

	/* ---- projects ---- */
	DO(GET, OPEN, "/projects", "project.list", "the projects of the store", rt_api_projects,
	   RT_ROUTE_NO_PROJECT | RT_ROUTE_STORE, "Projects", NULL, NULL),
	DO(POST, CREATE, "/projects", "project.new", "create a project", rt_api_project_new,
	   RT_ROUTE_NO_PROJECT | RT_ROUTE_STORE | RT_ROUTE_CHANGES, "Project", NULL, b_project),

	/* ---- discussions ---- */
	GET("/tracks", "discussion.tracks", "the tracks to which discussions are bound",
	    rt_api_tracks, 0, "Tracks", q_at),
	GET("/discussions", "discussion.list", "the discussions of the project", rt_api_discussions,
	    RT_ROUTE_OF_LINK, "Discussions", q_discussions),
	GET(DISC, "discussion.show", "a summary of one discussion", rt_api_discussion,
	    RT_ROUTE_ONE_DISCUSSION, "Discussion", q_at),
	GET(DISC "/usage", "discussion.usage",
	    "tokens and cost of the replies in a discussion and in the project", rt_api_usage, 0,
	    "Usage", q_at),
	GET(DISC "/tree", "discussion.tree",
	    "the tree of all takes, in display order: rows, or columns for large ones", rt_api_tree,
	    RT_ROUTE_ONE_DISCUSSION, "Tree", q_tree),

	/* ---- entries ---- */
	GET(DISC "/entries", "entry.list", "a range of the take's entries, with texts",
	    rt_api_entries, RT_ROUTE_ONE_DISCUSSION, "Window", q_entries),
	DO(POST, READ, DISC "/entries/read", "entry.read",
	   "entries by id, with texts (changes nothing)", rt_api_entries_read, 0, "EntriesRead",
	   q_entry, b_ids),
	ALSO(POST, DISC "/entries/delete", "entry.delete_run", "delete a range of entries",
	     RT_OP_ENTRY_DELETE, q_take),
	ALSO(POST, DISC "/entries/view", "entry.view_all",
	     "change how all entries of the take are shown", RT_OP_ENTRY_VIEW, q_take),
	GET(ENTRY, "entry.show", "one entry", rt_api_entry, RT_ROUTE_QUICK, "Entry", q_entry),
	DO(PATCH, COMMENT, ENTRY, "entry.patch",
	   "change text, role and flags as one step or as a new take", rt_api_entry_patch,
	   RT_ROUTE_CHANGES, NULL, q_take, b_patch),
	GET(ENTRY "/revisions", "entry.revisions", "all versions of the entry's text, oldest first",
	    rt_api_revisions, 0, "Array", q_take),
	ALSO(POST, DISC "/entries/{at}/branch", "entry.branch", "start a new take at this entry",
	     RT_OP_TAKE_BRANCH, q_take),
	ALSO(POST, ENTRY "/extract", "entry.extract",
	     "create a discussion from the path to this entry", RT_OP_DISCUSSION_EXTRACT, q_take),

	/* ---- takes ---- */
	GET(DISC "/takes", "take.list", "the takes of a discussion", rt_api_takes,
	    RT_ROUTE_ONE_DISCUSSION, "Takes", q_takes),
	GET(DISC "/forks", "take.forks", "where other takes diverge from this one", rt_api_forks,
	    RT_ROUTE_ONE_DISCUSSION, "Forks", q_forks),
	GET(DISC "/takes/{a}/diff/{b}", "take.diff",
	    "compare two takes from the entry at which they diverge", rt_api_diff, 0, "Diff", q_at),

	/* ---- labels ---- */
	GET(DISC "/labels", "label.list", "the labels of a discussion", rt_api_labels,
	    RT_ROUTE_ONE_DISCUSSION, "Labels", q_at),
	DO(DELETE, COMMENT, DISC "/labels/{label}", "label.delete", "remove a label",
	   rt_api_label_delete, RT_ROUTE_CHANGES, NULL, NULL, NULL),

	/* ---- prompt, settings, files ---- */
	GET(DISC "/prompt", "prompt.show", "the working prompt", rt_api_prompt, 0, "Prompt", q_at),
	GET("/settings", "setting.list", "the settings of the project", rt_api_project_settings, 0,
	    "Object", q_at),
	DO(DELETE, COMMENT, "/settings/{key}", "setting.delete", "reset to the default",
	   rt_api_setting_delete, RT_ROUTE_CHANGES, NULL, NULL, NULL),
	GET(DISC "/settings", "setting.of_discussion",
	    "the settings, prompt, files and roles of a discussion", rt_api_settings, 0, "Settings",
	    q_at),
	ALSO(PUT, DISC "/settings/{key}", "setting.set_here",
	     "change a setting, in the discussion if it is a discussion setting", RT_OP_SETTING_SET,
	     NULL),

	DO(DELETE, COMMENT, DISC "/settings/{key}", "setting.delete_here",
	   "reset a setting to the default, in the discussion if it is a discussion setting",
	   rt_api_setting_delete, RT_ROUTE_CHANGES, NULL, NULL, NULL),
	GET("/roles", "role.list", "the roles of the project", rt_api_roles, 0, "Array", q_at),
	GET(DISC "/files", "files.list", "the file lists of a discussion", rt_api_files, 0, "Files",
	    q_at),
	DO(GET, EDIT, "/files", "files.names",
	   "the files that lists can contain: those in the directories given to the server with --files, except those "
	   "excluded by .gitignore",
	   rt_api_file_names, 0, "FileNames", q_file_names, NULL),
	GET(DISC "/symbols", "files.symbols", "the definitions in the files of a discussion",
	    rt_api_symbols, 0, "Array", q_symbols),
	GET(DISC "/symbols/{name}", "files.symbol", "the definitions of a symbol, with source text",
	    rt_api_symbol, 0, "Array", q_at),
	GET(DISC "/presets", "preset.list", "the presets of a discussion", rt_api_presets, 0,
	    "Object", q_at),

	/* ---- history ---- */
	GET("/history", "history.list",
	    "the log of the whole project, newest first: operation, author and objects",
	    rt_api_history, 0, "Rows", q_history),
	GET("/history/{seq}", "history.show", "one step, with its effects before and after",
	    rt_api_step, 0, "Step", NULL),
	GET(DISC "/history", "history.of_discussion", "the steps of a discussion, newest first",
	    rt_api_history, 0, "Steps", q_history),
	ALSO(POST, "/undo", "undo_anywhere",
	     "undo the newest steps of the active discussion and the project", RT_OP_UNDO, NULL),

	ALSO(POST, "/redo", "redo_anywhere", "redo the last undone steps", RT_OP_REDO, NULL),
	ALSO(POST, "/jump", "jump_anywhere", "jump to the state after a step", RT_OP_JUMP, NULL),
	ALSO(POST, DISC "/purge", "purge.entry",
	     "permanently erase a secret from an entry of this discussion (not undoable)",
	     RT_OP_PURGE, q_take),

	/* ---- any operation ---- */
	DO(POST, COMMENT, "/ops/{op}", "op", "any operation by name; the body contains its fields",
	   rt_api_op_any, RT_ROUTE_CHANGES, NULL, q_place, NULL),
	DO(POST, COMMENT, "/batch", "batch", "several operations as one step or as separate steps",
	   rt_api_batch, RT_ROUTE_CHANGES, "Results", q_place, b_batch),
	DO(POST, COMMENT, DISC "/batch", "batch.here", "several operations in a discussion",
	   rt_api_batch, RT_ROUTE_CHANGES, "Results", q_take, b_batch),
	DO(POST, READ, DISC "/advice", "advice",
	   "check what operations would break (changes nothing)", rt_api_advice, 0, "Advice",
	   q_take, b_batch),

	/* ---- finding and sending ---- */
	DO(POST, OPEN, "/render", "render", "parse Markdown into blocks (changes nothing)",
	   rt_api_render, RT_ROUTE_NO_PROJECT, "Render", NULL, b_texts),
	GET("/search", "search", "search the texts of all entries", rt_api_search, 0, "Hits",
	    q_search),
	GET("/stats", "stats",
	    "entries, tokens and cost by day, model, program, discussion or project; each entry is counted once",
	    rt_api_stats, 0, "Stats", q_stats),
	GET(DISC "/context", "context", "the next request to a model and its number of tokens",
	    rt_api_context, 0, "Context", q_context),
	GET(DISC "/sent", "context.sent",
	    "the last request, rebuilt from the conversation as it was, and its differences from "
	    "the next one to the same model",
	    rt_api_sent, 0, "Sent", q_take),
	GET("/runs", "run.list", "running and recent runs, newest first", rt_api_runs, 0, "Array",
	    NULL),
	DO(POST, EDIT, DISC "/runs", "run.start",
	   "start a run: a question and its reply, another reply, or a summary; with `models`, the response contains `runs`",
	   rt_api_run_start, RT_ROUTE_CHANGES, "Run", q_take, rt_run_members),
	GET("/runs/{run}", "run.show", "one run with its text so far", rt_api_run, 0, "Run", NULL),
	DO(DELETE, EDIT, "/runs/{run}", "run.stop", "stop a run; text that has arrived is kept",
	   rt_api_run_stop, 0, "Run", NULL, NULL),

	/* ---- events ---- */
	GET("/events", "events", "all events of the project as server-sent events",
	    rt_api_events, RT_ROUTE_STREAM | RT_ROUTE_OF_LINK, "Events", q_events),
	GET(DISC "/events", "events.here", "the events of one discussion", rt_api_events,
	    RT_ROUTE_STREAM, "Events", q_last),

	/* ---- files in and out ---- */
	DO(POST, COMMENT, "/attachments", "attachment.new",
	   "store a file (the request body) that content blocks can refer to", rt_api_attachment_new,
	   RT_ROUTE_CHANGES | RT_ROUTE_LARGE | RT_ROUTE_FILE, "Attachment", q_attachment, NULL),
	GET("/attachments/{sha256}", "attachment.show", "the bytes of an attached file",
	    rt_api_attachment, 0, "File", q_attachment),
	GET("/export", "export", "export the project", rt_api_export, 0, "File", q_export_all),
	GET(DISC "/export", "export.discussion", "export a discussion", rt_api_export, 0, "File",
	    q_export),
	DO(POST, EDIT, "/import", "import", "import a file, sent as the body", rt_api_import,
	   RT_ROUTE_CHANGES | RT_ROUTE_LARGE | RT_ROUTE_FILE, "Import", q_import, NULL),

	{RT_WEB_OTHER, RT_RIGHT_NONE, NULL, NULL, NULL, NULL, -1, 0, NULL, NULL, NULL},
};
const size_t rt_route_count = sizeof(rt_routes) / sizeof(rt_routes[0]) - 1;

const rt_route *const rt_all_routes[] = {rt_routes, rt_hook_routes, NULL};
