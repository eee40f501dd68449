/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a configuration, as a url and as the words of a server. An accepted configuration
 * can be used to choose a model; an error has an existing line number; no key passes the mask,
 * wherever it occurs. */
#include "llm/config.h"
#include "codec/mask.h"
#include "llm/url.h"

#define KEY "sk-0a+B/9zQ"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
fuzz_config(rt_str text)
{
	rt_config *c = NULL;
	rt_model_choice choice;
	rt_error err;
	size_t i, lines = 1;

	for (i = 0; i < text.size; i++)
		lines += text.ptr[i] == '\n';
	memset(&err, 0, sizeof(err));
	if (rt_config_read(rt_alloc_libc(), text, &c, &err) != RT_OK) {
		RT_ASSERT(err.text[0] != '\0');
		RT_ASSERT(err.line <= lines);
		return;
	}
	for (i = 0; i < c->provider_count; i++)
		RT_ASSERT(c->providers[i].kind != NULL);
	for (i = 0; i < c->warning_count; i++)
		RT_ASSERT(c->warnings[i].words.size > 0);
	if (rt_models_choose(c, text, &choice, &err) == RT_OK)
		RT_ASSERT(choice.provider != NULL);
	rt_config_free(c);
}

static void
fuzz_url(rt_str text)
{
	rt_url url, again;
	rt_buf joined;

	if (rt_url_read(text, &url, NULL) != RT_OK)
		return;
	rt_buf_init(&joined, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_url_join(&joined, &url, RT_STR("/x?y=z"));
	if (joined.size <= RT_URL_MAX) {
		RT_ASSERT(rt_url_read(rt_buf_str(&joined), &again, NULL) == RT_OK);
		RT_ASSERT(rt_str_eq(url.host, again.host));
		RT_ASSERT(url.port == again.port);
	}
	rt_buf_deinit(&joined);
}

static void
fuzz_mask(rt_str text)
{
	rt_str secret = RT_STR(KEY);
	rt_buf words, masked;

	rt_buf_init(&words, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&masked, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_str(&words, rt_str_at(text.ptr, text.size / 2));
	rt_buf_add_c(&words, KEY);
	rt_buf_add_str(&words, rt_str_at(text.ptr + text.size / 2, text.size - text.size / 2));
	rt_mask_add(&masked, rt_buf_str(&words), &secret, 1, true);
	RT_ASSERT(rt_str_find(rt_buf_str(&masked), secret, 0) == SIZE_MAX);
	rt_buf_deinit(&words);
	rt_buf_deinit(&masked);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	rt_str text = rt_str_at((const char *)data, size);

	if (size == 0)
		return 0;
	fuzz_config(text);
	fuzz_url(text);
	fuzz_mask(text);
	return 0;
}
