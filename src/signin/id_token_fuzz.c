/* SPDX-License-Identifier: MIT
 *
 * Any bytes as an ID token ('t' before it), and as the provider's keys ('k'): a token is accepted only
 * if the text that is signed is that of one of the two in the corpus. The private keys were not kept. */
#include "base/encode.h"
#include "signin/id_token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RSA_HEADER "{\"alg\":\"RS256\",\"kid\":\"r\"}"
#define EC_HEADER "{\"alg\":\"ES256\",\"kid\":\"e\"}"
#define CLAIMS \
	"{\"iss\":\"https://id.example\",\"aud\":\"retake\",\"nonce\":\"n-1" \
	"\",\"iat\":1700000000,\"exp\":1700000300,\"sub\":\"ann\"}"

static const char modulus[] =
	"qXsF5fD8-HMWYmUO-fdHBEiPTYVEYqSLuyWn-objpQOh0nDRkfZz-YMhPg511WyjbxbbgzRwTpUoggACqmLi5h0WWq"
	"rcFJEaPxH0Zx3URKk-DO3EdaO-p2yr3_BsbxbXoce-yF4dSJR79LDI7iO9wf13s5iiOo1Rh3cC48sr9sakA9uNdIcF"
	"Lnj5MG_tdoHPIyCX8uL01_EzEL8MQ3bUMc_eitQMfxGdzQL5Dpdu5OnxxgNiGvO-lMhfihQtg5PeoVYw1Da5BPt4na"
	"XuowlkCxpSW3uKTmWkWmG8cnbiFxRPQmcaMkeDxyGzaY-2XRdynrDcrww438XSHDI93Rw9Ew";
static const char x[] = "fM5HPg0-E7yaNIVsk5mBFIcUf-UMSAyUp6ENPtk3uv8";
static const char y[] = "zSJZQ_sN5vRCkfPpiuAJaoqJUCD7Zoz4j9eduBsO4dE";
static const char ec_signature[] =
	"gOPiIVkrzchkSZubBXAQtCyrYiGqlqQVt2bhBv_0kA9uI0OfTldDanuSSDsFxKGRSCkDRht6yuJqrmR_CsuFfg";

static const rt_id_expected expected = {
	.issuer = RT_STR_INIT("https://id.example"),
	.client = RT_STR_INIT("retake"),
	.nonce = RT_STR_INIT("n-1"),
	.access_token = RT_STR_INIT("access"),
	.now_s = 1700000000,
};

static rt_str
own_keys(rt_scope *s)
{
	rt_buf *out = rt_scope_buf(s);

	rt_buf_add_f(out,
		     "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"r\",\"e\":\"AQAB\",\"n\":\"%s\"},"
		     "{\"kty\":\"EC\",\"kid\":\"e\",\"crv\":\"P-256\",\"x\":\"%s\",\"y\":\"%s\"}]}",
		     modulus, x, y);
	return rt_scope_str(s, out);
}

/* HEADER.CLAIMS. */
static rt_str
signed_text(rt_scope *s, const char *header, const char *signature)
{
	rt_buf *out = rt_scope_buf(s);

	rt_buf_add_base64url(out, rt_str_of(header));
	rt_buf_add_byte(out, '.');
	rt_buf_add_base64url(out, RT_STR(CLAIMS));
	rt_buf_add_byte(out, '.');
	rt_buf_add_c(out, signature);
	return rt_scope_str(s, out);
}

static void
check(rt_scope *s, rt_str token, rt_str keys)
{
	bool is_good = rt_str_eq(token, signed_text(s, EC_HEADER, ec_signature)) && rt_str_eq(keys, own_keys(s));
	rt_id_claims claims = rt_id_token_read(s, token, keys, &expected);

	if (!rt_ok(s)) {
		RT_ASSERT(!is_good);
		RT_ASSERT(s->status == RT_CREDENTIALS || s->status == RT_NOT_FOUND || s->status == RT_UPSTREAM);
		RT_ASSERT(claims.subject.size == 0 && s->error.text[0] != '\0');
		s->status = RT_OK;
		return;
	}
	RT_ASSERT(rt_str_is(claims.subject, "ann"));
	RT_ASSERT(rt_str_starts(token, signed_text(s, RSA_HEADER, "")) ||
		  rt_str_starts(token, signed_text(s, EC_HEADER, "")));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	if (size > 0 && data[0] == 't')
		check(&s, rt_str_at((const char *)data + 1, size - 1), own_keys(&s));
	else if (size > 0 && data[0] == 'k')
		check(&s, signed_text(&s, EC_HEADER, ec_signature), rt_str_at((const char *)data + 1, size - 1));
	rt_scope_deinit(&s);
	return 0;
}
