import { magic } from "./records.ts";

/** Whether a file begins as a bag does whose line ends were changed. */
export function hasChangedBagEnds(head: Buffer): boolean {
  return changedStarts.some((start) => head.subarray(0, start.byteLength).equals(start.subarray(0, head.byteLength)));
}

const changedStarts = ["\r\n", "\r"].map((end) => Buffer.concat([magic.subarray(0, -1), Buffer.from(end)]));

/** Answers what is wrong with a file of another version. */
export function explainBagVersion(head: Buffer): string | undefined {
  if (!head.subarray(0, 9).equals(magic.subarray(0, 9))) return undefined;
  const version = /^1\.\d/.exec(head.subarray(9).toString("latin1"))?.[0];
  if (version === undefined) return undefined;
  return `the file is a ROS bag of version ${version}, and only version 2.0 is read; \`rosbag reindex\` of ROS 1 writes it as one`;
}
