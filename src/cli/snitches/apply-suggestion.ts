/** `snitch suggest --apply`: sets what is better than what is set. */
import { ApiError, type Client, type SnitchInput } from '../../api/client.ts';
import type { WireSnitch } from '../../api/wire.ts';
import { readSchedule } from '../../core/schedule/schedule.ts';
import { scheduleWithZone } from '../../core/schedule-name.ts';
import { whyNotBetter } from '../../core/suggestion/better.ts';
import type { Outlook } from '../../core/suggestion/outlook.ts';
import type { SuggestedExpectation } from '../../core/suggestion/runs.ts';
import type { SuggestedSchedule } from '../../core/suggestion/suggest.ts';
import { durationInWords, runDuration, SECOND, shortDuration } from '../../text/durations.ts';
import { confirmed } from '../command/confirm.ts';
import { describeFailure, Failure } from '../failure/failure.ts';
import type { Output } from '../output/output.ts';
import { say } from '../output/output.ts';
import { askForSchedules, checkKept, tellNextRuns } from './due-answer.ts';
import { type Suggested, settingOf, settingWords } from './suggestion-of.ts';

/** The most expectations that a snitch can have. */
const MOST_EXPECTED = 20;

/** The settings to apply. */
export interface Proposal {
  snitch: WireSnitch;
  changes: SnitchInput;
  /** What changes, in words. */
  words: string;
}

/** A snitch with the settings to apply, or the reason why there are none. */
export type Considered = { suggested: Suggested } & (
  | { proposal: Proposal; left: null }
  | { proposal: null; left: string }
);

/** @param ofCase the time zone of the case */
export function consider(suggested: Suggested, ofCase: string): Considered {
  const { snitch } = suggested;
  const due = dueChange(suggested, ofCase);
  const rules = [...runtimeChange(suggested), ...expectChange(suggested)];
  const parts = [...(typeof due === 'string' ? [] : [due]), ...rules];
  if (parts.length === 0) return { suggested, proposal: null, left: String(due) };
  const changes = Object.assign({}, ...parts.map((part) => part.changes)) as SnitchInput;
  const words = parts.map((part) => part.words).join('; ');
  return { suggested, proposal: { snitch, changes, words }, left: null };
}

type Change = Pick<Proposal, 'changes' | 'words'>;

/** When the job is due, or in words why that stays as it is. */
function dueChange({ snitch, suggestion }: Suggested, ofCase: string): Change | string {
  const { schedule, present, unfit } = suggestion;
  if (!schedule || !present) return `no schedule fits: ${unfit}`;
  if (isSetSo(snitch, schedule, ofCase)) return 'it is already set';
  const left = whyNotBetter(present, schedule.outlook);
  if (left !== null) return left;
  const set = scheduleWithZone(schedule.rule, schedule.timezone, ofCase);
  const words = [
    `${settingWords(snitch, ofCase)} -> ${set}, grace ${durationInWords(schedule.grace * SECOND)}`,
    `false alarms ${present.falseAlarms} -> ${schedule.outlook.falseAlarms}`,
    `a miss told after ${foundAfter(present)} -> ${foundAfter(schedule.outlook)}`,
  ].join('; ');
  return { changes: changesOf(schedule), words };
}

/**
 * A longest runtime that a person has set stays. An older server has none. One below the required shortest runtime
 * would be refused, together with all other improvements.
 */
function runtimeChange({ snitch, suggestion: { runtime } }: Suggested): Change[] {
  if (snitch.max_runtime !== null || !runtime || runtime.seconds < (snitch.min_runtime ?? 0)) return [];
  const took = `${runtime.seen.count} runs took at most ${runDuration(runtime.seen.most)}`;
  const words = `max runtime ${durationInWords(runtime.seconds * SECOND)} (${took})`;
  return [{ changes: { max_runtime: runtime.seconds }, words }];
}

/** An expectation that a person has set for a value stays. An older server knows no expectations. */
function expectChange({ snitch: { expect }, suggestion }: Suggested): Change[] {
  if (expect === undefined) return [];
  const kept = expect ?? [];
  const known = new Set(kept.map(({ value }) => value));
  const added = suggestion.expect
    .filter(({ value }) => !known.has(value))
    .slice(0, MOST_EXPECTED - kept.length);
  if (added.length === 0) return [];
  const input = added.map(({ value, min, max, ofUsual, required }) => ({
    ...{ value, min, max, required },
    of_usual: ofUsual,
  }));
  const words = `expect ${added.map((one) => `${one.value} ${boundsInWords(one)}`).join(', ')}`;
  return [{ changes: { expect: [...kept, ...input] }, words }];
}

/** A schedule says when the job is due, so a smart deadline has nothing left to learn. */
function changesOf({ rule, timezone, grace }: SuggestedSchedule): SnitchInput {
  const zone = 'every' in rule ? null : timezone;
  return { schedule: rule, timezone: zone, grace, alert_type: 'basic' };
}

function isSetSo(snitch: WireSnitch, { rule, timezone, grace }: SuggestedSchedule, ofCase: string): boolean {
  const present = settingOf(snitch, ofCase);
  if (JSON.stringify(present.schedule) !== JSON.stringify(rule)) return false;
  if (!('every' in rule) && present.timezone !== timezone) return false;
  const own = present.grace ?? readSchedule(rule, present.timezone).defaultGrace(0);
  return own === grace * SECOND;
}

/** `at least 1, at most 9, always reported` */
export function boundsInWords({ min, max, ofUsual, required }: SuggestedExpectation): string {
  const bounds = [
    ...(min === null ? [] : [`at least ${min}`]),
    ...(max === null ? [] : [`at most ${max}`]),
    ...(ofUsual ? [`from ${ofUsual[0]} to ${ofUsual[1]} times the usual`] : []),
    required ? 'always reported' : 'not always reported',
  ];
  return bounds.join(', ');
}

export function foundAfter({ foundAfter: length }: Outlook): string {
  return length === null ? '-' : shortDuration(length);
}

/**
 * Asks, and then sets one after the other. One that the server refuses does not keep the others from being set.
 *
 * @param asked with `place`, if there are several servers: ` on home (https://…)`
 * @returns those that are set
 * @throws Failure naming those that could not be set
 */
export async function applyProposals(
  client: Client,
  all: readonly Considered[],
  output: Output,
  { force, place }: { force?: boolean | undefined; place: string },
): Promise<readonly Proposal[]> {
  if (!output.quiet) {
    for (const { suggested, left } of all) {
      if (left !== null) output.done(`${suggested.snitch.name}: left as it is: ${left}`);
    }
  }
  const proposals = all.flatMap(({ proposal }) => (proposal ? [proposal] : []));
  if (proposals.length === 0) {
    output.done('nothing was changed');
    return [];
  }
  await confirmed(
    proposals.map(({ snitch, words }) => `${snitch.name} (${snitch.token}): ${words}`),
    {
      force,
      doing: 'changing',
      heading: `This will be changed${place}:`,
      question: 'Change?',
      done: 'changed',
    },
  );
  const scheduled = proposals.find(({ changes }) => changes.schedule);
  await askForSchedules(client, { schedule: scheduled?.changes.schedule ?? null });
  return setAll(client, proposals, output);
}

async function setAll(client: Client, proposals: readonly Proposal[], output: Output): Promise<Proposal[]> {
  const done: Proposal[] = [];
  const failed: string[] = [];
  for (const proposal of proposals) {
    const { snitch, changes, words } = proposal;
    try {
      const after = await client.updateSnitch(snitch.token, changes);
      checkKept(after, changes, 'the interval decides as before');
      done.push(proposal);
      output.done(`${snitch.name}: ${words}`);
      await tellNextRuns(client, output, after);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      failed.push(`${snitch.name}: ${describeFailure(error).lines.join('; ')}`);
    }
  }
  if (failed.length > 0) {
    for (const line of failed) say(`snitch: ${line}`);
    throw new Failure(
      `${failed.length} of ${proposals.length} ${failed.length === 1 ? 'was' : 'were'} not changed`,
    );
  }
  return done;
}
