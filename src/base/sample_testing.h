/* SPDX-License-Identifier: MIT
 *
 * For tests: RETAKE_TEST_SAMPLE=K, one random case in K, where a sanitizer makes each slow. */
#ifndef RT_BASE_SAMPLE_TESTING_H
#define RT_BASE_SAMPLE_TESTING_H

#include <stdlib.h>

/* K, from 1 to 100; 1 if it is not set. */
static inline unsigned
test_sample(void)
{
	const char *one_in = getenv("RETAKE_TEST_SAMPLE");
	long n = one_in == NULL ? 1 : strtol(one_in, NULL, 10);

	return n < 1 || n > 100 ? 1 : (unsigned)n;
}

#endif
