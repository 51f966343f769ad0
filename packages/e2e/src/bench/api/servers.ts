import { fileURLToPath } from "node:url";
import { type Program, startProgram } from "../../processes/program.ts";

export interface Usage {
  readonly statements: number;
  /** Microseconds of the processor. */
  readonly us: number;
}

export interface MeasuredServer {
  readonly port: number;
  /** Returns the usage since the server's start. */
  usage(): Promise<Usage>;
}

const nodeArgs = ["--import", fileURLToPath(new URL("report-usage.ts", import.meta.url))];

/** Starts the control plane as `downlink serve` does, over the database and the objects of a running one. */
export async function startMeasuredCloud(
  closing: AsyncDisposableStack,
  { databaseUrl, dataDir, adminKey }: { databaseUrl: string; dataDir: string; adminKey: string },
): Promise<MeasuredServer> {
  const env = {
    DATABASE_URL: databaseUrl,
    DOWNLINK_ADMIN_KEY: adminKey,
    DOWNLINK_PORT: "0",
    DOWNLINK_DATA_DIR: dataDir,
    DOWNLINK_RATE_LIMIT: "1000000000",
  };
  return measured(closing, startProgram({ script: "cloud/src/main.ts", args: ["serve"], env, nodeArgs }));
}

export function startReference(closing: AsyncDisposableStack, databaseUrl: string): Promise<MeasuredServer> {
  const env = { DATABASE_URL: databaseUrl };
  return measured(closing, startProgram({ script: "e2e/src/bench/api/reference/server.ts", args: [], env, nodeArgs }));
}

async function measured(closing: AsyncDisposableStack, program: Program): Promise<MeasuredServer> {
  closing.defer(async () => void (await program.end("SIGKILL")));
  const { port } = new URL(/http:\S+/.exec(await program.line(/ serves at /))![0]);
  let asked = 0;
  return {
    port: Number(port),
    async usage() {
      asked += 1;
      process.kill(program.pid, "SIGUSR2");
      const line = await program.line(new RegExp(`^usage ${asked}:`));
      const [statements, us] = line.match(/\d+/g)!.slice(1).map(Number);
      return { statements: statements!, us: us! };
    },
  };
}
