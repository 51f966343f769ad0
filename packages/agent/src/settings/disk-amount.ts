import { parseByteSize } from "@downlink/protocol/byte-size";
import { InvalidSettingError } from "./invalid-setting-error.ts";

/** An amount of disk space, or a part of the whole file system. */
export type DiskAmount = { readonly bytes: number } | { readonly percent: number };

/** Parses `20GB`, `500MiB`, `1.5TB`, a plain count of bytes, or `10%` of the file system. */
export function diskAmountOf(text: string): DiskAmount {
  const percent = /^(\d+(?:\.\d+)?) ?%$/.exec(text)?.[1];
  if (percent !== undefined && Number(percent) <= 100) return { percent: Number(percent) };
  const bytes = parseByteSize(text);
  if (bytes !== undefined) return { bytes };
  throw new InvalidSettingError(`${text} is no amount of disk space such as 20GB, 500MiB or 10%`);
}
