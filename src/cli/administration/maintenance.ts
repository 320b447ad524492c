/** `snitch maintenance`: the API answers 503, while check-ins and alerts go on. */
import { Argument } from 'commander';
import { addClientOptions, type ClientFlags, type Register, withExamples } from '../command/command.ts';
import { connect } from '../command/connection.ts';
import { Output } from '../output/output.ts';

export const register: Register = (program) => {
  const maintenance = program
    .command('maintenance')
    .description('close the API for a while, or say whether it is closed; check-ins and alerts go on (admin)')
    .addArgument(new Argument('[state]', 'leave it out to ask').choices(['on', 'off']))
    .action((wanted: string | undefined, flags: ClientFlags) => maintain(wanted, flags));
  withExamples(addClientOptions(maintenance), 'snitch maintenance on', 'snitch maintenance off');
};

async function maintain(wanted: string | undefined, flags: ClientFlags): Promise<void> {
  const admin = connect(flags, 'admin');
  const answer =
    wanted === undefined ? await admin.getMaintenance() : await admin.setMaintenance(wanted === 'on');
  const output = new Output(flags);
  if (output.format === 'json') output.json(answer);
  else output.lines([answer.enabled ? 'on' : 'off']);
  if (wanted === 'on')
    output.done('the API answers 503 until `snitch maintenance off`; check-ins and alerts go on');
}
