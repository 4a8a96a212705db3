// Binary messages: a JSON header and planes of one byte per pixel.

/** Planes of one byte per pixel with a header that says what they are. */
export interface Frame {
  kind: "labels" | "map" | "changes" | "preview";
  version: number;
  ms?: number;
  tau?: number;
  planes: Uint8Array[];
}

/** Reads a binary message: header length, JSON header, planes of `pixels` bytes each. */
export function parseFrame(buffer: ArrayBuffer, pixels: number): Frame {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const planes: Uint8Array[] = [];
  for (let start = 4 + length; start + pixels <= buffer.byteLength; start += pixels) {
    planes.push(new Uint8Array(buffer, start, pixels));
  }
  return { ...header, planes };
}
