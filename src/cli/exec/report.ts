/** Reports how a run began and ended, or keeps the report in the spool. The job never waits for it. */
import type { ServerFlags } from '../command/servers.ts';
import type { KeptCheckIn, Recipient } from '../sending/check-in.ts';
import { dispatch, Locator } from '../sending/recipient.ts';
import type { Answer } from '../sending/send.ts';
import {
  boundSpool,
  completed,
  type Delivery,
  deliver,
  explainDelivery,
  quietly,
  tellDeleted,
} from '../spool/deliver.ts';
import { claim, refuse, release, remove } from '../spool/directory.ts';
import { flush } from '../spool/flush.ts';
import type { JobEnd } from './job.ts';
import { tell } from './tell.ts';
import type { Measured } from './values.ts';

/** Time limits in milliseconds: on reporting the start while the job runs, and on everything after its end. */
const START_WITHIN = 10_000;
const END_WITHIN = 10_000;
/** How much of the latter may go to reporting the start. */
const START_AFTER_END = 5_000;
const FLUSH_WITHIN = 5_000;
/** Time limit on looking up a name. */
const LOCATE_WITHIN = 8_000;

export interface Run {
  recipient: Recipient;
  /** Why the address of the server is not known, in words; null if it is. */
  problem: string | null;
  /** What was typed about the server. */
  typed: ServerFlags;
  runId: string;
  /** Where the spool is. */
  directory: string;
}

/** What is reported about the end of a run besides how it ended. */
export interface ToldEnd {
  /** Milliseconds since the epoch. */
  at: number;
  output: Buffer;
  /** Measures the values, in a limited time or until the signal; it never fails. Null if there are none. */
  values: ((signal: AbortSignal) => Promise<Measured>) | null;
}

export class RunReport {
  readonly #run: Run;
  readonly #hurry = new AbortController();
  readonly #startLimit = new AbortController();
  #locator: Locator;
  #start: Promise<Delivery> | null = null;

  constructor(run: Run) {
    this.#run = run;
    this.#locator = new Locator(LOCATE_WITHIN, run.typed);
  }

  /** Stops waiting for the server. What it has not confirmed goes to the spool. */
  hurry(): void {
    this.#hurry.abort();
  }

  /** @param at milliseconds since the epoch */
  start(at: number): void {
    const limits = [this.#hurry.signal, this.#startLimit.signal, AbortSignal.timeout(START_WITHIN)];
    const nothing = { message: null, exitStatus: null, output: Buffer.alloc(0) };
    const checkIn: KeptCheckIn = { ...this.#identity(), ...nothing, suffix: 'start', at };
    const sending = this.#send(checkIn, AbortSignal.any(limits));
    this.#start = deliver(this.#run.directory, checkIn, sending, isKept);
  }

  async end(end: JobEnd, { at, output, values }: ToldEnd): Promise<void> {
    const { directory } = this.#run;
    const known = { ...this.#identity(), ...outcomeOf(end), at, output };
    const { checkIn, held } =
      values === null
        ? { checkIn: known, held: null }
        : await completed(directory, known, values(this.#hurry.signal).then(measuredIn(known)));
    setTimeout(() => this.#startLimit.abort(), START_AFTER_END).unref();
    setTimeout(() => this.hurry(), END_WITHIN).unref();
    // The server needs the start before the end to know how long a run took. But the end is put on the disk without
    // waiting for that.
    const sending = (async () => {
      if (this.#start !== null) await this.#again(await this.#start);
      return this.#send(checkIn, this.#hurry.signal);
    })();
    const delivery = await deliver(directory, checkIn, sending, isKept, held);
    const deleted = delivery.deleted + ((await this.#start)?.deleted ?? 0);
    for (const line of explainDelivery({ ...delivery, deleted }, directory)) tell(line);
    this.#welcome(delivery, await this.#start);
    if (delivery.answer.kind === 'recorded') await this.#flush();
    else if (delivery.claim !== null) for (const line of await boundSpool(directory)) tell(line);
  }

  #identity(): Recipient & { runId: string } {
    const { recipient, runId } = this.#run;
    return { ...recipient, runId };
  }

  #send(checkIn: KeptCheckIn, signal: AbortSignal): Promise<Answer> {
    const { problem } = this.#run;
    if (problem !== null) return Promise.resolve({ kind: 'later', reason: problem, fault: 'server' });
    return dispatch(checkIn, null, this.#locator, signal);
  }

  /** Tries the start once more, because the server may have come back since the job began. */
  async #again({ checkIn, answer, claim: waits }: Delivery): Promise<void> {
    if (answer.kind !== 'later') return;
    this.#locator = new Locator(LOCATE_WITHIN, this.#run.typed);
    const { directory } = this.#run;
    const held = waits === null ? null : await claim(directory, waits.name).catch(() => null);
    // A missing file means that another process has sent it, unless it never had one.
    if (waits !== null && held === null) return;
    const again = await this.#send(checkIn, AbortSignal.any([this.#hurry.signal, this.#startLimit.signal]));
    if (held === null) return;
    if (again.kind === 'later') await quietly(release(directory, held));
    else if (again.kind === 'recorded') await quietly(remove(held));
    else {
      const deleted = await refuse(directory, held, checkIn, again.reason).catch(() => 0);
      for (const line of tellDeleted(deleted)) tell(line);
    }
  }

  /** For whoever tries it out: cron would send a mail for each word. */
  #welcome(...deliveries: (Delivery | null)[]): void {
    if (!process.stderr.isTTY) return;
    const answers = deliveries.map((delivery) => delivery?.answer);
    const made = answers.find((answer) => answer?.kind === 'recorded' && answer.made !== undefined);
    if (made?.kind === 'recorded')
      tell(`the snitch "${made.made}" is created: the job is watched from now on`);
  }

  /** Sends what earlier runs could not send. */
  async #flush(): Promise<void> {
    const { recipient, directory, typed } = this.#run;
    const signal = AbortSignal.any([this.#hurry.signal, AbortSignal.timeout(FLUSH_WITHIN)]);
    try {
      const { problems } = await flush({ directory, base: recipient.base, typed, signal });
      for (const problem of problems) tell(problem);
    } catch (error) {
      tell(`the spool cannot be read: ${(error as Error).message}`);
    }
  }
}

/**
 * What was measured and, unless the check-in has a message already, what could not be. The run counts as ended now, so
 * that the server's clock stamps its end as it did its start: the clock of this host may be wrong.
 */
function measuredIn({ message }: KeptCheckIn) {
  return ({ values, problems }: Measured): Partial<KeptCheckIn> => ({
    at: Date.now(),
    values,
    message: message ?? (problems.length > 0 ? problems.join('; ') : null),
  });
}

/** The job has run, and perhaps nobody is there to try again, so whatever the server does not record is kept. */
function isKept(): boolean {
  return true;
}

/** A job that ran out of time has failed, however it ended. */
function outcomeOf(end: JobEnd): Pick<KeptCheckIn, 'suffix' | 'message' | 'exitStatus'> {
  const { code, signal, timedOut, failure } = end;
  const killed = signal === null ? null : `killed by ${signal}`;
  if (timedOut) {
    const message = `ran longer than allowed${killed === null ? '' : `: ${killed}`}`;
    return { suffix: 'fail', exitStatus: code, message };
  }
  return { suffix: `${code}`, exitStatus: null, message: failure ?? killed };
}
