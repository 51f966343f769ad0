/** How the command ends. */
export const copyExits = {
  /** This step of the move is done; the last line says what comes next. */
  done: 0,
  /** Objects of the old store are damaged, and were left there. */
  damaged: 1,
  /** It broke off, or could not begin. */
  failed: 2,
  /** Something else has to happen before the next step. */
  waiting: 3,
} as const;

export type CopyExit = (typeof copyExits)[keyof typeof copyExits];
