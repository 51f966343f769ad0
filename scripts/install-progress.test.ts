import assert from "node:assert/strict";
import { test } from "node:test";
// @ts-expect-error: plain JavaScript, which runs before there is a compiler
import { followInstallation } from "./install-progress.mjs";

const fetching = (packageId: string, more: object) => ({ name: "pnpm:fetching-progress", packageId, ...more });

function follow(events: readonly (object | string)[]) {
  const following = followInstallation();
  for (const event of events) following.add(typeof event === "string" ? event : JSON.stringify(event));
  return following as { progress(): string; text(): string };
}

test("progress names packages and megabytes: the size of small ones, and of large ones what is here", () => {
  const events = [
    { name: "pnpm:stats", added: 3 },
    fetching("small@1", { status: "started", size: 2_000_000 }),
    { name: "pnpm:progress", status: "fetched" },
    fetching("large@1", { status: "started", size: 50_000_000 }),
    fetching("unknown@1", { status: "started", size: null }),
  ];
  assert.equal(follow(events).progress(), ", 1 of 3 packages, 2 MB fetched");
  const later = fetching("large@1", { status: "in_progress", downloaded: 20_000_000 });
  assert.equal(follow([...events, later]).progress(), ", 1 of 3 packages, 22 MB fetched");
});

test("nothing is said of packages while none is there, nor of megabytes where none are fetched", () => {
  assert.equal(follow([{ name: "pnpm:stats", added: 3 }]).progress(), "");
  assert.equal(follow([{ name: "pnpm:progress", status: "found_in_store" }]).progress(), ", 1 packages");
});

test("an error is its sentence, of pnpm or of npx before it, without complaints about the Node that runs pnpm", () => {
  const events = [
    { name: "pnpm:install-check", level: "warn", message: "Unsupported engine" },
    { name: "pnpm", level: "error", err: { message: "the lockfile is not up to date" } },
    "npm error code ECONNREFUSED",
  ];
  assert.equal(follow(events).text(), "the lockfile is not up to date\nnpm error code ECONNREFUSED");
});
