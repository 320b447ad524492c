/** `GET /v1/metrics`: the series of each snitch of a case, for Prometheus (`extensions: For the eyes of others`). */
import type { FastifyInstance } from 'fastify';
import { caseOf } from '../endpoint/auth.ts';
import { resource } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { SERIES_TYPE } from '../metrics/series-text.ts';
import { snitchSeries } from '../metrics/snitch-series.ts';
import { wantedTags } from './snitches.ts';

export function snitchMetricsRoutes(app: FastifyInstance, { store, clock, lists }: ApiContext): void {
  resource(
    app,
    '/metrics',
    {
      GET: async (request, reply) => {
        const wanted = { caseId: caseOf(request).id, tags: wantedTags(request), now: clock() };
        return lists.sendText(request, reply, SERIES_TYPE, (gone) => snitchSeries(store, wanted, gone));
      },
    },
    { bearer: true },
  );
}
