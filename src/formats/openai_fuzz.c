/* SPDX-License-Identifier: MIT
 *
 * Any bytes, in both forms of the export. */
#include "formats/formats_fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const rt_export_options plain = {0}, all = {.whole = true, .lossless = true};

	(void)fuzz_format(&rt_format_openai, &plain, data, size);
	return fuzz_format(&rt_format_openai, &all, data, size);
}
