import assert from "node:assert/strict";
import { request } from "node:http";
import { after, test } from "node:test";
import { startCloud } from "../../testing/start-cloud.ts";

const plain = await startCloud({ after }, { works: false });
const proxied = await startCloud({ after }, { works: false, environment: { DOWNLINK_TRUSTED_PROXIES: "127.0.0.1" } });
const chosen = await startCloud(
  { after },
  { works: false, environment: { DOWNLINK_PUBLIC_URL: "https://downlink.example.org" } },
);

/** Asks for an upload link with the given headers, and returns the origin that it leads to. */
async function linkOrigin(cloud: typeof plain, headers: Record<string, string>): Promise<string> {
  const body = JSON.stringify({ filename: "a.mcap", deviceName: "robot" });
  const all = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json", ...headers };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const asking = request(`${cloud.url}/v1/data/upload`, { method: "POST", headers: all }, (answer) => {
    let text = "";
    answer.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
    answer.on("end", () => resolve(text));
  });
  asking.on("error", reject).end(body);
  return new URL((JSON.parse(await promise) as { link: string }).link).origin;
}

test("without a public URL a link leads to the address at which it was asked for", async () => {
  assert.equal(await linkOrigin(plain, { host: "robots.example:8080" }), "http://robots.example:8080");
  assert.equal(await linkOrigin(plain, { host: "[::1]:8080" }), "http://[::1]:8080");
  assert.equal(await linkOrigin(plain, {}), plain.url);
});

test("a link that was made for one caller is not made again for another one by the same address", async () => {
  const [first, second] = await Promise.all([
    linkOrigin(plain, { host: "a.example" }),
    linkOrigin(plain, { host: "b.example" }),
  ]);
  assert.deepEqual([first, second], ["http://a.example", "http://b.example"]);
});

test("only a trusted proxy says how its caller came", async () => {
  const forwarded = { host: "inner:8080", "x-forwarded-host": "outer.example", "x-forwarded-proto": "https" };
  assert.equal(await linkOrigin(proxied, forwarded), "https://outer.example");
  assert.equal(await linkOrigin(plain, forwarded), "http://inner:8080");
});

test("the public URL that the operator chose goes before all", async () => {
  assert.equal(await linkOrigin(chosen, { host: "robots.example" }), "https://downlink.example.org");
});
