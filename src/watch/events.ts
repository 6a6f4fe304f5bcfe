import { randomBytes } from 'node:crypto';
import { reportUrl } from '../directory/project.ts';
import type { JsonObject, JsonValue } from '../model/json.ts';
import type { WatchText } from '../store/watches.ts';
import type { EventType } from './event-type.ts';
import type { Delivery, WatchState } from './state.ts';

export type WatchEvent = {
  readonly type: EventType;
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
  /** Further members of `data`. */
  readonly more?: JsonObject;
};

const MAX_BODY_BYTES = 20 * 1_024;
const ID_BYTES = 16;

/** Appends events to what a watch delivers; the texts are their bodies. */
export function addEvents(
  state: WatchState,
  events: readonly WatchEvent[],
  { nowMs, siteUrl }: { readonly nowMs: number; readonly siteUrl: string },
): { readonly state: WatchState; readonly texts: readonly WatchText[] } {
  const told = events.map((event): { delivery: Delivery; text: WatchText } => {
    const id = `msg_${randomBytes(ID_BYTES).toString('base64url')}`;
    const delivery = {
      id,
      type: event.type,
      atMs: nowMs,
      tries: 0,
      status: 'waiting',
      nextTryAtMs: nowMs,
      lastTryAtMs: null,
    } as const;
    return { delivery, text: { id, text: bodyOf(event, state.host, nowMs, siteUrl) } };
  });
  const deliveries = [...state.deliveries, ...told.map(({ delivery }) => delivery)];
  return { state: { ...state, deliveries }, texts: told.map(({ text }) => text) };
}

function bodyOf(event: WatchEvent, host: string, nowMs: number, siteUrl: string): string {
  const { type, before, after, more = {} } = event;
  const data = { host, reportUrl: reportUrl(siteUrl, host), ...more };
  const timestamp = new Date(nowMs).toISOString();
  for (let kept = Math.max(offersOf(before).length, offersOf(after).length); ; kept -= 1) {
    const cut = { before: withOffers(before, kept), after: withOffers(after, kept) };
    const body = JSON.stringify({ type, timestamp, data: { ...data, ...cut } });
    if (Buffer.byteLength(body) <= MAX_BODY_BYTES || kept <= 0) return body;
  }
}

function withOffers(value: JsonObject | null, count: number): JsonObject | null {
  return value === null || value['offers'] === undefined
    ? value
    : { ...value, offers: offersOf(value).slice(0, count) };
}

function offersOf(value: JsonObject | null): readonly JsonValue[] {
  const offers = value?.['offers'];
  return Array.isArray(offers) ? offers : [];
}
