/* SPDX-License-Identifier: MIT
 *
 * The flags of serve for signing in: OpenID Connect, a proxy, the address for browsers. Secrets come from
 * a file that only its owner can read or from the environment, since every user of the machine sees
 * command lines. */
#ifndef RT_PROGRAM_SERVE_SIGN_IN_H
#define RT_PROGRAM_SERVE_SIGN_IN_H

#include "cli/cli.h"
#include "server/sign_in.h"

/* The texts live as long as the command. */
rt_sign_in_options rt_serve_sign_in(rt_cli *cli);
/* --host with the host of --public-url before it; NULL: neither is given. */
const char *rt_serve_hosts(rt_cli *cli);

#endif
