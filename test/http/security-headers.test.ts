/** Our fixed headers are those that helmet would make. */
import helmet from '@fastify/helmet';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import securityHeaders, { SECURITY_HEADERS } from '../../plugins/security-headers.ts';

const SELF = ["'self'"];
const NONE = ["'none'"];

test('answers carry what helmet would set, and nothing else', async () => {
  const [ours, helmets] = [Fastify(), Fastify()];
  await ours.register(securityHeaders);
  await helmets.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: NONE,
        styleSrc: SELF,
        scriptSrc: SELF,
        imgSrc: SELF,
        connectSrc: SELF,
        formAction: SELF,
        baseUri: NONE,
        frameAncestors: NONE,
      },
    },
    xFrameOptions: { action: 'deny' },
    strictTransportSecurity: { includeSubDomains: false },
    referrerPolicy: { policy: 'no-referrer' },
    crossOriginResourcePolicy: { policy: 'cross-origin' },
  });
  const answers = await Promise.all(
    [ours, helmets].map(async (app) => {
      app.get('/', async () => '');
      const { headers } = await app.inject('/');
      await app.close();
      const { date: _date, ...fixed } = headers;
      return fixed;
    }),
  );
  expect(answers[0]).toEqual(answers[1]);
  expect(answers[0]).toMatchObject(SECURITY_HEADERS);
});
