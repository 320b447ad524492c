/** `/v1/audience`: whom the alerts of the case reach. */
import type { FastifyInstance } from 'fastify';
import { withoutCredentials } from '../../api/shown-url.ts';
import type { WireAudience } from '../../api/wire.ts';
import { caseOf } from '../endpoint/auth.ts';
import { resource } from '../endpoint/resource.ts';
import type { RouteContext } from '../endpoint/route-context.ts';

export function audienceRoutes(app: FastifyInstance, { store, sendsEmail }: RouteContext): void {
  resource(app, '/audience', {
    GET: async (request) => {
      const { id, members } = caseOf(request);
      const webhooks = (await store.listWebhooks(id)).map(({ url }) => withoutCredentials(url));
      const channels = (await store.listChannels(id)).map(({ name }) => name);
      return { emails: members, webhooks, channels, sends_email: sendsEmail() } satisfies WireAudience;
    },
  });
}
