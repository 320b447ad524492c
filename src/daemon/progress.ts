/** Whether the daemon does its work, and if not, whether a restart may help. */
import type { Deliverer } from '../delivery/deliverer.ts';
import type { Store } from '../store/store.ts';
import type { Sweeper } from '../sweep/sweeper.ts';

export interface Workers {
  store: Pick<Store, 'health' | 'misplaced'>;
  sweeper: Pick<Sweeper, 'problem' | 'stall'>;
  deliverer: Pick<Deliverer, 'problem'>;
}

/** Says what keeps the daemon from doing its work; empty when all is well. */
export function problems({ store, sweeper, deliverer }: Workers): string[] {
  const { failingSince } = store.health();
  const storeProblem =
    failingSince === null ? null : `the store cannot write since ${new Date(failingSince).toISOString()}`;
  // This can be read without a key, so it does not say where the file was. The log does.
  const place = store.misplaced() === null ? null : 'a file of the database was deleted, moved or replaced';
  return [storeProblem, place, sweeper.problem(), deliverer.problem()].filter((problem) => problem !== null);
}

/**
 * Says what a restart may cure. A store that cannot write is not included: it still answers, and takes check-ins again
 * as soon as the disk has room. Sweeps and deliveries fail only because of it, and a restarted daemon could not even
 * say so. Nor is a database whose file was deleted: only an orderly stop saves what is in it, and a watchdog would not
 * wait for one before it kills.
 */
export function stalls({ store, sweeper, deliverer }: Workers): string[] {
  const isFailing = store.health().failingSince !== null;
  const found = isFailing ? [sweeper.stall()] : [sweeper.problem(), deliverer.problem()];
  return found.filter((problem) => problem !== null);
}
