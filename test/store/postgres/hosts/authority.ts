/** An authority of the tests' own, and certificates signed by it. */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificate {
  cert: string;
  key: string;
}

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Keys of this kind are made at once. */
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** Makes an authority in a directory. */
export function newAuthority(directory: string, name: string): Certificate {
  const [cert, key] = [join(directory, `${name}.crt`), join(directory, `${name}.key`)];
  openssl('req', '-x509', ...KEY, '-keyout', key, '-out', cert, '-days', '9', '-subj', `/CN=${name}`);
  return { cert, key };
}

export interface Wishes {
  /** As in `DNS:localhost`, or an empty list for a client. */
  names?: readonly string[];
  subject?: string;
  expired?: boolean;
}

/** A certificate that this authority has signed. */
export function newCertificate(
  directory: string,
  authority: Certificate,
  name: string,
  { names = [], subject = name, expired = false }: Wishes = {},
): Certificate {
  const [cert, key, request] = ['crt', 'key', 'csr'].map((end) => join(directory, `${name}.${end}`)) as [
    string,
    string,
    string,
  ];
  openssl('req', '-new', ...KEY, '-keyout', key, '-out', request, '-subj', `/CN=${subject}`);
  const extensions = join(directory, `${name}.ext`);
  writeFileSync(extensions, names.length > 0 ? `subjectAltName=${names.join()}\n` : '');
  const signer = ['-CA', authority.cert, '-CAkey', authority.key, '-CAcreateserial', '-extfile', extensions];
  // A negative number of days ends before it begins: expired since yesterday.
  openssl('x509', '-req', '-in', request, '-out', cert, ...signer, '-days', expired ? '-1' : '9');
  chmodSync(key, 0o600);
  return { cert, key };
}

/** Writes a certificate to where a server has its own, owned by its user. */
export function install({ cert, key }: Certificate, directory: string, own: (path: string) => void): void {
  for (const [from, to] of [
    [cert, 'server.crt'],
    [key, 'server.key'],
  ] as const) {
    const path = join(directory, to);
    copyFileSync(from, path);
    chmodSync(path, 0o600);
    own(path);
  }
}
