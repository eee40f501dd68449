/* SPDX-License-Identifier: MIT
 *
 * Any bytes as the root of a checkpoint, with every node any bytes too: an error or a
 * value, never a crash. The input is cut in pieces at 0xFF; the first is the root, node
 * number n is piece n modulo their count. */
#include "codec/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static rt_str pieces[16];
static size_t piece_count;

static rt_status
read_piece(void *ctx, uint64_t number, rt_buf *out, rt_error *err)
{
	unsigned *budget = ctx;

	if ((*budget)-- == 0)
		return rt_fail(err, RT_IO, "enough");
	rt_buf_add_str(out, pieces[number % piece_count]);
	return RT_OK;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const rt_project *project = NULL;
	unsigned budget = 400;
	rt_seq_source source = {.read = read_piece, .ctx = &budget};
	rt_error err;
	size_t at = 0, i;

	piece_count = 0;
	for (i = 0; i <= size && piece_count < 16; i++)
		if (i == size || data[i] == 0xFF) {
			pieces[piece_count++] = rt_str_at((const char *)data + at, i - at);
			at = i + 1;
		}
	if (rt_state_open(rt_alloc_libc(), &source, pieces[0], &project, &err) == RT_OK) {
		if (rt_project_check(project, &err) == RT_OK)
			RT_ASSERT(rt_project_disc_count(project) > 0);
		rt_object_unref(project);
	}
	return 0;
}
