/** The processors that the executable and the package are built for, and what others call them. */
import { parseArgs } from 'node:util';

/** As Node calls them. */
export type Architecture = 'x64' | 'arm64';

interface Names {
  /** As Debian calls it, in the name and the control file of a package. */
  debian: string;
  /** The prefix of the GNU tools for its files: `aarch64-linux-gnu-strip`. */
  gnu: string;
  /** The Debian package of those tools, for a host of another architecture. */
  binutils: string;
  /** What else people call it. */
  aliases: readonly string[];
}

export const ARCHITECTURES: Record<Architecture, Names> = {
  x64: {
    debian: 'amd64',
    gnu: 'x86_64-linux-gnu',
    binutils: 'binutils-x86-64-linux-gnu',
    aliases: ['amd64', 'x86_64', 'x86-64'],
  },
  arm64: {
    debian: 'arm64',
    gnu: 'aarch64-linux-gnu',
    binutils: 'binutils-aarch64-linux-gnu',
    aliases: ['aarch64'],
  },
};

/** The options of a build are wrong. The message says which are right. */
export class WrongOptions extends Error {
  override readonly name = 'WrongOptions';
}

/**
 * @param args what follows the name of the script
 * @param host the architecture of this host, as Node calls it
 * @returns the architectures to build an executable for; empty if only the bundles are built
 * @throws WrongOptions
 */
export function executablesWanted(args: readonly string[], host: string = process.arch): Architecture[] {
  const { sea, arch } = parsed(args);
  if (sea) return arch === undefined ? [architectureOfHost(host)] : arch.map(named);
  if (arch === undefined) return [];
  throw new WrongOptions(
    '--arch is for the executable and the package (npm run build:sea, npm run build:deb): the bundle is the same for all',
  );
}

function parsed(args: readonly string[]): { sea: boolean; arch: string[] | undefined } {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { sea: { type: 'boolean', default: false }, arch: { type: 'string', multiple: true } },
    });
    return { sea: values.sea, arch: values.arch };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new WrongOptions(`${message}\nThe options are --sea and --arch ${KNOWN}`);
  }
}

/**
 * @param host the architecture of this host, as Node calls it
 * @throws WrongOptions if there is no executable for it
 */
export function architectureOfHost(host: string = process.arch): Architecture {
  const own = find(host);
  if (own) return own;
  throw new WrongOptions(
    `there is no executable for the architecture of this host, ${host}; build one for another with --arch ${KNOWN}`,
  );
}

function named(arch: string): Architecture {
  const found = find(arch);
  if (found) return found;
  throw new WrongOptions(`--arch ${arch}: there is no executable for that architecture, only for ${KNOWN}`);
}

function find(name: string): Architecture | undefined {
  return architectures().find((one) => one === name || ARCHITECTURES[one].aliases.includes(name));
}

function architectures(): Architecture[] {
  return Object.keys(ARCHITECTURES) as Architecture[];
}

const KNOWN = architectures().join(' or ');

/** Whether a program of this architecture runs on this host. */
export function isOwn(architecture: Architecture): boolean {
  return architecture === process.arch;
}

/** The file in dist/: `snitch` for this host. Others have names of their own, because this host cannot run them. */
export function executableName(architecture: Architecture): string {
  return isOwn(architecture) ? 'snitch' : `snitch-${architecture}`;
}
