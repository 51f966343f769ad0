import type { IngestPathRule } from "@downlink/protocol";

/** Moves a rule up or down: the first one that matches an object decides. At an end it stays. */
export function moveRule(rules: readonly IngestPathRule[], at: number, by: -1 | 1): readonly IngestPathRule[] {
  const to = at + by;
  if (to < 0 || to >= rules.length) return rules;
  const moved = [...rules];
  moved.splice(to, 0, ...moved.splice(at, 1));
  return moved;
}

export interface RuleFields {
  readonly pattern?: string;
  readonly type?: "ignore" | "import";
  readonly nameTemplate?: string;
}

/** Changes some fields of a rule. Fields of a later version stay; a rule that ignores objects names no device. */
export function changeRule(rule: IngestPathRule, { pattern, type, nameTemplate }: RuleFields): IngestPathRule {
  const { nameTemplate: before, ...action } = rule.action;
  const kept = { ...action, type: type ?? rule.action.type };
  const template = nameTemplate ?? before;
  const named = kept.type === "import" && template ? { ...kept, nameTemplate: template } : kept;
  return { ...rule, pattern: pattern ?? rule.pattern, action: named };
}

export function isSamePolicy(a: readonly IngestPathRule[], b: readonly IngestPathRule[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
