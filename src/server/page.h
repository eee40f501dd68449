/* SPDX-License-Identifier: MIT
 *
 * Page: what a browser is shown at "/": how to be let in, or that it is. No script, no style
 * from elsewhere, nothing of the conversation.
 *
 * Threads: any. */
#ifndef RT_SERVER_PAGE_H
#define RT_SERVER_PAGE_H

#include "server/web.h"

/* Not let in, and (failed) the code that came was not good; or let in before, all the same.
 * login: the command that prints a link. 200, or 403. */
void rt_page_login(const rt_web_request *request, rt_web_answer *answer, rt_str login, bool failed,
		   bool is_in);
/* Let in: the web interface, or what there is where the program was built without it. The page
 * gets a hash of the two, under which it keeps in the browser what belongs to them. */
void rt_page_home(const rt_web_request *request, rt_web_answer *answer, rt_str store_path,
		  rt_str project);
/* A file of the web interface; false: there is none of that path. */
bool rt_page_asset(const rt_web_request *request, rt_web_answer *answer);
/* Let in: on to "/", with the cookie. */
void rt_page_welcome(const rt_web_request *request, rt_web_answer *answer, unsigned port,
		     const char *cookie);
/* The cookie's name: "retake_8999". room has room for 32 bytes. */
void rt_page_cookie_name(unsigned port, char room[32]);

/* The files of the web interface, as tools/web.py puts them into the program. */
typedef struct rt_asset {
	const char *path; /* "/", "/web/main-<hash>.js"; NULL ends the table */
	const char *type;
	const unsigned char *bytes;
	size_t size;
} rt_asset;

/* Empty where the program was built without the web interface. */
extern const rt_asset rt_assets[];

#endif
