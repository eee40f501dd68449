/* SPDX-License-Identifier: MIT
 *
 * The texts go to ctags in one run, each under its index and its name ("3/seq.c", which tells its
 * language), and come back as a line of JSON for each definition. */
#include "files/symbols_impl.h"

#include <stdlib.h>

#include "codec/json.h"
#include "files/set_impl.h"

typedef struct tag {
	rt_file_symbol symbol;
	bool has_end;
} tag;

typedef struct tags {
	rt_scope *s;
	const rt_symbol_source *sources;
	size_t source_count;
	tag *items;
	size_t count, capacity;
} tags;

static rt_str
input_of(rt_scope *s, const rt_symbol_source *sources, size_t count)
{
	rt_buf *input = rt_scope_buf(s), *name = rt_scope_buf(s);

	for (size_t i = 0; i < count; i++) {
		rt_str path = sources[i].path;
		size_t at = path.size;

		if (sources[i].text.size == 0)
			continue;
		while (at > 0 && path.ptr[at - 1] != '/')
			at--;
		rt_buf_clear(name);
		rt_buf_add_f(name, "%zu/", i);
		rt_buf_add_str(name, rt_str_skip(path, at));
		rt_json_open(input, NULL, '{');
		rt_json_put_c(input, "command", "generate-tags");
		rt_json_put_str(input, "filename", rt_buf_str(name));
		rt_json_put_u64(input, "size", sources[i].text.size);
		rt_json_close(input, '}');
		rt_buf_add_byte(input, '\n');
		rt_buf_add_str(input, sources[i].text);
	}
	return rt_scope_str(s, input);
}

/* The index before the slash of a path; SIZE_MAX: it has none. */
static size_t
index_of(rt_str path)
{
	size_t number = 0, i = 0;

	for (; i < path.size && i < 9 && path.ptr[i] >= '0' && path.ptr[i] <= '9'; i++)
		number = number * 10 + (size_t)(path.ptr[i] - '0');
	return i > 0 && i < path.size && path.ptr[i] == '/' ? number : SIZE_MAX;
}

static void
read_tag(tags *t, rt_str line)
{
	yyjson_val *object = rt_json_parse(t->s, line);
	uint64_t first = 0, last = 0;
	size_t file = index_of(rt_json_str(rt_json_get(object, "path")));
	rt_str name = rt_json_str(rt_json_get(object, "name"));
	bool has_end = rt_json_u64(rt_json_get(object, "end"), &last);

	if (!rt_str_is(rt_json_str(rt_json_get(object, "_type")), "tag") ||
	    file >= t->source_count || !rt_json_u64(rt_json_get(object, "line"), &first) ||
	    first == 0 || name.size == 0 || rt_str_starts(name, RT_STR("__anon")))
		return;
	t->items = rt_scope_grow(t->s, t->items, t->count, &t->capacity, sizeof(*t->items));
	if (t->items == NULL)
		return;
	has_end = has_end && last >= first;
	t->items[t->count++] = (tag){
		.symbol = {.name = name,
			   .kind = rt_json_str(rt_json_get(object, "kind")),
			   .scope = rt_json_str(rt_json_get(object, "scope")),
			   .signature = rt_json_str(rt_json_get(object, "signature")),
			   .file = file,
			   .first_line = (size_t)first,
			   .last_line = has_end ? (size_t)last : (size_t)first},
		.has_end = has_end,
	};
}

static int
compare(size_t a, size_t b)
{
	return a < b ? -1 : a > b;
}

static int
by_line(const void *a, const void *b)
{
	const rt_file_symbol *x = &((const tag *)a)->symbol, *y = &((const tag *)b)->symbol;
	int order = compare(x->file, y->file);

	if (order == 0)
		order = compare(x->first_line, y->first_line);
	return order != 0 ? order : rt_str_cmp(x->name, y->name);
}

static int
by_name(const void *a, const void *b)
{
	const rt_file_symbol *x = a, *y = b;
	int order = rt_str_cmp(x->name, y->name);

	if (order == 0)
		order = compare(x->file, y->file);
	return order != 0 ? order : compare(x->first_line, y->first_line);
}

/* Where the lines of a text begin, as size_t. */
static void
find_lines(rt_buf *starts, rt_str text)
{
	size_t at = 0;

	rt_buf_clear(starts);
	while (at < text.size && starts->status == RT_OK) {
		const char *end = memchr(text.ptr + at, '\n', text.size - at);

		rt_buf_add(starts, &at, sizeof(at));
		at = end != NULL ? (size_t)(end - text.ptr) + 1 : text.size;
	}
}

/* The lines of a text, both included; those after its end are left out. */
static rt_str
lines_of(const rt_buf *starts, rt_str text, size_t first, size_t last)
{
	size_t count = starts->size / sizeof(size_t), from = text.size, to = text.size;

	if (first <= count)
		memcpy(&from, starts->ptr + (first - 1) * sizeof(from), sizeof(from));
	if (last < count)
		memcpy(&to, starts->ptr + last * sizeof(to), sizeof(to));
	return rt_str_at(text.ptr + from, to - from);
}

/* Where ctags does not know the end of a definition, it extends to the line before the next one,
 * without empty lines at its end. A line can have very many definitions. */
static void
find_ends(tags *t)
{
	rt_buf *starts = rt_scope_buf(t->s);
	size_t file = SIZE_MAX, next = t->count; /* the next definition on another line */

	for (size_t i = t->count; i > 0 && rt_ok(t->s); i--) {
		rt_file_symbol *symbol = &t->items[i - 1].symbol, *after = NULL;
		rt_str text = t->sources[symbol->file].text;

		if (file != symbol->file) {
			find_lines(starts, text);
			RT_TRY(t->s, starts->status);
			file = symbol->file;
			next = t->count;
		} else if (t->items[i].symbol.first_line != symbol->first_line) {
			next = i;
		} else {
			after = &t->items[i].symbol;
		}
		if (t->items[i - 1].has_end) {
			symbol->text = lines_of(starts, text, symbol->first_line, symbol->last_line);
			continue;
		}
		if (after != NULL && !t->items[i].has_end) {
			symbol->text = after->text;
			symbol->last_line = after->last_line;
			continue;
		}
		symbol->last_line = next < t->count ? t->items[next].symbol.first_line - 1
						    : starts->size / sizeof(size_t);
		symbol->text = lines_of(starts, text, symbol->first_line, symbol->last_line);
		while (symbol->text.size > 1 && symbol->text.ptr[symbol->text.size - 1] == '\n' &&
		       symbol->text.ptr[symbol->text.size - 2] == '\n') {
			symbol->text.size--;
			symbol->last_line--;
		}
		if (symbol->text.size == 0)
			symbol->last_line = symbol->first_line - 1;
	}
}

const rt_file_symbols *
rt_symbols_of(rt_scope *s, const char *path, const rt_symbol_source *sources, size_t count)
{
	tags t = {.s = s, .sources = sources, .source_count = count};
	rt_file_symbols *out = rt_scope_get(s, sizeof(*out));
	rt_buf *json = rt_scope_buf(s);
	rt_str input = input_of(s, sources, count), rest, line;
	rt_file_symbol *items;

	if (out == NULL)
		return NULL;
	if (input.size == 0)
		return rt_ok(s) ? out : NULL;
	out->problem = rt_ctags_run(s, path, input, json);
	rest = rt_scope_str(s, json);
	while (rt_ok(s) && out->problem.size == 0 && rt_str_split(&rest, '\n', &line))
		if (line.size > 0)
			read_tag(&t, line);
	items = rt_scope_array(s, t.count + 1, sizeof(*items));
	if (items == NULL)
		return NULL;
	if (t.count > 0)
		qsort(t.items, t.count, sizeof(*t.items), by_line);
	find_ends(&t);
	for (size_t i = 0; i < t.count; i++)
		items[i] = t.items[i].symbol;
	qsort(items, t.count, sizeof(*items), by_name);
	out->items = items;
	out->count = t.count;
	return out;
}

rt_str
rt_symbols_outline(rt_scope *s, const rt_file_symbols *symbols, size_t file)
{
	tag *sorted = rt_scope_array(s, symbols->count + 1, sizeof(*sorted));
	rt_buf *out = rt_scope_buf(s);
	size_t count = 0;

	for (size_t i = 0; sorted != NULL && i < symbols->count; i++)
		if (symbols->items[i].file == file)
			sorted[count++].symbol = symbols->items[i];
	if (count > 0)
		qsort(sorted, count, sizeof(*sorted), by_line);
	for (size_t i = 0; i < count; i++) {
		const rt_file_symbol *symbol = &sorted[i].symbol;

		rt_buf_add_f(out, "%zu-%zu ", symbol->first_line, symbol->last_line);
		rt_buf_add_str(out, symbol->kind);
		rt_buf_add_byte(out, ' ');
		rt_buf_add_str(out, symbol->scope);
		rt_buf_add_c(out, symbol->scope.size > 0 ? "." : "");
		rt_buf_add_str(out, symbol->name);
		rt_buf_add_str(out, symbol->signature);
		rt_buf_add_byte(out, '\n');
	}
	return rt_scope_str(s, out);
}

const rt_file_symbols *
rt_file_symbols_read(rt_scope *s, const rt_file_options *options, const rt_file_set *set)
{
	rt_symbol_source *sources = rt_scope_array(s, set->count + 1, sizeof(*sources));

	for (size_t i = 0; sources != NULL && i < set->count; i++) {
		const rt_file *file = &set->files[i];

		sources[i] = (rt_symbol_source){file->path, file->whole};
		for (size_t k = 0; k < i; k++) /* two parts of one file share its text */
			if (set->files[k].whole.ptr == file->whole.ptr)
				sources[i].text = (rt_str){NULL, 0};
	}
	return sources == NULL ? NULL : rt_symbols_of(s, options->path, sources, set->count);
}

size_t
rt_file_symbols_range(const rt_file_symbols *symbols, rt_str prefix, size_t *out_count)
{
	size_t low = 0, high = symbols->count, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rt_str_cmp(symbols->items[middle].name, prefix) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < symbols->count && rt_str_starts(symbols->items[end].name, prefix);)
		end++;
	*out_count = end - low;
	return low;
}

void
rt_file_symbol_put(rt_buf *json, const rt_file_set *set, const rt_file_symbol *symbol, bool with_text)
{
	rt_json_open(json, NULL, '{');
	rt_json_put_str(json, "name", symbol->name);
	rt_json_put_str(json, "kind", symbol->kind);
	if (symbol->scope.size > 0)
		rt_json_put_str(json, "scope", symbol->scope);
	if (symbol->signature.size > 0)
		rt_json_put_str(json, "signature", symbol->signature);
	rt_json_put_str(json, "path", set->files[symbol->file].path);
	rt_json_open(json, "lines", '[');
	rt_json_put_u64(json, NULL, symbol->first_line);
	rt_json_put_u64(json, NULL, symbol->last_line);
	rt_json_close(json, ']');
	if (with_text)
		rt_json_put_str(json, "text", symbol->text);
	rt_json_close(json, '}');
}

/* ---- in a message ---- */

static bool
is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* The next name after an @ in a text, which becomes what follows it; false: there is none. A name is
 * letters, digits, _ and $; an @ within a word ("a@b") does not count. */
static bool
next_symbol(rt_str *text, rt_str *out_name)
{
	rt_str t = *text;

	for (size_t at = 0; at < t.size; at++) {
		size_t end = at + 1;

		while (t.ptr[at] == '@' && end < t.size && is_name_byte(t.ptr[end]))
			end++;
		if (end == at + 1 || (at > 0 && is_name_byte(t.ptr[at - 1])))
			continue;
		*out_name = rt_str_at(t.ptr + at + 1, end - at - 1);
		*text = rt_str_skip(t, end);
		return true;
	}
	return false;
}

typedef struct adding {
	rt_scope *s;
	const rt_file_set *set;
	const rt_file_symbols *symbols;
	rt_file *files;
	size_t count, capacity, bytes;
	rt_file_problem *problem; /* room for one */
	size_t problem_count;
	size_t count_max, total_max;
} adding;

static void
add_problem(adding *a, rt_str name, rt_file_problem_kind kind, rt_str message)
{
	rt_buf *item = rt_scope_buf(a->s);

	rt_buf_add_byte(item, '@');
	rt_buf_add_str(item, name);
	a->problem[0] = (rt_file_problem){.list = RT_STR("symbols"),
					  .item = rt_scope_str(a->s, item),
					  .kind = kind,
					  .message = message};
	a->problem_count = 1;
}

/* Two definitions of a name in one file differ by their lines. */
static rt_str
name_of(adding *a, const rt_file_symbol *symbol, rt_str path)
{
	const rt_file *before = a->count > 0 ? &a->files[a->count - 1] : NULL;
	rt_buf *name = rt_scope_buf(a->s);

	rt_buf_add_str(name, path);
	if (before != NULL && rt_str_eq(before->path, path) &&
	    rt_str_eq(rt_str_skip(before->item, 1), symbol->name))
		rt_buf_add_f(name, ":%zu-%zu", symbol->first_line, symbol->last_line);
	else
		rt_buf_add_f(name, "#%.*s", RT_STR_ARG(symbol->name));
	return rt_scope_str(a->s, name);
}

static void
add_definition(adding *a, const rt_file_symbol *symbol)
{
	const rt_file *file = &a->set->files[symbol->file];
	rt_buf *item = rt_scope_buf(a->s);
	rt_sha256 sha;

	for (size_t i = 0; i < a->count; i++)
		if (a->files[i].bytes.ptr == symbol->text.ptr &&
		    a->files[i].bytes.size == symbol->text.size)
			return;
	if (a->set->count + a->count >= a->count_max ||
	    symbol->text.size > a->total_max - a->bytes) {
		add_problem(a, symbol->name, RT_FILE_TOO_MANY,
			    RT_STR("too many definitions: name fewer symbols"));
		return;
	}
	a->files = rt_scope_grow(a->s, a->files, a->count, &a->capacity, sizeof(*a->files));
	if (a->files == NULL)
		return;
	rt_buf_add_byte(item, '@');
	rt_buf_add_str(item, symbol->name);
	rt_str name = name_of(a, symbol, file->path);
	rt_file *f = &a->files[a->count++];

	*f = (rt_file){.list = RT_STR("symbols"),
		       .item = rt_scope_str(a->s, item),
		       .path = file->path,
		       .name = name,
		       .language = rt_file_language(file->path),
		       .bytes = symbol->text,
		       .whole = file->whole,
		       .first_line = symbol->first_line,
		       .last_line = symbol->last_line};
	rt_sha256_init(&sha);
	rt_sha256_add(&sha, f->bytes.ptr, f->bytes.size);
	rt_sha256_end_hex(&sha, f->sha256);
	a->bytes += f->bytes.size;
}

/* The set with the added items. */
static const rt_file_set *
join(adding *a)
{
	size_t problems = a->set->problem_count + a->problem_count;
	rt_file *files = rt_scope_array(a->s, a->set->count + a->count + 1, sizeof(*files));
	rt_file_problem *listed = rt_scope_array(a->s, problems + 1, sizeof(*listed));
	rt_file_set *out = rt_scope_get(a->s, sizeof(*out));

	if (files == NULL || listed == NULL || out == NULL)
		return NULL;
	for (size_t i = 0; i < a->set->count; i++)
		files[i] = a->set->files[i];
	for (size_t i = 0; i < a->count; i++)
		files[a->set->count + i] = a->files[i];
	for (size_t i = 0; i < problems; i++)
		listed[i] = i < a->set->problem_count ? a->set->problems[i] : a->problem[0];
	*out = *a->set;
	out->files = files;
	out->count += a->count;
	out->problems = listed;
	out->problem_count = problems;
	out->bytes = a->bytes;
	return out;
}

const rt_file_set *
rt_file_set_add_symbols(rt_scope *s, const rt_file_options *options, const rt_file_set *set,
			rt_str message)
{
	rt_file_problem problem;
	adding a = {.s = s,
		    .set = set,
		    .problem = &problem,
		    .bytes = set->bytes,
		    .count_max = options->count_max > 0 ? options->count_max : RT_FILE_COUNT_MAX,
		    .total_max = options->total_max > 0 ? options->total_max : RT_FILE_TOTAL_MAX};
	rt_str rest = message, name;

	if (!next_symbol(&rest, &name) || set->count == 0)
		return rt_ok(s) ? set : NULL;
	a.symbols = rt_file_symbols_read(s, options, set);
	if (a.symbols != NULL && a.symbols->problem.size > 0)
		add_problem(&a, name, RT_FILE_NO_CTAGS, a.symbols->problem);
	for (rest = message; rt_ok(s) && a.problem_count == 0 && next_symbol(&rest, &name);) {
		size_t count, at = rt_file_symbols_range(a.symbols, name, &count);

		for (size_t i = at; i < at + count && rt_str_eq(a.symbols->items[i].name, name); i++)
			add_definition(&a, &a.symbols->items[i]);
	}
	if (rt_ok(s) && a.count == 0 && a.problem_count == 0)
		return set;
	return rt_ok(s) ? join(&a) : NULL;
}
