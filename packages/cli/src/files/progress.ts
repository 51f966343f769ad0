import { formatBytes } from "@downlink/terminal/amounts";

const EVERY_MS = 200;

/** Shows a line on a terminal, in the place of the one before; elsewhere nothing. */
export function showLine(stream: NodeJS.WriteStream) {
  let isShown = false;
  const end = () => {
    if (isShown) stream.write("\r\u001b[K");
    isShown = false;
  };
  return {
    show(text: string): void {
      if (!stream.isTTY) return;
      isShown = true;
      stream.write(`\r\u001b[K${text}`);
    },
    end,
    [Symbol.dispose]: end,
  };
}

/** Shows on a terminal how many bytes came, and how fast; elsewhere nothing. */
export function showProgress(stream: NodeJS.WriteStream) {
  const beganMs = performance.now();
  const { show, end } = showLine(stream);
  let [bytes, shownMs] = [0, beganMs];
  return {
    add(count: number): void {
      bytes += count;
      const nowMs = performance.now();
      if (nowMs - shownMs < EVERY_MS) return;
      shownMs = nowMs;
      show(`${formatBytes(bytes)}, ${formatBytes((bytes * 1000) / (nowMs - beganMs))}/s`);
    },
    end,
    [Symbol.dispose]: end,
  };
}
