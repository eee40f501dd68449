/* SPDX-License-Identifier: MIT */
#include "markup/entity.h"

#include "base/encode.h"
#include "markup/entity_table.h"

static size_t
encode(uint32_t code, char room[RT_ENTITY_ROOM])
{
	if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		code = 0xfffd;
	if (code < 0x80) {
		room[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		room[0] = (char)(0xc0 | code >> 6);
		room[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		room[0] = (char)(0xe0 | code >> 12);
		room[1] = (char)(0x80 | (code >> 6 & 0x3f));
		room[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	room[0] = (char)(0xf0 | code >> 18);
	room[1] = (char)(0x80 | (code >> 12 & 0x3f));
	room[2] = (char)(0x80 | (code >> 6 & 0x3f));
	room[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

/* The digits between "&#" or "&#x" and ";". */
static size_t
decode_number(rt_str digits, uint32_t base, char room[RT_ENTITY_ROOM])
{
	uint32_t code = 0;

	if (digits.size == 0)
		return 0;
	for (size_t i = 0; i < digits.size; i++) {
		int digit = rt_hex_digit(digits.ptr[i]);

		if (digit < 0 || (uint32_t)digit >= base)
			return 0;
		if (code <= 0x10ffff)
			code = code * base + (uint32_t)digit;
	}
	return encode(code, room);
}

size_t
rt_entity_decode(rt_str entity, char room[RT_ENTITY_ROOM])
{
	size_t low = 0, high = rt_entity_count;
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
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = rt_str_cmp(name, rt_str_of(rt_entities[middle].name));

		if (order == 0) {
			size_t size = strlen(rt_entities[middle].text);

			memcpy(room, rt_entities[middle].text, size);
			return size;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return 0;
}
