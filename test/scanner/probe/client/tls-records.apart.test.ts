/** TLS records without data count as bytes and as processor time after the handshake. */
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { pourMade } from '../../../fixtures/origins/hostile-origin.ts';
import { RECORD_FLOODS } from '../../../fixtures/tls/record-floods.ts';
import {
  APPLICATION_DATA,
  type RecordWriter,
  takeOver,
} from '../../../fixtures/tls/record-writer.ts';
import { createTestCa } from '../../../fixtures/tls/test-ca.ts';
import { ask, clientFor, dataOf, listen } from './harness.ts';

const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
const CAP_BYTES = 4_096;
const MAX_WIRE_BYTES = 4 * CAP_BYTES + 65_536;

const ca = await createTestCa();
const certificate = await ca.issue({ hosts: ['localhost'] });

/** A server that answers the first request with records until the client stops reading. */
function startFlood(makeRecords: (writer: RecordWriter) => Buffer) {
  const server = createServer(async (socket) => {
    socket.on('error', () => {});
    const writer = await takeOver(socket, certificate);
    pourMade(socket, () => makeRecords(writer));
  });
  return listen(server, { tls: certificate });
}

describe('records that the test writes itself', () => {
  test('are read like those of a library', async () => {
    const server = createServer(async (socket) => {
      socket.on('error', () => {});
      const { record, keyUpdate } = await takeOver(socket, certificate);
      socket.write(Buffer.concat([keyUpdate(false), record(APPLICATION_DATA, ANSWER)]));
    });
    const target = await listen(server, { tls: certificate });
    const client = clientFor(target, { extraCa: [ca.pem] });
    expect(dataOf(await ask(client, target)).body).toBe('ok');
  });
});

describe.each(Object.entries(RECORD_FLOODS))('%s (TLS records) without end', (_name, flood) => {
  test('count as bytes of the answer, which ends as malformed', async () => {
    const target = await startFlood(flood);
    const client = clientFor(target, { extraCa: [ca.pem] });
    const answer = await ask(client, target, '/', { capBytes: CAP_BYTES });
    expect(answer).toMatchObject({ ok: false, reason: 'malformed' });
    // One more read of the socket may still arrive.
    expect(client.stats().bytes).toBeLessThan(MAX_WIRE_BYTES + 2 * 65_536);
  });

  test('count as processor time of the scan', async () => {
    const target = await startFlood(flood);
    let now = 0;
    const processorTime = () => {
      now += 20;
      return now;
    };
    const limits = { maxTlsMs: 100, maxHandshakeMs: 1_000 };
    const client = clientFor(target, { extraCa: [ca.pem], processorTime, limits });
    const answer = await ask(client, target, '/', { capBytes: 2_097_152 });
    expect(answer).toMatchObject({ ok: false, reason: 'budget' });
    expect(await ask(client, target, '/next')).toMatchObject({ ok: false, reason: 'budget' });
  });
});
