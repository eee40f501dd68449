/* SPDX-License-Identifier: MIT
 *
 * ShareGPT: the writer; the reader is in sharegpt.c. */
#ifndef RT_IMPORTERS_SHAREGPT_H
#define RT_IMPORTERS_SHAREGPT_H

#include "ops/format.h"

rt_status rt_sharegpt_write(const rt_alloc *alloc, const rt_outlines *in,
			    const rt_export_options *options, rt_buf *out, rt_error *err);

#endif
