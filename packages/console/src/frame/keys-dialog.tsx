import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.tsx";
import { activeShortcuts, areKeysOn, turnKeys } from "../parts/keys.ts";

/** Lists the keys of the page that is open, and turns them off for those whom they disturb. */
export function KeysDialog({ onClose }: { onClose: () => void }) {
  const [isOn, setOn] = useState(areKeysOn());
  const turn = () => {
    turnKeys(!isOn);
    setOn(!isOn);
  };
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="keys">
        {activeShortcuts().map(({ keys, does }) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label class="row">
        <input type="checkbox" checked={isOn} onChange={turn} /> Use single-key shortcuts
      </label>
    </Dialog>
  );
}
