/* SPDX-License-Identifier: MIT
 *
 * Hook API: the routes of programs written for Manual Slop (docs/hook-api.md), next to /retake/v1
 * and with the same access control: the entries of the active take as one list to read and
 * replace, fields to read and set, callbacks by name. Each change is one step, and the answer says
 * how to undo it.
 *
 * Names are mapped onto existing features: the list becomes operations (replace_list.h), fields are
 * settings and places, callbacks are operations under other names. A field, a callback or a route
 * is a row in one of the three tables. */
#include "core/setting.h"
#include "server/api.h"
#include "server/call.h"
#include "app/condition.h"
#include "server/hook_state.h"
#include "server/replace_list.h"
#include "server/route.h"
#include "view/view.h"

enum { ATTEMPTS = 8 /* attempts to replace a list that others keep changing */ };

static void
fail_unknown(rt_call *call, const char *what, rt_str name, const char *hint)
{
	rt_call_hint(call, hint);
	rt_scope_fail(&call->scope, RT_NOT_FOUND, "no %s \"%.*s\"", what,
		      (int)rt_utf8_cut(name, 80), name.ptr);
}

/* The newest value and the place given by the query. */
static rt_snapshot
locate(rt_call *call)
{
	return rt_call_locate(call, UINT64_MAX, rt_call_text(call, "discussion"));
}

/* ---- reading ---- */

static yyjson_val *
load_entries(rt_call *call, const rt_snapshot *v)
{
	rt_scope *s = &call->scope;
	rt_buf *text = rt_scope_buf(s);

	RT_TRY(s, rt_view_show(v->engine, v->project, v->place, NULL, text, &s->error));
	return rt_json_get(rt_json_parse(s, rt_scope_str(s, text)), "entries");
}

static yyjson_val *
load_settings(rt_call *call, const rt_snapshot *v)
{
	rt_scope *s = &call->scope;
	rt_buf *text = rt_scope_buf(s);

	RT_TRY(s, rt_view_settings(v->engine, v->project, v->place.disc, text, &s->error));
	return rt_json_parse(s, rt_scope_str(s, text));
}

/* ---- fields ---- */

typedef enum source {
	FROM_SETTINGS, /* "settings" of rt_view_settings */
	FROM_VIEW,     /* rt_view_settings itself */
	FROM_PROMPT,   /* "prompt" of it */
	FROM_STATE,    /* hook_state.h */
	FROM_TAKE,     /* the same, of entries */
	FROM_COMMS,    /* the same, of requests */
	FROM_ENTRIES,
	FROM_NOTHING   /* absent is the reason */
} source;

struct field;
typedef struct assignment assignment;

typedef struct field {
	const char *name;
	source source;
	const char *key;    /* in the source */
	const char *absent; /* the default, as JSON; of FROM_NOTHING: the reason */
	void (*set)(const assignment *a); /* NULL: read only */
	rt_op_id op;        /* that sets it, by set_by_op() */
	const char *member; /* of the operation: the value */
	const char *type;   /* in the schema; NULL: that of the setting, or by the default */
} field;

/* A field is set to a value; the answer has key and name as a member. */
struct assignment {
	rt_call *call;
	const field *field;
	yyjson_val *value;
	const char *key, *name;
};

static void set_by_op(const assignment *a);
static void set_roles(const assignment *a);
static void set_entries(const assignment *a);

#define SETTING(name, key, absent)                                                               \
	{name, FROM_SETTINGS, key, absent, set_by_op, RT_OP_SETTING_SET, "value", NULL}
#define FILES(name) {name, FROM_VIEW, name, "[]", set_by_op, RT_OP_FILES_SET, "items", "array"}
#define STATE(name, type) {name, FROM_STATE, name, "null", NULL, 0, NULL, type}
#define TAKE(name, type) {name, FROM_TAKE, name, "null", NULL, 0, NULL, type}
#define NOTHING(name, why) {name, FROM_NOTHING, NULL, why, NULL, 0, NULL, NULL}

static const field fields[] = {
	SETTING("ai_input", "draft", "\"\""),
	SETTING("project_system_prompt", "project_system_prompt", "\"\""),
	SETTING("global_system_prompt", "global_system_prompt", "\"\""),
	SETTING("base_system_prompt", "base_system_prompt", "\"\""),
	SETTING("use_default_base_prompt", "use_default_base_prompt", "true"),
	SETTING("temperature", "temperature", "0"),
	SETTING("top_p", "top_p", "1"),
	SETTING("max_tokens", "max_tokens", "8192"),
	SETTING("auto_add_history", "auto_add_history", "true"),
	{"disc_entries", FROM_ENTRIES, NULL, "[]", set_entries, 0, NULL, "array"},
	FILES("files"),
	FILES("context_files"),
	FILES("screenshots"),
	STATE("ai_status", "string"),
	TAKE("ai_response", "string"),
	TAKE("last_question", "string"),
	TAKE("last_role", "string"),
	{"active_discussion", FROM_STATE, "active_discussion", "null", set_by_op,
	 RT_OP_DISCUSSION_SWITCH, "discussion", "string"},
	{"active_take", FROM_STATE, "active_take", "null", set_by_op, RT_OP_TAKE_SWITCH, "take",
	 "string"},
	STATE("active_project", "string"),
	STATE("active_project_path", "string"),
	{"disc_roles", FROM_VIEW, "roles", "[]", set_roles, 0, NULL, "array"},
	STATE("discussion_names", "array"),
	STATE("take_names", "array"),
	STATE("discussion_count", "integer"),
	STATE("take_count", "integer"),
	STATE("entry_count", "integer"),
	STATE("label_count", "integer"),
	STATE("head_position", "integer"),
	TAKE("user_entry_count", "integer"),
	TAKE("ai_entry_count", "integer"),
	TAKE("muted_count", "integer"),
	TAKE("collapsed_count", "integer"),
	TAKE("edited_count", "integer"),
	TAKE("partial_count", "integer"),
	TAKE("content_bytes", "integer"),
	STATE("can_undo", "boolean"),
	STATE("can_redo", "boolean"),
	SETTING("undo_capacity", "undo_capacity", "null"),
	SETTING("current_model", "model", "null"),
	STATE("current_provider", "string"),
	TAKE("token_usage", "object"),
	TAKE("usage", "object"),
	STATE("last_request", "object"),
	{"comms_log", FROM_COMMS, "comms_log", "[]", NULL, 0, NULL, "array"},
	SETTING("role_map", "role_map", "{}"),
	SETTING("prompt_updates", "prompt_updates", "\"off\""),
	SETTING("symbols_sent", "symbols_sent", "false"),
	SETTING("edit_notices", "edit_notices", "\"prompt\""),
	SETTING("compact_auto", "compact_auto", "false"),
	SETTING("compact_reserve_tokens", "compact_reserve_tokens", "16384"),
	SETTING("compact_keep_tokens", "compact_keep_tokens", "20000"),
	{"current_prompt", FROM_PROMPT, "text", "\"\"", set_by_op, RT_OP_PROMPT_UPDATE, "text",
	 "string"},
	{"prompt_edited", FROM_PROMPT, "edited", "false", NULL, 0, NULL, "boolean"},
	{"active_track", FROM_VIEW, "track", "null", set_by_op, RT_OP_TRACK_SET, "track", "string"},
	{"context_presets", FROM_VIEW, "presets", "{}", NULL, 0, NULL, "object"},
	STATE("git_commit", "string"),
	STATE("app_debug_info", "object"),
	STATE("seq", "integer"),
	NOTHING("show_command_palette",
		"the server does not have a screen; each web page has a separate palette"),
	NOTHING("ui_focus_agent",
		"the role filter belongs to a window: it does not change stored data or requests"),
	NOTHING("manual_approve", "Retake does not call tools, so there is nothing to approve"),
	NOTHING("mma_status", "Retake does not run agents"),
	NOTHING("active_tier", "Retake does not run agents"),
	NOTHING("proposed_tracks", "Retake does not run agents; for the track of the discussion, use active_track"),
	NOTHING("active_tickets", "Retake does not run agents"),
	NOTHING("mma_streams", "Retake does not run agents"),
	NOTHING("active_persona", "there are no personas; system prompts are fields"),
	NOTHING("active_tool_preset", "Retake does not call tools"),
	NOTHING("active_bias_profile", "Retake does not call tools"),
	NOTHING("tool_log", "Retake does not call tools"),
	NOTHING("tool_stats", "Retake does not call tools"),
	NOTHING("separate_message_panel", "the server does not have windows"),
	NOTHING("separate_response_panel", "the server does not have windows"),
	NOTHING("separate_tool_calls_panel", "the server does not have windows"),
	NOTHING("separate_context_preview", "the server does not have windows"),
	NOTHING("separate_external_tools", "the server does not have windows"),
	NOTHING("discussion_split_h", "the server does not have windows"),
};

enum { FIELD_COUNT = sizeof(fields) / sizeof(fields[0]) };

/* Manual Slop's internal names begin with "ui_". NULL, after a failure: unknown. */
static const field *
find_field(rt_call *call, rt_str given)
{
	rt_str name = given;

	if (rt_str_starts(name, RT_STR("ui_")))
		name = rt_str_at(name.ptr + 3, name.size - 3);
	for (const field *f = fields; f < fields + FIELD_COUNT; f++) {
		if (!rt_str_is(name, f->name) && !rt_str_is(given, f->name))
			continue;
		if (f->source != FROM_NOTHING)
			return f;
		rt_call_problem(call, 501, "no-meaning", "This field is not supported",
				f->absent);
		return NULL;
	}
	fail_unknown(call, "field", given, "GET /api/state lists all fields");
	return NULL;
}

/* The error in a value for this setting, or NULL. */
static const char *
setting_error(rt_call *call, const char *key, yyjson_val *value)
{
	const rt_setting *setting = rt_setting_named(rt_str_of(key));
	rt_buf *text = rt_scope_buf(&call->scope);

	rt_json_add_value(text, value);
	return setting == NULL || text->status != RT_OK
		       ? NULL
		       : rt_setting_wants(setting, rt_buf_str(text));
}

/* The sources of fields. */
typedef struct sources {
	rt_snapshot v;
	yyjson_val *settings; /* rt_view_settings */
	yyjson_val *state;    /* of hook_state.h, if it was requested */
} sources;

/* only: the one field that is read; NULL: all. */
static sources
load_sources(rt_call *call, const field *only)
{
	rt_scope *s = &call->scope;
	rt_buf *state = rt_scope_buf(s);
	sources from = {.v = locate(call)};

	from.settings = load_settings(call, &from.v);
	rt_json_open(state, NULL, '{');
	if (only == NULL || only->source == FROM_STATE)
		rt_hook_state_put(call, &from.v, state);
	if (only == NULL || only->source == FROM_TAKE)
		rt_hook_state_put_take(call, &from.v, state);
	if (only == NULL || only->source == FROM_COMMS)
		rt_hook_state_put_comms(call, &from.v, state);
	rt_json_close(state, '}');
	from.state = rt_json_parse(s, rt_scope_str(s, state));
	return from;
}

static void
put_field(rt_call *call, const sources *from, const field *f, const char *key)
{
	rt_buf *body = &call->answer->body;
	yyjson_val *value = NULL;

	switch (f->source) {
	case FROM_SETTINGS:
		value = rt_json_get(rt_json_get(from->settings, "settings"), f->key);
		/* One of the wrong type counts as unset. */
		if (yyjson_is_null(value) ||
		    (value != NULL && setting_error(call, f->key, value) != NULL))
			value = NULL;
		break;
	case FROM_VIEW: value = rt_json_get(from->settings, f->key); break;
	case FROM_PROMPT: value = rt_json_get(rt_json_get(from->settings, "prompt"), f->key); break;
	case FROM_STATE:
	case FROM_TAKE:
	case FROM_COMMS: value = rt_json_get(from->state, f->key); break;
	case FROM_NOTHING: return;
	case FROM_ENTRIES: value = load_entries(call, &from->v); break;
	}
	if (value != NULL)
		rt_json_put_value(body, key, value);
	else
		rt_json_put_raw(body, key, rt_str_of(f->absent));
}

/* ---- changes ---- */

/* There is nothing to do, but the preconditions of the headers count. extra: members. */
static void
answer_unchanged(rt_call *call, const rt_snapshot *v, rt_str disc, rt_str take, rt_str extra)
{
	rt_buf *body = &call->answer->body;
	struct rt_idempotency *idem = rt_call_begin(call, disc, take);

	if (!rt_ok(&call->scope))
		return;
	rt_json_open(body, NULL, '{');
	rt_json_put_u64(body, "seq", v->project->seq);
	rt_json_put_bool(body, "unchanged", true);
	rt_json_add_comma(body);
	rt_buf_add_str(body, extra);
	rt_json_close(body, '}');
	rt_call_tag_disc(call, v);
	rt_call_keep(call, idem);
}

/* Executes requests as one step. The answer has key and name as a member. */
static void
apply(rt_call *call, const rt_request *requests, size_t count, const char *key, const char *name)
{
	rt_scope *s = &call->scope;
	rt_buf *extra = rt_scope_buf(s);

	rt_json_put_c(extra, "status", "updated");
	rt_json_put_c(extra, key, name);
	rt_call_change change = {.requests = requests,
				 .count = count,
				 .is_atomic = true,
				 .is_one = true,
				 .disc = rt_call_text(call, "discussion"),
				 .take = rt_call_text(call, "take"),
				 .extra = rt_scope_str(s, extra)};
	if (count > 0) {
		rt_call_apply(call, &change);
		return;
	}
	rt_snapshot v = locate(call);
	answer_unchanged(call, &v, change.disc, change.take, change.extra);
}

static void
set_by_op(const assignment *a)
{
	rt_scope *s = &a->call->scope;
	const field *f = a->field;
	yyjson_val *value = a->value;
	const char *error =
		f->source == FROM_SETTINGS ? setting_error(a->call, f->key, value) : NULL;
	rt_request request = {.op = f->op};

	if (error != NULL)
		rt_scope_fail(s, RT_USAGE, "\"%s\" must be %s", f->name, error);
	if (f->op == RT_OP_SETTING_SET)
		request.key = rt_str_of(f->key);
	else if (f->op == RT_OP_FILES_SET)
		request.which = rt_str_of(f->key);
	if (f->source == FROM_VIEW && yyjson_is_null(value))
		value = rt_json_parse(s, rt_str_of(f->absent));
	if (rt_ok(s))
		rt_request_set(s, &request, f->member, value);
	apply(a->call, &request, 1, a->key, a->name);
}

/* From the first difference on, the old roles are removed and the new ones added. */
static void
set_roles(const assignment *a)
{
	rt_scope *s = &a->call->scope;
	bool is_list = yyjson_is_arr(a->value);
	size_t same = 0, count = 0, i, max, wanted = yyjson_arr_size(a->value);
	yyjson_val *role;

	yyjson_arr_foreach(a->value, i, max, role)
		is_list &= yyjson_is_str(role) && rt_str_trim(rt_json_str(role)).size > 0;
	if (!is_list)
		rt_scope_fail(s, RT_USAGE, "\"%s\" must be an array of strings", a->field->name);
	rt_snapshot v = locate(a->call);
	yyjson_val *roles = rt_json_get(load_settings(a->call, &v), a->field->key);
	size_t had = yyjson_arr_size(roles);
	rt_request *requests = rt_scope_array(s, had + wanted + 1, sizeof(*requests));
	if (requests == NULL)
		return;
	while (same < had && same < wanted &&
	       rt_str_eq(rt_json_str(yyjson_arr_get(roles, same)),
			 rt_json_str(yyjson_arr_get(a->value, same))))
		same++;
	for (i = same; i < had; i++)
		requests[count++] = (rt_request){.op = RT_OP_ROLE_REMOVE,
						 .role = rt_json_str(yyjson_arr_get(roles, i))};
	for (i = same; i < wanted; i++)
		requests[count++] = (rt_request){.op = RT_OP_ROLE_ADD,
						 .role = rt_json_str(yyjson_arr_get(a->value, i))};
	apply(a->call, requests, count, a->key, a->name);
}

static void
set_field(const assignment *a)
{
	if (a->field == NULL)
		return;
	if (a->field->set != NULL)
		a->field->set(a);
	else
		rt_scope_fail(&a->call->scope, RT_REFUSED, "\"%s\" is read-only",
			      a->field->name);
}

/* ---- replacing the list ---- */

/* rt_id_used_fn */
static bool
is_used(void *ctx, rt_str id)
{
	const rt_project *value = ctx;
	uint32_t number = 0;

	if (rt_strs_count(value->ledger->ids) > 0 &&
	    rt_strs_find(value->ledger->ids, id, &number, NULL) != RT_OK)
		return true;
	if (number != 0)
		return true;
	number = rt_id_number(value->ledger->salt, id);
	return number != 0 && number < value->next_entry;
}

static rt_str
counts_as_members(rt_scope *s, const rt_replace_list_counts *counts)
{
	rt_buf *out = rt_scope_buf(s);

	rt_json_put_c(out, "status", "updated");
	rt_json_open(out, "changed", '{');
	rt_json_put_u64(out, "added", counts->added);
	rt_json_put_u64(out, "edited", counts->edited);
	rt_json_put_u64(out, "deleted", counts->deleted);
	rt_json_put_u64(out, "moved", counts->moved);
	rt_json_put_u64(out, "shown", counts->shown);
	rt_json_close(out, '}');
	if (counts->added + counts->edited + counts->deleted + counts->moved > 0) {
		rt_json_open(out, "undo", '{');
		rt_json_put_c(out, "method", "POST");
		rt_json_put_c(out, "path", RT_API_ROOT "/undo");
		rt_json_close(out, '}');
	}
	return rt_scope_str(s, out);
}

/* False: the list was changed meanwhile. */
static bool
try_replace(rt_call *call, yyjson_val *wanted)
{
	rt_scope *s = &call->scope;
	rt_snapshot v = locate(call);
	rt_replace_plan plan = rt_replace_list_plan(s, load_entries(call, &v), wanted, is_used,
						    (void *)(uintptr_t)v.project);
	rt_call_change change = {.requests = plan.requests,
				 .count = plan.count,
				 .is_atomic = true,
				 .is_one = true,
				 .disc = rt_call_text(call, "discussion"),
				 .take = rt_call_text(call, "take"),
				 .extra = counts_as_members(s, &plan.counts),
				 .list = &v};

	if (plan.count > 0)
		return rt_call_apply(call, &change);
	answer_unchanged(call, &v, change.disc, change.take, change.extra);
	return true;
}

static void
replace(rt_call *call, yyjson_val *wanted)
{
	for (unsigned attempt = 1; !try_replace(call, wanted) && attempt < ATTEMPTS; attempt++)
		rt_call_clear(call);
}

static void
set_entries(const assignment *a)
{
	if (rt_ok(&a->call->scope))
		replace(a->call, a->value);
}

/* ---- callbacks ---- */

struct callback;
typedef void callback_fn(rt_call *call, const struct callback *cb, yyjson_val *args);

typedef struct callback {
	const char *name;
	size_t args;
	const char *takes; /* description of its arguments; NULL: none */
	callback_fn *fn;   /* NULL: not supported here */
	rt_op_id op;       /* of run_preset() */
	const char *field; /* of run_setter() */
	const char *does;  /* or the reason why it is not supported */
} callback;

/* The operation with the first argument as its name. */
static void
run_preset(rt_call *call, const callback *cb, yyjson_val *args)
{
	rt_request request = {.op = cb->op};

	rt_request_set(&call->scope, &request, "name", yyjson_arr_get(args, 0));
	apply(call, &request, 1, "callback", cb->name);
}

/* Sets a field, the named one or that of the first argument, to the last argument. */
static void
run_setter(rt_call *call, const callback *cb, yyjson_val *args)
{
	rt_str name = cb->field != NULL ? rt_str_of(cb->field)
					: rt_json_str(yyjson_arr_get(args, 0));

	set_field(&(assignment){.call = call,
				.field = find_field(call, name),
				.value = yyjson_arr_get(args, cb->args - 1),
				.key = "callback",
				.name = cb->name});
}

static void
run_debug_info(rt_call *call, const callback *cb, yyjson_val *args)
{
	rt_buf *body = &call->answer->body;
	rt_snapshot v = locate(call);

	(void)cb;
	(void)args;
	rt_json_open(body, NULL, '{');
	rt_json_put_c(body, "status", "ok");
	rt_json_open(body, "result", '{');
	rt_json_put_str(body, "project", rt_text_str(call->open_project->name));
	rt_json_put_u64(body, "entries", rt_ok(&call->scope) ? rt_seq_count(v.take->slots) : 0);
	rt_hook_state_put(call, &v, body);
	rt_json_close(body, '}');
	rt_json_close(body, '}');
}

#define PRESET(name, op, does) {name, 1, "a name", run_preset, op, NULL, does}
#define SETTER(name, takes, field, does) {name, 1, takes, run_setter, 0, field, does}

static const callback callbacks[] = {
	PRESET("save_context_preset", RT_OP_PRESET_SAVE,
	       "saves files, screenshots and prompts as a preset"),
	PRESET("load_context_preset", RT_OP_PRESET_LOAD, "loads a preset"),
	PRESET("delete_context_preset", RT_OP_PRESET_DELETE, "deletes a preset"),
	SETTER("set_ui_file_paths", "a list of paths", "files", "sets the files"),
	SETTER("set_ui_screenshot_paths", "a list of paths", "screenshots", "sets the screenshots"),
	SETTER("set_context_files_for_test", "a list of files", "context_files",
	       "sets the context files"),
	SETTER("set_screenshots_for_test", "a list of paths", "screenshots",
	       "sets the screenshots"),
	{"_toggle_command_palette", 0, NULL, NULL, 0, NULL,
	 "the server does not have a screen; each web page has a separate palette"},
	{"get_app_debug_info", 0, NULL, run_debug_info, 0, NULL,
	 "describes the state of the server; changes nothing"},
	PRESET("save_context_preset_force", RT_OP_PRESET_SAVE,
	       "same as save_context_preset (no confirmation)"),
	{"set_ui_attr", 2, "name and value of a field", run_setter, 0, NULL,
	 "sets a field, same as PUT /api/state/{field}"},
	SETTER("set_context_files", "a list of files", "context_files", "sets the context files"),
	PRESET("simulate_save_preset", RT_OP_PRESET_SAVE,
	       "same as save_context_preset (no dialog)"),
};

enum { CALLBACK_COUNT = sizeof(callbacks) / sizeof(callbacks[0]) };

/* ---- routes ---- */

static void
get_session(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_buf *body = &call->answer->body;
	rt_snapshot v = locate(call);

	rt_buf_add_c(body, "{\"session\":");
	RT_TRY(s, rt_view_show(v.engine, v.project, v.place, NULL, body, &s->error));
	rt_json_close(body, '}');
	rt_call_tag_disc(call, &v);
}

/* [...], {"session":[…]}, {"session":{"entries":[…]}} or {"entries":[…]} */
static void
set_session(rt_call *call)
{
	rt_scope *s = &call->scope;
	yyjson_val *root = rt_json_parse(s, call->request->body);
	yyjson_val *list = yyjson_is_arr(root) ? root : rt_json_get(root, "session");

	if (s->status == RT_LIMIT)
		s->status = s->error.status = RT_USAGE;
	if (list == NULL)
		list = root;
	if (!yyjson_is_arr(list))
		list = rt_json_get(list, "entries");
	if (!yyjson_is_arr(list))
		rt_scope_fail(s, RT_USAGE, "the body must be {\"session\":{\"entries\":[…]}}");
	if (rt_ok(s))
		replace(call, list);
}

static void
get_field(rt_call *call)
{
	rt_buf *body = &call->answer->body;
	const field *f = find_field(call, rt_call_param(call, "field"));

	if (f == NULL)
		return;
	sources from = load_sources(call, f);
	rt_json_open(body, NULL, '{');
	rt_json_put_c(body, "field", f->name);
	put_field(call, &from, f, "value");
	rt_json_close(body, '}');
}

static void
get_fields(rt_call *call)
{
	rt_buf *body = &call->answer->body;
	sources from = load_sources(call, NULL);

	rt_json_open(body, NULL, '{');
	for (size_t i = 0; i < FIELD_COUNT; i++)
		put_field(call, &from, &fields[i], fields[i].name);
	rt_json_close(body, '}');
}

void
rt_hook_api_schema(rt_buf *buf, const char *key)
{
	static const char *const types[] = {
		[RT_SETTING_TEXT] = "string",	 [RT_SETTING_NUMBER] = "number",
		[RT_SETTING_COUNT] = "integer",	 [RT_SETTING_BOOL] = "boolean",
		[RT_SETTING_UPDATES] = "string", [RT_SETTING_NOTICES] = "string",
		[RT_SETTING_OBJECT] = "object",
		[RT_SETTING_TAGS] = "array"};

	rt_json_open(buf, key, '{');
	rt_json_put_c(buf, "type", "object");
	rt_json_open(buf, "properties", '{');
	for (const field *f = fields; f < fields + FIELD_COUNT; f++) {
		if (f->source == FROM_NOTHING)
			continue;
		rt_json_open(buf, f->name, '{');
		rt_json_open(buf, "type", '[');
		rt_json_put_c(buf, NULL,
			      f->type != NULL ? f->type
					      : types[rt_setting_named(rt_str_of(f->key))->type]);
		if (strcmp(f->absent, "null") == 0)
			rt_json_put_c(buf, NULL, "null");
		rt_json_close(buf, ']');
		if (f->set == NULL)
			rt_json_put_bool(buf, "readOnly", true);
		rt_json_close(buf, '}');
	}
	rt_json_close(buf, '}');
	rt_json_close(buf, '}');
}

static void
set_state(rt_call *call)
{
	const field *f = find_field(call, rt_call_param(call, "field"));
	yyjson_val *value = rt_json_get(rt_call_body(call, false), "value");

	if (value == NULL)
		rt_scope_fail(&call->scope, RT_USAGE, "the body must be {\"value\":…}");
	if (rt_ok(&call->scope))
		set_field(&(assignment){call, f, value, "field", f->name});
}

static void
get_callbacks(rt_call *call)
{
	rt_buf *body = &call->answer->body;

	rt_json_open(body, NULL, '{');
	rt_json_open(body, "callbacks", '[');
	for (const callback *cb = callbacks; cb < callbacks + CALLBACK_COUNT; cb++) {
		rt_json_open(body, NULL, '{');
		rt_json_put_c(body, "name", cb->name);
		if (cb->takes != NULL)
			rt_json_put_c(body, "takes", cb->takes);
		rt_json_put_c(body, cb->fn == NULL ? "has_none" : "does", cb->does);
		rt_json_close(body, '}');
	}
	rt_json_close(body, ']');
	rt_json_close(body, '}');
}

static void
call_callback(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_str name = rt_call_param(call, "name");
	const callback *cb = callbacks;

	while (cb < callbacks + CALLBACK_COUNT && !rt_str_is(name, cb->name))
		cb++;
	if (cb == callbacks + CALLBACK_COUNT) {
		fail_unknown(call, "callback", name, "GET /api/callbacks lists the callbacks");
		return;
	}
	if (cb->fn == NULL) {
		rt_call_problem(call, 501, "no-meaning", "This callback is not supported",
				cb->does);
		return;
	}
	yyjson_val *args = rt_json_get(rt_call_body(call, true), "args");
	if (args != NULL && !yyjson_is_arr(args))
		rt_scope_fail(s, RT_USAGE, "\"args\" must be an array");
	if (yyjson_arr_size(args) != cb->args)
		rt_scope_fail(s, RT_USAGE, "%s takes %s: {\"args\":[…]}", cb->name,
			      cb->takes != NULL ? cb->takes : "nothing");
	if (rt_ok(s))
		cb->fn(call, cb, args);
}

static void
reset(rt_call *call)
{
	rt_request request = {.op = RT_OP_PROJECT_RESET};

	rt_call_apply(call, &(rt_call_change){.requests = &request,
					      .count = 1,
					      .extra = RT_STR("\"status\":\"updated\"")});
}

static void
get_history(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_buf *body = &call->answer->body;
	uint64_t before = rt_call_number(call, "before", 0);
	size_t limit = rt_call_limit(call, RT_API_STEPS, RT_API_STEPS_MAX);
	rt_snapshot v = locate(call);

	rt_buf_add_c(body, "{\"history\":");
	RT_TRY(s, rt_view_history(v.engine, v.project, v.place.disc, before, limit, body,
				  &s->error));
	if (rt_ok(s))
		rt_hook_state_put_history(&v, body);
	rt_json_close(body, '}');
}

static void
get_status(rt_call *call)
{
	rt_buf *body = &call->answer->body;
	rt_snapshot v = locate(call);

	rt_json_open(body, NULL, '{');
	rt_json_put_c(body, "status", "ok");
	rt_hook_state_put_status(call, &v, body);
	rt_json_close(body, '}');
}

#define WHERE                                                                                   \
	{"discussion", "string", "name or id; default: the active one"},                        \
		{"take", "string", "name or id; default: the active one"}
#define END {NULL, NULL, NULL}
#define CHANGES (RT_ROUTE_ROOT | RT_ROUTE_CHANGES)

static const rt_route_param q_where[] = {WHERE, END};
static const rt_route_param q_history[] = {
	WHERE,
	{"before", "integer", "only steps before this number"},
	{"limit", "integer", "number of steps; default: 100"},
	END};
static const rt_route_param b_value[] = {{"value", "any", "the new value; null: the default"}, END};
static const rt_route_param b_args[] = {{"args", "array", "arguments of the callback"}, END};
static const rt_route_param b_session[] = {
	{"session", "object", "{\"entries\":[…]}, or the list itself"}, END};

const rt_route rt_hook_routes[] = {
	{RT_WEB_GET, RT_RIGHT_READ, "/api/session", "hook.session", "the entries of the active take", get_session,
	 -1, RT_ROUTE_ROOT, "hook_session", q_where, NULL},
	{RT_WEB_POST, RT_RIGHT_COMMENT, "/api/session", "hook.session.set", "replace the whole list as one step",
	 set_session, -1, CHANGES | RT_ROUTE_LARGE, "hook_updated", q_where, b_session},
	{RT_WEB_GET, RT_RIGHT_READ, "/api/state", "hook.states", "all readable fields", get_fields, -1,
	 RT_ROUTE_ROOT, "hook_state", q_where, NULL},
	{RT_WEB_GET, RT_RIGHT_READ, "/api/state/{field}", "hook.state", "one readable field", get_field, -1,
	 RT_ROUTE_ROOT, "hook_field", q_where, NULL},
	{RT_WEB_PUT, RT_RIGHT_COMMENT, "/api/state/{field}", "hook.state.set", "set a field as one step", set_state,
	 -1, CHANGES, "hook_updated", q_where, b_value},
	{RT_WEB_POST, RT_RIGHT_COMMENT, "/api/state/{field}", "hook.state.post", "same as PUT", set_state, -1, CHANGES,
	 "hook_updated", q_where, b_value},
	{RT_WEB_GET, RT_RIGHT_READ, "/api/callbacks", "hook.callbacks", "the callbacks and their arguments", get_callbacks, -1,
	 RT_ROUTE_ROOT | RT_ROUTE_QUICK, "hook_callbacks", NULL, NULL},
	{RT_WEB_POST, RT_RIGHT_COMMENT, "/api/callbacks/{name}", "hook.callback", "call a callback", call_callback, -1,
	 CHANGES, "hook_updated", q_where, b_args},
	{RT_WEB_POST, RT_RIGHT_COMMENT, "/api/reset", "hook.reset", "reset the project; one undo restores "
						  "everything",
	 reset, -1, CHANGES, "hook_updated", NULL, NULL},
	{RT_WEB_GET, RT_RIGHT_READ, "/api/history", "hook.history", "the steps, newest first", get_history, -1,
	 RT_ROUTE_ROOT, "hook_history", q_history, NULL},
	{RT_WEB_GET, RT_RIGHT_READ, "/status", "hook.status", "whether a client is connected and whether a model is running",
	 get_status, -1, RT_ROUTE_ROOT, "hook_status", NULL, NULL},
	{RT_WEB_OTHER, RT_RIGHT_NONE, NULL, NULL, NULL, NULL, -1, 0, NULL, NULL, NULL},
};
