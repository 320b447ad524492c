/** What every package of the program must name and hold, for whatever architecture it is. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as assert from 'uvu/assert';
import { fieldOf } from './scratch-root.ts';

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENTS = readdirSync(join(ROOT, 'docs')).filter((name) => /\.(?:md|svg)$/.test(name));

const FILES = [
  /^-rwxr-xr-x root\/root .* \.\/usr\/bin\/snitch$/m,
  /^-rw-r--r-- root\/root .* \.\/usr\/lib\/systemd\/system\/snitch\.service$/m,
  /^-rw-r--r-- root\/root .* \.\/usr\/lib\/systemd\/system\/snitch\.socket$/m,
  /^-rw-r--r-- root\/root .* \.\/etc\/snitch\/config\.yaml$/m,
  /\.\/usr\/share\/man\/man1\/snitch\.1\.gz$/m,
  /\.\/usr\/share\/man\/man5\/snitch\.yaml\.5\.gz$/m,
  /\.\/usr\/share\/bash-completion\/completions\/snitch$/m,
  /\.\/usr\/share\/zsh\/vendor-completions\/_snitch$/m,
  /\.\/usr\/share\/fish\/vendor_completions\.d\/snitch\.fish$/m,
  /\.\/usr\/share\/doc\/snitch\/copyright$/m,
  /\.\/usr\/share\/doc\/snitch\/changelog\.gz$/m,
  ...DOCUMENTS.map((name) => `./usr/share/doc/snitch/docs/${name}\n`),
  './usr/share/snitch/prometheus/snitch.rules.yml\n',
  './usr/share/snitch/grafana/snitch.json\n',
];

export function ownArchitecture(): string {
  return execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim();
}

export function assertContent(deb: string, expected: { executable: string; architecture: string }): void {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  assert.is(basename(deb), `snitch_${version}_${expected.architecture}.deb`);
  assert.is(fieldOf(deb, 'Architecture'), expected.architecture);
  assert.is(fieldOf(deb, 'Version'), version);
  for (const needed of ['libc6', 'libstdc++6', 'libgcc-s1', 'libatomic1'])
    assert.ok(fieldOf(deb, 'Depends').includes(needed), needed);
  const listing = execFileSync('dpkg-deb', ['-c', deb], { encoding: 'utf8' });
  for (const line of FILES) assert.match(listing, line);
  assert.not.match(listing, './etc/credstore');
  const size = Number(fieldOf(deb, 'Installed-Size')) * 1024;
  const program = statSync(expected.executable).size;
  assert.ok(size > program && size < program * 1.1);
}
