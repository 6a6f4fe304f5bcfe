import { dollars } from './payment-info.ts';
import { PATHS, type ServiceFacts } from './service-facts.ts';

/** `/.well-known/x402`: the paid operations and the recipient (interface spec 2.8). */
export function paymentManifest(facts: ServiceFacts) {
  const { baseUrl, network, payTo } = facts;
  const endpoints = facts.operations.flatMap(({ method, path, offer, description }) => {
    if (offer.kind === 'free') return [];
    return [
      {
        resource: `${baseUrl}${path}`,
        method,
        scheme: 'exact',
        networks: [network],
        price: `$${dollars(offer.priceBaseUnits)}`,
        description,
      },
    ];
  });
  return {
    x402Version: 2,
    endpoints,
    asset: 'USDC',
    networks: [network],
    payTo,
    terms: `${baseUrl}${PATHS.terms}`,
    instructions:
      'Call an endpoint without payment to get its 402 challenge, sign an exact-scheme USDC authorization for one entry of accepts, and repeat the request with the header PAYMENT-SIGNATURE (or X-PAYMENT). Only a 200 is charged.',
  };
}
