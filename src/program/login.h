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

/* Prints the link. socket: where the usual server, or the one that was named, listens;
 * state_folder: where the token is. RT_NOT_FOUND: no server is there; or not the project;
 * RT_REFUSED: what is there is another user's, not Retake, or serves another store. */
void rt_login(rt_cli *cli, const char *socket, const char *state_folder, unsigned default_port);

#endif
