/** `/v1/snitches/:token/acknowledge`: somebody has seen the alarm (`extensions: Acknowledge, silence, depend`). */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { validateAcknowledging } from '../../core/acknowledgement/input.ts';
import type { Snitch } from '../../core/snitch.ts';
import { caseOf } from '../endpoint/auth.ts';
import { readJson } from '../endpoint/body.ts';
import { found, param, resource, valid } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { withSilence } from '../endpoint/silenced.ts';
import { wireSnitch } from '../endpoint/wire.ts';
import { requestedSnitch } from './snitches.ts';

export function acknowledgeRoutes(
  app: FastifyInstance,
  { store, by: actsOf, clock, addresses }: ApiContext,
): void {
  const wire = async (snitch: Snitch | null, request: FastifyRequest) => {
    const { id, timezone } = caseOf(request);
    const shown = await withSilence(store, id, found(snitch), clock());
    return wireSnitch(shown, { ...addresses(), timezone });
  };

  resource(app, '/snitches/:token/acknowledge', {
    POST: async (request) => {
      const { token } = await requestedSnitch(store, request);
      const { note, by } = valid(validateAcknowledging(await readJson(request)));
      const said = { note, by: by ?? request.caller?.apiKey.name ?? '' };
      return wire(await actsOf(request).acknowledgeSnitch(caseOf(request).id, token, said, clock()), request);
    },
    DELETE: async (request) => {
      const token = param(request, 'token');
      return wire(await actsOf(request).unacknowledgeSnitch(caseOf(request).id, token, clock()), request);
    },
  });
}
