/** The file costs more than an import may; the message tells a person what to do. The same file will never do better. */
export class TooHeavy extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TooHeavy";
  }
}

/** The thread's heap is full: by this file, unless others before it left theirs. */
export class ThreadOutOfMemory extends TooHeavy {
  constructor(heapMegabytes: number) {
    super(
      `indexing the file needs more memory than the ${heapMegabytes} MB that an import may use; ` +
        "record fewer channels, attachments and metadata records in one file, or split it",
    );
    this.name = "ThreadOutOfMemory";
  }
}

/** Nothing can be salvaged of the file; the message tells a person why. The same file will never give more. */
export class SalvageRefused extends Error {
  readonly code: string;

  constructor({ code, text }: { code: string; text: string }) {
    super(text);
    this.name = "SalvageRefused";
    this.code = code;
  }
}

/** The thread ended by itself, or threw what nobody expected: a fault of ours that this file brings out, or of the machine. */
export class ThreadFailed extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ThreadFailed";
  }
}
