/* SPDX-License-Identifier: MIT
 *
 * Text: what a function gives back, in memory that is the caller's. */
#ifndef RETAKE_TEXT_H
#define RETAKE_TEXT_H

#include "retake/api.h"

RETAKE_BEGIN

/* size bytes and a NUL behind them. ptr NULL: nothing was given yet. The text is written
 * over, not released, by the next function that is handed it. */
typedef struct retake_text {
	char *ptr;
	size_t size;
} retake_text;

#define RETAKE_TEXT_INIT {NULL, 0}

/* Releases what ptr points at, and empties the struct. NULL, and a text that is empty
 * already, are fine. */
RETAKE_API void retake_text_free(retake_text *text);

RETAKE_END

#endif
