/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "program/serve_sign_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "llm/url.h"

enum { SECRET_MAX = 4096 };

/* The first line of a file that only its owner can read. */
static rt_str
read_secret_file(rt_cli *cli, const char *path)
{
	char text[SECRET_MAX];
	struct stat info;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t size = 0;

	if (fd < 0) {
		rt_cli_fail(cli, errno == ENOENT ? RT_NOT_FOUND : RT_IO, "cannot read %s: %s", path, strerror(errno));
		return rt_str_at(NULL, 0);
	}
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 077) != 0)
		rt_cli_fail(cli, RT_REFUSED, "%s must be a file that only you can read: chmod 600 %s", path, path);
	else
		size = read(fd, text, sizeof(text));
	(void)close(fd);
	if (rt_ok(&cli->s) && (size <= 0 || size == (ssize_t)sizeof(text)))
		rt_cli_fail(cli, RT_USAGE, "%s must contain a secret of up to %d bytes", path, (int)SECRET_MAX - 1);
	rt_str rest = rt_str_at(text, size > 0 ? (size_t)size : 0), line = {NULL, 0};
	(void)rt_str_split(&rest, '\n', &line);
	rt_str secret = rt_scope_copy(&cli->s, rt_str_trim(line));
	memset(text, 0, sizeof(text));
	return secret;
}

/* Empty: neither is given. */
static rt_str
read_secret(rt_cli *cli, const char *flag, const char *variable)
{
	const char *path = rt_cli_flag_value(cli, flag);

	return path != NULL ? read_secret_file(cli, path) : rt_str_of(getenv(variable));
}

static rt_str
text_of(rt_cli *cli, const char *flag)
{
	return rt_cli_check_utf8(cli, rt_str_of(rt_cli_flag_value(cli, flag)));
}

/* The host of the issuer. */
static rt_str
host_of(rt_cli *cli, rt_str issuer)
{
	rt_url url = {0};

	if (issuer.size > 0)
		RT_TRY(&cli->s, rt_url_read(issuer, &url, &cli->s.error));
	return url.host;
}

static void
check(rt_cli *cli, const rt_sign_in_options *o)
{
	static const char *const needs_accounts[] = {"public-url", "oidc", "proxy-user"};

	for (size_t i = 0; i < sizeof(needs_accounts) / sizeof(needs_accounts[0]); i++)
		if (rt_cli_has(cli, needs_accounts[i]) && !rt_cli_has(cli, "accounts"))
			rt_cli_fail(cli, RT_USAGE, "--%s needs --accounts", needs_accounts[i]);
	if (rt_cli_has(cli, "oidc") != rt_cli_has(cli, "oidc-client"))
		rt_cli_fail(cli, RT_USAGE, "give --oidc and --oidc-client together");
	if (!rt_cli_has(cli, "oidc") && (rt_cli_has(cli, "oidc-create") || rt_cli_has(cli, "oidc-secret-file") || rt_cli_has(cli, "oidc-name")))
		rt_cli_fail(cli, RT_USAGE, "--oidc-create, --oidc-secret-file and --oidc-name need --oidc");
	if (rt_cli_has(cli, "proxy-secret-file") && !rt_cli_has(cli, "proxy-user"))
		rt_cli_fail(cli, RT_USAGE, "--proxy-secret-file needs --proxy-user");
	if (rt_cli_has(cli, "proxy-sign-out") && !rt_cli_has(cli, "proxy-user"))
		rt_cli_fail(cli, RT_USAGE, "--proxy-sign-out needs --proxy-user");
	if (o->sign_out_url.size > 0 && !rt_str_starts(o->sign_out_url, RT_STR("https://")) &&
	    !rt_str_starts(o->sign_out_url, RT_STR("http://")))
		rt_cli_fail(cli, RT_USAGE, "--proxy-sign-out needs an address that begins with https:// or http://");
	if (!rt_cli_has(cli, "proxy-user"))
		return;
	if (o->proxy_header.size == 0 || o->proxy_header.size > 60 ||
	    rt_word_size(o->proxy_header, "-_") != o->proxy_header.size ||
	    rt_str_eq_nocase(o->proxy_header, RT_STR(RT_PROXY_SECRET)))
		rt_cli_fail(cli, RT_USAGE, "--proxy-user needs the name of a header, such as X-Forwarded-User");
	if (o->proxy_secret.size < 32)
		rt_cli_fail(cli, RT_USAGE,
			    "--proxy-user needs a secret of at least 32 characters that the proxy sends in the header " RT_PROXY_SECRET
			    ": --proxy-secret-file FILE, or RETAKE_PROXY_SECRET");
}

rt_sign_in_options
rt_serve_sign_in(rt_cli *cli)
{
	rt_sign_in_options o = {.public_url = text_of(cli, "public-url"),
				.issuer = text_of(cli, "oidc"),
				.client = text_of(cli, "oidc-client"),
				.service = text_of(cli, "oidc-name"),
				.creates = rt_cli_has(cli, "oidc-create"),
				.proxy_header = text_of(cli, "proxy-user"),
				.sign_out_url = text_of(cli, "proxy-sign-out")};

	if (rt_cli_has(cli, "oidc"))
		o.secret = read_secret(cli, "oidc-secret-file", "RETAKE_OIDC_SECRET");
	if (rt_cli_has(cli, "proxy-user"))
		o.proxy_secret = read_secret(cli, "proxy-secret-file", "RETAKE_PROXY_SECRET");
	check(cli, &o);
	if (o.service.size == 0)
		o.service = host_of(cli, o.issuer);
	return o;
}

const char *
rt_serve_hosts(rt_cli *cli)
{
	const char *hosts = rt_cli_flag_value(cli, "host"), *address = rt_cli_flag_value(cli, "public-url");
	rt_buf *out = rt_scope_buf(&cli->s);
	rt_url url;

	if (address == NULL || RT_TRY(&cli->s, rt_url_read(rt_str_of(address), &url, &cli->s.error)) != RT_OK)
		return hosts;
	rt_buf_add_f(out, "%.*s:%u", RT_STR_ARG(url.host), url.port);
	if (hosts != NULL)
		rt_buf_add_f(out, ",%s", hosts);
	return rt_scope_str(&cli->s, out).ptr;
}
