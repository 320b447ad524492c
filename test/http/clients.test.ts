/** The habits of real clients: `curl` and `wget` run as they are, and what others send is written out. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireCheckIn } from '../../src/api/wire.ts';
import { ok } from './expect.ts';
import { type Fixture, hooks, newSnitch } from './fixture.ts';
import { exchangeOne } from './raw.ts';

interface Context extends Fixture {
  directory: string;
}

const test = suite<Context>('clients');
test.before.each(async (context) => {
  await hooks.start(context);
  context.directory = mkdtempSync(join(tmpdir(), 'snitch-clients-'));
});
test.after.each(async (context) => {
  rmSync(context.directory, { recursive: true });
  await hooks.close(context);
});

const run = promisify(execFile);

const RUN = '0f9c2f0e-5b1a-4c3d-8e7f-123456789abc';
const REPORT = '{"job":"backup","s":3,"m":"done","files":[{"path":"/srv"}]}\n';
const OUTPUT = 'line 1\ns=1&m=no\nhttps://example.com/?s=1\n';
const THANKS = 'Got it, thanks!\n';

/** Outcome, exit status, message and output of the last check-in. */
type Said = [WireCheckIn['outcome'], number | null, string | null, string | null];

async function last({ acme }: Fixture, token: string): Promise<Said> {
  const [entry] = ok<WireCheckIn[]>(await acme.read.get(`/v1/snitches/${token}/check_ins?limit=1`));
  assert.ok(entry, 'it is in the history');
  return [entry.outcome, entry.exit_status, entry.message, entry.output];
}

/** What is appended to the address, the arguments, what is printed, and what is kept. */
type Call = [string, string[], string, Said];

const CURL: Call[] = [
  ['', [], THANKS, ['healthy', null, null, null]],
  ['?s=3&m=disk+full', [], THANKS, ['error', 3, 'disk full', null]],
  ['?m=größe', [], THANKS, ['healthy', null, 'größe', null]],
  ['', ['-I'], 'HTTP/1.1 202 Accepted', ['healthy', null, null, null]],
  ['', ['-d', 'm=just finished'], THANKS, ['healthy', null, 'just finished', null]],
  ['', ['-d', 's=1', '-d', 'm=just finished'], THANKS, ['error', 1, 'just finished', null]],
  ['', ['--data-urlencode', 'm=100% & more=less'], THANKS, ['healthy', null, '100% & more=less', null]],
  ['?s=2', ['--data-urlencode', 'm=with a query'], THANKS, ['error', 2, 'with a query', null]],
  ['', ['-G', '--data-urlencode', 'm=größe & more'], THANKS, ['healthy', null, 'größe & more', null]],
  ['', ['-X', 'POST', '--data-binary', '@report.json'], THANKS, ['healthy', null, null, REPORT]],
  ['', ['--json', '@report.json'], THANKS, ['healthy', null, null, REPORT]],
  ['', ['--json', '{"s":4,"m":"failed"}'], THANKS, ['error', 4, 'failed', null]],
  ['', ['--data-binary', '@output.txt'], THANKS, ['healthy', null, null, OUTPUT]],
  ['', ['-T', 'output.txt'], THANKS, ['healthy', null, null, OUTPUT]],
  ['', ['-F', 's=5', '-F', 'm=a part'], THANKS, ['error', 5, 'a part', null]],
  ['', ['-d', ''], THANKS, ['healthy', null, null, null]],
  ['/start', [], 'OK', ['start', null, null, null]],
  ['/7', ['--data-binary', '@output.txt'], 'OK', ['error', 7, null, OUTPUT]],
  ['/fail', ['-m', '10', '--retry', '5', '--data-raw', 's=0'], 'OK', ['error', null, null, 's=0']],
  [`/0?rid=${RUN}`, [], 'OK', ['healthy', 0, null, null]],
];

const WGET: Call[] = [
  ['', [], THANKS, ['healthy', null, null, null]],
  ['?m=größe and more', [], THANKS, ['healthy', null, 'größe and more', null]],
  ['', ['--post-data=m=just finished&s=1'], THANKS, ['error', 1, 'just finished', null]],
  ['', ['--post-file=report.json'], THANKS, ['healthy', null, null, REPORT]],
  ['/log', ['--post-file=output.txt'], 'OK', ['log', null, null, OUTPUT]],
];

async function callAll(context: Context, program: string, flags: string[], calls: Call[]): Promise<void> {
  const { acme, port, directory } = context;
  writeFileSync(join(directory, 'report.json'), REPORT);
  writeFileSync(join(directory, 'output.txt'), OUTPUT);
  for (const [rest, args, printed, expected] of calls) {
    const { token } = await newSnitch(acme);
    const address = `http://127.0.0.1:${port}/c/${token}${rest}`;
    const { stdout } = await run(program, [...flags, ...args, address], { cwd: directory, timeout: 20_000 });
    const about = [program, ...args, rest].join(' ');
    assert.ok(stdout.startsWith(printed), `${about}: ${stdout}`);
    assert.equal(await last(context, token), expected, about);
  }
}

test('curl, in all the ways that crontabs call it', async (context) => {
  await callAll(context, 'curl', ['-fsS', '--noproxy', '*'], CURL);
});

test('wget', async (context) => {
  await callAll(context, 'wget', ['-qO-', '--no-proxy', '--tries=1'], WGET);
});

test('curl and wget are content with the answer to more than is read', async (context) => {
  const { acme, port, directory } = context;
  writeFileSync(join(directory, 'long.log'), `${'line\n'.repeat(800_000)}the reason`);
  const { token } = await newSnitch(acme);
  const address = `http://127.0.0.1:${port}/c/${token}`;
  for (const [program, args, printed] of [
    ['curl', ['-fsS', '--noproxy', '*', '--data-binary', '@long.log', address], THANKS],
    ['curl', ['-fsS', '--noproxy', '*', '-H', 'Expect:', '-T', 'long.log', `${address}/3`], 'OK'],
    ['wget', ['-qO-', '--no-proxy', '--tries=1', '--post-file=long.log', address], THANKS],
  ] as const) {
    assert.is((await run(program, args, { cwd: directory, timeout: 20_000 })).stdout, printed);
  }
});

const ALERTMANAGER = JSON.stringify({
  receiver: 'snitch',
  status: 'firing',
  alerts: [
    {
      status: 'firing',
      labels: { alertname: 'Watchdog', severity: 'none', s: '1' },
      annotations: { m: 'This is an alert meant to ensure that the entire alerting pipeline is functional.' },
      startsAt: '2026-11-18T10:20:30.123Z',
      endsAt: '0001-01-01T00:00:00Z',
      generatorURL: 'http://prometheus:9090/graph?g0.expr=vector%281%29&g0.tab=1',
      fingerprint: 'e25963d69425c836',
    },
  ],
  groupLabels: {},
  commonLabels: { alertname: 'Watchdog' },
  commonAnnotations: {},
  externalURL: 'http://alertmanager:9093',
  version: '4',
  groupKey: '{}:{}',
  truncatedAlerts: 0,
});

/** Method, what is appended to the token, headers and body; the status of the answer, and what is kept. */
const WRITTEN_OUT: Record<string, [string, string, string[], string, number, Said]> = {
  'requests.post(url, json={…})': [
    'POST',
    '',
    [
      'User-Agent: python-requests/2.34.2',
      'Accept-Encoding: gzip, deflate',
      'Content-Type: application/json',
    ],
    '{"m": "disk full", "s": 1}',
    202,
    ['error', 1, 'disk full', null],
  ],
  'requests.post(url, json={…}) of a report': [
    'POST',
    '',
    ['User-Agent: python-requests/2.34.2', 'Content-Type: application/json'],
    '{"s": 1, "rows": 3}',
    202,
    ['healthy', null, null, '{"s": 1, "rows": 3}'],
  ],
  'requests.post(url, data={…})': [
    'POST',
    '',
    ['User-Agent: python-requests/2.34.2', 'Content-Type: application/x-www-form-urlencoded'],
    'm=disk+full&s=1',
    202,
    ['error', 1, 'disk full', null],
  ],
  'urllib.request.urlopen(url, data=b"…")': [
    'POST',
    '/fail',
    ['Accept-Encoding: identity', 'Content-Type: application/x-www-form-urlencoded', 'Connection: close'],
    'Traceback (most recent call last):\n  s=1\n',
    200,
    ['error', null, null, 'Traceback (most recent call last):\n  s=1\n'],
  ],
  'Invoke-RestMethod -Method Post -Body @{…}': [
    'POST',
    '',
    [
      'User-Agent: Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1',
      'Content-Type: application/x-www-form-urlencoded',
    ],
    's=1&m=disk+full',
    202,
    ['error', 1, 'disk full', null],
  ],
  'Invoke-RestMethod -Method Post -Body (@{…} | ConvertTo-Json)': [
    'POST',
    '',
    [
      'User-Agent: Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1',
      'Expect: 100-continue',
    ],
    '{\r\n    "s":  1,\r\n    "m":  "disk full"\r\n}',
    202,
    ['error', 1, 'disk full', null],
  ],
  'Invoke-RestMethod -Method Post -Body (Get-Content log -Raw)': [
    'POST',
    '/1',
    ['Content-Type: application/x-www-form-urlencoded'],
    'm=first\r\ns=2\r\n',
    200,
    ['error', 1, null, 'm=first\r\ns=2\r\n'],
  ],
  'a webhook of Alertmanager': [
    'POST',
    '',
    ['User-Agent: Alertmanager/0.28.1', 'Content-Type: application/json'],
    ALERTMANAGER,
    202,
    ['healthy', null, null, ALERTMANAGER],
  ],
  'a start of another family': [
    'POST',
    `/start?rid=${RUN}`,
    ['User-Agent: runitor/v1.4.1'],
    '',
    200,
    ['start', null, null, null],
  ],
  'an end of another family': [
    'POST',
    `/2?rid=${RUN}`,
    ['User-Agent: runitor/v1.4.1', 'Content-Type: text/plain'],
    'rid=1&s=0',
    200,
    ['error', 2, null, 'rid=1&s=0'],
  ],
  'a HEAD of a monitor': [
    'HEAD',
    '',
    ['User-Agent: Mozilla/5.0+(compatible)'],
    '',
    202,
    ['healthy', null, null, null],
  ],
};

test('what other clients send', async (context) => {
  const { acme, port } = context;
  for (const [about, [method, rest, headers, body, status, expected]] of Object.entries(WRITTEN_OUT)) {
    const { token } = await newSnitch(acme);
    const head = [`${method} /c/${token}${rest} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...headers];
    if (method === 'POST') head.push(`Content-Length: ${Buffer.byteLength(body)}`);
    const answer = await exchangeOne(port, `${head.join('\r\n')}\r\n\r\n${body}`);
    const interim = answer.status === 100 ? /HTTP\/1\.1 (\d+)/.exec(answer.body)?.[1] : answer.status;
    assert.is(Number(interim), status, about);
    assert.equal(await last(context, token), expected, about);
  }
});

test('a run of another family under /ping, each answered 200 with OK', async (context) => {
  const { acme, nobody, clock } = context;
  const { token } = await newSnitch(acme);
  const calls: [string, string][] = [
    [`/ping/${token}/start?rid=${RUN}`, ''],
    [`/ping/${token}/log?rid=${RUN}`, 'half way'],
    [`/ping/${token}/0?rid=${RUN}`, 'all is well'],
    [`/ping/${token}`, ''],
  ];
  for (const [path, body] of calls) {
    const answer = await nobody.ask('POST', path, { body });
    assert.equal([answer.status, answer.text, answer.headers['ping-body-limit']], [200, 'OK', '10240'], path);
    clock.now += 2_000;
  }
  const entries = ok<WireCheckIn[]>(await acme.read.get(`/v1/snitches/${token}/check_ins`));
  const told = entries.map(({ outcome, duration_ms, output }) => [outcome, duration_ms, output]).reverse();
  assert.equal(told, [
    ['start', null, null],
    ['log', null, 'half way'],
    ['healthy', 4_000, 'all is well'],
    ['healthy', null, null],
  ]);
});

test.run();
