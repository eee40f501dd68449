/* SPDX-License-Identifier: MIT
 *
 * At each byte every secret is tried in every encoding; the longest match counts. */
#include "codec/mask.h"

#include "base/encode.h"

#define MARK "[key]"

enum {
	CUT_MIN = 4, /* bytes of a secret's beginning at the end of a cut text */
	HINT_MIN = 3 /* bytes that a shortened secret shows, at least */
};

/* How a text spells "%" and "\\" of a secret: as they are, or escaped. */
enum { PERCENT_ESCAPED = 1, BACKSLASH_ESCAPED = 2, SPELLINGS = 4 };

/* The size of what encodes the byte `wanted` at `at`; 0: it is another byte. */
static size_t
byte_at(rt_str text, size_t at, unsigned char wanted, unsigned spelling)
{
	char c = text.ptr[at];

	if (c == (char)wanted && !(c == '%' && (spelling & PERCENT_ESCAPED) != 0) &&
	    !(c == '\\' && (spelling & BACKSLASH_ESCAPED) != 0))
		return 1;
	if (c == '%' && rt_hex_number(text, at + 1, 2) == wanted)
		return 3;
	if (c == '+' && wanted == ' ')
		return 1;
	if (c != '\\' || at + 1 >= text.size)
		return 0;
	if (text.ptr[at + 1] == 'u' && rt_hex_number(text, at + 2, 4) == wanted)
		return 6;
	return text.ptr[at + 1] == (char)wanted ? 2 : 0;
}

static size_t
match_spelled(rt_str text, size_t from, rt_str secret, bool is_cut, unsigned spelling)
{
	size_t at = from, i;

	for (i = 0; i < secret.size && at < text.size; i++) {
		size_t size = byte_at(text, at, (unsigned char)secret.ptr[i], spelling);
		if (size == 0) /* a cut in the middle of an escape */
			return is_cut && i >= CUT_MIN && text.size - at < 6 &&
					       (text.ptr[at] == '%' || text.ptr[at] == '\\')
				       ? text.size - from
				       : 0;
		at += size;
	}
	return i == secret.size || (is_cut && i >= CUT_MIN) ? at - from : 0;
}

/* The size of the secret at from, with escapes; 0: it is not there. */
static size_t
match_plain(rt_str text, size_t from, rt_str secret, bool is_cut)
{
	size_t best = 0;

	for (unsigned spelling = 0; spelling < SPELLINGS; spelling++) {
		size_t size = match_spelled(text, from, secret, is_cut, spelling);

		best = size > best ? size : best;
	}
	return best;
}

/* Six bits of the secret. */
static int
bits_at(rt_str secret, size_t bit)
{
	unsigned word = (unsigned)(unsigned char)secret.ptr[bit / 8] << 8;

	if (bit / 8 + 1 < secret.size)
		word |= (unsigned char)secret.ptr[bit / 8 + 1];
	return (int)(word >> (10 - bit % 8) & 63);
}

/* The size of the base64 word's rest at from, whose letter there is the first that has bits of the
 * secret alone: from bit number shift on. 0: it is not there. */
static size_t
match_base64(rt_str text, size_t from, rt_str secret, size_t shift, bool is_cut)
{
	size_t bit = shift, at = from;

	for (; bit + 6 <= secret.size * 8 && at < text.size; bit += 6, at++)
		if (rt_base64_digit(text.ptr[at]) != bits_at(secret, bit))
			return 0;
	if (bit + 6 <= secret.size * 8 && !(is_cut && at - from >= CUT_MIN + 2))
		return 0;
	while (at < text.size && (rt_base64_digit(text.ptr[at]) >= 0 || text.ptr[at] == '='))
		at++; /* the rest of the word has the last bits */
	return at - from;
}

static bool
ends_word(char c)
{
	return memchr(" \t\r\n\"'`()<>[]{},;:=", c, 19) != NULL;
}

/* The size of the word at from if it is the secret with a part left out; else 0. */
static size_t
match_shortened(rt_str text, size_t from, rt_str secret)
{
	size_t end = from, head = 0, tail = 0, stars;

	if (from > 0 && !ends_word(text.ptr[from - 1]))
		return 0;
	while (end < text.size && !ends_word(text.ptr[end]))
		end++;
	while (end > from && (text.ptr[end - 1] == '.' || text.ptr[end - 1] == '!'))
		end--;
	stars = rt_str_find(rt_str_at(text.ptr, end), RT_STR("**"), from);
	if (stars == SIZE_MAX)
		stars = rt_str_find(rt_str_at(text.ptr, end), RT_STR("..."), from);
	if (stars == SIZE_MAX)
		stars = rt_str_find(rt_str_at(text.ptr, end), RT_STR("\xE2\x80\xA6"), from);
	if (stars == SIZE_MAX)
		return 0;
	while (head < secret.size && from + head < end && text.ptr[from + head] == secret.ptr[head])
		head++;
	while (tail < secret.size && end - tail > from &&
	       text.ptr[end - tail - 1] == secret.ptr[secret.size - tail - 1])
		tail++;
	return head >= HINT_MIN || tail >= HINT_MIN ? end - from : 0;
}

/* The longest of the secrets that begins at byte at, in any encoding. is_cut: the text may end
 * within a secret; then the beginning of one at its end is found too. O(the secrets' bytes). */
static rt_mask_match
find_match(rt_str text, size_t at, const rt_str *secrets, size_t count, bool is_cut)
{
	static const size_t shifts[] = {0, 4, 2};
	rt_mask_match best = {0};

	for (size_t i = 0; i < count; i++) {
		size_t size = 0;

		if (secrets[i].size < RT_MASK_SECRET_MIN)
			continue;
		size = match_plain(text, at, secrets[i], is_cut);
		if (size == 0)
			size = match_shortened(text, at, secrets[i]);
		if (size > best.size)
			best = (rt_mask_match){size, false};
		for (size_t k = 0; k < sizeof(shifts) / sizeof(shifts[0]); k++) {
			size = match_base64(text, at, secrets[i], shifts[k], is_cut);
			if (size > best.size)
				best = (rt_mask_match){size, true};
		}
	}
	return best;
}

void
rt_mask_add(rt_buf *out, rt_str text, const rt_str *secrets, size_t count, bool is_cut)
{
	size_t begin = out->size; /* after the last mark */

	for (size_t at = 0; at < text.size;) {
		rt_mask_match match = find_match(text, at, secrets, count, is_cut);

		if (match.size == 0) {
			rt_buf_add_byte(out, text.ptr[at++]);
			continue;
		}
		while (match.in_word && out->status == RT_OK && out->size > begin &&
		       rt_base64_digit(out->ptr[out->size - 1]) >= 0)
			out->ptr[--out->size] = '\0';
		rt_buf_add_c(out, MARK);
		begin = out->size;
		at += match.size;
	}
}

void
rt_mask_error(rt_error *err, const rt_alloc *alloc, const rt_str *secrets, size_t count)
{
	static const rt_str more = RT_STR_INIT(" ..."); /* after the part that was cut off */
	rt_str text;
	rt_buf masked;
	bool is_cut;

	if (err == NULL)
		return;
	text = rt_str_at(err->text, rt_error_message_size(err));
	/* Characters are not cut, so a cut text may be three bytes short of the limit. */
	is_cut = strlen(err->text) + 4 >= RT_ERROR_TEXT_SIZE;
	rt_buf_init(&masked, alloc, RT_BUF_UNLIMITED);
	if (text.size > more.size &&
	    rt_str_eq(rt_str_at(text.ptr + text.size - more.size, more.size), more)) {
		rt_mask_add(&masked, rt_str_at(text.ptr, text.size - more.size), secrets, count,
			    true);
		rt_buf_add_str(&masked, more);
	} else {
		rt_mask_add(&masked, text, secrets, count, is_cut);
	}
	if (masked.status != RT_OK) /* better no message than one with a key in it */
		rt_error_rewrite(err, err->advice, "out of memory for the message");
	else if (!rt_str_eq(text, rt_buf_str(&masked)))
		rt_error_rewrite(err, err->advice, "%.*s", RT_STR_ARG(rt_buf_str(&masked)));
	rt_buf_deinit(&masked);
}

bool
rt_mask_is_secret_name(rt_str name)
{
	static const char *const words[] = {"auth",   "key",  "token", "secret",
					    "cookie", "pass", "sig"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		rt_str word = rt_str_of(words[i]);

		for (size_t at = 0; at + word.size <= name.size; at++)
			if (rt_str_eq_nocase(rt_str_at(name.ptr + at, word.size), word))
				return true;
	}
	return false;
}
