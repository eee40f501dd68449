/* SPDX-License-Identifier: MIT
 *
 * Input parts: several files as one input, one after the other with a line feed after each, for programs
 * that store a conversation in many files. One file is open at a time. One thread at a time. */
#ifndef RT_APP_INPUT_PARTS_H
#define RT_APP_INPUT_PARTS_H

#include "base/text.h"

typedef struct rt_input_parts rt_input_parts;

/* paths are borrowed. RT_USAGE: one is not a regular file. */
RT_CHECKED rt_status rt_input_parts_open(const char *const *paths, size_t count, rt_input_parts **out,
					 rt_error *err);
void rt_input_parts_close(rt_input_parts *parts);
uint64_t rt_input_parts_size(const rt_input_parts *parts);
/* As read_at of rt_input. RT_BUSY: a file was changed since it was opened. */
RT_CHECKED rt_status rt_input_parts_read(rt_input_parts *parts, uint64_t offset, char *to, size_t room,
					 size_t *out_size, rt_error *err);

#endif
