/* SPDX-License-Identifier: MIT */
#include "markup/entity.h"

#include <stdlib.h> /* bsearch */

#include "base/encode.h"

static size_t
encode(uint32_t code, char room[RT_ENTITY_ROOM])
{
	static const unsigned char starts[] = {0, 0, 0xc0, 0xe0, 0xf0}; /* by size */
	size_t size;

	if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		code = 0xfffd;
	size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (size_t i = size; --i > 0; code >>= 6)
		room[i] = (char)(0x80 | (code & 0x3f));
	room[0] = (char)(starts[size] | code);
	return size;
}

/* The digits between "&#" or "&#x" and ";". */
static size_t
decode_number(rt_str digits, uint32_t base, char room[RT_ENTITY_ROOM])
{
	uint32_t code = 0;

	for (size_t i = 0; i < digits.size; i++) {
		int digit = rt_hex_digit(digits.ptr[i]);

		if (digit < 0 || (uint32_t)digit >= base)
			return 0;
		if (code <= 0x10ffff)
			code = code * base + (uint32_t)digit;
	}
	return digits.size == 0 ? 0 : encode(code, room);
}

static int
name_order(const void *name, const void *entity)
{
	return rt_str_cmp(*(const rt_str *)name, rt_str_of(((const rt_entity *)entity)->name));
}

size_t
rt_entity_decode(rt_str entity, char room[RT_ENTITY_ROOM])
{
	const rt_entity *found;
	rt_str name;

	if (entity.size < 3 || entity.ptr[0] != '&' || entity.ptr[entity.size - 1] != ';')
		return 0;
	name = rt_str_at(entity.ptr + 1, entity.size - 2);
	if (name.ptr[0] == '#') {
		bool is_hex = name.size > 1 && (name.ptr[1] == 'x' || name.ptr[1] == 'X');
		size_t skip = is_hex ? 2 : 1;

		return decode_number(rt_str_at(name.ptr + skip, name.size - skip), is_hex ? 16 : 10,
				     room);
	}
	found = bsearch(&name, rt_entities, rt_entity_count, sizeof(*found), name_order);
	if (found == NULL)
		return 0;
	memcpy(room, found->text, strlen(found->text));
	return strlen(found->text);
}
