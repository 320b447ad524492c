/** The order and the times of `snitch list`, with scripted answers of the server. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../../src/api/wire.ts';
import { displayWidth } from '../../../src/text/width.ts';
import { type FakeServer, startFakeServer } from '../fake-server.ts';
import { onTerminal, plain } from '../on-terminal.ts';
import { runSnitchWith } from '../piped.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The server's clock is two hours ahead of this host's. */
const AHEAD = 2 * HOUR;
const now = Date.now() + AHEAD;
const iso = (at: number) => new Date(at).toISOString();

function snitch(name: string, changes: Partial<WireSnitch>): WireSnitch {
  const token = `token-${name}`;
  return {
    token,
    href: `/v1/snitches/${token}`,
    name,
    tags: ['nightly'],
    notes: '',
    status: 'healthy',
    checked_in_at: iso(now - HOUR),
    last_report: { at: iso(now - HOUR), outcome: 'healthy', exit_status: 0, message: null },
    check_in_url: `https://snitch.example.com/c/${token}`,
    interval: 'daily',
    type: { interval: 'daily' },
    alert_type: 'basic',
    alert_email: [],
    schedule: null,
    timezone: null,
    grace: null,
    deadline: null,
    missing_since: null,
    created_at: iso(now - 30 * DAY),
    ...changes,
  };
}

const failed = (name: string, missing_since: string | null) =>
  snitch(name, { status: 'failed', missing_since, checked_in_at: iso(now - 3 * DAY) });

/** In the order of creation, in which the server lists them. */
const FLEET: readonly WireSnitch[] = [
  snitch('paused-one', { status: 'paused', interval: 'hourly' }),
  snitch('new-one', { status: 'pending', checked_in_at: null, last_report: null }),
  snitch('due-later', { deadline: iso(now + 30 * HOUR) }),
  snitch('job 10', { deadline: iso(now + 3 * HOUR + 20 * MINUTE + 30_000), interval: 'hourly' }),
  snitch('job 9', { deadline: iso(now + 5 * DAY), created_at: iso(now - DAY) }),
  snitch('ended', {}),
  snitch('overdue', { deadline: iso(now - 2_000) }),
  snitch('erring', { status: 'errored', deadline: iso(now + HOUR), checked_in_at: iso(now - DAY) }),
  snitch('erring-longer', {
    status: 'errored',
    deadline: iso(now + HOUR),
    checked_in_at: iso(now - 9 * DAY),
  }),
  failed('late', iso(now - 4 * HOUR - 30_000)),
  failed('longest', iso(now - 2 * DAY)),
  failed('unknown', null),
];

const URGENT = [
  ...['unknown', 'longest', 'late', 'erring-longer', 'erring', 'overdue'],
  ...['job 10', 'due-later', 'job 9', 'ended', 'new-one', 'paused-one'],
];
const BY_NAME = [...FLEET.map(({ name }) => name)].sort().filter((name) => !name.startsWith('job'));
BY_NAME.splice(BY_NAME.indexOf('late'), 0, 'job 9', 'job 10');

const list = suite<{ server: FakeServer }>('the list');
list.before.each(async (context) => {
  context.server = await startFakeServer(() => ({
    status: 200,
    headers: { date: new Date(Date.now() + AHEAD).toUTCString() },
    body: FLEET,
  }));
});
list.after.each(({ server }) => server.stop());

const connection = ({ url }: FakeServer) => ({ SNITCH_URL: url, SNITCH_API_KEY: 'snk_key' });

async function printed(server: FakeServer, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runSnitchWith('', ['list', ...args], connection(server));
  assert.equal([code, stderr], [0, '']);
  return stdout;
}

async function shown(server: FakeServer, columns: number, ...args: string[]): Promise<string[]> {
  const { screen } = await onTerminal(['list', ...args], { columns, env: connection(server) });
  return plain(screen).trimEnd().split('\n');
}

const namesIn = (lines: readonly string[]) =>
  lines.slice(1).map((line) => line.replace(/^(job \d+|\S+).*$/, '$1'));

list('begins with what is failing, the longest first, then comes what is due next', async ({ server }) => {
  assert.equal(namesIn((await printed(server)).trimEnd().split('\n')), URGENT);
  assert.equal(namesIn(await shown(server, 200)), URGENT);
});

list('by name for programs, unless they say otherwise', async ({ server }) => {
  assert.equal((await printed(server, '-o', 'name')).trimEnd().split('\n'), BY_NAME);
  assert.equal((await printed(server, '-q')).trimEnd().split('\n')[3], 'token-erring-longer');
  const names = (text: string) => (JSON.parse(text) as WireSnitch[]).map(({ name }) => name);
  assert.equal(names(await printed(server, '--json')), BY_NAME);
  assert.equal(names(await printed(server, '--json', '--sort', 'due')), URGENT);
});

list('--sort takes other orders, and refuses what is none', async ({ server }) => {
  const first = async (key: string) => (await printed(server, '--sort', key, '-o', 'name')).split('\n')[0];
  assert.is(await first('name'), 'due-later');
  assert.is(await first('status'), 'late');
  assert.is(await first('check-in'), 'new-one');
  assert.is(await first('interval'), 'job 10');
  assert.is(await first('created'), 'job 9');
  const { code, stderr } = await runSnitchWith('', ['list', '--sort', 'age'], connection(server));
  assert.is(code, 2);
  assert.match(stderr, /due, name, status/);
});

list('the time left is by the clock of the server', async ({ server }) => {
  const lines = await shown(server, 200);
  assert.match(lines[0] ?? '', /^NAME +STATUS +DUE ↑ +LAST HEALTHY/);
  const due = (name: string) => {
    const row = lines.find((line) => line.startsWith(name)) ?? '';
    return /^.+? {2,}\S \w+ +(.+?) {2}/.exec(row)?.[1];
  };
  assert.is(due('job 10'), 'in 3h 20m');
  assert.is(due('due-later'), 'in 1d 5h');
  assert.is(due('late'), '4h late');
  assert.is(due('unknown'), 'missed');
  assert.is(due('overdue'), 'now');
  for (const name of ['ended', 'new-one', 'paused-one']) assert.is(due(name), '-', name);
});

list('wide has the exact time as well; programs have it behind what they know', async ({ server }) => {
  const [heading, row = ''] = await shown(server, 400, '-o', 'wide', '--sort', 'created');
  assert.match(heading ?? '', /^NAME +STATUS +DUE +DEADLINE +LAST HEALTHY/);
  assert.match(row, /^job 9 +✓ healthy +in 4d 23h +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d /);
  const [plainHeading, ...rows] = (await printed(server)).split('\n');
  assert.match(plainHeading ?? '', /^NAME +STATUS +LAST HEALTHY +INTERVAL +TAGS +TOKEN +LAST REPORT +DUE$/);
  assert.ok(rows[1]?.endsWith(iso(now - 2 * DAY)), rows[1]);
});

list('keeps what matters at any width', async ({ server }) => {
  for (const columns of [20, 40, 80, 200]) {
    const lines = await shown(server, columns);
    for (const line of lines) assert.ok(displayWidth(line) <= columns, `${columns}: ${line}`);
    assert.is(lines.length, FLEET.length + 1);
    if (columns >= 40) assert.match(lines.join('\n'), /\nlate +✗ failed +4h late/);
    if (columns >= 80) assert.match(lines[0] ?? '', /LAST REPORT/);
  }
});

list('a server that does not tell deadlines has no such column', async () => {
  const old = FLEET.map(({ deadline: _, missing_since: __, ...rest }) => rest);
  const server = await startFakeServer({ status: 200, body: old });
  try {
    const lines = await shown(server, 120);
    assert.not.match(lines[0] ?? '', 'DUE');
    assert.equal(namesIn(lines).slice(0, 5), ['late', 'longest', 'unknown', 'erring-longer', 'erring']);
  } finally {
    await server.stop();
  }
});

list(
  '--watch waits for a server that is away, also behind a proxy, and ends where a key is refused',
  async () => {
    const own = { snitch: '1' };
    const away = [502, 503, 504].map((status) => ({ status, body: '<h1>Bad Gateway</h1>' }));
    const refusal = { status: 401, headers: own, body: { type: 'api_key_invalid', error: 'no such key' } };
    const answers = [{ status: 200, body: [] }, ...away, { status: 200, body: FLEET.slice(0, 1) }];
    await using server = await startFakeServer(() => answers.shift() ?? refusal);
    const env = { SNITCH_API_KEY: 'x', SNITCH_URL: server.url };
    const ended = await runSnitchWith('', ['list', '--watch', '20ms', '-q'], env);
    assert.is(ended.code, 4, ended.stderr);
    assert.is(ended.stdout, `${FLEET[0]?.token}\n`);
    assert.match(ended.stderr, 'status 502, and not as a snitch server; trying again\n');
    assert.is(ended.stderr.match(/trying again/g)?.length, 3);
  },
);

list.run();
