/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "app/title.h"

#include <stdio.h>

static rt_status
open_model(const rt_title_options *o, rt_model **out, rt_error *err)
{
	rt_models_options options = {
		.alloc = o->alloc, .env = o->env, .config = o->config, .name = o->config->title_model};
	rt_buf warnings;
	rt_status st;

	rt_buf_init(&warnings, o->alloc, RT_BUF_UNLIMITED);
	if (o->opening != NULL)
		pthread_mutex_lock(o->opening);
	st = rt_models_open(&options, out, NULL, &warnings, err);
	if (o->opening != NULL)
		pthread_mutex_unlock(o->opening);
	rt_buf_deinit(&warnings);
	return st;
}

rt_status
rt_title_write(const rt_title_options *o, rt_send_with with, rt_summary_result *out, rt_error *err)
{
	const rt_project *value = rt_engine_value(o->engine);
	bool is_wanted = o->config != NULL && o->config->title_model.size > 0 &&
			 rt_title_is_wanted(value, o->disc);
	char disc[16];
	rt_status st;

	rt_object_unref(value);
	*out = (rt_summary_result){0};
	if (!is_wanted)
		return RT_OK;
	snprintf(disc, sizeof(disc), RT_BY_ID "d%u", (unsigned)o->disc);
	st = open_model(o, &with.model, err);
	if (st != RT_OK)
		return st;
	with.price = rt_config_price_of(o->config, rt_model_service(with.model), with.model->name);
	st = rt_engine_write_title(o->engine, &with, rt_str_of(disc), out, err);
	with.model->ops->close(with.model);
	return st;
}
