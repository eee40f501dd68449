/* SPDX-License-Identifier: MIT
 *
 * The text form of a take: writing and reading. */
#include "cli/takefile.h"

#include "base/hash.h"

/* What stands in the place of a content that is no plain text. */
#define LOCKED_TEXT "(not plain text; it stays as it is)"

static const char guide[] =
	"Each entry begins with a line \"=== ID ROLE\"; its text follows. Change texts and roles,\n"
	"move entries, delete them with their line, add new ones with a line \"=== + ROLE\".\n"
	"\"+muted\" behind an ID keeps the entry from being sent. What an entry has beside its text\n"
	"(calls of tools, images) stays with it. A line of a text that begins with \"=== \" has a\n"
	"backslash before it. What stands above the next line is ignored.\n\n";

rt_status
rt_cli_items_init(rt_cli_items *items, const rt_alloc *alloc)
{
	memset(items, 0, sizeof(*items));
	items->alloc = alloc;
	items->arena = rt_arena_new(alloc);
	return items->arena != NULL ? RT_OK : RT_NOMEM;
}

void
rt_cli_items_deinit(rt_cli_items *items)
{
	if (items->alloc == NULL)
		return;
	rt_free(items->alloc, items->items);
	rt_arena_free(items->arena);
	memset(items, 0, sizeof(*items));
}

static bool
keep(rt_cli_items *items, rt_str *text)
{
	char *copy = rt_arena_get(items->arena, text->size + 1);

	if (copy == NULL)
		return false;
	if (text->size > 0)
		memcpy(copy, text->ptr, text->size);
	copy[text->size] = 0;
	text->ptr = copy;
	return true;
}

rt_status
rt_cli_items_add(rt_cli_items *items, const rt_cli_item *item)
{
	rt_cli_item *last;

	if (items->count == items->room) {
		size_t room = items->room == 0 ? 64 : items->room * 2;
		rt_cli_item *more = rt_resize(items->alloc, items->items, room * sizeof(*more));

		if (more == NULL)
			return RT_NOMEM;
		items->items = more;
		items->room = room;
	}
	last = &items->items[items->count];
	*last = *item;
	if (!keep(items, &last->id) || !keep(items, &last->role) || !keep(items, &last->content))
		return RT_NOMEM;
	items->count++;
	return RT_OK;
}

/* --- ids --- */

struct rt_cli_index {
	const rt_cli_items *items;
	size_t mask;
	size_t slots[]; /* position + 1, or 0 */
};

rt_status
rt_cli_index_new(const rt_cli_items *items, rt_cli_index **out)
{
	size_t room = 16, i, at;
	rt_cli_index *index;

	while (room < items->count * 2)
		room *= 2;
	index = rt_new0(items->alloc, sizeof(*index) + room * sizeof(index->slots[0]));
	if (index == NULL)
		return RT_NOMEM;
	index->items = items;
	index->mask = room - 1;
	for (i = 0; i < items->count; i++) {
		rt_str id = items->items[i].id;

		if (id.size == 0)
			continue;
		at = (size_t)rt_hash(id.ptr, id.size, 0) & index->mask;
		while (index->slots[at] != 0)
			at = (at + 1) & index->mask;
		index->slots[at] = i + 1;
	}
	*out = index;
	return RT_OK;
}

size_t
rt_cli_index_find(const rt_cli_index *index, rt_str id)
{
	size_t at = (size_t)rt_hash(id.ptr, id.size, 0) & index->mask;

	for (; index->slots[at] != 0; at = (at + 1) & index->mask)
		if (rt_str_eq(index->items->items[index->slots[at] - 1].id, id))
			return index->slots[at] - 1;
	return SIZE_MAX;
}

void
rt_cli_index_free(rt_cli_index *index)
{
	if (index != NULL)
		rt_free(index->items->alloc, index);
}

/* --- writing --- */

/* Is it a line that looks like a frame, behind any number of backslashes? */
static bool
looks_like_frame(rt_str line)
{
	size_t i = 0;

	while (i < line.size && line.ptr[i] == '\\')
		i++;
	return rt_str_starts(rt_str_at(line.ptr + i, line.size - i), RT_STR("=== "));
}

/* The next line of text from *at on, without its end. */
static rt_str
next_line(rt_str text, size_t *at)
{
	const char *end = memchr(text.ptr + *at, '\n', text.size - *at);
	size_t size = end == NULL ? text.size - *at : (size_t)(end - text.ptr) - *at;
	rt_str line = rt_str_at(text.ptr + *at, size);

	*at += size + 1;
	return line;
}

static void
add_content(rt_buf *buf, rt_str content)
{
	size_t at = 0;

	while (at < content.size) {
		bool ended;
		rt_str line = next_line(content, &at);

		ended = at <= content.size;
		if (looks_like_frame(line))
			rt_buf_add_byte(buf, '\\');
		rt_buf_add_str(buf, line);
		if (ended)
			rt_buf_add_byte(buf, '\n');
	}
}

static bool
is_plain_role(rt_str role)
{
	size_t i;

	if (role.size == 0 || role.ptr[0] == ' ' || role.ptr[0] == '"' ||
	    role.ptr[role.size - 1] == ' ')
		return false;
	for (i = 0; i < role.size; i++)
		if ((unsigned char)role.ptr[i] < 0x20 || role.ptr[i] == 0x7F)
			return false;
	return true;
}

void
rt_cli_takefile_write(rt_buf *buf, const rt_cli_items *items, rt_str title)
{
	size_t i;

	if (title.size > 0) {
		rt_buf_add_str(buf, title);
		rt_buf_add_c(buf, "\n\n");
	}
	rt_buf_add_c(buf, guide);
	rt_buf_add_f(buf, "=== :step %llu\n", (unsigned long long)items->step);
	for (i = 0; i < items->count; i++) {
		const rt_cli_item *item = &items->items[i];

		rt_buf_add_c(buf, "=== ");
		rt_buf_add_str(buf, item->id.size > 0 ? item->id : RT_STR("+"));
		rt_buf_add_c(buf, item->muted ? "+muted" : "");
		rt_buf_add_c(buf, item->locked ? "+locked " : " ");
		if (is_plain_role(item->role))
			rt_buf_add_str(buf, item->role);
		else
			rt_json_add_string(buf, item->role);
		rt_buf_add_byte(buf, '\n');
		if (item->locked)
			rt_buf_add_c(buf, LOCKED_TEXT);
		else
			add_content(buf, item->content);
		rt_buf_add_c(buf, "\n\n");
	}
	rt_buf_add_c(buf, "=== :end\n");
}

/* --- reading --- */

typedef struct reader {
	rt_str text;
	size_t at;
	uint64_t line; /* of what next_line gave last */
	bool crlf;     /* the editor ended all lines with CR LF */
	rt_cli_items *out;
	rt_cli_item item; /* the one that is being read */
	bool in_item;
	rt_buf body;
	rt_error *err;
} reader;

static rt_status
bad(reader *r, const char *what, rt_str where)
{
	rt_status st = rt_fail(
		r->err, RT_USAGE, "line %llu: %s: \"%.*s\"", (unsigned long long)r->line, what,
		(int)(where.size > 80 ? rt_utf8_cut(where, 80) : where.size), where.ptr);

	if (r->err != NULL)
		r->err->line = r->line;
	return st;
}

/* The item that ends here. */
static rt_status
finish_item(reader *r)
{
	rt_status st;

	if (!r->in_item)
		return RT_OK;
	r->in_item = false;
	/* The last line's end, and the blank line that belongs to the frame. */
	if (r->body.size > 0 && r->body.ptr[r->body.size - 1] == '\n')
		r->body.size--;
	if (r->body.size > 0 && r->body.ptr[r->body.size - 1] == '\n')
		r->body.size--;
	if (r->body.status != RT_OK)
		return rt_fail(r->err, r->body.status, "out of memory");
	r->item.content = rt_buf_str(&r->body);
	if (r->item.locked) {
		rt_str text = rt_str_trim(r->item.content);

		if (text.size > 0 && !rt_str_is(text, LOCKED_TEXT)) {
			r->line = r->item.line;
			return bad(r, "this entry is not plain text and cannot be edited here",
				   r->item.id);
		}
		r->item.content = rt_str_at(NULL, 0);
	}
	st = rt_cli_items_add(r->out, &r->item);
	return st == RT_OK ? RT_OK : rt_fail(r->err, st, "out of memory");
}

/* ID[+muted][+locked] */
static rt_status
read_name(reader *r, rt_str name, rt_str line)
{
	size_t plus = rt_str_find(name, RT_STR("+"), 0);
	rt_str flags = {NULL, 0};

	r->item.id = name;
	if (plus != SIZE_MAX) {
		r->item.id = rt_str_at(name.ptr, plus);
		flags = rt_str_at(name.ptr + plus, name.size - plus);
	}
	while (flags.size > 1) {
		size_t end = rt_str_find(flags, RT_STR("+"), 1);
		rt_str flag;

		if (end == SIZE_MAX)
			end = flags.size;
		flag = rt_str_at(flags.ptr + 1, end - 1);
		if (rt_str_is(flag, "muted"))
			r->item.muted = true;
		else if (rt_str_is(flag, "locked"))
			r->item.locked = true;
		else
			return bad(r, "an entry is +muted, +locked or neither", line);
		flags = rt_str_at(flags.ptr + end, flags.size - end);
	}
	if (r->item.id.size > 0 && !rt_id_is_legal(r->item.id))
		return bad(r, "this is no id (for a new entry write: === + ROLE)", line);
	if (r->item.id.size == 0 && r->item.locked)
		return bad(r, "a new entry cannot be locked", line);
	return RT_OK;
}

static rt_status
read_role(reader *r, rt_str role, rt_str line)
{
	rt_json_doc *doc = NULL;
	rt_status st = RT_OK;

	if (role.size == 0 || role.ptr[0] != '"') {
		r->item.role = role;
		return role.size > 0 ? RT_OK : bad(r, "the role is missing", line);
	}
	st = rt_json_read(r->out->alloc, role, &doc, NULL);
	if (st == RT_NOMEM) {
		st = rt_fail(r->err, RT_NOMEM, "out of memory");
	} else if (st != RT_OK || !yyjson_is_str(rt_json_root(doc))) {
		st = bad(r, "a role in quotes must be a JSON string", line);
	} else {
		r->item.role = rt_json_str(rt_json_root(doc));
		if (!keep(r->out, &r->item.role))
			st = rt_fail(r->err, RT_NOMEM, "out of memory");
	}
	rt_json_free(doc);
	return st;
}

/* Behind "=== ". *out_end: that was the last frame. */
static rt_status
read_frame(reader *r, rt_str rest, rt_str line, bool *out_end)
{
	size_t space = rt_str_find(rest, RT_STR(" "), 0);
	rt_str name = rt_str_at(rest.ptr, space == SIZE_MAX ? rest.size : space);
	rt_str role = rt_str_trim(rt_str_at(rest.ptr + name.size, rest.size - name.size));
	rt_status st = finish_item(r);

	if (st != RT_OK)
		return st;
	if (rt_str_is(name, ":end")) {
		*out_end = true;
		return RT_OK;
	}
	if (rt_str_is(name, ":step")) {
		size_t i;

		r->out->step = 0;
		for (i = 0; i < role.size && role.ptr[i] >= '0' && role.ptr[i] <= '9' && i < 18;
		     i++)
			r->out->step = r->out->step * 10 + (uint64_t)(role.ptr[i] - '0');
		r->out->has_step = role.size > 0 && i == role.size;
		return r->out->has_step ? RT_OK : bad(r, "the step must be a number", line);
	}
	memset(&r->item, 0, sizeof(r->item));
	r->item.line = r->line;
	rt_buf_clear(&r->body);
	st = read_name(r, name, line);
	if (st == RT_OK)
		st = read_role(r, role, line);
	r->in_item = st == RT_OK;
	return st;
}

static rt_status
read_lines(reader *r)
{
	bool end = false;

	while (r->at < r->text.size && !end) {
		rt_str line = next_line(r->text, &r->at);
		rt_status st;

		r->line++;
		if (rt_str_starts(line, RT_STR("=== "))) {
			if (line.ptr[line.size - 1] == '\r') {
				r->crlf = true;
				line.size--;
			}
			st = read_frame(r, rt_str_at(line.ptr + 4, line.size - 4), line, &end);
			if (st != RT_OK)
				return st;
			continue;
		}
		if (!r->in_item) {
			/* Only what stands between frames has a place to go. */
			if (r->out->count > 0 && rt_str_trim(line).size > 0)
				return bad(r, "this belongs to no entry", line);
			continue;
		}
		if (r->crlf && line.size > 0 && line.ptr[line.size - 1] == '\r')
			line.size--;
		if (line.size > 0 && line.ptr[0] == '\\' && looks_like_frame(line))
			line = rt_str_at(line.ptr + 1, line.size - 1);
		rt_buf_add_str(&r->body, line);
		rt_buf_add_byte(&r->body, '\n');
	}
	while (end && r->at < r->text.size) { /* to pass over it could delete entries */
		rt_str line = next_line(r->text, &r->at);

		r->line++;
		if (rt_str_trim(line).size > 0)
			return bad(r, "this is after the line that ends the file, === :end; move it "
				      "before that line, or delete it",
				   line);
	}
	if (end)
		return RT_OK;
	r->line++;
	return bad(r, "the file ends without its last line", RT_STR("=== :end"));
}

static rt_status
check_ids(const rt_cli_items *items, rt_error *err)
{
	rt_cli_index *index = NULL;
	rt_status st = rt_cli_index_new(items, &index);
	size_t i;

	for (i = 0; st == RT_OK && i < items->count; i++) {
		const rt_cli_item *item = &items->items[i];

		if (item->id.size > 0 && rt_cli_index_find(index, item->id) != i)
			st = rt_fail(err, RT_USAGE,
				     "line %llu: entry %.*s stands here a second time "
				     "(a copy begins with \"=== + ROLE\")",
				     (unsigned long long)item->line, RT_STR_ARG(item->id));
	}
	rt_cli_index_free(index);
	return st;
}

rt_status
rt_cli_takefile_read(rt_str text, rt_cli_items *out, rt_error *err)
{
	reader r = {.text = text, .out = out, .err = err};
	size_t valid = rt_utf8_valid_size(text);
	rt_status st;

	if (valid != text.size)
		return rt_fail_at(err, RT_USAGE, valid, "the file is not UTF-8 (at byte %zu)",
				  valid);
	rt_buf_init(&r.body, out->alloc, RT_BUF_UNLIMITED);
	st = read_lines(&r);
	if (st == RT_OK)
		st = check_ids(out, err);
	rt_buf_deinit(&r.body);
	return st;
}
