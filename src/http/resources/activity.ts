/** `/v1/log`: who did what, in the key's case, or for an admin key, on the server. Beyond the contract. */
import type { FastifyInstance } from 'fastify';
import type { WireLogDetails, WireLogEntry } from '../../api/log.ts';
import { ACTIONS, type Action, type Entry, isAction } from '../../core/activity/activity.ts';
import { Invalid } from '../../core/errors.ts';
import { isNumericId, pageOf, slicesOf } from '../endpoint/page.ts';
import { query, resource } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { wireTime } from '../endpoint/wire.ts';

export function activityRoutes(app: FastifyInstance, { store, lists }: ApiContext): void {
  resource(
    app,
    '/log',
    {
      GET: async (request, reply) => {
        const caseId = request.caller?.case?.id ?? null;
        const filter = {
          subjectId: query(request, 'token') ?? null,
          action: actionOf(query(request, 'action')),
        };
        const read = slicesOf(
          pageOf(request, isNumericId),
          (slice) => store.listActivity(caseId, { ...filter, ...slice }),
          ({ id }) => ({ id: String(id), at: null }),
          wireEntry,
        );
        return lists.send(request, reply, read);
      },
    },
    { audience: 'member' },
  );
}

function actionOf(given: string | undefined): Action | null {
  if (given === undefined) return null;
  if (isAction(given)) return given;
  throw new Invalid([{ attribute: 'action', message: `must be one of ${ACTIONS.join(', ')}` }]);
}

export function wireEntry({ id, at, by, action, subject, details }: Entry): WireLogEntry {
  const { until, ...others } = details;
  const shown = typeof until === 'number' ? wireTime(until) : until;
  return {
    id: String(id),
    at: wireTime(at),
    by: { key: by.keyId, name: by.name },
    action,
    subject,
    details: { ...others, ...(shown === undefined ? {} : { until: shown }) } as WireLogDetails,
  };
}
