/** `/v1/maintenance`: while it is on, every other endpoint of the API answers 503. Check-ins and alerts go on. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { readAs } from '../endpoint/body.ts';
import { resource } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';

const maintenance = z.object({ enabled: z.boolean({ error: 'must be true or false' }) });

export function maintenanceRoutes(app: FastifyInstance, { store, by }: ApiContext): void {
  resource(
    app,
    '/maintenance',
    {
      GET: async () => ({ enabled: (await store.getSetting('maintenance')) === 'on' }),
      PUT: async (request) => {
        const { enabled } = await readAs(request, maintenance);
        await by(request).setMaintenance(enabled);
        return { enabled };
      },
    },
    { audience: 'admin', duringMaintenance: true },
  );
}
