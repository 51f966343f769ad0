import { mkdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";

const HEARTBEAT_MS = 2000;
const STALE_MS = 20_000;

/** Returns how to release the lock. Its holder touches it regularly; a lock that is not touched any more was left by a killed process. */
export async function takeLock(lock) {
  for (let attempt = 0; !tryLock(lock); attempt++) {
    if (attempt === 0) process.stderr.write("setup: waiting for another set-up of this checkout to end …\n");
    await new Promise((done) => setTimeout(done, 200));
  }
  const heartbeat = setInterval(() => touchLock(lock), HEARTBEAT_MS);
  return () => {
    clearInterval(heartbeat);
    rmSync(lock, { recursive: true, force: true });
  };
}

function tryLock(lock) {
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
  if (lockAgeMs(lock) > STALE_MS) dropStaleLock(lock);
  return false;
}

function lockAgeMs(lock) {
  try {
    return Date.now() - statSync(lock).mtimeMs;
  } catch (error) {
    if (error.code === "ENOENT") return 0;
    throw error;
  }
}

/** The lock is renamed first: of several processes that find it stale, one succeeds. */
function dropStaleLock(lock) {
  const aside = `${lock}.${process.pid}`;
  try {
    renameSync(lock, aside);
  } catch (error) {
    if (error.code === "ENOENT") return;
    throw error;
  }
  rmSync(aside, { recursive: true, force: true });
}

function touchLock(lock) {
  mkdirSync(lock, { recursive: true }); // an install may remove the folder around it
  utimesSync(lock, new Date(), new Date());
}
