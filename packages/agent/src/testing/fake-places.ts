import type { EdgeItem, Unassigned } from "@downlink/protocol";

type Reason = { code: string; text: string };

/** At a site, what belongs to nobody is kept as unassigned. */
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
