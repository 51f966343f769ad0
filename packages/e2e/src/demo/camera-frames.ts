import jpeg from "jpeg-js";

const WIDTH = 320;
const HEIGHT = 240;
const HORIZON = 100;
const QUALITY = 60;
/** The drive repeats after so many pictures, which are made once. */
export const FRAMES = 80;

type Colour = readonly [red: number, green: number, blue: number];

/** Returns a function that gives the JPEG of a picture by its number: a road that sways, its marks that come nearer, and a red cart that crosses it. */
export function createCamera(): (frame: number) => Buffer {
  const made = new Map<number, Buffer>();
  return (frame) => {
    const known = made.get(frame % FRAMES);
    if (known !== undefined) return known;
    const picture = encode((frame % FRAMES) / FRAMES);
    made.set(frame % FRAMES, picture);
    return picture;
  };
}

/** `phase` is how far the drive has come, from 0 to 1. */
function encode(phase: number): Buffer {
  const data = Buffer.alloc(WIDTH * HEIGHT * 4);
  for (let at = 0; at < data.length; at += 4) {
    const pixel = at / 4;
    const colour = colourAt(pixel % WIDTH, Math.floor(pixel / WIDTH), phase);
    for (let part = 0; part < 3; part++) data[at + part] = colour[part]!;
  }
  return jpeg.encode({ data, width: WIDTH, height: HEIGHT }, QUALITY).data;
}

function colourAt(x: number, y: number, phase: number): Colour {
  const sway = Math.sin(2 * Math.PI * phase);
  return cartAt(x, y, phase) ?? (y < HORIZON ? skyAt(x + 60 * sway, y) : floorAt(x, y, { phase, sway }));
}

function cartAt(x: number, y: number, phase: number): Colour | undefined {
  const left = phase * (WIDTH + 60) - 60;
  const [inX, inY] = [x - left, y - 112];
  if (inX < 0 || inX > 56 || inY < 0 || inY > 34) return undefined;
  if (inY > 26) return Math.abs(inX - 12) < 7 || Math.abs(inX - 44) < 7 ? [20, 20, 24] : undefined;
  return inY < 10 && inX > 14 && inX < 42 ? [150, 200, 230] : [200, 40, 36];
}

function skyAt(x: number, y: number): Colour {
  const hills = HORIZON - 14 - 9 * Math.sin(x / 23) - 5 * Math.sin(x / 9 + 1);
  if (y > hills) return [70, 96 + 10 * Math.sin(x / 7), 74];
  const light = y / HORIZON;
  return [110 + 90 * light, 160 + 60 * light, 225];
}

function floorAt(x: number, y: number, { phase, sway }: { phase: number; sway: number }): Colour {
  const near = (y - HORIZON) / (HEIGHT - HORIZON);
  const fromMiddle = Math.abs(x - WIDTH / 2 - sway * 70 * (1 - near) ** 2);
  const halfRoad = 8 + 150 * near;
  const isStripe = (6 / (near + 0.08) + 24 * phase) % 2 < 1;
  if (fromMiddle > halfRoad) return isStripe ? [88, 128, 62] : [80, 118, 56];
  if (fromMiddle > halfRoad * 0.93) return [226, 226, 220];
  if (fromMiddle < halfRoad * 0.03 && isStripe) return [236, 200, 60];
  return isStripe ? [92, 92, 96] : [88, 88, 92];
}
