/** `node seller-process.ts PORT good|broken`: is the seller that a pipeline starts. */
import { connect, createServer } from 'node:net';
import { type CraftedOptions, startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';

const [port = '0', kind] = process.argv.slice(2);
const BROKEN: CraftedOptions['answers'] = {
  'GET /weather': { status: 200, body: { free: true } },
  'GET /openapi.json': (_request, usual) => ({
    ...usual,
    body: { ...JSON.parse(String(usual.body)), info: { title: 'A', version: '1' } },
  }),
};
const seller = await startCraftedSeller(kind === 'broken' ? { answers: BROKEN } : {});
const inner = Number(new URL(seller.url).port);
createServer((socket) => {
  const through = connect(inner, '127.0.0.1');
  socket.pipe(through).pipe(socket);
  for (const one of [socket, through]) one.on('error', () => socket.destroy());
}).listen(Number(port), '127.0.0.1');
