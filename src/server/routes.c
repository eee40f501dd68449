/* SPDX-License-Identifier: MIT
 *
 * Rows with a word at a place come before rows with a parameter there, so the first match is the
 * right one. */
#include "server/routes.h"

#include "formats/formats.h"
#include "server/api.h"

#define TAKE {"take", "string", "name or id; default: the active one"}
#define BLOCKS {"blocks", "boolean", "beside each content, \"blocks\": the same laid out"}
#define AT_OP {"at_op", "integer", "as it was right after this row of the history"}
#define END {NULL, NULL, NULL}

static const rt_route_param q_at[] = {AT_OP, END};
static const rt_route_param q_take[] = {TAKE, END};
static const rt_route_param q_place[] = {
	{"discussion", "string", "name or id; default: the active one"}, TAKE, END};
static const rt_route_param q_all[] = {{"all", "boolean", "also what was deleted"}, AT_OP, END};
static const rt_route_param q_takes[] = {
	{"all", "boolean", "also what was deleted"},
	{"count", "integer", "only the first so many"},
	{"with", "string", "name or id: this one, too, wherever it stands"},
	AT_OP,
	END};
static const rt_route_param q_models[] = {
	{"provider", "string", "ask this one for the models that it has"}, END};
static const rt_route_param q_tree[] = {
	{"columns", "boolean", "as columns, for large trees"},
	{"preview", "integer", "characters of each text; default 60, with columns 0"},
	{"take", "string", "with columns: only the path of this take"},
	{"from", "integer", "with columns: the first row, from 0"},
	{"count", "integer", "with columns: so many rows; default: all"},
	{"bare", "boolean", "with columns and a take: `takes` is empty, flag 16 not set; see its forks"},
	AT_OP,
	END};
static const rt_route_param q_entries[] = {
	TAKE,
	{"from", "integer", "the first position, from 0"},
	{"count", "integer", "so many positions; default 200, at most 2000"},
	{"last", "integer", "instead of both: so many at the end"},
	{"role", "string", "only entries of this role, and the user's"},
	{"tags", "boolean", "also each entry's ETag"},
	BLOCKS,
	AT_OP,
	END};
static const rt_route_param q_forks[] = {TAKE, AT_OP, END};
static const rt_route_param q_entry[] = {TAKE, BLOCKS, AT_OP, END};
static const rt_route_param b_texts[] = {
	{"texts", "array", "of Markdown; at most 2000"}, END};
static const rt_route_param q_history[] = {
	{"before", "integer", "only steps below this number; for the next page: \"next\""},
	{"limit", "integer", "so many steps; default 100, at most 1000"},
	END};
static const rt_route_param q_search[] = {
	{"q", "string", "words, a phrase in quotes, -word, role:NAME …; as retake search"},
	{"discussion", "string", "only in this one"},
	{"role", "string", "only entries of this role"},
	{"limit", "integer", "so many hits; default 50, at most 1000"},
	END};
static const rt_route_param q_context[] = {
	TAKE,
	{"provider", "string", "in the form of this one; default: the model's"},
	{"model", "string", "PROVIDER/NAME; default: the setting, then the configuration"},
	{"budget", "integer", "tokens; the oldest entries are left out beyond"},
	AT_OP,
	END};
static const rt_route_param q_events[] = {
	{"discussion", "string", "only rows that touch this one"},
	{"last_event_id", "string", "as the header Last-Event-ID, which goes before it"},
	END};
static const rt_route_param q_last[] = {
	{"last_event_id", "string", "as the header Last-Event-ID, which goes before it"}, END};
#define EXPORT \
	{"format", "string", RT_FORMAT_NAMES "; default: canonical"}, \
		{"all", "boolean", "all takes, not only one; begins with the one that is named"}, \
		{"lossless", "boolean", "add what the format cannot say"}, \
		{"lines", "boolean", "one conversation a line, where the format has both"}, \
		{"redact", "boolean", "without secrets: marks in their place"}, \
		{"emails", "boolean", "with redact: without addresses of mail, too"}, \
	{ \
		"dry_run", "boolean", "with redact: what would be hidden, as JSON" \
	}
static const rt_route_param q_export[] = {TAKE, EXPORT, AT_OP, END};
static const rt_route_param q_export_all[] = {
	{"discussion", "string", "only this one"}, TAKE, EXPORT, AT_OP, END};
static const rt_route_param q_import[] = {{"format", "string", "default: found by the content"},
					  {"name", "string", "of the discussion"},
					  {"dry_run", "boolean", "only count"},
					  END};
static const rt_route_param b_project[] = {{"name", "string", "of the project"}, END};
static const rt_route_param b_code[] = {
	{"project", "string", "that the browser is to see; default: one of its own"},
	{"store", "string", "path of the store that the server has to serve, else 409; default: any"},
	END};
static const rt_route_param b_ids[] = {{"ids", "array", "up to 2000 ids"}, END};
static const rt_route_param b_patch[] = {
	{"content", "content", "the new text, or an array of content blocks"},
	{"role", "string", "who speaks"},
	{"muted", "boolean", "kept out of what is sent"},
	{"everywhere", "boolean", "the text in every take that holds the entry"},
	{"keep_blocks", "boolean", "blocks that are no text stay"},
	{"mode", "string", "\"in_place\" (the default), or \"take\": a new take begins with it"},
	{"name", "string", "with mode \"take\": of the new take"},
	{"keep_after", "boolean", "with mode \"take\": what follows comes along; default: false"},
	{"take", "string", "as the query's"},
	END};
static const rt_route_param b_batch[] = {
	{"ops", "array", "operations, each {\"op\":…} with its fields"},
	{"atomic", "boolean", "all as one step, or none; default: true"},
	{"take", "string", "as the query's"},
	END};
static const rt_route_param b_run[] = {
	{"how", "string", "ask (the default), again, continue, compact, compress, go"},
	{"text", "string", "of the question"},
	{"content", "content", "of the question, as blocks"},
	{"role", "string", "of the question; default: User"},
	{"reply_role", "string", "of the reply; default: AI"},
	{"at", "string", "ask, again, continue: the entry that it is about"},
	{"n", "integer", "again: so many replies, each in a take of its own"},
	{"from", "string", "compact: the first entry"},
	{"to", "string", "compact: the last entry"},
	{"keep", "integer", "compact: tokens at the end that stay"},
	{"entry", "string", "go: where to; null: before the first"},
	{"entry_take", "string", "go: whose entry that is, where several takes have it"},
	{"select", "boolean", "go: to the entry's own place, its text handed back"},
	{"summary", "boolean", "go: of what is left; default: true"},
	{"instructions", "string", "for a summary"},
	{"model", "string", "PROVIDER/NAME; default: the setting, then the configuration"},
	{"budget", "integer", "tokens of the request at most"},
	{"take", "string", "as the query's"},
	END};

const rt_route rt_routes[] = {

	/* ---- the server ---- */
	{RT_WEB_GET, "/info", "info", "what this server is and can do", rt_api_info, -1, 0, "Info",
	 NULL, NULL},
	{RT_WEB_GET, "/health", "health", "that it answers", rt_api_health, -1,
	 RT_ROUTE_NO_PROJECT | RT_ROUTE_QUICK, "Health", NULL, NULL},
	{RT_WEB_GET, "/openapi.json", "openapi", "this interface as OpenAPI 3.1", rt_api_openapi,
	 -1, RT_ROUTE_NO_PROJECT | RT_ROUTE_QUICK, "Any", NULL, NULL},
	{RT_WEB_GET, "/models", "model.list",
	 "the providers that are configured; with ?provider, the models of one", rt_api_models, -1,
	 RT_ROUTE_NO_PROJECT, "Array", q_models, NULL},
	{RT_WEB_GET, "/server", "server.show", "how busy the server is", rt_api_server, -1,
	 RT_ROUTE_NO_PROJECT | RT_ROUTE_OWNER | RT_ROUTE_QUICK, "Server", NULL, NULL},
	{RT_WEB_POST, "/codes", "code.new", "make a code that lets one browser in, once",
	 rt_api_codes, -1, RT_ROUTE_NO_PROJECT | RT_ROUTE_OWNER, "Code", NULL, b_code},
	{RT_WEB_POST, "/logout", "logout", "forget this browser's cookie; its project stays",
	 rt_api_logout, -1, RT_ROUTE_NO_PROJECT, "Status", NULL, NULL},

	/* ---- projects ---- */
	{RT_WEB_GET, "/projects", "project.list", "the projects of the store", rt_api_projects, -1,
	 RT_ROUTE_NO_PROJECT | RT_ROUTE_OWNER, "Projects", NULL, NULL},
	{RT_WEB_POST, "/projects", "project.new", "make a project", rt_api_project_new, -1,
	 RT_ROUTE_NO_PROJECT | RT_ROUTE_OWNER | RT_ROUTE_CHANGES, "Project", NULL, b_project},

	/* ---- discussions ---- */
	{RT_WEB_GET, "/discussions", "discussion.list", "the discussions of the project",
	 rt_api_discussions, -1, 0, "Discussions", q_all, NULL},
	{RT_WEB_POST, "/discussions", "discussion.new", "start a discussion", NULL,
	 RT_OP_DISCUSSION_NEW, RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_GET, "/discussions/{discussion}", "discussion.show", "one discussion, in short",
	 rt_api_discussion, -1, 0, "Discussion", q_at, NULL},
	{RT_WEB_PATCH, "/discussions/{discussion}", "discussion.rename", "rename a discussion",
	 NULL, RT_OP_DISCUSSION_RENAME, RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_DELETE, "/discussions/{discussion}", "discussion.delete",
	 "remove a discussion (never the last)", NULL, RT_OP_DISCUSSION_DELETE, RT_ROUTE_CHANGES,
	 NULL, NULL, NULL},
	{RT_WEB_POST, "/discussions/{discussion}/switch", "discussion.switch",
	 "go to another discussion", NULL, RT_OP_DISCUSSION_SWITCH, RT_ROUTE_CHANGES, NULL, NULL,
	 NULL},
	{RT_WEB_GET, "/discussions/{discussion}/tree", "discussion.tree",
	 "the tree of all takes, in display order: rows, or columns for large ones", rt_api_tree,
	 -1, 0, "Tree", q_tree, NULL},

	/* ---- entries ---- */
	{RT_WEB_GET, "/discussions/{discussion}/entries", "entry.list",
	 "a window of the take, with texts", rt_api_entries, -1, 0, "Window", q_entries, NULL},
	{RT_WEB_POST, "/discussions/{discussion}/entries", "entry.append",
	 "add an entry at the head", NULL, RT_OP_ENTRY_APPEND, RT_ROUTE_CHANGES, NULL, q_take,
	 NULL},
	{RT_WEB_POST, "/discussions/{discussion}/entries/insert", "entry.insert",
	 "add an entry before or after another", NULL, RT_OP_ENTRY_INSERT, RT_ROUTE_CHANGES, NULL,
	 q_take, NULL},
	{RT_WEB_POST, "/discussions/{discussion}/entries/reply", "entry.reply",
	 "add a model's reply right behind what it answers", NULL, RT_OP_ENTRY_REPLY,
	 RT_ROUTE_CHANGES, NULL, q_take, NULL},
	{RT_WEB_POST, "/discussions/{discussion}/entries/read", "entry.read",
	 "entries by id, with texts (changes nothing)", rt_api_entries_read, -1, 0, "EntriesRead",
	 q_entry, b_ids},
	{RT_WEB_POST, "/discussions/{discussion}/entries/delete", "entry.delete_run",
	 "take out a run of entries", NULL, RT_OP_ENTRY_DELETE, RT_ROUTE_CHANGES, NULL, q_take,
	 NULL},
	{RT_WEB_POST, "/discussions/{discussion}/entries/view", "entry.view_all",
	 "how all entries of the take are shown", NULL, RT_OP_ENTRY_VIEW, RT_ROUTE_CHANGES, NULL,
	 q_take, NULL},
	{RT_WEB_GET, "/discussions/{discussion}/entries/{entry}", "entry.show", "one entry",
	 rt_api_entry, -1, RT_ROUTE_QUICK, "Entry", q_entry, NULL},
	{RT_WEB_PATCH, "/discussions/{discussion}/entries/{entry}", "entry.patch",
	 "change text, role and flags as one step; or as a new take", rt_api_entry_patch, -1,
	 RT_ROUTE_CHANGES, NULL, q_take, b_patch},
	{RT_WEB_DELETE, "/discussions/{discussion}/entries/{entry}", "entry.delete",
	 "take out an entry, or a run of them", NULL, RT_OP_ENTRY_DELETE, RT_ROUTE_CHANGES, NULL,
	 q_take, NULL},
	{RT_WEB_PUT, "/discussions/{discussion}/entries/{entry}/content", "entry.edit",
	 "change an entry's text", NULL, RT_OP_ENTRY_EDIT, RT_ROUTE_CHANGES, NULL, q_take, NULL},
	{RT_WEB_PUT, "/discussions/{discussion}/entries/{entry}/role", "entry.role",
	 "change who speaks", NULL, RT_OP_ENTRY_ROLE, RT_ROUTE_CHANGES, NULL, q_take, NULL},
	{RT_WEB_GET, "/discussions/{discussion}/entries/{entry}/revisions", "entry.revisions",
	 "every text that the entry ever had, oldest first", rt_api_revisions, -1, 0, "Array",
	 q_take, NULL},
	{RT_WEB_POST, "/discussions/{discussion}/entries/{entry}/move", "entry.move",
	 "put an entry elsewhere", NULL, RT_OP_ENTRY_MOVE, RT_ROUTE_CHANGES, NULL, q_take, NULL},
	{RT_WEB_POST, "/discussions/{discussion}/entries/{entry}/mute", "entry.mute",
	 "keep an entry in view but out of what is sent", NULL, RT_OP_ENTRY_MUTE, RT_ROUTE_CHANGES,
	 NULL, q_take, NULL},
	{RT_WEB_POST, "/discussions/{discussion}/entries/{entry}/view", "entry.view",
	 "collapse, expand, read or edit mode (not undone by undo)", NULL, RT_OP_ENTRY_VIEW,
	 RT_ROUTE_CHANGES, NULL, q_take, NULL},
	{RT_WEB_POST, "/discussions/{discussion}/entries/{entry}/split", "entry.split",
	 "cut an entry in two", NULL, RT_OP_ENTRY_SPLIT, RT_ROUTE_CHANGES, NULL, q_take, NULL},
	{RT_WEB_POST, "/discussions/{discussion}/entries/{entry}/merge", "entry.merge",
	 "join an entry with the next one", NULL, RT_OP_ENTRY_MERGE, RT_ROUTE_CHANGES, NULL, q_take,
	 NULL},
	{RT_WEB_POST, "/discussions/{discussion}/entries/{at}/branch", "entry.branch",
	 "start a new take from this entry on", NULL, RT_OP_TAKE_BRANCH, RT_ROUTE_CHANGES, NULL,
	 q_take, NULL},
	{RT_WEB_POST, "/discussions/{discussion}/entries/{entry}/extract", "entry.extract",
	 "make a discussion of the path to this entry", NULL, RT_OP_DISCUSSION_EXTRACT,
	 RT_ROUTE_CHANGES, NULL, q_take, NULL},
	{RT_WEB_PUT, "/discussions/{discussion}/head", "head.move", "continue from another entry",
	 NULL, RT_OP_HEAD_MOVE, RT_ROUTE_CHANGES, NULL, q_take, NULL},

	/* ---- takes ---- */
	{RT_WEB_GET, "/discussions/{discussion}/takes", "take.list", "the takes of a discussion",
	 rt_api_takes, -1, 0, "Takes", q_takes, NULL},
	{RT_WEB_GET, "/discussions/{discussion}/forks", "take.forks",
	 "where other takes go on otherwise than this one", rt_api_forks, -1, 0, "Forks", q_forks,
	 NULL},
	{RT_WEB_POST, "/discussions/{discussion}/takes", "take.branch",
	 "start a new take from an entry on", NULL, RT_OP_TAKE_BRANCH, RT_ROUTE_CHANGES, NULL,
	 q_take, NULL},
	{RT_WEB_PATCH, "/discussions/{discussion}/takes/{take}", "take.rename", "rename a take",
	 NULL, RT_OP_TAKE_RENAME, RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_DELETE, "/discussions/{discussion}/takes/{take}", "take.delete",
	 "remove a take (never the last)", NULL, RT_OP_TAKE_DELETE, RT_ROUTE_CHANGES, NULL, NULL,
	 NULL},
	{RT_WEB_POST, "/discussions/{discussion}/takes/{take}/switch", "take.switch",
	 "go to another take", NULL, RT_OP_TAKE_SWITCH, RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_POST, "/discussions/{discussion}/takes/{take}/promote", "take.promote",
	 "make a take a discussion of its own", NULL, RT_OP_TAKE_PROMOTE, RT_ROUTE_CHANGES, NULL,
	 NULL, NULL},
	{RT_WEB_POST, "/discussions/{discussion}/takes/{take}/clear", "take.clear",
	 "take out all entries of the take", NULL, RT_OP_TAKE_CLEAR, RT_ROUTE_CHANGES, NULL, NULL,
	 NULL},
	{RT_WEB_POST, "/discussions/{discussion}/takes/{take}/truncate", "take.truncate",
	 "keep the last question-answer pairs only", NULL, RT_OP_TAKE_TRUNCATE, RT_ROUTE_CHANGES,
	 NULL, NULL, NULL},
	{RT_WEB_POST, "/discussions/{discussion}/takes/{take}/graft", "take.graft",
	 "bring entries of another take into this one", NULL, RT_OP_TAKE_GRAFT, RT_ROUTE_CHANGES,
	 NULL, NULL, NULL},
	{RT_WEB_GET, "/discussions/{discussion}/takes/{a}/diff/{b}", "take.diff",
	 "two takes side by side, from where they part", rt_api_diff, -1, 0, "Diff", q_at, NULL},

	/* ---- labels ---- */
	{RT_WEB_GET, "/discussions/{discussion}/labels", "label.list", "the labels of a discussion",
	 rt_api_labels, -1, 0, "Labels", q_at, NULL},
	{RT_WEB_PUT, "/discussions/{discussion}/labels/{label}", "label.set",
	 "name an entry, or take its name away", NULL, RT_OP_LABEL_SET, RT_ROUTE_CHANGES, NULL,
	 q_take, NULL},
	{RT_WEB_DELETE, "/discussions/{discussion}/labels/{label}", "label.delete",
	 "take a label away", rt_api_label_delete, -1, RT_ROUTE_CHANGES, NULL, NULL, NULL},

	/* ---- prompt, settings, files ---- */
	{RT_WEB_GET, "/discussions/{discussion}/prompt", "prompt.show", "the working prompt",
	 rt_api_prompt, -1, 0, "Prompt", q_at, NULL},
	{RT_WEB_PUT, "/discussions/{discussion}/prompt", "prompt.update",
	 "change the working prompt", NULL, RT_OP_PROMPT_UPDATE, RT_ROUTE_CHANGES, NULL, NULL,
	 NULL},
	{RT_WEB_POST, "/discussions/{discussion}/prompt/notify", "prompt.notify",
	 "tell the model that the prompt was edited", NULL, RT_OP_PROMPT_NOTIFY, RT_ROUTE_CHANGES,
	 NULL, q_take, NULL},
	{RT_WEB_GET, "/settings", "setting.list", "the settings of the project",
	 rt_api_project_settings, -1, 0, "Object", q_at, NULL},
	{RT_WEB_PUT, "/settings/{key}", "setting.set", "change a setting", NULL, RT_OP_SETTING_SET,
	 RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_DELETE, "/settings/{key}", "setting.delete", "back to the default",
	 rt_api_setting_delete, -1, RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_GET, "/discussions/{discussion}/settings", "setting.of_discussion",
	 "what holds for a discussion: settings, prompt, files, roles", rt_api_settings, -1, 0,
	 "Settings", q_at, NULL},
	{RT_WEB_PUT, "/discussions/{discussion}/settings/{key}", "setting.set_here",
	 "change a setting, of the discussion where it is one of these", NULL, RT_OP_SETTING_SET,
	 RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_DELETE, "/discussions/{discussion}/settings/{key}", "setting.delete_here",
	 "back to the default, of the discussion where it is one of these", rt_api_setting_delete,
	 -1, RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_GET, "/roles", "role.list", "the roles of the project", rt_api_roles, -1, 0,
	 "Array", q_at, NULL},
	{RT_WEB_POST, "/roles", "role.add", "add a role to the project's list", NULL,
	 RT_OP_ROLE_ADD, RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_DELETE, "/roles/{role}", "role.remove", "remove a role from the project's list",
	 NULL, RT_OP_ROLE_REMOVE, RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_GET, "/discussions/{discussion}/files", "files.list",
	 "the lists of files of a discussion", rt_api_files, -1, 0, "Files", q_at, NULL},
	{RT_WEB_PUT, "/discussions/{discussion}/files/{which}", "files.set", "set a list of files",
	 NULL, RT_OP_FILES_SET, RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_PUT, "/discussions/{discussion}/track", "track.set",
	 "bind the discussion to a track", NULL, RT_OP_TRACK_SET, RT_ROUTE_CHANGES, NULL, NULL,
	 NULL},
	{RT_WEB_GET, "/discussions/{discussion}/presets", "preset.list",
	 "the presets of a discussion", rt_api_presets, -1, 0, "Object", q_at, NULL},
	{RT_WEB_PUT, "/discussions/{discussion}/presets/{name}", "preset.save",
	 "keep files, screenshots and prompts under a name", NULL, RT_OP_PRESET_SAVE,
	 RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_POST, "/discussions/{discussion}/presets/{name}/load", "preset.load",
	 "bring back what a preset kept", NULL, RT_OP_PRESET_LOAD, RT_ROUTE_CHANGES, NULL, NULL,
	 NULL},
	{RT_WEB_DELETE, "/discussions/{discussion}/presets/{name}", "preset.delete",
	 "forget a preset", NULL, RT_OP_PRESET_DELETE, RT_ROUTE_CHANGES, NULL, NULL, NULL},

	/* ---- history ---- */
	{RT_WEB_GET, "/history", "history.list",
	 "the log of the whole project, newest first: what was done, by whom, to what",
	 rt_api_history, -1, 0, "Rows", q_history, NULL},
	{RT_WEB_GET, "/history/{seq}", "history.show",
	 "one step, with its effects before and after", rt_api_step, -1, 0, "Step", NULL, NULL},
	{RT_WEB_POST, "/history/{seq}/revert", "revert", "undo one old step, as a new step", NULL,
	 RT_OP_REVERT, RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_GET, "/discussions/{discussion}/history", "history.of_discussion",
	 "the steps of a discussion, newest first", rt_api_history, -1, 0, "Steps", q_history,
	 NULL},
	{RT_WEB_POST, "/undo", "undo_anywhere",
	 "take back the newest steps of the active discussion and the project", NULL, RT_OP_UNDO,
	 RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_POST, "/redo", "redo_anywhere", "bring back what was undone", NULL, RT_OP_REDO,
	 RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_POST, "/jump", "jump_anywhere", "go to the state right after a step", NULL,
	 RT_OP_JUMP, RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_POST, "/discussions/{discussion}/undo", "undo", "take back the newest steps", NULL,
	 RT_OP_UNDO, RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_POST, "/discussions/{discussion}/redo", "redo", "bring back what was undone", NULL,
	 RT_OP_REDO, RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_POST, "/discussions/{discussion}/jump", "jump",
	 "go to the state right after a step", NULL, RT_OP_JUMP, RT_ROUTE_CHANGES, NULL, NULL,
	 NULL},
	{RT_WEB_POST, "/reset", "project.reset", "start afresh (undo brings everything back)", NULL,
	 RT_OP_PROJECT_RESET, RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_POST, "/purge", "purge", "remove a secret for good (not undoable)", NULL,
	 RT_OP_PURGE, RT_ROUTE_CHANGES, NULL, NULL, NULL},
	{RT_WEB_POST, "/discussions/{discussion}/purge", "purge.entry",
	 "remove a secret of an entry of this discussion for good (not undoable)", NULL,
	 RT_OP_PURGE, RT_ROUTE_CHANGES, NULL, q_take, NULL},

	/* ---- any operation ---- */
	{RT_WEB_POST, "/ops/{op}", "op", "any operation by its name; its fields are the body",
	 rt_api_op_any, -1, RT_ROUTE_CHANGES, NULL, q_place, NULL},
	{RT_WEB_POST, "/batch", "batch", "several operations as one step, or each for itself",
	 rt_api_batch, -1, RT_ROUTE_CHANGES, "Results", q_place, b_batch},
	{RT_WEB_POST, "/discussions/{discussion}/batch", "batch.here", "the same, in a discussion",
	 rt_api_batch, -1, RT_ROUTE_CHANGES, "Results", q_take, b_batch},
	{RT_WEB_POST, "/discussions/{discussion}/advice", "advice",
	 "what operations would break, before they are done (changes nothing)", rt_api_advice, -1,
	 0, "Advice", q_take, b_batch},

	/* ---- finding and sending ---- */
	{RT_WEB_POST, "/render", "render", "Markdown laid out as blocks (changes nothing)",
	 rt_api_render, -1, RT_ROUTE_NO_PROJECT, "Render", NULL, b_texts},
	{RT_WEB_GET, "/search", "search", "texts that match", rt_api_search, -1, 0, "Hits",
	 q_search, NULL},
	{RT_WEB_GET, "/discussions/{discussion}/context", "context",
	 "what a model would be sent, and how many tokens it has", rt_api_context, -1, 0, "Context",
	 q_context, NULL},
	{RT_WEB_GET, "/discussions/{discussion}/sent", "context.sent",
	 "what was sent last, built again from the conversation as it was then; with what would be sent "
	 "otherwise now to the same model",
	 rt_api_sent, -1, 0, "Sent", q_take, NULL},
	{RT_WEB_GET, "/runs", "run.list", "models at work, newest first", rt_api_runs, -1, 0,
	 "Array", NULL, NULL},
	{RT_WEB_POST, "/discussions/{discussion}/runs", "run.start",
	 "set a model to work: a question and its reply, another reply, a summary",
	 rt_api_run_start, -1, RT_ROUTE_CHANGES, "Run", q_take, b_run},
	{RT_WEB_GET, "/runs/{run}", "run.show", "one of them, with what it has written so far",
	 rt_api_run, -1, 0, "Run", NULL, NULL},
	{RT_WEB_DELETE, "/runs/{run}", "run.stop", "stop it; what has arrived is kept",
	 rt_api_run_stop, -1, 0, "Run", NULL, NULL},

	/* ---- events ---- */
	{RT_WEB_GET, "/events", "events",
	 "everything that happens in the project, as server-sent events", rt_api_events, -1,
	 RT_ROUTE_STREAM, "Events", q_events, NULL},
	{RT_WEB_GET, "/discussions/{discussion}/events", "events.here",
	 "the same, of one discussion", rt_api_events, -1, RT_ROUTE_STREAM, "Events", q_last, NULL},

	/* ---- files in and out ---- */
	{RT_WEB_GET, "/export", "export", "the project in a file format", rt_api_export, -1, 0,
	 "File", q_export_all, NULL},
	{RT_WEB_GET, "/discussions/{discussion}/export", "export.discussion",
	 "a discussion in a file format", rt_api_export, -1, 0, "File", q_export, NULL},
	{RT_WEB_POST, "/import", "import", "a file of another program in, as the body",
	 rt_api_import, -1, RT_ROUTE_CHANGES | RT_ROUTE_LARGE | RT_ROUTE_FILE, "Import", q_import,
	 NULL},

	{RT_WEB_OTHER, NULL, NULL, NULL, NULL, -1, 0, NULL, NULL, NULL},
};
const size_t rt_route_count = sizeof(rt_routes) / sizeof(rt_routes[0]) - 1;

const rt_route *const rt_all_routes[] = {rt_routes, rt_hook_routes, NULL};
