/** Bytes that are kept for long. */

/**
 * The same bytes in memory of their own. Node cuts small buffers from pools of 64 KiB, and a whole pool stays
 * for one piece that is kept, be it of a hundred bytes.
 */
export function ownBytes(piece: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(piece.length);
  piece.copy(own);
  return own;
}
