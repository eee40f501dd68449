/* SPDX-License-Identifier: MIT
 *
 * Syntax highlighting: one scanner, and a table of the comments, strings and keywords of
 * languages. It is cheap and knows no grammar; a mistake costs nothing but an ink. */
#include "terminal/lines_impl.h"

enum {
	NESTS = 1,       /* comments nest */
	NO_CASE = 2,     /* keywords ignore case */
	ALONE = 4,       /* a comment begins only after a blank */
	DASHES = 8,      /* - is part of words */
	CHARACTERS = 16, /* 'a' is a string, 'a without a closing quote is not */
	RAW = 32,        /* \ in strings is an ordinary character */
	BY_LINE = 64,    /* lines are classified by their first characters */
	CHARACTER_MAX = 12,
	WORD_MAX = 24
};

/* Each name and word has blanks around it. */
typedef struct rt_language {
	const char *names;
	const char *words;
	const char *line;              /* begins a comment up to the end of the line */
	const char *open, *close;      /* of block comments */
	const char *quotes;            /* of strings within a line */
	const char *long_quotes[3];    /* of strings over several lines, the longest first */
	int flags;
	char key_end;                  /* a word or string before it is a key; 0: no keys */
} rt_language;

#define C_WORDS \
	" break case char const continue default do double else enum extern float for goto if " \
	"inline int long register return short signed sizeof static struct switch typedef union " \
	"unsigned void volatile while NULL true false bool "
#define JS_WORDS \
	" async await break case catch class const continue debugger default delete do else export " \
	"extends finally for from function if import in instanceof let new null of return static " \
	"super switch this throw true false try typeof undefined var void while yield "
#define JAVA_WORDS \
	" abstract boolean break byte case catch char class const continue default do double else " \
	"enum extends final finally float for if implements import instanceof int interface long " \
	"new null package private protected public return short static super switch synchronized " \
	"this throw throws true false try var void volatile while record sealed "

static const rt_language languages[] = {
	{.names = " c h ", .words = C_WORDS " #define #include #if #ifdef #ifndef #else #endif #elif ",
	 .line = "//", .open = "/*", .close = "*/", .quotes = "\"", .flags = CHARACTERS},
	{.names = " c++ cpp cc cxx hpp hh cuda ",
	 .words = C_WORDS " alignas auto catch class concept consteval constexpr decltype delete "
		  "explicit final friend mutable namespace new noexcept nullptr operator override "
		  "private protected public requires template this throw try typename using virtual ",
	 .line = "//", .open = "/*", .close = "*/", .quotes = "\"", .flags = CHARACTERS},
	{.names = " java kotlin kt scala groovy dart ",
	 .words = JAVA_WORDS " fun val when object override open data suspend lateinit ",
	 .line = "//", .open = "/*", .close = "*/", .quotes = "\"", .long_quotes = {"\"\"\""},
	 .flags = CHARACTERS},
	{.names = " c# cs csharp ",
	 .words = JAVA_WORDS " async await base bool decimal delegate event foreach get in internal is "
		  "lock namespace object out override params readonly ref sbyte sealed set string "
		  "struct uint ulong using virtual where yield ",
	 .line = "//", .open = "/*", .close = "*/", .quotes = "\"", .long_quotes = {"\"\"\""},
	 .flags = CHARACTERS},
	{.names = " swift ",
	 .words = " actor as async await break case catch class continue default defer do else enum "
		  "extension false for func guard if import in init inout internal is let nil open "
		  "override private protocol public return self static struct super switch throw "
		  "throws true try var where while ",
	 .line = "//", .open = "/*", .close = "*/", .quotes = "\"", .long_quotes = {"\"\"\""},
	 .flags = NESTS},
	{.names = " js javascript jsx mjs cjs ", .words = JS_WORDS, .line = "//", .open = "/*",
	 .close = "*/", .quotes = "\"'", .long_quotes = {"`"}},
	{.names = " ts typescript tsx ",
	 .words = JS_WORDS " abstract any as boolean declare enum implements interface keyof namespace "
		  "never number private protected public readonly satisfies string type unknown ",
	 .line = "//", .open = "/*", .close = "*/", .quotes = "\"'", .long_quotes = {"`"}},
	{.names = " python py python3 starlark ",
	 .words = " and as assert async await break case class continue def del elif else except "
		  "False finally for from global if import in is lambda match None nonlocal not or "
		  "pass raise return self True try while with yield ",
	 .line = "#", .quotes = "\"'", .long_quotes = {"\"\"\"", "'''"}},
	{.names = " ruby rb elixir ",
	 .words = " alias and begin break case class def defined? do else elsif end ensure false for "
		  "if in module next nil not or redo rescue retry return self super then true undef "
		  "unless until when while yield require ",
	 .line = "#", .quotes = "\"'", .flags = ALONE},
	{.names = " sh bash shell zsh ksh fish console shellscript dockerfile make makefile ",
	 .words = " case do done elif else esac export fi for function if in local return select set "
		  "shift source then trap unset until while break continue exit echo cd FROM RUN "
		  "COPY ENV CMD ",
	 .line = "#", .long_quotes = {"\"", "'"}, .flags = ALONE | DASHES},
	{.names = " json jsonc json5 jsonl ", .words = " true false null ", .line = "//",
	 .open = "/*", .close = "*/", .quotes = "\"", .key_end = ':'},
	{.names = " sql mysql postgresql postgres sqlite plsql ",
	 .words = " add all alter and as asc begin between by case check column commit constraint "
		  "create cross default delete desc distinct drop else end except exists foreign from "
		  "full group having if in index inner insert intersect into is join key left like "
		  "limit not null offset on or order outer primary references returning right rollback "
		  "select set table then transaction trigger union unique update using values view "
		  "when where with integer text varchar boolean timestamp ",
	 .line = "--", .open = "/*", .close = "*/", .long_quotes = {"'", "\""}, .flags = NO_CASE | RAW},
	{.names = " go golang ",
	 .words = " break case chan const continue default defer else fallthrough for func go goto if "
		  "import interface map package range return select struct switch type var nil true "
		  "false string int int64 bool byte error any make append len ",
	 .line = "//", .open = "/*", .close = "*/", .quotes = "\"", .long_quotes = {"`"},
	 .flags = CHARACTERS},
	{.names = " rust rs ",
	 .words = " as async await break const continue crate dyn else enum extern false fn for if impl "
		  "in let loop match mod move mut pub ref return self Self static struct super trait "
		  "true type unsafe use where while i32 i64 u8 u32 u64 usize bool str String Vec "
		  "Option Result Some None Ok Err ",
	 .line = "//", .open = "/*", .close = "*/", .long_quotes = {"\""},
	 .flags = CHARACTERS | NESTS},
	{.names = " php ",
	 .words = JAVA_WORDS " array as echo elseif endif fn foreach function global isset match "
		  "namespace require trait unset use ",
	 .line = "//", .open = "/*", .close = "*/", .long_quotes = {"\"", "'"}},
	{.names = " lua ",
	 .words = " and break do else elseif end false for function goto if in local nil not or repeat "
		  "return then true until while ",
	 .line = "--", .open = "--[[", .close = "]]", .quotes = "\"'"},
	{.names = " html xml svg vue ", .words = " ", .open = "<!--", .close = "-->", .quotes = "\"",
	 .flags = DASHES | RAW, .key_end = '='},
	{.names = " css scss less ", .words = " important ", .open = "/*", .close = "*/",
	 .quotes = "\"'", .flags = DASHES, .key_end = ':'},
	{.names = " toml ini cfg conf properties ", .words = " true false ", .line = "#",
	 .quotes = "\"'", .long_quotes = {"\"\"\"", "'''"}, .flags = DASHES | ALONE, .key_end = '='},
	{.names = " yaml yml ", .words = " true false null yes no ", .line = "#", .quotes = "\"'",
	 .flags = DASHES | ALONE, .key_end = ':'},
	{.names = " diff patch ", .words = " ", .flags = BY_LINE},
};

static const struct line_kind {
	const char *begins;
	rt_ink ink;
} line_kinds[] = {
	{"+++", RT_INK_DIM}, {"---", RT_INK_DIM},     {"@@", RT_INK_HEADING}, {"+", RT_INK_ADDED},
	{"-", RT_INK_REMOVED}, {"diff ", RT_INK_DIM}, {"index ", RT_INK_DIM}, {"\\", RT_INK_DIM},
};

enum {
	INK_PLAIN = RT_INK_CODE,
	INK_WORD = RT_INK_CODE | RT_INK_BOLD,
	INK_KEY = RT_INK_LINK,
	INK_STRING = RT_INK_GOOD,
	INK_NUMBER = RT_INK_LABEL,
	INK_COMMENT = RT_INK_DIM | RT_INK_ITALIC
};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_word_char(const rt_language *l, char c)
{
	return (rt_ascii_lower(c) >= 'a' && rt_ascii_lower(c) <= 'z') || is_digit(c) || c == '_' ||
	       (unsigned char)c >= 0x80 || (c == '-' && (l->flags & DASHES) != 0);
}

/* ---- languages ---- */

static char
folded(const rt_language *l, char c)
{
	return (l->flags & NO_CASE) != 0 ? rt_ascii_lower(c) : c;
}

static size_t
hash(const rt_language *l, const char *word, size_t size)
{
	uint32_t sum = 2166136261u;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ (unsigned char)folded(l, word[i])) * 16777619u;
	return (sum ^ sum >> 15) & 511;
}

static const rt_language *
find_language(rt_str name)
{
	char padded[RT_MARKUP_LANG_MAX + 3] = " ";

	if (name.size == 0 || name.size > RT_MARKUP_LANG_MAX)
		return NULL;
	for (size_t i = 0; i < name.size; i++)
		padded[i + 1] = name.ptr[i] == ' ' || name.ptr[i] == 0 ? '\n'
								      : rt_ascii_lower(name.ptr[i]);
	padded[name.size + 1] = ' ';
	for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++)
		if (strstr(languages[i].names, padded) != NULL)
			return &languages[i];
	return NULL;
}

static void
read_words(rt_scan *scan)
{
	const char *words = scan->language->words;

	memset(scan->words, 0, sizeof(scan->words));
	for (const char *word = words + 1; *word != 0; word += strcspn(word, " ") + 1) {
		size_t slot = hash(scan->language, word, strcspn(word, " "));

		while (scan->words[slot] != 0)
			slot = (slot + 1) & 511;
		scan->words[slot] = (uint16_t)(word - words + 1);
	}
}

static bool
is_keyword(const rt_scan *scan, const char *ptr, size_t size)
{
	if (size > WORD_MAX)
		return false;
	for (size_t slot = hash(scan->language, ptr, size); scan->words[slot] != 0;
	     slot = (slot + 1) & 511) {
		const char *word = scan->language->words + scan->words[slot] - 1;
		size_t i = 0;

		while (i < size && word[i] == folded(scan->language, ptr[i]))
			i++;
		if (i == size && word[i] == ' ')
			return true;
	}
	return false;
}

void
rt_scan_begin(rt_scan *scan, rt_str text, rt_str language)
{
	const rt_language *l = find_language(language);

	scan->text = text;
	scan->at = scan->next_size = 0;
	if (l == scan->language)
		return;
	scan->language = l;
	if (l != NULL)
		read_words(scan);
}

/* ---- runs: functions return the size of one at scan->at, 0 if there is none ---- */

static bool
begins(const rt_scan *scan, size_t at, const char *with)
{
	return with != NULL && rt_str_starts(rt_str_at(scan->text.ptr + at, scan->text.size - at),
					     rt_str_of(with));
}

static size_t
line_size(const rt_scan *scan)
{
	size_t at = scan->at;
	rt_str line = {NULL, 0};

	(void)rt_next_line(scan->text, &at, &line);
	return line.size;
}

static size_t
comment_size(const rt_scan *scan)
{
	const rt_language *l = scan->language;
	size_t at = scan->at, depth = 1;

	if (begins(scan, at, l->open)) {
		for (at += strlen(l->open); at < scan->text.size && depth > 0;) {
			if (begins(scan, at, l->close)) {
				at += strlen(l->close);
				depth--;
			} else if ((l->flags & NESTS) != 0 && begins(scan, at, l->open)) {
				at += strlen(l->open);
				depth++;
			} else {
				at++;
			}
		}
		return at - scan->at;
	}
	if (!begins(scan, at, l->line))
		return 0;
	if ((l->flags & ALONE) != 0 && at > 0 && strchr(" \t\n;", scan->text.ptr[at - 1]) == NULL)
		return 0;
	return line_size(scan);
}

/* A string with this quote. */
static size_t
quoted_size(const rt_scan *scan, const char *quote, bool is_long)
{
	size_t size = strlen(quote), at = scan->at + size;
	bool is_raw = (scan->language->flags & RAW) != 0;

	while (at < scan->text.size) {
		char c = scan->text.ptr[at];

		if (!is_long && (c == '\n' || begins(scan, at, "\r\n")))
			break;
		if (begins(scan, at, quote))
			return at + size - scan->at;
		at += c == '\\' && !is_raw && at + 1 < scan->text.size &&
				      (is_long || scan->text.ptr[at + 1] != '\n')
			      ? 2
			      : 1;
	}
	return at - scan->at;
}

/* 'a', '\n', but not the 'a of a type. */
static size_t
character_size(const rt_scan *scan)
{
	const char *ptr = scan->text.ptr + scan->at;
	size_t left = scan->text.size - scan->at;

	for (size_t i = 1; i < left && i < CHARACTER_MAX; i++) {
		if (ptr[i] == '\\')
			i++;
		else if (ptr[i] == '\'')
			return i + 1;
		else if (ptr[i] == '\n' || ptr[i] == ' ')
			return i == 1 && begins(scan, scan->at + 1, " '") ? 3 : 0;
	}
	return 0;
}

static size_t
string_size(const rt_scan *scan)
{
	const rt_language *l = scan->language;
	char c = scan->text.ptr[scan->at], quote[2] = {c, 0};

	for (size_t i = 0; i < 3 && l->long_quotes[i] != NULL; i++)
		if (begins(scan, scan->at, l->long_quotes[i]))
			return quoted_size(scan, l->long_quotes[i], true);
	if (c != 0 && l->quotes != NULL && strchr(l->quotes, c) != NULL)
		return quoted_size(scan, quote, false);
	return c == '\'' && (l->flags & CHARACTERS) != 0 ? character_size(scan) : 0;
}

static size_t
word_size(const rt_scan *scan)
{
	size_t at = scan->at;

	if (scan->text.ptr[at] == '#' || scan->text.ptr[at] == '$')
		at++;
	while (at < scan->text.size && is_word_char(scan->language, scan->text.ptr[at]))
		at++;
	return at - scan->at;
}

static size_t
number_size(const rt_scan *scan)
{
	const char *ptr = scan->text.ptr;
	size_t at = scan->at;

	for (; at < scan->text.size; at++) {
		if (is_word_char(scan->language, ptr[at]) || ptr[at] == '.')
			continue;
		if (ptr[at] == '\'' && at + 1 < scan->text.size && is_digit(ptr[at + 1]))
			continue;
		if ((ptr[at] == '-' || ptr[at] == '+') && rt_ascii_lower(ptr[at - 1]) == 'e')
			continue;
		break;
	}
	return at - scan->at;
}

static bool
is_key(const rt_scan *scan, size_t size)
{
	size_t at = scan->at + size;

	if (scan->language->key_end == 0)
		return false;
	while (at < scan->text.size && scan->text.ptr[at] == ' ')
		at++;
	return at < scan->text.size && scan->text.ptr[at] == scan->language->key_end &&
	       (at + 1 == scan->text.size || scan->text.ptr[at + 1] != '/');
}

static size_t
read_run(const rt_scan *scan, rt_ink *out_ink)
{
	char c = scan->text.ptr[scan->at];
	size_t size;

	*out_ink = INK_PLAIN;
	if (c == ' ' || c == '\n')
		return 1;
	if ((size = comment_size(scan)) > 0) {
		*out_ink = INK_COMMENT;
	} else if ((size = string_size(scan)) > 0) {
		*out_ink = is_key(scan, size) ? INK_KEY : INK_STRING;
	} else if (is_digit(c)) {
		size = number_size(scan);
		*out_ink = INK_NUMBER;
	} else if ((size = word_size(scan)) > 0) {
		if (is_keyword(scan, scan->text.ptr + scan->at, size))
			*out_ink = INK_WORD;
		else if (is_key(scan, size))
			*out_ink = INK_KEY;
	}
	return size > 0 ? size : 1;
}

/* A whole line, by its first characters. */
static rt_str
next_line(rt_scan *scan, rt_ink *out_ink)
{
	size_t from = scan->at;
	rt_str line;

	*out_ink = INK_PLAIN;
	for (size_t i = 0; i < sizeof(line_kinds) / sizeof(line_kinds[0]); i++)
		if (begins(scan, from, line_kinds[i].begins)) {
			*out_ink = line_kinds[i].ink;
			break;
		}
	(void)rt_next_line(scan->text, &scan->at, &line);
	if (scan->at > scan->text.size)
		scan->at = scan->text.size;
	return rt_str_at(scan->text.ptr + from, scan->at - from);
}

bool
rt_scan_next(rt_scan *scan, rt_str *out_text, rt_ink *out_ink)
{
	size_t from = scan->at;

	if (from == scan->text.size)
		return false;
	*out_ink = INK_PLAIN;
	if (scan->language == NULL) {
		scan->at = scan->text.size;
		*out_text = scan->text;
		return true;
	}
	if ((scan->language->flags & BY_LINE) != 0) {
		*out_text = next_line(scan, out_ink);
		return true;
	}
	while (scan->at < scan->text.size) {
		if (scan->next_size == 0)
			scan->next_size = read_run(scan, &scan->next_ink);
		if (scan->next_ink != INK_PLAIN && scan->at > from)
			break;
		scan->at += scan->next_size;
		scan->next_size = 0;
		if (scan->next_ink != INK_PLAIN) {
			*out_ink = scan->next_ink;
			break;
		}
	}
	*out_text = rt_str_at(scan->text.ptr + from, scan->at - from);
	return true;
}

/* ---- rows ---- */

void
rt_layout_code(rt_layout *layout, rt_str text, rt_str language)
{
	bool is_open = false;
	rt_str run, line;
	rt_ink ink;

	rt_layout_settle(layout);
	rt_scan_begin(&layout->scan, text, language);
	while (rt_layout_ok(layout) && rt_scan_next(&layout->scan, &run, &ink)) {
		size_t at = 0;

		while (rt_next_line(run, &at, &line)) {
			if (!is_open)
				rt_flow_begin(layout);
			rt_flow_add(layout, line, rt_ink_with(ink, layout->ink & ~0xFF), '\n');
			is_open = at > run.size; /* the line continues in the next run */
			if (!is_open)
				rt_flow_code(layout);
		}
	}
	if (is_open)
		rt_flow_code(layout);
}

void
rt_lines_add_code(rt_lines *lines, rt_str text, rt_str language, const rt_lines_options *options)
{
	rt_layout layout;

	rt_layout_init(&layout, lines, options);
	rt_layout_code(&layout, text, language);
	rt_layout_deinit(&layout);
}
