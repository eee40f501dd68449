/* SPDX-License-Identifier: MIT
 *
 * An extract of a conversation, made by rules: the same text gives the same extract. They
 * recognise turns, sentences, words of decisions, and names of files.
 *
 *   [User]: How do we store it? I have …      the first sentence of each turn; of many turns,
 *   [AI]: SQLite. We will use WAL in db.c.    half from the beginning and half from the end
 *
 * The summary of an earlier compaction is a turn like any other; its lines are sentences, so its
 * decisions and files are found again. */
#include "llm/builtin_impl.h"

enum {
	TURNS_SHOWN = 24,
	SENTENCE_MAX = 160, /* bytes of one that are shown */
	DECISIONS_MAX = 10,
	FILES_MAX = 20,
	ROLE_MAX = 60
};

typedef struct turn {
	rt_str role, text;
} turn;

/* "[Role]: " at the beginning of a paragraph; its size, or 0. */
static size_t
mark_at(rt_str text, size_t at, rt_str *role)
{
	size_t end;
	rt_str line;

	if (at >= text.size || text.ptr[at] != '[' ||
	    (at > 0 && (at < 2 || text.ptr[at - 1] != '\n' || text.ptr[at - 2] != '\n')))
		return 0;
	line = rt_str_at(text.ptr + at, text.size - at < ROLE_MAX ? text.size - at : ROLE_MAX);
	end = rt_str_find(line, RT_STR("]: "), 0);
	if (end == SIZE_MAX || end == 1 || memchr(line.ptr, '\n', end) != NULL)
		return 0;
	*role = rt_str_at(line.ptr + 1, end - 1);
	return end + 3;
}

/* The turn at *at, which is advanced. */
static bool
next_turn(rt_str text, size_t *at, turn *out)
{
	rt_str none;
	size_t from = *at, end, size;

	if (from >= text.size)
		return false;
	out->role = rt_str_at("", 0);
	size = mark_at(text, from, &out->role);
	for (end = from + size; end < text.size && mark_at(text, end, &none) == 0; end++)
		;
	out->text = rt_str_trim(rt_str_at(text.ptr + from + size, end - from - size));
	*at = end;
	return true;
}

/* The size of the mark of an item or a heading ("- ", "## "), or 0. "--flag" is a word. */
static size_t
marks_size(rt_str line)
{
	size_t i = 0;

	while (i < line.size && memchr("-#*", line.ptr[i], 3) != NULL)
		i++;
	return i < line.size && rt_is_blank(line.ptr[i]) ? i : 0;
}

/* The sentence at *at, which is advanced: up to a stop before a blank, or the line's end. */
static bool
next_sentence(rt_str text, size_t *at, rt_str *out)
{
	size_t from = *at, end;

	while (from < text.size && rt_is_blank(text.ptr[from]))
		from++;
	for (end = from; end < text.size && text.ptr[end] != '\n'; end++)
		if (memchr(".!?", text.ptr[end], 3) != NULL &&
		    (end + 1 == text.size || rt_is_blank(text.ptr[end + 1]))) {
			end++;
			break;
		}
	*at = end;
	*out = rt_str_trim(rt_str_at(text.ptr + from, end - from));
	while (marks_size(*out) > 0) {
		size_t size = marks_size(*out);

		*out = rt_str_trim(rt_str_at(out->ptr + size, out->size - size));
	}
	return out->size > 0;
}

/* On one line. */
static void
add_sentence(rt_buf *out, rt_str sentence)
{
	size_t i, size = rt_utf8_cut(sentence, SENTENCE_MAX), word = size;

	/* not in the middle of a word, if possible */
	while (word < sentence.size && word > SENTENCE_MAX / 2 && !rt_is_blank(sentence.ptr[word]))
		word--;
	if (word < sentence.size && rt_is_blank(sentence.ptr[word]))
		size = word;
	for (i = 0; i < size; i++)
		if (!rt_is_blank(sentence.ptr[i]))
			rt_buf_add_byte(out, sentence.ptr[i]);
		else if (i + 1 < size && !rt_is_blank(sentence.ptr[i + 1]))
			rt_buf_add_byte(out, ' ');
	if (size < sentence.size)
		rt_buf_add_c(out, " ...");
}

static void
add_turn(rt_buf *out, const turn *t)
{
	size_t at = 0;
	rt_str first;

	if (!next_sentence(t->text, &at, &first))
		return;
	rt_buf_add_c(out, "- ");
	if (t->role.size > 0) {
		rt_buf_add_str(out, t->role);
		rt_buf_add_c(out, ": ");
	}
	add_sentence(out, first);
	rt_buf_add_byte(out, '\n');
}

/* ---- decisions ---- */

static bool
has_word(rt_str text, const char *word)
{
	size_t i, size = strlen(word);

	for (i = 0; i + size <= text.size; i++)
		if ((i == 0 || rt_is_blank(text.ptr[i - 1])) &&
		    rt_str_eq_nocase(rt_str_at(text.ptr + i, size), rt_str_at(word, size)))
			return true;
	return false;
}

static bool
is_decision(rt_str sentence)
{
	static const char *const words[] = {"decide", "decision", "agreed", "we will", "we'll", "let's",
					    "let us", "chose", "go with", "settled", "instead of", NULL};
	size_t i;

	if (sentence.ptr[sentence.size - 1] == '?')
		return false;
	for (i = 0; words[i] != NULL; i++)
		if (has_word(sentence, words[i]))
			return true;
	return false;
}

static void
add_decisions(rt_buf *out, rt_str text)
{
	size_t at = 0, count = 0;
	turn t;

	while (next_turn(text, &at, &t)) {
		size_t in = 0;
		rt_str sentence;

		if (rt_str_starts(t.text, RT_STR("You said: \""))) /* builtin/echo */
			continue;
		while (next_sentence(t.text, &in, &sentence)) {
			if (!is_decision(sentence))
				continue;
			if (count == DECISIONS_MAX)
				return;
			rt_buf_add_c(out, count++ == 0 ? "\nDecisions:\n- " : "- ");
			add_sentence(out, sentence);
			rt_buf_add_byte(out, '\n');
		}
	}
}

/* ---- files ---- */

/* A word without punctuation around it. */
static rt_str
bare(rt_str word)
{
	static const char around[] = "\"'`()[]{}<>,;:.!?*";

	while (word.size > 0 && word.ptr[0] != '.' &&
	       memchr(around, word.ptr[0], sizeof(around) - 1) != NULL)
		word = rt_str_at(word.ptr + 1, word.size - 1);
	while (word.size > 0 &&
	       memchr(around, word.ptr[word.size - 1], sizeof(around) - 1) != NULL)
		word.size--;
	return word;
}

static bool
is_file(rt_str word)
{
	static const char *const kinds[] = {
		".c",  ".h",  ".cc",   ".cpp",	".py",	".js",	 ".ts",	  ".rs",  ".go",   ".rb",
		".md", ".sh", ".java", ".json", ".txt", ".toml", ".yaml", ".yml", ".html", ".css",
		".sql", ".csv", ".db", ".log",	".conf", ".xml", ".lua", ".swift", NULL};
	size_t i, slashes = 0;

	for (i = 0; i < word.size; i++) {
		unsigned char c = (unsigned char)word.ptr[i];

		if (c <= 0x20 || memchr("\"'`<>|=\\", c, 8) != NULL)
			return false;
		slashes += c == '/';
	}
	if (word.size < 3 || rt_str_find(word, RT_STR("://"), 0) != SIZE_MAX)
		return false;
	for (i = 0; kinds[i] != NULL; i++) {
		size_t size = strlen(kinds[i]);

		if (word.size > size &&
		    rt_str_eq(rt_str_at(word.ptr + word.size - size, size), rt_str_of(kinds[i])))
			return true;
	}
	/* "/etc/hosts" and "src/core/seq", but not "and/or" */
	return slashes >= 2 && word.ptr[word.size - 1] != '/';
}

static void
add_files(rt_buf *out, rt_str text)
{
	rt_str found[FILES_MAX];
	size_t at = 0, count = 0, i, end;

	while (at < text.size && count < FILES_MAX) {
		rt_str word;

		while (at < text.size && rt_is_blank(text.ptr[at]))
			at++;
		for (end = at; end < text.size && !rt_is_blank(text.ptr[end]); end++)
			;
		word = bare(rt_str_at(text.ptr + at, end - at));
		at = end;
		if (!is_file(word))
			continue;
		for (i = 0; i < count && !rt_str_eq(found[i], word); i++)
			;
		if (i == count)
			found[count++] = word;
	}
	for (i = 0; i < count; i++) {
		rt_buf_add_c(out, i == 0 ? "\nFiles: " : ", ");
		rt_buf_add_str(out, found[i]);
	}
	if (count > 0)
		rt_buf_add_byte(out, '\n');
}

/* ---- the whole ---- */

bool
rt_builtin_conversation(rt_str text, rt_str *out)
{
	static const rt_str before = RT_STR_INIT("<conversation>\n");
	static const rt_str after = RT_STR_INIT("\n</conversation>");
	size_t begin = rt_str_find(text, before, 0), end = SIZE_MAX, at;

	if (begin == SIZE_MAX)
		return false;
	begin += before.size;
	for (at = begin; (at = rt_str_find(text, after, at)) != SIZE_MAX; at++)
		end = at;
	if (end == SIZE_MAX)
		return false;
	*out = rt_str_at(text.ptr + begin, end - begin);
	return true;
}

void
rt_builtin_add_summary(rt_buf *out, rt_str text)
{
	size_t at = 0, count = 0, i;
	turn t, last = {{"", 0}, {"", 0}};

	while (next_turn(text, &at, &t)) {
		last = t;
		count++;
	}
	rt_buf_add_f(out, "An extract of %zu message%s, made without a model.\n\nSaid:\n", count,
		     count == 1 ? "" : "s");
	for (at = i = 0; next_turn(text, &at, &t); i++) {
		if (i == TURNS_SHOWN / 2 && count > TURNS_SHOWN)
			rt_buf_add_f(out, "- (%zu more)\n", count - TURNS_SHOWN);
		if (i < TURNS_SHOWN / 2 || i + TURNS_SHOWN / 2 >= count)
			add_turn(out, &t);
	}
	add_decisions(out, text);
	add_files(out, text);
	if (rt_str_eq_nocase(last.role, RT_STR("user"))) {
		rt_buf_add_c(out, "\nLast asked: ");
		add_sentence(out, last.text);
		rt_buf_add_byte(out, '\n');
	}
	if (out->size > 0 && out->ptr[out->size - 1] == '\n')
		out->size--;
}
