import type { FileHandle } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { StorageFullError } from "./blob-errors.ts";

/*
 * A journal is a file of lines that is only ever appended to, so that several processes may write it. Each line ends in its
 * checksum and has a line break on both sides: a line that a crash tore, or left as zeros, is no line, and takes no other one
 * with it.
 */

/** The lines of a journal in their order, torn ones included. */
export async function readLines(file: FileHandle): Promise<string[]> {
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
  const text = buffer.toString("latin1", 0, bytesRead);
  return text.split("\n").filter((line) => line !== "");
}

/** Appends to a file that was opened for appending, and does not sync it. */
export async function appendLine(file: FileHandle, text: string): Promise<void> {
  const line = Buffer.from(sealLine(text));
  const { bytesWritten } = await file.write(line);
  // One write or none: the rest of a torn line could come to stand behind another process's line.
  if (bytesWritten < line.byteLength) throw new StorageFullError(`${bytesWritten} of ${line.byteLength} bytes written`);
}

export function sealLine(text: string): string {
  return `\n${text} ${checksum(text)}\n`;
}

/** The words of a line, or undefined when it is torn or damaged. */
export function wordsOf(line: string): string[] | undefined {
  const end = line.lastIndexOf(" ");
  const text = line.slice(0, end);
  return end > 0 && line.slice(end + 1) === checksum(text) ? text.split(" ") : undefined;
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}
