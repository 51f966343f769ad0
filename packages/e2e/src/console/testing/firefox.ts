// A browser of another maker, driven by WebDriver BiDi (https://w3c.github.io/webdriver-bidi/), which needs no driver: JSON over a WebSocket.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const FIREFOX = "/usr/bin/firefox-esr";

/**
 * Returns why nothing can be tested in Firefox here; undefined if it can. In a CI build it throws instead, because developers do not read
 * there which tests were skipped.
 */
export function whyNoFirefox(): string | undefined {
  if (existsSync(FIREFOX)) return undefined;
  const why = `there is no ${FIREFOX}: apt-get install firefox-esr`;
  if (process.env.CI) throw new Error(why);
  console.error(`NOT TESTED: ${why}`);
  return why;
}

export interface Firefox extends AsyncDisposable {
  /** The errors that scripts of pages threw or logged. */
  readonly complaints: string[];
  setWidth(width: number): Promise<void>;
  /** Resolves when the page and what it names are loaded. */
  open(url: string): Promise<void>;
  /** Returns the text that an expression has in the page; a promise is awaited. */
  evaluate(expression: string): Promise<string>;
}

/** Starts Firefox without a window, with a profile of its own, and one tab. */
export async function startFirefox(): Promise<Firefox> {
  const profile = await mkdtemp(join(tmpdir(), "downlink-firefox-"));
  const flags = ["--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", profile];
  const program = spawn(FIREFOX, flags, { stdio: ["ignore", "ignore", "pipe"] });
  const socket = new WebSocket(`${await findAddress(program.stderr)}/session`);
  await once(socket, "open");
  const complaints: string[] = [];
  const send = speak(socket, complaints);
  await send("session.new", { capabilities: {} });
  await send("session.subscribe", { events: ["log.entryAdded"] });
  const { context } = (await send("browsingContext.create", { type: "tab" })) as { context: string };
  return {
    complaints,
    async setWidth(width) {
      await send("browsingContext.setViewport", { context, viewport: { width, height: 800 } });
    },
    async open(url) {
      await send("browsingContext.navigate", { context, url, wait: "complete" });
    },
    async evaluate(expression) {
      const target = { context };
      const { type, result } = (await send("script.evaluate", { expression, target, awaitPromise: true })) as Evaluated;
      if (type !== "success") throw new Error(`${expression} failed`);
      return String(result?.value);
    },
    async [Symbol.asyncDispose]() {
      socket.close();
      program.kill("SIGKILL");
      await once(program, "exit");
      await rm(profile, { recursive: true, force: true });
    },
  };
}

interface Evaluated {
  readonly type: "success" | "exception";
  readonly result?: { readonly value?: unknown };
}

async function findAddress(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const [address] = /ws:\/\/\S+/.exec(line) ?? [];
    if (address) return address;
  }
  throw new Error("Firefox ended before it listened");
}

interface Message {
  readonly id?: number;
  readonly type: "success" | "error" | "event";
  readonly result?: unknown;
  readonly message?: string;
  readonly params?: { readonly level?: string; readonly text?: string };
}

/** Answers have the number of their command; everything else is an event. */
function speak(socket: WebSocket, complaints: string[]) {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  socket.addEventListener("message", ({ data }) => {
    const { id, type, result, message, params } = JSON.parse(String(data)) as Message;
    if (type === "event") {
      if (params?.level === "error") complaints.push(params.text ?? "");
      return;
    }
    const answer = waiting.get(id!);
    if (type === "error") answer?.reject(new Error(message));
    else answer?.resolve(result);
  });
  let last = 0;
  return (method: string, params: object): Promise<unknown> => {
    last += 1;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(last, answer);
    socket.send(JSON.stringify({ id: last, method, params }));
    return answer.promise;
  };
}
