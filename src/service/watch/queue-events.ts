import { randomBytes } from 'node:crypto';
import { type JsonObject, jsonList } from '../../scanner/parse/json/json.ts';
import { toReportUrl } from '../directory/project.ts';
import type { WatchUpdate } from './change-watch.ts';
import type { EventType, WatchState } from './state.ts';

export type WatchEvent = {
  readonly type: EventType;
  /** Default null. */
  readonly before?: JsonObject;
  readonly after?: JsonObject;
  /** Further members of the event's `data`. */
  readonly more?: JsonObject;
};

const MAX_BODY_BYTES = 20 * 1_024;
const ID_BYTES = 16;

/** Queues events for delivery. The returned texts are the bodies of the events. */
export function queueEvents(
  state: WatchState,
  events: readonly WatchEvent[],
  { nowMs, siteUrl }: { readonly nowMs: number; readonly siteUrl: string },
): Required<WatchUpdate> {
  const queued = events.map((event) => {
    const id = `msg_${randomBytes(ID_BYTES).toString('base64url')}`;
    return { id, type: event.type, text: toBody(event, state.host, nowMs, siteUrl) };
  });
  const waiting = { atMs: nowMs, tries: 0, status: 'waiting', nextTryAtMs: nowMs } as const;
  const added = queued.map(({ id, type }) => ({ id, type, ...waiting, lastTryAtMs: null }));
  return {
    state: { ...state, deliveries: [...state.deliveries, ...added] },
    texts: queued.map(({ id, text }) => ({ id, text })),
  };
}

function toBody(event: WatchEvent, host: string, nowMs: number, siteUrl: string): string {
  const { type, before = null, after = null, more = {} } = event;
  const data = { host, reportUrl: toReportUrl(siteUrl, host), ...more };
  const timestamp = new Date(nowMs).toISOString();
  // Terms of a resource may have many offers. The last offers are cut until the body is small enough.
  for (let count = Math.max(readOffers(before).length, readOffers(after).length); ; count -= 1) {
    const shortValues = { before: cutOffers(before, count), after: cutOffers(after, count) };
    const body = JSON.stringify({ type, timestamp, data: { ...data, ...shortValues } });
    if (Buffer.byteLength(body) <= MAX_BODY_BYTES || count <= 0) return body;
  }
}

function cutOffers(value: JsonObject | null, count: number): JsonObject | null {
  const isCut = readOffers(value).length > count;
  return isCut ? { ...value, offers: readOffers(value).slice(0, count) } : value;
}

function readOffers(value: JsonObject | null) {
  return jsonList(value?.['offers']);
}
