/* SPDX-License-Identifier: MIT
 *
 * Operations. A route of an operation takes the fields that its path does not have as its
 * body; all others end up as requests of the same kind. */
#include "server/api.h"

#include "codec/content.h"
#include "chat/lint.h"
#include "view/view.h"

static void
fail(rt_call *call, rt_status status, const char *words, rt_str about)
{
	rt_error err;

	memset(&err, 0, sizeof(err));
	(void)rt_fail(&err, status, words, (int)rt_utf8_cut(about, 120), about.ptr);
	rt_call_fail(call, &err, NULL);
}

static void
fail_plainly(rt_call *call, const char *words)
{
	rt_error err;

	memset(&err, 0, sizeof(err));
	(void)rt_fail(&err, RT_USAGE, "%s", words);
	rt_call_fail(call, &err, NULL);
}

static void
fail_nomem(rt_call *call)
{
	fail(call, RT_NOMEM, "out of memory%.*s", RT_STR(""));
}

/* ---- one operation ---- */

/* Sets a field from the path. */
static bool
read_path_field(rt_call *call, const rt_op_field *field, rt_str value, rt_request *out)
{
	void *member = (char *)out + field->offset;
	rt_number number = {.given = true};
	size_t i;

	if (field->type != RT_FIELD_NUMBER) {
		RT_ASSERT(field->type == RT_FIELD_STRING || field->type == RT_FIELD_ADDRESS);
		*(rt_str *)member = value;
		return true;
	}
	for (i = 0; i < value.size && value.ptr[i] >= '0' && value.ptr[i] <= '9'; i++)
		number.value = number.value * 10 + (uint64_t)(value.ptr[i] - '0');
	if (i < value.size || value.size > 19 || (value.size > 1 && value.ptr[0] == '0')) {
		fail(call, RT_USAGE, "\"%.*s\" is no number", value);
		return false;
	}
	*(rt_number *)member = number;
	return true;
}

static bool
read_path_fields(rt_call *call, const rt_op *op, rt_request *out)
{
	for (size_t at = 0; at < RT_ROUTE_PARAMS; at++) {
		rt_str name = rt_route_param_name(call->route->path, at);
		const rt_op_field *field = name.size > 0 ? rt_op_field_named(op, name) : NULL;

		if (field != NULL && !read_path_field(call, field, call->params[at], out))
			return false;
	}
	return true;
}

/* The body may repeat a parameter of the path, but not contradict it. */
static bool
check_body(rt_call *call, yyjson_val *root)
{
	yyjson_val *key, *value;
	size_t i, max;

	rt_json_foreach(root, i, max, key, value)
	{
		rt_str name = rt_json_str(key);

		for (size_t at = 0; !rt_str_is(name, "op") && at < RT_ROUTE_PARAMS; at++) {
			rt_str param = rt_route_param_name(call->route->path, at);

			if (param.size == 0 || !rt_str_eq(param, name) ||
			    call->params[at].ptr == NULL ||
			    rt_str_eq(rt_json_str(value), call->params[at]))
				continue;
			fail(call, RT_USAGE, "the path says already what \"%.*s\" is", name);
			return false;
		}
	}
	return true;
}

/* Which place of the query, the path or the body: in this order of those who say. */
static bool
place_named(rt_call *call, const rt_op *op, yyjson_val *root, const char *name, rt_str *out)
{
	rt_str in_body = rt_json_str(rt_json_get(root, name));

	*out = rt_call_param(call, name);
	if (out->size > 0)
		return true;
	if (!rt_call_text(call, name, out))
		return false;
	if (in_body.size > 0 && (op == NULL || rt_op_field_named(op, rt_str_of(name)) == NULL))
		*out = in_body;
	return true;
}

/* The entry that it is about, for If-Match. */
static rt_str
entry_named(rt_call *call, const rt_op *op, yyjson_val *root)
{
	static const char *const names[] = {"entry", "at"};
	rt_str entry = {NULL, 0};
	size_t i;

	for (i = 0; i < 2 && entry.size == 0; i++) {
		const rt_op_field *field = rt_op_field_named(op, rt_str_of(names[i]));

		if (field == NULL || field->type != RT_FIELD_ADDRESS)
			continue;
		entry = rt_call_param(call, names[i]);
		if (entry.size == 0)
			entry = rt_json_str(rt_json_get(root, names[i]));
	}
	return entry;
}

/* Further members become fields of the entry, and some are named as others call the text. */
static void
note_slip(rt_call *call, const rt_op *op, yyjson_val *root)
{
	static const char *const names[] = {"text", "message", "body", "contents"};
	size_t i;

	if ((op->flags & RT_OP_OPEN) == 0 || rt_json_get(root, "content") != NULL)
		return;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (rt_json_get(root, names[i]) != NULL)
			rt_buf_add_f(&call->notes,
				     "the entry is empty: its text is called \"content\", and \"%s\" "
				     "became a field of it\n", names[i]);
}

/* Carries out an operation with the fields of the path and the body; request has those that
 * are set already. */
static void
do_op(rt_call *call, rt_request request)
{
	const rt_op *op = &rt_ops[request.op];
	rt_call_change change = {.requests = &request,
				 .count = 1,
				 .is_made = (op->flags & RT_OP_MAKES) != 0};
	rt_json_doc *doc = NULL;
	yyjson_val *root = NULL;
	rt_error err;

	if (!rt_call_body(call, true, &doc, &root))
		return;
	if (read_path_fields(call, op, &request) && check_body(call, root) &&
	    place_named(call, op, root, "discussion", &change.disc) &&
	    place_named(call, op, root, "take", &change.take)) {
		if (rt_request_read_fields(root, &request, &err) != RT_OK)
			request.invalid = &err;
		change.entry = entry_named(call, op, root);
		note_slip(call, op, root);
		rt_call_change_do(call, &change);
	}
	rt_json_free(doc);
}

void
rt_api_op(rt_call *call)
{
	RT_ASSERT(call->route->op >= 0 && call->route->op < RT_OP_COUNT);
	do_op(call, (rt_request){.op = (rt_op_id)call->route->op});
}

static void
answer_once(rt_call *call)
{
	if (call->route->fn != NULL)
		call->route->fn(call);
	else
		rt_api_op(call);
}

void
rt_api_answer(rt_call *call)
{
	rt_web_answer *answer = call->answer;

	answer_once(call);
	if (call->request->method != RT_WEB_GET || answer->status != 500)
		return;
	rt_buf_clear(&answer->body);
	rt_buf_clear(&call->notes);
	answer->header_count = 0;
	answer->type = NULL;
	answer->status = 0;
	if (call->open_project != NULL)
		call->open_project->looked_us =
			0; /* look at the store, however short ago that was */
	answer_once(call);
}

void
rt_api_op_any(rt_call *call)
{
	rt_str name = rt_call_param(call, "op");
	const rt_op *op = rt_op_named(name);
	const char *near = op == NULL ? rt_op_nearest(name) : NULL;
	char hint[120] = "";
	rt_error err;
	rt_buf words;

	if (op != NULL) {
		do_op(call, (rt_request){.op = op->id});
		return;
	}
	memset(&err, 0, sizeof(err));
	(void)rt_fail(&err, RT_NOT_FOUND, "there is no operation \"%.*s\"",
		      (int)rt_utf8_cut(name, 80), name.ptr);
	rt_buf_init(&words, call->request->alloc, sizeof(hint) - 1);
	if (near != NULL) {
		rt_buf_add_f(&words, "did you mean %s?", near);
		if (words.status == RT_OK)
			memcpy(hint, words.ptr, words.size + 1);
	}
	rt_call_fail(call, &err, hint);
	rt_buf_deinit(&words);
}

void
rt_api_setting_delete(rt_call *call)
{
	rt_scope s;

	rt_scope_init(&s, call->request->alloc);
	yyjson_val *null = rt_json_parse(&s, RT_STR("null"));
	if (null != NULL)
		do_op(call, (rt_request){.op = RT_OP_SETTING_SET, .value = null});
	else
		fail_nomem(call);
	rt_scope_deinit(&s);
}

/* ---- labels ---- */

/* The entry of a label; "" in out: none has it. */
static rt_status
find_label(const rt_project *project, const rt_disc *disc, rt_str label, char out[RT_ID_MAX + 1],
	   rt_error *err)
{
	size_t i, count = rt_seq_count(disc->labels);
	rt_status st = RT_OK;

	out[0] = '\0';
	for (i = 0; st == RT_OK && i < count && out[0] == '\0'; i++) {
		rt_slot pair;
		rt_str name;

		st = rt_seq_get(disc->labels, i, &pair, err);
		if (st == RT_OK)
			st = rt_project_name(project, (uint32_t)pair.body, &name, err);
		if (st == RT_OK && rt_str_eq(name, label))
			st = rt_entry_id(project, (uint32_t)pair.key, out, err);
	}
	if (st == RT_OK && out[0] == '\0')
		st = rt_fail(err, RT_NOT_FOUND, "no entry has the label \"%.*s\"",
			     (int)rt_utf8_cut(label, 80), label.ptr);
	return st;
}

void
rt_api_label_delete(rt_call *call)
{
	const rt_project *project = NULL;
	const rt_disc *disc = NULL;
	char id[RT_ID_MAX + 1];
	rt_request request = {.op = RT_OP_LABEL_SET, .label = RT_NULL_STR};
	rt_call_change change = {
		.requests = &request, .count = 1, .disc = rt_call_param(call, "discussion")};
	rt_place place;
	rt_error err;
	rt_status st;

	if (rt_call_replayed(call) || !rt_call_value(call, &project))
		return;
	if (rt_call_place(call, project, change.disc, &place)) {
		st = rt_project_disc(project, place.disc, &disc, &err);
		if (st == RT_OK)
			st = find_label(project, disc, rt_call_param(call, "label"), id, &err);
		if (st == RT_OK) {
			request.entry = rt_str_of(id);
			rt_call_change_do(call, &change);
		} else {
			rt_call_fail(call, &err, NULL);
		}
	}
	rt_object_unref(project);
}

/* ---- an entry, changed in several ways at once ---- */

enum { PATCH_REQUESTS = 4 }; /* at most: branch, edit, role, mute */

typedef struct patch {
	rt_call *call;
	rt_scope scope;
	yyjson_val *root, *content, *role, *muted;
	rt_str disc, take, entry;
	bool everywhere, keep_blocks, is_take, keep_after;
	rt_str name;
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
read_flag(patch *p, const char *name, bool *out)
{
	yyjson_val *value = rt_json_get(p->root, name);

	*out = yyjson_is_true(value);
	if (value == NULL || yyjson_is_bool(value))
		return true;
	fail(p->call, RT_USAGE, "\"%.*s\" is true or false", rt_str_of(name));
	return false;
}

static bool
read_patch(patch *p)
{
	rt_str mode = rt_json_str(rt_json_get(p->root, "mode"));

	p->content = rt_json_get(p->root, "content");
	p->role = rt_json_get(p->root, "role");
	p->muted = rt_json_get(p->root, "muted");
	p->name = rt_json_str(rt_json_get(p->root, "name"));
	p->is_take = rt_str_is(mode, "take");
	if (!read_flag(p, "everywhere", &p->everywhere) ||
	    !read_flag(p, "keep_blocks", &p->keep_blocks) ||
	    !read_flag(p, "keep_after", &p->keep_after))
		return false;
	if (rt_json_get(p->root, "mode") != NULL && !p->is_take && !rt_str_is(mode, "in_place"))
		fail_plainly(p->call, "\"mode\" is \"in_place\" or \"take\"");
	else if (p->content == NULL && p->role == NULL && p->muted == NULL)
		fail_plainly(
			p->call,
			"there is nothing to change: \"content\", \"role\" or \"muted\" is it");
	else if (p->is_take && p->everywhere)
		fail_plainly(p->call, "mode \"take\" and \"everywhere\" contradict each other");
	else if (!p->is_take && (p->name.size > 0 || p->keep_after))
		fail_plainly(p->call, "\"name\" and \"keep_after\" are for mode \"take\"");
	else
		return true;
	return false;
}

/* The changes of an entry in the take that is active then. */
static void
add_changes(patch *p, rt_str entry)
{
	if (p->content != NULL) {
		rt_request *edit = add_request(p, RT_OP_ENTRY_EDIT, entry);

		rt_request_set(&p->scope, edit, "content", p->content);
		edit->everywhere = p->everywhere ? RT_YES : RT_UNSET;
		edit->keep_blocks = p->keep_blocks ? RT_YES : RT_UNSET;
	}
	if (p->role != NULL)
		rt_request_set(&p->scope, add_request(p, RT_OP_ENTRY_ROLE, entry), "role", p->role);
	if (p->muted != NULL)
		rt_request_set(&p->scope, add_request(p, RT_OP_ENTRY_MUTE, entry), "muted",
			       p->muted);
}

/* The content of a new entry in place of this one. */
static void
set_content(patch *p, const rt_project *project, rt_place place, uint32_t entry,
	    rt_request *append)
{
	rt_scope *s = &p->scope;
	rt_buf *view, *merged;
	yyjson_val *old;

	if (p->content != NULL && !(p->keep_blocks && yyjson_is_str(p->content))) {
		rt_request_set(s, append, "content", p->content);
		return;
	}
	view = rt_scope_buf(s);
	RT_TRY(s, rt_view_entry(p->call->open_project->engine, project, place, entry, view,
				&s->error));
	old = rt_json_get(rt_json_parse(s, rt_scope_str(s, view)), "content");
	if (p->content != NULL && rt_ok(s)) {
		merged = rt_scope_buf(s);
		rt_content_set_text(merged, rt_content_of(old), rt_json_str(p->content));
		old = rt_json_parse(s, rt_scope_str(s, merged));
	}
	if (rt_ok(s))
		rt_request_set(s, append, "content", old);
}

/* Makes a new take; the present one stays as it is. With keep_after it has all of that with the
 * entry changed; without, what came before and a new entry, as retake edit --as-take. */
static void
add_take(patch *p, const rt_project *project, rt_place place)
{
	rt_scope *s = &p->scope;
	const rt_disc *disc = NULL;
	const rt_take *take = NULL;
	char id[RT_ID_MAX + 1] = "";
	rt_str role = {NULL, 0};
	uint32_t entry = 0;
	rt_slot slot = {0}, last = {0};
	size_t at = 0;
	bool found = false;
	rt_request *request;

	RT_TRY(s, rt_project_disc(project, place.disc, &disc, &s->error));
	if (rt_ok(s))
		take = rt_disc_take(disc, place.take);
	RT_TRY(s, rt_resolve_entry(project, place, p->entry, false, &entry, &s->error));
	RT_TRY(s, rt_take_find(project, take, entry, &at, &slot, &found, &s->error));
	if (rt_ok(s) && !found)
		rt_scope_fail(s, RT_NOT_FOUND, "the entry is not in this take");
	RT_TRY(s, rt_project_name(project, slot.role, &role, &s->error));
	if (!rt_ok(s))
		return;
	if (!p->keep_after && at == 0) {
		if (p->name.size > 0)
			rt_scope_fail(s, RT_USAGE,
				      "a take that begins with its first entry names itself; leave "
				      "out \"name\", or rename it afterwards");
		request = add_request(p, RT_OP_HEAD_MOVE, RT_NULL_STR);
	} else {
		size_t upto = p->keep_after ? rt_seq_count(take->slots) - 1 : at - 1;

		RT_TRY(s, rt_seq_get(take->slots, upto, &last, &s->error));
		RT_TRY(s, rt_entry_id(project, last.entry, id, &s->error));
		request = add_request(p, RT_OP_TAKE_BRANCH, rt_scope_copy(s, rt_str_of(id)));
		if (p->name.size > 0)
			request->name = p->name;
	}
	if (p->take.size > 0)
		request->take = p->take;
	if (p->keep_after) {
		RT_TRY(s, rt_entry_id(project, entry, id, &s->error));
		add_changes(p, rt_scope_copy(s, rt_str_of(id)));
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

static void
unref_project(void *project)
{
	rt_object_unref(project);
}

/* The requests of a patch. False: it is answered already. */
static bool
plan_patch(patch *p)
{
	rt_call *call = p->call;
	const rt_project *project = NULL;
	rt_place place = {0, 0};

	if (!read_patch(p) || !place_named(call, NULL, p->root, "take", &p->take))
		return false;
	if (!p->is_take) {
		add_changes(p, p->entry);
		return true;
	}
	if (rt_call_replayed(call) || !rt_call_value(call, &project))
		return false;
	rt_scope_defer(&p->scope, unref_project, (void *)(uintptr_t)project);
	RT_TRY(&p->scope,
	       rt_resolve_place(project, p->disc, p->take, &place, &p->scope.error));
	if (rt_ok(&p->scope))
		add_take(p, project, place);
	return true;
}

void
rt_api_entry_patch(rt_call *call)
{
	patch p = {.call = call,
		   .disc = rt_call_param(call, "discussion"),
		   .entry = rt_call_param(call, "entry")};
	rt_json_doc *doc = NULL;

	if (!rt_call_body(call, false, &doc, &p.root))
		return;
	rt_scope_init(&p.scope, call->request->alloc);
	if (plan_patch(&p)) {
		rt_call_change change = {.requests = p.requests,
					 .count = p.count,
					 .is_atomic = true,
					 .is_one = true,
					 .disc = p.disc,
					 .take = p.take,
					 .names_takes = p.is_take,
					 .entry = p.entry,
					 .is_made = p.is_take};

		if (rt_ok(&p.scope))
			rt_call_change_do(call, &change);
		else
			rt_call_fail(call, &p.scope.error, NULL);
	}
	rt_scope_deinit(&p.scope);
	rt_json_free(doc);
}

/* ---- many ---- */

static bool
read_batch(rt_call *call, yyjson_val *root, yyjson_val **out_ops)
{
	*out_ops = rt_json_get(root, "ops");
	if (!yyjson_is_arr(*out_ops) || yyjson_arr_size(*out_ops) == 0)
		fail_plainly(call, "\"ops\" is an array of operations, such as "
				   "[{\"op\":\"entry.append\",\"content\":\"…\"}]");
	else if (yyjson_arr_size(*out_ops) > RT_API_BATCH_MAX)
		fail_plainly(call, "\"ops\" has more than 10000 operations");
	else
		return true;
	return false;
}

/* The operations of a batch; NULL: answered already. */
static const rt_request *
read_ops(rt_call *call, rt_scope *s, yyjson_val *ops)
{
	yyjson_val **values = rt_scope_array(s, yyjson_arr_size(ops), sizeof(*values)), *item;
	const rt_request *requests;
	size_t i, max;

	yyjson_arr_foreach(ops, i, max, item)
	{
		if (!yyjson_is_obj(item) || !yyjson_is_str(rt_json_get(item, "op"))) {
			fail_plainly(call, "an operation is an object with \"op\"");
			return NULL;
		}
		if (values != NULL)
			values[i] = item;
	}
	requests = values != NULL ? rt_requests_read(s, values, yyjson_arr_size(ops)) : NULL;
	if (requests == NULL)
		fail_nomem(call);
	return requests;
}

void
rt_api_batch(rt_call *call)
{
	rt_call_change change = {.is_atomic = true};
	rt_json_doc *doc = NULL;
	yyjson_val *root = NULL, *ops, *atomic;
	rt_scope s;

	if (!rt_call_body(call, false, &doc, &root))
		return;
	rt_scope_init(&s, call->request->alloc);
	atomic = rt_json_get(root, "atomic");
	if (!read_batch(call, root, &ops) ||
	    !place_named(call, NULL, root, "discussion", &change.disc) ||
	    !place_named(call, NULL, root, "take", &change.take)) {
		/* answered */
	} else if (atomic != NULL && !yyjson_is_bool(atomic)) {
		fail_plainly(call, "\"atomic\" is true or false");
	} else {
		change.is_atomic = !yyjson_is_false(atomic);
		change.requests = read_ops(call, &s, ops);
		change.count = yyjson_arr_size(ops);
		if (change.requests != NULL)
			rt_call_change_do(call, &change);
	}
	rt_scope_deinit(&s);
	rt_json_free(doc);
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
	rt_str disc = rt_call_param(call, "discussion"), take;
	rt_engine *engine = call->open_project->engine;
	rt_buf *body = &call->answer->body;
	rt_json_doc *doc = NULL;
	yyjson_val *root = NULL, *ops = NULL;
	const rt_request *requests = NULL;
	size_t resent = 0;
	const rt_project *value = NULL;
	rt_place place;
	rt_scope s;

	if (!rt_call_body(call, false, &doc, &root))
		return;
	rt_scope_init(&s, call->request->alloc);
	if (read_batch(call, root, &ops) && place_named(call, NULL, root, "take", &take) &&
	    rt_call_value(call, &value)) {
		RT_TRY(&s, rt_resolve_place(value, disc, take, &place, &s.error));
		rt_object_unref(value);
		if (rt_ok(&s))
			requests = read_ops(call, &s, ops);
		else
			rt_call_fail(call, &s.error, NULL);
	}
	if (requests != NULL) {
		RT_TRY(&s, rt_engine_refresh(engine, &s.error));
		rt_json_open(body, NULL, '{');
		rt_json_open(body, "advice", '[');
		RT_TRY(&s, rt_engine_lint(engine, requests, yyjson_arr_size(ops), disc, take,
					  add_advice, body, &resent, &s.error));
		rt_json_close(body, ']');
		rt_json_put_u64(body, "resent_tokens", resent);
		rt_json_close(body, '}');
		if (rt_ok(&s))
			rt_call_done(call, 200);
		else
			rt_call_fail(call, &s.error, NULL);
	}
	rt_scope_deinit(&s);
	rt_json_free(doc);
}
