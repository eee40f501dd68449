/* SPDX-License-Identifier: MIT
 *
 * Operations. The body of an operation's route has the fields that its path does not have;
 * everything becomes requests of the same kind. */
#include "server/api.h"

#include "chat/lint.h"
#include "codec/content.h"
#include "llm/names_host.h"
#include "view/view.h"

/* ---- one operation ---- */

/* Sets a field from the path. */
static void
read_path_field(rt_call *call, const rt_op_field *field, rt_str value, rt_request *out)
{
	void *member = (char *)out + field->offset;
	rt_number number = {.given = true};
	size_t i = 0;

	if (field->type != RT_FIELD_NUMBER) {
		RT_ASSERT(field->type == RT_FIELD_STRING || field->type == RT_FIELD_ADDRESS);
		*(rt_str *)member = value;
		return;
	}
	for (; i < value.size && value.ptr[i] >= '0' && value.ptr[i] <= '9'; i++)
		number.value = number.value * 10 + (uint64_t)(value.ptr[i] - '0');
	if (i < value.size || value.size > 19 || (value.size > 1 && value.ptr[0] == '0'))
		rt_scope_fail(&call->scope, RT_USAGE, "\"%.*s\" is not a number",
			      (int)rt_utf8_cut(value, 120), value.ptr);
	*(rt_number *)member = number;
}

static void
read_path_fields(rt_call *call, const rt_op *op, rt_request *out)
{
	for (size_t i = 0; i < RT_ROUTE_PARAMS; i++) {
		rt_str name = rt_route_param_name(call->route->path, i);
		const rt_op_field *field = name.size > 0 ? rt_op_field_named(op, name) : NULL;

		if (field != NULL)
			read_path_field(call, field, call->params[i], out);
	}
}

/* The body may repeat a parameter of the path, but not contradict it. */
static void
check_body(rt_call *call, yyjson_val *root)
{
	yyjson_val *key, *value;
	size_t i, max;

	rt_json_foreach(root, i, max, key, value)
	{
		rt_str name = rt_json_str(key);

		for (size_t at = 0; !rt_str_is(name, "op") && at < RT_ROUTE_PARAMS; at++) {
			rt_str param = rt_route_param_name(call->route->path, at);

			if (param.size > 0 && rt_str_eq(param, name) &&
			    call->params[at].ptr != NULL &&
			    !rt_str_eq(rt_json_str(value), call->params[at]))
				rt_scope_fail(&call->scope, RT_USAGE,
					      "\"%.*s\" is already specified by the path",
					      (int)rt_utf8_cut(name, 120), name.ptr);
		}
	}
}

/* A discussion or take: the path decides, then the body, then the query. */
static rt_str
read_place(rt_call *call, const rt_op *op, yyjson_val *root, const char *name)
{
	rt_str in_path = rt_call_param(call, name);
	rt_str in_body = rt_json_str(rt_json_get(root, name));

	if (in_path.size > 0)
		return in_path;
	rt_str in_query = rt_call_text(call, name);
	if (in_body.size > 0 && (op == NULL || rt_op_field_named(op, rt_str_of(name)) == NULL))
		return in_body;
	return in_query;
}

/* The entry that an operation concerns, for If-Match. */
static rt_str
read_entry(rt_call *call, const rt_op *op, yyjson_val *root)
{
	static const char *const names[] = {"entry", "at"};
	rt_str entry = {NULL, 0};

	for (size_t i = 0; i < 2 && entry.size == 0; i++) {
		const rt_op_field *field = rt_op_field_named(op, rt_str_of(names[i]));

		if (field == NULL || field->type != RT_FIELD_ADDRESS)
			continue;
		entry = rt_call_param(call, names[i]);
		if (entry.size == 0)
			entry = rt_json_str(rt_json_get(root, names[i]));
	}
	return entry;
}

/* Unknown members become fields of the entry, also those that other programs use for the text. */
static void
note_misnamed_content(rt_call *call, const rt_op *op, yyjson_val *root)
{
	static const char *const names[] = {"text", "message", "body", "contents"};

	if ((op->flags & RT_OP_OPEN) == 0 || rt_json_get(root, "content") != NULL)
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (rt_json_get(root, names[i]) != NULL)
			rt_buf_add_f(call->notes,
				     "the entry has no text: use \"content\" for the text; "
				     "\"%s\" was stored as a field\n",
				     names[i]);
}

/* A model must exist, as far as that can be found out. */
static void
check_model(rt_call *call, rt_request *request)
{
	const rt_project_pool_options *given = rt_project_pool_get_options(call->pool);
	rt_scope *s = &call->scope;
	rt_error err;

	if (rt_ok(s) && request->invalid == NULL && request->op == RT_OP_SETTING_SET &&
	    rt_str_is(request->key, "model") && yyjson_is_str(request->value) &&
	    rt_model_names_verify(s->alloc, given->env, given->config, rt_json_str(request->value),
				  NULL, rt_scope_buf(s), &err) != RT_OK)
		rt_request_invalidate(s, request, &err);
}

/* Executes an operation with the fields of the path and the body, and those in request. */
static void
apply_op(rt_call *call, rt_request request)
{
	const rt_op *op = &rt_ops[request.op];
	yyjson_val *root = rt_call_body(call, true);
	rt_error err;

	read_path_fields(call, op, &request);
	check_body(call, root);
	rt_call_change change = {.requests = &request,
				 .count = 1,
				 .disc = read_place(call, op, root, "discussion"),
				 .take = read_place(call, op, root, "take"),
				 .is_made = (op->flags & RT_OP_MAKES) != 0};
	if (!rt_ok(&call->scope))
		return;
	if (rt_request_read_fields(root, &request, &err) != RT_OK)
		request.invalid = &err;
	check_model(call, &request);
	change.entry = read_entry(call, op, root);
	note_misnamed_content(call, op, root);
	rt_call_apply(call, &change);
}

void
rt_api_op(rt_call *call)
{
	RT_ASSERT(call->route->op >= 0 && call->route->op < RT_OP_COUNT);
	apply_op(call, (rt_request){.op = (rt_op_id)call->route->op});
}

void
rt_api_op_any(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_str name = rt_call_param(call, "op");
	const rt_op *op = rt_op_named(name);
	const char *near = op == NULL ? rt_op_nearest(name) : NULL;

	if (op != NULL) {
		apply_op(call, (rt_request){.op = op->id});
		return;
	}
	if (near != NULL) {
		rt_buf *hint = rt_scope_buf(s);

		rt_buf_add_f(hint, "did you mean %s?", near);
		rt_call_hint(call, rt_scope_str(s, hint).ptr);
	}
	rt_scope_fail(s, RT_NOT_FOUND, "there is no operation \"%.*s\"", (int)rt_utf8_cut(name, 80),
		      name.ptr);
}

void
rt_api_setting_delete(rt_call *call)
{
	yyjson_val *null = rt_json_parse(&call->scope, RT_STR("null"));

	apply_op(call, (rt_request){.op = RT_OP_SETTING_SET, .value = null});
}

/* ---- labels ---- */

static rt_str
entry_id(rt_scope *s, const rt_project *project, uint32_t entry)
{
	char id[RT_ID_MAX + 1] = "";

	RT_TRY(s, rt_entry_id(project, entry, id, &s->error));
	return rt_scope_copy(s, rt_str_of(id));
}

/* The id of the entry with a label. */
static rt_str
find_label(rt_scope *s, const rt_project *project, uint32_t number, rt_str label)
{
	const rt_disc *disc = NULL;

	RT_TRY(s, rt_project_disc(project, number, &disc, &s->error));
	for (size_t i = 0; rt_ok(s) && i < rt_seq_count(disc->labels); i++) {
		rt_str name = {NULL, 0};
		rt_slot pair = {0};

		RT_TRY(s, rt_seq_get(disc->labels, i, &pair, &s->error));
		RT_TRY(s, rt_project_name(project, (uint32_t)pair.body, &name, &s->error));
		if (rt_ok(s) && rt_str_eq(name, label))
			return entry_id(s, project, (uint32_t)pair.key);
	}
	rt_scope_fail(s, RT_NOT_FOUND, "no entry has the label \"%.*s\"",
		      (int)rt_utf8_cut(label, 80), label.ptr);
	return rt_str_at(NULL, 0);
}

void
rt_api_label_delete(rt_call *call)
{
	rt_str disc = rt_call_param(call, "discussion"), label = rt_call_param(call, "label");

	rt_call_replay(call);
	const rt_project *project = rt_call_value(call);
	rt_place place = rt_call_place(call, project, disc);
	rt_request request = {.op = RT_OP_LABEL_SET,
			      .label = RT_NULL_STR,
			      .entry = find_label(&call->scope, project, place.disc, label)};
	rt_call_apply(call,
		      &(rt_call_change){.requests = &request, .count = 1, .disc = disc});
}

/* ---- an entry, changed in several ways at once ---- */

enum { PATCH_REQUESTS = 4 /* at most: branch, edit, role, mute */ };

typedef struct patch {
	rt_call *call;
	rt_scope *scope; /* the call's */
	yyjson_val *content, *role, *muted;
	rt_str disc, take, entry, name;
	bool everywhere, keep_blocks, is_take, keep_after;
	rt_request requests[PATCH_REQUESTS];
	size_t count;
} patch;

static rt_request *
add_request(patch *p, rt_op_id op, rt_str entry)
{
	rt_request *request = &p->requests[p->count++];

	RT_ASSERT(p->count <= PATCH_REQUESTS);
	*request = (rt_request){.op = op, .entry = entry};
	return request;
}

static bool
read_flag(rt_scope *s, yyjson_val *root, const char *name)
{
	yyjson_val *value = rt_json_get(root, name);

	if (value != NULL && !yyjson_is_bool(value))
		rt_scope_fail(s, RT_USAGE, "\"%s\" must be true or false", name);
	return yyjson_is_true(value);
}

static void
read_patch(patch *p, yyjson_val *root)
{
	rt_scope *s = p->scope;
	yyjson_val *mode = rt_json_get(root, "mode");

	p->content = rt_json_get(root, "content");
	p->role = rt_json_get(root, "role");
	p->muted = rt_json_get(root, "muted");
	p->name = rt_json_str(rt_json_get(root, "name"));
	p->is_take = rt_str_is(rt_json_str(mode), "take");
	p->everywhere = read_flag(s, root, "everywhere");
	p->keep_blocks = read_flag(s, root, "keep_blocks");
	p->keep_after = read_flag(s, root, "keep_after");
	if (mode != NULL && !p->is_take && !rt_str_is(rt_json_str(mode), "in_place"))
		rt_scope_fail(s, RT_USAGE, "\"mode\" must be \"in_place\" or \"take\"");
	if (p->content == NULL && p->role == NULL && p->muted == NULL)
		rt_scope_fail(s, RT_USAGE,
			      "nothing to change: give \"content\", \"role\" or \"muted\"");
	if (p->is_take && p->everywhere)
		rt_scope_fail(s, RT_USAGE,
			      "mode \"take\" and \"everywhere\" cannot be combined");
	if (!p->is_take && (p->name.size > 0 || p->keep_after))
		rt_scope_fail(s, RT_USAGE, "\"name\" and \"keep_after\" require mode \"take\"");
	p->take = read_place(p->call, NULL, root, "take");
}

/* The changes of an entry in the take that is active then. */
static void
add_changes(patch *p, rt_str entry)
{
	if (p->content != NULL) {
		rt_request *edit = add_request(p, RT_OP_ENTRY_EDIT, entry);

		rt_request_set(p->scope, edit, "content", p->content);
		edit->everywhere = p->everywhere ? RT_YES : RT_UNSET;
		edit->keep_blocks = p->keep_blocks ? RT_YES : RT_UNSET;
	}
	if (p->role != NULL)
		rt_request_set(p->scope, add_request(p, RT_OP_ENTRY_ROLE, entry), "role", p->role);
	if (p->muted != NULL)
		rt_request_set(p->scope, add_request(p, RT_OP_ENTRY_MUTE, entry), "muted",
			       p->muted);
}

/* The content of a new entry in place of this one. */
static void
set_content(patch *p, const rt_project *project, rt_place place, uint32_t entry,
	    rt_request *append)
{
	rt_scope *s = p->scope;

	if (p->content != NULL && !(p->keep_blocks && yyjson_is_str(p->content))) {
		rt_request_set(s, append, "content", p->content);
		return;
	}
	rt_buf *view = rt_scope_buf(s);
	RT_TRY(s, rt_view_entry(p->call->open_project->engine, project, place, entry, view,
				&s->error));
	yyjson_val *old = rt_json_get(rt_json_parse(s, rt_scope_str(s, view)), "content");
	if (p->content != NULL && rt_ok(s)) {
		rt_buf *merged = rt_scope_buf(s);

		rt_content_set_text(merged, rt_content_of(old), rt_json_str(p->content));
		old = rt_json_parse(s, rt_scope_str(s, merged));
	}
	if (rt_ok(s))
		rt_request_set(s, append, "content", old);
}

/* Makes a new take; the present one is not changed. With keep_after it has all its entries with the
 * one changed; without, the earlier entries and a new one, as retake edit --as-take. */
static void
add_take(patch *p, const rt_project *project)
{
	rt_scope *s = p->scope;
	const rt_disc *disc = NULL;
	rt_place place = {0, 0};
	rt_str role = {NULL, 0};
	uint32_t entry = 0;
	rt_slot slot = {0}, last = {0};
	size_t at = 0;
	bool is_found = false;
	rt_request *request;

	RT_TRY(s, rt_resolve_place(project, p->disc, p->take, &place, &s->error));
	RT_TRY(s, rt_project_disc(project, place.disc, &disc, &s->error));
	const rt_take *take = rt_ok(s) ? rt_disc_take(disc, place.take) : NULL;
	RT_TRY(s, rt_resolve_entry(project, place, p->entry, false, &entry, &s->error));
	RT_TRY(s, rt_take_find(project, take, entry, &at, &slot, &is_found, &s->error));
	if (rt_ok(s) && !is_found)
		rt_scope_fail(s, RT_NOT_FOUND, "the entry is not in this take");
	RT_TRY(s, rt_project_name(project, slot.role, &role, &s->error));
	if (!rt_ok(s))
		return;
	if (!p->keep_after && at == 0) {
		if (p->name.size > 0)
			rt_scope_fail(s, RT_USAGE,
				      "the name of a take that begins at the first entry is generated: leave out \"name\" and rename the take "
				      "afterwards");
		request = add_request(p, RT_OP_HEAD_MOVE, RT_NULL_STR);
	} else {
		size_t upto = p->keep_after ? rt_seq_count(take->slots) - 1 : at - 1;

		RT_TRY(s, rt_seq_get(take->slots, upto, &last, &s->error));
		request = add_request(p, RT_OP_TAKE_BRANCH, entry_id(s, project, last.entry));
		if (p->name.size > 0)
			request->name = p->name;
	}
	if (p->take.size > 0)
		request->take = p->take;
	if (p->keep_after) {
		add_changes(p, entry_id(s, project, entry));
		return;
	}
	request = add_request(p, RT_OP_ENTRY_APPEND, rt_str_at(NULL, 0));
	if (p->role != NULL)
		rt_request_set(s, request, "role", p->role);
	else if (role.size > 0)
		request->role = role;
	set_content(p, project, place, entry, request);
	if (p->muted != NULL)
		rt_request_set(s, add_request(p, RT_OP_ENTRY_MUTE, RT_STR(":-1")), "muted",
			       p->muted);
}

void
rt_api_entry_patch(rt_call *call)
{
	patch p = {.call = call,
		   .scope = &call->scope,
		   .disc = rt_call_param(call, "discussion"),
		   .entry = rt_call_param(call, "entry")};

	read_patch(&p, rt_call_body(call, false));
	if (p.is_take) {
		rt_call_replay(call);
		add_take(&p, rt_call_value(call));
	} else {
		add_changes(&p, p.entry);
	}
	rt_call_apply(call, &(rt_call_change){.requests = p.requests,
					      .count = p.count,
					      .is_atomic = true,
					      .is_one = true,
					      .disc = p.disc,
					      .take = p.take,
					      .names_takes = p.is_take,
					      .entry = p.entry,
					      .is_made = p.is_take});
}

/* ---- many ---- */

/* The member "ops" of a batch. */
static yyjson_val *
get_ops(rt_call *call, yyjson_val *root)
{
	yyjson_val *ops = rt_json_get(root, "ops");

	if (!yyjson_is_arr(ops) || yyjson_arr_size(ops) == 0)
		rt_scope_fail(&call->scope, RT_USAGE,
			      "\"ops\" must be an array of operations, such as "
			      "[{\"op\":\"entry.append\",\"content\":\"…\"}]");
	if (yyjson_arr_size(ops) > RT_API_BATCH_MAX)
		rt_scope_fail(&call->scope, RT_USAGE, "\"ops\" has more than 10000 operations");
	return ops;
}

static const rt_request *
read_ops(rt_call *call, yyjson_val *ops)
{
	rt_scope *s = &call->scope;
	yyjson_val **values = rt_scope_array(s, yyjson_arr_size(ops), sizeof(*values)), *item;
	size_t i, max;

	yyjson_arr_foreach(ops, i, max, item)
	{
		if (!yyjson_is_obj(item) || !yyjson_is_str(rt_json_get(item, "op")))
			rt_scope_fail(s, RT_USAGE, "an operation must be an object with \"op\"");
		if (rt_ok(s))
			values[i] = item;
	}
	rt_request *requests = rt_ok(s) ? rt_requests_read(s, values, yyjson_arr_size(ops)) : NULL;
	for (size_t at = 0; requests != NULL && at < yyjson_arr_size(ops); at++)
		check_model(call, &requests[at]);
	return requests;
}

void
rt_api_batch(rt_call *call)
{
	yyjson_val *root = rt_call_body(call, false), *ops = get_ops(call, root);
	yyjson_val *atomic = rt_json_get(root, "atomic");
	rt_call_change change = {.count = yyjson_arr_size(ops),
				 .is_atomic = !yyjson_is_false(atomic),
				 .disc = read_place(call, NULL, root, "discussion"),
				 .take = read_place(call, NULL, root, "take")};

	if (atomic != NULL && !yyjson_is_bool(atomic))
		rt_scope_fail(&call->scope, RT_USAGE, "\"atomic\" must be true or false");
	change.requests = read_ops(call, ops);
	rt_call_apply(call, &change);
}

static void
add_advice(void *ctx, const rt_lint *advice)
{
	rt_buf *buf = ctx;

	rt_json_open(buf, NULL, '{');
	rt_json_put_c(buf, "id", advice->id);
	rt_json_put_c(buf, "entry", advice->entry);
	if (advice->other[0] != '\0')
		rt_json_put_c(buf, "other", advice->other);
	rt_json_put_str(buf, "text", advice->words);
	if (advice->repair.size > 0)
		rt_json_put_raw(buf, "repair", advice->repair);
	rt_json_close(buf, '}');
}

void
rt_api_advice(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_engine *engine = call->open_project->engine;
	rt_buf *body = &call->answer->body;
	rt_str disc = rt_call_param(call, "discussion");
	yyjson_val *root = rt_call_body(call, false), *ops = get_ops(call, root);
	rt_str take = read_place(call, NULL, root, "take");
	const rt_project *value = rt_call_value(call);
	rt_place place = {0, 0};
	size_t resent = 0;

	RT_TRY(s, rt_resolve_place(value, disc, take, &place, &s->error));
	const rt_request *requests = read_ops(call, ops);
	RT_TRY(s, rt_engine_refresh(engine, &s->error));
	rt_json_open(body, NULL, '{');
	rt_json_open(body, "advice", '[');
	RT_TRY(s, rt_engine_lint(engine, requests, yyjson_arr_size(ops), disc, take, add_advice,
				 body, &resent, &s->error));
	rt_json_close(body, ']');
	rt_json_put_u64(body, "resent_tokens", resent);
	rt_json_close(body, '}');
}
