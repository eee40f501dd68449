/* SPDX-License-Identifier: MIT
 *
 * Outlines, text by text. JSON is not taken apart and written again: each of its strings is
 * looked at where it stands, and only what is secret in it is replaced, so that every other
 * byte of a raw record stays. */
#include "formats/redact.h"

#include <stdlib.h> /* qsort */

#include "base/hash.h"
#include "codec/body.h"
#include "codec/json.h"

enum {
	MEMBERS_KNOWN = 64 /* a name that came before more than these gets another number */
};

/* Names of members that had secrets in them, and their numbers: the last ones are known. */
typedef struct member_names {
	uint64_t was[MEMBERS_KNOWN]; /* hashes; number n stands at (n - 1) % MEMBERS_KNOWN */
	size_t count;
} member_names;

typedef struct redactor {
	const rt_alloc *alloc;
	rt_arena *arena;
	const rt_secret_options *options;
	rt_secrets found;
	rt_buf made;
	rt_redaction *out;
	rt_status status;
	/* where one is */
	rt_str discussion, entry, where;
	member_names members; /* of the JSON under way */
	member_names fields;  /* of the discussion under way, or the project */
	/* of the discussion under way */
	size_t places, kinds[RT_SECRET_KIND_COUNT];
} redactor;

static void
fail(redactor *r, rt_status st)
{
	if (r->status == RT_OK)
		r->status = st;
}

static rt_str
keep(redactor *r, rt_str s)
{
	char *copy = rt_arena_get(r->arena, s.size + 1);

	if (copy == NULL) {
		fail(r, RT_NOMEM);
		return rt_str_at("", 0);
	}
	if (s.size > 0)
		memcpy(copy, s.ptr, s.size);
	copy[s.size] = '\0';
	return rt_str_at(copy, s.size);
}

/* ---- what was found ---- */

/* Its first letters, a sixth of it at most. */
static void
show(rt_str secret, char *out)
{
	size_t shown = secret.size / 6, i;

	if (shown > 6)
		shown = 6;
	for (i = 0; i < shown; i++) {
		char c = secret.ptr[i];

		out[i] = c > ' ' && c < 0x7F && c != '\\' && c != '"' ? c : '?';
	}
	memcpy(out + shown, "\xE2\x80\xA6", 4);
}

static void
note(redactor *r, const rt_secret *secret, rt_str text)
{
	rt_redaction *out = r->out;
	rt_redact_item *item;

	out->places++;
	out->kinds[secret->kind]++;
	r->places++;
	r->kinds[secret->kind]++;
	if (out->item_count == RT_REDACT_ITEMS_MAX)
		return;
	if (out->item_count == out->item_room) {
		size_t room = out->item_room == 0 ? 16 : out->item_room * 2;
		rt_redact_item *items = rt_resize(out->alloc, out->items, room * sizeof(*items));

		if (items == NULL) {
			fail(r, RT_NOMEM);
			return;
		}
		out->items = items;
		out->item_room = room;
	}
	item = &out->items[out->item_count++];
	*item = (rt_redact_item){.kind = secret->kind, .discussion = r->discussion,
				 .entry = r->entry, .where = r->where,
				 .size = secret->to - secret->from};
	show(rt_str_at(text.ptr + secret->from, item->size), item->shown);
}

static void
add_mark(rt_buf *out, rt_secret_kind kind)
{
	rt_buf_add_c(out, "[redacted: ");
	rt_buf_add_c(out, rt_secret_word(kind));
	rt_buf_add_byte(out, ']');
}

/* text without its secrets, appended to made. True: it had some. */
static bool
add_redacted(redactor *r, rt_str text, bool is_json)
{
	size_t from = 0, i;

	if (r->status == RT_OK && text.size > 0)
		fail(r, rt_secrets_find(&r->found, text, is_json, r->options));
	else
		r->found.count = 0;
	if (r->status != RT_OK)
		return false;
	for (i = 0; i < r->found.count; i++) {
		const rt_secret *secret = &r->found.items[i];

		rt_buf_add(&r->made, text.ptr + from, secret->from - from);
		add_mark(&r->made, secret->kind);
		note(r, secret, text);
		from = secret->to;
	}
	if (text.size > from)
		rt_buf_add(&r->made, text.ptr + from, text.size - from);
	return r->found.count > 0;
}

/* A plain text, in place. */
static bool
do_text(redactor *r, rt_str *text, const char *where)
{
	r->where = rt_str_of(where);
	rt_buf_clear(&r->made);
	if (!add_redacted(r, *text, false))
		return false;
	fail(r, r->made.status);
	if (r->status == RT_OK)
		*text = keep(r, rt_buf_str(&r->made));
	return true;
}

/* Two names that were different stay so: " 2" behind the second one, and so on. */
static void
add_number(rt_buf *out, member_names *names, rt_str was)
{
	uint64_t hash = rt_hash(was.ptr, was.size, 0x72656461u);
	size_t first = names->count > MEMBERS_KNOWN ? names->count - MEMBERS_KNOWN : 0, i;

	for (i = first; i < names->count && names->was[i % MEMBERS_KNOWN] != hash;)
		i++;
	if (i == names->count)
		names->was[names->count++ % MEMBERS_KNOWN] = hash;
	if (i > 0)
		rt_buf_add_f(out, " %zu", i + 1);
}

/* ---- JSON ---- */

/* The string that begins at or after at, with its quotes. False: there is none. */
static bool
next_string(rt_str json, size_t at, size_t *from, size_t *to)
{
	const char *quote = at < json.size ? memchr(json.ptr + at, '"', json.size - at) : NULL;

	if (quote == NULL)
		return false;
	*from = (size_t)(quote - json.ptr);
	for (at = *from + 1; at < json.size && json.ptr[at] != '"'; at++)
		if (json.ptr[at] == '\\')
			at++;
	*to = at < json.size ? at + 1 : json.size;
	return true;
}

/* What stands between two strings, without blanks: ':' makes the first the name of the second,
 * ',' its neighbour in a list. '\0': something else. */
static char
between(rt_str json, size_t from, size_t to)
{
	char seen = '\0';

	for (; from < to; from++) {
		char c = json.ptr[from];

		if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
			continue;
		if (seen != '\0' || (c != ':' && c != ','))
			return '\0';
		seen = c;
	}
	return seen;
}

/* Is the second string what the first one names? "password":"…", and of arguments "--key","…". */
static bool
is_named(rt_str json, rt_str name, size_t end, size_t from, rt_str value, rt_secret_kind *kind)
{
	char sign = between(json, end, from);

	return name.size > 0 &&
	       (sign == ':' || (sign == ',' && rt_str_starts(name, RT_STR("--")))) &&
	       rt_secret_is_value(name, value, kind);
}

/* Is a string that ends at at the name of a member? */
static bool
is_member(rt_str json, size_t at)
{
	while (at < json.size && strchr(" \t\r\n", json.ptr[at]) != NULL && json.ptr[at] != '\0')
		at++;
	return at < json.size && json.ptr[at] == ':';
}

/* JSON text, in place: its strings, names of members among them. */
static bool
do_json(redactor *r, rt_str *json)
{
	size_t at = 0, from, to, end = 0;
	rt_str last = {NULL, 0};
	bool changed = false;

	r->members.count = 0;
	rt_buf_clear(&r->made);
	while (r->status == RT_OK && next_string(*json, at, &from, &to)) {
		rt_str inside = to - from >= 2 ? rt_str_at(json->ptr + from + 1, to - from - 2)
					       : rt_str_at("", 0);
		rt_secret whole = {0, inside.size, RT_SECRET_ASSIGNED};

		rt_buf_add(&r->made, json->ptr + at, from + 1 - at);
		if (is_named(*json, last, end, from, inside, &whole.kind)) {
			add_mark(&r->made, whole.kind);
			note(r, &whole, inside);
			changed = true;
		} else if (add_redacted(r, inside, true)) {
			changed = true;
			if (is_member(*json, to))
				add_number(&r->made, &r->members, inside);
		}
		if (to - from >= 2)
			rt_buf_add_byte(&r->made, '"');
		last = inside;
		at = end = to;
	}
	if (json->size > at)
		rt_buf_add(&r->made, json->ptr + at, json->size - at);
	fail(r, r->made.status);
	if (changed && r->status == RT_OK)
		*json = keep(r, rt_buf_str(&r->made));
	return changed;
}

static void
do_field(redactor *r, rt_outline_field *field)
{
	r->where = rt_str_at("field", 5);
	if (field->name.size > 0) {
		rt_str was = field->name;

		if (do_text(r, &field->name, "name of a field")) {
			rt_buf_clear(&r->made);
			rt_buf_add_str(&r->made, field->name);
			add_number(&r->made, &r->fields, was);
			fail(r, r->made.status);
			if (r->status == RT_OK)
				field->name = keep(r, rt_buf_str(&r->made));
		}
		r->where = field->name;
	}
	do_json(r, &field->json);
}

/* ---- names that must stay apart ---- */

/* A name or id that had a secret in it. */
typedef struct renamed {
	rt_str was, *now;
} renamed;

static int
by_was(const void *a, const void *b)
{
	return rt_str_cmp(((const renamed *)a)->was, ((const renamed *)b)->was);
}

/* Equal ones stay equal, the second of different ones gets " 2", and so on. */
static void
part(redactor *r, renamed *list, size_t count)
{
	size_t i, number = 1;

	if (count > 1)
		qsort(list, count, sizeof(*list), by_was);
	for (i = 1; i < count && r->status == RT_OK; i++) {
		number += !rt_str_eq(list[i].was, list[i - 1].was);
		if (number == 1)
			continue;
		rt_buf_clear(&r->made);
		rt_buf_add_str(&r->made, *list[i].now);
		rt_buf_add_f(&r->made, " %zu", number);
		fail(r, r->made.status);
		if (r->status == RT_OK)
			*list[i].now = keep(r, rt_buf_str(&r->made));
	}
}

/* ---- outlines ---- */

static void
do_ids(redactor *r, rt_outline *o)
{
	renamed *list = rt_new_array(r->alloc, o->node_count + o->take_count + 1, sizeof(*list));
	size_t i, count = 0;

	if (list == NULL)
		fail(r, RT_NOMEM);
	for (i = 0; i < o->node_count && r->status == RT_OK; i++) {
		rt_str was = o->nodes[i].id;

		if (do_text(r, &o->nodes[i].id, "id"))
			list[count++] = (renamed){was, &o->nodes[i].id};
	}
	if (r->status == RT_OK)
		part(r, list, count);
	for (i = 0, count = 0; i < o->take_count && r->status == RT_OK; i++) {
		rt_str was = o->takes[i].name;

		do_text(r, &o->takes[i].git_commit, "commit of a take");
		if (do_text(r, &o->takes[i].name, "name of a take"))
			list[count++] = (renamed){was, &o->takes[i].name};
	}
	if (r->status == RT_OK)
		part(r, list, count);
	rt_free(r->alloc, list);
}

static bool
do_node(redactor *r, rt_node *node)
{
	bool changed;

	r->entry = node->id;
	changed = do_text(r, &node->role, "role");
	changed |= do_text(r, &node->kind, "kind");
	changed |= do_text(r, &node->label, "label");
	if (node->body_format == RT_BODY_JSON || node->body_format == RT_BODY_PI) {
		r->where = RT_STR("text");
		changed |= do_json(r, &node->body);
	} else {
		changed |= do_text(r, &node->body, "text");
	}
	return changed;
}

static int
by_text(const void *a, const void *b)
{
	return rt_str_cmp(*(const rt_str *)a, *(const rt_str *)b);
}

/* The nodes, and how many entries of theirs had secrets: those of one id are one. */
static size_t
do_nodes(redactor *r, rt_outline *o)
{
	rt_str *ids = rt_new_array(r->alloc, o->node_count + 1, sizeof(*ids));
	size_t i, count = 0, entries = 0;

	if (ids == NULL)
		fail(r, RT_NOMEM);
	for (i = 0; i < o->node_count && r->status == RT_OK; i++) {
		if (!do_node(r, &o->nodes[i]))
			continue;
		if (o->nodes[i].id.size > 0)
			ids[count++] = o->nodes[i].id;
		else
			entries++;
	}
	r->entry = rt_str_at("", 0);
	if (count > 1)
		qsort(ids, count, sizeof(*ids), by_text);
	for (i = 0; i < count; i++)
		entries += i == 0 || !rt_str_eq(ids[i], ids[i - 1]);
	rt_free(r->alloc, ids);
	return entries;
}

/* A header of a file that goes by an id: another one, for this is another conversation. */
static void
change_header(redactor *r, rt_outline_field *field)
{
	static const rt_str key = RT_STR_INIT("\\\"id\\\""), quote = RT_STR_INIT("\\\"");
	size_t at = rt_str_find(field->json, key, 0), end;
	uint64_t hash;

	if (at != SIZE_MAX)
		at = rt_str_find(field->json, quote, at + key.size);
	if (at == SIZE_MAX)
		return;
	at += quote.size;
	end = rt_str_find(field->json, quote, at);
	if (end == SIZE_MAX)
		return;
	hash = rt_hash(field->json.ptr + at, end - at, 0x72656461u);
	rt_buf_clear(&r->made);
	rt_buf_add(&r->made, field->json.ptr, at);
	rt_buf_add_f(&r->made, "%08x-%04x-8%03x-8%03x-%012llx", (unsigned)(hash >> 32),
		     (unsigned)(hash >> 16 & 0xFFFF), (unsigned)(hash >> 4 & 0xFFF),
		     (unsigned)(hash >> 20 & 0xFFF), (unsigned long long)(hash * 31 & 0xFFFFFFFFFFFF));
	rt_buf_add(&r->made, field->json.ptr + end, field->json.size - end);
	fail(r, r->made.status);
	if (r->status == RT_OK)
		field->json = keep(r, rt_buf_str(&r->made));
}

static void
add_counts(rt_buf *out, size_t entries, size_t places, const size_t *kinds)
{
	size_t i;

	rt_buf_add_f(out, "{\"entries\":%zu,\"places\":%zu,\"kinds\":{", entries, places);
	for (i = 0; i < RT_SECRET_KIND_COUNT; i++)
		if (kinds[i] > 0) {
			rt_json_add_key(out, rt_secret_word((rt_secret_kind)i));
			rt_buf_add_u64(out, kinds[i]);
		}
	rt_buf_add_c(out, "}");
}

/* The fields of a discussion: those that say where it came from go, one that says what was
 * done to it comes. */
static void
do_fields(redactor *r, rt_outline *o, size_t entries)
{
	rt_outline_field *fields = rt_arena_get(r->arena, (o->field_count + 1) * sizeof(*fields));
	size_t i, count = 0;

	if (fields == NULL) {
		fail(r, RT_NOMEM);
		return;
	}
	r->fields.count = 0;
	for (i = 0; i < o->field_count && r->status == RT_OK; i++) {
		rt_outline_field field = o->fields[i];

		if (rt_str_is(field.name, "source") || rt_str_is(field.name, "redacted") ||
		    rt_str_is(field.name, "id"))
			continue;
		do_field(r, &field);
		if (rt_str_is(field.name, "pi.header"))
			change_header(r, &field);
		fields[count++] = field;
	}
	rt_buf_clear(&r->made);
	add_counts(&r->made, entries, r->places, r->kinds);
	rt_buf_add_byte(&r->made, '}');
	fail(r, r->made.status);
	if (r->status == RT_OK)
		fields[count++] =
			(rt_outline_field){RT_STR("redacted"), keep(r, rt_buf_str(&r->made))};
	o->fields = fields;
	o->field_count = count;
}

static void
do_outline(redactor *r, rt_outline *o)
{
	size_t entries;

	r->places = 0;
	memset(r->kinds, 0, sizeof(r->kinds));
	do_text(r, &o->called, "name");
	do_text(r, &o->sent_take, "name of a take");
	do_text(r, &o->sent_markdown, "what was sent");
	do_text(r, &o->sent_system_prompt, "what was sent");
	do_ids(r, o);
	entries = r->status == RT_OK ? do_nodes(r, o) : 0;
	do_fields(r, o, entries);
	o->source = rt_str_at("", 0);
	r->out->entries += entries;
}

static void
do_names(redactor *r, rt_outlines *io)
{
	renamed *list = rt_new_array(r->alloc, io->count + 1, sizeof(*list));
	size_t i, count = 0;

	if (list == NULL)
		fail(r, RT_NOMEM);
	for (i = 0; i < io->count && r->status == RT_OK; i++) {
		rt_str was = io->items[i].name;

		if (do_text(r, &io->items[i].name, "name"))
			list[count++] = (renamed){was, &io->items[i].name};
	}
	if (r->status == RT_OK)
		part(r, list, count);
	rt_free(r->alloc, list);
}

void
rt_redaction_init(rt_redaction *redaction, const rt_alloc *alloc)
{
	memset(redaction, 0, sizeof(*redaction));
	redaction->alloc = alloc;
}

void
rt_redaction_deinit(rt_redaction *redaction)
{
	rt_free(redaction->alloc, redaction->items);
	memset(redaction, 0, sizeof(*redaction));
}

rt_status
rt_redact(const rt_alloc *alloc, rt_outlines *io, const rt_secret_options *options,
	  rt_redaction *out, rt_error *err)
{
	redactor r = {.alloc = alloc, .arena = io->arena, .options = options, .out = out};
	rt_outline_field *fields;
	size_t i;

	rt_secrets_init(&r.found, alloc);
	rt_buf_init(&r.made, alloc, RT_BUF_UNLIMITED);
	do_names(&r, io);
	for (i = 0; i < io->count && r.status == RT_OK; i++) {
		r.discussion = io->items[i].name;
		do_outline(&r, &io->items[i]);
	}
	r.discussion = rt_str_at("", 0);
	fields = rt_arena_get(r.arena, (io->field_count + 1) * sizeof(*fields));
	if (fields == NULL)
		fail(&r, RT_NOMEM);
	r.fields.count = 0;
	for (i = 0; i < io->field_count && r.status == RT_OK; i++) {
		fields[i] = io->fields[i]; /* some of them are the project's own */
		do_field(&r, &fields[i]);
	}
	if (r.status == RT_OK)
		io->fields = fields;
	rt_secrets_deinit(&r.found);
	rt_buf_deinit(&r.made);
	return r.status == RT_OK ? RT_OK : rt_fail(err, r.status, "out of memory while redacting");
}

/* ---- said ---- */

void
rt_redaction_add_words(rt_buf *out, const rt_redaction *redaction)
{
	const char *sign = ": ";
	size_t i;

	if (redaction->places == 0) {
		rt_buf_add_c(out, "nothing that looks like a secret");
		return;
	}
	if (redaction->entries > 0)
		rt_buf_add_f(out, "%zu %s redacted", redaction->entries,
			     redaction->entries == 1 ? "entry" : "entries");
	else
		rt_buf_add_c(out, "no entry redacted, but what stands beside them");
	for (i = 0; i < RT_SECRET_KIND_COUNT; i++) {
		const char *word = rt_secret_word((rt_secret_kind)i);
		size_t count = redaction->kinds[i], size = strlen(word);

		if (count == 0)
			continue;
		rt_buf_add_f(out, "%s%zu ", sign, count);
		if (count == 1)
			rt_buf_add_c(out, word);
		else if (word[size - 1] == 'y' && word[size - 2] != 'e') /* directories, keys */
			rt_buf_add_f(out, "%.*sies", (int)size - 1, word);
		else
			rt_buf_add_f(out, "%s%s", word, word[size - 1] == 's' ? "es" : "s");
		sign = ", ";
	}
}

void
rt_redaction_add_json(rt_buf *out, const rt_redaction *redaction)
{
	size_t i;

	add_counts(out, redaction->entries, redaction->places, redaction->kinds);
	rt_buf_add_c(out, ",\"items\":[");
	for (i = 0; i < redaction->item_count; i++) {
		const rt_redact_item *item = &redaction->items[i];

		rt_json_add_comma(out);
		rt_buf_add_c(out, "{\"discussion\":");
		if (item->discussion.size > 0)
			rt_json_add_string(out, item->discussion);
		else
			rt_buf_add_c(out, "null");
		rt_json_add_key(out, "entry");
		if (item->entry.size > 0)
			rt_json_add_string(out, item->entry);
		else
			rt_buf_add_c(out, "null");
		rt_json_add_key(out, "where");
		rt_json_add_string(out, item->where);
		rt_json_add_key(out, "kind");
		rt_json_add_string(out, rt_str_of(rt_secret_word(item->kind)));
		rt_json_add_key(out, "shown");
		rt_json_add_string(out, rt_str_of(item->shown));
		rt_buf_add_f(out, ",\"size\":%zu}", item->size);
	}
	rt_buf_add_f(out, "],\"more\":%s}",
		     redaction->places > redaction->item_count ? "true" : "false");
}
