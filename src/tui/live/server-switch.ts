/** Switches from one server to another when the user asks. */
import type { Effect, Message } from '../model/state.ts';

export interface ServerParts {
  /** Asks all servers how they are, and shows another one; absent if there is only one. */
  servers?: { ask(): void; show(name: string): void };
}

type Say = (text: string, tone: Message['tone']) => void;

type ToServers = Extract<Effect, { do: 'ask-servers' | 'switch-server' }>;

/**
 * Stays while an action is under way here: once another server is shown, its result could not be reported, and the
 * snitches for which it failed would not be marked again.
 */
export function toServers({ servers }: ServerParts, effect: ToServers, isBusy: boolean, say: Say): void {
  if (effect.do === 'ask-servers') servers?.ask();
  else if (isBusy) say('Something is still being done here: switch when it is finished.', 'bad');
  else servers?.show(effect.name);
}
