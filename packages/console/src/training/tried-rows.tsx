import { useEffect, useRef, useState } from "preact/hooks";
import { formatBytes } from "../parts/bytes.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { fromBase64 } from "../parts/from-base64.ts";
import type { Trial } from "./sum-up-parts.ts";
import { formatShort, formatValue } from "./training-texts.ts";
import { WideTable } from "./wide-table.tsx";

type Value = Trial["rows"][number][string];
type Picture = Extract<Value, { readonly mediaType: string }>;

/** Shows the first rows of a trial, with their pictures. */
export function TriedRows({ trial: { rows, features }, fps }: { trial: Trial; fps: number }) {
  if (rows.length === 0) return null;
  const names = Object.keys(features);
  return (
    <WideTable title="First rows">
      <thead>
        <tr>
          <th class="number">Time</th>
          {names.map((name) => (
            <th key={name}>
              <ForeignText text={name} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, place) => (
          <tr key={place}>
            <th scope="row" class="number nowrap">
              {formatShort(place / fps)} s
            </th>
            {names.map((name) => (
              <td key={name}>
                <Cell name={`${name}, row ${place + 1}`} value={row[name]!} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </WideTable>
  );
}

function Cell({ name, value }: { name: string; value: Value }) {
  if (isPicture(value)) return <ShownPicture {...{ name, picture: value }} />;
  return (
    <span class="mono">
      <ForeignText text={formatValue(value)} />
    </span>
  );
}

function isPicture(value: Value): value is Picture {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function ShownPicture({ name, picture }: { name: string; picture: Picture }) {
  const { data, mediaType, width, height, bytes } = picture;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    if (data === undefined) return;
    let isGone = false;
    const draw = async () => {
      const bitmap = await createImageBitmap(
        new Blob([fromBase64(data) as Uint8Array<ArrayBuffer>], { type: mediaType }),
      );
      if (!isGone) canvas.current?.getContext("2d")?.drawImage(bitmap, 0, 0);
      bitmap.close();
    };
    draw().catch(() => setBroken(true));
    return () => {
      isGone = true;
    };
  }, [data]);
  const size = `${width} × ${height}, ${formatBytes(bytes)}`;
  if (data === undefined) return <span class="muted">{size}: too large to be shown here</span>;
  if (isBroken) return <span class="muted">{size}: the browser cannot show it</span>;
  return <canvas ref={canvas} class="tried-picture" role="img" aria-label={name} title={size} {...{ width, height }} />;
}
