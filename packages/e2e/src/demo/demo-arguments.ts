import { statSync } from "node:fs";
import { parseArgs } from "node:util";

export interface DemoArguments {
  /** Leaves everything running. */
  readonly keep: boolean;
  /** Runs a self-hosted site, too. */
  readonly sites: boolean;
  /** The address to which the events are sent. */
  readonly webhook: string | undefined;
  /** Recordings of the caller. */
  readonly files: readonly string[];
}

const USAGE = "npm run demo -- [--keep] [--sites] [--webhook URL] [FILE.mcap|FILE.bag …]";

/** Reads the arguments. Prints what is wrong with them and ends the process with 2 if anything is. */
export function readDemoArguments(args: readonly string[]): DemoArguments {
  try {
    const { values, positionals: files } = parseArgs({
      args: args.filter((arg) => arg !== "--"),
      options: {
        keep: { type: "boolean", default: false },
        sites: { type: "boolean", default: false },
        webhook: { type: "string" },
      },
      allowPositionals: true,
    });
    if (values.webhook !== undefined && !URL.canParse(values.webhook))
      throw new TypeError(`--webhook ${values.webhook} is no address such as http://127.0.0.1:9000/hooks`);
    for (const file of files)
      if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new TypeError(`there is no file ${file}`);
    return { ...values, webhook: values.webhook, files };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    process.stderr.write(`demo: ${error.message}\nusage: ${USAGE}\n`);
    process.exit(2);
  }
}
