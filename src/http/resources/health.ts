/** `/healthz` and `/readyz`: whether the server is alive, and whether it is doing its work. */
import type { FastifyInstance } from 'fastify';
import { RETRY_AFTER_S } from '../endpoint/errors.ts';
import { resource } from '../endpoint/resource.ts';
import type { RouteContext } from '../endpoint/route-context.ts';

/** In how many seconds to look again at a daemon with nothing wrong but that it has only just begun. */
const STARTED_IN_S = 1;

/** For load balancers and supervisors, so they need no key. */
export function healthRoutes(app: FastifyInstance, { readiness }: RouteContext): void {
  const open = { audience: 'any' } as const;
  resource(app, '/healthz', { GET: async () => ({ status: 'ok' }) }, open);
  resource(
    app,
    '/readyz',
    {
      GET: async (_request, reply) => {
        const { problems, progress, warnings = [], isStarting = false } = readiness();
        const also = { ...(progress.length > 0 && { progress }), ...(warnings.length > 0 && { warnings }) };
        // Load balancers send check-ins here or elsewhere depending on this: they can be received
        // unless something is wrong.
        if (problems.length === 0) return { status: 'ready', ...also };
        return reply
          .code(503)
          .header('retry-after', isStarting ? STARTED_IN_S : RETRY_AFTER_S)
          .send({ status: 'not ready', problems, ...also });
      },
    },
    open,
  );
}
