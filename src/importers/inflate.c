/* SPDX-License-Identifier: MIT */
#define ZLIB_CONST

#include "importers/inflate.h"

#include <zlib.h>

#include "base/shared_library_host.h"

struct rt_inflate {
	z_stream stream;
	bool is_open;
};

static struct {
	int (*init)(z_stream *stream, int bits, const char *version, int size);
	int (*reset)(z_stream *stream);
	int (*inflate)(z_stream *stream, int flush);
	int (*end)(z_stream *stream);
	uLong (*crc)(uLong crc, const Bytef *bytes, uInt size);
} zlib;

static const rt_shared_function functions[] = {
	{"inflateInit2_", &zlib.init}, {"inflateReset", &zlib.reset}, {"inflate", &zlib.inflate},
	{"inflateEnd", &zlib.end},     {"crc32", &zlib.crc},
};

static rt_shared_library library = {
	.name = "zlib",
	.version = "1.2.11",
	.need = "compressed archives require this library; install it (Debian: zlib1g), or unpack the file",
	.files = {"libz.so.1"},
	.functions = functions,
	.function_count = sizeof(functions) / sizeof(functions[0]),
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

static void
close_stream(void *item)
{
	rt_inflate *z = item;

	if (z->is_open)
		(void)zlib.end(&z->stream);
}

rt_inflate *
rt_inflate_new(rt_scope *s)
{
	rt_inflate *z = rt_scope_get(s, sizeof(*z));

	if (z == NULL)
		return NULL;
	if (RT_TRY(s, rt_shared_library_load(&library, &s->error)) != RT_OK)
		return NULL;
	if (zlib.init(&z->stream, -MAX_WBITS, ZLIB_VERSION, (int)sizeof(z->stream)) != Z_OK) {
		(void)rt_scope_nomem(s);
		return NULL;
	}
	z->is_open = true;
	rt_scope_defer(s, close_stream, z);
	return rt_ok(s) ? z : NULL;
}

void
rt_inflate_again(rt_inflate *z)
{
	(void)zlib.reset(&z->stream);
}

bool
rt_inflate_some(rt_inflate *z, rt_str *in, char *to, size_t room, size_t *out_size, bool *out_is_end)
{
	int code;

	z->stream.next_in = (const Bytef *)in->ptr;
	z->stream.avail_in = (uInt)in->size;
	z->stream.next_out = (Bytef *)to;
	z->stream.avail_out = (uInt)room;
	code = zlib.inflate(&z->stream, Z_NO_FLUSH);
	*in = rt_str_skip(*in, in->size - z->stream.avail_in);
	*out_size = room - z->stream.avail_out;
	*out_is_end = code == Z_STREAM_END;
	return code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR;
}

uint32_t
rt_inflate_crc(const rt_inflate *z, uint32_t crc, const char *bytes, size_t size)
{
	(void)z;
	return (uint32_t)zlib.crc(crc, (const Bytef *)bytes, (uInt)size);
}
