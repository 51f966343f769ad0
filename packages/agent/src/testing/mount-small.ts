import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import type { TestContext } from "node:test";

/** Mounts a file system of a size (`8m`); skips the test and returns undefined where none can be mounted. */
export function mountSmall(t: TestContext, directory: string, size: string): Disposable | undefined {
  mkdirSync(directory, { recursive: true });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", directory], { stdio: "pipe" });
  } catch (error) {
    t.skip(`a small file system cannot be mounted here: ${(error as Error).message.trim()}`);
    return undefined;
  }
  return { [Symbol.dispose]: () => void execFileSync("umount", ["-l", directory]) };
}
