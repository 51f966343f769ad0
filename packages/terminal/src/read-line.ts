/** Reads the first line of an input that is no terminal, without its end. */
export async function readLine(input: NodeJS.ReadStream): Promise<string> {
  let text = "";
  for await (const chunk of input.setEncoding("utf8")) {
    text += String(chunk);
    if (text.includes("\n")) break;
  }
  return text.split(/\r?\n/)[0]!;
}
