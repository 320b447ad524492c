import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../../src/api/wire.ts';
import { importedOf } from '../../../src/cli/import/healthchecks.ts';
import { ending } from '../../closing.ts';
import { runSnitch } from '../snitch-process.ts';
import { type Commands, withCase, withDaemon } from '../with-daemon.ts';

const KEY = 'old-key-0123456789';

/** Another service: answers the paths it knows if the key is right. */
interface Fake {
  url: string;
  server: Server;
  answers: Record<string, unknown>;
  requests: IncomingMessage[];
}

interface Context extends Commands {
  fake: Fake;
  keyFile: string;
}

const test = suite<Context>('snitch import');

async function startFake(): Promise<Fake> {
  const requests: IncomingMessage[] = [];
  const answers: Record<string, unknown> = {};
  const server = createServer((request, response) => {
    requests.push(request);
    const basic = `Basic ${Buffer.from(`${KEY}:`).toString('base64')}`;
    const known = request.headers['x-api-key'] === KEY || request.headers.authorization === basic;
    const answer = answers[request.url ?? ''];
    const status = known ? (answer === undefined ? 404 : 200) : 401;
    const body = status === 200 ? answer : { type: 'api_key_invalid', error: 'wrong api key' };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, answers, requests };
}

test.before.each(async (context) => {
  const commands = await withCase();
  const keyFile = join(commands.daemon.dataDir, 'old.key');
  writeFileSync(keyFile, `${KEY}\n`);
  Object.assign(context, commands, { fake: await startFake(), keyFile });
});
test.after.each(async (context) => {
  context.fake.server.close();
  await context.end();
});

const OLD = [
  {
    token: 'c2354d53d2',
    href: '/v1/snitches/c2354d53d2',
    name: 'Cronjob daily',
    tags: ['foo', 'bar'],
    notes: 'some notes',
    status: 'paused',
    checked_in_at: '2014-03-28T22:03:16.224Z',
    type: { interval: 'daily' },
    alert_type: 'smart',
    alert_email: ['a@example.com'],
    created_at: '2014-03-28T22:03:16.224Z',
  },
  { token: 'bad', name: 'short token', type: { interval: '15_minute' }, interval: '15_minute', notes: null },
  { token: 'odd-interval', name: 'odd', interval: 'fortnightly' },
  { token: 'no-name-1', name: ' ', interval: 'daily' },
];

test('the snitches of the hosted service come over with their tokens, after a dry run', async (context) => {
  const { fake, run, listed, keyFile } = context;
  fake.answers['/v1/snitches'] = OLD;
  const flags = ['import', 'deadmanssnitch', '--from-url', fake.url, '--from-key-file', keyFile];
  const dry = await run(...flags);
  assert.is(dry.code, 1);
  assert.equal(dry.stdout.trimEnd().split('\n'), [
    '+ Cronjob daily (daily, c2354d53d2)',
    '    differs: it is paused there, and will wait for its first check-in here',
    '+ short token (15_minute, a new token)',
    '    differs: its token cannot be kept: the job needs the new one',
    '! odd: its interval "fortnightly" does not exist here',
    "!  : name: can't be blank",
  ]);
  assert.match(dry.stderr, '2 to make, 0 there already, 2 that cannot be');
  assert.match(dry.stderr, 'dry run');
  assert.equal(await listed(), []);

  const done = await run(...flags, '--yes');
  assert.match(done.stderr, '2 made, 0 there already, 2 that cannot be');
  const [cron, short] = await listed();
  assert.equal(
    [cron?.token, cron?.interval, cron?.alert_type, cron?.alert_email, cron?.tags, cron?.notes, cron?.status],
    ['c2354d53d2', 'daily', 'smart', ['a@example.com'], ['foo', 'bar'], 'some notes', 'pending'],
  );
  assert.match(short?.token ?? '', /^[a-z2-7]{26}$/);
  fake.answers['/v1/snitches'] = OLD.slice(0, 1);
  const again = await run(...flags, '--yes');
  assert.equal([again.code, again.stdout], [0, '= Cronjob daily (c2354d53d2): is there already\n']);
});

test('a second snitch server is moved wholly', async (context) => {
  const { daemon, listed, env } = context;
  const other = await withDaemon();
  try {
    for (const name of ['one', 'two', 'three ✓']) {
      const body = { name, interval: 'hourly', tags: ['x'], notes: 'n\nm', alert_email: ['a@b.example'] };
      assert.is((await other.daemon.call('POST', '/v1/snitches', body)).status, 200);
    }
    const due = { name: 'four', schedule: { cron: '@daily' }, timezone: 'Asia/Tokyo', grace: 600 };
    assert.is((await other.daemon.call('POST', '/v1/snitches', due)).status, 200);
    const limits = { max_runtime: 600, min_runtime: 5, failures_before_alert: 3 };
    const expect = [{ value: 'bytes', min: 1_000, of_usual: [0.5, null] }, { value: 'rows' }];
    const judged = { name: 'five', public_name: 'Fünf', interval: 'daily', ...limits, expect };
    assert.is((await other.daemon.call('POST', '/v1/snitches', judged)).status, 200);
    const flags = ['import', 'deadmanssnitch', '--from-url', other.daemon.url, '--yes'];
    const { code, stderr } = await runSnitch(flags, { ...env, SNITCH_FROM_KEY: other.daemon.apiKey });
    assert.is(code, 0, stderr);
    const plain = (snitches: WireSnitch[]) =>
      snitches.map(({ created_at: _at, check_in_url: _url, ...same }) => same);
    assert.equal(plain(await listed()), plain(await other.listed()));
    const [moved] = await listed();
    assert.is((await fetch(`${daemon.url}/c/${moved?.token}`)).status, 202);

    const needy = { name: 'six', interval: 'daily', needs: ['tag:x', moved?.token] };
    assert.is((await other.daemon.call('POST', '/v1/snitches', needy)).status, 200);
    const more = await runSnitch(flags.slice(0, -1), { ...env, SNITCH_FROM_KEY: other.daemon.apiKey });
    assert.match(more.stdout, '    differs: what it needs is not brought over: see `snitch edit --needs`\n');
  } finally {
    await other.end();
  }
});

test('a schedule keeps the time zone of the case that it comes from', async (context) => {
  const { listed, env } = context;
  await using other = ending(await withDaemon(), ({ end }) => end());
  const { call, url, apiKey } = other.daemon;
  await call('PATCH', '/v1/case', { timezone: 'Europe/Berlin' });
  const rules = [{ cron: '0 3 * * *' }, { calendar: '*-*-* 04:00' }, { every: 5_400 }];
  for (const [index, schedule] of rules.entries()) {
    assert.is((await call('POST', '/v1/snitches', { name: `${index}`, schedule })).status, 200);
  }
  await call('POST', '/v1/snitches', { name: '3', schedule: { cron: '@daily' }, timezone: 'Asia/Tokyo' });
  const flags = ['import', 'deadmanssnitch', '--from-url', url, '--yes'];
  assert.is((await runSnitch(flags, { ...env, SNITCH_FROM_KEY: apiKey })).code, 0);
  assert.equal(
    (await listed()).map(({ timezone }) => timezone),
    ['Europe/Berlin', 'Europe/Berlin', null, 'Asia/Tokyo'],
  );
});

const UUID = '803f680d-e89b-492b-82ef-2be7b774a92d';

test('checks of Healthchecks keep the token in their address; what differs is told', async (context) => {
  const { fake, run, json, listed, keyFile } = context;
  fake.answers['/api/v3/checks/'] = {
    checks: [
      {
        name: 'backup',
        tags: 'prod  db',
        desc: 'the notes',
        grace: 3_600,
        timeout: 86_400,
        status: 'up',
        ping_url: `https://hc.example.com/ping/${UUID}`,
        channels: '4ec5a071-2d08-4baa-898a-eb4eb3cd6941',
        methods: 'POST',
        success_kw: 'done',
        manual_resume: true,
      },
      {
        name: '',
        slug: 'cron-check',
        tags: '',
        desc: '',
        grace: 60,
        schedule: '*/20 * * * *',
        tz: 'Europe/Riga',
        status: 'paused',
        uuid: 'aaaabbbb-cccc',
      },
      {
        name: 'yearly',
        tags: '',
        timeout: 31_536_000,
        grace: 0,
        unique_key: 'a6c7b0a8a66bed0df66abfdab3c77736861703ee',
      },
      { name: 'twice', schedule: '00:10\n12:10', tz: 'UTC', grace: 60, uuid: 'twice-a-day' },
      { name: 'wrong', schedule: '0 25 * * *', tz: 'UTC', grace: 60, uuid: 'wrong-hour' },
    ],
  };
  const flags = ['import', 'healthchecks', '--from-url', `${fake.url}/`, '--from-key-file', keyFile];
  const { code, stdout, stderr } = await run(...flags, '--yes');
  assert.is(code, 1);
  assert.equal(stdout.trimEnd().split('\n'), [
    `+ backup (every 1 day after its last check-in, ${UUID})`,
    '    differs: integrations: see `snitch webhook add` and `snitch member add`',
    '    differs: only POST counts there: here every method does',
    '    differs: filters on keywords: here the exit status shows how the job went',
    '    differs: manual resume: see `snitch pause --until unpaused`',
    '+ cron-check (cron */20 * * * * (Europe/Riga), aaaabbbb-cccc)',
    '    differs: it is paused there, and will wait for its first check-in here',
    '+ yearly (every 365 days after its last check-in, a new token)',
    '    differs: its address is hidden from this key: the job needs the new one',
    '+ twice (OnCalendar *-*-* 00,12:10:00 (UTC), twice-a-day)',
    '! wrong: schedule: cannot be read: hour "25": "25" is not a number from 0 to 23',
  ]);
  assert.match(stderr, '4 made, 0 there already, 1 that cannot be');
  assert.equal(
    (await json<WireSnitch[]>('list', '-t', 'prod')).map(({ name, token, tags, notes }) => [
      name,
      token,
      tags,
      notes,
    ]),
    [['backup', UUID, ['prod', 'db'], 'the notes']],
  );
  assert.equal(
    (await listed()).map(({ name, schedule, timezone, grace }) => [name, schedule, timezone, grace]),
    [
      ['backup', { every: 86_400 }, null, 3_600],
      ['cron-check', { cron: '*/20 * * * *' }, 'Europe/Riga', 60],
      ['twice', { calendar: '*-*-* 00,12:10:00' }, 'UTC', 60],
      ['yearly', { every: 31_536_000 }, null, 0],
    ],
  );
  const report = JSON.parse((await run(...flags, '--json')).stdout) as Record<string, unknown[]>;
  assert.equal(
    [report.create?.length, report.present?.length, report.refused?.length, report.remarks?.length],
    // The address of the yearly one is hidden, so it is recognised by its name.
    [0, 4, 1, 0],
  );
  const again = await run(...flags, '--yes');
  assert.match(again.stdout, /^= yearly \(by its name\): is there already$/m);
  assert.match(again.stderr, '0 made, 4 there already, 1 that cannot be');
});

test('several schedules of a check become one, with its zone and grace; a timeout that is too short an interval', () => {
  const table: [Record<string, unknown>, Record<string, unknown> | null][] = [
    [{ timeout: 30 }, { interval: '1_minute' }],
    [{ schedule: '0 3 * * *\n0 15 * * *' }, { schedule: { cron: '0 3,15 * * *' }, timezone: 'UTC' }],
    [
      { schedule: '0 3 * * 1-5\n0 3 * * 6', tz: 'Europe/Riga', grace: 600 },
      { schedule: { cron: '0 3 * * 1-5,6' }, timezone: 'Europe/Riga', grace: 600 },
    ],
    // The longest time is that from Saturday at noon to Monday at ten.
    [
      { schedule: 'Mon..Fri 10:00\nSat 12:00', grace: 60 },
      { schedule: { every: 46 * 3_600 }, grace: 60 },
    ],
    [{ schedule: '0 3 * * *\n18:00' }, { schedule: { every: 15 * 3_600 } }],
    [{ schedule: 'nonsense\nnonsense' }, null],
    [{}, null],
  ];
  for (const [check, due] of table) {
    const { input, refusal } = importedOf({ name: 'x', uuid: UUID, ...check }, Date.UTC(2026, 2, 1));
    const { name: _n, tags: _t, notes: _o, token: _k, ...found } = input;
    assert.equal(refusal === null ? found : null, due, JSON.stringify(check));
  }
  assert.equal(importedOf({ name: 'x', uuid: UUID, timeout: 1_200, grace: 5 }).remarks, []);
});

test('the grace of a check whose job reports starts is also how long a run may take', () => {
  const most = (check: object) =>
    importedOf({ name: 'x', uuid: UUID, timeout: 3_600, grace: 600, ...check }).input.max_runtime;
  assert.is(most({}), undefined);
  assert.is(most({ last_duration: 4 }), 600);
  assert.is(most({ started: true }), 600);
  assert.is(most({ started: false, last_duration: null }), undefined);
  assert.is(most({ started: true, grace: 31_536_000 }), undefined);
});

test('a missing key, a refused key and a wrong address are told apart', async (context) => {
  const { fake, run, keyFile, env } = context;
  const at = ['--from-url', fake.url];
  const missing = await run('import', 'healthchecks', ...at);
  assert.is(missing.code, 4);
  assert.match(missing.stderr, '--from-key-file');
  assert.is((await run('import', 'healthchecks', ...at, '--from-key-file', `${keyFile}.no`)).code, 4);
  writeFileSync(keyFile, 'wrong-key');
  const refused = await run('import', 'deadmanssnitch', ...at, '--from-key-file', keyFile);
  assert.is(refused.code, 4);
  assert.match(refused.stderr, 'refuses the key: wrong api key');
  assert.not.match(refused.stderr, 'wrong-key');
  const withKey = { ...env, SNITCH_FROM_KEY: KEY };
  const absent = await runSnitch(['import', 'healthchecks', ...at], withKey);
  assert.is(absent.code, 1);
  assert.match(absent.stderr, 'answered with status 404');
  fake.answers['/api/v3/checks/'] = { unexpected: true };
  const other = await runSnitch(['import', 'healthchecks', ...at], withKey);
  assert.is(other.code, 1);
  assert.match(other.stderr, 'is not the API of that service');
  const unreachable = ['import', 'healthchecks', '--from-url', 'http://127.0.0.1:1'];
  assert.is((await runSnitch(unreachable, withKey)).code, 5);
  const named = ['import', 'healthchecks', '--from-url', 'http://user:secret@127.0.0.1:1'];
  const withName = await runSnitch(named, withKey);
  assert.is(withName.code, 2);
  assert.not.match(withName.stderr, 'secret');
  assert.is((await run('import', 'elsewhere')).code, 2);
});

test('tokens of another case, and a full case, are reported before anything is created', async (context) => {
  const { fake, run, json, listed, keyFile, daemon } = context;
  const flags = ['import', 'deadmanssnitch', '--from-url', fake.url, '--from-key-file', keyFile, '--yes'];
  fake.answers['/v1/snitches'] = [OLD[0], { token: 'abcdef', name: 'b', interval: 'daily' }];
  const { id } = await json<{ id: string }>('case', 'show');
  await daemon.call('PATCH', `/v1/cases/${id}`, { max_snitches: 1 }, daemon.adminKey);
  const full = await run(...flags);
  assert.is(full.code, 1);
  assert.match(full.stderr, 'has room for 1');
  assert.equal(await listed(), []);
  const made = await daemon.call('POST', '/v1/cases', { name: 'second' }, daemon.adminKey);
  const second = (await made.json()) as { id: string };
  const answer = await daemon.call('POST', `/v1/cases/${second.id}/api_keys`, { name: 'k' }, daemon.adminKey);
  const { key } = (await answer.json()) as { key: string };
  await daemon.call(
    'POST',
    '/v1/imports',
    { snitches: [{ name: 'x', interval: 'daily', token: 'abcdef' }] },
    key,
  );
  const taken = await run(...flags);
  assert.is(taken.code, 1);
  assert.match(taken.stdout, '! b: token: is taken\n');
  assert.equal(
    (await listed()).map(({ name }) => name),
    ['Cronjob daily'],
  );
});

test.run();
