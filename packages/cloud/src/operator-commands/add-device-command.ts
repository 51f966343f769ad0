import { hostname } from "node:os";
import { api, type Device, type DeviceToken } from "@downlink/protocol";
import type { Command } from "commander";
import type { Ctx, Deps } from "../calls/context/context.ts";
import { CommandError } from "../core/command-error.ts";
import { deviceTokens } from "../fleet/device-tokens/device-tokens.ts";
import { devices } from "../fleet/devices/devices.ts";
import { act, operatorIn, operatorOf } from "./act-as-operator.ts";

interface Deployment {
  /** Opens the database, even beside a running control plane. */
  beside(use: (deps: Deps) => Promise<void>): Promise<void>;
}

interface Flags {
  readonly organization?: string;
  readonly project?: string;
  readonly storageRoot: string;
  readonly url?: string;
}

export function addDeviceCommand(admin: Command, { beside }: Deployment): void {
  admin
    .command("add-device <name>")
    .description("make a device with a token, and print the one command that joins the robot")
    .option("--organization <organization>", "its id or name, where there are several")
    .option("--project <project>", "its id or name, where there are several")
    .option("--storage-root <dir>", "the folder of the recordings on the robot", "/data/recordings")
    .option("--url <address>", "the address by which the robot reaches this control plane; else DOWNLINK_PUBLIC_URL")
    .addHelpText("after", "\nExample:\n  downlink admin add-device rover-1 --url https://downlink.example.org")
    .action((name: string, flags: Flags) =>
      beside(async (deps) => {
        const ctx = await organizationOf(deps, flags.organization);
        const projectId = await projectOf(ctx, flags.project);
        const device = (await act(ctx, [{ contract: api.devices, handlers: devices }, "create"], {
          name,
          projectId,
          properties: undefined,
        })) as Device;
        const { token } = (await act(ctx, [{ contract: api.deviceTokens, handlers: deviceTokens }, "create"], {
          deviceId: device.id,
          projectId: undefined,
          enabled: true,
          preapproved: false,
          expiresAt: undefined,
        })) as DeviceToken;
        process.stdout.write(describe(device, { ...flags, token: token!, url: flags.url ?? toReachableUrl(deps) }));
      }),
    );
}

/** The only organization, unless one is named. */
async function organizationOf(deps: Deps, idOrName: string | undefined): Promise<Ctx> {
  if (idOrName !== undefined) return operatorOf(deps, idOrName);
  const [only, other] = await deps.db.prisma.organization.findMany({ take: 2, select: { id: true } });
  if (!only || other) throw new CommandError("there are several organizations; name one with --organization");
  return operatorIn(deps, only.id);
}

async function projectOf(ctx: Ctx, idOrName: string | undefined): Promise<string | undefined> {
  if (idOrName === undefined) return undefined;
  const { orgId } = ctx.caller;
  const where = { orgId, OR: [{ id: idOrName }, { name: idOrName }] };
  const project = await ctx.db.prisma.project.findFirst({ where });
  if (!project) throw new CommandError(`there is no project "${idOrName}"`);
  return project.id;
}

/** A robot cannot reach the address on which this machine listens for all of its own. */
function toReachableUrl({ publicUrl }: Deps): string {
  const url = new URL(publicUrl());
  if (["0.0.0.0", "[::]", "127.0.0.1", "localhost"].includes(url.hostname)) url.hostname = hostname();
  return url.href.replace(/\/$/, "");
}

function describe(
  { name, id }: Device,
  { token, url, storageRoot }: { token: string; url: string; storageRoot: string },
): string {
  const to = `--url ${url} --storage-root ${storageRoot}`;
  return [
    `Device ${name} (${id}) is made. Its token is shown once. On the robot, where the agent's package is installed:`,
    "",
    `  echo ${token} | sudo agent enroll ${to}`,
    "",
    "or in a checkout:",
    "",
    `  echo ${token} | npm run -s agent -- enroll ${to} --state-dir ./agent-state --config ./agent.env`,
    "",
  ].join("\n");
}
