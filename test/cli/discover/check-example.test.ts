/** The timer of docs/discover.md that checks a host every day, run as systemd would run it. Time limit: 120 s. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireApiKey, WireCheckIn } from '../../../src/api/wire.ts';
import { parseUnit } from '../../../src/cli/discover/systemd/units.ts';
import { readPage } from '../../docs/pages.ts';
import { SNITCH } from '../exec/exec-process.ts';
import { type Commands, withDaemon } from '../with-daemon.ts';

interface Context extends Commands {
  root: string;
  put(path: string, text: string): void;
}

const test = suite<Context>('a host that is checked every day');

test.before.each(async (context) => {
  const commands = await withDaemon();
  const root = join(commands.daemon.dataDir, 'root');
  Object.assign(context, commands, {
    root,
    put: (path: string, text: string) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    },
  });
});
test.after.each((context) => context.end());

const PAGE = readPage('docs/discover.md');
const [SERVICE = '', TIMER = ''] = PAGE.blocks
  .filter(({ language }) => language === 'ini')
  .map(({ text }) => text);

/** The words of the command that makes the snitch. */
function creation(): string[] {
  const [line = ''] = /^snitch create .*$/m.exec(PAGE.text) ?? [];
  return (line.match(/'[^']*'|\S+/g) ?? []).slice(1).map((word) => word.replace(/^'|'$/g, ''));
}

test('the timer of the document alerts until every job is watched, and is itself watched', async (context) => {
  const { put, root, run, json, listed, named, daemon } = context;
  const created = await run(...creation());
  assert.is(created.code, 0, created.stderr);
  const [snitch] = await listed();
  const { key = '' } = await json<WireApiKey>('key', 'create', 'web1', '--scope', 'read');
  put('/etc/snitch/check.key', `${key}\n`);
  put('/etc/crontab', '0 3 * * * root /opt/backup --password=geheim\n');
  symlinkSync('/usr/share/zoneinfo/Europe/Berlin', join(root, 'etc/localtime'));
  const service = SERVICE.replace('https://snitch.example.com/c/TOKEN', snitch?.check_in_url ?? '');
  put('/etc/systemd/system/snitch-check.service', service);
  put('/etc/systemd/system/snitch-check.timer', TIMER);
  put('/etc/systemd/system/timers.target.wants/snitch-check.timer', '');

  const start = parseUnit(service).find(({ name }) => name === 'ExecStart')?.value ?? '';
  const command = start
    .replaceAll('/usr/bin/snitch', SNITCH)
    .replaceAll('https://snitch.example.com', daemon.url)
    .replace('/etc/snitch/check.key', join(root, 'etc/snitch/check.key'));
  const words = `${command} --root ${root} --host web1`.split(' ');
  // What systemd gives to a service of the system, and the state of this test.
  const env = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin',
    XDG_STATE_HOME: join(root, 'state'),
  };
  const tick = () => spawnSync(words[0] ?? '', words.slice(1), { env, encoding: 'utf8' });

  const first = tick();
  assert.is(first.status, 1, first.stderr);
  assert.is((await named('jobs-of-web1')).status, 'errored');
  const [newest] = await json<WireCheckIn[]>('history', 'jobs-of-web1');
  assert.match(newest?.output ?? '', 'Not watched:\n  backup@web1 (/etc/crontab:1): cron 0 3 * * *');
  assert.match(newest?.output ?? '', '1 watched, 1 not watched');
  assert.not.match(newest?.output ?? '', 'geheim');

  put('/etc/snitch/discover-ignore', 'backup@web1\n');
  const second = tick();
  assert.is(second.status, 0, second.stderr);
  assert.is((await named('jobs-of-web1')).status, 'healthy');

  await daemon.end();
  assert.is(tick().status, 5, 'it could not ask');
});

test.run();
