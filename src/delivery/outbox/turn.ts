/** What one recipient is sent in one turn: a message for each alert, or one digest for many. */

import { BLIND_NOTICE } from '../../core/alert.ts';
import type { Alert, ClaimedDelivery } from '../../store/store.ts';
import { DIGEST_OVER, digestMessage } from '../messages/digest.ts';
import { type DigestEntry, digestEntry } from '../messages/digest-entry.ts';
import { alertMessage, type CaseShown, type EmailMessage } from '../messages/email-message.ts';
import { type Held, hold } from './settler.ts';

export interface PlannedMessage {
  deliveries: Held[];
  compose(domain: string): EmailMessage;
}

/**
 * The alerts of one case for one recipient. Of many only what a digest shows is kept in memory. A notice that the
 * service was blind concerns no single snitch: it is a message of its own, and comes first.
 */
class Group {
  readonly #shown: CaseShown;
  readonly #held: Held[] = [];
  readonly #entries: DigestEntry[] = [];
  #claims: ClaimedDelivery[] = [];
  readonly #notices: { held: Held; alert: Alert }[] = [];

  constructor(shown: CaseShown) {
    this.#shown = shown;
  }

  add(claim: ClaimedDelivery, leaseEnds: number): void {
    const held = hold(claim, leaseEnds);
    if (claim.alert.type === BLIND_NOTICE) {
      this.#notices.push({ held, alert: claim.alert });
      return;
    }
    this.#held.push(held);
    this.#entries.push(digestEntry(claim.alert, claim.id));
    if (this.#entries.length <= DIGEST_OVER) this.#claims.push(claim);
    else this.#claims = [];
  }

  plan(recipient: string): PlannedMessage[] {
    const notices = this.#notices.map(({ held, alert }) => ({
      deliveries: [held],
      compose: (domain: string) => alertMessage(alert, this.#shown, recipient, domain),
    }));
    return [...notices, ...this.#alerts(recipient)];
  }

  #alerts(recipient: string): PlannedMessage[] {
    if (this.#entries.length > DIGEST_OVER) {
      const compose = (domain: string) => digestMessage(this.#entries, this.#shown, recipient, domain);
      return [{ deliveries: this.#held, compose }];
    }
    return this.#claims.map(({ alert, output = null }, index) => ({
      deliveries: this.#held.slice(index, index + 1),
      compose: (domain) => alertMessage(alert, this.#shown, recipient, domain, output),
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
