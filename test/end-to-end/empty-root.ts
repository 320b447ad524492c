/** A root directory with the executable, the libraries that the system's loader names for it, and nothing else. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DaemonOptions } from './daemon-process.ts';

export const EXECUTABLE = join(import.meta.dirname, '../../dist/snitch');

/** The C library and what comes with a C++ compiler's runtime: Debian's libc6, libgcc-s1, libstdc++6 and libatomic1. */
const LIBRARIES =
  /^(?:linux-vdso|ld-linux-(?:x86-64|aarch64)|libc|libm|libdl|libpthread|libgcc_s|libstdc\+\+|libatomic)\.so/;

export function makeEmptyRoot(): string {
  const root = mkdtempSync(join(tmpdir(), 'snitch-root-'));
  for (const path of librariesOf(EXECUTABLE)) copyInto(root, path, path);
  copyInto(root, EXECUTABLE, '/snitch');
  return root;
}

/** How the daemon is started in it. There is no /proc, no /dev, no /tmp, no shell and no Node. */
export function inEmptyRoot(root: string): DaemonOptions {
  return { root, program: [...chrootInto(root), '/snitch'] };
}

/** The command that lets a program see only that directory. */
export function chrootInto(root: string): string[] {
  return [...(process.getuid?.() === 0 ? [] : ['unshare', '--map-root-user']), 'chroot', root];
}

export function librariesOf(program: string): string[] {
  const lines = execFileSync('ldd', [program], { encoding: 'utf8' }).trim().split('\n');
  const paths = lines.map((line) => /(\/\S+) \(0x/.exec(line)?.[1]).filter((path) => path !== undefined);
  const unknown = lines
    .map((line) => line.trim().split('/').at(-1) ?? '')
    .filter((line) => !LIBRARIES.test(line));
  if (unknown.length > 0)
    throw new Error(`the executable wants more than the C and C++ runtime: ${unknown.join(', ')}`);
  return paths;
}

function copyInto(root: string, from: string, to: string): void {
  mkdirSync(join(root, dirname(to)), { recursive: true });
  copyFileSync(from, join(root, to));
}
