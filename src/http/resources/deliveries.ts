/** `/v1/deliveries`: the outbox of the case. */
import type { FastifyInstance } from 'fastify';
import { DELIVERY_STATES, type Delivery, type DeliveryState } from '../../core/delivery.ts';
import { Invalid, NotFound } from '../../core/errors.ts';
import { caseOf } from '../endpoint/auth.ts';
import { isNumericId, pageOf, slicesOf } from '../endpoint/page.ts';
import { found, param, query, resource } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { namesIn } from '../endpoint/target-names.ts';
import { wireDelivery } from '../endpoint/wire.ts';

export function deliveryRoutes(app: FastifyInstance, { store, by, clock, lists }: ApiContext): void {
  resource(app, '/deliveries', {
    GET: async (request, reply) => {
      const state = query(request, 'state') ?? null;
      if (state !== null && !isDeliveryState(state)) {
        throw new Invalid([{ attribute: 'state', message: `must be one of ${DELIVERY_STATES.join(', ')}` }]);
      }
      const { id } = caseOf(request);
      const page = pageOf(request, isNumericId);
      const nameOf = await namesIn(store, id);
      const read = slicesOf(
        page,
        (slice) => store.listDeliveries(id, { state, ...slice }),
        (delivery) => ({ id: String(delivery.id), at: null }),
        (delivery) => wireDelivery(delivery, nameOf),
      );
      return lists.send(request, reply, read);
    },
  });
  resource(app, '/deliveries/:id/retry', {
    POST: async (request) => {
      const id = param(request, 'id');
      const { id: caseId } = caseOf(request);
      if (!isNumericId(id)) throw new NotFound();
      const delivery = found(await by(request).retryDelivery(caseId, Number(id), clock()));
      const refused = whyNotRetried(delivery);
      if (refused !== null) throw new Invalid([{ attribute: 'state', message: refused }]);
      return wireDelivery(delivery, await namesIn(store, caseId));
    },
  });
}

/** Somebody told late about something already over would wait for an end that nobody reports. */
function whyNotRetried({ state, lastError }: Delivery): string | null {
  if (state === 'delivered') return 'is delivered: there is nothing to retry';
  if (state !== 'dropped') return null;
  return `is dropped (${lastError ?? 'its time has passed'}): what it would have told is over`;
}

function isDeliveryState(text: string): text is DeliveryState {
  return (DELIVERY_STATES as readonly string[]).includes(text);
}
