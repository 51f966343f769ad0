import { api, DeviceToken, InboxToken, SiteToken } from "@downlink/protocol";
import type { Command } from "commander";
import { z } from "zod";
import type { Ctx, Deps } from "../calls/context/context.ts";
import { CommandError } from "../core/command-error.ts";
import { deviceTokens } from "../fleet/device-tokens/device-tokens.ts";
import { inboxTokens, shownInboxToken } from "../fleet/sites/inbox-tokens.ts";
import { shownSiteToken, siteTokens } from "../fleet/sites/site-tokens.ts";
import { act, operatorOf } from "./act-as-operator.ts";
import { linesOf, print, toTime } from "./print-rows.ts";
import { readEveryPage } from "./read-every-page.ts";

interface Deployment {
  /** Opens the database, even beside a running control plane. */
  beside(use: (deps: Deps) => Promise<void>): Promise<void>;
}

interface Flags {
  readonly enable?: string;
  readonly disable?: string;
  readonly delete?: string;
  readonly json: boolean;
}

const Token = z.union([DeviceToken, InboxToken, SiteToken]);
type Token = z.infer<typeof Token>;

const device = { contract: api.deviceTokens, handlers: deviceTokens };
const site = { contract: api.siteTokens, handlers: siteTokens, shown: shownSiteToken };
const inbox = { contract: api.inboxTokens, handlers: inboxTokens, shown: shownInboxToken };

export function addTokenCommand(admin: Command, { beside }: Deployment): void {
  admin
    .command("tokens <organization>")
    .description(
      "list the tokens of an organization's devices, sites and inboxes, by its id or name; change what is given",
    )
    .option("--enable <id>", "let the token of a device be used again")
    .option("--disable <id>", "refuse the token of a device from now on")
    .option("--delete <id>", "remove any of these tokens")
    .option("--json", "print each token as a line of JSON, as the API answers it", false)
    .addHelpText(
      "after",
      "\nExamples:\n  downlink admin tokens acme\n  downlink admin tokens acme --delete st_01h455vb4pex",
    )
    .action((organization: string, flags: Flags) =>
      beside(async (deps) => {
        const ctx = await operatorOf(deps, organization);
        await change(ctx, flags);
        const tokens = [
          ...(await readEveryPage<Token>((page) => deviceTokens.list(ctx, page))),
          ...(await readEveryPage<Token>((page) => siteTokens.list(ctx, page))),
          ...(await readEveryPage<Token>((page) => inboxTokens.list(ctx, page))),
        ];
        print(linesOf(tokens, { json: flags.json, schema: Token, describe, none: "there is no token" }));
      }),
    );
}

async function change(ctx: Ctx, flags: Flags): Promise<void> {
  if (flags.enable !== undefined) await act(ctx, [device, "update"], { id: flags.enable, enabled: true });
  if (flags.disable !== undefined) await act(ctx, [device, "update"], { id: flags.disable, enabled: false });
  if (flags.delete !== undefined) await remove(ctx, flags.delete);
}

/** The beginning of an id says what it names. */
async function remove(ctx: Ctx, id: string): Promise<void> {
  if (id.startsWith("dt_")) await act(ctx, [device, "delete"], { id });
  else if (id.startsWith("st_")) await act(ctx, [site, "delete"], { id });
  else if (id.startsWith("snt_")) await act(ctx, [inbox, "delete"], { id });
  else throw new CommandError(`there is no token ${id}: ids of tokens begin with dt_, st_ or snt_`);
}

function describe(token: Token): string {
  const used = token.lastUsedAt === undefined ? "never used" : `last used ${toTime(token.lastUsedAt)}`;
  return `${token.id}  …${token.hint ?? ""}: ${purposeOf(token)}, ${used}`;
}

function purposeOf(token: Token): string {
  if ("preapproved" in token) {
    const whose = token.deviceId === null ? `makes devices in ${token.projectId}` : `device ${token.deviceId}`;
    return token.enabled ? whose : `disabled, ${whose}`;
  }
  return "orgId" in token ? `notifications of site ${token.siteId}` : `site ${token.siteId}`;
}
