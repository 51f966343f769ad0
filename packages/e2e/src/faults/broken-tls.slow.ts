import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startTlsFront, type TlsTrouble } from "../processes/tls-front.ts";
import { untilProblem } from "./ask-status.ts";
import { openFaultBed } from "./fault-bed.ts";
import { assertInvariants } from "./invariants.ts";
import { keepRunning } from "./keep-running.ts";
import { liveThrough, makeRobot } from "./robot.ts";
import { untilMoving } from "./until-moving.ts";

/** The fault of the connection, and how `status` names it. */
const troubles: readonly [TlsTrouble, string, RegExp][] = [
  ["expired", "TlsFailed", /certificate has expired/],
  ["wrong name", "TlsFailed", /Host: localhost\. is not in the cert's altnames/],
  ["plain HTTP", "TlsFailed", /TLS: wrong version number/],
  ["cut handshake", "CloudUnreachable", /before secure TLS connection was established/],
];

test("broken TLS is named, nothing is sent to a server that cannot be trusted, and the upload continues where it was", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "downlink-tls-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const authorityFile = join(folder, "authority.pem");
  await using tls = await startTlsFront(authorityFile);
  await using bed = await openFaultBed({ reachedAs: tls.standBefore });
  await using robot = await makeRobot(bed, { env: { NODE_EXTRA_CA_CERTS: authorityFile } });
  tls.suffer("unknown authority");
  await using agent = keepRunning(robot.agentOptions);
  await untilProblem(robot, "TlsFailed", /unable to verify the first certificate/);
  tls.suffer("none");
  const life = liveThrough(bed, robot);
  await untilMoving(bed, life);
  for (const [trouble, code, text] of troubles) {
    tls.suffer(trouble);
    await untilProblem(robot, code, text);
  }
  bed.proxy.throttle(Number.POSITIVE_INFINITY);
  tls.suffer("none");
  await Promise.race([life, agent.fell]);
  assert.equal(tls.betrayedBytes(), 0);
  await agent.stop();
  await assertInvariants(bed, robot);
});
