/** What a client may set on a channel: input → value, or one validation per failing attribute. */
import {
  type CaseChannel,
  CHANNEL_KINDS,
  type ChannelFields,
  type ChannelKind,
  type ChannelSettings,
  DEFAULT_EVENTS,
  isChannelKind,
} from '../channel.ts';
import type { Validation } from '../errors.ts';
import { type Body, isObject, refuse } from '../input.ts';
import { validateRule } from '../routes/rule-input.ts';
import { BLANK, type Checked, NOT_AN_OBJECT, validateSnitchChanges } from '../validation.ts';
import { CHANNEL_SETTINGS, HIDDEN, normalSetting, type SettingRule, shownSettings } from './settings.ts';

/** What the server knows when a channel is made. */
export interface ChannelSurroundings {
  /** The names of the commands in the configuration. */
  commands: readonly string[];
  /** Why nothing would ever be sent to a URL, in words; null if it may be. */
  refusalOf: (url: string) => string | null;
}

export interface ChannelInput {
  kind: ChannelKind;
  /** Null if the server must find a name for it. */
  name: string | null;
  fields: Omit<ChannelFields, 'name'>;
  /** The channels that the client knows; null if the client does not say. */
  known: readonly string[] | null;
}

const NOTHING_GIVEN = { settings: {}, events: DEFAULT_EVENTS, tags: [], after: 0, hours: null } as const;

/** A missing body counts as an empty object. */
export function validateNewChannel(given: unknown = {}, around: ChannelSurroundings): Checked<ChannelInput> {
  if (!isObject(given)) return { validations: [NOT_AN_OBJECT] };
  const { kind } = given;
  if (typeof kind !== 'string' || kind.trim() === '') return refuse('kind', BLANK);
  if (!isChannelKind(kind)) return refuse('kind', otherKind(kind));
  const name = isBlank(given.name) ? undefined : given.name;
  const { value, validations } = validateFields({ ...given, name }, kind, around, null);
  if (validations) return { validations };
  const known = given.known ?? null;
  if (known !== null && !isListOfTexts(known)) return refuse('known', 'must be an array of strings');
  const { name: named = null, ...fields } = value;
  return { value: { kind, name: named, fields: { ...NOTHING_GIVEN, ...fields }, known } };
}

function isListOfTexts(given: unknown): given is string[] {
  return Array.isArray(given) && given.every((one) => typeof one === 'string');
}

/**
 * Update: any subset. Settings that are not given are kept, and so is a secret that is sent back masked, as it was
 * shown.
 */
export function validateChannelChanges(
  given: unknown,
  stored: CaseChannel,
  around: ChannelSurroundings,
): Checked<Partial<ChannelFields>> {
  if (!isObject(given)) return { validations: [NOT_AN_OBJECT] };
  if (given.kind !== undefined && given.kind !== stored.kind) {
    return refuse('kind', `is ${stored.kind} and stays so: make another channel`);
  }
  return validateFields(given, stored.kind, around, stored);
}

function otherKind(kind: string): string {
  if (kind === 'webhook') return 'webhook has a resource of its own: POST /v1/webhooks';
  if (kind === 'email') return 'email goes to the members of the case: PATCH /v1/case';
  return `must be one of ${CHANNEL_KINDS.join(', ')}`;
}

function validateFields(
  body: Body,
  kind: ChannelKind,
  around: ChannelSurroundings,
  stored: CaseChannel | null,
): Checked<Partial<ChannelFields>> {
  const plain = validateSnitchChanges({ name: body.name });
  const settings =
    stored && body.settings === undefined ? null : checkSettings(kind, body.settings, around, stored);
  const rule = validateRule(body, kind);
  const validations = [
    ...(plain.validations ?? []),
    ...(settings?.validations ?? []),
    ...(rule.validations ?? []),
  ];
  if (validations.length > 0) return { validations };
  return {
    value: {
      ...(plain.value?.name === undefined ? {} : { name: plain.value.name }),
      ...(settings?.value ? { settings: settings.value } : {}),
      ...rule.value,
    },
  };
}

function checkSettings(
  kind: ChannelKind,
  given: unknown,
  { commands, refusalOf }: ChannelSurroundings,
  stored: CaseChannel | null,
): Checked<ChannelSettings> {
  const rules = CHANNEL_SETTINGS[kind];
  if (given !== undefined && given !== null && !isObject(given))
    return refuse('settings', 'must be an object');
  const asked: Body = given ?? {};
  const validations: Validation[] = [];
  const unknown = Object.keys(asked).filter((name) => !Object.hasOwn(rules, name));
  for (const name of unknown.slice(0, 1)) {
    validations.push({
      attribute: 'settings',
      message: `has no ${JSON.stringify(name.slice(0, 40))} for ${kind}: there is ${Object.keys(rules).join(', ')}`,
    });
  }
  const settings: Record<string, string> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const { value, problem } = checkSetting(rule, asked[name], keptOf(stored, name), shownOf(stored, name));
    const isNew = value !== null && value !== keptOf(stored, name);
    const refusal = isNew && (rule.server || name === 'url') ? refusalOf(value) : null;
    const message = problem ?? (refusal && `is never called: ${refusal}`);
    if (message) validations.push({ attribute: `settings.${name}`, message });
    else if (value !== null) settings[name] = value;
  }
  if (kind === 'command' && settings.command !== undefined && !commands.includes(settings.command)) {
    const known = commands.length > 0 ? `known: ${commands.join(', ')}` : 'it has none';
    validations.push({
      attribute: 'settings.command',
      message: `is not under commands in the configuration of the daemon; ${known}`,
    });
  }
  validations.push(...carriedAway(rules, asked, settings, stored));
  return validations.length > 0 ? { validations } : { value: settings };
}

const keptOf = (stored: CaseChannel | null, name: string) => stored?.settings[name] ?? null;
const shownOf = (stored: CaseChannel | null, name: string) =>
  stored ? (shownSettings(stored.kind, stored.settings)[name] ?? null) : null;

function checkSetting(
  rule: SettingRule,
  given: unknown,
  kept: string | null,
  shown: string | null,
): { value: string | null; problem: string | null } {
  if (given === undefined || (kept !== null && given === shown)) {
    if (kept !== null || rule.optional) return { value: kept, problem: null };
    return { value: null, problem: BLANK };
  }
  if (isBlank(given)) return { value: null, problem: rule.optional ? null : BLANK };
  const text = typeof given === 'number' && Number.isSafeInteger(given) ? String(given) : given;
  if (typeof text !== 'string') return { value: null, problem: 'must be a string' };
  if (!text.isWellFormed()) return { value: null, problem: 'must be well-formed Unicode' };
  if (rule.secret && text === HIDDEN)
    return { value: null, problem: 'is only how a secret is shown: give the secret' };
  const problem = rule.problem(text.trim());
  return problem === null ? { value: normalSetting(rule, text), problem: null } : { value: null, problem };
}

/**
 * A kept secret may only go where it went before. Otherwise anyone who can change a channel could have the secret
 * sent to a server of their own, and read there what no response shows.
 */
function carriedAway(
  rules: Readonly<Record<string, SettingRule>>,
  asked: Body,
  settings: ChannelSettings,
  stored: CaseChannel | null,
): Validation[] {
  if (!stored) return [];
  const moved = Object.keys(rules).some(
    (name) => rules[name]?.server && settings[name] !== stored.settings[name],
  );
  if (!moved) return [];
  return Object.entries(rules)
    .filter(([name, { secret }]) => secret && settings[name] !== undefined && isKept(asked[name]))
    .map(([name]) => ({
      attribute: `settings.${name}`,
      message: 'must be given again, because it would go to another server',
    }));
}

function isKept(given: unknown): boolean {
  return given === undefined || given === HIDDEN;
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}
