/** snitch(1): the commands from their definitions, and everything else that a user has to know. */
import { DEFAULT_URL } from '../src/cli/command/connection.ts';
import { EXIT } from '../src/cli/failure/exit-codes.ts';
import { INTERVALS } from '../src/core/interval.ts';
import { details, overview, sharedOptions } from './man-commands.ts';
import { environment } from './man-environment.ts';
import {
  bold,
  compact,
  entry,
  heading,
  italic,
  line,
  literal,
  paragraph,
  reference,
  section,
} from './man-roff.ts';

export function snitchPage(version: string): string {
  return [
    heading('SNITCH', 1, version, 'User Commands'),
    section('NAME', line('snitch \\- dead man\\(aqs switch for scheduled jobs')),
    section('SYNOPSIS', synopsis()),
    section('DESCRIPTION', ...DESCRIPTION.map(paragraph)),
    section('OPTIONS', compact(OPTIONS), sharedOptions()),
    section('COMMANDS', overview()),
    section('COMMANDS IN DETAIL', details()),
    section('INTERVALS', ...intervals()),
    section('SERVER AND KEY', ...connection()),
    section('ENVIRONMENT', environment()),
    section('FILES', ...FILES.map(([path, text]) => entry(bold(path), text))),
    section('SIGNALS', paragraph('These are for `snitch serve`.'), ...SIGNALS),
    section('EXIT STATUS', ...exitStatus()),
    section('EXAMPLES', ...examples()),
    section('SEE ALSO', line(SEE_ALSO.map(reference).join(', '))),
  ].join('');
}

function synopsis(): string {
  const lines = [
    `${bold('snitch')} ${italic('command')} [${italic('option')} ...] [${italic('argument')} ...]`,
    `${bold('snitch serve')} [${bold('--config')} ${italic('file')}]`,
    `${bold('snitch exec')} ${italic('token')} ${bold('--')} ${italic('job')} [${italic('argument')} ...]`,
    `${bold('snitch help')} [${italic('command')} | ${bold('--all')}]`,
  ];
  return lines.map(line).join('.br\n');
}

const DESCRIPTION = [
  `Cron jobs, backups and timers check in with one HTTP request. When one of them does not come in time, or reports an
  error, Snitch tells the team by email and webhook. The program is both the daemon (\`snitch serve\`) and the command
  line for everything that its API can do, with a dashboard on the terminal.`,
  `A check-in is answered only when it is safe on the disk, and every alert that was decided is delivered at least once.
  The daemon keeps everything in one SQLite database and needs no other service. It runs without any configuration;
  \`snitch.yaml\`(5) describes all that can be set.`,
  `A \`snitch\` is one job that is waited for. Commands name it by its token, or by its name as long as no other has it.
  It belongs to a \`case\`, the team, whose members get the emails and whose webhooks get the requests.`,
  `Data go to the standard output, messages to the standard error. On a terminal, tables fit its width and times are
  relative. Names and messages from outside cannot steer the terminal.`,
];

const OPTIONS = [
  entry(
    `${bold('-h')}, ${bold('--help')}`,
    'Print help: of the program, or after a command that of the command. `snitch help` does the same, and `snitch help --all` has a line for each command.',
  ),
  entry(`${bold('-V')}, ${bold('--version')}`, 'Print the version, as `snitch version` does.'),
];

function intervals(): string[] {
  const names = INTERVALS.map((name) => `\`${name}\``).join(', ');
  return [
    paragraph(`A snitch has one of these intervals: ${names}.`),
    paragraph(
      `\`snitch create\` and \`snitch edit\` also take \`15m\`, \`2h\`, \`1 day\` or \`nightly\` for them. Periods follow the
      calendar in the time zone of the case: a job that checks in during one period is next due by the end of the
      following one.`,
    ),
  ];
}

function connection(): string[] {
  return [
    paragraph(
      `On the host of the daemon, as the same user or as root, commands need no setting at all. Elsewhere the address of
      the server is the first that is found of:`,
    ),
    compact([
      entry('1.', '`--url`, or `--server` with the name of a server in `cli.yaml`', 4),
      entry('2.', '`SNITCH_URL` in the environment, else `SNITCH_SERVER` with such a name', 4),
      entry('3.', '`server`, which names the default, or else `url` in `~/.config/snitch/cli.yaml`', 4),
      entry('4.', '`url` in `credentials.yaml` in the data directory of a daemon on this host', 4),
      entry('5.', `\`${DEFAULT_URL}\``, 4),
    ]),
    paragraph(
      '`unix:/PATH` is the address of a daemon that listens on a Unix socket. The key is the first of:',
    ),
    compact([
      entry('1.', 'the file of `--api-key-file`', 4),
      entry('2.', '`SNITCH_API_KEY`, or the file of `SNITCH_API_KEY_FILE`', 4),
      entry(
        '3.',
        '`api_key`, or the file of `api_key_file`, in `cli.yaml` and then in `credentials.yaml`',
        4,
      ),
    ]),
    paragraph(
      `For commands of the administrator these are \`SNITCH_ADMIN_KEY\`, \`SNITCH_ADMIN_KEY_FILE\`, \`admin_key\` and
      \`admin_key_file\`. A key that stands in one of the two files is sent only to the server that the same file names. A key in the
      environment belongs to \`SNITCH_URL\`, and is not sent to one of several servers that is chosen by its name.`,
    ),
    paragraph(
      `\`snitch check-in\` and \`snitch exec\` need no key where they are given a token: it is the secret. Their check-ins go
      to \`--url\`, else to \`SNITCH_CHECK_IN_BASE\` or \`check_in_base\` in \`cli.yaml\`, else to \`/c\` below the address of
      the server.`,
    ),
  ];
}

const FILES = [
  ['/etc/snitch/config.yaml', 'The configuration of the daemon, see `snitch.yaml`(5).'],
  [
    '/usr/share/doc/snitch/docs',
    'Documents: operation, troubleshooting, alerts and webhooks, the API, and more.',
  ],
  ['/usr/share/doc/snitch/config.example.yaml', 'Every setting with its default and what it is for.'],
  [
    '/var/lib/snitch',
    'The data directory of the service; only root can look into it. A daemon that a user started has it in `~/.local/state/snitch`.',
  ],
  [
    '/var/lib/snitch/snitch.db',
    `The database. To copy it, use \`snitch backup\`: copying the file alone loses what is beside it. What it was before
    an upgrade or a restore stays in \`snitch.db.before-upgrade-from-N\` and \`snitch.db.before-restore-TIME\`.`,
  ],
  [
    '/var/lib/snitch/credentials.yaml',
    'The API keys that the first start made, and where the daemon listens. Commands on the host find both here.',
  ],
  [
    '~/.config/snitch/cli.yaml',
    'For commands: `url`, `api_key` or `api_key_file`, `admin_key` or `admin_key_file`, and `check_in_base`, each as one line `name: value`. Below `servers:` the same for each of several servers by its name, which `snitch server` writes; `server` names the default.',
  ],
  [
    '~/.local/state/snitch/spool',
    'Check-ins that no server took yet, and in `refused` those that none will take; `snitch spool` shows and sends them.',
  ],
  [
    '/etc/credstore/snitch.smtp-password, /etc/credstore/snitch.admin-key, /etc/credstore/snitch.store-password',
    'Secrets of the service, see `snitch.yaml`(5).',
  ],
  ['/etc/snitch/discover-ignore', 'Names of jobs that `snitch discover` leaves alone, one a line.'],
  ['/var/backups/snitch', 'What crontabs were before `snitch discover --write-crontabs` changed them.'],
] as const;

const SIGNALS = [
  entry(
    bold('SIGHUP'),
    `Read the configuration again. One that is wrong changes nothing, and the log says what is wrong with it.
    \`systemctl reload snitch\` checks it before.`,
  ),
  entry(
    `${bold('SIGTERM')}, ${bold('SIGINT')}`,
    `Answer what is under way and stop, within 10 seconds and with nothing lost. A second one ends the daemon at once.`,
  ),
];

/** One for each exit code; the types make sure of it. */
const MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'All went well.',
  error: 'Something went wrong; the standard error says what.',
  usage: 'The command line cannot be understood.',
  notFound: 'There is no such snitch, case, webhook, delivery or key.',
  authentication: 'There is no key, or one that the server refuses.',
  unreachable: 'No server answers, or it cannot answer now.',
  locked: '`snitch serve`: another daemon holds the data directory.',
};

function exitStatus(): string[] {
  const codes = Object.entries(MEANINGS).map(([name, text]) =>
    entry(bold(String(EXIT[name as keyof typeof EXIT])), text, 6),
  );
  return [
    compact(codes),
    paragraph(
      `\`snitch exec\` has the exit status of its job, whatever became of the check-ins. \`snitch diff --exit-code\` has 1
      where something would change, and \`snitch doctor\` where something is broken.`,
    ),
  ];
}

function examples(): string[] {
  return [
    paragraph('Begin: make a snitch, check in, and look.'),
    literal([
      'snitch create nightly-backup --interval daily',
      'snitch check-in nightly-backup -m "1.2 GB in 3 minutes"',
      'snitch list',
    ]),
    paragraph('A job that needs nothing but curl, in a crontab:'),
    literal(['0 3 * * * /opt/backup.sh && curl -fsS --retry 3 https://HOST/c/TOKEN']),
    paragraph(
      'The same with duration, exit status and the end of the output, also where the server is down meanwhile:',
    ),
    literal(['0 3 * * * /usr/bin/snitch exec TOKEN -- /opt/backup.sh']),
    paragraph('Tell somebody, and see whether that works:'),
    literal(['snitch member add ops@example.com', 'snitch doctor --send ops@example.com']),
    paragraph('Ask as root on the host of the service, and follow its log:'),
    literal(['snitch list --status failed', 'journalctl -u snitch -f']),
  ];
}

const SEE_ALSO = [
  'snitch.yaml(5)',
  'crontab(5)',
  'curl(1)',
  'journalctl(1)',
  'systemctl(1)',
  'systemd.exec(5)',
  'systemd.socket(5)',
  'systemd.timer(5)',
];
