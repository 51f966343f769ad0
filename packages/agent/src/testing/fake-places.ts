import type { EdgeItem, Unassigned } from "@downlink/protocol";

export interface FakeReport {
  readonly upserts: EdgeItem[];
  readonly removals: string[];
  readonly deletions?: { readonly versionId: string; readonly because: string }[];
  readonly acknowledgements: string[];
  readonly schemas: { readonly sha256: string; readonly data: string }[];
  readonly listing?: { readonly id: string; readonly isLast: boolean; readonly count?: number };
  readonly sequence: number;
}

type Reason = { code: string; text: string };

/** At a site, a file that belongs to no device is kept as unassigned. */
export function placeItems(items: readonly EdgeItem[], judge: (item: EdgeItem) => Reason | undefined): EdgeItem[] {
  return items.map((item) => {
    const reason = item.state === "indexed" ? judge(item) : undefined;
    if (!reason) return item;
    const { versionId, path, size, modifiedAt, headTailSha256 } = item;
    return { versionId, path, size, modifiedAt, headTailSha256, state: "unassigned", reason };
  });
}

export function unassignedAmong(items: readonly EdgeItem[]): Unassigned[] {
  return items.flatMap((item) =>
    item.state === "unassigned" && item.reason ? [{ versionId: item.versionId, ...item.reason }] : [],
  );
}
