/** Stands for a store whose database is not there yet, so that everything else can be made and answer meanwhile. */
import { StoreUnavailable } from '../core/errors.ts';
import type { Change } from './change.ts';
import type { ClusterNode } from './node.ts';
import type { Store } from './store.ts';

export interface LateStore {
  store: Store;
  /** From now on all that is asked of it goes to this one, which is closed at once where the late one was closed before. */
  open(opened: Store): Promise<void>;
}

type Method = (...given: unknown[]) => unknown;

/**
 * Until it is opened, all that would ask the database is refused with `StoreUnavailable`. Only stores that several nodes
 * share are late: on those the signs of life of all nodes tell what was missed.
 *
 * @param problem why it is not open, in words that may be shown to anybody
 * @param onClosed told that it was closed before it was opened
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

/** What was taken from it before it is opened is as good as what is taken later. */
function refusing<Of extends object>(
  early: Partial<Of>,
  refuse: () => Promise<never>,
  opened: () => Of | null = () => null,
): Of {
  const methods = new Map<string | symbol, Method>();
  const get = (_: object, name: string | symbol): unknown => {
    const now = Reflect.get(opened() ?? early, name) as unknown;
    // A promise that resolves with it asks whether it is one itself.
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
