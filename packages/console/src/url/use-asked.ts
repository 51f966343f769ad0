import { useEffect, useState } from "preact/hooks";

/**
 * Returns whether a dialog is open that an address may ask for, as `?add=1` does, and what opens and closes it. `onTaken` takes that out of the
 * address, so that neither a reload nor Back opens the dialog again.
 */
export function useAsked(isAsked: boolean, onTaken: () => void): [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (!isAsked) return;
    onTaken();
    setOpen(true);
  }, [isAsked]);
  return [isOpen, setOpen];
}
