import { compileGlobs } from "@downlink/protocol/globs";
import type { InterfaceRules } from "../settings/interface-rules.ts";

const METERED = "metered";

/** Returns whether it matters that an interface is metered: to find that out, the agent has to run a program. */
export function dependOnMetered({ allowed, denied }: InterfaceRules): boolean {
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
