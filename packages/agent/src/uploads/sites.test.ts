import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiCallError, NetworkError } from "@downlink/client";
import { createProblemBoard } from "../diagnostics/problems.ts";
import { createStoppedClock } from "../testing/test-clock.ts";
import { createSites, SiteRestingError } from "./sites.ts";

const plant = { id: "site_1", name: "plant", address: "http://plant.example" };
const depot = { id: "site_2", name: "depot", address: "http://depot.example" };
const down = () => new NetworkError("cannot reach plant.example: refused");

function makeSites() {
  const clock = createStoppedClock();
  const problems = createProblemBoard(clock);
  const sites = createSites({ clock, problems });
  const fail = (requestId: string, failure: Error = down()) => {
    sites.blame(plant, failure);
    return sites.noteEnd(requestId, failure);
  };
  const pass = (ms: number) => {
    clock.atMs += ms;
  };
  const shown = () => problems.list().map(({ code, detail }) => `${code}: ${detail}`);
  return { sites, fail, pass, shown };
}

test("requests for a site that cannot be reached rest together, and those for another one do not", () => {
  const { sites, fail, shown } = makeSites();
  for (const requestId of ["req_1", "req_2"]) sites.enter(requestId, plant);
  sites.enter("req_3", depot);
  assert.equal(fail("req_1"), 2500);
  assert.deepEqual(["req_1", "req_2", "req_3", "req_4"].map(sites.isResting), [true, true, false, false]);
  assert.throws(() => sites.enter("req_4", plant), SiteRestingError);
  assert.equal(shown().length, 1);
  assert.match(shown()[0]!, /^SiteUnreachable: the site "plant" at http:\/\/plant.example: cannot reach/);
});

test("after its rest one request tries the site, longer each time, and the first answer lets all go on", () => {
  const { sites, fail, pass, shown } = makeSites();
  for (const requestId of ["req_1", "req_2"]) sites.enter(requestId, plant);
  fail("req_1");
  pass(2500);
  sites.enter("req_2", plant);
  assert.equal(sites.isResting("req_1"), true, "the other one tries");
  assert.throws(() => sites.enter("req_1", plant), SiteRestingError);
  assert.equal(fail("req_2"), 5000);
  for (let tries = 0; tries < 20; tries++) {
    pass(60_000);
    sites.enter("req_1", plant);
    assert.ok(fail("req_1")! <= 60_000);
  }
  pass(60_000);
  sites.enter("req_1", plant);
  sites.noteAnswer(plant);
  assert.deepEqual(["req_1", "req_2"].map(sites.isResting), [false, false]);
  assert.deepEqual(shown(), []);
});

test("a request that is wanted no more while it tries a site does not keep out the others", () => {
  const { sites, fail, pass } = makeSites();
  for (const requestId of ["req_1", "req_2"]) sites.enter(requestId, plant);
  fail("req_1");
  pass(2500);
  sites.enter("req_1", plant);
  assert.equal(sites.isResting("req_2"), true, "the other one tries");
  sites.keepOnly(new Set(["req_2"]));
  sites.noteEnd("req_1", new Error("aborted"));
  assert.equal(sites.isResting("req_2"), false);
  sites.enter("req_2", plant);
});

test("a refusal is no trouble of the site, and neither is a failure of the control plane", () => {
  const { sites, fail, shown } = makeSites();
  sites.enter("req_1", plant);
  const refused = new ApiCallError({ status: 409, code: "UploadClosed", message: "closed" });
  assert.equal(fail("req_1", refused), undefined);
  assert.equal(sites.noteEnd("req_1", new NetworkError("cannot reach the control plane")), undefined);
  assert.equal(sites.isResting("req_1"), false);
  assert.deepEqual(shown(), []);
});

test("a site to which nothing goes any more is no problem", () => {
  const { sites, fail, shown } = makeSites();
  sites.enter("req_1", plant);
  fail("req_1");
  sites.keepOnly(new Set(["req_9"]));
  assert.deepEqual(shown(), []);
});
