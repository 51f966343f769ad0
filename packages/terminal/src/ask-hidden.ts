import type { ReadStream } from "node:tty";

const keys = { enter: ["\r", "\n", "\u0004"], erase: ["\u007f", "\b"], interrupt: "\u0003" };

/** Asks for a line, and does not show what is typed. Returns undefined after Ctrl-C. */
export async function askHidden(
  input: ReadStream,
  notes: NodeJS.WritableStream,
  question: string,
): Promise<string | undefined> {
  notes.write(question);
  let typed = "";
  input.setEncoding("utf8").setRawMode(true);
  try {
    for await (const chunk of input.iterator({ destroyOnReturn: false })) {
      for (const key of String(chunk)) {
        if (key === keys.interrupt) return undefined;
        if (keys.enter.includes(key)) return typed;
        typed = keys.erase.includes(key) ? typed.slice(0, -1) : typed + key;
      }
    }
    return typed;
  } finally {
    input.setRawMode(false).pause();
    notes.write("\n");
  }
}
