import { execFile } from "node:child_process";
import { compileGlobs } from "@downlink/protocol/globs";
import { pause } from "../loops/wake-signal.ts";
import type { InterfaceRules } from "../settings/interface-rules.ts";
import { findInterface } from "./route.ts";

/** Whether the way to the control plane is one that uploads may take. */
export interface UploadWay {
  /** Looks at intervals, until aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** The interface that the last look found; undefined before it. */
  interfaceName(): string | undefined;
  /** Why uploads have to wait; undefined where they need not. */
  refusal(): string | undefined;
}

const LOOK_EVERY_MS = 10_000;
const NMCLI_TIMEOUT_MS = 3000;
const METERED = "metered";

/** Nothing is uploaded before the first look, because the way may be a forbidden one. */
export function createUploadWay(ctx: { url: string; rules: InterfaceRules; onChange: () => void }): UploadWay {
  let interfaceName: string | undefined;
  let refusal: string | undefined = "the way to the control plane is not known yet";
  return {
    async run(signal) {
      while (!signal.aborted) {
        const [nameBefore, refusalBefore] = [interfaceName, refusal];
        interfaceName = await findInterface(ctx.url);
        refusal = await judgeWay(ctx.rules, interfaceName);
        if (interfaceName !== nameBefore || refusal !== refusalBefore) ctx.onChange();
        await pause(LOOK_EVERY_MS, signal);
      }
    },
    interfaceName: () => interfaceName,
    refusal: () => refusal,
  };
}

/** Says why uploads may not take a way; undefined where they may. */
export async function judgeWay(rules: InterfaceRules, name: string | undefined): Promise<string | undefined> {
  if (name === undefined) return "there is no way to the control plane";
  return refusalOf(rules, { name, isMetered: dependOnMetered(rules) && (await isMetered(name)) });
}

/** Returns whether it matters that an interface is metered: to find that out, the agent has to run a program. */
function dependOnMetered({ allowed, denied }: InterfaceRules): boolean {
  return [...allowed, ...denied].includes(METERED);
}

/** Says why uploads may not go through an interface; undefined where they may. */
export function refusalOf(
  { allowed, denied }: InterfaceRules,
  { name, isMetered }: { name: string; isMetered: boolean },
): string | undefined {
  const fits = (term: string) => (term === METERED ? isMetered : compileGlobs([term], { isCaseSensitive: true })(name));
  if (denied.some(fits)) return isMetered && denied.includes(METERED) ? `${name} is metered` : `${name} is denied`;
  return allowed.length === 0 || allowed.some(fits) ? undefined : `${name} is not among the allowed interfaces`;
}

/** Returns whether NetworkManager takes an interface for metered; false where there is no NetworkManager. */
export function isMetered(interfaceName: string): Promise<boolean> {
  const args = ["-g", "GENERAL.METERED", "device", "show", interfaceName];
  return new Promise((resolve) => {
    execFile("nmcli", args, { timeout: NMCLI_TIMEOUT_MS, env: { ...process.env, LC_ALL: "C" } }, (error, stdout) =>
      resolve(!error && stdout.trim().startsWith("yes")),
    );
  });
}
