/** The examples in which jobs create their snitches: each line is taken from the page and run. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import type { WireApiKey, WireSnitch } from '../../src/api/wire.ts';
import { parseCrontab } from '../../src/cli/discover/crontab/lines.ts';
import { SNITCH } from '../cli/exec/exec-process.ts';
import { temporaryDirectory } from '../cli/snitch-process.ts';
import { removeDataDir } from '../data-directory.ts';
import { startProcess } from '../end-to-end/daemon-process.ts';
import { readPage } from './pages.ts';

const test = suite('jobs that make their snitches');

const { blocks, inline } = readPage('docs/jobs.md');

/** The block that contains these words. */
function blockWith(language: string, words: string): string {
  const [found, ...others] = blocks.filter(
    (block) => block.language === language && block.text.includes(words),
  );
  assert.equal(others, []);
  assert.ok(found, words);
  return found!.text;
}

/** A shell command, and its environment. */
interface Example {
  line: string;
  env: Record<string, string>;
}

function crontabExample(): Example {
  const text = blockWith('crontab', '--create');
  const beside = inline.filter((code) => /^SNITCH_[A-Z_]+=/.test(code)).map((code) => code.split('='));
  const env = Object.fromEntries(beside) as Record<string, string>;
  assert.equal(Object.keys(env), ['SNITCH_URL', 'SNITCH_API_KEY_FILE']);
  const [job] = parseCrontab(text, false).filter(({ kind }) => kind === 'job');
  assert.is(job?.kind, 'job');
  return { line: job?.kind === 'job' ? job.command : '', env };
}

function ansibleExample(): Example {
  const tasks = parse(blockWith('yaml', 'ansible.builtin.cron')) as {
    'ansible.builtin.cron'?: Record<string, string>;
  }[];
  const task = tasks.find((one) => one['ansible.builtin.cron'])?.['ansible.builtin.cron'];
  const job = (task?.job ?? '').replaceAll('{{ inventory_hostname }}', 'web1');
  const { command } = parseCrontab(`${task?.minute} ${task?.hour} * * * ${job}\n`, false)[0] as {
    command: string;
  };
  return { line: command, env: {} };
}

function composeExample(): Example {
  const { services } = parse(blockWith('yaml', 'services:')) as {
    services: Record<string, { command: string[]; environment: Record<string, string> }>;
  };
  const { command, environment } = services.report!;
  return { line: command.map((word) => `'${word}'`).join(' '), env: environment };
}

test('cron, Ansible and a container: each example creates its snitch', async () => {
  const daemon = await startProcess();
  const directory = temporaryDirectory();
  try {
    const answer = await daemon.call('POST', '/v1/api_keys', { name: 'hosts', scope: 'provision' });
    const keyFile = join(directory.path, 'provision.key');
    writeFileSync(keyFile, ((await answer.json()) as WireApiKey).key ?? '', { mode: 0o600 });
    const here = (text: string) =>
      text
        .replaceAll('https://snitch.example.com', daemon.url)
        .replaceAll(/\/etc\/snitch\/provision\.key|\/run\/secrets\/snitch/g, keyFile)
        .replaceAll(/^\/spool$/g, join(directory.path, 'spool'))
        .replaceAll(/(?<![\w/.-])(?:\/usr\/bin\/)?snitch(?=['" ])/g, SNITCH)
        .replaceAll(/\/usr\/local\/bin\/dump|\/app\/report/g, '/bin/true');
    for (const { line, env } of [crontabExample(), ansibleExample(), composeExample()]) {
      const settings = Object.entries(env).map(([name, value]) => [name, here(value)]);
      const ran = spawnSync('/bin/sh', ['-c', here(line)], {
        env: { HOME: directory.path, PATH: '/usr/bin:/bin', ...Object.fromEntries(settings) },
        encoding: 'utf8',
        timeout: 30_000,
      });
      assert.equal([ran.status, ran.stderr], [0, ''], line);
    }
    const made = (await (await daemon.call('GET', '/v1/snitches')).json()) as WireSnitch[];
    assert.equal(
      made.map(({ name, status, schedule, grace, tags }) => [name, status, schedule, grace, tags]),
      [
        ['nightly-dump', 'healthy', { cron: '0 3 * * *' }, null, []],
        ['dump of web1', 'healthy', { cron: '0 3 * * *' }, null, ['web1']],
        ['report', 'healthy', { every: 5400 }, 600, []],
      ],
    );
  } finally {
    await daemon.end();
    removeDataDir(daemon.dataDir);
    directory.remove();
  }
});

test.run();
