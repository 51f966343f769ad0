import { type ExportFormat, formatTimestamp } from "@downlink/protocol";

/** The recordings of an export: one, or those of a device or an episode. */
export type ExportSelector =
  | { readonly recordingId: string }
  | { readonly deviceId: string }
  | { readonly episodeId: string };

/** The part of the recordings, and the form of the file. */
export interface ExportOptions {
  /** Absent for all. */
  readonly topics?: readonly string[];
  readonly start?: bigint;
  readonly end?: bigint;
  readonly outputFormat: ExportFormat;
  readonly compressionFormat: "" | "lz4" | "zstd";
  readonly includeAttachments?: boolean;
}

/** The choices for an export, as the service takes them. */
export type ExportChoice = ExportSelector & ExportOptions;

/** Returns the body of the call as JSON. */
export function exportBody({ start, end, topics, includeAttachments, ...rest }: ExportChoice): string {
  return JSON.stringify({
    ...rest,
    ...(topics ? { topics } : {}),
    ...(start === undefined ? {} : { start: formatTimestamp(start) }),
    ...(end === undefined ? {} : { end: formatTimestamp(end) }),
    ...(includeAttachments ? { includeAttachments } : {}),
  });
}

interface Where {
  readonly url: string;
  readonly fileName: string;
}

/** Returns commands for a shell with curl. The link is asked for and opened in one go, because it ends after seconds. */
export function curlText(choice: ExportChoice, { url, fileName }: Where): string {
  return [
    `LINK=$(curl -sf ${quoteShell(`${url}/v1/data/stream`)} -H "Authorization: Bearer $DOWNLINK_API_KEY" \\`,
    `  -H "Content-Type: application/json" -d ${quoteShell(exportBody(choice))} | sed 's/.*"link":"\\([^"]*\\)".*/\\1/')`,
    `curl -f -o ${quoteShell(fileName)} "$LINK"`,
  ].join("\n");
}

/** Returns a script for Python with nothing installed. */
export function pythonText(choice: ExportChoice, { url, fileName }: Where): string {
  return [
    "import json, os, shutil, urllib.request",
    "",
    `body = ${quotePython(exportBody(choice))}.encode()`,
    `request = urllib.request.Request(${quotePython(`${url}/v1/data/stream`)}, body, {`,
    `    "Authorization": "Bearer " + os.environ["DOWNLINK_API_KEY"], "Content-Type": "application/json"})`,
    `link = json.load(urllib.request.urlopen(request))["link"]`,
    `with urllib.request.urlopen(link) as data, open(${quotePython(fileName)}, "wb") as file:`,
    "    shutil.copyfileobj(data, file)",
  ].join("\n");
}

/** Returns a command for our own program, which knows the key after `dl login`; it exports single recordings. */
export function dlText(choice: ExportChoice, { url, fileName }: Where): string {
  const recordingId = "recordingId" in choice ? choice.recordingId : "";
  const { topics = [], start, end, outputFormat, compressionFormat, includeAttachments } = choice;
  const flags = [
    `--url=${quoteShell(url)}`,
    ...topics.map((topic) => `--topic=${quoteShell(topic)}`),
    ...(start === undefined ? [] : [`--start=${formatTimestamp(start)}`]),
    ...(end === undefined ? [] : [`--end=${formatTimestamp(end)}`]),
    `--format=${outputFormat}`,
    `--compression=${compressionFormat || "none"}`,
    ...(includeAttachments ? ["--attachments"] : []),
    `--output=${quoteShell(fileName)}`,
  ];
  return [`dl export ${recordingId}`, ...flags].join(" \\\n  ");
}

/** The control characters of ASCII and Latin-1, which a terminal may take for a key or a command when they are pasted. */
const CONTROLS = /\p{Cc}/u;

/**
 * A shell interprets nothing in single quotes but their end. Control characters are written as the octal numbers of their bytes, in `$'…'`
 * of bash, zsh and ksh, because a terminal would act on them before the shell reads them.
 */
export function quoteShell(text: string): string {
  if (!CONTROLS.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  return `$'${text.replaceAll(/[\\']/g, "\\$&").replaceAll(/\p{Cc}/gu, octalBytes)}'`;
}

function octalBytes(character: string): string {
  const bytes = new TextEncoder().encode(character);
  return Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}

/** Quotes a text for Python: JSON's strings are Python's, too, once they have no character outside of ASCII. */
export function quotePython(text: string): string {
  return JSON.stringify(text).replaceAll(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
