/** The snitches of a case, slice by slice, with what decides whom their alerts go to. */
import type { RoutedSnitch } from '../../reach.ts';
import type { Reading } from '../../transaction.ts';
import { textsIn } from '../packed/texts.ts';

interface Row {
  id: number;
  name: string;
  tags: string;
  alert_email: string;
}

export async function listRoutedSnitches(
  tx: Reading,
  caseId: string,
  { after, limit }: { after: number; limit: number },
): Promise<RoutedSnitch[]> {
  const rows = await tx.all<Row>(
    'SELECT id, name, tags, alert_email FROM snitches WHERE case_id = +? AND id > +? ORDER BY id LIMIT +?',
    caseId,
    after,
    limit,
  );
  return rows.map(({ id, name, tags, alert_email }) => ({
    id,
    name,
    tags: textsIn(tags),
    alertEmail: textsIn(alert_email),
  }));
}
