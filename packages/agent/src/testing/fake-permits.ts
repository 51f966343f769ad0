import type { DeletionReason, PermitAnswer } from "@downlink/protocol";

interface Item {
  readonly versionId: string;
  readonly sha256?: string;
  readonly reason: DeletionReason;
}

type RefusalError = Omit<Extract<PermitAnswer, { answer: "refused" }>, "versionId" | "answer">;

/** Grants every permit, or refuses as the test says. */
export class FakePermits {
  readonly asked: Item[] = [];
  refuse: (item: Item) => RefusalError | undefined = () => undefined;

  answer({ items }: { readonly items: readonly Item[] }): unknown {
    this.asked.push(...items);
    const nowNs = BigInt(Date.now()) * 1_000_000n;
    const answers = items.map((item): PermitAnswer => {
      const { versionId } = item;
      const refusal = this.refuse(item);
      if (refusal) return { versionId, answer: "refused", ...refusal };
      return { versionId, answer: "granted", permitId: `prm_${versionId}`, expiresAt: nowNs + 600_000_000_000n };
    });
    return { serverTime: nowNs, answers };
  }
}
