/* SPDX-License-Identifier: MIT
 *
 * Gemini CLI: the writer of its sessions; the reader is in gemini_cli.c. */
#ifndef RT_IMPORTERS_GEMINI_CLI_H
#define RT_IMPORTERS_GEMINI_CLI_H

#include "ops/format.h"

rt_status rt_gemini_cli_write(const rt_alloc *alloc, const rt_outlines *in,
			      const rt_export_options *options, rt_buf *out, rt_error *err);

#endif
