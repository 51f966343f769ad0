import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { promisify } from "node:util";

/** Debian's, for which python3-rosbag is installed; another one may stand before it in the path. */
export const PYTHON = "/usr/bin/python3";

/** For the `skip` option of a test: whether ROS itself can judge bags here. */
export function skipWithoutRosbag(...messagePackages: string[]): string | false {
  try {
    execFileSync(PYTHON, ["-c", ["import rosbag", ...messagePackages].join(", ")], { stdio: "ignore" });
    return false;
  } catch {
    const names = ["rosbag", ...messagePackages].map((name) => `python3-${name.replaceAll("_", "-")}`);
    return `ROS cannot judge here: ${PYTHON} lacks ${names.join(" ")}`;
  }
}

/** The contents of a bag as ROS 1 reads it. */
export interface BagVerdict {
  readonly messageCount: number;
  /** The compressions of the chunks. */
  readonly compressions: string[];
  readonly topics: TopicDigests;
}

/** Count and `digestOf` of the messages of each topic. */
export type TopicDigests = Record<string, { readonly count: number; readonly digest: string }>;

export async function judgeBags(paths: readonly string[]): Promise<BagVerdict[]> {
  return JSON.parse(await runPython(["-c", JUDGEMENT, ...paths]));
}

/** Returns what `rosbag` prints with these arguments, e.g. `info a.bag`; rejects if it fails. */
export function runRosbag(...command: string[]): Promise<string> {
  return runPython(["/usr/bin/rosbag", ...command]);
}

/** The same over messages that were read otherwise; equal times may come in any order. */
export function digestTopics(messages: Iterable<{ topic: string; logTimeNs: bigint; data: Uint8Array }>): TopicDigests {
  const lines = new Map<string, string[]>();
  for (const { topic, logTimeNs, data } of messages) {
    const ofTopic = lines.get(topic) ?? [];
    lines.set(topic, ofTopic);
    ofTopic.push(`${logTimeNs} ${createHash("sha256").update(data).digest("hex")}`);
  }
  const digests = [...lines].map(([topic, list]) => {
    const digest = createHash("sha256").update(list.sort().join("\n")).digest("hex");
    return [topic, { count: list.length, digest }];
  });
  return Object.fromEntries(digests);
}

async function runPython(args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(PYTHON, args, { maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

const JUDGEMENT = `
import collections, hashlib, json, rosbag, sys
def judge(path):
    bag = rosbag.Bag(path)
    lines = collections.defaultdict(list)
    for topic, message, time in bag.read_messages(raw=True):
        lines[topic].append('%d %s' % (time.to_nsec(), hashlib.sha256(message[1]).hexdigest()))
    digest = lambda all: hashlib.sha256('\\n'.join(sorted(all)).encode()).hexdigest()
    return {
        'messageCount': bag.get_message_count(),
        'compressions': sorted({header.compression for header in bag._chunk_headers.values()}),
        'topics': {topic: {'count': len(all), 'digest': digest(all)} for topic, all in lines.items()},
    }
print(json.dumps([judge(path) for path in sys.argv[1:]]))
`;
