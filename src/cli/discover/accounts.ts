/** The users of this host as its name service knows them, including those of a directory server. */
import { readFileSync } from 'node:fs';

export interface Account {
  name: string;
  uid: number;
  gid: number;
  home: string;
}

/** Null if there is no such user. */
export function accountOf(name: string): Account | null {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const { stdout, status, error } = spawnSync('getent', ['passwd', '--', name], { encoding: 'utf8' });
  // A small image may lack `getent`. Then the file has to do.
  const lines = error ? passwordFile() : status === 0 ? stdout : '';
  const line = lines.split('\n').find((one) => one.startsWith(`${name}:`));
  return line === undefined ? null : parseAccount(line);
}

/** The user who runs this program. */
export function ownAccount(): Account {
  const { userInfo } = process.getBuiltinModule('node:os');
  try {
    const { username, uid, gid, homedir } = userInfo();
    return { name: username, uid, gid, home: homedir };
  } catch {
    const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
    return { name: String(uid), uid, gid, home: '/' };
  }
}

function passwordFile(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}

function parseAccount(line: string): Account | null {
  const [name = '', , uid = '', gid = '', , home = ''] = line.split(':');
  if (!/^\d+$/.test(uid) || !/^\d+$/.test(gid)) return null;
  return { name, uid: Number(uid), gid: Number(gid), home: home || '/' };
}
