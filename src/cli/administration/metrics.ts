/** `snitch metrics`: the metrics of each snitch, for anything that reads Prometheus text from a file. */
import { printableLines } from '../../text/printable.ts';
import { addConnectionOptions, collect, type Register, withExamples } from '../command/command.ts';
import { type ConnectionFlags, connect } from '../command/connection.ts';
import { say } from '../output/output.ts';
import { print } from '../output/pieces.ts';

interface MetricsFlags extends ConnectionFlags {
  tag?: string[];
}

export const register: Register = (program) => {
  const metrics = program
    .command('metrics')
    .description('print the status, deadline and last values of each snitch in the text format of Prometheus')
    .option(
      '-t, --tag <tag>',
      'only those with this tag; repeat it for several, all of which must be there',
      collect,
    )
    .action((flags: MetricsFlags) => printMetrics(flags));
  withExamples(
    addConnectionOptions(metrics),
    'snitch metrics',
    'snitch metrics --tag production > jobs.prom',
  );
};

async function printMetrics(flags: MetricsFlags): Promise<void> {
  const tags = flags.tag ?? [];
  const text = await connect(flags).metrics(tags);
  // A program gets the text unchanged. On a terminal, a name must not act as a control sequence.
  print([process.stdout.isTTY ? printableLines(text).join('\n') : text]);
  if (tags.length > 0 && !text.includes('\nsnitch_status{')) {
    const asked = tags.map((tag) => `"${tag}"`).join(' and ');
    say(`no snitch has the tag ${asked}: \`snitch list\` lists them`);
  }
}
