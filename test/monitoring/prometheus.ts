/** A real Prometheus with the configuration of docs/monitoring.md, which scrapes every second. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { parse, stringify } from 'yaml';
import { ROOT, readPage } from '../docs/pages.ts';
import { freePort } from '../free-port.ts';
import { until } from '../until.ts';

export const RULES = join(ROOT, 'packaging/prometheus/snitch.rules.yml');

/** Long enough for any machine to scrape, evaluate and show something, in milliseconds. */
const PATIENCE = 60_000;

interface RuleFile {
  groups: { name: string; rules: { alert: string; expr: string; for?: string }[] }[];
}

export interface Sample {
  metric: Record<string, string>;
}

export interface Alert {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  state: string;
}

export function alertNames(): string[] {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as RuleFile;
  return groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
}

/** The rules, without their waiting times. */
function impatientRules(): string {
  const file = parse(readFileSync(RULES, 'utf8')) as RuleFile;
  const groups = file.groups.map(({ name, rules }) => ({
    name,
    rules: rules.map((rule) => ({ ...rule, for: '0s' })),
  }));
  return stringify({ groups });
}

/** The example of the page, unchanged except for addresses, files and intervals. */
function configuration(target: string, files: { rules: string; key: string }): string {
  const example = readPage('docs/monitoring.md').blocks.find(({ text }) => text.includes('scrape_configs'));
  let text = example?.text ?? '';
  for (const [from, to] of [
    ['127.0.0.1:7676', target],
    ['/usr/share/snitch/prometheus/snitch.rules.yml', files.rules],
    ['/etc/prometheus/snitch.key', files.key],
    ['scrape_interval: 1m', 'scrape_interval: 1s'],
  ] as const) {
    assert.ok(text.includes(from), `the example has no ${from}`);
    text = text.replaceAll(from, to);
  }
  assert.not.match(text, /\/(?:etc|usr)\//, 'every path of the example is replaced');
  return `global:\n  scrape_interval: 1s\n  evaluation_interval: 1s\n${text}`;
}

export class Prometheus implements AsyncDisposable {
  readonly url: string;
  readonly keyFile: string;
  readonly #end: () => Promise<void>;

  private constructor(url: string, keyFile: string, end: () => Promise<void>) {
    this.url = url;
    this.keyFile = keyFile;
    this.#end = end;
  }

  /**
   * @param daemon the address of the daemon that is scraped
   * @param key what the file with the key has
   */
  static async start(daemon: string, key: string): Promise<Prometheus> {
    const directory = mkdtempSync(join(tmpdir(), 'snitch-prometheus-'));
    const inIt = (name: string, content: string) => {
      const path = join(directory, name);
      writeFileSync(path, content, { mode: 0o600 });
      return path;
    };
    const files = { rules: inIt('rules.yml', impatientRules()), key: inIt('snitch.key', `${key}\n`) };
    const config = inIt('prometheus.yml', configuration(new URL(daemon).host, files));
    execFileSync('promtool', ['check', 'config', config], { stdio: 'pipe' });
    const port = await freePort();
    const child = spawn(
      'prometheus',
      [
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(directory, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=error',
      ],
      { stdio: ['ignore', 'ignore', 'pipe'], cwd: directory },
    );
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const ended = once(child, 'exit');
    const started = new Prometheus(`http://127.0.0.1:${port}`, files.key, async () => {
      child.kill('SIGKILL');
      await ended;
      rmSync(directory, { recursive: true, force: true });
    });
    try {
      await until(() => child.exitCode !== null || started.#isReady(), 'Prometheus is ready', PATIENCE);
      if (child.exitCode !== null) throw new Error(`Prometheus ended with ${child.exitCode}: ${said}`);
      return started;
    } catch (error) {
      await started[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #isReady(): Promise<boolean> {
    return fetch(`${this.url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  /** The answer of its API. @throws Error with the message of Prometheus */
  async #ask<Data>(path: string): Promise<Data> {
    const answer = await fetch(`${this.url}/api/v1/${path}`);
    const { status, data, error } = (await answer.json()) as { status: string; data: Data; error?: string };
    assert.is(status, 'success', `${decodeURIComponent(path)}: ${error}`);
    return data;
  }

  /** The series that an expression has now. */
  async query(expression: string): Promise<Sample[]> {
    const { result } = await this.#ask<{ result: Sample[] }>(`query?query=${encodeURIComponent(expression)}`);
    return result;
  }

  async has(expression: string): Promise<void> {
    await until(async () => (await this.query(expression)).length > 0, `there is ${expression}`, PATIENCE);
  }

  async #alerts(name: string): Promise<Alert[]> {
    const { alerts } = await this.#ask<{ alerts: Alert[] }>('alerts');
    return alerts.filter(({ labels, state }) => labels.alertname === name && state === 'firing');
  }

  /** Waits until the alert fires. */
  async fires(name: string): Promise<Alert> {
    let found: Alert | undefined;
    const isFiring = async () => {
      [found] = await this.#alerts(name);
      return found !== undefined;
    };
    await until(isFiring, `${name} fires`, PATIENCE);
    return found as Alert;
  }

  /** Waits until it no longer fires. */
  async rests(name: string): Promise<void> {
    await until(async () => (await this.#alerts(name)).length === 0, `${name} rests`, PATIENCE);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }
}
