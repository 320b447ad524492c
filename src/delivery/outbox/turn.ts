/**
 * What one target is sent in one turn: one alert, or everything that waited for it, for each case one by one or as a
 * digest.
 */
import { BLIND_NOTICE, REFUSAL_NOTICE } from '../../core/alert.ts';
import type { ClaimedDelivery, Recipient } from '../../core/delivery.ts';
import { type CaseShown, type DigestEntry, digestEntry } from '../messages/digest-entry.ts';
import type { Channel, Sending } from './channel.ts';
import type { Outcome } from './outcome.ts';
import { type OwnClaim, ownClaim } from './own-claim.ts';

/** More alerts than this for one target become one message (`decisions: Alerts`). */
export const DIGEST_OVER = 5;

/** One send: the deliveries in it share its outcome. */
export interface Message {
  deliveries: readonly OwnClaim[];
  /** Returns a function that sends it; for a digest, a promise, because composing one takes long. */
  make(channel: Channel, sending: Sending): Send | Promise<Send>;
}

/** Sends what was made. */
export type Send = () => Promise<Outcome>;

/** The end of the lease of the delivery that was claimed first. */
export function leaseEndOf({ deliveries: [first] }: Message): number {
  return first?.leaseEnds ?? Number.POSITIVE_INFINITY;
}

/**
 * Returns a function that sends a message. A message that cannot be composed fails like a send. If the channel is
 * replaced while a digest is being composed, the new one composes it again.
 */
export function madeBy(channel: () => Channel, message: Message, sending: Sending): Send | Promise<Send> {
  const maker = channel();
  const made = message.make(maker, sending);
  if (!(made instanceof Promise)) return made;
  return made.then(
    (send) => (channel() === maker ? send : madeBy(channel, message, sending)),
    (error) => () => Promise.reject(error),
  );
}

export interface Turn {
  /** How many deliveries it contains. */
  readonly size: number;
  messages(): Message[];
  /** Every delivery of it. */
  deliveries(): readonly OwnClaim[];
}

export function singleTurn(claim: ClaimedDelivery, leaseEnds: number): Turn {
  const message = singleMessage(claim, ownClaim(claim, leaseEnds));
  return { size: message.deliveries.length, messages: () => [message], deliveries: () => message.deliveries };
}

/** Everything that was claimed for one target, by case. */
export class GroupedTurn implements Turn {
  readonly #cases = new Map<string, CaseGroup>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(claim: ClaimedDelivery, leaseEnds: number): void {
    const { id } = claim.case;
    const group = this.#cases.get(id) ?? new CaseGroup(claim.case);
    this.#cases.set(id, group);
    group.add(claim, leaseEnds);
    this.#size += 1;
  }

  messages(): Message[] {
    return [...this.#cases.values()].flatMap((group) => group.messages());
  }

  deliveries(): readonly OwnClaim[] {
    return this.messages().flatMap(({ deliveries }) => deliveries);
  }
}

/**
 * The alerts of one case for one target. If there are many, only what a digest shows is kept in memory. A
 * notice about the service itself concerns no single snitch: it is a message of its own, and comes first.
 */
class CaseGroup {
  readonly #shown: CaseShown;
  readonly #notices: Message[] = [];
  readonly #own: OwnClaim[] = [];
  readonly #entries: DigestEntry[] = [];
  /** As it was when the last alert was claimed. */
  #recipient: Recipient | null = null;
  /** All of them, while they are few enough to be sent one by one. */
  #single: Message[] = [];

  constructor(shown: CaseShown) {
    this.#shown = shown;
  }

  add(claim: ClaimedDelivery, leaseEnds: number): void {
    const own = ownClaim(claim, leaseEnds);
    if (claim.alert.type === BLIND_NOTICE || claim.alert.type === REFUSAL_NOTICE) {
      this.#notices.push(singleMessage(claim, own));
      return;
    }
    this.#recipient = claim.recipient ?? null;
    this.#own.push(own);
    this.#entries.push(digestEntry(claim.alert, claim.id));
    if (this.#entries.length <= DIGEST_OVER) this.#single.push(singleMessage(claim, own));
    else this.#single = [];
  }

  messages(): Message[] {
    if (this.#entries.length <= DIGEST_OVER) return [...this.#notices, ...this.#single];
    return [...this.#notices, this.#digest()];
  }

  #digest(): Message {
    const digest = { entries: this.#entries, case: this.#shown, recipient: this.#recipient };
    return {
      deliveries: this.#own,
      make: async ({ grouping }, sending) => {
        if (grouping) return grouping.composeDigest(digest, sending);
        throw new Error('this channel sends no digests');
      },
    };
  }
}

function singleMessage(claim: ClaimedDelivery, own: OwnClaim): Message {
  return { deliveries: [own], make: (channel, sending) => () => channel.sendAlert(claim, sending) };
}
