/** Fetches the Node of another architecture, for the executable that contains it. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Architecture } from './architecture.ts';

/** Renews the lockfile, without the address of a registry, even if this host has another processor. */
const RENEW = 'npm install --package-lock-only --force --omit-lockfile-registry-resolved';

/**
 * It comes from npm, as the Node of this host does. The lockfile in build/node/ names its version and its digest, and npm
 * refuses anything else. It is kept in node_modules/, so that the next build needs no network.
 *
 * @param root the project's directory
 * @returns the path of the program, which this host cannot run
 * @throws Error if it cannot be fetched, or is not of the same version as the Node that runs the build
 */
export function foreignNode(root: string, architecture: Architecture): string {
  const source = join(root, 'build/node', architecture);
  const name = `node-linux-${architecture}`;
  const { version, integrity } = pinned(source, name);
  if (version !== process.versions.node)
    throw new Error(
      `build/node/${architecture} brings Node ${version}, and this is ${process.versions.node}: name that in its package.json, and run there \`${RENEW}\``,
    );
  const cache = join(root, 'node_modules/.cache/snitch');
  // The name contains the version and the digest of the lockfile, so a file from an earlier lockfile is not used.
  const program = join(cache, `${name}-${version}-${digits(integrity)}`);
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, '.fetch-'));
  try {
    for (const file of ['package.json', 'package-lock.json'])
      copyFileSync(join(source, file), join(work, file));
    console.log(`fetching Node ${version} for ${architecture}`);
    fetchInto(work);
    renameSync(join(work, 'node_modules', name, 'bin/node'), program);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return program;
}

interface Pinned {
  version: string;
  integrity: string;
}

function pinned(directory: string, name: string): Pinned {
  const { packages } = JSON.parse(readFileSync(join(directory, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Partial<Pinned>>;
  };
  const { version, integrity } = packages[`node_modules/${name}`] ?? {};
  // npm would accept anything if the lockfile named no digest.
  if (!version || !integrity) throw new Error(`${directory}/package-lock.json does not pin ${name}`);
  return { version, integrity };
}

function digits(integrity: string): string {
  return Buffer.from(integrity.replace(/^sha512-/, ''), 'base64')
    .toString('hex')
    .slice(0, 16);
}

function fetchInto(directory: string): void {
  // Without --force, npm refuses a package for another processor, whatever --cpu says. It still checks digests.
  const options = ['--force', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['ci', ...options, '--prefix', directory], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
