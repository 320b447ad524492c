/** Decides to whom the daemon reports that it is alive, and what it reports. */
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Census } from '../store/server-notes.ts';
import type { Store } from '../store/store.ts';
import type { ServiceManager } from '../system/service-manager.ts';
import { checkInElsewhere } from './outbound-check-in.ts';
import { type Sign, Watchdog } from './watchdog.ts';

/** The longest time between two updates of `systemctl status`, in milliseconds. */
const STATUS_EVERY = 20_000;

/** The shortest time between two signs of life, even if more are requested, in milliseconds. */
const LEAST_EVERY = 50;

export interface LifeSources {
  store: Store;
  manager: ServiceManager;
  logger: Logger;
  /** The name by which the daemon introduces itself to other servers. */
  userAgent: string;
  /** Says what keeps the daemon from doing its work. While there are any, it does not check in at the other server. */
  problems: () => readonly string[];
  /** Says which work is taking a while. */
  progress: () => readonly string[];
  /** Says what hangs. While anything does, the service manager gets no sign of life, and so restarts the daemon. */
  stalls: () => readonly string[];
}

export class SignsOfLife {
  readonly #sources: LifeSources;
  readonly #watchdog: Watchdog;

  constructor(sources: LifeSources) {
    this.#sources = sources;
    this.#watchdog = new Watchdog(sources.logger);
  }

  /** From now on gives signs of life as `watchdog` in the configuration says. */
  give(settings: Config['watchdog']): void {
    this.#watchdog.give(signs(settings, this.#sources));
  }

  stop(): void {
    this.#watchdog.stop();
  }
}

function signs(settings: Config['watchdog'], sources: LifeSources): Sign[] {
  const { manager } = sources;
  return [
    ...(manager.listens ? [signToManager(sources)] : []),
    ...(settings.url === null ? [] : [signElsewhere(settings.url, settings.intervalS, sources)]),
  ];
}

/** The sign is given three times within the time that the manager waits, so a late one does no harm. */
function signToManager({ manager, store, problems, progress, stalls }: LifeSources): Sign {
  return {
    to: 'the service manager',
    every: Math.max(
      LEAST_EVERY,
      Math.min((manager.watchdogWithin ?? Number.POSITIVE_INFINITY) / 3, STATUS_EVERY),
    ),
    problems: stalls,
    give: async () => {
      manager.alive();
      const [problem] = problems();
      manager.status(problem ?? [describe(await store.census()), ...progress()].join('; '));
    },
  };
}

function signElsewhere(url: string, intervalS: number, { userAgent, problems }: LifeSources): Sign {
  return {
    to: 'watchdog.url',
    every: intervalS * 1_000,
    problems,
    give: () => checkInElsewhere(url, userAgent),
  };
}

/** `3 snitches: 2 healthy, 1 failed; 4 deliveries waiting` */
function describe({ snitches, outbox }: Census): string {
  const counts = Object.entries(snitches).filter(([, count]) => count > 0);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  const statuses = counts.map(([status, count]) => `${count} ${status}`).join(', ');
  return `${counted(total, 'snitch', 'snitches')}${statuses && `: ${statuses}`}; ${counted(outbox.pending, 'delivery', 'deliveries')} waiting`;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
