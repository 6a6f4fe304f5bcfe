import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { RouteContext } from '../route-context.ts';
import { aboutRoute } from './about.ts';
import { aboutWatchRoute } from './about-watch.ts';
import { badgeRoute } from './badge.ts';
import { checkRoutes } from './checks.ts';
import { homeRoute } from './home.ts';
import { reportRoute } from './report.ts';
import { scanAttestationRoute } from './scan-attestation.ts';
import { statisticsPageRoute } from './statistics.ts';

/** The public site (interface spec 2.2, "report page"). Opted-out hosts have no page on it. */
export const siteRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  for (const routes of [
    homeRoute,
    reportRoute,
    badgeRoute,
    checkRoutes,
    aboutRoute,
    aboutWatchRoute,
    scanAttestationRoute,
    statisticsPageRoute,
  ]) {
    await app.register(routes, parts);
  }
};
