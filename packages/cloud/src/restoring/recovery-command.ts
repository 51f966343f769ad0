import type { Command } from "commander";
import type { Deps } from "../calls/context/context.ts";
import { CommandError } from "../core/command-error.ts";
import { requireUsable } from "../store/bucket-uploads/open-store.ts";
import { addressOf, type StoreSettings } from "../store/bucket-uploads/store-address.ts";
import { acceptMissing } from "./adoption/accept-missing.ts";
import { describeWalk } from "./adoption/describe-walk.ts";
import { acceptStore, confirmDeletion, describeRecovery, endByHand } from "./adoption/recover-by-hand.ts";
import { describeMove } from "./copying/current-move.ts";
import { rebuild } from "./rebuilding/rebuild.ts";

type Use = (deps: Deps, config: StoreSettings, stopped: Promise<void>) => Promise<void>;

interface Deployment {
  /** Opens the database and the store, even beside a running control plane. */
  beside(use: Use): Promise<void>;
}

interface Flags {
  readonly acceptStore: boolean;
  readonly acceptMissing: boolean;
  readonly fromStore: boolean;
  readonly yes: boolean;
  readonly end: boolean;
  readonly confirm: boolean;
}

export function addRecoveryCommand(admin: Command, { beside }: Deployment): void {
  admin
    .command("recovery")
    .description("show whether database and object store belong together, and what a restore left to do")
    .option("--accept-store", "go on with the object store as it is, whatever it was before", false)
    .option("--accept-missing", "mark recordings whose objects are missing, however many there are", false)
    .option("--from-store", "show what an empty database can be made of, if the former one is lost", false)
    .option("--yes", "with --from-store: make it", false)
    .option("--end", "end recovering: what is still missing never comes back", false)
    .option("--confirm", "let devices delete again by their rules, before the day after a restore is over", false)
    .action((flags: Flags) =>
      beside(async (deps, config, stopped) => {
        await change(deps, flags, stopped);
        if (!flags.fromStore || flags.yes) await describe(deps, config);
      }),
    );
}

const write = (line: string) => void process.stdout.write(`${line}\n`);

async function change(deps: Deps, { end, confirm, yes, ...flags }: Flags, stopped: Promise<void>): Promise<void> {
  if (yes && !flags.fromStore) throw new CommandError("--yes goes with --from-store");
  if (flags.acceptStore) await acceptStore(deps);
  if (flags.acceptMissing) await acceptMissing(deps);
  if (flags.fromStore) await rebuildUntil(stopped, (signal) => rebuild(deps, { isDoing: yes, write, signal }));
  if (end) await endByHand(deps);
  if (confirm) await confirmDeletion(deps);
}

async function rebuildUntil(stopped: Promise<void>, act: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort(new CommandError("told to stop; the same command goes on")));
  await act(stopping.signal);
}

/** No process starts over a store that does not do what it must, so nothing is said of one either. */
async function describe(deps: Deps, config: StoreSettings): Promise<void> {
  await requireUsable(addressOf(config), deps.log);
  const lines = [...(await describeRecovery(deps)), ...(await describeWalk(deps)), ...(await describeMove(deps.db))];
  for (const line of lines) write(line);
}
