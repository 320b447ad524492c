/** A directory that dpkg uses as the root of a system: a shell, the programs that the package's scripts call, nothing else. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const TOOLS = ['/bin/sh', '/bin/grep', '/bin/rm', '/bin/rmdir', '/bin/mkdir', '/usr/bin/find'];

export interface ScratchRoot {
  path: string;
  /**
   * What dpkg and the scripts of the package say.
   *
   * @throws Error with that if it fails
   */
  dpkg(...args: string[]): string;
}

export function makeScratchRoot(libraries: readonly string[]): ScratchRoot {
  const path = mkdtempSync(join(tmpdir(), 'snitch-dpkg-'));
  for (const directory of [
    'usr/bin',
    'usr/lib',
    'usr/lib64',
    'var/lib/dpkg/info',
    'var/lib/dpkg/updates',
    'etc',
    'tmp',
  ])
    mkdirSync(join(path, directory), { recursive: true });
  for (const name of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(path, name));
  for (const name of ['status', 'available']) writeFileSync(join(path, 'var/lib/dpkg', name), '');
  const files = new Set([...TOOLS, ...TOOLS.flatMap(librariesOfTool), ...libraries]);
  for (const file of files) {
    mkdirSync(join(path, dirname(file)), { recursive: true });
    copyFileSync(file, join(path, file));
  }
  return { path, dpkg: (...args) => dpkg(path, args) };
}

/** Unlike the program, tools of the system may need more than the C runtime: `mkdir` needs SELinux's library. */
function librariesOfTool(tool: string): string[] {
  const lines = execFileSync('ldd', [tool], { encoding: 'utf8' }).split('\n');
  return lines.map((line) => /(\/\S+) \(0x/.exec(line)?.[1]).filter((path) => path !== undefined);
}

/** The libraries are present as files, and not as installed packages. */
function dpkg(root: string, args: readonly string[]): string {
  const all = [`--root=${root}`, '--force-depends', '--force-confdef', '--force-confold', ...args];
  const { status, stdout, stderr } = spawnSync('dpkg', all, {
    encoding: 'utf8',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (status !== 0) throw new Error(`dpkg ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout + stderr;
}

export function fieldOf(deb: string, field: string): string {
  return execFileSync('dpkg-deb', ['-f', deb, field], { encoding: 'utf8' }).trim();
}
