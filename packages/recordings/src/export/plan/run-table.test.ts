import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { MessageRun } from "../../message-run.ts";
import type { OpenSource, PlannedRun } from "./open-source.ts";
import { createRunTable } from "./run-table.ts";

const source = {} as OpenSource;
const size = fc.nat({ max: 2 ** 40 });

const planned = fc
  .record({
    offset: size,
    lengthBytes: size,
    startNs: fc.bigInt({ min: 0n, max: 20n }),
    endNs: fc.bigInt({ min: 20n, max: 2n ** 63n - 1n }),
    channelIds: fc.array(fc.nat({ max: 65_535 }), { maxLength: 3 }),
    mayPass: fc.boolean(),
    chunk: fc.option(
      fc.record({
        dataOffset: size,
        storedBytes: size,
        crc: fc.nat({ max: 2 ** 32 - 1 }),
        compression: fc.constantFrom("", "lz4", "zstd"),
      }),
      { nil: undefined },
    ),
    indexed: fc.option(fc.record({ chunkBytes: size, indexesBytes: size }), { nil: undefined }),
  })
  .map(({ chunk, indexed, channelIds, mayPass, ...run }) => {
    const { offset, lengthBytes } = run;
    const whole: MessageRun = {
      ...run,
      ...(chunk && { chunk: { ...chunk, offset, uncompressedBytes: lengthBytes } }),
      ...(indexed && { indexed: { ...indexed } }),
    };
    return { run: whole, plan: { channelIds, mayPass } };
  });

test("runs come out of the table as they went in, by start, equal starts in the order of the file", () => {
  fc.assert(
    fc.property(fc.array(planned, { maxLength: 200 }), (added) => {
      const table = createRunTable(1000);
      for (const { run, plan } of added) table.add(run, plan);
      table.sort();
      const expected = added
        .map(({ run, plan }, number): PlannedRun => ({ ...run, ...plan, source, order: 1000 + number }))
        .sort((a, b) => Number(a.startNs - b.startNs));
      assert.equal(
        table.mayPassSome,
        added.some(({ plan }) => plan.mayPass),
      );
      for (const [index, run] of expected.entries()) {
        const left = expected.slice(index);
        assert.equal(table.length, left.length);
        assert.deepEqual(
          [...table.startsNs()],
          left.map(({ startNs }) => startNs),
        );
        assert.deepEqual(
          [...table.endsNs()],
          left.map(({ endNs }) => endNs),
        );
        assert.equal(table.largestBytes(), Math.max(...left.map(({ lengthBytes }) => lengthBytes)));
        assert.deepEqual(table.next(), { nextNs: run.startNs, order: run.order });
        assert.deepEqual(table.take(source), run);
      }
      assert.equal(table.next(), undefined);
      assert.equal(table.take(source), undefined);
    }),
    { numRuns: 50 },
  );
});
