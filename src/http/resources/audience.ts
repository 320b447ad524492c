/** `/v1/audience`: whom the alerts of the case reach. */
import { setImmediate as breath } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { WireAudience } from '../../api/wire.ts';
import type { Case } from '../../core/case.ts';
import type { CaseChannel } from '../../core/channel.ts';
import { Invalid } from '../../core/errors.ts';
import { audienceOf } from '../../core/explanation/audience.ts';
import { type Reach, reaches, reachesAll, reachOf, type Unreached } from '../../core/explanation/reach.ts';
import { type FailingTarget, failingInWords, whyNobody } from '../../core/explanation/told.ts';
import type { Targets } from '../../core/routing.ts';
import type { Webhook } from '../../core/webhook.ts';
import type { LastDeath } from '../../store/reach.ts';
import type { Store } from '../../store/store.ts';
import { inTimeZone } from '../../text/times.ts';
import { caseOf } from '../endpoint/auth.ts';
import { failingKeys, failingTargets, failuresBy } from '../endpoint/failing-targets.ts';
import { query, resource } from '../endpoint/resource.ts';
import type { RouteContext } from '../endpoint/route-context.ts';
import { targetNames } from '../endpoint/target-names.ts';

/** How many snitches one read covers, so a million of them keep nothing else waiting. */
const SLICE = 500;

const MOST_NAMES = 100;

export function audienceRoutes(app: FastifyInstance, { store, clock, sendsEmail }: RouteContext): void {
  resource(app, '/audience', {
    GET: async (request) => {
      const names = namesAsked(query(request, 'unreached'));
      const own = caseOf(request);
      const [webhooks, channels, routes, deaths] = await Promise.all([
        store.listWebhooks(own.id),
        store.listChannels(own.id),
        store.listRoutes(own.id),
        store.listLastDeaths(own.id),
      ]);
      const targets = { webhooks, channels, routes, deaths, sendsEmail: sendsEmail(), now: clock() };
      return {
        ...shown(own, targets),
        ...(names === null
          ? {}
          : { unreached: await findUnreached(store, own.id, caseReach(own, targets), names) }),
      } satisfies WireAudience;
    },
  });
}

interface Asked {
  webhooks: readonly Webhook[];
  channels: readonly CaseChannel[];
  routes: Targets['routes'];
  deaths: readonly LastDeath[];
  sendsEmail: boolean;
  now: number;
}

function targetsOf({ members }: Case, { webhooks, channels, routes }: Asked): Targets {
  return { members, webhooks: webhooks.map(({ id }) => id), channels, routes };
}

function namesAsked(text: string | undefined): number | null {
  if (text === undefined) return null;
  const names = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (names >= 1 && names <= MOST_NAMES) return names;
  throw new Invalid([{ attribute: 'unreached', message: `must be a whole number from 1 to ${MOST_NAMES}` }]);
}

function shown(own: Case, asked: Asked): WireAudience {
  const { webhooks, channels, deaths, sendsEmail, now } = asked;
  const plain = audienceOf({
    ...{ alertEmail: [], tags: [], outage: null, nextAlertAt: null, now, sendsEmail },
    targets: targetsOf(own, asked),
    nameOf: targetNames(webhooks, channels),
    failureAt: failuresBy(channels, deaths),
    local: (at) => inTimeZone(at, own.timezone),
  });
  const failing = failingTargets({ emails: own.members, webhooks, channels }, deaths);
  // A failing target for other snitches is a reason too.
  const others = failing.filter(({ channel, name }) => !isAmong(plain.failing, channel, name));
  const nobody = whyNobody(plain);
  return {
    emails: [...plain.emails],
    webhooks: [...plain.webhooks],
    channels: channels.map(({ name }) => name),
    failing,
    sends_email: sendsEmail,
    nobody: nobody !== null && others.length > 0 ? `${nobody}; ${failingInWords(others)}` : nobody,
  };
}

function isAmong(failing: readonly FailingTarget[], channel: string, name: string): boolean {
  return failing.some((one) => one.channel === channel && one.name === name);
}

function caseReach(own: Case, asked: Asked): Reach {
  const { channels, deaths, sendsEmail } = asked;
  return reachOf({ targets: targetsOf(own, asked), failing: failingKeys(channels, deaths), sendsEmail });
}

/** Goes through the snitches only if one of them may reach nobody, and stops as soon as enough is known. */
async function findUnreached(
  store: Pick<Store, 'listRoutedSnitches'>,
  caseId: string,
  reach: Reach,
  most: number,
): Promise<{ names: string[] } & Unreached> {
  const names: string[] = [];
  if (reachesAll(reach)) return { names, more: false, all: false };
  const { members, tags, sendsEmail } = reach;
  const mayReach = members || sendsEmail || tags.size > 0;
  let reached = false;
  for (let after = 0; ; await breath()) {
    const slice = await store.listRoutedSnitches(caseId, { after, limit: SLICE });
    for (const snitch of slice) {
      if (reaches(reach, snitch)) reached = true;
      else if (names.length <= most) names.push(snitch.name);
    }
    const isKnown = names.length > most && (reached || !mayReach);
    const last = slice.at(-1);
    if (isKnown || slice.length < SLICE || !last) break;
    after = last.id;
  }
  const isEmpty = names.length === 0 && !reached;
  const all = isEmpty ? !members && tags.size === 0 : !reached;
  return { names: names.slice(0, most), more: names.length > most, all };
}
