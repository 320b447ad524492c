/** What this process makes outlast a power cut, and what it gives its name to, in their order. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';

/** Names are as short as they can be: the random part of a draft's name is left out. */
function shown(path: string): string {
  return basename(path).replace(/\.[0-9a-f]{32}\.new$/, '.new');
}

const nameOf = (fd: number) => shown(fs.readlinkSync(`/proc/self/fd/${fd}`));

/**
 * Records syncs of files and directories, and renames, while `work` runs: `sync a.new`, `a.new → a`, `sync directory`.
 * Everything is carried out as ever.
 */
export async function recordSyncs(work: () => unknown): Promise<string[]> {
  const steps: string[] = [];
  await using handle = await fs.promises.open('/dev/null');
  const files = Object.getPrototypeOf(handle) as { sync(this: { fd: number }): Promise<void> };
  const real = {
    sync: files.sync,
    rename: fs.promises.rename,
    fsyncSync: fs.fsyncSync,
    renameSync: fs.renameSync,
  };
  files.sync = async function () {
    steps.push(`sync ${nameOf(this.fd)}`);
    await real.sync.call(this);
  };
  fs.promises.rename = async (from, to) => {
    await real.rename(from, to);
    steps.push(`${shown(String(from))} → ${shown(String(to))}`);
  };
  fs.fsyncSync = (fd) => {
    steps.push(`sync ${nameOf(fd)}`);
    real.fsyncSync(fd);
  };
  fs.renameSync = (from, to) => {
    real.renameSync(from, to);
    steps.push(`${shown(String(from))} → ${shown(String(to))}`);
  };
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    files.sync = real.sync;
    fs.promises.rename = real.rename;
    fs.fsyncSync = real.fsyncSync;
    fs.renameSync = real.renameSync;
    syncBuiltinESMExports();
  }
  return steps;
}
