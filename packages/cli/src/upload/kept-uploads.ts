import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** The uploads that were begun and not ended, by the SHA-256 of their files. */
export interface KeptUploads {
  find(sha256: string): string | undefined;
  keep(sha256: string, requestId: string): void;
  forget(sha256: string): void;
}

/** Keeps one small file for each upload. `place` is where the files go: the control plane, device and session. */
export function keepUploads({ XDG_STATE_HOME, HOME }: Environment, place: unknown): KeptUploads {
  const folder = join(XDG_STATE_HOME || join(HOME || homedir(), ".local", "state"), "downlink", "uploads");
  const pathOf = (sha256: string) =>
    join(
      folder,
      createHash("sha256")
        .update(JSON.stringify([place, sha256]))
        .digest("hex")
        .slice(0, 32),
    );
  return {
    find(sha256) {
      try {
        const text = readFileSync(pathOf(sha256), "utf8");
        return /^[\w-]{1,100}$/.test(text) ? text : undefined;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
    },
    keep(sha256, requestId) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const beside = `${pathOf(sha256)}.${process.pid}`;
      writeFileSync(beside, requestId, { mode: 0o600 });
      renameSync(beside, pathOf(sha256));
    },
    forget: (sha256) => rmSync(pathOf(sha256), { force: true }),
  };
}
