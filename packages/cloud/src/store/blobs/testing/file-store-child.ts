import { writeFile } from "node:fs/promises";
import { type FileStore, openFileStore } from "../file-store.ts";
import { testClock, testSigner } from "./open-file-store.ts";
import { cutParts, cutPiece, cutPieces, inPieces, pieceBytes, thenSilence } from "./pieces.ts";

/*
 * Runs a store in a process of its own, for tests that kill it at a chosen instant. Its arguments say what to do, and it prints each thing
 * that it has done as one line; what it has not printed is not acknowledged.
 */
const [directory, key, act] = process.argv.slice(2) as [string, string, string];

export const childPartBytes = 32 * 1024;
/** The child uploads these bytes; each part is different. */
export const childBytes = Buffer.concat(
  Array.from({ length: 12 }, (_, index) => Buffer.alloc(index < 11 ? childPartBytes : 777, `part ${index + 1} `)),
);
export const childPlan = { sizeBytes: childBytes.byteLength, partSizeBytes: childPartBytes };
const parts = cutParts(childBytes, childPartBytes);

/** The child uploads these bytes in pieces: a few parts of a few pieces, of which the last ones are shorter. */
export const piecedBytes = Buffer.concat(
  Array.from({ length: 11 }, (_, index) => Buffer.alloc(index < 10 ? pieceBytes : 777, `piece ${index + 1} `)),
);
export const piecedPartBytes = 4 * pieceBytes - 99;
export const piecedPlan = { sizeBytes: piecedBytes.byteLength, partSizeBytes: piecedPartBytes };

const acts: Record<string, (store: FileStore) => Promise<void>> = {
  async hangInPut(store) {
    await store.put(
      key,
      thenSilence(childBytes, () => say("silent")),
    );
  },
  async hangInPart(store) {
    await store.createUpload(key, childPlan);
    await receive(store, 1);
    await store.receivePart(
      key,
      parts[1]!.plan,
      thenSilence(parts[1]!.bytes.subarray(0, 9999), () => say("silent")),
    );
  },
  async dieBeforeAcknowledging(store) {
    await store.createUpload(key, childPlan);
    await store.receivePart(key, parts[0]!.plan, inPieces(parts[0]!.bytes));
    process.kill(process.pid, "SIGKILL");
  },
  async uploadAll(store) {
    await store.createUpload(key, childPlan);
    const kept = new Set((await store.listParts(key)).map(({ number }) => number));
    const missing = parts.map(({ plan }) => plan.number).filter((number) => !kept.has(number));
    const send = async () => {
      for (let next = missing.shift(); next !== undefined; next = missing.shift()) await receive(store, next);
    };
    await Promise.all([send(), send(), send()]);
    await store.completeUpload(
      key,
      parts.map(({ plan }) => plan),
    );
    say("complete");
  },
  async uploadInPieces(store) {
    await store.createUpload(key, piecedPlan);
    const durable = new Set((await store.listParts(key)).map(({ number }) => number));
    for (const { plan, bytes } of cutParts(piecedBytes, piecedPartBytes)) {
      if (durable.has(plan.number)) continue;
      const held = new Set((await store.listPieces(key, plan.number)).map(({ offset }) => offset));
      for (const piece of cutPieces(plan.number, bytes).filter((each) => !held.has(each.plan.offset))) {
        await store.receivePiece(key, piece.plan, inPieces(piece.bytes));
        say(`piece ${plan.number} ${piece.plan.offset}`);
      }
      await store.composePart(key, plan);
      say(`part ${plan.number}`);
    }
    await store.completeUpload(key, await store.listParts(key));
    say("complete");
  },
  async failToSync(store) {
    await store.createUpload(key, childPlan);
    await setFault("fsync 5 .temporary 1");
    await expectFailure("put", store.put(`${key}x`, inPieces(childBytes)));
    await setFault("fsync 5 .partial 1");
    await expectFailure("part", receive(store, 1));
    await setFault("fsync 5 .journal 1");
    await expectFailure("record", receive(store, 2));
    const piece = cutPiece(3, 0, parts[2]!.bytes);
    const receivePiece = () => store.receivePiece(key, piece.plan, inPieces(piece.bytes));
    await setFault("fsync 5 .piece 1");
    await expectFailure("piece", receivePiece());
    await setFault("fsync 5 .pieces 1");
    await expectFailure("line", receivePiece());
    await setFault("");
    say(`held ${(await store.listPieces(key)).length}`);
    await receivePiece();
    await setFault("");
    say(`listed ${(await store.listParts(key)).length}`);
    for (const { plan } of parts) await receive(store, plan.number);
    await setFault("fsync 5 .partial 1");
    await expectFailure(
      "complete",
      store.completeUpload(
        key,
        parts.map(({ plan }) => plan),
      ),
    );
    await setFault("");
    say(`listed ${(await store.listParts(key)).length}`);
  },
};

async function receive(store: FileStore, number: number): Promise<void> {
  const { plan, bytes } = parts[number - 1]!;
  await store.receivePart(key, plan, inPieces(bytes));
  say(`part ${number}`);
}

async function setFault(fault: string): Promise<void> {
  await writeFile(process.env.FAULT_FILE!, fault);
}

async function expectFailure(what: string, doing: Promise<unknown>): Promise<void> {
  const error = await doing.then(
    () => undefined,
    (reason: NodeJS.ErrnoException) => reason,
  );
  say(`${what} ${error?.code ?? "passed"}`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

if (act) {
  const alive = setInterval(() => {}, 60_000); // a process that only waits would end by itself
  await acts[act]!(await openFileStore({ directory, signer: testSigner, clock: testClock, publicUrl: () => "" }));
  clearInterval(alive);
}
