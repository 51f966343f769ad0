import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { PutBucketNotificationConfigurationCommand, S3Client } from "@aws-sdk/client-s3";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { whyNoCeph } from "../../store/bucket-uploads/testing/run-ceph.ts";
import { type Customer, startCustomer } from "../bucket-objects/testing/start-customer.ts";

const skip = whyNoCeph();
// Without a real S3 every test is skipped, and none of these is used. The bucket is never listed, so only notifications can say what is in
// it.
const customer = skip === undefined ? await startCustomer({ after }) : ({} as Customer);
const ODD_NAMES = ["plain.mcap", "a+b %2F/ü.mcap", "100%.mcap", "robots/\u{1f916} 1/a&b=c;d.mcap"];

/** Makes the bucket of a site push its own notifications to the control plane. */
async function push({ siteId, bucket }: { siteId: string; bucket: string }): Promise<void> {
  const { cloud, ceph } = customer;
  const { token } = await cloud.admin.call(api.inboxTokens.create, { siteId });
  const topic = await createTopic(`${cloud.url}/endpoints/inbox-notifications?token=${token}`);
  const client = new S3Client({
    ...{ endpoint: ceph.endpoint, region: "us-east-1", forcePathStyle: true, credentials: ceph.owner },
  });
  const Events = ["s3:ObjectCreated:*", "s3:ObjectRemoved:*"] as const;
  const TopicConfigurations = [{ Id: "downlink", TopicArn: topic, Events: [...Events] }];
  const NotificationConfiguration = { TopicConfigurations };
  await client.send(new PutBucketNotificationConfigurationCommand({ Bucket: bucket, NotificationConfiguration }));
  client.destroy();
}

/** Makes a topic by the interface of SNS, which the SDK for S3 does not speak. */
async function createTopic(endpoint: string): Promise<string> {
  const { ceph } = customer;
  const { accessKeyId, secretAccessKey } = ceph.owner;
  const body = new URLSearchParams({
    Action: "CreateTopic",
    Name: "downlink",
    "Attributes.entry.1.key": "push-endpoint",
    "Attributes.entry.1.value": endpoint,
  });
  const user = `${accessKeyId}:${secretAccessKey}`;
  const args = [
    "-s",
    "--aws-sigv4",
    "aws:amz:default:sns",
    "--user",
    user,
    "--data",
    String(body),
    `${ceph.endpoint}/`,
  ];
  const { stdout } = await promisify(execFile)("curl", args);
  return /<TopicArn>([^<]+)</.exec(stdout)?.[1] ?? assert.fail(stdout);
}

test("what is put into a bucket and removed from it is known by Ceph's own notifications, whatever its name", {
  skip,
}, async () => {
  const site = await customer.makeSite();
  await push(site);
  const started = 1_760_000_000_000_000_000n;
  for (const [at, name] of ODD_NAMES.entries())
    await site.put(name, await makeMcap({ startNs: started + BigInt(at) * 10n ** 12n, durationSeconds: 1 }));
  const states = async () => (await site.recordings()).map(({ path, importStatus }) => `${path} ${importStatus}`);
  const expected = (state: string) => ODD_NAMES.map((name) => `${name} ${state}`).sort();
  await eventually(states, (all) => all.join() === expected("complete").join());
  for (const name of ODD_NAMES) await site.remove(name);
  await eventually(states, (all) => all.join() === expected("failed").join());
  await site.settle();
  assert.deepEqual(await states(), expected("failed"));
});
