/** Keeps the snitches up to date from the stream of changes, or else by reading the list again and again. */
import type { IncomingMessage } from 'node:http';
import { ApiError, type Client } from '../../api/client.ts';
import { createEventParser, readChange, type StreamEvent, UnknownEvent } from '../../api/event-stream.ts';
import type { WireSnitch } from '../../api/wire.ts';
import { MINUTE } from '../../text/durations.ts';
import type { Event, Link } from '../model/state.ts';
import { retryDelay } from './retry-delay.ts';

export interface FeedParts {
  client: Pick<Client, 'listSnitches' | 'stream'>;
  clock: () => number;
  /** Resolves after this time, or at once when the signal aborts. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  random: () => number;
  emit: (event: Event) => void;
  /** Called when the stream says that silences changed. */
  onSilences?: () => void;
  /** A stream that is silent for this long is dead, in milliseconds. The server sends something every 15 s. */
  silenceLimit?: number;
}

const SILENCE_LIMIT = 45_000;

/**
 * A key that was refused is seldom accepted later. It is tried again after this long, in milliseconds, or when
 * somebody refreshes.
 */
const AFTER_REFUSAL = MINUTE;

/** While there is no stream, the list is read this often, in milliseconds. */
const POLL_EVERY = 15_000;

/** Whether the server answers, but not with a stream that can be used. */
function answers(error: Error): boolean {
  return error instanceof ApiError || error instanceof UnknownEvent;
}

/** Whether the server answers, but does not let this key read. */
function isRefusal(error: Error): boolean {
  return error instanceof ApiError && [401, 402, 403].includes(error.status);
}

export class Feed {
  readonly #parts: FeedParts;
  readonly #stopping = new AbortController();
  /** Ends the present attempt or pause between attempts. */
  #present = new AbortController();
  #lastEventId: string | null = null;
  /** How many attempts have failed since the server was last heard from. */
  #attempts = 0;
  #wasRefreshed = false;
  #wasHeard = false;

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  /**
   * Resolves after `stop`.
   *
   * @throws ApiError if the server refuses the key from the start, so that nothing can be shown
   */
  async run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#present = new AbortController();
      const signal = AbortSignal.any([this.#present.signal, this.#stopping.signal]);
      const error = await this.#follow(signal).then(
        () => new Error('the server closed the connection'),
        (reason: Error) => reason,
      );
      if (this.#stopping.signal.aborted) return;
      if (isRefusal(error) && !this.#wasHeard) throw error;
      if (this.#wasRefreshed) this.#wasRefreshed = false;
      else await this.#pauseAfter(error);
    }
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Reads everything again, now. */
  refresh(): void {
    this.#lastEventId = null;
    this.#wasRefreshed = true;
    this.#present.abort();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { client, silenceLimit = SILENCE_LIMIT, clock, emit } = this.#parts;
    const response = await client.stream(this.#lastEventId, signal);
    response.setEncoding('utf8');
    const parse = createEventParser();
    const changes = new Changes();
    let isSilent = false;
    const quietTimer = setTimeout(() => {
      isSilent = true;
      response.destroy(new Error('the server fell silent'));
    }, silenceLimit);
    try {
      for await (const chunk of response as AsyncIterable<string>) {
        quietTimer.refresh();
        const events = parse(chunk);
        for (const event of events) await this.#take(event, changes);
        if (events.length === 0) emit({ kind: 'heard', at: clock() });
      }
    } finally {
      clearTimeout(quietTimer);
      // Until the connection ended, quiet meant that nothing had changed, so the data is that fresh.
      if (!isSilent) emit({ kind: 'heard', at: clock() });
      destroy(response);
    }
  }

  async #take(event: StreamEvent, changes: Changes): Promise<void> {
    const { clock, emit } = this.#parts;
    if (event.event === 'silences') this.#parts.onSilences?.();
    else if (event.event === 'reset') await this.#readAll();
    else if (event.event === 'informed') {
      const { changed, deleted } = changes.take();
      emit({ kind: 'changes', changed, deleted, at: clock() });
    } else changes.add(event);
    if (event.id !== null) {
      this.#lastEventId = event.id;
      this.#heard({ state: 'live', error: null, retryAt: null });
    }
  }

  async #readAll(): Promise<void> {
    const { client, clock, emit } = this.#parts;
    const snitches = await client.listSnitches();
    this.#wasHeard = true;
    emit({ kind: 'all', snitches, at: clock() });
  }

  #link: Link | null = null;

  #heard(link: Link): void {
    this.#attempts = 0;
    if (this.#link?.state === link.state && this.#link.error === link.error) return;
    this.#setLink(link);
  }

  #setLink(link: Link): void {
    this.#link = link;
    this.#parts.emit({ kind: 'link', link });
  }

  /** Polls a server that answers but gives no stream, and waits for one that does not answer. */
  async #pauseAfter(error: Error): Promise<void> {
    const { clock, wait, random } = this.#parts;
    if (isRefusal(error)) {
      this.#setLink({ state: 'refused', error: error.message, retryAt: null });
      await wait(AFTER_REFUSAL, AbortSignal.any([this.#present.signal, this.#stopping.signal]));
      this.#wasRefreshed = false;
      return;
    }
    const asked = error instanceof ApiError && error.retryAfterS !== null ? error.retryAfterS * 1_000 : 0;
    const usual = error instanceof UnknownEvent ? POLL_EVERY : retryDelay(this.#attempts, random());
    this.#attempts += 1;
    const signal = AbortSignal.any([this.#present.signal, this.#stopping.signal]);
    for (let left = Math.max(asked, usual); left > 0 && !signal.aborted; ) {
      const isPolled = answers(error) && (await this.#poll());
      if (signal.aborted) break;
      const pause = isPolled ? Math.min(left, POLL_EVERY) : left;
      const retryAt = clock() + pause;
      this.#setLink({ state: isPolled ? 'polling' : 'lost', error: error.message, retryAt });
      await wait(pause, signal);
      left -= pause;
    }
    this.#wasRefreshed = false;
  }

  async #poll(): Promise<boolean> {
    this.#lastEventId = null;
    return this.#readAll().then(
      () => true,
      () => false,
    );
  }
}

/** The changes between two `informed` events: the last one of each snitch. */
class Changes {
  readonly #changed = new Map<string, WireSnitch>();
  readonly #deleted = new Set<string>();

  /** @throws UnknownEvent if the event does not have the shape of a change */
  add(event: StreamEvent): void {
    const { changed, deleted } = readChange(event);
    if (changed) {
      this.#changed.set(changed.token, changed);
      this.#deleted.delete(changed.token);
    }
    if (deleted !== undefined) {
      this.#changed.delete(deleted);
      this.#deleted.add(deleted);
    }
  }

  take(): { changed: WireSnitch[]; deleted: string[] } {
    const taken = { changed: [...this.#changed.values()], deleted: [...this.#deleted] };
    this.#changed.clear();
    this.#deleted.clear();
    return taken;
  }
}

/** Ends the stream. The error that this causes is expected. */
function destroy(response: IncomingMessage): void {
  response.on('error', () => {});
  response.destroy();
}
