import { harmlessJson, printableAll } from "@downlink/terminal/printable";
import type { RenderOptions } from "../text/screen.ts";
import { renderStatus } from "./render-status.ts";
import { AgentSilentError } from "./socket.ts";
import type { StatusDocument } from "./status-schema.ts";

/** The terminal, or what replaces it in tests. */
export interface WatchTerminal {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

export interface WatchOptions extends WatchTerminal {
  readonly readStatus: () => Promise<StatusDocument>;
  readonly renderOptions: () => RenderOptions;
  readonly isJson: boolean;
  readonly everyMs?: number;
}

const EVERY_MS = 1000;

/**
 * Shows the status repeatedly until q, Ctrl-C or a signal, and returns the last one. On a terminal it redraws in place, and leaves
 * the terminal as it was before; elsewhere it prints one line each time.
 */
export async function watchStatus(options: WatchOptions): Promise<StatusDocument> {
  const isScreen = options.output.isTTY && !options.isJson && process.env.TERM !== "dumb";
  using stop = stopSignal(options, isScreen);
  using _screen = isScreen ? takeScreen(options.output) : undefined;
  let status = await options.readStatus();
  for (;;) {
    options.output.write(isScreen ? frameOf(status, options) : lineOf(status, options));
    await waitFor(options, stop.signal);
    if (stop.signal.aborted) return status;
    status = await readAgain(options, status);
  }
}

/** Where the agent does not answer, the last status stays, because it may answer later. */
async function readAgain({ readStatus }: WatchOptions, last: StatusDocument): Promise<StatusDocument> {
  try {
    return await readStatus();
  } catch (error) {
    if (error instanceof AgentSilentError) return last;
    throw error;
  }
}

function stopSignal(
  { input, output }: WatchTerminal,
  isScreen: boolean,
): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const stop = () => controller.abort();
  const onKey = (key: Buffer) => {
    if (["q", "Q", "\u0003", "\u0004"].includes(key.toString())) stop();
  };
  const usesKeys = isScreen && input.isTTY;
  if (usesKeys) input.setRawMode(true).resume().on("data", onKey);
  process.on("SIGINT", stop).on("SIGTERM", stop);
  output.on("error", stop); // The reader of the output went away.
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      process.off("SIGINT", stop).off("SIGTERM", stop);
      if (usesKeys) input.off("data", onKey).pause().setRawMode(false);
    },
  };
}

const ENTER_SCREEN = "\u001b[?1049h\u001b[?25l";
const LEAVE_SCREEN = "\u001b[?25h\u001b[?1049l";

function takeScreen(output: NodeJS.WriteStream): Disposable {
  output.write(ENTER_SCREEN);
  return { [Symbol.dispose]: () => void output.write(LEAVE_SCREEN) };
}

/** A frame is written over the last one, so that nothing flickers; lines that do not fit are left out. */
function frameOf(status: StatusDocument, { output, renderOptions }: WatchOptions): string {
  const lines = renderStatus(status, renderOptions()).trimEnd().split("\n");
  const room = Math.max(2, output.rows);
  const shown = [...lines.slice(0, room - 2), "", "q ends"].slice(0, room);
  return `\u001b[H${shown.map((line) => `${line}\u001b[K`).join("\r\n")}\u001b[J`;
}

function lineOf(status: StatusDocument, { isJson, renderOptions }: WatchOptions): string {
  if (isJson) return `${harmlessJson(JSON.stringify(status))}\n`;
  const { health, connection, files, transfers, problems } = printableAll(status);
  const counts = Object.entries(files).map(([state, count]) => `${count} ${state}`);
  const parts = [
    health,
    connection.state,
    ...counts,
    `${transfers.length} uploads`,
    ...problems.map(({ code }) => code),
  ];
  return `${new Date(renderOptions().nowMs).toISOString()} ${parts.join(", ")}\n`;
}

/** Waits for the next time, a change of the window's size, or the end. */
async function waitFor({ output, everyMs = EVERY_MS }: WatchOptions, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = () => resolve();
  const timer = setTimeout(done, everyMs);
  signal.addEventListener("abort", done, { once: true });
  output.once("resize", done);
  await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", done);
  output.off("resize", done);
}
