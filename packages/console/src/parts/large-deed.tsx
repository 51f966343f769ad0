import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { formatBytes, formatCount } from "./bytes.ts";
import { Dialog } from "./dialog.tsx";

/** A deed on more than this is asked about first. */
const MANY = 100;
const LARGE_BYTES = 100e9;

export interface Amount {
  readonly count: number;
  readonly bytes: number;
}

interface LargeDeed {
  /** Does the deed at once, or asks first. */
  begin(go: () => void): void;
  readonly question: VNode | undefined;
}

/** Names a deed with how many it is about, and how much: `Import 4,874 (10.6 TB)`. */
export function nameDeed(verb: string, { count, bytes }: Amount): string {
  return `${verb} ${formatCount(count)} (${formatBytes(bytes)})`;
}

/** Asks before a deed that is about much. `note` says what follows from it. */
export function useLargeDeed(verb: string, amount: Amount, note: ComponentChildren): LargeDeed {
  const [asked, setAsked] = useState<(() => void) | undefined>();
  const name = nameDeed(verb, amount);
  const close = () => setAsked(undefined);
  const go = () => {
    close();
    asked?.();
  };
  return {
    begin: (deed) => (amount.count > MANY || amount.bytes > LARGE_BYTES ? setAsked(() => deed) : deed()),
    question: asked && (
      <Dialog title={`${name}?`} onClose={close}>
        {note}
        <div class="dialog-actions">
          <Button text="Cancel" onClick={close} />
          <Button text={name} class="primary" onClick={go} />
        </div>
      </Dialog>
    ),
  };
}
