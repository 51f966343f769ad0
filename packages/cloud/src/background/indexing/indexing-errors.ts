/** The file costs more than an import may; the message tells a person what to do. The same file will never cost less. */
export class TooHeavyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TooHeavyError";
  }
}

/** The thread's heap is full: because of this file, unless earlier files left something in it. */
export class ThreadOutOfMemoryError extends TooHeavyError {
  constructor(heapMegabytes: number) {
    super(
      `indexing the file needs more memory than the ${heapMegabytes} MB that an import may use; ` +
        "record fewer channels, attachments and metadata records in one file, or split it",
    );
    this.name = "ThreadOutOfMemoryError";
  }
}

/** Nothing can be salvaged of the file; the message tells a person why. The same file will never give more. */
export class SalvageRefusedError extends Error {
  readonly code: string;

  constructor({ code, text }: { code: string; text: string }) {
    super(text);
    this.name = "SalvageRefusedError";
    this.code = code;
  }
}

/** The thread ended by itself, or threw an unexpected error: this file reveals a bug, or the machine failed. */
export class ThreadFailedError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ThreadFailedError";
  }
}
