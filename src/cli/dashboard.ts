/** `snitch dashboard`: finds the server, then loads the dashboard, which no other command has to wait for. */
import { addConnectionOptions, type Register, withExamples } from './command/command.ts';
import { type ConnectionFlags, findConnection } from './command/connection.ts';
import { installedProgram } from './command/own-program.ts';

interface DashboardFlags extends ConnectionFlags {
  readonly?: boolean;
}

export const register: Register = (program, finish) => {
  const dashboard = program
    .command('dashboard')
    .description('watch the snitches on the terminal, live; without a terminal, print them once')
    .option('--readonly', 'disable every key that changes anything')
    .action(async (flags: DashboardFlags) => finish(await openDashboard(flags)));
  addConnectionOptions(dashboard);
  withExamples(
    dashboard,
    'snitch dashboard',
    'snitch dashboard --readonly',
    'snitch dashboard | grep failed',
  );
};

async function openDashboard(flags: DashboardFlags): Promise<number> {
  const { url, apiKey, timeoutMs } = findConnection(flags);
  const { runDashboard } = await import('../tui/run.ts');
  return runDashboard({
    url,
    apiKey,
    timeoutMs,
    readonly: flags.readonly === true,
    program: installedProgram(),
  });
}
