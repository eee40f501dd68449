/* SPDX-License-Identifier: MIT
 *
 * Text: output of a function, owned by the caller. */
#ifndef RETAKE_TEXT_H
#define RETAKE_TEXT_H

#include "retake/api.h"

RETAKE_BEGIN

/* size bytes, followed by a NUL. ptr NULL: not set yet. A function that sets it does not release
 * the previous text. */
typedef struct retake_text {
	char *ptr;
	size_t size;
} retake_text;

#define RETAKE_TEXT_INIT {NULL, 0}

/* Free the text and reset the struct. NULL, and a text that is not set, are allowed. */
RETAKE_API void retake_text_free(retake_text *text);

RETAKE_END

#endif
