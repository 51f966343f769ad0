import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import {
  type FieldExpectation,
  type FieldLook,
  lookAtFieldFile,
  parseExpectations,
} from "./testing/look-at-field-file.ts";
import { salvagePool } from "./testing/salvage-bytes.ts";
import { fieldFolder, listSharedFiles, skipWithout } from "./testing/shared-data.ts";
import { slowTest } from "./testing/slow-test.ts";

const skip = skipWithout(fieldFolder);

/** The summary of the file is sound, and only reading every byte shows the damage: the survey reports what the summary counts. */
const surveyedBySummary: ReadonlySet<string> = new Set([
  "a_crc_framing.mcap",
  "b2_nocrc_times63.mcap",
  "b_nocrc_times.mcap",
  "c_nocrc_framing.mcap",
  "e_crc_times_zstd.mcap",
  "lz4_eof.mcap",
  "lz4_eof_introducer.mcap",
  "zstd_eof.mcap",
  "c_header_and_stats_lie.mcap",
  "e_zero_page_mid_end_intact.mcap",
  "j_zero_page_over_boundary_end_intact.mcap",
  "f_statistics_lie.mcap",
  "i_loose_length_garbage.mcap",
  "j_loose_length_short.mcap",
  "n_first_chunk_head_garbage.mcap",
]);

/** Messages that the independent scan did not look for, and that are true. */
const moreThanExpected: Record<string, number> = {
  "m_two_concatenated.mcap": 100,
  "n_two_concatenated.bag": 100,
  "f_two_different_joined.mcap": 100,
  // The summary introduces the channels that the missing bytes held.
  "b_first_4k_missing.mcap": 100,
  "g_first_4k_zero.bag": 100,
  "h_header_record_zero.bag": 100,
  // The scan ends at the length that is wrong.
  "i_loose_length_garbage.mcap": 139,
  "j_loose_length_short.mcap": 140,
};

/** These take as long as all others. */
const LARGEST: ReadonlySet<string> = new Set([
  "01-rollover",
  "10-power-loss",
  "16-reindexed-by-rosbag",
  "17-chunk-in-progress",
  "22-one-chunk-then-cut",
]);

for (const list of listSharedFiles(fieldFolder, "expected.json")) {
  const folder = dirname(list);
  const declare = LARGEST.has(basename(folder)) ? slowTest : test;
  declare(
    `survey and salvage find what a careful scan of the files in ${basename(folder)} finds`,
    { skip },
    async () => {
      for (const [name, expected] of Object.entries(parseExpectations(await readFile(list, "utf8")))) {
        const look = await lookAtFieldFile(await readFile(join(folder, name)), name, salvagePool);
        requireFound(look, expected, name);
      }
    },
  );
}

function requireFound({ surveyed, salvaged, state }: FieldLook, expected: FieldExpectation, name: string): void {
  const more = moreThanExpected[name];
  const sum = Object.values(salvaged).reduce((count, topic) => count + topic.count, 0);
  if (more === undefined) assert.deepEqual(salvaged, expected.topics, name);
  else assert.equal(sum, more, name);
  if ((state === "finished" && surveyedBySummary.has(name)) || state.startsWith("unsupported")) return;
  assert.equal(surveyed.count, sum, `${name}: the survey`);
  if (more !== undefined || sum === 0) return;
  assert.deepEqual([surveyed.start, surveyed.end], [expected.start, expected.end], `${name}: the survey`);
}
