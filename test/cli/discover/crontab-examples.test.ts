/** Lines for crontabs in the documents, in every help text and in the manual: they work as they are pasted. Time limit: 120 s. */
import { spawnSync } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Definition, readDefinitions } from '../../../packaging/man-definitions.ts';
import { type CronJob, parseCrontab } from '../../../src/cli/discover/crontab/lines.ts';
import { parseCronSchedule } from '../../../src/cli/schedule/cron.ts';
import { pages } from '../../docs/pages.ts';
import { SNITCH } from '../exec/exec-process.ts';
import { runSnitch, temporaryDirectory } from '../snitch-process.ts';

const test = suite('crontab lines that are shown');

/** Every line that begins like a line of a crontab. */
function cronLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) =>
      /^(?:@(?:reboot|hourly|daily|weekly|monthly)|(?:[\d*][\d*/,-]*\s+){4}[\d*][\d*/,-]*)\s/.test(line),
    );
}

function jobOf(line: string): CronJob {
  const [job] = parseCrontab(`${line}\n`, false);
  assert.is(job?.kind, 'job', line);
  parseCronSchedule((job as CronJob).schedule);
  return job as CronJob;
}

/** Asserts that every program that the line calls by name is found as cron would find it. */
function assertRuns(line: string): void {
  const { command, input } = jobOf(line);
  assert.is(input, '', `a bare percent sign ends the command: ${line}`);
  assert.not.match(command, /\s{3,}/, `a remark would become an argument: ${line}`);
  const called = command.split(/&&|;|\s--\s/).map((part) => part.trim().split(/\s+/)[0] ?? '');
  for (const program of called) {
    // A program of the reader's own has a path; one that every host has is found by name.
    const isOwn = /snitch/.test(program);
    assert.ok(isOwn ? program.startsWith('/') : /^\/|^curl$/.test(program), `${program} in ${line}`);
  }
}

/**
 * What the built program prints as the help of each command that shows such a line. Which they are is read from the
 * definitions that all help texts are made of.
 */
async function helpTexts(): Promise<[name: string, text: string][]> {
  const definitions = [...(await readDefinitions()).values()].flat();
  const shows = ({ examples, description, notes }: Definition) =>
    [...examples, description, notes].flatMap(cronLines).length > 0;
  const texts: [string, string][] = [];
  for (const name of definitions.filter(shows).map((one) => one.name.slice('snitch '.length)))
    texts.push([name, (await runSnitch(['help', ...name.split(' ')])).stdout]);
  return texts;
}

test('in the documents, with the path where the package puts the program', () => {
  const shown = pages().map(({ text }) => cronLines(text));
  const lines = shown.flat();
  assert.ok(lines.length >= 5);
  for (const line of lines) {
    assertRuns(line);
    for (const [word] of line.matchAll(/\S*snitch(?= (?:exec|backup|check-in))/g))
      assert.is(word, '/usr/bin/snitch');
  }
});

test('every line of a block for crontabs is one of them', () => {
  const blocks = pages().flatMap((page) => page.blocks.filter(({ language }) => language === 'crontab'));
  assert.ok(blocks.length > 0);
  for (const { text } of blocks) assert.equal(cronLines(text), text.trimEnd().split('\n'));
});

test('in every help text, with the path of the program that prints it', async () => {
  const found = (await helpTexts()).flatMap(([name, text]) =>
    cronLines(text).map((line) => [name, line] as const),
  );
  assert.equal(
    found.map(([name]) => name),
    ['silence', 'check-in', 'exec', 'spool flush', 'backup'],
  );
  using directory = temporaryDirectory();
  const { path } = directory;
  for (const [name, line] of found) {
    assertRuns(line);
    assert.match(line, `${SNITCH} ${name} `);
    // Run for real, with nothing but the environment of cron: the program is found and understands its arguments.
    const command = `${jobOf(line).command.replaceAll('\\%', '%').replaceAll('/opt/backup.sh', '/bin/true')} --help`;
    const env = { PATH: '/usr/bin:/bin', HOME: path };
    const { status, stderr } = spawnSync('/bin/sh', ['-c', command], { env, encoding: 'utf8' });
    if (name !== 'exec') assert.equal([status, stderr], [0, ''], line);
    else assert.not.match(stderr, /not found|unknown option/);
  }
});

test('in the manual, with the path where the package puts the program', async () => {
  const definitions = [...(await readDefinitions()).values()].flat();
  const lines = definitions.flatMap(({ examples, notes }) => [...examples, notes].flatMap(cronLines));
  assert.ok(lines.length > 0);
  for (const line of lines) {
    assertRuns(line);
    assert.match(line, '/usr/bin/snitch ');
  }
});

test.run();
