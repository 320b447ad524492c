/**
 * The executable for arm64 on a host of another architecture: emulated by qemu, on the libraries of Debian's cross
 * compilers, which need no foreign architecture in dpkg.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DaemonOptions } from './daemon-process.ts';
import { chrootInto, EXECUTABLE } from './empty-root.ts';

/** Whether this host is arm64 itself; then its own executable is tried, without an emulator. */
export const isArm64 = process.arch === 'arm64';

export const ARM64_EXECUTABLE = isArm64 ? EXECUTABLE : join(import.meta.dirname, '../../dist/snitch-arm64');

/** Where Debian's packages such as `libc6-arm64-cross` install libraries. */
const SYSTEM = '/usr/aarch64-linux-gnu';

/** The only libraries that the executable can use: those of libc6, libgcc-s1, libstdc++6 and libatomic1. */
const LIBRARIES = [
  ...['ld-linux-aarch64.so.1', 'libc.so.6', 'libm.so.6', 'libdl.so.2', 'libpthread.so.0'],
  ...['libgcc_s.so.1', 'libstdc++.so.6', 'libatomic.so.1'],
];

/** The oldest processor in use: it lacks all later instructions. */
const EMULATOR = 'qemu-aarch64-static';
const PROCESSOR = { QEMU_CPU: 'cortex-a53' };

/** Why the executable for arm64 cannot be tried on this host, or null. */
export function withoutArm64(): string | null {
  if (isArm64) return null;
  if (emulator() === null) return `${EMULATOR} (package qemu-user-static) is not installed`;
  const missing = LIBRARIES.filter((name) => !existsSync(join(SYSTEM, 'lib', name)));
  return missing.length === 0
    ? null
    : `${missing.join(', ')} (packages libc6-arm64-cross, libstdc++6-arm64-cross, libatomic1-arm64-cross) are not installed`;
}

/** How to run it with the files of this host. */
export function onThisHost(): { program: readonly string[]; env: Record<string, string> } {
  if (isArm64) return { program: [EXECUTABLE], env: {} };
  return { program: [emulator() ?? EMULATOR, '-L', SYSTEM, ARM64_EXECUTABLE], env: PROCESSOR };
}

/** A root directory with the executable, its libraries and the emulator, and nothing else. */
export function makeArm64Root(): string {
  const root = mkdtempSync(join(tmpdir(), 'snitch-arm64-'));
  mkdirSync(join(root, 'lib'));
  for (const name of LIBRARIES) copyFileSync(join(SYSTEM, 'lib', name), join(root, 'lib', name));
  copyFileSync(ARM64_EXECUTABLE, join(root, 'snitch'));
  copyFileSync(emulator() ?? EMULATOR, join(root, EMULATOR));
  return root;
}

export function inArm64Root(root: string): DaemonOptions {
  return { root, program: [...chrootInto(root), `/${EMULATOR}`, '/snitch'], env: PROCESSOR };
}

function emulator(): string | null {
  const { stdout, status } = spawnSync('sh', ['-c', `command -v ${EMULATOR}`], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}
