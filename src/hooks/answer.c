/* SPDX-License-Identifier: MIT
 *
 * One hook's answer: read, checked against its event, merged. */
#include "hooks/answer.h"

/* The member; NULL where it is left out or null. */
static yyjson_val *
member(yyjson_val *object, const char *key)
{
	yyjson_val *value = rt_json_get(object, key);

	return yyjson_is_null(value) ? NULL : value;
}

static rt_status
read_text(yyjson_val *object, const char *key, rt_str *out, rt_error *err)
{
	yyjson_val *value = member(object, key);

	if (value != NULL && !yyjson_is_str(value))
		return rt_fail(err, RT_USAGE, "\"%s\" is no text", key);
	*out = rt_json_str(value);
	return RT_OK;
}

static rt_status
read_decision(yyjson_val *object, rt_hook_said *said, rt_error *err)
{
	static const char *const words[] = {"allow", "deny", "replace"};
	yyjson_val *cancel = member(object, "cancel");
	rt_str word;
	rt_status st = read_text(object, "decision", &word, err);
	size_t i = 0;

	if (st != RT_OK)
		return st;
	if (member(object, "decision") != NULL) {
		while (i < 3 && !rt_str_is(word, words[i]))
			i++;
		if (i == 3)
			return rt_fail(err, RT_USAGE,
				       "\"decision\" is allow, deny or replace, not \"%.*s\"",
				       (int)rt_utf8_cut(word, 40), word.ptr);
	}
	said->decision = i == 0 ? RT_HOOK_ALLOW : i == 1 ? RT_HOOK_DENY : RT_HOOK_REPLACE;
	if (cancel != NULL && !yyjson_is_bool(cancel))
		return rt_fail(err, RT_USAGE, "\"cancel\" is neither true nor false");
	if (yyjson_is_true(cancel))
		said->decision = RT_HOOK_DENY;
	return RT_OK;
}

/* An array or object in the patch: is everything below it within the limit? */
static bool
is_small(yyjson_val *value)
{
	yyjson_val *key, *inner;
	size_t i, count;

	if (!yyjson_is_obj(value))
		return true;
	if (yyjson_obj_size(value) > RT_HOOK_PATCH_MEMBERS_MAX)
		return false;
	yyjson_obj_foreach(value, i, count, key, inner)
		if (!is_small(inner))
			return false;
	return true;
}

static rt_status
read_patch(yyjson_val *object, const rt_hook_event *event, rt_hook_said *said, rt_error *err)
{
	yyjson_val *patch = member(object, "patch"), *key, *value;
	size_t i, count;

	if (patch == NULL)
		return RT_OK;
	if (!yyjson_is_obj(patch))
		return rt_fail(err, RT_USAGE, "\"patch\" is no object");
	if (said->decision != RT_HOOK_REPLACE && yyjson_obj_size(patch) > 0)
		return rt_fail(err, RT_USAGE, "there is a \"patch\", but \"decision\" is not replace");
	if (!is_small(patch))
		return rt_fail(err, RT_LIMIT, "an object in \"patch\" has more than %d members",
			       RT_HOOK_PATCH_MEMBERS_MAX);
	yyjson_obj_foreach(patch, i, count, key, value) {
		rt_str name = rt_json_str(key);

		if (!rt_hook_event_replaces(event, name))
			return rt_fail(err, RT_USAGE, "\"patch\" has \"%.*s\"; %s lets change: %s",
				       (int)rt_utf8_cut(name, 40), name.ptr, event->name,
				       event->replaces[0] == 0 ? "nothing" : event->replaces);
		if (yyjson_is_null(value))
			return rt_fail(err, RT_USAGE, "\"patch\" takes away \"%s\"", event->replaces);
	}
	said->patch = yyjson_obj_size(patch) > 0 ? patch : NULL;
	return RT_OK;
}

static rt_status
read_summary(yyjson_val *object, const rt_hook_event *event, rt_hook_said *said, rt_error *err)
{
	yyjson_val *summary = member(object, "summary");

	if (summary == NULL)
		return RT_OK;
	if (!(event->traits & RT_HOOK_SUMS))
		return rt_fail(err, RT_USAGE, "%s takes no \"summary\"", event->name);
	if (!yyjson_is_str(rt_json_get(summary, "summary")))
		return rt_fail(err, RT_USAGE, "\"summary\" is no object with a text \"summary\"");
	said->summary = summary;
	return RT_OK;
}

rt_status
rt_hook_said_read(const rt_alloc *alloc, rt_str text, const rt_hook_event *event, rt_hook_said *out,
		  rt_error *err)
{
	rt_hook_said said;
	yyjson_val *root;
	rt_status st = RT_OK;

	memset(&said, 0, sizeof(said));
	if (rt_str_trim(text).size == 0) {
		*out = said;
		return RT_OK;
	}
	st = rt_json_read(alloc, text, &said.doc, err);
	if (st != RT_OK)
		return st;
	root = rt_json_root(said.doc);
	if (!yyjson_is_obj(root))
		st = rt_fail(err, RT_USAGE, "it is JSON, but no object");
	if (st == RT_OK)
		st = read_decision(root, &said, err);
	if (st == RT_OK)
		st = read_text(root, "reason", &said.reason, err);
	if (st == RT_OK)
		st = read_text(root, "note", &said.note, err);
	if (st == RT_OK)
		st = read_patch(root, event, &said, err);
	if (st == RT_OK)
		st = read_summary(root, event, &said, err);
	if (st == RT_OK && said.decision == RT_HOOK_REPLACE && said.patch == NULL &&
	    said.summary == NULL)
		st = rt_fail(err, RT_USAGE, "\"decision\" is replace, but there is no \"patch\"");
	if (st == RT_OK)
		*out = said;
	else
		rt_json_free(said.doc);
	return st;
}

/* The last member of that name; NULL: none. Keys may hold NULs. */
static yyjson_val *
last_of(yyjson_val *object, rt_str name)
{
	yyjson_val *key, *value, *found = NULL;
	size_t i, count;

	if (!yyjson_is_obj(object))
		return NULL;
	yyjson_obj_foreach(object, i, count, key, value)
		if (rt_str_eq(rt_json_str(key), name))
			found = value;
	return found;
}

/* Recursion ends: a document is at most RT_JSON_DEPTH_MAX deep. */
void
rt_hook_merge(rt_buf *out, yyjson_val *target, yyjson_val *patch)
{
	yyjson_val *key, *value, *other;
	size_t i, count;

	if (!yyjson_is_obj(patch)) {
		rt_json_add_value(out, patch);
		return;
	}
	rt_buf_add_byte(out, '{');
	if (yyjson_is_obj(target))
		yyjson_obj_foreach(target, i, count, key, value) {
			other = last_of(patch, rt_json_str(key));
			if (yyjson_is_null(other))
				continue;
			rt_json_add_key_str(out, rt_json_str(key));
			if (other == NULL)
				rt_json_add_value(out, value);
			else
				rt_hook_merge(out, value, other);
		}
	yyjson_obj_foreach(patch, i, count, key, value) {
		if (yyjson_is_null(value) || last_of(patch, rt_json_str(key)) != value ||
		    last_of(target, rt_json_str(key)) != NULL)
			continue;
		rt_json_add_key_str(out, rt_json_str(key));
		rt_hook_merge(out, NULL, value);
	}
	rt_buf_add_byte(out, '}');
}

void
rt_hook_add_words(rt_buf *out, rt_str words)
{
	rt_str rest = rt_str_trim(words);
	size_t at = out->size, size, cut;
	rt_str whole;

	/* A bad byte becomes three at most, so this much is enough for the characters kept. */
	if (rest.size > RT_HOOK_WORDS_MAX * 4)
		rest.size = RT_HOOK_WORDS_MAX * 4;
	rt_utf8_repair(out, rest);
	if (out->status != RT_OK || out->size == at)
		return;
	whole = rt_str_at(out->ptr + at, out->size - at);
	cut = rt_utf8_offset(whole, RT_HOOK_WORDS_MAX);
	size = cut == SIZE_MAX ? whole.size : cut;
	out->size = at + size;
	if (out->ptr != NULL)
		out->ptr[out->size] = 0;
	for (; at < out->size; at++)
		if (out->ptr[at] == '\n' || out->ptr[at] == '\r')
			out->ptr[at] = ' ';
}
