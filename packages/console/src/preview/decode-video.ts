import { DecodeError } from "@downlink/messages/value";
import type { VideoRun } from "./h264.ts";
import { previewLimits } from "./limits.ts";

/** Returns the last picture of a run. Throws a DecodeError where this browser cannot show it. */
export async function decodeVideo(run: VideoRun, onStep: () => void): Promise<ImageBitmap> {
  if (!("VideoDecoder" in globalThis)) throw new DecodeError(`The video is h264, which ${whyNoDecoder()}.`);
  const config = { codec: run.codec, optimizeForLatency: true };
  const { supported } = await VideoDecoder.isConfigSupported(config);
  if (!supported) throw new DecodeError(`The video is h264 (${run.codec}), which this browser cannot show.`);
  const frame = await decodeLast(config, run, onStep);
  try {
    if (frame.displayWidth * frame.displayHeight > previewLimits.imagePixels)
      throw new DecodeError("The pictures of the video have more pixels than can be shown.");
    return await createImageBitmap(frame);
  } finally {
    frame.close();
  }
}

function whyNoDecoder(): string {
  return isSecureContext ? "this browser cannot show" : "browsers show only on pages that come over https";
}

async function decodeLast(config: VideoDecoderConfig, { frames }: VideoRun, onStep: () => void): Promise<VideoFrame> {
  const shown: VideoFrame[] = [];
  const output = (frame: VideoFrame) => {
    shown.pop()?.close();
    shown.push(frame);
    onStep();
  };
  // An error rejects the flush, too.
  const decoder = new VideoDecoder({ output, error: () => undefined });
  try {
    decoder.configure(config);
    for (const [timestamp, data] of frames.entries())
      decoder.decode(new EncodedVideoChunk({ type: timestamp === 0 ? "key" : "delta", timestamp, data }));
    await decoder.flush();
  } catch (cause) {
    shown.pop()?.close();
    throw new DecodeError("The browser cannot read the video.", { cause });
  } finally {
    if (decoder.state !== "closed") decoder.close();
  }
  const last = shown.pop();
  if (!last) throw new DecodeError("The video has no picture at this moment.");
  return last;
}
