import { type Command, InvalidArgumentError } from "commander";
import type { Deps } from "../../calls/context/context.ts";
import { states } from "../../db/generated/states.ts";
import { setIndexing } from "./set-indexing.ts";

const strategies = states.Site.indexingStrategy;
type Strategy = (typeof strategies)[number];

interface Deployment {
  /** Opens the database and the stores, even beside a running control plane. */
  beside(use: (deps: Deps) => Promise<void>): Promise<void>;
}

export function addIndexingCommand(site: Command, deployment: Deployment): void {
  site
    .command("indexing <site> [strategy]")
    .description(
      "say whether a self-hosted site makes a file for each topic (split-files) or not (whole-files); without it, only print",
    )
    .action((name: string, strategy?: string) => run(deployment, name, strategy));
}

function run(deployment: Deployment, name: string, text: string | undefined): Promise<void> {
  const strategy = text === undefined ? undefined : readStrategy(text);
  return deployment.beside(async (deps) => {
    const now = await setIndexing(deps, { name, strategy });
    process.stdout.write(`${now.strategy}, ${now.listed} recordings with files by topic\n`);
    for (const refused of now.refused) process.stdout.write(`refused ${refused}\n`);
  });
}

function readStrategy(text: string): Strategy {
  const strategy = strategies.find((one) => one === text);
  if (strategy) return strategy;
  throw new InvalidArgumentError(`One of ${strategies.join(", ")}.`);
}
