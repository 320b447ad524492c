/** What one recipient is sent in one turn: a message for each alert, or one digest for many. */
import type { ClaimedDelivery } from '../store/store.ts';
import { DIGEST_OVER, type DigestEntry, digestEntry, digestMessage } from './digest.ts';
import { alertMessage, type CaseShown, type EmailMessage } from './email-message.ts';
import { type Held, hold } from './settler.ts';

export interface PlannedMessage {
  deliveries: Held[];
  compose(domain: string): EmailMessage;
}

/** The alerts of one case for one recipient. Of many only what a digest shows is kept in memory. */
class Group {
  readonly #shown: CaseShown;
  readonly #held: Held[] = [];
  readonly #entries: DigestEntry[] = [];
  #claims: ClaimedDelivery[] = [];

  constructor(shown: CaseShown) {
    this.#shown = shown;
  }

  add(claim: ClaimedDelivery, leaseEnds: number): void {
    this.#held.push(hold(claim, leaseEnds));
    this.#entries.push(digestEntry(claim.alert));
    if (this.#entries.length <= DIGEST_OVER) this.#claims.push(claim);
    else this.#claims = [];
  }

  plan(recipient: string): PlannedMessage[] {
    if (this.#entries.length > DIGEST_OVER) {
      const compose = (domain: string) => digestMessage(this.#entries, this.#shown, recipient, domain);
      return [{ deliveries: this.#held, compose }];
    }
    return this.#claims.map(({ alert }, index) => ({
      deliveries: this.#held.slice(index, index + 1),
      compose: (domain) => alertMessage(alert, this.#shown, recipient, domain),
    }));
  }
}

/** Everything that was claimed for one recipient, by case. */
export class Turn {
  readonly recipient: string;
  readonly #groups = new Map<string, Group>();

  constructor(recipient: string) {
    this.recipient = recipient;
  }

  add(claim: ClaimedDelivery, leaseEnds: number): void {
    const shown = claim.case;
    const group = this.#groups.get(shown.id) ?? new Group(shown);
    this.#groups.set(shown.id, group);
    group.add(claim, leaseEnds);
  }

  plan(): PlannedMessage[] {
    return [...this.#groups.values()].flatMap((group) => group.plan(this.recipient));
  }
}
