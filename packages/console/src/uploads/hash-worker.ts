import { hashBlob } from "./hash-blob.ts";

export interface ToHasher {
  readonly id: number;
  readonly blob: Blob;
}

export type FromHasher =
  | { readonly id: number; readonly hashedBytes: number }
  | { readonly id: number; readonly digest: Uint8Array }
  | { readonly id: number; readonly isUnreadable: true; readonly problem: string };

const REPORT_EVERY_MS = 100;

addEventListener("message", ({ data: { id, blob } }: MessageEvent<ToHasher>) => {
  let reportedAt = 0;
  const onHashed = (hashedBytes: number) => {
    const now = performance.now();
    if (now - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = now;
    report({ id, hashedBytes });
  };
  hashBlob(blob, onHashed).then(
    (digest) => report({ id, digest }),
    (error: unknown) => report({ id, isUnreadable: true, problem: String(error) }),
  );
});

function report(message: FromHasher): void {
  (postMessage as (message: FromHasher) => void)(message);
}
