/** `decisions: Limits on text`, in characters and not in bytes. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { invalid, invalidOn, ok, refused } from './expect.ts';
import { type Fixture, hooks, newSnitch, snitchNow } from './fixture.ts';

const test = suite<Fixture>('limits on text');
test.before.each(hooks.start);
test.after.each(hooks.close);

const tooLong = (attribute: string, limit: number) => ({
  attribute,
  message: `is too long (maximum is ${limit} characters)`,
});
const controls = (attribute: string) => ({ attribute, message: 'must not contain control characters' });
const addresses = (count: number) => Array.from({ length: count }, (_, index) => `a${index}@example.com`);
const tags = (count: number) => Array.from({ length: count }, (_, index) => `tag ${index}`);

/** What just fits, whether its characters take one byte or four. */
const FITS: Partial<Record<keyof WireSnitch, unknown>>[] = [
  { name: 'n' },
  { name: 'n'.repeat(255) },
  { name: '🧨'.repeat(255) },
  { notes: 'n'.repeat(10_000) },
  { notes: '🧨'.repeat(10_000) },
  { notes: '\n\r\t'.repeat(3_000) },
  { tags: ['t'.repeat(100)] },
  { tags: ['🧨'.repeat(100)] },
  { tags: tags(50) },
  { tags: [...tags(50), ...tags(50), '', ' '] },
  { alert_email: addresses(50) },
  { alert_email: addresses(50).join() },
];

const REFUSED: [Record<string, unknown>, { attribute: string; message: string }][] = [
  [{ name: 'n'.repeat(256) }, tooLong('name', 255)],
  [{ name: '🧨'.repeat(256) }, tooLong('name', 255)],
  [{ notes: 'n'.repeat(10_001) }, tooLong('notes', 10_000)],
  [{ notes: '🧨'.repeat(10_001) }, tooLong('notes', 10_000)],
  [{ tags: ['ok', 't'.repeat(101)] }, tooLong('tags', 100)],
  [{ tags: ['🧨'.repeat(101)] }, tooLong('tags', 100)],
  [{ tags: tags(51) }, { attribute: 'tags', message: 'has too many tags (maximum is 50)' }],
  [
    { alert_email: addresses(51) },
    { attribute: 'alert_email', message: 'has too many addresses (maximum is 50)' },
  ],
];

test('what just fits is kept whole, on create and on update', async ({ acme }) => {
  const updated = await newSnitch(acme);
  for (const fields of FITS) {
    const created = await newSnitch(acme, fields);
    assert.equal(ok(await acme.write.patch(updated.href, fields)), { ...updated, ...pick(created, fields) });
    ok(await acme.write.patch(updated.href, updated));
    const [name, value] = Object.entries(fields)[0] as [keyof WireSnitch, unknown];
    if (typeof value === 'string' && name !== 'alert_email') assert.is(created[name], value);
    else
      assert.is(
        new Set(created[name] as string[]).size,
        name === 'tags' && created.tags.length === 1 ? 1 : 50,
      );
  }
});

function pick(snitch: WireSnitch, fields: object): Partial<WireSnitch> {
  const names = Object.keys(fields) as (keyof WireSnitch)[];
  return Object.fromEntries(names.map((name) => [name, snitch[name]]));
}

test('one more is refused, and nothing is changed', async ({ acme }) => {
  const snitch = await newSnitch(acme);
  for (const [fields, validation] of REFUSED) {
    const given = { name: 'n', interval: 'daily', ...fields };
    invalid(await acme.write.post('/v1/snitches', given), validation);
    invalid(await acme.write.patch(snitch.href, fields), validation);
  }
  assert.equal(ok(await acme.write.get('/v1/snitches')), [snitch]);
});

test('control characters are refused in name and tags', async ({ acme }) => {
  const snitch = await newSnitch(acme);
  for (const character of ['\0', '\n', '\r', '\t', '\u001b', '\u007f', '\u0085', '\u009b']) {
    const text = `a${character}b`;
    const given = { name: text, interval: 'daily', tags: [text] };
    invalid(await acme.write.post('/v1/snitches', given), controls('name'), controls('tags'));
    invalid(
      await acme.write.patch(snitch.href, { name: text, tags: ['ok', text] }),
      controls('name'),
      controls('tags'),
    );
    invalid(await acme.write.post(`${snitch.href}/tags`, [text]), controls('tags'));
  }
  assert.equal(await snitchNow(acme, snitch.token), snitch);
});

test('notes hold newlines and tabs, and no other control characters', async ({ acme }) => {
  assert.is((await newSnitch(acme, { notes: 'a\nb\r\nc\td' })).notes, 'a\nb\r\nc\td');
  for (const character of ['\0', '\u001b', '\u007f', '\u0085', '\b', '\v', '\f']) {
    const given = { name: 'n', interval: 'daily', notes: `a${character}b` };
    invalidOn(await acme.write.post('/v1/snitches', given), 'notes');
  }
});

test('half of a surrogate pair is refused in every text', async ({ acme }) => {
  for (const half of ['\\ud83d', '\\ude80', 'a\\ud83db', '\\ude80\\ud83d']) {
    const body = `{"name":"${half}","interval":"daily","notes":"${half}","tags":["${half}"],"alert_email":["${half}"]}`;
    invalidOn(await acme.write.ask('POST', '/v1/snitches', { body }), 'name', 'notes', 'tags', 'alert_email');
  }
});

test('a body of 64 KiB is read; one byte more is refused with 413', async ({ acme }) => {
  const limit = 64 * 1024;
  const padded = (size: number) => {
    const [head, tail] = ['{"name":"n","interval":"daily","ignored":"', '"}'];
    return head + 'x'.repeat(size - head.length - tail.length) + tail;
  };
  ok(await acme.write.ask('POST', '/v1/snitches', { body: padded(limit) }));
  const { href } = await newSnitch(acme);
  const requests: [string, string][] = [
    ['POST', '/v1/snitches'],
    ['PATCH', href],
    ['POST', `${href}/tags`],
    ['POST', `${href}/pause`],
    ['PATCH', '/v1/case'],
    ['POST', '/v1/webhooks'],
    ['POST', '/v1/api_keys'],
  ];
  for (const [method, path] of requests) {
    for (const body of [padded(limit + 1), padded(16 * limit)]) {
      refused(await acme.write.ask(method, path, { body }), 413, 'request_too_large', path);
      const chunked = await acme.write.ask(method, path, { body, chunked: true });
      refused(chunked, 413, 'request_too_large', path);
    }
  }
  assert.is(ok<WireSnitch[]>(await acme.write.get('/v1/snitches')).length, 2);
});

test.run();
