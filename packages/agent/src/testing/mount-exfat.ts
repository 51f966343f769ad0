import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import type { TestContext } from "node:test";

/** A card with exFAT, which keeps mtime and no ctime. */
export interface ExfatCard extends Disposable {
  /** Takes the card out and puts it in again. */
  remount(): void;
}

/** Mounts such a card at a directory; skips the test and returns undefined where none can be made or mounted. */
export function mountExfat(t: TestContext, directory: string): ExfatCard | undefined {
  const image = `${directory}.image`;
  mkdirSync(directory, { recursive: true });
  writeFileSync(image, "");
  truncateSync(image, 64 * 1024 * 1024);
  let device: string | undefined;
  try {
    execFileSync("mkfs.exfat", [image], { stdio: "pipe" });
    device = execFileSync("losetup", ["-f", "--show", image], { stdio: "pipe", encoding: "utf8" }).trim();
    execFileSync("mount.exfat-fuse", [device, directory], { stdio: "ignore" });
  } catch (error) {
    if (device !== undefined) execFileSync("losetup", ["-d", device]);
    t.skip(`exFAT cannot be mounted here (exfatprogs, exfat-fuse, root): ${(error as Error).message.trim()}`);
    return undefined;
  }
  const [card, mounted] = [device, directory];
  return {
    remount() {
      execFileSync("umount", [mounted]);
      execFileSync("mount.exfat-fuse", [card, mounted], { stdio: "ignore" });
    },
    [Symbol.dispose]() {
      execFileSync("umount", ["-l", mounted]);
      execFileSync("losetup", ["-d", card]);
      rmSync(image);
    },
  };
}
