/** One of the two sellers in a process of its own: `node demo/seller.ts good|as-it-comes`. */
import { startExpressV2Seller } from '../test/fixtures/sellers/express-v2-seller.ts';

const isGood = process.argv[2] === 'good';
await startExpressV2Seller({
  port: Number(process.env['PORT']),
  facilitatorUrl: process.env['FACILITATOR_URL'] ?? '',
  withOpenApi: true,
  withDocuments: isGood,
  withBazaar: isGood,
  guardsHead: isGood,
});
