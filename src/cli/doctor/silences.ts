/** How `snitch doctor` finds jobs that can die without anybody hearing of it, because silences cover all of their runs. */
import { ApiError, type Client } from '../../api/client.ts';
import type { WireSilence } from '../../api/wire-kept-back.ts';
import { describeFailure } from '../failure/failure.ts';
import { findUnheard, type Unheard, unheardInWords } from '../snitches/unheard.ts';
import { type Finding, ok, warning } from './findings.ts';

const REMEDY =
  '`snitch silences` lists them: end one with `snitch silence --end ID`, and make one that leaves out some runs';

const AGAIN = 'run `snitch doctor` again in a minute';

/** Nothing if the case has no recurring silence, or the server is too old to have any. */
export async function checkSilences(client: Client): Promise<Finding[]> {
  try {
    const recurring = (await silencesOf(client)).filter(({ schedule }) => schedule !== null);
    return recurring.length === 0 ? [] : [told(await findUnheard(client, recurring))];
  } catch (error) {
    // Each job is asked about, which a limit on requests or a deletion may end: the other findings stay.
    const { lines } = describeFailure(error);
    return [
      warning('silences', `which jobs they leave unheard was not found out: ${lines.join(' ')}`, AGAIN),
    ];
  }
}

function told({ unheard, more }: Unheard): Finding {
  if (unheard.length > 0) return warning('silences', unheardInWords(unheard), REMEDY);
  const none = 'no recurring silence covers all runs of a job';
  return ok('silences', more ? `${none}, as far as was looked` : none);
}

async function silencesOf(client: Client): Promise<WireSilence[]> {
  try {
    return await client.listSilences();
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}
