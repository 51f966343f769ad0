import type { IngestPathRule } from "@downlink/protocol";
import { checkPattern, countWildcards } from "@downlink/protocol/globs";
import { invalid } from "../../core/errors.ts";

const PLACE = /\{(\d+)\}/g;

/** Throws a 400 that names the first rule with a pattern that is no glob, or with a template that names more than its pattern has. */
export function requireRules(rules: readonly IngestPathRule[]): void {
  for (const [at, { pattern, action }] of rules.entries()) {
    requirePattern(pattern, `rules.${at}.pattern`);
    const { nameTemplate } = action;
    if (nameTemplate !== undefined) requireTemplate(nameTemplate, { pattern, path: `rules.${at}.action.nameTemplate` });
  }
}

function requirePattern(pattern: string, path: string): void {
  try {
    checkPattern(pattern);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    invalid(path, `must be a glob: ${error.message}`);
  }
}

function requireTemplate(
  template: string,
  { pattern, path }: { readonly pattern: string; readonly path: string },
): void {
  const wildcards = countWildcards(pattern);
  for (const [place, number] of template.matchAll(PLACE))
    if (Number(number) < 1 || Number(number) > wildcards)
      invalid(path, `must not have ${place}: the pattern has ${wildcards} wildcards`);
}
