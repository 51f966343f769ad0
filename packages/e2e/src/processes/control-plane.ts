import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Client, createClient } from "@downlink/client";
import { undiciTransport } from "@downlink/client/node";
import { storeSettings } from "@downlink/cloud/testing";
import { type Program, startProgram } from "./program.ts";

export interface ControlPlane extends AsyncDisposable {
  readonly program: Program;
  readonly url: string;
  readonly adminKey: string;
  readonly admin: Client;
}

interface Options {
  readonly dataDir: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments for Node itself. */
  readonly nodeArgs?: readonly string[];
  /** The command that it runs; undefined: `all`. */
  readonly mode?: "all" | "serve";
}

/** Starts `downlink all`, or another mode, with its own Postgres under `dataDir`; it is ready when this resolves. */
export async function startControlPlane({ dataDir, env = {}, nodeArgs, mode = "all" }: Options): Promise<ControlPlane> {
  const program = startProgram({
    script: "cloud/src/main.ts",
    args: [mode],
    env: {
      DOWNLINK_PORT: "0",
      DOWNLINK_DATA_DIR: dataDir,
      DOWNLINK_LOG_LEVEL: "warn",
      ...storeSettings(dataDir),
      ...env,
    },
    ...(nodeArgs && { nodeArgs }),
  });
  const url = (await program.line(/^Downlink serves at /)).replace("Downlink serves at ", "");
  const adminKey = (await readFile(join(dataDir, "admin.key"), "utf8")).trim();
  const admin = createClient({ baseUrl: url, token: adminKey, transport: undiciTransport() });
  return { program, url, adminKey, admin, [Symbol.asyncDispose]: async () => void (await program.end("SIGTERM")) };
}
