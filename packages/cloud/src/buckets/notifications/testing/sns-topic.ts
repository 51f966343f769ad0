import { execFileSync } from "node:child_process";
import { createPrivateKey, createSign, type KeyObject } from "node:crypto";

export const CERTIFICATE_URL = "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-1.pem";
export const TOPIC_ARN = "arn:aws:sns:eu-central-1:123456789012:recordings";

/** A topic of SNS with a certificate of our own, whose messages are signed as SNS signs them. */
export interface TestTopic {
  readonly certificate: string;
  /** Makes a message and signs it; `over` replaces fields afterwards, as a forger would. */
  sign(fields: Readonly<Record<string, string>>, over?: Readonly<Record<string, string>>): Record<string, string>;
}

const signed = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
};

export function makeTopic(): TestTopic {
  const made = execFileSync(
    "openssl",
    "req -x509 -newkey rsa:2048 -nodes -subj /CN=sns.amazonaws.com -days 2 -keyout - -out -".split(" "),
    { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
  );
  const [, key, certificate] =
    /(-+BEGIN PRIVATE KEY.*END PRIVATE KEY-+).*?(-+BEGIN CERTIFICATE.*END CERTIFICATE-+)/s.exec(made)!;
  const privateKey = createPrivateKey(key!);
  return { certificate: certificate!, sign: (fields, over = {}) => ({ ...signMessage(privateKey, fields), ...over }) };
}

/** Signs independently of the code that checks: by the list of the fields as SNS documents it. */
function signMessage(key: KeyObject, fields: Readonly<Record<string, string>>): Record<string, string> {
  const message: Record<string, string> = {
    Type: "Notification",
    MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    TopicArn: TOPIC_ARN,
    Message: "",
    Timestamp: new Date().toISOString(),
    SignatureVersion: "2",
    SigningCertURL: CERTIFICATE_URL,
    ...fields,
  };
  const names = signed[message.Type as keyof typeof signed].filter((name) => name in message);
  const text = names.map((name) => `${name}\n${message[name]}\n`).join("");
  const signer = createSign(message.SignatureVersion === "1" ? "RSA-SHA1" : "RSA-SHA256");
  return { ...message, Signature: signer.update(text).sign(key, "base64") };
}
