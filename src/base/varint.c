/* SPDX-License-Identifier: MIT
 *
 * Varints to and from bytes. */
#include "base/varint.h"

void
rt_buf_add_varint(rt_buf *buf, uint64_t number)
{
	unsigned char bytes[10];
	size_t size = 0;

	while (number >= 0x80) {
		bytes[size++] = (unsigned char)(number | 0x80);
		number >>= 7;
	}
	bytes[size++] = (unsigned char)number;
	rt_buf_add(buf, bytes, size);
}

rt_byte_reader
rt_byte_reader_of(rt_str bytes)
{
	const unsigned char *at = (const unsigned char *)bytes.ptr;

	return (rt_byte_reader){at, bytes.size > 0 ? at + bytes.size : at, true};
}

uint64_t
rt_read_varint(rt_byte_reader *reader)
{
	uint64_t number = 0;
	unsigned shift;

	for (shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
		unsigned char byte = *reader->at++;

		if (shift == 63 && byte > 1)
			break;
		number |= (uint64_t)(byte & 0x7F) << shift;
		if (byte < 0x80)
			return number;
	}
	reader->ok = false;
	reader->at = reader->end;
	return 0;
}

unsigned char
rt_read_byte(rt_byte_reader *reader)
{
	if (reader->at < reader->end)
		return *reader->at++;
	reader->ok = false;
	return 0;
}

rt_str
rt_read_str(rt_byte_reader *reader)
{
	uint64_t size = rt_read_varint(reader);
	rt_str s;

	if (!reader->ok || size > (uint64_t)(reader->end - reader->at)) {
		reader->ok = false;
		reader->at = reader->end;
		return rt_str_at(NULL, 0);
	}
	s = rt_str_at((const char *)reader->at, (size_t)size);
	reader->at += size;
	return s;
}

void
rt_buf_add_sized(rt_buf *buf, rt_str s)
{
	rt_buf_add_varint(buf, s.size);
	rt_buf_add_str(buf, s);
}
