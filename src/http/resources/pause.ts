/** `/v1/snitches/:token/pause` and `/unpause`. */
import type { FastifyInstance } from 'fastify';
import { Invalid, NotFound } from '../../core/errors.ts';
import { PENDING_CANNOT_PAUSE, validatePause } from '../../core/validation.ts';
import { caseOf } from '../endpoint/auth.ts';
import { readJson } from '../endpoint/body.ts';
import { param, resource, valid } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { requestedSnitch } from './snitches.ts';

export function pauseRoutes(app: FastifyInstance, { store, by, clock }: ApiContext): void {
  resource(app, '/snitches/:token/pause', {
    POST: async (request, reply) => {
      const { token, state } = await requestedSnitch(store, request);
      const until = validatePause(await readJson(request), clock());
      if (state.status === 'pending') {
        throw new Invalid([...(until.validations ?? []), PENDING_CANNOT_PAUSE]);
      }
      // The pause and its log entry share one time, which shows that they belong together.
      const now = clock();
      const paused = await by(request, now).pauseSnitch(caseOf(request).id, token, valid(until), now);
      if (!paused) throw new NotFound();
      return reply.code(204).send();
    },
  });

  resource(app, '/snitches/:token/unpause', {
    POST: async (request, reply) => {
      const unpaused = await by(request).unpauseSnitch(caseOf(request).id, param(request, 'token'), clock());
      if (!unpaused) throw new NotFound();
      return reply.code(204).send();
    },
  });
}
