/* SPDX-License-Identifier: MIT
 *
 * Everything here is said in terms of what there is already: lists become operations
 * (replace.h), fields are settings and places, callbacks are operations by another name. */
#include "server/hook_api.h"

#include "core/setting.h"
#include "server/call.h"
#include "server/replace_list.h"
#include "server/run_json.h"
#include "server/etag.h"

#define UNDO ",\"undo\":{\"method\":\"POST\",\"path\":\"" RT_API_ROOT "/undo\"}"
#define WHERE                                                                                     \
	{"discussion", "string", "name or id; default: the active one"},                          \
		{"take", "string", "name or id; default: the active one"}
#define END {NULL, NULL, NULL}

enum { TRIES = 8 }; /* to replace a list that others keep changing */

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

#define CHANGES (RT_ROUTE_ROOT | RT_ROUTE_CHANGES)

const rt_route rt_hook_routes[] = {
	{RT_WEB_GET, "/api/session", "hook.session", "the entries of the active take",
	 rt_hook_api_session, -1, RT_ROUTE_ROOT, "hook_session", q_where, NULL},
	{RT_WEB_POST, "/api/session", "hook.session.set", "replace the whole list, as one step",
	 rt_hook_api_session_set, -1, CHANGES | RT_ROUTE_LARGE, "hook_updated", q_where, b_session},
	{RT_WEB_GET, "/api/state", "hook.states", "all readable fields", rt_hook_api_states, -1,
	 RT_ROUTE_ROOT, "hook_state", q_where, NULL},
	{RT_WEB_GET, "/api/state/{field}", "hook.state", "one readable field", rt_hook_api_state,
	 -1, RT_ROUTE_ROOT, "hook_field", q_where, NULL},
	{RT_WEB_PUT, "/api/state/{field}", "hook.state.set", "set a field, as one step",
	 rt_hook_api_state_set, -1, CHANGES, "hook_updated", q_where, b_value},
	{RT_WEB_POST, "/api/state/{field}", "hook.state.post", "the same", rt_hook_api_state_set,
	 -1, CHANGES, "hook_updated", q_where, b_value},
	{RT_WEB_GET, "/api/callbacks", "hook.callbacks", "the named callbacks",
	 rt_hook_api_callbacks, -1, RT_ROUTE_ROOT | RT_ROUTE_QUICK, "hook_callbacks", NULL, NULL},
	{RT_WEB_POST, "/api/callbacks/{name}", "hook.callback", "call one", rt_hook_api_callback,
	 -1, CHANGES, "hook_updated", q_where, b_args},
	{RT_WEB_POST, "/api/reset", "hook.reset", "start afresh; one undo brings everything back",
	 rt_hook_api_reset, -1, CHANGES, "hook_updated", NULL, NULL},
	{RT_WEB_GET, "/api/history", "hook.history", "the steps, newest first", rt_hook_api_history,
	 -1, RT_ROUTE_ROOT, "hook_history", q_history, NULL},
	{RT_WEB_GET, "/status", "hook.status", "is somebody there, and does a model work",
	 rt_hook_api_status, -1, RT_ROUTE_ROOT, "hook_status", NULL, NULL},
	{RT_WEB_OTHER, NULL, NULL, NULL, NULL, -1, 0, NULL, NULL, NULL},
};

/* ---- shared ---- */

static void
fail(rt_call *call, const rt_error *err)
{
	rt_call_fail(call, err, NULL);
}

static void
refuse(rt_call *call, rt_status status, const char *words)
{
	rt_error err;

	memset(&err, 0, sizeof(err));
	(void)rt_fail(&err, status, "%s", words);
	fail(call, &err);
}

/* What a request is about. */
typedef struct place {
	const rt_project *value; /* unref */
	const rt_disc *disc;
	const rt_take *take;
	rt_place at;
	rt_str disc_name, take_name; /* as they were given */
} place;

static bool
place_of(rt_call *call, place *out)
{
	rt_error err;

	memset(out, 0, sizeof(*out));
	memset(&err, 0, sizeof(err));
	if (!rt_call_text(call, "discussion", &out->disc_name) ||
	    !rt_call_text(call, "take", &out->take_name) || !rt_call_value(call, &out->value))
		return false;
	if (!rt_call_place(call, out->value, out->disc_name, &out->at)) {
		rt_object_unref(out->value);
		return false;
	}
	if (rt_project_disc(out->value, out->at.disc, &out->disc, &err) != RT_OK) {
		fail(call, &err);
		rt_object_unref(out->value);
		return false;
	}
	out->take = rt_disc_take(out->disc, out->at.take);
	return true;
}

static void
set_etag(rt_call *call, const place *where)
{
	char etag[RT_ETAG_ROOM];

	rt_etag_disc(rt_engine_epoch(call->open_project->engine), where->value, where->disc, etag);
	rt_call_etag(call, etag);
}

/* Answered with what st says, or with the body. */
static void
finish(rt_call *call, rt_status st, const rt_error *err)
{
	if (st != RT_OK) {
		rt_buf_clear(&call->answer->body);
		fail(call, err);
		return;
	}
	rt_call_done(call, 200);
}

/* ---- the list ---- */

void
rt_hook_api_session(rt_call *call)
{
	rt_buf *body = &call->answer->body;
	place where;
	rt_error err;
	rt_status st;

	memset(&err, 0, sizeof(err));
	if (!place_of(call, &where))
		return;
	rt_buf_add_c(body, "{\"session\":");
	st = rt_view_show(call->open_project->engine, where.value, where.at, NULL, body, &err);
	rt_buf_add_byte(body, '}');
	if (st == RT_OK)
		set_etag(call, &where);
	finish(call, st, &err);
	rt_object_unref(where.value);
}

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

/* The list as it was when operations were made of it. */
typedef struct watched {
	const place *where;
	bool is_over; /* it has changed since */
} watched;

/* rt_apply_check_fn */
static rt_status
is_as_seen(void *ctx, const rt_project *now, rt_error *err)
{
	watched *s = ctx;
	const rt_disc *disc;
	const rt_take *take;
	rt_place at = {0, 0};
	size_t differ = 0;
	rt_status st = rt_resolve_place(now, s->where->disc_name, s->where->take_name, &at, err);

	s->is_over = false;
	if (st == RT_OK)
		st = rt_project_disc(now, at.disc, &disc, err);
	if (st != RT_OK)
		return st;
	take = rt_disc_take(disc, at.take != 0 ? at.take : disc->active);
	if (at.disc == s->where->at.disc && take->number == s->where->at.take) {
		if (take->slots == s->where->take->slots)
			return RT_OK;
		st = rt_seq_differ(take->slots, s->where->take->slots, 0, &differ, err);
		if (st != RT_OK)
			return st;
		if (rt_seq_count(take->slots) == rt_seq_count(s->where->take->slots) &&
		    differ >= rt_seq_count(take->slots))
			return RT_OK;
	}
	s->is_over = true;
	return rt_fail(err, RT_CONFLICT, "the list was changed by somebody else meanwhile");
}

static void
add_counts(rt_buf *buf, const rt_replace_list_counts *counts)
{
	rt_buf_add_f(buf,
		     ",\"status\":\"updated\",\"changed\":{\"added\":%zu,\"edited\":%zu,"
		     "\"deleted\":%zu,\"moved\":%zu,\"shown\":%zu}",
		     counts->added, counts->edited, counts->deleted, counts->moved, counts->shown);
}

/* Nothing is to be done: the conditions count all the same. */
static void
answer_unchanged(rt_call *call, const place *where, rt_str extra)
{
	struct rt_idempotency *idem;

	if (!rt_call_begin(call, where->disc_name, where->take_name, &idem))
		return;
	rt_buf_add_f(&call->answer->body, "{\"seq\":%llu,\"unchanged\":true",
		     (unsigned long long)where->value->seq);
	rt_buf_add_str(&call->answer->body, extra);
	rt_buf_add_byte(&call->answer->body, '}');
	set_etag(call, where);
	rt_call_done(call, 200);
	rt_call_keep(call, idem);
}

/* One try. true: answered; false: others were faster. */
static bool
replace_once(rt_call *call, yyjson_val *wanted)
{
	const rt_alloc *alloc = call->request->alloc;
	rt_json_doc *now = NULL;
	rt_replace_list_counts counts;
	rt_buf shown, ops, extra;
	rt_error err;
	place where;
	watched seen = {&where, false};
	rt_status st;

	memset(&err, 0, sizeof(err));
	if (!place_of(call, &where))
		return true;
	rt_buf_init(&shown, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&ops, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&extra, alloc, RT_BUF_UNLIMITED);
	st = rt_view_show(call->open_project->engine, where.value, where.at, NULL, &shown, &err);
	if (st == RT_OK)
		st = rt_json_read(alloc, rt_buf_str(&shown), &now, &err);
	if (st == RT_OK)
		st = rt_replace_list_plan(alloc, rt_json_get(rt_json_root(now), "entries"), wanted,
					  is_used, (void *)where.value, &ops, &counts, &err);
	if (st == RT_OK) {
		add_counts(&extra, &counts);
		if (ops.size > 2 &&
		    counts.added + counts.edited + counts.deleted + counts.moved > 0)
			rt_buf_add_c(&extra, UNDO);
		if (extra.status != RT_OK)
			st = rt_fail(&err, RT_NOMEM, "out of memory");
	}
	if (st != RT_OK) {
		fail(call, &err);
	} else if (ops.size == 2) {
		answer_unchanged(call, &where, rt_buf_str(&extra));
	} else {
		rt_call_change change = {.requests = rt_buf_str(&ops),
					 .is_atomic = true,
					 .is_one = true,
					 .disc = where.disc_name,
					 .take = where.take_name,
					 .extra = rt_buf_str(&extra),
					 .check = is_as_seen,
					 .check_ctx = &seen};

		rt_call_change_do(call, &change);
	}
	rt_json_free(now);
	rt_buf_deinit(&shown);
	rt_buf_deinit(&ops);
	rt_buf_deinit(&extra);
	rt_object_unref(where.value);
	return !seen.is_over;
}

static void
replace_all(rt_call *call, yyjson_val *wanted)
{
	rt_web_answer *answer = call->answer;
	unsigned tries;

	for (tries = 1; !replace_once(call, wanted) && tries < TRIES; tries++) {
		rt_buf_clear(&answer->body);
		rt_buf_clear(&call->notes);
		answer->status = 0;
		answer->type = NULL;
		answer->header_count = 0;
	}
}

/* [...], {"session":[…]}, {"session":{"entries":[…]}}, {"entries":[…]} */
static yyjson_val *
list_of(yyjson_val *root)
{
	yyjson_val *session = yyjson_is_arr(root) ? root : rt_json_get(root, "session");

	if (session == NULL)
		session = root;
	return yyjson_is_arr(session) ? session : rt_json_get(session, "entries");
}

void
rt_hook_api_session_set(rt_call *call)
{
	rt_json_doc *doc = NULL;
	yyjson_val *list;
	rt_error err;

	memset(&err, 0, sizeof(err));
	if (rt_json_read(call->request->alloc, call->request->body, &doc, &err) != RT_OK) {
		if (err.status == RT_LIMIT)
			err.status = RT_USAGE;
		fail(call, &err);
		return;
	}
	list = list_of(rt_json_root(doc));
	if (yyjson_is_arr(list))
		replace_all(call, list);
	else
		refuse(call, RT_USAGE, "the body is {\"session\":{\"entries\":[…]}}");
	rt_json_free(doc);
}

/* ---- fields ---- */

typedef enum field_kind {
	FIELD_SETTING,
	FIELD_FILES,
	FIELD_ENTRIES,
	FIELD_STATUS,
	FIELD_DISCUSSION,
	FIELD_TAKE,
	FIELD_ROLES,
	FIELD_DISCUSSIONS,
	FIELD_TAKES,
	FIELD_CAN_UNDO,
	FIELD_CAN_REDO,
	FIELD_PROMPT,
	FIELD_EDITED,
	FIELD_TRACK,
	FIELD_PRESETS,
	FIELD_SEQ
} field_kind;

typedef struct field {
	const char *name;
	field_kind kind;
	const char *key;    /* of the setting or the list */
	const char *absent; /* the default, as JSON */
} field;

static const field fields[] = {
	{"ai_input", FIELD_SETTING, "draft", "\"\""},
	{"project_system_prompt", FIELD_SETTING, "project_system_prompt", "\"\""},
	{"global_system_prompt", FIELD_SETTING, "global_system_prompt", "\"\""},
	{"base_system_prompt", FIELD_SETTING, "base_system_prompt", "\"\""},
	{"use_default_base_prompt", FIELD_SETTING, "use_default_base_prompt", "true"},
	{"temperature", FIELD_SETTING, "temperature", "0"},
	{"top_p", FIELD_SETTING, "top_p", "1"},
	{"max_tokens", FIELD_SETTING, "max_tokens", "8192"},
	{"auto_add_history", FIELD_SETTING, "auto_add_history", "false"},
	{"disc_entries", FIELD_ENTRIES, NULL, NULL},
	{"files", FIELD_FILES, "files", "[]"},
	{"context_files", FIELD_FILES, "context_files", "[]"},
	{"screenshots", FIELD_FILES, "screenshots", "[]"},
	{"ai_status", FIELD_STATUS, NULL, NULL},
	{"active_discussion", FIELD_DISCUSSION, NULL, NULL},
	{"active_take", FIELD_TAKE, NULL, NULL},
	{"disc_roles", FIELD_ROLES, NULL, NULL},
	{"discussion_names", FIELD_DISCUSSIONS, NULL, NULL},
	{"take_names", FIELD_TAKES, NULL, NULL},
	{"can_undo", FIELD_CAN_UNDO, NULL, NULL},
	{"can_redo", FIELD_CAN_REDO, NULL, NULL},
	{"current_model", FIELD_SETTING, "model", "null"},
	{"edit_notices", FIELD_SETTING, "edit_notices", "\"prompt\""},
	{"current_prompt", FIELD_PROMPT, NULL, NULL},
	{"prompt_edited", FIELD_EDITED, NULL, NULL},
	{"active_track", FIELD_TRACK, "track", "null"},
	{"context_presets", FIELD_PRESETS, "presets", "{}"},
	{"seq", FIELD_SEQ, NULL, NULL},
};

enum { FIELD_COUNT = sizeof(fields) / sizeof(fields[0]) };

/* "ui_" in front is how Manual Slop calls them inside. */
static const field *
field_named(rt_str name)
{
	size_t i;

	if (rt_str_starts(name, RT_STR("ui_")))
		name = rt_str_at(name.ptr + 3, name.size - 3);
	for (i = 0; i < FIELD_COUNT; i++)
		if (rt_str_is(name, fields[i].name))
			return &fields[i];
	return NULL;
}

static void
no_field(rt_call *call, rt_str name)
{
	rt_error err;

	memset(&err, 0, sizeof(err));
	(void)rt_fail(&err, RT_NOT_FOUND, "no field \"%.*s\"", (int)rt_utf8_cut(name, 80),
		      name.ptr);
	rt_call_fail(call, &err, "GET /api/state has them all");
}

static rt_status
add_status(rt_call *call, rt_buf *buf, rt_error *err)
{
	rt_runs *runs = call->open_project->runs;

	(void)err;
	rt_json_put_c(buf, NULL, runs != NULL && rt_runs_any_running(runs) ? "running" : "idle");
	return RT_OK;
}

static void
add_bool(rt_buf *buf, bool value)
{
	rt_buf_add_c(buf, value ? "true" : "false");
}

static void
add_name(rt_buf *buf, rt_str name, bool is_first)
{
	if (!is_first)
		rt_buf_add_byte(buf, ',');
	rt_json_add_string(buf, name);
}

static void
add_discussions(rt_buf *buf, const place *where)
{
	bool is_first = true;
	size_t i;

	rt_buf_add_byte(buf, '[');
	for (i = 1; i <= rt_project_disc_count(where->value); i++) {
		const rt_cell *cell = rt_project_cell(where->value, (uint32_t)i);

		if (!cell->present)
			continue;
		add_name(buf, rt_cell_name(cell), is_first);
		is_first = false;
	}
	rt_buf_add_byte(buf, ']');
}

static void
add_takes(rt_buf *buf, const place *where)
{
	bool is_first = true;
	size_t i;

	rt_buf_add_byte(buf, '[');
	for (i = 1; i <= rt_disc_take_count(where->disc); i++) {
		const rt_take *take = rt_disc_take(where->disc, (uint32_t)i);

		if (!take->present)
			continue;
		add_name(buf, rt_text_str(take->name), is_first);
		is_first = false;
	}
	rt_buf_add_byte(buf, ']');
}

static rt_status
add_entries(rt_call *call, const place *where, rt_buf *buf, rt_error *err)
{
	rt_json_doc *doc = NULL;
	rt_buf shown;
	rt_status st;

	rt_buf_init(&shown, call->request->alloc, RT_BUF_UNLIMITED);
	st = rt_view_show(call->open_project->engine, where->value, where->at, NULL, &shown, err);
	if (st == RT_OK)
		st = rt_json_read(call->request->alloc, rt_buf_str(&shown), &doc, err);
	if (st == RT_OK)
		rt_json_add_value(buf, rt_json_get(rt_json_root(doc), "entries"));
	rt_json_free(doc);
	rt_buf_deinit(&shown);
	return st;
}

/* The value of a setting, unless it is not of its type. */
static yyjson_val *
setting_of(rt_call *call, yyjson_val *settings, const char *key)
{
	const rt_setting *setting = rt_setting_named(rt_str_of(key));
	yyjson_val *v = rt_json_get(rt_json_get(settings, "settings"), key);
	rt_buf text;
	bool fits;

	if (v == NULL || yyjson_is_null(v) || setting == NULL)
		return v != NULL && !yyjson_is_null(v) ? v : NULL;
	rt_buf_init(&text, call->request->alloc, RT_BUF_UNLIMITED);
	rt_json_add_value(&text, v);
	fits = text.status == RT_OK && rt_setting_wants(setting, rt_buf_str(&text)) == NULL;
	rt_buf_deinit(&text);
	return fits ? v : NULL;
}

static void
add_or(rt_buf *buf, yyjson_val *v, const char *absent)
{
	if (v != NULL)
		rt_json_add_value(buf, v);
	else
		rt_buf_add_c(buf, absent);
}

/* settings: as rt_view_settings. */
static rt_status
add_field(rt_call *call, const place *where, yyjson_val *settings, const field *f, rt_buf *buf,
	  rt_error *err)
{
	const rt_history *disc = &where->disc->history, *project = &where->value->history;

	switch (f->kind) {
	case FIELD_SETTING:
		add_or(buf, setting_of(call, settings, f->key), f->absent);
		return RT_OK;
	case FIELD_FILES:
	case FIELD_TRACK:
	case FIELD_PRESETS: add_or(buf, rt_json_get(settings, f->key), f->absent); return RT_OK;
	case FIELD_ENTRIES: return add_entries(call, where, buf, err);
	case FIELD_STATUS: return add_status(call, buf, err);
	case FIELD_DISCUSSION:
		add_name(buf, rt_cell_name(rt_project_cell(where->value, where->at.disc)), true);
		return RT_OK;
	case FIELD_TAKE: add_name(buf, rt_text_str(where->take->name), true); return RT_OK;
	case FIELD_ROLES: add_or(buf, rt_json_get(settings, "roles"), "[]"); return RT_OK;
	case FIELD_DISCUSSIONS: add_discussions(buf, where); return RT_OK;
	case FIELD_TAKES: add_takes(buf, where); return RT_OK;
	case FIELD_CAN_UNDO:
		add_bool(buf, disc->current != 0 || project->current != 0);
		return RT_OK;
	case FIELD_CAN_REDO:
		add_bool(buf, disc->redo_row != 0 || project->redo_row != 0);
		return RT_OK;
	case FIELD_PROMPT:
		add_or(buf, rt_json_get(rt_json_get(settings, "prompt"), "text"), "\"\"");
		return RT_OK;
	case FIELD_EDITED:
		add_or(buf, rt_json_get(rt_json_get(settings, "prompt"), "edited"), "false");
		return RT_OK;
	case FIELD_SEQ: rt_buf_add_u64(buf, where->value->seq); return RT_OK;
	}
	return RT_OK;
}

static rt_status
read_settings(rt_call *call, const place *where, rt_json_doc **out, rt_error *err)
{
	rt_buf text;
	rt_status st;

	rt_buf_init(&text, call->request->alloc, RT_BUF_UNLIMITED);
	st = rt_view_settings(call->open_project->engine, where->value, where->at.disc, &text, err);
	if (st == RT_OK)
		st = rt_json_read(call->request->alloc, rt_buf_str(&text), out, err);
	rt_buf_deinit(&text);
	return st;
}

void
rt_hook_api_states(rt_call *call)
{
	rt_buf *body = &call->answer->body;
	rt_json_doc *settings = NULL;
	rt_error err;
	place where;
	size_t i;
	rt_status st;

	memset(&err, 0, sizeof(err));
	if (!place_of(call, &where))
		return;
	st = read_settings(call, &where, &settings, &err);
	rt_buf_add_byte(body, '{');
	for (i = 0; st == RT_OK && i < FIELD_COUNT; i++) {
		rt_json_add_key(body, fields[i].name);
		st = add_field(call, &where, rt_json_root(settings), &fields[i], body, &err);
	}
	rt_buf_add_byte(body, '}');
	finish(call, st, &err);
	rt_json_free(settings);
	rt_object_unref(where.value);
}

void
rt_hook_api_state(rt_call *call)
{
	rt_buf *body = &call->answer->body;
	const field *f = field_named(rt_call_param(call, "field"));
	rt_json_doc *settings = NULL;
	rt_error err;
	place where;
	rt_status st;

	memset(&err, 0, sizeof(err));
	if (f == NULL) {
		no_field(call, rt_call_param(call, "field"));
		return;
	}
	if (!place_of(call, &where))
		return;
	st = read_settings(call, &where, &settings, &err);
	if (st == RT_OK) {
		rt_buf_add_f(body, "{\"field\":\"%s\",\"value\":", f->name);
		st = add_field(call, &where, rt_json_root(settings), f, body, &err);
		rt_buf_add_byte(body, '}');
	}
	finish(call, st, &err);
	rt_json_free(settings);
	rt_object_unref(where.value);
}

/* ---- setting fields ---- */

static void
begin(rt_buf *ops, const char *op)
{
	rt_json_add_comma(ops);
	rt_buf_add_f(ops, "{\"op\":\"%s\"", op);
}

static void
add_member(rt_buf *ops, const char *key, yyjson_val *value)
{
	rt_json_add_key(ops, key);
	rt_json_add_value(ops, value);
}

/* The list of roles, from where it differs on. */
static rt_status
set_roles(rt_call *call, yyjson_val *value, rt_buf *ops, rt_error *err)
{
	rt_json_doc *settings = NULL;
	yyjson_val *roles, *role;
	size_t same = 0, i, max;
	place where;
	rt_status st;

	if (!yyjson_is_arr(value))
		return rt_fail(err, RT_USAGE, "\"disc_roles\" is an array of strings");
	yyjson_arr_foreach(
		value, i, max,
		role) if (!yyjson_is_str(role) ||
			  rt_str_trim(rt_json_str(role)).size ==
				  0) return rt_fail(err, RT_USAGE,
						    "\"disc_roles\" is an array of strings");
	if (!place_of(call, &where))
		return RT_INTERRUPTED; /* answered */
	st = read_settings(call, &where, &settings, err);
	roles = st == RT_OK ? rt_json_get(rt_json_root(settings), "roles") : NULL;
	while (same < yyjson_arr_size(roles) && same < yyjson_arr_size(value) &&
	       rt_str_eq(rt_json_str(yyjson_arr_get(roles, same)),
			 rt_json_str(yyjson_arr_get(value, same))))
		same++;
	for (i = same; i < yyjson_arr_size(roles); i++) {
		begin(ops, "role.remove");
		add_member(ops, "role", yyjson_arr_get(roles, i));
		rt_buf_add_byte(ops, '}');
	}
	for (i = same; st == RT_OK && i < yyjson_arr_size(value); i++) {
		begin(ops, "role.add");
		add_member(ops, "role", yyjson_arr_get(value, i));
		rt_buf_add_byte(ops, '}');
	}
	rt_json_free(settings);
	rt_object_unref(where.value);
	return st;
}

/* The requests that set a field. */
static rt_status
set_field(rt_call *call, const field *f, yyjson_val *value, rt_buf *ops, rt_error *err)
{
	const rt_setting *setting;
	const char *wants = NULL;
	rt_buf text;

	switch (f->kind) {
	case FIELD_SETTING:
		setting = rt_setting_named(rt_str_of(f->key));
		rt_buf_init(&text, call->request->alloc, RT_BUF_UNLIMITED);
		rt_json_add_value(&text, value);
		if (text.status == RT_OK && setting != NULL)
			wants = rt_setting_wants(setting, rt_buf_str(&text));
		rt_buf_deinit(&text);
		if (wants != NULL)
			return rt_fail(err, RT_USAGE, "\"%s\" is %s", f->name, wants);
		begin(ops, "setting.set");
		rt_json_add_key(ops, "key");
		rt_json_add_string(ops, rt_str_of(f->key));
		add_member(ops, "value", value);
		break;
	case FIELD_FILES:
		begin(ops, "files.set");
		rt_json_add_key(ops, "which");
		rt_json_add_string(ops, rt_str_of(f->key));
		rt_json_add_key(ops, "items");
		add_or(ops, yyjson_is_null(value) ? NULL : value, "[]");
		break;
	case FIELD_DISCUSSION:
		begin(ops, "discussion.switch");
		add_member(ops, "discussion", value);
		break;
	case FIELD_TAKE:
		begin(ops, "take.switch");
		add_member(ops, "take", value);
		break;
	case FIELD_PROMPT:
		begin(ops, "prompt.update");
		add_member(ops, "text", value);
		break;
	case FIELD_TRACK:
		begin(ops, "track.set");
		add_member(ops, "track", value);
		break;
	case FIELD_ROLES: return set_roles(call, value, ops, err);
	case FIELD_ENTRIES:
	case FIELD_STATUS:
	case FIELD_DISCUSSIONS:
	case FIELD_TAKES:
	case FIELD_CAN_UNDO:
	case FIELD_CAN_REDO:
	case FIELD_EDITED:
	case FIELD_PRESETS:
	case FIELD_SEQ: return rt_fail(err, RT_REFUSED, "\"%s\" can be read only", f->name);
	}
	rt_buf_add_byte(ops, '}');
	return RT_OK;
}

/* Carry out what stands in ops without its last bracket, and say what was updated. */
static void
carry_out(rt_call *call, rt_buf *ops, const char *key, const char *name)
{
	rt_call_change change = {.is_atomic = true, .is_one = true};
	rt_buf extra;

	if (!rt_call_text(call, "discussion", &change.disc) ||
	    !rt_call_text(call, "take", &change.take))
		return;
	rt_buf_init(&extra, call->request->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(ops, ']');
	rt_buf_add_f(&extra, ",\"status\":\"updated\",\"%s\":\"%s\"", key, name);
	if (ops->status != RT_OK || extra.status != RT_OK) {
		refuse(call, RT_NOMEM, "out of memory");
	} else if (ops->size == 2) {
		place where;

		if (place_of(call, &where)) {
			answer_unchanged(call, &where, rt_buf_str(&extra));
			rt_object_unref(where.value);
		}
	} else {
		change.requests = rt_buf_str(ops);
		change.extra = rt_buf_str(&extra);
		rt_call_change_do(call, &change);
	}
	rt_buf_deinit(&extra);
}

static void
set_named(rt_call *call, const field *f, yyjson_val *value, const char *key, const char *name)
{
	rt_error err;
	rt_buf ops;
	rt_status st;

	if (f->kind == FIELD_ENTRIES) {
		replace_all(call, value);
		return;
	}
	memset(&err, 0, sizeof(err));
	rt_buf_init(&ops, call->request->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&ops, '[');
	st = set_field(call, f, value, &ops, &err);
	if (st == RT_OK)
		carry_out(call, &ops, key, name);
	else if (call->answer->status == 0)
		fail(call, &err);
	rt_buf_deinit(&ops);
}

void
rt_hook_api_state_set(rt_call *call)
{
	const field *f = field_named(rt_call_param(call, "field"));
	rt_json_doc *doc;
	yyjson_val *root;

	if (f == NULL) {
		no_field(call, rt_call_param(call, "field"));
		return;
	}
	if (!rt_call_body(call, false, &doc, &root))
		return;
	if (rt_json_get(root, "value") == NULL)
		refuse(call, RT_USAGE, "the body is {\"value\":…}");
	else
		set_named(call, f, rt_json_get(root, "value"), "field", f->name);
	rt_json_free(doc);
}

/* ---- callbacks ---- */

typedef struct callback {
	const char *name;
	size_t args;
	const char *takes; /* its arguments, in words; NULL: none */
	const char *op;    /* {"name":…} is its one field; or NULL */
	const char *field; /* that its one argument sets; or NULL */
	const char *does;
	const char *has_none; /* why it has no meaning here; or NULL */
} callback;

static const callback callbacks[] = {
	{"save_context_preset", 1, "a name", "preset.save", NULL,
	 "keeps files, screenshots and prompts under a name", NULL},
	{"load_context_preset", 1, "a name", "preset.load", NULL, "brings back what a preset kept",
	 NULL},
	{"delete_context_preset", 1, "a name", "preset.delete", NULL, "forgets a preset", NULL},
	{"set_ui_file_paths", 1, "a list of paths", NULL, "files", "sets the files", NULL},
	{"set_ui_screenshot_paths", 1, "a list of paths", NULL, "screenshots",
	 "sets the screenshots", NULL},
	{"set_context_files_for_test", 1, "a list of files", NULL, "context_files",
	 "sets the context files", NULL},
	{"set_screenshots_for_test", 1, "a list of paths", NULL, "screenshots",
	 "sets the screenshots", NULL},
	{"_toggle_command_palette", 0, NULL, NULL, NULL, NULL,
	 "the server has no screen of its own; each web page has its own palette"},
	{"get_app_debug_info", 0, NULL, NULL, NULL,
	 "says what the server works on; changes nothing", NULL},
	{"save_context_preset_force", 1, "a name", "preset.save", NULL,
	 "as save_context_preset, which asks nobody either", NULL},
	{"set_ui_attr", 2, "a field's name and its value", NULL, NULL,
	 "sets a field, as PUT /api/state/{field}", NULL},
	{"set_context_files", 1, "a list of files", NULL, "context_files", "sets the context files",
	 NULL},
	{"simulate_save_preset", 1, "a name", "preset.save", NULL,
	 "as save_context_preset: there is no dialogue to go through", NULL},
};

enum { CALLBACK_COUNT = sizeof(callbacks) / sizeof(callbacks[0]) };

void
rt_hook_api_callbacks(rt_call *call)
{
	rt_buf *body = &call->answer->body;
	size_t i;

	rt_buf_add_c(body, "{\"callbacks\":[");
	for (i = 0; i < CALLBACK_COUNT; i++) {
		const callback *c = &callbacks[i];

		rt_json_add_comma(body);
		rt_buf_add_f(body, "{\"name\":\"%s\"", c->name);
		if (c->takes != NULL) {
			rt_json_add_key(body, "takes");
			rt_json_add_string(body, rt_str_of(c->takes));
		}
		rt_json_add_key(body, c->has_none != NULL ? "has_none" : "does");
		rt_json_add_string(body, rt_str_of(c->has_none != NULL ? c->has_none : c->does));
		rt_buf_add_byte(body, '}');
	}
	rt_buf_add_c(body, "]}");
	rt_call_done(call, 200);
}

static void
debug_info(rt_call *call)
{
	static const char *const names[] = {"active_discussion", "active_take", "discussion_names",
					    "take_names",        "ai_status",   "can_undo",
					    "can_redo",          "seq"};
	rt_buf *body = &call->answer->body;
	rt_json_doc *settings = NULL;
	rt_error err;
	place where;
	size_t i;
	rt_status st;

	memset(&err, 0, sizeof(err));
	if (!place_of(call, &where))
		return;
	st = read_settings(call, &where, &settings, &err);
	rt_buf_add_c(body, "{\"status\":\"ok\",\"result\":{\"project\":");
	rt_json_add_string(body, rt_text_str(call->open_project->name));
	rt_buf_add_f(body, ",\"entries\":%zu", rt_seq_count(where.take->slots));
	for (i = 0; st == RT_OK && i < sizeof(names) / sizeof(names[0]); i++) {
		rt_json_add_key(body, names[i]);
		st = add_field(call, &where, rt_json_root(settings),
			       field_named(rt_str_of(names[i])), body, &err);
	}
	rt_buf_add_c(body, "}}");
	finish(call, st, &err);
	rt_json_free(settings);
	rt_object_unref(where.value);
}

static void
run_callback(rt_call *call, const callback *c, yyjson_val *args)
{
	yyjson_val *first = yyjson_arr_get(args, 0);
	const field *f;
	rt_error err;
	rt_buf ops;

	memset(&err, 0, sizeof(err));
	if (yyjson_arr_size(args) != c->args) {
		(void)rt_fail(&err, RT_USAGE, "%s takes %s: {\"args\":[…]}", c->name,
			      c->takes != NULL ? c->takes : "nothing");
		fail(call, &err);
	} else if (c->op != NULL) {
		rt_buf_init(&ops, call->request->alloc, RT_BUF_UNLIMITED);
		rt_buf_add_byte(&ops, '[');
		begin(&ops, c->op);
		add_member(&ops, "name", first);
		rt_buf_add_byte(&ops, '}');
		carry_out(call, &ops, "callback", c->name);
		rt_buf_deinit(&ops);
	} else if (c->field != NULL) {
		set_named(call, field_named(rt_str_of(c->field)), first, "callback", c->name);
	} else if (c->args == 2) {
		f = field_named(rt_json_str(first));
		if (f == NULL)
			no_field(call, rt_json_str(first));
		else
			set_named(call, f, yyjson_arr_get(args, 1), "callback", c->name);
	} else {
		debug_info(call);
	}
}

void
rt_hook_api_callback(rt_call *call)
{
	rt_str name = rt_call_param(call, "name");
	const callback *c = NULL;
	yyjson_val *root, *args;
	rt_json_doc *doc;
	size_t i;

	for (i = 0; i < CALLBACK_COUNT; i++)
		if (rt_str_is(name, callbacks[i].name))
			c = &callbacks[i];
	if (c == NULL) {
		rt_error err;

		memset(&err, 0, sizeof(err));
		(void)rt_fail(&err, RT_NOT_FOUND, "no callback \"%.*s\"",
			      (int)rt_utf8_cut(name, 80), name.ptr);
		rt_call_fail(call, &err, "GET /api/callbacks lists them");
		return;
	}
	if (c->has_none != NULL) {
		rt_problem_http(call->answer, 501, "no-meaning",
				"This callback has no meaning here", c->has_none);
		return;
	}
	if (!rt_call_body(call, true, &doc, &root))
		return;
	args = rt_json_get(root, "args");
	if (args != NULL && !yyjson_is_arr(args))
		refuse(call, RT_USAGE, "\"args\" is an array");
	else
		run_callback(call, c, args);
	rt_json_free(doc);
}

/* ---- the rest ---- */

void
rt_hook_api_reset(rt_call *call)
{
	rt_call_apply_with(call, RT_STR("[{\"op\":\"project.reset\"}]"), false, rt_str_at(NULL, 0),
			   rt_str_at(NULL, 0), RT_STR(",\"status\":\"updated\""));
}

void
rt_hook_api_history(rt_call *call)
{
	rt_buf *body = &call->answer->body;
	const rt_history *disc, *project;
	uint64_t before, limit;
	rt_error err;
	place where;
	rt_status st;

	memset(&err, 0, sizeof(err));
	if (!rt_call_number(call, "before", 0, &before) ||
	    !rt_call_number(call, "limit", 100, &limit) || !place_of(call, &where))
		return;
	disc = &where.disc->history;
	project = &where.value->history;
	rt_buf_add_c(body, "{\"history\":");
	st = rt_view_history(call->open_project->engine, where.value, where.at.disc, before,
			     (size_t)limit, body, &err);
	rt_json_add_key(body, "can_undo");
	add_bool(body, disc->current != 0 || project->current != 0);
	rt_json_add_key(body, "can_redo");
	add_bool(body, disc->redo_row != 0 || project->redo_row != 0);
	rt_buf_add_byte(body, '}');
	finish(call, st, &err);
	rt_object_unref(where.value);
}

void
rt_hook_api_status(rt_call *call)
{
	rt_buf *body = &call->answer->body;
	rt_error err;
	rt_status st;

	memset(&err, 0, sizeof(err));
	rt_buf_add_c(body, "{\"status\":\"ok\",\"ai_status\":");
	st = add_status(call, body, &err);
	rt_buf_add_byte(body, '}');
	finish(call, st, &err);
}
