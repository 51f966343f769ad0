/**
 * Why recordings that are sound cannot be exported together.
 *
 * - `TooMuchOverlap` more chunks or recordings lie at the same time than can be put in order in bounded memory
 * - `TooManyChannels` the selected channels or schemas are more than an MCAP file holds
 * - `SpanExceeded` a recording holds messages before the span that its `ExportSource` told
 * - `NotABag` a bag was asked for of a recording of another format
 * - `LastMessagesTooLarge` the messages that `lastPerChannel` asks for do not fit into memory
 */
export type ExportFaultCode =
  | "TooMuchOverlap"
  | "TooManyChannels"
  | "SpanExceeded"
  | "LastMessagesTooLarge"
  | "NotABag";

export class ExportFault extends Error {
  readonly code: ExportFaultCode;

  constructor(code: ExportFaultCode, text: string) {
    super(text);
    this.name = "ExportFault";
    this.code = code;
  }
}
