import { ApiKey, api, EVERY_CAPABILITY } from "@downlink/protocol";
import type { Command } from "commander";
import type { Ctx, Deps } from "../calls/context/context.ts";
import { apiKeys, shownKey } from "../organization/api-keys/api-keys.ts";
import { act, operatorOf } from "./act-as-operator.ts";
import { linesOf, print, toTime } from "./print-rows.ts";
import { readEveryPage } from "./read-every-page.ts";

interface Deployment {
  /** Opens the database, even beside a running control plane. */
  beside(use: (deps: Deps) => Promise<void>): Promise<void>;
}

interface Flags {
  readonly create?: string;
  readonly enable?: string;
  readonly disable?: string;
  readonly delete?: string;
  readonly json: boolean;
}

type NewKey = Parameters<typeof apiKeys.create>[1];

const bound = { contract: api.apiKeys, handlers: apiKeys, shown: shownKey };

export function addKeyCommand(admin: Command, { beside }: Deployment): void {
  admin
    .command("keys <organization>")
    .description("list the API keys of an organization, by its id or name; change what is given")
    .option("--create <name>", "make a key that may do everything, and print it: the way back in if all are lost")
    .option("--enable <id>", "let a key be used again")
    .option("--disable <id>", "refuse a key from now on")
    .option("--delete <id>", "remove a key, with the sessions and view links that it made")
    .option("--json", "print each key as a line of JSON, as the API answers it", false)
    .addHelpText(
      "after",
      "\nExamples:\n  downlink admin keys acme\n  downlink admin keys acme --disable key_01h455vb4pex",
    )
    .action((organization: string, flags: Flags) =>
      beside(async (deps) => {
        const ctx = await operatorOf(deps, organization);
        await change(ctx, flags);
        const rows = await readEveryPage<ApiKey>((page) => apiKeys.list(ctx, page));
        const none = "there is no API key; --create makes one";
        print(linesOf(rows, { json: flags.json, schema: ApiKey, describe, none }));
      }),
    );
}

async function change(ctx: Ctx, flags: Flags): Promise<void> {
  if (flags.create !== undefined) {
    const key = { name: flags.create, capabilities: [EVERY_CAPABILITY], projectIds: [] } satisfies NewKey;
    const made = await act(ctx, [bound, "create"], key);
    process.stderr.write(`API key (shown once): ${(made as ApiKey).token}\n`);
  }
  if (flags.enable !== undefined) await act(ctx, [bound, "update"], { id: flags.enable, enabled: true });
  if (flags.disable !== undefined) await act(ctx, [bound, "update"], { id: flags.disable, enabled: false });
  if (flags.delete !== undefined) await act(ctx, [bound, "delete"], { id: flags.delete });
}

function describe({ id, name, enabled, capabilities, projectIds, lastUsedAt, hint, ...key }: ApiKey): string {
  const may = capabilities.includes(EVERY_CAPABILITY) ? "everything" : `${capabilities.length} capabilities`;
  const where = projectIds.length === 0 ? "all projects" : `${projectIds.length} projects`;
  const used = lastUsedAt === undefined ? "never used" : `last used ${toTime(lastUsedAt)}`;
  const state = enabled ? "" : "disabled, ";
  const former = key.createdByFormerAdmin ? ", made by a former admin" : "";
  return `${id}  "${name}" …${hint ?? ""}: ${state}${may} in ${where}, ${used}${former}`;
}
