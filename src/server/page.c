/* SPDX-License-Identifier: MIT */
#include "server/page.h"

#include <stdio.h>

#include "base/sha256.h"

/* The policy has the style's hash, so that it allows no other style. */
#define STYLE                                                                                    \
	"body{font:16px/1.5 system-ui,sans-serif;max-width:38em;margin:4em auto;padding:0 1em;"  \
	"color:#1b1b1b;background:#fdfdfc}code,pre{font:14px/1.5 ui-monospace,monospace;"         \
	"background:#f0efec;border-radius:4px;padding:.1em .4em}pre{padding:.8em 1em}"           \
	"@media(prefers-color-scheme:dark){body{color:#e8e6e3;background:#191817}"                \
	"code,pre{background:#2a2826}}"

/* "sha256-" and the base64 of STYLE's hash; page_test.c says when it is another one. */
#define STYLE_HASH "'sha256-jfZ1MWslyU1PBdrtnn1gVYhG1v+HsDb7jwp9M2Up1sg='"

void
rt_page_cookie_name(unsigned port, char room[32])
{
	(void)snprintf(room, 32, "retake_%u", port);
}

static void
begin(const rt_web_request *request, rt_web_answer *answer, unsigned status, const char *title)
{
	answer->status = status;
	answer->type = "text/html; charset=utf-8";
	rt_web_answer_header(answer, request, "Content-Security-Policy",
			     RT_STR("default-src 'none'; style-src " STYLE_HASH
				    "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"));
	rt_buf_add_f(&answer->body,
		     "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		     "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
		     "<title>%s</title><style>" STYLE "</style></head><body><main>\n<h1>%s</h1>\n",
		     title, title);
}

static void
end(rt_web_answer *answer)
{
	rt_buf_add_c(&answer->body, "</main></body></html>\n");
}

/* Text escaped for elements and attributes. */
static void
add_text(rt_buf *buf, rt_str text)
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
rt_page_login(const rt_web_request *request, rt_web_answer *answer, rt_str login, bool failed,
	      bool is_in)
{
	begin(request, answer, failed ? 403 : 200, "Retake");
	if (failed) {
		rt_buf_add_c(&answer->body,
			     "<p>That link was used already, or it is expired or replaced; get a new one "
			     "with <code>");
		add_text(&answer->body, login);
		rt_buf_add_c(&answer->body, "</code>.</p>\n");
	}
	if (is_in) {
		rt_buf_add_c(&answer->body, "<p>This browser was let in before: <a href=\"/\">go on</a>.</p>\n");
		end(answer);
		return;
	}
	rt_buf_add_c(&answer->body,
		     "<p>This browser has not been let in. In a terminal on the machine where Retake "
		     "runs, type</p>\n<pre>");
	add_text(&answer->body, login);
	rt_buf_add_c(&answer->body,
		     "</pre>\n"
		     "<p>and open the link that it prints. It is good once, for a minute.</p>\n");
	end(answer);
}

/* The policy of the web interface: its own files, its own server, and nothing else. */
#define INTERFACE_POLICY                                                                         \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "    \
	"connect-src 'self'; font-src 'none'; base-uri 'none'; form-action 'none'; "               \
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
	/* A changed file has another name. */
	rt_web_answer_header(answer, request, "Cache-Control",
			     RT_STR("private, max-age=31536000, immutable"));
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
	begin(request, answer, 200, "Retake");
	rt_buf_add_c(&answer->body, "<p>This browser is let in. Its project is <code>");
	add_text(&answer->body, project);
	rt_buf_add_c(&answer->body,
		     "</code>.</p>\n<p>Everything can be done through the HTTP interface: "
		     "<a href=\"/retake/v1/info\">what this server is</a>, "
		     "<a href=\"/retake/v1/discussions\">discussions</a>, "
		     "<a href=\"/retake/v1/openapi.json\">all routes</a>.</p>\n");
	end(answer);
}

void
rt_page_welcome(const rt_web_request *request, rt_web_answer *answer, unsigned port,
		const char *cookie)
{
	char name[32], value[256];

	rt_page_cookie_name(port, name);
	(void)snprintf(value, sizeof(value),
		       "%s=%s; Path=/; Max-Age=7776000; HttpOnly; SameSite=Strict", name, cookie);
	answer->status = 303;
	answer->type = NULL;
	rt_web_answer_header(answer, request, "Location", RT_STR("/"));
	rt_web_answer_header(answer, request, "Set-Cookie", rt_str_of(value));
}
