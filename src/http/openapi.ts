/** `/openapi.json`: the API described for machines. A test holds the list below and the routes together. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { newMailCheck } from './mail-check.ts';
import * as schemas from './openapi-schemas.ts';
import { resource } from './resource.ts';
import type { RouteContext } from './server.ts';

interface Operation {
  summary: string;
  /** Names in the query. */
  query?: readonly string[];
  body?: z.ZodType;
  /** What a success carries; null for 204 and no body. */
  answer: z.ZodType | null;
}

const PAGE = ['limit', 'before'];

/** By path and method, as in `spec §4` and `decisions: Beyond the contract`. */
const OPERATIONS: Record<string, Record<string, Operation>> = {
  '/v1/snitches': {
    get: { summary: 'List snitches', query: ['tags'], answer: z.array(schemas.snitch) },
    post: { summary: 'Create a snitch', body: schemas.newSnitch, answer: schemas.snitch },
  },
  '/v1/snitches/{token}': {
    get: { summary: 'Read a snitch', answer: schemas.snitch },
    patch: { summary: 'Change a snitch', body: schemas.snitchChanges, answer: schemas.snitch },
    delete: { summary: 'Delete a snitch', answer: null },
  },
  '/v1/snitches/{token}/tags': {
    post: { summary: 'Add tags', body: schemas.tags, answer: schemas.tags },
  },
  '/v1/snitches/{token}/tags/{tag}': { delete: { summary: 'Remove a tag', answer: schemas.tags } },
  '/v1/snitches/{token}/pause': { post: { summary: 'Pause', body: schemas.pause, answer: null } },
  '/v1/snitches/{token}/unpause': { post: { summary: 'Unpause', answer: null } },
  '/v1/snitches/{token}/check_ins': {
    get: { summary: 'Check-ins, newest first', query: PAGE, answer: z.array(schemas.checkIn) },
  },
  '/v1/snitches/{token}/alerts': {
    get: { summary: 'Alerts of a snitch, newest first', query: PAGE, answer: z.array(schemas.alert) },
  },
  '/v1/snitches/{token}/explain': {
    get: { summary: 'Why it alerts or is silent', answer: schemas.explanation },
  },
  '/v1/alerts': {
    get: { summary: 'Alerts of the case, newest first', query: PAGE, answer: z.array(schemas.alert) },
  },
  '/v1/stream': {
    get: { summary: 'Changes as Server-Sent Events, resumable by Last-Event-ID', answer: z.string() },
  },
  '/v1/case': {
    get: { summary: 'Read the case', answer: schemas.team },
    patch: { summary: 'Change the case', body: schemas.caseChanges, answer: schemas.team },
  },
  '/v1/audience': { get: { summary: 'Read whom alerts of the case reach', answer: schemas.audience } },
  '/v1/webhooks': {
    get: { summary: 'List webhooks', answer: z.array(schemas.webhook) },
    post: { summary: 'Add a webhook', body: schemas.newWebhook, answer: schemas.createdWebhook },
  },
  '/v1/webhooks/{id}': {
    get: { summary: 'Read a webhook', answer: schemas.webhook },
    delete: { summary: 'Remove a webhook', answer: null },
  },
  '/v1/webhooks/{id}/test': { post: { summary: 'Send a test alert', answer: schemas.delivery } },
  '/v1/webhooks/{id}/rotate_secret': {
    post: { summary: 'Give it a new secret; the old one signs for 24 h', answer: schemas.createdWebhook },
  },
  '/v1/api_keys': {
    get: { summary: 'List API keys', answer: z.array(schemas.apiKey) },
    post: { summary: 'Create an API key', body: schemas.newApiKey, answer: schemas.createdApiKey },
  },
  '/v1/api_keys/{id}': { delete: { summary: 'Delete an API key', answer: null } },
  '/v1/imports': {
    post: {
      summary: 'Create snitches with tokens of their own',
      body: schemas.newImport,
      answer: z.array(schemas.snitch),
    },
  },
  '/v1/imports/check': {
    post: {
      summary: 'What would be wrong with an import',
      body: schemas.importToCheck,
      answer: schemas.importCheck,
    },
  },
  '/v1/ownership': {
    get: { summary: 'Which file owns which snitch', answer: z.array(schemas.ownership) },
    put: { summary: 'Give snitches to a file, or to none', body: schemas.claim, answer: null },
  },
  '/v1/deliveries': {
    get: { summary: 'The outbox', query: ['state', ...PAGE], answer: z.array(schemas.delivery) },
  },
  '/v1/deliveries/{id}/retry': { post: { summary: 'Try a delivery again', answer: schemas.delivery } },
  '/v1/cases': {
    get: { summary: 'List cases (admin)', answer: z.array(schemas.team) },
    post: { summary: 'Create a case (admin)', body: schemas.newCase, answer: schemas.team },
  },
  '/v1/cases/{id}': {
    get: { summary: 'Read a case (admin)', answer: schemas.team },
    patch: { summary: 'Change a case (admin)', body: schemas.adminCaseChanges, answer: schemas.team },
    delete: { summary: 'Delete a case with all its snitches (admin)', answer: null },
  },
  '/v1/cases/{id}/api_keys': {
    get: { summary: 'List the API keys of a case (admin)', answer: z.array(schemas.apiKey) },
    post: {
      summary: 'Create an API key for a case (admin)',
      body: schemas.newApiKey,
      answer: schemas.createdApiKey,
    },
  },
  '/v1/checks/mail': {
    post: {
      summary: 'Log in at the mail server, and send a test mail where a recipient is given (admin)',
      body: newMailCheck,
      answer: schemas.mailCheck,
    },
  },
  '/v1/maintenance': {
    get: { summary: 'Whether maintenance is on (admin)', answer: schemas.maintenance },
    put: { summary: 'Switch maintenance (admin)', body: schemas.maintenance, answer: schemas.maintenance },
  },
};

const json = (schema: z.ZodType) => ({
  'application/json': { schema: z.toJSONSchema(schema, { io: 'input' }) },
});

function describe(path: string, { summary, query = [], body, answer }: Operation): object {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true }));
  const inQuery = query.map((name) => ({ name, in: 'query', required: false }));
  return {
    summary,
    parameters: [...inPath, ...inQuery].map((parameter) => ({ ...parameter, schema: { type: 'string' } })),
    ...(body ? { requestBody: { content: json(body) } } : {}),
    responses: {
      ...(answer
        ? { 200: { description: 'Success', content: json(answer) } }
        : { 204: { description: 'Success, no body' } }),
      default: { description: 'An error', content: json(schemas.error) },
    },
  };
}

/** The whole description, in OpenAPI 3.1. */
export function openApiDocument(baseUrl: string): object {
  const paths = Object.entries(OPERATIONS).map(([path, methods]) => [
    path,
    Object.fromEntries(Object.entries(methods).map(([method, one]) => [method, describe(path, one)])),
  ]);
  return {
    openapi: '3.1.0',
    info: { title: 'Snitch', version: '1', description: 'A dead man’s switch for scheduled jobs.' },
    servers: [{ url: baseUrl }],
    security: [{ apiKey: [] }],
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'basic', description: 'The API key is the user name.' },
      },
    },
    paths: Object.fromEntries(paths) as object,
  };
}

export function openApiRoutes(app: FastifyInstance, { addresses }: RouteContext): void {
  const answer = { GET: async () => openApiDocument(addresses().baseUrl) };
  resource(app, '/openapi.json', answer, { audience: 'any' });
}
