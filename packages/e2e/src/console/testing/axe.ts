import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Finds what keeps people from using a page: one line for each thing that axe objects to. */
export async function findBarriers(page: Page): Promise<string[]> {
  const source = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  await page.evaluate(source); // evaluated by the browser's own tools, which the policy of the page does not concern
  const violations = (await page.evaluate(async () => {
    const found = await (
      globalThis as never as { axe: { run(options: unknown): Promise<{ violations: unknown }> } }
    ).axe.run({
      resultTypes: ["violations"],
    });
    return found.violations;
  })) as Violation[];
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ html, failureSummary = "" }) => `${id}: ${help}\n  ${html}\n  ${failureSummary.replaceAll("\n", "\n  ")}`,
    ),
  );
}
