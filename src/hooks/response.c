/* SPDX-License-Identifier: MIT */
#include "hooks/response.h"

/* The member; NULL if absent or null. */
static yyjson_val *
member(yyjson_val *object, const char *key)
{
	yyjson_val *value = rt_json_get(object, key);

	return yyjson_is_null(value) ? NULL : value;
}

static rt_str
read_text(rt_scope *s, yyjson_val *object, const char *key)
{
	yyjson_val *value = member(object, key);

	if (value != NULL && !yyjson_is_str(value))
		rt_scope_fail(s, RT_USAGE, "\"%s\" is not a string", key);
	return rt_json_str(value);
}

static rt_hook_decision
read_decision(rt_scope *s, yyjson_val *object)
{
	static const char *const words[] = {
		[RT_HOOK_ALLOW] = "allow", [RT_HOOK_DENY] = "deny", [RT_HOOK_REPLACE] = "replace"};
	rt_str word = read_text(s, object, "decision");
	yyjson_val *cancel = member(object, "cancel");
	unsigned decision = RT_HOOK_ALLOW;

	if (member(object, "decision") != NULL) {
		while (decision < 3 && !rt_str_is(word, words[decision]))
			decision++;
		if (decision == 3)
			rt_scope_fail(s, RT_USAGE,
				      "\"decision\" must be allow, deny or replace, not \"%.*s\"",
				      (int)rt_utf8_cut(word, 40), word.ptr);
	}
	if (cancel != NULL && !yyjson_is_bool(cancel))
		rt_scope_fail(s, RT_USAGE, "\"cancel\" is neither true nor false");
	return yyjson_is_true(cancel) ? RT_HOOK_DENY : (rt_hook_decision)decision;
}

/* True if no object in the value has too many members. */
static bool
is_small(yyjson_val *value)
{
	if (yyjson_obj_size(value) > RT_HOOK_PATCH_MEMBERS_MAX)
		return false;
	for (rt_json_iter it = rt_json_members(value); rt_json_next(&it);)
		if (!is_small(it.value))
			return false;
	return true;
}

static yyjson_val *
read_patch(rt_scope *s, yyjson_val *object, const rt_hook_event *event, rt_hook_decision decision)
{
	yyjson_val *patch = member(object, "patch");

	if (patch == NULL)
		return NULL;
	if (!yyjson_is_obj(patch))
		rt_scope_fail(s, RT_USAGE, "\"patch\" is not an object");
	else if (decision != RT_HOOK_REPLACE && yyjson_obj_size(patch) > 0)
		rt_scope_fail(s, RT_USAGE, "\"patch\" requires \"decision\":\"replace\"");
	else if (!is_small(patch))
		rt_scope_fail(s, RT_LIMIT, "an object in \"patch\" has more than %d members",
			      RT_HOOK_PATCH_MEMBERS_MAX);
	if (!rt_ok(s))
		return NULL;
	for (rt_json_iter it = rt_json_members(patch); rt_json_next(&it);) {
		if (!rt_hook_event_replaces(event, it.key))
			rt_scope_fail(s, RT_USAGE, "\"patch\" contains \"%.*s\", but %s allows changes only to: %s",
				      (int)rt_utf8_cut(it.key, 40), it.key.ptr, event->name,
				      event->replaces[0] == 0 ? "nothing" : event->replaces);
		else if (yyjson_is_null(it.value))
			rt_scope_fail(s, RT_USAGE, "\"patch\" must not remove \"%s\"", event->replaces);
	}
	return yyjson_obj_size(patch) > 0 ? patch : NULL;
}

static yyjson_val *
read_summary(rt_scope *s, yyjson_val *object, const rt_hook_event *event)
{
	yyjson_val *summary = member(object, "summary");

	if (summary == NULL)
		return NULL;
	if (!(event->traits & RT_HOOK_SUMMARIZES))
		rt_scope_fail(s, RT_USAGE, "%s does not accept a \"summary\"", event->name);
	else if (!yyjson_is_str(rt_json_get(summary, "summary")))
		rt_scope_fail(s, RT_USAGE,
			      "\"summary\" is not an object with a string \"summary\"");
	return summary;
}

void
rt_hook_response_read(rt_scope *scope, rt_str text, const rt_hook_event *event,
		      rt_hook_response *out)
{
	yyjson_val *root;

	*out = (rt_hook_response){.decision = RT_HOOK_ALLOW};
	if (rt_str_trim(text).size == 0)
		return;
	root = rt_json_parse(scope, text);
	if (!yyjson_is_obj(root)) {
		rt_scope_fail(scope, RT_USAGE, "it is JSON, but not an object");
		return;
	}
	out->decision = read_decision(scope, root);
	out->reason = read_text(scope, root, "reason");
	out->note = read_text(scope, root, "note");
	out->is_quiet = yyjson_is_true(member(root, "cancel")) && rt_str_trim(out->reason).size == 0;
	out->patch = read_patch(scope, root, event, out->decision);
	out->summary = read_summary(scope, root, event);
	if (out->decision == RT_HOOK_REPLACE && out->patch == NULL && out->summary == NULL)
		rt_scope_fail(scope, RT_USAGE, "\"decision\":\"replace\" requires a \"patch\"");
}

/* The recursion is bounded by RT_JSON_DEPTH_MAX. */
void
rt_hook_merge(rt_buf *out, yyjson_val *target, yyjson_val *patch)
{
	if (!yyjson_is_obj(patch)) {
		rt_json_add_value(out, patch);
		return;
	}
	rt_buf_add_byte(out, '{');
	for (rt_json_iter it = rt_json_members(target); rt_json_next(&it);) {
		yyjson_val *other = rt_json_get_str(patch, it.key);

		if (yyjson_is_null(other))
			continue;
		rt_json_add_key_str(out, it.key);
		if (other == NULL)
			rt_json_add_value(out, it.value);
		else
			rt_hook_merge(out, it.value, other);
	}
	for (rt_json_iter it = rt_json_members(patch); rt_json_next(&it);) {
		if (yyjson_is_null(it.value) || rt_json_get_str(patch, it.key) != it.value ||
		    rt_json_get_str(target, it.key) != NULL)
			continue;
		rt_json_add_key_str(out, it.key);
		rt_hook_merge(out, NULL, it.value);
	}
	rt_buf_add_byte(out, '}');
}

void
rt_hook_add_message(rt_buf *out, rt_str text)
{
	rt_str rest = rt_str_trim(text), added;
	size_t at = out->size, cut;

	/* An invalid byte becomes at most three, so this covers every character that is kept. */
	if (rest.size > RT_HOOK_MESSAGE_MAX * 4)
		rest.size = RT_HOOK_MESSAGE_MAX * 4;
	rt_utf8_repair(out, rest);
	if (out->status != RT_OK || out->size == at)
		return;
	added = rt_str_at(out->ptr + at, out->size - at);
	cut = rt_utf8_offset(added, RT_HOOK_MESSAGE_MAX);
	if (cut != SIZE_MAX)
		out->size = at + cut;
	out->ptr[out->size] = 0;
	for (; at < out->size; at++)
		if (out->ptr[at] == '\n' || out->ptr[at] == '\r')
			out->ptr[at] = ' ';
}
