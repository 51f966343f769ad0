import { rm } from "node:fs/promises";
import { api, type SalvageFailure, type WantedSalvage } from "@downlink/protocol";
import { SalvageEmptyError } from "@downlink/recordings";
import { PARTIAL, SALVAGE_DIRECTORY } from "../files/made-path.ts";
import type { Storage } from "../files/open-tracked.ts";
import type { WakeSignal } from "../loops/wake-signal.ts";
import { type Making, type MakingContext, makeFiles, namesIn } from "../making/make-files.ts";
import { MadeEmptyError } from "../making/write-made-file.ts";
import { writeSalvage } from "./write-salvage.ts";

export interface SalvageContext extends MakingContext {
  readonly salvageSignal: WakeSignal;
}

/** Makes one salvage after the other, as long as they are wanted, until aborted. */
export async function runSalvages(ctx: SalvageContext, signal: AbortSignal): Promise<void> {
  const { session, board, inventory, salvageSignal: woken } = ctx;
  let isClean = false;
  const making: Making<WantedSalvage, SalvageFailure> = {
    ...{ examination: "salvage", woken, wanted: board.salvages, made: "what is readable of a file was salvaged" },
    codes: {
      ...({ gone: "FileGone", unreadable: "FileUnreadable", noRoom: "NoSpace" } as const),
      ...({ broken: "NothingReadable", nothing: "NothingReadable" } as const),
    },
    isNothing: (error) => error instanceof SalvageEmptyError || error instanceof MadeEmptyError,
    isReady: ({ state }) => state === "incomplete" || state === "damaged",
    write: ({ request: _, ...job }) => writeSalvage({ ...job, reason: inventory.findings(job.file.versionId)?.reason }),
    giveUp: (request, why, signal) => session.call(api.edge.failSalvage, { ...request, ...why }, { signal }),
    async clean(storage) {
      if (!isClean) await removeLeftovers(storage);
      isClean = true;
    },
  };
  await makeFiles(ctx, making, signal);
}

/** Removes once, as soon as the storage root is there, salvages during which an earlier process was killed. No other file is touched. */
async function removeLeftovers(storage: Storage): Promise<void> {
  for (const id of await namesIn(storage, SALVAGE_DIRECTORY)) {
    const directory = `${SALVAGE_DIRECTORY}/${id}`;
    const partials = (await namesIn(storage, directory)).filter((name) => name.endsWith(PARTIAL));
    for (const name of partials) await rm(`${storage.root}/${directory}/${name}`, { force: true });
  }
}
