import assert from "node:assert/strict";
import { test } from "node:test";
import { SnsMessage, SnsSignatures, snsUrl } from "./sns-signature.ts";
import { CERTIFICATE_URL, makeTopic } from "./testing/sns-topic.ts";

const topic = makeTopic();
const fetched: string[] = [];
const signatures = new SnsSignatures(async (url) => {
  fetched.push(url.href);
  return url.href.includes("none") ? "no certificate" : topic.certificate;
});
const findFault = (message: Record<string, string>, nowMs = Date.now()) =>
  signatures.findFault(SnsMessage.parse(message), nowMs);

type Fields = Readonly<Record<string, string>>;
const confirmation = {
  Type: "SubscriptionConfirmation",
  Token: "t",
  SubscribeURL: "https://sns.eu-central-1.amazonaws.com/",
};

for (const SignatureVersion of ["1", "2"])
  for (const fields of [{ Message: "a\nb" }, { Subject: "S3", Message: "{}" }, confirmation] as Fields[])
    test(`a message that SNS signed is from SNS: version ${SignatureVersion}, ${Object.keys(fields)}`, async () => {
      assert.equal(await findFault(topic.sign({ ...fields, SignatureVersion })), undefined);
    });

test("the certificate is fetched once", () => {
  assert.deepEqual(fetched, [CERTIFICATE_URL]);
});

for (const [name, over] of Object.entries<Fields>({
  "another message": { Message: "other" },
  "a subject that was not signed": { Subject: "more" },
  "another topic": { TopicArn: "arn:aws:sns:eu-central-1:123456789012:other" },
  "another time": { Timestamp: "2020-01-01T00:00:00.000Z" },
  "another id": { MessageId: "other" },
  "another version of the signature": { SignatureVersion: "1" },
  "no signature": { Signature: "" },
  "somebody else's signature": { Signature: makeTopic().sign({ Message: "m" }).Signature! },
}))
  test(`it is no message of SNS with ${name}`, async () => {
    assert.equal(await findFault(topic.sign({ Message: "m" }, over)), "the signature does not match the message");
  });

test("a certificate counts only while it is valid", async () => {
  const message = topic.sign({ Message: "m" });
  for (const days of [-1, 3])
    assert.match((await findFault(message, Date.now() + days * 86_400_000))!, /not valid now/);
});

test("a certificate of another address than SNS's is not even fetched", async () => {
  const before = fetched.length;
  for (const url of [
    "http://sns.eu-central-1.amazonaws.com/a.pem",
    "https://sns.eu-central-1.amazonaws.com.evil.example/a.pem",
    "https://sns.eu-central-1.amazonaws.com@evil.example/a.pem",
    "https://sns.eu-central-1.amazonaws.com:8443/a.pem",
    "https://sns.eu.central-1.amazonaws.com/a.pem",
    "https://s3.eu-central-1.amazonaws.com/bucket/a.pem",
    "https://sns.eu-central-1.amazonaws.com/a.html",
    "https://sns.eu-central-1.amazonaws.com/a.pem?b=1",
    "https://sns.eu-central-1.amazonaws.com/a.pem#b",
    "https://sns.eu-central-1.amazonaws.com/%61.pem",
    "https://169.254.169.254/a.pem",
    "a.pem",
  ]) {
    const fault = await findFault(topic.sign({ Message: "m", SigningCertURL: url }));
    assert.equal(fault, "SigningCertURL is no certificate of SNS", url);
  }
  assert.equal(fetched.length, before);
});

test("an answer that is no certificate proves nothing", async () => {
  const SigningCertURL = "https://sns.eu-central-1.amazonaws.com/none.pem";
  assert.match((await findFault(topic.sign({ Message: "m", SigningCertURL })))!, /holds no certificate/);
});

test("addresses of SNS are those of its regions, in China too", () => {
  for (const host of [
    "sns.us-east-1.amazonaws.com",
    "sns.us-gov-west-1.amazonaws.com",
    "sns.cn-north-1.amazonaws.com.cn",
  ])
    assert.equal(snsUrl(`https://${host}/x`)?.hostname, host);
  assert.equal(snsUrl(undefined), undefined);
});
