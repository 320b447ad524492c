/** `/healthz` and `/readyz`: whether the server is alive, and whether it is doing its work. */
import type { FastifyInstance } from 'fastify';
import { resource } from '../endpoint/resource.ts';
import type { RouteContext } from '../endpoint/route-context.ts';

/** For load balancers and supervisors, so they need no key. */
export function healthRoutes(app: FastifyInstance, { readiness }: RouteContext): void {
  const open = { audience: 'any' } as const;
  resource(app, '/healthz', { GET: async () => ({ status: 'ok' }) }, open);
  resource(
    app,
    '/readyz',
    {
      GET: async (_request, reply) => {
        const { problems, progress, warnings = [] } = readiness();
        const also = { ...(progress.length > 0 && { progress }), ...(warnings.length > 0 && { warnings }) };
        // Load balancers send check-ins here or elsewhere depending on this: they can be received
        // unless something is wrong.
        if (problems.length === 0) return { status: 'ready', ...also };
        return reply
          .code(503)
          .header('retry-after', 10)
          .send({ status: 'not ready', problems, ...also });
      },
    },
    open,
  );
}
