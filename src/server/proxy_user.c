/* SPDX-License-Identifier: MIT
 *
 * An address does not prove who sends a request, since every program of the machine reaches the
 * loopback, so the proxy sends a secret with the name. */
#include "server/sign_in.h"

#include "accounts/arrival.h"

static bool
refuse(rt_guard_fault *fault, const char *detail)
{
	*fault = (rt_guard_fault){403, "proxy-user", "The user that the proxy names is not accepted", detail, false};
	return false;
}

/* By the identity "proxy:NAME", else by the name of a user without any identity. 0: none. */
static uint64_t
find_user(rt_directory *directory, const rt_web_request *request, rt_str name)
{
	const rt_roster *roster = rt_directory_roster(directory);
	rt_buf identity;
	uint64_t found = 0;

	rt_buf_init(&identity, request->alloc, RT_BUF_UNLIMITED);
	rt_identity_add(&identity, "proxy", rt_str_at(NULL, 0), name);
	const rt_item *user = identity.status == RT_OK ? rt_roster_identity(roster, rt_buf_str(&identity)) : NULL;
	if (user == NULL)
		user = rt_roster_named(roster, RT_ITEM_USER, name);
	if (user != NULL && (user->identity.size == 0 || rt_str_eq(user->identity, rt_buf_str(&identity))) &&
	    user->is_disabled == 0)
		found = user->id;
	rt_buf_deinit(&identity);
	rt_object_unref(roster);
	return found;
}

bool
rt_proxy_user(const rt_sign_in_options *options, rt_directory *directory, const rt_web_request *request,
	      rt_account *out, rt_guard_fault *fault)
{
	char header[64];

	*fault = (rt_guard_fault){0};
	if (options->proxy_header.size == 0 || options->proxy_header.size >= sizeof(header))
		return false;
	memcpy(header, options->proxy_header.ptr, options->proxy_header.size);
	header[options->proxy_header.size] = '\0';
	size_t names = rt_web_header_repeats(request, header), secrets = rt_web_header_repeats(request, RT_PROXY_SECRET);
	if (names == 0 && secrets == 0)
		return false;
	if (secrets != 1 || names > 1 || !rt_guard_same(rt_web_header(request, RT_PROXY_SECRET), options->proxy_secret))
		return refuse(fault, "a request with the header of --proxy-user must also contain the " RT_PROXY_SECRET " header with the secret of the proxy");
	if (names == 0)
		return false;
	uint64_t user = find_user(directory, request, rt_web_header(request, header));
	if (user == 0)
		return refuse(fault, "there is no such user, or the user is disabled or uses another sign-in "
				     "method; an administrator can create the user: "
				     "retake user new NAME");
	*out = (rt_account){.kind = RT_ACCOUNT_USER, .user = user};
	return true;
}
