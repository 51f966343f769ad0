import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "../config.ts";

const read = (viewers: unknown, more = {}) =>
  readConfig({ DATABASE_URL: "postgres://127.0.0.1/x", DOWNLINK_VIEWERS: JSON.stringify(viewers), ...more });

test("the pages of viewers may read links, each origin once beside those that were named before", () => {
  const viewers = [
    { name: "Lichtblick", url: "https://viewer.example/?ds=remote-file&ds.url={link}" },
    { name: "Another page of it", url: "https://viewer.example/beta?ds.url={link}", as: "stream" },
    { name: "Rerun", url: "http://localhost:9090/?url={link}" },
  ];
  const { viewers: found, linkOrigins } = read(viewers, { DOWNLINK_LINK_ORIGINS: "https://viewer.example" });
  assert.deepEqual(
    found.map(({ as }) => as),
    ["file", "stream", "file"],
  );
  assert.deepEqual(linkOrigins, ["https://viewer.example", "http://localhost:9090"]);
});

test("a viewer that would get links in vain, or on an open line, is refused by its place", () => {
  const named = { name: "x", url: "https://viewer.example/?url={link}" };
  for (const [viewers, sentence] of [
    [[{ ...named, url: "https://viewer.example/" }], /DOWNLINK_VIEWERS\.0\.url: must have \{link\}/],
    [[named, { ...named, url: "http://viewer.example/?url={link}" }], /DOWNLINK_VIEWERS\.1\.url: must be an address/],
    [[{ ...named, url: "http://localhost.evil.example/?url={link}" }], /DOWNLINK_VIEWERS\.0\.url: must be an address/],
    [[{ ...named, url: "javascript:alert({link})" }], /DOWNLINK_VIEWERS\.0\.url: must be an address/],
    [[{ ...named, as: "film" }], /DOWNLINK_VIEWERS\.0\.as/],
    [[{ ...named, ulr: "" }], /DOWNLINK_VIEWERS\.0/],
    [Array.from({ length: 11 }, () => named), /DOWNLINK_VIEWERS: /],
    [{ named }, /DOWNLINK_VIEWERS: /],
  ] as const)
    assert.throws(() => read(viewers), sentence);
});
