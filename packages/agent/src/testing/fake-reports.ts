import type { EdgeItem, WantedImport } from "@downlink/protocol";
import { type FakeReport, placeItems, unassignedAmong } from "./fake-places.ts";
import { Refusal } from "./refusal.ts";

/** What a report changes in the cloud, and what the cloud answers by. */
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

/** What agents report: each report once, and listings that count as whole only where all of one arrived. */
export class FakeReports {
  readonly #cloud: ReportedTo;
  /** How many were told to their end. */
  listings = 0;
  #sequence = 0;
  #listedIncarnation: string | undefined;
  #listing: { id: string; seen: Set<string> } | undefined;

  constructor(cloud: ReportedTo) {
    this.#cloud = cloud;
  }

  /** Another process of the agent counts its reports from the start. */
  beginAnew(): void {
    this.#sequence = 0;
  }

  /** Of nothing there is nothing to tell. */
  isListed(): boolean {
    if (this.#cloud.files.size === 0) this.#listedIncarnation = this.#cloud.incarnation;
    return this.#listedIncarnation === this.#cloud.incarnation;
  }

  take(report: FakeReport): unknown {
    if (report.sequence <= this.#sequence) throw new Refusal("ReportSuperseded");
    this.#sequence = report.sequence;
    if (report.upserts.some(this.#cloud.isItemRefused)) throw new Refusal("InvalidRequest");
    const placed = placeItems(report.upserts, this.#cloud.judgePlace);
    for (const item of placed) this.#cloud.files.set(item.versionId, item);
    for (const versionId of report.removals) this.#cloud.files.delete(versionId);
    for (const { versionId, because } of report.deletions ?? []) {
      if (this.#cloud.files.delete(versionId)) this.#cloud.deleted.set(versionId, because);
    }
    for (const { sha256, data } of report.schemas) this.#cloud.schemas.set(sha256, data);
    for (const requestId of report.acknowledgements) this.#cloud.cancelled.delete(requestId);
    for (const requestId of report.acknowledgements)
      if (this.#cloud.requests.delete(requestId)) this.#cloud.acknowledged.push(requestId);
    const wanted = report.upserts.flatMap((item) =>
      item.state === "indexed" ? item.topics.map((topic) => topic.schemaSha256) : [],
    );
    const unknownSchemas = [...new Set(wanted)].filter((sha256) => !this.#cloud.schemas.has(sha256));
    return {
      unknownSchemas,
      unassigned: unassignedAmong(placed),
      imported: report.listing && report.upserts.filter(this.#cloud.isImported).map(({ versionId }) => versionId),
      importedContents: report.listing && this.#contentsAmong(report.upserts),
      failed: report.listing && this.#failedAmong(report.upserts),
      isListingComplete: report.listing ? this.#list(report.listing, report.upserts) : undefined,
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
