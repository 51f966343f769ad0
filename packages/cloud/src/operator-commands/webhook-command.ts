import { type Command, InvalidArgumentError } from "commander";
import type { Deps } from "../calls/context/context.ts";
import { CommandError } from "../core/command-error.ts";
import { ApiError } from "../core/errors.ts";
import { retryFailed } from "../organization/webhooks/deliveries.ts";
import { countDeliveries, type WebhookCounts } from "../organization/webhooks/delivery-counts.ts";
import { operatorIn } from "./act-as-operator.ts";
import { print, toTime } from "./print-rows.ts";

interface Deployment {
  /** Opens the database, even beside a running control plane. */
  beside(use: (deps: Deps) => Promise<void>): Promise<void>;
}

interface Flags {
  readonly retry?: string;
  readonly limit: number;
  readonly json: boolean;
}

const DEFAULT_LIMIT = 100;
/** So much of an answer is shown to people. */
const SHOWN_CHARACTERS = 100;

export function addWebhookCommand(admin: Command, { beside }: Deployment): void {
  admin
    .command("webhooks")
    .description(
      "show the webhooks of all organizations: whether each is enabled, what waits, what failed and its last answer; exits with 1 if the service disabled one",
    )
    .option("--retry <id>", "send the failed deliveries of this webhook again now")
    .option(
      "--limit <number>",
      "show at most so many: first the disabled ones, then those that fail",
      readCount,
      DEFAULT_LIMIT,
    )
    .option("--json", "print each webhook as a line of JSON", false)
    .addHelpText("after", "\nExamples:\n  downlink admin webhooks\n  downlink admin webhooks --retry wh_01h455vb4pex")
    .action((flags: Flags) =>
      beside((deps) => (flags.retry === undefined ? show(deps, flags) : retry(deps, flags.retry))),
    );
}

function readCount(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("A number.");
}

async function show({ db, clock }: Deps, { limit, json }: Flags): Promise<void> {
  const nowNs = clock.nowNs();
  const all = await countDeliveries(db, limit);
  const describeOne = (row: WebhookCounts) => describe(row, nowNs);
  if (json) print(all.map((row) => JSON.stringify(toJson(row, nowNs))));
  else print(all.length === 0 ? ["there is no webhook"] : all.map(describeOne));
  if (all.some(({ enabled, disabledReason }) => !enabled && disabledReason !== null)) process.exitCode = 1;
}

function toJson(row: WebhookCounts, nowNs: bigint) {
  const { id, orgId, name, url, enabled, disabledReason, failingSinceNs, waiting, failed, last } = row;
  const secondsSince = (ns: bigint | null) => (ns === null ? undefined : secondsBetween(ns, nowNs));
  return {
    ...{ id, orgId, name, host: new URL(url).host, enabled, disabledReason: disabledReason ?? undefined },
    failingSince: failingSinceNs === null ? undefined : toTime(failingSinceNs),
    ...{ waiting, oldestWaitingSeconds: secondsSince(row.oldestWaitingNs) },
    ...{ failed, oldestFailedSeconds: secondsSince(row.oldestFailedNs) },
    last: last && { ...last, at: toTime(BigInt(last.atNs)), atNs: undefined },
  };
}

/** An address may hold a secret after its host, which is left out. */
function describe(row: WebhookCounts, nowNs: bigint): string {
  const { id, orgId, name, url, waiting, failed, oldestWaitingNs, oldestFailedNs } = row;
  const counts = [
    `${waiting} wait${ageOf(oldestWaitingNs, nowNs)}`,
    `${failed} failed${ageOf(oldestFailedNs, nowNs)}`,
    lastAnswerOf(row),
  ];
  return `${id}  ${orgId}  ${JSON.stringify(name)} ${new URL(url).host}: ${[stateOf(row), ...counts].join("; ")}`;
}

function stateOf({ enabled, disabledReason, failingSinceNs }: WebhookCounts): string {
  if (!enabled) return disabledReason === null ? "disabled by its organization" : `disabled: ${disabledReason}`;
  return failingSinceNs === null ? "enabled" : `enabled, every attempt failed since ${toTime(failingSinceNs)}`;
}

function lastAnswerOf({ last }: WebhookCounts): string {
  if (last === null) return "nothing was sent yet";
  const { statusCode, error, answer, atNs } = last;
  const at = toTime(BigInt(atNs));
  if (statusCode === null) return `no answer at ${at}: ${error}`;
  return `last answer at ${at}: ${statusCode}${answer ? ` ${JSON.stringify(answer.slice(0, SHOWN_CHARACTERS))}` : ""}`;
}

function secondsBetween(fromNs: bigint, toNs: bigint): number {
  return Math.max(0, Number((toNs - fromNs) / 1_000_000_000n));
}

const UNITS = [
  { name: "days", seconds: 86_400 },
  { name: "h", seconds: 3600 },
  { name: "min", seconds: 60 },
] as const;

/** Returns the age of the oldest delivery in its largest unit of which there are two; an empty text if there is no delivery. */
function ageOf(oldestNs: bigint | null, nowNs: bigint): string {
  if (oldestNs === null) return "";
  const seconds = secondsBetween(oldestNs, nowNs);
  const unit = UNITS.find((one) => seconds >= 2 * one.seconds) ?? { name: "s", seconds: 1 };
  return ` (the oldest for ${Math.floor(seconds / unit.seconds)} ${unit.name})`;
}

async function retry(deps: Deps, id: string): Promise<void> {
  const webhook = await deps.db.prisma.webhook.findUnique({ where: { id }, select: { orgId: true } });
  if (!webhook) throw new CommandError(`there is no webhook ${id}; downlink admin webhooks lists them`);
  const { count } = await retryFailed(operatorIn(deps, webhook.orgId), { id }).catch((error: unknown) => {
    throw error instanceof ApiError ? new CommandError(error.message) : error;
  });
  print([`${count} ${count === 1 ? "delivery is" : "deliveries are"} sent again now`]);
}
