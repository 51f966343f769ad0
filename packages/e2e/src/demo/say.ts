import { styleText } from "node:util";

export function say(line: string): void {
  process.stdout.write(`  ${line}\n`);
}

export function sayStep(title: string): void {
  process.stdout.write(`\n${styleText(["bold", "cyan"], title)}\n`);
}
