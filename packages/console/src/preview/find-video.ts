import { bytesOf } from "@downlink/messages/image-bytes";
import { DecodeError, partOf, type Value } from "@downlink/messages/value";
import type { Attempt } from "./find-picture.ts";
import { codecOf, isKeyFrame, type VideoRun } from "./h264.ts";
import { previewLimits } from "./limits.ts";

interface VideoMessage {
  readonly timeNs: number;
  /** Throws a DecodeError where it cannot be read. */
  read(): Value;
}

/** Lists the picture of a message of a video, and the next key frame for where that cannot be shown. */
export function* findVideo(messages: readonly VideoMessage[], place: number): Generator<Attempt> {
  yield { timeNs: messages[place]!.timeNs, read: () => runTo(messages, place) };
  const later = messages.slice(place + 1, place + 1 + previewLimits.videoFrames);
  const key = later.findIndex((message) => isKeyFrame(readFrame(message)));
  if (key >= 0) yield { timeNs: later[key]!.timeNs, read: () => runTo(later, key) };
}

function runTo(messages: readonly VideoMessage[], place: number): VideoRun {
  const frames: Uint8Array[] = [];
  for (let at = place; at >= 0 && frames.length < previewLimits.videoFrames; at -= 1) {
    const frame = readFrame(messages[at]!);
    frames.push(frame);
    if (!isKeyFrame(frame)) continue;
    const codec = codecOf(frame);
    if (codec === undefined) throw new DecodeError("The key frame of the video does not say how it is encoded.");
    return { codec, frames: frames.reverse() };
  }
  const where =
    frames.length < previewLimits.videoFrames ? "in this part" : `among the ${previewLimits.videoFrames} pictures`;
  throw new DecodeError(`No key frame of the video comes before it ${where}.`);
}

function readFrame({ read }: VideoMessage): Uint8Array {
  const message = read();
  const format = String(partOf(message, "format") ?? "");
  if (format.toLowerCase() !== "h264")
    throw new DecodeError(`The video is ${format.slice(0, 40) || "of no format"}; only h264 can be shown.`);
  return bytesOf(partOf(message, "data"));
}
