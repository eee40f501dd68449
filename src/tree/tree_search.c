/* SPDX-License-Identifier: MIT
 *
 * Searching: parsing queries, and reading texts once to keep them in lower case.
 *
 * The hay of an entry is its role, a space and the beginning of its text. Words have no spaces, so
 * none matches across the two. Labels are searched in place, since they change without the text. */
#include "tree/tree_impl.h"

#include <utf8proc.h>

enum { HAY_MAX = 4096 /* bytes of one entry */ };

/* ---- lower case ---- */

void
rt_tree_add_lower(rt_buf *buf, rt_str text)
{
	size_t i = 0;

	while (i < text.size) {
		utf8proc_uint8_t low[4];
		utf8proc_int32_t c;
		utf8proc_ssize_t size;
		size_t plain;

		for (plain = i; plain < text.size && (unsigned char)text.ptr[plain] < 0x80; plain++)
			;
		if (plain > i) {
			char *to = rt_buf_reserve(buf, plain - i);

			if (to == NULL)
				return;
			for (; i < plain; i++, buf->size++)
				*to++ = text.ptr[i] >= 'A' && text.ptr[i] <= 'Z'
						? (char)(text.ptr[i] + ('a' - 'A'))
						: text.ptr[i];
			continue;
		}
		size = utf8proc_iterate((const utf8proc_uint8_t *)text.ptr + i,
					(utf8proc_ssize_t)(text.size - i), &c);
		if (size <= 0) {
			rt_buf_add_byte(buf, text.ptr[i++]);
			continue;
		}
		i += (size_t)size;
		rt_buf_add(buf, low, (size_t)utf8proc_encode_char(utf8proc_tolower(c), low));
	}
}

/* ---- queries ---- */

typedef struct flag_word {
	const char *word;
	term_where where;
	unsigned value;
} flag_word;

static const flag_word flag_words[] = {
	{"edited", TERM_FLAG, RT_TREE_EDITED}, {"muted", TERM_FLAG, RT_TREE_MUTED},
	{"marked", TERM_FLAG, RT_TREE_MARKED}, {"active", TERM_FLAG, RT_TREE_ACTIVE},
	{"labeled", TERM_LABELED, 0},          {"compaction", TERM_KIND, RT_TREE_COMPACTION},
	{"tool", TERM_KIND, RT_TREE_TOOL},
};

static bool
skip_prefix(rt_str *word, const char *prefix)
{
	rt_str p = rt_str_of(prefix);

	if (!rt_str_starts(*word, p))
		return false;
	*word = rt_str_at(word->ptr + p.size, word->size - p.size);
	return true;
}

/* Other words after is: are searched literally. */
static bool
parse_flag(rt_str *word, tree_term *term)
{
	if (!rt_str_starts(*word, RT_STR("is:")))
		return false;
	for (size_t i = 0; i < sizeof(flag_words) / sizeof(flag_words[0]); i++)
		if (rt_str_is(rt_str_at(word->ptr + 3, word->size - 3), flag_words[i].word)) {
			term->where = flag_words[i].where;
			term->value = flag_words[i].value;
			return true;
		}
	return false;
}

/* A word of a query, which begins at base. */
static tree_term
read_term(const rt_tree *t, rt_str word, const char *base)
{
	tree_term term = {.where = TERM_ANYWHERE};

	if (!t->options.as_pi) {
		term.not = skip_prefix(&word, "!");
		if (skip_prefix(&word, "role:"))
			term.where = TERM_ROLE;
		else if (skip_prefix(&word, "label:"))
			term.where = TERM_LABEL;
		else if (skip_prefix(&word, "'"))
			term.where = TERM_WORD;
		else if (skip_prefix(&word, "^"))
			term.where = TERM_BEGIN;
		else if (!parse_flag(&word, &term) && word.size > 1 &&
			 word.ptr[word.size - 1] == '$') {
			term.where = TERM_END;
			word.size--;
		}
	}
	term.at = (size_t)(word.ptr - base);
	term.size = word.size;
	return term;
}

static bool
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The terms of a query in lower case; signs without a word are not terms. */
static tree_term *
read_terms(const rt_tree *t, rt_str query, size_t *out_count)
{
	tree_term *terms = rt_new_array(t->alloc, query.size / 2 + 1, sizeof(*terms));
	size_t i = 0, count = 0;

	while (terms != NULL && i < query.size) {
		size_t begin;

		for (; i < query.size && is_blank(query.ptr[i]); i++)
			;
		for (begin = i; i < query.size && !is_blank(query.ptr[i]); i++)
			;
		if (i == begin)
			break;
		terms[count] = read_term(t, rt_str_at(query.ptr + begin, i - begin), query.ptr);
		count += terms[count].size > 0;
	}
	*out_count = count;
	return terms;
}

static rt_status
search(rt_tree *t, rt_str query, bool is_patient, rt_error *err)
{
	tree_term *terms = NULL;
	size_t count = 0;
	bool changed;
	rt_buf text, low;
	rt_status st = RT_OK;

	rt_buf_init(&text, t->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&low, t->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&text, query);
	rt_tree_add_lower(&low, query);
	if (text.status == RT_OK && low.status == RT_OK)
		terms = read_terms(t, rt_buf_str(&low), &count);
	if (terms == NULL)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	else if (count > 0 && !is_patient)
		st = rt_tree_look(t, t->count, &changed, err);
	if (st != RT_OK) {
		rt_buf_deinit(&text);
		rt_buf_deinit(&low);
		rt_free(t->alloc, terms);
		return st;
	}
	rt_buf_deinit(&t->query);
	rt_buf_deinit(&t->query_low);
	rt_free(t->alloc, t->terms);
	t->query = text;
	t->query_low = low;
	t->terms = terms;
	t->term_count = count;
	t->is_patient = is_patient;
	rt_tree_unfold_all(t);
	return RT_OK;
}

rt_status
rt_tree_search(rt_tree *t, rt_str query, rt_error *err)
{
	return search(t, query, false, err);
}

rt_status
rt_tree_begin_search(rt_tree *t, rt_str query, rt_error *err)
{
	return search(t, query, true, err);
}

rt_str
rt_tree_query(const rt_tree *t)
{
	return rt_buf_str(&t->query);
}

/* ---- matching ---- */

static bool
is_word_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
	       ((unsigned char)c & 0x80) != 0;
}

static bool
has_word(rt_str in, rt_str word)
{
	for (size_t at = 0; (at = rt_str_find(in, word, at)) != SIZE_MAX; at++) {
		size_t end = at + word.size;

		if ((at == 0 || !is_word_byte(in.ptr[at - 1])) &&
		    (end == in.size || !is_word_byte(in.ptr[end])))
			return true;
	}
	return false;
}

static bool
ends_with(rt_str in, rt_str word)
{
	while (in.size > 0 && is_blank(in.ptr[in.size - 1]))
		in.size--;
	return in.size >= word.size &&
	       memcmp(in.ptr + (in.size - word.size), word.ptr, word.size) == 0;
}

static bool
begins_with(rt_str in, rt_str word)
{
	while (in.size > 0 && is_blank(in.ptr[0]))
		in = rt_str_at(in.ptr + 1, in.size - 1);
	return rt_str_starts(in, word);
}

static bool
has_term(const rt_tree *t, const rt_tree_node *n, const tree_term *term, rt_str hay, rt_str label)
{
	rt_str word = rt_str_at(t->query_low.ptr + term->at, term->size);
	rt_str role = rt_str_at(hay.ptr, n->hay_text > 0 ? n->hay_text - 1u : 0);
	rt_str text = rt_str_at(hay.ptr + n->hay_text, hay.size - n->hay_text);

	switch (term->where) {
	case TERM_ANYWHERE:
		return rt_str_find(hay, word, 0) != SIZE_MAX ||
		       rt_str_find(label, word, 0) != SIZE_MAX;
	case TERM_WORD: return has_word(hay, word) || has_word(label, word);
	case TERM_BEGIN: return begins_with(text, word);
	case TERM_END: return ends_with(text, word);
	case TERM_ROLE: return rt_str_starts(role, word);
	case TERM_LABEL: return rt_str_find(label, word, 0) != SIZE_MAX;
	case TERM_FLAG: return (n->flags & term->value) != 0;
	case TERM_LABELED: return n->label != 0;
	case TERM_KIND: return n->kind == term->value;
	}
	return false;
}

bool
rt_tree_matches(const rt_tree *t, uint32_t node)
{
	const rt_tree_node *n = &t->nodes[node];
	const tree_label *l = &t->labels[n->label];
	rt_str hay = {"", 0}, label = {"", 0};

	if (n->hay_size > 0)
		hay = rt_str_at(t->hay.ptr + n->hay, n->hay_size);
	if (l->low_size > 0)
		label = rt_str_at(t->label_text.ptr + l->at + l->size, l->low_size);
	for (size_t i = 0; i < t->term_count; i++)
		if (has_term(t, n, &t->terms[i], hay, label) == t->terms[i].not )
			return false;
	return true;
}

/* ---- texts ---- */

/* A question to the source. */
typedef struct looking {
	rt_tree *tree;
	const uint32_t *nodes;
	bool changed;
	bool full; /* out of memory */
} looking;

static void
keep_told(void *to, size_t index, const rt_tree_told *told)
{
	looking *l = to;
	rt_tree *t = l->tree;
	rt_tree_node *n = &t->nodes[l->nodes[index]];
	size_t at = t->hay.size, size;

	rt_tree_add_lower(&t->hay, told->hay);
	if (t->hay.status != RT_OK) {
		l->full = true;
		return;
	}
	size = t->hay.size - at;
	if (size > HAY_MAX) {
		size = rt_utf8_cut(rt_str_at(t->hay.ptr + at, size), HAY_MAX);
		t->hay.size = at + size;
	}
	n->hay = (uint32_t)at;
	n->hay_size = (uint16_t)size;
	n->hay_text = (uint8_t)(told->text <= UINT8_MAX && told->text <= size ? told->text : 0);
	if ((n->flags & RT_TREE_KNOWN) == 0)
		t->unknown--;
	n->flags |= RT_TREE_KNOWN;
	if (told->silent) {
		n->flags |= RT_TREE_SILENT;
		l->changed = true;
	}
}

rt_status
rt_tree_look(rt_tree *t, size_t count, bool *out_changed, rt_error *err)
{
	uint32_t nodes[RT_TREE_ASK_MAX], passed = 0;
	looking l = {.tree = t, .nodes = nodes};
	rt_status st = RT_OK;

	*out_changed = false;
	while (st == RT_OK && t->unknown > 0 && count > 0 && passed < t->count) {
		size_t asked = 0;

		for (; asked < RT_TREE_ASK_MAX && asked < count && passed < t->count; passed++) {
			if (t->learn_at >= t->count)
				t->learn_at = 0;
			if ((t->nodes[t->learn_at].flags & RT_TREE_KNOWN) == 0)
				nodes[asked++] = t->learn_at;
			t->learn_at++;
		}
		count -= asked;
		if (asked > 0)
			st = t->source->tell(t->source->ctx, t, nodes, asked, true, keep_told, &l,
					     err);
		if (st == RT_OK && l.full)
			st = rt_fail(err, RT_NOMEM, "out of memory while searching");
	}
	*out_changed = l.changed;
	return st;
}
