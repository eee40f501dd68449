/* SPDX-License-Identifier: MIT
 *
 * Dedup: JSON values whose long texts are written once. A log of requests to a model repeats the
 * whole conversation with every request; split this way it grows with the conversation only.
 *
 * In a value that is split, a string of RT_DEDUP_TEXT_MIN bytes or more is replaced by a reference
 * to it, and so is a run of items in a long array:
 *
 *   {"messages":[{"$t":"9f86d0…"},{"role":"user","content":{"$t":"60303a…"}}]}
 *
 * A reference is an object with the member "$t" alone: the name of a text. A text is the bytes that
 * the reference stands for: a string with its quotes, or a run of items between brackets, which has
 * references in turn. Its name is the first 128 bits of the SHA-256 of these bytes, as 32
 * hexadecimal digits: equal bytes, equal names. An object in the value that begins with such a
 * member itself is given one more '$' ("$$t"), and loses it when the value is joined.
 *
 * Runs end where the hash of an item says so, not at fixed places. So an item that is inserted,
 * changed or left out changes the runs around it, and the others keep their names; and as runs are
 * items of longer runs, a value that differs from an earlier one by one item costs O(log n) new
 * bytes.
 *
 * Joining yields the bytes that were split, white space and escapes included: nothing is parsed and
 * written again. A string is never divided, so that a text can be found in the texts by search.
 *
 * One thread at a time. */
#ifndef RT_CODEC_DEDUP_H
#define RT_CODEC_DEDUP_H

#include "base/scope.h"

enum {
	RT_DEDUP_TEXT_MIN = 64, /* bytes of a string, as it is written between its quotes */
	RT_DEDUP_NAME_SIZE = 32 /* hexadecimal digits */
};

/* Texts by name. */
typedef struct rt_dedup {
	const rt_alloc *alloc;
	struct rt_dedup_slot *slots; /* a hash table with open addressing */
	size_t count, room;
} rt_dedup;

void rt_dedup_init(rt_dedup *texts, const rt_alloc *alloc);
void rt_dedup_deinit(rt_dedup *texts);

/* Adds a text, which is borrowed; ptr NULL: it is only known to exist. An existing name gets the
 * new text. name: its digits; others are ignored. RT_NOMEM. */
RT_CHECKED rt_status rt_dedup_add(rt_dedup *texts, rt_str name, rt_str text);
/* Adds the members of a JSON object {name:text,…}; they are borrowed. */
RT_CHECKED rt_status rt_dedup_add_all(rt_dedup *texts, rt_str object);

/* Appends the split value to out, and each text that was not known to added, as members
 * "name":text with commas between them, a text before those that refer to it. It is known then.
 * json: one valid value. On failure out and added are incomplete, and texts may know more than they
 * should. O(size). */
void rt_dedup_split(rt_scope *scope, rt_dedup *texts, rt_str json, rt_buf *added, rt_buf *out);

/* Appends the value that was split. RT_NOT_FOUND: it refers to a text that is not known.
 * RT_CORRUPT: texts contain each other. A limit of out limits its size. */
RT_CHECKED rt_status rt_dedup_join(const rt_dedup *texts, rt_str split, rt_buf *out, rt_error *err);

/* For texts that were changed in place. Appends a JSON object of texts, or a split value, with the
 * names that its texts should have: in an object each member whose text (with its own references
 * renamed) no longer has its name gets a new one. renamed maps the old names to the new ones and is
 * extended. */
void rt_dedup_rename_texts(rt_scope *scope, rt_dedup *renamed, rt_str object, rt_buf *out);
void rt_dedup_rename_refs(rt_scope *scope, const rt_dedup *renamed, rt_str split, rt_buf *out);

/* The next member of an object, as it is written; *at begins at 0. key: without its quotes. False:
 * no more, or no valid JSON. */
bool rt_dedup_next_member(rt_str object, size_t *at, rt_str *key, rt_str *value);

#endif
