/** What reached the receivers from which node, and why some of it came twice. */
import * as assert from 'uvu/assert';
import type { ReceivedMail } from '../../end-to-end/mailbox.ts';
import type { ReceivedPost } from '../../end-to-end/webhook-receiver.ts';
import type { Jobs } from './jobs.ts';
import type { Life } from './team.ts';

/** A message, its sender, and when it arrived. */
export interface Sending {
  id: string;
  from: string;
  at: number;
}

export interface Duplicate {
  id: string;
  /** How long before its sender was killed the first one arrived, in milliseconds. */
  beforeKill: number;
}

export function ofPosts(posts: readonly ReceivedPost[]): Sending[] {
  return posts.map(({ headers, from, at }) => ({ id: String(headers['webhook-id']), from, at }));
}

export function ofMails(mails: readonly ReceivedMail[]): Sending[] {
  return mails.map(({ message, from, at }) => ({ id: message.messageId ?? '', from, at }));
}

/**
 * What came more than once. Each time but the last, its sender must have been killed before it could write down that it
 * had sent it: before the next one sent it.
 */
export function explainedDuplicates(sendings: readonly Sending[], lives: readonly Life[]): Duplicate[] {
  const duplicates: Duplicate[] = [];
  for (const [id, same] of Map.groupBy(sendings, (sending) => sending.id)) {
    for (const [index, { from, at }] of same.slice(0, -1).entries()) {
      const killedAt = lives.find(({ address }) => address === from)?.killedAt ?? null;
      const next = same[index + 1] as Sending;
      assert.ok(
        killedAt !== null && killedAt <= next.at,
        `${id} was sent by ${from} and again by ${next.from}, though the first was not killed in between`,
      );
      duplicates.push({ id, beforeKill: killedAt - at });
    }
  }
  return duplicates;
}

/** Asserts that every decided alert was posted, and the mail to everybody sent. */
export async function verifyTold(jobs: Jobs, posts: readonly ReceivedPost[]): Promise<string[]> {
  const told = new Set(posts.map(({ headers }) => headers['webhook-id']));
  const alerts = await jobs.alerts();
  const untold = alerts.filter(({ id }) => !told.has(id));
  assert.equal(untold, [], `${untold.length} of ${alerts.length} alerts were not told`);
  const states = await jobs.query<{ state: string }>(
    'SELECT DISTINCT state FROM deliveries WHERE case_id = $1',
    jobs.caseId,
  );
  assert.equal(states, [{ state: 'delivered' }]);
  return alerts.map(({ id }) => id);
}

/** The jobs that were reported missing. */
export async function missingOf(jobs: Jobs): Promise<Set<string | null>> {
  const alerts = await jobs.alerts();
  return new Set(alerts.filter(({ type }) => type === 'snitch.missing').map(({ token }) => token));
}
