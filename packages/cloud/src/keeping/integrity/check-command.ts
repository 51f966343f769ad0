import { type Command, InvalidArgumentError } from "commander";
import type { Deps } from "../../calls/context/context.ts";
import { withSmallHeap } from "../../core/heap-growth.ts";
import { checkDeployment } from "./check-deployment.ts";
import type { Finding } from "./finding.ts";
import { checkExits, printCheck } from "./print-check.ts";
import { repairDamaged } from "./repair-damaged.ts";

interface Deployment {
  /** Opens the database and the stores, even beside a running control plane. */
  beside(use: (deps: Deps) => Promise<void>): Promise<void>;
}

interface Flags {
  readonly readData: boolean;
  readonly percent: number;
  readonly repair: boolean;
  readonly json: boolean;
}

export function addCheckCommand(admin: Command, deployment: Deployment): void {
  admin
    .command("check")
    .description(
      "report where the database and the object store do not agree; exits with 0, 1 (findings) or 2 (could not look)",
    )
    .option("--read-data", "read the objects, too, and compare their SHA-256", false)
    .option("--percent <number>", "of the objects, drawn at random, with --read-data", readPercent, 100)
    .option(
      "--repair",
      "make good what can be without a loss, and ask devices for the files of damaged recordings",
      false,
    )
    .option("--json", "print each finding as a line of JSON", false)
    .action((flags: Flags) => check(deployment, flags));
}

function readPercent(text: string): number {
  const percent = Number(text);
  if (percent > 0 && percent <= 100) return percent;
  throw new InvalidArgumentError("More than 0, at most 100.");
}

async function check({ beside }: Deployment, { readData, percent, repair, json }: Flags): Promise<void> {
  process.exitCode = checkExits.couldNotLook; // this holds unless the check comes to its end
  await beside(async (deps) => {
    const nowMs = Number(deps.clock.nowNs() / 1_000_000n);
    const options = { readPercent: readData ? percent : 0, isRepairing: repair, nowMs };
    const write = (text: string) => void process.stdout.write(text);
    const countElsewhere = () => deps.db.prisma.recording.count({ where: { location: { not: null } } });
    const findings = joinFindings(checkDeployment(deps, options), ...(repair ? [repairDamaged(deps)] : []));
    const print = () => printCheck(findings, { isJson: json, write, countElsewhere });
    process.exitCode = await withSmallHeap(print);
  });
}

async function* joinFindings(...parts: readonly AsyncIterable<Finding>[]): AsyncGenerator<Finding, void> {
  for (const part of parts) yield* part;
}
