/** Tells the server how a run began and ended, or keeps that in the spool. The job never waits for it. */
import type { JobEnd } from './exec-job.ts';
import { tell } from './exec-tell.ts';
import { type Claim, claim, dropExcess, release, remove, writeClaimed } from './spool-directory.ts';
import { type KeptCheckIn, shortToken } from './spool-entry.ts';
import { flush } from './spool-flush.ts';
import { type Answer, send } from './spool-send.ts';

/** Bounds in milliseconds: on the start, while the job runs; on both and the spool, after its end. */
const START_WITHIN = 10_000;
const END_WITHIN = 10_000;
/** After the job's end, the start may take no more than its part of that. */
const START_AFTER_END = 5_000;
const FLUSH_WITHIN = 5_000;

/** A server that has not answered by then gets time, and the check-in is put on the disk meanwhile; milliseconds. */
const SAFE_AFTER = 250;

export interface Run {
  /** What check-in addresses begin with; null where it could not be found out. */
  base: string | null;
  /** Why it could not, in words. */
  problem: string | null;
  token: string;
  runId: string;
  /** Where the spool is. */
  directory: string;
}

interface Delivery {
  checkIn: KeptCheckIn;
  answer: Answer;
  /** Its file, where it waits. */
  claim: Claim | null;
  /** Why it could not be kept, where that was tried. */
  fault: string | null;
}

export class RunReport {
  readonly #run: Run;
  readonly #hurry = new AbortController();
  readonly #startLimit = new AbortController();
  #start: Promise<Delivery> | null = null;

  constructor(run: Run) {
    this.#run = run;
  }

  /** Ends whatever waits for the server; what it has not confirmed goes to the spool. */
  hurry(): void {
    this.#hurry.abort();
  }

  /** @param at milliseconds since the epoch */
  start(at: number): void {
    const limits = [this.#hurry.signal, this.#startLimit.signal, AbortSignal.timeout(START_WITHIN)];
    const nothing = { message: null, exitStatus: null, output: Buffer.alloc(0) };
    const checkIn: KeptCheckIn = { ...this.#identity(), ...nothing, suffix: 'start', at };
    this.#start = this.#deliver(checkIn, AbortSignal.any(limits));
  }

  /** @param at milliseconds since the epoch */
  async end(end: JobEnd, at: number, output: Buffer): Promise<void> {
    setTimeout(() => this.#startLimit.abort(), START_AFTER_END).unref();
    setTimeout(() => this.hurry(), END_WITHIN).unref();
    const checkIn = { ...this.#identity(), ...outcomeOf(end), at, output };
    // The server can tell how long a run took only if it knows of the start before the end.
    const started = this.#start?.then((delivery) => this.#again(delivery));
    const delivery = await this.#deliver(checkIn, this.#hurry.signal, started);
    this.#explain(delivery);
    if (delivery.answer.kind === 'recorded') await this.#flush();
    else if (delivery.claim !== null) await this.#bound();
  }

  #identity(): Pick<KeptCheckIn, 'base' | 'token' | 'runId'> {
    const { base, token, runId } = this.#run;
    return { base, token, runId };
  }

  /** @param first is waited for before the check-in is sent, but not before it is safe */
  async #deliver(checkIn: KeptCheckIn, signal: AbortSignal, first?: Promise<void>): Promise<Delivery> {
    const sending = (async () => {
      await first;
      return this.#send(checkIn, signal);
    })();
    const slow = await Promise.race([sending.then(() => false), delay(SAFE_AFTER).then(() => true)]);
    const safe = slow ? await this.#keep(checkIn) : null;
    const answer = await sending;
    if (answer.kind !== 'later') {
      if (safe?.claim) await quietly(remove(safe.claim));
      return { checkIn, answer, claim: null, fault: null };
    }
    const kept = safe?.claim ? safe : await this.#keep(checkIn);
    if (kept.claim) await quietly(release(this.#run.directory, kept.claim));
    return { checkIn, answer, ...kept };
  }

  #send(checkIn: KeptCheckIn, signal: AbortSignal): Promise<Answer> {
    const { base, problem } = this.#run;
    if (base === null) return Promise.resolve({ kind: 'later', reason: problem ?? 'no address is known' });
    return send(checkIn, base, signal);
  }

  async #keep(checkIn: KeptCheckIn): Promise<Pick<Delivery, 'claim' | 'fault'>> {
    try {
      return { claim: await writeClaimed(this.#run.directory, checkIn), fault: null };
    } catch (error) {
      return { claim: null, fault: (error as NodeJS.ErrnoException).code ?? String(error) };
    }
  }

  /** The server may be back since the job began. */
  async #again({ checkIn, answer, claim: waits }: Delivery): Promise<void> {
    if (answer.kind !== 'later') return;
    const { directory } = this.#run;
    const held = waits === null ? null : await claim(directory, waits.name).catch(() => null);
    // Without its file it was sent by somebody else, unless it never had one.
    if (waits !== null && held === null) return;
    const signal = AbortSignal.any([this.#hurry.signal, this.#startLimit.signal]);
    const { kind } = await this.#send(checkIn, signal);
    if (held !== null) await quietly(kind === 'later' ? release(directory, held) : remove(held));
  }

  #explain({ answer, claim: kept, fault }: Delivery): void {
    const { base, directory, token } = this.#run;
    if (answer.kind === 'unknown') {
      tell(`${base} knows no snitch with the token ${shortToken(token)}: nothing was recorded`);
    } else if (answer.kind === 'later' && kept !== null) {
      tell(answer.reason);
      tell('the check-in is kept; the next `snitch exec` sends it, or `snitch spool flush`');
    } else if (answer.kind === 'later') {
      tell(answer.reason);
      tell(`the check-in is lost: it cannot be kept in ${directory}: ${fault}`);
    }
  }

  /** Sends what earlier runs could not. */
  async #flush(): Promise<void> {
    const { base, directory } = this.#run;
    const signal = AbortSignal.any([this.#hurry.signal, AbortSignal.timeout(FLUSH_WITHIN)]);
    try {
      const { problems } = await flush({ directory, base, signal });
      for (const problem of problems) tell(problem);
    } catch (error) {
      tell(`the spool cannot be read: ${(error as Error).message}`);
    }
  }

  async #bound(): Promise<void> {
    const dropped = await dropExcess(this.#run.directory).catch(() => 0);
    if (dropped > 0) tell(`the spool is full: its ${dropped} oldest check-ins are dropped`);
  }
}

/** A job whose time was over has failed, however it ended. */
function outcomeOf(end: JobEnd): Pick<KeptCheckIn, 'suffix' | 'message' | 'exitStatus'> {
  const { code, signal, timedOut, failure } = end;
  const killed = signal === null ? null : `killed by ${signal}`;
  if (timedOut) {
    const message = `ran longer than it may${killed === null ? '' : `: ${killed}`}`;
    return { suffix: 'fail', exitStatus: code, message };
  }
  return { suffix: `${code}`, exitStatus: null, message: failure ?? killed };
}

/** What cannot be cleared away now is found by the next flush; sending it twice does no harm. */
async function quietly(work: Promise<unknown>): Promise<void> {
  await work.catch(() => {});
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
