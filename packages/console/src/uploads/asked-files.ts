import { signal } from "@preact/signals";

/** The files that the user chose or dropped for the dialog; undefined while it is closed. */
export const askedFiles = signal<readonly File[] | undefined>(undefined);
