/** Runs the nginx example of docs/reverse-proxy.md, unchanged, in a real nginx. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { readPage } from '../docs/pages.ts';
import { freePort } from '../free-port.ts';

/** The name of the server in the example. */
export const HOST = 'snitch.example.com';

/** The address that a client has for nginx; it is no trusted proxy. */
export const CLIENT = '127.0.0.2';

/** How long something may take to show, in milliseconds: only a bound against waiting for ever. */
export const PATIENCE = 30_000;

/** Debian keeps nginx where the path of a user does not lead. */
const TOOLS = { env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` } };

/** Why nothing of it can be tried on this host, or null. */
export function withoutTools(proxy: 'nginx' | 'caddy' = 'nginx'): string | null {
  const works = (tool: string, argument: string) => spawnSync(tool, [argument], TOOLS).status === 0;
  if (!works(proxy, proxy === 'nginx' ? '-v' : 'version')) return `${proxy} is not installed`;
  return works('openssl', 'version') ? null : 'openssl is not installed';
}

/** Around the example as Debian has it, with a log of whole requests for servers that name no other. */
const NGINX_CONF = `
daemon off;
master_process off;
pid nginx.pid;
lock_file nginx.lock;
events {}
http {
  access_log default.log;
  client_body_temp_path bodies;
  proxy_temp_path answers;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  # The daemon asks for it too, but the example must not depend on that.
  proxy_ignore_headers X-Accel-Buffering;
  include snitch.conf;
}`;

export interface Answer {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface Asked {
  headers?: Record<string, string>;
  body?: string;
  /** Without TLS. */
  plain?: boolean;
}

/** The first block in this language of the page on proxies. */
export function documentedBlock(language: string): string {
  const block = readPage('docs/reverse-proxy.md').blocks.find((one) => one.language === language);
  assert.ok(block, `docs/reverse-proxy.md has no block of ${language}`);
  return block.text;
}

/** The example with other ports and paths, and otherwise word for word. */
export function adapt(example: string, replacements: Record<string, string>): string {
  let adapted = example;
  for (const [from, to] of Object.entries(replacements)) {
    assert.ok(adapted.includes(from), `the example does not have: ${from}`);
    adapted = adapted.replaceAll(from, to);
  }
  assert.not.match(adapted, /\/(etc|var)\//, 'every path of the example is replaced');
  return adapted;
}

/** Waits until a proxy takes connections, and says what is wrong where it does not. */
export async function listening(child: ChildProcess, port: number, errors: () => string): Promise<void> {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const probe = createConnection(port, '127.0.0.1');
    try {
      await once(probe, 'connect');
      return;
    } catch {
      // Not yet.
    } finally {
      probe.destroy();
    }
    assert.is(child.exitCode, null, errors());
    assert.ok(Date.now() < end, `the proxy does not listen:\n${errors()}`);
    await sleep(20);
  }
}

/** Sends a request through a proxy whose certificate is in `directory`, and answers with the head of the response. */
export async function openThrough(
  [plainPort, securePort]: readonly [plain: number, secure: number],
  directory: string,
  { method, path, headers, body, plain }: Asked & { method: string; path: string },
): Promise<IncomingMessage> {
  const ca = readFileSync(join(directory, 'certificate.pem'));
  const signal = AbortSignal.timeout(PATIENCE);
  const options = { host: '127.0.0.1', localAddress: CLIENT, method, path, agent: false, signal };
  const given = { host: HOST, ...headers };
  const outgoing = plain
    ? httpRequest({ ...options, port: plainPort, headers: given })
    : httpsRequest({ ...options, port: securePort, headers: given, ca, servername: HOST });
  // A server that has answered already may not read the rest of a body.
  outgoing.on('error', () => {});
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return response;
}

export class Nginx {
  readonly directory: string;
  readonly #ports: [plain: number, secure: number];
  readonly #child: ChildProcess;
  #errors = '';

  private constructor(directory: string, ports: [number, number]) {
    this.directory = directory;
    this.#ports = ports;
    const args = ['-e', 'stderr', '-p', directory, '-c', join(directory, 'nginx.conf')];
    this.#child = spawn('nginx', args, { ...TOOLS, stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#errors += chunk;
    });
  }

  /**
   * The example of one daemon.
   *
   * @param upstream where it listens, as nginx writes it
   */
  static start(root: string, upstream: string): Promise<Nginx> {
    return Nginx.startWith(root, documentedBlock('nginx'), {
      'server 127.0.0.1:7676;': `server ${upstream};`,
    });
  }

  /** @param upstreams where the daemons listen: the address in the example, and the real one */
  static async startWith(root: string, block: string, upstreams: Record<string, string>): Promise<Nginx> {
    const directory = join(root, 'nginx');
    mkdirSync(directory);
    const [plain, secure] = [await freePort(), await freePort()];
    makeCertificate(directory);
    const example = adapt(block, {
      ...upstreams,
      'listen 80;': `listen 127.0.0.1:${plain};`,
      'listen 443 ssl;': `listen 127.0.0.1:${secure} ssl;`,
      // Not every host has IPv6.
      'listen [::]:80;': `listen 127.0.0.3:${plain};`,
      'listen [::]:443 ssl;': `listen 127.0.0.3:${secure} ssl;`,
      [`/etc/letsencrypt/live/${HOST}/fullchain.pem`]: 'certificate.pem',
      [`/etc/letsencrypt/live/${HOST}/privkey.pem`]: 'key.pem',
      '/var/log/nginx/': '',
    });
    writeFileSync(join(directory, 'snitch.conf'), example);
    writeFileSync(join(directory, 'nginx.conf'), NGINX_CONF);
    const nginx = new Nginx(directory, [plain, secure]);
    await listening(nginx.#child, secure, () => nginx.#errors);
    return nginx;
  }

  /** Sends a request and answers as soon as the head of the response is there. */
  open(method: string, path: string, asked: Asked = {}): Promise<IncomingMessage> {
    return openThrough(this.#ports, this.directory, { ...asked, method, path });
  }

  async ask(method: string, path: string, asked?: Asked): Promise<Answer> {
    const response = await this.open(method, path, asked);
    return { status: response.statusCode, headers: response.headers, text: await text(response) };
  }

  /** Ends it. @returns all that it logged, by file */
  async end(): Promise<Map<string, string>> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGQUIT');
      await once(this.#child, 'close');
    }
    const logs = readdirSync(this.directory).filter((name) => name.endsWith('.log'));
    const contents = logs.map((name): [string, string] => [
      name,
      readFileSync(join(this.directory, name), 'utf8'),
    ]);
    return new Map([...contents, ['stderr', this.#errors]]);
  }
}

export function makeCertificate(directory: string): void {
  const options = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=${HOST} -addext subjectAltName=DNS:${HOST}`;
  const files = ['-keyout', join(directory, 'key.pem'), '-out', join(directory, 'certificate.pem')];
  execFileSync('openssl', [...options.split(' '), ...files], { ...TOOLS, stdio: 'pipe' });
}
