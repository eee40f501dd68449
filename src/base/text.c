/* SPDX-License-Identifier: MIT
 *
 * Views, buffers, counted strings, UTF-8. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h> /* vsnprintf only */

bool
rt_str_is_one_of(rt_str a, const char *const *cstrs)
{
	for (; *cstrs != NULL; cstrs++)
		if (rt_str_is(a, *cstrs))
			return true;
	return false;
}

bool
rt_str_starts(rt_str a, rt_str prefix)
{
	return a.size >= prefix.size &&
	       (prefix.size == 0 || memcmp(a.ptr, prefix.ptr, prefix.size) == 0);
}

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

bool
rt_str_eq_nocase(rt_str a, rt_str b)
{
	size_t i;

	if (a.size != b.size)
		return false;
	for (i = 0; i < a.size; i++)
		if (lower(a.ptr[i]) != lower(b.ptr[i]))
			return false;
	return true;
}

int
rt_str_cmp(rt_str a, rt_str b)
{
	size_t size = a.size < b.size ? a.size : b.size;
	int order = size == 0 ? 0 : memcmp(a.ptr, b.ptr, size);

	if (order != 0)
		return order;
	return a.size < b.size ? -1 : a.size > b.size;
}

static bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

rt_str
rt_str_trim(rt_str a)
{
	while (a.size > 0 && is_space(a.ptr[0])) {
		a.ptr++;
		a.size--;
	}
	while (a.size > 0 && is_space(a.ptr[a.size - 1]))
		a.size--;
	return a;
}

size_t
rt_str_find(rt_str in, rt_str needle, size_t from)
{
	if (needle.size == 0)
		return from <= in.size ? from : SIZE_MAX;
	while (from + needle.size <= in.size) {
		const char *hit =
			memchr(in.ptr + from, needle.ptr[0], in.size - from - needle.size + 1);

		if (hit == NULL)
			return SIZE_MAX;
		from = (size_t)(hit - in.ptr);
		if (memcmp(hit, needle.ptr, needle.size) == 0)
			return from;
		from++;
	}
	return SIZE_MAX;
}

bool
rt_str_split(rt_str *rest, char at, rt_str *out)
{
	const char *end = rest->size > 0 ? memchr(rest->ptr, at, rest->size) : NULL;

	if (rest->size == 0)
		return false;
	*out = rt_str_at(rest->ptr, end != NULL ? (size_t)(end - rest->ptr) : rest->size);
	*rest = rt_str_skip(*rest, out->size + (end != NULL));
	return true;
}

size_t
rt_str_u64_prefix(rt_str s, uint64_t max, uint64_t *out)
{
	uint64_t number = 0;
	size_t i;

	for (i = 0; i < s.size && s.ptr[i] >= '0' && s.ptr[i] <= '9'; i++) {
		uint64_t digit = (uint64_t)(s.ptr[i] - '0');

		if (digit > max || number > (max - digit) / 10)
			return 0;
		number = number * 10 + digit;
	}
	if (i > 0)
		*out = number;
	return i;
}

bool
rt_str_u64(rt_str s, uint64_t max, uint64_t *out)
{
	uint64_t number;

	if (s.size == 0 || rt_str_u64_prefix(s, max, &number) != s.size)
		return false;
	*out = number;
	return true;
}

size_t
rt_str_distance(rt_str a, rt_str b)
{
	size_t rows[3][64], i, j;

	if (a.size > 60 || b.size > 60)
		return SIZE_MAX;
	for (j = 0; j <= b.size; j++)
		rows[0][j] = j;
	for (i = 1; i <= a.size; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *higher = rows[(i + 1) % 3];

		row[0] = i;
		for (j = 1; j <= b.size; j++) {
			size_t best = above[j - 1] + (a.ptr[i - 1] != b.ptr[j - 1]);

			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] &&
			    a.ptr[i - 2] == b.ptr[j - 1] && higher[j - 2] + 1 < best)
				best = higher[j - 2] + 1;
			row[j] = best;
		}
	}
	return rows[a.size % 3][b.size];
}

void
rt_buf_init(rt_buf *buf, const rt_alloc *alloc, size_t limit)
{
	memset(buf, 0, sizeof(*buf));
	buf->alloc = alloc;
	buf->limit = limit;
	buf->status = RT_OK;
}

void
rt_buf_deinit(rt_buf *buf)
{
	rt_free(buf->alloc, buf->ptr);
	buf->ptr = NULL;
	buf->size = buf->room = 0;
}

void
rt_buf_clear(rt_buf *buf)
{
	buf->size = 0;
	buf->status = RT_OK;
	if (buf->ptr != NULL)
		buf->ptr[0] = '\0';
}

char *
rt_buf_reserve(rt_buf *buf, size_t size)
{
	size_t room;
	char *ptr;

	if (buf->status != RT_OK)
		return NULL;
	if (size > buf->limit || buf->size > buf->limit - size) {
		buf->status = RT_LIMIT;
		return NULL;
	}
	if (buf->ptr != NULL && buf->room - buf->size > size)
		return buf->ptr + buf->size;
	room = buf->room < 64 ? 64 : buf->room;
	while (room - buf->size <= size)
		room += room / 2 + 1;
	ptr = rt_resize(buf->alloc, buf->ptr, room);
	if (ptr == NULL) {
		buf->status = RT_NOMEM;
		return NULL;
	}
	buf->ptr = ptr;
	buf->room = room;
	return ptr + buf->size;
}

void
rt_buf_add(rt_buf *buf, const void *ptr, size_t size)
{
	char *to;

	/* most often there is room */
	to = buf->status == RT_OK && size < buf->room - buf->size && size <= buf->limit - buf->size && buf->ptr != NULL
		     ? buf->ptr + buf->size
		     : rt_buf_reserve(buf, size);
	if (to == NULL)
		return;
	if (size > 0)
		memcpy(to, ptr, size);
	buf->size += size;
	buf->ptr[buf->size] = '\0';
}

void
rt_buf_add_str(rt_buf *buf, rt_str s)
{
	rt_buf_add(buf, s.ptr, s.size);
}

void
rt_buf_add_c(rt_buf *buf, const char *cstr)
{
	rt_buf_add(buf, cstr, strlen(cstr));
}

void
rt_buf_add_byte(rt_buf *buf, char byte)
{
	if (buf->status != RT_OK || buf->ptr == NULL || buf->room - buf->size <= 1 || buf->size >= buf->limit) {
		rt_buf_add(buf, &byte, 1);
		return;
	}
	buf->ptr[buf->size++] = byte;
	buf->ptr[buf->size] = '\0';
}

void
rt_buf_add_u64(rt_buf *buf, uint64_t number)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	rt_buf_add(buf, digits + at, sizeof(digits) - at);
}

void
rt_buf_capitalise(rt_buf *buf)
{
	if (buf->size > 0 && buf->ptr[0] >= 'a' && buf->ptr[0] <= 'z')
		buf->ptr[0] = (char)(buf->ptr[0] - 'a' + 'A');
}

void
rt_buf_add_grouped(rt_buf *buf, uint64_t number)
{
	if (number >= 1000) {
		rt_buf_add_grouped(buf, number / 1000);
		rt_buf_add_f(buf, ",%03u", (unsigned)(number % 1000));
	} else {
		rt_buf_add_u64(buf, number);
	}
}

void
rt_buf_add_i64(rt_buf *buf, int64_t number)
{
	if (number < 0) {
		rt_buf_add_byte(buf, '-');
		rt_buf_add_u64(buf, (uint64_t)0 - (uint64_t)number);
	} else {
		rt_buf_add_u64(buf, (uint64_t)number);
	}
}

void
rt_buf_add_f(rt_buf *buf, const char *format, ...)
{
	va_list ap;
	char small[256];
	int size;
	char *to;

	if (buf->status != RT_OK)
		return;
	va_start(ap, format);
	size = vsnprintf(small, sizeof(small), format, ap);
	va_end(ap);
	if (size < 0) {
		buf->status = RT_USAGE;
		return;
	}
	if ((size_t)size < sizeof(small)) {
		rt_buf_add(buf, small, (size_t)size);
		return;
	}
	to = rt_buf_reserve(buf, (size_t)size); /* which has space for the NUL, too */
	if (to == NULL)
		return;
	va_start(ap, format);
	vsnprintf(to, (size_t)size + 1, format, ap);
	va_end(ap);
	buf->size += (size_t)size;
}

const rt_text *
rt_text_new(const rt_alloc *alloc, rt_str s)
{
	rt_text *text = rt_new(alloc, sizeof(*text) + s.size + 1);

	if (text == NULL)
		return NULL;
	atomic_init(&text->refs, 1);
	text->reserved = 0;
	text->alloc = alloc;
	text->size = s.size;
	if (s.size > 0)
		memcpy(text->ptr, s.ptr, s.size);
	text->ptr[s.size] = '\0';
	return text;
}

const rt_text *
rt_text_ref(const rt_text *text)
{
	if (text != NULL)
		atomic_fetch_add_explicit(&((rt_text *)(uintptr_t)text)->refs, 1,
					  memory_order_relaxed);
	return text;
}

void
rt_text_unref(const rt_text *text)
{
	rt_text *mine = (rt_text *)(uintptr_t)text;

	if (mine != NULL &&
	    atomic_fetch_sub_explicit(&mine->refs, 1, memory_order_acq_rel) == 1)
		rt_free(mine->alloc, mine);
}

/* Size of the code point that starts at p, or 0 when it is not valid. */
static size_t
utf8_step(const unsigned char *p, size_t left)
{
	unsigned char a = p[0];

	if (a < 0x80)
		return 1;
	if (a < 0xC2)
		return 0;
	if (a < 0xE0)
		return left >= 2 && (p[1] & 0xC0) == 0x80 ? 2 : 0;
	if (a < 0xF0) {
		if (left < 3 || (p[1] & 0xC0) != 0x80 || (p[2] & 0xC0) != 0x80)
			return 0;
		if ((a == 0xE0 && p[1] < 0xA0) || (a == 0xED && p[1] >= 0xA0))
			return 0;
		return 3;
	}
	if (a < 0xF5) {
		if (left < 4 || (p[1] & 0xC0) != 0x80 || (p[2] & 0xC0) != 0x80 ||
		    (p[3] & 0xC0) != 0x80)
			return 0;
		if ((a == 0xF0 && p[1] < 0x90) || (a == 0xF4 && p[1] >= 0x90))
			return 0;
		return 4;
	}
	return 0;
}

size_t
rt_utf8_valid_size(rt_str s)
{
	const unsigned char *p = (const unsigned char *)s.ptr;
	size_t at = 0;

	while (at < s.size) {
		size_t step;

		while (s.size - at >= 8) { /* eight ASCII bytes at a time */
			uint64_t word;

			memcpy(&word, p + at, 8);
			if ((word & 0x8080808080808080u) != 0)
				break;
			at += 8;
		}
		if (at == s.size)
			break;
		step = utf8_step(p + at, s.size - at);
		if (step == 0)
			break;
		at += step;
	}
	return at;
}

size_t
rt_utf8_count(rt_str s)
{
	size_t count = 0, i;

	for (i = 0; i < s.size; i++)
		count += ((unsigned char)s.ptr[i] & 0xC0) != 0x80;
	return count;
}

size_t
rt_utf8_offset(rt_str s, size_t at)
{
	size_t i;

	for (i = 0; i < s.size; i++) {
		if (((unsigned char)s.ptr[i] & 0xC0) == 0x80)
			continue;
		if (at == 0)
			return i;
		at--;
	}
	return at == 0 ? s.size : SIZE_MAX;
}

size_t
rt_utf8_cut(rt_str s, size_t max_size)
{
	if (s.size <= max_size)
		return s.size;
	while (max_size > 0 && ((unsigned char)s.ptr[max_size] & 0xC0) == 0x80)
		max_size--;
	return max_size;
}

void
rt_utf8_repair(rt_buf *buf, rt_str s)
{
	while (s.size > 0) {
		size_t good = rt_utf8_valid_size(s);

		rt_buf_add(buf, s.ptr, good);
		if (good == s.size)
			return;
		rt_buf_add(buf, "\xEF\xBF\xBD", 3);
		s.ptr += good + 1;
		s.size -= good + 1;
	}
}
