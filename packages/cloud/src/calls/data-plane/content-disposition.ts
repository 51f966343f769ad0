/** The header holds a plain name for old receivers and the exact one in UTF-8. spec: RFC 6266 §4.3, RFC 8187 §3.2 */
export function contentDisposition(fileName: string): string {
  const plain = fileName.replace(/[^\w .()+-]/g, "_");
  const encoded = encodeURIComponent(fileName.toWellFormed()).replace(
    /['()*!]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
