/* SPDX-License-Identifier: MIT
 *
 * From the lists to a set: every item becomes wants (a file with a view and a part), wants of the
 * same file and part become one, each is read, its part is cut out. */
#include "files/files.h"

#include <string.h>

#include "codec/json.h"
#include "files/files_walk.h"
#include "files/set_impl.h"
#include "files/symbols_impl.h"

static const char *const kind_words[] = {
	[RT_FILE_NO_PROBLEM] = "none",
	[RT_FILE_BAD_ITEM] = "bad_item",
	[RT_FILE_NO_ROOT] = "no_root",
	[RT_FILE_OUTSIDE] = "outside",
	[RT_FILE_MISSING] = "missing",
	[RT_FILE_EMPTY] = "empty",
	[RT_FILE_UNREADABLE] = "unreadable",
	[RT_FILE_SPECIAL] = "special",
	[RT_FILE_BINARY] = "binary",
	[RT_FILE_NOT_IMAGE] = "not_image",
	[RT_FILE_TOO_LARGE] = "too_large",
	[RT_FILE_TOO_MANY] = "too_many",
	[RT_FILE_CHANGED] = "changed",
	[RT_FILE_BAD_NAME] = "bad_name",
	[RT_FILE_BAD_RANGE] = "bad_range",
	[RT_FILE_NO_SYMBOL] = "no_symbol",
	[RT_FILE_NO_CTAGS] = "no_ctags",
};

const char *
rt_file_problem_word(rt_file_problem_kind kind)
{
	return kind_words[kind];
}

typedef struct reading {
	rt_scope *s;
	rt_file_options o; /* with the defaults filled in */
	const rt_file_root *roots;
	rt_str list; /* the file being read */
	size_t visits;
	rt_file_want *wants;
	size_t want_count, want_capacity;
	bool is_full; /* too many files; reported */
	rt_file_problem *problems;
	size_t problem_count, problem_capacity, problems_more;
} reading;

/* ---- problems ---- */

/* A name in a message: its beginning, in quotes. */
static void
add_name(rt_buf *buf, rt_str name)
{
	enum { NAME_MAX_SHOWN = 200 };
	size_t size = rt_utf8_cut(name, NAME_MAX_SHOWN);

	rt_buf_add_byte(buf, '"');
	rt_buf_add_str(buf, rt_str_at(name.ptr, size));
	rt_buf_add_c(buf, size < name.size ? "…\"" : "\"");
}

/* A message that can be shown anywhere: UTF-8 without control characters. */
static rt_str
clean(rt_scope *s, rt_str message)
{
	rt_buf *repaired = rt_scope_buf(s), *out = rt_scope_buf(s);
	size_t i;

	rt_utf8_repair(repaired, message);
	for (i = 0; i < repaired->size; i++) {
		unsigned char c = (unsigned char)repaired->ptr[i];
		bool is_c1 = c == 0xC2 && i + 1 < repaired->size &&
			     (unsigned char)repaired->ptr[i + 1] < 0xA0;

		rt_buf_add_byte(out, c < 0x20 || c == 0x7F || is_c1 ? '?' : (char)c);
		i += is_c1;
	}
	return rt_scope_str(s, repaired).ptr == NULL ? message : rt_scope_str(s, out);
}

/* The sentence about a kind. name: the file, or the item. detail: see its users. */
static void
write_message(const reading *r, rt_buf *m, rt_file_problem_kind kind, rt_str name, rt_str detail)
{
	const char *advice = "";

	add_name(m, name);
	switch (kind) {
	case RT_FILE_NO_PROBLEM:
	case RT_FILE_BAD_ITEM:
	case RT_FILE_BAD_RANGE:
	case RT_FILE_NO_SYMBOL:
	case RT_FILE_NO_CTAGS:
	case RT_FILE_TOO_MANY:
	case RT_FILE_NO_ROOT:
		rt_buf_add_byte(m, ' ');
		rt_buf_add_str(m, detail);
		return;
	case RT_FILE_OUTSIDE:
		rt_buf_add_f(m, " is outside %.*s: only files in that directory can be sent",
			     RT_STR_ARG(r->o.where));
		return;
	case RT_FILE_MISSING:
		rt_buf_add_f(m,
			     " does not exist in %.*s: correct the path, or remove it from the "
			     "list %.*s",
			     RT_STR_ARG(r->o.where), RT_STR_ARG(r->list));
		return;
	case RT_FILE_EMPTY:
		rt_buf_add_c(m, " matches no file: none exists, or .gitignore excludes all of them");
		return;
	case RT_FILE_UNREADABLE:
		rt_buf_add_f(m, " cannot be read: %.*s", RT_STR_ARG(detail));
		return;
	case RT_FILE_SPECIAL:
		rt_buf_add_c(m, " is not a file but a device, a FIFO or a socket");
		break;
	case RT_FILE_BINARY:
		rt_buf_add_c(m, " is neither UTF-8 text nor a PNG, JPEG, GIF or WebP image");
		break;
	case RT_FILE_NOT_IMAGE:
		rt_buf_add_c(m, " is not a PNG, JPEG, GIF or WebP image: text belongs in the list "
				"files or context_files");
		return;
	case RT_FILE_TOO_LARGE:
		rt_buf_add_f(m, " is too large: a text file can be at most %zu bytes, an image %zu",
			     r->o.text_max, r->o.image_max);
		break;
	case RT_FILE_CHANGED:
		rt_buf_add_c(m, " changed while it was being read: try again");
		return;
	case RT_FILE_BAD_NAME:
		rt_buf_add_c(m, " has a name that cannot be sent: it is too long, has control "
				"characters or is not UTF-8");
		advice = "; rename it";
		break;
	}
	rt_buf_add_c(m, advice);
	rt_buf_add_f(m, "; remove it from the list %.*s, or exclude it with .gitignore",
		     RT_STR_ARG(r->list));
}

static void
problem(reading *r, rt_str list, rt_str item, rt_str path, rt_file_problem_kind kind, rt_str detail)
{
	rt_buf *m = rt_scope_buf(r->s);

	if (r->problem_count == RT_FILE_PROBLEM_MAX) {
		r->problems_more++;
		return;
	}
	r->list = list;
	write_message(r, m, kind, path.size > 0 ? path : item, detail);
	r->problems = rt_scope_grow(r->s, r->problems, r->problem_count, &r->problem_capacity,
				    sizeof(*r->problems));
	if (r->problems == NULL)
		return;
	r->problems[r->problem_count++] = (rt_file_problem){
		.list = list,
		.item = item,
		.path = path,
		.kind = kind,
		.message = clean(r->s, rt_scope_str(r->s, m)),
	};
}

static void
fault_problem(reading *r, rt_str list, rt_str item, rt_str path, rt_file_fault f)
{
	rt_buf *detail = rt_scope_buf(r->s);

	if (f.kind == RT_FILE_UNREADABLE)
		rt_buf_add_c(detail, strerror(f.code));
	else if (f.kind == RT_FILE_TOO_MANY)
		rt_buf_add_f(detail,
			     "contains more than %d files and directories: choose a smaller directory",
			     RT_FILE_VISITED_MAX);
	problem(r, list, item, path, f.kind, rt_scope_str(r->s, detail));
}

/* ---- items ---- */

/* A decoded item of a list. */
typedef struct item {
	rt_str text; /* as listed; of an object, its path */
	rt_file_view view;
	rt_file_part part;
} item;

static bool
read_number(rt_str *text, size_t *out)
{
	size_t size = 0, number = 0;

	while (size < text->size && size < 9 && text->ptr[size] >= '0' && text->ptr[size] <= '9')
		number = number * 10 + (size_t)(text->ptr[size++] - '0');
	*out = number;
	*text = rt_str_skip(*text, size);
	return size > 0;
}

/* "10", "10-20", "10-", "-20". */
static bool
read_range(rt_str text, rt_file_part *out)
{
	bool has_first = read_number(&text, &out->first), has_last = false;

	out->last = out->first;
	if (text.size > 0 && text.ptr[0] == '-') {
		text = rt_str_skip(text, 1);
		has_last = read_number(&text, &out->last);
		if (!has_last)
			out->last = SIZE_MAX;
	}
	if (!has_first)
		out->first = 1;
	return text.size == 0 && (has_first || has_last) && out->first >= 1 &&
	       out->first <= out->last;
}

/* Splits a range or a symbol off the end of a path. False: there is neither. */
static bool
split_part(rt_str *path, rt_file_part *out)
{
	size_t at = path->size;

	*out = (rt_file_part){0};
	while (at > 0 && path->ptr[at - 1] != ':' && path->ptr[at - 1] != '#')
		at--;
	if (at < 2 || at == path->size)
		return false;
	if (path->ptr[at - 1] == '#')
		out->symbol = rt_str_skip(*path, at);
	else if (!read_range(rt_str_skip(*path, at), out))
		return false;
	path->size = at - 1;
	return true;
}

/* "lines" of an object: a text, a number, or two of them in an array. */
static bool
read_lines(yyjson_val *value, rt_file_part *out)
{
	uint64_t first = 0, last = 0;

	if (yyjson_is_str(value))
		return read_range(rt_json_str(value), out);
	if (yyjson_is_arr(value)) {
		if (yyjson_arr_size(value) != 2 || !rt_json_u64(yyjson_arr_get(value, 0), &first) ||
		    !rt_json_u64(yyjson_arr_get(value, 1), &last))
			return false;
	} else if (rt_json_u64(value, &first)) {
		last = first;
	}
	out->first = (size_t)first;
	out->last = (size_t)last;
	return first >= 1 && first <= last;
}

static bool
is_given(yyjson_val *value)
{
	return value != NULL && !yyjson_is_null(value);
}

/* The reason why an object cannot be understood; NULL: it is valid. *out_skip: it is not sent. */
static const char *
read_object(yyjson_val *object, item *out, bool *out_skip)
{
	yyjson_val *path = rt_json_get(object, "path"), *lines = rt_json_get(object, "lines"),
		   *symbol = rt_json_get(object, "symbol"),
		   *view = rt_json_get(object, "view_mode"),
		   *sent = rt_json_get(object, "auto_aggregate"),
		   *full = rt_json_get(object, "force_full");

	out->text = rt_json_str(path);
	if (!yyjson_is_str(path) || out->text.size == 0)
		return "has no \"path\": an item must be a path or an object with a path";
	if ((is_given(sent) && !yyjson_is_bool(sent)) || (is_given(full) && !yyjson_is_bool(full)))
		return "has an \"auto_aggregate\" or \"force_full\" that is neither true nor false";
	*out_skip = yyjson_is_false(sent);
	if (rt_str_is(rt_json_str(view), "outline"))
		out->view = RT_FILE_OUTLINE;
	else if (rt_str_is(rt_json_str(view), "none"))
		out->view = RT_FILE_NAME;
	else if (is_given(view) && !rt_str_is(rt_json_str(view), "full"))
		return "has an unknown \"view_mode\": use full, outline or none";
	if (yyjson_is_true(full))
		out->view = RT_FILE_FULL;
	if (is_given(lines) && is_given(symbol))
		return "has both \"lines\" and \"symbol\": use one of them";
	if (is_given(lines) && !read_lines(lines, &out->part))
		return "has \"lines\" that are not a range: write \"10-20\" or [10,20]";
	if (is_given(symbol) && (!yyjson_is_str(symbol) || rt_json_str(symbol).size == 0))
		return "has a \"symbol\" that is not a name";
	if (is_given(symbol))
		out->part.symbol = rt_json_str(symbol);
	return NULL;
}

static bool
is_good_name(rt_str name)
{
	for (size_t i = 0; i < name.size; i++) {
		unsigned char c = (unsigned char)name.ptr[i];

		if (c < 0x20 || c == 0x7F ||
		    (c == 0xC2 && i + 1 < name.size && (unsigned char)name.ptr[i + 1] < 0xA0))
			return false;
	}
	return rt_utf8_valid_size(name) == name.size;
}

/* ---- wants ---- */

static bool
is_same_part(const rt_file_part *a, const rt_file_part *b)
{
	return a->first == b->first && a->last == b->last && rt_str_eq(a->symbol, b->symbol);
}

static bool
is_whole(const rt_file_part *part)
{
	return part->first == 0 && part->symbol.size == 0;
}

/* Below the root's own path. */
static bool
is_same_file(const rt_file_place *a, const rt_file_place *b)
{
	return rt_str_eq(a->path, b->path) && rt_str_eq(a->root->real, b->root->real);
}

static void
want(reading *r, const item *it, const rt_file_place *place)
{
	rt_file_want *w;

	if (!is_good_name(place->path)) {
		problem(r, r->list, it->text, place->path, RT_FILE_BAD_NAME, RT_STR(""));
		return;
	}
	for (size_t i = 0; i < r->want_count; i++) {
		w = &r->wants[i];
		if (is_same_file(&w->place, place) && is_same_part(&w->part, &it->part)) {
			if (it->view < w->view)
				w->view = it->view;
			return;
		}
	}
	if (r->want_count == r->o.count_max) {
		rt_buf *detail = rt_scope_buf(r->s);

		rt_buf_add_f(detail, "is file number %zu: at most %zu can be sent; list fewer files",
			     r->want_count + 1, r->o.count_max);
		problem(r, r->list, it->text, place->path, RT_FILE_TOO_MANY,
			rt_scope_str(r->s, detail));
		r->is_full = true;
		return;
	}
	r->wants = rt_scope_grow(r->s, r->wants, r->want_count, &r->want_capacity, sizeof(*w));
	if (r->wants != NULL)
		r->wants[r->want_count++] = (rt_file_want){.list = r->list,
							   .item = it->text,
							   .place = *place,
							   .view = it->view,
							   .part = it->part};
}

/* ---- paths ---- */

/* The part of an absolute path below a directory; false: not below it. */
static bool
below(rt_str path, rt_str dir, rt_str *out)
{
	if (!rt_str_starts(path, dir) || (path.size > dir.size && path.ptr[dir.size] != '/'))
		return false;
	*out = rt_str_skip(path, dir.size);
	while (out->size > 0 && out->ptr[0] == '/')
		*out = rt_str_skip(*out, 1);
	if (out->size == 0)
		*out = RT_STR(".");
	return true;
}

/* A path below one root. */
static rt_file_fault
find_in(reading *r, const rt_file_root *root, rt_str path, rt_file_place *out)
{
	if (path.size > 0 && path.ptr[0] == '/' && !below(path, root->path, &path) &&
	    !below(path, root->real, &path))
		return (rt_file_fault){RT_FILE_OUTSIDE, 0};
	return rt_file_find(r->s, root, path.size > 0 ? path : RT_STR("."), out);
}

/* A path below the first root that contains it. */
static rt_file_fault
find(reading *r, rt_str path, rt_file_place *out)
{
	rt_file_fault first = {RT_FILE_MISSING, 0}, f;

	for (size_t i = 0; rt_ok(r->s) && i < r->o.root_count; i++) {
		f = find_in(r, &r->roots[i], path, out);
		if (f.kind != RT_FILE_MISSING && f.kind != RT_FILE_OUTSIDE)
			return f;
		if (i == 0 || first.kind == RT_FILE_OUTSIDE)
			first = f;
	}
	return first;
}

static void
want_found(reading *r, const item *it, const rt_file_found *found, size_t count)
{
	for (size_t i = 0; rt_ok(r->s) && !r->is_full && i < count; i++) {
		if (found[i].fault.kind != RT_FILE_NO_PROBLEM)
			fault_problem(r, r->list, it->text, found[i].place.path, found[i].fault);
		else
			want(r, it, &found[i].place);
	}
}

static void
want_place(reading *r, const item *it, const rt_file_place *place)
{
	rt_file_found *found;
	size_t count;

	if (place->type == RT_FILE_REGULAR) {
		want(r, it, place);
	} else if (place->type != RT_FILE_DIRECTORY) {
		problem(r, r->list, it->text, RT_STR(""), RT_FILE_SPECIAL, RT_STR(""));
	} else if (!is_whole(&it->part)) {
		problem(r, r->list, it->text, RT_STR(""), RT_FILE_BAD_RANGE,
			RT_STR("is a directory: lines and symbols are parts of one file"));
	} else {
		found = rt_file_walk(r->s, place, NULL, &r->visits, &count);
		want_found(r, it, found, count);
		if (count == 0)
			problem(r, r->list, it->text, RT_STR(""), RT_FILE_EMPTY, RT_STR(""));
	}
}

/* The leading directories of a glob that are not patterns. */
static rt_str
split_base(rt_str *pattern)
{
	size_t at = 0;

	for (size_t i = 0; i < pattern->size; i++) {
		if (memchr("*?[\\", pattern->ptr[i], 4) != NULL)
			break;
		if (pattern->ptr[i] == '/')
			at = i + 1;
	}
	rt_str base = rt_str_at(pattern->ptr, at);

	*pattern = rt_str_skip(*pattern, at);
	return base;
}

static void
want_glob(reading *r, const item *it, rt_str pattern)
{
	rt_str base = split_base(&pattern);
	rt_file_problem_kind worst = RT_FILE_EMPTY;
	size_t matched = 0;
	rt_glob *glob = rt_scope_get(r->s, sizeof(*glob));

	if (glob != NULL && !rt_glob_init(glob, pattern)) {
		problem(r, r->list, it->text, RT_STR(""), RT_FILE_BAD_ITEM,
			RT_STR("is a pattern that matches too many directories"));
		return;
	}
	for (size_t i = 0; rt_ok(r->s) && i < r->o.root_count; i++) {
		rt_file_place place;
		rt_file_fault f = find_in(r, &r->roots[i], base, &place);
		size_t count = 0;

		if (f.kind == RT_FILE_NO_PROBLEM && place.type == RT_FILE_DIRECTORY) {
			rt_file_found *found =
				rt_file_walk(r->s, &place, glob, &r->visits, &count);

			want_found(r, it, found, count);
			matched += count;
			worst = RT_FILE_EMPTY;
		} else if (i == 0 && f.kind != RT_FILE_MISSING && f.kind != RT_FILE_NO_PROBLEM) {
			worst = f.kind;
		}
	}
	if (matched == 0)
		fault_problem(r, r->list, it->text, RT_STR(""), (rt_file_fault){worst, 0});
}

static void
read_path(reading *r, item *it)
{
	rt_str path = it->text;
	rt_file_place place;
	rt_file_fault f;

	if (!is_good_name(path) || path.size > RT_FILE_PATH_MAX) {
		problem(r, r->list, it->text, RT_STR(""), RT_FILE_BAD_NAME, RT_STR(""));
		return;
	}
	f = find(r, path, &place);
	if (f.kind == RT_FILE_MISSING && is_whole(&it->part) && split_part(&path, &it->part)) {
		f = find(r, path, &place);
		if (f.kind == RT_FILE_MISSING) { /* it was not a part, then */
			path = it->text;
			it->part = (rt_file_part){0};
		}
	}
	if (f.kind == RT_FILE_NO_PROBLEM)
		want_place(r, it, &place);
	else if ((f.kind == RT_FILE_MISSING || f.kind == RT_FILE_OUTSIDE) &&
		 is_whole(&it->part) && rt_glob_is_one(path))
		want_glob(r, it, path);
	else
		fault_problem(r, r->list, it->text, RT_STR(""), f);
}

static void
read_item(reading *r, yyjson_val *value)
{
	item it = {.text = rt_json_str(value)};
	const char *reason = NULL;
	bool skip = false;
	rt_buf *shown;

	if (yyjson_is_obj(value))
		reason = read_object(value, &it, &skip);
	else if (!yyjson_is_str(value) || it.text.size == 0)
		reason = "is not a path: an item must be a path or an object with a path";
	if (skip && reason == NULL)
		return;
	if (reason != NULL) {
		shown = rt_scope_buf(r->s);
		rt_json_add_value(shown, value);
		if (it.text.size == 0 || !yyjson_is_obj(value))
			it.text = rt_scope_str(r->s, shown);
		problem(r, r->list, it.text, RT_STR(""), RT_FILE_BAD_ITEM, rt_str_of(reason));
	} else if (r->o.root_count == 0) {
		problem(r, r->list, it.text, RT_STR(""), RT_FILE_NO_ROOT, r->o.no_root);
	} else {
		read_path(r, &it);
	}
}

static void
free_doc(void *doc)
{
	rt_json_free(doc);
}

static void
read_list(reading *r, const char *name, rt_str json)
{
	rt_json_doc *doc = NULL;
	rt_status st;

	r->list = rt_str_of(name);
	if (!rt_ok(r->s) || json.size == 0)
		return;
	st = rt_json_read(r->s->alloc, json, &doc, NULL);
	if (st == RT_NOMEM) {
		rt_scope_nomem(r->s);
		return;
	}
	rt_scope_defer(r->s, free_doc, doc);
	if (doc == NULL || !yyjson_is_arr(rt_json_root(doc))) {
		if (doc == NULL || !yyjson_is_null(rt_json_root(doc)))
			problem(r, r->list, r->list, RT_STR(""), RT_FILE_BAD_ITEM,
				RT_STR("is not a list of paths"));
		return;
	}
	for (rt_json_iter it = rt_json_items(rt_json_root(doc));
	     rt_ok(r->s) && !r->is_full && rt_json_next(&it);)
		read_item(r, it.value);
}

/* ---- contents ---- */

static size_t
line_count(rt_str text)
{
	size_t count = 0;

	for (size_t at = 0; at < text.size; count++) {
		const char *lf = memchr(text.ptr + at, '\n', text.size - at);

		at = lf == NULL ? text.size : (size_t)(lf - text.ptr) + 1;
	}
	return count;
}

/* Lines first to last of a text. */
static rt_str
lines_of(rt_str text, size_t first, size_t last)
{
	size_t from = text.size, at = 0;

	for (size_t line = 1; at < text.size && line <= last; line++) {
		const char *lf = memchr(text.ptr + at, '\n', text.size - at);

		if (line == first)
			from = at;
		at = lf == NULL ? text.size : (size_t)(lf - text.ptr) + 1;
	}
	return rt_str_at(text.ptr + from, at > from ? at - from : 0);
}

static rt_str
name_of(rt_scope *s, const rt_file_want *w)
{
	rt_buf *name = rt_scope_buf(s);

	rt_buf_add_str(name, w->place.path);
	if (w->part.symbol.size > 0)
		rt_buf_add_f(name, "#%.*s", RT_STR_ARG(w->part.symbol));
	else if (w->part.first > 0 && w->part.first == w->part.last)
		rt_buf_add_f(name, ":%zu", w->part.first);
	else if (w->part.first > 0)
		rt_buf_add_f(name, ":%zu-%zu", w->part.first, w->part.last);
	return rt_scope_str(s, name);
}

/* Cut out a range of lines. False: a problem was reported. */
static bool
cut_lines(reading *r, rt_file_want *w)
{
	size_t count = line_count(w->whole);
	rt_buf *detail;

	if (w->part.last == SIZE_MAX)
		w->part.last = count;
	if (w->part.first <= w->part.last && w->part.last <= count) {
		w->bytes = lines_of(w->whole, w->part.first, w->part.last);
		return true;
	}
	detail = rt_scope_buf(r->s);
	rt_buf_add_f(detail, "has %zu line%s: correct the range", count, count == 1 ? "" : "s");
	problem(r, w->list, w->item, w->place.path, RT_FILE_BAD_RANGE, rt_scope_str(r->s, detail));
	return false;
}

/* The content of a want. False: a problem was reported. */
static bool
read_want(reading *r, rt_file_want *w, const rt_file_want *same)
{
	bool is_screenshot = rt_str_is(w->list, "screenshots");
	rt_file_fault f = {RT_FILE_NO_PROBLEM, 0};

	if (w->view == RT_FILE_NAME && is_whole(&w->part))
		return true;
	if (same != NULL)
		w->whole = same->whole;
	else
		f = rt_file_load(r->s, &w->place, r->o.text_max, r->o.image_max, &w->whole);
	w->mime = rt_file_image_type(w->whole);
	if (f.kind == RT_FILE_NO_PROBLEM && w->mime.size == 0) {
		if (is_screenshot)
			f.kind = RT_FILE_NOT_IMAGE;
		else if ((w->whole.size > 0 && memchr(w->whole.ptr, 0, w->whole.size) != NULL) ||
			 rt_utf8_valid_size(w->whole) != w->whole.size)
			f.kind = RT_FILE_BINARY;
	}
	if (f.kind != RT_FILE_NO_PROBLEM) {
		fault_problem(r, w->list, w->item, w->place.path, f);
		return false;
	}
	w->bytes = w->whole;
	if (w->mime.size > 0 && !is_whole(&w->part)) {
		problem(r, w->list, w->item, w->place.path, RT_FILE_BAD_RANGE,
			RT_STR("is an image: lines and symbols are parts of a text"));
		return false;
	}
	if (w->mime.size > 0)
		w->view = RT_FILE_FULL;
	return w->part.first == 0 || cut_lines(r, w);
}

/* Reads all; removes the unreadable ones. */
static void
read_wants(reading *r)
{
	size_t kept = 0, total = 0;

	for (size_t i = 0; rt_ok(r->s) && i < r->want_count; i++) {
		rt_file_want *w = &r->wants[i], *same = NULL;

		for (size_t k = 0; k < kept && same == NULL; k++)
			if (is_same_file(&r->wants[k].place, &w->place) &&
			    r->wants[k].whole.ptr != NULL)
				same = &r->wants[k];
		if (!read_want(r, w, same))
			continue;
		total += w->bytes.size;
		if (total > r->o.total_max) {
			rt_buf *detail = rt_scope_buf(r->s);

			rt_buf_add_f(detail,
				     "exceeds the total of %zu bytes for all files: list fewer files",
				     r->o.total_max);
			problem(r, w->list, w->item, w->place.path, RT_FILE_TOO_MANY,
				rt_scope_str(r->s, detail));
			break;
		}
		r->wants[kept++] = *w;
	}
	r->want_count = kept;
}

/* The definition that a part names. False: a problem was reported. */
static bool
cut_symbol(reading *r, rt_file_want *w, const rt_file_symbols *symbols, size_t file)
{
	size_t count, found = 0, at = rt_file_symbols_range(symbols, w->part.symbol, &count);
	rt_buf *detail;

	for (size_t i = at; i < at + count; i++) {
		const rt_file_symbol *symbol = &symbols->items[i];

		if (symbol->file != file || !rt_str_eq(symbol->name, w->part.symbol))
			continue;
		w->bytes = symbol->text;
		w->part.first = symbol->first_line;
		w->part.last = symbol->last_line;
		found++;
	}
	if (found == 1)
		return true;
	detail = rt_scope_buf(r->s);
	rt_buf_add_f(detail, "has %s symbol %.*s: %s", found == 0 ? "no" : "more than one",
		     RT_STR_ARG(w->part.symbol),
		     found == 0 ? "correct the name" : "name its lines instead, as in :10-20");
	problem(r, w->list, w->item, w->place.path, RT_FILE_NO_SYMBOL, rt_scope_str(r->s, detail));
	return false;
}

static bool
needs_symbols(const rt_file_want *w)
{
	return w->mime.size == 0 && w->whole.ptr != NULL &&
	       (w->view == RT_FILE_OUTLINE || w->part.symbol.size > 0);
}

/* Outlines and definitions, by one run of ctags. */
static void
read_symbols(reading *r)
{
	rt_symbol_source *sources = rt_scope_array(r->s, r->want_count + 1, sizeof(*sources));
	const rt_file_symbols *symbols;
	size_t kept = 0, needed = 0;

	for (size_t i = 0; sources != NULL && i < r->want_count; i++)
		if (needs_symbols(&r->wants[i])) {
			sources[i] = (rt_symbol_source){r->wants[i].place.path, r->wants[i].whole};
			needed++;
		}
	if (sources == NULL || needed == 0)
		return;
	symbols = rt_symbols_of(r->s, r->o.path, sources, r->want_count);
	for (size_t i = 0; rt_ok(r->s) && i < r->want_count; i++) {
		rt_file_want *w = &r->wants[i];

		if (needs_symbols(w) && symbols->problem.size > 0) {
			rt_buf *detail = rt_scope_buf(r->s);

			rt_buf_add_f(detail, "cannot be read: %.*s", RT_STR_ARG(symbols->problem));
			problem(r, w->list, w->item, w->place.path, RT_FILE_NO_CTAGS,
				rt_scope_str(r->s, detail));
			continue;
		}
		if (needs_symbols(w) && w->part.symbol.size > 0) {
			if (!cut_symbol(r, w, symbols, i))
				continue;
		} else if (needs_symbols(w) && is_whole(&w->part)) {
			w->bytes = rt_symbols_outline(r->s, symbols, i);
		}
		r->wants[kept++] = *w;
	}
	r->want_count = kept;
}

/* A part of a file that is also sent in full is not sent twice. */
static bool
is_covered(const reading *r, const rt_file_want *w)
{
	if (is_whole(&w->part))
		return false;
	for (size_t i = 0; i < r->want_count; i++)
		if (is_whole(&r->wants[i].part) && r->wants[i].view == RT_FILE_FULL &&
		    is_same_file(&r->wants[i].place, &w->place))
			return true;
	return false;
}

static void
add_file(rt_scope *s, rt_file_set *set, rt_file *f, const rt_file_want *w)
{
	rt_sha256 sha;

	*f = (rt_file){
		.list = w->list,
		.item = w->item,
		.path = w->place.path,
		.name = name_of(s, w),
		.language = w->mime.size > 0 || w->view != RT_FILE_FULL
				    ? RT_STR("")
				    : rt_file_language(w->place.path),
		.mime = w->mime,
		.bytes = w->bytes,
		.whole = w->mime.size > 0 ? (rt_str){NULL, 0} : w->whole,
		.view = w->view,
		.first_line = w->part.first,
		.last_line = w->part.last,
	};
	rt_sha256_init(&sha);
	rt_sha256_add(&sha, f->bytes.ptr, f->bytes.size);
	rt_sha256_end_hex(&sha, f->sha256);
	set->bytes += f->bytes.size;
	set->count++;
}

const rt_file_set *
rt_file_set_read(rt_scope *s, const rt_file_options *options, const rt_file_lists *lists)
{
	reading r = {.s = s, .o = *options, .visits = RT_FILE_VISITED_MAX};
	rt_file_set *set = rt_scope_get(s, sizeof(*set));
	rt_file *files;

	r.o.where = options->where.size > 0 ? options->where : RT_STR("the working directory");
	r.o.no_root = options->no_root.size > 0
			      ? options->no_root
			      : RT_STR("cannot be sent: no directory is allowed for files");
	r.o.text_max = options->text_max > 0 ? options->text_max : RT_FILE_TEXT_MAX;
	r.o.image_max = options->image_max > 0 ? options->image_max : RT_FILE_IMAGE_MAX;
	r.o.total_max = options->total_max > 0 ? options->total_max : RT_FILE_TOTAL_MAX;
	r.o.count_max = options->count_max > 0 ? options->count_max : RT_FILE_COUNT_MAX;
	r.roots = rt_file_roots_open(s, options);
	read_list(&r, "files", lists->files);
	read_list(&r, "context_files", lists->context_files);
	read_list(&r, "screenshots", lists->screenshots);
	read_wants(&r);
	read_symbols(&r);
	files = rt_scope_array(s, r.want_count + 1, sizeof(*files));
	if (files == NULL || set == NULL)
		return NULL;
	*set = (rt_file_set){.files = files};
	for (size_t i = 0; i < r.want_count; i++)
		if (!is_covered(&r, &r.wants[i]))
			add_file(s, set, &files[set->count], &r.wants[i]);
	set->problems = r.problems;
	set->problem_count = r.problem_count;
	set->problems_more = r.problems_more;
	return rt_ok(s) ? set : NULL;
}
