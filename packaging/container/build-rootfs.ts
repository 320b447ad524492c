/**
 * Builds dist/container/rootfs-<architecture>.tar, which is the whole content of the container image:
 * `npm run build:rootfs`, with `-- --arch arm64` for another architecture than this one.
 *
 * The same source makes the same file, if the C library and the time zones of the building host are the same.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { sourceDate } from '../source-date.ts';
import { librariesFor, PLATFORMS } from './libraries.ts';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** The user that owns the data, and nothing else in the image. By convention this number is `nobody` everywhere. */
export const USER = 65_534;

/** Where the volume is mounted. */
export const DATA_DIR = '/var/lib/snitch';

const ZONES = '/usr/share/zoneinfo';

/** Copies of every zone, without leap seconds and with them, which no program uses by default. */
const ZONES_AGAIN = ['posix', 'right', 'posixrules', 'localtime'];

/** The host's packages that parts of the image come from, with their licences. */
const PACKAGES = ['libc6', 'libstdc++6', 'libgcc-s1', 'libatomic1', 'tzdata'];

/** Read by the C library and by programs that are added. Without the last one, names would be looked up in DNS only. */
const FILES: Readonly<Record<string, string>> = {
  '/etc/passwd': `root:x:0:0:root:/:/sbin/nologin\nsnitch:x:${USER}:${USER}:Snitch:${DATA_DIR}:/sbin/nologin\n`,
  '/etc/group': `root:x:0:\nsnitch:x:${USER}:\n`,
  '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

/** Where a container runtime mounts something, even if the root is read-only. */
const MOUNT_POINTS = ['/proc', '/dev', '/sys', '/etc/snitch', '/run/secrets', '/tmp'];

/** The daemon's user may write here. A volume that is mounted here for the first time takes over the owner and mode. */
const VOLUMES = [DATA_DIR, '/backup'];

export interface RootfsOptions {
  /** Node's name of the architecture: `x64` or `arm64`. */
  arch?: string;
  /** The executable; by default that of the architecture in dist/. */
  program?: string;
  /** Directories that are searched for libraries before the usual ones. */
  libraries?: readonly string[];
}

/**
 * @param directory where the archive goes
 * @returns the path of the archive
 * @throws Error that says what is missing on this host
 */
export function buildRootfs(directory: string, options: RootfsOptions = {}): string {
  const { arch = process.arch } = options;
  const platform = PLATFORMS[arch];
  if (!platform)
    throw new Error(`there is no image for ${arch}: only for ${Object.keys(PLATFORMS).join(', ')}`);
  const suffix = arch === process.arch ? '' : `-${arch}`;
  const program = options.program ?? join(ROOT, `dist/snitch${suffix}`);
  if (!existsSync(program))
    throw new Error(`${program} is missing: run \`npm run build:sea${suffix && ` -- --arch ${arch}`}\``);
  mkdirSync(directory, { recursive: true });
  const tree = mkdtempSync(join(directory, '.rootfs-'));
  // The permissions in the image must not depend on who builds it.
  const umask = process.umask(0o022);
  try {
    chmodSync(tree, 0o755);
    fill(tree, program);
    for (const { source, target } of librariesFor(program, platform, options.libraries))
      put(tree, target, { from: source, mode: 0o755 });
    return pack(tree, join(directory, `rootfs-${platform.name}.tar`));
  } finally {
    process.umask(umask);
    rmSync(tree, { recursive: true, force: true });
  }
}

function fill(tree: string, program: string): void {
  put(tree, '/usr/bin/snitch', { from: program, mode: 0o755 });
  for (const [path, text] of Object.entries(FILES)) put(tree, path, { text });
  // Those that are part of Node, so that the image does not depend on what the host happens to trust.
  put(tree, '/etc/ssl/certs/ca-certificates.crt', { text: `${rootCertificates.join('\n')}\n` });
  copyZones(tree);
  for (const name of PACKAGES) {
    const terms = `/usr/share/doc/${name}/copyright`;
    if (existsSync(terms)) put(tree, terms, { from: realpathSync(terms) });
  }
  for (const path of [...MOUNT_POINTS, ...VOLUMES]) mkdirSync(join(tree, path), { recursive: true });
  for (const path of VOLUMES) chmodSync(join(tree, path), 0o700);
  chmodSync(join(tree, '/tmp'), 0o1777);
}

type Content = { from: string } | { text: string };

function put(tree: string, path: string, content: Content & { mode?: number }): void {
  const target = join(tree, path);
  mkdirSync(dirname(target), { recursive: true });
  if ('from' in content) copyFileSync(content.from, target);
  else writeFileSync(target, content.text);
  chmodSync(target, content.mode ?? 0o644);
}

/** Snitch has the zones of its own Node; these are for the programs that people add and run as `commands`. */
function copyZones(tree: string): void {
  if (!existsSync(join(ZONES, 'UTC'))) throw new Error(`${ZONES} is missing: install the package tzdata`);
  for (const name of readdirSync(ZONES)) {
    if (ZONES_AGAIN.includes(name)) continue;
    cpSync(join(ZONES, name), join(tree, ZONES, name), { recursive: true, verbatimSymlinks: true });
  }
}

/** Only the data belongs to the daemon's user, who cannot change anything else even if the root is writable. */
function pack(tree: string, archive: string): string {
  const draft = join(tree, '..', `.${process.pid}.tar`);
  const same = ['--format=gnu', '--sort=name', `--mtime=@${sourceDate(ROOT)}`, '--numeric-owner', '-C', tree];
  const tar = (owner: number, ...args: string[]) =>
    execFileSync('tar', [...same, `--owner=:${owner}`, `--group=:${owner}`, '-f', draft, ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, LC_ALL: 'C' },
    });
  try {
    const owned = VOLUMES.map((path) => `.${path}`);
    tar(0, '-c', ...owned.map((path) => `--exclude=${path}`), '.');
    tar(USER, '-r', ...owned);
    renameSync(draft, archive);
  } finally {
    rmSync(draft, { force: true });
  }
  return archive;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      arch: { type: 'string' },
      program: { type: 'string' },
      libraries: { type: 'string', multiple: true },
    },
  });
  const archive = buildRootfs(join(ROOT, 'dist/container'), values);
  console.log(`${archive}: ${(statSync(archive).size / 1e6).toFixed(0)} MB`);
}
