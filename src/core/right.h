/* SPDX-License-Identifier: MIT
 *
 * Right: what a request must be allowed to do. Every operation (core/op.def) and every route of the
 * server has one; accounts/authorize.h decides. A row without one is never allowed. */
#ifndef RT_CORE_RIGHT_H
#define RT_CORE_RIGHT_H

typedef enum rt_right {
	RT_RIGHT_NONE,    /* none was chosen: never allowed */
	RT_RIGHT_OPEN,    /* without a project: every signed-in client, and share links */
	RT_RIGHT_SELF,    /* own tokens; accepting invitations */
	RT_RIGHT_CREATE,  /* create a project */
	RT_RIGHT_READ,    /* of a project, from here on */
	RT_RIGHT_COMMENT, /* add entries at the end, label entries */
	RT_RIGHT_EDIT,    /* every change that can be undone */
	RT_RIGHT_MANAGE,  /* members, links and invitations; purge; reset */
	RT_RIGHT_SERVER,  /* without a project: users, teams, the audit log, the load */
	RT_RIGHT_COUNT
} rt_right;

#endif
