/** Assembles the description of the API: named schemas, parameters, and the answers that every operation has. */
import { z } from 'zod';
import * as badges from './badge-schemas.ts';
import { CHECK_IN_PATHS } from './check-in.ts';
import { explanation } from './explanation-schemas.ts';
import { node } from './node-schema.ts';
import * as schemas from './schemas.ts';
import * as silences from './silence-schemas.ts';
import * as snitches from './snitch-schemas.ts';

export interface Operation {
  /** What generated clients call the operation. It must never change. */
  id: string;
  summary: string;
  /** The names of its query parameters. */
  query?: readonly string[];
  body?: z.ZodType;
  /** The body of a success; null for 204, which has none. */
  answer: z.ZodType | typeof EVENTS | typeof SERIES | null;
  /** Whether the key may be a bearer token too. */
  bearer?: true;
  /** Whether something that it is about may not exist, although its path names nothing. */
  mayLack?: true;
}

export type Operations = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** Stands for an answer that is a stream of events and not JSON. */
export const EVENTS = 'text/event-stream';

/** Stands for an answer in the text format of Prometheus. */
export const SERIES = 'text/plain';

/** Schemas with a name of their own. All others are described where they are used. */
const NAMED = {
  Snitch: snitches.snitch,
  NewSnitch: snitches.newSnitch,
  SnitchChanges: snitches.snitchChanges,
  Interval: snitches.interval,
  Status: snitches.status,
  Tags: snitches.tags,
  Pause: snitches.pause,
  Acknowledging: snitches.acknowledging,
  CheckIn: schemas.checkIn,
  Case: schemas.caseRecord,
  NewCase: schemas.newCase,
  CaseChanges: schemas.caseChanges,
  CaseChangesByAdmin: schemas.adminCaseChanges,
  ApiKey: schemas.apiKey,
  NewApiKey: schemas.newApiKey,
  CreatedApiKey: schemas.createdApiKey,
  Webhook: schemas.webhook,
  NewWebhook: schemas.newWebhook,
  CreatedWebhook: schemas.createdWebhook,
  Channel: schemas.channel,
  NewChannel: schemas.newChannel,
  ChannelChanges: schemas.channelChanges,
  Silence: silences.silence,
  NewSilence: silences.newSilence,
  SilenceChanges: silences.silenceChanges,
  Badge: badges.badge,
  NewBadge: badges.newBadge,
  Delivery: schemas.delivery,
  Alert: schemas.alert,
  Explanation: explanation,
  Import: schemas.newImport,
  ImportToCheck: schemas.importToCheck,
  ImportCheck: schemas.importCheck,
  Ownership: schemas.ownership,
  Claim: schemas.claim,
  Schedule: snitches.schedule,
  ScheduleToCheck: schemas.scheduleToCheck,
  ScheduleCheck: schemas.scheduleCheck,
  Maintenance: schemas.maintenance,
  Node: node,
  Error: schemas.error,
};

const NAME_OF = new Map<unknown, string>(Object.entries(NAMED).map(([name, schema]) => [schema, name]));

const TAGS: Record<string, string> = {
  'check-ins': 'The address that a job calls. It needs no key: the token is the secret.',
  snitches: 'Monitored jobs.',
  alerts: 'What was decided, whom it reached, and what changes at this moment.',
  deliveries: 'Each attempt to tell somebody.',
  webhooks: 'Addresses that alerts are sent to.',
  channels: 'Services that alerts are sent to: push, chat and on-call.',
  silences: 'Planned times without alarms.',
  badges: 'Public pictures of how snitches are.',
  case: 'The team that the key belongs to.',
  'API keys': 'Keys of the case, or of the server for an admin key.',
  files: 'Snitches that are kept in files or come from elsewhere.',
  administration: 'The server itself, for admin keys.',
};

const TAG_OF: Record<string, keyof typeof TAGS> = {
  snitches: 'snitches',
  schedules: 'snitches',
  alerts: 'alerts',
  stream: 'alerts',
  metrics: 'snitches',
  deliveries: 'deliveries',
  webhooks: 'webhooks',
  channels: 'channels',
  silences: 'silences',
  badges: 'badges',
  api_keys: 'API keys',
  imports: 'files',
  ownership: 'files',
  cases: 'administration',
  maintenance: 'administration',
  nodes: 'administration',
};

interface Parameter {
  description: string;
  schema: object;
}

const TEXT = { type: 'string' };

const PARAMETERS: Record<string, Parameter> = {
  token: { description: 'The token of a snitch.', schema: TEXT },
  tag: { description: 'A tag. A plus sign means a space, unless a tag has one.', schema: TEXT },
  id: { description: 'The id that its list shows.', schema: TEXT },
  tags: { description: 'Tags, separated by commas: only snitches that have all of them.', schema: TEXT },
  name: { description: 'Only snitches with this name, and the one with this token.', schema: TEXT },
  limit: {
    description: 'How many at most.',
    schema: { type: 'integer', minimum: 1, maximum: 1_000, default: 100 },
  },
  before: {
    description: 'Only what is older than this: a time, or the id of the last one of the page before.',
    schema: TEXT,
  },
  state: {
    description: 'Only deliveries in this state.',
    schema: { type: 'string', enum: ['pending', 'delivered', 'dead', 'dropped'] },
  },
};

/** Error answers by name. */
const REFUSALS: Record<string, { status: number; description: string; bodiless?: true }> = {
  MalformedJson: {
    status: 400,
    description: 'The request body is not JSON. The answer has no body.',
    bodiless: true,
  },
  KeyInvalid: { status: 401, description: '`api_key_invalid`: the key is missing or wrong.' },
  OnHold: { status: 402, description: '`account_on_hold`, or `plan_limit_reached` where a snitch is made.' },
  Forbidden: { status: 403, description: '`api_key_forbidden`: the key may not do this.' },
  NotFound: { status: 404, description: '`resource_not_found`: it does not exist, or not in this case.' },
  TooLarge: { status: 413, description: '`request_too_large`: the body is larger than 64 KiB.' },
  Invalid: { status: 422, description: '`resource_invalid`: `validations` says what is wrong.' },
  RateLimited: { status: 429, description: '`rate_limited`: the key is blocked for `Retry-After` seconds.' },
  Unavailable: { status: 503, description: '`service_unavailable`: try again after `Retry-After` seconds.' },
};

/** The whole description, in OpenAPI 3.1. */
export function describeApi(operations: Operations, baseUrl: string): object {
  const paths = Object.entries(operations).map(([path, methods]) => [
    path,
    Object.fromEntries(Object.entries(methods).map(([method, one]) => [method, describe(path, one)])),
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Snitch',
      version: '1',
      description: 'A dead man’s switch for scheduled jobs.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    security: [{ apiKey: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: { ...CHECK_IN_PATHS, ...(Object.fromEntries(paths) as object) },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'basic',
          description: 'The API key is the user name; the password is empty.',
        },
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'The API key, for what collects metrics.',
        },
      },
      schemas: namedSchemas(),
      responses: Object.fromEntries(Object.entries(REFUSALS).map(([name, one]) => [name, refusal(one)])),
    },
  };
}

function describe(path: string, operation: Operation): object {
  const { id, summary, query = [], body, answer, bearer, mayLack = false } = operation;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const [, , first = ''] = path.split('/');
  return {
    operationId: id,
    summary,
    tags: [TAG_OF[first] ?? 'case'],
    ...(bearer ? { security: [{ apiKey: [] }, { bearer: [] }] } : {}),
    parameters: [
      ...inPath.map((name) => ({ name, in: 'path', required: true, ...parameter(name) })),
      ...query.map((name) => ({ name, in: 'query', required: false, ...parameter(name) })),
    ],
    ...(body ? { requestBody: { required: !isOptional(body), content: json(body) } } : {}),
    responses: {
      ...success(answer),
      ...refusals({
        hasBody: body !== undefined,
        mayLack: inPath.length > 0 || mayLack,
        checks: inPath.length > 0 || query.length > 0,
      }),
    },
  };
}

function parameter(name: string): Parameter {
  return PARAMETERS[name] ?? { description: name, schema: TEXT };
}

function isOptional(schema: z.ZodType): boolean {
  return schema instanceof z.ZodOptional;
}

function success(answer: Operation['answer']): object {
  if (answer === null) return { 204: { description: 'Done; there is no body.' } };
  const content = typeof answer === 'string' ? { [answer]: { schema: TEXT } } : json(answer);
  return { 200: { description: 'Success.', content } };
}

function refusals(operation: { hasBody: boolean; mayLack: boolean; checks: boolean }): object {
  const { hasBody, mayLack, checks } = operation;
  const possible = [
    ...['KeyInvalid', 'OnHold', 'Forbidden', 'RateLimited', 'Unavailable'],
    ...(mayLack ? ['NotFound'] : []),
    ...(hasBody ? ['MalformedJson', 'TooLarge'] : []),
    ...(hasBody || checks ? ['Invalid'] : []),
  ];
  return {
    ...Object.fromEntries(
      possible.map((name) => [REFUSALS[name]?.status, { $ref: `#/components/responses/${name}` }]),
    ),
    default: { description: 'Any other error.', content: json(schemas.error) },
  };
}

function refusal({ description, bodiless }: (typeof REFUSALS)[string]): object {
  return bodiless ? { description } : { description, content: json(schemas.error) };
}

function json(schema: z.ZodType): object {
  return { 'application/json': { schema: describeSchema(schema) } };
}

function describeSchema(schema: z.ZodType): object {
  const name = NAME_OF.get(schema);
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  if (schema instanceof z.ZodOptional) return describeSchema(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodArray) {
    return { type: 'array', items: describeSchema(schema.element as z.ZodType) };
  }
  return withoutIds(z.toJSONSchema(schema, OPTIONS));
}

/** Every number in this API is an integer, except what jobs report, which is a `double`. */
const OPTIONS = {
  io: 'input',
  override: ({ jsonSchema }: { jsonSchema: { type?: unknown; format?: unknown } }) => {
    if (jsonSchema.type === 'number' && jsonSchema.format !== 'double') jsonSchema.type = 'integer';
  },
} as const;

function namedSchemas(): object {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(NAMED)) registry.add(schema, { id });
  const uri = (id: string) => `#/components/schemas/${id}`;
  const described = z.toJSONSchema(registry, { ...OPTIONS, uri }).schemas;
  return Object.fromEntries(Object.entries(described).map(([id, schema]) => [id, withoutIds(schema)]));
}

/** Removes the ids of a schema, because others refer to it by its place in this document. */
function withoutIds({ $schema, $id, ...schema }: Record<string, unknown>): object {
  return schema;
}
