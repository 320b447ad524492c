import type { Alert, AlertDetails, AlertKind, AlertSnitch, BlindNotice } from '../../src/core/alert.ts';
import type { Webhook } from '../../src/core/webhook.ts';

export const AT = Date.UTC(2026, 10, 21, 5, 4, 3, 210);

export function anAlert(
  changes: {
    id?: string;
    at?: number;
    type?: AlertKind;
    caseId?: string;
    snitch?: Partial<AlertSnitch>;
    details?: Partial<AlertDetails>;
  } = {},
): Alert {
  const { id = 'alert_1', at = AT, type = 'snitch.missing', caseId = 'case_1' } = changes;
  const snitch: AlertSnitch = {
    token: 'c2354d53d3',
    name: 'nightly-backup',
    notes: '',
    tags: [],
    status: 'missing',
    previous_status: 'healthy',
    ...changes.snitch,
  };
  const details: AlertDetails = {
    interval: 'daily',
    checkedInAt: at - 27 * 3_600_000,
    lastCheckInAt: at - 27 * 3_600_000,
    deadlineAt: at,
    nextDueAt: at + 24 * 3_600_000,
    message: null,
    exitStatus: null,
    threadId: null,
    ...changes.details,
  };
  return { id, caseId, at, type, token: snitch.token, snitch, details, notice: null };
}

export function aNotice(
  changes: Partial<Pick<BlindNotice, 'postponed' | 'postponedCount' | 'snitches'>> & { id?: string } = {},
): Alert {
  const postponed = changes.postponed ?? ['nightly-backup', 'mail-queue'];
  return {
    id: changes.id ?? 'alert_blind',
    caseId: 'case_1',
    at: AT,
    type: 'service.blind',
    token: null,
    snitch: null,
    details: null,
    notice: {
      start: AT - 5_400_000,
      end: AT - 1_000,
      postponed,
      postponedCount: changes.postponedCount ?? postponed.length,
      ...(changes.snitches ? { snitches: changes.snitches } : {}),
    },
  };
}

export function aWebhook(url: string, changes: Partial<Webhook> = {}): Webhook {
  return {
    id: 'hook_1',
    caseId: 'case_1',
    url,
    secret: `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
    previousSecret: null,
    previousSecretUntil: null,
    notices: false,
    createdAt: 0,
    ...changes,
  };
}
