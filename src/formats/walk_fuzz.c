/* SPDX-License-Identifier: MIT
 *
 * The walk against the scanner. */
#include "formats/walk_testing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	walk_check(data, size);
	return 0;
}
