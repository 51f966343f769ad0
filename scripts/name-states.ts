// Gives the columns of states their types in the generated database client, after `generate-client.ts` has written it.
//
// A state is text in the database, under a CHECK, and not an enum of Postgres: to change the type of a column rewrites its table with
// all indexes under a lock that stops everything (minutes for 1,000,000 recordings), every trigger and partial index on it would have
// to be dropped before, and raw SQL would have to cast each text that it compares. A CHECK is added in a moment.
//
// The one list of the states of a column stands in prisma/schema: /// @kyselyType("first" | "second"). The tables of Kysely follow it
// by themselves. This script makes Prisma's models follow it, and writes the lists into states.ts, for what needs them as values.
// A migration gives the column its CHECK, and packages/cloud/src/db/states.test.ts compares the two.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "..");
const GENERATED = join(ROOT, "packages", "cloud", "src", "db", "generated");

interface Column {
  readonly model: string;
  readonly field: string;
  readonly states: readonly string[];
}

const columns = globSync("prisma/schema/*.prisma", { cwd: ROOT })
  .sort()
  .flatMap((path) => readColumns(readFileSync(join(ROOT, path), "utf8")));
writeFileSync(join(GENERATED, "states.ts"), listStates(columns));
for (const [model, ofModel] of Map.groupBy(columns, (column) => column.model)) nameStates(model, ofModel);

function readColumns(schema: string): Column[] {
  return [...schema.matchAll(/^model (\w+) \{$([\s\S]*?)^\}$/gm)].flatMap(([, model, body]) =>
    [...body!.matchAll(/\/\/\/ @kyselyType\((.*)\)\n\s+(\w+)\s+String/g)].map(([, union, field]) => ({
      model: model!,
      field: field!,
      states: union!.split("|").map((state) => JSON.parse(state)),
    })),
  );
}

function listStates(all: readonly Column[]): string {
  const lists: Record<string, Record<string, readonly string[]>> = {};
  for (const { model, field, states } of all) lists[model] = { ...lists[model], [field]: states };
  return `/** Of each column of states, by model: what it may hold. Written by scripts/name-states.ts */
export const states = ${JSON.stringify(lists, undefined, 2)} as const;

export type StateFilter<State> =
  | State
  | { equals?: State; in?: State[]; notIn?: State[]; not?: StateFilter<State> };
`;
}

/** Prisma writes its types with one property on each line. */
function nameStates(model: string, ofModel: readonly Column[]): void {
  const path = join(GENERATED, "models", `${model}.ts`);
  let text = readFileSync(path, "utf8");
  for (const { field, states } of ofModel) {
    const state = states.map((one) => JSON.stringify(one)).join(" | ");
    const replaced = text
      .replace(new RegExp(`^(\\s+${field}\\??): string( \\| null)?$`, "gm"), `$1: (${state})$2`)
      .replace(
        new RegExp(
          `^(\\s+${field}\\?): Prisma\\.(?:Nullable)?StringFieldUpdateOperationsInput \\| string( \\| null)?$`,
          "gm",
        ),
        `$1: { set?: (${state})$2 } | ${state}$2`,
      )
      .replace(
        new RegExp(
          `^(\\s+${field}\\?): Prisma\\.String(?:Nullable)?(?:WithAggregates)?Filter<"${model}"> \\| string( \\| null)?$`,
          "gm",
        ),
        `$1: StateFilter<(${state})$2>`,
      );
    const left = replaced.match(new RegExp(`^\\s+${field}\\??: (.*[^"])?\\bstring\\b(?!").*$`, "m"));
    if (left) throw new Error(`prisma generates ${left[0]} in ${path}, which this script does not know`);
    text = replaced;
  }
  writeFileSync(
    path,
    text.replace(/^import type \* as runtime/m, `import type { StateFilter } from "../states.ts"\n$&`),
  );
}
