import { DecodeError } from "@downlink/messages/value";
import { decodeVideo } from "./decode-video.ts";
import { findPicture, type Picture } from "./find-picture.ts";
import { previewLimits } from "./limits.ts";
import { type Look, lookInto } from "./look.ts";
import { readSlice } from "./read-slice.ts";
import type { FromWorker, ToWorker } from "./requests.ts";

// Recordings are read here, apart from the page: their authors may mean harm, and this thread can be ended.

const ALIVE_EVERY_MS = 250;

let look: Look | undefined;
let readBytes = 0;
let reportedAt = 0;

addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  const work = data.type === "open" ? open(data.link) : answer(data);
  work.catch((error: unknown) => report({ type: "failed", problem: String(error) }));
});

async function open(link: string): Promise<void> {
  const response = await fetch(link, { cache: "no-store", credentials: "omit" }).catch(() => undefined);
  if (!response) {
    report({ type: "failed", problem: `${new URL(link).origin} cannot be reached from this page.` });
    return;
  }
  if (!response.ok || !response.body) {
    report({ type: "failed", problem: `The export answered ${response.status}.` });
    return;
  }
  const onProgress = (bytes: number) => {
    readBytes = bytes;
    reportAlive();
  };
  look = lookInto(await readSlice(response.body, { onProgress }), reportAlive);
  report({ type: "opened", opened: look.opened });
}

async function answer(ask: Extract<ToWorker, { type: "ask" }>): Promise<void> {
  try {
    const { value, transfer } = await answerTo(look!, ask);
    report({ type: "answer", id: ask.id, answer: value }, transfer);
  } catch (error) {
    report({ type: "refused", id: ask.id, problem: problemOf(error) });
  }
}

async function answerTo(
  opened: Look,
  ask: Extract<ToWorker, { type: "ask" }>,
): Promise<{ value: unknown; transfer?: Transferable[] }> {
  switch (ask.kind) {
    case "fields":
      return { value: opened.fields(ask.request) };
    case "plot":
      return { value: opened.plot(ask.request) };
    case "message":
      return { value: opened.message(ask.request) };
    case "track":
      return { value: { track: opened.track(ask.request) } };
    case "log":
      return { value: opened.log(ask.request) };
    case "states":
      return { value: opened.states(ask.request) };
    case "image": {
      const value = await findPicture(opened.pictures(ask.request), toBitmap);
      return { value, transfer: [value.bitmap] };
    }
  }
}

async function toBitmap(picture: Picture): Promise<ImageBitmap> {
  if ("frames" in picture) return decodeVideo(picture, reportAlive);
  const source =
    "rgba" in picture
      ? new ImageData(picture.rgba, picture.width, picture.height)
      : new Blob([new Uint8Array(picture.bytes)], { type: picture.mediaType });
  return createImageBitmap(source).catch((cause: unknown) => {
    throw new DecodeError("The browser cannot read the picture.", { cause });
  });
}

function problemOf(error: unknown): string {
  return error instanceof DecodeError ? error.message : `This cannot be shown: ${String(error)}`;
}

/** It is called often and reports rarely; it ends a preview that takes too much memory, where the browser says how much it is. */
function reportAlive(): void {
  const now = performance.now();
  if (now - reportedAt < ALIVE_EVERY_MS) return;
  reportedAt = now;
  const { memory } = performance as { memory?: { usedJSHeapSize: number } };
  if (memory && memory.usedJSHeapSize > previewLimits.memoryBytes) {
    report({ type: "failed", problem: "The preview takes more memory than a page should." });
    close();
  }
  report({ type: "alive", bytes: readBytes });
}

function report(message: FromWorker, transfer: Transferable[] = []): void {
  (postMessage as (message: FromWorker, transfer: Transferable[]) => void)(message, transfer);
}
