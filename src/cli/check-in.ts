/** `snitch check-in`: what a job calls when it is done. */
import { sendCheckIn } from '../api/check-in.ts';
import { ApiError, createClient } from '../api/client.ts';
import { looksLikeAddress, splitAddress } from './check-in-address.ts';
import { addConnectionOptions, type Register, withCrontab, withExamples } from './command.ts';
import { type ConnectionFlags, findCheckInAddress, findConnection } from './connection.ts';
import { AuthenticationError, NotFoundError } from './failure.ts';
import { say } from './output.ts';
import { looksLikeToken, resolveSnitch } from './resolve.ts';

interface CheckInFlags extends ConnectionFlags {
  message?: string;
  status?: string;
  quiet?: boolean;
}

export const register: Register = (program) => {
  const checkIn = program
    .command('check-in')
    .description('check in: say that the job ran, or how it failed')
    .argument('<snitch>', 'its token or whole check-in address, which need no API key; or its name')
    .option('-m, --message <text>', 'a word about the run; 256 characters are kept')
    .option('-s, --status <exit>', 'exit status of the job: 0 is healthy, anything else an error')
    .option('-q, --quiet', 'no message');
  addConnectionOptions(checkIn).action((name: string, flags: CheckInFlags) => checkInOnce(name, flags));
  withExamples(
    checkIn,
    'snitch check-in nightly-backup',
    'backup.sh; snitch check-in TOKEN -s $? -m "backup of $(hostname)"',
  );
  withCrontab(checkIn, (snitch) => [`0 3 * * * /opt/backup.sh; ${snitch} check-in TOKEN -s $?`]);
};

async function checkInOnce(given: string, flags: CheckInFlags): Promise<void> {
  const { timeoutMs, ...known } = findCheckInAddress(flags);
  const { base, token } = looksLikeAddress(given)
    ? splitAddress(given)
    : { ...known, token: await tokenOf(given, flags) };
  try {
    await sendCheckIn(
      { base, token, timeoutMs },
      {
        ...(flags.message === undefined ? {} : { message: flags.message }),
        ...(flags.status === undefined ? {} : { exitStatus: flags.status }),
      },
    );
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    throw new NotFoundError(
      `no snitch has the token "${token}" at ${base}\n\`snitch list\` shows those that there are`,
    );
  }
  if (!flags.quiet && process.stderr.isTTY) say('checked in');
}

/** A job on another machine has the token and no key: then what was given is taken for the token. */
async function tokenOf(given: string, flags: CheckInFlags): Promise<string> {
  if (looksLikeToken(given)) return given;
  try {
    return (await resolveSnitch(createClient(findConnection(flags)), given)).token;
  } catch (error) {
    if (error instanceof AuthenticationError) return given;
    throw error;
  }
}
