/** `POST /v1/schedules/check`: when a schedule would be due, without storing it, so a form can show that. */
import type { FastifyInstance } from 'fastify';
import type { WireScheduleCheck } from '../../api/wire-explanation.ts';
import { instantsAfter, readSchedule } from '../../core/schedule/schedule.ts';
import {
  derivedInterval,
  type ScheduleToCheck,
  validateScheduleToCheck,
} from '../../core/schedule-fields.ts';
import { SECOND } from '../../text/durations.ts';
import { caseOf } from '../endpoint/auth.ts';
import { readJson } from '../endpoint/body.ts';
import { resource, valid } from '../endpoint/resource.ts';
import type { RouteContext } from '../endpoint/route-context.ts';

/** How many runs are shown. */
const RUNS = 5;

export function scheduleCheckRoutes(app: FastifyInstance, { clock }: RouteContext): void {
  resource(
    app,
    '/schedules/check',
    {
      POST: async (request): Promise<WireScheduleCheck> => {
        const { timezone } = caseOf(request);
        const given = await readJson(request);
        return foresee(valid(validateScheduleToCheck(given, timezone, clock())), timezone);
      },
    },
    // It changes nothing, so a read-only key may use it.
    { audience: 'any' },
  );
}

function foresee({ rule, timezone, grace, from }: ScheduleToCheck, caseTimezone: string): WireScheduleCheck {
  const schedule = readSchedule(rule, timezone ?? caseTimezone);
  const allowed = grace === null ? schedule.defaultGrace(from) : grace * SECOND;
  const iso = (at: number) => new Date(at).toISOString();
  return {
    interval: derivedInterval(schedule),
    timezone: schedule.timezone,
    grace: allowed / SECOND,
    runs: instantsAfter(schedule, from, RUNS).map((at) => ({ at: iso(at), deadline: iso(at + allowed) })),
  };
}
