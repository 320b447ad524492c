/** `/v1/webhooks`: the addresses that alerts of the case are sent to. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { Invalid, NotFound } from '../../core/errors.ts';
import { MOST_WEBHOOKS } from '../../core/resource-limits.ts';
import { DAY } from '../../text/durations.ts';
import { caseOf } from '../endpoint/auth.ts';
import { readAs } from '../endpoint/body.ts';
import { found, param, resource } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { targetNames } from '../endpoint/target-names.ts';
import { wireDelivery, wireWebhook } from '../endpoint/wire.ts';

/** How long the old secret of a webhook still signs, in milliseconds. */
const OLD_SECRET_SIGNS_FOR = DAY;

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

export function webhookRoutes(app: FastifyInstance, { store, by, clock, refusalOf }: ApiContext): void {
  resource(app, '/webhooks', {
    GET: async (request) => (await store.listWebhooks(caseOf(request).id)).map(wireWebhook),
    POST: async (request) => {
      const { url, notices } = await readAs(request, newWebhook);
      const refusal = refusalOf(url);
      if (refusal) throw new Invalid([{ attribute: 'url', message: `is never called: ${refusal}` }]);
      const { id: caseId } = caseOf(request);
      const webhook = await by(request).createWebhook(caseId, new URL(url).href, clock(), {
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
      if (!(await by(request).deleteWebhook(caseOf(request).id, param(request, 'id')))) throw new NotFound();
      return reply.code(204).send();
    },
  });
  resource(app, '/webhooks/:id/test', {
    POST: async (request) => {
      const webhook = found(await store.getWebhook(caseOf(request).id, param(request, 'id')));
      const delivery = found(
        await by(request).createTestDelivery(
          webhook.caseId,
          { channel: 'webhook', target: webhook.id },
          clock(),
        ),
      );
      return wireDelivery(delivery, targetNames([webhook]));
    },
  });
  resource(app, '/webhooks/:id/rotate_secret', {
    POST: async (request) => {
      const { id: caseId } = caseOf(request);
      const until = clock() + OLD_SECRET_SIGNS_FOR;
      const webhook = found(await by(request).rotateWebhookSecret(caseId, param(request, 'id'), until));
      return { ...wireWebhook(webhook), secret: webhook.secret };
    },
  });
}
