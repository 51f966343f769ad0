import type { Compression } from "../../codecs/compress.ts";
import type { HoldMemory } from "../../memory/large-memory.ts";
import type { ChunkFacts } from "../mcap/mcap-writer.ts";
import type { OpenSource, PlannedRun } from "../plan/planned-source.ts";
import type { Fragment } from "../rewrite/fragment.ts";
import type { RewriteLane } from "../rewrite/rewrite-pool.ts";
import type { MemoryShare } from "./share-memory.ts";

/** What a step brought into memory, in the order of the written file. */
export type Loaded =
  | { kind: "opened"; source: OpenSource }
  /** Chunks of the written file, one behind the other in `bytes`, whose CRC-32 is known. */
  | { kind: "chunks"; bytes: Uint8Array; checksum: number; chunks: readonly ChunkFacts[] }
  /** Messages that become a chunk together with what follows. */
  | { kind: "rest"; fragment: Fragment }
  /** The first part of a run that is merged with others. */
  | { kind: "part"; run: PlannedRun; part: RunPart }
  /** A run that is too large to be held: it is loaded piece by piece when its turn comes. */
  | { kind: "pieces"; open: () => AsyncGenerator<Loaded> };

export interface RunPart {
  fragment: Fragment;
  /** Loads the messages behind these; undefined where none are left. */
  next: (() => Promise<RunPart>) | undefined;
  /** The fragment is the head of one message that is too large to be held: its record stands here among the decompressed ones. */
  hugeAt?: number | undefined;
}

/** What the steps of one export share. */
export interface Loading {
  lane: RewriteLane;
  compression: Compression;
  memory: MemoryShare;
  hold: HoldMemory;
  /** For what takes long: other exports wait for it in no case. */
  largeLane: RewriteLane;
  /** Gives parts of it back when the export ends. */
  opened: Set<AsyncGenerator<unknown>>;
  signal: AbortSignal | undefined;
}
