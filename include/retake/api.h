/* SPDX-License-Identifier: MIT
 *
 * The rules of the whole API, and the macros that its headers use.
 *
 *   Names.     Functions and types begin with retake_, macros and constants with RETAKE_.
 *   Ownership. Arguments are borrowed for the call. The caller releases what it receives through
 *              an out_ parameter, but not a returned pointer.
 *   Failures.  Functions that can fail return a retake_status; error may always be NULL. On
 *              failure out_ parameters are unchanged, unless documented otherwise. NULL for an
 *              argument that is required is RETAKE_USAGE.
 *   Text.      Names, addresses and queries are NUL-terminated; JSON and files are a pointer
 *              and a size (RETAKE_CSTR: up to the NUL). All text is UTF-8; invalid names and
 *              queries are RETAKE_USAGE.
 *   Options.   The first member of an options struct is its size, so that it can grow:
 *              initialise it with its _INIT macro, or zero it and set size. NULL means the
 *              defaults, which are all zero.
 *   Threads.   All functions are thread-safe, also on the same store or project, except close,
 *              which must be the last call on its object. After fork, a child must open its own
 *              store.
 *   Growth.    Structs, enums and JSON objects may get further members. Nothing else changes
 *              within a major version (soname). */
#ifndef RETAKE_API_H
#define RETAKE_API_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define RETAKE_API __attribute__((visibility("default")))
#define RETAKE_CHECKED __attribute__((warn_unused_result))
#else
#define RETAKE_API
#define RETAKE_CHECKED
#endif

#ifdef __cplusplus
#define RETAKE_BEGIN extern "C" {
#define RETAKE_END }
#else
#define RETAKE_BEGIN
#define RETAKE_END
#endif

/* As a size: the text ends at its first NUL. */
#define RETAKE_CSTR ((size_t)-1)

#endif
