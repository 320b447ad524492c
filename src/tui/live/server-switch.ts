/** Leads from one server to another, as the keys ask for it. */
import type { Effect, Message } from '../model/state.ts';

export interface ServerParts {
  /** Asks all servers how they are, and shows another one; absent where there is only one. */
  servers?: { ask(): void; show(name: string): void };
}

type Say = (text: string, tone: Message['tone']) => void;

type ToServers = Extract<Effect, { do: 'ask-servers' | 'switch-server' }>;

/** From another server nobody could be told how it went at this one, and what failed would not be marked again. */
export function toServers({ servers }: ServerParts, effect: ToServers, isBusy: boolean, say: Say): void {
  if (effect.do === 'ask-servers') servers?.ask();
  else if (isBusy) say('Something is still being done here: switch when it is finished.', 'bad');
  else servers?.show(effect.name);
}
