import { existsSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { PROBE_NAME } from "../deleting/change-probe.ts";
import { settleIntents } from "../deleting/settle-intents.ts";
import { listTrash } from "../deleting/trash.ts";
import { createLog } from "../diagnostics/log.ts";
import { TRASH_NAME } from "../files/scan.ts";
import { openStorageRoot } from "../files/storage-root.ts";
import { requireSetting, type Settings } from "../settings/settings.ts";
import { openAgentState } from "../state/agent-state.ts";
import { databasePath } from "../state/database.ts";
import { systemClock } from "../system/clock.ts";

/**
 * Puts all files back that are on their way to be deleted, for an agent that will not run again. Returns how many lie in the trash still;
 * undefined where the storage root is not there. Throws `StateRefusedError` while an agent runs.
 */
export async function putBack(settings: Settings): Promise<number | undefined> {
  const { stateDir, stateGroup: group, adoptsCards } = settings;
  if (!existsSync(databasePath(stateDir))) return 0;
  const log = createLog({ format: "text", level: "warn", out: process.stderr });
  using state = openAgentState(stateDir, { clock: systemClock, log, group });
  const root = requireSetting(settings, "storageRoot");
  const storageRoot = openStorageRoot(root, { ...state, clock: systemClock, adoptsCards: () => adoptsCards });
  const storage = await storageRoot.find();
  if (!storage) return undefined;
  const isRootThere = async () => (await storageRoot.find()) !== undefined;
  await settleIntents({ inventory: state.inventory, storage, isRootThere, nowNs: systemClock.nowNs() });
  const trash = join(root, TRASH_NAME);
  const left = (await listTrash(trash)).filter((entry) => basename(entry) !== PROBE_NAME);
  if (left.length === 0) await rmdir(trash).catch(() => undefined); // It may not be there, or hold what is not ours.
  return left.length;
}
