const unitBytes: Readonly<Record<string, number>> = {
  ...{ b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 },
  ...{ kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 },
};

/** Answers the bytes of a text such as `20GB`, `500MiB`, `1.5 TB` or a plain count of bytes, or undefined if it is no size. */
export function parseByteSize(text: string): number | undefined {
  const [, count, unit = "b"] = /^(\d+(?:\.\d+)?) ?([kmgt]?i?b)?$/i.exec(text) ?? [];
  const bytes = Math.round(Number(count) * (unitBytes[unit.toLowerCase()] ?? Number.NaN));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
