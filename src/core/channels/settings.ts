/**
 * What each kind of channel must know (`extensions: Who is told, and how`), what of it is secret, and which values
 * are valid.
 */
import type { ChannelKind } from '../channel.ts';
import { isEmailAddress } from '../validation.ts';
import { addressProblem, baseProblem, plainBase, shownBase } from './address.ts';

/** One setting of a kind. */
export interface SettingRule {
  /** What it is, for the person asked for it. */
  what: string;
  optional?: true;
  /** Never shown again once stored. */
  secret?: true;
  /** A base address, which decides who gets to see the secrets, and may contain credentials of its own. */
  server?: true;
  /** What is wrong with a value, in words that follow the setting's name; null if nothing is. */
  problem(value: string): string | null;
}

/** How a secret is shown, and what a client sends back to keep it. */
export const HIDDEN = '***';

const matching = (pattern: RegExp, words: string) => (value: string) => (pattern.test(value) ? null : words);

/** It travels in a header or a path. */
const token = matching(/^[\x21-\x7e]{1,500}$/, 'must be at most 500 characters of ASCII without spaces');
const letters = (length: number) =>
  matching(new RegExp(`^[A-Za-z0-9]{${length}}$`), `must be ${length} letters and digits`);

const secret = (what: string, problem: SettingRule['problem'] = token): SettingRule => ({
  what,
  secret: true,
  problem,
});
const server = (what = 'address of the server'): SettingRule => ({
  what,
  server: true,
  problem: baseProblem,
});
const otherServer = (): SettingRule => ({ ...server('address of another server'), optional: true });
const hook = (kind: ChannelKind): Record<string, SettingRule> => ({
  url: secret('address of the incoming webhook', (value) => addressProblem(kind, value)),
});

const RESERVED_TOPICS = /^(docs|static|file|app|metrics|account|settings|signup|login|v1)$/;

function topicProblem(value: string): string | null {
  if (RESERVED_TOPICS.test(value)) return 'is a name that ntfy keeps for itself';
  return /^[-_A-Za-z0-9]{1,64}$/.test(value)
    ? null
    : 'must be at most 64 letters, digits, hyphens and underscores';
}

const line = (most: number) =>
  matching(new RegExp(`^[^\\p{Cc}]{1,${most}}$`, 'u'), `must be one line of at most ${most} characters`);

function roomProblem(value: string): string | null {
  if (value.startsWith('#')) return 'is an alias: give the id of the room, which begins with !';
  return /^![^\s\p{Cc}/]{1,255}$/u.test(value) ? null : 'must be the id of a room, which begins with !';
}

/** In the order in which they are asked for. */
export const CHANNEL_SETTINGS: Readonly<Record<ChannelKind, Readonly<Record<string, SettingRule>>>> = {
  ntfy: {
    server: otherServer(),
    topic: { what: 'topic', problem: topicProblem },
    token: { ...secret('access token'), optional: true },
  },
  gotify: { server: server(), token: secret('token of the application') },
  pushover: {
    server: otherServer(),
    token: secret('token of the application', letters(30)),
    user: secret('key of the user or the group', letters(30)),
  },
  slack: hook('slack'),
  mattermost: hook('mattermost'),
  discord: hook('discord'),
  teams: hook('teams'),
  google_chat: hook('google_chat'),
  rocketchat: hook('rocketchat'),
  zulip: {
    site: server('address of the organization'),
    email: {
      what: 'address of the bot',
      problem: (value) => (isEmailAddress(value) ? null : 'must be an email address'),
    },
    key: secret('API key of the bot'),
    channel: { what: 'name or id of the channel', problem: line(60) },
    topic: { what: 'one topic for all; else each snitch has its own', optional: true, problem: line(60) },
  },
  telegram: {
    server: otherServer(),
    token: secret(
      'token of the bot',
      matching(/^\d{1,20}:[A-Za-z0-9_-]{10,200}$/, 'must be a token as the BotFather gives it, 123:abc…'),
    ),
    chat: {
      what: 'id of the chat, or @channel',
      problem: matching(/^(-?\d{1,16}|@\w{3,64})$/, 'must be the number of a chat, or @ and a name'),
    },
    thread: {
      what: 'number of the topic',
      optional: true,
      problem: matching(/^\d{1,12}$/, 'must be a number'),
    },
  },
  matrix: {
    server: server('address of the home server'),
    token: secret('access token'),
    room: { what: 'id of the room', problem: roomProblem },
  },
  pagerduty: { server: otherServer(), routing_key: secret('integration key', letters(32)) },
  opsgenie: { server: otherServer(), key: secret('API key') },
  splunk_oncall: {
    url: secret('address of the REST integration', (value) => addressProblem('splunk_oncall', value)),
  },
  alertmanager: { url: server('address of the Alertmanager') },
  apprise: {
    url: secret('address of the Apprise API, with /notify/KEY', (value) => addressProblem('apprise', value)),
  },
  command: {
    command: {
      what: 'name of a command in the configuration of the daemon',
      problem: matching(/^[A-Za-z0-9][\w.-]{0,63}$/, 'must be the name of a command'),
    },
  },
};

/** The value in the form in which it is stored. */
export function normalSetting(rule: SettingRule, value: string): string {
  return rule.server ? plainBase(value) : value.trim();
}

/** Settings as they may be shown. */
export function shownSettings(
  kind: ChannelKind,
  settings: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => {
      const rule = CHANNEL_SETTINGS[kind][name];
      if (!rule || rule.secret) return [name, HIDDEN];
      return [name, rule.server ? shownBase(value, HIDDEN) : value];
    }),
  );
}
