import { formatBytes } from "@downlink/terminal/amounts";

const EVERY_MS = 200;

/** Shows on a terminal how many bytes came, and how fast; elsewhere nothing. */
export function showProgress(stream: NodeJS.WriteStream) {
  const beganMs = performance.now();
  let [bytes, shownMs, isShown] = [0, beganMs, false];
  const end = () => {
    if (isShown) stream.write("\r\u001b[K");
    isShown = false;
  };
  return {
    add(count: number): void {
      bytes += count;
      const nowMs = performance.now();
      if (!stream.isTTY || nowMs - shownMs < EVERY_MS) return;
      shownMs = nowMs;
      isShown = true;
      stream.write(`\r\u001b[K${formatBytes(bytes)}, ${formatBytes((bytes * 1000) / (nowMs - beganMs))}/s`);
    },
    end,
    [Symbol.dispose]: end,
  };
}
