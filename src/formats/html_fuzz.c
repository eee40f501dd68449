/* SPDX-License-Identifier: MIT
 *
 * Any bytes: what is read can be written, and what was written reads and writes the same. */
#include "formats/formats_fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_format(&rt_format_html, NULL, data, size);
}
