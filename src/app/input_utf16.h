/* SPDX-License-Identifier: MIT
 *
 * UTF-16: files with a byte order mark, which PowerShell and some editors write, as UTF-8. */
#ifndef RT_APP_INPUT_UTF16_H
#define RT_APP_INPUT_UTF16_H

#include <stdbool.h>

#include "base/status.h"

/* Does the file begin with the mark? */
bool rt_input_is_utf16(int fd);
/* Copies such a file to another one in UTF-8, with U+FFFD for lone surrogates. name: for errors. RT_IO, RT_FULL. */
RT_CHECKED rt_status rt_input_utf16_copy(int from, int to, const char *name, rt_error *err);

#endif
