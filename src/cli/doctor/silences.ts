/** How `snitch doctor` finds jobs that can die without anybody hearing of it, because silences cover all of their runs. */
import { ApiError, type Client } from '../../api/client.ts';
import { findUnheard, type Unheard, unheardInWords } from '../snitches/unheard.ts';
import { type Finding, ok, warning } from './findings.ts';

const REMEDY =
  '`snitch silences` lists them: end one with `snitch silence --end ID`, and make one that leaves out some runs';

/** Nothing if the case has no recurring silence. */
export async function checkSilences(client: Client): Promise<Finding[]> {
  const found = await unheardOf(client);
  if (found === null) return [];
  const { unheard, more } = found;
  if (unheard.length > 0) return [warning('silences', unheardInWords(unheard), REMEDY)];
  if (more) return [ok('silences', 'no recurring silence covers all runs of a job, as far as was looked')];
  return [ok('silences', 'no recurring silence covers all runs of a job')];
}

/** Null if there is nothing to find, or the server is too old to have silences. */
async function unheardOf(client: Client): Promise<Unheard | null> {
  try {
    const recurring = (await client.listSilences()).filter(({ schedule }) => schedule !== null);
    return recurring.length === 0 ? null : await findUnheard(client, recurring);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
