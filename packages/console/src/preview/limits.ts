/** The limits of one preview. */
export const previewLimits = {
  /** The window that is shown first. */
  windowNs: 20_000_000_000,
  /** Read from the export, at most. */
  bytes: 32 * 1024 * 1024,
  /** Each message takes some two hundred bytes beside its own. */
  messages: 400_000,
  series: 8,
  /** Lines of one log. */
  logRows: 20_000,
  /** Names that report their state, and changes of each. */
  stateLanes: 200,
  stateRuns: 2000,
  /** Fields that are offered for one topic. */
  fields: 500,
  /** A worker from which nothing is heard is ended. */
  silenceMs: 10_000,
  memoryBytes: 256 * 1024 * 1024,
  imagePixels: 64_000_000,
  /** Pixels of a picture that comes as it is: the page holds it more than once. */
  rawPixels: 16_000_000,
  /** Pictures of a video that are read to show one of them. */
  videoFrames: 300,
  /** Pictures that are tried where that of the moment cannot be shown. */
  pictureTries: 30,
} as const;
