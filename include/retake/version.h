/* SPDX-License-Identifier: MIT
 *
 * Version of these headers, and of the library at run time. */
#ifndef RETAKE_VERSION_H
#define RETAKE_VERSION_H

#include "retake/api.h"

RETAKE_BEGIN

/* The headers. */
#define RETAKE_VERSION_MAJOR 0
#define RETAKE_VERSION_MINOR 1
#define RETAKE_VERSION_PATCH 0
#define RETAKE_VERSION "0.1.0"

/* The library, in the form of RETAKE_VERSION. Static. */
RETAKE_API const char *retake_version(void);

RETAKE_END

#endif
