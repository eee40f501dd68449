/* SPDX-License-Identifier: MIT
 *
 * Any bytes, in both forms of the export. */
#include "formats/formats_fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const rt_export_options plain = {.whole = true};
	static const rt_export_options all = {.whole = true, .lossless = true};

	(void)fuzz_format(&rt_format_toml, &plain, data, size);
	return fuzz_format(&rt_format_toml, &all, data, size);
}
