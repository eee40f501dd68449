/* SPDX-License-Identifier: MIT
 *
 * Vector: arithmetic of similarity search. Vectors have length 1, so their similarity (the cosine of their angle)
 * is the sum of the products of their numbers. They are kept in two forms:
 *
 *	signs   one bit for each number, filled up to 64: the count of different bits estimates the angle
 *	bytes   a scale (float, little-endian) and one signed byte for each number
 *
 * Threads: any. */
#ifndef RT_BASE_VECTOR_H
#define RT_BASE_VECTOR_H

#include "base/text.h"

enum { RT_VECTOR_MAX = 8192 /* numbers */ };

/* Gives it length 1. False: it has no direction. */
bool rt_vector_normalise(float *vector, size_t count);
/* Appends both forms. */
void rt_vector_add_signs(rt_buf *buf, const float *vector, size_t count);
void rt_vector_add_bytes(rt_buf *buf, const float *vector, size_t count);
static inline size_t
rt_vector_signs_size(size_t count)
{
	return (count + 63) / 64 * 8;
}
static inline size_t
rt_vector_bytes_size(size_t count)
{
	return count + 4;
}

/* How many bits differ: signs of size bytes each. */
unsigned rt_vector_distance(const char *a, const char *b, size_t size);
/* The similarity of a vector and the bytes of another, -1 .. 1. */
float rt_vector_similarity(const float *vector, const char *bytes, size_t count);

#endif
