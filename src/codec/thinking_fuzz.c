/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a model's text: its parts joined are the text, and read in pieces nothing of it is
 * lost. The first byte is the size of the pieces. */
#include "codec/thinking.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
whole(rt_str text, bool is_cut)
{
	rt_thinking t = {.is_open_end = is_cut};
	const char *at = text.ptr;
	rt_thinking_part part;
	rt_str rest = text;

	while (rt_thinking_next(&t, &rest, &part)) {
		size_t tags = part.tag == 0 ? 0
					    : rt_thinking_open(part.tag).size +
						      (part.closes ? rt_thinking_close(part.tag).size
								   : 0);

		RT_ASSERT(part.raw.ptr == at && part.raw.size == part.text.size + tags);
		at += part.raw.size;
	}
	RT_ASSERT(at == text.ptr + text.size && rest.size == 0);
}

static void
pieces(rt_str text, size_t step)
{
	rt_thinking t = {.is_streamed = true};
	size_t from = 0, end = 0;
	rt_thinking_part part;

	while (end < text.size) {
		end = text.size - end < step ? text.size : end + step;
		rt_str rest = rt_str_at(text.ptr + from, end - from);

		while (rt_thinking_next(&t, &rest, &part)) {
			RT_ASSERT(part.raw.ptr == text.ptr + from && part.raw.size > 0);
			from += part.raw.size;
		}
		RT_ASSERT(from + rest.size == end);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	rt_str text = rt_str_at((const char *)data + 1, size - 1);

	whole(text, false);
	whole(text, true);
	pieces(text, (size_t)data[0] + 1);
	return 0;
}
