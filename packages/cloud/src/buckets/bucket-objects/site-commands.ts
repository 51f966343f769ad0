import { readFile } from "node:fs/promises";
import { api } from "@downlink/protocol";
import { type Command, InvalidArgumentError } from "commander";
import type { Deps } from "../../calls/context/context.ts";
import { CommandError } from "../../core/command-error.ts";
import type { SiteModel } from "../../db/generated/models.ts";
import { states } from "../../db/generated/states.ts";
import { checkBucket } from "./check-bucket.ts";
import { createBucketSite, type NewBucketSite, type OwnBucket } from "./create-bucket-site.ts";
import { requireRules } from "./path-rules.ts";
import { findSiteWithPolicy, type SiteWithPolicy } from "./site-with-policy.ts";
import type { PathPolicy } from "./stored-policy.ts";
import { tryPolicy } from "./try-policy.ts";
import { visitBucket } from "./visit-bucket.ts";

interface Deployment {
  /** Opens the database and the stores, even beside a running control plane. */
  beside(use: (deps: Deps, settings: OwnBucket, stopped: Promise<void>) => Promise<void>): Promise<void>;
}

const providers = states.SiteBucket.provider;
type Provider = (typeof providers)[number];

export function addSiteCommands(site: Command, deployment: Deployment): void {
  site
    .command("create-byob <name>")
    .description("make a site of a customer's bucket, which is read and listed and never written to")
    .requiredOption("--provider <provider>", providers.join(", "), readProvider)
    .requiredOption("--bucket <name>", "the name of the bucket, or of the container of Azure")
    .option("--account <name>", "the storage account of a container of Azure")
    .option("--prefix <text>", "only objects whose names begin so", "")
    .option(
      "--endpoint <url>",
      "the address of an S3 that is not AWS, or of an account that is not in Azure's public cloud",
    )
    .option("--region <name>", "the bucket's region")
    .option(
      "--credentials <name>",
      "DOWNLINK_BUCKET_<NAME>_ACCESS_KEY_ID and _SECRET_ACCESS_KEY, or a profile; for Azure, _SAS_TOKEN or _ACCOUNT_KEY",
    )
    .option("--organization <name>", "its id or name, if there are several")
    .action((name: string, flags: CreateFlags) => create(deployment, name, flags));
  site
    .command("list")
    .description("list the customers' buckets, and why one cannot be read")
    .action(() => list(deployment));
  site
    .command("check <site>")
    .description(
      "try what the bucket lets this machine do, and name the permission that is missing; by the site's id or name",
    )
    .action((name: string) => check(deployment, name));
  site
    .command("scan <site>")
    .description("list a bucket now, and import what no notification said; by the site's id or name")
    .action((name: string) => scan(deployment, name));
  site
    .command("try-policy <site>")
    .description("print what a path policy would make of the first 1,000 objects in the bucket; nothing is stored")
    .option("--policy <file>", "the policy as JSON; without it, the one that is saved")
    .action((name: string, flags: TryFlags) => tryOut(deployment, name, flags));
}

function readProvider(text: string): Provider {
  const provider = providers.find((one) => one === text);
  if (provider) return provider;
  throw new InvalidArgumentError(`One of ${providers.join(", ")}.`);
}

type CreateFlags = Pick<NewBucketSite, "provider" | "bucket" | "prefix"> & {
  readonly account?: string;
  readonly endpoint?: string;
  readonly region?: string;
  readonly credentials?: string;
  readonly organization?: string;
};

async function create(deployment: Deployment, name: string, flags: CreateFlags): Promise<void> {
  const {
    account: azureStorageAccountName = null,
    endpoint = null,
    region = null,
    credentials = null,
    ...rest
  } = flags;
  const { organization, ...bucket } = rest;
  if (endpoint !== null && !URL.canParse(endpoint)) throw new CommandError(`--endpoint ${endpoint} is no URL`);
  await deployment.beside(async (deps, settings) => {
    const given = { ...bucket, azureStorageAccountName, name, endpoint, region, credentials, organization };
    const id = await createBucketSite(deps, given, settings);
    process.stdout.write(`site ${id}\n`);
  });
}

function list(deployment: Deployment): Promise<void> {
  return deployment.beside(async ({ db }) => {
    const sites = await db.prisma.siteBucket.findMany({ include: { site: true }, orderBy: { siteId: "asc" } });
    for (const { site, provider, azureStorageAccountName, bucket, prefix, listedAtNs, problem } of sites) {
      const account = azureStorageAccountName === null ? "" : `${azureStorageAccountName}/`;
      const listed = listedAtNs === null ? "never listed" : `listed ${toTime(listedAtNs)}`;
      process.stdout.write(
        `${[site.id, site.name, provider, `${account}${bucket}/${prefix}`, problem ?? listed].join("\t")}\n`,
      );
    }
  });
}

function toTime(ns: bigint): string {
  return new Date(Number(ns / 1_000_000n)).toISOString();
}

/** Ends with 1 if the bucket does not let this machine do what a site needs. */
function check(deployment: Deployment, name: string): Promise<void> {
  return deployment.beside(async (deps) => {
    const { id } = await findBySiteName(deps, name);
    const checked = await checkBucket(deps, await requireSite(deps, id));
    for (const { access, problem } of checked) process.stdout.write(`${access}: ${problem ?? "yes"}\n`);
    if (checked.length === 1 && checked[0]!.problem === undefined)
      process.stdout.write("reads: not known, because there is no object with bytes\n");
    if (checked.some(({ problem }) => problem !== undefined)) process.exitCode = 1;
  });
}

function scan(deployment: Deployment, name: string): Promise<void> {
  return deployment.beside(async (deps, _settings, stopped) => {
    const stopping = new AbortController();
    void stopped.then(() => stopping.abort(new CommandError("stopped; the same command goes on where it was")));
    const { id } = await findBySiteName(deps, name);
    const problem = await visitBucket(deps, id, { signal: stopping.signal, lists: true });
    if (problem !== undefined) throw new CommandError(`the bucket cannot be read: ${problem}`);
    const requested = await deps.db.prisma.bucketObject.groupBy({
      by: ["state"],
      where: { siteId: id, goneAtNs: null },
      _count: true,
    });
    for (const { state, _count } of requested) process.stdout.write(`${state}: ${_count}\n`);
  });
}

interface TryFlags {
  readonly policy?: string;
}

function tryOut(deployment: Deployment, name: string, { policy: file }: TryFlags): Promise<void> {
  return deployment.beside(async (deps) => {
    const { id } = await findBySiteName(deps, name);
    const policy = file === undefined ? undefined : await readPolicy(file);
    if (policy) requireRules(policy.rules);
    const { objects, isComplete } = await tryPolicy(deps, await requireSite(deps, id), policy);
    for (const { name: object, rule, type, deviceName = "", problem = "" } of objects) {
      const by = rule === undefined ? "no rule" : `rule ${rule}`;
      process.stdout.write(`${[type, JSON.stringify(object), by, deviceName, problem].join("\t").trimEnd()}\n`);
    }
    if (!isComplete) process.stdout.write(`and more than these ${objects.length} objects\n`);
  });
}

async function requireSite({ db }: Pick<Deps, "db">, id: string): Promise<SiteWithPolicy> {
  const site = await findSiteWithPolicy(db, id);
  if (!site) throw new CommandError(`site ${id} is no bring-your-own-bucket site`);
  return site;
}

async function findBySiteName({ db }: Pick<Deps, "db">, name: string): Promise<SiteModel> {
  const [found, another] = await db.prisma.site.findMany({
    where: { type: "byob", OR: [{ id: name }, { name }] },
    take: 2,
  });
  if (!found) throw new CommandError(`there is no bring-your-own-bucket site "${name}"`);
  if (another) throw new CommandError(`several sites are named "${name}": give the id`);
  return found;
}

async function readPolicy(file: string): Promise<Pick<PathPolicy, "rules">> {
  try {
    const { schemaVersion, rules } = JSON.parse(await readFile(file, "utf8"));
    return api.ingestPathPolicies.save.body.parse({ schemaVersion, rules });
  } catch (error) {
    throw new CommandError(`${file} is no path policy: ${(error as Error).message}`);
  }
}
