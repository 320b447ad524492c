/** The units, checked with systemd's own tools. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { writeManPages } from '../../packaging/man-pages.ts';
import { ownDirectory } from '../data-directory.ts';
import { EXECUTABLE } from '../end-to-end/empty-root.ts';
import { runUnless } from '../skipped.ts';

const PACKAGING = join(import.meta.dirname, '../../packaging');
const UNITS = ['snitch.service', 'snitch.socket'];

/** Tenths: an exposure of 1.2. */
const MOST_EXPOSED = 12;

const units = suite('the units of systemd');

function analyze(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return spawnSync('systemd-analyze', args, { encoding: 'utf8', env: { ...process.env, ...env } });
}

const missing = analyze(['--version']).error
  ? 'systemd-analyze is not installed: install the package systemd'
  : null;

units('are found without fault, with the manual pages that they name', () => {
  using temporary = ownDirectory();
  const directory = temporary.path;
  const manual = join(directory, 'man');
  for (const section of ['man1', 'man5']) mkdirSync(join(manual, section), { recursive: true });
  writeManPages(join(manual, 'man1'));
  writeManPages(join(manual, 'man5'));
  for (const unit of UNITS) {
    // The check wants the program to exist, and it may not be installed on this host.
    const text = readFileSync(join(PACKAGING, unit), 'utf8').replaceAll('/usr/bin/snitch', EXECUTABLE);
    writeFileSync(join(directory, unit), text);
  }
  const { status, stdout, stderr } = analyze(['verify', ...UNITS.map((unit) => join(directory, unit))], {
    MANPATH: manual,
  });
  assert.is(stdout + stderr, '');
  assert.is(status, 0);
});

units('leave the service no more exposed than it must be', () => {
  const service = join(PACKAGING, 'snitch.service');
  const { status, stdout } = analyze(['security', '--offline=yes', `--threshold=${MOST_EXPOSED}`, service]);
  assert.match(stdout, /Overall exposure level for snitch\.service: \d/);
  assert.is(status, 0, stdout.trim().split('\n').at(-1));
});

units('a service with a hole more would not pass', () => {
  using temporary = ownDirectory();
  const directory = temporary.path;
  const service = join(directory, 'snitch.service');
  const text = readFileSync(join(PACKAGING, 'snitch.service'), 'utf8');
  writeFileSync(service, text.replace(/^(?:PrivateUsers|CapabilityBoundingSet)=.*\n/gm, ''));
  assert.is.not(analyze(['security', '--offline=yes', `--threshold=${MOST_EXPOSED}`, service]).status, 0);
});

runUnless(missing, units, 'the units of systemd');
