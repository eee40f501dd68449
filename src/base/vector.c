/* SPDX-License-Identifier: MIT */
#include "base/vector.h"

#include <math.h>

bool
rt_vector_normalise(float *vector, size_t count)
{
	double sum = 0;
	float length;

	for (size_t i = 0; i < count; i++)
		sum += (double)vector[i] * vector[i];
	length = (float)sqrt(sum);
	if (!isfinite(length) || length == 0)
		return false;
	for (size_t i = 0; i < count; i++)
		vector[i] /= length;
	return true;
}

void
rt_vector_add_signs(rt_buf *buf, const float *vector, size_t count)
{
	size_t size = rt_vector_signs_size(count);
	char *to = rt_buf_reserve(buf, size);

	if (to == NULL)
		return;
	memset(to, 0, size);
	for (size_t i = 0; i < count; i++)
		if (vector[i] > 0)
			to[i / 8] = (char)(to[i / 8] | 1 << i % 8);
	buf->size += size;
}

void
rt_vector_add_bytes(rt_buf *buf, const float *vector, size_t count)
{
	char *to = rt_buf_reserve(buf, rt_vector_bytes_size(count));
	float most = 0, scale;
	uint32_t bits;

	if (to == NULL)
		return;
	for (size_t i = 0; i < count; i++)
		most = fabsf(vector[i]) > most ? fabsf(vector[i]) : most;
	scale = most / 127;
	memcpy(&bits, &scale, sizeof(bits));
	for (size_t i = 0; i < 4; i++)
		to[i] = (char)(bits >> 8 * i);
	for (size_t i = 0; i < count; i++)
		to[4 + i] = (char)(scale > 0 ? lrintf(vector[i] / scale) : 0);
	buf->size += rt_vector_bytes_size(count);
}

/* The bits are counted in parallel, without an instruction that not every processor has. */
unsigned
rt_vector_distance(const char *a, const char *b, size_t size)
{
	uint64_t total = 0;

	for (size_t i = 0; i < size; i += 8) {
		uint64_t x, y;

		memcpy(&x, a + i, sizeof(x));
		memcpy(&y, b + i, sizeof(y));
		x ^= y;
		x -= x >> 1 & 0x5555555555555555;
		x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
		x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F;
		total += x * 0x0101010101010101 >> 56;
	}
	return (unsigned)total;
}

float
rt_vector_similarity(const float *vector, const char *bytes, size_t count)
{
	float sum[8] = {0}, scale, total = 0;
	uint32_t bits = 0;
	size_t i = 0;

	for (size_t j = 0; j < 4; j++)
		bits |= (uint32_t)(unsigned char)bytes[j] << 8 * j;
	memcpy(&scale, &bits, sizeof(scale));
	bytes += 4;
	for (; i + 8 <= count; i += 8)
		for (size_t j = 0; j < 8; j++)
			sum[j] += vector[i + j] * (float)(signed char)bytes[i + j];
	for (; i < count; i++)
		total += vector[i] * (float)(signed char)bytes[i];
	for (size_t j = 0; j < 8; j++)
		total += sum[j];
	return total * scale;
}
