import { InvalidSettingError } from "./invalid-setting-error.ts";

/** An amount of disk space, or a part of the whole file system. */
export type DiskAmount = { readonly bytes: number } | { readonly percent: number };

const unitBytes: Readonly<Record<string, number>> = {
  ...{ b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 },
  ...{ kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 },
};

/** Parses `20GB`, `500MiB`, `1.5TB`, a plain count of bytes, or `10%` of the file system. */
export function diskAmountOf(text: string): DiskAmount {
  const percent = /^(\d+(?:\.\d+)?) ?%$/.exec(text)?.[1];
  if (percent !== undefined && Number(percent) <= 100) return { percent: Number(percent) };
  const [, count, unit = "b"] = /^(\d+(?:\.\d+)?) ?([kmgt]?i?b)?$/i.exec(text) ?? [];
  const bytes = Math.round(Number(count) * (unitBytes[unit.toLowerCase()] ?? Number.NaN));
  if (Number.isSafeInteger(bytes)) return { bytes };
  throw new InvalidSettingError(`${text} is no amount of disk space such as 20GB, 500MiB or 10%`);
}
