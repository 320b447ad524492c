/** The case, its keys, webhooks, alerts and deliveries (`decisions: Beyond the contract`). */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { WireAudience } from '../api/wire.ts';
import { Invalid, NotFound } from '../core/errors.ts';
import { MOST_API_KEYS, MOST_WEBHOOKS } from '../core/resource-limits.ts';
import { DAY } from '../text/durations.ts';
import { caseOf } from './auth.ts';
import { readAs } from './body.ts';
import { caseChanges, line } from './case-schema.ts';
import { isAlertId, isNumericId, pageOf, slicesOf } from './page.ts';
import { param, query, resource } from './resource.ts';
import type { ApiContext, RouteContext } from './server.ts';
import { found } from './snitches.ts';
import {
  targetNames,
  wireAlert,
  wireApiKey,
  wireCase,
  wireDelivery,
  wireWebhook,
  withoutCredentials,
} from './wire.ts';

export function caseRoutes(app: FastifyInstance, { store, clock, sendsEmail }: RouteContext): void {
  resource(app, '/case', {
    GET: async (request) => wireCase(caseOf(request)),
    PATCH: async (request) => {
      const changes = await readAs(request, caseChanges);
      const changed = found(await store.updateCase(caseOf(request).id, changes, clock()));
      while (await store.rescheduleSlice(clock()));
      return wireCase(changed);
    },
  });
  resource(app, '/audience', {
    GET: async (request) => {
      const { id, members } = caseOf(request);
      const webhooks = (await store.listWebhooks(id)).map(({ url }) => withoutCredentials(url));
      return { emails: members, webhooks, sends_email: sendsEmail() } satisfies WireAudience;
    },
  });
}

const newKey = z.object({
  name: line(255),
  scope: z.enum(['read', 'write'], { error: 'must be read or write' }).default('write'),
});

const newAdminKey = z.object({
  name: line(255),
  scope: z
    .literal('admin', { error: 'must be admin: the keys of a case are made below it' })
    .default('admin'),
});

/** A case's key manages the keys of its case, an admin key those of the server. */
export function apiKeyRoutes(app: FastifyInstance, { store, clock }: RouteContext): void {
  resource(
    app,
    '/api_keys',
    {
      GET: async (request) => (await store.listApiKeys(request.caller?.case?.id ?? null)).map(wireApiKey),
      POST: async (request) => {
        const caseId = request.caller?.case?.id ?? null;
        const wanted = await readAs(request, caseId === null ? newAdminKey : newKey);
        const { apiKey, key } = await store.createApiKey({ caseId, ...wanted }, clock(), MOST_API_KEYS);
        return { ...wireApiKey(apiKey), key };
      },
    },
    { audience: 'member' },
  );
  resource(
    app,
    '/api_keys/:id',
    {
      DELETE: async (request, reply) => {
        const id = param(request, 'id');
        if (id === request.caller?.apiKey.id) {
          throw new Invalid([{ attribute: 'id', message: 'a key cannot delete itself: use another key' }]);
        }
        if (!(await store.deleteApiKey(request.caller?.case?.id ?? null, id))) throw new NotFound();
        return reply.code(204).send();
      },
    },
    { audience: 'member' },
  );
  resource(
    app,
    '/cases/:id/api_keys',
    {
      GET: async (request) => {
        const { id } = found(await store.getCase(param(request, 'id')));
        return (await store.listApiKeys(id)).map(wireApiKey);
      },
      POST: async (request) => {
        const { id: caseId } = found(await store.getCase(param(request, 'id')));
        const { apiKey, key } = await store.createApiKey(
          { caseId, ...(await readAs(request, newKey)) },
          clock(),
          MOST_API_KEYS,
        );
        return { ...wireApiKey(apiKey), key };
      },
    },
    { audience: 'admin' },
  );
}

const newWebhook = z.object({
  url: z
    .string({ error: ({ input }) => (input == null ? `can't be blank` : 'must be a string') })
    .trim()
    .min(1, `can't be blank`)
    .max(2_048, 'is too long (maximum is 2048 characters)')
    .refine(isWebAddress, 'must be an http:// or https:// URL'),
  notices: z.boolean({ error: 'must be true or false' }).default(false),
});

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

export function webhookRoutes(app: FastifyInstance, { store, clock }: RouteContext): void {
  resource(app, '/webhooks', {
    GET: async (request) => (await store.listWebhooks(caseOf(request).id)).map(wireWebhook),
    POST: async (request) => {
      const { url, notices } = await readAs(request, newWebhook);
      const { id: caseId } = caseOf(request);
      const webhook = await store.createWebhook(caseId, new URL(url).href, clock(), {
        notices,
        most: MOST_WEBHOOKS,
      });
      return { ...wireWebhook(webhook), secret: webhook.secret };
    },
  });
  resource(app, '/webhooks/:id', {
    GET: async (request) =>
      wireWebhook(found(await store.getWebhook(caseOf(request).id, param(request, 'id')))),
    DELETE: async (request, reply) => {
      if (!(await store.deleteWebhook(caseOf(request).id, param(request, 'id')))) throw new NotFound();
      return reply.code(204).send();
    },
  });
  resource(app, '/webhooks/:id/test', {
    POST: async (request) => {
      const webhook = found(await store.getWebhook(caseOf(request).id, param(request, 'id')));
      const delivery = found(await store.createTestDelivery(webhook.caseId, webhook.id, clock()));
      return wireDelivery(delivery, targetNames([webhook]));
    },
  });
  resource(app, '/webhooks/:id/rotate_secret', {
    POST: async (request) => {
      const owner = caseOf(request).id;
      const until = clock() + DAY;
      const webhook = found(await store.rotateWebhookSecret(owner, param(request, 'id'), until));
      return { ...wireWebhook(webhook), secret: webhook.secret };
    },
  });
}

export function alertRoutes(app: FastifyInstance, { store, lists }: ApiContext): void {
  async function list(request: FastifyRequest, reply: FastifyReply, caseId: string, token: string | null) {
    const page = pageOf(request, isAlertId);
    const nameOf = targetNames(await store.listWebhooks(caseId));
    const read = slicesOf(
      page,
      (slice) => store.listAlerts(caseId, token, slice),
      ({ alert: { id, at } }) => ({ id, at }),
      ({ alert, deliveries }) => wireAlert(alert, deliveries, nameOf),
    );
    return lists.send(request, reply, read);
  }
  resource(app, '/alerts', {
    GET: async (request, reply) => list(request, reply, caseOf(request).id, null),
  });
  resource(app, '/snitches/:token/alerts', {
    GET: async (request, reply) => {
      const { token, caseId } = found(await store.getSnitch(caseOf(request).id, param(request, 'token')));
      return list(request, reply, caseId, token);
    },
  });
}

const STATES = ['pending', 'delivered', 'dead'] as const;

export function deliveryRoutes(app: FastifyInstance, { store, clock, lists }: ApiContext): void {
  resource(app, '/deliveries', {
    GET: async (request, reply) => {
      const state = query(request, 'state') ?? null;
      if (state !== null && !isDeliveryState(state)) {
        throw new Invalid([{ attribute: 'state', message: `must be one of ${STATES.join(', ')}` }]);
      }
      const { id } = caseOf(request);
      const page = pageOf(request, isNumericId);
      const nameOf = targetNames(await store.listWebhooks(id));
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
      const owner = caseOf(request).id;
      if (!isNumericId(id)) throw new NotFound();
      const delivery = found(await store.retryDelivery(owner, Number(id), clock()));
      if (delivery.state === 'delivered') {
        throw new Invalid([{ attribute: 'state', message: 'is delivered: there is nothing to retry' }]);
      }
      return wireDelivery(delivery, targetNames(await store.listWebhooks(owner)));
    },
  });
}

function isDeliveryState(text: string): text is (typeof STATES)[number] {
  return (STATES as readonly string[]).includes(text);
}
