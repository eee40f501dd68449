/* SPDX-License-Identifier: MIT
 *
 * Rows of the directory as JSON. */
#include "accounts/directory_impl.h"

#include <stddef.h>
#include <string.h>

#include "codec/json.h"

const char *const rt_item_prefixes[RT_ITEM_KINDS] = {
	[RT_ITEM_USER] = "user/",   [RT_ITEM_TEAM] = "team/",	  [RT_ITEM_MEMBER] = "member/",
	[RT_ITEM_QUOTA] = "quota/", [RT_ITEM_TOKEN] = "token/", [RT_ITEM_INVITE] = "invite/", [RT_ITEM_LINK] = "link/"};

/* Members that are 0 or empty are not written. All numbers have 64 bits. */
static const struct {
	const char *key;
	size_t offset;
} numbers[] = {
	{"id", offsetof(rt_item, id)},		 {"project", offsetof(rt_item, project)},
	{"user", offsetof(rt_item, user)},	 {"team", offsetof(rt_item, team)},
	{"discussion", offsetof(rt_item, discussion)}, {"role", offsetof(rt_item, role)},
	{"scope", offsetof(rt_item, scope)},	 {"admin", offsetof(rt_item, is_admin)},
	{"disabled", offsetof(rt_item, is_disabled)},	 {"made", offsetof(rt_item, made_us)},
	{"until", offsetof(rt_item, until_us)},	 {"seen", offsetof(rt_item, seen_us)},
}, texts[] = {
	{"name", offsetof(rt_item, name)},
	{"identity", offsetof(rt_item, identity)},
	{"by", offsetof(rt_item, by)},
};

enum {
	NUMBERS = sizeof(numbers) / sizeof(numbers[0]),
	TEXTS = sizeof(texts) / sizeof(texts[0])
};

void
rt_item_add_key(rt_buf *out, const rt_item *item)
{
	rt_buf_add_c(out, rt_item_prefixes[item->kind]);
	if (item->kind == RT_ITEM_MEMBER)
		rt_buf_add_f(out, "%llu/%c%llu", (unsigned long long)item->project,
			     item->user != 0 ? 'u' : 't',
			     (unsigned long long)(item->user != 0 ? item->user : item->team));
	else if (item->kind == RT_ITEM_QUOTA && item->user + item->team + item->project == 0)
		rt_buf_add_c(out, "each");
	else if (item->kind == RT_ITEM_QUOTA)
		rt_buf_add_f(out, "%c%llu", item->user != 0 ? 'u' : item->team != 0 ? 't' : 'p',
			     (unsigned long long)(item->user + item->team + item->project));
	else if (item->kind >= RT_ITEM_TOKEN)
		rt_buf_add_c(out, item->hash);
	else
		rt_buf_add_f(out, "%llu", (unsigned long long)item->id);
}

void
rt_item_write(rt_buf *out, const rt_item *item)
{
	rt_json_open(out, NULL, '{');
	rt_json_put_u64(out, "v", 1);
	for (size_t i = 0; i < NUMBERS; i++) {
		uint64_t number;

		memcpy(&number, (const char *)item + numbers[i].offset, sizeof(number));
		if (number != 0)
			rt_json_put_u64(out, numbers[i].key, number);
	}
	for (size_t i = 0; i < TEXTS; i++) {
		rt_str text;

		memcpy(&text, (const char *)item + texts[i].offset, sizeof(text));
		if (text.size > 0)
			rt_json_put_str(out, texts[i].key, text);
	}
	if (item->list_count > 0) {
		rt_json_open(out, "list", '[');
		for (size_t i = 0; i < item->list_count; i++)
			rt_json_put_u64(out, NULL, item->list[i]);
		rt_json_close(out, ']');
	}
	rt_json_close(out, '}');
}

/* False: the member exists and is not a number. */
static bool
read_number(yyjson_val *value, rt_item *out, size_t offset)
{
	uint64_t number = 0;

	if (value != NULL && (!rt_json_u64(value, &number) || number > INT64_MAX))
		return false;
	memcpy((char *)out + offset, &number, sizeof(number));
	return true;
}

/* The same for a text. RT_NOMEM. */
static rt_status
read_text(rt_arena *arena, yyjson_val *value, rt_item *out, size_t offset, bool *is_good)
{
	rt_str text = rt_json_str(value);
	char *copy = NULL;

	*is_good = *is_good && (value == NULL || yyjson_is_str(value));
	if (!*is_good || text.size == 0)
		return RT_OK;
	copy = rt_arena_get(arena, text.size);
	if (copy == NULL)
		return RT_NOMEM;
	memcpy(copy, text.ptr, text.size);
	text.ptr = copy;
	memcpy((char *)out + offset, &text, sizeof(text));
	return RT_OK;
}

/* A token whose list cannot be read must not become one without limits. */
static rt_status
read_list(rt_arena *arena, yyjson_val *value, rt_item *out, bool *is_good)
{
	uint64_t *list;
	size_t count = 0;

	if (value == NULL)
		return RT_OK;
	*is_good = *is_good && yyjson_is_arr(value) && yyjson_arr_size(value) > 0;
	if (!*is_good)
		return RT_OK;
	list = rt_arena_get(arena, yyjson_arr_size(value) * sizeof(*list));
	if (list == NULL)
		return RT_NOMEM;
	for (rt_json_iter it = rt_json_items(value); rt_json_next(&it); count++)
		*is_good = rt_json_u64(it.value, &list[count]) && *is_good;
	out->list = list;
	out->list_count = count;
	return RT_OK;
}

/* Is it complete, and is it the row of this name? */
static rt_status
check(const rt_alloc *alloc, const rt_item *item, const rt_store_row *row, bool *is_good)
{
	rt_buf key;
	rt_status st;

	rt_buf_init(&key, alloc, 256);
	rt_item_add_key(&key, item);
	st = key.status == RT_LIMIT ? RT_OK : key.status;
	*is_good = *is_good && rt_str_eq(rt_buf_str(&key), row->name) &&
		   (item->kind == RT_ITEM_MEMBER  ? (item->user == 0) != (item->team == 0)
		    : item->kind == RT_ITEM_QUOTA ? item->list_count > 0 && item->list_count % 2 == 0
						  : item->id != 0) &&
		   item->role < RT_ROLE_COUNT && item->scope < RT_TOKEN_SCOPES;
	rt_buf_deinit(&key);
	return st;
}

rt_status
rt_item_read(const rt_alloc *alloc, rt_arena *arena, rt_item_kind kind, const rt_store_row *row,
	     rt_item *out, bool *out_is_item)
{
	size_t prefix = strlen(rt_item_prefixes[kind]);
	rt_json_doc *doc = NULL;
	uint64_t version = 0;
	bool is_good;
	rt_status st;

	*out_is_item = false;
	memset(out, 0, sizeof(*out));
	out->kind = kind;
	if (kind >= RT_ITEM_TOKEN) {
		if (row->name.size != prefix + sizeof(out->hash) - 1)
			return RT_OK;
		memcpy(out->hash, row->name.ptr + prefix, sizeof(out->hash) - 1);
	}
	st = rt_json_read(alloc, row->data, &doc, NULL);
	if (st != RT_OK)
		return st == RT_NOMEM ? st : RT_OK;
	yyjson_val *root = rt_json_root(doc);
	is_good = rt_json_u64(rt_json_get(root, "v"), &version) && version == 1;
	for (size_t i = 0; i < NUMBERS; i++)
		is_good = read_number(rt_json_get(root, numbers[i].key), out, numbers[i].offset) && is_good;
	for (size_t i = 0; st == RT_OK && i < TEXTS; i++)
		st = read_text(arena, rt_json_get(root, texts[i].key), out, texts[i].offset, &is_good);
	if (st == RT_OK)
		st = read_list(arena, rt_json_get(root, "list"), out, &is_good);
	if (st == RT_OK)
		st = check(alloc, out, row, &is_good);
	rt_json_free(doc);
	*out_is_item = st == RT_OK && is_good;
	return st;
}
