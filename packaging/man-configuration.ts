/** snitch.yaml(5): the settings, and how the daemon finds its configuration. */
import { FIXED_SETTINGS } from '../src/daemon/reload.ts';
import {
  bold,
  compact,
  entry,
  escaped,
  heading,
  line,
  literal,
  paragraph,
  reference,
  section,
} from './man-roff.ts';
import { settingsText } from './man-settings.ts';

/** The files that this page is made from, as text. */
export interface Sources {
  /** config.example.yaml */
  example: string;
  /** snitch.service */
  service: string;
  /** snitch.socket */
  socket: string;
}

export function configurationPage(version: string, { example, service, socket }: Sources): string {
  return [
    heading('SNITCH.YAML', 5, version, 'File Formats Manual'),
    section('NAME', line('snitch.yaml \\- configuration of the Snitch daemon')),
    section('SYNOPSIS', line(bold('/etc/snitch/config.yaml'))),
    section('DESCRIPTION', ...description()),
    section('SETTINGS', settingsText(example)),
    section('CREDENTIALS', ...credentials(service)),
    section('THE SOCKET', ...theSocket(socket)),
    section('RELOADING', ...reloading()),
    section('EXAMPLES', ...EXAMPLES),
    section('SEE ALSO', line(SEE_ALSO.map(reference).join(', '))),
  ].join('');
}

function description(): string[] {
  return [
    paragraph(
      'The configuration of `snitch serve` is YAML, and all of it is optional. The file is the first of:',
    ),
    compact([
      entry('1.', 'the file of `--config`', 4),
      entry('2.', 'the file that `SNITCH_CONFIG` names', 4),
      entry('3.', '`config.yaml` in `$CONFIGURATION_DIRECTORY`, which systemd sets', 4),
      entry('4.', '`/etc/snitch/config.yaml`', 4),
    ]),
    paragraph('A file of the first two must exist. A name with nothing behind it means the default.'),
    paragraph(
      `Each setting is also an environment variable, which wins over the file: \`rate_limit.per_minute\` is
      \`SNITCH_RATE_LIMIT_PER_MINUTE\`. There the items of a list
      are separated by commas, \`commands\` is JSON, and an empty variable counts as absent.`,
    ),
    paragraph(
      `The daemon does not start with a configuration that is wrong. \`snitch config check\` lists everything that is wrong
      with it, by line and name; \`snitch config show\` prints what is in force, passwords masked.`,
    ),
    paragraph(
      `A name with a dot stands in a section: \`log.level\` is \`level\`, indented, in the section \`log\`, as under
      EXAMPLES.`,
    ),
  ];
}

/** What each credential of the unit is, and which setting it replaces. */
const CREDENTIALS: Readonly<Record<string, string>> = {
  'smtp-password': `The password of the mail server, for an \`smtp.url\` with a user and none. Stands in for
    \`smtp.password_file\`.`,
  'admin-key': `The administrator's API key, where it should be one that you made. Stands in for \`admin_key_from\`.`,
  'store-password': `The password of the database, for a \`store.url\` without one. Stands in for
    \`store.password_file\`; \`snitch doctor\` finds it there too.`,
};

/** @throws Error if the unit has credentials that are not explained here, or lacks one that is */
function credentials(service: string): string[] {
  const files = new Map(
    [...service.matchAll(/^LoadCredential=([^:\n]+):(.+)$/gm)].map(([, name = '', file = '']) => [
      name,
      file,
    ]),
  );
  if ([...files.keys()].sort().join() !== Object.keys(CREDENTIALS).sort().join()) {
    throw new Error(`snitch.service loads the credentials ${[...files.keys()].join(', ')}`);
  }
  return [
    paragraph(
      `Secrets need not stand in the file. \`snitch.service\` takes them from these files, where they exist; each holds the
      secret in its one line and should be readable by root alone. The daemon has them as credentials of
      \`systemd.exec\`(5), under the names in parentheses.`,
    ),
    ...[...files].map(([name, file]) =>
      entry(`${bold(`/etc/credstore/${file}`)} (${escaped(name)})`, CREDENTIALS[name] ?? ''),
    ),
    paragraph(
      `A file that the setting names comes before the credential. systemd hands credentials over when it starts the
      service: a changed one counts after \`systemctl restart snitch\`, where a changed \`smtp.password_file\` needs only a
      reload.`,
    ),
  ];
}

function theSocket(socket: string): string[] {
  const [, address] = /^ListenStream=(\S+)$/m.exec(socket) ?? [];
  if (address === undefined) throw new Error('snitch.socket has no ListenStream');
  return [
    paragraph(
      `In the service, systemd opens the socket (\`snitch.socket\`, at \`${address}\`) and holds connections while the
      daemon is restarted. What counts is \`ListenStream=\` there, and \`listen\` is passed over. To change it, run
      \`systemctl edit snitch.socket\` and write:`,
    ),
    literal(['[Socket]', 'ListenStream=', 'ListenStream=0.0.0.0:7676']),
    paragraph(
      `The empty line takes the old address away: the daemon serves one socket. Then run \`systemctl restart snitch.socket
      snitch.service\`, and set \`base_url\`, because the check-in addresses would name the host as it calls itself.`,
    ),
  ];
}

function reloading(): string[] {
  const fixed = Object.keys(FIXED_SETTINGS).map((name) => `\`${name}\``);
  const last = fixed.pop();
  return [
    paragraph(
      `At \`SIGHUP\`, which \`systemctl reload snitch\` sends after a check, the daemon reads the file again. One that is
      wrong changes nothing. All settings change at once but for ${fixed.join(', ')} and ${last}: for these the log says
      that a restart is needed.`,
    ),
  ];
}

const EXAMPLES = [
  paragraph(
    'Behind a reverse proxy on the same host, with email, its password in `/etc/credstore/snitch.smtp-password`:',
  ),
  literal([
    'base_url: https://snitch.example.com',
    'trusted_proxies: ["127.0.0.1"]',
    'smtp:',
    '  url: smtp://snitch@mail.example.com:587',
    '  from: Snitch <snitch@example.com>',
  ]),
  paragraph('Less in the log, and webhooks only to public addresses:'),
  literal(['log:', '  level: warn', 'webhooks:', '  allow_private: false']),
];

const SEE_ALSO = ['snitch(1)', 'systemctl(1)', 'systemd.exec(5)', 'systemd.socket(5)'];
