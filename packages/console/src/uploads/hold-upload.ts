// An upload is sent by one tab. A lock of the browser ends with its tab, whatever ends that; pages over plain http have none, and ask the other
// tabs instead.

const CHANNEL = "downlink.uploads";
/** A tab that is there answers sooner. */
const ANSWER_MS = 300;

const nameOf = (requestId: string) => `downlink-upload-${requestId}`;

/** Takes an upload for this tab. Returns what lets it go; undefined where another tab has it. */
export function holdUpload(requestId: string): Promise<(() => void) | undefined> {
  const { locks } = navigator as { locks?: LockManager };
  return locks ? holdByLock(locks, requestId) : holdByAsking(requestId);
}

/** Returns whether a tab has the upload. */
export async function isHeld(requestId: string): Promise<boolean> {
  const { locks } = navigator as { locks?: LockManager };
  if (!locks) return isHeldElsewhere(requestId);
  const { held = [] } = await locks.query();
  return held.some(({ name }) => name === nameOf(requestId));
}

function holdByLock(locks: LockManager, requestId: string): Promise<(() => void) | undefined> {
  return new Promise((answer) => {
    void locks.request(nameOf(requestId), { ifAvailable: true }, (lock) => {
      if (!lock) return answer(undefined);
      return new Promise<void>((release) => answer(release));
    });
  });
}

interface Message {
  readonly requestId: string;
  readonly isHeld: boolean;
}

const ours = new Set<string>();
let channel: BroadcastChannel | undefined;

async function holdByAsking(requestId: string): Promise<(() => void) | undefined> {
  if (await isHeldElsewhere(requestId)) return undefined;
  ours.add(requestId);
  return () => ours.delete(requestId);
}

async function isHeldElsewhere(requestId: string): Promise<boolean> {
  const open = openChannel();
  return new Promise((answer) => {
    const end = (isHeld: boolean) => {
      open.removeEventListener("message", listen);
      answer(isHeld);
    };
    const listen = ({ data }: MessageEvent<Message>) => data.isHeld && data.requestId === requestId && end(true);
    open.addEventListener("message", listen);
    open.postMessage({ requestId, isHeld: false } satisfies Message);
    setTimeout(() => end(false), ANSWER_MS);
  });
}

/** Answers the other tabs from now on. */
function openChannel(): BroadcastChannel {
  if (channel) return channel;
  const opened = new BroadcastChannel(CHANNEL);
  opened.addEventListener("message", ({ data: { requestId, isHeld } }: MessageEvent<Message>) => {
    if (!isHeld && ours.has(requestId)) opened.postMessage({ requestId, isHeld: true } satisfies Message);
  });
  channel = opened;
  return opened;
}
