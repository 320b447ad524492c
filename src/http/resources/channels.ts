/** `/v1/channels`: all ways in which alerts of the case are sent, including webhooks and members. */

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { withoutCredentials } from '../../api/shown-url.ts';
import type { WireChannel } from '../../api/wire.ts';
import {
  type CaseChannel,
  CHANNEL_EVENTS,
  DEFAULT_EVENTS,
  EVERYTHING,
  type RouteRule,
} from '../../core/channel.ts';
import { validateChannelChanges, validateNewChannel } from '../../core/channels/input.ts';
import { shownSettings } from '../../core/channels/settings.ts';
import { Invalid, NotFound } from '../../core/errors.ts';
import { MOST_WEBHOOKS } from '../../core/resource-limits.ts';
import { validateRouteChanges } from '../../core/routes/rule-input.ts';
import { type Route, routeKey } from '../../core/routing.ts';
import type { Webhook } from '../../core/webhook.ts';
import type { Acts } from '../../store/activity.ts';
import type { Store } from '../../store/store.ts';
import { caseOf } from '../endpoint/auth.ts';
import { readJson } from '../endpoint/body.ts';
import { found, param, resource, valid } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { wireDelivery, wireTime } from '../endpoint/wire.ts';

export function channelRoutes(
  app: FastifyInstance,
  { store, by, clock, commands, refusalOf }: ApiContext,
): void {
  const around = () => ({ commands: commands(), refusalOf });
  resource(app, '/channels', {
    GET: async (request) => {
      const own = caseOf(request);
      const routes = await store.listRoutes(own.id);
      const channels = (await store.listChannels(own.id)).map(wireChannel);
      const webhooks = (await store.listWebhooks(own.id)).map((one) => wireWebhookChannel(one, routes));
      const members = own.members.map((address) => wireMember(address, own.createdAt, routes));
      return [...channels, ...webhooks, ...members];
    },
    POST: async (request) => {
      const input = valid(validateNewChannel(await readJson(request), around()));
      return wireChannel(await by(request).createChannel(caseOf(request).id, input, clock(), MOST_WEBHOOKS));
    },
  });
  resource(app, '/channels/:id', {
    GET: async (request) => found(await listed(store, request)),
    PATCH: async (request) => {
      const id = param(request, 'id');
      const { id: caseId } = caseOf(request);
      const stored = await store.getChannel(caseId, id);
      if (!stored) return patchRoute(store, by(request), request);
      const changes = valid(validateChannelChanges(await readJson(request), stored, around()));
      return wireChannel(found(await by(request).updateChannel(caseId, id, changes)));
    },
    DELETE: async (request, reply) => {
      const id = param(request, 'id');
      if (!(await by(request).deleteChannel(caseOf(request).id, id)))
        throw elsewhere(found(await listed(store, request)));
      return reply.code(204).send();
    },
  });
  resource(app, '/channels/:id/test', {
    POST: async (request) => {
      const { id: caseId } = caseOf(request);
      const { id, kind, name } = found(await listed(store, request));
      const route = { channel: kind, target: id } as Route;
      const delivery = found(await by(request).createTestDelivery(caseId, route, clock()));
      return wireDelivery(delivery, () => name);
    },
  });
}

type Targets = Pick<Store, 'getChannel' | 'getWebhook' | 'listRoutes'>;

/** The one of the case's channels, webhooks and members that the path names. */
async function listed(store: Targets, request: FastifyRequest): Promise<WireChannel | null> {
  const id = param(request, 'id');
  const own = caseOf(request);
  const channel = await store.getChannel(own.id, id);
  if (channel) return wireChannel(channel);
  const routes = await store.listRoutes(own.id);
  const webhook = await store.getWebhook(own.id, id);
  if (webhook) return wireWebhookChannel(webhook, routes);
  const member = memberOf(own.members, id);
  return member === undefined ? null : wireMember(member, own.createdAt, routes);
}

/** Addresses are compared ignoring upper and lower case. */
function memberOf(members: readonly string[], id: string): string | undefined {
  return members.find((address) => address === id) ?? members.find((address) => isSameAddress(address, id));
}

function isSameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** For a webhook or a member, only the route can be changed here. */
async function patchRoute(
  store: Targets,
  acts: Pick<Acts, 'updateRoute'>,
  request: FastifyRequest,
): Promise<WireChannel> {
  const { id, kind, name, settings } = found(await listed(store, request));
  if (kind !== 'webhook' && kind !== 'email') throw new NotFound();
  const changes = valid(validateRouteChanges(await readJson(request), { kind, name, settings }));
  await acts.updateRoute(caseOf(request).id, { channel: kind, target: id }, changes);
  return found(await listed(store, request));
}

function elsewhere({ kind }: WireChannel): Error {
  if (kind === 'webhook' || kind === 'email') {
    const where = kind === 'webhook' ? 'DELETE /v1/webhooks' : 'PATCH /v1/case';
    return new Invalid([{ attribute: 'kind', message: `${kind} is removed by ${where}` }]);
  }
  return new NotFound();
}

export function wireChannel(channel: CaseChannel): WireChannel {
  const { id, kind, name, settings, refused, createdAt } = channel;
  return {
    id,
    kind,
    name,
    settings: shownSettings(kind, settings),
    ...wireRule(channel),
    refused: refused && { at: wireTime(refused.at), error: refused.error },
    created_at: wireTime(createdAt),
  };
}

function wireRule({ events, tags, after, hours }: RouteRule) {
  return { events: [...events], tags: [...tags], after, hours: hours && { ...hours, days: [...hours.days] } };
}

type Routes = ReadonlyMap<string, RouteRule>;

/** Whether it wants notices is a setting of the webhook. */
function wireWebhookChannel({ id, url, notices, createdAt }: Webhook, routes: Routes): WireChannel {
  const shown = withoutCredentials(url);
  const events = notices ? CHANNEL_EVENTS : DEFAULT_EVENTS;
  return {
    id,
    kind: 'webhook',
    name: shown,
    settings: { url: shown },
    ...wireRule(routes.get(id) ?? { ...EVERYTHING, events }),
    refused: null,
    created_at: wireTime(createdAt),
  };
}

/** Its address is its id: it changes only with the member. */
function wireMember(address: string, since: number, routes: Routes): WireChannel {
  return {
    id: address,
    kind: 'email',
    name: address,
    settings: { address },
    ...wireRule(routes.get(routeKey({ channel: 'email', target: address })) ?? EVERYTHING),
    refused: null,
    created_at: wireTime(since),
  };
}
