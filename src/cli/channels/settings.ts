/** The settings of a channel from what was typed: an address, `--set name=value`, and secrets from files or prompts. */
import type { ChannelKind } from '../../core/channel.ts';
import { CHANNEL_SETTINGS, type SettingRule } from '../../core/channels/settings.ts';
import { askUntilRight, canAsk, type Question } from '../command/prompt.ts';
import { secretIn } from '../command/secret.ts';
import { Failure, UsageError } from '../failure/failure.ts';

export interface SettingFlags {
  set?: string[];
  secretFile?: string[];
}

type Settings = Record<string, string | null>;

/** Takes the settings given, and asks for missing ones if there is a terminal. */
export async function newSettings(
  kind: ChannelKind,
  address: string | undefined,
  flags: SettingFlags,
): Promise<Settings> {
  const settings = { ...fromAddress(kind, address), ...givenSettings(kind, flags) };
  for (const [name, rule] of Object.entries(CHANNEL_SETTINGS[kind])) {
    if (settings[name] !== undefined) continue;
    if (rule.optional && !rule.secret) continue;
    const answer = await asked(name, rule);
    if (answer !== null) settings[name] = answer;
  }
  return settings;
}

/** `--set` and `--secret-file`, checked as far as the command line can. An empty value removes what is optional. */
export function givenSettings(kind: ChannelKind, { set = [], secretFile = [] }: SettingFlags): Settings {
  const rules = CHANNEL_SETTINGS[kind];
  const settings: Settings = {};
  for (const pair of set) {
    const [, name = '', value = ''] = /^([a-z_]+)=(.*)$/s.exec(pair) ?? [];
    const rule = ruleOf(kind, name, '--set');
    if (rule.secret && value !== '') throw new UsageError(`${name} is a secret: ${HOW}`);
    settings[name] = value === '' ? null : value;
  }
  for (const given of secretFile) {
    const [, named, rest] = /^([a-z_]+)=(.+)$/s.exec(given) ?? [];
    const isNamed = named !== undefined && Object.hasOwn(rules, named);
    const name = isNamed ? named : onlySecretOf(kind);
    ruleOf(kind, name, '--secret-file');
    settings[name] = secretIn(isNamed && rest !== undefined ? rest : given);
  }
  return settings;
}

const HOW =
  'on the command line, every user of this host can see it. Leave it out to be asked for it, or use --secret-file';

function ruleOf(kind: ChannelKind, name: string, option: string): SettingRule {
  const rules = CHANNEL_SETTINGS[kind];
  const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
  if (rule) return rule;
  throw new UsageError(
    `${option}: ${kind} has the settings ${Object.keys(rules).join(', ')}: write NAME=VALUE`,
  );
}

function onlySecretOf(kind: ChannelKind): string {
  const secrets = Object.entries(CHANNEL_SETTINGS[kind]).filter(([, { secret }]) => secret);
  const [only] = secrets;
  if (only && secrets.length === 1) return only[0];
  const names = secrets.map(([name]) => name).join(' and ');
  throw new UsageError(
    secrets.length === 0
      ? `--secret-file: ${kind} has no secret`
      : `--secret-file: ${kind} has the secrets ${names}: write NAME=FILE`,
  );
}

/** What an address on the command line says: the server, and for ntfy the topic. */
function fromAddress(kind: ChannelKind, given: string | undefined): Settings {
  if (given === undefined) return {};
  const address = given === '-' ? secretIn('-') : given;
  if (kind === 'command') return { command: address };
  const rules = Object.entries(CHANNEL_SETTINGS[kind]);
  const url = URL.parse(address);
  if (kind === 'ntfy') return ntfyAddress(address, url);
  const [secret] = rules.find(([name, rule]) => name === 'url' && rule.secret) ?? [];
  if (secret !== undefined && given === '-') return { url: address };
  if (secret !== undefined) throw new UsageError(`the address of a ${kind} channel is a secret: ${HOW}`);
  if (url?.password && given !== '-')
    throw new UsageError(`the address has a password: "-" reads it from the input`);
  const [server] = rules.find(([, rule]) => rule.server) ?? [];
  if (server === undefined) throw new UsageError(`a ${kind} channel has no address`);
  return { [server]: address };
}

/** `https://ntfy.example.com/ops`, or a topic alone. */
export function ntfyAddress(address: string, url: URL | null): Record<string, string> {
  if (!url) return { topic: address };
  const parts = url.pathname.split('/').filter((part) => part !== '');
  const topic = parts.pop();
  if (topic === undefined)
    throw new UsageError('the address of an ntfy channel ends with its topic: https://HOST/TOPIC');
  const server = `${url.origin}${parts.map((part) => `/${part}`).join('')}`;
  return server === 'https://ntfy.sh' ? { topic } : { server, topic };
}

/** Null if nothing was answered and nothing is needed. */
async function asked(name: string, rule: SettingRule): Promise<string | null> {
  const { what, secret, optional } = rule;
  if (!canAsk()) {
    if (optional) return null;
    const option = secret ? `--secret-file ${name}=FILE` : `--set ${name}=VALUE`;
    throw new UsageError(`${name} is missing (${what}): give ${option}`);
  }
  const answer = await askUntilRight(settingQuestion(rule));
  if (answer === null) throw new Failure('nothing was changed');
  return answer === '' ? null : answer;
}

/**
 * The question that asks for a setting.
 *
 * @param kept how the value that an empty answer keeps is shown; null for none
 */
export function settingQuestion(rule: SettingRule, kept: string | null = null): Question {
  const { what, secret, optional, problem } = rule;
  const keeping = ` (empty keeps ${secret ? 'it' : kept})`;
  const hidden = secret ? 'It is not shown while it is typed, and never shown again. ' : '';
  return {
    text: `${capital(what)}${kept === null ? (optional ? ' (empty for none)' : '') : keeping}`,
    isSecret: secret ?? false,
    help: `${capital(what)}. ${hidden}docs/channels.md tells more about each kind.`,
    problem: (answer) => {
      if (answer === '') return optional || kept !== null ? null : 'This cannot be left out.';
      const fault = problem(answer);
      return fault === null ? null : `It ${fault}.`;
    },
  };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
