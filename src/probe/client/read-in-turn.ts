/** Counts the text of answers in the budget that all scans share. */
import { isAscii } from 'node:buffer';
import type { HttpData, Observation } from '../../model/observation.ts';
import { findSharedBytes } from '../../parse/json/transfer.ts';
import { type BodyRoom, NoRoom, type TextShare } from './text-budget.ts';

/**
 * Sends a request and counts the text of its answer. Without a share, nothing is counted. Throws NoRoom if the texts of
 * other scans left no room for it.
 */
export async function readInTurn(
  share: TextShare | undefined,
  capBytes: number,
  send: (room: BodyRoom | undefined) => Promise<Observation<HttpData>>,
): Promise<Observation<HttpData>> {
  if (share === undefined) return send(undefined);
  const room = share.openReading(capBytes);
  try {
    const observation = await send(room);
    if (room.lacksRoom || share.isEnded) throw new NoRoom();
    if (observation.ok) share.addCharacters(countAnswerCharacters(observation.data));
    return observation;
  } finally {
    room.close();
  }
}

function countAnswerCharacters(data: HttpData): number {
  const bytes = findSharedBytes(data, 'body');
  const bodyLength = bytes === null ? data.body.length : countCharacters(bytes);
  return data.headers.reduce((sum, [name, value]) => sum + name.length + value.length, bodyLength);
}

/** Counts the UTF-16 units of UTF-8 text: two for a character of four bytes, one for any other. */
function countCharacters(bytes: Buffer): number {
  if (isAscii(bytes)) return bytes.length;
  let count = 0;
  for (const byte of bytes) {
    if ((byte & 0xc0) !== 0x80) count += byte >= 0xf0 ? 2 : 1;
  }
  return count;
}
