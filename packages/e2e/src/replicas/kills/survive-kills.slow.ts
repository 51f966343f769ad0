import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "@downlink/recordings/testing";
import { whyNoNginx } from "../nginx.ts";
import { whyNotInCi } from "../why-not-in-ci.ts";
import { surviveKills } from "./survive-kills.ts";

const KILLS = 10;

test("whichever process of a control plane is killed, a client sees at most one failed request for each kill, and nothing is lost", {
  skip: whyNoNginx() ?? whyNotInCi(),
}, async () => {
  const { failures, files, uploads } = await surviveKills({ kills: KILLS, random: seededRandom(7), isInBucket: false });
  assert.deepEqual(failures, []);
  assert.ok(files > 0 && uploads > 0, "there was something to lose");
});
