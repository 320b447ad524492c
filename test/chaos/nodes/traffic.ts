/** Jobs that check in at all nodes and remember which check-ins were acknowledged. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import type { Jobs } from './jobs.ts';
import type { Team } from './team.ts';

const IS_FULL = process.env.CHAOS === 'full';

/** A job alternates between this many check-ins with errors and as many without. */
const STRETCH = IS_FULL ? 25 : 6;

/** Between two check-ins of one job, in milliseconds. */
const PAUSE = IS_FULL ? 15 : 150;

export interface Answer {
  place: number;
  at: number;
  status: number | null;
  took: number;
}

export class Traffic {
  /** Messages of the check-ins that were answered 202. */
  readonly acknowledged = new Set<string>();
  readonly answers: Answer[] = [];
  /** Jobs with an acknowledged error right after an acknowledged healthy check-in. */
  readonly failed = new Set<string>();
  readonly #team: Team;
  readonly #over = new AbortController();
  readonly #running: Promise<unknown>;
  /** The prefix of the number that is the message of each check-in. */
  readonly #name = randomUUID();
  #sent = 0;

  /** @param places the nodes that the jobs check in to; by default all that are up */
  constructor(team: Team, tokens: readonly string[], places?: readonly number[]) {
    this.#team = team;
    this.#running = Promise.all(tokens.map((token) => this.#job(token, places)));
  }

  async #job(token: string, places: readonly number[] | undefined): Promise<void> {
    let wasWell = false;
    for (let count = 0; !this.#over.signal.aborted; count += 1) {
      const up = this.#team.up.filter((place) => places?.includes(place) ?? true);
      const place = up[Math.floor(Math.random() * up.length)];
      if (place !== undefined) {
        const isError = Math.floor(count / STRETCH) % 2 === 1;
        const isKnown = await this.#checkIn(place, token, isError);
        if (isError && isKnown && wasWell) this.failed.add(token);
        wasWell = isKnown && !isError;
      }
      await sleep(PAUSE);
    }
  }

  async #checkIn(place: number, token: string, isError: boolean): Promise<boolean> {
    const message = `${this.#name}-${this.#sent++}`;
    const began = performance.now();
    const status = await this.#team.checkIn(place, `${token}?m=${message}${isError ? '&s=1' : ''}`);
    this.answers.push({ place, at: Date.now(), status, took: performance.now() - began });
    if (status === 202) this.acknowledged.add(message);
    return status === 202;
  }

  /** Resolves when at least so many more check-ins were acknowledged. */
  async grown(by: number): Promise<void> {
    const [enough, until] = [this.acknowledged.size + by, Date.now() + 60_000];
    while (this.acknowledged.size < enough && Date.now() < until) await sleep(5);
  }

  async end(): Promise<void> {
    this.#over.abort();
    await this.#running;
  }

  /** The number of answers by status. */
  counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { status } of this.answers) counts[`${status}`] = (counts[`${status}`] ?? 0) + 1;
    return counts;
  }

  /** The acknowledged check-ins that are missing in the log. */
  async lost(jobs: Jobs): Promise<string[]> {
    // More are acknowledged while the log is read.
    const acknowledged = [...this.acknowledged];
    const logged = await jobs.logged();
    return acknowledged.filter((message) => !logged.has(message));
  }

  /** Asserts that every acknowledged check-in is in the log exactly once. */
  async verify(jobs: Jobs): Promise<void> {
    const lost = await this.lost(jobs);
    assert.equal(lost, [], `${lost.length} of ${this.acknowledged.size} acknowledged check-ins are lost`);
    const logged = await jobs.logged();
    const twice = [...logged].filter(([message, count]) => message.startsWith(this.#name) && count > 1);
    assert.equal(twice, [], 'no check-in is in the log twice');
  }
}
