import type { EdgeItem, WantedImport } from "@downlink/protocol";
import { type FakeReport, placeItems, unassignedAmong } from "./fake-places.ts";
import { RefusalError } from "./refusal.ts";

/** The facts in the cloud that a report changes, and on which the answer depends. */
interface ReportedTo {
  readonly files: Map<string, EdgeItem>;
  readonly schemas: Map<string, string>;
  readonly requests: Map<string, WantedImport>;
  readonly acknowledged: string[];
  readonly cancelled: Set<string>;
  readonly deleted: Map<string, string>;
  readonly incarnation: string;
  readonly judgePlace: (item: EdgeItem) => { code: string; text: string } | undefined;
  readonly isImported: (item: EdgeItem) => boolean;
  readonly contentOf: (item: EdgeItem) => string | undefined;
  readonly failureOf: ((item: EdgeItem) => { code: string; text: string } | undefined) | undefined;
  readonly isItemRefused: (item: EdgeItem) => boolean;
}

/** Takes the reports of agents: each report once, and listings that count as whole only where all of one arrived. */
export class FakeReports {
  readonly #cloud: ReportedTo;
  /** How many listings were received to their end. */
  listings = 0;
  #sequence = 0;
  #listedIncarnation: string | undefined;
  #listing: { id: string; seen: Set<string> } | undefined;

  constructor(cloud: ReportedTo) {
    this.#cloud = cloud;
  }

  /** Another process of the agent counts its reports from the start. */
  startAgain(): void {
    this.#sequence = 0;
  }

  /** A cloud without files needs no listing. */
  isListed(): boolean {
    if (this.#cloud.files.size === 0) this.#listedIncarnation = this.#cloud.incarnation;
    return this.#listedIncarnation === this.#cloud.incarnation;
  }

  take(report: FakeReport): unknown {
    if (report.sequence <= this.#sequence) throw new RefusalError("ReportSuperseded");
    this.#sequence = report.sequence;
    if (report.upserts.some(this.#cloud.isItemRefused)) throw new RefusalError("InvalidRequest");
    const placed = placeItems(report.upserts, this.#cloud.judgePlace);
    this.#keepFiles(placed, report);
    this.#keepAcknowledgements(report.acknowledgements);
    return {
      unknownSchemas: this.#unknownSchemas(report),
      unassigned: unassignedAmong(placed),
      ...(report.listing && this.#answerListing(report.listing, report.upserts)),
    };
  }

  #keepFiles(placed: readonly EdgeItem[], { removals, deletions = [] }: FakeReport): void {
    const { files, deleted } = this.#cloud;
    for (const item of placed) files.set(item.versionId, item);
    for (const versionId of removals) files.delete(versionId);
    for (const { versionId, because } of deletions) if (files.delete(versionId)) deleted.set(versionId, because);
  }

  #keepAcknowledgements(requestIds: readonly string[]): void {
    const { cancelled, requests, acknowledged } = this.#cloud;
    for (const requestId of requestIds) {
      cancelled.delete(requestId);
      if (requests.delete(requestId)) acknowledged.push(requestId);
    }
  }

  #unknownSchemas({ schemas, upserts }: FakeReport): string[] {
    const known = this.#cloud.schemas;
    for (const { sha256, data } of schemas) known.set(sha256, data);
    const named = upserts.flatMap((item) =>
      item.state === "indexed" ? item.topics.map((topic) => topic.schemaSha256) : [],
    );
    return [...new Set(named)].filter((sha256) => !known.has(sha256));
  }

  #answerListing(listing: NonNullable<FakeReport["listing"]>, items: EdgeItem[]) {
    return {
      imported: items.filter(this.#cloud.isImported).map(({ versionId }) => versionId),
      importedContents: this.#contentsAmong(items),
      failed: this.#failedAmong(items),
      isListingComplete: this.#list(listing, items),
    };
  }

  #contentsAmong(items: readonly EdgeItem[]): { versionId: string; sha256: string }[] {
    return items.filter(this.#cloud.isImported).flatMap((item) => {
      const sha256 = this.#cloud.contentOf(item);
      return sha256 === undefined ? [] : [{ versionId: item.versionId, sha256 }];
    });
  }

  #failedAmong(upserts: readonly EdgeItem[]): unknown {
    return (
      this.#cloud.failureOf &&
      upserts.flatMap((item) => {
        const failure = this.#cloud.failureOf?.(item);
        return failure ? [{ versionId: item.versionId, ...failure }] : [];
      })
    );
  }

  #list({ id, isLast, count }: NonNullable<FakeReport["listing"]>, upserts: EdgeItem[]): boolean | undefined {
    if (this.#listing?.id !== id) this.#listing = { id, seen: new Set() };
    const { seen } = this.#listing;
    for (const { versionId } of upserts) seen.add(versionId);
    if (!isLast) return undefined;
    this.#listing = undefined;
    if (seen.size !== count) return false;
    for (const versionId of this.#cloud.files.keys()) if (!seen.has(versionId)) this.#cloud.files.delete(versionId);
    this.#listedIncarnation = this.#cloud.incarnation;
    this.listings += 1;
    return true;
  }
}
