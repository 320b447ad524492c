/** Activity entries about silences: what each covers, and the note with it. */
import type { Act, Action } from '../../../core/activity/activity.ts';
import type { Silence, SilenceScope } from '../../../core/silences/silence.ts';
import { listed } from '../../../text/listed.ts';
import type { Transaction } from '../../transaction.ts';
import { namedBy } from './of-snitches.ts';
import { record } from './record.ts';

/** A silence of one snitch is listed under that snitch, any other under its own id. */
export async function recordSilence(
  tx: Transaction,
  act: Act,
  action: Action,
  { id, caseId, scope, note, time }: Silence,
): Promise<void> {
  const details = {
    ...(note === '' ? {} : { note }),
    ...(time.kind === 'once' ? { until: time.to } : {}),
  };
  const [token, ...others] = scope.kind === 'tokens' ? scope.tokens : [];
  const isOne = token !== undefined && others.length === 0;
  const subject = isOne ? await snitchOf(tx, token) : { id, name: await covered(tx, scope) };
  await record(tx, act, { caseId, action, subject, details });
}

async function snitchOf(tx: Transaction, token: string): Promise<{ id: string; name: string }> {
  return { id: token, name: (await namedBy(tx, token)).name };
}

/** How many snitches of a silence are named; the others are counted. */
const MOST_NAMED = 3;

async function covered(tx: Transaction, scope: SilenceScope): Promise<string> {
  switch (scope.kind) {
    case 'all':
      return 'everything';
    case 'tags':
      return `all tagged ${scope.tags.join(' or ')}`;
    case 'tokens': {
      const names: string[] = [];
      for (const token of scope.tokens.slice(0, MOST_NAMED))
        names.push((await namedBy(tx, token)).name || token);
      return listed(names, scope.tokens.length);
    }
  }
}
