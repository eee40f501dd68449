/* SPDX-License-Identifier: MIT
 *
 * Page: the response to "/": the sign-in page or the web interface. The sign-in page has no script,
 * no external style, and nothing of the conversation.
 *
 * Threads: any. */
#ifndef RT_SERVER_PAGE_H
#define RT_SERVER_PAGE_H

#include "server/web.h"

/* The service worker of the web interface: at the root, because it may only serve paths below its
 * own. */
#define RT_PAGE_WORKER "/sw.js"
/* Where sign-in with a service begins (sign_in.h). */
#define RT_PAGE_SERVICE "/sign-in/oidc"
/* Where to sign out if a proxy signs users in. */
#define RT_PAGE_SIGN_OUT "/sign-out"

/* The beginning and the end of a page without a script, with its content between them. title: HTML. */
void rt_page_begin(const rt_web_request *request, rt_web_answer *answer, unsigned status, const char *title);
void rt_page_end(rt_web_answer *answer);
/* Text escaped for elements and attributes. */
void rt_page_add_text(rt_buf *buf, rt_str text);

/* How to sign in, with a field for a link. login: the command that prints one. service: name of a sign-in
 * service; empty: there is none. failure: of the code (RT_CREDENTIALS: 403, else 503); NULL: none was
 * sent. is_in: the browser is signed in anyway. */
void rt_page_login(const rt_web_request *request, rt_web_answer *answer, rt_str login, rt_str service,
		   const rt_error *failure, bool is_in);
/* The web interface, or a substitute if the program was built without it. The page gets a hash
 * of store and project, under which it stores their data in the browser. */
void rt_page_home(const rt_web_request *request, rt_web_answer *answer, rt_str store_path,
		  rt_str project);
/* A file of the web interface; false: not found. */
bool rt_page_asset(const rt_web_request *request, rt_web_answer *answer);
/* Redirects to "/", with the cookie. is_secure: browsers send it only through TLS. */
void rt_page_welcome(const rt_web_request *request, rt_web_answer *answer, unsigned port,
		     bool is_secure, const char *cookie);
/* Sets the cookie again: it lives for RT_BROWSER_DAYS after the last visit, as the browser does. */
void rt_page_set_cookie(const rt_web_request *request, rt_web_answer *answer, unsigned port,
			bool is_secure, rt_str cookie);
/* The cookie's name: "retake_8999". room has capacity for 32 bytes. */
void rt_page_cookie_name(unsigned port, char room[32]);

/* The page of a share link's address, RT_PAGE_SHARED#SECRET: it exchanges the secret for a cookie and
 * opens the web interface. The other one: the link of the cookie is not valid any more. */
#define RT_PAGE_SHARED "/shared"
void rt_page_shared(const rt_web_request *request, rt_web_answer *answer);
void rt_page_shared_ended(const rt_web_request *request, rt_web_answer *answer);
/* The name of a link's cookie: "retake_8999_link12". Its value is the secret. */
enum { RT_PAGE_LINK_COOKIE_ROOM = 48 };
void rt_page_link_cookie(unsigned port, uint64_t link, char room[RT_PAGE_LINK_COOKIE_ROOM]);

/* The files of the web interface, as tools/web.py puts them into the program. */
typedef struct rt_asset {
	const char *path; /* "/", "/web/main-<hash>.js"; NULL ends the table */
	const char *type;
	const unsigned char *bytes;
	size_t size;
} rt_asset;

/* Empty if the program was built without the web interface. */
extern const rt_asset rt_assets[];

#endif
