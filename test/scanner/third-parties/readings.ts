/** Tests run this function on a worker. */
import { isMainThread } from 'node:worker_threads';

export function readThread(text: string) {
  return { isMain: isMainThread, chars: text.length };
}
