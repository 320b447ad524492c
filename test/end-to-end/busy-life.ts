/** Runs a daemon with every kind of secret, hostile servers and careless clients, and collects all its output. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import type { LogSettings } from '../../src/log/logger.ts';
import { SnitchProcess } from '../cli/snitch-process.ts';
import { newDataDir } from '../data-directory.ts';
import type { HostileTargets } from './hostile-targets.ts';
import { KnownSecrets, newName, newPassword } from './known-secrets.ts';

const PROGRAM = join(import.meta.dirname, '../../bin/snitch');

/** How long to wait for anything, in milliseconds: only so that nothing waits for ever. */
const PATIENCE = 60_000;

export interface LifeOptions {
  targets: HostileTargets;
  format: LogSettings['format'];
  /** The password that the mail server accepts. */
  smtpPassword: string;
  /** Whether the administrator's key and the password of the mail server are in separate files. */
  secretFiles: boolean;
}

export class BusyLife {
  readonly secrets = new KnownSecrets();
  /** Tokens of snitches: not secret from those who have a key. */
  readonly tokens = new KnownSecrets();
  /** The output of the API and of commands, without the answers that rightly show a secret once. */
  readonly told: string[] = [];
  readonly root = newDataDir();
  readonly dataDir = join(this.root, 'data');
  readonly targets: HostileTargets;
  readonly daemon: SnitchProcess;
  readonly #config = join(this.root, 'config.yaml');
  readonly #env: Record<string, string>;
  readonly #settings: string;
  #key = '';
  url = '';
  /** What everybody on this host can see. */
  commandLine = '';

  constructor({ targets, format, smtpPassword, secretFiles }: LifeOptions) {
    this.targets = targets;
    const watchdog = `${targets.urls.quoting}/c/${this.secrets.add('the path of the watchdog', newName())}`;
    this.#settings = `log: { level: trace }\nwatchdog: { url: ${watchdog} }\n`;
    const adminKey = secretFiles ? this.#file('admin-key', `snk_${newName()}${newName().slice(0, 8)}`) : '';
    if (adminKey) this.#settings += `admin_key_from: ${adminKey}\n`;
    const password = secretFiles ? this.#file('smtp-password', smtpPassword) : undefined;
    const user = newName();
    const login = this.credentials('the first login', targets.smtpUrl, user, smtpPassword);
    this.configure(password ? targets.smtpUrl.replace('//', `//${user}@`) : login, password);
    this.#env = {
      SNITCH_LISTEN: '127.0.0.1:0',
      SNITCH_DATA_DIR: this.dataDir,
      SNITCH_CONFIG: this.#config,
      SNITCH_RATE_LIMIT_PER_MINUTE: '0',
      SNITCH_ADMIN_KEY_FILE: adminKey,
    };
    // World-readable, as an administrator might have left it.
    mkdirSync(this.dataDir);
    this.daemon = new SnitchProcess(['serve'], { ...this.#env, SNITCH_LOG_FORMAT: format });
  }

  async listening(): Promise<void> {
    await this.logged('listening');
    const [, pid] = /(?:"pid":|INFO \()(\d+).*listening/.exec(this.log) ?? [];
    this.commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    const credentials = readFileSync(join(this.dataDir, 'credentials.yaml'), 'utf8');
    const { url, admin_key, api_key } = parse(credentials) as Record<string, string>;
    this.url = String(url);
    if (admin_key) this.secrets.add('the admin key', admin_key);
    this.#key = this.secrets.add('the write key', String(api_key));
    this.secrets.addBasic('the write key', this.#key, '');
  }

  async end(): Promise<void> {
    this.daemon.kill('SIGTERM');
    assert.is((await this.daemon.ended()).code, 0);
  }

  /** A file that only its owner can read. */
  #file(name: string, secret: string): string {
    const path = join(this.root, name);
    writeFileSync(path, `${this.secrets.add(`the secret in ${name}`, secret)}\n`, { mode: 0o600 });
    return path;
  }

  /** The address with credentials, which are recorded as secrets. */
  credentials(name: string, address: string, user: string, password: string): string {
    this.secrets.add(`${name}: user`, user);
    if (password) this.secrets.add(`${name}: password`, password);
    this.secrets.addBasic(name, user, password);
    return Object.assign(new URL(address), { username: user, password }).href;
  }

  configure(smtpUrl: string, passwordFile?: string): void {
    const file = passwordFile ? `password_file: ${passwordFile}, ` : '';
    this.writeConfig(
      `${this.#settings}smtp: { url: ${JSON.stringify(smtpUrl)}, ${file}from: snitch@example.com }\n`,
    );
  }

  writeConfig(yaml: string, name = 'config.yaml'): string {
    writeFileSync(join(this.root, name), yaml, { mode: 0o600 });
    return join(this.root, name);
  }

  async reload(says: string): Promise<void> {
    const before = this.count(says);
    this.daemon.kill('SIGHUP');
    await this.logged(says, before + 1);
  }

  get log(): string {
    return this.daemon.stdout + this.daemon.stderr;
  }

  count(message: string): number {
    return this.log.split(message).length - 1;
  }

  async logged(message: string, times = 1): Promise<void> {
    const end = Date.now() + PATIENCE;
    while (this.count(message) < times) {
      assert.ok(Date.now() < end, `not ${times} times in the log: ${message}\n${this.log}`);
      await sleep(20);
    }
  }

  /** @param body a text that is sent as it is, or a value that is sent as JSON */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const authorization = `Basic ${Buffer.from(`${this.#key}:`).toString('base64')}`;
    const given = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const said = await this.hear(path, { method, headers: { authorization }, ...given });
    return (said ? JSON.parse(said) : null) as T;
  }

  /** Like `call`, for answers that contain a secret. */
  async make<T>(method: string, path: string, body?: unknown): Promise<T> {
    const made = await this.call<T>(method, path, body);
    this.told.pop();
    return made;
  }

  async hear(path: string, request: RequestInit = {}): Promise<string> {
    const said = await (await fetch(this.url + path, request)).text();
    this.told.push(said);
    return said;
  }

  /** Runs a command and records its messages. @returns what it printed */
  async command(args: readonly string[], { input = '', env = {} } = {}): Promise<string> {
    const child = spawn(PROGRAM, args, {
      env: { PATH: process.env.PATH, HOME: this.root, ...this.#env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: PATIENCE,
    });
    child.stdin.on('error', () => undefined).end(input);
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    this.told.push(stderr);
    return stdout;
  }

  /** Runs a command that has no secret to print. */
  async tellOf(args: readonly string[], env: Record<string, string> = {}): Promise<void> {
    this.told.push(await this.command(args, { env }));
  }
}

/** Invalid configurations with a secret in its place, or elsewhere by mistake. */
export function badConfigurations(life: BusyLife): string[] {
  let number = 0;
  const hidden = (secret: string) => {
    number += 1;
    return life.secrets.add(`secret ${number} of the bad configurations`, secret);
  };
  const encoded = () => `smtp://me:${encodeURIComponent(hidden(newPassword()))}@mail.test`;
  const raw = () => `smtp://me:${hidden(newPassword())}@mail.test`;
  const from = 'from: snitch@example.com';
  const twoLines = life.writeConfig(`${hidden(newName())}\n${hidden(newName())}\n`, 'two-lines');
  return [
    `smtp: { url: "${encoded()}:no-port", ${from} }`,
    `smtp: { url: ${JSON.stringify(raw())}, ${from} }`,
    `smtp: { url: "${encoded()}, ${from} }`,
    `smtp: "${encoded()}"`,
    `smtp: { url: smtp://mail.test, password: ${JSON.stringify(hidden(newPassword()))}, ${from} }`,
    `smtp: { url: "smtp://mail.test", from: "${encoded()}" }`,
    `smtp: { url: "smtp://mail.test", from: ${JSON.stringify(raw())} }`,
    `smtp: { url: "${encoded()}?pool=true", ${from} }`,
    `smtp: { url: *${hidden(newName())}, ${from} }`,
    `smtp: { url: "smtp://me:%zz${hidden(newName())}@mail.test", ${from} }`,
    `smtp: { url: "${encoded()}", password_file: ${twoLines}, ${from} }`,
    `base_url: ${encoded().replace('smtp', 'https')}`,
    `check_in_base: ${JSON.stringify(raw().replace('smtp', 'https'))}`,
    `admin_key_from: ${twoLines}`,
    `admin_key_from: snk_${hidden(newName())}`,
    `watchdog: { url: "ftp://watchdog.test/c/${hidden(newName())}" }`,
    `watchdog: { url: "${encoded().replace('smtp', 'https')}" }`,
  ];
}
