// SPDX-License-Identifier: MIT
//
// Model setup: the lines of the configuration file that make a provider available, to copy. The page
// cannot write them: they name programs to run, and keys.
import { CopyButton } from "./copy";
import { openOverlay } from "./panes";
import { useStore } from "./state";
import type { Provider } from "./model";

/** Setup of a server that is not listed. */
export const OTHER = "";

/** Why the provider cannot be queried; "": it can. */
export function setupOf(provider: Provider): string {
	if (provider.state === "no key")
		return provider.key_env ? `needs a key (${provider.key_env})` : "needs a key";
	return provider.state === "invalid URL" ? "its URL is not valid" : "";
}

const OTHER_LINES = `[provider.local]
# API: openai, anthropic, ollama, gemini
kind = "openai"
url = "http://127.0.0.1:8080/v1"
# if it needs a key: a file with it
# key_file = "~/.keys/local"
# if it does not list its models
# models = ["NAME"]`;

function linesOf(provider: Provider): string {
	const name = provider.provider;
	return provider.state === "no key" ? `[provider.${name}]
# a file that contains only the key
key_file = "~/.keys/${name}"
# or a command that prints it
# key_cmd = ["pass", "show", "${name}"]` : `[provider.${name}]\nurl = "${provider.url || "https://HOST/v1"}"`;
}

function Lines(props: { text: string; label: string }) {
	return (
		<div class="code-box">
			<div class="code-head"><span class="space" /><CopyButton text={() => props.text} label={`Copy ${props.label}`} /></div>
			<pre class="code" tabIndex={0} role="group" aria-label={props.label}><code>{props.text}</code></pre>
		</div>
	);
}

/** provider: null for another one. problem: why its models are not known. */
export function ModelSetup(props: { provider: Provider | null; problem: string; onBack: () => void }) {
	const { provider } = props, env = provider?.state === "no key" ? provider.key_env : undefined, isSet = provider !== null && provider.state !== "no key";
	const info = useStore((from) => from.info), account = useStore((from) => from.account);
	const file = info?.config_file ?? "config.toml";
	return (
		<div class="model-setup">
			<p>{provider ? props.problem : "Any server with the API of OpenAI, Anthropic, Ollama or Gemini."}{" "}
				{account?.accounts && !info?.config_file && "An administrator of this server can add it:"}</p>
			{env && <>
				<p>Set the key in the environment before Retake starts:</p>
				<Lines label="the line for the shell" text={`export ${env}=KEY`} />
			</>}
			<p>{isSet ? "If its address is another one, change these lines of" : env ? "Or add these lines to" : "Add these lines to"} the configuration file{info?.config_file ? "" : " of the server"}:</p>
			<div class="setup-file"><code>{file}</code> {info?.config_file && <CopyButton text={() => file} label="Copy the path of the configuration file" />}</div>
			<Lines label="the lines for the configuration file" text={provider ? linesOf(provider) : OTHER_LINES} />
			<p class="quiet small">Retake reads its environment and configuration when it starts: restart it, then reload this page.</p>
			<footer>
				<button type="button" onClick={props.onBack}>Back to the models</button>
				<button type="button" class="primary" onClick={() => openOverlay(null)}>Done</button>
			</footer>
		</div>
	);
}
