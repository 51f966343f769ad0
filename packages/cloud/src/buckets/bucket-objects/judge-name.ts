import { compilePattern } from "@downlink/protocol/globs";
import type { PathPolicy } from "./stored-policy.ts";

export type Judgement = {
  /** Which rule of the policy decided, from 0 on; undefined: none fits, or there is no policy. */
  readonly rule: number | undefined;
} & (
  | { readonly type: "ignore" }
  /** The name of its device, if the policy names one. */
  | { readonly type: "import"; readonly deviceName: string | undefined }
);

export type Judge = (name: string) => Judgement;

/** Without a policy everything is imported; of a policy the first rule that fits counts, and what none fits is ignored. */
export function judgeBy(policy: Pick<PathPolicy, "rules"> | undefined): Judge {
  if (!policy) return () => ({ rule: undefined, type: "import", deviceName: undefined });
  const rules = policy.rules.map(({ pattern, action }) => ({ ...compilePattern(pattern), action }));
  return (name) => {
    const at = rules.findIndex(({ fits }) => fits(name));
    const found = rules[at];
    const rule = found && at;
    if (found?.action.type !== "import") return { rule, type: "ignore" };
    const { nameTemplate } = found.action;
    return { rule, type: "import", deviceName: nameTemplate && fillTemplate(nameTemplate, () => found.partsOf(name)) };
  };
}

function fillTemplate(template: string, findParts: () => readonly string[]): string {
  if (!/\{\d+\}/.test(template)) return template;
  const parts = findParts();
  return template.replace(/\{(\d+)\}/g, (_, number) => parts[Number(number) - 1] ?? "");
}
