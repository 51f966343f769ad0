import { randomBytes } from "node:crypto";
import { api, type CallInput, LEASE_HEADER, type Operation, type Output } from "@downlink/protocol";
import type { Deps } from "../../../calls/context/context.ts";
import { newId } from "../../../db/ids.ts";
import type { TestCloud } from "../../../testing/start-cloud.ts";
import { packFindings } from "../../site-findings/site-findings.ts";

type Site = typeof api.site;

/** A self-hosted site's side of the protocol, call by call: the test decides what the site does. */
export interface TestSite {
  readonly siteId: string;
  readonly token: string;
  readonly hello: Output<Site["hello"]>;
  call<O extends Operation>(operation: O, input: CallInput<O>): Promise<Output<O>>;
  report(what: Partial<CallInput<Site["report"]>>): Promise<Output<Site["report"]>>;
  /** Says that the site has stored a file for a request, and returns the key of its object. */
  storeFile(requestId: string, bytes: Uint8Array): Promise<string>;
}

/** Creates a self-hosted site whose process has said hello and kept its key. */
export async function startTestSite(cloud: TestCloud, name: string, admin = cloud.admin): Promise<TestSite> {
  const { id: siteId } = await admin.call(api.sites.create, { name, type: "self-hosted" });
  const { token } = await admin.call(api.siteTokens.create, { siteId });
  const site = await sayHello(cloud, { siteId, token: token! }, siteHello());
  await site.report({ savedKeyIds: site.hello.keys.map(({ id }) => id) });
  return site;
}

export function siteHello(more: Partial<CallInput<Site["hello"]>> = {}): CallInput<Site["hello"]> {
  const store = { ...{ kind: "file" as const, id: randomHex(), starts: 1 }, marks: [randomHex()] };
  const instanceId = randomBytes(16).toString("hex");
  return { programVersion: "0.0.0-test", instanceId, store, url: "http://site.example", ...more };
}

export function randomHex(): string {
  return randomBytes(16).toString("hex");
}

/** Returns what the site's next process says of the store that the last one had. */
export async function startAgain({ db }: Pick<Deps, "db">, siteId: string): Promise<CallInput<Site["hello"]>["store"]> {
  const { storeId, storeStarts, storeMark } = await db.prisma.siteProcess.findUniqueOrThrow({ where: { siteId } });
  return { kind: "file", id: storeId, starts: Number(storeStarts) + 1, marks: [storeMark!, randomHex()] };
}

export async function sayHello(
  cloud: TestCloud,
  { siteId, token }: Pick<TestSite, "siteId" | "token">,
  body: CallInput<Site["hello"]>,
): Promise<TestSite> {
  const client = cloud.withToken(token);
  const hello = await client.call(api.site.hello, body);
  const call: TestSite["call"] = (operation, input) =>
    client.call(operation, input, { headers: { [LEASE_HEADER]: String(hello.lease) } });
  const report: TestSite["report"] = (what) => call(api.site.report, what);
  return {
    ...{ siteId, token, hello, call, report },
    async storeFile(requestId, bytes) {
      const key = `${hello.orgId}/${newId("upl")}`;
      await report({ stored: [{ requestId, key, size: bytes.byteLength }] });
      return key;
    },
  };
}

interface Reading {
  readonly requestId: string;
  readonly attempt: number;
  readonly bytes: Uint8Array;
}

/** Reads the file as a site does, and returns the calls that send what was found. */
export async function readFindings(
  { indexer }: Pick<Deps, "indexer">,
  { requestId, attempt, bytes }: Reading,
): Promise<CallInput<Site["findings"]>[]> {
  const read = async (offset: number, length: number) => bytes.slice(offset, offset + length);
  const { contentSha256, verdict } = await indexer.index(
    { sizeBytes: bytes.byteLength, read },
    { fileName: "a.mcap", signal: new AbortController().signal, store: drain },
  );
  if ("refusal" in verdict) throw new Error(verdict.refusal.text);
  return packFindings({ contentSha256, summary: verdict.summary }).map((piece, at, { length }) => ({
    ...{ requestId, attempt, number: at + 1, isLast: at + 1 === length },
    data: piece.toString("base64"),
  }));
}

async function drain(pieces: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of pieces);
}
