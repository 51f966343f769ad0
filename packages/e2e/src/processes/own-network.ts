import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { promisify } from "node:util";

const execute = promisify(execFile);
/** `tc` may be in a directory that is not in everybody's PATH. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
const run = (command: string, args: readonly string[]) => execute(command, args, { env });

export type LinkState = "as it is" | "loses packets" | "carries nothing";

/** A network that a process has for itself, with one link to this machine, which is its name server. */
export interface OwnNetwork extends AsyncDisposable {
  /** The addresses at which this machine is reached from there. The first one is the name server's. */
  readonly addresses: readonly [string, string];
  /** The command that runs a program in this network. */
  readonly within: readonly string[];
  /** Decides what happens to packets, in both directions. Resolves with the number of packets lost under the state that ends. */
  shape(state: LinkState): Promise<number>;
  /** Lets so many bytes a second pass in each direction, headers included; Infinity sets no limit. */
  limit(bytesPerSecond: number): Promise<void>;
}

const RESOLVER_OPTIONS = "options timeout:1 attempts:1";
const disciplines: Readonly<Record<LinkState, readonly string[]>> = {
  "as it is": ["pfifo", "limit", "1000"],
  // The queue is shorter than what TCP sends at once: packets that do not fit are lost.
  "loses packets": ["tbf", "rate", "40mbit", "burst", "5kb", "limit", "20kb"],
  // No packet is that small.
  "carries nothing": ["tbf", "rate", "8kbit", "burst", "10", "limit", "10"],
};
/** How much passes at once: the kernel checks at least this often, and passes on packets of up to 64 KiB. */
const BURSTS_PER_SECOND = 100;
const SMALLEST_BURST_BYTES = 65_536;
/** Random loss, if the kernel has the module for it. */
const RANDOM_LOSS = ["netem", "loss", "30%"];

/** Needs root, Linux, iproute2 and util-linux; rejects with what is missing. It writes `resolvFile`. */
export async function openOwnNetwork(resolvFile: string): Promise<OwnNetwork> {
  await using stack = new AsyncDisposableStack();
  await run("tc", ["-Version"]);
  const holder = stack.use(await holdNamespaces());
  const within = ["nsenter", "--target", String(holder.pid), "--net", "--mount", "--"];
  const inside = (...command: string[]) => run(within[0]!, [...within.slice(1), ...command]);
  const subnet = subnetOf(holder.pid);
  const device = `downlink${holder.pid}`.slice(0, 15);
  await run("ip", ["link", "add", device, "type", "veth", "peer", "name", "eth0", "netns", String(holder.pid)]);
  for (const last of [1, 2]) await run("ip", ["address", "add", `${subnet}.${last}/24`, "dev", device]);
  await run("ip", ["link", "set", device, "up"]);
  await inside("ip", "address", "add", `${subnet}.3/24`, "dev", "eth0");
  for (const own of ["lo", "eth0"]) await inside("ip", "link", "set", own, "up");
  await writeFile(resolvFile, `nameserver ${subnet}.1\n${RESOLVER_OPTIONS}\n`);
  await inside("mount", "--bind", resolvFile, "/etc/resolv.conf");
  const owned = stack.move();
  return {
    addresses: [`${subnet}.1`, `${subnet}.2`],
    within,
    ...createShaper([
      (verb, ...rest) => run("tc", [...verb, "dev", device, "root", ...rest]),
      (verb, ...rest) => inside("tc", ...verb, "dev", "eth0", "root", ...rest),
    ]),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** RFC 2544 reserves 198.18.0.0/15 for tests. Networks that exist at the same time have different subnets. */
function subnetOf(pid: number): string {
  return `198.${18 + ((pid >> 8) & 1)}.${pid & 0xff}`;
}

/** Starts a process that keeps the namespaces; it ends with this one in any case, and the link ends with it. */
async function holdNamespaces(): Promise<AsyncDisposable & { readonly pid: number }> {
  const flags = ["--net", "--mount", "--propagation", "private"];
  const child: ChildProcess = spawn("unshare", [...flags, "--", "sh", "-c", "echo ready; exec cat"]);
  const ended = once(child, "exit");
  ended.catch(() => {});
  let complaint = "";
  child.stderr!.on("data", (text) => {
    complaint += text;
  });
  const ready = once(child.stdout!, "data");
  await Promise.race([ready, ended.then(() => Promise.reject(new Error(complaint)))]);
  return {
    pid: child.pid!,
    async [Symbol.asyncDispose]() {
      child.stdin!.end();
      await ended;
    },
  };
}

type TrafficControl = (verb: readonly string[], ...rest: string[]) => Promise<{ stdout: string }>;

function createShaper(ends: readonly TrafficControl[]): Pick<OwnNetwork, "shape" | "limit"> {
  const replace = async (discipline: readonly string[]) => {
    for (const tc of ends) await tc(["qdisc", "replace"], ...discipline);
  };
  return {
    async shape(state) {
      let lost = 0;
      for (const tc of ends) {
        const { stdout } = await tc(["-statistics", "qdisc", "show"]);
        lost += Number(/dropped (\d+)/.exec(stdout)?.[1] ?? 0);
      }
      const plain = () => replace(disciplines[state]);
      if (state === "loses packets") await replace(RANDOM_LOSS).catch(plain);
      else await plain();
      return lost;
    },
    async limit(bytesPerSecond) {
      if (bytesPerSecond === Number.POSITIVE_INFINITY) return await replace(disciplines["as it is"]);
      const burstBytes = Math.max(SMALLEST_BURST_BYTES, Math.ceil(bytesPerSecond / BURSTS_PER_SECOND));
      await replace(["tbf", "rate", `${bytesPerSecond}bps`, "burst", String(burstBytes), "latency", "50ms"]);
    },
  };
}
