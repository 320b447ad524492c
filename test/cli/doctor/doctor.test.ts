// Time limit: 120 s.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Finding } from '../../../src/cli/doctor/findings.ts';
import { startReceiver } from '../../delivery/receiver.ts';
import { startMailbox } from '../../end-to-end/mailbox.ts';
import { startWebhookReceiver } from '../../end-to-end/webhook-receiver.ts';
import { unless } from '../../skipped.ts';
import { mountTmpfs, withoutMounts } from '../../store/sqlite/mounts.ts';
import { until } from '../../until.ts';
import { fakeServer, startFakeServer } from '../fake-server.ts';
import { onTerminal, plain } from '../on-terminal.ts';
import { runSnitch, temporaryDirectory } from '../snitch-process.ts';
import { type Commands, withDaemon } from '../with-daemon.ts';

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
  'a daemon that is well but can tell nobody: that is a failure, and the exit code says so',
  async () => {
    const { code, findings, of } = await examine();
    assert.is(code, 1);
    assert.equal(
      findings.map(({ check, state }) => `${check}: ${state}`),
      [
        'configuration: ok',
        'data directory: ok',
        'store: ok',
        'links: warning',
        'server: ok',
        'sweep: ok',
        'clock: ok',
        'API key: ok',
        'team: failure',
        'email: warning',
      ],
    );
    assert.match(of('team')?.remedy ?? '', 'snitch webhook add');
    // The daemon may have another configuration than the one found here.
    assert.match(of('links')?.message ?? '', 'not set in this configuration');
    assert.match(of('links')?.remedy ?? '', /set base_url .* name that with --config/);
    const { stdout } = await on.run('doctor');
    assert.match(stdout, /^\+ ok +configuration +no file; defaults and environment\n/);
    assert.match(
      stdout,
      /\nX failure +team +nobody would be told of any alert: the case has no member and no webhook or channel, .*\n +> set smtp/,
    );
  },
);

doctor(
  'where no key is found, the server is looked for where its configuration says that it listens',
  async () => {
    using place = temporaryDirectory();
    const { path: directory } = place;
    const own = join(directory, 'data');
    mkdirSync(own, { mode: 0o700 });
    const config = join(directory, 'config.yaml');
    const { host } = new URL(on.daemon.url);
    writeFileSync(config, `data_dir: ${own}\nlisten: ${host}\n`);
    const env = {
      SNITCH_DATA_DIR: '',
      SNITCH_URL: '',
      SNITCH_API_KEY: '',
      SNITCH_ADMIN_KEY: '',
      HOME: directory,
    };
    const { of } = await examine(['--config', config], env);
    assert.equal([of('server')?.state, of('server')?.message], ['ok', `${on.daemon.url} answers`]);
    assert.is(of('sweep')?.state, 'ok');
    assert.is(of('API key')?.state, 'failure');
  },
);

doctor('members are told nothing where the daemon sends no email', async () => {
  await on.run('member', 'add', 'ann@example.com');
  const { code, of } = await examine();
  assert.equal([code, of('team')?.state], [1, 'failure']);
  const receiver = await startWebhookReceiver();
  try {
    await on.run('webhook', 'add', receiver.url, '-q');
    const reached = await examine();
    assert.equal([reached.code, reached.of('team')?.state], [0, 'warning']);
    assert.match(reached.of('team')?.message ?? '', '0 told by email, 1 by webhook; 1 by email are not');
  } finally {
    await on.run('webhook', 'remove', receiver.url, '--force');
    await on.run('member', 'remove', 'ann@example.com');
    await receiver.stop();
  }
});

doctor('the daemon tries the mail server, with the password that only it gets', async () => {
  const mailbox = await startMailbox('hunter2-secret');
  const receiver = await startWebhookReceiver();
  const credentials = temporaryDirectory();
  writeFileSync(join(credentials.path, 'smtp-password'), 'hunter2-secret\n');
  const smtp = {
    SNITCH_SMTP_URL: mailbox.url.replace('://', '://snitch@'),
    SNITCH_SMTP_FROM: 'snitch@example.com',
  };
  const own = await withDaemon({ ...smtp, CREDENTIALS_DIRECTORY: credentials.path });
  const env = { ...smtp, SNITCH_DATA_DIR: own.daemon.dataDir };
  try {
    await own.run('webhook', 'add', receiver.url, '-q');
    const tried = await examine([], env);
    assert.is(tried.of('email')?.state, 'ok', tried.of('email')?.message);
    assert.match(tried.of('email')?.message ?? '', 'accepts the daemon');
    assert.is(tried.of('webhook')?.state, 'ok');
    assert.equal([mailbox.mails.length, receiver.posts.length], [0, 0]);
    const sent = await examine(['--send', 'ops@example.com'], env);
    assert.is(sent.code, 0);
    const [mail] = await mailbox.waitFor(1, 10_000);
    assert.equal(mail?.recipients, ['ops@example.com']);
    assert.match(mail?.subject ?? '', 'Test');
    assert.is((await receiver.waitFor(1, 10_000)).length, 1);
    const elsewhere = await examine([], { ...env, SNITCH_SMTP_URL: 'smtp://snitch@mail.example.com' });
    assert.is(elsewhere.of('email')?.state, 'warning');
    assert.match(elsewhere.of('email')?.message ?? '', 'the configuration read here names mail.example.com');
    await own.daemon.end();
    const alone = await examine([], env);
    assert.is(alone.of('email')?.state, 'warning');
    assert.match(alone.of('email')?.message ?? '', 'only the daemon has the password');
    const { SNITCH_SMTP_URL: url } = smtp;
    const whole = await examine([], { ...env, SNITCH_SMTP_URL: url.replace('@', ':hunter2-secret@') });
    assert.is(whole.of('email')?.state, 'ok', whole.of('email')?.message);
    assert.match(whole.of('email')?.message ?? '', 'tried from here');
    const wrong = await examine([], { ...env, SNITCH_SMTP_URL: url.replace('@', ':other-secret@') });
    assert.is(wrong.of('email')?.state, 'failure');
    assert.not.match(JSON.stringify([tried, sent, alone, whole, wrong]), /(hunter2|other)-secret/);
  } finally {
    await own.end();
    credentials.remove();
    await mailbox.stop();
    await receiver.stop();
  }
});

doctor('a mail server that the daemon does not know of is a failure', async () => {
  const env = { SNITCH_SMTP_URL: 'smtp://127.0.0.1:9', SNITCH_SMTP_FROM: 'snitch@example.com' };
  const { code, of } = await examine([], env);
  assert.equal([code, of('email')?.state], [1, 'failure']);
  assert.match(of('email')?.message ?? '', 'the daemon runs without email');
  assert.match(of('email')?.remedy ?? '', 'systemctl reload snitch');
});

doctor('an answer that is no result of a check counts as none', async () => {
  for (const body of [[], null, {}, { server: 5, problem: [] }, 'x']) {
    const server = await startFakeServer({ status: 200, body });
    const env = {
      SNITCH_URL: server.url,
      SNITCH_API_KEY: 'x',
      SNITCH_SMTP_URL: 'smtp://me@127.0.0.1:9',
      SNITCH_SMTP_FROM: 'a@b.example',
    };
    try {
      const email = (await examine([], env)).of('email');
      assert.is(email?.state, 'warning', JSON.stringify(body));
      assert.match(email?.message ?? '', 'not tried');
    } finally {
      await server.stop();
    }
  }
});

doctor('a data directory that only the configuration names has the keys for every command', async () => {
  const directory = temporaryDirectory();
  const config = join(directory.path, 'config.yaml');
  const env = { SNITCH_DATA_DIR: '' };
  try {
    writeFileSync(config, `log: { level: info }\ndata_dir: "${on.daemon.dataDir}" # here\n`);
    const named = await examine(['--config', config], env);
    assert.match(named.of('API key')?.message ?? '', `from ${on.daemon.dataDir}/credentials.yaml`);
    assert.is(named.of('data directory')?.state, 'ok');
    const listed = await runSnitch(['list'], { ...on.env, ...env, SNITCH_CONFIG: config });
    assert.is(listed.code, 0, listed.stderr);
  } finally {
    directory.remove();
  }
});

doctor('reports a key in a cli.yaml that everybody can read, and a misspelled variable', async () => {
  const directory = temporaryDirectory();
  try {
    const cli = join(directory.path, 'snitch', 'cli.yaml');
    mkdirSync(join(directory.path, 'snitch'), { mode: 0o755 });
    chmodSync(directory.path, 0o755);
    writeFileSync(cli, `servers:\n  home:\n    url: ${on.daemon.url}\n    api_key: ${on.daemon.apiKey}\n`);
    const env = { XDG_CONFIG_HOME: directory.path, SNITCH_BASEURL: 'x' };
    chmodSync(cli, 0o644);
    const open = await examine([], env);
    assert.equal([open.of('secrets')?.state, open.of('secrets')?.remedy], ['warning', `chmod 600 ${cli}`]);
    assert.ok(open.findings.some(({ message }) => message.includes('did you mean SNITCH_BASE_URL?')));
    assert.not.match(JSON.stringify(open.findings), on.daemon.apiKey);
    chmodSync(cli, 0o600);
    assert.is((await examine([], env)).of('secrets'), undefined);
    const key = join(directory.path, 'snitch', 'work.key');
    writeFileSync(key, `${on.daemon.apiKey}\n`);
    chmodSync(key, 0o644);
    writeFileSync(cli, `servers:\n  home:\n    url: ${on.daemon.url}\n    api_key_file: work.key\n`);
    assert.match((await examine([], env)).of('secrets')?.message ?? '', key);
  } finally {
    directory.remove();
  }
});

doctor('settings of a cli.yaml that do nothing are told of', async () => {
  const directory = temporaryDirectory();
  try {
    const cli = join(directory.path, 'snitch', 'cli.yaml');
    mkdirSync(join(directory.path, 'snitch'));
    const text = `url: ${on.daemon.url}\napi_kee: ${on.daemon.apiKey}\napi_key: ${on.daemon.apiKey}\n`;
    writeFileSync(cli, text, { mode: 0o600 });
    const { findings } = await examine([], { XDG_CONFIG_HOME: directory.path });
    const odd = findings.filter(({ check }) => check === 'cli.yaml');
    assert.equal(
      odd.map(({ state, message }) => [state, message]),
      [['warning', `${cli}: line 2: "api_kee" is no setting, and does nothing. Did you mean api_key?`]],
    );
    const env = { XDG_CONFIG_HOME: directory.path, SNITCH_DATA_DIR: join(directory.path, 'none') };
    const piped = await runSnitch(['list'], env);
    assert.is(piped.code, 0);
    assert.not.match(piped.stderr, 'api_kee', 'cron would send a mail about it after each run');
    const watched = await onTerminal(['list'], { env });
    assert.is(plain(watched.screen).split('"api_kee" is no setting').length, 2, 'once');
  } finally {
    directory.remove();
  }
});

doctor('reports what others can write, and secrets that others can read', async () => {
  const directory = temporaryDirectory();
  const config = join(directory.path, 'config.yaml');
  const { dataDir } = on.daemon;
  try {
    chmodSync(directory.path, 0o755);
    writeFileSync(config, 'smtp: { url: "smtp://me:hunter2@127.0.0.1:9", from: a@b.example }');
    chmodSync(config, 0o644);
    const { code, stdout, stderr } = await runSnitch(['config', 'check', '--config', config]);
    assert.equal([code, stdout], [0, `${config}: valid\n`]);
    assert.match(
      stderr,
      `snitch: warning: every user of this host can read ${config}, which has the password`,
    );
    assert.not.match(stderr, 'hunter2');
    chmodSync(dataDir, 0o777);
    const exposed = await examine(['--config', config]);
    assert.equal(
      [exposed.code, exposed.of('data directory')?.state, exposed.of('secrets')?.state],
      [1, 'failure', 'warning'],
    );
    chmodSync(dataDir, 0o770);
    assert.match((await examine()).of('data directory')?.message ?? '', 'the group');
    chmodSync(dataDir, 0o711);
    const readable = (await examine()).of('data directory');
    assert.equal([readable?.state, readable?.remedy], ['warning', `chmod 700 ${dataDir}`]);
    chmodSync(config, 0o640);
    assert.is((await runSnitch(['config', 'check', '--config', config])).stderr, '');
  } finally {
    chmodSync(dataDir, 0o700);
    directory.remove();
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
  const absent = await examine([], { SNITCH_DATA_DIR: join(on.daemon.dataDir, 'nowhere') });
  assert.equal([absent.of('data directory')?.state, absent.of('store')], ['warning', undefined]);
  const refused = await examine([], { SNITCH_API_KEY: 'wrong' });
  assert.match(refused.of('API key')?.message ?? '', '(from SNITCH_API_KEY)');
  assert.equal(
    [refused.code, refused.of('server')?.state, refused.of('API key')?.state],
    [1, 'ok', 'failure'],
  );
  const ofNoCase = await examine([], { SNITCH_API_KEY: on.daemon.adminKey });
  assert.match(ofNoCase.of('API key')?.remedy ?? '', '`api_key`');
});

doctor('a database that is missing where there was one is a failure, as it is for the daemon', async () => {
  using place = temporaryDirectory();
  const { path: dataDir } = place;
  chmodSync(dataDir, 0o700);
  const fresh = await examine([], { SNITCH_DATA_DIR: dataDir });
  assert.equal(
    [fresh.of('store')?.state, fresh.of('store')?.message],
    ['warning', 'there is no database yet'],
  );
  writeFileSync(join(dataDir, 'credentials.yaml'), `url: ${on.daemon.url}\n`, { mode: 0o600 });
  const { code, of } = await examine([], { SNITCH_DATA_DIR: dataDir });
  assert.equal([code, of('store')?.state], [1, 'failure']);
  assert.match(of('store')?.message ?? '', 'snitch.db is missing, but there was one: credentials.yaml is');
  assert.match(of('store')?.remedy ?? '', /stop it in an orderly way.*mount that.*snitch restore FILE/);
});

doctor('a server that is not ready says why, and a clock that is wrong is noticed', async () => {
  const body = { status: 'not ready', problems: ['the sweep has stopped'] };
  const date = new Date(Date.now() - 3_600_000).toUTCString();
  const server = await startFakeServer({ status: 503, headers: { date }, body });
  try {
    const { code, of } = await examine([], { SNITCH_URL: server.url, SNITCH_API_KEY: 'x' });
    assert.is(code, 1);
    assert.equal([of('sweep')?.state, of('sweep')?.message], ['failure', 'the sweep has stopped']);
    assert.match(of('sweep')?.remedy ?? '', 'a restart helps only if the sweep or the outbox hangs');
    assert.equal(
      [of('clock')?.state, /differ by (59m|1h)/.test(of('clock')?.message ?? '')],
      ['failure', true],
    );
  } finally {
    await server.stop();
  }
});

doctor(
  'what a server does that takes a while is told, and is no failure; nonsense is not repeated',
  async () => {
    for (const [progress, message] of [
      [
        ['postponing deadlines', 'checking the database'],
        'alerts are sent, the store can be written; the server is postponing deadlines; checking the database',
      ],
      [{ a: 1 }, 'deadlines are checked, alerts are sent, the store can be written'],
    ]) {
      const server = await startFakeServer({ status: 200, body: { status: 'ready', progress } });
      try {
        const { of } = await examine([], { SNITCH_URL: server.url, SNITCH_API_KEY: 'x' });
        assert.equal([of('sweep')?.state, of('sweep')?.message], ['ok', message]);
      } finally {
        await server.stop();
      }
    }
  },
);

doctor('answers of a daemon of an earlier version are no failure of the proxy', async () => {
  // A daemon behind a proxy that removes what earlier versions did not send.
  let target = '';
  const between = createServer(async (request, response) => {
    const { host: _host, connection: _connection, ...headers } = request.headers;
    const answer = await fetch(`${target}${request.url}`, { headers: headers as Record<string, string> });
    response.writeHead(answer.status, { date: answer.headers.get('date') ?? '' }).end(await answer.text());
  });
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
  const older = await withDaemon({ SNITCH_BASE_URL: url });
  try {
    target = older.daemon.url;
    await older.make('nightly-backup');
    const { stdout } = await runSnitch(['doctor', '--json'], {
      ...older.env,
      SNITCH_URL: url,
      SNITCH_API_KEY: older.daemon.apiKey,
    });
    const found = (JSON.parse(stdout) as Finding[]).find(({ check }) => check === 'check-ins');
    assert.is(found?.state, 'warning');
    assert.match(found?.message ?? '', `cannot tell whether ${url}/c leads to a snitch server`);
  } finally {
    await older.end();
    between.closeAllConnections();
    between.close();
  }
});

doctor('a channel that refuses, a snitch that nobody hears of, and both mended', async () => {
  const own = await withDaemon();
  const server = await startReceiver();
  const hook = await startReceiver();
  chmodSync(own.daemon.dataDir, 0o700);
  const team = async () => {
    const { code, stdout } = await own.run('doctor', '--json');
    const found = (JSON.parse(stdout) as Finding[]).filter(({ check }) =>
      ['team', 'channel'].includes(check),
    );
    return { code, team: found[0], channel: found[1] };
  };
  try {
    const address = `http://127.0.0.1:${server.port}/ops`;
    await own.run('channel', 'add', 'ntfy', address, '--tag', 'db');
    await own.make('web1', { tags: ['web'] });
    await own.make('db1', { tags: ['db'] });
    const unheard = await team();
    assert.equal([unheard.code, unheard.team?.state], [1, 'failure']);
    assert.match(
      unheard.team?.message ?? '',
      /^nobody would be told of an alert of web1: nobody takes it: the channel ntfy takes only snitches tagged db/,
    );
    assert.match(unheard.team?.remedy ?? '', 'snitch channel add KIND');
    await own.run('tag', 'add', 'web1', 'db');
    assert.equal([(await team()).code, (await team()).team?.state], [0, 'ok']);

    const notices = await own.daemon.call('POST', '/v1/webhooks', { url: hook.url, notices: true });
    const { id } = (await notices.json()) as { id: string };
    server.behaviour = (response) =>
      response.writeHead(401).end('{"code":40101,"http":401,"error":"unauthorized"}');
    await own.run('check-in', 'db1', '--status', '1');
    await until(async () => (await team()).channel?.state === 'failure', 'the refusal is told', 20_000);
    await until(
      () => hook.received.some(({ body }) => body.includes('service.refused')),
      'others hear of it',
    );
    const watched = await onTerminal(['doctor'], { env: own.env, columns: 300 });
    assert.match(
      plain(watched.screen),
      /has refused alerts since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d \([^)]+\):/,
    );
    const notice = JSON.parse(
      hook.received.find(({ body }) => body.includes('service.refused'))?.body ?? '{}',
    );
    assert.equal(Object.keys(notice).sort(), ['data', 'timestamp', 'type']);
    assert.equal([notice.data.channel.name, notice.data.channel.kind], ['ntfy', 'ntfy']);
    assert.match(notice.data.error, 'answered 401 Unauthorized');
    assert.is((await team()).team?.state, 'warning', 'the webhook is told');
    await own.daemon.call('DELETE', `/v1/webhooks/${id}`);
    const lost = await team();
    assert.equal([lost.code, lost.team?.state], [1, 'failure']);
    assert.match(
      lost.team?.message ?? '',
      /^nobody would be told of any alert: .*; ntfy refused the last message: answered 401/,
    );
    assert.match(lost.team?.remedy ?? '', 'snitch channel test');
    const { stdout } = await own.run('explain', 'db1');
    assert.match(stdout, 'Refused by ntfy (ntfy): answered 401 Unauthorized');
    assert.match(stdout, 'Nobody would be told of an alert: ntfy refused the last message');

    server.behaviour = (response) => response.writeHead(200).end('{"id":"x"}');
    await own.run('channel', 'edit', 'ntfy', '--set', 'topic=ops2');
    await own.run('channel', 'test', 'ntfy');
    await own.run('deliveries', 'retry', '--dead');
    const mended = await team();
    assert.equal([mended.code, mended.team?.state, mended.channel?.state], [0, 'ok', 'ok']);
    assert.match((await own.run('explain', 'db1')).stdout, /Told: .*ntfy by ntfy at /);
  } finally {
    await own.end();
    server.close();
    hook.close();
  }
});

doctor('jobs of which nobody hears because a silence covers all of their runs are named', async () => {
  const { token } = await on.make('dump', { schedule: { cron: '30 3 * * *' }, tags: ['night'] });
  await on.run('check-in', token);
  const of = async () => (await examine()).of('silences');
  await on.run('silence', '--tag', 'night', '1h');
  assert.is(await of(), undefined, 'one that does not come again covers no run for good');
  const ids: string[] = [];
  for (const begins of ['0 5 * * *', '0 3 * * *']) {
    const made = await on.json<{ id: string }>('silence', '--tag', 'night', '--cron', begins, '--for', '1h');
    ids.push(made.id);
    const found = await of();
    assert.is(found?.state, ids.length === 1 ? 'ok' : 'warning');
  }
  const { message, remedy } = (await of()) ?? {};
  assert.match(message ?? '', /^nobody will be told if these are gone, .*: dump$/);
  assert.match(remedy ?? '', 'snitch silence --end ID');
  {
    await using limited = await fakeServer((request, response) => {
      if (request.url?.endsWith('/explain')) response.writeHead(429, { 'retry-after': '7' }).end();
      else
        httpRequest(new URL(request.url ?? '', on.daemon.url), { headers: request.headers }, (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
        }).end();
    });
    const refused = await examine([], { SNITCH_URL: limited.url, SNITCH_API_KEY: on.daemon.apiKey });
    assert.equal([refused.of('API key')?.state, refused.of('silences')?.state], ['ok', 'warning']);
    assert.match(
      refused.of('silences')?.message ?? '',
      /^which jobs they leave unheard was not found out: ./,
    );
  }
  await on.run('silence', '--end', '-q', ...ids);
  await on.run('delete', token, '--yes');
  assert.is(await of(), undefined);
});

unless(withoutMounts(), doctor)(
  'a file system with space but without room for another file is a failure',
  async () => {
    const mount = mountTmpfs('size=8g,nr_inodes=3');
    assert.ok(mount, 'a tmpfs can be mounted');
    try {
      const dataDir = join(mount.path, 'data');
      mkdirSync(dataDir, { mode: 0o700 });
      assert.is((await examine([], { SNITCH_DATA_DIR: dataDir })).of('data directory')?.state, 'ok');
      writeFileSync(join(mount.path, 'one'), '');
      const { state, message, remedy } =
        (await examine([], { SNITCH_DATA_DIR: dataDir })).of('data directory') ?? {};
      assert.equal([state, message], ['failure', `${dataDir} has room for no more files`]);
      assert.match(remedy ?? '', 'df -i');
    } finally {
      mount.remove();
    }
  },
);

doctor.run();
