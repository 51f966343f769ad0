import assert from "node:assert/strict";
import { test } from "node:test";
import type { Channel, Schema } from "../../survey/survey.ts";
import { IdTable } from "./id-table.ts";

function channelOf(id: number, schemaId = 1): Channel {
  return { id, schemaId, topic: `/${id}`, messageEncoding: "json", metadata: {} };
}

test("a schema that thousands of channels share is hashed once", async () => {
  let reads = 0;
  const schema: Schema = {
    id: 1,
    name: "Large",
    encoding: "",
    get data() {
      reads += 1;
      return new Uint8Array(10);
    },
  };
  const ids = new IdTable();
  const channels = new Map(Array.from({ length: 5000 }, (_, id) => [id, channelOf(id)]));
  assert.ok(await ids.reserve({ schemas: new Map([[1, schema]]), channels }));
  for (const channel of channels.values()) assert.equal(ids.idOf(channel, schema), channel.id);
  assert.equal(reads, 1);
});

test("ids that are taken, doubled or none are not set aside, and nothing is done", async () => {
  const ids = new IdTable();
  const tables = (...channels: Channel[]) => ({
    schemas: new Map<number, Schema>(),
    channels: new Map(channels.map((channel, index) => [index, channel])),
  });
  assert.equal(ids.idOf(channelOf(7, 0), undefined), 7);
  assert.equal(await ids.reserve(tables({ ...channelOf(7, 0), topic: "/other" })), false);
  assert.equal(await ids.reserve(tables({ ...channelOf(7, 0), id: 8 })), false, "it has another id");
  assert.equal(await ids.reserve(tables(channelOf(1, 0), { ...channelOf(1, 0), id: 2 })), false, "one thing, two ids");
  assert.equal(await ids.reserve(tables(channelOf(65_536, 0))), false);
  assert.equal(await ids.reserve(tables({ ...channelOf(3, 0), topic: "/\ufffd" })), false);
  assert.equal(ids.channelCount, 0);
  assert.ok(await ids.reserve(tables(channelOf(1, 0), channelOf(7, 0))));
});

test("channels are introduced once, behind their schemas", () => {
  const ids = new IdTable();
  const schema: Schema = { id: 4, name: "S", encoding: "", data: new Uint8Array(3) };
  for (const id of [1, 2, 3]) ids.idOf(channelOf(id, 4), schema);
  const first = ids.introduce([2, 1, 2]);
  assert.equal(first[0], 0x03);
  assert.equal(ids.introduce([1, 2]).byteLength, 0);
  const second = ids.introduce([1, 3]);
  assert.equal(second[0], 0x04);
  assert.deepEqual([ids.schemaCount, ids.channelCount], [1, 3]);
  assert.equal(ids.encodeSchemas().byteLength + ids.encodeChannels().byteLength, first.byteLength + second.byteLength);
});
