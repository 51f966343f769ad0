import assert from "node:assert/strict";
import { test } from "node:test";
import { createStoppedClock } from "../testing/test-clock.ts";
import { createLinkSpeed } from "./link-speed.ts";

test("a link is slow when a part would take over a minute, and quick again only when it is clearly quicker", () => {
  const clock = createStoppedClock();
  const link = createLinkSpeed(clock);
  const run = (seconds: number, bytesPerSecond: number) => {
    for (let second = 0; second < seconds; second++) {
      clock.atMs += 1000;
      link.note(bytesPerSecond);
    }
  };
  const sending = link.sending();
  run(10, 32_000);
  assert.equal(link.isSlow(), false, "ten seconds are too few to judge");
  run(10, 32_000);
  assert.equal(link.isSlow(), true);
  sending[Symbol.dispose]();
  run(100, 0);
  assert.equal(link.isSlow(), true, "nobody sends: nothing new is known");
  using _again = link.sending();
  run(60, 400_000);
  assert.equal(link.isSlow(), true, "not twice the threshold");
  run(60, 600_000);
  assert.equal(link.isSlow(), false);
});
