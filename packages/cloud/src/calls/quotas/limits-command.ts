import { parseByteSize } from "@downlink/protocol/byte-size";
import { type Command, InvalidArgumentError } from "commander";
import type { Deps } from "../context/context.ts";
import { describeLimits, type OrganizationLimits, setQuotas } from "./set-quotas.ts";

interface Deployment {
  /** Opens the database, even beside a running control plane. */
  beside(use: (deps: Deps) => Promise<void>): Promise<void>;
}

interface Flags {
  readonly json: boolean;
  readonly storedBytes?: bigint | null;
  readonly recordings?: bigint | null;
  readonly exports?: bigint | null;
  readonly members?: bigint | null;
}

export function addLimitsCommand(admin: Command, { beside }: Deployment): void {
  admin
    .command("limits <organization>")
    .description("show what an organization, by its id or name, stores and may store; change what is given")
    .option("--stored-bytes <size>", "bytes of its files such as 2TB, or none", readSize)
    .option("--recordings <number>", "recordings with data, or none", readQuota)
    .option("--exports <number>", "exports at once in one process, or none", readQuota)
    .option("--members <number>", "members, or none; who is a member stays", readQuota)
    .option("--json", "print one object of JSON", false)
    .addHelpText(
      "after",
      "\nExamples:\n  downlink admin limits acme --stored-bytes 2TB --members 25\n  downlink admin limits acme --json",
    )
    .action((organization: string, flags: Flags) => beside((deps) => limit(deps, organization, flags)));
}

/** `null` removes a limit. */
function readQuota(text: string): bigint | null {
  if (text === "none") return null;
  if (/^\d{1,18}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError("A whole number, or none.");
}

function readSize(text: string): bigint | null {
  if (text === "none") return null;
  const bytes = parseByteSize(text);
  if (bytes !== undefined) return BigInt(bytes);
  throw new InvalidArgumentError("A size such as 2TB, 500GiB or a count of bytes, or none.");
}

async function limit(deps: Deps, organization: string, { json, storedBytes, ...counts }: Flags): Promise<void> {
  const toCount = (given: bigint | null | undefined) => (typeof given === "bigint" ? Number(given) : given);
  const changes = {
    maxStoredBytes: storedBytes,
    maxRecordings: toCount(counts.recordings),
    maxExports: toCount(counts.exports),
    maxMembers: toCount(counts.members),
  };
  const shown = await setQuotas(deps, organization, changes);
  if (shown) {
    process.stdout.write(json ? toJson(shown) : describeLimits(shown));
    return;
  }
  process.stderr.write(`downlink: there is no organization "${organization}"\n`);
  process.exitCode = 1;
}

/** Bytes are written as numbers: no organization stores more than a number counts exactly. */
function toJson(shown: OrganizationLimits): string {
  return `${JSON.stringify(shown, (_, value) => (typeof value === "bigint" ? Number(value) : value))}\n`;
}
