import assert from "node:assert/strict";
import { test } from "node:test";
import { createTally } from "./tally.ts";

test("a client may see one failed request of each kill, and none of a process that SIGTERM ends", () => {
  const tally = createTally();
  tally.nextKill("killed");
  tally.fail("lists", "502");
  tally.fail("exports", "502");
  tally.nextKill("killed");
  tally.fail("lists", "cut");
  assert.deepEqual(tally.excesses(), []);
  tally.fail("lists", "502");
  tally.nextKill("stopped", true);
  tally.succeed("exports");
  tally.fail("exports", "503");
  assert.deepEqual(tally.excesses(), [
    "lists, after kill 2 (killed): 2 failed requests\n  cut\n  502",
    "exports, after kill 3 (stopped): 1 failed requests\n  503",
  ]);
  assert.deepEqual(Object.fromEntries(tally.kills), {
    killed: { times: 2, failed: 4, most: 2 },
    stopped: { times: 1, failed: 1, most: 1 },
  });
});
