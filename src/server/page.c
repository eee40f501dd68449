/* SPDX-License-Identifier: MIT */
#include "server/page.h"

#include <stdio.h>

#include "base/sha256.h"
#include "server/browser.h"

/* The policy has the style's hash, so that it allows no other style. */
#define STYLE                                                                                    \
	"body{font:16px/1.5 system-ui,sans-serif;max-width:34em;margin:12vh auto 4em;padding:0 1em;" \
	"color:#1b1b1b;background:#fdfdfc}h1{font-size:1.5em}ol{padding-left:1.2em}"              \
	"li{margin:.9em 0}pre{font:15px/1.5 ui-monospace,monospace;background:#f0efec;"           \
	"border-radius:6px;padding:.7em 1em;margin:.5em 0;white-space:pre-wrap}"                  \
	"form{display:flex;flex-wrap:wrap;gap:.5em;margin-top:.4em}label{flex:0 0 100%;"           \
	"font-size:.85em;color:#5f5d59}input{flex:1 1 14em;min-width:0}"                          \
	"input,button{font:inherit;min-height:44px;padding:0 .8em;border:1px solid #8b8984;"      \
	"border-radius:6px;color:inherit;background:transparent;box-sizing:border-box}"           \
	"button{background:#2457a6;border-color:#2457a6;color:#fff;cursor:pointer}"               \
	"a{color:#2457a6}.quiet{font-size:.9em;color:#5f5d59}.problem{border:1px solid #b3261e;"  \
	"color:#b3261e;border-radius:6px;padding:.6em .9em}"                                      \
	"@media(prefers-color-scheme:dark){body{color:#e8e6e3;background:#191817}"                \
	"pre{background:#2a2826}label,.quiet{color:#a8a49e}a{color:#8ab4f8}"                      \
	"button{background:#8ab4f8;border-color:#8ab4f8;color:#191817}"                           \
	".problem{border-color:#f2b8b5;color:#f2b8b5}}"

/* "sha256-" and the base64 of STYLE's hash; access_test.py checks it. */
#define STYLE_HASH "'sha256-FzdtOy2119blpRGQl1V877iV9aCRjNxO7ODq+4onOoA='"

void
rt_page_cookie_name(unsigned port, char room[32])
{
	(void)snprintf(room, 32, "retake_%u", port);
}

void
rt_page_begin(const rt_web_request *request, rt_web_answer *answer, unsigned status, const char *title)
{
	answer->status = status;
	answer->type = "text/html; charset=utf-8";
	rt_web_answer_header(answer, request, "Content-Security-Policy",
			     RT_STR("default-src 'none'; style-src " STYLE_HASH
				    "; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"));
	rt_buf_add_f(&answer->body,
		     "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		     "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
		     "<title>%s</title><style>",
		     title);
	rt_buf_add_c(&answer->body, STYLE);
	rt_buf_add_f(&answer->body, "</style></head><body><main>\n<h1>%s</h1>\n", title);
}

void
rt_page_end(rt_web_answer *answer)
{
	rt_buf_add_c(&answer->body, "</main></body></html>\n");
}

void
rt_page_add_text(rt_buf *buf, rt_str text)
{
	size_t i;

	for (i = 0; i < text.size; i++) {
		switch (text.ptr[i]) {
		case '&':
			rt_buf_add_c(buf, "&amp;");
			break;
		case '<':
			rt_buf_add_c(buf, "&lt;");
			break;
		case '>':
			rt_buf_add_c(buf, "&gt;");
			break;
		case '"':
			rt_buf_add_c(buf, "&quot;");
			break;
		case '\'':
			rt_buf_add_c(buf, "&#39;");
			break;
		default:
			rt_buf_add_byte(buf, text.ptr[i]);
		}
	}
}

void
rt_page_login(const rt_web_request *request, rt_web_answer *answer, rt_str login, rt_str service,
	      const rt_error *failure, bool is_in)
{
	rt_buf *body = &answer->body;

	rt_page_begin(request, answer,
	      failure == NULL                     ? 200
	      : failure->status == RT_CREDENTIALS ? 403
						  : 503,
	      "Sign in to Retake");
	if (failure != NULL && failure->status != RT_CREDENTIALS) {
		rt_buf_add_c(body, "<p class=\"problem\" role=\"alert\">Sign-in failed: ");
		rt_page_add_text(body, rt_str_of(failure->text));
		rt_buf_add_c(body, ". The link is still valid.</p>\n");
	} else if (failure != NULL) {
		rt_buf_add_c(body, "<p class=\"problem\" role=\"alert\">This sign-in link is no longer "
				   "valid: it has been used, has expired or has been replaced.</p>\n");
	}
	if (is_in) {
		rt_buf_add_c(body, "<p>This browser is already signed in: <a href=\"/\">open your "
				   "discussions</a>.</p>\n");
		rt_page_end(answer);
		return;
	}
	if (service.size > 0) {
		/* Not a form, whose policy would forbid the redirection to the service. */
		rt_buf_add_c(body, "<p><a href=\"" RT_PAGE_SERVICE "\">Sign in with ");
		rt_page_add_text(body, service);
		rt_buf_add_c(body, "</a></p>\n");
	}
	rt_buf_add_c(body,
		     "<p>Your discussions are on the computer where Retake runs. This browser needs a "
		     "sign-in link to open them.</p>\n"
		     "<ol><li>In a terminal on that computer, get a link:<pre>");
	rt_page_add_text(body, login);
	rt_buf_add_c(
		body,
		"</pre></li>\n"
		"<li>Open the link in this browser, or paste it here:\n"
		"<form method=\"get\" action=\"/\"><label for=\"code\">Sign-in link or code</label>\n"
		"<input id=\"code\" name=\"code\" type=\"text\" autocomplete=\"off\" "
		"spellcheck=\"false\" required autofocus>\n"
		"<button type=\"submit\">Sign in</button></form></li></ol>\n"
		"<p class=\"quiet\">A link works once and expires after " RT_CODE_LIFE
		". The browser then stays signed in until 90 days pass without a visit.</p>\n");
	rt_page_end(answer);
}

/* The policy of the web interface: its own files, its own server, and nothing else. */
#define INTERFACE_POLICY                                                                         \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "    \
	"connect-src 'self'; manifest-src 'self'; worker-src 'self'; font-src 'none'; base-uri 'none'; form-action 'none'; "               \
	"frame-ancestors 'none'"

enum {
	STORE_NAME = 16, /* digits of a hash */
};

static const rt_asset *
asset_at(rt_str path)
{
	const rt_asset *asset = rt_assets;

	while (asset->path != NULL && !rt_str_is(path, asset->path))
		asset++;
	return asset->path == NULL ? NULL : asset;
}

static void
begin_asset(rt_web_answer *answer, const rt_asset *asset)
{
	answer->status = 200;
	answer->type = asset->type;
}

bool
rt_page_asset(const rt_web_request *request, rt_web_answer *answer)
{
	const rt_asset *asset = rt_str_is(request->path, "/") ? NULL : asset_at(request->path);

	if (asset == NULL)
		return false;
	begin_asset(answer, asset);
	rt_buf_add(&answer->body, asset->bytes, asset->size);
	/* A changed file with a hash in its name has another name. */
	if (rt_str_find(request->path, RT_STR("-"), 0) != SIZE_MAX)
		rt_web_answer_header(answer, request, "Cache-Control",
				     RT_STR("private, max-age=31536000, immutable"));
	/* The permissions of the service worker follow from its own policy: requests to this
	 * server. */
	if (rt_str_is(request->path, RT_PAGE_WORKER))
		rt_web_answer_header(answer, request, "Content-Security-Policy",
				     RT_STR("default-src 'none'; connect-src 'self'"));
	return true;
}

/* Replaced in the page by the hash of store and project. */
#define STORE_MARK "@store@"

static void
add_page(rt_buf *out, const rt_asset *page, rt_str store_path, rt_str project)
{
	rt_str whole = rt_str_at((const char *)page->bytes, page->size);
	size_t mark = rt_str_find(whole, RT_STR(STORE_MARK), 0);
	size_t rest = mark + sizeof(STORE_MARK) - 1;
	char name[RT_SHA256_HEX_ROOM];
	rt_sha256 sha;

	RT_ASSERT(mark != SIZE_MAX);
	rt_sha256_init(&sha);
	rt_sha256_add(&sha, store_path.ptr, store_path.size);
	rt_sha256_add(&sha, "", 1);
	rt_sha256_add(&sha, project.ptr, project.size);
	rt_sha256_end_hex(&sha, name);
	rt_buf_add(out, page->bytes, mark);
	rt_buf_add(out, name, STORE_NAME);
	rt_buf_add(out, page->bytes + rest, page->size - rest);
}

void
rt_page_home(const rt_web_request *request, rt_web_answer *answer, rt_str store_path,
	     rt_str project)
{
	const rt_asset *page = asset_at(RT_STR("/"));

	if (page != NULL) {
		begin_asset(answer, page);
		rt_web_answer_header(answer, request, "Content-Security-Policy",
				     RT_STR(INTERFACE_POLICY));
		add_page(&answer->body, page, store_path, project);
		return;
	}
	rt_page_begin(request, answer, 200, "Retake");
	rt_buf_add_c(&answer->body, "<p>This browser is signed in. Its project is <code>");
	rt_page_add_text(&answer->body, project);
	rt_buf_add_c(&answer->body,
		     "</code>.</p>\n<p>Everything can be done through the HTTP interface: "
		     "<a href=\"/retake/v1/info\">what this server is</a>, "
		     "<a href=\"/retake/v1/discussions\">discussions</a>, "
		     "<a href=\"/retake/v1/openapi.json\">all routes</a>.</p>\n");
	rt_page_end(answer);
}

void
rt_page_set_cookie(const rt_web_request *request, rt_web_answer *answer, unsigned port,
		   bool is_secure, rt_str cookie)
{
	char name[32], value[256];

	rt_page_cookie_name(port, name);
	(void)snprintf(value, sizeof(value),
		       "%s=%.*s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict%s", name,
		       RT_STR_ARG(cookie), RT_BROWSER_DAYS * 86400, is_secure ? "; Secure" : "");
	rt_web_answer_header(answer, request, "Set-Cookie", rt_str_of(value));
}

void
rt_page_welcome(const rt_web_request *request, rt_web_answer *answer, unsigned port,
		bool is_secure, const char *cookie)
{
	answer->status = 303;
	answer->type = NULL;
	rt_web_answer_header(answer, request, "Location", RT_STR("/"));
	rt_page_set_cookie(request, answer, port, is_secure, rt_str_of(cookie));
}

/* ---- share links ---- */

/* Exchanges the secret in the fragment, which browsers never send, for a cookie (POST /links/open). */
#define OPEN_LINK \
	"(async()=>{const key=location.hash.slice(1),say=(text)=>{document.querySelector(" \
	"\"p\").textContent=text};history.replaceState(null,\"\",location.pathname);try{c" \
	"onst answer=await fetch(\"/retake/v1/links/open\",{method:\"POST\",headers:{Auth" \
	"orization:\"Bearer \"+key,\"Content-Type\":\"application/json\"},body:\"{}\"});i" \
	"f(!answer.ok)return say(\"This link does not work: it was revoked, has expired o" \
	"r is incomplete. Ask for another one.\");const link=await answer.json();location" \
	".replace(\"/?project=\"+encodeURIComponent(link.project)+\"&shared=\"+link.id+(l" \
	"ink.discussion?\"#/d/\"+link.discussion:\"\"))}catch{say(\"The server cannot be " \
	"reached. Open the link again.\")}})()"
/* "sha256-" and the base64 of its hash; shared_test.mjs fails with another one. */
#define OPEN_LINK_HASH "'sha256-RG/q3oJPoZBEnFxJs6yM2D0B9rt0gbADt1Pxuapw7QU='"

void
rt_page_shared(const rt_web_request *request, rt_web_answer *answer)
{
	rt_page_begin(request, answer, 200, "Retake");
	answer->header_count = 0;
	rt_web_answer_header(answer, request, "Content-Security-Policy",
			     RT_STR("default-src 'none'; style-src " STYLE_HASH "; script-src " OPEN_LINK_HASH
				    "; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"));
	rt_buf_add_c(&answer->body, "<p role=\"status\">Opening the share link \xe2\x80\xa6</p>\n"
				    "<noscript><p>The page requires JavaScript.</p></noscript>\n<script>" OPEN_LINK
				    "</script>");
	rt_page_end(answer);
}

void
rt_page_shared_ended(const rt_web_request *request, rt_web_answer *answer)
{
	rt_page_begin(request, answer, 403, "Retake");
	rt_buf_add_c(&answer->body, "<p class=\"problem\" role=\"alert\">This link no longer works: it was revoked or has "
				    "expired, or this browser has forgotten it. Open the link again, or ask for another one.</p>\n");
	rt_page_end(answer);
}

void
rt_page_link_cookie(unsigned port, uint64_t link, char room[RT_PAGE_LINK_COOKIE_ROOM])
{
	(void)snprintf(room, RT_PAGE_LINK_COOKIE_ROOM, "retake_%u_link%llu", port, (unsigned long long)link);
}
