/** Whatever is asked in the terms of `/openapi.json`, or nearly so, is answered as it says. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cases } from '../cases.ts';
import { randomFrom } from '../random.ts';
import type { Answer } from './client.ts';
import {
  type Described,
  type Known,
  METHODS,
  type Operation,
  Requests,
  type Schema,
} from './described/requests.ts';
import { ok } from './expect.ts';
import { checkIn, type Fixture, HOUR, hooks, newSnitch, sweep } from './fixture.ts';

const test = suite<Fixture>('answers as described');
test.before.each(hooks.start);
test.after.each(hooks.close);

const ASKED = cases(2_500);

/** How often each body is made anew, with other fields in it. */
const ROUNDS = 6;

/** Of the whole server, not of a case. */
const BY_ADMIN = /^\/v1\/(cases|nodes|maintenance|checks\/mail)/;

/** One never ends, one stops everything else, and the others take away the keys that the test asks with. */
const LEFT = ['streamChanges', 'setMaintenance', 'deleteApiKey', 'deleteCase', 'updateCaseById'];

/** What random requests rarely make, but read and change once it is there. */
const EVERYDAY: readonly [path: string, body: object][] = [
  ['/v1/channels', { kind: 'ntfy', settings: { server: 'https://ntfy.example.com', topic: 'jobs' } }],
  ['/v1/silences', { tags: ['db'], duration: 86_400 }],
  ['/v1/silences', { all: true, schedule: { cron: '0 1 * * *' }, duration: 3_600, note: 'at night' }],
];

interface Asked {
  method: string;
  template: string;
  operation: Operation;
}

function operationsOf({ paths }: Described): Asked[] {
  return Object.entries(paths)
    .flatMap(([template, { parameters: shared = [], ...operations }]) =>
      METHODS.flatMap((method) => {
        const { [method]: operation } = operations;
        if (!operation) return [];
        const parameters = [...shared, ...(operation.parameters ?? [])];
        return [{ method: method.toUpperCase(), template, operation: { ...operation, parameters } }];
      }),
    )
    .filter(({ operation }) => !LEFT.includes(operation.operationId));
}

/** The answers of an operation have no field but those that are described. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inside = Object.fromEntries(Object.entries(schema).map(([name, one]) => [name, closed(one)]));
  const isOpen = inside.type !== 'object' || !inside.properties || 'additionalProperties' in inside;
  return isOpen ? inside : { ...inside, additionalProperties: false };
}

/** What asserts that an answer is one that the description allows. */
function judgeOf({ components }: Described) {
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': isTime, double: true } });
  const known = new Map<Schema, ValidateFunction>();
  const validatorOf = (schema: Schema) => {
    const whole = { ...schema, components: { schemas: components.schemas } };
    const made = known.get(schema) ?? ajv.compile(closed(whole) as object);
    known.set(schema, made);
    return made;
  };
  return ({ responses }: Operation, answer: Answer, said: string) => {
    const { status, text } = answer;
    assert.ok(status < 500, said);
    const named = responses[status];
    assert.ok(named, `not described: ${said}`);
    const described = named.$ref ? components.responses[named.$ref.split('/').at(-1) ?? ''] : named;
    const schema = described?.content?.['application/json']?.schema;
    if (schema === undefined) {
      assert.not.match(String(answer.headers['content-type']), /json/, `not described: ${said}`);
      return;
    }
    if (text === '') return;
    const validate = validatorOf(schema);
    assert.ok(validate(answer.json()), `${ajv.errorsText(validate.errors)}: ${said}`);
    if (status !== 422) return;
    const { validations = [] } = answer.json<{ validations?: { attribute: string; message: string }[] }>();
    assert.ok(validations.length > 0, said);
    for (const { attribute, message } of validations) assert.ok(attribute !== '' && message !== '', said);
  };
}

function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) && !Number.isNaN(Date.parse(text));
}

function remember({ tokens, ids }: Known, { text, json }: Answer): void {
  if (!/^[[{]/.test(text)) return;
  for (const { token, id } of [json<{ token?: unknown; id?: unknown }>()].flat()) {
    if (typeof token === 'string' && !tokens.includes(token)) tokens.push(token);
    if (typeof id === 'string' && !ids.includes(id)) ids.push(id);
  }
  // Few enough that most things are changed more than once.
  if (tokens.length > 40) tokens.splice(0, 10);
  if (ids.length > 60) ids.splice(0, 10);
}

test('no request fails, and each answer is one that is described', async (context) => {
  const { acme, admin, clock, nobody } = context;
  const document = (await nobody.get('/openapi.json')).json<Described>();
  const known: Known = { tokens: [], ids: [acme.id], now: clock.now };
  for (const name of ['db', 'web', 'nightly']) {
    const { token } = await newSnitch(acme, { name, tags: ['db'] });
    await checkIn(context, token);
    known.tokens.push(token);
  }
  for (const [path, body] of EVERYDAY)
    known.ids.push(ok<{ id: string }>(await acme.write.post(path, body)).id);
  const random = randomFrom(20_261_123);
  const requests = new Requests(document, random, known);
  const judge = judgeOf(document);
  const operations = operationsOf(document);
  const succeeded = new Set<string>();
  for (let asked = 0; asked < ASKED; asked += 1) {
    if (requests.chance(0.05)) {
      clock.now += Math.floor(random() * 2 * HOUR);
      known.now = clock.now;
      await sweep(context);
    }
    const { method, template, operation } = requests.pick(operations);
    if (method === 'DELETE' && requests.chance(0.7)) continue;
    const path = requests.pathOf(template) + requests.queryOf(operation);
    const body = requests.bodyOf(operation);
    const client = BY_ADMIN.test(template) ? admin : acme.write;
    const answer = await client.ask(method, path, body === undefined ? {} : { json: body });
    const sent = `${method} ${path} ${JSON.stringify(body)?.slice(0, 500)}`;
    judge(operation, answer, `${sent} ${answer.status} ${answer.text.slice(0, 500)}`);
    if (answer.status >= 300) continue;
    succeeded.add(operation.operationId);
    remember(known, answer);
  }
  const never = operations.map(({ operation }) => operation.operationId).filter((id) => !succeeded.has(id));
  assert.ok(never.length * 2 < operations.length, `only refused: ${never}`);
});

test('a word that every object has is a text like any other, wherever it is given', async (context) => {
  const { acme, admin, clock, nobody } = context;
  const document = (await nobody.get('/openapi.json')).json<Described>();
  const known: Known = { tokens: [(await newSnitch(acme)).token], ids: [acme.id], now: clock.now };
  const requests = new Requests(document, randomFrom(1), known);
  const judge = judgeOf(document);
  for (const { method, template, operation } of operationsOf(document)) {
    const client = BY_ADMIN.test(template) ? admin : acme.write;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const word of ['constructor', '__proto__']) {
        for (const body of requests.bodiesWith(word, operation)) {
          const answer = await client.ask(method, requests.pathOf(template), { json: body });
          judge(operation, answer, `${method} ${template} ${JSON.stringify(body)} ${answer.text}`);
        }
      }
    }
  }
});

test.run();
