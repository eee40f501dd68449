/* SPDX-License-Identifier: MIT
 *
 * Login: a link into a server that runs, asked of exactly the server that was named.
 *
 *   serve --login                 the server on the usual socket
 *   serve --login --socket PATH   the server on that socket
 *   serve --login --port PORT     the server at that port of this machine (or of --listen)
 *   … with --db or RETAKE_DB      only if it serves that store
 *
 * On a socket the system says who is at the other end. At a port anybody may listen: the token is
 * sent there only when the system says that the listening process is ours. */
#ifndef RT_PROGRAM_LOGIN_H
#define RT_PROGRAM_LOGIN_H

#include "cli/cli.h"

/* Prints the link. socket: of the default or the named server; state_folder: contains the token.
 * RT_NOT_FOUND: no server, or no such project; RT_REFUSED: the server is another user's, not
 * Retake, or serves another store. */
void rt_login(rt_cli *cli, const char *socket, const char *state_folder, unsigned default_port);

#endif
