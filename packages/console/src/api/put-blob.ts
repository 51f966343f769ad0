import { NetworkError, parseFailure } from "@downlink/client";

export { type PieceRange, sendInPieces, type UploadWay } from "@downlink/client";

/** A transfer is given up after this time without any progress. */
const STALL_MS = 90_000;
const TOO_LARGE = 413;

interface Putting {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Gets how many bytes of this try the browser has sent so far. */
  readonly onSent: (bytes: number) => void;
}

/**
 * Sends bytes to a signed target. `fetch` does not say how much was sent. Throws `NetworkError` without an answer, `ApiCallError` for a refusal,
 * and the reason of the signal.
 */
export async function putBlob(url: string, blob: Blob, { headers, signal, onSent }: Putting): Promise<void> {
  signal.throwIfAborted();
  const request = new XMLHttpRequest();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const watch = () => {
    clearTimeout(timer);
    timer = setTimeout(() => request.abort(), STALL_MS);
  };
  const abort = () => request.abort();
  signal.addEventListener("abort", abort);
  request.upload.onprogress = ({ loaded }) => {
    watch();
    onSent(loaded);
  };
  request.onload = () => (isSuccess(request) ? resolve() : reject(failureOf(request)));
  request.onerror = () => reject(new NetworkError("the link broke while a part was sent"));
  request.onabort = () => reject(signal.aborted ? signal.reason : new NetworkError("no progress for too long"));
  request.open("PUT", url);
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  watch();
  request.send(blob);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

function isSuccess({ status }: XMLHttpRequest): boolean {
  return status >= 200 && status < 300;
}

/** A proxy with a limit of its own refuses each part again and again. */
function failureOf(request: XMLHttpRequest): Error {
  const { status, responseText: body } = request;
  const lines = request.getAllResponseHeaders().trim().split(/\r?\n/);
  const headers = new Map(
    lines.map((line): [string, string] => {
      const [name = "", ...value] = line.split(": ");
      return [name.toLowerCase(), value.join(": ")];
    }),
  );
  const failure = parseFailure({ status, headers, body });
  if (status === TOO_LARGE && failure.code === undefined)
    return new Error(
      "A proxy in front of the control plane refuses parts of this size (413): its limit has to be raised.",
    );
  return failure;
}
