import { accessSync, constants, mkdirSync } from "node:fs";
import type { Log } from "../diagnostics/log.ts";
import { createProblemBoard, type Problem, type ProblemBoard, problemTexts } from "../diagnostics/problems.ts";
import { type Inventory, openInventory } from "../inventory/inventory.ts";
import type { Settings } from "../settings/settings.ts";
import type { Clock } from "../system/clock.ts";
import { readMachineId } from "../system/machine-id.ts";
import { noteAgentSettings } from "./agent-settings.ts";
import { openDatabase } from "./database.ts";
import { lockStateDir } from "./lock.ts";
import { shareState } from "./share-state.ts";
import { openStateFacts, type StateFacts } from "./state-facts.ts";

/** The contents of the state directory, locked against other agents until disposed. */
export interface AgentState extends Disposable {
  readonly inventory: Inventory;
  readonly facts: StateFacts;
  readonly problems: ProblemBoard;
}

export interface StateContext {
  readonly apiUrl?: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The members of this group may read the state. */
  readonly group: string;
  /** The settings are recorded for those who read the state. */
  readonly settings?: Settings;
}

/**
 * Throws `StateRefusedError` when another agent runs with the state. With `apiUrl`, binds the state to this machine and that
 * control plane, and throws also when it belongs to others.
 */
export function openAgentState(stateDir: string, ctx: StateContext): AgentState {
  mkdirSync(stateDir, { recursive: true, mode: 0o750 });
  accessSync(stateDir, constants.W_OK | constants.X_OK); // SQLite's own message would not name the place.
  using stack = new DisposableStack();
  stack.use(lockStateDir(stateDir));
  const problems = createProblemBoard(ctx.clock, (problem, isOver) => logProblem(ctx.log, problem, isOver));
  const { database, setAsideAs } = openDatabase(stateDir);
  stack.use(database);
  if (setAsideAs) problems.raise("StateSetAside", `kept as ${setAsideAs}`);
  const facts = openStateFacts(database, stateDir);
  if (ctx.apiUrl !== undefined) facts.bind({ machineId: readMachineId(), apiUrl: ctx.apiUrl });
  if (ctx.settings) noteAgentSettings(database, ctx.settings);
  shareState(stateDir, ctx.group);
  const inventory = openInventory(database, () => problems.clear("StateUnwritable"));
  const opened = stack.move();
  return { inventory, facts, problems, [Symbol.dispose]: () => opened.dispose() };
}

function logProblem(log: Log, { code, detail }: Problem, isOver: boolean): void {
  if (isOver) log.info({ code }, `over: ${problemTexts[code].title}`);
  else log.warn({ code, detail }, problemTexts[code].title);
}
