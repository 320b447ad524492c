/**
 * Builds the executable, and dist/snitch_<version>_<architecture>.deb with it: `npm run build:deb`, or with
 * `-- --arch arm64` the one for another architecture. `--arch` can be repeated.
 *
 * The program contains its own Node, so it depends only on the C and C++ runtime.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import {
  ARCHITECTURES,
  type Architecture,
  architectureOfHost,
  executableName,
  executablesWanted,
} from '../build/architecture.ts';
import { debianChangelog, type Release } from './debian-changelog.ts';
import { writeManPages } from './man-pages.ts';
import { sourceDate } from './source-date.ts';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const CONFFILE = 'etc/snitch/config.yaml';
const SCRIPTS = ['postinst', 'prerm', 'postrm'];

/** The versions follow from the symbols that Node and the addon need, which are the same on each architecture. */
export const DEPENDS = 'libc6 (>= 2.34), libstdc++6 (>= 11), libgcc-s1, libatomic1';

/** What other programs read: rules for Prometheus, a dashboard for Grafana. */
const MONITORING = ['prometheus/snitch.rules.yml', 'grafana/snitch.json'];

const MAINTAINER = 'the Snitch authors <snitch@example.com>';

const DESCRIPTION = `dead man's switch for scheduled jobs
 Cron jobs, backups and timers check in with one HTTP request, and when one of
 them does not come in time, or reports an error, the team is told by email and
 webhook.
 .
 One program is the daemon, its command line and its terminal dashboard. It
 keeps everything in one SQLite file and needs no other service.`;

/**
 * @param directory where the package goes
 * @param version the version of the package
 * @param compression tests do without it, because it takes half a minute
 * @param own the architecture of the executable in dist/ that goes into it
 * @returns the path of the package
 */
export function buildDeb(
  directory: string,
  version: string,
  compression: 'xz' | 'none' = 'xz',
  own: Architecture = architectureOfHost(),
): string {
  const architecture = ARCHITECTURES[own].debian;
  const program = join(ROOT, 'dist', executableName(own));
  if (!existsSync(program))
    throw new Error(`${program} is missing: run \`npm run build:sea -- --arch ${own}\``);
  const tree = mkdtempSync(join(directory, '.deb-'));
  // The permissions in the package must not depend on who builds it.
  const umask = process.umask(0o022);
  try {
    chmodSync(tree, 0o755);
    const date = sourceDate(ROOT);
    fill(tree, program, { version, maintainer: MAINTAINER, date });
    writeControl(tree, { version, architecture });
    const name = `snitch_${version}_${architecture}.deb`;
    const draft = join(tree, '..', `.${name}`);
    execFileSync('dpkg-deb', ['--root-owner-group', `-Z${compression}`, '--build', tree, draft], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, SOURCE_DATE_EPOCH: String(date) },
    });
    renameSync(draft, join(directory, name));
    return join(directory, name);
  } finally {
    process.umask(umask);
    rmSync(tree, { recursive: true, force: true });
  }
}

function fill(tree: string, program: string, release: Release): void {
  const put = (path: string, content: string | Buffer, mode = 0o644) => {
    const target = join(tree, path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
    writeFileSync(target, content, { mode });
    chmodSync(target, mode);
  };
  const source = (path: string) => readFileSync(join(ROOT, path));
  const zipped = (content: Buffer) => gzipSync(content, { level: 9 });
  put('usr/bin/snitch', '', 0o755);
  copyFileSync(program, join(tree, 'usr/bin/snitch'));
  chmodSync(join(tree, 'usr/bin/snitch'), 0o755);
  for (const unit of ['snitch.service', 'snitch.socket'])
    put(`usr/lib/systemd/system/${unit}`, source(`packaging/${unit}`));
  put(CONFFILE, source('packaging/debian/config.yaml'));
  for (const path of MONITORING) put(`usr/share/snitch/${path}`, source(`packaging/${path}`));
  for (const [shell, path] of Object.entries(COMPLETIONS)) put(path, told('completion', shell));
  const manual = mkdtempSync(join(tree, '.manual-'));
  writeManPages(manual);
  for (const page of readdirSync(manual)) {
    put(`usr/share/man/man${page.at(-1)}/${page}.gz`, zipped(readFileSync(join(manual, page))));
  }
  rmSync(manual, { recursive: true });
  const doc = 'usr/share/doc/snitch';
  put(`${doc}/copyright`, told('version', '--licenses'));
  const changes = source('CHANGELOG.md');
  put(`${doc}/changelog.gz`, zipped(Buffer.from(debianChangelog(changes.toString(), release))));
  put(`${doc}/CHANGELOG.md.gz`, zipped(changes));
  put(`${doc}/README.md.gz`, zipped(source('README.md')));
  put(`${doc}/config.example.yaml`, source('config.example.yaml'));
  // They are not compressed, so that their links and pictures work.
  for (const page of documents()) put(`${doc}/docs/${page}`, source(`docs/${page}`));
}

/**
 * The output of the program. Runs the bundle, which has the same code, because this host may not run the executable.
 */
function told(...args: string[]): Buffer {
  return execFileSync(process.execPath, [join(ROOT, 'dist/snitch.mjs'), ...args], { maxBuffer: 1e8 });
}

/** The pages and their pictures, without the script that draws them. */
function documents(): string[] {
  return readdirSync(join(ROOT, 'docs')).filter((name) => /\.(?:md|svg)$/.test(name));
}

const COMPLETIONS = {
  bash: 'usr/share/bash-completion/completions/snitch',
  zsh: 'usr/share/zsh/vendor-completions/_snitch',
  fish: 'usr/share/fish/vendor_completions.d/snitch.fish',
};

interface Target {
  version: string;
  architecture: string;
}

function writeControl(tree: string, { version, architecture }: Target): void {
  const directory = join(tree, 'DEBIAN');
  mkdirSync(directory, { mode: 0o755 });
  const fields = {
    Package: 'snitch',
    Version: version,
    Architecture: architecture,
    Maintainer: MAINTAINER,
    'Installed-Size': Math.ceil(sizeOf(tree) / 1024),
    Depends: DEPENDS,
    Recommends: 'systemd (>= 252), ca-certificates',
    Section: 'admin',
    Priority: 'optional',
    Description: DESCRIPTION,
  };
  const control = Object.entries(fields).map(([name, value]) => `${name}: ${value}\n`);
  writeFileSync(join(directory, 'control'), control.join(''), { mode: 0o644 });
  writeFileSync(join(directory, 'conffiles'), `/${CONFFILE}\n`, { mode: 0o644 });
  writeFileSync(join(directory, 'md5sums'), digests(tree), { mode: 0o644 });
  for (const script of SCRIPTS) {
    copyFileSync(join(ROOT, 'packaging/debian', script), join(directory, script));
    chmodSync(join(directory, script), 0o755);
  }
}

/** The size of all files, in bytes. */
function sizeOf(tree: string): number {
  return filesIn(tree).reduce((sum, path) => sum + statSync(join(tree, path)).size, 0);
}

/** The digests that `dpkg --verify` compares with. The configuration is left out: dpkg keeps its own digest of it. */
function digests(tree: string): string {
  return filesIn(tree)
    .filter((path) => path !== CONFFILE && !path.startsWith('DEBIAN/'))
    .map(
      (path) =>
        `${createHash('md5')
          .update(readFileSync(join(tree, path)))
          .digest('hex')}  ${path}\n`,
    )
    .join('');
}

function filesIn(tree: string): string[] {
  return readdirSync(tree, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(tree, join(entry.parentPath, entry.name)))
    .sort();
}

/** Builds the executable for the package first, so that a package never contains an older one. */
function main(args: readonly string[]): void {
  const options = ['--sea', ...args];
  const { status } = spawnSync(process.execPath, ['build.mjs', ...options], { cwd: ROOT, stdio: 'inherit' });
  // The build has said what is wrong.
  if (status !== 0) process.exit(status ?? 1);
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  for (const architecture of executablesWanted(options))
    console.log(buildDeb(join(ROOT, 'dist'), version, 'xz', architecture));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
