export function decodeCells(text: string): Uint8Array {
  const binary = atob(text);
  const cells = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) cells[at] = binary.charCodeAt(at);
  return cells;
}
