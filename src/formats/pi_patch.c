/* SPDX-License-Identifier: MIT
 *
 * Changing a record without rewriting it, so that everything else keeps its bytes: a member's
 * value is replaced in place, removed with its comma, or added.
 *
 * Keys are compared as yyjson unescaped them; the text gives the places. Both list the
 * members in the same order. */
#include "formats/formats_scan.h"
#include "formats/pi_impl.h"

/* Where the member of a change is. */
typedef struct place {
	rt_str key, value; /* in the text, key with its quotes */
	bool is_there;
	bool after_is_there;
	rt_str after; /* the value after which a new member goes */
} place;

/* Walk over the members of text and object at once; false: done or at odds (*bad). */
static bool
next_member(rt_members *m, yyjson_obj_iter *iter, yyjson_val **out_key, rt_str *out_raw_key,
	    rt_str *out_value, bool *bad)
{
	bool more = rt_members_next(m, out_raw_key, out_value);

	*out_key = yyjson_obj_iter_next(iter);
	*bad = *bad || m->bad || more != (*out_key != NULL);
	return more && !*bad;
}

static bool
open_both(rt_str text, yyjson_val *object, rt_members *m, yyjson_obj_iter *iter)
{
	return yyjson_obj_iter_init(object, iter) && rt_members_open(m, text);
}

rt_str
rt_pi_member(rt_str text, yyjson_val *object, const char *key)
{
	rt_members m;
	yyjson_obj_iter iter;
	yyjson_val *k;
	rt_str raw, value, found = {NULL, 0};
	bool bad = false;

	if (!open_both(text, object, &m, &iter))
		return found;
	while (next_member(&m, &iter, &k, &raw, &value, &bad))
		if (rt_str_is(rt_json_str(k), key))
			found = value;
	return found;
}

static void
find_places(yyjson_val *k, rt_str raw, rt_str value, const rt_pi_change *changes, size_t count,
	    place *places)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (rt_str_is(rt_json_str(k), changes[i].key)) {
			places[i].key = raw;
			places[i].value = value;
			places[i].is_there = true;
		}
		if (changes[i].after != NULL && rt_str_is(rt_json_str(k), changes[i].after)) {
			places[i].after = value;
			places[i].after_is_there = true;
		}
	}
}

static void
add_member(rt_buf *out, bool comma_before, const rt_pi_change *change)
{
	if (comma_before)
		rt_buf_add_byte(out, ',');
	rt_json_add_string(out, rt_str_of(change->key));
	rt_buf_add_byte(out, ':');
	rt_buf_add_str(out, change->json);
}

/* The change that takes this member away, or puts something else there; NULL: none. */
static const rt_pi_change *
change_of(yyjson_val *k, rt_str value, const rt_pi_change *changes, const place *places,
	  size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!rt_str_is(rt_json_str(k), changes[i].key))
			continue;
		if (changes[i].json.ptr == NULL || places[i].value.ptr == value.ptr)
			return &changes[i];
	}
	return NULL;
}

rt_status
rt_pi_patch(rt_buf *out, rt_str text, yyjson_val *object, const rt_pi_change *changes, size_t count)
{
	enum { CHANGES_MAX = 16 };
	place places[CHANGES_MAX];
	rt_members m;
	yyjson_obj_iter iter;
	yyjson_val *k;
	rt_str raw, value;
	const char *copied = text.ptr, *end_of_last = NULL;
	bool bad = false, any = false;
	size_t i;

	RT_ASSERT(count <= CHANGES_MAX);
	memset(places, 0, sizeof(places));
	if (!open_both(text, object, &m, &iter))
		return RT_CORRUPT;
	while (next_member(&m, &iter, &k, &raw, &value, &bad))
		find_places(k, raw, value, changes, count, places);
	if (bad || !open_both(text, object, &m, &iter))
		return RT_CORRUPT;
	/* copied: everything before it is written; end_of_last: after the last member kept */
	end_of_last = text.ptr + m.at;
	while (next_member(&m, &iter, &k, &raw, &value, &bad)) {
		const rt_pi_change *change = change_of(k, value, changes, places, count);
		const char *end = value.ptr + value.size;

		if (change != NULL && change->json.ptr == NULL) {
			/* out with it; its comma is the one before, or the one after the first */
			rt_buf_add(out, copied, (size_t)(end_of_last - copied));
			copied = end;
			if (!any) {
				size_t at = rt_scan_blank(text, (size_t)(end - text.ptr));

				if (at < text.size && text.ptr[at] == ',')
					copied = text.ptr + rt_scan_blank(text, at + 1);
			}
			end_of_last = copied;
			continue;
		}
		any = true;
		if (change != NULL) {
			rt_buf_add(out, copied, (size_t)(value.ptr - copied));
			rt_buf_add_str(out, change->json);
			copied = end;
		}
		for (i = 0; i < count; i++) {
			if (places[i].is_there || changes[i].json.ptr == NULL ||
			    !places[i].after_is_there || places[i].after.ptr != value.ptr)
				continue;
			rt_buf_add(out, copied, (size_t)(end - copied));
			copied = end;
			add_member(out, true, &changes[i]);
		}
		end_of_last = end;
	}
	RT_ASSERT(!bad);
	rt_buf_add(out, copied, (size_t)(end_of_last - copied));
	copied = end_of_last;
	for (i = 0; i < count; i++) {
		if (places[i].is_there || changes[i].json.ptr == NULL || places[i].after_is_there)
			continue;
		add_member(out, any, &changes[i]);
		any = true;
	}
	rt_buf_add(out, copied, (size_t)(text.ptr + text.size - copied));
	return out->status;
}
