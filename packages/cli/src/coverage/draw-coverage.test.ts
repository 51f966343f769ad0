import assert from "node:assert/strict";
import { test } from "node:test";
import { coverageBits as bits, type CoverageGrid, FIRST_TIME_NS, LAST_TIME_NS } from "@downlink/protocol";
import { displayWidth } from "@downlink/terminal/display-width";
import fc from "fast-check";
import { drawCoverage, layOutCoverage } from "./draw-coverage.ts";

const START = 1_761_990_600_000_000_000n; // 2025-11-01T09:50:00Z
const sums = { recordings: 0, bytes: 0, coveredSeconds: 0 };
const { third, twoThirds, imported, onItsWay, edgeOnly, failed, event } = bits;

function gridOf(rows: Readonly<Record<string, readonly number[]>>, { binNs = 60e9, start = START } = {}): CoverageGrid {
  const devices = Object.entries(rows).map(([name, cells]) => ({
    id: `dev_${name}`,
    name,
    cells: Buffer.from(cells).toString("base64"),
    coveredSeconds: cells.length,
    imported: sums,
    onItsWay: sums,
    edgeOnly: sums,
    failed: sums,
  }));
  return { start, binNs, bins: Object.values(rows)[0]!.length, devices };
}

const rows = {
  "rover-1": [
    0,
    imported,
    imported | third,
    imported | third | twoThirds,
    0,
    event,
    ...Array.from({ length: 18 }, () => 0),
  ],
  "a\u001b[2J-very-long-name": [
    onItsWay,
    edgeOnly | third | twoThirds,
    failed | imported,
    ...Array.from({ length: 21 }, () => 0),
  ],
};

test("without colours each state has its own sign, which says how much of the time there is data", () => {
  assert.equal(layOutCoverage(40).cells, 24);
  const lines = drawCoverage(gridOf(rows), { columns: 40, hasColours: false }).split("\n");
  assert.deepEqual(lines, [
    "rover-1   ▂▅█                       24 s",
    "a\uFFFD[2…ame wDf                        24 s",
    "         ──────────┬─────────────",
    "                   11-01 10:00",
    "2025-11-01T09:50:00Z to 2025-11-01T10:14:00Z",
    "▂▅█ imported  dD on the device only",
    "wW on its way  fF failed",
    "█ and upper case: most of the time",
    "",
  ]);
});

test("with colours the height of a block says how much of the time, and each stretch has its colour once", () => {
  const [, line, , , , ...legend] = drawCoverage(gridOf(rows), { columns: 40, hasColours: true }).split("\n");
  assert.equal(line, `a\uFFFD[2…ame \u001b[33m▂\u001b[36m█\u001b[31m▂\u001b[0m${" ".repeat(21)}   24 s`);
  assert.ok(legend.join().includes("\u001b[32m█\u001b[0m imported  \u001b[36m█\u001b[0m on the device only"));
});

test("several bins of one cell are shown together, and no line is wider than the screen", () => {
  const pairs = Array.from({ length: 48 }, (_, at) => (at === 3 ? imported : 0));
  const drawn = drawCoverage(gridOf({ rover: pairs }), { columns: 40, hasColours: false });
  assert.match(drawn, /^rover {5}▂ +48 s\n/);
  const window = fc.record({
    columns: fc.integer({ min: 45, max: 300 }),
    start: fc.bigInt({ min: FIRST_TIME_NS, max: LAST_TIME_NS / 2n }),
    binNs: fc.integer({ min: 1, max: 1e15 }),
  });
  fc.assert(
    fc.property(window, ({ columns, start, binNs }) => {
      const bins = Array.from({ length: layOutCoverage(columns).cells }, () => imported);
      const lines = drawCoverage(gridOf({ rover: bins }, { start, binNs }), { columns, hasColours: false }).split("\n");
      const axis = lines.slice(0, 3).map(displayWidth);
      assert.ok(
        axis.every((width) => width <= columns),
        `${axis} of ${columns}`,
      );
      assert.match(lines[1]!, /^ +[─┬]+$/);
    }),
  );
});
