/** Commander's messages begin with `error:`; ours begin with the name of the program, also those about how it was called. */
export function beginWithName(program: string): { outputError(text: string, write: (text: string) => void): void } {
  return { outputError: (text, write) => write(text.replace(/^error:/, `${program}:`)) };
}
