import { type Program, startProgram } from "./program.ts";

export interface SelfHostedSite extends AsyncDisposable {
  readonly program: Program;
  readonly url: string;
}

interface Options {
  /** The address of the control plane. */
  readonly controlPlane: string;
  readonly token: string;
  readonly dataDir: string;
  /** Where the files lie, if that is not in the data folder. */
  readonly objectsDir?: string;
  /** A site that starts again listens where it did before. */
  readonly port?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts `downlink site`; it listens when this resolves, and connects to its control plane by itself. */
export async function startSelfHostedSite({
  controlPlane,
  token,
  dataDir,
  objectsDir,
  port = "0",
  env,
}: Options): Promise<SelfHostedSite> {
  const program = startProgram({
    script: "cloud/src/main.ts",
    args: ["site", "--url", controlPlane],
    env: {
      DOWNLINK_PORT: port,
      DOWNLINK_DATA_DIR: dataDir,
      DOWNLINK_OBJECTS_DIR: objectsDir,
      DOWNLINK_SITE_TOKEN: token,
      DOWNLINK_LOG_LEVEL: "warn",
      ...env,
    },
  });
  const serves = "Downlink serves a self-hosted site at ";
  const url = (await program.line(new RegExp(`^${serves}`))).replace(serves, "");
  return { program, url, [Symbol.asyncDispose]: async () => void (await program.end("SIGTERM")) };
}
