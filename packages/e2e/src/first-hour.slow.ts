import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { eventually, makeMcap, readIndexedMessages } from "@downlink/recordings/testing";
import { commandsBelow, openCheckout } from "./processes/page-commands.ts";

const PORT_OF_PAGE = "8080";

test("the README's way from nothing to an exported file works as it is written", async (t) => {
  const [start, addDevice, joined, asked, exported] = commandsBelow("README.md", "## Ten minutes to the first export");
  const checkout = await openCheckout(t);
  const { folder } = checkout;
  const recording = await makeMcap();
  await writeFile(join(folder, "recordings", "a.mcap"), recording);

  const served = checkout.begin(start![0]!, { DOWNLINK_PORT: "0" });
  const [, port] = await served.printed(/Downlink serves at http:\/\/127\.0\.0\.1:(\d+)/);
  const KEY = (await readFile(join(folder, ".data/admin.key"), "utf8")).trim();
  const here = (command: string) => command.replaceAll(PORT_OF_PAGE, port!);
  const run = (command: string, env = {}) => checkout.run(here(command), { KEY, ...env });

  const made = await run(addDevice![0]!);
  const [line] = /^ *(echo \S+ \| npm run .*)$/m.exec(made)!.slice(1);
  await run(line!);

  const [runAgent, status, list] = joined as [string, string, string];
  checkout.begin(here(runAgent).replace(/ &$/, ""));
  const listed = () => run(list).then((text) => JSON.parse(text) as { id: string; path: string }[]);
  const [{ id: ID, path }] = (await eventually(listed, ({ length }) => length === 1)) as [{ id: string; path: string }];
  assert.equal(path, "a.mcap");
  assert.match(await run(status), /rover-1/);

  const [ask, get] = asked as [string, string];
  await run(ask, { ID });
  const read = () => run(get, { ID }).then((text) => JSON.parse(text) as { importStatus: string });
  await eventually(read, ({ importStatus }) => importStatus === "complete");
  await run(exported!.join("\n"), { ID });
  const slice = await readFile(join(folder, "slice.mcap"));
  assert.deepEqual(await messagesOf(slice), await messagesOf(recording));
});

async function messagesOf(bytes: Uint8Array) {
  const messages = await readIndexedMessages(bytes);
  return messages.map(({ topic, logTimeNs, data }) => ({ topic, logTimeNs, data }));
}
