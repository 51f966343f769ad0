import type { Command } from "commander";
import type { Deps } from "../calls/context/context.ts";
import { addDeviceCommand } from "./add-device-command.ts";
import { addImportCommand } from "./import-command.ts";
import { addKeyCommand } from "./key-command.ts";
import { addMemberCommand } from "./member-command.ts";
import { addStatusCommand } from "./status-command.ts";
import { addTokenCommand } from "./token-command.ts";
import { addWebhookCommand } from "./webhook-command.ts";

interface Deployment {
  /** Opens the database and the stores, even beside a running control plane. */
  beside(use: (deps: Deps, config: { readonly databaseUrl: string | undefined }) => Promise<void>): Promise<void>;
}

/** Adds the commands for what organizations have, and the one that shows how the deployment is. */
export function addOrganizationCommands(admin: Command, deployment: Deployment): void {
  addStatusCommand(admin, deployment);
  addDeviceCommand(admin, deployment);
  addKeyCommand(admin, deployment);
  addTokenCommand(admin, deployment);
  addMemberCommand(admin, deployment);
  addImportCommand(admin, deployment);
  addWebhookCommand(admin, deployment);
}
