/** `/openapi.json`: the API described for machines. A test keeps the list below in step with the routes. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { resource } from '../endpoint/resource.ts';
import type { RouteContext } from '../endpoint/route-context.ts';
import { newMailCheck } from '../resources/mail-check.ts';
import { BADGE_OPERATIONS } from './badge-operations.ts';
import { CASE_OPERATIONS } from './case-operations.ts';
import { describeApi, EVENTS, type Operation, SERIES } from './document.ts';
import { explanation } from './explanation-schemas.ts';
import { node } from './node-schema.ts';
import * as schemas from './schemas.ts';
import * as silences from './silence-schemas.ts';
import * as snitches from './snitch-schemas.ts';
import { STATUS_PAGE_OPERATIONS } from './status-page.ts';

const PAGE = ['limit', 'before'];
const CHOSEN = ['tags', 'name'];

/** By path and method, as in `spec §4` and `decisions: Beyond the contract`. */
const OPERATIONS: Record<string, Record<string, Operation>> = {
  '/v1/snitches': {
    get: { id: 'listSnitches', summary: 'List snitches', query: CHOSEN, answer: z.array(snitches.snitch) },
    post: {
      id: 'createSnitch',
      summary: 'Create a snitch',
      body: snitches.newSnitch,
      answer: snitches.snitch,
    },
  },
  '/v1/snitches/{token}': {
    get: { id: 'getSnitch', summary: 'Read a snitch', answer: snitches.snitch },
    patch: {
      id: 'updateSnitch',
      summary: 'Change a snitch',
      body: snitches.snitchChanges,
      answer: snitches.snitch,
    },
    delete: { id: 'deleteSnitch', summary: 'Delete a snitch', answer: null },
  },
  '/v1/snitches/{token}/tags': {
    post: { id: 'addTags', summary: 'Add tags', body: snitches.tags, answer: snitches.tags },
  },
  '/v1/snitches/{token}/tags/{tag}': {
    delete: { id: 'removeTag', summary: 'Remove a tag', answer: snitches.tags },
  },
  '/v1/snitches/{token}/pause': {
    post: { id: 'pauseSnitch', summary: 'Pause', body: snitches.pause.optional(), answer: null },
  },
  '/v1/snitches/{token}/unpause': { post: { id: 'unpauseSnitch', summary: 'Unpause', answer: null } },
  '/v1/snitches/{token}/acknowledge': {
    post: {
      id: 'acknowledgeSnitch',
      summary: 'Acknowledge an alarm',
      body: snitches.acknowledging.optional(),
      answer: snitches.snitch,
    },
    delete: { id: 'unacknowledgeSnitch', summary: 'Take an acknowledgement back', answer: snitches.snitch },
  },
  '/v1/snitches/{token}/check_ins': {
    get: {
      id: 'listCheckIns',
      summary: 'Check-ins, newest first',
      query: PAGE,
      answer: z.array(schemas.checkIn),
    },
  },
  '/v1/snitches/{token}/alerts': {
    get: {
      id: 'listAlertsOfSnitch',
      summary: 'Alerts of a snitch, newest first',
      query: PAGE,
      answer: z.array(schemas.alert),
    },
  },
  '/v1/snitches/{token}/explain': {
    get: { id: 'explainSnitch', summary: 'Why it alerts or is silent', answer: explanation },
  },
  '/v1/schedules/check': {
    post: {
      id: 'checkSchedule',
      summary: 'When a schedule that is not kept would be due',
      body: schemas.scheduleToCheck,
      answer: schemas.scheduleCheck,
    },
  },
  '/v1/alerts': {
    get: {
      id: 'listAlerts',
      summary: 'Alerts of the case, newest first',
      query: PAGE,
      answer: z.array(schemas.alert),
    },
  },
  '/v1/stream': {
    get: {
      id: 'streamChanges',
      summary: 'Changes as Server-Sent Events, resumable by Last-Event-ID',
      answer: EVENTS,
    },
  },
  '/v1/metrics': {
    get: {
      id: 'getMetrics',
      summary: 'The series of each snitch, for Prometheus; at most 10,000 snitches',
      query: ['tags'],
      answer: SERIES,
      bearer: true,
    },
  },
  '/v1/webhooks': {
    get: { id: 'listWebhooks', summary: 'List webhooks', answer: z.array(schemas.webhook) },
    post: {
      id: 'createWebhook',
      summary: 'Add a webhook',
      body: schemas.newWebhook,
      answer: schemas.createdWebhook,
    },
  },
  '/v1/webhooks/{id}': {
    get: { id: 'getWebhook', summary: 'Read a webhook', answer: schemas.webhook },
    delete: { id: 'deleteWebhook', summary: 'Remove a webhook', answer: null },
  },
  '/v1/webhooks/{id}/test': {
    post: { id: 'testWebhook', summary: 'Send a test alert', answer: schemas.delivery },
  },
  '/v1/webhooks/{id}/rotate_secret': {
    post: {
      id: 'rotateWebhookSecret',
      summary: 'Give it a new secret; the old one signs for 24 h',
      answer: schemas.createdWebhook,
    },
  },
  '/v1/channels': {
    get: {
      id: 'listChannels',
      summary: 'List channels, with webhooks and members',
      answer: z.array(schemas.channel),
    },
    post: {
      id: 'createChannel',
      summary: 'Add a channel',
      body: schemas.newChannel,
      answer: schemas.channel,
    },
  },
  '/v1/channels/{id}': {
    get: { id: 'getChannel', summary: 'Read a channel', answer: schemas.channel },
    patch: {
      id: 'updateChannel',
      summary: 'Change a channel',
      body: schemas.channelChanges,
      answer: schemas.channel,
    },
    delete: { id: 'deleteChannel', summary: 'Remove a channel', answer: null },
  },
  '/v1/channels/{id}/test': {
    post: { id: 'testChannel', summary: 'Send a test alert', answer: schemas.delivery },
  },
  '/v1/silences': {
    get: {
      id: 'listSilences',
      summary: 'List the silences that are not over',
      answer: z.array(silences.silence),
    },
    post: {
      id: 'createSilence',
      summary: 'Make a silence: keep alarms back for a planned time',
      body: silences.newSilence,
      answer: silences.silence,
    },
  },
  '/v1/silences/{id}': {
    get: { id: 'getSilence', summary: 'Read a silence', answer: silences.silence },
    patch: {
      id: 'updateSilence',
      summary: 'Change the end or the note of a silence',
      body: silences.silenceChanges,
      answer: silences.silence,
    },
    delete: { id: 'deleteSilence', summary: 'End a silence now', answer: null },
  },
  ...BADGE_OPERATIONS,
  ...STATUS_PAGE_OPERATIONS,
  '/v1/api_keys': {
    get: { id: 'listApiKeys', summary: 'List API keys', answer: z.array(schemas.apiKey) },
    post: {
      id: 'createApiKey',
      summary: 'Create an API key',
      body: schemas.newApiKey,
      answer: schemas.createdApiKey,
    },
  },
  '/v1/api_keys/{id}': { delete: { id: 'deleteApiKey', summary: 'Delete an API key', answer: null } },
  '/v1/imports': {
    post: {
      id: 'importSnitches',
      summary: 'Create snitches with tokens of their own',
      body: schemas.newImport,
      answer: z.array(snitches.snitch),
    },
    patch: {
      id: 'updateSnitches',
      summary: 'Change many snitches, all or none',
      body: schemas.manyChanges,
      answer: z.array(snitches.snitch),
    },
  },
  '/v1/imports/delete': {
    post: { id: 'deleteSnitches', summary: 'Delete many snitches', body: schemas.manyTokens, answer: null },
  },
  '/v1/imports/check': {
    post: {
      id: 'checkImport',
      summary: 'What would be wrong with an import',
      body: schemas.importToCheck,
      answer: schemas.importCheck,
    },
  },
  '/v1/ownership': {
    get: { id: 'listOwnership', summary: 'Which file owns which snitch', answer: z.array(schemas.ownership) },
    put: {
      id: 'setOwnership',
      summary: 'Give snitches to a file, or to none',
      body: schemas.claim,
      answer: null,
      mayLack: true,
    },
  },
  '/v1/deliveries': {
    get: {
      id: 'listDeliveries',
      summary: 'The outbox',
      query: ['state', ...PAGE],
      answer: z.array(schemas.delivery),
    },
  },
  '/v1/deliveries/{id}/retry': {
    post: { id: 'retryDelivery', summary: 'Try a delivery again', answer: schemas.delivery },
  },
  '/v1/log': {
    get: {
      id: 'listLog',
      summary: 'Who did what, newest first',
      query: ['token', 'action', ...PAGE],
      answer: z.array(schemas.logEntry),
    },
  },
  ...CASE_OPERATIONS,
  '/v1/checks/mail': {
    post: {
      id: 'checkMail',
      summary: 'Log in at the mail server, and send a test mail where a recipient is given (admin)',
      body: newMailCheck,
      answer: schemas.mailCheck,
    },
  },
  '/v1/nodes': {
    get: {
      id: 'listNodes',
      summary: 'List the daemons that share the database; empty where one has it alone (admin)',
      answer: z.array(node),
    },
  },
  '/v1/maintenance': {
    get: { id: 'getMaintenance', summary: 'Whether maintenance is on (admin)', answer: schemas.maintenance },
    put: {
      id: 'setMaintenance',
      summary: 'Switch maintenance (admin)',
      body: schemas.maintenance,
      answer: schemas.maintenance,
    },
  },
};

/** The whole description, in OpenAPI 3.1. */
export function openApiDocument(baseUrl: string): object {
  return describeApi(OPERATIONS, baseUrl);
}

export function openApiRoutes(app: FastifyInstance, { addresses }: RouteContext): void {
  const answer = { GET: async () => openApiDocument(addresses().baseUrl) };
  resource(app, '/openapi.json', answer, { audience: 'any' });
}
