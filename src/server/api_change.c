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

/* ---- one operation ---- */

/* A field that the path has. A number is one. */
static bool
add_path_field(rt_call *call, const rt_op_field *field, rt_str value, rt_buf *json)
{
	size_t i;

	rt_json_add_key(json, field->name);
	if (field->type != RT_FIELD_NUMBER) {
		rt_json_add_string(json, value);
		return true;
	}
	for (i = 0; i < value.size && value.ptr[i] >= '0' && value.ptr[i] <= '9'; i++)
		;
	if (i < value.size || value.size > 19 || (value.size > 1 && value.ptr[0] == '0')) {
		fail(call, RT_USAGE, "\"%.*s\" is no number", value);
		return false;
	}
	rt_buf_add_str(json, value);
	return true;
}

/* The rest comes from the body. What the path says already may only be said again. */
static bool
add_body_fields(rt_call *call, const rt_op *op, yyjson_val *root, rt_buf *json)
{
	yyjson_val *key, *value;
	size_t i, max;

	(void)op;
	yyjson_obj_foreach(root, i, max, key, value)
	{
		rt_str name = rt_json_str(key), in_path = {NULL, 0};
		size_t at;

		if (rt_str_is(name, "op"))
			continue;
		for (at = 0; at < RT_ROUTE_PARAMS; at++) {
			rt_str param = rt_route_param_name(call->route->path, at);

			if (param.size > 0 && rt_str_eq(param, name))
				in_path = call->params[at];
		}
		if (in_path.ptr != NULL) {
			if (rt_str_eq(rt_json_str(value), in_path))
				continue;
			fail(call, RT_USAGE, "the path says already what \"%.*s\" is", name);
			return false;
		}
		rt_json_add_key_str(json, name);
		rt_json_add_value(json, value);
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

static void
do_op(rt_call *call, const rt_op *op, yyjson_val *root, const char *member, const char *value)
{
	rt_call_change change = {.is_atomic = false, .is_made = (op->flags & RT_OP_MAKES) != 0};
	size_t at;
	rt_buf json;

	rt_buf_init(&json, call->request->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&json, "[{\"op\":");
	rt_json_add_string(&json, rt_str_of(op->name));
	for (at = 0; at < RT_ROUTE_PARAMS; at++) {
		rt_str name = rt_route_param_name(call->route->path, at);
		const rt_op_field *field = name.size > 0 ? rt_op_field_named(op, name) : NULL;

		if (field != NULL && !add_path_field(call, field, call->params[at], &json))
			goto done;
	}
	if (member != NULL) {
		rt_json_add_key(&json, member);
		rt_buf_add_c(&json, value);
	}
	if (!add_body_fields(call, op, root, &json) ||
	    !place_named(call, op, root, "discussion", &change.disc) ||
	    !place_named(call, op, root, "take", &change.take))
		goto done;
	rt_buf_add_c(&json, "}]");
	change.requests = rt_buf_str(&json);
	change.entry = entry_named(call, op, root);
	note_slip(call, op, root);
	if (json.status != RT_OK)
		fail(call, RT_NOMEM, "out of memory%.*s", RT_STR(""));
	else
		rt_call_change_do(call, &change);
done:
	rt_buf_deinit(&json);
}

static void
do_op_with_body(rt_call *call, const rt_op *op, const char *member, const char *value)
{
	rt_json_doc *doc = NULL;
	yyjson_val *root = NULL;

	if (!rt_call_body(call, true, &doc, &root))
		return;
	do_op(call, op, root, member, value);
	rt_json_free(doc);
}

void
rt_api_op(rt_call *call)
{
	RT_ASSERT(call->route->op >= 0 && call->route->op < RT_OP_COUNT);
	do_op_with_body(call, &rt_ops[call->route->op], NULL, NULL);
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
		do_op_with_body(call, op, NULL, NULL);
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
	do_op_with_body(call, &rt_ops[RT_OP_SETTING_SET], "value", "null");
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
	rt_call_change change = {.disc = rt_call_param(call, "discussion")};
	rt_place place;
	rt_error err;
	rt_buf json;
	rt_status st;

	memset(&err, 0, sizeof(err));
	rt_buf_init(&json, call->request->alloc, RT_BUF_UNLIMITED);
	if (rt_call_replayed(call) || !rt_call_value(call, &project) ||
	    !rt_call_place(call, project, change.disc, &place))
		goto done;
	st = rt_project_disc(project, place.disc, &disc, &err);
	if (st == RT_OK)
		st = find_label(project, disc, rt_call_param(call, "label"), id, &err);
	rt_buf_add_c(&json, "[{\"op\":\"label.set\",\"label\":null,\"entry\":");
	if (st == RT_OK)
		rt_json_add_string(&json, rt_str_of(id));
	rt_buf_add_c(&json, "}]");
	if (st == RT_OK && json.status != RT_OK)
		st = rt_fail(&err, RT_NOMEM, "out of memory");
	if (st != RT_OK) {
		rt_call_fail(call, &err, NULL);
		goto done;
	}
	change.requests = rt_buf_str(&json);
	rt_call_change_do(call, &change);
done:
	rt_object_unref(project);
	rt_buf_deinit(&json);
}

/* ---- an entry, changed in several ways at once ---- */

typedef struct patch {
	rt_call *call;
	yyjson_val *root, *content, *role, *muted;
	rt_str disc, take, entry;
	bool everywhere, keep_blocks, is_take, keep_after;
	rt_str name;
	rt_buf json;
	size_t count;
} patch;

static void
begin_request(patch *p, const char *op)
{
	rt_buf_add_c(&p->json, p->count++ > 0 ? "},{\"op\":\"" : "[{\"op\":\"");
	rt_buf_add_c(&p->json, op);
	rt_buf_add_byte(&p->json, '"');
}

static void
add_text(patch *p, const char *key, rt_str text)
{
	rt_json_add_key(&p->json, key);
	rt_json_add_string(&p->json, text);
}

static void
add_value(patch *p, const char *key, yyjson_val *value)
{
	rt_json_add_key(&p->json, key);
	rt_json_add_value(&p->json, value);
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

/* The changes themselves, of an entry in the take that is in force then. */
static void
add_changes(patch *p, rt_str entry)
{
	if (p->content != NULL) {
		begin_request(p, "entry.edit");
		add_text(p, "entry", entry);
		add_value(p, "content", p->content);
		if (p->everywhere)
			rt_buf_add_c(&p->json, ",\"everywhere\":true");
		if (p->keep_blocks)
			rt_buf_add_c(&p->json, ",\"keep_blocks\":true");
	}
	if (p->role != NULL) {
		begin_request(p, "entry.role");
		add_text(p, "entry", entry);
		add_value(p, "role", p->role);
	}
	if (p->muted != NULL) {
		begin_request(p, "entry.mute");
		add_text(p, "entry", entry);
		add_value(p, "muted", p->muted);
	}
}

/* The content of a new entry in place of this one. */
static rt_status
add_content(patch *p, const rt_project *project, rt_place place, uint32_t entry, rt_error *err)
{
	rt_engine *engine = p->call->open_project->engine;
	rt_json_doc *doc = NULL;
	yyjson_val *old;
	rt_buf view;
	rt_status st;

	if (p->content != NULL && !(p->keep_blocks && yyjson_is_str(p->content))) {
		add_value(p, "content", p->content);
		return RT_OK;
	}
	rt_buf_init(&view, p->call->request->alloc, RT_BUF_UNLIMITED);
	st = rt_view_entry(engine, project, place, entry, &view, err);
	if (st == RT_OK)
		st = rt_json_read(p->call->request->alloc, rt_buf_str(&view), &doc, err);
	if (st == RT_OK) {
		old = rt_json_get(rt_json_root(doc), "content");
		if (p->content == NULL) {
			add_value(p, "content", old);
		} else {
			rt_json_add_key(&p->json, "content");
			rt_content_set_text(&p->json, rt_content_of(old), rt_json_str(p->content));
		}
	}
	rt_json_free(doc);
	rt_buf_deinit(&view);
	return st;
}

/* A new take; the present one stays as it is. With keep_after it is all of that with the
 * entry changed; without, what came before and a new entry, as retake edit --as-take. */
static rt_status
add_take(patch *p, const rt_project *project, rt_place place, rt_error *err)
{
	const rt_disc *disc;
	const rt_take *take = NULL;
	char id[RT_ID_MAX + 1];
	rt_str role = {NULL, 0};
	uint32_t entry = 0;
	rt_slot slot, other;
	size_t at = 0, upto = 0;
	bool found = false;
	rt_status st = rt_project_disc(project, place.disc, &disc, err);

	if (st == RT_OK)
		take = rt_disc_take(disc, place.take);
	if (st == RT_OK)
		st = rt_resolve_entry(project, place, p->entry, false, &entry, err);
	if (st == RT_OK)
		st = rt_take_find(project, take, entry, &at, &slot, &found, err);
	if (st == RT_OK && !found)
		st = rt_fail(err, RT_NOT_FOUND, "the entry is not in this take");
	if (st == RT_OK)
		st = rt_project_name(project, slot.role, &role, err);
	if (st != RT_OK)
		return st;
	if (!p->keep_after && at == 0) {
		if (p->name.size > 0)
			return rt_fail(
				err, RT_USAGE,
				"a take that begins with its first entry names itself; leave "
				"out \"name\", or rename it afterwards");
		begin_request(p, "head.move");
		rt_buf_add_c(&p->json, ",\"entry\":null");
	} else {
		upto = p->keep_after ? rt_seq_count(take->slots) - 1 : at - 1;
		st = rt_seq_get(take->slots, upto, &other, err);
		if (st == RT_OK)
			st = rt_entry_id(project, other.entry, id, err);
		if (st != RT_OK)
			return st;
		begin_request(p, "take.branch");
		add_text(p, "at", rt_str_of(id));
		if (p->name.size > 0)
			add_text(p, "name", p->name);
	}
	if (p->take.size > 0)
		add_text(p, "take", p->take);
	st = rt_entry_id(project, entry, id, err);
	if (st != RT_OK)
		return st;
	if (p->keep_after) {
		add_changes(p, rt_str_of(id));
		return RT_OK;
	}
	begin_request(p, "entry.append");
	if (p->role != NULL)
		add_value(p, "role", p->role);
	else if (role.size > 0)
		add_text(p, "role", role);
	st = add_content(p, project, place, entry, err);
	if (p->muted != NULL) {
		begin_request(p, "entry.mute");
		add_text(p, "entry", RT_STR(":-1"));
		add_value(p, "muted", p->muted);
	}
	return st;
}

void
rt_api_entry_patch(rt_call *call)
{
	patch p = {.call = call,
		   .disc = rt_call_param(call, "discussion"),
		   .entry = rt_call_param(call, "entry")};
	const rt_project *project = NULL;
	rt_json_doc *doc = NULL;
	rt_call_change change = {.is_atomic = true, .is_one = true};
	rt_place place = {0, 0};
	rt_error err;
	rt_status st = RT_OK;

	memset(&err, 0, sizeof(err));
	rt_buf_init(&p.json, call->request->alloc, RT_BUF_UNLIMITED);
	if (!rt_call_body(call, false, &doc, &p.root) || !read_patch(&p) ||
	    !place_named(call, NULL, p.root, "take", &p.take))
		goto done;
	if (p.is_take) {
		if (rt_call_replayed(call) || !rt_call_value(call, &project))
			goto done;
		st = rt_resolve_place(project, p.disc, p.take, &place, &err);
		if (st == RT_OK)
			st = add_take(&p, project, place, &err);
	} else {
		add_changes(&p, p.entry);
	}
	rt_buf_add_c(&p.json, "}]");
	if (st == RT_OK && p.json.status != RT_OK)
		st = rt_fail(&err, RT_NOMEM, "out of memory");
	if (st != RT_OK) {
		rt_call_fail(call, &err, NULL);
		goto done;
	}
	change.requests = rt_buf_str(&p.json);
	change.disc = p.disc;
	change.take = p.take;
	change.names_takes = p.is_take;
	change.entry = p.entry;
	change.is_made = p.is_take;
	rt_call_change_do(call, &change);
done:
	rt_object_unref(project);
	rt_json_free(doc);
	rt_buf_deinit(&p.json);
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

void
rt_api_batch(rt_call *call)
{
	rt_call_change change = {.is_atomic = true};
	rt_json_doc *doc = NULL;
	yyjson_val *root = NULL, *ops, *atomic;
	rt_buf json;

	rt_buf_init(&json, call->request->alloc, RT_BUF_UNLIMITED);
	if (!rt_call_body(call, false, &doc, &root) || !read_batch(call, root, &ops) ||
	    !place_named(call, NULL, root, "discussion", &change.disc) ||
	    !place_named(call, NULL, root, "take", &change.take))
		goto done;
	atomic = rt_json_get(root, "atomic");
	if (atomic != NULL && !yyjson_is_bool(atomic)) {
		fail_plainly(call, "\"atomic\" is true or false");
		goto done;
	}
	change.is_atomic = !yyjson_is_false(atomic);
	rt_json_add_value(&json, ops);
	if (json.status != RT_OK) {
		fail(call, RT_NOMEM, "out of memory%.*s", RT_STR(""));
		goto done;
	}
	change.requests = rt_buf_str(&json);
	rt_call_change_do(call, &change);
done:
	rt_json_free(doc);
	rt_buf_deinit(&json);
}

static void
add_advice(void *ctx, const rt_lint *advice)
{
	rt_buf *buf = ctx;

	rt_json_add_comma(buf);
	rt_buf_add_c(buf, "{\"id\":");
	rt_json_add_string(buf, rt_str_of(advice->id));
	rt_json_add_key(buf, "entry");
	rt_json_add_string(buf, rt_str_of(advice->entry));
	if (advice->other[0] != '\0') {
		rt_json_add_key(buf, "other");
		rt_json_add_string(buf, rt_str_of(advice->other));
	}
	rt_json_add_key(buf, "text");
	rt_json_add_string(buf, advice->words);
	if (advice->repair.size > 0) {
		rt_json_add_key(buf, "repair");
		rt_buf_add_str(buf, advice->repair);
	}
	rt_buf_add_byte(buf, '}');
}

void
rt_api_advice(rt_call *call)
{
	rt_buf *body = &call->answer->body;
	rt_json_doc *doc = NULL;
	yyjson_val *root = NULL, *ops = NULL, *item, **requests = NULL;
	rt_str take;
	size_t i, count, resent = 0;
	const rt_project *value = NULL;
	rt_place place;
	rt_error err;
	rt_status st;

	memset(&err, 0, sizeof(err));
	if (!rt_call_body(call, false, &doc, &root) || !read_batch(call, root, &ops) ||
	    !place_named(call, NULL, root, "take", &take) || !rt_call_value(call, &value))
		goto done;
	st = rt_resolve_place(value, rt_call_param(call, "discussion"), take, &place, &err);
	rt_object_unref(value);
	if (st != RT_OK) {
		rt_call_fail(call, &err, NULL);
		goto done;
	}
	requests = rt_arena_get(call->request->arena, yyjson_arr_size(ops) * sizeof(yyjson_val *));
	st = requests != NULL ? RT_OK : rt_fail(&err, RT_NOMEM, "out of memory");
	yyjson_arr_foreach(ops, i, count, item)
	{
		if (st == RT_OK &&
		    (!yyjson_is_obj(item) || !yyjson_is_str(rt_json_get(item, "op"))))
			st = rt_fail(&err, RT_USAGE, "an operation is an object with \"op\"");
		if (st == RT_OK)
			requests[i] = item;
	}
	if (st == RT_OK)
		st = rt_engine_refresh(call->open_project->engine, &err);
	rt_buf_add_c(body, "{\"advice\":[");
	if (st == RT_OK) {
		rt_request *typed;
		rt_scope s;

		rt_scope_init(&s, body->alloc);
		typed = rt_requests_read(&s, requests, count);
		RT_TRY(&s, rt_engine_lint(call->open_project->engine, typed, count,
					  rt_call_param(call, "discussion"), take, add_advice, body,
					  &resent, &s.error));
		st = rt_scope_end(&s, &err);
	}
	rt_buf_add_f(body, "],\"resent_tokens\":%zu}", resent);
	if (st == RT_OK)
		rt_call_done(call, 200);
	else
		rt_call_fail(call, &err, NULL);
done:
	rt_json_free(doc);
}
