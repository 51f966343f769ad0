import type { FileHandle } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { StorageFullError } from "./blob-errors.ts";

/*
 * A journal is a file of lines that is only ever appended to, so that several processes may write it. Each line ends with its checksum and
 * has a line break on both sides. So a line that a crash tore, or left as zeros, does not count, and spoils no other line.
 *
 */

/** Reads the lines of a journal in their order, including torn ones. */
export async function readLines(file: FileHandle): Promise<string[]> {
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
  const text = buffer.toString("latin1", 0, bytesRead);
  return text.split("\n").filter((line) => line !== "");
}

/** Appends a line to a file that was opened for appending, and does not sync it. */
export async function appendLine(file: FileHandle, text: string): Promise<void> {
  const line = Buffer.from(sealLine(text));
  const { bytesWritten } = await file.write(line);
  // A line is one write, or fails: the rest of a torn line could land behind another process's line.
  if (bytesWritten < line.byteLength) throw new StorageFullError(`${bytesWritten} of ${line.byteLength} bytes written`);
}

export function sealLine(text: string): string {
  return `\n${text} ${checksum(text)}\n`;
}

/** Splits a line into its words; returns undefined if the line is torn or damaged. */
export function wordsOf(line: string): string[] | undefined {
  const end = line.lastIndexOf(" ");
  const text = line.slice(0, end);
  return end > 0 && line.slice(end + 1) === checksum(text) ? text.split(" ") : undefined;
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}
