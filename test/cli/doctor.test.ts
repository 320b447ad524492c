import { chmodSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Finding } from '../../src/cli/findings.ts';
import { startMailbox } from '../end-to-end/mailbox.ts';
import { startWebhookReceiver } from '../end-to-end/webhook-receiver.ts';
import { startFakeServer } from './fake-server.ts';
import { runSnitch } from './snitch-process.ts';
import { type Commands, withDaemon } from './with-daemon.ts';

const doctor = suite('snitch doctor');
let on: Commands;

doctor.before(async () => {
  on = await withDaemon();
  chmodSync(on.daemon.dataDir, 0o700);
});
doctor.after(() => on.end());

async function examine(args: string[] = [], env: NodeJS.ProcessEnv = {}) {
  const { code, stdout, stderr } = await runSnitch(['doctor', '--json', ...args], { ...on.env, ...env });
  const findings = JSON.parse(stdout) as Finding[];
  const of = (check: string) => findings.find((one) => one.check === check);
  return { code, stderr, findings, of };
}

doctor(
  'a daemon that is well: nothing is broken, and what is missing is a warning with its remedy',
  async () => {
    const { code, findings, of } = await examine();
    assert.is(code, 0);
    assert.equal(
      findings.map(({ check, state }) => `${check}: ${state}`),
      [
        'configuration: ok',
        'data directory: ok',
        'store: ok',
        'server: ok',
        'sweep: ok',
        'clock: ok',
        'API key: ok',
        'team: warning',
        'email: warning',
      ],
    );
    assert.match(of('team')?.remedy ?? '', 'snitch member add');
    const { stdout } = await on.run('doctor');
    assert.match(stdout, /^\+ ok +configuration +no file; defaults and environment\n/);
    assert.match(stdout, /\n! warning +team +nobody would be told of an alert\n +> `snitch member add/);
  },
);

doctor('mail is tried, and with --send a mail arrives and each webhook gets an alert', async () => {
  const mailbox = await startMailbox();
  const receiver = await startWebhookReceiver();
  await on.run('webhook', 'add', receiver.url, '-q');
  const env = { SNITCH_SMTP_URL: mailbox.url, SNITCH_SMTP_FROM: 'snitch@example.com' };
  try {
    const tried = await examine([], env);
    assert.is(tried.of('email')?.state, 'ok', tried.of('email')?.message);
    assert.is(tried.of('webhook')?.state, 'ok');
    assert.equal([mailbox.mails.length, receiver.posts.length], [0, 0]);
    const sent = await examine(['--send', 'ops@example.com'], env);
    assert.is(sent.code, 0);
    const [mail] = await mailbox.waitFor(1, 10_000);
    assert.equal(mail?.recipients, ['ops@example.com']);
    assert.match(mail?.subject ?? '', 'Test');
    assert.is((await receiver.waitFor(1, 10_000)).length, 1);
  } finally {
    await on.run('webhook', 'remove', receiver.url, '--force');
    await mailbox.stop();
    await receiver.stop();
  }
});

doctor('what is broken is a failure, and the exit code says so', async () => {
  await on.run('webhook', 'add', 'http://127.0.0.1:9/x', '-q');
  const env = { SNITCH_SMTP_URL: 'smtp://user:hunter2@127.0.0.1:9', SNITCH_SMTP_FROM: 'snitch@example.com' };
  const { code, of, findings } = await examine([], env);
  assert.is(code, 1);
  assert.is(of('webhook')?.state, 'failure');
  assert.is(of('email')?.state, 'failure');
  assert.not.match(JSON.stringify(findings), 'hunter2');
  for (const { state, remedy } of findings) assert.ok(state === 'ok' || remedy);
  await on.run('webhook', 'remove', 'http://127.0.0.1:9/x', '--force');
});

doctor('a bad configuration, an unreachable server and a refused key are told apart', async () => {
  const bad = await examine([], { SNITCH_LISTEN: 'nonsense' });
  assert.is(bad.code, 1);
  assert.is(bad.of('configuration')?.state, 'failure');
  assert.is(bad.of('server')?.state, 'ok', 'the rest is looked at all the same');
  const gone = await examine([], { SNITCH_URL: 'http://127.0.0.1:9', SNITCH_API_KEY: 'x' });
  assert.equal([gone.code, gone.of('server')?.state], [1, 'failure']);
  assert.match(gone.of('server')?.remedy ?? '', 'snitch serve');
  const absent = await examine([], { SNITCH_DATA_DIR: '/nonexistent' });
  assert.equal([absent.of('data directory')?.state, absent.of('store')], ['warning', undefined]);
  const refused = await examine([], { SNITCH_API_KEY: 'wrong' });
  assert.match(refused.of('API key')?.message ?? '', '(from SNITCH_API_KEY)');
  assert.equal(
    [refused.code, refused.of('server')?.state, refused.of('API key')?.state],
    [1, 'ok', 'failure'],
  );
});

doctor('a server that is not ready says why, and a clock that is wrong is noticed', async () => {
  const body = { status: 'not ready', problems: ['the sweep has stopped'] };
  const date = new Date(Date.now() - 3_600_000).toUTCString();
  const server = await startFakeServer({ status: 503, headers: { date }, body });
  try {
    const { code, of } = await examine([], { SNITCH_URL: server.url, SNITCH_API_KEY: 'x' });
    assert.is(code, 1);
    assert.equal([of('sweep')?.state, of('sweep')?.message], ['failure', 'the sweep has stopped']);
    assert.equal(
      [of('clock')?.state, /differ by (59m|1h)/.test(of('clock')?.message ?? '')],
      ['failure', true],
    );
  } finally {
    await server.stop();
  }
});

doctor.run();
