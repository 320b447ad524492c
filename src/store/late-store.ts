/** Replaces a store whose database is not there yet, so that everything else can be built and answer meanwhile. */
import { StoreUnavailable } from '../core/errors.ts';
import type { Change } from './change.ts';
import type { ClusterNode } from './node.ts';
import type { Store } from './store.ts';

export interface LateStore {
  store: Store;
  /** From now on `store` passes all calls on to this one. If it was closed before, this one is closed at once. */
  open(opened: Store): Promise<void>;
}

type Method = (...given: unknown[]) => unknown;

/**
 * Until it is opened, everything that would need the database is refused with `StoreUnavailable`. Only stores that
 * several nodes share are opened late: there the signs of life of all nodes show what was missed.
 *
 * @param problem why it is not open, in words that anybody may see
 * @param onClosed called if it is closed before it is opened
 */
export function lateStore(problem: () => string, since: number, onClosed = () => {}): LateStore {
  let opened: Store | null = null;
  let isClosed = false;
  const listeners: ((change: Change) => void)[] = [];
  const refuse = async (): Promise<never> => {
    throw new StoreUnavailable(new Error(problem()));
  };
  const early: Partial<Store> = {
    health: () => ({ failingSince: since, commits: 0, syncs: 0 }),
    misplaced: () => null,
    isContested: () => false,
    isSaving: () => false,
    lost: null,
    check: () => {},
    checking: () => null,
    refused: () => null,
    node: nodeWithout(refuse, problem),
    onChange: (listener) => void listeners.push(listener),
    failed: new Promise(() => {}),
    close: async () => {
      isClosed = true;
      onClosed();
    },
    by: () => refusing({}, refuse),
  };
  return {
    store: refusing(early, refuse, () => opened),
    async open(store) {
      if (isClosed) return store.close();
      opened = store;
      for (const listener of listeners) store.onChange(listener);
    },
  };
}

function nodeWithout(refuse: () => Promise<never>, problem: () => string): ClusterNode {
  return {
    id: '',
    begin: refuse,
    leave: async () => {},
    leaveHeld: async () => {},
    now: refuse,
    clockAheadMs: () => 0,
    alone: refuse,
    list: refuse,
    connections: () => null,
    databaseSize: refuse,
    answerForRefused: refuse,
    noteLostCheckIn: () => {},
    heldSince: () => Number.POSITIVE_INFINITY,
    problem,
  };
}

/** A method that was read from it before it is opened works like one that is read later. */
function refusing<Of extends object>(
  early: Partial<Of>,
  refuse: () => Promise<never>,
  opened: () => Of | null = () => null,
): Of {
  const methods = new Map<string | symbol, Method>();
  const get = (_: object, name: string | symbol): unknown => {
    const now = Reflect.get(opened() ?? early, name) as unknown;
    // Resolving a promise with it reads `then`, to see whether it is a promise itself.
    if (name === 'then' || (now !== undefined && typeof now !== 'function')) return now;
    if (opened() === null && now === undefined && name in early) return now;
    const known = methods.get(name);
    if (known) return known;
    const method: Method = (...given) => {
      const found = Reflect.get(opened() ?? early, name) as Method | undefined;
      return (found ?? refuse)(...given);
    };
    methods.set(name, method);
    return method;
  };
  return new Proxy<Of>({} as unknown as Of, { get });
}
