import { isUtf8 } from "node:buffer";

/**
 * A name on the disk consists of bytes, a path here is text. Bytes that are no UTF-8 are written as `\xhh`, and so is a backslash
 * with which a name itself looks like such an escape. So two names never have the same text, and each text leads back to its
 * bytes.
 */
export function textOfName(name: Uint8Array): string {
  if (isUtf8(name)) return escapeText(Buffer.from(name).toString());
  let text = "";
  let genuine = "";
  for (let at = 0; at < name.length; ) {
    const length = [1, 2, 3, 4].find((count) => isUtf8(name.subarray(at, at + count)) && at + count <= name.length);
    if (length === undefined) {
      text += `${escapeText(genuine)}\\x${name[at]!.toString(16).padStart(2, "0")}`;
      genuine = "";
    } else {
      genuine += Buffer.from(name.subarray(at, at + length)).toString();
    }
    at += length ?? 1;
  }
  return text + escapeText(genuine);
}

/** Returns whether the name as Node gives it may differ from the bytes on the disk, or needs an escape. */
export function isOddName(name: string): boolean {
  return name.includes("\uFFFD") || LOOKS_ESCAPED.test(name);
}

/** Returns the path for system calls of a path that is relative to the root. */
export function systemPath(root: string, path: string): string | Buffer {
  const absolute = path === "" ? root : `${root}/${path}`;
  if (!LOOKS_ESCAPED.test(path)) return absolute;
  const bytes: Buffer[] = [Buffer.from(`${root}/`)];
  let from = 0;
  for (const { index, 1: hex } of path.matchAll(ESCAPES)) {
    bytes.push(Buffer.from(path.slice(from, index)), Buffer.from(hex!, "hex"));
    from = index + 4;
  }
  return Buffer.concat([...bytes, Buffer.from(path.slice(from))]);
}

/** Only the backslash and bytes above ASCII are escaped, so no text leads to a slash or a NUL. */
const ESCAPES = /\\x(5c|[89a-f][0-9a-f])/g;
const LOOKS_ESCAPED = /\\x(5c|[89a-f][0-9a-f])/;

function escapeText(genuine: string): string {
  return genuine.replace(ESCAPES, "\\x5cx$1");
}
