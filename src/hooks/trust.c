/* SPDX-License-Identifier: MIT
 *
 * The text of trust.json. */
#include "hooks/trust.h"

static yyjson_val *
hooks_of(const rt_json_doc *doc)
{
	yyjson_val *hooks = doc == NULL ? NULL : rt_json_get(rt_json_root(doc), "hooks");

	return yyjson_is_obj(hooks) ? hooks : NULL;
}

rt_str
rt_trust_find(const rt_json_doc *doc, rt_str path)
{
	yyjson_val *hooks = hooks_of(doc), *key, *value;
	rt_str found = {NULL, 0};
	size_t i, count;

	if (hooks == NULL)
		return found;
	yyjson_obj_foreach(hooks, i, count, key, value)
		if (rt_str_eq(rt_json_str(key), path))
			found = yyjson_is_str(value) ? rt_json_str(value) : rt_str_at(NULL, 0);
	return found;
}

rt_status
rt_trust_check(const rt_json_doc *doc, rt_error *err)
{
	uint64_t version;

	if (!rt_json_u64(rt_json_get(rt_json_root(doc), "v"), &version) || hooks_of(doc) == NULL)
		return rt_fail(err, RT_CORRUPT, "trust.json is not what Retake writes");
	if (version > 1)
		return rt_fail(err, RT_TOO_NEW, "trust.json was written by a newer Retake");
	return RT_OK;
}

rt_status
rt_trust_write(const rt_alloc *alloc, const rt_json_doc *doc, rt_str path, rt_str hex, rt_buf *out)
{
	yyjson_val *hooks = hooks_of(doc), *key, *value;
	rt_json_doc *made = NULL;
	size_t i, count;
	rt_status st;
	rt_buf text;

	rt_buf_init(&text, alloc, RT_TRUST_FILE_MAX);
	rt_buf_add_c(&text, "{\"v\":1,\"hooks\":{");
	if (hooks != NULL)
		yyjson_obj_foreach(hooks, i, count, key, value) {
			if (rt_str_eq(rt_json_str(key), path) || !yyjson_is_str(value))
				continue;
			rt_json_add_key_str(&text, rt_json_str(key));
			rt_json_add_string(&text, rt_json_str(value));
		}
	if (hex.size > 0) {
		rt_json_add_key_str(&text, path);
		rt_json_add_string(&text, hex);
	}
	rt_buf_add_c(&text, "}}");
	st = text.status;
	if (st == RT_OK)
		st = rt_json_read(alloc, rt_buf_str(&text), &made, NULL);
	if (st == RT_OK) {
		rt_json_add_sorted(out, alloc, rt_json_root(made));
		rt_buf_add_byte(out, '\n');
		st = out->status;
	}
	rt_json_free(made);
	rt_buf_deinit(&text);
	return st;
}
