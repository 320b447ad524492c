/** The step of `snitch setup` in which a snitch is made, with the line for its crontab. */
import type { Client } from '../../api/client.ts';
import { timesOfInterval } from '../../core/snippets/cron-times.ts';
import { programForCron } from '../command/own-program.ts';
import { tell } from '../command/prompt.ts';
import { wrapCommand } from '../discover/crontab/wrap.ts';
import { describeFailure, Failure } from '../failure/failure.ts';
import { intervalOf } from '../output/interval-words.ts';
import { say } from '../output/output.ts';
import { print } from '../output/pieces.ts';
import { ask } from './dialogue.ts';

export async function makeSnitch(client: Client): Promise<void> {
  const isTaken = async (given: string) =>
    (await client.listSnitches([], given)).some(({ name }) => name === given);
  const name = await ask({
    text: 'Name of the job',
    otherwise: (await isTaken('nightly-backup')) ? '' : 'nightly-backup',
    help: 'What alerts call it. One snitch watches one job.',
    problem: async (given) => {
      if (given === '') return 'This is required; type skip to leave the step.';
      return (await isTaken(given)) ? 'There is one of this name: choose another, or skip.' : null;
    },
  });
  const when = await ask({
    text: 'How often it runs',
    otherwise: 'daily',
    help: 'hourly, daily, weekly, monthly, 15m, 2h, or the time of its crontab line, such as 0 3 * * 1-5.',
    problem: (given) => faultOf(client, given),
  });
  const command = await ask({
    text: 'Command of the job',
    otherwise: '/usr/local/bin/backup',
    help: 'As it is in the crontab now.',
  });
  const due = isCron(when) ? { schedule: { cron: when } } : { interval: intervalFor(when) ?? 'daily' };
  // Refused if somebody else has created one of this name since the names were read.
  const [made] = await client.importSnitches([{ name, ...due }], null, []);
  if (!made) throw new Failure('the server does not say which snitch it made: see `snitch list`');
  const { token, check_in_url: url } = made;
  const times = isCron(when) ? when : timesOfInterval(due.interval ?? '');
  tell(`${name} is there. The line for the crontab (crontab -e):`);
  const run = command.replace(/(?<!\\)%/g, '\\%');
  say('');
  // Its percent signs are escaped already, and those of the program too.
  const job = { command: run, shell: '/bin/sh', isLiteral: true };
  print([`${times} ${wrapCommand(job, `${programForCron()} exec ${token} --`)}\n`]);
  say('');
  tell('On a host without this program:');
  say('');
  print([`${times} ${run} && curl -fsS -m 10 --retry 5 ${url}\n`]);
  say('');
  tell('Until its first check-in it is pending, and raises no alerts.');
}

async function faultOf(client: Client, given: string): Promise<string | null> {
  if (!isCron(given)) return intervalFor(given) === null ? 'Write daily, hourly, 15m or 0 3 * * *.' : null;
  try {
    await client.checkSchedule({ schedule: { cron: given } });
    return null;
  } catch (error) {
    return `The server refuses it: ${describeFailure(error).lines.join('; ')}.`;
  }
}

function isCron(text: string): boolean {
  return text.startsWith('@') || text.trim().split(/\s+/).length === 5;
}

function intervalFor(text: string): string | null {
  try {
    return intervalOf(text);
  } catch {
    return null;
  }
}
