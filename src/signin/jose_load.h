/* SPDX-License-Identifier: MIT
 *
 * libcjose, which verifies the signatures of ID tokens, loaded by servers with OpenID Connect: no other
 * program needs it (docs/decisions/0035). The functions have libcjose's own types and documentation.
 *
 * Threads: any. */
#ifndef RT_SIGNIN_JOSE_LOAD_H
#define RT_SIGNIN_JOSE_LOAD_H

#include <cjose/cjose.h>

#include "base/status.h"

#define RT_JOSE_FUNCTIONS(X) \
	X(header_get) \
	X(jwk_import) \
	X(jwk_get_keysize) \
	X(jwk_release) \
	X(jws_import) \
	X(jws_get_protected) \
	X(jws_get_plaintext) \
	X(jws_verify) \
	X(jws_release)

typedef struct rt_jose {
#define RT_JOSE_MEMBER(name) __typeof__(&cjose_##name) name;
	RT_JOSE_FUNCTIONS(RT_JOSE_MEMBER)
#undef RT_JOSE_MEMBER
} rt_jose;

/* Loads it the first time; it stays until the program ends. RT_IO: it is not installed or lacks a
 * function; later calls return the same. */
RT_CHECKED rt_status rt_jose_load(const rt_jose **out, rt_error *err);

#endif
