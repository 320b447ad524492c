/** The HAProxy of docs/cluster.md, unchanged except for addresses and users. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { freePort } from '../../free-port.ts';
import { HOST, listening, makeCertificate } from '../nginx-process.ts';
import { onlyBlockBelow } from './hosts.ts';

const TOOLS = { env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` } };

/** Why it cannot be tried on this host, or null. */
export const WITHOUT_HAPROXY = spawnSync('haproxy', ['-v'], TOOLS).error ? 'haproxy is not installed' : null;

export interface ProxyHost extends AsyncDisposable {
  readonly pid: number;
  /** Where it accepts requests with TLS, and the CA that its certificate is verified with. */
  readonly port: number;
  readonly ca: Buffer | string;
  /** The status of a request that goes through it. */
  status(path: string): Promise<number>;
}

/**
 * @param nodes their ports, in the order of the page
 * @param change to the configuration of the page
 */
export async function startProxy(
  directory: string,
  nodes: readonly number[],
  change = (text: string) => text,
): Promise<ProxyHost> {
  const [plain, secure] = [await freePort(), await freePort()];
  makeCertificate(directory);
  const pem = join(directory, 'proxy.pem');
  const [certificate, key] = ['certificate.pem', 'key.pem'].map((name) =>
    readFileSync(join(directory, name)),
  );
  writeFileSync(pem, `${certificate}${key}`, { mode: 0o600 });
  const file = join(directory, 'haproxy.cfg');
  const text = change(onlyBlockBelow('The proxy', 'haproxy'));
  writeFileSync(file, adapted(text, { pem, plain, secure, nodes }));
  execFileSync('haproxy', ['-c', '-f', file], { ...TOOLS, stdio: 'pipe' });
  const child = spawn('haproxy', ['-db', '-f', file], { ...TOOLS, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  await listening(child, secure, () => said);
  const ca = certificate ?? '';
  return {
    pid: child.pid ?? 0,
    port: secure,
    ca,
    status: (path) => statusOf({ port: secure, path, ca }),
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}

interface Places {
  pem: string;
  plain: number;
  secure: number;
  nodes: readonly number[];
}

function adapted(text: string, { pem, plain, secure, nodes }: Places): string {
  // Without root it cannot become another user.
  const asUser = process.getuid?.() === 0 ? text : text.replace(/^ {4}(user|group) haproxy\n/gm, '');
  const proxied = asUser
    .replace('bind :80', `bind 127.0.0.1:${plain}`)
    .replace('bind :443', `bind 127.0.0.1:${secure}`)
    .replace('/etc/haproxy/snitch.example.com.pem', pem);
  return nodes.reduce(
    (now, port, index) => now.replaceAll(`10.0.0.1${index + 1}:7676`, `127.0.0.1:${port}`),
    proxied,
  );
}

async function statusOf({
  port,
  path,
  ca,
}: {
  port: number;
  path: string;
  ca: Buffer | string;
}): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const options = {
    host: '127.0.0.1',
    port,
    path,
    ca,
    servername: HOST,
    headers: { host: HOST },
    agent: false,
  };
  const sent = request({ ...options, method: 'POST', signal: AbortSignal.timeout(60_000) }, (response) => {
    response.resume().on('end', () => resolve(response.statusCode ?? 0));
  });
  sent.on('error', reject).end();
  return promise;
}
