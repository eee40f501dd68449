/* SPDX-License-Identifier: MIT
 *
 * Fields are found by name in the table of operations and by offset in the request. */
#include "codec/request_json.h"

#include "core/address.h"

static bool
type_fits(rt_field_type type, yyjson_val *v)
{
	uint64_t number;

	switch (type) {
	case RT_FIELD_STRING:
	case RT_FIELD_ADDRESS: return yyjson_is_str(v);
	case RT_FIELD_CONTENT: return yyjson_is_str(v) || yyjson_is_arr(v);
	case RT_FIELD_NUMBER: return rt_json_u64(v, &number);
	case RT_FIELD_BOOL: return yyjson_is_bool(v);
	case RT_FIELD_ARRAY: return yyjson_is_arr(v);
	case RT_FIELD_MOMENT: return yyjson_is_str(v) || rt_json_is_number(v);
	case RT_FIELD_ANY: return true;
	}
	return false;
}

static const char *
type_name(rt_field_type type)
{
	switch (type) {
	case RT_FIELD_STRING: return "a string";
	case RT_FIELD_ADDRESS: return "an entry's id, label or position as a string";
	case RT_FIELD_CONTENT: return "a string or an array of content blocks";
	case RT_FIELD_NUMBER: return "a whole number, 0 or more";
	case RT_FIELD_BOOL: return "true or false";
	case RT_FIELD_ARRAY: return "an array";
	case RT_FIELD_MOMENT: return "an ISO 8601 time or an epoch number";
	case RT_FIELD_ANY: return "a value";
	}
	return "something else";
}

/* A JSON string as present even when it is empty. */
static rt_str
present_str(yyjson_val *v)
{
	rt_str s = rt_json_str(v);

	return s.ptr != NULL ? s : rt_str_at("", 0);
}

static rt_tristate
tristate(yyjson_val *v)
{
	return v == NULL ? RT_UNSET : yyjson_is_true(v) ? RT_YES : RT_NO;
}

static void
read_member(void *member, rt_field_type type, yyjson_val *v)
{
	switch (type) {
	case RT_FIELD_STRING:
	case RT_FIELD_ADDRESS:
		*(rt_str *)member = yyjson_is_null(v) ? RT_NULL_STR : present_str(v);
		break;
	case RT_FIELD_CONTENT:
		if (yyjson_is_arr(v))
			((rt_content *)member)->blocks = v;
		else
			((rt_content *)member)->text = present_str(v);
		break;
	case RT_FIELD_NUMBER:
		((rt_number *)member)->given = rt_json_u64(v, &((rt_number *)member)->value);
		break;
	case RT_FIELD_BOOL: *(rt_tristate *)member = tristate(v); break;
	case RT_FIELD_MOMENT:
		*(rt_time_text *)member = (rt_time_text){present_str(v), !yyjson_is_str(v)};
		break;
	case RT_FIELD_ARRAY:
	case RT_FIELD_ANY: *(yyjson_val **)member = v; break;
	}
}

static rt_status
find_op(yyjson_val *value, const rt_op **out, rt_error *err)
{
	yyjson_val *name = rt_json_get(value, "op");
	const char *near;

	if (!yyjson_is_obj(value))
		return rt_fail(err, RT_USAGE, "an operation must be a JSON object: {\"op\":\"entry.append\",…}");
	if (!yyjson_is_str(name))
		return rt_fail_advise(err, RT_USAGE, "see: retake help operations",
				      "\"op\" is missing");
	*out = rt_op_named(rt_json_str(name));
	if (*out != NULL)
		return RT_OK;
	near = rt_op_nearest(rt_json_str(name));
	return rt_fail_advise(err, RT_USAGE, "see: retake help operations",
			      "unknown operation \"%.*s\"%s%s%s",
			      (int)(yyjson_get_len(name) > 80 ? 80 : yyjson_get_len(name)),
			      yyjson_get_str(name), near != NULL ? "; did you mean \"" : "",
			      near != NULL ? near : "", near != NULL ? "\"" : "");
}

/* "discussion" and "take", unless they are fields of the operation. */
static rt_status
read_place(const rt_op *op, yyjson_val *value, const char *name, rt_str *out, rt_error *err)
{
	yyjson_val *v = rt_json_get(value, name);

	if (v == NULL || rt_op_field_named(op, rt_str_of(name)) != NULL)
		return RT_OK;
	if (!yyjson_is_str(v))
		return rt_fail(err, RT_USAGE, "\"%s\" must be a name or an id as a string", name);
	*out = present_str(v);
	return RT_OK;
}

/* "git_commit", a text or null. */
static rt_status
read_commit(const rt_op *op, yyjson_val *value, rt_str *out, rt_error *err)
{
	yyjson_val *v = rt_json_get(value, "git_commit");

	if (v != NULL && !yyjson_is_str(v) && !yyjson_is_null(v))
		return rt_fail(err, RT_USAGE, "\"git_commit\" of %s must be a string or null", op->name);
	if (yyjson_get_len(v) > RT_COMMIT_MAX)
		return rt_fail(err, RT_USAGE, "\"git_commit\" can have at most %d bytes",
			       (int)RT_COMMIT_MAX);
	if (v != NULL)
		*out = yyjson_is_null(v) ? RT_NULL_STR : present_str(v);
	return RT_OK;
}

/* Flags that every operation that makes an entry accepts in addition to its fields. */
static const struct {
	const char *name;
	size_t offset;
} entry_flags[] = {
	{"muted", offsetof(rt_request, muted)},
	{"collapsed", offsetof(rt_request, collapsed)},
	{"read_mode", offsetof(rt_request, read_mode)},
};

enum { ENTRY_FLAGS = sizeof(entry_flags) / sizeof(entry_flags[0]) };

static rt_status
read_entry_flags(yyjson_val *value, rt_request *r, rt_error *err)
{
	for (size_t i = 0; i < ENTRY_FLAGS; i++) {
		yyjson_val *v = rt_json_get(value, entry_flags[i].name);

		if (v != NULL && !yyjson_is_bool(v))
			return i == 0 ? rt_fail(err, RT_USAGE, "\"muted\" must be true or false")
				      : rt_fail(err, RT_USAGE, "\"collapsed\" and \"read_mode\" "
							       "must be true or false");
		*(rt_tristate *)((char *)r + entry_flags[i].offset) = tristate(v);
	}
	return RT_OK;
}

static bool
is_present(rt_field_type type, const void *member)
{
	switch (type) {
	case RT_FIELD_STRING:
	case RT_FIELD_ADDRESS: return ((const rt_str *)member)->ptr != NULL;
	case RT_FIELD_CONTENT:
		return ((const rt_content *)member)->blocks != NULL ||
		       ((const rt_content *)member)->text.ptr != NULL;
	case RT_FIELD_NUMBER: return ((const rt_number *)member)->given;
	case RT_FIELD_BOOL: return *(const rt_tristate *)member != RT_UNSET;
	case RT_FIELD_MOMENT: return ((const rt_time_text *)member)->text.ptr != NULL;
	case RT_FIELD_ARRAY:
	case RT_FIELD_ANY: return *(yyjson_val *const *)member != NULL;
	}
	return false;
}

static rt_status
read_field(const rt_op *op, const rt_op_field *f, yyjson_val *v, rt_request *r, rt_error *err)
{
	if (!type_fits(f->type, v) && !(yyjson_is_null(v) && (f->flags & RT_FIELD_NULLABLE) != 0))
		return rt_fail(err, RT_USAGE, "\"%s\" of %s must be %s", f->name, op->name,
			       type_name(f->type));
	read_member((char *)r + f->offset, f->type, v);
	return RT_OK;
}

rt_status
rt_request_read(yyjson_val *value, rt_request *out, rt_error *err)
{
	const rt_op *op = NULL;
	rt_status st = find_op(value, &op, err);

	if (st != RT_OK)
		return st;
	rt_request r = {.op = op->id};
	st = rt_request_read_fields(value, &r, err);
	if (st == RT_OK)
		*out = r;
	return st;
}

rt_status
rt_request_read_fields(yyjson_val *value, rt_request *out, rt_error *err)
{
	rt_request r = *out;
	const rt_op *op = &rt_ops[r.op];
	rt_status st;

	r.source = value;
	for (const rt_op_field *f = op->fields; f->name != NULL; f++) {
		yyjson_val *v = rt_json_get(value, f->name);

		if (is_present(f->type, (char *)&r + f->offset))
			continue;
		if (v == NULL && (f->flags & RT_FIELD_REQUIRED) != 0)
			return rt_fail(err, RT_USAGE, "%s needs \"%s\": %s", op->name, f->name,
				       f->about);
		st = v != NULL ? read_field(op, f, v, &r, err) : RT_OK;
		if (st != RT_OK)
			return st;
	}
	st = read_place(op, value, "discussion", &r.discussion, err);
	if (st == RT_OK)
		st = read_place(op, value, "take", &r.take, err);
	if (st == RT_OK)
		st = read_commit(op, value, &r.git_commit, err);
	if (st == RT_OK && op->role != NULL)
		st = read_entry_flags(value, &r, err);
	if (st == RT_OK)
		*out = r;
	return st;
}

void
rt_request_set(rt_scope *scope, rt_request *r, const char *name, yyjson_val *value)
{
	const rt_op *op = &rt_ops[r->op];
	const rt_op_field *f = rt_op_field_named(op, rt_str_of(name));
	rt_error err;

	RT_ASSERT(f != NULL);
	if (r->invalid == NULL && read_field(op, f, value, r, &err) != RT_OK)
		rt_request_invalidate(scope, r, &err);
}

void
rt_request_invalidate(rt_scope *scope, rt_request *r, const rt_error *err)
{
	rt_error *kept = rt_scope_get(scope, sizeof(*kept));

	if (kept != NULL)
		*kept = *err;
	r->invalid = kept;
}

rt_request *
rt_requests_read(rt_scope *scope, yyjson_val *const *values, size_t count)
{
	rt_request *requests = rt_scope_array(scope, count, sizeof(*requests));

	for (size_t i = 0; requests != NULL && i < count; i++) {
		rt_error err = {0};

		if (rt_request_read(values[i], &requests[i], &err) != RT_OK) {
			requests[i] = (rt_request){.op = RT_OP_COUNT, .source = values[i]};
			rt_request_invalidate(scope, &requests[i], &err);
		}
	}
	return rt_ok(scope) ? requests : NULL;
}

/* ---- writing ---- */

static void
put_str(rt_buf *buf, const char *name, rt_str s)
{
	if (rt_str_is_null(s))
		rt_json_put_null(buf, name);
	else if (s.ptr != NULL)
		rt_json_put_str(buf, name, s);
}

static void
put_member(rt_buf *buf, const rt_op_field *f, const void *member)
{
	switch (f->type) {
	case RT_FIELD_STRING:
	case RT_FIELD_ADDRESS:
		put_str(buf, f->name, rt_address_shown(*(const rt_str *)member));
		break;
	case RT_FIELD_CONTENT: {
		const rt_content *content = member;

		if (content->blocks != NULL)
			rt_json_put_value(buf, f->name, content->blocks);
		else
			put_str(buf, f->name, content->text);
		break;
	}
	case RT_FIELD_NUMBER:
		if (((const rt_number *)member)->given)
			rt_json_put_u64(buf, f->name, ((const rt_number *)member)->value);
		break;
	case RT_FIELD_BOOL:
		if (*(const rt_tristate *)member != RT_UNSET)
			rt_json_put_bool(buf, f->name, *(const rt_tristate *)member == RT_YES);
		break;
	case RT_FIELD_MOMENT: {
		const rt_time_text *ts = member;

		if (ts->is_number)
			rt_json_put_raw(buf, f->name, ts->text);
		else
			put_str(buf, f->name, ts->text);
		break;
	}
	case RT_FIELD_ARRAY:
	case RT_FIELD_ANY:
		if (*(yyjson_val *const *)member != NULL)
			rt_json_put_value(buf, f->name, *(yyjson_val *const *)member);
		break;
	}
}

static void
put_known(rt_buf *buf, const rt_request *r, const rt_op *op, bool only_missing)
{
	for (const rt_op_field *f = op->fields; f->name != NULL; f++)
		if (!only_missing || rt_json_get(r->source, f->name) == NULL)
			put_member(buf, f, (const char *)r + f->offset);
	if (!only_missing || rt_json_get(r->source, "discussion") == NULL)
		put_str(buf, "discussion", rt_address_shown(r->discussion));
	if (!only_missing || rt_json_get(r->source, "take") == NULL)
		put_str(buf, "take", rt_address_shown(r->take));
	if (!only_missing || rt_json_get(r->source, "git_commit") == NULL)
		put_str(buf, "git_commit", r->git_commit);
	for (size_t i = 0; op->role != NULL && i < ENTRY_FLAGS; i++) {
		rt_tristate flag = *(const rt_tristate *)((const char *)r + entry_flags[i].offset);

		if (flag != RT_UNSET &&
		    (!only_missing || rt_json_get(r->source, entry_flags[i].name) == NULL))
			rt_json_put_bool(buf, entry_flags[i].name, flag == RT_YES);
	}
}

void
rt_request_write(rt_buf *buf, const rt_request *r)
{
	const rt_op *op;

	if (r->invalid != NULL) {
		rt_json_put_value(buf, NULL, r->source);
		return;
	}
	op = &rt_ops[r->op];
	rt_json_open(buf, NULL, '{');
	if (rt_json_get(r->source, "op") == NULL)
		rt_json_put_c(buf, "op", op->name);
	for (rt_json_iter it = rt_json_members(r->source); rt_json_next(&it);) {
		const rt_op_field *f = rt_op_field_named(op, it.key);

		if (f != NULL) {
			put_member(buf, f, (const char *)r + f->offset);
		} else if (rt_str_is(it.key, "op")) {
			rt_json_put_c(buf, "op", op->name);
		} else {
			rt_json_add_key_str(buf, it.key);
			rt_json_add_value(buf, it.value);
		}
	}
	put_known(buf, r, op, true);
	rt_json_close(buf, '}');
}

void
rt_request_write_extra(rt_buf *buf, const rt_request *r)
{
	const rt_op *op = &rt_ops[r->op];
	bool any = false;

	for (rt_json_iter it = rt_json_members(r->source); rt_json_next(&it);) {
		if (rt_str_is(it.key, "op") || rt_str_is(it.key, "discussion") ||
		    rt_str_is(it.key, "take") || rt_str_is(it.key, "git_commit") ||
		    rt_op_field_named(op, it.key) != NULL)
			continue;
		if (!any)
			rt_json_open(buf, NULL, '{');
		any = true;
		rt_json_add_key_str(buf, it.key);
		rt_json_add_value(buf, it.value);
	}
	if (any)
		rt_json_close(buf, '}');
}

/* ---- copies ---- */

static void
copy_str(rt_scope *scope, rt_str *s)
{
	if (s->ptr != NULL && !rt_str_is_null(*s))
		*s = rt_scope_copy(scope, *s);
}

static void
copy_value(rt_scope *scope, yyjson_val **value)
{
	rt_buf *json;

	if (*value == NULL)
		return;
	json = rt_scope_buf(scope);
	rt_json_add_value(json, *value);
	*value = rt_json_parse(scope, rt_scope_str(scope, json));
}

static void
copy_member(rt_scope *scope, void *member, rt_field_type type)
{
	switch (type) {
	case RT_FIELD_STRING:
	case RT_FIELD_ADDRESS: copy_str(scope, member); break;
	case RT_FIELD_CONTENT:
		copy_str(scope, &((rt_content *)member)->text);
		copy_value(scope, &((rt_content *)member)->blocks);
		break;
	case RT_FIELD_MOMENT: copy_str(scope, &((rt_time_text *)member)->text); break;
	case RT_FIELD_ARRAY:
	case RT_FIELD_ANY: copy_value(scope, member); break;
	case RT_FIELD_NUMBER:
	case RT_FIELD_BOOL: break;
	}
}

rt_request
rt_request_copy(rt_scope *scope, const rt_request *request)
{
	rt_request r = *request;

	copy_value(scope, &r.source);
	if (r.invalid != NULL) {
		rt_error *kept = rt_scope_get(scope, sizeof(*kept));

		if (kept != NULL)
			*kept = *r.invalid;
		r.invalid = kept;
	} else {
		copy_str(scope, &r.discussion);
		copy_str(scope, &r.take);
		copy_str(scope, &r.git_commit);
		for (const rt_op_field *f = rt_ops[r.op].fields; f->name != NULL; f++)
			copy_member(scope, (char *)&r + f->offset, f->type);
	}
	return rt_ok(scope) ? r : (rt_request){0};
}
