/* SPDX-License-Identifier: MIT
 *
 * Hook API: the routes of programs written for Manual Slop (docs/hook-api.md), next to /retake/v1
 * and with the same access control: the entries of the active take as one list to read and
 * replace, fields to read and set, callbacks by name. Each change is one step, and the answer says
 * how to undo it.
 *
 * A mapping onto what exists already: the list becomes operations (replace_list.h), fields are
 * settings and places, callbacks are operations under other names. A field, a callback or a route
 * is a row in one of the three tables. */
#include "core/setting.h"
#include "server/call.h"
#include "server/etag.h"
#include "server/replace_list.h"
#include "server/routes.h"
#include "server/run_json.h"
#include "view/view.h"

enum { ATTEMPTS = 8 /* to replace a list that others keep changing */ };

/* One request. A failure that has been answered already is RT_INTERRUPTED. */
typedef struct context {
	rt_call *call;
	rt_engine *engine;
	rt_scope scope;
	rt_buf *body;
	const rt_project *value; /* this and the next five: set by locate() */
	const rt_disc *disc;
	const rt_take *take;
	rt_place at;
	rt_str disc_name, take_name; /* as given */
	yyjson_val *settings;        /* rt_view_settings; set by load_fields(), as the next */
	yyjson_val *state;           /* add_state() */
	bool is_outdated;            /* the list has changed since it was read */
} context;

static void
fail_unknown(rt_call *call, const char *what, rt_str name, const char *hint)
{
	rt_error err;

	(void)rt_fail(&err, RT_NOT_FOUND, "no %s \"%.*s\"", what, (int)rt_utf8_cut(name, 80),
		      name.ptr);
	rt_call_fail(call, &err, hint);
}

static void
begin(context *c, rt_call *call)
{
	*c = (context){.call = call,
		       .engine = call->open_project->engine,
		       .body = &call->answer->body};
	rt_scope_init(&c->scope, call->request->alloc);
}

/* Answers with the failure, or with the body, unless the request is answered already. */
static void
end(context *c)
{
	rt_call *call = c->call;
	rt_error err;
	rt_status st = rt_scope_end(&c->scope, &err);

	if (call->answer->status != 0)
		return;
	if (st == RT_OK) {
		rt_call_done(call, 200);
		return;
	}
	rt_buf_clear(c->body);
	rt_call_fail(call, &err, NULL);
}

static void
unref_value(void *value)
{
	rt_object_unref(value);
}

/* The project, discussion and take that the request is about. */
static void
locate(context *c)
{
	rt_call *call = c->call;
	rt_scope *s = &c->scope;

	if (!rt_call_text(call, "discussion", &c->disc_name) ||
	    !rt_call_text(call, "take", &c->take_name) || !rt_call_value(call, &c->value)) {
		rt_scope_fail(s, RT_INTERRUPTED, "answered");
		return;
	}
	rt_scope_defer(s, unref_value, (void *)(uintptr_t)c->value);
	if (rt_ok(s) && !rt_call_place(call, c->value, c->disc_name, &c->at))
		rt_scope_fail(s, RT_INTERRUPTED, "answered");
	RT_TRY(s, rt_project_disc(c->value, c->at.disc, &c->disc, &s->error));
	if (rt_ok(s))
		c->take = rt_disc_take(c->disc, c->at.take);
}

static void
set_etag(const context *c)
{
	char text[RT_ETAG_ROOM];

	rt_etag_disc(rt_engine_epoch(c->engine), c->value, c->disc, text);
	rt_call_etag(c->call, text);
}

/* ---- reading ---- */

static yyjson_val *
load_entries(context *c)
{
	rt_scope *s = &c->scope;
	rt_buf *text = rt_scope_buf(s);

	RT_TRY(s, rt_view_show(c->engine, c->value, c->at, NULL, text, &s->error));
	return rt_json_get(rt_json_parse(s, rt_scope_str(s, text)), "entries");
}

/* "running" while a model works on any reply. */
static void
add_status(context *c, rt_buf *out)
{
	rt_runs *runs = c->call->open_project->runs;

	rt_json_put_c(out, "ai_status",
		      runs != NULL && rt_runs_any_running(runs) ? "running" : "idle");
}

static void
add_history(const context *c, rt_buf *out)
{
	const rt_history *disc = &c->disc->history, *project = &c->value->history;

	rt_json_put_bool(out, "can_undo", disc->current != 0 || project->current != 0);
	rt_json_put_bool(out, "can_redo", disc->redo_row != 0 || project->redo_row != 0);
}

/* The fields that are neither settings nor entries, as members. */
static void
add_state(context *c, rt_buf *out)
{
	if (!rt_ok(&c->scope))
		return;
	rt_json_put_str(out, "active_discussion",
			rt_cell_name(rt_project_cell(c->value, c->at.disc)));
	rt_json_put_str(out, "active_take", rt_text_str(c->take->name));
	rt_json_open(out, "discussion_names", '[');
	for (uint32_t i = 1; i <= rt_project_disc_count(c->value); i++) {
		const rt_cell *cell = rt_project_cell(c->value, i);

		if (cell->present)
			rt_json_put_str(out, NULL, rt_cell_name(cell));
	}
	rt_json_close(out, ']');
	rt_json_open(out, "take_names", '[');
	for (uint32_t i = 1; i <= rt_disc_take_count(c->disc); i++) {
		const rt_take *take = rt_disc_take(c->disc, i);

		if (take->present)
			rt_json_put_str(out, NULL, rt_text_str(take->name));
	}
	rt_json_close(out, ']');
	add_status(c, out);
	add_history(c, out);
	rt_json_put_u64(out, "seq", c->value->seq);
}

/* ---- fields ---- */

typedef enum source {
	FROM_SETTINGS, /* "settings" of rt_view_settings */
	FROM_VIEW,     /* rt_view_settings itself */
	FROM_PROMPT,   /* "prompt" of it */
	FROM_STATE,    /* add_state() */
	FROM_ENTRIES
} source;

typedef struct field {
	const char *name;
	source source;
	const char *key;    /* in the source */
	const char *absent; /* the default, as JSON */
	rt_op_id op;        /* sets it; or READ_ONLY */
	const char *member; /* of the operation: the value */
} field;

#define READ_ONLY RT_OP_COUNT

#define SETTING(name, key, absent) {name, FROM_SETTINGS, key, absent, RT_OP_SETTING_SET, "value"}
#define FILES(name) {name, FROM_VIEW, name, "[]", RT_OP_FILES_SET, "items"}
#define STATE(name) {name, FROM_STATE, name, "null", READ_ONLY, NULL}

static const field fields[] = {
	SETTING("ai_input", "draft", "\"\""),
	SETTING("project_system_prompt", "project_system_prompt", "\"\""),
	SETTING("global_system_prompt", "global_system_prompt", "\"\""),
	SETTING("base_system_prompt", "base_system_prompt", "\"\""),
	SETTING("use_default_base_prompt", "use_default_base_prompt", "true"),
	SETTING("temperature", "temperature", "0"),
	SETTING("top_p", "top_p", "1"),
	SETTING("max_tokens", "max_tokens", "8192"),
	SETTING("auto_add_history", "auto_add_history", "false"),
	{"disc_entries", FROM_ENTRIES, NULL, "[]", READ_ONLY, NULL}, /* set by replace() */
	FILES("files"),
	FILES("context_files"),
	FILES("screenshots"),
	STATE("ai_status"),
	{"active_discussion", FROM_STATE, "active_discussion", "null", RT_OP_DISCUSSION_SWITCH,
	 "discussion"},
	{"active_take", FROM_STATE, "active_take", "null", RT_OP_TAKE_SWITCH, "take"},
	{"disc_roles", FROM_VIEW, "roles", "[]", READ_ONLY, NULL}, /* set by set_roles() */
	STATE("discussion_names"),
	STATE("take_names"),
	STATE("can_undo"),
	STATE("can_redo"),
	SETTING("current_model", "model", "null"),
	SETTING("edit_notices", "edit_notices", "\"prompt\""),
	{"current_prompt", FROM_PROMPT, "text", "\"\"", RT_OP_PROMPT_UPDATE, "text"},
	{"prompt_edited", FROM_PROMPT, "edited", "false", READ_ONLY, NULL},
	{"active_track", FROM_VIEW, "track", "null", RT_OP_TRACK_SET, "track"},
	{"context_presets", FROM_VIEW, "presets", "{}", READ_ONLY, NULL},
	STATE("seq"),
};

enum { FIELD_COUNT = sizeof(fields) / sizeof(fields[0]) };

/* Manual Slop's internal names begin with "ui_". NULL: unknown, which is answered. */
static const field *
find_field(rt_call *call, rt_str given)
{
	rt_str name = given;

	if (rt_str_starts(name, RT_STR("ui_")))
		name = rt_str_at(name.ptr + 3, name.size - 3);
	for (size_t i = 0; i < FIELD_COUNT; i++)
		if (rt_str_is(name, fields[i].name))
			return &fields[i];
	fail_unknown(call, "field", given, "GET /api/state has them all");
	return NULL;
}

/* What is wrong with a value for this setting, or NULL. */
static const char *
setting_error(context *c, const char *key, yyjson_val *value)
{
	const rt_setting *setting = rt_setting_named(rt_str_of(key));
	rt_buf *text = rt_scope_buf(&c->scope);

	rt_json_add_value(text, value);
	return setting == NULL || text->status != RT_OK
		       ? NULL
		       : rt_setting_wants(setting, rt_buf_str(text));
}

static void
load_fields(context *c)
{
	rt_scope *s = &c->scope;
	rt_buf *settings = rt_scope_buf(s), *state = rt_scope_buf(s);

	locate(c);
	RT_TRY(s, rt_view_settings(c->engine, c->value, c->at.disc, settings,
				   &s->error));
	c->settings = rt_json_parse(s, rt_scope_str(s, settings));
	rt_json_open(state, NULL, '{');
	add_state(c, state);
	rt_json_close(state, '}');
	c->state = rt_json_parse(s, rt_scope_str(s, state));
}

static void
add_field(context *c, const field *f, const char *key)
{
	yyjson_val *value = NULL;

	switch (f->source) {
	case FROM_SETTINGS:
		value = rt_json_get(rt_json_get(c->settings, "settings"), f->key);
		/* One of the wrong type counts as unset. */
		if (yyjson_is_null(value) ||
		    (value != NULL && setting_error(c, f->key, value) != NULL))
			value = NULL;
		break;
	case FROM_VIEW: value = rt_json_get(c->settings, f->key); break;
	case FROM_PROMPT: value = rt_json_get(rt_json_get(c->settings, "prompt"), f->key); break;
	case FROM_STATE: value = rt_json_get(c->state, f->key); break;
	case FROM_ENTRIES: value = load_entries(c); break;
	}
	if (value != NULL)
		rt_json_put_value(c->body, key, value);
	else
		rt_json_put_raw(c->body, key, rt_str_of(f->absent));
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

/* rt_apply_check_fn: is the list as it was when the operations were planned? */
static rt_status
check_unchanged(void *ctx, const rt_project *now, rt_error *err)
{
	context *c = ctx;
	const rt_disc *disc;
	const rt_take *take;
	rt_place at = {0, 0};
	size_t count = rt_seq_count(c->take->slots), differ = count;
	rt_status st = rt_resolve_place(now, c->disc_name, c->take_name, &at, err);

	c->is_outdated = false;
	if (st == RT_OK)
		st = rt_project_disc(now, at.disc, &disc, err);
	if (st != RT_OK)
		return st;
	take = rt_disc_take(disc, at.take != 0 ? at.take : disc->active);
	if (at.disc == c->at.disc && take->number == c->at.take) {
		if (take->slots != c->take->slots)
			st = rt_seq_differ(take->slots, c->take->slots, 0, &differ, err);
		if (st != RT_OK || (rt_seq_count(take->slots) == count && differ >= count))
			return st;
	}
	c->is_outdated = true;
	return rt_fail(err, RT_CONFLICT, "the list was changed by somebody else meanwhile");
}

/* There is nothing to do, but the conditions of the headers still count. extra: members. */
static void
answer_unchanged(context *c, rt_str extra)
{
	struct rt_idempotency *idem;

	if (!rt_call_begin(c->call, c->disc_name, c->take_name, &idem))
		return;
	rt_json_open(c->body, NULL, '{');
	rt_json_put_u64(c->body, "seq", c->value->seq);
	rt_json_put_bool(c->body, "unchanged", true);
	rt_buf_add_str(c->body, extra);
	rt_json_close(c->body, '}');
	set_etag(c);
	rt_call_done(c->call, 200);
	rt_call_keep(c->call, idem);
}

static void
add_counts(rt_buf *extra, const rt_replace_list_counts *counts)
{
	rt_buf_add_byte(extra, ',');
	rt_json_put_c(extra, "status", "updated");
	rt_json_open(extra, "changed", '{');
	rt_json_put_u64(extra, "added", counts->added);
	rt_json_put_u64(extra, "edited", counts->edited);
	rt_json_put_u64(extra, "deleted", counts->deleted);
	rt_json_put_u64(extra, "moved", counts->moved);
	rt_json_put_u64(extra, "shown", counts->shown);
	rt_json_close(extra, '}');
	if (counts->added + counts->edited + counts->deleted + counts->moved > 0) {
		rt_json_open(extra, "undo", '{');
		rt_json_put_c(extra, "method", "POST");
		rt_json_put_c(extra, "path", RT_API_ROOT "/undo");
		rt_json_close(extra, '}');
	}
}

/* True: answered; false: the list changed meanwhile. */
static bool
try_replace(rt_call *call, yyjson_val *wanted)
{
	context c;
	rt_scope *s = &c.scope;

	begin(&c, call);
	locate(&c);
	yyjson_val *entries = load_entries(&c);
	rt_buf *extra = rt_scope_buf(s);
	rt_replace_plan plan = rt_replace_list_plan(s, entries, wanted, is_used,
						    (void *)(uintptr_t)c.value);
	add_counts(extra, &plan.counts);
	rt_call_change change = {.requests = plan.requests,
				 .count = plan.count,
				 .is_atomic = true,
				 .is_one = true,
				 .disc = c.disc_name,
				 .take = c.take_name,
				 .extra = rt_scope_str(s, extra),
				 .check = check_unchanged,
				 .check_ctx = &c};
	if (rt_ok(s) && plan.count == 0)
		answer_unchanged(&c, change.extra);
	else if (rt_ok(s))
		rt_call_change_do(call, &change);
	end(&c);
	return !c.is_outdated;
}

static void
replace(rt_call *call, yyjson_val *wanted)
{
	rt_web_answer *answer = call->answer;

	for (unsigned attempt = 1; !try_replace(call, wanted) && attempt < ATTEMPTS; attempt++) {
		rt_buf_clear(&answer->body);
		rt_buf_clear(&call->notes);
		answer->status = 0;
		answer->type = NULL;
		answer->header_count = 0;
	}
}

/* ---- changes ---- */

/* Carry out requests as one step. The answer has key and name as a member. */
static void
apply(context *c, const rt_request *requests, size_t count, const char *key, const char *name)
{
	rt_call_change change = {
		.requests = requests, .count = count, .is_atomic = true, .is_one = true};
	rt_scope *s = &c->scope;
	rt_buf *extra = rt_scope_buf(s);

	rt_buf_add_byte(extra, ',');
	rt_json_put_c(extra, "status", "updated");
	rt_json_put_c(extra, key, name);
	change.extra = rt_scope_str(s, extra);
	if (!rt_ok(s) || !rt_call_text(c->call, "discussion", &change.disc) ||
	    !rt_call_text(c->call, "take", &change.take))
		return;
	if (count > 0) {
		rt_call_change_do(c->call, &change);
		return;
	}
	if (c->take == NULL)
		locate(c);
	if (rt_ok(s))
		answer_unchanged(c, change.extra);
}

static rt_request
field_request(context *c, const field *f, yyjson_val *value)
{
	const char *error = f->source == FROM_SETTINGS ? setting_error(c, f->key, value) : NULL;
	rt_request r = {.op = f->op};
	rt_str key = rt_str_of(f->key);

	if (error != NULL)
		rt_scope_fail(&c->scope, RT_USAGE, "\"%s\" is %s", f->name, error);
	if (f->op == RT_OP_SETTING_SET)
		r.key = key;
	else if (f->op == RT_OP_FILES_SET)
		r.which = key;
	if (f->source == FROM_VIEW && yyjson_is_null(value))
		value = rt_json_parse(&c->scope, rt_str_of(f->absent));
	if (rt_ok(&c->scope))
		rt_request_set(&c->scope, &r, f->member, value);
	return r;
}

/* From the first difference on, the old roles are removed and the new ones added. */
static void
set_roles(context *c, const field *f, yyjson_val *value, const char *key, const char *name)
{
	bool is_list = yyjson_is_arr(value);
	size_t same = 0, count = 0, i, max;
	rt_request *requests;
	yyjson_val *roles, *role;

	yyjson_arr_foreach(value, i, max, role)
		is_list &= yyjson_is_str(role) && rt_str_trim(rt_json_str(role)).size > 0;
	if (!is_list) {
		rt_scope_fail(&c->scope, RT_USAGE, "\"%s\" is an array of strings", f->name);
		return;
	}
	load_fields(c);
	roles = rt_json_get(c->settings, f->key);
	requests = rt_scope_array(&c->scope, yyjson_arr_size(roles) + yyjson_arr_size(value) + 1,
				  sizeof(*requests));
	if (requests == NULL)
		return;
	while (same < yyjson_arr_size(roles) && same < yyjson_arr_size(value) &&
	       rt_str_eq(rt_json_str(yyjson_arr_get(roles, same)),
			 rt_json_str(yyjson_arr_get(value, same))))
		same++;
	for (i = same; i < yyjson_arr_size(roles); i++)
		requests[count++] = (rt_request){.op = RT_OP_ROLE_REMOVE,
						 .role = rt_json_str(yyjson_arr_get(roles, i))};
	for (i = same; i < yyjson_arr_size(value); i++)
		requests[count++] = (rt_request){.op = RT_OP_ROLE_ADD,
						 .role = rt_json_str(yyjson_arr_get(value, i))};
	apply(c, requests, count, key, name);
}

static void
set_field(rt_call *call, const field *f, yyjson_val *value, const char *key, const char *name)
{
	context c;

	if (f->source == FROM_ENTRIES) {
		replace(call, value);
		return;
	}
	begin(&c, call);
	if (rt_str_is(rt_str_of(f->name), "disc_roles")) {
		set_roles(&c, f, value, key, name);
	} else if (f->op != READ_ONLY) {
		rt_request request = field_request(&c, f, value);

		apply(&c, &request, 1, key, name);
	} else {
		rt_scope_fail(&c.scope, RT_REFUSED, "\"%s\" can be read only", f->name);
	}
	end(&c);
}

/* ---- callbacks ---- */

typedef struct callback {
	const char *name;
	size_t args;
	const char *takes;  /* its arguments, in words; NULL: none */
	rt_op_id op;        /* {op, name: first argument}; or NONE */
	const char *field;  /* set to the first argument; or NULL */
	const char *does;
	const char *why_not; /* it has no meaning here; or NULL */
} callback;

#define NONE RT_OP_COUNT

#define PRESET(name, op, does) {name, 1, "a name", op, NULL, does, NULL}
#define SETS(name, takes, field, does) {name, 1, takes, NONE, field, does, NULL}

static const callback callbacks[] = {
	PRESET("save_context_preset", RT_OP_PRESET_SAVE,
	       "keeps files, screenshots and prompts under a name"),
	PRESET("load_context_preset", RT_OP_PRESET_LOAD, "brings back what a preset kept"),
	PRESET("delete_context_preset", RT_OP_PRESET_DELETE, "forgets a preset"),
	SETS("set_ui_file_paths", "a list of paths", "files", "sets the files"),
	SETS("set_ui_screenshot_paths", "a list of paths", "screenshots", "sets the screenshots"),
	SETS("set_context_files_for_test", "a list of files", "context_files",
	     "sets the context files"),
	SETS("set_screenshots_for_test", "a list of paths", "screenshots", "sets the screenshots"),
	{"_toggle_command_palette", 0, NULL, NONE, NULL, NULL,
	 "the server has no screen of its own; each web page has its own palette"},
	{"get_app_debug_info", 0, NULL, NONE, NULL,
	 "says what the server works on; changes nothing", NULL},
	PRESET("save_context_preset_force", RT_OP_PRESET_SAVE,
	       "as save_context_preset, which asks nobody either"),
	{"set_ui_attr", 2, "a field's name and its value", NONE, NULL,
	 "sets a field, as PUT /api/state/{field}", NULL},
	SETS("set_context_files", "a list of files", "context_files", "sets the context files"),
	PRESET("simulate_save_preset", RT_OP_PRESET_SAVE,
	       "as save_context_preset: there is no dialogue to go through"),
};

enum { CALLBACK_COUNT = sizeof(callbacks) / sizeof(callbacks[0]) };

static void
answer_debug_info(rt_call *call)
{
	context c;

	begin(&c, call);
	locate(&c);
	rt_json_open(c.body, NULL, '{');
	rt_json_put_c(c.body, "status", "ok");
	rt_json_open(c.body, "result", '{');
	rt_json_put_str(c.body, "project", rt_text_str(call->open_project->name));
	rt_json_put_u64(c.body, "entries", rt_ok(&c.scope) ? rt_seq_count(c.take->slots) : 0);
	add_state(&c, c.body);
	rt_json_close(c.body, '}');
	rt_json_close(c.body, '}');
	end(&c);
}

static void
run_callback(rt_call *call, const callback *cb, yyjson_val *args)
{
	yyjson_val *first = yyjson_arr_get(args, 0);
	const field *f;
	context c;

	if (cb->op != NONE) {
		rt_request request = {.op = cb->op};

		begin(&c, call);
		rt_request_set(&c.scope, &request, "name", first);
		apply(&c, &request, 1, "callback", cb->name);
		end(&c);
	} else if (cb->args == 0) {
		answer_debug_info(call);
	} else {
		f = find_field(call, cb->field != NULL ? rt_str_of(cb->field) : rt_json_str(first));
		if (f != NULL)
			set_field(call, f, yyjson_arr_get(args, cb->args - 1), "callback",
				  cb->name);
	}
}

/* ---- routes ---- */

static void
get_session(rt_call *call)
{
	context c;
	rt_scope *s = &c.scope;

	begin(&c, call);
	locate(&c);
	rt_buf_add_c(c.body, "{\"session\":");
	RT_TRY(s, rt_view_show(c.engine, c.value, c.at, NULL, c.body, &s->error));
	rt_json_close(c.body, '}');
	if (rt_ok(s))
		set_etag(&c);
	end(&c);
}

/* [...], {"session":[…]}, {"session":{"entries":[…]}} or {"entries":[…]} */
static void
set_session(rt_call *call)
{
	yyjson_val *root, *list;
	context c;

	begin(&c, call);
	root = rt_json_parse(&c.scope, call->request->body);
	if (c.scope.status == RT_LIMIT)
		c.scope.status = RT_USAGE;
	list = yyjson_is_arr(root) ? root : rt_json_get(root, "session");
	if (list == NULL)
		list = root;
	if (!yyjson_is_arr(list))
		list = rt_json_get(list, "entries");
	if (yyjson_is_arr(list))
		replace(call, list);
	else
		rt_scope_fail(&c.scope, RT_USAGE, "the body is {\"session\":{\"entries\":[…]}}");
	end(&c);
}

/* One field, or all of them. */
static void
get_state(rt_call *call)
{
	bool is_one = rt_route_param_name(call->route->path, 0).size > 0;
	const field *f = is_one ? find_field(call, rt_call_param(call, "field")) : NULL;
	context c;

	if (is_one && f == NULL)
		return;
	begin(&c, call);
	load_fields(&c);
	rt_json_open(c.body, NULL, '{');
	if (f != NULL) {
		rt_json_put_c(c.body, "field", f->name);
		add_field(&c, f, "value");
	}
	for (size_t i = 0; f == NULL && i < FIELD_COUNT; i++)
		add_field(&c, &fields[i], fields[i].name);
	rt_json_close(c.body, '}');
	end(&c);
}

static void
set_state(rt_call *call)
{
	const field *f = find_field(call, rt_call_param(call, "field"));
	rt_json_doc *doc;
	yyjson_val *root;

	if (f == NULL || !rt_call_body(call, false, &doc, &root))
		return;
	if (rt_json_get(root, "value") == NULL)
		(void)rt_call_refuse(call, "the body is {\"value\":…}");
	else
		set_field(call, f, rt_json_get(root, "value"), "field", f->name);
	rt_json_free(doc);
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
		rt_json_put_c(body, cb->why_not != NULL ? "has_none" : "does",
			      cb->why_not != NULL ? cb->why_not : cb->does);
		rt_json_close(body, '}');
	}
	rt_json_close(body, ']');
	rt_json_close(body, '}');
	rt_call_done(call, 200);
}

static void
call_callback(rt_call *call)
{
	rt_str name = rt_call_param(call, "name");
	const callback *cb = callbacks;
	yyjson_val *root, *args;
	rt_json_doc *doc;

	while (cb < callbacks + CALLBACK_COUNT && !rt_str_is(name, cb->name))
		cb++;
	if (cb == callbacks + CALLBACK_COUNT) {
		fail_unknown(call, "callback", name, "GET /api/callbacks lists them");
		return;
	}
	if (cb->why_not != NULL) {
		rt_problem_http(call->answer, 501, "no-meaning",
				"This callback has no meaning here", cb->why_not);
		return;
	}
	if (!rt_call_body(call, true, &doc, &root))
		return;
	args = rt_json_get(root, "args");
	if (args != NULL && !yyjson_is_arr(args)) {
		(void)rt_call_refuse(call, "\"args\" is an array");
	} else if (yyjson_arr_size(args) != cb->args) {
		rt_error err;

		(void)rt_fail(&err, RT_USAGE, "%s takes %s: {\"args\":[…]}", cb->name,
			      cb->takes != NULL ? cb->takes : "nothing");
		rt_call_fail(call, &err, NULL);
	} else {
		run_callback(call, cb, args);
	}
	rt_json_free(doc);
}

static void
reset(rt_call *call)
{
	rt_request request = {.op = RT_OP_PROJECT_RESET};
	rt_call_change change = {.requests = &request,
				 .count = 1,
				 .extra = RT_STR(",\"status\":\"updated\"")};

	rt_call_change_do(call, &change);
}

static void
get_history(rt_call *call)
{
	uint64_t before, limit;
	context c;
	rt_scope *s = &c.scope;

	if (!rt_call_number(call, "before", 0, &before) ||
	    !rt_call_number(call, "limit", 100, &limit))
		return;
	begin(&c, call);
	locate(&c);
	rt_buf_add_c(c.body, "{\"history\":");
	RT_TRY(s, rt_view_history(c.engine, c.value, c.at.disc, before, (size_t)limit, c.body,
				  &s->error));
	if (rt_ok(s))
		add_history(&c, c.body);
	rt_json_close(c.body, '}');
	end(&c);
}

static void
get_status(rt_call *call)
{
	context c;

	begin(&c, call);
	rt_json_open(c.body, NULL, '{');
	rt_json_put_c(c.body, "status", "ok");
	add_status(&c, c.body);
	rt_json_close(c.body, '}');
	end(&c);
}

#define WHERE                                                                                   \
	{"discussion", "string", "name or id; default: the active one"},                        \
		{"take", "string", "name or id; default: the active one"}
#define END {NULL, NULL, NULL}
#define CHANGES (RT_ROUTE_ROOT | RT_ROUTE_CHANGES)

static const rt_route_param q_where[] = {WHERE, END};
static const rt_route_param q_history[] = {
	WHERE,
	{"before", "integer", "only steps below this number"},
	{"limit", "integer", "so many steps; default 100"},
	END};
static const rt_route_param b_value[] = {{"value", "any", "the new value; null: the default"}, END};
static const rt_route_param b_args[] = {{"args", "array", "what the callback takes"}, END};
static const rt_route_param b_session[] = {
	{"session", "object", "{\"entries\":[…]}, or the list itself"}, END};

const rt_route rt_hook_routes[] = {
	{RT_WEB_GET, "/api/session", "hook.session", "the entries of the active take", get_session,
	 -1, RT_ROUTE_ROOT, "hook_session", q_where, NULL},
	{RT_WEB_POST, "/api/session", "hook.session.set", "replace the whole list, as one step",
	 set_session, -1, CHANGES | RT_ROUTE_LARGE, "hook_updated", q_where, b_session},
	{RT_WEB_GET, "/api/state", "hook.states", "all readable fields", get_state, -1,
	 RT_ROUTE_ROOT, "hook_state", q_where, NULL},
	{RT_WEB_GET, "/api/state/{field}", "hook.state", "one readable field", get_state, -1,
	 RT_ROUTE_ROOT, "hook_field", q_where, NULL},
	{RT_WEB_PUT, "/api/state/{field}", "hook.state.set", "set a field, as one step", set_state,
	 -1, CHANGES, "hook_updated", q_where, b_value},
	{RT_WEB_POST, "/api/state/{field}", "hook.state.post", "the same", set_state, -1, CHANGES,
	 "hook_updated", q_where, b_value},
	{RT_WEB_GET, "/api/callbacks", "hook.callbacks", "the named callbacks", get_callbacks, -1,
	 RT_ROUTE_ROOT | RT_ROUTE_QUICK, "hook_callbacks", NULL, NULL},
	{RT_WEB_POST, "/api/callbacks/{name}", "hook.callback", "call one", call_callback, -1,
	 CHANGES, "hook_updated", q_where, b_args},
	{RT_WEB_POST, "/api/reset", "hook.reset", "start afresh; one undo brings everything back",
	 reset, -1, CHANGES, "hook_updated", NULL, NULL},
	{RT_WEB_GET, "/api/history", "hook.history", "the steps, newest first", get_history, -1,
	 RT_ROUTE_ROOT, "hook_history", q_history, NULL},
	{RT_WEB_GET, "/status", "hook.status", "is somebody there, and does a model work",
	 get_status, -1, RT_ROUTE_ROOT, "hook_status", NULL, NULL},
	{RT_WEB_OTHER, NULL, NULL, NULL, NULL, -1, 0, NULL, NULL, NULL},
};
