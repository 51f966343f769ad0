// Writes a set of random episodes, and has LeRobot itself read it: npm run check:lerobot. It makes a Python environment beside the repository, which
// takes some minutes and 5 GB the first time, and so it is run by hand and before a release. LeRobot needs Python 3.12: --python PATH names one.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { TrainingMapping } from "@downlink/protocol";
import jpeg from "jpeg-js";
import { planMapping } from "../align/plan.ts";
import { writeLeRobotSet } from "../lerobot/write-set.ts";
import { type MadeMessage, makeEpisode } from "./make-episode.ts";
import { MemoryFiles } from "./memory-files.ts";
import { alignSlowly } from "./slow-aligner.ts";

/** The version that the layout was written for. */
const LEROBOT = "lerobot[dataset]==0.6.1";
const START_NS = 1_767_323_045_000_000_001n;
const EPISODES = 20;
const CAMERA = "observation.images.front";

const { values: options } = parseArgs({
  options: {
    python: { type: "string", default: "python3" },
    environment: { type: "string", default: join(homedir(), ".cache", "downlink", "lerobot") },
  },
});

const mapping = TrainingMapping.parse({
  fps: 20,
  minFrames: 5,
  onGap: "splitEpisode",
  features: {
    "observation.state": { dtype: "float32", parts: [{ topic: "/arm", align: "interpolate" }] },
    action: { dtype: "float32", shiftRows: 1, parts: [{ topic: "/arm" }] },
    "observation.gripper": { dtype: "float64", parts: [{ topic: "/gripper", align: "nearest" }] },
    [CAMERA]: { dtype: "image", parts: [{ topic: "/camera", align: "nearest" }] },
  },
});

const frames = Array.from({ length: 60 }, (_, index) => {
  const rgba = Buffer.alloc(64 * 48 * 4).map((_byte, at) => (at * 3 + index * 5) % 256);
  return jpeg.encode({ data: rgba, width: 64, height: 48 }, 80).data;
});

/** Makes the messages of an episode. A picture is the number of its frame, until {@link toPicture}. */
function makeMessages(episode: number): MadeMessage[] {
  const startNs = START_NS + BigInt(episode) * 100_000_000_000n;
  const isSilent = (index: number) => episode % 5 === 0 && index >= 200 && index < 250;
  const sample = (topic: string, read: (index: number) => number[]) =>
    Array.from({ length: 400 }, (_, index) => {
      const jitterNs = BigInt((index * 7919 + episode * 31) % 3_000_000);
      return { topic, atNs: startNs + BigInt(index) * 10_000_000n + jitterNs, value: read(index) };
    }).filter((_message, index) => !isSilent(index));
  const camera = frames.map((_, index) => {
    return { topic: "/camera", atNs: startNs + BigInt(index) * 66_666_667n, value: [index] };
  });
  const arm = sample("/arm", (index) => [Math.sin(index / 20 + episode), Math.cos(index / 15)]);
  return [...arm, ...sample("/gripper", (index) => [index]), ...camera];
}

function toPicture(message: MadeMessage): MadeMessage {
  if (message.topic !== "/camera") return message;
  const [index] = message.value as [number];
  return { ...message, value: { format: "jpeg", data: frames[index]!.toString("base64") } };
}

/** The rows that the slow way finds, by episodes of the set, with the SHA-256 of a picture in place of its number. */
function findRows(): unknown[][] {
  const plan = planMapping(mapping);
  return Array.from({ length: EPISODES }, (_, episode) => makeMessages(episode)).flatMap((messages) => {
    const pieces = alignSlowly(plan, makeEpisode({ messages }), messages);
    if (pieces === "gap") throw new Error("the mapping splits at gaps");
    return pieces.map((piece) => piece.map((row) => ({ ...row, [CAMERA]: sha256(frames[row[CAMERA]![0]!]!) })));
  });
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function writeSet(folder: string): Promise<void> {
  const files = new MemoryFiles();
  const episodes = Array.from({ length: EPISODES }, (_, episode) =>
    makeEpisode({ id: `ep_${episode}`, messages: makeMessages(episode).map(toPicture) }),
  );
  await writeLeRobotSet({ mapping, episodes, about: {}, open: files.open });
  for (const path of files.paths) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), files.read(path));
  }
}

function installLeRobot(): string {
  const python = join(options.environment, "bin", "python");
  const isThere = existsSync(python);
  if (!isThere) execFileSync(options.python, ["-m", "venv", options.environment], { stdio: "inherit" });
  execFileSync(python, ["-m", "pip", "install", "--quiet", LEROBOT], { stdio: "inherit" });
  return python;
}

const folder = await mkdtemp(join(tmpdir(), "downlink-lerobot-"));
try {
  const python = installLeRobot();
  await writeSet(join(folder, "set"));
  await writeFile(join(folder, "expected.json"), JSON.stringify(findRows()));
  execFileSync(python, [join(import.meta.dirname, "read_lerobot.py"), folder], {
    stdio: "inherit",
    env: { ...process.env, HF_HUB_OFFLINE: "1", HF_HOME: join(folder, "cache") },
  });
} finally {
  await rm(folder, { recursive: true });
}
