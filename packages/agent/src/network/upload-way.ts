import { pause } from "../loops/wake-signal.ts";
import type { InterfaceRules } from "../settings/interface-rules.ts";
import { dependOnMetered, refusalOf } from "./judge-interface.ts";
import { isMetered } from "./metered.ts";
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
