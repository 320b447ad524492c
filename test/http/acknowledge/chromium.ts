/** Debian's own Chromium without a window, driven through two pipes: no port, and no package for it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

/** How long an answer can take, in milliseconds: only so that nothing waits for ever. */
const PATIENCE = 60_000;

interface Message {
  id?: number;
  method?: string;
  sessionId?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { message: string };
}

type Values = Record<string, unknown>;

export class Chromium implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #profile: string;
  readonly #waiting = new Map<number, (message: Message) => void>();
  readonly #listeners: ((message: Message) => void)[] = [];
  #sent = 0;
  #rest = '';

  constructor() {
    this.#profile = mkdtempSync(join(tmpdir(), 'snitch-chromium-'));
    // As root it runs only without the sandbox; it opens nothing but pages of the tests.
    const args = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];
    const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
    this.#process = spawn(
      'chromium',
      [...args, ...quiet, '--remote-debugging-pipe', `--user-data-dir=${this.#profile}`],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true },
    );
    const output = this.#process.stdio[4] as Readable;
    output.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    this.#input.on('error', () => undefined);
  }

  get #input(): Writable {
    return this.#process.stdio[3] as Writable;
  }

  #read(text: string): void {
    const messages = `${this.#rest}${text}`.split('\0');
    this.#rest = messages.pop() ?? '';
    for (const one of messages) {
      const message = JSON.parse(one) as Message;
      if (message.id === undefined) for (const listener of this.#listeners) listener(message);
      else this.#waiting.get(message.id)?.(message);
    }
  }

  onEvent(listener: (message: Message) => void): void {
    this.#listeners.push(listener);
  }

  async send(method: string, params: Values = {}, sessionId?: string): Promise<Values> {
    const id = ++this.#sent;
    const answered = new Promise<Message>((resolve) => void this.#waiting.set(id, resolve));
    this.#input.write(`${JSON.stringify({ id, method, params, ...(sessionId ? { sessionId } : {}) })}\0`);
    const { result, error } = await inTime(answered, method);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  }

  async openPage(): Promise<Page> {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, String(sessionId));
    await page.prepare();
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pid, exitCode } = this.#process;
    if (exitCode === null && pid !== undefined) {
      const gone = once(this.#process, 'exit');
      process.kill(-pid, 'SIGKILL');
      await gone;
    }
    // Its last writes may arrive a moment after it has ended.
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

async function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`Chromium did not answer: ${what}`)), PATIENCE);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A page in which no script of the page itself runs. */
export class Page {
  readonly #browser: Chromium;
  readonly #session: string;
  /** Errors and refusals that it reported, such as violations of a policy. */
  readonly complaints: string[] = [];
  /** Addresses that it requested. */
  readonly requests: string[] = [];
  #loaded: () => void = () => undefined;

  constructor(browser: Chromium, session: string) {
    this.#browser = browser;
    this.#session = session;
    browser.onEvent(({ sessionId, method, params = {} }) => {
      if (sessionId === session) this.#heard(method ?? '', params);
    });
  }

  #heard(method: string, params: Values): void {
    if (method === 'Page.loadEventFired') this.#loaded();
    if (method === 'Network.requestWillBeSent')
      this.requests.push((params.request as { url: string }).url.replace(/^\w+:\/\/[^/]*/, ''));
    if (method === 'Log.entryAdded' || method === 'Audits.issueAdded')
      this.complaints.push(JSON.stringify(params));
  }

  send(method: string, params: Values = {}): Promise<Values> {
    return this.#browser.send(method, params, this.#session);
  }

  async prepare(): Promise<void> {
    for (const domain of ['Page', 'DOM', 'CSS', 'Log', 'Audits', 'Network'])
      await this.send(`${domain}.enable`);
    await this.send('Emulation.setScriptExecutionDisabled', { value: true });
  }

  /** Waits for the page that `act` leads to. */
  async #leave(act: () => Promise<unknown>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#loaded = resolve;
    await act();
    await inTime(promise, 'a page');
  }

  async open(url: string): Promise<void> {
    await this.#leave(() => this.send('Page.navigate', { url }));
  }

  resize(width: number, height: number): Promise<Values> {
    return this.send('Emulation.setDeviceMetricsOverride', {
      width,
      height,
      deviceScaleFactor: 2,
      mobile: true,
    });
  }

  colorScheme(value: 'light' | 'dark'): Promise<Values> {
    return this.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
  }

  async #node(selector: string): Promise<number> {
    const { root } = await this.send('DOM.getDocument', { depth: 0 });
    const { nodeId } = await this.send('DOM.querySelector', {
      nodeId: (root as { nodeId: number }).nodeId,
      selector,
    });
    if (!nodeId) throw new Error(`the page has no ${selector}`);
    return Number(nodeId);
  }

  /** A computed style of the element, such as `color` or `background-color`. */
  async style(selector: string, property: string): Promise<string> {
    const nodeId = await this.#node(selector);
    const { computedStyle } = await this.send('CSS.getComputedStyleForNode', { nodeId });
    const all = computedStyle as { name: string; value: string }[];
    return all.find(({ name }) => name === property)?.value ?? '';
  }

  /** Left, top, right and bottom of the element. */
  async box(selector: string): Promise<[number, number, number, number]> {
    const { model } = await this.send('DOM.getBoxModel', { nodeId: await this.#node(selector) });
    const { border } = model as { border: number[] };
    return [border[0] ?? 0, border[1] ?? 0, border[4] ?? 0, border[5] ?? 0];
  }

  async text(): Promise<string> {
    const nodeId = await this.#node('main');
    const { outerHTML } = await this.send('DOM.getOuterHTML', { nodeId });
    return String(outerHTML).replace(/<[^>]*>/g, '');
  }

  async #whole() {
    const { cssContentSize } = await this.send('Page.getLayoutMetrics');
    const { width, height } = cssContentSize as { width: number; height: number };
    return { x: 0, y: 0, width, height: Math.min(height, 4_000), scale: 1 };
  }

  /** The width of the content, including what is reached by scrolling. */
  async contentWidth(): Promise<number> {
    const { cssContentSize } = await this.send('Page.getLayoutMetrics');
    return (cssContentSize as { width: number }).width;
  }

  async type(selector: string, text: string): Promise<void> {
    await this.send('DOM.focus', { nodeId: await this.#node(selector) });
    await this.send('Input.insertText', { text });
  }

  /** Clicks where the element is drawn, and waits for the next page. */
  async click(selector: string): Promise<void> {
    await this.send('DOM.scrollIntoViewIfNeeded', { nodeId: await this.#node(selector) });
    const [left, top, right, bottom] = await this.box(selector);
    const at = { x: (left + right) / 2, y: (top + bottom) / 2, button: 'left', clickCount: 1 };
    await this.#leave(async () => {
      await this.send('Input.dispatchMouseEvent', { type: 'mousePressed', ...at });
      await this.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...at });
    });
  }

  /** The result of a script of the test; the page itself still runs no scripts. */
  async evaluate<T>(script: string): Promise<T> {
    await this.send('Emulation.setScriptExecutionDisabled', { value: false });
    const answer = { awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression: script,
      ...answer,
    });
    await this.send('Emulation.setScriptExecutionDisabled', { value: true });
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails).slice(0, 2_000));
    return (result as { value: T }).value;
  }

  /** @param isWhole whether to take the whole page, and not only what fits into the window */
  async picture(isWhole = false): Promise<Buffer> {
    const { data } = await this.send('Page.captureScreenshot', {
      format: 'png',
      captureBeyondViewport: isWhole,
      ...(isWhole ? { clip: await this.#whole() } : {}),
    });
    return Buffer.from(String(data), 'base64');
  }
}
