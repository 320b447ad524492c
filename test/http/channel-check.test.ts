/** `/v1/imports/check` with channels: how they would be stored; nothing is changed and no secret shown. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireChannel, WireImportCheck } from '../../src/api/wire.ts';
import { invalidOn, ok } from './expect.ts';
import { type Fixture, hooks } from './fixture.ts';

const test = suite<Fixture>('a check of channels');
test.before.each(hooks.start);
test.after.each(hooks.close);

const NTFY = { kind: 'ntfy', settings: { topic: 'ops', token: 'tk_s3cr3t' } };

test('new channels and changed ones are answered in their normal form', async ({ acme }) => {
  const { id } = ok<WireChannel>(await acme.write.post('/v1/channels', NTFY));
  for (const topic of ['a', 'b'])
    ok(await acme.write.post('/v1/channels', { kind: 'ntfy', settings: { topic } }));
  const changed = { id, settings: { topic: 'night' }, events: ['errored', 'missing'] };
  const made = {
    kind: 'gotify',
    settings: { server: 'https://g.example.com/', token: 's3cr3t' },
    tags: ['db', 'db'],
  };
  const answer = await acme.read.post('/v1/imports/check', { channels: [changed, made] });
  const { channels, problems, channel_room: room } = ok<WireImportCheck>(answer);
  assert.equal(problems, []);
  assert.is(room, 97);
  const rest = { after: 0, hours: null };
  assert.equal(channels, [
    {
      kind: 'ntfy',
      name: 'ntfy',
      settings: { topic: 'night', token: '***' },
      events: ['missing', 'errored'],
      tags: [],
      ...rest,
    },
    {
      kind: 'gotify',
      name: 'gotify',
      settings: { server: 'https://g.example.com', token: '***' },
      events: ['missing', 'errored', 'reporting', 'paused'],
      tags: ['db'],
      ...rest,
    },
  ]);
  const kept = ok<WireChannel>(await acme.read.get(`/v1/channels/${id}`));
  assert.equal(kept.settings, { topic: 'ops', token: '***' });
});

test('faults name the position of their channel; a channel of another case is unknown', async ({
  acme,
  rival,
}) => {
  const theirs = ok<WireChannel>(await rival.write.post('/v1/channels', NTFY));
  ok(await acme.write.post('/v1/channels', NTFY));
  const body = { channels: [NTFY, { kind: 'ntfy', settings: {} }, { id: theirs.id, tags: ['x'] }, 'x'] };
  const { problems, channels } = ok<WireImportCheck>(await acme.write.post('/v1/imports/check', body));
  assert.equal(problems.map(({ attribute }) => attribute).slice(0, 2), [
    'channels[1].settings.topic',
    'channels[2].id',
  ]);
  assert.is(problems.length, 3);
  assert.is(channels?.length, 1);
  const many = { channels: Array.from({ length: 101 }, () => NTFY) };
  invalidOn(await acme.write.post('/v1/imports/check', many), 'channels');
});

test('a check without channels answers as before', async ({ acme }) => {
  assert.equal(Object.keys(ok(await acme.write.post('/v1/imports/check', {}))), [
    'snitches',
    'case',
    'problems',
    'room',
  ]);
});

test.run();
