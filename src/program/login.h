/* SPDX-License-Identifier: MIT
 *
 * Login: a sign-in link of a running server, requested from exactly the given server.
 *
 *   serve --login                 the server on the usual socket
 *   serve --login --socket PATH   the server on that socket
 *   serve --login --port PORT     the server at that port of this machine (or of --listen)
 *   … with --db or RETAKE_DB      only if it serves that store
 *
 * On a socket the system reports the user at the other end. On a port any user may listen: the
 * token is sent there only if the system reports that the listening process belongs to this
 * user. */
#ifndef RT_PROGRAM_LOGIN_H
#define RT_PROGRAM_LOGIN_H

#include "cli/cli.h"

/* Prints the link. socket: of the default or the named server; state_folder: contains the token.
 * RT_NOT_FOUND: no server, or no such project; RT_REFUSED: the server is another user's, not
 * Retake, or serves another store. */
void rt_login(rt_cli *cli, const char *socket, const char *state_folder, unsigned default_port);

#endif
