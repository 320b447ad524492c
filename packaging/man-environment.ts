/** The environment variables of snitch(1). A test compares them with what the sources read. */
import { bold, entry, paragraph, subsection } from './man-roff.ts';

export function environment(): string {
  return [
    subsection('Commands', ...list(OF_COMMANDS)),
    subsection(
      'The daemon',
      paragraph(
        `Every setting can be a variable, which wins over the file: \`rate_limit.per_minute\` is
        \`SNITCH_RATE_LIMIT_PER_MINUTE\`. \`snitch.yaml\`(5) names each. An empty variable counts as absent.`,
      ),
      ...list(OF_DAEMON),
    ),
  ].join('');
}

type Variables = readonly (readonly [names: readonly string[], text: string])[];

function list(variables: Variables): string[] {
  return variables.map(([names, text]) => entry(names.map(bold).join(', '), text));
}

const OF_COMMANDS: Variables = [
  [['SNITCH_URL'], 'The address of the server: `http://HOST:PORT`, `https://HOST` or `unix:/PATH`.'],
  [['SNITCH_SERVER'], 'The name of a server in `cli.yaml`, where `SNITCH_URL` is not set.'],
  [['SNITCH_API_KEY_FILE', 'SNITCH_API_KEY'], 'A file that holds the API key of a case, or the key itself.'],
  [['SNITCH_ADMIN_KEY_FILE', 'SNITCH_ADMIN_KEY'], 'The same for the key of the administrator.'],
  [
    ['SNITCH_CHECK_IN_BASE'],
    'What check-in addresses begin with, if not with `/c` below the address of the server.',
  ],
  [
    ['SNITCH_TOKEN_FILE', 'SNITCH_TOKEN'],
    'For `snitch exec` and `snitch check-in` without a snitch in their arguments: a file that holds the token, or the token itself. `exec` passes neither it nor keys on to the job.',
  ],
  [['SNITCH_SPOOL_DIR'], 'Where check-ins wait that no server took.'],
  [['SNITCH_FROM_KEY_FILE', 'SNITCH_FROM_KEY'], 'For `snitch import`: the API key of the other service.'],
  [
    ['SNITCH_DATA_DIR'],
    `The data directory of the daemon on this host, in which \`credentials.yaml\` is looked for; without it the
    \`data_dir\` of the daemon's configuration, and then the usual places.`,
  ],
  [
    ['XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'HOME'],
    `Where \`snitch/cli.yaml\` is, if not in \`~/.config\`; where data and spool are, if not in \`~/.local/state\`. A
    relative path is ignored, and refused by the daemon.`,
  ],
  [
    ['SSL_CERT_FILE', 'SSL_CERT_DIR'],
    'Where the certificate authorities are that are trusted beside those that the program brings, if not in `/etc/ssl`.',
  ],
  [['NO_COLOR', 'TERM'], 'Without colour if `NO_COLOR` is set, or if `TERM` is `dumb`.'],
  [
    ['COLUMNS'],
    'The width of tables where the output is no terminal; without it they are as wide as their content.',
  ],
  [['LC_ALL', 'LC_CTYPE', 'LANG'], 'Whether the dashboard may use characters beyond ASCII.'],
  [['STY'], 'Set by `screen`(1): what the dashboard copies passes through it to the terminal.'],
];

const OF_DAEMON: Variables = [
  [
    ['SNITCH_CONFIG'],
    'The configuration file, where `--config` names none; commands look there for `data_dir`.',
  ],
  [
    ['CONFIGURATION_DIRECTORY', 'STATE_DIRECTORY', 'RUNTIME_DIRECTORY', 'CREDENTIALS_DIRECTORY'],
    `Set by \`systemd.exec\`(5): where \`config.yaml\` is, where data and spool are unless something else is set, where
    the program may put a file that it loads, and where secrets are.`,
  ],
  [
    ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID', 'LISTEN_FDS', 'LISTEN_PID', 'JOURNAL_STREAM'],
    `Set by systemd: whom to tell that the daemon is ready and lives (\`sd_notify\`(3)), how often, the socket that it is
    to serve, and whether its log goes to the journal, where lines have priorities.`,
  ],
  [
    ['XDG_RUNTIME_DIR', 'TMPDIR'],
    'Where the program may put the file that it loads SQLite from, where the kernel has no files in memory.',
  ],
];
