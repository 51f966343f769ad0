import { compilePattern } from "@downlink/protocol/globs";
import type { PathPolicy } from "./path-policies.ts";

export type Judgement =
  | { readonly type: "ignore" }
  /** The name of its device, if the policy names one. */
  | { readonly type: "import"; readonly deviceName: string | undefined };

export type Judge = (name: string) => Judgement;

const IGNORE = { type: "ignore" } as const;

/** Without a policy everything is imported; of a policy the first rule that fits counts, and what none fits is ignored. */
export function judgeBy(policy: Pick<PathPolicy, "rules"> | undefined): Judge {
  if (!policy) return () => ({ type: "import", deviceName: undefined });
  const rules = policy.rules.map(({ pattern, action }) => ({ ...compilePattern(pattern), action }));
  return (name) => {
    const rule = rules.find(({ fits }) => fits(name));
    if (rule?.action.type !== "import") return IGNORE;
    const { nameTemplate } = rule.action;
    return { type: "import", deviceName: nameTemplate && fillTemplate(nameTemplate, () => rule.partsOf(name)) };
  };
}

function fillTemplate(template: string, findParts: () => readonly string[]): string {
  if (!/\{\d+\}/.test(template)) return template;
  const parts = findParts();
  return template.replace(/\{(\d+)\}/g, (_, number) => parts[Number(number) - 1] ?? "");
}
