/* SPDX-License-Identifier: MIT
 *
 * Rows with a word at a place come before rows with a parameter there, so the first match is the
 * right one. */
#include "server/route.h"

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
static const rt_route_param q_discussions[] = {
	{"all", "boolean", "also what was deleted"},
	{"track", "string", "only those that are bound to this track; empty: to none"},
	AT_OP,
	END};
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
	{"role", "string", "filter: only entries with this role, and those with the role User"},
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
	{"role", "string", "only entries with this role"},
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
static const rt_route_param q_symbols[] = {
	{"prefix", "string", "only names that begin with it"}, AT_OP, END};
static const rt_route_param q_attachment[] = {{"name", "string", "of the file"}, END};
static const rt_route_param q_import[] = {{"format", "string", "default: found by the content"},
					  {"name", "string", "of the discussion"},
					  {"dry_run", "boolean", "only count"},
					  END};
static const rt_route_param b_project[] = {{"name", "string", "of the project"}, END};
static const rt_route_param b_code[] = {
	{"project", "string", "the only one that the browser may open; default: all, with serve --isolate a new one"},
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
	{"clear_draft", "boolean",
	 "ask: the step that adds the question also clears the draft; default: false"},
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
	{"files", "boolean",
	 "ask, again, continue: with the files that the discussion lists; default: true"},
	{"take", "string", "as the query's"},
	END};

#define DISC "/discussions/{discussion}"
#define ENTRY DISC "/entries/{entry}"
#define TAKE_PATH DISC "/takes/{take}"

/* A read, an operation and nothing else, and the others. */
#define GET(path, name, about, fn, flags, answer, query)                                         \
	{RT_WEB_GET, path, name, about, fn, -1, flags, answer, query, NULL}
#define OP(method, path, name, about, op, query)                                                 \
	{RT_WEB_##method, path, name, about, rt_api_op, op, RT_ROUTE_CHANGES, NULL, query, NULL}
#define DO(method, path, name, about, fn, flags, answer, query, body)                            \
	{RT_WEB_##method, path, name, about, fn, -1, flags, answer, query, body}

const rt_route rt_routes[] = {
	/* ---- the server ---- */
	GET("/info", "info", "what this server is and can do", rt_api_info, 0, "Info", NULL),
	GET("/health", "health", "that it answers", rt_api_health,
	    RT_ROUTE_NO_PROJECT | RT_ROUTE_QUICK, "Health", NULL),
	GET("/openapi.json", "openapi", "this interface as OpenAPI 3.1", rt_api_openapi,
	    RT_ROUTE_NO_PROJECT | RT_ROUTE_QUICK, "Any", NULL),
	GET("/models", "model.list",
	    "the providers that are configured; with ?provider, the models of one", rt_api_models,
	    RT_ROUTE_NO_PROJECT, "Array", q_models),
	GET("/server", "server.show", "how busy the server is", rt_api_server,
	    RT_ROUTE_NO_PROJECT | RT_ROUTE_OWNER | RT_ROUTE_QUICK, "Server", NULL),
	DO(POST, "/codes", "code.new", "make a code that lets one browser in, once", rt_api_codes,
	   RT_ROUTE_NO_PROJECT | RT_ROUTE_OWNER, "Code", NULL, b_code),
	DO(POST, "/logout", "logout", "forget this browser's cookie; its project stays",
	   rt_api_logout, RT_ROUTE_NO_PROJECT, "Status", NULL, NULL),

	/* ---- projects ---- */
	GET("/projects", "project.list", "the projects of the store", rt_api_projects,
	    RT_ROUTE_NO_PROJECT | RT_ROUTE_STORE, "Projects", NULL),
	DO(POST, "/projects", "project.new", "make a project", rt_api_project_new,
	   RT_ROUTE_NO_PROJECT | RT_ROUTE_STORE | RT_ROUTE_CHANGES, "Project", NULL, b_project),

	/* ---- discussions ---- */
	GET("/tracks", "discussion.tracks", "the tracks that discussions are bound to",
	    rt_api_tracks, 0, "Tracks", q_at),
	GET("/discussions", "discussion.list", "the discussions of the project", rt_api_discussions,
	    0, "Discussions", q_discussions),
	OP(POST, "/discussions", "discussion.new", "start a discussion", RT_OP_DISCUSSION_NEW,
	   NULL),
	GET(DISC, "discussion.show", "one discussion, in short", rt_api_discussion, 0, "Discussion",
	    q_at),
	OP(PATCH, DISC, "discussion.rename", "rename a discussion", RT_OP_DISCUSSION_RENAME, NULL),
	OP(DELETE, DISC, "discussion.delete", "remove a discussion (never the last)",
	   RT_OP_DISCUSSION_DELETE, NULL),
	OP(POST, DISC "/switch", "discussion.switch", "switch to another discussion",
	   RT_OP_DISCUSSION_SWITCH, NULL),
	GET(DISC "/tree", "discussion.tree",
	    "the tree of all takes, in display order: rows, or columns for large ones", rt_api_tree,
	    0, "Tree", q_tree),

	/* ---- entries ---- */
	GET(DISC "/entries", "entry.list", "a window of the take, with texts", rt_api_entries, 0,
	    "Window", q_entries),
	OP(POST, DISC "/entries", "entry.append", "add an entry at the head", RT_OP_ENTRY_APPEND,
	   q_take),
	OP(POST, DISC "/entries/insert", "entry.insert", "add an entry before or after another",
	   RT_OP_ENTRY_INSERT, q_take),
	OP(POST, DISC "/entries/reply", "entry.reply",
	   "add a model's reply right behind what it answers", RT_OP_ENTRY_REPLY, q_take),
	DO(POST, DISC "/entries/read", "entry.read", "entries by id, with texts (changes nothing)",
	   rt_api_entries_read, 0, "EntriesRead", q_entry, b_ids),
	OP(POST, DISC "/entries/delete", "entry.delete_run", "take out a run of entries",
	   RT_OP_ENTRY_DELETE, q_take),
	OP(POST, DISC "/entries/view", "entry.view_all", "how all entries of the take are shown",
	   RT_OP_ENTRY_VIEW, q_take),
	GET(ENTRY, "entry.show", "one entry", rt_api_entry, RT_ROUTE_QUICK, "Entry", q_entry),
	DO(PATCH, ENTRY, "entry.patch", "change text, role and flags as one step; or as a new take",
	   rt_api_entry_patch, RT_ROUTE_CHANGES, NULL, q_take, b_patch),
	OP(DELETE, ENTRY, "entry.delete", "take out an entry, or a run of them", RT_OP_ENTRY_DELETE,
	   q_take),
	OP(PUT, ENTRY "/content", "entry.edit", "change an entry's text", RT_OP_ENTRY_EDIT, q_take),
	OP(PUT, ENTRY "/role", "entry.role", "change who speaks", RT_OP_ENTRY_ROLE, q_take),
	GET(ENTRY "/revisions", "entry.revisions",
	    "every text that the entry ever had, oldest first", rt_api_revisions, 0, "Array",
	    q_take),
	OP(POST, ENTRY "/move", "entry.move", "put an entry elsewhere", RT_OP_ENTRY_MOVE, q_take),
	OP(POST, ENTRY "/mute", "entry.mute", "keep an entry in view but out of what is sent",
	   RT_OP_ENTRY_MUTE, q_take),
	OP(POST, ENTRY "/view", "entry.view",
	   "collapse, expand, read or edit mode (not undone by undo)", RT_OP_ENTRY_VIEW, q_take),
	OP(POST, ENTRY "/split", "entry.split", "split an entry in two", RT_OP_ENTRY_SPLIT, q_take),
	OP(POST, ENTRY "/merge", "entry.merge", "merge an entry with the next one",
	   RT_OP_ENTRY_MERGE, q_take),
	OP(POST, DISC "/entries/{at}/branch", "entry.branch", "start a new take from this entry on",
	   RT_OP_TAKE_BRANCH, q_take),
	OP(POST, ENTRY "/extract", "entry.extract", "make a discussion of the path to this entry",
	   RT_OP_DISCUSSION_EXTRACT, q_take),
	OP(PUT, DISC "/head", "head.move", "continue from another entry", RT_OP_HEAD_MOVE, q_take),

	/* ---- takes ---- */
	GET(DISC "/takes", "take.list", "the takes of a discussion", rt_api_takes, 0, "Takes",
	    q_takes),
	GET(DISC "/forks", "take.forks", "where other takes go on otherwise than this one",
	    rt_api_forks, 0, "Forks", q_forks),
	OP(POST, DISC "/takes", "take.branch", "start a new take from an entry on",
	   RT_OP_TAKE_BRANCH, q_take),
	OP(PATCH, TAKE_PATH, "take.rename", "rename a take", RT_OP_TAKE_RENAME, NULL),
	OP(DELETE, TAKE_PATH, "take.delete", "remove a take (never the last)", RT_OP_TAKE_DELETE,
	   NULL),
	OP(POST, TAKE_PATH "/switch", "take.switch", "go to another take", RT_OP_TAKE_SWITCH, NULL),
	OP(POST, TAKE_PATH "/promote", "take.promote", "make a take a separate discussion",
	   RT_OP_TAKE_PROMOTE, NULL),
	OP(POST, TAKE_PATH "/clear", "take.clear", "delete all entries of the take",
	   RT_OP_TAKE_CLEAR, NULL),
	OP(POST, TAKE_PATH "/truncate", "take.truncate", "keep the last question-answer pairs only",
	   RT_OP_TAKE_TRUNCATE, NULL),
	OP(POST, TAKE_PATH "/graft", "take.graft", "copy entries from another take into this one",
	   RT_OP_TAKE_GRAFT, NULL),
	GET(DISC "/takes/{a}/diff/{b}", "take.diff", "two takes side by side, from where they part",
	    rt_api_diff, 0, "Diff", q_at),

	/* ---- labels ---- */
	GET(DISC "/labels", "label.list", "the labels of a discussion", rt_api_labels, 0, "Labels",
	    q_at),
	OP(PUT, DISC "/labels/{label}", "label.set", "name an entry, or take its name away",
	   RT_OP_LABEL_SET, q_take),
	DO(DELETE, DISC "/labels/{label}", "label.delete", "take a label away", rt_api_label_delete,
	   RT_ROUTE_CHANGES, NULL, NULL, NULL),

	/* ---- prompt, settings, files ---- */
	GET(DISC "/prompt", "prompt.show", "the working prompt", rt_api_prompt, 0, "Prompt", q_at),
	OP(PUT, DISC "/prompt", "prompt.update", "change the working prompt", RT_OP_PROMPT_UPDATE,
	   NULL),
	OP(POST, DISC "/prompt/notify", "prompt.notify",
	   "tell the model that the prompt was edited", RT_OP_PROMPT_NOTIFY, q_take),
	GET("/settings", "setting.list", "the settings of the project", rt_api_project_settings, 0,
	    "Object", q_at),
	OP(PUT, "/settings/{key}", "setting.set", "change a setting", RT_OP_SETTING_SET, NULL),
	DO(DELETE, "/settings/{key}", "setting.delete", "reset to the default",
	   rt_api_setting_delete, RT_ROUTE_CHANGES, NULL, NULL, NULL),
	GET(DISC "/settings", "setting.of_discussion",
	    "what holds for a discussion: settings, prompt, files, roles", rt_api_settings, 0,
	    "Settings", q_at),
	OP(PUT, DISC "/settings/{key}", "setting.set_here",
	   "change a setting, of the discussion where it is one of these", RT_OP_SETTING_SET, NULL),

	DO(DELETE, DISC "/settings/{key}", "setting.delete_here",
	   "back to the default, of the discussion where it is one of these", rt_api_setting_delete,
	   RT_ROUTE_CHANGES, NULL, NULL, NULL),
	GET("/roles", "role.list", "the roles of the project", rt_api_roles, 0, "Array", q_at),
	OP(POST, "/roles", "role.add", "add a role to the project's list", RT_OP_ROLE_ADD, NULL),
	OP(DELETE, "/roles/{role}", "role.remove", "remove a role from the project's list",
	   RT_OP_ROLE_REMOVE, NULL),
	GET(DISC "/files", "files.list", "the lists of files of a discussion", rt_api_files, 0,
	    "Files", q_at),
	OP(PUT, DISC "/files/{which}", "files.set", "set a list of files", RT_OP_FILES_SET, NULL),
	GET(DISC "/symbols", "files.symbols", "the definitions in the files of a discussion",
	    rt_api_symbols, 0, "Array", q_symbols),
	GET(DISC "/symbols/{name}", "files.symbol", "the definitions of a name, with their texts",
	    rt_api_symbol, 0, "Array", q_at),
	OP(PUT, DISC "/track", "track.set", "bind the discussion to a track", RT_OP_TRACK_SET,
	   NULL),
	OP(POST, "/tracks/toggle", "track.toggle",
	   "go from a discussion without a track to one of a track, or back", RT_OP_TRACK_TOGGLE,
	   NULL),
	GET(DISC "/presets", "preset.list", "the presets of a discussion", rt_api_presets, 0,
	    "Object", q_at),
	OP(PUT, DISC "/presets/{name}", "preset.save",
	   "save and load files, screenshots and prompts under a name", RT_OP_PRESET_SAVE, NULL),
	OP(POST, DISC "/presets/{name}/load", "preset.load", "bring back what a preset kept",
	   RT_OP_PRESET_LOAD, NULL),
	OP(DELETE, DISC "/presets/{name}", "preset.delete", "forget a preset", RT_OP_PRESET_DELETE,
	   NULL),

	/* ---- history ---- */
	GET("/history", "history.list",
	    "the log of the whole project, newest first: what was done, by whom, to what",
	    rt_api_history, 0, "Rows", q_history),
	GET("/history/{seq}", "history.show", "one step, with its effects before and after",
	    rt_api_step, 0, "Step", NULL),
	OP(POST, "/history/{seq}/revert", "revert", "undo one old step, as a new step",
	   RT_OP_REVERT, NULL),
	GET(DISC "/history", "history.of_discussion", "the steps of a discussion, newest first",
	    rt_api_history, 0, "Steps", q_history),
	OP(POST, "/undo", "undo_anywhere",
	   "take back the newest steps of the active discussion and the project", RT_OP_UNDO, NULL),

	OP(POST, "/redo", "redo_anywhere", "redo undone steps", RT_OP_REDO, NULL),
	OP(POST, "/jump", "jump_anywhere", "go to the state right after a step", RT_OP_JUMP, NULL),
	OP(POST, DISC "/undo", "undo", "undo the newest steps", RT_OP_UNDO, NULL),
	OP(POST, DISC "/redo", "redo", "redo undone steps", RT_OP_REDO, NULL),
	OP(POST, DISC "/jump", "jump", "go to the state right after a step", RT_OP_JUMP, NULL),
	OP(POST, "/reset", "project.reset", "start afresh (undo brings everything back)",
	   RT_OP_PROJECT_RESET, NULL),
	OP(POST, "/purge", "purge", "remove a secret for good (not undoable)", RT_OP_PURGE, NULL),
	OP(POST, DISC "/purge", "purge.entry",
	   "remove a secret of an entry of this discussion for good (not undoable)", RT_OP_PURGE,
	   q_take),

	/* ---- any operation ---- */
	DO(POST, "/ops/{op}", "op", "any operation by its name; its fields are the body",
	   rt_api_op_any, RT_ROUTE_CHANGES, NULL, q_place, NULL),
	DO(POST, "/batch", "batch", "several operations as one step, or each for itself",
	   rt_api_batch, RT_ROUTE_CHANGES, "Results", q_place, b_batch),
	DO(POST, DISC "/batch", "batch.here", "the same, in a discussion", rt_api_batch,
	   RT_ROUTE_CHANGES, "Results", q_take, b_batch),
	DO(POST, DISC "/advice", "advice",
	   "what operations would break, before they are done (changes nothing)", rt_api_advice, 0,
	   "Advice", q_take, b_batch),

	/* ---- finding and sending ---- */
	DO(POST, "/render", "render", "Markdown laid out as blocks (changes nothing)",
	   rt_api_render, RT_ROUTE_NO_PROJECT, "Render", NULL, b_texts),
	GET("/search", "search", "texts that match", rt_api_search, 0, "Hits", q_search),
	GET(DISC "/context", "context", "what a model would be sent, and how many tokens it has",
	    rt_api_context, 0, "Context", q_context),
	GET(DISC "/sent", "context.sent",
	    "what was sent last, built again from the conversation as it was then; with what would "
	    "be sent otherwise now to the same model",
	    rt_api_sent, 0, "Sent", q_take),
	GET("/runs", "run.list", "models at work, newest first", rt_api_runs, 0, "Array", NULL),
	DO(POST, DISC "/runs", "run.start",
	   "set a model to work: a question and its reply, another reply, a summary",
	   rt_api_run_start, RT_ROUTE_CHANGES, "Run", q_take, b_run),
	GET("/runs/{run}", "run.show", "one of them, with what it has written so far", rt_api_run,
	    0, "Run", NULL),
	DO(DELETE, "/runs/{run}", "run.stop", "stop it; what has arrived is kept", rt_api_run_stop,
	   0, "Run", NULL, NULL),

	/* ---- events ---- */
	GET("/events", "events", "everything that happens in the project, as server-sent events",
	    rt_api_events, RT_ROUTE_STREAM, "Events", q_events),
	GET(DISC "/events", "events.here", "the same, of one discussion", rt_api_events,
	    RT_ROUTE_STREAM, "Events", q_last),

	/* ---- files in and out ---- */
	DO(POST, "/attachments", "attachment.new",
	   "store a file, the body, that content blocks can refer to", rt_api_attachment_new,
	   RT_ROUTE_CHANGES | RT_ROUTE_LARGE | RT_ROUTE_FILE, "Attachment", q_attachment, NULL),
	GET("/attachments/{sha256}", "attachment.show", "the bytes of an attached file",
	    rt_api_attachment, 0, "File", q_attachment),
	GET("/export", "export", "the project in a file format", rt_api_export, 0, "File",
	    q_export_all),
	GET(DISC "/export", "export.discussion", "a discussion in a file format", rt_api_export, 0,
	    "File", q_export),
	DO(POST, "/import", "import", "a file of another program in, as the body", rt_api_import,
	   RT_ROUTE_CHANGES | RT_ROUTE_LARGE | RT_ROUTE_FILE, "Import", q_import, NULL),

	{RT_WEB_OTHER, NULL, NULL, NULL, NULL, -1, 0, NULL, NULL, NULL},
};
const size_t rt_route_count = sizeof(rt_routes) / sizeof(rt_routes[0]) - 1;

const rt_route *const rt_all_routes[] = {rt_routes, rt_hook_routes, NULL};
