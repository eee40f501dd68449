/* SPDX-License-Identifier: MIT
 *
 * The fuzz target of an importer: the frame of all formats (formats_fuzz.h), with the canonical format
 * as the written one. */
#ifndef RT_IMPORTERS_IMPORTER_FUZZ_H
#define RT_IMPORTERS_IMPORTER_FUZZ_H

#include "formats/formats_fuzz.h"

#define RT_IMPORTER_FUZZ(id) \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) \
	{ \
		static const rt_export_options all = {.whole = true}; \
\
		return fuzz_format(&rt_format_##id, &all, data, size); \
	}

#endif
