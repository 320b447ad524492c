/** Holds the state, notifies those who draw it, and passes on the effects of events. */
import type { Effect, Event, State } from '../model/state.ts';
import { step } from '../model/step.ts';

export interface Store {
  get(): State;
  dispatch(event: Event): void;
  /** @returns a function that ends the subscription */
  subscribe(listener: () => void): () => void;
  /** Sets who carries out effects; there is only one. */
  onEffect(run: (effect: Effect) => void): void;
}

export function createStore(initial: State): Store {
  let state = initial;
  let run: (effect: Effect) => void = () => {};
  const listeners = new Set<() => void>();
  return {
    get: () => state,
    dispatch: (event) => {
      const next = step(state, event);
      const isChanged = next.state !== state;
      state = next.state;
      if (isChanged) for (const listener of listeners) listener();
      for (const effect of next.effects) run(effect);
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onEffect: (runner) => {
      run = runner;
    },
  };
}
