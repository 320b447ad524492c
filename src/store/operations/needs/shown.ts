/** A held alert, as people see it. */
import { type Held, isDown } from '../../../core/needs/needs.ts';
import type { Hold, Status } from '../../../core/snitch.ts';
import type { Reading } from '../../transaction.ts';
import { heldIn } from './held-text.ts';

interface HolderRow {
  id: number;
  token: string;
  name: string;
  status: Status;
  needs: string | null;
}

/** In a chain of needs longer than this, the snitch this far down is named. */
const DEEPEST = 20;

/**
 * What holds the alert. If that is held itself, whatever is at the bottom of it: that is what somebody was told about,
 * and has to repair.
 */
export async function holdOf(
  tx: Reading,
  held: Held | null,
  { status, dueAt }: { status: Status; dueAt: number | null },
): Promise<Hold | null> {
  if (held === null || status !== 'failed') return null;
  let holder = await holderOf(tx, held.by);
  let holding = held;
  for (let depth = 0; holder && depth < DEEPEST; depth += 1) {
    const below: Held | null = heldIn(holder.needs);
    if (!isDown(holder) || below === null) break;
    const next: HolderRow | undefined = await holderOf(tx, below.by);
    if (!next || (!isDown(next) && !below.isSilenced)) break;
    [holder, holding] = [next, below];
  }
  const { isSilenced } = holding;
  const { isUnsure } = held;
  return {
    by: holder ? { token: holder.token, name: holder.name } : null,
    since: held.since,
    until: isUnsure || held.wellSince !== null ? dueAt : null,
    ...(isSilenced ? { isSilenced } : {}),
    ...(isUnsure ? { isUnsure } : {}),
  };
}

async function holderOf(tx: Reading, id: number): Promise<HolderRow | undefined> {
  return tx.get<HolderRow>(
    `SELECT n.id, n.token, n.name, s.status, s.needs FROM snitches AS n CROSS JOIN snitch_states AS s ON s.id = n.id
     WHERE n.id = +?`,
    id,
  );
}
