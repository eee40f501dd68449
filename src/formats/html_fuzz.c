/* SPDX-License-Identifier: MIT
 *
 * Any bytes: everything readable can be written, and reading and writing that again gives the same
 * bytes. */
#include "formats/formats_fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_format(&rt_format_html, NULL, data, size);
}
