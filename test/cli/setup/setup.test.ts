// Time limit: 240 s.
/** `snitch setup` on a real terminal, with a real mail server and a receiver that answers as ntfy does. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireChannel } from '../../../src/api/wire.ts';
import { startMailServer } from '../../delivery/mail-server.ts';
import { startReceiver } from '../../delivery/receiver.ts';
import { openTerminal, type Terminal } from '../../tui/tmux.ts';
import { until } from '../../until.ts';
import { temporaryDirectory } from '../snitch-process.ts';
import { type Commands, withDaemon } from '../with-daemon.ts';

const SNITCH = fileURLToPath(new URL('../../../bin/snitch', import.meta.url));

const test = suite('snitch setup');

/** A terminal in which setup runs; closed with its block. */
function setUp(
  name: string,
  env: Record<string, string>,
  size = { columns: 80, rows: 50 },
): Terminal & Disposable {
  const terminal = openTerminal(name, { PS1: '$ ', ...env }, size);
  terminal.type(`${SNITCH} setup; echo "ended with $?"`);
  terminal.press('Enter');
  return { ...terminal, [Symbol.dispose]: terminal.close };
}

function answer(terminal: Terminal, text: string): void {
  terminal.type(text);
  terminal.press('Enter');
}

/** A line without its blanks: where the terminal broke it, one may be lost. */
function pasted(line: string): string {
  return line.replace(/\s+/g, '');
}

async function ending(commands: Commands, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } finally {
    await commands.end();
  }
}

test('ntfy is added, refused, changed and tried; then a first snitch gets its crontab line', async () => {
  const on = await withDaemon();
  await ending(on, async () => {
    using ntfy = await startReceiver();
    using terminal = setUp('setup-ntfy', on.env as Record<string, string>);
    await terminal.shows('1. Who gets the alerts', 'by email: nobody (email is off', 'Your choice [2]');
    answer(terminal, '9');
    await terminal.shows('Type a number from 1 to 5, or skip.');
    answer(terminal, '?');
    await terminal.shows(/Several are better than\s+one\./);
    answer(terminal, 'ntfy');
    await terminal.shows('Address of the topic');
    answer(terminal, 'http://127.0.0.1:1/bad topic');
    await terminal.shows('The topic must be at most 64 letters');
    answer(terminal, 'http://127.0.0.1:1/ops');
    await terminal.shows('Access token (empty for none):');
    answer(terminal, 'tk_s3cr3t');
    await terminal.shows('It was not delivered:', 'What now?', 'Your choice [2]');
    answer(terminal, '');
    await terminal.shows('Address of another server (empty keeps http://127.0.0.1:1):');
    answer(terminal, `http://127.0.0.1:${ntfy.port}`);
    await terminal.shows('Topic (empty keeps ops):');
    answer(terminal, '');
    await terminal.shows('Access token (empty keeps it):');
    answer(terminal, 'tk_s3cr3t');
    await terminal.shows('ntfy accepted it', 'by ntfy (ntfy)');
    assert.is(ntfy.received.at(-1)?.headers.authorization, 'Bearer tk_s3cr3t');
    answer(terminal, '');
    await terminal.shows('2. A job to watch', 'Create a first snitch? (y/n) [y]:');
    answer(terminal, '');
    await terminal.shows('Name of the job [nightly-backup]:');
    answer(terminal, 'queue');
    await terminal.shows('How often it runs [daily]:');
    answer(terminal, 'now and then');
    await terminal.shows('Write daily, hourly, 15m or 0 3 * * *.');
    answer(terminal, '99 3 * * *');
    await terminal.shows('The server refuses it: schedule: cannot be read: minute "99"');
    answer(terminal, '15m');
    await terminal.shows('Command of the job');
    answer(terminal, 'date +%F');
    const screen = await terminal.shows('Make another?', 'curl -fsS');
    const [queue] = await on.listed();
    assert.is(queue?.interval, '15_minute');
    assert.match(screen, '*/15 * * * * ');
    assert.match(pasted(screen), pasted(`exec ${queue?.token} -- date +\\%F`));
    answer(terminal, 'y');
    await terminal.shows(/Name of the job \[nightly-backup\]:\s*$/m);
    answer(terminal, '');
    await terminal.shows(/How often it runs \[daily\]:\s*$/m);
    answer(terminal, '');
    await terminal.shows(/Command of the job \[[^\]]*\]:\s*$/m);
    answer(terminal, "cd /srv && ./dump | tee 'a b'");
    const wrapped = await terminal.shows(/tee[\s\S]*curl -fsS[\s\S]*Make another/);
    const dump = await on.named('nightly-backup');
    assert.match(
      pasted(wrapped),
      pasted(`exec ${dump.token} -- /bin/sh -c 'cd /srv && ./dump | tee '\\''a b'\\'''`),
    );
    answer(terminal, '');
    assert.not.match(await terminal.shows('That is all.', 'ended with 0'), 's3cr3t');
    const [channel] = await on.json<WireChannel[]>('channel', 'list');
    assert.equal(channel?.settings, { server: `http://127.0.0.1:${ntfy.port}`, topic: 'ops', token: '***' });
  });
});

test('a mail server is tried, written into the configuration and used by the daemon', async () => {
  using directory = temporaryDirectory();
  const config = join(directory.path, 'config.yaml');
  writeFileSync(config, '# ours\nretention:\n  days: 7 # a week\n', { mode: 0o640 });
  await using mail = await startMailServer({
    onAuth: ({ username, password }, _session, done) =>
      username === 'snitch@example.com' && password === 's3cr3t pw'
        ? done(null, { user: username })
        : done(new Error('no')),
  });
  const on = await withDaemon({ SNITCH_CONFIG: config });
  await ending(on, async () => {
    using terminal = setUp('setup-mail', on.env as Record<string, string>);
    await terminal.shows('Your choice [2]');
    answer(terminal, 'email');
    await terminal.shows('Email now: is off', 'Mail server, such as mail.example.com:');
    answer(terminal, `127.0.0.1:${mail.port}`);
    await terminal.shows('User there (empty for none):');
    answer(terminal, 'snitch@example.com');
    await terminal.shows('Password:');
    answer(terminal, 'wrong');
    await terminal.shows('Sender of the mails [snitch@example.com]:');
    answer(terminal, '');
    await terminal.shows('Send a test mail to:');
    answer(terminal, 'ops@example.com');
    await terminal.shows('It did not work:', 'Your choice [1]');
    // All of the next answers at once: what is typed ahead of a question is kept for it.
    terminal.type(`\r127.0.0.1:${mail.port}\rsnitch@example.com\rs3cr3t pw\r\rops@example.com\r`);
    await terminal.shows('accepted a test mail to ops@example.com', `Write it to ${config}? (y/n) [y]:`);
    assert.is(mail.received.at(-1)?.user, 'snitch@example.com');
    answer(terminal, '');
    await terminal.shows('Press Enter when that is done');
    const password = join(directory.path, 'smtp-password');
    assert.is(
      readFileSync(config, 'utf8'),
      `# ours\nretention:\n  days: 7 # a week\n\nsmtp:\n  url: smtp://snitch%40example.com@127.0.0.1:${mail.port}\n  password_file: ${password}\n  from: snitch@example.com\n`,
    );
    assert.is(statSync(config).mode & 0o777, 0o640);
    assert.is(statSync(password).mode & 0o777, 0o600);
    on.daemon.child.kill('SIGHUP');
    await until(() => on.daemon.log.some((line) => line.includes('the configuration was read again')));
    answer(terminal, '');
    await terminal.shows('Send a test mail to:');
    answer(terminal, 'ann@example.com');
    await terminal.shows(
      /accepts the daemon, and accepted a test mail to\s+ann@example\.com/,
      'Who gets alerts by email',
    );
    assert.equal(mail.received.at(-1)?.recipients, ['ann@example.com']);
    answer(terminal, '');
    await terminal.shows('Told by email: ann@example.com.');
    assert.not.match(await terminal.shows('by email: ann@example.com', 'Your choice [5]'), /s3cr3t|Warning/);
    terminal.press('C-d');
    await terminal.shows('Stopped. What is done is kept', 'ended with 0');
  });
});

test('at 40 columns nothing is cut, Ctrl-C leaves at any question, and the next run shows what there is', async () => {
  const on = await withDaemon();
  await ending(on, async () => {
    await on.json('channel', 'add', 'ntfy', 'http://127.0.0.1:1/ops');
    using terminal = setUp('setup-narrow', on.env as Record<string, string>, { columns: 40, rows: 60 });
    const screen = await terminal.shows(
      'by ntfy (ntfy)',
      'test, change or delete a channel',
      'Your choice [6]',
    );
    assert.match(screen, 'Type ? to have a question explained,\nand skip to leave a step out.');
    answer(terminal, '5');
    await terminal.shows('Which one?');
    answer(terminal, 'skip');
    await terminal.shows('Left out.');
    await terminal.shows(/Left out\.[\s\S]*Your choice \[6\]:/);
    answer(terminal, 'slack');
    await terminal.shows('Address of the incoming webhook:');
    terminal.type('https://hooks.slack.com/s3cr3t');
    terminal.press('C-c');
    assert.not.match(await terminal.shows('stopped: everything done', 'ended with 130'), 's3cr3t');
    assert.is((await on.json<WireChannel[]>('channel', 'list')).length, 1);
  });
});

test('without a terminal it says what to do instead', async () => {
  const on = await withDaemon();
  await ending(on, async () => {
    const { code, stdout, stderr } = await on.run('setup');
    assert.equal([code, stdout], [2, '']);
    assert.match(stderr, /there is none[\s\S]*snitch channel add/);
  });
});

test('without a server it says how to start one, and looks again', async () => {
  using directory = temporaryDirectory();
  using terminal = setUp('setup-alone', {
    SNITCH_URL: 'http://127.0.0.1:1',
    SNITCH_API_KEY: 'snk_x',
    HOME: directory.path,
  });
  await terminal.shows('start one in another terminal: snitch serve', 'Press Enter to look again');
  terminal.press('Enter');
  await terminal.shows(/look again[\s\S]*look again/);
  terminal.press('C-d');
  await terminal.shows('ended with 0');
  assert.not.ok(existsSync(join(directory.path, '.config')));
});

test.run();
