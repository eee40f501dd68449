// SPDX-License-Identifier: MIT
//
// Attachments: files attached to the next message. A file is uploaded as soon as it is chosen,
// pasted or dropped; the message then has a block for each (src/log/blob.h).
import { useRef, useState } from "preact/hooks";
import { request } from "./api";
import { focusComposer, hasKeys } from "./focus";
import { state } from "./state";
import { bytesWords } from "./words";
import type { Block } from "./types";

const MOST_BYTES = 32 << 20;

interface Attached {
	name: string;
	size: number;
	/** Absent until uploaded. */
	block?: Block;
	problem?: string;
}

export interface Attachments {
	list: readonly Attached[];
	blocks: Block[];
	/** Some files are still being uploaded, or failed. */
	isPending: boolean;
	add: (files: Iterable<File>) => void;
	clear: () => void;
	restore: (blocks: readonly Block[]) => void;
	remove: (at: Attached) => void;
}

function ofBlock(block: Block): Attached {
	return { name: String(block.name), size: Number(block.size), block };
}

export function useAttachments(): Attachments {
	const list = useRef<Attached[]>([]), [, redraw] = useState(0);
	const change = (next: Attached[]) => {
		list.current = next;
		redraw((n) => n + 1);
	};
	const replace = (old: Attached, next: Attached) => change(list.current.map((each) => (each === old ? next : each)));
	const upload = async (file: File) => {
		const item: Attached = { name: file.name || "pasted", size: file.size };
		item.problem = file.size === 0 ? "The file is empty." : file.size > MOST_BYTES ? "The file is larger than 32 MiB, the limit for attached files." : undefined;
		change([...list.current, item]);
		if (item.problem)
			return;
		try {
			const { data } = await request<{ block: Block }>("POST", "/attachments", { query: { name: item.name.replace(/\//g, "_").slice(0, 60) }, raw: file });
			replace(item, { ...item, block: data.block });
		} catch (error) {
			replace(item, { ...item, problem: (error as Error).message });
		}
	};
	return {
		list: list.current,
		blocks: list.current.flatMap((each) => each.block ?? []),
		isPending: list.current.some((each) => !each.block),
		add: (files) => { for (const file of files) void upload(file); },
		clear: () => change([]),
		restore: (blocks) => change([...blocks.map(ofBlock), ...list.current]),
		remove: (item) => change(list.current.filter((each) => each !== item)),
	};
}

export function hasFiles(event: DragEvent | ClipboardEvent): boolean {
	const data = "dataTransfer" in event ? event.dataTransfer : event.clipboardData;
	return [...(data?.types ?? [])].includes("Files");
}

/** URL of a block's data: in the store or inline. Empty: purged or unknown. */
export function sourceOf(block: Block): string {
	const type = String(block.mimeType ?? "");
	if (typeof block.sha256 === "string")
		return `/retake/v1/attachments/${block.sha256}?name=${encodeURIComponent(String(block.name ?? ""))}`;
	if (typeof block.data !== "string" || !/^[A-Za-z0-9+/=]*$/.test(block.data))
		return "";
	return `data:${/^image\/(png|jpeg|gif|webp)$/.test(type) ? type : "application/octet-stream"};base64,${block.data}`;
}

/** An image of an entry: a thumbnail, enlarged when it is pressed. */
export function Picture(props: { src: string; name: string }) {
	const [isLarge, setLarge] = useState(false), [isGone, setGone] = useState(false);
	if (!props.src || isGone)
		return <p class="quiet">The image {props.name} was purged.</p>;
	return (
		<button type="button" class={"picture-frame" + (isLarge ? " large" : "")} aria-expanded={isLarge}
			aria-label={`Image ${props.name}: ${isLarge ? "show smaller" : "show larger"}`} onClick={() => setLarge(!isLarge)}>
			<img class="picture" alt="" loading="lazy" src={props.src} onError={() => setGone(true)} />
		</button>
	);
}

export function FileLink(props: { block: Block }) {
	const { block } = props, href = block.purged ? "" : sourceOf(block), name = String(block.name ?? "file");
	const words = <>{name} <span class="quiet small">{bytesWords(Number(block.size ?? 0))}</span></>;
	return href ? <a class="file-chip" href={href} download={name}>{words}</a>
		: <span class="file-chip">{words} <span class="quiet small">purged</span></span>;
}

/** The files of the next message, each with a button to remove it. */
export function AttachedList(props: { of: Attachments }) {
	if (props.of.list.length === 0)
		return null;
	return (
		<ul class="attached" aria-label="Attached files">
			{props.of.list.map((item) => (
				<li key={item.block?.sha256 ?? item.name} class={"file-chip" + (item.problem ? " problem" : "")}>
					{item.block?.type === "image" ? <img class="thumb" alt="" src={sourceOf(item.block)} /> : null}
					<span class="path" title={item.name}>{item.name}</span>
					<span class="quiet small" role="status">{item.problem ?? (item.block ? bytesWords(item.size) : "Uploading …")}</span>
					<button type="button" class="icon" aria-label={`Remove ${item.name}`} onClick={() => { props.of.remove(item); document.getElementById("composer")?.focus(); }}>×</button>
				</li>
			))}
		</ul>
	);
}

export function AttachButton(props: { of: Attachments }) {
	const field = useRef<HTMLInputElement>(null);
	return (
		<>
			<input ref={field} type="file" multiple hidden aria-label="Files to attach" data-attach
				onChange={(event) => { props.of.add([...event.currentTarget.files ?? []]); event.currentTarget.value = ""; if (hasKeys()) focusComposer(); }} />
			<button type="button" class="icon text" id="attach" title="Attach files, or paste or drop them here" disabled={!state.disc}
				onClick={() => field.current!.click()}>Attach</button>
		</>
	);
}
