/** Many instants in few bytes, in one column: what is read and written together needs no rows of its own. */

/** Bytes for each: enough for milliseconds over the next eight thousand years. */
export const WIDTH = 6;
const LATEST = 2 ** (8 * WIDTH) - 1;

export function packInstants(instants: readonly number[]): Uint8Array | null {
  if (instants.length === 0) return null;
  const packed = Buffer.allocUnsafe(instants.length * WIDTH);
  for (const [index, at] of instants.entries()) {
    packed.writeUIntBE(Math.min(Math.max(0, at), LATEST), index * WIDTH, WIDTH);
  }
  return packed;
}

export function unpackInstants(packed: Uint8Array | null): number[] {
  if (packed === null) return [];
  const bytes = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const instants: number[] = [];
  for (let at = 0; at + WIDTH <= packed.byteLength; at += WIDTH) {
    instants.push(bytes.getUint16(at) * 2 ** 32 + bytes.getUint32(at + 2));
  }
  return instants;
}
